// Whether measurements in their order of time go up or down: Theil's slope with Sen's interval and Kendall's exact test.
#include <math.h>
#include <stdlib.h>

#include "core/base/num.h"
#include "core/experiment/rank_sum.h"
#include <ninodes/experiment.h>

enum { TREND_LEAST = 3 };
#define SIGMA_OF_MAD 1.4826 // of a normal distribution: sigma / MAD

// Of n values in random order without ties, the share of orders in which k pairs go down, k from 0 to n (n - 1) / 2:
// one value after the other takes each of its places, so that of m values 0 to m - 1 pairs more go down. NULL: out of
// memory.
static double *kendall_shares(size_t n)
{
    const size_t pairs = n * (n - 1) / 2;
    double *share = calloc(pairs + 1, sizeof(*share)), *next = calloc(pairs + 1, sizeof(*next));
    if (!share || !next) {
        free(share);
        free(next);
        return NULL;
    }
    share[0] = 1;
    for (size_t m = 2; m <= n; m++) {
        double sum = 0; // of share[k - m + 1] to share[k]
        for (size_t k = 0; k <= m * (m - 1) / 2; k++) {
            sum += share[k] - (k >= m ? share[k - m] : 0);
            next[k] = sum / (double) m;
        }
        double *t = share;
        share = next;
        next = t;
    }
    free(next);
    return share;
}

// Kendall's S: pairs that go up less those that go down.
typedef struct kendall {
    double p; // of |S| or more, two-sided
    size_t
        critical; // the least S that chance reaches with at most half of alpha on its side; pairs + 1: none does
} kendall;

static bool kendall_judge(size_t n, double s, double alpha, kendall *out)
{
    const size_t pairs = n * (n - 1) / 2;
    double *share = kendall_shares(n), tail = 0;
    if (!share)
        return false;
    *out = (kendall){ .p = 1, .critical = pairs + 1 };
    for (size_t k = 0; 2 * k <= pairs; k++) { // S is pairs - 2 k
        tail += share[k];
        if (tail <= alpha / 2)
            out->critical = pairs - 2 * k;
        if ((double) (pairs - 2 * k) >= fabs(s))
            out->p = 2 * tail;
    }
    out->p = s != 0 && out->p < 1 ? out->p : 1;
    free(share);
    return true;
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
    const size_t pairs = n * (n - 1) / 2;
    size_t at = 0;
    double s = 0;
    kendall k;
    for (size_t j = 1; j < n; j++)
        for (size_t i = 0; i < j; i++) {
            slopes[at++] = (y[j] - y[i]) / (double) (j - i);
            s += (y[j] > y[i]) - (y[j] < y[i]);
        }
    if (!kendall_judge(n, s, alpha, &k))
        return;
    nino_sort_doubles(slopes, pairs);
    const double slope = nino_median_sorted(slopes, pairs), band = trend_band(y, n, slope, work);
    out->p = k.p;
    out->percent = 100 * expm1(slope);
    out->all_percent = 100 * expm1(slope * (double) (n - 1));
    out->band_percent = 100 * expm1(band);
    out->is_too_few = k.critical > pairs;
    if (!out->is_too_few) { // Sen: as many slopes from either end as C leaves
        const size_t m = (pairs - (k.critical - 2)) / 2;
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
