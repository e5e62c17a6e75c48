// A node is added at a slot of another one without a pointer: the slot from a list, the search with
// what fits it, the new node connected, beside the other and over none. tests/gui/
// test_canvas_slots.sh starts it.
#include "canvas/search.h"
#include "tests/gui/program/canvas_input.h"

// Three nodes; the sampler's neighbours stand where a new node would come first.
static const char apart[] =
    "{\"nodes\": [{\"id\": 1, \"type\": \"CheckpointLoaderSimple\", \"pos\": [0, 0], \"size\": "
    "[300, 100], \"outputs\": [{\"name\": \"MODEL\", \"type\": \"MODEL\", \"links\": []}, "
    "{\"name\": \"CLIP\", \"type\": \"CLIP\", \"links\": []}, {\"name\": \"VAE\", \"type\": "
    "\"VAE\", \"links\": []}], \"widgets_values\": [\"a.safetensors\"]}, {\"id\": 2, \"type\": "
    "\"VAEDecode\", \"pos\": [340, 20], \"size\": [200, 50], \"inputs\": [{\"name\": \"samples\", "
    "\"type\": \"LATENT\", \"link\": null}, {\"name\": \"vae\", \"type\": \"VAE\", \"link\": "
    "null}], \"outputs\": [{\"name\": \"IMAGE\", \"type\": \"IMAGE\", \"links\": []}]}, {\"id\": "
    "3, \"type\": \"KSampler\", \"pos\": [900, 0], \"size\": [300, 260], \"inputs\": [{\"name\": "
    "\"model\", \"type\": \"MODEL\", \"link\": null}, {\"name\": \"positive\", \"type\": "
    "\"CONDITIONING\", \"link\": null}, {\"name\": \"negative\", \"type\": \"CONDITIONING\", "
    "\"link\": null}, {\"name\": \"latent_image\", \"type\": \"LATENT\", \"link\": null}], "
    "\"outputs\": [{\"name\": \"LATENT\", \"type\": \"LATENT\", \"links\": []}], "
    "\"widgets_values\": [5, \"fixed\", 20, 8.0, \"euler\", \"normal\", 1.0]}], \"links\": [], "
    "\"version\": 0.4}";

static GtkWidget *open_popover(void)
{
    GtkWidget *w = gtk_widget_get_last_child(GTK_WIDGET(canvas));
    return w && GTK_IS_POPOVER(w) ? w : NULL;
}

static GtkWidget *below(GtkWidget *w, GType type)
{
    for (GtkWidget *k = gtk_widget_get_first_child(w); k; k = gtk_widget_get_next_sibling(k)) {
        GtkWidget *found = g_type_is_a(G_OBJECT_TYPE(k), type) ? k : below(k, type);
        if (found)
            return found;
    }
    return NULL;
}

static GtkWidget *focus(void) { return gtk_root_get_focus(GTK_ROOT(window)); }

// The popover whose entry is called so has the focus.
static gboolean is_in(const char *label)
{
    GtkWidget *p = open_popover();
    GtkWidget *entry = p && gtk_widget_get_mapped(p) ? below(p, GTK_TYPE_SEARCH_ENTRY) : NULL;
    char *wrong = entry ? gtk_test_accessible_check_property(GTK_ACCESSIBLE(entry),
                                                             GTK_ACCESSIBLE_PROPERTY_LABEL, label)
                        : g_strdup("no popover");
    const gboolean ok =
        !wrong && focus() && (focus() == entry || gtk_widget_is_ancestor(focus(), entry));
    g_free(wrong);
    return ok;
}

static const char *chosen_row(void)
{
    GtkWidget *p = open_popover(), *list = p ? below(p, GTK_TYPE_LIST_BOX) : NULL;
    GtkListBoxRow *row = list ? gtk_list_box_get_selected_row(GTK_LIST_BOX(list)) : NULL;
    return row ? gtk_label_get_text(GTK_LABEL(below(GTK_WIDGET(row), GTK_TYPE_LABEL))) : "";
}

static int n_rows(void)
{
    GtkWidget *p = open_popover(), *list = p ? below(p, GTK_TYPE_LIST_BOX) : NULL;
    int n = 0;
    while (list && gtk_list_box_get_row_at_index(GTK_LIST_BOX(list), n))
        n++;
    return n;
}

static gboolean is_closed(void) { return !open_popover(); }

static graphene_rect_t box_of(const char *id)
{
    graphene_rect_t box = GRAPHENE_RECT_INIT(0, 0, 0, 0);
    GtkWidget *v = view_of(id);
    CHECK(v);
    if (v)
        nino_node_view_get_box(NINO_NODE_VIEW(v), &box);
    return box;
}

static gboolean is_over_another(const char *id)
{
    const graphene_rect_t own = box_of(id);
    for (int i = 0; i < nino_document_n_nodes(doc); i++) {
        const char *other = nino_document_node(doc, i)->id;
        const graphene_rect_t box = box_of(other);
        if (strcmp(other, id) != 0 && graphene_rect_intersection(&own, &box, NULL))
            return TRUE;
    }
    return FALSE;
}

static const nino_doc_node *newest(void)
{
    return nino_document_node(doc, nino_document_n_nodes(doc) - 1);
}

// Types what finds a row of the list (a pattern), and takes it.
static void take_row(const char *typed, const char *row)
{
    CHECK(xdo("type --delay 20 %s", typed));
    WAIT_FOR(g_pattern_match_simple(row, chosen_row()));
    CHECK(xdo("key Return"));
}

