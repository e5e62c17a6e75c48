// Pictures of every kind: pixels, which way is up, the texts they carry, and refusals by kind.
#include "core/media/exif.h"
#include "core/media/frame_list.h"
#include "core/media/image.h"
#include "core/media/png.h"
#include "core/workflow/workflow.h"
#include "tests/picture.h"

#include <math.h>

static nino_error err;

static nino_image read_ok(const nino_buf *b, bool with_pixels)
{
    nino_image i;
    CHECK_OK(nino_image_read(b->data, b->len, "x", with_pixels, &i, &err), err);
    CHECK(!with_pixels == !i.pixels);
    return i;
}

static const char *read_kind(const void *data, size_t len, bool with_pixels)
{
    static char kind[32];
    nino_image i;
    const nino_status st = nino_image_read(data, len, "x", with_pixels, &i, &err);
    snprintf(kind, sizeof(kind), "%s", st ? err.kind : "ok");
    if (st)
        CHECK(err.msg[0] && !i.pixels);
    nino_image_release(&i);
    return kind;
}

// ---- EXIF ------------------------------------------------------------------------------------

enum { MAKE = 0x010f, MODEL = 0x0110, UP = 0x0112, COMMENT = 0x9286 };

static void check_exif(void)
{
    const exif_entry entries[] = {
        { MAKE, 2, "Workflow:{\"nodes\": []}", 0, 0 }, // any case
        { MODEL, 2, "prompt:{\"1\": \"caf\xc3\xa9\"}", 0, 0 },
        { UP, 3, NULL, 0, 6 },
        { 0x0131, 2, "GIMP 2.10", 0, 0 }, // no word and colon
        { 0x8298, 2, "a b: c", 0, 0 },    // neither
        { COMMENT, 7, "UNICODE\0{\0\"\0\351\0\"\0}\0", 18, 0 },
    };
    for (int big = 0; big < 2; big++) {
        nino_buf b = exif_make(entries, 5 + !big, !big, big);
        nino_texts t = { 0 };
        int up = 1;
        CHECK_OK(nino_exif_read(b.data, b.len, "x", &t, &up, &err), err);
        CHECK(up == 6 && t.n == 2 + !big);
        CHECK_STR(nino_texts_find(&t, "workflow")->value, "{\"nodes\": []}");
        CHECK_STR(nino_texts_find(&t, "prompt")->value, "{\"1\": \"caf\xc3\xa9\"}");
        if (!big)
            CHECK_STR(nino_texts_find(&t, "usercomment")->value, "{\"\xc3\xa9\"}");
        nino_texts_release(&t);
        // cut anywhere: refused, or what was whole is there
        for (size_t n = 0; n < b.len; n++) {
            const nino_status st = nino_exif_read(b.data, n, "x", &t, &up, &err);
            CHECK(st == NINO_OK || !strcmp(err.kind, n < 8 ? "syntax" : "truncated"));
            nino_texts_release(&t);
        }
        nino_buf_release(&b);
    }
    // a tag that ends behind the data is left out, the others stay; alone it is an error
    for (int n = 1; n <= 2; n++) {
        const exif_entry *e = n == 1 ? &entries[1] : entries;
        nino_buf b = exif_make(e, n, 0, false);
        nino_texts t = { 0 };
        int up = 1;
        b.data[10 + 12 * (n - 1) + 4 + 2] = 1; // 64 KiB longer
        const nino_status st = nino_exif_read(b.data, b.len, "x", &t, &up, &err);
        CHECK(n == 2 ? st == NINO_OK : st == NINO_ERR_FORMAT && strstr(err.msg, "tag 0x0110"));
        CHECK(t.n == n - 1 && !nino_texts_find(&t, "prompt"));
        nino_texts_release(&t);
        nino_buf_release(&b);
    }
    const exif_entry comments[] = {
        { COMMENT, 7, "ASCII\0\0\0prompt:{\"caf\xe9\"}", 23, 0 }, // latin-1
        { COMMENT, 7, "UNICODE\0\xfe\xff\0{\xd8\x3d\xde\x00\0}", 18, 0 },
        { COMMENT, 7, "\0\0\0\0\0\0\0\0a girl, Steps: 20", 25, 0 },
        { COMMENT, 7, "ASCII", 5, 0 },
    };
    static const char *const want[] = { "{\"caf\xc3\xa9\"}", "{\xf0\x9f\x98\x80}", NULL, NULL };
    for (int i = 0; i < 4; i++) {
        nino_buf b = exif_make(&comments[i], 1, 1, false);
        nino_texts t = { 0 };
        int up = 1;
        CHECK_OK(nino_exif_read(b.data, b.len, "x", &t, &up, &err), err);
        CHECK(t.n == (want[i] != NULL) && up == 1);
        if (want[i])
            CHECK_STR(t.list[0].value, want[i]);
        nino_texts_release(&t);
        nino_buf_release(&b);
    }
}

