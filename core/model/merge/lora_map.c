// Which layer of a network each name in a LoRA file means: the table of names, and those that all
// diffusion networks have. Names: ComfyUI lora.py.
#include "core/model/merge/lora_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/error.h"

static bool lora_map_make_room(lora_map *m)
{
    if (!m->arena && !(m->arena = nino_arena_create()))
        return false;
    if (m->n < m->room)
        return true;
    const int room = m->room ? 2 * m->room : 256;
    lora_place *p = realloc(m->place, (size_t) room * sizeof(*p));
    if (!p)
        return false;
    m->place = p;
    m->room = room;
    return true;
}

static void lora_map_add_key(lora_map *m, const char *key, lora_place p)
{
    p.key = lora_map_make_room(m) ? nino_arena_strdup(m->arena, key) : NULL;
    if (!p.key) {
        m->is_failed = true;
        return;
    }
    p.order = m->n;
    m->place[m->n++] = p;
}

void lora_map_add(lora_map *m, const nino_weights *file, const char *tensor, const char *prefix,
                  const char *stem, int64_t row0, int64_t rows, int64_t from)
{
    static const char list[] = "_to_out_0"; // older names are without the index
    const nino_tensor_info *t = nino_weights_find(file, tensor);
    char name[2 * LORA_KEY_MAX], key[LORA_KEY_MAX];
    const int len = snprintf(name, sizeof(name), "%s%s", prefix, stem);
    if (!t || t->rank < 1 || len < 1 || len >= (int) sizeof(name) ||
        !lora_key_canon(name, (size_t) len, key))
        return;
    const lora_place p = { .file = file,
                           .tensor = t,
                           .row0 = row0,
                           .rows = rows > 0 ? rows : t->dim[0] - row0,
                           .from = from };
    if (p.rows < 1 || p.rows > t->dim[0] - row0)
        return;
    lora_map_add_key(m, key, p);
    const size_t n = strlen(key), k = strlen(list);
    if (n > k && !strcmp(key + n - k, list)) {
        key[n - 2] = 0;
        lora_map_add_key(m, key, p);
    }
}

void lora_map_alias(lora_map *m, const char *from, const char *to, int64_t rows)
{
    char key[LORA_KEY_MAX], other[LORA_KEY_MAX];
    if (!lora_key_canon(from, strlen(from), key) || !lora_key_canon(to, strlen(to), other))
        return;
    for (int i = 0, n = m->n; i < n; i++) {
        lora_place p = m->place[i];
        if (strcmp(p.key, key) != 0 || (rows > 0 && p.from >= rows))
            continue;
        if (rows > 0 && p.rows > rows - p.from)
            p.rows = rows - p.from;
        lora_map_add_key(m, other, p);
    }
}

// The tensor called stem, which has one of two endings. False: there is none.
static bool find_tensor(const lora_dialects *d, const char *stem, nino_name *out)
{
    *out = nino_name_of("%s%s.weight", d->prefix, stem);
    if (!nino_weights_find(d->file, out->s))
        *out = nino_name_of("%s%s.scale", d->prefix, stem);
    return nino_weights_find(d->file, out->s) != NULL;
}

void lora_map_pairs(lora_map *m, const lora_dialects *d, const char *own_base,
                    const char *diffusers_base, const lora_pair *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const lora_pair *p = &list[i];
        const nino_name own = nino_name_of("%s%s", own_base, p->own);
        const nino_name diffusers = nino_name_of("%s%s", diffusers_base, p->diffusers);
        nino_name tensor;
        if (!find_tensor(d, d->is_diffusers ? diffusers.s : own.s, &tensor))
            continue;
        const int row0 = d->is_diffusers ? p->diffusers_row : p->own_row;
        const int from = d->is_diffusers ? p->own_row : p->diffusers_row;
        lora_map_add(m, d->file, tensor.s, "", d->is_diffusers ? own.s : diffusers.s,
                     row0 * d->hidden, p->rows * d->hidden, from * d->hidden);
    }
}

size_t lora_map_stem(const char *name)
{
    static const char *const ends[] = { ".weight", ".scale" };
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        const size_t m = strlen(ends[i]);
        if (n > m && !strcmp(name + n - m, ends[i]))
            return n - m;
    }
    return 0;
}

static int lora_map_by_key(const void *a, const void *b)
{
    const lora_place *x = a, *y = b;
    const int c = strcmp(x->key, y->key);
    return c ? c : (x->order > y->order) - (x->order < y->order);
}

static bool is_lora_map_same(const lora_place *a, const lora_place *b)
{
    return !strcmp(a->key, b->key) && a->tensor == b->tensor && a->row0 == b->row0 &&
           a->from == b->from;
}

// Sorted; a name that was added twice counts once.
nino_status lora_map_finish(lora_map *m, const char *where, nino_error *err)
{
    int n = 0;
    if (m->is_failed)
        return nino_fail(err, NINO_ERR_NOMEM, where, "no memory for the names of its layers");
    if (m->n)
        qsort(m->place, (size_t) m->n, sizeof(m->place[0]), lora_map_by_key);
    for (int i = 0; i < m->n; i++)
        if (!n || !is_lora_map_same(&m->place[n - 1], &m->place[i]))
            m->place[n++] = m->place[i];
    m->n = n;
    return NINO_OK;
}

