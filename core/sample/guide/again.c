// Patches of the MODEL that guide by one more evaluation, of a network made worse on purpose: without
// some blocks, with an attention that looks at nothing, of a blurred picture.
// Semantics: ComfyUI 0.33.0 comfy_extras/nodes_pag.py, nodes_sag.py, nodes_slg.py.
#include "core/sample/guide/guide_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

// The answer of list `kind` as the run's pass is now, to `to` (NULL under plan).
static nino_status evaluate_again(nino_guide_run *r, int kind, const float *x, float sigma,
                                  float *to, nino_error *err)
{
    bool wanted[NINO_COND_KINDS] = { false };
    float *kept = r->out[kind];
    wanted[kind] = true;
    r->out[kind] = to;
    const nino_status st = nino_guide_evaluate(r, wanted, x, sigma, err);
    r->out[kind] = kept;
    return st;
}

// ---- perturbed attention, skipped layers -----------------------------------------------------

static double spread_of(const float *v, size_t n)
{
    double mean = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        mean += (double) v[i] / (double) n;
    for (size_t i = 0; i < n; i++)
        sum += ((double) v[i] - mean) * ((double) v[i] - mean);
    return sqrt(sum / (double) (n > 1 ? n - 1 : 1));
}

static nino_status away_from(nino_guide_run *r, const nino_patch *p, const nino_guide_sides *g,
                             float *out, nino_error *err)
{
    const bool is_skip = p->kind == NINO_PATCH_SKIP;
    const float scale = (float) p->v[0];
    r->pass.is_perturbed = !is_skip;
    r->skip = is_skip ? (nino_skip){ p->doubles, p->singles } : (nino_skip){ 0 };
    const nino_status st = evaluate_again(r, g->cond_kind, g->x, g->sigma, r->spare, err);
    r->pass.is_perturbed = false;
    r->skip = (nino_skip){ 0 };
    if (st || nino_stream_is_plan(r->s))
        return st;
    for (size_t i = 0; i < r->count; i++)
        out[i] += (g->cond[i] - r->spare[i]) * scale;
    if (is_skip && p->v[1] != 0) {
        const double ratio = spread_of(g->cond, r->count) / spread_of(out, r->count);
        const float by = (float) (p->v[1] * ratio + 1 - p->v[1]);
        for (size_t i = 0; i < r->count; i++)
            out[i] *= by;
    }
    return NINO_OK;
}

// ---- self-attention guidance -----------------------------------------------------------------

#define BLUR 9 // cells of the kernel

static int64_t reflected(int64_t i, int64_t n)
{
    i = i < 0 ? -i : i;
    return i < n ? i : 2 * (n - 1) - i;
}

// Gaussian blur of x [h,w] with mirrored edges. half: h*w values.
static void blur(const float *x, int64_t h, int64_t w, double sigma, float *half, float *to)
{
    double k[BLUR], sum = 0;
    for (int i = 0; i < BLUR; i++) {
        const int off = i - BLUR / 2;
        sum += k[i] = sigma > 0 ? exp(-0.5 * pow(off / sigma, 2)) : off == 0;
    }
    for (int64_t y = 0; y < h; y++)
        for (int64_t v = 0; v < w; v++) {
            double at = 0;
            for (int i = 0; i < BLUR; i++)
                at += k[i] / sum * (double) x[y * w + reflected(v + i - BLUR / 2, w)];
            half[y * w + v] = (float) at;
        }
    for (int64_t y = 0; y < h; y++)
        for (int64_t v = 0; v < w; v++) {
            double at = 0;
            for (int i = 0; i < BLUR; i++)
                at += k[i] / sum * (double) half[reflected(y + i - BLUR / 2, h) * w + v];
            to[y * w + v] = (float) at;
        }
}

