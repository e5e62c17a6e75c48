// Whether measurements in their order of time go up or down: Theil's slope with Sen's interval and Kendall's exact test.
#include <math.h>
#include <stdlib.h>

#include "core/base/num.h"
#include "core/experiment/rank_sum.h"
#include <ninodes/experiment.h>

enum { TREND_LEAST = 3 };
#define SIGMA_OF_MAD 1.4826 // of a normal distribution: sigma / MAD

// P(S >= s) for n values in random order without ties, S the pairs that go up less those that go down: counts[k] orders
// have k pairs that go down, built by putting one value after the other into each of its places. NaN: out of memory.
static double kendall_tail(size_t n, double s)
{
    const size_t pairs = n * (n - 1) / 2;
    double *share = calloc(pairs + 1, sizeof(*share)), *next = calloc(pairs + 1, sizeof(*next));
    double sum = (double) NAN;
    if (share && next) {
        share[0] = 1;
        for (size_t m = 2; m <= n; m++) { // the m-th value: 0 to m - 1 more that go down
            for (size_t k = 0; k <= pairs; k++) {
                double v = 0;
                for (size_t j = 0; j < m && j <= k; j++)
                    v += share[k - j];
                next[k] = v / (double) m;
            }
            double *t = share;
            share = next;
            next = t;
        }
        sum = 0;
        for (size_t k = 0; k <= pairs && (double) pairs - 2 * (double) k >= s; k++)
            sum += share[k];
    }
    free(share);
    free(next);
    return sum;
}

// The least S that chance reaches with at most half of alpha on its side; pairs + 1: none does.
static size_t kendall_critical(size_t n, double alpha)
{
    const size_t pairs = n * (n - 1) / 2;
    size_t s = pairs;
    if (!(kendall_tail(n, (double) s) <= alpha / 2))
        return pairs + 1;
    while (s >= 2 && kendall_tail(n, (double) (s - 2)) <= alpha / 2)
        s -= 2;
    return s;
}

// Largest distance that measurements without a trend keep from its line.
static double trend_band(const double *y, size_t n, double slope, double *work)
{
    for (size_t i = 0; i < n; i++)
        work[i] = y[i] - slope * (double) i;
    nino_sort_doubles(work, n);
    const double middle = nino_median_sorted(work, n);
    for (size_t i = 0; i < n; i++)
        work[i] = fabs(y[i] - slope * (double) i - middle);
    nino_sort_doubles(work, n);
    return 2 * SIGMA_OF_MAD * nino_median_sorted(work, n);
}

static void trend_judge(const double *y, size_t n, double alpha, double *slopes, double *work,
                        nino_trend *out)
{
    const size_t pairs = n * (n - 1) / 2, critical = kendall_critical(n, alpha);
    size_t at = 0;
    double s = 0;
    for (size_t j = 1; j < n; j++)
        for (size_t i = 0; i < j; i++) {
            slopes[at++] = (y[j] - y[i]) / (double) (j - i);
            s += (y[j] > y[i]) - (y[j] < y[i]);
        }
    nino_sort_doubles(slopes, pairs);
    const double slope = nino_median_sorted(slopes, pairs), band = trend_band(y, n, slope, work);
    const double tail = kendall_tail(n, fabs(s));
    out->p = 2 * tail < 1 ? 2 * tail : 1;
    out->percent = 100 * expm1(slope);
    out->all_percent = 100 * expm1(slope * (double) (n - 1));
    out->band_percent = 100 * expm1(band);
    out->is_too_few = critical > pairs;
    if (!out->is_too_few) { // Sen: as many slopes from either end as C leaves
        const size_t m = (pairs - (critical - 2)) / 2;
        out->low = 100 * expm1(slopes[m - 1]);
        out->high = 100 * expm1(slopes[pairs - m]);
    }
    if (out->p <= alpha && fabs(slope) * (double) (n - 1) > band)
        out->verdict = slope > 0 ? 1 : -1;
}

void nino_trend_of(const double *values, size_t n, double alpha, nino_trend *out)
{
    const size_t first = n > NINO_TREND_MOST ? n - NINO_TREND_MOST : 0, m = n - first;
    double y[NINO_TREND_MOST], work[NINO_TREND_MOST];
    *out = (nino_trend){ .n = m,
                         .change_percent = (double) NAN,
                         .percent = (double) NAN,
                         .low = (double) -INFINITY,
                         .high = (double) INFINITY,
                         .all_percent = (double) NAN,
                         .band_percent = (double) NAN,
                         .p = (double) NAN,
                         .is_too_few = true };
    for (size_t i = 0; i < m; i++)
        y[i] = log(fmax(values[first + i], 1e-9));
    if (m >= 2)
        out->change_percent = 100 * expm1(y[m - 1] - y[m - 2]);
    double *slopes = m >= TREND_LEAST ? malloc(m * (m - 1) / 2 * sizeof(*slopes)) : NULL;
    if (slopes)
        trend_judge(y, m, alpha > 0 ? alpha : 0.05, slopes, work, out);
    free(slopes);
}

char *nino_trend_text(const nino_trend *t, char *buf, size_t size)
{
    const unsigned long long n = t->n;
    if (!isfinite(t->percent))
        nino_snprintf(buf, size, "%llu runs: too few for a trend", n);
    else if (t->is_too_few)
        nino_snprintf(buf, size, "%+.1f %% a run over %llu runs: too few to tell from chance",
                      t->percent, n);
    else
        nino_snprintf(buf, size,
                      "%+.1f %% a run (%+.1f to %+.1f %%), %+.1f %% over %llu runs, noise band "
                      "%.1f %%, p %.2g: %s",
                      t->percent, t->low, t->high, t->all_percent, n, t->band_percent, t->p,
                      t->verdict > 0   ? "slower"
                      : t->verdict < 0 ? "faster"
                                       : "no trend shown");
    return buf;
}
