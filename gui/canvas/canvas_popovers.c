// What pops up over the canvas: connecting by name, bending, renaming, the context menu;
// canvas_add.c has the search.
#include "canvas/canvas_priv.h"
#include "canvas/link_name.h"
#include "canvas/search.h"
#include "base/i18n.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- popovers --------------------------------------------------------------------------------

static gboolean popovers_drop_popover(gpointer p)
{
    gtk_widget_unparent(p);
    g_object_unref(p);
    return G_SOURCE_REMOVE;
}

// What the keys went to before: GTK would leave them with nobody once the popover goes, some time later.
static void popovers_give_focus_back(NinoCanvas *c, GtkWidget *popover)
{
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(c));
    GtkWidget *now = root ? gtk_root_get_focus(root) : NULL, *before = c->focus_before;
    if (!root || (now && now != popover && !gtk_widget_is_ancestor(now, popover)))
        return;
    if (!before || !gtk_widget_is_ancestor(before, GTK_WIDGET(c)))
        before = GTK_WIDGET(c);
    gtk_widget_grab_focus(before);
}

static void on_popovers_closed(GtkPopover *p, gpointer user)
{
    NinoCanvas *c = user;
    if (c->popover != GTK_WIDGET(p))
        return;
    c->popover = NULL;
    popovers_give_focus_back(c, GTK_WIDGET(p));
    g_idle_add(popovers_drop_popover, g_object_ref(p)); // not while it closes
}

void nino_canvas_show_popover(NinoCanvas *c, GtkWidget *popover, double sx, double sy)
{
    const double w = c->view.width, h = c->view.height;
    const GdkRectangle at = { (int) CLAMP(sx, 4, w - 4), (int) CLAMP(sy, 4, h - 4), 1, 1 };
    if (c->popover)
        gtk_popover_popdown(GTK_POPOVER(c->popover));
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(c));
    g_set_weak_pointer(&c->focus_before, root ? gtk_root_get_focus(root) : NULL);
    c->popover = popover;
    gtk_widget_set_parent(popover, GTK_WIDGET(c));
    gtk_popover_set_pointing_to(GTK_POPOVER(popover), &at);
    gtk_popover_set_position(GTK_POPOVER(popover), GTK_POS_BOTTOM);
    g_signal_connect(popover, "closed", G_CALLBACK(on_popovers_closed), c);
    gtk_popover_popup(GTK_POPOVER(popover));
}

// ---- connecting by keyboard ------------------------------------------------------------------

static void popovers_offer(GPtrArray *items, const char *verb, const nino_doc_node *to,
                           const nino_doc_input *in, const nino_doc_node *from, int output,
                           char *key)
{
    NinoSearchItem *item = g_new0(NinoSearchItem, 1);
    item->key = key;
    if (from) {
        const nino_doc_output *o = &from->outputs[output];
        item->title = g_strdup_printf("%s ← %s, %s", in->label, from->title, o->label);
        item->detail = g_strdup_printf(_("%s, node %s"), o->type, from->id);
    } else {
        item->title = g_strdup_printf("%s %s", verb, in->label);
        item->detail = g_strdup(to->title);
    }
    g_ptr_array_add(items, item);
}

static void on_connect(gpointer user, const char *key)
{
    NinoCanvas *c = user;
    nino_error err = { 0 };
    int from = -1, output = 0, to = 0, input = 0;
    if (!c->doc || sscanf(key, "%d %d %d %d", &from, &output, &to, &input) != 4)
        return;
    nino_canvas_did(c,
                    from < 0 ? nino_document_disconnect(c->doc, to, input, &err)
                             : nino_document_connect(c->doc, from, output, to, input, &err),
                    &err);
}

