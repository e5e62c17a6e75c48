// PyTorch's .pth: a zip archive of stored entries, read by its central directory. Layout: PKWARE
// APPNOTE.TXT (4.3, 4.5.3) and torch.serialization; the pickle inside goes to pth_pickle.c.
#include "core/file/pth.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/size.h"
#include "core/file/pth_table.h"

#define MAX_ENTRIES 100000u
#define MAX_DIRECTORY (64u << 20)

#define REFUSE(kind, ...) nino_fail_kind(err, NINO_ERR_FORMAT, kind, __VA_ARGS__)

typedef struct entry {
    const char *name; // into the directory, not terminated
    size_t name_len;
    uint64_t bytes, header; // header: position of the local header
    uint64_t data;          // position of the bytes; 0: not looked up yet
    uint16_t flags;
} entry;

typedef struct zip {
    int fd;
    const char *name;
    char *directory;
    uint64_t directory_at, directory_bytes, n_entries;
    entry *entries; // sorted by name
} zip;

static uint64_t pth_number(const char *p, int bytes)
{
    uint64_t v = 0;
    for (int i = bytes; i-- > 0;)
        v = v << 8 | (unsigned char) p[i];
    return v;
}

static bool is_sig(const char *p, const char *sig) { return !memcmp(p, sig, 4); }

// Zip64 records hold what does not fit; where the small field is not all ones both must agree.
static bool pth_widen(uint64_t *v, int bytes, uint64_t wide)
{
    const uint64_t ones = bytes == 2 ? 0xffff : 0xffffffff;
    if (*v != ones && *v != wide)
        return false;
    *v = wide;
    return true;
}

static nino_status read_end64(zip *z, uint64_t end_at, nino_error *err)
{
    char loc[20], rec[56];
    if (end_at < sizeof(loc))
        return NINO_OK;
    nino_status st = nino_file_pread(z->fd, loc, sizeof(loc), end_at - sizeof(loc), z->name, err);
    if (st || !is_sig(loc, "PK\6\7"))
        return st;
    const uint64_t at = pth_number(loc + 8, 8);
    if (at > end_at || end_at - at < sizeof(loc) + sizeof(rec))
        return REFUSE("range", z->name, "the zip64 record lies outside the file");
    st = nino_file_pread(z->fd, rec, sizeof(rec), at, z->name, err);
    if (st)
        return st;
    if (!is_sig(rec, "PK\6\6"))
        return REFUSE("syntax", z->name, "there is no zip64 record where one is announced");
    if (!pth_widen(&z->n_entries, 2, pth_number(rec + 32, 8)) ||
        !pth_widen(&z->directory_bytes, 4, pth_number(rec + 40, 8)) ||
        !pth_widen(&z->directory_at, 4, pth_number(rec + 48, 8)))
        return REFUSE("range", z->name, "the zip64 record disagrees with the archive's end");
    return NINO_OK;
}

// The end record is the last thing in the file; its comment may be up to 65535 bytes.
static nino_status pth_read_end(zip *z, uint64_t file_bytes, nino_error *err)
{
    enum { END = 22, TAIL = END + 65535 };
    const size_t n = file_bytes < TAIL ? (size_t) file_bytes : TAIL;
    char *tail = malloc(n ? n : 1), *p = NULL;
    if (!tail)
        return nino_fail(err, NINO_ERR_NOMEM, z->name, "out of memory");
    nino_status st = nino_file_pread(z->fd, tail, n, file_bytes - n, z->name, err);
    for (size_t at = n; !st && !p && at >= END; at--) {
        char *q = tail + at - END;
        if (is_sig(q, "PK\5\6") && pth_number(q + 20, 2) == n - at)
            p = q;
    }
    if (!st && !p)
        st = REFUSE("truncated", z->name, "the archive has no directory; the file is incomplete");
    if (!st) {
        const uint64_t end_at = file_bytes - n + (uint64_t) (p - tail);
        z->n_entries = pth_number(p + 10, 2);
        z->directory_bytes = pth_number(p + 12, 4);
        z->directory_at = pth_number(p + 16, 4);
        st = read_end64(z, end_at, err);
        if (!st && (z->directory_at > end_at || z->directory_bytes > end_at - z->directory_at))
            st = REFUSE("range", z->name, "the archive's directory lies outside the file");
    }
    free(tail);
    return st;
}

