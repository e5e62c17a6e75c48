// The ops as functions: each fills a call and runs it. Also copies between host and device.
#include "core/op/mixed.h"
#include "core/op/stream_priv.h"

#include "core/base/error.h"

#include <stdlib.h>
#include <string.h>

static nino_op_call call1(nino_op_id op, nino_tensor *x)
{
    return (nino_op_call){ .d = { .op = op, .n_src = 1 }, .src = { x } };
}
static nino_op_call call2(nino_op_id op, nino_tensor *a, nino_tensor *b)
{
    return (nino_op_call){ .d = { .op = op, .n_src = 2 }, .src = { a, b } };
}

// ---- copies ----------------------------------------------------------------------------------

static void take_error(nino_stream *s, const nino_error *err)
{
    if (!s->err.code)
        s->err = *err;
}

nino_tensor *nino_upload(nino_stream *s, const nino_array *a, nino_dtype type)
{
    nino_array *c = NULL;
    nino_error err = { 0 };
    nino_tensor *t = nino_stream_ok(s) ? nino_tensor_new(s, a->shape, type) : NULL;
    if (!t)
        return NULL;
    if (a->dtype != type && !(c = nino_array_convert(a, type)))
        nino_fail(&err, NINO_ERR_NOMEM, "upload", "no memory to convert the data");
    else
        s->be->impl->upload(s->be, &t->mem, c ? c->data : a->data, c ? c->bytes : a->bytes, &err);
    nino_array_unref(&c);
    if (err.code) {
        take_error(s, &err);
        nino_unref(t);
        return NULL;
    }
    return t;
}

nino_tensor *nino_upload_pieces(nino_stream *s, nino_shape shape, nino_dtype type,
                                const nino_host_piece *piece, int n)
{
    nino_error err = { 0 };
    nino_tensor *t = nino_stream_ok(s) ? nino_tensor_new(s, shape, type) : NULL;
    if (!t)
        return NULL;
    nino_block at = t->mem;
    for (int i = 0; i < n && !err.code; i++) {
        s->be->impl->upload(s->be, &at, piece[i].data, piece[i].bytes, &err);
        at.offset += piece[i].bytes;
    }
    if (err.code) {
        take_error(s, &err);
        nino_unref(t);
        return NULL;
    }
    return t;
}

nino_array *nino_download(nino_stream *s, nino_tensor *t, nino_dtype type)
{
    nino_array *a = NULL;
    nino_error err = { 0 };
    if (!nino_stream_ok(s) || !t)
        goto end;
    a = nino_array_create(t->dtype, t->shape);
    if (!a)
        nino_fail(&err, NINO_ERR_NOMEM, "download", "no host memory for the result");
    else
        s->be->impl->download(s->be, &t->mem, a->data, a->bytes, &err);
    if (!err.code && t->dtype != type) {
        nino_array *c = nino_array_convert(a, type);
        if (!c)
            nino_fail(&err, NINO_ERR_NOMEM, "download", "no memory to convert the result");
        nino_array_unref(&a);
        a = c;
    }
    if (err.code) {
        take_error(s, &err);
        nino_array_unref(&a);
    }
end:
    nino_unref(t);
    return a;
}

nino_tensor *nino_zeros(nino_stream *s, nino_shape shape, nino_dtype type)
{
    nino_error err = { 0 };
    nino_tensor *t = nino_tensor_new(s, shape, type);
    if (!t)
        return NULL;
    const size_t bytes = (size_t) nino_shape_count(&shape) * nino_dtype_size(type);
    if (s->be->impl->fill_zero(s->be, &t->mem, bytes, &err)) {
        take_error(s, &err);
        nino_unref(t);
        return NULL;
    }
    return t;
}

// ---- weights times activations ---------------------------------------------------------------

// In mixed precision what is added to may be wider than the factors of the product.
static bool adds_apart(const nino_stream *s, const nino_op_call *c, const nino_tensor *residual)
{
    nino_op_desc d = { .op = c->d.op };
    if ((s->precision != NINO_PREC_MIXED && s->precision != NINO_PREC_MIXED_BF16) ||
        c->d.attr.act || !residual || !c->src[0])
        return false;
    d.src[0] = c->src[0]->shape;
    d.dst = residual->shape;
    return nino_mixed_adds_apart(nino_mixed_item(&d));
}

static nino_tensor *with_residual(nino_stream *s, nino_op_call *c, nino_tensor *residual)
{
    if (adds_apart(s, c, residual))
        return nino_add(s, residual, nino_stream_run(s, c));
    c->src[1] = residual;
    c->d.n_src = 2;
    c->d.has_residual = true;
    return nino_stream_run(s, c);
}

