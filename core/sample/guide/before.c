// What patches of the MODEL do to the two sides before guidance makes one answer of them.
// Semantics: ComfyUI 0.33.0 comfy_extras/nodes_tcfg.py, nodes_apg.py, nodes_fresca.py,
// nodes_latent.py.
#include "core/sample/guide/guide_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

// ---- TCFG ------------------------------------------------------------------------------------

// Kwon et al. 2025, "TCFG: Tangential Damping Classifier-free Guidance": of the noise that the
// negative side finds stays what lies along the first right singular vector of both sides' noise,
// v = (a e_u + b e_c) / |..| where (a, b) is the first eigenvector of the 2 x 2 Gram matrix.
static void tangential(const nino_guide_run *r, const float *cond, float *uncond, const float *x)
{
    const int64_t n = r->channels * r->cells;
    for (int64_t k = 0; k < r->batch; k++, cond += n, uncond += n, x += n) {
        double uu = 0, cc = 0, uc = 0;
        for (int64_t i = 0; i < n; i++) {
            const double eu = (double) (x[i] - uncond[i]), ec = (double) (x[i] - cond[i]);
            uu += eu * eu;
            cc += ec * ec;
            uc += eu * ec;
        }
        const double angle = 0.5 * atan2(2 * uc, uu - cc), a = cos(angle), b = sin(angle);
        const double square = a * a * uu + 2 * a * b * uc + b * b * cc;
        const double along = square > 0 ? (a * uu + b * uc) / square : 0;
        for (int64_t i = 0; i < n; i++) {
            const double eu = (double) (x[i] - uncond[i]), ec = (double) (x[i] - cond[i]);
            uncond[i] = (float) ((double) x[i] - along * (a * eu + b * ec));
        }
    }
}

// ---- APG -------------------------------------------------------------------------------------

typedef struct apg_past { // of one sampling
    float *sum;
    bool has_sum;
    float sigma; // of the evaluation before; INFINITY: none
} apg_past;

// Sadat et al. 2024, "Eliminating Oversaturation and Artifacts of High Guidance Scales in Diffusion
// Models": less of what lies along the positive side's answer. ComfyUI measures over the last three
// axes, which leaves a video's channels apart.
static void apg_project(const nino_guide_run *r, const nino_patch *p, const nino_guide_sides *g,
                        const float *guidance, float *cond)
{
    const int64_t parts = r->batch * (r->n_axes == 3 ? r->channels : 1);
    const int64_t n = (int64_t) r->count / parts;
    for (int64_t b = 0; b < parts; b++, guidance += n, cond += n) {
        const float *u = g->uncond + b * n;
        double length = 0, own = 0, dot = 0;
        for (int64_t i = 0; i < n; i++) {
            length += (double) guidance[i] * (double) guidance[i];
            own += (double) cond[i] * (double) cond[i];
            dot += (double) guidance[i] * (double) cond[i];
        }
        const double by = p->v[1] > 0 ? fmin(1, p->v[1] / sqrt(length)) : 1;
        const double along = by * dot / fmax(own, 1e-24);
        for (int64_t i = 0; i < n; i++) {
            const double parallel = along * (double) cond[i];
            const double rest = by * (double) guidance[i] - parallel;
            cond[i] = (float) ((double) u[i] + rest + p->v[0] * parallel +
                               (double) (cond[i] - u[i]) / (double) g->scale);
        }
    }
}

static nino_status apg(nino_guide_run *r, int at, const nino_guide_sides *g, float *cond,
                       nino_error *err)
{
    const nino_patch *p = &r->guider->model->patch[at];
    apg_past *past = r->memory[at];
    float *guidance = calloc(r->count + 1, sizeof(*guidance));
    if (!past && (past = r->memory[at] = calloc(1, sizeof(*past))))
        past->sigma = INFINITY;
    if (past && !past->sum)
        past->sum = calloc(r->count + 1, sizeof(*past->sum));
    if (!guidance || !past || !past->sum) {
        free(guidance);
        return nino_fail(err, NINO_ERR_NOMEM, "APG", "no memory for guidance");
    }
    if (g->sigma > past->sigma)
        past->has_sum = false;
    past->sigma = g->sigma;
    for (size_t i = 0; i < r->count; i++) {
        guidance[i] = cond[i] - g->uncond[i];
        if (p->v[2] != 0 && past->has_sum)
            guidance[i] += (float) p->v[2] * past->sum[i];
    }
    memcpy(past->sum, guidance, r->count * sizeof(*guidance));
    past->has_sum = true;
    apg_project(r, p, g, guidance, cond);
    free(guidance);
    return NINO_OK;
}

void nino_guide_forget_apg(void *past)
{
    if (past)
        free(((apg_past *) past)->sum);
    free(past);
}

// ---- FreSca ----------------------------------------------------------------------------------

