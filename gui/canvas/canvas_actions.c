// What the canvas can do by key, by menu and over D-Bus, and when.
#include "canvas/canvas_priv.h"

#include <math.h>
#include <string.h>

#include "node/input_file.h"

// ---- clipboard -------------------------------------------------------------------------------

static gboolean copy(NinoCanvas *c)
{
    size_t n = 0;
    nino_error err = { 0 };
    g_autofree const char **ids = nino_canvas_selected_ids(c, &n);
    char *text = n ? nino_document_copy(c->doc, ids, n, &err) : NULL;
    if (!text)
        return FALSE;
    gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(c)), text);
    free(text);
    return TRUE;
}

static void select_range(NinoCanvas *c, int first, int n)
{
    nino_canvas_unselect(c);
    for (int i = first; i < first + n; i++)
        if (nino_canvas_node(c, i))
            g_hash_table_add(c->selected, g_strdup(nino_node_view_id(nino_canvas_node(c, i))));
    nino_canvas_selection_changed(c);
}

static void paste_text(NinoCanvas *c, const char *text, gboolean with_links)
{
    double x, y;
    int first = 0, n = 0;
    nino_error err = { 0 };
    const double w = c->view.width, h = c->view.height;
    const gboolean inside = c->px > 0 && c->py > 0 && c->px < w && c->py < h;
    nino_canvas_view_world(&c->view, inside ? c->px : w / 2, inside ? c->py : h / 2, &x, &y);
    if (!nino_canvas_did(c,
                         nino_document_paste(c->doc, text, strlen(text), rint(x), rint(y),
                                             with_links, &first, &n, &err),
                         &err))
        return;
    select_range(c, first, n);
}

static void on_canvas_actions_text(GObject *clipboard, GAsyncResult *result, gpointer user)
{
    g_autofree char *text = gdk_clipboard_read_text_finish(GDK_CLIPBOARD(clipboard), result, NULL);
    NinoCanvas *c = user;
    const gboolean with_links = g_object_get_data(G_OBJECT(c), "paste-links") != NULL;
    if (text && c->doc)
        paste_text(c, text, with_links);
    g_object_unref(c);
}

static void paste(NinoCanvas *c, gboolean with_links)
{
    g_object_set_data(G_OBJECT(c), "paste-links", GINT_TO_POINTER(with_links));
    gdk_clipboard_read_text_async(gtk_widget_get_clipboard(GTK_WIDGET(c)), NULL,
                                  on_canvas_actions_text, g_object_ref(c));
}

static void duplicate(NinoCanvas *c)
{
    size_t n = 0;
    nino_error err = { 0 };
    g_autofree const char **ids = nino_canvas_selected_ids(c, &n);
    char *text = n ? nino_document_copy(c->doc, ids, n, &err) : NULL;
    const double px = c->px, py = c->py;
    graphene_rect_t box, all;
    if (!text)
        return;
    for (size_t i = 0; i < n; i++) {
        nino_node_view_get_box(g_hash_table_lookup(c->by_id, ids[i]), &box);
        i ? graphene_rect_union(&all, &box, &all) : (void) (all = box);
    }
    c->px = (all.origin.x + all.size.width / 2 + 40) * c->view.zoom + c->view.x;
    c->py = (all.origin.y + all.size.height / 2 + 40 + NINO_NODE_TITLE / 2.0) * c->view.zoom +
            c->view.y;
    paste_text(c, text, TRUE);
    c->px = px;
    c->py = py;
    free(text);
}

// ---- nodes -----------------------------------------------------------------------------------

// On if one of the nodes is off, else off.
static gboolean all_are(NinoCanvas *c, gboolean (*is)(const nino_doc_node *n))
{
    for (guint i = 0; i < c->nodes->len; i++) {
        const nino_doc_node *n = nino_document_node(c->doc, (int) i);
        if (g_hash_table_contains(c->selected, n->id) && !is(n))
            return FALSE;
    }
    return TRUE;
}

static gboolean is_muted(const nino_doc_node *n) { return n->mode == NINO_MODE_MUTED; }
static gboolean is_bypassed(const nino_doc_node *n) { return n->mode == NINO_MODE_BYPASSED; }
static gboolean is_collapsed(const nino_doc_node *n) { return n->is_collapsed; }
static gboolean is_pinned(const nino_doc_node *n) { return n->is_pinned; }

