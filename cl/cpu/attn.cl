// Attention, a work-item a block of queries of a head, and softmax over rows. Options: attention.cl.
#include "attention.cl"

// ---- one CPU work-item per block of queries of a head ---------------------------------------------
// Both products run in the register tile: keys in the lanes for the scores, channels in the lanes for
// the result. __local stays below 256 KiB as in gemm.cl: D <= 144 at BQ = 96, D <= 512 at 48, then half
// of BQ at twice D.
//
// With -D DOTS Q, K and V are bf16 and stay so, and what exp() makes of scores is rounded to it: both
// products multiply pairs, of channels and of keys. D is even then.
#define BK 128
#define DN ((D + NR - 1) / NR * NR)
#define LDQ (D + 16 * STEP)
#define LDS (BK + 16)

DEFINE_TILE(tile_scores, local, global, local)
// The last channels of a head, if half a vector holds them.
#define HALF (NV == 1 && STEP == 1 && D % 16 > 0 && D % 16 <= 8)
#if HALF
#undef TILE_VEC
#define TILE_VEC float8
#undef TILE_IN
#define TILE_IN float8
DEFINE_TILE(tile_half, local, local, local)
#endif

#if DOTS
typedef ushort in_t; // bf16
#else
typedef float in_t;
#endif

// Kp [N][kv_heads][ceil(Tk / 64)][64 / NR][D][NR] f32, or [D / 2][NR][2] bf16, zero beyond Tk: K as the register
// tile reads it.
// Global size: panels of 64 keys * kv_heads * N.
kernel WG1 void attention_keys(global const T *restrict key, const ulong key_off,
                               global in_t *restrict Kp, const ulong Kp_off, const int Tk,
                               const int heads)
{
    const int panels = (Tk + 63) / 64, plane = get_group_id(0) / panels, b = plane / heads;
    const int j0 = (get_group_id(0) - plane * panels) * 64;
    const long ld = (long) heads * D;
    key += key_off + (long) b * Tk * ld + (plane - b * heads) * D;
    Kp += Kp_off + (long) get_group_id(0) * (64 * D);
    for (int j = 0; j < 64; j++) {
        global const T *k = key + (j0 + j) * ld;
        global tile_one *to = (global tile_one *) (Kp + j / NR * (D * NR)) + j % NR;
        int d = 0;
#if DOTS
        for (; d < D; d += 2)
            to[d / 2 * NR] = j0 + j < Tk ? *(global const int *) (k + d) : 0;
#else
        if (j0 + j < Tk) {
            for (; d + 16 <= D; d += 16) {
                float t[16];
                *(float16_u *) t = LOAD16(k + d);
                for (int e = 0; e < 16; e++)
                    to[(d + e) * NR] = t[e];
            }
            for (; d < D; d++)
                to[d * NR] = LOAD(k + d);
        }
        for (; d < D; d++)
            to[d * NR] = 0.0f;
#endif
    }
}

// s[kc] scores (none, if that is below 1) become exp(s - running maximum), beyond them 0; the result's row o so far is scaled to
// match. All of a row's scores are in registers meanwhile. Of bf16 the row begins with them, and scores are yet to
// be scaled.
INLINE void soften(local float16 *s, int kc, local float16 *o, local float *top, local float16 *total,
                   global const float *bias, const float scale)
{
    local float *each = (local float *) s;
    float16 v[BK / 16], most16, sum;
#if DOTS
#pragma unroll
    for (int j = 0; j < BK / 16; j++)
        s[j] *= scale;
#endif
#if BIAS
    int b = 0;
    for (; b + 16 <= kc; b += 16) {
        const float16 w = load16_f32(bias + b);
        s[b / 16] = HIDE(s[b / 16], w);
    }
    for (; b < kc; b++)
        each[b] = HIDE(each[b], bias[b]);
#endif
    for (int j = max(kc, 0); j < BK; j++)
        each[j] = -INFINITY;
#pragma unroll
    for (int j = 0; j < BK / 16; j++)
        v[j] = s[j];
    most16 = larger(v[0], (float16)(-INFINITY));
#pragma unroll
    for (int j = 1; j < BK / 16; j++)
        most16 = larger(v[j], most16);
    const float old = *top, most = fmax(old, max_of(most16)), m = FINITE_MAX(most);
    sum = (float16)(0.0f);
#pragma unroll
    for (int j = 0; j < BK / 16; j++) {
        const float16 e = exp_down(v[j] - m);
        sum += e;
#if DOTS
        ((local ushort16 *) s)[j] = tile_bf16(e);
#else
        s[j] = e;
#endif
    }
    if (most > old) {
        const float f = exp(old - m);
        sum = fma(*total, (float16)(f), sum);
        for (int d = 0; d < DN / 16; d++)
            o[d] *= f;
        *top = most;
    } else {
        sum += *total;
    }
    *total = sum;
}

