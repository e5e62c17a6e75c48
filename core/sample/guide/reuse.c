// EasyCache and LazyCache: as long as the input has changed so little that the answer must have,
// too, the network is not asked; the difference that it made the last time is added instead.
// Sources: Zhou et al. 2025, "Less is Enough: Training-Free Video Diffusion Acceleration via
// Runtime-Adaptive Caching"; semantics: ComfyUI 0.33.0 comfy_extras/nodes_easycache.py.
#include "core/sample/guide/guide_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EVERY 8 // cells in both directions of which one is compared

typedef struct kept_diff { // of an entry: what the network added to its input
    struct kept_diff *next;
    const nino_cond_use *use;
    size_t n;
    float *v;
} kept_diff;

typedef struct reuse {
    kept_diff *diffs;           // LAZY_CACHE: one, of no entry
    const nino_cond_use *first; // whose change decides; NULL: not known yet
    bool skips;                 // this evaluation: all entries
    float *x, *out;             // some cells of those before, NULL: none
    double norm, rate, sum;     // mean size of the last answer; its change a change of x; so far
    double change;              // of x since the last answer; NaN: not known
    bool has_rate;
} reuse;

static const nino_patch *reuse_of(nino_guide_run *r, nino_patch_kind kind, reuse **state)
{
    const nino_model *m = r->guider->model;
    for (int i = 0; i < m->n_patches; i++) {
        if (m->patch[i].kind != kind)
            continue;
        if (!r->memory[i])
            r->memory[i] = calloc(1, sizeof(reuse));
        *state = r->memory[i];
        return *state ? &m->patch[i] : NULL;
    }
    return NULL;
}

static kept_diff *diff_of(const reuse *s, const nino_cond_use *use)
{
    kept_diff *d = s->diffs;
    while (d && d->use != use)
        d = d->next;
    return d;
}

static bool keep_diff(reuse *s, const nino_cond_use *use, const float *x, const float *out,
                      size_t n)
{
    kept_diff *d = diff_of(s, use);
    if (!d && (d = calloc(1, sizeof(*d)))) {
        d->next = s->diffs;
        d->use = use;
        s->diffs = d;
    }
    if (d && d->n != n) {
        free(d->v);
        d->v = malloc(n * sizeof(*d->v));
        d->n = d->v ? n : 0;
    }
    for (size_t i = 0; d && d->v && i < n; i++)
        d->v[i] = out[i] - x[i];
    return d && d->v;
}

// A picture's or clip's values, channels first or last.
typedef struct reuse_view {
    const float *v;
    size_t n;
    int64_t inner, w, h; // values a cell; columns, rows
} reuse_view;

static bool is_compared(const reuse_view *a, size_t i)
{
    const int64_t cell = (int64_t) i / a->inner;
    return cell % a->w % EVERY == 0 && cell / a->w % a->h % EVERY == 0;
}

// The mean change of the cells that are compared.
static double change_of(const reuse_view *a, const float *before)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        if (is_compared(a, i))
            sum += fabs((double) a->v[i] - (double) before[n++]);
    return n ? sum / (double) n : 0;
}

static void remember(const reuse_view *a, float **to)
{
    size_t n = 0;
    if (!*to && !(*to = malloc(a->n * sizeof(**to))))
        return;
    for (size_t i = 0; i < a->n; i++)
        if (is_compared(a, i))
            (*to)[n++] = a->v[i];
}

// Whether the changes since the last answer are small enough to do without one.
static bool is_small(reuse *s, const nino_patch *p, const reuse_view *x)
{
    s->change = s->x ? change_of(x, s->x) : (double) NAN;
    if (!s->x || !s->out || !s->has_rate)
        return false;
    s->sum += s->rate * s->change / s->norm;
    if (s->sum < p->v[0])
        return true;
    s->sum = 0;
    return false;
}

// all: whose size the answer's norm is of.
static void take_answer(reuse *s, const reuse_view *x, const reuse_view *out, const float *all,
                        size_t n)
{
    if (s->out && !isnan(s->change)) {
        s->rate = change_of(out, s->out) / s->change;
        s->has_rate = true;
    }
    remember(x, &s->x);
    remember(out, &s->out);
    s->norm = 0;
    for (size_t i = 0; i < n; i++)
        s->norm += fabs((double) all[i]) / (double) n;
}

static double sigma_at(const nino_guide_run *r, double percent)
{
    return nino_sampling_percent_to_sigma(r->sampling, percent);
}

// ---- EasyCache -------------------------------------------------------------------------------

static reuse_view view_of(const nino_guide_run *r, const nino_cond_use *u, const nino_array *a,
                          int i, int n)
{
    const size_t each = (size_t) nino_shape_count(&a->shape) / (size_t) n;
    return (reuse_view){ .v = nino_array_f32(a) + (size_t) i * each,
                         .n = each,
                         .inner = r->channels,
                         .w = u->size[r->n_axes - 1],
                         .h = u->size[r->n_axes - 2] };
}

static bool has_all_diffs(const reuse *s, const nino_guide_piece *p, int n, size_t each)
{
    for (int i = 0; i < n; i++) {
        const kept_diff *d = diff_of(s, p[i].use);
        if (!d || d->n != each)
            return false;
    }
    return true;
}

static int piece_of(const reuse *s, const nino_guide_piece *p, int n)
{
    for (int i = 0; i < n && s->first; i++)
        if (p[i].use == s->first)
            return i;
    return -1;
}

