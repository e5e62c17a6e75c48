// Animated PNGs: every way in which one is damaged is refused by a line, or gives fewer frames; kinds of
// pixels, what frames leave behind, rates.
#include <math.h>
#include <zlib.h>

#include "core/media/frame_list.h"
#include "core/media/png.h"
#include "core/base/buf.h"
#include "tests/test.h"

static nino_error err;

typedef struct made { // of two frames, 2 x 1 pixels each
    uint32_t width, height;
    int kind;                 // of pixels: 0 grey, 2 RGB, 4 grey and alpha, 6 RGBA
    uint32_t w, h, x, y;      // of the second frame
    unsigned num, den;        // how long it is shown
    unsigned char dispose[2]; // of both
    int leave_out;            // a part of what is written
} made;
enum { ALL, NO_FRAME_HEAD, NO_DATA, NO_END, CUT_HEAD, SHORT_DATA, NO_PIXELS, IN_PLACE_OF_IHDR };

static void be32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t) (v >> (24 - 8 * i));
}

// The pixels of one frame, compressed, without filters.
static void add_pixels(nino_buf *out, const made *m, const char *type, uint32_t w, uint32_t h)
{
    static const int channels[] = { [0] = 1, [2] = 3, [4] = 2, [6] = 4 };
    uint8_t raw[128], packed[256] = { 0 };
    uLongf n = sizeof(packed) - 4;
    const size_t head = *type == 'f' ? 4 : 0; // a number of the order, which nobody looks at
    size_t len = 0;
    for (uint32_t y = 0; y < h; y++) {
        raw[len++] = 0;
        for (uint32_t i = 0; i < w * (uint32_t) channels[m->kind]; i++)
            raw[len++] = (uint8_t) (i * 29);
    }
    CHECK(compress(packed + head, &n, raw, len) == Z_OK);
    if (m->leave_out == NO_PIXELS)
        n /= 2;
    nino_png_put_chunk(out, type, packed, m->leave_out == SHORT_DATA && head ? 4 : head + n);
}

static void add_frame(nino_buf *out, const made *m, int i)
{
    uint8_t head[26] = { 0 };
    const uint32_t w = i ? m->w : m->width, h = i ? m->h : m->height;
    be32(head + 4, w);
    be32(head + 8, h);
    be32(head + 12, i ? m->x : 0);
    be32(head + 16, i ? m->y : 0);
    head[21] = (uint8_t) m->num;
    head[23] = (uint8_t) m->den;
    head[24] = m->dispose[i];
    if (m->leave_out != NO_FRAME_HEAD)
        nino_png_put_chunk(out, "fcTL", head, m->leave_out == CUT_HEAD ? 25 : 26);
    if (m->leave_out != NO_DATA && w > 0 && h > 0 && w * h <= 16)
        add_pixels(out, m, i ? "fdAT" : "IDAT", w, h);
}

static void make(nino_buf *out, const made *m)
{
    uint8_t head[13] = { [8] = 8, [9] = (uint8_t) m->kind };
    be32(head, m->width);
    be32(head + 4, m->height);
    nino_buf_add(out, "\x89PNG\r\n\x1a\n", 8);
    nino_png_put_chunk(out, m->leave_out == IN_PLACE_OF_IHDR ? "IHDS" : "IHDR", head, sizeof(head));
    nino_png_put_chunk(out, "acTL", "\0\0\0\2\0\0\0\0", 8);
    nino_png_put_chunk(out, "tEXt", "k\0v", 3);
    for (int i = 0; i < 2; i++)
        add_frame(out, m, i);
    if (m->leave_out != NO_END)
        nino_png_put_chunk(out, "IEND", NULL, 0);
}

typedef struct seen {
    int frames;
    uint8_t first[4], last[4]; // the first pixel of the first and of the last frame
    double seconds;
    int most;
} seen;

static nino_status see(void *priv, const nino_frame *f, bool *stop, nino_error *e)
{
    seen *s = priv;
    (void) e;
    memcpy(s->last, f->pixels, 4);
    if (!s->frames++)
        memcpy(s->first, f->pixels, 4);
    s->seconds += f->seconds;
    *stop = s->frames == s->most;
    return NINO_OK;
}