// Extra field 1 holds, in this order, those of size, packed size and position that are all ones.
static nino_status widen_entry(zip *z, const char *extra, size_t n, uint64_t *bytes,
                               uint64_t *packed, uint64_t *header, nino_error *err)
{
    uint64_t *const fields[] = { bytes, packed, header };
    while (n >= 4) {
        const size_t id = (size_t) pth_number(extra, 2), len = (size_t) pth_number(extra + 2, 2);
        if (len > n - 4)
            break;
        if (id == 1) {
            size_t at = 4;
            for (int i = 0; i < 3; i++) {
                if (*fields[i] != 0xffffffff)
                    continue;
                if (at + 8 > len + 4)
                    return REFUSE("range", z->name, "a zip64 field is too short");
                *fields[i] = pth_number(extra + at, 8);
                at += 8;
            }
            return NINO_OK;
        }
        extra += 4 + len;
        n -= 4 + len;
    }
    return NINO_OK;
}

static nino_status pth_read_entry(zip *z, size_t *at, entry *e, nino_error *err)
{
    enum { HEAD = 46 };
    const char *p = z->directory + *at;
    const size_t left = (size_t) z->directory_bytes - *at;
    if (left < HEAD || !is_sig(p, "PK\1\2"))
        return REFUSE("syntax", z->name, "the archive's directory is damaged");
    const size_t n = (size_t) pth_number(p + 28, 2), extra = (size_t) pth_number(p + 30, 2);
    const size_t comment = (size_t) pth_number(p + 32, 2);
    if (left - HEAD < n + extra + comment)
        return REFUSE("syntax", z->name, "the archive's directory is damaged");
    uint64_t packed = pth_number(p + 20, 4);
    e->bytes = pth_number(p + 24, 4);
    e->header = pth_number(p + 42, 4);
    e->flags = (uint16_t) pth_number(p + 8, 2);
    e->name = p + HEAD;
    e->name_len = n;
    nino_status st = widen_entry(z, p + HEAD + n, extra, &e->bytes, &packed, &e->header, err);
    if (st)
        return st;
    if (pth_number(p + 10, 2) || e->flags & 1 || packed != e->bytes)
        return REFUSE("schema", z->name,
                      "'%.*s' is compressed or encrypted; only stored entries are read",
                      (int) (n < 100 ? n : 100), e->name);
    *at += HEAD + n + extra + comment;
    return NINO_OK;
}

static int pth_by_name(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    const size_t n = x->name_len < y->name_len ? x->name_len : y->name_len;
    const int c = memcmp(x->name, y->name, n);
    return c ? c : (x->name_len > y->name_len) - (x->name_len < y->name_len);
}

static nino_status pth_read_directory(zip *z, nino_error *err)
{
    size_t at = 0;
    if (z->n_entries > MAX_ENTRIES || z->directory_bytes > MAX_DIRECTORY)
        return REFUSE("limit", z->name, "%llu entries, at most %u are read",
                      (unsigned long long) z->n_entries, MAX_ENTRIES);
    z->directory = malloc((size_t) z->directory_bytes + 1);
    z->entries = calloc((size_t) z->n_entries + 1, sizeof(*z->entries));
    if (!z->directory || !z->entries)
        return nino_fail(err, NINO_ERR_NOMEM, z->name, "out of memory");
    nino_status st = nino_file_pread(z->fd, z->directory, (size_t) z->directory_bytes,
                                     z->directory_at, z->name, err);
    for (uint64_t i = 0; !st && i < z->n_entries; i++)
        st = pth_read_entry(z, &at, &z->entries[i], err);
    if (st)
        return st;
    if (at != z->directory_bytes)
        return REFUSE("range", z->name, "the archive's directory holds more than its entries");
    qsort(z->entries, (size_t) z->n_entries, sizeof(*z->entries), pth_by_name);
    for (uint64_t i = 1; i < z->n_entries; i++)
        if (!pth_by_name(&z->entries[i - 1], &z->entries[i]))
            return REFUSE("dup", z->name, "the archive holds '%.*s' twice",
                          (int) (z->entries[i].name_len < 100 ? z->entries[i].name_len : 100),
                          z->entries[i].name);
    return NINO_OK;
}

