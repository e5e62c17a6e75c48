// nino_bench(): the cases of the kernel harness against the clock, in turn with the yardstick.
#include "core/base/error.h"
#include "core/base/params.h"
#include "core/event/student.h"
#include "core/harness/kernel_check_priv.h"
#include "core/harness/measure_first.h"
#include "core/op/device/device.h"
#include <ninodes/bench.h>
#include <ninodes/experiment.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES = 10, WARMUP = 2, MAX_SAMPLES = NINO_MAX_ROUNDS, EDGE = 512, QUICK_EDGE = 128 };

static nino_check_case yardstick(int edge)
{
    return (nino_check_case){
        .op = NINO_OP_LINEAR, .src = { { edge, edge } }, .n = edge, .weight = NINO_F32
    };
}

// One case on the device, ready to be timed.
typedef struct timer {
    check_job job;
    check_side side;
    nino_gemm gemm;
} timer;

static nino_status timer_open(timer *t, nino_backend *be, const nino_check_case *c, nino_dtype type,
                              nino_gemm gemm, nino_error *err)
{
    *t = (timer){ .side = { .be = be, .in_place = c->op == NINO_OP_BLEND ? 0 : -1 }, .gemm = gemm };
    be->profile.gemm = gemm; // the workspace goes by it
    const nino_status st = check_job_init(&t->job, c, type, &be->profile, 1, err);
    return st ? st : check_side_prepare(&t->side, &t->job, err);
}

static void timer_close(timer *t)
{
    check_side_release(&t->side);
    check_job_release(&t->job);
}

// ---- statistics --------------------------------------------------------------------------------

static void moments(const double *v, size_t n, double *mean, double *sigma, double *low,
                    double *high)
{
    double sum = 0, square = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    *mean = n ? sum / (double) n : (double) NAN;
    for (size_t i = 0; i < n; i++)
        square += (v[i] - *mean) * (v[i] - *mean);
    *sigma = n > 1 ? sqrt(square / (double) (n - 1)) : (double) NAN;
    const double half =
        n > 1 ? nino_student_quantile(0.05, (double) (n - 1)) * *sigma / sqrt((double) n)
              : (double) NAN;
    *low = *mean - half;
    *high = *mean + half;
}

void nino_bench_fill(nino_bench_case *c, const double *seconds, const double *ratios, size_t n)
{
    c->n = n;
    moments(seconds, n, &c->mean_s, &c->sigma_s, &c->low_s, &c->high_s);
    double *logs = malloc((n + 1) * sizeof(*logs)), mean = NAN, low = NAN, high = NAN;
    c->ratio_sigma = NAN;
    for (size_t i = 0; logs && i < n; i++)
        logs[i] = log(ratios[i]);
    if (logs)
        moments(logs, n, &mean, &c->ratio_sigma, &low, &high);
    free(logs);
    c->ratio = exp(mean);
    c->ratio_low = exp(low);
    c->ratio_high = exp(high);
    nino_spread s;
    nino_spread_of(seconds, n, &s);
    c->median_s = s.median;
    c->min_s = s.min;
    c->gflops = c->flops > 0 ? c->flops / c->median_s * 1e-9 : (double) NAN;
    c->gbps = c->bytes > 0 ? c->bytes / c->median_s * 1e-9 : (double) NAN;
    c->peak_percent = NAN;
}

void nino_bench_compare(const nino_bench_case *a, const nino_bench_case *b, double *percent,
                        double *p)
{
    const nino_welch w =
        nino_welch_test((double) a->n, log(a->ratio), a->ratio_sigma * a->ratio_sigma,
                        (double) b->n, log(b->ratio), b->ratio_sigma * b->ratio_sigma);
    *percent = 100 * expm1(w.delta);
    *p = w.p;
}

// ---- a run -------------------------------------------------------------------------------------

static void bench_describe(nino_bench_result *r, const nino_backend *be)
{
    double load;
    snprintf(r->device, sizeof(r->device), "%s", be->info.name);
    snprintf(r->driver, sizeof(r->driver), "%s", be->info.driver);
    snprintf(r->platform, sizeof(r->platform), "%s", be->info.platform);
    snprintf(r->version, sizeof(r->version), "%s", nino_version());
    r->compute_units = be->info.compute_units;
    r->measured_at = (int64_t) time(NULL);
    r->load = getloadavg(&load, 1) == 1 ? load : (double) NAN;
}

