// How the canvas looks: marks of a run, what is kept from frame to frame, fitted views, contrast.
// tests/gui/test_canvas_look.sh starts it. With arguments: pictures of these workflows into
// $NINODES_SHOTS.
#include "tests/gui/program/canvas.h"

#include "canvas/canvas_priv.h"
#include "base/tick.h"

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
    spin_loop(400);
    nino_node_view_get_box(NINO_NODE_VIEW(view_of("5")), &after);
    CHECK(after.size.height > before.size.height + 60); // room for it
    CHECK_STR(gtk_widget_get_tooltip_text(view_of("5")), "VAEDecode: no such file: a.safetensors");
    shot("marks");
    dark(TRUE);
    spin_loop(400);
    shot("marks-dark");
    dark(FALSE);
    nino_canvas_set_picture(canvas, "5", NULL);
    nino_canvas_clear_marks(canvas);
    spin_loop(400);
    nino_node_view_get_box(NINO_NODE_VIEW(view_of("5")), &after);
    CHECK(after.size.height == before.size.height);
}

enum { SIGN = 16, SIGN_X = 7, SIGN_Y = 7 }; // the place of a state in its node's title

// Which points of that place are drawn on, whatever in; TRUE where they are.
static void sign_of(NinoNodeState state, gboolean on[SIGN * SIGN])
{
    const NinoNodeMark m = { .state = state, .progress = 0.4, .seconds = -1 };
    GtkWidget *v = view_of("3");
    nino_node_view_set_mark(NINO_NODE_VIEW(v), &m);
    GtkSnapshot *s = gtk_snapshot_new();
    GTK_WIDGET_GET_CLASS(v)->snapshot(v, s);
    g_autoptr(GskRenderNode) drawn = gtk_snapshot_free_to_node(s);
    g_autoptr(GdkTexture) t =
        gsk_renderer_render_texture(gtk_native_get_renderer(GTK_NATIVE(window)), drawn,
                                    &GRAPHENE_RECT_INIT(SIGN_X, SIGN_Y, SIGN, SIGN));
    guint32 px[SIGN * SIGN];
    gdk_texture_download(t, (guchar *) px, (gsize) SIGN * 4);
    for (int i = 0; i < SIGN * SIGN; i++)
        on[i] = px[i] != px[0]; // a corner is the title's ground
}

// Never colour alone: any two states are other shapes.
static void test_signs(void)
{
    static gboolean on[NINO_NODE_INVALID + 1][SIGN * SIGN];
    open_text(flow);
    nino_canvas_set_zoom(canvas, 1);
    WAIT_FOR(gtk_widget_get_mapped(view_of("3")));
    for (int a = 0; a <= NINO_NODE_INVALID; a++) {
        sign_of((NinoNodeState) a, on[a]);
        for (int b = 0; b < a; b++) {
            int other = 0;
            for (int i = 0; i < SIGN * SIGN; i++)
                other += on[a][i] != on[b][i];
            if (other < 12)
                printf("  states %d and %d differ in %d points\n", a, b, other);
            CHECK(other >= 12);
        }
    }
    nino_canvas_clear_marks(canvas);
    spin_loop(250);
}

// A badge has only its node painted again: grid and links stay the same nodes until they change.
static void test_kept_nodes(void)
{
    open_text(flow);
    nino_canvas_set_zoom(canvas, 1);
    spin_loop(400);
    WAIT_FOR(canvas->links.drawn.node && canvas->grid.node);
    GskRenderNode *links = gsk_render_node_ref(canvas->links.drawn.node);
    GskRenderNode *grid = gsk_render_node_ref(canvas->grid.node);
    const NinoNodeMark m = { .state = NINO_NODE_RUNNING, .progress = 0.5, .seconds = -1 };
    nino_canvas_mark(canvas, "3", &m);
    spin_loop(400);
    CHECK(canvas->links.drawn.node == links && canvas->grid.node == grid);
    select_node("3"); // its links are bright
    WAIT_FOR(canvas->links.drawn.node != links);
    CHECK(canvas->grid.node == grid);
    nino_canvas_set_zoom(canvas, 0.5);
    WAIT_FOR(canvas->grid.node != grid);
    gsk_render_node_unref(links);
    gsk_render_node_unref(grid);
    nino_canvas_clear_marks(canvas);
}

static gboolean never(gpointer user)
{
    (void) user;
    return G_SOURCE_REMOVE;
}

