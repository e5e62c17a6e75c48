// The transformer block of CLIP's networks: pre-norm, biases everywhere.
// Sources: Radford et al. 2021; openai/CLIP model.py (network and OpenCLIP names), huggingface/
// transformers modeling_clip.py (the other names).
#include "core/model/clip/clip_block.h"

#include "core/model/clip/text_encoder.h"

const nino_clip_names nino_clip_names_hf = {
    "layer_norm1",        "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
    "self_attn.out_proj", "layer_norm2",      "mlp.fc1",          "mlp.fc2"
};
const nino_clip_names nino_clip_names_open = { "ln_1",          NULL,   NULL,       NULL,
                                               "attn.out_proj", "ln_2", "mlp.c_fc", "mlp.c_proj" };

nino_tensor *nino_clip_block_run(nino_stream *s, const nino_clip_block *w, int heads,
                                 nino_tensor *x, bool is_causal)
{
    nino_tensor *t = nino_layer_norm(s, nino_ref(x), &w->norm1);
    nino_tensor *q = nino_linear_op(s, nino_ref(t), &w->q);
    nino_tensor *k = nino_linear_op(s, nino_ref(t), &w->k);
    nino_tensor *v = nino_linear_op(s, t, &w->v);
    t = is_causal ? nino_attention_causal(s, q, k, v, heads, NULL)
                  : nino_attention(s, q, k, v, heads, 0);
    x = nino_linear_add(s, t, &w->out, x);
    t = nino_layer_norm(s, nino_ref(x), &w->norm2);
    t = nino_linear_op(s, t, &w->fc1);
    return nino_linear_add(s, t, &w->fc2, x);
}

// OpenCLIP stacks the three: rows 0, width and 2 width of attn.in_proj.
static void load_stacked(nino_loader *l, const char *stem, int i, int64_t width, nino_linear *out)
{
    const nino_name w = nino_name_of("%sattn.in_proj_weight", stem);
    const nino_name b = nino_name_of("%sattn.in_proj_bias", stem);
    const nino_weight_part rows = { .name = w.s, .row0 = i * width, .rows = width };
    const nino_weight_part bias = { .name = b.s, .row0 = i * width, .rows = width };
    nino_load_weight(l, rows, NINO_W_MATRIX, width, width, true, &out->w);
    nino_load_weight(l, bias, NINO_W_VECTOR, width, -1, false, &out->b);
}

void nino_clip_block_load(nino_loader *l, const nino_clip_names *n, const char *stem, int64_t width,
                          nino_act act, nino_clip_block *out)
{
    nino_load_norm(l, nino_name_of("%s%s", stem, n->norm1).s, width, 1, NINO_CLIP_EPS, &out->norm1);
    if (n->q) {
        nino_text_linear(l, stem, n->q, width, width, &out->q);
        nino_text_linear(l, stem, n->k, width, width, &out->k);
        nino_text_linear(l, stem, n->v, width, width, &out->v);
    } else {
        load_stacked(l, stem, 0, width, &out->q);
        load_stacked(l, stem, 1, width, &out->k);
        load_stacked(l, stem, 2, width, &out->v);
    }
    nino_text_linear(l, stem, n->out, width, width, &out->out);
    nino_load_norm(l, nino_name_of("%s%s", stem, n->norm2).s, width, 1, NINO_CLIP_EPS, &out->norm2);
    nino_text_linear(l, stem, n->fc1, -1, width, &out->fc1);
    nino_text_linear(l, stem, n->fc2, width, nino_load_rows(l, out->fc1.w), &out->fc2);
    out->fc1.act = act;
}

// Every released text network has heads of 64; other widths (of networks made for tests) have four.
int nino_clip_heads(int width) { return width % 64 ? 4 : width / 64; }

static nino_array *turned(const nino_array *a)
{
    const int64_t rows = a->shape.dim[0], cols = a->shape.dim[1];
    nino_array *t = nino_array_create(NINO_F32, NINO_SHAPE(cols, rows));
    for (int64_t i = 0; t && i < rows * cols; i++)
        nino_array_f32(t)[i % cols * rows + i / cols] = nino_array_f32(a)[i];
    return t;
}

void nino_clip_load_turned(nino_loader *l, const nino_tensor_info *t, nino_weight **out)
{
    nino_array *a = nino_load_values(l, t), *b = a ? turned(a) : NULL;
    nino_load_made(l, b, NINO_W_MATRIX, out);
    nino_array_unref(&a);
    nino_array_unref(&b);
}
