// Wan VACE: a video that a model follows or changes in part. Behaviour of ComfyUI's nodes_wan.py
// (WanVaceToVideo).
#include <string.h>

#include "core/base/error.h"
#include "core/node/planar.h"
#include "core/node/video_node.h"

#define CHANNELS 16
#define CELL INT64_C(8) // pixels of a latent cell's side, all of which the mask keeps

typedef struct vace_params {
    int64_t width, height, length, batch_size; // nino_video_size
    double strength;
} vace_params;

// 1 where a pixel is to be made: the masks at the clip's size, the last frames without one too.
static nino_status vace_make_mask(nino_run *r, nino_array **out, nino_error *err)
{
    const vace_params *p = r->params;
    const nino_array *in = nino_in_mask(r, 4);
    nino_array *scaled = NULL;
    if (in) {
        nino_array flat = *in;
        flat.shape = NINO_SHAPE(in->shape.dim[0], in->shape.dim[1], in->shape.dim[2], 1);
        const nino_status st =
            nino_rescale(r, &flat, p->width, p->height, NINO_SCALE_BILINEAR, true, &scaled, err);
        if (st)
            return st;
    }
    *out =
        nino_node_array(NINO_F32, NINO_SHAPE(p->length, p->height, p->width, 1), r->def->key, err);
    const int64_t n = p->length * p->height * p->width;
    const int64_t had = scaled ? nino_shape_count(&scaled->shape) : 0;
    for (int64_t i = 0; *out && !r->is_plan && i < n; i++)
        nino_array_f32(*out)[i] = i < had ? nino_array_f32(scaled)[i] : 1;
    nino_array_unref(&scaled);
    return *out ? NINO_OK : NINO_ERR_NOMEM;
}

// What the mask leaves (keep) or covers of the clip, the rest grey.
static nino_status encode_part(nino_run *r, const nino_array *clip, const nino_array *mask,
                               bool keep, nino_array **out, nino_error *err)
{
    nino_array *part = nino_node_array(NINO_F32, clip->shape, r->def->key, err);
    if (!part)
        return NINO_ERR_NOMEM;
    for (int64_t i = 0; !r->is_plan && i < nino_shape_count(&mask->shape); i++) {
        const float m = nino_array_f32(mask)[i], share = keep ? 1.0f - m : m;
        for (int64_t k = 0; k < 3; k++)
            nino_array_f32(part)[i * 3 + k] =
                (nino_array_f32(clip)[i * 3 + k] - 0.5f) * share + 0.5f;
    }
    const nino_status st = nino_video_encode(r, nino_in_vae(r, 2), part, out, err);
    nino_array_unref(&part);
    return st;
}

// The mask's pixels as channels of a cell, of the frame nearest to each latent frame; frames of a
// reference before them are 0.
static nino_array *mask_cells(const nino_run *r, const nino_array *mask, const nino_shape *latent,
                              int64_t before, nino_error *err)
{
    const vace_params *p = r->params;
    const int64_t t = latent->dim[1], h = latent->dim[2], w = latent->dim[3], made = t - before;
    nino_array *out =
        nino_node_array(NINO_F32, NINO_SHAPE(1, t, h, w, CELL * CELL), r->def->key, err);
    for (int64_t f = 0; out && !r->is_plan && f < made; f++) {
        const int64_t frame = (2 * f + 1) * p->length / (2 * made);
        for (int64_t i = 0; i < h * w; i++)
            for (int64_t k = 0; k < CELL * CELL; k++) {
                const int64_t y = i / w * CELL + k / CELL, x = i % w * CELL + k % CELL;
                nino_array_f32(out)[(((before + f) * h * w) + i) * CELL * CELL + k] =
                    nino_array_f32(mask)[(frame * p->height + y) * p->width + x];
            }
    }
    return out;
}

// A reference picture as a frame before the others: the picture, and nothing to be made.
static nino_status put_reference(nino_run *r, nino_array **latent, nino_error *err)
{
    nino_array *image = NULL, *first = NULL, *none = NULL, *both = NULL, *all = NULL;
    nino_array *one = nino_picture_batch(nino_in_image(r, 5), 0, 1, r->def->key, err);
    nino_status st = one ? nino_video_fit(r, one, false, &image, err) : NINO_ERR_NOMEM;
    if (!st)
        st = nino_video_encode(r, nino_in_vae(r, 2), image, &first, err);
    if (!st && (none = nino_node_array(NINO_F32, first->shape, r->def->key, err))) {
        nino_latent_process_out(nino_latent_format_find("wan21"), nino_array_f32(none),
                                nino_shape_count(&none->shape) / CHANNELS, 1);
        if ((both = nino_picture_join(first, none, 4, r->def->key, err)))
            all = nino_picture_join(both, *latent, 1, r->def->key, err);
    }
    if (!st && !all)
        st = err && err->code ? err->code : NINO_ERR_NOMEM;
    if (all) {
        nino_array_unref(latent);
        *latent = nino_array_ref(all);
    }
    nino_array *used[] = { one, image, first, none, both, all };
    for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
        nino_array_unref(&used[i]);
    return st;
}

