// What one batch of conditioning entries is to the network, on the device for a whole run: texts
// repeated to one length, y, pictures beside the latent, reference latents.
// Semantics: ComfyUI 0.3.64 comfy/conds.py.
#include "core/sample/guide/guide_priv.h"

#include <stdlib.h>
#include <string.h>

static int64_t gcd(int64_t a, int64_t b) { return b ? gcd(b, a % b) : a; }
int64_t nino_guide_lcm(int64_t a, int64_t b) { return a && b ? a / gcd(a, b) * b : 0; }

int64_t nino_guide_tokens(const nino_guide_piece *p, int n)
{
    int64_t t = 1;
    for (int i = 0; i < n; i++)
        t = nino_guide_lcm(t, p[i].use->model->context->shape.dim[1]);
    return t;
}

nino_shape nino_guide_tile_shape(const nino_guide_run *r, const nino_cond_use *u, int n, int64_t c)
{
    nino_shape s = { .rank = r->n_axes + 2, .dim = { n * r->batch } };
    memcpy(s.dim + 1, u->size, (size_t) r->n_axes * sizeof(u->size[0]));
    s.dim[r->n_axes + 1] = c;
    return s;
}

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

static nino_tensor *upload_rows_as(nino_guide_run *r, const nino_array *const *row, int n,
                                   nino_shape shape, nino_dtype type)
{
    shape.dim[0] = n * r->batch;
    nino_array *a = nino_array_create(NINO_F32, shape);
    if (!a)
        return nino_stream_fail(r->s, NINO_ERR_NOMEM, "", "no memory for conditioning");
    const size_t each = a->bytes / (size_t) n;
    for (int i = 0; i < n; i++)
        fill_rows(r, (char *) a->data + (size_t) i * each, row[i], each / (size_t) r->batch);
    nino_tensor *t = nino_upload(r->s, a, type);
    nino_array_unref(&a);
    return t;
}

static nino_tensor *upload_rows(nino_guide_run *r, const nino_array *const *row, int n,
                                nino_shape shape)
{
    return upload_rows_as(r, row, n, shape, nino_stream_act_type(r->s));
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
    nino_array *out = nino_array_create(NINO_F32, nino_guide_tile_shape(r, u, 1, c));
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
                                nino_guide_tile_shape(r, f->use[0], f->n, c));
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
        row[i] = f->use[i]->model->context_mask;
    if (m->context_mask)
        f->context_mask = upload_rows_as(r, rows, f->n, m->context_mask->shape, NINO_F32);
    for (int i = 0; i < f->n; i++)
        row[i] = f->use[i]->model->y;
    if (m->y)
        f->y = upload_rows(r, rows, f->n, m->y->shape);
    if (m->n_refs && !f->refs)
        f->refs = calloc((size_t) m->n_refs, sizeof(*f->refs));
    for (int k = 0; f->refs && k < m->n_refs; k++) {
        for (int i = 0; i < f->n; i++)
            row[i] = f->use[i]->model->refs[k];
        f->refs[f->n_refs++] = upload_rows(r, rows, f->n, m->refs[k]->shape);
    }
    for (int i = 0; i < f->n; i++)
        row[i] = f->use[i]->model->vision;
    if (m->vision)
        f->vision = upload_rows(r, rows, f->n, m->vision->shape);
    for (int k = 0; k < m->n_controls; k++) {
        for (int i = 0; i < f->n; i++)
            row[i] = f->use[i]->model->control[k];
        f->control[k] = upload_rows(r, rows, f->n, m->control[k]->shape);
    }
    for (int i = 0; i < f->n; i++)
        row[i] = f->use[i]->model->control_context;
    if (m->control_context)
        f->control_context = upload_rows(r, rows, f->n, m->control_context->shape);
    if (m->concat)
        feed_concat(r, f, row);
    f->hints = nino_guide_hints(r, r->s, f->use[0], f->n);
    if (f->n_refs < m->n_refs)
        nino_stream_fail(r->s, NINO_ERR_NOMEM, "", "no memory for conditioning");
}

static void release_feed(nino_guide_feed *f)
{
    nino_kept_release(&f->text);
    nino_unref(f->context);
    nino_unref(f->context_mask);
    nino_unref(f->y);
    nino_unref(f->concat);
    nino_unref(f->vision);
    nino_unref(f->control_context);
    if (f->use)
        nino_guide_release_hints(f->use[0], &f->hints);
    for (int i = 0; i < NINO_COND_CONTROLS; i++)
        nino_unref(f->control[i]);
    for (int i = 0; i < f->n_refs; i++)
        nino_unref(f->refs[i]);
    free(f->refs);
    free(f->walk);
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
    nino_run_times_release(&r->times);
    free(r->fits);
    r->fits = NULL;
    r->n_fits = 0;
}

static bool is_feed_of(const nino_guide_feed *f, const nino_guide_piece *p, int n)
{
    for (int i = 0; i < n && n == f->n; i++)
        if (f->use[i] != p[i].use)
            return false;
    return n == f->n;
}

nino_guide_feed *nino_guide_feed_get(nino_guide_run *r, const nino_guide_piece *p, int n)
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
    f->use[0] = p[0].use;
    for (int i = 1; i < n; i++)
        f->use[i] = p[i].use;
    fill_feed(r, f, nino_guide_tokens(p, n), row);
    free(row);
    f->next = r->feeds;
    r->feeds = f;
    return f;
}
