// What all text encoders share: loading by kind, token embeddings gathered from the file.
#include "core/model/clip/text_encoder.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/op/mixed.h"

const char *const nino_encoder_names[NINO_ENC_COUNT] = {
    "clip_l", "clip_g", "clip_h", "t5", "umt5", "qwen3", "mistral3", "qwen25_vl"
};
const char *const nino_encoder_titles[NINO_ENC_COUNT] = {
    "CLIP-L", "CLIP-G", "CLIP-H", "T5", "UMT5", "Qwen3", "Mistral Small 3", "Qwen2.5-VL"
};

nino_status nino_encoder_load(nino_encoder_id id, nino_weights *file, const char *prefix,
                              nino_weights *vision, nino_encoder **out, nino_error *err)
{
    *out = NULL;
    nino_encoder *e = calloc(1, sizeof(*e));
    if (!e)
        return nino_fail(err, NINO_ERR_NOMEM, nino_weights_path(file), "out of memory");
    e->id = id;
    e->file = nino_weights_ref(file);
    e->vision = vision ? nino_weights_ref(vision) : NULL;
    e->weight_bytes = nino_weights_bytes(file, prefix);
    snprintf(e->prefix, sizeof(e->prefix), "%s", prefix);
    const nino_status st = id >= NINO_ENC_QWEN3                       ? nino_text_llm_load(e, err)
                           : id == NINO_ENC_T5 || id == NINO_ENC_UMT5 ? nino_text_t5_load(e, err)
                                                                      : nino_text_clip_load(e, err);
    if (st)
        nino_encoder_destroy(&e);
    else
        *out = e;
    return st;
}

void nino_encoder_destroy(nino_encoder **pe)
{
    nino_encoder *e = *pe;
    *pe = NULL;
    if (!e)
        return;
    nino_layers_release(&e->layers);
    nino_tokenizer_unref(&e->tok);
    nino_array_unref(&e->empty);
    nino_weights_unref(&e->file);
    nino_weights_unref(&e->vision);
    free(e);
}

// ---- tokenizers ------------------------------------------------------------------------------

static const nino_tokenizer_kind kinds[NINO_ENC_COUNT] = {
    [NINO_ENC_CLIP_L] = NINO_TOKENIZER_CLIP,      [NINO_ENC_CLIP_G] = NINO_TOKENIZER_CLIP,
    [NINO_ENC_CLIP_H] = NINO_TOKENIZER_CLIP,      [NINO_ENC_T5] = NINO_TOKENIZER_T5,
    [NINO_ENC_UMT5] = NINO_TOKENIZER_UMT5,        [NINO_ENC_QWEN3] = NINO_TOKENIZER_QWEN,
    [NINO_ENC_MISTRAL3] = NINO_TOKENIZER_MISTRAL, [NINO_ENC_QWEN25_VL] = NINO_TOKENIZER_QWEN,
};
#define SPARE_ROWS 1024 // of an embedding, at most

// Language models have few rows that no token uses; a vocabulary of another size is another's.
static nino_status check_vocabulary(const nino_encoder *e, nino_error *err)
{
    const int64_t n = nino_tokenizer_size(e->tok);
    if (e->id < NINO_ENC_QWEN3 || (n <= e->vocab && e->vocab - n <= SPARE_ROWS))
        return NINO_OK;
    return nino_fail_kind(
        err, NINO_ERR_FORMAT, "model", nino_weights_path(e->file),
        "its %s has %lld tokens, the tokenizer %.100s %lld: it is another model's",
        nino_encoder_titles[e->id], (long long) e->vocab, nino_tokenizer_path(e->tok),
        (long long) n);
}

