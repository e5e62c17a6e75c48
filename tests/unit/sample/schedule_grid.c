// Every scheduler with every kind of model and few, odd and many steps, compared with
// schedule_grid_values.h, which records behaviour that a person has looked at: NINODES_PRINT=1 prints
// its rows anew. What KSampler and BasicScheduler cut out of a schedule, and the nodes that cut and
// stretch a list, are compared with Python's slices as ComfyUI has them, for all small numbers.
#include <math.h>

#include "core/sample/schedule/schedule.h"
#include "core/sample/schedule/schedule_priv.h"
#include "tests/test.h"

enum { STEPS = 6, MODELS = 10, TABLES = NINO_LEVELS_OPTIMAL_CHROMA + 1 };
static const int step_counts[STEPS] = { 1, 2, 3, 7, 20, 1000 };

typedef struct row {
    int model, scheduler; // scheduler -1: table `model` of published levels
    int n[STEPS];
    double sum[STEPS];
} row;
#include "tests/unit/sample/schedule_grid_values.h"

static nino_error err;

static nino_sampling *model_of(int k)
{
    switch (k) {
    case 0: return nino_sampling_discrete(NINO_PRED_EPS, false);
    case 1: return nino_sampling_discrete(NINO_PRED_V, true);
    case 2: return nino_sampling_distilled(NINO_PRED_LCM, false);
    case 3: return nino_sampling_flow(1, 1);
    case 4: return nino_sampling_flow(3, 1000);
    case 5: return nino_sampling_flux(1.15);
    case 6: return nino_sampling_continuous(NINO_SCHEDULE_EDM, NINO_PRED_EDM, 0.002, 80, 0.5);
    case 7: return nino_sampling_continuous(NINO_SCHEDULE_V, NINO_PRED_V, 0.03, 500, 1);
    case 8:
        return nino_sampling_continuous(NINO_SCHEDULE_COSMOS, NINO_PRED_COSMOS_RFLOW, 0.002, 80, 1);
    default: return nino_sampling_discrete(NINO_PRED_X0, false);
    }
}

// A weighted sum that each value changes by its ratio, whatever its size; NaN counts as 7.
static double sum_of(const nino_sigmas *s)
{
    double sum = 0;
    for (int i = 0; i < s->n; i++)
        sum += (1 + 0.5 * cos(0.7 * i)) * (isnan(s->v[i]) ? 7 : log((double) s->v[i] + 1e-4)) /
               sqrt(s->n);
    return sum;
}

static void compute(const row *of, row *got)
{
    nino_sampling *ms = of->scheduler < 0 ? NULL : model_of(of->model);
    *got = (row){ .model = of->model, .scheduler = of->scheduler };
    for (int k = 0; k < STEPS; k++) {
        nino_sigmas s = { 0 };
        const nino_status st =
            ms ? nino_schedule_make(ms, (nino_scheduler) of->scheduler, step_counts[k], &s, &err)
               : nino_schedule_levels((nino_noise_levels) of->model, step_counts[k], 1, &s, &err);
        CHECK_OK(st, err);
        got->n[k] = s.n;
        got->sum[k] = sum_of(&s);
        nino_sigmas_release(&s);
    }
    nino_sampling_unref(&ms);
}

static void print_row(const row *r)
{
    printf("    { %d, %d, {", r->model, r->scheduler);
    for (int k = 0; k < STEPS; k++)
        printf("%s %d", k ? "," : "", r->n[k]);
    printf(" }, {");
    for (int k = 0; k < STEPS; k++)
        printf("%s %.7g", k ? "," : "", r->sum[k]);
    printf(" } },\n");
}

static void check_row(int model, int scheduler, int at)
{
    row got;
    compute(&(row){ .model = model, .scheduler = scheduler }, &got);
    if (getenv("NINODES_PRINT")) {
        print_row(&got);
        return;
    }
    const row *want = &rows[at];
    CHECK(want->model == model && want->scheduler == scheduler);
    for (int k = 0; k < STEPS; k++)
        if (got.n[k] != want->n[k] ||
            !(fabs(got.sum[k] - want->sum[k]) <= 3e-5 * (1 + fabs(want->sum[k])))) {
            fprintf(stderr, "model %d, %s, %d steps: %d sigmas, sum %.7g; expected %d, %.7g\n",
                    model, scheduler < 0 ? "levels" : nino_scheduler_names[scheduler],
                    step_counts[k], got.n[k], got.sum[k], want->n[k], want->sum[k]);
            exit(1);
        }
}

