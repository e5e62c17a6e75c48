// Internal: the op table. One row per tensor operation: what it is called, how big its result is,
// what it costs, how exact it must be. core/op/ref says what an op computes; backends make the same
// thing fast; the kernel harness compares them.
#pragma once
#include "core/tensor/tensor.h"

// X(ID, name, family). Families are what plots and tables group by.
#define NINO_OPS(X)                                                                                \
    X(LINEAR, linear, gemm)                                                                        \
    X(CONV2D, conv2d, conv)                                                                        \
    X(CONV3D, conv3d, conv)                                                                        \
    X(GROUP_NORM, group_norm, norm)                                                                \
    X(LAYER_NORM, layer_norm, norm)                                                                \
    X(RMS_NORM, rms_norm, norm)                                                                    \
    X(SOFTMAX, softmax, attn)                                                                      \
    X(ATTENTION, attention, attn)                                                                  \
    X(ACT, act, elt)                                                                               \
    X(ADD, add, elt)                                                                               \
    X(SCALE, scale, elt)                                                                           \
    X(MUL, mul, elt)                                                                               \
    X(GLU, glu, elt)                                                                               \
    X(GATE_ADD, gate_add, elt)                                                                     \
    X(ROPE, rope, elt)                                                                             \
    X(CONCAT, concat, move)                                                                        \
    X(SLICE, slice, move)                                                                          \
    X(PERMUTE, permute, move)                                                                      \
    X(CAST, cast, move)                                                                            \
    X(SHUFFLE, shuffle, move)                                                                      \
    X(RESAMPLE, resample, image)                                                                   \
    X(BLEND, blend, image)                                                                         \
    X(BLEND_DIV, blend_div, image)                                                                 \
    X(TO_RGB8, to_rgb8, image)                                                                     \
    X(CHECK_FINITE, check_finite, elt)                                                             \
    X(GROUP_STAT, group_stat, norm)

typedef enum nino_op_id {
#define X(ID, name, family) NINO_OP_##ID,
    NINO_OPS(X)
#undef X
        NINO_OP_COUNT
} nino_op_id;

// Activation functions, applied in fp32. The order of every epilogue: v = sum + bias; v +=
// residual; v = act(v).
typedef enum nino_act {
    NINO_ACT_NONE,
    NINO_ACT_RELU,       // max(x, 0)
    NINO_ACT_SILU,       // x / (1 + exp(-x))
    NINO_ACT_GELU,       // x/2 (1 + erf(x/sqrt 2))
    NINO_ACT_GELU_TANH,  // the tanh approximation
    NINO_ACT_QUICK_GELU, // x * sigmoid(1.702 x)
    NINO_ACT_SIGMOID,
    NINO_ACT_TANH,
    NINO_ACT_TANH3,   // 3 tanh(x/3): TAESD's latent clamp
    NINO_ACT_CLAMP01, // min(max(x,0),1), NaN stays NaN
    NINO_ACT_LEAKY,   // x, or 0.2 x where it is negative: ESRGAN's ReLU
    NINO_ACT_COUNT
} nino_act;

typedef enum nino_pad {
    NINO_PAD_SAME, // (k-1)/2 zeros on every side
    NINO_PAD_END,  // k/2 zeros at the right and the bottom only: ComfyUI's AutoencoderKL downsample
    NINO_PAD_NONE
} nino_pad;

typedef enum nino_filter { // resampling kernels, as
                           // torch.nn.functional.interpolate(align_corners=False) and PIL define
                           // them
    NINO_FILTER_NEAREST,   // nearest-exact
    NINO_FILTER_BILINEAR,  // no antialias
    NINO_FILTER_BICUBIC,   // a = -0.75, no antialias
    NINO_FILTER_AREA,      // adaptive average
    NINO_FILTER_LANCZOS,   // a = 3, antialiased (PIL)
    NINO_FILTER_COUNT
} nino_filter;

typedef struct nino_weight nino_weight; // core/op/weight.h

#define NINO_OP_MAX_SRC 4

