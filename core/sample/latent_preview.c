// Previews of a latent: a linear map of its channels, or a tiny autoencoder's decode.
#include "core/sample/latent_preview.h"

#include <math.h>
#include <string.h>

#include "core/base/error.h"

// Cells of a plane, and how far apart the planes of the first picture and frame are.
typedef struct plane {
    int64_t h, w, channels, stride;
} plane;

static plane first_plane(const nino_shape *s)
{
    plane p = { s->dim[s->rank - 2], s->dim[s->rank - 1], s->dim[1], 0 };
    p.stride = p.h * p.w * (s->rank == 5 ? s->dim[2] : 1);
    return p;
}

// The colour of one cell, whose channels are `stride` apart.
static void preview_colour(const nino_latent_format *f, const float *x, int64_t stride, int64_t n,
                           uint8_t *to)
{
    for (int k = 0; k < 3; k++) {
        float v = f->rgb_bias ? f->rgb_bias[k] : 0;
        for (int64_t c = 0; c < n; c++)
            v += x[c * stride] * f->rgb[c][k];
        v = (v + 1.0f) / 2.0f;
        to[k] = (uint8_t) (255.0f * (v > 0 ? (v < 1 ? v : 1) : 0));
    }
}

nino_status nino_preview_rgb(const nino_latent_format *f, const float *x0, const nino_shape *shape,
                             nino_array **out, nino_error *err)
{
    const plane p = first_plane(shape);
    if (!f->rgb || p.channels != f->channels)
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", f->name,
                              "no colours are known for latents of this kind");
    const int64_t frames = shape->rank == 5 ? shape->dim[2] : 1, fold = f->fold ? f->fold : 1;
    const int64_t h = frames * p.h * fold, w = p.w * fold; // frames follow each other in a channel
    nino_array *a = nino_array_create(NINO_U8, NINO_SHAPE(frames, p.h * fold, w, 3));
    if (!a)
        return nino_fail(err, NINO_ERR_NOMEM, "preview", "no memory for a preview");
    uint8_t *to = a->data;
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++, to += 3) {
            const int64_t part = y % fold * fold + x % fold;
            preview_colour(f, x0 + part * p.stride + y / fold * p.w + x / fold,
                           fold * fold * p.stride, p.channels / (fold * fold), to);
        }
    *out = a;
    return NINO_OK;
}

nino_status nino_preview_sheet(const nino_array *frames, nino_array **out, nino_error *err)
{
    const int64_t had = frames->shape.dim[0], h = frames->shape.dim[1], w = frames->shape.dim[2];
    const int64_t n = had < NINO_PREVIEW_FRAMES ? had : NINO_PREVIEW_FRAMES;
    const int64_t columns = (int64_t) ceil(sqrt((double) n)), rows = (n + columns - 1) / columns;
    const size_t line = (size_t) w * 3;
    nino_array *a = nino_array_create(NINO_U8, NINO_SHAPE(1, rows * h, columns * w, 3));
    if (!a)
        return nino_fail(err, NINO_ERR_NOMEM, "preview", "no memory for a preview");
    for (int64_t i = 0; i < n; i++) {
        const int64_t frame = n > 1 ? i * (had - 1) / (n - 1) : 0;
        for (int64_t y = 0; y < h; y++)
            memcpy((uint8_t *) a->data + ((size_t) (i / columns * h + y) * (size_t) columns +
                                          (size_t) (i % columns)) *
                                             line,
                   (const uint8_t *) frames->data + (size_t) (frame * h + y) * line, line);
    }
    *out = a;
    return NINO_OK;
}

// The first plane as a node latent [1,h,w,C].
static nino_array *node_latent(const nino_latent_format *f, const float *x0, const plane *p)
{
    nino_array *z = nino_array_create(NINO_F32, NINO_SHAPE(1, p->h, p->w, p->channels));
    if (!z)
        return NULL;
    float *to = nino_array_f32(z);
    for (int64_t i = 0; i < p->h * p->w; i++)
        for (int64_t c = 0; c < p->channels; c++)
            *to++ = x0[c * p->stride + i];
    nino_latent_process_out(f, nino_array_f32(z), p->h * p->w, 1);
    return z;
}

// t as it is shown: no side above `side`, 8 bits.
static nino_tensor *shown(nino_stream *s, nino_tensor *t, double side)
{
    const double h = (double) nino_dim(t, 1), w = (double) nino_dim(t, 2);
    const double shrink = side / fmax(h, w);
    if (shrink < 1)
        t = nino_resample(s, t, (int64_t) fmax(1, rint(h * shrink)),
                          (int64_t) fmax(1, rint(w * shrink)), NINO_FILTER_AREA);
    return nino_to_rgb8(s, t);
}

// The evenly chosen frames of a sheet. All of the clip goes through, a latent frame at a time:
// frames depend on those before them.
static nino_tensor *clip_frames(nino_stream *s, const nino_vae *v, const nino_latent_format *f,
                                const float *x0, const plane *p, int64_t latent_frames)
{
    const int64_t total = nino_vae_frames(v, latent_frames);
    const int64_t n = total < NINO_PREVIEW_FRAMES ? total : NINO_PREVIEW_FRAMES;
    nino_tensor *out = NULL;
    int64_t done = 0, taken = 0;
    nino_vae_clip clip;
    nino_vae_clip_begin(&clip, v, true);
    for (int64_t i = 0; i < latent_frames && !nino_stream_status(s, NULL); i++) {
        nino_array *z = node_latent(f, x0 + i * p->h * p->w, p);
        if (!z) {
            nino_stream_fail(s, NINO_ERR_NOMEM, "preview", "no memory for a preview");
            break;
        }
        nino_tensor *y = nino_vae_clip_next(s, &clip, nino_upload(s, z, nino_stream_act_type(s)));
        nino_array_unref(&z);
        const int64_t frames = nino_dim(y, 0);
        for (int64_t at; taken < n && y; taken++) {
            at = n > 1 ? taken * (total - 1) / (n - 1) : 0;
            if (at >= done + frames)
                break;
            nino_tensor *one = nino_slice(s, nino_ref(y), 0, at - done, 1);
            one = shown(s, one, NINO_PREVIEW_FRAME_SIDE);
            out = taken ? nino_concat(s, out, one, 0) : one;
        }
        nino_unref(y);
        done += frames;
    }
    nino_vae_clip_end(&clip);
    return out;
}

nino_status nino_preview_tiny(nino_stream *s, const nino_vae *v, const nino_latent_format *f,
                              const float *x0, const nino_shape *shape, nino_array **out,
                              nino_error *err)
{
    const plane p = first_plane(shape);
    nino_tensor *t = NULL;
    if (p.channels != v->channels || p.channels != f->channels)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", v->name,
                              "the latent has %lld channels, this autoencoder %d",
                              (long long) p.channels, v->channels);
    if (shape->rank == 5 && v->decode_next) {
        t = clip_frames(s, v, f, x0, &p, shape->dim[2]);
    } else {
        nino_array *z = node_latent(f, x0, &p);
        if (!z)
            return nino_fail(err, NINO_ERR_NOMEM, "preview", "no memory for a preview");
        t = v->decode(s, v, nino_upload(s, z, nino_stream_act_type(s)));
        nino_array_unref(&z);
        t = shown(s, t, NINO_PREVIEW_SIDE);
    }
    nino_array *a = nino_download(s, t, NINO_U8);
    if (a)
        *out = a;
    return nino_stream_status(s, err);
}