static void check_rows(void)
{
    int at = 0;
    for (int m = 0; m < MODELS; m++)
        for (int s = 0; s < NINO_SCHEDULER_COUNT; s++)
            check_row(m, s, at++);
    for (int t = 0; t < TABLES; t++)
        check_row(t, -1, at++);
    CHECK(getenv("NINODES_PRINT") || at == (int) (sizeof(rows) / sizeof(*rows)));
}

// ---- published levels -----------------------------------------------------------------------------

// A table's own levels where there are as many steps, in the middle of two by their logarithms where
// there are twice as many; denoise leaves the end.
static void check_between(void)
{
    static const int levels[TABLES] = { 10, 10, 10, 10, 20, 40 };
    for (int t = 0; t < TABLES; t++) {
        nino_sigmas own, twice, part;
        const nino_noise_levels table = (nino_noise_levels) t;
        CHECK_OK(nino_schedule_levels(table, levels[t], 1, &own, &err), err);
        CHECK_OK(nino_schedule_levels(table, 2 * levels[t], 1, &twice, &err), err);
        CHECK(own.n == levels[t] + 1 && twice.n == 2 * levels[t] + 1);
        CHECK(own.v[levels[t]] == 0 && twice.v[2 * levels[t]] == 0);
        for (int i = 0; i < levels[t]; i++) {
            CHECK(twice.v[2 * i] == own.v[i]);
            if (i + 1 < levels[t])
                CHECK(fabsf(twice.v[2 * i + 1] / sqrtf(own.v[i] * own.v[i + 1]) - 1) < 1e-5f);
        }
        for (int d = 0; d <= 11; d++) { // tenths of all; more than all are all
            CHECK_OK(nino_schedule_levels(table, levels[t], d * 0.1, &part, &err), err);
            const int n = d ? (d < 10 ? d * levels[t] / 10 : levels[t]) + 1 : 0;
            CHECK(part.n == n);
            for (int i = 0; i < n; i++)
                CHECK(part.v[i] == own.v[own.n - n + i]);
            nino_sigmas_release(&part);
        }
        CHECK_OK(nino_schedule_levels(table, levels[t], -1, &part, &err), err);
        CHECK(part.n == 0 && !part.v);
        nino_sigmas_release(&own);
        nino_sigmas_release(&twice);
    }
}

// GITS has levels for 0.80, 0.85 .. 1.50 and for no other coefficient.
static void check_gits(void)
{
    static const double none[] = { -1e300, -3,   0,    0.7, 0.75, 0.79,  0.82,     0.83,
                                   1.23,   1.51, 1.55, 2,   15,   1e300, INFINITY, -INFINITY };
    nino_sigmas s;
    for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
        char want[160];
        snprintf(want, sizeof(want),
                 "%g is not one of 0.80, 0.85 .. 1.50: GITS has no levels for it", none[i]);
        CHECK(nino_schedule_gits(none[i], 10, 1, &s, &err) == NINO_ERR_RANGE);
        CHECK_STR(err.where, "coeff");
        CHECK_STR(err.msg, want);
    }
    CHECK(nino_schedule_gits(0.8, 1, 1, &s, &err) == NINO_ERR_RANGE);
    CHECK_STR(err.msg, "1: GITS needs at least 2");
    for (int c = 0; c < 15; c++) { // from 21 steps on those of 20, with levels in between
        nino_sigmas at_20, at_40;
        CHECK_OK(nino_schedule_gits(0.80 + 0.05 * c + 0.004, 20, 1, &at_20, &err), err);
        CHECK_OK(nino_schedule_gits(0.80 + 0.05 * c - 0.004, 40, 1, &at_40, &err), err);
        CHECK(at_20.n == 21 && at_40.n == 41);
        for (int i = 0; i < 20; i++)
            CHECK(at_40.v[2 * i] == at_20.v[i]);
        nino_sigmas_release(&at_20);
        nino_sigmas_release(&at_40);
    }
}

