// The op table: for each op its shape rule, its cost and how exact it must be.
#include "core/op/op.h"

#include "core/base/error.h"
#include "core/op/weight.h"

static bool is_activation_type(nino_dtype t)
{
    return t == NINO_F32 || t == NINO_F16 || t == NINO_BF16;
}

static nino_status fail_shape(const nino_op_desc *d, nino_error *err, const char *why)
{
    char a[64], b[64];
    nino_shape_print(a, sizeof(a), &d->src[0]);
    nino_shape_print(b, sizeof(b), &d->src[1]);
    return nino_fail(err, NINO_ERR_ARG, nino_ops[d->op].name, "%s (input %s%s%s)", why, a,
                     d->n_src > 1 ? " and " : "", d->n_src > 1 ? b : "");
}

static int64_t last_dim(const nino_shape *s) { return s->rank ? s->dim[s->rank - 1] : 1; }

// ---- shapes ----------------------------------------------------------------------------------

static nino_status shape_same(nino_op_desc *d, nino_error *err)
{
    if (!is_activation_type(d->src_type[0]))
        return fail_shape(d, err, "needs a floating point input");
    d->dst = d->src[0];
    d->dst_type = d->src_type[0];
    return NINO_OK;
}

static nino_status shape_act(nino_op_desc *d, nino_error *err)
{
    if (d->weight && (d->weight->role != NINO_W_VECTOR || d->weight->n != last_dim(&d->src[0]) ||
                      d->attr.act != NINO_ACT_NONE))
        return fail_shape(d, err, "slopes need one value a channel and no activation");
    return shape_same(d, err);
}

static nino_status check_bias(const nino_op_desc *d, nino_error *err)
{
    if (d->bias && d->bias->n != d->weight->n)
        return fail_shape(d, err, "the bias has another length than the weight has rows");
    if (d->has_residual &&
        (!nino_shape_equal(&d->src[1], &d->dst) || d->src_type[1] != d->dst_type))
        return fail_shape(d, err, "what is added differs from the result in shape or type");
    return NINO_OK;
}

// What follows a product of heads (see LINEAR).
static nino_status check_heads(const nino_op_desc *d, nino_error *err)
{
    const nino_op_attr *a = &d->attr;
    const nino_shape *t = &d->src[1];
    if (!a->heads)
        return NINO_OK;
    const int64_t depth = a->heads > 0 ? d->weight->n / a->heads : 0;
    if (depth < 1 || d->weight->n % a->heads || depth % 2 || a->act || d->has_residual ||
        !d->norm || d->norm->n != depth)
        return fail_shape(d, err, "the heads do not fit the weight, or are added to");
    if (d->n_src > 1 && (d->src[0].rank != 3 || t->rank != 2 || t->dim[0] != d->src[0].dim[1] ||
                         t->dim[1] != depth || d->src_type[1] != NINO_F32))
        return fail_shape(d, err, "the table is not f32 [T,D]");
    return NINO_OK;
}

static nino_status shape_linear(nino_op_desc *d, nino_error *err)
{
    nino_status st = shape_same(d, err);
    if (st)
        return st;
    if (!d->weight || d->weight->role != NINO_W_MATRIX || d->src[0].rank < 1)
        return fail_shape(d, err, "needs a matrix");
    if (last_dim(&d->src[0]) != d->weight->c)
        return fail_shape(d, err, "the input has another number of channels than the weight");
    d->dst.dim[d->dst.rank - 1] = d->weight->n;
    st = check_bias(d, err);
    return st ? st : check_heads(d, err);
}

