// Drawers of things to take. Rows are made when the drawer is opened, and anew where the list is another
// one then; typing hides and sorts them.
#include "workflow/shelf.h"

#include <string.h>

#include "base/i18n.h"
#include "base/tokens.h"
#include "canvas/canvas.h"
#include "viewer/frames.h"

enum { PICTURE = 40 };

typedef struct Shelf {
    const NinoShelfType *type;
    gpointer user;
    GtkWidget *box, *entry, *list, *empty, *about;
    GPtrArray *items; // NULL: never opened
    gboolean is_typing;
} Shelf;

static void shelf_free(gpointer user)
{
    Shelf *s = user;
    g_clear_pointer(&s->items, g_ptr_array_unref);
    g_free(s);
}

static NinoSearchItem *item_of(GtkListBoxRow *row)
{
    return g_object_get_data(G_OBJECT(row), "item");
}

static const char *group_of(const Shelf *s, const NinoSearchItem *item)
{
    const char *group = s->type->is_by_terms ? item->terms : item->detail;
    return group ? group : "";
}

// ---- order --------------------------------------------------------------------------------------

// What is needed most comes first: behind it ComfyUI's "advanced", then categories of extensions, which begin with
// a capital, and behind all what is tried out ("_for_testing").
static int group_rank(const char *group)
{
    return *group == '_'                         ? 3
           : g_ascii_isupper(*group)             ? 2
           : g_str_has_prefix(group, "advanced") ? 1
                                                 : 0;
}

static int compare_groups(const char *a, const char *b)
{
    const int later = group_rank(a) - group_rank(b);
    return later ? later : g_utf8_collate(a, b);
}

static int shelf_sort(GtkListBoxRow *a, GtkListBoxRow *b, gpointer user)
{
    const Shelf *s = user;
    const NinoSearchItem *x = item_of(a), *y = item_of(b);
    if (s->is_typing && x->score != y->score)
        return y->score - x->score;
    if (x->rank != y->rank)
        return x->rank - y->rank;
    const int by_group = s->is_typing ? 0 : compare_groups(group_of(s, x), group_of(s, y));
    return by_group ? by_group : g_utf8_collate(x->title, y->title);
}

static gboolean shelf_filter(GtkListBoxRow *row, gpointer user)
{
    (void) user;
    return item_of(row)->score > 0;
}

static void shelf_head(GtkListBoxRow *row, GtkListBoxRow *before, gpointer user)
{
    const Shelf *s = user;
    const char *group = group_of(s, item_of(row));
    if (s->is_typing || (before && !strcmp(group, group_of(s, item_of(before))))) {
        gtk_list_box_row_set_header(row, NULL);
        return;
    }
    GtkWidget *head = gtk_label_new(*group ? group : _("Others"));
    gtk_label_set_xalign(GTK_LABEL(head), 0);
    gtk_label_set_ellipsize(GTK_LABEL(head), PANGO_ELLIPSIZE_MIDDLE);
    gtk_widget_set_tooltip_text(head, group);
    gtk_widget_add_css_class(head, "shelf-head");
    gtk_list_box_row_set_header(row, head);
}

static void on_shelf_search(Shelf *s)
{
    const char *typed = gtk_editable_get_text(GTK_EDITABLE(s->entry));
    s->is_typing = *typed != 0;
    for (guint i = 0; s->items && i < s->items->len; i++) {
        NinoSearchItem *item = g_ptr_array_index(s->items, i);
        item->score = nino_search_score(item, typed);
    }
    gtk_list_box_invalidate_sort(GTK_LIST_BOX(s->list));
    gtk_list_box_invalidate_filter(GTK_LIST_BOX(s->list));
    gtk_list_box_invalidate_headers(GTK_LIST_BOX(s->list));
}

// ---- rows ---------------------------------------------------------------------------------------

// What the library says of a class, or where the file is.
static char *tip_of(const Shelf *s, const NinoSearchItem *item)
{
    const nino_node_def *def = s->type->is_dragged ? nino_node_find(item->key, NULL) : NULL;
    if (!def)
        return g_strdup_printf("%s\n%s", item->title,
                               s->type->is_dragged ? item->detail : item->key);
    return g_strdup_printf("%s\n%s\n%s", item->title, def->key, def->help ? def->help : "");
}

