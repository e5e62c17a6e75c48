// A pickle machine for PyTorch state dicts. Instructions: Python's pickletools documentation, the
// part of protocol 2 that torch.save writes. Globals are data here: five names are known, each has
// its own case, and everything else is refused.
#include "core/file/pth_pickle.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/size.h"

#define MAX_STACK 10000u
#define MAX_MEMO (1u << 20)
#define MAX_VALUES (4u << 20)
#define MAX_TENSORS 262144

#define REFUSE(kind, ...) nino_fail_kind(m->err, NINO_ERR_FORMAT, kind, m->name, __VA_ARGS__)
#define NEED_STACK(n)                                                                              \
    do {                                                                                           \
        if (available(m) < (n))                                                                    \
            return REFUSE("syntax", "the pickle takes more from its stack than there is");         \
    } while (0)

typedef enum type {
    T_OPAQUE, // None, floats, lists: carried, never looked at
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
} type;

typedef struct value value;
typedef struct pair {
    value *key, *val;
    struct pair *next;
} pair;

struct value {
    type t;
    uint32_t count; // of a tuple or dict
    union {
        int64_t i;
        struct {
            const char *p;
            size_t len;
        } str;
        value **items;
        struct {
            pair *first, *last;
        } dict;
        nino_dtype dtype;
        nino_pickle_tensor *tensor; // a storage is a tensor without name and shape
    };
};

typedef struct machine {
    const char *p, *end, *name;
    nino_arena *arena;
    nino_error *err;
    value **stack, **memo; // memo: NULL where nothing was put
    uint32_t *marks;
    uint32_t depth, n_marks, memo_cap, n_values;
} machine;

static const struct {
    const char *module, *name;
    type t;
    nino_dtype dtype;
} globals[] = {
    { "collections", "OrderedDict", T_ORDERED_DICT_CLASS, 0 },
    { "torch._utils", "_rebuild_tensor_v2", T_REBUILD_TENSOR, 0 },
    { "torch._utils", "_rebuild_parameter", T_REBUILD_PARAMETER, 0 },
    { "torch", "FloatStorage", T_STORAGE_CLASS, NINO_F32 },
    { "torch", "HalfStorage", T_STORAGE_CLASS, NINO_F16 },
    { "torch", "BFloat16Storage", T_STORAGE_CLASS, NINO_BF16 },
    { "torch", "DoubleStorage", T_STORAGE_CLASS, NINO_F64 },
    { "torch", "LongStorage", T_STORAGE_CLASS, NINO_I64 },
    { "torch", "IntStorage", T_STORAGE_CLASS, NINO_I32 },
    { "torch", "ShortStorage", T_STORAGE_CLASS, NINO_I16 },
    { "torch", "CharStorage", T_STORAGE_CLASS, NINO_I8 },
    { "torch", "ByteStorage", T_STORAGE_CLASS, NINO_U8 },
    { "torch", "BoolStorage", T_STORAGE_CLASS, NINO_BOOL8 },
};

static nino_status pth_pickle_no_memory(machine *m)
{
    return nino_fail(m->err, NINO_ERR_NOMEM, m->name, "out of memory");
}

// Entries above the last mark.
static uint32_t available(const machine *m)
{
    return m->depth - (m->n_marks ? m->marks[m->n_marks - 1] : 0);
}

static value *top(machine *m) { return m->stack[m->depth - 1]; }

static nino_status pth_pickle_push(machine *m, value *v)
{
    if (m->depth == MAX_STACK)
        return REFUSE("limit", "the pickle needs a stack of more than %u values", MAX_STACK);
    m->stack[m->depth++] = v;
    return NINO_OK;
}

static nino_status pth_pickle_make(machine *m, type t, value **out)
{
    if (m->n_values++ == MAX_VALUES)
        return REFUSE("limit", "the pickle makes more than %u values", MAX_VALUES);
    *out = nino_arena_alloc(m->arena, sizeof(**out));
    if (!*out)
        return pth_pickle_no_memory(m);
    (*out)->t = t;
    return NINO_OK;
}

static nino_status push_new(machine *m, type t, value **out)
{
    const nino_status st = pth_pickle_make(m, t, out);
    return st ? st : pth_pickle_push(m, *out);
}

static nino_status push_int(machine *m, type t, int64_t i)
{
    value *v;
    const nino_status st = push_new(m, t, &v);
    if (!st)
        v->i = i;
    return st;
}

static bool pth_pickle_take(machine *m, size_t n, const char **out)
{
    if ((size_t) (m->end - m->p) < n)
        return false;
    *out = m->p;
    m->p += n;
    return true;
}

