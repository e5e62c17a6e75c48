// Frame by frame until the widget is laid out. See base/focus.h.
#include "base/focus.h"

static gboolean take_focus(GtkWidget *widget, GdkFrameClock *clock, gpointer user)
{
    (void) clock, (void) user;
    if (!gtk_widget_get_height(widget))
        return G_SOURCE_CONTINUE;
    gtk_widget_grab_focus(widget);
    return G_SOURCE_REMOVE;
}

void nino_focus_when_placed(GtkWidget *widget)
{
    gtk_widget_add_tick_callback(widget, take_focus, NULL, NULL);
}
