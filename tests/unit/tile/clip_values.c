// Clips in tiles, pieces and chunks, value by value: through networks of one formula (pointwise.h) against the
// sums written out plainly, with ComfyUI's ramps and weights; what is told of pieces, tiles, seams and frames
// is computed anew from the same numbers. Clips and sides that cannot be done are refused in so many words.
#define PW_FACTOR 4 // so that halves of what fills no cell are more than nothing
#include "core/tile/tile_upscale.h"
#include "core/tile/video_tiles.h"
#include "tests/unit/tile/pointwise.h"

#include <math.h>

enum { MOST = 16 };

static nino_error err;
static nino_backend *be;
static nino_monitor *monitor;
static nino_mon_reader *reader;
static nino_stream *stream;
static char message[200]; // the last one

typedef struct clip {
    pw_kind kind;
    bool is_encode;
    int t, h, w; // latent frames (to encode: frames), cells
    nino_tile_style style;
    int tile, overlap; // cells
    int chunk, shared; // latent frames
    bool repeats;
    int extra_x, extra_y; // pixels that fill no cell, to encode
    int clips;
} clip;

// Frame f, row y, column x, channel k.
static float source(int f, int y, int x, int k)
{
    return (float) ((f * 7 + y * 5 + x * 3 + k * 11) % 23) / 32;
}

// ---- what it should be -----------------------------------------------------------------------------

typedef struct axis {
    int n, pos[MOST], len[MOST];
} axis;

// stock: every tile - overlap positions, the last one is shorter. Else as many of one length.
static axis lay_out(int size, int tile, int overlap, bool is_stock)
{
    axis a = { .n = 0 };
    for (int p = 0; p == 0 || p < size - overlap; p += tile - overlap) {
        CHECK(a.n < MOST);
        a.pos[a.n] = p;
        a.len[a.n++] = size - p < tile ? size - p : tile;
        if (size <= tile)
            break;
    }
    if (is_stock || a.n == 1)
        return a;
    const int len = (size + (a.n - 1) * overlap + a.n - 1) / a.n;
    for (int i = 0; i < a.n; i++) {
        a.pos[i] = i * (size - len) / (a.n - 1);
        a.len[i] = len;
    }
    return a;
}

static double ramp(int i, int n, int feather, bool at_start, bool at_end)
{
    double m = 1;
    if (feather >= n)
        return 1;
    if (at_start && i < feather)
        m *= (i + 1.0) / feather;
    if (at_end && n - 1 - i < feather)
        m *= (double) (n - i) / feather;
    return m;
}

typedef struct wanted {
    const clip *c;
    axis x, y;
    int n_out, unit, channels; // frames, elements of a cell's side
    int pieces;                // calls of the network a tile
    double *value;             // [clips][n_out][H][W][channels], before it is clamped
} wanted;

static int count_of(const wanted *w)
{
    return w->n_out * w->c->h * w->unit * w->c->w * w->unit * w->channels;
}

// What the network makes of it, without what its call adds; clip b.
static double pixel(const wanted *w, int b, int f, int y, int x, int k)
{
    const clip *c = w->c;
    if (!c->is_encode) {
        const int at = f ? 1 + (f - 1) / PW_TIME : 0, last = c->t - 1;
        return PW_SHARE *
               (double) source(b * c->t + (at < last ? at : last), y / PW_FACTOR, x / PW_FACTOR, k);
    }
    double sum = 0;
    for (int i = 0; i < PW_FACTOR * PW_FACTOR; i++)
        sum += (double) source(f * PW_TIME, c->extra_y / 2 + y * PW_FACTOR + i / PW_FACTOR,
                               c->extra_x / 2 + x * PW_FACTOR + i % PW_FACTOR, k % 3);
    return PW_SHARE * sum / (PW_FACTOR * PW_FACTOR);
}

// Of frame f of a tile whose first call is `call`: what calls add, mixed where chunks meet.
static double added(const wanted *w, int f, int call)
{
    const clip *c = w->c;
    if (c->kind == PW_CAUSAL) // a latent frame each
        return PW_EACH * (call + (c->is_encode ? f : f ? 1 + (f - 1) / PW_TIME : 0));
    double value = 0;
    nino_chunk k;
    const int t = c->t + (c->repeats && c->chunk), size = c->chunk ? c->chunk : t;
    for (int i = 0; nino_chunk_get(t, size, c->shared, PW_TIME, -1, i, &k) && f >= k.from; i++) {
        const double own = PW_EACH * (call + i);
        const int64_t at = f - k.from;
        value =
            at < k.blend ? value + (own - value) * (double) (at + 1) / (double) (k.blend + 1) : own;
    }
    return value;
}

