// Tokenizers as the encoders see them: found in folders or in the encoder's own file, shared.
#include "core/text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/file/safetensors.h"
#include "core/text/bpe.h"
#include "core/text/unigram.h"

#define MAX_FILE ((size_t) 64 << 20)
#define SPIECE_TENSOR "spiece_model"
#define TEKKEN_TENSOR "tekken_model"

struct nino_tokenizer {
    int refs;
    char *path;
    nino_bpe *bpe; // one of the two
    nino_unigram *unigram;
};

// Takes the tables, also on failure.
static nino_status tokenizer_make(nino_bpe *b, nino_unigram *u, const char *path,
                                  nino_tokenizer **out, nino_error *err)
{
    nino_tokenizer *t = calloc(1, sizeof(*t));
    char *copy = strdup(path);
    if (!t || !copy) {
        free(t);
        free(copy);
        nino_bpe_destroy(&b);
        nino_unigram_destroy(&u);
        return nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
    }
    t->refs = 1;
    t->path = copy;
    t->bpe = b;
    t->unigram = u;
    *out = t;
    return NINO_OK;
}

nino_tokenizer *nino_tokenizer_ref(nino_tokenizer *t)
{
    if (t)
        __atomic_add_fetch(&t->refs, 1, __ATOMIC_RELAXED);
    return t;
}

void nino_tokenizer_unref(nino_tokenizer **pt)
{
    nino_tokenizer *t = *pt;
    *pt = NULL;
    if (!t || __atomic_sub_fetch(&t->refs, 1, __ATOMIC_ACQ_REL))
        return;
    nino_bpe_destroy(&t->bpe);
    nino_unigram_destroy(&t->unigram);
    free(t->path);
    free(t);
}

nino_status nino_tokenizer_ids(const nino_tokenizer *t, const char *utf8, int32_t **ids, int *n,
                               nino_error *err)
{
    const size_t len = strlen(utf8);
    return t->bpe ? nino_bpe_ids(t->bpe, NINO_BPE_CLEAN_HF, utf8, len, ids, n, err)
                  : nino_unigram_ids(t->unigram, utf8, len, ids, n, err);
}

bool nino_tokenizer_ends(const nino_tokenizer *t, int32_t *start, int32_t *end)
{
    if (t->bpe)
        nino_bpe_ends(t->bpe, start, end);
    return t->bpe;
}

int32_t nino_tokenizer_special(const nino_tokenizer *t, const char *text)
{
    return t->bpe ? nino_bpe_special(t->bpe, text) : -1;
}

int nino_tokenizer_size(const nino_tokenizer *t)
{
    return t->bpe ? nino_bpe_size(t->bpe) : nino_unigram_size(t->unigram);
}

const char *nino_tokenizer_path(const nino_tokenizer *t) { return t->path; }

// ---- from memory -----------------------------------------------------------------------------

nino_status nino_tokenizer_from_spiece(const void *bytes, size_t n, const char *name,
                                       nino_tokenizer **out, nino_error *err)
{
    nino_unigram *u = NULL;
    const nino_status st = nino_unigram_from_spiece(bytes, n, name, &u, err);
    return st ? st : tokenizer_make(NULL, u, name, out, err);
}

nino_status nino_tokenizer_from_gguf(nino_weights *w, nino_tokenizer **out, nino_error *err)
{
    nino_unigram *u = NULL;
    nino_bpe *bpe = NULL;
    nino_status st = nino_unigram_from_gguf(w, &u, err);
    if (st == NINO_ERR_MISSING)
        st = nino_bpe_from_gguf(w, &bpe, err);
    return st ? st : tokenizer_make(bpe, u, nino_weights_path(w), out, err);
}

static const nino_tensor_info *tokenizer_find(const nino_weights *w, const char *name)
{
    const nino_tensor_info *t = nino_weights_find(w, name);
    const size_t m = strlen(name);
    for (int i = 0; !t && i < nino_weights_count(w); i++) {
        const nino_tensor_info *k = nino_weights_at(w, i);
        const size_t n = strlen(k->name);
        if (n > m && k->name[n - m - 1] == '.' && !strcmp(k->name + n - m, name))
            t = k;
    }
    return t;
}

static nino_status tokenizer_from_bytes(bool is_tekken, const void *bytes, size_t n,
                                        const char *where, nino_tokenizer **out, nino_error *err)
{
    nino_bpe *b = NULL;
    if (!is_tekken)
        return nino_tokenizer_from_spiece(bytes, n, where, out, err);
    const nino_status st = nino_bpe_from_tekken(bytes, n, where, &b, err);
    return st ? st : tokenizer_make(b, NULL, where, out, err);
}

