// From text to conditioning: which encoders a type has, what is taken of each, and how that is put
// together. Rules: ComfyUI sd1_clip.py (weights, chunks), sdxl_clip.py, text_encoders/{flux,
// sd3_clip,wan,genmo}.py.
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/model/clip/text_encoder.h"
#include "core/op/backend.h"

// What a type takes of one of its encoders.
typedef struct rule {
    nino_encoder_id id;
    nino_prompt_style style;
    int layer;         // behind which the hidden state is taken, unless CLIPSetLastLayer says; 0:
                       // last, normed
    bool is_raw;       // a hidden state of another layer is not normed
    bool has_hidden;   // rows of the context come from here
    bool has_pooled;   // the pooled vector, or a part of it, too
    bool is_projected; // which is multiplied by the text projection
    bool is_masked;    // nobody looks at the padding
    bool is_zeroed;    // and its rows of the result are zero
} rule;

#define MAX_RULES 3

// SD3 wants 768 zeros for a CLIP-L that is not there, 1280 for a CLIP-G, and rows of 4096.
#define CLIP_L_WIDTH 768
#define CLIP_G_WIDTH 1280
#define SD3_WIDTH 4096
#define SD3_ROWS 77

static const rule rules[][MAX_RULES] = {
    [NINO_CLIP_SD1] = { { .id = NINO_ENC_CLIP_L,
                          .style = NINO_PROMPT_CLIP_L,
                          .has_hidden = true,
                          .has_pooled = true,
                          .is_projected = true } },
    [NINO_CLIP_SD2] = { { .id = NINO_ENC_CLIP_H,
                          .style = NINO_PROMPT_CLIP_H,
                          .layer = -2,
                          .has_hidden = true,
                          .has_pooled = true,
                          .is_projected = true } },
    [NINO_CLIP_SDXL] = { { .id = NINO_ENC_CLIP_L,
                           .style = NINO_PROMPT_CLIP_L,
                           .layer = -2,
                           .is_raw = true,
                           .has_hidden = true },
                         { .id = NINO_ENC_CLIP_G,
                           .style = NINO_PROMPT_CLIP_G,
                           .layer = -2,
                           .is_raw = true,
                           .has_hidden = true,
                           .has_pooled = true,
                           .is_projected = true } },
    [NINO_CLIP_SDXL_REFINER] = { { .id = NINO_ENC_CLIP_G,
                                   .style = NINO_PROMPT_CLIP_G,
                                   .layer = -2,
                                   .is_raw = true,
                                   .has_hidden = true,
                                   .has_pooled = true,
                                   .is_projected = true } },
    [NINO_CLIP_SD3] = { { .id = NINO_ENC_CLIP_L,
                          .style = NINO_PROMPT_CLIP_L,
                          .layer = -2,
                          .is_raw = true,
                          .has_hidden = true,
                          .has_pooled = true },
                        { .id = NINO_ENC_CLIP_G,
                          .style = NINO_PROMPT_CLIP_G,
                          .layer = -2,
                          .is_raw = true,
                          .has_hidden = true,
                          .has_pooled = true,
                          .is_projected = true },
                        { .id = NINO_ENC_T5, .style = NINO_PROMPT_T5_SD3, .has_hidden = true } },
    [NINO_CLIP_FLUX] = { { .id = NINO_ENC_CLIP_L, .style = NINO_PROMPT_CLIP_L, .has_pooled = true },
                         { .id = NINO_ENC_T5, .style = NINO_PROMPT_T5_FLUX, .has_hidden = true } },
    [NINO_CLIP_WAN] = { { .id = NINO_ENC_UMT5,
                          .style = NINO_PROMPT_UMT5_WAN,
                          .has_hidden = true,
                          .is_masked = true,
                          .is_zeroed = true } },
    [NINO_CLIP_T5] = { { .id = NINO_ENC_T5,
                         .style = NINO_PROMPT_T5_FLUX,
                         .has_hidden = true,
                         .is_masked = true } },
    [NINO_CLIP_CHROMA] = { { .id = NINO_ENC_T5,
                             .style = NINO_PROMPT_T5_BARE,
                             .has_hidden = true } },
};

// One encoder at work.
typedef struct task {
    const rule *rule; // NULL: the type has no such encoder here
    nino_encoder *e;
    nino_prompt_rules prompt_rules;
    nino_prompt prompt;
    int n_empty;        // chunks of the empty prompt behind the prompt
    int layer;          // 0: last, normed
    nino_array *hidden; // f32 [1,T,width]
    nino_array *pooled; // f32 [1,P]
} task;