static nino_status canvas_actions_change(NinoCanvas *c, const char *what, const char *const *ids,
                                         size_t n, nino_error *err)
{
    nino_document *d = c->doc;
    if (!strcmp(what, "canvas.mute"))
        return nino_document_set_mode(
            d, ids, n, all_are(c, is_muted) ? NINO_MODE_ALWAYS : NINO_MODE_MUTED, err);
    if (!strcmp(what, "canvas.bypass"))
        return nino_document_set_mode(
            d, ids, n, all_are(c, is_bypassed) ? NINO_MODE_ALWAYS : NINO_MODE_BYPASSED, err);
    if (!strcmp(what, "canvas.collapse"))
        return nino_document_set_collapsed(d, ids, n, !all_are(c, is_collapsed), err);
    if (!strcmp(what, "canvas.pin"))
        return nino_document_set_pinned(d, ids, n, !all_are(c, is_pinned), err);
    return nino_document_delete(d, ids, n, err);
}

static gboolean canvas_actions_end(NinoCanvas *c, nino_status st, nino_error *err)
{
    if (st)
        nino_document_cancel(c->doc);
    else
        st = nino_document_end(c->doc, err);
    return nino_canvas_did(c, st, err);
}

static void change_action(GtkWidget *w, const char *what, GVariant *v)
{
    NinoCanvas *c = NINO_CANVAS(w);
    size_t n = 0;
    nino_error err = { 0 };
    g_autofree const char **ids = nino_canvas_selected_ids(c, &n);
    (void) v;
    if (c->doc && n)
        nino_canvas_did(c, canvas_actions_change(c, what, ids, n, &err), &err);
}

// Nodes, groups and points of links, as one step.
static void delete_action(GtkWidget *w, const char *what, GVariant *v)
{
    NinoCanvas *c = NINO_CANVAS(w);
    nino_error err = { 0 };
    size_t n = 0;
    g_autofree const char **ids = nino_canvas_selected_ids(c, &n);
    if (!c->doc || !nino_canvas_spots_n_selected(&c->spots)) {
        change_action(w, what, v);
        return;
    }
    nino_document_begin(c->doc, "Delete");
    nino_status st = nino_canvas_spots_delete(&c->spots, &err);
    if (!st && n)
        st = nino_document_delete(c->doc, ids, n, &err);
    canvas_actions_end(c, st, &err);
}

static void color_action(GtkWidget *w, const char *what, GVariant *v)
{
    NinoCanvas *c = NINO_CANVAS(w);
    size_t n = 0;
    nino_error err = { 0 };
    const char *name = g_variant_get_string(v, NULL);
    const NinoNodeColor *k = nino_node_colors;
    g_autofree const char **ids = nino_canvas_selected_ids(c, &n);
    (void) what;
    while (k->name && strcmp(k->name, name) != 0)
        k++;
    if (!c->doc || (!n && !nino_canvas_spots_selected_group(&c->spots)))
        return;
    nino_document_begin(c->doc, "Colour");
    nino_status st =
        nino_canvas_spots_color(&c->spots, k->name ? k->group : nino_plain_group_color, &err);
    if (!st && n)
        st = nino_document_set_color(c->doc, ids, n, k->title, k->body, &err);
    canvas_actions_end(c, st, &err);
}

static void group_action(GtkWidget *w, const char *what, GVariant *v)
{
    NinoCanvas *c = NINO_CANVAS(w);
    size_t n = 0;
    nino_error err = { 0 };
    graphene_rect_t all, box;
    g_autofree const char **ids = nino_canvas_selected_ids(c, &n);
    (void) what, (void) v;
    if (!c->doc || !n)
        return;
    for (size_t i = 0; i < n; i++) {
        nino_node_view_get_box(g_hash_table_lookup(c->by_id, ids[i]), &box);
        i ? graphene_rect_union(&all, &box, &all) : (void) (all = box);
    }
    nino_canvas_did(c,
                    nino_document_add_group(c->doc, "Group", rint(all.origin.x - 12),
                                            rint(all.origin.y - 46), rint(all.size.width + 24),
                                            rint(all.size.height + 58), &err),
                    &err);
}

// ---- the rest --------------------------------------------------------------------------------

static void undo_action(GtkWidget *w, const char *what, GVariant *v)
{
    NinoCanvas *c = NINO_CANVAS(w);
    nino_error err = { 0 };
    (void) v;
    if (!c->doc)
        return;
    if (!strcmp(what, "canvas.undo") && nino_document_undo_name(c->doc))
        nino_canvas_did(c, nino_document_undo(c->doc, &err), &err);
    else if (!strcmp(what, "canvas.redo") && nino_document_redo_name(c->doc))
        nino_canvas_did(c, nino_document_redo(c->doc, &err), &err);
}

static void clip_action(GtkWidget *w, const char *what, GVariant *v)
{
    NinoCanvas *c = NINO_CANVAS(w);
    if (!c->doc)
        return;
    if (!strcmp(what, "canvas.copy"))
        copy(c);
    else if (!strcmp(what, "canvas.cut") && copy(c))
        delete_action(w, "canvas.delete", v);
    else if (!strcmp(what, "canvas.duplicate"))
        duplicate(c);
    else if (g_str_has_prefix(what, "canvas.paste") && !nino_canvas_paste_files(c))
        paste(c, !strcmp(what, "canvas.paste-links"));
}