// ---- what runs cut out ----------------------------------------------------------------------------

static void same(const nino_sigmas *got, const float *want, int n)
{
    CHECK(got->n == n && (n > 0) == (got->v != NULL));
    for (int i = 0; i < n; i++)
        CHECK(got->v[i] == want[i]);
}

// KSampler of ComfyUI: calculate_sigmas, set_steps, sample.
static void plain_ksampler(const nino_sampling *ms, const nino_ksampler_steps *p)
{
    nino_sigmas all = { 0 }, got;
    CHECK_OK(nino_schedule_ksampler(ms, p, &got, &err), err);
    if (p->denoise <= 0) {
        same(&got, NULL, 0);
        return;
    }
    const int total = p->denoise > 0.9999 ? p->steps : (int) (p->steps / p->denoise);
    CHECK_OK(nino_schedule_make(ms, p->scheduler, total + p->discard_penultimate, &all, &err), err);
    float *v = all.v;
    int n = all.n;
    if (p->discard_penultimate) // sigmas[:-2] and sigmas[-1:]
        v[n - 2] = v[n - 1], n--;
    if (p->denoise <= 0.9999 && n > p->steps + 1) // sigmas[-(steps + 1):]
        v += n - (p->steps + 1), n = p->steps + 1;
    if (p->end_step >= 0 && p->end_step < n - 1) { // sigmas[:last_step + 1]
        n = p->end_step + 1;
        if (p->force_full_denoise)
            v[n - 1] = 0;
    }
    if (p->start_step >= 0) { // sigmas[start_step:], of which there must be two
        n = p->start_step < n - 1 ? n - p->start_step : 0;
        v += p->start_step;
    }
    same(&got, v, n);
    nino_sigmas_release(&all);
    nino_sigmas_release(&got);
}

static void check_ksampler(const nino_sampling *ms)
{
    static const double denoise[] = { -1, 0, 0.2, 0.35, 0.5, 0.9999, 0.99995, 1, 2 };
    for (int steps = 1; steps <= 5; steps++)
        for (int d = 0; d < 9; d++)
            for (int code = 0; code < 7 * 7 * 4; code++) {
                const nino_ksampler_steps p = { .scheduler = code % 2 ? NINO_SCHEDULER_KARRAS
                                                                      : NINO_SCHEDULER_BETA,
                                                .steps = steps,
                                                .denoise = denoise[d],
                                                .discard_penultimate = code % 4 > 1,
                                                .force_full_denoise = (code + d) % 2,
                                                .start_step = code / 4 % 7 - 1,
                                                .end_step = code / 28 - 1 };
                plain_ksampler(ms, &p);
            }
}

static void check_basic(const nino_sampling *ms)
{
    for (int steps = 1; steps <= 6; steps++)
        for (int d = -1; d <= 11; d++) {
            nino_sigmas got, all = { 0 };
            CHECK_OK(nino_schedule_basic(ms, NINO_SCHEDULER_NORMAL, steps, d / 10.0, &got, &err),
                     err);
            if (d > 0) {
                const int total = d < 10 ? (int) floor(steps / (d / 10.0)) : steps;
                CHECK_OK(nino_schedule_make(ms, NINO_SCHEDULER_NORMAL, total, &all, &err), err);
            }
            const int n = d > 0 ? (all.n < steps + 1 ? all.n : steps + 1) : 0;
            same(&got, n ? all.v + all.n - n : NULL, n);
            nino_sigmas_release(&got);
            nino_sigmas_release(&all);
        }
}

