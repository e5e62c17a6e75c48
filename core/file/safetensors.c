// The safetensors container. Layout and rules: huggingface/safetensors README.md and tensor.rs; the
// limits on names, ranks and counts are ours. Header: u64 length, JSON object of
// name -> {dtype, shape, data_offsets}, then the tensors' bytes without holes.
#include "core/file/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/num.h"
#include "core/base/size.h"
#include "core/base/utf8.h"

#define MAX_HEADER 100000000u
#define MAX_TENSORS 262144u
#define MAX_NAME 1024u
#define MAX_EXTRA_DEPTH 16 // nesting of fields that we do not know and skip

#define REFUSE(kind, ...) nino_fail_kind(err, NINO_ERR_FORMAT, kind, __VA_ARGS__)

const char *nino_tensor_where(char buf[192], const char *file, const char *tensor, size_t len)
{
    const char *slash = strrchr(file, '/');
    char name[96];
    nino_utf8_printable(name, sizeof(name), tensor, len);
    snprintf(buf, 192, "%.90s: %s", slash ? slash + 1 : file, name);
    return buf;
}

uint64_t nino_st_header_bytes(const void *head, size_t head_len)
{
    const unsigned char *p = head;
    uint64_t n = 0;
    if (head_len < 8)
        return 0;
    for (int i = 7; i >= 0; i--)
        n = n << 8 | p[i];
    return n <= MAX_HEADER ? n : 0;
}

// A length that no header has is nearly always the first bytes of something else: say of what.
static nino_status refuse_length(const char *p, size_t len, const char *name, nino_error *err)
{
    static const struct {
        const char *magic, *what;
    } known[] = {
        { "GGUF", "a GGUF file" },
        { "PK\3\4", "a zip archive (a .pth or .ckpt model?)" },
        { "\x80\x02", "an old PyTorch pickle; convert it to safetensors" },
        { "version https://git-lfs", "a git-lfs pointer, not the file itself: run git lfs pull" },
        { "<", "a web page: the download went wrong" },
        { "\x89PNG", "a PNG picture" },
        { "{", "a JSON text" },
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const size_t n = strlen(known[i].magic);
        if (len >= n && !memcmp(p, known[i].magic, n))
            return REFUSE("limit", name, "not a safetensors file but %s", known[i].what);
    }
    return REFUSE("limit", name, "the header claims more than %u bytes", MAX_HEADER);
}

static bool is_safetensors_key(const nino_json *v, const char *key)
{
    return v->key_len == strlen(key) && !memcmp(v->key, key, v->key_len);
}

// Nesting of brackets inside v's source text, outside of strings.
static int safetensors_depth_of(const nino_json_doc *doc, const nino_json *v)
{
    int depth = 0, deepest = 0;
    bool in_string = false;
    for (size_t i = v->src_begin; i < v->src_end; i++) {
        const char c = doc->src[i];
        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && (c == '[' || c == '{'))
            deepest = ++depth > deepest ? depth : deepest;
        else if (!in_string && (c == ']' || c == '}'))
            depth--;
    }
    return deepest;
}

static nino_status read_metadata(const nino_json *v, const char *name, nino_st_header *out,
                                 nino_error *err)
{
    if (v->type != NINO_JSON_OBJECT)
        return REFUSE("schema", name, "__metadata__ is not an object");
    out->meta = nino_arena_alloc(out->arena, (v->count ? v->count : 1) * sizeof(*out->meta));
    if (!out->meta)
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    for (const nino_json *m = v->child; m; m = m->next) {
        if (m->type != NINO_JSON_STRING)
            return REFUSE("schema", name, "__metadata__ holds a value that is not a string");
        if (memchr(m->key, 0, m->key_len))
            return REFUSE("name", name, "a key of __metadata__ contains U+0000");
        nino_meta *to = &out->meta[out->n_meta++];
        to->key = nino_arena_strndup(out->arena, m->key, m->key_len);
        to->value = nino_arena_strndup(out->arena, m->text, m->len);
        to->value_len = m->len;
        if (!to->key || !to->value)
            return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    }
    return NINO_OK;
}

// A shape's or offsets' element: digits only, and it must fit.
static nino_status safetensors_read_number(const nino_json *v, const char *what, const char *where,
                                           uint64_t *out, nino_error *err)
{
    if (v->type != NINO_JSON_NUMBER || strspn(v->text, "0123456789") != v->len)
        return REFUSE("schema", where, "%s holds something that is not a count", what);
    if (!nino_parse_u64(v->text, out))
        return REFUSE("overflow", where, "%s holds a number beyond 64 bits", what);
    return NINO_OK;
}