static nino_op_call linear_call(nino_tensor *x, const nino_linear *l)
{
    nino_op_call c = call1(NINO_OP_LINEAR, x);
    c.d.weight = l->w;
    c.d.bias = l->b;
    c.d.attr.act = l->act;
    return c;
}

// What a LoRA adds to a layer whose weight stays quantised, with what is added anyway: a residual.
static nino_tensor *linear_beside(nino_stream *s, nino_tensor *x, const nino_weight *w,
                                  nino_tensor *residual)
{
    const nino_linear down = { .w = w->down }, up = { .w = w->up };
    x = nino_linear_op(s, nino_ref(x), &down);
    return residual ? nino_linear_add(s, x, &up, residual) : nino_linear_op(s, x, &up);
}

nino_tensor *nino_linear_op(nino_stream *s, nino_tensor *x, const nino_linear *l)
{
    nino_op_call c = linear_call(x, l);
    if (l->w && l->w->up)
        return with_residual(s, &c, linear_beside(s, x, l->w, NULL));
    return nino_stream_run(s, &c);
}

nino_tensor *nino_linear_add(nino_stream *s, nino_tensor *x, const nino_linear *l,
                             nino_tensor *residual)
{
    nino_op_call c = linear_call(x, l);
    if (l->w && l->w->up)
        residual = linear_beside(s, x, l->w, residual);
    return with_residual(s, &c, residual);
}

// What nino_sched_has_heads() is asked of.
static nino_op_call heads_call(nino_stream *s, nino_tensor *x, const nino_linear *l,
                               const nino_norm *n, nino_tensor *table)
{
    nino_op_call c = linear_call(x, l);
    c.d.attr.heads = n->groups;
    c.d.attr.eps = n->eps;
    c.d.norm = n->gamma;
    c.d.src[0] = x->shape;
    c.d.src_type[0] = x->dtype;
    c.d.dst = x->shape;
    c.d.dst.dim[c.d.dst.rank - 1] = l->w->n;
    if (table)
        c.src[c.d.n_src++] = table;
    nino_stream_set_whole(s, &c.d);
    return c;
}

static bool can_have_heads(nino_stream *s, const nino_tensor *x, const nino_linear *l,
                           const nino_norm *n)
{
    const bool is_mixed = s->precision == NINO_PREC_MIXED || s->precision == NINO_PREC_MIXED_BF16;
    return nino_stream_ok(s) && x && l->w && !l->w->up && !l->act && n->gamma && n->groups > 0 &&
           !is_mixed;
}

nino_tensor *nino_linear_heads(nino_stream *s, nino_tensor *x, const nino_linear *l,
                               const nino_norm *n, nino_tensor *table)
{
    if (can_have_heads(s, x, l, n)) {
        nino_op_call c = heads_call(s, x, l, n, table);
        if (nino_sched_has_heads(&s->be->profile, &c.d))
            return nino_stream_run(s, &c);
    }
    x = nino_rms_norm(s, nino_linear_op(s, x, l), n);
    return table ? nino_rope(s, x, table, n->groups) : x;
}

static nino_op_call conv_call(nino_tensor *x, const nino_conv *v)
{
    nino_op_call c = call1(NINO_OP_CONV2D, x);
    c.d.weight = v->w;
    c.d.bias = v->b;
    c.d.attr.act = v->act;
    c.d.attr.kernel = v->w && v->w->role == NINO_W_CONV3 ? 3 : 1;
    c.d.attr.stride = v->stride ? v->stride : 1;
    c.d.attr.pad = v->pad;
    c.d.attr.upsample2x = v->upsample2x;
    c.d.attr.each_image = v->each_image;
    return c;
}

static nino_tensor *conv_beside(nino_stream *s, nino_tensor *x, const nino_conv *v,
                                nino_tensor *residual)
{
    nino_conv down = *v;
    const nino_conv up = { .w = v->w->up, .each_image = v->each_image };
    down.w = v->w->down;
    down.b = NULL;
    down.act = NINO_ACT_NONE;
    x = nino_conv2d(s, nino_ref(x), &down);
    return residual ? nino_conv2d_add(s, x, &up, residual) : nino_conv2d(s, x, &up);
}

nino_tensor *nino_conv2d(nino_stream *s, nino_tensor *x, const nino_conv *v)
{
    nino_op_call c = conv_call(x, v);
    if (v->w && v->w->up)
        return with_residual(s, &c, conv_beside(s, x, v, NULL));
    return nino_stream_run(s, &c);
}

