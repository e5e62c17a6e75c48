// Group norm over [N][positions][C], in three passes; layer and RMS norm over rows, in one.
// Reference: core/op/ref/norm.c
// -D ACT=n  activation; storage type by F16 or BF16
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

// 2. group_norm_coef: one group of one batch item.
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
    const int items = strips * per_group;
    part += part_off + n * strips * 2 * channels + c0;
    const real k = part[0]; // the reference that means are taken relative to
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
    const real count = (real) positions * per_group, d = s / count;
    const float r = rsqrt((float) (max(q / count - d * d, (real) 0) + eps));
    coef += coef_off + n * 2 * channels;
    for (int c = c0 + get_local_id(0); c < c0 + per_group; c += LANES) {
        const float scale = gamma[gamma_off + c] * r;
        const float from_k = (float) (k - part[c - c0] + d); // the mean
        coef[c] = scale;
        coef[channels + c] = fma(-from_k, scale, beta[beta_off + c]);
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
                                 const int strip, const int strips)
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
                                     load16_f32(coef + channels + c))));
        for (; c < channels; c++)
            STORE(y + c, act(fma(LOAD(x + c) - part[c], coef[c], coef[channels + c])));
    }
}
#else
kernel WG(256) void group_norm_apply(global const T *src, const ulong src_off, global T *dst,
                                     const ulong dst_off, global const float *part,
                                     const ulong part_off, global const float *coef,
                                     const ulong coef_off, const int channels, const int positions,
                                     const int strip, const int strips)
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
    STORE(dst, act(fma(LOAD(src) - part[0], coef[0], coef[channels])));
#else
    STORE4(dst,
           act4(fma(LOAD4(src) - load4_f32(part), load4_f32(coef), load4_f32(coef + channels))));
#endif
}
#endif

// ---- layer norm, RMS norm -----------------------------------------------------------------------
// src, dst [rows][n]; dst may be src. y = (x - mean) / sqrt(var + eps) * gamma + beta
//   -D GAMMA=1 BETA=1   those are there, n values each
//   -D RMS=1            no mean is taken off, var is that of x itself
//   -D MOD=1            y * (1 + scale) + shift; scale and shift are broadcast: nino_op_broadcast()
// CPU: a work-item does `each` rows, global ceil(rows / each).
// GENERIC: ROW_LANES work-items a row, 4 elements (1 with -D NARROW=1, when n is no multiple of 4) at
// a time; global rows * ROW_LANES up to a multiple of 256, local 256.
#ifndef ROW_LANES
#define ROW_LANES 256
#endif
#if RMS
#define MINUS_MEAN(v) (v)
#else
#define MINUS_MEAN(v) ((v) - mean)
#endif
#if GAMMA
#define TIMES_GAMMA(load) *load(gamma + i)
#else
#define TIMES_GAMMA(load)
#endif
#if BETA
#define PLUS_BETA(load) +load(beta + i)
#else
#define PLUS_BETA(load)
#endif
#if MOD
#define MODULATE(v, load) fma(v, 1.0f + load(scale + i), load(shift + i))
#else
#define MODULATE(v, load) (v)
#endif
#define ROW_RESULT(act, load, load32)                                                              \
    act(MODULATE((MINUS_MEAN(load(x + i)) * r TIMES_GAMMA(load32) PLUS_BETA(load32)), load))

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
#elif NARROW
#define ROW_V 1
#define ROW_ACT act
#define ROW_LOAD LOAD
#define ROW_LOAD32 load_f32
#define ROW_STORE STORE
#define ROW_SUM(v) (v)
typedef float row_vec;
#else
#define ROW_V 4
#define ROW_ACT act4
#define ROW_LOAD LOAD4
#define ROW_LOAD32 load4_f32
#define ROW_STORE STORE4
#define ROW_SUM(v) ((v).x + (v).y + (v).z + (v).w)
typedef float4 row_vec;
#endif

#if !SCHED_CPU
// Sum over the lanes of a row in a fixed tree. All lanes have then read x[0], which dst may replace.
INLINE float row_sum(local float *tmp, float v)
{
    const int t = get_local_id(0), lane = t % ROW_LANES;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    tmp[t] = v;
    for (int k = ROW_LANES / 2; k > 0; k >>= 1) {
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
                     const int position)
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
    const int lane = get_local_id(0) % ROW_LANES;
    const ulong at_row = get_global_id(0) / ROW_LANES, row = min(at_row, rows - 1);
    {
#endif
        global const T *x = src + src_off + row * n;
        global T *y = dst + dst_off + row * n;
#if MOD
        const ulong b = row / positions, p = row - b * positions, at = (b * batch + p * position) * n;
        scale += at;
        shift += at;
#endif
#if SCHED_CPU
#if !RMS
        const float k = LOAD(x), mean = k + sum_row(x, n, k, 1) / n;
#else
        const float mean = 0.0f;
#endif
        const float r = 1.0f / sqrt(sum_row(x, n, mean, 2) / n + eps);
        int i = 0;
        for (; i + 16 <= n; i += 16)
            STORE16(y + i, ROW_RESULT(act16, LOAD16, load16_f32));
        for (; i < n; i++)
            STORE(y + i, ROW_RESULT(act, LOAD, load_f32));
#if MOD
        scale -= at;
        shift -= at;
#endif
#else
        row_vec sum = 0.0f;
#if !RMS
        const float k = LOAD(x);
        for (int i = lane * ROW_V; i < n; i += ROW_LANES * ROW_V)
            sum += ROW_LOAD(x + i) - k;
        const float mean = k + row_sum(tmp, ROW_SUM(sum)) / n;
        sum = 0.0f;
#endif
        for (int i = lane * ROW_V; i < n; i += ROW_LANES * ROW_V) {
            const row_vec v = MINUS_MEAN(ROW_LOAD(x + i));
            sum = fma(v, v, sum);
        }
        const float r = 1.0f / sqrt(row_sum(tmp, ROW_SUM(sum)) / n + eps);
        if (at_row < rows)
            for (int i = lane * ROW_V; i < n; i += ROW_LANES * ROW_V)
                ROW_STORE(y + i, ROW_RESULT(ROW_ACT, ROW_LOAD, ROW_LOAD32));
#endif
    }
}
