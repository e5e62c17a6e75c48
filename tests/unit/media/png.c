// PNG files: what is written reads back, every pixel kind, text chunks, and refusals by kind.
#include "core/media/png.h"
#include "tests/test.h"

#include <math.h>
#include <zlib.h>

// ---- small PNG files, chunk by chunk

static void be32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char) (v >> (24 - 8 * i));
}

static void add_chunk(nino_buf *b, const char *type, const void *data, size_t n)
{
    unsigned char word[4];
    be32(word, (uint32_t) n);
    nino_buf_add(b, word, 4);
    nino_buf_add(b, type, 4);
    nino_buf_add(b, data, n);
    be32(word, (uint32_t) crc32(0, (unsigned char *) b->data + b->len - n - 4, (uInt) n + 4));
    nino_buf_add(b, word, 4);
}

static void start(nino_buf *b, uint32_t w, uint32_t h, int depth, int colour, int interlace)
{
    unsigned char ihdr[13] = { 0 };
    be32(ihdr, w);
    be32(ihdr + 4, h);
    ihdr[8] = (unsigned char) depth;
    ihdr[9] = (unsigned char) colour;
    ihdr[12] = (unsigned char) interlace;
    *b = (nino_buf){ 0 };
    nino_buf_add(b, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(b, "IHDR", ihdr, sizeof(ihdr));
}

static void add_packed(nino_buf *b, const char *type, const void *head, size_t n_head,
                       const void *data, size_t n)
{
    nino_buf chunk = { 0 };
    uLongf len = compressBound((uLong) n);
    unsigned char *z = malloc(len);
    CHECK(compress2(z, &len, data, (uLong) n, 9) == Z_OK);
    nino_buf_add(&chunk, head, n_head);
    nino_buf_add(&chunk, z, len);
    add_chunk(b, type, chunk.data, chunk.len);
    nino_buf_release(&chunk);
    free(z);
}

static void finish(nino_buf *b, const void *rows, size_t n)
{
    add_packed(b, "IDAT", "", 0, rows, n);
    add_chunk(b, "IEND", "", 0);
}

static void expect(nino_buf *b, bool with_pixels, const char *kind)
{
    nino_png p;
    nino_error err = { 0 };
    const nino_status st =
        nino_png_read(b->data ? b->data : "", b->len, "x.png", with_pixels, &p, &err);
    CHECK_STR(st ? err.kind : "ok", kind);
    nino_png_release(&p);
    nino_buf_release(b);
}

// ---- tests

static void check_round_trip(int channels, int bits)
{
    enum { W = 37, H = 23 };
    uint16_t wide[W * H * 4];
    uint8_t narrow[W * H * 4];
    const int n = W * H * channels;
    for (int i = 0; i < n; i++) {
        wide[i] = (uint16_t) (i * 2654435761u >> 7);
        narrow[i] = (uint8_t) wide[i];
    }
    const nino_meta texts[] = {
        { "prompt", "{\"a\": 1}", 8 },
        { "workflow", "caf\xc3\xa9", 5 },          // Latin-1 is enough
        { "note", "\xe4\xb8\xad\xe6\x96\x87", 6 }, // it is not
    };
    nino_buf b = { 0 };
    nino_png p;
    nino_error err;
    const void *pixels = bits == 16 ? (const void *) wide : narrow;
    CHECK_OK(nino_png_encode(&b, pixels, W, H, channels, bits, texts, 3, &err), err);
    const char *idat = memmem(b.data, b.len, "IDAT", 4), *itxt = memmem(b.data, b.len, "iTXt", 4);
    const char *text = memmem(b.data, b.len, "tEXtprompt", 10);
    CHECK(idat && itxt && text && text < idat && itxt < idat);
    CHECK(memmem(b.data, b.len, "tEXtworkflow\0caf\xe9", 17));
    CHECK_OK(nino_png_read(b.data, b.len, "x", true, &p, &err), err);
    CHECK(p.width == W && p.height == H && p.channels == channels && p.bit_depth == bits);
    CHECK(p.pixels->shape.rank == 4 && p.pixels->shape.dim[1] == H && p.pixels->shape.dim[2] == W);
    for (int i = 0; i < n; i++)
        CHECK(nino_array_f32(p.pixels)[i] ==
              (bits == 16 ? (float) wide[i] / 65535.0f : (float) narrow[i] / 255.0f));
    CHECK(p.texts.n == 3);
    for (int i = 0; i < 3; i++)
        CHECK_STR(nino_png_text_get(&p, texts[i].key), texts[i].value);
    CHECK(!nino_png_text_get(&p, "parameters"));
    nino_png_release(&p);
    CHECK_OK(nino_png_read(b.data, b.len, "x", false, &p, &err), err);
    CHECK(p.width == W && p.height == H && !p.pixels && p.texts.n == 3);
    nino_png_release(&p);
    for (size_t cut = 0; cut < b.len - 12; cut++) { // every cut before IEND is seen
        CHECK(nino_png_read(b.data, cut, "x", true, &p, &err) == NINO_ERR_FORMAT);
        CHECK_STR(err.kind, "truncated");
    }
    nino_buf_release(&b);
}

static void check_kinds(void)
{
    nino_buf b;
    nino_png p;
    nino_error err;
    start(&b, 3, 1, 2, 0, 0); // 2-bit gray 0 1 3
    finish(&b, "\0\x1c", 2);
    CHECK_OK(nino_png_read(b.data, b.len, "x", true, &p, &err), err);
    const float *f = nino_array_f32(p.pixels);
    CHECK(p.channels == 1 && p.bit_depth == 8 && f[0] == 0 && f[1] == 85 / 255.0f && f[2] == 1);
    nino_png_release(&p);
    CHECK_OK(nino_png_read(b.data, b.len, "x", false, &p, &err), err);
    CHECK(p.channels == 1 && p.bit_depth == 8);
    nino_png_release(&p);
    nino_buf_release(&b);

    start(&b, 2, 1, 8, 3, 0); // palette with transparency
    add_chunk(&b, "PLTE", "\x0a\x14\x1e\xff\x00\x01", 6);
    add_chunk(&b, "tRNS", "\x80", 1);
    finish(&b, "\0\1\0", 3);
    CHECK_OK(nino_png_read(b.data, b.len, "x", true, &p, &err), err);
    f = nino_array_f32(p.pixels);
    CHECK(p.channels == 4 && f[0] == 1 && f[1] == 0 && f[2] == 1 / 255.0f && f[3] == 1);
    CHECK(f[4] == 10 / 255.0f && f[5] == 20 / 255.0f && f[7] == 128 / 255.0f);
    nino_png_release(&p);
    nino_buf_release(&b);

    start(&b, 2, 2, 16, 4, 1); // 16-bit gray with alpha, interlaced: passes 1, 6 and 7 hold pixels
    finish(&b, "\0\0\1\0\2\0\0\3\0\4\0\0\5\0\6\0\7\xff\xff", 19);
    CHECK_OK(nino_png_read(b.data, b.len, "x", true, &p, &err), err);
    f = nino_array_f32(p.pixels);
    CHECK(p.channels == 2 && p.bit_depth == 16);
    nino_png head;
    CHECK_OK(nino_png_read(b.data, b.len, "x", false, &head, &err), err);
    CHECK(head.channels == 2 && head.bit_depth == 16);
    nino_png_release(&head);
    for (int i = 0; i < 7; i++)
        CHECK(f[i] == (float) (i + 1) / 65535.0f);
    CHECK(f[7] == 1);
    nino_png_release(&p);
    nino_buf_release(&b);
}

static void check_texts(void)
{
    nino_buf b;
    nino_png p;
    nino_error err;
    char big[1000];
    memset(big, 'x', sizeof(big));
    start(&b, 100000, 100000, 16, 6, 0);
    add_packed(&b, "zTXt", "prompt\0\0", 8, big, sizeof(big));
    add_packed(&b, "iTXt", "workflow\0\1\0de\0Ablauf\0", 21, "\xc3\xa9", 2);
    add_chunk(&b, "tEXt", "no separator", 12);
    add_chunk(&b, "tEXt", "\0empty keyword", 14);
    add_chunk(&b, "tEXt", "Comment\0one", 11);
    add_chunk(&b, "tEXt", "Comment\0two", 11);
    finish(&b, "", 0);
    CHECK_OK(nino_png_read(b.data, b.len, "x", false, &p, &err), err);
    CHECK(p.width == 100000 && p.height == 100000 && p.texts.n == 4);
    CHECK(strlen(nino_png_text_get(&p, "prompt")) == sizeof(big));
    CHECK_STR(nino_png_text_get(&p, "workflow"), "\xc3\xa9");
    CHECK_STR(nino_png_text_get(&p, "Comment"), "one");
    nino_png_release(&p);
    expect(&b, true, "limit");

    start(&b, 1, 1, 8, 0, 0); // an empty value, and texts behind the pixels
    add_chunk(&b, "tEXt", "prompt\0", 7);
    add_packed(&b, "IDAT", "", 0, "\0\0", 2);
    add_chunk(&b, "tEXt", "workflow\0{}", 11);
    CHECK_OK(nino_png_read(b.data, b.len, "x", false, &p, &err), err); // no IEND
    CHECK_STR(nino_png_text_get(&p, "prompt"), "");
    CHECK_STR(nino_png_text_get(&p, "workflow"), "{}");
    nino_png_release(&p);
    nino_buf_release(&b);
}

// A text that was changed in its file keeps the old checksum.
static void check_edited(void)
{
    nino_buf b;
    nino_png p;
    nino_error err;
    start(&b, 1, 1, 8, 0, 0);
    add_chunk(&b, "tEXt", "prompt\0{}", 9);
    add_chunk(&b, "tEXt", "workflow\0{1}", 12);
    b.data[b.len - 6] ^= 1;
    finish(&b, "\0\0", 2);
    for (int pixels = 0; pixels < 2; pixels++) {
        CHECK_OK(nino_png_read(b.data, b.len, "x", pixels, &p, &err), err);
        CHECK_STR(nino_png_text_get(&p, "prompt"), "{}");
        CHECK_STR(nino_png_text_get(&p, "workflow"), "{0}");
        CHECK(!nino_texts_find(&p.texts, "prompt")->is_edited);
        CHECK(nino_texts_find(&p.texts, "workflow")->is_edited);
        nino_png_release(&p);
    }
    nino_buf_release(&b);
}

static void check_refusals(void)
{
    nino_buf b = { 0 };
    expect(&b, false, "truncated");
    nino_buf_add(&b, "\x89PNG", 4);
    expect(&b, false, "truncated");
    nino_buf_adds(&b, "\xff\xd8\xff\xe0 JPEG picture");
    expect(&b, true, "magic");

    start(&b, 16384, 16384, 16, 6,
          0); // 2 GiB of pixels in 20 bytes: refused without memory for them
    add_packed(&b, "IDAT", "", 0, "\0\0", 2);
    expect(&b, true, "truncated");
    start(&b, 1, 1, 8, 0, 0); // checksums: strict where they guard pixels
    b.data[b.len - 1] ^= 1;
    expect(&b, false, "syntax");
    start(&b, 1, 1, 8, 0, 0);
    add_packed(&b, "IDAT", "", 0, "\0\0", 2);
    b.data[b.len - 1] ^= 1;
    expect(&b, true, "syntax");
    start(&b, 1, 1, 8, 0, 0);
    add_chunk(&b, "tEXt", "prompt\0{}", 9);
    add_chunk(&b, "tEXt", "prompt\0{}", 9);
    expect(&b, false, "dup");
    start(&b, 1, 1, 8, 0, 0);
    add_packed(&b, "zTXt", "k\0\0", 3, "text", 4);
    b.data[b.len - 8] ^= 0x55;
    be32((unsigned char *) b.data + b.len - 4,
         (uint32_t) crc32(0, (unsigned char *) b.data + 37, (uInt) (b.len - 41)));
    expect(&b, false, "syntax");
    start(&b, 1, 1, 8, 0, 0);
    add_chunk(&b, "iTXt", "k\0\0\0\0\0\xff", 7);
    expect(&b, false, "syntax");
    start(&b, 0, 1, 8, 0, 0);
    expect(&b, false, "syntax");
    start(&b, 1, 0x80000000, 8, 0, 0);
    expect(&b, false, "syntax");

    start(&b, 1, 1, 8, 0, 0);
    for (int i = 0; i <= 256; i++)
        add_chunk(&b, "tEXt", "k\0v", 3);
    expect(&b, false, "limit");
    char *zeros = calloc(1, 17 << 20);
    start(&b, 1, 1, 8, 0, 0);
    add_packed(&b, "zTXt", "k\0\0", 3, zeros, 17 << 20);
    expect(&b, false, "bomb");
    start(&b, 1, 1, 8, 0, 0); // each is allowed, all together are not
    for (int i = 0; i < 5; i++)
        add_packed(&b, "iTXt", "k\0\1\0\0\0", 6, zeros, 15 << 20);
    expect(&b, false, "bomb");
    free(zeros);

    start(&b, 2, 2, 8, 0, 0); // too few pixels, too many, and an impossible filter
    finish(&b, "\0\0\0", 3);
    expect(&b, true, "syntax");
    start(&b, 1, 1, 8, 0, 0);
    finish(&b, "\7\0", 2);
    expect(&b, true, "syntax");
    start(&b, 1, 1, 8, 3, 0); // a palette image without palette
    finish(&b, "\0\0", 2);
    expect(&b, true, "syntax");
    start(&b, 1, 1, 8, 0, 0); // a bad text does not cost the picture
    add_chunk(&b, "tEXt", "prompt\0{}", 9);
    add_chunk(&b, "tEXt", "prompt\0{}", 9);
    finish(&b, "\0\0", 2);
    expect(&b, true, "ok");
}

static void check_arguments(void)
{
    nino_buf b = { 0 };
    nino_error err;
    const uint8_t px[4] = { 0 };
    const nino_meta bad_key = { "two  spaces", "x", 1 }, bad_value = { "k", "\xff", 1 };
    CHECK(nino_png_encode(&b, px, 0, 1, 3, 8, NULL, 0, &err) == NINO_ERR_ARG);
    CHECK(nino_png_encode(&b, px, 1, 1, 1, 8, NULL, 0, &err) == NINO_ERR_ARG);
    CHECK(nino_png_encode(&b, px, 1, 1, 3, 8, &bad_key, 1, &err) == NINO_ERR_ARG);
    CHECK(nino_png_encode(&b, px, 1, 1, 3, 8, &bad_value, 1, &err) == NINO_ERR_ARG);
    CHECK(b.len == 0);
    nino_buf_release(&b);
}

static void check_truncation(void)
{
    const float in[] = { 0, 1, 0.999f, 0.5f, -1, 2, NAN, INFINITY, -INFINITY, 1 / 255.0f };
    const uint8_t want[] = { 0, 255, 254, 127, 0, 255, 0, 255, 0, 1 };
    uint8_t out[10];
    nino_to_u8_truncated(out, in, 10);
    CHECK(!memcmp(out, want, 10));
}

int main(void)
{
    check_round_trip(3, 8);
    check_round_trip(4, 8);
    check_round_trip(3, 16);
    check_round_trip(4, 16);
    check_kinds();
    check_texts();
    check_edited();
    check_refusals();
    check_arguments();
    check_truncation();
    return 0;
}
