// What reading and writing pictures, clips and sounds takes of the heap is given back, that of libraries, too:
// done again and again, it does not grow.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/media/image.h"
#include "core/media/label.h"
#include "core/media/png.h"
#include "core/media/video.h"
#include "core/workflow/workflow.h"
#include "tests/picture.h"
#include "tests/vae.h"
#include <ninodes/picture.h>

enum { W = 24, H = 16 };
static nino_error err;
static test_dir dir;
static uint8_t rgba[3 * W * H * 4];
static const char prompt[] = "{\"1\": {\"class_type\": \"EmptyImage\", \"inputs\": {}}}";
static const nino_meta texts[] = { { "prompt", prompt, sizeof(prompt) - 1 }, { "note", "n", 1 } };

static const char *path_of(const char *name)
{
    static char path[200];
    snprintf(path, sizeof(path), "%s/%s", dir.path, name);
    return path;
}

// What libraries keep for the next time they take in the first rounds; then some come that take nothing.
static void steady(const char *what, void (*fn)(int k), int k)
{
    enum { ROUNDS = 40, STILL = 3 };
    size_t grown = 0;
    int still = 0;
    for (int round = 0; round < ROUNDS && still < STILL; round++) {
        const size_t had = mallinfo2().uordblks;
        for (int i = 0; i < 3; i++)
            fn(k);
        const size_t now = mallinfo2().uordblks;
        grown = now > had ? now - had : 0;
        still = grown ? 0 : still + 1;
    }
    if (still < STILL)
        fprintf(stderr, "%s, %d: %zu bytes more each time\n", what, k, grown / 3);
    CHECK(still == STILL);
}

// ---- clips and sounds ------------------------------------------------------------------------

static const char *const clips[] = { "a.mp4", "a.webm", "a.webp", "a.png" };

static nino_sound sound_of(void)
{
    nino_sound s = { nino_array_create(NINO_F32, NINO_SHAPE(1, 2, 4800)), 48000 };
    CHECK(s.wave);
    memset(s.wave->data, 0, s.wave->bytes);
    return s;
}

static void write_clip(int format)
{
    nino_sound s = sound_of();
    const nino_video_params p = { .format = (nino_video_format) format,
                                  .width = W,
                                  .height = H,
                                  .fps = 10,
                                  .crf = 40,
                                  .quality = 50,
                                  .sound = format == NINO_VIDEO_MP4 ? &s : NULL,
                                  .texts = texts,
                                  .n_texts = 2 };
    nino_file_writer *file = NULL;
    nino_video *v = NULL;
    CHECK_OK(nino_file_writer_open(dir.path, clips[format], true, &file, &err), err);
    CHECK_OK(nino_video_create(file, &p, &v, &err), err);
    for (int i = 0; i < 2; i++)
        CHECK_OK(nino_video_add(v, rgba + i * W * H, &err), err);
    CHECK_OK(nino_video_finish(&v, &err), err);
    CHECK_OK(nino_file_writer_commit(&file, false, &err), err);
    nino_sound_release(&s);
}

static void give_up_clip(int format)
{
    const nino_video_params p = { .format = (nino_video_format) format,
                                  .width = W,
                                  .height = H,
                                  .fps = 10,
                                  .texts = texts,
                                  .n_texts = 2 };
    nino_file_writer *file = NULL;
    nino_video *v = NULL;
    CHECK_OK(nino_file_writer_open(dir.path, "none", true, &file, &err), err);
    CHECK_OK(nino_video_create(file, &p, &v, &err), err);
    CHECK_OK(nino_video_add(v, rgba, &err), err);
    nino_video_abort(&v);
    nino_file_writer_abort(&file);
}

static void read_clip(int format)
{
    nino_picture p = { 0 };
    CHECK_OK(nino_picture_load(path_of(clips[format]), &p, &err), err);
    CHECK(p.frames == 2);
    nino_picture_release(&p);
}

static void read_video(int format)
{
    nino_video_info info;
    nino_array *a = NULL;
    const int fd = open(path_of(clips[format]), O_RDONLY);
    CHECK(fd >= 0);
    CHECK_OK(nino_video_read(fd, "x", &info, &a, &err), err);
    nino_video_info_release(&info);
    nino_array_unref(&a);
    CHECK_OK(nino_video_read(fd, "x", &info, NULL, &err), err);
    nino_video_info_release(&info);
    close(fd);
}

static void write_sound(int unused)
{
    nino_sound s = sound_of();
    nino_file_writer *file = NULL;
    (void) unused;
    CHECK_OK(nino_file_writer_open(dir.path, "a.flac", true, &file, &err), err);
    CHECK_OK(nino_sound_write(file, &s, 0, texts, 2, &err), err);
    CHECK_OK(nino_file_writer_commit(&file, false, &err), err);
    nino_sound_release(&s);
}

