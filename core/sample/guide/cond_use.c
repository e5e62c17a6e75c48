// Conditioning of one run: areas and masks in cells of the latent, ranges as sigmas, entries that
// complete the other lists, and the weight of every entry in every cell.
// Semantics: ComfyUI 0.3.64 comfy/samplers.py (resolve_areas_and_cond_masks_multidim,
// calculate_start_end_timesteps, create_cond_with_same_area_if_none, get_area_and_mult).
#include "core/sample/guide/guide_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

#define FEATHER 8 // cells over which the edge of an area fades
#define MIN_BOUNDS 8

void nino_guide_set_shape(nino_guide_run *r, const nino_shape *latent)
{
    r->n_axes = latent->rank - 2;
    r->batch = latent->dim[0];
    r->channels = latent->dim[latent->rank - 1];
    r->cells = 1;
    for (int i = 0; i < r->n_axes; i++)
        r->cells *= r->axis[i] = latent->dim[i + 1];
    r->count = (size_t) (r->batch * r->channels * r->cells);
}

// ---- areas and masks -------------------------------------------------------------------------

static int64_t *cond_use_rows(nino_guide_run *r) { return &r->axis[r->n_axes - 2]; }

// An area of pictures covers every frame of a video.
static void cond_use_set_area(const nino_guide_run *r, nino_cond_use *u, int64_t h, int64_t w,
                              int64_t y, int64_t x)
{
    const int i = r->n_axes - 2;
    u->has_area = true;
    for (int k = 0; k < i; k++) {
        u->size[k] = r->axis[k];
        u->at[k] = 0;
    }
    u->size[i] = h;
    u->size[i + 1] = w;
    u->at[i] = y;
    u->at[i + 1] = x;
}

static void resolve_area(nino_guide_run *r, nino_cond_use *u)
{
    const nino_cond_entry *e = u->entry;
    const double h = (double) cond_use_rows(r)[0], w = (double) cond_use_rows(r)[1];
    if (e->area_kind == NINO_AREA_CELLS)
        cond_use_set_area(r, u, (int64_t) e->area_h, (int64_t) e->area_w, (int64_t) e->area_y,
                          (int64_t) e->area_x);
    else if (e->area_kind == NINO_AREA_FRACTION)
        cond_use_set_area(r, u, (int64_t) fmax(1, rint(e->area_h * h)),
                          (int64_t) fmax(1, rint(e->area_w * w)), (int64_t) rint(e->area_y * h),
                          (int64_t) rint(e->area_x * w));
}

// The box of what is not zero in any mask of the batch.
static void area_of_mask(nino_guide_run *r, nino_cond_use *u)
{
    const nino_shape *s = &u->mask->shape;
    int64_t y0 = s->dim[1], y1 = -1, x0 = s->dim[2], x1 = -1;
    const float *m = nino_array_f32(u->mask);
    for (int64_t n = 0; n < s->dim[0]; n++)
        for (int64_t y = 0; y < s->dim[1]; y++)
            for (int64_t x = 0; x < s->dim[2]; x++)
                if (*m++ != 0) {
                    y0 = y < y0 ? y : y0;
                    y1 = y > y1 ? y : y1;
                    x0 = x < x0 ? x : x0;
                    x1 = x > x1 ? x : x1;
                }
    if (y1 < 0) { // nothing will come of it: as small as may be
        cond_use_set_area(r, u, MIN_BOUNDS, MIN_BOUNDS, 0, 0);
        return;
    }
    const int64_t h = y1 - y0 + 1, w = x1 - x0 + 1;
    cond_use_set_area(r, u, h < MIN_BOUNDS ? MIN_BOUNDS : h, w < MIN_BOUNDS ? MIN_BOUNDS : w, y0,
                      x0);
}

