// The runs of this user that were watched to their end, and traces that were opened, as traces in a folder of the app's state; the
// oldest without a name go when there are too many.
#pragma once
#include "plot/run_model.h"
#include <gtk/gtk.h>
#include <ninodes/experiment.h>

typedef struct NinoKept {
    char *id;    // of the file
    char *title; // of the workflow
    char *name;  // that the user gave it; "": none
    char *note;  // the same
    char *kind; // what runs of its workflow must have in common to be compared: nino_history_kind()
    gint64 at;  // seconds since 1970, when it was kept
    double seconds; // of its job; NAN: not known
    guint64 n_records;
} NinoKept;

enum { NINO_KEPT_MOST = 50 };

void nino_kept_free(gpointer kept);
// Of NinoKept, newest first; g_ptr_array_unref().
GPtrArray *nino_kept_list(void);
// Keeps what the run shows. FALSE: there is nothing, it is too large to be written while the user waits,
// or *error says why not.
gboolean nino_kept_add(NinoRun *run, GError **error);
// The same with a trace that was opened, of whatever program, unless it is there already.
gboolean nino_kept_take(NinoRun *run, const char *path, GError **error);
// Of the runs in the list that are of the same work as this one, up to it in time, and the one before it.
void nino_kept_trend(const GPtrArray *list, const NinoKept *kept, nino_trend *out);
// Whether it is what the run shows: told by how long its job took, to the nanosecond.
gboolean nino_kept_is_shown(const NinoKept *kept, NinoRun *run);
void nino_kept_rename(const char *id, const char *name);
void nino_kept_set_note(const char *id, const char *note);
// Whether all words of the text are in its title, name, note or date, in any case. "": it is.
gboolean nino_kept_matches(const NinoKept *kept, const char *text);
void nino_kept_remove(const char *id);
char *nino_kept_path(const char *id); // g_free()
// What people call the trace at path: the name of a kept run, else its workflow; of another the file. g_free()
char *nino_kept_called(const char *path);
// Calls fn(widget) after each change, for as long as the widget is there.
void nino_kept_watch(GtkWidget *widget, void (*fn)(GtkWidget *widget));
