// A row of the queue: how the job is, in a sign, words and figures, and what can be done with it.
#include "engine/queue_priv.h"

#include "base/i18n.h"
#include "base/tokens.h"
#include "engine/job_values.h"

// ---- what can be done ---------------------------------------------------------------------------

static const NinoQueueRow *queue_row_data_of(GtkWidget *button)
{
    GtkWidget *row = gtk_widget_get_ancestor(button, GTK_TYPE_LIST_BOX_ROW);
    return g_object_get_data(G_OBJECT(row), "job");
}

static void on_up(GtkButton *b, gpointer user)
{
    const NinoQueueRow *d = queue_row_data_of(GTK_WIDGET(b));
    nino_queue_move(user, d, MAX(d->position - 1, 1));
}

static void on_down(GtkButton *b, gpointer user)
{
    const NinoQueueRow *d = queue_row_data_of(GTK_WIDGET(b));
    nino_queue_move(user, d, d->position + 1);
}

static void on_first(GtkButton *b, gpointer user)
{
    nino_queue_move(user, queue_row_data_of(GTK_WIDGET(b)), 1);
}

static void on_remove(GtkButton *b, gpointer user)
{
    NinoQueuePanel *p = user;
    nino_engine_simple(p->engine, NINO_CONTROL_REMOVE, queue_row_data_of(GTK_WIDGET(b))->id);
}

static void on_cancel(GtkButton *b, gpointer user)
{
    NinoQueuePanel *p = user;
    nino_engine_simple(p->engine, NINO_CONTROL_CANCEL, queue_row_data_of(GTK_WIDGET(b))->id);
}

static void on_queue_row_retry(GtkButton *b, gpointer user)
{
    g_signal_emit_by_name(user, "retry", queue_row_data_of(GTK_WIDGET(b))->id);
}

static void on_show(GtkButton *b, gpointer user)
{
    const NinoQueueRow *d = queue_row_data_of(GTK_WIDGET(b));
    g_signal_emit_by_name(user, "show-error", d->id, d->where, d->error);
}

static void queue_row_add_button(NinoQueuePanel *p, GtkWidget *box, const char *icon,
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

static void queue_row_add_buttons(NinoQueuePanel *p, GtkWidget *box, const NinoJob *j)
{
    switch (j->state) {
    case NINO_QUEUE_RUNNING:
        queue_row_add_button(p, box, "process-stop-symbolic", _("Interrupt"), j->name,
                             G_CALLBACK(on_cancel));
        break;
    case NINO_QUEUE_WAITING:
        queue_row_add_button(p, box, "go-top-symbolic", _("Run next"), j->name,
                             G_CALLBACK(on_first));
        queue_row_add_button(p, box, "go-up-symbolic", _("Move up"), j->name, G_CALLBACK(on_up));
        queue_row_add_button(p, box, "go-down-symbolic", _("Move down"), j->name,
                             G_CALLBACK(on_down));
        queue_row_add_button(p, box, "edit-delete-symbolic", _("Remove"), j->name,
                             G_CALLBACK(on_remove));
        break;
    case NINO_QUEUE_FAILED:
        queue_row_add_button(p, box, "find-location-symbolic", _("Show where it failed"), j->name,
                             G_CALLBACK(on_show));
        // fall through
    case NINO_QUEUE_DONE:
    case NINO_QUEUE_CANCELLED:
        queue_row_add_button(p, box, "view-refresh-symbolic", _("Run again, next"), j->name,
                             G_CALLBACK(on_queue_row_retry));
        queue_row_add_button(p, box, "edit-delete-symbolic", _("Remove"), j->name,
                             G_CALLBACK(on_remove));
        break;
    }
}

// ---- how it is ----------------------------------------------------------------------------------

static const char *queue_row_state_text(NinoQueuePanel *p, const NinoJob *j)
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
static GtkWidget *queue_row_icon(NinoQueuePanel *p, const NinoJob *j)
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
    gtk_widget_set_tooltip_text(icon, queue_row_state_text(p, j));
    return icon;
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

// Brief: beside the sign that says done.
static char *state_detail(NinoQueuePanel *p, const NinoJob *j, gboolean is_brief)
{
    if (j->state == NINO_QUEUE_FAILED || j->state == NINO_QUEUE_CANCELLED)
        return j->error && *j->error
                   ? g_strdup_printf("%s: %s", queue_row_state_text(p, j), j->error)
                   : g_strdup(queue_row_state_text(p, j));
    if (j->state == NINO_QUEUE_DONE && j->ended_s >= j->started_s && j->started_s > 0) {
        g_autofree char *d = nino_duration_text(j->ended_s - j->started_s);
        const guint n = g_strv_length(j->outputs);
        return g_strdup_printf(is_brief
                                   ? ngettext("%s, %u file", "%s, %u files", n)
                                   : ngettext("done in %s, %u file", "done in %s, %u files", n),
                               d, n);
    }
    return g_strdup(queue_row_state_text(p, j));
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

static void row_data_free(gpointer p)
{
    NinoQueueRow *d = p;
    g_free(d->where);
    g_free(d->error);
    g_free(d);
}

void nino_queue_add_row(NinoQueuePanel *p, const NinoJob *j, int position)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_XS);
    gtk_widget_add_css_class(line, "queue-row");
    gtk_box_append(GTK_BOX(line), queue_row_icon(p, j));
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
    queue_row_add_buttons(p, line, j);
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
