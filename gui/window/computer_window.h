// What this computer can do: its devices with memory and measured speed, and which families of models fit into that memory.
#pragma once
#include "engine/engine.h"
#include <gtk/gtk.h>

// One window for each window of the app; device: a selector, or NULL for the one that is taken by itself.
GtkWidget *nino_computer_window_new(GtkWindow *parent, NinoEngine *engine, const char *device);
