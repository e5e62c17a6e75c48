// The guided denoiser: which entries apply at a sigma, their weighted mean where they overlap, and
// classifier-free guidance over the lists.
// Semantics: ComfyUI 0.3.64 comfy/samplers.py (calc_cond_batch, cfg_function, CFGGuider),
// comfy_extras/nodes_custom_sampler.py (Guider_DualCFG); rescaled guidance: Lin et al. 2023,
// "Common Diffusion Noise Schedules and Sample Steps are Flawed", section 3.4.
#include "core/sample/guide/guide_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

#define NOTHING 1e-37f // weight of a cell that no entry reaches

// ---- lists -----------------------------------------------------------------------------------

static nino_status evaluate(nino_guide_run *r, const bool *wanted, const float *x, float sigma,
                            nino_error *err)
{
    int total = 0, n = 0;
    for (int k = 0; k < NINO_COND_KINDS; k++)
        total += r->list[k].n;
    nino_guide_piece *p = calloc((size_t) total + 1, sizeof(*p));
    if (!p)
        return nino_fail(err, NINO_ERR_NOMEM, "", "no memory for a model evaluation");
    for (int k = 0; k < NINO_COND_KINDS; k++)
        for (int i = 0; i < r->list[k].n && wanted[k]; i++) {
            const nino_cond_use *u = &r->list[k].use[i];
            if (nino_stream_is_plan(r->s) ||
                ((double) sigma <= u->first && (double) sigma >= u->last))
                p[n++] = (nino_guide_piece){ u, k };
        }
    for (int at = 0; at < n && !nino_stream_status(r->s, NULL) && !r->err.code;) {
        const int k = nino_guide_choose(r, p + at, n - at);
        nino_guide_run_batch(r, p + at, k, x, sigma);
        at += k;
    }
    free(p);
    r->evaluations++;
    if (r->err.code && err)
        *err = r->err;
    return r->err.code ? r->err.code : nino_stream_status(r->s, err);
}

// out = the weighted means; a cell that no entry reached is 0.
static void take_means(nino_guide_run *r)
{
    for (int k = 0; k < NINO_COND_KINDS; k++)
        for (int64_t b = 0; b < r->batch * r->channels; b++)
            for (int64_t i = 0; i < r->cells; i++)
                r->out[k][b * r->cells + i] /= r->weight[k][b / r->channels * r->cells + i];
}

static void clear_sums(nino_guide_run *r)
{
    for (int k = 0; k < NINO_COND_KINDS; k++) {
        memset(r->out[k], 0, r->count * sizeof(float));
        for (int64_t i = 0; i < r->batch * r->cells; i++)
            r->weight[k][i] = NOTHING;
    }
}

// ---- guidance --------------------------------------------------------------------------------

// An answer as a v-prediction.
static float as_v(float x, float d, float s)
{
    return (x / (s * s + 1.0f) - d) * sqrtf(s * s + 1.0f) / s;
}

// The factor that gives guided, v-predictions, the spread of cond.
static double spread_ratio(const float *x, const float *cond, float s, const float *guided,
                           int64_t n)
{
    double mean[2] = { 0 }, sum[2] = { 0 };
    for (int64_t i = 0; i < n; i++) {
        mean[0] += (double) as_v(x[i], cond[i], s) / (double) n;
        mean[1] += (double) guided[i] / (double) n;
    }
    for (int64_t i = 0; i < n; i++) {
        const double c = (double) as_v(x[i], cond[i], s) - mean[0],
                     g = (double) guided[i] - mean[1];
        sum[0] += c * c;
        sum[1] += g * g;
    }
    return sqrt(sum[0] / sum[1]);
}

static void rescaled(const nino_guide_run *r, const float *cond, const float *uncond, float scale,
                     const float *x, float s, float *out)
{
    const int64_t n = r->channels * r->cells;
    const float root = sqrtf(s * s + 1.0f), share = (float) r->guider->model->cfg_share;
    for (int64_t b = 0; b < r->batch; b++, cond += n, uncond += n, x += n, out += n) {
        for (int64_t i = 0; i < n; i++) {
            const float vu = as_v(x[i], uncond[i], s);
            out[i] = vu + scale * (as_v(x[i], cond[i], s) - vu);
        }
        const float ratio = (float) spread_ratio(x, cond, s, out, n);
        for (int64_t i = 0; i < n; i++) {
            const float v = share * (out[i] * ratio) + (1.0f - share) * out[i];
            out[i] = x[i] / (s * s + 1.0f) - v * s / root;
        }
    }
}

// Length of the values that all channels have in a cell, less those of `from` (NULL: nothing).
static float cell_length(const nino_guide_run *r, const float *v, const float *from)
{
    double sum = 0;
    for (int64_t c = 0; c < r->channels; c++) {
        const double d = (double) v[c * r->cells] - (from ? (double) from[c * r->cells] : 0);
        sum += d * d;
    }
    return (float) sqrt(sum);
}

// Of the noise that is found, as long in every cell as the positive side finds it.
static void normed(const nino_guide_run *r, const float *cond, const float *uncond, float scale,
                   const float *x, float *out)
{
    const float share = (float) r->guider->model->cfg_share;
    const int64_t n = r->channels * r->cells;
    for (int64_t b = 0; b < r->batch; b++, cond += n, uncond += n, x += n, out += n)
        for (int64_t i = 0; i < r->cells; i++) {
            for (int64_t k = i; k < n; k += r->cells) // the mixture of the answers themselves
                out[k] = uncond[k] + scale * (cond[k] - uncond[k]);
            const float had = cell_length(r, out + i, x + i);
            const float by = had > 0 ? cell_length(r, cond + i, x + i) / fmaxf(had, 1e-12f) : 1.0f;
            for (int64_t k = i; k < n; k += r->cells) {
                const float noise = x[k] - out[k];
                out[k] = x[k] - (share * (noise * by) + (1.0f - share) * noise);
            }
        }
}