// SDTurboScheduler: of the steps 999, 899 .. 99 as many as asked for, from where denoise begins.
static void check_turbo(const nino_sampling *ms)
{
    for (int steps = 1; steps <= 11; steps++)
        for (int d = 0; d <= 10; d++) {
            nino_sigmas s;
            const int first = 10 - d, n = steps < 10 - first ? steps : 10 - first;
            CHECK_OK(nino_schedule_sd_turbo(ms, steps, (d + 0.05) / 10.0, &s, &err), err);
            CHECK(s.n == n + 1 && s.v[n] == 0);
            for (int i = 0; i < n; i++)
                CHECK(s.v[i] == nino_sampling_sigma(ms, (float) (999 - 100 * (first + i))));
            nino_sigmas_release(&s);
        }
    nino_sigmas s;
    CHECK_OK(nino_schedule_sd_turbo(ms, 1, 3, &s, &err), err); // more than all are all
    CHECK(s.n == 2 && s.v[0] == nino_sampling_sigma(ms, 999));
    nino_sigmas_release(&s);
    CHECK_OK(nino_schedule_sd_turbo(ms, 1, -1, &s, &err), err);
    CHECK(s.n == 1 && s.v[0] == 0);
    nino_sigmas_release(&s);
}

// ---- lists that are cut and stretched -------------------------------------------------------------

static const float falling[] = { 8, 4, 2, 1, 0.5f, 0 };

// Python's s[from:to], whose ends count from the back where they are negative and stay inside.
static void check_slices(int n)
{
    const nino_sigmas s = { n, (float *) falling };
    for (int step = -2; step <= n + 2; step++) {
        nino_sigmas a, b;
        CHECK_OK(nino_sigmas_split(&s, step, &a, &b, &err), err);
        const int cut = step < 0 ? 0 : step > n ? n : step;
        same(&a, falling, cut + 1 < n ? cut + 1 : n);
        same(&b, falling + cut, n - cut);
        nino_sigmas_release(&a);
        nino_sigmas_release(&b);
    }
    for (int d = -5; d <= 25; d++) {
        nino_sigmas a, b;
        const double denoise = d / 20.0 + 0.001;
        const int steps = n > 0 ? n - 1 : 0;
        const int total = (int) rint(steps * fmin(fmax(denoise, 0), 1));
        CHECK_OK(nino_sigmas_split_denoise(&s, denoise, &a, &b, &err), err);
        same(&a, falling, total ? n - total : 0);                               // s[:-total]
        same(&b, falling + (n > total ? n - total - 1 : 0), n ? total + 1 : 0); // s[-(total + 1):]
        nino_sigmas_release(&a);
        nino_sigmas_release(&b);
    }
}

// ExtendIntermediateSigmas, one interval after the other.
static void check_extend(int n, int steps, double from, double to, nino_spacing spacing)
{
    const nino_sigmas s = { n, (float *) falling };
    nino_sigmas got;
    int k = 0;
    CHECK_OK(nino_sigmas_extend(&s, steps, from, to, spacing, &got, &err), err);
    for (int i = 0; i < n; i++) {
        CHECK(k < got.n && got.v[k++] == falling[i]);
        const bool is_inside =
            (from < 0 || (double) falling[i] <= from) && (double) falling[i] >= to;
        for (int j = 1; j < steps && is_inside && i + 1 < n; j++) {
            const double u = (double) j / steps;
            const double at = spacing == NINO_SPACING_LINEAR   ? u
                              : spacing == NINO_SPACING_COSINE ? sin(u * M_PI / 2)
                                                               : 1 - cos(u * M_PI / 2);
            const double want =
                (double) falling[i] + at * ((double) falling[i + 1] - (double) falling[i]);
            CHECK(k < got.n && fabs((double) got.v[k++] - want) < 2e-6);
        }
    }
    CHECK(k == got.n);
    nino_sigmas_release(&got);
}

static void check_lists(void)
{
    for (int n = 0; n <= 6; n++) {
        check_slices(n);
        for (int steps = 1; steps <= 4; steps++)
            for (int kind = 0; kind < 3; kind++)
                for (int at = 0; at < 16; at++) {
                    static const double from[] = { -1, 4, 2.5, 9 }, to[] = { 0, 1, 2.5, 12 };
                    check_extend(n, steps, from[at % 4], to[at / 4], (nino_spacing) kind);
                }
        check_extend(n, 10000, -1, 0, NINO_SPACING_LINEAR); // also where the last is inside
    }
    const nino_sigmas s = { 6, (float *) falling };
    nino_sigmas got;
    for (int i = 0; i < 2; i++) {
        char want[60];
        const int steps = i ? 10001 : 0;
        snprintf(want, sizeof(want), "%d is not in 1..10000", steps);
        CHECK(nino_sigmas_extend(&s, steps, -1, 0, NINO_SPACING_LINEAR, &got, &err) ==
              NINO_ERR_RANGE);
        CHECK_STR(err.where, "steps");
        CHECK_STR(err.msg, want);
    }
}

