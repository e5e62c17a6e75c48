// Letters in pictures: those of the library's own, those of two small fonts that are made here, and
// what no font has.
#include "core/media/label.h"
#include "tests/test.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

enum { W = 256, H = 48 };
static uint8_t black[W * H * 3];
static char dir[] = "/tmp/ninodes-label-XXXXXX";

static void save(const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void draw(nino_font *f, const char *text)
{
    memset(black, 0, sizeof(black));
    nino_font_draw(f, black, W, H, 4, 2, 255, text, strlen(text));
}

static int width(nino_font *f, const char *text) { return nino_font_width(f, text, strlen(text)); }

static bool is_ink(int x, int y) { return black[(y * W + x) * 3] == 255; }

// A font of one letter, 16 high and 12 to the next: a filled rectangle, x0 to x1 right of its begin
// and y0 to y1 above the base line.
static void make_font(const char *name, unsigned letter, int x0, int x1, int y0, int y1)
{
    char text[2048];
    int n =
        snprintf(text, sizeof(text),
                 "STARTFONT 2.1\nFONT -test-%s-Medium-R-Normal-Sans-16-160-72-72-P-120-ISO10646-1\n"
                 "SIZE 16 72 72\nFONTBOUNDINGBOX 16 16 0 -4\nSTARTPROPERTIES 4\n"
                 "FONT_ASCENT 12\nFONT_DESCENT 4\nCHARSET_REGISTRY \"ISO10646\"\n"
                 "CHARSET_ENCODING \"1\"\nENDPROPERTIES\nCHARS 1\nSTARTCHAR a\nENCODING %u\n"
                 "SWIDTH 750 0\nDWIDTH 12 0\nBBX %d %d %d %d\nBITMAP\n",
                 name, letter, x1 - x0, y1 - y0, x0, y0);
    for (int y = y0; y < y1; y++)
        n += snprintf(text + n, sizeof(text) - (size_t) n, "%04X\n",
                      0xffffu << (16 - (x1 - x0)) & 0xffffu);
    snprintf(text + n, sizeof(text) - (size_t) n, "ENDCHAR\nENDFONT\n");
    save(name, text);
}

// fontconfig sees the fonts of our folder, and no others.
static void take_fonts(void)
{
    char text[400], path[300];
    make_font("a.bdf", 0x416, 2, 10, 0, 11);  // Zhe
    make_font("b.bdf", 0x4e2d, 1, 11, -3, 9); // "middle"
    snprintf(text, sizeof(text),
             "<?xml version=\"1.0\"?><fontconfig><dir>%s</dir><cachedir>%s/cache</cachedir>"
             "</fontconfig>",
             dir, dir);
    save("fonts.conf", text);
    snprintf(path, sizeof(path), "%s/fonts.conf", dir);
    CHECK(!setenv("FONTCONFIG_FILE", path, 1));
}

static void expect_rectangle(int x0, int x1, int y0, int y1)
{
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            if (is_ink(x, y) != (x >= x0 && x < x1 && y >= y0 && y < y1)) {
                fprintf(stderr, "pixel %d,%d of %d..%d, %d..%d\n", x, y, x0, x1, y0, y1);
                exit(1);
            }
}

// Letters of fonts stand on the base line of ours, px below the top, at either size.
static void fallback(int px)
{
    const int k = px / 16, base = 2 + px;
    nino_font *f = nino_font_create(px, NULL);
    CHECK(f);
    draw(f, "\u0416");
    expect_rectangle(4 + 2 * k, 4 + 10 * k, base - 11 * k, base);
    draw(f, "\u4e2d"); // from the other font
    expect_rectangle(4 + 1 * k, 4 + 11 * k, base - 9 * k, base + 3 * k);
    CHECK(width(f, "\u0416\u4e2d") == 24 * k);
    CHECK(width(f, "a\u0416b") == width(f, "ab") + 12 * k);
    CHECK(nino_font_fit(f, "\u0416\u0416\u0416", 6, 25 * k) == 4); // whole letters
    // Joiners and the like take no room, whatever is installed.
    CHECK(width(f, "\u0416\u200d\ufe0f\u00ad") == 12 * k);
    nino_font_destroy(&f);
}

// What no font has is a box, and so is what is no text.
static void boxes(void)
{
    static uint8_t box[sizeof(black)];
    nino_font *f = nino_font_create(16, NULL);
    CHECK(f);
    draw(f, "\u03a9");
    memcpy(box, black, sizeof(box));
    draw(f, " ");
    CHECK(memcmp(box, black, sizeof(box)) != 0);
    const char *const others[] = { "\u05d0", "\U0001f600", "\xff", "\x01" };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        draw(f, others[i]);
        CHECK(!memcmp(box, black, sizeof(box)));
        CHECK(width(f, others[i]) == width(f, "\u03a9"));
    }
    nino_font_destroy(&f);
}

// Latin-1 has letters of its own: no font is asked for them, so that sheets are alike everywhere.
static void own_letters(void)
{
    static const uint8_t l_width[] = { 9, 18 }; // of "l", DejaVu Sans: 0.278 em
    nino_font *f = nino_font_create(32, NULL);
    CHECK(f && width(f, "l") == l_width[0] && width(f, "ll") == l_width[1]);
    make_font("c.bdf", 'l', 0, 12, 0, 12);
    draw(f, "l");
    int ink = 0;
    for (int i = 0; i < W * H; i++)
        ink += black[i * 3] > 127;
    CHECK(ink > 40 && ink < 12 * 12 * 4 / 3);
    nino_font_destroy(&f);
}

