// PyTorch files built byte by byte: a zip archive of stored entries, pickles of tensors, and the form of
// files older than 1.6. What the headers say may be a lie.
#pragma once
#include "core/base/buf.h"
#include "core/file/pth.h"
#include "core/file/weights.h"
#include "tests/test.h"

#include <sys/mman.h>

// ---- a zip archive

typedef struct part {
    const char *name;
    const void *data;
    size_t len;
    int method, flags;      // as written into both headers
    uint32_t local_lie;     // added to both sizes in the local header
    uint32_t size_lie;      // and to the second, that of what is unpacked
    uint32_t directory_lie; // and in the directory
    bool is_wide;           // sizes and position in a zip64 field of the directory
    int wide_cut;           // bytes that this field lacks
    const char *local_name; // NULL: the same name
} part;

static inline void pth_le(nino_buf *b, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        nino_buf_addc(b, i < 8 ? (char) (v >> (8 * i)) : 0);
}

static inline nino_buf pth_zip_of(const part *parts, int n, bool zip64, uint64_t zip64_lie)
{
    nino_buf b = { 0 };
    uint32_t at[16];
    for (int i = 0; i < n; i++) {
        const part *p = &parts[i];
        const char *name = p->local_name ? p->local_name : p->name;
        at[i] = (uint32_t) b.len;
        nino_buf_add(&b, "PK\3\4\0\0", 6);
        pth_le(&b, (uint64_t) p->flags, 2);
        pth_le(&b, (uint64_t) p->method, 2);
        pth_le(&b, 0, 8); // time, date, crc
        pth_le(&b, p->len + p->local_lie, 4);
        pth_le(&b, p->len + p->local_lie + p->size_lie, 4);
        pth_le(&b, strlen(name), 2);
        pth_le(&b, 3, 2); // extra bytes, as torch's padding
        nino_buf_adds(&b, name);
        nino_buf_adds(&b, "pad");
        nino_buf_add(&b, p->data, p->len);
    }
    const uint64_t directory = b.len;
    for (int i = 0; i < n; i++) {
        const part *p = &parts[i];
        const uint32_t size = p->is_wide ? 0xffffffff : (uint32_t) p->len + p->directory_lie;
        const int wide = p->is_wide ? 24 - p->wide_cut : 0;
        nino_buf_add(&b, "PK\1\2\0\0\0\0", 8);
        pth_le(&b, (uint64_t) p->flags, 2);
        pth_le(&b, (uint64_t) p->method, 2);
        pth_le(&b, 0, 8);
        pth_le(&b, size, 4);
        pth_le(&b, size, 4);
        pth_le(&b, strlen(p->name), 2);
        pth_le(&b, p->is_wide ? (uint64_t) wide + 10 : 0, 2);
        pth_le(&b, 0, 10);
        pth_le(&b, p->is_wide ? 0xffffffff : at[i], 4);
        nino_buf_adds(&b, p->name);
        if (!p->is_wide)
            continue;
        nino_buf_add(&b, "\x55\x54\2\0xx\1\0", 8); // an unrelated field comes first
        pth_le(&b, (uint64_t) wide, 2);
        const size_t from = b.len;
        pth_le(&b, p->len, 8);
        pth_le(&b, p->len, 8);
        pth_le(&b, at[i], 8);
        b.len = from + (size_t) wide;
    }
    const uint64_t end = b.len;
    if (zip64) {
        nino_buf_add(&b, "PK\6\6", 4);
        pth_le(&b, 44, 8);
        pth_le(&b, 0, 12);
        pth_le(&b, (uint64_t) n, 8);
        pth_le(&b, (uint64_t) n, 8);
        pth_le(&b, end - directory, 8);
        pth_le(&b, directory + zip64_lie, 8);
        nino_buf_add(&b, "PK\6\7\0\0\0\0", 8);
        pth_le(&b, end, 8);
        pth_le(&b, 1, 4);
    }
    nino_buf_add(&b, "PK\5\6\0\0\0\0", 8);
    pth_le(&b, (uint64_t) n, 2);
    pth_le(&b, (uint64_t) n, 2);
    pth_le(&b, end - directory, 4);
    pth_le(&b, zip64 && !zip64_lie ? 0xffffffff : directory, 4);
    pth_le(&b, 0, 2);
    return b;
}

static inline nino_weights *pth_open_bytes(const void *p, size_t n, nino_error *err)
{
    const int fd = memfd_create("test.pth", MFD_CLOEXEC);
    CHECK(fd >= 0 && write(fd, p, n) == (ssize_t) n);
    return nino_weights_open_fd(fd, "test.pth", err);
}

