// The list of advice and its loop: one is tried (advice_trial.c), then kept or reverted.
#include "live/advice_view.h"

#include "base/empty.h"
#include "base/i18n.h"
#include "base/scroller.h"
#include "live/advice_trial.h"
#include "plot/pick_menu.h"
#include "plot/plot.h"
#include "plot/view.h"

#include <math.h>

enum { MAX_ADVICE = 32 };

struct _NinoAdviceView {
    GtkBox parent;
    NinoRun *run;
    GtkWidget *list, *empty, *trial, *trial_label, *keep, *revert;
    nino_advice advice[MAX_ADVICE];
    size_t n;
    char *workflow, *profile;
    gsize workflow_len;
    char **models;
    NinoAdviceTrial tried;
};

G_DEFINE_TYPE(NinoAdviceView, nino_advice_view, GTK_TYPE_BOX)

enum { LOOK, TRY, APPLY, N_SIGNALS };
static guint signals[N_SIGNALS];

// ---- the run -----------------------------------------------------------------------------------

// Advice to show, or in English for what is written into a file. Plans need a device to plan for;
// "ref" is there without OpenCL, the profile says how fast.
static size_t advice_view_advise(const NinoAdviceView *v, gboolean is_shown, nino_advice *out)
{
    nino_graph *g =
        v->workflow ? nino_graph_load(v->workflow, v->workflow_len, "workflow", NULL) : NULL;
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = "ref",
                                .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT,
                                                            .models =
                                                                (const char *const *) v->models } };
    nino_ctx *ctx = g && v->profile ? nino_ctx_create(&p, NULL) : NULL;
    const nino_advice_input in = { NINO_ADVICE_INPUT_INIT,
                                   .history = nino_run_history(v->run),
                                   .graph = g,
                                   .ctx = ctx,
                                   .profile = v->profile,
                                   .translate = is_shown ? nino_i18n_translate : NULL };
    const size_t n = nino_advise(&in, out, MAX_ADVICE);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
    return MIN(n, MAX_ADVICE);
}

// What was shown, as files have it; as it was shown when the run went on meanwhile.
static nino_advice advice_view_in_english(const NinoAdviceView *v, const nino_advice *shown)
{
    g_autofree nino_advice *all = g_new(nino_advice, MAX_ADVICE);
    const size_t n = advice_view_advise(v, FALSE, all);
    for (size_t i = 0; i < n; i++)
        if (g_str_equal(all[i].rule, shown->rule) && g_str_equal(all[i].setting, shown->setting))
            return all[i];
    return *shown;
}

// ---- the loop ----------------------------------------------------------------------------------

static void show_trial(NinoAdviceView *v)
{
    gtk_widget_set_visible(v->trial, v->tried.is_on);
    gtk_widget_set_sensitive(v->keep, v->tried.is_measured);
    if (!v->tried.is_on)
        return;
    g_autofree char *text = nino_advice_trial_text(&v->tried);
    gtk_label_set_text(GTK_LABEL(v->trial_label), text);
}

static void end_trial(NinoAdviceView *v)
{
    nino_advice_trial_end(&v->tried);
    show_trial(v);
}

static void on_advice_view_keep(GtkButton *b, NinoAdviceView *v)
{
    (void) b;
    if (!v->tried.is_on)
        return;
    nino_advice_trial_log(&v->tried, "kept");
    end_trial(v);
    g_signal_emit(v, signals[APPLY], 0, v->tried.advice.rule, (int) v->tried.advice.action,
                  v->tried.advice.setting);
    nino_advice_view_refresh(v);
}

static void on_advice_view_revert(GtkButton *b, NinoAdviceView *v)
{
    (void) b;
    if (!v->tried.is_on)
        return;
    nino_advice_trial_log(&v->tried, "reverted");
    end_trial(v);
    nino_advice_view_refresh(v);
}

void nino_advice_view_cancel(NinoAdviceView *v)
{
    if (v->tried.is_on)
        end_trial(v);
    nino_advice_view_refresh(v);
}

// Asks for the next run of the trial; over: shows what it found.
static void ask_next(NinoAdviceView *v)
{
    const int k = nino_advice_trial_next(&v->tried);
    show_trial(v);
    if (k >= 0)
        g_signal_emit(v, signals[TRY], 0, (int) v->tried.advice.action, v->tried.advice.setting,
                      k == 1);
}

static void advice_view_apply(NinoAdviceView *v, size_t i)
{
    if (i >= v->n || v->tried.is_on)
        return;
    const nino_advice in_english = advice_view_in_english(v, &v->advice[i]); // for the log
    if (!nino_advice_trial_begin(&v->tried, &in_english, v->run))
        return;
    nino_advice_view_refresh(v);
    ask_next(v);
}

