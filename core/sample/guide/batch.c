// Evaluating conditioning entries: which can share a forward, how many the memory allows, and the
// forward itself with the entries' parts of the latent before and after it.
// Semantics: ComfyUI 0.3.64 comfy/samplers.py (can_concat_cond, calc_cond_batch), comfy/conds.py.
#include "core/sample/guide/guide_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

#define MAX_REPEAT 4 // how often a text may be repeated to match a longer one

struct nino_guide_fit {
    nino_guide_way way;
    int n, n_refs;
    int64_t size[NINO_MAX_AXES], tokens;
    bool fits;
};

// ---- what can share a batch ------------------------------------------------------------------

static bool same_row_shape(const nino_array *a, const nino_array *b) // but for the batch
{
    if (!a || !b)
        return a == b;
    for (int i = 1; i < a->shape.rank; i++)
        if (a->shape.rank != b->shape.rank || a->shape.dim[i] != b->shape.dim[i])
            return false;
    return true;
}

// Cross-attention does not notice a text that is repeated as a whole; a joint one would.
static bool batch_same_text(const nino_guide_run *r, const nino_array *a, const nino_array *b)
{
    const int64_t ta = a->shape.dim[1], tb = b->shape.dim[1];
    if (r->net->kind != NINO_DIFFUSION_UNET)
        return ta == tb;
    return nino_guide_lcm(ta, tb) / (ta < tb ? ta : tb) <= MAX_REPEAT;
}

static bool same_controls(const nino_cond_model *a, const nino_cond_model *b)
{
    for (int i = 0; i < a->n_controls && a->n_controls == b->n_controls; i++)
        if (a->control_strength[i] != b->control_strength[i])
            return false;
    return a->n_controls == b->n_controls;
}

static bool can_share(const nino_guide_run *r, const nino_cond_use *a, const nino_cond_use *b)
{
    const nino_cond_model *x = a->model, *y = b->model;
    if (a->control != b->control || !same_row_shape(x->control_context, y->control_context) ||
        memcmp(a->size, b->size, (size_t) r->n_axes * sizeof(a->size[0])) ||
        !batch_same_text(r, x->context, y->context) ||
        !same_row_shape(x->context_mask, y->context_mask) || !same_row_shape(x->y, y->y) ||
        !same_row_shape(x->concat, y->concat) || !same_row_shape(x->vision, y->vision) ||
        !same_controls(x, y) || x->n_refs != y->n_refs ||
        (x->n_refs && x->ref_method != y->ref_method))
        return false;
    if (x->guidance != y->guidance && !(isnan(x->guidance) && isnan(y->guidance)))
        return false;
    for (int i = 0; i < x->n_refs; i++)
        if (!same_row_shape(x->refs[i], y->refs[i]))
            return false;
    return true;
}

// What patches make of a forward, as far as it costs something.
static nino_guide_way way_of(const nino_guide_run *r)
{
    return (nino_guide_way){ .active = r->pass.active,
                             .is_perturbed = r->pass.is_perturbed,
                             .has_map = r->pass.map != NULL,
                             .skip = r->skip };
}

static bool same_way(const nino_guide_way *a, const nino_guide_way *b)
{
    return a->active == b->active && a->is_perturbed == b->is_perturbed &&
           a->has_map == b->has_map && a->skip.doubles == b->skip.doubles &&
           a->skip.singles == b->skip.singles;
}

// ---- one forward -----------------------------------------------------------------------------

