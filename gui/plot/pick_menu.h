// What can be done with what is chosen in a run: one set of actions, "pick.…", for the menus of all views and
// the buttons of the details pane. A view only says what lies where the menu was asked for.
#pragma once
#include "plot/run_model.h"

#include <gtk/gtk.h>

// Chooses what is at x, y of the widget and appends what only this view can do with it (menu sections). *x < 0:
// asked for by a key, for what has the focus there: sets both to where it is. FALSE: nothing is chosen there, the
// menu has only those sections, if any.
typedef gboolean (*NinoPickAtFn)(GtkWidget *w, double *x, double *y, GMenu *more, gpointer user);

// The actions, for w and what is in it.
void nino_pick_actions(GtkWidget *w, NinoRun *run);
// The same as a menu on the secondary button, the Menu key and Shift+F10. user must live as long as w.
void nino_pick_menu_add(GtkWidget *w, NinoRun *run, NinoPickAtFn at, gpointer user);
// Of a table whose cells carry their item under this name (g_object_set_data()): the item of the row at x, y, or
// with *x < 0 `selected`, and where its row is; NULL: there is none.
#define NINO_CELL_ITEM "nino-cell-item"
gpointer nino_pick_row_at(GtkWidget *table, double *x, double *y, gpointer selected);
// Selects that item of a table, if it is still there.
void nino_pick_select(GtkSingleSelection *selection, gconstpointer item);
// Of a list box: the row at y, or with *x < 0 the one that has the focus, and where that is.
GtkListBoxRow *nino_pick_list_row_at(GtkWidget *list, double *x, double *y);
// A button that opens it, of what is chosen then; name: for screen readers.
GtkWidget *nino_pick_menu_button(NinoRun *run, const char *name);
// Opens it; x < 0: as by a key.
void nino_pick_menu_open(GtkWidget *w, double x, double y);
// The sections of what is chosen now; empty where nothing is. The caller's.
GMenu *nino_pick_menu_new(NinoRun *run);

// The time of what is chosen, of a kernel that of its longest call; FALSE: nothing that has one is.
gboolean nino_pick_time(NinoRun *run, guint64 *t0, guint64 *t1);
// The longest call of the chosen kernel in the selected range, which stands for what all have in common.
gboolean nino_pick_longest(NinoRun *run, nino_event *call);
