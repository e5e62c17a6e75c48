// Upscale models over pictures of any size. Only a row of tiles is blended on the device at a time;
// what rows share is added up on the host.
#include "core/tile/tile_upscale.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/time.h"
#include "core/op/backend.h"
#include "core/tile/fit.h"
#include "core/tile/seam.h"
#include "core/tile/units.h"

#define OVERLAP 32
static const int sides[] = { 512, 256, 128 }; // of tiles; ComfyUI's

typedef struct job {
    nino_stream *s;
    const nino_upscale *u;
    const nino_array *in;
    nino_array *out;
    int w, h; // of a picture
    nino_tile_axis x, y;
    int first, done;     // pictures before it: were finished before this attempt, are finished
    nino_tensor *canvas; // of a row of tiles
    nino_array *shared;  // sums of the rows that it has in common with the row before
    uint64_t computed, computed_before; // pixels; before the picture that is not finished
    uint32_t why;
    nino_seam seam, seam_before;
    nino_array *right, *bottom[NINO_TILE_MAX_AXIS]; // strips that tiles leave to their neighbours
} job;

// ---- one tile ----------------------------------------------------------------------------------

// What the network makes of h x w pixels, given what it needs around them: [1,h*scale,w*scale,3].
static nino_tensor *enlarge(nino_stream *s, const nino_upscale *u, nino_tensor *x, int64_t h,
                            int64_t w)
{
    x = u->run(s, u, x);
    if (nino_check_finite(s, x, u->name, NULL)) {
        nino_unref(x);
        return NULL;
    }
    x = nino_act_op(s, x, NINO_ACT_CLAMP01);
    x = nino_slice(s, x, 1, 0, h * u->scale);
    return nino_slice(s, x, 2, 0, w * u->scale);
}

static nino_array *upscale_crop(const job *j, int b, nino_tile_rect r)
{
    const int64_t *d = j->in->shape.dim;
    const int64_t h = nino_upscale_padded(j->u, r.h), w = nino_upscale_padded(j->u, r.w);
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, h, w, 3));
    for (int64_t y = 0; a && y < h; y++) {
        const int64_t row = r.y + nino_upscale_source(r.h, y);
        for (int64_t x = 0; x < w; x++)
            memcpy(nino_array_f32(a) + (y * w + x) * 3,
                   nino_array_f32(j->in) +
                       ((b * d[1] + row) * d[2] + r.x + nino_upscale_source(r.w, x)) * d[3],
                   3 * sizeof(float));
    }
    return a;
}

static nino_tensor *upscale_compute(const job *j, nino_stream *s, int b, nino_tile_rect r)
{
    nino_array *a = upscale_crop(j, b, r);
    if (!a)
        return nino_stream_fail(s, NINO_ERR_NOMEM, j->u->name, "no host memory for a tile");
    nino_tensor *t = nino_upload(s, a, nino_stream_act_type(s));
    nino_array_unref(&a);
    return enlarge(s, j->u, t, r.h, r.w);
}

// Overlap of tile i with the one in front of it, 0 if there is none.
static int upscale_shared(const nino_tile_axis *a, int i)
{
    return i > 0 && i < a->n ? a->pos[i - 1] + a->len[i - 1] - a->pos[i] : 0;
}

// Compares what a tile shares with a neighbour with what that one left, and leaves its own to the
// next one.
static void upscale_meter_side(job *j, nino_tensor *t, int axis, int first, int last,
                               nino_array **kept)
{
    const int64_t n = nino_dim(t, axis);
    nino_array *a =
        first ? nino_download(j->s, nino_slice(j->s, nino_ref(t), axis, 0, first), NINO_F32) : NULL;
    if (!nino_stream_is_plan(j->s)) // there are no values
        nino_seam_compare(&j->seam, *kept, a);
    nino_array_unref(&a);
    nino_array_unref(kept);
    *kept = last
                ? nino_download(j->s, nino_slice(j->s, nino_ref(t), axis, n - last, last), NINO_F32)
                : NULL;
}