// The yardstick and the case, in turn.
static nino_status measure_side(void *priv, int k, bool is_warmup, double *seconds, nino_error *err)
{
    timer *const *t = priv;
    (void) is_warmup;
    t[k]->side.be->profile.gemm = t[k]->gemm;
    return check_side_time(&t[k]->side, seconds, err);
}

static nino_status bench_sample(timer *yard, timer *t, const nino_bench_params *p, double *seconds,
                                double *ratios, double *yards, nino_error *err)
{
    const int n = p->samples > 0 ? p->samples : SAMPLES;
    const nino_experiment_params ep = { NINO_EXPERIMENT_PARAMS_INIT, .settings = 2,
                                        .warmup = p->warmup > 0 ? p->warmup : WARMUP,
                                        .rounds_min = n, .rounds_max = n };
    timer *both[2] = { yard, t };
    nino_experiment *e = nino_experiment_create(&ep, err);
    const nino_status st = e ? nino_experiment_run(e, measure_side, both, err) : NINO_ERR_NOMEM;
    if (!st) {
        nino_experiment_times(e, 0, yards, (size_t) n);
        nino_experiment_times(e, 1, seconds, (size_t) n);
        for (int i = 0; i < n; i++)
            ratios[i] = seconds[i] / yards[i];
    }
    nino_experiment_destroy(&e);
    return st;
}

// A case by our kernels, or the same by the library beside it.
static void bench_name(const nino_check_case *c, nino_dtype type, nino_gemm gemm, char *out,
                       size_t size)
{
    nino_check_name(c, type, -1, out, size);
    const size_t n = strlen(out);
    if (gemm == NINO_GEMM_CLBLAST)
        snprintf(out + n, size - n, "_gemm_clblast");
}

static nino_status bench_run_case(nino_backend *be, timer *yard, const nino_check_case *c,
                                  nino_gemm gemm, const nino_bench_params *p,
                                  const nino_ceilings *limits, double *samples,
                                  nino_bench_result *out, nino_error *err)
{
    const size_t n = (size_t) (p->samples > 0 ? p->samples : SAMPLES);
    nino_bench_case *b = &out->cases[out->n_cases];
    timer t;
    nino_status st = timer_open(&t, be, c, be->profile.act_type, gemm, err);
    *b = (nino_bench_case){ .n = 0 };
    bench_name(c, be->profile.act_type, gemm, b->name, sizeof(b->name));
    if (!st)
        st = bench_sample(yard, &t, p, samples, samples + n, samples + 2 * n, err);
    if (!st) {
        b->flops = nino_ops[c->op].flops(&t.job.d);
        b->bytes = nino_ops[c->op].bytes(&t.job.d);
        nino_bench_fill(b, samples, samples + n, n);
        if (limits->measured_at)
            b->peak_percent = 100 * nino_ceilings_share(
                                        limits, nino_sched_flops(&be->profile, &t.job.d), b->bytes,
                                        b->median_s, (unsigned) nino_dtype_bits(t.job.d.dst_type));
        nino_spread yards;
        nino_spread_of(samples + 2 * n, n, &yards);
        out->yardstick_s = yards.median;
        out->n_cases++;
    }
    timer_close(&t);
    return st;
}

// Whether this case is asked for, by this engine. CLBlast's kernels take too long to compile for a quick run.
static bool wanted(const nino_check_case *c, const nino_profile *profile, nino_gemm gemm,
                   const nino_bench_params *p)
{
    char name[160];
    const bool is_float = c->weight == NINO_F32 || c->weight == NINO_F16 || c->weight == NINO_BF16;
    const bool has_engine = c->op == NINO_OP_LINEAR && is_float && profile->has_blas;
    if (gemm == NINO_GEMM_CLBLAST && (!has_engine || p->quick))
        return false;
    // Who asks for one of the two gets both.
    bench_name(c, profile->act_type, has_engine && !p->quick ? NINO_GEMM_CLBLAST : gemm, name,
               sizeof(name));
    return (p->quick ? !c->only_bench && c->is_large : c->only_bench) &&
           (!p->filter || strstr(name, p->filter));
}

