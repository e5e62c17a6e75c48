// The widget every plot is made of: redraws when the run changes (and it is visible), counts what
// that costs, shows tooltips; optionally with the shared time axis: wheel and keys zoom and pan,
// dragging selects a range, the pointer moves the crosshair of all plots; or with things that
// arrows step over. What the crosshair is at is read out.
#pragma once
#include "plot/plot.h"
#include "plot/run_model.h"

#define NINO_TYPE_AREA (nino_area_get_type())
G_DECLARE_FINAL_TYPE(NinoArea, nino_area, NINO, AREA, GtkWidget)

typedef struct NinoAreaType {
    const char *label; // for screen readers
    void (*draw)(NinoArea *area, NinoPlot *p, gpointer user);
    // Text (Pango markup) about the place, or FALSE.
    gboolean (*tip)(NinoArea *area, double x, double y, GString *text, gpointer user);
    // Text for a time of the axis, where that of tip() in the middle of the height would not do.
    gboolean (*read)(NinoArea *area, guint64 t, GString *text, gpointer user);
    // Where the i-th bar, tile or point is: arrows step from one to the next. FALSE: there is none.
    gboolean (*item)(NinoArea *area, int i, double *x, double *y, gpointer user);
    // A click (n_press 1, 2); FALSE: on nothing (which ends the selection of a range).
    gboolean (*click)(NinoArea *area, double x, double y, int n_press, gpointer user);
    // Chooses what its menu is to be of, as in plot/pick_menu.h; NULL: what a click chooses.
    // By a key *y < 0, with a time axis *x then is at the cursor if there is one.
    gboolean (*menu)(NinoArea *area, double *x, double *y, GMenu *more, gpointer user);
    // A key that the area has no use for; TRUE: used.
    gboolean (*key)(NinoArea *area, guint keyval, GdkModifierType mods, gpointer user);
    // The part of the width that is the time axis (only with has_time).
    void (*box)(NinoArea *area, float width, float height, NinoPlotBox *box, gpointer user);
    gboolean has_time;
    gboolean draws_itself; // calls gtk_widget_queue_draw() when it has other data
    int min_width, min_height;
} NinoAreaType;

// `type` must be static; user_free (may be NULL) ends `user` with the area.
GtkWidget *nino_area_new(NinoRun *run, const NinoAreaType *type, gpointer user,
                         GDestroyNotify user_free);
NinoRun *nino_area_run(NinoArea *area);
gpointer nino_area_user(NinoArea *area);
float nino_area_line(NinoArea *area); // height of a line of text
// Where the thing is that arrows have stepped to; FALSE: to none.
gboolean nino_area_item_place(NinoArea *area, double *x, double *y);
// What is at the cursor, or at what arrows have stepped to, is told to screen readers as the
// description of the widget: by itself when either moves, or when the area is asked to.
void nino_area_read_out(NinoArea *area);
void nino_area_say(NinoArea *area, const char *markup); // something else instead
// Asks for a note at t, or changes the one that is there.
void nino_area_ask_note(NinoArea *area, guint64 t);
// Draws at any size on cairo, for export. Fits NinoViewExport.draw.
void nino_area_export(GtkWidget *area, cairo_t *cr, double width, double height, gboolean is_dark);
// With a time axis: the part that is shown and where it is.
float nino_area_x(NinoArea *area, const NinoPlotBox *box, guint64 t); // may lie outside the box
guint64 nino_area_time(NinoArea *area, const NinoPlotBox *box, double x);
// What most plots over time put over their data: selected range, cursor.
void nino_area_draw_marks(NinoArea *area, NinoPlot *p, const NinoPlotBox *box);
