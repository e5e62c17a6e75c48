// What tests of VAEs share: opening a backend by name, files, comparing images.
#pragma once
#include "core/file/safetensors.h"
#include "core/model/vae/vae.h"
#include "core/op/backend.h"
#include "core/op/device/device.h"
#include "core/tile/tile.h"
#include "tests/test.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

typedef struct test_device {
    nino_backend *be;
    nino_stream *s;
} test_device;

// "ref" or "cl"; false: this machine or this build has no such device.
static inline bool test_device_open(test_device *d, const char *name, uint64_t limit)
{
    nino_error err = { 0 };
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .mem_limit = limit };
    d->be = strcmp(name, "ref") ? nino_cl_provider ? nino_device_open(name, &p, NULL, &err) : NULL
                                : nino_ref_open(limit, NULL, &err);
    if (!d->be && !strcmp(name, "ref"))
        CHECK_OK(err.code ? err.code : NINO_ERR_DEVICE, err);
    if (!d->be)
        return false;
    d->s = nino_stream_create(&(nino_stream_params){ .backend = d->be, .precision = NINO_PREC_F32 },
                              &err);
    CHECK_OK(err.code, err);
    return true;
}

// What ran without an error has given back every tensor; while the stream is there: it would take
// what it was not given back.
static inline void test_device_close(test_device *d)
{
    nino_mem_stat left;
    nino_pool_stat(d->be->pool, &left);
    CHECK(nino_stream_status(d->s, NULL) || !left.by_owner[NINO_OWN_ACTIVATION]);
    nino_stream_destroy(&d->s);
    nino_backend_close(&d->be);
}