static nino_tensor *batch_forward(nino_guide_run *r, nino_guide_feed *f, nino_tensor *x,
                                  float sigma)
{
    const float timestep =
        nino_stream_is_plan(r->s) ? 0 : nino_sampling_timestep(r->sampling, sigma);
    nino_residuals more = { .middle = NULL };
    const int64_t n = f->n * r->batch, frames = nino_guide_frames(r);
    float *t = malloc((size_t) (n * (frames ? frames : 1)) * sizeof(*t));
    nino_tensor **refs = calloc((size_t) f->n_refs + 1, sizeof(*refs));
    uint8_t *negative = malloc((size_t) n);
    nino_tensor *control[NINO_COND_CONTROLS], *out = NULL;
    nino_array *hints[NINO_MODEL_PATCHES];
    nino_pass pass = r->pass;
    if (!t || !refs || !negative) {
        nino_unref(x);
        nino_stream_fail(r->s, NINO_ERR_NOMEM, "", "no memory for a model evaluation");
        goto end;
    }
    if (frames)
        nino_guide_frame_times(r, timestep, f->n, t);
    for (int64_t i = 0; i < n && !frames; i++)
        t[i] = timestep;
    for (int64_t i = 0; i < n; i++)
        negative[i] = f->use[i / r->batch]->is_negative;
    pass.negative = negative;
    pass.n_rows = n;
    pass.is_same_x = true;
    for (int i = 0; i < f->n; i++)
        pass.is_same_x &= !f->use[i]->has_area;
    nino_guide_block_hints_of(r, f->use[0], hints);
    pass.hint = hints;
    for (int i = 0; i < f->n_refs; i++)
        refs[i] = nino_ref(f->refs[i]);
    for (int i = 0; i < NINO_COND_CONTROLS; i++)
        control[i] = nino_ref(f->control[i]);
    nino_forward in = { .x = x,
                        .timestep = t,
                        .frames = frames,
                        .context = nino_ref(f->context),
                        .context_mask = nino_ref(f->context_mask),
                        .y = nino_ref(f->y),
                        .concat = nino_ref(f->concat),
                        .vision = nino_ref(f->vision),
                        .control = control,
                        .control_strength = f->use[0]->model->control_strength,
                        .n_controls = f->use[0]->model->n_controls,
                        .refs = refs,
                        .n_refs = f->n_refs,
                        .ref_method = f->use[0]->model->ref_method,
                        .guidance = f->use[0]->model->guidance,
                        .text = &f->text,
                        .times = &r->times,
                        .skip = r->skip,
                        .pass = pass.n_patches ? &pass : NULL };
    if (f->hints) {
        nino_guide_residuals(r, r->s, f->use[0], f->hints, &in, f->control_context, sigma, &more);
        in.residuals = &more;
    }
    out = r->net->forward(r->s, r->net, &in);
    r->forwards++;
end:
    free(t);
    free(refs);
    free(negative);
    // cppcheck-suppress returnDanglingLifetime ; a tensor of the stream, not a part of `in`
    return out;
}

// Channels first to the tile's channels last.
static void read_tile(const nino_guide_run *r, const nino_cond_use *u, const float *x, float *to)
{
    const int64_t *size = u->size, *at = u->at;
    const bool is_video = r->n_axes == 3;
    const int i = r->n_axes - 2;
    const int64_t frames = is_video ? size[0] : 1, c = r->channels, w = r->axis[i + 1];
    for (int64_t b = 0; b < r->batch; b++)
        for (int64_t f = 0; f < frames; f++)
            for (int64_t y = 0; y < size[i]; y++)
                for (int64_t v = 0; v < size[i + 1]; v++) {
                    const int64_t frame = is_video ? at[0] + f : 0;
                    const int64_t cell = (frame * r->axis[i] + at[i] + y) * w + at[i + 1] + v;
                    for (int64_t k = 0; k < c; k++)
                        *to++ = x[(b * c + k) * r->cells + cell];
                }
}

// out += tile * mult, weight += mult, over the entry's area.
static void batch_add_tile(const nino_guide_run *r, const nino_guide_piece *p, const float *tile)
{
    const nino_cond_use *u = p->use;
    const int64_t *size = u->size, *at = u->at, c = r->channels;
    const bool is_video = r->n_axes == 3;
    const int i = r->n_axes - 2;
    const int64_t frames = is_video ? size[0] : 1, w = r->axis[i + 1];
    const int64_t n = u->mult->shape.dim[0], cells = nino_shape_count(&u->mult->shape) / n;
    float *out = r->out[p->kind], *weight = r->weight[p->kind];
    for (int64_t b = 0; b < r->batch; b++) {
        const float *m = nino_array_f32(u->mult) + b % n * cells;
        for (int64_t f = 0; f < frames; f++)
            for (int64_t y = 0; y < size[i]; y++)
                for (int64_t v = 0; v < size[i + 1]; v++, m++, tile += c) {
                    const int64_t frame = is_video ? at[0] + f : 0;
                    const int64_t cell = (frame * r->axis[i] + at[i] + y) * w + at[i + 1] + v;
                    weight[b * r->cells + cell] += *m;
                    for (int64_t k = 0; k < c; k++)
                        out[(b * c + k) * r->cells + cell] += tile[k] * *m;
                }
    }
}

