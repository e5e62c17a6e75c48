// The guided denoiser: which entries apply at a sigma, in which batches the network evaluates them,
// the weighted mean where they overlap, and classifier-free guidance over the lists.
// Semantics: ComfyUI 0.3.64 comfy/samplers.py (calc_cond_batch, cfg_function, CFGGuider),
// comfy/conds.py, comfy_extras/nodes_custom_sampler.py (Guider_DualCFG); rescaled guidance: Lin et
// al. 2023, "Common Diffusion Noise Schedules and Sample Steps are Flawed", section 3.4.
#include "core/sample/guide_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/op/plan.h"

#define NOTHING 1e-37f // weight of a cell that no entry reaches
#define MAX_REPEAT 4   // how often a text may be repeated to match a longer one

// Entries of one batch as the network takes them; stays on the device for the whole run.
struct nino_guide_feed {
    nino_guide_feed *next;
    int n;
    const nino_cond_use **use;
    nino_tensor *context, *y, *concat, **refs;
    int n_refs;
    int walks; // under plan: how often it was walked
    nino_plan_mark cost;
};

struct nino_guide_fit {
    int n;
    int64_t size[NINO_MAX_AXES], tokens;
    bool fits;
};

typedef struct piece {
    const nino_cond_use *use;
    int kind; // which list it belongs to
} piece;

// ---- what can share a batch ------------------------------------------------------------------

static int64_t gcd(int64_t a, int64_t b) { return b ? gcd(b, a % b) : a; }
static int64_t lcm(int64_t a, int64_t b) { return a / gcd(a, b) * b; }

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
static bool same_text(const nino_guide_run *r, const nino_array *a, const nino_array *b)
{
    const int64_t ta = a->shape.dim[1], tb = b->shape.dim[1];
    if (r->net->kind != NINO_DIFFUSION_UNET)
        return ta == tb;
    return lcm(ta, tb) / (ta < tb ? ta : tb) <= MAX_REPEAT;
}

static bool can_share(const nino_guide_run *r, const nino_cond_use *a, const nino_cond_use *b)
{
    const nino_cond_model *x = a->model, *y = b->model;
    if (memcmp(a->size, b->size, (size_t) r->n_axes * sizeof(a->size[0])) ||
        !same_text(r, x->context, y->context) || !same_row_shape(x->y, y->y) ||
        !same_row_shape(x->concat, y->concat) || x->n_refs != y->n_refs)
        return false;
    if (x->guidance != y->guidance && !(isnan(x->guidance) && isnan(y->guidance)))
        return false;
    for (int i = 0; i < x->n_refs; i++)
        if (!same_row_shape(x->refs[i], y->refs[i]))
            return false;
    return true;
}

static int64_t tokens_of(const piece *p, int n)
{
    int64_t t = 1;
    for (int i = 0; i < n; i++)
        t = lcm(t, p[i].use->model->context->shape.dim[1]);
    return t;
}

static nino_shape tile_shape(const nino_guide_run *r, const nino_cond_use *u, int n, int64_t c)
{
    nino_shape s = { .rank = r->n_axes + 2, .dim = { n * r->batch } };
    memcpy(s.dim + 1, u->size, (size_t) r->n_axes * sizeof(u->size[0]));
    s.dim[r->n_axes + 1] = c;
    return s;
}

// ---- what is on the device -------------------------------------------------------------------

// Rows of `from` (going round over its batch) become the rows of one entry in a batch; a text is
// repeated to fill a longer one.
static void fill_rows(const nino_guide_run *r, char *to, const nino_array *from, size_t row_bytes)
{
    const int64_t had = from->shape.dim[0];
    const size_t bytes = from->bytes / (size_t) had;
    for (int64_t b = 0; b < r->batch; b++)
        for (size_t at = 0; at < row_bytes; at += bytes)
            memcpy(to + (size_t) b * row_bytes + at,
                   (const char *) from->data + (size_t) (b % had) * bytes, bytes);
}

static nino_tensor *upload_rows(nino_guide_run *r, const nino_array *const *row, int n,
                                nino_shape shape)
{
    shape.dim[0] = n * r->batch;
    nino_array *a = nino_array_create(NINO_F32, shape);
    if (!a)
        return nino_stream_fail(r->s, NINO_ERR_NOMEM, "", "no memory for conditioning");
    const size_t each = a->bytes / (size_t) n;
    for (int i = 0; i < n; i++)
        fill_rows(r, (char *) a->data + (size_t) i * each, row[i], each / (size_t) r->batch);
    nino_tensor *t = nino_upload(r->s, a, nino_stream_act_type(r->s));
    nino_array_unref(&a);
    return t;
}

