// CLIP's text transformer: CLIP-L (SD1, SDXL, SD3, Flux), CLIP-G (SDXL, SD3) and CLIP-H (SD2), with
// the names of Hugging Face or of OpenCLIP. Sizes come from tensor shapes.
// Sources: Radford et al. 2021; openai/CLIP model.py (network and OpenCLIP names), huggingface/
// transformers modeling_clip.py (the other names), ComfyUI clip_model.py (hidden states, pooling).
#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/model/text_encoder.h"

#define NORM_EPS 1e-5f

typedef struct block {
    nino_norm norm1, norm2;
    nino_linear q, k, v, out;
    nino_linear fc1, fc2; // fc1 with the activation
} block;

typedef struct clip_net {
    int n_layers, heads;
    nino_norm final_norm;
    nino_linear projection; // of the pooled row; no weight: the file has none
    block layer[];
} clip_net;

// ---- forward ---------------------------------------------------------------------------------
// [1,1,T,T]: a position sees itself and what is before it.
static nino_tensor *causal_mask(nino_stream *s, int64_t len)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, 1, len, len));
    if (!a)
        return nino_stream_fail(s, NINO_ERR_NOMEM, "clip", "out of memory");
    for (int64_t q = 0; q < len; q++)
        for (int64_t k = q + 1; k < len; k++)
            nino_array_f32(a)[q * len + k] = -FLT_MAX;
    nino_tensor *t = nino_upload(s, a, NINO_F32);
    nino_array_unref(&a);
    return t;
}

static nino_tensor *run_block(nino_stream *s, const block *w, int heads, nino_tensor *x,
                              nino_tensor *mask)
{
    nino_tensor *t = nino_layer_norm(s, nino_ref(x), &w->norm1);
    nino_tensor *q = nino_linear_op(s, nino_ref(t), &w->q);
    nino_tensor *k = nino_linear_op(s, nino_ref(t), &w->k);
    nino_tensor *v = nino_linear_op(s, t, &w->v);
    t = nino_attention_bias(s, q, k, v, heads, 0, nino_ref(mask));
    x = nino_linear_add(s, t, &w->out, x);
    t = nino_layer_norm(s, nino_ref(x), &w->norm2);
    t = nino_linear_op(s, t, &w->fc1);
    return nino_linear_add(s, t, &w->fc2, x);
}

// The last state of one position of sequence 0 -> [1,width].
static nino_tensor *pool(nino_stream *s, const clip_net *net, nino_tensor *x, int row,
                         bool is_projected)
{
    const int64_t width = nino_dim(x, -1);
    x = nino_slice(s, x, 0, 0, 1);
    x = nino_slice(s, x, 1, row, 1);
    x = nino_reshape(s, x, NINO_SHAPE(1, width));
    x = nino_layer_norm(s, x, &net->final_norm);
    return is_projected && net->projection.w ? nino_linear_op(s, x, &net->projection) : x;
}

static nino_encoder_out forward(nino_stream *s, const nino_encoder *e, const nino_encoder_in *in)
{
    const clip_net *net = e->net;
    const int wanted = in->layer < 0 ? net->n_layers + in->layer + 1 : net->n_layers;
    const int last = in->pooled_row >= 0 ? net->n_layers : wanted; // nobody needs the rest
    nino_encoder_out out = { 0 };
    char stage[32];
    nino_tensor *mask = causal_mask(s, nino_dim(in->x, 1));
    nino_tensor *x = nino_cast(s, in->x, nino_stream_act_type(s));
    for (int i = 0; i < last; i++) {
        snprintf(stage, sizeof(stage), "%s.%d", nino_encoder_names[e->id], i);
        nino_scope_begin(s, NINO_EV_STAGE, stage, 0, 0);
        x = run_block(s, &net->layer[i], net->heads, x, mask);
        if (in->has_hidden && i + 1 == wanted)
            out.hidden = nino_ref(x);
        nino_scope_end(s);
    }
    nino_unref(mask);
    if (out.hidden && in->is_normed)
        out.hidden = nino_layer_norm(s, out.hidden, &net->final_norm);
    if (in->pooled_row >= 0)
        out.pooled = pool(s, net, x, in->pooled_row, in->is_projected);
    else
        nino_unref(x);
    return out;
}

