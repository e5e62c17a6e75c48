// Elementwise operations. Reference: core/op/ref/elt.c
// -D ACT=n for act; storage type by F16 or BF16. Flat kernels: see common.cl.
// dst may be the memory of a source: an element is read before it is written, by one work-item.

FLAT_KERNEL act_op(global const T *src, const ulong src_off, global T *dst, const ulong dst_off,
                   const ulong n)
{
    src += src_off;
    dst += dst_off;
    FLAT_LOOP(n, STOREV(STORAGE, dst + i, actv(LOADV(STORAGE, src + i))),
              STORE(dst + i, act(LOAD(src + i))))
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
