// Clips out and in: sizes, rates, tags and pictures of every format come back; odd sizes, failures.
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/media/image.h"
#include "core/media/png.h"
#include "core/media/video.h"
#include "core/media/video_priv.h"
#include "tests/test.h"
#include <ninodes/picture.h>

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

// Mean difference of frame i from what was drawn, in 1/255, of its worst column: a scaler may leave
// out the last ones.
static double off(const nino_array *a, int w, int h, int i)
{
    uint8_t *rgb = malloc((size_t) w * (size_t) h * 3);
    double most = 0;
    CHECK(rgb);
    draw(rgb, w, h, i);
    const int64_t aw = a->shape.dim[2], ah = a->shape.dim[1], c = a->shape.dim[3];
    for (int x = 0; x < w; x++) {
        double sum = 0;
        for (int y = 0; y < h; y++)
            for (int k = 0; k < 3; k++) {
                const float v = nino_array_f32(a)[((i * ah + y) * aw + x) * c + k];
                sum += fabs((double) v * 255 - rgb[(y * w + x) * 3 + k]);
            }
        most = fmax(most, sum / (h * 3));
    }
    free(rgb);
    return most;
}

// WebM says how long a frame is shown, in ns (element 23 e3 83).
static void check_rate(const char *name, nino_video_format format, double fps)
{
    char *data = NULL;
    size_t len = 0;
    int n = 0;
    CHECK_OK(nino_file_read(path_of(name), 1 << 24, false, &data, &len, &err), err);
    for (size_t i = 0; i + 8 < len; i++) {
        const uint8_t *p = (const uint8_t *) data + i;
        if (memcmp(p, "\x23\xe3\x83\x84", 4))
            continue;
        const double ns = p[4] * 16777216.0 + p[5] * 65536.0 + p[6] * 256.0 + p[7];
        n += fabs(ns - 1e9 / fps) < 2;
    }
    CHECK(n == (format == NINO_VIDEO_WEBM));
    free(data);
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
        int fd = open(path_of(t[k].name), O_RDONLY);
        CHECK(fd >= 0);
        CHECK_OK(nino_video_read(fd, t[k].name, &info, &a, &err), err);
        close(fd);
        CHECK(info.width == (t[k].w + 1) / 2 * 2 && info.height == (t[k].h + 1) / 2 * 2);
        CHECK(a->shape.dim[0] == t[k].n && a->shape.dim[3] == 3);
        CHECK(fabs(info.fps - t[k].fps) < 0.01);
        CHECK(fabs(info.seconds - t[k].n / t[k].fps) < 0.002);
        CHECK(info.frames == (t[k].format == NINO_VIDEO_WEBM ? 0 : t[k].n));
        CHECK(!t[k].codec || !strcmp(info.codec, t[k].codec));
        check_rate(t[k].name, t[k].format, t[k].fps);
        CHECK_STR(nino_texts_find(&info.texts, "prompt")->value, prompt);
        CHECK_STR(nino_texts_find(&info.texts, "workflow")->value, workflow);
        for (int i = 0; i < t[k].n; i++)
            if (off(a, t[k].w, t[k].h, i) > 8) {
                printf("%s: frame %d is off by %g\n", t[k].name, i, off(a, t[k].w, t[k].h, i));
                CHECK(0);
            }
        nino_array_unref(&a);
        nino_video_info_release(&info);
        fd = open(path_of(t[k].name), O_RDONLY); // who asks for no pictures gets their number
        CHECK(fd >= 0);
        CHECK_OK(nino_video_read(fd, t[k].name, &info, NULL, &err), err);
        close(fd);
        CHECK(info.frames == t[k].n && info.texts.n >= 2);
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

// What cannot be asked for is refused by a line; so is a disk that is full after any number of bytes.
static void refusals(void)
{
    const nino_video_params webp = {
        .format = NINO_VIDEO_WEBP, .width = 8, .height = 8, .fps = 6, .quality = 101
    };
    CHECK(write_clip(webp, 1, "no.webp") == NINO_ERR_ARG);
    CHECK(strstr(err.msg, "quality 101, method 0 are out of range"));
    static const int sizes[][2] = { { 0, 8 }, { 8, 0 }, { 16385, 8 }, { 8, 16385 } };
    for (int i = 0; i < 4; i++) {
        const nino_video_params p = {
            .format = NINO_VIDEO_APNG, .width = sizes[i][0], .height = sizes[i][1], .fps = 1
        };
        CHECK(write_clip(p, 0, "no.png") == NINO_ERR_ARG && strstr(err.msg, "cannot write frames"));
    }
    const nino_video_params fast = {
        .format = NINO_VIDEO_APNG, .width = 8, .height = 8, .fps = 1001
    };
    CHECK(write_clip(fast, 1, "no.png") == NINO_ERR_ARG && strstr(err.msg, "1001 frames a second"));
    nino_video_abort(NULL);
    CHECK(access(path_of("no.webp"), F_OK) && access(path_of("no.png"), F_OK));
}

static void full_disk(void)
{
    struct rlimit had, few;
    CHECK(!getrlimit(RLIMIT_FSIZE, &had) && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    for (int f = NINO_VIDEO_MP4; f <= NINO_VIDEO_APNG; f++) {
        const nino_video_params p = { .format = (nino_video_format) f,
                                      .width = 16,
                                      .height = 16,
                                      .fps = 6,
                                      .crf = 40,
                                      .quality = 50 };
        rlim_t at = 0;
        int refused = 0;
        if (!nino_video_codec(p.format, NULL))
            continue;
        for (nino_status st = NINO_ERR_IO; st; at += 40) {
            few = had;
            few.rlim_cur = at;
            CHECK(!setrlimit(RLIMIT_FSIZE, &few));
            err = (nino_error){ 0 };
            st = write_clip(p, 2, "full");
            CHECK(!setrlimit(RLIMIT_FSIZE, &had));
            CHECK(!st || (err.code == NINO_ERR_IO && err.msg[0] && !strchr(err.msg, '\n')));
            CHECK(!st == !access(path_of("full"), F_OK));
            refused += st != NINO_OK;
        }
        CHECK(refused && !unlink(path_of("full")));
    }
    CHECK(signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
}

// What a file says that it is, by its first bytes.
static void containers_by_name(void)
{
    static const char *const t[][2] = { { "....ftypisom", "mp4" },
                                        { "....ftypqt  ", "mov" },
                                        { "\x1a\x45\xdf\xa3..webm", "webm" },
                                        { "\x1a\x45\xdf\xa3..matroska", "matroska" } };
    for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
        CHECK(nino_video_is(t[i][0], strlen(t[i][0])));
        CHECK_STR(nino_video_container(t[i][0], strlen(t[i][0])), t[i][1]);
    }
    CHECK(!nino_video_is("....ftyp", 8) && !nino_video_is("\x1a\x45", 2));
    CHECK(nino_sound_is("fLaC", 4) && nino_sound_is("OggS", 4) && nino_sound_is("ID3\4", 4));
    CHECK(!nino_sound_is("fLa", 3) && !nino_sound_is("RIFF", 4));
    const char far[80] = { 0x1a, 0x45, [70] = 'w', 'e', 'b', 'm' }; // too far behind to count
    CHECK_STR(nino_video_container(far, sizeof(far)), "matroska");
}

// Every container as frames for showing: how many, how fast, what is on them; only the first.
static void for_showing(void)
{
    static const struct {
        nino_video_format format;
        const char *name, *kind;
        double near;
    } t[] = { { NINO_VIDEO_MP4, "show.mp4", "video", 6 },
              { NINO_VIDEO_WEBM, "show.webm", "video", 6 },
              { NINO_VIDEO_WEBP, "show.webp", "webp", 4 },
              { NINO_VIDEO_APNG, "show.png", "apng", 0.01 } };
    for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
        const int w = 64, h = 48, n = 7;
        nino_picture p = { 0 };
        uint8_t rgb[64 * 48 * 3];
        if (t[i].format <= NINO_VIDEO_WEBM && !nino_video_codec(t[i].format, NULL))
            continue;
        CHECK_OK(write_clip((nino_video_params){ .format = t[i].format,
                                                 .width = w,
                                                 .height = h,
                                                 .fps = 12.5,
                                                 .crf = 20,
                                                 .quality = 90,
                                                 .level = 4 },
                            n, t[i].name),
                 err);
        CHECK_OK(nino_picture_load(path_of(t[i].name), &p, &err), err);
        CHECK(p.width == w && p.height == h && p.frames == n && !p.is_cut);
        CHECK_STR(p.format, t[i].kind);
        CHECK(fabs(p.fps - 12.5) < 0.1);
        for (int f = 0; f < n && p.frames == n; f++) {
            double sum = 0;
            draw(rgb, w, h, f);
            for (int k = 0; k < w * h; k++)
                for (int c = 0; c < 3; c++)
                    sum += abs(p.rgba[((size_t) f * w * h + (size_t) k) * 4 + (size_t) c] -
                               rgb[k * 3 + c]);
            CHECK(sum / (w * h * 3) <= t[i].near);
            CHECK(p.rgba[(size_t) f * w * h * 4 + 3] == 255);
        }
        nino_picture_release(&p);
        CHECK_OK(nino_picture_load_frames(path_of(t[i].name), 2, &p, &err), err);
        CHECK(p.frames == 2 && p.is_cut);
        nino_picture_release(&p);
        CHECK(!truncate(path_of(t[i].name), 200)); // damaged: an error or fewer frames, no crash
        if (!nino_picture_load(path_of(t[i].name), &p, &err))
            nino_picture_release(&p);
    }
}

static void put_frame(nino_buf *out, uint32_t *sequence, const uint32_t area[4], int dispose,
                      int blend, const uint8_t *rgba, bool is_first)
{
    nino_buf png = { 0 }, body = { 0 };
    uint8_t head[26] = { 0 };
    const uint32_t words[5] = { (*sequence)++, area[2], area[3], area[0], area[1] };
    for (int i = 0; i < 20; i++)
        head[i] = (uint8_t) (words[i / 4] >> (24 - 8 * (i % 4)));
    head[21] = 1; // 1/10 s
    head[23] = 10;
    head[24] = (uint8_t) dispose;
    head[25] = (uint8_t) blend;
    nino_png_put_chunk(out, "fcTL", head, sizeof(head));
    CHECK_OK(nino_png_encode(&png, rgba, (int) area[2], (int) area[3], 4, 8, NULL, 0, &err), err);
    for (size_t at = 8; at + 12 <= png.len;) {
        const uint8_t *p = (const uint8_t *) png.data + at;
        const size_t n = (size_t) p[0] << 24 | (size_t) p[1] << 16 | (size_t) p[2] << 8 | p[3];
        if (!memcmp(p + 4, "IDAT", 4)) {
            const uint8_t seq[4] = { 0, 0, 0, (uint8_t) *sequence };
            if (!is_first)
                nino_buf_add(&body, seq, 4);
            *sequence += !is_first;
            nino_buf_add(&body, p + 8, n);
        }
        at += n + 12;
    }
    nino_png_put_chunk(out, is_first ? "IDAT" : "fdAT", body.data, body.len);
    nino_buf_release(&body);
    nino_buf_release(&png);
}

// Frames that cover a part, lie over what is there, and go again.
static void parts_of_frames(void)
{
    static const uint8_t head[13] = { 0, 0, 0, 2, 0, 0, 0, 1, 8, 6 }, count[8] = { 0, 0, 0, 4 };
    static const uint8_t two[8] = { 200, 0, 0, 255, 0, 0, 200, 255 };
    static const uint8_t half[4] = { 0, 200, 0, 51 }, clear[4] = { 9, 9, 9, 0 };
    static const uint8_t seen[4][8] = { { 200, 0, 0, 255, 0, 0, 200, 255 },
                                        { 200, 0, 0, 255, 0, 40, 160, 255 },
                                        { 9, 9, 9, 0, 0, 0, 200, 255 },
                                        { 0, 0, 0, 0, 9, 9, 9, 0 } };
    const uint32_t all[4] = { 0, 0, 2, 1 }, right[4] = { 1, 0, 1, 1 }, left[4] = { 0, 0, 1, 1 },
                   outside[4] = { 2, 0, 1, 1 };
    for (int bad = 0; bad < 2; bad++) {
        nino_buf b = { 0 };
        uint32_t sequence = 0;
        nino_picture p = { 0 };
        nino_buf_add(&b, "\x89PNG\r\n\x1a\n", 8);
        nino_png_put_chunk(&b, "IHDR", head, sizeof(head));
        nino_png_put_chunk(&b, "acTL", count, sizeof(count));
        put_frame(&b, &sequence, all, 0, 0, two, true);
        put_frame(&b, &sequence, right, 2, 1, half, false);                 // over, then as before
        put_frame(&b, &sequence, bad ? outside : left, 1, 0, clear, false); // instead, then nothing
        put_frame(&b, &sequence, right, 0, 0, clear, false);
        nino_png_put_chunk(&b, "IEND", NULL, 0);
        CHECK_OK(nino_file_save(dir, "parts.png", true, b.data, b.len, &err), err);
        nino_buf_release(&b);
        const nino_status st = nino_picture_load(path_of("parts.png"), &p, &err);
        CHECK(st == (bad ? NINO_ERR_FORMAT : NINO_OK));
        if (bad)
            CHECK_STR(err.kind, "range");
        CHECK(bad || (p.frames == 4 && fabs(p.fps - 10) < 1e-9));
        CHECK(bad || !memcmp(p.rgba, seen, sizeof(seen)));
        nino_picture_release(&p);
    }
}

// Frames that are lower and narrower than the picture, each with pixels of its own; what lies around them, and
// what each leaves behind: itself, nothing, what was there before.
static void heights_of_frames(void)
{
    enum { SIDE = 4, FRAMES = 9, ROW = SIDE * 4 };
    static const uint8_t head[13] = { 0, 0, 0, SIDE, 0, 0, 0, SIDE, 8, 6 },
                         count[8] = { [3] = FRAMES };
    static const uint32_t areas[FRAMES][4] = { { 0, 0, 4, 4 }, { 1, 2, 3, 1 }, { 0, 1, 1, 3 },
                                               { 1, 1, 2, 2 }, { 2, 0, 2, 2 }, { 0, 0, 2, 1 },
                                               { 1, 1, 2, 3 }, { 3, 3, 1, 1 }, { 0, 2, 2, 2 } };
    static const int leaves[FRAMES] = { 0, 0, 0, 1, 0, 2, 1, 2, 0 };
    uint8_t want[FRAMES][SIDE * ROW], rgba[SIDE * ROW], now[SIDE * ROW] = { 0 };
    nino_buf b = { 0 };
    uint32_t sequence = 0;
    nino_picture p = { 0 };
    nino_buf_add(&b, "\x89PNG\r\n\x1a\n", 8);
    nino_png_put_chunk(&b, "IHDR", head, sizeof(head));
    nino_png_put_chunk(&b, "acTL", count, sizeof(count));
    for (int f = 0; f < FRAMES; f++) {
        const uint32_t *a = areas[f];
        for (uint32_t i = 0; i < a[2] * a[3] * 4; i++)
            rgba[i] = (uint8_t) (i % 4 == 3 ? 255 : 25 * f + (int) i);
        memcpy(want[f], now, sizeof(now));
        for (uint32_t y = 0; y < a[3]; y++) {
            memcpy(want[f] + (a[1] + y) * ROW + a[0] * 4, rgba + y * a[2] * 4, a[2] * 4);
            if (leaves[f] == 0)
                memcpy(now + (a[1] + y) * ROW + a[0] * 4, rgba + y * a[2] * 4, a[2] * 4);
            if (leaves[f] == 1)
                memset(now + (a[1] + y) * ROW + a[0] * 4, 0, a[2] * 4);
        }
        put_frame(&b, &sequence, a, leaves[f], 0, rgba, !f);
    }
    nino_png_put_chunk(&b, "IEND", NULL, 0);
    CHECK_OK(nino_file_save(dir, "heights.png", true, b.data, b.len, &err), err);
    CHECK_OK(nino_picture_load(path_of("heights.png"), &p, &err), err);
    CHECK(p.frames == FRAMES && p.width == SIDE && p.height == SIDE);
    CHECK(!memcmp(p.rgba, want, sizeof(want)));
    nino_picture_release(&p);
    nino_buf_release(&b);
}

int main(void)
{
    CHECK(mkdtemp(dir));
    pictures();
    refusals();
    full_disk();
    containers_by_name();
    for_showing();
    parts_of_frames();
    heights_of_frames();
    if (nino_video_codec(NINO_VIDEO_MP4, NULL) || nino_video_codec(NINO_VIDEO_WEBM, NULL)) {
        containers();
        failures();
    } else { // a library of FFmpeg is not here, and is named
        CHECK(!nino_av_load(&err) && !strncmp(err.where, "lib", 3));
        test_skip_part("no FFmpeg: MP4 and WebM");
    }
    char cmd[64];
    snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
    CHECK(system(cmd) == 0);
    return 0;
}
