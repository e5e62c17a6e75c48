// The report of a suite as Markdown: every case under every setting, and what of the claims of the phases holds here.
#include "core/suite/suite_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/buf.h"
#include "core/suite/suite_priv.h"

// Benchmarks.md of the extension: by how much its phases were said to be faster, the last as a goal of 70 to 80.
const suite_claim nino_suite_claims[SUITE_CLAIMS] = { { "phase1", "29.1 %", 29.1 },
                                                      { "phase2", "50.3 %", 50.3 },
                                                      { "phase3", "65.2 %", 65.2 },
                                                      { "phase3", "70-80 %", 70 } };

void nino_suite_judge(const nino_suite_result *r, int claim, suite_finding *out)
{
    double sum = 0;
    *out = (suite_finding){ .percent = (double) NAN, .best = (double) -INFINITY, .best_case = "" };
    for (size_t i = 0; i < r->n_cases; i++)
        for (size_t k = 0; k < r->cases[i].n_runs; k++) {
            const nino_suite_run *s = &r->cases[i].runs[k];
            if (strcmp(s->setting, nino_suite_claims[claim].setting) ||
                !isfinite(s->effect.percent))
                continue;
            sum += log1p(s->effect.percent / 100);
            out->n++;
            out->slower += s->effect.verdict > 0;
            if (-s->effect.percent > out->best) {
                out->best = -s->effect.percent;
                out->best_case = r->cases[i].name;
            }
        }
    if (out->n)
        out->percent = -100 * expm1(sum / (double) out->n);
    out->is_met = out->n && out->percent >= nino_suite_claims[claim].percent;
}

static void report_number(nino_buf *b, const char *format_end, int digits, double v)
{
    if (isfinite(v))
        nino_buf_addf(b, " %.*f%s |", digits, v, format_end);
    else
        nino_buf_adds(b, " - |");
}

// Weights of one setting: read, fetched before they were asked for, waited for.
static void report_load(nino_buf *b, const nino_suite_run *r)
{
    const uint64_t all = r->ahead_bytes + r->late_bytes;
    nino_buf_addf(b, "\n%s: %.1f MiB of weights read in %.2f s; ", r->setting,
                  (double) r->load_bytes / 0x1p20, r->load_s);
    if (all < 1 << 20) // a page or two that was there
        nino_buf_adds(b, "none fetched ahead; ");
    else
        nino_buf_addf(b, "%.1f MiB fetched ahead, %.1f %% of it in time; ", (double) all / 0x1p20,
                      100 * (double) r->ahead_bytes / (double) all);
    nino_buf_addf(b, "%.1f MiB late and %.1f MiB from the disk unasked, %.2f s waited for those.\n",
                  (double) r->late_bytes / 0x1p20, (double) r->cold_bytes / 0x1p20, r->stall_s);
}

static void report_case(nino_buf *b, const nino_suite_case *c, bool is_load)
{
    nino_buf_addf(b, "\n## %s (%s)\n\n", c->name, c->networks);
    if (*c->left_out) {
        nino_buf_addf(b, "Left out: %s.\n", c->left_out);
        return;
    }
    nino_buf_adds(
        b,
        "| setting | n | median s | average | min | max | sigma | MAD | less time | interval | p | "
        "a "
        "second | peak MiB | kernels | reused blocks | cached nodes | tiles | chunks | 16 bit | "
        "PSNR dB "
        "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < c->n_runs; k++) {
        const nino_suite_run *r = &c->runs[k];
        nino_buf_addf(b, "| %s | %llu |", r->setting, (unsigned long long) r->n);
        report_number(b, "", 4, r->median_s);
        report_number(b, "", 4, r->average_s);
        report_number(b, "", 4, r->min_s);
        report_number(b, "", 4, r->max_s);
        report_number(b, "", 4, r->sigma_s);
        report_number(b, "", 4, r->mad_s);
        if (k) {
            report_number(b, " %", 1, -r->effect.percent);
            nino_buf_addf(b, " %.1f to %.1f %% |", -r->effect.high, -r->effect.low);
            report_number(b, "", 4, r->effect.p);
        } else {
            nino_buf_adds(b, " | | |");
        }
        report_number(b, "", 3, r->per_second);
        report_number(b, "", 1, (double) r->peak_bytes / 0x1p20);
        nino_buf_addf(b, " %llu | %llu of %llu | %llu | %llu | %llu |",
                      (unsigned long long) r->kernels, (unsigned long long) r->reused,
                      (unsigned long long) r->blocks, (unsigned long long) r->cached,
                      (unsigned long long) r->tiles, (unsigned long long) r->chunks);
        report_number(b, " %", 0, 100 * r->share_16);
        if (k && r->psnr > 0 && isinf(r->psnr))
            nino_buf_adds(b, " equal |\n");
        else if (k) {
            report_number(b, "", 1, r->psnr);
            nino_buf_addc(b, '\n');
        } else {
            nino_buf_adds(b, " |\n");
        }
    }
    for (size_t k = 0; is_load && k < c->n_runs; k++)
        report_load(b, &c->runs[k]);
}

