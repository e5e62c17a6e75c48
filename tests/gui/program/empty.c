// What views say where there is nothing: a window with no workflow, no run and no model; searches without hits. Each has a
// picture that the icon theme knows, a sentence, and a button, which is pressed and does what it says.
// usage: empty WORKFLOW_WITHOUT_MODELS
#include <glib/gstdio.h>
#include <gtk/gtk.h>
#include <string.h>

#include "base/i18n.h"
#include "node/node_view.h"
#include "plot/area.h"
#include "settings/keys.h"
#include "settings/theme.h"
#include "tests/gui/program/loop.h"
#include "window/window.h"

static GtkWidget *window;

// ---- finding -----------------------------------------------------------------------------------

typedef gboolean (*Wanted)(GtkWidget *w, const char *text);

// The first below w that is on the screen.
static GtkWidget *find_shown(GtkWidget *w, Wanted is_wanted, const char *text)
{
    GtkWidget *found = gtk_widget_get_mapped(w) && is_wanted(w, text) ? w : NULL;
    for (GtkWidget *k = gtk_widget_get_first_child(w); k && !found;
         k = gtk_widget_get_next_sibling(k))
        found = find_shown(k, is_wanted, text);
    return found;
}

static gboolean is_label(GtkWidget *w, const char *text)
{
    return GTK_IS_LABEL(w) && !strcmp(gtk_label_get_text(GTK_LABEL(w)), text);
}

static gboolean is_picture(GtkWidget *w, const char *text)
{
    (void) text;
    const char *icon = GTK_IS_IMAGE(w) ? gtk_image_get_icon_name(GTK_IMAGE(w)) : NULL;
    return icon && gtk_image_get_pixel_size(GTK_IMAGE(w)) >= 32 &&
           gtk_icon_theme_has_icon(gtk_icon_theme_get_for_display(gtk_widget_get_display(w)), icon);
}

static gboolean is_button(GtkWidget *w, const char *text)
{
    return GTK_IS_BUTTON(w) && gtk_button_get_label(GTK_BUTTON(w)) &&
           (!text || !strcmp(gtk_button_get_label(GTK_BUTTON(w)), text)) &&
           gtk_widget_is_sensitive(w);
}

// One that is there, but cannot be pressed; by its label or icon.
static gboolean is_off(GtkWidget *w, const char *text)
{
    return GTK_IS_BUTTON(w) && !gtk_widget_is_sensitive(w) &&
           (!g_strcmp0(gtk_button_get_label(GTK_BUTTON(w)), text) ||
            !g_strcmp0(gtk_button_get_icon_name(GTK_BUTTON(w)), text));
}

static gboolean is_search(GtkWidget *w, const char *help)
{
    g_autofree char *says = NULL;
    if (GTK_IS_SEARCH_ENTRY(w))
        g_object_get(w, "placeholder-text", &says, NULL);
    return !g_strcmp0(says, help);
}

static gboolean is_table(GtkWidget *w, const char *text)
{
    (void) text;
    return GTK_IS_COLUMN_VIEW(w);
}

static gboolean begins(GtkWidget *w, const char *text)
{
    return GTK_IS_LABEL(w) && g_str_has_prefix(gtk_label_get_text(GTK_LABEL(w)), text);
}

// Everywhere the picture is above the words.
static void check_layout(GtkWidget *empty, const char *text)
{
    graphene_rect_t picture, words;
    CHECK(gtk_widget_compute_bounds(find_shown(empty, is_picture, NULL), empty, &picture));
    CHECK(gtk_widget_compute_bounds(find_shown(empty, is_label, text), empty, &words));
    CHECK(picture.origin.y + picture.size.height <= words.origin.y);
}

// What says this sentence.
static gboolean says(GtkWidget *w, const char *text)
{
    return gtk_widget_has_css_class(w, "empty") && find_shown(w, is_label, text);
}

// NULL: it is not there, or cannot be pressed.
static GtkWidget *button_in(const char *text, const char *button)
{
    GtkWidget *empty = find_shown(window, says, text);
    return empty ? find_shown(empty, is_button, button) : NULL;
}

