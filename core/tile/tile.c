// VAE decode and encode of host images, whole or in tiles: crop, run, blend, measure.
// Blending is done on the device: tiles are summed into a canvas together with their weights, so
// only the finished image and the strips that neighbours share cross the bus.
#include "core/tile/tile_job.h"
#include "core/base/error.h"
#include "core/base/time.h"
#include "core/tile/fit.h"
#include "core/op/backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef nino_tile_job job;
typedef nino_tile_pass pass;

// ---- one tile --------------------------------------------------------------------------------
static nino_array *tile_crop(const job *j, int b, int n, nino_tile_rect r)
{
    const int64_t *d = j->in->shape.dim;
    const int64_t w = (int64_t) r.w * j->in_unit, h = (int64_t) r.h * j->in_unit;
    const int64_t x0 = j->in_x + (int64_t) r.x * j->in_unit;
    const int64_t y0 = j->in_y + (int64_t) r.y * j->in_unit;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, h, w, j->in_c));
    for (int64_t y = 0; a && y < n * h; y++) {
        const int64_t row = (b + y / h) * d[1] + y0 + y % h;
        const float *src = nino_array_f32(j->in) + (row * d[2] + x0) * d[3];
        float *dst = nino_array_f32(a) + y * w * j->in_c;
        for (int64_t x = 0; x < w; x++) // a fourth channel (alpha) is left out
            memcpy(dst + x * j->in_c, src + x * d[3], (size_t) j->in_c * sizeof(float));
    }
    return a;
}

// Of n pictures from b on.
static nino_tensor *tile_upload(job *j, int b, int n, nino_tile_rect r)
{
    nino_array *a = tile_crop(j, b, n, r);
    if (!a)
        return nino_stream_fail(j->s, NINO_ERR_NOMEM, j->v->name, "no host memory for a tile");
    nino_tensor *t = nino_upload(j->s, a, nino_stream_act_type(j->s));
    nino_array_unref(&a);
    j->computed += (uint64_t) r.w * (uint64_t) r.h * (uint64_t) n;
    return t;
}

static nino_tensor *compute(job *j, int b, int n, nino_tile_rect r)
{
    nino_tensor *t = tile_upload(j, b, n, r);
    return j->is_decode ? j->v->decode(j->s, j->v, t) : j->v->encode(j->s, j->v, t);
}

static nino_array *strip(nino_stream *s, nino_tensor *t, int axis, int64_t start, int64_t len)
{
    return nino_download(s, nino_slice(s, nino_ref(t), axis, start, len), NINO_F32);
}

// Overlap of tile i with its neighbour in front of it, 0 if there is none.
static int tile_shared(const nino_tile_axis *a, int i)
{
    return i > 0 && i < a->n ? a->pos[i - 1] + a->len[i - 1] - a->pos[i] : 0;
}

static void tile_compare(job *j, const nino_array *a, const nino_array *b)
{
    if (!nino_stream_is_plan(j->s)) // there are no values
        nino_seam_compare(&j->seam, a, b);
}

// Compares a tile with the strips its neighbours left, and leaves its own.
static void meter(job *j, const pass *p, int ix, int iy, nino_tensor *t, nino_array **right,
                  nino_array **bottom)
{
    const int u = j->out_unit;
    const int left = tile_shared(&p->x, ix) * u, next = tile_shared(&p->x, ix + 1) * u;
    const int top = tile_shared(&p->y, iy) * u, below = tile_shared(&p->y, iy + 1) * u;
    nino_array *a = left ? strip(j->s, t, 2, 0, left) : NULL;
    tile_compare(j, *right, a);
    nino_array_unref(&a);
    nino_array_unref(right);
    *right = next ? strip(j->s, t, 2, (int64_t) p->x.len[ix] * u - next, next) : NULL;
    a = top ? strip(j->s, t, 1, 0, top) : NULL;
    tile_compare(j, bottom[ix], a);
    nino_array_unref(&a);
    nino_array_unref(&bottom[ix]);
    bottom[ix] = below ? strip(j->s, t, 1, (int64_t) p->y.len[iy] * u - below, below) : NULL;
}

