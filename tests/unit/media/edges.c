// Pictures at their edges: scans without end, markers and chunks that are hardly ever there, texts of odd
// lengths, damage that is told to nobody.
#include "core/base/file.h"
#include "core/media/exif.h"
#include "core/media/frame_list.h"
#include "core/media/image.h"
#include "tests/picture.h"
#include <ninodes/picture.h>

#include <math.h>
#include <unistd.h>

static nino_error err;
static char dir[] = "/tmp/ninodes-edges-XXXXXX";

enum { SIDE = 8, COMMENT = 0x9286, MODEL = 0x0110 };

static const char *read_kind(const nino_buf *b, bool with_pixels)
{
    static char kind[32];
    nino_image i;
    err = (nino_error){ 0 };
    const nino_status st = nino_image_read(b->data, b->len, "x", with_pixels, &i, &err);
    snprintf(kind, sizeof(kind), "%s", st ? err.kind : "ok");
    CHECK(!st || (err.msg[0] && !i.pixels));
    nino_image_release(&i);
    return kind;
}

// A picture of three scans, a colour each.
static nino_buf in_three_scans(void)
{
    static const jpeg_scan_info scans[] = { { 1, { 0 }, 0, 63, 0, 0 },
                                            { 1, { 1 }, 0, 63, 0, 0 },
                                            { 1, { 2 }, 0, 63, 0, 0 } };
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr e;
    unsigned char *out = NULL, row[SIDE * 3] = { 100, 50, 3 };
    unsigned long len = 0;
    JSAMPROW at = row;
    nino_buf b = { 0 };
    c.err = jpeg_std_error(&e);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &out, &len);
    c.image_width = c.image_height = SIDE;
    c.input_components = 3;
    c.in_color_space = JCS_RGB;
    jpeg_set_defaults(&c);
    c.scan_info = scans;
    c.num_scans = 3;
    jpeg_start_compress(&c, TRUE);
    for (int y = 0; y < SIDE; y++)
        jpeg_write_scanlines(&c, &at, 1);
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    nino_buf_add(&b, out, len);
    free(out);
    return b;
}

// The last scan again and again: each one would be decoded.
static void check_scans(void)
{
    nino_buf b = in_three_scans(), all = { 0 };
    size_t last = 0;
    for (size_t i = 0; i + 1 < b.len; i++)
        if (!memcmp(b.data + i, "\xff\xda", 2))
            last = i;
    CHECK(last && !memcmp(b.data + b.len - 2, "\xff\xd9", 2));
    CHECK_STR(read_kind(&b, true), "ok");
    for (int n = 100; n <= 600; n += 500) {
        nino_buf_clear(&all);
        nino_buf_add(&all, b.data, b.len - 2);
        for (int i = 0; i < n; i++)
            nino_buf_add(&all, b.data + last, b.len - 2 - last);
        nino_buf_add(&all, "\xff\xd9", 2);
        CHECK_STR(read_kind(&all, false), "ok");
        CHECK_STR(read_kind(&all, true), n > 500 ? "bomb" : "ok");
    }
    CHECK_STR(err.msg, "more than 500 scans");
    nino_buf_release(&b);
    nino_buf_release(&all);
}

// Between 0xc0 and 0xcf three markers begin no frame: tables, an extension, conditioning.
static void check_markers(void)
{
    static const char frame[] = "\xff\xc1\0\x0b\x08\0\x05\0\x07\x01\1\x11\0"
                                "\xff\xda\0\x08\1\1\0\0\x3f\0";
    static const char *const others[] = { "\xff\xc4\0\4\0\0", "\xff\xc8\0\4\0\0",
                                          "\xff\xcc\0\4\0\0" };
    for (int i = 0; i < 3; i++) {
        nino_buf b = { 0 };
        nino_image k;
        nino_buf_add(&b, "\xff\xd8", 2);
        nino_buf_add(&b, others[i], 6);
        nino_buf_add(&b, frame, sizeof(frame) - 1);
        CHECK_OK(nino_image_read(b.data, b.len, "x", false, &k, &err), err);
        CHECK(k.width == 7 && k.height == 5);
        nino_image_release(&k);
        nino_buf_release(&b);
    }
}