nino_status nino_tokenizer_from_weights(const nino_weights *w, nino_tokenizer **out,
                                        nino_error *err)
{
    char where[192];
    const nino_tensor_info *spiece = tokenizer_find(w, SPIECE_TENSOR);
    const nino_tensor_info *t = spiece ? spiece : tokenizer_find(w, TEKKEN_TENSOR);
    const char *file = nino_weights_path(w);
    if (!t)
        return nino_fail(err, NINO_ERR_MISSING, file,
                         "there is no tensor " SPIECE_TENSOR " or " TEKKEN_TENSOR " in it");
    nino_tensor_where(where, file, t->name, strlen(t->name));
    if (t->dtype != NINO_U8 || t->is_strided || !t->bytes || t->bytes > MAX_FILE)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "dtype", where,
                              "a tokenizer is at most 64 MiB of U8");
    char *bytes = malloc((size_t) t->bytes + 1);
    nino_status st = bytes ? nino_weights_read(w, t, bytes, err)
                           : nino_fail(err, NINO_ERR_NOMEM, where, "out of memory");
    if (!st) {
        bytes[t->bytes] = 0;
        st = tokenizer_from_bytes(t != spiece, bytes, (size_t) t->bytes, where, out, err);
    }
    free(bytes);
    return st;
}

// ---- from files ------------------------------------------------------------------------------

typedef enum form { VOCAB_AND_MERGES, BPE_JSON, BPE_SIMPLE, UNIGRAM_JSON, SPIECE, TEKKEN } form;

typedef struct source {
    form form;
    const char *file, *second;
} source;

// Per kind in the order of preference: ComfyUI's own first.
static const struct {
    const char *name, *folder, *comfy, *wanted;
    source sources[5]; // ends with a NULL file
} kinds[NINO_TOKENIZER_KINDS] = {
    [NINO_TOKENIZER_CLIP] = { "CLIP tokenizer",
                              "clip",
                              "comfy/sd1_tokenizer",
                              "vocab.json and merges.txt, tokenizer.json or "
                              "bpe_simple_vocab_16e6.txt.gz",
                              { { VOCAB_AND_MERGES, "vocab.json", "merges.txt" },
                                { BPE_JSON, "tokenizer.json", NULL },
                                { BPE_SIMPLE, "bpe_simple_vocab_16e6.txt.gz", NULL },
                                { BPE_SIMPLE, "bpe_simple_vocab_16e6.txt", NULL } } },
    [NINO_TOKENIZER_T5] = { "T5 tokenizer",
                            "t5",
                            "comfy/text_encoders/t5_tokenizer",
                            "tokenizer.json or spiece.model",
                            { { UNIGRAM_JSON, "tokenizer.json", NULL },
                              { SPIECE, "spiece.model", NULL } } },
    [NINO_TOKENIZER_UMT5] = { "UMT5 tokenizer",
                              "umt5",
                              NULL,
                              "spiece.model or tokenizer.json",
                              { { SPIECE, "spiece.model", NULL },
                                { UNIGRAM_JSON, "tokenizer.json", NULL } } },
    [NINO_TOKENIZER_QWEN] = { "Qwen tokenizer",
                              "qwen25",
                              "comfy/text_encoders/qwen25_tokenizer",
                              "vocab.json and merges.txt or tokenizer.json",
                              { { VOCAB_AND_MERGES, "vocab.json", "merges.txt" },
                                { BPE_JSON, "tokenizer.json", NULL } } },
    [NINO_TOKENIZER_MISTRAL] = { "Mistral tokenizer",
                                 "mistral3",
                                 NULL,
                                 "tekken.json or tokenizer.json",
                                 { { TEKKEN, "tekken.json", NULL },
                                   { BPE_JSON, "tokenizer.json", NULL } } },
};

static nino_bpe_pattern pattern_of(nino_tokenizer_kind kind)
{
    return kind == NINO_TOKENIZER_QWEN      ? NINO_BPE_QWEN
           : kind == NINO_TOKENIZER_MISTRAL ? NINO_BPE_MISTRAL
                                            : NINO_BPE_CLIP;
}

static nino_status tokenizer_read_file(const char *dir, const char *file, nino_buf *path,
                                       char **data, size_t *len, nino_error *err)
{
    nino_buf_clear(path);
    nino_buf_addf(path, "%s/%s", dir, file);
    return path->failed ? nino_fail(err, NINO_ERR_NOMEM, file, "out of memory")
                        : nino_file_read(path->data, MAX_FILE, false, data, len, err);
}

static nino_status tokenizer_parse(const source *s, nino_bpe_pattern pattern, const char *path,
                                   const char *a, size_t n_a, const char *b, size_t n_b,
                                   nino_tokenizer **out, nino_error *err)
{
    nino_bpe *bpe = NULL;
    nino_unigram *u = NULL;
    nino_status st = NINO_OK;
    switch (s->form) {
    case VOCAB_AND_MERGES:
        st = nino_bpe_from_vocab(pattern, a, n_a, b, n_b, path, &bpe, err);
        break;
    case BPE_JSON: st = nino_bpe_from_json(pattern, a, n_a, path, &bpe, err); break;
    case BPE_SIMPLE: st = nino_bpe_from_simple(a, n_a, path, &bpe, err); break;
    case UNIGRAM_JSON: st = nino_unigram_from_json(a, n_a, path, &u, err); break;
    case TEKKEN: st = nino_bpe_from_tekken(a, n_a, path, &bpe, err); break;
    case SPIECE: st = nino_unigram_from_spiece(a, n_a, path, &u, err); break;
    }
    return st ? st : tokenizer_make(bpe, u, path, out, err);
}

