// A clip on its way through a VAE: spatial tiles one after the other, each a whole clip that is
// streamed (causal VAEs) or cut into chunks of time (others). Tiles are summed on the host, where
// the frames are going anyway: the device only ever holds a piece of a clip.
// Source of the positions and of the mask of stock tiles: ComfyUI comfy/utils.py
// tiled_scale_multidim.
#include "core/tile/video_job.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/time.h"
#include "core/base/vars.h"
#include "core/op/backend.h"
#include "core/tile/tile_way.h"
#include "core/tile/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef nino_video_job job;

// ---- results ---------------------------------------------------------------------------------

nino_status nino_video_no_memory(const nino_vae *v, nino_error *err)
{
    return nino_fail(err, NINO_ERR_NOMEM, v->name, "no host memory for frames");
}

// Finished frames: checked, clamped, measured, given away.
static nino_status deliver(job *j, int64_t first, nino_array *a, nino_error *err)
{
    const int64_t n = nino_shape_count(&a->shape);
    float *p = nino_array_f32(a);
    if (!nino_stream_is_plan(j->s))
        for (int64_t i = 0; i < n; i++) {
            if (!isfinite(p[i]))
                return nino_fail_kind(err, NINO_ERR_RANGE, "nan", j->v->name,
                                      "%s produced values that are not finite in %s arithmetic",
                                      j->is_decode ? "decoding" : "encoding",
                                      nino_stream_storage(j->s));
            if (j->is_decode)
                p[i] = fminf(fmaxf(p[i], 0), 1);
        }
    if (j->is_decode && !nino_stream_is_plan(j->s))
        nino_clip_meter_frames(&j->meter, a);
    return j->sink->put(j->sink->priv, j->offset + first, a, err);
}

// Weight of position i of n, feathered at its first and last positions where sides say so.
static float video_tiles_ramp(int64_t i, int64_t n, int64_t feather, bool at_start, bool at_end)
{
    float m = 1;
    if (feather >= n) // like ComfyUI: nothing would be left in the middle
        return 1;
    if (at_start && i < feather)
        m *= (float) (i + 1) / (float) feather;
    if (at_end && n - 1 - i < feather)
        m *= (float) (n - i) / (float) feather;
    return m;
}

static void video_tiles_add_tile(job *j, int ix, int iy, int64_t first, const nino_array *a)
{
    const int64_t u = j->out_unit, c = j->out_c, n = a->shape.dim[0];
    const int64_t h = a->shape.dim[1], w = a->shape.dim[2], height = j->h * u, width = j->w * u;
    const int64_t x0 = j->x.pos[ix] * u, y0 = j->y.pos[iy] * u, feather = j->overlap * u;
    const bool all = j->is_stock;
    for (int64_t y = 0; y < h; y++) {
        const float my = video_tiles_ramp(y, h, feather, all || iy > 0, all || iy + 1 < j->y.n);
        for (int64_t x = 0; x < w; x++) {
            const float m =
                my * video_tiles_ramp(x, w, feather, all || ix > 0, all || ix + 1 < j->x.n);
            const int64_t at = (y0 + y) * width + x0 + x;
            if (first == 0)
                j->weight[at] += m;
            for (int64_t f = 0; f < n; f++) {
                const float *from = nino_array_f32(a) + ((f * h + y) * w + x) * c;
                float *to = j->canvas + ((first + f) * height * width + at) * c;
                for (int64_t k = 0; k < c; k++)
                    to[k] += m * from[k];
            }
        }
    }
}

// ---- the seam meter --------------------------------------------------------------------------

// Rows y0 .. and columns x0 .. of frames a.
static nino_array *cut_out(const nino_array *a, int64_t x0, int64_t y0, int64_t w, int64_t h)
{
    const int64_t *d = a->shape.dim, c = d[3];
    nino_array *b = nino_array_create(NINO_F32, NINO_SHAPE(d[0], h, w, c));
    for (int64_t i = 0; b && i < d[0] * h; i++)
        memcpy(nino_array_f32(b) + i * w * c,
               nino_array_f32(a) + ((i / h * d[1] + y0 + i % h) * d[2] + x0) * c,
               (size_t) (w * c) * sizeof(float));
    return b;
}