// Whenever they were asked for, they fire at common moments.
static void test_ticks(void)
{
    static const guint waits[] = { 33, 100, 130, 500, 2000 };
    for (guint i = 0; i < G_N_ELEMENTS(waits); i++) {
        const gint64 now = g_get_monotonic_time();
        const guint id = nino_tick_add(waits[i], never, NULL);
        const gint64 at = g_source_get_ready_time(g_main_context_find_source_by_id(NULL, id));
        CHECK(at % (MIN(waits[i], 100) * 1000) == 0 && at > now &&
              at > now + ((gint64) waits[i] - 51) * 1000);
        CHECK(at <= now + ((gint64) waits[i] + 200) * 1000);
        g_source_remove(id);
    }
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
        spin_loop(400);
        nino_node_view_get_box(NINO_NODE_VIEW(view_of(lowest)), &low);
        seen = in_view();
        CHECK(moved ? nino_canvas_get_zoom(canvas) == zoom
                    : nino_canvas_get_zoom(canvas) < zoom &&
                          graphene_rect_contains_rect(&seen, &low));
        nino_canvas_set_picture(canvas, lowest, NULL);
        spin_loop(400);
        nino_canvas_set_offset(canvas, seen.origin.x + 40, seen.origin.y);
    }
}

// The window as it is drawn, BGRA; g_free().
static guchar *window_pixels(gsize *width, gsize *n)
{
    const int w = gtk_widget_get_width(window), h = gtk_widget_get_height(window);
    g_autoptr(GdkPaintable) p = gtk_widget_paintable_new(window);
    GskRenderNode *drawn = NULL;
    for (int i = 0; !drawn && i < 400; i++) {
        GtkSnapshot *s = gtk_snapshot_new();
        spin_loop(25);
        gdk_paintable_snapshot(p, s, w, h);
        drawn = gtk_snapshot_free_to_node(s);
    }
    CHECK(drawn);
    g_autoptr(GdkTexture) t =
        gsk_renderer_render_texture(gtk_native_get_renderer(GTK_NATIVE(window)), drawn,
                                    &GRAPHENE_RECT_INIT(0, 0, (float) w, (float) h));
    guchar *pixels = g_malloc((gsize) w * (gsize) h * 4);
    gdk_texture_download(t, pixels, (gsize) w * 4);
    gsk_render_node_unref(drawn);
    *width = (gsize) w;
    *n = (gsize) w * (gsize) h;
    return pixels;
}

static int count_dark_pixels(void)
{
    gsize w, all;
    int n = 0;
    g_autofree guchar *pixels = window_pixels(&w, &all);
    for (gsize i = 0; i < all; i++)
        n += pixels[i * 4] < 100 && pixels[i * 4 + 1] < 100 && pixels[i * 4 + 2] < 100;
    return n;
}

// White nodes on a white canvas: without links, only what is around them shows them.
static void test_high_contrast(void)
{
    static const double zooms[] = { 0.12, 0.3, 0.8 };
    GtkSettings *settings = gtk_settings_get_default();
    g_autofree char *theme = NULL;
    g_object_get(settings, "gtk-theme-name", &theme, NULL);
    g_object_set(settings, "gtk-theme-name", "Default-hc", NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(zooms); i++) {
        open_text("{\"1\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {}}}");
        nino_canvas_set_zoom(canvas, zooms[i]);
        spin_loop(400);
        const int with = count_dark_pixels();
        const graphene_rect_t box = in_view();
        nino_canvas_set_offset(canvas, box.origin.x + 1e5, box.origin.y); // not in sight
        spin_loop(400);
        CHECK(with - count_dark_pixels() > 40);
    }
    g_object_set(settings, "gtk-theme-name", theme, NULL);
    spin_loop(100);
}

static GtkWidget *first_of(GtkWidget *w, GType type)
{
    GtkWidget *found = g_type_is_a(G_OBJECT_TYPE(w), type) ? w : NULL;
    for (GtkWidget *k = gtk_widget_get_first_child(w); k && !found;
         k = gtk_widget_get_next_sibling(k))
        found = first_of(k, type);
    return found;
}

// The darkest there is in a square of the window, 0 to 255.
static int darkest(double x, double y, int side)
{
    gsize w, n;
    int least = 255;
    g_autofree guchar *px = window_pixels(&w, &n);
    for (int k = 0; k < side * side; k++) {
        const gsize i = (gsize) (y + k / side) * w + (gsize) (x + k % side);
        CHECK(i < n);
        least = MIN(least, (px[i * 4] + px[i * 4 + 1] + px[i * 4 + 2]) / 3);
    }
    return least;
}

