// VIDEO links: frames with a rate and a sound: CreateVideo, GetVideoComponents, LoadVideo, Video
// Slice. Behaviour of ComfyUI 0.33.0 comfy_extras/nodes_video.py.
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/media/video.h"
#include "core/node/util.h"

typedef struct create_params {
    double fps;
} create_params;

// Takes `frames` and `sound`, also on failure.
static nino_status out_video(nino_run *r, nino_array *frames, double fps, nino_sound sound,
                             nino_error *err)
{
    nino_value *v = nino_node_out(r, 0, NINO_PORT_VIDEO, err);
    if (!v) {
        nino_array_unref(&frames);
        nino_sound_release(&sound);
        return NINO_ERR_NOMEM;
    }
    v->u.video = (nino_video_value){ frames, fps, sound };
    return NINO_OK;
}

static nino_status create_run(nino_run *r, nino_error *err)
{
    const create_params *p = r->params;
    nino_sound sound = r->in[1] ? r->in[1]->u.audio : (nino_sound){ 0 };
    nino_array_ref(sound.wave);
    return out_video(r, nino_array_ref(nino_in_image(r, 0)), p->fps, sound, err);
}

NINO_NODE(create_video, "CreateVideo", "Create Video", "image/video",
          "Images as the frames of a video",
          NINO_INPUTS(NINO_PORT(images, IMAGE),
                      NINO_PORT(audio, AUDIO, .optional = true,
                                .help = "Heard with them; files end with the pictures")),
          NINO_OUTPUTS(NINO_PORT(VIDEO, VIDEO)),
          NINO_PARAMS(create_params,
                      NINO_P_FLOAT(create_params, fps, 30, 1, 120, 1, .label = "Frames a second",
                                   .help = "How fast the pictures follow each other")),
          NINO_RUN(create_run));

static nino_status components_run(nino_run *r, nino_error *err)
{
    const nino_video_value *v = &r->in[0]->u.video;
    nino_status st = nino_out_image(r, 0, nino_array_ref(v->frames), err);
    if (!st)
        st =
            nino_out_audio(r, 1, (nino_sound){ nino_array_ref(v->sound.wave), v->sound.rate }, err);
    if (!st)
        st = nino_out_float(r, 2, v->fps, err);
    if (!st)
        st = nino_out_int(r, 3, 8, err);
    return st ? st : nino_node_out_text(r, 4, strdup("sRGB"), err);
}

NINO_NODE(video_components, "GetVideoComponents", "Get Video Components", "image/video",
          "The frames of a video, their rate and its sound", NINO_INPUTS(NINO_PORT(video, VIDEO)),
          NINO_OUTPUTS(NINO_PORT(images, IMAGE),
                       NINO_PORT(audio, AUDIO, .help = "Nothing where the video is silent"),
                       NINO_PORT(fps, FLOAT), NINO_PORT(bit_depth, INT, .help = "Always 8"),
                       NINO_PORT(color_space, STRING, .help = "Always sRGB")),
          NINO_RUN(components_run));

typedef struct load_params {
    const char *file;
} load_params;

static nino_status video_save_load_run(nino_run *r, nino_error *err)
{
    const char *name = ((const load_params *) r->params)->file;
    nino_video_info info = { 0 };
    nino_array *frames = NULL;
    nino_sound sound = { 0 };
    int fd = -1;
    nino_status st = nino_services_of(r->ctx)->open_input(r->ctx, name, &fd, err);
    if (st)
        return st;
    st = nino_video_read(fd, name, &info, r->is_plan ? NULL : &frames, err);
    if (!st)
        st = nino_sound_read(fd, name, r->is_plan, &sound, err);
    close(fd);
    if (!st && r->is_plan) {
        const int64_t n = info.frames ? info.frames : 1;
        frames = nino_node_array(NINO_F32, NINO_SHAPE(n, info.height, info.width, 3), name, err);
        st = frames ? NINO_OK : NINO_ERR_NOMEM;
    }
    const double fps = info.fps;
    nino_video_info_release(&info);
    if (!st)
        return out_video(r, frames, fps, sound, err);
    nino_array_unref(&frames);
    nino_sound_release(&sound);
    return st;
}

