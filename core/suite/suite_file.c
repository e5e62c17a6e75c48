// Results of the suite as JSON, in the folders and under the names that the ROCm extension's plan has for them.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/suite/suite_report.h"

static void file_text(nino_buf *b, const char *key, const char *v)
{
    nino_buf_addf(b, "\"%s\": ", key);
    nino_buf_add_json_string(b, v, strlen(v));
}

// What is not known is null, what is infinite too.
static void file_number(nino_buf *b, const char *key, double v)
{
    if (isfinite(v))
        nino_buf_addf(b, ", \"%s\": %.9g", key, v);
    else
        nino_buf_addf(b, ", \"%s\": null", key);
}

static void file_count(nino_buf *b, const char *key, uint64_t v)
{
    nino_buf_addf(b, ", \"%s\": %llu", key, (unsigned long long) v);
}

static void file_head(nino_buf *b, const nino_suite_result *r, const char *stamp)
{
    const nino_bench_result *d = &r->bench;
    nino_buf_adds(b, "{\n  ");
    file_text(b, "timestamp", stamp);
    nino_buf_adds(b, ",\n  \"device_info\": {");
    file_text(b, "device", d->device);
    nino_buf_adds(b, ", ");
    file_text(b, "driver", d->driver);
    nino_buf_adds(b, ", ");
    file_text(b, "platform", d->platform);
    nino_buf_adds(b, ", ");
    file_text(b, "ninodes", d->version);
    file_count(b, "compute_units", d->compute_units);
    file_number(b, "load_average", d->load);
    nino_buf_addf(b, "},\n  \"quick\": %s,\n  ", r->is_quick ? "true" : "false");
    file_text(b, "suite", r->suite);
    file_number(b, "seconds", r->seconds);
}

static void file_run(nino_buf *b, const nino_suite_case *c, const nino_suite_run *r)
{
    nino_buf_adds(b, "\n    {");
    file_text(b, "name", c->name);
    nino_buf_adds(b, ", ");
    file_text(b, "setting", r->setting);
    nino_buf_adds(b, ", ");
    file_text(b, "networks", c->networks);
    nino_buf_addf(b,
                  ",\n     \"config\": {\"width\": %d, \"height\": %d, \"batch_size\": %d, "
                  "\"frames\": %d, \"steps\": %d}",
                  c->width, c->height, c->batch, c->frames, c->steps);
    file_count(b, "iterations", r->n);
    file_number(b, "average_time", r->average_s);
    file_number(b, "median_time", r->median_s);
    file_number(b, "min_time", r->min_s);
    file_number(b, "max_time", r->max_s);
    file_number(b, "std_dev", r->sigma_s);
    file_number(b, "mad", r->mad_s);
    file_number(b, "throughput", r->per_second);
    file_count(b, "peak_memory_bytes", r->peak_bytes);
    nino_buf_adds(b, ",\n     \"against_baseline\": {\"rounds\": ");
    nino_buf_addf(b, "%llu", (unsigned long long) r->effect.rounds);
    file_number(b, "improvement_percent", -r->effect.percent);
    file_number(b, "low_percent", -r->effect.high);
    file_number(b, "high_percent", -r->effect.low);
    file_number(b, "p", r->effect.p);
    nino_buf_addf(b, ", \"verdict\": \"%s\"",
                  r->effect.verdict < 0   ? "faster"
                  : r->effect.verdict > 0 ? "slower"
                                          : "none");
    file_number(b, "nmse", r->nmse);
    file_number(b, "psnr_db", r->psnr);
    file_number(b, "largest_255", r->most);
    nino_buf_adds(b, "},\n     \"counters\": {\"kernels\": ");
    nino_buf_addf(b, "%llu", (unsigned long long) r->kernels);
    file_count(b, "blocks", r->blocks);
    file_count(b, "blocks_reused", r->reused);
    file_count(b, "nodes_cached", r->cached);
    file_count(b, "tiles", r->tiles);
    file_count(b, "chunks", r->chunks);
    file_number(b, "share_16_bit", r->share_16);
    file_count(b, "load_bytes", r->load_bytes);
    file_count(b, "ahead_bytes", r->ahead_bytes);
    file_count(b, "late_bytes", r->late_bytes);
    file_count(b, "cold_bytes", r->cold_bytes);
    file_number(b, "load_seconds", r->load_s);
    file_number(b, "stall_seconds", r->stall_s);
    nino_buf_adds(b, "},\n     \"times\": [");
    for (uint64_t i = 0; i < r->n; i++)
        nino_buf_addf(b, "%s%.9g", i ? ", " : "", r->seconds[i]);
    nino_buf_adds(b, "]}");
}

typedef bool (*file_wanted)(const nino_suite_case *c, const nino_suite_run *r, const char *setting);

static bool is_of_setting(const nino_suite_case *c, const nino_suite_run *r, const char *setting)
{
    (void) c;
    return !strcmp(r->setting, setting);
}

