// Attention with an online softmax on matrix instructions: 16-bit values, sums in f32. What it computes
// and its options: attention.cl; here D is a multiple of 8 up to 160, scale is positive. Reference:
// core/op/ref/attn.c.
//
// A wave has 16 queries of a head, a work-group WAVES * 16. Keys and values come in blocks through
// __local, the next one is requested before the products of a block. S^T = K Q^T has queries as columns,
// so that a lane holds scores of one query alone, and what exp() makes of them becomes operand B of
// O^T = V^T P^T: each lane needs eight values more, which lane ^ 16 has. They come through __local, which costs
// no vector arithmetic.
//
// Row 2 v + h of every 16 rows in __local is key, or channel of V, 8 h + v: a lane's scores are then of
// eight consecutive keys, its results eight consecutive channels. V is transposed on its way, four keys
// of eight channels at a time.
//
// Where blocks of queries are few, each of several parts has part_keys, whole blocks: a record is f32 [D + 4], a
// part's results times its sum, the maximum in exponents of two that they refer to, the sum. combine_parts
// makes one result of the records of a query and head, which lie side by side.
//
// Global size: (blocks * WG_SIZE, parts), work-group size WG_SIZE.
#include "attention.cl"
#define WAVES 4
#define WG_SIZE (WAVES * 32)
#include "fragment.cl"
#if CAUSAL && !BIAS // a query may see no key of a part
#undef FINITE_MAX
#define FINITE_MAX(m) ((m) == -INFINITY ? 0.0f : (m))
#endif

#define DP ((D + 15) / 16 * 16)
#define ND (DP / 16)
#ifndef KEYS
#define KEYS (D <= 64 ? 64 : 32)   // of a block; another number as tuned
#endif
#define NK (KEYS / 16)
#define LDK (DP + 8)               // an odd number of 16 bytes: reads by neighbouring lanes meet no bank twice
#define LDV (KEYS + 8)
#define CHUNKS (D / 8)             // of 16 bytes, of a row
#define QUADS (KEYS / 4)
#define ROUNDS(n) (((n) + WG_SIZE - 1) / WG_SIZE)
#define NKL ROUNDS(KEYS * CHUNKS)
#define NVL ROUNDS(QUADS * CHUNKS)
#define IS_ONE_OF(e, n) ((n) % WG_SIZE == 0 || (e) < (n))
#define ONE_OF(e, n) ((n) % WG_SIZE == 0 ? (e) : min(e, (n) - 1))
#define AHEAD (D <= 128)           // a block is requested before the products of that before
#define KEY_ROW(r) (((r) & ~15) | ((r) & 7) << 1 | ((r) >> 3 & 1))
#define CHANNEL_ROW(r) KEY_ROW(r)
#define IS_KEY(k, n) ((k) < (n))
// The maximum that the sums refer to stays while no score is 2^8 times it: P then fits f16, and the
// results so far need no factor.
#define SLACK 8.0f
#define RECORD (D + 4)
// Of heads that leave channels of a tile empty the first of these is 1 for every key: its result is the sum.
#define HAS_ONES (D % 16 == 8)
#if BF16
#define ONE 0x3f80u
#define RAISED 1.00277f
#define LOG2_RAISED 3.991e-3f
#else
#define ONE 0x3c00u
#define RAISED 1.0003467f
#define LOG2_RAISED 5.001e-4f
#endif
#define LOG2E 1.44269504f

// Two of P, which is at least 0, rounded down: what exp() makes of scores is RAISED times more before, about what
// rounding takes on average, 1 stays 1. Sums are of rounded numbers, or lowered again.
INLINE uint pack_p(float a, float b)
{
#if BF16
    return HIGHS(as_uint(a), as_uint(b));
#else
    return HALVES_DOWN(a, b);
#endif
}

INLINE uint4 pack_result(float8 v)
{
    ushort8 h;
#if BF16
    h = (ushort8)(to_bf164(v.lo), to_bf164(v.hi));
#else
    vstore_half8_rte(v, 0, (private half *) &h);
#endif
    return as_uint4(h);
}

INLINE float8 exp2_of(float8 v)
{
    return (float8)(EXP2(v.s0), EXP2(v.s1), EXP2(v.s2), EXP2(v.s3), EXP2(v.s4), EXP2(v.s5),
                    EXP2(v.s6), EXP2(v.s7));
}
INLINE float largest(float x, float8 v)
{
    x = LARGEST3(x, v.s0, v.s1);
    const float y = LARGEST3(v.s2, v.s3, v.s4);
    return LARGEST3(x, y, LARGEST3(v.s5, v.s6, v.s7));
}
INLINE float total_of(float8 v)
{
    const float4 a = v.lo + v.hi;
    return (a.x + a.y) + (a.z + a.w);
}

