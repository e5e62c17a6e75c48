// Key files are written with rename, so that a crash never leaves half of one.
#include "settings/prefs.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/key_file.h"

#define STATE_DELAY_S 2 // panes move often; what the app remembers is written this much later

static const char *const theme_values[] = { "system", "light", "dark", "contrast", NULL };
static const char *const theme_labels[] = { N_("As the desktop"), N_("Light"), N_("Dark"),
                                            N_("High contrast"), NULL };
static const char *const language_values[] = { "system", "en", "de", NULL };
static const char *const language_labels[] = { N_("As the desktop"), "English", "Deutsch", NULL };
static const char *const renderer_values[] = { "cairo", "gpu", NULL };
static const char *const renderer_labels[] = { N_("Processor (does not disturb the GPU)"),
                                               N_("GPU"), NULL };
static const char *const preview_values[] = { "auto", "none", "latent2rgb", "taesd", NULL };
static const char *const preview_labels[] = { N_("Automatic"), N_("None"), N_("Fast (latent2rgb)"),
                                              N_("Good (TAESD)"), NULL };
static const char *const precision_values[] = { "auto", "fp32", "fp16", "bf16", "mixed", NULL };
static const char *const precision_labels[] = {
    N_("As the node asks"), N_("32 bits"), N_("16 bits (fp16)"),
    N_("16 bits (bf16)"),   N_("Mixed"),   NULL
};

const NinoPref nino_prefs[] = {
    { "theme", N_("Appearance"), N_("Theme"), N_("Light, dark or high contrast"), NINO_PREF_CHOICE,
      "system", theme_values, theme_labels, 0, 0, 0, NULL },
    { "language", N_("Appearance"), N_("Language"),
      N_("Of this window; counts from the next start of the app"), NINO_PREF_CHOICE, "system",
      language_values, language_labels, 0, 0, 0, NULL },
    { "renderer", N_("Appearance"), N_("Draw with"),
      N_("What draws this window; counts from the next start of the app"), NINO_PREF_CHOICE,
      "cairo", renderer_values, renderer_labels, 0, 0, 0, NULL },
    { "preview", N_("Previews"), N_("While sampling"),
      N_("How a picture of the unfinished latent is made"), NINO_PREF_CHOICE, "auto",
      preview_values, preview_labels, 0, 0, 0, NULL },
    { "preview-every", N_("Previews"), N_("Preview every"),
      N_("Steps from one preview to the next"), NINO_PREF_NUMBER, "5", NULL, NULL, 1, 100, 1,
      N_("steps") },
    { "preview-percent", N_("Previews"), N_("Previews take at most"),
      N_("Previews beyond it are left out"), NINO_PREF_NUMBER, "5", NULL,
      // xgettext:no-c-format
      NULL, 1, 100, 1, N_("% of the sampling") },
    { "refresh", N_("Live views"), N_("Redraw at most"),
      N_("How often plots and badges are redrawn while a run is watched"), NINO_PREF_NUMBER, "10",
      NULL, NULL, 1, 30, 1, N_("times a second") },
    { "quiet", N_("Live views"), N_("Quiet mode"),
      N_("At most 2 refreshes a second and no previews: for measuring"), NINO_PREF_BOOL, "false",
      NULL, NULL, 0, 0, 0, NULL },
    { "embed-workflow", N_("Saving"), N_("Workflow in pictures"),
      N_("Files can be opened as the workflow that made them; off: they carry no metadata at all"),
      NINO_PREF_BOOL, "true", NULL, NULL, 0, 0, 0, NULL },
    { "embed-profile", N_("Saving"), N_("Profile in pictures"),
      N_("Write time and memory of the run beside the workflow"), NINO_PREF_BOOL, "true", NULL,
      NULL, 0, 0, 0, NULL },
    { "autosave", N_("Saving"), N_("Autosave after"),
      N_("Unsaved changes are kept for recovery this long after the last edit"), NINO_PREF_NUMBER,
      "3", NULL, NULL, 1, 600, 1, N_("seconds") },
    { "precision", N_("Running"), N_("Precision"), N_("For nodes that do not say otherwise"),
      NINO_PREF_CHOICE, "auto", precision_values, precision_labels, 0, 0, 0, NULL },
    { "device", N_("Running"), N_("Device"),
      N_("As “ninodes devices” lists them; empty: the best one"), NINO_PREF_TEXT, "", NULL, NULL, 0,
      0, 0, NULL },
    { "models", N_("Running"), N_("Model folder"),
      N_("Empty: the folder “models” where the app was started"), NINO_PREF_FOLDER, "", NULL, NULL,
      0, 0, 0, NULL },
    { "input", N_("Running"), N_("Input folder"),
      N_("Empty: the folder “input” where the app was started"), NINO_PREF_FOLDER, "", NULL, NULL,
      0, 0, 0, NULL },
    { "output", N_("Running"), N_("Output folder"),
      N_("Empty: the folder “output” where the app was started"), NINO_PREF_FOLDER, "", NULL, NULL,
      0, 0, 0, NULL },
    { "object-info", N_("Running"), N_("Classes of your ComfyUI"),
      N_("A file with its answer to GET /object_info; counts from the next start of the app"),
      NINO_PREF_FILE, "", NULL, NULL, 0, 0, 0, NULL },
    { 0 },
};

