// Rows are made anew when the queue is another one; progress changes labels only.
#include "engine/queue_priv.h"

#include <math.h>

#include "base/empty.h"
#include "base/i18n.h"
#include "base/scroller.h"
#include "base/tokens.h"

G_DEFINE_TYPE(NinoQueuePanel, nino_queue_panel, GTK_TYPE_WIDGET)

char *nino_duration_text(double s)
{
    if (!(s >= 0) || s > 1e7)
        return g_strdup("–");
    if (s < 10)
        return g_strdup_printf("%.1f s", s);
    const int n = (int) round(s);
    if (n < 60)
        return g_strdup_printf("%d s", n);
    if (n < 3600)
        return g_strdup_printf("%d min %02d s", n / 60, n % 60);
    return g_strdup_printf("%d h %02d min", n / 3600, n / 60 % 60);
}

// ---- estimates ----------------------------------------------------------------------------------

// Seeds, prompts, names and titles do not decide how long a run takes; models, sizes and steps do.
char *nino_queue_content(const char *workflow, gsize len)
{
    static GRegex *free_values;
    if (!free_values)
        free_values = g_regex_new("\"(seed|noise_seed|text|filename_prefix|title)\"\\s*:\\s*"
                                  "(\"(\\\\.|[^\"\\\\])*\"|-?[0-9]+)",
                                  G_REGEX_OPTIMIZE, 0, NULL);
    nino_graph *g = nino_graph_load(workflow, len, "workflow", NULL);
    size_t n = 0;
    const char *api = g ? nino_graph_api_json(g, &n) : NULL;
    g_autofree char *rest =
        api ? g_regex_replace_literal(free_values, api, (gssize) n, 0, "", 0, NULL) : NULL;
    nino_graph_destroy(&g);
    return rest ? g_compute_checksum_for_string(G_CHECKSUM_SHA256, rest, -1) : NULL;
}

void nino_queue_panel_tell(NinoQueuePanel *p, guint64 job, const char *content)
{
    if (content)
        g_hash_table_replace(p->contents, g_memdup2(&job, sizeof(job)), g_strdup(content));
}

const char *nino_queue_panel_content(NinoQueuePanel *p, guint64 job)
{
    return g_hash_table_lookup(p->contents, &job);
}

double nino_queue_panel_seconds(NinoQueuePanel *p, const char *content)
{
    const double *s = content ? g_hash_table_lookup(p->seconds, content) : NULL;
    return s ? *s : NAN;
}

GHashTable *nino_queue_panel_values(NinoQueuePanel *p, guint64 job)
{
    return g_hash_table_lookup(p->values, &job);
}

static void learn(NinoQueuePanel *p, GPtrArray *jobs)
{
    for (guint i = jobs->len; i-- > 0;) { // the newest comes first in the list and wins
        const NinoJob *j = jobs->pdata[i];
        if (j->state != NINO_QUEUE_DONE || j->started_s <= 0 || j->ended_s < j->started_s)
            continue;
        const char *content = nino_queue_panel_content(p, j->id);
        if (!content) // of another session
            continue;
        double *s = g_new(double, 1);
        *s = j->ended_s - j->started_s;
        g_hash_table_replace(p->seconds, g_strdup(content), s);
    }
}

// When each waiting job will be done, from how long it took the last time.
static void show_estimates(NinoQueuePanel *p)
{
    GPtrArray *jobs = nino_engine_jobs(p->engine);
    double at = 0;
    guint row = 0;
    for (guint i = 0; i < jobs->len; i++) {
        const NinoJob *j = jobs->pdata[i];
        if (j->state == NINO_QUEUE_RUNNING)
            at += p->eta_s;
        if (j->state != NINO_QUEUE_WAITING || row >= p->eta_labels->len)
            continue;
        at += nino_queue_panel_seconds(p, nino_queue_panel_content(p, j->id));
        g_autofree char *d = nino_duration_text(at);
        g_autofree char *text =
            isnan(at) ? g_strdup(_("not known yet")) : g_strdup_printf(_("in %s"), d);
        gtk_label_set_text(p->eta_labels->pdata[row++], text);
    }
}

