// Rows are made anew when the queue is another one; progress changes labels only.
#include "engine/queue_priv.h"

#include <math.h>
#include <string.h>

#include "base/empty.h"
#include "base/i18n.h"
#include "base/scroller.h"
#include "base/tokens.h"
#include "engine/job_values.h"

G_DEFINE_TYPE(NinoQueuePanel, nino_queue_panel, GTK_TYPE_WIDGET)
static guint show_error_signal, retry_signal;

static const char *queue_panel_state_text(NinoQueuePanel *p, const NinoJob *j)
{
    switch (j->state) {
    case NINO_QUEUE_RUNNING: return nino_engine_is_paused(p->engine) ? _("paused") : _("running");
    case NINO_QUEUE_WAITING: return j->lost ? _("waiting (the worker died in it)") : _("waiting");
    case NINO_QUEUE_DONE: return _("done");
    case NINO_QUEUE_FAILED: return j->lost ? _("failed (the worker died in it)") : _("failed");
    case NINO_QUEUE_CANCELLED: return _("cancelled");
    }
    return "";
}

// What the row looks like, told apart without reading: a sign, and the colour that nodes have for it.
static GtkWidget *queue_panel_icon(NinoQueuePanel *p, const NinoJob *j)
{
    static const struct {
        const char *icon, *css;
    } looks[] = {
        [NINO_QUEUE_WAITING] = { "document-open-recent-symbolic", "dim-label" },
        [NINO_QUEUE_RUNNING] = { "media-playback-start-symbolic", "running" },
        [NINO_QUEUE_DONE] = { "object-select-symbolic", "done" },
        [NINO_QUEUE_FAILED] = { "dialog-error-symbolic", "error-text" },
        [NINO_QUEUE_CANCELLED] = { "process-stop-symbolic", "cancelled" },
    };
    const gboolean is_running = j->state == NINO_QUEUE_RUNNING,
                   is_lost = j->lost && !is_running && j->state != NINO_QUEUE_DONE,
                   is_paused = is_running && nino_engine_is_paused(p->engine);
    GtkWidget *icon = gtk_image_new_from_icon_name(is_lost     ? "dialog-warning-symbolic"
                                                   : is_paused ? "media-playback-pause-symbolic"
                                                               : looks[j->state].icon);
    gtk_widget_add_css_class(icon, is_lost ? "killed" : is_paused ? "paused" : looks[j->state].css);
    gtk_widget_set_tooltip_text(icon, queue_panel_state_text(p, j));
    return icon;
}

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

