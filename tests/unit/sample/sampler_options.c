// Every sampler over short, odd and open lists of sigmas, and with each option away from its usual
// value, on data that is Gaussian: there x0 is known in closed form. Runs without noise end where the
// solution of the ODE does; all runs are compared with sampler_options_values.h. That table records
// behaviour: NINODES_PRINT=1 prints its rows anew.
#include <math.h>
#include <stddef.h>

#include "core/sample/noise/rng.h"
#include "core/sample/solver/sampler.h"
#include "tests/test.h"

enum { COUNT = 37, LISTS = 5, MOST = 512 };

typedef struct row {
    const char *run; // parameterisation/sampler and its options
    int calls[LISTS];
    double sum[LISTS];
} row;
#include "tests/unit/sample/sampler_options_values.h"

static nino_sampling *eps, *flow;

// ---- the data: normal, of the mean mu[i] and the standard deviation SPREAD ------------------------

#define SPREAD 0.6

typedef struct toy {
    bool is_flow;
    int calls;
    double seen; // of the sigmas it was asked at, weighted by the call
} toy;

static double mean_of(int i) { return 0.8 * cos(1.7 * i); }

// E(x0 | x), where x = x0 + s noise; of flow models (1 - s) x0 + s noise. Without the prompt the mean
// is half as far away.
static double x0_of(bool is_flow, double x, double s, double mean)
{
    const double a = is_flow ? 1 - s : 1, v = SPREAD * SPREAD;
    return mean + a * v / (a * a * v + s * s) * (x - a * mean);
}

static nino_status toy_denoise(void *priv, const float *x, double sigma, float *D, float *U,
                               nino_error *err)
{
    toy *t = priv;
    (void) err;
    t->calls++;
    t->seen += sigma * t->calls;
    CHECK(t->calls < MOST);
    for (int i = 0; i < COUNT; i++) {
        D[i] = (float) x0_of(t->is_flow, x[i], sigma, mean_of(i));
        if (U)
            U[i] = (float) x0_of(t->is_flow, x[i], sigma, mean_of(i) / 2);
    }
    return NINO_OK;
}

static void start(bool is_flow, float sigma, float *x)
{
    nino_noise_fill(21, x, 1, COUNT, NULL);
    nino_sampling_noise_scaling(is_flow ? flow : eps, sigma, !is_flow, x, NULL, x, COUNT);
}

static nino_status sample(const nino_sampler *s, bool is_flow, const float *sigmas, int n, float *x,
                          toy *t)
{
    nino_error err = { 0 };
    *t = (toy){ .is_flow = is_flow };
    start(is_flow, sigmas[0], x);
    const nino_sampler_run r = { .ms = is_flow ? flow : eps,
                                 .denoise = toy_denoise,
                                 .denoise_priv = t,
                                 .x = x,
                                 .count = COUNT,
                                 .sigmas = sigmas,
                                 .n_sigmas = n,
                                 .seed = 99 };
    return nino_sampler_run_all(s, &r, &err);
}

// ---- a row of the table ---------------------------------------------------------------------------

#define D(f)                                                                                       \
    {                                                                                              \
#f, offsetof(nino_sampler, f), 'd'                                                         \
    }
#define I(f)                                                                                       \
    {                                                                                              \
#f, offsetof(nino_sampler, f), 'i'                                                         \
    }
#define B(f)                                                                                       \
    {                                                                                              \
#f, offsetof(nino_sampler, f), 'b'                                                         \
    }
static const struct {
    const char *name;
    size_t at;
    char kind;
} fields[] = { D(eta),
               D(s_noise),
               D(s_churn),
               D(s_tmin),
               D(s_tmax),
               D(r),
               D(r2),
               I(order),
               I(solver_type),
               D(rtol),
               D(atol),
               D(h_init),
               D(pcoeff),
               D(icoeff),
               D(dcoeff),
               D(accept_safety),
               D(ge_gamma),
               I(max_stage),
               D(sde_start_sigma),
               D(sde_end_sigma),
               I(predictor_order),
               I(corrector_order),
               B(use_pece),
               B(simple_order_2) };

static void set_option(nino_sampler *s, const char *name, double value)
{
    _Static_assert(sizeof(nino_solver_type) == sizeof(int), "set as a number");
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (!strcmp(fields[i].name, name)) {
            char *to = (char *) s + fields[i].at;
            if (fields[i].kind == 'd')
                memcpy(to, &value, sizeof(value));
            else if (fields[i].kind == 'i')
                memcpy(to, &(int){ (int) value }, sizeof(int));
            else
                *(bool *) (void *) to = value != 0;
            return;
        }
    CHECK(!"an option");
}