static nino_status read_shape(const nino_json *v, const char *where, nino_tensor_info *t,
                              uint64_t *count, nino_error *err)
{
    if (v->type != NINO_JSON_ARRAY)
        return REFUSE("schema", where, "shape is not a list");
    if (v->count > NINO_FILE_MAX_RANK)
        return REFUSE("limit", where, "%u dimensions, at most %d are read", v->count,
                      NINO_FILE_MAX_RANK);
    *count = 1;
    for (const nino_json *e = v->child; e; e = e->next) {
        uint64_t d;
        nino_status st = safetensors_read_number(e, "shape", where, &d, err);
        if (st)
            return st;
        if (d > INT64_MAX || !nino_mul_u64(*count, d, count))
            return REFUSE("overflow", where, "the number of elements exceeds 64 bits");
        t->dim[t->rank++] = (int64_t) d;
    }
    return NINO_OK;
}

// Leaves the range relative to the data area in t->offset and t->bytes.
static nino_status safetensors_read_range(const nino_json *v, uint64_t count, const char *where,
                                          nino_tensor_info *t, nino_error *err)
{
    uint64_t range[2], bits;
    if (v->type != NINO_JSON_ARRAY || v->count != 2)
        return REFUSE("schema", where, "data_offsets is not a pair");
    nino_status st = safetensors_read_number(v->child, "data_offsets", where, &range[0], err);
    if (!st)
        st = safetensors_read_number(v->child->next, "data_offsets", where, &range[1], err);
    if (st)
        return st;
    if (!nino_mul_u64(count, (uint64_t) nino_dtype_bits(t->dtype), &bits))
        return REFUSE("overflow", where, "the size in bits exceeds 64 bits");
    if (bits % 8)
        return REFUSE("shape", where, "packed elements do not fill whole bytes");
    if (range[1] < range[0])
        return REFUSE("range", where, "data_offsets run backwards");
    if (range[1] - range[0] != bits / 8)
        return REFUSE("shape", where, "shape needs %llu bytes, data_offsets span %llu",
                      (unsigned long long) (bits / 8), (unsigned long long) (range[1] - range[0]));
    t->offset = range[0];
    t->bytes = bits / 8;
    return NINO_OK;
}

static nino_status read_tensor(const nino_json_doc *doc, const nino_json *v, const char *file,
                               nino_tensor_info *t, nino_error *err)
{
    const nino_json *dtype = NULL, *shape = NULL, *range = NULL;
    uint64_t count = 0;
    char at[192];
    const char *where = nino_tensor_where(at, file, v->key, v->key_len);
    if (v->type != NINO_JSON_OBJECT)
        return REFUSE("schema", where, "the description is not an object");
    for (const nino_json *m = v->child; m; m = m->next) {
        if (is_safetensors_key(m, "dtype"))
            dtype = m;
        else if (is_safetensors_key(m, "shape"))
            shape = m;
        else if (is_safetensors_key(m, "data_offsets"))
            range = m;
        else if (safetensors_depth_of(doc, m) > MAX_EXTRA_DEPTH)
            return REFUSE("limit", where, "an unknown field is nested too deeply");
    }
    if (!dtype || !shape || !range)
        return REFUSE("schema", where, "no %s",
                      !dtype   ? "dtype"
                      : !shape ? "shape"
                               : "data_offsets");
    if (!nino_json_str(dtype))
        return REFUSE("schema", where, "dtype is not a word");
    if (!nino_dtype_from_safetensors(dtype->text, &t->dtype))
        return REFUSE("dtype", where, "unknown dtype '%.24s'", dtype->text);
    nino_status st = read_shape(shape, where, t, &count, err);
    return st ? st : safetensors_read_range(range, count, where, t, err);
}

static nino_status read_name(const nino_json *v, const char *file, nino_st_header *out,
                             const char **name, nino_error *err)
{
    char at[192];
    const char *where = nino_tensor_where(at, file, v->key, v->key_len);
    if (v->key_len > MAX_NAME)
        return REFUSE("limit", where, "a tensor's name has %zu bytes, at most %u are read",
                      v->key_len, MAX_NAME);
    if (!v->key_len)
        return REFUSE("name", file, "a tensor has no name");
    for (size_t i = 0; i < v->key_len; i++)
        if ((unsigned char) v->key[i] < 0x20 || v->key[i] == 0x7f)
            return REFUSE("name", where, "a tensor's name contains control characters");
    *name = nino_arena_strndup(out->arena, v->key, v->key_len);
    return *name ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, file, "out of memory");
}

static int safetensors_by_offset(const void *a, const void *b)
{
    const nino_tensor_info *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

void nino_tensor_info_set_dense(nino_tensor_info *t)
{
    uint64_t step = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        t->stride[i] = (int64_t) step;
        step *= (uint64_t) t->dim[i];
    }
    t->is_strided = false;
}

