// Shared by all kernels; stands before every file.
// -D SCHED_CPU=1      CPU schedule: work-group size 1, float16 vectors
// -D SCHED_GENERIC=1  GPU schedule: neighbouring work-items on neighbouring elements
// -D F16=1 | BF16=1   storage type T of activations, else f32; arithmetic is always float
// -D WIDE=1           element indices do not fit 32 bits
// Buffers are arenas: every buffer parameter is followed by `const ulong NAME_off`, an element
// offset. Storage types are named f32, f16 and bf16 below; AS(t, name) pastes a type that came by -D.

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define WG1 __attribute__((reqd_work_group_size(1, 1, 1)))
#define WG(n) __attribute__((reqd_work_group_size(n, 1, 1)))
#define INLINE static inline __attribute__((always_inline))

#if WIDE
typedef ulong index;
#else
typedef uint index;
#endif

// Reductions over many strips; every part of them is a tree or a fixed order.
#ifdef cl_khr_fp64
typedef double real;
#else
typedef float real;
#endif

typedef float T_f32;
typedef half T_f16; // storage only, which needs no extension
typedef ushort T_bf16;

// ---- bf16: the upper half of a float, rounded to nearest even, NaN kept -----------------------
#define DEFINE_BF16(n, uint_n, float_n, ushort_n)                                                  \
    INLINE float_n from_bf16##n(ushort_n v)                                                        \
    {                                                                                              \
        return PASTE(as_, float_n)(PASTE(convert_, uint_n)(v) << 16);                              \
    }                                                                                              \
    INLINE ushort_n to_bf16##n(float_n v)                                                          \
    {                                                                                              \
        const uint_n u = PASTE(as_, uint_n)(v);                                                    \
        const uint_n r = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;                                   \
        const uint_n nan = (u >> 16) | 0x40u;                                                      \
        return PASTE(convert_, ushort_n)((u & 0x7fffffffu) > 0x7f800000u ? nan : r);               \
    }
DEFINE_BF16(, uint, float, ushort)
DEFINE_BF16(4, uint4, float4, ushort4)
DEFINE_BF16(16, uint16, float16, ushort16)

// ---- loads and stores of one, four and sixteen elements ----------------------------------------
// Vectors need no more than the element's alignment: arenas are aligned, rows need not be.
typedef float4 float4_u __attribute__((aligned(4)));
typedef float16 float16_u __attribute__((aligned(4)));
typedef ushort4 ushort4_u __attribute__((aligned(2)));
typedef ushort16 ushort16_u __attribute__((aligned(2)));
typedef uint16 uint16_u __attribute__((aligned(4)));

INLINE float load_f32(global const float *p) { return *p; }
INLINE float4 load4_f32(global const float *p) { return *(global const float4_u *) p; }
INLINE float16 load16_f32(global const float *p) { return *(global const float16_u *) p; }
INLINE void store_f32(global float *p, float v) { *p = v; }
INLINE void store4_f32(global float *p, float4 v) { *(global float4_u *) p = v; }
INLINE void store16_f32(global float *p, float16 v) { *(global float16_u *) p = v; }

INLINE float load_f16(global const half *p) { return vload_half(0, p); }
INLINE float4 load4_f16(global const half *p) { return vload_half4(0, p); }
INLINE float16 load16_f16(global const half *p) { return vload_half16(0, p); }
INLINE void store_f16(global half *p, float v) { vstore_half_rte(v, 0, p); }
INLINE void store4_f16(global half *p, float4 v) { vstore_half4_rte(v, 0, p); }
INLINE void store16_f16(global half *p, float16 v) { vstore_half16_rte(v, 0, p); }

INLINE float load_bf16(global const ushort *p) { return from_bf16(*p); }
INLINE float4 load4_bf16(global const ushort *p)
{
    return from_bf164(*(global const ushort4_u *) p);
}
INLINE float16 load16_bf16(global const ushort *p)
{
    return from_bf1616(*(global const ushort16_u *) p);
}
INLINE void store_bf16(global ushort *p, float v) { *p = to_bf16(v); }
INLINE void store4_bf16(global ushort *p, float4 v) { *(global ushort4_u *) p = to_bf164(v); }
INLINE void store16_bf16(global ushort *p, float16 v) { *(global ushort16_u *) p = to_bf1616(v); }