// Clip b: all tiles with their weights.
static void sum_up(const wanted *w, int b)
{
    const clip *c = w->c;
    const int u = w->unit, H = c->h * u, W = c->w * u, feather = c->overlap * u;
    const bool all = c->style == NINO_TILE_STOCK, is_tiled = w->x.n * w->y.n > 1;
    double *weight = calloc((size_t) (H * W), sizeof(*weight));
    double *value = w->value + b * count_of(w);
    CHECK(weight);
    for (int i = 0; i < w->x.n * w->y.n; i++) {
        const int ix = i % w->x.n, iy = i / w->x.n, tw = w->x.len[ix] * u, th = w->y.len[iy] * u;
        for (int at = 0; at < th * tw; at++) {
            const int y = at / tw, x = at % tw, Y = w->y.pos[iy] * u + y, X = w->x.pos[ix] * u + x;
            const double m = !is_tiled
                                 ? 1
                                 : ramp(y, th, feather, all || iy, all || iy + 1 < w->y.n) *
                                       ramp(x, tw, feather, all || ix, all || ix + 1 < w->x.n);
            weight[Y * W + X] += m;
            for (int f = 0; f < w->n_out; f++)
                for (int k = 0; k < w->channels; k++)
                    value[((f * H + Y) * W + X) * w->channels + k] +=
                        m * (pixel(w, b, f, Y, X, k) +
                             added(w, f, (b * w->x.n * w->y.n + i) * w->pieces));
        }
    }
    for (int i = 0; i < count_of(w); i++)
        value[i] /= weight[i / w->channels % (H * W)];
    free(weight);
}

static wanted want(const clip *c)
{
    wanted w = { .c = c,
                 .unit = c->is_encode ? 1 : PW_FACTOR,
                 .channels = c->is_encode ? PW_CHANNELS : 3 };
    const bool stock = c->style == NINO_TILE_STOCK, never = c->style == NINO_TILE_NEVER;
    nino_chunk k;
    w.x = lay_out(c->w, never ? c->w : c->tile, c->overlap, stock);
    w.y = lay_out(c->h, never ? c->h : c->tile, c->overlap, stock);
    w.n_out = c->is_encode ? 1 + (c->t - 1) / PW_TIME : 1 + (c->t - 1) * PW_TIME;
    w.pieces = c->is_encode ? w.n_out : c->t;
    if (c->kind == PW_CHUNKS)
        for (w.pieces = 0;
             nino_chunk_get(c->t + (c->repeats && c->chunk), c->chunk ? c->chunk : c->t, c->shared,
                            PW_TIME, -1, w.pieces, &k);)
            w.pieces++;
    w.value = calloc((size_t) (c->clips * count_of(&w)), sizeof(*w.value));
    CHECK(w.value);
    for (int b = 0; b < c->clips; b++)
        sum_up(&w, b);
    return w;
}

// ---- what it is ------------------------------------------------------------------------------------

typedef struct kept {
    nino_array *all;
    int64_t next;
} kept;

static nino_status keep(void *priv, int64_t first, const nino_array *a, nino_error *e)
{
    kept *k = priv;
    const int64_t frame = nino_shape_count(&a->shape) / a->shape.dim[0];
    (void) e;
    CHECK(first == k->next && a->bytes == (size_t) nino_shape_count(&a->shape) * sizeof(float));
    CHECK((first + a->shape.dim[0]) * frame <= nino_shape_count(&k->all->shape));
    memcpy(nino_array_f32(k->all) + first * frame, a->data, a->bytes);
    k->next += a->shape.dim[0];
    return NINO_OK;
}

