// FFmpeg's libraries that fail: each of their calls in clips and sounds, out and in, says no once; a
// decoder whose frames change; libraries that are missing or lack a function. Every failure is one
// line, or the end of the file, which FFmpeg tells in the same way.
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/media/video_priv.h"
#include "tests/vae.h"

static test_dir dir;
static nino_av real;   // the functions themselves
static long at, calls; // the call that fails, 0 for none; calls so far
static int code;       // what those say that return a number
static long other_at;  // the frame decoded that is another than those before, 0 for none
static int other; // 0: it is wider, a sound is faster; 1: it is higher, a sound has more channels
static long decoded;

typedef struct sizes {
    int width, height, channels, rate;
    const char *says; // of the error
    int64_t duration; // in microseconds, 0: the truth
} sizes;
static const sizes *claim; // what a container says of its stream, NULL: the truth

static int fails(void) { return ++calls == at; }

// ---- functions of the same names that may fail --------------------------------------------------

#define POINTER(result, f, params, args)                                                           \
    static result fail_##f params { return fails() ? NULL : real.f args; }
#define NUMBER(f, params, args)                                                                    \
    static int fail_##f params { return fails() ? code : real.f args; }

POINTER(AVStream *, avformat_new_stream, (AVFormatContext * s, const AVCodec *c), (s, c))
POINTER(AVFormatContext *, avformat_alloc_context, (void), ())
POINTER(AVIOContext *, avio_alloc_context,
        (unsigned char *b, int n, int w, void *o, int (*r)(void *, uint8_t *, int),
         int (*p)(void *, uint8_t *, int), int64_t (*s)(void *, int64_t, int)),
        (b, n, w, o, r, p, s))
POINTER(const AVCodec *, avcodec_find_encoder_by_name, (const char *name), (name))
POINTER(const AVCodec *, avcodec_find_decoder, (enum AVCodecID id), (id))
POINTER(AVCodecContext *, avcodec_alloc_context3, (const AVCodec *c), (c))
POINTER(AVPacket *, av_packet_alloc, (void), ())
POINTER(AVFrame *, av_frame_alloc, (void), ())
POINTER(void *, av_malloc, (size_t n), (n))
POINTER(struct SwsContext *, sws_getContext,
        (int w, int h, enum AVPixelFormat f, int w2, int h2, enum AVPixelFormat f2, int flags,
         SwsFilter *a, SwsFilter *b, const double *p),
        (w, h, f, w2, h2, f2, flags, a, b, p))
NUMBER(avformat_alloc_output_context2,
       (AVFormatContext * *s, const AVOutputFormat *o, const char *f, const char *n), (s, o, f, n))
NUMBER(avformat_write_header, (AVFormatContext * s, AVDictionary **o), (s, o))
NUMBER(av_write_trailer, (AVFormatContext * s), (s))
NUMBER(avformat_find_stream_info, (AVFormatContext * s, AVDictionary **o), (s, o))
NUMBER(av_read_frame, (AVFormatContext * s, AVPacket *p), (s, p))
NUMBER(avcodec_open2, (AVCodecContext * s, const AVCodec *c, AVDictionary **o), (s, c, o))
NUMBER(avcodec_send_frame, (AVCodecContext * s, const AVFrame *f), (s, f))
NUMBER(avcodec_receive_packet, (AVCodecContext * s, AVPacket *p), (s, p))
NUMBER(avcodec_parameters_from_context, (AVCodecParameters * p, const AVCodecContext *s), (p, s))
NUMBER(avcodec_parameters_to_context, (AVCodecContext * s, const AVCodecParameters *p), (s, p))
NUMBER(avcodec_send_packet, (AVCodecContext * s, const AVPacket *p), (s, p))
NUMBER(av_frame_get_buffer, (AVFrame * f, int align), (f, align))
NUMBER(av_frame_make_writable, (AVFrame * f), (f))
NUMBER(av_dict_set, (AVDictionary * *d, const char *k, const char *v, int f), (d, k, v, f))

// These take what they are given also where they fail.
static int fail_avformat_open_input(AVFormatContext **s, const char *url, const AVInputFormat *f,
                                    AVDictionary **o)
{
    if (!fails())
        return real.avformat_open_input(s, url, f, o);
    real.avformat_free_context(*s);
    *s = NULL;
    return code;
}
static int fail_av_interleaved_write_frame(AVFormatContext *s, AVPacket *p)
{
    if (!fails())
        return real.av_interleaved_write_frame(s, p);
    real.av_packet_unref(p);
    return code;
}

