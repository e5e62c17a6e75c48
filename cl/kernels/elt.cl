// Elementwise operations. Reference: core/op/ref/elt.c
// Storage type by F16 or BF16; fn: see activations in common.cl, as flat kernels.
// dst may be the memory of a source: an element is read before it is written, by one work-item.

FLAT_KERNEL act_op(global const T *src, const ulong src_off, global T *dst, const ulong dst_off,
                   const ulong n, const int fn)
{
    src += src_off;
    dst += dst_off;
    FLAT_LOOP(n, STOREV(STORAGE, dst + i, actv(LOADV(STORAGE, src + i), fn)),
              STORE(dst + i, act(LOAD(src + i), fn)))
}

FLAT_KERNEL add(global const T *a, const ulong a_off, global const T *b, const ulong b_off,
                global T *dst, const ulong dst_off, const ulong n)
{
    a += a_off;
    b += b_off;
    dst += dst_off;
    FLAT_LOOP(n, STOREV(STORAGE, dst + i, LOADV(STORAGE, a + i) + LOADV(STORAGE, b + i)),
              STORE(dst + i, LOAD(a + i) + LOAD(b + i)))
}

// factor * x + shift
FLAT_KERNEL scale(global const T *src, const ulong src_off, global T *dst, const ulong dst_off,
                  const ulong n, const float factor, const float shift)
{
    src += src_off;
    dst += dst_off;
    FLAT_LOOP(n,
              STOREV(STORAGE, dst + i, fma(LOADV(STORAGE, src + i), (vec) (factor), (vec) (shift))),
              STORE(dst + i, fma(LOAD(src + i), factor, shift)))
}

// act(a) * b
FLAT_KERNEL mul(global const T *a, const ulong a_off, global const T *b, const ulong b_off,
                global T *dst, const ulong dst_off, const ulong n, const int fn)
{
    a += a_off;
    b += b_off;
    dst += dst_off;
    FLAT_LOOP(n, STOREV(STORAGE, dst + i, actv(LOADV(STORAGE, a + i), fn) * LOADV(STORAGE, b + i)),
              STORE(dst + i, act(LOAD(a + i), fn) * LOAD(b + i)))
}

// *count += values that are NaN or infinite. Integer sums do not depend on their order.
FLAT_KERNEL check_finite(global const T *src, const ulong src_off, global uint *count,
                         const ulong count_off, const ulong n)
{
    src += src_off;
    ivec finite = 0; // minus the number of finite values
    int bad = 0, seen = 0;
    FLAT_LOOP(n, (finite += isfinite(LOADV(STORAGE, src + i)), seen += V),
              bad += !isfinite(LOAD(src + i)))
#if SCHED_CPU
    const int8 half_sum = finite.lo + finite.hi;
    const int4 sum = half_sum.lo + half_sum.hi;
#else
    const int4 sum = finite;
#endif
    bad += seen + sum.x + sum.y + sum.z + sum.w;
    if (bad)
        atomic_add(count + count_off, bad);
}

// ---- rows of C elements ---------------------------------------------------------------------------
// Row kernels: a work-item of the CPU schedule does `each` rows; one of the GENERIC schedule 4
// elements of a row (1 with -D NARROW=1, when C is no multiple of 4). `at` is the element in the
// whole, c in its row.
// CPU: global ceil(rows / each), local 1. GENERIC: global rows * C / 4 up to a multiple of 256, local
// 256. launch_rows() in cl/op_elt.c says the same.
#if SCHED_CPU
#define ROW_LOOP(init, vector, scalar)                                                             \
    const ulong end = min((get_global_id(0) + 1) * each, rows);                                    \
    for (ulong row = get_global_id(0) * each; row < end; row++) {                                  \
        int c = 0;                                                                                 \
        ulong at = row * C;                                                                        \
        init;                                                                                      \
        for (; c + V <= C; c += V, at += V) {                                                      \
            vector;                                                                                \
        }                                                                                          \
        for (; c < C; c++, at++) {                                                                 \
            scalar;                                                                                \
        }                                                                                          \
    }
#elif NARROW
#define ROW_LOOP(init, vector, scalar)                                                             \
    const index at = get_global_id(0), row = at / (index) C;                                       \
    const int c = at - row * (index) C;                                                            \
    if (row >= rows)                                                                               \
        return;                                                                                    \
    init;                                                                                          \
    scalar;
#else
#define ROW_LOOP(init, vector, scalar)                                                             \
    const index at = (index) get_global_id(0) * 4, row = at / (index) C;                           \
    const int c = at - row * (index) C;                                                            \
    if (row >= rows)                                                                               \
        return;                                                                                    \
    init;                                                                                          \
    vector;
#endif

// Where the operand b of a row begins: see nino_op_broadcast().
INLINE ulong broadcast(ulong row, int C, int positions, int batch, int position)
{
    const ulong n = row / positions, p = row - n * positions;
    return (n * batch + p * position) * C;
}

