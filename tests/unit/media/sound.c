// Sounds out and in: FLAC files come back within their 16 bits with their tags; a video's sound is
// the one that it was given; files without one; what cannot be written.
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/media/video.h"
#include "core/workflow/workflow.h"
#include "tests/vae.h"

static nino_error err;
static test_dir dir;

static nino_sound tone(int rate, int64_t channels, int64_t n)
{
    nino_sound s = { nino_array_create(NINO_F32, NINO_SHAPE(2, channels, n)), rate };
    CHECK(s.wave);
    for (int64_t i = 0; i < 2 * channels * n; i++) { // each row has a pitch of its own
        const int row = (int) (i / n);
        const double turns = (110.0 + 55.0 * row) * (double) (i % n) / rate;
        nino_array_f32(s.wave)[i] = 0.8f * (float) sin(2 * M_PI * turns);
    }
    return s;
}

static int open_file(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", dir.path, name);
    const int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    return fd;
}

// Largest difference from row `row` of the batch on, of the samples first .. n.
static double off(const nino_sound *got, const nino_sound *want, int64_t row, int64_t first,
                  int64_t n)
{
    const int64_t c = got->wave->shape.dim[1], had = got->wave->shape.dim[2];
    const int64_t all = want->wave->shape.dim[2];
    double worst = 0;
    CHECK(n <= had && n <= all);
    for (int64_t k = 0; k < c; k++)
        for (int64_t i = first; i < n; i++)
            worst = fmax(worst, fabs((double) nino_array_f32(got->wave)[k * had + i] -
                                     (double) nino_array_f32(want->wave)[(row + k) * all + i]));
    return worst;
}

static void flac(void)
{
    static const nino_meta text = { "prompt", "{\"1\":\"\u00e9\"}", 10 };
    for (int channels = 1; channels <= 2; channels++) {
        nino_sound s = tone(22050, channels, 10007), got;
        nino_file_writer *file = NULL;
        CHECK_OK(nino_file_writer_open(dir.path, "a.flac", true, &file, &err), err);
        nino_array_f32(s.wave)[(channels * 10007) + 5] = 1.5f; // is cut
        CHECK_OK(nino_sound_write(file, &s, 1, &text, 1, &err), err);
        CHECK_OK(nino_file_writer_commit(&file, false, &err), err);
        nino_array_f32(s.wave)[(channels * 10007) + 5] = 32767 / 32768.0f;
        int fd = open_file("a.flac");
        CHECK_OK(nino_sound_read(fd, "a.flac", false, &got, &err), err);
        CHECK(got.rate == 22050 && got.wave->shape.dim[0] == 1);
        CHECK(got.wave->shape.dim[1] == channels && got.wave->shape.dim[2] == 10007);
        const double far = off(&got, &s, channels, 0, 10007);
        printf("  FLAC, %d channels: %.2f of the 16 bits' steps\n", channels, far * 32768);
        CHECK(far <= 0.51 / 32768);
        nino_sound_release(&got);
        CHECK_OK(nino_sound_read(fd, "a.flac", true, &got, &err), err); // as long, and silent
        CHECK(llabs(got.wave->shape.dim[2] - 10007) <= 2 && nino_array_f32(got.wave)[50] == 0);
        nino_sound_release(&got);
        close(fd);
        char *data = NULL, path[128];
        size_t len = 0;
        nino_video_info info;
        snprintf(path, sizeof(path), "%s/a.flac", dir.path);
        CHECK_OK(nino_file_read(path, 1 << 24, false, &data, &len, &err), err);
        CHECK_OK(nino_video_tags(data, len, "a.flac", &info, &err), err);
        const nino_text *t = nino_texts_find(&info.texts, "prompt");
        CHECK(t && !strcmp(t->value, "{\"1\":\"\u00e9\"}"));
        nino_video_info_release(&info);
        free(data);
        nino_sound_release(&s);
    }
}

