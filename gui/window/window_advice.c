// Advice in the window: tried by runs of the workflow with and without it, and kept. Options of the
// run are preferences here, inputs of nodes are set in the workflow, where it can be undone.
#include "base/i18n.h"
#include "settings/prefs.h"
#include "window/window_priv.h"
#include "live/advice_view.h"

// "--preview-every 12" is the preference "preview-every". False: no such preference.
// *undo (may be NULL) becomes what brings the present value back.
static gboolean set_option(const char *setting, char **undo)
{
    g_auto(GStrv) words = g_strsplit(setting, " ", 2);
    const char *key = words[0] && g_str_has_prefix(words[0], "--") ? words[0] + 2 : "";
    for (const NinoPref *p = nino_prefs; p->key; p++)
        if (!strcmp(p->key, key) && words[1]) {
            if (undo && p->type == NINO_PREF_NUMBER)
                *undo = g_strdup_printf("--%s %.0f", key, nino_prefs_number(key));
            else if (undo)
                *undo = g_strdup_printf("--%s %s", key, nino_prefs_text(key));
            nino_prefs_set(key, words[1]);
            return TRUE;
        }
    return FALSE;
}

static NinoTab *advice_tab(NinoWindow *w)
{
    return nino_window_run_tab(w) ? nino_window_run_tab(w) : nino_window_tab(w);
}

// One run for the experiment of the view; the tab stays as it is.
static gboolean try_once(NinoWindow *w, int action, const char *setting, gboolean is_with)
{
    NinoTab *tab = advice_tab(w);
    gsize len = 0;
    g_autofree char *undo = NULL;
    const char *json = tab ? nino_tab_json(tab, FALSE, &len, NULL) : NULL;
    nino_graph *g = json ? nino_graph_load(json, len, "workflow", NULL) : NULL;
    gboolean ok = g != NULL;
    if (is_with && action == NINO_ADVICE_SET)
        ok = ok && !nino_graph_set(g, setting, NULL);
    if (is_with && action == NINO_ADVICE_OPTION)
        ok = ok && set_option(setting, &undo);
    const char *text = ok ? nino_graph_json(g, &len) : NULL;
    if (text)
        nino_window_queue_workflow(w, tab, text, len, 1, TRUE, NULL, 0);
    if (undo)
        set_option(undo, NULL);
    nino_graph_destroy(&g);
    return text != NULL;
}

static void on_window_advice_try(NinoAdviceView *view, int action, const char *setting,
                                 gboolean is_with, NinoWindow *w)
{
    if (try_once(w, action, setting, is_with))
        return;
    nino_advice_view_cancel(view);
    g_autofree char *text = g_strdup_printf(_("To follow this advice, change: %s"), setting);
    nino_bar_show(w->bar, "advice", NINO_BAR_INFO, text, NULL);
}

static void on_window_advice_apply(NinoAdviceView *view, const char *rule, int action,
                                   const char *setting, NinoWindow *w)
{
    NinoTab *tab = advice_tab(w);
    g_autoptr(GError) error = NULL;
    (void) view, (void) rule;
    if (action == NINO_ADVICE_OPTION) {
        set_option(setting, NULL);
    } else if (tab) {
        gtk_notebook_set_current_page(w->tabs, gtk_notebook_page_num(w->tabs, GTK_WIDGET(tab)));
        if (nino_tab_set(tab, setting, &error))
            nino_tab_graph(tab); // checked now, so that it can run
        else
            nino_window_refuse(w, tab, error->message);
    }
}

void nino_window_add_advice(NinoWindow *w, GtkWidget *view)
{
    if (!NINO_IS_ADVICE_VIEW(view))
        return;
    g_signal_connect_object(view, "try", G_CALLBACK(on_window_advice_try), w, 0);
    g_signal_connect_object(view, "apply", G_CALLBACK(on_window_advice_apply), w, 0);
}