#if BIAS
// Whether none of nq queries sees any of kc keys: half of the blocks where each sees those before it.
INLINE int all_hidden(global const float *bias, long ld, int nq, int kc)
{
    for (int r = 0; r < nq; r++, bias += ld) {
        int j = 0;
        for (; j + 16 <= kc; j += 16)
            if (any(!(load16_f32(bias + j) <= -FLT_MAX)))
                return 0;
        for (; j < kc; j++)
            if (!(bias[j] <= -FLT_MAX))
                return 0;
    }
    return 1;
}
#endif

#if DOTS
// vs[0 .. kc / 2)[width] = pairs of keys of channels d .. d + width of the values of kc keys, zero beyond
// D and behind the last key.
INLINE void values(global const T *v, long ld, int kc, int d, const int width, local int *vs)
{
    const int n = min(width, D - d);
    for (int k = 0; k < kc; k += 2, v += 2 * ld, vs += width) {
        global const T *a = v + d, *b = a + (k + 1 < kc ? ld : 0);
        const uint is_pair = k + 1 < kc ? 0xffffffffu : 0xffffu;
        int i = 0;
        for (; i + 16 <= n; i += 16)
            *(local uint16_u *) (vs + i) = (convert_uint16(*(global const ushort16_u *) (a + i)) |
                                            convert_uint16(*(global const ushort16_u *) (b + i)) << 16) &
                                           is_pair;
        for (; i < n; i++)
            vs[i] = (int) ((a[i] | (uint) b[i] << 16) & is_pair);
        for (; i < width; i++)
            vs[i] = 0;
    }
}
#else
// vs[0 .. kc)[width] = channels d .. d + width of the values of kc keys, zero beyond D.
INLINE void values(global const T *v, long ld, int kc, int d, const int width, local float *vs)
{
    const int n = min(width, D - d);
    for (int k = 0; k < kc; k++, v += ld, vs += width) {
        int i = 0;
        for (; i + 16 <= n; i += 16)
            *(local float16_u *) (vs + i) = LOAD16(v + d + i);
        for (; i + 4 <= n; i += 4)
            *(local float4_u *) (vs + i) = LOAD4(v + d + i);
        for (; i < n; i++)
            vs[i] = LOAD(v + d + i);
        for (; i < width; i++)
            vs[i] = 0.0f;
    }
}
#endif

// os[nq][DN] += ss[nq][kc] values
INLINE void add_values(global const T *v, long ld, int kc, int nq, local float *ss, local tile_ones *vs,
                       local float16 *os)
{
    const int steps = (kc + STEP - 1) / STEP;
    int d = 0;
    for (; d < (HALF ? D / 16 * 16 : D); d += NR) {
        values(v, ld, kc, d, NR, (local tile_one *) vs);
        for (int r = 0; r < nq; r += MR)
            tile_product(steps, (local const tile_one *) (ss + r * LDS), LDS, vs, os + (r * DN + d) / 16, DN / 16, 0, 0, 0);
    }
#if HALF
    values(v, ld, kc, d, 8, (local float *) vs);
    for (int r = 0; r < nq; r += MR)
        tile_half(kc, ss + r * LDS, LDS, (local float8 *) vs,
                  (local float8 *) (os + (r * DN + d) / 16), DN / 8, 0, 0, 0);
#endif
}

