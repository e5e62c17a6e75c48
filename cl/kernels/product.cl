// What the kernels of linear layers and convolutions share (gemm.cl, skinny.cl and few.cl of the
// schedules): how weights are stored, and where the inputs of a result are. Both are implicit GEMMs:
// linear layers, 1x1 and 3x3 convolutions. Reference: core/op/ref/gemm.c.
//
//   Y[p][n] = act(bias[n] + R[p][n] + sum over taps t, channels c of X[source(p, t)][c] W[t][c][n])
//
//   X     [B][H][W][C]          Y, R  [B][OH][OW][N]     all of storage type T (F16, BF16)
//   Wp    panels of 64 columns [ceil(N/64)][ks*ks][Cp][64], Cp = C up to 16, zero-filled
//   bias  f32, N up to 64, zero-filled
//   A linear layer is a 1x1 convolution of an image that is one row high.
//   A launch may make some columns only: N of them, in rows of Y and R that are ld apart.
//   Rows row0 .. row1 of Y are made by this launch (a long product is split, so that a cancel need
//   not wait for all of it). R may be Y: each element is read before the same work-item writes it.
//
//   A causal convolution in time (-D VIDEO=1) has B result frames and 3 * ks * ks taps; X is one clip,
//   P holds the `earlier` frames before it, and pad_t frames of zeros are before those.
//
//   -D WT=f32|f16|bf16  storage of Wp                                                       [f32]
//   -D RAW=TYPE         Wp are rows [N][taps][Cp], decoded as they are needed: see blocks.cl; as their
//                       file stores them where C is a multiple of 16, and there is one tap
//
//   Last arguments: fn, see activations in common.cl, and has: 1 bias, 2 R are there, 4 rows of Y and R are
//   whole pieces of 16 bytes.

#ifdef RAW
#include "blocks.cl"
typedef uchar W_t;
// The factors of the rows, f32 where is_scaled, and the codebook: bytes behind the first row.
#define RAW_ARGS , int is_scaled, ulong scales, ulong grid
#define VALUES PASTE(values_, RAW)
#else
#define RAW_ARGS
#ifndef WT
#define WT f32
#endif
typedef PASTE(T_, WT) W_t;
#define LOADW PASTE(load_, WT)
#define LOADW4A PASTE(load4a_, WT)
#define LOADW16 PASTE(load16_, WT)
#endif

// Where the inputs of an output pixel are. The only place that knows stride, padding and upsampling.
typedef struct {
    int H, W, OH, OW, ks, stride, pad, up; // up: 1 when X is read as if enlarged 2x, else 0
    int earlier, pad_t, stride_t;
} geometry;
#if VIDEO
#define TAPS(g) (3 * (g)->ks * (g)->ks)
#else
#define TAPS(g) ((g)->ks * (g)->ks)
#endif

// What a causal convolution has beside the others' arguments, last.
#if VIDEO
#define VIDEO_ARGS                                                                                 \
    , global const T *P, const ulong P_off, int earlier, int pad_t, int stride_t, int tap0
#define VIDEO_GEOMETRY earlier, pad_t, stride_t
#define EARLIER (P + P_off)
#define FIRST_TAP tap0
#else
#define VIDEO_ARGS
#define VIDEO_GEOMETRY 0, 0, 1
#define EARLIER 0
#define FIRST_TAP 0
#endif

// Stores a sum of column n as the result at `at`: with the bias, what is added to it, activated.
INLINE void store_result(float sum, global const float *bias, global const T *R, global T *Y, int fn,
                         int has)
{
    if (has & HAS_BIAS)
        sum += *bias;
    if (has & HAS_ADDED)
        sum += LOAD(R);
    STORE(Y, act(sum, fn));
}
#define STORE_RESULT(at, n, sum)                                                                   \
    store_result(sum, bias + bias_off + (n), R + R_off + (at), Y + Y_off + (at), fn, has)

typedef struct {
    int b, y, x; // output pixel
} pixel;

INLINE pixel pixel_at(const geometry *g, int p)
{
    pixel q;
    const int row = p / g->OW;
    q.x = p - row * g->OW;
    q.b = row / g->OH;
    q.y = row - q.b * g->OH;
    return q;
}

INLINE void next(const geometry *g, pixel *q)
{
    if (++q->x < g->OW)
        return;
    q->x = 0;
    if (++q->y < g->OH)
        return;
    q->y = 0;
    q->b++;
}

// Index of the input pixel under tap t, -1: outside of the image, where X counts as zero; pixel i of
// P is -2 - i.
INLINE long source(const geometry *g, const pixel *q, int t)
{
#if VIDEO
    const int area = g->ks * g->ks, dt = t / area;
    const int frame = q->b * g->stride_t + dt - g->pad_t;
    t -= dt * area;
#endif
    const int dy = g->ks == 3 ? t / 3 : 0, dx = t - dy * 3;
    const int y = q->y * g->stride + dy - g->pad, x = q->x * g->stride + dx - g->pad;
    const int inside = y >= 0 && x >= 0 && y < g->H << g->up && x < g->W << g->up;
#if VIDEO
    if (!inside || frame < 0)
        return -1;
    const int behind = frame - g->earlier;
    const long at = ((long) (behind < 0 ? frame : behind) * g->H + y) * g->W + x;
    return behind < 0 ? -2 - at : at;
#else
    return inside ? ((long) q->b * g->H + (y >> g->up)) * g->W + (x >> g->up) : -1;
#endif
}

// The C channels of the pixel that source() found, 0: outside.
INLINE global const T *inputs(long s, int C, global const T *X, global const T *P)
{
#if VIDEO
    if (s < -1)
        return P + (-2 - s) * C;
#endif
    return s >= 0 ? X + s * C : 0;
}