static bool all_finite(const float *v, size_t n)
{
    float sum = 0; // 0 times a number is 0, times anything else it is not
    for (size_t i = 0; i < n; i++)
        sum += 0.0f * v[i];
    return sum == 0;
}

// The network's answer as denoised tiles, added to the sums.
static void take_output(nino_guide_run *r, const nino_guide_piece *p, int n, nino_array *tile,
                        float sigma, const nino_array *out)
{
    const size_t count = (size_t) nino_shape_count(&tile->shape);
    float *v = nino_array_f32(out);
    if (!nino_shape_equal(&out->shape, &tile->shape)) {
        nino_stream_fail(r->s, NINO_ERR_ARG, r->net->name, "its output has another shape than x");
    } else if (!all_finite(v, count)) {
        nino_fail_kind(&r->err, NINO_ERR_RANGE, "nan", r->net->name,
                       "the model's output has values that are not numbers");
    } else {
        nino_sampling_calculate_denoised(r->sampling, sigma, v, nino_array_f32(tile), v,
                                         (int64_t) count);
        for (int i = 0; i < n; i++)
            batch_add_tile(r, &p[i], v + (size_t) i * (count / (size_t) n));
    }
}

// NULL: no memory.
static nino_guide_walk *walk_of(nino_guide_run *r, nino_guide_feed *f)
{
    const nino_guide_way way = way_of(r);
    for (int i = 0; i < f->n_walks; i++)
        if (same_way(&f->walk[i].way, &way))
            return &f->walk[i];
    nino_guide_walk *all = realloc(f->walk, (size_t) (f->n_walks + 1) * sizeof(*all));
    if (!all)
        return nino_stream_fail(r->s, NINO_ERR_NOMEM, "", "no memory for a plan");
    f->walk = all;
    all[f->n_walks] = (nino_guide_walk){ .way = way };
    return &all[f->n_walks++];
}

// Under plan nothing but the network is walked, twice a batch (the first brings the weights in);
// further evaluations cost what the second did. Where weights came in then as well, what is walked
// counts until it is the same twice.
static void batch_walk(nino_guide_run *r, nino_guide_feed *f)
{
    nino_backend *be = nino_stream_backend(r->s);
    nino_guide_walk *w = walk_of(r, f);
    if (!w)
        return;
    if (w->n > 1 && (!w->cost.load_bytes || w->even > 1)) {
        nino_plan_backend_repeat(be, &w->cost);
        return;
    }
    const nino_plan_mark before = nino_plan_backend_mark(be);
    nino_tensor *x = nino_zeros(r->s, nino_guide_tile_shape(r, f->use[0], f->n, r->channels),
                                nino_stream_act_type(r->s));
    nino_unref(batch_forward(r, f, x, 0));
    const nino_plan_mark cost = nino_plan_mark_since(be, &before);
    w->even = cost.load_bytes == w->cost.load_bytes ? w->even + 1 : 0;
    w->cost = cost;
    w->n++;
}

// What the network makes of x, or would: EasyCache.
static nino_array *ask(nino_guide_run *r, const nino_guide_piece *p, nino_guide_feed *f,
                       const nino_array *x, float sigma)
{
    if (nino_guide_has_past(r->guider->model)) {
        nino_array *out = nino_array_create(NINO_F32, x->shape);
        if (out && nino_guide_reuse_batch(r, p, f->n, sigma, x, out))
            return out;
        nino_array_unref(&out);
    }
    nino_tensor *in = nino_upload(r->s, x, nino_stream_act_type(r->s));
    in = batch_forward(r, f, in, sigma);
    nino_array *out = nino_download(r->s, in, NINO_F32);
    if (out && nino_shape_equal(&out->shape, &x->shape))
        nino_guide_keep_batch(r, p, f->n, sigma, x, out);
    return out;
}