static void read_sound(int sizes_only)
{
    nino_sound s = { 0 };
    const int fd = open(path_of("a.flac"), O_RDONLY);
    CHECK(fd >= 0);
    CHECK_OK(nino_sound_read(fd, "x", sizes_only, &s, &err), err);
    CHECK(s.wave);
    nino_sound_release(&s);
    close(fd);
}

// The workflow of each of them; of the last one, which has none, only that.
static void load_graph(int which)
{
    static const char *const files[] = {
        "a.mp4", "a.webm", "a.webp", "a.png", "a.flac", "none.png"
    };
    nino_graph *g = nino_graph_load_file(path_of(files[which]), &err);
    CHECK(!g == (which == 5));
    nino_graph_destroy(&g);
}

// ---- pictures --------------------------------------------------------------------------------

static nino_buf made[4]; // PNG, JPEG, WebP, an animated WebP

static void make_pictures(void)
{
    const exif_entry e[] = { { 0x0110, 2, "prompt:{}", 0, 0 }, { 0x0112, 3, NULL, 0, 6 } };
    nino_buf exif = exif_make(e, 2, 0, false);
    CHECK_OK(nino_png_encode(&made[0], rgba, W, H, 4, 8, texts, 2, &err), err);
    made[1] = jpeg_make(rgba, W, H, 3, true, &exif);
    made[2] = webp_make(rgba, W, H, 1, true, &exif);
    made[3] = webp_make(rgba, W, H, 3, true, &exif);
    nino_buf_release(&exif);
    nino_buf none = { 0 };
    CHECK_OK(nino_png_encode(&none, rgba, W, H, 4, 8, NULL, 0, &err), err);
    CHECK_OK(nino_file_save(dir.path, "none.png", true, none.data, none.len, &err), err);
    nino_buf_release(&none);
}

static void read_picture(int k)
{
    nino_image i;
    CHECK_OK(nino_image_read(made[k].data, made[k].len, "x", true, &i, &err), err);
    CHECK(i.pixels && i.texts.n >= 1);
    nino_image_release(&i);
    CHECK_OK(nino_image_read(made[k].data, made[k].len, "x", false, &i, &err), err);
    nino_image_release(&i);
}

// Cut in the midst of its pixels.
static void read_half(int k)
{
    nino_image i;
    const nino_status st = nino_image_read(made[k].data, made[k].len * 3 / 4, "x", true, &i, &err);
    (void) st; // of some the first rows are taken
    nino_image_release(&i);
}

static void write_pictures(int unused)
{
    nino_buf b = { 0 };
    (void) unused;
    CHECK_OK(nino_jpeg_encode(&b, rgba, W, H, 90, &err), err);
    nino_buf_release(&b);
    CHECK_OK(nino_png_encode(&b, rgba, W, H, 4, 8, texts, 2, &err), err);
    nino_buf_release(&b);
}

static void write_letters(int unused)
{
    nino_font *f = nino_font_create(16, &err);
    (void) unused;
    CHECK(f);
    nino_font_draw(f, rgba, W, H, 0, 0, 255, "a\u0416\u4e2d", 6);
    nino_font_destroy(&f);
}

int main(void)
{
    static const char *const files[] = { "a.mp4",  "a.webm",   "a.webp", "a.png",
                                         "a.flac", "none.png", NULL };
    dir = test_dir_create();
    for (size_t i = 0; i < sizeof(rgba); i++)
        rgba[i] = (uint8_t) (i % 4 == 3 ? 255 : i * 7);
    make_pictures();
    for (int f = NINO_VIDEO_MP4; f <= NINO_VIDEO_APNG; f++)
        if (nino_video_codec((nino_video_format) f, NULL)) {
            steady("writing a clip", write_clip, f);
            steady("a clip that is given up", give_up_clip, f);
            steady("frames for showing", read_clip, f);
            if (f <= NINO_VIDEO_WEBM)
                steady("reading a clip", read_video, f);
            steady("a clip's workflow", load_graph, f);
        }
    if (nino_video_codec(NINO_VIDEO_MP4, NULL)) {
        steady("writing a sound", write_sound, 0);
        steady("reading a sound", read_sound, 0);
        steady("the length of a sound", read_sound, 1);
        steady("a sound's workflow", load_graph, 4);
    }
    steady("a picture without a workflow", load_graph, 5);
    for (int k = 0; k < 4; k++) {
        steady("reading a picture", read_picture, k);
        steady("half a picture", read_half, k);
        nino_buf_release(&made[k]);
    }
    steady("writing pictures", write_pictures, 0);
    steady("letters", write_letters, 0);
    test_dir_remove(&dir, files);
    return 0;
}
