// One view of all model files: recognise the container, keep its table, find and read tensors.
#include "core/file/weights.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/size.h"
#include "core/file/gguf.h"
#include "core/file/pth.h"
#include "core/file/pth_pickle.h"
#include "core/file/weights_priv.h"

int64_t nino_tensor_info_count(const nino_tensor_info *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        n *= t->dim[i];
    return n;
}

int64_t nino_tensor_info_row(const nino_tensor_info *t)
{
    return t->rank && t->dim[0] ? nino_tensor_info_count(t) / t->dim[0] : 0;
}

static nino_status read_st(nino_weights *w, const char head[8], nino_error *err)
{
    const uint64_t len = w->file_bytes < 8 ? 0 : nino_st_header_bytes(head, 8);
    const size_t want = (size_t) (len + 8 < w->file_bytes ? len + 8 : w->file_bytes);
    const size_t n = len ? want : w->file_bytes < 64 ? (size_t) w->file_bytes : 64;
    nino_status st = NINO_OK;
    char *buf = malloc(n ? n : 1);
    if (!buf)
        return nino_fail(err, NINO_ERR_NOMEM, w->path, "out of memory for a header of %zu bytes",
                         n);
    if (n)
        st = nino_file_pread(w->fd, buf, n, 0, w->path, err);
    if (!st)
        st = nino_st_parse(buf, n, w->file_bytes, w->path, &w->header, err);
    if (!st)
        st = nino_st_rename(&w->header, w->path, err);
    if (!st)
        st = nino_weights_read_quants(w, err);
    free(buf);
    w->format = "safetensors";
    return st;
}

// The table's length is not announced: more is read until it is complete.
static nino_status read_gguf(nino_weights *w, nino_error *err)
{
    bool more = true;
    nino_status st = NINO_ERR_FORMAT;
    w->format = "gguf";
    for (uint64_t n = 1 << 20; more; n *= 4) {
        if (n > w->file_bytes)
            n = w->file_bytes;
        char *head = malloc((size_t) n);
        if (!head)
            return nino_fail(err, NINO_ERR_NOMEM, w->path,
                             "out of memory for a table of %llu bytes", (unsigned long long) n);
        st = nino_file_pread(w->fd, head, (size_t) n, 0, w->path, err);
        more = false;
        if (!st)
            st = nino_gguf_parse(head, (size_t) n, w->file_bytes, w->path, &w->header, &more, err);
        free(head);
    }
    if (!st && err)
        *err = (nino_error){ 0 };
    return st;
}

// By the first bytes; whatever is nothing else must be safetensors, which has no magic number. The
// ninth byte tells an archive from a header that is 0x04034b50 bytes long.
static nino_status read_table(nino_weights *w, nino_error *err)
{
    char head[16] = { 0 };
    const size_t n = w->file_bytes < sizeof(head) ? (size_t) w->file_bytes : sizeof(head);
    nino_status st = n ? nino_file_pread(w->fd, head, n, 0, w->path, err) : NINO_OK;
    if (st)
        return st;
    if (n >= 8 && !memcmp(head, "GGUF", 4) && head[8] != '{')
        return read_gguf(w, err);
    if (n >= 12 && !memcmp(head, NINO_PTH_OLD_MAGIC, 9)) {
        w->format = "pth";
        return nino_pth_old_parse(w->fd, w->file_bytes, w->path, &w->header, err);
    }
    if (n >= 9 && !memcmp(head, "PK\3\4", 4) && head[8] != '{') {
        w->format = "pth";
        return nino_pth_parse(w->fd, w->file_bytes, w->path, &w->header, err);
    }
    return read_st(w, head, err);
}

nino_status nino_weights_build_index(nino_weights *w, nino_error *err)
{
    size_t slots = 16;
    while (slots < 2 * (size_t) w->header.n_infos)
        slots *= 2;
    w->table = calloc(slots, sizeof(*w->table));
    if (!w->table)
        return nino_fail(err, NINO_ERR_NOMEM, w->path, "out of memory");
    w->mask = slots - 1;
    for (int i = 0; i < w->header.n_infos; i++) {
        const char *name = w->header.infos[i].name;
        size_t at = (size_t) nino_hash_bytes(name, strlen(name)).lo & w->mask;
        for (; w->table[at]; at = (at + 1) & w->mask)
            if (!strcmp(w->header.infos[w->table[at] - 1].name, name))
                return nino_fail_kind(err, NINO_ERR_FORMAT, "dup", w->path,
                                      "two tensors are called '%.100s'", name);
        w->table[at] = (uint32_t) i + 1;
    }
    return NINO_OK;
}