static nino_status shape_conv(nino_op_desc *d, nino_error *err)
{
    const nino_op_attr *a = &d->attr;
    nino_status st = shape_same(d, err);
    if (st)
        return st;
    if (d->src[0].rank != 4)
        return fail_shape(d, err, "needs an image [N,H,W,C]");
    if (!d->weight || d->weight->role != (a->kernel == 3 ? NINO_W_CONV3 : NINO_W_MATRIX) ||
        (a->kernel != 1 && a->kernel != 3) || (a->stride != 1 && a->stride != 2))
        return fail_shape(d, err, "needs a 1x1 or 3x3 weight and stride 1 or 2");
    if (d->src[0].dim[3] != d->weight->c)
        return fail_shape(d, err, "the input has another number of channels than the weight");
    const int pad = a->pad == NINO_PAD_SAME  ? (a->kernel - 1) / 2 * 2
                    : a->pad == NINO_PAD_END ? a->kernel / 2
                                             : 0;
    for (int i = 1; i <= 2; i++) {
        const int64_t in = d->src[0].dim[i] * (a->upsample2x ? 2 : 1) + pad - a->kernel;
        if (in < 0)
            return fail_shape(d, err, "the image is smaller than the kernel");
        d->dst.dim[i] = in / a->stride + 1;
    }
    d->dst.dim[3] = d->weight->n;
    return check_bias(d, err);
}

static nino_status shape_conv3d(nino_op_desc *d, nino_error *err)
{
    const nino_op_attr *a = &d->attr;
    const int history = nino_op_history(d);
    const nino_shape *x = &d->src[0], *h = &d->src[history];
    nino_status st = shape_same(d, err);
    if (st)
        return st;
    if (!d->weight || d->weight->role != (a->kernel == 3 ? NINO_W_CONV3D : NINO_W_CONV_T) ||
        (a->kernel != 1 && a->kernel != 3) || (a->stride_t != 1 && a->stride_t != 2) ||
        a->pad_t < 0 || a->pad_t > 2)
        return fail_shape(d, err, "needs a 3x1x1 or 3x3x3 weight and stride 1 or 2");
    if (x->rank != 4 || x->dim[3] != d->weight->c)
        return fail_shape(d, err, "the input is not [T,H,W,C] with the weight's channels");
    if (history && (h->rank != 4 || h->dim[1] != x->dim[1] || h->dim[2] != x->dim[2] ||
                    h->dim[3] != x->dim[3] || d->src_type[history] != d->src_type[0]))
        return fail_shape(d, err, "the earlier frames differ from the input in shape or type");
    const int64_t frames = a->pad_t + (history ? h->dim[0] : 0) + x->dim[0];
    if (frames < 3)
        return fail_shape(d, err, "fewer than three frames");
    d->dst.dim[0] = (frames - 3) / a->stride_t + 1;
    d->dst.dim[3] = d->weight->n;
    return check_bias(d, err);
}

static nino_status shape_shuffle(nino_op_desc *d, nino_error *err)
{
    const nino_op_attr *a = &d->attr;
    const int64_t n = d->dst.dim[3], ft = a->fold_t, fs = a->fold_s, start = a->start;
    nino_status st = shape_same(d, err);
    if (st)
        return st;
    const int64_t *x = d->src[0].dim, c = x[3];
    if (d->src[0].rank != 4 || n < 1 || ft < 1 || ft > 8 || fs < 1 || fs > 8 || start < 0 ||
        start >= ft)
        return fail_shape(d, err, "needs frames [T,H,W,C] and folds of 1 to 8");
    const int64_t fold = ft * fs * fs;
    if (a->is_up ? n * fold % c != 0
                 : c * fold % n != 0 || (x[0] + start) % ft || x[1] % fs || x[2] % fs)
        return fail_shape(d, err, "the sizes do not divide");
    d->dst.dim[0] = a->is_up ? x[0] * ft - start : (x[0] + start) / ft;
    for (int i = 1; i < 3; i++)
        d->dst.dim[i] = a->is_up ? x[i] * fs : x[i] / fs;
    d->dst.dim[3] = n;
    return check_bias(d, err);
}

static nino_status shape_group_norm(nino_op_desc *d, nino_error *err)
{
    const int64_t c = last_dim(&d->src[0]);
    if (d->src[0].rank < 2 || d->attr.groups < 1 || c % d->attr.groups)
        return fail_shape(d, err, "the channels do not divide into the groups");
    if (!d->weight || d->weight->n != c || !d->bias || d->bias->n != c)
        return fail_shape(d, err, "gamma and beta need one value a channel");
    const nino_shape stat = NINO_SHAPE(d->src[0].dim[0], d->attr.groups, 3);
    if (d->n_src > 1 && (!nino_shape_equal(&d->src[1], &stat) || d->src_type[1] != NINO_F32))
        return fail_shape(d, err, "the statistics are not f32 [N,groups,3]");
    return shape_same(d, err);
}

