// What the GGUF reader accepts lies inside the file, in order and aligned; what it refuses carries
// a kind.
#include "core/file/gguf.h"
#include "core/base/size.h"
#include "tests/fuzz/tensors.h"
#include "tests/test.h"

const size_t fuzz_max_len = 2048;

const char *const fuzz_words[] = { "GGUF",
                                   "general.alignment",
                                   "comfy.gguf.orig_shape.w",
                                   "[2,16]",
                                   "\x7f\xff\xff\xff",
                                   "\xff\xff\xff\xff",
                                   " ",
                                   NULL };

typedef struct writer {
    uint8_t *p;
    size_t n;
} writer;

static void put(writer *w, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        w->p[w->n++] = (uint8_t) (v >> (8 * i));
}

static void put_string(writer *w, const char *s)
{
    put(w, strlen(s), 8);
    memcpy(w->p + w->n, s, strlen(s));
    w->n += strlen(s);
}

static void put_head(writer *w, unsigned version, unsigned tensors, unsigned keys)
{
    memcpy(w->p, "GGUF", 4);
    w->n = 4;
    put(w, version, 4);
    put(w, tensors, 8);
    put(w, keys, 8);
}

static void put_tensor(writer *w, const char *name, uint64_t row, uint64_t rows, unsigned type,
                       uint64_t offset)
{
    put_string(w, name);
    put(w, 2, 4);
    put(w, row, 8);
    put(w, rows, 8);
    put(w, type, 4);
    put(w, offset, 8);
}

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    writer w = { .p = buf };
    CHECK(cap >= 1024);
    memset(buf, 0, 1024);
    if (i > 1)
        return 0;
    put_head(&w, 3 - i, i ? 0 : 2, 4);
    put_string(&w, "general.alignment");
    put(&w, 4, 4);
    put(&w, 64, 4);
    put_string(&w, "general.architecture");
    put(&w, 8, 4);
    put_string(&w, "flux");
    put_string(&w, "comfy.gguf.orig_shape.w");
    put(&w, 9, 4);
    put(&w, 5, 4);
    put(&w, 3, 8);
    put(&w, 4, 4);
    put(&w, 4, 4);
    put(&w, 4, 4);
    put_string(&w, "tokens");
    put(&w, 9, 4);
    put(&w, 8, 4);
    put(&w, 2, 8);
    put_string(&w, "a");
    put_string(&w, "");
    if (i)
        return w.n;
    put_tensor(&w, "w", 32, 2, 2, 0);
    put_tensor(&w, "v", 4, 1, 0, 64);
    w.n = (w.n + 63) / 64 * 64;
    w.n += 64 + 16;
    return w.n;
}

static void check(const uint8_t *p, size_t n, uint64_t file_bytes)
{
    nino_st_header h;
    nino_error err = { 0 };
    bool more = false;
    if (nino_gguf_parse(p, n, file_bytes, "fuzz", &h, &more, &err)) {
        CHECK(err.code && err.kind && err.msg[0] && !h.arena && !h.infos && !h.n_infos);
        tell_error(&err);
        CHECK(!more || file_bytes > n);
        return;
    }
    tell_header(&h);
    uint64_t at = 0;
    for (int i = 0; i < h.n_infos; i++) {
        const nino_tensor_info *t = &h.infos[i];
        const nino_shape s = nino_shape_make(t->rank, t->dim);
        size_t values, bytes;
        nino_dtype_block(t->dtype, &values, &bytes);
        CHECK(t->name[0] && t->rank <= NINO_MAX_RANK && t->offset >= at);
        uint64_t count = 1; // which nothing may wrap
        for (int k = 0; k < t->rank; k++)
            CHECK(nino_mul_u64(count, (uint64_t) t->dim[k], &count));
        CHECK((uint64_t) nino_shape_count(&s) / values * bytes == t->bytes);
        at = t->offset + t->bytes;
    }
    CHECK(at <= file_bytes);
    nino_st_header_release(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    check(p, n, n);
    check(p, n, n + 4096);
    return 0;
}
