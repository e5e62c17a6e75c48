// MP4, MOV, WebM and Matroska in: size, rate, tags and, if asked for, all pictures.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/media/frame_list.h"
#include "core/media/video_priv.h"
#include <ninodes/run_profile.h>

#define MAX_SIDE 16384

typedef struct reader {
    const nino_av *av;
    const char *name;
    nino_av_input in;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    struct SwsContext *sws;    // for frames of
    int width, height, format; // these sizes and this form
    int stream;
    uint8_t *rgb;
    int64_t n;
    bool stop;
    nino_frame_fn fn; // NULL: no pictures are wanted
    void *priv;
} reader;

static nino_status video_read_no_memory(const reader *r, nino_error *err)
{
    return nino_fail(err, NINO_ERR_NOMEM, r->name, "out of memory");
}

static nino_status add_tags(reader *r, const AVDictionary *tags, nino_video_info *info,
                            nino_error *err)
{
    const AVDictionaryEntry *e = NULL;
    nino_status st = NINO_OK;
    while (!st && (e = r->av->av_dict_get(tags, "", e, AV_DICT_IGNORE_SUFFIX))) {
        if (!e->key[0]) // of a damaged FLAC: nobody could ask for it
            continue;
        // Matroska writes names in capitals
        const char *key = !strcasecmp(e->key, "prompt")               ? "prompt"
                          : !strcasecmp(e->key, "workflow")           ? "workflow"
                          : !strcasecmp(e->key, NINO_RUN_PROFILE_KEY) ? NINO_RUN_PROFILE_KEY
                                                                      : e->key;
        st = nino_texts_add(&info->texts, key, e->value, strlen(e->value), r->name, err);
    }
    return st;
}

// Ogg has its tags in the stream.
static nino_status read_sound(reader *r, nino_video_info *info, nino_error *err)
{
    const int i = r->av->av_find_best_stream(r->in.fmt, AVMEDIA_TYPE_AUDIO, -1, -1, NULL, 0);
    if (i < 0 || r->fn)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "schema", r->name,
                              "there are no pictures in it");
    const AVStream *s = r->in.fmt->streams[i];
    snprintf(info->codec, sizeof(info->codec), "%s",
             r->av->avcodec_get_name(s->codecpar->codec_id));
    return add_tags(r, s->metadata, info, err);
}

static nino_status video_read_read_info(reader *r, nino_video_info *info, nino_error *err)
{
    const nino_status st = add_tags(r, r->in.fmt->metadata, info, err);
    if (st)
        return st;
    r->stream = r->av->av_find_best_stream(r->in.fmt, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
    if (r->stream < 0)
        return read_sound(r, info, err);
    AVStream *s = r->in.fmt->streams[r->stream];
    const AVRational rate = r->av->av_guess_frame_rate(r->in.fmt, s, NULL);
    info->width = s->codecpar->width;
    info->height = s->codecpar->height;
    info->frames = s->nb_frames > 0 ? s->nb_frames : 0;
    info->seconds = r->in.fmt->duration > 0 ? (double) r->in.fmt->duration / AV_TIME_BASE : 0;
    info->fps = rate.num > 0 && rate.den > 0 ? (double) rate.num / rate.den : 0;
    snprintf(info->codec, sizeof(info->codec), "%s",
             r->av->avcodec_get_name(s->codecpar->codec_id));
    if (info->width < 1 || info->height < 1 || info->width > MAX_SIDE || info->height > MAX_SIDE)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "limit", r->name,
                              "frames of %d x %d pixels are not read", info->width, info->height);
    return NINO_OK;
}

// For containers that do not say how many frames they have: one a packet.
static nino_status count_frames(reader *r, nino_video_info *info, nino_error *err)
{
    if (!(r->packet = r->av->av_packet_alloc()))
        return video_read_no_memory(r, err);
    while (r->av->av_read_frame(r->in.fmt, r->packet) >= 0) {
        info->frames += r->packet->stream_index == r->stream;
        r->av->av_packet_unref(r->packet);
    }
    return NINO_OK;
}

