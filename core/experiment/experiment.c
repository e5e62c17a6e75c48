// Settings measured in turn: their order, when there are enough rounds, and what they showed.
#include "core/base/error.h"
#include "core/base/num.h"
#include "core/base/params.h"
#include "core/experiment/rank_sum.h"
#include <ninodes/experiment.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nino_experiment {
    nino_experiment_params p; // defaults filled in
    int looks;                // at most
    int next_look;            // rounds after which the next one is
    int warmed, taken;        // measurements; taken without those that warmed up
    bool is_over;
    double seconds; // of all that count
    double t[NINO_MAX_ROUNDS][NINO_MAX_SETTINGS];
};

static int experiment_looks(const nino_experiment_params *p)
{
    int n = 1;
    for (int at = p->rounds_min; at < p->rounds_max; at *= 2)
        n++;
    return n;
}

nino_experiment *nino_experiment_create(const nino_experiment_params *params, nino_error *err)
{
    nino_experiment_params p;
    if (!NINO_TAKE(&p, params, NINO_EXPERIMENT_PARAMS_INIT, err))
        return NULL;
    p.settings = p.settings ? p.settings : 2;
    p.warmup = p.warmup < 0 ? 0 : p.warmup ? p.warmup : 1;
    p.rounds_min = p.rounds_min ? p.rounds_min : 12;
    p.rounds_max = p.rounds_max ? p.rounds_max : 4 * p.rounds_min;
    p.alpha = p.alpha ? p.alpha : 0.01;
    p.least = p.least ? p.least : 0.02;
    const bool ok = p.settings >= 1 && p.settings <= NINO_MAX_SETTINGS && p.rounds_min > 0 &&
                    p.rounds_max >= p.rounds_min && p.rounds_max <= NINO_MAX_ROUNDS &&
                    p.alpha > 0 && p.alpha < 1 && p.least > 0 && p.least < 1 && p.max_seconds >= 0;
    nino_experiment *e = ok ? calloc(1, sizeof(*e)) : NULL;
    if (!e) {
        nino_fail(err, ok ? NINO_ERR_NOMEM : NINO_ERR_RANGE, "experiment", "%s",
                  ok ? "out of memory"
                     : "1 to 16 settings, 1 to 128 rounds and shares between 0 and 1 are possible");
        return NULL;
    }
    e->p = p;
    e->looks = experiment_looks(&p);
    e->next_look = p.rounds_min;
    return e;
}

void nino_experiment_destroy(nino_experiment **e)
{
    free(*e); // NULL is fine
    *e = NULL;
}

// ---- order -------------------------------------------------------------------------------------

// Whether setting 0 comes last in this round: the Thue-Morse sequence.
static bool is_reversed(int round)
{
    bool odd = false;
    for (; round; round >>= 1)
        odd ^= round & 1;
    return odd;
}

int nino_experiment_next(const nino_experiment *e, bool *is_warmup)
{
    const int n = e->p.settings, warmups = e->p.warmup * n;
    if (is_warmup)
        *is_warmup = e->warmed < warmups;
    if (e->is_over)
        return -1;
    if (e->warmed < warmups)
        return e->warmed % n;
    const int at = e->taken % n;
    return is_reversed(e->taken / n) ? n - 1 - at : at;
}

// Every setting is known to differ, or not to.
static bool is_decided(const nino_experiment *e)
{
    for (int k = 1; k < e->p.settings; k++) {
        nino_effect f;
        nino_experiment_effect(e, k, &f);
        if (!f.verdict && !f.is_equal)
            return false;
    }
    return true;
}

static void end_round(nino_experiment *e, int rounds)
{
    const bool is_late = e->p.max_seconds > 0 && e->seconds >= e->p.max_seconds;
    if (rounds >= e->p.rounds_max || (is_late && rounds >= e->p.rounds_min)) {
        e->is_over = true;
    } else if (rounds >= e->next_look) {
        e->is_over = is_decided(e);
        e->next_look *= 2;
    }
}

nino_status nino_experiment_add(nino_experiment *e, double seconds, nino_error *err)
{
    bool is_warmup;
    const int k = nino_experiment_next(e, &is_warmup);
    if (k < 0 || !isfinite(seconds))
        return nino_fail(err, NINO_ERR_RANGE, "experiment", "%s",
                         k < 0 ? "it is over" : "a time is not a finite number");
    if (is_warmup) {
        e->warmed++;
        return NINO_OK;
    }
    seconds = fmax(seconds, 1e-9);
    e->seconds += seconds;
    e->t[e->taken / e->p.settings][k] = seconds;
    if (++e->taken % e->p.settings == 0)
        end_round(e, e->taken / e->p.settings);
    return NINO_OK;
}

void nino_experiment_progress(const nino_experiment *e, uint64_t *done, uint64_t *most)
{
    *done = (uint64_t) e->warmed + (uint64_t) e->taken;
    *most = e->is_over
                ? *done
                : ((uint64_t) e->p.warmup + (uint64_t) e->p.rounds_max) * (uint64_t) e->p.settings;
}

nino_status nino_experiment_run(nino_experiment *e, nino_measure_once measure, void *priv,
                                nino_error *err)
{
    bool is_warmup;
    for (int k; (k = nino_experiment_next(e, &is_warmup)) >= 0;) {
        double seconds = NAN;
        nino_status st = measure(priv, k, is_warmup, &seconds, err);
        if (!st)
            st = nino_experiment_add(e, seconds, err);
        if (st)
            return st;
    }
    return NINO_OK;
}

