// The guided denoiser: which entries apply at a sigma, their weighted mean where they overlap, and
// classifier-free guidance over the lists.
// Semantics: ComfyUI 0.3.64 comfy/samplers.py (calc_cond_batch, CFGGuider),
// comfy_extras/nodes_custom_sampler.py (Guider_DualCFG), nodes_perpneg.py.
#include "core/sample/guide/guide_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/op/backend.h"

#define NOTHING 1e-37f // weight of a cell that no entry reaches

// ---- lists -----------------------------------------------------------------------------------

bool nino_guide_applies(const nino_guide_run *r, int i, float sigma)
{
    const nino_patch *p = &r->guider->model->patch[i];
    if (!p->has_range)
        return true;
    const double first =
        p->is_in_sigmas ? p->start : nino_sampling_percent_to_sigma(r->sampling, p->start);
    const double last =
        p->is_in_sigmas ? p->end : nino_sampling_percent_to_sigma(r->sampling, p->end);
    return (double) sigma <= first &&
           (p->ends_before ? (double) sigma > last : (double) sigma >= last);
}

static void set_pass(nino_guide_run *r, float sigma)
{
    const nino_model *m = r->guider->model;
    r->pass.patch = m->patch;
    r->pass.n_patches = m->n_patches;
    r->pass.images = r->batch;
    r->pass.active = 0;
    for (int i = 0; i < m->n_patches; i++)
        if (m->patch[i].kind >= NINO_PATCH_FREEU && nino_guide_applies(r, i, sigma))
            r->pass.active |= (uint32_t) 1 << i;
}

// ADAPTIVE: entries together or one by one, as earlier evaluations of the same were faster.
typedef struct adaptive_time {
    nino_hash key;
    uint64_t begin, once; // once: what another evaluation would not take
    bool is_on;
} adaptive_time;

static uint64_t once_of(const nino_backend *be) { return be->load_ns + be->build_ns; }

static void adaptive_begin(nino_guide_run *r, int n, adaptive_time *t)
{
    nino_backend *be = nino_stream_backend(r->s);
    *t = (adaptive_time){ .is_on = n > 1 && be->paces && !r->one_by_one &&
                                   !nino_stream_is_plan(r->s) &&
                                   nino_acts(&be->profile, NINO_POLICY_ADAPTIVE) &&
                                   nino_acts(&be->profile, NINO_POLICY_BATCHING) };
    r->is_apart = false;
    if (!t->is_on)
        return;
    struct { // without holes
        char name[128];
        int64_t axis[NINO_MAX_AXES], batch, n, type;
    } what = { .batch = r->batch, .n = n, .type = (int64_t) nino_stream_act_type(r->s) };
    snprintf(what.name, sizeof(what.name), "%s", r->net->name);
    memcpy(what.axis, r->axis, sizeof(what.axis));
    t->key = nino_hash_bytes(&what, sizeof(what));
    r->is_apart = nino_pace_choose(be->paces, t->key) == 1;
    t->once = once_of(be);
    t->begin = nino_now_ns();
}

static void adaptive_end(nino_guide_run *r, const adaptive_time *t)
{
    nino_backend *be = nino_stream_backend(r->s);
    // One that compiled or loaded says little of the next.
    if (!t->is_on || once_of(be) != t->once || nino_stream_status(r->s, NULL) || r->err.code)
        return;
    nino_pace_note(be->paces, t->key, r->is_apart, (double) (nino_now_ns() - t->begin) * 1e-9);
}

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
    set_pass(r, sigma);
    nino_guide_reuse_begin(r);
    adaptive_time t;
    adaptive_begin(r, n, &t);
    for (int at = 0; at < n && !nino_stream_status(r->s, NULL) && !r->err.code;) {
        const int k = nino_guide_choose(r, p + at, n - at);
        nino_guide_run_batch(r, p + at, k, x, sigma);
        at += k;
    }
    adaptive_end(r, &t);
    free(p);
    r->evaluations++;
    if (r->err.code && err)
        *err = r->err;
    return r->err.code ? r->err.code : nino_stream_status(r->s, err);
}

static void clear_sum(nino_guide_run *r, int k)
{
    memset(r->out[k], 0, r->count * sizeof(float));
    for (int64_t i = 0; i < r->batch * r->cells; i++)
        r->weight[k][i] = NOTHING;
}

// out = the weighted mean; a cell that no entry reached is 0.
static void take_mean(nino_guide_run *r, int k)
{
    for (int64_t b = 0; b < r->batch * r->channels; b++)
        for (int64_t i = 0; i < r->cells; i++)
            r->out[k][b * r->cells + i] /= r->weight[k][b / r->channels * r->cells + i];
}