nino_tensor *nino_conv2d_add(nino_stream *s, nino_tensor *x, const nino_conv *v,
                             nino_tensor *residual)
{
    nino_op_call c = conv_call(x, v);
    if (v->w && v->w->up)
        residual = conv_beside(s, x, v, residual);
    return with_residual(s, &c, residual);
}

nino_tensor *nino_conv3d(nino_stream *s, nino_tensor *x, const nino_conv *v, nino_tensor *history,
                         int pad_t, int stride_t, nino_tensor *residual)
{
    nino_op_call c = call1(NINO_OP_CONV3D, x);
    c.d.weight = v->w;
    c.d.bias = v->b;
    c.d.attr.act = v->act;
    const bool is_apart = adds_apart(s, &c, residual);
    c.d.has_residual = residual && !is_apart;
    if (c.d.has_residual)
        c.src[c.d.n_src++] = residual;
    if (history)
        c.src[c.d.n_src++] = history;
    c.d.attr.kernel = v->w && v->w->role == NINO_W_CONV3D ? 3 : 1;
    c.d.attr.stride = 1;
    c.d.attr.pad_t = pad_t;
    c.d.attr.stride_t = stride_t;
    nino_tensor *y = nino_stream_run(s, &c);
    return is_apart ? nino_add(s, residual, y) : y;
}

static nino_op_call group_norm_call(nino_tensor *x, const nino_norm *n, nino_act act)
{
    nino_op_call c = call1(NINO_OP_GROUP_NORM, x);
    c.d.weight = n->gamma;
    c.d.bias = n->beta;
    c.d.attr.groups = n->groups;
    c.d.attr.eps = n->eps;
    c.d.attr.act = act;
    return c;
}

nino_tensor *nino_group_norm(nino_stream *s, nino_tensor *x, const nino_norm *n, nino_act act)
{
    nino_op_call c = group_norm_call(x, n, act);
    return nino_stream_run(s, &c);
}

nino_tensor *nino_group_norm_given(nino_stream *s, nino_tensor *x, const nino_norm *n,
                                   nino_tensor *stat, nino_act act)
{
    nino_op_call c = group_norm_call(x, n, act);
    c.src[1] = stat;
    c.d.n_src = 2;
    return nino_stream_run(s, &c);
}

nino_tensor *nino_group_stat(nino_stream *s, nino_tensor *x, int groups)
{
    nino_op_call c = call1(NINO_OP_GROUP_STAT, x);
    c.d.attr.groups = groups;
    return nino_stream_run(s, &c);
}

static nino_op_call norm_call(nino_op_id op, nino_tensor *x, const nino_norm *n)
{
    nino_op_call c = call1(op, x);
    c.d.weight = n->gamma;
    c.d.bias = n->beta;
    c.d.attr.eps = n->eps;
    return c;
}

nino_tensor *nino_layer_norm(nino_stream *s, nino_tensor *x, const nino_norm *n)
{
    nino_op_call c = norm_call(NINO_OP_LAYER_NORM, x, n);
    return nino_stream_run(s, &c);
}

nino_tensor *nino_layer_norm_mod(nino_stream *s, nino_tensor *x, const nino_norm *n,
                                 nino_tensor *scale, nino_tensor *shift)
{
    nino_op_call c = norm_call(NINO_OP_LAYER_NORM, x, n);
    c.src[1] = scale;
    c.src[2] = shift;
    c.d.n_src = 3;
    return nino_stream_run(s, &c);
}

nino_tensor *nino_rms_norm_act(nino_stream *s, nino_tensor *x, const nino_norm *n, nino_act act)
{
    nino_op_call c = norm_call(NINO_OP_RMS_NORM, x, n);
    c.d.bias = NULL;
    c.d.attr.groups = n->groups ? n->groups : 1;
    c.d.attr.act = act;
    return nino_stream_run(s, &c);
}

nino_tensor *nino_rms_norm(nino_stream *s, nino_tensor *x, const nino_norm *n)
{
    return nino_rms_norm_act(s, x, n, NINO_ACT_NONE);
}

// ---- attention -------------------------------------------------------------------------------

nino_tensor *nino_softmax(nino_stream *s, nino_tensor *x, float scale)
{
    nino_op_call c = call1(NINO_OP_SOFTMAX, x);
    c.d.attr.scale = scale;
    return nino_stream_run(s, &c);
}