static GtkWidget *with_picture(const NinoSearchItem *item, GtkWidget *title)
{
    if (!item->picture)
        return title;
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0), *image = gtk_picture_new();
    gtk_widget_set_size_request(image, PICTURE, PICTURE);
    nino_frames_fill(GTK_PICTURE(image), item->picture, 2 * PICTURE); // sharp in scale 2, too
    gtk_accessible_update_property(GTK_ACCESSIBLE(image), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Picture of what it makes"), -1);
    gtk_widget_set_margin_start(image, NINO_SPACE_M);
    gtk_widget_add_css_class(box, "thumbnail");
    gtk_box_append(GTK_BOX(box), image);
    gtk_box_append(GTK_BOX(box), title);
    return box;
}

static GtkWidget *shelf_new_row(const Shelf *s, NinoSearchItem *item)
{
    GtkWidget *row = gtk_list_box_row_new(), *title = gtk_label_new(item->title);
    g_autofree char *tip = tip_of(s, item);
    gtk_label_set_xalign(GTK_LABEL(title), 0);
    gtk_label_set_ellipsize(GTK_LABEL(title), PANGO_ELLIPSIZE_MIDDLE);
    gtk_widget_set_margin_start(title, NINO_SPACE_M);
    gtk_widget_set_tooltip_text(row, tip);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), with_picture(item, title));
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, item->title,
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, tip, -1);
    g_object_set_data(G_OBJECT(row), "item", item);
    return row;
}

static gboolean is_list_same(const GPtrArray *a, const GPtrArray *b)
{
    gboolean same = a && a->len == b->len;
    for (guint i = 0; same && i < a->len; i++) {
        const NinoSearchItem *x = g_ptr_array_index(a, i), *y = g_ptr_array_index(b, i);
        same = !g_strcmp0(x->key, y->key) && !g_strcmp0(x->picture, y->picture);
    }
    return same;
}

static void on_shelf_map(Shelf *s)
{
    GPtrArray *now = s->type->items(s->user);
    if (is_list_same(s->items, now)) {
        g_ptr_array_unref(now);
        return;
    }
    GtkListBoxRow *row;
    while ((row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(s->list), 0)))
        gtk_list_box_remove(GTK_LIST_BOX(s->list), GTK_WIDGET(row));
    g_clear_pointer(&s->items, g_ptr_array_unref);
    s->items = now;
    gtk_list_box_set_sort_func(GTK_LIST_BOX(s->list), NULL, NULL, NULL); // once, when all are there
    for (guint i = 0; i < now->len; i++) {
        NinoSearchItem *item = g_ptr_array_index(now, i);
        item->score = 1;
        gtk_list_box_append(GTK_LIST_BOX(s->list), shelf_new_row(s, item));
    }
    gtk_list_box_set_sort_func(GTK_LIST_BOX(s->list), shelf_sort, s, NULL);
    on_shelf_search(s);
}

// ---- taking -------------------------------------------------------------------------------------

static void on_shelf_row(GtkListBox *list, GtkListBoxRow *row, Shelf *s)
{
    (void) list;
    s->type->chosen(s->user, item_of(row)->key);
}

static void on_shelf_selected(Shelf *s)
{
    GtkListBoxRow *row = gtk_list_box_get_selected_row(GTK_LIST_BOX(s->list));
    const NinoSearchItem *item = row ? item_of(row) : NULL;
    g_autofree char *text = item ? s->type->about(s->user, item) : NULL;
    gtk_label_set_text(GTK_LABEL(s->about), text ? text : "");
    gtk_widget_set_visible(s->about, text != NULL);
}

// Enter takes the first one.
static void on_shelf_enter(Shelf *s)
{
    GtkListBoxRow *row;
    on_shelf_search(s); // typed fast: the entry tells of a change a little later
    for (int i = 0; (row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(s->list), i)); i++)
        if (gtk_widget_get_child_visible(GTK_WIDGET(row))) {
            on_shelf_row(NULL, row, s);
            return;
        }
}

