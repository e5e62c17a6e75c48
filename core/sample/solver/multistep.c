// Linear multistep methods on the slopes of past steps. LMS: Adams-Bashforth over uneven sigmas
// (k-diffusion); iPNDM: Zhang and Chen (2023), in diff-sampler's even and variable step forms.
#include "core/sample/solver/solve.h"
#include <string.h>

// ---- lms --------------------------------------------------------------------------------------
#define MAX_POINTS 64

// Gauss-Legendre points and weights on [-1, 1]: exact for polynomials of degree 2 n - 1.
static void legendre(int n, double *point, double *weight)
{
    for (int j = 0; j < n; j++) {
        double z = cos(3.14159265358979323846 * (j + 0.75) / (n + 0.5)), slope = 1;
        for (int it = 0; it < 50; it++) {
            double p = 1, q = 0;
            for (int k = 1; k <= n; k++) {
                const double older = q;
                q = p;
                p = ((2 * k - 1) * z * q - (k - 1) * older) / k;
            }
            slope = n * (z * p - q) / (z * z - 1);
            const double dz = p / slope;
            z -= dz;
            if (fabs(dz) < 1e-15)
                break;
        }
        point[j] = z;
        weight[j] = 2 / ((1 - z * z) * slope * slope);
    }
}

// Integral over [t[i], t[i+1]] of the polynomial that is 1 at t[i-j] and 0 at the order - 1 others.
static double lagrange_integral(const float *t, int order, int i, int j)
{
    const int n = order / 2 + 1;
    double point[MAX_POINTS], weight[MAX_POINTS], sum = 0;
    legendre(n, point, weight);
    const double half = ((double) t[i + 1] - t[i]) / 2, centre = ((double) t[i + 1] + t[i]) / 2;
    for (int q = 0; q < n; q++) {
        const double tau = centre + half * point[q];
        double prod = 1;
        for (int k = 0; k < order; k++)
            if (k != j)
                prod *= (tau - t[i - k]) / ((double) t[i - j] - t[i - k]);
        sum += weight[q] * prod;
    }
    return sum * half;
}

nino_status nino_sample_lms(nino_solve *s)
{
    const int max_order = s->opt->order < s->n_steps ? s->opt->order : s->n_steps;
    if (max_order < 1 || max_order > SOLVE_MAX_ARRAYS - 2)
        return nino_solve_fail(s, "order must be 1 .. 126 where there are as many steps");
    float *x = s->x, *d[SOLVE_MAX_ARRAYS], *sum; // d[0] is the newest
    nino_status st = nino_solve_arrays(s, d, max_order);
    if (st || (st = nino_solve_arrays(s, &sum, 1)))
        return st;
    for (int k = 0; k < s->n_steps; k++) {
        float *D = d[max_order - 1]; // the oldest makes room
        memmove(d + 1, d, (size_t) (max_order - 1) * sizeof(*d));
        d[0] = D;
        if ((st = nino_solve_denoise(s, x, s->sigma[k], D, NULL)))
            break;
        nino_solve_report(s, k, s->sigma[k], x, D);
        if (s->sigma[k + 1] == 0) {
            memcpy(x, D, (size_t) s->count * sizeof(float));
            break;
        }
        EACH(s) D[i] = (x[i] - D[i]) / s->sigma[k];
        const int order = k + 1 < max_order ? k + 1 : max_order;
        EACH(s) sum[i] = 0;
        for (int j = 0; j < order; j++) {
            const float c = (float) lagrange_integral(s->sigma, order, k, j);
            EACH(s) sum[i] += c * d[j][i];
        }
        EACH(s) x[i] += sum[i];
    }
    return st;
}

// ---- ipndm ------------------------------------------------------------------------------------
// x += h (w[0] d[0] + .. + w[n-1] d[n-1]) / divisor
static void multistep_combine(nino_solve *s, float h, const float *w, int n, float *const *d,
                              float divisor)
{
    float *x = s->x;
    EACH(s)
    {
        float sum = w[0] * d[0][i];
        for (int j = 1; j < n; j++)
            sum += w[j] * d[j][i];
        x[i] += h * sum / divisor;
    }
}

static void even_weights(int order, float *w, float *divisor)
{
    static const float table[4][5] = {
        { 1, 0, 0, 0, 1 }, { 3, -1, 0, 0, 2 }, { 23, -16, 5, 0, 12 }, { 55, -59, 37, -9, 24 }
    };
    memcpy(w, table[order - 1], 4 * sizeof(*w));
    *divisor = table[order - 1][4];
}

// Adams-Bashforth weights for uneven steps. h[0]: the step to come, h[1..]: the last ones.
static void uneven_weights(int order, const float *h, float *w)
{
    const float q = order > 1 ? h[0] / h[1] : 0; // of neighbouring steps
    w[0] = order > 1 ? (2.0f + q) / 2.0f : 1.0f;
    w[1] = -q / 2.0f;
    w[2] = w[3] = 0;
    if (order < 3)
        return;
    const float h01 = h[0] + h[1], h12 = h[1] + h[2], q12 = h[1] / h[2];
    const float a = (1.0f - h[0] / (3.0f * h01) * (h[0] * h01) / (h[1] * h12)) / 2.0f;
    w[0] += a;
    w[1] -= (1.0f + q12) * a;
    w[2] = a * h[1] / h[2];
    if (order < 4)
        return;
    const float h012 = h01 + h[2], h23 = h[2] + h[3], h123 = h12 + h[3];
    const float b = ((1.0f - h[0] / (3.0f * h01)) / 2.0f +
                     (1.0f - h[0] / (2.0f * h01)) * h[0] / (6.0f * h012)) *
                    (h[0] * h01 * h012) / (h[1] * h12 * h123);
    const float g = h[1] * h12 / (h[2] * h23);
    w[0] += b;
    w[1] -= (1.0f + q12 + g) * b;
    w[2] += (q12 + g * (1.0f + h[2] / h[3])) * b;
    w[3] = -b * g * h[1] / h[2];
}

static nino_status ipndm(nino_solve *s, bool is_even)
{
    const int max_order = s->opt->order;
    if (max_order < 1 || max_order > 4)
        return nino_solve_fail(s, "order must be 1 .. 4");
    float *x = s->x, *d[4];
    nino_status st = nino_solve_arrays(s, d, max_order);
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float t = s->sigma[k], next = s->sigma[k + 1];
        float *D = d[max_order - 1];
        memmove(d + 1, d, (size_t) (max_order - 1) * sizeof(*d));
        d[0] = D;
        if ((st = nino_solve_denoise(s, x, t, D, NULL)))
            break;
        nino_solve_report(s, k, t, x, D);
        if (next == 0) {
            memcpy(x, D, (size_t) s->count * sizeof(float));
            break;
        }
        EACH(s) D[i] = (x[i] - D[i]) / t;
        const int order = k + 1 < max_order ? k + 1 : max_order;
        float w[4], divisor = 1, h[4] = { 0 };
        for (int j = 0; j < order; j++)
            h[j] = s->sigma[k + 1 - j] - s->sigma[k - j];
        if (is_even)
            even_weights(order, w, &divisor);
        else
            uneven_weights(order, h, w);
        multistep_combine(s, next - t, w, order, d, divisor);
    }
    return st;
}

nino_status nino_sample_ipndm(nino_solve *s) { return ipndm(s, true); }
nino_status nino_sample_ipndm_v(nino_solve *s) { return ipndm(s, false); }