static void tile_publish_tile(const job *j, const pass *p, int ix, int iy, uint64_t ns)
{
    nino_pool *pool = nino_stream_backend(j->s)->pool;
    const int f = j->v->factor;
    const int left = tile_shared(&p->x, ix), next = tile_shared(&p->x, ix + 1);
    const int top = tile_shared(&p->y, iy), below = tile_shared(&p->y, iy + 1);
    nino_event e = { .kind = NINO_EV_TILE_INFO, .name = j->why };
    e.u.tile.x = (uint16_t) (p->x.pos[ix] * f);
    e.u.tile.y = (uint16_t) (p->y.pos[iy] * f);
    e.u.tile.w = (uint16_t) (p->x.len[ix] * f);
    e.u.tile.h = (uint16_t) (p->y.len[iy] * f);
    e.u.tile.core_x = (uint16_t) ((p->x.pos[ix] + left) * f);
    e.u.tile.core_y = (uint16_t) ((p->y.pos[iy] + top) * f);
    e.u.tile.core_w = (uint16_t) ((p->x.len[ix] - left - next) * f);
    e.u.tile.core_h = (uint16_t) ((p->y.len[iy] - top - below) * f);
    e.u.tile.order = (uint16_t) j->order;
    e.u.tile.n = (uint16_t) j->n_tiles;
    e.u.tile.pass = (uint16_t) (p - j->pass);
    e.u.tile.n_passes = (uint16_t) j->n_passes;
    e.u.tile.ns = ns;
    e.u.tile.peak_bytes = nino_pool_take_window_peak(pool);
    nino_monitor_publish(nino_stream_monitor(j->s), &e);
}

static nino_tensor *run_tile(job *j, int b, const pass *p, int ix, int iy, nino_tensor *canvas,
                             nino_array **right, nino_array **bottom)
{
    const nino_tile_rect r = { p->x.pos[ix], p->y.pos[iy], p->x.len[ix], p->y.len[iy] };
    const int u = j->out_unit;
    const uint64_t start = nino_now_ns();
    int feather = p->overlap * u, sides = 15;
    if (!j->is_stock)
        sides = (ix > 0) | (iy > 0) << 1 | (ix + 1 < p->x.n) << 2 | (iy + 1 < p->y.n) << 3;
    nino_scope_begin(j->s, NINO_EV_TILE, "tile", (uint32_t) j->order, (uint32_t) j->n_tiles);
    (void) nino_pool_take_window_peak(nino_stream_backend(j->s)->pool);
    nino_tensor *t = compute(j, b, 1, r);
    meter(j, p, ix, iy, t, right, bottom);
    // like ComfyUI, an axis whose feather would not leave a middle is not feathered
    canvas = nino_blend(j->s, canvas, t, r.x * u, r.y * u, feather < r.w * u ? feather : 0,
                        feather < r.h * u ? feather : 0, sides);
    if (!nino_stream_status(j->s, NULL) && !nino_stream_finish(j->s, NULL))
        tile_publish_tile(j, p, ix, iy, nino_now_ns() - start);
    nino_tidy_after(j->s, j->order);
    nino_scope_end(j->s);
    j->order++;
    return canvas;
}

// ---- exact: bands of rows ---------------------------------------------------------------------

typedef struct exact_rows { // as they come
    job *j;
    nino_array *out;                       // [1,H,W,3]
    int64_t first[NINO_TILE_MAX_AXIS + 1]; // rows where bands begin
    int n;
} exact_rows;

static void exact_put(void *priv, int64_t first, nino_tensor *rows)
{
    exact_rows *e = priv;
    const int64_t row = e->out->shape.dim[2] * 3;
    nino_array *a = nino_download(e->j->s, rows, NINO_F32);
    if (a && e->n < NINO_TILE_MAX_AXIS) {
        memcpy(nino_array_f32(e->out) + first * row, a->data, a->bytes);
        e->first[e->n++] = first;
        e->first[e->n] = first + a->shape.dim[1];
    }
    nino_array_unref(&a);
}

