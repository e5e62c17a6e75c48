// Internal: what the canvas holds beside nodes and can be selected: a group, or a point that a link
// goes through. The canvas draws it; as a widget it takes the focus and tells a screen reader.
#pragma once
#include <gtk/gtk.h>

#define NINO_TYPE_SPOT (nino_spot_get_type())
G_DECLARE_FINAL_TYPE(NinoSpot, nino_spot, NINO, SPOT, GtkWidget)

struct _NinoSpot {
    GtkWidget parent;
    char *id, *label;
    int number; // of the group or reroute in the document
    gboolean is_group, is_selected;
    gboolean is_moved; // while what is selected moves
};

GtkWidget *nino_spot_new(gboolean is_group, const char *id); // id: of a reroute, or NULL
void nino_spot_set(NinoSpot *s, const char *label, gboolean is_selected);
