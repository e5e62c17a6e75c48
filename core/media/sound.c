// Sounds from files, and sounds at another rate.
// Source of the low-pass: Smith, Digital Audio Resampling (2002), with the settings of
// pytorch/audio functional.py (six zero crossings, rolloff 0.99, Hann), which ComfyUI uses.
#include "core/media/sound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/media/video_priv.h"

#define MAX_CHANNELS 64

void nino_sound_release(nino_sound *s)
{
    nino_array_unref(&s->wave);
    *s = (nino_sound){ 0 };
}

nino_status nino_sound_cut(const nino_sound *s, int64_t first, int64_t n, nino_sound *out,
                           nino_error *err)
{
    const int64_t rows = s->wave->shape.dim[0] * s->wave->shape.dim[1], had = s->wave->shape.dim[2];
    first = first < 0 ? 0 : first > had ? had : first;
    n = n < 0 ? 0 : n > had - first ? had - first : n;
    *out = (nino_sound){ .rate = s->rate };
    if (first == 0 && n == had) {
        out->wave = nino_array_ref(s->wave);
        return NINO_OK;
    }
    out->wave =
        nino_array_create(NINO_F32, NINO_SHAPE(s->wave->shape.dim[0], s->wave->shape.dim[1], n));
    if (!out->wave)
        return nino_fail(err, NINO_ERR_NOMEM, "audio", "out of memory");
    for (int64_t r = 0; r < rows; r++)
        memcpy(nino_array_f32(out->wave) + r * n, nino_array_f32(s->wave) + r * had + first,
               (size_t) n * sizeof(float));
    return NINO_OK;
}

// ---- reading ---------------------------------------------------------------------------------

typedef struct reader {
    nino_av_input in;
    const char *name;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    int stream;
    int channels, rate;
    float *v; // [T][channels]
    size_t n, n_cap;
} reader;

static nino_status sound_no_memory(const char *name, nino_error *err)
{
    return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
}

// Sample i of a buffer as a float in -1..1.
static float sound_sample(const void *p, enum AVSampleFormat packed, size_t i)
{
    switch (packed) {
    case AV_SAMPLE_FMT_U8: return (float) (((const uint8_t *) p)[i] - 128) / 0x1p7f;
    case AV_SAMPLE_FMT_S16: return (float) ((const int16_t *) p)[i] / 0x1p15f;
    case AV_SAMPLE_FMT_S32: return (float) ((const int32_t *) p)[i] / 0x1p31f;
    case AV_SAMPLE_FMT_S64: return (float) ((const int64_t *) p)[i] / 0x1p63f;
    case AV_SAMPLE_FMT_DBL: return (float) ((const double *) p)[i];
    default: return ((const float *) p)[i];
    }
}

static nino_status sound_take_frame(reader *r, nino_error *err)
{
    const AVFrame *f = r->frame;
    const bool is_planar = r->in.av->av_sample_fmt_is_planar(f->format);
    const enum AVSampleFormat packed = r->in.av->av_get_packed_sample_fmt(f->format);
    const size_t c = (size_t) r->channels, n = (size_t) f->nb_samples;
    if (f->ch_layout.nb_channels != r->channels || f->sample_rate != r->rate)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, r->name,
                         "the rate or the channels of its sound change");
    if (r->n + n > r->n_cap) {
        const size_t cap = r->n + n + r->n_cap / 2;
        float *v = realloc(r->v, cap * c * sizeof(*v));
        if (!v)
            return sound_no_memory(r->name, err);
        r->v = v;
        r->n_cap = cap;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < c; k++)
            r->v[(r->n + i) * c + k] = is_planar
                                           ? sound_sample(f->extended_data[k], packed, i)
                                           : sound_sample(f->extended_data[0], packed, i * c + k);
    r->n += n;
    return NINO_OK;
}

static nino_status sound_drain(reader *r, nino_error *err)
{
    const nino_av *av = r->in.av;
    for (;;) {
        const int rc = av->avcodec_receive_frame(r->codec, r->frame);
        if (rc == AVERROR(EAGAIN) || rc == AVERROR_EOF)
            return NINO_OK;
        const nino_status st = rc < 0
                                   ? nino_av_fail(av, rc, r->name, "cannot decode the sound", err)
                                   : sound_take_frame(r, err);
        av->av_frame_unref(r->frame);
        if (st)
            return st;
    }
}

static nino_status sound_decode(reader *r, nino_error *err)
{
    const nino_av *av = r->in.av;
    nino_status st = NINO_OK;
    while (!st && av->av_read_frame(r->in.fmt, r->packet) >= 0) {
        if (r->packet->stream_index == r->stream) {
            const int rc = av->avcodec_send_packet(r->codec, r->packet);
            st = rc < 0 ? nino_av_fail(av, rc, r->name, "cannot decode the sound", err)
                        : sound_drain(r, err);
        }
        av->av_packet_unref(r->packet);
    }
    if (!st && av->avcodec_send_packet(r->codec, NULL) >= 0)
        st = sound_drain(r, err);
    return st;
}

static nino_status sound_open_codec(reader *r, nino_error *err)
{
    const nino_av *av = r->in.av;
    const AVCodecParameters *par = r->in.fmt->streams[r->stream]->codecpar;
    const AVCodec *c = av->avcodec_find_decoder(par->codec_id);
    if (!c)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, r->name, "no decoder for %s is installed",
                         av->avcodec_get_name(par->codec_id));
    if (!(r->codec = av->avcodec_alloc_context3(c)) || !(r->packet = av->av_packet_alloc()) ||
        !(r->frame = av->av_frame_alloc()))
        return sound_no_memory(r->name, err);
    int rc = av->avcodec_parameters_to_context(r->codec, par);
    if (rc >= 0)
        rc = av->avcodec_open2(r->codec, c, NULL);
    return rc < 0 ? nino_av_fail(av, rc, r->name, "cannot decode the sound", err) : NINO_OK;
}

