// Arithmetic on the host that image, mask and latent nodes share. Rules of ComfyUI's nodes_mask.py
// (composite) and comfy/utils.py (repeat_to_batch_size).
#include "core/node/planar.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

nino_picture nino_picture_of(const nino_array *a)
{
    const int64_t *d = a->shape.dim;
    nino_picture p = { .n = d[0], .t = 1, .c = 1, .v = nino_array_f32(a) };
    switch (a->shape.rank) {
    case 3:
        p.h = d[1];
        p.w = d[2];
        break;
    case 4:
        p.h = d[1];
        p.w = d[2];
        p.c = d[3];
        break;
    default:
        p.t = d[1];
        p.h = d[2];
        p.w = d[3];
        p.c = d[4];
        break;
    }
    return p;
}

nino_shape nino_picture_shape(const nino_array *a, int64_t n, int64_t h, int64_t w)
{
    nino_shape s = a->shape;
    const int at = s.rank == 5 ? 2 : 1; // of h
    s.dim[0] = n;
    s.dim[at] = h;
    s.dim[at + 1] = w;
    return s;
}

static int64_t clamp64(int64_t v, int64_t lo, int64_t hi) { return v < lo ? lo : v > hi ? hi : v; }

void nino_slice_range(int64_t start, int64_t stop, int64_t n, int64_t *from, int64_t *len)
{
    const int64_t a = clamp64(start < 0 ? start + n : start, 0, n);
    const int64_t b = clamp64(stop < 0 ? stop + n : stop, 0, n);
    *from = a;
    *len = b > a ? b - a : 0;
}

// ---- copies ----------------------------------------------------------------------------------

nino_array *nino_picture_copy(const nino_array *a, const char *what, nino_error *err)
{
    nino_array *out = nino_node_array(NINO_F32, a->shape, what, err);
    if (out)
        memcpy(out->data, a->data, a->bytes);
    return out;
}

nino_array *nino_picture_crop(const nino_array *a, int64_t top, int64_t left, int64_t h, int64_t w,
                              const char *what, nino_error *err)
{
    const nino_picture src = nino_picture_of(a);
    nino_array *out = nino_node_array(NINO_F32, nino_picture_shape(a, src.n, h, w), what, err);
    if (!out)
        return NULL;
    const nino_picture dst = nino_picture_of(out);
    for (int64_t i = 0; i < src.n * src.t; i++)
        for (int64_t y = 0; y < h; y++)
            memcpy(nino_picture_at(&dst, i, y, 0), nino_picture_at(&src, i, top + y, left),
                   (size_t) (w * src.c) * sizeof(float));
    return out;
}

nino_array *nino_picture_pad(const nino_array *a, int64_t top, int64_t left, int64_t h, int64_t w,
                             float value, const char *what, nino_error *err)
{
    nino_array *out =
        nino_node_array(NINO_F32, nino_picture_shape(a, a->shape.dim[0], h, w), what, err);
    for (int64_t i = 0; out && i < nino_shape_count(&out->shape); i++)
        nino_array_f32(out)[i] = value;
    if (out)
        nino_picture_paste(out, a, NULL, top, left);
    return out;
}

nino_array *nino_picture_batch(const nino_array *a, int64_t start, int64_t n, const char *what,
                               nino_error *err)
{
    nino_shape s = a->shape;
    const int64_t had = s.dim[0];
    const size_t bytes = a->bytes / (size_t) had;
    s.dim[0] = n;
    nino_array *out = nino_node_array(NINO_F32, s, what, err);
    for (int64_t i = 0; out && i < n; i++)
        memcpy((char *) out->data + (size_t) i * bytes,
               (const char *) a->data + (size_t) ((start + i) % had) * bytes, bytes);
    return out;
}

