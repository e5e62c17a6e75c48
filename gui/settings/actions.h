// What the user can do: one table for the keys, the windows that list and change them and the main
// menu.
#pragma once
#include <gtk/gtk.h>

typedef struct NinoCommand {
    const char *action, *label, *group; // action: detailed name; "canvas.…": of NinoCanvas
    const char *keys[3]; // accelerators, unless the user chose others (settings/keys.h)
    gboolean in_menu;
} NinoCommand;
extern const NinoCommand nino_commands[]; // ends with a NULL action

GtkWidget *nino_commands_shortcuts_window(void);