static void damages(void)
{
    static const struct {
        made m;
        const char *kind, *says; // NULL: it is read
        int frames;
    } t[] = {
        { { 2, 1, 6, 2, 1, 0, 0, 1, 10, { 0, 0 }, ALL }, NULL, NULL, 2 },
        { { 2, 1, 6, 2, 1, 0, 0, 1, 10, { 0, 0 }, NO_FRAME_HEAD },
          "syntax",
          "it has no frames",
          0 },
        { { 2, 1, 6, 2, 1, 0, 0, 1, 10, { 0, 0 }, NO_DATA }, "syntax", "it has no frames", 0 },
        { { 2, 1, 6, 2, 1, 0, 0, 1, 10, { 0, 0 }, SHORT_DATA }, NULL, NULL, 1 },
        { { 2, 1, 6, 2, 1, 0, 0, 1, 10, { 0, 0 }, NO_END }, "truncated", "ends inside a chunk", 1 },
        { { 2, 1, 6, 2, 1, 0, 0, 1, 10, { 0, 0 }, CUT_HEAD }, "syntax", "a frame's head", 0 },
        { { 2, 1, 6, 2, 1, 0, 0, 1, 10, { 0, 0 }, IN_PLACE_OF_IHDR }, "syntax", "is not IHDR", 0 },
        { { 2, 1, 6, 2, 1, 0, 0, 1, 10, { 0, 0 }, NO_PIXELS }, "", "", 0 },
        { { 0, 1, 6, 2, 1, 0, 0, 1, 10, { 0, 0 }, ALL }, "limit", "frames of 0 x 1 pixels", 0 },
        { { 1, 0, 6, 2, 1, 0, 0, 1, 10, { 0, 0 }, ALL }, "limit", "frames of 1 x 0 pixels", 0 },
        { { 1 << 20, 1, 6, 2, 1, 0, 0, 1, 10, { 0, 0 }, ALL },
          "limit",
          "frames of 1048576 x 1",
          0 },
        { { 1, 1 << 20, 6, 2, 1, 0, 0, 1, 10, { 0, 0 }, ALL }, "limit", "1 x 1048576 pixels", 0 },
        { { 2, 1, 6, 0, 1, 0, 0, 1, 10, { 0, 0 }, ALL }, "range", "outside the picture", 1 },
        { { 2, 1, 6, 1, 0, 0, 0, 1, 10, { 0, 0 }, ALL }, "range", "outside the picture", 1 },
        { { 2, 1, 6, 3, 1, 0, 0, 1, 10, { 0, 0 }, ALL }, "range", "outside the picture", 1 },
        { { 2, 1, 6, 1, 2, 0, 0, 1, 10, { 0, 0 }, ALL }, "range", "outside the picture", 1 },
        { { 2, 1, 6, 2, 1, 1, 0, 1, 10, { 0, 0 }, ALL }, "range", "outside the picture", 1 },
        { { 2, 1, 6, 2, 1, 0, 1, 1, 10, { 0, 0 }, ALL }, "range", "outside the picture", 1 },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        nino_buf b = { 0 };
        seen s = { 0 };
        err = (nino_error){ 0 };
        make(&b, &t[i].m);
        const nino_status st = nino_apng_frames(b.data, b.len, "a.png", see, &s, &err);
        if (!st != !t[i].kind || s.frames != t[i].frames || (st && !strstr(err.msg, t[i].says)))
            fprintf(stderr, "row %zu: %d frames, %s\n", i, s.frames, err.msg);
        CHECK(!st == !t[i].kind && s.frames == t[i].frames);
        CHECK(!st || (err.where[0] && strstr(err.msg, t[i].says) && !strchr(err.msg, '\n')));
        if (st && *t[i].kind)
            CHECK_STR(err.kind, t[i].kind);
        nino_buf_release(&b);
    }
}

// Grey ones have three equal colours, those without alpha are opaque; only as many as are wanted.
static void kinds(void)
{
    for (int kind = 0; kind <= 6; kind += 2) {
        const made m = { 2, 1, kind, 2, 1, 0, 0, 1, 0, { 0, 0 }, ALL };
        nino_buf b = { 0 };
        seen s = { .most = 1 };
        make(&b, &m);
        CHECK_OK(nino_apng_frames(b.data, b.len, "a.png", see, &s, &err), err);
        CHECK(s.frames == 1 && fabs(s.seconds - 0.01) < 1e-9); // a denominator of 0 is 100
        const uint8_t want[4] = { 0, kind & 2 ? 29 : 0, kind & 2 ? 58 : 0,
                                  kind == 6   ? 87
                                  : kind == 4 ? 29
                                              : 255 };
        CHECK(!memcmp(s.first, want, 4));
        nino_buf_release(&b);
    }
}

// A first frame that is to go leaves nothing, whichever way it says so.
static void left_behind(void)
{
    for (unsigned char dispose = 0; dispose < 3; dispose++) {
        const made m = { 2, 1, 6, 1, 1, 1, 0, 1, 10, { dispose, 2 }, ALL };
        static const uint8_t none[4] = { 0 };
        nino_buf b = { 0 };
        seen s = { 0 };
        make(&b, &m);
        CHECK_OK(nino_apng_frames(b.data, b.len, "a.png", see, &s, &err), err);
        CHECK(s.frames == 2 && !memcmp(s.last, dispose ? none : s.first, 4));
        nino_buf_release(&b);
    }
}

