// Group norm over [N][positions][C], in three passes; layer and RMS norm over rows, in one.
// Reference: core/op/ref/norm.c
// Storage type by F16 or BF16; fn: see activations in common.cl.
// part [N][strips][2][C] f32: mean of each channel over a strip, and the sum of squared deviations
// from that mean. coef [N][2][C] f32: scale and shift of a channel. dst may be src.
//
// So that a large mean costs no digits, everything is relative to a value near it: a strip's sums to
// the strip's first value, the merging of strips (Chan's formula) and the result,
// act((x - k) * scale + shift), to k = the channel's mean over the first strip.

// 1. group_norm_stat
// CPU: a work-item does a strip, global (strips, N).
// GENERIC: a work-group does 64 channels of a strip, 4 positions at a time; global (strips * 256,
// ceil(C / 64), N), local 256.
#if SCHED_CPU
#define STAT(vec_t, load_v, store_v)                                                               \
    {                                                                                              \
        const vec_t k = load_v(x + c);                                                             \
        vec_t s = 0.0f, q = 0.0f;                                                                  \
        global const T *v = x + c;                                                                 \
        for (int p = 0; p < len; p++, v += channels) {                                             \
            const vec_t d = load_v(v) - k;                                                         \
            s += d;                                                                                \
            q = fma(d, d, q);                                                                      \
        }                                                                                          \
        store_v(out + c, k + s * inverse);                                                         \
        store_v(out + channels + c, q - s * s * inverse);                                          \
    }

kernel WG1 void group_norm_stat(global const T *src, const ulong src_off, global float *part,
                                const ulong part_off, const int channels, const int positions,
                                const int strip)
{
    const int p0 = get_group_id(0) * strip, len = min(strip, positions - p0);
    const float inverse = 1.0f / len;
    const ulong n = get_group_id(1), row = n * get_num_groups(0) + get_group_id(0);
    global const T *x = src + src_off + (n * positions + p0) * channels;
    global float *out = part + part_off + row * 2 * channels;
    int c = 0;
    for (; c + 64 <= channels; c += 64) {
        float16 k[4], s[4], q[4];
        for (int j = 0; j < 4; j++) {
            k[j] = LOAD16(x + c + 16 * j);
            s[j] = q[j] = 0.0f;
        }
        global const T *v = x + c;
        for (int p = 0; p < len; p++, v += channels)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const float16 d = LOAD16(v + 16 * j) - k[j];
                s[j] += d;
                q[j] = fma(d, d, q[j]);
            }
        for (int j = 0; j < 4; j++) {
            store16_f32(out + c + 16 * j, k[j] + s[j] * inverse);
            store16_f32(out + channels + c + 16 * j, q[j] - s[j] * s[j] * inverse);
        }
    }
    for (; c + 16 <= channels; c += 16)
        STAT(float16, LOAD16, store16_f32)
    for (; c < channels; c++)
        STAT(float, LOAD, store_f32)
}
#else
kernel WG(256) void group_norm_stat(global const T *src, const ulong src_off, global float *part,
                                    const ulong part_off, const int channels, const int positions,
                                    const int strip)
{
    local float sums[256], squares[256];
    const int lane = get_local_id(0), c = get_group_id(1) * 64 + (lane & 63);
    const int p0 = get_group_id(0) * strip, len = min(strip, positions - p0);
    const ulong n = get_group_id(2), row = n * get_num_groups(0) + get_group_id(0);
    global const T *x = src + src_off + (n * positions + p0) * channels + c;
    float k = 0.0f, s = 0.0f, q = 0.0f;
    if (c < channels) {
        k = LOAD(x);
        for (int p = lane >> 6; p < len; p += 4) {
            const float d = LOAD(x + (ulong) p * channels) - k;
            s += d;
            q = fma(d, d, q);
        }
    }
    sums[lane] = s;
    squares[lane] = q;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane >= 64 || c >= channels)
        return;
    s = (sums[lane] + sums[lane + 64]) + (sums[lane + 128] + sums[lane + 192]);
    q = (squares[lane] + squares[lane + 64]) + (squares[lane + 128] + squares[lane + 192]);
    global float *out = part + part_off + row * 2 * channels + c;
    out[0] = k + s / len;
    out[channels] = q - s * s / len;
}
#endif

// 2. One group of one batch item: group_norm_coef, or group_stat, which gives stat [N][groups][3]
// f32: the mean, what is lost of it in f32, the variance.
// CPU: global (groups, N). GENERIC: global (groups * 256, N), local 256.
#if SCHED_CPU
#define LANES 1
#else
#define LANES 256
#endif

