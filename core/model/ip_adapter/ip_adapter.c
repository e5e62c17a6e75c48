// IP-Adapter at work: a picture's states become tokens, and cross-attentions look at those too.
// Source: Ye et al., IP-Adapter (2023); weights, masks and scalings as ComfyUI_IPAdapter_plus has
// them.
#include "core/model/ip_adapter/ip_adapter_priv.h"

#include <math.h>
#include <string.h>

#include "core/base/error.h"

// ---- tokens ----------------------------------------------------------------------------------

static nino_tensor *run_block(nino_stream *s, const ip_block *b, nino_tensor *states,
                              nino_tensor *x)
{
    nino_tensor *tokens = nino_layer_norm(s, nino_ref(x), &b->norm_tokens);
    nino_tensor *from = nino_layer_norm(s, nino_ref(states), &b->norm_states);
    nino_tensor *q = nino_linear_op(s, nino_ref(tokens), &b->q);
    from = nino_concat(s, from, tokens, 1);
    nino_tensor *k = nino_linear_op(s, nino_ref(from), &b->k);
    nino_tensor *v = nino_linear_op(s, from, &b->v);
    x = nino_linear_add(s, nino_attention(s, q, k, v, b->heads, 0), &b->o, x);
    nino_tensor *h = nino_layer_norm(s, nino_ref(x), &b->norm_ff);
    return nino_linear_add(s, nino_linear_op(s, h, &b->up), &b->down, x);
}

// The same queries for each of n pictures.
static nino_tensor *ip_queries(nino_stream *s, const ip_projection *p, int64_t n)
{
    const nino_shape *d = &p->queries->shape;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, d->dim[1], d->dim[2]));
    if (!a)
        return nino_stream_fail(s, NINO_ERR_NOMEM, "ipadapter", "no memory for a picture");
    for (int64_t i = 0; i < n; i++)
        memcpy((char *) a->data + (size_t) i * p->queries->bytes, p->queries->data,
               p->queries->bytes);
    nino_tensor *t = nino_upload(s, a, nino_stream_act_type(s));
    nino_array_unref(&a);
    return t;
}

nino_status nino_ip_adapter_tokens(nino_stream *s, const nino_ip_adapter *a,
                                   const nino_array *states, nino_array **out, nino_error *err)
{
    const ip_projection *p = a->projection;
    const int rank = a->kind == NINO_IP_PLAIN ? 2 : 3;
    const int64_t n = states->shape.dim[0];
    *out = NULL;
    if (states->shape.rank != rank || states->shape.dim[rank - 1] != a->in)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "model", a->name,
                              "it is for vision networks of width %d, not %lld: another CLIP "
                              "vision model belongs to it",
                              a->in, (long long) states->shape.dim[states->shape.rank - 1]);
    nino_scope_begin(s, NINO_EV_STAGE, "ipadapter.tokens", 0, 0);
    nino_tensor *x = nino_linear_op(s, nino_upload(s, states, nino_stream_act_type(s)), &p->in);
    if (a->kind == NINO_IP_PLAIN)
        x = nino_reshape(s, x, NINO_SHAPE(n, p->in.w->n / a->out, a->out));
    if (a->kind == NINO_IP_PLUS) {
        nino_tensor *tokens = ip_queries(s, p, n);
        for (int i = 0; i < p->n_blocks; i++)
            tokens = run_block(s, &p->block[i], x, tokens);
        nino_unref(x);
        x = tokens;
    }
    if (p->out.w)
        x = nino_linear_op(s, x, &p->out);
    x = nino_layer_norm(s, x, &p->norm);
    *out = nino_download(s, x, NINO_F32);
    nino_scope_end(s);
    return nino_stream_status(s, err);
}

// ---- in a network ----------------------------------------------------------------------------

