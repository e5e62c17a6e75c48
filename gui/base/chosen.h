// What was chosen in a chooser of files.
#pragma once
#include <gtk/gtk.h>

// Of a GtkFileChooserNative: the path; NULL: none was, or it has none here. g_free().
char *nino_chosen_path(GtkNativeDialog *dialog, int response);
