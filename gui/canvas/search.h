// A popover to find something by typing: node classes, or whatever else has a title.
#pragma once
#include <gtk/gtk.h>
#include <ninodes/document.h>

typedef struct NinoSearchItem {
    char *title, *detail, *key; // key: given to the caller
    char *terms;                // further words to find it by
    char *picture;              // path of one that is shown where there is room for it, or NULL
    int rank;                   // of those that fit as well, lower ones come first
    int score;
} NinoSearchItem;

enum { NINO_SEARCH_SHOWN = 60 }; // rows at most

typedef void (*NinoSearchFn)(gpointer user, const char *key);

// Takes items (of NinoSearchItem, freed with nino_search_item_free). The popover has no parent yet.
GtkWidget *nino_search_new(const char *label, GPtrArray *items, NinoSearchFn chosen, gpointer user);
// Called with the same user when Escape closed it; without it, the popover just closes.
void nino_search_set_escape(GtkWidget *popover, void (*fn)(gpointer user));
// The row that is chosen before anything is typed. No row of that key, or NULL: the first one.
void nino_search_select(GtkWidget *popover, const char *key);
void nino_search_item_free(gpointer item);
// Node classes. type NULL: all; else those that a link of this type can go to (from_output) or come
// from; what takes or gives just this type comes before what takes any.
GPtrArray *nino_search_nodes(const char *type, gboolean from_output);
// How well the typed words fit; 0: not at all.
int nino_search_score(const NinoSearchItem *item, const char *typed);
