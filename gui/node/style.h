// Colours of the canvas: types of links, nodes in light and dark.
#pragma once
#include "base/tokens.h"

typedef struct NinoGraphColors {
    GdkRGBA canvas, grid, body, unknown, title, text, dim, border, accent, error, running, done,
        paused, cancelled, killed, cached, bypass;
    gboolean is_dark, is_high_contrast;
} NinoGraphColors;

// Of the theme the widget has now.
void nino_graph_colors(GtkWidget *w, NinoGraphColors *out);
// The colour of a type of links, readable on the canvas.
GdkRGBA nino_type_color(const char *type, gboolean is_dark);
// A colour that the file names; FALSE: it cannot be read.
gboolean nino_file_color(const char *text, gboolean is_dark, GdkRGBA *out);
// Rules for what is inside nodes; once a display.
void nino_graph_add_css(void);
// The canvas is content with places from the file: it does not mirror where people read from right
// to left. Of `w` and all in it now, as GTK does not hand the direction down.
void nino_graph_keep_ltr(GtkWidget *w);
// What nodes of a class are for, by the category that the library has it in ("advanced/conditioning/flux"); NULL: not known.
NinoCategory nino_category_of(const char *category);
