// Models of random weights for the suite, made once in the cache folder: safetensors written without holding them in
// memory.
#include "core/suite/model_names.h"
#include "core/suite/suite_priv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/vars.h"
#include "core/tensor/dtype.h"

enum { TABLE = 65536, ALIGN = 8 };
#define MOST_BYTES ((uint64_t) 8 << 30)

typedef struct made_model {
    const char *file, *networks;
    suite_sd m;
    nino_dtype type;
} made_model;

// The last: 6 GiB, more than many a device has.
static const made_model sd_full = { "sd15_random.safetensors",
                                    "SD 1.5, full size, random weights",
                                    { 320, 768, 12, 49408, 128 },
                                    NINO_F16 };
static const made_model sd_small = { "sd15_fifth_random.safetensors",
                                     "SD 1.5 of a fifth of the width, random weights",
                                     { 64, 128, 2, 49408, 32 },
                                     NINO_F16 };
static const made_model sd_wide = { "sd15_wide_random.safetensors",
                                    "SD 1.5 of 1.3 times the width in f32, random weights",
                                    { 416, 768, 12, 49408, 128 },
                                    NINO_F32 };

typedef struct model_writer {
    const made_model *m;
    nino_buf header;
    uint64_t at; // bytes of tensors
    nino_file_writer *file;
    float *table, *part; // TABLE normal numbers; as they are written
    void *raw;
    int n;
    nino_status st;
    nino_error *err;
} model_writer;

static uint64_t count_of(int rank, const int64_t *dim)
{
    uint64_t n = 1;
    for (int i = 0; i < rank; i++)
        n *= (uint64_t) dim[i];
    return n;
}

static void put_header(void *priv, const char *name, int rank, const int64_t *dim)
{
    model_writer *w = priv;
    const uint64_t end = w->at + count_of(rank, dim) * nino_dtype_size(w->m->type);
    nino_buf_addf(&w->header, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", w->n++ ? "," : "{", name,
                  w->m->type == NINO_F32 ? "F32" : "F16");
    for (int i = 0; i < rank; i++)
        nino_buf_addf(&w->header, "%s%lld", i ? "," : "", (long long) dim[i]);
    nino_buf_addf(&w->header, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long) w->at,
                  (unsigned long long) end);
    w->at = end;
}

// Matrices keep the size of what they multiply; gains are about 1, biases small.
static void put_values(void *priv, const char *name, int rank, const int64_t *dim)
{
    model_writer *w = priv;
    const uint64_t n = count_of(rank, dim), size = nino_dtype_size(w->m->type);
    const size_t len = strlen(name);
    const bool is_bias = len > 5 && !strcmp(name + len - 5, ".bias");
    const uint64_t fan_in = n / (uint64_t) dim[0];
    const float sigma = rank > 1 ? 1 / sqrtf((float) fan_in) : is_bias ? 0.05f : 0.1f;
    const float mean = rank > 1 || is_bias ? 0 : 1;
    if (w->st)
        return;
    for (int i = 0; i < TABLE; i++)
        w->part[i] = mean + sigma * w->table[(i + w->n * 40503) & (TABLE - 1)];
    w->n++;
    nino_from_f32(w->raw, w->m->type, w->part, TABLE);
    for (uint64_t i = 0; i < n && !w->st; i += TABLE)
        w->st =
            nino_file_writer_write(w->file, w->raw, (n - i < TABLE ? n - i : TABLE) * size, w->err);
}

static void fill_table(float *table)
{
    uint64_t x = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < TABLE; i++) {
        table[i] = 0;
        for (int k = 0; k < 4; k++) { // of variance 1/12 each
            x = x * 6364136223846793005u + 1442695040888963407u;
            table[i] += (float) (x >> 40) * 0x1p-24f - 0.5f;
        }
        table[i] *= 1.7320508f;
    }
}

