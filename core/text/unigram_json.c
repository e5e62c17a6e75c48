// Reads a tokenizer.json with a unigram model. Format: Hugging Face tokenizers.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/base64.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/text/unigram_steps.h"

#define MAX_ID (1 << 24)

typedef struct loader {
    nino_unigram *u;
    nino_steps *steps;
    const char *name;
    nino_error *err;
} loader;

static nino_status unigram_json_bad(const loader *l, const char *what)
{
    return nino_fail_kind(l->err, NINO_ERR_FORMAT, "schema", l->name, "%s", what);
}

static nino_status unigram_json_no_memory(const loader *l)
{
    return nino_fail(l->err, NINO_ERR_NOMEM, l->name, "out of memory");
}

static nino_status unsupported(const loader *l, const char *what, const char *type)
{
    return nino_fail_kind(l->err, NINO_ERR_UNSUPPORTED, "model", l->name, "%s '%.60s' is not known",
                          what, type ? type : "");
}

static bool unigram_json_flag(const nino_json *obj, const char *key, bool otherwise)
{
    bool b = otherwise;
    nino_json_bool(nino_json_get(obj, key), &b);
    return b;
}

static bool is_type(const char *type, const char *name) { return type && !strcmp(type, name); }

// ---- vocabulary ------------------------------------------------------------------------------

static nino_status add_vocab(loader *l, const nino_json *model)
{
    const nino_json *vocab = nino_json_get(model, "vocab");
    nino_unigram *u = l->u;
    int64_t unk;
    if (!vocab || vocab->type != NINO_JSON_ARRAY || !vocab->count ||
        vocab->count > NINO_UNIGRAM_MAX_PIECES)
        return unigram_json_bad(l, "model.vocab is not a list of pieces");
    if (!nino_json_i64(nino_json_get(model, "unk_id"), &unk) || unk < 0 || unk >= vocab->count)
        return unigram_json_bad(l, "model.unk_id is not the number of a piece");
    if (!nino_strings_reserve(&u->pieces, vocab->count, (size_t) vocab->count * 8))
        return unigram_json_no_memory(l);
    u->unk = (int32_t) unk;
    u->is_byte_fallback = unigram_json_flag(model, "byte_fallback", false);
    u->min_score = INFINITY;
    for (const nino_json *v = vocab->child; v; v = v->next) {
        const nino_json *text = nino_json_at(v, 0);
        double score;
        bool is_new;
        if (!text || text->type != NINO_JSON_STRING || text->len > NINO_UNIGRAM_MAX_PIECE ||
            !nino_json_double(nino_json_at(v, 1), &score) || !isfinite(score))
            return unigram_json_bad(l, "an entry of model.vocab is not [piece, score]");
        const int32_t id = u->size++;
        if (score < u->min_score)
            u->min_score = score;
        const int byte = nino_unigram_byte(text->text, text->len);
        if (byte >= 0)
            u->bytes[byte] = id;
        const uint64_t hash = nino_strings_hash(NINO_STRINGS_HASH, text->text, text->len);
        if (text->len && !nino_unigram_add(u, hash, text->text, text->len, score, id,
                                           NINO_PIECE_NORMAL, &is_new))
            return unigram_json_no_memory(l);
    }
    return NINO_OK;
}

static nino_status add_special(loader *l, const nino_json *t)
{
    nino_steps *p = l->steps;
    const nino_json *text = nino_json_get(t, "content");
    int64_t id;
    bool is_new;
    if (!text || text->type != NINO_JSON_STRING || !text->len ||
        text->len > NINO_UNIGRAM_MAX_PIECE || !nino_json_i64(nino_json_get(t, "id"), &id) ||
        id < 0 || id >= MAX_ID)
        return unigram_json_bad(l, "an entry of added_tokens has no content or id");
    if (unigram_json_flag(t, "single_word", false))
        return unsupported(l, "an added token with", "single_word");
    const int64_t i = nino_strings_add(&p->special_texts, text->text, text->len, &is_new);
    if (i < 0)
        return unigram_json_no_memory(l);
    p->specials[i] = (nino_special){ (int32_t) id, unigram_json_flag(t, "lstrip", false),
                                     unigram_json_flag(t, "rstrip", false) };
    p->special_begins[(unsigned char) *text->text] = true;
    if (id >= l->u->size)
        l->u->size = (int32_t) id + 1;
    return NINO_OK;
}

