// Text encoders with random weights: a CLIP in the names of Hugging Face or of OpenCLIP (the same
// numbers), a T5; and CLIP's vision networks. Token ids are those of tests/text.h's tokenizers, so
// nothing else is needed.
#pragma once
#include "tests/clip.h"
#include "tests/random_vae.h"
#include "tests/text.h"

#define RANDOM_TEXT_VOCAB 49408 // CLIP's

typedef struct random_text {
    const char *prefix;
    int width, layers, mlp, positions;
    bool is_open;         // OpenCLIP names: q, k and v stacked, the projection the other way round
    bool has_projection;  // CLIP
    int projection;       // its width; 0: as wide as the network
    bool is_t5, is_umt5;  // UMT5: positions in every layer
    bool is_relu;         // T5: not gated
    int heads;            // T5
    bool is_embed_tokens; // T5: the other name of the token embedding
    int vocab;            // 0: RANDOM_TEXT_VOCAB
    int patch, side;      // a vision network: pixels of a patch, patches along a side
    bool is_siglip;       // without class token
    nino_dtype dtype;     // F32 is 0
    uint64_t seed;
} random_text;

typedef struct random_writer {
    random_vae v;
    const random_text *t;
} random_writer;

static inline void random_text_add(random_writer *w, const char *name, nino_shape shape, float mean,
                                   float sigma)
{
    const nino_name full = nino_name_of("%s%s", w->t->prefix ? w->t->prefix : "", name);
    CHECK(strlen(full.s) < sizeof(w->v.names[0]));
    random_vae_add(&w->v, full.s, shape, mean, sigma);
}

// Takes back the last n tensors and adds them one below the other; transposed: as [C,N].
static inline void random_text_stack(random_writer *w, int n, bool is_transposed, const char *name)
{
    nino_array *a[3];
    w->v.n -= n;
    for (int i = 0; i < n; i++)
        a[i] = (nino_array *) w->v.entries[w->v.n + i].array;
    nino_shape s = a[0]->shape;
    s.dim[0] *= n;
    if (is_transposed)
        s = NINO_SHAPE(a[0]->shape.dim[1], a[0]->shape.dim[0]);
    nino_array *all = nino_array_create(a[0]->dtype, s);
    const size_t size = nino_dtype_size(all->dtype);
    for (int i = 0; i < n && !is_transposed; i++)
        memcpy((char *) all->data + (size_t) i * a[0]->bytes, a[i]->data, a[0]->bytes);
    for (int64_t i = 0; is_transposed && i < nino_shape_count(&s); i++)
        memcpy((char *) all->data + (size_t) i * size,
               (char *) a[0]->data + (size_t) (i % s.dim[1] * s.dim[0] + i / s.dim[1]) * size,
               size);
    for (int i = 0; i < n; i++)
        nino_array_unref(&a[i]);
    const nino_name full = nino_name_of("%s%s", w->t->prefix ? w->t->prefix : "", name);
    CHECK(strlen(full.s) < sizeof(w->v.names[0]));
    memcpy(w->v.names[w->v.n], full.s, strlen(full.s) + 1);
    w->v.entries[w->v.n] = (nino_st_entry){ w->v.names[w->v.n], all };
    w->v.n++;
}

static inline void random_text_linear(random_writer *w, const char *stem, const char *leaf, int n,
                                      int c, bool has_bias)
{
    random_text_add(w, nino_name_of("%s%s.weight", stem, leaf).s, NINO_SHAPE(n, c), 0,
                    1 / sqrtf((float) c));
    if (has_bias)
        random_text_add(w, nino_name_of("%s%s.bias", stem, leaf).s, NINO_SHAPE(n), 0, 0.05f);
}

static inline void random_text_norm(random_writer *w, const char *stem, const char *leaf,
                                    bool has_beta)
{
    const int c = w->t->width;
    random_text_add(w, nino_name_of("%s%s.weight", stem, leaf).s, NINO_SHAPE(c), 1, 0.1f);
    if (has_beta)
        random_text_add(w, nino_name_of("%s%s.bias", stem, leaf).s, NINO_SHAPE(c), 0, 0.1f);
}

