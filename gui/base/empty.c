// The picture, the sentence and the buttons. See base/empty.h.
#include "base/empty.h"

#include "base/i18n.h"
#include "base/tokens.h"

enum { PICTURE = 48, WIDTH_CHARS = 20, MOST_CHARS = 44 };

const NinoEmpty nino_empty_no_workflow = {
    "document-open-symbolic",
    N_("No workflow is open"),
    { { N_("Open…"), "win.open" }, { N_("Workflows"), "win.drawer::workflows" } },
};

const NinoEmpty nino_empty_no_run = {
    "x-office-presentation-symbolic",
    N_("Run a workflow, or open the trace of a run"),
    { { N_("Start a run"), "win.run" }, { N_("Open trace…"), "win.open-trace" } },
};

typedef struct Empty {
    GtkWidget *image, *label, *buttons;
    const NinoEmpty *what; // but for a search
    char *text;
    GtkEditable *search; // the widget of the search holds it; NULL: none
    NinoEmpty not_found;
} Empty;

static void empty_free(gpointer empty)
{
    Empty *e = empty;
    if (e->search)
        g_object_remove_weak_pointer(G_OBJECT(e->search), (gpointer *) &e->search);
    g_free(e->text);
    g_free(e);
}

static void empty_show(Empty *e, const NinoEmpty *what, const char *text)
{
    GtkWidget *child;
    gtk_image_set_from_icon_name(GTK_IMAGE(e->image), what->icon);
    gtk_label_set_text(GTK_LABEL(e->label), text);
    while ((child = gtk_widget_get_first_child(e->buttons)))
        gtk_box_remove(GTK_BOX(e->buttons), child);
    for (int i = 0; i < NINO_EMPTY_ACTIONS && what->does[i].action; i++) {
        GtkWidget *b = gtk_button_new_with_label(_(what->does[i].label));
        gtk_actionable_set_detailed_action_name(GTK_ACTIONABLE(b), what->does[i].action);
        gtk_box_append(GTK_BOX(e->buttons), b); // whose action is known there
        g_object_bind_property(b, "sensitive", b, "visible", G_BINDING_SYNC_CREATE);
    }
    gtk_widget_set_visible(e->buttons, what->does[0].action != NULL);
}

static void empty_update(GtkWidget *empty)
{
    Empty *e = g_object_get_data(G_OBJECT(empty), "empty");
    if (e->search && *gtk_editable_get_text(e->search))
        empty_show(e, &e->not_found, _(e->not_found.text));
    else
        empty_show(e, e->what, e->text ? e->text : _(e->what->text));
}

void nino_empty_say(GtkWidget *empty, const NinoEmpty *what, const char *text)
{
    Empty *e = g_object_get_data(G_OBJECT(empty), "empty");
    if (what == e->what && !g_strcmp0(text, e->text))
        return;
    e->what = what;
    g_free(e->text);
    e->text = g_strdup(text);
    empty_update(empty);
}

static void on_empty_clear(GtkEditable *search)
{
    gtk_editable_set_text(search, "");
    gtk_widget_grab_focus(GTK_WIDGET(search));
}

void nino_empty_add_search(GtkWidget *empty, GtkEditable *search, const char *not_found)
{
    Empty *e = g_object_get_data(G_OBJECT(empty), "empty");
    g_autoptr(GSimpleActionGroup) actions = g_simple_action_group_new();
    g_autoptr(GSimpleAction) clear = g_simple_action_new("clear", NULL);
    e->search = search;
    g_object_add_weak_pointer(G_OBJECT(search), (gpointer *) &e->search);
    e->not_found = (NinoEmpty){ "edit-find-symbolic",
                                not_found,
                                { { N_("Clear the search"), "empty.clear" } } };
    g_signal_connect_object(clear, "activate", G_CALLBACK(on_empty_clear), search,
                            G_CONNECT_SWAPPED);
    g_action_map_add_action(G_ACTION_MAP(actions), G_ACTION(clear));
    gtk_widget_insert_action_group(empty, "empty", G_ACTION_GROUP(actions));
    g_signal_connect_object(search, "changed", G_CALLBACK(empty_update), empty, G_CONNECT_SWAPPED);
    empty_update(empty);
}

GtkWidget *nino_empty_new(const NinoEmpty *what)
{
    Empty *e = g_new0(Empty, 1);
    GtkWidget *empty = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_S);
    e->what = what;
    e->image = gtk_image_new();
    gtk_image_set_pixel_size(GTK_IMAGE(e->image), PICTURE);
    e->label = gtk_label_new("");
    gtk_label_set_wrap(GTK_LABEL(e->label), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(e->label), PANGO_WRAP_WORD_CHAR);
    gtk_label_set_max_width_chars(GTK_LABEL(e->label), MOST_CHARS);
    gtk_label_set_width_chars(GTK_LABEL(e->label), WIDTH_CHARS);
    gtk_label_set_justify(GTK_LABEL(e->label), GTK_JUSTIFY_CENTER);
    e->buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S);
    gtk_widget_set_halign(e->buttons, GTK_ALIGN_CENTER);
    gtk_widget_add_css_class(e->image, "dim-label");
    gtk_widget_add_css_class(e->label, "dim-label");
    gtk_widget_add_css_class(empty, "empty");
    gtk_box_append(GTK_BOX(empty), e->image);
    gtk_box_append(GTK_BOX(empty), e->label);
    gtk_box_append(GTK_BOX(empty), e->buttons);
    gtk_widget_set_halign(empty, GTK_ALIGN_CENTER);
    gtk_widget_set_valign(empty, GTK_ALIGN_CENTER);
    gtk_widget_set_vexpand(empty, TRUE);
    g_object_set_data_full(G_OBJECT(empty), "empty", e, empty_free);
    empty_update(empty);
    return empty;
}

static void on_rows(GListModel *rows, guint at, guint removed, guint added, GtkWidget *list)
{
    (void) at, (void) removed, (void) added;
    gtk_widget_set_visible(list, g_list_model_get_n_items(rows) > 0);
}

static void on_no_rows(GListModel *rows, guint at, guint removed, guint added, GtkWidget *empty)
{
    (void) at, (void) removed, (void) added;
    gtk_widget_set_visible(empty, !g_list_model_get_n_items(rows));
}

GtkWidget *nino_empty_or_rows(GtkWidget *empty, GtkWidget *list, GListModel *rows)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_widget_set_vexpand(list, TRUE);
    gtk_box_append(GTK_BOX(box), list);
    gtk_box_append(GTK_BOX(box), empty);
    g_signal_connect_object(rows, "items-changed", G_CALLBACK(on_rows), list, 0);
    g_signal_connect_object(rows, "items-changed", G_CALLBACK(on_no_rows), empty, 0);
    on_rows(rows, 0, 0, 0, list);
    on_no_rows(rows, 0, 0, 0, empty);
    return box;
}
