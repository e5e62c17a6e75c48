// Results from sums in f32 that other kernels, or a library, have left in memory: what follows a product.
//
//   Y[r][n] = act(bias[n] + R[r][n] + sum over p of parts[p][r][n])     Y, R of type T; R may be Y

#if SCHED_CPU
DEFINE_ACT(act4, float4) // others have it
#endif

// The elements of four of which there are n; zeros beyond.
INLINE float4 load_some(global const T *p, int n)
{
    return (float4)(n > 0 ? LOAD(p) : 0.0f, n > 1 ? LOAD(p + 1) : 0.0f, n > 2 ? LOAD(p + 2) : 0.0f,
                    n > 3 ? LOAD(p + 3) : 0.0f);
}

// Y from sums of n_parts. Global size: rows * ceil(N / 4) up to a multiple of 256, work-group size 256.
kernel WG(256) void sum_parts(global const float *parts, const ulong parts_off, const int n_parts,
                              const int rows, const int N, global const float *restrict bias,
                              const ulong bias_off, global const T *R, const ulong R_off, global T *Y,
                              const ulong Y_off, const int fn, const int has)
{
    const int quads = (N + 3) / 4, i = get_global_id(0), r = i / quads, n = (i - r * quads) * 4;
    if (r >= rows)
        return;
    const long at = (long) r * N + n;
    const int k = min(N - n, 4);
    float4 v = (float4)(0.0f);
    parts += parts_off + at;
    if (k == 4)
        for (int p = 0; p < n_parts; p++, parts += (long) rows * N)
            v += load4_f32(parts);
    else
        for (int p = 0; p < n_parts; p++, parts += (long) rows * N)
            v += (float4)(parts[0], k > 1 ? parts[1] : 0.0f, k > 2 ? parts[2] : 0.0f, 0.0f);
    if (has & HAS_BIAS)
        v += load4_f32(bias + bias_off + n); // filled up
    if (has & HAS_ADDED)
        v += load_some(R + R_off + at, k);
    v = act4(v, fn);
    if (k == 4) {
        STORE4(Y + Y_off + at, v);
        return;
    }
    for (int j = 0; j < k; j++, v = v.yzwx)
        STORE(Y + Y_off + at + j, v.x);
}