// A little-endian number of n <= 8 bytes.
static nino_status pth_pickle_take_number(machine *m, size_t n, uint64_t *out)
{
    const char *p;
    if (!pth_pickle_take(m, n, &p))
        return REFUSE("truncated", "the pickle ends inside an instruction");
    *out = 0;
    for (size_t i = n; i-- > 0;)
        *out = *out << 8 | (unsigned char) p[i];
    return NINO_OK;
}

static int64_t pth_pickle_sign_extend(uint64_t v, size_t bytes)
{
    const int shift = 64 - 8 * (int) bytes;
    return bytes ? (int64_t) (v << shift) >> shift : 0;
}

static bool is_str(const value *v, const char *s)
{
    return v->t == T_STR && v->str.len == strlen(s) && !memcmp(v->str.p, s, v->str.len);
}

static bool take_line(machine *m, const char **s, size_t *len)
{
    const char *nl = memchr(m->p, '\n', (size_t) (m->end - m->p));
    if (!nl)
        return false;
    *s = m->p;
    *len = (size_t) (nl - m->p);
    m->p = nl + 1;
    return true;
}

static nino_status do_global(machine *m)
{
    const char *mod, *id;
    size_t n_mod, n_id;
    if (!take_line(m, &mod, &n_mod) || !take_line(m, &id, &n_id))
        return REFUSE("truncated", "the pickle ends inside a name");
    for (size_t i = 0; i < sizeof(globals) / sizeof(globals[0]); i++)
        if (n_mod == strlen(globals[i].module) && !memcmp(mod, globals[i].module, n_mod) &&
            n_id == strlen(globals[i].name) && !memcmp(id, globals[i].name, n_id)) {
            value *v;
            const nino_status st = push_new(m, globals[i].t, &v);
            if (!st)
                v->dtype = globals[i].dtype;
            return st;
        }
    return REFUSE("unknown",
                  "the pickle wants to run %.*s.%.*s, which is never done; convert the "
                  "file to safetensors",
                  (int) (n_mod < 60 ? n_mod : 60), mod, (int) (n_id < 60 ? n_id : 60), id);
}

static nino_status do_put(machine *m, uint64_t i)
{
    NEED_STACK(1);
    if (i >= MAX_MEMO)
        return REFUSE("limit", "the pickle remembers more than %u values", MAX_MEMO);
    if (i >= m->memo_cap) {
        uint32_t cap = m->memo_cap ? m->memo_cap : 256;
        while (cap <= i)
            cap *= 2;
        value **grown = realloc(m->memo, cap * sizeof(value *));
        if (!grown)
            return pth_pickle_no_memory(m);
        memset(grown + m->memo_cap, 0, (cap - m->memo_cap) * sizeof(value *));
        m->memo = grown;
        m->memo_cap = cap;
    }
    m->memo[i] = top(m);
    return NINO_OK;
}

static nino_status do_get(machine *m, uint64_t i)
{
    if (i >= m->memo_cap || !m->memo[i])
        return REFUSE("syntax", "the pickle recalls a value that it never kept");
    return pth_pickle_push(m, m->memo[i]);
}

// Pops n values into a new tuple.
static nino_status do_tuple(machine *m, uint32_t n)
{
    value *v;
    NEED_STACK(n);
    nino_status st = pth_pickle_make(m, T_TUPLE, &v);
    if (st)
        return st;
    v->items = nino_arena_alloc(m->arena, (n ? n : 1) * sizeof(value *));
    if (!v->items)
        return pth_pickle_no_memory(m);
    m->depth -= n;
    v->count = n;
    memcpy(v->items, m->stack + m->depth, n * sizeof(value *));
    return pth_pickle_push(m, v);
}

// Removes the last mark; *n is how many values lie above it.
static nino_status pop_mark(machine *m, uint32_t *n)
{
    if (!m->n_marks)
        return REFUSE("syntax", "the pickle closes a group that it never opened");
    *n = available(m);
    m->n_marks--;
    return NINO_OK;
}

// Moves the n values on top, key and value in turn, into the dict below them.
static nino_status do_setitems(machine *m, uint32_t n)
{
    NEED_STACK(n + 1);
    value *d = m->stack[m->depth - n - 1];
    if (d->t != T_DICT || n % 2)
        return REFUSE("schema", "the pickle stores into something that is not a dict");
    for (uint32_t i = m->depth - n; i < m->depth; i += 2) {
        pair *e = nino_arena_alloc(m->arena, sizeof(*e));
        if (!e)
            return pth_pickle_no_memory(m);
        e->key = m->stack[i];
        e->val = m->stack[i + 1];
        if (d->dict.last)
            d->dict.last->next = e;
        else
            d->dict.first = e;
        d->dict.last = e;
        d->count++;
    }
    m->depth -= n;
    return NINO_OK;
}

