// The end of a job: what the window says of it, and when.
#include "window/window_priv.h"

#include <string.h>

#include "base/i18n.h"
#include "viewer/frames.h"
#include "window/recent.h"

// Errors name "ID CLASS" or "ID.input", or a file: the node is what the text starts with.
static char *node_of_error(NinoTab *tab, const char *where)
{
    g_autofree char *id = g_strdup(where);
    id[strcspn(id, " .:")] = 0;
    // Ids of nodes in subgraphs hold a colon.
    g_autofree char *longer = g_strdup(where);
    longer[strcspn(longer, " .")] = 0;
    nino_graph *g = nino_tab_graph(tab);
    const size_t n = g ? nino_graph_nodes(g, NULL, 0) : 0;
    g_autofree nino_graph_node *nodes = g_new0(nino_graph_node, n + 1);
    if (g)
        nino_graph_nodes(g, nodes, n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(nodes[i].id, longer) || !strcmp(nodes[i].id, id))
            return g_strdup(nodes[i].id);
    return NULL;
}

void nino_window_show_error(NinoWindow *w, NinoTab *tab, const char *where, const char *text,
                            gboolean jump)
{
    g_autofree char *full = *where ? g_strdup_printf("%s: %s", where, text) : g_strdup(text);
    g_autofree char *node = tab ? node_of_error(tab, where) : NULL;
    if (!node && tab && nino_window_running_node(w) && nino_window_run_tab(w) == tab)
        node = g_strndup(nino_window_running_node(w), strcspn(nino_window_running_node(w), " "));
    g_autofree char *action = node ? g_strdup_printf("win.show-node::%s", node) : NULL;
    const NinoBarButton buttons[] = { { node ? _("Show the node") : NULL, action }, { 0 } };
    nino_bar_show_about(w->bar, tab ? nino_tab_uid(tab) : NULL, "job", NINO_BAR_ERROR, full,
                        buttons);
    if (!node)
        return;
    nino_tab_mark_error(tab, node, text);
    if (jump) {
        gtk_notebook_set_current_page(w->tabs, gtk_notebook_page_num(w->tabs, GTK_WIDGET(tab)));
        nino_tab_show_node(tab, node);
    }
}

// ", 123 J (41 J a file)"; "" when the device does not tell its power. g_free().
static char *energy_text(NinoWindow *w, guint n_files)
{
    nino_energy_stat e;
    nino_stats_energy(nino_history_stats(nino_run_history(w->records)), &e);
    if (!(e.last_joules > 0))
        return g_strdup("");
    return n_files > 1 ? g_strdup_printf(_(", %.3g J (%.3g J a file)"), e.last_joules,
                                         e.last_joules / n_files)
                       : g_strdup_printf(_(", %.3g J"), e.last_joules);
}

static void say_cancelled(NinoWindow *w)
{
    const guint n = nino_window_kept_steps(w);
    g_autofree char *text =
        n ? g_strdup_printf(_("Cancelled after step %u, where the same run goes on"), n)
          : g_strdup(_("Cancelled"));
    nino_window_say(w, text);
}

void nino_window_kept(NinoWindow *w)
{
    if (!nino_engine_running(w->engine))
        say_cancelled(w);
}

// The workflow is known by what it made where it is offered again.
static void remember_picture(NinoTab *tab, const NinoJob *j)
{
    const char *path = tab ? nino_tab_source(tab) : NULL;
    for (char **out = j->outputs; path && out && *out; out++)
        if (nino_frames_can_show(*out)) {
            g_autofree char *whole = g_canonicalize_filename(*out, NULL);
            nino_recent_made(path, whole);
            return;
        }
}

static void job_ended(NinoWindow *w, const NinoJob *j)
{
    NinoTab *tab = nino_window_job_tab(w, j);
    const char *state = nino_queue_state_name(j->state);
    if (tab) {
        g_object_set_data(G_OBJECT(tab), "run-state", (gpointer) state);
        if (tab != nino_window_run_tab(w) || !nino_window_runs_other(w, j))
            nino_tab_mark_over(tab);
    }
    nino_viewer_preview_end(w->viewer);
    if (j->state == NINO_QUEUE_FAILED) {
        nino_window_show_error(w, tab, j->error_where ? j->error_where : "",
                               j->error ? j->error : "", FALSE);
        nino_window_say(w, _("Failed"));
    } else if (j->state == NINO_QUEUE_DONE) {
        const guint n = g_strv_length(j->outputs);
        g_autofree char *energy = energy_text(w, n);
        g_autofree char *said = g_strdup_printf(
            ngettext("%s: done in %.1f s, %u file", "%s: done in %.1f s, %u files", n), j->name,
            j->ended_s - j->started_s, n);
        g_autofree char *text = g_strconcat(said, energy, NULL);
        gtk_progress_bar_set_fraction(w->progress, 1);
        remember_picture(tab, j);
        nino_window_say(w, text);
    } else {
        say_cancelled(w);
    }
}

gboolean nino_window_is_ending(NinoWindow *w, guint64 job)
{
    for (guint i = 0; i < w->ending->len; i++)
        if (g_array_index(w->ending, guint64, i) == job)
            return TRUE;
    return FALSE;
}

void nino_window_end_jobs(NinoWindow *w, gboolean all)
{
    GPtrArray *jobs = nino_engine_jobs(w->engine);
    gboolean any = FALSE;
    for (guint k = 0; k < w->ending->len;) {
        const guint64 id = g_array_index(w->ending, guint64, k);
        const NinoJob *j = NULL;
        for (guint i = 0; i < jobs->len && !j; i++)
            j = ((const NinoJob *) jobs->pdata[i])->id == id ? jobs->pdata[i] : NULL;
        if (j && !all && !nino_window_has_events(w, j)) {
            k++;
            continue;
        }
        g_array_remove_index(w->ending, k);
        any = TRUE;
        if (j)
            job_ended(w, j);
    }
    if (any) {
        nino_window_run_update(w);
        nino_window_measure_look(w);
    }
}

// The queue tells of an end before or after the run's last records come: views take what they have for the whole run only
// when both are there.
void nino_window_tell_live(NinoWindow *w)
{
    nino_run_set_live(w->records, nino_engine_running(w->engine) || w->ending->len);
}

void nino_window_end_own_job(NinoWindow *w, guint64 job)
{
    GHashTable *ended = g_object_get_data(G_OBJECT(w), "ended-jobs");
    if (!ended || !g_hash_table_contains(ended, &job) || nino_window_is_ending(w, job))
        return;
    g_array_append_val(w->ending, job);
    nino_window_end_jobs(w, FALSE);
}