static nino_status weights_check_file(nino_weights *w, struct stat *s, nino_error *err)
{
    if (fstat(w->fd, s))
        return nino_fail(err, NINO_ERR_IO, w->path, "%s", strerror(errno));
    if (!S_ISREG(s->st_mode))
        return nino_fail(err, NINO_ERR_IO, w->path, "not a regular file");
    return NINO_OK;
}

static bool is_weights_same(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static nino_status open_checked(nino_weights *w, nino_error *err)
{
    struct stat before, after;
    nino_status st = weights_check_file(w, &before, err);
    if (st)
        return st;
    w->file_bytes = (uint64_t) before.st_size;
    const uint64_t id[] = { (uint64_t) before.st_dev, (uint64_t) before.st_ino, w->file_bytes,
                            (uint64_t) before.st_mtim.tv_sec, (uint64_t) before.st_mtim.tv_nsec };
    w->identity = nino_hash_bytes(id, sizeof(id));
    st = read_table(w, err);
    if (!st)
        st = nino_weights_build_index(w, err);
    if (!st && !(w->ahead = nino_ahead_create(w->header.n_infos)))
        st = nino_fail(err, NINO_ERR_NOMEM, w->path, "out of memory");
    if (!st)
        st = weights_check_file(w, &after, err);
    if (!st && !is_weights_same(&before, &after))
        st = nino_fail(err, NINO_ERR_IO, w->path, "the file changed while it was read");
    return st;
}

nino_weights *nino_weights_open_fd(int fd, const char *display_name, nino_error *err)
{
    nino_weights *w = calloc(1, sizeof(*w));
    char *path = strdup(display_name);
    if (!w || !path) {
        nino_fail(err, NINO_ERR_NOMEM, display_name, "out of memory");
        close(fd);
        free(path);
        free(w);
        return NULL;
    }
    w->refs = 1;
    w->fd = fd;
    w->path = path;
    w->format = "?";
    if (open_checked(w, err))
        nino_weights_unref(&w);
    return w;
}

nino_weights *nino_weights_open(const char *path, nino_error *err)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        const bool absent = errno == ENOENT || errno == ENOTDIR;
        nino_fail(err, absent ? NINO_ERR_MISSING : NINO_ERR_IO, path, "%s", strerror(errno));
        return NULL;
    }
    return nino_weights_open_fd(fd, path, err);
}

nino_weights *nino_weights_ref(nino_weights *w)
{
    if (w)
        __atomic_add_fetch(&w->refs, 1, __ATOMIC_RELAXED);
    return w;
}

void nino_weights_unref(nino_weights **w)
{
    nino_weights *p = *w;
    *w = NULL;
    if (!p || __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL))
        return;
    if (p->base) {
        nino_weights_unref(&p->base);
        p->change.destroy(p->change.priv);
    } else {
        nino_ahead_destroy(p->ahead);
        nino_json_doc_destroy(&p->quants);
        close(p->fd);
    }
    free(p->is_changed);
    nino_st_header_release(&p->header);
    free(p->table);
    free(p->path);
    free(p);
}

const char *nino_weights_path(const nino_weights *w) { return w->path; }
const char *nino_weights_format(const nino_weights *w) { return w->format; }
uint64_t nino_weights_file_bytes(const nino_weights *w) { return w->file_bytes; }
nino_hash nino_weights_identity(const nino_weights *w) { return w->identity; }
int nino_weights_count(const nino_weights *w) { return w->header.n_infos; }
int nino_weights_meta_count(const nino_weights *w) { return w->header.n_meta; }

const nino_tensor_info *nino_weights_at(const nino_weights *w, int i)
{
    return i >= 0 && i < w->header.n_infos ? &w->header.infos[i] : NULL;
}

const nino_meta *nino_weights_meta_at(const nino_weights *w, int i)
{
    return i >= 0 && i < w->header.n_meta ? &w->header.meta[i] : NULL;
}

const char *nino_weights_meta(const nino_weights *w, const char *key)
{
    for (int i = 0; i < w->header.n_meta; i++)
        if (!strcmp(w->header.meta[i].key, key))
            return w->header.meta[i].value;
    return NULL;
}

const nino_tensor_info *nino_weights_find(const nino_weights *w, const char *name)
{
    size_t at = (size_t) nino_hash_bytes(name, strlen(name)).lo & w->mask;
    for (; w->table[at]; at = (at + 1) & w->mask) {
        const nino_tensor_info *t = &w->header.infos[w->table[at] - 1];
        if (!strcmp(t->name, name))
            return t;
    }
    return NULL;
}

