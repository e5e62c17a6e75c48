// Internal to gui/live/roofline*.c: what is shown, and where.
#pragma once
#include "plot/area.h"

enum {
    ROOFLINE_OPS = 64,
    ROOFLINE_LABELS = 6, // kernels that are named
    ROOFLINE_CEILINGS = 7
};

// Which bytes the arithmetic intensity counts.
typedef enum RooflineAxis {
    ROOFLINE_LEAST,     // that the op must move, each operand once
    ROOFLINE_REQUESTED, // that the work-groups load and store: nino_launch.requested
    ROOFLINE_AXES
} RooflineAxis;

typedef struct Taken { // where kernels and names are
    float x, y, w, h;
} Taken;

typedef struct Line { // of a ceiling, rising to the right
    float x0, y0, x1, y1;
} Line;

typedef struct Roofline {
    NinoRun *run; // the widgets hold it
    GtkWidget *area, *choice[ROOFLINE_AXES];
    RooflineAxis axis;
    gboolean has_overlay;
    nino_op_stat op[ROOFLINE_OPS];
    size_t n, n_unknown; // of these the bytes of the axis are not known
    uint64_t total_ns;
    gboolean has_ceilings;
    nino_ceilings c, overlay;
    double lo_x, hi_x, lo_y, hi_y; // powers of ten
    Taken taken[ROOFLINE_OPS + ROOFLINE_CEILINGS + ROOFLINE_LABELS];
    size_t n_taken;
    Line line[ROOFLINE_CEILINGS];
    size_t n_lines;
} Roofline;

extern const char nino_roofline_overlay[]; // name of the profile

// Takes what there is now.
void nino_roofline_update(Roofline *r);
// Whether the bytes of the axis are known of a kernel; one of which they are not is placed by those
// that it must move.
gboolean nino_roofline_is_known(const Roofline *r, const nino_op_stat *o);
double nino_roofline_intensity(const Roofline *r, const nino_op_stat *o);
double
nino_roofline_cache(const nino_ceilings *c); // bandwidth of the fastest cache; 0: not measured

// ---- roofline_draw.c -------------------------------------------------------------------------

NinoPlotBox nino_roofline_box(float width, float height, float line);
float nino_roofline_x(const Roofline *r, const NinoPlotBox *b, double ai);
float nino_roofline_y(const Roofline *r, const NinoPlotBox *b, double flops);
float nino_roofline_side(const Roofline *r, const nino_op_stat *o); // of its square
void nino_roofline_format(char *buf, size_t size, double flops);    // per second
int nino_roofline_crosses(const Roofline *r, const Taken *t);       // how many ceilings
void nino_roofline_draw(NinoArea *area, NinoPlot *p, gpointer roofline);