static nino_status video_read_open_codec(reader *r, nino_error *err)
{
    const nino_av *av = r->av;
    const AVCodecParameters *par = r->in.fmt->streams[r->stream]->codecpar;
    const AVCodec *c = av->avcodec_find_decoder(par->codec_id);
    if (!c)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, r->name, "no decoder for %s is installed",
                         av->avcodec_get_name(par->codec_id));
    if (!(r->codec = av->avcodec_alloc_context3(c)) || !(r->packet = av->av_packet_alloc()) ||
        !(r->frame = av->av_frame_alloc()))
        return video_read_no_memory(r, err);
    int rc = av->avcodec_parameters_to_context(r->codec, par);
    if (rc >= 0)
        rc = av->avcodec_open2(r->codec, c, NULL);
    return rc < 0 ? nino_av_fail(av, rc, r->name, "cannot decode the video", err) : NINO_OK;
}

// For frames like this one: all have the first one's size, but not always its form of colours.
static bool video_read_scaler(reader *r, int w, int h)
{
    const AVFrame *f = r->frame;
    if (r->sws && r->format == f->format)
        return true;
    r->av->sws_freeContext(r->sws);
    r->width = f->width;
    r->height = f->height;
    r->format = f->format;
    r->sws = r->av->sws_getContext(f->width, f->height, f->format, w, h, AV_PIX_FMT_RGB24,
                                   SWS_BICUBIC, NULL, NULL, NULL);
    return r->sws != NULL;
}

// The frame as 8-bit RGB, to whoever wants it.
static nino_status video_read_take_frame(reader *r, const nino_video_info *info, nino_error *err)
{
    const int w = info->width, h = info->height;
    // The scaler's fast conversions write whole eights of pixels, and leave out the last ones of a
    // row where its stride has no room for them.
    const size_t row = (size_t) w * 3, stride = ((size_t) w + 7) / 8 * 8 * 3;
    if (!r->rgb && !(r->rgb = malloc(stride * (size_t) h + NINO_AV_BEHIND)))
        return video_read_no_memory(r, err);
    if (!video_read_scaler(r, w, h))
        return video_read_no_memory(r, err);
    uint8_t *const to[] = { r->rgb };
    const int strides[] = { (int) stride };
    r->av->sws_scale(r->sws, (const uint8_t *const *) r->frame->data, r->frame->linesize, 0,
                     r->frame->height, to, strides);
    for (int y = 1; y < h && stride > row; y++)
        memmove(r->rgb + (size_t) y * row, r->rgb + (size_t) y * stride, row);
    const nino_frame f = { r->rgb, w, h, 3, info->fps > 0 ? 1 / info->fps : 0 };
    r->n++;
    return r->fn(r->priv, &f, &r->stop, err);
}

// What the decoder has ready.
static nino_status video_read_drain(reader *r, const nino_video_info *info, nino_error *err)
{
    while (!r->stop) {
        const int rc = r->av->avcodec_receive_frame(r->codec, r->frame);
        if (rc == AVERROR(EAGAIN) || rc == AVERROR_EOF)
            return NINO_OK;
        if (rc < 0)
            return nino_av_fail(r->av, rc, r->name, "cannot decode the video", err);
        const AVFrame *f = r->frame;
        if (r->sws && (f->width != r->width || f->height != r->height))
            return nino_fail(err, NINO_ERR_UNSUPPORTED, r->name, "the size of its frames changes");
        const nino_status st = video_read_take_frame(r, info, err);
        r->av->av_frame_unref(r->frame);
        if (st)
            return st;
    }
    return NINO_OK;
}

static nino_status video_read_read_frames(reader *r, const nino_video_info *info, nino_error *err)
{
    nino_status st = video_read_open_codec(r, err);
    while (!st && !r->stop && r->av->av_read_frame(r->in.fmt, r->packet) >= 0) {
        if (r->packet->stream_index == r->stream) {
            const int rc = r->av->avcodec_send_packet(r->codec, r->packet);
            st = rc < 0 ? nino_av_fail(r->av, rc, r->name, "cannot decode the video", err)
                        : video_read_drain(r, info, err);
        }
        r->av->av_packet_unref(r->packet);
    }
    if (!st && !r->stop && r->av->avcodec_send_packet(r->codec, NULL) >= 0)
        st = video_read_drain(r, info, err);
    if (!st && !r->n)
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "truncated", r->name,
                            "not one picture could be decoded");
    return st;
}