static nino_status add_specials(loader *l, const nino_json *added)
{
    nino_status st = NINO_OK;
    if (!added || added->type != NINO_JSON_ARRAY || !added->count)
        return NINO_OK;
    l->steps->specials = calloc(added->count, sizeof(*l->steps->specials));
    if (!l->steps->specials)
        return unigram_json_no_memory(l);
    for (const nino_json *t = added->child; t && !st; t = t->next)
        st = add_special(l, t);
    return st;
}

// ---- normaliser ------------------------------------------------------------------------------

static nino_status add_charsmap(loader *l, const nino_json *spec)
{
    const nino_json *text = nino_json_get(spec, "precompiled_charsmap");
    nino_buf blob = { 0 };
    if (!text || text->type == NINO_JSON_NULL)
        return NINO_OK;
    if (text->type != NINO_JSON_STRING || l->u->charsmap.n_units)
        return unigram_json_bad(l, "precompiled_charsmap is no text, or is there twice");
    nino_status st = nino_base64_decode(text->text, text->len, &blob)
                         ? NINO_OK
                         : unigram_json_bad(l, "precompiled_charsmap is not base64");
    if (blob.failed)
        st = unigram_json_no_memory(l);
    if (!st)
        st = nino_charsmap_load(&l->u->charsmap, (unsigned char *) (blob.data ? blob.data : ""),
                                blob.len, l->name, l->err);
    nino_buf_release(&blob);
    return st;
}

static nino_status add_replace(loader *l, const nino_json *spec, nino_step *step)
{
    const nino_json *pattern = nino_json_get(spec, "pattern");
    const char *plain = nino_json_str(nino_json_get(pattern, "String")),
               *regex = nino_json_str(nino_json_get(pattern, "Regex")),
               *to = nino_json_str(nino_json_get(spec, "content"));
    if (!to || (!plain && !regex) || (plain && !*plain))
        return unigram_json_bad(l, "a Replace step has no pattern or no content");
    if (!plain && strcmp(regex, " {2,}"))
        return unsupported(l, "the pattern", regex);
    step->kind = plain ? NINO_STEP_REPLACE : NINO_STEP_REPLACE_SPACES;
    step->from = plain ? strdup(plain) : NULL;
    step->to = strdup(to);
    return step->to && (!plain || step->from) ? NINO_OK : unigram_json_no_memory(l);
}

static nino_status unigram_json_add_step(loader *l, const nino_json *spec)
{
    const char *type = nino_json_str(nino_json_get(spec, "type"));
    if (l->steps->n_steps == NINO_MAX_STEPS)
        return unigram_json_bad(l, "the normalizer has more than 8 steps");
    nino_step *step = &l->steps->step[l->steps->n_steps++];
    if (is_type(type, "Precompiled")) {
        step->kind = NINO_STEP_CHARSMAP;
        return add_charsmap(l, spec);
    }
    if (is_type(type, "Strip")) {
        step->kind = NINO_STEP_STRIP;
        step->left = unigram_json_flag(spec, "strip_left", false);
        step->right = unigram_json_flag(spec, "strip_right", false);
        return NINO_OK;
    }
    if (is_type(type, "Replace"))
        return add_replace(l, spec, step);
    return unsupported(l, "the normalizer", type);
}

