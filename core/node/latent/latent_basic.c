// Latents: load, save, empty ones, scaling. Behaviour of ComfyUI's nodes.py, nodes_sd3.py and
// nodes_flux.py.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/file/latent_file.h"
#include "core/node/util.h"
#include <ninodes/run_profile.h>

// ---- LoadLatent ------------------------------------------------------------------------------

typedef struct load_params {
    const char *latent;
} load_params;

static nino_weights *open_latent(nino_ctx *ctx, const char *name, nino_error *err)
{
    int fd = -1;
    if (nino_services_of(ctx)->open_input(ctx, name, &fd, err))
        return NULL;
    return nino_weights_open_fd(fd, name, err);
}

static nino_status latent_basic_load_run(nino_run *r, nino_error *err)
{
    const load_params *p = r->params;
    nino_weights *w = open_latent(r->ctx, p->latent, err);
    if (!w)
        return err ? err->code : NINO_ERR_IO;
    nino_value *v = nino_node_out(r, 0, NINO_PORT_LATENT, err);
    nino_status st = v ? nino_latent_load(w, &v->u.latent.samples, err) : NINO_ERR_NOMEM;
    nino_weights_unref(&w);
    return st;
}

static nino_status latent_basic_load_identity(nino_ctx *ctx, const void *params,
                                              struct nino_hasher *h, nino_error *err)
{
    return nino_services_of(ctx)->identity(ctx, "input", ((const load_params *) params)->latent, h,
                                           err);
}

NINO_NODE(load_latent, "LoadLatent", "Load Latent", "_for_testing",
          "Reads a .latent file that SaveLatent wrote", NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(load_params, NINO_P_FILE(load_params, latent, "input", .label = "Latent",
                                               .help = "A .latent file in the input folder")),
          NINO_RUN(latent_basic_load_run, .identity = latent_basic_load_identity));

// ---- SaveLatent ------------------------------------------------------------------------------

typedef struct save_params {
    const char *filename_prefix;
} save_params;

static nino_status latent_basic_save_run(nino_run *r, nino_error *err)
{
    const save_params *p = r->params;
    const nino_latent *l = &r->in[0]->u.latent;
    const char *dir = nino_node_folder(r, false);
    nino_node_hand_on(r);
    if (!dir)
        return NINO_OK;
    const time_t now = time(NULL);
    struct tm tm;
    localtime_r(&now, &tm);
    const nino_prefix_vars vars = {
        .width = 0, .height = 0, .now = &tm, .prompt_json = r->prompt_json
    };
    nino_meta meta[NINO_RUN_TEXTS];
    int n_meta = nino_run_texts(r, meta);
    if (n_meta && !strcmp(meta[n_meta - 1].key, NINO_RUN_PROFILE_KEY))
        n_meta--; // the same latent is the same file
    char *name = NULL;
    nino_buf file = { 0 }, path = { 0 };
    nino_status st = nino_prefix_expand(p->filename_prefix, &vars, &name, err);
    if (st || (st = nino_file_mkdirs(dir, false, err)))
        goto end;
    nino_buf_addf(&file, "%s_%05lld_.latent", name, (long long) nino_prefix_counter(dir, name));
    nino_buf_addf(&path, "%s/%s", dir, file.data ? file.data : "");
    if (file.failed || path.failed) {
        st = nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
        goto end;
    }
    if ((st = nino_latent_save(dir, file.data, l->samples, meta, n_meta, err)) == NINO_OK)
        nino_run_output(r, path.data);
end:
    free(name);
    nino_buf_release(&file);
    nino_buf_release(&path);
    return st;
}

static nino_status latent_basic_save_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    return nino_prefix_check(ctx ? nino_services_of(ctx)->output_dir(ctx) : NULL,
                             ((const save_params *) params)->filename_prefix, err);
}

NINO_NODE(
    save_latent, "SaveLatent", "Save Latent", "_for_testing",
    "Writes a .latent file with the workflow in its metadata",
    NINO_INPUTS(NINO_PORT(samples, LATENT)), NINO_OUTPUTS(NINO_PORT(samples, LATENT)),
    NINO_PARAMS(save_params,
                NINO_P_STRING(save_params, filename_prefix, "latents/ComfyUI", .label = "File name",
                              .help = "Start of the name, with sub-folders of the output folder")),
    .is_output = true, NINO_RUN(latent_basic_save_run, .check = latent_basic_save_check));

// ---- empty latents ---------------------------------------------------------------------------

typedef struct empty_params {
    int64_t width, height, batch_size, frame_count; // frame_count: 0 where there is none
} empty_params;

