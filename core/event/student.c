// Student's t distribution through the regularised incomplete beta function, whose continued
// fraction (DLMF 8.17.22) is evaluated by Lentz's method; Welch's test.
#include "core/event/student.h"

#include <math.h>

static double student_guarded(double v) { return fabs(v) < 1e-300 ? 1e-300 : v; }

// The continued fraction of I_x(a, b); converges fast for x < (a + 1) / (a + b + 2).
static double fraction(double x, double a, double b)
{
    double c = 1, d = 1 / student_guarded(1 - (a + b) * x / (a + 1)), f = d;
    for (int m = 1; m < 500; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / student_guarded(1 + even * d);
        c = student_guarded(1 + even / c);
        f *= c * d;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / student_guarded(1 + odd * d);
        c = student_guarded(1 + odd / c);
        f *= c * d;
        if (fabs(c * d - 1) < 1e-14)
            break;
    }
    return f;
}

static double student_beta(double x, double a, double b)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    int sign;
    const double front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) +
                             a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * fraction(x, a, b) / a;
    return 1 - front * fraction(1 - x, b, a) / b;
}

double nino_student_p(double t, double df)
{
    if (!(df > 0) || isnan(t))
        return NAN;
    return isinf(t) ? 0 : student_beta(df / (df + t * t), df / 2, 0.5);
}

double nino_student_quantile(double tail, double df)
{
    double low = 0, high = 1;
    while (high < 1e9 && nino_student_p(high, df) > tail)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        const double mid = (low + high) / 2;
        *(nino_student_p(mid, df) > tail ? &low : &high) = mid;
    }
    return high;
}

nino_welch nino_welch_test(double n_a, double mean_a, double var_a, double n_b, double mean_b,
                           double var_b)
{
    const double a = var_a / n_a, b = var_b / n_b;
    nino_welch w = {
        .delta = mean_b - mean_a, .se = NAN, .df = NAN, .p = NAN, .low = NAN, .high = NAN
    };
    if (!(n_a > 1) || !(n_b > 1))
        return w;
    w.se = sqrt(a + b);
    if (w.se <= 0) { // no spread at all
        w.df = n_a + n_b - 2;
        w.p = w.delta == 0 ? 1 : 0;
        w.low = w.high = w.delta;
        return w;
    }
    w.df = (a + b) * (a + b) / (a * a / (n_a - 1) + b * b / (n_b - 1));
    w.p = nino_student_p(w.delta / w.se, w.df);
    const double half = w.se * nino_student_quantile(0.05, w.df);
    w.low = w.delta - half;
    w.high = w.delta + half;
    return w;
}
