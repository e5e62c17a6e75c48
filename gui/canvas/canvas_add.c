// Adding nodes by search: anywhere, for a link that was dropped in the open, and without a pointer
// for a slot of the selected node.
#include "canvas/canvas_priv.h"
#include "canvas/search.h"
#include "base/i18n.h"
#include "node/folders.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 70, APART = 24 }; // from the slot's node, and from others, in the workflow

typedef struct AddAt {
    double x, y;   // in the workflow
    char node[64]; // whom to connect, by id: numbers change under the popover; "": nobody
    int slot;
    gboolean from_output;
    gboolean is_beside; // the place is beside that node
    gboolean is_loose;  // nobody pointed at it: where nothing lies
} AddAt;

// ---- connecting what was added ---------------------------------------------------------------

static const char *slot_type(const nino_doc_node *n, int slot, gboolean is_output)
{
    if (!n || slot < 0 || slot >= (is_output ? n->n_outputs : n->n_inputs))
        return NULL;
    return is_output ? n->outputs[slot].type : n->inputs[slot].type;
}

// The first slot of the new node that fits; sockets first, then values.
static nino_status canvas_add_join(NinoCanvas *c, const AddAt *at, int added, nino_error *err)
{
    const int node = nino_document_find(c->doc, at->node);
    const char *type = slot_type(nino_document_node(c->doc, node), at->slot, at->from_output);
    const nino_doc_node *n = nino_document_node(c->doc, added);
    if (!type || !n) // the slot has gone since
        return NINO_OK;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < (at->from_output ? n->n_inputs : n->n_outputs); i++) {
            const char *own = slot_type(n, i, !at->from_output);
            if ((at->from_output && !pass && n->inputs[i].widget) ||
                !nino_document_types_fit(at->from_output ? type : own,
                                         at->from_output ? own : type))
                continue;
            return at->from_output ? nino_document_connect(c->doc, node, at->slot, added, i, err)
                                   : nino_document_connect(c->doc, added, i, node, at->slot, err);
        }
    return NINO_OK;
}

// ---- a place beside a node -------------------------------------------------------------------

static gboolean is_canvas_add_free(NinoCanvas *c, const graphene_rect_t *place)
{
    for (guint i = 0; i < c->nodes->len; i++) {
        graphene_rect_t box;
        nino_node_view_get_box(g_ptr_array_index(c->nodes, i), &box);
        graphene_rect_inset(&box, 1 - APART, 1 - APART); // exactly so far apart is far enough
        if (graphene_rect_intersection(&box, place, NULL))
            return FALSE;
    }
    return TRUE;
}

// In the column beside the slot, as near to its height as others leave room.
static void canvas_add_find_place(NinoCanvas *c, AddAt *at, const nino_node_def *def)
{
    NinoNodeView *v = g_hash_table_lookup(c->by_id, at->node);
    graphene_rect_t own, box;
    double w, h, best = INFINITY;
    if (!v)
        return;
    nino_node_view_get_box(v, &own);
    nino_document_default_size(def, &w, &h);
    h += NINO_NODE_TITLE;
    const double level = at->from_output ? nino_node_view_output(v, at->slot).y
                                         : nino_node_view_input(v, at->slot).y;
    const double wanted = level - NINO_NODE_TITLE - 0.7 * NINO_NODE_SLOT; // its first slot there
    at->x = at->from_output ? own.origin.x + own.size.width + GAP : own.origin.x - GAP - w;
    at->y = wanted;
    for (int i = -1; i < 2 * (int) c->nodes->len; i++) { // there, or just above or below a node
        double y = wanted;
        if (i >= 0) {
            nino_node_view_get_box(g_ptr_array_index(c->nodes, (guint) i / 2), &box);
            y = i % 2 ? box.origin.y - APART - h : box.origin.y + box.size.height + APART;
        }
        const graphene_rect_t place =
            GRAPHENE_RECT_INIT((float) at->x, (float) y, (float) w, (float) h);
        if (fabs(y - wanted) >= best || !is_canvas_add_free(c, &place))
            continue;
        best = fabs(y - wanted);
        at->y = y;
    }
}

// Its middle there, or below what lies there already.
static void find_room(NinoCanvas *c, AddAt *at, const nino_node_def *def)
{
    double w, h;
    nino_document_default_size(def, &w, &h);
    h += NINO_NODE_TITLE;
    graphene_rect_t place =
        GRAPHENE_RECT_INIT((float) (at->x - w / 2), (float) (at->y - h / 2), (float) w, (float) h);
    while (!is_canvas_add_free(c, &place))
        place.origin.y += APART;
    at->x = place.origin.x;
    at->y = place.origin.y;
}

