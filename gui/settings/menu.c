// A menu made of a model is one long column: this one is made of buttons that are menu items to screen readers.
#include "settings/menu.h"

#include <string.h>

#include "base/i18n.h"
#include "base/tokens.h"
#include "settings/actions.h"
#include "settings/keys.h"

enum { MOST_HEIGHT = 600, GROUPS = 2 };

static const char *const columns[][GROUPS] = {
    { N_("File") }, { N_("Edit"), N_("App") }, { N_("View") }, { N_("Run") }
};

static void on_menu_clicked(GtkWidget *item, gpointer popover)
{
    (void) item;
    gtk_popover_popdown(popover);
}

// The user may have changed it since.
static void on_menu_map(GtkWidget *label)
{
    const NinoCommand *c = g_object_get_data(G_OBJECT(label), "command");
    g_auto(GStrv) keys = nino_keys_get(c);
    guint key = 0;
    GdkModifierType mods = 0;
    g_autofree char *text = keys[0] && gtk_accelerator_parse(keys[0], &key, &mods)
                                ? gtk_accelerator_get_label(key, mods)
                                : g_strdup("");
    gtk_label_set_text(GTK_LABEL(label), text);
}

static gboolean has_state(GActionGroup *actions, const char *detailed)
{
    g_autofree char *name = NULL;
    g_autoptr(GVariant) target = NULL;
    if (!g_action_parse_detailed_name(detailed, &name, &target, NULL) ||
        !g_str_has_prefix(name, "win."))
        return FALSE;
    return g_action_group_get_action_state_type(actions, name + strlen("win.")) != NULL;
}

static GtkWidget *menu_item(const NinoCommand *c, GActionGroup *actions, GtkWidget *popover)
{
    GtkWidget *item =
        g_object_new(has_state(actions, c->action) ? GTK_TYPE_TOGGLE_BUTTON : GTK_TYPE_BUTTON,
                     "accessible-role", GTK_ACCESSIBLE_ROLE_MENU_ITEM, "has-frame", FALSE, NULL);
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_M);
    GtkWidget *label = gtk_label_new(_(c->label)), *keys = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_widget_set_hexpand(label, TRUE);
    gtk_widget_add_css_class(keys, "dim-label");
    g_object_set_data(G_OBJECT(keys), "command", (gpointer) c);
    g_signal_connect(keys, "map", G_CALLBACK(on_menu_map), NULL);
    gtk_box_append(GTK_BOX(line), label);
    gtk_box_append(GTK_BOX(line), keys);
    gtk_button_set_child(GTK_BUTTON(item), line);
    gtk_actionable_set_detailed_action_name(GTK_ACTIONABLE(item), c->action);
    gtk_accessible_update_property(GTK_ACCESSIBLE(item), GTK_ACCESSIBLE_PROPERTY_LABEL, _(c->label),
                                   -1);
    g_signal_connect(item, "clicked", G_CALLBACK(on_menu_clicked), popover);
    return item;
}

static void add_group(GtkWidget *column, const char *group, GActionGroup *actions,
                      GtkWidget *popover)
{
    GtkWidget *heading = gtk_label_new(_(group));
    gtk_label_set_xalign(GTK_LABEL(heading), 0);
    gtk_widget_add_css_class(heading, "heading");
    gtk_widget_set_margin_start(heading, NINO_SPACE_S);
    gtk_widget_set_margin_top(heading, gtk_widget_get_first_child(column) ? NINO_SPACE_M : 0);
    gtk_box_append(GTK_BOX(column), heading);
    for (const NinoCommand *c = nino_commands; c->action; c++)
        if (c->in_menu && !strcmp(c->group, group))
            gtk_box_append(GTK_BOX(column), menu_item(c, actions, popover));
}

GtkWidget *nino_commands_popover(GActionGroup *actions)
{
    GtkWidget *popover = gtk_popover_new(),
              *all = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_M);
    for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
        GtkWidget *column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
        gtk_widget_add_css_class(column, "menu-column");
        for (int g = 0; g < GROUPS && columns[i][g]; g++)
            add_group(column, columns[i][g], actions, popover);
        gtk_box_append(GTK_BOX(all), column);
    }
    GtkWidget *scroll = gtk_scrolled_window_new(); // of a small screen
    g_object_set(scroll, "propagate-natural-width", TRUE, "propagate-natural-height", TRUE,
                 "max-content-height", MOST_HEIGHT, "child", all, NULL);
    gtk_popover_set_child(GTK_POPOVER(popover), scroll);
    gtk_accessible_update_property(GTK_ACCESSIBLE(popover), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Main menu"), -1);
    return popover;
}
