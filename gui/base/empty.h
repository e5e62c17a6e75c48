// What a view says where there is nothing to show: a picture, a sentence, and what can be done about it. One widget for
// panes, lists, searches and plots.
#pragma once
#include <gtk/gtk.h>

enum { NINO_EMPTY_ACTIONS = 2 };

// static; texts are for translators: as everywhere, a text of one sentence has no full stop, of several each. Of the actions those that can be done now are shown.
typedef struct NinoEmpty {
    const char *icon, *text;
    struct {
        const char *label, *action; // "win.open", "win.drawer::models"
    } does[NINO_EMPTY_ACTIONS];
} NinoEmpty;

// What several views say: no workflow is open; there is no run to look at (with a text of each view's own).
extern const NinoEmpty nino_empty_no_workflow, nino_empty_no_run;

GtkWidget *nino_empty_new(const NinoEmpty *what);
// The list while it has rows, else `empty`.
GtkWidget *nino_empty_or_rows(GtkWidget *empty, GtkWidget *list, GListModel *rows);
// Something else instead, with this text (NULL: its own).
void nino_empty_say(GtkWidget *empty, const NinoEmpty *what, const char *text);
// While something is typed there, it says that nothing is found and offers to clear the search.
void nino_empty_add_search(GtkWidget *empty, GtkEditable *search, const char *not_found);
