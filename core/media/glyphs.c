// Letters of the system's fonts: the first font of fontconfig's order that covers a letter draws it.
// Without FreeType's shaping tables in use, letters stand side by side as they are coded: scripts
// whose letters join, and those that run from right to left, are not set right.
#include "core/media/glyphs.h"

#include <ft2build.h>
#include FT_FREETYPE_H
#include <fontconfig/fontconfig.h>
#include <stdlib.h>
#include <string.h>

struct nino_glyphs {
    int px;
    bool is_open; // the next three were looked for
    FT_Library lib;
    FcFontSet *fonts; // in order of preference; NULL: none
    FT_Face *face;    // of each font, once it was needed
    nino_glyph *glyph;
    size_t n, cap;
};

nino_glyphs *nino_glyphs_create(int px)
{
    nino_glyphs *g = calloc(1, sizeof(*g));
    if (g)
        g->px = px;
    return g;
}

void nino_glyphs_destroy(nino_glyphs **glyphs)
{
    nino_glyphs *g = *glyphs;
    if (!g)
        return;
    for (size_t i = 0; i < g->n; i++)
        free(g->glyph[i].ink);
    free(g->glyph);
    for (int i = 0; g->face && i < g->fonts->nfont; i++)
        if (g->face[i])
            FT_Done_Face(g->face[i]);
    free(g->face);
    if (g->fonts)
        FcFontSetDestroy(g->fonts);
    if (g->lib)
        FT_Done_FreeType(g->lib);
    free(g);
    *glyphs = NULL;
}

// ---- fonts -----------------------------------------------------------------------------------

static void glyphs_open(nino_glyphs *g)
{
    FcResult result = FcResultMatch;
    g->is_open = true;
    FcPattern *like =
        FcPatternBuild(NULL, FC_FAMILY, FcTypeString, "DejaVu Sans", FC_FAMILY, FcTypeString,
                       "sans-serif", FC_PIXEL_SIZE, FcTypeDouble, (double) g->px, (char *) NULL);
    if (!like || FT_Init_FreeType(&g->lib) || !FcConfigSubstitute(NULL, like, FcMatchPattern)) {
        if (like)
            FcPatternDestroy(like);
        return;
    }
    FcDefaultSubstitute(
        like); // with the user's language, which decides between forms of one letter
    g->fonts = FcFontSort(NULL, like, FcTrue, NULL, &result);
    FcPatternDestroy(like);
    if (g->fonts)
        g->face = calloc((size_t) g->fonts->nfont + 1, sizeof(FT_Face));
    if (g->fonts && !g->face) {
        FcFontSetDestroy(g->fonts);
        g->fonts = NULL;
    }
}

// Of sizes that a font of pictures has, the smallest that is large enough, else the largest.
static bool glyphs_take_size(FT_Face face, int px)
{
    int best = 0;
    if (FT_IS_SCALABLE(face))
        return !FT_Set_Pixel_Sizes(face, 0, (FT_UInt) px);
    for (int i = 1; i < face->num_fixed_sizes; i++) {
        const FT_Pos a = face->available_sizes[best].y_ppem >> 6;
        const FT_Pos b = face->available_sizes[i].y_ppem >> 6;
        if (a < px ? b > a : b >= px && b < a)
            best = i;
    }
    return face->num_fixed_sizes > 0 && !FT_Select_Size(face, best);
}

// The face that has the letter; NULL: none.
static FT_Face glyphs_face(nino_glyphs *g, uint32_t cp)
{
    for (int i = 0; g->fonts && i < g->fonts->nfont; i++) {
        const FcPattern *p = g->fonts->fonts[i];
        FcCharSet *covered;
        FcChar8 *file;
        int index = 0;
        if (FcPatternGetCharSet(p, FC_CHARSET, 0, &covered) || !FcCharSetHasChar(covered, cp) ||
            FcPatternGetString(p, FC_FILE, 0, &file))
            continue;
        FcPatternGetInteger(p, FC_INDEX, 0, &index);
        FT_Face *face = &g->face[i];
        if (!*face && FT_New_Face(g->lib, (const char *) file, index, face))
            continue; // it has gone, or is broken
        if (FT_Get_Char_Index(*face, cp) && glyphs_take_size(*face, g->px))
            return *face;
    }
    return NULL;
}

