// Internal to core/media: single letters from the fonts of the system, for those that the library has
// none of its own for. FreeType draws them, fontconfig says which font has them.
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef struct nino_glyph {
    uint32_t cp;
    bool is_missing;   // no font has it
    int advance;       // to the next one, in pixels
    int left, top;     // of its picture: right of where it begins, above the base line
    int width, height; // of its picture
    uint8_t *ink;      // [height][width]
} nino_glyph;

// One thread at a time; none of it is shared but what fontconfig shares itself.
typedef struct nino_glyphs nino_glyphs;
// Looks for nothing yet. px: height of the letters. NULL: out of memory.
nino_glyphs *nino_glyphs_create(int px);
void nino_glyphs_destroy(nino_glyphs **g);
// NULL: there is none, or no memory for it. Lives until the next call.
const nino_glyph *nino_glyphs_get(nino_glyphs *g, uint32_t cp);