static GdkContentProvider *on_shelf_drag(GtkDragSource *source, double x, double y, Shelf *s)
{
    (void) x;
    GtkListBoxRow *row = gtk_list_box_get_row_at_y(GTK_LIST_BOX(s->list), (int) y);
    if (!row)
        return NULL;
    g_autoptr(GdkPaintable) picture = gtk_widget_paintable_new(GTK_WIDGET(row));
    gtk_drag_source_set_icon(source, picture, 12, 8);
    return gdk_content_provider_new_typed(NINO_TYPE_CANVAS_ITEM, item_of(row)->key);
}

// ---- widget -------------------------------------------------------------------------------------

static void add_list(Shelf *s)
{
    GtkListBox *list = GTK_LIST_BOX(s->list);
    gtk_list_box_set_activate_on_single_click(list, FALSE);
    gtk_list_box_set_filter_func(list, shelf_filter, s, NULL);
    gtk_list_box_set_header_func(list, shelf_head, s, NULL);
    gtk_list_box_set_placeholder(list, s->empty);
    gtk_widget_add_css_class(s->list, "shelf");
    gtk_accessible_update_property(GTK_ACCESSIBLE(s->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _(s->type->search), -1);
    g_signal_connect(list, "row-activated", G_CALLBACK(on_shelf_row), s);
    if (s->type->about)
        g_signal_connect_swapped(list, "selected-rows-changed", G_CALLBACK(on_shelf_selected), s);
    if (s->type->is_dragged) {
        GtkDragSource *drag = gtk_drag_source_new();
        gtk_drag_source_set_actions(drag, GDK_ACTION_COPY);
        g_signal_connect(drag, "prepare", G_CALLBACK(on_shelf_drag), s);
        gtk_widget_add_controller(s->list, GTK_EVENT_CONTROLLER(drag));
    }
}

GtkWidget *nino_shelf_new(const NinoShelfType *type, gpointer user)
{
    Shelf *s = g_new0(Shelf, 1);
    s->type = type;
    s->user = user;
    s->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    s->entry = gtk_search_entry_new();
    s->list = gtk_list_box_new();
    s->empty = nino_empty_new(&type->empty);
    nino_empty_add_search(s->empty, GTK_EDITABLE(s->entry), type->not_found);
    g_object_set(s->entry, "placeholder-text", _(type->search), NULL);
    gtk_widget_set_tooltip_text(s->entry, _(type->search));
    gtk_accessible_update_property(GTK_ACCESSIBLE(s->entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _(type->search), -1);
    gtk_widget_set_margin_start(s->entry, NINO_SPACE_S);
    gtk_widget_set_margin_end(s->entry, NINO_SPACE_S);
    gtk_widget_set_margin_top(s->entry, NINO_SPACE_S);
    gtk_widget_set_margin_bottom(s->entry, NINO_SPACE_S);
    GtkWidget *scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), s->list);
    gtk_widget_set_vexpand(scroll, TRUE);
    gtk_box_append(GTK_BOX(s->box), s->entry);
    gtk_box_append(GTK_BOX(s->box), scroll);
    s->about = gtk_label_new("");
    gtk_label_set_wrap(GTK_LABEL(s->about), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(s->about), PANGO_WRAP_WORD_CHAR);
    gtk_label_set_xalign(GTK_LABEL(s->about), 0);
    gtk_widget_add_css_class(s->about, "message");
    gtk_widget_set_visible(s->about, FALSE);
    gtk_box_append(GTK_BOX(s->box), s->about);
    add_list(s);
    g_object_set_data_full(G_OBJECT(s->list), "shelf", s, shelf_free); // whose functions use it
    g_signal_connect_swapped(s->box, "map", G_CALLBACK(on_shelf_map), s);
    g_signal_connect_swapped(s->entry, "search-changed", G_CALLBACK(on_shelf_search), s);
    g_signal_connect_swapped(s->entry, "activate", G_CALLBACK(on_shelf_enter), s);
    return s->box;
}