static void on_advice_view_apply(GtkButton *b, NinoAdviceView *v)
{
    advice_view_apply(v, GPOINTER_TO_SIZE(g_object_get_data(G_OBJECT(b), "index")));
}

// A run has ended that was asked for. One that failed or was cancelled ends the trial.
static void take_run(NinoAdviceView *v)
{
    const nino_span *job = nino_advice_job(v->run, v->tried.from);
    if (!job)
        return;
    if (!nino_advice_trial_take(&v->tried, v->run, job))
        end_trial(v);
    else
        ask_next(v);
}

// ---- the list ----------------------------------------------------------------------------------

static GtkWidget *advice_view_line(const char *text, const char *css)
{
    GtkWidget *l = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(l), 0);
    gtk_label_set_wrap(GTK_LABEL(l), TRUE);
    gtk_label_set_selectable(GTK_LABEL(l), FALSE);
    if (css)
        gtk_widget_add_css_class(l, css);
    return l;
}

static gboolean can_try(const nino_advice *a)
{
    return a->action == NINO_ADVICE_SET || a->action == NINO_ADVICE_OPTION;
}

static GtkWidget *make_row(NinoAdviceView *v, size_t i)
{
    const nino_advice *a = &v->advice[i];
    char gain[40], text[360];
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_M);
    GtkWidget *words = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_XS);
    GtkWidget *side = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_S);
    gtk_widget_set_hexpand(words, TRUE);
    gtk_box_append(GTK_BOX(words), advice_view_line(a->title, "heading"));
    gtk_box_append(GTK_BOX(words), advice_view_line(a->evidence, NULL));
    g_snprintf(text, sizeof(text), a->changes_result ? _("%s. The result may differ.") : "%s",
               a->how);
    *text = g_ascii_toupper(*text); // after a colon where the command line has it
    gtk_box_append(GTK_BOX(words), advice_view_line(text, "dim-label"));
    if (isfinite(a->gain_s)) {
        nino_format_ns(gain, sizeof(gain), a->gain_s * 1e9);
        g_snprintf(text, sizeof(text), "−%s\n%.0f %%", gain,
                   a->of_s > 0 ? 100 * a->gain_s / a->of_s : 0);
    } else {
        g_snprintf(text, sizeof(text), _("gain not\ncomputable"));
    }
    GtkWidget *amount = gtk_label_new(text);
    gtk_label_set_justify(GTK_LABEL(amount), GTK_JUSTIFY_RIGHT);
    gtk_widget_add_css_class(amount, "numeric");
    gtk_box_append(GTK_BOX(side), amount);
    if (can_try(a)) {
        GtkWidget *b = gtk_button_new_with_label(_("Apply"));
        g_autofree char *tip =
            g_strdup_printf(_("Measure %s in turn with the present setting"), a->setting);
        gtk_widget_set_tooltip_text(b, tip);
        gtk_widget_set_sensitive(b, !v->tried.is_on);
        gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, tip,
                                       -1);
        g_object_set_data(G_OBJECT(b), "index", GSIZE_TO_POINTER(i));
        g_signal_connect(b, "clicked", G_CALLBACK(on_advice_view_apply), v);
        gtk_box_append(GTK_BOX(side), b);
    }
    if (*a->setting) {
        GtkWidget *s = advice_view_line(a->setting, "monospace");
        gtk_label_set_selectable(GTK_LABEL(s), TRUE);
        gtk_box_append(GTK_BOX(words), s);
    }
    gtk_widget_set_valign(side, GTK_ALIGN_CENTER);
    gtk_box_append(GTK_BOX(row), words);
    gtk_box_append(GTK_BOX(row), side);
    gtk_widget_set_margin_top(row, NINO_SPACE_S);
    gtk_widget_set_margin_bottom(row, NINO_SPACE_S);
    gtk_widget_set_margin_start(row, NINO_SPACE_S);
    gtk_widget_set_margin_end(row, NINO_SPACE_S);
    return row;
}