// Every way to connect the inputs of the selected node.
static GPtrArray *connections(NinoCanvas *c, int to)
{
    GPtrArray *items = g_ptr_array_new_with_free_func(nino_search_item_free);
    const nino_doc_node *n = nino_document_node(c->doc, to);
    for (int i = 0; i < n->n_inputs; i++) {
        const nino_doc_link *l = nino_document_link(c->doc, n->inputs[i].link);
        if (l && !l->is_offered)
            popovers_offer(items, _("Disconnect"), n, &n->inputs[i], NULL, 0,
                           g_strdup_printf("-1 0 %d %d", to, i));
        for (int f = 0; f < nino_document_n_nodes(c->doc); f++) {
            const nino_doc_node *from = nino_document_node(c->doc, f);
            for (int o = 0; o < from->n_outputs && f != to; o++)
                if (nino_document_types_fit(from->outputs[o].type, n->inputs[i].type) &&
                    (!n->inputs[i].widget || from->kind == NINO_DOC_PRIMITIVE ||
                     strcmp(from->outputs[o].type, "*") != 0))
                    popovers_offer(items, NULL, n, &n->inputs[i], from, o,
                                   g_strdup_printf("%d %d %d %d", f, o, to, i));
        }
    }
    return items;
}

int nino_canvas_first_selected(NinoCanvas *c)
{
    for (guint i = 0; i < c->nodes->len; i++)
        if (g_hash_table_contains(c->selected, nino_node_view_id(g_ptr_array_index(c->nodes, i))))
            return (int) i;
    return -1;
}

void nino_canvas_middle_of(NinoCanvas *c, int node, double *x, double *y)
{
    NinoNodeView *v = nino_canvas_node(c, node);
    graphene_rect_t box;
    *x = c->view.width / 2.0;
    *y = c->view.height / 3.0;
    if (!v)
        return;
    nino_node_view_get_box(v, &box);
    *x = (box.origin.x + box.size.width / 2) * c->view.zoom + c->view.x;
    *y = (box.origin.y + NINO_NODE_TITLE) * c->view.zoom + c->view.y;
}

// Where a popover for the selection belongs.
static void middle_of_selection(NinoCanvas *c, double *x, double *y)
{
    const int node = nino_canvas_first_selected(c);
    nino_canvas_middle_of(c, node, x, y);
    for (guint i = 0; i < c->spots.all->len && node < 0; i++) {
        NinoSpot *s = g_ptr_array_index(c->spots.all, i);
        if (!s->is_selected)
            continue;
        const graphene_rect_t box = nino_canvas_spots_handle(&c->spots, s);
        *x = (box.origin.x + box.size.width / 2) * c->view.zoom + c->view.x;
        *y = (box.origin.y + box.size.height) * c->view.zoom + c->view.y;
        return;
    }
}

void nino_canvas_open_connect(NinoCanvas *c)
{
    const int node = nino_canvas_first_selected(c);
    double x, y;
    if (!c->doc || node < 0)
        return;
    nino_canvas_middle_of(c, node, &x, &y);
    nino_canvas_show_popover(
        c, nino_search_new(_("Connect an input"), connections(c, node), on_connect, c), x, y);
}

// ---- bending a link by keyboard --------------------------------------------------------------

// A point in the middle of its longest part; it is selected, so that the arrows move it.
static void on_bend(gpointer user, const char *key)
{
    NinoCanvas *c = user;
    const int link = atoi(key);
    const nino_doc_link *l = c->doc ? nino_document_link(c->doc, link) : NULL;
    nino_error err = { 0 };
    int n = 0, at = 0;
    double most = -1;
    if (!l)
        return;
    const CanvasScene scene = nino_canvas_scene(c);
    g_autofree graphene_point_t *p = nino_canvas_link_points(&scene, l, &n);
    for (int i = 0; i + 1 < n; i++) {
        const double far = hypot(p[i + 1].x - p[i].x, p[i + 1].y - p[i].y);
        at = far > most ? i : at;
        most = MAX(far, most);
    }
    const double x = rint((p[at].x + p[at + 1].x) / 2), y = rint((p[at].y + p[at + 1].y) / 2);
    if (!nino_canvas_did(c, nino_document_add_reroute(c->doc, link, at, x, y, &err), &err))
        return;
    l = nino_document_link(c->doc, link);
    nino_canvas_focus_spot(c, nino_canvas_spots_of_point(&c->spots, l->reroutes[at]));
}

