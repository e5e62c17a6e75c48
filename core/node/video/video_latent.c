// Latents and conditioning of videos: empty clips, clips that go on from pictures. Behaviour of
// ComfyUI's nodes_hunyuan.py (EmptyHunyuanLatentVideo), nodes_wan.py and nodes_video.py.
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/planar.h"
#include "core/node/video_node.h"

typedef nino_video_size clip_params;

#define SIZES(w, h, frames, least, by)                                                             \
    NINO_P_INT(clip_params, width, w, least, 16384, by, .label = "Width", .unit = "px",            \
               .help = "Width of the video", .ui_max.i = 2048),                                    \
        NINO_P_INT(clip_params, height, h, least, 16384, by, .label = "Height", .unit = "px",      \
                   .help = "Height of the video", .ui_max.i = 2048),                               \
        NINO_P_INT(clip_params, length, frames, 1, 16384, 4, .label = "Frames",                    \
                   .help = "1 more than a multiple of 4; others are rounded down to such",         \
                   .ui_max.i = 241),                                                               \
        NINO_P_INT(clip_params, batch_size, 1, 1, 4096, 1, .label = "Batch",                       \
                   .help = "How many videos are made at once", .ui_min.i = 1, .ui_max.i = 4)

static nino_array *empty_clip(const nino_run *r, int64_t channels, int64_t factor, nino_error *err)
{
    const clip_params *p = r->params;
    return nino_node_array(NINO_F32,
                           NINO_SHAPE(p->batch_size, nino_video_latents(p->length),
                                      p->height / factor, p->width / factor, channels),
                           r->def->key, err);
}

// ---- EmptyHunyuanLatentVideo -----------------------------------------------------------------

static nino_status video_latent_empty_run(nino_run *r, nino_error *err)
{
    return nino_out_latent(r, 0, (nino_latent){ .samples = empty_clip(r, 16, 8, err) }, err);
}

NINO_NODE(empty_hunyuan_video, "EmptyHunyuanLatentVideo", "EmptyHunyuanLatentVideo", "latent/video",
          "A video latent of zeros for Wan 2.1, Wan 2.2 14B and HunyuanVideo",
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(clip_params, SIZES(848, 480, 25, 16, 16)), NINO_RUN(video_latent_empty_run));

// ---- given frames ----------------------------------------------------------------------------

nino_status nino_video_fit(nino_run *r, const nino_array *image, bool is_end, nino_array **out,
                           nino_error *err)
{
    const clip_params *p = r->params;
    const int64_t had = image->shape.dim[0], n = had < p->length ? had : p->length;
    nino_array *some = nino_picture_batch(image, is_end ? had - n : 0, n, r->def->key, err);
    if (!some)
        return NINO_ERR_NOMEM;
    const nino_status st =
        nino_rescale(r, some, p->width, p->height, NINO_SCALE_BILINEAR, true, out, err);
    nino_array_unref(&some);
    return st;
}

// Frames become those of the clip from `at` on.
static void video_latent_put_frames(nino_array *clip, int64_t at, const nino_array *frames)
{
    const int64_t c = frames->shape.dim[3], cells = nino_shape_count(&frames->shape) / c;
    const int64_t pixels = clip->shape.dim[1] * clip->shape.dim[2];
    float *to = nino_array_f32(clip) + at * pixels * 3;
    const float *from = nino_array_f32(frames);
    for (int64_t i = 0; i < cells; i++, to += 3, from += c)
        memcpy(to, from, 3 * sizeof(float));
}

nino_status nino_video_encode(nino_run *r, const nino_vae *vae, const nino_array *clip,
                              nino_array **out, nino_error *err)
{
    const int64_t n = clip->shape.dim[0], whole = (nino_video_latents(n) - 1) * NINO_VIDEO_TIME + 1;
    nino_array *some = whole < n ? nino_picture_batch(clip, 0, whole, r->def->key, err)
                                 : nino_array_ref((nino_array *) clip);
    nino_status st = some ? nino_encode_pixels(r, vae, some, out, err) : NINO_ERR_NOMEM;
    nino_array_unref(&some);
    if (!st && (*out)->shape.rank != 5) {
        nino_array_unref(out);
        st = nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", vae->name,
                            "a clip needs a video VAE, this is one for pictures (%s)", vae->family);
    }
    return st;
}