// a + b
FLAT_KERNEL add_rows(global const T *a, const ulong a_off, global const T *b, const ulong b_off,
                     global T *dst, const ulong dst_off, const ulong rows, const int C,
                     const int each, const int positions, const int batch, const int position)
{
    a += a_off;
    b += b_off;
    dst += dst_off;
    ROW_LOOP(const ulong r = broadcast(row, C, positions, batch, position),
             STOREV(STORAGE, dst + at, LOADV(STORAGE, a + at) + LOADV(STORAGE, b + r + c)),
             STORE(dst + at, LOAD(a + at) + LOAD(b + r + c)))
}

// PReLU: x, or x * slope[c] where it is negative
INLINE float leak(float x, float slope) { return x < 0.0f ? x * slope : x; }
INLINE vec leakv(vec x, vec slope) { return x < 0.0f ? x * slope : x; }

FLAT_KERNEL prelu(global const T *src, const ulong src_off, global const float *slope,
                  const ulong slope_off, global T *dst, const ulong dst_off, const ulong rows,
                  const int C, const int each)
{
    src += src_off;
    slope += slope_off;
    dst += dst_off;
    ROW_LOOP(, STOREV(STORAGE, dst + at, leakv(LOADV(STORAGE, src + at), LOADV(f32, slope + c))),
             STORE(dst + at, leak(LOAD(src + at), slope[c])))
}

// residual + x * gate
FLAT_KERNEL gate_add(global const T *residual, const ulong residual_off, global const T *x,
                     const ulong x_off, global const T *gate, const ulong gate_off, global T *dst,
                     const ulong dst_off, const ulong rows, const int C, const int each,
                     const int positions, const int batch, const int position)
{
    residual += residual_off;
    x += x_off;
    gate += gate_off;
    dst += dst_off;
    ROW_LOOP(const ulong r = broadcast(row, C, positions, batch, position),
             STOREV(STORAGE, dst + at,
                    fma(LOADV(STORAGE, x + at), LOADV(STORAGE, gate + r + c),
                        LOADV(STORAGE, residual + at))),
             STORE(dst + at, fma(LOAD(x + at), LOAD(gate + r + c), LOAD(residual + at))))
}

// src [rows][2C]: the first half times the activated second
FLAT_KERNEL glu(global const T *src, const ulong src_off, global T *dst, const ulong dst_off,
                const ulong rows, const int C, const int each, const int fn)
{
    src += src_off;
    dst += dst_off;
    ROW_LOOP(global const T *x = src + row * 2 * C,
             STOREV(STORAGE, dst + at, LOADV(STORAGE, x + c) * actv(LOADV(STORAGE, x + C + c), fn)),
             STORE(dst + at, LOAD(x + c) * act(LOAD(x + C + c), fn)))
}

// A row is a head of a token, C its channels; table [tokens][C]. With NARROW (C no multiple of 4) a
// work-item of the GENERIC schedule does a pair.
INLINE float2 turn(float2 v, float2 t) { return (float2)(v.x * t.x - v.y * t.y, v.x * t.y + v.y * t.x); }

#if SCHED_CPU
INLINE float16 turnv(float16 v, float16 t)
{
    float16 c, s, w;
    c.even = c.odd = t.even;
    s.even = -t.odd;
    s.odd = t.odd;
    w.even = v.odd;
    w.odd = v.even;
    return fma(v, c, w * s);
}
#else
INLINE float4 turnv(float4 v, float4 t) { return (float4)(turn(v.lo, t.lo), turn(v.hi, t.hi)); }
#endif

FLAT_KERNEL rope(global const T *src, const ulong src_off, global const float *table,
                 const ulong table_off, global T *dst, const ulong dst_off, const ulong rows,
                 const int C, const int each, const int tokens, const int heads)
{
    src += src_off;
    dst += dst_off;
    table += table_off;
#if SCHED_CPU
    const ulong end = min((get_global_id(0) + 1) * each, rows);
    for (ulong row = get_global_id(0) * each; row < end; row++) {
        global const float *t = table + row / heads % tokens * C;
        int c = 0;
        ulong at = row * C;
        for (; c + V <= C; c += V, at += V)
            STOREV(STORAGE, dst + at, turnv(LOADV(STORAGE, src + at), LOADV(f32, t + c)));
        for (; c < C; c += 2, at += 2) {
            const float2 v = turn((float2)(LOAD(src + at), LOAD(src + at + 1)),
                                  (float2)(t[c], t[c + 1]));
            STORE(dst + at, v.x);
            STORE(dst + at + 1, v.y);
        }
    }
#else
#if NARROW
    const index at = (index) get_global_id(0) * 2;
#else
    const index at = (index) get_global_id(0) * 4;
#endif
    const index row = at / (index) C, c = at - row * (index) C;
    if (row >= rows)
        return;
    table += (ulong) (row / heads % tokens) * C + c;
#if NARROW
    const float2 v = turn((float2)(LOAD(src + at), LOAD(src + at + 1)),
                          (float2)(table[0], table[1]));
    STORE(dst + at, v.x);
    STORE(dst + at + 1, v.y);
#else
    STORE4(dst + at, turnv(LOAD4(src + at), load4_f32(table)));
#endif
#endif
}