// T5's is the same for all its files, so that the folders' complete one comes before what a writer
// of GGUF files kept of it.
nino_status nino_encoder_open_tokenizer(const nino_clip *c, nino_encoder *e, nino_error *err)
{
    const nino_tokenizer_kind kind = kinds[e->id];
    const nino_text_services *services = &c->services;
    nino_status st = NINO_ERR_MISSING;
    if (e->tok)
        return NINO_OK;
    if (kind != NINO_TOKENIZER_CLIP)
        st = nino_tokenizer_from_weights(e->file, &e->tok, err);
    if (st == NINO_ERR_MISSING && kind != NINO_TOKENIZER_CLIP && kind != NINO_TOKENIZER_T5)
        st = nino_tokenizer_from_gguf(e->file, &e->tok, err);
    if (st == NINO_ERR_MISSING && services->tokenizer)
        st = services->tokenizer(services->priv, kind, &e->tok, err);
    else if (st == NINO_ERR_MISSING)
        st = nino_fail(err, st, c->name, "there is no tokenizer for its %s",
                       nino_encoder_titles[e->id]);
    if (st == NINO_ERR_MISSING && kind == NINO_TOKENIZER_T5) {
        nino_error own = { 0 };
        const nino_status found = nino_tokenizer_from_gguf(e->file, &e->tok, &own);
        st = found == NINO_ERR_MISSING ? st : found;
        if (found != NINO_ERR_MISSING && err)
            *err = own;
    }
    if (!st && (st = check_vocabulary(e, err)))
        nino_tokenizer_unref(&e->tok);
    return st;
}

// ---- token embeddings ------------------------------------------------------------------------

// torch.nan_to_num
static void make_finite(float *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        v[i] = isnan(v[i]) ? 0 : isinf(v[i]) ? copysignf(FLT_MAX, v[i]) : v[i];
}

static nino_status text_encoder_read(const nino_encoder *e, int32_t id, float *to, nino_error *err)
{
    const nino_status st = nino_weights_read_rows_f32(e->file, e->tokens, id, 1, to, err);
    return st ? st : nino_factors_apply(e->file, &e->token_scale, id, 1, e->width, to, err);
}

// Row by row; a token that repeats (padding) is copied.
static nino_status text_encoder_gather(const nino_encoder *e, const nino_prompt *p, float *x,
                                       nino_error *err)
{
    const size_t row = (size_t) e->width * sizeof(float);
    const int n = p->n_chunks * p->chunk_len;
    nino_status st = NINO_OK;
    for (int i = 0; i < n && !st; i++) {
        const nino_token *t = &p->tokens[i];
        float *to = x + (int64_t) i * e->width;
        if (t->id < 0)
            memcpy(to, p->vectors + (int64_t) t->vector * p->width, row);
        else if (i && t->id == t[-1].id)
            memcpy(to, to - e->width, row);
        else if (t->id >= e->vocab)
            st = nino_fail_kind(err, NINO_ERR_RANGE, "model", nino_weights_path(e->file),
                                "the tokenizer has a token %d, the %s of this file only %lld",
                                (int) t->id, nino_encoder_titles[e->id], (long long) e->vocab);
        else
            st = text_encoder_read(e, t->id, to, err);
    }
    return st;
}

static nino_status text_encoder_add_positions(const nino_encoder *e, const nino_prompt *p, float *x,
                                              nino_error *err)
{
    const int64_t n = (int64_t) p->chunk_len * e->width;
    nino_array *pos = nino_array_create(NINO_F32, NINO_SHAPE(p->chunk_len, e->width));
    if (!pos)
        return nino_fail(err, NINO_ERR_NOMEM, "prompt", "out of memory");
    const nino_status st = nino_weights_read_rows_f32(e->file, e->positions, 0, p->chunk_len,
                                                      nino_array_f32(pos), err);
    for (int c = 0; c < p->n_chunks && !st; c++)
        for (int64_t i = 0; i < n; i++)
            x[c * n + i] += nino_array_f32(pos)[i];
    nino_array_unref(&pos);
    return st;
}

