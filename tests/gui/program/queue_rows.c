// The queue's rows: running, waiting, done, failed, cancelled and killed ones look different and say
// what they are.
#include "engine/queue_panel.h"

#include "tests/test.h"

static void add(GPtrArray *jobs, guint64 id, nino_queue_state state, gboolean lost)
{
    NinoJob *j = g_new0(NinoJob, 1);
    j->id = id;
    j->state = state;
    j->lost = lost;
    j->name = g_strdup("a.json");
    j->outputs = g_new0(char *, 1);
    g_ptr_array_add(jobs, j);
}

static GtkWidget *find(GtkWidget *w, GType type, int *nth)
{
    if (G_TYPE_CHECK_INSTANCE_TYPE(w, type) && (*nth)-- == 0)
        return w;
    for (GtkWidget *c = gtk_widget_get_first_child(w); c; c = gtk_widget_get_next_sibling(c)) {
        GtkWidget *found = find(c, type, nth);
        if (found)
            return found;
    }
    return NULL;
}

int main(void)
{
    gtk_init();
    NinoEngine *e = nino_engine_new();
    GtkWidget *panel = g_object_ref_sink(nino_queue_panel_new(e));
    GPtrArray *jobs = nino_engine_jobs(e);
    const char *seen[7];
    static const struct {
        nino_queue_state state;
        gboolean lost;
    } kinds[] = { { NINO_QUEUE_RUNNING, FALSE }, { NINO_QUEUE_WAITING, FALSE },
                  { NINO_QUEUE_WAITING, TRUE },  { NINO_QUEUE_DONE, FALSE },
                  { NINO_QUEUE_FAILED, FALSE },  { NINO_QUEUE_CANCELLED, FALSE } };
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        add(jobs, i + 1, kinds[i].state, kinds[i].lost);
    g_signal_emit_by_name(e, "queue");
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        int row = (int) i, first = 0;
        GtkWidget *r = find(panel, GTK_TYPE_LIST_BOX_ROW, &row);
        CHECK(r);
        GtkWidget *icon = find(r, GTK_TYPE_IMAGE, &first);
        CHECK(icon && gtk_widget_get_tooltip_text(icon));
        seen[i] = gtk_image_get_icon_name(GTK_IMAGE(icon));
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(seen[i], seen[k]) != 0);
    }
    g_object_unref(panel);
    g_object_unref(e);
    return 0;
}
