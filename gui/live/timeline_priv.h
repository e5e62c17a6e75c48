// What the files of the timeline share: its rows, and time to pixels.
#pragma once
#include "live/timeline.h"
#include "plot/area.h"
#include "plot/view.h"

enum {
    GUTTER = 104, // for labels of rows, at least
    MOST_GUTTER = 168,
    RULER = 40, // legend and times
    ROW = 19,
    QUEUE = 44,
    WAIT = 13,
    GAP = 6,
    MAX_ROWS = 96,
    MAX_COLUMNS = 8192,
    MAX_ARROWS = 48,  // kernels in view
    LOOK_AHEAD = WAIT // kernels that may wait at once, as far as they are drawn
};

typedef enum RowKind { ROW_SCOPES, ROW_HOST, ROW_WAIT, ROW_QUEUE } RowKind;

// What was done to a row, or (collapsed) to its track.
typedef enum RowFlag { ROW_HIDDEN = 1, ROW_PINNED = 2, ROW_COLLAPSED = 4 } RowFlag;

typedef struct Row {
    RowKind kind;
    uint16_t track, depth;
    gboolean is_pinned;
    float y, h;
    char label[48];
} Row;

typedef struct Timeline {
    NinoRun *run; // the area's
    GtkWidget *area, *ruler, *readout;
    Row row[MAX_ROWS];
    int n_rows;
    int focus_row; // for the keyboard
    float height, pinned_height;
    int gutter;          // as wide as the labels that there are
    guint labels;        // which those were
    GHashTable *flags;   // of row and track: key -> RowFlag
    char *find;          // in lower case; NULL: nothing
    GHashTable *matches; // name -> whether it has it
    guint n_found;
    GtkAdjustment *scroll; // of what is around; NULL: nothing is
    int menu_row;
} Timeline;

typedef struct View { // what is drawn: time to pixels
    const nino_history *h;
    NinoPlotBox box;
    guint64 t0, t1;
    double per_ns;
    const GdkRGBA *family[NINO_HISTORY_FAMILIES];
    GdkRGBA faint[NINO_HISTORY_FAMILIES]; // of what is not looked at
} View;

// ---- timeline_rows.c -------------------------------------------------------------------------

void nino_timeline_lay_out(Timeline *t);
float nino_timeline_row_y(const Timeline *t, const Row *r); // where it is now
const Row *nino_timeline_row_at(const Timeline *t, double y);
gboolean nino_timeline_matches(Timeline *t, uint32_t name); // all do where nothing is searched
guint nino_timeline_flags(const Timeline *t, const Row *r);
void nino_timeline_toggle(Timeline *t, const Row *r, RowFlag flag);
gboolean nino_timeline_has_flags(const Timeline *t);
void nino_timeline_show_all(Timeline *t);
void nino_timeline_rows_free(Timeline *t);

// ---- timeline_menu.c -------------------------------------------------------------------------

void nino_timeline_add_menu(GtkWidget *box);
gboolean nino_timeline_menu(NinoArea *area, double *x, double *y, GMenu *more, gpointer timeline);

// ---- timeline_draw.c -------------------------------------------------------------------------

// First span of the row that ends after t.
size_t nino_timeline_span_at(const View *v, const nino_span *s, const uint32_t *row, size_t n,
                             uint64_t t);
void nino_timeline_draw_rows(NinoArea *area, NinoPlot *p, Timeline *t, const NinoPlotBox *box,
                             float top);
void nino_timeline_draw_legend(NinoPlot *p, Timeline *t, float y);

// ---- timeline.c ------------------------------------------------------------------------------

void nino_timeline_update(Timeline *t); // its rows are others
gboolean nino_timeline_pick(NinoArea *area, double x, double y, int n_press, gpointer timeline);