static nino_status shape_group_stat(nino_op_desc *d, nino_error *err)
{
    const nino_status st = shape_same(d, err);
    if (st)
        return st;
    if (d->src[0].rank < 2 || d->attr.groups < 1 || last_dim(&d->src[0]) % d->attr.groups)
        return fail_shape(d, err, "the channels do not divide into the groups");
    d->dst = NINO_SHAPE(d->src[0].dim[0], d->attr.groups, 3);
    d->dst_type = NINO_F32;
    return NINO_OK;
}

bool nino_op_broadcast(const nino_shape *x, const nino_shape *b, nino_op_rows *out)
{
    const int last = x->rank - 1;
    nino_op_rows r = { .positions = 1 };
    bool is_whole = x->rank == b->rank, is_vector = true;
    if (x->rank < 1 || b->rank < (x->rank < 2 ? 1 : 2) || b->dim[b->rank - 1] != x->dim[last])
        return false;
    for (int i = 1; i < last; i++)
        r.positions *= x->dim[i];
    for (int i = 1; i < b->rank - 1; i++) {
        is_whole = is_whole && b->dim[i] == x->dim[i];
        is_vector = is_vector && b->dim[i] == 1;
    }
    if ((!is_whole && !is_vector) || (last > 0 && b->dim[0] != 1 && b->dim[0] != x->dim[0]))
        return false;
    r.position = is_whole;
    r.batch = b->rank < 2 || b->dim[0] == 1 ? 0 : is_whole ? r.positions : 1;
    *out = r;
    return true;
}

// src[i] goes with the rows of src[0] and has its type.
static bool fits_rows(const nino_op_desc *d, int i)
{
    nino_op_rows r;
    return d->src_type[i] == d->src_type[0] && nino_op_broadcast(&d->src[0], &d->src[i], &r);
}

static nino_status shape_layer_norm(nino_op_desc *d, nino_error *err)
{
    const int64_t c = last_dim(&d->src[0]);
    if (d->src[0].rank < 1 || (d->weight && d->weight->n != c) || (d->bias && d->bias->n != c))
        return fail_shape(d, err, "gamma and beta need one value a channel");
    if (d->n_src != 1 && (d->n_src != 3 || !fits_rows(d, 1) || !fits_rows(d, 2) ||
                          !nino_shape_equal(&d->src[1], &d->src[2])))
        return fail_shape(d, err, "scale and shift do not fit the input");
    return shape_same(d, err);
}

static nino_status shape_rms_norm(nino_op_desc *d, nino_error *err)
{
    const int64_t c = last_dim(&d->src[0]);
    if (d->src[0].rank < 1 || d->attr.groups < 1 || c % d->attr.groups)
        return fail_shape(d, err, "the channels do not divide into the groups");
    if (d->weight && d->weight->n != c / d->attr.groups)
        return fail_shape(d, err, "gamma needs one value for each channel of a group");
    return shape_same(d, err);
}

static bool fits_logits(const nino_op_desc *d)
{
    const nino_shape *b = &d->src[3];
    const int64_t most[] = { d->src[0].dim[0], d->attr.heads, d->src[0].dim[1] };
    if (d->n_src == 3)
        return true;
    for (int i = 0; i < 3; i++)
        if (b->dim[i] != 1 && b->dim[i] != most[i])
            return false;
    return b->rank == 4 && b->dim[3] == d->src[1].dim[1] && d->src_type[3] == NINO_F32;
}