// Kernel of the frequencies -cut .. cut - 1 of n cells: re and im of 1/n sum exp(2 pi i f d / n)
// for d = 0 .. n - 1.
static void low_kernel(int64_t n, int64_t cut, double *re, double *im)
{
    const int64_t f_most = cut < n / 2 ? cut : n / 2;
    for (int64_t d = 0; d < n; d++) {
        re[d] = im[d] = 0;
        for (int64_t f = -f_most; f < f_most; f++) {
            const double turn = 2 * M_PI * (double) (f * d % n) / (double) n;
            re[d] += cos(turn) / (double) n;
            im[d] += sin(turn) / (double) n;
        }
    }
}

// Whether a plane has low frequencies at all: ComfyUI cuts time as it cuts space, but does not
// transform it, so that the last of an odd number of frames has none.
static bool has_low(const nino_guide_run *r, int64_t plane, int64_t cut)
{
    const int64_t n = r->axis[0], t = plane % n;
    const int64_t most = cut < n / 2 ? cut : n / 2;
    return r->n_axes < 3 || (t >= n / 2 - most && t < n / 2 + most);
}

// The real part of what v [h,w] has of the low frequencies, added to it. k: kernels of rows and
// columns, 2 (h + w) values; half: 2 h w.
static void add_low(float *v, int64_t h, int64_t w, const double *k, double *half)
{
    const double *row = k, *column = k + 2 * h;
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            double re = 0, im = 0;
            for (int64_t i = 0; i < w; i++) {
                const int64_t d = (x - i + w) % w;
                re += (double) v[y * w + i] * column[d];
                im += (double) v[y * w + i] * column[w + d];
            }
            half[2 * (y * w + x)] = re;
            half[2 * (y * w + x) + 1] = im;
        }
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            double re = 0;
            for (int64_t i = 0; i < h; i++) {
                const int64_t d = (y - i + h) % h;
                re += half[2 * (i * w + x)] * row[d] - half[2 * (i * w + x) + 1] * row[h + d];
            }
            v[y * w + x] += (float) re;
        }
}

// Huang et al. 2025, "FreSca: Scaling in Frequency Space Enhances Diffusion Models".
static nino_status fresca(const nino_guide_run *r, const nino_patch *p, const float *uncond,
                          float *cond, nino_error *err)
{
    const int64_t h = r->axis[r->n_axes - 2], w = r->axis[r->n_axes - 1];
    const int64_t planes = (int64_t) r->count / (h * w);
    double *k = calloc((size_t) (2 * (h + w)), sizeof(*k));
    double *half = calloc((size_t) (2 * h * w), sizeof(*half));
    float *v = calloc((size_t) (h * w), sizeof(*v));
    nino_status st =
        k && half && v ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, "FreSca", "out of memory");
    if (!st) {
        low_kernel(h, (int64_t) p->v[2], k, k + h);
        low_kernel(w, (int64_t) p->v[2], k + 2 * h, k + 2 * h + w);
    }
    for (int64_t i = 0; i < planes && !st; i++, cond += h * w, uncond += h * w) {
        for (int64_t c = 0; c < h * w; c++)
            v[c] = cond[c] -= uncond[c];
        if (has_low(r, i, (int64_t) p->v[2]))
            add_low(v, h, w, k, half);
        for (int64_t c = 0; c < h * w; c++) { // v - cond: the low ones
            const float low = v[c] - cond[c];
            cond[c] = uncond[c] + (float) p->v[1] * (cond[c] - low) + (float) p->v[0] * low;
        }
    }
    free(k);
    free(half);
    free(v);
    return st;
}

// ---- all of them -----------------------------------------------------------------------------

nino_status nino_guide_before(nino_guide_run *r, const nino_guide_sides *g, float *cond,
                              float *uncond, bool has_uncond, nino_error *err)
{
    const nino_model *m = r->guider->model;
    nino_status st = NINO_OK;
    for (int i = 0; i < m->n_patches && !st; i++)
        switch (m->patch[i].kind) {
        case NINO_PATCH_TCFG:
            if (has_uncond)
                tangential(r, cond, uncond, g->x);
            break;
        case NINO_PATCH_APG: st = apg(r, i, g, cond, err); break;
        case NINO_PATCH_FRESCA: st = fresca(r, &m->patch[i], uncond, cond, err); break;
        case NINO_PATCH_TONEMAP:
        case NINO_PATCH_SHARPEN:
            for (size_t k = 0; k < r->count; k++)
                cond[k] -= uncond[k];
            st = nino_latent_operate(&m->patch[i], cond, r->batch, r->channels, r->axis, r->n_axes,
                                     err);
            for (size_t k = 0; k < r->count; k++)
                cond[k] += uncond[k];
            break;
        default: break;
        }
    return st;
}