// The clips' latents, or pixels with a fourth channel that is left out.
static nino_array *input(const clip *c)
{
    const int h = c->is_encode ? c->h * PW_FACTOR + c->extra_y : c->h;
    const int w = c->is_encode ? c->w * PW_FACTOR + c->extra_x : c->w;
    nino_array *a =
        c->is_encode ? nino_array_create(NINO_F32, NINO_SHAPE(c->t, h, w, 4))
                     : nino_array_create(NINO_F32, NINO_SHAPE(c->clips, c->t, h, w, PW_CHANNELS));
    CHECK(a);
    for (int i = 0; i < c->clips * c->t * h * w; i++)
        for (int k = 0; k < 4; k++)
            nino_array_f32(a)[i * 4 + k] =
                c->is_encode && k == 3 ? 99 : source(i / w / h, i / w % h, i % w, k);
    return a;
}

static nino_array *run(const clip *c, int n_out, nino_tile_report *r)
{
    const nino_vae v = pw_vae(c->kind);
    const nino_video_params p = { .tile = { .style = c->style,
                                            .tile = c->tile * PW_FACTOR,
                                            .overlap = c->overlap * PW_FACTOR },
                                  .chunk = c->chunk,
                                  .overlap = c->shared,
                                  .repeat_last = c->repeats };
    nino_array *in = input(c);
    kept k = { .all = NULL };
    pw.calls = 0;
    if (c->is_encode) {
        CHECK_OK(nino_vae_encode_video(stream, &v, in, &p, &k.all, r, &err), err);
    } else {
        k.all = nino_array_create(
            NINO_F32, NINO_SHAPE(c->clips * n_out, c->h * PW_FACTOR, c->w * PW_FACTOR, 3));
        CHECK_OK(nino_vae_decode_video(stream, &v, in, &p, &(nino_frame_sink){ keep, &k }, r, &err),
                 err);
        CHECK(k.next == c->clips * n_out);
    }
    nino_array_unref(&in);
    return k.all;
}

// ---- what is told ----------------------------------------------------------------------------------

static void check_chunk(const nino_event *e, const wanted *w, int i)
{
    const clip *c = w->c;
    const int k = i % w->pieces;
    nino_chunk cut = { .n = 0 };
    if (c->kind == PW_CHUNKS)
        nino_chunk_get(c->t + (c->repeats && c->chunk), c->chunk ? c->chunk : c->t, c->shared,
                       PW_TIME, -1, k, &cut);
    const int first = c->kind == PW_CHUNKS ? (int) cut.from
                      : c->is_encode       ? k
                      : k                  ? 1 + (k - 1) * PW_TIME
                                           : 0;
    const int frames = c->kind == PW_CHUNKS ? 1 + (int) (cut.n - 1) * PW_TIME
                       : c->is_encode || !k ? 1
                                            : PW_TIME;
    const int unit = c->is_encode ? PW_FACTOR : 1, tile = i / w->pieces % (w->x.n * w->y.n);
    const int cells = w->x.len[tile % w->x.n] * w->y.len[tile / w->x.n];
    CHECK((int) e->u.chunk.first == first && (int) e->u.chunk.frames == frames);
    CHECK((int) e->u.chunk.order == k);
    CHECK((int) e->u.chunk.n == (c->kind == PW_CHUNKS ? 0 : w->pieces));
    CHECK(e->u.chunk.cache_bytes == // the last frame that went in
          (c->kind == PW_CHUNKS
               ? 0
               : (uint64_t) (cells * unit * unit * (c->is_encode ? 3 : PW_CHANNELS)) *
                     sizeof(float)));
    CHECK(e->u.chunk.peak_bytes > 0);
}

static int shared_by(const axis *a, int i)
{
    return i > 0 && i < a->n ? a->pos[i - 1] + a->len[i - 1] - a->pos[i] : 0;
}

// Of the first piece of each tile, calls apart: their number times the rows or columns that two share.
static void check_seam(const nino_event *e, const wanted *w)
{
    double sum = 0, n = 0, max = 0;
    int seams = 0, computed = 0;
    for (int i = 0; i < w->x.n * w->y.n; i++) {
        const int ix = i % w->x.n, iy = i / w->x.n;
        const double beside = shared_by(&w->x, ix) * w->y.len[iy],
                     above = shared_by(&w->y, iy) * w->x.len[ix];
        sum += PW_EACH * w->pieces * (beside + above * w->x.n);
        n += beside + above;
        max = fmax(max, above > 0 ? w->x.n : beside > 0 ? 1 : 0);
        seams += (beside > 0) + (above > 0);
        computed += w->x.len[ix] * w->y.len[iy];
    }
    const int cells = w->c->h * w->c->w,
              in = w->c->is_encode ? 1 + (w->n_out - 1) * PW_TIME : w->c->t + w->c->repeats;
    CHECK((int) e->u.seam.n_seams == seams);
    CHECK((int) e->u.seam.pixels == cells * in * PW_FACTOR * PW_FACTOR);
    if (w->c->kind == PW_CAUSAL)
        CHECK((int) e->u.seam.recomputed == (computed - cells) * in * PW_FACTOR * PW_FACTOR);
    CHECK(fabs((double) e->u.seam.mean - (n > 0 ? 255 * sum / n : 0)) < 1e-2);
    CHECK(fabs((double) e->u.seam.max - 255 * PW_EACH * w->pieces * max) < 1e-2);
}