// "eps/heun s_churn=2 s_tmin=1"
static nino_sampler sampler_of(const char *run, bool *is_flow)
{
    char word[40], option[40];
    int used = 0, more = 0;
    double value;
    *is_flow = !strncmp(run, "flow/", 5);
    const char *at = strchr(run, '/') + 1;
    CHECK(sscanf(at, "%39s%n", word, &used) == 1);
    nino_sampler_id id = NINO_SAMPLER_EULER_PP;
    CHECK(!strcmp(word, "euler_pp") || nino_sampler_find(word, &id));
    nino_sampler s = nino_sampler_default(id);
    for (at += used; sscanf(at, " %39[^=]=%lf%n", option, &value, &more) == 2; at += more)
        set_option(&s, option, value);
    CHECK(!*at);
    return s;
}

// To 0 in one step, in two, in three and in nine (whose number is odd), and a run that ends early.
static const float eps_sigmas[] = { 14.6f, 9, 5.5f, 3.2f, 1.9f, 1.1f, 0.6f, 0.3f, 0.12f, 0 },
                   flow_sigmas[] = { 1, 0.97f, 0.92f, 0.85f, 0.74f, 0.6f, 0.43f, 0.27f, 0.12f, 0 };
static const struct {
    int from, n;
} lists[LISTS] = { { 8, 2 }, { 7, 3 }, { 6, 4 }, { 0, 10 }, { 1, 6 } };

static void compute(const row *of, row *got)
{
    bool is_flow;
    const nino_sampler s = sampler_of(of->run, &is_flow);
    *got = (row){ .run = of->run };
    for (int k = 0; k < LISTS; k++) {
        float x[COUNT];
        toy t;
        const float *sigmas = (is_flow ? flow_sigmas : eps_sigmas) + lists[k].from;
        if (sample(&s, is_flow, sigmas, lists[k].n, x, &t)) {
            got->calls[k] = -1; // refused
            continue;
        }
        got->calls[k] = t.calls;
        got->sum[k] = 0.01 * t.seen;
        for (int i = 0; i < COUNT; i++)
            got->sum[k] += cos(2.3 * i + 1) * (double) x[i];
    }
}

static void print_row(const row *r)
{
    printf("    { \"%s\", {", r->run);
    for (int k = 0; k < LISTS; k++)
        printf("%s %d", k ? "," : "", r->calls[k]);
    printf(" }, {");
    for (int k = 0; k < LISTS; k++)
        printf("%s %.7g", k ? "," : "", r->sum[k]);
    printf(" } },\n");
}

static void check_rows(void)
{
    const bool prints = getenv("NINODES_PRINT") != NULL;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        row got;
        compute(&rows[i], &got);
        if (prints) {
            print_row(&got);
            continue;
        }
        for (int k = 0; k < LISTS; k++)
            if (got.calls[k] != rows[i].calls[k] ||
                !(fabs(got.sum[k] - rows[i].sum[k]) <= 1e-4 * (1 + fabs(rows[i].sum[k])))) {
                fprintf(stderr, "%s, list %d: %d calls, sum %.7g; expected %d, %.7g\n", got.run, k,
                        got.calls[k], got.sum[k], rows[i].calls[k], rows[i].sum[k]);
                exit(1);
            }
    }
}

// ---- the equation's solution ----------------------------------------------------------------------

// Runs without noise that follow the ODE, how far from its solution they may end after 48 steps, and
// by which power of the step's length that shrinks (0: where float or the end of the list hides it).
static const struct {
    const char *run;
    int order;
    double most;
} exact[] = {
    { "euler", 1, 0.08 },
    { "euler_ancestral eta=0", 1, 0.08 },
    { "ddim", 1, 0.08 },
    { "sa_solver eta=0 predictor_order=1 corrector_order=0", 1, 0.08 },
    { "er_sde solver_type=4 max_stage=1", 1, 0.08 },
    { "heun", 2, 0.006 },
    { "dpm_2", 2, 0.003 },
    { "dpm_2_ancestral eta=0", 2, 0.003 },
    { "dpmpp_2s_ancestral eta=0", 2, 0.004 },
    { "dpmpp_sde eta=0", 2, 0.004 },
    { "dpmpp_sde eta=0 r=0.3", 2, 0.003 },
    { "dpmpp_2m", 2, 0.012 },
    { "dpmpp_2m_sde eta=0", 2, 0.004 },
    { "dpmpp_2m_sde eta=0 solver_type=1", 2, 0.008 },
    { "dpmpp_3m_sde eta=0", 2, 0.002 },
    { "seeds_2 eta=0", 2, 0.004 },
    { "seeds_3 eta=0", 0, 0.0002 },
    { "er_sde solver_type=4 max_stage=2", 2, 0.009 },
    { "er_sde solver_type=4", 2, 0.006 },
    { "lms", 0, 0.002 },
    { "lms order=2", 2, 0.013 },
    { "ipndm_v", 2, 0.02 },
    { "ipndm_v order=2", 2, 0.013 },
    { "deis", 0, 0.002 },
    { "deis order=2", 2, 0.009 },
    { "deis order=4", 0, 0.0003 },
    { "res_multistep", 2, 0.015 },
    { "sa_solver eta=0", 0, 0.0002 },
    { "sa_solver eta=0 predictor_order=2 corrector_order=2 simple_order_2=1", 2, 0.007 },
    { "sa_solver_pece eta=0", 0, 0.0002 },
    { "uni_pc", 0, 0.002 },
    { "uni_pc_bh2", 0, 0.002 },
    { "dpm_fast", 0, 0.008 },
};