static nino_status add_normalizer(loader *l, const nino_json *spec)
{
    nino_status st = NINO_OK;
    if (!spec || spec->type == NINO_JSON_NULL)
        return NINO_OK;
    if (!is_type(nino_json_str(nino_json_get(spec, "type")), "Sequence"))
        return unigram_json_add_step(l, spec);
    const nino_json *list = nino_json_get(spec, "normalizers");
    for (const nino_json *s = list ? list->child : NULL; s && !st; s = s->next)
        st = unigram_json_add_step(l, s);
    return st;
}

// ---- pre-tokeniser ---------------------------------------------------------------------------

static nino_status add_metaspace(loader *l, const nino_json *spec)
{
    nino_steps *p = l->steps;
    const char *space = nino_json_str(nino_json_get(spec, "replacement")),
               *scheme = nino_json_str(nino_json_get(spec, "prepend_scheme"));
    if (!space || !*space || strlen(space) > 4 || p->space)
        return unigram_json_bad(l, "Metaspace has no replacement, or is there twice");
    if (!(p->space = strdup(space)))
        return unigram_json_no_memory(l);
    if (!scheme)
        scheme = unigram_json_flag(spec, "add_prefix_space", true) ? "always" : "never";
    p->is_prefixed_once = !strcmp(scheme, "first");
    p->is_prefixed = p->is_prefixed_once || !strcmp(scheme, "always");
    p->splits_words = unigram_json_flag(spec, "split", true);
    return p->is_prefixed || !strcmp(scheme, "never")
               ? NINO_OK
               : unsupported(l, "the prepend_scheme", scheme);
}

static nino_status add_splitter(loader *l, const nino_json *spec)
{
    const char *type = nino_json_str(nino_json_get(spec, "type"));
    if (is_type(type, "Metaspace"))
        return add_metaspace(l, spec);
    if (!is_type(type, "WhitespaceSplit") || l->steps->space)
        return unsupported(l, "the pre_tokenizer", type);
    l->steps->splits_spaces = true;
    return NINO_OK;
}

static nino_status add_pre_tokenizer(loader *l, const nino_json *spec)
{
    nino_status st = NINO_OK;
    if (!spec || spec->type == NINO_JSON_NULL)
        return NINO_OK;
    if (!is_type(nino_json_str(nino_json_get(spec, "type")), "Sequence"))
        return add_splitter(l, spec);
    const nino_json *list = nino_json_get(spec, "pretokenizers");
    for (const nino_json *s = list ? list->child : NULL; s && !st; s = s->next)
        st = add_splitter(l, s);
    return st;
}

// ---- the file --------------------------------------------------------------------------------

static nino_status unigram_json_read_all(loader *l, const nino_json *root)
{
    const nino_json *model = nino_json_get(root, "model");
    const char *type = nino_json_str(nino_json_get(model, "type"));
    if (!model)
        return unigram_json_bad(l, "there is no model in it");
    if (!is_type(type, "Unigram"))
        return unsupported(l, "the model type", type);
    nino_status st = add_vocab(l, model);
    if (!st)
        st = add_specials(l, nino_json_get(root, "added_tokens"));
    if (!st)
        st = add_normalizer(l, nino_json_get(root, "normalizer"));
    if (!st)
        st = add_pre_tokenizer(l, nino_json_get(root, "pre_tokenizer"));
    return st;
}

nino_status nino_unigram_from_json(const char *json, size_t len, const char *name,
                                   nino_unigram **out, nino_error *err)
{
    loader l = { .u = nino_unigram_create(), .name = name, .err = err };
    nino_json_doc *doc = NULL;
    if (l.u)
        l.u->steps = l.steps = calloc(1, sizeof(*l.steps));
    nino_status st = l.steps ? NINO_OK : unigram_json_no_memory(&l);
    if (!st) {
        memset(l.u->bytes, 0xff, sizeof(l.u->bytes)); // -1
        st = nino_json_parse(json, len, name, NULL, &doc, err);
    }
    if (!st)
        st = unigram_json_read_all(&l, doc->root);
    nino_json_doc_destroy(&doc);
    if (st)
        nino_unigram_destroy(&l.u);
    else
        *out = l.u;
    return st;
}