// q, k and v: weights first, then biases, so that both can be stacked.
static inline void random_text_qkv(random_writer *w, const char *stem)
{
    static const char *const leaf[] = { "q", "k", "v" };
    const int c = w->t->width;
    for (int i = 0; i < 3; i++)
        random_text_add(w, nino_name_of("%sself_attn.%s_proj.weight", stem, leaf[i]).s,
                        NINO_SHAPE(c, c), 0, 1 / sqrtf((float) c));
    if (w->t->is_open)
        random_text_stack(w, 3, false, nino_name_of("%sattn.in_proj_weight", stem).s);
    for (int i = 0; i < 3; i++)
        random_text_add(w, nino_name_of("%sself_attn.%s_proj.bias", stem, leaf[i]).s, NINO_SHAPE(c),
                        0, 0.05f);
    if (w->t->is_open)
        random_text_stack(w, 3, false, nino_name_of("%sattn.in_proj_bias", stem).s);
}

// stem: before ".N."
static inline void random_text_blocks(random_writer *w, const char *blocks)
{
    const random_text *t = w->t;
    const bool o = t->is_open;
    for (int i = 0; i < t->layers; i++) {
        const nino_name block = nino_name_of("%s.%d.", blocks, i);
        const char *stem = block.s;
        random_text_norm(w, stem, o ? "ln_1" : "layer_norm1", true);
        random_text_qkv(w, stem);
        random_text_linear(w, stem, o ? "attn.out_proj" : "self_attn.out_proj", t->width, t->width,
                           true);
        random_text_norm(w, stem, o ? "ln_2" : "layer_norm2", true);
        random_text_linear(w, stem, o ? "mlp.c_fc" : "mlp.fc1", t->mlp, t->width, true);
        random_text_linear(w, stem, o ? "mlp.c_proj" : "mlp.fc2", t->width, t->mlp, true);
    }
}

static inline void random_text_clip(random_writer *w)
{
    const random_text *t = w->t;
    const bool o = t->is_open;
    random_text_add(w,
                    o ? "token_embedding.weight" : "text_model.embeddings.token_embedding.weight",
                    NINO_SHAPE(t->vocab ? t->vocab : RANDOM_TEXT_VOCAB, t->width), 0, 0.5f);
    random_text_add(w,
                    o ? "positional_embedding" : "text_model.embeddings.position_embedding.weight",
                    NINO_SHAPE(t->positions ? t->positions : 77, t->width), 0, 0.1f);
    random_text_blocks(w, o ? "transformer.resblocks" : "text_model.encoder.layers");
    random_text_norm(w, "", o ? "ln_final" : "text_model.final_layer_norm", true);
    if (t->has_projection) {
        random_text_linear(w, "", "text_projection", t->projection ? t->projection : t->width,
                           t->width, false);
        if (o)
            random_text_stack(w, 1, true, "text_projection");
    }
}

static inline void random_text_vision(random_writer *w)
{
    const random_text *t = w->t;
    const bool o = t->is_open;
    const int c = t->width, places = t->side * t->side + !t->is_siglip;
    if (!t->is_siglip)
        random_text_add(w, o ? "visual.class_embedding" : "vision_model.embeddings.class_embedding",
                        NINO_SHAPE(c), 0, 1);
    random_text_add(w, o ? "visual.conv1.weight" : "vision_model.embeddings.patch_embedding.weight",
                    NINO_SHAPE(c, 3, t->patch, t->patch), 0,
                    1 / sqrtf((float) (3 * t->patch * t->patch)));
    if (t->is_siglip)
        random_text_add(w, "vision_model.embeddings.patch_embedding.bias", NINO_SHAPE(c), 0, 0.1f);
    random_text_add(
        w, o ? "visual.positional_embedding" : "vision_model.embeddings.position_embedding.weight",
        NINO_SHAPE(places, c), 0, 0.3f);
    if (!t->is_siglip)
        random_text_norm(w, "", o ? "visual.ln_pre" : "vision_model.pre_layrnorm", true);
    random_text_blocks(w, o ? "visual.transformer.resblocks" : "vision_model.encoder.layers");
    random_text_norm(w, "", o ? "visual.ln_post" : "vision_model.post_layernorm", true);
    if (t->has_projection) {
        random_text_linear(w, "", "visual_projection", t->projection, c, false);
        if (o)
            random_text_stack(w, 1, true, "visual.proj");
    }
}

