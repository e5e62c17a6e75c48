// Clips as files, under the rules of VideoHelperSuite: writing, and what belongs to files.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/media/png.h"
#include "core/media/video.h"
#include "core/node/ext/ext.h"

// ---- VHS_VideoCombine ------------------------------------------------------------------------

typedef struct combine_params {
    double frame_rate;
    int64_t loop_count;
    const char *filename_prefix;
    int64_t format;
    bool pingpong, save_output;
} combine_params;

static const char *const combine_formats[] = { "image/gif",
                                               "image/webp",
                                               "video/ProRes",
                                               "video/webm",
                                               "video/ffv1-mkv",
                                               "video/nvenc_av1-mp4",
                                               "video/h265-mp4",
                                               "video/8bit-png",
                                               "video/h264-mp4",
                                               "video/nvenc_hevc-mp4",
                                               "video/nvenc_h264-mp4",
                                               "video/ffmpeg-gif",
                                               "video/av1-webm",
                                               "video/16bit-png",
                                               NULL };

// How a format is written; false: not here. The quality is the format's default.
static bool writer_of(const char *format, nino_video_params *p)
{
    static const struct {
        const char *name, *codec;
        nino_video_format format;
        int crf;
    } table[] = { { "image/webp", NULL, NINO_VIDEO_WEBP, 0 },
                  { "video/webm", "vp9", NINO_VIDEO_WEBM, 20 },
                  { "video/h264-mp4", "h264", NINO_VIDEO_MP4, 19 },
                  { "video/nvenc_h264-mp4", "h264", NINO_VIDEO_MP4, 19 },
                  { "video/av1-webm", "av1", NINO_VIDEO_WEBM, 23 } };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (!strcmp(table[i].name, format)) {
            p->format = table[i].format;
            p->codec = table[i].codec;
            p->crf = table[i].crf;
            p->is_lossless = true;
            p->quality = 80;
            p->method = 4;
            return true;
        }
    return false;
}

static nino_status no_writer(int64_t format, nino_error *err)
{
    return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value", "format",
                          "%s is not written here; image/webp, video/h264-mp4, video/webm and "
                          "video/av1-webm are",
                          combine_formats[format]);
}

// Frame k as bytes, rounded.
static void frame_bytes(const nino_array *a, int64_t k, int channels, uint8_t *out)
{
    const int64_t n = a->shape.dim[1] * a->shape.dim[2], c = a->shape.dim[3];
    const float *v = nino_array_f32(a) + k * n * c;
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < channels; j++) {
            const float x = v[i * c + j] * 255.0f + 0.5f;
            out[i * channels + j] = (uint8_t) fminf(fmaxf(x, 0), 255);
        }
}

// Which frame is shown at place i of one pass.
static int64_t frame_at(int64_t i, int64_t n) { return i < n ? i : 2 * (n - 1) - i; }

static int64_t frames_of_pass(const combine_params *p, int64_t n)
{
    return p->pingpong && n > 2 ? 2 * n - 2 : n;
}

static nino_status write_clip(nino_run *r, const nino_array *a, nino_file_writer *file,
                              const nino_video_params *how, nino_error *err)
{
    const combine_params *p = r->params;
    const int64_t n = a->shape.dim[0], pass = frames_of_pass(p, n);
    const int64_t total = pass * (1 + p->loop_count);
    uint8_t *rgb = malloc((size_t) (a->shape.dim[1] * a->shape.dim[2] * 3));
    nino_video *v = NULL;
    nino_status st = rgb ? nino_video_create(file, how, &v, err)
                         : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (int64_t i = 0; i < total && !st; i++) {
        if ((st = nino_node_cancelled(r, err)))
            break;
        frame_bytes(a, frame_at(i % pass, n), 3, rgb);
        st = nino_video_add(v, rgb, err);
        nino_run_step(r, (uint32_t) (i + 1), (uint32_t) total);
    }
    if (!st)
        st = nino_video_finish(&v, err);
    nino_video_abort(&v);
    free(rgb);
    return st;
}