static nino_status clip(const nino_sound *s, const char *name)
{
    const nino_video_params p = {
        .format = NINO_VIDEO_MP4, .width = 32, .height = 32, .fps = 10, .sound = s
    };
    uint8_t rgb[32 * 32 * 3] = { 0 };
    nino_file_writer *file = NULL;
    nino_video *v = NULL;
    CHECK_OK(nino_file_writer_open(dir.path, name, true, &file, &err), err);
    memset(&err, 0, sizeof(err));
    nino_status st = nino_video_create(file, &p, &v, &err);
    for (int i = 0; i < 5 && !st; i++)
        st = nino_video_add(v, rgb, &err);
    if (!st)
        st = nino_video_finish(&v, &err);
    nino_video_abort(&v);
    if (!st)
        CHECK_OK(nino_file_writer_commit(&file, false, &err), err);
    nino_file_writer_abort(&file);
    return st;
}

static double number_at(const char *p)
{
    const uint8_t *b = (const uint8_t *) p;
    return b[0] * 16777216.0 + b[1] * 65536.0 + b[2] * 256.0 + b[3];
}

// Every track of an MP4 file ("mdhd": version, two dates, ticks of a second, ticks) is that long, as players are told.
static void check_lengths(const char *name, int n_tracks, double seconds)
{
    char path[600], *data;
    size_t len;
    int n = 0;
    snprintf(path, sizeof(path), "%s/%s", dir.path, name);
    CHECK_OK(nino_file_read(path, 1 << 24, false, &data, &len, &err), err);
    for (size_t i = 0; i + 24 < len; i++)
        if (!memcmp(data + i, "mdhd\0", 5)) {
            const double s = number_at(data + i + 20) / number_at(data + i + 16);
            CHECK(s > seconds - 0.01 && s < seconds + 0.1);
            n++;
        }
    CHECK(n == n_tracks);
    free(data);
}

// AAC loses a little of tones, and more of their first block.
static void videos(void)
{
    nino_sound s = tone(24000, 2, 12000), got;
    CHECK_OK(clip(&s, "b.mp4"), err);
    check_lengths("b.mp4", 2, 0.5);
    int fd = open_file("b.mp4");
    CHECK_OK(nino_sound_read(fd, "b.mp4", false, &got, &err), err);
    CHECK(got.wave && got.rate == 24000 && got.wave->shape.dim[1] == 2);
    printf("  AAC: %lld samples of 12000, off by %.4f\n", (long long) got.wave->shape.dim[2],
           off(&got, &s, 0, 1024, 12000));
    CHECK(got.wave->shape.dim[2] >= 12000 && got.wave->shape.dim[2] < 12000 + 2048);
    CHECK(off(&got, &s, 0, 1024, 12000) < 0.06);
    nino_array *frames = NULL;
    nino_video_info info;
    CHECK_OK(nino_video_read(fd, "b.mp4", &info, &frames, &err), err);
    CHECK(frames->shape.dim[0] == 5 && fabs(info.fps - 10) < 0.01);
    nino_array_unref(&frames);
    nino_video_info_release(&info);
    nino_sound_release(&got);
    close(fd);
    CHECK_OK(clip(NULL, "c.mp4"), err); // silent
    fd = open_file("c.mp4");
    CHECK_OK(nino_sound_read(fd, "c.mp4", false, &got, &err), err);
    CHECK(!got.wave);
    close(fd);
    nino_sound_release(&s);
    s = tone(24000, 3, 100);
    CHECK(clip(&s, "d.mp4") == NINO_ERR_UNSUPPORTED && strstr(err.msg, "3 channels"));
    nino_sound_release(&s);
    s = tone(1234567, 1, 100);
    CHECK(clip(&s, "d.mp4") && err.msg[0] && !strchr(err.msg, '\n'));
    nino_sound_release(&s);
}

// A WAVE file of one moment: +1/2 left, -1/4 right, in samples of `bits` as integers (tag 1) or floats.
static size_t wave_file(uint8_t *buf, int tag, int bits)
{
    const double v[2] = { 0.5, -0.25 };
    const uint32_t bytes = (uint32_t) bits / 8, all = 2 * bytes, rate = 8000;
    const uint32_t head[] = { 0x46464952, 36 + all,   0x45564157,
                              0x20746d66, 16,         2u << 16 | (uint32_t) tag,
                              rate,       rate * all, (uint32_t) bits << 16 | all,
                              0x61746164, all };
    memcpy(buf, head, sizeof(head));
    for (int c = 0; c < 2; c++) {
        const float f = (float) v[c];
        const int64_t i =
            bits == 8 ? (int64_t) (v[c] * 128) + 128 : (int64_t) ldexp(v[c], bits - 1);
        const void *p = tag == 1 ? (const void *) &i : bits == 32 ? (const void *) &f : &v[c];
        memcpy(buf + sizeof(head) + (size_t) c * bytes, p, bytes);
    }
    return sizeof(head) + all;
}

