// A small window to drag files from, as from a file manager. usage: drop_source FILE...
#include <gtk/gtk.h>

static GdkContentProvider *prepare(GtkDragSource *source, double x, double y, gpointer files)
{
    (void) source, (void) x, (void) y;
    return gdk_content_provider_new_typed(GDK_TYPE_FILE_LIST, files);
}

int main(int argc, char **argv)
{
    gtk_init();
    GSList *files = NULL;
    for (int i = 1; i < argc; i++)
        files = g_slist_append(files, g_file_new_for_path(argv[i]));
    GtkWidget *window = gtk_window_new();
    GtkDragSource *source = gtk_drag_source_new();
    gtk_window_set_title(GTK_WINDOW(window), "drop source");
    gtk_window_set_decorated(GTK_WINDOW(window), FALSE);
    gtk_window_set_default_size(GTK_WINDOW(window), 90, 90);
    gtk_window_set_child(GTK_WINDOW(window), gtk_label_new("files"));
    gtk_drag_source_set_actions(source, GDK_ACTION_COPY);
    g_signal_connect(source, "prepare", G_CALLBACK(prepare), files);
    gtk_widget_add_controller(window, GTK_EVENT_CONTROLLER(source));
    gtk_window_present(GTK_WINDOW(window));
    while (g_list_model_get_n_items(gtk_window_get_toplevels()))
        g_main_context_iteration(NULL, TRUE);
    return 0;
}