// The same for four elements that lie together in one aligned word, which GPUs fetch at once.
INLINE float4 load4a_f32(global const float *p) { return *(global const float4 *) p; }
INLINE void store4a_f32(global float *p, float4 v) { *(global float4 *) p = v; }
INLINE float4 load4a_f16(global const half *p)
{
    const ushort4 v = *(global const ushort4 *) p;
    return vload_half4(0, (const private half *) &v);
}
INLINE void store4a_f16(global half *p, float4 v)
{
    ushort4 h;
    vstore_half4_rte(v, 0, (private half *) &h);
    *(global ushort4 *) p = h;
}
INLINE float4 load4a_bf16(global const ushort *p)
{
    return from_bf164(*(global const ushort4 *) p);
}
INLINE void store4a_bf16(global ushort *p, float4 v) { *(global ushort4 *) p = to_bf164(v); }

// The activations' type.
#if F16
#define STORAGE f16
#elif BF16
#define STORAGE bf16
#else
#define STORAGE f32
#endif
typedef PASTE(T_, STORAGE) T;
#define LOAD PASTE(load_, STORAGE)
#define LOAD4 PASTE(load4_, STORAGE)
#define LOAD4A PASTE(load4a_, STORAGE)
#define LOAD16 PASTE(load16_, STORAGE)
#define STORE PASTE(store_, STORAGE)
#define STORE4 PASTE(store4_, STORAGE)
#define STORE4A PASTE(store4a_, STORAGE)
#define STORE16 PASTE(store16_, STORAGE)

// ---- activations --------------------------------------------------------------------------------
// fn: a nino_act of core/op/op.h, the same in all of a launch.
#define DEFINE_ACT(name, vec_t)                                                                    \
    INLINE vec_t name(vec_t v, const int fn)                                                       \
    {                                                                                              \
        switch (fn) {                                                                              \
        case 1: return v < 0.0f ? (vec_t)(0.0f) : v;                                               \
        case 2: return v / (1.0f + exp(-v));                                                       \
        case 3: return 0.5f * v * (1.0f + erf(v * 0.70710678f));                                   \
        case 4: return 0.5f * v * (1.0f + tanh(0.79788456f * (v + 0.044715f * v * v * v)));        \
        case 5: return v / (1.0f + exp(-1.702f * v));                                              \
        case 6: return 1.0f / (1.0f + exp(-v));                                                    \
        case 7: return tanh(v);                                                                    \
        case 8: return 3.0f * tanh(v * (1.0f / 3.0f));                                             \
        case 9: /* NaN stays NaN */                                                                \
            return v < 0.0f ? (vec_t)(0.0f) : v > 1.0f ? (vec_t)(1.0f) : v;                        \
        case 10: return v < 0.0f ? 0.2f * v : v;                                                   \
        }                                                                                          \
        return v;                                                                                  \
    }
#if !SCHED_CPU
DEFINE_ACT(act, float)
DEFINE_ACT(act4, float4)
#endif

// What of a product's epilogue there is: the bias, what is added; rows of both and of the results are whole
// pieces of 16 bytes.
enum {
    HAS_BIAS = 1,
    HAS_ADDED = 2,
    HAS_PIECES = 4,
    HAS_ROW_FACTORS = 8,
    HAS_SUMS_ONLY = 16,
    HAS_HEADS = 32,
    HAS_TABLE = 64
};