// ---- loading ---------------------------------------------------------------------------------
// What is called how, behind the file's prefix; block N is blocks + "N." + one of the last.
typedef struct names {
    const char *tokens, *positions, *final_norm, *blocks;
    const char *norm1, *q, *k, *v, *out, *norm2, *fc1, *fc2;
} names;

#define HF_NAMES(base)                                                                             \
    base "embeddings.token_embedding.weight", base "embeddings.position_embedding.weight",         \
        base "final_layer_norm", base "encoder.layers.", "layer_norm1", "self_attn.q_proj",        \
        "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj", "layer_norm2", "mlp.fc1",    \
        "mlp.fc2"
static const names dialects[] = {
    { HF_NAMES("text_model.") },
    { HF_NAMES("") }, // the first releases of transformers
    { "token_embedding.weight", "positional_embedding", "ln_final", "transformer.resblocks.",
      "ln_1", NULL, NULL, NULL, "attn.out_proj", "ln_2", "mlp.c_fc", "mlp.c_proj" }, // OpenCLIP
};

// OpenCLIP stacks the three: rows 0, width and 2 width of attn.in_proj.
static void get_stacked(nino_loader *l, const char *stem, int i, int64_t width, nino_linear *out)
{
    const nino_name w = nino_name_of("%sattn.in_proj_weight", stem);
    const nino_name b = nino_name_of("%sattn.in_proj_bias", stem);
    const nino_weight_part rows = { .name = w.s, .row0 = i * width, .rows = width };
    const nino_weight_part bias = { .name = b.s, .row0 = i * width, .rows = width };
    if (!l->st)
        l->st = nino_weight_get_parts(l->file, l->prefix, &rows, 1, NINO_W_MATRIX, width, width,
                                      true, &out->w, l->err);
    if (!l->st)
        l->st = nino_weight_get_parts(l->file, l->prefix, &bias, 1, NINO_W_VECTOR, width, -1, false,
                                      &out->b, l->err);
}

static void get_block(nino_loader *l, const nino_encoder *e, const names *n, int i, block *out)
{
    const int64_t width = e->width;
    const nino_name stem = nino_name_of("%s%d.", n->blocks, i);
    nino_load_norm(l, nino_name_of("%s%s", stem.s, n->norm1).s, width, 1, NORM_EPS, &out->norm1);
    if (n->q) {
        nino_text_linear(l, stem.s, n->q, width, width, &out->q);
        nino_text_linear(l, stem.s, n->k, width, width, &out->k);
        nino_text_linear(l, stem.s, n->v, width, width, &out->v);
    } else {
        get_stacked(l, stem.s, 0, width, &out->q);
        get_stacked(l, stem.s, 1, width, &out->k);
        get_stacked(l, stem.s, 2, width, &out->v);
    }
    nino_text_linear(l, stem.s, n->out, width, width, &out->out);
    nino_load_norm(l, nino_name_of("%s%s", stem.s, n->norm2).s, width, 1, NORM_EPS, &out->norm2);
    nino_text_linear(l, stem.s, n->fc1, -1, width, &out->fc1);
    nino_text_linear(l, stem.s, n->fc2, width, nino_load_rows(l, out->fc1.w), &out->fc2);
    // OpenAI's own model is the one with the approximation
    out->fc1.act = e->id == NINO_ENC_CLIP_L ? NINO_ACT_QUICK_GELU : NINO_ACT_GELU;
}

// [width,proj] -> [proj,width]
static nino_weight *transposed(nino_array *a)
{
    const int64_t rows = a->shape.dim[0], cols = a->shape.dim[1];
    nino_array *t = nino_array_create(NINO_F32, NINO_SHAPE(cols, rows));
    nino_weight *w = NULL;
    for (int64_t i = 0; t && i < rows * cols; i++)
        nino_array_f32(t)[i % cols * rows + i / cols] = nino_array_f32(a)[i];
    if (t)
        w = nino_weight_from_array(t, NINO_W_MATRIX);
    nino_array_unref(&t);
    return w;
}