static int video_tiles_shared(const nino_tile_axis *a, int i)
{
    return i > 0 && i < a->n ? a->pos[i - 1] + a->len[i - 1] - a->pos[i] : 0;
}

// Compares the first piece of a tile, which stands for the others, with what its neighbours left.
static void meter_tile(job *j, int ix, int iy, const nino_array *a)
{
    const int64_t u = j->out_unit, w = a->shape.dim[2], h = a->shape.dim[1];
    const int64_t left = video_tiles_shared(&j->x, ix) * u,
                  next = video_tiles_shared(&j->x, ix + 1) * u;
    const int64_t top = video_tiles_shared(&j->y, iy) * u,
                  below = video_tiles_shared(&j->y, iy + 1) * u;
    nino_array *b = left ? cut_out(a, 0, 0, left, h) : NULL;
    nino_seam_compare(&j->seam, j->right, b);
    nino_array_unref(&b);
    nino_array_unref(&j->right);
    j->right = next ? cut_out(a, w - next, 0, next, h) : NULL;
    b = top ? cut_out(a, 0, 0, w, top) : NULL;
    nino_seam_compare(&j->seam, j->bottom[ix], b);
    nino_array_unref(&b);
    nino_array_unref(&j->bottom[ix]);
    j->bottom[ix] = below ? cut_out(a, 0, h - below, w, below) : NULL;
}

static nino_status video_tiles_emit(job *j, int ix, int iy, int64_t first, nino_array *a,
                                    nino_error *err)
{
    if (j->held) {
        memcpy(nino_array_f32(j->held) + first * (nino_shape_count(&a->shape) / a->shape.dim[0]),
               a->data, a->bytes);
        return NINO_OK;
    }
    if (!j->canvas)
        return deliver(j, first, a, err);
    if (first == 0)
        meter_tile(j, ix, iy, a);
    if (!nino_stream_is_plan(j->s))
        video_tiles_add_tile(j, ix, iy, first, a);
    return NINO_OK;
}

// ---- one tile --------------------------------------------------------------------------------

static nino_tensor *video_tiles_upload(job *j, int ix, int iy, int64_t first, int64_t n)
{
    const int64_t *d = j->in->shape.dim, u = j->in_unit;
    const int64_t w = j->x.len[ix] * u, h = j->y.len[iy] * u;
    const int64_t x0 = j->in_x + j->x.pos[ix] * u, y0 = j->in_y + j->y.pos[iy] * u;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, h, w, j->in_c));
    if (!a)
        return nino_stream_fail(j->s, NINO_ERR_NOMEM, j->v->name, "no host memory for a tile");
    for (int64_t i = 0; i < n * h; i++) {
        const float *src =
            nino_array_f32(j->in) + (((first + i / h) * d[1] + y0 + i % h) * d[2] + x0) * d[3];
        float *dst = nino_array_f32(a) + i * w * j->in_c;
        for (int64_t x = 0; x < w; x++) // a fourth channel (alpha) is left out
            memcpy(dst + x * j->in_c, src + x * d[3], (size_t) j->in_c * sizeof(float));
    }
    nino_tensor *t = nino_upload(j->s, a, nino_stream_act_type(j->s));
    nino_array_unref(&a);
    j->computed += (uint64_t) (j->x.len[ix] * j->y.len[iy]) * (uint64_t) n;
    return t;
}

static void begin_piece(job *j, int64_t i, int64_t n)
{
    nino_scope_begin(j->s, NINO_EV_STAGE, "chunk", (uint32_t) i, (uint32_t) n);
    (void) nino_pool_take_window_peak(nino_stream_backend(j->s)->pool);
    j->piece_ns = nino_now_ns();
}

