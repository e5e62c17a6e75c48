// What is wrong with the workflow; rows are activated with Enter or a click.
#include "workflow/problems.h"

#include <string.h>

#include "base/empty.h"
#include "base/i18n.h"
#include "base/scroller.h"
#include "base/tokens.h"
#include "workflow/problem_row.h"

enum { MAX_SAME = 10, MAX_KINDS = 32 }; // rows about problems of one kind, as the command line has

struct _NinoProblems {
    GtkWidget parent;
    GtkWidget *box, *list, *none, *ask, *plan;
    guint n_errors;
    NinoTab *tab;     // of the rows; only compared
    GPtrArray *found; // of Problem
    struct {
        const char *code;
        nino_issue_severity severity;
        guint n; // 0: no more kinds
    } kind[MAX_KINDS];
    char **models, *input;
};

G_DEFINE_TYPE(NinoProblems, nino_problems, GTK_TYPE_WIDGET)
enum { JUMP, PLAN, N_SIGNALS };
static guint signals[N_SIGNALS];

// Whether one more problem of the kind has a row.
static gboolean problems_is_shown(NinoProblems *p, const nino_issue *issue)
{
    for (guint k = 0; k < MAX_KINDS; k++) {
        if (p->kind[k].n &&
            (!g_str_equal(p->kind[k].code, issue->code) || p->kind[k].severity != issue->severity))
            continue;
        p->kind[k].code = issue->code; // a literal of the library
        p->kind[k].severity = issue->severity;
        return p->kind[k].n++ < MAX_SAME;
    }
    return TRUE;
}

static void problems_add_hidden(NinoProblems *p)
{
    for (guint k = 0; k < MAX_KINDS && p->kind[k].n; k++) {
        if (p->kind[k].n <= MAX_SAME)
            continue;
        const guint n = p->kind[k].n - MAX_SAME;
        g_autofree char *text =
            g_strdup_printf(p->kind[k].severity == NINO_ISSUE_ERROR
                                ? ngettext("and %u more error of this kind (%s)",
                                           "and %u more errors of this kind (%s)", n)
                                : ngettext("and %u more warning of this kind (%s)",
                                           "and %u more warnings of this kind (%s)", n),
                            n, p->kind[k].code);
        GtkWidget *label = gtk_label_new(text), *row = gtk_list_box_row_new();
        gtk_label_set_xalign(GTK_LABEL(label), 0);
        gtk_widget_add_css_class(label, "dim-label");
        gtk_widget_add_css_class(label, "queue-row");
        gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), label);
        gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), FALSE);
        gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, text,
                                       -1);
        gtk_list_box_append(GTK_LIST_BOX(p->list), row);
    }
}

typedef struct Problem {
    nino_issue issue; // its texts are ours
    char *place;      // as the row names it
} Problem;

static Problem *new_problem(const nino_issue *from, NinoTab *tab)
{
    Problem *p = g_new0(Problem, 1);
    nino_issue *i = &p->issue;
    *i = *from;
    p->place = nino_problem_place(from, tab);
    i->node = g_strdup(from->node);
    i->input = g_strdup(from->input);
    i->message = g_strdup(from->message);
    i->class_type = g_strdup(from->class_type);
    return p;
}

static void problem_free(gpointer user)
{
    Problem *p = user;
    g_free((char *) p->issue.node);
    g_free((char *) p->issue.input);
    g_free((char *) p->issue.message);
    g_free((char *) p->issue.class_type);
    g_free(p->place);
    g_free(p);
}

static gboolean is_same(const GPtrArray *a, const GPtrArray *b)
{
    gboolean same = a->len == b->len;
    for (guint k = 0; same && k < a->len; k++) {
        const Problem *p = a->pdata[k], *q = b->pdata[k];
        const nino_issue *x = &p->issue, *y = &q->issue;
        same = x->severity == y->severity && g_str_equal(x->code, y->code) &&
               g_str_equal(x->node, y->node) && g_str_equal(p->place, q->place) &&
               g_str_equal(x->message, y->message) && g_str_equal(x->class_type, y->class_type);
    }
    return same;
}

