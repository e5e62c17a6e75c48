// The GGUF container: little-endian, a magic number, key-values, tensor infos, aligned data. Every
// number is checked before it is used; counts are held against the bytes that are left, so that a
// lie about them costs nothing.
#include "core/file/gguf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/num.h"
#include "core/base/size.h"
#include "core/base/utf8.h"

enum {
    MAX_TENSORS = 262144,
    MAX_KV = 65536,
    MAX_KEY = 65535,
    MAX_NAME = 1024,
    MAX_STRING = 128 << 20,
    MAX_ARRAY = 1 << 26,
    MAX_ALIGN = 1 << 20,
    SHOWN = 16 // elements of an array that metadata shows
};

enum { KV_U32 = 4, KV_F32 = 6, KV_BOOL = 7, KV_STRING = 8, KV_ARRAY = 9, KV_F64 = 12, KV_TYPES };

static const struct {
    const char *name;
    uint8_t bytes;
} kv_types[KV_TYPES] = { { "u8", 1 },  { "i8", 1 },  { "u16", 2 },  { "i16", 2 },    { "u32", 4 },
                         { "i32", 4 }, { "f32", 4 }, { "bool", 1 }, { "string", 0 }, { "array", 0 },
                         { "u64", 8 }, { "i64", 8 }, { "f64", 8 } };

static const struct {
    int id;
    nino_dtype type;
} tensor_types[] = {
    { 0, NINO_F32 },      { 1, NINO_F16 },     { 2, NINO_Q4_0 },     { 3, NINO_Q4_1 },
    { 6, NINO_Q5_0 },     { 7, NINO_Q5_1 },    { 8, NINO_Q8_0 },     { 10, NINO_Q2_K },
    { 11, NINO_Q3_K },    { 12, NINO_Q4_K },   { 13, NINO_Q5_K },    { 14, NINO_Q6_K },
    { 16, NINO_IQ2_XXS }, { 17, NINO_IQ2_XS }, { 18, NINO_IQ3_XXS }, { 19, NINO_IQ1_S },
    { 20, NINO_IQ4_NL },  { 21, NINO_IQ3_S },  { 22, NINO_IQ2_S },   { 23, NINO_IQ4_XS },
    { 24, NINO_I8 },      { 25, NINO_I16 },    { 26, NINO_I32 },     { 27, NINO_I64 },
    { 28, NINO_F64 },     { 29, NINO_IQ1_M },  { 30, NINO_BF16 },    { 34, NINO_TQ1_0 },
    { 35, NINO_TQ2_0 },   { 39, NINO_MXFP4 },  { 40, NINO_NVFP4 },   { 41, NINO_Q1_0 },
    { 42, NINO_Q2_0 },
};

typedef struct reader {
    const uint8_t *p;
    size_t n, at;
    uint64_t file_bytes, align;
    bool more; // ran into the end of what was given, not of the file
    const char *file;
    nino_st_header *out;
    nino_error *err;
} reader;

#define REFUSE(kind, ...) nino_fail_kind(r->err, NINO_ERR_FORMAT, kind, __VA_ARGS__)

static nino_status gguf_nomem(reader *r)
{
    return nino_fail(r->err, NINO_ERR_NOMEM, r->file, "out of memory");
}

static nino_status gguf_need(reader *r, uint64_t bytes)
{
    if (bytes <= r->n - r->at)
        return NINO_OK;
    r->more = bytes <= r->file_bytes - r->at;
    return REFUSE("truncated", r->file, "the file ends inside its table");
}

static nino_status gguf_get(reader *r, int bytes, uint64_t *v)
{
    const nino_status st = gguf_need(r, (uint64_t) bytes);
    if (st)
        return st;
    *v = 0;
    for (int i = bytes - 1; i >= 0; i--)
        *v = *v << 8 | r->p[r->at + (size_t) i];
    r->at += (size_t) bytes;
    return NINO_OK;
}

