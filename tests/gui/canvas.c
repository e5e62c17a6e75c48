// Canvas tests in one process: nodes and editors as widgets, actions, search, subgraphs, marks;
// with xdotool the pointer and the keyboard too. tests/gui/test_canvas.sh starts it. With
// arguments: pictures of these workflows into $NINODES_SHOTS.
#include "graph/canvas.h"

#include <locale.h>
#include <math.h>
#include <sys/wait.h>

#include "app/keys.h"
#include "graph/choice.h"
#include "graph/node_view.h"
#include "graph/search.h"
#include "tests/gui/loop.h"

static GtkWidget *window;
static NinoCanvas *canvas;
static nino_document *doc;
static nino_error err;

static void shot(const char *name)
{
    const char *dir = g_getenv("NINODES_SHOTS");
    if (!dir)
        return;
    const int w = gtk_widget_get_width(window), h = gtk_widget_get_height(window);
    GdkPaintable *p = gtk_widget_paintable_new(window);
    GskRenderNode *node = NULL;
    for (int i = 0; !node && i < 400; i++) { // nothing was drawn yet
        GtkSnapshot *s = gtk_snapshot_new();
        gdk_paintable_snapshot(p, s, w, h);
        if (!(node = gtk_snapshot_free_to_node(s)))
            spin_loop(25);
    }
    GskRenderer *r = gtk_native_get_renderer(GTK_NATIVE(window));
    GdkTexture *t =
        gsk_renderer_render_texture(r, node, &GRAPHENE_RECT_INIT(0, 0, (float) w, (float) h));
    g_autofree char *path = g_strdup_printf("%s/%s.png", dir, name);
    CHECK(gdk_texture_save_to_png(t, path));
    g_object_unref(t);
    gsk_render_node_unref(node);
    g_object_unref(p);
}

// The whole display, popovers included.
static void shot_display(const char *name)
{
    const char *dir = g_getenv("NINODES_SHOTS");
    g_autofree char *line = g_strdup_printf("import -window root %s/%s.png", dir, name);
    if (dir)
        g_spawn_command_line_sync(line, NULL, NULL, NULL, NULL);
}

static void dark(gboolean on)
{
    g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", on, NULL);
}

static void close_document(void)
{
    nino_canvas_set_document(canvas, NULL);
    nino_document_destroy(&doc);
}

static void open_text(const char *json)
{
    close_document();
    doc = nino_document_load(json, strlen(json), "flow.json", &err);
    CHECK(doc);
    nino_canvas_set_document(canvas, doc);
    spin_loop(50);
}

static const nino_doc_node *node(const char *id)
{
    const nino_doc_node *n = nino_document_node(doc, nino_document_find(doc, id));
    CHECK(n);
    return n;
}

static GtkWidget *view_of(const char *id)
{
    for (GtkWidget *w = gtk_widget_get_first_child(GTK_WIDGET(canvas)); w;
         w = gtk_widget_get_next_sibling(w))
        if (NINO_IS_NODE_VIEW(w) && !strcmp(nino_node_view_id(NINO_NODE_VIEW(w)), id))
            return w;
    return NULL;
}

static int count_views(void)
{
    int n = 0;
    for (GtkWidget *w = gtk_widget_get_first_child(GTK_WIDGET(canvas)); w;
         w = gtk_widget_get_next_sibling(w))
        n += NINO_IS_NODE_VIEW(w);
    return n;
}

// The i-th widget of a type below w, in the order of the tree.
static GtkWidget *below(GtkWidget *w, GType type, int *i)
{
    for (GtkWidget *k = gtk_widget_get_first_child(w); k; k = gtk_widget_get_next_sibling(k)) {
        GtkWidget *found =
            g_type_is_a(G_OBJECT_TYPE(k), type) && (*i)-- == 0 ? k : below(k, type, i);
        if (found)
            return found;
    }
    return NULL;
}

static GtkWidget *editor(const char *id, GType type, int i)
{
    GtkWidget *v = view_of(id), *w = v ? below(v, type, &i) : NULL;
    CHECK(w);
    return w;
}

static void act(const char *name)
{
    CHECK(gtk_widget_activate_action(GTK_WIDGET(canvas), name, NULL));
}

static void select_node(const char *id)
{
    nino_canvas_select(canvas, (const char *[]){ id, NULL });
}

static const char flow[] =
    "{\"1\": {\"class_type\": \"CheckpointLoaderSimple\", \"inputs\": {\"ckpt_name\": "
    "\"a.safetensors\"}}, \"2\": {\"class_type\": \"CLIPTextEncode\", \"inputs\": {\"clip\": "
    "[\"1\", 1], \"text\": \"a lighthouse\"}}, \"3\": {\"class_type\": \"KSampler\", \"inputs\": "
    "{\"model\": [\"1\", 0], \"positive\": [\"2\", 0], \"negative\": [\"2\", 0], \"latent_image\": "
    "[\"4\", 0], \"seed\": 5}}, \"4\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": "
    "{\"width\": 64}}, \"5\": {\"class_type\": \"VAEDecode\", \"inputs\": {\"samples\": [\"3\", "
    "0], \"vae\": [\"1\", 2]}}}";

// ---- tests -----------------------------------------------------------------------------------

static int n_changed, n_problems;

