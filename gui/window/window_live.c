// What the live views ask the window for: files of what they show, the workflow that ran, runs that are
// kept; and what they cost.
#include "window/window_priv.h"

#include <string.h>
#include <sys/resource.h>

#include "base/i18n.h"
#include "compare/compare_view.h"
#include "live/advice_view.h"
#include "plot/kept_runs.h"
#include "plot/export.h"
#include "plot/plot.h"

static void action_export_view(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    NinoWindow *w = user;
    GtkWidget *view = w->view;
    const char *kind = g_action_get_name(G_ACTION(a)) + strlen("export-");
    g_autoptr(GError) error = NULL;
    gboolean ok = TRUE;
    if (!parameter && view)
        nino_export_ask(view, w->records, kind);
    else if (g_str_equal(kind, "trace-to"))
        ok = nino_export_trace(w->records, g_variant_get_string(parameter, NULL), &error);
    else if (view)
        ok =
            nino_export_view(view, g_variant_get_string(parameter, NULL), 1200, 600, FALSE, &error);
    if (!ok)
        nino_bar_show(w->bar, "export", NINO_BAR_ERROR, error->message, NULL);
}

// The workflow that ran, for advice that changes it.
void nino_window_tell_advice(NinoWindow *w, NinoTab *tab)
{
    gsize len = 0;
    const char *json = tab ? nino_tab_json(tab, FALSE, &len, NULL) : NULL;
    for (guint i = 0; json && i < w->views->len; i++) {
        GtkWidget *view = g_ptr_array_index(w->views, i);
        if (NINO_IS_ADVICE_VIEW(view))
            nino_advice_view_set_workflow(NINO_ADVICE_VIEW(view), json, len, NULL,
                                          (const char *const *) w->options.models);
    }
}

// What the canvas calls the nodes of the workflow that runs, by what records call them; NULL: none is known.
static GHashTable *titles_of(NinoTab *tab)
{
    nino_graph *graph = tab ? nino_tab_graph(tab) : NULL;
    const gsize n = graph ? nino_graph_nodes(graph, NULL, 0) : 0;
    if (!n)
        return NULL;
    g_autofree nino_graph_node *nodes = g_new0(nino_graph_node, n);
    GHashTable *titles = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    nino_graph_nodes(graph, nodes, n);
    for (gsize i = 0; i < n; i++) {
        const nino_graph_node *k = &nodes[i];
        const char *title = k->title && *k->title ? k->title
                            : k->def              ? k->def->title
                                                  : k->class_type;
        g_hash_table_insert(titles, g_strdup_printf("%.60s %.80s", k->id, k->class_type),
                            g_strdup_printf("%s %s", k->id, title));
    }
    return titles;
}

void nino_window_tell_titles(NinoWindow *w, NinoTab *tab)
{
    nino_run_set_titles(w->records, titles_of(tab));
}

// ---- runs that are kept -------------------------------------------------------------------------

enum { KEEP_MS = 500 };

void nino_window_keep_run(NinoWindow *w)
{
    g_autoptr(GError) error = NULL;
    if (!w->keep_timer)
        return;
    g_clear_handle_id(&w->keep_timer, g_source_remove);
    if (w->keeps_measured && w->measuring) // of runs that are alike the last one is enough
        return;
    if (!nino_kept_add(w->records, &error) && error)
        nino_window_log(w, NINO_LOG_ERROR, error->message);
}

// Whether a measured run was the last one shows when the queue tells its end, or another begins.
static gboolean on_keep(gpointer window)
{
    NinoWindow *w = window;
    if (w->keeps_measured && w->measuring)
        return G_SOURCE_CONTINUE;
    nino_window_keep_run(w);
    return G_SOURCE_REMOVE;
}

void nino_window_keep_run_later(NinoWindow *w)
{
    g_clear_handle_id(&w->keep_timer, g_source_remove);
    w->keeps_measured = w->measuring != NULL;
    w->keep_timer = g_timeout_add(KEEP_MS, on_keep, w);
}

// What is shown is compared with this trace.
static void action_baseline(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a;
    NinoWindow *w = user;
    g_autoptr(GError) error = NULL;
    for (guint i = 0; i < w->views->len; i++) {
        GtkWidget *view = g_ptr_array_index(w->views, i);
        if (NINO_IS_COMPARE_VIEW(view) &&
            !nino_compare_view_open(NINO_COMPARE_VIEW(view), g_variant_get_string(parameter, NULL),
                                    &error))
            nino_bar_show(w->bar, "open", NINO_BAR_ERROR, error->message, NULL);
    }
    if (!error)
        gtk_widget_activate_action(GTK_WIDGET(w), "win.view", "s", "compare");
}

// ---- what it costs to watch ---------------------------------------------------------------------

enum { COST_PERIOD_S = 2 };

// Said from the first moment on: what is not known then is left out.
static gboolean show_cost(gpointer user)
{
    NinoWindow *w = user;
    struct rusage u;
    char text[64], share[24], rate[24];
    NinoRunCost cost;
    getrusage(RUSAGE_SELF, &u);
    const guint64 cpu = (guint64) (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
                        (guint64) (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    const guint64 wall = (guint64) g_get_monotonic_time();
    nino_run_cost(w->records, &cost);
    nino_format_hz(rate, sizeof(rate), 1000.0 / cost.interval_ms);
    if (w->cost_wall_us) {
        nino_format_share(share, sizeof(share),
                          (double) (cpu - w->cost_cpu_us) / (double) (wall - w->cost_wall_us));
        g_snprintf(text, sizeof(text), _("app %s of a core at %s"), share, rate);
    } else {
        g_snprintf(text, sizeof(text), _("app at %s"), rate);
    }
    gtk_label_set_text(w->cost, text);
    w->cost_cpu_us = cpu;
    w->cost_wall_us = wall;
    return G_SOURCE_CONTINUE;
}

// ---- start and end ------------------------------------------------------------------------------

void nino_window_live_init(NinoWindow *w)
{
    static const GActionEntry actions[] = {
        { .name = "baseline", .activate = action_baseline, .parameter_type = "s" },
        { .name = "export-plot", .activate = action_export_view },
        { .name = "export-table", .activate = action_export_view },
        { .name = "export-trace", .activate = action_export_view },
        { .name = "export-view-to", .activate = action_export_view, .parameter_type = "s" },
        { .name = "export-trace-to", .activate = action_export_view, .parameter_type = "s" },
    };
    g_action_map_add_action_entries(G_ACTION_MAP(w), actions, G_N_ELEMENTS(actions), w);
    w->cost_timer = g_timeout_add_seconds(COST_PERIOD_S, show_cost, w);
    show_cost(w);
}

void nino_window_live_dispose(NinoWindow *w)
{
    g_clear_handle_id(&w->cost_timer, g_source_remove);
    nino_window_keep_run(w); // one that has just ended
}