static nino_status resolve_mask(nino_guide_run *r, nino_cond_use *u, nino_error *err)
{
    const nino_array *m = u->entry->mask;
    if (!m)
        return NINO_OK;
    if (m->shape.rank != 3 || m->dtype != NINO_F32)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", "mask",
                              "a conditioning mask has three dimensions");
    nino_array flat = *m; // one channel
    flat.shape = NINO_SHAPE(m->shape.dim[0], m->shape.dim[1], m->shape.dim[2], 1);
    if (m->shape.dim[1] == cond_use_rows(r)[0] && m->shape.dim[2] == cond_use_rows(r)[1]) {
        u->mask = nino_array_ref((nino_array *) m);
    } else {
        u->mask = nino_planes_scale(&flat, cond_use_rows(r)[0], cond_use_rows(r)[1],
                                    NINO_FILTER_BILINEAR, false, err);
        if (!u->mask)
            return err ? err->code : NINO_ERR_NOMEM;
        u->mask->shape = NINO_SHAPE(m->shape.dim[0], cond_use_rows(r)[0], cond_use_rows(r)[1]);
    }
    if (u->entry->mask_bounds)
        area_of_mask(r, u);
    return NINO_OK;
}

// ---- lists -----------------------------------------------------------------------------------

static nino_cond_use *cond_use_add(nino_cond_list *l, nino_error *err)
{
    if (l->n == l->cap) {
        const int cap = l->cap ? l->cap * 2 : 4;
        nino_cond_use *u = realloc(l->use, (size_t) cap * sizeof(*u));
        if (!u) {
            nino_fail(err, NINO_ERR_NOMEM, "", "no memory for conditioning");
            return NULL;
        }
        l->use = u;
        l->cap = cap;
    }
    l->use[l->n] = (nino_cond_use){ .first = INFINITY, .last = 0 };
    return &l->use[l->n++];
}

static nino_status read_list(nino_guide_run *r, int kind, const nino_cond *c, nino_error *err)
{
    for (int i = 0; i < c->n; i++) {
        const nino_cond_entry *e = &c->entry[i];
        nino_cond_use *u = cond_use_add(&r->list[kind], err);
        if (!u)
            return NINO_ERR_NOMEM;
        u->entry = e;
        u->is_negative = kind == NINO_COND_NEGATIVE;
        u->control = e->control_net ? nino_control_use_of(e->control_net) : NULL;
        if (e->start > 0)
            u->first = nino_sampling_percent_to_sigma(r->sampling, e->start);
        if (e->end < 1)
            u->last = nino_sampling_percent_to_sigma(r->sampling, e->end);
        resolve_area(r, u);
        nino_status st = resolve_mask(r, u, err);
        if (!st)
            st = nino_cond_model_make(r, e, kind, &r->models[r->n_models], err);
        if (st)
            return st;
        u->model = &r->models[r->n_models++];
    }
    return NINO_OK;
}

static bool is_cond_use_inside(const nino_guide_run *r, const nino_cond_use *a,
                               const nino_cond_use *outer)
{
    for (int i = 0; i < r->n_axes; i++)
        if (a->at[i] < outer->at[i] || a->at[i] + a->size[i] > outer->at[i] + outer->size[i])
            return false;
    return true;
}

static int64_t area_cells(const nino_guide_run *r, const nino_cond_use *u)
{
    int64_t n = 1;
    for (int i = 0; i < r->n_axes; i++)
        n *= u->size[i];
    return n;
}

static bool same_area(const nino_guide_run *r, const nino_cond_use *a, const nino_cond_use *b)
{
    return !memcmp(a->size, b->size, (size_t) r->n_axes * sizeof(a->size[0])) &&
           !memcmp(a->at, b->at, (size_t) r->n_axes * sizeof(a->at[0]));
}