static int fail_av_find_best_stream(AVFormatContext *s, enum AVMediaType t, int w, int r,
                                    const AVCodec **d, int f)
{
    const int i = fails() ? code : real.av_find_best_stream(s, t, w, r, d, f);
    if (i >= 0 && claim) {
        AVCodecParameters *p = s->streams[i]->codecpar;
        p->width = claim->width;
        p->height = claim->height;
        p->ch_layout.nb_channels = claim->channels;
        p->sample_rate = claim->rate;
        s->duration = claim->duration ? claim->duration : s->duration;
    }
    return i;
}

static int fail_avcodec_receive_frame(AVCodecContext *s, AVFrame *f)
{
    const int rc = fails() ? code : real.avcodec_receive_frame(s, f);
    if (!rc && ++decoded == other_at) {
        f->width += 2 * (other == 0 && s->codec_type == AVMEDIA_TYPE_VIDEO);
        f->height += 2 * (other == 1 && s->codec_type == AVMEDIA_TYPE_VIDEO);
        f->sample_rate += other == 0;
        f->ch_layout.nb_channels += other == 1;
    }
    return rc;
}

static void take_over(void)
{
    nino_error err = { 0 };
    nino_av *av = (nino_av *) nino_av_load(&err);
    CHECK_OK(av ? NINO_OK : err.code, err);
    real = *av;
#define X(f) av->f = fail_##f;
    X(avformat_new_stream)
    X(avformat_alloc_context)
    X(avio_alloc_context)
    X(avcodec_find_encoder_by_name)
    X(avcodec_find_decoder)
    X(avcodec_alloc_context3)
    X(av_packet_alloc)
    X(av_frame_alloc)
    X(av_malloc)
    X(sws_getContext)
    X(avformat_alloc_output_context2)
    X(avformat_write_header)
    X(av_write_trailer)
    X(avformat_find_stream_info)
    X(av_find_best_stream)
    X(av_read_frame)
    X(avcodec_open2)
    X(avcodec_send_frame)
    X(avcodec_receive_packet)
    X(avcodec_parameters_from_context)
    X(avcodec_parameters_to_context)
    X(avcodec_send_packet)
    X(av_frame_get_buffer)
    X(av_frame_make_writable)
    X(av_dict_set)
    X(avformat_open_input)
    X(av_interleaved_write_frame)
    X(avcodec_receive_frame)
#undef X
}

// ---- what is done with them ---------------------------------------------------------------------

static nino_sound tone(void)
{
    nino_sound s = { nino_array_create(NINO_F32, NINO_SHAPE(1, 2, 3000)), 8000 };
    CHECK(s.wave);
    for (int64_t i = 0; i < 6000; i++)
        nino_array_f32(s.wave)[i] = 0.5f * (float) sin(0.05 * (double) i);
    return s;
}

static nino_status write_clip(nino_video_format format, const char *codec, const char *name,
                              const nino_sound *s, nino_error *err)
{
    static const nino_meta text = { "prompt", "{}", 2 };
    const nino_video_params p = { .format = format,
                                  .codec = codec,
                                  .width = 9,
                                  .height = 8,
                                  .fps = 8,
                                  .crf = 40,
                                  .sound = s,
                                  .texts = &text,
                                  .n_texts = 1 };
    nino_file_writer *file = NULL;
    nino_video *v = NULL;
    uint8_t rgb[9 * 8 * 3];
    nino_status st = nino_file_writer_open(dir.path, name, true, &file, err);
    if (!st)
        st = nino_video_create(file, &p, &v, err);
    for (int i = 0; i < 2 && !st; i++) {
        memset(rgb, 40 + 90 * i, sizeof(rgb));
        st = nino_video_add(v, rgb, err);
    }
    if (!st)
        st = nino_video_finish(&v, err);
    nino_video_abort(&v);
    if (!st)
        st = nino_file_writer_commit(&file, false, err);
    nino_file_writer_abort(&file);
    return st;
}

static nino_status write_mp4(nino_error *err)
{
    nino_sound s = tone();
    const nino_status st = write_clip(NINO_VIDEO_MP4, "mpeg4", "a.mp4", &s, err);
    nino_sound_release(&s);
    return st;
}

static nino_status write_webm(nino_error *err)
{
    return write_clip(NINO_VIDEO_WEBM, "vp9", "a.webm", NULL, err);
}