static void upscale_publish(const job *j, int ix, int iy, const nino_unit_result *r)
{
    const int f = j->u->scale;
    const int left = upscale_shared(&j->x, ix), next = upscale_shared(&j->x, ix + 1);
    const int top = upscale_shared(&j->y, iy), below = upscale_shared(&j->y, iy + 1);
    nino_event e = { .kind = NINO_EV_TILE_INFO, .name = j->why };
    e.id = r->device;
    e.parent = r->scope;
    e.u.tile.x = (uint16_t) (j->x.pos[ix] * f);
    e.u.tile.y = (uint16_t) (j->y.pos[iy] * f);
    e.u.tile.w = (uint16_t) (j->x.len[ix] * f);
    e.u.tile.h = (uint16_t) (j->y.len[iy] * f);
    e.u.tile.core_x = (uint16_t) ((j->x.pos[ix] + left) * f);
    e.u.tile.core_y = (uint16_t) ((j->y.pos[iy] + top) * f);
    e.u.tile.core_w = (uint16_t) ((j->x.len[ix] - left - next) * f);
    e.u.tile.core_h = (uint16_t) ((j->y.len[iy] - top - below) * f);
    e.u.tile.order = (uint16_t) (iy * j->x.n + ix);
    e.u.tile.n = (uint16_t) (j->x.n * j->y.n);
    e.u.tile.n_passes = 1;
    e.u.tile.ns = r->ns;
    e.u.tile.peak_bytes = r->peak;
    nino_monitor_publish(nino_stream_monitor(j->s), &e);
}

static bool is_upscale_whole(const job *j) { return j->x.n == 1 && j->y.n == 1; }

// Tile k of a picture; its place.
static nino_tile_rect upscale_rect(const job *j, int k, int *ix, int *iy)
{
    *ix = k % j->x.n;
    *iy = k / j->x.n;
    return (nino_tile_rect){ j->x.pos[*ix], j->y.pos[*iy], j->x.len[*ix], j->y.len[*iy] };
}

static void upscale_need_canvas(job *j, int iy)
{
    const int f = j->u->scale;
    if (!j->canvas)
        j->canvas = nino_zeros(j->s, NINO_SHAPE((int64_t) j->y.len[iy] * f, (int64_t) j->w * f, 4),
                               NINO_F32);
}

// Into the canvas of its row.
static void upscale_put_tile(job *j, int k, nino_unit_result *u)
{
    int ix, iy;
    const nino_tile_rect r = upscale_rect(j, k, &ix, &iy);
    const int f = j->u->scale, feather = OVERLAP * f;
    const bool is_own = u->t != NULL;
    upscale_need_canvas(j, iy);
    nino_tensor *t = nino_unit_tensor(j->s, u);
    upscale_meter_side(j, t, 2, upscale_shared(&j->x, ix) * f, upscale_shared(&j->x, ix + 1) * f,
                       &j->right);
    upscale_meter_side(j, t, 1, upscale_shared(&j->y, iy) * f, upscale_shared(&j->y, iy + 1) * f,
                       &j->bottom[ix]);
    j->canvas = nino_blend(j->s, j->canvas, t, r.x * f, 0, feather < r.w * f ? feather : 0,
                           feather < r.h * f ? feather : 0, 15);
    if (is_own && !nino_stream_finish(j->s, NULL)) { // what puts it into its place belongs to it
        u->ns = nino_now_ns() - u->begin;
        u->peak = nino_pool_take_window_peak(nino_stream_backend(j->s)->pool);
    }
    if (!nino_stream_status(j->s, NULL))
        upscale_publish(j, ix, iy, u);
}

// ---- one picture -------------------------------------------------------------------------------

