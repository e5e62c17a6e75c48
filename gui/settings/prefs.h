// Preferences: a table of settings kept in an XDG key file. The preferences window, the app's
// actions on D-Bus and the defaults all come from the table.
#pragma once
#include <gio/gio.h>

typedef enum NinoPrefType {
    NINO_PREF_BOOL,
    NINO_PREF_CHOICE, // one of `values`
    NINO_PREF_NUMBER, // min .. max
    NINO_PREF_TEXT,
    NINO_PREF_FOLDER,
    NINO_PREF_FILE
} NinoPrefType;

typedef struct NinoPref {
    const char *key, *group, *label, *help; // key: also the name of the action app.KEY
    NinoPrefType type;
    const char *def;
    const char *const *values, *const *labels; // CHOICE: NULL-terminated, same length
    double min, max, step;
    const char *unit; // NUMBER: what stands after it
} NinoPref;
extern const NinoPref nino_prefs[]; // ends with a NULL key

#define NINO_TYPE_PREFS (nino_prefs_get_type())
G_DECLARE_FINAL_TYPE(NinoPrefs, nino_prefs, NINO, PREFS, GObject)

// The one object, owned by the module. Signal "changed" with the key as its detail.
NinoPrefs *nino_prefs_default(void);
gboolean nino_prefs_bool(const char *key);
double nino_prefs_number(const char *key);
const char *nino_prefs_text(const char *key); // never NULL; until the next set of that key
// Stores a value if it is acceptable and different; written to disk at once (atomically).
void nino_prefs_set(const char *key, const char *value);
void nino_prefs_set_bool(const char *key, gboolean value);
// Adds one stateful action a bool or choice to `map`, bound both ways.
void nino_prefs_add_actions(GActionMap *map);

// ---- what the app remembers by itself (window, panes, recent files): a second key file ----------
double nino_state_number(const char *key, double otherwise);
void nino_state_set_number(const char *key, double value);
char **nino_state_list(const char *key); // NULL-terminated, never NULL; g_strfreev()
void nino_state_set_list(const char *key, const char *const *list);
void nino_state_flush(void); // writes what is pending
// A file or folder of the app below $XDG_STATE_HOME/ninodes/studio; parents exist. g_free().
char *nino_state_path(const char *name);