static nino_status write_flac(nino_error *err)
{
    static const nino_meta text = { "prompt", "{}", 2 };
    nino_sound s = tone();
    nino_file_writer *file = NULL;
    nino_status st = nino_file_writer_open(dir.path, "a.flac", true, &file, err);
    if (!st)
        st = nino_sound_write(file, &s, 0, &text, 1, err);
    if (!st)
        st = nino_file_writer_commit(&file, false, err);
    nino_file_writer_abort(&file);
    nino_sound_release(&s);
    return st;
}

static int open_file(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", dir.path, name);
    const int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    return fd;
}

static nino_status read_clip(nino_error *err)
{
    const int fd = open_file("a.mp4");
    nino_video_info info;
    nino_array *frames = NULL;
    const nino_status st = nino_video_read(fd, "a.mp4", &info, &frames, err);
    CHECK(!st == (frames != NULL));
    if (!st)
        nino_video_info_release(&info);
    nino_array_unref(&frames);
    close(fd);
    return st;
}

static nino_status read_size(nino_error *err)
{
    const int fd = open_file("a.webm");
    nino_video_info info;
    const nino_status st = nino_video_read(fd, "a.webm", &info, NULL, err);
    CHECK(st || (info.width == 10 && info.height == 8));
    if (!st)
        nino_video_info_release(&info);
    close(fd);
    return st;
}

static nino_status read_sound(nino_error *err)
{
    const int fd = open_file("a.flac");
    nino_sound s;
    const nino_status st = nino_sound_read(fd, "a.flac", false, &s, err);
    nino_sound_release(&s);
    close(fd);
    return st;
}

// Each call fails once, as for want of memory, of sense and of a disk.
static void each(const char *what, nino_status (*run)(nino_error *err))
{
    static const int codes[] = { AVERROR(ENOMEM), AVERROR_INVALIDDATA, AVERROR(EIO) };
    nino_error err = { 0 };
    long refused = 0;
    at = calls = 0;
    CHECK_OK(run(&err), err);
    const long all = calls;
    for (long k = 1; k <= all; k++) {
        err = (nino_error){ 0 };
        at = k;
        calls = 0;
        code = codes[k % 3];
        const nino_status st = run(&err);
        CHECK(!st || (err.code == st && err.where[0] && err.msg[0] && !strchr(err.msg, '\n')));
        refused += st != NINO_OK;
    }
    at = calls = 0;
    CHECK_OK(run(&err), err);
    printf("  %s: %ld calls, %ld of them ended it with a line\n", what, all, refused);
    CHECK(refused > all / 2);
}

static void other_frames(void)
{
    nino_error err = { 0 };
    other_at = 2;
    for (other = 0; other < 2; other++) {
        decoded = 0;
        CHECK(read_clip(&err) == NINO_ERR_UNSUPPORTED && strstr(err.msg, "the size of its frames"));
        decoded = 0;
        CHECK(read_sound(&err) == NINO_ERR_UNSUPPORTED && strstr(err.msg, "channels of its sound"));
    }
    other_at = 0;
}

static void other_sizes(void)
{
    static const sizes clips[] = { { 0, 16, 2, 8000, "frames of 0 x 16 pixels", 0 },
                                   { 16, 0, 2, 8000, "frames of 16 x 0 pixels", 0 },
                                   { 16385, 16, 2, 8000, "frames of 16385 x 16 pixels", 0 },
                                   { 16, 16385, 2, 8000, "frames of 16 x 16385 pixels", 0 } };
    static const sizes sounds[] = { { 0, 0, 0, 8000, "a sound of 0 channels at 8000 Hz", 0 },
                                    { 0, 0, 65, 8000, "a sound of 65 channels at 8000 Hz", 0 },
                                    { 0, 0, 2, 0, "a sound of 2 channels at 0 Hz", 0 } };
    nino_error err = { 0 };
    for (size_t i = 0; i < sizeof(clips) / sizeof(clips[0]); i++) {
        claim = &clips[i];
        CHECK(read_clip(&err) == NINO_ERR_FORMAT && strstr(err.msg, claim->says));
        CHECK_STR(err.kind, "limit");
    }
    for (size_t i = 0; i < sizeof(sounds) / sizeof(sounds[0]); i++) {
        claim = &sounds[i];
        CHECK(read_sound(&err) == NINO_ERR_FORMAT && strstr(err.msg, claim->says));
        CHECK_STR(err.kind, "limit");
    }
    // a length that nobody knows, or could hold, is none
    static const sizes lengths[] = { { 0, 0, 2, 8000, "", INT64_MIN },
                                     { 0, 0, 2, 8000, "", INT64_MAX },
                                     { 0, 0, 2, 8000, "", 500000 } };
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        nino_sound s;
        const int fd = open_file("a.flac");
        claim = &lengths[i];
        CHECK_OK(nino_sound_read(fd, "a.flac", true, &s, &err), err);
        CHECK(s.wave->shape.dim[2] == (i < 2 ? 1 : 4000) && s.wave->shape.dim[1] == 2);
        nino_sound_release(&s);
        close(fd);
    }
    claim = NULL;
}

