// Nothing is clipped and nothing too small: every label of the window in both perspectives, all drawers, some sizes,
// light, dark and high contrast. A label has the room that its text wants, or ends in dots and tells the rest as a tooltip.
// The workflow names a model that is not there, so that problems are listed, too. GDK_SCALE=2: as on a large screen.
// Views are looked at with nothing in them and with a run. With a folder in NINO_LAYOUT_SHOTS, what was looked at lies there as pictures.
// usage: layout WORKFLOW TRACE [LOCALE_DIR LANGUAGE]
#include <gtk/gtk.h>
#include <libintl.h>
#include <math.h>
#include <string.h>

#include "base/i18n.h"
#include "plot/run_model.h"
#include "settings/keys.h"
#include "settings/prefs.h"
#include "settings/prefs_window.h"
#include "settings/theme.h"
#include "tests/gui/program/views.h"
#include "viewer/viewer.h"
#include "window/window.h"
#include "workflow/problems.h"

#define LEAST_PX 9.0
enum { LEAST_SLIDER = 96, MOST_EMPTY = 280 };

static const char *const themes[] = { "light", "dark", "contrast" };
static int n_labels, n_bad;
static char where[128];     // what is looked at
static gboolean is_waiting; // what is wrong may be right once all has its place

static void complain_of(const char *what, int has, int wants)
{
    n_bad++;
    if (!is_waiting)
        printf("  %s: %s: %d of %d px\n", where, what, has, wants);
}

static void complain(GtkLabel *label, const char *what, int has, int wants)
{
    g_autofree char *said = g_strdup_printf("“%.40s” %s", gtk_label_get_text(label), what);
    complain_of(said, has, wants);
}

static gboolean has_tooltip(GtkWidget *w)
{
    for (; w; w = gtk_widget_get_parent(w))
        if (gtk_widget_get_tooltip_text(w))
            return TRUE;
    return FALSE;
}

// Of pixels; sizes in points are those of 96 dots an inch.
static double text_px(PangoLayout *layout)
{
    const PangoFontDescription *font = pango_layout_get_font_description(layout);
    if (!font)
        font = pango_context_get_font_description(pango_layout_get_context(layout));
    const double size = (double) pango_font_description_get_size(font) / PANGO_SCALE;
    return pango_font_description_get_size_is_absolute(font) ? size : size * 96 / 72;
}

// A path is not torn apart at its slashes.
static gboolean breaks_path(PangoLayout *layout)
{
    const char *text = pango_layout_get_text(layout);
    for (int i = 0; i + 1 < pango_layout_get_line_count(layout); i++) {
        const PangoLayoutLine *line = pango_layout_get_line_readonly(layout, i);
        const int end = line->start_index + line->length;
        if (end > 0 && text[end - 1] == '/')
            return TRUE;
    }
    return FALSE;
}

// As a heading, what an empty view says has a full stop only between sentences.
static gboolean has_lone_stop(GtkLabel *label)
{
    const char *text = gtk_label_get_text(label);
    GtkWidget *words = gtk_widget_get_parent(GTK_WIDGET(label)),
              *empty = words ? gtk_widget_get_parent(words) : NULL;
    return empty && gtk_widget_has_css_class(empty, "empty") && g_str_has_suffix(text, ".") &&
           !strstr(text, ". ");
}

static void check_label(GtkLabel *label)
{
    GtkWidget *w = GTK_WIDGET(label);
    PangoLayout *layout = gtk_label_get_layout(label);
    int width, height;
    pango_layout_get_pixel_size(layout, &width, &height);
    n_labels++;
    if (pango_layout_is_ellipsized(layout)) {
        if (!has_tooltip(w))
            complain(label, "ends in dots without a tooltip", gtk_widget_get_width(w), width);
    } else if (gtk_widget_get_width(w) < width) {
        complain(label, "is cut off at its side", gtk_widget_get_width(w), width);
    }
    if (gtk_widget_get_height(w) < height)
        complain(label, "is cut off below", gtk_widget_get_height(w), height);
    if (text_px(layout) < LEAST_PX)
        complain(label, "is too small", (int) text_px(layout), (int) LEAST_PX);
    if (breaks_path(layout))
        complain(label, "breaks a path", gtk_widget_get_width(w), width);
    if (has_lone_stop(label))
        complain(label, "is one sentence with a full stop", gtk_widget_get_width(w), width);
}

