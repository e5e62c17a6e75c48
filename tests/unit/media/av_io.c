// Where clips and sounds come from and go to: memory and descriptors that do not do what is asked, a full
// disk, pictures that change within a stream; sounds cut and at another rate.
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <jpeglib.h>

#include "core/base/file.h"
#include "core/media/image.h"
#include "core/media/video_priv.h"
#include "tests/vae.h"

static nino_error err;
static test_dir dir;

static nino_sound slope(int64_t channels, int64_t n)
{
    nino_sound s = { nino_array_create(NINO_F32, NINO_SHAPE(1, channels, n)), 8000 };
    CHECK(s.wave);
    for (int64_t i = 0; i < channels * n; i++)
        nino_array_f32(s.wave)[i] = (float) i / 1024;
    return s;
}

// ---- in ----------------------------------------------------------------------------------------

static void from_memory(void)
{
    nino_sound s = slope(1, 1000);
    nino_file_writer *file = NULL;
    char path[128], *data = NULL;
    size_t len = 0;
    unsigned char some[16];
    CHECK_OK(nino_file_writer_open(dir.path, "a.flac", true, &file, &err), err);
    CHECK_OK(nino_sound_write(file, &s, 0, NULL, 0, &err), err);
    CHECK_OK(nino_file_writer_commit(&file, false, &err), err);
    snprintf(path, sizeof(path), "%s/a.flac", dir.path);
    CHECK_OK(nino_file_read(path, 1 << 20, false, &data, &len, &err), err);
    nino_av_input in = { .fd = -1, .data = (unsigned char *) data, .len = (int64_t) len };
    CHECK_OK(nino_av_input_open(&in, "a.flac", &err), err);
    void *o = in.io->opaque;
    CHECK(in.io->seek(o, 0, AVSEEK_SIZE) == in.len);
    CHECK(in.io->seek(o, 4, SEEK_SET) == 4 && in.io->seek(o, 2, SEEK_CUR) == 6);
    CHECK(in.io->seek(o, -7, SEEK_CUR) == AVERROR(EINVAL) && in.at == 6);
    CHECK(in.io->seek(o, in.len + 1, SEEK_SET) == AVERROR(EINVAL) && in.at == 6);
    CHECK(in.io->seek(o, -5, SEEK_END) == in.len - 5);
    CHECK(in.io->read_packet(o, some, sizeof(some)) == 5 && !memcmp(some, data + len - 5, 5));
    CHECK(in.io->read_packet(o, some, sizeof(some)) == AVERROR_EOF);
    nino_av_input_close(&in);
    nino_av_input never = { .fd = -1 };
    nino_av_input_close(&never);
    nino_av_output nor = { .av = NULL };
    nino_av_output_close(&nor);
    free(data);
    nino_sound_release(&s);
}

// Descriptors from which nothing comes: a pipe has no length, and what is open for writing gives nothing.
static void from_nothing(void)
{
    int ends[2];
    nino_sound s;
    nino_video_info info;
    char path[128];
    CHECK(!pipe(ends));
    CHECK(nino_sound_read(ends[0], "pipe", false, &s, &err) == NINO_ERR_IO && !s.wave);
    CHECK_STR(err.where, "pipe");
    CHECK(nino_video_read(ends[0], "pipe", &info, NULL, &err) == NINO_ERR_IO);
    CHECK(!close(ends[0]) && !close(ends[1]));
    snprintf(path, sizeof(path), "%s/a.flac", dir.path);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK(nino_sound_read(fd, "a.flac", false, &s, &err) && !s.wave && err.msg[0]);
    CHECK(nino_video_read(fd, "a.flac", &info, NULL, &err) && err.msg[0]);
    CHECK(!close(fd));
}

// JPEGs one behind the other are a clip. A later picture of another size ends it; one whose colours are
// stored in another way does not.
static nino_status read_pictures(const nino_buf *a, const nino_buf *b, nino_array **frames)
{
    nino_video_info info = { 0 };
    const int fd = memfd_create("a.mjpeg", MFD_CLOEXEC);
    CHECK(fd >= 0);
    for (int i = 0; i < 6; i++) {
        const nino_buf *k = i < 3 ? a : b;
        CHECK(write(fd, k->data, k->len) == (ssize_t) k->len);
    }
    const nino_status st = nino_video_read(fd, "a.mjpeg", &info, frames, &err);
    if (!st)
        nino_video_info_release(&info);
    close(fd);
    return st;
}

