// Clips out and in: sizes, rates, tags and pictures of every format come back; odd sizes, failures.
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/format/image.h"
#include "core/format/video.h"
#include "tests/test.h"

static nino_error err;
static char dir[] = "/tmp/ninodes-video-XXXXXX";

// A square of 8 pixels that moves right by 2 a frame over a grey slope.
static void draw(uint8_t *rgb, int w, int h, int frame)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++, rgb += 3) {
            const bool in = x >= 2 * frame && x < 2 * frame + 8 && y >= 8 && y < 16;
            rgb[0] = in ? 220 : (uint8_t) (60 + x);
            rgb[1] = in ? 40 : (uint8_t) (60 + x);
            rgb[2] = in ? 60 : (uint8_t) (60 + x);
        }
}

static const char prompt[] = "{\"1\": {\"class_type\": \"A\", \"inputs\": {\"t\": \"\u00e9\"}}}";
static const char workflow[] = "{\"nodes\": [], \"links\": []}";

static nino_status write_clip(nino_video_params p, int frames, const char *name)
{
    const nino_meta texts[] = { { "prompt", prompt, sizeof(prompt) - 1 },
                                { "workflow", workflow, sizeof(workflow) - 1 } };
    uint8_t *rgb = malloc((size_t) p.width * (size_t) p.height * 3);
    nino_file_writer *file = NULL;
    nino_video *v = NULL;
    p.texts = texts;
    p.n_texts = 2;
    CHECK(rgb);
    CHECK_OK(nino_file_writer_open(dir, name, true, &file, &err), err);
    nino_status st = nino_video_create(file, &p, &v, &err);
    for (int i = 0; i < frames && !st; i++) {
        draw(rgb, p.width, p.height, i);
        st = nino_video_add(v, rgb, &err);
    }
    if (!st)
        st = nino_video_finish(&v, &err);
    nino_video_abort(&v);
    if (!st)
        CHECK_OK(nino_file_writer_commit(&file, false, &err), err);
    nino_file_writer_abort(&file);
    free(rgb);
    return st;
}

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

// Mean difference of frame i from what was drawn, in 1/255.
static double off(const nino_array *a, int w, int h, int i)
{
    uint8_t *rgb = malloc((size_t) w * (size_t) h * 3);
    double sum = 0;
    CHECK(rgb);
    draw(rgb, w, h, i);
    const int64_t aw = a->shape.dim[2], ah = a->shape.dim[1], c = a->shape.dim[3];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int k = 0; k < 3; k++) {
                const float v = nino_array_f32(a)[((i * ah + y) * aw + x) * c + k];
                sum += fabs((double) v * 255 - rgb[(y * w + x) * 3 + k]);
            }
    free(rgb);
    return sum / (w * h * 3);
}

// MP4 and WebM lose a little; an odd size grows by a column or row.
static void containers(void)
{
    static const struct {
        nino_video_format format;
        const char *codec, *name;
        int w, h, n;
        double fps;
    } t[] = { { NINO_VIDEO_MP4, "h264", "a.mp4", 64, 48, 9, 16 },
              { NINO_VIDEO_MP4, "mpeg4", "b.mp4", 64, 48, 9, 24 },
              { NINO_VIDEO_MP4, NULL, "c.mp4", 51, 33, 5, 29.97 },
              { NINO_VIDEO_WEBM, "vp9", "d.webm", 64, 48, 9, 24 },
              { NINO_VIDEO_WEBM, "av1", "e.webm", 64, 64, 5, 12.5 } };
    for (size_t k = 0; k < sizeof(t) / sizeof(*t); k++) {
        const nino_video_params p = { .format = t[k].format,
                                      .codec = t[k].codec,
                                      .width = t[k].w,
                                      .height = t[k].h,
                                      .fps = t[k].fps,
                                      .crf = 10 };
        if (!nino_video_codec(t[k].format, t[k].codec)) {
            printf("  no encoder for %s here\n", t[k].codec ? t[k].codec : "MP4");
            continue;
        }
        CHECK_OK(write_clip(p, t[k].n, t[k].name), err);
        nino_video_info info;
        nino_array *a = NULL;
        const int fd = open(path_of(t[k].name), O_RDONLY);
        CHECK(fd >= 0);
        CHECK_OK(nino_video_read(fd, t[k].name, &info, &a, &err), err);
        close(fd);
        CHECK(info.width == (t[k].w + 1) / 2 * 2 && info.height == (t[k].h + 1) / 2 * 2);
        CHECK(a->shape.dim[0] == t[k].n && a->shape.dim[3] == 3);
        CHECK(fabs(info.fps - t[k].fps) < 0.01);
        CHECK_STR(nino_texts_find(&info.texts, "prompt")->value, prompt);
        CHECK_STR(nino_texts_find(&info.texts, "workflow")->value, workflow);
        for (int i = 0; i < t[k].n; i++)
            if (off(a, t[k].w, t[k].h, i) > 8) {
                printf("%s: frame %d is off by %g\n", t[k].name, i, off(a, t[k].w, t[k].h, i));
                CHECK(0);
            }
        nino_array_unref(&a);
        nino_video_info_release(&info);
    }
}