static double distance(const char *run, bool is_flow, int steps)
{
    char name[120];
    float sigmas[MOST], x[COUNT], from[COUNT];
    toy t;
    bool is_same;
    const float first = is_flow ? 0.99f : 14.6f;
    double worst = 0;
    snprintf(name, sizeof(name), "%s/%s", is_flow ? "flow" : "eps", run);
    const nino_sampler s = sampler_of(name, &is_same);
    for (int k = 0; k < steps; k++) { // evenly in log SNR
        const double u = (double) k / (steps - 1), last = 0.004;
        const double l = is_flow ? (1 - u) * log(0.99 / 0.01) + u * log(last / (1 - last))
                                 : (1 - u) * log(14.6) + u * log(last);
        sigmas[k] = (float) (is_flow ? 1 / (1 + exp(-l)) : exp(l));
    }
    sigmas[0] = first;
    sigmas[steps] = 0;
    start(is_flow, sigmas[0], from);
    CHECK(!sample(&s, is_flow, sigmas, steps + 1, x, &t));
    const double a = is_flow ? 1 - (double) first : 1;
    const double spread = sqrt(a * a * SPREAD * SPREAD + (double) first * (double) first);
    for (int i = 0; i < COUNT; i++) {
        const double want = mean_of(i) + SPREAD / spread * ((double) from[i] - a * mean_of(i));
        CHECK(isfinite(x[i]));
        worst = fmax(worst, fabs((double) x[i] - want));
    }
    return worst;
}

static void check_exact(void)
{
    for (size_t i = 0; i < sizeof(exact) / sizeof(*exact); i++)
        for (int k = 0; k < 2; k++) {
            const char *run = exact[i].run;
            if (k && !strcmp(run, "dpm_2_ancestral eta=0"))
                continue; // of flow models it always draws noise: no node can ask for none
            const double d = distance(run, k, 48);
            const double order = log(distance(run, k, 24) / distance(run, k, 96)) / log(4);
            if (!(d <= exact[i].most) || (exact[i].order && !(order > exact[i].order - 0.2))) {
                fprintf(stderr, "%s of %s: %g from the solution, order %g; at most %g, order %d\n",
                        run, k ? "flow" : "eps", d, order, exact[i].most, exact[i].order);
                exit(1);
            }
        }
}

// The other way, from little noise to much: the steps that are tried grow towards its end, not past it.
static void check_rising(void)
{
    static const char *const runs[] = { "eps/dpm_adaptive", "eps/dpm_adaptive order=2",
                                        "eps/dpm_adaptive h_init=0.5",
                                        "eps/dpm_adaptive rtol=0.001",
                                        "eps/dpm_adaptive h_init=-0.05" };
    static const float rising[][3] = { { 0.5f, 2, 6 }, { 0.05f, 0.06f, 14 }, { 1, 1.01f, 1.05f } };
    for (size_t k = 0; k < sizeof(runs) / sizeof(*runs); k++)
        for (int l = 0; l < 3; l++) {
            float x[COUNT], from[COUNT];
            toy t;
            bool is_flow;
            const nino_sampler s = sampler_of(runs[k], &is_flow);
            const double low = (double) rising[l][0], high = (double) rising[l][2];
            start(false, rising[l][0], from);
            CHECK(!sample(&s, false, rising[l], 3, x, &t));
            const double by = sqrt((SPREAD * SPREAD + high * high) / (SPREAD * SPREAD + low * low));
            for (int i = 0; i < COUNT; i++) {
                const double had = (double) from[i] - mean_of(i);
                if (!(fabs((double) x[i] - mean_of(i) - by * had) <= 0.03 * (1 + fabs(by * had)))) {
                    fprintf(stderr, "%s, from %g to %g: x[%d] is %g, expected %g\n", runs[k], low,
                            high, i, (double) x[i], mean_of(i) + by * had);
                    exit(1);
                }
            }
        }
}

int main(void)
{
    eps = nino_sampling_discrete(NINO_PRED_EPS, false);
    flow = nino_sampling_flow(3, 1000);
    CHECK(eps && flow);
    check_rows();
    check_exact();
    check_rising();
    nino_sampling_unref(&eps);
    nino_sampling_unref(&flow);
    return 0;
}
