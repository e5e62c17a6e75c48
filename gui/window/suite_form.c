// Boxes to tick for cases and optimisations; the cases follow the suite and its form.
#include "window/suite_form.h"

#include <string.h>

#include "base/i18n.h"
#include "base/tokens.h"

enum { MOST_CASES = 32 };

typedef struct Form {
    GtkWidget *box, *suite, *is_quick, *phase, *cases, *policies, *about;
    void (*changed)(gpointer user);
    gpointer user;
    const char *names[MOST_CASES];
    GtkWidget *tick[MOST_CASES], *policy[NINO_POLICY_COUNT];
    guint n;
} Form;

static const struct {
    const char *label, *help;
} policies[] = {
    [NINO_POLICY_POOL] = { N_("Memory pool"), N_("Use device memory again") },
    [NINO_POLICY_TILES] = { N_("Planned tiles"), N_("Choose tiles by plan, before the run") },
    [NINO_POLICY_LAYOUT] = { N_("Winograd layout"), N_("Convolve 3x3 in Winograd's layout") },
    [NINO_POLICY_CACHE] = { N_("Result cache"), N_("Take results of earlier runs") },
    [NINO_POLICY_BATCHING] = { N_("Batching"), N_("Evaluate prompts together") },
    [NINO_POLICY_PREFETCH] = { N_("Prefetch"), N_("Read weights ahead of their use") },
    [NINO_POLICY_STREAMING] = { N_("Streaming"), N_("Decode clips frame by frame") },
    [NINO_POLICY_ADAPTIVE] = { N_("Adaptive batches"),
                               N_("Batch or not as was faster in earlier evaluations") },
};
G_STATIC_ASSERT(G_N_ELEMENTS(policies) == NINO_POLICY_COUNT);

// What names begin with and is no name of a network or a format.
static const char *const plain[] = { N_("phases"),      N_("load"),   N_("image"),
                                     N_("batch"),       N_("video"),  N_("memory efficiency"),
                                     N_("batch video"), N_("decode"), N_("stream") };

char *nino_suite_title(const char *name)
{
    const size_t n = strcspn(name, "0123456789"), space = n && name[n - 1] == ' ';
    g_autofree char *word = g_strndup(name, n - space);
    for (gsize i = 0; i < G_N_ELEMENTS(plain); i++)
        if (g_str_equal(word, plain[i]))
            return g_strconcat(_(plain[i]), name + n - space, NULL);
    return g_strdup(name);
}

static Form *form_of(GtkWidget *box) { return g_object_get_data(G_OBJECT(box), "form"); }

static const char *chosen_suite(const Form *f)
{
    return nino_suite_names()[gtk_drop_down_get_selected(GTK_DROP_DOWN(f->suite))];
}

static gboolean is_quick(const Form *f)
{
    return gtk_check_button_get_active(GTK_CHECK_BUTTON(f->is_quick));
}

static void on_form_changed(Form *f) { f->changed(f->user); }

// Groups say by their name what a ticked box among them means.
static GtkWidget *form_flow(const char *name)
{
    GtkWidget *flow = gtk_flow_box_new();
    gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(flow), GTK_SELECTION_NONE);
    gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(flow), 8);
    gtk_flow_box_set_min_children_per_line(GTK_FLOW_BOX(flow), 2);
    gtk_accessible_update_property(GTK_ACCESSIBLE(flow), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    return flow;
}

static GtkWidget *form_tick(Form *f, GtkWidget *flow, const char *label, const char *help)
{
    GtkWidget *tick = gtk_check_button_new_with_label(label);
    gtk_widget_set_tooltip_text(tick, help);
    g_signal_connect_swapped(tick, "toggled", G_CALLBACK(on_form_changed), f);
    gtk_flow_box_insert(GTK_FLOW_BOX(flow), tick, -1);
    gtk_widget_set_focusable(gtk_widget_get_parent(tick), FALSE); // the box takes the focus itself
    return tick;
}

static void form_fill(Form *f)
{
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(f->cases)))
        gtk_flow_box_remove(GTK_FLOW_BOX(f->cases), child);
    const size_t n = nino_suite_case_names(chosen_suite(f), is_quick(f), f->names, MOST_CASES);
    f->n = (guint) MIN(n, MOST_CASES);
    for (guint i = 0; i < f->n; i++) {
        g_autofree char *title = nino_suite_title(f->names[i]);
        f->tick[i] = form_tick(f, f->cases, title, _("Measure this case"));
        gtk_check_button_set_active(GTK_CHECK_BUTTON(f->tick[i]), TRUE);
    }
    const gboolean has_phases = strcmp(chosen_suite(f), "load") != 0; // with and without prefetch
    gtk_widget_set_sensitive(f->phase, has_phases);
    gtk_widget_set_sensitive(f->policies, has_phases);
    const char *about = is_quick(f)
                            ? _("The demo's networks; five minutes at most")
                            : _("Networks of full size with random weights, made in the cache "
                                "folder (up to 8 GiB); forty minutes at most");
    gtk_label_set_text(GTK_LABEL(f->about), about);
    gtk_widget_set_tooltip_text(f->about, about); // where there is no room for it
    on_form_changed(f);
}