static void run_batch(nino_guide_run *r, const nino_guide_piece *p, int n, const float *x,
                      float sigma)
{
    nino_guide_feed *f = nino_guide_feed_get(r, p, n);
    if (!f || nino_stream_status(r->s, NULL))
        return;
    if (nino_stream_is_plan(r->s)) {
        batch_walk(r, f);
        return;
    }
    nino_array *tile =
        nino_array_create(NINO_F32, nino_guide_tile_shape(r, p[0].use, n, r->channels));
    nino_array *scaled = tile ? nino_array_create(NINO_F32, tile->shape) : NULL;
    if (!scaled) {
        nino_stream_fail(r->s, NINO_ERR_NOMEM, "", "no memory for a model evaluation");
        goto end;
    }
    const size_t count = (size_t) nino_shape_count(&tile->shape), each = count / (size_t) n;
    for (int i = 0; i < n; i++) {
        float *to = nino_array_f32(tile) + (size_t) i * each;
        if (i && !p[i].use->has_area)
            memcpy(to, nino_array_f32(tile), each * sizeof(*to));
        else
            read_tile(r, p[i].use, x, to);
    }
    nino_sampling_calculate_input(r->sampling, sigma, nino_array_f32(tile), nino_array_f32(scaled),
                                  (int64_t) count);
    nino_array *answer = ask(r, p, f, scaled, sigma);
    if (answer)
        take_output(r, p, n, tile, sigma, answer);
    nino_array_unref(&answer);
end:
    nino_array_unref(&tile);
    nino_array_unref(&scaled);
}

void nino_guide_run_batch(nino_guide_run *r, const nino_guide_piece *p, int n, const float *x,
                          float sigma)
{
    nino_stream_set_part(r->s, n * r->batch, n * r->whole);
    run_batch(r, p, n, x, sigma);
    nino_stream_set_part(r->s, 0, 0);
}

// ---- how many at once ------------------------------------------------------------------------

static nino_tensor *zero_rows(nino_stream *s, const nino_array *like, int64_t n, int64_t tokens)
{
    if (!like)
        return NULL;
    nino_shape shape = like->shape;
    shape.dim[0] = n;
    if (tokens)
        shape.dim[1] = tokens;
    return nino_zeros(s, shape, nino_stream_act_type(s));
}

static nino_tensor *zero_mask(nino_stream *s, const nino_array *like, int64_t n)
{
    return like ? nino_zeros(s, NINO_SHAPE(n, like->shape.dim[1]), NINO_F32) : NULL;
}

// Walks the network on a plan of this device for n entries like p.
static nino_status plan_need(nino_guide_run *r, const nino_guide_piece *p, int n,
                             uint64_t *reserved, uint64_t *weights)
{
    nino_backend *be = nino_stream_backend(r->s);
    nino_backend *plan = nino_plan_open(&be->profile, 0, be->log, NULL);
    nino_stream *s =
        plan ? nino_stream_create(
                   &(nino_stream_params){ .backend = plan,
                                          .precision = nino_stream_precision(r->s),
                                          .keeps_scores = nino_stream_keeps_scores(r->s) },
                   NULL)
             : NULL;
    const nino_cond_model *m = p[0].use->model;
    const int64_t rows = n * r->batch, frames = nino_guide_frames(r);
    float *t = calloc((size_t) (rows * (frames ? frames : 1)), sizeof(*t));
    nino_tensor **refs = calloc((size_t) m->n_refs + 1, sizeof(*refs));
    nino_tensor *control[NINO_COND_CONTROLS];
    nino_kept text = { NULL, 0 };
    nino_run_times times = { .t = r->times.t, .n = r->times.n };
    uint8_t *negative = calloc((size_t) rows, 1); // which side a row is of costs nothing
    nino_pass pass = r->pass;
    nino_status st = s && t && refs && negative ? NINO_OK : NINO_ERR_NOMEM;
    nino_control_hint *hints = st ? NULL : nino_guide_hints(r, s, p[0].use, n);
    nino_array *block_hints[NINO_MODEL_PATCHES];
    nino_guide_block_hints_of(r, p[0].use, block_hints);
    pass.negative = negative;
    pass.n_rows = rows;
    pass.is_same_x = true;
    for (int i = 0; i < n; i++)
        pass.is_same_x &= !p[i].use->has_area;
    pass.hint = block_hints;
    for (int walk = 0; walk < 2 && !st; walk++) { // the first brings the weights in
        const nino_shape x = nino_guide_tile_shape(r, p[0].use, n, r->channels);
        nino_forward in = { .x = nino_zeros(s, x, nino_stream_act_type(s)),
                            .timestep = t,
                            .frames = frames,
                            .context = zero_rows(s, m->context, rows, nino_guide_tokens(p, n)),
                            .context_mask = zero_mask(s, m->context_mask, rows),
                            .y = zero_rows(s, m->y, rows, 0),
                            .vision = zero_rows(s, m->vision, rows, 0),
                            .control = control,
                            .control_strength = m->control_strength,
                            .n_controls = m->n_controls,
                            .refs = refs,
                            .n_refs = m->n_refs,
                            .ref_method = m->ref_method,
                            .guidance = m->guidance,
                            .text = &text,
                            .times = &times,
                            .skip = r->skip,
                            .pass = pass.n_patches ? &pass : NULL };
        if (m->concat)
            in.concat = nino_zeros(
                s, nino_guide_tile_shape(r, p[0].use, n, m->concat->shape.dim[r->n_axes + 1]),
                in.x->dtype);
        for (int i = 0; i < m->n_refs; i++)
            refs[i] = zero_rows(s, m->refs[i], rows, 0);
        for (int i = 0; i < m->n_controls; i++)
            control[i] = zero_rows(s, m->control[i], rows, 0);
        nino_residuals more = { .middle = NULL };
        nino_tensor *context = zero_rows(s, m->control_context, rows, 0);
        if (hints) {
            nino_guide_residuals(r, s, p[0].use, hints, &in, context, 0, &more);
            in.residuals = &more;
        }
        nino_unref(context);
        nino_unref(r->net->forward(s, r->net, &in));
        st = nino_stream_status(s, NULL);
    }
    if (!st) {
        nino_mem_stat mem;
        nino_pool_stat(plan->pool, &mem);
        *reserved = mem.reserved;
        *weights = mem.by_owner[NINO_OWN_WEIGHTS];
    }
    nino_guide_release_hints(p[0].use, &hints);
    free(t);
    free(refs);
    free(negative);
    nino_kept_release(&text);
    nino_run_times_release(&times);
    nino_stream_destroy(&s);
    nino_backend_close(&plan);
    return st;
}