// Every kind of sample comes to the same.
static void kinds_of_samples(void)
{
    static const int kinds[][2] = {
        { 1, 8 }, { 1, 16 }, { 1, 32 }, { 1, 64 }, { 3, 32 }, { 3, 64 }
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        uint8_t buf[64];
        nino_sound got;
        const size_t n = wave_file(buf, kinds[i][0], kinds[i][1]);
        CHECK_OK(nino_file_save(dir.path, "f.wav", true, buf, n, &err), err);
        const int fd = open_file("f.wav");
        CHECK_OK(nino_sound_read(fd, "f.wav", false, &got, &err), err);
        CHECK(got.rate == 8000 && got.wave && got.wave->shape.dim[1] == 2);
        CHECK(nino_array_f32(got.wave)[0] == 0.5f && nino_array_f32(got.wave)[1] == -0.25f);
        nino_sound_release(&got);
        close(fd);
    }
}

// A WAVE file of n channels at that rate, one moment of 16 bits each: channel k is k / 128.
static nino_status read_channels(int n, uint32_t rate, bool sizes_only, nino_sound *out)
{
    uint8_t buf[400];
    const uint32_t all = 2 * (uint32_t) n;
    const uint32_t head[] = { 0x46464952, 36 + all,   0x45564157,
                              0x20746d66, 16,         (uint32_t) n << 16 | 1,
                              rate,       rate * all, 16u << 16 | all,
                              0x61746164, all };
    memcpy(buf, head, sizeof(head));
    for (int k = 0; k < n; k++) {
        const int16_t v = (int16_t) (k * 256);
        memcpy(buf + sizeof(head) + 2 * k, &v, 2);
    }
    CHECK_OK(nino_file_save(dir.path, "f.wav", true, buf, sizeof(head) + all, &err), err);
    const int fd = open_file("f.wav");
    err = (nino_error){ 0 };
    const nino_status st = nino_sound_read(fd, "f.wav", sizes_only, out, &err);
    close(fd);
    return st;
}

// As many channels as are read, each its own, and as are written.
static void channels(void)
{
    nino_sound s;
    for (int n = 1; n <= 64; n += 21) {
        CHECK_OK(read_channels(n, 44100, false, &s), err);
        CHECK(s.rate == 44100 && s.wave->shape.rank == 3 && s.wave->shape.dim[0] == 1);
        CHECK(s.wave->shape.dim[1] == n && s.wave->shape.dim[2] == 1);
        for (int k = 0; k < n; k++)
            CHECK(nino_array_f32(s.wave)[k] == (float) k / 128);
        nino_sound_release(&s);
        CHECK(!s.wave && !s.rate);
        CHECK_OK(read_channels(n, 44100, true, &s), err); // never nothing
        CHECK(s.wave->shape.dim[1] == n && s.wave->shape.dim[2] == 1 && s.rate == 44100);
        nino_sound_release(&s);
    }
    CHECK(read_channels(65, 44100, false, &s) == NINO_ERR_FORMAT && !s.wave);
    CHECK_STR(err.msg, "a sound of 65 channels at 44100 Hz is not read");
    CHECK_STR(err.kind, "limit");
    s = tone(22050, 3, 10);
    nino_file_writer *file = NULL;
    CHECK_OK(nino_file_writer_open(dir.path, "none.flac", true, &file, &err), err);
    CHECK(nino_sound_write(file, &s, 0, NULL, 0, &err) == NINO_ERR_UNSUPPORTED);
    CHECK_STR(err.msg, "sounds of 3 channels are not written");
    nino_file_writer_abort(&file);
    nino_sound_release(&s);
}