// ---- results -----------------------------------------------------------------------------------

void nino_spread_of(const double *values, size_t n, nino_spread *out)
{
    double *v = n ? malloc(n * sizeof(*v)) : NULL;
    *out = (nino_spread){ 0, NAN, NAN, NAN, NAN };
    if (!v)
        return;
    memcpy(v, values, n * sizeof(*v));
    nino_sort_doubles(v, n);
    *out = (nino_spread){ n, nino_median_sorted(v, n), NAN, v[0], v[n - 1] };
    for (size_t i = 0; i < n; i++)
        v[i] = fabs(v[i] - out->median);
    nino_sort_doubles(v, n);
    out->mad = nino_median_sorted(v, n);
    free(v);
}

size_t nino_experiment_times(const nino_experiment *e, int setting, double *out, size_t max)
{
    const size_t n = (size_t) (e->taken / e->p.settings);
    for (size_t i = 0; i < n && i < max; i++)
        out[i] = e->t[i][setting];
    return n;
}

void nino_experiment_spread(const nino_experiment *e, int setting, nino_spread *out)
{
    double v[NINO_MAX_ROUNDS] = { 0 };
    nino_spread_of(v, nino_experiment_times(e, setting, v, NINO_MAX_ROUNDS), out);
}

static double experiment_percent(double log_ratio) { return 100 * expm1(log_ratio); }

// b against a, both logarithms; halves: the shift is of twice the effect.
static void experiment_judge(const double *b, size_t n_b, const double *a, size_t n_a, bool halves,
                             double least, nino_effect *out)
{
    rank_sum r;
    const double part = halves ? 0.5 : 1;
    if (!nino_rank_sum(b, n_b, a, n_a, out->alpha, &r) || isnan(r.p))
        return;
    out->percent = experiment_percent(r.shift * part);
    if (isfinite(r.low)) {
        out->low = experiment_percent(r.low * part);
        out->high = experiment_percent(r.high * part);
    }
    out->p = r.p;
    out->is_too_few = r.least_p > out->alpha;
    if (r.p <= out->alpha && fabs(out->percent) >= 100 * least)
        out->verdict = out->percent < 0 ? -1 : 1;
    out->is_equal = !out->verdict && out->low > -100 * least && out->high < 100 * least;
}

static nino_effect experiment_no_effect(size_t rounds, double alpha)
{
    return (nino_effect){ .rounds = rounds,
                          .percent = NAN,
                          .low = -INFINITY,
                          .high = INFINITY,
                          .p = NAN,
                          .alpha = alpha,
                          .is_too_few = true };
}

void nino_experiment_effect(const nino_experiment *e, int setting, nino_effect *out)
{
    double forth[NINO_MAX_ROUNDS], back[NINO_MAX_ROUNDS];
    size_t n_forth = 0, n_back = 0;
    const int rounds = e->taken / e->p.settings;
    *out = experiment_no_effect((size_t) rounds, e->p.alpha / e->looks /
                                                     (e->p.settings > 1 ? e->p.settings - 1 : 1));
    for (int i = 0; i < rounds; i++) { // the later measurement by the earlier one
        const double d = log(e->t[i][setting] / e->t[i][0]);
        if (is_reversed(i))
            back[n_back++] = -d;
        else
            forth[n_forth++] = d;
    }
    experiment_judge(forth, n_forth, back, n_back, true, e->p.least, out);
}

void nino_effect_of_samples(const double *a, size_t n_a, const double *b, size_t n_b, double alpha,
                            double least, nino_effect *out)
{
    double x[RANK_SUM_MOST], y[RANK_SUM_MOST];
    *out = experiment_no_effect(n_a < n_b ? n_a : n_b, alpha);
    if (n_a > RANK_SUM_MOST || n_b > RANK_SUM_MOST)
        return;
    for (size_t i = 0; i < n_a; i++)
        x[i] = log(fmax(a[i], 1e-9));
    for (size_t i = 0; i < n_b; i++)
        y[i] = log(fmax(b[i], 1e-9));
    experiment_judge(y, n_b, x, n_a, false, least, out);
}

char *nino_effect_text(const nino_effect *e, char *buf, size_t size)
{
    char what[48], range[80] = "";
    if (e->is_too_few) {
        nino_snprintf(buf, size, "no verdict: %llu rounds are too few to show a difference",
                      (unsigned long long) e->rounds);
        return buf;
    }
    if (e->verdict)
        nino_snprintf(what, sizeof(what), "%.1f %% %s time", fabs(e->percent),
                      e->verdict < 0 ? "less" : "more");
    else
        snprintf(what, sizeof(what), "%s", e->is_equal ? "equal" : "no difference shown");
    if (isfinite(e->low) && isfinite(e->high))
        nino_snprintf(range, sizeof(range), "%+.1f to %+.1f %% with %.4g %% confidence, ", e->low,
                      e->high, 100 * (1 - e->alpha));
    nino_snprintf(buf, size, "%s (%sp %.2g, %llu rounds)", what, range, e->p,
                  (unsigned long long) e->rounds);
    return buf;
}