static gboolean is_table_of_kernels(GtkWidget *w)
{
    return GTK_IS_COLUMN_VIEW(w) &&
           (g_str_has_prefix(where, "kernels,") || g_str_has_prefix(where, "kernel,"));
}

// Of several widgets: its lower end may look like the end of all.
static void check_page(GtkScrolledWindow *s)
{
    GtkAdjustment *a = gtk_scrolled_window_get_vadjustment(s);
    GtkWidget *w = gtk_scrolled_window_get_child(s);
    const double has = gtk_adjustment_get_page_size(a), wants = gtk_adjustment_get_upper(a);
    w = GTK_IS_VIEWPORT(w) ? gtk_viewport_get_child(GTK_VIEWPORT(w)) : NULL;
    if ((GTK_IS_BOX(w) || GTK_IS_GRID(w)) && wants > has + 1 &&
        gtk_scrolled_window_get_overlay_scrolling(s))
        complain_of("no bar tells that the page is higher than its place", (int) has, (int) wants);
}

// A list of texts is read downwards only; the tables of kernels fit; of any other that is wider than its place a bar tells.
static void check_scrolled(GtkScrolledWindow *s)
{
    GtkAdjustment *a = gtk_scrolled_window_get_hadjustment(s);
    const double has = gtk_adjustment_get_page_size(a), wants = gtk_adjustment_get_upper(a);
    if (wants <= has + 1)
        return;
    if (gtk_widget_get_ancestor(GTK_WIDGET(s), NINO_TYPE_PROBLEMS) ||
        is_table_of_kernels(gtk_scrolled_window_get_child(s)))
        complain_of("what is scrolled is wider than its place", (int) has, (int) wants);
    else if (GTK_IS_COLUMN_VIEW(gtk_scrolled_window_get_child(s)) &&
             gtk_scrolled_window_get_overlay_scrolling(s))
        complain_of("no bar tells that the table is wider than its place", (int) has, (int) wants);
}

// The canvas draws its nodes at the scale of its zoom: their labels are another test's. A tooltip comes and goes.
static gboolean is_left_out(GtkWidget *w)
{
    return !gtk_widget_get_mapped(w) || !strcmp(G_OBJECT_TYPE_NAME(w), "NinoCanvas") ||
           !strcmp(G_OBJECT_TYPE_NAME(w), "GtkTooltipWindow");
}

// A label that was shown and has no place yet.
static gboolean has_unplaced(GtkWidget *w)
{
    if (is_left_out(w))
        return FALSE;
    if (GTK_IS_LABEL(w) && *gtk_label_get_text(GTK_LABEL(w)) && !gtk_widget_get_width(w))
        return TRUE;
    for (GtkWidget *k = gtk_widget_get_first_child(w); k; k = gtk_widget_get_next_sibling(k))
        if (has_unplaced(k))
            return TRUE;
    return FALSE;
}

// What does not scroll sideways has room beside its bar, margins included.
static void check_beside_bar(GtkScrolledWindow *s)
{
    GtkPolicyType across;
    GtkWidget *viewport = gtk_scrolled_window_get_child(s);
    gtk_scrolled_window_get_policy(s, &across, NULL);
    if (across != GTK_POLICY_NEVER || !GTK_IS_VIEWPORT(viewport))
        return;
    GtkWidget *page = gtk_viewport_get_child(GTK_VIEWPORT(viewport));
    const int takes = gtk_widget_get_width(page) + gtk_widget_get_margin_start(page) +
                      gtk_widget_get_margin_end(page);
    if (takes > gtk_widget_get_width(viewport))
        complain_of("a page is cut by its bar", gtk_widget_get_width(viewport), takes);
}