typedef struct encoding {
    nino_stream *s;
    const nino_clip *c;
    nino_error *err;
    task task[NINO_ENC_COUNT];
} encoding;

static nino_status clip_encode_no_memory(const encoding *x)
{
    return nino_fail(x->err, NINO_ERR_NOMEM, x->c->name, "out of memory");
}

// ---- tokens ----------------------------------------------------------------------------------

static nino_status tokenise(const encoding *x, task *t, const char *text)
{
    nino_prompt_rules *r = &t->prompt_rules;
    nino_status st = nino_encoder_open_tokenizer(x->c, t->e, x->err);
    if (st)
        return st;
    *r = nino_prompt_rules_for(t->rule->style, t->e->tok);
    r->width = t->e->width;
    r->priv = x->c->services.priv;
    r->embedding = x->c->services.embedding;
    r->warn = x->c->services.warn;
    if (!r->max_len && x->c->has_padding) {
        r->min_pad = x->c->pads_min;
        r->min_len = x->c->tokens_min;
    }
    return nino_prompt_build(t->e->tok, r, text, &t->prompt, x->err);
}

// CLIP's vocabulary ends with them.
static nino_status tokenise_bare(const encoding *x, task *t)
{
    nino_prompt_rules *r = &t->prompt_rules;
    *r = nino_prompt_rules_of(t->rule->style);
    r->start = (int32_t) t->e->vocab - 2;
    r->end = (int32_t) t->e->vocab - 1;
    r->width = t->e->width;
    return nino_prompt_empty(r, 2, &t->prompt, x->err);
}

// ---- one network -----------------------------------------------------------------------------

// Positions up to the last one that is attended: where nothing looks at the rest, and its rows are
// zero in the end, the network need not run over it (a Wan prompt is padded to 512 tokens).
static int used_len(const task *t, const nino_prompt *p)
{
    int n = p->chunk_len;
    if (t->rule->is_zeroed && p->n_chunks == 1)
        while (n > 1 && !p->tokens[n - 1].attend)
            n--;
    return n;
}

// [n_chunks*chunk_len] where the padding is not looked at; NULL: everything is, or no memory.
static bool *attention_mask(const task *t, const nino_prompt *p)
{
    const int n = p->n_chunks * p->chunk_len;
    bool *mask = t->rule->is_masked ? malloc((size_t) n * sizeof(*mask)) : NULL;
    for (int i = 0; mask && i < n; i++)
        mask[i] = p->tokens[i].attend;
    return mask;
}

// Rows of zeros for what the network did not see.
static nino_status pad_rows(const encoding *x, const task *t, const nino_prompt *p,
                            nino_array **hidden)
{
    nino_array *a = *hidden;
    const int64_t len = a->shape.dim[1], width = a->shape.dim[2];
    if (len < p->chunk_len) {
        a = nino_array_create(NINO_F32, NINO_SHAPE(p->n_chunks, p->chunk_len, width));
        if (!a)
            return clip_encode_no_memory(x);
        memcpy(a->data, (*hidden)->data, (*hidden)->bytes); // is_zeroed: one chunk
        nino_array_unref(hidden);
        *hidden = a;
    }
    for (int64_t i = 0; t->rule->is_zeroed && i < (int64_t) p->n_chunks * p->chunk_len; i++)
        if (!p->tokens[i].attend)
            memset(nino_array_f32(a) + i * width, 0, (size_t) width * sizeof(float));
    return NINO_OK;
}

// All chunks at once. *hidden: f32 [n_chunks,chunk_len,width], or NULL if the type takes none;
// *pooled: of the first chunk; a NULL argument: not wanted.
static nino_status clip_encode_run(const encoding *x, const task *t, const nino_prompt *p,
                                   nino_array **hidden, nino_array **pooled)
{
    nino_stream *s = x->s;
    nino_prompt seen = *p; // shares its tokens
    nino_array *rows = NULL;
    seen.chunk_len = used_len(t, p);
    bool *mask = attention_mask(t, &seen);
    nino_status st = !mask && t->rule->is_masked ? clip_encode_no_memory(x) : NINO_OK;
    if (!st)
        st = nino_encoder_embed(t->e, &seen, nino_stream_is_plan(s), &rows, x->err);
    if (st)
        goto end;
    const nino_encoder_in in = {
        .x = nino_upload(s, rows, NINO_F32),
        .attend = mask,
        .layer = t->layer,
        .is_normed = !t->layer || !t->rule->is_raw,
        .has_hidden = hidden != NULL,
        .pooled_row = pooled ? nino_prompt_attended(p, 0) - 1 : -1,
        .is_projected = t->rule->is_projected,
    };
    nino_scope_begin(s, NINO_EV_STAGE, nino_encoder_names[t->e->id], (uint32_t) seen.n_chunks,
                     (uint32_t) seen.chunk_len);
    const nino_precision before = nino_encoder_set_precision(s, nino_shape_count(&rows->shape));
    const nino_encoder_out out = t->e->forward(s, t->e, &in);
    nino_stream_set_precision(s, before);
    nino_scope_end(s);
    if (hidden)
        *hidden = nino_download(s, out.hidden, NINO_F32);
    if (pooled)
        *pooled = nino_download(s, out.pooled, NINO_F32);
    st = nino_stream_status(s, x->err);
    if (!st)
        st = nino_encoder_check_finite(x->c, s, hidden ? *hidden : NULL, x->err);
    if (!st)
        st = nino_encoder_check_finite(x->c, s, pooled ? *pooled : NULL, x->err);
    if (!st && hidden && *hidden)
        st = pad_rows(x, t, p, hidden);
end:
    nino_array_unref(&rows);
    free(mask);
    return st;
}