// Elements of lists are dropped: no state dict needs them.
static nino_status do_append(machine *m, uint32_t n)
{
    NEED_STACK(n + 1);
    if (m->stack[m->depth - n - 1]->t != T_OPAQUE)
        return REFUSE("schema", "the pickle appends to something that is not a list");
    m->depth -= n;
    return NINO_OK;
}

// ('storage', torch.XStorage, key, location, count)
static nino_status do_persid(machine *m)
{
    NEED_STACK(1);
    const value *id = top(m);
    value *v;
    if (id->t != T_TUPLE || id->count != 5 || !is_str(id->items[0], "storage") ||
        id->items[1]->t != T_STORAGE_CLASS || id->items[2]->t != T_STR ||
        id->items[3]->t != T_STR || id->items[4]->t != T_INT || id->items[4]->i < 0)
        return REFUSE("schema", "a reference to a storage has an unknown form");
    nino_status st = pth_pickle_make(m, T_STORAGE, &v);
    if (st)
        return st;
    v->tensor = nino_arena_alloc(m->arena, sizeof(*v->tensor));
    if (!v->tensor)
        return pth_pickle_no_memory(m);
    v->tensor->dtype = id->items[1]->dtype;
    v->tensor->key = id->items[2]->str.p;
    v->tensor->key_len = id->items[2]->str.len;
    v->tensor->storage_count = (uint64_t) id->items[4]->i;
    m->stack[m->depth - 1] = v;
    return NINO_OK;
}

// Shape and strides stay inside the storage: every sum and product is checked.
static nino_status check_extent(machine *m, const nino_pickle_tensor *t)
{
    uint64_t count = 1, last = t->offset, bytes;
    for (int i = 0; i < t->rank; i++)
        if (!nino_mul_u64(count, (uint64_t) t->dim[i], &count))
            return REFUSE("overflow", "the number of elements exceeds 64 bits");
    if (!nino_mul_u64(t->storage_count, nino_dtype_size(t->dtype), &bytes) || bytes > INT64_MAX)
        return REFUSE("overflow", "a storage of %llu elements",
                      (unsigned long long) t->storage_count);
    if (!count)
        return NINO_OK;
    if (count > t->storage_count)
        return REFUSE("range", "a tensor has more elements than its storage");
    for (int i = 0; i < t->rank; i++) {
        uint64_t step;
        if (!nino_mul_u64((uint64_t) t->dim[i] - 1, (uint64_t) t->stride[i], &step) ||
            !nino_add_u64(last, step, &last))
            return REFUSE("overflow", "a stride exceeds 64 bits");
    }
    if (last >= t->storage_count)
        return REFUSE("range", "a tensor's last element lies outside its storage");
    return NINO_OK;
}

// (storage, offset, shape, strides, requires_grad, hooks[, metadata])
static nino_status rebuild_tensor(machine *m, const value *args, value **out)
{
    if (args->count < 6 || args->count > 7 || args->items[0]->t != T_STORAGE ||
        args->items[1]->t != T_INT || args->items[2]->t != T_TUPLE || args->items[3]->t != T_TUPLE)
        return REFUSE("schema", "a tensor has an unknown form");
    const value *shape = args->items[2], *stride = args->items[3];
    if (shape->count != stride->count)
        return REFUSE("schema", "a tensor's shape and strides differ in length");
    if (shape->count > NINO_FILE_MAX_RANK)
        return REFUSE("limit", "a tensor has %u dimensions", shape->count);
    nino_status st = pth_pickle_make(m, T_TENSOR, out);
    if (st)
        return st;
    nino_pickle_tensor *t = nino_arena_alloc(m->arena, sizeof(*t));
    if (!t)
        return pth_pickle_no_memory(m);
    *t = *args->items[0]->tensor;
    (*out)->tensor = t;
    if (args->items[1]->i < 0)
        return REFUSE("range", "a tensor starts before its storage");
    t->offset = (uint64_t) args->items[1]->i;
    t->rank = (int) shape->count;
    for (int i = 0; i < t->rank; i++) {
        if (shape->items[i]->t != T_INT || stride->items[i]->t != T_INT)
            return REFUSE("schema", "a tensor's shape is not made of integers");
        if (shape->items[i]->i < 0 || stride->items[i]->i < 0)
            return REFUSE("range", "a tensor has a negative dimension or stride");
        t->dim[i] = shape->items[i]->i;
        t->stride[i] = stride->items[i]->i;
    }
    return check_extent(m, t);
}

