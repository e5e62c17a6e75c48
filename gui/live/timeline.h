// What others do with the rows of the timeline: find, hide, pin, collapse; and what of that is kept with a saved view.
#pragma once
#include <gtk/gtk.h>

// Only rows with this in a name stay, other bars fade; "" or NULL: all. Returns how many bars have it.
guint nino_timeline_find(GtkWidget *timeline, const char *text);
const char *nino_timeline_found(GtkWidget *timeline); // never NULL
// Chooses the next bar that has it, after the cursor; from the first one on behind the last. FALSE: none has.
gboolean nino_timeline_find_next(GtkWidget *timeline);
// Which rows are hidden, pinned and collapsed, as one word of a key file; g_free().
char *nino_timeline_rows(GtkWidget *timeline);
void nino_timeline_set_rows(GtkWidget *timeline, const char *rows); // NULL, "": all as they come