// The piece's frames on the host; says what it took.
static nino_array *end_piece(job *j, nino_tensor *y, int64_t i, int64_t n, int64_t first,
                             uint64_t kept, nino_error *err)
{
    nino_array *a = nino_download(j->s, y, NINO_F32);
    nino_event e = { .kind = NINO_EV_CHUNK };
    e.id = nino_stream_device(j->s);
    e.u.chunk.first = (uint32_t) first;
    e.u.chunk.frames = a ? (uint32_t) a->shape.dim[0] : 0;
    e.u.chunk.order = (uint32_t) i;
    e.u.chunk.n = (uint32_t) n;
    e.u.chunk.ns = nino_now_ns() - j->piece_ns;
    e.u.chunk.cache_bytes = kept;
    e.u.chunk.peak_bytes = nino_pool_take_window_peak(nino_stream_backend(j->s)->pool);
    if (a)
        nino_monitor_publish(nino_stream_monitor(j->s), &e);
    nino_tidy_after(j->s, i);
    nino_scope_end(j->s);
    if (!a)
        nino_stream_status(j->s, err);
    return a;
}

// Frames that go in as piece i of a causal VAE: what makes a latent frame; of a decode some of those;
// all of them where clips are not to be streamed.
static void cut_piece(const job *j, bool is_whole, int64_t i, int64_t *first, int64_t *n)
{
    const int64_t tc = j->is_decode ? j->piece : j->v->time_factor;
    const int64_t lead = j->is_decode || j->v->pads_end ? tc : 1; // of the clip's first piece
    *first = i ? lead + (i - 1) * tc : 0;
    *n = i ? tc : lead;
    *n = is_whole || *first + *n > j->n_in ? j->n_in - *first : *n;
}

// Causal: a latent frame at a time, or as many as memory.chunk_size says or the planner chose; what
// they give does not depend on it.
static nino_status stream_tile(job *j, int ix, int iy, nino_error *err)
{
    const int64_t tc = j->v->time_factor, step = j->is_decode ? j->piece : tc;
    const bool is_whole = !nino_acts(&nino_stream_backend(j->s)->profile, NINO_POLICY_STREAMING);
    const int64_t pieces = is_whole ? 1 : 1 + (j->n_in - 1) / step;
    nino_status st = NINO_OK;
    int64_t done = 0;
    nino_vae_clip clip;
    nino_vae_clip_begin(&clip, j->v, j->is_decode);
    for (int64_t i = 0; i < pieces && !st; i++) {
        int64_t n, first;
        cut_piece(j, is_whole, i, &first, &n);
        begin_piece(j, i, pieces);
        nino_tensor *y = nino_vae_clip_next(j->s, &clip, video_tiles_upload(j, ix, iy, first, n));
        nino_array *a = end_piece(j, y, i, pieces, done, nino_vae_clip_bytes(&clip), err);
        const int64_t frames = a ? a->shape.dim[0] : 0;
        if (!a)
            st = nino_stream_status(j->s, NULL);
        else if (frames != (is_whole ? j->n_out : j->is_decode ? n * tc - (i ? 0 : tc - 1) : 1))
            st = nino_fail(err, NINO_ERR_DEVICE, j->v->name, "a piece gave %lld frames",
                           (long long) frames);
        else
            st = video_tiles_emit(j, ix, iy, done, a, err);
        if (!j->held)
            nino_clip_meter_border(&j->meter, done);
        done += frames;
        nino_array_unref(&a);
    }
    nino_vae_clip_end(&clip);
    return st;
}

// Frames first ... of a.
static nino_array *video_tiles_take_frames(const nino_array *a, int64_t first, int64_t n)
{
    const int64_t *d = a->shape.dim, frame = d[1] * d[2] * d[3];
    nino_array *b = nino_array_create(NINO_F32, NINO_SHAPE(n, d[1], d[2], d[3]));
    if (b)
        memcpy(b->data, nino_array_f32(a) + first * frame, b->bytes);
    return b;
}

