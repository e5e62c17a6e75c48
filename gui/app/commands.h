// What the user can do: one table for the shortcuts, the window that lists them and the main menu.
#pragma once
#include <gtk/gtk.h>

typedef struct NinoCommand {
    const char *action, *label, *group; // action: detailed name
    const char *keys[3];                // accelerators
    gboolean in_menu;
} NinoCommand;
extern const NinoCommand nino_commands[]; // ends with a NULL action

void nino_commands_set_accels(GtkApplication *app);
// Keys that type text or undo it: the window gets them when nobody inside wanted them.
void nino_commands_add_keys(GtkWidget *window);
GMenuModel *nino_commands_menu(void); // sections by group; the caller's
GtkWidget *nino_commands_shortcuts_window(void);
