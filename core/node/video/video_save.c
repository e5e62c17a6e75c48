// Clips as files: SaveVideo, SaveWEBM, SaveAnimatedWEBP, SaveAnimatedPNG. Behaviour of ComfyUI's
// nodes_video.py and nodes_images.py. Frames are converted and encoded one by one.
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/media/png.h"
#include "core/media/video.h"
#include "core/node/util.h"

// ---- writing ---------------------------------------------------------------------------------

// Frame i as 8 bits, alpha left out.
static void video_save_to_rgb8(const nino_array *images, int64_t i, uint8_t *out)
{
    const int64_t n = images->shape.dim[1] * images->shape.dim[2], c = images->shape.dim[3];
    const float *src = nino_array_f32(images) + i * n * c;
    if (c == 3) {
        nino_to_u8_truncated(out, src, (size_t) (n * 3));
        return;
    }
    for (int64_t k = 0; k < n; k++, src += c, out += 3)
        nino_to_u8_truncated(out, src, 3);
}

static nino_status write_frames(nino_run *r, const nino_array *images, nino_file_writer *file,
                                nino_video_params p, nino_error *err)
{
    const int64_t n = images->shape.dim[0];
    nino_meta texts[NINO_RUN_TEXTS];
    nino_video *v = NULL;
    uint8_t *rgb = malloc((size_t) p.width * (size_t) p.height * 3);
    p.texts = texts;
    p.n_texts = nino_run_texts(r, texts);
    nino_status st = rgb ? nino_video_create(file, &p, &v, err)
                         : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (int64_t i = 0; i < n && !st; i++) {
        if ((st = nino_node_cancelled(r, err)))
            break;
        video_save_to_rgb8(images, i, rgb);
        st = nino_video_add(v, rgb, err);
        nino_run_step(r, (uint32_t) (i + 1), (uint32_t) n);
    }
    if (!st)
        st = nino_video_finish(&v, err);
    nino_video_abort(&v);
    free(rgb);
    return st;
}

// One file of all images. p: format and its settings.
static nino_status video_save_save(nino_run *r, const nino_array *images, const char *prefix,
                                   nino_video_params p, nino_error *err)
{
    const char *dir = nino_node_folder(r, false), *ext = nino_video_extension(p.format);
    const time_t now = time(NULL);
    struct tm tm;
    char *name = NULL, *path = NULL;
    nino_file_writer *file = NULL;
    if (!dir)
        return NINO_OK;
    p.height = (int) images->shape.dim[1];
    p.width = (int) images->shape.dim[2];
    localtime_r(&now, &tm);
    const nino_prefix_vars vars = { p.width, p.height, &tm, r->prompt_json };
    nino_status st = nino_file_mkdirs(dir, false, err);
    if (st || (st = nino_prefix_expand(prefix, &vars, &name, err)))
        return st;
    int64_t counter = nino_prefix_counter(dir, name);
    if (!(st = nino_prefix_open(dir, name, ext, counter, &file, err)) &&
        !(st = write_frames(r, images, file, p, err)) &&
        !(st = nino_prefix_commit(&file, dir, name, ext, &counter, &path, err)))
        nino_run_output(r, path);
    nino_file_writer_abort(&file);
    free(path);
    free(name);
    return st;
}

static nino_status check_prefix(const nino_ctx *ctx, const char *prefix, nino_error *err)
{
    return nino_prefix_check(ctx ? nino_services_of(ctx)->output_dir(ctx) : NULL, prefix, err);
}

#define PREFIX_HELP "Start of the name, with sub-folders of the output folder and tokens"

// ---- SaveWEBM --------------------------------------------------------------------------------

typedef struct webm_params {
    const char *filename_prefix;
    int64_t codec;
    double fps, crf;
} webm_params;

static const char *const webm_codecs[] = { "vp9", "av1", NULL };

static nino_status webm_run(nino_run *r, nino_error *err)
{
    const webm_params *p = r->params;
    const nino_video_params how = {
        .format = NINO_VIDEO_WEBM, .codec = webm_codecs[p->codec], .fps = p->fps, .crf = p->crf
    };
    nino_node_hand_on(r);
    return video_save_save(r, nino_in_image(r, 0), p->filename_prefix, how, err);
}

static nino_status webm_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    return check_prefix(ctx, ((const webm_params *) params)->filename_prefix, err);
}

NINO_NODE(save_webm, "SaveWEBM", "SaveWEBM", "image/video",
          "Writes the images as a WebM video that carries the workflow",
          NINO_INPUTS(NINO_PORT(images, IMAGE)), NINO_OUTPUTS(NINO_PORT(images, IMAGE)),
          NINO_PARAMS(webm_params,
                      NINO_P_STRING(webm_params, filename_prefix, "ComfyUI", .label = "File name",
                                    .help = PREFIX_HELP),
                      NINO_P_ENUM(webm_params, codec, webm_codecs, 0, .label = "Codec",
                                  .help = "AV1 is slower and "
                                          "smaller"),
                      NINO_P_FLOAT(webm_params, fps, 24, 0.01, 1000, 0.01,
                                   .label = "Frames a second",
                                   .help = "How fast the pictures follow each other"),
                      NINO_P_FLOAT(webm_params, crf, 32, 0, 63, 1, .label = "CRF",
                                   .help = "Higher: smaller file, lower quality")),
          .is_output = true, NINO_RUN(webm_run, .check = webm_check));

// ---- SaveAnimatedWEBP ------------------------------------------------------------------------

typedef struct webp_params {
    const char *filename_prefix;
    double fps;
    bool lossless;
    int64_t quality, method;
} webp_params;

