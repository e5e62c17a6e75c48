// What the files of the plot widget share.
#pragma once
#include "plot/area.h"

struct _NinoArea {
    GtkWidget parent;
    NinoRun *run;
    const NinoAreaType *type;
    gpointer user;
    GDestroyNotify user_free;
    GHashTable *layouts;
    double pointer_x; // scroll events have no position
    double drag_x;
    gboolean dragging, panning;
    guint64 pan_view[2];
    int item;            // what arrows have stepped to, -1: nothing
    char *said;          // the description of the widget
    GtkWidget *empty;    // in the place of a plot; NULL: never there so far
    const char *nothing; // what it says; NULL: there is a plot
    guint later;         // shows or hides it, after drawing
};

// The note drawn at t or beside it; NULL: none.
const nino_event *nino_area_note_at(NinoArea *a, guint64 t);
// Where the type has its time axis, or all of the widget.
void nino_area_get_box(NinoArea *a, NinoPlotBox *box);
// The shared time axis: wheel, drag and motion of the pointer; keys (TRUE: used).
void nino_area_add_time_controllers(NinoArea *a);
gboolean nino_area_time_key(NinoArea *a, guint key, GdkModifierType mods);
// ---- area_read.c
void nino_area_add_reading(NinoArea *a);
void nino_area_draw_item(NinoArea *a,
                         NinoPlot *p); // a crosshair at it and the text about it beside
gboolean nino_area_item_key(NinoArea *a, guint key); // steps from one to the next; TRUE: used
