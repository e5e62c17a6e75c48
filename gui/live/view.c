// The table of views.
#include "live/view.h"

#include "live/views.h"

// clang-format off
const NinoViewType nino_views[] = {
    { "timeline", "Timeline", "Nodes, steps, tiles and kernels of host and device on one axis", nino_timeline_new },
    { "kernels", "Kernels", "What every kernel cost in the selected range", nino_kernel_table_new },
    { "histogram", "Histogram", "How long the calls of the selected kernel took, and the outliers", nino_histogram_new },
    { "flame", "Flame graph", "Where the time of the selected range went, by call path", nino_flame_new },
    { "memory", "Memory", "Device memory over time by what it is used for", nino_memory_view_new },
    { "pool", "Memory pool", "Blocks of the memory pool, fragmentation, and whether a request would fit", nino_pool_view_new },
    { "performance", "Performance", "Efficiency of caches, memory, precision, batches and prefetching", nino_perf_view_new },
    { NULL, NULL, NULL, NULL },
};
// clang-format on

const NinoViewType *nino_view_find(const char *id)
{
    for (const NinoViewType *v = nino_views; v->id; v++)
        if (!g_strcmp0(v->id, id))
            return v;
    return NULL;
}

GtkWidget *nino_view_new(const NinoViewType *type, NinoRun *run)
{
    GtkWidget *w = type->create(run);
    g_autofree char *name = g_strconcat("view-", type->id, NULL);
    gtk_widget_set_name(w, name);
    gtk_accessible_update_property(GTK_ACCESSIBLE(w), GTK_ACCESSIBLE_PROPERTY_LABEL, type->title,
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, type->help, -1);
    return w;
}

void nino_view_set_export(GtkWidget *view, const NinoViewExport *x)
{
    g_object_set_data(G_OBJECT(view), "nino-export", (gpointer) x);
}

const NinoViewExport *nino_view_get_export(GtkWidget *view)
{
    return g_object_get_data(G_OBJECT(view), "nino-export");
}