// The button is pressed where the sentence stands; it has a picture.
static void press_in(const char *text, const char *button)
{
    GtkWidget *empty = NULL;
    WAIT_FOR((empty = find_shown(window, says, text)) != NULL);
    WAIT_FOR(find_shown(empty, is_picture, NULL) && gtk_widget_get_width(empty) > 0);
    check_layout(empty, text);
    WAIT_FOR(button_in(text, button));
    g_signal_emit_by_name(button_in(text, button), "clicked");
}

// ---- what buttons do ---------------------------------------------------------------------------

static GtkWidget *other_window(void)
{
    g_autoptr(GList) all = gtk_window_list_toplevels();
    for (GList *l = all; l; l = l->next)
        if (l->data != window && gtk_widget_get_mapped(l->data))
            return l->data;
    return NULL;
}

static void check_chooser(void)
{
    WAIT_FOR(other_window());
    CHECK(GTK_IS_FILE_CHOOSER(other_window()));
    gpointer chooser = other_window();
    g_object_add_weak_pointer(chooser, &chooser);
    g_signal_emit_by_name(chooser, "response", GTK_RESPONSE_CANCEL);
    WAIT_FOR(!other_window());
    CHECK(chooser); // GTK may still be reading its folder, and would come back to it
    g_object_remove_weak_pointer(chooser, &chooser);
}

static gboolean is_drawer(const char *name)
{
    g_autoptr(GVariant) v = g_action_group_get_action_state(G_ACTION_GROUP(window), "drawer");
    return !strcmp(g_variant_get_string(v, NULL), name);
}

static void check_workflows(void) { WAIT_FOR(is_drawer("workflows")); }

static void check_nodes(void) { WAIT_FOR(is_drawer("nodes")); }

static void check_find(void) { WAIT_FOR(find_shown(window, is_search, "Find in the timeline")); }

static void check_runs(void)
{
    g_autoptr(GVariant) v = g_action_group_get_action_state(G_ACTION_GROUP(window), "profile-runs");
    CHECK(!g_variant_get_boolean(v)); // it was shown
    gtk_widget_activate_action(window, "win.profile-runs", NULL);
}

static void check_preferences(void) { WAIT_FOR(g_object_get_data(G_OBJECT(window), "asked")); }

// ---- views -------------------------------------------------------------------------------------

static const struct {
    const char *action, *target, *says, *button;
    void (*check)(void);
} views[] = {
    { "win.panel", "queue", "Nothing is queued; Run (Ctrl+Enter) adds the workflow", "Workflows",
      check_workflows },
    { "win.panel", "problems", "No workflow is open", "Open…", check_chooser },
    { "win.panel", "form", "No workflow is open", "Workflows", check_workflows },
    { "win.panel", "models", "The model folders have no models", "Preferences", check_preferences },
    { "win.panel", "result", "Results appear here", "Workflows", check_workflows },
    { "win.panel", "log", "No messages so far", "Workflows", check_workflows },
    { "win.view", "runs", "Runs that end while this window watches them appear here", "Open trace…",
      check_chooser },
    { "win.profile-details", NULL,
      "Choose a bar in the timeline, a kernel, a tile or a range: its details appear here",
      "Find in the timeline", check_find },
    { "win.view", "timeline", "Nodes, steps and kernels appear here while a workflow runs",
      "Open trace…", check_chooser },
    { "win.view", "kernels", "Kernels and what they cost appear here while a workflow runs",
      "Open trace…", check_chooser },
    { "win.view", "kernel", "Choose a kernel in the table of kernels or in the timeline",
      "Open trace…", check_chooser },
    { "win.view", "advice", "Advice appears here when a run has ended", "Open trace…",
      check_chooser },
    { "win.view", "compare", "A run and its baseline appear here side by side", "List of kept runs",
      check_runs },
    { "win.view", "performance",
      "Figures of caches, memory and precision appear here while a workflow runs", "Open trace…",
      check_chooser },
    { "win.view", "memory", "Device memory by owner appears here while a workflow runs",
      "Open trace…", check_chooser },
    { "win.view", "flame", "Where the time of the run goes appears here", "Open trace…",
      check_chooser },
    { "win.view", "tiles", "Tiles appear here when an image is decoded or encoded in tiles",
      "Open trace…", check_chooser },
    { "win.view", "steps", "The steps of the sampler appear here", "Open trace…", check_chooser },
    { "win.view", "roofline", "Kernels appear here against the ceilings of the device",
      "Open trace…", check_chooser },
    { "win.view", "pool", "The blocks of the memory pool appear here while a workflow runs",
      "Open trace…", check_chooser },
};