static void on_changed(void) { n_changed++; }
static void on_problem(void) { n_problems++; }

static void test_editors(void)
{
    open_text(flow);
    CHECK(count_views() == 5);
    nino_canvas_set_zoom(canvas, 1);
    CHECK(nino_canvas_show_node(canvas, "3"));
    spin_loop(50);
    const int before = n_changed;
    GtkWidget *steps = editor("3", GTK_TYPE_SPIN_BUTTON, 0);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(steps), 33);
    CHECK(n_changed > before);
    CHECK_STR(nino_doc_widget_find(node("3"), "steps")->text, "33");
    // a number typed in a locale with a comma stays one with a point
    gtk_editable_set_text(GTK_EDITABLE(editor("3", GTK_TYPE_SPIN_BUTTON, 1)), "7.25");
    gtk_spin_button_update(GTK_SPIN_BUTTON(editor("3", GTK_TYPE_SPIN_BUTTON, 1)));
    CHECK_STR(nino_doc_widget_find(node("3"), "cfg")->text, "7.25");
    // 64 bits
    gtk_editable_set_text(GTK_EDITABLE(editor("3", GTK_TYPE_ENTRY, 0)), "18446744073709551615");
    CHECK_STR(nino_doc_widget_find(node("3"), "seed")->text, "18446744073709551615");
    gtk_editable_set_text(GTK_EDITABLE(editor("3", GTK_TYPE_ENTRY, 0)), "");
    CHECK_STR(nino_doc_widget_find(node("3"), "seed")->text, "18446744073709551615");
    CHECK(nino_canvas_show_node(canvas, "2"));
    spin_loop(50);
    GtkTextBuffer *b = gtk_text_view_get_buffer(GTK_TEXT_VIEW(editor("2", GTK_TYPE_TEXT_VIEW, 0)));
    gtk_text_buffer_set_text(b, "two\nlines", -1);
    CHECK_STR(nino_doc_widget_find(node("2"), "text")->text, "two\nlines");
    while (nino_document_undo_name(doc))
        act("canvas.undo");
    CHECK_STR(nino_doc_widget_find(node("2"), "text")->text, "a lighthouse");
    GtkTextIter from, to;
    gtk_text_buffer_get_bounds(b, &from, &to);
    g_autofree char *shown = gtk_text_buffer_get_text(b, &from, &to, FALSE);
    CHECK_STR(shown, "a lighthouse");
    CHECK(gtk_spin_button_get_value_as_int(GTK_SPIN_BUTTON(steps)) == 20);
}

static void test_choice(void)
{
    open_text(flow);
    CHECK(nino_canvas_show_node(canvas, "3"));
    spin_loop(50);
    GtkWidget *sampler = editor("3", NINO_TYPE_CHOICE, 1); // behind "after a run"
    g_signal_emit_by_name(sampler, "clicked");
    WAIT_FOR(gtk_widget_get_last_child(sampler) &&
             GTK_IS_POPOVER(gtk_widget_get_last_child(sampler)));
    int i = 0;
    GtkWidget *list = below(sampler, GTK_TYPE_LIST_BOX, &i);
    CHECK(list);
    GtkListBoxRow *row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(list), 3);
    g_signal_emit_by_name(list, "row-activated", row);
    CHECK(strcmp(nino_doc_widget_find(node("3"), "sampler_name")->text, "euler") != 0);
    spin_loop(100);
}

static void test_actions(void)
{
    open_text(flow);
    select_node("3");
    act("canvas.bypass");
    CHECK(node("3")->mode == NINO_MODE_BYPASSED);
    act("canvas.bypass");
    CHECK(node("3")->mode == NINO_MODE_ALWAYS);
    act("canvas.mute");
    act("canvas.collapse");
    act("canvas.pin");
    CHECK(node("3")->mode == NINO_MODE_MUTED && node("3")->is_collapsed && node("3")->is_pinned);
    CHECK(gtk_widget_activate_action(GTK_WIDGET(canvas), "canvas.color", "s", "red"));
    CHECK_STR(node("3")->bgcolor, "#533");
    act("canvas.select-all");
    g_auto(GStrv) all = nino_canvas_get_selection(canvas);
    CHECK(g_strv_length(all) == 5);
    act("canvas.group");
    CHECK(nino_document_n_groups(doc) == 1);
    select_node("5");
    act("canvas.duplicate");
    CHECK(count_views() == 6 && node("6")->inputs[0].link >= 0);
    act("canvas.copy");
    act("canvas.paste");
    WAIT_FOR(count_views() == 7);
    act("canvas.delete");
    CHECK(count_views() == 6);
    act("canvas.fit");
    act("canvas.zoom-in");
    CHECK(n_problems == 0);
    while (nino_document_undo_name(doc))
        act("canvas.undo");
    CHECK(count_views() == 5 && !nino_document_is_changed(doc));
    act("canvas.redo");
    CHECK(node("3")->mode == NINO_MODE_BYPASSED);
}