static bool is_clip(const nino_suite_case *c, const nino_suite_run *r, const char *setting)
{
    (void) r;
    (void) setting;
    return c->frames > 0;
}

static bool is_any(const nino_suite_case *c, const nino_suite_run *r, const char *setting)
{
    (void) c;
    (void) r;
    (void) setting;
    return true;
}

static size_t file_runs(nino_buf *b, const nino_suite_result *r, file_wanted wanted,
                        const char *setting)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_cases; i++)
        for (size_t k = 0; k < r->cases[i].n_runs; k++)
            if (wanted(&r->cases[i], &r->cases[i].runs[k], setting)) {
                nino_buf_adds(b, n++ ? "," : "");
                file_run(b, &r->cases[i], &r->cases[i].runs[k]);
            }
    return n;
}

static void file_left_out(nino_buf *b, const nino_suite_result *r)
{
    size_t n = 0;
    nino_buf_adds(b, "\n  ],\n  \"left_out\": [");
    for (size_t i = 0; i < r->n_cases; i++)
        if (*r->cases[i].left_out) {
            nino_buf_adds(b, n++ ? ",\n    {" : "\n    {");
            file_text(b, "name", r->cases[i].name);
            nino_buf_adds(b, ", ");
            file_text(b, "networks", r->cases[i].networks);
            nino_buf_adds(b, ", ");
            file_text(b, "why", r->cases[i].left_out);
            nino_buf_addc(b, '}');
        }
    nino_buf_adds(b, n ? "\n  ]" : "]");
}

static void file_claims(nino_buf *b, const nino_suite_result *r)
{
    nino_buf_adds(b, ",\n  \"claims\": [");
    for (int k = 0; k < SUITE_CLAIMS; k++) {
        suite_finding f;
        nino_suite_judge(r, k, &f);
        nino_buf_addf(b, "%s\n    {", k ? "," : "");
        file_text(b, "setting", nino_suite_claims[k].setting);
        file_number(b, "claimed_percent", nino_suite_claims[k].percent);
        file_number(b, "measured_percent", f.percent);
        file_count(b, "cases", f.n);
        nino_buf_addf(b, ", \"met\": %s}", f.is_met ? "true" : "false");
    }
    nino_buf_adds(b, "\n  ]");
}

typedef struct target {
    const char *dir, *stamp;
    const nino_suite_result *r;
    void (*path)(void *priv, const char *path);
    void *priv;
} target;

// One file; nothing where no run is wanted.
static nino_status file_write(const target *t, const char *folder, const char *base,
                              file_wanted wanted, const char *setting, nino_error *err)
{
    char below[3800], name[100], path[4000];
    nino_buf b = { 0 };
    file_head(&b, t->r, t->stamp);
    if (wanted == is_of_setting) {
        nino_buf_adds(&b, ",\n  ");
        file_text(&b, "phase", setting);
    }
    nino_buf_adds(&b, ",\n  \"test_cases\": [");
    const size_t n = file_runs(&b, t->r, wanted, setting);
    file_left_out(&b, t->r);
    if (wanted == is_any)
        file_claims(&b, t->r);
    nino_buf_adds(&b, "\n}\n");
    snprintf(below, sizeof(below), "%.3600s/test_data/%s", t->dir, folder);
    snprintf(name, sizeof(name), "%s_%s.json", base, t->stamp);
    nino_status st = NINO_OK;
    if (n || wanted == is_any) {
        st = b.failed ? nino_fail(err, NINO_ERR_NOMEM, name, "out of memory")
                      : nino_file_mkdirs(below, false, err);
        st = st ? st : nino_file_save(below, name, true, b.data, b.len, err);
        snprintf(path, sizeof(path), "%s/%s", below, name);
        if (!st && t->path)
            t->path(t->priv, path);
    }
    nino_buf_release(&b);
    return st;
}

nino_status nino_suite_save(const char *dir, const nino_suite_result *r,
                            void (*path)(void *priv, const char *path), void *priv, nino_error *err)
{
    static const char *const settings[] = { "baseline", "phase1", "phase2", "phase3" };
    char stamp[32] = "", folder[48];
    struct tm tm;
    const time_t now = (time_t) r->bench.measured_at;
    if (gmtime_r(&now, &tm))
        strftime(stamp, sizeof(stamp), "%Y%m%d_%H%M%S", &tm);
    const target t = { dir, stamp, r, path, priv };
    nino_status st = NINO_OK;
    for (int k = 0; k < 4 && !st; k++) {
        snprintf(folder, sizeof(folder), "benchmarks/%s", settings[k]);
        st = file_write(&t, folder, "benchmark_results", is_of_setting, settings[k], err);
    }
    st = st ? st : file_write(&t, "benchmarks", "wan_workflow_benchmarks", is_clip, "", err);
    return st ? st : file_write(&t, "optimization", "performance_comparison", is_any, "", err);
}
