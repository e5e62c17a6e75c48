// Notes on the time axis: a key asks for one at the cursor, or changes the one that is there; they
// are saved with the trace.
#include "plot/area_priv.h"

#include "base/i18n.h"

enum { NEAR_PX = 4 };

const nino_event *nino_area_note_at(NinoArea *a, guint64 t)
{
    size_t n;
    guint64 t0, t1;
    NinoPlotBox box;
    const nino_event *ev = nino_history_points(nino_run_history(a->run), NINO_EV_NOTE, &n);
    if (!ev || !n)
        return NULL;
    nino_area_get_box(a, &box);
    nino_run_view(a->run, &t0, &t1);
    const double reach = (double) (t1 - t0) / (double) MAX(box.w, 1) * NEAR_PX;
    const nino_event *best = NULL;
    double nearest = reach;
    for (size_t i = 0; i < n; i++) {
        const double far = ABS((double) ev[i].t_ns - (double) t);
        if (far <= nearest) {
            best = &ev[i];
            nearest = far;
        }
    }
    return best;
}

static void on_area_note_activate(GtkEntry *entry, NinoArea *a)
{
    const guint64 *t = g_object_get_data(G_OBJECT(entry), "time");
    g_autofree char *text = g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(entry))));
    nino_run_note(a->run, *t, text);
    nino_run_set_cursor(a->run, *t);
    gtk_popover_popdown(GTK_POPOVER(gtk_widget_get_ancestor(GTK_WIDGET(entry), GTK_TYPE_POPOVER)));
}

static gboolean unparent(gpointer popover)
{
    if (gtk_widget_get_parent(popover))
        gtk_widget_unparent(popover);
    return G_SOURCE_REMOVE;
}

// Not at once: it still handles its own closing.
static void on_area_note_closed(GtkWidget *popover, NinoArea *a)
{
    gtk_widget_grab_focus(GTK_WIDGET(a));
    g_idle_add_full(G_PRIORITY_DEFAULT_IDLE, unparent, g_object_ref(popover), g_object_unref);
}

void nino_area_ask_note(NinoArea *a, guint64 t)
{
    NinoPlotBox box;
    const nino_event *old = nino_area_note_at(a, t);
    t = old ? old->t_ns : t;
    nino_area_get_box(a, &box);
    const int x = (int) CLAMP(nino_area_x(a, &box, t), box.x, box.x + box.w);
    GtkWidget *popover = gtk_popover_new(), *entry = gtk_entry_new();
    gtk_editable_set_text(GTK_EDITABLE(entry), old ? nino_run_name(a->run, old->name) : "");
    gtk_editable_set_width_chars(GTK_EDITABLE(entry), 32);
    gtk_entry_set_max_length(GTK_ENTRY(entry), 200);
    gtk_entry_set_placeholder_text(GTK_ENTRY(entry), _("Note about this moment"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Note about this moment"), -1);
    g_object_set_data_full(G_OBJECT(entry), "time", g_memdup2(&t, sizeof(t)), g_free);
    g_signal_connect_object(entry, "activate", G_CALLBACK(on_area_note_activate), a, 0);
    g_signal_connect_object(popover, "closed", G_CALLBACK(on_area_note_closed), a, 0);
    gtk_popover_set_child(GTK_POPOVER(popover), entry);
    gtk_widget_set_parent(popover, GTK_WIDGET(a));
    gtk_popover_set_pointing_to(GTK_POPOVER(popover), &(GdkRectangle){ x, (int) box.y + 8, 1, 1 });
    gtk_popover_popup(GTK_POPOVER(popover));
    gtk_widget_grab_focus(entry);
}