static void view_action(GtkWidget *w, const char *what, GVariant *v)
{
    NinoCanvas *c = NINO_CANVAS(w);
    (void) v;
    if (!strcmp(what, "canvas.fit"))
        nino_canvas_fit(c);
    else if (!strcmp(what, "canvas.zoom-in"))
        nino_canvas_set_zoom(c, c->view.zoom * 1.25);
    else if (!strcmp(what, "canvas.zoom-out"))
        nino_canvas_set_zoom(c, c->view.zoom / 1.25);
    else if (!strcmp(what, "canvas.zoom-reset"))
        nino_canvas_set_zoom(c, 1);
    else if (!strcmp(what, "canvas.minimap"))
        c->has_minimap = !c->has_minimap;
    gtk_widget_queue_draw(w);
}

static void select_action(GtkWidget *w, const char *what, GVariant *v)
{
    NinoCanvas *c = NINO_CANVAS(w);
    (void) v;
    nino_canvas_unselect(c);
    if (!strcmp(what, "canvas.select-all"))
        nino_canvas_spots_select_in(&c->spots, NULL);
    for (guint i = 0; i < c->nodes->len && !strcmp(what, "canvas.select-all"); i++)
        g_hash_table_add(c->selected, g_strdup(nino_node_view_id(g_ptr_array_index(c->nodes, i))));
    nino_canvas_selection_changed(c);
}

static gboolean is_end_selected(NinoCanvas *c)
{
    const nino_doc_node *n = nino_document_node(c->doc, nino_canvas_first_selected(c));
    return n && (n->kind == NINO_DOC_INPUT || n->kind == NINO_DOC_OUTPUT);
}

static void open_action(GtkWidget *w, const char *what, GVariant *v)
{
    NinoCanvas *c = NINO_CANVAS(w);
    (void) v;
    if (!c->doc)
        return;
    const NinoSpot *group = nino_canvas_spots_selected_group(&c->spots);
    if (!strcmp(what, "canvas.add"))
        nino_canvas_open_search(c, gtk_widget_get_width(w) / 2.0, gtk_widget_get_height(w) / 3.0,
                                NULL, FALSE, TRUE);
    else if (!strcmp(what, "canvas.add-at-slot"))
        nino_canvas_open_slots(c);
    else if (!strcmp(what, "canvas.add-model"))
        nino_canvas_open_models(c);
    else if (!strcmp(what, "canvas.connect"))
        nino_canvas_open_connect(c);
    else if (!strcmp(what, "canvas.choose-file"))
        nino_canvas_choose_file(c);
    else if (!strcmp(what, "canvas.edit-mask"))
        nino_canvas_edit_mask(c);
    else if (!strcmp(what, "canvas.bend"))
        nino_canvas_open_bend(c);
    else if (!strcmp(what, "canvas.menu"))
        nino_canvas_open_menu_by_key(c);
    else if (!strcmp(what, "canvas.ports") || is_end_selected(c))
        nino_canvas_open_ports(c);
    else
        nino_canvas_open_rename(c, nino_canvas_first_selected(c), group ? group->number : -1);
}

static void level_action(GtkWidget *w, const char *what, GVariant *v)
{
    NinoCanvas *c = NINO_CANVAS(w);
    nino_error err = { 0 };
    const nino_doc_node *n =
        c->doc ? nino_document_node(c->doc, nino_canvas_first_selected(c)) : NULL;
    (void) v;
    if (c->doc && !strcmp(what, "canvas.leave") && nino_document_depth(c->doc))
        nino_canvas_did(c, nino_document_leave(c->doc, 1, &err), &err);
    else if (n && n->kind == NINO_DOC_SUBGRAPH && !strcmp(what, "canvas.enter"))
        nino_canvas_did(c, nino_document_enter(c->doc, n->id, &err), &err);
}

static void subgraph_action(GtkWidget *w, const char *what, GVariant *v)
{
    NinoCanvas *c = NINO_CANVAS(w);
    nino_error err = { 0 };
    size_t n = 0;
    int first = 0, n_new = 0;
    char id[32];
    g_autofree const char **ids = nino_canvas_selected_ids(c, &n);
    (void) v;
    if (!c->doc || !n)
        return;
    if (!strcmp(what, "canvas.subgraph")) {
        if (nino_canvas_did(
                c, nino_document_make_subgraph(c->doc, ids, n, "New Subgraph", id, &err), &err))
            nino_canvas_select_only(c, id);
    } else if (nino_canvas_did(c, nino_document_unpack(c->doc, ids[0], &first, &n_new, &err),
                               &err)) {
        select_range(c, first, n_new);
    }
}