// ---- refusals -------------------------------------------------------------------------------------

static void refused(nino_status st, const char *where, const char *what)
{
    CHECK(st == NINO_ERR_RANGE || st == NINO_ERR_ARG);
    CHECK_STR(err.where, where);
    CHECK_STR(err.msg, what);
}

static void check_refusals(const nino_sampling *ms)
{
    nino_sigmas s;
    const char *const zero = "0 is not in 1..10000000",
                      *const over = "10000001 is not in 1..10000000",
                      *const sign = "0: must be above 0 here";
    refused(nino_schedule_make(ms, NINO_SCHEDULER_BETA, 0, &s, &err), "steps", zero);
    refused(nino_schedule_make(ms, NINO_SCHEDULER_BETA, 10000001, &s, &err), "steps", over);
    refused(nino_schedule_make(ms, NINO_SCHEDULER_COUNT, 3, &s, &err), "scheduler",
            "there is no scheduler 9");
    refused(nino_schedule_basic(ms, NINO_SCHEDULER_BETA, 0, 1, &s, &err), "steps", zero);
    refused(nino_schedule_basic(ms, NINO_SCHEDULER_BETA, 2, 1e-7, &s, &err), "denoise",
            "1e-07 of 2 steps makes too long a schedule");
    const nino_ksampler_steps none = { .denoise = 1 }, tiny = { .steps = 3, .denoise = 1e-9 };
    refused(nino_schedule_ksampler(ms, &none, &s, &err), "steps", zero);
    refused(nino_schedule_ksampler(ms, &tiny, &s, &err), "denoise",
            "1e-09 of 3 steps makes too long a schedule");
    refused(nino_schedule_karras(3, 1, 1, 0, &s, &err), "rho", sign);
    refused(nino_schedule_karras(0, 1, 1, 7, &s, &err), "steps", zero);
    refused(nino_schedule_exponential(3, 0, 1, &s, &err), "sigma_max", sign);
    refused(nino_schedule_exponential(3, 1, 0, &s, &err), "sigma_min", sign);
    refused(nino_schedule_exponential(0, 1, 1, &s, &err), "steps", zero);
    refused(nino_schedule_polyexponential(3, 0, 1, 1, &s, &err), "sigma_max", sign);
    refused(nino_schedule_polyexponential(3, 1, -2, 1, &s, &err), "sigma_min",
            "-2: must be above 0 here");
    refused(nino_schedule_polyexponential(0, 1, 1, 1, &s, &err), "steps", zero);
    refused(nino_schedule_laplace(0, 1, 1, 0, 1, &s, &err), "steps", zero);
    refused(nino_schedule_vp(0, 1, 1, 0, &s, &err), "steps", zero);
    refused(nino_schedule_flux2(0, 1, 1, &s, &err), "steps", zero);
    refused(nino_schedule_sd_turbo(ms, 0, 1, &s, &err), "steps", zero);
    refused(nino_schedule_beta(ms, 3, 0, 1, &s, &err), "alpha", sign);
    refused(nino_schedule_beta(ms, 3, 1, 0, &s, &err), "beta", sign);
    refused(nino_schedule_beta(ms, 0, 1, 1, &s, &err), "steps", zero);
    refused(nino_schedule_levels(NINO_LEVELS_AYS_SD1, 0, 1, &s, &err), "steps", zero);
    const nino_sigmas empty = { 0 };
    refused(nino_sigmas_set_first(&empty, 1, &s, &err), "sigmas",
            "the list is empty: there is no first");
}

int main(void)
{
    check_rows();
    if (getenv("NINODES_PRINT"))
        return 0;
    check_between();
    check_gits();
    nino_sampling *eps = model_of(0), *flow = model_of(4);
    check_ksampler(eps);
    check_ksampler(flow);
    check_basic(eps);
    check_basic(flow);
    check_turbo(eps);
    check_refusals(eps);
    nino_sampling_unref(&eps);
    nino_sampling_unref(&flow);
    check_lists();
    return 0;
}
