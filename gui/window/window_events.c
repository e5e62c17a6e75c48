// What the running job says, event by event, and how it is shown: at most so often.
#include "window/window_priv.h"

#include <math.h>
#include <string.h>

#include "viewer/gallery.h"
#include "workflow/node_pictures.h"
#include "settings/prefs.h"
#include "base/i18n.h"
#include "base/tick.h"

#define READ_HZ 5 // text that changes faster cannot be read; plots do

// A node, stage or tile that is open.
typedef struct Scope {
    char *name; // of nodes: "ID CLASS"; others: NULL
    guint32 parent;
    guint64 begin_ns, mem_in_use;
    guint64 waited_ns; // of a node: for kernels to be prepared, which is not its own time
    gboolean cached, prepares;
} Scope;

// What the events of the running job say; shown at most `refresh` times a second.
struct NinoRunState {
    GHashTable *scopes; // id -> Scope
    GHashTable *cached; // names of nodes whose results were there already
    guint32 job_scope;
    guint64 job_id, in_use, reserved;
    char *tab_uid, *running_node, *preview_path, *preview_node;
    guint n_kept; // steps that it left behind to go on with
    double fraction, eta_s, node_fraction;
    guint node_index, n_nodes;
    guint32 preparing;          // the scope of a program that is prepared now; 0: none
    guint prepared, n_programs; // which of how many
    guint step, n_steps, preview_step, preview_total;
    double step_s, step_eta_s, steps_total_s, previews_total_s, preview_s;
    gboolean has_progress, has_memory, has_step, has_preview;
    gboolean is_over; // the end of its scope has come
    gboolean is_lost; // its worker died: what comes until the next job is of another one
};

static void scope_free(gpointer p)
{
    Scope *s = p;
    g_free(s->name);
    g_free(s);
}

NinoTab *nino_window_run_tab(NinoWindow *w) { return nino_window_find_tab(w, w->run->tab_uid); }

const char *nino_window_running_node(const NinoWindow *w) { return w->run->running_node; }

void nino_window_lose_run(NinoWindow *w)
{
    w->run->is_lost = TRUE;
    w->run->has_step = FALSE;
    w->run->job_scope = 0; // the next worker counts from the start
}

gboolean nino_window_has_events(const NinoWindow *w, const NinoJob *j)
{
    const struct NinoRunState *r = w->run;
    return !j->scope || j->scope < r->job_scope || (j->scope == r->job_scope && r->is_over);
}

gboolean nino_window_runs_other(const NinoWindow *w, const NinoJob *j)
{
    return w->run->job_scope && w->run->job_scope != j->scope && !w->run->is_over;
}

guint nino_window_kept_steps(const NinoWindow *w) { return w->run->n_kept; }

// ---- showing, at most so often ------------------------------------------------------------------

// "GPU 61 % · "; the processor's where the device tells none. "": nothing runs, or nobody tells. g_free().
static char *load_text(NinoWindow *w)
{
    static const nino_counter_id ids[] = { NINO_COUNTER_GPU_BUSY, NINO_COUNTER_CPU_BUSY };
    size_t n;
    for (gsize i = 0; nino_engine_running(w->engine) && i < G_N_ELEMENTS(ids); i++) {
        const nino_reading *r = nino_history_counter(nino_run_history(w->records), ids[i], &n);
        if (n && isfinite(r[n - 1].value))
            return g_strdup_printf("%s %.0f %% · ", i ? "CPU" : "GPU", r[n - 1].value);
    }
    return g_strdup("");
}

// Of what the pool may take, or of what it has where nobody set a limit.
void nino_window_show_memory(NinoWindow *w)
{
    nino_mem_stat m;
    nino_stats_memory(nino_history_stats(nino_run_history(w->records)), &m);
    const guint64 all = m.budget ? m.budget : w->run->reserved;
    if (!all)
        return;
    g_autofree char *load = load_text(w);
    g_autofree char *used = g_format_size_full(w->run->in_use, G_FORMAT_SIZE_IEC_UNITS);
    g_autofree char *of = g_format_size_full(all, G_FORMAT_SIZE_IEC_UNITS);
    g_autofree char *memory = g_strdup_printf(_("%s of %s"), used, of);
    g_autofree char *text = g_strconcat(load, memory, NULL);
    gtk_label_set_text(w->memory, text);
}

