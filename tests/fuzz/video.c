// Clips and sounds: MP4, WebM, animated PNG and WebP, FLAC. What is taken has a size and texts that
// end; tags never need the pictures; what is refused says why.
#include "core/media/image.h"
#include "core/media/video.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>

const size_t fuzz_max_len = 16384;

const char *const fuzz_words[] = {
    "ftyp", "isom",       "moov",    "mvhd", "trak",     "mdia",   "stbl",
    "stsd", "stts",       "stsz",    "stco", "udta",     "meta",   "ilst",
    "keys", "data",       "comment", "moof", "fLaC",     "OggS",   "\x1a\x45\xdf\xa3",
    "webm", "SIMPLE_TAG", "acTL",    "fcTL", "fdAT",     "IEND",   "RIFF",
    "WEBP", "VP8X",       "ANIM",    "ANMF", "workflow", "prompt", NULL
};

static size_t seed_written(nino_video_format format, uint8_t *buf, size_t cap)
{
    static const nino_meta texts[] = { { "prompt", "{\"1\": 2}", 8 }, { "workflow", "{}", 2 } };
    const nino_video_params p = { .format = format,
                                  .width = 16,
                                  .height = 16,
                                  .fps = 8,
                                  .crf = 40,
                                  .quality = 50,
                                  .texts = texts,
                                  .n_texts = 2 };
    nino_error err = { 0 };
    nino_file_writer *w = NULL;
    nino_video *v = NULL;
    uint8_t rgb[16 * 16 * 3];
    CHECK_OK(nino_file_writer_open(fuzz_folder(), "seed", true, &w, &err), err);
    CHECK_OK(nino_video_create(w, &p, &v, &err), err);
    for (int i = 0; i < 2; i++) {
        memset(rgb, 40 + 90 * i, sizeof(rgb));
        CHECK_OK(nino_video_add(v, rgb, &err), err);
    }
    CHECK_OK(nino_video_finish(&v, &err), err);
    CHECK_OK(nino_file_writer_commit(&w, false, &err), err);
    char path[160];
    snprintf(path, sizeof(path), "%s/seed", fuzz_folder());
    FILE *f = fopen(path, "rb");
    CHECK(f);
    const size_t n = fread(buf, 1, cap, f);
    CHECK(n < cap && !fclose(f));
    return n;
}

// STREAMINFO of 44100 Hz and a Vorbis comment "prompt={}", without sound.
static size_t seed_flac(uint8_t *buf)
{
    static const uint8_t file[] = { 'f', 'L', 'a', 'C', 0,   0,   0,   34,  16,  0,   16,  0,  0, 0,
                                    0,   0,   0,   0,   10,  196, 66,  240, 0,   0,   0,   0,  0, 0,
                                    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,  0, 0,
                                    132, 0,   0,   22,  1,   0,   0,   0,   'x', 1,   0,   0,  0, 9,
                                    0,   0,   0,   'p', 'r', 'o', 'm', 'p', 't', '=', '{', '}' };
    memcpy(buf, file, sizeof(file));
    return sizeof(file);
}

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    nino_video_format formats[4];
    unsigned n = 0;
    for (int f = NINO_VIDEO_MP4; f <= NINO_VIDEO_APNG; f++) // what is installed here
        if (f > NINO_VIDEO_WEBM || nino_video_codec((nino_video_format) f, NULL))
            formats[n++] = (nino_video_format) f;
    if (i < n)
        return seed_written(formats[i], buf, cap);
    return i == n ? seed_flac(buf) : 0;
}

static void check_texts(const nino_texts *t)
{
    for (int i = 0; i < t->n; i++)
        CHECK(t->list[i].key[0] && !t->list[i].value[t->list[i].value_len]);
}

static void check_clip(const uint8_t *p, size_t n)
{
    nino_video_info info = { 0 };
    nino_error err = { 0 };
    if (nino_video_tags(p, n, "fuzz", &info, &err)) {
        CHECK(err.code && err.kind && err.msg[0] && !strchr(err.msg, '\n'));
        return;
    }
    check_texts(&info.texts);
    const bool is_small = info.width > 0 && info.width <= 64 && info.height <= 64;
    nino_video_info_release(&info);
    if (!is_small)
        return;
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    nino_array *frames = NULL;
    CHECK(fd >= 0 && write(fd, p, n) == (ssize_t) n);
    if (nino_video_read(fd, "fuzz", &info, &frames, &err)) {
        CHECK(!frames && err.code && err.msg[0]);
    } else {
        CHECK(frames && frames->shape.rank == 4 && frames->shape.dim[3] == 3);
        nino_video_info_release(&info);
    }
    nino_array_unref(&frames);
    close(fd);
}

static void check_pictures(const uint8_t *p, size_t n)
{
    nino_image i;
    nino_error err = { 0 };
    if (nino_image_read(p, n, "fuzz", false, &i, &err)) {
        CHECK(err.code && err.kind && err.msg[0]);
        return;
    }
    check_texts(&i.texts);
    const bool is_small = i.width <= 64 && i.height <= 64 && i.frames <= 16;
    nino_image_release(&i);
    if (is_small && !nino_image_read(p, n, "fuzz", true, &i, &err))
        nino_image_release(&i);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    if (nino_video_is(p, n) || nino_sound_is(p, n))
        check_clip(p, n);
    else
        check_pictures(p, n);
    return 0;
}
