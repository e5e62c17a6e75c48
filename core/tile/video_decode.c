// VAE decode and encode of clips: what is asked for, clip by clip, and where the frames go.
#include "core/base/error.h"
#include "core/base/vars.h"
#include "core/tile/video_job.h"

#include <stdlib.h>
#include <string.h>

static nino_status check_sides(const nino_vae *v, int64_t h, int64_t w, nino_error *err)
{
    if (h < v->factor || w < v->factor || h > UINT16_MAX || w > UINT16_MAX)
        return nino_fail(err, NINO_ERR_RANGE, v->name,
                         "frames of %lldx%lld cannot be done: sides of %d to 65535 pixels can",
                         (long long) w, (long long) h, v->factor);
    return NINO_OK;
}

typedef struct trimmed {
    const nino_frame_sink *sink;
    int64_t end; // frames from here on are left out
} trimmed;

static nino_status put_trimmed(void *priv, int64_t first, const nino_array *a, nino_error *err)
{
    const trimmed *t = priv;
    nino_array part = *a; // a view: the sink only reads
    if (first >= t->end)
        return NINO_OK;
    if (first + part.shape.dim[0] > t->end)
        part.shape.dim[0] = t->end - first;
    part.bytes = (size_t) nino_shape_count(&part.shape) * sizeof(float);
    return t->sink->put(t->sink->priv, first, &part, err);
}

// Clip b of z [N,T,h,w,C] as [T,h,w,C], its last frame twice if that is wanted.
static nino_array *take_clip(const nino_array *z, int64_t b, bool twice)
{
    const int64_t *d = z->shape.dim, frame = d[2] * d[3] * d[4];
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(d[1] + twice, d[2], d[3], d[4]));
    if (!a)
        return NULL;
    const float *from = nino_array_f32(z) + b * d[1] * frame;
    memcpy(a->data, from, (size_t) (d[1] * frame) * sizeof(float));
    if (twice)
        memcpy(nino_array_f32(a) + d[1] * frame, from + (d[1] - 1) * frame,
               (size_t) frame * sizeof(float));
    return a;
}

nino_status nino_vae_decode_video(nino_stream *s, const nino_vae *v, const nino_array *z,
                                  const nino_video_params *p, const nino_frame_sink *sink,
                                  nino_tile_report *report, nino_error *err)
{
    const int64_t *d = z->shape.dim;
    nino_tile_report unused = { 0 };
    if (!v->has_decoder)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "model", v->name,
                              "this VAE file has no decoder");
    if (!v->decode_next && !v->decode_clip)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, v->name,
                         "this is an image VAE, the latent is a video");
    if (z->shape.rank != 5 || z->dtype != NINO_F32 || d[4] != v->channels || d[1] < 1)
        return nino_fail_kind(err, NINO_ERR_RANGE, "shape", v->name,
                              "the latent has %lld channels, this VAE (%s) decodes %d",
                              (long long) d[z->shape.rank - 1], v->family, v->channels);
    nino_status st = check_sides(v, d[2] * v->factor, d[3] * v->factor, err);
    const bool twice = p->repeat_last && !v->decode_next && p->chunk > 0;
    const int64_t frames = nino_vae_frames(v, d[1]);
    nino_video_job *j = calloc(1, sizeof(*j));
    if (!j)
        return nino_video_no_memory(v, err);
    nino_video_params own = *p;
    if (!v->decode_next && !own.chunk && (own.chunk = atoi(nino_vars_get()->chunk_size)) > 0)
        own.overlap = 1; // as little as ComfyUI's node takes
    p = &own;
    if (!v->decode_next && p->chunk > 0 && p->chunk < p->overlap + 2)
        nino_monitor_message(nino_stream_monitor(s), NINO_LOG_WARN,
                             "%s: chunks of %d latent frames cannot share %d: %d are taken",
                             v->name, p->chunk, p->overlap, p->overlap + 2);
    for (int64_t b = 0; b < d[0] && !st; b++) {
        nino_array *clip = take_clip(z, b, twice);
        trimmed t = { sink, (b + 1) * frames };
        const nino_frame_sink out = { put_trimmed, &t };
        *j =
            (nino_video_job){ .s = s, .v = v, .is_decode = true, .p = p, .sink = &out, .in = clip };
        j->n_in = d[1] + twice;
        j->n_out = nino_vae_frames(v, j->n_in);
        j->offset = b * frames;
        j->h = (int) d[2];
        j->w = (int) d[3];
        j->in_unit = 1;
        j->out_unit = v->factor;
        j->in_c = v->channels;
        j->out_c = 3;
        st = clip ? nino_video_job_run(j, report ? report : &unused, err)
                  : nino_video_no_memory(v, err);
        nino_array_unref(&clip);
    }
    free(j);
    return st;
}

static nino_status put_array(void *priv, int64_t first, const nino_array *frames, nino_error *err)
{
    nino_array *a = priv;
    const int64_t frame = nino_shape_count(&a->shape) / a->shape.dim[1];
    (void) err;
    memcpy(nino_array_f32(a) + first * frame, frames->data, frames->bytes);
    return NINO_OK;
}

nino_status nino_vae_encode_video(nino_stream *s, const nino_vae *v, const nino_array *pixels,
                                  const nino_video_params *p, nino_array **z,
                                  nino_tile_report *report, nino_error *err)
{
    const int64_t *d = pixels->shape.dim;
    const int f = v->factor;
    nino_tile_report unused = { 0 };
    *z = NULL;
    if (!v->has_encoder || !v->encode_next)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "model", v->name,
                              "this VAE file has no encoder for video");
    if (pixels->shape.rank != 4 || pixels->dtype != NINO_F32 || d[0] < 1 || d[3] < 3)
        return nino_fail(err, NINO_ERR_ARG, v->name, "an image batch has three channels or four");
    nino_status st = check_sides(v, d[1], d[2], err);
    if (st)
        return st;
    const int64_t t = 1 + (d[0] - 1) / v->time_factor, h = d[1] / f, w = d[2] / f;
    nino_video_job *j = calloc(1, sizeof(*j));
    *z = nino_array_create(NINO_F32, NINO_SHAPE(1, t, h, w, v->channels));
    const nino_frame_sink sink = { put_array, *z };
    if (j && *z) {
        *j = (nino_video_job){ .s = s, .v = v, .p = p, .sink = &sink, .in = pixels };
        j->n_in = v->pads_end ? d[0] : nino_vae_frames(v, t);
        j->n_out = t;
        j->h = (int) h;
        j->w = (int) w;
        j->in_unit = f;
        j->out_unit = 1;
        j->in_x = (int) (d[2] % f / 2);
        j->in_y = (int) (d[1] % f / 2);
        j->in_c = 3;
        j->out_c = v->channels;
        st = nino_video_job_run(j, report ? report : &unused, err);
    } else {
        st = nino_video_no_memory(v, err);
    }
    free(j);
    if (st)
        nino_array_unref(z);
    return st;
}