#if SCHED_CPU
// ---- faster than the driver's, on vectors -------------------------------------------------------
// 2^y for y from -126 to 127, relative error 8e-8; NaN stays NaN. A minimax polynomial of the fraction;
// the sum with 1.5 * 2^23 + 127 leaves the whole part in the low bits, biased as an exponent is.
INLINE float16 exp2_fast(float16 y)
{
    const float16 t = y + 12583039.0f, r = y - (t - 12583039.0f);
    float16 p = fma(r, (float16)(1.3276472e-3f), (float16)(9.6755413e-3f));
    p = fma(p, r, (float16)(5.5507133e-2f));
    p = fma(p, r, (float16)(2.4022120e-1f));
    p = fma(p, r, (float16)(6.9314697e-1f));
    p = fma(p, r, (float16)(1.0000001f));
    return p * as_float16(as_int16(t) << 23);
}

// exp(x) for x <= 0; 0 below -87
INLINE float16 exp_down(float16 x)
{
    return x < -87.0f ? (float16)(0.0f) : exp2_fast(x * 1.44269504f);
}

// 1 + exp(-x), at most e^87
INLINE float16 one_plus_exp(float16 x)
{
    x = x < -87.0f ? (float16)(-87.0f) : x > 87.0f ? (float16)(87.0f) : x;
    return 1.0f + exp2_fast(x * -1.44269504f);
}

// x times the normal distribution's integral up to x. That from |x| to infinity is 2^P(|x|), P a
// minimax polynomial for |x| < 6, so that the product is right within 2e-8.
INLINE float16 gelu_fast(float16 x)
{
    const float16 b = fabs(x), a = b > 6.0f ? (float16)(6.0f) : b;
    float16 p = fma(a, (float16)(-2.06867229e-6f), (float16)(3.02295762e-5f));
    p = fma(p, a, (float16)(-1.42800052e-4f));
    p = fma(p, a, (float16)(-2.41786348e-4f));
    p = fma(p, a, (float16)(7.20120435e-3f));
    p = fma(p, a, (float16)(-5.25932035e-2f));
    p = fma(p, a, (float16)(-4.59174696e-1f));
    p = fma(p, a, (float16)(-1.15110974f));
    p = exp2_fast(fma(p, a, (float16)(-9.99999882e-1f)));
    return x * (x < 0.0f ? p : 1.0f - p);
}

// tanh(x): by its series near 0, where the other form has lost its digits.
INLINE float16 tanh_fast(float16 x)
{
    const float16 q = x * x;
    float16 p = fma(q, (float16)(2.1869489e-2f), (float16)(-5.3968254e-2f));
    p = fma(p, q, (float16)(1.3333334e-1f));
    p = fma(p, q, (float16)(-3.3333334e-1f));
    return fabs(x) < 0.3f ? fma(x * q, p, x) : 2.0f / one_plus_exp(2.0f * x) - 1.0f;
}

// One copy of each part: what a driver compiles for every kernel anew.
INLINE float16 act16(float16 v, const int fn)
{
    float16 t = v;
    if (!fn) // most are; a jump through a table costs more than the rest of a short row
        return v;
    switch (fn) {
    case 1: return v < 0.0f ? (float16)(0.0f) : v;
    case 3: return gelu_fast(v);
    case 4: t = v * fma(v * v, (float16)(0.071354816f), (float16)(1.5957691f)); break;
    case 5: t = 1.702f * v; break;
    case 7: return tanh_fast(v);
    case 8: return 3.0f * tanh_fast(v * (1.0f / 3.0f));
    case 9: return v < 0.0f ? (float16)(0.0f) : v > 1.0f ? (float16)(1.0f) : v; // NaN stays NaN
    case 10: return v < 0.0f ? 0.2f * v : v;
    }
    return (fn == 6 ? (float16)(1.0f) : v) / one_plus_exp(t);
}

INLINE float act(float v, const int fn) { return act16((float16)(v), fn).s0; }

// The first n of 16 elements; zeros beyond. What is stored ends there: the next row may begin.
INLINE float16 load16_some(global const T *x, int n)
{
    if (n >= 16)
        return LOAD16(x);
    float v[16];
    for (int i = 0; i < 16; i++)
        v[i] = i < n ? LOAD(x + i) : 0.0f;
    return *(float16_u *) v;
}