// ---- all of them -----------------------------------------------------------------------------

static const struct {
    const char *name;
    GtkWidgetActionActivateFunc fn;
} actions[] = {
    { "canvas.undo", undo_action },         { "canvas.redo", undo_action },
    { "canvas.cut", clip_action },          { "canvas.copy", clip_action },
    { "canvas.paste", clip_action },        { "canvas.paste-links", clip_action },
    { "canvas.duplicate", clip_action },    { "canvas.delete", delete_action },
    { "canvas.select-all", select_action }, { "canvas.select-none", select_action },
    { "canvas.mute", change_action },       { "canvas.bypass", change_action },
    { "canvas.collapse", change_action },   { "canvas.pin", change_action },
    { "canvas.group", group_action },       { "canvas.fit", view_action },
    { "canvas.zoom-in", view_action },      { "canvas.zoom-out", view_action },
    { "canvas.zoom-reset", view_action },   { "canvas.minimap", view_action },
    { "canvas.add", open_action },          { "canvas.subgraph", subgraph_action },
    { "canvas.unpack", subgraph_action },   { "canvas.connect", open_action },
    { "canvas.rename", open_action },       { "canvas.enter", level_action },
    { "canvas.leave", level_action },       { "canvas.ports", open_action },
    { "canvas.bend", open_action },         { "canvas.menu", open_action },
    { "canvas.add-at-slot", open_action },  { "canvas.add-model", open_action },
    { "canvas.choose-file", open_action },  { "canvas.edit-mask", open_action },
};

void nino_canvas_add_actions(GtkWidgetClass *wc)
{
    for (gsize i = 0; i < G_N_ELEMENTS(actions); i++)
        gtk_widget_class_install_action(wc, actions[i].name, NULL, actions[i].fn);
    gtk_widget_class_install_action(wc, "canvas.color", "s", color_action);
}

void nino_canvas_enable_actions(NinoCanvas *c)
{
    static const char *const on_nodes[] = { "cut",     "copy",     "duplicate",  "mute",
                                            "bypass",  "collapse", "pin",        "group",
                                            "connect", "subgraph", "add-at-slot" };
    const gboolean any = c->doc && g_hash_table_size(c->selected);
    const gboolean has_title = any || nino_canvas_spots_selected_group(&c->spots);
    gboolean has_subgraph = FALSE;
    for (guint i = 0; i < c->nodes->len && any; i++) {
        const nino_doc_node *n = nino_document_node(c->doc, (int) i);
        has_subgraph |=
            n && n->kind == NINO_DOC_SUBGRAPH && g_hash_table_contains(c->selected, n->id);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(on_nodes); i++) {
        g_autofree char *name = g_strconcat("canvas.", on_nodes[i], NULL);
        gtk_widget_action_set_enabled(GTK_WIDGET(c), name, any);
    }
    const nino_doc_node *first =
        any ? nino_document_node(c->doc, nino_canvas_first_selected(c)) : NULL;
    gtk_widget_action_set_enabled(GTK_WIDGET(c), "canvas.choose-file",
                                  nino_input_widget(first) != NULL);
    gtk_widget_action_set_enabled(GTK_WIDGET(c), "canvas.edit-mask",
                                  nino_input_widget(first) &&
                                      nino_input_has_mask(nino_input_widget(first)->param));
    gtk_widget_action_set_enabled(GTK_WIDGET(c), "canvas.delete",
                                  any || nino_canvas_spots_n_selected(&c->spots));
    gtk_widget_action_set_enabled(GTK_WIDGET(c), "canvas.rename", has_title);
    gtk_widget_action_set_enabled(GTK_WIDGET(c), "canvas.color", has_title);
    gtk_widget_action_set_enabled(GTK_WIDGET(c), "canvas.bend",
                                  c->doc && nino_document_n_links(c->doc) > 0);
    gtk_widget_action_set_enabled(GTK_WIDGET(c), "canvas.enter", has_subgraph);
    gtk_widget_action_set_enabled(GTK_WIDGET(c), "canvas.unpack", has_subgraph);
    gtk_widget_action_set_enabled(GTK_WIDGET(c), "canvas.ports",
                                  has_subgraph || (c->doc && nino_document_depth(c->doc) > 0));
    gtk_widget_action_set_enabled(GTK_WIDGET(c), "canvas.leave",
                                  c->doc && nino_document_depth(c->doc) > 0);
    gtk_widget_action_set_enabled(GTK_WIDGET(c), "canvas.undo",
                                  c->doc && nino_document_undo_name(c->doc));
    gtk_widget_action_set_enabled(GTK_WIDGET(c), "canvas.redo",
                                  c->doc && nino_document_redo_name(c->doc));
}