// Frames of texts are whole, and sockets without a link are there: white on white is nothing.
static void test_high_contrast_parts(void)
{
    GtkSettings *settings = gtk_settings_get_default();
    g_autofree char *theme = NULL;
    g_object_get(settings, "gtk-theme-name", &theme, NULL);
    g_object_set(settings, "gtk-theme-name", "Default-hc", NULL);
    open_text("{\"1\": {\"class_type\": \"CLIPTextEncode\", \"inputs\": {\"text\": \"\"}}}");
    nino_canvas_set_zoom(canvas, 1);
    spin_loop(400);
    NinoNodeView *v = NINO_NODE_VIEW(view_of("1"));
    graphene_rect_t text;
    graphene_point_t box = nino_node_view_input(v, 1), at;
    GtkWidget *scrolled = first_of(GTK_WIDGET(v), GTK_TYPE_SCROLLED_WINDOW);
    CHECK(scrolled && gtk_widget_compute_bounds(scrolled, window, &text));
    CHECK(darkest(text.origin.x + 1, text.origin.y + 1, 4) < 225); // of the round corner
    const graphene_point_t shown = { (float) (box.x * canvas->view.zoom + canvas->view.x),
                                     (float) (box.y * canvas->view.zoom + canvas->view.y) };
    CHECK(gtk_widget_compute_point(GTK_WIDGET(canvas), window, &shown, &at));
    CHECK(darkest(at.x - 3, at.y - 1, 2) < 150); // beside the node's edge, on the canvas
    g_object_set(settings, "gtk-theme-name", theme, NULL);
    spin_loop(100);
}

// An error that has no room below its node is told by the tooltip, over its text as well.
static void test_error_below(void)
{
    const NinoNodeMark m = { .state = NINO_NODE_FAILED, .seconds = -1, .error = "a long reason" };
    open_text("{\"1\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {}}}");
    nino_canvas_set_zoom(canvas, 1);
    spin_loop(100);
    graphene_rect_t box;
    nino_node_view_get_box(NINO_NODE_VIEW(view_of("1")), &box);
    const double x = box.origin.x + 20 + canvas->view.x,
                 y = box.origin.y + box.size.height + 10 + canvas->view.y;
    GtkWidget *const before = gtk_widget_pick(GTK_WIDGET(canvas), x, y, GTK_PICK_DEFAULT);
    CHECK(before == GTK_WIDGET(canvas));
    nino_canvas_mark(canvas, "1", &m);
    spin_loop(400);
    GtkWidget *const now = gtk_widget_pick(GTK_WIDGET(canvas), x, y, GTK_PICK_DEFAULT);
    CHECK(now == view_of("1"));
    CHECK_STR(gtk_widget_get_tooltip_text(now), "a long reason");
}

static GtkWidget *at_place(double x, double y)
{
    return gtk_widget_pick(GTK_WIDGET(canvas), x + canvas->view.x, y + canvas->view.y,
                           GTK_PICK_DEFAULT);
}

// A long one reaches beyond its node, up to the next one beside it.
static void test_error_beside(void)
{
    const NinoNodeMark m = { .state = NINO_NODE_FAILED,
                             .seconds = -1,
                             .error = "a reason that is much longer than its node is wide, "
                                      "and than the one above" };
    open_text(
        "{\"nodes\": [{\"id\": 1, \"type\": \"EmptyLatentImage\", \"pos\": [0, 0], \"size\": "
        "[200, 106]}, {\"id\": 2, \"type\": \"EmptyLatentImage\", \"pos\": [300, 40], \"size\": "
        "[200, 306]}, {\"id\": 3, \"type\": \"EmptyLatentImage\", \"pos\": [0, 300], \"size\": "
        "[200, 106]}], \"links\": []}");
    nino_canvas_set_zoom(canvas, 1);
    nino_canvas_mark(canvas, "1", &m);
    nino_canvas_mark(canvas, "3", &m);
    spin_loop(400);
    graphene_rect_t box;
    for (int i = 0; i < 2; i++) {
        nino_node_view_get_box(NINO_NODE_VIEW(view_of(i ? "3" : "1")), &box);
        const double y = box.origin.y + box.size.height + 10;
        CHECK(at_place(285, y) == view_of(i ? "3" : "1"));
        CHECK(at_place(297, y) == (i ? view_of("3") : GTK_WIDGET(canvas)));
        CHECK(at_place(320, y) == view_of(i ? "3" : "2"));
    }
    shot("error");
    nino_canvas_clear_marks(canvas);
}