uint64_t nino_weights_bytes(const nino_weights *w, const char *prefix)
{
    const size_t n = strlen(prefix);
    uint64_t sum = 0;
    if (w->base && w->change.low_rank)
        return nino_weights_bytes(w->base, prefix);
    for (int i = 0; i < w->header.n_infos; i++)
        if (!strncmp(w->header.infos[i].name, prefix, n))
            sum += w->header.infos[i].bytes;
    return sum;
}

// Bytes from the first to the last element of a strided tensor. The parser has checked that they
// lie inside the storage, so nothing here can wrap.
static size_t span_of(const nino_tensor_info *t)
{
    uint64_t last = 0;
    for (int i = 0; i < t->rank; i++)
        last += (uint64_t) (t->dim[i] - 1) * (uint64_t) t->stride[i];
    return (size_t) (last + 1) * nino_dtype_size(t->dtype);
}

// Copies the elements of a strided tensor into C order. Unsigned, because the stride of a dimension
// of one may be any number: the position wraps around and back.
static void weights_gather(char *dst, const char *src, const nino_tensor_info *t)
{
    const size_t size = nino_dtype_size(t->dtype);
    int64_t at[NINO_FILE_MAX_RANK] = { 0 };
    uint64_t pos = 0;
    for (uint64_t n = t->bytes / size; n; n--, dst += size) {
        memcpy(dst, src + pos * size, size);
        for (int i = t->rank - 1; i >= 0; i--) {
            pos += (uint64_t) t->stride[i];
            if (++at[i] < t->dim[i])
                break;
            pos -= (uint64_t) t->stride[i] * (uint64_t) t->dim[i];
            at[i] = 0;
        }
    }
}

static nino_status fail_at(nino_status code, const nino_weights *w, const nino_tensor_info *t,
                           const char *msg, nino_error *err)
{
    char where[192];
    return nino_fail(err, code, nino_tensor_where(where, w->path, t->name, strlen(t->name)), "%s",
                     msg);
}

nino_status nino_weights_read(const nino_weights *w, const nino_tensor_info *t, void *dst,
                              nino_error *err)
{
    if (!t->bytes)
        return NINO_OK;
    if (w->base)
        return nino_view_read(w, t, dst, err);
    if (!t->is_strided)
        return nino_file_pread(w->fd, dst, (size_t) t->bytes, t->offset, w->path, err);
    const size_t span = span_of(t);
    char *src = malloc(span);
    if (!src)
        return fail_at(NINO_ERR_NOMEM, w, t, "out of memory", err);
    nino_status st = nino_file_pread(w->fd, src, span, t->offset, w->path, err);
    if (!st)
        weights_gather(dst, src, t);
    free(src);
    return st;
}

bool nino_weights_is_stored(const nino_weights *w, const nino_tensor_info *t)
{
    const ptrdiff_t i = t - w->header.infos;
    for (; w->base; w = w->base)
        if (w->is_changed[i])
            return false;
    return !t->is_strided;
}

nino_status nino_weights_read_bytes(const nino_weights *w, const nino_tensor_info *t, uint64_t at,
                                    uint64_t n, void *dst, nino_error *err)
{
    if (at > t->bytes || n > t->bytes - at || t->is_strided)
        return fail_at(NINO_ERR_RANGE, w, t, "it has no such bytes", err);
    if (w->base)
        return nino_view_read_bytes(w, t, at, n, dst, err);
    return n ? nino_file_pread(w->fd, dst, n, t->offset + at, w->path, err) : NINO_OK;
}

nino_status nino_weights_read_head(const nino_weights *w, void *dst, size_t n, nino_error *err)
{
    return nino_file_pread(w->fd, dst, n, 0, w->path, err);
}

// Reads all values through a buffer, as f32; whole blocks at a time.
static nino_status weights_read_blocks(const nino_weights *w, const nino_tensor_info *t, float *dst,
                                       nino_error *err)
{
    enum { ROOM = 1 << 20 };
    size_t values, bytes;
    nino_dtype_block(t->dtype, &values, &bytes);
    const size_t n = (size_t) t->bytes / bytes, step = ROOM / bytes;
    nino_status st = NINO_OK;
    char *block = malloc((n < step ? n : step) * bytes);
    if (!block)
        return fail_at(NINO_ERR_NOMEM, w, t, "out of memory", err);
    for (size_t i = 0; !st && i < n; i += step) {
        const size_t k = n - i < step ? n - i : step;
        st = nino_file_pread(w->fd, block, k * bytes, t->offset + i * bytes, w->path, err);
        if (!st)
            nino_to_f32(dst + i * values, block, t->dtype, k * values);
    }
    free(block);
    return st;
}