static nino_status do_reduce(machine *m)
{
    NEED_STACK(2);
    const value *args = top(m), *fn = m->stack[m->depth - 2];
    value *v = NULL;
    nino_status st;
    if (args->t != T_TUPLE)
        return REFUSE("schema", "the pickle calls with something that is not a tuple");
    switch (fn->t) {
    case T_ORDERED_DICT_CLASS:
        st = args->count ? REFUSE("schema", "an OrderedDict made from a list is not read")
                         : pth_pickle_make(m, T_DICT, &v);
        break;
    case T_REBUILD_TENSOR: st = rebuild_tensor(m, args, &v); break;
    case T_REBUILD_PARAMETER:
        if (args->count != 3 || args->items[0]->t != T_TENSOR)
            return REFUSE("schema", "a parameter has an unknown form");
        v = args->items[0];
        st = NINO_OK;
        break;
    default: return REFUSE("schema", "the pickle calls something that cannot be called");
    }
    m->depth -= 2;
    return st ? st : pth_pickle_push(m, v);
}

// Attributes set on an OrderedDict (torch keeps `_metadata` there) are dropped.
static nino_status do_build(machine *m)
{
    NEED_STACK(2);
    if (m->stack[m->depth - 2]->t != T_DICT)
        return REFUSE("schema", "the pickle sets attributes of something that is not a dict");
    m->depth--;
    return NINO_OK;
}

static nino_status do_long1(machine *m)
{
    uint64_t n = 0, v = 0;
    nino_status st = pth_pickle_take_number(m, 1, &n);
    if (!st && n > 8)
        return REFUSE("overflow", "the pickle holds an integer of %llu bytes",
                      (unsigned long long) n);
    if (!st)
        st = pth_pickle_take_number(m, (size_t) n, &v);
    return st ? st : push_int(m, T_INT, pth_pickle_sign_extend(v, (size_t) n));
}

static nino_status do_unicode(machine *m)
{
    uint64_t n = 0;
    const char *p;
    value *v;
    nino_status st = pth_pickle_take_number(m, 4, &n);
    if (st)
        return st;
    if (!pth_pickle_take(m, (size_t) n, &p))
        return REFUSE("truncated", "the pickle ends inside a string");
    st = push_new(m, T_STR, &v);
    if (!st) {
        v->str.p = p;
        v->str.len = (size_t) n;
    }
    return st;
}

// Instructions whose argument is one number of a fixed width.
static nino_status do_numbered(machine *m, unsigned char op, size_t width)
{
    uint64_t v;
    const nino_status st = pth_pickle_take_number(m, width, &v);
    if (st)
        return st;
    switch (op) {
    case 0x80: // PROTO
        return v == 2 || v == 3 ? NINO_OK
                                : REFUSE("version", "pickle protocol %d is not read", (int) v);
    case 'q':                                                          // BINPUT
    case 'r': return do_put(m, v);                                     // LONG_BINPUT
    case 'h':                                                          // BINGET
    case 'j': return do_get(m, v);                                     // LONG_BINGET
    case 'J': return push_int(m, T_INT, pth_pickle_sign_extend(v, 4)); // BININT
    case 'G': return push_int(m, T_OPAQUE, 0);                         // BINFLOAT
    default: return push_int(m, T_INT, (int64_t) v);                   // BININT1, BININT2
    }
}

static nino_status do_group(machine *m, unsigned char op)
{
    uint32_t n = 0;
    value *d;
    nino_status st = pop_mark(m, &n);
    if (st)
        return st;
    switch (op) {
    case 't': return do_tuple(m, n);
    case 'e': return do_append(m, n);
    case 'u': return do_setitems(m, n);
    default: // 'd': a new dict below the values
        st = pth_pickle_make(m, T_DICT, &d);
        if (!st)
            st = pth_pickle_push(m, d);
        if (st)
            return st;
        memmove(m->stack + m->depth - n, m->stack + m->depth - n - 1, n * sizeof(value *));
        m->stack[m->depth - n - 1] = d;
        return do_setitems(m, n);
    }
}

