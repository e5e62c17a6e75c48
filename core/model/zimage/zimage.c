// The Z-Image transformer: one evaluation. Text and image are refined apart, then run through one
// stream of blocks together.
// Sources: Z-Image Team, Z-Image: An Efficient Image Generation Foundation Model with Single-Stream
// Diffusion Transformer (2025); Qin et al., Lumina-Image 2.0 (2025); padding, signs and the order of
// features as ComfyUI 0.29.0 ldm/lumina/model.py has them.
#include "core/model/zimage/zimage.h"

#include <stdio.h>

#define MULTIPLE 32 // of tokens, text and image each

static nino_tensor *zimage_stage(nino_stream *s, const zimage_run *r, const char *what, int i,
                                 const zimage_blocks *list, nino_tensor *x)
{
    char stage[32];
    snprintf(stage, sizeof(stage), "zimage.%s.%d", what, i);
    nino_scope_begin(s, NINO_EV_STAGE, stage, 0, 0);
    x = zimage_run_block(s, r, &list->block[i], x);
    nino_scope_end(s);
    return x;
}

// ---- tokens ----------------------------------------------------------------------------------
static int64_t zimage_missing(const nino_array *pad, int64_t n)
{
    return pad ? (MULTIPLE - n % MULTIPLE) % MULTIPLE : 0;
}

// Copies of the padding behind x [B,T,width].
static nino_tensor *zimage_pad(nino_stream *s, nino_tensor *x, const nino_array *pad, int64_t n)
{
    if (!n)
        return x;
    nino_tensor *p = nino_upload(s, pad, nino_stream_act_type(s));
    p = nino_add(
        s, nino_zeros(s, NINO_SHAPE(nino_dim(x, 0), n, pad->shape.dim[2]), nino_stream_act_type(s)),
        nino_reshape(s, p, NINO_SHAPE(1, pad->shape.dim[2])));
    return nino_concat(s, x, p, 1);
}

nino_tensor *zimage_to_tokens(nino_stream *s, nino_tensor *x)
{
    const int64_t n = nino_dim(x, 0), h = nino_dim(x, 1) / 2, w = nino_dim(x, 2) / 2;
    const int64_t c = nino_dim(x, 3);
    x = nino_reshape(s, x, NINO_SHAPE(n * h, 2, w, 2, c));
    x = nino_permute(s, x, (const int[]){ 0, 2, 1, 3, 4 });
    return nino_reshape(s, x, NINO_SHAPE(n, h * w, 4 * c));
}

// The text is a line on the first axis; the image lies at its end, on the other two; its padding is
// at the origin.
nino_array *zimage_rope_make(const void *key)
{
    static const double origin[3];
    const zimage_rope *r = key;
    const int64_t side = r->depth * 3 / 8;
    const nino_rope_axes axes = { 256, 3, { r->depth - 2 * side, side, side } };
    const int64_t tokens = r->text + r->h * r->w + r->pad;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(tokens, r->depth));
    if (!a)
        return NULL;
    float *to = nino_array_f32(a);
    for (int64_t i = 0; i < r->text; i++)
        to = nino_rope_put(to, &axes, (const double[3]){ (double) (i + 1), 0, 0 });
    for (int64_t y = 0; y < r->h; y++)
        for (int64_t x = 0; x < r->w; x++)
            to = nino_rope_put(to, &axes,
                               (const double[3]){ (double) (r->text + 1), (double) y, (double) x });
    for (int64_t i = 0; i < r->pad; i++)
        to = nino_rope_put(to, &axes, origin);
    return a;
}

// ---- the whole -------------------------------------------------------------------------------
// It was trained with time that grows as noise goes.
static nino_tensor *zimage_time(nino_stream *s, const zimage *net, const float *sigma, int64_t n)
{
    nino_array *t = nino_array_create(NINO_F32, NINO_SHAPE(n));
    if (!t)
        return nino_stream_fail(s, NINO_ERR_NOMEM, "model", "no memory for the time steps");
    for (int64_t i = 0; i < n; i++)
        nino_array_f32(t)[i] = 1 - sigma[i];
    nino_tensor *x = nino_dit_sinusoid(s, nino_array_f32(t), n, 1, 1000);
    nino_array_unref(&t);
    return nino_linear_op(s, nino_linear_op(s, x, &net->time_in), &net->time_out);
}

static nino_tensor *zimage_read_text(nino_stream *s, zimage_run *r, nino_tensor *context,
                                     int64_t missing, nino_tensor *table, int64_t tokens)
{
    const zimage *net = r->net;
    nino_tensor *x = nino_linear_op(s, nino_rms_norm(s, context, &net->cap_norm), &net->cap);
    x = zimage_pad(s, x, net->cap_pad, missing);
    r->table = nino_slice(s, table, 0, 0, tokens);
    for (int i = 0; i < net->context_refiner.n; i++)
        x = zimage_stage(s, r, "text", i, &net->context_refiner, x);
    nino_unref(r->table);
    return x;
}