// e->empty becomes [1,len,width], what the empty prompt is encoded to. It is kept: every weighted
// prompt needs it. A plan counts it each time and keeps nothing.
static nino_status encode_empty(const encoding *x, const task *t, int len)
{
    nino_encoder *e = t->e;
    const uint64_t made_of[] = { (uint64_t) len,
                                 (uint64_t) t->layer,
                                 t->rule->is_raw,
                                 t->rule->is_masked,
                                 t->rule->is_zeroed,
                                 nino_stream_precision(x->s),
                                 (uint64_t) (uintptr_t) nino_stream_backend(x->s)->impl };
    const nino_hash key = nino_hash_bytes(made_of, sizeof(made_of));
    nino_prompt p = { 0 };
    if (e->empty && e->empty_key.lo == key.lo && e->empty_key.hi == key.hi)
        return NINO_OK;
    nino_array_unref(&e->empty);
    nino_status st = nino_prompt_empty(&t->prompt_rules, len, &p, x->err);
    if (!st)
        st = clip_encode_run(x, t, &p, &e->empty, NULL);
    if (st || nino_stream_is_plan(x->s))
        e->empty_key = (nino_hash){ 0 };
    else
        e->empty_key = key;
    nino_prompt_release(&p);
    return st;
}

// z = (z - empty) * weight + empty, row by row of [n_chunks,chunk_len,width].
static void apply_weights(const nino_prompt *p, const nino_array *empty, nino_array *z)
{
    const int64_t width = z->shape.dim[2];
    for (int64_t i = 0; i < (int64_t) p->n_chunks * p->chunk_len; i++) {
        const float w = p->tokens[i].weight;
        const float *e = nino_array_f32(empty) + i % p->chunk_len * width;
        float *row = nino_array_f32(z) + i * width;
        for (int64_t k = 0; w != 1 && k < width; k++)
            row[k] = (row[k] - e[k]) * w + e[k];
    }
}

// [n_chunks,chunk_len,width] and n_empty times the empty prompt -> [1,T,width]
static nino_status join_chunks(const encoding *x, task *t)
{
    const int64_t width = t->e->width;
    const int64_t chunks = t->prompt.n_chunks + t->n_empty;
    nino_array *all =
        nino_array_create(NINO_F32, NINO_SHAPE(1, chunks * t->prompt.chunk_len, width));
    if (!all)
        return clip_encode_no_memory(x);
    char *to = all->data;
    memcpy(to, t->hidden->data, t->hidden->bytes);
    to += t->hidden->bytes;
    for (int i = 0; i < t->n_empty; i++, to += t->e->empty->bytes)
        memcpy(to, t->e->empty->data, t->e->empty->bytes);
    nino_array_unref(&t->hidden);
    t->hidden = all;
    return NINO_OK;
}

static nino_status encode_one(const encoding *x, task *t)
{
    nino_prompt first = t->prompt; // shares its tokens
    nino_status st;
    if (!t->rule->has_hidden) { // pooled is the first chunk's
        first.n_chunks = 1;
        return clip_encode_run(x, t, &first, NULL, &t->pooled);
    }
    st = clip_encode_run(x, t, &t->prompt, &t->hidden, t->rule->has_pooled ? &t->pooled : NULL);
    if (!st && (t->prompt.is_weighted || t->n_empty))
        st = encode_empty(x, t, t->prompt.chunk_len);
    if (!st && t->prompt.is_weighted)
        apply_weights(&t->prompt, t->e->empty, t->hidden);
    return st ? st : join_chunks(x, t);
}

