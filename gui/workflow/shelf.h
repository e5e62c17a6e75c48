// A drawer with a list of things to take: searched by typing, grouped while nothing is typed, taken by
// Enter, a double click, or dragging.
#pragma once
#include "base/empty.h"
#include "canvas/search.h"

typedef struct NinoShelfType {
    const char *search, *not_found; // what the search asks for; what is said where it finds nothing
    NinoEmpty empty;                // what is said where there is nothing to search
    // The list (of NinoSearchItem), which is taken; asked each time the drawer is opened.
    GPtrArray *(*items)(gpointer user);
    gboolean is_by_terms; // groups are the terms, not the details
    gboolean is_dragged;  // keys are items of a canvas
    void (*chosen)(gpointer user, const char *key);
    // What is to be known of the row that is selected, shown below the list; NULL: nothing.
    char *(*about)(gpointer user, const NinoSearchItem *item);
} NinoShelfType;

// type: static.
GtkWidget *nino_shelf_new(const NinoShelfType *type, gpointer user);
