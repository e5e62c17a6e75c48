// MP4 and WebM out, by FFmpeg's encoders. Settings of ComfyUI: comfy_api VideoFromComponents
// (yuv420p, metadata tags in MP4) and nodes_video.py SaveWEBM (constant quality).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/media/video_priv.h"

typedef struct mux {
    const nino_av *av;
    nino_av_output out;
    AVCodecContext *codec;
    AVStream *stream;
    AVFrame *frame;
    AVPacket *packet;
    struct SwsContext *sws;
    nino_av_sound sound;
    uint8_t *even; // a frame, with an added column or row where it needs one
} mux;

static const struct {
    nino_video_format format;
    const char *codec, *encoder;
} encoders[] = {
    { NINO_VIDEO_MP4, "h264", "libx264" },    { NINO_VIDEO_MP4, "h264", "libopenh264" },
    { NINO_VIDEO_MP4, "mpeg4", "mpeg4" },     { NINO_VIDEO_WEBM, "vp9", "libvpx-vp9" },
    { NINO_VIDEO_WEBM, "av1", "libaom-av1" }, // SVT-AV1 prints on stderr whatever its settings
};

static const AVCodec *video_mux_find(const nino_av *av, nino_video_format f, const char *wanted,
                                     const char **name)
{
    for (size_t i = 0; i < sizeof(encoders) / sizeof(*encoders); i++) {
        const AVCodec *c = NULL;
        if (encoders[i].format == f && (!wanted || !strcmp(wanted, encoders[i].codec)))
            c = av->avcodec_find_encoder_by_name(encoders[i].encoder);
        if (c) {
            *name = encoders[i].codec;
            return c;
        }
    }
    return NULL;
}

const char *nino_video_codec(nino_video_format f, const char *wanted)
{
    const nino_av *av = nino_av_load(NULL);
    const char *name = NULL;
    if (f == NINO_VIDEO_WEBP || f == NINO_VIDEO_APNG)
        return f == NINO_VIDEO_WEBP ? "webp" : "apng";
    return av && video_mux_find(av, f, wanted, &name) ? name : NULL;
}

// A failure of a call, or of the file behind it.
static nino_status video_mux_fail(nino_video *v, int code, const char *what, nino_error *err)
{
    return nino_av_output_fail(&((mux *) v->state)->out, code, what, err);
}

static nino_status video_mux_no_memory(nino_error *err)
{
    return nino_fail(err, NINO_ERR_NOMEM, "video", "out of memory");
}

// ---- start -----------------------------------------------------------------------------------

static AVRational rate_of(double fps)
{
    AVRational r = { (int) lround(fps * 1000), 1000 };
    for (int k = 2; k <= 5; k += 3)
        while (r.num % k == 0 && r.den % k == 0) {
            r.num /= k;
            r.den /= k;
        }
    if (r.num < 1)
        r.num = 1;
    return r;
}

static nino_status video_mux_open_codec(nino_video *v, const AVCodec *c, nino_error *err)
{
    mux *m = v->state;
    const nino_av *av = m->av;
    const AVRational rate = rate_of(v->p.fps);
    AVDictionary *options = NULL;
    char crf[32];
    if (!(m->codec = av->avcodec_alloc_context3(c)))
        return video_mux_no_memory(err);
    m->codec->width = (v->p.width + 1) & ~1;
    m->codec->height = (v->p.height + 1) & ~1;
    m->codec->pix_fmt = AV_PIX_FMT_YUV420P;
    m->codec->framerate = rate;
    m->codec->time_base = (AVRational){ rate.den, rate.num };
    if (m->out.fmt->oformat->flags & AVFMT_GLOBALHEADER)
        m->codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    int rc = 0;
    if (v->p.format == NINO_VIDEO_WEBM) {
        const bool is_av1 = c->id == AV_CODEC_ID_AV1;
        snprintf(crf, sizeof(crf), "%d", (int) v->p.crf);
        m->codec->bit_rate = 0;
        m->codec->pix_fmt = is_av1 ? AV_PIX_FMT_YUV420P10LE : AV_PIX_FMT_YUV420P;
        rc = av->av_dict_set(&options, "crf", crf, 0);
        if (rc >= 0 && is_av1)
            rc = av->av_dict_set(&options, "cpu-used", "6", 0);
    } else if (v->p.crf > 0 && c->id == AV_CODEC_ID_H264) {
        snprintf(crf, sizeof(crf), "%d", (int) v->p.crf);
        rc = av->av_dict_set(&options, "crf", crf, 0);
    } else if (c->id == AV_CODEC_ID_MPEG4) {
        m->codec->flags |= AV_CODEC_FLAG_QSCALE;
        m->codec->global_quality = 3 * FF_QP2LAMBDA;
    }
    if (rc >= 0)
        rc = av->avcodec_open2(m->codec, c, &options);
    av->av_dict_free(&options);
    return rc < 0 ? video_mux_fail(v, rc, "the encoder does not start", err) : NINO_OK;
}

static nino_status open_stream(nino_video *v, nino_error *err)
{
    mux *m = v->state;
    const nino_av *av = m->av;
    AVDictionary *options = NULL;
    int rc = 0;
    if (!(m->stream = av->avformat_new_stream(m->out.fmt, NULL)))
        return video_mux_no_memory(err);
    m->stream->time_base = m->codec->time_base;
    m->stream->avg_frame_rate = m->codec->framerate;
    rc = av->avcodec_parameters_from_context(m->stream->codecpar, m->codec);
    for (int i = 0; i < v->p.n_texts && rc >= 0; i++)
        rc = av->av_dict_set(&m->out.fmt->metadata, v->p.texts[i].key, v->p.texts[i].value, 0);
    if (rc >= 0 && v->p.format == NINO_VIDEO_MP4)
        rc = av->av_dict_set(&options, "movflags", "use_metadata_tags", 0);
    nino_status st = NINO_OK;
    if (rc >= 0 && v->p.sound)
        st = nino_av_sound_open(&m->out, v->p.sound, "aac", &m->sound, err);
    if (rc >= 0 && !st)
        rc = av->avformat_write_header(m->out.fmt, &options);
    av->av_dict_free(&options);
    if (rc < 0)
        st = video_mux_fail(v, rc, "cannot begin the file", err);
    return st || !v->p.sound ? st : nino_av_sound_write(&m->out, v->p.sound, &m->sound, err);
}