static void on_problems_issue(void *priv, const nino_issue *issue)
{
    NinoProblems *p = priv;
    const gboolean is_error = issue->severity == NINO_ISSUE_ERROR;
    p->n_errors += is_error;
    if (is_error && *issue->node) {
        g_autofree char *text = *issue->input
                                    ? g_strdup_printf("%s: %s", issue->input, issue->message)
                                    : g_strdup(issue->message);
        nino_canvas_add_issue(nino_tab_canvas(p->tab), issue->node, text);
    }
    g_ptr_array_add(p->found, new_problem(issue, p->tab));
}

// The rows stay where nothing changed: they are checked anew when the window becomes the active one, which is when one of
// their buttons is being pressed.
static void problems_show(NinoProblems *p, GPtrArray *before, NinoTab *tab_before)
{
    if (tab_before == p->tab && is_same(before, p->found))
        return;
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(p->list)))
        gtk_list_box_remove(GTK_LIST_BOX(p->list), child);
    memset(p->kind, 0, sizeof(p->kind));
    for (guint k = 0; k < p->found->len; k++) {
        const Problem *one = p->found->pdata[k];
        if (problems_is_shown(p, &one->issue))
            gtk_list_box_append(
                GTK_LIST_BOX(p->list),
                nino_problem_row_new(&one->issue, p->tab, p->models ? *p->models : "models"));
    }
    problems_add_hidden(p);
}

void nino_problems_set_folders(NinoProblems *p, const char *const *models, const char *input)
{
    g_strfreev(p->models);
    g_free(p->input);
    p->models = models ? g_strdupv((char **) (uintptr_t) models) : NULL;
    p->input = g_strdup(input);
}

// A context of its own each time, so that files that came since are found.
static void problems_check(NinoProblems *p, nino_graph *g)
{
    const nino_ctx_params params = {
        NINO_CTX_PARAMS_INIT, .device = "ref", .translate = nino_i18n_translate,
        .job =
            &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = (const char *const *) p->models,
                                 .input_dir = p->input, .no_files = true }
    };
    nino_ctx *ctx = nino_ctx_create(&params, NULL); // NULL: files are not looked for
    nino_graph_check(g, ctx, on_problems_issue, p);
    nino_ctx_destroy(&ctx);
}

guint nino_problems_check(NinoProblems *p, NinoTab *tab)
{
    static const NinoEmpty no_problems = { "object-select-symbolic",
                                           N_("No problems found"),
                                           { { N_("Start a run"), "win.run" } } };
    g_autoptr(GPtrArray) before = p->found;
    NinoTab *tab_before = p->tab;
    p->found = g_ptr_array_new_with_free_func(problem_free);
    p->n_errors = 0;
    nino_graph *g = tab ? nino_tab_graph(tab) : NULL;
    p->tab = tab;
    if (tab)
        nino_canvas_clear_issues(nino_tab_canvas(tab));
    if (g)
        problems_check(p, g);
    if (tab)
        nino_canvas_show_marks(nino_tab_canvas(tab)); // as soon as the list has them
    problems_show(p, before, tab_before);
    const gboolean is_empty = !gtk_widget_get_first_child(p->list);
    gtk_widget_set_sensitive(p->ask, tab != NULL);
    gtk_widget_set_visible(p->none, is_empty);
    gtk_widget_set_visible(p->list, !is_empty);
    nino_empty_say(p->none, g ? &no_problems : &nino_empty_no_workflow, NULL);
    gtk_widget_set_visible(p->plan, FALSE);
    return p->n_errors;
}

// A line of the plan is what it tells of, two or more spaces, and the figures; or a sentence.
static void add_plan_line(GtkGrid *grid, int row, const char *line)
{
    static const char assumed[] = "assumed: ";
    const char *gap = strstr(line, "  "), *value = gap ? gap + strspn(gap, " ") : line;
    GtkWidget *text;
    if (gap) {
        g_autofree char *key = g_strndup(line, (gsize) (gap - line));
        const gboolean is_assumed = !strcmp(key, "~") && g_str_has_prefix(value, assumed);
        GtkWidget *name = gtk_label_new(is_assumed ? _("assumed") : key);
        gtk_label_set_xalign(GTK_LABEL(name), 0);
        gtk_widget_set_valign(name, GTK_ALIGN_START);
        gtk_widget_add_css_class(name, "dim-label");
        gtk_grid_attach(grid, name, 0, row, 1, 1);
        value += is_assumed ? strlen(assumed) : 0;
    }
    text = gtk_label_new(value);
    gtk_label_set_xalign(GTK_LABEL(text), 0);
    gtk_label_set_wrap(GTK_LABEL(text), TRUE);
    gtk_label_set_selectable(GTK_LABEL(text), TRUE);
    gtk_widget_set_hexpand(text, TRUE);
    gtk_grid_attach(grid, text, gap ? 1 : 0, row, gap ? 1 : 2, 1);
}

