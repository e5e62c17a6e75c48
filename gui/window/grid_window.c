// Two axes beside each other; below them how many runs that is. Every value is tried on a graph of
// the window's own, so that what a node refuses is said before anything is queued.
#include "window/grid_window.h"

#include <math.h>
#include <string.h>

#include "window/axis_editor.h"
#include "settings/prefs.h"
#include "engine/queue_panel.h"
#include "base/i18n.h"
#include "base/tokens.h"

typedef struct GridWindow {
    GtkWidget *window, *axis[2], *summary, *queue;
    nino_graph *graph;
    char *uid;
    double seconds;
    NinoGridFn fn;
    gpointer user;
} GridWindow;

static void window_free(gpointer p)
{
    GridWindow *g = p;
    nino_graph_destroy(&g->graph);
    g_free(g->uid);
    g_free(g);
}

static void grid_window_first_error(void *priv, const nino_issue *i)
{
    char **text = priv;
    if (i->severity == NINO_ISSUE_ERROR && !*text)
        *text = g_strdup_printf("%s: %s", i->input, i->message);
}

// What is wrong with a value, or NULL; g_free(). The graph keeps the first one.
static char *try_values(nino_graph *graph, const nino_axis *a)
{
    for (gsize i = a->n; i-- > 0;) {
        nino_error err = { 0 };
        char *text = NULL, *assignment = nino_axis_assignment(a, i);
        if (!assignment || nino_graph_set(graph, assignment, &err))
            text = g_strdup_printf("%s: %s", err.where, err.msg);
        else
            nino_graph_check(graph, NULL, grid_window_first_error, &text);
        free(assignment);
        if (text)
            return text;
    }
    return NULL;
}

// The axes that were chosen, NULL-terminated; g_strfreev().
static char **axes_of(GridWindow *g)
{
    g_autoptr(GStrvBuilder) b = g_strv_builder_new();
    for (int i = 0; i < 2; i++) {
        g_autofree char *text = nino_axis_editor_get(NINO_AXIS_EDITOR(g->axis[i]));
        if (text)
            g_strv_builder_add(b, text);
    }
    return g_strv_builder_end(b);
}

static char *grid_window_summary(GridWindow *g, char **axes, gboolean *ok)
{
    guint n = 1, count[2] = { 0 };
    char *inputs[2] = { NULL, NULL }, *problem = NULL;
    for (int i = 0; axes[i] && !problem; i++) {
        nino_axis a = { 0 };
        nino_error err = { 0 };
        if (!strchr(axes[i], '=')[1]) {
            problem = g_strdup(_("Choose values for it"));
        } else if (nino_axis_parse(axes[i], &a, &err)) {
            problem = g_strdup_printf("%s: %s", err.where, err.msg);
        } else {
            problem = try_values(g->graph, &a);
            inputs[i] = g_strdup(a.input);
            n *= count[i] = (guint) a.n;
        }
        nino_axis_release(&a);
    }
    if (!problem && !g_strcmp0(inputs[0], inputs[1]))
        problem = g_strdup(inputs[0] ? _("Both axes change the same input")
                                     : _("Choose an input whose values are to be compared"));
    *ok = !problem;
    g_free(inputs[0]);
    g_free(inputs[1]);
    if (problem)
        return problem;
    g_autofree char *runs = g_strdup_printf(ngettext("%u run", "%u runs", n), n);
    g_autofree char *shape =
        count[1] ? g_strdup_printf("%u × %u = ", count[0], count[1]) : g_strdup("");
    if (isnan(g->seconds))
        return g_strconcat(shape, runs, NULL);
    g_autofree char *time = nino_duration_text(g->seconds * n);
    // translators: "3 × 4 = " or nothing, "12 runs", "2 min 05 s"
    return g_strdup_printf(_("%s%s, about %s"), shape, runs, time);
}

static void grid_window_update(GridWindow *g)
{
    gboolean ok = FALSE;
    g_auto(GStrv) axes = axes_of(g);
    g_autofree char *text = grid_window_summary(g, axes, &ok);
    gtk_label_set_text(GTK_LABEL(g->summary), text);
    gtk_widget_set_sensitive(g->queue, ok);
}

static void on_grid_window_queue(GridWindow *g)
{
    g_auto(GStrv) axes = axes_of(g);
    if (g->fn(g->user, g->uid, (const char *const *) axes))
        gtk_window_destroy(GTK_WINDOW(g->window));
}