static void show_running(NinoQueuePanel *p)
{
    if (!p->running_label)
        return;
    g_autofree char *left = nino_duration_text(p->eta_s);
    g_autofree char *text = isnan(p->eta_s)
                                ? g_strdup_printf("%.0f %%", p->fraction * 100)
                                : g_strdup_printf(_("%.0f %%, %s left"), p->fraction * 100, left);
    g_autofree char *both =
        p->running_other ? g_strdup_printf("%s · %s", text, p->running_other) : g_strdup(text);
    gtk_label_set_text(GTK_LABEL(p->running_label), both);
    gtk_progress_bar_set_fraction(p->running_bar, CLAMP(p->fraction, 0, 1));
}

void nino_queue_panel_progress(NinoQueuePanel *p, double fraction, double eta_s)
{
    p->fraction = fraction;
    p->eta_s = eta_s;
    show_running(p);
    show_estimates(p);
}

// ---- the list -----------------------------------------------------------------------------------

void nino_queue_panel_rebuild(NinoEngine *engine, gpointer user)
{
    NinoQueuePanel *p = user;
    p->is_stale = p->dragging;
    if (p->dragging) // the row that is held would go
        return;
    p->running_label = NULL;
    p->running_bar = NULL;
    p->running_thumb = NULL;
    g_ptr_array_set_size(p->eta_labels, 0);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(p->list)))
        gtk_list_box_remove(GTK_LIST_BOX(p->list), child);
    GPtrArray *jobs = nino_engine_jobs(engine);
    learn(p, jobs);
    nino_queue_thumbs_keep(p);
    int position = 0;
    gboolean has_ended = FALSE;
    for (guint i = 0; i < jobs->len; i++) {
        const NinoJob *j = jobs->pdata[i];
        has_ended |= j->state > NINO_QUEUE_RUNNING;
        nino_queue_add_row(p, j, j->state == NINO_QUEUE_WAITING ? ++position : 0);
    }
    if (!nino_engine_running(engine)) {
        p->fraction = 0;
        p->eta_s = NAN;
    }
    gtk_widget_set_sensitive(p->clear, has_ended);
    gtk_widget_set_visible(p->empty, jobs->len == 0);
    gtk_widget_set_visible(p->list, jobs->len > 0);
    show_running(p);
    show_estimates(p);
}

void nino_queue_panel_tell_values(NinoQueuePanel *p, guint64 job, GHashTable *values)
{
    if (!values)
        return;
    g_hash_table_replace(p->values, g_memdup2(&job, sizeof(job)), g_hash_table_ref(values));
    nino_queue_panel_rebuild(p->engine, p); // its row may be there already
}

int nino_queue_panel_repeat(NinoQueuePanel *p)
{
    return gtk_spin_button_get_value_as_int(GTK_SPIN_BUTTON(p->times));
}

static void on_clear(GtkButton *b, gpointer user)
{
    (void) b;
    NinoQueuePanel *p = user;
    nino_engine_simple(p->engine, NINO_CONTROL_REMOVE, 0);
}

// ---- building -----------------------------------------------------------------------------------

