// What the devices of this machine can do, as measured or by data sheet, and a button that measures
// the one in use: for the window of preferences.
#pragma once
#include <gtk/gtk.h>

#include "engine/engine.h"

// The command `ninodes devices` does both, so that the app itself opens no device. While a job of
// the engine runs the button waits: the two would slow each other down. device: selector, NULL or
// "" as of the command. *named: the button.
GtkWidget *nino_measure_row_new(NinoEngine *engine, const char *device, GtkWidget **named);
