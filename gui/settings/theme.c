// The portal org.freedesktop.portal.Settings tells the desktop's colour scheme and contrast;
// without a portal the theme that GTK was started with stays.
#include "settings/theme.h"

#include "base/tokens.h"
#include "settings/prefs.h"
#include <string.h>

#define PORTAL "org.freedesktop.portal.Desktop"
#define PORTAL_PATH "/org/freedesktop/portal/desktop"
#define PORTAL_IFACE "org.freedesktop.portal.Settings"
#define APPEARANCE "org.freedesktop.appearance"

static struct {
    GDBusProxy *portal;
    gboolean desktop_dark, desktop_contrast;
    char *first_theme; // gtk-theme-name before we touched it
} theme;

static void theme_apply(void)
{
    const char *want = nino_prefs_text("theme");
    const gboolean system = !strcmp(want, "system");
    const gboolean dark = system ? theme.desktop_dark : !strcmp(want, "dark");
    const gboolean contrast = system ? theme.desktop_contrast : !strcmp(want, "contrast");
    // Settings without a listener would be set for nothing, and every set re-styles all widgets.
    GtkSettings *s = gtk_settings_get_default();
    g_autofree char *name = NULL;
    gboolean was_dark = FALSE;
    g_object_get(s, "gtk-theme-name", &name, "gtk-application-prefer-dark-theme", &was_dark, NULL);
    const char *next = contrast ? (dark ? "Default-hc-dark" : "Default-hc") : theme.first_theme;
    if (g_strcmp0(name, next) != 0)
        g_object_set(s, "gtk-theme-name", next, NULL);
    if (was_dark != dark)
        g_object_set(s, "gtk-application-prefer-dark-theme", dark, NULL);
}

static void theme_take(const char *key, GVariant *value)
{
    g_autoptr(GVariant) v = g_variant_ref(value);
    while (g_variant_is_of_type(v, G_VARIANT_TYPE_VARIANT)) { // the portal wraps it once or twice
        GVariant *inner = g_variant_get_variant(v);
        g_variant_unref(v);
        v = inner;
    }
    if (!g_variant_is_of_type(v, G_VARIANT_TYPE_UINT32))
        return;
    if (!strcmp(key, "color-scheme"))
        theme.desktop_dark = g_variant_get_uint32(v) == 1;
    else if (!strcmp(key, "contrast"))
        theme.desktop_contrast = g_variant_get_uint32(v) == 1;
}

static void on_portal_signal(GDBusProxy *proxy, const char *sender, const char *signal,
                             GVariant *args, gpointer user)
{
    (void) proxy, (void) sender, (void) user;
    if (strcmp(signal, "SettingChanged") != 0 ||
        !g_variant_is_of_type(args, G_VARIANT_TYPE("(ssv)")))
        return;
    const char *space, *key;
    g_autoptr(GVariant) value = NULL;
    g_variant_get(args, "(&s&sv)", &space, &key, &value);
    if (strcmp(space, APPEARANCE) != 0)
        return;
    theme_take(key, value);
    theme_apply();
}

static void on_theme_read(GObject *source, GAsyncResult *result, gpointer key)
{
    g_autoptr(GVariant) reply = g_dbus_proxy_call_finish(G_DBUS_PROXY(source), result, NULL);
    if (!reply || !g_variant_is_of_type(reply, G_VARIANT_TYPE("(v)")))
        return;
    g_autoptr(GVariant) value = g_variant_get_child_value(reply, 0);
    theme_take(key, value);
    theme_apply();
}

static void on_portal(GObject *source, GAsyncResult *result, gpointer user)
{
    (void) source, (void) user;
    theme.portal = g_dbus_proxy_new_for_bus_finish(result, NULL);
    g_autofree char *owner = theme.portal ? g_dbus_proxy_get_name_owner(theme.portal) : NULL;
    if (!owner)
        return; // no portal on this desktop
    g_signal_connect(theme.portal, "g-signal", G_CALLBACK(on_portal_signal), NULL);
    static const char *const keys[] = { "color-scheme", "contrast" };
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
        g_dbus_proxy_call(theme.portal, "Read", g_variant_new("(ss)", APPEARANCE, keys[i]),
                          G_DBUS_CALL_FLAGS_NONE, 2000, NULL, on_theme_read, (gpointer) keys[i]);
}

static void on_pref(NinoPrefs *prefs, const char *key, gpointer user)
{
    (void) prefs, (void) key, (void) user;
    theme_apply();
}

void nino_theme_start(void)
{
    g_object_get(gtk_settings_get_default(), "gtk-theme-name", &theme.first_theme,
                 "gtk-application-prefer-dark-theme", &theme.desktop_dark, NULL);
    // A text that gets the focus because its page opens is not to look chosen.
    g_object_set(gtk_settings_get_default(), "gtk-label-select-on-focus", FALSE, NULL);
    g_autoptr(GBytes) css = g_resources_lookup_data("/org/ninodes/Studio/style.css",
                                                    G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
    if (css) // ends with a zero byte, as all resources do
        nino_tokens_add_css(g_bytes_get_data(css, NULL));
    g_signal_connect(nino_prefs_default(), "changed::theme", G_CALLBACK(on_pref), NULL);
    g_dbus_proxy_new_for_bus(G_BUS_TYPE_SESSION, G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START, NULL, PORTAL,
                             PORTAL_PATH, PORTAL_IFACE, NULL, on_portal, NULL);
    theme_apply();
}
