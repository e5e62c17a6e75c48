// Canvas tests in one process: nodes and editors as widgets, actions, search, subgraphs, ports.
// tests/gui/test_canvas.sh starts it.
#include "tests/gui/program/canvas.h"
#include "node/editors.h"
#include "node/folders.h"
#include <glib/gstdio.h>

#include "node/choice.h"
#include "canvas/search.h"

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

// Nodes that load pictures offer those of their folder, inputs or outputs, and show what is chosen.
static void test_pictures(void)
{
    g_autofree char *dir = g_dir_make_tmp("canvas-XXXXXX", NULL);
    CHECK(dir);
    g_autofree char *in = g_build_filename(dir, "in.png", NULL);
    g_autofree char *made = g_build_filename(dir, "made.png", NULL);
    const nino_param image = { .type = NINO_FILE, .folder = "output" };
    const nino_doc_widget w = { .param = &image, .text = "made.png" },
                          marked = { .param = &image, .text = "in.png [input]" };
    CHECK(g_file_set_contents(made, "x", 1, NULL));
    nino_folders_set(NULL, "/nowhere", dir);
    g_auto(GStrv) list = nino_folders_files("output", NULL);
    CHECK(list[0] && !list[1]);
    CHECK_STR(list[0], "made.png");
    g_autofree char *path = nino_folders_input_path(&w), *other = nino_folders_input_path(&marked);
    CHECK_STR(path, made);
    CHECK_STR(other, "/nowhere/in.png");
    nino_folders_set(NULL, dir, NULL);
    g_autofree char *again = nino_folders_input_path(&marked);
    CHECK_STR(again, in);
    nino_folders_set(NULL, NULL, NULL);
    CHECK(!g_unlink(made) && !g_rmdir(dir));
}

static void test_choice(void)
{
    open_text(flow);
    CHECK(nino_canvas_show_node(canvas, "3"));
    spin_loop(50);
    GtkWidget *sampler = editor("3", NINO_TYPE_CHOICE, 1); // behind "After a run"
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
    NinoSearchItem file = { .title = (char *) "text_to_image.json" },
                   turned = { .title = (char *) "Image to Text" };
    CHECK(nino_search_score(&file, "text to image") > nino_search_score(&turned, "text to image"));
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
    spin_loop(400);
    nino_canvas_clear_marks(canvas);
    spin_loop(400);
    // what is made inside shows on the instance, until another document is shown
    graphene_rect_t before, after;
    g_autoptr(GdkTexture) picture = small_picture();
    nino_node_view_get_box(NINO_NODE_VIEW(view_of("2")), &before);
    nino_canvas_set_picture(canvas, "2:2", picture);
    spin_loop(400);
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

int main(void)
{
    open_window();
    test_search();
    test_editors();
    test_pictures();
    test_choice();
    test_actions();
    test_subgraph();
    test_convert();
    test_right_to_left();
    test_ports();
    close_window();
    return 0;
}
