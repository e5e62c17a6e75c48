// From what a pickle made to the tensors of a state dict, in files of both forms.
#include "core/file/pth_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TENSORS 262144

static const nino_pickle_value *inner_dict(const nino_pickle_value *v, const char *key)
{
    for (const nino_pickle_pair *e = v->t == T_DICT ? v->dict.first : NULL; e; e = e->next)
        if (nino_pickle_is_str(e->key, key) && e->val->t == T_DICT)
            return e->val;
    return NULL;
}

static const nino_pickle_value *only_dict(const nino_pickle_value *v)
{
    const nino_pickle_pair *only = v->t == T_DICT ? v->dict.first : NULL;
    return only && !only->next && only->val->t == T_DICT ? only->val : NULL;
}

static bool has_tensors(const nino_pickle_value *v)
{
    for (const nino_pickle_pair *e = v->t == T_DICT ? v->dict.first : NULL; e; e = e->next)
        if (e->val->t == T_TENSOR)
            return true;
    return v->t != T_DICT;
}

// As ComfyUI's load_torch_file: "state_dict", else the dict that is the only value. Where that has
// no tensors itself, as chaiNNer-org/spandrel, with which ComfyUI opens upscale models: the first
// of the names that training programs use.
static const nino_pickle_value *unwrap(const nino_pickle_value *v)
{
    static const char *const keys[] = {
        "model_state_dict", "state_dict", "params_ema", "params-ema", "params", "model", "net"
    };
    const nino_pickle_value *inner = inner_dict(v, "state_dict");
    inner = inner ? inner : only_dict(v);
    v = inner ? inner : v;
    inner = NULL;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !has_tensors(v) && !inner; i++)
        inner = inner_dict(v, keys[i]);
    v = inner ? inner : v;
    inner = has_tensors(v) ? NULL : only_dict(v);
    return inner ? inner : v;
}

// The tensors of a dict, their names behind `prefix`.
static nino_status list_dict(nino_machine *m, const nino_pickle_value *v, const char *prefix,
                             nino_pickle_tensor *out, int *n_out)
{
    const size_t n = strlen(prefix);
    for (const nino_pickle_pair *e = v->dict.first; e; e = e->next) {
        if (e->val->t != T_TENSOR)
            continue;
        if (e->key->t != T_STR)
            return REFUSE("schema", "a tensor's name is not a string");
        nino_pickle_tensor *t = &out[(*n_out)++];
        *t = *e->val->tensor;
        t->name = e->key->str.p;
        t->name_len = e->key->str.len;
        if (!n)
            continue;
        char *name = nino_arena_alloc(m->arena, n + t->name_len);
        if (!name)
            return nino_machine_no_memory(m);
        memcpy(name, prefix, n); // NOLINT: its length stands beside it
        memcpy(name + n, t->name, t->name_len);
        t->name = name;
        t->name_len += n;
    }
    return NINO_OK;
}

static nino_status pth_pickle_list(nino_machine *m, const nino_pickle_value *v,
                                   nino_pickle_tensor **out, int *n_out)
{
    static const char bare[] = "tensor";
    static const char *const inners[] = { "string_to_param", "image_proj", "ip_adapter" };
    enum { INNERS = sizeof(inners) / sizeof(inners[0]) };
    const nino_pickle_value *inner[INNERS];
    if (v->t != T_DICT && v->t != T_TENSOR)
        return REFUSE("schema", "the file holds no tensors");
    uint32_t n = v->t == T_TENSOR ? 1 : v->count;
    for (int i = 0; i < INNERS; i++) { // of textual inversions, of IP-Adapters
        inner[i] = inner_dict(v, inners[i]);
        n += inner[i] ? inner[i]->count : 0;
    }
    if (n > MAX_TENSORS)
        return REFUSE("limit", "%u tensors, at most %d are read", n, MAX_TENSORS);
    nino_pickle_tensor *t = nino_arena_alloc(m->arena, (n ? n : 1) * sizeof(*t));
    if (!t)
        return nino_machine_no_memory(m);
    *out = t;
    *n_out = 0;
    if (v->t == T_DICT) {
        nino_status st = list_dict(m, v, "", t, n_out);
        for (int i = 0; i < INNERS && !st; i++) {
            char prefix[24];
            snprintf(prefix, sizeof(prefix), "%s.", inners[i]);
            if (inner[i])
                st = list_dict(m, inner[i], prefix, t, n_out);
        }
        return st;
    }
    *t = *v->tensor;
    t->name = bare;
    t->name_len = strlen(bare);
    *n_out = 1;
    return NINO_OK;
}

nino_status nino_pickle_read(const char *p, size_t n, const char *name, nino_arena *arena,
                             nino_pickle_tensor **out, int *n_out, nino_error *err)
{
    nino_machine all = { .p = p, .end = p + n, .name = name, .arena = arena, .err = err },
                 *m = &all;
    nino_pickle_value *v = NULL;
    nino_status st = nino_machine_run(m, &v);
    if (!st && m->p != m->end)
        st = REFUSE("syntax", "%zu bytes follow the pickle", (size_t) (m->end - m->p));
    if (!st)
        st = pth_pickle_list(m, unwrap(v), out, n_out);
    nino_machine_release(m);
    return st;
}

