// Where a Stable Diffusion 3 transformer's tokens lie: the middle of a square of learned vectors, or
// waves where a file has none. Sources: Esser et al., Scaling Rectified Flow Transformers for
// High-Resolution Image Synthesis (2024); ComfyUI ldm/modules/diffusionmodules/mmdit.py.
#include "core/model/sd3/sd3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 16    // pixels of a position
#define MIDDLE 7.5 // of the positions that are computed

typedef struct sd3_window { // a key: without holes
    const sd3 *net;
    int64_t h, w;
} sd3_window;

// sin and cos of a position at hidden/4 frequencies.
static float *sd3_put_waves(float *to, int64_t hidden, double position)
{
    const int64_t n = hidden / 4;
    for (int64_t k = 0; k < 2 * n; k++) {
        const double angle = position * pow(10000, -(double) (k % n) / (double) n);
        *to++ = (float) (k < n ? sin(angle) : cos(angle));
    }
    return to;
}

// Number i of n positions around the middle, as far apart as the shorter side's fill its 15.
static double sd3_spread(int64_t i, int64_t n, int64_t shorter)
{
    const double reach = MIDDLE * (double) n / (double) shorter;
    return n < 2 ? MIDDLE - reach : MIDDLE - reach + 2 * reach * (double) i / (double) (n - 1);
}

static void sd3_compute(const sd3_window *o, float *to)
{
    const int64_t shorter = o->h < o->w ? o->h : o->w;
    for (int64_t y = 0; y < o->h; y++)
        for (int64_t x = 0; x < o->w; x++) {
            to = sd3_put_waves(to, o->net->hidden, sd3_spread(x, o->w, shorter));
            to = sd3_put_waves(to, o->net->hidden, sd3_spread(y, o->h, shorter));
        }
}

// A plain file's rows are read one by one; what a view changes, it changes as a whole.
static bool sd3_read(const sd3_window *o, float *to)
{
    const sd3 *net = o->net;
    const int64_t grid = net->grid, top = (grid - o->h) / 2, left = (grid - o->w) / 2;
    const size_t row = (size_t) (o->w * net->hidden);
    const bool is_plain = nino_weights_base(net->file) == net->file && !net->positions->is_strided;
    nino_tensor_info rows = *net->positions;
    nino_array *all = is_plain ? NULL : nino_weights_read_f32(net->file, net->positions, NULL);
    bool is_read = is_plain || all;
    rows.rank = 2;
    rows.dim[0] = grid * grid;
    rows.dim[1] = net->hidden;
    for (int64_t y = 0; y < o->h && is_read; y++, to += row) {
        const int64_t first = (top + y) * grid + left;
        if (all)
            memcpy(to, nino_array_f32(all) + first * net->hidden, row * sizeof(*to));
        else
            is_read = !nino_weights_read_rows_f32(net->file, &rows, first, o->w, to, NULL);
    }
    nino_array_unref(&all);
    return is_read;
}

// As all weights of the network are. False: no memory.
static bool sd3_round(nino_array *a, nino_dtype type)
{
    const size_t n = (size_t) nino_shape_count(&a->shape);
    void *narrow = type == NINO_F32 ? NULL : malloc(n * nino_dtype_size(type));
    if (narrow) {
        nino_from_f32(narrow, type, nino_array_f32(a), n);
        nino_to_f32(nino_array_f32(a), narrow, type, n);
    }
    free(narrow);
    return narrow || type == NINO_F32;
}

static nino_array *sd3_window_make(const void *key)
{
    const sd3_window *o = key;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, o->h * o->w, o->net->hidden));
    if (a && !o->net->positions)
        sd3_compute(o, nino_array_f32(a));
    else if (a && !(sd3_read(o, nino_array_f32(a)) && sd3_round(a, o->net->type)))
        nino_array_unref(&a);
    return a;
}

// Why there is no table: what reading the vectors once more says, or no memory.
static nino_tensor *sd3_no_positions(nino_stream *s, const nino_diffusion *d)
{
    const sd3 *net = d->net;
    nino_error err = { 0 };
    nino_array *all =
        net->positions ? nino_weights_read_f32(net->file, net->positions, &err) : NULL;
    nino_array_unref(&all);
    if (err.code && err.code != NINO_ERR_NOMEM)
        return nino_stream_fail(s, err.code, d->name, "pos_embed could not be read again: %s",
                                err.msg);
    return nino_stream_fail(s, NINO_ERR_NOMEM, d->name, "no memory for the positions");
}

nino_tensor *sd3_positions(nino_stream *s, const nino_diffusion *d, int64_t h, int64_t w)
{
    sd3 *net = d->net;
    const sd3_window key = { net, h, w };
    if (nino_stream_status(s, NULL))
        return NULL;
    const int64_t most = SIDE * net->grid, height = SIDE * h, width = SIDE * w;
    if (net->positions && (height > most || width > most))
        return nino_stream_fail(
            s, NINO_ERR_ARG, d->name,
            "it knows pictures of up to %lld x %lld pixels, this one has %lld x %lld",
            (long long) most, (long long) most, (long long) width, (long long) height);
    if (nino_stream_is_plan(s)) // nothing is read
        return nino_zeros(s, NINO_SHAPE(1, h * w, net->hidden), nino_stream_act_type(s));
    nino_array *a = nino_rope_cache_get(&net->windows, &key, sizeof(key), sd3_window_make);
    nino_tensor *t = a ? nino_upload(s, a, nino_stream_act_type(s)) : sd3_no_positions(s, d);
    nino_array_unref(&a);
    return t;
}