// n frames of `to`, from `first` on, become a mixture that begins like `tail` and ends like itself.
static void video_tiles_mix(const nino_array *tail, nino_array *to, int64_t first, int64_t n)
{
    const int64_t *d = to->shape.dim, frame = d[1] * d[2] * d[3];
    for (int64_t i = 0; i < n; i++) {
        const float w = (float) (i + 1) / (float) (n + 1);
        const float *from = nino_array_f32(tail) + i * frame;
        float *p = nino_array_f32(to) + (first + i) * frame;
        for (int64_t k = 0; k < frame; k++)
            p[k] = from[k] * (1 - w) + p[k] * w;
    }
}

// A chunk's frames a: those before `end` are final, the `kept` ones from there on go to *tail.
static nino_status split_chunk(job *j, int ix, int iy, const nino_chunk *c, int64_t end,
                               int64_t kept, nino_array *a, nino_array **tail, nino_error *err)
{
    const int64_t n = end - c->from, frames = a->shape.dim[0];
    if (frames != nino_vae_frames(j->v, c->n) || c->skip + n + kept > frames)
        return nino_fail(err, NINO_ERR_DEVICE, j->v->name, "a chunk of %lld gave %lld frames",
                         (long long) c->n, (long long) frames);
    if (*tail)
        video_tiles_mix(*tail, a, c->skip, c->blend);
    nino_array *out = video_tiles_take_frames(a, c->skip, n);
    nino_status st = out ? NINO_OK : nino_video_no_memory(j->v, err);
    nino_array_unref(tail);
    if (!st && kept && !(*tail = video_tiles_take_frames(a, c->skip + n, kept)))
        st = nino_video_no_memory(j->v, err);
    if (!st)
        st = video_tiles_emit(j, ix, iy, c->from, out, err);
    nino_array_unref(&out);
    return st;
}

static void video_tiles_publish_tile(const job *j, int ix, int iy, uint32_t device, uint32_t scope,
                                     uint64_t ns)
{
    const int f = j->v->factor, left = video_tiles_shared(&j->x, ix),
              next = video_tiles_shared(&j->x, ix + 1);
    const int top = video_tiles_shared(&j->y, iy), below = video_tiles_shared(&j->y, iy + 1);
    nino_event e = { .kind = NINO_EV_TILE_INFO, .name = j->why };
    e.id = device;
    e.parent = scope;
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
    e.u.tile.ns = ns;
    nino_monitor_publish(nino_stream_monitor(j->s), &e);
}

// ---- one clip --------------------------------------------------------------------------------

static nino_status deliver_canvas(job *j, nino_error *err)
{
    const int64_t h = (int64_t) j->h * j->out_unit, w = (int64_t) j->w * j->out_unit;
    const int64_t frame = h * w * j->out_c, step = j->v->time_factor;
    nino_status st = NINO_OK;
    for (int64_t f = 0; f < j->n_out && !st; f += step) {
        const int64_t n = j->n_out - f < step ? j->n_out - f : step;
        nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, h, w, j->out_c));
        if (!a)
            return nino_video_no_memory(j->v, err);
        for (int64_t i = 0; !nino_stream_is_plan(j->s) && i < n * frame; i++)
            nino_array_f32(a)[i] = j->canvas[f * frame + i] / j->weight[i % frame / j->out_c];
        for (int64_t k = 0; k < n && !nino_stream_is_plan(j->s); k++)
            nino_seam_lines(&j->seam, nino_array_f32(a) + k * frame, (int) h, (int) w, j->out_c,
                            &j->x, &j->y, j->out_unit);
        st = deliver(j, f, a, err);
        nino_array_unref(&a);
    }
    return st;
}

// ---- shared among devices: tiles of causal VAEs, chunks of the others --------------------------

// Of clips that are cut into chunks each is a unit, of others a tile.
static int64_t chunks_of(const job *j)
{
    const int size = j->p->chunk > 0 ? j->p->chunk : (int) j->n_in;
    nino_chunk c;
    int64_t n = 0;
    while (!j->v->decode_next && nino_chunk_get(j->n_in, size, j->p->overlap, j->v->time_factor,
                                                j->v->time_radius, (int) n, &c))
        n++;
    return n ? n : 1;
}

