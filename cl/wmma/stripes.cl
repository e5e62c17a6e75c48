// What stands between the two products of an attention whose scores are kept, for stripes of queries of
// one head: softmax, and values as the second product wants them. BIAS: attention.cl.
// Reference: core/op/ref/attn.c.
#include "attention.cl"
#define LOG2E 1.44269504f
#define SIDE 32 // of a tile of values

// V of a head, transposed: to[depth][Tp], 0 from key Tk on; rows of V are `row` apart.
// Global size: (ceil(Tp / 32) * 256, ceil(depth / 32)).
kernel WG(256) void turn_values(global const T *value, const ulong value_off, global T *to,
                                const ulong to_off, const int Tk, const int Tp, const int row,
                                const int depth)
{
    local ushort tile[SIDE][SIDE + 1];
    const int x = get_local_id(0) % SIDE, y = get_local_id(0) / SIDE;
    const int k0 = get_group_id(0) * SIDE, c0 = get_group_id(1) * SIDE;
    global const ushort *from = (global const ushort *) (value + value_off);
    global ushort *out = (global ushort *) (to + to_off);
    for (int i = y; i < SIDE; i += 8)
        tile[i][x] = k0 + i < Tk && c0 + x < depth ? from[(long) (k0 + i) * row + c0 + x] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = y; i < SIDE; i += 8)
        if (c0 + i < depth && k0 + x < Tp)
            out[(long) (c0 + i) * Tp + k0 + x] = tile[x][i];
}

INLINE float all_of(local float *tmp, float v, int is_max)
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

INLINE float logit(float score, global const float *bias, int k, float scale)
{
#if BIAS
    return HIDE(score * scale, bias[k]) * LOG2E;
#else
    return score * (scale * LOG2E);
#endif
}

// A work-group makes a row of scores, f32 [Tp], what exp() makes of them, T [Tp] at the same place, 0 from
// the first key on that the query does not see; factors[row] is 1 / their sum. The largest is 1, so that small
// ones keep their bits in f16.
// Query q0 + row of the head's, whose bias begins at bias. Global size: rows * 256.
kernel WG(256) void softmax_stripe(global float *scores, const ulong scores_off,
                                   global float *factors, const ulong factors_off,
                                   global const float *bias, const ulong bias_off, const int Tk,
                                   const int Tp, const int q0, const int bias_q, const float scale,
                                   const int ahead)
{
    local float tmp[256];
    const int t = get_local_id(0), r = get_group_id(0), seen = SEEN(q0 + r);
    global float *s = scores + scores_off + (long) r * Tp;
    global T *p = (global T *) s;
    bias += bias_off + (long) (q0 + r) * bias_q * Tk;
    float m = -INFINITY, sum = 0.0f;
    for (int k = t; k < seen; k += 256)
        m = fmax(m, logit(s[k], bias, k, scale));
    const float base = FINITE_MAX(all_of(tmp, m, 1));
    // A piece's results lie where scores of it and of pieces before it were.
    for (int k0 = 0; k0 < Tp; k0 += 256) {
        const int k = k0 + t;
        const float e = k < seen ? native_exp2(logit(s[k], bias, k, scale) - base) : 0.0f;
        barrier(CLK_GLOBAL_MEM_FENCE);
        sum += e;
        if (k < Tp)
            STORE(p + k, e);
    }
    sum = all_of(tmp, sum, 0);
    if (t == 0)
        factors[factors_off + r] = INVERSE(sum);
}
