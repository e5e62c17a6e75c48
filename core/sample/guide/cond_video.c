// What video models get beside the latent: the frames that are given, and a mask that tells which
// they are; videos to follow.
// Semantics: ComfyUI 0.3.64 comfy/model_base.py (WAN21.concat_cond, WAN21_Vace, WAN22).
#include "core/sample/guide/guide_priv.h"

#include <string.h>

#include "core/base/error.h"

#define MASK_CHANNELS INT64_C(4) // one for each frame of a latent frame

static nino_status cond_video_no_memory(nino_error *err)
{
    return nino_fail(err, NINO_ERR_NOMEM, "", "no memory for conditioning");
}

// a [N,t,H,W,C] at this run's size and batch.
static nino_array *fit(const nino_guide_run *r, const nino_array *a, nino_error *err)
{
    const int64_t n = a->shape.dim[0], t = a->shape.dim[1], c = a->shape.dim[4];
    nino_array flat = *a; // every frame a picture
    flat.shape = NINO_SHAPE(n * t, a->shape.dim[2], a->shape.dim[3], c);
    nino_array *scaled = NULL, *out = NULL, *video = NULL;
    if (r->axis[1] == flat.shape.dim[1] && r->axis[2] == flat.shape.dim[2])
        video = nino_array_ref((nino_array *) a);
    else if ((scaled = nino_planes_scale(&flat, r->axis[1], r->axis[2], NINO_FILTER_BILINEAR, true,
                                         err)))
        scaled->shape = NINO_SHAPE(n, t, r->axis[1], r->axis[2], c);
    if (video || scaled)
        out = nino_planes_pick(video ? video : scaled, r->batch, err);
    nino_array_unref(&video);
    nino_array_unref(&scaled);
    return out;
}

// dst [B,t,h,w,to]: n channels from `at` on become the first n of src [B,t,h,w,..], in units of the
// model.
static void put_latent(const nino_guide_run *r, nino_array *dst, int64_t at, const nino_array *src,
                       int64_t n)
{
    const nino_latent_format *f = r->guider->model->format;
    const int64_t to = dst->shape.dim[4], from = src->shape.dim[4];
    for (int64_t i = 0; i < r->batch * r->cells; i++) {
        float *v = nino_array_f32(dst) + i * to + at;
        memcpy(v, nino_array_f32(src) + i * from, (size_t) n * sizeof(float));
        for (int64_t c = 0; c + f->channels <= n; c += f->channels)
            nino_latent_process_in(f, v + c, 1, 1);
    }
}

// The entry's mask, else the latent's noise mask, as a video of 1 or 4 channels. NULL: none.
static bool find_mask(const nino_guide_run *r, const nino_cond_entry *e, nino_array *out)
{
    const nino_array *m = e->concat_mask ? e->concat_mask : r->mask;
    if (!m)
        return false;
    const int64_t *d = m->shape.dim;
    *out = *m;
    if (m->shape.rank == 3) // frames
        out->shape = NINO_SHAPE(1, d[0], d[1], d[2], 1);
    else if (m->shape.rank == 4)
        out->shape = NINO_SHAPE(d[0], d[1], d[2], d[3], 1);
    return true;
}

// dst [B,t,h,w,to]: its first channels become 1 where a frame is given; frames beyond the mask are
// not.
static nino_status put_mask(const nino_guide_run *r, const nino_cond_entry *e, nino_array *dst,
                            nino_error *err)
{
    nino_array video;
    if (!find_mask(r, e, &video))
        return NINO_OK;
    const int64_t c = video.shape.dim[4], to = dst->shape.dim[4], frames = r->axis[0];
    const int64_t had = video.shape.dim[1], plane = r->axis[1] * r->axis[2];
    if (video.shape.rank != 5 || had > frames || (c != 1 && c != MASK_CHANNELS))
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", r->net->name,
                              "the conditioning's mask has %lld latent frames, the latent %lld",
                              (long long) had, (long long) frames);
    nino_array *m = fit(r, &video, err);
    if (!m)
        return cond_video_no_memory(err);
    for (int64_t b = 0; b < r->batch; b++)
        for (int64_t i = 0; i < had * plane; i++) {
            const float *from = nino_array_f32(m) + (b * had * plane + i) * c;
            float *v = nino_array_f32(dst) + (b * frames * plane + i) * to;
            for (int64_t k = 0; k < MASK_CHANNELS; k++)
                v[k] = 1.0f - from[c == 1 ? 0 : k];
        }
    nino_array_unref(&m);
    return NINO_OK;
}