static nino_tensor *stream_attention(nino_stream *s, nino_tensor *q, nino_tensor *k, nino_tensor *v,
                                     int heads, float scale, nino_tensor *bias, bool is_causal)
{
    nino_op_call c = { .d = { .op = NINO_OP_ATTENTION, .n_src = bias ? 4 : 3 },
                       .src = { q, k, v, bias } };
    c.d.attr.heads = heads;
    c.d.attr.is_causal = is_causal;
    c.d.attr.keeps_scores = s->keeps_scores;
    const double depth = heads > 0 ? (double) nino_dim(q, -1) / heads : 0;
    c.d.attr.scale = scale != 0 ? scale : depth > 0 ? (float) (1 / __builtin_sqrt(depth)) : 0;
    return nino_stream_run(s, &c);
}

nino_tensor *nino_attention(nino_stream *s, nino_tensor *q, nino_tensor *k, nino_tensor *v,
                            int heads, float scale)
{
    return stream_attention(s, q, k, v, heads, scale, NULL, false);
}

nino_tensor *nino_attention_bias(nino_stream *s, nino_tensor *q, nino_tensor *k, nino_tensor *v,
                                 int heads, float scale, nino_tensor *bias)
{
    return stream_attention(s, q, k, v, heads, scale, bias, false);
}

nino_tensor *nino_attention_causal(nino_stream *s, nino_tensor *q, nino_tensor *k, nino_tensor *v,
                                   int heads, nino_tensor *bias)
{
    return stream_attention(s, q, k, v, heads, 0, bias, true);
}

nino_tensor *nino_rope(nino_stream *s, nino_tensor *x, nino_tensor *table, int heads)
{
    nino_op_call c = call2(NINO_OP_ROPE, x, table);
    c.d.attr.heads = heads;
    return nino_stream_run(s, &c);
}

// ---- elementwise -----------------------------------------------------------------------------

nino_tensor *nino_act_op(nino_stream *s, nino_tensor *x, nino_act act)
{
    nino_op_call c = call1(NINO_OP_ACT, x);
    c.d.attr.act = act;
    return nino_stream_run(s, &c);
}

nino_tensor *nino_prelu(nino_stream *s, nino_tensor *x, const nino_weight *slope)
{
    nino_op_call c = call1(NINO_OP_ACT, x);
    c.d.weight = slope;
    return nino_stream_run(s, &c);
}

nino_tensor *nino_add(nino_stream *s, nino_tensor *a, nino_tensor *b)
{
    nino_op_call c = call2(NINO_OP_ADD, a, b);
    return nino_stream_run(s, &c);
}

nino_tensor *nino_mul(nino_stream *s, nino_tensor *a, nino_tensor *b, nino_act act)
{
    nino_op_call c = call2(NINO_OP_MUL, a, b);
    c.d.attr.act = act;
    return nino_stream_run(s, &c);
}

nino_tensor *nino_glu(nino_stream *s, nino_tensor *x, nino_act act)
{
    nino_op_call c = call1(NINO_OP_GLU, x);
    c.d.attr.act = act;
    return nino_stream_run(s, &c);
}

nino_tensor *nino_gate_add(nino_stream *s, nino_tensor *residual, nino_tensor *x, nino_tensor *gate)
{
    nino_op_call c = { .d = { .op = NINO_OP_GATE_ADD, .n_src = 3 }, .src = { residual, x, gate } };
    return nino_stream_run(s, &c);
}

nino_tensor *nino_scale(nino_stream *s, nino_tensor *x, float scale, float shift)
{
    nino_op_call c = call1(NINO_OP_SCALE, x);
    c.d.attr.scale = scale;
    c.d.attr.shift = shift;
    return nino_stream_run(s, &c);
}

// ---- moving data -----------------------------------------------------------------------------

nino_tensor *nino_concat(nino_stream *s, nino_tensor *a, nino_tensor *b, int axis)
{
    nino_op_call c = call2(NINO_OP_CONCAT, a, b);
    c.d.attr.axis = axis < 0 ? axis + nino_shape_of(a)->rank : axis;
    return nino_stream_run(s, &c);
}

// What is sliced off lies in one piece, and where a block of the pool could begin: byte *offset.
static bool is_piece(const nino_tensor *x, int axis, int64_t start, uint64_t *offset)
{
    uint64_t row = nino_dtype_size(x->dtype);
    for (int i = 0; i < axis; i++)
        if (x->shape.dim[i] != 1)
            return false;
    for (int i = axis + 1; i < x->shape.rank; i++)
        row *= (uint64_t) x->shape.dim[i];
    *offset = (uint64_t) start * row;
    return *offset % 256 == 0;
}

