// A node is added at a slot of another one without a pointer: the slot from a list, the search with
// what fits it, the new node connected, beside the other and over none. tests/gui/
// test_canvas_slots.sh starts it.
#include "graph/canvas.h"

#include <locale.h>
#include <sys/wait.h>

#include "app/keys.h"
#include "graph/node_view.h"
#include "graph/search.h"
#include "tests/gui/loop.h"

static GtkWidget *window;
static NinoCanvas *canvas;
static nino_document *doc;
static int n_problems;

static void on_problem(void) { n_problems++; }

// Three nodes; the sampler's neighbours stand where a new node would come first.
static const char flow[] =
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

static gboolean key(const char *keys)
{
    GPid pid;
    int status = -1;
    g_autofree char *line = g_strdup_printf("xdotool %s", keys);
    g_auto(GStrv) argv = NULL;
    if (!g_shell_parse_argv(line, NULL, &argv, NULL) ||
        !g_spawn_async(NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, NULL,
                       NULL, &pid, NULL))
        return FALSE;
    while (waitpid(pid, &status, WNOHANG) == 0)
        spin_loop(5);
    spin_loop(60);
    return status == 0;
}

static GtkWidget *child(GType type, const char *id)
{
    for (GtkWidget *w = gtk_widget_get_last_child(GTK_WIDGET(canvas)); w;
         w = gtk_widget_get_prev_sibling(w))
        if (g_type_is_a(G_OBJECT_TYPE(w), type) &&
            (!id || !strcmp(nino_node_view_id(NINO_NODE_VIEW(w)), id)))
            return w;
    return NULL;
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
    GtkWidget *p = child(GTK_TYPE_POPOVER, NULL);
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
    GtkWidget *p = child(GTK_TYPE_POPOVER, NULL), *list = p ? below(p, GTK_TYPE_LIST_BOX) : NULL;
    GtkListBoxRow *row = list ? gtk_list_box_get_selected_row(GTK_LIST_BOX(list)) : NULL;
    return row ? gtk_label_get_text(GTK_LABEL(below(GTK_WIDGET(row), GTK_TYPE_LABEL))) : "";
}

static int n_rows(void)
{
    GtkWidget *p = child(GTK_TYPE_POPOVER, NULL), *list = p ? below(p, GTK_TYPE_LIST_BOX) : NULL;
    int n = 0;
    while (list && gtk_list_box_get_row_at_index(GTK_LIST_BOX(list), n))
        n++;
    return n;
}

static gboolean is_closed(void) { return !child(GTK_TYPE_POPOVER, NULL); }

