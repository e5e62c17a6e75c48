// A picture's mask while it is painted: coverage, strokes, undo. A PNG keeps it in its alpha, as ComfyUI's
// LoadImage reads it: mask = 1 - alpha.
#pragma once
#include <glib.h>

typedef struct NinoMask NinoMask;

typedef struct NinoMaskRect { // in pixels; width 0: empty
    int x, y, width, height;
} NinoMaskRect;

typedef struct NinoBrush {
    double radius;  // in pixels
    double feather; // 0: hard; 1: it fades from the middle on
    gboolean erases;
} NinoBrush;

// Reads a picture; its transparency is the mask it begins with. NULL and *error: it is none.
NinoMask *nino_mask_open(const char *path, GError **error);
void nino_mask_free(NinoMask *m);

int nino_mask_width(const NinoMask *m);
int nino_mask_height(const NinoMask *m);
const guchar *nino_mask_rgba(const NinoMask *m); // of the picture, not premultiplied
// A byte a pixel, rows of `stride` bytes; 255: all of the pixel is to change.
const guchar *nino_mask_data(const NinoMask *m, int *stride);
double nino_mask_share(const NinoMask *m); // covered, 0 to 1

// A stroke is one step of undo, however often it passes a pixel. What changed is in *dirty.
void nino_mask_begin(NinoMask *m, const NinoBrush *brush);
void nino_mask_line(NinoMask *m, double x0, double y0, double x1, double y1, NinoMaskRect *dirty);
void nino_mask_end(NinoMask *m);
void nino_mask_invert(NinoMask *m);
void nino_mask_clear(NinoMask *m);
gboolean nino_mask_undo(NinoMask *m); // FALSE: there is nothing to undo
gboolean nino_mask_redo(NinoMask *m);
gboolean nino_mask_can_undo(const NinoMask *m);
gboolean nino_mask_can_redo(const NinoMask *m);

// The picture's colours, all of them, with the mask as alpha; four bytes a pixel, g_free() them.
guchar *nino_mask_result(const NinoMask *m);
