// One row a key of ninodes.conf. A value that the environment or the working folder's file sets cannot
// be changed here: it would not count.
#include "settings/engine_page.h"

#include "base/i18n.h"
#include "base/tokens.h"

#include <ninodes/config.h>
#include <string.h>

typedef struct Row {
    const nino_config_row *key;
    GtkWidget *source;
    char **words; // of a choice; NULL: a text
} Row;

static void row_free(gpointer row, GClosure *closure)
{
    Row *r = row;
    (void) closure;
    g_strfreev(r->words);
    g_free(r);
}

static gboolean is_own(const nino_config_value *v)
{
    g_autofree char *own =
        g_build_filename(g_get_user_config_dir(), "ninodes", "ninodes.conf", NULL);
    return v->source == NINO_CONFIG_DEFAULT ||
           (v->source == NINO_CONFIG_FILE && !strcmp(v->where, own));
}

static void show_source(const Row *r)
{
    nino_config_value v;
    g_autofree char *text = NULL;
    nino_config_get(r->key->key, &v);
    switch (v.source) {
    case NINO_CONFIG_DEFAULT: text = g_strdup(_("the default")); break;
    case NINO_CONFIG_FILE:
        // translators: a file and a line of it
        text = g_strdup_printf(_("%s, line %d"), v.where, v.line);
        break;
    default:
        // translators: the name of an environment variable or of an option
        text = g_strdup_printf(_("set by %s, which counts more"), v.where);
        break;
    }
    gtk_label_set_text(GTK_LABEL(r->source), text);
}

// The default is no line: it may change with a later version.
static void store(const Row *r, const char *value)
{
    nino_error err;
    const gboolean is_default = !*value || !strcmp(value, r->key->def);
    if (nino_config_write(r->key->key, is_default ? NULL : value, &err))
        gtk_label_set_text(GTK_LABEL(r->source), err.msg);
    else
        show_source(r);
}

static void on_engine_choice(GtkDropDown *down, GParamSpec *pspec, gpointer row)
{
    const Row *r = row;
    (void) pspec;
    store(r, r->words[gtk_drop_down_get_selected(down)]);
}

static void on_engine_text(GtkEditable *entry, gpointer row)
{
    store(row, gtk_editable_get_text(entry));
}

static GtkWidget *engine_choice(Row *r, const char *now)
{
    r->words = g_strsplit(r->key->values, "|", -1);
    GtkWidget *w = gtk_drop_down_new_from_strings((const char *const *) r->words);
    for (guint i = 0; r->words[i]; i++)
        if (!strcmp(r->words[i], now))
            gtk_drop_down_set_selected(GTK_DROP_DOWN(w), i);
    g_signal_connect_data(w, "notify::selected", G_CALLBACK(on_engine_choice), r, row_free, 0);
    return w;
}

static GtkWidget *engine_entry(Row *r, const char *now)
{
    GtkWidget *w = gtk_entry_new();
    gtk_editable_set_text(GTK_EDITABLE(w), now);
    gtk_entry_set_placeholder_text(GTK_ENTRY(w), r->key->values);
    g_signal_connect_data(w, "changed", G_CALLBACK(on_engine_text), r, row_free, 0);
    return w;
}

static void engine_add_row(GtkGrid *grid, int at, const nino_config_row *key)
{
    nino_config_value v;
    const char *point = strchr(key->key, '.');
    Row *r = g_new0(Row, 1);
    nino_config_get(key->key, &v);
    r->key = key;
    r->source = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(r->source), 0);
    gtk_label_set_ellipsize(GTK_LABEL(r->source), PANGO_ELLIPSIZE_START);
    gtk_widget_add_css_class(r->source, "dim-label");
    GtkWidget *label = gtk_label_new(point ? point + 1 : key->key);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    GtkWidget *w = strchr(key->values, '|') ? engine_choice(r, v.text) : engine_entry(r, v.text);
    gtk_widget_set_hexpand(w, TRUE);
    gtk_widget_set_sensitive(w, is_own(&v));
    gtk_widget_set_tooltip_text(w, key->help);
    gtk_widget_set_tooltip_text(label, key->help);
    gtk_accessible_update_property(GTK_ACCESSIBLE(w), GTK_ACCESSIBLE_PROPERTY_LABEL, key->key,
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, key->help, -1);
    gtk_grid_attach(grid, label, 0, at, 1, 1);
    gtk_grid_attach(grid, w, 1, at, 1, 1);
    gtk_grid_attach(grid, r->source, 1, at + 1, 1, 1);
    show_source(r);
}

static void engine_add_title(GtkGrid *grid, int at, const char *text)
{
    GtkWidget *title = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(title), 0);
    gtk_widget_add_css_class(title, "heading");
    gtk_widget_set_margin_top(title, at ? 10 : 0);
    gtk_grid_attach(grid, title, 0, at, 2, 1);
}

GtkWidget *nino_engine_page_new(void)
{
    GtkWidget *grid = gtk_grid_new();
    int at = 0;
    g_autofree char *section = g_strdup("?");
    gtk_grid_set_row_spacing(GTK_GRID(grid), NINO_SPACE_XS);
    gtk_grid_set_column_spacing(GTK_GRID(grid), NINO_SPACE_L);
    gtk_widget_set_margin_start(grid, NINO_SPACE_L);
    gtk_widget_set_margin_end(grid, NINO_SPACE_L);
    gtk_widget_set_margin_top(grid, NINO_SPACE_M);
    gtk_widget_set_margin_bottom(grid, NINO_SPACE_L);
    GtkWidget *about =
        gtk_label_new(_("Lines of your ninodes.conf; they count for workers that are "
                        "started from now on, and for ninodes on the command line"));
    gtk_label_set_wrap(GTK_LABEL(about), TRUE);
    gtk_label_set_xalign(GTK_LABEL(about), 0);
    gtk_grid_attach(GTK_GRID(grid), about, 0, at++, 2, 1);
    if (nino_settings_problem()) {
        GtkWidget *wrong = gtk_label_new(nino_settings_problem());
        gtk_label_set_wrap(GTK_LABEL(wrong), TRUE);
        gtk_label_set_xalign(GTK_LABEL(wrong), 0);
        gtk_widget_add_css_class(wrong, "error");
        gtk_grid_attach(GTK_GRID(grid), wrong, 0, at++, 2, 1);
    }
    for (const nino_config_row *key = nino_config_rows(); key->key; key++) {
        const char *point = strchr(key->key, '.');
        const size_t n = point ? (size_t) (point - key->key) : 0;
        if (strlen(section) != n || strncmp(section, key->key, n) != 0) {
            g_free(section);
            section = g_strndup(key->key, n);
            engine_add_title(GTK_GRID(grid), at++, n ? section : _("General"));
        }
        engine_add_row(GTK_GRID(grid), at, key);
        at += 2;
    }
    return grid;
}
