// One open workflow: its file, its nodes, what is wrong with it, and whether it was changed.
#pragma once
#include "canvas/canvas.h"
#include <gtk/gtk.h>
#include <ninodes/document.h>

#define NINO_TYPE_TAB (nino_tab_get_type())
G_DECLARE_FINAL_TYPE(NinoTab, nino_tab, NINO, TAB, GtkWidget)

GtkWidget *nino_tab_new(void); // an empty workflow
// Replaces what the tab holds. On failure it stays as it was.
gboolean nino_tab_open(NinoTab *tab, const char *path, GError **error);
// From text that was kept by autosave; path (may be NULL) is where it once came from.
gboolean nino_tab_restore(NinoTab *tab, const char *json, gsize len, const char *path,
                          GError **error);
const char *nino_tab_title(NinoTab *tab);  // file name, or "Untitled"
const char *nino_tab_path(NinoTab *tab);   // NULL: not saved yet, or it came from a picture
const char *nino_tab_source(NinoTab *tab); // the file it came from, whatever it is; NULL: new
const char *nino_tab_uid(NinoTab *tab);    // differs between all tabs of all sessions
// A workflow without a file, called so.
gboolean nino_tab_open_text(NinoTab *tab, const char *json, gsize len, const char *title,
                            GError **error);
gboolean nino_tab_is_changed(NinoTab *tab);
gboolean nino_tab_is_empty(NinoTab *tab); // new and untouched: the next file may take its place

// Text of the workflow, in the form that its file had (a picture: the editor's form) or the API
// form. Owned by the tab until the next call or change. NULL and *error: it cannot be written so.
const char *nino_tab_json(NinoTab *tab, gboolean api, gsize *len, GError **error);
gboolean nino_tab_save(NinoTab *tab, const char *path, GError **error); // and remembers the path
gboolean nino_tab_export_api(NinoTab *tab, const char *path, GError **error);
// What would run. NULL: nothing can. Owned by the tab until the next change.
nino_graph *nino_tab_graph(NinoTab *tab);
nino_document *nino_tab_document(NinoTab *tab);

void nino_tab_undo(NinoTab *tab);
void nino_tab_redo(NinoTab *tab);
const char *nino_tab_undo_name(NinoTab *tab); // NULL: nothing to undo
const char *nino_tab_redo_name(NinoTab *tab);
// Sets "NODE.INPUT=VALUE", as ninodes run --set does.
gboolean nino_tab_set(NinoTab *tab, const char *assignment, GError **error);
gboolean nino_tab_set_value(NinoTab *tab, const char *node, const char *input, const char *value,
                            GError **error);
void nino_tab_advance(NinoTab *tab); // after it was queued: seeds go on as their control says

// ---- what a run says about its nodes: scope names "ID CLASS" -----------------------------------
void nino_tab_mark_reset(NinoTab *tab, gboolean queued); // queued: all nodes wait for their turn
void nino_tab_mark_over(NinoTab *tab);                   // the run has ended
void nino_tab_mark_begin(NinoTab *tab, const char *scope_name);
void nino_tab_mark_progress(NinoTab *tab, const char *scope_name, double fraction);
void nino_tab_mark_paused(NinoTab *tab, const char *scope_name, gboolean is_paused);
void nino_tab_mark_end(NinoTab *tab, const char *scope_name, double seconds, gint64 mem_delta,
                       NinoNodeState state);
void nino_tab_mark_error(NinoTab *tab, const char *id, const char *text);
void nino_tab_show_node(NinoTab *tab, const char *id); // scrolls to it and selects it
NinoCanvas *nino_tab_canvas(NinoTab *tab);
void nino_tab_changed_elsewhere(NinoTab *tab); // the document was changed through its own functions
// Signals: "problem" (const char *text): an edit was refused; "changed": text, title or undo state;
// "checked": nino_tab_graph() is another one.
