// Textual-inversion files. Rules: ComfyUI sd1_clip.py, load_embed().
#include "core/text/embedding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/file/safetensors.h"

#define MAX_ROWS (1 << 20)
#define INNER "string_to_param."
#define BUNDLE "bundle_emb."

void nino_embedding_release(nino_embedding *e)
{
    if (!e)
        return;
    free(e->data);
    *e = (nino_embedding){ 0 };
}

// ---- the vectors -----------------------------------------------------------------------------

// Adds a tensor's rows: [width], or [..., width].
static nino_status embedding_add_rows(const nino_weights *w, const nino_tensor_info *t,
                                      nino_embedding *e, nino_error *err)
{
    char where[192];
    const int64_t width = t->rank ? t->dim[t->rank - 1] : 0;
    int64_t rows = 1;
    nino_tensor_where(where, nino_weights_path(w), t->name, strlen(t->name));
    for (int i = 0; i + 1 < t->rank; i++)
        if (__builtin_mul_overflow(rows, t->dim[i], &rows))
            rows = MAX_ROWS + 1;
    if (width < 1 || width > MAX_ROWS || rows > MAX_ROWS - e->rows ||
        (e->data && width != e->width))
        return nino_fail_kind(err, NINO_ERR_FORMAT, "shape", where,
                              "it does not hold vectors of one width");
    nino_array *a = nino_weights_read_f32(w, t, err);
    if (!a)
        return err->code;
    const size_t had = (size_t) e->rows * (size_t) width * sizeof(float);
    float *data = realloc(e->data, had + a->bytes + 1);
    if (data) {
        if (a->bytes)
            memcpy((char *) data + had, a->data, a->bytes);
        e->data = data;
        e->rows += (int) rows;
        e->width = (int) width;
    }
    nino_array_unref(&a);
    return data ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, where, "out of memory");
}

static bool has_ends(const char *name, const char *begin, const char *end)
{
    const size_t n = strlen(name), b = strlen(begin), e = strlen(end);
    return n >= b + e && !memcmp(name, begin, b) && !memcmp(name + n - e, end, e);
}

// All tensors bundle_emb.*SUFFIX, one after the other.
static nino_status add_bundle(const nino_weights *w, const char *suffix, nino_embedding *e,
                              nino_error *err)
{
    nino_status st = NINO_OK;
    for (int i = 0; i < nino_weights_count(w) && !st; i++)
        if (has_ends(nino_weights_at(w, i)->name, BUNDLE, suffix))
            st = embedding_add_rows(w, nino_weights_at(w, i), e, err);
    return st;
}

static const nino_tensor_info *embedding_find(const nino_weights *w, const char *key)
{
    for (int i = 0; i < nino_weights_count(w); i++)
        if (has_ends(nino_weights_at(w, i)->name, INNER, ""))
            return nino_weights_at(w, i);
    return nino_weights_find(w, key);
}

nino_status nino_embedding_read(const nino_weights *w, const char *key, nino_embedding *out,
                                nino_error *err)
{
    char suffix[64];
    nino_embedding e = { 0 };
    nino_status st = NINO_OK;
    const nino_tensor_info *t = embedding_find(w, key);
    nino_error mine = { 0 };
    if (!t) {
        snprintf(suffix, sizeof(suffix), ".%s", key);
        st = add_bundle(w, ".string_to_param.*", &e, &mine);
        if (!st && !e.data)
            st = add_bundle(w, suffix, &e, &mine);
    }
    if (!st && !t && !e.data && !(t = nino_weights_find(w, "emb_params")) && nino_weights_count(w))
        t = nino_weights_at(w, 0);
    if (!st && t)
        st = embedding_add_rows(w, t, &e, &mine);
    if (!st && !e.data)
        st = nino_fail_kind(&mine, NINO_ERR_FORMAT, "schema", nino_weights_path(w),
                            "there is no vector in it");
    if (st) {
        nino_embedding_release(&e);
        if (err)
            *err = mine;
        return st;
    }
    *out = e;
    return NINO_OK;
}

// ---- the file --------------------------------------------------------------------------------

// Does `file` end in name + ext, as a whole path or below some folder? *folder: length of that.
static bool is_match(const char *file, const char *name, const char *ext, size_t *folder)
{
    const size_t f = strlen(file), n = strlen(name), e = strlen(ext);
    if (f < n + e || memcmp(file + f - e, ext, e) || memcmp(file + f - e - n, name, n))
        return false;
    *folder = f - e - n;
    return !*folder || file[*folder - 1] == '/';
}

static const char *const endings[] = { "", ".safetensors", ".pt", ".bin" };
#define ENDINGS ((int) (sizeof(endings) / sizeof(endings[0])))

// The first file at the top (below it) with any ending, or -1.
static int first_match(const char *name, char *const *files, bool is_top, size_t *folder)
{
    for (int i = 0; files[i]; i++)
        for (int k = 0; k < ENDINGS; k++)
            if (is_match(files[i], name, endings[k], folder) && !*folder == is_top)
                return i;
    return -1;
}

int nino_embedding_find(const char *name, char *const *files)
{
    size_t folder = 0, f;
    int found = *name ? first_match(name, files, true, &folder) : -1;
    if (found < 0 && *name)
        found = first_match(name, files, false, &folder);
    for (int k = 0; found >= 0 && k < ENDINGS; k++) // in that folder the first ending counts
        for (int i = 0; files[i]; i++)
            if (is_match(files[i], name, endings[k], &f) && f == folder &&
                !memcmp(files[i], files[found], folder))
                return i;
    return found;
}
