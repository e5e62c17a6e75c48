// What all text encoders share: loading by kind, token embeddings gathered from the file.
#include "core/model/text_encoder.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/format/safetensors.h"

const char *const nino_encoder_names[NINO_ENC_COUNT] = { "clip_l", "clip_g", "clip_h", "t5",
                                                         "umt5" };
const char *const nino_encoder_titles[NINO_ENC_COUNT] = { "CLIP-L", "CLIP-G", "CLIP-H", "T5",
                                                          "UMT5" };

nino_status nino_encoder_load(nino_encoder_id id, nino_weights *file, const char *prefix,
                              nino_encoder **out, nino_error *err)
{
    *out = NULL;
    nino_encoder *e = calloc(1, sizeof(*e));
    if (!e)
        return nino_fail(err, NINO_ERR_NOMEM, nino_weights_path(file), "out of memory");
    e->id = id;
    e->file = nino_weights_ref(file);
    e->weight_bytes = nino_weights_bytes(file, prefix);
    snprintf(e->prefix, sizeof(e->prefix), "%s", prefix);
    const nino_status st = id == NINO_ENC_T5 || id == NINO_ENC_UMT5 ? nino_text_t5_load(e, err)
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
    if (e->destroy)
        e->destroy(e);
    nino_tokenizer_unref(&e->tok);
    nino_array_unref(&e->empty);
    nino_weights_unref(&e->file);
    free(e);
}

// ---- token embeddings ------------------------------------------------------------------------

// torch.nan_to_num
static void make_finite(float *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        v[i] = isnan(v[i]) ? 0 : isinf(v[i]) ? copysignf(FLT_MAX, v[i]) : v[i];
}

// Row by row; a token that repeats (padding) is copied.
static nino_status gather(const nino_encoder *e, const nino_prompt *p, float *x, nino_error *err)
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
            st = nino_weights_read_rows_f32(e->file, e->tokens, t->id, 1, to, err);
    }
    return st;
}

static nino_status add_positions(const nino_encoder *e, const nino_prompt *p, float *x,
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
    nino_status st = is_plan ? NINO_OK : gather(e, p, nino_array_f32(x), err);
    if (!st && e->positions && !is_plan)
        st = add_positions(e, p, nino_array_f32(x), err);
    if (!st && e->makes_finite)
        make_finite(nino_array_f32(x), nino_shape_count(&x->shape));
    if (st)
        nino_array_unref(&x);
    *out = x;
    return st;
}

// ---- for the loaders of networks -------------------------------------------------------------
#define MAX_BLOCKS 256
#define MAX_WIDTH (1 << 16)

static void fail(nino_text_loader *l, const char *name, const char *what)
{
    const nino_name full = nino_name_of("%s%s", l->e->prefix, name);
    char where[192];
    l->st = nino_fail_kind(
        l->err, NINO_ERR_FORMAT, "model",
        nino_tensor_where(where, nino_weights_path(l->e->file), full.s, strlen(full.s)), "%s",
        what);
}

int64_t nino_text_table(nino_text_loader *l, const char *leaf, int64_t width,
                        const nino_tensor_info **out)
{
    if (l->st)
        return 0;
    const nino_tensor_info *t =
        nino_weights_find(l->e->file, nino_name_of("%s%s", l->e->prefix, leaf).s);
    if (!t)
        fail(l, leaf, "the file has no such tensor");
    else if (t->rank != 2 || t->dim[0] < 1 || t->dim[0] > INT32_MAX || t->dim[1] < 1 ||
             t->dim[1] > MAX_WIDTH || (width >= 0 && t->dim[1] != width))
        fail(l, leaf, "it is not a table of rows as wide as the network");
    *out = t;
    return l->st ? 0 : t->dim[0];
}

void nino_text_tokens(nino_text_loader *l, const char *leaf)
{
    nino_encoder *e = l->e;
    e->vocab = nino_text_table(l, leaf, -1, &e->tokens);
    e->width = l->st ? 0 : (int) e->tokens->dim[1];
}

int nino_text_count_blocks(nino_text_loader *l, const char *stem)
{
    const nino_weights *file = l->e->file;
    const nino_name start = nino_name_of("%s%s", l->e->prefix, stem);
    const size_t len = strlen(start.s);
    int n = 0;
    if (l->st)
        return 0;
    for (int i = 0; i < nino_weights_count(file); i++) { // one more than the largest number
        const char *name = nino_weights_at(file, i)->name;
        char *end;
        if (strncmp(name, start.s, len))
            continue;
        const long k = strtol(name + len, &end, 10);
        if (end != name + len && *end == '.' && k >= n && k <= MAX_BLOCKS)
            n = (int) k + 1;
    }
    if (n < 1 || n > MAX_BLOCKS)
        fail(l, stem, n ? "it has too many layers" : "the file has no layers of that name");
    return l->st ? 0 : n;
}

void nino_text_linear(nino_text_loader *l, const char *stem, const char *leaf, int64_t n, int64_t c,
                      nino_linear *out)
{
    const nino_name name = nino_name_of("%s%s", stem, leaf);
    if (!l->st)
        l->st = nino_linear_get(l->e->file, l->e->prefix, name.s, c, out, l->err);
    if (!l->st && n >= 0 && out->w->n != n) {
        char what[96];
        snprintf(what, sizeof(what), "%lld rows where %lld are needed", (long long) out->w->n,
                 (long long) n);
        fail(l, nino_name_of("%s.weight", name.s).s, what);
    }
}

void nino_text_norm(nino_text_loader *l, const char *stem, const char *leaf, float eps,
                    bool has_beta, nino_norm *out)
{
    const char *prefix = l->e->prefix;
    out->eps = eps;
    if (!l->st)
        l->st = nino_weight_get(l->e->file, prefix, nino_name_of("%s%s.weight", stem, leaf).s,
                                NINO_W_VECTOR, l->e->width, -1, true, &out->gamma, l->err);
    if (!l->st && has_beta)
        l->st = nino_weight_get(l->e->file, prefix, nino_name_of("%s%s.bias", stem, leaf).s,
                                NINO_W_VECTOR, l->e->width, -1, true, &out->beta, l->err);
}