// The part of a concat latent [B,(t,)h,w,C] that an area sees.
static nino_array *cut_concat(const nino_guide_run *r, const nino_cond_use *u)
{
    const nino_array *a = u->model->concat;
    const int64_t c = a->shape.dim[a->shape.rank - 1];
    const int64_t w = r->axis[r->n_axes - 1], h = r->axis[r->n_axes - 2];
    const int64_t tw = u->size[r->n_axes - 1], th = u->size[r->n_axes - 2];
    const int64_t x = u->at[r->n_axes - 1], y = u->at[r->n_axes - 2];
    if (!u->has_area)
        return nino_array_ref((nino_array *) a);
    nino_array *out = nino_array_create(NINO_F32, tile_shape(r, u, 1, c));
    const int64_t planes = r->batch * (r->n_axes == 3 ? r->axis[0] : 1);
    for (int64_t p = 0; out && p < planes; p++)
        for (int64_t i = 0; i < th; i++)
            memcpy(nino_array_f32(out) + (p * th + i) * tw * c,
                   nino_array_f32(a) + ((p * h + y + i) * w + x) * c,
                   (size_t) (tw * c) * sizeof(float));
    return out;
}

static void feed_concat(nino_guide_run *r, nino_guide_feed *f, nino_array **row)
{
    const int64_t c = f->use[0]->model->concat->shape.dim[r->n_axes + 1];
    for (int i = 0; i < f->n; i++)
        if (!(row[i] = cut_concat(r, f->use[i])))
            nino_stream_fail(r->s, NINO_ERR_NOMEM, "", "no memory for conditioning");
    if (nino_stream_status(r->s, NULL) == NINO_OK)
        f->concat = upload_rows(r, (const nino_array *const *) row, f->n,
                                tile_shape(r, f->use[0], f->n, c));
    for (int i = 0; i < f->n; i++)
        nino_array_unref(&row[i]);
}

static void fill_feed(nino_guide_run *r, nino_guide_feed *f, int64_t tokens, nino_array **row)
{
    const nino_array *const *rows = (const nino_array *const *) row;
    const nino_cond_model *m = f->use[0]->model;
    for (int i = 0; i < f->n; i++)
        row[i] = f->use[i]->model->context;
    f->context = upload_rows(r, rows, f->n, NINO_SHAPE(1, tokens, m->context->shape.dim[2]));
    for (int i = 0; i < f->n; i++)
        row[i] = f->use[i]->model->y;
    if (m->y)
        f->y = upload_rows(r, rows, f->n, m->y->shape);
    for (int k = 0;
         k < m->n_refs && (f->refs || (f->refs = calloc((size_t) m->n_refs, sizeof(*f->refs))));
         k++) {
        for (int i = 0; i < f->n; i++)
            row[i] = f->use[i]->model->refs[k];
        f->refs[f->n_refs++] = upload_rows(r, rows, f->n, m->refs[k]->shape);
    }
    if (m->concat)
        feed_concat(r, f, row);
    if (f->n_refs < m->n_refs)
        nino_stream_fail(r->s, NINO_ERR_NOMEM, "", "no memory for conditioning");
}

static void release_feed(nino_guide_feed *f)
{
    nino_unref(f->context);
    nino_unref(f->y);
    nino_unref(f->concat);
    for (int i = 0; i < f->n_refs; i++)
        nino_unref(f->refs[i]);
    free(f->refs);
    free(f->use);
    free(f);
}

void nino_guide_release_feeds(nino_guide_run *r)
{
    while (r->feeds) {
        nino_guide_feed *f = r->feeds;
        r->feeds = f->next;
        release_feed(f);
    }
    free(r->fits);
    r->fits = NULL;
    r->n_fits = 0;
}

static bool is_feed_of(const nino_guide_feed *f, const piece *p, int n)
{
    for (int i = 0; i < n && n == f->n; i++)
        if (f->use[i] != p[i].use)
            return false;
    return n == f->n;
}