// All layers went over all bands together: each has its share of the time.
static void exact_publish(const exact_rows *e, uint64_t ns)
{
    const job *j = e->j;
    const uint64_t peak = nino_pool_take_window_peak(nino_stream_backend(j->s)->pool);
    for (int i = 0; i < e->n; i++) {
        nino_event ev = { .kind = NINO_EV_TILE_INFO, .name = j->why };
        ev.u.tile.y = ev.u.tile.core_y = (uint16_t) e->first[i];
        ev.u.tile.w = ev.u.tile.core_w = (uint16_t) (j->w * j->out_unit);
        ev.u.tile.h = ev.u.tile.core_h = (uint16_t) (e->first[i + 1] - e->first[i]);
        ev.u.tile.order = (uint16_t) i;
        ev.u.tile.n = (uint16_t) e->n;
        ev.u.tile.n_passes = 1;
        ev.u.tile.ns = ns / (uint64_t) e->n;
        ev.u.tile.peak_bytes = peak;
        nino_monitor_publish(nino_stream_monitor(j->s), &ev);
    }
}

static nino_array *run_exact(job *j, int b)
{
    const int64_t h = (int64_t) j->h * j->out_unit, w = (int64_t) j->w * j->out_unit;
    const uint64_t start = nino_now_ns();
    exact_rows e = { .j = j, .out = nino_array_create(NINO_F32, NINO_SHAPE(1, h, w, 3)) };
    const nino_vae_bands how = { .rows = (int64_t) j->pass[0].y.len[0] * j->out_unit,
                                 .on_host = j->on_host,
                                 .put = exact_put,
                                 .priv = &e };
    if (!e.out)
        return nino_stream_fail(j->s, NINO_ERR_NOMEM, j->v->name, "no host memory for the image");
    (void) nino_pool_take_window_peak(nino_stream_backend(j->s)->pool);
    nino_tensor *z = tile_upload(j, b, 1, (nino_tile_rect){ 0, 0, j->w, j->h });
    if (z)
        j->v->decode_bands(j->s, j->v, z, &how);
    if (nino_stream_status(j->s, NULL))
        nino_array_unref(&e.out);
    else
        exact_publish(&e, nino_now_ns() - start);
    return e.out;
}

// ---- one image -------------------------------------------------------------------------------
static bool is_tile_plain(const pass *p) { return p->x.n == 1 && p->y.n == 1; }

// Images from b on as one tile; only one among others is reported as a tile.
static nino_array *run_plain(job *j, int b, int n, const pass *p)
{
    const uint64_t start = nino_now_ns();
    const bool is_tile = j->n_tiles > 1;
    if (is_tile)
        nino_scope_begin(j->s, NINO_EV_TILE, "tile", (uint32_t) j->order, (uint32_t) j->n_tiles);
    (void) nino_pool_take_window_peak(nino_stream_backend(j->s)->pool);
    nino_tensor *t = compute(j, b, n, (nino_tile_rect){ 0, 0, j->w, j->h });
    nino_array *a = nino_download(j->s, t, NINO_F32);
    if (is_tile) {
        if (a)
            tile_publish_tile(j, p, 0, 0, nino_now_ns() - start);
        nino_scope_end(j->s);
    }
    j->order++;
    return a;
}

// One pass over image b (of a plain one n of them): [1,H,W,C], NULL after a failure.
static nino_array *run_pass(job *j, int b, int n, const pass *p)
{
    if (is_tile_plain(p))
        return run_plain(j, b, n, p);
    const int64_t h = (int64_t) j->h * j->out_unit, w = (int64_t) j->w * j->out_unit;
    nino_array *right = NULL, *bottom[NINO_TILE_MAX_AXIS] = { NULL };
    nino_tensor *canvas = nino_zeros(j->s, NINO_SHAPE(h, w, j->out_c + 1), NINO_F32);
    for (int iy = 0; iy < p->y.n && !nino_stream_status(j->s, NULL); iy++)
        for (int ix = 0; ix < p->x.n && !nino_stream_status(j->s, NULL); ix++)
            canvas = run_tile(j, b, p, ix, iy, canvas, &right, bottom);
    nino_array *a = nino_download(j->s, nino_blend_div(j->s, canvas), NINO_F32);
    nino_array_unref(&right);
    for (int i = 0; i < p->x.n; i++)
        nino_array_unref(&bottom[i]);
    return a;
}