// ---- putting it together ---------------------------------------------------------------------

static int64_t clip_encode_rows_of(const nino_array *a) { return a ? a->shape.dim[1] : 0; }
static int64_t clip_encode_cols_of(const nino_array *a)
{
    return a ? a->shape.dim[a->shape.rank - 1] : 0;
}

// dst [1,T,W] at row0, col0 becomes the first n rows of src [1,n or more,w].
static void put_rows(nino_array *dst, int64_t row0, int64_t col0, const nino_array *src, int64_t n)
{
    const int64_t width = clip_encode_cols_of(dst), w = clip_encode_cols_of(src);
    for (int64_t i = 0; src && i < n; i++)
        memcpy(nino_array_f32(dst) + (row0 + i) * width + col0, nino_array_f32(src) + i * w,
               (size_t) w * sizeof(float));
}

// CLIP-L and CLIP-G side by side, as long as the shorter one: SDXL
static nino_status combine_sdxl(const encoding *x, nino_cond_entry *out)
{
    const nino_array *l = x->task[NINO_ENC_CLIP_L].hidden, *g = x->task[NINO_ENC_CLIP_G].hidden;
    const int64_t n = clip_encode_rows_of(l) < clip_encode_rows_of(g) ? clip_encode_rows_of(l)
                                                                      : clip_encode_rows_of(g);
    out->context = nino_array_create(
        NINO_F32, NINO_SHAPE(1, n, clip_encode_cols_of(l) + clip_encode_cols_of(g)));
    if (!out->context)
        return clip_encode_no_memory(x);
    put_rows(out->context, 0, 0, l, n);
    put_rows(out->context, 0, clip_encode_cols_of(l), g, n);
    nino_cond_set_array(&out->pooled, x->task[NINO_ENC_CLIP_G].pooled);
    return NINO_OK;
}

// The same, as wide as T5 and with its rows behind; zeros for what there is not.
static nino_status combine_sd3(const encoding *x, nino_cond_entry *out)
{
    const task *l = &x->task[NINO_ENC_CLIP_L], *g = &x->task[NINO_ENC_CLIP_G];
    const nino_array *t5 = x->task[NINO_ENC_T5].hidden;
    int64_t n = l->hidden ? clip_encode_rows_of(l->hidden) : clip_encode_rows_of(g->hidden);
    if (g->hidden && clip_encode_rows_of(g->hidden) < n)
        n = clip_encode_rows_of(g->hidden);
    const int64_t g_col = l->hidden ? clip_encode_cols_of(l->hidden) : CLIP_L_WIDTH;
    const int64_t lg_width = n ? g_col + clip_encode_cols_of(g->hidden) : 0;
    int64_t width = t5 ? clip_encode_cols_of(t5) : SD3_WIDTH;
    width = lg_width > width ? lg_width : width;
    const int64_t rows = n + clip_encode_rows_of(t5);
    out->context = nino_array_create(NINO_F32, NINO_SHAPE(1, rows ? rows : SD3_ROWS, width));
    const int64_t l_pooled = l->pooled ? clip_encode_cols_of(l->pooled) : CLIP_L_WIDTH;
    const int64_t g_pooled = g->pooled ? clip_encode_cols_of(g->pooled) : CLIP_G_WIDTH;
    out->pooled = nino_array_create(NINO_F32, NINO_SHAPE(1, l_pooled + g_pooled));
    if (!out->context || !out->pooled)
        return clip_encode_no_memory(x);
    put_rows(out->context, 0, 0, l->hidden, n);
    put_rows(out->context, 0, g_col, g->hidden, n);
    put_rows(out->context, n, 0, t5, clip_encode_rows_of(t5));
    put_rows(out->pooled, 0, 0, l->pooled, 1);
    put_rows(out->pooled, 0, l_pooled, g->pooled, 1);
    return NINO_OK;
}

static nino_status clip_encode_combine(const encoding *x, nino_cond_entry *out)
{
    if (x->c->type == NINO_CLIP_SDXL)
        return combine_sdxl(x, out);
    if (x->c->type == NINO_CLIP_SD3)
        return combine_sd3(x, out);
    for (int i = 0; i < NINO_ENC_COUNT; i++) {
        if (x->task[i].hidden)
            nino_cond_set_array(&out->context, x->task[i].hidden);
        if (x->task[i].pooled)
            nino_cond_set_array(&out->pooled, x->task[i].pooled);
    }
    return NINO_OK;
}

// ---- all of it -------------------------------------------------------------------------------