static nino_status read_gathered(const nino_weights *w, const nino_tensor_info *t, float *dst,
                                 nino_error *err)
{
    char *all = malloc((size_t) t->bytes);
    if (!all)
        return fail_at(NINO_ERR_NOMEM, w, t, "out of memory", err);
    nino_status st = nino_weights_read(w, t, all, err);
    if (!st)
        nino_to_f32(dst, all, t->dtype, (size_t) t->bytes / nino_dtype_size(t->dtype));
    free(all);
    return st;
}

static nino_status weights_check_usable(const nino_weights *w, const nino_tensor_info *t,
                                        nino_error *err)
{
    char msg[96];
    float probe = 0;
    if (t->rank <= NINO_MAX_RANK && nino_to_f32(&probe, &probe, t->dtype, 0))
        return NINO_OK;
    snprintf(msg, sizeof(msg), "a tensor of rank %d and type %s cannot be used", t->rank,
             nino_dtype_name(t->dtype));
    return fail_at(NINO_ERR_UNSUPPORTED, w, t, msg, err);
}

static nino_status weights_read_values(const nino_weights *w, const nino_tensor_info *t, float *dst,
                                       nino_error *err)
{
    if (!t->bytes)
        return NINO_OK;
    if (t->is_strided)
        return read_gathered(w, t, dst, err);
    return t->dtype == NINO_F32 ? nino_weights_read(w, t, dst, err)
                                : weights_read_blocks(w, t, dst, err);
}

// Values first ... first + n - 1 of a tensor whose rows are not whole blocks: those at both ends
// are read too.
static nino_status read_across_blocks(const nino_weights *w, const nino_tensor_info *t,
                                      int64_t first, int64_t n, float *dst, nino_error *err)
{
    size_t values, bytes;
    nino_dtype_block(t->dtype, &values, &bytes);
    const int64_t block = (int64_t) values, begin = first / block;
    const int64_t count = nino_ceil_div(first + n, block) - begin;
    nino_tensor_info part = { .name = t->name, .dtype = t->dtype };
    part.bytes = (uint64_t) count * bytes;
    part.offset = t->offset + (uint64_t) begin * bytes;
    float *all = malloc((size_t) (count * block) * sizeof(float));
    if (!all)
        return fail_at(NINO_ERR_NOMEM, w, t, "out of memory", err);
    const nino_status st = weights_read_blocks(w, &part, all, err);
    if (!st)
        memcpy(dst, all + first - begin * block, (size_t) n * sizeof(float));
    free(all);
    return st;
}

nino_status nino_weights_read_rows_f32(const nino_weights *w, const nino_tensor_info *t,
                                       int64_t first, int64_t n, float *dst, nino_error *err)
{
    nino_status st = weights_check_usable(w, t, err);
    if (st)
        return st;
    const int64_t rows = t->rank ? t->dim[0] : 0;
    if (first < 0 || n < 0 || first > rows || n > rows - first || !rows)
        return fail_at(NINO_ERR_RANGE, w, t, "it has no such rows", err);
    if (!n)
        return NINO_OK;
    if (w->base)
        return nino_view_read_rows(w, t, first, n, dst, err);
    size_t values, bytes;
    nino_dtype_block(t->dtype, &values, &bytes);
    const int64_t row = (int64_t) (t->bytes / bytes * values) / rows;
    if (row % (int64_t) values)
        return read_across_blocks(w, t, first * row, n * row, dst, err);
    nino_tensor_info part = *t; // rows of a tensor are a tensor
    part.dim[0] = n;
    part.bytes = t->bytes / (uint64_t) rows * (uint64_t) n;
    part.offset += t->is_strided
                       ? (uint64_t) first * (uint64_t) t->stride[0] * nino_dtype_size(t->dtype)
                       : t->bytes / (uint64_t) rows * (uint64_t) first;
    return weights_read_values(w, &part, dst, err);
}

nino_array *nino_weights_read_f32(const nino_weights *w, const nino_tensor_info *t, nino_error *err)
{
    if (weights_check_usable(w, t, err))
        return NULL;
    nino_array *a = nino_array_create(NINO_F32, nino_shape_make(t->rank, t->dim));
    if (!a) {
        fail_at(NINO_ERR_NOMEM, w, t, "out of memory", err);
        return NULL;
    }
    const nino_status st =
        w->base ? nino_view_read_all(w, t, a->data, err) : weights_read_values(w, t, a->data, err);
    if (st)
        nino_array_unref(&a);
    return a;
}
