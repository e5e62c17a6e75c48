// Image operations: resampling, tile blending, conversion to bytes. Reference: core/op/ref/image.c
// Storage type of the image or tile by F16 or BF16. One pixel (or one run of pixels) a work-item.
// CPU: local 1, a work-item does RUN pixels of a row. GENERIC: local 256, one pixel.
#if SCHED_CPU
#define RUN 64
#define IMAGE_KERNEL kernel WG1 void
#else
#define RUN 1
#define IMAGE_KERNEL kernel WG(256) void
#endif
// Pixels x of row get_global_id(1), width w; global (ceil(w / RUN) up to a multiple of local, rows).
#define FOR_PIXELS(x, w)                                                                           \
    for (int x = get_global_id(0) * RUN, x##_end = min((int) (get_global_id(0) * RUN + RUN), w);   \
         x < x##_end; x++)

// One axis after the other: output i is the sum over t < taps of weight[i][t] * in[start[i] + t].
// rows = N * H: src [rows][w_in][C] -> dst f32 [rows][w][C]
IMAGE_KERNEL resample_x(global const T *src, const ulong src_off, global const int *start,
                        const ulong start_off, global const float *weight, const ulong weight_off,
                        global float *dst, const ulong dst_off, const int w_in, const int w,
                        const int channels, const int taps)
{
    const ulong row = get_global_id(1);
    FOR_PIXELS(x, w)
    {
        global const T *in = src + src_off + (row * w_in + start[start_off + x]) * channels;
        global const float *f = weight + weight_off + (ulong) x * taps;
        global float *out = dst + dst_off + (row * w + x) * channels;
        for (int c = 0; c < channels; c++) {
            float sum = 0.0f;
            for (int t = 0; t < taps; t++)
                sum = fma(f[t], LOAD(in + (ulong) t * channels + c), sum);
            out[c] = sum;
        }
    }
}

// src f32 [N][h_in][w][C] -> dst [N][h][w][C]; global rows are N * h
IMAGE_KERNEL resample_y(global const float *src, const ulong src_off, global const int *start,
                        const ulong start_off, global const float *weight, const ulong weight_off,
                        global T *dst, const ulong dst_off, const int h_in, const int h,
                        const int w, const int channels, const int taps)
{
    const int row = get_global_id(1), n = row / h, y = row - n * h;
    const ulong pitch = (ulong) w * channels;
    global const float *f = weight + weight_off + (ulong) y * taps;
    FOR_PIXELS(x, w)
    {
        global const float *in = src + src_off +
                                 ((ulong) n * h_in + start[start_off + y]) * pitch +
                                 (ulong) x * channels;
        global T *out = dst + dst_off + row * pitch + (ulong) x * channels;
        for (int c = 0; c < channels; c++) {
            float sum = 0.0f;
            for (int t = 0; t < taps; t++)
                sum = fma(f[t], in[t * pitch + c], sum);
            STORE(out + c, sum);
        }
    }
}

// Weight of position i of n: ramps over `feather` positions at the start and at the end.
INLINE float ramp(int i, int n, int feather, bool at_start, bool at_end)
{
    float m = 1.0f;
    if (at_start && i < feather)
        m *= (float) (i + 1) / feather;
    if (at_end && n - 1 - i < feather)
        m *= (float) (n - i) / feather;
    return m;
}

// canvas f32 [H][width][C+1] += tile [h][w][C] * mask, and the mask in channel C; see core/op/op.h.
IMAGE_KERNEL blend(global float *canvas, const ulong canvas_off, global const T *tile,
                   const ulong tile_off, const int width, const int x0, const int y0, const int w,
                   const int h, const int channels, const int feather_x, const int feather_y,
                   const int sides)
{
    const int y = get_global_id(1);
    const float my = ramp(y, h, feather_y, sides & 2, sides & 8);
    FOR_PIXELS(x, w)
    {
        const float m = my * ramp(x, w, feather_x, sides & 1, sides & 4);
        global const T *in = tile + tile_off + ((ulong) y * w + x) * channels;
        global float *out =
            canvas + canvas_off + ((ulong) (y0 + y) * width + x0 + x) * (channels + 1);
        for (int c = 0; c < channels; c++)
            out[c] = fma(m, LOAD(in + c), out[c]);
        out[channels] += m;
    }
}

// [H][w][C+1] -> [H][w][C]: channel c / channel C, 0 where that is 0
IMAGE_KERNEL blend_div(global const float *canvas, const ulong canvas_off, global float *dst,
                       const ulong dst_off, const int w, const int channels)
{
    const ulong row = get_global_id(1) * (ulong) w;
    FOR_PIXELS(x, w)
    {
        global const float *in = canvas + canvas_off + (row + x) * (channels + 1);
        global float *out = dst + dst_off + (row + x) * channels;
        const float m = in[channels];
        for (int c = 0; c < channels; c++)
            out[c] = m != 0.0f ? in[c] / m : 0.0f;
    }
}

// Pixels as rows of 4096: [n][C>=3] -> u8 [n][3], 255 x clipped and truncated, NaN gives 0
IMAGE_KERNEL to_rgb8(global const T *src, const ulong src_off, global uchar *dst,
                     const ulong dst_off, const ulong n, const int channels)
{
    const ulong row = get_global_id(1) * (ulong) 4096;
    const int w = (int) min(n - row, (ulong) 4096);
    FOR_PIXELS(x, w)
    {
        for (int c = 0; c < 3; c++) {
            const float v = 255.0f * LOAD(src + src_off + (row + x) * channels + c);
            dst[dst_off + (row + x) * 3 + c] = v >= 255.0f ? 255 : v > 0.0f ? (uchar) v : 0;
        }
    }
}