// What a phase adds to the one before, so that it is seen where a claim fails.
static void report_steps(nino_buf *b, const nino_suite_result *r)
{
    nino_buf_adds(b, "\n## What each step adds\n\n| case | phase 1 to baseline | phase 2 to phase "
                     "1 | phase 3 to phase "
                     "2 |\n|---|---|---|---|\n");
    for (size_t i = 0; i < r->n_cases; i++) {
        const nino_suite_case *c = &r->cases[i];
        if (!c->n_runs)
            continue;
        nino_buf_addf(b, "| %s |", c->name);
        for (size_t k = 1; k < 4; k++)
            report_number(b, " %", 1,
                          k < c->n_runs && !strncmp(c->runs[k].setting, "phase", 5)
                              ? 100 * (c->runs[k].median_s / c->runs[k - 1].median_s - 1)
                              : (double) NAN);
        nino_buf_addc(b, '\n');
    }
    nino_buf_adds(b, "\nChange of the median time; below 0 is faster.\n");
}

static void report_claims(nino_buf *b, const nino_suite_result *r)
{
    nino_buf_adds(
        b, "\n## The claims\n\nLess time than the baseline, geometric mean over the cases "
           "above.\n\n| claim | "
           "here | best case | slower beyond chance in | verdict |\n|---|---|---|---|---|\n");
    for (int k = 0; k < SUITE_CLAIMS; k++) {
        suite_finding f;
        nino_suite_judge(r, k, &f);
        nino_buf_addf(b, "| %s by %s |", nino_suite_claims[k].setting, nino_suite_claims[k].text);
        report_number(b, " %", 1, f.percent);
        if (f.n)
            nino_buf_addf(b, " %.1f %% (%s) | %llu of %llu | %s |\n", f.best, f.best_case,
                          (unsigned long long) f.slower, (unsigned long long) f.n,
                          f.is_met ? "met" : "not met");
        else
            nino_buf_adds(b, " - | - | not measured |\n");
    }
    nino_buf_adds(b, "\nThe claims are of a decoder that gave random numbers, timed once; what "
                     "holds of them can only be "
                     "measured. Where one is not met, the table of steps says which step does not "
                     "give it on this device; "
                     "`--no-POLICY` with the suite measures the last phase without one policy.\n");
}

char *nino_suite_report(const nino_suite_result *r)
{
    const nino_bench_result *d = &r->bench;
    char stamp[32] = "";
    struct tm tm;
    const time_t now = (time_t) d->measured_at;
    nino_buf b = { 0 };
    if (gmtime_r(&now, &tm))
        strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M UTC", &tm);
    nino_buf_addf(&b,
                  "# Phases: the benchmark suite \"%s\"%s\n\n%s, %u compute units, %s, driver %s; "
                  "ninodes %s; %s; "
                  "load average %.1f at the end; %.0f s in all. Times %s "
                  "loading weights and compiling kernels; every setting is measured in turn with "
                  "the others, each run with a new seed.\n",
                  r->suite, r->is_quick ? ", quick form" : "", d->device, d->compute_units,
                  d->platform, d->driver, d->version, stamp, d->load, r->seconds,
                  strcmp(r->suite, "load") ? "leave out" : "contain");
    for (size_t i = 0; i < r->n_cases; i++)
        report_case(&b, &r->cases[i], !strcmp(r->suite, "load"));
    if (strcmp(r->suite, "load")) {
        report_steps(&b, r);
        report_claims(&b, r);
    }
    if (b.failed)
        nino_buf_release(&b);
    return b.data;
}
