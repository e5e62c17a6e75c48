// Attention with an online softmax, and softmax over rows. Reference: core/op/ref/attn.c.
//
//   O[n][i][h] = sum over keys j of softmax_j(scale Q[n][i][h] . K[n][j][h]) V[n][j][h]
//
//   Q, O  [N][Tq][heads * D], K, V [N][Tk][heads * D], storage type T (F16, BF16); any Tq, Tk, D
//   -D D=n    channels of a head                                                            [64]
//   -D BQ=n   queries of a work-group, of the CPU schedule at most                          [48]
//   -D BIAS=1 bias f32 is added to the logits; the row of query i of head h of batch item n is number
//             n * bias_n + h * bias_h + i * bias_q, of Tk values. -infinity and -FLT_MAX hide a key; a
//             query that sees none gets 0
//
// The scores of a block of keys, the running maximum and sum and the unnormalised result are f32
// and never leave the work-group.
#ifndef D
#define D 64
#endif
#ifndef BQ
#define BQ 48
#endif

#if BIAS
#define HIDE(score, b) ((b) <= -FLT_MAX ? -INFINITY : (score) + (b))
// Of a row that sees no key so far: exp(-infinity - 0) is 0, and so is the sum.
#define FINITE_MAX(m) ((m) == -INFINITY ? 0.0f : (m))
#define INVERSE(sum) ((sum) == 0.0f ? 0.0f : 1.0f / (sum))
#else
#define FINITE_MAX(m) (m)
#define INVERSE(sum) (1.0f / (sum))
#endif

#if SCHED_CPU
// ---- one CPU work-item per block of queries of a head ---------------------------------------------
// Both products run in the register tile: keys in the lanes for the scores, channels in the lanes for
// the result. __local stays below 256 KiB as in gemm.cl: D <= 144 at BQ = 96, D <= 512 at 48, then half
// of BQ at twice D.
#define BK 128
#define DN ((D + NR - 1) / NR * NR)
#define LDQ (D + 16)
#define LDS (BK + 16)

DEFINE_TILE(tile_scores, local, global, local)
// The last channels of a head, if half a vector holds them.
#define HALF (NV == 1 && D % 16 > 0 && D % 16 <= 8)
#if HALF
#undef TILE_VEC
#define TILE_VEC float8
DEFINE_TILE(tile_half, local, local, local)
#endif

// Kp [N][heads][ceil(Tk / 64)][64 / NR][D][NR] f32, zero beyond Tk: K as the register tile reads it.
// Global size: panels of 64 keys * heads * N.
kernel WG1 void attention_keys(global const T *restrict key, const ulong key_off,
                               global float *restrict Kp, const ulong Kp_off, const int Tk,
                               const int heads)
{
    const int panels = (Tk + 63) / 64, plane = get_group_id(0) / panels, b = plane / heads;
    const int j0 = (get_group_id(0) - plane * panels) * 64;
    const long ld = (long) heads * D;
    key += key_off + (long) b * Tk * ld + (plane - b * heads) * D;
    Kp += Kp_off + (long) get_group_id(0) * (64 * D);
    for (int j = 0; j < 64; j++) {
        global const T *k = key + (j0 + j) * ld;
        global float *to = Kp + j / NR * (D * NR) + j % NR;
        int d = 0;
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
    }
}

// s[kc] scores become exp(s - running maximum); the result's row o so far is scaled to match.
INLINE void soften(local float *s, int kc, local float *o, local float *top, local float *total,
                   global const float *bias)
{
    float16 v = (float16)(-INFINITY), sum = (float16)(0.0f);
    for (int j = kc; j & 15; j++)
        s[j] = -INFINITY;
#if BIAS
    int b = 0;
    for (; b + 16 <= kc; b += 16) {
        const float16 w = load16_f32(bias + b);
        *(local float16_u *) (s + b) = HIDE(*(local float16_u *) (s + b), w);
    }
    for (; b < kc; b++)
        s[b] = HIDE(s[b], bias[b]);
#endif
    for (int j = 0; j < kc; j += 16)
        v = larger(*(local float16_u *) (s + j), v);
    const float old = *top, most = fmax(old, max_of(v)), m = FINITE_MAX(most);
    for (int j = 0; j < kc; j += 16) {
        const float16 e = exp_down(*(local float16_u *) (s + j) - m);
        sum += e;
        *(local float16_u *) (s + j) = e;
    }
    if (most > old) {
        const float f = exp(old - m);
        *total *= f;
        for (int d = 0; d < DN; d += 16)
            *(local float16_u *) (o + d) *= f;
        *top = most;
    }
    *total += sum_of(sum);
}

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