// "text_projection.weight" is a linear layer; "text_projection" alone is the matrix as OpenCLIP
// multiplies by it, the other way round. Most CLIP-L files have none: pooled stays as it is.
static void get_projection(nino_loader *l, nino_encoder *e, nino_linear *out)
{
    const nino_tensor_info *t =
        nino_weights_find(e->file, nino_name_of("%stext_projection", e->prefix).s);
    if (l->st)
        return;
    e->pooled_width = e->width;
    if (!t) {
        l->st = nino_weight_get(e->file, e->prefix, "text_projection.weight", NINO_W_MATRIX, -1,
                                e->width, false, &out->w, l->err);
    } else if (t->rank != 2 || t->dim[0] != e->width || t->dim[1] < 1) {
        nino_load_fail(l, NINO_ERR_FORMAT, "%s is not a matrix of %d rows", t->name, e->width);
    } else {
        nino_array *a = nino_weights_read_f32(e->file, t, l->err);
        out->w = a ? transposed(a) : NULL;
        if (!a)
            l->st = l->err && l->err->code ? l->err->code : NINO_ERR_IO;
        else if (!out->w)
            l->st = nino_fail(l->err, NINO_ERR_NOMEM, t->name, "out of memory");
        nino_array_unref(&a);
    }
    if (out->w)
        e->pooled_width = (int) out->w->n;
}

static void destroy(nino_encoder *e)
{
    clip_net *net = e->net;
    for (int i = 0; i < net->n_layers; i++) {
        block *w = &net->layer[i];
        nino_norm_release(&w->norm1);
        nino_norm_release(&w->norm2);
        nino_linear *const all[] = { &w->q, &w->k, &w->v, &w->out, &w->fc1, &w->fc2 };
        for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
            nino_linear_release(all[k]);
    }
    nino_norm_release(&net->final_norm);
    nino_linear_release(&net->projection);
    free(net);
}

static const names *find_names(const nino_encoder *e)
{
    for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++)
        if (nino_weights_find(e->file, nino_name_of("%s%s", e->prefix, dialects[i].tokens).s))
            return &dialects[i];
    return &dialects[0];
}

// Every released CLIP has heads of 64; the file does not say. Networks too narrow for four of those
// (made for tests) have four.
static int heads_of(int width) { return width < 4 * 64 ? 4 : width / 64; }

nino_status nino_text_clip_load(nino_encoder *e, nino_error *err)
{
    const names *n = find_names(e);
    nino_loader l = { .file = e->file, .prefix = e->prefix, .err = err };
    nino_text_start(&l, e, n->tokens, n->blocks);
    e->max_len = (int) nino_text_table(&l, n->positions, e->width, &e->positions);
    const int heads = heads_of(e->width);
    if (e->width % heads)
        nino_load_fail(&l, NINO_ERR_FORMAT, "a CLIP of width %d does not divide into %d heads",
                       e->width, heads);
    if (l.st)
        return l.st;
    clip_net *net = calloc(1, sizeof(*net) + (size_t) e->n_layers * sizeof(net->layer[0]));
    if (!net)
        return nino_fail(err, NINO_ERR_NOMEM, nino_weights_path(e->file), "out of memory");
    net->n_layers = e->n_layers;
    net->heads = heads;
    e->net = net;
    e->forward = forward;
    e->destroy = destroy;
    for (int i = 0; i < e->n_layers && !l.st; i++)
        get_block(&l, e, n, i, &net->layer[i]);
    nino_load_norm(&l, n->final_norm, e->width, 1, NORM_EPS, &net->final_norm);
    get_projection(&l, e, &net->projection);
    snprintf(e->detail, sizeof(e->detail), "%s, %d layers, width %d", nino_encoder_titles[e->id],
             e->n_layers, e->width);
    return l.st;
}