// Links of what is selected, or all.
static gboolean is_in_question(NinoCanvas *c, const nino_doc_link *l)
{
    const gboolean any = g_hash_table_size(c->selected) || nino_canvas_spots_n_selected(&c->spots);
    const char *from = nino_document_node(c->doc, l->from)->id,
               *to = nino_document_node(c->doc, l->to)->id;
    for (int i = 0; i < l->n_reroutes; i++)
        if (nino_canvas_spots_of_point(&c->spots, l->reroutes[i])->is_selected)
            return TRUE;
    return !any || g_hash_table_contains(c->selected, from) ||
           g_hash_table_contains(c->selected, to);
}

void nino_canvas_open_bend(NinoCanvas *c)
{
    GPtrArray *items = g_ptr_array_new_with_free_func(nino_search_item_free);
    double x, y;
    for (int i = 0; i < nino_document_n_links(c->doc); i++) {
        const nino_doc_link *l = nino_document_link(c->doc, i);
        if (l->is_offered || !is_in_question(c, l))
            continue;
        NinoSearchItem *item = g_new0(NinoSearchItem, 1);
        item->key = g_strdup_printf("%d", i);
        item->title = nino_canvas_link_name(c->doc, i);
        item->detail =
            l->n_reroutes
                ? g_strdup_printf(ngettext("%s, %d point", "%s, %d points", (gulong) l->n_reroutes),
                                  l->type, l->n_reroutes)
                : g_strdup(l->type);
        g_ptr_array_add(items, item);
    }
    middle_of_selection(c, &x, &y);
    nino_canvas_show_popover(c, nino_search_new(_("Bend a link"), items, on_bend, c), x, y);
}

// ---- renaming --------------------------------------------------------------------------------

static void on_popovers_renamed(GtkEntry *entry, gpointer user)
{
    NinoCanvas *c = user;
    const char *text = gtk_editable_get_text(GTK_EDITABLE(entry));
    const char *id = g_object_get_data(G_OBJECT(entry), "node");
    const int group = GPOINTER_TO_INT(g_object_get_data(G_OBJECT(entry), "group"));
    nino_error err = { 0 };
    nino_canvas_did(c,
                    id ? nino_document_set_title(c->doc, id, *text ? text : NULL, &err)
                       : nino_document_set_group(c->doc, group, text, NULL, &err),
                    &err);
    if (c->popover)
        gtk_popover_popdown(GTK_POPOVER(c->popover));
}

void nino_canvas_open_rename(NinoCanvas *c, int node, int group)
{
    const nino_doc_node *n = nino_document_node(c->doc, node);
    const nino_doc_group *g = nino_document_group(c->doc, group);
    GtkWidget *popover = gtk_popover_new(), *entry = gtk_entry_new();
    double x, y;
    if (!n && !g)
        return;
    middle_of_selection(c, &x, &y);
    if (n) {
        g_object_set_data_full(G_OBJECT(entry), "node", g_strdup(n->id), g_free);
    }
    g_object_set_data(G_OBJECT(entry), "group", GINT_TO_POINTER(group));
    gtk_editable_set_text(GTK_EDITABLE(entry), n ? n->title : g->title);
    gtk_editable_set_width_chars(GTK_EDITABLE(entry), 24);
    gtk_accessible_update_property(GTK_ACCESSIBLE(entry), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Title"),
                                   -1);
    g_signal_connect(entry, "activate", G_CALLBACK(on_popovers_renamed), c);
    gtk_popover_set_child(GTK_POPOVER(popover), entry);
    nino_canvas_show_popover(c, popover, x, y);
    gtk_widget_grab_focus(entry);
}

// ---- menu ------------------------------------------------------------------------------------

static GMenu *color_menu(void)
{
    GMenu *m = g_menu_new();
    g_menu_append(m, _("None"), "canvas.color('')");
    for (const NinoNodeColor *k = nino_node_colors; k->name; k++) {
        g_autofree char *action = g_strdup_printf("canvas.color('%s')", k->name);
        g_autofree char *label = g_strdup(_(k->name));
        label[0] = g_ascii_toupper(label[0]);
        g_menu_append(m, label, action);
    }
    return m;
}

