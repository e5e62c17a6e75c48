// Internal: settings files, and what counts in the end. A file has lines "key = value" below
// headings "[section]", as TOML has them; # begins a comment. Read in this order, the first that
// sets a key counts: ninodes.conf in the working folder (rows of NINO_SETTING_ANY only: who unpacks
// somebody's workflows must not run their kernels), $XDG_CONFIG_HOME/ninodes/ninodes.conf (default
// ~/.config), ninodes/ninodes.conf in $XDG_CONFIG_DIRS (default /etc/xdg). The environment counts
// more than all of them, nino_config_set() most.
// Thread-safety: nino_settings_read() once, by vars.c; then read-only.
#pragma once
#include <ninodes/config.h>

#include "core/base/vars.h"

enum {
#define X(field, name, scope, key, flag, values, def, help) NINO_VAR_##field,
    NINO_VARS(X)
#undef X
        NINO_VAR_COUNT
};

// A row of the table in vars.h.
typedef struct nino_setting_row {
    const char *variable;
    nino_setting_scope scope;
    const char *key, *flag, *values, *def, *help;
} nino_setting_row;
extern const nino_setting_row nino_setting_rows[NINO_VAR_COUNT];

// Reads the files and the environment; again (tests): anew, but for what nino_config_set() has set;
// texts of before are gone.
void nino_settings_read(void);
// Of a row: its text, and where it comes from; the default where nothing sets it.
nino_config_value *nino_settings_at(int row); // config.c writes it
// The row of a key in any case, without regard to "-" for "_"; -1: none that files may set.
int nino_settings_find(const char *key);
// What is wrong with a value of the row, in out; false: nothing.
bool nino_settings_is_wrong(int row, const char *value, char *out, size_t size);
// Without the white space around it, in place.
char *nino_settings_trim(char *s);
// The section that a trimmed line "[section]" enters, in out; false: it is no heading.
bool nino_settings_heading(const char *line, char *out, size_t size);
// The user's own file, "" when there is no home.
bool nino_settings_own_path(char *out, size_t size);