static bool chunk_of(const job *j, int64_t i, nino_chunk *c)
{
    const int size = j->p->chunk > 0 ? j->p->chunk : (int) j->n_in;
    return nino_chunk_get(j->n_in, size, j->p->overlap, j->v->time_factor, j->v->time_radius,
                          (int) i, c);
}

// All frames of a tile, on whichever device.
static nino_array *compute_tile(job *own, int ix, int iy, nino_error *err)
{
    const int64_t h = (int64_t) own->y.len[iy] * own->out_unit;
    const int64_t w = (int64_t) own->x.len[ix] * own->out_unit;
    own->held = nino_array_create(NINO_F32, NINO_SHAPE(own->n_out, h, w, own->out_c));
    if (!own->held)
        nino_video_no_memory(own->v, err);
    else if (stream_tile(own, ix, iy, err))
        nino_array_unref(&own->held);
    return own->held;
}

static void clip_unit_compute(const void *priv, nino_stream *s, int i, nino_unit_result *r)
{
    const job *j = priv;
    job *own = malloc(sizeof(*own)); // what a tile changes is its own
    const int n = (int) chunks_of(j), ix = i / n % j->x.n, iy = i / n / j->x.n;
    nino_error err = { .code = NINO_OK };
    nino_chunk c;
    if (!own) {
        nino_stream_fail(s, NINO_ERR_NOMEM, j->v->name, "no host memory for a tile");
        return;
    }
    *own = *j;
    own->s = s;
    if (j->v->decode_next) {
        r->a = compute_tile(own, ix, iy, &err);
    } else if (chunk_of(j, i % n, &c)) {
        begin_piece(own, i % n, 0);
        nino_tensor *y = j->v->decode_clip(s, j->v, video_tiles_upload(own, ix, iy, c.first, c.n));
        r->a = end_piece(own, y, i % n, 0, c.from, 0, &err);
    }
    if (!r->a && err.code)
        nino_stream_fail(s, err.code, err.where, "%s", err.msg);
    free(own);
}

// The frames of a tile that has waited, in the pieces in which they came.
static nino_status put_held(job *j, int ix, int iy, const nino_array *all, nino_error *err)
{
    const int64_t tc = j->v->time_factor;
    const bool is_whole = !nino_acts(&nino_stream_backend(j->s)->profile, NINO_POLICY_STREAMING);
    nino_status st = NINO_OK;
    for (int64_t i = 0, done = 0; done < j->n_out && !st; i++) {
        int64_t first, n;
        cut_piece(j, is_whole, i, &first, &n);
        const int64_t frames = is_whole ? j->n_out : j->is_decode ? n * tc - (i ? 0 : tc - 1) : 1;
        nino_array *a = video_tiles_take_frames(all, done, frames);
        st = a ? video_tiles_emit(j, ix, iy, done, a, err) : nino_video_no_memory(j->v, err);
        nino_clip_meter_border(&j->meter, done);
        done += frames;
        nino_array_unref(&a);
    }
    return st;
}

static nino_status clip_unit_take(void *priv, int i, nino_unit_result *r, nino_error *err)
{
    job *j = priv;
    const int n = (int) chunks_of(j), ix = i / n % j->x.n, iy = i / n / j->x.n;
    const uint64_t area = (uint64_t) j->x.len[ix] * (uint64_t) j->y.len[iy];
    nino_array *a = nino_unit_array(j->s, r);
    nino_status st = nino_stream_status(j->s, err);
    nino_chunk c, next;
    if (!st && j->v->decode_next) {
        j->computed += area * (uint64_t) j->n_in;
        st = put_held(j, ix, iy, a, err);
    } else if (!st && chunk_of(j, i % n, &c)) {
        const bool has_next = chunk_of(j, i % n + 1, &next);
        j->computed += area * (uint64_t) c.n;
        st = split_chunk(j, ix, iy, &c, has_next ? next.from : j->n_out, has_next ? next.blend : 0,
                         a, &j->tail, err);
        nino_clip_meter_border(&j->meter, c.from);
    }
    nino_array_unref(&a);
    j->tile_ns = i % n ? j->tile_ns + r->ns : r->ns;
    if (!st && i % n + 1 == n && j->x.n * j->y.n > 1)
        video_tiles_publish_tile(j, ix, iy, r->device, r->scope, j->tile_ns);
    return st;
}

