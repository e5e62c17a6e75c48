// Probes of a device (cl/cl_probe.c): reading, writing and copying a working set, fused multiply-adds
// without dependencies, and nothing at all.
// -D HALF=1           16-bit floats for probe_fma
// A set is n vectors VEC, n a power of two. The CPU gives each work-item a part of its own; on a GPU
// every item walks the whole set, so that a set smaller than the device's threads stays small.

#if SCHED_CPU
typedef float16 VEC;
#define UNROLL 8
#define ITEM WG1
#else
typedef float4 VEC;
#define UNROLL 4
#define ITEM WG(256)
#endif

#if SCHED_CPU
#define BEGIN(n)                                                                                   \
    const uint part = n / (uint) get_global_size(0), first = part * (uint) get_global_id(0);       \
    for (uint r = 0; r < repeat; r++)                                                              \
        for (uint k = first; k < first + part; k += UNROLL)
#define AT(k, j) ((k) + (j))
#else
#define BEGIN(n)                                                                                   \
    const uint step = (uint) get_global_size(0), mask = n - 1;                                     \
    for (uint r = 0, k = (uint) get_global_id(0); r < repeat; r++, k += UNROLL * step)
#define AT(k, j) (((k) + (j) * step) & mask)
#endif

ITEM kernel void probe_read(global const VEC *a, const ulong a_off, global float *out,
                            const ulong out_off, const uint n, const uint repeat)
{
    a += a_off;
    VEC s[UNROLL];
#pragma unroll
    for (uint j = 0; j < UNROLL; j++)
        s[j] = (VEC)(0);
    BEGIN(n)
    {
#pragma unroll
        for (uint j = 0; j < UNROLL; j++)
            s[j] += a[AT(k, j)];
    }
    VEC sum = s[0];
#pragma unroll
    for (uint j = 1; j < UNROLL; j++)
        sum += s[j];
    out[out_off + get_global_id(0)] = dot(sum.s0123, (float4)(1));
}

ITEM kernel void probe_write(global VEC *a, const ulong a_off, const uint n, const uint repeat)
{
    a += a_off;
    BEGIN(n)
    {
        const VEC v = (VEC)((float) r);
#pragma unroll
        for (uint j = 0; j < UNROLL; j++)
            a[AT(k, j)] = v;
    }
}

// n vectors of a to the n behind them.
ITEM kernel void probe_copy(global VEC *a, const ulong a_off, const uint n, const uint repeat)
{
    a += a_off;
    global VEC *b = a + n;
    BEGIN(n)
    {
#pragma unroll
        for (uint j = 0; j < UNROLL; j++)
            b[AT(k, j)] = a[AT(k, j)];
    }
}

#if HALF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#if SCHED_CPU
typedef half16 NUM;
#else
typedef half2 NUM;
#endif
#define TO_NUM(t, x) (t)((half) (x))
#define TO_FLOAT(x) ((float) (x).s0 + (float) (x).s1)
#elif SCHED_CPU
typedef float16 NUM;
#define TO_NUM(t, x) (t)(x)
#define TO_FLOAT(x) dot((x).s0123, (float4)(1))
#else
typedef float NUM;
#define TO_NUM(t, x) (x)
#define TO_FLOAT(x) (x)
#endif

// 12 chains of their own, 12 * repeat fused multiply-adds of NUM an item.
#define PROBE_FMA(name, NUM)                                                                       \
    ITEM kernel void name(global float *out, const ulong out_off, const float x, const float y,    \
                          const uint repeat)                                                       \
    {                                                                                              \
        const NUM a = TO_NUM(NUM, x), b = TO_NUM(NUM, y);                                          \
        const float own = (float) ((uint) get_global_id(0) & 15u); /* else a GPU computes once */  \
        NUM s[12];                                                                                 \
        _Pragma("unroll") for (int j = 0; j < 12; j++) s[j] =                                      \
            TO_NUM(NUM, own + (float) j * 0.0625f);                                                \
        for (uint r = 0; r < repeat; r++) {                                                        \
            _Pragma("unroll") for (int j = 0; j < 12; j++) s[j] = fma(s[j], a, b);                 \
        }                                                                                          \
        NUM sum = s[0];                                                                            \
        _Pragma("unroll") for (int j = 1; j < 12; j++) sum += s[j];                                \
        out[out_off + get_global_id(0)] = TO_FLOAT(sum);                                           \
    }
PROBE_FMA(probe_fma, NUM)
#if SCHED_CPU && !HALF
PROBE_FMA(probe_fma_narrow, float8) // which suits 16 registers of 256 bits
#endif

ITEM kernel void probe_nothing(global float *out, const ulong out_off)
{
    if (!out)
        out[out_off] = 0;
}