static void walk(GtkWidget *w)
{
    if (is_left_out(w))
        return;
    if (GTK_IS_LABEL(w) && *gtk_label_get_text(GTK_LABEL(w)))
        check_label(GTK_LABEL(w));
    if (GTK_IS_SCROLLED_WINDOW(w))
        check_scrolled(GTK_SCROLLED_WINDOW(w)), check_page(GTK_SCROLLED_WINDOW(w)),
            check_beside_bar(GTK_SCROLLED_WINDOW(w));
    if (GTK_IS_SCALE(w) && gtk_widget_get_width(w) < LEAST_SLIDER)
        complain_of("a slider is too short", gtk_widget_get_width(w), LEAST_SLIDER);
    if (NINO_IS_VIEWER(w) && !nino_viewer_count(NINO_VIEWER(w)) &&
        gtk_widget_get_width(w) > MOST_EMPTY)
        complain_of("the empty drawer of results takes", gtk_widget_get_width(w), MOST_EMPTY);
    for (GtkWidget *k = gtk_widget_get_first_child(w); k; k = gtk_widget_get_next_sibling(k))
        walk(k);
}

// For people to look at: the window as it is drawn, in the dots of its screen.
static void keep_picture(GtkWidget *window, const char *what, const char *theme)
{
    const char *dir = g_getenv("NINO_LAYOUT_SHOTS");
    if (!dir)
        return;
    g_autoptr(GdkPaintable) picture = gtk_widget_paintable_new(window);
    // With its border, which the width of a window leaves out: nothing is scaled.
    const int w = gdk_paintable_get_intrinsic_width(picture),
              h = gdk_paintable_get_intrinsic_height(picture),
              scale = gtk_widget_get_scale_factor(window);
    g_autoptr(GskRenderNode) node = NULL;
    for (int i = 0; !node && i < 100; i++) { // until it is drawn
        GtkSnapshot *snapshot = gtk_snapshot_new();
        gtk_snapshot_scale(snapshot, (float) scale, (float) scale);
        gdk_paintable_snapshot(picture, snapshot, w, h);
        if (!(node = gtk_snapshot_free_to_node(snapshot)))
            spin_loop(20);
    }
    CHECK(node);
    g_autoptr(GdkTexture) t = gsk_renderer_render_texture(
        gtk_native_get_renderer(GTK_NATIVE(window)), node,
        &GRAPHENE_RECT_INIT(0, 0, (float) (w * scale), (float) (h * scale)));
    g_autofree char *path = g_strdup_printf("%s/%dx%d-%s-%s-%s.png", dir, w * scale, h * scale,
                                            theme, g_getenv("LANGUAGE") ?: "C", what);
    CHECK(gdk_texture_save_to_png(t, path));
}

static void look(GtkWidget *window, const char *what, int width, int height, const char *theme)
{
    g_snprintf(where, sizeof(where), "%s, %d x %d, %s", what, width, height, theme);
    spin_loop(45);
    for (int i = 0; i < 100 && has_unplaced(window); i++)
        spin_loop(20);
    const int were_bad = n_bad, were = n_labels;
    is_waiting = TRUE; // a text that has just come is laid out in the next frame
    for (int i = 0; i < 50 && (walk(window), n_bad > were_bad); i++) {
        n_bad = were_bad;
        spin_loop(20);
    }
    is_waiting = FALSE;
    n_bad = were_bad;
    n_labels = were;
    walk(window);
    keep_picture(window, what, theme);
}

// No part of the window is wider than the window: a panel that does not fit pushes the others out. Nor is it smaller than
// what is to be looked at, but for the shadow that it has around it.
static void check_size(GtkWidget *window, int width, int height)
{
    enum { SHADOWS = 40 };
    const int has_w = gtk_widget_get_width(window), has_h = gtk_widget_get_height(window);
    if (has_w > width || has_h > height || has_w < width - SHADOWS || has_h < height - SHADOWS) {
        n_bad++;
        printf("  %s: the window takes %d x %d\n", where, has_w, has_h);
    }
}

// The next bar of that name is chosen: its details open.
static void choose_bar(GtkWidget *w, const char *name)
{
    if (GTK_IS_SEARCH_ENTRY(w) && !strcmp(gtk_editable_get_text(GTK_EDITABLE(w)), name))
        g_signal_emit_by_name(w, "activate");
    for (GtkWidget *k = gtk_widget_get_first_child(w); k; k = gtk_widget_get_next_sibling(k))
        choose_bar(k, name);
}