static bool clip_unit_place(const void *priv, int i, int *order, int *of)
{
    const job *j = priv;
    *of = j->x.n * j->y.n;
    *order = i / (int) chunks_of(j);
    return *of > 1;
}

static void clip_unit_need(nino_stream *dry, const void *priv)
{
    const job *j = priv;
    const nino_tile_fit fit = { .v = j->v,
                                .is_decode = j->is_decode,
                                .frames = j->is_decode ? j->n_in : j->n_out,
                                .chunk = j->p->chunk,
                                .h = j->h,
                                .w = j->w };
    nino_vae_walk(dry, &fit, 1, j->x.len[0], j->y.len[0]);
}

static nino_units clip_units(job *j)
{
    return (nino_units){ .s = j->s,
                         .where = j->v->name,
                         .n = j->x.n * j->y.n * (int) chunks_of(j),
                         .compute = clip_unit_compute,
                         .take = clip_unit_take,
                         .place = clip_unit_place,
                         .need = clip_unit_need,
                         .priv = j };
}

static nino_status run_shared(job *j, nino_error *err)
{
    const nino_units w = clip_units(j);
    const nino_status st = nino_units_run(&w, err);
    nino_array_unref(&j->tail);
    return st;
}

// Causal, on this device alone: frames go on as they come, and no clip of a tile waits on the host.
static nino_status run_tiles(job *j, nino_error *err)
{
    const int n_tiles = j->x.n * j->y.n;
    nino_status st = NINO_OK;
    const nino_units w = clip_units(j);
    nino_units_tell(&w); // a plan
    for (int i = 0; i < n_tiles && !st; i++) {
        const int ix = i % j->x.n, iy = i / j->x.n;
        const uint64_t start = nino_now_ns();
        if (n_tiles > 1)
            nino_scope_begin(j->s, NINO_EV_TILE, "tile", (uint32_t) i, (uint32_t) n_tiles);
        st = stream_tile(j, ix, iy, err);
        if (!st && n_tiles > 1)
            video_tiles_publish_tile(j, ix, iy, nino_stream_device(j->s), 0, nino_now_ns() - start);
        if (n_tiles > 1)
            nino_scope_end(j->s);
    }
    return st;
}

static nino_status run_clip(job *j, nino_error *err)
{
    const int64_t area = (int64_t) j->h * j->w * j->out_unit * j->out_unit;
    const bool is_tiled = j->x.n * j->y.n > 1;
    nino_status st = NINO_OK;
    j->bottom = calloc((size_t) j->x.n, sizeof(nino_array *));
    if (is_tiled) {
        const size_t frames = nino_stream_is_plan(j->s) ? 1 : (size_t) j->n_out;
        j->canvas = calloc(frames * (size_t) (area * j->out_c), sizeof(float));
        j->weight = calloc((size_t) area, sizeof(float));
    }
    if (!j->bottom || (is_tiled && (!j->canvas || !j->weight)))
        st = nino_video_no_memory(j->v, err);
    const bool is_alone = j->v->decode_next &&
                          (nino_stream_is_plan(j->s) || !nino_units_others(j->s, j->x.n * j->y.n));
    st = st ? st : (is_alone ? run_tiles : run_shared)(j, err);
    if (!st && is_tiled)
        st = deliver_canvas(j, err);
    nino_array_unref(&j->right);
    for (int i = 0; j->bottom && i < j->x.n; i++)
        nino_array_unref(&j->bottom[i]);
    free(j->bottom);
    free(j->canvas);
    free(j->weight);
    j->canvas = j->weight = NULL;
    return st;
}

// ---- choosing --------------------------------------------------------------------------------

