// GTK 4 gives titles of columns no place of their own: they are the children of the view's first one. See base/table.h.
#include "base/table.h"

void nino_table_set_title(GtkColumnView *view, int column, const char *tip, gboolean is_number)
{
    GtkWidget *title = gtk_widget_get_first_child(gtk_widget_get_first_child(GTK_WIDGET(view)));
    for (int c = 0; c < column && title; c++)
        title = gtk_widget_get_next_sibling(title);
    if (!title)
        return;
    gtk_widget_set_tooltip_text(title, tip);
    if (is_number)
        gtk_widget_set_halign(gtk_widget_get_first_child(title), GTK_ALIGN_END);
}
