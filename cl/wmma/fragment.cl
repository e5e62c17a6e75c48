// Products of 16x16 tiles by the 32 lanes of a wave: the matrix instructions of gfx11 where the compiler
// has them, and lane by lane the same elsewhere, so that kernels which use them run on any device.
//
// D = A B + C, lane l of a wave holds
//   A     row l & 15, 16 consecutive k: 16 values of 16 bits (lanes 16 to 31 hold what 0 to 15 do)
//   B     column l & 15, 16 consecutive k, the same
//   C, D  eight f32: element v is row 2 v + (l >> 4), column l & 15
//
//   -D BF16=1     values are bf16, else f16
//   -D WG_SIZE=n  work-items of the work-group, before the include
//   FRAGMENT_SCRATCH    stands among the local variables of the kernel
//   WMMA(acc, a, b)     acc += a * b: every work-item of the work-group must come by
//   OTHER_HALF(v)       the uint4 v of lane ^ 16: likewise
//   EXP2(x)             2^x, 0 where that is no normal number
//   LARGEST3(a, b, c)   of numbers
//   pairs_NAME()        arithmetic of pairs of f16 in words, each rounded to nearest even
//   SPREAD_LOW(v), SPREAD_HIGH(v)  the lower and upper two bytes of a word, each below a byte 0x64
//   TOPS_LOW(v), TOPS_HIGH(v)      the same, each above a zero
//   LOWS(a, b), HIGHS(a, b)  the low halves of two words, the high ones: that of a first
//   UNROLL              unrolled where registers are to be saved by it, rolled in the emulation, whose
//                       barriers a compiler for processors copies
//   IN_ORDER            what stands behind is not moved before it, which would cost registers
#ifdef __has_builtin
#if __has_builtin(__builtin_amdgcn_wmma_f32_16x16x16_f16_w32) && !defined(__GFX12__)
#define HAS_WMMA 1
#endif
#endif

// Pairs of f16 in words, rounded to nearest even each.
#if HAS_WMMA
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
INLINE uint4 pairs_mul(uint4 a, uint4 b) { return as_uint4(as_half8(a) * as_half8(b)); }
INLINE uint4 pairs_add(uint4 a, uint4 b) { return as_uint4(as_half8(a) + as_half8(b)); }
INLINE uint4 pairs_fma(uint4 a, uint4 b, uint4 c)
{
    return as_uint4(fma(as_half8(a), as_half8(b), as_half8(c)));
}
INLINE uint pair_mul(uint a, uint b) { return as_uint(as_half2(a) * as_half2(b)); }
INLINE uint pair_add(uint a, uint b) { return as_uint(as_half2(a) + as_half2(b)); }
#define FRAGMENT_SCRATCH
#define UNROLL _Pragma("unroll")
#define IN_ORDER __builtin_amdgcn_sched_barrier(0);
#define EXP2(x) __builtin_amdgcn_exp2f(x)
#define SPREAD_LOW(v) __builtin_amdgcn_perm(0x64646464, v, 0x04010400)
#define SPREAD_HIGH(v) __builtin_amdgcn_perm(0x64646464, v, 0x04030402)
#define TOPS_LOW(v) __builtin_amdgcn_perm(0, v, 0x010c000c)
#define TOPS_HIGH(v) __builtin_amdgcn_perm(0, v, 0x030c020c)
#define LOWS(a, b) __builtin_amdgcn_perm(b, a, 0x05040100)
#define HIGHS(a, b) __builtin_amdgcn_perm(b, a, 0x07060302)
#define HALVES_DOWN(a, b) as_uint(__builtin_amdgcn_cvt_pkrtz(a, b))
// What the compiler must take for unknown, so that it stays in registers.
#define OPAQUE(v) __asm__ volatile("" : "+v"(v))
// Lanes of a wave see in __local what the others have stored before.
#define WAVE_FENCE                                                                                 \
    {                                                                                              \
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");                                     \
        __builtin_amdgcn_wave_barrier();                                                           \
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");                                     \
    }
// Not fmax(), which first multiplies each by one in case it is a signalling NaN.
INLINE float largest3(float a, float b, float c)
{
    float v;
    __asm__("v_max3_f32 %0, %1, %2, %3" : "=v"(v) : "v"(a), "v"(b), "v"(c));
    return v;
}
#define LARGEST3(a, b, c) largest3(a, b, c)
INLINE uint other_word(uint v)
{
    return __builtin_amdgcn_permlanex16(v, v, 0x76543210, 0xfedcba98, true, true);
}
INLINE uint4 other_half(uint4 v)
{
    return (uint4)(other_word(v.x), other_word(v.y), other_word(v.z), other_word(v.w));
}
#define OTHER_HALF(v) other_half(v)
typedef half half16_w __attribute__((ext_vector_type(16)));
typedef short short16_w __attribute__((ext_vector_type(16)));
#if BF16
#define WMMA(acc, a, b)                                                                            \
    acc = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(__builtin_astype(a, short16_w),              \
                                                      __builtin_astype(b, short16_w), acc)
