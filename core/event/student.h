// Internal: Student's t distribution, for comparisons of means.
#pragma once

// Two-sided tail: the chance of |t| or more with df degrees of freedom (any real number above 0).
double nino_student_p(double t, double df);
// The t beyond which `tail` (0.05) of the distribution lies on both sides.
double nino_student_quantile(double tail, double df);

// Mean difference of two samples by their counts, means and variances. Sources: Welch 1947
// (statistic), Satterthwaite 1946 (degrees of freedom).
typedef struct nino_welch {
    double delta, se, df, p, low, high; // of mean_b - mean_a; NaN where a sample has one value
} nino_welch;
nino_welch nino_welch_test(double n_a, double mean_a, double var_a, double n_b, double mean_b,
                           double var_b);
