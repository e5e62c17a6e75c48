// Reads results of the suite that were kept as performance_comparison_TIME.json.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include <ninodes/suite.h>

enum { READ_MOST = 16 << 20, READ_CASES_MOST = 1000 };

static double read_number(const nino_json *o, const char *key)
{
    double v;
    return nino_json_double(nino_json_get(o, key), &v) ? v : (double) NAN;
}

static uint64_t read_count(const nino_json *o, const char *key)
{
    uint64_t v;
    return nino_json_u64(nino_json_get(o, key), &v) ? v : 0;
}

static int read_int(const nino_json *o, const char *key)
{
    const uint64_t v = read_count(o, key);
    return v < INT32_MAX ? (int) v : 0;
}

static void read_text(const nino_json *o, const char *key, char *out, size_t size)
{
    const char *s = nino_json_str(nino_json_get(o, key));
    snprintf(out, size, "%s", s ? s : "");
}

static bool read_head(const nino_json *root, nino_suite_result *r)
{
    const nino_json *d = nino_json_get(root, "device_info");
    struct tm tm = { .tm_isdst = 0 };
    char stamp[32];
    read_text(root, "timestamp", stamp, sizeof(stamp));
    if (!d || sscanf(stamp, "%4d%2d%2d_%2d%2d%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
                     &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6)
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    r->bench.measured_at = (int64_t) timegm(&tm);
    read_text(d, "device", r->bench.device, sizeof(r->bench.device));
    read_text(d, "driver", r->bench.driver, sizeof(r->bench.driver));
    read_text(d, "platform", r->bench.platform, sizeof(r->bench.platform));
    read_text(d, "ninodes", r->bench.version, sizeof(r->bench.version));
    r->bench.compute_units = (uint32_t) read_int(d, "compute_units");
    r->bench.load = read_number(d, "load_average");
    r->seconds = read_number(root, "seconds");
    read_text(root, "suite", r->suite, sizeof(r->suite));
    return nino_json_bool(nino_json_get(root, "quick"), &r->is_quick) && *r->suite;
}

static void read_effect(const nino_json *e, nino_suite_run *r)
{
    const char *verdict = nino_json_str(nino_json_get(e, "verdict"));
    r->effect.rounds = read_count(e, "rounds");
    r->effect.percent = -read_number(e, "improvement_percent");
    r->effect.low = -read_number(e, "high_percent");
    r->effect.high = -read_number(e, "low_percent");
    r->effect.p = read_number(e, "p");
    r->effect.verdict = !verdict                     ? 0
                        : !strcmp(verdict, "faster") ? -1
                        : !strcmp(verdict, "slower") ? 1
                                                     : 0;
    r->nmse = read_number(e, "nmse");
    r->psnr = read_number(e, "psnr_db");
    r->most = read_number(e, "largest_255");
    if (r->nmse <= 0 && isnan(r->psnr)) // JSON has no infinity
        r->psnr = (double) INFINITY;
}

static void read_counters(const nino_json *c, nino_suite_run *r)
{
    r->kernels = read_count(c, "kernels");
    r->blocks = read_count(c, "blocks");
    r->reused = read_count(c, "blocks_reused");
    r->cached = read_count(c, "nodes_cached");
    r->tiles = read_count(c, "tiles");
    r->chunks = read_count(c, "chunks");
    r->share_16 = read_number(c, "share_16_bit");
    r->load_bytes = read_count(c, "load_bytes");
    r->ahead_bytes = read_count(c, "ahead_bytes");
    r->late_bytes = read_count(c, "late_bytes");
    r->cold_bytes = read_count(c, "cold_bytes");
    r->load_s = read_number(c, "load_seconds");
    r->stall_s = read_number(c, "stall_seconds");
}

static bool read_run(const nino_json *o, nino_suite_run *r)
{
    const nino_json *times = nino_json_get(o, "times");
    read_text(o, "setting", r->setting, sizeof(r->setting));
    r->average_s = read_number(o, "average_time");
    r->median_s = read_number(o, "median_time");
    r->min_s = read_number(o, "min_time");
    r->max_s = read_number(o, "max_time");
    r->sigma_s = read_number(o, "std_dev");
    r->mad_s = read_number(o, "mad");
    r->per_second = read_number(o, "throughput");
    r->peak_bytes = read_count(o, "peak_memory_bytes");
    read_effect(nino_json_get(o, "against_baseline"), r);
    read_counters(nino_json_get(o, "counters"), r);
    for (const nino_json *t = times ? times->child : NULL; t && r->n < NINO_MAX_ROUNDS; t = t->next)
        if (!nino_json_double(t, &r->seconds[r->n++]))
            return false;
    return *r->setting && r->n && r->median_s > 0;
}

// A run of the case of the run before it, or of a new case.
static bool read_case(const nino_json *o, nino_suite_result *r)
{
    const nino_json *config = nino_json_get(o, "config");
    nino_suite_case *c = r->n_cases ? &r->cases[r->n_cases - 1] : NULL;
    const char *name = nino_json_str(nino_json_get(o, "name"));
    if (!name || !*name)
        return false;
    if (!c || strcmp(c->name, name) || c->n_runs == NINO_SUITE_SETTINGS) {
        c = &r->cases[r->n_cases++];
        snprintf(c->name, sizeof(c->name), "%s", name);
        read_text(o, "networks", c->networks, sizeof(c->networks));
        c->width = read_int(config, "width"), c->height = read_int(config, "height");
        c->batch = read_int(config, "batch_size"), c->frames = read_int(config, "frames");
        c->steps = read_int(config, "steps");
        c->runs = calloc(NINO_SUITE_SETTINGS, sizeof(*c->runs));
    }
    return c->runs && read_run(o, &c->runs[c->n_runs++]);
}

static nino_status read_all(const nino_json *root, const char *path, nino_suite_result *r,
                            nino_error *err)
{
    const nino_json *runs = nino_json_get(root, "test_cases"),
                    *out = nino_json_get(root, "left_out");
    if (!runs || runs->type != NINO_JSON_ARRAY || !out || !read_head(root, r))
        return nino_fail(err, NINO_ERR_FORMAT, path, "is no result of ninodes bench suite");
    const size_t n = (size_t) runs->count + out->count;
    if (n > READ_CASES_MOST)
        return nino_fail(err, NINO_ERR_FORMAT, path, "has %zu cases, at most %d are read", n,
                         (int) READ_CASES_MOST);
    if (!(r->cases = calloc(n + 1, sizeof(*r->cases))))
        return nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
    for (const nino_json *o = runs->child; o; o = o->next)
        if (!read_case(o, r))
            return nino_fail(err, NINO_ERR_FORMAT, path, "the run at line %u makes no sense",
                             (unsigned) o->line);
    for (const nino_json *o = out->child; o; o = o->next) {
        nino_suite_case *c = &r->cases[r->n_cases++];
        read_text(o, "name", c->name, sizeof(c->name));
        read_text(o, "networks", c->networks, sizeof(c->networks));
        read_text(o, "why", c->left_out, sizeof(c->left_out));
    }
    return NINO_OK;
}

nino_status nino_suite_load(const char *path, nino_suite_result *out, nino_error *err)
{
    char *data = NULL;
    size_t len = 0;
    nino_json_doc *doc = NULL;
    nino_suite_result r = { .n_cases = 0 };
    nino_status st = nino_file_read(path, READ_MOST, false, &data, &len, err);
    if (!st)
        st = nino_json_parse(data, len, path, NULL, &doc, err);
    if (!st)
        st = read_all(doc->root, path, &r, err);
    nino_json_doc_destroy(&doc);
    free(data);
    if (st)
        nino_suite_release(&r);
    else
        *out = r;
    return st;
}