nino_status nino_guide_evaluate(nino_guide_run *r, const bool *wanted, const float *x, float sigma,
                                nino_error *err)
{
    const bool is_plan = nino_stream_is_plan(r->s);
    for (int k = 0; k < NINO_COND_KINDS && !is_plan; k++)
        if (wanted[k])
            clear_sum(r, k);
    const nino_status st = evaluate(r, wanted, x, sigma, err);
    for (int k = 0; k < NINO_COND_KINDS && !is_plan && !st; k++)
        if (wanted[k])
            take_mean(r, k);
    return st;
}

// ---- guidance --------------------------------------------------------------------------------

// Two lists make one answer, with all that patches do to it. Under plan only what is evaluated
// counts.
static nino_status guide(nino_guide_run *r, int cond, int uncond, double scale, const float *x,
                         float sigma, float *out, nino_error *err)
{
    const nino_model *m = r->guider->model;
    const nino_guide_sides g = { .cond = r->out[cond],
                                 .uncond = r->out[uncond],
                                 .x = x,
                                 .scale = (float) scale,
                                 .sigma = sigma,
                                 .cond_kind = cond,
                                 .uncond_kind = uncond };
    const bool is_plan = nino_stream_is_plan(r->s);
    nino_status st = NINO_OK;
    if (!is_plan && r->guider->kind != NINO_GUIDE_PERP_NEG)
        nino_guide_mix(r, &g, out);
    for (int i = 0; i < m->n_patches && !st; i++) {
        const nino_patch *p = &m->patch[i];
        const bool is_again = p->kind == NINO_PATCH_PERTURBED || p->kind == NINO_PATCH_SKIP ||
                              p->kind == NINO_PATCH_SELF_ATTENTION;
        if (is_again && nino_guide_applies(r, i, sigma))
            st = nino_guide_again(r, p, &g, out, err);
        else if (!is_again && !is_plan)
            nino_guide_post(r, p, &g, out);
    }
    return st;
}

static bool is_one(double v) { return fabs(v - 1) <= 1e-9 * fmax(fabs(v), 1); }

static nino_status dual(nino_guide_run *r, const float *x, float sigma, float *denoised,
                        float *uncond, nino_error *err)
{
    enum { POS = NINO_COND_POSITIVE, MID = NINO_COND_MIDDLE, NEG = NINO_COND_NEGATIVE };
    const nino_guider *g = r->guider;
    const bool is_plan = nino_stream_is_plan(r->s);
    float *const *o = r->out;
    nino_status st;
    if (uncond && !is_plan)
        memcpy(uncond, g->is_nested ? o[MID] : o[NEG], r->count * sizeof(*uncond));
    if (g->is_nested)
        st = guide(r, POS, MID, g->cfg, x, sigma, denoised, err);
    else
        st = guide(r, MID, NEG, g->cfg2, x, sigma, denoised, err);
    for (size_t i = 0; i < r->count && !st && !is_plan; i++)
        if (g->is_nested)
            denoised[i] = o[NEG][i] + (float) g->cfg2 * (denoised[i] - o[NEG][i]);
        else
            denoised[i] += (o[POS][i] - o[MID][i]) * (float) g->cfg;
    return st;
}

// Armandpour et al. 2023, "Re-imagine the Negative Prompt Algorithm": of the negative side only what
// stands at a right angle to the positive one, over the whole batch.
static void perp_neg(const nino_guide_run *r, float *out)
{
    const float *pos = r->out[NINO_COND_POSITIVE], *neg = r->out[NINO_COND_NEGATIVE];
    const float *none = r->out[NINO_COND_MIDDLE];
    const float scale = (float) r->guider->cfg, strength = (float) r->guider->cfg2;
    double dot = 0, square = 0;
    for (size_t i = 0; i < r->count; i++) {
        const double p = (double) (pos[i] - none[i]);
        dot += (double) (neg[i] - none[i]) * p;
        square += p * p;
    }
    const float along = (float) (dot / square);
    for (size_t i = 0; i < r->count; i++) {
        const float p = pos[i] - none[i], perp = neg[i] - none[i] - along * p;
        out[i] = none[i] + scale * (p - perp * strength);
    }
}

// CFGOverride: the last one whose range this is.
static double scale_at(const nino_guide_run *r, float sigma)
{
    const nino_model *m = r->guider->model;
    double scale = r->guider->kind == NINO_GUIDE_BASIC ? 1.0 : r->guider->cfg;
    for (int i = 0; i < m->n_patches && r->guider->kind != NINO_GUIDE_BASIC; i++)
        if (m->patch[i].kind == NINO_PATCH_CFG && nino_guide_applies(r, i, sigma))
            scale = m->patch[i].v[0];
    return scale;
}

// Patches that want the negative side whatever the guidance.
static bool needs_negative(const nino_guide_run *r)
{
    for (int i = 0; i < r->guider->model->n_patches; i++)
        if (r->guider->model->patch[i].kind == NINO_PATCH_SELF_ATTENTION ||
            r->guider->model->patch[i].kind == NINO_PATCH_NAG)
            return true;
    return false;
}

