// What the files of the timeline share: its rows, and time to pixels.
#pragma once
#include "plot/area.h"
#include "plot/view.h"

enum {
    GUTTER = 104,
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

typedef struct Row {
    RowKind kind;
    uint16_t track, depth;
    float y, h;
    char label[48];
} Row;

typedef struct Timeline {
    NinoRun *run; // the area's
    GtkWidget *area, *ruler, *readout;
    Row row[MAX_ROWS];
    int n_rows;
    int focus_row; // for the keyboard
    float height;
} Timeline;

typedef struct View { // what is drawn: time to pixels
    const nino_history *h;
    NinoPlotBox box;
    guint64 t0, t1;
    double per_ns;
    const GdkRGBA *family[NINO_HISTORY_FAMILIES];
} View;

// First span of the row that ends after t.
size_t nino_timeline_span_at(const View *v, const nino_span *s, const uint32_t *row, size_t n,
                             uint64_t t);
void nino_timeline_draw_rows(NinoArea *area, NinoPlot *p, Timeline *t, const NinoPlotBox *box,
                             float top);
void nino_timeline_draw_legend(NinoPlot *p, Timeline *t, float y);