static nino_guide_feed *get_feed(nino_guide_run *r, const piece *p, int n)
{
    for (nino_guide_feed *f = r->feeds; f; f = f->next)
        if (is_feed_of(f, p, n))
            return f;
    nino_guide_feed *f = calloc(1, sizeof(*f));
    nino_array **row = calloc((size_t) n, sizeof(*row));
    if (f)
        f->use = calloc((size_t) n, sizeof(*f->use));
    if (!f || !row || !f->use) {
        if (f)
            release_feed(f);
        free(row);
        return nino_stream_fail(r->s, NINO_ERR_NOMEM, "", "no memory for conditioning");
    }
    f->n = n;
    for (int i = 0; i < n; i++)
        f->use[i] = p[i].use;
    fill_feed(r, f, tokens_of(p, n), row);
    free(row);
    f->next = r->feeds;
    r->feeds = f;
    return f;
}

// ---- one forward -----------------------------------------------------------------------------

static nino_tensor *forward(nino_guide_run *r, const nino_guide_feed *f, nino_tensor *x,
                            float timestep)
{
    const int64_t n = f->n * r->batch;
    float *t = malloc((size_t) n * sizeof(*t));
    nino_tensor **refs = calloc((size_t) f->n_refs + 1, sizeof(*refs));
    nino_tensor *out = NULL;
    if (!t || !refs) {
        nino_unref(x);
        nino_stream_fail(r->s, NINO_ERR_NOMEM, "", "no memory for a model evaluation");
        goto end;
    }
    for (int64_t i = 0; i < n; i++)
        t[i] = timestep;
    for (int i = 0; i < f->n_refs; i++)
        refs[i] = nino_ref(f->refs[i]);
    nino_forward in = { .x = x,
                        .timestep = t,
                        .context = nino_ref(f->context),
                        .y = nino_ref(f->y),
                        .concat = nino_ref(f->concat),
                        .refs = refs,
                        .n_refs = f->n_refs,
                        .guidance = f->use[0]->model->guidance };
    out = r->net->forward(r->s, r->net, &in);
    r->forwards++;
end:
    free(t);
    free(refs);
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
static void add_tile(const nino_guide_run *r, const piece *p, const float *tile)
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
static void take_output(nino_guide_run *r, const piece *p, int n, nino_array *tile, float sigma,
                        nino_tensor *y)
{
    nino_array *out = nino_download(r->s, y, NINO_F32);
    if (!out)
        return;
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
            add_tile(r, &p[i], v + (size_t) i * (count / (size_t) n));
    }
    nino_array_unref(&out);
}

// Under plan nothing but the network is walked, twice a batch (the first brings the weights in);
// further evaluations cost what the second did.
static void walk(nino_guide_run *r, nino_guide_feed *f)
{
    nino_backend *be = nino_stream_backend(r->s);
    if (f->walks > 1) {
        nino_plan_backend_repeat(be, &f->cost);
        return;
    }
    const nino_plan_mark before = nino_plan_backend_mark(be);
    nino_tensor *x =
        nino_zeros(r->s, tile_shape(r, f->use[0], f->n, r->channels), nino_stream_act_type(r->s));
    nino_unref(forward(r, f, x, 0));
    f->cost = nino_plan_mark_since(be, &before);
    f->walks++;
}

