// Long arrays of GGUF key-values. The table was checked when the file was opened; it is read again
// here, so every length is held against the bytes that are left once more.
#include "core/file/gguf_list.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

enum { KV_STRING = 8, KV_ARRAY = 9, KV_TYPES = 13, MAX_TABLE = 512 << 20 };

typedef struct cursor {
    const uint8_t *p, *end;
    bool is_bad;
} cursor;

static uint64_t gguf_list_number(cursor *c, size_t bytes)
{
    uint64_t v = 0;
    if (bytes > (size_t) (c->end - c->p)) {
        c->is_bad = true;
        return 0;
    }
    for (size_t i = bytes; i-- > 0;)
        v = v << 8 | c->p[i];
    c->p += bytes;
    return v;
}

static const uint8_t *skip(cursor *c, uint64_t bytes)
{
    const uint8_t *p = c->p;
    if (bytes > (uint64_t) (c->end - c->p))
        c->is_bad = true;
    else
        c->p += bytes;
    return p;
}

static void skip_values(cursor *c, uint64_t type, uint64_t count)
{
    static const uint8_t sizes[KV_TYPES] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };
    if (type >= KV_TYPES || type == KV_ARRAY || count > (uint64_t) (c->end - c->p))
        c->is_bad = true;
    else if (type != KV_STRING)
        skip(c, count * sizes[type]);
    for (uint64_t i = 0; type == KV_STRING && i < count && !c->is_bad; i++)
        skip(c, gguf_list_number(c, 8));
}

// One key and its value; fills the list that has that key.
static void gguf_list_read_kv(cursor *c, const char *const *keys, nino_gguf_list *out)
{
    const uint64_t len = gguf_list_number(c, 8);
    const char *key = (const char *) skip(c, len);
    uint64_t type = gguf_list_number(c, 4), count = 1;
    const bool is_array = type == KV_ARRAY;
    if (is_array) {
        type = gguf_list_number(c, 4);
        count = gguf_list_number(c, 8);
    }
    const uint8_t *begin = c->p;
    if (!c->is_bad)
        skip_values(c, type, count);
    for (int i = 0; is_array && !c->is_bad && keys[i]; i++)
        if (len == strlen(keys[i]) && !memcmp(key, keys[i], (size_t) len))
            out[i] = (nino_gguf_list){ (uint32_t) type, count, begin, c->p };
}

// Bytes before the first tensor's.
static uint64_t table_bytes(const nino_weights *w)
{
    uint64_t n = nino_weights_file_bytes(w);
    for (int i = 0; i < nino_weights_count(w); i++)
        if (nino_weights_at(w, i)->offset < n)
            n = nino_weights_at(w, i)->offset;
    return n;
}

nino_status nino_gguf_lists(nino_weights *w, const char *const *keys, nino_gguf_list *out,
                            void **owned, nino_error *err)
{
    w = nino_weights_base(w);
    const char *file = nino_weights_path(w);
    const uint64_t n = table_bytes(w);
    *owned = NULL;
    for (int i = 0; keys[i]; i++)
        out[i] = (nino_gguf_list){ 0 };
    if (strcmp(nino_weights_format(w), "gguf") != 0)
        return NINO_OK;
    if (n > MAX_TABLE)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "limit", file, "its table is too long");
    uint8_t *bytes = malloc((size_t) n + 1);
    if (!bytes)
        return nino_fail(err, NINO_ERR_NOMEM, file, "out of memory");
    nino_status st = nino_weights_read_head(w, bytes, (size_t) n, err);
    cursor c = { bytes, bytes + n, false };
    skip(&c, 16); // magic, version, number of tensors
    for (uint64_t left = gguf_list_number(&c, 8); !st && left && !c.is_bad; left--)
        gguf_list_read_kv(&c, keys, out);
    if (!st && c.is_bad)
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "truncated", file, "its table has changed");
    if (st)
        free(bytes);
    else
        *owned = bytes;
    return st;
}

bool nino_gguf_next(nino_gguf_list *l, const char **s, size_t *len)
{
    cursor c = { l->p, l->end, false };
    if (l->type != KV_STRING || !l->count)
        return false;
    const uint64_t n = gguf_list_number(&c, 8);
    *s = (const char *) skip(&c, n);
    *len = (size_t) n;
    l->p = c.p;
    l->count -= 1;
    return !c.is_bad;
}
