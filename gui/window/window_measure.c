// The speed of the last run, measured: an experiment (ninodes/experiment.h) of one setting, with the
// inputs that ran, seeds included, every node anew, after a run that warms up.
#include "window/window_priv.h"

#include <ninodes/experiment.h>
#include <string.h>

#include "base/i18n.h"
#include "plot/plot.h"

enum { ROUNDS = 5 };

struct NinoMeasuring {
    nino_experiment *runs;
    char *uid, *workflow; // of the tab; what ran, NULL: not told yet
    guint64 job;          // that is waited for, 0: none
    guint number;         // of this measuring
    gboolean is_seen, has_files;
};

static void measuring_end(NinoWindow *w)
{
    struct NinoMeasuring *m = w->measuring;
    if (!m)
        return;
    nino_experiment_destroy(&m->runs);
    g_free(m->uid);
    g_free(m->workflow);
    g_clear_pointer(&w->measuring, g_free);
}

static void measuring_stop(NinoWindow *w)
{
    measuring_end(w);
    nino_bar_hide(w->bar, "measure");
}

static void show_measured(NinoWindow *w)
{
    char median[32], mad[32], least[32], most[32];
    nino_spread s;
    nino_experiment_spread(w->measuring->runs, 0, &s);
    nino_format_ns(median, sizeof(median), s.median * 1e9);
    nino_format_ns(mad, sizeof(mad), s.mad * 1e9);
    nino_format_ns(least, sizeof(least), s.min * 1e9);
    nino_format_ns(most, sizeof(most), s.max * 1e9);
    g_autofree char *text = g_strdup_printf(
        w->measuring->has_files
            ? _("Measured in %u runs after one that warmed up: %s a file (median; MAD %s, %s to "
                "%s)")
            : _("Measured in %u runs after one that warmed up: %s (median; MAD %s, %s to %s)"),
        (guint) s.n, median, mad, least, most);
    measuring_end(w);
    nino_bar_show(w->bar, "measure", NINO_BAR_INFO, text, NULL);
}

static void measuring_cancelled(NinoWindow *w)
{
    uint64_t done, most;
    nino_experiment_progress(w->measuring->runs, &done, &most);
    g_autofree char *text = g_strdup_printf(_("Measuring was cancelled in run %u of %u"),
                                            (guint) done + 1, (guint) most);
    measuring_end(w);
    nino_bar_show(w->bar, "measure", NINO_BAR_INFO, text, NULL);
}

static void on_measuring_queued(NinoWindow *w, guint number, guint64 job)
{
    if (!w->measuring || w->measuring->number != number) { // cancelled before the worker took it
        if (job)
            nino_engine_simple(w->engine, NINO_CONTROL_CANCEL, job);
        return;
    }
    w->measuring->job = job;
    w->measuring->is_seen = FALSE;
    if (!job) // which the window has told
        measuring_stop(w);
    nino_window_measure_look(w); // a short one may have ended before its number came
}

static void measure_next(NinoWindow *w)
{
    struct NinoMeasuring *m = w->measuring;
    NinoTab *tab = nino_window_find_tab(w, m->uid);
    uint64_t done, most;
    if (nino_experiment_next(m->runs, NULL) < 0) {
        show_measured(w);
    } else if (!tab) {
        measuring_stop(w);
    } else {
        nino_experiment_progress(m->runs, &done, &most);
        g_autofree char *text =
            g_strdup_printf(_("Measuring: run %u of %u"), (guint) done + 1, (guint) most);
        static const NinoBarButton buttons[] = { { N_("Cancel"), "win.cancel-measuring" },
                                                 { NULL, NULL } };
        nino_bar_show(w->bar, "measure", NINO_BAR_INFO, text, buttons);
        g_object_set_data(G_OBJECT(tab), "run-state", NULL);
        m->job = 0;
        nino_window_queue_workflow(w, tab, m->workflow, strlen(m->workflow), 1, TRUE,
                                   on_measuring_queued, m->number);
        nino_window_run_update(w);
    }
}

