// The window and the worker: what is queued, what the run says, and what to do when it dies.
#include "window/window_priv.h"

#include <math.h>
#include <string.h>

#include "engine/forecast.h"
#include "base/i18n.h"
#include "plot/kept_runs.h"

#define MAX_LOG_LINES 2000

// ---- what can be done now -----------------------------------------------------------------------

static const char *state_now(NinoWindow *w)
{
    NinoTab *tab = nino_window_tab(w);
    if (nino_engine_running(w->engine) || w->ending->len)
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
    nino_window_set_enabled(w, "grid", can_run);
    nino_window_set_enabled(w, "queue-grid", can_run);
    nino_window_set_enabled(w, "run-again", nino_window_can_run_again(w) || can_run);
    nino_window_set_enabled(w, "measure-again", nino_window_can_run_again(w) || can_run);
    nino_window_set_enabled(w, "cancel", nino_engine_running(w->engine) != NULL);
    gtk_widget_set_visible(GTK_WIDGET(w->progress), nino_engine_running(w->engine) != NULL);
    nino_window_set_enabled(w, "pause", s == NINO_ENGINE_READY);
    nino_window_set_enabled(w, "trim", s == NINO_ENGINE_READY);
    nino_window_set_enabled(w, "detach", nino_engine_is_attached(w->engine));
    nino_window_set_state_bool(w, "pause", nino_engine_is_paused(w->engine));
    static const char *const names[] = { "off", "starting", "ready", "dead" };
    nino_window_set_state_text(w, "worker", names[s]);
    nino_window_set_state_text(w, "state", state_now(w));
    g_autofree char *with =
        g_strdup_printf(_("What the worker computes with: %s"), nino_engine_device(w->engine));
    gtk_label_set_text(w->device, nino_engine_device(w->engine));
    gtk_widget_set_tooltip_text(GTK_WIDGET(w->device), with);
    nino_window_ahead_later(w);
}

// ---- what the worker tells -----------------------------------------------------------------------

static void show_paused(NinoWindow *w)
{
    NinoTab *tab = nino_engine_running(w->engine) ? nino_window_run_tab(w) : NULL;
    const char *node = nino_window_running_node(w);
    if (tab && node)
        nino_tab_mark_paused(tab, node, nino_engine_is_paused(w->engine));
}

static void on_window_run_queue(NinoEngine *engine, gpointer user)
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
                g_array_append_val(w->ending, j->id);
        }
    }
    nino_window_attach_look(w);
    nino_window_end_jobs(w, FALSE);
    show_paused(w);
    nino_window_show_memory(w);
    nino_window_tell_live(w);
    const char *notice = nino_engine_notice(engine);
    const NinoBarButton resume[] = { { _("Go on"), "win.resume" }, { 0 } };
    if (*notice)
        nino_bar_show(w->bar, "notice", NINO_BAR_WARNING, notice, resume);
    else
        nino_bar_hide(w->bar, "notice");
    g_autofree char *title =
        waiting ? g_strdup_printf(_("Queue (%u)"), waiting) : g_strdup(_("Queue"));
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
    if (nino_engine_state(engine) != NINO_ENGINE_READY)
        nino_window_end_jobs(w, TRUE); // no more events of them
    nino_window_tell_live(w);
    switch (nino_engine_state(engine)) {
    case NINO_ENGINE_DEAD: {
        const NinoBarButton restart[] = { { _("Restart the worker"), "win.restart-worker" },
                                          { 0 } };
        g_autofree char *text = g_strdup_printf(
            _("%s. Workflows, queue and finished results are kept."), nino_engine_message(engine));
        nino_bar_show(w->bar, "worker", NINO_BAR_ERROR, text, restart);
        NinoTab *tab = job_was_lost(engine) ? nino_window_run_tab(w) : NULL;
        if (tab && nino_window_running_node(w)) {
            g_object_set_data(G_OBJECT(tab), "run-state", (gpointer) "failed");
            nino_tab_mark_end(tab, nino_window_running_node(w), -1, 0, NINO_NODE_KILLED);
        }
        nino_window_lose_run(w);
        nino_window_say(w, _("The worker is not running"));
        break;
    }
    case NINO_ENGINE_STARTING:
        nino_bar_hide(w->bar, "worker");
        nino_window_say(w, _("Starting the worker…"));
        break;
    case NINO_ENGINE_READY:
        nino_bar_hide(w->bar, "worker");
        nino_window_say(w, "");
        break;
    case NINO_ENGINE_OFF:
        nino_window_attach_end(w);
        if (*nino_engine_message(engine))
            nino_window_say(w, nino_engine_message(engine));
        break;
    }
    nino_window_run_update(w);
}