static nino_status shape_attention(nino_op_desc *d, nino_error *err)
{
    const nino_shape *q = &d->src[0], *k = &d->src[1], *v = &d->src[2];
    if (d->n_src < 3 || q->rank != 3 || k->rank != 3 || !nino_shape_equal(k, v) ||
        q->dim[0] != k->dim[0] || k->dim[1] < 1)
        return fail_shape(d, err, "q, k and v do not fit together");
    if (d->attr.heads < 1 || q->dim[2] % d->attr.heads)
        return fail_shape(d, err, "the channels do not divide into the heads");
    const int64_t depth = q->dim[2] / d->attr.heads, kv = depth ? k->dim[2] / depth : 0;
    if (!kv || k->dim[2] != kv * depth || d->attr.heads % kv)
        return fail_shape(d, err, "the heads of k and v do not divide those of q");
    if (d->attr.is_causal && q->dim[1] > k->dim[1])
        return fail_shape(d, err, "a causal attention has more queries than keys");
    if (d->src_type[1] != d->src_type[0] || d->src_type[2] != d->src_type[0])
        return fail_shape(d, err, "q, k and v differ in type");
    if (!fits_logits(d))
        return fail_shape(d, err, "the bias is not f32 [N or 1, heads or 1, Tq or 1, Tk]");
    return shape_same(d, err);
}

static nino_status shape_add(nino_op_desc *d, nino_error *err)
{
    if (d->n_src != 2 || !fits_rows(d, 1))
        return fail_shape(d, err, "the operands differ in shape or type");
    return shape_same(d, err);
}

static nino_status shape_mul(nino_op_desc *d, nino_error *err)
{
    if (d->n_src != 2 || !nino_shape_equal(&d->src[0], &d->src[1]) ||
        d->src_type[0] != d->src_type[1])
        return fail_shape(d, err, "the operands differ in shape or type");
    return shape_same(d, err);
}

static nino_status shape_glu(nino_op_desc *d, nino_error *err)
{
    const nino_status st = shape_same(d, err);
    if (st)
        return st;
    if (d->dst.rank < 1 || last_dim(&d->dst) % 2)
        return fail_shape(d, err, "the channels do not divide into two halves");
    d->dst.dim[d->dst.rank - 1] /= 2;
    return NINO_OK;
}

static nino_status shape_gate_add(nino_op_desc *d, nino_error *err)
{
    if (d->n_src != 3 || !nino_shape_equal(&d->src[0], &d->src[1]) ||
        d->src_type[0] != d->src_type[1])
        return fail_shape(d, err, "the operands differ in shape or type");
    if (!fits_rows(d, 2))
        return fail_shape(d, err, "the gate does not fit the input");
    return shape_same(d, err);
}

static nino_status shape_rope(nino_op_desc *d, nino_error *err)
{
    const nino_shape *x = &d->src[0], *t = &d->src[1];
    if (d->n_src != 2 || x->rank != 3 || d->attr.heads < 1 || x->dim[2] % d->attr.heads ||
        x->dim[2] / d->attr.heads % 2)
        return fail_shape(d, err, "the channels do not divide into pairs of the heads");
    if (t->rank != 2 || t->dim[0] != x->dim[1] || t->dim[1] != x->dim[2] / d->attr.heads ||
        d->src_type[1] != NINO_F32)
        return fail_shape(d, err, "the table is not f32 [T,D]");
    return shape_same(d, err);
}

static nino_status shape_concat(nino_op_desc *d, nino_error *err)
{
    const nino_shape *a = &d->src[0], *b = &d->src[1];
    const int axis = d->attr.axis;
    if (d->n_src != 2 || a->rank != b->rank || axis < 0 || axis >= a->rank)
        return fail_shape(d, err, "no such axis, or ranks differ");
    for (int i = 0; i < a->rank; i++)
        if (i != axis && a->dim[i] != b->dim[i])
            return fail_shape(d, err, "only the joined axis may differ");
    if (d->src_type[0] != d->src_type[1])
        return fail_shape(d, err, "the operands differ in type");
    d->dst = *a;
    d->dst.dim[axis] += b->dim[axis];
    d->dst_type = d->src_type[0];
    return NINO_OK;
}

