// The keys of the commands: the table's or the user's own, kept in
// $XDG_CONFIG_HOME/ninodes/keys.ini. A change counts at once, everywhere.
#pragma once
#include "settings/actions.h"

// Accelerators; NULL-terminated, g_strfreev().
char **nino_keys_get(const NinoCommand *c);
gboolean nino_keys_is_default(const NinoCommand *c);
void nino_keys_set(const NinoCommand *c, const char *const *keys); // none: {NULL}
void nino_keys_reset(const NinoCommand *c);                        // NULL: all commands
// The other command that has this key; NULL: none.
const NinoCommand *nino_keys_owner(const char *key, const NinoCommand *but);
// Takes the key from a command.
void nino_keys_remove(const NinoCommand *c, const char *key);

void nino_keys_start(GtkApplication *app);
// Keys that type text or undo it: the window gets them when nobody inside wanted them.
void nino_keys_add_to_window(GtkWidget *window);
void nino_keys_add_to_canvas(GtkWidget *canvas);