nino_array *nino_video_make(const nino_run *r, const nino_array *start, const nino_array *end,
                            nino_error *err)
{
    const clip_params *p = r->params;
    const nino_shape shape = NINO_SHAPE(p->length, p->height, p->width, 3);
    nino_array *clip = nino_node_array(NINO_F32, shape, r->def->key, err);
    if (!clip || r->is_plan)
        return clip;
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(clip)[i] = 0.5f;
    if (start)
        video_latent_put_frames(clip, 0, start);
    if (end)
        video_latent_put_frames(clip, p->length - end->shape.dim[0], end);
    return clip;
}

// Inputs 0 and 1 with what the model sees beside the noise; each may be NULL: stays as it is.
static nino_status video_latent_give_both(nino_run *r, nino_array *latent, nino_array *mask,
                                          nino_array *vision, nino_error *err)
{
    nino_status st = NINO_OK;
    for (int i = 0; i < 2 && st == NINO_OK; i++) {
        nino_cond *c = nino_cond_copy(nino_in_cond(r, i));
        for (int k = 0; c && k < c->n; k++) {
            nino_cond_entry *e = &c->entry[k];
            if (latent)
                nino_cond_set_array(&e->concat_latent, latent);
            if (mask)
                nino_cond_set_array(&e->concat_mask, mask);
            if (vision)
                nino_cond_set_array(&e->vision, vision);
        }
        st = nino_out_cond(r, i, c, err);
    }
    return st;
}

// 1 for every frame, 0 for the given ones: `c` frames a latent frame are told apart.
static nino_array *frame_mask(const nino_run *r, const nino_array *latent, int64_t c, int64_t start,
                              int64_t end, nino_error *err)
{
    const int64_t *d = latent->shape.dim, frames = d[1] * c, plane = d[2] * d[3];
    nino_array *m = nino_node_array(NINO_F32, NINO_SHAPE(1, d[1], d[2], d[3], c), r->def->key, err);
    for (int64_t f = 0; m && f < frames; f++)
        for (int64_t i = 0; i < plane; i++)
            nino_array_f32(m)[(f / c * plane + i) * c + f % c] =
                f < start || f >= frames - end ? 0.0f : 1.0f;
    return m;
}

// ---- WanImageToVideo -------------------------------------------------------------------------

static nino_status image_run(nino_run *r, nino_error *err)
{
    const nino_vision_output *seen = nino_in_vision(r, 3);
    const nino_array *image = nino_in_image(r, 4);
    nino_array *start = NULL, *clip = NULL, *latent = NULL, *mask = NULL;
    nino_status st = NINO_OK;
    if (image && !(st = nino_video_fit(r, image, false, &start, err))) {
        clip = nino_video_make(r, start, NULL, err);
        st = clip ? nino_video_encode(r, nino_in_vae(r, 2), clip, &latent, err) : NINO_ERR_NOMEM;
        if (!st &&
            !(mask = frame_mask(r, latent, 1, nino_video_latents(start->shape.dim[0]), 0, err)))
            st = NINO_ERR_NOMEM;
    }
    if (!st)
        st = video_latent_give_both(r, latent, mask, seen ? seen->penultimate : NULL, err);
    if (!st)
        st = nino_out_latent(r, 2, (nino_latent){ .samples = empty_clip(r, 16, 8, err) }, err);
    nino_array_unref(&start);
    nino_array_unref(&clip);
    nino_array_unref(&latent);
    nino_array_unref(&mask);
    return st;
}

static const nino_port pair_out[] = { NINO_PORT(positive, CONDITIONING),
                                      NINO_PORT(negative, CONDITIONING),
                                      NINO_PORT(latent, LATENT),
                                      { 0 } };