nino_array *nino_picture_join(const nino_array *a, const nino_array *b, int axis, const char *what,
                              nino_error *err)
{
    nino_shape s = a->shape;
    char da[96], db[96];
    nino_shape_print(da, sizeof(da), &a->shape);
    nino_shape_print(db, sizeof(db), &b->shape);
    bool fits = a->shape.rank == b->shape.rank;
    size_t outer = 1, ia = sizeof(float), ib = sizeof(float);
    for (int i = 0; fits && i < s.rank; i++) {
        fits = i == axis || a->shape.dim[i] == b->shape.dim[i];
        outer *= i < axis ? (size_t) s.dim[i] : 1;
        ia *= i < axis ? 1 : (size_t) a->shape.dim[i];
        ib *= i < axis ? 1 : (size_t) b->shape.dim[i];
    }
    if (!fits) {
        nino_fail_kind(err, NINO_ERR_ARG, "shape", what, "%s and %s cannot be joined", da, db);
        return NULL;
    }
    s.dim[axis] += b->shape.dim[axis];
    nino_array *out = nino_node_array(NINO_F32, s, what, err);
    for (size_t i = 0; out && i < outer; i++) {
        char *to = (char *) out->data + i * (ia + ib);
        memcpy(to, (const char *) a->data + i * ia, ia);
        memcpy(to + ia, (const char *) b->data + i * ib, ib);
    }
    return out;
}

nino_array *nino_picture_flip(const nino_array *a, bool rows, bool columns, const char *what,
                              nino_error *err)
{
    const nino_picture src = nino_picture_of(a);
    nino_array *out = nino_node_array(NINO_F32, a->shape, what, err);
    if (!out)
        return NULL;
    const nino_picture dst = nino_picture_of(out);
    const size_t cell = (size_t) src.c * sizeof(float);
    for (int64_t i = 0; i < src.n * src.t; i++)
        for (int64_t y = 0; y < src.h; y++)
            for (int64_t x = 0; x < src.w; x++)
                memcpy(
                    nino_picture_at(&dst, i, y, x),
                    nino_picture_at(&src, i, rows ? src.h - 1 - y : y, columns ? src.w - 1 - x : x),
                    cell);
    return out;
}

nino_array *nino_picture_rotate(const nino_array *a, int turns, const char *what, nino_error *err)
{
    if (turns == 0 || turns == 2)
        return nino_picture_flip(a, turns == 2, turns == 2, what, err);
    const nino_picture src = nino_picture_of(a);
    nino_array *out =
        nino_node_array(NINO_F32, nino_picture_shape(a, src.n, src.w, src.h), what, err);
    if (!out)
        return NULL;
    const nino_picture dst = nino_picture_of(out);
    for (int64_t i = 0; i < dst.n * dst.t; i++)
        for (int64_t y = 0; y < dst.h; y++)
            for (int64_t x = 0; x < dst.w; x++)
                memcpy(nino_picture_at(&dst, i, y, x),
                       turns == 1 ? nino_picture_at(&src, i, src.h - 1 - x, y)
                                  : nino_picture_at(&src, i, x, src.w - 1 - y),
                       (size_t) src.c * sizeof(float));
    return out;
}

nino_array *nino_picture_channels(const nino_array *a, int64_t c, const char *what, nino_error *err)
{
    const nino_picture src = nino_picture_of(a);
    nino_shape s = a->shape;
    s.dim[s.rank - 1] = c;
    nino_array *out = nino_node_array(NINO_F32, s, what, err);
    const int64_t cells = src.n * src.t * src.h * src.w;
    for (int64_t i = 0; out && i < cells; i++)
        for (int64_t k = 0; k < c; k++)
            nino_array_f32(out)[i * c + k] = k < src.c ? src.v[i * src.c + k] : 1.0f;
    return out;
}