// Whatever it was.
static void set_details(GtkWidget *window, gboolean on)
{
    g_autoptr(GVariant) is =
        g_action_group_get_action_state(G_ACTION_GROUP(window), "profile-details");
    if (g_variant_get_boolean(is) != on)
        gtk_widget_activate_action(window, "win.profile-details", NULL);
}

static const char *const drawers[] = { "nodes",    "models", "workflows", "queue",
                                       "problems", "form",   "log" };
static const char *const views[] = { "kernels", "kernel", "histogram", "flame",      "memory",
                                     "pool",    "tiles",  "roofline",  "device",     "steps",
                                     "advice",  "runs",   "compare",   "performance" };

// A window in which nothing was done yet: what each view says there.
static void look_at_nothing(GtkWidget *window, int width, int height, const char *theme)
{
    char what[32];
    gtk_widget_activate_action(window, "win.perspective", "s", "compose");
    look(window, "welcome", width, height, theme);
    check_size(window, width, height);
    gtk_widget_activate_action(window, "win.panel", "s", "result");
    for (gsize i = 0; i < G_N_ELEMENTS(drawers); i++) {
        gtk_widget_activate_action(window, "win.panel", "s", drawers[i]);
        g_snprintf(what, sizeof(what), "no-%s", drawers[i]);
        look(window, what, width, height, theme);
        check_size(window, width, height);
    }
    gtk_widget_activate_action(window, "win.drawer", "s", "log"); // closes it
    gtk_widget_activate_action(window, "win.side", NULL);
    gtk_widget_activate_action(window, "win.perspective", "s", "profile");
    set_details(window, TRUE);
    for (gsize i = 0; i < G_N_ELEMENTS(views); i++) {
        gtk_widget_activate_action(window, "win.view", "s", views[i]);
        g_snprintf(what, sizeof(what), "no-%s", views[i]);
        look(window, what, width, height, theme);
        check_size(window, width, height);
    }
    set_details(window, FALSE);
    gtk_widget_activate_action(window, "win.perspective", "s", "compose");
}

static void look_at_all(GtkWidget *window, int width, int height, const char *theme)
{
    gtk_widget_activate_action(window, "win.perspective", "s", "compose");
    look(window, "compose", width, height, theme);
    for (gsize i = 0; i < G_N_ELEMENTS(drawers); i++) {
        gtk_widget_activate_action(window, "win.panel", "s", drawers[i]);
        look(window, drawers[i], width, height, theme);
    }
    check_size(window, width, height);
    gtk_widget_activate_action(window, "win.panel", "s", "queue");
    gtk_widget_activate_action(window, "win.panel", "s", "result");
    look(window, "queue-results", width, height, theme);
    check_size(window, width, height);
    gtk_widget_activate_action(window, "win.drawer", "s", "queue"); // closes it
    look(window, "results", width, height, theme);
    gtk_widget_activate_action(window, "win.side", NULL);
    gtk_widget_activate_action(window, "win.perspective", "s", "profile");
    for (gsize i = 0; i < G_N_ELEMENTS(views); i++) {
        gtk_widget_activate_action(window, "win.view", "s", views[i]);
        look(window, views[i], width, height, theme);
    }
    gtk_widget_activate_action(window, "win.view", "s", "kernels");
    gtk_widget_activate_action(window, "win.find-in-timeline", "s", "conv3x3_f16");
    spin_loop(250); // the entry waits for more to be typed
    choose_bar(window, "conv3x3_f16");
    set_details(window, TRUE);
    look(window, "details", width, height, theme);
    gtk_widget_activate_action(window, "win.find-in-timeline", "s", "");
    check_size(window, width, height);
    set_details(window, FALSE);
}

// A window that was opened beside it.
static GtkWidget *other_window(GtkWidget *window)
{
    g_autoptr(GList) all = gtk_window_list_toplevels();
    for (GList *l = all; l; l = l->next)
        if (l->data != window && gtk_widget_get_mapped(l->data))
            return l->data;
    return NULL;
}

