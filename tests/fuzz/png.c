// PNG metadata never needs the pixels; what is read as pixels has the size that the header says.
#include "core/media/png.h"
#include "tests/fuzz/fuzz.h"
#include "tests/test.h"

#include <math.h>
#include <zlib.h>

const size_t fuzz_max_len = 4096;

const char *const fuzz_words[] = { "IHDR", "PLTE", "tRNS", "IDAT",   "IEND",     "tEXt", "zTXt",
                                   "iTXt", "acTL", "gAMA", "prompt", "workflow", "iCCP", NULL };

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    static const nino_meta texts[] = { { "prompt", "{\"1\": 2}", 8 },
                                       { "note", "\xe4\xb8\xad\xe6\x96\x87", 6 } };
    static const struct {
        int channels, bits, n_texts;
    } seeds[] = { { 3, 8, 2 }, { 4, 8, 0 }, { 3, 16, 1 }, { 4, 16, 2 } };
    uint8_t pixels[5 * 4 * 8];
    nino_buf b = { 0 };
    if (i >= sizeof(seeds) / sizeof(seeds[0]))
        return 0;
    for (size_t k = 0; k < sizeof(pixels); k++)
        pixels[k] = (uint8_t) (k * 37);
    CHECK(!nino_png_encode(&b, pixels, 5, 4, seeds[i].channels, seeds[i].bits, texts,
                           seeds[i].n_texts, NULL));
    CHECK(b.len <= cap);
    const size_t n = b.len;
    memcpy(buf, b.data, n);
    nino_buf_release(&b);
    return n;
}

static void fix_checksums(uint8_t *p, size_t n)
{
    for (size_t at = 8; n >= at + 12;) {
        const size_t len =
            (size_t) p[at] << 24 | (size_t) p[at + 1] << 16 | (size_t) p[at + 2] << 8 | p[at + 3];
        if (len > n - at - 12)
            return;
        const uint32_t crc = (uint32_t) crc32(0, p + at + 4, (uInt) len + 4);
        for (int i = 0; i < 4; i++)
            p[at + 8 + len + (size_t) i] = (uint8_t) (crc >> (24 - 8 * i));
        at += len + 12;
    }
}

// Of the pixels whole numbers, as the file has them.
static void tell_png(const nino_png *p)
{
    TELL("%dx%d %d %d %d %d %d\n", p->width, p->height, p->channels, p->bit_depth, p->orientation,
         p->is_palette, p->has_colour_key);
    for (int i = 0; i < p->texts.n; i++) {
        TELL("%s = ", p->texts.list[i].key);
        tell_bytes(p->texts.list[i].value, p->texts.list[i].value_len);
    }
    const int64_t n = p->pixels ? nino_shape_count(&p->pixels->shape) : 0;
    for (int64_t i = 0; i < n && i < 4096; i++)
        TELL(" %ld", lrintf(65535 * nino_array_f32(p->pixels)[i]));
}

static void check(const uint8_t *p, size_t n)
{
    nino_png png;
    nino_error err = { 0 };
    if (nino_png_read(p, n, "fuzz", false, &png, &err)) {
        CHECK(err.code && err.kind && err.msg[0]);
        tell_error(&err);
    } else {
        tell_png(&png);
        CHECK(png.width > 0 && png.height > 0 && !png.pixels);
        for (int i = 0; i < png.texts.n; i++)
            CHECK(strlen(png.texts.list[i].value) <= png.texts.list[i].value_len &&
                  png.texts.list[i].key[0]);
        const bool is_large = png.width > 256 || png.height > 256;
        nino_png_release(&png);
        if (is_large)
            return;
    }
    if (nino_png_read(p, n, "fuzz", true, &png, &err)) {
        CHECK(err.code && err.kind && err.msg[0]);
        tell_error(&err);
        return;
    }
    tell_png(&png);
    CHECK(nino_shape_count(&png.pixels->shape) == (int64_t) png.width * png.height * png.channels);
    for (int64_t i = 0; i < nino_shape_count(&png.pixels->shape); i++)
        CHECK(nino_array_f32(png.pixels)[i] >= 0 && nino_array_f32(png.pixels)[i] <= 1);
    nino_png_release(&png);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    uint8_t *copy = calloc(1, n ? n : 1);
    CHECK(copy);
    if (n)
        memcpy(copy, p, n);
    check(copy, n);
    fix_checksums(copy, n); // which no mutation would ever get right
    check(copy, n);
    free(copy);
    return 0;
}