// From a node to the search of what fits one of its slots.
static void open_slot(const char *node, const char *typed, const char *row, const char *search)
{
    CHECK(nino_canvas_show_node(canvas, node));
    CHECK(xdo("key alt+n"));
    WAIT_FOR(is_in("Add a node at a slot"));
    take_row(typed, row);
    WAIT_FOR(is_in(search));
}

static void add(const char *typed, const char *row)
{
    take_row(typed, row);
    WAIT_FOR(is_closed());
}

static gboolean takes_vae(const char *title)
{
    for (const nino_node_def *const *d = nino_node_defs; *d; d++)
        for (const nino_port *p = (*d)->inputs; p && p->key; p++)
            if (p->type == NINO_PORT_VAE && !strcmp((*d)->title, title))
                return TRUE;
    return FALSE;
}

// What takes the loader's VAE: a decoder, right of it, though one stands there already.
static void test_from_output(void)
{
    open_text(apart);
    CHECK(nino_canvas_show_node(canvas, "1"));
    CHECK(xdo("key alt+n"));
    WAIT_FOR(is_in("Add a node at a slot"));
    CHECK(n_rows() == 4); // three outputs, and the value
    CHECK(xdo("type --delay 20 'output vae'"));
    WAIT_FOR(!strcmp(chosen_row(), "From output VAE"));
    shot_display("slots");
    CHECK(xdo("key Return"));
    WAIT_FOR(is_in("Add a node that takes VAE"));
    GPtrArray *fit = nino_search_nodes("VAE", TRUE), *all = nino_search_nodes(NULL, TRUE);
    CHECK(n_rows() == (int) MIN(fit->len, NINO_SEARCH_SHOWN) && fit->len < all->len);
    CHECK(takes_vae(chosen_row())); // before those that take any type
    g_ptr_array_unref(fit);
    g_ptr_array_unref(all);
    shot_display("search-of-slot");
    add("'vae decode'", "VAE Decode");
    CHECK(nino_document_n_nodes(doc) == 4);
    const nino_doc_node *n = newest();
    CHECK_STR(n->type, "VAEDecode");
    const nino_doc_link *l = nino_document_link(doc, n->inputs[1].link);
    CHECK(l && !strcmp(nino_document_node(doc, l->from)->id, "1") && l->from_slot == 2);
    CHECK(focus() == view_of(n->id));
    g_auto(GStrv) selected = nino_canvas_get_selection(canvas);
    CHECK(selected[0] && !selected[1] && !strcmp(selected[0], n->id));
    CHECK(n->x > 300 && n->x < 450 && !is_over_another(n->id));
    shot_display("added-at-output");
    CHECK_STR(nino_document_undo_name(doc), "Add VAE Decode");
    act("canvas.undo"); // node and link at once
    CHECK(nino_document_n_nodes(doc) == 3 && !nino_document_is_changed(doc));
}

// What gives a latent, left of the sampler; then the same slot again with Escape on the way.
static void test_into_input(void)
{
    open_text(apart);
    open_slot("3", "latent_image", "Into input latent_image", "Add a node that gives LATENT");
    CHECK(xdo("key Escape")); // back to the slot
    WAIT_FOR(is_in("Add a node at a slot"));
    CHECK_STR(chosen_row(), "Into input latent_image");
    CHECK(xdo("key Return"));
    WAIT_FOR(is_in("Add a node that gives LATENT"));
    CHECK(xdo("key Escape"));
    WAIT_FOR(is_in("Add a node at a slot"));
    CHECK(xdo("key Escape")); // and to its node
    WAIT_FOR(is_closed());
    WAIT_FOR(focus() == view_of("3"));
    CHECK(!nino_document_is_changed(doc));
    open_slot("3", "latent_image", "Into input latent_image", "Add a node that gives LATENT");
    add("'empty latent'", "Empty Latent*");
    const nino_doc_node *n = newest(), *sampler = nino_document_node(doc, 2);
    CHECK(nino_document_n_nodes(doc) == 4);
    const nino_doc_link *l = nino_document_link(doc, sampler->inputs[3].link);
    CHECK(l && l->from == 3);
    CHECK(n->x + n->width < sampler->x && n->x + n->width > sampler->x - 120);
    CHECK(!is_over_another(n->id) && focus() == view_of(n->id));
    shot_display("added-at-input");
}

// A text goes to a node that could have it typed in.
static void test_from_value(void)
{
    open_text("{\"1\": {\"class_type\": \"PrimitiveString\", \"inputs\": {\"value\": \"a\"}}}");
    open_slot("1", "'from output'", "From output*", "Add a node that takes STRING");
    add("'clip text encode (prompt'", "CLIP Text Encode (Prompt)");
    const nino_doc_node *n = newest();
    CHECK_STR(n->type, "CLIPTextEncode");
    const nino_doc_widget *text = nino_doc_widget_find(n, "text");
    CHECK(text && text->is_linked);
}

// A value gets a node of its own.
static void test_into_value(void)
{
    open_text(apart);
    open_slot("3", "'value steps'", "Into value steps", "Add a node that gives INT");
    add("primitive", "Primitive");
    const nino_doc_widget *steps = nino_doc_widget_find(nino_document_node(doc, 2), "steps");
    CHECK(steps && steps->is_linked && newest()->kind == NINO_DOC_PRIMITIVE);
    CHECK(!is_over_another(newest()->id));
}

int main(void)
{
    if (!begin_input())
        return test_skip("xdotool is missing");
    test_from_output();
    test_into_input();
    test_into_value();
    test_from_value();
    CHECK(n_problems == 0);
    close_window();
    return 0;
}
