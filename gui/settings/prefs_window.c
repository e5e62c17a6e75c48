// One row a setting; a change counts at once, so there is no button to confirm.
#include "settings/prefs_window.h"

#include "settings/engine_page.h"
#include "settings/prefs.h"
#include "base/chosen.h"
#include "base/focus.h"
#include "base/i18n.h"
#include "base/scroller.h"
#include "base/tokens.h"

#include <string.h>

static void on_switch(GObject *sw, GParamSpec *pspec, gpointer pref)
{
    (void) pspec;
    nino_prefs_set_bool(((const NinoPref *) pref)->key, gtk_switch_get_active(GTK_SWITCH(sw)));
}

static void on_prefs_window_choice(GObject *drop_down, GParamSpec *pspec, gpointer pref)
{
    (void) pspec;
    const NinoPref *p = pref;
    nino_prefs_set(p->key, p->values[gtk_drop_down_get_selected(GTK_DROP_DOWN(drop_down))]);
}

static void on_number(GtkSpinButton *spin, gpointer pref)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_dtostr(text, sizeof(text), gtk_spin_button_get_value(spin));
    nino_prefs_set(((const NinoPref *) pref)->key, text);
}

static void on_prefs_window_text(GtkEditable *entry, gpointer pref)
{
    nino_prefs_set(((const NinoPref *) pref)->key, gtk_editable_get_text(entry));
}

static void on_chosen(GtkNativeDialog *dialog, int response, gpointer entry)
{
    g_autofree char *path = nino_chosen_path(dialog, response);
    if (path)
        gtk_editable_set_text(GTK_EDITABLE(entry), path);
    g_object_unref(dialog);
}

static void on_browse(GtkButton *button, gpointer entry)
{
    const gboolean is_file = g_object_get_data(G_OBJECT(button), "is-file") != NULL;
    GtkFileChooserNative *dialog = nino_chooser_new(
        is_file ? _("Choose a file") : _("Choose a folder"),
        GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(button))),
        is_file ? GTK_FILE_CHOOSER_ACTION_OPEN : GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER,
        _("_Choose"));
    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
    g_signal_connect_object(dialog, "response", G_CALLBACK(on_chosen), entry, 0);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

static GtkWidget *choice(const NinoPref *p)
{
    GtkStringList *labels = gtk_string_list_new(NULL);
    for (guint i = 0; p->values[i]; i++)
        gtk_string_list_append(labels, _(p->labels[i]));
    GtkWidget *w = gtk_drop_down_new(G_LIST_MODEL(labels), NULL);
    for (guint i = 0; p->values[i]; i++)
        if (!strcmp(p->values[i], nino_prefs_text(p->key)))
            gtk_drop_down_set_selected(GTK_DROP_DOWN(w), i);
    g_signal_connect(w, "notify::selected", G_CALLBACK(on_prefs_window_choice), (gpointer) p);
    return w;
}

static GtkWidget *path_row(const NinoPref *p, GtkWidget **entry)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S);
    *entry = gtk_entry_new();
    gtk_widget_set_hexpand(*entry, TRUE);
    gtk_editable_set_text(GTK_EDITABLE(*entry), nino_prefs_text(p->key));
    g_signal_connect(*entry, "changed", G_CALLBACK(on_prefs_window_text), (gpointer) p);
    const gboolean is_file = p->type == NINO_PREF_FILE;
    GtkWidget *browse =
        gtk_button_new_from_icon_name(is_file ? "document-open-symbolic" : "folder-open-symbolic");
    g_object_set_data(G_OBJECT(browse), "is-file", GINT_TO_POINTER(is_file));
    g_autofree char *name = g_strdup_printf(_("Choose: %s"), _(p->label));
    gtk_accessible_update_property(GTK_ACCESSIBLE(browse), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    gtk_widget_set_tooltip_text(browse, name);
    g_signal_connect(browse, "clicked", G_CALLBACK(on_browse), *entry);
    gtk_box_append(GTK_BOX(box), *entry);
    gtk_box_append(GTK_BOX(box), browse);
    return box;
}

static GtkWidget *number(const NinoPref *p, GtkWidget **spin)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S);
    *spin = gtk_spin_button_new_with_range(p->min, p->max, p->step);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(*spin), nino_prefs_number(p->key));
    g_signal_connect(*spin, "value-changed", G_CALLBACK(on_number), (gpointer) p);
    gtk_box_append(GTK_BOX(box), *spin);
    gtk_box_append(GTK_BOX(box), gtk_label_new(_(p->unit)));
    return box;
}