// No holes, no overlap, nothing behind the last tensor; then offsets become absolute.
static nino_status check_cover(nino_st_header *h, uint64_t base, uint64_t file_bytes,
                               const char *name, nino_error *err)
{
    uint64_t at = 0;
    if (h->n_infos > 1)
        qsort(h->infos, (size_t) h->n_infos, sizeof(*h->infos), safetensors_by_offset);
    for (int i = 0; i < h->n_infos; i++) {
        nino_tensor_info *t = &h->infos[i];
        if (t->offset != at)
            return REFUSE("range", name, "'%.80s' starts at byte %llu of the data, expected %llu",
                          t->name, (unsigned long long) t->offset, (unsigned long long) at);
        at += t->bytes; // to where its data_offsets end
        t->offset += base;
        nino_tensor_info_set_dense(t);
    }
    if (at > file_bytes - base)
        return REFUSE("truncated", name, "the file ends %llu bytes before its last tensor does",
                      (unsigned long long) (at - (file_bytes - base)));
    if (at < file_bytes - base)
        return REFUSE("range", name, "%llu bytes follow the last tensor",
                      (unsigned long long) (file_bytes - base - at));
    return NINO_OK;
}

static nino_status safetensors_read_header(const nino_json_doc *doc, const char *name,
                                           nino_st_header *out, nino_error *err)
{
    const nino_json *root = doc->root;
    if (root->type != NINO_JSON_OBJECT)
        return REFUSE("schema", name, "the header is not a JSON object");
    const uint32_t n = root->count;
    bool has_meta = false;
    for (const nino_json *v = root->child; v; v = v->next)
        has_meta = has_meta || is_safetensors_key(v, "__metadata__");
    if (n - has_meta > MAX_TENSORS)
        return REFUSE("limit", name, "%u tensors, at most %u are read", n, MAX_TENSORS);
    out->infos = nino_arena_alloc(out->arena, (n ? n : 1) * sizeof(*out->infos));
    if (!out->infos)
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    for (const nino_json *v = root->child; v; v = v->next) {
        nino_status st;
        if (is_safetensors_key(v, "__metadata__")) {
            st = read_metadata(v, name, out, err);
        } else {
            nino_tensor_info *t = &out->infos[out->n_infos];
            st = read_name(v, name, out, &t->name, err);
            if (!st)
                st = read_tensor(doc, v, name, t, err);
            out->n_infos++;
        }
        if (st)
            return st;
    }
    return NINO_OK;
}

nino_status nino_st_parse(const void *head, size_t head_len, uint64_t file_bytes, const char *name,
                          nino_st_header *out, nino_error *err)
{
    const char *p = head;
    const nino_json_limits limits = { .max_depth = MAX_HEADER,
                                      .max_bytes = MAX_HEADER,
                                      .strict_numbers = true };
    nino_json_doc *doc = NULL;
    nino_status st;
    memset(out, 0, sizeof(*out));
    if (file_bytes < 8)
        return REFUSE("truncated", name, "%llu bytes are too few for a safetensors file",
                      (unsigned long long) file_bytes);
    if (head_len < 8)
        return nino_fail(err, NINO_ERR_ARG, name, "only %zu bytes of the header given", head_len);
    const uint64_t len = nino_st_header_bytes(head, head_len);
    if (!len && memcmp(p, "\0\0\0\0\0\0\0\0", 8))
        return refuse_length(p, head_len, name, err);
    if (len > file_bytes - 8)
        return REFUSE("truncated", name, "the file ends inside its header");
    if (len > head_len - 8)
        return nino_fail(err, NINO_ERR_ARG, name, "only %zu bytes of the header given", head_len);
    if (!nino_utf8_valid(p + 8, (size_t) len))
        return REFUSE("syntax", name, "the header is not UTF-8");
    st = nino_json_parse(p + 8, (size_t) len, name, &limits, &doc, err);
    if (st)
        goto end;
    out->arena = nino_arena_create();
    if (!out->arena) {
        st = nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
        goto end;
    }
    st = safetensors_read_header(doc, name, out, err);
    if (!st)
        st = check_cover(out, 8 + len, file_bytes, name, err);
end:
    nino_json_doc_destroy(&doc);
    if (st)
        nino_st_header_release(out);
    return st;
}

void nino_st_header_release(nino_st_header *h)
{
    nino_arena_destroy(&h->arena);
    memset(h, 0, sizeof(*h));
}

// What has neither values nor a tensor is of no type, and refused.
static nino_dtype dtype_of(const nino_st_source *e)
{
    return e->array ? e->array->dtype : e->info ? e->info->dtype : NINO_DTYPE_COUNT;
}

// Bytes of the values without gaps.
static uint64_t safetensors_bytes_of(const nino_st_source *e)
{
    if (e->array || !e->info)
        return e->array ? e->array->bytes : 0;
    uint64_t n = nino_dtype_size(e->info->dtype);
    for (int k = 0; k < e->info->rank; k++)
        n *= (uint64_t) e->info->dim[k];
    return n;
}

