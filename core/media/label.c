// Letters from data/labels/sans.png, which data/labels/make.py draws; its head tells the layout.
#include "core/media/label.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/media/png.h"

__asm__(".section .rodata\n"
        ".globl nino_label_png\n.hidden nino_label_png\n"
        ".globl nino_label_png_end\n.hidden nino_label_png_end\n"
        "nino_label_png: .incbin \"data/labels/sans.png\"\n"
        "nino_label_png_end: .byte 0\n"
        ".previous\n");
extern const char nino_label_png[], nino_label_png_end[];

enum { SIDE = 44, PX = 32, ACROSS = 16, LETTERS = 192, ELLIPSIS = 95, BOX = 96 };

struct nino_font {
    int side, line; // of a letter's square; of a line
    int advance[LETTERS];
    float *ink; // [LETTERS][side][side], 0 to 1
};

// One letter, each pixel the mean of step x step.
static void take_letter(nino_font *f, const float *sheet, int i, int step)
{
    const float *from = sheet + ((size_t) (i / ACROSS) * SIDE * ACROSS + i % ACROSS) * SIDE;
    float *to = f->ink + (size_t) i * (size_t) f->side * (size_t) f->side;
    const int stride = SIDE * ACROSS;
    const int advance = (int) (from[(size_t) (SIDE - 1) * (size_t) stride] * 255 + 0.5F);
    f->advance[i] = (advance + step - 1) / step;
    for (int y = 0; y < SIDE - 1; y++) // the last row holds the advance
        for (int x = 0; x < SIDE; x++)
            to[y / step * f->side + x / step] += from[y * stride + x] / (float) (step * step);
}

nino_font *nino_font_create(int px, nino_error *err)
{
    nino_png png = { 0 };
    const int step = PX / px, side = SIDE / step;
    if (nino_png_read(nino_label_png, (uintptr_t) nino_label_png_end - (uintptr_t) nino_label_png,
                      "letters", true, &png, err))
        return NULL;
    nino_font *f = calloc(1, sizeof(*f));
    float *ink = calloc((size_t) LETTERS * (size_t) side * (size_t) side, sizeof(*ink));
    if (f && ink) {
        *f = (nino_font){ .side = side, .line = px + px / 4, .ink = ink };
        for (int i = 0; i < LETTERS; i++)
            take_letter(f, nino_array_f32(png.pixels), i, step);
    } else {
        nino_fail(err, NINO_ERR_NOMEM, "letters", "out of memory");
        free(ink);
        free(f);
        f = NULL;
    }
    nino_png_release(&png);
    return f;
}

void nino_font_destroy(nino_font **f)
{
    if (*f)
        free((*f)->ink);
    free(*f);
    *f = NULL;
}

int nino_font_line(const nino_font *f) { return f->line; }

// The letter at s, which is moved on.
static int next_letter(const char **s, size_t *left)
{
    uint32_t cp = 0;
    int n = nino_utf8_next(*s, *left, &cp);
    if (!n) {
        n = 1;
        cp = 0;
    }
    *s += n;
    *left -= (size_t) n;
    if (cp == 0x2013 || cp == 0x2014) // dashes and quotes that people type
        cp = '-';
    if (cp == 0x2018 || cp == 0x2019)
        cp = '\'';
    if (cp >= 0x201c && cp <= 0x201e)
        cp = '"';
    if (cp == '\n' || cp == '\t' || cp == 0xa0)
        return 0;
    return cp >= 0x20 && cp < 0x7f   ? (int) cp - 0x20
           : cp > 0xa0 && cp <= 0xff ? (int) cp - 0xa0 + BOX
           : cp == 0x2026            ? ELLIPSIS
                                     : BOX;
}

int nino_font_width(const nino_font *f, const char *text, size_t bytes)
{
    int width = 0;
    while (bytes)
        width += f->advance[next_letter(&text, &bytes)];
    return width;
}

size_t nino_font_fit(const nino_font *f, const char *text, size_t bytes, int width)
{
    const char *at = text;
    size_t fits = 0;
    while (bytes && (width -= f->advance[next_letter(&at, &bytes)]) >= 0)
        fits = (size_t) (at - text);
    return fits;
}

void nino_font_draw(const nino_font *f, uint8_t *rgb, int width, int height, int x, int y,
                    uint8_t grey, const char *text, size_t bytes)
{
    while (bytes) {
        const int letter = next_letter(&text, &bytes);
        const float *ink = f->ink + (size_t) letter * (size_t) f->side * (size_t) f->side;
        for (int i = 0; i < f->side * f->side; i++) {
            const int px = x + i % f->side, py = y + i / f->side;
            if (ink[i] <= 0 || px < 0 || py < 0 || px >= width || py >= height)
                continue;
            uint8_t *at = rgb + ((size_t) py * (size_t) width + (size_t) px) * 3;
            for (int c = 0; c < 3; c++)
                at[c] = (uint8_t) ((float) at[c] + ((float) grey - (float) at[c]) * ink[i] + 0.5F);
        }
        x += f->advance[letter];
    }
}