// The entry called ROOT/PATH, its data located; NULL in *out if there is none.
static nino_status pth_find(zip *z, const char *root, size_t root_len, const char *path,
                            size_t path_len, entry **out, nino_error *err)
{
    enum { HEAD = 30 };
    char key[2 * NINO_PTH_MAX_NAME], head[HEAD], local[2 * NINO_PTH_MAX_NAME];
    *out = NULL;
    if (root_len + path_len > sizeof(key))
        return NINO_OK;
    memcpy(key, root, root_len);
    memcpy(key + root_len, path, path_len);
    const entry want = { .name = key, .name_len = root_len + path_len };
    entry *e = bsearch(&want, z->entries, (size_t) z->n_entries, sizeof(*e), pth_by_name);
    *out = e;
    if (!e || e->data)
        return NINO_OK;
    const uint64_t end = z->directory_at;
    if (e->header > end || end - e->header < HEAD + e->name_len)
        return REFUSE("range", z->name, "an entry starts outside the file");
    nino_status st = nino_file_pread(z->fd, head, HEAD, e->header, z->name, err);
    if (!st)
        st = nino_file_pread(z->fd, local, e->name_len, e->header + HEAD, z->name, err);
    if (st)
        return st;
    const uint64_t packed = pth_number(head + 18, 4), bytes = pth_number(head + 22, 4);
    const bool later = pth_number(head + 6, 2) & 8; // sizes follow the data
    const bool agree = (packed == e->bytes || packed == 0xffffffff || (later && !packed)) &&
                       (bytes == e->bytes || bytes == 0xffffffff || (later && !bytes));
    if (!is_sig(head, "PK\3\4") || pth_number(head + 26, 2) != e->name_len ||
        memcmp(local, e->name, e->name_len) || pth_number(head + 8, 2) || !agree)
        return REFUSE("range", z->name, "an entry and the archive's directory disagree");
    const uint64_t data = e->header + HEAD + e->name_len + pth_number(head + 28, 2);
    if (data > end || e->bytes > end - data)
        return REFUSE("truncated", z->name, "an entry ends outside the file");
    e->data = data;
    return NINO_OK;
}

// The folder of the one data.pkl, with its slash.
static nino_status find_root(zip *z, const char **root, size_t *len, nino_error *err)
{
    static const char tail[] = "/data.pkl";
    const size_t n = strlen(tail);
    *root = NULL;
    for (uint64_t i = 0; i < z->n_entries; i++) {
        const entry *e = &z->entries[i];
        if (e->name_len <= n || memcmp(e->name + e->name_len - n, tail, n) ||
            memchr(e->name, '/', e->name_len - n))
            continue;
        if (*root)
            return REFUSE("dup", z->name, "the archive holds two models");
        *root = e->name;
        *len = e->name_len - n + 1;
    }
    if (!*root || *len > NINO_PTH_MAX_NAME)
        return REFUSE("schema", z->name, "a zip archive, but not of PyTorch: no data.pkl in it");
    return NINO_OK;
}