static GtkWidget *toolbar(NinoQueuePanel *p)
{
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_XS);
    gtk_widget_add_css_class(bar, "bar");
    p->pause = gtk_toggle_button_new();
    gtk_button_set_icon_name(GTK_BUTTON(p->pause), "media-playback-pause-symbolic");
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->pause), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Pause"), -1);
    gtk_button_set_has_frame(GTK_BUTTON(p->pause), FALSE);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(p->pause), "win.pause");
    gtk_widget_set_tooltip_text(p->pause,
                                _("The running job stops after its kernel; no other one starts"));
    GtkWidget *times = p->times = gtk_spin_button_new_with_range(1, 999, 1);
    gtk_editable_set_width_chars(GTK_EDITABLE(times), 2);
    gtk_widget_set_tooltip_text(times, _("How often “Run” adds the workflow"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(times), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Repeat each run"), -1);
    GtkWidget *label = gtk_label_new(_("Repeat"));
    GtkWidget *clear = p->clear = gtk_button_new_from_icon_name("edit-clear-all-symbolic");
    gtk_button_set_has_frame(GTK_BUTTON(clear), FALSE);
    gtk_widget_set_hexpand(clear, TRUE);
    gtk_widget_set_halign(clear, GTK_ALIGN_END);
    gtk_widget_set_tooltip_text(clear, _("Forget the jobs that have ended; their files stay"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(clear), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Clear finished"), -1);
    g_signal_connect(clear, "clicked", G_CALLBACK(on_clear), p);
    GtkWidget *all[] = { p->pause, label, times, clear };
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        gtk_box_append(GTK_BOX(bar), all[i]);
    return bar;
}

static void queue_panel_dispose(GObject *o)
{
    NinoQueuePanel *p = NINO_QUEUE_PANEL(o);
    if (p->engine)
        g_signal_handlers_disconnect_by_data(p->engine, p);
    g_clear_object(&p->engine);
    g_clear_pointer(&p->box, gtk_widget_unparent);
    g_clear_pointer(&p->seconds, g_hash_table_unref);
    g_clear_pointer(&p->contents, g_hash_table_unref);
    g_clear_pointer(&p->running_other, g_free);
    g_clear_pointer(&p->values, g_hash_table_unref);
    g_clear_pointer(&p->eta_labels, g_ptr_array_unref);
    g_clear_pointer(&p->thumbs, g_hash_table_unref);
    G_OBJECT_CLASS(nino_queue_panel_parent_class)->dispose(o);
}

static void nino_queue_panel_class_init(NinoQueuePanelClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = queue_panel_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(klass), GTK_TYPE_BIN_LAYOUT);
    g_signal_new("show-error", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                 G_TYPE_NONE, 3, G_TYPE_UINT64, G_TYPE_STRING, G_TYPE_STRING);
    g_signal_new("retry", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                 G_TYPE_NONE, 1, G_TYPE_UINT64);
}

static void nino_queue_panel_init(NinoQueuePanel *p)
{
    p->seconds = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    p->contents = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    p->values = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                      (GDestroyNotify) g_hash_table_unref);
    p->eta_labels = g_ptr_array_new();
    p->thumbs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_object_unref);
    p->eta_s = NAN;
    p->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_widget_set_parent(p->box, GTK_WIDGET(p));
    gtk_box_append(GTK_BOX(p->box), toolbar(p));
    static const NinoEmpty empty = { "view-list-symbolic",
                                     N_("Nothing is queued; Run (Ctrl+Enter) adds the workflow"),
                                     { { N_("Start a run"), "win.run" },
                                       { N_("Workflows"), "win.drawer::workflows" } } };
    p->empty = nino_empty_new(&empty);
    p->list = gtk_list_box_new();
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(p->list), GTK_SELECTION_NONE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Queue"), -1);
    nino_queue_add_dragging(p);
    GtkWidget *inner = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0),
              *scroller = nino_scroller_new(inner);
    gtk_widget_set_vexpand(scroller, TRUE);
    gtk_box_append(GTK_BOX(inner), p->list);
    gtk_box_append(GTK_BOX(inner), p->empty);
    gtk_box_append(GTK_BOX(p->box), scroller);
}

GtkWidget *nino_queue_panel_new(NinoEngine *engine)
{
    NinoQueuePanel *p = g_object_new(NINO_TYPE_QUEUE_PANEL, NULL);
    p->engine = g_object_ref(engine);
    g_signal_connect(engine, "queue", G_CALLBACK(nino_queue_panel_rebuild), p);
    nino_queue_panel_rebuild(engine, p);
    return GTK_WIDGET(p);
}