static nino_status open_frame(nino_video *v, nino_error *err)
{
    mux *m = v->state;
    const int w = m->codec->width, h = m->codec->height;
    if (!(m->frame = m->av->av_frame_alloc()) || !(m->packet = m->av->av_packet_alloc()))
        return video_mux_no_memory(err);
    m->frame->format = m->codec->pix_fmt;
    m->frame->width = w;
    m->frame->height = h;
    if (m->av->av_frame_get_buffer(m->frame, 0) < 0)
        return video_mux_no_memory(err);
    m->sws = m->av->sws_getContext(w, h, AV_PIX_FMT_RGB24, w, h, m->codec->pix_fmt, SWS_BICUBIC,
                                   NULL, NULL, NULL);
    if (!m->sws)
        return video_mux_no_memory(err);
    if (!(m->even = calloc((size_t) w * (size_t) h * 3 + NINO_AV_BEHIND, 1)))
        return video_mux_no_memory(err);
    return NINO_OK;
}

static nino_status video_mux_start(nino_video *v, nino_error *err)
{
    const nino_av *av = nino_av_load(err);
    const char *name = v->p.format == NINO_VIDEO_MP4 ? "mp4" : "webm", *codec = NULL;
    mux *m = v->state = calloc(1, sizeof(*m));
    if (!m)
        return video_mux_no_memory(err);
    if (!(m->av = av))
        return NINO_ERR_UNSUPPORTED;
    m->out.av = av;
    const AVCodec *c = video_mux_find(av, v->p.format, v->p.codec, &codec);
    if (!c)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, v->p.codec ? v->p.codec : name,
                         "no encoder for it is installed with FFmpeg's libraries");
    nino_status st = nino_av_output_open(&m->out, v->file, name, err);
    if (!st)
        st = video_mux_open_codec(v, c, err);
    if (!st)
        st = open_stream(v, err);
    return st ? st : open_frame(v, err);
}

// ---- frames ----------------------------------------------------------------------------------

// The last column and row once more.
static const uint8_t *make_even(const nino_video *v, const uint8_t *rgb)
{
    const mux *m = v->state;
    const size_t from = (size_t) v->p.width * 3, to = (size_t) m->codec->width * 3;
    for (int y = 0; y < m->codec->height; y++) {
        const uint8_t *line = rgb + (size_t) (y < v->p.height ? y : v->p.height - 1) * from;
        memcpy(m->even + (size_t) y * to, line, from);
        if (to > from)
            memcpy(m->even + (size_t) y * to + from, line + from - 3, 3);
    }
    return m->even;
}

// frame NULL: no more come.
static nino_status video_mux_encode(nino_video *v, const AVFrame *frame, nino_error *err)
{
    mux *m = v->state;
    int rc = m->av->avcodec_send_frame(m->codec, frame);
    while (rc >= 0) {
        rc = m->av->avcodec_receive_packet(m->codec, m->packet);
        if (rc == AVERROR(EAGAIN) || rc == AVERROR_EOF)
            return NINO_OK;
        if (rc < 0)
            break;
        m->packet->stream_index = m->stream->index;
        m->packet->duration = 1;
        m->av->av_packet_rescale_ts(m->packet, m->codec->time_base, m->stream->time_base);
        rc = m->av->av_interleaved_write_frame(m->out.fmt, m->packet);
    }
    return video_mux_fail(v, rc, "cannot encode", err);
}

static nino_status video_mux_add(nino_video *v, const uint8_t *rgb, nino_error *err)
{
    mux *m = v->state;
    const uint8_t *const from[] = { make_even(v, rgb) };
    const int stride[] = { m->codec->width * 3 };
    if (m->av->av_frame_make_writable(m->frame) < 0)
        return video_mux_no_memory(err);
    m->av->sws_scale(m->sws, from, stride, 0, m->codec->height, m->frame->data, m->frame->linesize);
    m->frame->pts = v->n;
    m->frame->quality = m->codec->global_quality;
    return video_mux_encode(v, m->frame, err);
}

static nino_status video_mux_finish(nino_video *v, nino_error *err)
{
    mux *m = v->state;
    const nino_status st = video_mux_encode(v, NULL, err);
    if (st)
        return st;
    const int rc = m->av->av_write_trailer(m->out.fmt);
    return rc < 0 || m->out.status ? video_mux_fail(v, rc, "cannot finish the file", err) : NINO_OK;
}

static void video_mux_destroy(nino_video *v)
{
    mux *m = v->state;
    if (!m || !m->av) {
        free(m);
        return;
    }
    const nino_av *av = m->av;
    av->sws_freeContext(m->sws);
    av->av_packet_free(&m->packet);
    av->av_frame_free(&m->frame);
    av->avcodec_free_context(&m->codec);
    nino_av_sound_close(av, &m->sound);
    nino_av_output_close(&m->out);
    free(m->even);
    free(m);
}

const nino_video_ops nino_video_mux_ops = { video_mux_start, video_mux_add, video_mux_finish,
                                            video_mux_destroy };
