// GTK's own bars lie over what they scroll and go after a second. See base/scroller.h.
#include "base/scroller.h"

GtkWidget *nino_scroller_new(GtkWidget *child)
{
    GtkWidget *scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_overlay_scrolling(GTK_SCROLLED_WINDOW(scroll), FALSE);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), child);
    return scroll;
}

// ---- pages -------------------------------------------------------------------------------------

// A GtkScrolledWindow asks for the page's width alone: its bar, once there is one, would lie over the end of the page. These
// three are its own, with the bar's width added.
static GtkSizeRequestMode page_request_mode(GtkWidget *w)
{
    return GTK_WIDGET_GET_CLASS(w)->get_request_mode(w);
}

static void measure_page(GtkWidget *w, GtkOrientation o, int other, int *min, int *natural,
                         int *min_baseline, int *natural_baseline)
{
    GTK_WIDGET_GET_CLASS(w)->measure(w, o, other, min, natural, min_baseline, natural_baseline);
    if (o != GTK_ORIENTATION_HORIZONTAL)
        return;
    int bar;
    gtk_widget_measure(gtk_scrolled_window_get_vscrollbar(GTK_SCROLLED_WINDOW(w)), o, -1, &bar,
                       NULL, NULL, NULL);
    *min += bar;
    *natural += bar;
}

static void allocate_page(GtkWidget *w, int width, int height, int baseline)
{
    GTK_WIDGET_GET_CLASS(w)->size_allocate(w, width, height, baseline);
}

GtkWidget *nino_page_scroller_new(GtkWidget *page)
{
    GtkWidget *scroll = nino_scroller_new(page);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_widget_set_layout_manager(
        scroll, gtk_custom_layout_new(page_request_mode, measure_page, allocate_page));
    return scroll;
}

// ---- plots -------------------------------------------------------------------------------------

GtkWidget *nino_plot_scroller_new(GtkWidget *area)
{
    GtkWidget *scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), area);
    // GTK scrolls to the lower end of what gets the focus and is higher than its place.
    gtk_viewport_set_scroll_to_focus(GTK_VIEWPORT(gtk_widget_get_parent(area)), FALSE);
    return scroll;
}