static void timing(void)
{
    const made m = { 2, 1, 6, 2, 1, 0, 0, 1, 4, { 0, 0 }, ALL };
    nino_buf b = { 0 };
    make(&b, &m);
    nino_timing t = nino_apng_timing(b.data, b.len);
    CHECK(t.frames == 2 && fabs(t.seconds - 0.5) < 1e-9);
    CHECK(nino_apng_is(b.data, b.len) && !nino_apng_is(b.data, 32) && !nino_apng_is("no", 2));
    t = nino_apng_timing(b.data, b.len - 20); // cut: what there is
    CHECK(t.frames <= 2);
    for (size_t n = 0; n < b.len; n++) { // cut anywhere: fewer frames or a line
        seen s = { 0 };
        nino_apng_timing(b.data, n);
        CHECK(nino_apng_frames(b.data, n, "a.png", see, &s, &err) == NINO_ERR_FORMAT);
        CHECK(err.msg[0] && s.frames <= 2);
    }
    b.data[8] = 127; // longer than the file
    CHECK(!nino_apng_is(b.data, b.len) && !nino_apng_timing(b.data, b.len).frames);
    nino_buf_release(&b);
    nino_buf plain = { 0 };
    CHECK_OK(nino_png_encode(&plain, (const uint8_t *) "abc", 1, 1, 3, 8, NULL, 0, &err), err);
    CHECK(!nino_apng_is(plain.data, plain.len));
    nino_buf_release(&plain);
}

// Chunks without end ahead of the one that says that it moves: each is passed once. (Were they looked
// through again for each of them, this would not end.)
static void many_chunks(void)
{
    nino_buf b = { 0 };
    made m = { 2, 1, 6, 2, 1, 0, 0, 1, 4, { 0, 0 }, ALL };
    make(&b, &m);
    nino_buf far = { 0 };
    nino_buf_add(&far, b.data, 33);
    for (int i = 0; i < 1000000; i++)
        nino_buf_add(&far, "\0\0\0\0teXt\0\0\0\0", 12);
    nino_buf_add(&far, b.data + 33, b.len - 33);
    CHECK(!far.failed && nino_apng_timing(far.data, far.len).frames == 2);
    nino_buf_clear(&far);
    nino_buf_add(&far, b.data, b.len - 12); // a chunk of a frame's head's length that is none
    nino_png_put_chunk(&far, "teXt", b.data, 26);
    nino_buf_adds(&far, "\x7f\x7f\x7f\x7fteXt1234"); // and one that is longer than the file
    CHECK(nino_apng_timing(far.data, far.len).frames == 2);
    nino_buf_release(&far);
    nino_buf_release(&b);
}

// What is drawn with entries of a palette takes it from the file's own chunks.
static void palette(void)
{
    nino_buf b = { 0 };
    seen s = { 0 };
    uint8_t packed[64], raw[] = { 0, 1, 0 };
    uLongf n = sizeof(packed);
    const uint8_t head[13] = { 0, 0, 0, 2, 0, 0, 0, 1, 8, 3 },
                  frame[26] = { [7] = 2, [11] = 1, [21] = 1, [23] = 2 };
    CHECK(compress(packed, &n, raw, sizeof(raw)) == Z_OK);
    nino_buf_add(&b, "\x89PNG\r\n\x1a\n", 8);
    nino_png_put_chunk(&b, "IHDR", head, sizeof(head));
    nino_png_put_chunk(&b, "acTL", "\0\0\0\1\0\0\0\0", 8);
    nino_png_put_chunk(&b, "PLTE", "\1\2\3\4\5\6", 6);
    nino_png_put_chunk(&b, "tRNS", "\7\x8", 2);
    nino_png_put_chunk(&b, "fcTL", frame, sizeof(frame));
    nino_png_put_chunk(&b, "IDAT", packed, n);
    nino_png_put_chunk(&b, "IEND", NULL, 0);
    CHECK_OK(nino_apng_frames(b.data, b.len, "a.png", see, &s, &err), err);
    CHECK(s.frames == 1 && !memcmp(s.first, "\4\5\6\x8", 4) && fabs(s.seconds - 0.5) < 1e-9);
    nino_buf_release(&b);
}

int main(void)
{
    many_chunks();
    palette();
    damages();
    kinds();
    left_behind();
    timing();
    return 0;
}