// From the one of the same name that was queued before it; NULL: nothing, or that is not known.
static char *difference_of(NinoQueuePanel *p, const NinoJob *job)
{
    GPtrArray *jobs = nino_engine_jobs(p->engine);
    const NinoJob *before = NULL;
    for (guint i = 0; i < jobs->len; i++) {
        const NinoJob *j = jobs->pdata[i];
        if (j->id < job->id && (!before || j->id > before->id) && !g_strcmp0(j->name, job->name))
            before = j;
    }
    return before ? nino_job_values_differ(nino_queue_panel_values(p, before->id),
                                           nino_queue_panel_values(p, job->id))
                  : NULL;
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

// ---- rows ---------------------------------------------------------------------------------------

static void row_data_free(gpointer p)
{
    NinoQueueRow *d = p;
    g_free(d->where);
    g_free(d->error);
    g_free(d);
}

static const NinoQueueRow *queue_panel_data_of(GtkWidget *button)
{
    GtkWidget *row = gtk_widget_get_ancestor(button, GTK_TYPE_LIST_BOX_ROW);
    return g_object_get_data(G_OBJECT(row), "job");
}

static void on_up(GtkButton *b, gpointer user)
{
    const NinoQueueRow *d = queue_panel_data_of(GTK_WIDGET(b));
    nino_queue_move(user, d, MAX(d->position - 1, 1));
}

static void on_down(GtkButton *b, gpointer user)
{
    const NinoQueueRow *d = queue_panel_data_of(GTK_WIDGET(b));
    nino_queue_move(user, d, d->position + 1);
}

static void on_first(GtkButton *b, gpointer user)
{
    nino_queue_move(user, queue_panel_data_of(GTK_WIDGET(b)), 1);
}

static void on_remove(GtkButton *b, gpointer user)
{
    NinoQueuePanel *p = user;
    nino_engine_simple(p->engine, NINO_CONTROL_REMOVE, queue_panel_data_of(GTK_WIDGET(b))->id);
}

static void on_cancel(GtkButton *b, gpointer user)
{
    NinoQueuePanel *p = user;
    nino_engine_simple(p->engine, NINO_CONTROL_CANCEL, queue_panel_data_of(GTK_WIDGET(b))->id);
}

static void on_queue_panel_retry(GtkButton *b, gpointer user)
{
    g_signal_emit(user, retry_signal, 0, queue_panel_data_of(GTK_WIDGET(b))->id);
}

static void on_show(GtkButton *b, gpointer user)
{
    const NinoQueueRow *d = queue_panel_data_of(GTK_WIDGET(b));
    g_signal_emit(user, show_error_signal, 0, d->id, d->where, d->error);
}

static void queue_panel_add_button(NinoQueuePanel *p, GtkWidget *box, const char *icon,
                                   const char *what, const char *job, GCallback callback)
{
    GtkWidget *b = gtk_button_new_from_icon_name(icon);
    gtk_button_set_has_frame(GTK_BUTTON(b), FALSE);
    gtk_widget_set_valign(b, GTK_ALIGN_CENTER);
    gtk_widget_set_tooltip_text(b, what);
    g_autofree char *name = g_strdup_printf("%s: %s", what, job);
    gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    g_signal_connect(b, "clicked", callback, p);
    gtk_box_append(GTK_BOX(box), b);
}

static void queue_panel_add_buttons(NinoQueuePanel *p, GtkWidget *box, const NinoJob *j)
{
    switch (j->state) {
    case NINO_QUEUE_RUNNING:
        queue_panel_add_button(p, box, "process-stop-symbolic", _("Interrupt"), j->name,
                               G_CALLBACK(on_cancel));
        break;
    case NINO_QUEUE_WAITING:
        queue_panel_add_button(p, box, "go-top-symbolic", _("Run next"), j->name,
                               G_CALLBACK(on_first));
        queue_panel_add_button(p, box, "go-up-symbolic", _("Move up"), j->name, G_CALLBACK(on_up));
        queue_panel_add_button(p, box, "go-down-symbolic", _("Move down"), j->name,
                               G_CALLBACK(on_down));
        queue_panel_add_button(p, box, "edit-delete-symbolic", _("Remove"), j->name,
                               G_CALLBACK(on_remove));
        break;
    case NINO_QUEUE_FAILED:
        queue_panel_add_button(p, box, "find-location-symbolic", _("Show where it failed"), j->name,
                               G_CALLBACK(on_show));
        // fall through
    case NINO_QUEUE_DONE:
    case NINO_QUEUE_CANCELLED:
        queue_panel_add_button(p, box, "view-refresh-symbolic", _("Run again, next"), j->name,
                               G_CALLBACK(on_queue_panel_retry));
        queue_panel_add_button(p, box, "edit-delete-symbolic", _("Remove"), j->name,
                               G_CALLBACK(on_remove));
        break;
    }
}

// Brief: beside the sign that says done.
static char *state_detail(NinoQueuePanel *p, const NinoJob *j, gboolean is_brief)
{
    if (j->state == NINO_QUEUE_FAILED || j->state == NINO_QUEUE_CANCELLED)
        return j->error && *j->error
                   ? g_strdup_printf("%s: %s", queue_panel_state_text(p, j), j->error)
                   : g_strdup(queue_panel_state_text(p, j));
    if (j->state == NINO_QUEUE_DONE && j->ended_s >= j->started_s && j->started_s > 0) {
        g_autofree char *d = nino_duration_text(j->ended_s - j->started_s);
        const guint n = g_strv_length(j->outputs);
        return g_strdup_printf(is_brief
                                   ? ngettext("%s, %u file", "%s, %u files", n)
                                   : ngettext("done in %s, %u file", "done in %s, %u files", n),
                               d, n);
    }
    return g_strdup(queue_panel_state_text(p, j));
}

static char *detail_of(NinoQueuePanel *p, const NinoJob *j, gboolean is_brief)
{
    g_autofree char *state = state_detail(p, j, is_brief), *other = difference_of(p, j);
    return other ? g_strdup_printf("%s · %s", other, state) : g_steal_pointer(&state);
}

static GtkWidget *small_label(const char *text)
{
    GtkWidget *l = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(l), 0);
    gtk_label_set_ellipsize(GTK_LABEL(l), PANGO_ELLIPSIZE_END);
    return l;
}