void nino_advice_view_refresh(NinoAdviceView *v)
{
    GtkWidget *child;
    nino_run_draw_begin(v->run);
    g_signal_emit(v, signals[LOOK], 0);
    v->n = advice_view_advise(v, TRUE, v->advice);
    while ((child = gtk_widget_get_first_child(v->list)))
        gtk_list_box_remove(GTK_LIST_BOX(v->list), child);
    for (size_t i = 0; i < v->n; i++) {
        GtkWidget *row = gtk_list_box_row_new();
        gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), make_row(v, i));
        gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                       v->advice[i].title, -1);
        gtk_list_box_append(GTK_LIST_BOX(v->list), row);
    }
    const gboolean has_run = nino_advice_job(v->run, 0) != NULL;
    static const NinoEmpty nothing = { .icon = "object-select-symbolic",
                                       .text = N_("Nothing in this run costs enough to change") };
    nino_empty_say(v->empty, has_run ? &nothing : &nino_empty_no_run,
                   has_run ? NULL : _("Advice appears here when a run has ended"));
    gtk_widget_set_visible(v->empty, v->n == 0);
    gtk_widget_set_visible(v->list, v->n > 0);
    nino_run_draw_end(v->run);
}

// ---- the menu of a row -------------------------------------------------------------------------

static gboolean advice_view_menu(GtkWidget *list, double *x, double *y, GMenu *more, gpointer user)
{
    const NinoAdviceView *v = user;
    GtkListBoxRow *row = nino_pick_list_row_at(list, x, y);
    const int i = row ? gtk_list_box_row_get_index(row) : -1;
    if (i < 0 || (size_t) i >= v->n)
        return FALSE;
    const nino_advice *a = &v->advice[i];
    g_autoptr(GMenu) own = g_menu_new();
    if (can_try(a) && !v->tried.is_on) {
        g_autofree char *apply = g_strdup_printf("advice.apply(%d)", i);
        g_menu_append(own, _("Apply: measure it in turn"), apply);
    }
    if (*a->node) {
        g_autoptr(GMenuItem) item = g_menu_item_new(_("Show its node"), NULL);
        g_menu_item_set_action_and_target(item, "win.show-node", "s", a->node);
        g_menu_append_item(own, item);
    }
    g_autofree char *copy = g_strdup_printf("advice.copy(%d)", i);
    g_menu_append(own, _("Copy as text"), copy);
    g_menu_append_section(more, NULL, G_MENU_MODEL(own));
    return FALSE;
}

static void advice_view_act(GSimpleAction *action, GVariant *parameter, gpointer view)
{
    NinoAdviceView *v = view;
    const size_t i = (size_t) g_variant_get_int32(parameter);
    if (i >= v->n)
        return;
    if (g_str_equal(g_action_get_name(G_ACTION(action)), "apply")) {
        advice_view_apply(v, i);
        return;
    }
    const nino_advice *a = &v->advice[i];
    g_autofree char *text = g_strdup_printf("%s\n%s\n%s%s%s", a->title, a->evidence, a->how,
                                            *a->setting ? "\n" : "", a->setting);
    gdk_clipboard_set_text(gtk_widget_get_clipboard(v->list), text);
}

static void advice_view_add_menu(NinoAdviceView *v)
{
    static const GActionEntry actions[] = {
        { .name = "apply", .activate = advice_view_act, .parameter_type = "i" },
        { .name = "copy", .activate = advice_view_act, .parameter_type = "i" }
    };
    g_autoptr(GSimpleActionGroup) group = g_simple_action_group_new();
    g_action_map_add_action_entries(G_ACTION_MAP(group), actions, G_N_ELEMENTS(actions), v);
    gtk_widget_insert_action_group(GTK_WIDGET(v), "advice", G_ACTION_GROUP(group));
    nino_pick_menu_add(v->list, v->run, advice_view_menu, v);
}

// Advice is about whole runs: it is made when one has ended, not while it runs.
static void on_advice_view_changed(NinoAdviceView *v)
{
    if (nino_run_is_live(v->run))
        return;
    if (v->tried.is_on) { // the list stays as it is meanwhile
        if (!v->tried.is_measured)
            take_run(v);
        return;
    }
    nino_advice_view_refresh(v);
}

// ---- widget ------------------------------------------------------------------------------------

void nino_advice_view_set_workflow(NinoAdviceView *v, const char *json, gsize len,
                                   const char *profile, const char *const *models)
{
    g_free(v->workflow);
    g_free(v->profile);
    g_strfreev(v->models);
    v->workflow = json ? g_strndup(json, len) : NULL;
    v->workflow_len = json ? len : 0;
    v->profile = g_strdup(profile);
    v->models = models ? g_strdupv((char **) (uintptr_t) models) : NULL;
}