INLINE void store16_some(global T *y, float16 v, int n)
{
    if (n >= 16) {
        STORE16(y, v);
        return;
    }
    float s[16];
    *(float16_u *) s = v;
    for (int i = 0; i < n; i++)
        STORE(y + i, s[i]);
}
#endif

// ---- the width a work-item works at -------------------------------------------------------------
#if SCHED_CPU
#define V 16
#define actv act16
#else
#define V 4
#define actv act4
#endif
typedef PASTE(float, V) vec;
typedef PASTE(int, V) ivec;
#define LOADV(t, p) PASTE(PASTE(load, V), PASTE(_, t))(p)
#define STOREV(t, p, v) PASTE(PASTE(store, V), PASTE(_, t))(p, v)
#define LOAD1(t, p) PASTE(load_, t)(p)
#define STORE1(t, p, v) PASTE(store_, t)(p, v)

// Flat kernels: n elements; a work-item does FLAT of them, from FIRST to before LAST.
// CPU: global ceil(n / FLAT), local 1. GENERIC: global ceil(n / FLAT) up to a multiple of 256, local
// 256. nino_cl_flat() in cl/launch.c says the same.
#if SCHED_CPU
#define FLAT 4096
#define FLAT_KERNEL kernel WG1 void
#else
#define FLAT 4
#define FLAT_KERNEL kernel WG(256) void
#endif
#define FLAT_LOOP(n, vector, scalar)                                                               \
    ulong i = get_global_id(0) * (ulong) FLAT;                                                     \
    const ulong last = min(i + FLAT, n);                                                           \
    for (; i + V <= last; i += V) {                                                                \
        vector;                                                                                    \
    }                                                                                              \
    for (; i < last; i++) {                                                                        \
        scalar;                                                                                    \
    }

#if SCHED_CPU
INLINE float max_of(float16 v)
{
    const float8 a = fmax(v.lo, v.hi);
    const float4 b = fmax(a.lo, a.hi);
    const float2 c = fmax(b.lo, b.hi);
    return fmax(c.x, c.y);
}

INLINE float sum_of(float16 v)
{
    const float8 a = v.lo + v.hi;
    const float4 b = a.lo + a.hi;
    const float2 c = b.lo + b.hi;
    return c.x + c.y;
}

INLINE float16 larger(float16 a, float16 b) { return a > b ? a : b; } // b where a is NaN
#endif

// ---- register tile of the CPU schedule: MR rows x NR columns ------------------------------------
// MR * NV + NV + 1 registers of 64 bytes must be enough: 32 with AVX-512, 8 with AVX2 and NEON.
// -D NARROW=1  at most 16 columns are wanted
#if SCHED_CPU
#if __AVX512F__ && NARROW
#define MR 12
#define NV 1
#elif __AVX512F__
#define MR 6
#define NV 4
#elif __AVX2__ || __aarch64__
#define MR 6
#define NV 1
#else
#define MR 3
#define NV 1
#endif
#define NR (16 * NV)

#if NV == 1
#define EACH_V(F, i) F(i, 0)
#else
#define EACH_V(F, i) F(i, 0) F(i, 1) F(i, 2) F(i, 3)
#endif
#if MR == 3
#define EACH_M(F) F(0) F(1) F(2)
#elif MR == 6
#define EACH_M(F) F(0) F(1) F(2) F(3) F(4) F(5)
#else
#define EACH_M(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
#endif
#define TILE_SUM1(i, j) TILE_VEC c##i##_##j;
#define TILE_SUM(i) EACH_V(TILE_SUM1, i)
#define TILE_CLEAR1(i, j) c##i##_##j = (TILE_VEC) (0.0f);
#define TILE_CLEAR(i) EACH_V(TILE_CLEAR1, i)
#define TILE_READ1(i, j) c##i##_##j = c[(i) * ldc + (j)];
#define TILE_READ(i) EACH_V(TILE_READ1, i)
#define TILE_WRITE1(i, j) c[(i) * ldc + (j)] = c##i##_##j;
#define TILE_WRITE(i) EACH_V(TILE_WRITE1, i)
#define TILE_B(i, j) const TILE_IN b##j = b[j];
#define TILE_FMA1(i, j) c##i##_##j = TILE_ADD(c##i##_##j, v, b##j);
#define TILE_FMA(i)                                                                                \
    {                                                                                              \
        const TILE_IN v = (TILE_IN) (a[(i) * lda]);                                                \
        EACH_V(TILE_FMA1, i)                                                                       \
    }