static void queue_panel_add_row(NinoQueuePanel *p, const NinoJob *j, int position)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_XS);
    gtk_widget_add_css_class(line, "queue-row");
    gtk_box_append(GTK_BOX(line), queue_panel_icon(p, j));
    gtk_box_append(GTK_BOX(line), nino_queue_thumb(p, j));
    GtkWidget *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_HAIR);
    gtk_widget_set_hexpand(texts, TRUE);
    gtk_box_append(GTK_BOX(texts), small_label(j->name));
    g_autofree char *detail = detail_of(p, j, FALSE), *brief = detail_of(p, j, TRUE);
    GtkWidget *second = small_label(brief);
    gtk_widget_set_tooltip_text(second, detail);
    gtk_widget_add_css_class(second, j->state == NINO_QUEUE_FAILED ? "error-text" : "dim-label");
    gtk_widget_add_css_class(second, "numeric");
    gtk_box_append(GTK_BOX(texts), second);
    gtk_box_append(GTK_BOX(line), texts);
    if (j->state == NINO_QUEUE_RUNNING) {
        p->running_label = second;
        g_free(p->running_other);
        p->running_other = difference_of(p, j);
        p->running_bar = GTK_PROGRESS_BAR(gtk_progress_bar_new());
        gtk_accessible_update_property(GTK_ACCESSIBLE(p->running_bar),
                                       GTK_ACCESSIBLE_PROPERTY_LABEL, _("Progress of this job"),
                                       -1);
        gtk_box_append(GTK_BOX(texts), GTK_WIDGET(p->running_bar));
    } else if (j->state == NINO_QUEUE_WAITING) {
        GtkWidget *eta = small_label("");
        gtk_widget_add_css_class(eta, "numeric");
        gtk_widget_add_css_class(eta, "dim-label");
        gtk_widget_set_tooltip_text(eta, _("When it will be done, from how long it took before"));
        gtk_box_append(GTK_BOX(texts), eta);
        g_ptr_array_add(p->eta_labels, eta);
    }
    queue_panel_add_buttons(p, line, j);
    GtkWidget *row = gtk_list_box_row_new();
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), line);
    g_autofree char *name = g_strdup_printf("%s, %s", j->name, detail);
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    NinoQueueRow *d = g_new0(NinoQueueRow, 1);
    d->id = j->id;
    d->position = position;
    d->where = g_strdup(j->error_where ? j->error_where : "");
    d->error = g_strdup(j->error ? j->error : "");
    g_object_set_data_full(G_OBJECT(row), "job", d, row_data_free);
    gtk_list_box_append(GTK_LIST_BOX(p->list), row);
}

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
        queue_panel_add_row(p, j, j->state == NINO_QUEUE_WAITING ? ++position : 0);
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
    show_error_signal =
        g_signal_new("show-error", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                     G_TYPE_NONE, 3, G_TYPE_UINT64, G_TYPE_STRING, G_TYPE_STRING);
    retry_signal = g_signal_new("retry", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 1, G_TYPE_UINT64);
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