static void show_status(NinoWindow *w)
{
    const struct NinoRunState *r = w->run;
    g_autoptr(GString) text = g_string_new(NULL);
    if (r->running_node)
        g_string_append_printf(text, _("%s (%u of %u)"), r->running_node, r->node_index + 1,
                               r->n_nodes);
    if (r->has_step)
        g_string_append_printf(text, _(", step %u of %u, %.2f s a step"), r->step, r->n_steps,
                               r->step_s);
    if (r->has_step && r->step_eta_s >= 0) // not while it is not known
        g_string_append_printf(text, _(", %.0f s left"), r->step_eta_s);
    if (r->preparing && r->n_programs)
        g_string_append_printf(text, _(", preparing kernels %u of %u"), r->prepared, r->n_programs);
    if (text->len)
        nino_window_say(w, text->str);
}

// In the viewer, unless the run has ended and its results are there, and on the node that samples.
static void show_preview(NinoWindow *w)
{
    const struct NinoRunState *r = w->run;
    const double total = r->steps_total_s;
    g_autoptr(GFile) file = g_file_new_for_path(r->preview_path);
    g_autoptr(GdkTexture) t = gdk_texture_new_from_file(file, NULL);
    if (!t)
        return; // replaced or gone already: the next one comes
    if (nino_engine_running(w->engine)) {
        nino_queue_panel_preview(w->queue, t);
        nino_window_has_results(w);
        nino_viewer_preview(w->viewer, t, r->preview_step, r->preview_total, r->preview_s,
                            total > 0 ? r->previews_total_s / total : -1);
    }
    NinoTab *tab = nino_window_run_tab(w);
    if (tab && r->preview_node)
        nino_node_pictures_preview(tab, r->preview_node, r->job_scope, t);
}

static gboolean window_events_refresh(gpointer user)
{
    NinoWindow *w = user;
    struct NinoRunState *r = w->run;
    w->refresh_timer = 0;
    if (nino_engine_running(w->engine))
        show_status(w);
    if (r->has_progress && nino_engine_running(w->engine)) {
        gtk_progress_bar_set_fraction(w->progress, CLAMP(r->fraction, 0, 1));
        nino_queue_panel_progress(w->queue, r->fraction, r->eta_s);
    }
    NinoTab *tab = nino_window_run_tab(w);
    if (tab && r->running_node && r->has_step && r->n_steps)
        nino_tab_mark_progress(tab, r->running_node, (double) r->step / r->n_steps);
    if (r->has_memory)
        nino_window_show_memory(w);
    if (r->has_preview)
        show_preview(w);
    r->has_progress = r->has_memory = r->has_preview = FALSE;
    return G_SOURCE_REMOVE;
}

static double wanted_hz(void)
{
    const double hz = nino_prefs_number("refresh");
    return nino_prefs_bool("quiet") ? fmin(hz, 2) : hz;
}

static void refresh_later(NinoWindow *w)
{
    if (w->refresh_timer)
        return;
    w->refresh_timer =
        nino_tick_add((guint) (1000 / fmin(wanted_hz(), READ_HZ)), window_events_refresh, w);
}

// ---- events of a run ----------------------------------------------------------------------------