// kind: "ok", the kind of the refusal, or that and what is said, "kind: text".
static inline void pth_expect(nino_buf *b, const char *what, const char *kind)
{
    char told[sizeof(((nino_error *) NULL)->msg) + 40];
    nino_error err = { 0 };
    nino_weights *w = pth_open_bytes(b->data, b->len, &err);
    const char *got = w ? "ok" : err.kind;
    snprintf(told, sizeof(told), strchr(kind, ':') ? "%s: %s" : "%s", got, err.msg);
    if (strcmp(told, kind)) {
        fprintf(stderr, "%s: %s (%s), expected %s\n", what, got, err.msg, kind);
        exit(1);
    }
    CHECK(w || (err.code == NINO_ERR_FORMAT && !strcmp(err.where, "test.pth")));
    nino_weights_unref(&w);
    nino_buf_release(b);
}

// ---- pickles: strings with a length, because they contain zeros

#define DICT "ccollections\nOrderedDict\n)R"
#define REBUILD "ctorch._utils\n_rebuild_tensor_v2\n"
#define STORAGE                                                                                    \
    "(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"                                             \
    "0X\3\0\0\0cpuK\6tQ"
#define TENSOR REBUILD "(" STORAGE "K\0K\2K\3\x86K\3K\1\x86\x89" DICT "tR"
#define TRANSPOSED REBUILD "(" STORAGE "K\1K\2K\2\x86K\1K\3\x86\x89" DICT "tR"
#define KEY(c) "X\1\0\0\0" c
#define TENSOR_OF(offset, shape, stride) REBUILD "(" STORAGE offset shape stride "\x89" DICT "tR"

static const float storage[6] = { 0, 1, 2, 3, 4, 5 };

static inline nino_buf pth_archive(const void *pickle, size_t len)
{
    const part parts[] = {
        { .name = "m/data.pkl", .data = pickle, .len = len },
        { .name = "m/byteorder", .data = "little", .len = 6 },
        { .name = "m/data/0", .data = storage, .len = sizeof(storage) },
    };
    return pth_zip_of(parts, 3, false, 0);
}

// ---- files older than PyTorch 1.6: pickles and storages one behind the other

#define OLD_STORAGE(key, count, view)                                                              \
    "(X\7\0\0\0storagectorch\nFloatStorage\n" KEY(key) "X\3\0\0\0cpu" count view "tQ"
#define OLD_TENSOR(key, count, view, offset, shape, stride)                                        \
    REBUILD "(" OLD_STORAGE(key, count, view) offset shape stride "\x89" DICT "tR"
#define OLD_W OLD_TENSOR("0", "K\6", "N", "K\0", "K\2K\3\x86", "K\3K\1\x86")
#define OLD_V OLD_TENSOR("1", "K\2", "N", "K\1", "K\1\x85", "K\1\x85")
#define OLD_VIEW OLD_TENSOR("0", "K\6", KEY("7") "K\2K\4\x87", "K\1", "K\3\x85", "K\1\x85")

typedef struct old_file {
    const char *version, *info, *object, *keys; // pickles behind their first two bytes
    size_t n_object;
    uint64_t count[2]; // that the storages claim
    size_t cut;        // bytes that the end lacks
} old_file;

static inline nino_buf pth_old_bytes(const old_file *f)
{
    nino_buf b = { 0 };
    nino_buf_add(&b, "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", 15);
    nino_buf_add(&b, "\x80\x02", 2);
    if (f->version)
        nino_buf_adds(&b, f->version);
    else
        nino_buf_add(&b, "M\xe9\x03.", 4);
    nino_buf_add(&b, "\x80\x02", 2);
    if (f->info)
        nino_buf_add(&b, f->info, 22);
    else
        nino_buf_add(&b, "}X\x0d\0\0\0little_endian\x88s.", 22);
    nino_buf_add(&b, "\x80\x02", 2);
    nino_buf_add(&b, f->object, f->n_object);
    nino_buf_add(&b, "\x80\x02]", 3);
    for (const char *k = f->keys; *k; k++) {
        nino_buf_add(&b, "X\1\0\0\0", 5);
        nino_buf_addc(&b, *k);
        nino_buf_addc(&b, 'a');
    }
    nino_buf_addc(&b, '.');
    pth_le(&b, f->count[0], 8);
    nino_buf_add(&b, storage, 2 * sizeof(float)); // storage "1" comes first
    pth_le(&b, f->count[1], 8);
    nino_buf_add(&b, storage, sizeof(storage));
    b.len -= f->cut;
    return b;
}

#define OLD(listed, n1, n0, ...)                                                                   \
    {                                                                                              \
        .object = "}(" KEY("w") OLD_W KEY("v") OLD_V KEY("x") OLD_VIEW "u.",                       \
        .n_object = sizeof("}(" KEY("w") OLD_W KEY("v") OLD_V KEY("x") OLD_VIEW "u.") - 1,         \
        .keys = listed, .count = { n1, n0 }, __VA_ARGS__                                           \
    }

// A pickle, and how its reading ends.
typedef struct pth_pickle {
    const char *what, *kind, *p;
    size_t len;
} pth_pickle;

#define PICKLE(what, kind, bytes)                                                                  \
    {                                                                                              \
        what, kind, bytes, sizeof(bytes) - 1                                                       \
    }