// The widget for the row; *named is the one that carries the setting's name.
static GtkWidget *editor(const NinoPref *p, GtkWidget **named)
{
    GtkWidget *w = NULL;
    switch (p->type) {
    case NINO_PREF_BOOL:
        w = gtk_switch_new();
        gtk_widget_set_halign(w, GTK_ALIGN_START);
        gtk_switch_set_active(GTK_SWITCH(w), nino_prefs_bool(p->key));
        g_signal_connect(w, "notify::active", G_CALLBACK(on_switch), (gpointer) p);
        break;
    case NINO_PREF_CHOICE: w = choice(p); break;
    case NINO_PREF_NUMBER: return number(p, named);
    case NINO_PREF_FOLDER:
    case NINO_PREF_FILE: return path_row(p, named);
    case NINO_PREF_TEXT:
        w = gtk_entry_new();
        gtk_editable_set_text(GTK_EDITABLE(w), nino_prefs_text(p->key));
        g_signal_connect(w, "changed", G_CALLBACK(on_prefs_window_text), (gpointer) p);
        break;
    }
    return *named = w;
}

static void prefs_window_attach(GtkGrid *grid, int row, const char *name, GtkWidget *w)
{
    GtkWidget *label = gtk_label_new(name);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_widget_set_hexpand(w, TRUE);
    gtk_widget_set_valign(w, GTK_ALIGN_CENTER);
    gtk_grid_attach(grid, label, 0, row, 1, 1);
    gtk_grid_attach(grid, w, 1, row, 1, 1);
}

static void prefs_window_add_row(GtkWidget *window, GtkGrid *grid, int row, const NinoPref *p)
{
    GtkWidget *named = NULL;
    GtkWidget *w = editor(p, &named);
    g_autofree char *name =
        p->unit ? g_strdup_printf("%s (%s)", _(p->label), _(p->unit)) : g_strdup(_(p->label));
    gtk_accessible_update_property(GTK_ACCESSIBLE(named), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, _(p->help), -1);
    gtk_widget_set_tooltip_text(w, _(p->help));
    g_object_set_data(G_OBJECT(window), p->key, named); // which is in it
    prefs_window_attach(grid, row, _(p->label), w);
}

static GtkWidget *page(GtkWidget *window, const char *label, NinoPrefsRow last, gpointer user)
{
    GtkWidget *grid = gtk_grid_new();
    gtk_grid_set_row_spacing(GTK_GRID(grid), NINO_SPACE_S);
    gtk_grid_set_column_spacing(GTK_GRID(grid), NINO_SPACE_L);
    gtk_widget_set_margin_start(grid, NINO_SPACE_L);
    gtk_widget_set_margin_end(grid, NINO_SPACE_L);
    gtk_widget_set_margin_top(grid, NINO_SPACE_M);
    gtk_widget_set_margin_bottom(grid, NINO_SPACE_L);
    int row = 0;
    const char *group = NULL;
    for (const NinoPref *p = nino_prefs; p->key; p++) {
        if (g_strcmp0(group, p->group) != 0) {
            GtkWidget *title = gtk_label_new(_(p->group));
            gtk_label_set_xalign(GTK_LABEL(title), 0);
            gtk_widget_add_css_class(title, "heading");
            gtk_widget_set_margin_top(title, row ? 10 : 0);
            gtk_grid_attach(GTK_GRID(grid), title, 0, row++, 2, 1);
            group = p->group;
        }
        prefs_window_add_row(window, GTK_GRID(grid), row++, p);
    }
    GtkWidget *named = NULL, *w = last(user, &named);
    gtk_accessible_update_property(GTK_ACCESSIBLE(named), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                   label, -1);
    prefs_window_attach(GTK_GRID(grid), row, label, w);
    return grid;
}

static void add_page(GtkWidget *pages, GtkWidget *page, const char *title)
{
    GtkWidget *scroller = nino_page_scroller_new(page);
    gtk_notebook_append_page(GTK_NOTEBOOK(pages), scroller, gtk_label_new(title));
}

void nino_prefs_window_present(GtkWindow *parent, const char *key, const char *label,
                               NinoPrefsRow row, gpointer user)
{
    static GtkWidget *only;
    if (!only) {
        only = gtk_window_new();
        gtk_window_set_title(GTK_WINDOW(only), _("Preferences"));
        gtk_window_set_default_size(GTK_WINDOW(only), 560, 620);
        GtkWidget *pages = gtk_notebook_new();
        add_page(pages, page(only, label, row, user), _("App"));
        add_page(pages, nino_engine_page_new(), _("Engine"));
        gtk_window_set_child(GTK_WINDOW(only), pages);
        g_object_add_weak_pointer(G_OBJECT(only), (gpointer *) &only);
    }
    gtk_window_set_transient_for(GTK_WINDOW(only), parent);
    gtk_window_present(GTK_WINDOW(only));
    GtkWidget *named = key ? g_object_get_data(G_OBJECT(only), key) : NULL;
    if (!named)
        return;
    gtk_notebook_set_current_page(GTK_NOTEBOOK(gtk_window_get_child(GTK_WINDOW(only))), 0);
    nino_focus_when_placed(named);
}