static const nino_param wan_table[] = { SIZES(832, 480, 81, 16, 16), { 0 } };
NINO_NODE(wan_image_to_video, "WanImageToVideo", "WanImageToVideo", "conditioning/video_models",
          "Shows a Wan image to video model the frames that its video starts with",
          NINO_INPUTS(NINO_PORT(positive, CONDITIONING), NINO_PORT(negative, CONDITIONING),
                      NINO_PORT(vae, VAE),
                      NINO_PORT(clip_vision_output, CLIP_VISION_OUTPUT, .optional = true,
                                .help = "Of the start image, for Wan 2.1"),
                      NINO_PORT(start_image, IMAGE, .optional = true, .help = "First frames")),
          .outputs = pair_out, .params = wan_table, .params_size = sizeof(clip_params),
          NINO_RUN(image_run));

// ---- WanFirstLastFrameToVideo ----------------------------------------------------------------

// The states of one picture behind those of the other. NULL without an error: there is neither.
static nino_status join_seen(const nino_run *r, nino_array **out, nino_error *err)
{
    const nino_vision_output *a = nino_in_vision(r, 3), *b = nino_in_vision(r, 4);
    *out = NULL;
    if (a && b)
        *out = nino_picture_join(a->penultimate, b->penultimate, 1, r->def->key, err);
    else if (a || b)
        *out = nino_array_ref((a ? a : b)->penultimate);
    return !(a || b) || *out ? NINO_OK : err && err->code ? err->code : NINO_ERR_NOMEM;
}

static nino_status video_latent_both_run(nino_run *r, nino_error *err)
{
    const nino_array *first = nino_in_image(r, 5), *last = nino_in_image(r, 6);
    nino_array *start = NULL, *end = NULL, *clip = NULL, *latent = NULL, *mask = NULL, *seen = NULL;
    nino_status st = first ? nino_video_fit(r, first, false, &start, err) : NINO_OK;
    if (!st && last)
        st = nino_video_fit(r, last, true, &end, err);
    if (!st && !(clip = nino_video_make(r, start, end, err)))
        st = NINO_ERR_NOMEM;
    if (!st)
        st = nino_video_encode(r, nino_in_vae(r, 2), clip, &latent, err);
    // the first latent frame is one frame, but counts as four in the mask
    if (!st && !(mask = frame_mask(r, latent, NINO_VIDEO_TIME, start ? start->shape.dim[0] + 3 : 0,
                                   end ? end->shape.dim[0] : 0, err)))
        st = NINO_ERR_NOMEM;
    if (!st)
        st = join_seen(r, &seen, err);
    if (!st)
        st = video_latent_give_both(r, latent, mask, seen, err);
    if (!st)
        st = nino_out_latent(r, 2, (nino_latent){ .samples = empty_clip(r, 16, 8, err) }, err);
    nino_array *all[] = { start, end, clip, latent, mask, seen };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        nino_array_unref(&all[i]);
    return st;
}

NINO_NODE(wan_first_last, "WanFirstLastFrameToVideo", "WanFirstLastFrameToVideo",
          "conditioning/video_models",
          "Shows a Wan image to video model the frames that its video starts and ends with",
          NINO_INPUTS(NINO_PORT(positive, CONDITIONING), NINO_PORT(negative, CONDITIONING),
                      NINO_PORT(vae, VAE),
                      NINO_PORT(clip_vision_start_image, CLIP_VISION_OUTPUT, .optional = true),
                      NINO_PORT(clip_vision_end_image, CLIP_VISION_OUTPUT, .optional = true),
                      NINO_PORT(start_image, IMAGE, .optional = true, .help = "First frames"),
                      NINO_PORT(end_image, IMAGE, .optional = true, .help = "Last frames")),
          .outputs = pair_out, .params = wan_table, .params_size = sizeof(clip_params),
          NINO_RUN(video_latent_both_run));

// ---- Wan22ImageToVideoLatent -----------------------------------------------------------------

#define WAN22_CHANNELS 48
#define WAN22_FACTOR 16

// One entry of a batch with the given frames, and what the model takes for zero in the others.
static void fill_latent(nino_array *latent, int64_t entry, const nino_array *given)
{
    const nino_latent_format *f = nino_latent_format_find("wan22");
    const int64_t cells = nino_shape_count(&latent->shape) / latent->shape.dim[0] / WAN22_CHANNELS;
    float *v = nino_array_f32(latent) + entry * cells * WAN22_CHANNELS;
    nino_latent_process_out(f, v, cells, 1);
    memcpy(v, nino_array_f32(given), given->bytes);
}