static const char *const level_tags[] = { "error", "warning", "info", "debug" };

void nino_window_log_init(GtkTextView *log)
{
    static const int weights[] = { PANGO_WEIGHT_BOLD, PANGO_WEIGHT_BOLD, PANGO_WEIGHT_NORMAL,
                                   PANGO_WEIGHT_LIGHT };
    for (gsize i = 0; i < G_N_ELEMENTS(level_tags); i++)
        gtk_text_buffer_create_tag(gtk_text_view_get_buffer(log), level_tags[i], "weight",
                                   weights[i], NULL);
}

// "14:02:31  warning  the text"
void nino_window_log(NinoWindow *w, nino_log_level level, const char *line)
{
    const char *const levels[] = { _("error"), _("warning"), _("info"), _("debug") };
    GtkTextBuffer *b = gtk_text_view_get_buffer(w->log);
    GtkTextIter at, cut;
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *clock = g_date_time_format(now, "%H:%M:%S"),
                    *text = g_strdup_printf("%s  %s  %s\n", clock, levels[level], line);
    gtk_widget_set_visible(w->log_empty, FALSE);
    gtk_text_buffer_get_end_iter(b, &at);
    gtk_text_buffer_insert_with_tags_by_name(b, &at, text, -1, level_tags[level], NULL);
    const int extra = gtk_text_buffer_get_line_count(b) - MAX_LOG_LINES;
    if (extra > 0) {
        gtk_text_buffer_get_start_iter(b, &at);
        gtk_text_buffer_get_iter_at_line(b, &cut, extra);
        gtk_text_buffer_delete(b, &at, &cut);
    }
}

// The worker says "warning: ..." itself, and in what stands before it which program speaks.
static void on_window_run_log(NinoEngine *engine, const char *line, gpointer user)
{
    (void) engine;
    const nino_log_level level = strstr(line, "error: ")     ? NINO_LOG_ERROR
                                 : strstr(line, "warning: ") ? NINO_LOG_WARN
                                 : strstr(line, "debug: ")   ? NINO_LOG_DEBUG
                                                             : NINO_LOG_INFO;
    nino_window_log(user, level, line);
}

static void on_refused(NinoEngine *engine, const char *text, gpointer user)
{
    (void) engine;
    nino_bar_show(NINO_WINDOW(user)->bar, "refused", NINO_BAR_ERROR, text, NULL);
}

// ---- actions ------------------------------------------------------------------------------------

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
        if (g_str_equal(table[i].name, name) && nino_engine_state(w->engine) == NINO_ENGINE_READY)
            nino_engine_simple(w->engine, table[i].cmd, 0);
    if (g_str_equal(name, "reload")) // files may have come
        nino_window_check(w);
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

void nino_window_open_trace(NinoWindow *w, const char *path)
{
    g_autoptr(GError) error = NULL;
    if (!nino_run_load(w->records, path, &error)) {
        nino_bar_show(w->bar, "open", NINO_BAR_ERROR, error->message, NULL);
        return;
    }
    nino_bar_hide(w->bar, "open");
    nino_window_show_perspective(w, "profile");
    nino_kept_take(w->records, path, NULL); // one that cannot be kept is shown all the same
    g_autofree char *name = nino_kept_called(path);
    g_autofree char *text = g_strdup_printf(_("Trace %s"), name);
    nino_window_say(w, text);
}

static void on_jump(NinoProblems *p, const char *node, gpointer user)
{
    (void) p;
    NinoTab *tab = nino_window_tab(user);
    if (tab)
        nino_tab_show_node(tab, node);
}

