// The window and the worker: what is queued, what the run says, and what to do when it dies.
#include "app/window_priv.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "app/plan.h"
#include "app/prefs.h"
#include "live/advice_view.h"
#include "live/export.h"

#define MAX_LOG_LINES 2000
#define COST_PERIOD_S 2

// A node, stage or tile that is open.
typedef struct Scope {
    char *name; // of nodes: "ID CLASS"; others: NULL
    guint32 parent;
    guint64 begin_ns, mem_in_use;
    gboolean cached;
} Scope;

// What the events of the running job say; shown at most `refresh` times a second.
struct NinoRunState {
    GHashTable *scopes; // id -> Scope
    guint32 job_scope;
    guint64 job_id, in_use, reserved;
    char *tab_uid, *running_node, *preview_path;
    double fraction, eta_s, node_fraction;
    guint node_index, n_nodes;
    guint step, n_steps, preview_step, preview_total;
    double step_s, step_eta_s, steps_total_s, previews_total_s, preview_s;
    gboolean has_progress, has_memory, has_step, has_preview;
};

static void scope_free(gpointer p)
{
    Scope *s = p;
    g_free(s->name);
    g_free(s);
}

static void tell_advice(NinoWindow *w, NinoTab *tab);

static NinoTab *run_tab(NinoWindow *w) { return nino_window_find_tab(w, w->run->tab_uid); }

// ---- what can be done now -----------------------------------------------------------------------

static const char *state_now(NinoWindow *w)
{
    NinoTab *tab = nino_window_tab(w);
    if (nino_engine_running(w->engine))
        return nino_engine_is_paused(w->engine) ? "paused" : "running";
    const char *last = tab ? g_object_get_data(G_OBJECT(tab), "run-state") : NULL;
    if (last)
        return last;
    if (!tab || !nino_tab_graph(tab))
        return "empty";
    return g_object_get_data(G_OBJECT(tab), "errors") ? "invalid" : "ready";
}

void nino_window_run_update(NinoWindow *w)
{
    NinoTab *tab = nino_window_tab(w);
    const gboolean can_run = tab && nino_tab_graph(tab) &&
                             !g_object_get_data(G_OBJECT(tab), "errors") &&
                             !nino_engine_is_attached(w->engine);
    const NinoEngineState s = nino_engine_state(w->engine);
    nino_window_set_enabled(w, "run", can_run);
    nino_window_set_enabled(w, "run-front", can_run);
    nino_window_set_enabled(w, "measure-again", can_run);
    nino_window_set_enabled(w, "cancel", nino_engine_running(w->engine) != NULL);
    nino_window_set_enabled(w, "pause", s == NINO_ENGINE_READY);
    nino_window_set_enabled(w, "trim", s == NINO_ENGINE_READY);
    nino_window_set_enabled(w, "reload", s == NINO_ENGINE_READY);
    nino_window_set_enabled(w, "detach", nino_engine_is_attached(w->engine));
    nino_window_set_state_bool(w, "pause", nino_engine_is_paused(w->engine));
    static const char *const names[] = { "off", "starting", "ready", "dead" };
    nino_window_set_state_text(w, "worker", names[s]);
    nino_window_set_state_text(w, "state", state_now(w));
    gtk_label_set_text(w->device, nino_engine_device(w->engine));
}

// ---- showing, at most so often ------------------------------------------------------------------

static void show_memory(NinoWindow *w)
{
    g_autofree char *used = g_format_size_full(w->run->in_use, G_FORMAT_SIZE_IEC_UNITS);
    g_autofree char *held = g_format_size_full(w->run->reserved, G_FORMAT_SIZE_IEC_UNITS);
    g_autofree char *text = g_strdup_printf("%s of %s", used, held);
    gtk_label_set_text(w->memory, text);
}

static void show_status(NinoWindow *w)
{
    const struct NinoRunState *r = w->run;
    g_autoptr(GString) text = g_string_new(NULL);
    if (r->running_node)
        g_string_append_printf(text, "%s (%u of %u)", r->running_node, r->node_index + 1,
                               r->n_nodes);
    if (r->has_step)
        g_string_append_printf(text, ", step %u of %u, %.2f s a step", r->step, r->n_steps,
                               r->step_s);
    if (r->has_step && r->step_eta_s >= 0) // not while it is not known
        g_string_append_printf(text, ", %.0f s left", r->step_eta_s);
    if (text->len)
        nino_window_say(w, text->str);
}

