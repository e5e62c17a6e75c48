// JPEG, WebP and EXIF: texts never need the pixels; what is read as pixels has the size that was
// announced; whatever is refused carries a kind.
#include "core/media/image.h"
#include "tests/fuzz/fuzz.h"
#include "tests/picture.h"

const size_t fuzz_max_len = 4096;

const char *const fuzz_words[] = { "RIFF",     "WEBP",       "VP8X",     "VP8L",     "VP8 ",
                                   "ANIM",     "ANMF",       "ALPH",     "EXIF",     "ICCP",
                                   "Exif",     "II*",        "MM",       "ASCII",    "UNICODE",
                                   "prompt:",  "workflow:{", "\xff\xe1", "\xff\xda", "\xff\xc2",
                                   "\xff\xc4", "\xff\xd9",   "\xff\xdd", NULL };

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    static const exif_entry entries[] = { { 0x010f, 2, "workflow:{}", 0, 0 },
                                          { 0x0110, 2, "prompt:{\"1\": 2}", 0, 0 },
                                          { 0x0112, 3, NULL, 0, 6 },
                                          { 0x9286, 7, "UNICODE\0{\0}\0", 12, 0 } };
    uint8_t pixels[2 * 5 * 4 * 4];
    if (i >= 8)
        return 0;
    for (size_t k = 0; k < sizeof(pixels); k++)
        pixels[k] = (uint8_t) (k * 37);
    nino_buf exif = exif_make(entries, 4, 1, i & 1);
    nino_buf b = i < 4 ? webp_make(pixels, 5, 4, 1 + (i & 1), i & 2, &exif)
                       : jpeg_make(pixels, 5, 4,
                                   i < 6    ? 3
                                   : i == 6 ? 1
                                            : 4,
                                   i & 1, &exif);
    const size_t n = b.len;
    CHECK(n <= cap);
    memcpy(buf, b.data, n);
    nino_buf_release(&b);
    nino_buf_release(&exif);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    nino_image i;
    nino_error err = { 0 };
    if (n > 2 && p[0] == 0x89) // fuzz/png.c
        return 0;
    if (nino_image_read(p, n, "fuzz", false, &i, &err)) {
        CHECK(err.code && err.kind && err.msg[0]);
    } else {
        CHECK(i.width > 0 && i.height > 0 && i.frames > 0 && !i.pixels);
        for (int k = 0; k < i.texts.n; k++)
            CHECK(!i.texts.list[k].value[i.texts.list[k].value_len] && i.texts.list[k].key[0]);
        const bool is_large = i.width > 256 || i.height > 256 || i.frames > 16;
        nino_image_release(&i);
        if (is_large)
            return 0;
    }
    if (nino_image_read(p, n, "fuzz", true, &i, &err)) {
        CHECK(err.code && err.kind && err.msg[0]);
        return 0;
    }
    const int64_t count = nino_shape_count(&i.pixels->shape);
    CHECK(count == (int64_t) i.frames * i.width * i.height * i.channels);
    for (int64_t k = 0; k < count; k++)
        CHECK(nino_array_f32(i.pixels)[k] >= 0 && nino_array_f32(i.pixels)[k] <= 1);
    nino_image_release(&i);
    return 0;
}