static nino_status shape_slice(nino_op_desc *d, nino_error *err)
{
    const nino_shape *a = &d->src[0];
    const int axis = d->attr.axis;
    if (axis < 0 || axis >= a->rank)
        return fail_shape(d, err, "no such axis");
    const int64_t len = d->dst.dim[axis];
    if (d->attr.start < 0 || len < 1 || d->attr.start > a->dim[axis] - len)
        return fail_shape(d, err, "the slice is outside the input");
    d->dst = *a;
    d->dst.dim[axis] = len;
    d->dst_type = d->src_type[0];
    return NINO_OK;
}

static nino_status shape_permute(nino_op_desc *d, nino_error *err)
{
    unsigned seen = 0;
    d->dst = d->src[0];
    d->dst_type = d->src_type[0];
    for (int i = 0; i < d->src[0].rank; i++) {
        const int p = d->attr.perm[i];
        if (p < 0 || p >= d->src[0].rank || seen >> p & 1)
            return fail_shape(d, err, "not a permutation of the axes");
        seen |= 1u << p;
        d->dst.dim[i] = d->src[0].dim[p];
    }
    return NINO_OK;
}

static nino_status shape_cast(nino_op_desc *d, nino_error *err)
{
    const nino_dtype to = d->dst_type;
    nino_status st = shape_same(d, err);
    d->dst_type = to;
    return !st && !is_activation_type(to) ? fail_shape(d, err, "no such storage type") : st;
}

static nino_status shape_resample(nino_op_desc *d, nino_error *err)
{
    const int64_t h = d->dst.dim[1], w = d->dst.dim[2];
    nino_status st = shape_same(d, err);
    if (st)
        return st;
    if (d->src[0].rank != 4 || h < 1 || w < 1 || h > INT32_MAX || w > INT32_MAX ||
        d->src[0].dim[1] < 1 || d->src[0].dim[2] < 1)
        return fail_shape(d, err, "needs an image [N,H,W,C] and a size");
    d->dst.dim[1] = h;
    d->dst.dim[2] = w;
    return NINO_OK;
}

static nino_status shape_blend(nino_op_desc *d, nino_error *err)
{
    const nino_shape *c = &d->src[0], *t = &d->src[1];
    const nino_op_attr *a = &d->attr;
    if (d->n_src != 2 || c->rank != 3 || t->rank != 4 || t->dim[0] != 1 ||
        t->dim[3] + 1 != c->dim[2] || d->src_type[0] != NINO_F32 ||
        !is_activation_type(d->src_type[1]))
        return fail_shape(d, err, "needs a canvas [H,W,C+1] f32 and a tile [1,h,w,C]");
    if (a->x0 < 0 || a->y0 < 0 || a->x0 + t->dim[2] > c->dim[1] || a->y0 + t->dim[1] > c->dim[0] ||
        a->feather_x < 0 || a->feather_y < 0)
        return fail_shape(d, err, "the tile reaches beyond the canvas");
    d->dst = *c;
    d->dst_type = NINO_F32;
    return NINO_OK;
}

static nino_status shape_blend_div(nino_op_desc *d, nino_error *err)
{
    const nino_shape *c = &d->src[0];
    if (c->rank != 3 || c->dim[2] < 2 || d->src_type[0] != NINO_F32)
        return fail_shape(d, err, "needs a canvas [H,W,C+1] f32");
    d->dst = NINO_SHAPE(1, c->dim[0], c->dim[1], c->dim[2] - 1);
    d->dst_type = NINO_F32;
    return NINO_OK;
}

static nino_status shape_to_rgb8(nino_op_desc *d, nino_error *err)
{
    nino_status st = shape_same(d, err);
    if (st)
        return st;
    if (d->src[0].rank != 4 || d->src[0].dim[3] < 3)
        return fail_shape(d, err, "needs an image [N,H,W,3]");
    d->dst.dim[3] = 3;
    d->dst_type = NINO_U8;
    return NINO_OK;
}

static nino_status shape_check_finite(nino_op_desc *d, nino_error *err)
{
    nino_status st = shape_same(d, err);
    d->dst = NINO_SHAPE(1);
    d->dst_type = NINO_U32;
    return st;
}

