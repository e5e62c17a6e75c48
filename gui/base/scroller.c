// GTK's own bars lie over what they scroll and go after a second. See base/scroller.h.
#include "base/scroller.h"

GtkWidget *nino_scroller_new(GtkWidget *child)
{
    GtkWidget *scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_overlay_scrolling(GTK_SCROLLED_WINDOW(scroll), FALSE);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), child);
    return scroll;
}

GtkWidget *nino_page_scroller_new(GtkWidget *page)
{
    GtkWidget *scroll = nino_scroller_new(page);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    return scroll;
}
