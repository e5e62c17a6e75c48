// The main menu: what can be done, in four short columns.
#pragma once
#include <gtk/gtk.h>

// actions: of the window, as "win"; what has a state there shows it.
GtkWidget *nino_commands_popover(GActionGroup *actions);
