// A chooser of files, and what was chosen there.
#pragma once
#include <gtk/gtk.h>

// Not shown yet. It lives on for a while when it was closed, whoever gives up the reference.
GtkFileChooserNative *nino_chooser_new(const char *title, GtkWindow *parent,
                                       GtkFileChooserAction action, const char *accept);
// Of a GtkFileChooserNative: the path; NULL: none was, or it has none here. g_free().
char *nino_chosen_path(GtkNativeDialog *dialog, int response);