// The other list gets an entry of the same area, which says what its smallest entry around that
// area says; nothing if there is none or it has this very area.
static nino_status cond_use_complete(nino_guide_run *r, nino_cond_list *l, const nino_cond_use *c,
                                     nino_error *err)
{
    const nino_cond_use *best = NULL;
    if (!c->has_area)
        return NINO_OK;
    for (const nino_cond_use *x = l->use; x < l->use + l->n; x++) {
        if (!x->has_area)
            best = best ? best : x;
        else if (is_cond_use_inside(r, c, x) &&
                 (!best || !best->has_area || area_cells(r, best) > area_cells(r, x)))
            best = x;
    }
    if (!best || (best->has_area && same_area(r, best, c)))
        return NINO_OK;
    const nino_cond_model *model = best->model;
    nino_cond_use copy = *c; // c may not live in l, but best does, and l may move
    copy.model = model;
    copy.is_negative = best->is_negative;
    copy.mask = nino_array_ref(c->mask);
    nino_cond_use *u = cond_use_add(l, err);
    if (!u) {
        nino_array_unref(&copy.mask);
        return NINO_ERR_NOMEM;
    }
    *u = copy;
    return NINO_OK;
}

static nino_status complete_all(nino_guide_run *r, nino_error *err)
{
    for (int k = 0; k < NINO_COND_KINDS; k++)
        for (int i = 0; i < r->list[k].n; i++)
            for (int other = 0; other < NINO_COND_KINDS; other++) {
                if (other == k || !r->has[other])
                    continue;
                const nino_status st =
                    cond_use_complete(r, &r->list[other], &r->list[k].use[i], err);
                if (st)
                    return st;
            }
    return NINO_OK;
}

// ---- weights ---------------------------------------------------------------------------------

static nino_status fit_area(const nino_guide_run *r, nino_cond_use *u, nino_error *err)
{
    for (int i = 0; i < r->n_axes; i++) {
        if (!u->has_area) {
            u->size[i] = r->axis[i];
            continue;
        }
        const int64_t room = r->axis[i] - u->at[i];
        u->size[i] = u->size[i] < room ? u->size[i] : room;
        if (u->at[i] < 0 || u->size[i] < 1)
            return nino_fail_kind(err, NINO_ERR_RANGE, "range", "conditioning area",
                                  "it lies outside of the latent, which has %lldx%lld cells",
                                  (long long) r->axis[r->n_axes - 1],
                                  (long long) r->axis[r->n_axes - 2]);
    }
    return NINO_OK;
}

// One line of cells across axis i, a cells from its start, times f.
static void cond_use_fade_line(const nino_guide_run *r, nino_cond_use *u, int i, int64_t a, float f)
{
    int64_t inner = 1, outer = 1;
    for (int k = 0; k < r->n_axes; k++)
        *(k < i ? &outer : &inner) *= k == i ? 1 : u->size[k];
    float *m = nino_array_f32(u->mult);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t k = 0; k < inner; k++)
            m[(o * u->size[i] + a) * inner + k] *= f;
}

// Edges of an area fade, except those that are edges of the latent.
static void feather(const nino_guide_run *r, nino_cond_use *u)
{
    for (int i = 0; i < r->n_axes; i++) {
        const int64_t n = u->size[i] / 4 < FEATHER ? u->size[i] / 4 : FEATHER;
        for (int64_t t = 0; u->at[i] && t < n; t++)
            cond_use_fade_line(r, u, i, t, (float) (1.0 / (double) n * (double) (t + 1)));
        for (int64_t t = 0; u->at[i] + u->size[i] < r->axis[i] && t < n; t++)
            cond_use_fade_line(r, u, i, u->size[i] - 1 - t,
                               (float) (1.0 / (double) n * (double) (t + 1)));
    }
}

