// Each message is a row with the role of an alert, so that a screen reader speaks it. Of those that stay the newest is
// shown, the others wait behind it; news lie over the window's lower edge and pass.
#include "window/bar.h"

#include "base/i18n.h"
#include "base/tokens.h"

struct _NinoBar {
    GtkWidget parent;
    GtkWidget *box, *news;
    char *tab; // in front; NULL: none
};

static const char any[] = "*"; // tab or id
enum { PASS_S = 12 };          // long enough to be read twice

G_DEFINE_TYPE(NinoBar, nino_bar, GTK_TYPE_WIDGET)

static gboolean is_row(GtkWidget *row, const char *key, const char *value)
{
    return !g_strcmp0(g_object_get_data(G_OBJECT(row), key), value);
}

static gboolean is_of_front(NinoBar *bar, GtkWidget *row)
{
    return is_row(row, "tab", NULL) || is_row(row, "tab", bar->tab);
}

// One at a time: the last of the box that is about the window or its tab in front.
static void show_front(NinoBar *bar)
{
    guint behind = 0;
    GtkWidget *front = gtk_widget_get_last_child(bar->box);
    while (front && !is_of_front(bar, front))
        front = gtk_widget_get_prev_sibling(front);
    for (GtkWidget *row = gtk_widget_get_first_child(bar->box); row;
         row = gtk_widget_get_next_sibling(row)) {
        GtkWidget *more = g_object_get_data(G_OBJECT(row), "more");
        g_autofree char *text =
            g_strdup_printf(ngettext("%u more message", "%u more messages", behind), behind);
        gtk_button_set_label(GTK_BUTTON(more), text);
        gtk_widget_set_visible(more, behind > 0);
        gtk_widget_set_visible(row, row == front);
        behind += is_of_front(bar, row);
    }
}

static void take_away(gpointer row)
{
    GtkWidget *box = gtk_widget_get_parent(row);
    NinoBar *bar = g_object_get_data(G_OBJECT(row), "bar");
    if (!box) // the action may have taken the message away already
        return;
    gtk_box_remove(GTK_BOX(box), row);
    if (box == bar->box)
        show_front(bar);
}

static void on_close(GtkButton *button, gpointer row)
{
    (void) button;
    take_away(row);
}

// The one in front goes behind all others.
static void on_more(GtkButton *button, gpointer row)
{
    (void) button;
    NinoBar *bar = g_object_get_data(row, "bar");
    gtk_box_reorder_child_after(GTK_BOX(bar->box), row, NULL);
    show_front(bar);
}

