// Internal to video*.c: what a writer of one format is, and FFmpeg's libraries.
#pragma once
#include "core/media/video.h"

typedef struct nino_video_ops {
    nino_status (*start)(nino_video *v, nino_error *err);
    nino_status (*add)(nino_video *v, const uint8_t *rgb, nino_error *err);
    nino_status (*finish)(nino_video *v, nino_error *err);
    void (*destroy)(nino_video *v); // after finish or instead of it
} nino_video_ops;

struct nino_video {
    const nino_video_ops *ops;
    nino_video_params p; // texts only until start() returns
    nino_file_writer *file;
    int64_t n; // frames so far
    void *state;
};

extern const nino_video_ops nino_video_mux_ops, nino_video_webp_ops, nino_video_apng_ops;

// ---- FFmpeg (video_av.c) -----------------------------------------------------------------------
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wundef"
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
#include <libswscale/swscale.h>
#pragma GCC diagnostic pop

// clang-format off
#define NINO_AV_FORMAT(X) \
    X(avformat_alloc_output_context2) X(avformat_new_stream) X(avformat_write_header) \
    X(av_interleaved_write_frame) X(av_write_trailer) X(avformat_free_context) \
    X(avio_alloc_context) X(avio_context_free) X(avformat_alloc_context) X(avformat_open_input) \
    X(avformat_find_stream_info) X(av_find_best_stream) X(av_read_frame) X(avformat_close_input) \
    X(av_guess_frame_rate)
#define NINO_AV_CODEC(X) \
    X(avcodec_find_encoder_by_name) X(avcodec_alloc_context3) X(avcodec_free_context) \
    X(avcodec_open2) X(avcodec_send_frame) X(avcodec_receive_packet) \
    X(avcodec_parameters_from_context) X(avcodec_parameters_to_context) X(avcodec_find_decoder) \
    X(avcodec_send_packet) X(avcodec_receive_frame) X(av_packet_alloc) X(av_packet_free) \
    X(av_packet_unref) X(av_packet_rescale_ts) X(avcodec_get_name)
#define NINO_AV_UTIL(X) \
    X(av_frame_alloc) X(av_frame_free) X(av_frame_unref) X(av_frame_get_buffer) \
    X(av_frame_make_writable) X(av_dict_set) X(av_dict_get) X(av_dict_free) X(av_strerror) \
    X(av_malloc) X(av_free) X(av_log_set_level) X(av_sample_fmt_is_planar) \
    X(av_get_packed_sample_fmt)
#define NINO_AV_SCALE(X) \
    X(sws_getContext) X(sws_scale) X(sws_freeContext)
// clang-format on

typedef struct nino_av {
#define X(f) __typeof__(f) *f;
    NINO_AV_FORMAT(X) NINO_AV_CODEC(X) NINO_AV_UTIL(X) NINO_AV_SCALE(X)
#undef X
} nino_av;

// Loads the libraries once; NULL: NINO_ERR_UNSUPPORTED names what is missing. Thread-safe.
const nino_av *nino_av_load(nino_error *err);
// An error of theirs as ours.
nino_status nino_av_fail(const nino_av *av, int code, const char *where, const char *what,
                         nino_error *err);

// libswscale reads and writes whole vectors: up to so many bytes behind the last pixel of 8-bit RGB.
#define NINO_AV_BEHIND 256

// A container that is read, from a file or from memory.
typedef struct nino_av_input {
    int fd; // negative: memory
    const unsigned char *data;
    int64_t len, at;
    const nino_av *av;
    AVIOContext *io;
    AVFormatContext *fmt;
} nino_av_input;
// fd or data and len are the caller's, the rest becomes what it is. Closed also after a failure.
nino_status nino_av_input_open(nino_av_input *in, const char *name, nino_error *err);
void nino_av_input_close(nino_av_input *in);

// A container that is written.
typedef struct nino_av_output {
    const nino_av *av;
    nino_file_writer *file;
    AVIOContext *io;
    AVFormatContext *fmt;
    nino_status status;
    nino_error error; // what writing said: FFmpeg would only say "I/O error"
} nino_av_output;
// av is the caller's. Closed also after a failure.
nino_status nino_av_output_open(nino_av_output *o, nino_file_writer *file, const char *format,
                                nino_error *err);
// A failure of a call, or of the file behind it.
nino_status nino_av_output_fail(const nino_av_output *o, int code, const char *what,
                                nino_error *err);
void nino_av_output_close(nino_av_output *o);

// A stream of sound in it.
typedef struct nino_av_sound {
    AVCodecContext *codec;
    AVStream *stream;
    AVFrame *frame;
    AVPacket *packet;
} nino_av_sound;
nino_status nino_av_sound_open(nino_av_output *o, const nino_sound *s, const char *encoder,
                               nino_av_sound *out, nino_error *err); // before the header
nino_status nino_av_sound_write(nino_av_output *o, const nino_sound *s, nino_av_sound *to,
                                nino_error *err); // all of it, behind the header
void nino_av_sound_close(const nino_av *av, nino_av_sound *s);