// Letters that stand for others, those that take no room, and the codes next to both.
static void kinds_of_letters(void)
{
    static uint8_t first[sizeof(black)];
    static const char *const same[][2] = {
        { "\u2013", "-" },
        { "\u2014", "-" },
        { "\u2018", "'" },
        { "\u2019", "'" },
        { "\u201c", "\"" },
        { "\u201d", "\"" },
        { "\u201e", "\"" },
        { "\n", " " },
        { "\t", " " },
        { "\u00a0", " " },
        { "\x7f", "\u05d0" },
        { "\x1f", "\u05d0" },
        { "\xc2\x80", "\u05d0" },
        { "\xc2\x9f", "\u05d0" },
        { "\u2012", "\u05d0" },
        { "\u2015", "\u05d0" },
        { "\u201b", "\u05d0" },
        { "\u201f", "\u05d0" },
        { "\u2025", "\u05d0" },
        { "\u0100", "\u05d0" },
        { "\U000e01f0", "\u05d0" },
        { "\U000e00ff", "\u05d0" },
        { "\ufe10", "\u05d0" },
        { "\xe2\x80", "\x01\x01" },
    };
    static const char *const silent[] = { "\u00ad",     "\u200b",     "\u200d", "\ufe00", "\ufe0f",
                                          "\U000e0100", "\U000e01ef", "\ufeff", "\u202e" };
    static const char *const other[] = {
        " ", "~", "!", "\u00a1", "\u00ff", "\u2026", "\u05d0", "A"
    };
    nino_font *f = nino_font_create(16, NULL);
    CHECK(f && nino_font_line(f) == 20);
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        draw(f, same[i][1]);
        memcpy(first, black, sizeof(black));
        draw(f, same[i][0]);
        if (memcmp(first, black, sizeof(black)) || width(f, same[i][0]) != width(f, same[i][1]))
            fprintf(stderr, "row %zu\n", i);
        CHECK(!memcmp(first, black, sizeof(black)));
        CHECK(width(f, same[i][0]) == width(f, same[i][1]));
    }
    for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
        CHECK(width(f, silent[i]) == 0);
        draw(f, silent[i]);
        memset(first, 0, sizeof(first));
        CHECK(!memcmp(first, black, sizeof(black)));
    }
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) // no two are alike
        for (size_t k = 0; k < i; k++) {
            draw(f, other[k]);
            memcpy(first, black, sizeof(black));
            draw(f, other[i]);
            CHECK(memcmp(first, black, sizeof(black)) != 0);
        }
    // as many as fit, to the pixel
    const int w = width(f, "WW");
    CHECK(nino_font_fit(f, "WWW", 3, w) == 2 && nino_font_fit(f, "WWW", 3, w - 1) == 1);
    CHECK(nino_font_fit(f, "WWW", 3, 0) == 0 && nino_font_fit(f, "", 0, 5) == 0);
    CHECK(nino_font_fit(f, "WW\u200d", 5, w) == 5); // with what takes no room
    nino_font_destroy(&f);
    CHECK(!f);
    nino_font_destroy(&f);
}

// Over a picture, and over its edges: what is ink becomes that grey, all else stays.
static void over_pictures(void)
{
    enum { SMALL = 10, ROUND = 64 };
    static uint8_t room[ROUND + SMALL * SMALL * 3 + ROUND], *rgb = room + ROUND;
    nino_font *f = nino_font_create(16, NULL);
    CHECK(f);
    for (int dx = -14; dx <= 12; dx += 2)
        for (int dy = -18; dy <= 12; dy += 3) {
            for (size_t i = 0; i < sizeof(room); i++)
                room[i] = (uint8_t) (i * 7);
            nino_font_draw(f, rgb, SMALL, SMALL, dx, dy, 99, "\u0416", 2);
            for (int i = 0; i < (int) sizeof(room); i++) {
                const int at = i - ROUND, x = at / 3 % SMALL, y = at / 3 / SMALL;
                const bool in = at >= 0 && at < SMALL * SMALL * 3 && x >= dx + 2 && x < dx + 10 &&
                                y >= dy + 5 && y < dy + 16;
                CHECK(room[i] == (in ? 99 : (uint8_t) (i * 7)));
            }
        }
    // half an ink goes half of the way, from below as from above
    uint8_t dark[W * H * 3] = { 0 }, light[W * H * 3], mid = 0;
    memset(light, 200, sizeof(light));
    nino_font_draw(f, dark, W, H, 4, 2, 200, "Sg", 2);
    nino_font_draw(f, light, W, H, 4, 2, 0, "Sg", 2);
    for (int i = 0; i < W * H * 3; i++) {
        CHECK(abs(dark[i] + light[i] - 200) <= 1 && dark[i] == dark[i / 3 * 3]);
        mid |= dark[i] > 50 && dark[i] < 150;
    }
    CHECK(mid);
    nino_font_destroy(&f);
}

int main(void)
{
    char cmd[80];
    CHECK(mkdtemp(dir));
    take_fonts();
    own_letters();
    fallback(16);
    fallback(32);
    boxes();
    kinds_of_letters();
    over_pictures();
    snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
    CHECK(system(cmd) == 0);
    return 0;
}