static nino_image read_image(const char *name)
{
    char *data = NULL;
    size_t len = 0;
    nino_image i = { 0 };
    CHECK_OK(nino_file_read(path_of(name), 1 << 24, false, &data, &len, &err), err);
    CHECK_OK(nino_image_read(data, len, name, true, &i, &err), err);
    free(data);
    return i;
}

// Lossless ones come back as they were, with the workflow where ComfyUI's readers look for it.
static void pictures(void)
{
    const nino_video_params webp = { .format = NINO_VIDEO_WEBP,
                                     .width = 51,
                                     .height = 33,
                                     .fps = 6,
                                     .is_lossless = true,
                                     .quality = 80,
                                     .method = 4 };
    CHECK_OK(write_clip(webp, 7, "f.webp"), err);
    nino_image i = read_image("f.webp");
    CHECK(i.frames == 7 && i.width == 51 && i.height == 33);
    for (int k = 0; k < 7; k++)
        CHECK(off(i.pixels, 51, 33, k) < 1e-4);
    CHECK_STR(nino_texts_find(&i.texts, "prompt")->value, prompt);
    CHECK_STR(nino_texts_find(&i.texts, "workflow")->value, workflow);
    nino_image_release(&i);

    const nino_video_params apng = {
        .format = NINO_VIDEO_APNG, .width = 51, .height = 33, .fps = 6, .level = 4
    };
    CHECK_OK(write_clip(apng, 7, "g.png"), err);
    i = read_image("g.png"); // a plain reader sees the first frame
    CHECK(i.width == 51 && i.height == 33 && off(i.pixels, 51, 33, 0) < 1e-4);
    CHECK(nino_texts_find(&i.texts, "workflow") && nino_texts_find(&i.texts, "prompt"));
    CHECK_STR(nino_texts_find(&i.texts, "workflow")->value, workflow);
    nino_image_release(&i);
}

static void failures(void)
{
    const nino_video_params none = { .format = NINO_VIDEO_APNG, .width = 8, .height = 8, .fps = 1 };
    CHECK(write_clip(none, 0, "none.png") == NINO_ERR_ARG && access(path_of("none.png"), F_OK));
    nino_video_params p = { .format = NINO_VIDEO_MP4, .width = 8, .height = 8, .fps = 0 };
    CHECK(write_clip(p, 1, "x.mp4") == NINO_ERR_ARG);
    p = (nino_video_params){ .format = NINO_VIDEO_WEBM, .width = 0, .height = 8, .fps = 1 };
    CHECK(write_clip(p, 1, "x.webm") == NINO_ERR_ARG);
    p = (nino_video_params){
        .format = NINO_VIDEO_MP4, .codec = "h266", .width = 8, .height = 8, .fps = 1
    };
    CHECK(write_clip(p, 1, "x.mp4") == NINO_ERR_UNSUPPORTED && access(path_of("x.mp4"), F_OK));
    nino_video_info info;
    const char junk[64] = "....ftypisom and nothing that follows";
    CHECK(nino_video_is(junk, sizeof(junk)) && !nino_video_is("{\"1\": {}}", 9));
    CHECK(nino_video_tags(junk, sizeof(junk), "junk.mp4", &info, &err) != NINO_OK);
    CHECK_STR(err.where, "junk.mp4");
}

int main(void)
{
    CHECK(mkdtemp(dir));
    pictures();
    if (nino_video_codec(NINO_VIDEO_MP4, NULL) || nino_video_codec(NINO_VIDEO_WEBM, NULL)) {
        containers();
        failures();
    }
    char cmd[64];
    snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
    CHECK(system(cmd) == 0);
    return 0;
}
