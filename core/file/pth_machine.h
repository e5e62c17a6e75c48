// Internal to core/file: the machine of pth_pickle.c, for those who look at what it made.
#pragma once
#include "core/base/error.h"
#include "core/file/pth_pickle.h"

#include <string.h>

// Fails with a machine's name; m is in scope.
#define REFUSE(kind, ...) nino_fail_kind(m->err, NINO_ERR_FORMAT, kind, m->name, __VA_ARGS__)

typedef enum nino_pickle_type {
    T_OPAQUE, // None, floats: carried, never looked at
    T_LIST,   // of pairs without a key
    T_BOOL,
    T_INT,
    T_STR,
    T_TUPLE,
    T_DICT,
    T_ORDERED_DICT_CLASS,
    T_REBUILD_TENSOR,
    T_REBUILD_PARAMETER,
    T_STORAGE_CLASS,
    T_STORAGE,
    T_TENSOR
} nino_pickle_type;

typedef struct nino_pickle_value nino_pickle_value;
typedef struct nino_pickle_pair {
    nino_pickle_value *key, *val;
    struct nino_pickle_pair *next;
} nino_pickle_pair;

struct nino_pickle_value {
    nino_pickle_type t;
    uint32_t count; // of a tuple or dict
    union {
        int64_t i;
        struct {
            const char *p;
            size_t len;
        } str;
        nino_pickle_value **items;
        struct {
            nino_pickle_pair *first, *last;
        } dict; // or list
        nino_dtype dtype;
        nino_pickle_tensor *tensor; // a storage is a tensor without name and shape
    };
};

typedef struct nino_machine {
    const char *p, *end, *name;
    nino_arena *arena;
    nino_error *err;
    nino_pickle_value **stack, **memo; // memo: NULL where nothing was put
    uint32_t *marks;
    uint32_t depth, n_marks, memo_cap, n_values;
    nino_pickle_pair *storages; // that it refers to, the last one first
    uint32_t n_storages;
} nino_machine;

// Runs the pickle that begins at m->p, up to its end; *v is what it makes, in m->arena.
nino_status nino_machine_run(nino_machine *m, nino_pickle_value **v);
void nino_machine_release(nino_machine *m);

static inline nino_status nino_machine_no_memory(nino_machine *m)
{
    return nino_fail(m->err, NINO_ERR_NOMEM, m->name, "out of memory");
}

static inline bool nino_pickle_is_str(const nino_pickle_value *v, const char *s)
{
    return v->t == T_STR && v->str.len == strlen(s) && !memcmp(v->str.p, s, v->str.len);
}
