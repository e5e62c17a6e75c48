// Moving values: concat, slice, permute, cast, shuffle. Reference: core/op/ref/move.c
// Storage type by F16 or BF16: what casts come from; other values are only carried.
// -D E=uchar  an element of that size instead

#ifndef E
#if F16 || BF16
#define E ushort
#else
#define E uint
#endif
#endif

// dst[r][to + i] = src[r][from + i] for `rows` rows and i < len; a row is src_row or dst_row apart.
// CPU: a work-item does `together` rows of COLS elements, global (ceil(len / COLS), ceil(rows / together)).
// GENERIC: a work-item does one element, global (rows * len up to a multiple of 256), local 256.
#if SCHED_CPU
#define COLS 4096
kernel WG1 void copy_rows(global const E *src, const ulong src_off, global E *dst,
                          const ulong dst_off, const ulong rows, const ulong len,
                          const ulong src_row, const ulong from, const ulong dst_row,
                          const ulong to, const int together)
{
    const ulong c0 = get_group_id(0) * (ulong) COLS, c1 = min(c0 + COLS, len);
    const ulong r0 = get_group_id(1) * (ulong) together, r1 = min(r0 + together, rows);
    for (ulong r = r0; r < r1; r++) {
        global const E *s = src + src_off + r * src_row + from;
        global E *d = dst + dst_off + r * dst_row + to;
        for (ulong c = c0; c < c1; c++)
            d[c] = s[c];
    }
}
#else
kernel WG(256) void copy_rows(global const E *src, const ulong src_off, global E *dst,
                              const ulong dst_off, const ulong rows, const ulong len,
                              const ulong src_row, const ulong from, const ulong dst_row,
                              const ulong to, const int together)
{
    const index i = get_global_id(0);
    if (i >= rows * len)
        return;
    const index r = i / (index) len, c = i - r * (index) len;
    dst[dst_off + r * dst_row + to + c] = src[src_off + r * src_row + from + c];
}
#endif

// dst of shape [d0,d1,d2,d3,d4] from src, whose strides in dst's order are s0..s4.
// CPU: a work-item does a [BLOCK,BLOCK] part of the two last axes, global (ceil(d4 / BLOCK),
// ceil(d3 / BLOCK), d0 * d1 * d2): both sides then stay in the cache whatever the strides.
// GENERIC: one element, global (elements up to a multiple of 256), local 256.
#if SCHED_CPU
#define BLOCK 64
kernel WG1 void permute(global const E *src, const ulong src_off, global E *dst,
                        const ulong dst_off, const ulong d0, const ulong d1, const ulong d2,
                        const ulong d3, const ulong d4, const ulong s0, const ulong s1,
                        const ulong s2, const ulong s3, const ulong s4)
{
    const ulong outer = get_group_id(2);
    const ulong i2 = outer % d2, i1 = outer / d2 % d1, i0 = outer / d2 / d1;
    const ulong j0 = get_group_id(1) * (ulong) BLOCK, j1 = min(j0 + BLOCK, d3);
    const ulong k0 = get_group_id(0) * (ulong) BLOCK, k1 = min(k0 + BLOCK, d4);
    src += src_off + i0 * s0 + i1 * s1 + i2 * s2;
    dst += dst_off + outer * d3 * d4;
    for (ulong j = j0; j < j1; j++)
        for (ulong k = k0; k < k1; k++)
            dst[j * d4 + k] = src[j * s3 + k * s4];
}
#else
kernel WG(256) void permute(global const E *src, const ulong src_off, global E *dst,
                            const ulong dst_off, const ulong d0, const ulong d1, const ulong d2,
                            const ulong d3, const ulong d4, const ulong s0, const ulong s1,
                            const ulong s2, const ulong s3, const ulong s4)
{
    const index i = get_global_id(0);
    if (i >= d0 * d1 * d2 * d3 * d4)
        return;
    index rest = i / (index) d4;
    ulong from = src_off + (i - rest * (index) d4) * s4 + rest % (index) d3 * s3;
    rest /= (index) d3;
    from += rest % (index) d2 * s2;
    rest /= (index) d2;
    from += rest % (index) d1 * s1 + rest / (index) d1 * s0;
    dst[dst_off + i] = src[from];
}
#endif

#define CAST(to)                                                                                   \
    FLAT_KERNEL cast_##to(global const T *src, const ulong src_off, global T_##to *dst,             \
                          const ulong dst_off, const ulong n)                                       \
    {                                                                                              \
        src += src_off;                                                                            \
        dst += dst_off;                                                                            \
        FLAT_LOOP(n, STOREV(to, dst + i, LOADV(STORAGE, src + i)), STORE1(to, dst + i, LOAD(src + i))) \
    }
CAST(f32)
CAST(f16)
CAST(bf16)

// Channels to time and space, or back with the mean of several: SHUFFLE in core/op/op.h. s: source
// [.][H][W][C]; d: result [.][OH][OW][N]; parts: values of the source for one of the result, or
// values of the result that take the same one of the source (up). res is added where has_res.
// CPU: a work-item does 16 pixels, global (ceil(OW / 16), rows of all frames). GENERIC: an element,
// global (OW * N up to a multiple of 256, rows of all frames).
typedef struct {
    int ft, fs, start, parts;
} folds;

INLINE float shuffled(global const T *x, const int H, const int W, const int C, folds f, int up,
                      int t, int i, int j, int n)
{
    const int area = f.fs * f.fs;
    if (up) {
        t += f.start;
        const int m = ((n * f.ft + t % f.ft) * f.fs + i % f.fs) * f.fs + j % f.fs;
        return LOAD(x + (((ulong) (t / f.ft) * H + i / f.fs) * W + j / f.fs) * C + m / f.parts);
    }
    float sum = 0.0f;
    for (int k = 0; k < f.parts; k++) {
        const int m = n * f.parts + k, frame = t * f.ft + m / area % f.ft - f.start;
        const int y = i * f.fs + m / f.fs % f.fs, z = j * f.fs + m % f.fs;
        if (frame >= 0)
            sum += LOAD(x + (((ulong) frame * H + y) * W + z) * C + m / (area * f.ft));
    }
    return sum / f.parts;
}

FLAT_KERNEL shuffle_channels(global const T *x, const ulong x_off, global const T *res, const ulong res_off,
                    global T *dst, const ulong dst_off, const int H, const int W, const int C,
                    const int OH, const int OW, const int N, const int ft, const int fs,
                    const int start, const int parts, const int up, const int has_res)
{
    const folds f = { ft, fs, start, parts };
    const int row = get_global_id(1), t = row / OH, i = row - t * OH;
#if SCHED_CPU
    const int j0 = get_global_id(0) * 16, j1 = min(j0 + 16, OW);
    for (int j = j0; j < j1; j++)
        for (int n = 0; n < N; n++) {
#else
    const int at0 = get_global_id(0), j = at0 / N, n = at0 - j * N;
    if (j < OW) {
        {
#endif
            const ulong at = ((ulong) row * OW + j) * N + n;
            float v = shuffled(x + x_off, H, W, C, f, up, t, i, j, n);
            if (has_res)
                v += LOAD(res + res_off + at);
            STORE(dst + dst_off + at, v);
        }
#if !SCHED_CPU
    }
#endif
}
