// Internal: lines of text in pictures, with letters of the library's own: the same on every
// machine, and without a font library. Latin-1 and the ellipsis; what else there is becomes a box.
#pragma once
#include <ninodes/base.h>

typedef struct nino_font nino_font;

// px: 16 or 32.
nino_font *nino_font_create(int px, nino_error *err);
void nino_font_destroy(nino_font **f);
int nino_font_line(const nino_font *f);                                  // height in pixels
int nino_font_width(const nino_font *f, const char *text, size_t bytes); // in pixels
// How many bytes of the text, whole letters, are at most so wide.
size_t nino_font_fit(const nino_font *f, const char *text, size_t bytes, int width);
// Draws in the grey onto rgb [height,width,3]; x, y: top left. What lies outside is cut off.
void nino_font_draw(const nino_font *f, uint8_t *rgb, int width, int height, int x, int y,
                    uint8_t grey, const char *text, size_t bytes);