// SkipLayerGuidanceDiTSimple: the blocks that the negative side leaves out; false: none.
static bool negative_skip(const nino_guide_run *r, float sigma, nino_skip *skip)
{
    const nino_model *m = r->guider->model;
    *skip = (nino_skip){ 0 };
    for (int i = 0; i < m->n_patches; i++)
        if (m->patch[i].kind == NINO_PATCH_SKIP_NEGATIVE && nino_guide_applies(r, i, sigma))
            *skip = (nino_skip){ m->patch[i].doubles, m->patch[i].singles };
    return skip->doubles || skip->singles;
}

// Both sides, perhaps of two networks, perhaps one after the other.
static nino_status evaluate_sides(nino_guide_run *r, bool *wanted, const float *x, float sigma,
                                  nino_error *err)
{
    nino_skip skip;
    if (r->other) {
        const bool own[NINO_COND_KINDS] = { [NINO_COND_POSITIVE] = true };
        const nino_status st = nino_guide_evaluate(r, own, x, sigma, err);
        return st || !wanted[NINO_COND_NEGATIVE]
                   ? st
                   : nino_guide_evaluate(r->other, own, x, sigma, err);
    }
    if (!wanted[NINO_COND_NEGATIVE] || !negative_skip(r, sigma, &skip))
        return nino_guide_evaluate(r, wanted, x, sigma, err);
    const bool negative[NINO_COND_KINDS] = { [NINO_COND_NEGATIVE] = true };
    wanted[NINO_COND_NEGATIVE] = false;
    nino_status st = nino_guide_evaluate(r, wanted, x, sigma, err);
    r->skip = skip;
    if (!st)
        st = nino_guide_evaluate(r, negative, x, sigma, err);
    r->skip = (nino_skip){ 0 };
    return st;
}

static void choose_sides(const nino_guide_run *r, double scale, bool has_uncond, bool *wanted)
{
    const nino_guider *g = r->guider;
    for (int k = 0; k < NINO_COND_KINDS; k++)
        wanted[k] = true;
    // Guidance of 1 has no use for the negative side, unless the sampler has.
    if ((g->kind == NINO_GUIDE_CFG || g->kind == NINO_GUIDE_DUAL_MODEL || g->is_patched) &&
        !has_uncond)
        wanted[NINO_COND_NEGATIVE] = !is_one(scale) || needs_negative(r);
    if (g->kind == NINO_GUIDE_DUAL_CFG && !g->is_nested && !has_uncond && is_one(g->cfg2)) {
        wanted[NINO_COND_NEGATIVE] = false;
        wanted[NINO_COND_MIDDLE] = !is_one(g->cfg);
    }
}

nino_status nino_guide_denoise(nino_guide_run *r, const float *x, float sigma, float *denoised,
                               float *uncond, nino_error *err)
{
    const nino_guider *g = r->guider;
    const bool is_plan = nino_stream_is_plan(r->s);
    float *pos = r->out[NINO_COND_POSITIVE], *neg = r->out[NINO_COND_NEGATIVE];
    const double scale = scale_at(r, sigma);
    bool wanted[NINO_COND_KINDS];
    if (!is_plan && !uncond && nino_guide_reuse(r, x, sigma, denoised))
        return NINO_OK;
    choose_sides(r, scale, uncond != NULL, wanted);
    for (int k = 0; k < NINO_COND_KINDS && !is_plan; k++) // of a list that is left out: 0
        memset(r->out[k], 0, r->count * sizeof(float));
    r->pass.map = nino_guide_sees_self(r) ? &r->map : NULL;
    nino_status st = evaluate_sides(r, wanted, x, sigma, err);
    if (st)
        return st;
    if (g->kind == NINO_GUIDE_DUAL_CFG)
        return dual(r, x, sigma, denoised, uncond, err);
    if (!is_plan) {
        const nino_guide_sides sides = {
            .cond = pos, .uncond = neg, .x = x, .scale = (float) scale, .sigma = sigma
        };
        const bool has_negative = r->has[NINO_COND_NEGATIVE] && wanted[NINO_COND_NEGATIVE];
        if ((st = nino_guide_before(r, &sides, pos, neg, has_negative || r->other, err)))
            return st;
        if (uncond)
            memcpy(uncond, neg, r->count * sizeof(*uncond));
        if (g->kind == NINO_GUIDE_PERP_NEG)
            perp_neg(r, denoised);
    }
    st = guide(r, NINO_COND_POSITIVE, NINO_COND_NEGATIVE, scale, x, sigma, denoised, err);
    r->pass.map = NULL;
    if (!st && !is_plan)
        nino_guide_keep(r, x, sigma, denoised);
    return st;
}