// Sum over the work-group in a fixed tree.
INLINE real tree_sum(local real *tmp, real v)
{
#if LANES > 1
    const int lane = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    tmp[lane] = v;
    for (int k = LANES / 2; k > 0; k >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < k)
            tmp[lane] += tmp[lane + k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return tmp[0];
#else
    return v;
#endif
}

// Mean, relative to the first value of part, and variance of the `per_group` channels that part
// begins with.
INLINE void group_moments(local real *tmp, global const float *part, int channels, int positions,
                          int strip, int strips, int per_group, real *mean, real *variance)
{
    const int items = strips * per_group;
    const real k = part[0];
    real s = 0, q = 0;
    for (int i = get_local_id(0); i < items; i += LANES) {
        const int t = i / per_group, c = i - t * per_group;
        global const float *p = part + (ulong) t * 2 * channels + c;
        const real len = min(strip, positions - t * strip), d = p[0] - k;
        s += len * d;
        q += p[channels] + len * d * d;
    }
    s = tree_sum(tmp, s);
    q = tree_sum(tmp, q);
    const real count = (real) positions * per_group;
    *mean = s / count;
    *variance = max(q / count - *mean * *mean, (real) 0);
}

kernel WG(LANES) void group_norm_coef(global const float *part, const ulong part_off,
                                      global const float *gamma, const ulong gamma_off,
                                      global const float *beta, const ulong beta_off,
                                      global float *coef, const ulong coef_off, const int channels,
                                      const int positions, const int strip, const int strips,
                                      const int per_group, const float eps)
{
    local real tmp[LANES];
    const int c0 = get_group_id(0) * per_group;
    const ulong n = get_group_id(1);
    real d, variance;
    part += part_off + n * strips * 2 * channels + c0;
    group_moments(tmp, part, channels, positions, strip, strips, per_group, &d, &variance);
    const real k = part[0];
    const float r = rsqrt((float) (variance + eps));
    coef += coef_off + n * 2 * channels;
    for (int c = c0 + get_local_id(0); c < c0 + per_group; c += LANES) {
        const float scale = gamma[gamma_off + c] * r;
        const float from_k = (float) (k - part[c - c0] + d); // the mean
        coef[c] = scale;
        coef[channels + c] = fma(-from_k, scale, beta[beta_off + c]);
    }
}

kernel WG(LANES) void group_stat(global const float *part, const ulong part_off,
                                 global float *stat, const ulong stat_off, const int channels,
                                 const int positions, const int strip, const int strips,
                                 const int per_group)
{
    local real tmp[LANES];
    const ulong n = get_group_id(1), row = n * get_num_groups(0) + get_group_id(0);
    real d, variance;
    part += part_off + n * strips * 2 * channels + get_group_id(0) * per_group;
    group_moments(tmp, part, channels, positions, strip, strips, per_group, &d, &variance);
    if (get_local_id(0) > 0)
        return;
    const real k = part[0];
    const float mean = (float) (k + d);
    stat += stat_off + row * 3;
    stat[0] = mean;
    stat[1] = (float) ((k - mean) + d);
    stat[2] = (float) variance;
}

// The same from given statistics; part [N][1][2][C] gets their means.
kernel WG(LANES) void group_norm_given(global const float *stat, const ulong stat_off,
                                       global const float *gamma, const ulong gamma_off,
                                       global const float *beta, const ulong beta_off,
                                       global float *part, const ulong part_off,
                                       global float *coef, const ulong coef_off,
                                       const int channels, const int per_group, const float eps)
{
    const int c0 = get_group_id(0) * per_group;
    const ulong n = get_group_id(1), row = n * get_num_groups(0) + get_group_id(0);
    stat += stat_off + row * 3;
    part += part_off + n * 2 * channels;
    coef += coef_off + n * 2 * channels;
    const float r = rsqrt(stat[2] + eps);
    for (int c = c0 + get_local_id(0); c < c0 + per_group; c += LANES) {
        const float scale = gamma[gamma_off + c] * r;
        part[c] = stat[0];
        coef[c] = scale;
        coef[channels + c] = fma(-stat[1], scale, beta[beta_off + c]);
    }
}

// 3. group_norm_apply: act((x - k) * scale + shift)
// CPU: a work-item does a strip, global (strips, N).
// GENERIC: a work-item does 4 channels of a position (1 with -D NARROW=1, when C is no multiple of
// 4), global (positions * C / 4 up to a multiple of 256, N), local 256.
#if SCHED_CPU
kernel WG1 void group_norm_apply(global const T *src, const ulong src_off, global T *dst,
                                 const ulong dst_off, global const float *part,
                                 const ulong part_off, global const float *coef,
                                 const ulong coef_off, const int channels, const int positions,
                                 const int strip, const int strips, const int fn)
{
    const int p0 = get_group_id(0) * strip, p1 = min(p0 + strip, positions);
    const ulong n = get_group_id(1), first = (n * positions + p0) * channels;
    global const T *x = src + src_off + first;
    global T *y = dst + dst_off + first;
    part += part_off + n * strips * 2 * channels;
    coef += coef_off + n * 2 * channels;
    for (int p = p0; p < p1; p++, x += channels, y += channels) {
        int c = 0;
        for (; c + 16 <= channels; c += 16)
            STORE16(y + c, act16(fma(LOAD16(x + c) - load16_f32(part + c), load16_f32(coef + c),
                                     load16_f32(coef + channels + c)),
                                 fn));
        for (; c < channels; c++)
            STORE(y + c, act(fma(LOAD(x + c) - part[c], coef[c], coef[channels + c]), fn));
    }
}
#else
kernel WG(256) void group_norm_apply(global const T *src, const ulong src_off, global T *dst,
                                     const ulong dst_off, global const float *part,
                                     const ulong part_off, global const float *coef,
                                     const ulong coef_off, const int channels, const int positions,
                                     const int strip, const int strips, const int fn)
{
#if NARROW
    const index i = get_global_id(0);
#else
    const index i = get_global_id(0) * 4;
#endif
    const ulong n = get_global_id(1), count = (ulong) positions * channels;
    if (i >= count)
        return;
    const int c = i % (index) channels;
    src += src_off + n * count + i;
    dst += dst_off + n * count + i;
    part += part_off + n * strips * 2 * channels + c;
    coef += coef_off + n * 2 * channels + c;
#if NARROW
    STORE(dst, act(fma(LOAD(src) - part[0], coef[0], coef[channels]), fn));
#else
    STORE4(dst,
           act4(fma(LOAD4(src) - load4_f32(part), load4_f32(coef), load4_f32(coef + channels)), fn));
#endif
}
#endif

// ---- layer norm, RMS norm -----------------------------------------------------------------------
// src, dst [rows][n]; dst may be src. y = (x - mean) / sqrt(var + eps) * gamma + beta
//   has: 1 gamma and 2 beta are there, n values each; 4: no mean is taken off, var is that of x itself (RMS);
//   8: y * (1 + scale) + shift; scale and shift are broadcast: nino_op_broadcast()
// CPU: a work-item does `each` rows, global ceil(rows / each).
// GENERIC: `lanes` work-items a row, a power of two up to 256, 4 elements (1 with -D NARROW=1, when n is no
// multiple of 4) at a time; global rows * lanes up to a multiple of 256, local 256.
enum { HAS_GAMMA = 1, HAS_BETA = 2, IS_RMS = 4, HAS_SCALE = 8 };
#define DEFINE_ROW_RESULT(name, vec_t, act, load, load32)                                          \
    INLINE vec_t name(vec_t v, const int i, const int has, const int fn,                           \
                      global const float *gamma, global const float *beta, global const T *scale,  \
                      global const T *shift)                                                       \
    {                                                                                              \
        if (has & HAS_GAMMA)                                                                       \
            v *= load32(gamma + i);                                                                \
        if (has & HAS_BETA)                                                                        \
            v += load32(beta + i);                                                                 \
        if (has & HAS_SCALE)                                                                       \
            v = fma(v, 1.0f + load(scale + i), load(shift + i));                                   \
        return act(v, fn);                                                                         \
    }
DEFINE_ROW_RESULT(row_result, float, act, LOAD, load_f32)

#if SCHED_CPU
// Sum of (x[i] - mean)^2, or of x[i] when power is 1.
INLINE float sum_row(global const T *x, int n, float mean, int power)
{
    float16 s = 0.0f, t = 0.0f;
    float rest = 0.0f;
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        const float16 a = LOAD16(x + i) - mean, b = LOAD16(x + i + 16) - mean;
        s = power == 1 ? s + a : fma(a, a, s);
        t = power == 1 ? t + b : fma(b, b, t);
    }
    for (; i + 16 <= n; i += 16) {
        const float16 a = LOAD16(x + i) - mean;
        s = power == 1 ? s + a : fma(a, a, s);
    }
    for (; i < n; i++) {
        const float a = LOAD(x + i) - mean;
        rest += power == 1 ? a : a * a;
    }
    return sum_of(s + t) + rest;
}
DEFINE_ROW_RESULT(row_result16, float16, act16, LOAD16, load16_f32)
#elif NARROW
#define ROW_V 1
#define ROW_RESULT row_result
#define ROW_LOAD LOAD
#define ROW_STORE STORE
#define ROW_SUM(v) (v)
typedef float row_vec;
#else
#define ROW_V 4
#define ROW_RESULT row_result4
#define ROW_LOAD LOAD4
#define ROW_STORE STORE4
#define ROW_SUM(v) ((v).x + (v).y + (v).z + (v).w)
typedef float4 row_vec;
DEFINE_ROW_RESULT(row_result4, float4, act4, LOAD4, load4_f32)
#endif