// ---- files older than PyTorch 1.6 ------------------------------------------------------------

static nino_status check_system(nino_machine *m, const nino_pickle_value *version,
                                const nino_pickle_value *info)
{
    if (version->t != T_INT || version->i != 1001)
        return REFUSE("version", "a PyTorch file of another version than 1001");
    for (const nino_pickle_pair *e = info->t == T_DICT ? info->dict.first : NULL; e; e = e->next)
        if (nino_pickle_is_str(e->key, "little_endian") && e->val->t == T_BOOL && !e->val->i)
            return REFUSE("version", "the numbers are not little-endian");
    return NINO_OK;
}

static int storage_by_key(const void *a, const void *b)
{
    const nino_pickle_storage *x = a, *y = b;
    const size_t n = x->key_len < y->key_len ? x->key_len : y->key_len;
    const int c = memcmp(x->key, y->key, n);
    return c ? c : (x->key_len > y->key_len) - (x->key_len < y->key_len);
}

const nino_pickle_storage *nino_pickle_storage_find(const nino_pickle_storage *s, int n,
                                                    const char *key, size_t key_len)
{
    const nino_pickle_storage want = { .key = key, .key_len = key_len };
    return bsearch(&want, s, (size_t) n, sizeof(*s), storage_by_key);
}

void nino_pickle_storage_sort(nino_pickle_storage *s, int n)
{
    if (n > 1)
        qsort(s, (size_t) n, sizeof(*s), storage_by_key);
}

// All that the pickle refers to, sorted by key; some more than once.
static nino_status referred(nino_machine *m, nino_pickle_storage **out)
{
    nino_pickle_storage *s = nino_arena_alloc(m->arena, (m->n_storages + 1) * sizeof(*s));
    if (!s)
        return nino_machine_no_memory(m);
    *out = s;
    for (const nino_pickle_pair *e = m->storages; e; e = e->next) {
        const nino_pickle_tensor *t = e->val->tensor;
        *s++ = (nino_pickle_storage){ t->key, t->key_len, t->dtype, t->storage_count, 0 };
    }
    nino_pickle_storage_sort(*out, (int) m->n_storages);
    for (uint32_t i = 1; i < m->n_storages; i++) {
        const nino_pickle_storage *a = &(*out)[i - 1], *b = &(*out)[i];
        if (!storage_by_key(a, b) && (a->dtype != b->dtype || a->count != b->count))
            return REFUSE("schema", "two references to a storage disagree");
    }
    return NINO_OK;
}

// The storages in the order of `keys`, which is that of their elements.
static nino_status order_storages(nino_machine *m, const nino_pickle_value *keys,
                                  nino_pickle_storage **out, int *n_out)
{
    nino_pickle_storage *known = NULL;
    if (keys->t != T_LIST)
        return REFUSE("schema", "the list of storages is no list");
    nino_status st = referred(m, &known);
    if (!st && !(*out = nino_arena_alloc(m->arena, (keys->count + 1) * sizeof(**out))))
        st = nino_machine_no_memory(m);
    *n_out = 0;
    for (const nino_pickle_pair *e = keys->dict.first; e && !st; e = e->next) {
        const nino_pickle_storage *s =
            e->val->t != T_STR ? NULL
                               : nino_pickle_storage_find(known, (int) m->n_storages, e->val->str.p,
                                                          e->val->str.len);
        if (!s)
            return REFUSE("schema", "the list of storages names one that no tensor has");
        (*out)[(*n_out)++] = *s;
    }
    return st;
}

nino_status nino_pickle_read_old(const char *p, size_t n, const char *name, nino_arena *arena,
                                 nino_pickle_old *out, nino_error *err)
{
    const size_t magic = sizeof(NINO_PTH_OLD_MAGIC) - 1;
    nino_machine all = { .p = p, .end = p + n, .name = name, .arena = arena, .err = err },
                 *m = &all;
    nino_pickle_value *version = NULL, *info = NULL, *v = NULL, *keys = NULL;
    nino_status st = NINO_OK;
    if (n < magic || memcmp(p, NINO_PTH_OLD_MAGIC, magic))
        return REFUSE("syntax", "not a PyTorch file");
    m->p += magic;
    if (!(st = nino_machine_run(m, &version)) && !(st = nino_machine_run(m, &info)))
        st = check_system(m, version, info);
    if (!st && !(st = nino_machine_run(m, &v)) && !(st = nino_machine_run(m, &keys)))
        st = pth_pickle_list(m, unwrap(v), &out->tensors, &out->n_tensors);
    if (!st)
        st = order_storages(m, keys, &out->storages, &out->n_storages);
    out->used = (size_t) (m->p - p);
    nino_machine_release(m);
    return st;
}
