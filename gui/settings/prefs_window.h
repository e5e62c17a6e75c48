// The window of preferences, made from the table of settings.
#pragma once
#include <gtk/gtk.h>

void nino_prefs_window_present(GtkWindow *parent); // one at a time