// Block number first + group id, `rows` queries each, at most BQ; blocks of a head follow each other.
// Of the last MR queries those beyond the end are computed from zeros and never stored.
kernel WG1 void attention(const int first, global const T *restrict query, const ulong query_off,
                          global const in_t *restrict Kp, const ulong Kp_off,
                          global const T *restrict value, const ulong value_off, global T *restrict out,
                          const ulong out_off, global const float *bias, const ulong bias_off,
                          const int Tq, const int Tk, const int heads, const float scale,
                          const int bias_n, const int bias_h, const int bias_q, const int kv_heads,
                          const int ahead, const int rows)
{
    local tile_ones vs[BK * NV];
    local float16 os[BQ * DN / 16], scores[BQ * LDS / 16], total[BQ];
    local in_t qs[BQ * LDQ] __attribute__((aligned(64)));
    local float top[BQ], *ss = (local float *) scores;
    const int blocks = (Tq + rows - 1) / rows, at = first + get_group_id(0), plane = at / blocks;
    const int q0 = (at - plane * blocks) * rows, nq = min(rows, Tq - q0), b = plane / heads;
    const int h = plane - b * heads, kv = h * kv_heads / heads, end = SEEN(q0 + nq - 1);
    const long ld = (long) heads * D, kv_ld = (long) kv_heads * D;
    query += query_off + ((long) b * Tq + q0) * ld + h * D;
    value += value_off + (long) b * Tk * kv_ld + kv * D;
    out += out_off + ((long) b * Tq + q0) * ld + h * D;
    Kp += Kp_off + (long) (b * kv_heads + kv) * ((Tk + 63) / 64 * 64) * D;
    bias += bias_off + ((long) b * bias_n + (long) h * bias_h + q0 * bias_q) * Tk;

    for (int r = 0; r < (nq + MR - 1) / MR * MR; r++) {
        int d = 0;
        if (r < nq) {
#if DOTS
            for (; d < D; d += 2)
                *(local int *) (qs + r * LDQ + d) = *(global const int *) (query + r * ld + d);
#endif
            for (; d + 16 <= D; d += 16)
                *(local float16_u *) (qs + r * LDQ + d) = LOAD16(query + r * ld + d) * scale;
            for (; d < D; d++)
                qs[r * LDQ + d] = LOAD(query + r * ld + d) * scale;
        }
        for (; d < D; d++)
            qs[r * LDQ + d] = 0;
        for (d = 0; d < DN / 16; d++)
            os[r * (DN / 16) + d] = (float16)(0.0f);
        top[r] = -INFINITY;
        total[r] = (float16)(0.0f);
    }
    for (int k0 = 0; k0 < end; k0 += BK) {
        const int kc = min(BK, end - k0);
#if BIAS
        if (all_hidden(bias + k0, (long) bias_q * Tk, bias_q ? nq : 1, kc))
            continue;
#endif
        for (int p = 0; p < kc; p += NR)
            for (int r = 0; r < nq; r += MR)
                tile_scores(D / STEP, (local const tile_one *) (qs + r * LDQ), LDQ / STEP,
                            (global const tile_ones *) (Kp + (long) (k0 + p) * D), scores + (r * LDS + p) / 16, LDS / 16, 1, 0, 0);
        for (int r = 0; r < nq; r++)
            soften(scores + r * (LDS / 16), min(kc, SEEN(q0 + r) - k0), os + r * (DN / 16), top + r, total + r,
                   bias + (long) r * bias_q * Tk + k0, scale);
        add_values(value + k0 * kv_ld, kv_ld, kc, nq, ss, vs, os);
    }
    for (int r = 0; r < nq; r++) {
        const float sum = sum_of(total[r]), f = INVERSE(sum);
        local float *o = (local float *) (os + r * (DN / 16));
        int d = 0;
        for (; d + 16 <= D; d += 16)
            STORE16(out + r * ld + d, *(local float16_u *) (o + d) * f);
        for (; d < D; d++)
            STORE(out + r * ld + d, o[d] * f);
    }
}

// dst[row] = softmax(scale src[row]), n elements a row; dst may be src. Global size: rows.
kernel WG1 void softmax(global const T *src, const ulong src_off, global T *dst,
                        const ulong dst_off, const int n, const float scale)
{
    global const T *x = src + src_off + get_group_id(0) * (ulong) n;
    global T *y = dst + dst_off + get_group_id(0) * (ulong) n;
    float16 most = (float16)(-INFINITY), sums = (float16)(0.0f);
    float m, sum = 0.0f;
    int i = 0;
    for (; i + 16 <= n; i += 16)
        most = fmax(most, LOAD16(x + i) * scale);
    for (m = max_of(most); i < n; i++)
        m = fmax(m, LOAD(x + i) * scale);
    for (i = 0; i + 16 <= n; i += 16)
        sums += exp(LOAD16(x + i) * scale - m);
    for (; i < n; i++)
        sum += exp(LOAD(x + i) * scale - m);
    const float f = 1.0f / (sum + sum_of(sums));
    for (i = 0; i + 16 <= n; i += 16)
        STORE16(y + i, exp(LOAD16(x + i) * scale - m) * f);
    for (; i < n; i++)
        STORE(y + i, exp(LOAD(x + i) * scale - m) * f);
}