static void test_search(void)
{
    NinoSearchItem item = { .title = (char *) "KSampler (Advanced)",
                            .terms = (char *) "KSamplerAdvanced sampling" };
    CHECK(nino_search_score(&item, "ksam") > nino_search_score(&item, "adv"));
    CHECK(nino_search_score(&item, "adv samp") && !nino_search_score(&item, "vae"));
    CHECK(nino_search_score(&item, "ksadv")); // letters in order
    GPtrArray *all = nino_search_nodes(NULL, FALSE), *some = nino_search_nodes("VAE", TRUE);
    gboolean has_decode = FALSE, has_sampler = FALSE;
    for (guint i = 0; i < some->len; i++) {
        const NinoSearchItem *s = g_ptr_array_index(some, i);
        has_decode |= !strcmp(s->key, "VAEDecode");
        has_sampler |= !strcmp(s->key, "KSampler");
    }
    CHECK(has_decode && !has_sampler && some->len < all->len);
    g_ptr_array_unref(all);
    g_ptr_array_unref(some);
}

static const char nested[] =
    "{\"nodes\": [{\"id\": 2, \"type\": \"S\", \"pos\": [0, 0], \"size\": [200, 60], \"inputs\": "
    "[], \"outputs\": [{\"name\": \"out\", \"type\": \"LATENT\", \"links\": []}]}], \"links\": [], "
    "\"definitions\": {\"subgraphs\": [{\"id\": \"S\", \"name\": \"Inside\", \"inputNode\": "
    "{\"id\": -10, \"bounding\": [-300, 0, 120, 60]}, \"outputNode\": {\"id\": -20, \"bounding\": "
    "[500, 0, 120, 60]}, \"inputs\": [], \"outputs\": [{\"name\": \"out\", \"type\": \"LATENT\", "
    "\"linkIds\": [1]}], \"nodes\": [{\"id\": 2, \"type\": \"EmptyLatentImage\", \"pos\": [0, 0], "
    "\"size\": [315, 106], \"outputs\": [{\"name\": \"LATENT\", \"type\": \"LATENT\", \"links\": "
    "[1]}], \"widgets_values\": [64, 64, 1]}], \"links\": [{\"id\": 1, \"origin_id\": 2, "
    "\"origin_slot\": 0, \"target_id\": -20, \"target_slot\": 0, \"type\": \"LATENT\"}]}]}}";

static GdkTexture *small_picture(void)
{
    static guchar pixels[64 * 64 * 4];
    for (gsize i = 0; i < sizeof(pixels); i++)
        pixels[i] = (guchar) (i % 4 == 3 ? 255 : i / 64);
    g_autoptr(GBytes) bytes = g_bytes_new_static(pixels, sizeof(pixels));
    return gdk_memory_texture_new(64, 64, GDK_MEMORY_DEFAULT, bytes, (gsize) 64 * 4);
}

static void test_subgraph(void)
{
    open_text(nested);
    CHECK(count_views() == 1);
    select_node("2");
    act("canvas.enter");
    CHECK(nino_document_depth(doc) == 1 && count_views() == 3);
    spin_loop(50);
    CHECK(node("2")->def);
    act("canvas.leave");
    CHECK(count_views() == 1);
    CHECK(nino_canvas_show_node(canvas, "2:2") && nino_document_depth(doc) == 1);
    spin_loop(50);
    shot("subgraph");
    CHECK(nino_canvas_show_node(canvas, "2") && nino_document_depth(doc) == 0);
    CHECK(!nino_canvas_show_node(canvas, "9"));
    const NinoNodeMark done = { .state = NINO_NODE_DONE, .seconds = 1.5, .bytes = 1 << 20 };
    nino_canvas_mark(canvas, "2:2", &done);
    spin_loop(200);
    nino_canvas_clear_marks(canvas);
    spin_loop(200);
    // what is made inside shows on the instance, until another document is shown
    graphene_rect_t before, after;
    g_autoptr(GdkTexture) picture = small_picture();
    nino_node_view_get_box(NINO_NODE_VIEW(view_of("2")), &before);
    nino_canvas_set_picture(canvas, "2:2", picture);
    spin_loop(200);
    nino_node_view_get_box(NINO_NODE_VIEW(view_of("2")), &after);
    CHECK(after.size.height > before.size.height + 60);
    open_text(nested);
    nino_node_view_get_box(NINO_NODE_VIEW(view_of("2")), &after);
    CHECK(after.size.height == before.size.height);
}

static void test_convert(void)
{
    open_text(flow);
    nino_canvas_select(canvas, (const char *[]){ "2", "3", NULL });
    act("canvas.subgraph");
    CHECK(count_views() == 4);
    g_auto(GStrv) made = nino_canvas_get_selection(canvas);
    CHECK(g_strv_length(made) == 1 && node(made[0])->kind == NINO_DOC_SUBGRAPH);
    spin_loop(50);
    shot("converted");
    act("canvas.enter");
    CHECK(nino_document_depth(doc) == 1 && count_views() == 4);
    act("canvas.leave");
    nino_canvas_select(canvas, (const char *const *) made);
    act("canvas.unpack");
    CHECK(count_views() == 5);
    g_auto(GStrv) back = nino_canvas_get_selection(canvas);
    CHECK(g_strv_length(back) == 2);
    act("canvas.undo");
    act("canvas.undo");
    CHECK(count_views() == 5 && !nino_document_is_changed(doc) && n_problems == 0);
    nino_canvas_select(canvas, (const char *[]){ "4", "5", NULL });
    act("canvas.subgraph"); // the sampler stands between them
    CHECK(count_views() == 5 && n_problems == 1);
    n_problems = 0;
}