static nino_status get_string(reader *r, const char *what, uint64_t max, const char **s,
                              uint64_t *len)
{
    nino_status st = gguf_get(r, 8, len);
    if (!st && *len > max)
        st = REFUSE("limit", r->file, "a %s of %" PRIu64 " bytes; at most %" PRIu64 " are read",
                    what, *len, max);
    if (!st)
        st = gguf_need(r, *len);
    if (st)
        return st;
    *s = (const char *) r->p + r->at;
    r->at += (size_t) *len;
    return NINO_OK;
}

// Keys and names: not empty, UTF-8, no control characters.
static nino_status get_name(reader *r, const char *what, uint64_t max, const char **s,
                            uint64_t *len)
{
    const nino_status st = get_string(r, what, max, s, len);
    if (st)
        return st;
    bool ok = *len && nino_utf8_valid(*s, (size_t) *len);
    for (uint64_t i = 0; ok && i < *len; i++)
        ok = (uint8_t) (*s)[i] >= 0x20;
    return ok ? NINO_OK : REFUSE("name", r->file, "a %s that is empty or not text", what);
}

// ---- key-values --------------------------------------------------------------------------------

static int64_t gguf_sign_extend(uint64_t v, int bytes)
{
    const int shift = 64 - 8 * bytes;
    return (int64_t) (v << shift) >> shift;
}

static void gguf_add_number(nino_buf *b, int type, uint64_t v)
{
    if (type == KV_F32) {
        const uint32_t bits = (uint32_t) v;
        float f;
        memcpy(&f, &bits, 4);
        nino_buf_addf(b, "%.9g", (double) f);
    } else if (type == KV_F64) {
        double d;
        memcpy(&d, &v, 8);
        nino_buf_addf(b, "%.17g", d);
    } else if (type == KV_BOOL) {
        nino_buf_addf(b, "%s", v ? "true" : "false");
    } else if (type % 2 == 0) { // unsigned: 0 2 4 10
        nino_buf_addf(b, "%" PRIu64, v);
    } else {
        nino_buf_addf(b, "%" PRId64, gguf_sign_extend(v, kv_types[type].bytes));
    }
}

static nino_status read_numbers(reader *r, int type, uint64_t count, nino_buf *text)
{
    const int bytes = kv_types[type].bytes;
    nino_status st = gguf_need(r, count * (uint64_t) bytes); // count <= MAX_ARRAY
    for (uint64_t i = 0; i < count && !st; i++) {
        uint64_t v = 0;
        if (count > SHOWN && type != KV_BOOL) {
            r->at += (size_t) (count * (uint64_t) bytes);
            break;
        }
        st = gguf_get(r, bytes, &v);
        if (type == KV_BOOL && v > 1)
            return REFUSE("schema", r->file, "a boolean that is neither 0 nor 1");
        if (count > SHOWN)
            continue;
        if (i)
            nino_buf_addf(text, ",");
        gguf_add_number(text, type, v);
    }
    return st;
}

static nino_status read_strings(reader *r, uint64_t count, const char **s, uint64_t *len)
{
    nino_status st = NINO_OK;
    if (count > (r->file_bytes - r->at) / 8)
        return REFUSE("truncated", r->file, "an array claims more strings than the file has bytes");
    for (uint64_t i = 0; i < count && !st; i++)
        st = get_string(r, "string", MAX_STRING, s, len);
    return st;
}

static nino_status set_align(reader *r, int type, bool is_array, size_t at)
{
    if (type != KV_U32 || is_array)
        return REFUSE("schema", r->file, "general.alignment is not a u32");
    r->align = nino_le32(r->p + at);
    if (!r->align || r->align & (r->align - 1) || r->align > MAX_ALIGN)
        return REFUSE("range", r->file, "an alignment of %" PRIu64, r->align);
    return NINO_OK;
}

