// The texts that a picture carries.
#include "core/media/texts.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

#define REFUSE(kind, ...) nino_fail_kind(err, NINO_ERR_FORMAT, kind, name, __VA_ARGS__)

nino_status nino_texts_add(nino_texts *t, const char *key, const char *value, size_t len,
                           const char *name, nino_error *err)
{
    const bool is_workflow = !strcmp(key, "prompt") || !strcmp(key, "workflow");
    if (len > NINO_MAX_TEXT)
        return REFUSE("limit", "a text of %zu bytes, at most %u are read", len, NINO_MAX_TEXT);
    if (t->n == NINO_MAX_TEXTS)
        return REFUSE("limit", "more than %d texts", NINO_MAX_TEXTS);
    if (t->bytes + len > NINO_MAX_ALL_TEXT) // 256 small chunks could inflate to 4 GiB
        return REFUSE("bomb", "the texts expand to more than %u bytes", NINO_MAX_ALL_TEXT);
    if (is_workflow && nino_texts_find(t, key))
        return REFUSE("dup", "there are two texts called '%s'", key);
    if (!t->list)
        t->list = calloc(NINO_MAX_TEXTS, sizeof(*t->list));
    nino_text x = { .key = strdup(key), .value = malloc(len + 1), .value_len = len };
    if (!t->list || !x.key || !x.value) {
        free(x.key);
        free(x.value);
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    }
    if (len)
        memcpy(x.value, value, len);
    x.value[len] = 0;
    t->list[t->n++] = x;
    t->bytes += len;
    return NINO_OK;
}

void nino_texts_release(nino_texts *t)
{
    for (int i = 0; i < t->n; i++) {
        free(t->list[i].key);
        free(t->list[i].value);
    }
    free(t->list);
    *t = (nino_texts){ 0 };
}

const nino_text *nino_texts_find(const nino_texts *t, const char *key)
{
    for (int i = 0; i < t->n; i++)
        if (!strcmp(t->list[i].key, key))
            return &t->list[i];
    return NULL;
}