static nino_status latent_run(nino_run *r, nino_error *err)
{
    const nino_array *image = nino_in_image(r, 1);
    nino_array *start = NULL, *given = NULL;
    nino_latent l = { .samples = empty_clip(r, WAN22_CHANNELS, WAN22_FACTOR, err) };
    nino_status st = l.samples ? NINO_OK : NINO_ERR_NOMEM;
    if (!st && image && !(st = nino_video_fit(r, image, false, &start, err)))
        st = nino_video_encode(r, nino_in_vae(r, 0), start, &given, err);
    if (!st && given) {
        const int64_t *d = l.samples->shape.dim, *g = given->shape.dim, plane = d[2] * d[3];
        if (g[1] > d[1] || g[2] != d[2] || g[3] != d[3] || g[4] != WAN22_CHANNELS)
            st = nino_fail_kind(err, NINO_ERR_ARG, "shape", nino_in_vae(r, 0)->name,
                                "this node needs the VAE of Wan 2.2 5B, with %d channels",
                                WAN22_CHANNELS);
        for (int64_t i = 0; !st && i < d[0]; i++)
            fill_latent(l.samples, i, given);
        if (!st && !(l.noise_mask =
                         nino_node_array(NINO_F32, NINO_SHAPE(d[1], d[2], d[3]), r->def->key, err)))
            st = NINO_ERR_NOMEM;
        for (int64_t i = g[1] * plane; !st && i < d[1] * plane; i++)
            nino_array_f32(l.noise_mask)[i] = 1;
    }
    if (!st)
        st = nino_out_latent(r, 0, l, err);
    else
        nino_array_unref(&l.samples);
    nino_array_unref(&start);
    nino_array_unref(&given);
    return st;
}

NINO_NODE(wan22_latent, "Wan22ImageToVideoLatent", "Wan22ImageToVideoLatent",
          "conditioning/inpaint",
          "A video latent for Wan 2.2 5B, empty or with frames that are kept",
          NINO_INPUTS(NINO_PORT(vae, VAE),
                      NINO_PORT(start_image, IMAGE, .optional = true, .help = "First frames")),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(clip_params, SIZES(1280, 704, 49, 32, 32)), NINO_RUN(latent_run));

// ---- TrimVideoLatent -------------------------------------------------------------------------

typedef struct trim_params {
    int64_t trim_amount;
} trim_params;

static nino_status video_latent_trim_run(nino_run *r, nino_error *err)
{
    const nino_latent *in = nino_in_latent(r, 0);
    const int64_t cut = ((const trim_params *) r->params)->trim_amount;
    nino_shape s = in->samples->shape;
    if (s.rank != 5 || cut >= s.dim[1])
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", "samples",
                              "%lld frames cannot be cut from a latent of %lld", (long long) cut,
                              s.rank == 5 ? (long long) s.dim[1] : 1LL);
    const size_t frame = in->samples->bytes / (size_t) (s.dim[0] * s.dim[1]);
    const int64_t had = s.dim[1];
    s.dim[1] -= cut;
    nino_array *out = nino_node_array(NINO_F32, s, r->def->key, err);
    for (int64_t i = 0; out && i < s.dim[0]; i++)
        memcpy((char *) out->data + (size_t) (i * s.dim[1]) * frame,
               (const char *) in->samples->data + (size_t) (i * had + cut) * frame,
               (size_t) s.dim[1] * frame);
    return nino_out_latent_like(r, 0, in, out, err);
}

NINO_NODE(trim_video, "TrimVideoLatent", "TrimVideoLatent", "latent/video",
          "Cuts the first latent frames off", NINO_INPUTS(NINO_PORT(samples, LATENT)),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(trim_params,
                      NINO_P_INT(trim_params, trim_amount, 0, 0, 99999, 1, .label = "Latent frames",
                                 .help = "How many are cut off at the start")),
          NINO_RUN(video_latent_trim_run));
