// The drawer of nodes beside a canvas, by keyboard and pointer: typing finds, Enter adds, a double click adds,
// a row dragged onto the canvas lies where it was dropped; a model comes with its loader.
#include "workflow/shelf.h"

#include <glib/gstdio.h>

#include "canvas/search.h"
#include "node/folders.h"
#include "tests/gui/program/canvas_input.h"

static GtkWidget *below_of(GtkWidget *w, GType type)
{
    if (g_type_is_a(G_OBJECT_TYPE(w), type))
        return w;
    GtkWidget *found = NULL;
    for (GtkWidget *k = gtk_widget_get_first_child(w); k && !found;
         k = gtk_widget_get_next_sibling(k))
        found = below_of(k, type);
    return found;
}

static GPtrArray *test_items(gpointer user)
{
    (void) user;
    GPtrArray *items = nino_search_nodes(NULL, FALSE);
    for (guint i = 0; i < items->len; i++) {
        NinoSearchItem *item = g_ptr_array_index(items, i);
        if (!strcmp(item->key, "KSampler"))
            item->picture = g_strdup("data/workflows/pictures/lora.png");
    }
    return items;
}

static void test_chosen(gpointer user, const char *key) { nino_canvas_add_item(user, key); }

// The row that is shown at this place.
static GtkWidget *row_at(GtkWidget *list, int at)
{
    GtkListBoxRow *row;
    for (int i = 0; (row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(list), i)); i++)
        if (gtk_widget_get_child_visible(GTK_WIDGET(row)) && at-- == 0)
            return GTK_WIDGET(row);
    return NULL;
}

static void place_of(GtkWidget *w, int *x, int *y)
{
    double wx, wy, ox = 0, oy = 0;
    gtk_widget_translate_coordinates(w, window, 40, 8, &wx, &wy);
    gtk_native_get_surface_transform(GTK_NATIVE(window), &ox, &oy);
    *x = (int) (wx + ox);
    *y = (int) (wy + oy);
}

static const nino_doc_node *selected(void)
{
    g_auto(GStrv) ids = nino_canvas_get_selection(canvas);
    CHECK(ids[0] && !ids[1]);
    return node(ids[0]);
}

static void test_drag(GtkWidget *list)
{
    int x, y, sx, sy;
    const int before = count_views();
    place_of(row_at(list, 0), &x, &y);
    on_screen(420, 330, &sx, &sy);
    CHECK(xdo("mousemove %d %d mousedown 1", x, y));
    for (int i = 1; i <= 6; i++)
        CHECK(xdo("mousemove %d %d", x + (sx - x) * i / 6, y + (sy - y) * i / 6));
    spin_loop(200);
    CHECK(xdo("mouseup 1"));
    WAIT_FOR(count_views() == before + 1);
    double ox, oy;
    nino_canvas_get_offset(canvas, &ox, &oy);
    const double z = nino_canvas_get_zoom(canvas);
    const nino_doc_node *n = selected();
    CHECK_STR(n->type, "KSampler");
    CHECK((n->x - ox) * z > 300 && (n->x - ox) * z < 540); // near the drop; a title higher or lower
    CHECK((n->y - oy) * z > 230 && (n->y - oy) * z < 430);
}

