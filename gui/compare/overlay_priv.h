// What the files of the overlay share: what lies where, and that as pixels.
#pragma once
#include "compare/overlay.h"
#include "plot/area.h"

enum {
    LEFT = 104,
    HEAD = 36,
    FOOT = 20,
    BAR = 17,
    SHIFT = 8,
    DEVICE = 30,
    HALF = DEVICE / 2,
    GAP = 5
};
enum { BASE, SHOWN, SIDES };
enum { LANE_NODE, LANE_PART, LANES };

typedef struct Slot {
    char name[96];
    guint64 begin[SIDES], end[SIDES]; // of its run; both 0: it is not in it
    double at, width;                 // ns of the axis
    double seconds[SIDES];            // as the table has them
    gboolean is_cached[SIDES];        // it did not run: its result was there
} Slot;

typedef struct Part { // of a lane
    double at, end;
    uint8_t side, lane, kind;
    uint8_t is_failed;
    uint32_t name, number; // number: of a step or tile, from 1; 0: none
} Part;

typedef struct Overlay {
    NinoRun *run; // the widgets hold it
    GtkWidget *area;
    nino_history *base; // the caller's
    GArray *nodes, *slots, *parts;
    double all, from, to; // of the axis; what is shown of it
    double drag_from, drag_to;
    gboolean is_dragged, is_together, has_parts; // parts: steps or tiles
    char marked[96];
    NinoOverlayFn chosen;
    gpointer user;
} Overlay;

nino_history *nino_overlay_history(const Overlay *o, int side);

// ---- overlay_draw.c
void nino_overlay_draw(NinoArea *area, NinoPlot *p, gpointer overlay); // NinoAreaType.draw
NinoPlotBox nino_overlay_box(float width, float height);
float nino_overlay_x(const Overlay *o, const NinoPlotBox *b, double at);
// The top of a lane, LANES: of the device. One without anything in it takes no room.
float nino_overlay_lane_y(const Overlay *o, const NinoPlotBox *b, int lane);
// "−12.5 %", or what there is to say instead.
void nino_overlay_say_change(char *buf, size_t size, const Slot *s);