static inline void random_text_t5(random_writer *w)
{
    static const char *const attn[] = { "q", "k", "v", "o" };
    const random_text *t = w->t;
    random_text_add(w, t->is_embed_tokens ? "encoder.embed_tokens.weight" : "shared.weight",
                    NINO_SHAPE(t->vocab ? t->vocab : 512, t->width), 0, 1);
    for (int i = 0; i < t->layers; i++) {
        const nino_name at = nino_name_of("encoder.block.%d.layer.0.", i);
        const nino_name ff = nino_name_of("encoder.block.%d.layer.1.DenseReluDense.", i);
        for (int k = 0; k < 4; k++)
            random_text_linear(w, nino_name_of("%sSelfAttention.", at.s).s, attn[k], t->width,
                               t->width, false);
        if (!i || t->is_umt5)
            random_text_add(w,
                            nino_name_of("%sSelfAttention.relative_attention_bias.weight", at.s).s,
                            NINO_SHAPE(32, t->heads), 0, 1);
        random_text_norm(w, at.s, "layer_norm", false);
        random_text_linear(w, ff.s, t->is_relu ? "wi" : "wi_0", t->mlp, t->width, false);
        if (!t->is_relu)
            random_text_linear(w, ff.s, "wi_1", t->mlp, t->width, false);
        random_text_linear(w, ff.s, "wo", t->width, t->mlp, false);
        random_text_norm(w, nino_name_of("encoder.block.%d.layer.1.", i).s, "layer_norm", false);
    }
    random_text_norm(w, "", "encoder.final_layer_norm", false);
}

// One file of n encoders; what shall not be in it: names in `without` (NULL-terminated) or NULL.
static inline nino_weights *random_text_file(const test_dir *dir, const char *file,
                                             const random_text *t, int n,
                                             const char *const *without)
{
    random_writer w = { .t = t };
    nino_error err = { 0 };
    w.v.entries = calloc(2048, sizeof(*w.v.entries));
    w.v.names = calloc(2048, sizeof(*w.v.names));
    CHECK(w.v.entries && w.v.names);
    for (int i = 0; i < n; i++) {
        w.t = &t[i];
        w.v.dtype = t[i].dtype;
        w.v.seed = (t[i].seed + 1) * 0x9e3779b97f4a7c15u;
        if (t[i].is_t5)
            random_text_t5(&w);
        else if (t[i].patch)
            random_text_vision(&w);
        else
            random_text_clip(&w);
    }
    for (; without && *without; without++)
        for (int i = 0; i < w.v.n; i++)
            if (!strcmp(w.v.entries[i].name, *without)) {
                nino_array *a = (nino_array *) w.v.entries[i].array;
                nino_array_unref(&a);
                w.v.entries[i] = w.v.entries[--w.v.n];
            }
    CHECK_OK(nino_st_save(dir->path, file, true, w.v.entries, w.v.n, NULL, 0, &err), err);
    for (int i = 0; i < w.v.n; i++) {
        nino_array *a = (nino_array *) w.v.entries[i].array;
        nino_array_unref(&a);
    }
    free(w.v.entries);
    free(w.v.names);
    return test_open("%s/%s", dir->path, file);
}

// Files of small tokenizers: "cat dog" and single letters.
static inline void random_text_clip_tokenizer(const char *folder)
{
    const nino_name path = nino_name_of("%s/bpe_simple_vocab_16e6.txt", folder);
    FILE *f = fopen(path.s, "w");
    CHECK(f && fputs(TEXT_BPE_MERGES, f) >= 0 && fclose(f) == 0);
}

static inline nino_buf random_text_spiece(void)
{
    nino_buf model = { 0 };
    text_piece(&model, "<pad>", 0, 3);
    text_piece(&model, "</s>", 0, 3);
    text_piece(&model, "<unk>", 0, 2);
    text_piece(&model, "\xe2\x96\x81", -3, 0);
    text_piece(&model,
               "\xe2\x96\x81"
               "cat",
               -4, 0);
    text_piece(&model,
               "\xe2\x96\x81"
               "dog",
               -4, 0);
    for (char c = 'a'; c <= 'z'; c++)
        text_piece(&model, (char[]){ c, 0 }, -5, 0);
    return model;
}

static inline nino_text_services random_text_services(test_services *t, const test_dir *dir)
{
    nino_error err = { 0 };
    nino_buf model = random_text_spiece();
    *t = (test_services){ .files = NULL };
    snprintf(t->dir[NINO_TOKENIZER_CLIP], sizeof(t->dir[0]), "%s", dir->path);
    random_text_clip_tokenizer(dir->path);
    for (int i = NINO_TOKENIZER_T5; i <= NINO_TOKENIZER_UMT5; i++)
        CHECK_OK(nino_tokenizer_from_spiece(model.data, model.len, "test", &t->tok[i], &err), err);
    nino_buf_release(&model);
    return (nino_text_services){ t, test_tokenizer, test_embedding, test_warn };
}