// ---- what is done to it ----------------------------------------------------------------------

static void post_norm(const nino_guide_run *r, float strength, const float *cond, float *out)
{
    const int64_t n = r->channels * r->cells;
    for (int64_t b = 0; b < r->batch; b++, cond += n, out += n)
        for (int64_t i = 0; i < r->cells; i++) {
            const float had = cell_length(r, out + i, NULL);
            const float by = cell_length(r, cond + i, NULL) / (had + 1e-8f);
            for (int64_t k = i; k < n; k += r->cells)
                out[k] = out[k] * fminf(by, 1.0f) * strength;
        }
}

// Fan et al. 2025, "CFG-Zero*: Improved Classifier-Free Guidance for Flow Matching Models".
static void post_zero_star(const nino_guide_run *r, const float *cond, const float *uncond,
                           float scale, const float *x, float *out)
{
    const int64_t n = r->channels * r->cells;
    for (int64_t b = 0; b < r->batch; b++, cond += n, uncond += n, x += n, out += n) {
        double dot = 0, square = 0;
        for (int64_t i = 0; i < n; i++) {
            const double e = (double) x[i] - (double) uncond[i];
            dot += ((double) x[i] - (double) cond[i]) * e;
            square += e * e;
        }
        const float a = (float) (dot / (square + 1e-8));
        for (int64_t i = 0; i < n; i++)
            out[i] = out[i] + uncond[i] * (a - 1.0f) + scale * uncond[i] * (1.0f - a);
    }
}

// out is none of the others.
static void guide(const nino_guide_run *r, const float *cond, const float *uncond, double scale,
                  const float *x, float sigma, float *out)
{
    const nino_model *m = r->guider->model;
    if (m->cfg_kind == NINO_CFG_RESCALE && m->cfg_share > 0) // 0: as if it were not there
        rescaled(r, cond, uncond, (float) scale, x, sigma, out);
    else if (m->cfg_kind == NINO_CFG_NORM)
        normed(r, cond, uncond, (float) scale, x, out);
    else
        for (size_t i = 0; i < r->count; i++)
            out[i] = uncond[i] + (cond[i] - uncond[i]) * (float) scale;
    for (int i = 0; i < m->n_posts; i++)
        if (m->post[i].kind == NINO_POST_NORM)
            post_norm(r, (float) m->post[i].strength, cond, out);
        else
            post_zero_star(r, cond, uncond, (float) scale, x, out);
}

static bool is_one(double v) { return fabs(v - 1) <= 1e-9 * fmax(fabs(v), 1); }

static void dual(const nino_guide_run *r, float *const *o, const float *x, float sigma,
                 float *denoised, float *uncond)
{
    const nino_guider *g = r->guider;
    float *pos = o[NINO_COND_POSITIVE], *mid = o[NINO_COND_MIDDLE], *neg = o[NINO_COND_NEGATIVE];
    if (uncond)
        memcpy(uncond, g->is_nested ? mid : neg, r->count * sizeof(*uncond));
    if (g->is_nested) {
        guide(r, pos, mid, g->cfg, x, sigma, denoised);
        for (size_t i = 0; i < r->count; i++)
            denoised[i] = neg[i] + (float) g->cfg2 * (denoised[i] - neg[i]);
        return;
    }
    guide(r, mid, neg, g->cfg2, x, sigma, denoised);
    for (size_t i = 0; i < r->count; i++)
        denoised[i] += (pos[i] - mid[i]) * (float) g->cfg;
}

nino_status nino_guide_denoise(nino_guide_run *r, const float *x, float sigma, float *denoised,
                               float *uncond, nino_error *err)
{
    const nino_guider *g = r->guider;
    const bool is_dual = g->kind == NINO_GUIDE_DUAL_CFG, is_plan = nino_stream_is_plan(r->s);
    bool wanted[NINO_COND_KINDS] = { true, true, true };
    // Guidance of 1 has no use for the negative side, unless the sampler has.
    if (g->kind == NINO_GUIDE_CFG && !uncond)
        wanted[NINO_COND_NEGATIVE] = !is_one(g->cfg);
    if (is_dual && !g->is_nested && !uncond && is_one(g->cfg2)) {
        wanted[NINO_COND_NEGATIVE] = false;
        wanted[NINO_COND_MIDDLE] = !is_one(g->cfg);
    }
    if (!is_plan)
        clear_sums(r);
    const nino_status st = evaluate(r, wanted, x, sigma, err);
    if (st || is_plan)
        return st;
    take_means(r);
    if (is_dual) {
        dual(r, r->out, x, sigma, denoised, uncond);
        return NINO_OK;
    }
    float *pos = r->out[NINO_COND_POSITIVE], *neg = r->out[NINO_COND_NEGATIVE];
    if (uncond)
        memcpy(uncond, neg, r->count * sizeof(*uncond));
    guide(r, pos, neg, g->kind == NINO_GUIDE_CFG ? g->cfg : 1.0, x, sigma, denoised);
    return NINO_OK;
}