static void put_meta(nino_buf *b, const nino_meta *meta, int n_meta)
{
    nino_buf_adds(b, "\"__metadata__\":{");
    for (int i = 0; i < n_meta; i++) {
        nino_buf_adds(b, i ? "," : "");
        nino_buf_add_json_string(b, meta[i].key, strlen(meta[i].key));
        nino_buf_addc(b, ':');
        nino_buf_add_json_string(b, meta[i].value, meta[i].value_len);
    }
    nino_buf_addc(b, '}');
}

// Returns the bytes of all tensors.
static uint64_t put_header(nino_buf *b, const nino_st_source *sources, int n, const nino_meta *meta,
                           int n_meta)
{
    uint64_t at = 0;
    nino_buf_add(b, "\0\0\0\0\0\0\0\0{", 9);
    if (n_meta)
        put_meta(b, meta, n_meta);
    for (int i = 0; i < n; i++) {
        const nino_st_source *e = &sources[i];
        const int rank = e->array ? e->array->shape.rank : e->info ? e->info->rank : 0;
        const int64_t *dim = e->array ? e->array->shape.dim : e->info ? e->info->dim : NULL;
        nino_buf_adds(b, i || n_meta ? "," : "");
        nino_buf_add_json_string(b, e->name, strlen(e->name));
        nino_buf_addf(b, ":{\"dtype\":\"%s\",\"shape\":[", nino_dtype_safetensors(dtype_of(e)));
        for (int k = 0; k < rank; k++)
            nino_buf_addf(b, k ? ",%lld" : "%lld", (long long) dim[k]);
        const uint64_t next = at + safetensors_bytes_of(e);
        nino_buf_addf(b, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long) at,
                      (unsigned long long) next);
        at = next;
    }
    nino_buf_addc(b, '}');
    while (b->len % 8 && !b->failed)
        nino_buf_addc(b, ' ');
    for (int i = 0; i < 8 && !b->failed; i++)
        b->data[i] = (char) (((uint64_t) b->len - 8) >> (8 * i));
    return at;
}

static nino_status write_tensor(nino_file_writer *w, const nino_st_source *e, nino_error *err)
{
    if (e->array || !e->info)
        return e->array ? nino_file_writer_write(w, e->array->data, e->array->bytes, err) : NINO_OK;
    const uint64_t n = safetensors_bytes_of(e), room = n > e->info->bytes ? n : e->info->bytes;
    void *values = malloc((size_t) room + 1);
    nino_status st = values ? nino_weights_read(e->file, e->info, values, err)
                            : nino_fail(err, NINO_ERR_NOMEM, e->name, "out of memory");
    if (!st)
        st = nino_file_writer_write(w, values, (size_t) n, err);
    free(values);
    return st;
}

nino_status nino_st_write(nino_file_writer *w, const char *name, const nino_st_source *sources,
                          int n, const nino_meta *meta, int n_meta, const volatile int *cancel,
                          nino_error *err)
{
    nino_st_header check = { 0 };
    nino_buf b = { 0 };
    nino_status st = NINO_OK;
    for (int i = 0; i < n; i++)
        if (!nino_dtype_safetensors(dtype_of(&sources[i])))
            return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", sources[i].name,
                                  "is stored as %s, which a safetensors file cannot hold",
                                  nino_dtype_name(dtype_of(&sources[i])));
    const uint64_t total = put_header(&b, sources, n, meta, n_meta);
    if (b.failed)
        st = nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    // A header that our own reader refuses (a repeated name, say) never reaches the disk.
    if (!st && !(st = nino_st_parse(b.data, b.len, b.len + total, name, &check, err)))
        st = nino_file_writer_write(w, b.data, b.len, err);
    for (int i = 0; !st && i < n; i++)
        st = cancel && *cancel ? nino_fail(err, NINO_ERR_CANCELLED, name, "cancelled")
                               : write_tensor(w, &sources[i], err);
    nino_st_header_release(&check);
    nino_buf_release(&b);
    return st;
}

nino_status nino_st_save(const char *dir, const char *name, bool below,
                         const nino_st_entry *entries, int n, const nino_meta *meta, int n_meta,
                         nino_error *err)
{
    nino_file_writer *w = NULL;
    nino_st_source *sources = calloc((size_t) n + 1, sizeof(*sources));
    if (!sources)
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    for (int i = 0; i < n; i++)
        sources[i] = (nino_st_source){ .name = entries[i].name, .array = entries[i].array };
    nino_status st = nino_file_writer_open(dir, name, below, &w, err);
    if (!st)
        st = nino_st_write(w, name, sources, n, meta, n_meta, NULL, err);
    if (!st)
        st = nino_file_writer_commit(&w, false, err);
    nino_file_writer_abort(&w);
    free(sources);
    return st;
}