static gboolean is_all_ltr(GtkWidget *w)
{
    for (GtkWidget *c = gtk_widget_get_first_child(w); c; c = gtk_widget_get_next_sibling(c))
        if (!GTK_IS_POPOVER(c) && !is_all_ltr(c))
            return FALSE;
    return gtk_widget_get_direction(w) == GTK_TEXT_DIR_LTR;
}

// Where people read from right to left the canvas stays as the file has it.
static void test_right_to_left(void)
{
    gtk_widget_set_default_direction(GTK_TEXT_DIR_RTL);
    open_text(flow);
    nino_canvas_set_zoom(canvas, 1);
    CHECK(nino_canvas_show_node(canvas, "3"));
    WAIT_FOR(editor("3", GTK_TYPE_SPIN_BUTTON, 0) != NULL);
    CHECK(is_all_ltr(GTK_WIDGET(canvas)));
    shot("right-to-left");
    gtk_widget_set_default_direction(GTK_TEXT_DIR_LTR);
}

// Chooses the row of a list over the canvas whose title begins so.
static void choose(const char *title)
{
    int i = 0;
    GtkWidget *list = below(gtk_widget_get_last_child(GTK_WIDGET(canvas)), GTK_TYPE_LIST_BOX, &i);
    CHECK(list);
    for (int k = 0;; k++) {
        GtkListBoxRow *row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(list), k);
        CHECK(row);
        if (!row)
            return;
        i = 0;
        GtkWidget *label = below(GTK_WIDGET(row), GTK_TYPE_LABEL, &i);
        if (!g_str_has_prefix(gtk_label_get_text(GTK_LABEL(label)), title))
            continue;
        g_signal_emit_by_name(list, "row-activated", row);
        spin_loop(50);
        return;
    }
}

static void ports_of(const char *id, const char *title)
{
    select_node(id);
    act("canvas.ports");
    spin_loop(50);
    choose(title);
}

// Without a pointer: a port renamed and made, a value shown outside, all of it taken back.
static void test_ports(void)
{
    open_text(nested);
    ports_of("2", "Rename output out");
    int i = 0;
    GtkWidget *entry = below(gtk_widget_get_last_child(GTK_WIDGET(canvas)), GTK_TYPE_ENTRY, &i);
    CHECK(entry);
    CHECK(gtk_test_accessible_has_property(GTK_ACCESSIBLE(entry), GTK_ACCESSIBLE_PROPERTY_LABEL));
    gtk_editable_set_text(GTK_EDITABLE(entry), "noise");
    g_signal_emit_by_name(entry, "activate");
    spin_loop(50);
    CHECK_STR(node("2")->outputs[0].label, "noise");
    act("canvas.enter");
    ports_of("2", "New input of the subgraph for width");
    CHECK(node("-10")->n_outputs == 1 && node("-10")->outputs[0].n_links == 1);
    ports_of("2", "Show height outside");
    act("canvas.leave");
    CHECK(node("2")->n_widgets == 2);
    CHECK_STR(node("2")->widgets[0].name, "width");
    nino_canvas_set_zoom(canvas, 1);
    CHECK(nino_canvas_show_node(canvas, "2"));
    spin_loop(50);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(editor("2", GTK_TYPE_SPIN_BUTTON, 1)), 96);
    CHECK_STR(nino_doc_widget_find(node("2"), "height")->text, "96");
    shot("ports");
    ports_of("2", "Hide height on this subgraph");
    CHECK(node("2")->n_widgets == 1);
    ports_of("2", "Remove input width");
    CHECK(node("2")->n_widgets == 0 && node("2")->n_inputs == 0 && n_problems == 0);
    while (nino_document_undo_name(doc))
        act("canvas.undo");
    CHECK(!nino_document_is_changed(doc));
    while (nino_document_depth(doc))
        act("canvas.leave");
}

static void test_marks(void)
{
    open_text(flow);
    static const NinoNodeState states[] = { NINO_NODE_DONE, NINO_NODE_CACHED, NINO_NODE_RUNNING,
                                            NINO_NODE_QUEUED, NINO_NODE_FAILED };
    for (int i = 0; i < 5; i++) {
        const NinoNodeMark m = { .state = states[i],
                                 .progress = 0.4,
                                 .seconds = i % 3 ? -1 : 1.234,
                                 .bytes = i % 2 ? 0 : 123 << 20,
                                 .error =
                                     i == 4 ? "VAEDecode: no such file: a.safetensors" : NULL };
        char id[8];
        g_snprintf(id, sizeof(id), "%d", i + 1);
        nino_canvas_mark(canvas, id, &m);
    }
    g_autoptr(GdkTexture) picture = small_picture();
    graphene_rect_t before, after;
    nino_node_view_get_box(NINO_NODE_VIEW(view_of("5")), &before);
    nino_canvas_set_picture(canvas, "5", picture);
    spin_loop(250);
    nino_node_view_get_box(NINO_NODE_VIEW(view_of("5")), &after);
    CHECK(after.size.height > before.size.height + 60); // room for it
    CHECK_STR(gtk_widget_get_tooltip_text(view_of("5")), "VAEDecode: no such file: a.safetensors");
    shot("marks");
    dark(TRUE);
    spin_loop(150);
    shot("marks-dark");
    dark(FALSE);
    nino_canvas_set_picture(canvas, "5", NULL);
    nino_canvas_clear_marks(canvas);
    spin_loop(150);
    nino_node_view_get_box(NINO_NODE_VIEW(view_of("5")), &after);
    CHECK(after.size.height == before.size.height);
}