static gboolean refresh(gpointer user)
{
    NinoWindow *w = user;
    struct NinoRunState *r = w->run;
    w->refresh_timer = 0;
    if (nino_engine_running(w->engine))
        show_status(w);
    if (r->has_progress) {
        gtk_progress_bar_set_fraction(w->progress, CLAMP(r->fraction, 0, 1));
        nino_queue_panel_progress(w->queue, r->fraction, r->eta_s);
    }
    NinoTab *tab = run_tab(w);
    if (tab && r->running_node && r->has_step && r->n_steps)
        nino_tab_mark_progress(tab, r->running_node, (double) r->step / r->n_steps);
    if (r->has_memory)
        show_memory(w);
    if (r->has_preview) {
        const double total = r->steps_total_s;
        nino_viewer_preview(w->viewer, r->preview_path, r->preview_step, r->preview_total,
                            r->preview_s, total > 0 ? r->previews_total_s / total : -1);
    }
    r->has_progress = r->has_memory = r->has_preview = FALSE;
    return G_SOURCE_REMOVE;
}

static void refresh_later(NinoWindow *w)
{
    if (w->refresh_timer)
        return;
    double hz = nino_prefs_number("refresh");
    if (nino_prefs_bool("quiet"))
        hz = fmin(hz, 2);
    w->refresh_timer = g_timeout_add((guint) (1000 / hz), refresh, w);
}