static void popovers_add_section(GMenu *menu, const char *const entries[][2])
{
    GMenu *s = g_menu_new();
    for (; (*entries)[0]; entries++)
        g_menu_append(s, _((*entries)[0]), (*entries)[1]);
    g_menu_append_section(menu, NULL, G_MENU_MODEL(s));
    g_object_unref(s);
}

void nino_canvas_open_menu(NinoCanvas *c, double sx, double sy, gboolean of_selection)
{
    static const char *const on_nodes[][2] = { { N_("Rename…"), "canvas.rename" },
                                               { N_("Add a node at a slot…"),
                                                 "canvas.add-at-slot" },
                                               { N_("Connect…"), "canvas.connect" },
                                               { N_("Choose a file…"), "canvas.choose-file" },
                                               { N_("Paint the mask…"), "canvas.edit-mask" },
                                               { N_("Bend a link…"), "canvas.bend" },
                                               { N_("Collapse"), "canvas.collapse" },
                                               { N_("Mute"), "canvas.mute" },
                                               { N_("Bypass"), "canvas.bypass" },
                                               { N_("Pin"), "canvas.pin" },
                                               { N_("Enter subgraph"), "canvas.enter" },
                                               { N_("Unpack subgraph"), "canvas.unpack" },
                                               { N_("Ports and shown values…"), "canvas.ports" },
                                               { NULL, NULL } };
    static const char *const edit[][2] = { { N_("Cut"), "canvas.cut" },
                                           { N_("Copy"), "canvas.copy" },
                                           { N_("Duplicate"), "canvas.duplicate" },
                                           { N_("Group"), "canvas.group" },
                                           { N_("Convert to subgraph"), "canvas.subgraph" },
                                           { N_("Delete"), "canvas.delete" },
                                           { NULL, NULL } };
    static const char *const on_group[][2] = { { N_("Rename…"), "canvas.rename" },
                                               { N_("Fit"), "canvas.fit" },
                                               { N_("Delete"), "canvas.delete" },
                                               { NULL, NULL } };
    static const char *const on_point[][2] = { { N_("Bend a link…"), "canvas.bend" },
                                               { N_("Delete"), "canvas.delete" },
                                               { NULL, NULL } };
    static const char *const on_empty[][2] = { { N_("Add node…"), "canvas.add" },
                                               { N_("Add model…"), "canvas.add-model" },
                                               { N_("Paste"), "canvas.paste" },
                                               { N_("Select all"), "canvas.select-all" },
                                               { N_("Fit"), "canvas.fit" },
                                               { N_("Minimap"), "canvas.minimap" },
                                               { N_("Leave subgraph"), "canvas.leave" },
                                               { NULL, NULL } };
    GMenu *menu = g_menu_new();
    const gboolean has_nodes = g_hash_table_size(c->selected) > 0;
    if (of_selection && (has_nodes || nino_canvas_spots_selected_group(&c->spots))) {
        GMenu *colors = color_menu();
        popovers_add_section(menu, has_nodes ? on_nodes : on_group);
        g_menu_append_submenu(menu, _("Colour"), G_MENU_MODEL(colors));
        if (has_nodes)
            popovers_add_section(menu, edit);
        g_object_unref(colors);
    } else if (of_selection) {
        popovers_add_section(menu, on_point);
    } else {
        popovers_add_section(menu, on_empty);
    }
    GtkWidget *popover = gtk_popover_menu_new_from_model(G_MENU_MODEL(menu));
    g_object_unref(menu);
    gtk_popover_set_has_arrow(GTK_POPOVER(popover), FALSE);
    gtk_widget_set_halign(popover, GTK_ALIGN_START);
    nino_canvas_show_popover(c, popover, sx, sy);
}

void nino_canvas_open_menu_by_key(NinoCanvas *c)
{
    double x, y;
    middle_of_selection(c, &x, &y);
    nino_canvas_open_menu(
        c, x, y, g_hash_table_size(c->selected) || nino_canvas_spots_n_selected(&c->spots));
}