// Who does not ask for a reason gets none: the answer is the same.
static void check_untold(void)
{
    uint8_t rgba[SIDE * SIDE * 4] = { 0 };
    const exif_entry twice[] = { { MODEL, 2, "prompt:{\"1\": {}}", 0, 0 },
                                 { MODEL, 2, "prompt:{\"2\": {}}", 0, 0 },
                                 { 0x010f, 2, "workflow:{}", 0, 0 } };
    nino_buf bad = { 0 }, exif = exif_make(twice, 3, 0, false);
    nino_buf_adds(&bad, "this is no EXIF");
    nino_buf all[] = { webp_make(rgba, SIDE, SIDE, 1, true, &bad),
                       jpeg_make(rgba, SIDE, SIDE, 3, false, &bad),
                       webp_make(rgba, SIDE, SIDE, 1, true, &exif),
                       jpeg_make(rgba, SIDE, SIDE, 3, false, &exif) };
    for (int i = 0; i < 4; i++) {
        nino_image k;
        CHECK(nino_image_read(all[i].data, all[i].len, "x", false, &k, NULL) == NINO_ERR_FORMAT);
        nino_image_release(&k);
        CHECK_STR(read_kind(&all[i], false), i < 2 ? "syntax" : "dup");
        CHECK_OK(nino_image_read(all[i].data, all[i].len, "x", true, &k, NULL), err);
        CHECK(k.width == SIDE && k.pixels);
        nino_image_release(&k);
        nino_buf_release(&all[i]);
    }
    nino_texts t = { 0 };
    int up = 1;
    CHECK(nino_exif_read(exif.data, exif.len, "x", &t, &up, NULL) == NINO_ERR_FORMAT);
    CHECK(t.n == 2 &&
          nino_texts_find(&t, "workflow")); // the first one of two, and what is behind them
    CHECK_STR(nino_texts_find(&t, "prompt")->value, "{\"1\": {}}");
    nino_texts_release(&t);
    nino_buf_release(&bad);
    nino_buf_release(&exif);
}

