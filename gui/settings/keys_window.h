// The window in which keys are changed: every command with its keys, conflicts by name.
#pragma once
#include <gtk/gtk.h>

void nino_keys_window_present(GtkWindow *parent);