// NINO_ERR_MISSING: this folder does not have that source.
static nino_status open_source(const source *s, nino_bpe_pattern pattern, const char *dir,
                               nino_tokenizer **out, nino_error *err)
{
    nino_buf path = { 0 };
    char *a = NULL, *b = NULL;
    size_t n_a = 0, n_b = 0;
    nino_status st = NINO_OK;
    if (s->second)
        st = tokenizer_read_file(dir, s->second, &path, &b, &n_b, err);
    if (!st)
        st = tokenizer_read_file(dir, s->file, &path, &a, &n_a, err);
    if (!st)
        st = tokenizer_parse(s, pattern, path.data, a, n_a, b, n_b, out, err);
    free(a);
    free(b);
    nino_buf_release(&path);
    return st;
}

// Says what was wanted and every folder, the ends of long names only.
static nino_status not_found(nino_tokenizer_kind kind, const char *const *dirs, nino_error *err)
{
    const char *wanted = kinds[kind].wanted;
    const size_t room = sizeof(err->msg) - strlen(wanted) - 16;
    size_t n = 0;
    nino_buf list = { 0 };
    while (dirs[n])
        n++;
    for (size_t i = 0; i < n; i++) {
        const size_t len = strlen(dirs[i]), most = room / n > 12 ? room / n - 5 : 7;
        nino_buf_addf(&list, "%s%s%s", i ? ", " : "", len > most ? "..." : "",
                      len > most ? dirs[i] + len - most : dirs[i]);
    }
    nino_fail_kind(err, NINO_ERR_MISSING, "missing_file", kinds[kind].name, "no %s in %s", wanted,
                   list.data ? list.data : "any folder: none is known");
    nino_buf_release(&list);
    return NINO_ERR_MISSING;
}

nino_status nino_tokenizer_open(nino_tokenizer_kind kind, const char *const *dirs,
                                nino_tokenizer **out, nino_error *err)
{
    for (const char *const *d = dirs; *d; d++)
        for (const source *s = kinds[kind].sources; s->file; s++) {
            const nino_status st = open_source(s, pattern_of(kind), *d, out, err);
            if (st != NINO_ERR_MISSING)
                return st;
        }
    return not_found(kind, dirs, err);
}

// ---- folders ---------------------------------------------------------------------------------

typedef struct list {
    nino_buf text; // terminated strings
    size_t n;
} list;

// Each once.
static void add_dir(list *l, const nino_buf *dir)
{
    const char *s = l->text.data;
    l->text.failed = l->text.failed || dir->failed;
    if (l->text.failed)
        return;
    for (size_t i = 0; i < l->n; i++, s += strlen(s) + 1)
        if (!strcmp(s, dir->data))
            return;
    nino_buf_add(&l->text, dir->data, dir->len + 1);
    l->n += !l->text.failed;
}

// DIR/NAME, or beside DIR: ../NAME, by DIR's name where that tells its parent.
static void tokenizer_join(nino_buf *out, const char *dir, bool beside, const char *name)
{
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/')
        n--;
    nino_buf_clear(out);
    if (beside) {
        size_t cut = n;
        while (cut && dir[cut - 1] != '/')
            cut--;
        const bool is_dots = n - cut <= 2 && !strncmp(dir + cut, "..", n - cut);
        if (is_dots)
            nino_buf_addf(out, "%.*s/../%s", (int) n, dir, name);
        else
            nino_buf_addf(out, "%.*s%s", (int) cut, dir, name);
        return;
    }
    nino_buf_addf(out, "%.*s/%s", (int) n, dir, name);
}

char **nino_tokenizer_dirs(nino_tokenizer_kind kind, char *const *tokenizers, char *const *models)
{
    static const char *const checkouts[] = { "", "ComfyUI/" };
    list l = { 0 };
    nino_buf dir = { 0 }, name = { 0 };
    for (char *const *t = tokenizers; t && *t; t++) {
        tokenizer_join(&dir, *t, false, kinds[kind].folder);
        add_dir(&l, &dir);
    }
    for (char *const *m = models; kinds[kind].comfy && m && *m; m++)
        for (int i = 0; i < 2; i++) {
            nino_buf_clear(&name);
            nino_buf_addf(&name, "%s%s", checkouts[i], kinds[kind].comfy);
            tokenizer_join(&dir, *m, true, name.failed ? "" : name.data);
            add_dir(&l, &dir);
        }
    char **out =
        l.text.failed || name.failed ? NULL : malloc((l.n + 1) * sizeof(*out) + l.text.len + 1);
    if (out) {
        char *s = (char *) (out + l.n + 1);
        if (l.text.len)
            memcpy(s, l.text.data, l.text.len);
        for (size_t i = 0; i < l.n; i++, s += strlen(s) + 1)
            out[i] = s;
        out[l.n] = NULL;
    }
    nino_buf_release(&l.text);
    nino_buf_release(&dir);
    nino_buf_release(&name);
    return out;
}
