// Watching a run that somebody else started: its workflow opens as a graph, with what its nodes did so far.
#include "window/window_priv.h"

#include <string.h>

#include "base/i18n.h"

// ---- its workflow -------------------------------------------------------------------------------

typedef struct WorkflowAsked {
    NinoWindow *w; // weak
    guint64 job;
    char *name;
} WorkflowAsked;

static void show_workflow(NinoWindow *w, guint64 job, const char *name, const char *text)
{
    NinoTab *tab = nino_window_tab(w);
    const gboolean reuse = tab && nino_tab_is_empty(tab);
    g_autoptr(GError) error = NULL;
    if (!reuse)
        tab = nino_window_add_tab(w);
    if (!nino_tab_open_text(tab, text, strlen(text), name, &error)) {
        if (!reuse)
            nino_window_remove_tab(w, tab);
        nino_window_log(w, NINO_LOG_WARN, error->message);
        return;
    }
    g_hash_table_replace(w->job_tabs, g_memdup2(&job, sizeof(job)), g_strdup(nino_tab_uid(tab)));
    nino_window_tabs_update(w);
    nino_window_check(w);
    nino_window_run_is_of(w, tab, job);
}

static void on_workflow(gpointer user, const nino_control_reply *reply)
{
    WorkflowAsked *q = user;
    if (q->w) {
        if (reply && !reply->err.code && *reply->text)
            show_workflow(q->w, q->job, q->name, reply->text);
        g_object_remove_weak_pointer(G_OBJECT(q->w), (gpointer *) &q->w);
    }
    g_free(q->name);
    g_free(q);
}

void nino_window_attach_look(NinoWindow *w)
{
    const NinoJob *j = nino_engine_running(w->engine);
    if (!nino_engine_is_attached(w->engine) || !j || j->id == w->watched_job)
        return;
    w->watched_job = j->id;
    if (nino_window_job_tab(w, j)) // it is open
        return;
    WorkflowAsked *q = g_new0(WorkflowAsked, 1);
    *q = (WorkflowAsked){ w, j->id, g_path_get_basename(j->name) };
    g_object_add_weak_pointer(G_OBJECT(w), (gpointer *) &q->w);
    const nino_control c = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_WORKFLOW, .job = j->id };
    nino_engine_send(w->engine, &c, on_workflow, q);
}

// What was watched is over: nodes that were not reached wait for nothing any more.
void nino_window_attach_end(NinoWindow *w)
{
    NinoTab *tab = w->watched_job ? nino_window_run_tab(w) : NULL;
    if (tab)
        nino_tab_mark_over(tab);
    w->watched_job = 0;
    nino_bar_hide(w->bar, "attach");
}

// ---- actions ------------------------------------------------------------------------------------

void nino_window_attach(NinoWindow *w, const char *target)
{
    g_autoptr(GError) error = NULL;
    w->watched_job = 0;
    if (!nino_engine_attach(w->engine, *target && strcmp(target, "newest") != 0 ? target : NULL,
                            &error)) {
        nino_bar_show(w->bar, "attach", NINO_BAR_ERROR, error->message, NULL);
        return;
    }
    const NinoBarButton detach[] = { { _("Detach"), "win.detach" }, { 0 } };
    g_autofree char *text = g_strdup_printf(_("Watching process %d"), nino_engine_pid(w->engine));
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
        char *label = g_strdup_printf("%d: %s", runs[i].pid,
                                      *runs[i].title ? runs[i].title : _("idle worker"));
        char *action = g_strdup_printf("win.attach::%d", runs[i].pid);
        g_ptr_array_add(texts, label);
        g_ptr_array_add(texts, action);
        buttons[k++] = (NinoBarButton){ label, action };
    }
    nino_bar_show(w->bar, "attach", k ? NINO_BAR_INFO : NINO_BAR_NEWS,
                  k ? _("Watch a run of this machine:") : _("No other run of yours is alive"),
                  buttons);
}

void nino_window_attach_init(NinoWindow *w)
{
    static const GActionEntry actions[] = {
        { .name = "attach-list", .activate = action_attach_list },
        { .name = "attach", .activate = action_attach, .parameter_type = "s" },
        { .name = "detach", .activate = action_detach },
    };
    g_action_map_add_action_entries(G_ACTION_MAP(w), actions, G_N_ELEMENTS(actions), w);
}