static void check_tile(const nino_event *e, const wanted *w, int i)
{
    const int ix = i % w->x.n, iy = i / w->x.n, f = PW_FACTOR;
    const int left = shared_by(&w->x, ix), top = shared_by(&w->y, iy);
    CHECK(e->u.tile.x == w->x.pos[ix] * f && e->u.tile.y == w->y.pos[iy] * f);
    CHECK(e->u.tile.w == w->x.len[ix] * f && e->u.tile.h == w->y.len[iy] * f);
    CHECK(e->u.tile.core_x == (w->x.pos[ix] + left) * f);
    CHECK(e->u.tile.core_y == (w->y.pos[iy] + top) * f);
    CHECK(e->u.tile.core_w == (w->x.len[ix] - left - shared_by(&w->x, ix + 1)) * f);
    CHECK(e->u.tile.core_h == (w->y.len[iy] - top - shared_by(&w->y, iy + 1)) * f);
    CHECK(e->u.tile.order == i && e->u.tile.n == w->x.n * w->y.n);
    CHECK(e->u.tile.pass == 0 && e->u.tile.n_passes == 1);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

static double middle(double *v, int n)
{
    qsort(v, (size_t) n, sizeof(*v), by_size);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

// Frames of clip 0 of a decode: brightness, colour, steps; borders are where a piece or chunk begins.
static void check_clip(const nino_event *e, const wanted *w, const float *p)
{
    const int H = w->c->h * PW_FACTOR, W = w->c->w * PW_FACTOR, n = w->n_out, frame = H * W * 3;
    double mean[2] = { 0 }, colour[2] = { 0 }, step[128], off[128], sum = 0;
    int borders = 0;
    for (int i = 0; i < n * H * W; i++, p += 3) {
        const double a = (double) p[0], b = (double) p[1], c = (double) p[2];
        mean[i >= H * W] += (a + b + c) / 3 / (H * W);
        colour[i >= H * W] += (fmax(a, fmax(b, c)) - fmin(a, fmin(b, c))) / (H * W);
    }
    p -= n * frame;
    for (int f = 1; f < n; f++) {
        step[f - 1] = 0;
        for (int i = 0; i < frame; i++)
            step[f - 1] +=
                fabs((double) p[f * frame + i] - (double) p[(f - 1) * frame + i]) / frame;
        nino_chunk k;
        bool is_border = w->c->kind == PW_CAUSAL && f % PW_TIME == 1;
        for (int i = 1;
             w->c->kind == PW_CHUNKS &&
             nino_chunk_get(w->c->t + (w->c->repeats && w->c->chunk),
                            w->c->chunk ? w->c->chunk : w->c->t, w->c->shared, PW_TIME, -1, i, &k);
             i++)
            is_border |= k.from == f;
        borders += is_border;
        sum += is_border ? step[f - 1] : 0;
    }
    const int rest = n > 1 ? n - 1 : 1;
    CHECK((int) e->u.clip.n_borders == borders);
    CHECK(fabs((double) e->u.clip.first_mean - mean[0]) < 1e-5);
    CHECK(fabs((double) e->u.clip.rest_mean - (n > 1 ? mean[1] / rest : mean[0])) < 1e-5);
    CHECK(fabs((double) e->u.clip.first_colour - colour[0]) < 1e-5);
    CHECK(fabs((double) e->u.clip.rest_colour - (n > 1 ? colour[1] / rest : colour[0])) < 1e-5);
    CHECK(fabs((double) e->u.clip.border - (borders ? 255 * sum / borders : 0)) < 1e-3);
    memcpy(off, step, sizeof(off));
    const double m = n > 1 ? middle(off, n - 1) : 0;
    for (int i = 0; i < n - 1; i++)
        off[i] = fabs(step[i] - m);
    CHECK(fabs((double) e->u.clip.limit - 255 * (m + (n > 1 ? 3 * middle(off, n - 1) : 0))) < 1e-3);
}

static void check_told(const wanted *w, const nino_array *got)
{
    nino_event ev[64];
    const int n_tiles = w->x.n * w->y.n, clips = w->c->clips;
    int chunks = 0, tiles = 0, seams = 0, n_clips = 0, scopes = 0;
    *message = 0;
    for (size_t n; (n = nino_mon_reader_read(reader, ev, 64, NULL));)
        for (size_t i = 0; i < n; i++) {
            if (ev[i].kind == NINO_EV_CHUNK)
                check_chunk(&ev[i], w, chunks++);
            if (ev[i].kind == NINO_EV_TILE_INFO)
                check_tile(&ev[i], w, tiles++ % n_tiles);
            if (ev[i].kind == NINO_EV_TILE) {
                const int each = w->c->kind == PW_CHUNKS ? w->pieces : 1; // scopes of a tile
                CHECK((int) ev[i].u.scope.arg0 == scopes++ / each % n_tiles);
                CHECK((int) ev[i].u.scope.arg1 == n_tiles);
            }
            if (ev[i].kind == NINO_EV_MESSAGE)
                snprintf(message, sizeof(message), "%s",
                         nino_monitor_name_text(monitor, ev[i].name));
            if (ev[i].kind == NINO_EV_SEAM && !seams++)
                check_seam(&ev[i], w);
            if (ev[i].kind == NINO_EV_CLIP && (int) ev[i].u.clip.frames == w->n_out && !n_clips++)
                check_clip(&ev[i], w, nino_array_f32(got));
        }
    CHECK(chunks == clips * n_tiles * w->pieces);
    CHECK(tiles == (n_tiles > 1 ? clips * n_tiles : 0) && seams == (n_tiles > 1 ? clips : 0));
    CHECK(n_clips == (w->c->is_encode || (w->c->repeats && w->c->chunk) ? 0 : clips));
}

// ---- all of it -------------------------------------------------------------------------------------

static void check(const clip *c)
{
    nino_tile_report r = { .n_tiles = 0 };
    const wanted w = want(c);
    nino_array *got = run(c, w.n_out, &r);
    const int n = c->clips * count_of(&w);
    CHECK(nino_shape_count(&got->shape) == n);
    for (int i = 0; i < n; i++) {
        const double v = c->is_encode ? w.value[i] : fmin(fmax(w.value[i], 0), 1);
        if (!(fabs((double) nino_array_f32(got)[i] - v) <= 1e-5)) {
            fprintf(stderr, "value %d of %d is %g, not %g\n", i, n, (double) nino_array_f32(got)[i],
                    v);
            exit(1);
        }
    }
    CHECK(r.n_tiles == w.x.n * w.y.n && r.tiled == (r.n_tiles > 1));
    CHECK(r.tile_w == w.x.len[0] * PW_FACTOR && r.tile_h == w.y.len[0] * PW_FACTOR);
    CHECK(r.overlap == (r.tiled ? c->overlap * PW_FACTOR : 0));
    check_told(&w, got);
    nino_array_unref(&got);
    free(w.value);
}

static const clip clips[] = {
    { PW_CAUSAL, .t = 3, .h = 5, .w = 6, .style = NINO_TILE_NEVER, .clips = 2 },
    { PW_CAUSAL, .t = 1, .h = 6, .w = 5, .style = NINO_TILE_NEVER, .clips = 1 },
    { PW_CAUSAL, .t = 2, .h = 9, .w = 14, .style = NINO_TILE_ALWAYS, .tile = 6, .overlap = 1,
      .clips = 1 },
    { PW_CAUSAL, .t = 3, .h = 13, .w = 7, .style = NINO_TILE_ALWAYS, .tile = 8, .overlap = 2,
      .clips = 2 },
    { PW_CAUSAL, .t = 2, .h = 9, .w = 15, .style = NINO_TILE_STOCK, .tile = 8, .overlap = 2,
      .clips = 1 },
    { PW_CAUSAL, .t = 2, .h = 14, .w = 13, .style = NINO_TILE_STOCK, .tile = 8, .overlap = 2,
      .clips = 1 },
    { PW_CAUSAL, .t = 2, .h = 7, .w = 9, .style = NINO_TILE_STOCK, .tile = 8, .overlap = 2,
      .clips = 1 },
    { PW_CAUSAL, .t = 2, .h = 4, .w = 12, .style = NINO_TILE_ALWAYS, .tile = 5, .overlap = 0,
      .clips = 1 },
    { PW_CAUSAL, true, .t = 5, .h = 9, .w = 14, .style = NINO_TILE_ALWAYS, .tile = 6, .overlap = 1,
      .extra_x = 3, .clips = 1 },
    { PW_CAUSAL, true, .t = 4, .h = 13, .w = 7, .style = NINO_TILE_STOCK, .tile = 8, .overlap = 2,
      .extra_y = 3, .clips = 1 },
    { PW_CAUSAL, true, .t = 6, .h = 3, .w = 4, .style = NINO_TILE_NEVER, .clips = 1 },
    { PW_CAUSAL, true, .t = 1, .h = 3, .w = 4, .style = NINO_TILE_NEVER, .extra_x = 2, .extra_y = 2,
      .clips = 1 },
    { PW_CAUSAL, .t = 40, .h = 2, .w = 3, .style = NINO_TILE_NEVER,
      .clips = 1 }, // more than the meter has room for at first
    { PW_CHUNKS, .t = 5, .h = 5, .w = 6, .style = NINO_TILE_NEVER, .clips = 2 },
    { PW_CHUNKS, .t = 7, .h = 5, .w = 6, .style = NINO_TILE_NEVER, .chunk = 4, .shared = 1,
      .clips = 2 },
    { PW_CHUNKS, .t = 8, .h = 5, .w = 6, .style = NINO_TILE_NEVER, .chunk = 5, .shared = 2,
      .repeats = true, .clips = 2 },
    { PW_CHUNKS, .t = 3, .h = 5, .w = 6, .style = NINO_TILE_NEVER, .chunk = 1, .shared = 1,
      .repeats = true, .clips = 1 },
    { PW_CHUNKS, .t = 6, .h = 9, .w = 14, .style = NINO_TILE_ALWAYS, .tile = 8, .overlap = 2,
      .chunk = 3, .shared = 1, .clips = 1 },
    { PW_CHUNKS, .t = 3, .h = 9, .w = 14, .style = NINO_TILE_STOCK, .tile = 8, .overlap = 2,
      .clips = 1 },
};

// Chunks that are no longer than what they share are made longer, which is said.
static void check_short_chunks(void)
{
    const clip c = { PW_CHUNKS,  .t = 7,      .h = 2,    .w = 3, .style = NINO_TILE_NEVER,
                     .chunk = 3, .shared = 2, .clips = 1 };
    clip enough = c;
    check(&c);
    CHECK_STR(message, "pointwise: chunks of 3 latent frames cannot share 2: 4 are taken");
    enough.chunk = 4;
    check(&enough);
    CHECK(!*message);
}

// Each latent frame as the one after it is; the last one as it is itself.
static nino_tensor *decode_ahead(nino_stream *s, const nino_vae *v, nino_tensor *z)
{
    const int64_t t = nino_dim(z, 0);
    nino_tensor *last = nino_slice(s, nino_ref(z), 0, t - 1, 1);
    return pw_decode_clip(s, v, nino_concat(s, nino_slice(s, z, 0, 1, t - 1), last, 0));
}

// What is behind the last frame is that frame once more, pixel by pixel.
static void check_repeated(void)
{
    enum { T = 3, H = 2, W = 3, FRAMES = 1 + (T - 1) * PW_TIME };
    const clip c = { PW_CHUNKS, .t = T, .h = H, .w = W, .clips = 1 };
    const nino_video_params p = { .tile = { NINO_TILE_NEVER }, .chunk = 8, .repeat_last = true };
    nino_vae v = pw_vae(PW_CHUNKS);
    nino_array *in = input(&c);
    kept k = { .all = nino_array_create(NINO_F32,
                                        NINO_SHAPE(FRAMES, H * PW_FACTOR, W * PW_FACTOR, 3)) };
    CHECK(k.all);
    v.decode_clip = decode_ahead;
    pw.calls = 0;
    CHECK_OK(nino_vae_decode_video(stream, &v, in, &p, &(nino_frame_sink){ keep, &k }, NULL, &err),
             err);
    CHECK(k.next == FRAMES);
    const float *got = nino_array_f32(k.all);
    for (int f = 0; f < FRAMES; f++)
        for (int i = 0; i < H * W * PW_FACTOR * PW_FACTOR; i++)
            for (int ch = 0; ch < 3; ch++) {
                const int at = f ? 1 + (f - 1) / PW_TIME : 0, next = at + 1 < T ? at + 1 : T - 1;
                const float want = (float) PW_SHARE * source(next, i / W / PW_FACTOR / PW_FACTOR,
                                                             i / PW_FACTOR % W, ch);
                CHECK(fabsf(*got++ - want) <= 1e-6f);
            }
    nino_array_unref(&in);
    nino_array_unref(&k.all);
    while (nino_mon_reader_read(reader, &(nino_event){ .kind = 0 }, 1, NULL))
        ;
}

// In words, with the numbers that cannot be.
static void refuse(nino_shape shape, bool is_encode, const char *words)
{
    const nino_vae v = pw_vae(PW_CAUSAL);
    const nino_video_params p = { .tile = { .style = NINO_TILE_NEVER } };
    nino_array *z = NULL;
    nino_array *in = nino_array_create(NINO_F32, shape);
    CHECK(in);
    memset(in->data, 0, in->bytes);
    kept k = { .all = NULL };
    const nino_status st =
        is_encode
            ? nino_vae_encode_video(stream, &v, in, &p, &z, NULL, &err)
            : nino_vae_decode_video(stream, &v, in, &p, &(nino_frame_sink){ keep, &k }, NULL, &err);
    CHECK(st && !z && !k.next);
    CHECK_STR(err.msg, words);
    CHECK_STR(err.where, "pointwise");
    nino_array_unref(&in);
}

static void check_refusals(void)
{
    refuse(NINO_SHAPE(1, 1, 3, 16384, 4), false,
           "frames of 65536x12 cannot be done: sides of 4 to 65535 pixels can");
    refuse(NINO_SHAPE(1, 1, 16384, 5, 4), false,
           "frames of 20x65536 cannot be done: sides of 4 to 65535 pixels can");
    refuse(NINO_SHAPE(1, 2, 3, 5, 3), false,
           "the latent has 3 channels, this VAE (pointwise) decodes 4");
    refuse(NINO_SHAPE(1, 1, 65536, 3), true,
           "frames of 65536x1 cannot be done: sides of 4 to 65535 pixels can");
    refuse(NINO_SHAPE(1, 65536, 4, 3), true,
           "frames of 4x65536 cannot be done: sides of 4 to 65535 pixels can");
    refuse(NINO_SHAPE(1, 4, 3, 3), true,
           "frames of 3x4 cannot be done: sides of 4 to 65535 pixels can");
    refuse(NINO_SHAPE(1, 2, 2, 2), true, "an image batch has three channels or four");
}

// The largest sides that are no more than that.
static void check_largest(void)
{
    const clip wide = {
        PW_CAUSAL, .t = 1, .h = 1, .w = 16383, .style = NINO_TILE_NEVER, .clips = 1
    };
    const clip high = {
        PW_CAUSAL, true, .t = 1, .h = 16383, .w = 1, .extra_y = 3, .style = NINO_TILE_NEVER,
        .clips = 1
    };
    const clip wide_pixels = {
        PW_CAUSAL, true, .t = 1, .h = 1, .w = 16383, .extra_x = 3, .style = NINO_TILE_NEVER,
        .clips = 1
    };
    check(&wide);
    check(&wide_pixels);
    check(&high);
}

int main(void)
{
    be = nino_ref_open(0, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    monitor = nino_monitor_create();
    reader = nino_mon_reader_create(monitor);
    stream = nino_stream_create(
        &(nino_stream_params){ .backend = be, .monitor = monitor, .precision = NINO_PREC_F32 },
        &err);
    CHECK(monitor && reader && stream);
    pw_make();
    for (size_t i = 0; i < sizeof(clips) / sizeof(clips[0]); i++) {
        printf("  clip %d\n", (int) i);
        check(&clips[i]);
    }
    check_largest();
    check_short_chunks();
    check_repeated();
    check_refusals();
    nino_stream_destroy(&stream);
    pw_release();
    nino_backend_close(&be);
    nino_mon_reader_destroy(&reader);
    nino_monitor_destroy(&monitor);
    return 0;
}
