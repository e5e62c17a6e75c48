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

// The factor that gives guided the spread of cond; both as v-predictions.
static double spread_ratio(const float *cond, const float *guided, int64_t n)
{
    double mean[2] = { 0 }, sum[2] = { 0 };
    for (int64_t i = 0; i < n; i++) {
        mean[0] += (double) cond[i] / (double) n;
        mean[1] += (double) guided[i] / (double) n;
    }
    for (int64_t i = 0; i < n; i++) {
        sum[0] += ((double) cond[i] - mean[0]) * ((double) cond[i] - mean[0]);
        sum[1] += ((double) guided[i] - mean[1]) * ((double) guided[i] - mean[1]);
    }
    return sqrt(sum[0] / sum[1]);
}

// out may be cond; uncond is used up.
static void rescaled(const nino_guide_run *r, const float *cond, float *uncond, float scale,
                     const float *x, float s, float *out)
{
    const int64_t n = r->channels * r->cells;
    const float root = sqrtf(s * s + 1.0f), share = (float) r->guider->model->rescale_cfg;
    for (int64_t b = 0; b < r->batch; b++, cond += n, uncond += n, x += n, out += n) {
        for (int64_t i = 0; i < n; i++) {
            const float y = x[i] / (s * s + 1.0f);
            const float vc = (y - cond[i]) * root / s, vu = (y - uncond[i]) * root / s;
            uncond[i] = vu + scale * (vc - vu);
            out[i] = vc;
        }
        const float ratio = (float) spread_ratio(out, uncond, n);
        for (int64_t i = 0; i < n; i++) {
            const float v = share * (uncond[i] * ratio) + (1.0f - share) * uncond[i];
            out[i] = x[i] / (s * s + 1.0f) - v * s / root;
        }
    }
}

static void guide(const nino_guide_run *r, const float *cond, float *uncond, double scale,
                  const float *x, float sigma, float *out)
{
    if (r->guider->model->rescale_cfg > 0) {
        rescaled(r, cond, uncond, (float) scale, x, sigma, out);
        return;
    }
    for (size_t i = 0; i < r->count; i++)
        out[i] = uncond[i] + (cond[i] - uncond[i]) * (float) scale;
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