// os[nq][DN] += ss[nq][kc] values
INLINE void add_values(global const T *v, long ld, int kc, int nq, local float *ss, local float16 *vs,
                       local float16 *os)
{
    int d = 0;
    for (; d < (HALF ? D / 16 * 16 : D); d += NR) {
        values(v, ld, kc, d, NR, (local float *) vs);
        for (int r = 0; r < nq; r += MR)
            tile_product(kc, ss + r * LDS, LDS, vs, os + (r * DN + d) / 16, DN / 16, 0);
    }
#if HALF
    values(v, ld, kc, d, 8, (local float *) vs);
    for (int r = 0; r < nq; r += MR)
        tile_half(kc, ss + r * LDS, LDS, (local float8 *) vs,
                  (local float8 *) (os + (r * DN + d) / 16), DN / 8, 0);
#endif
}

// Block number first + group id, `rows` queries each, at most BQ; blocks of a head follow each other.
// Of the last MR queries those beyond the end are computed from zeros and never stored.
kernel WG1 void attention(const int first, global const T *restrict query, const ulong query_off,
                          global const float *restrict Kp, const ulong Kp_off,
                          global const T *restrict value, const ulong value_off, global T *restrict out,
                          const ulong out_off, global const float *bias, const ulong bias_off,
                          const int Tq, const int Tk, const int heads, const float scale,
                          const int bias_n, const int bias_h, const int bias_q, const int rows)
{
    local float16 vs[BK * NV], os[BQ * DN / 16], scores[BQ * LDS / 16];
    local float qs[BQ * LDQ], top[BQ], total[BQ], *ss = (local float *) scores;
    const int blocks = (Tq + rows - 1) / rows, at = first + get_group_id(0), plane = at / blocks;
    const int q0 = (at - plane * blocks) * rows, nq = min(rows, Tq - q0), b = plane / heads;
    const long ld = (long) heads * D, head = (plane - b * heads) * D;
    query += query_off + ((long) b * Tq + q0) * ld + head;
    value += value_off + (long) b * Tk * ld + head;
    out += out_off + ((long) b * Tq + q0) * ld + head;
    Kp += Kp_off + (long) plane * ((Tk + 63) / 64 * 64) * D;
    bias += bias_off + ((long) b * bias_n + (long) (plane - b * heads) * bias_h + q0 * bias_q) * Tk;

    for (int r = 0; r < (nq + MR - 1) / MR * MR; r++) {
        int d = 0;
        if (r < nq) {
            for (; d + 16 <= D; d += 16)
                *(local float16_u *) (qs + r * LDQ + d) = LOAD16(query + r * ld + d) * scale;
            for (; d < D; d++)
                qs[r * LDQ + d] = LOAD(query + r * ld + d) * scale;
        }
        for (; d < D; d++)
            qs[r * LDQ + d] = 0.0f;
        for (d = 0; d < DN / 16; d++)
            os[r * (DN / 16) + d] = (float16)(0.0f);
        top[r] = -INFINITY;
        total[r] = 0.0f;
    }
    for (int k0 = 0; k0 < Tk; k0 += BK) {
        const int kc = min(BK, Tk - k0);
        for (int p = 0; p < kc; p += NR)
            for (int r = 0; r < nq; r += MR)
                tile_scores(D, qs + r * LDQ, LDQ, (global const float16 *) (Kp + (long) (k0 + p) * D),
                            scores + (r * LDS + p) / 16, LDS / 16, 1);
        for (int r = 0; r < nq; r++)
            soften(ss + r * LDS, kc, (local float *) (os + r * (DN / 16)), top + r, total + r,
                   bias + (long) r * bias_q * Tk + k0);
        add_values(value + k0 * ld, ld, kc, nq, ss, vs, os);
    }
    for (int r = 0; r < nq; r++) {
        const float f = INVERSE(total[r]);
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
#endif // SCHED_CPU

#if SCHED_GENERIC
// ---- a work-group of 256 per block of queries of a head ------------------------------------------
// A work-item holds the scores of BQ / 16 queries x 4 keys and as many rows of the result, four
// channels of every 64. Q and K pass through __local 32 channels at a time, V as many keys at a time
// as fit 16 KiB. Global size: blocks * 256.
#define TQ (BQ / 16)
#define KEYS 64
#define BD 32
#define DP ((D + 63) / 64 * 64)
#define HD (DP / 64)
#define VB (DP <= 64 ? 64 : DP <= 128 ? 32 : DP <= 256 ? 16 : DP <= 512 ? 8 : DP <= 1024 ? 4 : 2)
#define LDQ (BQ + 4)
#define LDK (KEYS + 4)

// Four channels from d on of a row, zero beyond D.
INLINE float4 load_d(global const T *x, int d)
{
#if D % 4 == 0
    return d < D ? LOAD4A(x + d) : (float4)(0.0f);
#else
    return (float4)(d < D ? LOAD(x + d) : 0.0f, d + 1 < D ? LOAD(x + d + 1) : 0.0f,
                    d + 2 < D ? LOAD(x + d + 2) : 0.0f, d + 3 < D ? LOAD(x + d + 3) : 0.0f);
#endif
}

// to[0 .. BD)[ld] = channels d0 .. d0 + BD of n rows, zero beyond the limit.
INLINE void transpose(global const T *x, long row, int n, int limit, int d0, float scale,
                      local float *to, const int ld)
{
    const int c = (get_local_id(0) & 7) * 4;
    for (int r = get_local_id(0) >> 3; r < n; r += 32) {
        const float4 v = r < limit ? load_d(x + r * row, d0 + c) * scale : (float4)(0.0f);
        to[c * ld + r] = v.x;
        to[(c + 1) * ld + r] = v.y;
        to[(c + 2) * ld + r] = v.z;
        to[(c + 3) * ld + r] = v.w;
    }
}

kernel WG(256) void attention(const int first, global const T *restrict query,
                              const ulong query_off, global const T *restrict key,
                              const ulong key_off, global const T *restrict value,
                              const ulong value_off, global T *restrict out, const ulong out_off,
                              global const float *bias, const ulong bias_off, const int Tq,
                              const int Tk, const int heads, const float scale, const int bias_n,
                              const int bias_h, const int bias_q)
{
    local float pool[BD * (LDQ + LDK) > VB * DP ? BD * (LDQ + LDK) : VB * DP];
    local float ps[KEYS * LDQ], red[BQ * 17];
    local float *qs = pool, *ks = pool + BD * LDQ;
    const int t = get_local_id(0), tx = t & 15, ty = t >> 4, r0 = ty * TQ;
    const int blocks = (Tq + BQ - 1) / BQ, at = first + get_group_id(0), plane = at / blocks;
    const int q0 = (at - plane * blocks) * BQ, nq = min(BQ, Tq - q0), b = plane / heads;
    const long row = (long) heads * D, head = (plane - b * heads) * D;
    query += query_off + ((long) b * Tq + q0) * row + head;
    key += key_off + (long) b * Tk * row + head;
    value += value_off + (long) b * Tk * row + head;
    out += out_off + ((long) b * Tq + q0) * row + head;
    bias += bias_off + ((long) b * bias_n + (long) (plane - b * heads) * bias_h + q0 * bias_q) * Tk;

    float top[TQ], total[TQ];
    float4 acc[TQ][HD];
#pragma unroll
    for (int i = 0; i < TQ; i++) {
        top[i] = -INFINITY;
        total[i] = 0.0f;
#pragma unroll
        for (int h = 0; h < HD; h++)
            acc[i][h] = (float4)(0.0f);
    }
    for (int k0 = 0; k0 < Tk; k0 += KEYS) {
        const int nk = min(KEYS, Tk - k0);
        float4 s[TQ];
#pragma unroll
        for (int i = 0; i < TQ; i++)
            s[i] = (float4)(0.0f);
        for (int d0 = 0; d0 < D; d0 += BD) {
            barrier(CLK_LOCAL_MEM_FENCE);
            transpose(query, row, BQ, nq, d0, scale, qs, LDQ);
            transpose(key + k0 * row, row, KEYS, nk, d0, 1.0f, ks, LDK);
            barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 8
            for (int d = 0; d < BD; d++) {
                const float4 k = *(local float4 *) (ks + d * LDK + tx * 4);
#pragma unroll
                for (int i = 0; i < TQ; i++)
                    s[i] = fma((float4)(qs[d * LDQ + r0 + i]), k, s[i]);
            }
        }
        const int left = nk - tx * 4; // of this work-item's four keys
#pragma unroll
        for (int i = 0; i < TQ; i++) {
#if BIAS
            global const float *hide = bias + (long) min(r0 + i, nq - 1) * bias_q * Tk + k0 + tx * 4;
            s[i].x = left > 0 ? HIDE(s[i].x, hide[0]) : -INFINITY;
            s[i].y = left > 1 ? HIDE(s[i].y, hide[1]) : -INFINITY;
            s[i].z = left > 2 ? HIDE(s[i].z, hide[2]) : -INFINITY;
            s[i].w = left > 3 ? HIDE(s[i].w, hide[3]) : -INFINITY;
#else
            s[i].x = left > 0 ? s[i].x : -INFINITY;
            s[i].y = left > 1 ? s[i].y : -INFINITY;
            s[i].z = left > 2 ? s[i].z : -INFINITY;
            s[i].w = left > 3 ? s[i].w : -INFINITY;
#endif
            red[(r0 + i) * 17 + tx] = fmax(fmax(s[i].x, s[i].y), fmax(s[i].z, s[i].w));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int i = 0; i < TQ; i++) {
            float m = top[i];
            for (int j = 0; j < 16; j++)
                m = fmax(m, red[(r0 + i) * 17 + j]);
            const float base = FINITE_MAX(m);
            const float f = exp(top[i] - base);
            const float4 e = exp(s[i] - base);
            local float *p = ps + tx * 4 * LDQ + r0 + i;
            top[i] = m;
            total[i] = total[i] * f + (e.x + e.y + e.z + e.w);
#pragma unroll
            for (int h = 0; h < HD; h++)
                acc[i][h] *= f;
            p[0] = e.x;
            p[LDQ] = e.y;
            p[2 * LDQ] = e.z;
            p[3 * LDQ] = e.w;
        }
        for (int v0 = 0; v0 < nk; v0 += VB) {
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int e = t * 4; e < VB * DP; e += 1024) {
                const int k = v0 + e / DP;
                *(local float4 *) (pool + e) =
                    k < nk ? load_d(value + (k0 + k) * row, e % DP) : (float4)(0.0f);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 2
            for (int k = 0; k < VB; k++)
#pragma unroll
                for (int h = 0; h < HD; h++) {
                    const float4 v = *(local float4 *) (pool + k * DP + h * 64 + tx * 4);
#pragma unroll
                    for (int i = 0; i < TQ; i++)
                        acc[i][h] = fma((float4)(ps[(v0 + k) * LDQ + r0 + i]), v, acc[i][h]);
                }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int i = 0; i < TQ; i++)
        red[(r0 + i) * 17 + tx] = total[i];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int i = 0; i < TQ; i++) {
        float sum = 0.0f;
        for (int j = 0; j < 16; j++)
            sum += red[(r0 + i) * 17 + j];
        const float f = INVERSE(sum);
        if (r0 + i >= nq)
            break;
#pragma unroll
        for (int h = 0; h < HD; h++) {
            const int d = h * 64 + tx * 4;
            const float4 v = acc[i][h] * f;
            global T *o = out + (r0 + i) * row + d;
#if D % 4 == 0
            if (d < D)
                STORE4A(o, v);
#else
            if (d < D)
                STORE(o, v.x);
            if (d + 1 < D)
                STORE(o + 1, v.y);
            if (d + 2 < D)
                STORE(o + 2, v.z);
            if (d + 3 < D)
                STORE(o + 3, v.w);
#endif
        }
    }
}

INLINE float reduce(local float *tmp, float v, int is_max)
{
    const int t = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    tmp[t] = v;
    for (int k = 128; k > 0; k >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < k)
            tmp[t] = is_max ? fmax(tmp[t], tmp[t + k]) : tmp[t] + tmp[t + k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return tmp[0];
}

// A work-group does a row. Global size: rows * 256.
kernel WG(256) void softmax(global const T *src, const ulong src_off, global T *dst,
                            const ulong dst_off, const int n, const float scale)
{
    local float tmp[256];
    global const T *x = src + src_off + get_group_id(0) * (ulong) n;
    global T *y = dst + dst_off + get_group_id(0) * (ulong) n;
    float m = -INFINITY, sum = 0.0f;
    for (int i = get_local_id(0); i < n; i += 256)
        m = fmax(m, LOAD(x + i) * scale);
    m = reduce(tmp, m, 1);
    for (int i = get_local_id(0); i < n; i += 256)
        sum += exp(LOAD(x + i) * scale - m);
    const float f = 1.0f / reduce(tmp, sum, 0);
    for (int i = get_local_id(0); i < n; i += 256)
        STORE(y + i, exp(LOAD(x + i) * scale - m) * f);
}
#endif // SCHED_GENERIC