// ---- the search ------------------------------------------------------------------------------

// A loader begins with the first file that there is for it.
static nino_status take_first_files(NinoCanvas *c, const char *id, const char *given,
                                    nino_error *err)
{
    const nino_doc_node *n = nino_document_node(c->doc, nino_document_find(c->doc, id));
    const nino_param *p = n && n->def ? n->def->params : NULL;
    nino_status st = NINO_OK;
    for (; p && p->key && !st; p++) {
        n = nino_document_node(c->doc, nino_document_find(c->doc, id)); // a change moves it
        const nino_doc_widget *w = n ? nino_doc_widget_find(n, p->key) : NULL;
        if (p->type != NINO_FILE || !w || *w->text || !g_strcmp0(p->key, given))
            continue;
        g_auto(GStrv) files = nino_folders_files(p->folder, NULL);
        if (files && files[0])
            st = nino_document_set_text(c->doc, id, p->key, files[0], err);
    }
    return st;
}

// file: for its parameter `key`; NULL: none.
static void canvas_add_add(NinoCanvas *c, const nino_node_def *def, const char *key,
                           const char *file)
{
    AddAt *at = g_object_get_data(G_OBJECT(c), "add-at");
    nino_error err = { 0 };
    char id[32], name[96];
    if (!c->doc || !at || !def)
        return;
    if (at->is_beside)
        canvas_add_find_place(c, at, def);
    else if (at->is_loose)
        find_room(c, at, def);
    const gboolean by_title = at->is_beside || !*at->node; // or by the first slot, where it fell
    g_snprintf(name, sizeof(name), "Add %s", def->title);
    nino_document_begin(c->doc, name);
    nino_status st = nino_document_add(c->doc, def->key, rint(at->x),
                                       rint(at->y + (by_title ? NINO_NODE_TITLE : 0)), id, &err);
    if (!st && file)
        st = nino_document_set_text(c->doc, id, key, file, &err);
    if (!st)
        st = take_first_files(c, id, file ? key : NULL, &err);
    if (!st && *at->node)
        st = canvas_add_join(c, at, nino_document_find(c->doc, id), &err);
    if (st)
        nino_document_cancel(c->doc);
    else
        st = nino_document_end(c->doc, &err);
    if (!nino_canvas_did(c, st, &err))
        return;
    nino_canvas_select_only(c, id);
    NinoNodeView *v = g_hash_table_lookup(c->by_id, id);
    if (v) {
        nino_canvas_reveal_node(c, v);
        gtk_widget_grab_focus(GTK_WIDGET(v));
    }
}

static void on_class(gpointer user, const char *key)
{
    canvas_add_add(user, nino_node_find(key, NULL), NULL, NULL);
}

static AddAt *new_place(NinoCanvas *c, double sx, double sy)
{
    AddAt *at = g_new0(AddAt, 1);
    nino_canvas_view_world(&c->view, sx, sy, &at->x, &at->y);
    g_object_set_data_full(G_OBJECT(c), "add-at", at, g_free);
    return at;
}

void nino_canvas_open_search(NinoCanvas *c, double sx, double sy, const char *type,
                             gboolean from_output, gboolean is_loose)
{
    AddAt *at = new_place(c, sx, sy);
    const nino_doc_node *n = type ? nino_document_node(c->doc, c->links.node) : NULL;
    at->is_loose = is_loose;
    if (n) {
        g_strlcpy(at->node, n->id, sizeof(at->node));
        at->slot = c->links.slot;
        at->from_output = from_output;
    }
    nino_canvas_show_popover(
        c, nino_search_new(_("Add a node"), nino_search_nodes(type, from_output), on_class, c), sx,
        sy);
}

// ---- models ----------------------------------------------------------------------------------

static int n_files(const nino_node_def *def)
{
    int n = 0;
    for (const nino_param *p = def->params; p && p->key; p++)
        n += p->type == NINO_FILE;
    return n;
}

// ComfyUI's own loaders before those of extensions, its usual ones first.
static int loader_rank(const nino_node_def *def)
{
    static const char *const own[] = { "loaders", "advanced/loaders" };
    int rank = 0;
    while (rank < (int) G_N_ELEMENTS(own) && g_strcmp0(def->category, own[rank]) != 0)
        rank++;
    return rank;
}