// The value of a key, as text in *text; *s and *len instead for one string.
static nino_status gguf_read_value(reader *r, bool is_align, nino_buf *text, const char **s,
                                   uint64_t *len)
{
    uint64_t type, count = 1;
    nino_status st = gguf_get(r, 4, &type);
    const bool is_array = !st && type == KV_ARRAY;
    if (is_array && !(st = gguf_get(r, 4, &type)))
        st = gguf_get(r, 8, &count);
    if (st)
        return st;
    if (type >= KV_TYPES || type == KV_ARRAY)
        return REFUSE("schema", r->file, "a value of unknown type %" PRIu64, type);
    if (count > MAX_ARRAY)
        return REFUSE("limit", r->file, "an array of %" PRIu64 " values", count);
    const size_t at = r->at;
    const bool is_short = is_array && type != KV_STRING && count <= SHOWN;
    if (is_short)
        nino_buf_addf(text, "[");
    st = type == KV_STRING ? read_strings(r, count, s, len)
                           : read_numbers(r, (int) type, count, text);
    if (is_short)
        nino_buf_addf(text, "]");
    else if (is_array)
        nino_buf_addf(text, "array of %" PRIu64 " %s", count, kv_types[type].name);
    if (is_array)
        *s = NULL;
    return !st && is_align ? set_align(r, (int) type, is_array, at) : st;
}

static nino_status gguf_read_kv(reader *r)
{
    static const char align[] = "general.alignment";
    const char *key, *s = NULL;
    uint64_t key_len, len = 0;
    nino_buf text = { 0 };
    nino_status st = get_name(r, "key", MAX_KEY, &key, &key_len);
    if (!st)
        st = gguf_read_value(r,
                             key_len == sizeof(align) - 1 && !memcmp(key, align, sizeof(align) - 1),
                             &text, &s, &len);
    if (st)
        goto end;
    nino_meta *m = &r->out->meta[r->out->n_meta++];
    m->key = nino_arena_strndup(r->out->arena, key, (size_t) key_len);
    m->value_len = s ? (size_t) len : text.len;
    m->value = nino_arena_strndup(r->out->arena, s ? s : text.data ? text.data : "", m->value_len);
    if (!m->key || !m->value || text.failed)
        st = gguf_nomem(r);
end:
    nino_buf_release(&text);
    return st;
}

static int gguf_by_key(const void *a, const void *b)
{
    return strcmp(((const nino_meta *) a)->key, ((const nino_meta *) b)->key);
}

static nino_status read_kvs(reader *r, uint64_t count)
{
    r->out->meta = nino_arena_alloc(r->out->arena, (size_t) (count + 1) * sizeof(*r->out->meta));
    if (!r->out->meta)
        return gguf_nomem(r);
    nino_status st = NINO_OK;
    for (uint64_t i = 0; i < count && !st; i++)
        st = gguf_read_kv(r);
    if (st || count < 2)
        return st;
    nino_meta *sorted = malloc((size_t) count * sizeof(*sorted));
    if (!sorted)
        return gguf_nomem(r);
    memcpy(sorted, r->out->meta, (size_t) count * sizeof(*sorted));
    qsort(sorted, (size_t) count, sizeof(*sorted), gguf_by_key);
    for (uint64_t i = 1; i < count && !st; i++)
        if (!gguf_by_key(&sorted[i - 1], &sorted[i]))
            st = REFUSE("dup", r->file, "the key '%.100s' occurs twice", sorted[i].key);
    free(sorted);
    return st;
}

// ---- tensors -----------------------------------------------------------------------------------

static bool gguf_type_of(uint64_t id, nino_dtype *out)
{
    for (size_t i = 0; i < sizeof(tensor_types) / sizeof(tensor_types[0]); i++)
        if ((uint64_t) tensor_types[i].id == id) {
            *out = tensor_types[i].type;
            return true;
        }
    return false;
}

// dim[] arrives innermost first; the product must stay below 2^63.
static nino_status read_dims(reader *r, nino_tensor_info *t, const char *where, uint64_t *count)
{
    uint64_t rank, d;
    nino_status st = gguf_get(r, 4, &rank);
    if (!st && rank > NINO_MAX_RANK)
        return REFUSE("limit", where, "%" PRIu64 " dimensions, at most %d are read", rank,
                      NINO_MAX_RANK);
    *count = 1;
    t->rank = st ? 0 : (int) rank;
    for (int i = t->rank - 1; i >= 0; i--) {
        if ((st = gguf_get(r, 8, &d)))
            break;
        if (!d)
            return REFUSE("shape", where, "a dimension of 0");
        if (d > INT64_MAX || !nino_mul_u64(*count, d, count) || *count > INT64_MAX)
            return REFUSE("overflow", where, "the number of elements exceeds 63 bits");
        t->dim[i] = (int64_t) d;
    }
    return st;
}

