// Advice in the window that is about options of the run: they are preferences here. Applied, the
// workflow runs again; reverted, the old value is back.
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

// Inputs of nodes are set by window_live.c.
static void on_window_advice_apply(NinoAdviceView *view, const char *rule, int action,
                                   const char *setting, NinoWindow *w)
{
    char *undo = NULL;
    (void) rule;
    if (action != NINO_ADVICE_OPTION)
        return;
    const gboolean done = set_option(setting, &undo);
    g_object_set_data_full(G_OBJECT(view), "option-undo", undo, g_free);
    if (!done) { // the window says what to change
        nino_advice_view_cancel(view);
        return;
    }
    g_signal_stop_emission_by_name(view, "apply");
    g_action_group_activate_action(G_ACTION_GROUP(w), "run", NULL);
}

static void on_window_advice_revert(NinoAdviceView *view, const char *setting, NinoWindow *w)
{
    const char *option = g_object_get_data(G_OBJECT(view), "option-undo");
    (void) w;
    if (!*setting && option)
        set_option(option, NULL);
}

void nino_window_add_advice(NinoWindow *w, GtkWidget *view)
{
    if (!NINO_IS_ADVICE_VIEW(view))
        return;
    g_signal_connect_object(view, "apply", G_CALLBACK(on_window_advice_apply), w, 0);
    g_signal_connect_object(view, "revert", G_CALLBACK(on_window_advice_revert), w, 0);
}