static nino_status run_cases(nino_backend *be, const nino_bench_params *p, nino_bench_result *out,
                             nino_error *err)
{
    const size_t n = (size_t) (p->samples > 0 ? p->samples : SAMPLES);
    nino_ceilings limits = { .measured_at = 0 };
    timer yard = { .side = { .be = be } };
    nino_status st = NINO_OK;
    out->yardstick_edge = p->quick ? QUICK_EDGE : EDGE;
    const nino_check_case product = yardstick((int) out->yardstick_edge);
    double *samples = calloc(3 * n, sizeof(*samples));
    out->cases = calloc(2 * nino_n_check_cases, sizeof(*out->cases));
    if (!samples || !out->cases)
        st = nino_fail(err, NINO_ERR_NOMEM, "bench", "out of memory");
    else
        st = timer_open(&yard, be, &product, NINO_F32, NINO_GEMM_NATIVE, err);
    nino_ceilings_load(p->cache_dir, &be->info, &limits, NULL);
    for (size_t i = 0; i < 2 * nino_n_check_cases && !st; i++) {
        static const nino_gemm engines[] = { NINO_GEMM_NATIVE, NINO_GEMM_CLBLAST };
        const nino_check_case *c = &nino_check_cases[i / 2];
        char name[160];
        if (!wanted(c, &be->profile, engines[i % 2], p))
            continue;
        bench_name(c, be->profile.act_type, engines[i % 2], name, sizeof(name));
        if (p->progress)
            p->progress(p->priv, name);
        st = bench_run_case(be, &yard, c, engines[i % 2], p, &limits, samples, out, err);
    }
    if (!st && !out->n_cases)
        st = nino_fail(err, NINO_ERR_UNKNOWN, p->filter ? p->filter : "",
                       "no case has this in its name");
    timer_close(&yard);
    free(samples);
    return st;
}

nino_status nino_bench(const nino_bench_params *params, nino_bench_result *out, nino_error *err)
{
    nino_bench_params own, *p = &own;
    if (!NINO_TAKE(&own, params, NINO_BENCH_PARAMS_INIT, err))
        return NINO_ERR_ARG;
    const nino_ctx_params cp = { .cache_dir = p->cache_dir };
    nino_bench_result r = { .n_cases = 0 };
    nino_error mine = { .code = NINO_OK };
    if (p->samples > MAX_SAMPLES || p->warmup > MAX_SAMPLES)
        return nino_fail(err, NINO_ERR_RANGE, "samples", "more than %d", MAX_SAMPLES);
    nino_backend *be = nino_device_open(p->device, &cp, NULL, &mine);
    nino_status st = mine.code;
    if (be) {
        nino_measure_first(be, p->cache_dir);
        bench_describe(&r, be);
        st = run_cases(be, p, &r, &mine);
    }
    nino_backend_close(&be);
    if (st) {
        nino_bench_release(&r);
        if (err)
            *err = mine;
        return st;
    }
    *out = r;
    return NINO_OK;
}

double nino_bench_noise(const nino_bench_case *a, const nino_bench_case *b)
{
    const double errors =
        2 * (a->ratio_sigma / sqrt((double) a->n) + b->ratio_sigma / sqrt((double) b->n));
    return isfinite(errors) ? 100 * expm1(errors) : 0;
}

void nino_bench_release(nino_bench_result *r)
{
    free(r->cases);
    r->cases = NULL;
    r->n_cases = 0;
}

nino_status nino_bench_yardstick(const char *device, nino_bench_result *out, double *seconds,
                                 nino_error *err)
{
    nino_error mine = { .code = NINO_OK };
    timer yard;
    double v[5];
    nino_backend *be = nino_device_open(device, NULL, NULL, &mine);
    nino_status st = mine.code;
    if (be) {
        bench_describe(out, be);
        out->yardstick_edge = EDGE;
        const nino_check_case product = yardstick(EDGE);
        st = timer_open(&yard, be, &product, NINO_F32, NINO_GEMM_NATIVE, &mine);
        for (int i = -1; i < 5 && !st; i++) // the first one warms up
            st = check_side_time(&yard.side, &v[i < 0 ? 0 : i], &mine);
        timer_close(&yard);
        nino_spread s;
        nino_spread_of(v, st ? 0 : 5, &s);
        *seconds = st ? 0 : s.median;
        out->yardstick_s = *seconds;
    }
    nino_backend_close(&be);
    if (st && err)
        *err = mine;
    return st;
}