__attribute__((format(printf, 1, 2))) static inline nino_weights *test_open(const char *fmt, ...)
{
    char path[512];
    nino_error err = { 0 };
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(path, sizeof(path), fmt, ap);
    va_end(ap);
    nino_weights *w = nino_weights_open(path, &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    return w;
}

// A tensor of the file as f32; images and latents [N,C,H,W] come back as [N,H,W,C].
static inline nino_array *test_tensor(const nino_weights *w, const char *name, bool to_last)
{
    nino_error err = { 0 };
    const nino_tensor_info *t = nino_weights_find(w, name);
    CHECK(t != NULL);
    nino_array *a = nino_weights_read_f32(w, t, &err);
    CHECK_OK(a ? NINO_OK : err.code, err);
    if (to_last) {
        nino_array *b = nino_array_to_channels_last(a);
        CHECK(b != NULL);
        nino_array_unref(&a);
        a = b;
    }
    return a;
}

// sum (a-b)^2 / sum b^2
static inline double test_nmse(const nino_array *a, const nino_array *b)
{
    CHECK(nino_shape_equal(&a->shape, &b->shape));
    const float *p = nino_array_f32(a), *q = nino_array_f32(b);
    double d = 0, n = 0;
    for (int64_t i = 0; i < nino_shape_count(&a->shape); i++) {
        d += ((double) p[i] - (double) q[i]) * ((double) p[i] - (double) q[i]);
        n += (double) q[i] * (double) q[i];
    }
    return n > 0 ? d / n : d;
}

static inline double test_max_diff(const nino_array *a, const nino_array *b)
{
    CHECK(nino_shape_equal(&a->shape, &b->shape));
    const float *p = nino_array_f32(a), *q = nino_array_f32(b);
    double max = 0;
    for (int64_t i = 0; i < nino_shape_count(&a->shape); i++)
        max = fmax(max, fabs((double) p[i] - (double) q[i]));
    return max;
}

// dB, peak 1
static inline double test_psnr(const nino_array *a, const nino_array *b)
{
    CHECK(nino_shape_equal(&a->shape, &b->shape));
    const float *p = nino_array_f32(a), *q = nino_array_f32(b);
    const int64_t n = nino_shape_count(&a->shape);
    double d = 0;
    for (int64_t i = 0; i < n; i++)
        d += ((double) p[i] - (double) q[i]) * ((double) p[i] - (double) q[i]);
    return d > 0 ? 10 * log10((double) n / d) : 999;
}

// [1, h, w, C] at y, x of a [1,H,W,C] array
static inline nino_array *test_crop(const nino_array *a, int y, int x, int h, int w)
{
    const int64_t *d = a->shape.dim, c = d[3];
    nino_array *b = nino_array_create(NINO_F32, NINO_SHAPE(1, h, w, c));
    CHECK(b && y + h <= d[1] && x + w <= d[2]);
    for (int i = 0; i < h; i++)
        memcpy(nino_array_f32(b) + i * w * c, nino_array_f32(a) + ((y + i) * d[2] + x) * c,
               (size_t) (w * c) * sizeof(float));
    return b;
}

static inline nino_array *test_decode(test_device *d, const nino_vae *v, const nino_array *z,
                                      const nino_tile_params *p, nino_tile_report *r)
{
    nino_error err = { 0 };
    nino_array *out = NULL;
    CHECK_OK(nino_vae_decode_tiled(d->s, v, z, p, &out, r, &err), err);
    return out;
}

static inline nino_array *test_encode(test_device *d, const nino_vae *v, const nino_array *pixels,
                                      const nino_tile_params *p, nino_tile_report *r)
{
    nino_error err = { 0 };
    nino_array *out = NULL;
    CHECK_OK(nino_vae_encode_tiled(d->s, v, pixels, p, &out, r, &err), err);
    return out;
}

// ---- files made by tests ---------------------------------------------------------------------
typedef struct test_dir {
    char path[32];
} test_dir;

static inline test_dir test_dir_create(void)
{
    test_dir d = { "/tmp/nino-test-XXXXXX" };
    CHECK(mkdtemp(d.path) != NULL);
    return d;
}

static inline void test_dir_remove(const test_dir *d, const char *const *files)
{
    char path[128];
    for (; *files; files++) {
        snprintf(path, sizeof(path), "%s/%s", d->path, *files);
        unlink(path);
    }
    CHECK(rmdir(d->path) == 0);
}

// Writes a copy of w whose tensors are renamed in place by rename(name, size, rank); an empty name
// leaves the tensor out. `more` (n_more entries) is added.
static inline nino_weights *test_copy(const nino_weights *w, const test_dir *dir, const char *file,
                                      void (*rename_)(char *name, size_t size, int *rank),
                                      const nino_st_entry *more, int n_more)
{
    nino_error err = { 0 };
    const int n = nino_weights_count(w);
    nino_st_entry *e = calloc((size_t) (n + n_more), sizeof(*e));
    char(*names)[160] = calloc((size_t) n, sizeof(*names));
    int k = 0;
    CHECK(e && names);
    for (int i = 0; i < n; i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        nino_array *a = nino_weights_read_f32(w, t, &err);
        CHECK_OK(a ? NINO_OK : err.code, err);
        snprintf(names[i], sizeof(names[i]), "%s", t->name);
        rename_(names[i], sizeof(names[i]), &a->shape.rank);
        if (names[i][0])
            e[k++] = (nino_st_entry){ names[i], a };
        else
            nino_array_unref(&a);
    }
    const int own = k;
    for (int i = 0; i < n_more; i++)
        e[k++] = more[i];
    CHECK_OK(nino_st_save(dir->path, file, false, e, k, NULL, 0, &err), err);
    for (int i = 0; i < own; i++) {
        nino_array *a = (nino_array *) e[i].array;
        nino_array_unref(&a);
    }
    free(e);
    free(names);
    return test_open("%s/%s", dir->path, file);
}

// Writes a copy of w with one entry of metadata.
static inline nino_weights *test_copy_with_meta(const nino_weights *w, const char *dir,
                                                const char *file, const char *key,
                                                const char *value)
{
    const nino_meta meta = { key, value, strlen(value) };
    const int n = nino_weights_count(w);
    nino_st_source *from = calloc((size_t) n + 1, sizeof(*from));
    nino_file_writer *out = NULL;
    nino_error err = { 0 };
    CHECK(from != NULL);
    for (int i = 0; i < n; i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        from[i] = (nino_st_source){ .name = t->name, .file = w, .info = t };
    }
    CHECK_OK(nino_file_writer_open(dir, file, false, &out, &err), err);
    CHECK_OK(nino_st_write(out, file, from, n, &meta, 1, NULL, &err), err);
    CHECK_OK(nino_file_writer_commit(&out, false, &err), err);
    free(from);
    return test_open("%s/%s", dir, file);
}