// ---- pixels ----------------------------------------------------------------------------------

enum { W = 19, H = 12 };

static void fill(uint8_t *p, int frames)
{
    for (int f = 0; f < frames; f++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++, p += 4) {
                p[0] = (uint8_t) (x * 13);
                p[1] = (uint8_t) (y * 20);
                p[2] = (uint8_t) (f * 90 + 30);
                p[3] = (uint8_t) (x < 5 ? 100 : 255);
            }
}

static void check_webp(void)
{
    uint8_t rgba[3 * W * H * 4];
    fill(rgba, 3);
    for (int frames = 1; frames <= 3; frames += 2)
        for (int alpha = 0; alpha < 2; alpha++) {
            if (!alpha)
                for (size_t i = 3; i < sizeof(rgba); i += 4)
                    rgba[i] = 255;
            else
                fill(rgba, 3);
            nino_buf b = webp_make(rgba, W, H, frames, alpha, NULL);
            nino_image i = read_ok(&b, true);
            const int c = i.channels;
            CHECK(i.width == W && i.height == H && i.frames == frames && c == 3 + alpha);
            for (int k = 0; k < frames * W * H * c; k++)
                CHECK(nino_array_f32(i.pixels)[k] == (float) rgba[k / c * 4 + k % c] / 255.0f);
            nino_image_release(&i);
            i = read_ok(&b, false);
            CHECK(i.width == W && i.height == H && i.frames == frames && i.channels == c);
            nino_image_release(&i);
            for (size_t n = 0; n < b.len; n++)
                CHECK(strcmp(read_kind(b.data, n, true), "ok"));
            nino_buf_release(&b);
        }
}

static void check_jpeg(void)
{
    uint8_t rgba[W * H * 4], p[W * H * 4];
    fill(rgba, 1);
    for (int c = 1; c <= 4; c += c == 1 ? 2 : 1)
        for (int progressive = 0; progressive < 2; progressive++) {
            for (int i = 0; i < W * H; i++)
                for (int k = 0; k < c; k++)
                    p[i * c + k] = k < 3 ? rgba[i * 4 + k] : 200;
            nino_buf b = jpeg_make(p, W, H, c, progressive, NULL);
            nino_image i = read_ok(&b, true);
            CHECK(i.width == W && i.height == H && i.channels == (c == 1 ? 1 : 3));
            for (int k = 0; k < W * H * i.channels; k++) {
                const int at = k / i.channels * c + k % i.channels;
                const float want = c < 4 ? p[at] : (float) p[at] * 200.0f / 255.0f; // ink inverted
                CHECK(fabsf(nino_array_f32(i.pixels)[k] * 255.0f - want) < 4.0f);
            }
            nino_image_release(&i);
            i = read_ok(&b, false);
            CHECK(i.width == W && i.height == H && i.channels == (c == 1 ? 1 : 3));
            nino_image_release(&i);
            // the last bytes are the end marker, which nobody misses
            for (size_t n = 0; n + 2 < b.len; n++)
                CHECK(strcmp(read_kind(b.data, n, true), "ok"));
            nino_buf_release(&b);
        }
}

