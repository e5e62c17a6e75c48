// Each message is a row with the role of an alert, so that a screen reader speaks it.
#include "window/bar.h"

#include "base/i18n.h"
#include "base/tokens.h"

struct _NinoBar {
    GtkWidget parent;
    GtkWidget *box;
};

G_DEFINE_TYPE(NinoBar, nino_bar, GTK_TYPE_WIDGET)

static GtkWidget *bar_find(NinoBar *bar, const char *id)
{
    for (GtkWidget *row = gtk_widget_get_first_child(bar->box); row;
         row = gtk_widget_get_next_sibling(row))
        if (!g_strcmp0(g_object_get_data(G_OBJECT(row), "id"), id))
            return row;
    return NULL;
}

static void on_close(GtkButton *button, gpointer row)
{
    (void) button;
    GtkWidget *box = gtk_widget_get_parent(row);
    if (box) // the action may have taken the message away already
        gtk_box_remove(GTK_BOX(box), row);
}

static GtkWidget *bar_add_button(GtkWidget *row, const char *label, const char *action)
{
    GtkWidget *b = gtk_button_new_with_label(label);
    gtk_actionable_set_detailed_action_name(GTK_ACTIONABLE(b), action);
    gtk_widget_set_valign(b, GTK_ALIGN_CENTER);
    // After the action: the handler of the action runs first.
    g_signal_connect_object(b, "clicked", G_CALLBACK(on_close), row, G_CONNECT_AFTER);
    gtk_box_append(GTK_BOX(row), b);
    return b;
}

static GtkWidget *bar_new_row(NinoBarKind kind, const char *id)
{
    static const char *const icons[] = { "dialog-information-symbolic", "dialog-warning-symbolic",
                                         "dialog-error-symbolic" };
    static const char *const classes[] = { "info", "warning", "error" };
    const char *const names[] = { _("info"), _("warning"), _("error") };
    GtkWidget *row = g_object_new(GTK_TYPE_BOX, "accessible-role", GTK_ACCESSIBLE_ROLE_ALERT,
                                  "spacing", NINO_SPACE_S, NULL);
    gtk_widget_add_css_class(row, "message");
    gtk_widget_add_css_class(row, classes[kind]);
    g_object_set_data_full(G_OBJECT(row), "id", g_strdup(id), g_free);
    GtkWidget *icon = gtk_image_new_from_icon_name(icons[kind]);
    gtk_accessible_update_property(GTK_ACCESSIBLE(icon), GTK_ACCESSIBLE_PROPERTY_LABEL, names[kind],
                                   -1);
    gtk_box_append(GTK_BOX(row), icon);
    return row;
}

void nino_bar_show(NinoBar *bar, const char *id, NinoBarKind kind, const char *text,
                   const NinoBarButton *buttons)
{
    nino_bar_hide(bar, id);
    GtkWidget *row = bar_new_row(kind, id);
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END); // all of it is in the tooltip
    gtk_label_set_selectable(GTK_LABEL(label), TRUE);
    gtk_widget_set_can_focus(label, FALSE);
    gtk_widget_set_hexpand(label, TRUE);
    gtk_widget_set_valign(label, GTK_ALIGN_CENTER);
    gtk_widget_set_tooltip_text(label, text);
    gtk_box_append(GTK_BOX(row), label);
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
    g_object_set_data_full(G_OBJECT(row), "text", g_strdup(text), g_free);
    for (; buttons && buttons->label; buttons++)
        bar_add_button(row, buttons->label, buttons->action);
    GtkWidget *close = gtk_button_new_from_icon_name("window-close-symbolic");
    gtk_button_set_has_frame(GTK_BUTTON(close), FALSE);
    gtk_widget_set_valign(close, GTK_ALIGN_CENTER);
    gtk_widget_set_tooltip_text(close, _("Dismiss this message"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(close), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Dismiss message"), -1);
    g_signal_connect(close, "clicked", G_CALLBACK(on_close), row);
    gtk_box_append(GTK_BOX(row), close);
    gtk_box_append(GTK_BOX(bar->box), row);
}

void nino_bar_hide(NinoBar *bar, const char *id)
{
    GtkWidget *row = bar_find(bar, id);
    if (row)
        gtk_box_remove(GTK_BOX(bar->box), row);
}

const char *nino_bar_text(NinoBar *bar)
{
    GtkWidget *row = gtk_widget_get_last_child(bar->box);
    return row ? g_object_get_data(G_OBJECT(row), "text") : "";
}

static void bar_dispose(GObject *o)
{
    g_clear_pointer(&NINO_BAR(o)->box, gtk_widget_unparent);
    G_OBJECT_CLASS(nino_bar_parent_class)->dispose(o);
}

static void nino_bar_class_init(NinoBarClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = bar_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(klass), GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_css_name(GTK_WIDGET_CLASS(klass), "messages");
}

static void nino_bar_init(NinoBar *bar)
{
    bar->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_widget_set_parent(bar->box, GTK_WIDGET(bar));
}

GtkWidget *nino_bar_new(void) { return g_object_new(NINO_TYPE_BAR, NULL); }