// ---- costs -----------------------------------------------------------------------------------

static double op_table_count(const nino_shape *s) { return (double) nino_shape_count(s); }

static double flops_gemm(const nino_op_desc *d)
{
    const int taps = nino_op_taps(d) - nino_op_first_tap(d);
    return 2.0 * op_table_count(&d->dst) * taps * (double) d->weight->c;
}
static double flops_attention(const nino_op_desc *d)
{
    const double hidden = d->attr.is_causal ? (double) (d->src[0].dim[1] - 1) / 2 : 0; // on average
    return 4.0 * op_table_count(&d->src[0]) * ((double) d->src[1].dim[1] - hidden);
}
// Sum and sum of squares, then scale, shift and perhaps an activation.
static double flops_norm(const nino_op_desc *d)
{
    return op_table_count(&d->src[0]) * (d->attr.act == NINO_ACT_NONE ? 6 : 10);
}
// One factor and the activation.
static double flops_mul(const nino_op_desc *d)
{
    return op_table_count(&d->dst) * (d->attr.act == NINO_ACT_NONE ? 1 : 5);
}
// Sum and sum of squares.
static double flops_stat(const nino_op_desc *d) { return op_table_count(&d->src[0]) * 4; }
static double flops_softmax(const nino_op_desc *d) { return op_table_count(&d->src[0]) * 5; }
static double flops_act(const nino_op_desc *d) { return op_table_count(&d->src[0]) * 4; }
static double flops_one(const nino_op_desc *d) { return op_table_count(&d->dst); }
static double flops_three(const nino_op_desc *d) { return op_table_count(&d->dst) * 3; }
static double flops_two(const nino_op_desc *d) { return op_table_count(&d->dst) * 2; }
static double flops_none(const nino_op_desc *d)
{
    (void) d;
    return 0;
}
// A mean or nothing, and what is added.
static double flops_shuffle(const nino_op_desc *d)
{
    return (d->attr.is_up ? 0 : op_table_count(&d->src[0])) +
           (d->has_residual ? op_table_count(&d->dst) : 0);
}
static double flops_blend(const nino_op_desc *d) { return op_table_count(&d->src[1]) * 3; }

static double bytes_all(const nino_op_desc *d)
{
    double b = op_table_count(&d->dst) * (double) nino_dtype_size(d->dst_type);
    for (int i = 0; i < d->n_src; i++)
        b += op_table_count(&d->src[i]) * (double) nino_dtype_size(d->src_type[i]);
    const nino_weight *w[] = { d->weight, d->bias, d->norm };
    for (int i = 0; i < 3; i++)
        if (w[i]) {
            size_t values, bytes; // of a block
            nino_dtype_block(w[i]->dtype, &values, &bytes);
            b += (double) w[i]->n * (double) w[i]->c * nino_weight_taps(w[i]) / (double) values *
                 (double) bytes;
        }
    return b;
}
// The tile is read, the canvas below it read and written.
static double bytes_blend(const nino_op_desc *d)
{
    const double px = (double) d->src[1].dim[1] * (double) d->src[1].dim[2];
    return op_table_count(&d->src[1]) * (double) nino_dtype_size(d->src_type[1]) +
           px * (double) d->src[0].dim[2] * 8;
}
static double bytes_slice(const nino_op_desc *d)
{
    return 2 * op_table_count(&d->dst) * (double) nino_dtype_size(d->dst_type);
}

// ---- the table -------------------------------------------------------------------------------

