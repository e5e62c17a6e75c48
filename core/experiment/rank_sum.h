// Internal: Wilcoxon's rank-sum test of two samples, exact, and the shift between them.
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { RANK_SUM_MOST = 64 }; // values of a sample

typedef struct rank_sum {
    double shift;     // Hodges-Lehmann: median of all differences x - y
    double low, high; // its interval with confidence 1 - alpha; infinite: too few values
    double p;         // two-sided; ties get their mean rank, and the distribution is that of them
    double least_p;   // of samples of these sizes that do not overlap
} rank_sum;

// NaN and infinities where a sample is empty. False: out of memory.
bool nino_rank_sum(const double *x, size_t m, const double *y, size_t n, double alpha,
                   rank_sum *out);
// Sorts; for medians.
void nino_sort_doubles(double *v, size_t n);
// Of n sorted values; NaN for none.
double nino_median_sorted(const double *v, size_t n);
