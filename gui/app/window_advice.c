// Advice in the window: what a view of advice asks for is done to the workflow in front (or to the
// preferences, for options of the run), and the workflow runs again.
#include "app/prefs.h"
#include "app/window_priv.h"
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

static gboolean change(NinoWindow *w, const char *setting)
{
    g_autoptr(GError) error = NULL;
    NinoTab *tab = nino_window_tab(w);
    if (!tab || nino_tab_set(tab, setting, &error))
        return tab != NULL;
    nino_bar_show(w->bar, "advice", NINO_BAR_ERROR, error->message, NULL);
    return FALSE;
}

static void on_apply(NinoAdviceView *view, const char *rule, int action, const char *setting,
                     NinoWindow *w)
{
    (void) rule;
    gboolean done = FALSE;
    char *undo = NULL;
    if (action == NINO_ADVICE_SET) {
        done = change(w, setting);
    } else if (action == NINO_ADVICE_OPTION && !(done = set_option(setting, &undo))) {
        g_autofree char *text = g_strdup_printf("%s: the worker takes it when it starts", setting);
        nino_bar_show(w->bar, "advice", NINO_BAR_ERROR, text, NULL);
    }
    g_object_set_data_full(G_OBJECT(view), "option-undo", undo, g_free);
    if (done)
        g_action_group_activate_action(G_ACTION_GROUP(w), "run", NULL);
    else
        nino_advice_view_cancel(view);
}

static void on_revert(NinoAdviceView *view, const char *setting, NinoWindow *w)
{
    const char *option = g_object_get_data(G_OBJECT(view), "option-undo");
    if (*setting)
        change(w, setting);
    else if (option)
        set_option(option, NULL);
}

// The advice is about the run that is shown, whose workflow is most likely the one in front.
static void on_look(NinoAdviceView *view, NinoWindow *w)
{
    NinoTab *tab = nino_window_tab(w);
    gsize len = 0;
    const char *json = tab ? nino_tab_json(tab, FALSE, &len, NULL) : NULL;
    nino_advice_view_set_workflow(view, json, len, NULL, (const char *const *) w->options.models);
}

void nino_window_add_advice(NinoWindow *w, GtkWidget *view)
{
    if (!NINO_IS_ADVICE_VIEW(view))
        return;
    g_signal_connect_object(view, "look", G_CALLBACK(on_look), w, 0);
    g_signal_connect_object(view, "apply", G_CALLBACK(on_apply), w, 0);
    g_signal_connect_object(view, "revert", G_CALLBACK(on_revert), w, 0);
}