// Tolerances: f32 sums of some thousand terms in any order stay below 1e-11 of double ones, and so
// does Winograd F(4,3). One rounding to f16 is 4e-8; attention may also round its probabilities.
// Copies are exact.
// clang-format off
#define ROW(ID, name, family, place, shp, fl, by, t32, t16)                                        \
    [NINO_OP_##ID] = { #name, #family, place, shape_##shp, flops_##fl, bytes_##by, t32, t16 }
const nino_op_def nino_ops[NINO_OP_COUNT] = {
    //  id            name          family in place        flops      bytes  f32    f16
    ROW(LINEAR,        linear,        gemm,   2,  linear,      gemm,       all,    1e-11,  1e-7),
    ROW(CONV2D,        conv2d,        conv,   2,  conv,        gemm,       all,    1e-11,  1e-7),
    ROW(CONV3D,        conv3d,        conv,   2,  conv3d,      gemm,       all,    1e-11,  1e-7),
    ROW(GROUP_NORM,    group_norm,    norm,   1,  group_norm,  norm,       all,    1e-10,  1e-7),
    ROW(LAYER_NORM,    layer_norm,    norm,   1,  layer_norm,  norm,       all,    1e-10,  1e-7),
    ROW(RMS_NORM,      rms_norm,      norm,   1,  rms_norm,    norm,       all,    1e-10,  1e-7),
    ROW(SOFTMAX,       softmax,       attn,   1,  same,        softmax,    all,    1e-11,  1e-6),
    ROW(ATTENTION,     attention,     attn,   0,  attention,   attention,  all,    1e-11,  1e-6),
    ROW(ACT,           act,           elt,    1,  act,         act,        all,    1e-12,  1e-7),
    ROW(ADD,           add,           elt,    3,  add,         one,        all,    1e-14,  1e-7),
    ROW(SCALE,         scale,         elt,    1,  same,        two,        all,    1e-14,  1e-7),
    ROW(MUL,           mul,           elt,    3,  mul,         mul,        all,    1e-12,  1e-7),
    ROW(GLU,           glu,           elt,    0,  glu,         mul,        all,    1e-12,  1e-7),
    ROW(GATE_ADD,      gate_add,      elt,    3,  gate_add,    two,        all,    1e-13,  1e-7),
    ROW(ROPE,          rope,          elt,    1,  rope,        three,      all,    1e-13,  1e-7),
    ROW(CONCAT,        concat,        move,   0,  concat,      none,       all,    0,      0),
    ROW(SLICE,         slice,         move,   0,  slice,       none,       slice,  0,      0),
    ROW(PERMUTE,       permute,       move,   0,  permute,     none,       all,    0,      0),
    ROW(CAST,          cast,          move,   0,  cast,        none,       all,    0,      0),
    ROW(SHUFFLE,       shuffle,       move,   2,  shuffle,     shuffle,    all,    1e-13,  1e-7),
    ROW(RESAMPLE,      resample,      image,  0,  resample,    two,        all,    1e-12,  1e-7),
    ROW(BLEND,         blend,         image,  1,  blend,       blend,      blend,  1e-13,  1e-7),
    ROW(BLEND_DIV,     blend_div,     image,  0,  blend_div,   one,        all,    1e-13,  1e-7),
    ROW(TO_RGB8,       to_rgb8,       image,  0,  to_rgb8,     two,        all,    0,      0),
    ROW(CHECK_FINITE,  check_finite,  elt,    0,  check_finite, one,        all,    0,      0),
    ROW(GROUP_STAT,    group_stat,    norm,   0,  group_stat,  stat,       all,    1e-10,  1e-10),
};
#undef ROW
// clang-format on

int64_t nino_op_kv_heads(const nino_op_desc *d)
{
    return d->src[1].dim[2] / (d->src[0].dim[2] / d->attr.heads);
}

int32_t nino_op_first_sight(const nino_op_desc *d)
{
    const int64_t tq = d->src[0].dim[1], tk = d->src[1].dim[1];
    return d->attr.is_causal ? (int32_t) (tk - tq + 1) : (int32_t) (INT32_MAX - tq);
}

unsigned nino_op_in_place(const nino_op_desc *d)
{
    return d->op == NINO_OP_CONV3D && !d->has_residual ? 0 : nino_ops[d->op].in_place;
}

const char *nino_act_name(nino_act a)
{
    static const char *const names[NINO_ACT_COUNT] = {
        "none",    "relu", "silu",  "gelu",    "gelu_tanh", "quick_gelu",
        "sigmoid", "tanh", "tanh3", "clamp01", "leaky",
    };
    return (unsigned) a < NINO_ACT_COUNT ? names[a] : "?";
}