nino_status nino_encoder_embed(const nino_encoder *e, const nino_prompt *p, bool is_plan,
                               nino_array **out, nino_error *err)
{
    *out = NULL;
    if ((e->max_len && p->chunk_len > e->max_len) || (p->n_vectors && p->width != e->width))
        return nino_fail_kind(err, NINO_ERR_FORMAT, "model", nino_weights_path(e->file),
                              "the %s of this file takes %d tokens of width %d, not %d of %d",
                              nino_encoder_titles[e->id], e->max_len, e->width, p->chunk_len,
                              p->n_vectors ? p->width : e->width);
    nino_array *x = nino_array_create(NINO_F32, NINO_SHAPE(p->n_chunks, p->chunk_len, e->width));
    if (!x)
        return nino_fail(err, NINO_ERR_NOMEM, "prompt", "out of memory for %d tokens",
                         p->n_chunks * p->chunk_len);
    nino_status st = is_plan ? NINO_OK : text_encoder_gather(e, p, nino_array_f32(x), err);
    if (!st && e->positions && !is_plan)
        st = text_encoder_add_positions(e, p, nino_array_f32(x), err);
    if (!st && e->makes_finite)
        make_finite(nino_array_f32(x), nino_shape_count(&x->shape));
    if (st)
        nino_array_unref(&x);
    *out = x;
    return st;
}

nino_precision nino_encoder_set_precision(nino_stream *s, int64_t values)
{
    const nino_precision before = nino_stream_asked_precision(s), now = nino_stream_precision(s);
    const nino_precision whole = nino_mixed_whole(now, values);
    if (whole != now)
        nino_stream_set_precision(s, whole);
    return before;
}

nino_status nino_encoder_check_finite(const nino_clip *c, const nino_stream *s, const nino_array *a,
                                      nino_error *err)
{
    for (int64_t i = 0; a && i < nino_shape_count(&a->shape); i++)
        if (!isfinite(nino_array_f32(a)[i]))
            return nino_fail_kind(
                err, NINO_ERR_RANGE, "nan", c->name,
                "encoding text produced values that are not finite in %s arithmetic",
                nino_stream_storage(s));
    return NINO_OK;
}

// ---- for the loaders of networks -------------------------------------------------------------
#define MAX_BLOCKS 256
#define MAX_WIDTH (1 << 16)

int64_t nino_text_table(nino_loader *l, const char *name, int64_t width,
                        const nino_tensor_info **out)
{
    const nino_tensor_info *t =
        l->st ? NULL : nino_weights_find(l->file, nino_name_of("%s%s", l->prefix, name).s);
    if (!t)
        nino_load_fail(l, NINO_ERR_FORMAT, "the file has no tensor %s%s", l->prefix, name);
    else if (t->rank != 2 || t->dim[0] < 1 || t->dim[0] > INT32_MAX || t->dim[1] < 1 ||
             t->dim[1] > MAX_WIDTH || (width >= 0 && t->dim[1] != width))
        nino_load_fail(l, NINO_ERR_FORMAT, "%s is not a table of rows as wide as the network",
                       t->name);
    *out = t;
    return l->st || !t ? 0 : t->dim[0];
}

void nino_text_start(nino_loader *l, nino_encoder *e, const char *tokens, const char *stem)
{
    e->vocab = nino_text_table(l, tokens, -1, &e->tokens);
    e->width = e->tokens ? (int) e->tokens->dim[1] : 0;
    if (!l->st)
        l->st = nino_weights_scale(l->file, e->tokens, &e->token_scale, l->err);
    e->n_layers = nino_load_count(l, stem);
    if (e->n_layers < 1 || e->n_layers > MAX_BLOCKS)
        nino_load_fail(l, NINO_ERR_FORMAT, "%d layers called %s%s0 ...; 1 to %d can be used",
                       e->n_layers, l->prefix, stem, MAX_BLOCKS);
}

void nino_text_linear(nino_loader *l, const char *stem, const char *leaf, int64_t n, int64_t c,
                      nino_linear *out)
{
    const nino_name name = nino_name_of("%s%s", stem, leaf);
    nino_load_linear(l, name.s, c, out);
    if (n >= 0)
        nino_load_expect(l, name.s, out, n);
}