static void advice_view_export_rows(GtkWidget *view, NinoRowFn row, gpointer user)
{
    g_autofree nino_advice *all = g_new(nino_advice, MAX_ADVICE);
    const size_t n = advice_view_advise(NINO_ADVICE_VIEW(view), FALSE, all);
    for (size_t i = 0; i < n; i++) {
        const nino_advice *a = &all[i];
        const NinoCell cells[] = { { "rule", a->rule, 0 },
                                   { "title", a->title, 0 },
                                   { "evidence", a->evidence, 0 },
                                   { "gain_s", NULL, a->gain_s },
                                   { "of_s", NULL, a->of_s },
                                   { "how", a->how, 0 },
                                   { "action", nino_advice_action_name(a->action), 0 },
                                   { "setting", a->setting, 0 } };
        row(user, cells, G_N_ELEMENTS(cells));
    }
}

static void advice_view_finalize(GObject *object)
{
    NinoAdviceView *v = NINO_ADVICE_VIEW(object);
    nino_advice_trial_end(&v->tried);
    g_free(v->workflow);
    g_free(v->profile);
    g_strfreev(v->models);
    g_clear_object(&v->run);
    G_OBJECT_CLASS(nino_advice_view_parent_class)->finalize(object);
}

static void nino_advice_view_class_init(NinoAdviceViewClass *c)
{
    G_OBJECT_CLASS(c)->finalize = advice_view_finalize;
    signals[LOOK] = g_signal_new("look", G_TYPE_FROM_CLASS(c), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 0);
    signals[TRY] = g_signal_new("try", G_TYPE_FROM_CLASS(c), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                G_TYPE_NONE, 3, G_TYPE_INT, G_TYPE_STRING, G_TYPE_BOOLEAN);
    signals[APPLY] = g_signal_new("apply", G_TYPE_FROM_CLASS(c), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 3, G_TYPE_STRING, G_TYPE_INT, G_TYPE_STRING);
}

static GtkWidget *button(NinoAdviceView *v, const char *label, GCallback clicked)
{
    GtkWidget *b = gtk_button_new_with_label(label);
    g_signal_connect(b, "clicked", clicked, v);
    gtk_box_append(GTK_BOX(v->trial), b);
    return b;
}

static void nino_advice_view_init(NinoAdviceView *v)
{
    gtk_orientable_set_orientation(GTK_ORIENTABLE(v), GTK_ORIENTATION_VERTICAL);
    v->trial = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S);
    gtk_widget_set_margin_top(v->trial, NINO_SPACE_S);
    gtk_widget_set_margin_start(v->trial, NINO_SPACE_S);
    gtk_widget_set_margin_end(v->trial, NINO_SPACE_S);
    gtk_widget_set_margin_bottom(v->trial, NINO_SPACE_S);
    v->trial_label = advice_view_line("", NULL);
    gtk_widget_set_hexpand(v->trial_label, TRUE);
    gtk_box_append(GTK_BOX(v->trial), v->trial_label);
    v->keep = button(v, _("Keep"), G_CALLBACK(on_advice_view_keep));
    v->revert = button(v, _("Revert"), G_CALLBACK(on_advice_view_revert));
    gtk_widget_set_visible(v->trial, FALSE);
    v->list = gtk_list_box_new();
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(v->list), GTK_SELECTION_NONE);
    gtk_list_box_set_show_separators(GTK_LIST_BOX(v->list), TRUE);
    v->empty = nino_empty_new(&nino_empty_no_run);
    GtkWidget *both = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0),
              *scroll = nino_page_scroller_new(both);
    gtk_box_append(GTK_BOX(both), v->list);
    gtk_box_append(GTK_BOX(both), v->empty);
    gtk_widget_set_vexpand(scroll, TRUE);
    gtk_box_append(GTK_BOX(v), v->trial);
    gtk_box_append(GTK_BOX(v), scroll);
}

static GtkWidget *new_advice_view(NinoRun *run)
{
    static const NinoViewExport x = { .rows = advice_view_export_rows };
    NinoAdviceView *v = g_object_new(NINO_TYPE_ADVICE_VIEW, NULL);
    v->run = g_object_ref(run);
    advice_view_add_menu(v);
    g_signal_connect_object(run, "changed", G_CALLBACK(on_advice_view_changed), v,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "cleared", G_CALLBACK(on_advice_view_changed), v,
                            G_CONNECT_SWAPPED);
    nino_view_set_export(GTK_WIDGET(v), &x);
    nino_advice_view_refresh(v);
    return GTK_WIDGET(v);
}

const NinoViewType nino_view_advice = {
    .id = "advice",
    .title = N_("Advice"),
    .help = N_("What would make such a run faster, with the figures behind it"),
    .create = new_advice_view,
};