static void close_all(reader *r)
{
    const nino_av *av = r->av;
    if (!av)
        return;
    av->sws_freeContext(r->sws);
    av->av_frame_free(&r->frame);
    av->av_packet_free(&r->packet);
    av->avcodec_free_context(&r->codec);
    nino_av_input_close(&r->in);
    free(r->rgb);
}

static nino_status video_read_read_all(reader *r, nino_video_info *info, nino_error *err)
{
    nino_status st = NINO_ERR_UNSUPPORTED;
    *info = (nino_video_info){ 0 };
    if ((r->av = nino_av_load(err)))
        st = nino_av_input_open(&r->in, r->name, err);
    if (!st)
        st = video_read_read_info(r, info, err);
    if (!st && r->fn)
        st = video_read_read_frames(r, info, err);
    else if (!st && r->stream >= 0 && !info->frames && r->in.fd >= 0)
        st = count_frames(r, info, err);
    close_all(r);
    if (st)
        nino_video_info_release(info);
    return st;
}

// ---- all at once -------------------------------------------------------------------------------

typedef struct gathered {
    const char *name;
    int width, height;
    float *pixels; // of n_cap frames
    int64_t n, n_cap;
} gathered;

static nino_status video_read_gather(void *priv, const nino_frame *f, bool *stop, nino_error *err)
{
    gathered *g = priv;
    const size_t n = (size_t) f->width * (size_t) f->height * 3;
    (void) stop;
    if (g->n == g->n_cap) {
        const int64_t cap = g->n_cap ? g->n_cap + g->n_cap / 2 + 1 : 16;
        float *p = realloc(g->pixels, (size_t) cap * n * sizeof(float));
        if (!p)
            return nino_fail(err, NINO_ERR_NOMEM, g->name, "out of memory");
        g->pixels = p;
        g->n_cap = cap;
    }
    g->width = f->width;
    g->height = f->height;
    float *dst = g->pixels + (size_t) g->n++ * n;
    for (size_t i = 0; i < n; i++)
        dst[i] = (float) f->pixels[i] / 255.0f;
    return NINO_OK;
}

static nino_status make_array(const gathered *g, nino_array **out, nino_error *err)
{
    const nino_shape shape = { 4, { g->n, g->height, g->width, 3 } };
    nino_array *a = nino_array_create(NINO_F32, shape);
    if (!a)
        return nino_fail(err, NINO_ERR_NOMEM, g->name, "out of memory");
    memcpy(a->data, g->pixels, (size_t) nino_shape_count(&shape) * sizeof(float));
    *out = a;
    return NINO_OK;
}

static nino_status video_read_read_file(int fd, const char *name, nino_video_info *info,
                                        nino_frame_fn fn, void *priv, nino_error *err)
{
    reader r = {
        .name = name, .in = { .fd = fd, .len = lseek(fd, 0, SEEK_END) }, .fn = fn, .priv = priv
    };
    if (r.in.len < 0)
        return nino_fail(err, NINO_ERR_IO, name, "cannot read: %s", strerror(errno));
    return video_read_read_all(&r, info, err);
}

nino_status nino_video_frames(int fd, const char *name, nino_frame_fn fn, void *priv,
                              nino_error *err)
{
    nino_video_info info;
    const nino_status st = video_read_read_file(fd, name, &info, fn, priv, err);
    if (!st)
        nino_video_info_release(&info);
    return st;
}

nino_status nino_video_read(int fd, const char *name, nino_video_info *info, nino_array **frames,
                            nino_error *err)
{
    gathered g = { .name = name };
    nino_status st =
        video_read_read_file(fd, name, info, frames ? video_read_gather : NULL, &g, err);
    if (!st && frames && (st = make_array(&g, frames, err)))
        nino_video_info_release(info);
    free(g.pixels);
    return st;
}

nino_status nino_video_tags(const void *data, size_t len, const char *name, nino_video_info *info,
                            nino_error *err)
{
    reader r = { .name = name, .in = { .fd = -1, .data = data, .len = (int64_t) len } };
    return video_read_read_all(&r, info, err);
}