static int n_outputs(const nino_node_def *def)
{
    int n = 0;
    for (const nino_port *p = def->outputs; p && p->key; p++)
        n++;
    return n;
}

static gboolean is_better_loader(const nino_node_def *def, const nino_node_def *than)
{
    const int rank = loader_rank(def) - loader_rank(than), files = n_files(def) - n_files(than),
              length = (int) strlen(def->key) - (int) strlen(than->key);
    return rank     ? rank < 0
           : files  ? files < 0
           : length ? length < 0
                    : n_outputs(def) < n_outputs(than);
}

// Of those that load files of a folder, the usual one: it needs the fewest, has the
// shortest name, gives the least.
static const nino_node_def *loader_of(const char *folder, const nino_param **param)
{
    const nino_node_def *best = NULL;
    for (const nino_node_def *const *d = nino_node_defs; *d; d++)
        for (const nino_param *p = (*d)->params; p && p->key; p++) {
            if (p->type != NINO_FILE || g_strcmp0(p->folder, folder) != 0 ||
                (best && !is_better_loader(*d, best)))
                continue;
            best = *d;
            *param = p;
        }
    return best;
}

static void on_model(gpointer user, const char *key)
{
    g_auto(GStrv) part = g_strsplit(key, "\n", 3); // class, parameter, file
    if (g_strv_length(part) == 3)
        canvas_add_add(user, nino_node_find(part[0], NULL), part[1], part[2]);
}

static void offer_models(GPtrArray *items, const char *folder)
{
    const nino_param *p = NULL;
    const nino_node_def *def = loader_of(folder, &p);
    g_auto(GStrv) files = nino_folders_files(folder, NULL);
    for (char **f = files; def && f && *f; f++) {
        NinoSearchItem *item = g_new0(NinoSearchItem, 1);
        *item = (NinoSearchItem){ .title = g_strdup(*f),
                                  .detail = g_strdup(def->title),
                                  .key = g_strjoin("\n", def->key, p->key, *f, NULL),
                                  .terms = g_strdup(folder) };
        g_ptr_array_add(items, item);
    }
}

GPtrArray *nino_canvas_models(void)
{
    GPtrArray *items = g_ptr_array_new_with_free_func(nino_search_item_free);
    g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);
    for (const nino_node_def *const *d = nino_node_defs; *d; d++)
        for (const nino_param *p = (*d)->params; p && p->key; p++)
            if (p->type == NINO_FILE && strcmp(p->folder, "input") != 0 &&
                strcmp(p->folder, "output") != 0 && g_hash_table_add(done, (gpointer) p->folder))
                offer_models(items, p->folder);
    return items;
}

void nino_canvas_open_models(NinoCanvas *c)
{
    const double x = c->view.width / 2.0, y = c->view.height / 3.0;
    new_place(c, x, y)->is_loose = TRUE;
    nino_canvas_show_popover(
        c, nino_search_new(_("Add a model"), nino_canvas_models(), on_model, c), x, y);
}

// ---- from a list beside the canvas -----------------------------------------------------------

// Its own type, so that no text of another program is taken for one.
G_DEFINE_BOXED_TYPE(NinoCanvasItem, nino_canvas_item, g_strdup, g_free)

// In the middle of what is seen.
void nino_canvas_add_item(NinoCanvas *c, const char *key)
{
    if (!c->doc)
        return;
    new_place(c, c->view.width / 2.0, c->view.height / 2.0)->is_loose = TRUE;
    (strchr(key, '\n') ? on_model : on_class)(c, key);
}

void nino_canvas_add_item_at(NinoCanvas *c, const NinoCanvasItem *key, double x, double y)
{
    new_place(c, x, y);
    (strchr(key, '\n') ? on_model : on_class)(c, key);
}

static gboolean on_item_drop(GtkDropTarget *target, const GValue *value, double x, double y,
                             gpointer canvas)
{
    (void) target;
    nino_canvas_add_item_at(canvas, g_value_get_boxed(value), x, y);
    return TRUE;
}

void nino_canvas_take_items(NinoCanvas *c)
{
    GtkDropTarget *drop = gtk_drop_target_new(NINO_TYPE_CANVAS_ITEM, GDK_ACTION_COPY);
    g_signal_connect(drop, "drop", G_CALLBACK(on_item_drop), c);
    gtk_widget_add_controller(GTK_WIDGET(c), GTK_EVENT_CONTROLLER(drop));
}

// ---- for a slot, without a pointer -----------------------------------------------------------

