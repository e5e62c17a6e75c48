// Reading a JSON tree.
#include "core/base/json.h"

#include "core/base/num.h"

#include <string.h>

const nino_json *nino_json_get(const nino_json *obj, const char *key)
{
    const size_t len = strlen(key);
    if (!obj || obj->type != NINO_JSON_OBJECT)
        return NULL;
    for (const nino_json *v = obj->child; v; v = v->next)
        if (v->key_len == len && !memcmp(v->key, key, len))
            return v;
    return NULL;
}

const nino_json *nino_json_at(const nino_json *arr, uint32_t i)
{
    if (!arr || arr->type != NINO_JSON_ARRAY || i >= arr->count)
        return NULL;
    const nino_json *v = arr->child;
    while (i--)
        v = v->next;
    return v;
}

bool nino_json_i64(const nino_json *v, int64_t *out)
{
    return v && v->type == NINO_JSON_NUMBER && nino_parse_i64(v->text, out);
}

bool nino_json_u64(const nino_json *v, uint64_t *out)
{
    return v && v->type == NINO_JSON_NUMBER && nino_parse_u64(v->text, out);
}

bool nino_json_double(const nino_json *v, double *out)
{
    if (!v || v->type != NINO_JSON_NUMBER)
        return false;
    *out = nino_strtod(v->text, NULL); // 1e999 is infinite, as in every other reader
    return true;
}

bool nino_json_bool(const nino_json *v, bool *out)
{
    if (!v || v->type != NINO_JSON_BOOL)
        return false;
    *out = v->boolean;
    return true;
}

const char *nino_json_str(const nino_json *v)
{
    return v && v->type == NINO_JSON_STRING && !memchr(v->text, 0, v->len) ? v->text : NULL;
}