static nino_status sound_make(const reader *r, size_t n, nino_sound *out, nino_error *err)
{
    out->wave = nino_array_create(NINO_F32, NINO_SHAPE(1, r->channels, (int64_t) n));
    if (!out->wave)
        return sound_no_memory(r->name, err);
    out->rate = r->rate;
    for (size_t i = 0; r->v && i < n; i++)
        for (size_t k = 0; k < (size_t) r->channels; k++)
            nino_array_f32(out->wave)[k * n + i] = r->v[i * (size_t) r->channels + k];
    return NINO_OK;
}

static nino_status sound_read(reader *r, bool sizes_only, nino_sound *out, nino_error *err)
{
    nino_status st = nino_av_input_open(&r->in, r->name, err);
    if (st)
        return st;
    r->stream = r->in.av->av_find_best_stream(r->in.fmt, AVMEDIA_TYPE_AUDIO, -1, -1, NULL, 0);
    if (r->stream < 0)
        return NINO_OK;
    const AVCodecParameters *par = r->in.fmt->streams[r->stream]->codecpar;
    r->channels = par->ch_layout.nb_channels;
    r->rate = par->sample_rate;
    if (r->channels < 1 || r->channels > MAX_CHANNELS || r->rate < 1)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "limit", r->name,
                              "a sound of %d channels at %d Hz is not read", r->channels, r->rate);
    if (sizes_only) {
        const double n = (double) r->in.fmt->duration / AV_TIME_BASE * r->rate;
        return sound_make(r, n >= 1 && n < 0x1p40 ? (size_t) n : 1, out, err);
    }
    st = sound_open_codec(r, err);
    if (!st)
        st = sound_decode(r, err);
    return !st && r->n ? sound_make(r, r->n, out, err) : st;
}

nino_status nino_sound_read(int fd, const char *name, bool sizes_only, nino_sound *out,
                            nino_error *err)
{
    reader r = { .name = name, .in = { .fd = fd, .len = lseek(fd, 0, SEEK_END) } };
    *out = (nino_sound){ 0 };
    if (r.in.len < 0)
        return nino_fail(err, NINO_ERR_IO, name, "cannot read the sound");
    const nino_status st = sound_read(&r, sizes_only, out, err);
    if (r.in.av) {
        r.in.av->av_frame_free(&r.frame);
        r.in.av->av_packet_free(&r.packet);
        r.in.av->avcodec_free_context(&r.codec);
    }
    nino_av_input_close(&r.in);
    free(r.v);
    return st;
}

// ---- another rate ----------------------------------------------------------------------------

#define CROSSINGS 6
#define ROLLOFF 0.99

static int64_t sound_divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t c = a % b;
        a = b;
        b = c;
    }
    return a;
}

// The filter of each of `to` phases: kernel [to][taps].
static void sound_kernel(int64_t from, int64_t to, int64_t reach, double base, float *kernel)
{
    const int64_t taps = 2 * reach + from;
    for (int64_t p = 0; p < to; p++)
        for (int64_t i = 0; i < taps; i++) {
            double t = base * ((double) (i - reach) / (double) from - (double) p / (double) to);
            t = fmin(fmax(t, -CROSSINGS), CROSSINGS);
            const double half = cos(t * M_PI / CROSSINGS / 2), a = t * M_PI;
            const double sinc = t == 0 ? 1 : sin(a) / a;
            kernel[p * taps + i] = (float) (sinc * half * half * base / (double) from);
        }
}

nino_status nino_sound_resample(const nino_array *wave, int from_rate, int to_rate,
                                nino_array **out, nino_error *err)
{
    if (from_rate < 1 || to_rate < 1)
        return nino_fail(err, NINO_ERR_ARG, "audio", "no sound has %d samples a second",
                         from_rate < 1 ? from_rate : to_rate);
    const int64_t g = sound_divisor(from_rate, to_rate), from = from_rate / g, to = to_rate / g;
    const double base = (double) (from < to ? from : to) * ROLLOFF;
    const int64_t reach = (int64_t) ceil(CROSSINGS * (double) from / base);
    const int64_t taps = 2 * reach + from, n = wave->shape.dim[2];
    const int64_t rows = wave->shape.dim[0] * wave->shape.dim[1], m = (n * to + from - 1) / from;
    float *kernel = calloc((size_t) (to * taps) + 1, sizeof(*kernel));
    nino_array *a =
        nino_array_create(NINO_F32, NINO_SHAPE(wave->shape.dim[0], wave->shape.dim[1], m));
    if (!kernel || !a) {
        free(kernel);
        nino_array_unref(&a);
        return sound_no_memory("audio", err);
    }
    sound_kernel(from, to, reach, base, kernel);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < m; i++) {
            const float *x = nino_array_f32(wave) + r * n, *k = kernel + i % to * taps;
            const int64_t first = i / to * from - reach;
            double sum = 0;
            for (int64_t t = first < 0 ? -first : 0; t < taps && first + t < n; t++)
                sum += (double) x[first + t] * (double) k[t];
            nino_array_f32(a)[r * m + i] = (float) sum;
        }
    free(kernel);
    *out = a;
    return NINO_OK;
}
