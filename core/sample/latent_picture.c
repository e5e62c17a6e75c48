// A saved latent as a picture: the linear map of the previews, for the format that fits best.
#include "core/sample/latent_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/media/image.h"
#include "core/sample/latent_preview.h"

static int64_t cells_of(const nino_shape *s) // [N,C,...]: of one channel
{
    int64_t n = 1;
    for (int i = 2; i < s->rank; i++)
        n *= s->dim[i];
    return n;
}

// How far the variance of the model latent is from 1, as a factor's logarithm.
static double latent_picture_misfit(const nino_latent_format *f, const nino_array *a)
{
    const int64_t inner = cells_of(&a->shape), outer = a->shape.dim[0];
    const float *x = a->data;
    double sum = 0;
    for (int64_t o = 0; o < outer; o++)
        for (int c = 0; c < f->channels; c++) {
            const double mean = f->mean ? (double) f->mean[c] : f->shift;
            const double scale = f->scale / (f->std ? (double) f->std[c] : 1);
            for (int64_t i = 0; i < inner; i++, x++)
                sum += ((double) *x - mean) * scale * ((double) *x - mean) * scale;
        }
    const double variance = sum / (double) (outer * f->channels * inner);
    return isfinite(variance) ? fabs(log(fmax(variance, 1e-6))) : INFINITY;
}

static const nino_latent_format *guess(const nino_array *a)
{
    static const char *const names[] = { "sd15", "sdxl", "flux", "sd3", "flux2", "wan21", "wan22" };
    const nino_latent_format *best = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const nino_latent_format *f = nino_latent_format_find(names[i]);
        if (f->channels != a->shape.dim[1] || (f->time_factor > 1) != (a->shape.rank == 5))
            continue;
        const double far = latent_picture_misfit(f, a);
        if (!best || far < least) {
            best = f;
            least = far;
        }
    }
    return best;
}

// Of a kind without known colours: its first channel in grey, two standard deviations either way.
static nino_status grey(const float *x, const nino_shape *s, nino_array **out, nino_error *err)
{
    const int64_t n = cells_of(s), frames = s->rank == 5 ? s->dim[2] : 1;
    double sum = 0, squares = 0;
    nino_array *a =
        nino_array_create(NINO_U8, NINO_SHAPE(frames, s->dim[s->rank - 2], s->dim[s->rank - 1], 3));
    if (!a)
        return nino_fail(err, NINO_ERR_NOMEM, "preview", "no memory for a preview");
    for (int64_t i = 0; i < n; i++) {
        sum += (double) x[i];
        squares += (double) x[i] * (double) x[i];
    }
    const double mean = sum / (double) n;
    const double deviation = sqrt(fmax(squares / (double) n - mean * mean, 1e-12));
    uint8_t *to = a->data;
    for (int64_t i = 0; i < n; i++, to += 3) {
        const double v = ((double) x[i] - mean) / (4 * deviation) + 0.5;
        memset(to, (int) (255 * (v > 0 ? (v < 1 ? v : 1) : 0)), 3); // NaN is black
    }
    *out = a;
    return NINO_OK;
}

// Frames of one picture or clip, behind those that are there.
static nino_status latent_picture_add(const nino_latent_format *f, const float *x,
                                      const nino_shape *s, int max, nino_picture *out,
                                      nino_error *err)
{
    nino_array *rgb = NULL;
    const nino_status st = f ? nino_preview_rgb(f, x, s, &rgb, err) : grey(x, s, &rgb, err);
    if (st)
        return st;
    const size_t n = (size_t) out->width * (size_t) out->height;
    const uint8_t *from = rgb->data;
    for (int64_t i = 0; i < rgb->shape.dim[0] && out->frames < max; i++) {
        uint8_t *to = out->rgba + (size_t) out->frames++ * n * 4;
        for (size_t k = 0; k < n; k++, to += 4, from += 3) {
            memcpy(to, from, 3);
            to[3] = 255;
        }
    }
    nino_array_unref(&rgb);
    return NINO_OK;
}

static nino_status latent_picture_draw(nino_array *a, const char *name, int max_frames,
                                       nino_picture *out, nino_error *err)
{
    const nino_latent_format *f = guess(a);
    const nino_shape *s = &a->shape;
    const int64_t inner = cells_of(s), one = s->dim[1] * inner;
    const int64_t fold = f && f->fold ? f->fold : 1;
    const int64_t w = s->dim[s->rank - 1] * fold, h = s->dim[s->rank - 2] * fold;
    const int64_t frames = s->dim[0] * (s->rank == 5 ? s->dim[2] : 1);
    const int64_t wanted = max_frames && max_frames < frames ? max_frames : frames;
    nino_status st = NINO_OK;
    if (w > 16384 || h > 16384 || w * h > (int64_t) NINO_IMAGE_MAX_PIXELS / wanted)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "shape", name,
                              "the latent is too large to show");
    *out = (nino_picture){ .format = "latent", .width = (int) w, .height = (int) h };
    out->is_cut = wanted < frames;
    out->rgba = malloc((size_t) (w * h * wanted) * 4);
    if (!out->rgba)
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    if (f)
        nino_latent_process_in(f, nino_array_f32(a), s->dim[0], inner);
    for (int64_t i = 0; i < s->dim[0] && out->frames < wanted && !st; i++)
        st = latent_picture_add(f, nino_array_f32(a) + i * one, s, (int) wanted, out, err);
    if (st)
        nino_picture_release(out);
    return st;
}

nino_status nino_latent_picture(const nino_array *samples, const char *name, int max_frames,
                                nino_picture *out, nino_error *err)
{
    nino_array *a = nino_array_to_channels_first(samples);
    if (!a)
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    const nino_status st = latent_picture_draw(a, name, max_frames, out, err);
    nino_array_unref(&a);
    return st;
}