static bool batch_fits(nino_guide_run *r, const nino_guide_piece *p, int n)
{
    nino_mem_stat mem;
    uint64_t reserved = 0, weights = 0;
    const int64_t tokens = nino_guide_tokens(p, n);
    const int n_refs = p[0].use->model->n_refs;
    const nino_guide_way way = way_of(r);
    nino_pool_stat(nino_stream_backend(r->s)->pool, &mem);
    if (!mem.budget)
        return true;
    for (const nino_guide_fit *f = r->fits; f < r->fits + r->n_fits; f++)
        if (f->n == n && f->tokens == tokens && f->n_refs == n_refs && same_way(&f->way, &way) &&
            !memcmp(f->size, p[0].use->size, (size_t) r->n_axes * sizeof(f->size[0])))
            return f->fits;
    nino_guide_fit *f = realloc(r->fits, (size_t) (r->n_fits + 1) * sizeof(*f));
    if (!f)
        return false;
    r->fits = f;
    if (plan_need(r, p, n, &reserved, &weights))
        return false;
    f += r->n_fits++;
    // Other models' weights make room when they must; what else is there stays.
    const uint64_t others = mem.in_use - mem.by_owner[NINO_OWN_WEIGHTS];
    *f = (nino_guide_fit){ .way = way,
                           .n = n,
                           .n_refs = n_refs,
                           .tokens = tokens,
                           .fits = reserved + others <= mem.budget };
    memcpy(f->size, p[0].use->size, sizeof(f->size));
    return f->fits;
}

// Moves what shares a batch with p[0] to the front; returns how many of them run together.
int nino_guide_choose(nino_guide_run *r, nino_guide_piece *p, int n)
{
    const bool one_by_one = r->one_by_one || r->is_apart ||
                            !nino_acts(&nino_stream_backend(r->s)->profile, NINO_POLICY_BATCHING);
    int same = 1;
    for (int i = 1; i < n && !one_by_one; i++)
        if (can_share(r, p[0].use, p[i].use)) {
            const nino_guide_piece t = p[i];
            memmove(&p[same + 1], &p[same], (size_t) (i - same) * sizeof(*p));
            p[same++] = t;
        }
    // What was chosen for the node was tried by a plan; else as many as fit with their weights.
    const int chosen = nino_stream_choice(r->s)->rows;
    int k = chosen && chosen < same ? chosen : same;
    for (int parts = 1; !chosen && k > 1 && !batch_fits(r, p, k);)
        k = same / ++parts;
    nino_taken *t = nino_stream_taken(r->s);
    t->rows = k > t->rows ? k : t->rows;
    t->rows_most = same > t->rows_most ? same : t->rows_most;
    return k;
}
