// How the two sides make one answer, and what patches of the MODEL do to them before and to it
// afterwards: everything that needs no other evaluation.
// Semantics: ComfyUI 0.33.0 comfy/samplers.py (cfg_function) and the nodes named at each function;
// rescaled guidance: Lin et al. 2023, "Common Diffusion Noise Schedules and Sample Steps are
// Flawed", section 3.4.
#include "core/sample/guide/guide_priv.h"

#include <math.h>

// ---- how the two sides make one --------------------------------------------------------------

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

static void rescaled(const nino_guide_run *r, float share, const float *cond, const float *uncond,
                     float scale, const float *x, float s, float *out)
{
    const int64_t n = r->channels * r->cells;
    const float root = sqrtf(s * s + 1.0f);
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
static void normed(const nino_guide_run *r, float share, const float *cond, const float *uncond,
                   float scale, const float *x, float *out)
{
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

// Towards the positive side alone as far as the guided answer differs from the negative side.
static void post_mahiro(const nino_guide_run *r, const float *cond, const float *uncond,
                        float scale, float *out)
{
    const int64_t n = r->channels * r->cells;
    double sum = 0; // of cosines, over the whole batch
    for (int64_t b = 0; b < r->batch; b++)
        for (int64_t i = 0; i < r->cells; i++) {
            double dot = 0, uu = 0, mm = 0;
            for (int64_t k = b * n + i; k < (b + 1) * n; k += r->cells) {
                const double u = (double) (scale * uncond[k]);
                const double m = (double) ((scale * cond[k] + out[k]) * 0.5f);
                const double ru = copysign(sqrt(fabs(u)), u), rm = copysign(sqrt(fabs(m)), m);
                dot += ru * rm;
                uu += ru * ru;
                mm += rm * rm;
            }
            sum += dot / sqrt(fmax(uu, 1e-16) * fmax(mm, 1e-16));
        }
    const float w = (float) (2 * (sum / (double) (r->batch * r->cells) + 1));
    for (size_t i = 0; i < r->count; i++)
        out[i] = (w * out[i] + (4 - w) * (scale * cond[i])) / 4;
}

static void post_epsilon(const nino_guide_run *r, double by, const float *x, float *out)
{
    const float factor = by == 0 ? 1e-9f : (float) by;
    for (size_t i = 0; i < r->count; i++)
        out[i] = x[i] - (x[i] - out[i]) / factor;
}

// Temporal Score Rescaling (arXiv 2510.01184), equation 6.
static void post_tsr(const nino_guide_run *r, const nino_patch *p, const float *x, float sigma,
                     float *out)
{
    const double s = (double) sigma, variance = p->v[1] * p->v[1];
    const bool is_flow = nino_sampling_is_flow(r->sampling);
    const double root = is_flow ? (1 - s) / s : 1 / s; // of the ratio of signal to noise
    const double snr = root * root;
    if (snr == 0)
        return;
    const double by = isinf(snr) ? p->v[0] : (snr * variance + 1) / (snr * variance / p->v[0] + 1);
    const float alpha = (float) (s * root), share = (float) by;
    for (size_t i = 0; i < r->count; i++)
        out[i] = x[i] / alpha + share * (out[i] - x[i] / alpha);
}

void nino_guide_post(const nino_guide_run *r, const nino_patch *p, const nino_guide_sides *g,
                     float *out)
{
    switch (p->kind) {
    case NINO_PATCH_POST_NORM: post_norm(r, (float) p->v[0], g->cond, out); break;
    case NINO_PATCH_ZERO_STAR: post_zero_star(r, g->cond, g->uncond, g->scale, g->x, out); break;
    case NINO_PATCH_MAHIRO: post_mahiro(r, g->cond, g->uncond, g->scale, out); break;
    case NINO_PATCH_EPSILON: post_epsilon(r, p->v[0], g->x, out); break;
    case NINO_PATCH_TSR: post_tsr(r, p, g->x, g->sigma, out); break;
    default: break;
    }
}

// ---- the two sides make one ------------------------------------------------------------------

// Lumina's: no guidance early on, and no picture longer than the positive side's times a factor.
static void renormed(const nino_guide_run *r, const nino_patch *p, const nino_guide_sides *g,
                     float *out)
{
    const bool is_guided = (double) g->sigma < p->v[0];
    const int64_t n = r->channels * r->cells;
    for (int64_t b = 0; b < r->batch; b++, out += n) {
        const float *c = g->cond + b * n, *u = g->uncond + b * n;
        double had = 0, most = 0;
        for (int64_t i = 0; i < n; i++) {
            out[i] = is_guided ? u[i] + g->scale * (c[i] - u[i]) : c[i];
            had += (double) out[i] * (double) out[i];
            most += (double) c[i] * (double) c[i];
        }
        const double by = p->v[1] * sqrt(most) / sqrt(had);
        for (int64_t i = 0; i < n && is_guided && p->v[1] > 0 && by <= 1; i++)
            out[i] *= (float) by;
    }
}

// Guidance of its own for each picture of the batch, which are a clip's.
static void by_frame(const nino_guide_run *r, const nino_patch *p, const nino_guide_sides *g,
                     float *out)
{
    const int64_t n = r->channels * r->cells;
    for (int64_t b = 0; b < r->batch; b++) {
        const double at = r->batch > 1 ? (double) b / (double) (r->batch - 1) : 0;
        const double share = p->kind == NINO_PATCH_LINEAR_CFG ? at : 2 * fabs(at - floor(at + 0.5));
        const float by = (float) (share * ((double) g->scale - p->v[0]) + p->v[0]);
        for (int64_t i = b * n; i < (b + 1) * n; i++)
            out[i] = g->uncond[i] + by * (g->cond[i] - g->uncond[i]);
    }
}

void nino_guide_mix(const nino_guide_run *r, const nino_guide_sides *g, float *out)
{
    const nino_model *m = r->guider->model;
    const nino_patch *p = NULL;
    for (int i = 0; i < m->n_patches; i++)
        if (m->patch[i].kind <= NINO_PATCH_TRIANGLE_CFG)
            p = &m->patch[i];
    if (p && p->kind == NINO_PATCH_RESCALE && p->v[0] > 0) // 0: as if it were not there
        rescaled(r, (float) p->v[0], g->cond, g->uncond, g->scale, g->x, g->sigma, out);
    else if (p && p->kind == NINO_PATCH_NORM)
        normed(r, (float) p->v[0], g->cond, g->uncond, g->scale, g->x, out);
    else if (p && p->kind == NINO_PATCH_RENORM)
        renormed(r, p, g, out);
    else if (p && p->kind != NINO_PATCH_RESCALE)
        by_frame(r, p, g, out);
    else
        for (size_t i = 0; i < r->count; i++)
            out[i] = g->uncond[i] + (g->cond[i] - g->uncond[i]) * g->scale;
}
