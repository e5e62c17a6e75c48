// Internal: lines of text in pictures. Latin-1 and the ellipsis have letters of the library's own,
// which are the same on every machine and need no font. Others come from the fonts of the system,
// whichever has them; what none has becomes a box. Letters stand side by side in the order of the
// text: no ligatures, no joined letters, nothing from right to left.
#pragma once
#include <ninodes/base.h>

typedef struct nino_font nino_font;

// px: 16 or 32. A font belongs to one thread at a time.
nino_font *nino_font_create(int px, nino_error *err);
void nino_font_destroy(nino_font **f);
int nino_font_line(const nino_font *f);                            // height in pixels
int nino_font_width(nino_font *f, const char *text, size_t bytes); // in pixels
// How many bytes of the text, whole letters, are at most so wide.
size_t nino_font_fit(nino_font *f, const char *text, size_t bytes, int width);
// Draws in the grey onto rgb [height,width,3]; x, y: top left. What lies outside is cut off.
void nino_font_draw(nino_font *f, uint8_t *rgb, int width, int height, int x, int y, uint8_t grey,
                    const char *text, size_t bytes);