#define TILE_STEP                                                                                  \
    {                                                                                              \
        EACH_V(TILE_B, 0)                                                                          \
        EACH_M(TILE_FMA)                                                                           \
        a++;                                                                                       \
        b += NV;                                                                                   \
    }
#define TILE_STEPS                                                                                 \
    for (; k + 4 <= n; k += 4, ahead += each) {                                                    \
        ask_for(ahead, each);                                                                      \
        TILE_STEP TILE_STEP TILE_STEP TILE_STEP                                                    \
    }                                                                                              \
    for (; k < n; k++)                                                                             \
        TILE_STEP

// Asks for the cache lines of the next n bytes. Weights come from below the second-level cache, once for
// each macro tile, and would be waited for while the first rows are multiplied. Asked for all at once
// they would occupy what loads of the register tile need: every four steps it asks for a line.
INLINE void ask_for(ulong at, const int n)
{
#if __x86_64__ || __aarch64__
    for (const ulong end = at + n; at < end; at += 64)
        __builtin_prefetch((const void *) at, 0, 2);
#endif
}

// How many bytes to ask for at a time, of all that `tiles` register tiles of n steps shall ask for.
INLINE int share(int bytes, int tiles, int n)
{
    const int times = max(tiles * (n / 4), 1);
    return (bytes + times - 1) / times;
}

// What a tile multiplies: floats, or with -D DOTS pairs of bf16, each of which is a step.
//   -D DOTS=1  by the processor's instruction for it (AVX512-BF16)    -D DOTS=2  by two others: for tests
#if DOTS
typedef int tile_one;
typedef int16 tile_ones;
#define STEP 2
INLINE float16 tile_add(float16 c, int16 a, int16 b)
{
#if DOTS == 1 && __AVX512F__
    __asm__("vdpbf16ps %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
    return c;
#else
    const int16 high = (int16)(0xffff0000);
    c = fma(as_float16(a << 16), as_float16(b << 16), c);
    return fma(as_float16(a & high), as_float16(b & high), c);
#endif
}
#define TILE_ADD tile_add

// As to_bf1616().
INLINE ushort16 tile_bf16(float16 v)
{
#if DOTS == 1 && __AVX512F__
    ushort16 r;
    __asm__("vcvtneps2bf16 %1, %0" : "=v"(r) : "v"(v));
    return r;
#else
    return to_bf1616(v);
#endif
}
#else
typedef float tile_one;
typedef float16 tile_ones;
#define STEP 1
#define TILE_ADD(c, a, b) fma(a, b, c)
#endif

// c[MR][NR] = (is_first ? 0 : c) + a[MR][n] b[n][NR]; rows of a are lda steps apart, rows of c ldc
// vectors. `each` bytes from `ahead` on are asked for every four steps. Pointers to __local are not
// restrict: oclgrind cannot run what inlining leaves of that.
#define DEFINE_TILE(name, a_space, b_space, c_space)                                               \
    INLINE void name(int n, a_space const tile_one *a, const int lda, b_space const TILE_IN *b,    \
                     c_space TILE_VEC *c, const int ldc, const int is_first, ulong ahead,          \
                     const int each)                                                               \
    {                                                                                              \
        int k = 0;                                                                                 \
        EACH_M(TILE_SUM)                                                                           \
        if (is_first) {                                                                            \
            EACH_M(TILE_CLEAR)                                                                     \
        } else {                                                                                   \
            EACH_M(TILE_READ)                                                                      \
        }                                                                                          \
        TILE_STEPS                                                                                 \
        EACH_M(TILE_WRITE)                                                                         \
    }
#define TILE_VEC float16
#define TILE_IN tile_ones
DEFINE_TILE(tile_product, local, local, local)
#endif