static nino_status write_model(model_writer *w, const char *dir)
{
    const suite_sink values = { put_values, w };
    const uint64_t length = w->header.len;
    uint8_t head[8];
    for (int i = 0; i < 8; i++)
        head[i] = (uint8_t) (length >> (8 * i));
    w->n = 0;
    w->st = nino_file_writer_open(dir, w->m->file, false, &w->file, w->err);
    if (!w->st && !(w->st = nino_file_writer_write(w->file, head, sizeof(head), w->err)))
        w->st = nino_file_writer_write(w->file, w->header.data, w->header.len, w->err);
    if (!w->st)
        nino_suite_sd_names(&w->m->m, &values);
    if (!w->st)
        w->st = nino_file_writer_commit(&w->file, false, w->err);
    nino_file_writer_abort(&w->file);
    return w->st;
}

// dir/m->file, if it is not there yet and no larger than `most`.
static nino_status make_model(const made_model *m, const char *dir, uint64_t most, char *why,
                              size_t why_size, nino_error *err)
{
    model_writer w = { .m = m, .err = err };
    const suite_sink header = { put_header, &w };
    struct stat there;
    char path[4300];
    nino_suite_sd_names(&m->m, &header);
    nino_buf_addc(&w.header, '}');
    while (w.header.len % ALIGN)
        nino_buf_addc(&w.header, ' ');
    const uint64_t bytes = 8 + w.header.len + w.at;
    snprintf(path, sizeof(path), "%s/%s", dir, m->file);
    nino_status st = NINO_OK;
    if (bytes > most) {
        snprintf(why, why_size, "its model would take %.1f GiB, %.1f GiB are allowed",
                 (double) bytes * 0x1p-30, (double) most * 0x1p-30);
    } else if (stat(path, &there) || (uint64_t) there.st_size != bytes) {
        w.table = malloc(TABLE * sizeof(float));
        w.part = malloc(TABLE * sizeof(float));
        w.raw = malloc(TABLE * sizeof(float));
        if (!w.table || !w.part || !w.raw || w.header.failed) {
            st = nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
        } else {
            fill_table(w.table);
            st = write_model(&w, dir);
        }
    }
    nino_buf_release(&w.header);
    free(w.table);
    free(w.part);
    free(w.raw);
    return st;
}

// The demo's own files.
static void demo_files(const suite_case *c, suite_models *out)
{
    const bool is_clip = c->flow == SUITE_WAN;
    *out = (suite_models){ .networks = is_clip ? "demo, Wan" : "demo, Flux", .is_flux = !is_clip };
    snprintf(out->checkpoint, sizeof(out->checkpoint), "demo_flux.safetensors");
    snprintf(out->network, sizeof(out->network), "demo_wan_fp8_scaled.safetensors");
    snprintf(out->text, sizeof(out->text), "demo_umt5.safetensors");
    snprintf(out->vae, sizeof(out->vae), "demo_wan_vae.safetensors");
}

nino_status nino_suite_make_models(const suite_case *c, const nino_suite_params *p, char *dir,
                                   size_t size, suite_models *out, char *why, size_t why_size,
                                   nino_error *err)
{
    const bool is_load = c->flow == SUITE_LOAD;
    char cache[4096];
    if (c->flow == SUITE_WAN || (!c->is_full && !is_load)) {
        demo_files(c, out);
        snprintf(dir, size, "%s", p->demo_models);
        return NINO_OK;
    }
    const made_model *m = !is_load ? &sd_full : c->is_full ? &sd_wide : &sd_small;
    *out = (suite_models){ .networks = m->networks };
    snprintf(out->checkpoint, sizeof(out->checkpoint), "%s", m->file);
    if (!nino_cache_dir(p->cache_dir, cache, sizeof(cache))) {
        snprintf(why, why_size, "there is no cache folder to make its model in");
        return NINO_OK;
    }
    char below[4200];
    snprintf(dir, size, "%.3900s/bench_models", cache);
    snprintf(below, sizeof(below), "%.4000s/checkpoints", dir);
    const nino_status st = nino_file_mkdirs(below, false, err);
    return st ? st
              : make_model(m, below, p->max_model_bytes ? p->max_model_bytes : MOST_BYTES, why,
                           why_size, err);
}