// Nothing in it depends on the time: a run reads its texts once.
static nino_tensor *zimage_text(nino_stream *s, zimage_run *r, const nino_forward *f,
                                int64_t missing, nino_tensor *table, int64_t tokens)
{
    nino_tensor **kept = nino_kept_at(s, f->text, 0, 1);
    if (kept && *kept) {
        nino_unref(f->context);
        nino_unref(table);
        return nino_ref(*kept);
    }
    nino_tensor *x = zimage_read_text(s, r, f->context, missing, table, tokens);
    if (kept)
        *kept = nino_ref(x);
    return x;
}

static nino_tensor *zimage_read_image(nino_stream *s, zimage_run *r, nino_tensor *x,
                                      int64_t missing, nino_tensor *table, int64_t after)
{
    const zimage *net = r->net;
    x = nino_linear_op(s, zimage_to_tokens(s, nino_dit_even(s, x)), &net->x);
    x = zimage_pad(s, x, net->x_pad, missing);
    r->table = nino_slice(s, table, 0, after, nino_dim(x, 1));
    zimage_control_begin(s, r, x, nino_dim(x, 1) - missing, r->table);
    for (int i = 0; i < net->noise_refiner.n; i++)
        x = zimage_control_refine(s, r, i, zimage_stage(s, r, "image", i, &net->noise_refiner, x));
    zimage_control_refined(s, r, x);
    nino_unref(r->table);
    return x;
}

// x: the text's tokens, `after` of them, and the image's.
static nino_tensor *zimage_read_both(nino_stream *s, const zimage_run *r, nino_tensor *x,
                                     int64_t after)
{
    for (int i = 0; i < r->net->layers.n; i++)
        x = zimage_control_add(s, r, i, zimage_stage(s, r, "layer", i, &r->net->layers, x), after);
    return x;
}

// LN(x) * (1 + scale) to features
static nino_tensor *zimage_out(nino_stream *s, const zimage_run *r, nino_tensor *x)
{
    const zimage *net = r->net;
    nino_tensor *scale =
        nino_linear_op(s, nino_act_op(s, nino_ref(r->time), NINO_ACT_SILU), &net->final_scale);
    nino_tensor *none = nino_zeros(s, *nino_shape_of(scale), nino_stream_act_type(s));
    return nino_linear_op(s, nino_layer_norm_mod(s, x, &net->final_norm, scale, none), &net->final);
}

nino_tensor *zimage_forward(nino_stream *s, const nino_diffusion *d, nino_forward *f)
{
    zimage *net = d->net;
    nino_forward_check(s, d, f);
    const nino_shape shape = *nino_shape_of(f->x);
    const int64_t had = nino_dim(f->context, 1), more = zimage_missing(net->cap_pad, had);
    zimage_rope key = { .text = had + more, .depth = net->depth };
    key.h = (nino_dim(f->x, 1) + 1) / 2;
    key.w = (nino_dim(f->x, 2) + 1) / 2;
    key.pad = zimage_missing(net->x_pad, key.h * key.w);
    zimage_control_run control = { .f = f };
    zimage_run r = { .net = net, .control = &control };
    nino_scope_begin(s, NINO_EV_STAGE, "zimage.in", 0, 0);
    r.time = zimage_time(s, net, f->timestep, shape.dim[0]);
    nino_tensor *table = nino_rope_upload(s, &net->rope, &key, sizeof(key), zimage_rope_make);
    nino_scope_end(s);
    nino_tensor *text = zimage_text(s, &r, f, more, nino_ref(table), key.text);
    nino_tensor *image = zimage_read_image(s, &r, f->x, key.pad, nino_ref(table), key.text);
    r.table = table;
    nino_tensor *x = zimage_read_both(s, &r, nino_concat(s, text, image, 1), key.text);
    zimage_control_end(&r);
    nino_scope_begin(s, NINO_EV_STAGE, "zimage.out", 0, 0);
    x = nino_slice(s, x, 1, key.text, key.h * key.w); // the image alone
    x = nino_dit_picture_by_cell(s, zimage_out(s, &r, x), 2, shape.dim[1], shape.dim[2]);
    x = nino_scale(s, x, -1, 0); // towards the noise, as samplers have it
    nino_scope_end(s);
    nino_unref(r.time);
    nino_unref(r.table);
    nino_unref(f->y);
    return x;
}

void zimage_destroy(nino_diffusion *d) { nino_rope_cache_release(&((zimage *) d->net)->rope); }