// A row of the batch has the picture, or its opposite where it is of the negative side.
static nino_tensor *upload_tokens(nino_stream *s, const nino_image_prompt *p, const nino_pass *pass,
                                  int64_t batch)
{
    const nino_shape *d = &p->positive->shape;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(batch, d->dim[1], d->dim[2]));
    if (!a)
        return nino_stream_fail(s, NINO_ERR_NOMEM, p->adapter->name, "no memory for its tokens");
    for (int64_t i = 0; i < batch; i++) {
        const bool is_negative = pass->negative && i < pass->n_rows && pass->negative[i];
        memcpy((char *) a->data + (size_t) i * p->positive->bytes,
               is_negative ? p->negative->data : p->positive->data, p->positive->bytes);
    }
    nino_tensor *t = nino_upload(s, a, nino_stream_act_type(s));
    nino_array_unref(&a);
    return t;
}

void nino_ip_begin(nino_stream *s, nino_ip_run *r, const nino_pass *pass, int64_t batch,
                   int64_t height, int64_t width, int n_layers, int64_t context)
{
    *r = (nino_ip_run){ .height = height, .width = width, .images = pass ? pass->images : 0 };
    for (const nino_patch *p = NULL; (p = nino_pass_next(pass, NINO_PATCH_IMAGE_PROMPT, p));) {
        const nino_ip_adapter *a = p->image->adapter;
        if (a->n_layers != n_layers || a->out != context) {
            nino_stream_fail(s, NINO_ERR_ARG, a->name,
                             "this IP-Adapter is for a UNet of %d cross-attentions and prompts of "
                             "width %d, the model has %d and %lld",
                             a->n_layers, a->out, n_layers, (long long) context);
            return;
        }
        if (r->n == NINO_IP_PICTURES) {
            nino_stream_fail(s, NINO_ERR_UNSUPPORTED, a->name, "more than %d IP-Adapters at once",
                             NINO_IP_PICTURES);
            return;
        }
        r->picture[r->n].image = p->image;
        r->picture[r->n++].tokens = upload_tokens(s, p->image, pass, batch);
    }
}

void nino_ip_end(nino_ip_run *r)
{
    for (int i = 0; i < r->n; i++) {
        nino_unref(r->picture[i].tokens);
        for (int k = 0; k < r->picture[i].n_masks; k++)
            nino_unref(r->picture[i].mask[k].gate);
    }
    r->n = 0;
}

// ---- masks -----------------------------------------------------------------------------------

// Bilinear, as torch's interpolate with half-pixel centres.
static float mask_value(const nino_array *m, int64_t n, double y, double x)
{
    const int64_t h = m->shape.dim[1], w = m->shape.dim[2];
    const float *v = nino_array_f32(m) + n * h * w;
    y = fmax(y, 0);
    x = fmax(x, 0);
    const int64_t y0 = (int64_t) y < h - 1 ? (int64_t) y : h - 1;
    const int64_t x0 = (int64_t) x < w - 1 ? (int64_t) x : w - 1;
    const int64_t y1 = y0 + 1 < h ? y0 + 1 : y0, x1 = x0 + 1 < w ? x0 + 1 : x0;
    const float fy = (float) (y - (double) y0), fx = (float) (x - (double) x0);
    const float top = v[y0 * w + x0] * (1 - fx) + v[y0 * w + x1] * fx;
    const float low = v[y1 * w + x0] * (1 - fx) + v[y1 * w + x1] * fx;
    return top * (1 - fy) + low * fy;
}

// [B,T,C] of a mask over the T cells of a layer: its rows and columns follow from the latent's.
static nino_tensor *make_gate(nino_stream *s, const nino_ip_run *r, const nino_array *m,
                              int64_t batch, int64_t tokens, int64_t channels)
{
    const double rows =
        (double) r->height / sqrt((double) r->height * (double) r->width / (double) tokens);
    const int64_t whole = (int64_t) rows > 0 ? (int64_t) rows : 1;
    const int64_t h = whole + (tokens % whole != 0), w = tokens / h;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(batch, tokens, channels));
    if (!a)
        return nino_stream_fail(s, NINO_ERR_NOMEM, "attn_mask", "no memory for a mask");
    const double fy = (double) m->shape.dim[1] / (double) h;
    const double fx = w ? (double) m->shape.dim[2] / (double) w : 0;
    for (int64_t b = 0; b < batch; b++)
        for (int64_t t = 0; t < h * w && t < tokens; t++) {
            const int64_t i = r->images ? b % r->images : b;
            const int64_t n = i < m->shape.dim[0] ? i : m->shape.dim[0] - 1;
            const int64_t y = t / w, x = t % w;
            const float v =
                mask_value(m, n, ((double) y + 0.5) * fy - 0.5, ((double) x + 0.5) * fx - 0.5);
            for (int64_t c = 0; c < channels; c++)
                nino_array_f32(a)[(b * tokens + t) * channels + c] = v;
        }
    nino_tensor *t = nino_upload(s, a, nino_stream_act_type(s));
    nino_array_unref(&a);
    return t;
}