// The part of the canvas that is seen.
static graphene_rect_t in_view(void)
{
    const float zoom = (float) nino_canvas_get_zoom(canvas);
    graphene_rect_t part;
    double x, y;
    nino_canvas_get_offset(canvas, &x, &y);
    return *graphene_rect_init(&part, (float) x, (float) y,
                               (float) gtk_widget_get_width(GTK_WIDGET(canvas)) / zoom,
                               (float) gtk_widget_get_height(GTK_WIDGET(canvas)) / zoom);
}

// A fitted view keeps showing everything when results make nodes grow, until somebody moves it.
static void test_fit_grown(void)
{
    open_text(
        "{\"1\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {}}, \"2\": {\"class_type\": "
        "\"EmptyLatentImage\", \"inputs\": {}}, \"3\": {\"class_type\": \"EmptyLatentImage\", "
        "\"inputs\": {}}, \"4\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {}}, \"5\": "
        "{\"class_type\": \"EmptyLatentImage\", \"inputs\": {}}}"); // one below the other
    const char *lowest = "1";
    graphene_rect_t box, low, seen;
    for (int i = 1; i <= 5; i++) {
        static const char *const ids[] = { "1", "2", "3", "4", "5" };
        nino_node_view_get_box(NINO_NODE_VIEW(view_of(ids[i - 1])), &box);
        nino_node_view_get_box(NINO_NODE_VIEW(view_of(lowest)), &low);
        if (box.origin.y + box.size.height > low.origin.y + low.size.height)
            lowest = ids[i - 1];
    }
    g_autoptr(GdkTexture) picture = small_picture();
    for (int moved = 0; moved < 2; moved++) {
        const double zoom = nino_canvas_get_zoom(canvas);
        nino_canvas_set_picture(canvas, lowest, picture);
        spin_loop(250);
        nino_node_view_get_box(NINO_NODE_VIEW(view_of(lowest)), &low);
        seen = in_view();
        CHECK(moved ? nino_canvas_get_zoom(canvas) == zoom
                    : nino_canvas_get_zoom(canvas) < zoom &&
                          graphene_rect_contains_rect(&seen, &low));
        nino_canvas_set_picture(canvas, lowest, NULL);
        spin_loop(250);
        nino_canvas_set_offset(canvas, seen.origin.x + 40, seen.origin.y);
    }
}

// ---- pointer and keyboard --------------------------------------------------------------------

static gboolean xdo(const char *fmt, ...) G_GNUC_PRINTF(1, 2);

static gboolean xdo(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    g_autofree char *args = g_strdup_vprintf(fmt, ap), *line = g_strconcat("xdotool ", args, NULL);
    va_end(ap);
    GPid pid;
    g_auto(GStrv) argv = NULL;
    int status = -1;
    if (!g_shell_parse_argv(line, NULL, &argv, NULL) ||
        !g_spawn_async(NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, NULL,
                       NULL, &pid, NULL))
        return FALSE;
    while (waitpid(pid, &status, WNOHANG) == 0)
        spin_loop(5);
    spin_loop(60);
    return status == 0;
}

// A point of the canvas on the screen; the window stands at its corner.
static void on_screen(double x, double y, int *sx, int *sy)
{
    double wx, wy, ox = 0, oy = 0;
    gtk_widget_translate_coordinates(GTK_WIDGET(canvas), window, x, y, &wx, &wy);
    gtk_native_get_surface_transform(GTK_NATIVE(window), &ox, &oy);
    *sx = (int) (wx + ox);
    *sy = (int) (wy + oy);
}

static void move_to(double wx, double wy)
{
    double x, y;
    int sx, sy;
    nino_canvas_get_offset(canvas, &x, &y);
    const double z = nino_canvas_get_zoom(canvas);
    on_screen((wx - x) * z, (wy - y) * z, &sx, &sy);
    CHECK(xdo("mousemove %d %d", sx, sy));
}

static void drag(double x0, double y0, double x1, double y1, const char *button)
{
    move_to(x0, y0);
    CHECK(xdo("mousedown %s", button));
    move_to((x0 + x1) / 2, (y0 + y1) / 2);
    move_to(x1, y1);
    CHECK(xdo("mouseup %s", button));
}

static gboolean has_popover(void)
{
    GtkWidget *w = gtk_widget_get_last_child(GTK_WIDGET(canvas));
    return w && GTK_IS_POPOVER(w) && gtk_widget_get_mapped(w);
}