// A row of tiles, summed with its weights, becomes pixels from row y of the picture on. j->shared, if there
// are some, are replaced by the sums of the last `below` rows, which wait for the next one.
static void put_row(job *j, int64_t y, int64_t below)
{
    const int64_t *d = j->out->shape.dim, w = d[2];
    nino_array *a = nino_download(j->s, j->canvas, NINO_F32), *wait = NULL;
    j->canvas = NULL;
    const int64_t h = a ? a->shape.dim[0] - below : 0;
    float *sum = a ? nino_array_f32(a) : NULL;
    const bool is_plan = nino_stream_is_plan(j->s); // there are no values
    for (int64_t i = 0; a && j->shared && !is_plan && i < nino_shape_count(&j->shared->shape); i++)
        sum[i] += nino_array_f32(j->shared)[i];
    nino_array_unref(&j->shared);
    if (a && below && (wait = nino_array_create(NINO_F32, NINO_SHAPE(below, w, 4))) && !is_plan)
        memcpy(wait->data, sum + h * w * 4, wait->bytes);
    if (a && below && !wait)
        nino_stream_fail(j->s, NINO_ERR_NOMEM, j->u->name, "no host memory for a row of tiles");
    float *dst = nino_array_f32(j->out) + (j->done * d[1] + y) * w * 3;
    for (int64_t i = 0; i < h * w && !is_plan; i++)
        for (int k = 0; k < 3; k++)
            dst[i * 3 + k] = fminf(sum[i * 4 + k] / sum[i * 4 + 3], 1);
    nino_array_unref(&a);
    j->shared = wait;
}

static void upscale_drop(job *j)
{
    nino_unref(j->canvas);
    j->canvas = NULL;
    nino_array_unref(&j->shared);
    nino_array_unref(&j->right);
    for (int i = 0; i < NINO_TILE_MAX_AXIS; i++)
        nino_array_unref(&j->bottom[i]);
}

static void end_picture(job *j)
{
    const int f = j->u->scale;
    upscale_drop(j);
    if (!nino_stream_is_plan(j->s) && !is_upscale_whole(j))
        nino_seam_lines(&j->seam,
                        nino_array_f32(j->out) + (int64_t) j->done * j->h * f * j->w * f * 3,
                        j->h * f, j->w * f, 3, &j->x, &j->y, f);
    j->done++;
    j->computed_before = j->computed;
    j->seam_before = j->seam;
}

static void upscale_unit_compute(const void *priv, nino_stream *s, int i, nino_unit_result *r)
{
    const job *j = priv;
    int ix, iy;
    const int n = j->x.n * j->y.n;
    const nino_tile_rect rect = upscale_rect(j, i % n, &ix, &iy);
    r->t = upscale_compute(j, s, j->first + i / n, rect);
}

static void upscale_unit_prepare(void *priv, int i)
{
    job *j = priv;
    if (!is_upscale_whole(j))
        upscale_need_canvas(j, i % (j->x.n * j->y.n) / j->x.n);
}

static nino_status upscale_unit_take(void *priv, int i, nino_unit_result *r, nino_error *err)
{
    job *j = priv;
    const int n = j->x.n * j->y.n, k = i % n, ix = k % j->x.n, iy = k / j->x.n;
    j->computed += (uint64_t) j->x.len[ix] * (uint64_t) j->y.len[iy];
    if (is_upscale_whole(j)) {
        nino_array *a = nino_unit_array(j->s, r);
        if (a)
            memcpy((char *) j->out->data + (size_t) j->done * a->bytes, a->data, a->bytes);
        nino_array_unref(&a);
    } else {
        upscale_put_tile(j, k, r);
        if (ix + 1 == j->x.n && !nino_stream_status(j->s, NULL))
            put_row(j, (int64_t) j->y.pos[iy] * j->u->scale,
                    (int64_t) upscale_shared(&j->y, iy + 1) * j->u->scale);
    }
    const nino_status st = nino_stream_status(j->s, err);
    if (!st && k + 1 == n)
        end_picture(j);
    return st;
}

static bool upscale_unit_place(const void *priv, int i, int *order, int *of)
{
    const job *j = priv;
    *of = j->x.n * j->y.n;
    *order = i % *of;
    return *of > 1;
}