static nino_status empty(nino_run *r, int64_t channels, int factor, nino_error *err)
{
    const empty_params *p = r->params;
    nino_value *v = nino_node_out(r, 0, NINO_PORT_LATENT, err);
    if (!v)
        return NINO_ERR_NOMEM;
    const int64_t n = p->batch_size * (p->frame_count ? p->frame_count : 1);
    v->u.latent.samples = nino_node_array(
        NINO_F32, NINO_SHAPE(n, p->height / factor, p->width / factor, channels), r->def->key, err);
    v->u.latent.factor = factor;
    return v->u.latent.samples ? NINO_OK : NINO_ERR_NOMEM;
}

static nino_status empty4_run(nino_run *r, nino_error *err) { return empty(r, 4, 8, err); }
static nino_status empty16_run(nino_run *r, nino_error *err) { return empty(r, 16, 8, err); }
static nino_status empty128_run(nino_run *r, nino_error *err) { return empty(r, 128, 16, err); }

#define BATCH_SIZE                                                                                 \
    NINO_P_INT(empty_params, batch_size, 1, 1, 4096, 1, .label = "Batch",                          \
               .help = "How many images are made at once", .ui_min.i = 1, .ui_max.i = 16)

#define WIDTH                                                                                      \
    NINO_P_INT(empty_params, width, 512, 16, 16384, 8, .label = "Width", .unit = "px",             \
               .help = "Width of the image", .ui_min.i = 64, .ui_max.i = 2048)
#define HEIGHT                                                                                     \
    NINO_P_INT(empty_params, height, 512, 16, 16384, 8, .label = "Height", .unit = "px",           \
               .help = "Height of the image", .ui_min.i = 64, .ui_max.i = 2048)
NINO_NODE(empty_latent, "EmptyLatentImage", "Empty Latent Image", "latent",
          "A latent of zeros with 4 channels for SD 1.5 and SDXL",
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(empty_params, WIDTH, HEIGHT, BATCH_SIZE), NINO_RUN(empty4_run));

// Named by a workflow that came with the original extension; ComfyUI never had it. Its frames are
// independent images.
NINO_NODE(empty_video_latent, "EmptyLatentVideo", "Empty Latent Video", "latent/video",
          "A latent of zeros with 4 channels for every frame; frames are images on their own",
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(empty_params, WIDTH, HEIGHT, BATCH_SIZE,
                      NINO_P_INT(empty_params, frame_count, 16, 1, 4096, 1, .label = "Frames",
                                 .help = "How many images each of the batch has", .ui_max.i = 64)),
          NINO_RUN(empty4_run));
#define WIDTH_16                                                                                   \
    NINO_P_INT(empty_params, width, 1024, 16, 16384, 16, .label = "Width", .unit = "px",           \
               .help = "Width of the image", .ui_min.i = 64, .ui_max.i = 2048)
#define HEIGHT_16                                                                                  \
    NINO_P_INT(empty_params, height, 1024, 16, 16384, 16, .label = "Height", .unit = "px",         \
               .help = "Height of the image", .ui_min.i = 64, .ui_max.i = 2048)
NINO_NODE(empty_sd3_latent, "EmptySD3LatentImage", "EmptySD3LatentImage", "latent/sd3",
          "A latent of zeros with 16 channels for SD3, FLUX.1 and Z-Image",
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(empty_params, WIDTH_16, HEIGHT_16, BATCH_SIZE), NINO_RUN(empty16_run));
NINO_NODE(empty_flux2_latent, "EmptyFlux2LatentImage", "Empty Flux 2 Latent", "latent",
          "A latent of zeros with 128 channels for FLUX.2", NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(empty_params, WIDTH_16, HEIGHT_16, BATCH_SIZE), NINO_RUN(empty128_run));

typedef struct layered_params {
    int64_t width, height, layers, batch_size;
} layered_params;

static nino_status layered_run(nino_run *r, nino_error *err)
{
    const layered_params *p = r->params;
    const nino_shape shape =
        NINO_SHAPE(p->batch_size, p->layers + 1, p->height / 8, p->width / 8, 16);
    nino_value *v = nino_node_out(r, 0, NINO_PORT_LATENT, err);
    if (!v)
        return NINO_ERR_NOMEM;
    v->u.latent.samples = nino_node_array(NINO_F32, shape, r->def->key, err);
    return v->u.latent.samples ? NINO_OK : NINO_ERR_NOMEM;
}

NINO_NODE(
    empty_qwen_layered, "EmptyQwenImageLayeredLatentImage", "Empty Qwen Image Layered Latent",
    "latent/qwen", "A latent of zeros for Qwen-Image-Layered: a picture and its layers as frames",
    NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
    NINO_PARAMS(
        layered_params,
        NINO_P_INT(layered_params, width, 640, 16, 16384, 16, .label = "Width", .unit = "px",
                   .help = "Width of the image", .ui_min.i = 64, .ui_max.i = 2048),
        NINO_P_INT(layered_params, height, 640, 16, 16384, 16, .label = "Height", .unit = "px",
                   .help = "Height of the image", .ui_min.i = 64, .ui_max.i = 2048),
        NINO_P_INT(layered_params, layers, 3, 0, 16384, 1, .label = "Layers",
                   .help = "How many layers each image has beside the whole", .ui_max.i = 16),
        NINO_P_INT(layered_params, batch_size, 1, 1, 4096, 1, .label = "Batch",
                   .help = "How many images are made at once", .ui_min.i = 1, .ui_max.i = 16)),
    NINO_RUN(layered_run));