// A grey picture of one channel.
static void grey_jpeg(nino_buf *out, int side, int value)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned char *data = NULL, row[64];
    unsigned long len = 0;
    JSAMPROW at = row;
    memset(row, value, sizeof(row));
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &data, &len);
    c.image_width = c.image_height = (JDIMENSION) side;
    c.input_components = 1;
    c.in_color_space = JCS_GRAYSCALE;
    jpeg_set_defaults(&c);
    jpeg_start_compress(&c, TRUE);
    for (int y = 0; y < side; y++)
        jpeg_write_scanlines(&c, &at, 1);
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    nino_buf_add(out, data, len);
    free(data);
}

static void changes(void)
{
    uint8_t rgb[64 * 64 * 3];
    nino_buf big = { 0 }, small = { 0 }, grey = { 0 };
    nino_array *frames = NULL;
    for (size_t i = 0; i < sizeof(rgb); i++)
        rgb[i] = i % 3 ? 40 : 200;
    CHECK_OK(nino_jpeg_encode(&big, rgb, 64, 64, 90, &err), err);
    CHECK_OK(nino_jpeg_encode(&small, rgb, 16, 16, 90, &err), err);
    grey_jpeg(&grey, 64, 90);
    CHECK_OK(read_pictures(&big, &grey, &frames), err);
    CHECK(frames->shape.dim[0] == 6 && frames->shape.dim[1] == 64 && frames->shape.dim[2] == 64);
    const int64_t n = 64 * 64 * 3;
    for (int i = 0; i < 6; i++)
        for (int64_t k = 0; k < n; k++) {
            const float v = nino_array_f32(frames)[i * n + k] * 255;
            CHECK(fabsf(v - (float) (i > 2 ? 90 : k % 3 ? 40 : 200)) < 6);
        }
    nino_array_unref(&frames);
    static const int others[][2] = { { 16, 16 }, { 16, 64 }, { 64, 16 }, { 80, 64 }, { 64, 80 } };
    uint8_t larger[80 * 80 * 3] = { 0 };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        nino_buf other = { 0 };
        CHECK_OK(nino_jpeg_encode(&other, larger, others[i][0], others[i][1], 90, &err), err);
        CHECK(read_pictures(&big, &other, &frames) == NINO_ERR_UNSUPPORTED && !frames);
        CHECK(strstr(err.msg, "the size of its frames"));
        nino_buf_release(&other);
    }
    CHECK(read_pictures(&small, &big, &frames) == NINO_ERR_UNSUPPORTED && !frames);
    nino_buf_release(&big);
    nino_buf_release(&small);
    nino_buf_release(&grey);
}

// ---- out ---------------------------------------------------------------------------------------