// The number says where row 0 and column 0 of what is stored are in what is shown.
static void check_orientation(void)
{
    uint8_t rgba[W * H * 4];
    fill(rgba, 1);
    for (uint32_t up = 1; up <= 8; up++) {
        const exif_entry e = { UP, 3, NULL, 0, up };
        nino_buf exif = exif_make(&e, 1, 0, up & 1), b = webp_make(rgba, W, H, 1, true, &exif);
        nino_image i = read_ok(&b, true);
        CHECK(i.width == (up < 5 ? W : H) && i.height == (up < 5 ? H : W));
        for (int y = 0; y < i.height; y++)
            for (int x = 0; x < i.width; x++) {
                const int right = i.width - 1 - x, low = i.height - 1 - y;
                const int from[9][2] = { { 0, 0 },       { x, y },       { right, y },
                                         { right, low }, { x, low },     { y, x },
                                         { y, right },   { low, right }, { low, x } };
                const uint8_t *want = &rgba[(from[up][1] * W + from[up][0]) * 4];
                const float *got = nino_array_f32(i.pixels) + (y * i.width + x) * 4;
                for (int k = 0; k < 4; k++)
                    CHECK(got[k] == (float) want[k] / 255.0f);
            }
        nino_image_release(&i);
        i = read_ok(&b, false);
        CHECK(i.width == (up < 5 ? W : H));
        nino_image_release(&i);
        nino_buf_release(&b);
        b = jpeg_make(rgba, W, H, 3, false, &exif); // the numbers do not matter here
        i = read_ok(&b, true);
        CHECK(i.width == (up < 5 ? W : H));
        nino_image_release(&i);
        nino_buf_release(&b);
        nino_buf_release(&exif);
    }
}

static void check_refusals(void)
{
    CHECK_STR(read_kind("GIF89a", 6, true), "magic");
    CHECK_STR(read_kind("", 0, true), "magic");
    CHECK_STR(read_kind("\x89PNG\r\n\x1a\n", 8, true),
              "truncated"); // a beginning says what it is to be
    CHECK_STR(read_kind("\x89PNG\r\n\x1a\n\xff", 9, true), "truncated");
    CHECK_STR(read_kind("\x89PNG\r\n\x1a\r", 8, true), "magic");
    CHECK_STR(read_kind("\x89PNG\r\n\x1a", 7, true), "magic");
    CHECK_STR(read_kind("\xff\xd8", 2, true), "magic");
    CHECK_STR(read_kind("RIFF\4\0\0\0WEBP", 11, true), "magic");
    CHECK_STR(read_kind("\xff\xd8\xff", 3, true), "truncated");
    CHECK_STR(read_kind("RIFF\4\0\0\0WEBP", 12, true), "syntax");
    CHECK_STR(read_kind("RIFF\4\1\0\0WEBP", 12, true), "truncated");
    CHECK_STR(read_kind("\xff\xd8\xff\xc0\0\1", 6, true), "syntax");
    static const char large[] = "\xff\xd8\xff\xc0\0\x0b\x08\xff\xff\xff\xff\x01\1\x11\0"
                                "\xff\xda\0\x08\1\1\0\0\x3f\0";
    CHECK_STR(read_kind(large, sizeof(large) - 1, false), "ok");
    CHECK_STR(read_kind(large, sizeof(large) - 1, true), "limit");
    // texts that are damaged do not cost the picture
    uint8_t rgba[W * H * 4];
    fill(rgba, 1);
    nino_buf bad = { 0 };
    nino_buf_adds(&bad, "this is no EXIF");
    nino_buf b = webp_make(rgba, W, H, 1, true, &bad);
    CHECK_STR(read_kind(b.data, b.len, true), "ok");
    CHECK_STR(read_kind(b.data, b.len, false), "syntax");
    nino_buf_release(&b);
    b = jpeg_make(rgba, W, H, 3, false, &bad);
    CHECK_STR(read_kind(b.data, b.len, true), "ok");
    CHECK_STR(read_kind(b.data, b.len, false), "syntax");
    nino_buf_release(&b);
    nino_buf_release(&bad);
}

// ---- frame after frame -----------------------------------------------------------------------