#else
#define WMMA(acc, a, b)                                                                            \
    acc = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(__builtin_astype(a, half16_w),                \
                                                     __builtin_astype(b, half16_w), acc)
#endif
#else
INLINE float8 pairs_values(uint4 a) { return vload_half8(0, (const private half *) &a); }
INLINE uint4 pairs_of(float8 v)
{
    uint4 a;
    vstore_half8_rte(v, 0, (private half *) &a);
    return a;
}
INLINE uint4 pairs_mul(uint4 a, uint4 b) { return pairs_of(pairs_values(a) * pairs_values(b)); }
INLINE uint4 pairs_add(uint4 a, uint4 b) { return pairs_of(pairs_values(a) + pairs_values(b)); }
INLINE uint4 pairs_fma(uint4 a, uint4 b, uint4 c)
{
    return pairs_of(fma(pairs_values(a), pairs_values(b), pairs_values(c)));
}
INLINE uint pair_mul(uint a, uint b) { return pairs_mul((uint4)(a), (uint4)(b)).x; }
INLINE uint pair_add(uint a, uint b) { return pairs_add((uint4)(a), (uint4)(b)).x; }
#define UNROLL _Pragma("nounroll")
#define IN_ORDER ;
#define FRAGMENT_SCRATCH local uint8 wmma_a[WG_SIZE], wmma_b[WG_SIZE];
#if BF16
#define FRAGMENT_LOAD(k, p) from_bf16((p)[k])
#else
#define FRAGMENT_LOAD(k, p) vload_half(k, (local const half *) (p))
#endif
// Rows and columns of a lane, in one place.
#ifndef LANE_ROW
#define LANE_ROW(v, lane) (2 * (v) + ((lane) >> 4))
#endif
#ifndef LANE_COLUMN
#define LANE_COLUMN(lane) ((lane) & 15)
#endif
#ifndef LANE_OTHER
#define LANE_OTHER(lane) ((lane) ^ 16)
#endif

// Inlined always: PoCL 3.1 shares local arrays between its threads whose address it has put into a
// function.
INLINE float8 wmma_lane(local uint8 *wa, local uint8 *wb, uint8 a, uint8 b, float8 c)
{
    const int l = get_local_id(0), lane = l & 31, wave = l & ~31;
    wa[l] = a;
    wb[l] = b;
    barrier(CLK_LOCAL_MEM_FENCE);
    float r[8], column[16];
    vstore8(c, 0, r);
    local const ushort *bp = (local const ushort *) (wb + wave + LANE_COLUMN(lane));
    for (int k = 0; k < 16; k++)
        column[k] = FRAGMENT_LOAD(k, bp);
    for (int v = 0; v < 8; v++) {
        local const ushort *ap = (local const ushort *) (wa + wave + LANE_ROW(v, lane));
        float s = r[v];
        for (int k = 0; k < 16; k++)
            s += FRAGMENT_LOAD(k, ap) * column[k];
        r[v] = s;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return vload8(0, r);
}
#define WMMA(acc, a, b) acc = wmma_lane(wmma_a, wmma_b, a, b, acc)

INLINE uint4 other_half(local uint8 *w, uint4 x)
{
    const int l = get_local_id(0);
    w[l].lo = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint4 r = w[LANE_OTHER(l)].lo;
    barrier(CLK_LOCAL_MEM_FENCE);
    return r;
}
#define OTHER_HALF(v) other_half(wmma_a, v)
#define EXP2(x) exp2(x)
#define SPREAD_LOW(v) (((v) & 0xffu) | ((v) & 0xff00u) << 8 | 0x64006400u)
#define SPREAD_HIGH(v) SPREAD_LOW((v) >> 16)
#define TOPS_LOW(v) (((v) & 0xffu) << 8 | ((v) & 0xff00u) << 16)
#define TOPS_HIGH(v) TOPS_LOW((v) >> 16)
#define LOWS(a, b) (((a) & 0xffffu) | (b) << 16)
#define HIGHS(a, b) ((a) >> 16 | ((b) & 0xffff0000u))
INLINE uint HALVES_DOWN(float a, float b)
{
    ushort2 h;
    vstore_half2_rtz((float2)(a, b), 0, (private half *) &h);
    return as_uint(h);
}
#define OPAQUE(v)
#define WAVE_FENCE barrier(CLK_LOCAL_MEM_FENCE);
#define LARGEST3(a, b, c) fmax(fmax(a, b), c)
#endif