static gboolean show_cost(gpointer user)
{
    NinoWindow *w = user;
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    const guint64 cpu = (guint64) (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
                        (guint64) (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    const guint64 wall = (guint64) g_get_monotonic_time();
    if (w->cost_wall_us) {
        char text[48];
        g_snprintf(text, sizeof(text), "app %.1f %% at %.0f Hz",
                   100.0 * (double) (cpu - w->cost_cpu_us) / (double) (wall - w->cost_wall_us),
                   nino_prefs_bool("quiet") ? fmin(2, nino_prefs_number("refresh"))
                                            : nino_prefs_number("refresh"));
        gtk_label_set_text(w->cost, text);
    }
    w->cost_cpu_us = cpu;
    w->cost_wall_us = wall;
    return G_SOURCE_CONTINUE;
}

// ---- events of a run ----------------------------------------------------------------------------

static void forget_run(struct NinoRunState *r)
{
    g_hash_table_remove_all(r->scopes);
    g_clear_pointer(&r->tab_uid, g_free);
    g_clear_pointer(&r->running_node, g_free);
    g_clear_pointer(&r->preview_path, g_free);
    GHashTable *scopes = r->scopes;
    *r = (struct NinoRunState){ .scopes = scopes, .eta_s = NAN };
}

static const NinoJob *job_of_scope(NinoWindow *w, guint32 scope)
{
    GPtrArray *jobs = nino_engine_jobs(w->engine);
    for (guint i = 0; i < jobs->len; i++) {
        const NinoJob *j = jobs->pdata[i];
        if (j->scope == scope)
            return j;
    }
    return nino_engine_running(w->engine);
}

// The tab that a job came from: the one that queued it, or (after a restart) one of that name.
static NinoTab *tab_of_job(NinoWindow *w, const NinoJob *j)
{
    const char *uid = j ? g_hash_table_lookup(w->job_tabs, &j->id) : NULL;
    NinoTab *tab = uid ? nino_window_find_tab(w, uid) : NULL;
    return tab || !j ? tab : nino_window_find_tab_by_title(w, j->name);
}

static void on_job_begin(NinoWindow *w, const nino_event *ev)
{
    const NinoJob *j = job_of_scope(w, ev->id);
    forget_run(w->run);
    w->run->job_scope = ev->id;
    w->run->job_id = j ? j->id : 0;
    NinoTab *tab = tab_of_job(w, j);
    w->run->tab_uid = g_strdup(tab ? nino_tab_uid(tab) : NULL);
    if (tab) {
        nino_tab_mark_reset(tab, TRUE);
        tell_advice(w, tab);
    }
    gtk_progress_bar_set_fraction(w->progress, 0);
    nino_bar_hide(w->bar, "job");
}

static void on_scope_begin(NinoWindow *w, const nino_event *ev)
{
    struct NinoRunState *r = w->run;
    Scope *s = g_new0(Scope, 1);
    s->parent = ev->parent;
    s->begin_ns = ev->t_ns;
    s->mem_in_use = r->in_use;
    if (ev->kind == NINO_EV_NODE) {
        s->name = g_strdup(nino_engine_name(w->engine, ev->name));
        g_free(r->running_node);
        r->running_node = g_strdup(s->name);
        r->node_index = ev->u.scope.arg0;
        r->n_nodes = ev->u.scope.arg1;
        r->has_step = FALSE;
        NinoTab *tab = run_tab(w);
        if (tab)
            nino_tab_mark_begin(tab, s->name);
    }
    g_hash_table_insert(r->scopes, GUINT_TO_POINTER(ev->id), s);
}

static void on_scope_end(NinoWindow *w, const nino_event *ev)
{
    struct NinoRunState *r = w->run;
    const Scope *s = g_hash_table_lookup(r->scopes, GUINT_TO_POINTER(ev->id));
    if (s && s->name) {
        NinoTab *tab = run_tab(w);
        if (tab)
            nino_tab_mark_end(tab, s->name, (double) (ev->t_ns - s->begin_ns) * 1e-9,
                              (gint64) (r->in_use - s->mem_in_use), ev->u.scope.arg0 == 0,
                              s->cached);
    }
    g_hash_table_remove(r->scopes, GUINT_TO_POINTER(ev->id));
}

// The node that a scope is part of, or NULL.
static Scope *node_scope(NinoWindow *w, guint32 id)
{
    for (int depth = 0; id && depth < 16; depth++) {
        Scope *s = g_hash_table_lookup(w->run->scopes, GUINT_TO_POINTER(id));
        if (!s || s->name)
            return s;
        id = s->parent;
    }
    return NULL;
}

static void on_output(NinoWindow *w, const nino_event *ev)
{
    const Scope *s = node_scope(w, ev->parent);
    g_autofree char *group = g_strdup_printf("%u %s", w->run->job_scope, s ? s->name : "");
    nino_viewer_add(w->viewer, group, nino_engine_name(w->engine, ev->name));
}

static void on_step(struct NinoRunState *r, const nino_event *ev)
{
    r->has_step = TRUE;
    r->step = ev->u.step.step;
    r->n_steps = ev->u.step.total;
    r->step_s = ev->u.step.seconds;
    r->step_eta_s = ev->u.step.eta_s;
    r->steps_total_s += ev->u.step.seconds;
}

static void on_preview(NinoWindow *w, const nino_event *ev)
{
    struct NinoRunState *r = w->run;
    g_free(r->preview_path);
    r->preview_path = g_strdup(nino_engine_name(w->engine, ev->name));
    r->preview_step = ev->u.step.step;
    r->preview_total = ev->u.step.total;
    r->preview_s = ev->u.step.seconds;
    r->previews_total_s += ev->u.step.seconds;
    r->has_preview = TRUE;
}

static void on_event(NinoWindow *w, const nino_event *ev)
{
    struct NinoRunState *r = w->run;
    Scope *s;
    switch (ev->kind) {
    case NINO_EV_JOB: on_job_begin(w, ev); break;
    case NINO_EV_NODE:
    case NINO_EV_STAGE:
    case NINO_EV_STEP:
    case NINO_EV_TILE: on_scope_begin(w, ev); break;
    case NINO_EV_END: on_scope_end(w, ev); break;
    case NINO_EV_PROGRESS:
        if (ev->u.progress.total > 0)
            r->fraction = ev->u.progress.done / ev->u.progress.total;
        r->eta_s = ev->u.progress.eta_s;
        r->has_progress = TRUE;
        break;
    case NINO_EV_MEM:
        r->in_use = ev->u.mem.in_use;
        r->reserved = ev->u.mem.reserved;
        r->has_memory = TRUE;
        break;
    case NINO_EV_CACHE:
        if (ev->sub == NINO_CACHE_NODE && ev->u.scope.arg0 && (s = node_scope(w, ev->parent)))
            s->cached = TRUE;
        break;
    case NINO_EV_STEP_INFO: on_step(r, ev); break;
    case NINO_EV_PREVIEW: on_preview(w, ev); break;
    case NINO_EV_OUTPUT: on_output(w, ev); break;
    default: break;
    }
}

static void on_events(NinoEngine *engine, const nino_event *ev, gulong n, gpointer user)
{
    (void) engine;
    NinoWindow *w = user;
    gulong from = 0; // of what the live views have not got yet
    for (gulong i = 0; i < n; i++) {
        if (ev[i].kind == NINO_EV_JOB) { // a new run begins: the views forget the last one
            nino_run_add(w->records, ev + from, i - from, nino_engine_name, w->engine);
            nino_run_clear(w->records);
            from = i;
        }
        on_event(w, &ev[i]);
    }
    nino_run_add(w->records, ev + from, n - from, nino_engine_name, w->engine);
    nino_run_set_quiet(w->records, nino_prefs_bool("quiet"));
    refresh_later(w);
}

// ---- the end of a job ---------------------------------------------------------------------------

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

static void show_error(NinoWindow *w, NinoTab *tab, const char *where, const char *text,
                       gboolean jump)
{
    g_autofree char *full = *where ? g_strdup_printf("%s: %s", where, text) : g_strdup(text);
    g_autofree char *node = tab ? node_of_error(tab, where) : NULL;
    if (!node && tab && w->run->running_node && run_tab(w) == tab)
        node = g_strndup(w->run->running_node, strcspn(w->run->running_node, " "));
    g_autofree char *action = node ? g_strdup_printf("win.show-node::%s", node) : NULL;
    const NinoBarButton buttons[] = { { node ? "Show the node" : NULL, action }, { 0 } };
    nino_bar_show(w->bar, "job", NINO_BAR_ERROR, full, buttons);
    if (!node)
        return;
    nino_tab_mark_error(tab, node, text);
    if (jump) {
        gtk_notebook_set_current_page(w->tabs, gtk_notebook_page_num(w->tabs, GTK_WIDGET(tab)));
        nino_tab_show_node(tab, node);
    }
}

static void job_ended(NinoWindow *w, const NinoJob *j)
{
    NinoTab *tab = tab_of_job(w, j);
    const char *state = nino_queue_state_name(j->state);
    if (tab) {
        g_object_set_data(G_OBJECT(tab), "run-state", (gpointer) state);
        nino_tab_mark_over(tab);
    }
    nino_viewer_preview_end(w->viewer);
    if (j->state == NINO_QUEUE_FAILED) {
        show_error(w, tab, j->error_where ? j->error_where : "", j->error ? j->error : "", FALSE);
        nino_window_say(w, "Failed");
    } else if (j->state == NINO_QUEUE_DONE) {
        g_autofree char *text =
            g_strdup_printf("%s: done in %.1f s, %u file%s", j->name, j->ended_s - j->started_s,
                            g_strv_length(j->outputs), g_strv_length(j->outputs) == 1 ? "" : "s");
        gtk_progress_bar_set_fraction(w->progress, 1);
        nino_window_say(w, text);
    } else {
        nino_window_say(w, "Cancelled");
    }
}

static void on_queue(NinoEngine *engine, gpointer user)
{
    NinoWindow *w = user;
    GPtrArray *jobs = nino_engine_jobs(engine);
    GHashTable *ended = g_object_get_data(G_OBJECT(w), "ended-jobs");
    const gboolean first = !ended; // what had ended before we came is not news
    if (first) {
        ended = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        g_object_set_data_full(G_OBJECT(w), "ended-jobs", ended,
                               (GDestroyNotify) g_hash_table_unref);
    }
    guint waiting = 0;
    for (guint i = 0; i < jobs->len; i++) {
        const NinoJob *j = jobs->pdata[i];
        const gboolean has_ended = j->state >= NINO_QUEUE_DONE;
        waiting += !has_ended;
        if (has_ended && !g_hash_table_contains(ended, &j->id)) {
            g_hash_table_add(ended, g_memdup2(&j->id, sizeof(j->id)));
            if (!first)
                job_ended(w, j);
        }
    }
    nino_run_set_live(w->records, nino_engine_running(engine) != NULL);
    const char *notice = nino_engine_notice(engine);
    static const NinoBarButton resume[] = { { "Go on", "win.resume" }, { 0 } };
    if (*notice)
        nino_bar_show(w->bar, "notice", NINO_BAR_WARNING, notice, resume);
    else
        nino_bar_hide(w->bar, "notice");
    g_autofree char *title = waiting ? g_strdup_printf("Queue (%u)", waiting) : g_strdup("Queue");
    nino_window_title_panel(w, GTK_WIDGET(w->queue), title);
    nino_window_run_update(w);
}

static gboolean job_was_lost(NinoEngine *engine)
{
    GPtrArray *jobs = nino_engine_jobs(engine);
    for (guint i = 0; i < jobs->len; i++)
        if (((const NinoJob *) jobs->pdata[i])->lost)
            return TRUE;
    return FALSE;
}

static void on_engine_state(NinoEngine *engine, gpointer user)
{
    NinoWindow *w = user;
    switch (nino_engine_state(engine)) {
    case NINO_ENGINE_DEAD: {
        static const NinoBarButton restart[] = { { "Restart the worker", "win.restart-worker" },
                                                 { 0 } };
        g_autofree char *text = g_strdup_printf(
            "%s. Workflows, queue and finished results are kept.", nino_engine_message(engine));
        nino_bar_show(w->bar, "worker", NINO_BAR_ERROR, text, restart);
        NinoTab *tab = job_was_lost(engine) ? run_tab(w) : NULL;
        if (tab && w->run->running_node) {
            g_object_set_data(G_OBJECT(tab), "run-state", (gpointer) "failed");
            nino_tab_mark_end(tab, w->run->running_node, 0, 0, FALSE, FALSE);
        }
        nino_window_say(w, "The worker is not running");
        break;
    }
    case NINO_ENGINE_STARTING:
        nino_bar_hide(w->bar, "worker");
        nino_window_say(w, "Starting the worker…");
        break;
    case NINO_ENGINE_READY: nino_bar_hide(w->bar, "worker"); break;
    case NINO_ENGINE_OFF:
        if (*nino_engine_message(engine))
            nino_window_say(w, nino_engine_message(engine));
        break;
    }
    nino_window_run_update(w);
}

static void on_log(NinoEngine *engine, const char *line, gpointer user)
{
    (void) engine;
    NinoWindow *w = user;
    GtkTextBuffer *b = gtk_text_view_get_buffer(w->log);
    GtkTextIter at, cut;
    gtk_text_buffer_get_end_iter(b, &at);
    gtk_text_buffer_insert(b, &at, line, -1);
    gtk_text_buffer_insert(b, &at, "\n", 1);
    const int extra = gtk_text_buffer_get_line_count(b) - MAX_LOG_LINES;
    if (extra > 0) {
        gtk_text_buffer_get_start_iter(b, &at);
        gtk_text_buffer_get_iter_at_line(b, &cut, extra);
        gtk_text_buffer_delete(b, &at, &cut);
    }
}

static void on_refused(NinoEngine *engine, const char *text, gpointer user)
{
    (void) engine;
    nino_bar_show(NINO_WINDOW(user)->bar, "refused", NINO_BAR_ERROR, text, NULL);
}

// ---- actions ------------------------------------------------------------------------------------

typedef struct Queued {
    NinoWindow *w; // weak
    char *uid;
} Queued;

static void on_queued(gpointer user, const nino_control_reply *reply)
{
    Queued *q = user;
    if (q->w) {
        if (!reply) {
            nino_bar_show(q->w->bar, "refused", NINO_BAR_ERROR,
                          "The worker ended before it took the job", NULL);
        } else if (reply->err.code) {
            NinoTab *tab = nino_window_find_tab(q->w, q->uid);
            show_error(q->w, tab, reply->err.where, reply->err.msg, FALSE);
            if (tab)
                g_object_set_data(G_OBJECT(tab), "run-state", (gpointer) "failed");
            nino_window_run_update(q->w);
        } else {
            guint64 *id = g_memdup2(&(guint64){ reply->job }, sizeof(guint64));
            g_hash_table_replace(q->w->job_tabs, id, g_strdup(q->uid));
        }
        g_object_remove_weak_pointer(G_OBJECT(q->w), (gpointer *) &q->w);
    }
    g_free(q->uid);
    g_free(q);
}

static nino_precision_opt precision_pref(void)
{
    const char *p = nino_prefs_text("precision");
    return !strcmp(p, "fp32")   ? NINO_PRECISION_F32
           : !strcmp(p, "fp16") ? NINO_PRECISION_F16
           : !strcmp(p, "bf16") ? NINO_PRECISION_BF16
                                : NINO_PRECISION_AUTO;
}

static gboolean queue_once(NinoWindow *w, NinoTab *tab, int position)
{
    gsize len = 0;
    g_autoptr(GError) error = NULL;
    const char *text = nino_tab_json(tab, FALSE, &len, &error);
    if (!text) {
        nino_bar_show(w->bar, "job", NINO_BAR_ERROR, error->message, NULL);
        return FALSE;
    }
    const nino_control c = {
        .cmd = NINO_CONTROL_QUEUE,
        .position = position,
        .workflow = text,
        .workflow_bytes = len,
        .name = nino_tab_title(tab),
        .options = { .preview = nino_prefs_bool("quiet") ? "none" : nino_prefs_text("preview"),
                     .preview_every = (int) nino_prefs_number("preview-every"),
                     .precision = precision_pref(),
                     .no_profile = !nino_prefs_bool("embed-profile") },
    };
    Queued *q = g_new0(Queued, 1);
    q->w = w;
    q->uid = g_strdup(nino_tab_uid(tab));
    g_object_add_weak_pointer(G_OBJECT(w), (gpointer *) &q->w);
    nino_engine_send(w->engine, &c, on_queued, q);
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
    if (nino_engine_state(w->engine) == NINO_ENGINE_OFF ||
        nino_engine_state(w->engine) == NINO_ENGINE_DEAD)
        nino_engine_start(w->engine);
    const int n = nino_queue_panel_repeat(w->queue);
    g_object_set_data(G_OBJECT(tab), "run-state", NULL);
    for (int i = 0; i < n; i++) {
        if (!queue_once(w, tab, g_str_equal(name, "run") ? 0 : 1 + i))
            return;
        nino_tab_advance(tab);
    }
    nino_window_say(w, "Queued");
    nino_window_run_update(w);
}

static void action_simple(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) parameter;
    NinoWindow *w = user;
    const char *name = g_action_get_name(G_ACTION(a));
    static const struct {
        const char *name;
        nino_control_cmd cmd;
    } table[] = { { "cancel", NINO_CONTROL_CANCEL },
                  { "resume", NINO_CONTROL_RESUME },
                  { "trim", NINO_CONTROL_TRIM },
                  { "reload", NINO_CONTROL_RELOAD } };
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
        if (g_str_equal(table[i].name, name))
            nino_engine_simple(w->engine, table[i].cmd, 0);
}

static void action_pause(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter;
    NinoWindow *w = user;
    nino_engine_simple(
        w->engine, nino_engine_is_paused(w->engine) ? NINO_CONTROL_RESUME : NINO_CONTROL_PAUSE, 0);
}

static void action_restart(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter;
    NinoWindow *w = user;
    nino_engine_restart(w->engine);
}

static void action_show_node(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a;
    NinoTab *tab = nino_window_tab(user);
    if (tab)
        nino_tab_show_node(tab, g_variant_get_string(parameter, NULL));
}

void nino_window_attach(NinoWindow *w, const char *target)
{
    g_autoptr(GError) error = NULL;
    if (!nino_engine_attach(w->engine, *target && strcmp(target, "newest") != 0 ? target : NULL,
                            &error)) {
        nino_bar_show(w->bar, "attach", NINO_BAR_ERROR, error->message, NULL);
        return;
    }
    static const NinoBarButton detach[] = { { "Detach", "win.detach" }, { 0 } };
    g_autofree char *text = g_strdup_printf("Watching process %d", nino_engine_pid(w->engine));
    nino_bar_show(w->bar, "attach", NINO_BAR_INFO, text, detach);
    nino_window_run_update(w);
}

static void action_attach(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a;
    nino_window_attach(user, g_variant_get_string(parameter, NULL));
}

static void action_detach(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter;
    NinoWindow *w = user;
    nino_engine_detach(w->engine);
    nino_bar_hide(w->bar, "attach");
    nino_window_run_update(w);
}

// A bar with a button for each run of this machine that is not ours.
static void action_attach_list(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter;
    NinoWindow *w = user;
    nino_run_info runs[8];
    const size_t n = MIN(nino_attach_list(runs, G_N_ELEMENTS(runs)), G_N_ELEMENTS(runs));
    NinoBarButton buttons[G_N_ELEMENTS(runs) + 1] = { { 0 } };
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (runs[i].pid == nino_engine_pid(w->engine))
            continue;
        char *label =
            g_strdup_printf("%d: %s", runs[i].pid, *runs[i].title ? runs[i].title : "idle worker");
        char *action = g_strdup_printf("win.attach::%d", runs[i].pid);
        g_ptr_array_add(texts, label);
        g_ptr_array_add(texts, action);
        buttons[k++] = (NinoBarButton){ label, action };
    }
    nino_bar_show(w->bar, "attach", NINO_BAR_INFO,
                  k ? "Watch a run of this machine:" : "No other run of yours is alive", buttons);
}