// ---- scaling ---------------------------------------------------------------------------------

static const char *const methods[] = { "nearest-exact", "bilinear", "area",
                                       "bicubic",       "bislerp",  NULL };

// The input with other samples; a noise mask keeps its own size, as samplers scale it.
static nino_status latent_basic_scaled(nino_run *r, int64_t width, int64_t height, int64_t method,
                                       bool center, nino_error *err)
{
    const nino_latent *in = &r->in[0]->u.latent;
    nino_value *v = nino_node_out(r, 0, NINO_PORT_LATENT, err);
    if (!v)
        return NINO_ERR_NOMEM;
    v->u.latent.noise_mask = nino_array_ref(in->noise_mask);
    if (in->batch_index) {
        const size_t bytes = (size_t) in->samples->shape.dim[0] * sizeof(int64_t);
        if (!(v->u.latent.batch_index = malloc(bytes)))
            return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
        memcpy(v->u.latent.batch_index, in->batch_index, bytes);
    }
    return nino_rescale(r, in->samples, width, height, (nino_scale_method) method, center,
                        &v->u.latent.samples, err);
}

static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

typedef struct upscale_params {
    int64_t upscale_method, width, height, crop;
} upscale_params;

static nino_status upscale_run(nino_run *r, nino_error *err)
{
    const upscale_params *p = r->params;
    const nino_shape *s = &r->in[0]->u.latent.samples->shape;
    const double h = (double) s->dim[s->rank - 3], w = (double) s->dim[s->rank - 2];
    int64_t width = max64(64, p->width), height = max64(64, p->height);
    if (!p->width && !p->height) { // both 0: leave it alone
        r->out[0] = nino_value_ref(r->in[0]);
        return NINO_OK;
    }
    if (!p->width)
        width = max64(64, (int64_t) rint(w * (double) height / h));
    else if (!p->height)
        height = max64(64, (int64_t) rint(h * (double) width / w));
    return latent_basic_scaled(r, width / 8, height / 8, p->upscale_method, p->crop == 1, err);
}

NINO_NODE(latent_upscale, "LatentUpscale", "Upscale Latent", "latent",
          "Scales a latent to a size in pixels", NINO_INPUTS(NINO_PORT(samples, LATENT)),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(
              upscale_params,
              NINO_P_ENUM(upscale_params, upscale_method, methods, 0, .label = "Method",
                          .help = "How values between cells are found"),
              NINO_P_INT(upscale_params, width, 512, 0, 16384, 8, .label = "Width", .unit = "px",
                         .help = "New width; 0 keeps the aspect ratio", .ui_max.i = 4096),
              NINO_P_INT(upscale_params, height, 512, 0, 16384, 8, .label = "Height", .unit = "px",
                         .help = "New height; 0 keeps the aspect ratio", .ui_max.i = 4096),
              NINO_P_ENUM(upscale_params, crop, NINO_WORDS("disabled", "center"), 0,
                          .label = "Crop",
                          .help = "center: cut to the new aspect ratio instead of stretching")),
          NINO_RUN(upscale_run, .items = NINO_ITEMS_APART));

typedef struct by_params {
    int64_t upscale_method;
    double scale_by;
} by_params;

static nino_status upscale_by_run(nino_run *r, nino_error *err)
{
    const by_params *p = r->params;
    const nino_shape *s = &r->in[0]->u.latent.samples->shape;
    return latent_basic_scaled(r, (int64_t) rint((double) s->dim[s->rank - 2] * p->scale_by),
                               (int64_t) rint((double) s->dim[s->rank - 3] * p->scale_by),
                               p->upscale_method, false, err);
}

NINO_NODE(latent_upscale_by, "LatentUpscaleBy", "Upscale Latent By", "latent",
          "Scales a latent by a factor", NINO_INPUTS(NINO_PORT(samples, LATENT)),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(by_params,
                      NINO_P_ENUM(by_params, upscale_method, methods, 0, .label = "Method",
                                  .help = "How values between cells are found"),
                      NINO_P_FLOAT(by_params, scale_by, 1.5, 0.01, 8.0, 0.01, .label = "Factor",
                                   .help = "New size as a multiple of the old one",
                                   .ui_min.f = 0.25, .ui_max.f = 4.0)),
          NINO_RUN(upscale_by_run, .items = NINO_ITEMS_APART));