static void test_pointer(void)
{
    open_text(flow);
    gtk_widget_grab_focus(GTK_WIDGET(canvas));
    nino_canvas_set_zoom(canvas, 1);
    const double x = node("5")->x, y = node("5")->y;
    nino_canvas_set_offset(canvas, x - 500, y - 300);
    spin_loop(60);
    drag(x + 60, y - 15, x + 160, y + 35, "1"); // by the title
    CHECK(node("5")->x == x + 100 && node("5")->y == y + 50);
    CHECK_STR(nino_document_undo_name(doc), "Move VAE Decode");
    double ox, oy, nx, ny;
    nino_canvas_get_offset(canvas, &ox, &oy);
    drag(x + 300, y + 200, x + 250, y + 180, "2"); // the middle button pans
    nino_canvas_get_offset(canvas, &nx, &ny);
    CHECK(nx > ox + 40 && ny > oy + 15);
    const double zoom = nino_canvas_get_zoom(canvas);
    CHECK(xdo("click 4"));
    CHECK(nino_canvas_get_zoom(canvas) > zoom);
    nino_canvas_set_zoom(canvas, 1);
    nino_canvas_set_offset(canvas, x - 500, y - 300);
    spin_loop(60);
    // off the sampler's end: the link goes
    const nino_doc_node *n = node("5");
    const int n_links = nino_document_n_links(doc);
    drag(n->x + 2, n->y + 14, n->x - 120, n->y + 200, "1");
    CHECK(nino_document_n_links(doc) == n_links - 1 && node("5")->inputs[0].link < 0);
    act("canvas.undo");
    n = node("5");
    move_to(n->x + 60, n->y - 15);
    CHECK(xdo("click 3"));
    WAIT_FOR(has_popover());
    spin_loop(200);
    shot_display("menu");
    CHECK(xdo("key Escape"));
    WAIT_FOR(!has_popover());
    // from its output into nothing: what takes a picture
    n = node("5");
    drag(n->x + n->width - 2, n->y + 14, n->x + n->width + 120, n->y + 120, "1");
    WAIT_FOR(has_popover());
    shot_display("search");
    CHECK(xdo("type --delay 20 'save image'"));
    spin_loop(300);
    CHECK(xdo("key Return"));
    WAIT_FOR(count_views() == 6);
    CHECK_STR(node("6")->type, "SaveImage");
    CHECK(node("6")->inputs[0].link >= 0);
}

// Groups and points by pointer; what is selected moves together.
static void test_spots_by_pointer(void)
{
    open_text(flow);
    nino_canvas_set_zoom(canvas, 1);
    const double x = node("5")->x, y = node("5")->y;
    nino_canvas_set_offset(canvas, x - 600, y - 300);
    spin_loop(60);
    const nino_doc_link *l = nino_document_link(doc, node("5")->inputs[0].link);
    const graphene_point_t from = nino_node_view_output(NINO_NODE_VIEW(view_of("3")), l->from_slot);
    const graphene_point_t to = nino_node_view_input(NINO_NODE_VIEW(view_of("5")), 0);
    const double mx = (from.x + to.x) / 2, my = (from.y + to.y) / 2;
    CHECK(xdo("keydown alt"));
    drag(mx, my, mx, my - 100, "1");
    CHECK(xdo("keyup alt"));
    CHECK(nino_document_n_reroutes(doc) == 1 &&
          fabs(nino_document_reroute(doc, 0)->y - my + 100) < 3);
    drag(mx, my - 100, mx + 20, my - 150, "1");
    CHECK(fabs(nino_document_reroute(doc, 0)->y - my + 150) < 3);
    select_node("5");
    act("canvas.group");
    const nino_doc_group *g = nino_document_group(doc, 0);
    const double gx = g->x, gy = g->y, gw = g->width, gh = g->height;
    drag(gx + gw - 5, gy + gh - 5, gx + gw + 45, gy + gh + 25, "1"); // by its corner
    g = nino_document_group(doc, 0);
    CHECK(g->width == gw + 50 && g->height == gh + 30 && g->x == gx && node("5")->x == x);
    // its title, with the point added to the selection
    move_to(mx + 20, my - 150);
    CHECK(xdo("click 1"));
    move_to(gx + 30, gy + 15);
    CHECK(xdo("keydown shift click 1 keyup shift"));
    drag(gx + 30, gy + 15, gx + 60, gy + 55, "1");
    CHECK(nino_document_group(doc, 0)->x == gx + 30 && node("5")->y == y + 40);
    CHECK(fabs(nino_document_reroute(doc, 0)->y - my + 110) < 3);
    act("canvas.undo");
    CHECK(nino_document_group(doc, 0)->x == gx && node("5")->y == y);
    shot("spots-by-pointer");
    move_to(gx + 30, gy + 15);
    CHECK(xdo("click 3"));
    WAIT_FOR(has_popover());
    spin_loop(300);
    shot_display("group-menu");
    CHECK(xdo("key Escape"));
    WAIT_FOR(!has_popover());
    act("canvas.delete");
    CHECK(!nino_document_n_groups(doc) && !nino_document_n_reroutes(doc) && count_views() == 5);
    while (nino_document_undo_name(doc))
        act("canvas.undo");
    CHECK(!nino_document_is_changed(doc));
}