// A run has ended. One that failed, was cancelled or removed ends the measuring.
void nino_window_measure_look(NinoWindow *w)
{
    struct NinoMeasuring *m = w->measuring;
    GPtrArray *jobs = nino_engine_jobs(w->engine);
    const NinoJob *j = NULL;
    for (guint i = 0; m && m->job && i < jobs->len && !j; i++)
        if (((const NinoJob *) jobs->pdata[i])->id == m->job)
            j = jobs->pdata[i];
    if (!m || !m->job || (!j && !m->is_seen) ||
        (j && (j->state < NINO_QUEUE_DONE || nino_window_is_ending(w, j->id)))) {
        if (j)
            m->is_seen = TRUE;
        return;
    }
    if (j && j->state == NINO_QUEUE_CANCELLED) {
        measuring_cancelled(w);
        return;
    }
    const guint files = j ? g_strv_length(j->outputs) : 0;
    if (!j || j->state != NINO_QUEUE_DONE ||
        nino_experiment_add(m->runs, (j->ended_s - j->started_s) / MAX(files, 1), NULL)) {
        measuring_stop(w);
        return;
    }
    m->has_files = files > 0;
    measure_next(w);
}

static void on_measuring_workflow(gpointer user, const nino_control_reply *reply)
{
    GWeakRef *ref = user;
    NinoWindow *w = g_weak_ref_get(ref);
    if (w && w->measuring && reply && !reply->err.code) {
        w->measuring->workflow = g_strdup(reply->text);
        measure_next(w);
    } else if (w && w->measuring) {
        measuring_stop(w);
        nino_bar_show(w->bar, "refused", NINO_BAR_ERROR,
                      reply ? reply->err.msg : _("The worker ended before it took the job"), NULL);
    }
    g_clear_object(&w);
    g_weak_ref_clear(ref);
    g_free(ref);
}

void nino_window_measure(NinoWindow *w, NinoTab *tab, guint64 job)
{
    const nino_experiment_params p = { NINO_EXPERIMENT_PARAMS_INIT, .settings = 1,
                                       .rounds_min = ROUNDS, .rounds_max = ROUNDS };
    g_autoptr(GError) error = NULL;
    nino_experiment *runs = w->measuring ? NULL : nino_experiment_create(&p, NULL);
    if (!runs) // it measures already
        return;
    static guint number;
    w->measuring = g_new0(struct NinoMeasuring, 1);
    w->measuring->number = ++number;
    w->measuring->runs = runs;
    w->measuring->uid = g_strdup(nino_tab_uid(tab));
    if (job) {
        const nino_control c = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_WORKFLOW, .job = job };
        GWeakRef *ref = g_new0(GWeakRef, 1);
        g_weak_ref_init(ref, w);
        nino_engine_send(w->engine, &c, on_measuring_workflow, ref);
        return;
    }
    gsize len = 0; // it never ran
    const char *text = nino_tab_json(tab, FALSE, &len, &error);
    if (text) {
        w->measuring->workflow = g_strndup(text, len);
        measure_next(w);
        return;
    }
    measuring_stop(w);
    nino_bar_show_about(w->bar, nino_tab_uid(tab), "job", NINO_BAR_ERROR, error->message, NULL);
}

// Its own job, which may wait behind another's: that one goes on.
static void action_cancel_measuring(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter;
    NinoWindow *w = user;
    if (!w->measuring)
        return;
    if (w->measuring->job)
        nino_engine_simple(w->engine, NINO_CONTROL_CANCEL, w->measuring->job);
    measuring_cancelled(w);
}

void nino_window_measure_init(NinoWindow *w)
{
    static const GActionEntry actions[] = {
        { .name = "cancel-measuring", .activate = action_cancel_measuring },
    };
    g_action_map_add_action_entries(G_ACTION_MAP(w), actions, G_N_ELEMENTS(actions), w);
    g_signal_connect_object(w->engine, "queue", G_CALLBACK(nino_window_measure_look), w,
                            G_CONNECT_AFTER | G_CONNECT_SWAPPED);
}

void nino_window_measure_dispose(NinoWindow *w) { measuring_end(w); }