// Clamped to what pixels may be; what no arithmetic should give is an error.
static nino_status tile_check_values(const job *j, float *v, size_t n, nino_error *err)
{
    for (size_t k = 0; k < n; k++) {
        if (!isfinite(v[k]))
            return nino_fail_kind(err, NINO_ERR_RANGE, "nan", j->v->name,
                                  "%s produced values that are not finite in %s arithmetic",
                                  j->is_decode ? "decoding" : "encoding",
                                  nino_stream_storage(j->s));
        if (j->is_decode)
            v[k] = fminf(fmaxf(v[k], 0), 1);
    }
    return NINO_OK;
}

// Images b ... b + count - 1; only whole ones go together.
static nino_status run_images(job *j, int b, int count, nino_error *err)
{
    const size_t each =
        (size_t) j->h * (size_t) j->w * (size_t) (j->out_unit * j->out_unit) * (size_t) j->out_c;
    const size_t n = each * (size_t) count;
    float *dst = nino_array_f32(j->out) + (size_t) b * each;
    const bool is_plan = nino_stream_is_plan(j->s); // there are no values
    j->order = 0;
    for (int i = 0; i < j->n_passes; i++) {
        nino_array *a = j->is_exact ? run_exact(j, b) : run_pass(j, b, count, &j->pass[i]);
        if (!a)
            return nino_stream_status(j->s, err);
        const float *src = nino_array_f32(a);
        if (i == 0 && !is_plan)
            memcpy(dst, src, n * sizeof(float));
        for (size_t k = 0; i > 0 && k < n && !is_plan; k++)
            dst[k] += src[k];
        nino_array_unref(&a);
    }
    if (is_plan)
        return NINO_OK;
    for (size_t k = 0; j->n_passes > 1 && k < n; k++)
        dst[k] /= (float) j->n_passes;
    const nino_status st = tile_check_values(j, dst, n, err);
    for (int i = 0; i < j->n_passes && !j->is_exact && !st; i++)
        nino_seam_lines(&j->seam, dst, j->h * j->out_unit, j->w * j->out_unit, j->out_c,
                        &j->pass[i].x, &j->pass[i].y, j->out_unit);
    return st;
}

// ---- all images ------------------------------------------------------------------------------
static nino_status tile_lay_out(job *j, const nino_tile_way *way, nino_error *err)
{
    const nino_tile_style style = way->style;
    const int tile = way->tile, overlap = way->overlap;
    bool ok = true;
    j->is_stock = style == NINO_TILE_STOCK;
    j->is_exact = style == NINO_TILE_EXACT;
    j->on_host = way->on_host;
    j->n_passes = 1;
    if (style == NINO_TILE_NEVER) {
        ok = nino_tile_axis_even(&j->pass[0].x, j->w, j->w, 0) &&
             nino_tile_axis_even(&j->pass[0].y, j->h, j->h, 0);
    } else if (j->is_exact) {
        ok = nino_tile_axis_even(&j->pass[0].x, j->w, j->w, 0) &&
             nino_tile_axis_even(&j->pass[0].y, j->h, tile, 0);
    } else if (style == NINO_TILE_STOCK) {
        const int w[3] = { tile / 2, tile * 2, tile }, h[3] = { tile * 2, tile / 2, tile };
        j->n_passes = 3;
        for (int i = 0; i < 3; i++)
            ok = ok && nino_tile_axis_stock(&j->pass[i].x, j->w, w[i], overlap) &&
                 nino_tile_axis_stock(&j->pass[i].y, j->h, h[i], overlap);
        if (ok && is_tile_plain(&j->pass[0]) && is_tile_plain(&j->pass[1]) &&
            is_tile_plain(&j->pass[2]))
            j->n_passes = 1; // the mean of three equal images
    } else {
        ok = nino_tile_axis_even(&j->pass[0].x, j->w, tile, overlap) &&
             nino_tile_axis_even(&j->pass[0].y, j->h, tile, overlap);
    }
    if (!ok)
        return nino_fail(err, NINO_ERR_RANGE, j->v->name,
                         "tiles of %d with an overlap of %d are too small for this image",
                         tile * j->v->factor, overlap * j->v->factor);
    j->n_tiles = 0;
    for (int i = 0; i < j->n_passes; i++) {
        j->pass[i].overlap = overlap;
        j->n_tiles += j->pass[i].x.n * j->pass[i].y.n;
    }
    return NINO_OK;
}