// Channels c .. c + 7 of a row that is `at` bytes behind x.
INLINE uint4 load_chunk(global const T *x, uint at, int c)
{
    return *(global const uint4 *) ((global const uchar *) x + (at + c * 2));
}

// The channels beyond D in __local, once: nothing is stored there later.
INLINE void fill_beyond(local ushort *Ks, local ushort *Vs)
{
#if HAS_ONES
    for (int r = get_local_id(0); r < KEYS; r += WG_SIZE) {
        *(local uint4 *) (Ks + r * LDK + D) = (uint4)(0);
        for (int c = D; c < DP; c++)
            Vs[CHANNEL_ROW(c) * LDV + r] = c == D ? ONE : 0;
    }
#endif
}

// Word i of eight channels of four keys each: what they have of channels 2 i and 2 i + 1.
INLINE void store_pairs(local ushort *to, int i, uint a, uint b, uint c, uint d)
{
    *(local uint2 *) (to + CHANNEL_ROW(2 * i) * LDV) = (uint2)(LOWS(a, b), LOWS(c, d));
    *(local uint2 *) (to + CHANNEL_ROW(2 * i + 1) * LDV) = (uint2)(HIGHS(a, b), HIGHS(c, d));
}

// What a work-item moves of a block that begins at `key` or `value` and ends with row `last`: chunks of
// keys, and of values eight channels of four keys each. Where rows are not so many, any others.
typedef struct share {
    uint4 key[NKL], value[NVL][4];
} share;

INLINE void request_key(private share *s, int i, global const T *key, uint bytes, int last)
{
    const int e = ONE_OF((int) get_local_id(0) + i * WG_SIZE, KEYS * CHUNKS);
    s->key[i] =
        load_chunk(key, min((uint) (e / CHUNKS) * bytes, (uint) last * bytes), e % CHUNKS * 8);
}
INLINE void store_key(private const share *s, int i, local ushort *Ks)
{
    const int e = get_local_id(0) + i * WG_SIZE;
    if (IS_ONE_OF(e, KEYS * CHUNKS))
        *(local uint4 *) (Ks + KEY_ROW(e / CHUNKS) * LDK + e % CHUNKS * 8) = s->key[i];
}
INLINE void request_value(private share *s, int i, global const T *value, uint bytes, int last)
{
    const int e = ONE_OF((int) get_local_id(0) + i * WG_SIZE, QUADS * CHUNKS);
    UNROLL
    for (int j = 0; j < 4; j++)
        s->value[i][j] =
            load_chunk(value, min((uint) (e % QUADS * 4 + j) * bytes, (uint) last * bytes),
                       e / QUADS * 8);
}
INLINE void store_value(private const share *s, int i, local ushort *Vs)
{
    const int e = get_local_id(0) + i * WG_SIZE;
    local ushort *to = Vs + CHANNEL_ROW(e / QUADS * 8) * LDV + e % QUADS * 4;
    const private uint4 *v = s->value[i];
    if (IS_ONE_OF(e, QUADS * CHUNKS)) {
        store_pairs(to, 0, v[0].x, v[1].x, v[2].x, v[3].x);
        store_pairs(to, 1, v[0].y, v[1].y, v[2].y, v[3].y);
        store_pairs(to, 2, v[0].z, v[1].z, v[2].z, v[3].z);
        store_pairs(to, 3, v[0].w, v[1].w, v[2].w, v[3].w);
    }
}
INLINE void request(private share *s, global const T *key, global const T *value, uint bytes, int last)
{
    UNROLL
    for (int i = 0; i < NKL; i++)
        request_key(s, i, key, bytes, last);
    UNROLL
    for (int i = 0; i < NVL; i++)
        request_value(s, i, value, bytes, last);
}

// What the products of a block's keys begin with, the bias of a query over the scale: eight of every 16
// keys are this lane's, from key k0 + from. What hides a key stays so by the factor that scores get. Beyond `last`, the
// last place with eight values, these are loaded and moved down.
INLINE void load_bias(private float8 *s, global const float *bias, int k0, int from, int last,
                      float inverse)
{
    UNROLL
    for (int j = 0; j < NK; j++)
        s[j] = vload8(0, bias + (uint) min(k0 + from + j * 16, last));
    if (last < k0 + KEYS - 8) {
        UNROLL
        for (int j = 0; j < NK; j++) {
            const int d = max(k0 + from + j * 16 - last, 0);
            s[j] = d & 1 ? (float8)(s[j].s1234, s[j].s567, 0.0f) : s[j];
            s[j] = d & 2 ? (float8)(s[j].s2345, s[j].s67, 0.0f, 0.0f) : s[j];
            s[j] = d & 4 ? (float8)(s[j].hi, s[j].hi) : s[j];
        }
    }
    UNROLL
    for (int j = 0; j < NK; j++)
        s[j] *= inverse;
}