static gboolean is_strip(GtkWidget *w, const char *text)
{
    (void) text;
    return gtk_widget_has_css_class(w, "strip") && !gtk_widget_has_css_class(w, "profile-bar");
}

// Profile opens with the focus in the timeline, no caret is in a search; below the runs is no empty bar.
static void check_profile(void)
{
    gtk_widget_activate_action(window, "win.perspective", "s", "compose");
    gtk_widget_activate_action(window, "win.perspective", "s", "profile");
    spin_loop(100);
    CHECK(NINO_IS_AREA(gtk_window_get_focus(GTK_WINDOW(window))));
    CHECK(!find_shown(window, is_strip, NULL));
}

static void check_views(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(views); i++) {
        const gboolean is_panel = !strcmp(views[i].action, "win.panel");
        gtk_widget_activate_action(window, "win.perspective", "s",
                                   is_panel ? "compose" : "profile");
        if (views[i].target)
            gtk_widget_activate_action(window, views[i].action, "s", views[i].target);
        else
            gtk_widget_activate_action(window, views[i].action, NULL);
        printf("  %s %s\n", views[i].action, views[i].target ? views[i].target : "");
        WAIT_FOR(find_shown(window, says, views[i].says));
        CHECK(!find_shown(window, is_table, NULL));         // headings of nothing
        CHECK(!find_shown(window, begins, "Drag selects")); // there are no bars
        press_in(views[i].says, views[i].button);
        views[i].check();
    }
}

// What acts on something that is not there.
static void check_offers(void)
{
    static const struct {
        const char *action, *target, *button;
    } offers[] = { { "win.panel", "queue", "edit-clear-all-symbolic" },
                   { "win.panel", "problems", "What does it need?" },
                   { "win.panel", "form", "Choose values" },
                   { "win.view", "kernels", "By shape" },
                   { "win.view", "kernels", "By work size" },
                   { "win.view", "kernels", "Look into it" },
                   { "win.view", "compare", "Keep as baseline" } };
    for (gsize i = 0; i < G_N_ELEMENTS(offers); i++) {
        gtk_widget_activate_action(window, "win.perspective", "s",
                                   strcmp(offers[i].action, "win.panel") ? "profile" : "compose");
        gtk_widget_activate_action(window, offers[i].action, "s", offers[i].target);
        printf("  %s\n", offers[i].button);
        WAIT_FOR(find_shown(window, is_off, offers[i].button));
    }
}

// ---- searches ----------------------------------------------------------------------------------

static const struct {
    const char *action, *target, *search, *says;
} searches[] = {
    { "win.panel", "nodes", "Search for a node to add", "No node has this in its name" },
    { "win.panel", "models", "Search for a model to add", "No such files in the model folders" },
    { "win.panel", "workflows", "Search for a workflow to open", "No such workflow" },
    { "win.view", "runs", "Find a run", "No run is called so" },
    { "win.view", "kernels", "Filter kernels", "No kernel is called so" },
};

static void check_searches(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(searches); i++) {
        GtkWidget *entry = NULL;
        gtk_widget_activate_action(window, "win.perspective", "s",
                                   strcmp(searches[i].action, "win.panel") ? "profile" : "compose");
        gtk_widget_activate_action(window, searches[i].action, "s", searches[i].target);
        WAIT_FOR((entry = find_shown(window, is_search, searches[i].search)) != NULL);
        gtk_editable_set_text(GTK_EDITABLE(entry), "zzqy");
        printf("  %s\n", searches[i].search);
        press_in(searches[i].says, "Clear the search");
        CHECK(!*gtk_editable_get_text(GTK_EDITABLE(entry)));
        WAIT_FOR(!find_shown(window, says, searches[i].says));
    }
}

// ---- with a workflow ---------------------------------------------------------------------------