static void look_at_window(GtkWidget *window, const char *what, const char *theme)
{
    GtkWidget *other;
    WAIT_FOR((other = other_window(window)) && gtk_widget_get_width(other) > 0);
    look(other, what, gtk_widget_get_width(other), gtk_widget_get_height(other), theme);
    CHECK(!GTK_IS_LABEL(gtk_window_get_focus(GTK_WINDOW(other)))); // with a cursor in its text
    gtk_window_close(GTK_WINDOW(other));
    WAIT_FOR(!other_window(window));
}

static void look_at_windows(GtkWidget *window, const char *theme)
{
    gtk_widget_activate_action(window, "win.computer", NULL);
    look_at_window(window, "computer", theme);
    gtk_widget_activate_action(window, "win.suite", NULL);
    look_at_window(window, "suite", theme);
    gtk_widget_activate_action(window, "win.view-window-of", "s", "kernels");
    look_at_window(window, "window-of-kernels", theme);
    nino_prefs_window_present(GTK_WINDOW(window), NULL, _("Speed"), nino_window_measure_row,
                              window);
    look_at_window(window, "preferences", theme);
}

// ---- contrast ----------------------------------------------------------------------------------

#define LEAST_CONTRAST 4.5

static double luminance(guint32 argb)
{
    static const double weight[] = { 0.0722, 0.7152, 0.2126 };
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        const double v = (argb >> (8 * i) & 255) / 255.0;
        sum += weight[i] * (v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    return sum + 0.05;
}

// What is drawn of a widget: its ground beside a glyph that is all ink.
static double contrast_of(GtkWidget *window, GtkWidget *list, GtkWidget *label)
{
    graphene_rect_t at;
    const int w = gtk_widget_get_width(list), h = gtk_widget_get_height(list);
    CHECK(w && h && gtk_widget_compute_bounds(label, list, &at));
    g_autoptr(GdkPaintable) picture = gtk_widget_paintable_new(list);
    GtkSnapshot *snapshot = gtk_snapshot_new();
    gdk_paintable_snapshot(picture, snapshot, w, h);
    g_autoptr(GskRenderNode) node = gtk_snapshot_free_to_node(snapshot);
    g_autoptr(GdkTexture) t =
        gsk_renderer_render_texture(gtk_native_get_renderer(GTK_NATIVE(window)), node,
                                    &GRAPHENE_RECT_INIT(0, 0, (float) w, (float) h));
    g_autofree guint32 *px = g_new0(guint32, (gsize) w * h);
    gdk_texture_download(t, (guchar *) px, (gsize) w * 4);
    const int x = (int) (at.origin.x + at.size.width / 2),
              y = (int) (at.origin.y + at.size.height / 2);
    const double ink = luminance(px[y * w + x]), ground = luminance(px[y * w + w - 8]);
    return ink > ground ? ink / ground : ground / ink;
}

// What GTK's theme and ours make of the classes that labels have here: in the window, in a list, in a chosen row of it.
static void check_contrast(GtkApplication *app, const char *theme)
{
    static const char *const classes[] = { "text", "dim-label", "error-text", "success", "error" };
    static const char *const places[] = { "the window", "a list", "a chosen row" };
    GtkWidget *window = gtk_application_window_new(app);
    gtk_window_set_default_size(GTK_WINDOW(window), 200, 60);
    gtk_window_present(GTK_WINDOW(window));
    for (gsize i = 0; i < G_N_ELEMENTS(classes) * G_N_ELEMENTS(places); i++) {
        const gsize place = i % G_N_ELEMENTS(places);
        const char *class = classes[i / G_N_ELEMENTS(places)];
        GtkWidget *list = place ? gtk_list_box_new() : gtk_box_new(GTK_ORIENTATION_VERTICAL, 0),
                  *label = gtk_label_new("\342\226\210");
        gtk_widget_add_css_class(label, class);
        gtk_widget_set_halign(label, GTK_ALIGN_START);
        if (place) {
            gtk_list_box_append(GTK_LIST_BOX(list), label);
        } else {
            gtk_widget_add_css_class(list, "background");
            gtk_box_append(GTK_BOX(list), label);
        }
        gtk_window_set_child(GTK_WINDOW(window), list);
        if (place == 2)
            gtk_list_box_select_row(GTK_LIST_BOX(list),
                                    gtk_list_box_get_row_at_index(GTK_LIST_BOX(list), 0));
        WAIT_FOR(gtk_widget_get_mapped(label) && gtk_widget_get_width(label) > 0);
        spin_loop(30);
        const double is = contrast_of(window, list, label);
        if (is < LEAST_CONTRAST && ++n_bad)
            printf("  %s, %s in %s: contrast %.2f\n", theme, class, places[place], is);
    }
    gtk_window_destroy(GTK_WINDOW(window));
}

static void check_maximized(GtkApplication *app)
{
    const NinoWindowOptions none = { 0 };
    nino_state_set_number("maximized", 1); // as the last window was
    GtkWidget *window = nino_window_new(app, &none);
    CHECK(gtk_window_is_maximized(GTK_WINDOW(window)));
    nino_window_end(NINO_WINDOW(window));
    nino_state_set_number("maximized", 0);
    spin_loop(50);
}

static void layout_open(GtkWidget *window, const char *path)
{
    g_autoptr(GFile) file = g_file_new_for_path(path);
    nino_window_open(NINO_WINDOW(window), file);
}

static void check_window(GtkApplication *app, char **files, int width, int height)
{
    const NinoWindowOptions none = { 0 };
    GtkWidget *window = nino_window_new(app, &none);
    gtk_window_set_default_size(GTK_WINDOW(window), width, height);
    gtk_window_present(GTK_WINDOW(window));
    WAIT_FOR(gtk_widget_get_mapped(window) && gtk_widget_get_width(window) > 0);
    CHECK(has_label(window, " Hz") &&
          !has_label(window, "– of")); // what the window costs, from the beginning
    for (gsize i = 0; i < (width == 1280 ? 2 : 1); i++) { // light, the smallest in dark, too
        nino_prefs_set("theme", themes[i]);
        look_at_nothing(window, width, height, themes[i]);
    }
    layout_open(window, files[0]);
    layout_open(window, files[1]);
    for (gsize i = 0; i < G_N_ELEMENTS(themes); i++) {
        nino_prefs_set("theme", themes[i]);
        look_at_all(window, width, height, themes[i]);
        if (width == 1280 || gtk_widget_get_scale_factor(window) > 1) // once in each scale
            look_at_windows(window, themes[i]);
    }
    nino_window_end(NINO_WINDOW(window));
    spin_loop(50);
}

// What is only called "step" has a name in the user's language.
static void check_words(void)
{
    g_autoptr(NinoRun) run = nino_run_new();
    CHECK(!strcmp(nino_run_title(run, "job"), _("job")) && strcmp(_("job"), "job") != 0);
    CHECK(!strcmp(nino_run_title(run, "step"), _("step")) && strcmp(_("step"), "step") != 0);
}

int main(int argc, char **argv)
{
    static const int sizes[][2] = { { 1280, 800 }, { 1440, 900 }, { 1920, 1080 } };
    const gboolean is_4k = !g_strcmp0(g_getenv("GDK_SCALE"), "2"); // 3840 x 2160 in points
    CHECK(argc >= 3);
    nino_i18n_start(argc > 4 ? argv[4] : "C");
    if (argc > 4)
        bindtextdomain("ninodes", argv[3]); // of the build: the program is not beside them
    if (argc > 4)
        check_words();
    g_autoptr(GtkApplication) app =
        gtk_application_new("org.ninodes.LayoutTest", G_APPLICATION_NON_UNIQUE);
    CHECK(g_application_register(G_APPLICATION(app), NULL, NULL));
    nino_keys_start(app);
    nino_theme_start();
    check_maximized(app);
    for (gsize i = 0; i < G_N_ELEMENTS(themes); i++) {
        nino_prefs_set("theme", themes[i]);
        check_contrast(app, themes[i]);
    }
    for (gsize i = is_4k ? 2 : 0; i < G_N_ELEMENTS(sizes); i++)
        check_window(app, argv + 1, sizes[i][0], sizes[i][1]);
    printf("  %d labels, %d wrong\n", n_labels, n_bad);
    CHECK(n_labels > (is_4k ? 300 : 500) && !n_bad);
    return 0;
}