#if !SCHED_CPU
// Sum over the lanes of a row in a fixed tree. All lanes have then read x[0], which dst may replace.
INLINE float row_sum(local float *tmp, const int lanes, float v)
{
    const int t = get_local_id(0), lane = t & (lanes - 1);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    tmp[t] = v;
    for (int k = lanes / 2; k > 0; k >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < k)
            tmp[t] += tmp[t + k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return tmp[t - lane];
}
#endif

FLAT_KERNEL row_norm(global const T *src, const ulong src_off, global T *dst, const ulong dst_off,
                     global const float *gamma, const ulong gamma_off, global const float *beta,
                     const ulong beta_off, global const T *scale, const ulong scale_off,
                     global const T *shift, const ulong shift_off, const ulong rows, const int n,
                     const int each, const float eps, const int positions, const int batch,
                     const int position, const int lanes, const int has, const int fn)
{
    gamma += gamma_off;
    beta += beta_off;
    scale += scale_off;
    shift += shift_off;
#if SCHED_CPU
    const ulong first = get_global_id(0) * each, end = min(first + each, rows);
    for (ulong row = first; row < end; row++) {
#else
    local float tmp[256];
    const int lane = get_local_id(0) & (lanes - 1);
    const ulong at_row = get_global_id(0) / lanes, row = min(at_row, rows - 1);
    {
#endif
        global const T *x = src + src_off + row * n;
        global T *y = dst + dst_off + row * n;
        const ulong b = row / positions, p = row - b * positions, at = (b * batch + p * position) * n;
        global const T *s = scale + at, *t = shift + at;
#if SCHED_CPU
        float mean = 0.0f;
        if (!(has & IS_RMS)) {
            const float k = LOAD(x);
            mean = k + sum_row(x, n, k, 1) / n;
        }
        const float r = 1.0f / sqrt(sum_row(x, n, mean, 2) / n + eps);
        int i = 0;
        if (!fn && !(has & (HAS_BETA | HAS_SCALE))) // the short rows of heads: nothing to ask for
            for (; i + 16 <= n; i += 16) {
                const float16 v = (LOAD16(x + i) - mean) * r;
                STORE16(y + i, has & HAS_GAMMA ? v * load16_f32(gamma + i) : v);
            }
        for (; i + 16 <= n; i += 16)
            STORE16(y + i, row_result16((LOAD16(x + i) - mean) * r, i, has, fn, gamma, beta, s, t));
        for (; i < n; i++)
            STORE(y + i, row_result((LOAD(x + i) - mean) * r, i, has, fn, gamma, beta, s, t));
#else
        row_vec sum = 0.0f;
        float mean = 0.0f;
        if (!(has & IS_RMS)) {
            const float k = LOAD(x);
            for (int i = lane * ROW_V; i < n; i += lanes * ROW_V)
                sum += ROW_LOAD(x + i) - k;
            mean = k + row_sum(tmp, lanes, ROW_SUM(sum)) / n;
            sum = 0.0f;
        }
        for (int i = lane * ROW_V; i < n; i += lanes * ROW_V) {
            const row_vec v = ROW_LOAD(x + i) - mean;
            sum = fma(v, v, sum);
        }
        const float r = 1.0f / sqrt(row_sum(tmp, lanes, ROW_SUM(sum)) / n + eps);
        if (at_row < rows)
            for (int i = lane * ROW_V; i < n; i += lanes * ROW_V)
                ROW_STORE(y + i, ROW_RESULT((ROW_LOAD(x + i) - mean) * r, i, has, fn, gamma, beta, s, t));
#endif
    }
}