// What the less obvious ops compute:
// LINEAR           with heads: the result is that many side by side; of each sum + bias, the rms norm with eps
//                  and the desc's `norm`, then ROPE with the last source, if there is one: no residual,
//                  no activation. For schedules that can (nino_sched_has_heads()).
// SLICE, RESAMPLE, CAST, SHUFFLE  the caller presets what the sources do not tell: dst.dim[axis];
//                  dst.dim[1] and dst.dim[2]; dst_type; dst.dim[3]. shape() fills the rest.
// CONV3D           causal in time: frames [T,H,W,C] of one clip -> [T',H,W,N]. The convolution sees
//                  pad_t frames of zeros, then those of the last source beyond x and the residual
//                  (what earlier calls have left; there may be none), then x; 3 frames at a time,
//                  every stride_t-th window. Space: kernel, zeros on every side, stride 1.
// SHUFFLE          [T,H,W,C] with ft = fold_t, fs = fold_s. is_up: -> [T ft - start, H fs, W fs,
// N]:
//                  y[t][i][j][n] = x[t'/ft][i/fs][j/fs][(((n ft + t'%ft) fs + i%fs) fs + j%fs) /
//                  r], t' = t + start, r = N ft fs^2 / C. Else -> [(T + start)/ft, H/fs, W/fs, N],
//                  the mean of the g = C ft fs^2 / N values x[t ft + a - start][i fs + b][j fs +
//                  d][c] with n = (((c ft + a) fs + b) fs + d) / g; frames before the first are
//                  zero. src[1], optional, is added.
// GROUP_STAT       [N,..,C] -> f32 [N,groups,3]: the mean of what a group norm has in a group, what
//                  is lost of it in f32, the variance. Those of parts of a picture give the whole's.
// GROUP_NORM       src[1], optional: f32 [N,groups,3] as GROUP_STAT gives them, used instead of x's
//                  own: x is then a part of what is normalised.
// LAYER_NORM       over the last axis: (x - mean) / sqrt(var + eps) * gamma + beta; gamma and beta
//                  are optional. With src[1] and src[2]: * (1 + src[1]) + src[2].
// RMS_NORM         x / sqrt(mean(x^2) + eps) * gamma over each of `groups` equal parts of the last
//                  axis; gamma is optional, as long as a part, the same for all.
// ATTENTION        src q [N,Tq,heads*D], k, v [N,Tk,kv*D]; one softmax a head and query. kv divides
//                  heads: head h has head h / (heads / kv) of k and v. src[3], optional: f32
//                  [N or 1, heads or 1, Tq or 1, Tk], added to the logits; -infinity and -FLT_MAX hide
//                  a key; a query that sees no key gets 0. is_causal: query i sees keys up to
//                  i + Tk - Tq.
// ACT              act(src[0]). With a weight, a value a channel, instead: PReLU, x where it is
//                  positive, else x * weight[c].
// MUL              act(src[0]) * src[1].
// GLU              [..,2C] -> [..,C]: x[..,:C] * act(x[..,C:]).
// GATE_ADD         src[0] + src[1] * src[2].
// ROPE             src x [N,T,heads*D], table f32 [T,D]: pair i of a head, (a,b) = channels 2i and
//                  2i+1, becomes (a cos - b sin, a sin + b cos) with cos = table[t][2i], sin =
//                  table[t][2i+1].
// ADD's src[1], LAYER_NORM's src[1] and src[2] and GATE_ADD's src[2] may be broadcast: see
// nino_op_broadcast().
// BLEND            src[0] canvas [H,W,C+1] f32, src[1] tile [1,h,w,C]; dst is the canvas itself:
//                  canvas[y0+y][x0+x][c] += tile[y][x][c] * m, canvas[y0+y][x0+x][C] += m, with
//                  m = mx(x) my(y). mx(i) is the product of (i+1)/feather_x where sides & 1 (left)
//                  and i < feather_x, and of (w-i)/feather_x where sides & 4 (right) and
//                  w-1-i < feather_x; else 1. my likewise with 2 (top), 8 (bottom), feather_y, h.
// BLEND_DIV        [H,W,C+1] f32 -> [1,H,W,C] f32: channel c / channel C; 0 where that is 0.
// TO_RGB8          [N,H,W,>=3] -> u8 [N,H,W,3]: min(max(255 x, 0), 255) truncated; NaN gives 0.
// CHECK_FINITE     any shape -> u32 [1], zeroed before the call: the number of NaN and infinities.
//
// Everything that describes one call except the data. Unused fields are zero.
typedef struct nino_op_attr {
    nino_act act;    // LINEAR CONV2D CONV3D GROUP_NORM RMS_NORM ACT MUL GLU
    int kernel;      // CONV2D, CONV3D: 1 or 3
    int stride;      // CONV2D: 1 or 2
    nino_pad pad;    // CONV2D
    bool upsample2x; // CONV2D: the source is read as if enlarged 2x by nearest neighbour
    bool each_image; // CONV2D: the algorithm is chosen by one image's size, so that a result does
                     // not depend on how many go together; CONV3D always does
    int pad_t;       // CONV3D: frames of zeros before the first
    int stride_t;    // CONV3D: 1 or 2
    int fold_t, fold_s; // SHUFFLE
    bool is_up;         // SHUFFLE
    int groups;         // GROUP_NORM, GROUP_STAT, RMS_NORM (at least 1)
    float eps;          // GROUP_NORM, LAYER_NORM, RMS_NORM, LINEAR with heads
    int heads;          // ATTENTION: q is [N,T,heads*D]; ROPE; LINEAR
    bool is_causal;     // ATTENTION: later keys are hidden
    bool keeps_scores;  // ATTENTION: the scores go through memory, where the schedule can do both
    float scale;        // ATTENTION, SOFTMAX: factor of the logits; SCALE: y = scale * x + shift
    float shift;        // SCALE
    int axis;           // CONCAT, SLICE; SOFTMAX always works on the last axis
    int64_t start;      // SLICE; SHUFFLE: frames left out (up) or put (down) before the first
    int perm[NINO_MAX_RANK];                 // PERMUTE: dst.dim[i] = src.dim[perm[i]]
    nino_filter filter;                      // RESAMPLE: tables from core/op/resample.h
    int x0, y0, feather_x, feather_y, sides; // BLEND, see below
} nino_op_attr;

