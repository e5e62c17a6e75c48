// The setting has the name of the user's theme or of the one that GTK has built in.
#include "base/contrast.h"

#include <string.h>

gboolean nino_is_high_contrast(GtkWidget *w)
{
    g_autofree char *theme = NULL;
    g_object_get(gtk_widget_get_settings(w), "gtk-theme-name", &theme, NULL);
    return theme && (g_str_has_prefix(theme, "HighContrast") || strstr(theme, "-hc"));
}