static void show_last(GridWindow *g, GPtrArray *inputs)
{
    g_auto(GStrv) last = nino_state_list(NINO_GRID_STATE);
    int at = 0;
    for (char **a = last; *a && at < 2; a++) { // of another workflow those that this one has too
        const char *eq = strchr(*a, '=');
        for (guint i = 0; eq && i < inputs->len; i++) {
            const NinoGridInput *in = inputs->pdata[i];
            if (strlen(in->name) == (gsize) (eq - *a) && g_str_has_prefix(*a, in->name)) {
                nino_axis_editor_set(NINO_AXIS_EDITOR(g->axis[at++]), *a);
                break;
            }
        }
    }
}

static GtkWidget *buttons(GridWindow *g)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S);
    GtkWidget *cancel = gtk_button_new_with_label(_("Cancel"));
    g->summary = gtk_label_new("");
    g->queue = gtk_button_new_with_label(_("Queue the runs"));
    gtk_label_set_xalign(GTK_LABEL(g->summary), 0);
    gtk_label_set_wrap(GTK_LABEL(g->summary), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(g->summary), PANGO_WRAP_WORD_CHAR);
    gtk_widget_set_hexpand(g->summary, TRUE);
    gtk_widget_add_css_class(g->queue, "suggested-action");
    GtkWidget *parts[] = { g->summary, cancel, g->queue };
    for (gsize i = 0; i < G_N_ELEMENTS(parts); i++) {
        gtk_widget_set_valign(parts[i], GTK_ALIGN_CENTER);
        gtk_box_append(GTK_BOX(line), parts[i]);
    }
    g_signal_connect_swapped(cancel, "clicked", G_CALLBACK(gtk_window_destroy), g->window);
    g_signal_connect_swapped(g->queue, "clicked", G_CALLBACK(on_grid_window_queue), g);
    gtk_window_set_default_widget(GTK_WINDOW(g->window), g->queue);
    return line;
}

void nino_grid_window_present(GtkWindow *parent, NinoTab *tab, double seconds, NinoGridFn queue,
                              gpointer user)
{
    gsize len = 0;
    const char *text = nino_tab_json(tab, FALSE, &len, NULL);
    nino_graph *graph = text ? nino_graph_load(text, len, nino_tab_title(tab), NULL) : NULL;
    if (!graph)
        return;
    GridWindow *g = g_new0(GridWindow, 1);
    *g = (GridWindow){ .window = gtk_window_new(),
                       .graph = graph,
                       .uid = g_strdup(nino_tab_uid(tab)),
                       .seconds = seconds,
                       .fn = queue,
                       .user = user };
    g_object_set_data_full(G_OBJECT(g->window), "grid", g, window_free);
    gtk_window_set_title(GTK_WINDOW(g->window), _("Grid of runs"));
    gtk_window_set_modal(GTK_WINDOW(g->window), TRUE);
    gtk_window_set_transient_for(GTK_WINDOW(g->window), parent);
    gtk_window_set_destroy_with_parent(GTK_WINDOW(g->window), TRUE);
    gtk_window_set_default_size(GTK_WINDOW(g->window), 680, 330);
    g_autoptr(GPtrArray) inputs = nino_grid_inputs(tab);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_M);
    GtkWidget *axes = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_L);
    gtk_box_set_homogeneous(GTK_BOX(axes), TRUE);
    gtk_widget_set_margin_start(box, NINO_SPACE_M);
    gtk_widget_set_margin_end(box, NINO_SPACE_M);
    gtk_widget_set_margin_top(box, NINO_SPACE_M);
    gtk_widget_set_margin_bottom(box, NINO_SPACE_M);
    const char *const titles[] = { _("Columns"), _("Rows") };
    for (int i = 0; i < 2; i++) {
        g->axis[i] = nino_axis_editor_new(titles[i], inputs);
        gtk_box_append(GTK_BOX(axes), g->axis[i]);
    }
    gtk_box_append(GTK_BOX(box), axes);
    gtk_box_append(GTK_BOX(box), buttons(g));
    gtk_window_set_child(GTK_WINDOW(g->window), box);
    show_last(g, inputs);
    grid_window_update(g);
    for (int i = 0; i < 2; i++)
        g_signal_connect_swapped(g->axis[i], "changed", G_CALLBACK(grid_window_update), g);
    GtkShortcut *escape = gtk_shortcut_new(gtk_keyval_trigger_new(GDK_KEY_Escape, 0),
                                           gtk_named_action_new("window.close"));
    GtkEventController *keys = gtk_shortcut_controller_new();
    gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(keys), escape);
    gtk_widget_add_controller(g->window, keys);
    gtk_window_present(GTK_WINDOW(g->window));
}