nino_tensor *nino_slice(nino_stream *s, nino_tensor *x, int axis, int64_t start, int64_t len)
{
    nino_op_call c = call1(NINO_OP_SLICE, x);
    const int rank = nino_shape_of(x)->rank;
    uint64_t offset;
    axis = axis < 0 ? axis + rank : axis;
    if (axis >= 0 && axis < rank && start == 0 && len == nino_dim(x, axis) && nino_stream_ok(s))
        return x; // all of it
    if (x && nino_stream_ok(s) && axis >= 0 && axis < rank && start >= 0 && len > 0 &&
        start <= nino_dim(x, axis) - len && is_piece(x, axis, start, &offset)) {
        nino_shape shape = x->shape;
        shape.dim[axis] = len;
        return nino_tensor_view(s, x, shape, offset);
    }
    c.d.attr.axis = axis;
    c.d.attr.start = start;
    if (axis >= 0 && axis < NINO_MAX_RANK)
        c.d.dst.dim[axis] = len;
    return nino_stream_run(s, &c);
}

nino_tensor *nino_own(nino_stream *s, nino_tensor *x)
{
    nino_op_call c = call1(NINO_OP_SLICE, x);
    if (!x || !x->is_view || nino_shape_count(&x->shape) == nino_shape_count(&x->base->shape))
        return x;
    c.d.dst.dim[0] = x->shape.dim[0];
    return nino_stream_run(s, &c);
}

nino_tensor *nino_permute(nino_stream *s, nino_tensor *x, const int *perm)
{
    nino_op_call c = call1(NINO_OP_PERMUTE, x);
    for (int i = 0; i < nino_shape_of(x)->rank; i++)
        c.d.attr.perm[i] = perm[i];
    return nino_stream_run(s, &c);
}

nino_tensor *nino_shuffle(nino_stream *s, nino_tensor *x, bool is_up, int fold_t, int fold_s,
                          int start, int64_t channels, nino_tensor *residual)
{
    nino_op_call c = call1(NINO_OP_SHUFFLE, x);
    c.d.has_residual = residual != NULL;
    if (residual)
        c.src[c.d.n_src++] = residual;
    c.d.attr.is_up = is_up;
    c.d.attr.fold_t = fold_t;
    c.d.attr.fold_s = fold_s;
    c.d.attr.start = start;
    c.d.dst.dim[3] = channels;
    return nino_stream_run(s, &c);
}

nino_tensor *nino_cast(nino_stream *s, nino_tensor *x, nino_dtype type)
{
    nino_op_call c = call1(NINO_OP_CAST, x);
    if (x && x->dtype == type && nino_stream_ok(s))
        return x;
    c.d.dst_type = type;
    return nino_stream_run(s, &c);
}

// ---- images ----------------------------------------------------------------------------------

nino_tensor *nino_resample(nino_stream *s, nino_tensor *x, int64_t h, int64_t w, nino_filter f)
{
    nino_op_call c = call1(NINO_OP_RESAMPLE, x);
    c.d.attr.filter = f;
    c.d.dst.dim[1] = h;
    c.d.dst.dim[2] = w;
    return nino_stream_run(s, &c);
}

nino_tensor *nino_blend(nino_stream *s, nino_tensor *canvas, nino_tensor *tile, int x0, int y0,
                        int feather_x, int feather_y, int sides)
{
    nino_op_call c = call2(NINO_OP_BLEND, canvas, tile);
    c.d.attr.x0 = x0;
    c.d.attr.y0 = y0;
    c.d.attr.feather_x = feather_x;
    c.d.attr.feather_y = feather_y;
    c.d.attr.sides = sides;
    return nino_stream_run(s, &c);
}

nino_tensor *nino_blend_div(nino_stream *s, nino_tensor *canvas)
{
    nino_op_call c = call1(NINO_OP_BLEND_DIV, canvas);
    return nino_stream_run(s, &c);
}

nino_tensor *nino_to_rgb8(nino_stream *s, nino_tensor *x)
{
    nino_op_call c = call1(NINO_OP_TO_RGB8, x);
    return nino_stream_run(s, &c);
}

nino_status nino_check_finite(nino_stream *s, nino_tensor *x, const char *what, nino_error *err)
{
    nino_op_call c = call1(NINO_OP_CHECK_FINITE, nino_ref(x));
    nino_tensor *n = nino_stream_run(s, &c);
    uint32_t bad = 0;
    nino_error e = { 0 };
    if (n && s->be->impl->download(s->be, &n->mem, &bad, sizeof(bad), &e))
        take_error(s, &e);
    if (bad && !s->err.code)
        nino_fail_kind(&s->err, NINO_ERR_RANGE, "nan", what, "%u of %lld values are not finite",
                       bad, (long long) nino_shape_count(&x->shape));
    nino_unref(n);
    return nino_stream_status(s, err);
}
