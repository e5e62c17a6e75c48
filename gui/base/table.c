// GTK's own bars lie over what they scroll and go after a second. See base/table.h.
#include "base/table.h"

GtkWidget *nino_table_scroller_new(GtkWidget *table)
{
    GtkWidget *scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_overlay_scrolling(GTK_SCROLLED_WINDOW(scroll), FALSE);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), table);
    return scroll;
}
