// What was drawn and is drawn again as it is, until something that decides how it looks changes.
#pragma once
#include <gtk/gtk.h>

typedef struct CanvasKept { // as it was drawn last, and all that decided how
    GskRenderNode *node;    // NULL: not yet
    GByteArray *key;
} CanvasKept;

void nino_canvas_kept_add(GByteArray *key, const void *p, gsize n);
// Takes key: all that decides how the node looks. FALSE: it is to be made.
gboolean nino_canvas_kept_is(CanvasKept *k, GByteArray *key);
void nino_canvas_kept_release(CanvasKept *k);
