// Wilcoxon's rank-sum test with the exact distribution of its ranks, by counting subsets; the
// Hodges-Lehmann shift and its interval from the ordered differences.
#include "core/experiment/rank_sum.h"

#include <math.h>
#include <stdlib.h>

static int rank_sum_by_value(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

void nino_sort_doubles(double *v, size_t n) { qsort(v, n, sizeof(*v), rank_sum_by_value); }

double nino_median_sorted(const double *v, size_t n)
{
    return n ? (v[(n - 1) / 2] + v[n / 2]) / 2 : (double) NAN;
}

typedef struct ranked {
    double value;
    bool is_x;
    size_t rank2; // twice its rank, so that mean ranks of ties are whole
} ranked;

static int ranked_by_value(const void *a, const void *b)
{
    const double x = ((const ranked *) a)->value, y = ((const ranked *) b)->value;
    return (x > y) - (x < y);
}

static void rank_all(ranked *r, size_t n)
{
    qsort(r, n, sizeof(*r), ranked_by_value);
    for (size_t i = 0; i < n;) {
        size_t k = i;
        while (k + 1 < n && r[k + 1].value == r[i].value)
            k++;
        for (size_t j = i; j <= k; j++)
            r[j].rank2 = i + k + 2;
        i = k + 1;
    }
}

// ways[s]: how many of the subsets of m of these ranks have the sum s. NULL: out of memory.
static double *count_sums(const ranked *r, size_t n, size_t m, size_t *size)
{
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most += r[i].rank2;
    *size = most + 1;
    double *ways = calloc((m + 1) * *size, sizeof(*ways)); // a row per size of the subset
    if (!ways)
        return NULL;
    ways[0] = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1 < m ? i + 1 : m; k > 0; k--)
            for (size_t s = most; s >= r[i].rank2; s--)
                ways[k * *size + s] += ways[(k - 1) * *size + s - r[i].rank2];
    for (size_t s = 0; s < *size; s++)
        ways[s] = ways[m * *size + s];
    return ways;
}

static bool rank_sum_p(const double *x, size_t m, const double *y, size_t n, double *p)
{
    ranked r[2 * RANK_SUM_MOST] = { { 0 } };
    size_t sum = 0, size;
    double low = 0, high = 0, all = 0;
    for (size_t i = 0; i < m + n; i++)
        r[i] = (ranked){ .value = i < m ? x[i] : y[i - m], .is_x = i < m };
    rank_all(r, m + n);
    for (size_t i = 0; i < m + n; i++)
        sum += r[i].is_x ? r[i].rank2 : 0;
    double *ways = count_sums(r, m + n, m, &size);
    if (!ways)
        return false;
    for (size_t s = 0; s < size; s++) {
        all += ways[s];
        low += s <= sum ? ways[s] : 0;
        high += s >= sum ? ways[s] : 0;
    }
    free(ways);
    *p = fmin(1, 2 * fmin(low, high) / all);
    return true;
}

// How many of the ordered differences lie outside of the interval on each side, from the
// distribution without ties; 0: not even the outermost may be left out.
static bool outside(size_t m, size_t n, double alpha, size_t *k, double *least_p)
{
    ranked r[2 * RANK_SUM_MOST] = { { 0 } };
    size_t size;
    double all = 0, below = 0;
    for (size_t i = 0; i < m + n; i++)
        r[i].rank2 = i + 1; // whole ranks will do here
    double *ways = count_sums(r, m + n, m, &size);
    if (!ways)
        return false;
    for (size_t s = 0; s < size; s++)
        all += ways[s];
    const size_t first = m * (m + 1) / 2; // the least sum
    *least_p = fmin(1, 2 * ways[first] / all);
    for (*k = 0; first + *k < size; ++*k) {
        below += ways[first + *k];
        if (2 * below / all > alpha)
            break;
    }
    free(ways);
    return true;
}

bool nino_rank_sum(const double *x, size_t m, const double *y, size_t n, double alpha,
                   rank_sum *out)
{
    *out = (rank_sum){ NAN, -INFINITY, INFINITY, NAN, 1 };
    if (!m || !n || m > RANK_SUM_MOST || n > RANK_SUM_MOST)
        return true;
    size_t k;
    double *d = malloc(m * n * sizeof(*d));
    const bool ok = d && outside(m, n, alpha, &k, &out->least_p) && rank_sum_p(x, m, y, n, &out->p);
    if (ok) {
        for (size_t i = 0; i < m * n; i++)
            d[i] = x[i / n] - y[i % n];
        nino_sort_doubles(d, m * n);
        out->shift = nino_median_sorted(d, m * n);
        if (k) {
            out->low = d[k - 1];
            out->high = d[m * n - k];
        }
    }
    free(d);
    return ok;
}