// On the minimap a node without a colour of its own is as on the canvas; a dot is seen at all.
static void test_map_colours(void)
{
    open_text("{\"1\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {}}}");
    for (int k = 0; k < 2; k++) {
        dark(k);
        spin_loop(100);
        NinoNodeView *v = NINO_NODE_VIEW(view_of("1"));
        const NinoTheme theme = nino_theme_of(GTK_WIDGET(v));
        const GdkRGBA large = nino_node_view_map_color(v, FALSE),
                      dot = nino_node_view_map_color(v, TRUE);
        CHECK(nino_theme_is_dark(theme) == k);
        CHECK(gdk_rgba_equal(&large, nino_token(NINO_COLOUR_BODY, theme)));
        CHECK(gdk_rgba_equal(&dot, nino_token(NINO_COLOUR_DIM, theme)));
    }
    dark(FALSE);
    spin_loop(100);
}

static gboolean all_in_view(void)
{
    const graphene_rect_t seen = in_view();
    for (int i = 0; i < nino_document_n_nodes(doc); i++) {
        graphene_rect_t box;
        nino_node_view_get_box(NINO_NODE_VIEW(view_of(nino_document_node(doc, i)->id)), &box);
        if (!graphene_rect_contains_rect(&seen, &box))
            return FALSE;
    }
    return TRUE;
}

static void resize_window(int width, int height)
{
    gtk_window_set_default_size(GTK_WINDOW(window), width, height);
    WAIT_FOR(gtk_widget_get_width(GTK_WIDGET(canvas)) == width);
    spin_loop(100);
}

// A fitted view stays fitted in a window of another size, until somebody moves it.
static void test_fit_resized(void)
{
    open_text(flow);
    act("canvas.select-none");
    act("canvas.fit");
    const double zoom = nino_canvas_get_zoom(canvas);
    CHECK(all_in_view());
    resize_window(500, 400);
    CHECK(nino_canvas_get_zoom(canvas) < zoom && all_in_view());
    resize_window(1200, 800);
    CHECK(nino_canvas_get_zoom(canvas) == zoom && all_in_view());
    nino_canvas_set_offset(canvas, 30, 40);
    resize_window(500, 400);
    double x, y;
    nino_canvas_get_offset(canvas, &x, &y);
    CHECK(nino_canvas_get_zoom(canvas) == zoom && x == 30 && y == 40);
    resize_window(1200, 800);
}

static gboolean longer(GtkWidget *w, GdkFrameClock *clock, gpointer user)
{
    (void) clock, (void) user;
    g_autofree char *text = g_strconcat(gtk_label_get_text(GTK_LABEL(w)), "\na line", NULL);
    gtk_label_set_text(GTK_LABEL(w), text);
    return G_SOURCE_CONTINUE;
}

// A workflow is there before the canvas has a size: its text areas come into view once it has one,
// while what is beside the canvas gets another size, as in the app's first frames in a large
// window. GTK warns when it has to draw what is not laid out, which fails the program.
static void test_first_frames(void)
{
    GtkWidget *first = gtk_window_new(), *paned = gtk_paned_new(GTK_ORIENTATION_HORIZONTAL),
              *stack = gtk_stack_new(), *beside = gtk_label_new("a line");
    NinoCanvas *own = NINO_CANVAS(nino_canvas_new());
    nino_document *d = nino_document_load(flow, strlen(flow), "flow.json", &err);
    CHECK(d);
    nino_canvas_set_document(own, d);
    gtk_stack_add_child(GTK_STACK(stack), GTK_WIDGET(own));
    gtk_paned_set_start_child(GTK_PANED(paned), stack);
    gtk_paned_set_end_child(GTK_PANED(paned), beside);
    gtk_paned_set_position(GTK_PANED(paned), 1150);
    gtk_window_set_child(GTK_WINDOW(first), paned);
    gtk_window_set_default_size(GTK_WINDOW(first), 1300, 800);
    gtk_widget_add_tick_callback(beside, longer, NULL, NULL);
    gtk_window_present(GTK_WINDOW(first));
    WAIT_FOR(gtk_widget_get_width(GTK_WIDGET(own)) > 0);
    spin_loop(400);
    CHECK(nino_canvas_get_zoom(own) >= 0.5); // or there would be no text areas
    gtk_window_destroy(GTK_WINDOW(first));
    nino_document_destroy(&d);
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
            spin_loop(400);
            shot(name);
        }
    }
}

int main(int argc, char **argv)
{
    open_window();
    if (argc > 1) {
        show_files(argc, argv);
    } else {
        test_marks();
        test_signs();
        test_fit_grown();
        test_kept_nodes();
        test_ticks();
        test_high_contrast();
        test_high_contrast_parts();
        test_error_below();
        test_error_beside();
        test_map_colours();
        test_fit_resized();
        test_first_frames();
    }
    close_window();
    return 0;
}
