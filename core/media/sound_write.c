// Sounds out: a stream beside a video's, or a file of their own.
#include <math.h>
#include <string.h>

#include "core/base/error.h"
#include "core/media/video_priv.h"

static nino_status sound_write_no_memory(nino_error *err)
{
    return nino_fail(err, NINO_ERR_NOMEM, "audio", "out of memory");
}

static nino_status sound_write_codec(nino_av_output *o, const nino_sound *s, const AVCodec *c,
                                     nino_av_sound *out, nino_error *err)
{
    const nino_av *av = o->av;
    const int64_t channels = s->wave->shape.dim[1];
    if (channels != 1 && channels != 2)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, "audio",
                         "sounds of %lld channels are not written", (long long) channels);
    if (!(out->codec = av->avcodec_alloc_context3(c)))
        return sound_write_no_memory(err);
    out->codec->sample_rate = s->rate;
    out->codec->ch_layout = channels == 1 ? (AVChannelLayout) AV_CHANNEL_LAYOUT_MONO
                                          : (AVChannelLayout) AV_CHANNEL_LAYOUT_STEREO;
    out->codec->sample_fmt = c->id == AV_CODEC_ID_AAC ? AV_SAMPLE_FMT_FLTP : AV_SAMPLE_FMT_S16;
    out->codec->time_base = (AVRational){ 1, s->rate };
    if (o->fmt->oformat->flags & AVFMT_GLOBALHEADER)
        out->codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    const int rc = av->avcodec_open2(out->codec, c, NULL);
    return rc < 0 ? nino_av_output_fail(o, rc, "the encoder of the sound does not start", err)
                  : NINO_OK;
}

nino_status nino_av_sound_open(nino_av_output *o, const nino_sound *s, const char *encoder,
                               nino_av_sound *out, nino_error *err)
{
    const nino_av *av = o->av;
    const AVCodec *c = av->avcodec_find_encoder_by_name(encoder);
    if (!c)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, encoder,
                         "no encoder for it is installed with FFmpeg's libraries");
    const nino_status st = sound_write_codec(o, s, c, out, err);
    if (st)
        return st;
    if (!(out->stream = av->avformat_new_stream(o->fmt, NULL)) ||
        !(out->frame = av->av_frame_alloc()) || !(out->packet = av->av_packet_alloc()))
        return sound_write_no_memory(err);
    out->stream->time_base = out->codec->time_base;
    const int rc = av->avcodec_parameters_from_context(out->stream->codecpar, out->codec);
    return rc < 0 ? nino_av_output_fail(o, rc, "cannot begin the file", err) : NINO_OK;
}

// n samples from `at` on, of the batch's first item.
static void sound_write_fill(AVFrame *f, const nino_sound *s, int64_t at, int n)
{
    const int64_t channels = s->wave->shape.dim[1], length = s->wave->shape.dim[2];
    for (int64_t c = 0; c < channels; c++) {
        const float *x = nino_array_f32(s->wave) + c * length + at;
        if (f->format == AV_SAMPLE_FMT_FLTP) {
            memcpy(f->extended_data[c], x, (size_t) n * sizeof(*x));
            continue;
        }
        int16_t *to = (int16_t *) (void *) f->extended_data[0] + c;
        for (int i = 0; i < n; i++)
            to[i * channels] = (int16_t) lrintf(fminf(fmaxf(x[i] * 0x1p15f, -0x1p15f), 32767));
    }
}

// frame NULL: no more come.
static nino_status sound_write_encode(nino_av_output *o, nino_av_sound *to, const AVFrame *frame,
                                      nino_error *err)
{
    const nino_av *av = o->av;
    int rc = av->avcodec_send_frame(to->codec, frame);
    while (rc >= 0) {
        rc = av->avcodec_receive_packet(to->codec, to->packet);
        if (rc == AVERROR(EAGAIN) || rc == AVERROR_EOF)
            return NINO_OK;
        if (rc < 0)
            break;
        to->packet->stream_index = to->stream->index;
        av->av_packet_rescale_ts(to->packet, to->codec->time_base, to->stream->time_base);
        rc = av->av_interleaved_write_frame(o->fmt, to->packet);
    }
    return nino_av_output_fail(o, rc, "cannot encode the sound", err);
}

nino_status nino_av_sound_write(nino_av_output *o, const nino_sound *s, nino_av_sound *to,
                                nino_error *err)
{
    const int64_t length = s->wave->shape.dim[2];
    const int step = to->codec->frame_size > 0 ? to->codec->frame_size : 4096;
    nino_status st = NINO_OK;
    for (int64_t at = 0; at < length && !st; at += step) {
        AVFrame *f = to->frame;
        o->av->av_frame_unref(f);
        f->nb_samples = length - at < step ? (int) (length - at) : step;
        f->format = to->codec->sample_fmt;
        f->ch_layout = to->codec->ch_layout;
        f->sample_rate = s->rate;
        f->pts = at;
        if (o->av->av_frame_get_buffer(f, 0) < 0)
            return sound_write_no_memory(err);
        sound_write_fill(f, s, at, f->nb_samples);
        st = sound_write_encode(o, to, f, err);
    }
    return st ? st : sound_write_encode(o, to, NULL, err);
}

void nino_av_sound_close(const nino_av *av, nino_av_sound *s)
{
    av->av_packet_free(&s->packet);
    av->av_frame_free(&s->frame);
    av->avcodec_free_context(&s->codec);
}

// ---- a file of its own -----------------------------------------------------------------------

static nino_status sound_write_all(nino_av_output *o, const nino_sound *s, nino_av_sound *to,
                                   const nino_meta *texts, int n_texts, nino_error *err)
{
    nino_status st = nino_av_sound_open(o, s, "flac", to, err);
    int rc = 0;
    for (int i = 0; i < n_texts && !st && rc >= 0; i++)
        rc = o->av->av_dict_set(&o->fmt->metadata, texts[i].key, texts[i].value, 0);
    if (!st && rc >= 0)
        rc = o->av->avformat_write_header(o->fmt, NULL);
    if (!st && rc >= 0)
        st = nino_av_sound_write(o, s, to, err);
    if (!st && rc >= 0)
        rc = o->av->av_write_trailer(o->fmt);
    return st || (rc >= 0 && !o->status) ? st
                                         : nino_av_output_fail(o, rc, "cannot write the file", err);
}

nino_status nino_sound_write(nino_file_writer *file, const nino_sound *s, int64_t item,
                             const nino_meta *texts, int n_texts, nino_error *err)
{
    nino_av_output o = { .av = nino_av_load(err) };
    nino_av_sound to = { 0 };
    const int64_t channels = s->wave->shape.dim[1], length = s->wave->shape.dim[2];
    if (!o.av)
        return NINO_ERR_UNSUPPORTED;
    nino_sound one = { nino_array_create(NINO_F32, NINO_SHAPE(1, channels, length)), s->rate };
    if (!one.wave)
        return sound_write_no_memory(err);
    memcpy(one.wave->data, nino_array_f32(s->wave) + item * channels * length, one.wave->bytes);
    nino_status st = nino_av_output_open(&o, file, "flac", err);
    if (!st)
        st = sound_write_all(&o, &one, &to, texts, n_texts, err);
    nino_av_sound_close(o.av, &to);
    nino_av_output_close(&o);
    nino_sound_release(&one);
    return st;
}
