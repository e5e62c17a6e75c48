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
    void (*names)(const suite_sink *out); // NULL: of m
} made_model;

// The wide one: 6 GiB, more than many a device has.
static const made_model sd_full = { .file = "sd15_random.safetensors",
                                    .networks = "SD 1.5, full size, random weights",
                                    .m = { 320, 768, 12, 49408, 128 },
                                    .type = NINO_F16 };
static const made_model sd_small = { .file = "sd15_fifth_random.safetensors",
                                     .networks = "SD 1.5 of a fifth of the width, random weights",
                                     .m = { 64, 128, 2, 49408, 32 },
                                     .type = NINO_F16 };
static const made_model sd_wide = { .file = "sd15_wide_random.safetensors",
                                    .networks =
                                        "SD 1.5 of 1.3 times the width in f32, random weights",
                                    .m = { 416, 768, 12, 49408, 128 },
                                    .type = NINO_F32 };
static const made_model taesd = { .file = "taesd_random.safetensors",
                                  .networks = "TAESD, full size, random weights",
                                  .type = NINO_F16,
                                  .names = nino_suite_taesd_names };
static const made_model taehv = { .file = "taew2_1_random.safetensors",
                                  .networks = "TAEHV for Wan 2.1, full size, random weights",
                                  .type = NINO_F16,
                                  .names = nino_suite_taehv_names };

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

static void give_names(const made_model *m, const suite_sink *out)
{
    if (m->names)
        m->names(out);
    else
        nino_suite_sd_names(&m->m, out);
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
        give_names(w->m, &values);
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
    give_names(m, &header);
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
    *out = (suite_models){ .networks = is_clip ? "demo, Wan" : "demo, Flux", .channels = 16 };
    snprintf(out->checkpoint, sizeof(out->checkpoint), "demo_flux.safetensors");
    snprintf(out->network, sizeof(out->network), "demo_wan_fp8_scaled.safetensors");
    snprintf(out->text, sizeof(out->text), "demo_umt5.safetensors");
    snprintf(out->vae, sizeof(out->vae), "demo_wan_vae.safetensors");
}

// What a case runs that is made; NULL: the demo's.
static const made_model *made_for(const suite_case *c)
{
    switch (c->flow) {
    case SUITE_TAESD: return &taesd;
    case SUITE_TAEHV: return &taehv;
    case SUITE_LOAD: return c->is_full ? &sd_wide : &sd_small;
    case SUITE_WAN: return NULL;
    default: return c->is_full ? &sd_full : NULL;
    }
}

nino_status nino_suite_make_models(const suite_case *c, const nino_suite_params *p, char *dir,
                                   size_t size, suite_models *out, char *why, size_t why_size,
                                   nino_error *err)
{
    const made_model *m = made_for(c);
    char cache[4096];
    if (!m) {
        demo_files(c, out);
        snprintf(dir, size, "%s", p->demo_models);
        return NINO_OK;
    }
    const bool is_vae = m->names != NULL;
    *out = (suite_models){ .networks = m->networks, .channels = m == &taehv ? 16 : 4 };
    snprintf(is_vae ? out->vae : out->checkpoint, sizeof(out->vae), "%s", m->file);
    if (!nino_cache_dir(p->cache_dir, cache, sizeof(cache))) {
        snprintf(why, why_size, "there is no cache folder to make its model in");
        return NINO_OK;
    }
    char below[4200];
    snprintf(dir, size, "%.3900s/bench_models", cache);
    snprintf(below, sizeof(below), "%.4000s/%s", dir, is_vae ? "vae" : "checkpoints");
    const nino_status st = nino_file_mkdirs(below, false, err);
    return st ? st
              : make_model(m, below, p->max_model_bytes ? p->max_model_bytes : MOST_BYTES, why,
                           why_size, err);
}
