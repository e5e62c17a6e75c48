// CLIP's text transformer: CLIP-L (SD1, SDXL, SD3, Flux), CLIP-G (SDXL, SD3) and CLIP-H (SD2), with
// the names of Hugging Face or of OpenCLIP. Sizes come from tensor shapes.
// Sources: Radford et al. 2021; openai/CLIP model.py (network and OpenCLIP names), huggingface/
// transformers modeling_clip.py (the other names), ComfyUI clip_model.py (hidden states, pooling).
#include <stdio.h>

#include "core/model/clip/clip_block.h"
#include "core/model/clip/text_encoder.h"

typedef struct clip_net {
    int n_layers, heads;
    nino_norm final_norm;
    nino_linear projection; // of the pooled row; no weight: the file has none
    nino_clip_block layer[];
} clip_net;

// ---- forward ---------------------------------------------------------------------------------
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

static nino_encoder_out text_clip_forward(nino_stream *s, const nino_encoder *e,
                                          const nino_encoder_in *in)
{
    const clip_net *net = e->net;
    const int wanted = in->layer < 0 ? net->n_layers + in->layer + 1 : net->n_layers;
    const int last = in->pooled_row >= 0 ? net->n_layers : wanted; // nobody needs the rest
    nino_encoder_out out = { 0 };
    char stage[32];
    nino_tensor *x = nino_cast(s, in->x, nino_stream_act_type(s));
    for (int i = 0; i < last; i++) {
        snprintf(stage, sizeof(stage), "%s.%d", nino_encoder_names[e->id], i);
        nino_scope_begin(s, NINO_EV_STAGE, stage, 0, 0);
        x = nino_clip_block_run(s, &net->layer[i], net->heads, x, true);
        if (in->has_hidden && i + 1 == wanted)
            out.hidden = nino_ref(x);
        nino_scope_end(s);
    }
    if (out.hidden && in->is_normed)
        out.hidden = nino_layer_norm(s, out.hidden, &net->final_norm);
    if (in->pooled_row >= 0)
        out.pooled = pool(s, net, x, in->pooled_row, in->is_projected);
    else
        nino_unref(x);
    return out;
}

// ---- loading ---------------------------------------------------------------------------------
// What is called how, behind the file's prefix.
typedef struct names {
    const char *tokens, *positions, *final_norm, *blocks;
    const nino_clip_names *in_block;
} names;

static const names dialects[] = {
    { "text_model.embeddings.token_embedding.weight",
      "text_model.embeddings.position_embedding.weight", "text_model.final_layer_norm",
      "text_model.encoder.layers.", &nino_clip_names_hf },
    { "embeddings.token_embedding.weight", "embeddings.position_embedding.weight",
      "final_layer_norm", "encoder.layers.",
      &nino_clip_names_hf }, // first releases of transformers
    { "token_embedding.weight", "positional_embedding", "ln_final", "transformer.resblocks.",
      &nino_clip_names_open },
};

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
        nino_load_weight(l, (nino_weight_part){ .name = "text_projection.weight" }, NINO_W_MATRIX,
                         -1, e->width, false, &out->w);
    } else if (t->rank != 2 || t->dim[0] != e->width || t->dim[1] < 1) {
        nino_load_fail(l, NINO_ERR_FORMAT, "%s is not a matrix of %d rows", t->name, e->width);
    } else {
        nino_clip_load_turned(l, t, &out->w);
    }
    if (out->w)
        e->pooled_width = (int) out->w->n;
}

static const names *text_clip_find_names(const nino_encoder *e)
{
    for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++)
        if (nino_weights_find(e->file, nino_name_of("%s%s", e->prefix, dialects[i].tokens).s))
            return &dialects[i];
    return &dialects[0];
}

nino_status nino_text_clip_load(nino_encoder *e, nino_error *err)
{
    const names *n = text_clip_find_names(e);
    nino_loader l = { .file = e->file, .prefix = e->prefix, .layers = &e->layers, .err = err };
    nino_text_start(&l, e, n->tokens, n->blocks);
    e->max_len = (int) nino_text_table(&l, n->positions, e->width, &e->positions);
    const int heads = nino_load_heads(&l, e->width, nino_clip_heads(e->width));
    clip_net *net =
        nino_load_alloc(&l, 1, sizeof(*net) + (size_t) e->n_layers * sizeof(net->layer[0]));
    if (!net)
        return l.st;
    // OpenAI's own model is the one with the approximation
    const nino_act act = e->id == NINO_ENC_CLIP_L ? NINO_ACT_QUICK_GELU : NINO_ACT_GELU;
    net->n_layers = e->n_layers;
    net->heads = heads;
    e->net = net;
    e->forward = text_clip_forward;
    for (int i = 0; i < e->n_layers && !l.st; i++)
        nino_clip_block_load(&l, n->in_block, nino_name_of("%s%d.", n->blocks, i).s, e->width, act,
                             &net->layer[i]);
    nino_load_norm(&l, n->final_norm, e->width, 1, NINO_CLIP_EPS, &net->final_norm);
    get_projection(&l, e, &net->projection);
    snprintf(e->detail, sizeof(e->detail), "%s, %d layers, width %d", nino_encoder_titles[e->id],
             e->n_layers, e->width);
    return l.st;
}
