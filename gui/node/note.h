// A note that is read as Markdown, and written as text while it has the focus.
#pragma once
#include <gtk/gtk.h>

// Takes an editor of several lines and stands in its place.
GtkWidget *nino_note_new(GtkWidget *editor);
// Begins to write. FALSE: it is no note.
gboolean nino_note_edit(GtkWidget *note);