bool nino_guide_reuse_batch(nino_guide_run *r, const nino_guide_piece *p, int n, float sigma,
                            const nino_array *x, nino_array *out)
{
    reuse *s = NULL;
    const nino_patch *easy = reuse_of(r, NINO_PATCH_EASY_CACHE, &s);
    if (!easy)
        return false;
    const size_t count = (size_t) nino_shape_count(&x->shape), each = count / (size_t) n;
    s->change = (double) NAN;
    if ((double) sigma <= sigma_at(r, easy->end) || (double) sigma > sigma_at(r, easy->start))
        return false;
    const bool is_known = has_all_diffs(s, p, n, each);
    if (!s->skips) {
        if (!s->first)
            s->first = p[0].use;
        const int i = piece_of(s, p, n);
        if (i < 0)
            return false;
        const reuse_view v = view_of(r, p[i].use, x, i, n);
        s->skips = is_small(s, easy, &v) && is_known;
    }
    if (!s->skips || !is_known)
        return false;
    for (int i = 0; i < n; i++) {
        const float *diff = diff_of(s, p[i].use)->v;
        for (size_t k = 0; k < each; k++)
            nino_array_f32(out)[(size_t) i * each + k] =
                nino_array_f32(x)[(size_t) i * each + k] + diff[k];
    }
    return true;
}

void nino_guide_keep_batch(nino_guide_run *r, const nino_guide_piece *p, int n, float sigma,
                           const nino_array *x, const nino_array *out)
{
    reuse *s = NULL;
    const nino_patch *easy = reuse_of(r, NINO_PATCH_EASY_CACHE, &s);
    if (!easy || (double) sigma <= sigma_at(r, easy->end))
        return;
    const size_t count = (size_t) nino_shape_count(&x->shape), each = count / (size_t) n;
    for (int i = 0; i < n; i++)
        keep_diff(s, p[i].use, nino_array_f32(x) + (size_t) i * each,
                  nino_array_f32(out) + (size_t) i * each, each);
    const int i = piece_of(s, p, n);
    if (i < 0)
        return;
    const reuse_view vx = view_of(r, p[i].use, x, i, n), vo = view_of(r, p[i].use, out, i, n);
    take_answer(s, &vx, &vo, nino_array_f32(out), count);
}

void nino_guide_reuse_begin(nino_guide_run *r)
{
    reuse *s = NULL;
    if (reuse_of(r, NINO_PATCH_EASY_CACHE, &s))
        s->skips = false;
}

// ---- LazyCache -------------------------------------------------------------------------------

static reuse_view view_first(const nino_guide_run *r, const float *v)
{
    return (reuse_view){
        .v = v, .n = r->count, .inner = 1, .w = r->axis[r->n_axes - 1], .h = r->axis[r->n_axes - 2]
    };
}

bool nino_guide_reuse(nino_guide_run *r, const float *x, float sigma, float *out)
{
    reuse *s = NULL;
    const nino_patch *lazy = reuse_of(r, NINO_PATCH_LAZY_CACHE, &s);
    if (!lazy)
        return false;
    s->change = (double) NAN;
    if ((double) sigma <= sigma_at(r, lazy->end) || (double) sigma > sigma_at(r, lazy->start))
        return false;
    const reuse_view v = view_first(r, x);
    const kept_diff *d = diff_of(s, NULL);
    if (!is_small(s, lazy, &v) || !d || d->n != r->count)
        return false;
    for (size_t i = 0; i < r->count; i++)
        out[i] = x[i] + d->v[i];
    return true;
}

void nino_guide_keep(nino_guide_run *r, const float *x, float sigma, const float *out)
{
    reuse *s = NULL;
    const nino_patch *lazy = reuse_of(r, NINO_PATCH_LAZY_CACHE, &s);
    if (!lazy || (double) sigma <= sigma_at(r, lazy->end))
        return;
    keep_diff(s, NULL, x, out, r->count);
    const reuse_view vx = view_first(r, x), vo = view_first(r, out);
    take_answer(s, &vx, &vo, out, r->count);
}

// ---- both ------------------------------------------------------------------------------------

void nino_guide_forget_reuse(void *past)
{
    reuse *s = past;
    while (s && s->diffs) {
        kept_diff *d = s->diffs;
        s->diffs = d->next;
        free(d->v);
        free(d);
    }
    if (s) {
        free(s->x);
        free(s->out);
    }
    free(s);
}

bool nino_guide_has_past(const nino_model *m)
{
    for (int i = 0; i < m->n_patches; i++)
        if (m->patch[i].kind == NINO_PATCH_EASY_CACHE ||
            m->patch[i].kind == NINO_PATCH_LAZY_CACHE ||
            (m->patch[i].kind == NINO_PATCH_APG && m->patch[i].v[2] != 0))
            return true;
    return false;
}

void nino_guide_forget(nino_guide_run *r)
{
    const nino_model *m = r->guider ? r->guider->model : NULL;
    for (int i = 0; m && i < m->n_patches; i++) {
        if (m->patch[i].kind == NINO_PATCH_APG)
            nino_guide_forget_apg(r->memory[i]);
        else
            nino_guide_forget_reuse(r->memory[i]);
        r->memory[i] = NULL;
    }
    free(r->map.weight);
    r->map.weight = NULL;
    free(r->spare);
    r->spare = NULL;
}
