// One list of shortcuts for all windows and one for all canvases: controllers share them, so that a
// change reaches every one.
#include "settings/keys.h"

#include <string.h>

#include "base/key_file.h"

#define SECTION "keys"

static GKeyFile *chosen;   // of the user: action -> keys, only where they differ from the table
static gboolean is_unread; // the file of keys: it is not written
static GtkApplication *application;
static GListStore *window_keys, *canvas_keys;

static char *file_path(void)
{
    return g_build_filename(g_get_user_config_dir(), "ninodes", "keys.ini", NULL);
}

static GKeyFile *file(void)
{
    if (!chosen) {
        g_autofree char *path = file_path();
        g_autoptr(GError) error = NULL;
        chosen = nino_key_file_open(path, &error);
        is_unread = !chosen;
        if (is_unread)
            g_message("%s is not read, and will not be written: %s", path, error->message);
        chosen = chosen ? chosen : g_key_file_new();
    }
    return chosen;
}

static void keys_save(void)
{
    g_autofree char *path = file_path();
    g_autoptr(GError) error = NULL;
    GKeyFile *keys = file();
    if (!is_unread && !nino_key_file_save(keys, path, &error))
        g_message("keys are not kept: %s", error->message);
}

static gboolean is_keys_key(const char *key)
{
    guint value = 0;
    GdkModifierType mods = 0;
    return gtk_accelerator_parse(key, &value, &mods) && value;
}

// In the one form that can be compared; NULL: not a key.
static char *keys_normal(const char *key)
{
    guint value = 0;
    GdkModifierType mods = 0;
    return gtk_accelerator_parse(key, &value, &mods) && value ? gtk_accelerator_name(value, mods)
                                                              : NULL;
}

static gboolean is_keys_same(const char *a, const char *b)
{
    g_autofree char *na = keys_normal(a), *nb = keys_normal(b);
    return na && !g_strcmp0(na, nb);
}

gboolean nino_keys_is_default(const NinoCommand *c)
{
    return !g_key_file_has_key(file(), SECTION, c->action, NULL);
}

char **nino_keys_get(const NinoCommand *c)
{
    if (nino_keys_is_default(c)) {
        const char *keys[4] = { c->keys[0], c->keys[1], c->keys[2], NULL };
        return g_strdupv((char **) keys);
    }
    g_auto(GStrv) own = g_key_file_get_string_list(file(), SECTION, c->action, NULL, NULL);
    g_autoptr(GStrvBuilder) b = g_strv_builder_new();
    for (gsize i = 0; own && own[i]; i++)
        if (is_keys_key(own[i])) // a file that was edited by hand may hold anything
            g_strv_builder_add(b, own[i]);
    return g_strv_builder_end(b);
}

const NinoCommand *nino_keys_owner(const char *key, const NinoCommand *but)
{
    for (const NinoCommand *c = nino_commands; c->action; c++) {
        g_auto(GStrv) keys = nino_keys_get(c);
        for (gsize i = 0; keys[i] && c != but; i++)
            if (is_keys_same(keys[i], key))
                return c;
    }
    return NULL;
}

// ---- where they work ----------------------------------------------------------------------------

// A key that types a character must not be an accelerator of the whole window: it would never reach
// a text field.
static gboolean types_text(const char *key)
{
    guint value = 0;
    GdkModifierType mods = 0;
    gtk_accelerator_parse(key, &value, &mods);
    return !(mods & ~(guint) GDK_SHIFT_MASK) && gdk_keyval_to_unicode(value) >= ' ';
}

// Undo belongs to the text field that has the focus first, then to the window.
static gboolean comes_last(const NinoCommand *c, const char *key)
{
    return types_text(key) || !strcmp(c->action, "win.undo") || !strcmp(c->action, "win.redo");
}

static gboolean is_of_canvas(const NinoCommand *c)
{
    return g_str_has_prefix(c->action, "canvas.");
}

static void keys_add_shortcut(GListStore *to, const NinoCommand *c, const char *key)
{
    g_autofree char *name = NULL;
    g_autoptr(GVariant) target = NULL;
    g_action_parse_detailed_name(c->action, &name, &target, NULL);
    GtkShortcutTrigger *trigger = gtk_shortcut_trigger_parse_string(key);
    if (!trigger)
        return;
    g_autoptr(GtkShortcut) s = gtk_shortcut_new(trigger, gtk_named_action_new(name));
    gtk_shortcut_set_arguments(s, target);
    g_list_store_append(to, s);
}

static void apply_one(const NinoCommand *c)
{
    g_auto(GStrv) keys = nino_keys_get(c);
    g_autoptr(GPtrArray) early = g_ptr_array_new();
    for (gsize i = 0; keys[i]; i++)
        if (is_of_canvas(c))
            keys_add_shortcut(canvas_keys, c, keys[i]);
        else if (comes_last(c, keys[i]))
            keys_add_shortcut(window_keys, c, keys[i]);
        else
            g_ptr_array_add(early, keys[i]);
    g_ptr_array_add(early, NULL);
    if (application && !is_of_canvas(c))
        gtk_application_set_accels_for_action(application, c->action,
                                              (const char *const *) early->pdata);
}

static void keys_apply(void)
{
    if (!window_keys) {
        window_keys = g_list_store_new(GTK_TYPE_SHORTCUT);
        canvas_keys = g_list_store_new(GTK_TYPE_SHORTCUT);
    }
    g_list_store_remove_all(window_keys);
    g_list_store_remove_all(canvas_keys);
    for (const NinoCommand *c = nino_commands; c->action; c++)
        apply_one(c);
}

void nino_keys_start(GtkApplication *app)
{
    application = app;
    keys_apply();
}

static void add_controller(GtkWidget *w, GListStore *keys)
{
    gtk_widget_add_controller(w, gtk_shortcut_controller_new_for_model(G_LIST_MODEL(keys)));
}

void nino_keys_add_to_window(GtkWidget *window)
{
    if (!window_keys)
        keys_apply();
    add_controller(window, window_keys);
}

void nino_keys_add_to_canvas(GtkWidget *canvas)
{
    if (!canvas_keys)
        keys_apply();
    add_controller(canvas, canvas_keys);
}

// ---- changing -----------------------------------------------------------------------------------

void nino_keys_set(const NinoCommand *c, const char *const *keys)
{
    g_key_file_set_string_list(file(), SECTION, c->action, keys, g_strv_length((char **) keys));
    keys_save();
    keys_apply();
}

void nino_keys_reset(const NinoCommand *c)
{
    if (c)
        g_key_file_remove_key(file(), SECTION, c->action, NULL);
    else
        g_key_file_remove_group(file(), SECTION, NULL);
    keys_save();
    keys_apply();
}

void nino_keys_remove(const NinoCommand *c, const char *key)
{
    g_auto(GStrv) keys = nino_keys_get(c);
    g_autoptr(GPtrArray) left = g_ptr_array_new();
    for (gsize i = 0; keys[i]; i++)
        if (!is_keys_same(keys[i], key))
            g_ptr_array_add(left, keys[i]);
    g_ptr_array_add(left, NULL);
    nino_keys_set(c, (const char *const *) left->pdata);
}