// The first frame beside the clip, with what made it.
static nino_status write_first(nino_run *r, const nino_array *a, const char *dir, const char *name,
                               int64_t counter, char **path, nino_error *err)
{
    const time_t now = time(NULL);
    struct tm tm;
    char when[32];
    nino_meta texts[NINO_RUN_TEXTS + 1];
    int n = nino_run_texts(r, texts);
    nino_buf png = { 0 };
    const int w = (int) a->shape.dim[2], h = (int) a->shape.dim[1];
    uint8_t *rgb = malloc((size_t) w * (size_t) h * 3);
    localtime_r(&now, &tm);
    strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
    if (n)
        texts[n++] = (nino_meta){ "CreationTime", when, strlen(when) };
    nino_status st = rgb ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    if (!st) {
        frame_bytes(a, 0, 3, rgb);
        st = nino_png_encode(&png, rgb, w, h, 3, 8, texts, n, err);
    }
    if (!st)
        st = nino_prefix_save(dir, name, ":.png", &counter, png.data, png.len, path, err);
    nino_buf_release(&png);
    free(rgb);
    return st;
}

// Settings of the format that the workflow has beside the class's inputs.
static void read_extra(const nino_run *r, nino_video_params *how, bool *with_texts)
{
    double crf = how->crf;
    nino_json_double(nino_json_get(r->extra, "crf"), &crf);
    how->crf = crf;
    nino_json_bool(nino_json_get(r->extra, "lossless"), &how->is_lossless);
    nino_json_bool(nino_json_get(r->extra, "save_metadata"), with_texts);
}

// NULL: none, or one that the file does not hold.
static const nino_sound *sound_of(const nino_run *r)
{
    const combine_params *p = r->params;
    const bool is_picture = !strncmp(combine_formats[p->format], "image/", 6);
    return r->in[1] && r->in[1]->u.audio.wave && !is_picture ? &r->in[1]->u.audio : NULL;
}

static nino_status give_names(nino_run *r, bool is_kept, char *const *path, int n, nino_error *err)
{
    nino_value *v = nino_ext_out_bundle(r, 0, NINO_PORT_FILENAMES, 1 + n, err);
    bool ok = v && (v->item[0] = nino_value_create(NINO_PORT_BOOLEAN));
    if (ok)
        v->item[0]->u.b = is_kept;
    for (int i = 0; ok && i < n; i++) {
        nino_value *s = v->item[1 + i] = nino_value_create(NINO_PORT_STRING);
        ok = s && (s->u.string = strdup(path[i]));
    }
    return ok ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
}

static nino_status write_file(nino_run *r, const nino_array *a, const nino_video_params *how,
                              const char *dir, const char *name, const char *ext, int64_t *counter,
                              char **path, nino_error *err)
{
    nino_file_writer *file = NULL;
    nino_status st = nino_prefix_open(dir, name, ext, *counter, &file, err);
    if (!st && !(st = write_clip(r, a, file, how, err)) &&
        !(st = nino_prefix_commit(&file, dir, name, ext, counter, path, err)))
        nino_run_output(r, *path);
    nino_file_writer_abort(&file);
    return st;
}

// The first frame, the clip, and with a sound the clip again with it, as there.
static nino_status write_files(nino_run *r, const nino_array *a, nino_video_params *how,
                               const char *dir, const char *name, nino_error *err)
{
    const combine_params *p = r->params;
    char ext[24], *path[3] = { NULL, NULL, NULL };
    nino_sound sound = { 0 };
    int n = 2;
    int64_t counter = nino_prefix_counter_plain(dir, name);
    snprintf(ext, sizeof(ext), ":%s", nino_video_extension(how->format));
    nino_status st = write_first(r, a, dir, name, counter, &path[0], err);
    if (!st)
        st = write_file(r, a, how, dir, name, ext, &counter, &path[1], err);
    if (!st && sound_of(r)) {
        const nino_sound *s = sound_of(r);
        const double seconds =
            (double) (frames_of_pass(p, a->shape.dim[0]) * (1 + p->loop_count)) / p->frame_rate;
        snprintf(ext, sizeof(ext), ":-audio%s", nino_video_extension(how->format));
        nino_video_params with = *how;
        with.sound = &sound;
        if (!(st = nino_sound_cut(s, 0, llround(seconds * s->rate), &sound, err)))
            st = write_file(r, a, &with, dir, name, ext, &counter, &path[2], err);
        nino_sound_release(&sound);
        n = 3;
    }
    if (!st)
        st = give_names(r, p->save_output, path, n, err);
    for (int i = 0; i < 3; i++)
        free(path[i]);
    return st;
}