void nino_window_open_trace(NinoWindow *w, const char *path)
{
    g_autoptr(GError) error = NULL;
    if (!nino_run_load(w->records, path, &error)) {
        nino_bar_show(w->bar, "open", NINO_BAR_ERROR, error->message, NULL);
        return;
    }
    nino_bar_hide(w->bar, "open");
    gtk_widget_set_visible(GTK_WIDGET(w->live), TRUE);
    nino_window_set_state_bool(w, "live", TRUE);
    g_autofree char *name = g_path_get_basename(path);
    g_autofree char *text = g_strdup_printf("Trace %s", name);
    nino_window_say(w, text);
}

// ---- what the live views ask for ----------------------------------------------------------------

static GtkWidget *view_in_front(NinoWindow *w)
{
    const int i = gtk_notebook_get_current_page(w->live);
    return i < 0 ? NULL : gtk_notebook_get_nth_page(w->live, i);
}

static void action_export_view(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    NinoWindow *w = user;
    GtkWidget *view = view_in_front(w);
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

// Advice sets inputs of nodes: the change can be undone like any other, then it runs again.
static void set_and_run(NinoWindow *w, const char *setting)
{
    NinoTab *tab = run_tab(w) ? run_tab(w) : nino_window_tab(w);
    g_autoptr(GError) error = NULL;
    if (!tab || !*setting)
        return;
    if (!nino_tab_set(tab, setting, &error)) {
        nino_bar_show(w->bar, "edit", NINO_BAR_WARNING, error->message, NULL);
        return;
    }
    gtk_notebook_set_current_page(w->tabs, gtk_notebook_page_num(w->tabs, GTK_WIDGET(tab)));
    nino_tab_graph(tab); // checked now, so that it can run
    g_action_group_activate_action(G_ACTION_GROUP(w), "run", NULL);
}

static void on_advice_apply(GtkWidget *view, const char *rule, int action, const char *setting,
                            gpointer user)
{
    (void) view, (void) rule;
    NinoWindow *w = user;
    if (action == NINO_ADVICE_SET) {
        set_and_run(w, setting);
        return;
    }
    g_autofree char *text = g_strdup_printf("To follow this advice, change: %s", setting);
    nino_bar_show(w->bar, "advice", NINO_BAR_INFO, text, NULL);
}

static void on_advice_revert(GtkWidget *view, const char *setting, gpointer user)
{
    (void) view;
    NinoWindow *w = user;
    NinoTab *tab = run_tab(w) ? run_tab(w) : nino_window_tab(w);
    if (tab && *setting)
        nino_tab_set(tab, setting, NULL);
}

// The workflow that ran, for advice that changes it.
static void tell_advice(NinoWindow *w, NinoTab *tab)
{
    gsize len = 0;
    const char *json = tab ? nino_tab_json(tab, FALSE, &len, NULL) : NULL;
    for (int i = 0; json && i < gtk_notebook_get_n_pages(w->live); i++) {
        GtkWidget *view = gtk_notebook_get_nth_page(w->live, i);
        if (NINO_IS_ADVICE_VIEW(view))
            nino_advice_view_set_workflow(NINO_ADVICE_VIEW(view), json, len, NULL,
                                          (const char *const *) w->options.models);
    }
}

static void connect_advice(NinoWindow *w)
{
    for (int i = 0; i < gtk_notebook_get_n_pages(w->live); i++) {
        GtkWidget *view = gtk_notebook_get_nth_page(w->live, i);
        if (!NINO_IS_ADVICE_VIEW(view))
            continue;
        g_signal_connect(view, "apply", G_CALLBACK(on_advice_apply), w);
        g_signal_connect(view, "revert", G_CALLBACK(on_advice_revert), w);
    }
}

static void on_jump(NinoProblems *p, const char *node, gpointer user)
{
    (void) p;
    NinoTab *tab = nino_window_tab(user);
    if (tab)
        nino_tab_show_node(tab, node);
}

static void on_plan(gpointer user, const char *text, gboolean fits)
{
    nino_problems_set_plan(NINO_WINDOW(user)->problems, text, fits);
}

static void ask_plan(NinoProblems *p, gpointer user)
{
    NinoWindow *w = user;
    NinoTab *tab = nino_window_tab(w);
    gsize len = 0;
    g_autoptr(GError) error = NULL;
    const char *text = tab ? nino_tab_json(tab, FALSE, &len, &error) : NULL;
    if (!text) {
        nino_problems_set_plan(p, error ? error->message : "No workflow is open", FALSE);
        return;
    }
    nino_problems_set_plan(p, "Planning…", TRUE);
    g_cancellable_cancel(w->planning);
    g_clear_object(&w->planning);
    w->planning = g_cancellable_new();
    nino_plan_ask(text, len, (const char *const *) w->options.models, w->options.input,
                  w->options.device, w->planning, on_plan, w);
}

static void action_plan(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter;
    nino_window_show_panel(user, "problems");
    ask_plan(NINO_WINDOW(user)->problems, user);
}

static void on_form_refused(NinoForm *form, const char *text, gpointer user)
{
    (void) form;
    nino_bar_show(NINO_WINDOW(user)->bar, "edit", NINO_BAR_WARNING, text, NULL);
}

static void on_job_error(NinoQueuePanel *p, guint64 id, const char *where, const char *text,
                         gpointer user)
{
    (void) p;
    NinoWindow *w = user;
    const char *uid = g_hash_table_lookup(w->job_tabs, &id);
    NinoTab *tab = uid ? nino_window_find_tab(w, uid) : nino_window_tab(w);
    show_error(w, tab, where, text, TRUE);
}

static void on_viewer_failed(NinoViewer *v, const char *text, gpointer user)
{
    (void) v;
    nino_bar_show(NINO_WINDOW(user)->bar, "viewer", NINO_BAR_ERROR, text, NULL);
}

// ---- start and end ------------------------------------------------------------------------------

void nino_window_run_init(NinoWindow *w)
{
    static const GActionEntry actions[] = {
        { .name = "worker", .state = "'off'" },
        { .name = "run", .activate = action_run },
        { .name = "run-front", .activate = action_run },
        { .name = "measure-again", .activate = action_run },
        { .name = "cancel", .activate = action_simple },
        { .name = "resume", .activate = action_simple },
        { .name = "trim", .activate = action_simple },
        { .name = "reload", .activate = action_simple },
        { .name = "export-plot", .activate = action_export_view },
        { .name = "export-table", .activate = action_export_view },
        { .name = "export-trace", .activate = action_export_view },
        { .name = "export-view-to", .activate = action_export_view, .parameter_type = "s" },
        { .name = "export-trace-to", .activate = action_export_view, .parameter_type = "s" },
        { .name = "plan", .activate = action_plan },
        { .name = "pause", .activate = action_pause, .state = "false" },
        { .name = "restart-worker", .activate = action_restart },
        { .name = "attach-list", .activate = action_attach_list },
        { .name = "attach", .activate = action_attach, .parameter_type = "s" },
        { .name = "detach", .activate = action_detach },
        { .name = "show-node", .activate = action_show_node, .parameter_type = "s" },
    };
    g_action_map_add_action_entries(G_ACTION_MAP(w), actions, G_N_ELEMENTS(actions), w);
    w->run = g_new0(struct NinoRunState, 1);
    w->run->scopes = g_hash_table_new_full(NULL, NULL, NULL, scope_free);
    w->job_tabs = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    connect_advice(w);
    g_signal_connect(w->engine, "state", G_CALLBACK(on_engine_state), w);
    g_signal_connect(w->engine, "queue", G_CALLBACK(on_queue), w);
    g_signal_connect(w->engine, "events", G_CALLBACK(on_events), w);
    g_signal_connect(w->engine, "log", G_CALLBACK(on_log), w);
    g_signal_connect(w->engine, "refused", G_CALLBACK(on_refused), w);
    g_signal_connect(w->problems, "jump", G_CALLBACK(on_jump), w);
    g_signal_connect(w->problems, "plan", G_CALLBACK(ask_plan), w);
    g_signal_connect(w->form, "refused", G_CALLBACK(on_form_refused), w);
    g_signal_connect(w->queue, "show-error", G_CALLBACK(on_job_error), w);
    g_signal_connect(w->viewer, "failed", G_CALLBACK(on_viewer_failed), w);
    w->cost_timer = g_timeout_add_seconds(COST_PERIOD_S, show_cost, w);
}

void nino_window_run_dispose(NinoWindow *w)
{
    g_clear_handle_id(&w->refresh_timer, g_source_remove);
    g_clear_handle_id(&w->cost_timer, g_source_remove);
    g_cancellable_cancel(w->planning);
    g_clear_object(&w->planning);
    if (w->engine)
        g_signal_handlers_disconnect_by_data(w->engine, w);
    g_clear_object(&w->engine);
    g_clear_object(&w->records);
    g_clear_pointer(&w->job_tabs, g_hash_table_unref);
    if (w->run) {
        forget_run(w->run);
        g_hash_table_unref(w->run->scopes);
    }
    g_clear_pointer(&w->run, g_free);
}
