// Internal: settings files. Lines "name = value", # begins a comment; the names are those of the
// variables without NINODES_, in small letters. Read in this order, the first that sets a name
// counts: ninodes.conf in the working folder (device, models and mem_limit only: who unpacks
// somebody's workflows must not run their kernels), $XDG_CONFIG_HOME/ninodes/ninodes.conf (default
// ~/.config), ninodes/ninodes.conf in $XDG_CONFIG_DIRS (default /etc/xdg). The environment counts
// more than all of them, options of a command most.
// Thread-safety: nino_settings_read() once, by vars.c; then read-only.
#pragma once
#include <stdbool.h>

void nino_settings_read(void);
const char *nino_settings_get(const char *name); // "NINODES_DEVICE"; NULL: no file sets it