void nino_problems_set_plan(NinoProblems *p, const char *text, gboolean fits)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(p->plan)))
        gtk_grid_remove(GTK_GRID(p->plan), child);
    for (int i = 0; lines[i]; i++)
        add_plan_line(GTK_GRID(p->plan), i, lines[i]);
    gtk_widget_set_visible(p->plan, TRUE);
    if (fits)
        gtk_widget_remove_css_class(p->plan, "error-text");
    else
        gtk_widget_add_css_class(p->plan, "error-text");
}

static void on_problems_row(GtkListBox *list, GtkListBoxRow *row, gpointer user)
{
    (void) list;
    const char *node = g_object_get_data(G_OBJECT(row), "node");
    if (*node)
        g_signal_emit(user, signals[JUMP], 0, node);
}

static void on_problems_plan(GtkButton *b, gpointer user)
{
    (void) b;
    g_signal_emit(user, signals[PLAN], 0);
}

static void problems_dispose(GObject *o)
{
    NinoProblems *p = NINO_PROBLEMS(o);
    g_clear_pointer(&p->models, g_strfreev);
    g_clear_pointer(&p->input, g_free);
    g_clear_pointer(&p->found, g_ptr_array_unref);
    g_clear_pointer(&NINO_PROBLEMS(o)->box, gtk_widget_unparent);
    G_OBJECT_CLASS(nino_problems_parent_class)->dispose(o);
}

static void nino_problems_class_init(NinoProblemsClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = problems_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(klass), GTK_TYPE_BIN_LAYOUT);
    signals[JUMP] = g_signal_new("jump", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
    signals[PLAN] = g_signal_new("plan", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 0);
}

static void nino_problems_init(NinoProblems *p)
{
    p->found = g_ptr_array_new_with_free_func(problem_free);
    p->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_widget_set_parent(p->box, GTK_WIDGET(p));
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S);
    gtk_widget_add_css_class(bar, "bar");
    p->ask = gtk_button_new_with_label(_("What does it need?"));
    gtk_widget_set_sensitive(p->ask, FALSE);
    gtk_widget_set_tooltip_text(p->ask, _("Plans the run: memory needed and free, work, time"));
    g_signal_connect(p->ask, "clicked", G_CALLBACK(on_problems_plan), p);
    p->plan = gtk_grid_new();
    gtk_grid_set_column_spacing(GTK_GRID(p->plan), NINO_SPACE_M);
    gtk_grid_set_row_spacing(GTK_GRID(p->plan), NINO_SPACE_XS);
    gtk_widget_add_css_class(p->plan, "bar");
    gtk_widget_set_visible(p->plan, FALSE);
    gtk_box_append(GTK_BOX(bar), p->ask);
    p->none = nino_empty_new(&nino_empty_no_workflow);
    p->list = gtk_list_box_new();
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(p->list), GTK_SELECTION_BROWSE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Problems of the workflow"), -1);
    g_signal_connect(p->list, "row-activated", G_CALLBACK(on_problems_row), p);
    GtkWidget *inner = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(inner), p->plan); // of several lines: it scrolls, too
    gtk_box_append(GTK_BOX(inner), p->none);
    gtk_box_append(GTK_BOX(inner), p->list);
    GtkWidget *scroller = nino_page_scroller_new(inner);
    gtk_widget_set_vexpand(scroller, TRUE);
    gtk_box_append(GTK_BOX(p->box), bar);
    gtk_box_append(GTK_BOX(p->box), scroller);
}

GtkWidget *nino_problems_new(void) { return g_object_new(NINO_TYPE_PROBLEMS, NULL); }