static void forget_run(struct NinoRunState *r)
{
    g_hash_table_remove_all(r->scopes);
    g_clear_pointer(&r->tab_uid, g_free);
    g_clear_pointer(&r->running_node, g_free);
    g_clear_pointer(&r->preview_path, g_free);
    g_clear_pointer(&r->preview_node, g_free);
    g_hash_table_remove_all(r->cached);
    *r = (struct NinoRunState){ .scopes = r->scopes, .cached = r->cached, .eta_s = NAN };
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
NinoTab *nino_window_job_tab(NinoWindow *w, const NinoJob *j)
{
    const char *uid = j ? g_hash_table_lookup(w->job_tabs, &j->id) : NULL;
    NinoTab *tab = uid ? nino_window_find_tab(w, uid) : NULL;
    return tab || !j ? tab : nino_window_find_tab_by_title(w, j->name);
}

// status: as the end of a scope has it.
static NinoNodeState state_of_end(gboolean is_cached, guint32 status)
{
    if (status)
        return -(int) status == NINO_ERR_CANCELLED ? NINO_NODE_CANCELLED : NINO_NODE_FAILED;
    return is_cached ? NINO_NODE_CACHED : NINO_NODE_DONE;
}

void nino_window_run_is_of(NinoWindow *w, NinoTab *tab, guint64 job)
{
    struct NinoRunState *r = w->run;
    const NinoJob *j = nino_engine_running(w->engine);
    size_t n;
    const nino_span *s = nino_history_spans(nino_run_history(w->records), &n);
    if (!j || j->id != job || j->scope != r->job_scope) // its events are still to come
        return;
    g_free(r->tab_uid);
    r->tab_uid = g_strdup(nino_tab_uid(tab));
    nino_window_tell_titles(w, tab);
    nino_window_tell_advice(w, tab);
    nino_tab_mark_reset(tab, TRUE);
    for (size_t i = 0; i < n; i++) {
        const char *name = s[i].kind == NINO_EV_NODE ? nino_run_name(w->records, s[i].name) : NULL;
        if (name && s[i].end_ns)
            nino_tab_mark_end(tab, name, (double) (s[i].end_ns - s[i].begin_ns) * 1e-9, 0,
                              state_of_end(g_hash_table_contains(r->cached, name), s[i].status));
        else if (name)
            nino_tab_mark_begin(tab, name);
    }
}

static void on_job_begin(NinoWindow *w, const nino_event *ev)
{
    const NinoJob *j = job_of_scope(w, ev->id);
    forget_run(w->run);
    w->run->job_scope = ev->id;
    w->run->job_id = j ? j->id : 0;
    NinoTab *tab = nino_window_job_tab(w, j);
    w->run->tab_uid = g_strdup(tab ? nino_tab_uid(tab) : NULL);
    nino_window_tell_titles(w, tab);
    if (tab) {
        nino_tab_mark_reset(tab, TRUE);
        nino_window_tell_advice(w, tab);
    }
    gtk_progress_bar_set_fraction(w->progress, 0);
    nino_bar_hide_about(w->bar, w->run->tab_uid, "job");
}

static void on_scope_begin(NinoWindow *w, const nino_event *ev)
{
    struct NinoRunState *r = w->run;
    Scope *s = g_new0(Scope, 1);
    s->parent = ev->parent;
    s->begin_ns = ev->t_ns;
    s->mem_in_use = r->in_use;
    s->prepares = ev->kind == NINO_EV_STAGE &&
                  g_str_has_prefix(nino_engine_name(w->engine, ev->name), NINO_STAGE_COMPILE);
    if (s->prepares) {
        r->preparing = ev->id;
        if (NINO_COMPILE_NUMBER(ev->u.scope.arg0)) // else at the launch of one that was told
            r->prepared = NINO_COMPILE_NUMBER(ev->u.scope.arg0);
        r->n_programs = NINO_COMPILE_NUMBER(ev->u.scope.arg1);
    }
    if (ev->kind == NINO_EV_NODE) {
        s->name = g_strdup(nino_engine_name(w->engine, ev->name));
        s->cached = g_hash_table_contains(r->cached, s->name) ||
                    g_str_has_suffix(s->name, " (cached)"); // or nobody needs its result
        if (!s->cached) {
            g_free(r->running_node);
            r->running_node = g_strdup(s->name);
        }
        r->node_index = ev->u.scope.arg0;
        r->n_nodes = ev->u.scope.arg1;
        r->has_step = FALSE;
        NinoTab *tab = nino_window_run_tab(w);
        if (tab && !s->cached)
            nino_tab_mark_begin(tab, s->name);
    }
    g_hash_table_insert(r->scopes, GUINT_TO_POINTER(ev->id), s);
}

// Names of nodes are "ID CLASS"; ids never contain a space.
static char *window_events_id_of(const Scope *s)
{
    return g_strndup(s->name, strcspn(s->name, " "));
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

static void on_scope_end(NinoWindow *w, const nino_event *ev)
{
    struct NinoRunState *r = w->run;
    const Scope *s = g_hash_table_lookup(r->scopes, GUINT_TO_POINTER(ev->id));
    Scope *waiting = s && s->prepares ? node_scope(w, s->parent) : NULL;
    if (ev->id == r->preparing)
        r->preparing = 0;
    if (waiting)
        waiting->waited_ns += ev->t_ns - s->begin_ns;
    if (s && s->name) {
        NinoTab *tab = nino_window_run_tab(w);
        g_autofree char *id = window_events_id_of(s);
        if (!g_strcmp0(s->name, r->running_node))
            r->has_step = FALSE; // what is shown later would mark it as running again
        if (tab)
            nino_tab_mark_end(tab, s->name, (double) (ev->t_ns - s->begin_ns - s->waited_ns) * 1e-9,
                              (gint64) (r->in_use - s->mem_in_use),
                              state_of_end(s->cached, ev->u.scope.arg0));
        if (tab && !s->cached)
            nino_node_pictures_ran(tab, id, r->job_scope);
    }
    g_hash_table_remove(r->scopes, GUINT_TO_POINTER(ev->id));
}

static void on_window_events_output(NinoWindow *w, const nino_event *ev)
{
    const Scope *s = node_scope(w, ev->parent);
    const char *path = nino_engine_name(w->engine, ev->name);
    g_autofree char *group = g_strdup_printf("%u %s", w->run->job_scope, s ? s->name : "");
    nino_viewer_add(w->viewer, group, path);
    nino_window_has_results(w);
    if (!nino_engine_is_attached(w->engine)) { // our worker's folder is ours
        g_autofree char *whole = g_canonicalize_filename(path, NULL);
        nino_gallery_keep(group, whole);
    }
    NinoTab *tab = nino_window_run_tab(w);
    g_autofree char *id = s && s->name ? window_events_id_of(s) : NULL;
    if (tab && id && w->run->job_scope)
        nino_node_pictures_add(tab, id, w->run->job_scope, path);
}

// Warnings come in the worker's log too, which is shown whole.
static void on_window_events_message(NinoWindow *w, const nino_event *ev)
{
    if (ev->u.scope.arg0 != NINO_LOG_INFO)
        return;
    w->run->n_kept = MAX(w->run->n_kept, ev->u.scope.arg1);
    nino_window_log(w, NINO_LOG_INFO, nino_engine_name(w->engine, ev->name));
    if (ev->u.scope.arg1)
        nino_window_kept(w);
}

static void on_window_events_step(struct NinoRunState *r, const nino_event *ev)
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
    const Scope *s = node_scope(w, ev->parent);
    g_free(r->preview_node);
    r->preview_node = s && s->name ? window_events_id_of(s) : NULL;
    r->preview_step = ev->u.step.step;
    r->preview_total = ev->u.step.total;
    r->preview_s = ev->u.step.seconds;
    r->previews_total_s += ev->u.step.seconds;
    r->has_preview = TRUE;
}

// It says so before the nodes begin; those that nobody needs then never do.
static void on_cached(NinoWindow *w, const char *name)
{
    NinoTab *tab = nino_window_run_tab(w);
    g_hash_table_add(w->run->cached, g_strdup(name));
    if (tab)
        nino_tab_mark_end(tab, name, -1, 0, NINO_NODE_CACHED);
}

static void on_event(NinoWindow *w, const nino_event *ev)
{
    struct NinoRunState *r = w->run;
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
    case NINO_EV_DEVICE:
    case NINO_EV_HOST: r->has_memory = TRUE; break; // its load is beside it
    case NINO_EV_CACHE:
        if (ev->sub == NINO_CACHE_NODE && ev->u.scope.arg0)
            on_cached(w, nino_engine_name(w->engine, ev->name));
        break;
    case NINO_EV_STEP_INFO: on_window_events_step(r, ev); break;
    case NINO_EV_PREVIEW: on_preview(w, ev); break;
    case NINO_EV_OUTPUT: on_window_events_output(w, ev); break;
    case NINO_EV_MESSAGE: on_window_events_message(w, ev); break;
    case NINO_EV_CHOICE:
        nino_window_log(w, NINO_LOG_INFO, nino_engine_name(w->engine, ev->name));
        break;
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
            nino_window_keep_run(w);
            nino_run_set_live(w->records, TRUE); // the queue may tell later
            nino_run_restart(w->records, ev[i].t_ns);
            from = i;
        }
        const gboolean is_end = ev[i].kind == NINO_EV_END && ev[i].id == w->run->job_scope;
        if (is_end)
            nino_window_keep_run_later(w);
        on_event(w, &ev[i]);
        w->run->is_over |= is_end;
        if (is_end || ev[i].kind == NINO_EV_JOB || ev[i].kind == NINO_EV_LOST)
            nino_window_end_jobs(w, ev[i].kind == NINO_EV_LOST);
    }
    if (!w->run->is_lost)
        nino_run_add(w->records, ev + from, n - from, nino_engine_name, w->engine);
    if (w->run->is_over)
        nino_window_tell_live(w);
    nino_run_set_rate(w->records, wanted_hz());
    refresh_later(w);
}

// ---- start and end ------------------------------------------------------------------------------

void nino_window_events_init(NinoWindow *w)
{
    w->run = g_new0(struct NinoRunState, 1);
    w->run->scopes = g_hash_table_new_full(NULL, NULL, NULL, scope_free);
    w->run->cached = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_signal_connect(w->engine, "events", G_CALLBACK(on_events), w);
}

void nino_window_events_dispose(NinoWindow *w)
{
    g_clear_handle_id(&w->refresh_timer, g_source_remove);
    if (w->run) {
        forget_run(w->run);
        g_hash_table_unref(w->run->scopes);
        g_hash_table_unref(w->run->cached);
    }
    g_clear_pointer(&w->run, g_free);
}