// The button in it takes the focus: it says what is chosen, and of what.
static void on_form_drop(GObject *drop, GParamSpec *pspec, gpointer name)
{
    (void) pspec;
    GtkStringObject *word = gtk_drop_down_get_selected_item(GTK_DROP_DOWN(drop));
    g_autofree char *text =
        g_strdup_printf("%s: %s", (const char *) name, gtk_string_object_get_string(word));
    gtk_accessible_update_property(GTK_ACCESSIBLE(gtk_widget_get_first_child(GTK_WIDGET(drop))),
                                   GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

static GtkWidget *form_drop(GtkWidget *line, const char *name, const char *const *words)
{
    GtkWidget *label = gtk_label_new(name), *drop = gtk_drop_down_new_from_strings(words);
    gtk_accessible_update_property(GTK_ACCESSIBLE(drop), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    on_form_drop(G_OBJECT(drop), NULL, (gpointer) name);
    g_signal_connect(drop, "notify::selected", G_CALLBACK(on_form_drop), (gpointer) name);
    gtk_box_append(GTK_BOX(line), label);
    gtk_box_append(GTK_BOX(line), drop);
    return drop;
}

static GtkWidget *form_group(const char *title, GtkWidget *flow)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_HAIR),
              *label = gtk_label_new(title);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_widget_add_css_class(label, "dim-label");
    gtk_box_append(GTK_BOX(line), label);
    gtk_box_append(GTK_BOX(line), flow);
    return line;
}

static GtkWidget *form_head(Form *f)
{
    const char *const phases[] = { _("Baseline only"), _("Up to 1: memory"),
                                   _("Up to 2: precision"), _("Up to 3: video"), NULL };
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S);
    g_autoptr(GStrvBuilder) suites = g_strv_builder_new();
    for (const char *const *name = nino_suite_names(); *name; name++) {
        g_autofree char *title = nino_suite_title(*name);
        g_strv_builder_add(suites, title);
    }
    g_auto(GStrv) titles = g_strv_builder_end(suites);
    f->suite = form_drop(line, _("Suite"), (const char *const *) titles);
    f->phase = form_drop(line, _("Phases"), phases);
    gtk_widget_set_tooltip_text(f->phase, _("Each has the optimisations of those before it"));
    gtk_drop_down_set_selected(GTK_DROP_DOWN(f->phase), NINO_PHASE_VIDEO);
    f->is_quick = gtk_check_button_new_with_label(_("Quick"));
    gtk_check_button_set_active(GTK_CHECK_BUTTON(f->is_quick), TRUE);
    gtk_widget_set_tooltip_text(f->is_quick, _("Small pictures by the demo's networks"));
    f->about = gtk_label_new("");
    gtk_label_set_ellipsize(GTK_LABEL(f->about), PANGO_ELLIPSIZE_END);
    gtk_label_set_xalign(GTK_LABEL(f->about), 0);
    gtk_widget_set_hexpand(f->about, TRUE);
    gtk_widget_add_css_class(f->about, "dim-label");
    gtk_box_append(GTK_BOX(line), f->is_quick);
    gtk_box_append(GTK_BOX(line), f->about);
    return line;
}

GtkWidget *nino_suite_form_new(void (*changed)(gpointer user), gpointer user)
{
    Form *f = g_new0(Form, 1);
    f->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_S);
    f->changed = changed;
    f->user = user;
    g_object_set_data_full(G_OBJECT(f->box), "form", f, g_free);
    f->cases = form_flow(_("Cases"));
    f->policies = form_flow(_("Also without each of"));
    gtk_box_append(GTK_BOX(f->box), form_head(f));
    gtk_box_append(GTK_BOX(f->box), form_group(_("Cases"), f->cases));
    gtk_box_append(GTK_BOX(f->box),
                   form_group(_("The last phase also without each of these alone"), f->policies));
    for (int i = 0; i < NINO_POLICY_COUNT; i++)
        f->policy[i] = form_tick(f, f->policies, _(policies[i].label), _(policies[i].help));
    g_signal_connect_swapped(f->suite, "notify::selected", G_CALLBACK(form_fill), f);
    g_signal_connect_swapped(f->is_quick, "toggled", G_CALLBACK(form_fill), f);
    form_fill(f);
    return f->box;
}

gboolean nino_suite_form_has_cases(GtkWidget *form)
{
    const Form *f = form_of(form);
    for (guint i = 0; i < f->n; i++)
        if (gtk_check_button_get_active(GTK_CHECK_BUTTON(f->tick[i])))
            return TRUE;
    return FALSE;
}

const char **nino_suite_form_get(GtkWidget *form, NinoSuiteAsk *out)
{
    const Form *f = form_of(form);
    const char **cases = g_new0(const char *, MOST_CASES + 1);
    guint n = 0;
    out->suite = chosen_suite(f);
    out->is_quick = is_quick(f);
    out->last = (nino_phase) gtk_drop_down_get_selected(GTK_DROP_DOWN(f->phase));
    for (guint i = 0; i < f->n; i++)
        if (gtk_check_button_get_active(GTK_CHECK_BUTTON(f->tick[i])))
            cases[n++] = f->names[i];
    for (int i = 0; i < NINO_POLICY_COUNT; i++)
        if (gtk_check_button_get_active(GTK_CHECK_BUTTON(f->policy[i])))
            out->without |= NINO_POLICY_BIT(i);
    return cases;
}