nino_status lora_map_diffusion(lora_map *m, const nino_diffusion *d, nino_error *err)
{
    const size_t skip = strlen(d->prefix);
    for (int i = 0; i < nino_weights_count(d->file); i++) {
        const char *name = nino_weights_at(d->file, i)->name;
        char stem[LORA_KEY_MAX];
        if (strncmp(name, d->prefix, skip) != 0)
            continue;
        const size_t len = lora_map_stem(name + skip);
        snprintf(stem, sizeof(stem), "%.*s", (int) len, name + skip);
        if (len)
            lora_map_add(m, d->file, name, "", stem, 0, 0, 0);
        lora_map_add(m, d->file, name, "", name + skip, 0, 0, 0);
    }
    if (d->kind == NINO_DIFFUSION_UNET)
        lora_map_unet(m, d->file, d->prefix);
    else if (d->kind == NINO_DIFFUSION_FLUX)
        lora_map_flux(m, d->file, d->prefix);
    else if (d->kind == NINO_DIFFUSION_WAN)
        lora_map_wan(m, d->file, d->prefix);
    else if (d->kind == NINO_DIFFUSION_ZIMAGE)
        lora_map_zimage(m, d->file, d->prefix);
    else if (d->kind == NINO_DIFFUSION_SD3)
        lora_map_sd3(m, d->file, d->prefix);
    return lora_map_finish(m, d->name, err);
}

// ---- text encoders ---------------------------------------------------------------------------
// What stands before the names of an encoder's layers; which of them mean it depends on the company
// it is in.
typedef struct words {
    const char *list[10];
    int n;
} words;

static void lora_map_add_word(words *w, const char *word) { w->list[w->n++] = word; }

static void clip_words(words *w, const nino_clip *c, nino_encoder_id id)
{
    const bool has_l = c->enc[NINO_ENC_CLIP_L] != NULL;
    if (id == NINO_ENC_CLIP_G && has_l) {
        lora_map_add_word(w, "lora_te2_");
        lora_map_add_word(w, "text_encoder_2.");
    } else {
        lora_map_add_word(w, "lora_te_");
        lora_map_add_word(w, "lora_te1_");
        lora_map_add_word(w, "text_encoder.");
    }
    if (id == NINO_ENC_CLIP_G)
        lora_map_add_word(w, "lora_prior_te_");
    lora_map_add_word(w, id == NINO_ENC_CLIP_L   ? "text_encoders.clip_l.transformer."
                         : id == NINO_ENC_CLIP_G ? "text_encoders.clip_g.transformer."
                                                 : "text_encoders.clip_h.transformer.");
}

// T5 comes after the CLIPs; behind one CLIP it is counted as the second or, as in SD3, the third.
static void t5_words(words *w, const nino_clip *c, nino_encoder_id id)
{
    const int before = (c->enc[NINO_ENC_CLIP_L] != NULL) + (c->enc[NINO_ENC_CLIP_G] != NULL);
    if (!before) {
        lora_map_add_word(w, "lora_te1_");
        lora_map_add_word(w, "text_encoder.");
    }
    if (before == 1) {
        lora_map_add_word(w, "lora_te2_");
        lora_map_add_word(w, "text_encoder_2.");
    }
    if (before) {
        lora_map_add_word(w, "lora_te3_");
        lora_map_add_word(w, "text_encoder_3.");
    }
    lora_map_add_word(w, id == NINO_ENC_T5 ? "text_encoders.t5xxl.transformer."
                                           : "text_encoders.umt5xxl.transformer.");
}

// Language models are alone.
static void llm_words(words *w, nino_encoder_id id)
{
    lora_map_add_word(w, "lora_te_");
    lora_map_add_word(w, "lora_te1_");
    lora_map_add_word(w, "text_encoder.");
    if (id == NINO_ENC_QWEN3) {
        lora_map_add_word(w, "text_encoders.qwen3_4b.transformer.");
        lora_map_add_word(w, "text_encoders.qwen3_8b.transformer.");
    } else {
        lora_map_add_word(w, id == NINO_ENC_MISTRAL3 ? "text_encoders.mistral3_24b.transformer."
                                                     : "text_encoders.qwen25_7b.transformer.");
    }
}

static void add_words(lora_map *m, const words *w, const nino_weights *file, const char *tensor,
                      const char *stem, int64_t row0, int64_t rows)
{
    for (int i = 0; i < w->n; i++)
        lora_map_add(m, file, tensor, w->list[i], stem, row0, rows, 0);
}