// What was refused once stays refused, with the line of the first time; positions are asked for with care.
static void onto_a_full_disk(void)
{
    struct rlimit had, few;
    nino_av_output o = { .av = nino_av_load(&err) };
    nino_file_writer *file = NULL;
    unsigned char some[8] = "1234567";
    CHECK(!getrlimit(RLIMIT_FSIZE, &had) && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    CHECK_OK(nino_file_writer_open(dir.path, "full", true, &file, &err), err);
    CHECK_OK(nino_av_output_open(&o, file, "mp4", &err), err);
    few = had;
    few.rlim_cur = 8;
    CHECK(o.io->write_packet(o.io->opaque, some, 8) == 8);
    CHECK(!setrlimit(RLIMIT_FSIZE, &few));
    CHECK(o.io->write_packet(o.io->opaque, some, 8) == AVERROR(EIO) && o.status == NINO_ERR_IO);
    CHECK(!setrlimit(RLIMIT_FSIZE, &had) && signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
    CHECK(o.io->write_packet(o.io->opaque, some, 8) == AVERROR(EIO));
    CHECK(nino_av_output_fail(&o, AVERROR(ENOMEM), "cannot write", NULL) == NINO_ERR_IO);
    err = (nino_error){ 0 };
    CHECK(nino_av_output_fail(&o, AVERROR(ENOMEM), "cannot write", &err) == NINO_ERR_IO);
    CHECK_STR(err.msg, o.error.msg);
    CHECK(o.io->seek(o.io->opaque, 0, AVSEEK_SIZE) == AVERROR(ENOSYS));
    CHECK(o.io->seek(o.io->opaque, -1, SEEK_SET) == AVERROR(EINVAL));
    CHECK(o.io->seek(o.io->opaque, 3, SEEK_SET) == 3);
    nino_av_output_close(&o);
    nino_file_writer_abort(&file);
}

static nino_status write_webp(int width, int n, nino_error *e)
{
    const nino_video_params p = {
        .format = NINO_VIDEO_WEBP, .width = width, .height = 1, .fps = 8, .quality = 50
    };
    uint8_t *rgb = calloc((size_t) width, 3);
    nino_file_writer *file = NULL;
    nino_video *v = NULL;
    CHECK(rgb);
    CHECK_OK(nino_file_writer_open(dir.path, "a.webp", true, &file, e), *e);
    CHECK_OK(nino_video_create(file, &p, &v, e), *e);
    nino_status st = NINO_OK;
    for (int i = 0; i < n && !st; i++)
        st = nino_video_add(v, rgb, e);
    nino_error later = { 0 };
    const nino_status end = nino_video_finish(&v, &later);
    CHECK(!st == !end && (!end || (later.msg[0] && !strchr(later.msg, '\n'))));
    if (st)
        nino_file_writer_abort(&file);
    else
        CHECK_OK(nino_file_writer_commit(&file, false, e), *e);
    free(rgb);
    return st;
}

// No EXIF where there is nothing to say; a picture wider than the format allows.
static void webp(void)
{
    char path[128], *data = NULL;
    size_t len = 0;
    CHECK_OK(write_webp(16, 2, &err), err);
    snprintf(path, sizeof(path), "%s/a.webp", dir.path);
    CHECK_OK(nino_file_read(path, 1 << 20, false, &data, &len, &err), err);
    CHECK(!memcmp(data + 8, "WEBP", 4) && !memmem(data, len, "EXIF", 4));
    free(data);
    CHECK(write_webp(16384, 1, &err) == NINO_ERR_FORMAT && strstr(err.msg, "cannot encode"));
}

static void wide_jpeg(void)
{
    nino_buf b = { 0 };
    uint8_t *rgb = calloc(65501, 3);
    CHECK(rgb && nino_jpeg_encode(&b, rgb, 65501, 1, 90, &err) == NINO_ERR_ARG && !b.len);
    CHECK(strstr(err.msg, "65500")); // what libjpeg says: the widest that there is
    nino_buf_release(&b);
    free(rgb);
}

// ---- sounds ------------------------------------------------------------------------------------

static void cut(void)
{
    static const struct {
        int64_t first, n, want_first, want_n;
    } cases[] = { { 0, 10, 0, 10 }, { 0, 99, 0, 10 }, { -3, 4, 0, 4 }, { 2, 3, 2, 3 },
                  { 7, 99, 7, 3 },  { 99, 1, 10, 0 }, { 4, -1, 4, 0 }, { 0, 9, 0, 9 } };
    nino_sound s = slope(2, 10), got;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_OK(nino_sound_cut(&s, cases[i].first, cases[i].n, &got, &err), err);
        CHECK(got.rate == 8000 && got.wave->shape.dim[1] == 2);
        CHECK(got.wave->shape.dim[2] == cases[i].want_n);
        for (int64_t k = 0; k < cases[i].want_n; k++)
            for (int64_t c = 0; c < 2; c++)
                CHECK(nino_array_f32(got.wave)[c * cases[i].want_n + k] ==
                      (float) (c * 10 + cases[i].want_first + k) / 1024);
        CHECK((got.wave == s.wave) == (cases[i].want_n == 10)); // all of it is the same
        nino_sound_release(&got);
    }
    nino_sound_release(&s);
}

// A slow wave stays what it is at every rate.
static void rates(void)
{
    static const int to[] = { 8000, 16000, 4000, 6000 };
    nino_sound s = slope(1, 4000);
    nino_array *a = NULL;
    for (int i = 0; i < 4000; i++)
        nino_array_f32(s.wave)[i] = (float) sin(2 * M_PI * 100 * i / 8000);
    for (int k = 0; k < 4; k++) {
        CHECK_OK(nino_sound_resample(s.wave, 8000, to[k], &a, &err), err);
        CHECK(a->shape.dim[2] == 4000 * (int64_t) to[k] / 8000);
        for (int i = to[k] / 20; i < to[k] * 9 / 20; i++) // not where it begins and ends
            CHECK(fabs((double) nino_array_f32(a)[i] - sin(2 * M_PI * 100 * i / to[k])) < 0.01);
        nino_array_unref(&a);
    }
    CHECK(nino_sound_resample(s.wave, 0, 8000, &a, &err) == NINO_ERR_ARG && !a);
    CHECK_STR(err.msg, "no sound has 0 samples a second");
    CHECK(nino_sound_resample(s.wave, 8000, -1, &a, &err) == NINO_ERR_ARG && !a);
    CHECK_STR(err.msg, "no sound has -1 samples a second");
    nino_sound_release(&s);
}

int main(void)
{
    static const char *const files[] = { "a.flac", "a.webp", NULL };
    if (!nino_video_codec(NINO_VIDEO_MP4, NULL))
        return test_skip("no FFmpeg here");
    dir = test_dir_create();
    from_memory();
    from_nothing();
    changes();
    onto_a_full_disk();
    webp();
    wide_jpeg();
    cut();
    rates();
    test_dir_remove(&dir, files);
    return 0;
}
