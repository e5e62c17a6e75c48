// The list is made when the button is pressed, with a search entry where it is long.
#include "node/choice.h"

#include <string.h>

#include "base/i18n.h"
#include "base/tokens.h"

struct _NinoChoice {
    GtkButton parent;
    GtkLabel *label;
    GtkWidget *popover, *list, *search;
    char **(*choices)(gpointer user);
    void (*chosen)(gpointer user, const char *text);
    gpointer user;
};

G_DEFINE_TYPE(NinoChoice, nino_choice, GTK_TYPE_BUTTON)

enum { MANY = 10 };

const char *nino_choice_get_text(GtkWidget *choice)
{
    return gtk_label_get_text(NINO_CHOICE(choice)->label);
}

void nino_choice_set_text(GtkWidget *choice, const char *text)
{
    NinoChoice *c = NINO_CHOICE(choice);
    if (!strcmp(gtk_label_get_text(c->label), text))
        return;
    gtk_label_set_text(c->label, text);
    gtk_accessible_update_property(GTK_ACCESSIBLE(c), GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT, text, -1);
}

static void on_activated(GtkListBox *list, GtkListBoxRow *row, gpointer user)
{
    NinoChoice *c = user;
    const char *text = gtk_label_get_text(GTK_LABEL(gtk_list_box_row_get_child(row)));
    (void) list;
    nino_choice_set_text(GTK_WIDGET(c), text);
    c->chosen(c->user, text);
    gtk_popover_popdown(GTK_POPOVER(c->popover));
}

static gboolean choice_matches(GtkListBoxRow *row, gpointer user)
{
    NinoChoice *c = user;
    const char *typed = gtk_editable_get_text(GTK_EDITABLE(c->search));
    g_autofree char *what = g_utf8_casefold(typed, -1);
    g_autofree char *text =
        g_utf8_casefold(gtk_label_get_text(GTK_LABEL(gtk_list_box_row_get_child(row))), -1);
    return strstr(text, what) != NULL;
}

static void on_choice_search(GtkSearchEntry *entry, gpointer user)
{
    (void) entry;
    gtk_list_box_invalidate_filter(GTK_LIST_BOX(NINO_CHOICE(user)->list));
}

static void on_choice_enter(GtkSearchEntry *entry, gpointer user)
{
    NinoChoice *c = user;
    on_choice_search(entry, c); // typed fast: the entry tells of a change a little later
    for (GtkWidget *row = gtk_widget_get_first_child(c->list); row;
         row = gtk_widget_get_next_sibling(row))
        if (gtk_widget_get_child_visible(row)) {
            on_activated(GTK_LIST_BOX(c->list), GTK_LIST_BOX_ROW(row), c);
            return;
        }
}

static gboolean choice_drop_popover(gpointer user)
{
    NinoChoice *c = user;
    if (c->popover)
        gtk_widget_unparent(c->popover);
    c->popover = NULL;
    g_object_unref(c);
    return G_SOURCE_REMOVE;
}

static void on_choice_closed(GtkPopover *p, gpointer user)
{
    (void) p;
    g_idle_add(choice_drop_popover, g_object_ref(user));
}

static void choice_fill(NinoChoice *c, char **choices)
{
    const char *now = gtk_label_get_text(c->label);
    for (char **s = choices; s && *s; s++) {
        GtkWidget *label = gtk_label_new(*s);
        gtk_label_set_xalign(GTK_LABEL(label), 0);
        gtk_list_box_append(GTK_LIST_BOX(c->list), label);
        if (!strcmp(*s, now))
            gtk_list_box_select_row(GTK_LIST_BOX(c->list),
                                    GTK_LIST_BOX_ROW(gtk_widget_get_parent(label)));
    }
    if (!choices || !*choices) {
        GtkWidget *none = gtk_label_new(_("No files in the folders"));
        gtk_widget_add_css_class(none, "dim-label");
        gtk_list_box_set_placeholder(GTK_LIST_BOX(c->list), none);
    }
}

static void open_list(NinoChoice *c)
{
    g_auto(GStrv) choices = c->choices(c->user);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_S);
    GtkWidget *scroller = gtk_scrolled_window_new();
    if (c->popover)
        return;
    c->popover = gtk_popover_new();
    c->list = gtk_list_box_new();
    gtk_accessible_update_property(GTK_ACCESSIBLE(c->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Choices"), -1);
    g_signal_connect(c->list, "row-activated", G_CALLBACK(on_activated), c);
    choice_fill(c, choices);
    if (choices && g_strv_length(choices) > MANY) {
        c->search = gtk_search_entry_new();
        gtk_list_box_set_filter_func(GTK_LIST_BOX(c->list), choice_matches, c, NULL);
        g_signal_connect(c->search, "search-changed", G_CALLBACK(on_choice_search), c);
        g_signal_connect(c->search, "activate", G_CALLBACK(on_choice_enter), c);
        gtk_box_append(GTK_BOX(box), c->search);
    }
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scroller), TRUE);
    gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scroller), 320);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), c->list);
    gtk_box_append(GTK_BOX(box), scroller);
    gtk_popover_set_child(GTK_POPOVER(c->popover), box);
    gtk_widget_set_parent(c->popover, GTK_WIDGET(c));
    g_signal_connect(c->popover, "closed", G_CALLBACK(on_choice_closed), c);
    gtk_popover_popup(GTK_POPOVER(c->popover));
}

static void on_clicked(GtkButton *b) { open_list(NINO_CHOICE(b)); }

static void choice_size_allocate(GtkWidget *w, int width, int height, int baseline)
{
    NinoChoice *c = NINO_CHOICE(w);
    GTK_WIDGET_CLASS(nino_choice_parent_class)->size_allocate(w, width, height, baseline);
    if (c->popover)
        gtk_popover_present(GTK_POPOVER(c->popover));
}

static void choice_dispose(GObject *o)
{
    NinoChoice *c = NINO_CHOICE(o);
    g_clear_pointer(&c->popover, gtk_widget_unparent);
    G_OBJECT_CLASS(nino_choice_parent_class)->dispose(o);
}

static void nino_choice_class_init(NinoChoiceClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = choice_dispose;
    GTK_WIDGET_CLASS(klass)->size_allocate = choice_size_allocate;
    GTK_BUTTON_CLASS(klass)->clicked = on_clicked;
}

static void nino_choice_init(NinoChoice *c)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_HAIR),
              *label = gtk_label_new("");
    c->label = GTK_LABEL(label);
    gtk_label_set_xalign(c->label, 0);
    gtk_label_set_ellipsize(c->label, PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(label, TRUE);
    gtk_box_append(GTK_BOX(box), label);
    gtk_box_append(GTK_BOX(box), gtk_image_new_from_icon_name("pan-down-symbolic"));
    gtk_button_set_child(GTK_BUTTON(c), box);
    gtk_widget_add_css_class(GTK_WIDGET(c), "choice");
}

GtkWidget *nino_choice_new(char **(*list)(gpointer user),
                           void (*chosen)(gpointer user, const char *), gpointer user)
{
    NinoChoice *c =
        g_object_new(NINO_TYPE_CHOICE, "accessible-role", GTK_ACCESSIBLE_ROLE_COMBO_BOX, NULL);
    c->choices = list;
    c->chosen = chosen;
    c->user = user;
    return GTK_WIDGET(c);
}