static nino_status video_save_load_identity(nino_ctx *ctx, const void *params,
                                            struct nino_hasher *h, nino_error *err)
{
    return nino_services_of(ctx)->identity(ctx, "input", ((const load_params *) params)->file, h,
                                           err);
}

NINO_NODE(load_video, "LoadVideo", "Load Video", "image/video",
          "Reads all pictures of a video, and its sound", NINO_OUTPUTS(NINO_PORT(VIDEO, VIDEO)),
          NINO_PARAMS(load_params,
                      NINO_P_FILE(load_params, file, "input", .label = "File", .upload_slot = true,
                                  .help = "A video file in the input folder")),
          NINO_RUN(video_save_load_run, .identity = video_save_load_identity));

// ---- Video Slice -----------------------------------------------------------------------------

typedef struct slice_params {
    double start_time, duration;
    bool strict_duration;
} slice_params;

// A frame that begins this part of its time before the start is in it: times of files are rounded.
#define SLACK (1.0 / 512)

static nino_status slice_run(nino_run *r, nino_error *err)
{
    const slice_params *p = r->params;
    const nino_video_value *v = &r->in[0]->u.video;
    const int64_t n = v->frames->shape.dim[0];
    const double all = (double) n / v->fps;
    const double start = p->start_time < 0 ? fmax(all + p->start_time, 0) : p->start_time;
    const double end = p->duration > 0 ? fmin(start + p->duration, all) : all;
    const int64_t first = (int64_t) fmin(fmax(ceil(start * v->fps - SLACK), 0), (double) n);
    const int64_t last = (int64_t) fmin(ceil(end * v->fps - SLACK), (double) n);
    if (last <= first)
        return nino_fail_kind(err, NINO_ERR_ARG, "value", "start_time",
                              "the video ends after %.3f seconds", all);
    if (p->strict_duration && start + p->duration > all + SLACK / v->fps)
        return nino_fail_kind(err, NINO_ERR_ARG, "value", "duration",
                              "from there on the video has %.3f seconds only", all - start);
    nino_shape shape = v->frames->shape;
    shape.dim[0] = last - first;
    const size_t frame = v->frames->bytes / (size_t) n;
    nino_array *frames = nino_node_array(NINO_F32, shape, "frames", err);
    if (!frames)
        return NINO_ERR_NOMEM;
    memcpy(frames->data, (const char *) v->frames->data + frame * (size_t) first, frames->bytes);
    nino_sound sound = { 0 };
    const int64_t at = (int64_t) (start * v->sound.rate);
    const int64_t length =
        p->duration > 0 ? (int64_t) fmin(p->duration * v->sound.rate, 0x1p50) : INT64_MAX;
    const nino_status st =
        v->sound.wave ? nino_sound_cut(&v->sound, at, length, &sound, err) : NINO_OK;
    if (!st)
        return out_video(r, frames, v->fps, sound, err);
    nino_array_unref(&frames);
    return st;
}

NINO_NODE(video_slice, "Video Slice", "Trim Video", "image/video",
          "The part of a video between two times, with its sound",
          NINO_INPUTS(NINO_PORT(video, VIDEO)), NINO_OUTPUTS(NINO_PORT(VIDEO, VIDEO)),
          NINO_PARAMS(slice_params,
                      NINO_P_FLOAT(slice_params, start_time, 0, -100000, 100000, 0.001,
                                   .label = "Start",
                                   .help = "In seconds; below 0 they count from the end"),
                      NINO_P_FLOAT(slice_params, duration, 0, 0, (double) INT64_MAX, 0.001,
                                   .label = "Duration", .ui_max.f = 100000,
                                   .help = "In seconds; 0: up to the end"),
                      NINO_P_BOOL(slice_params, strict_duration, false, .label = "Strict",
                                  .help = "A video that is too short is an error")),
          NINO_RUN(slice_run));