kernel WG(WG_SIZE) void attention_wmma(const int first, global const T *restrict query,
                                       const ulong query_off, global const T *restrict key,
                                       const ulong key_off, global const T *restrict value,
                                       const ulong value_off, global T *restrict out,
                                       const ulong out_off, global const float *bias,
                                       const ulong bias_off, const int Tq, const int Tk,
                                       const int heads, const float scale, const int bias_n,
                                       const int bias_h, const int bias_q, const int kv_heads,
                                       const int ahead, const int part_keys,
                                       global float *records, const ulong records_off)
{
    local ushort Ks[KEYS * LDK] __attribute__((aligned(16))), Vs[DP * LDV] __attribute__((aligned(16)));
    local uint4 Ps[WAVES * 32];
    FRAGMENT_SCRATCH
    const int t = get_local_id(0), lane = t & 31, hi = lane >> 4;
    const int blocks = (Tq + BQ - 1) / BQ, at = first + get_group_id(0), plane = at / blocks;
    const int b = plane / heads, h = plane - b * heads;
    const int q0 = (at - plane * blocks) * BQ, q = q0 + (t >> 5) * 16 + (lane & 15), qc = min(q, Tq - 1);
    const int kv = h * kv_heads / heads, seen = SEEN(qc); // keys of this lane's query
    const int part = get_group_id(1), n_parts = get_num_groups(1);
    const int begin = part * part_keys;
    // What the work-group's last query sees of the part.
    const int end = min(begin + min(part_keys, Tk - begin), SEEN(min(q0 + BQ, Tq) - 1));
    const uint row = kv_heads * D;
    query += query_off + ((long) b * Tq + qc) * (heads * D) + h * D;
    key += key_off + ((long) b * Tk + begin) * row + kv * D;
    value += value_off + ((long) b * Tk + begin) * row + kv * D;
#if BIAS
    bias += bias_off + ((long) b * bias_n + (long) h * bias_h + qc * bias_q) * Tk;
#endif

    const float factor = scale * LOG2E;
    uint8 fq[ND];
    float8 o[ND], nothing = (float8)(0.0f); // what sums begin with: not written anew for each
    OPAQUE(nothing);
    float m = -INFINITY, sum = 0.0f;
    UNROLL
    for (int i = 0; i < ND; i++) {
        fq[i] = (uint8)(load_chunk(query, 0, i * 16),
                        i * 16 + 8 < D ? load_chunk(query, 0, i * 16 + 8) : (uint4)(0));
        o[i] = (float8)(0.0f);
    }

    fill_beyond(Ks, Vs);
    share mine;
#if AHEAD
    request(&mine, key, value, row * 2, max(end - 1 - begin, 0));
#endif
    for (int k0 = begin; k0 < end; k0 += KEYS) {
        const int step = k0 + KEYS < end ? KEYS : 0; // the last block is requested twice: no branch
        float8 s[NK];
#if BIAS && AHEAD
        load_bias(s, bias, k0, 8 * hi, Tk - 8, 1.0f / scale);
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (int i = 0; i < NKL; i++) {
#if !AHEAD
            request_key(&mine, i, key, row * 2, end - 1 - k0);
#endif
            store_key(&mine, i, Ks);
        }
        UNROLL
        for (int i = 0; i < NVL; i++) {
#if !AHEAD
            IN_ORDER
            request_value(&mine, i, value, row * 2, end - 1 - k0);
#endif
            store_value(&mine, i, Vs);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        key += (long) step * row;
        value += (long) step * row;
#if AHEAD
        request(&mine, key, value, row * 2, end - 1 - k0 - step);
#endif

#if BIAS && !AHEAD // no registers for it before
        load_bias(s, bias, k0, 8 * hi, Tk - 8, 1.0f / scale);
#endif
        UNROLL
        for (int j = 0; j < NK; j++) {
#if !BIAS
            s[j] = nothing;
#endif
            UNROLL
            for (int i = 0; i < ND; i++) {
                local const uint4 *p =
                    (local const uint4 *) (Ks + (j * 16 + (lane & 15)) * LDK + i * 16);
                const uint8 fk = (uint8)(p[0], p[1]);
                WMMA(s[j], fk, fq[i]);
#if !AHEAD
                IN_ORDER
#endif
            }
#if D % 64 // which else costs registers
            IN_ORDER
#endif
        }
        const int left = seen - k0 - 8 * hi; // keys of this lane and behind
        if (k0 + KEYS > SEEN(q0)) {
            UNROLL
            for (int j = 0; j < NK; j++)
                s[j] = IS_KEY((int8)(0, 1, 2, 3, 4, 5, 6, 7) + j * 16, (int8)(left)) ? s[j] : -INFINITY;
        }
        float top = -INFINITY;
        UNROLL
        for (int j = 0; j < NK; j++)
            top = largest(top, s[j]);
        const float of_other = as_float(OTHER_HALF((uint4)(as_uint(top))).x);
        top = LARGEST3(top, of_other, of_other);
        top *= factor;
        if (top > m + SLACK) {
            const float f = EXP2(m - FINITE_MAX(top));
            m = top;
            sum *= f;
            UNROLL
            for (int i = 0; i < ND; i++)
                o[i] *= f;
        }
        const float base = FINITE_MAX(m) - LOG2_RAISED;
        UNROLL
        for (int j = 0; j < NK; j++) {
            const float8 e = exp2_of(fma(s[j], (float8)(factor), (float8)(-base)));
#if !HAS_ONES
            sum += total_of(e);
#endif
            const uint4 own = (uint4)(pack_p(e.s0, e.s1), pack_p(e.s2, e.s3), pack_p(e.s4, e.s5),
                                      pack_p(e.s6, e.s7));
            Ps[t] = own;
            WAVE_FENCE
            const uint8 fp = (uint8)(Ps[t & ~16], Ps[t | 16]);
            WAVE_FENCE
            UNROLL
            for (int i = 0; i < ND; i++) {
                local const uint4 *p =
                    (local const uint4 *) (Vs + (i * 16 + (lane & 15)) * LDV + j * 16);
                const uint8 fv = (uint8)(p[0], p[1]);
                WMMA(o[i], fv, fp);
#if !AHEAD
                IN_ORDER
#endif
            }
#if D % 64
            IN_ORDER
#endif
        }
    }
#if HAS_ONES
    sum = hi ? o[ND - 1].s0 : 0.0f;
#else
    sum *= 1.0f / RAISED;
#endif
    sum += as_float(OTHER_HALF((uint4)(as_uint(sum))).x);
    if (n_parts > 1) {
        global float *to = records + records_off +
                           ((((long) b * Tq + qc) * heads + h) * n_parts + part) * RECORD;
        if (q < Tq && !hi)
            vstore2((float2)(m, sum), 0, to + D);
        UNROLL
        for (int i = 0; i < ND; i++)
            if (q < Tq && i * 16 + 8 * hi < D)
                vstore8(o[i], 0, to + i * 16 + 8 * hi);
        return;
    }
    const float f = INVERSE(sum);
    out += out_off + ((long) b * Tq + qc) * (heads * D) + h * D + 8 * hi;
    UNROLL
    for (int i = 0; i < ND; i++) {
        const uint4 r = pack_result(o[i] * f);
        if (q < Tq && i * 16 + 8 * hi < D)
            *(global uint4 *) (out + i * 16) = r;
    }
}

// Results from records of n_parts. Global size: queries of all heads * D / 8 up to a multiple of 256, work-group
// size 256.
kernel WG(256) void combine_parts(global const float *records, const ulong records_off,
                                  global T *out, const ulong out_off, const int n_parts,
                                  const ulong n)
{
    const ulong i = get_global_id(0), row = i / (D / 8);
    const int c = (int) (i - row * (D / 8)) * 8;
    if (row >= n)
        return;
    records += records_off + row * n_parts * RECORD;
    float top = -INFINITY, sum = 0.0f;
    float8 o = (float8)(0.0f);
    for (int p = 0; p < n_parts; p++)
        top = fmax(top, records[p * RECORD + D]);
    const float base = FINITE_MAX(top);
    for (int p = 0; p < n_parts; p++) {
        global const float *r = records + p * RECORD;
        const float f = EXP2(r[D] - base); // of a part of which nothing is seen: 0
        sum = fma(f, r[D + 1], sum);
        o = fma((float8)(f), vload8(0, r + c), o);
    }
    *(global uint4 *) (out + out_off + row * D + c) = pack_result(o * INVERSE(sum));
}