// Borrowed.
static nino_tensor *ip_gate(nino_stream *s, nino_ip_run *r, int i, const nino_tensor *q)
{
    const int64_t tokens = nino_dim(q, 1), channels = nino_dim(q, 2);
    nino_ip_masks *m = r->picture[i].mask;
    for (int k = 0; k < r->picture[i].n_masks; k++)
        if (m[k].tokens == tokens && m[k].channels == channels)
            return m[k].gate;
    if (nino_stream_status(s, NULL))
        return NULL;
    if (r->picture[i].n_masks == NINO_IP_SIZES)
        return nino_stream_fail(s, NINO_ERR_UNSUPPORTED, "attn_mask",
                                "a UNet of more than %d sizes is not known", NINO_IP_SIZES);
    m += r->picture[i].n_masks++;
    *m = (nino_ip_masks){ .tokens = tokens, .channels = channels };
    m->gate = make_gate(s, r, r->picture[i].image->mask, nino_dim(q, 0), tokens, channels);
    return m->gate;
}

// ---- attention -------------------------------------------------------------------------------

// The mean over tokens of v [B,T,C], for each of them: queries of zero look at all alike.
static nino_tensor *ip_mean(nino_stream *s, nino_tensor *v)
{
    nino_tensor *zero = nino_zeros(s, *nino_shape_of(v), nino_dtype_of(v));
    return nino_attention(s, zero, nino_ref(v), v, 1, 0);
}

static void scale_kv(nino_stream *s, nino_ip_scaling how, float weight, nino_tensor **k,
                     nino_tensor **v)
{
    if (how == NINO_IP_KV_C || how == NINO_IP_KMEANV_C)
        weight *= (float) nino_dim(*k, 2) / 1280.0f;
    *k = nino_scale(s, *k, weight, 0);
    if (how != NINO_IP_KMEANV_C) {
        *v = nino_scale(s, *v, weight, 0);
        return;
    }
    nino_tensor *mean = ip_mean(s, nino_ref(*v)); // v - mean + weight mean
    *v = nino_add(s, *v, nino_scale(s, mean, weight - 1, 0));
}

nino_tensor *nino_ip_attend(nino_stream *s, nino_ip_run *r, nino_tensor *q, nino_tensor *out,
                            int heads, int layer, int transformer)
{
    for (int i = 0; i < r->n; i++) {
        const nino_image_prompt *p = r->picture[i].image;
        const nino_ip_layer *l = &p->adapter->layer[layer];
        const float weight = transformer < p->n_weights ? (float) p->weight[transformer] : 0;
        if (weight == 0)
            continue;
        nino_tensor *k = nino_linear_op(s, nino_ref(r->picture[i].tokens), &l->k);
        nino_tensor *v = nino_linear_op(s, nino_ref(r->picture[i].tokens), &l->v);
        if (p->scaling != NINO_IP_V)
            scale_kv(s, p->scaling, weight, &k, &v);
        nino_tensor *found = nino_attention(s, nino_ref(q), k, v, heads, 0);
        if (p->scaling == NINO_IP_V)
            found = nino_scale(s, found, weight, 0);
        out = p->mask ? nino_gate_add(s, out, found, nino_ref(ip_gate(s, r, i, q)))
                      : nino_add(s, out, found);
    }
    return out;
}