static nino_status combine_run(nino_run *r, nino_error *err)
{
    const combine_params *p = r->params;
    const nino_array *a = NINO_IN(r, 0, image);
    const char *dir = nino_node_folder(r, !p->save_output);
    const time_t now = time(NULL);
    struct tm tm;
    char *name = NULL;
    nino_meta texts[NINO_RUN_TEXTS];
    bool with_texts = true;
    nino_video_params how = { 0 };
    if (!writer_of(combine_formats[p->format], &how))
        return no_writer(p->format, err);
    if (sound_of(r) && how.format != NINO_VIDEO_MP4)
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value", "audio",
                              "%s is written without sound here; video/h264-mp4 has it",
                              combine_formats[p->format]);
    if (!dir || !a || !a->shape.dim[0])
        return give_names(r, p->save_output, NULL, 0, err);
    read_extra(r, &how, &with_texts);
    localtime_r(&now, &tm);
    how.height = (int) a->shape.dim[1];
    how.width = (int) a->shape.dim[2];
    how.fps = p->frame_rate;
    how.texts = texts;
    how.n_texts = with_texts ? nino_run_texts(r, texts) : 0;
    const nino_prefix_vars vars = { how.width, how.height, &tm, r->prompt_json };
    nino_status st = nino_file_mkdirs(dir, !p->save_output, err);
    if (!st)
        st = nino_prefix_expand(p->filename_prefix, &vars, &name, err);
    if (!st)
        st = write_files(r, a, &how, dir, name, err);
    free(name);
    return st;
}

static nino_status combine_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    const combine_params *p = params;
    nino_video_params how = { 0 };
    if (!writer_of(combine_formats[p->format], &how))
        return no_writer(p->format, err);
    return nino_prefix_check(ctx && p->save_output ? nino_services_of(ctx)->output_dir(ctx) : NULL,
                             p->filename_prefix, err);
}

NINO_NODE(
    vhs_combine, "VHS_VideoCombine", "Video Combine", "Video Helper Suite",
    "Writes images as a clip, and the first of them as a PNG file that carries the workflow; crf, "
    "lossless and save_metadata of the formats are followed where the workflow has them",
    NINO_INPUTS(NINO_PORT(images, IMAGE),
                NINO_PORT(audio, AUDIO, .optional = true,
                          .help = "Makes a second file, with this sound, of video/h264-mp4"),
                NINO_PORT(meta_batch, OTHER, .optional = true, .help = "Not needed"),
                NINO_PORT(vae, VAE, .optional = true, .help = "Not needed for images")),
    NINO_OUTPUTS(NINO_PORT(Filenames, FILENAMES)),
    NINO_PARAMS(combine_params,
                NINO_P_FLOAT(combine_params, frame_rate, 8, 1, 1000, 1, .label = "Frames a second",
                             .help = "How fast the pictures follow each other"),
                NINO_P_INT(combine_params, loop_count, 0, 0, 100, 1, .label = "Loops",
                           .help = "How often it is shown again"),
                NINO_P_STRING(combine_params, filename_prefix, "AnimateDiff", .label = "File name",
                              .help = "Start of the name, with sub-folders of the output folder "
                                      "and tokens"),
                NINO_P_ENUM(combine_params, format, combine_formats, 0, .label = "Format",
                            .help = "Kind of file; image/webp, video/h264-mp4, video/webm and "
                                    "video/av1-webm are written here"),
                NINO_P_BOOL(combine_params, pingpong, false, .label = "Back and forth",
                            .help = "Plays it backwards behind the end"),
                NINO_P_BOOL(combine_params, save_output, true, .label = "Keep",
                            .help = "Off writes to the temporary folder")),
    .is_output = true, NINO_RUN(combine_run, .check = combine_check, .takes_extra = true));

// ---- names of files --------------------------------------------------------------------------

typedef struct select_name_params {
    int64_t index;
} select_name_params;

static nino_status select_name_run(nino_run *r, nino_error *err)
{
    const nino_value *v = r->in[0];
    const int64_t n = v->n_items - 1, index = ((const select_name_params *) r->params)->index;
    const int64_t at = index < 0 ? n + index : index;
    if (at < 0 || at >= n)
        return !nino_node_folder(r, false) ? nino_ext_out_copy(r, 0, "", err)
                                           : nino_fail_kind(err, NINO_ERR_RANGE, "range", "index",
                                                            "there are %lld files", (long long) n);
    return nino_ext_out_copy(r, 0, v->item[1 + at]->u.string, err);
}

NINO_NODE(vhs_select_name, "VHS_SelectFilename", "Select Filename", "Video Helper Suite",
          "The name of one of the files that were written",
          NINO_INPUTS(NINO_PORT(filenames, FILENAMES)), NINO_OUTPUTS(NINO_PORT(Filename, STRING)),
          NINO_PARAMS(select_name_params,
                      NINO_P_INT(select_name_params, index, -1, -1, INT64_MAX, 1, .label = "Number",
                                 .help = "Which one, from 0, -1 is the last")),
          NINO_RUN(select_name_run));