static nino_status gguf_read_info(reader *r, nino_tensor_info *t)
{
    const char *name;
    uint64_t len, count = 0, id = 0;
    char where[192];
    size_t values, bytes;
    nino_status st = get_name(r, "tensor name", MAX_NAME, &name, &len);
    if (st)
        return st;
    t->name = nino_arena_strndup(r->out->arena, name, (size_t) len);
    if (!t->name)
        return gguf_nomem(r);
    nino_tensor_where(where, r->file, name, (size_t) len);
    if ((st = read_dims(r, t, where, &count)) || (st = gguf_get(r, 4, &id)))
        return st;
    if (!gguf_type_of(id, &t->dtype))
        return REFUSE("dtype", where, "an unknown tensor type %" PRIu64, id);
    if ((st = gguf_get(r, 8, &t->offset)))
        return st;
    nino_dtype_block(t->dtype, &values, &bytes);
    const uint64_t row = t->rank ? (uint64_t) t->dim[t->rank - 1] : 1;
    if (row % values)
        return REFUSE("shape", where, "rows of %" PRIu64 " values do not fill blocks of %zu", row,
                      values);
    if (!nino_mul_u64(count / values, bytes, &t->bytes) || t->bytes > INT64_MAX)
        return REFUSE("overflow", where, "the tensor's size exceeds 63 bits");
    return NINO_OK;
}

// Data must follow without holes, each tensor padded to the alignment.
static nino_status gguf_place(reader *r)
{
    const uint64_t base = (r->at + r->align - 1) & ~(r->align - 1); // at least the alignment
    uint64_t at = 0, end;
    for (int i = 0; i < r->out->n_infos; i++) {
        nino_tensor_info *t = &r->out->infos[i];
        char where[192];
        nino_tensor_where(where, r->file, t->name, strlen(t->name));
        if (t->offset != at)
            return REFUSE("range", where, "its data is not where the tensor before it ends");
        if (base > r->file_bytes || !nino_add_u64(at, t->bytes, &end) || end > r->file_bytes - base)
            return REFUSE("truncated", where, "its data goes beyond the end of the file");
        at = (end + r->align - 1) & ~(r->align - 1); // end is below 2^64 - base
        t->offset += base;
    }
    return NINO_OK;
}

static int gguf_by_name(const void *a, const void *b)
{
    return strcmp((*(nino_tensor_info *const *) a)->name, (*(nino_tensor_info *const *) b)->name);
}

// "[320,4,3,3]" as a shape of t's, if it has as many elements. What was written into the file may
// multiply to more than 64 bits.
static void restore_shape(nino_tensor_info *t, const char *text)
{
    nino_shape now = { 0 };
    int64_t d = 0;
    uint64_t count = 1;
    bool fits = true;
    for (; *text && now.rank < NINO_MAX_RANK; text++) {
        if (*text >= '0' && *text <= '9' && d < INT32_MAX)
            d = d * 10 + (*text - '0');
        else if (*text == ',' || *text == ']') {
            now.dim[now.rank++] = d;
            fits = fits && nino_mul_u64(count, (uint64_t) d, &count);
            d = 0;
        }
    }
    if (!*text && fits && count == (uint64_t) nino_tensor_info_count(t)) {
        t->rank = now.rank;
        memcpy(t->dim, now.dim, sizeof(now.dim));
    }
}

