// Results of nino_bench() in files, for later comparisons.
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include <ninodes/bench.h>

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1, MAX_FILE = 16 << 20, MAX_CASES = 100000 };

typedef struct field {
    const char *key;
    size_t offset;
} field;

#define F(f)                                                                                       \
    {                                                                                              \
#f, offsetof(nino_bench_case, f)                                                           \
    }
static const field fields[] = {
    F(flops),     F(bytes),      F(mean_s), F(sigma_s), F(low_s),
    F(high_s),    F(median_s),   F(min_s),  F(ratio),   F(ratio_sigma),
    F(ratio_low), F(ratio_high), F(gflops), F(gbps),    F(peak_percent),
};
enum { N_FIELDS = sizeof(fields) / sizeof(fields[0]) };

static void bench_file_add_text(nino_buf *b, const char *key, const char *v)
{
    nino_buf_addf(b, "  \"%s\": ", key);
    nino_buf_add_json_string(b, v, strlen(v));
    nino_buf_adds(b, ",\n");
}

// What is not known is left out.
static void bench_file_add_number(nino_buf *b, const char *key, double v)
{
    if (isfinite(v))
        nino_buf_addf(b, ", \"%s\": %.9g", key, v);
}

nino_status nino_bench_save(const char *path, const nino_bench_result *r, nino_error *err)
{
    nino_buf b = { 0 };
    nino_buf_addf(&b, "{\n  \"bench\": %d,\n", FORMAT);
    bench_file_add_text(&b, "device", r->device);
    bench_file_add_text(&b, "driver", r->driver);
    bench_file_add_text(&b, "platform", r->platform);
    bench_file_add_text(&b, "version", r->version);
    nino_buf_addf(&b, "  \"compute_units\": %u, \"measured_at\": %lld", r->compute_units,
                  (long long) r->measured_at);
    bench_file_add_number(&b, "load", r->load);
    bench_file_add_number(&b, "yardstick_s", r->yardstick_s);
    nino_buf_adds(&b, ",\n  \"cases\": [");
    for (size_t i = 0; i < r->n_cases; i++) {
        const nino_bench_case *c = &r->cases[i];
        nino_buf_addf(&b, "%s\n    {\"name\": ", i ? "," : "");
        nino_buf_add_json_string(&b, c->name, strlen(c->name));
        nino_buf_addf(&b, ", \"n\": %llu", (unsigned long long) c->n);
        for (size_t k = 0; k < N_FIELDS; k++) {
            double v;
            memcpy(&v, (const char *) c + fields[k].offset, sizeof(v));
            bench_file_add_number(&b, fields[k].key, v);
        }
        nino_buf_addc(&b, '}');
    }
    nino_buf_adds(&b, "\n  ]\n}\n");
    const nino_status st = b.failed ? nino_fail(err, NINO_ERR_NOMEM, path, "out of memory")
                                    : nino_file_save(NULL, path, false, b.data, b.len, err);
    nino_buf_release(&b);
    return st;
}

static void bench_file_take_text(const nino_json *root, const char *key, char *out, size_t size)
{
    const char *s = nino_json_str(nino_json_get(root, key));
    snprintf(out, size, "%s", s ? s : "");
}

static double bench_file_take_number(const nino_json *root, const char *key)
{
    double v;
    return nino_json_double(nino_json_get(root, key), &v) ? v : (double) NAN;
}

static bool take_case(const nino_json *e, nino_bench_case *c)
{
    bench_file_take_text(e, "name", c->name, sizeof(c->name));
    for (size_t k = 0; k < N_FIELDS; k++) {
        const double v = bench_file_take_number(e, fields[k].key);
        memcpy((char *) c + fields[k].offset, &v, sizeof(v));
    }
    return *c->name && nino_json_u64(nino_json_get(e, "n"), &c->n) && c->n && c->ratio > 0;
}

static nino_status bench_file_take(const nino_json *root, const char *path, nino_bench_result *r,
                                   nino_error *err)
{
    const nino_json *list = nino_json_get(root, "cases");
    int64_t format;
    uint64_t units = 0;
    size_t n = 0;
    for (const nino_json *e = list ? list->child : NULL; e && n <= MAX_CASES; e = e->next)
        n++;
    if (!nino_json_i64(nino_json_get(root, "bench"), &format) || format != FORMAT ||
        n > MAX_CASES || !nino_json_i64(nino_json_get(root, "measured_at"), &r->measured_at))
        return nino_fail(err, NINO_ERR_FORMAT, path, "is no result of ninodes bench");
    bench_file_take_text(root, "device", r->device, sizeof(r->device));
    bench_file_take_text(root, "driver", r->driver, sizeof(r->driver));
    bench_file_take_text(root, "platform", r->platform, sizeof(r->platform));
    bench_file_take_text(root, "version", r->version, sizeof(r->version));
    nino_json_u64(nino_json_get(root, "compute_units"), &units);
    r->compute_units = (uint32_t) units;
    r->load = bench_file_take_number(root, "load");
    r->yardstick_s = bench_file_take_number(root, "yardstick_s");
    if (!(r->cases = calloc(n + 1, sizeof(*r->cases))))
        return nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
    for (const nino_json *e = list ? list->child : NULL; e; e = e->next)
        if (!take_case(e, &r->cases[r->n_cases++]))
            return nino_fail(err, NINO_ERR_FORMAT, path, "case %zu makes no sense",
                             (size_t) r->n_cases);
    return NINO_OK;
}

nino_status nino_bench_load(const char *path, nino_bench_result *out, nino_error *err)
{
    char *data = NULL;
    size_t len = 0;
    nino_json_doc *doc = NULL;
    nino_bench_result r = { .n_cases = 0 };
    nino_status st = nino_file_read(path, MAX_FILE, false, &data, &len, err);
    if (!st)
        st = nino_json_parse(data, len, path, NULL, &doc, err);
    if (!st)
        st = bench_file_take(doc->root, path, &r, err);
    nino_json_doc_destroy(&doc);
    free(data);
    if (st)
        nino_bench_release(&r);
    else
        *out = r;
    return st;
}
