// The window of preferences, made from the table of settings.
#pragma once
#include <gtk/gtk.h>

// Makes a row that is no setting, for the end of the table; *named is the widget that carries its
// name.
typedef GtkWidget *(*NinoPrefsRow)(gpointer user, GtkWidget **named);
// One window at a time. key: of the setting that is shown and has the keyboard, NULL: none. label: of
// the row.
void nino_prefs_window_present(GtkWindow *parent, const char *key, const char *label,
                               NinoPrefsRow row, gpointer user);