// A link dropped on the open side of an end makes a port.
static void test_boundary(void)
{
    open_text(nested);
    CHECK(nino_canvas_show_node(canvas, "2:2"));
    nino_canvas_set_zoom(canvas, 1);
    nino_canvas_set_offset(canvas, -350, -300);
    spin_loop(60);
    graphene_rect_t in, out;
    nino_node_view_get_box(NINO_NODE_VIEW(view_of("-10")), &in);
    nino_node_view_get_box(NINO_NODE_VIEW(view_of("-20")), &out);
    const graphene_point_t width = nino_node_view_input(NINO_NODE_VIEW(view_of("2")), 0);
    drag(width.x + 3, width.y, in.origin.x + in.size.width - 20, in.origin.y + in.size.height - 8,
         "1");
    CHECK(node("-10")->n_outputs == 1 && node("2")->inputs[0].link >= 0);
    CHECK_STR(nino_document_undo_name(doc), "Connect");
    const graphene_point_t made = nino_node_view_output(NINO_NODE_VIEW(view_of("2")), 0);
    drag(made.x - 3, made.y, out.origin.x + 20, out.origin.y + out.size.height - 8, "1");
    CHECK(node("-20")->n_inputs == 2 && node("-20")->inputs[1].link >= 0);
    shot("boundary");
    act("canvas.undo");
    act("canvas.undo");
    CHECK(!nino_document_is_changed(doc));
}

static void test_keyboard(void)
{
    open_text(flow);
    CHECK(nino_canvas_show_node(canvas, "1"));
    CHECK(xdo("key Tab"));
    g_auto(GStrv) two = nino_canvas_get_selection(canvas);
    CHECK_STR(two[0], "2");
    CHECK(xdo("key Tab Return"));
    spin_loop(50);
    GtkWidget *focus = gtk_root_get_focus(GTK_ROOT(window));
    CHECK(focus && gtk_widget_get_ancestor(focus, NINO_TYPE_NODE_VIEW) == view_of("3"));
    CHECK(xdo("key Escape"));
    CHECK(gtk_root_get_focus(GTK_ROOT(window)) == view_of("3"));
    CHECK(xdo("key ctrl+b"));
    CHECK(node("3")->mode == NINO_MODE_BYPASSED);
    act("canvas.undo");
    CHECK(node("3")->mode == NINO_MODE_ALWAYS);
    const double x = node("3")->x;
    CHECK(xdo("key shift+Right"));
    CHECK(node("3")->x == x + 20);
    CHECK(xdo("key Left"));
    g_auto(GStrv) left = nino_canvas_get_selection(canvas);
    CHECK(strcmp(left[0], "3") != 0);
    CHECK(xdo("key ctrl+l")); // connect by name
    WAIT_FOR(has_popover());
    CHECK(xdo("key Escape"));
    WAIT_FOR(!has_popover());
    CHECK(xdo("key Delete"));
    CHECK(count_views() == 4);
}

// Is the focus where a screen reader is told this?
static gboolean focus_is(const char *name)
{
    GtkWidget *w = gtk_root_get_focus(GTK_ROOT(window));
    char *wrong = w ? gtk_test_accessible_check_property(GTK_ACCESSIBLE(w),
                                                         GTK_ACCESSIBLE_PROPERTY_LABEL, name)
                    : g_strdup("no focus");
    if (wrong)
        printf("  focus: %s, expected %s\n", wrong, name);
    const gboolean ok = !wrong;
    g_free(wrong);
    return ok;
}

// Groups and points of links are reached, moved, resized, coloured and deleted without a pointer.
static void test_group_by_keyboard(void)
{
    open_text(flow);
    nino_canvas_select(canvas, (const char *[]){ "3", "5", NULL });
    act("canvas.group");
    CHECK(nino_canvas_show_node(canvas, "5"));
    CHECK(xdo("key Tab")); // behind the last node
    CHECK(focus_is("Group, group of 2 nodes, selected"));
    g_auto(GStrv) none = nino_canvas_get_selection(canvas);
    CHECK(!none[0]);
    const double gx = nino_document_group(doc, 0)->x, width = nino_document_group(doc, 0)->width;
    const double x3 = node("3")->x, x1 = node("1")->x;
    CHECK(xdo("key shift+Right"));
    CHECK(nino_document_group(doc, 0)->x == gx + 20 && node("3")->x == x3 + 20);
    CHECK(node("1")->x == x1);
    CHECK_STR(nino_document_undo_name(doc), "Move group");
    act("canvas.undo"); // both in one step
    CHECK(nino_document_group(doc, 0)->x == gx && node("3")->x == x3);
    CHECK(xdo("key ctrl+shift+Right"));
    CHECK(nino_document_group(doc, 0)->width == width + 20);
    CHECK(gtk_widget_activate_action(GTK_WIDGET(canvas), "canvas.color", "s", "red"));
    CHECK_STR(nino_document_group(doc, 0)->color, "#A88");
    shot("group-by-keyboard");
    CHECK(xdo("key Return"));
    WAIT_FOR(has_popover());
    CHECK(xdo("type --delay 20 Sampling"));
    CHECK(xdo("key Return"));
    WAIT_FOR(!has_popover());
    CHECK_STR(nino_document_group(doc, 0)->title, "Sampling");
    CHECK(nino_canvas_show_node(canvas, "5"));
    CHECK(xdo("key Tab"));
    CHECK(focus_is("Sampling, group of 2 nodes, selected"));
    CHECK(xdo("key Delete"));
    CHECK(nino_document_n_groups(doc) == 0 && count_views() == 5);
    CHECK(gtk_root_get_focus(GTK_ROOT(window)) == GTK_WIDGET(canvas)); // keys still work
    act("canvas.undo");
    CHECK(nino_document_n_groups(doc) == 1);
    while (nino_document_undo_name(doc))
        act("canvas.undo");
    CHECK(!nino_document_is_changed(doc) && n_problems == 0);
}