static nino_status video_tiles_lay_out(job *j, nino_tile_style style, int tile, int overlap,
                                       nino_error *err)
{
    const bool stock = style == NINO_TILE_STOCK;
    const int w = style == NINO_TILE_NEVER ? j->w : tile,
              h = style == NINO_TILE_NEVER ? j->h : tile;
    j->is_stock = stock;
    j->overlap = overlap;
    if ((stock ? nino_tile_axis_stock : nino_tile_axis_even)(&j->x, j->w, w, overlap) &&
        (stock ? nino_tile_axis_stock : nino_tile_axis_even)(&j->y, j->h, h, overlap))
        return NINO_OK;
    return nino_fail(err, NINO_ERR_RANGE, j->v->name,
                     "tiles of %d with an overlap of %d are too small for this clip",
                     tile * j->v->factor, overlap * j->v->factor);
}

static double video_tiles_mib(uint64_t bytes) { return (double) bytes / (1 << 20); }

// Whole frames when plan says that they fit (AUTO, and NEVER within a budget), else tiles for which
// there is memory, of at most the size that was asked for.
static nino_status video_tiles_choose(job *j, nino_tile_way *w, nino_tile_report *r,
                                      nino_error *err)
{
    const bool is_never = w->style == NINO_TILE_NEVER;
    const nino_tile_fit fit = { .v = j->v,
                                .is_decode = j->is_decode,
                                .frames = j->is_decode ? j->n_in : j->n_out,
                                .chunk = j->p->chunk,
                                .h = j->h,
                                .w = j->w };
    nino_vae_need need = { 0 };
    nino_mem_stat m;
    nino_pool_stat(nino_stream_backend(j->s)->pool, &m);
    uint64_t budget = m.budget;
    if (!nino_acts(&nino_stream_backend(j->s)->profile, NINO_POLICY_TILES)) {
        snprintf(r->why, sizeof(r->why), "tiles are not planned");
        w->style = w->style == NINO_TILE_AUTO ? NINO_TILE_NEVER : w->style;
        return NINO_OK;
    }
    snprintf(r->why, sizeof(r->why), "%s", is_never ? "whole frames" : "tiles were asked for");
    if (w->style == NINO_TILE_AUTO || (is_never && budget)) {
        const nino_status st = nino_vae_need_clip(j->s, j->v, j->is_decode, fit.frames, fit.chunk,
                                                  j->h, j->w, &need, err);
        if (st)
            return st;
        const bool fits = nino_vae_fits(j->s, &need, &budget);
        w->style = fits ? NINO_TILE_NEVER : w->fallback;
        snprintf(r->why, sizeof(r->why), "%s: whole frames need %.0f MiB, the budget is %.0f MiB%s",
                 fits ? "whole frames" : "tiled", video_tiles_mib(need.activations + need.weights),
                 video_tiles_mib(budget), budget ? "" : " (none)");
    }
    if (w->style != NINO_TILE_NEVER && j->p->tile.exact)
        nino_tile_warn_inexact(j->s, j->v);
    const int most = nino_stream_choice(j->s)->tile / j->v->factor;
    if (w->style != NINO_TILE_NEVER && most && most < w->tile)
        w->tile = most > NINO_TILE_LEAST ? most : NINO_TILE_LEAST;
    if (w->style != NINO_TILE_NEVER && budget)
        nino_tile_fit_way(j->s, &fit, w, r);
    return NINO_OK;
}

// The device had less room than plan knew of: the next smaller way, false when there is none.
static bool video_tiles_shrink(job *j, nino_tile_way *w, nino_tile_report *r)
{
    if (j->piece > 1) {
        j->piece = 1;
        return true;
    }
    if (w->style == NINO_TILE_NEVER)
        w->style = w->fallback;
    else if (w->tile / 2 >= nino_tile_least(NINO_TILE_ALWAYS, w->overlap))
        w->tile /= 2;
    else
        return false;
    snprintf(r->why, sizeof(r->why), "device memory ran out: tiles of %d with an overlap of %d",
             w->tile * j->v->factor, w->overlap * j->v->factor);
    nino_logf(nino_stream_backend(j->s)->log, NINO_LOG_WARN, "%s: %s", j->v->name, r->why);
    nino_monitor_message(nino_stream_monitor(j->s), NINO_LOG_WARN, "%s: %s", j->v->name, r->why);
    return true;
}

