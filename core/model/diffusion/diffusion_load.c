// Which network a file holds, and how it was trained. Rules: ComfyUI model_detection.py and
// supported_models.py.
#include "core/model/detect.h"
#include "core/model/diffusion/diffusion.h"
#include "core/model/flux/flux.h"
#include "core/model/qwen_image/qwen_image.h"
#include "core/model/sd3/sd3.h"
#include "core/model/unet/unet.h"
#include "core/model/wan/wan.h"
#include "core/model/zimage/zimage.h"
#include "core/model/loader.h"

#include "core/base/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A tensor beside or below the network's, that only marks how it was trained.
static const nino_tensor_info *diffusion_load_mark(nino_weights *file, const char *prefix,
                                                   const char *name)
{
    const nino_tensor_info *t = nino_weights_find(file, name);
    return t ? t : nino_weights_find(file, nino_name_of("%s%s", prefix, name).s);
}

static nino_status diffusion_load_read_number(nino_weights *file, const nino_tensor_info *t,
                                              double *out, nino_error *err)
{
    nino_array *a = nino_weights_read_f32(file, t, err);
    if (!a)
        return err ? err->code : NINO_ERR_IO;
    if (nino_shape_count(&a->shape) == 1)
        *out = nino_array_f32(a)[0];
    nino_array_unref(&a);
    return NINO_OK;
}

// SD 2 was trained to predict eps (base, inpainting) or v (768), and nothing in the file says
// which. The last self-attention's norm differs enough: its biases spread further in the v models.
static nino_status sd2_is_v(nino_weights *file, const char *prefix, bool *is_v, nino_error *err)
{
    static const char *const names[] = {
        "output_blocks.11.1.transformer_blocks.0.norm1.bias",
        "up_blocks.3.attentions.2.transformer_blocks.0.norm1.bias",
    };
    const nino_tensor_info *t = NULL;
    for (int i = 0; i < 2 && !t; i++)
        t = nino_weights_find(file, nino_name_of("%s%s", prefix, names[i]).s);
    *is_v = false;
    if (!t)
        return NINO_OK;
    nino_array *a = nino_weights_read_f32(file, t, err);
    if (!a)
        return err ? err->code : NINO_ERR_IO;
    const int64_t n = nino_shape_count(&a->shape);
    double sum = 0, square = 0;
    for (int64_t i = 0; i < n; i++)
        sum += nino_array_f32(a)[i];
    for (int64_t i = 0; i < n; i++)
        square += pow(nino_array_f32(a)[i] - sum / (double) n, 2);
    *is_v = n > 0 && sqrt(square / (double) n) > 0.09;
    nino_array_unref(&a);
    return NINO_OK;
}

// SDXL fine-tunes carry marks. *playground: Playground 2.5, with a latent format of its own.
static nino_status sdxl_sampling(nino_weights *file, const char *prefix, nino_sampling **out,
                                 bool *playground, nino_error *err)
{
    const nino_tensor_info *top = diffusion_load_mark(file, prefix, "edm_vpred.sigma_max");
    const nino_tensor_info *low = diffusion_load_mark(file, prefix, "edm_vpred.sigma_min");
    *playground = diffusion_load_mark(file, prefix, "edm_mean") &&
                  diffusion_load_mark(file, prefix, "edm_std");
    if (*playground) {
        *out = nino_sampling_continuous(NINO_SCHEDULE_EDM, NINO_PRED_EDM, 0.002, 80, 0.5);
    } else if (top) {
        double sigma_max = 120, sigma_min = 0.002;
        nino_status st = diffusion_load_read_number(file, top, &sigma_max, err);
        if (!st && low)
            st = diffusion_load_read_number(file, low, &sigma_min, err);
        if (st)
            return st;
        *out = nino_sampling_continuous(NINO_SCHEDULE_EDM, NINO_PRED_V, sigma_min, sigma_max, 1);
    } else if (diffusion_load_mark(file, prefix, "v_pred")) {
        *out =
            nino_sampling_discrete(NINO_PRED_V, diffusion_load_mark(file, prefix, "ztsnr") != NULL);
    } else {
        *out = nino_sampling_discrete(NINO_PRED_EPS, false);
    }
    return NINO_OK;
}