static void test_nodes(GtkWidget *shelf)
{
    int x, y;
    GtkWidget *entry = below_of(shelf, GTK_TYPE_SEARCH_ENTRY), *list;
    list = below_of(shelf, GTK_TYPE_LIST_BOX);
    WAIT_FOR(row_at(list, 300)); // all are there at first
    gtk_widget_grab_focus(entry);
    spin_loop(50);
    CHECK(xdo("type ksampler"));
    WAIT_FOR(!row_at(list, 60) && row_at(list, 0));
    GtkWidget *picture = below_of(row_at(list, 0), GTK_TYPE_PICTURE);
    CHECK(picture && !below_of(row_at(list, 1), GTK_TYPE_PICTURE));
    WAIT_FOR(gtk_picture_get_paintable(GTK_PICTURE(picture)));
    const int before = count_views();
    CHECK(xdo("key Return"));
    WAIT_FOR(count_views() == before + 1);
    CHECK_STR(selected()->type, "KSampler");
    place_of(row_at(list, 1), &x, &y);
    CHECK(xdo("mousemove %d %d click 1 click 1", x, y));
    WAIT_FOR(count_views() == before + 2);
    CHECK(strstr(selected()->type, "KSampler") && strcmp(selected()->type, "KSampler") != 0);
    test_drag(list);
    gtk_editable_set_text(GTK_EDITABLE(entry), "no such thing at all");
    WAIT_FOR(!row_at(list, 0));
    gtk_widget_grab_focus(entry);
    CHECK(xdo("key Return")); // takes nothing
    CHECK(count_views() == before + 3 && n_problems == 0);
}

static void test_a_model(void)
{
    g_autofree char *dir = g_dir_make_tmp("shelf-XXXXXX", NULL);
    g_autofree char *vae = g_build_filename(dir, "vae", NULL);
    g_autofree char *file = g_build_filename(vae, "mine.safetensors", NULL);
    const char *const models[] = { dir, NULL };
    CHECK(!g_mkdir(vae, 0700) && g_file_set_contents(file, "x", 1, NULL));
    nino_folders_set(models, NULL, NULL);
    g_autoptr(GPtrArray) items = nino_canvas_models();
    const NinoSearchItem *found = NULL;
    for (guint i = 0; i < items->len; i++) {
        const NinoSearchItem *item = g_ptr_array_index(items, i);
        if (!strcmp(item->title, "mine.safetensors") && !strcmp(item->terms, "vae"))
            found = item;
    }
    CHECK(found);
    const int before = count_views();
    nino_canvas_add_item(canvas, found->key);
    CHECK(count_views() == before + 1);
    CHECK_STR(selected()->type, "VAELoader");
    CHECK_STR(nino_doc_widget_find(selected(), "vae_name")->text, "mine.safetensors");
    nino_canvas_add_item(canvas, "VAELoader"); // takes the first file that there is
    CHECK_STR(nino_doc_widget_find(selected(), "vae_name")->text, "mine.safetensors");
    nino_canvas_add_item(canvas, "NoSuchClass");
    nino_canvas_add_item(canvas, "");
    CHECK(count_views() == before + 2);
    g_autofree char *path = nino_folders_model_path("vae", "mine.safetensors");
    CHECK_STR(path, file);
    CHECK(!nino_folders_model_path("vae", "other.safetensors"));
    CHECK(!nino_folders_model_path("vae", "../vae/mine.safetensors"));
    nino_folders_set(NULL, NULL, NULL);
    CHECK(!g_unlink(file) && !g_rmdir(vae) && !g_rmdir(dir));
}

int main(void)
{
    static const NinoShelfType type = { .search = "Search",
                                        .not_found = "Nothing",
                                        .items = test_items,
                                        .is_dragged = TRUE,
                                        .chosen = test_chosen };
    if (!begin_input())
        return test_skip("xdotool is missing");
    open_text(flow);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    GtkWidget *shelf = nino_shelf_new(&type, canvas);
    g_object_ref(canvas);
    gtk_window_set_child(GTK_WINDOW(window), box);
    gtk_box_append(GTK_BOX(box), shelf);
    gtk_box_append(GTK_BOX(box), GTK_WIDGET(canvas));
    g_object_unref(canvas);
    gtk_widget_set_size_request(shelf, 260, -1);
    WAIT_FOR(gtk_widget_get_mapped(shelf) && gtk_widget_get_width(GTK_WIDGET(canvas)) > 300);
    test_nodes(shelf);
    test_a_model();
    shot("shelf");
    close_window();
    return 0;
}