struct _NinoPrefs {
    GObject parent;
    GKeyFile *file; // NULL: it could not be read, and is not written
    char *path;
    GHashTable *values; // key -> text in use
};
static guint changed_signal;
G_DEFINE_TYPE(NinoPrefs, nino_prefs, G_TYPE_OBJECT)

static void nino_prefs_class_init(NinoPrefsClass *klass)
{
    changed_signal =
        g_signal_new("changed", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST | G_SIGNAL_DETAILED, 0,
                     NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void nino_prefs_init(NinoPrefs *p)
{
    p->values = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
}

static const NinoPref *prefs_find(const char *key)
{
    for (const NinoPref *p = nino_prefs; p->key; p++)
        if (!strcmp(p->key, key))
            return p;
    g_assert_not_reached(); // a key that the table does not have
}

static gboolean acceptable(const NinoPref *p, const char *value)
{
    switch (p->type) {
    case NINO_PREF_BOOL: return !strcmp(value, "true") || !strcmp(value, "false");
    case NINO_PREF_CHOICE: return g_strv_contains(p->values, value);
    case NINO_PREF_NUMBER: {
        char *end;
        const double v = g_ascii_strtod(value, &end);
        return end != value && !*end && v >= p->min && v <= p->max;
    }
    default: return g_utf8_validate(value, -1, NULL);
    }
}

// One that cannot be read must not keep the app from starting.
static GKeyFile *prefs_load_file(const char *path)
{
    g_autoptr(GError) error = NULL;
    GKeyFile *f = nino_key_file_open(path, &error);
    if (!f)
        g_message("%s is not read, and will not be written: %s", path, error->message);
    return f;
}

static void save_file(GKeyFile *file, const char *path)
{
    g_autoptr(GError) error = NULL;
    if (!nino_key_file_save(file, path, &error))
        g_message("%s was not written: %s", path, error->message);
}

NinoPrefs *nino_prefs_default(void)
{
    static NinoPrefs *only;
    if (only)
        return only;
    only = g_object_new(NINO_TYPE_PREFS, NULL);
    only->path = g_build_filename(g_get_user_config_dir(), "ninodes", "studio.ini", NULL);
    only->file = prefs_load_file(only->path);
    for (const NinoPref *p = nino_prefs; p->key; p++) {
        g_autofree char *v =
            only->file ? g_key_file_get_string(only->file, "preferences", p->key, NULL) : NULL;
        g_hash_table_insert(only->values, (gpointer) p->key,
                            g_strdup(v && acceptable(p, v) ? v : p->def));
    }
    return only;
}

const char *nino_prefs_text(const char *key)
{
    return g_hash_table_lookup(nino_prefs_default()->values, prefs_find(key)->key);
}

gboolean nino_prefs_bool(const char *key) { return !strcmp(nino_prefs_text(key), "true"); }

double nino_prefs_number(const char *key) { return g_ascii_strtod(nino_prefs_text(key), NULL); }

void nino_prefs_set(const char *key, const char *value)
{
    NinoPrefs *prefs = nino_prefs_default();
    const NinoPref *p = prefs_find(key);
    if (!acceptable(p, value) || !strcmp(nino_prefs_text(key), value))
        return;
    g_hash_table_insert(prefs->values, (gpointer) p->key, g_strdup(value));
    if (prefs->file && strcmp(value, p->def) != 0)
        g_key_file_set_string(prefs->file, "preferences", key, value);
    else if (prefs->file)
        g_key_file_remove_key(prefs->file, "preferences", key, NULL);
    if (prefs->file)
        save_file(prefs->file, prefs->path);
    g_signal_emit(prefs, changed_signal, g_quark_from_string(key), key);
}

void nino_prefs_set_bool(const char *key, gboolean value)
{
    nino_prefs_set(key, value ? "true" : "false");
}

// ---- actions ------------------------------------------------------------------------------------

static GVariant *action_state(const NinoPref *p)
{
    return p->type == NINO_PREF_BOOL ? g_variant_new_boolean(nino_prefs_bool(p->key))
                                     : g_variant_new_string(nino_prefs_text(p->key));
}

static void on_change_state(GSimpleAction *action, GVariant *state, gpointer pref)
{
    (void) action;
    const NinoPref *p = pref;
    if (p->type == NINO_PREF_BOOL)
        nino_prefs_set_bool(p->key, g_variant_get_boolean(state));
    else
        nino_prefs_set(p->key, g_variant_get_string(state, NULL));
}

static void on_pref_changed(NinoPrefs *prefs, const char *key, gpointer action)
{
    (void) prefs;
    if (!strcmp(g_action_get_name(action), key))
        g_simple_action_set_state(action, action_state(prefs_find(key)));
}

void nino_prefs_add_actions(GActionMap *map)
{
    for (const NinoPref *p = nino_prefs; p->key; p++) {
        if (p->type != NINO_PREF_BOOL && p->type != NINO_PREF_CHOICE)
            continue;
        g_autoptr(GSimpleAction) a = g_simple_action_new_stateful(
            p->key, p->type == NINO_PREF_BOOL ? NULL : G_VARIANT_TYPE_STRING, action_state(p));
        g_signal_connect(a, "change-state", G_CALLBACK(on_change_state), (gpointer) p);
        g_signal_connect_object(nino_prefs_default(), "changed", G_CALLBACK(on_pref_changed), a, 0);
        g_action_map_add_action(map, G_ACTION(a));
    }
}

// ---- remembered state ---------------------------------------------------------------------------

static GKeyFile *state_file;
static gboolean is_state_unread; // sizes and the like then begin anew, and are not kept
static guint state_timer;

char *nino_state_path(const char *name)
{
    g_autofree char *dir = g_build_filename(g_get_user_state_dir(), "ninodes", "studio", NULL);
    g_mkdir_with_parents(dir, 0700);
    return g_build_filename(dir, name, NULL);
}

static GKeyFile *prefs_state(void)
{
    if (!state_file) {
        g_autofree char *path = nino_state_path("state.ini");
        state_file = prefs_load_file(path);
        is_state_unread = !state_file;
        state_file = state_file ? state_file : g_key_file_new();
    }
    return state_file;
}

void nino_state_flush(void)
{
    if (!state_timer)
        return;
    g_clear_handle_id(&state_timer, g_source_remove);
    g_autofree char *path = nino_state_path("state.ini");
    if (!is_state_unread)
        save_file(state_file, path);
}

static gboolean flush_later(gpointer user)
{
    (void) user;
    nino_state_flush();
    return G_SOURCE_REMOVE;
}

static void prefs_touched(void)
{
    if (!state_timer)
        state_timer = g_timeout_add_seconds(STATE_DELAY_S, flush_later, NULL);
}

double nino_state_number(const char *key, double otherwise)
{
    g_autoptr(GError) error = NULL;
    const double v = g_key_file_get_double(prefs_state(), "state", key, &error);
    return error ? otherwise : v;
}

void nino_state_set_number(const char *key, double value)
{
    if (nino_state_number(key, value - 1) == value)
        return;
    g_key_file_set_double(prefs_state(), "state", key, value);
    prefs_touched();
}

char **nino_state_list(const char *key)
{
    char **list = g_key_file_get_string_list(prefs_state(), "state", key, NULL, NULL);
    return list ? list : g_new0(char *, 1);
}

void nino_state_set_list(const char *key, const char *const *list)
{
    g_key_file_set_string_list(prefs_state(), "state", key, list, g_strv_length((char **) list));
    prefs_touched();
}