static nino_status load_unet(nino_weights *file, const char *prefix, nino_diffusion *d,
                             nino_error *err)
{
    const bool is_xl = !strncmp(d->family, "sdxl", 4);
    bool is_v = false, playground = false;
    d->format = nino_latent_format_find(is_xl ? "sdxl" : "sd15");
    nino_status st = nino_unet_load(file, prefix, d, err);
    if (!st && !strcmp(d->family, "sdxl")) {
        st = sdxl_sampling(file, prefix, &d->sampling, &playground, err);
        if (playground)
            d->format = nino_latent_format_find("sdxl_playground");
    } else if (!st && !strcmp(d->family, NINO_LOTUS)) {
        if (d->in_channels != d->format->channels)
            return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", d->name,
                                  "it is a Lotus of %d channels, which takes noise beside the "
                                  "picture; those of %d are known",
                                  d->in_channels, d->format->channels);
        d->sampling = nino_sampling_discrete(NINO_PRED_IMG_TO_IMG, false);
    } else if (!st) {
        if (!strcmp(d->family, "sd2") && d->in_channels == 4)
            st = sd2_is_v(file, prefix, &is_v, err);
        if (!strcmp(d->family, "sd2") && d->y_dim)
            snprintf(d->family, sizeof(d->family), "sd2_unclip");
        if (!st)
            d->sampling = nino_sampling_discrete(is_v ? NINO_PRED_V : NINO_PRED_EPS, false);
    }
    return st;
}

static nino_status load_flux(nino_weights *file, const char *prefix, nino_diffusion *d,
                             nino_error *err)
{
    d->format = nino_latent_format_find("flux");
    nino_status st = nino_flux_load(file, prefix, d, err);
    if (st)
        return st;
    if (!d->has_guidance)
        snprintf(d->family, sizeof(d->family), "flux_schnell");
    d->sampling = d->has_guidance ? nino_sampling_flux(1.15) : nino_sampling_flow(1, 1);
    return NINO_OK;
}

static nino_status load_flux2(nino_weights *file, const char *prefix, nino_diffusion *d,
                              nino_error *err)
{
    d->format = nino_latent_format_find("flux2");
    const nino_status st = nino_flux_load(file, prefix, d, err);
    if (st)
        return st;
    if (!d->has_guidance)
        snprintf(d->family, sizeof(d->family), "flux2_klein");
    d->sampling = nino_sampling_flux(2.02);
    return NINO_OK;
}

static nino_status load_zimage(nino_weights *file, const char *prefix, nino_diffusion *d,
                               nino_error *err)
{
    d->format = nino_latent_format_find("flux"); // the autoencoder is that of FLUX.1
    const nino_status st = nino_zimage_load(file, prefix, d, err);
    if (!st)
        d->sampling = nino_sampling_flow(3, 1);
    return st;
}

static nino_status load_wan(nino_weights *file, const char *prefix, nino_diffusion *d,
                            nino_error *err)
{
    const nino_status st = nino_wan_load(file, prefix, d, err);
    if (st)
        return st;
    const bool is_22 = !strcmp(d->format->name, "wan22");
    d->has_frame_times = is_22;
    snprintf(d->family, sizeof(d->family), "%s",
             d->control_dim                         ? "wan_vace"
             : is_22                                ? "wan22_ti2v"
             : d->in_channels > d->format->channels ? "wan_i2v"
                                                    : "wan_t2v");
    d->sampling = nino_sampling_flow(8, 1000);
    return NINO_OK;
}

static nino_status load_qwen_image(nino_weights *file, const char *prefix, nino_diffusion *d,
                                   nino_error *err)
{
    const nino_status st = nino_qwen_image_load(file, prefix, d, err);
    if (!st)
        d->sampling = nino_sampling_flux(1.15);
    return st;
}

