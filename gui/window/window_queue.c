// What the window puts into the queue: the workflow in front, or once more what ran before.
#include "window/window_priv.h"

#include <string.h>

#include "engine/job_values.h"
#include "settings/prefs.h"
#include "base/i18n.h"

typedef struct Queued {
    NinoWindow *w; // weak
    char *uid, *content;
    GHashTable *values; // NULL: not known
    NinoQueuedFn fn;    // NULL: nobody asks
    guint tag;
} Queued;

static void on_queued(gpointer user, const nino_control_reply *reply)
{
    Queued *q = user;
    if (q->w) {
        if (!reply) {
            nino_bar_show(q->w->bar, "refused", NINO_BAR_ERROR,
                          _("The worker ended before it took the job"), NULL);
        } else if (reply->err.code) {
            NinoTab *tab = nino_window_find_tab(q->w, q->uid);
            nino_window_show_error(q->w, tab, reply->err.where, reply->err.msg, FALSE);
            if (tab)
                g_object_set_data(G_OBJECT(tab), "run-state", (gpointer) "failed");
            nino_window_run_update(q->w);
        } else {
            guint64 *id = g_memdup2(&(guint64){ reply->job }, sizeof(guint64));
            g_hash_table_replace(q->w->job_tabs, id, g_strdup(q->uid));
            nino_queue_panel_tell(q->w->queue, reply->job, q->content);
            nino_queue_panel_tell_values(q->w->queue, reply->job, q->values);
            nino_window_end_own_job(q->w, reply->job);
        }
        if (q->fn)
            q->fn(q->w, q->tag, reply && !reply->err.code ? reply->job : 0);
        g_object_remove_weak_pointer(G_OBJECT(q->w), (gpointer *) &q->w);
    }
    g_free(q->uid);
    g_free(q->content);
    g_clear_pointer(&q->values, g_hash_table_unref);
    g_free(q);
}

// A request that makes a job; the job will be known as this tab's.
static void send_job(NinoWindow *w, NinoTab *tab, const nino_control *c, NinoQueuedFn fn, guint tag)
{
    Queued *q = g_new0(Queued, 1);
    q->w = w;
    q->uid = g_strdup(tab ? nino_tab_uid(tab) : "");
    q->content = c->workflow ? nino_queue_content(c->workflow, c->workflow_bytes)
                             : g_strdup(nino_queue_panel_content(w->queue, c->job)); // of a retry
    GHashTable *again = c->workflow ? NULL : nino_queue_panel_values(w->queue, c->job);
    q->values = c->workflow ? nino_job_values(c->workflow, c->workflow_bytes)
                : again     ? g_hash_table_ref(again)
                            : NULL;
    q->fn = fn;
    q->tag = tag;
    g_object_add_weak_pointer(G_OBJECT(w), (gpointer *) &q->w);
    nino_engine_send(w->engine, c, on_queued, q);
}

static void need_engine(NinoWindow *w)
{
    if (nino_engine_state(w->engine) == NINO_ENGINE_OFF ||
        nino_engine_state(w->engine) == NINO_ENGINE_DEAD)
        nino_engine_start(w->engine);
}

nino_job_options nino_window_job_options(gboolean is_anew)
{
    nino_job_options o = { NINO_JOB_OPTIONS_INIT,
                           .preview = NINO_PREVIEW_NONE,
                           .preview_every = (int) nino_prefs_number("preview-every"),
                           .preview_share = nino_prefs_number("preview-percent") * 0.01,
                           .no_profile = !nino_prefs_bool("embed-profile"),
                           .no_metadata = !nino_prefs_bool("embed-workflow"),
                           .is_anew = is_anew };
    nino_precision_opt_find(nino_prefs_text("precision"), &o.precision);
    if (!nino_prefs_bool("quiet"))
        nino_preview_opt_find(nino_prefs_text("preview"), &o.preview);
    return o;
}

void nino_window_queue_workflow(NinoWindow *w, NinoTab *tab, const char *text, gsize len,
                                int position, gboolean is_anew, NinoQueuedFn fn, guint tag)
{
    const nino_job_options options = nino_window_job_options(is_anew);
    const nino_control c = { NINO_CONTROL_INIT,     .cmd = NINO_CONTROL_QUEUE,
                             .position = position,  .workflow = text,
                             .workflow_bytes = len, .name = nino_tab_title(tab),
                             .options = &options };
    need_engine(w);
    send_job(w, tab, &c, fn, tag);
}

