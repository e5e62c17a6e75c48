// The order of the queue by the pointer: a waiting row is dropped on the place that it is to have.
#include "engine/queue_priv.h"

#include "base/tokens.h"

void nino_queue_move(NinoQueuePanel *p, const NinoQueueRow *d, int position)
{
    const nino_control c = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_MOVE, .job = d->id,
                             .position = position };
    nino_engine_send(p->engine, &c, NULL, NULL);
}

static const NinoQueueRow *row_data_at(NinoQueuePanel *p, double y, GtkListBoxRow **row)
{
    *row = gtk_list_box_get_row_at_y(GTK_LIST_BOX(p->list), (int) y);
    return *row ? g_object_get_data(G_OBJECT(*row), "job") : NULL;
}

static GdkContentProvider *on_job_drag(GtkDragSource *source, double x, double y, NinoQueuePanel *p)
{
    (void) x;
    GtkListBoxRow *row;
    const NinoQueueRow *d = row_data_at(p, y, &row);
    if (!d || !d->position) // only waiting ones have another place to go to
        return NULL;
    g_autoptr(GdkPaintable) picture = gtk_widget_paintable_new(GTK_WIDGET(row));
    gtk_drag_source_set_icon(source, picture, NINO_SPACE_L, NINO_SPACE_L);
    return gdk_content_provider_new_typed(G_TYPE_UINT64, d->id);
}

static void on_job_drag_begin(NinoQueuePanel *p) { p->dragging = TRUE; }

static void on_job_drag_end(NinoQueuePanel *p)
{
    p->dragging = FALSE;
    if (p->is_stale)
        nino_queue_panel_rebuild(p->engine, p);
}

static GdkDragAction on_job_motion(GtkDropTarget *target, double x, double y, NinoQueuePanel *p)
{
    (void) target, (void) x;
    GtkListBoxRow *row;
    if (row_data_at(p, y, &row))
        gtk_list_box_drag_highlight_row(GTK_LIST_BOX(p->list), row);
    return GDK_ACTION_MOVE;
}

static void on_job_leave(NinoQueuePanel *p)
{
    gtk_list_box_drag_unhighlight_row(GTK_LIST_BOX(p->list));
}

// It takes the place of the one that it is dropped on; above the waiting ones it becomes the first, below them the last.
static gboolean on_job_drop(GtkDropTarget *target, const GValue *value, double x, double y,
                            NinoQueuePanel *p)
{
    (void) target, (void) x;
    GtkListBoxRow *row;
    const NinoQueueRow *over = row_data_at(p, y, &row);
    const NinoQueueRow moved = { .id = g_value_get_uint64(value) };
    GPtrArray *jobs = nino_engine_jobs(p->engine);
    int n_waiting = 0;
    gboolean is_below = FALSE;
    for (guint i = 0; i < jobs->len; i++) {
        const NinoJob *j = jobs->pdata[i];
        n_waiting += j->state == NINO_QUEUE_WAITING;
        is_below |= over && j->id == over->id && n_waiting > 0;
    }
    on_job_leave(p);
    if (!n_waiting)
        return FALSE;
    nino_queue_move(p, &moved,
                    over && over->position ? over->position
                    : is_below || !over    ? n_waiting
                                           : 1);
    return TRUE;
}

void nino_queue_add_dragging(NinoQueuePanel *p)
{
    GtkDragSource *drag = gtk_drag_source_new();
    GtkDropTarget *drop = gtk_drop_target_new(G_TYPE_UINT64, GDK_ACTION_MOVE);
    gtk_drag_source_set_actions(drag, GDK_ACTION_MOVE);
    g_signal_connect(drag, "prepare", G_CALLBACK(on_job_drag), p);
    g_signal_connect_swapped(drag, "drag-begin", G_CALLBACK(on_job_drag_begin), p);
    g_signal_connect_swapped(drag, "drag-end", G_CALLBACK(on_job_drag_end), p);
    g_signal_connect(drop, "motion", G_CALLBACK(on_job_motion), p);
    g_signal_connect_swapped(drop, "leave", G_CALLBACK(on_job_leave), p);
    g_signal_connect(drop, "drop", G_CALLBACK(on_job_drop), p);
    gtk_widget_add_controller(p->list, GTK_EVENT_CONTROLLER(drag));
    gtk_widget_add_controller(p->list, GTK_EVENT_CONTROLLER(drop));
}
