// VAE decode and encode of host images, whole or in tiles: crop, run, blend, measure.
// Blending is done on the device: tiles are summed into a canvas together with their weights, so
// only the finished image and the strips that neighbours share cross the bus.
#include "core/tile/tile_job.h"
#include "core/base/error.h"
#include "core/base/size.h"
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
static nino_tensor *tile_upload(const job *j, nino_stream *s, int b, int n, nino_tile_rect r)
{
    nino_array *a = tile_crop(j, b, n, r);
    if (!a)
        return nino_stream_fail(s, NINO_ERR_NOMEM, j->v->name, "no host memory for a tile");
    nino_tensor *t = nino_upload(s, a, nino_stream_act_type(s));
    nino_array_unref(&a);
    return t;
}

static nino_tensor *compute(const job *j, nino_stream *s, int b, int n, nino_tile_rect r)
{
    nino_tensor *t = tile_upload(j, s, b, n, r);
    return j->is_decode ? nino_vae_decode(s, j->v, t) : nino_vae_encode(s, j->v, t);
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
static void meter(job *j, const pass *p, int ix, int iy, nino_tensor *t)
{
    const int u = j->out_unit;
    const int left = tile_shared(&p->x, ix) * u, next = tile_shared(&p->x, ix + 1) * u;
    const int top = tile_shared(&p->y, iy) * u, below = tile_shared(&p->y, iy + 1) * u;
    nino_array *a = left ? strip(j->s, t, 2, 0, left) : NULL;
    tile_compare(j, j->right, a);
    nino_array_unref(&a);
    nino_array_unref(&j->right);
    j->right = next ? strip(j->s, t, 2, (int64_t) p->x.len[ix] * u - next, next) : NULL;
    a = top ? strip(j->s, t, 1, 0, top) : NULL;
    tile_compare(j, j->bottom[ix], a);
    nino_array_unref(&a);
    nino_array_unref(&j->bottom[ix]);
    j->bottom[ix] = below ? strip(j->s, t, 1, (int64_t) p->y.len[iy] * u - below, below) : NULL;
}

static void tile_publish_tile(const job *j, const pass *p, int ix, int iy, int order,
                              const nino_unit_result *r)
{
    const int f = j->v->factor;
    const int left = tile_shared(&p->x, ix), next = tile_shared(&p->x, ix + 1);
    const int top = tile_shared(&p->y, iy), below = tile_shared(&p->y, iy + 1);
    nino_event e = { .kind = NINO_EV_TILE_INFO, .name = j->why };
    e.id = r->device;
    e.parent = r->scope;
    e.u.tile.x = (uint16_t) (p->x.pos[ix] * f);
    e.u.tile.y = (uint16_t) (p->y.pos[iy] * f);
    e.u.tile.w = (uint16_t) (p->x.len[ix] * f);
    e.u.tile.h = (uint16_t) (p->y.len[iy] * f);
    e.u.tile.core_x = (uint16_t) ((p->x.pos[ix] + left) * f);
    e.u.tile.core_y = (uint16_t) ((p->y.pos[iy] + top) * f);
    e.u.tile.core_w = (uint16_t) ((p->x.len[ix] - left - next) * f);
    e.u.tile.core_h = (uint16_t) ((p->y.len[iy] - top - below) * f);
    e.u.tile.order = (uint16_t) order;
    e.u.tile.n = (uint16_t) j->n_tiles;
    e.u.tile.pass = (uint16_t) (p - j->pass);
    e.u.tile.n_passes = (uint16_t) j->n_passes;
    e.u.tile.ns = r->ns;
    e.u.tile.peak_bytes = r->peak;
    nino_monitor_publish(nino_stream_monitor(j->s), &e);
}

// The pass that tile `order` of a picture belongs to; its place there.
static const pass *tile_place(const job *j, int order, int *ix, int *iy)
{
    const pass *p = j->pass;
    for (; order >= p->x.n * p->y.n; p++)
        order -= p->x.n * p->y.n;
    *ix = order % p->x.n;
    *iy = order / p->x.n;
    return p;
}

static bool is_tile_plain(const pass *p) { return p->x.n == 1 && p->y.n == 1; }

// Into the canvas of its pass.
static void put_tile(job *j, const pass *p, int ix, int iy, nino_tensor *t)
{
    const nino_tile_rect r = { p->x.pos[ix], p->y.pos[iy], p->x.len[ix], p->y.len[iy] };
    const int u = j->out_unit, feather = p->overlap * u;
    int sides = 15;
    if (!j->is_stock)
        sides = (ix > 0) | (iy > 0) << 1 | (ix + 1 < p->x.n) << 2 | (iy + 1 < p->y.n) << 3;
    meter(j, p, ix, iy, t);
    // like ComfyUI, an axis whose feather would not leave a middle is not feathered
    j->canvas = nino_blend(j->s, j->canvas, t, r.x * u, r.y * u, feather < r.w * u ? feather : 0,
                           feather < r.h * u ? feather : 0, sides);
}

// ---- exact: bands of rows ---------------------------------------------------------------------

typedef struct exact_rows { // as they come
    const job *j;
    nino_stream *s;
    nino_array *out;                       // [1,H,W,3]
    int64_t first[NINO_TILE_MAX_AXIS + 1]; // rows where bands begin
    int n;
} exact_rows;

static void exact_put(void *priv, int64_t first, nino_tensor *rows)
{
    exact_rows *e = priv;
    const int64_t row = e->out->shape.dim[2] * 3;
    nino_array *a = nino_download(e->s, rows, NINO_F32);
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
    const uint64_t peak = nino_pool_take_window_peak(nino_stream_backend(e->s)->pool);
    for (int i = 0; i < e->n; i++) {
        nino_event ev = { .kind = NINO_EV_TILE_INFO, .name = j->why };
        ev.id = nino_stream_device(e->s);
        ev.u.tile.y = ev.u.tile.core_y = (uint16_t) e->first[i];
        ev.u.tile.w = ev.u.tile.core_w = (uint16_t) (j->w * j->out_unit);
        ev.u.tile.h = ev.u.tile.core_h = (uint16_t) (e->first[i + 1] - e->first[i]);
        ev.u.tile.order = (uint16_t) i;
        ev.u.tile.n = (uint16_t) e->n;
        ev.u.tile.n_passes = 1;
        ev.u.tile.ns = ns / (uint64_t) e->n;
        ev.u.tile.peak_bytes = peak;
        nino_monitor_publish(nino_stream_monitor(e->s), &ev);
    }
}

static nino_array *run_exact(const job *j, nino_stream *s, int b)
{
    const int64_t h = (int64_t) j->h * j->out_unit, w = (int64_t) j->w * j->out_unit;
    const uint64_t start = nino_now_ns();
    exact_rows e = { .j = j, .s = s, .out = nino_array_create(NINO_F32, NINO_SHAPE(1, h, w, 3)) };
    const nino_vae_bands how = { .rows = (int64_t) j->pass[0].y.len[0] * j->out_unit,
                                 .on_host = j->on_host,
                                 .put = exact_put,
                                 .priv = &e };
    if (!e.out)
        return nino_stream_fail(s, NINO_ERR_NOMEM, j->v->name, "no host memory for the image");
    nino_tensor *z = tile_upload(j, s, b, 1, (nino_tile_rect){ 0, 0, j->w, j->h });
    j->v->decode_bands(s, j->v, z, &how);
    if (nino_stream_finish(s, NULL))
        nino_array_unref(&e.out);
    else
        exact_publish(&e, nino_now_ns() - start);
    return e.out;
}

// ---- units: tiles, whole pictures --------------------------------------------------------------

// Whole pictures of unit i: *b ... *b + count - 1.
static int unit_pictures(const job *j, int i, int *b)
{
    *b = j->first + i * j->share;
    const int left = (int) j->in->shape.dim[0] - *b;
    return left < j->share ? left : j->share;
}

static int unit_count(const job *j)
{
    const int n = (int) j->in->shape.dim[0] - j->first;
    return j->is_exact ? n : !j->is_whole ? n * j->n_tiles : (int) nino_ceil_div(n, j->share);
}

static bool unit_place(const void *priv, int i, int *order, int *of)
{
    const job *j = priv;
    *order = i % j->n_tiles;
    *of = j->n_tiles;
    return !j->is_exact && j->n_tiles > 1;
}

static void unit_compute(const void *priv, nino_stream *s, int i, nino_unit_result *r)
{
    const job *j = priv;
    int ix, iy, b;
    if (j->is_exact) {
        r->a = run_exact(j, s, j->first + i);
    } else if (j->is_whole) {
        const int count = unit_pictures(j, i, &b);
        r->t = compute(j, s, b, count, (nino_tile_rect){ 0, 0, j->w, j->h });
    } else {
        const pass *p = tile_place(j, i % j->n_tiles, &ix, &iy);
        const nino_tile_rect rect = { p->x.pos[ix], p->y.pos[iy], p->x.len[ix], p->y.len[iy] };
        r->t = compute(j, s, j->first + i / j->n_tiles, 1, rect);
    }
}

// On another device, which puts nothing together.
static void unit_need(nino_stream *dry, const void *priv)
{
    const job *j = priv;
    const nino_tile_fit fit = { .v = j->v,
                                .is_decode = j->is_decode,
                                .h = j->h,
                                .w = j->w,
                                .is_exact = j->is_exact,
                                .on_host = j->on_host };
    for (int i = 0; i < (j->is_exact ? 1 : j->n_passes); i++)
        nino_vae_walk(dry, &fit, j->share, j->is_exact ? j->w : j->pass[i].x.len[0],
                      j->pass[i].y.len[0]);
}

// ---- pictures ----------------------------------------------------------------------------------

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

// The next `count` pictures as pass i has made them; after the last one they are finished.
static nino_status end_pass(job *j, int i, int count, const nino_array *a, nino_error *err)
{
    const size_t each =
        (size_t) j->h * (size_t) j->w * (size_t) (j->out_unit * j->out_unit) * (size_t) j->out_c;
    const size_t n = each * (size_t) count;
    float *dst = nino_array_f32(j->out) + (size_t) j->done * each;
    const bool is_plan = nino_stream_is_plan(j->s), is_last = i + 1 == j->n_passes;
    nino_status st = NINO_OK;
    if (i == 0 && !is_plan)
        memcpy(dst, nino_array_f32(a), n * sizeof(float));
    for (size_t k = 0; i > 0 && k < n && !is_plan; k++)
        dst[k] += nino_array_f32(a)[k];
    if (!is_last)
        return NINO_OK;
    for (size_t k = 0; j->n_passes > 1 && k < n && !is_plan; k++)
        dst[k] /= (float) j->n_passes;
    if (!is_plan)
        st = tile_check_values(j, dst, n, err);
    for (int k = 0; k < j->n_passes && !j->is_exact && !is_plan && !st; k++)
        nino_seam_lines(&j->seam, dst, j->h * j->out_unit, j->w * j->out_unit, j->out_c,
                        &j->pass[k].x, &j->pass[k].y, j->out_unit);
    if (st)
        return st;
    j->done += count;
    j->computed_before = j->computed;
    j->seam_before = j->seam;
    return NINO_OK;
}

static void drop_pass(job *j)
{
    nino_unref(j->canvas);
    j->canvas = NULL;
    nino_array_unref(&j->right);
    for (int i = 0; i < NINO_TILE_MAX_AXIS; i++)
        nino_array_unref(&j->bottom[i]);
}

// What tile `order` of a picture goes into.
static void need_canvas(job *j, int order)
{
    int ix, iy;
    const int64_t h = (int64_t) j->h * j->out_unit, w = (int64_t) j->w * j->out_unit;
    if (!j->canvas && !is_tile_plain(tile_place(j, order, &ix, &iy)))
        j->canvas = nino_zeros(j->s, NINO_SHAPE(h, w, j->out_c + 1), NINO_F32);
}

static void unit_prepare(void *priv, int i)
{
    job *j = priv;
    if (!j->is_exact && !j->is_whole && j->n_tiles > 1)
        need_canvas(j, i % j->n_tiles);
}

// A tile among others; *whole: all of a pass, with the last one.
static void take_tile(job *j, int order, nino_unit_result *r, nino_array **whole)
{
    int ix, iy;
    const pass *p = tile_place(j, order, &ix, &iy);
    const bool is_own = r->t != NULL;
    if (is_tile_plain(p)) {
        *whole = nino_unit_array(j->s, r);
    } else {
        need_canvas(j, order);
        put_tile(j, p, ix, iy, nino_unit_tensor(j->s, r));
    }
    if (is_own) // what puts it into its place belongs to it
        nino_stream_finish(j->s, NULL);
    if (is_own && !nino_stream_status(j->s, NULL)) {
        r->ns = nino_now_ns() - r->begin;
        r->peak = nino_pool_take_window_peak(nino_stream_backend(j->s)->pool);
    }
    if (!nino_stream_status(j->s, NULL))
        tile_publish_tile(j, p, ix, iy, order, r);
    nino_tidy_after(j->s, order);
    if (!is_tile_plain(p) && ix + 1 == p->x.n && iy + 1 == p->y.n) {
        *whole = nino_download(j->s, nino_blend_div(j->s, j->canvas), NINO_F32);
        j->canvas = NULL;
        drop_pass(j);
    }
}

static nino_status unit_take(void *priv, int i, nino_unit_result *r, nino_error *err)
{
    job *j = priv;
    int ix = 0, iy = 0, b, count = 1, n_pass = 0;
    nino_array *whole = NULL;
    if (j->is_exact || j->is_whole || j->n_tiles == 1) {
        count = j->is_whole ? unit_pictures(j, i, &b) : 1;
        j->computed += (uint64_t) j->w * (uint64_t) j->h * (uint64_t) count;
        whole = nino_unit_array(j->s, r);
    } else {
        const pass *p = tile_place(j, i % j->n_tiles, &ix, &iy);
        n_pass = (int) (p - j->pass);
        j->computed += (uint64_t) p->x.len[ix] * (uint64_t) p->y.len[iy];
        take_tile(j, i % j->n_tiles, r, &whole);
    }
    nino_status st = nino_stream_status(j->s, err);
    if (!st && whole)
        st = end_pass(j, n_pass, count, whole, err);
    nino_array_unref(&whole);
    return st;
}

// Those that are not finished.
static nino_status run_pictures(job *j, nino_error *err)
{
    j->first = j->done;
    const nino_units w = { .s = j->s,
                           .where = j->v->name,
                           .n = unit_count(j),
                           .compute = unit_compute,
                           .prepare = unit_prepare,
                           .take = unit_take,
                           .place = unit_place,
                           .need = unit_need,
                           .priv = j };
    const nino_status st = nino_units_run(&w, err);
    drop_pass(j);
    if (st) { // what is not finished is not part of the result
        j->computed = j->computed_before;
        j->seam = j->seam_before;
    }
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
    j->is_whole = style == NINO_TILE_NEVER;
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

// How many whole pictures of a batch go through together: what was chosen for the node. That has no bearing
// on the bits, as plans for other devices, other memory or other neighbours choose other numbers; of so few
// cells that their products have kernels of their own it would.
static int tile_together(job *j, const nino_tile_params *p, const nino_tile_way *way)
{
    const int n = (int) j->in->shape.dim[0], chosen = nino_stream_choice(j->s)->images;
    nino_taken *t = nino_stream_taken(j->s);
    if (way->style != NINO_TILE_NEVER || p->one_by_one || n == 1 || j->w * j->h <= NINO_FEW_ROWS)
        return 1;
    t->images_most = n > t->images_most ? n : t->images_most;
    t->images = chosen > 1 ? (chosen < n ? chosen : n) : 1;
    return t->images;
}

// How many of them on one device: several parts each, so that the fastest does most.
static int tile_share(const job *j)
{
    enum { PARTS_EACH = 4 };
    const nino_lend *l = nino_stream_lend(j->s);
    const int share = l && j->is_whole ? j->images / ((l->n + 1) * PARTS_EACH) : j->images;
    return share > 1 ? share : 1;
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
    while (!st && j->done < n) {
        j->why = nino_monitor_passing(nino_stream_monitor(j->s), r->why);
        st = tile_lay_out(j, &way, err);
        j->share = tile_share(j);
        st = st ? st : run_pictures(j, err);
        if (st == NINO_ERR_NOMEM && (j->images > 1 || nino_tile_shrink(j, &way, r))) {
            j->images = 1;
            nino_stream_clear_error(j->s);
            st = NINO_OK;
        }
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
    j->bottom = calloc(NINO_TILE_MAX_AXIS, sizeof(*j->bottom));
    j->seam_before = j->seam;
    *out = j->out;
    if (!j->out || !j->pass || !j->bottom)
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
    free(j->bottom);
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
