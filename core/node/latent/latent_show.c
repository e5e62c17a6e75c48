// LatentPreview: a latent as the small picture that previews show, one pixel a cell (of FLUX.2's
// cells four), without a VAE.
// Not a class of ComfyUI: there the map only exists inside the sampler (latent_preview.py,
// Latent2RGBPreviewer).
#include <string.h>

#include "core/base/error.h"
#include "core/model/latent_format.h"
#include "core/node/planar.h"

typedef struct preview_params {
    int64_t format, scale;
} preview_params;

static const char *const formats[] = { "auto",  "sd15",  "sdxl",  "sd3", "flux",
                                       "wan21", "wan22", "flux2", NULL };

static const nino_latent_format *format_of(const nino_array *z, int64_t choice)
{
    const int64_t c = z->shape.dim[z->shape.rank - 1];
    const bool is_video = z->shape.rank == 5;
    const char *name = choice     ? formats[choice]
                       : c == 4   ? "sd15"
                       : c == 16  ? is_video ? "wan21" : "flux"
                       : c == 48  ? "wan22"
                       : c == 128 ? "flux2"
                                  : "";
    const nino_latent_format *f = nino_latent_format_find(name);
    return f && f->channels == c && f->rgb ? f : NULL;
}

static int64_t fold_of(const nino_latent_format *f) { return f->fold ? f->fold : 1; }

// One cell, or part `part` of fold^2 of one, in -1..1 -> 0..1; the map is of model latents.
static void latent_show_to_rgb(const nino_latent_format *f, const float *cell, int64_t part,
                               float *rgb)
{
    const int64_t parts = fold_of(f) * fold_of(f);
    double sum[3] = { 0 };
    for (int64_t c = part; c < f->channels; c += parts) {
        const double mean = f->mean ? f->mean[c] : f->shift, std = f->std ? f->std[c] : 1;
        for (int k = 0; k < 3; k++)
            sum[k] += ((double) cell[c] - mean) * f->scale / std * (double) f->rgb[c / parts][k];
    }
    for (int k = 0; k < 3; k++) {
        const double v = (sum[k] + (f->rgb_bias ? (double) f->rgb_bias[k] : 0) + 1) / 2;
        rgb[k] = (float) (v < 0 ? 0 : v > 1 ? 1 : v);
    }
}

static void latent_show_draw(const nino_latent_format *f, const nino_picture *z, int64_t scale,
                             float *out)
{
    const int64_t fold = fold_of(f), w = z->w * fold * scale;
    for (int64_t plane = 0; plane < z->n * z->t; plane++)
        for (int64_t y = 0; y < z->h * fold; y++, out += scale * w * 3) {
            for (int64_t x = 0; x < z->w * fold; x++) {
                float *cell = out + x * scale * 3;
                latent_show_to_rgb(f, nino_picture_at(z, plane, y / fold, x / fold),
                                   y % fold * fold + x % fold, cell);
                for (int64_t i = 1; i < scale; i++)
                    memcpy(cell + 3 * i, cell, 3 * sizeof(float));
            }
            for (int64_t i = 1; i < scale; i++)
                memcpy(out + i * w * 3, out, (size_t) w * 3 * sizeof(float));
        }
}

static nino_status latent_show_run(nino_run *r, nino_error *err)
{
    const preview_params *p = r->params;
    const nino_array *z = nino_in_latent(r, 0)->samples;
    const nino_latent_format *f = format_of(z, p->format);
    if (!f)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", "samples",
                              "no map to colours is known for a latent of %lld channels as %s",
                              (long long) z->shape.dim[z->shape.rank - 1], formats[p->format]);
    const nino_picture in = nino_picture_of(z);
    const int64_t pixels = p->scale * fold_of(f);
    nino_array *out = nino_node_array(
        NINO_F32, NINO_SHAPE(in.n * in.t, in.h * pixels, in.w * pixels, 3), r->def->key, err);
    if (!out)
        return NINO_ERR_NOMEM;
    if (!r->is_plan)
        latent_show_draw(f, &in, p->scale, nino_array_f32(out));
    return nino_out_image(r, 0, out, err);
}

NINO_NODE(
    latent_preview, "LatentPreview", "Latent Preview", "latent",
    "Shows a latent without a VAE, roughly: what previews while sampling show",
    NINO_INPUTS(NINO_PORT(samples, LATENT)),
    NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE, .help = "Of a video, one picture a latent frame")),
    NINO_PARAMS(preview_params,
                NINO_P_ENUM(preview_params, format, formats, 0, .label = "Model",
                            .help = "Whose latent it is; auto goes by the number of channels"),
                NINO_P_INT(preview_params, scale, 8, 1, 16, 1, .label = "Pixels a cell",
                           .help = "Width and height of a latent cell in the picture")),
    NINO_RUN(latent_show_run));