static void on_passed(gpointer row)
{
    if (gtk_widget_get_parent(row))
        take_away(row);
    g_object_unref(row);
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

static GtkWidget *bar_new_row(NinoBarKind kind, const char *id, const char *tab)
{
    static const char *const icons[] = { "dialog-information-symbolic",
                                         "dialog-information-symbolic", "dialog-warning-symbolic",
                                         "dialog-error-symbolic" };
    static const char *const classes[] = { "news", "info", "warning", "error" };
    const char *const names[] = { _("info"), _("info"), _("warning"), _("error") };
    GtkWidget *row = g_object_new(GTK_TYPE_BOX, "accessible-role", GTK_ACCESSIBLE_ROLE_ALERT,
                                  "spacing", NINO_SPACE_S, NULL);
    gtk_widget_add_css_class(row, "message");
    gtk_widget_add_css_class(row, classes[kind]);
    g_object_set_data_full(G_OBJECT(row), "id", g_strdup(id), g_free);
    g_object_set_data_full(G_OBJECT(row), "tab", g_strdup(tab), g_free);
    GtkWidget *icon = gtk_image_new_from_icon_name(icons[kind]);
    gtk_accessible_update_property(GTK_ACCESSIBLE(icon), GTK_ACCESSIBLE_PROPERTY_LABEL, names[kind],
                                   -1);
    gtk_box_append(GTK_BOX(row), icon);
    return row;
}

void nino_bar_show_about(NinoBar *bar, const char *tab, const char *id, NinoBarKind kind,
                         const char *text, const NinoBarButton *buttons)
{
    nino_bar_hide_about(bar, tab, id);
    GtkWidget *row = bar_new_row(kind, id, tab);
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
    g_object_set_data(G_OBJECT(row), "bar", bar);
    for (; buttons && buttons->label; buttons++)
        bar_add_button(row, buttons->label, buttons->action);
    GtkWidget *more = gtk_button_new();
    gtk_button_set_has_frame(GTK_BUTTON(more), FALSE);
    gtk_widget_set_visible(more, FALSE);
    gtk_widget_set_tooltip_text(more, _("Show the message behind this one"));
    g_object_set_data(G_OBJECT(row), "more", more);
    g_signal_connect(more, "clicked", G_CALLBACK(on_more), row);
    gtk_box_append(GTK_BOX(row), more);
    GtkWidget *close = gtk_button_new_from_icon_name("window-close-symbolic");
    gtk_button_set_has_frame(GTK_BUTTON(close), FALSE);
    gtk_widget_set_valign(close, GTK_ALIGN_CENTER);
    gtk_widget_set_tooltip_text(close, _("Dismiss this message"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(close), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Dismiss message"), -1);
    g_signal_connect(close, "clicked", G_CALLBACK(on_close), row);
    gtk_box_append(GTK_BOX(row), close);
    gtk_box_append(GTK_BOX(kind == NINO_BAR_NEWS ? bar->news : bar->box), row);
    if (kind == NINO_BAR_NEWS)
        g_timeout_add_once(PASS_S * 1000, on_passed, g_object_ref(row));
    else
        show_front(bar);
}

void nino_bar_show(NinoBar *bar, const char *id, NinoBarKind kind, const char *text,
                   const NinoBarButton *buttons)
{
    nino_bar_show_about(bar, NULL, id, kind, text, buttons);
}

static void bar_drop(NinoBar *bar, const char *tab, const char *id)
{
    GtkWidget *const boxes[] = { bar->box, bar->news };
    for (gsize i = 0; i < G_N_ELEMENTS(boxes); i++)
        for (GtkWidget *row = gtk_widget_get_first_child(boxes[i]), *next; row; row = next) {
            next = gtk_widget_get_next_sibling(row);
            if ((tab == any || is_row(row, "tab", tab)) && (id == any || is_row(row, "id", id)))
                take_away(row);
        }
}

void nino_bar_hide(NinoBar *bar, const char *id) { bar_drop(bar, any, id); }

void nino_bar_hide_about(NinoBar *bar, const char *tab, const char *id) { bar_drop(bar, tab, id); }

void nino_bar_forget_tab(NinoBar *bar, const char *tab) { bar_drop(bar, tab, any); }

void nino_bar_set_tab(NinoBar *bar, const char *tab)
{
    if (!g_strcmp0(bar->tab, tab))
        return;
    g_free(bar->tab);
    bar->tab = g_strdup(tab);
    show_front(bar);
}

GtkWidget *nino_bar_news(NinoBar *bar) { return bar->news; }

static void bar_dispose(GObject *o)
{
    g_clear_pointer(&NINO_BAR(o)->box, gtk_widget_unparent);
    g_clear_object(&NINO_BAR(o)->news);
    g_clear_pointer(&NINO_BAR(o)->tab, g_free);
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
    bar->news = g_object_ref_sink(gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_S));
    gtk_widget_set_halign(bar->news, GTK_ALIGN_CENTER);
    gtk_widget_set_valign(bar->news, GTK_ALIGN_END);
    gtk_widget_set_margin_bottom(bar->news, NINO_SPACE_M);
}

GtkWidget *nino_bar_new(void) { return g_object_new(NINO_TYPE_BAR, NULL); }