// ---- libraries that cannot be used --------------------------------------------------------------

// Without a descriptor left nothing can be loaded.
static int without_descriptors(void)
{
    struct rlimit had, none;
    nino_error err = { 0 };
    CHECK(!getrlimit(RLIMIT_NOFILE, &had));
    none = had;
    none.rlim_cur = 3;
    CHECK(!setrlimit(RLIMIT_NOFILE, &none));
    const nino_av *av = nino_av_load(&err);
    CHECK(!setrlimit(RLIMIT_NOFILE, &had));
    CHECK(!av && err.code == NINO_ERR_UNSUPPORTED && !strncmp(err.where, "libavutil.so.", 13));
    CHECK(!nino_video_codec(NINO_VIDEO_MP4, NULL));
    CHECK(!strcmp(nino_video_codec(NINO_VIDEO_WEBP, NULL), "webp"));
    CHECK(write_mp4(&err) == NINO_ERR_UNSUPPORTED && write_flac(&err) == NINO_ERR_UNSUPPORTED);
    CHECK(read_clip(&err) == NINO_ERR_UNSUPPORTED && read_sound(&err) == NINO_ERR_UNSUPPORTED);
    return 0;
}

static int with_another(void)
{
    nino_error err = { 0 };
    CHECK(!nino_av_load(&err) && err.code == NINO_ERR_UNSUPPORTED);
    CHECK(!strncmp(err.where, "libavutil.so.", 13) && strstr(err.msg, "need this library"));
    return 0;
}

static void child(const char *program, const char *mode, const char *library_path)
{
    const pid_t pid = fork();
    int status;
    CHECK(pid >= 0);
    if (!pid) {
        if (library_path)
            setenv("LD_LIBRARY_PATH", library_path, 1);
        execl(program, program, mode, dir.path, (char *) NULL);
        _exit(2);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status));
}

// A library of the right name that has none of the functions: libz, which is wherever pictures are read.
static void lacking(const char *program)
{
    Dl_info info;
    char name[64], path[512], command[1200];
    void *z = dlopen("libz.so.1", RTLD_NOW);
    const void *f = z ? dlsym(z, "zlibVersion") : NULL;
    if (!f || !dladdr(f, &info)) {
        test_skip_part("no libz.so.1");
        return;
    }
    snprintf(name, sizeof(name), "libavutil.so.%d", LIBAVUTIL_VERSION_MAJOR);
    snprintf(path, sizeof(path), "%s/%s", dir.path, name);
    snprintf(command, sizeof(command), "cp '%s' '%s'", info.dli_fname, path);
    CHECK(!system(command));
    child(program, "another", dir.path);
    CHECK(!unlink(path));
}

int main(int argc, char **argv)
{
    static const char *const files[] = { "a.mp4", "a.webm", "a.flac", NULL };
    if (argc == 3) {
        snprintf(dir.path, sizeof(dir.path), "%s", argv[2]);
        return !strcmp(argv[1], "none") ? without_descriptors() : with_another();
    }
    if (!nino_video_codec(NINO_VIDEO_MP4, "mpeg4") || !nino_video_codec(NINO_VIDEO_WEBM, "vp9"))
        return test_skip("no FFmpeg with MPEG-4 and VP9 here");
    dir = test_dir_create();
    take_over();
    each("MP4 with sound out", write_mp4);
    each("WebM out", write_webm);
    each("FLAC out", write_flac);
    each("MP4 in", read_clip);
    each("size of WebM", read_size);
    each("FLAC in", read_sound);
    other_frames();
    other_sizes();
    child(argv[0], "none", NULL);
    lacking(argv[0]);
    test_dir_remove(&dir, files);
    return 0;
}
