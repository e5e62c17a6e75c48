// ninodes bench: how fast kernels or a whole workflow run here, and against a result that was kept.
#include "commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES = 10, WARMUP = 2 };

static void on_cmd_bench_case(void *priv, const char *name)
{
    const options *o = priv;
    if (!o->quiet && !o->json && isatty(STDERR_FILENO))
        fprintf(stderr, "measuring: %s\n", name);
}

// ---- telling -----------------------------------------------------------------------------------

static const nino_bench_case *cmd_bench_find(const nino_bench_result *r, const char *name)
{
    for (size_t i = 0; r && i < r->n_cases; i++)
        if (!strcmp(r->cases[i].name, name))
            return &r->cases[i];
    return NULL;
}

// Change against the baseline in percent; NaN: the case is not in it.
static double change_of(const nino_bench_result *base, const nino_bench_case *c, double *p)
{
    const nino_bench_case *a = cmd_bench_find(base, c->name);
    double percent = NAN;
    *p = NAN;
    if (a)
        nino_bench_compare(a, c, &percent, p);
    return percent;
}

static void cmd_bench_tell_json(const nino_bench_result *r, const nino_bench_result *base)
{
    js_envelope("bench");
    js_text("device", r->device);
    js_text("driver", r->driver);
    js_text("platform", r->platform);
    js_uint("compute_units", r->compute_units);
    js_num("load", r->load);
    js_num("yardstick_ms", r->yardstick_s * 1e3);
    js_open("cases", '[');
    for (size_t i = 0; i < r->n_cases; i++) {
        const nino_bench_case *c = &r->cases[i];
        double p;
        const double change = change_of(base, c, &p);
        js_open(NULL, '{');
        js_text("name", c->name);
        js_uint("n", c->n);
        js_num("mean_ms", c->mean_s * 1e3);
        js_num("sigma_ms", c->sigma_s * 1e3);
        js_num("low_ms", c->low_s * 1e3);
        js_num("high_ms", c->high_s * 1e3);
        js_num("median_ms", c->median_s * 1e3);
        js_num("min_ms", c->min_s * 1e3);
        js_num("ratio", c->ratio);
        js_num("ratio_low", c->ratio_low);
        js_num("ratio_high", c->ratio_high);
        js_num("gflops", c->gflops);
        js_num("gbps", c->gbps);
        js_num("peak_percent", c->peak_percent);
        if (base) {
            js_num("change_percent", change);
            js_num("p", p);
        }
        js_close('}');
    }
    js_close(']');
    js_envelope_end();
}

static void csv_number(double v) { isfinite(v) ? printf(",%.9g", v) : printf(","); }

static void tell_csv(const nino_bench_result *r, const nino_bench_result *base)
{
    printf("device,name,n,mean_ms,sigma_ms,low_ms,high_ms,median_ms,min_ms,ratio,ratio_low,"
           "ratio_high,gflops,gbps,peak_percent,change_percent,p\n");
    for (size_t i = 0; i < r->n_cases; i++) {
        const nino_bench_case *c = &r->cases[i];
        double p;
        const double change = change_of(base, c, &p);
        const double v[] = { c->mean_s * 1e3,
                             c->sigma_s * 1e3,
                             c->low_s * 1e3,
                             c->high_s * 1e3,
                             c->median_s * 1e3,
                             c->min_s * 1e3,
                             c->ratio,
                             c->ratio_low,
                             c->ratio_high,
                             c->gflops,
                             c->gbps,
                             c->peak_percent,
                             change,
                             p };
        printf("\"%s\",\"%s\",%llu", r->device, c->name, (unsigned long long) c->n);
        for (size_t k = 0; k < sizeof(v) / sizeof(v[0]); k++)
            csv_number(v[k]);
        printf("\n");
    }
}

// "-" where it is not known.
static const char *figure(char buf[16], int digits, double v)
{
    if (isfinite(v))
        snprintf(buf, 16, "%.*f", digits, v);
    else
        snprintf(buf, 16, "-");
    return buf;
}

static void tell_text(const nino_bench_result *r, const nino_bench_result *base)
{
    printf("device: %s, %u compute units (%s, %s)\n", r->device, r->compute_units, r->platform,
           r->driver);
    if (isfinite(r->load))
        printf("load average %.1f when it began; ", r->load);
    printf("yardstick (product %u x %u x %u) %.3f ms\n", r->yardstick_edge, r->yardstick_edge,
           r->yardstick_edge, r->yardstick_s * 1e3);
    printf("%-52s %4s %10s %8s %10s %15s %9s %7s%s\n", "case", "n", "mean ms", "sigma", "ratio",
           "95 % of ratio", "GFLOP/s", "% peak", base ? "    change" : "");
    bool has_peak = false;
    for (size_t i = 0; i < r->n_cases; i++) {
        const nino_bench_case *c = &r->cases[i];
        char sigma[16], low[16], high[16], gflops[16], peak[16], range[40];
        double p;
        snprintf(range, sizeof(range), "%s - %s", figure(low, 2, c->ratio_low),
                 figure(high, 2, c->ratio_high));
        printf("%-52.52s %4llu %10.3f %8s %10.3f %15s %9s %7s", c->name, (unsigned long long) c->n,
               c->mean_s * 1e3, figure(sigma, 3, c->sigma_s * 1e3), c->ratio, range,
               figure(gflops, 1, c->gflops), figure(peak, 0, c->peak_percent));
        const double change = change_of(base, c, &p);
        if (base && isfinite(change))
            printf(" %+7.1f %% (p %.3f)", change, p);
        else if (base)
            printf("  not in the baseline");
        printf("\n");
        has_peak = has_peak || isfinite(c->peak_percent);
    }
    if (has_peak)
        printf("%% peak: of what was measured on this device; of a convolution by Winograd its own "
               "arithmetic\n");
}

