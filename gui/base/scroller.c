// GTK's own bars lie over what they scroll and go after a second. See base/scroller.h.
#include "base/scroller.h"

// ---- the focus, out of sight ---------------------------------------------------------------------

static gboolean acts(guint key, GdkModifierType with, GtkWidget *on)
{
    switch (key) {
    case GDK_KEY_Menu:
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter:
    case GDK_KEY_ISO_Enter: return TRUE;
    case GDK_KEY_F10: return (with & GDK_SHIFT_MASK) != 0;
    case GDK_KEY_space:
    case GDK_KEY_KP_Space:
        return !GTK_IS_EDITABLE(on) && !GTK_IS_TEXT_VIEW(on); // there it is a letter
    default: return FALSE;
    }
}

// Some of it is.
static gboolean is_between(const graphene_rect_t *r, double x, double width, double y,
                           double height)
{
    return r->origin.x + r->size.width > x && r->origin.x < x + width &&
           r->origin.y + r->size.height > y && r->origin.y < y + height;
}

// The wheel may have moved what has the focus out of sight, and a key still goes there: it is brought back. One
// that would act, or open a menu beyond the screen, does nothing else then: nobody has seen on what.
static gboolean on_page_key(GtkEventControllerKey *keys, guint key, guint code,
                            GdkModifierType with, gpointer unused)
{
    (void) code;
    (void) unused;
    GtkScrolledWindow *scroll =
        GTK_SCROLLED_WINDOW(gtk_event_controller_get_widget(GTK_EVENT_CONTROLLER(keys)));
    GtkWidget *view = gtk_scrolled_window_get_child(scroll);
    GtkWidget *page = gtk_viewport_get_child(GTK_VIEWPORT(view));
    GtkWidget *focus = gtk_root_get_focus(gtk_widget_get_root(view));
    GtkAdjustment *down = gtk_scrolled_window_get_vadjustment(scroll);
    GtkAdjustment *across = gtk_scrolled_window_get_hadjustment(scroll);
    graphene_rect_t seen, at; // as it was drawn last, and for the bars, which may be further on
    if (!focus || !page || !gtk_widget_is_ancestor(focus, page) ||
        !gtk_widget_compute_bounds(focus, view, &seen) ||
        !gtk_widget_compute_bounds(focus, page, &at))
        return FALSE;
    if (is_between(&seen, 0, gtk_widget_get_width(view), 0, gtk_widget_get_height(view)) &&
        is_between(&at, gtk_adjustment_get_value(across), gtk_adjustment_get_page_size(across),
                   gtk_adjustment_get_value(down), gtk_adjustment_get_page_size(down)))
        return FALSE;
    gtk_adjustment_clamp_page(down, at.origin.y, at.origin.y + at.size.height);
    gtk_adjustment_clamp_page(across, at.origin.x, at.origin.x + at.size.width);
    return acts(key, with, focus);
}

GtkWidget *nino_scroller_new(GtkWidget *child)
{
    GtkWidget *scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_overlay_scrolling(GTK_SCROLLED_WINDOW(scroll), FALSE);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), child);
    if (GTK_IS_VIEWPORT(gtk_scrolled_window_get_child(GTK_SCROLLED_WINDOW(scroll)))) {
        GtkEventController *keys = gtk_event_controller_key_new();
        gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
        g_signal_connect(keys, "key-pressed", G_CALLBACK(on_page_key), NULL);
        gtk_widget_add_controller(scroll, keys);
    }
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