static nino_status nothing_run(nino_run *r, nino_error *err)
{
    (void) r;
    (void) err;
    return NINO_OK;
}

typedef struct prune_params {
    int64_t options;
} prune_params;

NINO_NODE(vhs_prune, "VHS_PruneOutputs", "Prune Outputs", "Video Helper Suite",
          "Deletes files of earlier stages elsewhere", NINO_INPUTS(NINO_PORT(filenames, FILENAMES)),
          NINO_NO_OUTPUTS,
          NINO_PARAMS(prune_params,
                      NINO_P_ENUM(prune_params, options,
                                  NINO_WORDS("Intermediate", "Intermediate and Utility"), 0,
                                  .label = "What",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .is_inert = true)),
          .is_output = true,
          NINO_RUN(nothing_run, .no_effect = "no file is deleted that was written"));

typedef struct manager_params {
    int64_t frames_per_batch;
} manager_params;

static nino_status manager_run(nino_run *r, nino_error *err)
{
    return nino_node_out(r, 0, NINO_PORT_OTHER, err) ? NINO_OK : NINO_ERR_NOMEM;
}

NINO_NODE(vhs_manager, "VHS_BatchManager", "Meta Batch Manager", "Video Helper Suite",
          "Cuts a clip into parts elsewhere", NINO_OUTPUTS(NINO_PORT(meta_batch, OTHER)),
          NINO_PARAMS(manager_params,
                      NINO_P_INT(manager_params, frames_per_batch, 16, 1, 9007199254740991, 1,
                                 .label = "Batch",
                                 .help = "Accepted for compatibility, nothing here depends on it",
                                 .is_inert = true)),
          NINO_RUN(manager_run, .no_effect = "a clip is worked on as a whole"));

// ---- VHS_VideoInfo ---------------------------------------------------------------------------

// Source: rate, frames, seconds, width, height; then the same of what was loaded.
static nino_status give_info(nino_run *r, int first, int n, nino_error *err)
{
    nino_status st = NINO_OK;
    for (int i = 0; i < n && !st; i++) {
        const nino_value *v = r->in[0]->item[first + i];
        st = r->def->outputs[i].type == NINO_PORT_INT ? nino_out_int(r, i, (int64_t) v->u.f, err)
                                                      : nino_out_float(r, i, v->u.f, err);
    }
    return st;
}

static nino_status info_run(nino_run *r, nino_error *err) { return give_info(r, 0, 10, err); }
static nino_status source_run(nino_run *r, nino_error *err) { return give_info(r, 0, 5, err); }
static nino_status loaded_run(nino_run *r, nino_error *err) { return give_info(r, 5, 5, err); }

NINO_NODE(vhs_info, "VHS_VideoInfo", "Video Info", "Video Helper Suite",
          "Rate, length and size of a clip, of its file and as it was loaded",
          NINO_INPUTS(NINO_PORT(video_info, VIDEO_INFO)),
          NINO_OUTPUTS(NINO_PORT(source_fps, FLOAT), NINO_PORT(source_frame_count, INT),
                       NINO_PORT(source_duration, FLOAT), NINO_PORT(source_width, INT),
                       NINO_PORT(source_height, INT), NINO_PORT(loaded_fps, FLOAT),
                       NINO_PORT(loaded_frame_count, INT), NINO_PORT(loaded_duration, FLOAT),
                       NINO_PORT(loaded_width, INT), NINO_PORT(loaded_height, INT)),
          NINO_RUN(info_run));

NINO_NODE(vhs_info_source, "VHS_VideoInfoSource", "Video Info (Source)", "Video Helper Suite",
          "Rate, length and size of a clip's file", NINO_INPUTS(NINO_PORT(video_info, VIDEO_INFO)),
          NINO_OUTPUTS(NINO_PORT(fps, FLOAT), NINO_PORT(frame_count, INT),
                       NINO_PORT(duration, FLOAT), NINO_PORT(width, INT), NINO_PORT(height, INT)),
          NINO_RUN(source_run));

NINO_NODE(vhs_info_loaded, "VHS_VideoInfoLoaded", "Video Info (Loaded)", "Video Helper Suite",
          "Rate, length and size of a clip as it was loaded",
          NINO_INPUTS(NINO_PORT(video_info, VIDEO_INFO)),
          NINO_OUTPUTS(NINO_PORT(fps, FLOAT), NINO_PORT(frame_count, INT),
                       NINO_PORT(duration, FLOAT), NINO_PORT(width, INT), NINO_PORT(height, INT)),
          NINO_RUN(loaded_run));
