// Keys act on what is seen.
#include "base/in_view.h"

// The first tick comes before the new places are given, the second one after it.
static gboolean activate_when_there(GtkWidget *w, GdkFrameClock *clock, gpointer counts)
{
    (void) clock;
    if (--*(int *) counts)
        return G_SOURCE_CONTINUE;
    gtk_widget_activate(w);
    return G_SOURCE_REMOVE;
}

// Whether it had to be moved.
static gboolean scroll_to(GtkScrolledWindow *scroller, GtkWidget *w)
{
    GtkAdjustment *a = gtk_scrolled_window_get_vadjustment(scroller);
    const double before = gtk_adjustment_get_value(a);
    graphene_rect_t box;
    if (!gtk_widget_compute_bounds(w, GTK_WIDGET(scroller), &box))
        return FALSE;
    const double top = before + box.origin.y;
    gtk_adjustment_clamp_page(a, top, top + box.size.height);
    return gtk_adjustment_get_value(a) != before;
}

static gboolean on_in_view_key(GtkEventControllerKey *k, guint key, guint code,
                               GdkModifierType mods, gpointer user)
{
    (void) k, (void) code;
    GtkScrolledWindow *scroller = user;
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(scroller));
    GtkWidget *focus = root ? gtk_root_get_focus(root) : NULL;
    const gboolean activates = key == GDK_KEY_space || key == GDK_KEY_Return ||
                               key == GDK_KEY_KP_Enter || key == GDK_KEY_ISO_Enter;
    if (!focus || mods & (GDK_CONTROL_MASK | GDK_ALT_MASK) ||
        !gtk_widget_is_ancestor(focus, GTK_WIDGET(scroller)) || !scroll_to(scroller, focus))
        return FALSE;
    if (!activates || GTK_IS_EDITABLE(focus) || GTK_IS_TEXT_VIEW(focus))
        return FALSE;
    int *counts = g_new(int, 1);
    *counts = 2;
    gtk_widget_add_tick_callback(focus, activate_when_there, counts, g_free);
    return TRUE;
}

void nino_in_view_keep(GtkScrolledWindow *scroller)
{
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_in_view_key), scroller);
    gtk_widget_add_controller(GTK_WIDGET(scroller), keys);
}