static gboolean queue_once(NinoWindow *w, NinoTab *tab, int position)
{
    gsize len = 0;
    g_autoptr(GError) error = NULL;
    const char *text = nino_tab_json(tab, FALSE, &len, &error);
    if (!text) {
        nino_bar_show_about(w->bar, nino_tab_uid(tab), "job", NINO_BAR_ERROR, error->message, NULL);
        return FALSE;
    }
    nino_window_queue_workflow(w, tab, text, len, position, FALSE, NULL, 0);
    return TRUE;
}

static void action_run(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) parameter;
    NinoWindow *w = user;
    NinoTab *tab = nino_window_tab(w);
    const char *name = g_action_get_name(G_ACTION(a));
    if (!tab)
        return;
    need_engine(w);
    const int n = nino_queue_panel_repeat(w->queue);
    g_object_set_data(G_OBJECT(tab), "run-state", NULL);
    for (int i = 0; i < n; i++) {
        if (!queue_once(w, tab, g_str_equal(name, "run") ? 0 : 1 + i))
            return;
        nino_canvas_remember_values(nino_tab_canvas(tab));
        nino_tab_advance(tab);
    }
    nino_window_say(w, _("Queued"));
    nino_window_run_update(w);
}

// ---- once more ----------------------------------------------------------------------------------

// The newest job of the tab in front that has ended; NULL: none, or the worker is not ours.
static const NinoJob *window_queue_last_job(NinoWindow *w)
{
    NinoTab *tab = nino_window_tab(w);
    GPtrArray *jobs = nino_engine_jobs(w->engine);
    for (guint i = 0; tab && i < jobs->len && !nino_engine_is_attached(w->engine); i++) {
        const NinoJob *j = jobs->pdata[i]; // of those that have ended the newest comes first
        if (j->state >= NINO_QUEUE_DONE && nino_window_job_tab(w, j) == tab)
            return j;
    }
    return NULL;
}

gboolean nino_window_can_run_again(NinoWindow *w) { return window_queue_last_job(w) != NULL; }

void nino_window_retry(NinoWindow *w, guint64 job)
{
    NinoTab *tab = NULL;
    GPtrArray *jobs = nino_engine_jobs(w->engine);
    for (guint i = 0; i < jobs->len; i++) {
        const NinoJob *j = jobs->pdata[i];
        if (j->id == job)
            tab = nino_window_job_tab(w, j);
    }
    const nino_control c = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_RETRY, .job = job,
                             .position = 1 };
    need_engine(w);
    if (tab)
        g_object_set_data(G_OBJECT(tab), "run-state", NULL);
    send_job(w, tab, &c, NULL, 0);
    nino_window_say(w, _("Runs again"));
    nino_window_run_update(w);
}

// The inputs of the last run, seeds included, whatever was edited since; next to run.
static void action_again(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) parameter;
    NinoWindow *w = user;
    NinoTab *tab = nino_window_tab(w);
    const NinoJob *j = window_queue_last_job(w);
    if (!tab)
        return;
    need_engine(w);
    if (g_str_equal(g_action_get_name(G_ACTION(a)), "measure-again")) {
        nino_window_measure(w, tab, j ? j->id : 0);
    } else if (j) {
        nino_window_retry(w, j->id);
    } else { // it never ran
        g_object_set_data(G_OBJECT(tab), "run-state", NULL);
        queue_once(w, tab, 1);
        nino_window_run_update(w);
    }
}

static void on_window_queue_retry(NinoQueuePanel *p, guint64 job, gpointer user)
{
    (void) p;
    nino_window_retry(user, job);
}

void nino_window_queue_init(NinoWindow *w)
{
    static const GActionEntry actions[] = {
        { .name = "run", .activate = action_run },
        { .name = "run-front", .activate = action_run },
        { .name = "run-again", .activate = action_again },
        { .name = "measure-again", .activate = action_again },
    };
    g_action_map_add_action_entries(G_ACTION_MAP(w), actions, G_N_ELEMENTS(actions), w);
    g_signal_connect(w->queue, "retry", G_CALLBACK(on_window_queue_retry), w);
}