static void upscale_unit_need(nino_stream *dry, const void *priv)
{
    const job *j = priv;
    const nino_shape in = NINO_SHAPE(1, nino_upscale_padded(j->u, j->y.len[0]),
                                     nino_upscale_padded(j->u, j->x.len[0]), 3);
    nino_unref(enlarge(dry, j->u, nino_zeros(dry, in, nino_stream_act_type(dry)), j->y.len[0],
                       j->x.len[0]));
}

// Those that are not finished.
static nino_status upscale_run_pictures(job *j, nino_error *err)
{
    j->first = j->done;
    const nino_units w = { .s = j->s,
                           .where = j->u->name,
                           .n = ((int) j->in->shape.dim[0] - j->first) * j->x.n * j->y.n,
                           .compute = upscale_unit_compute,
                           .prepare = upscale_unit_prepare,
                           .take = upscale_unit_take,
                           .place = upscale_unit_place,
                           .need = upscale_unit_need,
                           .priv = j };
    const nino_status st = nino_units_run(&w, err);
    upscale_drop(j);
    if (st) { // what is not finished is not part of the result
        j->computed = j->computed_before;
        j->seam = j->seam_before;
    }
    return st;
}

// ---- choosing ----------------------------------------------------------------------------------

typedef struct walk {
    const nino_upscale *u;
    int64_t h, w, all_w; // of a tile, of the picture; all_w 0: it is the picture
} walk;

static void walk_row(nino_stream *s, const void *priv)
{
    const walk *k = priv;
    const int64_t f = k->u->scale;
    nino_tensor *canvas =
        k->all_w ? nino_zeros(s, NINO_SHAPE(k->h * f, k->all_w * f, 4), NINO_F32) : NULL;
    const nino_shape in =
        NINO_SHAPE(1, nino_upscale_padded(k->u, k->h), nino_upscale_padded(k->u, k->w), 3);
    nino_tensor *t = enlarge(s, k->u, nino_zeros(s, in, nino_stream_act_type(s)), k->h, k->w);
    nino_unref(canvas ? nino_blend(s, canvas, t, 0, 0, 0, 0, 0) : t);
}

static bool fits_side(const job *j, int side, bool keeps_weights, uint64_t *gather)
{
    walk k = { .u = j->u, .h = side < j->h ? side : j->h, .w = side < j->w ? side : j->w };
    k.all_w = k.h < j->h || k.w < j->w ? j->w : 0;
    return nino_need_fits(j->s, walk_row, &k, keeps_weights, gather);
}

// Which of the sides: the first with which weights are read once, else the first with which they
// come and go, else the last, which fails with what was missing.
static int upscale_choose_side(const job *j)
{
    const int n = sizeof(sides) / sizeof(sides[0]);
    nino_backend *be = nino_stream_backend(j->s);
    uint64_t gather = 0;
    nino_mem_stat m;
    const nino_choice *chosen = nino_stream_choice(j->s);
    int first = 0;
    while (chosen->tile && first < n - 1 && sides[first] > chosen->tile)
        first++;
    nino_pool_stat(be->pool, &m);
    if (!m.budget)
        return first;
    for (int keeps = !chosen->spends; keeps >= 0; keeps--)
        for (int i = first; i < n; i++) {
            if (!fits_side(j, sides[i], keeps, &gather))
                continue;
            if (gather)
                (void) nino_backend_gather(be, gather, NULL);
            nino_stream_taken(j->s)->can_spend = keeps && i > first;
            return i;
        }
    return n - 1;
}

static void upscale_take(const job *j, int i)
{
    nino_taken *t = nino_stream_taken(j->s);
    t->tile = i ? sides[i] : 0;
    t->tile_most = i ? sides[0] : 0;
    t->is_tiled = i > 0;
}

static nino_status upscale_lay_out(job *j, int side, nino_error *err)
{
    if (nino_tile_axis_stock(&j->x, j->w, side, OVERLAP) &&
        nino_tile_axis_stock(&j->y, j->h, side, OVERLAP))
        return NINO_OK;
    return nino_fail(err, NINO_ERR_RANGE, j->u->name, "too many tiles for a picture of %dx%d", j->w,
                     j->h);
}

