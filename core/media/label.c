// Letters from data/labels/sans.png, which data/labels/make.py draws; its head tells the layout. What
// is not among them comes from the fonts of the system.
#include "core/media/label.h"

#include <stdlib.h>
#include <utf8proc.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/media/glyphs.h"
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
    int base;       // of the base line
    int advance[LETTERS];
    float *ink; // [LETTERS][side][side], 0 to 1
    nino_glyphs *others;
};

typedef struct letter {
    int own;                 // < 0: not one of ours
    const nino_glyph *glyph; // NULL: nothing to draw
    int advance;
} letter;

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
    nino_glyphs *others = nino_glyphs_create(px);
    if (f && ink && others) {
        *f = (nino_font){
            .side = side, .line = px + px / 4, .base = px, .ink = ink, .others = others
        };
        for (int i = 0; i < LETTERS; i++)
            take_letter(f, nino_array_f32(png.pixels), i, step);
    } else {
        nino_fail(err, NINO_ERR_NOMEM, "letters", "out of memory");
        nino_glyphs_destroy(&others);
        free(ink);
        free(f);
        f = NULL;
    }
    nino_png_release(&png);
    return f;
}

void nino_font_destroy(nino_font **f)
{
    if (!*f)
        return;
    nino_glyphs_destroy(&(*f)->others);
    free((*f)->ink);
    free(*f);
    *f = NULL;
}

int nino_font_line(const nino_font *f) { return f->line; }

// The number of a letter in the picture of ours; -1: it is not there.
static int label_own(uint32_t cp)
{
    if (cp == 0x2013 || cp == 0x2014) // dashes and quotes that people type
        cp = '-';
    if (cp == 0x2018 || cp == 0x2019)
        cp = '\'';
    if (cp >= 0x201c && cp <= 0x201e)
        cp = '"';
    if (cp == '\n' || cp == '\t' || cp == 0xa0)
        return 0;
    return cp >= 0x20 && cp < 0x7f      ? (int) cp - 0x20
           : cp == 0xad                 ? -1 // says where a word may be broken, no more
           : cp > 0xa0 && cp <= 0xff    ? (int) cp - 0xa0 + BOX
           : cp == 0x2026               ? ELLIPSIS
           : cp < 0xa0 || cp > 0x10ffff ? BOX
                                        : -1;
}

// Codes that stand for no letter: joiners, directions, which form the letter before has.
static bool label_is_silent(uint32_t cp)
{
    return utf8proc_category((utf8proc_int32_t) cp) == UTF8PROC_CATEGORY_CF ||
           (cp >= 0xfe00 && cp <= 0xfe0f) || (cp >= 0xe0100 && cp <= 0xe01ef);
}

// The letter at s, which is moved on. Its glyph lives until the next call.
static letter next_letter(nino_font *f, const char **s, size_t *left)
{
    uint32_t cp = 0;
    int n = nino_utf8_next(*s, *left, &cp);
    if (!n) {
        n = 1;
        cp = 0;
    }
    *s += n;
    *left -= (size_t) n;
    letter l = { .own = label_own(cp) };
    if (l.own < 0 && !label_is_silent(cp)) {
        l.glyph = nino_glyphs_get(f->others, cp);
        l.own = l.glyph ? -1 : BOX;
    }
    l.advance = l.own >= 0 ? f->advance[l.own] : l.glyph ? l.glyph->advance : 0;
    return l;
}

int nino_font_width(nino_font *f, const char *text, size_t bytes)
{
    int width = 0;
    while (bytes)
        width += next_letter(f, &text, &bytes).advance;
    return width;
}

size_t nino_font_fit(nino_font *f, const char *text, size_t bytes, int width)
{
    const char *at = text;
    size_t fits = 0;
    while (bytes && (width -= next_letter(f, &at, &bytes).advance) >= 0)
        fits = (size_t) (at - text);
    return fits;
}

// A picture [height,width,3] that is drawn on.
typedef struct label_paper {
    uint8_t *rgb;
    int width, height;
} label_paper;

static void label_dot(const label_paper *p, int x, int y, uint8_t grey, float ink)
{
    if (ink <= 0 || x < 0 || y < 0 || x >= p->width || y >= p->height)
        return;
    uint8_t *at = p->rgb + ((size_t) y * (size_t) p->width + (size_t) x) * 3;
    for (int c = 0; c < 3; c++)
        at[c] = (uint8_t) ((float) at[c] + ((float) grey - (float) at[c]) * ink + 0.5F);
}

void nino_font_draw(nino_font *f, uint8_t *rgb, int width, int height, int x, int y, uint8_t grey,
                    const char *text, size_t bytes)
{
    const label_paper p = { rgb, width, height };
    while (bytes) {
        const letter l = next_letter(f, &text, &bytes);
        const nino_glyph *g = l.glyph;
        const float *own = f->ink + (size_t) (l.own < 0 ? 0 : l.own) * (size_t) (f->side * f->side);
        for (int i = 0; l.own >= 0 && i < f->side * f->side; i++)
            label_dot(&p, x + i % f->side, y + i / f->side, grey, own[i]);
        for (int i = 0; g && i < g->width * g->height; i++)
            label_dot(&p, x + g->left + i % g->width, y + f->base - g->top + i / g->width, grey,
                      (float) g->ink[i] / 255);
        x += l.advance;
    }
}
