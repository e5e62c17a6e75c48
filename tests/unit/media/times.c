// How long each frame of an animated PNG or WebP is shown, in the bytes of the file: whole milliseconds,
// which add up without a drift where the format lets them.
#include <math.h>

#include "core/base/file.h"
#include "core/media/video.h"
#include "tests/vae.h"

enum { W = 6, H = 5, FRAMES = 7 };
static nino_error err;
static test_dir dir;

static size_t write_clip(nino_video_format format, double fps, char **data)
{
    const nino_video_params p = {
        .format = format, .width = W, .height = H, .fps = fps, .is_lossless = true
    };
    uint8_t rgb[W * H * 3];
    char path[128];
    size_t len = 0;
    nino_file_writer *file = NULL;
    nino_video *v = NULL;
    CHECK_OK(nino_file_writer_open(dir.path, "a", true, &file, &err), err);
    CHECK_OK(nino_video_create(file, &p, &v, &err), err);
    for (int f = 0; f < FRAMES; f++) { // no two are alike, so that none is left out
        for (int i = 0; i < W * H * 3; i++)
            rgb[i] = (uint8_t) (f * 37 + i * 11);
        CHECK_OK(nino_video_add(v, rgb, &err), err);
    }
    CHECK_OK(nino_video_finish(&v, &err), err);
    CHECK_OK(nino_file_writer_commit(&file, false, &err), err);
    snprintf(path, sizeof(path), "%s/a", dir.path);
    CHECK_OK(nino_file_read(path, 1 << 20, false, data, &len, &err), err);
    return len;
}

static unsigned big(const char *s, int n)
{
    unsigned v = 0;
    for (int i = 0; i < n; i++)
        v = v << 8 | (unsigned char) s[i];
    return v;
}

static unsigned little(const char *s, int n)
{
    unsigned v = 0;
    for (int i = n; i-- > 0;)
        v = v << 8 | (unsigned char) s[i];
    return v;
}

// Every chunk of the animation: its number of frames, their sequence, sizes and times.
static void apng(double fps, unsigned ms)
{
    char *p = NULL;
    const size_t len = write_clip(NINO_VIDEO_APNG, fps, &p);
    unsigned sequence = 0, controls = 0, counts = 0, ends = 0;
    for (size_t at = 8; at + 12 <= len; at += big(p + at, 4) + 12) {
        const char *type = p + at + 4, *body = p + at + 8;
        if (!memcmp(type, "acTL", 4)) {
            CHECK(big(p + at, 4) == 8 && big(body, 4) == FRAMES && big(body + 4, 4) == 0);
            counts += !controls;
        } else if (!memcmp(type, "fcTL", 4)) {
            CHECK(big(p + at, 4) == 26 && big(body, 4) == sequence++);
            CHECK(big(body + 4, 4) == W && big(body + 8, 4) == H);
            CHECK(big(body + 12, 4) == 0 && big(body + 16, 4) == 0);
            CHECK(big(body + 20, 2) == ms && big(body + 22, 2) == 1000 && big(body + 24, 2) == 0);
            controls++;
        } else if (!memcmp(type, "fdAT", 4)) {
            CHECK(controls > 1 && big(body, 4) == sequence++);
        } else if (!memcmp(type, "IDAT", 4)) {
            CHECK(controls == 1);
        } else if (!memcmp(type, "IEND", 4)) {
            CHECK(at + 12 == len);
            ends++;
        }
    }
    CHECK(counts == 1 && controls == FRAMES && ends == 1 && sequence >= 2 * FRAMES - 1);
    free(p);
}

static void webp(double fps)
{
    char *p = NULL;
    const size_t len = write_clip(NINO_VIDEO_WEBP, fps, &p);
    int frames = 0;
    long past = 0;
    for (size_t at = 12; at + 8 <= len; at += 8 + (little(p + at + 4, 4) + 1) / 2 * 2)
        if (!memcmp(p + at, "ANMF", 4)) {
            const long next = lround(1000.0 * ++frames / fps);
            CHECK((long) little(p + at + 8 + 12, 3) == next - past);
            past = next;
        } else if (!memcmp(p + at, "ANIM", 4)) {
            CHECK(little(p + at + 12, 2) == 0); // for ever
        }
    CHECK(frames == FRAMES);
    free(p);
}

int main(void)
{
    static const char *const files[] = { "a", NULL };
    static const double fps[] = { 1, 6, 12.5, 24, 29.97, 60, 333, 1000, 0.5 };
    static const unsigned ms[] = { 1000, 167, 80, 42, 33, 17, 3, 1, 2000 };
    dir = test_dir_create();
    for (size_t i = 0; i < sizeof(fps) / sizeof(fps[0]); i++) {
        apng(fps[i], ms[i]);
        webp(fps[i]);
    }
    apng(0.01526, 65531);
    apng(0.015259, 65535);
    apng(1000.0 / 65536, 65535);
    apng(0.01, 65535); // there is no longer time
    test_dir_remove(&dir, files);
    return 0;
}