nino_status nino_cond_concat_video(const nino_guide_run *r, const nino_cond_entry *e,
                                   nino_array **out, nino_error *err)
{
    const int64_t extra = r->net->in_channels - r->net->format->channels;
    const nino_array *a = e->concat_latent;
    const int64_t c = !a ? extra : a->shape.dim[a->shape.rank - 1];
    // Models that see pictures through an image encoder too have been given any number of channels.
    const bool with_mask = a && extra > MASK_CHANNELS && c != extra &&
                           (c == extra - MASK_CHANNELS || (r->net->vision_dim && c > extra));
    const nino_shape shape = NINO_SHAPE(r->batch, r->axis[0], r->axis[1], r->axis[2], extra);
    *out = NULL;
    if (a && (a->shape.rank != 5 || a->shape.dim[1] != r->axis[0] || (!with_mask && c != extra)))
        return nino_fail_kind(
            err, NINO_ERR_ARG, "shape", r->net->name,
            "the conditioning's latent has %lld channels and %lld frames, this model takes %lld "
            "channels beside a latent of %lld frames",
            (long long) c, a->shape.rank == 5 ? (long long) a->shape.dim[1] : 1LL,
            (long long) extra, (long long) r->axis[0]);
    nino_array *image = a ? fit(r, a, err) : NULL;
    if (a && !image)
        return cond_video_no_memory(err);
    nino_status st = NINO_OK;
    if (!(*out = nino_array_create(NINO_F32, shape)))
        st = cond_video_no_memory(err);
    if (!st && image)
        put_latent(r, *out, with_mask ? MASK_CHANNELS : 0, image,
                   with_mask ? extra - MASK_CHANNELS : extra);
    if (!st && with_mask)
        st = put_mask(r, e, *out, err);
    if (st)
        nino_array_unref(out);
    nino_array_unref(&image);
    return st;
}

// ---- videos to follow ------------------------------------------------------------------------
nino_status nino_cond_controls(const nino_guide_run *r, const nino_cond_entry *e,
                               nino_cond_model *m, nino_error *err)
{
    const nino_latent_format *f = r->guider->model->format;
    const int64_t c = r->net->control_dim, frames = 2 * (int64_t) f->channels;
    const nino_shape shape = NINO_SHAPE(1, r->axis[0], r->axis[1], r->axis[2], c);
    for (int i = 0; c && i < (e->n_controls ? e->n_controls : 1); i++) {
        const nino_array *from = e->n_controls ? e->control[i] : NULL;
        if (from && !nino_shape_equal(&from->shape, &shape))
            return nino_fail_kind(err, NINO_ERR_ARG, "shape", r->net->name,
                                  "the video to follow has another size than the latent, which has "
                                  "%lld frames of %lldx%lld cells",
                                  (long long) r->axis[0], (long long) r->axis[2],
                                  (long long) r->axis[1]);
        if (!(m->control[i] = nino_array_create(NINO_F32, shape)))
            return cond_video_no_memory(err);
        m->control_strength[i] = from ? (float) e->control_strength[i] : 1;
        m->n_controls = i + 1;
        float *v = nino_array_f32(m->control[i]);
        if (from)
            memcpy(v, from->data, from->bytes);
        for (int64_t k = 0; k < r->cells; k++, v += c) {
            for (int64_t j = 0; j + f->channels <= frames; j += f->channels)
                nino_latent_process_in(f, v + j, 1, 1);
            for (int64_t j = frames; j < c && !from; j++)
                v[j] = 1; // all is to be made
        }
    }
    return NINO_OK;
}

// Wan 2.2 5B: a frame that the mask keeps is not noisy, so its time step is 0.
void nino_guide_frame_times(const nino_guide_run *r, float timestep, int n, float *t)
{
    const int64_t frames = r->axis[0], plane = r->axis[1] * r->axis[2];
    for (int64_t i = 0; i < n * r->batch * frames; i++) {
        const float *m = nino_array_f32(r->mask) + i % (r->batch * frames) * plane;
        double sum = 0;
        for (int64_t k = 0; k < plane; k++)
            sum += (double) m[k];
        t[i] = (float) (sum / (double) plane) * timestep;
    }
}