// What is loud beyond the ends, and every step near nothing, comes back as the nearest of 16 bits.
static void steps(void)
{
    static const float in[] = { 0,        0.4f,  0.6f,  -0.4f, -0.6f,     1,      -1,
                                32766.6f, 32767, 32768, 40000, -32767.4f, -32768, -40000 },
                       out[] = { 0,     0,     1,     0,     -1,     1,      -1,
                                 32767, 32767, 32767, 32767, -32767, -32768, -32768 };
    enum { N = sizeof(in) / sizeof(in[0]) };
    nino_sound s = { nino_array_create(NINO_F32, NINO_SHAPE(2, 2, N)), 32000 }, got;
    nino_file_writer *file = NULL;
    CHECK(s.wave);
    for (int i = 0; i < 4 * N; i++) // each row another step further
        nino_array_f32(s.wave)[i] = in[(i + i / N) % N] / 32768;
    for (int item = 0; item < 2; item++) {
        CHECK_OK(nino_file_writer_open(dir.path, "a.flac", true, &file, &err), err);
        CHECK_OK(nino_sound_write(file, &s, item, NULL, 0, &err), err);
        CHECK_OK(nino_file_writer_commit(&file, false, &err), err);
        const int fd = open_file("a.flac");
        CHECK_OK(nino_sound_read(fd, "a.flac", false, &got, &err), err);
        close(fd);
        CHECK(got.rate == 32000 && got.wave->shape.dim[1] == 2 && got.wave->shape.dim[2] == N);
        for (int i = 0; i < 2 * N; i++)
            CHECK(nino_array_f32(got.wave)[i] == out[(i + i / N + 2 * item) % N] / 32768);
        nino_sound_release(&got);
    }
    nino_sound_release(&s);
}

// The workflow of a sound, and of a video with one; what is said of those that have none.
static void workflows(void)
{
    static const char prompt[] = "{\"1\":{\"class_type\":\"EmptyImage\",\"inputs\":{}}}",
                      ui[] = "{\"nodes\":[],\"links\":[]}";
    const nino_meta texts[] = { { "prompt", prompt, sizeof(prompt) - 1 },
                                { "workflow", ui, sizeof(ui) - 1 } };
    nino_sound s = tone(22050, 1, 100);
    for (int n = 0; n <= 2; n++) {
        char path[128];
        nino_file_writer *file = NULL;
        CHECK_OK(nino_file_writer_open(dir.path, "a.flac", true, &file, &err), err);
        CHECK_OK(nino_sound_write(file, &s, 0, texts, n, &err), err);
        CHECK_OK(nino_file_writer_commit(&file, false, &err), err);
        snprintf(path, sizeof(path), "%s/a.flac", dir.path);
        err = (nino_error){ 0 };
        nino_graph *g = nino_graph_load_file(path, &err);
        CHECK(!g == !n);
        CHECK_STR(err.msg, n ? "" : "no workflow in this sound");
        CHECK(n || !strcmp(err.kind, "unknown"));
        if (g) {
            CHECK(nino_graph_nodes(g, NULL, 0) == 1 && !nino_graph_ui_json(g, NULL) == (n == 1));
            CHECK(n == 1 || !strcmp(nino_graph_ui_json(g, NULL), ui));
        }
        nino_graph_destroy(&g);
    }
    char path[128];
    CHECK_OK(clip(&s, "b.mp4"), err);
    snprintf(path, sizeof(path), "%s/b.mp4", dir.path);
    CHECK(!nino_graph_load_file(path, &err));
    CHECK_STR(err.msg, "no workflow in this video");
    nino_sound_release(&s);
}

static void damaged(void)
{
    nino_sound got;
    nino_file_writer *file = NULL;
    CHECK_OK(nino_file_writer_open(dir.path, "e.flac", true, &file, &err), err);
    CHECK_OK(nino_file_writer_write(file, "no sound", 8, &err), err);
    CHECK_OK(nino_file_writer_commit(&file, false, &err), err);
    const int fd = open_file("e.flac");
    memset(&err, 0, sizeof(err));
    CHECK(nino_sound_read(fd, "e.flac", false, &got, &err) == NINO_ERR_FORMAT && !got.wave);
    CHECK(!strcmp(err.where, "e.flac") && !strchr(err.msg, '\n'));
    close(fd);
}

int main(void)
{
    static const char *const files[] = { "a.flac", "b.mp4", "c.mp4", "e.flac", "f.wav", NULL };
    if (!nino_video_codec(NINO_VIDEO_MP4, NULL)) {
        printf("no FFmpeg here\n");
        return 77;
    }
    dir = test_dir_create();
    flac();
    videos();
    kinds_of_samples();
    channels();
    steps();
    workflows();
    damaged();
    test_dir_remove(&dir, files);
    return 0;
}
