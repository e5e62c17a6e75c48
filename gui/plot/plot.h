// Drawing of plots, the same code for the screen (GtkSnapshot) and for export (cairo). Everything
// is bars of whole pixels and text: on a software renderer that is several times cheaper than
// strokes, and what has not moved is not drawn again.
#pragma once
#include "base/tokens.h"

// Colours, in the order of the table of base/tokens.c: first those of series, then one for each kind of thing
// that takes time. Those are told apart on light and dark and with every common colour
// blindness (tests/gui/program/colours.c measures it).
enum {
    NINO_PLOT_SERIES = 12,
    NINO_PLOT_JOB = NINO_PLOT_SERIES,
    NINO_PLOT_NODE,
    NINO_PLOT_STAGE,
    NINO_PLOT_STEP,
    NINO_PLOT_TILE,
    NINO_PLOT_COMPILE,
    NINO_PLOT_GEMM, // op families, as in the op table
    NINO_PLOT_CONV,
    NINO_PLOT_NORM,
    NINO_PLOT_ATTN,
    NINO_PLOT_ELT,
    NINO_PLOT_MOVE,
    NINO_PLOT_IMAGE,
    NINO_PLOT_TRANSFER,
    NINO_PLOT_OTHER,
    NINO_PLOT_FAILED, // whatever it was
    NINO_PLOT_COLOURS
};

typedef struct NinoPlot {
    GtkSnapshot *snapshot; // one of the two
    cairo_t *cr;
    PangoContext *pango;
    GHashTable *layouts; // text -> PangoLayout; NULL: none are kept
    float width, height;
    NinoTheme theme;
    gboolean is_dark;
    GdkRGBA fg, bg, dim, grid; // text, background, quiet text, lines
    const char *nothing;       // text of nino_plot_empty() that is left to the area; NULL: none
} NinoPlot;

const GdkRGBA *nino_plot_colour(size_t i);
const char *nino_plot_kind_name(size_t i);              // "step", "transfer"; "" for series
size_t nino_plot_scope(uint8_t kind, const char *name); // colour of a scope, JOB to TILE
size_t nino_plot_family(const char *family); // of kernels and transfers; NULL, unknown: OTHER
const char *nino_plot_family_name(const char *family); // as it is shown: transfers are no op family
GdkRGBA nino_plot_ink(const GdkRGBA *c);               // black or white: what is read better on c
GdkRGBA nino_plot_alpha(const GdkRGBA *c, float alpha);
GdkRGBA nino_plot_mix(const GdkRGBA *a, const GdkRGBA *b, float share_of_b);
// Of what is not looked at, beside c of what is: seen on the plot's ground in every theme, with a contrast of 3 in high
// contrast.
GdkRGBA nino_plot_faint(const NinoPlot *p, const GdkRGBA *c);

void nino_plot_bar(NinoPlot *p, float x, float y, float w, float h, const GdkRGBA *c);
void nino_plot_frame(NinoPlot *p, float x, float y, float w, float h, const GdkRGBA *c);
// A polyline, for a few hundred points at most; dashed when `dash` > 0.
void nino_plot_line(NinoPlot *p, const float (*xy)[2], size_t n, float width, float dash,
                    const GdkRGBA *c);
void nino_plot_clip(NinoPlot *p, float x, float y, float w, float h);
void nino_plot_unclip(NinoPlot *p);

typedef enum NinoPlotAlign { NINO_PLOT_LEFT, NINO_PLOT_CENTRE, NINO_PLOT_RIGHT } NinoPlotAlign;
// Text whose top is at y, aligned at x; returns its width. max_width > 0: shortened with an
// ellipsis.
float nino_plot_text(NinoPlot *p, float x, float y, float max_width, NinoPlotAlign align,
                     const GdkRGBA *c, const char *text);
float nino_plot_text_height(NinoPlot *p);
float nino_plot_text_width(NinoPlot *p, const char *text);
// A line in the middle, for "there is nothing yet"; where the screen has room, the area has a widget for it. text: not
// freed.
void nino_plot_empty(NinoPlot *p, const char *text);

// ---- axes --------------------------------------------------------------------------------------

typedef struct NinoPlotBox {
    float x, y, w, h;
} NinoPlotBox;

// A step of 1, 2 or 5 times a power of ten, so that `range` has about `n` of them.
double nino_plot_step(double range, int n);
// Grid lines of times in the box and the times under it, relative to `origin`.
void nino_plot_time_axis(NinoPlot *p, const NinoPlotBox *box, guint64 t0, guint64 t1,
                         guint64 origin);
// Values 0 to `top` left of the box with grid lines; text is made by `format` (see below).
void nino_plot_value_axis(NinoPlot *p, const NinoPlotBox *box, double top,
                          void (*format)(char *buf, size_t size, double v));
// The text of one of its marks, without digits that say nothing ("10.0 ms") and the unit of nothing. unit: how many bytes
// are one of what all marks are in; 1 for other things than bytes.
void nino_plot_mark(char *buf, size_t size, double v, double unit,
                    void (*format)(char *buf, size_t size, double v));
// Coloured squares with names, from the left; returns the x behind the last one. Shortened at the plot's right side; left out
// where no room is left.
float nino_plot_legend(NinoPlot *p, float x, float y, const GdkRGBA *colour, const char *text);

// ---- numbers as text: four digits and a unit ----------------------------------------------------

void nino_format_ns(char *buf, size_t size, double ns);       // "12.3 ms"
void nino_format_bytes(char *buf, size_t size, double bytes); // "1.25 GiB"
void nino_format_count(char *buf, size_t size, double n);     // "12 345"
void nino_format_hz(char *buf, size_t size, double hz);       // "10 Hz", "0.5 Hz"
void nino_format_share(char *buf, size_t size, double share); // "12.3 %", "–" for NAN
