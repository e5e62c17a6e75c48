// What a run of the workflow in front would do, before it is queued: the worker is asked, which decides by
// its own cache, while nothing runs.
#include "window/window_priv.h"

#include <string.h>

#include "base/i18n.h"

enum { WAIT_MS = 200 }; // typing is over

typedef struct AheadAsked {
    NinoWindow *w; // weak
    char *uid;
    guint64 version;
} AheadAsked;

static void show_number(NinoWindow *w, guint n_run, guint n)
{
    g_autofree char *label = n ? g_strdup_printf(_("Run (%u)"), n_run) : g_strdup(_("Run"));
    g_autofree char *tip =
        n ? g_strdup_printf(_("Add the workflow to the queue (Ctrl+Enter): %u of %u nodes would "
                              "run, the results of the others are there"),
                            n_run, n)
          : g_strdup(_("Add the workflow to the queue (Ctrl+Enter)"));
    gtk_button_set_label(w->run_button, label);
    gtk_widget_set_tooltip_text(GTK_WIDGET(w->run_button), tip);
}

static void forget(NinoWindow *w)
{
    NinoTab *tab = nino_window_tab(w);
    if (tab)
        nino_canvas_clear_ahead(nino_tab_canvas(tab));
    show_number(w, 0, 0);
}

// Lines of "run ID", "kept ID", "late ID".
static void show_answer(NinoWindow *w, NinoTab *tab, const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    NinoCanvas *canvas = nino_tab_canvas(tab);
    guint n_run = 0, n = 0;
    nino_canvas_clear_ahead(canvas);
    for (char **l = lines; *l; l++) {
        const char *id = strchr(*l, ' ');
        if (!id)
            continue;
        const gboolean kept = g_str_has_prefix(*l, "kept ");
        n++;
        n_run += !kept;
        nino_canvas_set_ahead(canvas, id + 1, kept ? NINO_AHEAD_KEPT : NINO_AHEAD_RUN);
    }
    show_number(w, n_run, n);
}

static void on_ahead(gpointer user, const nino_control_reply *reply)
{
    AheadAsked *q = user;
    if (q->w) {
        NinoTab *tab = nino_window_find_tab(q->w, q->uid);
        const gboolean is_now = tab && tab == nino_window_tab(q->w) &&
                                nino_document_version(nino_tab_document(tab)) == q->version;
        if (is_now && reply && !reply->err.code && !nino_engine_running(q->w->engine))
            show_answer(q->w, tab, reply->text);
        g_object_remove_weak_pointer(G_OBJECT(q->w), (gpointer *) &q->w);
    }
    g_free(q->uid);
    g_free(q);
}

static gboolean is_idle(NinoWindow *w)
{
    GPtrArray *jobs = nino_engine_jobs(w->engine);
    for (guint i = 0; i < jobs->len; i++)
        if (((const NinoJob *) jobs->pdata[i])->state < NINO_QUEUE_DONE)
            return FALSE;
    return nino_engine_state(w->engine) == NINO_ENGINE_READY && !nino_engine_is_attached(w->engine);
}

static gboolean ask_ahead(gpointer user)
{
    NinoWindow *w = user;
    NinoTab *tab = nino_window_tab(w);
    gsize len = 0;
    w->ahead_timer = 0;
    const gboolean can =
        tab && is_idle(w) && nino_tab_graph(tab) && !g_object_get_data(G_OBJECT(tab), "errors");
    const char *text = can ? nino_tab_json(tab, FALSE, &len, NULL) : NULL;
    if (!text) {
        forget(w);
        return G_SOURCE_REMOVE;
    }
    AheadAsked *q = g_new0(AheadAsked, 1);
    *q = (AheadAsked){ w, g_strdup(nino_tab_uid(tab)),
                       nino_document_version(nino_tab_document(tab)) };
    const nino_job_options options = nino_window_job_options(FALSE);
    const nino_control c = {
        NINO_CONTROL_INIT,     .cmd = NINO_CONTROL_AHEAD,   .workflow = text,
        .workflow_bytes = len, .name = nino_tab_title(tab), .options = &options
    };
    g_object_add_weak_pointer(G_OBJECT(w), (gpointer *) &q->w);
    nino_engine_send(w->engine, &c, on_ahead, q);
    return G_SOURCE_REMOVE;
}

void nino_window_ahead_later(NinoWindow *w)
{
    g_clear_handle_id(&w->ahead_timer, g_source_remove);
    w->ahead_timer = g_timeout_add(WAIT_MS, ask_ahead, w);
}