static nino_status load_sd3(nino_weights *file, const char *prefix, nino_diffusion *d,
                            nino_error *err)
{
    const nino_status st = nino_sd3_load(file, prefix, d, err);
    if (!st)
        d->sampling = nino_sampling_flow(3, 1000);
    return st;
}

static nino_status load_chroma(nino_weights *file, const char *prefix, nino_diffusion *d,
                               nino_error *err)
{
    d->format = nino_latent_format_find("flux");
    const nino_status st = nino_flux_load(file, prefix, d, err);
    if (!st)
        d->sampling = nino_sampling_flux(1.15);
    return st;
}

typedef nino_status load_fn(nino_weights *file, const char *prefix, nino_diffusion *d,
                            nino_error *err);

static load_fn *loader_of(const char *family)
{
    static const struct {
        const char *family;
        load_fn *load;
    } loaders[] = {
        { "sd15", load_unet },         { "sd2", load_unet },      { "sdxl", load_unet },
        { "sdxl_refiner", load_unet }, { "flux", load_flux },     { "flux2", load_flux2 },
        { "z_image", load_zimage },    { "wan", load_wan },       { "qwen_image", load_qwen_image },
        { "sd3", load_sd3 },           { "chroma", load_chroma }, { NINO_LOTUS, load_unet },
    };
    for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++)
        if (!strcmp(loaders[i].family, family))
            return loaders[i].load;
    return NULL;
}

static nino_status diffusion_load_refuse(const nino_detected *d, const char *name, nino_error *err)
{
    if (d->diffusion[0])
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", name,
                              "its diffusion model is of the %s family, which this version cannot "
                              "run",
                              d->diffusion);
    if (!d->is_lora && !d->text[0][0] && !d->vae[0] && !d->control[0])
        return nino_fail_kind(err, NINO_ERR_FORMAT, "model", name,
                              "there is no diffusion model in this file: no tensor name of a known "
                              "network");
    return nino_fail_kind(err, NINO_ERR_FORMAT, "model", name,
                          "there is no diffusion model in this file, it holds %s",
                          d->is_lora      ? "a LoRA"
                          : d->control[0] ? "a control network: models/controlnet is its place"
                          : d->text[0][0] ? "a text encoder"
                                          : "a VAE");
}

nino_status nino_diffusion_load(nino_weights *file, const char *name, nino_diffusion **out,
                                nino_error *err)
{
    return nino_diffusion_load_as(file, name, NINO_F32, out, err);
}

nino_status nino_diffusion_load_as(nino_weights *file, const char *name, nino_dtype type,
                                   nino_diffusion **out, nino_error *err)
{
    nino_detected found;
    *out = NULL;
    name = name ? name : nino_weights_path(file);
    nino_detect(file, &found);
    load_fn *const load = loader_of(found.diffusion);
    if (!load)
        return diffusion_load_refuse(&found, name, err);
    nino_diffusion *d = calloc(1, sizeof(*d));
    if (!d)
        return nino_fail(err, NINO_ERR_NOMEM, name, "no memory for its layers");
    d->refs = 1;
    d->is_scaled = strstr(found.quantisation, "scaled") != NULL;
    d->weight_type = d->is_scaled ? NINO_F32 : type;
    d->file = nino_weights_ref(file);
    snprintf(d->prefix, sizeof(d->prefix), "%s", found.diffusion_prefix);
    snprintf(d->family, sizeof(d->family), "%s", found.diffusion);
    snprintf(d->detail, sizeof(d->detail), "%.95s", found.detail);
    snprintf(d->name, sizeof(d->name), "%s", name);
    d->weight_bytes = nino_weights_bytes(file, found.diffusion_prefix);
    d->identity = nino_weights_identity(file);
    nino_status st = load(file, found.diffusion_prefix, d, err);
    if (!st && !d->sampling)
        st = nino_fail(err, NINO_ERR_NOMEM, name, "no memory for its noise schedule");
    if (st)
        nino_diffusion_unref(&d);
    *out = d;
    return st;
}