typedef struct shown {
    int frames, most;
    double seconds;
} shown;

static nino_status show(void *priv, const nino_frame *f, bool *stop, nino_error *e)
{
    shown *s = priv;
    (void) e;
    CHECK(f->width == W && f->height == H && f->channels == 4);
    s->seconds += f->seconds;
    *stop = ++s->frames == s->most;
    return NINO_OK;
}

// How long a moving one takes, without a decoded pixel; cut anywhere it has fewer frames, or is refused.
static void check_moving(void)
{
    enum { FRAMES = 3 };
    uint8_t rgba[FRAMES * W * H * 4];
    fill(rgba, FRAMES);
    nino_buf b = webp_make(rgba, W, H, FRAMES, true, NULL),
             still = webp_make(rgba, W, H, 1, true, NULL);
    nino_timing t = nino_webp_timing(b.data, b.len);
    CHECK(nino_webp_is_moving(b.data, b.len) && t.frames == FRAMES && fabs(t.seconds - 0.3) < 1e-9);
    t = nino_webp_timing(still.data, still.len);
    CHECK(!nino_webp_is_moving(still.data, still.len) && !t.frames && t.seconds == 0);
    shown s = { 0 };
    CHECK_OK(nino_webp_frames(b.data, b.len, "x", show, &s, &err), err);
    CHECK(s.frames == FRAMES && fabs(s.seconds - 0.3) < 1e-9);
    s = (shown){ .most = 2 };
    CHECK_OK(nino_webp_frames(b.data, b.len, "x", show, &s, &err), err);
    CHECK(s.frames == 2);
    int frames = 0;
    for (size_t n = 0; n < b.len; n++) {
        s = (shown){ 0 };
        t = nino_webp_timing(b.data, n);
        CHECK(t.frames >= frames && t.frames < FRAMES && fabs(t.seconds - 0.1 * t.frames) < 1e-9);
        frames = t.frames;
        CHECK(nino_webp_frames(b.data, n, "x", show, &s, &err) == NINO_ERR_FORMAT);
        CHECK(s.frames < FRAMES && strstr(err.msg, "damaged"));
    }
    CHECK(frames == FRAMES - 1);
    // a frame too short to tell its time, one without the padding that its length asks for
    nino_buf odd = { 0 };
    nino_buf_add(&odd, b.data, 30);
    webp_chunk(&odd, "ANMF", "0123456789abcde", 15);
    webp_chunk(&odd, "ANMF", "0123456789ab\1\0\0\0x", 17);
    CHECK(nino_webp_timing(odd.data, odd.len).frames == 1);
    CHECK(nino_webp_timing(odd.data, odd.len - 1).frames == 1);
    CHECK(!nino_webp_timing(odd.data, odd.len - 2).frames);
    // one whose pixels are none
    char *second = memmem(b.data, b.len, "ANMF", 4);
    CHECK(second &&
          (second = memmem(second + 4, b.len - (size_t) (second + 4 - b.data), "ANMF", 4)));
    memset(second + 8 + 16 + 8, 0xff, 12);
    s = (shown){ 0 };
    CHECK(nino_webp_frames(b.data, b.len, "x", show, &s, &err) == NINO_ERR_FORMAT);
    CHECK(s.frames < 2 && strstr(err.msg, "damaged"));
    CHECK_STR(read_kind(b.data, b.len, true), "syntax");
    nino_buf_release(&odd);
    nino_buf_release(&b);
    nino_buf_release(&still);
}

// ---- workflows in pictures -------------------------------------------------------------------

#define PROMPT "{\"1\": {\"class_type\": \"Note\", \"inputs\": {}}}"
#define UI "{\"nodes\": [{\"id\": 7, \"type\": \"EmptyLatentImage\"}], \"links\": []}"

static nino_graph *open_graph(const void *data, size_t len)
{
    return nino_graph_load(data, len, "x", &err);
}