// The mask's values in the area; a video's masks are its frames.
static nino_status weigh_mask(const nino_guide_run *r, nino_cond_use *u, nino_error *err)
{
    const bool is_video = r->n_axes == 3;
    const int64_t n = u->mask->shape.dim[0], h = u->mask->shape.dim[1], w = u->mask->shape.dim[2];
    const int i = r->n_axes - 2;
    const int64_t frames = is_video ? u->size[0] : n < r->batch ? n : r->batch;
    const float strength = (float) u->entry->strength;
    const float mask_strength = (float) u->entry->mask_strength;
    if (is_video && n != 1 && n != r->axis[0])
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", "mask",
                              "%lld masks for a video of %lld latent frames", (long long) n,
                              (long long) r->axis[0]);
    float *to = nino_array_f32(u->mult);
    for (int64_t f = 0; f < frames; f++) {
        const int64_t from = is_video && n == 1 ? 0 : f + (is_video ? u->at[0] : 0);
        for (int64_t y = 0; y < u->size[i]; y++)
            for (int64_t x = 0; x < u->size[i + 1]; x++)
                *to++ = nino_array_f32(u->mask)[(from * h + u->at[i] + y) * w + u->at[i + 1] + x] *
                        mask_strength * strength;
    }
    return NINO_OK;
}

static nino_status cond_use_weigh(const nino_guide_run *r, nino_cond_use *u, nino_error *err)
{
    nino_status st = fit_area(r, u, err);
    if (st)
        return st;
    int64_t n = 1;
    if (u->mask && r->n_axes == 2)
        n = u->mask->shape.dim[0] < r->batch ? u->mask->shape.dim[0] : r->batch;
    nino_shape shape = { .rank = r->n_axes + 1, .dim = { n } };
    memcpy(shape.dim + 1, u->size, (size_t) r->n_axes * sizeof(u->size[0]));
    if (!(u->mult = nino_array_create(NINO_F32, shape)))
        return nino_fail(err, NINO_ERR_NOMEM, "", "no memory for conditioning");
    if (u->mask)
        return weigh_mask(r, u, err);
    float *m = nino_array_f32(u->mult);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        m[i] = (float) u->entry->strength;
    if (u->has_area)
        feather(r, u);
    return NINO_OK;
}

// ---- all of it -------------------------------------------------------------------------------

nino_status nino_guide_conds(nino_guide_run *r, nino_error *err)
{
    const nino_cond *lists[NINO_COND_KINDS] = { r->guider->positive };
    if (r->guider->kind != NINO_GUIDE_BASIC && r->guider->kind != NINO_GUIDE_DUAL_MODEL)
        lists[NINO_COND_NEGATIVE] = r->guider->negative;
    if (r->guider->kind == NINO_GUIDE_DUAL_CFG || r->guider->kind == NINO_GUIDE_PERP_NEG)
        lists[NINO_COND_MIDDLE] = r->guider->middle;
    int n = 0;
    for (int k = 0; k < NINO_COND_KINDS; k++) {
        r->has[k] = lists[k];
        n += lists[k] ? lists[k]->n : 0;
    }
    if (!(r->models = calloc((size_t) n + 1, sizeof(*r->models))))
        return nino_fail(err, NINO_ERR_NOMEM, "", "no memory for conditioning");
    nino_status st = NINO_OK;
    for (int k = 0; k < NINO_COND_KINDS && !st; k++)
        if (lists[k])
            st = read_list(r, k, lists[k], err);
    if (!st)
        st = complete_all(r, err);
    for (int k = 0; k < NINO_COND_KINDS; k++)
        for (int i = 0; i < r->list[k].n && !st; i++)
            st = cond_use_weigh(r, &r->list[k].use[i], err);
    if (!st)
        st = nino_guide_controls(r, err);
    return st ? st : nino_guide_block_hints(r, err);
}

void nino_guide_release_conds(nino_guide_run *r)
{
    nino_guide_release_controls(r);
    nino_guide_release_block_hints(r);
    for (int k = 0; k < NINO_COND_KINDS; k++) {
        for (int i = 0; i < r->list[k].n; i++) {
            nino_array_unref(&r->list[k].use[i].mask);
            nino_array_unref(&r->list[k].use[i].mult);
        }
        free(r->list[k].use);
        r->list[k] = (nino_cond_list){ 0 };
    }
    for (int i = 0; i < r->n_models; i++)
        nino_cond_model_release(&r->models[i]);
    free(r->models);
    r->models = NULL;
    r->n_models = 0;
}