// Rows of the map's cells: a divisor of their number near to what the latent's sides tell.
static int64_t map_rows(int64_t total, int64_t h, int64_t w)
{
    const int64_t x = (int64_t) rint(sqrt((double) h / (double) w * (double) total));
    for (int64_t i = 0; i < (int64_t) floor(sqrt((double) total) / 2); i++) {
        const int64_t tries[2] = { x + i, x - i > 1 ? x - i : 1 };
        for (int k = 0; k < 2; k++)
            if (tries[k] > 0 && total % tries[k] == 0)
                return tries[k];
    }
    return 1;
}

// x0 blurred where more is looked at than on the average: to[count].
static nino_status degrade(const nino_guide_run *r, const float *x0, double sigma, float *to,
                           nino_error *err)
{
    const nino_attention_map *m = &r->map;
    const int64_t h = r->axis[0], w = r->axis[1], n = h * w;
    const int64_t rows = map_rows(m->n, h, w), columns = m->n / rows;
    float *half = malloc((size_t) n * sizeof(*half));
    if (!half)
        return nino_fail(err, NINO_ERR_NOMEM, "SelfAttentionGuidance", "out of memory");
    for (int64_t b = 0; b < r->batch; b++) {
        const float *map = m->weight + (b < m->rows ? b : m->rows - 1) * m->n;
        for (int64_t c = 0; c < r->channels; c++) {
            const float *v = x0 + (b * r->channels + c) * n;
            float *out = to + (b * r->channels + c) * n;
            blur(v, h, w, sigma, half, out);
            for (int64_t i = 0; i < n; i++)
                if (!(map[(i / w) * rows / h * columns + (i % w) * columns / w] > 1))
                    out[i] = v[i];
        }
    }
    free(half);
    return NINO_OK;
}

static nino_status self_attention(nino_guide_run *r, const nino_patch *p, const nino_guide_sides *g,
                                  float *out, nino_error *err)
{
    const bool is_plan = nino_stream_is_plan(r->s);
    const float scale = (float) p->v[0];
    nino_status st = NINO_OK;
    // A network without such an attention, a list without entries: nothing to guide by.
    if (r->n_axes != 2 || r->axis[0] <= 4 || r->axis[1] <= 4 || !r->has[g->uncond_kind])
        return NINO_OK;
    r->pass.map = NULL;
    if (is_plan)
        return evaluate_again(r, g->uncond_kind, NULL, g->sigma, NULL, err);
    if (!r->map.weight)
        return NINO_OK;
    float *degraded = calloc(r->count + 1, sizeof(*degraded));
    float *noisy = malloc(r->count * sizeof(*noisy));
    if (!degraded || !noisy)
        st = nino_fail(err, NINO_ERR_NOMEM, "SelfAttentionGuidance", "out of memory");
    if (!st)
        st = degrade(r, g->uncond, p->v[1], degraded, err);
    for (size_t i = 0; i < r->count && !st; i++)
        noisy[i] = degraded[i] + g->x[i] - g->uncond[i];
    if (!st)
        st = evaluate_again(r, g->uncond_kind, noisy, g->sigma, r->spare, err);
    for (size_t i = 0; i < r->count && !st; i++)
        out[i] += (degraded[i] - r->spare[i]) * scale;
    free(degraded);
    free(noisy);
    return st;
}

bool nino_guide_sees_self(const nino_guide_run *r)
{
    for (int i = 0; i < r->guider->model->n_patches; i++)
        if (r->guider->model->patch[i].kind == NINO_PATCH_SELF_ATTENTION)
            return true;
    return false;
}

nino_status nino_guide_again(nino_guide_run *r, const nino_patch *p, const nino_guide_sides *g,
                             float *out, nino_error *err)
{
    if (!r->spare && !nino_stream_is_plan(r->s) &&
        !(r->spare = malloc(r->count * sizeof(*r->spare))))
        return nino_fail(err, NINO_ERR_NOMEM, "", "no memory for guidance");
    if (p->kind == NINO_PATCH_SELF_ATTENTION)
        return self_attention(r, p, g, out, err);
    // Perturbed by nothing: as if it were not there.
    return p->v[0] != 0 ? away_from(r, p, g, out, err) : NINO_OK;
}