static void test_point_by_keyboard(void)
{
    open_text(flow);
    CHECK(nino_canvas_show_node(canvas, "5"));
    CHECK(xdo("key alt+b"));
    WAIT_FOR(has_popover());
    CHECK(xdo("type --delay 20 samples"));
    spin_loop(300);
    shot_display("bend");
    CHECK(xdo("key Return"));
    WAIT_FOR(nino_document_n_reroutes(doc) == 1);
    WAIT_FOR(!has_popover());
    const nino_doc_link *l = nino_document_link(doc, node("5")->inputs[0].link);
    CHECK(l->n_reroutes == 1);
    CHECK(focus_is("Point 1 of 1 of the link KSampler, LATENT → VAE Decode, samples, selected"));
    const double x = nino_document_reroute(doc, 0)->x, y = nino_document_reroute(doc, 0)->y;
    CHECK(xdo("key shift+Down"));
    CHECK(nino_document_reroute(doc, 0)->x == x && nino_document_reroute(doc, 0)->y == y + 20);
    // a second one, behind it
    CHECK(xdo("key alt+b"));
    WAIT_FOR(has_popover());
    CHECK(xdo("key Return"));
    WAIT_FOR(nino_document_n_reroutes(doc) == 2);
    WAIT_FOR(!has_popover());
    shot("point-by-keyboard");
    // both of them and a node move together, and go together
    CHECK(xdo("key ctrl+Left"));
    CHECK(xdo("key shift+space"));
    CHECK(nino_document_n_reroutes(doc) == 2);
    act("canvas.select-all");
    const double x0 = nino_document_reroute(doc, 0)->x, x1 = nino_document_reroute(doc, 1)->x;
    const double x5 = node("5")->x;
    CHECK(xdo("key shift+Left"));
    CHECK(nino_document_reroute(doc, 0)->x == x0 - 20 &&
          nino_document_reroute(doc, 1)->x == x1 - 20);
    CHECK(node("5")->x == x5 - 20);
    act("canvas.undo");
    CHECK(nino_document_reroute(doc, 1)->x == x1 && node("5")->x == x5);
    act("canvas.select-none");
    CHECK(nino_canvas_show_node(canvas, "5"));
    CHECK(xdo("key Tab"));
    CHECK(xdo("key Delete"));
    CHECK(nino_document_n_reroutes(doc) == 1 && count_views() == 5);
    CHECK(nino_canvas_show_node(canvas, "5"));
    CHECK(xdo("key Tab shift+F10"));
    WAIT_FOR(has_popover());
    spin_loop(300);
    shot_display("point-menu");
    CHECK(xdo("key Down Return")); // Delete
    WAIT_FOR(nino_document_n_reroutes(doc) == 0);
    while (nino_document_undo_name(doc))
        act("canvas.undo");
    CHECK(!nino_document_is_changed(doc) && n_problems == 0);
}

static void show_files(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        close_document();
        doc = nino_document_load_file(argv[i], &err);
        CHECK(doc);
        nino_canvas_set_document(canvas, doc);
        g_autofree char *base = g_path_get_basename(argv[i]);
        for (int k = 0; k < 4; k++) {
            g_autofree char *name =
                g_strdup_printf("%s-%s-%s", base, k & 1 ? "dark" : "light", k & 2 ? "full" : "fit");
            dark(k & 1);
            if (k & 2)
                nino_canvas_set_zoom(canvas, 1);
            spin_loop(200);
            shot(name);
        }
    }
}

int main(int argc, char **argv)
{
    gtk_init();
    setlocale(LC_NUMERIC, "C");
    window = gtk_window_new();
    canvas = NINO_CANVAS(nino_canvas_new());
    nino_keys_add_to_canvas(GTK_WIDGET(canvas));
    g_signal_connect(canvas, "changed", G_CALLBACK(on_changed), NULL);
    g_signal_connect(canvas, "problem", G_CALLBACK(on_problem), NULL);
    gtk_window_set_default_size(GTK_WINDOW(window), 1200, 800);
    gtk_window_set_child(GTK_WINDOW(window), GTK_WIDGET(canvas));
    gtk_window_present(GTK_WINDOW(window));
    WAIT_FOR(gtk_widget_get_width(GTK_WIDGET(canvas)) > 0);
    if (argc > 1) {
        show_files(argc, argv);
    } else {
        g_autofree char *xdotool = g_find_program_in_path("xdotool");
        test_search();
        test_editors();
        test_choice();
        test_actions();
        test_subgraph();
        test_convert();
        test_right_to_left();
        test_ports();
        test_marks();
        test_fit_grown();
        if (xdotool) {
            xdo("mousemove 5 5");
            test_pointer();
            test_spots_by_pointer();
            test_boundary();
            test_keyboard();
            test_group_by_keyboard();
            test_point_by_keyboard();
        } else {
            printf("  xdotool is missing: pointer and keyboard not tested\n");
        }
    }
    close_document();
    gtk_window_destroy(GTK_WINDOW(window));
    return 0;
}