static graphene_rect_t box_of(const char *id)
{
    graphene_rect_t box = GRAPHENE_RECT_INIT(0, 0, 0, 0);
    GtkWidget *v = child(NINO_TYPE_NODE_VIEW, id);
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

static void open_flow(void)
{
    nino_error err = { 0 };
    nino_canvas_set_document(canvas, NULL);
    nino_document_destroy(&doc);
    doc = nino_document_load(flow, strlen(flow), "flow.json", &err);
    CHECK(doc);
    nino_canvas_set_document(canvas, doc);
    spin_loop(50);
}

static void shot(const char *name)
{
    g_autofree char *line =
        g_strdup_printf("import -window root %s/%s.png", g_getenv("NINODES_SHOTS"), name);
    spin_loop(300);
    if (g_getenv("NINODES_SHOTS"))
        g_spawn_command_line_sync(line, NULL, NULL, NULL, NULL);
}

// What takes the loader's VAE: a decoder, right of it, though one stands there already.
static void test_from_output(void)
{
    open_flow();
    CHECK(nino_canvas_show_node(canvas, "1"));
    CHECK(key("key alt+n"));
    WAIT_FOR(is_in("Add a node at a slot"));
    CHECK(n_rows() == 4); // three outputs, and the value
    CHECK(key("type --delay 20 'output vae'"));
    WAIT_FOR(!strcmp(chosen_row(), "From output VAE"));
    shot("slots");
    CHECK(key("key Return"));
    WAIT_FOR(is_in("Add a node that takes VAE"));
    GPtrArray *fit = nino_search_nodes("VAE", TRUE), *all = nino_search_nodes(NULL, TRUE);
    CHECK(n_rows() == (int) fit->len && fit->len < all->len);
    g_ptr_array_unref(fit);
    g_ptr_array_unref(all);
    shot("search-of-slot");
    CHECK(key("type --delay 20 'vae decode'"));
    WAIT_FOR(!strcmp(chosen_row(), "VAE Decode"));
    CHECK(key("key Return"));
    WAIT_FOR(is_closed());
    CHECK(nino_document_n_nodes(doc) == 4);
    const nino_doc_node *n = newest();
    CHECK_STR(n->type, "VAEDecode");
    const nino_doc_link *l = nino_document_link(doc, n->inputs[1].link);
    CHECK(l && !strcmp(nino_document_node(doc, l->from)->id, "1") && l->from_slot == 2);
    CHECK(focus() == child(NINO_TYPE_NODE_VIEW, n->id));
    g_auto(GStrv) selected = nino_canvas_get_selection(canvas);
    CHECK(selected[0] && !selected[1] && !strcmp(selected[0], n->id));
    CHECK(n->x > 300 && n->x < 450 && !is_over_another(n->id));
    shot("added-at-output");
    CHECK_STR(nino_document_undo_name(doc), "Add VAE Decode");
    gtk_widget_activate_action(GTK_WIDGET(canvas), "canvas.undo", NULL); // node and link at once
    CHECK(nino_document_n_nodes(doc) == 3 && !nino_document_is_changed(doc));
}

// What gives a latent, left of the sampler; then the same slot again with Escape on the way.
static void test_into_input(void)
{
    open_flow();
    CHECK(nino_canvas_show_node(canvas, "3"));
    CHECK(key("key alt+n"));
    WAIT_FOR(is_in("Add a node at a slot"));
    CHECK(key("type --delay 20 latent_image"));
    WAIT_FOR(!strcmp(chosen_row(), "Into input latent_image"));
    CHECK(key("key Return"));
    WAIT_FOR(is_in("Add a node that gives LATENT"));
    CHECK(key("key Escape")); // back to the slot
    WAIT_FOR(is_in("Add a node at a slot"));
    CHECK_STR(chosen_row(), "Into input latent_image");
    CHECK(key("key Return"));
    WAIT_FOR(is_in("Add a node that gives LATENT"));
    CHECK(key("key Escape"));
    WAIT_FOR(is_in("Add a node at a slot"));
    CHECK(key("key Escape")); // and to its node
    WAIT_FOR(is_closed());
    WAIT_FOR(focus() == child(NINO_TYPE_NODE_VIEW, "3"));
    CHECK(!nino_document_is_changed(doc));
    CHECK(key("key alt+n"));
    WAIT_FOR(is_in("Add a node at a slot"));
    CHECK(key("type --delay 20 latent_image"));
    WAIT_FOR(!strcmp(chosen_row(), "Into input latent_image"));
    CHECK(key("key Return"));
    WAIT_FOR(is_in("Add a node that gives LATENT"));
    CHECK(key("type --delay 20 'empty latent'"));
    WAIT_FOR(g_str_has_prefix(chosen_row(), "Empty Latent"));
    CHECK(key("key Return"));
    WAIT_FOR(is_closed());
    const nino_doc_node *n = newest(), *sampler = nino_document_node(doc, 2);
    CHECK(nino_document_n_nodes(doc) == 4);
    const nino_doc_link *l = nino_document_link(doc, sampler->inputs[3].link);
    CHECK(l && l->from == 3);
    CHECK(n->x + n->width < sampler->x && n->x + n->width > sampler->x - 120);
    CHECK(!is_over_another(n->id) && focus() == child(NINO_TYPE_NODE_VIEW, n->id));
    shot("added-at-input");
}

// A value gets a node of its own.
static void test_into_value(void)
{
    open_flow();
    CHECK(nino_canvas_show_node(canvas, "3"));
    CHECK(key("key alt+n"));
    WAIT_FOR(is_in("Add a node at a slot"));
    CHECK(key("type --delay 20 'value steps'"));
    WAIT_FOR(!strcmp(chosen_row(), "Into value steps"));
    CHECK(key("key Return"));
    WAIT_FOR(is_in("Add a node that gives INT"));
    CHECK(key("type --delay 20 primitive"));
    WAIT_FOR(!strcmp(chosen_row(), "Primitive"));
    CHECK(key("key Return"));
    WAIT_FOR(is_closed());
    const nino_doc_widget *steps = nino_doc_widget_find(nino_document_node(doc, 2), "steps");
    CHECK(steps && steps->is_linked && newest()->kind == NINO_DOC_PRIMITIVE);
    CHECK(!is_over_another(newest()->id));
}

int main(void)
{
    gtk_init();
    setlocale(LC_NUMERIC, "C");
    g_autofree char *xdotool = g_find_program_in_path("xdotool");
    if (!xdotool) {
        printf("skip: xdotool is missing\n");
        return 77;
    }
    window = gtk_window_new();
    canvas = NINO_CANVAS(nino_canvas_new());
    nino_keys_add_to_canvas(GTK_WIDGET(canvas));
    g_signal_connect(canvas, "problem", G_CALLBACK(on_problem), NULL);
    gtk_window_set_default_size(GTK_WINDOW(window), 1300, 800);
    gtk_window_set_child(GTK_WINDOW(window), GTK_WIDGET(canvas));
    gtk_window_present(GTK_WINDOW(window));
    WAIT_FOR(gtk_widget_get_width(GTK_WIDGET(canvas)) > 0);
    key("mousemove 5 5");
    test_from_output();
    test_into_input();
    test_into_value();
    CHECK(n_problems == 0);
    nino_canvas_set_document(canvas, NULL);
    nino_document_destroy(&doc);
    gtk_window_destroy(GTK_WINDOW(window));
    return 0;
}
