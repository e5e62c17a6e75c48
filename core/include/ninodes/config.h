// Settings: every key of ninodes.conf with its value, where that comes from, and what it changes.
//
// What counts, from most to least: nino_config_set(), which is what options of a command line are;
// the environment variable; ninodes.conf of the working folder, of the user
// ($XDG_CONFIG_HOME/ninodes, default ~/.config/ninodes) and of the system (ninodes in
// $XDG_CONFIG_DIRS, default /etc/xdg); the default. A file has lines "key = value" below headings
// "[section]", as TOML has them. It is read once per process, when a setting is first needed.
// A key that there is not, and a value that its key does not take, are an error of
// nino_ctx_create(), with file, line and the nearest key (nino_settings_problem()).
//
// Threads: nino_config_set() before the library is used; the rest any thread.
#pragma once
#include <ninodes/base.h>

NINO_BEGIN

typedef struct nino_config_row {
    // "mem_limit", "memory.chunk_size": the section is before the point.
    const char *key;
    // The environment variable; and the option that commands have for it, "": only --config.
    const char *variable, *flag;
    // "auto|1|2": one of these words; "0.1..1": a number from .. to; else the kind of text, "DIR".
    const char *values;
    const char *def;
    // What it changes: one line without full stop.
    const char *help;
    // The file of a working folder may set it, too.
    bool is_for_any_folder;
} nino_config_row;
// All of them; the last one has no key.
NINO_API const nino_config_row *nino_config_rows(void);

typedef enum nino_config_source {
    NINO_CONFIG_DEFAULT,
    NINO_CONFIG_FILE,
    NINO_CONFIG_VARIABLE,
    // nino_config_set()
    NINO_CONFIG_SET
} nino_config_source;

typedef struct nino_config_value {
    // Never NULL.
    const char *text;
    nino_config_source source;
    // The file; the variable; what nino_config_set() was told; "": the default.
    const char *where;
    // Of the file.
    int line;
} nino_config_value;

// False: there is no such key. The texts live as long as the process.
NINO_API bool nino_config_get(const char *key, nino_config_value *out);
// Sets a key for this process; where says who wants it: "--mem-limit". NINO_ERR_UNKNOWN with the
// nearest key, NINO_ERR_RANGE, NINO_ERR_NOMEM; NINO_ERR_ARG: settings have been used already.
NINO_API nino_status nino_config_set(const char *key, const char *value, const char *where,
                                     nino_error *err);
// Writes a line into the user's ninodes.conf, in place of the one that sets the key there, else at
// the end of its section; all other lines stay. value NULL: takes the line away. It counts for
// processes that start from now on, and nino_config_get() tells it unless something counts more. Errors: as nino_config_set(), NINO_ERR_IO.
NINO_API nino_status nino_config_write(const char *key, const char *value, nino_error *err);
// The word of a list nearest to a misspelt one, or NULL when none is near.
NINO_API const char *nino_nearest(const char *word, const char *const *list, size_t n);

NINO_END