static void on_window_run_plan(gpointer user, const char *text, gboolean fits)
{
    nino_problems_set_plan(NINO_WINDOW(user)->problems, text, fits);
}

static void ask_plan(NinoProblems *p, gpointer user)
{
    NinoWindow *w = user;
    NinoTab *tab = nino_window_tab(w);
    gsize len = 0;
    g_autoptr(GError) error = NULL;
    if (tab)
        nino_tab_graph(tab); // checks it now if that is still to come: a check ends what is planned
    const char *text = tab ? nino_tab_json(tab, FALSE, &len, &error) : NULL;
    if (!text) {
        nino_problems_set_plan(p, error ? error->message : _("No workflow is open"), FALSE);
        return;
    }
    if (g_object_get_data(G_OBJECT(tab), "errors")) {
        nino_problems_set_plan(p, _("First solve what is listed below"), FALSE);
        return;
    }
    nino_problems_set_plan(p, _("Planning…"), TRUE);
    g_cancellable_cancel(w->planning);
    g_clear_object(&w->planning);
    w->planning = g_cancellable_new();
    nino_plan_ask(text, len, (const char *const *) w->options.models, w->options.input,
                  w->options.device, w->planning, on_window_run_plan, w);
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
    NinoTab *tab = nino_window_tab(user);
    if (tab)
        nino_window_refuse(user, tab, text);
}

static void on_job_error(NinoQueuePanel *p, guint64 id, const char *where, const char *text,
                         gpointer user)
{
    (void) p;
    NinoWindow *w = user;
    const char *uid = g_hash_table_lookup(w->job_tabs, &id);
    NinoTab *tab = uid ? nino_window_find_tab(w, uid) : nino_window_tab(w);
    nino_window_show_error(w, tab, where, text, TRUE);
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
        { .name = "cancel", .activate = action_simple },
        { .name = "resume", .activate = action_simple },
        { .name = "trim", .activate = action_simple },
        { .name = "reload", .activate = action_simple },
        { .name = "plan", .activate = action_plan },
        { .name = "pause", .activate = action_pause, .state = "false" },
        { .name = "restart-worker", .activate = action_restart },
        { .name = "show-node", .activate = action_show_node, .parameter_type = "s" },
    };
    g_action_map_add_action_entries(G_ACTION_MAP(w), actions, G_N_ELEMENTS(actions), w);
    w->job_tabs = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    w->ending = g_array_new(FALSE, FALSE, sizeof(guint64));
    nino_window_queue_init(w);
    nino_window_attach_init(w);
    nino_window_live_init(w);
    nino_window_events_init(w);
    g_signal_connect(w->engine, "state", G_CALLBACK(on_engine_state), w);
    g_signal_connect(w->engine, "queue", G_CALLBACK(on_window_run_queue), w);
    nino_window_grid_init(w);
    nino_window_measure_init(w);
    g_signal_connect(w->engine, "log", G_CALLBACK(on_window_run_log), w);
    g_signal_connect(w->engine, "refused", G_CALLBACK(on_refused), w);
    g_signal_connect(w->problems, "jump", G_CALLBACK(on_jump), w);
    g_signal_connect(w->problems, "plan", G_CALLBACK(ask_plan), w);
    g_signal_connect(w->form, "refused", G_CALLBACK(on_form_refused), w);
    g_signal_connect(w->queue, "show-error", G_CALLBACK(on_job_error), w);
    g_signal_connect(w->viewer, "failed", G_CALLBACK(on_viewer_failed), w);
}

void nino_window_run_dispose(NinoWindow *w)
{
    nino_window_live_dispose(w);
    nino_window_events_dispose(w);
    g_clear_handle_id(&w->ahead_timer, g_source_remove);
    g_cancellable_cancel(w->planning);
    g_clear_object(&w->planning);
    if (w->engine)
        g_signal_handlers_disconnect_by_data(w->engine, w);
    g_clear_object(&w->engine);
    nino_window_grid_dispose(w);
    nino_window_measure_dispose(w);
    g_clear_object(&w->records);
    g_clear_pointer(&w->job_tabs, g_hash_table_unref);
    g_clear_pointer(&w->ending, g_array_unref);
}
