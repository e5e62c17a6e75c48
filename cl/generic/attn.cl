// Attention, a work-group of 256 a block of queries of a head, and softmax over rows. Options:
// attention.cl.
#include "attention.cl"

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
                              const int bias_h, const int bias_q, const int kv_heads,
                              const int ahead)
{
    local float pool[BD * (LDQ + LDK) > VB * DP ? BD * (LDQ + LDK) : VB * DP];
    local float ps[KEYS * LDQ], red[BQ * 17];
    local float *qs = pool, *ks = pool + BD * LDQ;
    const int t = get_local_id(0), tx = t & 15, ty = t >> 4, r0 = ty * TQ;
    const int blocks = (Tq + BQ - 1) / BQ, at = first + get_group_id(0), plane = at / blocks;
    const int q0 = (at - plane * blocks) * BQ, nq = min(BQ, Tq - q0), b = plane / heads;
    const int head = plane - b * heads, kv = head * kv_heads / heads;
    const int end = SEEN(q0 + nq - 1);
    const long row = (long) heads * D, kv_row = (long) kv_heads * D;
    query += query_off + ((long) b * Tq + q0) * row + head * D;
    key += key_off + (long) b * Tk * kv_row + kv * D;
    value += value_off + (long) b * Tk * kv_row + kv * D;
    out += out_off + ((long) b * Tq + q0) * row + head * D;
    bias += bias_off + ((long) b * bias_n + (long) head * bias_h + q0 * bias_q) * Tk;

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
    for (int k0 = 0; k0 < end; k0 += KEYS) {
        const int nk = min(KEYS, end - k0);
        float4 s[TQ];
#pragma unroll
        for (int i = 0; i < TQ; i++)
            s[i] = (float4)(0.0f);
        for (int d0 = 0; d0 < D; d0 += BD) {
            barrier(CLK_LOCAL_MEM_FENCE);
            transpose(query, row, BQ, nq, d0, scale, qs, LDQ);
            transpose(key + k0 * kv_row, kv_row, KEYS, nk, d0, 1.0f, ks, LDK);
            barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 8
            for (int d = 0; d < BD; d++) {
                const float4 k = *(local float4 *) (ks + d * LDK + tx * 4);
#pragma unroll
                for (int i = 0; i < TQ; i++)
                    s[i] = fma((float4)(qs[d * LDQ + r0 + i]), k, s[i]);
            }
        }
#if !CAUSAL
        const int left = nk - tx * 4; // of this work-item's four keys
#endif
#pragma unroll
        for (int i = 0; i < TQ; i++) {
#if CAUSAL
            const int left = min(nk, SEEN(q0 + min(r0 + i, nq - 1)) - k0) - tx * 4;
#endif
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
                    k < nk ? load_d(value + (k0 + k) * kv_row, e % DP) : (float4)(0.0f);
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