// Of CLIP-H's 24 layers, diffusers' files leave out the last, which no model takes: the others are
// counted as if it were there.
static int layer_of(const nino_encoder *e, int layer)
{
    const bool lacks_last = e->id == NINO_ENC_CLIP_H && e->n_layers == 23 && layer < 0;
    return nino_encoder_layer(e, layer + lacks_last);
}

static void choose_tasks(encoding *x)
{
    for (int i = 0; i < MAX_RULES; i++) {
        const rule *r = &rules[x->c->type][i];
        nino_encoder *e = r->has_hidden || r->has_pooled ? x->c->enc[r->id] : NULL;
        if (e)
            x->task[r->id] = (task){
                .rule = r,
                .e = e,
                .layer = layer_of(e, x->c->layer ? x->c->layer : r->layer),
            };
    }
}

static const char *text_for(const nino_clip_text *text, nino_encoder_id id)
{
    const char *own = text->by_encoder[id];
    return own ? own : text->all ? text->all : "";
}

// Without padding, CLIPs whose texts are both empty take no part, and T5 sees one token.
static nino_status drop_empty(encoding *x, const nino_clip_text *text)
{
    task *l = &x->task[NINO_ENC_CLIP_L], *g = &x->task[NINO_ENC_CLIP_G];
    task *t5 = &x->task[NINO_ENC_T5];
    if (!*text_for(text, NINO_ENC_CLIP_L) && !*text_for(text, NINO_ENC_CLIP_G)) {
        nino_prompt_release(&l->prompt);
        nino_prompt_release(&g->prompt);
        l->rule = g->rule = NULL;
    }
    if (!t5->rule || *text_for(text, NINO_ENC_T5))
        return NINO_OK;
    nino_prompt_release(&t5->prompt);
    return nino_prompt_empty(&t5->prompt_rules, 1, &t5->prompt, x->err);
}

// Two CLIPs with texts of their own are made equally long with empty prompts.
static void make_equally_long(encoding *x)
{
    task *l = &x->task[NINO_ENC_CLIP_L], *g = &x->task[NINO_ENC_CLIP_G];
    if (!l->rule || !g->rule)
        return;
    const int more = l->prompt.n_chunks - g->prompt.n_chunks;
    l->n_empty = more < 0 ? -more : 0;
    g->n_empty = more > 0 ? more : 0;
}

static nino_status encode_all(encoding *x, const nino_clip_text *text, nino_cond_entry *out)
{
    nino_status st = NINO_OK;
    if (nino_clip_is_llm(x->c->type))
        return nino_clip_encode_llm(x->s, x->c, text, out, x->err);
    choose_tasks(x);
    for (int i = 0; i < NINO_ENC_COUNT && !st; i++)
        if (x->task[i].rule)
            st = text->is_bare ? tokenise_bare(x, &x->task[i])
                               : tokenise(x, &x->task[i], text_for(text, (nino_encoder_id) i));
    if (!st && text->no_empty_padding)
        st = drop_empty(x, text);
    if (text->by_encoder[NINO_ENC_CLIP_L] || text->by_encoder[NINO_ENC_CLIP_G])
        make_equally_long(x);
    for (int i = 0; i < NINO_ENC_COUNT && !st; i++)
        if (x->task[i].rule)
            st = encode_one(x, &x->task[i]);
    if (!st)
        st = clip_encode_combine(x, out);
    for (int i = 0; i < NINO_ENC_COUNT; i++) {
        nino_prompt_release(&x->task[i].prompt);
        nino_array_unref(&x->task[i].hidden);
        nino_array_unref(&x->task[i].pooled);
    }
    return st;
}

nino_status nino_clip_encode(nino_stream *s, const nino_clip *c, const nino_clip_text *text,
                             nino_cond **out, nino_error *err)
{
    nino_error own = { 0 };
    err = err ? err : &own; // its kind decides below
    nino_cond *cond = nino_cond_create(1);
    if (!cond)
        return nino_fail(err, NINO_ERR_NOMEM, c->name, "out of memory");
    const nino_precision before = nino_stream_asked_precision(s);
    nino_status st = encode_all(&(encoding){ .s = s, .c = c, .err = err }, text, &cond->entry[0]);
    const nino_precision precision = nino_stream_precision(s);
    if (st == NINO_ERR_RANGE && !strcmp(err->kind, "nan") && precision != NINO_PREC_F32) {
        nino_stream_set_precision(s, NINO_PREC_F32); // once more, in full precision
        st = encode_all(&(encoding){ .s = s, .c = c, .err = err }, text, &cond->entry[0]);
    }
    nino_stream_set_precision(s, before);
    if (st)
        nino_cond_unref(&cond);
    *out = cond;
    return st;
}