static void check_graph(nino_buf *b, const char *id, const char *ui)
{
    nino_graph_node n[2];
    nino_graph *g = open_graph(b->data, b->len);
    CHECK_OK(g ? NINO_OK : err.code, err);
    CHECK(nino_graph_nodes(g, n, 2) == 1);
    CHECK_STR(n[0].id, id);
    CHECK(!ui == !nino_graph_ui_json(g, NULL));
    if (ui)
        CHECK_STR(nino_graph_ui_json(g, NULL), ui);
    nino_graph_destroy(&g);
    nino_buf_release(b);
}

static void check_workflows(void)
{
    const exif_entry both[] = { { MAKE, 2, "workflow:" UI, 0, 0 },
                                { MODEL, 2, "prompt:" PROMPT, 0, 0 } };
    const exif_entry comment = { COMMENT, 7, "ASCII\0\0\0" UI, 8 + sizeof(UI), 0 };
    uint8_t rgba[W * H * 4];
    fill(rgba, 1);
    for (int kind = 0; kind < 2; kind++) {
        for (int which = 0; which < 4; which++) {
            nino_buf exif = which < 3 ? exif_make(&both[which == 2], which == 0 ? 2 : 1, 0, false)
                                      : exif_make(&comment, 1, 1, true);
            nino_buf b = kind ? webp_make(rgba, W, H, 1, true, &exif)
                              : jpeg_make(rgba, W, H, 3, false, &exif);
            check_graph(&b, which == 0 || which == 2 ? "1" : "7", which == 2 ? NULL : UI);
            nino_buf_release(&exif);
        }
        nino_buf b =
            kind ? webp_make(rgba, W, H, 1, true, NULL) : jpeg_make(rgba, W, H, 3, false, NULL);
        CHECK(!open_graph(b.data, b.len));
        CHECK_STR(err.kind, "unknown");
        nino_buf_release(&b);
    }
    // safetensors and .latent, of which only the header is needed
    nino_buf header = { 0 }, b = { 0 };
    nino_buf_adds(&header, "{\"__metadata__\": {\"prompt\": ");
    nino_buf_add_json_string(&header, PROMPT, strlen(PROMPT));
    nino_buf_adds(&header, ", \"workflow\": ");
    nino_buf_add_json_string(&header, UI, strlen(UI));
    nino_buf_adds(&header,
                  "}, \"x\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0, 4]}}");
    webp_u32(&b, (uint32_t) header.len);
    webp_u32(&b, 0);
    nino_buf_add(&b, header.data, header.len);
    CHECK(!open_graph(b.data, b.len - 1));
    CHECK_STR(err.kind, "truncated");
    check_graph(&b, "1", UI);
    nino_buf_release(&header);
}

// What is written as JPEG is that picture when it is read, the nearer the better the quality.
static void check_jpeg_written(void)
{
    enum { WIDE = 37, TALL = 21 };
    uint8_t rgb[WIDE * TALL * 3];
    double worst[2] = { 0 };
    for (int y = 0; y < TALL; y++)
        for (int x = 0; x < WIDE; x++) {
            uint8_t *p = rgb + ((size_t) y * WIDE + (size_t) x) * 3;
            p[0] = (uint8_t) (x * 6);
            p[1] = (uint8_t) (y * 12);
            p[2] = (uint8_t) (255 - 3 * (x + y));
        }
    for (int k = 0; k < 2; k++) {
        nino_buf b = { 0 };
        CHECK_OK(nino_jpeg_encode(&b, rgb, WIDE, TALL, k ? 100 : 10, &err), err);
        nino_image i = read_ok(&b, true);
        CHECK(i.width == WIDE && i.height == TALL && i.channels == 3);
        for (int p = 0; p < WIDE * TALL * 3; p++) {
            const double d = fabs(nino_array_f32(i.pixels)[p] * 255 - rgb[p]);
            worst[k] = d > worst[k] ? d : worst[k];
        }
        nino_image_release(&i);
        nino_buf_release(&b);
    }
    CHECK(worst[1] <= 12 && worst[1] < worst[0]);
}

int main(void)
{
    check_exif();
    check_jpeg_written();
    check_webp();
    check_jpeg();
    check_orientation();
    check_refusals();
    check_moving();
    check_workflows();
    return 0;
}