static void video_tiles_fill_report(const job *j, nino_tile_report *r)
{
    const int f = j->v->factor;
    const uint64_t area = (uint64_t) j->w * (uint64_t) j->h * (uint64_t) j->n_in;
    r->n_tiles = j->x.n * j->y.n;
    r->tiled = r->n_tiles > 1;
    r->tile_w = j->x.len[0] * f;
    r->tile_h = j->y.len[0] * f;
    r->overlap = r->tiled ? j->overlap * f : 0;
    if (!r->tiled)
        return;
    nino_seam_report(&j->seam, area, j->computed, f, nino_stream_monitor(j->s), &r->seam);
}

// What was chosen for the node, and what of it there was to choose. asked: a tile's side, 0: none.
static void video_tiles_take(job *j, const nino_tile_way *w, int asked)
{
    nino_taken *t = nino_stream_taken(j->s);
    const int f = j->v->factor, chunk = nino_stream_choice(j->s)->chunk;
    const bool is_set = strcmp(nino_vars_get()->chunk_size, "auto") != 0;
    j->piece = nino_vae_piece(j->v, j->is_decode);
    if (!is_set && j->is_decode && j->v->decode_next && j->n_in > 2 && !j->p->tile.one_by_one) {
        t->chunk_most = (int) j->n_in;
        j->piece = chunk > 1 ? (chunk < t->chunk_most ? chunk : t->chunk_most) : 1;
        t->chunk = (int) j->piece;
    }
    const bool is_whole = w->tile >= j->w && w->tile >= j->h;
    if (w->style == NINO_TILE_NEVER || is_whole || (asked && w->tile >= asked))
        return;
    t->tile = w->tile * f;
    t->tile_most = (asked ? asked : j->w > j->h ? j->w : j->h) * f;
    t->is_tiled = true;
}

nino_status nino_video_job_run(job *j, nino_tile_report *r, nino_error *err)
{
    const int f = j->v->factor;
    const bool is_never = j->p->tile.style == NINO_TILE_NEVER;
    nino_tile_way way = { .style = j->p->tile.style,
                          .fallback = NINO_TILE_ALWAYS,
                          .tile = (is_never ? 512 : j->p->tile.tile) / f,
                          .overlap = (is_never ? 64 : j->p->tile.overlap) / f };
    if (way.tile < NINO_TILE_LEAST || way.overlap < 0)
        return nino_fail(err, NINO_ERR_RANGE, j->v->name,
                         "a tile of %d pixels is below %d, or the overlap %d is negative",
                         j->p->tile.tile, NINO_TILE_LEAST * f, j->p->tile.overlap);
    way.overlap = way.overlap <= way.tile / 4 ? way.overlap : way.tile / 4;
    const bool is_asked = way.style != NINO_TILE_AUTO && !is_never;
    const int asked = way.tile;
    nino_status st = video_tiles_choose(j, &way, r, err);
    video_tiles_take(j, &way, is_asked ? asked : 0);
    if (st)
        return st;
    for (;;) {
        const uint64_t start = nino_now_ns();
        j->computed = 0;
        j->seam = (nino_seam){ .is_picture = j->is_decode };
        nino_clip_meter_begin(&j->meter);
        j->why = nino_monitor_passing(nino_stream_monitor(j->s), r->why);
        st = video_tiles_lay_out(j, way.style, way.tile, way.overlap, err);
        st = st ? st : run_clip(j, err);
        if (!st) {
            video_tiles_fill_report(j, r);
            nino_clip_meter_publish(&j->meter, nino_stream_monitor(j->s), nino_now_ns() - start);
        }
        nino_clip_meter_end(&j->meter);
        if (st != NINO_ERR_NOMEM || !video_tiles_shrink(j, &way, r))
            return st;
        nino_stream_clear_error(j->s);
    }
}