// What is left and what is to be made [1,t,h,w,32], and the mask's 64 channels.
static nino_status make_control(nino_run *r, nino_array **out, nino_error *err)
{
    const nino_array *video = nino_in_image(r, 3);
    nino_array *start = NULL, *clip = NULL, *mask = NULL, *kept = NULL, *made = NULL;
    nino_array *latent = NULL, *cells = NULL;
    nino_status st = video ? nino_video_fit(r, video, false, &start, err) : NINO_OK;
    if (!st)
        st = vace_make_mask(r, &mask, err);
    if (!st && !(clip = nino_video_make(r, start, NULL, err)))
        st = NINO_ERR_NOMEM;
    if (!st)
        st = encode_part(r, clip, mask, true, &kept, err);
    if (!st)
        st = encode_part(r, clip, mask, false, &made, err);
    if (!st && kept->shape.dim[4] != CHANNELS)
        st = nino_fail_kind(err, NINO_ERR_ARG, "shape", nino_in_vae(r, 2)->name,
                            "VACE needs the VAE of Wan 2.1, with %d channels", CHANNELS);
    if (!st && !(latent = nino_picture_join(kept, made, 4, r->def->key, err)))
        st = NINO_ERR_NOMEM;
    const int64_t frames = latent ? latent->shape.dim[1] : 0;
    if (!st && nino_in_image(r, 5))
        st = put_reference(r, &latent, err);
    if (!st && !(cells = mask_cells(r, mask, &latent->shape, latent->shape.dim[1] - frames, err)))
        st = NINO_ERR_NOMEM;
    if (!st && !(*out = nino_picture_join(latent, cells, 4, r->def->key, err)))
        st = NINO_ERR_NOMEM;
    nino_array *used[] = { start, clip, mask, kept, made, latent, cells };
    for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
        nino_array_unref(&used[i]);
    return st;
}

// Inputs 0 and 1 with one more video to follow.
static nino_status vace_give_both(nino_run *r, nino_array *control, nino_error *err)
{
    const vace_params *p = r->params;
    nino_status st = NINO_OK;
    for (int i = 0; i < 2 && !st; i++) {
        nino_cond *c = nino_cond_copy(nino_in_cond(r, i));
        for (int k = 0; c && !st && k < c->n; k++) {
            nino_cond_entry *e = &c->entry[k];
            if (e->n_controls == NINO_COND_CONTROLS) {
                st = nino_fail_kind(err, NINO_ERR_RANGE, "limit", r->def->inputs[i].key,
                                    "a prompt takes at most %d videos to follow",
                                    NINO_COND_CONTROLS);
                break;
            }
            e->control_strength[e->n_controls] = p->strength;
            nino_cond_set_array(&e->control[e->n_controls++], control);
        }
        if (st)
            nino_cond_unref(&c);
        else
            st = nino_out_cond(r, i, c, err);
    }
    return st;
}

static nino_status vace_run(nino_run *r, nino_error *err)
{
    const vace_params *p = r->params;
    nino_array *control = NULL, *empty = NULL;
    nino_status st = make_control(r, &control, err);
    if (!st)
        st = vace_give_both(r, control, err);
    if (!st) {
        const int64_t *d = control->shape.dim;
        empty = nino_node_array(NINO_F32, NINO_SHAPE(p->batch_size, d[1], d[2], d[3], CHANNELS),
                                r->def->key, err);
        st = nino_out_latent(r, 2, (nino_latent){ .samples = empty }, err);
    }
    if (!st)
        st = nino_out_int(r, 3, control->shape.dim[1] - nino_video_latents(p->length), err);
    nino_array_unref(&control);
    return st;
}

static const nino_port inputs[] = { NINO_PORT(positive, CONDITIONING),
                                    NINO_PORT(negative, CONDITIONING),
                                    NINO_PORT(vae, VAE),
                                    NINO_PORT(control_video, IMAGE, .optional = true),
                                    NINO_PORT(control_masks, MASK, .optional = true,
                                              .help = "1: to be made"),
                                    NINO_PORT(reference_image, IMAGE, .optional = true),
                                    { 0 } };
static const nino_port outputs[] = { NINO_PORT(positive, CONDITIONING),
                                     NINO_PORT(negative, CONDITIONING),
                                     NINO_PORT(latent, LATENT),
                                     NINO_PORT(trim_latent, INT,
                                               .help = "Latent frames of the reference"),
                                     { 0 } };
NINO_NODE(wan_vace, "WanVaceToVideo", "WanVaceToVideo", "conditioning/video_models",
          "Gives a Wan VACE model a video to follow or to change in part, and a reference",
          .inputs = inputs, .outputs = outputs,
          NINO_PARAMS(
              vace_params,
              NINO_P_INT(vace_params, width, 832, 16, 16384, 16, .label = "Width", .unit = "px",
                         .help = "Width of the video", .ui_max.i = 2048),
              NINO_P_INT(vace_params, height, 480, 16, 16384, 16, .label = "Height", .unit = "px",
                         .help = "Height of the video", .ui_max.i = 2048),
              NINO_P_INT(vace_params, length, 81, 1, 16384, 4, .label = "Frames",
                         .help = "1 more than a multiple of 4; others are rounded down to such",
                         .ui_max.i = 241),
              NINO_P_INT(vace_params, batch_size, 1, 1, 4096, 1, .label = "Batch",
                         .help = "How many videos are made at once", .ui_min.i = 1, .ui_max.i = 4),
              NINO_P_FLOAT(vace_params, strength, 1.0, 0.0, 1000.0, 0.01, .label = "Strength",
                           .help = "How much the video is followed", .ui_max.f = 2.0)),
          NINO_RUN(vace_run));