static nino_status webp_run(nino_run *r, nino_error *err)
{
    static const int methods[] = { 4, 0, 6 };
    const webp_params *p = r->params;
    const nino_video_params how = { .format = NINO_VIDEO_WEBP,
                                    .fps = p->fps,
                                    .is_lossless = p->lossless,
                                    .quality = (int) p->quality,
                                    .method = methods[p->method] };
    nino_node_hand_on(r);
    return video_save_save(r, nino_in_image(r, 0), p->filename_prefix, how, err);
}

static nino_status webp_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    return check_prefix(ctx, ((const webp_params *) params)->filename_prefix, err);
}

NINO_NODE(save_animated_webp, "SaveAnimatedWEBP", "SaveAnimatedWEBP", "image/animation",
          "Writes the images as an animated WebP that carries the workflow",
          NINO_INPUTS(NINO_PORT(images, IMAGE)), NINO_OUTPUTS(NINO_PORT(images, IMAGE)),
          NINO_PARAMS(webp_params,
                      NINO_P_STRING(webp_params, filename_prefix, "ComfyUI", .label = "File name",
                                    .help = PREFIX_HELP),
                      NINO_P_FLOAT(webp_params, fps, 6, 0.01, 1000, 0.01,
                                   .label = "Frames a second",
                                   .help = "How fast the pictures follow each other"),
                      NINO_P_BOOL(webp_params, lossless, true, .label = "Lossless",
                                  .help = "Every pixel stays as it is; the file is larger"),
                      NINO_P_INT(webp_params, quality, 80, 0, 100, 1, .label = "Quality",
                                 .help = "Lossless: how hard to try"),
                      NINO_P_ENUM(webp_params, method, NINO_WORDS("default", "fastest", "slowest"),
                                  0, .label = "Method",
                                  .help = "How long the encoder tries to make the file small")),
          .is_output = true, NINO_RUN(webp_run, .check = webp_check));

// ---- SaveAnimatedPNG -------------------------------------------------------------------------

typedef struct apng_params {
    const char *filename_prefix;
    double fps;
    int64_t compress_level;
} apng_params;

static nino_status apng_run(nino_run *r, nino_error *err)
{
    const apng_params *p = r->params;
    const nino_video_params how = { .format = NINO_VIDEO_APNG,
                                    .fps = p->fps,
                                    .level = (int) p->compress_level };
    nino_node_hand_on(r);
    return video_save_save(r, nino_in_image(r, 0), p->filename_prefix, how, err);
}

static nino_status apng_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    return check_prefix(ctx, ((const apng_params *) params)->filename_prefix, err);
}

NINO_NODE(save_animated_png, "SaveAnimatedPNG", "SaveAnimatedPNG", "image/animation",
          "Writes the images as an animated PNG that carries the workflow",
          NINO_INPUTS(NINO_PORT(images, IMAGE)), NINO_OUTPUTS(NINO_PORT(images, IMAGE)),
          NINO_PARAMS(apng_params,
                      NINO_P_STRING(apng_params, filename_prefix, "ComfyUI", .label = "File name",
                                    .help = PREFIX_HELP),
                      NINO_P_FLOAT(apng_params, fps, 6, 0.01, 1000, 0.01,
                                   .label = "Frames a second",
                                   .help = "How fast the pictures follow each other"),
                      NINO_P_INT(apng_params, compress_level, 4, 0, 9, 1, .label = "Compression",
                                 .help = "0: none, 9: smallest file; the pixels are the same")),
          .is_output = true, NINO_RUN(apng_run, .check = apng_check));

// ---- SaveVideo -------------------------------------------------------------------------------

typedef struct video_params {
    const char *filename_prefix;
    int64_t format, codec;
} video_params;

static const char *const video_codecs[] = { "auto", "h264", NULL };

static nino_status video_run(nino_run *r, nino_error *err)
{
    const video_params *p = r->params;
    const nino_video_value *v = &r->in[0]->u.video;
    const int64_t n = v->frames->shape.dim[0];
    nino_sound sound = { 0 };
    nino_status st = NINO_OK;
    const nino_video_params how = { .format = NINO_VIDEO_MP4,
                                    .codec = p->codec ? video_codecs[p->codec] : NULL,
                                    .fps = v->fps,
                                    .sound = v->sound.wave ? &sound : NULL };
    nino_node_hand_on(r);
    if (v->sound.wave) // no longer than the pictures
        st = nino_sound_cut(&v->sound, 0, (int64_t) ceil(v->sound.rate / v->fps * (double) n),
                            &sound, err);
    if (!st)
        st = video_save_save(r, v->frames, p->filename_prefix, how, err);
    nino_sound_release(&sound);
    return st;
}

static nino_status video_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    return check_prefix(ctx, ((const video_params *) params)->filename_prefix, err);
}

NINO_NODE(
    save_video, "SaveVideo", "Save Video", "image/video",
    "Writes an MP4 file that carries the workflow", NINO_INPUTS(NINO_PORT(video, VIDEO)),
    NINO_OUTPUTS(NINO_PORT(video, VIDEO)),
    NINO_PARAMS(video_params,
                NINO_P_STRING(video_params, filename_prefix, "video/ComfyUI", .label = "File name",
                              .help = PREFIX_HELP),
                NINO_P_ENUM(video_params, format, NINO_WORDS("auto", "mp4"), 0, .label = "Format",
                            .help = "auto: MP4"),
                NINO_P_ENUM(video_params, codec, video_codecs, 0, .label = "Codec",
                            .help = "auto: H.264, or MPEG-4 where no H.264 encoder is installed")),
    .is_output = true, NINO_RUN(video_run, .check = video_check));