// ---- pictures --------------------------------------------------------------------------------

static unsigned glyphs_pixel(const FT_Bitmap *b, int x, int y)
{
    const unsigned char *row = b->buffer + (ptrdiff_t) y * b->pitch;
    return b->pixel_mode == FT_PIXEL_MODE_GRAY ? row[x] : (row[x / 8] >> (7 - x % 8) & 1) * 255u;
}

// The mean of the pixels that [x, x + 1) x [y, y + 1) covers when one is scale wide.
static uint8_t glyphs_mean(const FT_Bitmap *b, int x, int y, double scale)
{
    const double x0 = x / scale, y0 = y / scale, x1 = (x + 1) / scale, y1 = (y + 1) / scale;
    double sum = 0;
    for (int v = (int) y0; v < y1 && v < (int) b->rows; v++)
        for (int u = (int) x0; u < x1 && u < (int) b->width; u++) {
            const double w = (u + 1 < x1 ? u + 1 : x1) - (u > x0 ? u : x0);
            const double h = (v + 1 < y1 ? v + 1 : y1) - (v > y0 ? v : y0);
            sum += glyphs_pixel(b, u, v) * w * h;
        }
    sum = sum * scale * scale + 0.5;
    return sum > 255 ? 255 : (uint8_t) sum;
}

static int glyphs_scaled(double v) { return v < 0 ? -(int) (0.5 - v) : (int) (v + 0.5); }

// False: the font fails, or out of memory.
static bool glyphs_draw(nino_glyph *out, FT_Face face, int px)
{
    // Without FT_LOAD_COLOR those of colours come as greys.
    if (FT_Load_Char(face, out->cp, FT_LOAD_RENDER | FT_LOAD_NO_HINTING))
        return false;
    const FT_GlyphSlot slot = face->glyph;
    const FT_Bitmap *b = &slot->bitmap;
    const double ppem = face->size->metrics.y_ppem;
    const double scale = FT_IS_SCALABLE(face) || ppem <= 0 ? 1 : px / ppem;
    const bool is_known =
        b->pixel_mode == FT_PIXEL_MODE_GRAY || b->pixel_mode == FT_PIXEL_MODE_MONO;
    out->advance = glyphs_scaled((double) slot->advance.x / 64 * scale);
    if (!b->rows || !b->width)
        return true;
    out->left = glyphs_scaled(slot->bitmap_left * scale);
    out->top = glyphs_scaled(slot->bitmap_top * scale);
    out->width = (int) (b->width * scale + 0.999);
    out->height = (int) (b->rows * scale + 0.999);
    if (!is_known || out->width > 8 * px || out->height > 8 * px ||
        !(out->ink = malloc((size_t) out->width * (size_t) out->height)))
        return false;
    for (int y = 0; y < out->height; y++)
        for (int x = 0; x < out->width; x++)
            out->ink[y * out->width + x] = glyphs_mean(b, x, y, scale);
    return true;
}

const nino_glyph *nino_glyphs_get(nino_glyphs *g, uint32_t cp)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->glyph[i].cp == cp)
            return g->glyph[i].is_missing ? NULL : &g->glyph[i];
    if (g->n == g->cap) {
        const size_t more = g->cap ? g->cap * 2 : 32;
        nino_glyph *p = realloc(g->glyph, more * sizeof(*p));
        if (!p)
            return NULL;
        g->glyph = p;
        g->cap = more;
    }
    if (!g->is_open)
        glyphs_open(g);
    nino_glyph *out = &g->glyph[g->n++];
    *out = (nino_glyph){ .cp = cp };
    const FT_Face face = glyphs_face(g, cp);
    out->is_missing = !face || !glyphs_draw(out, face, g->px);
    return out->is_missing ? NULL : out;
}
