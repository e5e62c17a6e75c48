// A pickle machine for PyTorch state dicts. Instructions: Python's pickletools documentation, the
// part of protocol 2 that torch.save writes. Globals are data here: five names are known, each has
// its own case, and everything else is refused.
#include "core/file/pth_machine.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/size.h"

#define MAX_STACK 10000u
#define MAX_MEMO (1u << 20)
#define MAX_VALUES (4u << 20)

#define NEED_STACK(n)                                                                              \
    do {                                                                                           \
        if (available(m) < (n))                                                                    \
            return REFUSE("syntax", "the pickle takes more from its stack than there is");         \
    } while (0)

static const struct {
    const char *module, *name;
    nino_pickle_type t;
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

// Entries above the last mark.
static uint32_t available(const nino_machine *m)
{
    return m->depth - (m->n_marks ? m->marks[m->n_marks - 1] : 0);
}

static nino_pickle_value *top(nino_machine *m) { return m->stack[m->depth - 1]; }

static nino_status pth_pickle_push(nino_machine *m, nino_pickle_value *v)
{
    if (m->depth == MAX_STACK)
        return REFUSE("limit", "the pickle needs a stack of more than %u values", MAX_STACK);
    m->stack[m->depth++] = v;
    return NINO_OK;
}

static nino_status pth_pickle_make(nino_machine *m, nino_pickle_type t, nino_pickle_value **out)
{
    if (m->n_values++ == MAX_VALUES)
        return REFUSE("limit", "the pickle makes more than %u values", MAX_VALUES);
    *out = nino_arena_alloc(m->arena, sizeof(**out));
    if (!*out)
        return nino_machine_no_memory(m);
    (*out)->t = t;
    return NINO_OK;
}

static nino_status push_new(nino_machine *m, nino_pickle_type t, nino_pickle_value **out)
{
    const nino_status st = pth_pickle_make(m, t, out);
    return st ? st : pth_pickle_push(m, *out);
}

static nino_status push_int(nino_machine *m, nino_pickle_type t, int64_t i)
{
    nino_pickle_value *v;
    const nino_status st = push_new(m, t, &v);
    if (!st)
        v->i = i;
    return st;
}

static bool pth_pickle_take(nino_machine *m, size_t n, const char **out)
{
    if ((size_t) (m->end - m->p) < n)
        return false;
    *out = m->p;
    m->p += n;
    return true;
}

// A little-endian number of n <= 8 bytes.
static nino_status pth_pickle_take_number(nino_machine *m, size_t n, uint64_t *out)
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

static bool take_line(nino_machine *m, const char **s, size_t *len)
{
    const char *nl = memchr(m->p, '\n', (size_t) (m->end - m->p));
    if (!nl)
        return false;
    *s = m->p;
    *len = (size_t) (nl - m->p);
    m->p = nl + 1;
    return true;
}

static nino_status do_global(nino_machine *m)
{
    const char *mod, *id;
    size_t n_mod, n_id;
    if (!take_line(m, &mod, &n_mod) || !take_line(m, &id, &n_id))
        return REFUSE("truncated", "the pickle ends inside a name");
    for (size_t i = 0; i < sizeof(globals) / sizeof(globals[0]); i++)
        if (n_mod == strlen(globals[i].module) && !memcmp(mod, globals[i].module, n_mod) &&
            n_id == strlen(globals[i].name) && !memcmp(id, globals[i].name, n_id)) {
            nino_pickle_value *v;
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

static nino_status do_put(nino_machine *m, uint64_t i)
{
    NEED_STACK(1);
    if (i >= MAX_MEMO)
        return REFUSE("limit", "the pickle remembers more than %u values", MAX_MEMO);
    if (i >= m->memo_cap) {
        uint32_t cap = m->memo_cap ? m->memo_cap : 256;
        while (cap <= i)
            cap *= 2;
        nino_pickle_value **grown = realloc(m->memo, cap * sizeof(nino_pickle_value *));
        if (!grown)
            return nino_machine_no_memory(m);
        memset(grown + m->memo_cap, 0, (cap - m->memo_cap) * sizeof(nino_pickle_value *));
        m->memo = grown;
        m->memo_cap = cap;
    }
    m->memo[i] = top(m);
    return NINO_OK;
}

static nino_status do_get(nino_machine *m, uint64_t i)
{
    if (i >= m->memo_cap || !m->memo[i])
        return REFUSE("syntax", "the pickle recalls a value that it never kept");
    return pth_pickle_push(m, m->memo[i]);
}

// Pops n values into a new tuple.
static nino_status do_tuple(nino_machine *m, uint32_t n)
{
    nino_pickle_value *v;
    NEED_STACK(n);
    nino_status st = pth_pickle_make(m, T_TUPLE, &v);
    if (st)
        return st;
    v->items = nino_arena_alloc(m->arena, (n ? n : 1) * sizeof(nino_pickle_value *));
    if (!v->items)
        return nino_machine_no_memory(m);
    m->depth -= n;
    v->count = n;
    memcpy(v->items, m->stack + m->depth, n * sizeof(nino_pickle_value *));
    return pth_pickle_push(m, v);
}

// Removes the last mark; *n is how many values lie above it.
static nino_status pop_mark(nino_machine *m, uint32_t *n)
{
    if (!m->n_marks)
        return REFUSE("syntax", "the pickle closes a group that it never opened");
    *n = available(m);
    m->n_marks--;
    return NINO_OK;
}

// Moves the n values on top, key and value in turn, into the dict below them.
static nino_status do_setitems(nino_machine *m, uint32_t n)
{
    NEED_STACK(n + 1);
    nino_pickle_value *d = m->stack[m->depth - n - 1];
    if (d->t != T_DICT || n % 2)
        return REFUSE("schema", "the pickle stores into something that is not a dict");
    for (uint32_t i = m->depth - n; i < m->depth; i += 2) {
        nino_pickle_pair *e = nino_arena_alloc(m->arena, sizeof(*e));
        if (!e)
            return nino_machine_no_memory(m);
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

static nino_status do_append(nino_machine *m, uint32_t n)
{
    NEED_STACK(n + 1);
    nino_pickle_value *list = m->stack[m->depth - n - 1];
    if (list->t != T_LIST)
        return REFUSE("schema", "the pickle appends to something that is not a list");
    for (uint32_t i = m->depth - n; i < m->depth; i++) {
        if (m->n_values++ == MAX_VALUES)
            return REFUSE("limit", "the pickle makes more than %u values", MAX_VALUES);
        nino_pickle_pair *e = nino_arena_alloc(m->arena, sizeof(*e));
        if (!e)
            return nino_machine_no_memory(m);
        e->val = m->stack[i];
        *(list->dict.last ? &list->dict.last->next : &list->dict.first) = e;
        list->dict.last = e;
        list->count++;
    }
    m->depth -= n;
    return NINO_OK;
}

// Where in its storage a view of it lies, which files older than 1.6 may have: None, or (key,
// offset, count).
static nino_status persid_view(nino_machine *m, const nino_pickle_value *view,
                               nino_pickle_tensor *t)
{
    if (view->t == T_OPAQUE)
        return NINO_OK;
    if (view->t != T_TUPLE || view->count != 3 || view->items[1]->t != T_INT ||
        view->items[2]->t != T_INT || view->items[1]->i < 0)
        return REFUSE("schema", "a view of a storage has an unknown form");
    t->offset = (uint64_t) view->items[1]->i;
    return NINO_OK;
}

// ('storage', torch.XStorage, key, location, count[, view])
static nino_status do_persid(nino_machine *m)
{
    NEED_STACK(1);
    const nino_pickle_value *id = top(m);
    nino_pickle_value *v;
    if (id->t != T_TUPLE || id->count < 5 || id->count > 6 ||
        !nino_pickle_is_str(id->items[0], "storage") || id->items[1]->t != T_STORAGE_CLASS ||
        id->items[2]->t != T_STR || id->items[3]->t != T_STR || id->items[4]->t != T_INT ||
        id->items[4]->i < 0)
        return REFUSE("schema", "a reference to a storage has an unknown form");
    nino_status st = pth_pickle_make(m, T_STORAGE, &v);
    if (st)
        return st;
    v->tensor = nino_arena_alloc(m->arena, sizeof(*v->tensor));
    nino_pickle_pair *e = nino_arena_alloc(m->arena, sizeof(*e));
    if (!v->tensor || !e)
        return nino_machine_no_memory(m);
    *e = (nino_pickle_pair){ .val = v, .next = m->storages };
    m->storages = e;
    m->n_storages++;
    v->tensor->dtype = id->items[1]->dtype;
    v->tensor->key = id->items[2]->str.p;
    v->tensor->key_len = id->items[2]->str.len;
    v->tensor->storage_count = (uint64_t) id->items[4]->i;
    m->stack[m->depth - 1] = v;
    return id->count == 6 ? persid_view(m, id->items[5], v->tensor) : NINO_OK;
}

// Shape and strides stay inside the storage: every sum and product is checked.
static nino_status check_extent(nino_machine *m, const nino_pickle_tensor *t)
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
static nino_status rebuild_tensor(nino_machine *m, const nino_pickle_value *args,
                                  nino_pickle_value **out)
{
    if (args->count < 6 || args->count > 7 || args->items[0]->t != T_STORAGE ||
        args->items[1]->t != T_INT || args->items[2]->t != T_TUPLE || args->items[3]->t != T_TUPLE)
        return REFUSE("schema", "a tensor has an unknown form");
    const nino_pickle_value *shape = args->items[2], *stride = args->items[3];
    if (shape->count != stride->count)
        return REFUSE("schema", "a tensor's shape and strides differ in length");
    if (shape->count > NINO_FILE_MAX_RANK)
        return REFUSE("limit", "a tensor has %u dimensions", shape->count);
    nino_status st = pth_pickle_make(m, T_TENSOR, out);
    if (st)
        return st;
    nino_pickle_tensor *t = nino_arena_alloc(m->arena, sizeof(*t));
    if (!t)
        return nino_machine_no_memory(m);
    *t = *args->items[0]->tensor;
    (*out)->tensor = t;
    if (args->items[1]->i < 0)
        return REFUSE("range", "a tensor starts before its storage");
    t->offset += (uint64_t) args->items[1]->i; // of a view, too: both are below 2^63
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

static nino_status do_reduce(nino_machine *m)
{
    NEED_STACK(2);
    const nino_pickle_value *args = top(m), *fn = m->stack[m->depth - 2];
    nino_pickle_value *v = NULL;
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
static nino_status do_build(nino_machine *m)
{
    NEED_STACK(2);
    if (m->stack[m->depth - 2]->t != T_DICT)
        return REFUSE("schema", "the pickle sets attributes of something that is not a dict");
    m->depth--;
    return NINO_OK;
}

static nino_status do_long1(nino_machine *m)
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

static nino_status do_unicode(nino_machine *m)
{
    uint64_t n = 0;
    const char *p;
    nino_pickle_value *v;
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
static nino_status do_numbered(nino_machine *m, unsigned char op, size_t width)
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

static nino_status do_group(nino_machine *m, unsigned char op)
{
    uint32_t n = 0;
    nino_pickle_value *d;
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
        memmove(m->stack + m->depth - n, m->stack + m->depth - n - 1,
                n * sizeof(nino_pickle_value *));
        m->stack[m->depth - n - 1] = d;
        return do_setitems(m, n);
    }
}

static nino_status pth_pickle_step(nino_machine *m, unsigned char op)
{
    nino_pickle_value *v;
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
    case 'N': return push_new(m, T_OPAQUE, &v);
    case ']': return push_new(m, T_LIST, &v);
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

static nino_status pth_pickle_run(nino_machine *m)
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
    if (m->depth != 1 || m->n_marks)
        return REFUSE("syntax", "the pickle leaves %u values", m->depth);
    return NINO_OK;
}

nino_status nino_machine_run(nino_machine *m, nino_pickle_value **v)
{
    nino_status st;
    m->depth = m->n_marks = 0;
    m->stack = m->stack ? m->stack : malloc(MAX_STACK * sizeof(nino_pickle_value *));
    m->marks = m->marks ? m->marks : malloc(MAX_STACK * sizeof(*m->marks));
    st = m->stack && m->marks ? pth_pickle_run(m) : nino_machine_no_memory(m);
    if (!st)
        *v = m->stack[0];
    free(m->memo); // each pickle has its own
    m->memo = NULL;
    m->memo_cap = 0;
    return st;
}

void nino_machine_release(nino_machine *m)
{
    free(m->stack);
    free(m->marks);
}