// A layer with OpenCLIP's names; Hugging Face's are the ones that LoRA files use.
static void add_open_clip(lora_map *m, const words *w, const nino_weights *file, const char *tensor,
                          const char *name)
{
    static const struct {
        const char *theirs, *hf;
        int third; // of the rows; -1: all
    } rows[] = {
        { "attn.in_proj_weight", "self_attn.q_proj", 0 },
        { "attn.in_proj_weight", "self_attn.k_proj", 1 },
        { "attn.in_proj_weight", "self_attn.v_proj", 2 },
        { "attn.out_proj.weight", "self_attn.out_proj", -1 },
        { "mlp.c_fc.weight", "mlp.fc1", -1 },
        { "mlp.c_proj.weight", "mlp.fc2", -1 },
        { "ln_1.weight", "layer_norm1", -1 },
        { "ln_2.weight", "layer_norm2", -1 },
    };
    const nino_tensor_info *t = nino_weights_find(file, tensor);
    int block = -1, at = 0;
    char stem[LORA_KEY_MAX];
    if (sscanf(name, "transformer.resblocks.%d.%n", &block, &at) < 1 || !at || !t || t->rank < 1)
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(name + at, rows[i].theirs) != 0)
            continue;
        const int64_t third = rows[i].third < 0 ? 0 : t->dim[0] / 3;
        snprintf(stem, sizeof(stem), "text_model.encoder.layers.%d.%s", block, rows[i].hf);
        add_words(m, w, file, tensor, stem, rows[i].third * third, third);
    }
}

nino_weights *lora_file_of(const nino_clip *c, const nino_encoder *e)
{
    return c->loras ? nino_weights_base(e->file) : e->file;
}

static void map_encoder(lora_map *m, const nino_clip *c, const nino_encoder *e, const words *w)
{
    const nino_weights *file = lora_file_of(c, e);
    const size_t skip = strlen(e->prefix);
    const bool is_clip = e->id < NINO_ENC_T5;
    for (int i = 0; i < nino_weights_count(file); i++) {
        const char *full = nino_weights_at(file, i)->name, *name = full + skip;
        char stem[LORA_KEY_MAX];
        if (strncmp(full, e->prefix, skip) != 0)
            continue;
        // the first releases of transformers, and files made from them, lack the first word
        const bool is_short =
            is_clip && (!strncmp(name, "encoder.layers.", 15) || !strncmp(name, "embeddings.", 11));
        const size_t len = lora_map_stem(name);
        snprintf(stem, sizeof(stem), "%s%.*s", is_short ? "text_model." : "", (int) len, name);
        if (len)
            add_words(m, w, file, full, stem, 0, 0);
        if (is_clip)
            add_open_clip(m, w, file, full, name);
    }
}

nino_status lora_map_clip(lora_map *m, const nino_clip *c, nino_error *err)
{
    for (int i = 0; i < NINO_ENC_COUNT; i++) {
        words w = { .n = 0 };
        if (!c->enc[i])
            continue;
        if (i == NINO_ENC_T5 || i == NINO_ENC_UMT5)
            t5_words(&w, c, (nino_encoder_id) i);
        else if (i >= NINO_ENC_QWEN3)
            llm_words(&w, (nino_encoder_id) i);
        else
            clip_words(&w, c, (nino_encoder_id) i);
        map_encoder(m, c, c->enc[i], &w);
    }
    return lora_map_finish(m, c->name, err);
}

// ---- lookup ----------------------------------------------------------------------------------

static const lora_place *find_key(const lora_map *m, const char *key, int *n)
{
    int lo = 0, hi = m->n;
    while (lo < hi) { // the first that is not less
        const int mid = lo + (hi - lo) / 2;
        if (strcmp(m->place[mid].key, key) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (hi = lo; hi < m->n && !strcmp(m->place[hi].key, key);)
        hi++;
    *n = hi - lo;
    return hi > lo ? &m->place[lo] : NULL;
}

// Words that say which program or which part a name is from; "transformer." is also the start of
// names themselves, so the whole is looked up before a word is taken off.
static const lora_place *find_within(const lora_map *m, const char *key, int depth, int *n)
{
    static const char *const words_before[] = {
        "lora_unet_",
        "diffusion_model_",
        "model_diffusion_model_",
        "transformer_",
        "lora_",
        "lora_transformer_",
        "lycoris_",
        "unet_",
        "lora_prior_unet_",
        "base_model_model_",
        "_",
    };
    const lora_place *p = find_key(m, key, n);
    for (size_t i = 0; !p && depth && i < sizeof(words_before) / sizeof(words_before[0]); i++) {
        const size_t len = strlen(words_before[i]);
        if (!strncmp(key, words_before[i], len))
            p = find_within(m, key + len, depth - 1, n);
    }
    return p;
}

const lora_place *lora_map_find(const lora_map *m, const char *name, size_t len, int *n)
{
    char key[LORA_KEY_MAX];
    *n = 0;
    return lora_key_canon(name, len, key) ? find_within(m, key, 3, n) : NULL;
}

void lora_map_release(lora_map *m)
{
    nino_arena_destroy(&m->arena);
    free(m->place);
    *m = (lora_map){ 0 };
}
