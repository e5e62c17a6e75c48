// Editors of one value, by the node table: spin button, slider, entry, text area, list of choices
// or files, check box. Used on nodes (compact) and in forms.
#pragma once
#include <gtk/gtk.h>
#include <ninodes/document.h>

typedef enum NinoEditKind {
    NINO_EDIT_VALUE,   // text: the value as a person writes it
    NINO_EDIT_CONTROL, // text: what happens to it after a run
    NINO_EDIT_DONE,    // the focus left: what follows is another change
    NINO_EDIT_REFUSED, // text: why the file that was chosen cannot be taken
} NinoEditKind;
// The value was edited. `name` and `text` live until it returns.
typedef void (*NinoEditFn)(gpointer user, const char *name, NinoEditKind kind, const char *text);

// fn is not called any more once the widget is destroyed or nino_editor_stop() was called.
GtkWidget *nino_editor_new(const nino_doc_widget *w, gboolean compact, NinoEditFn fn,
                           gpointer user);
// A list of what may happen to the value after a run; w->control must not be NULL.
GtkWidget *nino_editor_new_control(const nino_doc_widget *w, NinoEditFn fn, gpointer user);
// An editor of several lines as a note: Markdown, until it is written. Stands in its place.
GtkWidget *nino_editor_as_note(GtkWidget *editor);
// Shows the value as it is now; what the user is typing stays when it means the same.
void nino_editor_update(GtkWidget *editor, const nino_doc_widget *w);
void nino_editor_stop(GtkWidget *editor);
gboolean nino_editor_is_multiline(const nino_doc_widget *w);
