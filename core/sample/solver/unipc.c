// UniPC, unified predictor-corrector of order 3, data prediction, B(h) = h ("bh1") or e^h - 1
// ("bh2"): Zhao et al. (2023), in the variance-preserving space y = x / sqrt(1 + sigma^2).
#include "core/sample/solver/solve.h"
#include <string.h>

#define MAX_ORDER 3

typedef struct vp_point {
    float log_alpha, alpha, sigma, lambda;
} vp_point;

static vp_point vp_at(float sigma)
{
    vp_point p;
    p.log_alpha = 0.5f * f_log(1.0f / (sigma * sigma + 1.0f));
    const float noise = 1.0f - f_exp(2.0f * p.log_alpha); // the part of noise in the variance
    p.alpha = f_exp(p.log_alpha);
    p.sigma = f_sqrt(noise);
    p.lambda = p.log_alpha - 0.5f * f_log(noise);
    return p;
}

typedef struct unipc {
    nino_solve *s;
    float *m[MAX_ORDER + 1]; // x0 at past points, m[0] the newest, then the one of this point
    float t[MAX_ORDER];      // their sigmas
    int n;                   // of past points
    float *base, *tmp;
    bool is_bh2;
} unipc;

// out = x0 at y, by way of eps as the reference has it.
static nino_status data_prediction(unipc *p, const float *y, float sigma, float *out)
{
    nino_solve *s = p->s;
    const vp_point v = vp_at(sigma);
    const float scale = f_sqrt(sigma * sigma + 1.0f);
    EACH(s) p->tmp[i] = y[i] * scale;
    const nino_status st = nino_solve_denoise(s, p->tmp, sigma, out, NULL);
    if (st)
        return st;
    EACH(s) out[i] = (y[i] - v.sigma * ((p->tmp[i] - out[i]) / sigma)) / v.alpha;
    return NINO_OK;
}

// y[] = base - alpha B (sum of w[j] (m_{j+1} - m_0) / r[j], and w[n-1] (fresh - m_0) if fresh)
static void unipc_combine(unipc *p, float scale, const float *r, const float *w, int n_past,
                          const float *fresh, float *y)
{
    const float *m0 = p->m[0];
    EACH(p->s)
    {
        float sum = 0;
        for (int j = 0; j < n_past; j++)
            sum += w[j] * ((p->m[j + 1][i] - m0[i]) / r[j]);
        if (fresh)
            sum += w[n_past] * (fresh[i] - m0[i]);
        y[i] = p->base[i] - scale * sum;
    }
}

// Right sides and matrix of the order conditions; r[order - 1] is 1.
static void conditions(float hh, float b_h, const float *r, int order, float *matrix, float *b)
{
    float phi = f_expm1(hh) / hh - 1.0f, factorial = 1;
    for (int i = 0; i < order; i++) {
        for (int j = 0; j < order; j++)
            matrix[i * order + j] = f_pow(r[j], (float) i);
        b[i] = phi * factorial / b_h;
        factorial *= (float) (i + 2);
        phi = phi / hh - 1.0f / factorial;
    }
}

// w[] of the first n conditions
static bool solve_weights(const float *matrix, const float *b, int order, int n, float *w)
{
    float a[MAX_ORDER * MAX_ORDER];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] = matrix[i * order + j];
    memcpy(w, b, (size_t) n * sizeof(*w));
    return nino_solve_linear(a, w, n);
}

// y from the newest past point to sigma; with corrector m[MAX_ORDER] becomes the x0 there.
static nino_status unipc_update(unipc *p, float sigma, int order, bool use_corrector)
{
    nino_solve *s = p->s;
    float *y = s->x, *fresh = p->m[MAX_ORDER];
    const vp_point to = vp_at(sigma), from = vp_at(p->t[0]);
    const float h = to.lambda - from.lambda, hh = -h, grow = f_expm1(hh);
    const float b_h = p->is_bh2 ? grow : hh, scale = to.alpha * b_h;
    float r[MAX_ORDER], matrix[MAX_ORDER * MAX_ORDER], b[MAX_ORDER], w[MAX_ORDER] = { 0.5f };
    for (int j = 1; j < order; j++)
        r[j - 1] = (vp_at(p->t[j]).lambda - from.lambda) / h;
    r[order - 1] = 1;
    conditions(hh, b_h, r, order, matrix, b);
    const float keep = to.sigma / from.sigma, add = to.alpha * grow;
    EACH(s) p->base[i] = keep * y[i] - add * p->m[0][i];
    if (order > 2 && !solve_weights(matrix, b, order, order - 1, w))
        return nino_solve_fail(s, "two sigmas are equal");
    unipc_combine(p, scale, r, w, order - 1, NULL, y);
    if (!use_corrector)
        return NINO_OK;
    const nino_status st = data_prediction(p, y, sigma, fresh);
    if (st)
        return st;
    w[0] = 0.5f;
    if (order > 1 && !solve_weights(matrix, b, order, order, w))
        return nino_solve_fail(s, "two sigmas are equal");
    unipc_combine(p, scale, r, w, order - 1, fresh, y);
    return NINO_OK;
}

// The x0 in m[MAX_ORDER] becomes the newest past point.
static void unipc_push(unipc *p, float sigma)
{
    float *fresh = p->m[MAX_ORDER];
    memmove(p->m + 1, p->m, MAX_ORDER * sizeof(*p->m));
    memmove(p->t + 1, p->t, (MAX_ORDER - 1) * sizeof(*p->t));
    p->m[0] = fresh;
    p->t[0] = sigma;
    p->n += p->n < MAX_ORDER;
}

nino_status nino_sample_unipc(nino_solve *s)
{
    float *a[MAX_ORDER + 3], *y = s->x;
    nino_status st = nino_solve_arrays(s, a, MAX_ORDER + 3);
    if (st)
        return st;
    unipc p = {
        .s = s, .base = a[4], .tmp = a[5], .is_bh2 = s->opt->id == NINO_SAMPLER_UNI_PC_BH2
    };
    memcpy(p.m, a, sizeof(p.m));
    const int n = s->n_steps, max_order = n - 1 < MAX_ORDER ? n - 1 : MAX_ORDER;
    if (s->sigma[n] == 0)
        s->sigma[n] = 0.001f; // has a log SNR
    const float scale = f_sqrt(1.0f + s->sigma[0] * s->sigma[0]);
    EACH(s) y[i] /= scale;
    for (int k = 0; k <= n; k++) {
        const float sigma = s->sigma[k];
        if (k == 0) {
            st = data_prediction(&p, y, sigma, p.m[MAX_ORDER]);
        } else if (n > 1) {
            int order = k < max_order ? k : max_order;
            order = order < n + 1 - k ? order : n + 1 - k;
            st = unipc_update(&p, sigma, order, k < n);
        }
        if (st)
            return st;
        if (k == n)
            break;
        unipc_push(&p, sigma);
        if (k < n - 1)
            nino_solve_report(s, k, sigma, y, p.m[0]);
    }
    nino_solve_report(s, n - 1, s->sigma[n - 1], y, p.m[0]);
    const float alpha = vp_at(s->sigma[n]).alpha;
    EACH(s) y[i] /= alpha;
    return NINO_OK;
}