// A keyword has at most 31 letters; UTF-16 may have no letter, or half a one.
static void check_texts(void)
{
    static const struct {
        exif_entry e;
        const char *key, *value; // NULL: there is no text
    } cases[] = {
        { { MODEL, 2, "abcdefghijklmnopqrstuvwxyz_ABCD:v", 0, 0 },
          "abcdefghijklmnopqrstuvwxyz_abcd",
          "v" },
        { { MODEL, 2, "abcdefghijklmnopqrstuvwxyz_abcde:v", 0, 0 }, NULL, NULL },
        { { MODEL, 2, "abcdefgh", 0, 0 }, NULL, NULL },
        { { MODEL, 2, ":value", 0, 0 }, NULL, NULL },
        { { COMMENT, 7, "UNICODE\0", 8, 0 }, NULL, NULL },
        { { COMMENT, 7, "UNICODE\0\xfe", 9, 0 }, NULL, NULL },
        { { COMMENT, 7, "UNICODE\0{\0}\0\0\xd8", 14, 0 }, "usercomment", "{}\xef\xbf\xbd" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_buf b = exif_make(&cases[i].e, 1, cases[i].e.tag == COMMENT, false);
        nino_texts t = { 0 };
        int up = 1;
        nino_buf_add(&b, "\0\xde", 2); // behind the text: it does not make half a letter whole
        CHECK_OK(nino_exif_read(b.data, b.len, "x", &t, &up, &err), err);
        CHECK(t.n == (cases[i].key != NULL));
        if (t.n)
            CHECK_STR(nino_texts_find(&t, cases[i].key)->value, cases[i].value);
        nino_texts_release(&t);
        nino_buf_release(&b);
    }
    nino_texts t = { 0 };
    char *large = calloc(NINO_MAX_TEXT + 1, 1);
    CHECK(large && nino_texts_add(&t, "k", large, NINO_MAX_TEXT + 1, "x", &err) == NINO_ERR_FORMAT);
    CHECK(!t.n && !strcmp(err.kind, "limit"));
    nino_texts_release(&t);
    free(large);
}

// ---- moving ones -------------------------------------------------------------------------------

static void check_moving(void)
{
    uint8_t rgba[2 * SIDE * SIDE * 4] = { 0 };
    nino_buf b = webp_make(rgba, SIDE, SIDE, 2, true, NULL), odd = { 0 };
    CHECK(nino_webp_is_moving(b.data, b.len) && !nino_webp_is_moving(b.data, 29));
    nino_buf_add(&odd, b.data, 30);
    webp_chunk(&odd, "EXIF", "0123456789abcdef0123", 20); // as long as a frame, but none
    webp_chunk(&odd, "ANMF", "0123456789ab\1\0\0\0", 16);
    CHECK(nino_webp_timing(odd.data, odd.len).frames == 1);
    odd.data[3] = 'X';
    CHECK(!nino_webp_is_moving(odd.data, odd.len));
    odd.data[3] = 'F';
    odd.data[15] = 'Y';
    CHECK(!nino_webp_is_moving(odd.data, odd.len));
    nino_buf_release(&odd);
    nino_buf_release(&b);

    static const unsigned char png[] =
        "\x89PNG\r\n\x1a\n"
        "\0\0\0\x0dIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0CRC."
        "\0\0\0\x08"
        "acTL\0\0\0\2\0\0\0\0CRC."
        "\0\0\0\x1a"
        "fcTL\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\0\0\x32\0\0\0\0CRC."
        "\0\0\0\x1a"
        "fcTL\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\0\0\1\0\4\0\0CRC.";
    const nino_timing t = nino_apng_timing(png, sizeof(png) - 1);
    CHECK(t.frames == 2 && fabs(t.seconds - 0.75) < 1e-9); // 50 of no parts: of a hundred; 1 of 4
    CHECK(nino_apng_timing(png, sizeof(png) - 2).frames == 1);
    CHECK(!nino_apng_timing(png, 33).frames);
}

// ---- without what they tell --------------------------------------------------------------------

static nino_status save_bare(const void *p, size_t n, char **out, size_t *len)
{
    char from[64], to[64];
    *out = NULL;
    CHECK_OK(nino_file_save(dir, "from", false, p, n, &err), err);
    snprintf(from, sizeof(from), "%s/from", dir);
    snprintf(to, sizeof(to), "%s/to", dir);
    unlink(to);
    err = (nino_error){ 0 };
    const nino_status st = nino_picture_save_bare(from, to, &err);
    if (!st)
        CHECK_OK(nino_file_read(to, 1 << 20, false, out, len, &err), err);
    CHECK(!st == !access(to, F_OK) && !unlink(from));
    return st;
}

static void check_bare(void)
{
    nino_buf body = { 0 }, out = { 0 };
    char *got = NULL;
    size_t len = 0;
    nino_buf_adds(&body, "WEBP");
    webp_chunk(&body, "VP8X", "", 0); // of no length: there are no flags to change
    webp_chunk(&body, "EXIF", "told", 4);
    webp_chunk(&body, "VP8 ", "pixels", 6);
    webp_chunk(&out, "RIFF", body.data, body.len);
    CHECK_OK(save_bare(out.data, out.len, &got, &len), err);
    CHECK(len == out.len - 12 && !memmem(got, len, "told", 4) && memmem(got, len, "pixels", 6));
    CHECK((unsigned char) got[4] == len - 8);
    free(got);
    CHECK(save_bare(out.data, out.len - 3, &got, &len) == NINO_ERR_FORMAT);
    CHECK(save_bare(out.data, 16, &got, &len) == NINO_ERR_FORMAT);
    CHECK(save_bare(out.data, 12, &got, &len) == NINO_ERR_UNSUPPORTED);
    out.data[8] = 'w';
    CHECK(save_bare(out.data, out.len, &got, &len) == NINO_ERR_UNSUPPORTED);
    CHECK(save_bare("GIF89a, and some more", 21, &got, &len) == NINO_ERR_UNSUPPORTED);
    nino_buf_release(&body);
    nino_buf_release(&out);
}

int main(void)
{
    char command[64];
    CHECK(mkdtemp(dir));
    check_scans();
    check_markers();
    check_untold();
    check_texts();
    check_moving();
    check_bare();
    snprintf(command, sizeof(command), "rm -r '%s'", dir);
    return system(command);
}