static void upscale_say(const job *j, nino_tile_report *r, int i, bool ran_out)
{
    const bool is_small = i > 0 || ran_out;
    if (is_small)
        snprintf(r->why, sizeof(r->why), "tiles of %d pixels, %s", sides[i],
                 ran_out ? "device memory ran out" : "for larger ones there is no room");
    else
        snprintf(r->why, sizeof(r->why), "tiles of at most %d pixels", sides[i]);
    if (is_small && !nino_stream_is_plan(j->s)) {
        const nino_log_level level = ran_out ? NINO_LOG_WARN : NINO_LOG_INFO;
        nino_logf(nino_stream_backend(j->s)->log, level, "%s: %s", j->u->name, r->why);
        nino_monitor_message(nino_stream_monitor(j->s), level, "%s: %s", j->u->name, r->why);
    }
}

static void upscale_fill_report(const job *j, nino_tile_report *r)
{
    const int f = j->u->scale;
    r->n_tiles = j->x.n * j->y.n;
    r->tiled = r->n_tiles > 1;
    r->tile_w = j->x.len[0] * f;
    r->tile_h = j->y.len[0] * f;
    r->overlap = r->tiled ? OVERLAP * f : 0;
    if (r->tiled)
        nino_seam_report(&j->seam,
                         (uint64_t) j->w * (uint64_t) j->h * (uint64_t) j->in->shape.dim[0],
                         j->computed, f, nino_stream_monitor(j->s), &r->seam);
}

static nino_status upscale_run_all(job *j, nino_tile_report *r, nino_error *err)
{
    const int last = sizeof(sides) / sizeof(sides[0]) - 1, n = (int) j->in->shape.dim[0];
    int i = upscale_choose_side(j);
    nino_status st = NINO_OK;
    upscale_take(j, i);
    upscale_say(j, r, i, false);
    while (!st && j->done < n) {
        j->why = nino_monitor_passing(nino_stream_monitor(j->s), r->why);
        st = upscale_lay_out(j, sides[i], err);
        st = st ? st : upscale_run_pictures(j, err);
        if (st == NINO_ERR_NOMEM && i < last) { // the device had less room than plan knew of
            upscale_say(j, r, ++i, true);
            nino_stream_clear_error(j->s);
            st = NINO_OK;
        }
    }
    if (!st)
        upscale_fill_report(j, r);
    return st;
}

nino_status nino_upscale_tiled(nino_stream *s, const nino_upscale *u, const nino_array *image,
                               nino_array **out, nino_tile_report *report, nino_error *err)
{
    const int64_t *d = image->shape.dim, f = u->scale;
    nino_tile_report unused = { 0 };
    report = report ? report : &unused;
    memset(report, 0, sizeof(*report));
    *out = NULL;
    if (image->shape.rank != 4 || image->dtype != NINO_F32 || d[0] < 1 || d[3] < 3)
        return nino_fail(err, NINO_ERR_ARG, u->name, "an image batch has three channels or four");
    if (d[1] < 1 || d[2] < 1 || d[1] > UINT16_MAX / f || d[2] > UINT16_MAX / f)
        return nino_fail(err, NINO_ERR_RANGE, u->name,
                         "a picture of %lldx%lld cannot be enlarged %lldx: results have sides of 1 "
                         "to 65535 pixels",
                         (long long) d[2], (long long) d[1], (long long) f);
    job *j = calloc(1, sizeof(*j));
    nino_status st = NINO_OK;
    if (j) {
        *j = (job){ .s = s, .u = u, .in = image, .w = (int) d[2], .h = (int) d[1] };
        j->seam.is_picture = j->seam_before.is_picture = true;
        *out = j->out = nino_array_create(NINO_F32, NINO_SHAPE(d[0], d[1] * f, d[2] * f, 3));
    }
    if (!*out)
        st = nino_fail(err, NINO_ERR_NOMEM, u->name, "no host memory for the result");
    st = st ? st : upscale_run_all(j, report, err);
    free(j);
    if (st)
        nino_array_unref(out);
    return st;
}