static void run_batch(nino_guide_run *r, const piece *p, int n, const float *x, float sigma)
{
    nino_guide_feed *f = get_feed(r, p, n);
    if (!f || nino_stream_status(r->s, NULL))
        return;
    if (nino_stream_is_plan(r->s)) {
        walk(r, f);
        return;
    }
    nino_array *tile = nino_array_create(NINO_F32, tile_shape(r, p[0].use, n, r->channels));
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
    nino_tensor *in = nino_upload(r->s, scaled, nino_stream_act_type(r->s));
    take_output(r, p, n, tile, sigma,
                forward(r, f, in, nino_sampling_timestep(r->sampling, sigma)));
end:
    nino_array_unref(&tile);
    nino_array_unref(&scaled);
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

// Walks the network on a plan of this device for n entries like p.
static nino_status plan_need(nino_guide_run *r, const piece *p, int n, uint64_t *reserved,
                             uint64_t *weights)
{
    nino_backend *be = nino_stream_backend(r->s);
    nino_backend *plan = nino_plan_open(&be->profile, 0, be->log, NULL);
    nino_stream *s =
        plan ? nino_stream_create(&(nino_stream_params){ .backend = plan,
                                                         .precision = nino_stream_precision(r->s) },
                                  NULL)
             : NULL;
    const nino_cond_model *m = p[0].use->model;
    const int64_t rows = n * r->batch;
    float *t = calloc((size_t) rows, sizeof(*t));
    nino_tensor **refs = calloc((size_t) m->n_refs + 1, sizeof(*refs));
    nino_status st = s && t && refs ? NINO_OK : NINO_ERR_NOMEM;
    for (int pass = 0; pass < 2 && !st; pass++) { // the first brings the weights in
        const nino_shape x = tile_shape(r, p[0].use, n, r->channels);
        nino_forward in = { .x = nino_zeros(s, x, nino_stream_act_type(s)),
                            .timestep = t,
                            .context = zero_rows(s, m->context, rows, tokens_of(p, n)),
                            .y = zero_rows(s, m->y, rows, 0),
                            .refs = refs,
                            .n_refs = m->n_refs,
                            .guidance = m->guidance };
        if (m->concat)
            in.concat = nino_zeros(
                s, tile_shape(r, p[0].use, n, m->concat->shape.dim[r->n_axes + 1]), in.x->dtype);
        for (int i = 0; i < m->n_refs; i++)
            refs[i] = zero_rows(s, m->refs[i], rows, 0);
        nino_unref(r->net->forward(s, r->net, &in));
        st = nino_stream_status(s, NULL);
    }
    if (!st) {
        nino_mem_stat mem;
        nino_pool_stat(plan->pool, &mem);
        *reserved = mem.reserved;
        *weights = mem.by_owner[NINO_OWN_WEIGHTS];
    }
    free(t);
    free(refs);
    nino_stream_destroy(&s);
    nino_backend_close(&plan);
    return st;
}

static bool fits(nino_guide_run *r, const piece *p, int n)
{
    nino_mem_stat mem;
    uint64_t reserved = 0, weights = 0;
    const int64_t tokens = tokens_of(p, n);
    nino_pool_stat(nino_stream_backend(r->s)->pool, &mem);
    if (!mem.budget)
        return true;
    for (const nino_guide_fit *f = r->fits; f < r->fits + r->n_fits; f++)
        if (f->n == n && f->tokens == tokens &&
            !memcmp(f->size, p[0].use->size, (size_t) r->n_axes * sizeof(f->size[0])))
            return f->fits;
    nino_guide_fit *f = realloc(r->fits, (size_t) (r->n_fits + 1) * sizeof(*f));
    if (!f || plan_need(r, p, n, &reserved, &weights))
        return false;
    r->fits = f;
    f += r->n_fits++;
    // Other models' weights make room when they must; what else is there stays.
    const uint64_t others = mem.in_use - mem.by_owner[NINO_OWN_WEIGHTS];
    *f = (nino_guide_fit){ .n = n, .tokens = tokens, .fits = reserved + others <= mem.budget };
    memcpy(f->size, p[0].use->size, sizeof(f->size));
    return f->fits;
}

// Moves what shares a batch with p[0] to the front; returns how many of them run together.
static int choose_batch(nino_guide_run *r, piece *p, int n)
{
    int same = 1;
    for (int i = 1; i < n && !r->one_by_one; i++)
        if (can_share(r, p[0].use, p[i].use)) {
            const piece t = p[i];
            memmove(&p[same + 1], &p[same], (size_t) (i - same) * sizeof(*p));
            p[same++] = t;
        }
    for (int parts = 1; parts <= same; parts++) {
        const int k = same / parts;
        if (k == 1 || fits(r, p, k))
            return k;
    }
    return 1;
}

// ---- lists -----------------------------------------------------------------------------------

static nino_status evaluate(nino_guide_run *r, const bool *wanted, const float *x, float sigma,
                            nino_error *err)
{
    int total = 0, n = 0;
    for (int k = 0; k < NINO_COND_KINDS; k++)
        total += r->list[k].n;
    piece *p = calloc((size_t) total + 1, sizeof(*p));
    if (!p)
        return nino_fail(err, NINO_ERR_NOMEM, "", "no memory for a model evaluation");
    for (int k = 0; k < NINO_COND_KINDS; k++)
        for (int i = 0; i < r->list[k].n && wanted[k]; i++) {
            const nino_cond_use *u = &r->list[k].use[i];
            if (nino_stream_is_plan(r->s) ||
                ((double) sigma <= u->first && (double) sigma >= u->last))
                p[n++] = (piece){ u, k };
        }
    for (int at = 0; at < n && !nino_stream_status(r->s, NULL) && !r->err.code;) {
        const int k = choose_batch(r, p + at, n - at);
        run_batch(r, p + at, k, x, sigma);
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