// Writers that reshape a tensor so that its rows fill blocks record the shape it had. Names are
// sorted for that; equal ones are refused on the way.
static nino_status name_tensors(reader *r)
{
    static const char prefix[] = "comfy.gguf.orig_shape.";
    const size_t n = (size_t) r->out->n_infos;
    nino_tensor_info **sorted = malloc((n + 1) * sizeof(*sorted)), key, *at = &key;
    nino_status st = NINO_OK;
    if (!sorted)
        return gguf_nomem(r);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &r->out->infos[i];
    qsort(sorted, n, sizeof(*sorted), gguf_by_name);
    for (size_t i = 1; i < n && !st; i++)
        if (!gguf_by_name(&sorted[i - 1], &sorted[i]))
            st = REFUSE("dup", r->file, "two tensors are called '%.100s'", sorted[i]->name);
    for (int m = 0; m < r->out->n_meta && !st; m++) {
        const nino_meta *v = &r->out->meta[m];
        if (strncmp(v->key, prefix, sizeof(prefix) - 1) || v->value[0] != '[')
            continue;
        key.name = v->key + sizeof(prefix) - 1;
        nino_tensor_info **found = bsearch(&at, sorted, n, sizeof(*sorted), gguf_by_name);
        if (found)
            restore_shape(*found, v->value + 1);
    }
    free(sorted);
    return st;
}

static nino_status read_infos(reader *r, uint64_t count)
{
    nino_st_header *h = r->out;
    h->infos = nino_arena_alloc(h->arena, (size_t) (count + 1) * sizeof(*h->infos));
    if (!h->infos)
        return gguf_nomem(r);
    for (uint64_t i = 0; i < count; i++) {
        const nino_status st = gguf_read_info(r, &h->infos[i]);
        if (st)
            return st;
        h->n_infos++;
    }
    nino_status st = count ? gguf_place(r) : NINO_OK;
    if (!st)
        st = name_tensors(r);
    for (int i = 0; i < h->n_infos; i++)
        nino_tensor_info_set_dense(&h->infos[i]);
    if (!st)
        st = nino_gguf_rename(h, r->file, r->err);
    return st;
}

static nino_status read_head(reader *r, uint64_t *n_tensors, uint64_t *n_kv)
{
    uint64_t version;
    nino_status st = gguf_need(r, 4);
    if (st)
        return st;
    if (memcmp(r->p, "GGUF", 4))
        return REFUSE("magic", r->file, "not a GGUF file");
    r->at = 4;
    if ((st = gguf_get(r, 4, &version)))
        return st;
    if (version >> 16 && !(version & 0xffff))
        return REFUSE("version", r->file,
                      "a big-endian GGUF file; only little-endian ones are read");
    if (version != 2 && version != 3)
        return REFUSE("version", r->file, "GGUF version %" PRIu64 "; 2 and 3 are read", version);
    if ((st = gguf_get(r, 8, n_tensors)) || (st = gguf_get(r, 8, n_kv)))
        return st;
    if (*n_tensors > MAX_TENSORS || *n_kv > MAX_KV)
        return REFUSE("limit", r->file, "%" PRIu64 " tensors and %" PRIu64 " keys", *n_tensors,
                      *n_kv);
    const uint64_t left = r->file_bytes - r->at; // the smallest possible records must fit
    if (*n_kv > left / 13 || *n_tensors > left / 24)
        return REFUSE("truncated", r->file, "the file is too short for its table");
    return NINO_OK;
}

nino_status nino_gguf_parse(const void *head, size_t head_len, uint64_t file_bytes,
                            const char *name, nino_st_header *out, bool *more, nino_error *err)
{
    reader r = { .p = head,
                 .n = head_len,
                 .file_bytes = file_bytes > head_len ? file_bytes : head_len,
                 .align = 32,
                 .file = name,
                 .out = out,
                 .err = err };
    uint64_t n_tensors = 0, n_kv = 0;
    *out = (nino_st_header){ .arena = nino_arena_create() };
    nino_status st = out->arena ? read_head(&r, &n_tensors, &n_kv) : gguf_nomem(&r);
    if (!st)
        st = read_kvs(&r, n_kv);
    if (!st)
        st = read_infos(&r, n_tensors);
    if (st)
        nino_st_header_release(out);
    if (more)
        *more = r.more;
    return st;
}