static void open_slots(NinoCanvas *c, const char *node, const char *key);

// Back to the node. GTK does not know any more where the focus was before the first popover.
static void on_slots_escape(gpointer user)
{
    NinoCanvas *c = user;
    const char *node = g_object_get_data(G_OBJECT(c), "slots-of");
    NinoNodeView *v = node ? g_hash_table_lookup(c->by_id, node) : NULL;
    if (v)
        gtk_widget_grab_focus(GTK_WIDGET(v));
}

// Back to the slot that was chosen.
static void on_escape(gpointer user)
{
    NinoCanvas *c = user;
    const AddAt *at = g_object_get_data(G_OBJECT(c), "add-at");
    if (!c->doc || !at)
        return;
    g_autofree char *key = g_strdup_printf("%d %d", at->from_output, at->slot);
    open_slots(c, at->node, key);
}

static void slot_on_screen(NinoCanvas *c, NinoNodeView *v, int slot, gboolean is_output, double *x,
                           double *y)
{
    const graphene_point_t p =
        is_output ? nino_node_view_output(v, slot) : nino_node_view_input(v, slot);
    *x = p.x * c->view.zoom + c->view.x;
    *y = p.y * c->view.zoom + c->view.y;
}

static void on_slot(gpointer user, const char *key)
{
    NinoCanvas *c = user;
    const char *node = g_object_get_data(G_OBJECT(c), "slots-of");
    const int number = c->doc && node ? nino_document_find(c->doc, node) : -1;
    NinoNodeView *v = nino_canvas_node(c, number);
    int is_output = 0, slot = 0;
    double x, y;
    if (!v || sscanf(key, "%d %d", &is_output, &slot) != 2)
        return;
    const char *type = slot_type(nino_document_node(c->doc, number), slot, is_output);
    if (!type)
        return;
    slot_on_screen(c, v, slot, is_output, &x, &y);
    AddAt *at = new_place(c, x, y);
    g_strlcpy(at->node, node, sizeof(at->node));
    at->slot = slot;
    at->from_output = is_output;
    at->is_beside = TRUE;
    g_autofree char *label = g_strdup_printf(
        is_output ? _("Add a node that takes %s") : _("Add a node that gives %s"), type);
    GtkWidget *search = nino_search_new(label, nino_search_nodes(type, is_output), on_class, c);
    nino_search_set_escape(search, on_escape);
    nino_canvas_show_popover(c, search, x, y);
}

static void offer_slot(GPtrArray *items, char *title, const char *type, gboolean is_linked,
                       char *key)
{
    NinoSearchItem *item = g_new0(NinoSearchItem, 1);
    *item = (NinoSearchItem){ .title = title,
                              .detail = is_linked ? g_strdup_printf(_("%s, connected"), type)
                                                  : g_strdup(type),
                              .key = key };
    g_ptr_array_add(items, item);
}

// key: the one that is chosen at first, or NULL
static void open_slots(NinoCanvas *c, const char *node, const char *key)
{
    GPtrArray *items = g_ptr_array_new_with_free_func(nino_search_item_free);
    const int number = nino_document_find(c->doc, node);
    const nino_doc_node *n = nino_document_node(c->doc, number);
    double x, y;
    for (int i = 0; n && i < n->n_outputs; i++)
        offer_slot(items, g_strdup_printf(_("From output %s"), n->outputs[i].label),
                   n->outputs[i].type, n->outputs[i].n_links > 0, g_strdup_printf("1 %d", i));
    for (int i = 0; n && i < n->n_inputs; i++)
        offer_slot(items,
                   g_strdup_printf(n->inputs[i].widget ? _("Into value %s") : _("Into input %s"),
                                   n->inputs[i].label),
                   n->inputs[i].type, n->inputs[i].link >= 0, g_strdup_printf("0 %d", i));
    g_object_set_data_full(G_OBJECT(c), "slots-of", g_strdup(node), g_free);
    GtkWidget *list = nino_search_new(_("Add a node at a slot"), items, on_slot, c);
    nino_search_select(list, key);
    nino_search_set_escape(list, on_slots_escape);
    nino_canvas_middle_of(c, number, &x, &y);
    nino_canvas_show_popover(c, list, x, y);
}

void nino_canvas_open_slots(NinoCanvas *c)
{
    const nino_doc_node *n =
        c->doc ? nino_document_node(c->doc, nino_canvas_first_selected(c)) : NULL;
    if (n)
        open_slots(c, n->id, NULL);
}