static nino_status pth_pickle_step(machine *m, unsigned char op)
{
    value *v;
    switch (op) {
    case 'K':
    case 'q':
    case 'h':
    case 0x80: return do_numbered(m, op, 1);
    case 'M': return do_numbered(m, op, 2);
    case 'J':
    case 'r':
    case 'j': return do_numbered(m, op, 4);
    case 'G': return do_numbered(m, op, 8);
    case 0x8a: return do_long1(m);
    case 'X': return do_unicode(m);
    case 'c': return do_global(m);
    case 'N':
    case ']': return push_new(m, T_OPAQUE, &v);
    case 0x88: return push_int(m, T_BOOL, 1);
    case 0x89: return push_int(m, T_BOOL, 0);
    case '}': return push_new(m, T_DICT, &v);
    case ')': return do_tuple(m, 0);
    case 0x85: return do_tuple(m, 1);
    case 0x86: return do_tuple(m, 2);
    case 0x87: return do_tuple(m, 3);
    case '(':
        if (m->n_marks == MAX_STACK)
            return REFUSE("limit", "the pickle opens more than %u groups", MAX_STACK);
        m->marks[m->n_marks++] = m->depth;
        return NINO_OK;
    case 't':
    case 'e':
    case 'u':
    case 'd': return do_group(m, op);
    case 'a': return do_append(m, 1);
    case 's': return do_setitems(m, 2);
    case 'R': return do_reduce(m);
    case 'b': return do_build(m);
    case 'Q': return do_persid(m);
    default:
        return REFUSE("unknown", "the pickle has instruction 0x%02x, which no state dict needs",
                      op);
    }
}

static nino_status pth_pickle_run(machine *m)
{
    for (;;) {
        if (m->p == m->end)
            return REFUSE("truncated", "the pickle has no end");
        const unsigned char op = (unsigned char) *m->p++;
        if (op == '.')
            break;
        const nino_status st = pth_pickle_step(m, op);
        if (st)
            return st;
    }
    if (m->p != m->end)
        return REFUSE("syntax", "%zu bytes follow the pickle", (size_t) (m->end - m->p));
    if (m->depth != 1 || m->n_marks)
        return REFUSE("syntax", "the pickle leaves %u values", m->depth);
    return NINO_OK;
}

// As ComfyUI's load_torch_file: "state_dict", else the dict that is the only value.
static const value *unwrap(const value *v)
{
    if (v->t != T_DICT)
        return v;
    for (const pair *e = v->dict.first; e; e = e->next)
        if (is_str(e->key, "state_dict") && e->val->t == T_DICT)
            return e->val;
    const pair *only = v->dict.first;
    return only && !only->next && only->val->t == T_DICT ? only->val : v;
}

// The tensors of a dict, their names behind `prefix`.
static nino_status list_dict(machine *m, const value *v, const char *prefix,
                             nino_pickle_tensor *out, int *n_out)
{
    const size_t n = strlen(prefix);
    for (const pair *e = v->dict.first; e; e = e->next) {
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
        char *name = nino_arena_alloc(m->arena, n + t->name_len + 1);
        if (!name)
            return pth_pickle_no_memory(m);
        memcpy(name, prefix, n + 1);
        memcpy(name + n, t->name, t->name_len);
        t->name = name;
        t->name_len += n;
    }
    return NINO_OK;
}

// Textual inversions keep their tensors one level down.
static const value *inner_dict(const value *v)
{
    for (const pair *e = v->t == T_DICT ? v->dict.first : NULL; e; e = e->next)
        if (is_str(e->key, "string_to_param") && e->val->t == T_DICT)
            return e->val;
    return NULL;
}

static nino_status pth_pickle_list(machine *m, const value *v, nino_pickle_tensor **out, int *n_out)
{
    static const char bare[] = "tensor";
    if (v->t != T_DICT && v->t != T_TENSOR)
        return REFUSE("schema", "the file holds no tensors");
    const value *inner = inner_dict(v);
    const uint32_t n = (v->t == T_TENSOR ? 1 : v->count) + (inner ? inner->count : 0);
    if (n > MAX_TENSORS)
        return REFUSE("limit", "%u tensors, at most %d are read", n, MAX_TENSORS);
    nino_pickle_tensor *t = nino_arena_alloc(m->arena, (n ? n : 1) * sizeof(*t));
    if (!t)
        return pth_pickle_no_memory(m);
    *out = t;
    *n_out = 0;
    if (v->t == T_DICT) {
        const nino_status st = list_dict(m, v, "", t, n_out);
        return st || !inner ? st : list_dict(m, inner, "string_to_param.", t, n_out);
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
    machine m = { .p = p, .end = p + n, .name = name, .arena = arena, .err = err };
    nino_status st;
    m.stack = malloc(MAX_STACK * sizeof(value *));
    m.marks = malloc(MAX_STACK * sizeof(*m.marks));
    st = m.stack && m.marks ? pth_pickle_run(&m) : pth_pickle_no_memory(&m);
    if (!st)
        st = pth_pickle_list(&m, unwrap(m.stack[0]), out, n_out);
    free(m.stack);
    free(m.marks);
    free(m.memo);
    return st;
}