nino_status nino_mask_fit(nino_run *r, const nino_array *mask, int64_t h, int64_t w,
                          nino_array **out, nino_error *err)
{
    const nino_picture m = nino_picture_of(mask);
    if (m.h == h && m.w == w) {
        *out = nino_array_ref((nino_array *) mask);
        return NINO_OK;
    }
    nino_array flat = *mask; // a view with one channel
    flat.shape = NINO_SHAPE(m.n, m.h, m.w, 1);
    const nino_status st = nino_rescale(r, &flat, w, h, NINO_SCALE_BILINEAR, false, out, err);
    if (st == NINO_OK)
        (*out)->shape = NINO_SHAPE(m.n, h, w);
    return st;
}

nino_array *nino_mask_to_image(const nino_array *mask, const char *what, nino_error *err)
{
    const nino_picture m = nino_picture_of(mask);
    nino_array *out = nino_node_array(NINO_F32, NINO_SHAPE(m.n, m.h, m.w, 3), what, err);
    for (int64_t i = 0; out && i < m.n * m.h * m.w * 3; i++)
        nino_array_f32(out)[i] = m.v[i / 3];
    return out;
}

// ---- batches ---------------------------------------------------------------------------------

nino_status nino_batch_agrees(int64_t has, int64_t n, const char *key, nino_error *err)
{
    if (has == 1 || has == n)
        return NINO_OK;
    return nino_fail_kind(err, NINO_ERR_ARG, "shape", key, "a batch of %lld does not go with %lld",
                          (long long) has, (long long) n);
}

static nino_status copy_index(const nino_latent *from, int64_t n, int64_t **out, nino_error *err)
{
    const int64_t had = from->samples->shape.dim[0];
    *out = NULL;
    if (!from->batch_index)
        return NINO_OK;
    if (!(*out = malloc((size_t) n * sizeof(**out))))
        return nino_fail(err, NINO_ERR_NOMEM, "batch_index", "out of memory");
    for (int64_t i = 0; i < n; i++)
        (*out)[i] = from->batch_index[i < had ? i : had - 1];
    return NINO_OK;
}

nino_status nino_out_latent_like(nino_run *r, int i, const nino_latent *from, nino_array *samples,
                                 nino_error *err)
{
    nino_latent l = { .samples = samples };
    if (samples && copy_index(from, samples->shape.dim[0], &l.batch_index, err)) {
        nino_array_unref(&samples);
        return NINO_ERR_NOMEM;
    }
    l.noise_mask = nino_array_ref(from->noise_mask);
    return nino_out_latent(r, i, l, err);
}

// ---- pasting ---------------------------------------------------------------------------------

static void paste_plane(const nino_picture *d, int64_t plane, const nino_picture *s, int64_t from,
                        const float *mask, int64_t y0, int64_t x0)
{
    const int64_t top = y0 < 0 ? -y0 : 0, left = x0 < 0 ? -x0 : 0;
    const int64_t bottom = s->h < d->h - y0 ? s->h : d->h - y0;
    const int64_t right = s->w < d->w - x0 ? s->w : d->w - x0;
    for (int64_t y = top; y < bottom; y++)
        for (int64_t x = left; x < right; x++) {
            const float m = mask ? mask[y * s->w + x] : 1.0f;
            float *to = nino_picture_at(d, plane, y0 + y, x0 + x);
            const float *v = nino_picture_at(s, from, y, x);
            for (int64_t k = 0; k < d->c; k++)
                to[k] = m * v[k] + (1.0f - m) * to[k];
        }
}

void nino_picture_paste(const nino_array *destination, const nino_array *source,
                        const nino_array *mask, int64_t y, int64_t x)
{
    const nino_picture d = nino_picture_of(destination), s = nino_picture_of(source);
    for (int64_t i = 0; i < d.n; i++)
        for (int64_t t = 0; t < d.t; t++) {
            const int64_t from = i % s.n * s.t + (s.t == 1 ? 0 : t);
            const float *m =
                mask ? nino_array_f32(mask) + i % mask->shape.dim[0] * s.h * s.w : NULL;
            paste_plane(&d, i * d.t + t, &s, from, m, y, x);
        }
}
