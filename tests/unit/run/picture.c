// Pictures for showing: pixels of a file that the library wrote itself, and what is refused.
#include <ninodes/picture.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"

// A grey PNG of 2 x 1 pixels, written by hand: black and white, 8 bits.
static const unsigned char png[] = { 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00,
                                     0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x02,
                                     0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0xd1,
                                     0x49, 0x20, 0x56, 0x00, 0x00, 0x00, 0x0b, 0x49, 0x44, 0x41,
                                     0x54, 0x78, 0x9c, 0x63, 0x60, 0xf8, 0x0f, 0x00, 0x01, 0x02,
                                     0x01, 0x00, 0x42, 0xbe, 0xbc, 0x68, 0x00, 0x00, 0x00, 0x00,
                                     0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82 };

static void write_file(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(data, 1, n, f) == n);
    if (f)
        fclose(f);
}

static bool file_is(const char *path, const void *data, size_t n)
{
    char got[256];
    FILE *f = fopen(path, "rb");
    const size_t len = f ? fread(got, 1, sizeof(got), f) : 0;
    if (f)
        fclose(f);
    return len == n && !memcmp(got, data, n);
}

// Texts go, all else stays byte for byte; what is cut off or of another kind is refused.
static void test_bare(const char *path)
{
    static const char text[] = "\0\0\0\x0aiTXtprompt\0{}x"
                               "crc!\0\0\0\1comf{crc!";
    static const char webp[] = "RIFF\x2e\0\0\0WEBPVP8X\x0a\0\0\0\x0e\0\0\0\1\0\0\1\0\0"
                               "EXIF\3\0\0\0abc\0VP8L\2\0\0\0xy";
    static const char bare[] = "RIFF\x20\0\0\0WEBPVP8X\x0a\0\0\0\2\0\0\0\1\0\0\1\0\0"
                               "VP8L\2\0\0\0xy";
    enum { HEAD = 33, N_TEXT = sizeof(text) - 1 }; // signature and IHDR
    unsigned char told[sizeof(png) + N_TEXT];
    char to[64];
    nino_error err = { 0 };
    snprintf(to, sizeof(to), "%s.bare", path);
    memcpy(told, png, HEAD);
    memcpy(told + HEAD, text, N_TEXT);
    memcpy(told + HEAD + N_TEXT, png + HEAD, sizeof(png) - HEAD);
    write_file(path, told, sizeof(told));
    CHECK(nino_picture_save_bare(path, to, &err) == NINO_OK && file_is(to, png, sizeof(png)));
    write_file(path, webp, sizeof(webp) - 1);
    CHECK(nino_picture_save_bare(path, to, &err) == NINO_OK && file_is(to, bare, sizeof(bare) - 1));
    for (size_t n = 9; n < sizeof(told); n++) {
        write_file(path, told, n);
        CHECK(nino_picture_save_bare(path, to, &err) == NINO_ERR_FORMAT);
    }
    for (size_t n = 13; n < sizeof(webp) - 1; n++) { // whole where a chunk ends
        const bool is_whole = n == 30 || n == 42;
        write_file(path, webp, n);
        CHECK(nino_picture_save_bare(path, to, &err) == (is_whole ? NINO_OK : NINO_ERR_FORMAT));
    }
    write_file(path, "RIFF\0\0\0\0WEBPVP8X\0\0\0\0", 20); // of no flags
    CHECK(nino_picture_save_bare(path, to, &err) == NINO_OK &&
          file_is(to, "RIFF\x0c\0\0\0WEBPVP8X\0\0\0\0", 20));
    write_file(path, "RIFF\0\0\0\0WAVEVP8X\0\0\0\0", 20);
    CHECK(nino_picture_save_bare(path, to, &err) == NINO_ERR_UNSUPPORTED);
    CHECK(nino_picture_save_bare("/nowhere/a.png", to, &err) == NINO_ERR_MISSING);
    CHECK(file_is(to, "RIFF\x0c\0\0\0WEBPVP8X\0\0\0\0", 20)); // as it was
    write_file(path, "{}", 2);
    CHECK(nino_picture_save_bare(path, to, &err) == NINO_ERR_UNSUPPORTED);
    unlink(to);
}

int main(void)
{
    char path[] = "/tmp/nino-picture-XXXXXX";
    const int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    nino_error err = { 0 };
    nino_picture p = { 0 };

    write_file(path, png, sizeof(png));
    CHECK(nino_picture_load(path, &p, &err) == NINO_OK);
    CHECK(p.width == 2 && p.height == 1 && p.frames == 1);
    CHECK_STR(p.format, "png");
    static const uint8_t expected[8] = { 0, 0, 0, 255, 255, 255, 255, 255 };
    CHECK(p.rgba && !memcmp(p.rgba, expected, sizeof(expected)));
    nino_picture_release(&p);
    CHECK(!p.rgba && !p.width);
    nino_picture_release(NULL);

    write_file(path, "{}", 2); // not a picture
    CHECK(nino_picture_load(path, &p, &err) == NINO_ERR_FORMAT);
    CHECK_STR(err.kind, "magic");
    test_bare(path);
    write_file(path, png, 40); // ends too early
    CHECK(nino_picture_load(path, &p, &err) == NINO_ERR_FORMAT && !p.rgba);
    unlink(path);
    CHECK(nino_picture_load(path, &p, &err) == NINO_ERR_IO ||
          nino_picture_load(path, &p, &err) == NINO_ERR_MISSING);
    return 0;
}
