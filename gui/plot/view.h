// A view of a run: what the list of views says of it, and how it is made. live/views.h has the
// list.
#pragma once
#include "plot/export.h"

typedef struct NinoViewType {
    const char *id;    // stable: "timeline"; for actions, preferences and screenshots
    const char *title; // "Timeline"
    const char *help;  // one sentence, for tooltips
    GtkWidget *(*create)(NinoRun *run); // takes its own reference to the run
    // What of it is kept with a saved view (filters, choices), as one line; both NULL: nothing is. restore:
    // what save gave, maybe of another version; "": as it is at first.
    char *(*save)(GtkWidget *view); // g_free()
    void (*restore)(GtkWidget *view, const char *text);
} NinoViewType;

// Creates a view and names it for style sheets, tests and screen readers.
GtkWidget *nino_view_new(const NinoViewType *type, NinoRun *run);