// What can be done only now is offered only now.
static void check_workflow(const char *path)
{
    static const char queue[] = "Nothing is queued; Run (Ctrl+Enter) adds the workflow";
    gtk_widget_activate_action(window, "win.perspective", "s", "compose");
    gtk_widget_activate_action(window, "win.panel", "s", "queue");
    WAIT_FOR(find_shown(window, says, queue));
    CHECK(!button_in(queue, "Start a run"));
    g_autoptr(GFile) file = g_file_new_for_path(path);
    nino_window_open(NINO_WINDOW(window), file);
    gtk_widget_activate_action(window, "win.panel", "s", "queue");
    WAIT_FOR(button_in(queue, "Start a run"));
    gtk_widget_activate_action(window, "win.panel", "s", "problems");
    WAIT_FOR(!find_shown(window, says, "No workflow is open"));
    gtk_widget_activate_action(window, "win.new", NULL); // without a node
    gtk_widget_activate_action(window, "win.panel", "s", "form");
    press_in("This workflow has no values to set", "Nodes");
    check_nodes();
}

static GtkWidget *node_of(GtkWidget *w, const char *id)
{
    if (NINO_IS_NODE_VIEW(w) && !strcmp(nino_node_view_id(NINO_NODE_VIEW(w)), id))
        return w;
    GtkWidget *found = NULL;
    for (GtkWidget *k = gtk_widget_get_first_child(w); k && !found;
         k = gtk_widget_get_next_sibling(k))
        found = node_of(k, id);
    return found;
}

// With the list of what is wrong comes its mark, with nothing to wait for in between.
static void check_problem(void)
{
    static const char flow[] =
        "{\"71\": {\"class_type\": \"LoadImage\", \"inputs\": {\"image\": \"none.png\"}},"
        " \"72\": {\"class_type\": \"SaveImage\", \"inputs\": {\"images\": [\"71\", 0],"
        " \"filename_prefix\": \"empty\"}}}";
    g_autofree char *path = NULL;
    const int fd = g_file_open_tmp("ninodes-XXXXXX.json", &path, NULL);
    CHECK(fd >= 0 && g_close(fd, NULL) && g_file_set_contents(path, flow, -1, NULL));
    gtk_widget_activate_action(window, "win.panel", "s", "problems");
    WAIT_FOR(find_shown(window, is_button, "What does it need?"));
    g_autoptr(GFile) file = g_file_new_for_path(path);
    nino_window_open(NINO_WINDOW(window), file);
    g_unlink(path);
    GtkWidget *node = node_of(window, "71");
    NinoGraphColors c;
    CHECK(node);
    nino_graph_colors(node, &c);
    const GdkRGBA is = nino_node_view_map_color(NINO_NODE_VIEW(node), FALSE);
    CHECK(gdk_rgba_equal(&is, &c.error));
}

static void on_test_preferences(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter, (void) user;
    g_object_set_data(G_OBJECT(window), "asked", window);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    nino_i18n_start("C");
    g_autoptr(GtkApplication) app =
        gtk_application_new("org.ninodes.EmptyTest", G_APPLICATION_NON_UNIQUE);
    static const GActionEntry entry = { .name = "preferences", .activate = on_test_preferences };
    CHECK(g_application_register(G_APPLICATION(app), NULL, NULL));
    g_action_map_add_action_entries(G_ACTION_MAP(app), &entry, 1, NULL);
    nino_keys_start(app);
    nino_theme_start();
    char none[] = "/nonexistent", *no_models[] = { none, NULL };
    const NinoWindowOptions options = { .models = no_models };
    window = nino_window_new(app, &options);
    gtk_window_set_default_size(GTK_WINDOW(window), 1440, 900);
    gtk_window_present(GTK_WINDOW(window));
    WAIT_FOR(gtk_widget_get_mapped(window) && gtk_widget_get_width(window) > 0);
    check_profile();
    check_views();
    check_offers();
    check_searches();
    check_workflow(argv[1]);
    check_problem();
    nino_window_end(NINO_WINDOW(window));
    spin_loop(50);
    printf("  %zu views and %zu searches with nothing in them\n", G_N_ELEMENTS(views),
           G_N_ELEMENTS(searches));
    return 0;
}