static nino_status check_byteorder(zip *z, const char *root, size_t root_len, nino_error *err)
{
    entry *e;
    char text[8];
    nino_status st = pth_find(z, root, root_len, "byteorder", strlen("byteorder"), &e, err);
    if (st || !e)
        return st;
    if (e->bytes != strlen("little"))
        return REFUSE("version", z->name, "the numbers are not little-endian");
    st = nino_file_pread(z->fd, text, strlen("little"), e->data, z->name, err);
    if (!st && memcmp(text, "little", strlen("little")))
        st = REFUSE("version", z->name, "the numbers are not little-endian");
    return st;
}

static nino_status fill_info(zip *z, const char *root, size_t root_len, const nino_pickle_tensor *t,
                             nino_arena *arena, nino_tensor_info *info, nino_error *err)
{
    char path[NINO_PTH_MAX_NAME] = "data/";
    entry *e;
    nino_status st = nino_pth_check_name(t, z->name, err);
    if (st)
        return st;
    const int name_len = (int) (t->name_len < 100 ? t->name_len : 100);
    memcpy(path + 5, t->key, t->key_len);
    st = pth_find(z, root, root_len, path, 5 + t->key_len, &e, err);
    if (st)
        return st;
    if (!e)
        return REFUSE("schema", z->name, "the storage of '%.*s' is missing", name_len, t->name);
    if (e->bytes / nino_dtype_size(t->dtype) < t->storage_count)
        return REFUSE("range", z->name, "the storage of '%.*s' is too short", name_len, t->name);
    return nino_pth_fill(t, e->data, z->name, arena, info, err);
}

static nino_status read_model(zip *z, nino_st_header *out, nino_arena *scratch, nino_error *err)
{
    const char *root = NULL;
    size_t root_len = 0;
    entry *pickle = NULL;
    nino_pickle_tensor *tensors = NULL;
    int n = 0;
    nino_status st = find_root(z, &root, &root_len, err);
    if (!st)
        st = check_byteorder(z, root, root_len, err);
    if (!st)
        st = pth_find(z, root, root_len, "data.pkl", strlen("data.pkl"), &pickle, err);
    if (st)
        return st;
    if (pickle->bytes > NINO_PTH_MAX_PICKLE)
        return REFUSE("limit", z->name, "a pickle of %llu bytes",
                      (unsigned long long) pickle->bytes);
    char *p = nino_arena_alloc(scratch, (size_t) pickle->bytes + 1);
    if (!p)
        return nino_fail(err, NINO_ERR_NOMEM, z->name, "out of memory");
    st = nino_file_pread(z->fd, p, (size_t) pickle->bytes, pickle->data, z->name, err);
    if (!st)
        st = nino_pickle_read(p, (size_t) pickle->bytes, z->name, scratch, &tensors, &n, err);
    if (st)
        return st;
    out->infos = nino_arena_alloc(out->arena, (size_t) (n ? n : 1) * sizeof(*out->infos));
    if (!out->infos)
        return nino_fail(err, NINO_ERR_NOMEM, z->name, "out of memory");
    for (int i = 0; !st && i < n; i++)
        st = fill_info(z, root, root_len, &tensors[i], out->arena, &out->infos[i], err);
    if (st)
        return st;
    out->n_infos = n;
    nino_pth_sort(out);
    return NINO_OK;
}

nino_status nino_pth_parse(int fd, uint64_t file_bytes, const char *name, nino_st_header *out,
                           nino_error *err)
{
    zip z = { .fd = fd, .name = name };
    nino_arena *scratch = nino_arena_create();
    memset(out, 0, sizeof(*out));
    out->arena = nino_arena_create();
    nino_status st = NINO_OK;
    if (!scratch || !out->arena)
        st = nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    if (!st)
        st = pth_read_end(&z, file_bytes, err);
    if (!st)
        st = pth_read_directory(&z, err);
    if (!st)
        st = read_model(&z, out, scratch, err);
    free(z.directory);
    free(z.entries);
    nino_arena_destroy(&scratch);
    if (st)
        nino_st_header_release(out);
    return st;
}