// Exit code for --fail-over: slower by more than allowed and than the noise, and not by chance.
static int cmd_bench_judge(const nino_bench_result *r, const nino_bench_result *base, double limit)
{
    int rc = EXIT_OK;
    for (size_t i = 0; base && i < r->n_cases; i++) {
        double p;
        const double change = change_of(base, &r->cases[i], &p);
        if (!(change > limit) || p > 0.05)
            continue;
        const double band = nino_bench_noise(cmd_bench_find(base, r->cases[i].name), &r->cases[i]);
        if (change <= band)
            continue;
        say("bench: %s takes %.1f %% longer than in the baseline (noise band %.1f %%)",
            r->cases[i].name, change, band);
        rc = EXIT_REGRESSION;
    }
    return rc;
}

// A suite of kernels is told as kernels are, of workflows by its report.
static bool is_kernels(const options *o)
{
    return o->n_args > 1 && bench_kernels_of_suite(o->arg[1]);
}

static int cmd_bench_tell(const options *o, const nino_bench_result *r, double limit)
{
    nino_error err = { .code = NINO_OK };
    nino_bench_result base = { .n_cases = 0 };
    if (o->baseline && nino_bench_load(o->baseline, &base, &err))
        return report_error(o, "bench", &err, NULL);
    if (o->baseline && strcmp(base.device, r->device) != 0 && !o->quiet)
        say("bench: the baseline is of another device: %s", base.device);
    const nino_bench_result *b = o->baseline ? &base : NULL;
    const bool is_told =
        o->n_args && !strcmp(o->arg[0], "suite") && (!b || o->json) && !is_kernels(o);
    int rc = EXIT_OK;
    if (o->save && nino_bench_save(o->save, r, &err))
        rc = report_error(o, "bench", &err, NULL);
    else if (!is_told)
        (o->json ? cmd_bench_tell_json : o->csv ? tell_csv : tell_text)(r, b);
    if (!rc)
        rc = cmd_bench_judge(r, b, limit);
    nino_bench_release(&base);
    return rc;
}

// A file, or stdin; else a part of the name of a kernel's case.
static bool is_workflow(const options *o)
{
    return o->n_args && (!strcmp(o->arg[0], "-") || access(o->arg[0], F_OK) == 0);
}

int cmd_bench(const options *o)
{
    nino_error err = { .code = NINO_OK };
    nino_bench_result r = { .n_cases = 0 };
    const double limit = o->fail_over ? parse_percent(o->fail_over) : INFINITY;
    int rc = EXIT_OK;
    const char *wrong =
        limit < 0 ? "--fail-over needs a percentage such as 5%"
        : o->fail_over && !o->baseline && !o->against.n
            ? "--fail-over needs a --baseline or --against to compare with"
        : o->samples > NINO_MAX_ROUNDS || o->warmup > NINO_MAX_ROUNDS
            ? "at most 128 samples, and as many to warm up"
        : o->against.n && (!is_workflow(o) || o->baseline || o->save || o->csv)
            ? "--against compares two settings of a WORKFLOW, without --baseline, --save and --csv"
            : NULL;
    if (wrong) {
        say("bench: %s", wrong);
        return EXIT_USAGE;
    }
    if (o->against.n)
        return bench_against(o, limit);
    if (o->save && nino_place_check(o->save, &err))
        return report_error(o, "bench", &err, NULL);
    if (o->baseline) { // said before minutes of measuring
        nino_bench_result base = { .n_cases = 0 };
        if (nino_bench_load(o->baseline, &base, &err))
            return report_error(o, "bench", &err,
                                "bench --save FILE keeps a result to compare with");
        nino_bench_release(&base);
    }
    const bool is_suite = o->n_args && !strcmp(o->arg[0], "suite");
    const char *kernels = is_suite && o->n_args > 1 ? bench_kernels_of_suite(o->arg[1]) : NULL;
    if (is_suite && !kernels) {
        rc = bench_suite(o, &r);
    } else if (is_workflow(o)) {
        rc = bench_workflow(o, &r);
    } else {
        const nino_bench_params p = { NINO_BENCH_PARAMS_INIT,
                                      .device = o->device,
                                      .filter = kernels     ? kernels
                                                : o->n_args ? o->arg[0]
                                                            : NULL,
                                      .samples = o->samples ? (int) o->samples : SAMPLES,
                                      .warmup = o->warmup ? (int) o->warmup : WARMUP,
                                      .quick = o->fast,
                                      .progress = on_cmd_bench_case,
                                      .priv = (void *) (uintptr_t) o };
        if (nino_bench(&p, &r, &err)) {
            rc = report_error(o, "bench", &err,
                              "a WORKFLOW file, or a part of a case's name; ninodes devices lists "
                              "the devices");
            if (err.code == NINO_ERR_UNKNOWN)
                rc = p.filter && !strcmp(err.where, p.filter) ? EXIT_USAGE : EXIT_DEVICE;
        }
    }
    if (!rc)
        rc = cmd_bench_tell(o, &r, limit);
    nino_bench_release(&r);
    return rc;
}