static void tile_fill_report(const job *j, nino_tile_report *r)
{
    const pass *last = &j->pass[j->n_passes - 1];
    const int f = j->v->factor, n = (int) j->in->shape.dim[0];
    r->n_tiles = j->n_tiles;
    r->tiled = j->n_tiles > 1;
    r->tile_w = last->x.len[0] * f;
    r->tile_h = last->y.len[0] * f;
    r->overlap = r->tiled ? last->overlap * f : 0;
    if (!r->tiled)
        return;
    const uint64_t area = (uint64_t) j->w * (uint64_t) j->h * (uint64_t) n;
    nino_seam_report(&j->seam, area, j->computed, f, nino_stream_monitor(j->s), &r->seam);
}

// How many whole pictures of a batch go through together: what was chosen for the node.
static int tile_together(job *j, const nino_tile_params *p, const nino_tile_way *way)
{
    const int n = (int) j->in->shape.dim[0], chosen = nino_stream_choice(j->s)->images;
    nino_taken *t = nino_stream_taken(j->s);
    if (way->style != NINO_TILE_NEVER || p->one_by_one || n == 1)
        return 1;
    t->images_most = n > t->images_most ? n : t->images_most;
    t->images = chosen > 1 ? (chosen < n ? chosen : n) : 1;
    return t->images;
}

static nino_status tile_run_job(job *j, const nino_tile_params *p, nino_tile_report *r,
                                nino_error *err)
{
    const int f = j->v->factor, n = (int) j->in->shape.dim[0];
    const bool is_never = p->style == NINO_TILE_NEVER;
    nino_tile_way way = { .style = p->style, .tile = p->tile / f, .overlap = p->overlap / f };
    if (is_never) { // what ComfyUI falls back to
        way.tile = j->is_decode ? 64 : 512 / f;
        way.overlap = j->is_decode ? 16 : 64 / f;
        way.tile = way.tile < NINO_TILE_LEAST ? NINO_TILE_LEAST : way.tile;
    }
    if (way.tile < NINO_TILE_LEAST || way.overlap < 0)
        return nino_fail(err, NINO_ERR_RANGE, j->v->name,
                         "a tile of %d pixels is below %d, or the overlap %d is negative", p->tile,
                         NINO_TILE_LEAST * f, p->overlap);
    way.overlap = way.overlap <= way.tile / 4 ? way.overlap : way.tile / 4;
    way.fallback = is_never ? NINO_TILE_STOCK : NINO_TILE_ALWAYS;
    nino_status st = nino_tile_choose(j, p->exact, &way, r, err);
    j->images = tile_together(j, p, &way);
    for (int b = 0; b < n && !st;) {
        const int count = way.style != NINO_TILE_NEVER ? 1 : n - b < j->images ? n - b : j->images;
        const uint64_t computed = j->computed;
        const nino_seam seam = j->seam;
        j->why = nino_monitor_passing(nino_stream_monitor(j->s), r->why);
        st = tile_lay_out(j, &way, err);
        st = st ? st : run_images(j, b, count, err);
        if (st == NINO_ERR_NOMEM && (count > 1 || nino_tile_shrink(j, &way, r))) {
            j->images = 1;
            nino_stream_clear_error(j->s);
            j->computed = computed; // the failed attempt is not part of the result
            j->seam = seam;
            st = NINO_OK;
            continue;
        }
        b += count;
    }
    if (!st)
        tile_fill_report(j, r);
    return st;
}