// Shapes and types of one call; what flops(), bytes(), sched and plan see.
typedef struct nino_op_desc {
    nino_op_id op;
    nino_op_attr attr;
    int n_src;
    nino_shape src[NINO_OP_MAX_SRC];
    nino_dtype src_type[NINO_OP_MAX_SRC];
    nino_shape dst;
    nino_dtype dst_type;
    // Weights: for LINEAR, CONV2D and CONV3D the matrix is [N][taps][C]; bias is optional. For the
    // norms gamma and beta, for ACT the slopes.
    const nino_weight *weight, *bias; // may be NULL
    const nino_weight *norm;          // LINEAR with heads: their gamma
    bool has_residual; // src[1] is added before the activation (LINEAR, CONV2D, CONV3D, SHUFFLE)
    // The outermost dimension is `part` items of which each is to have the bits that it has among `whole`
    // (nino_stream_set_part()), which may be fewer; 0: it is all there is.
    int64_t part, whole;
} nino_op_desc;
// Rows of a product, as they count where the order of its sums depends on how many there are.
static inline int64_t nino_op_rows_of_whole(const nino_op_desc *d, int64_t rows)
{
    return d->whole ? rows / d->part * d->whole : rows;
}

typedef struct nino_op_def {
    const char *name, *family;
    // Bit i: dst may be the memory of src[i] when shapes and types agree (the stream does that when
    // nobody else holds src[i]). Each element is then read before it is written, by the same
    // work-item.
    unsigned in_place;
    // Fills d->dst from the sources and attributes, or says what is wrong (our own mistake or a
    // wrong model file).
    nino_status (*shape)(nino_op_desc *d, nino_error *err);
    // Multiply and add count as two. Exact for LINEAR, CONV2D and ATTENTION (products only, no bias
    // or softmax); an estimate for the rest, which memory bounds anyway.
    double (*flops)(const nino_op_desc *d);
    double (*bytes)(const nino_op_desc *d); // every operand once, in storage type
    // Largest NMSE against ref that is still right, by storage type of the activations (bf16: 64
    // times tol_f16, for 3 bits less).
    double tol_f32, tol_f16;
} nino_op_def;

// How an operand b goes with the rows (all axes but the last) of x: row p of batch item n takes b's
// row n * batch + p * position.
typedef struct nino_op_rows {
    int64_t positions; // rows of x a batch item
    int64_t batch, position;
} nino_op_rows;
// b: x's shape; [1,..,C], the same for all batch items; or [N or 1, C], perhaps with ones between,
// the same for all positions. False: it does not fit.
bool nino_op_broadcast(const nino_shape *x, const nino_shape *b, nino_op_rows *out);

extern const nino_op_def nino_ops[NINO_OP_COUNT];
_Static_assert(NINO_OP_COUNT <= 64, "nino_backend.ops has a bit for each");
// in_place of this call: src[1] may become the result only where it is an operand of the sum.
// ATTENTION: heads of k and v; and the count of keys that query 0 sees, if there were as many: query i
// sees one more than the one before it, and never more than Tk.
int64_t nino_op_kv_heads(const nino_op_desc *d);
int32_t nino_op_first_sight(const nino_op_desc *d);
unsigned nino_op_in_place(const nino_op_desc *d);
const char *nino_act_name(nino_act a);
static inline int nino_op_taps(const nino_op_desc *d)
{
    const int k = d->attr.kernel * d->attr.kernel;
    return d->op == NINO_OP_CONV2D ? k : d->op == NINO_OP_CONV3D ? 3 * k : 1;
}
// Taps that are left out because all they see is zeros in front of a CONV3D's one frame.
static inline int nino_op_first_tap(const nino_op_desc *d)
{
    return d->op == NINO_OP_CONV3D && d->dst.dim[0] == 1 ? d->attr.pad_t * nino_op_taps(d) / 3 : 0;
}
// Index of the source that holds a CONV3D's earlier frames, 0: none.
static inline int nino_op_history(const nino_op_desc *d)
{
    return d->op == NINO_OP_CONV3D && d->n_src > 1 + d->has_residual ? d->n_src - 1 : 0;
}
// Top or left zero padding of a CONV2D.
static inline int nino_op_pad_begin(const nino_op_attr *a)
{
    return a->pad == NINO_PAD_SAME ? (a->kernel - 1) / 2 : 0;
}
