// Clips and sounds with every allocation of ours failing, once and from there on: written in every
// format, read, cut and resampled.
#include "core/base/file.h"
#include "core/media/video.h"
#include "tests/oom.h"
#include "tests/vae.h"

#include <fcntl.h>

static test_dir dir;
static nino_sound tone;
static nino_video_format format;

static const nino_meta texts[] = { { "prompt", "{\"1\": 2}", 8 }, { "workflow", "{}", 2 } };

static void write_clip(int may_fail)
{
    const nino_video_params p = { .format = format,
                                  .width = 9,
                                  .height = 8,
                                  .fps = 8,
                                  .crf = 40,
                                  .quality = 50,
                                  .texts = texts,
                                  .n_texts = 2 };
    nino_error err = { 0 };
    nino_file_writer *file = NULL;
    nino_video *v = NULL;
    uint8_t rgb[9 * 8 * 3];
    nino_status st = nino_file_writer_open(dir.path, "clip", true, &file, &err);
    if (!st)
        st = nino_video_create(file, &p, &v, &err);
    for (int i = 0; i < 3 && !st; i++) {
        memset(rgb, 40 + 90 * i, sizeof(rgb));
        st = nino_video_add(v, rgb, &err);
    }
    if (!st)
        st = nino_video_finish(&v, &err);
    nino_video_abort(&v);
    if (!st)
        st = nino_file_writer_commit(&file, false, &err);
    nino_file_writer_abort(&file);
    oom_passed(st, &err, may_fail);
}

static void write_sound(int may_fail)
{
    nino_error err = { 0 };
    nino_file_writer *file = NULL;
    nino_status st = nino_file_writer_open(dir.path, "sound", true, &file, &err);
    if (!st)
        st = nino_sound_write(file, &tone, 0, texts, 2, &err);
    if (!st)
        st = nino_file_writer_commit(&file, false, &err);
    nino_file_writer_abort(&file);
    oom_passed(st, &err, may_fail);
}

static int open_file(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", dir.path, name);
    const int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    return fd;
}

static void read_clip(int may_fail)
{
    nino_error err = { 0 };
    nino_video_info info;
    nino_array *frames = NULL;
    const int fd = open_file("clip");
    if (oom_passed(nino_video_read(fd, "clip", &info, &frames, &err), &err, may_fail)) {
        CHECK(frames->shape.dim[0] == 3 && info.texts.n >= 2);
        nino_video_info_release(&info);
    }
    nino_array_unref(&frames);
    close(fd);
}

static void read_sound(int may_fail)
{
    nino_error err = { 0 };
    nino_sound s;
    for (int sizes_only = 0; sizes_only < 2; sizes_only++) {
        const int fd = open_file("sound");
        oom_passed(nino_sound_read(fd, "sound", sizes_only, &s, &err), &err, may_fail);
        nino_sound_release(&s);
        close(fd);
    }
}

static void change_sound(int may_fail)
{
    nino_error err = { 0 };
    nino_sound part;
    nino_array *other = NULL;
    if (oom_passed(nino_sound_cut(&tone, 10, 100, &part, &err), &err, may_fail))
        CHECK(part.wave->shape.dim[2] == 100 && part.rate == 8000);
    nino_sound_release(&part);
    if (oom_passed(nino_sound_resample(tone.wave, 8000, 6000, &other, &err), &err, may_fail))
        CHECK(other->shape.dim[2] == 2250);
    nino_array_unref(&other);
}

int main(void)
{
    static const char *const files[] = { "clip", "sound", NULL };
    dir = test_dir_create();
    tone = (nino_sound){ nino_array_create(NINO_F32, NINO_SHAPE(1, 2, 3000)), 8000 };
    CHECK(tone.wave);
    for (int64_t i = 0; i < 6000; i++)
        nino_array_f32(tone.wave)[i] = (float) (i % 50) / 50;
    for (int f = NINO_VIDEO_MP4; f <= NINO_VIDEO_APNG; f++) {
        format = (nino_video_format) f;
        if (!nino_video_codec(format, NULL)) {
            test_skip_part("a clip: no encoder");
            continue;
        }
        printf("  %s: %ld allocations\n", nino_video_extension(format), oom_each(write_clip));
        if (f <= NINO_VIDEO_WEBM)
            printf("  read: %ld\n", oom_each(read_clip));
    }
    printf("  cut, resampled: %ld\n", oom_each(change_sound));
    if (nino_video_codec(NINO_VIDEO_MP4, NULL)) {
        printf("  FLAC: %ld allocations\n", oom_each(write_sound));
        printf("  read: %ld\n", oom_each(read_sound));
    }
    nino_sound_release(&tone);
    test_dir_remove(&dir, files);
    return 0;
}