// ---- decode and encode -----------------------------------------------------------------------
static nino_status tile_start(job *j, nino_array **out, nino_tile_report *r, nino_error *err)
{
    memset(r, 0, sizeof(*r));
    j->out =
        nino_array_create(NINO_F32, NINO_SHAPE(j->in->shape.dim[0], (int64_t) j->h * j->out_unit,
                                               (int64_t) j->w * j->out_unit, j->out_c));
    j->pass = calloc(3, sizeof(*j->pass));
    *out = j->out;
    if (!j->out || !j->pass)
        return nino_fail(err, NINO_ERR_NOMEM, j->v->name, "no host memory for the result");
    return NINO_OK;
}

static nino_status tile_run(job *j, const nino_tile_params *p, nino_array **out,
                            nino_tile_report *r, nino_error *err)
{
    nino_tile_report unused = { 0 };
    r = r ? r : &unused;
    nino_status st = tile_start(j, out, r, err);
    if (!st)
        st = tile_run_job(j, p, r, err);
    free(j->pass);
    if (st)
        nino_array_unref(out);
    return st;
}

nino_status nino_vae_decode_tiled(nino_stream *s, const nino_vae *v, const nino_array *z,
                                  const nino_tile_params *p, nino_array **pixels,
                                  nino_tile_report *report, nino_error *err)
{
    const int64_t *d = z->shape.dim;
    *pixels = NULL;
    if (!v->has_decoder)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "model", v->name,
                              "this VAE file has no decoder");
    if (z->shape.rank == 5)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, v->name,
                         "this is an image VAE, the latent is a video");
    if (z->shape.rank != 4 || z->dtype != NINO_F32 || d[0] < 1 || d[1] < 1 || d[2] < 1)
        return nino_fail(err, NINO_ERR_ARG, v->name, "a latent must be a batch of images");
    if (d[3] != v->channels)
        return nino_fail_kind(err, NINO_ERR_RANGE, "shape", v->name,
                              "the latent has %lld channels, this VAE (%s) decodes %d: it belongs "
                              "to another model",
                              (long long) d[3], v->family, v->channels);
    if (d[1] * v->factor > UINT16_MAX || d[2] * v->factor > UINT16_MAX)
        return nino_fail(err, NINO_ERR_RANGE, v->name, "images end at 65535 pixels a side");
    job j = { .s = s, .v = v, .is_decode = true, .in = z, .h = (int) d[1], .w = (int) d[2] };
    j.in_unit = 1;
    j.out_unit = v->factor;
    j.in_c = v->channels;
    j.out_c = 3;
    j.seam.is_picture = true;
    return tile_run(&j, p, pixels, report, err);
}

nino_status nino_vae_encode_tiled(nino_stream *s, const nino_vae *v, const nino_array *pixels,
                                  const nino_tile_params *p, nino_array **z,
                                  nino_tile_report *report, nino_error *err)
{
    const int64_t *d = pixels->shape.dim;
    const int f = v->factor;
    *z = NULL;
    if (!v->has_encoder)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "model", v->name,
                              "this VAE file has no encoder");
    if (pixels->shape.rank != 4 || pixels->dtype != NINO_F32 || d[0] < 1 || d[3] < 3)
        return nino_fail(err, NINO_ERR_ARG, v->name, "an image batch has three channels or four");
    if (d[1] < f || d[2] < f || d[1] > UINT16_MAX || d[2] > UINT16_MAX)
        return nino_fail(err, NINO_ERR_RANGE, v->name,
                         "an image of %lldx%lld cannot be encoded: sides of %d to 65535 pixels can",
                         (long long) d[2], (long long) d[1], f);
    job j = { .s = s, .v = v, .in = pixels, .h = (int) (d[1] / f), .w = (int) (d[2] / f) };
    j.in_unit = f;
    j.out_unit = 1;
    j.in_x = (int) (d[2] % f / 2);
    j.in_y = (int) (d[1] % f / 2);
    j.in_c = 3;
    j.out_c = v->channels;
    return tile_run(&j, p, z, report, err);
}
