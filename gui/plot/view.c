// The table of views.
#include "plot/view.h"

#include "base/i18n.h"
#include "plot/export.h"
#include "live/views.h"

// clang-format off
const NinoViewType nino_views[] = {
    { "timeline", N_("Timeline"), N_("Nodes, steps, tiles and kernels of host and device on one axis"), nino_timeline_new },
    { "kernels", N_("Kernels"), N_("What every kernel cost in the selected range"), nino_kernel_table_new },
    { "histogram", N_("Histogram"), N_("How long the calls of the selected kernel took, and the outliers"), nino_histogram_new },
    { "flame", N_("Flame graph"), N_("Where the time of the selected range went, by call path"), nino_flame_new },
    { "memory", N_("Memory"), N_("Device memory over time by what it is used for"), nino_memory_view_new },
    { "pool", N_("Memory pool"), N_("Blocks of the memory pool, fragmentation, and whether a request would fit"), nino_pool_view_new },
    { "performance", N_("Performance"), N_("Efficiency of caches, memory, precision, batches and prefetching"), nino_perf_view_new },
    { "tiles", N_("Tiles"), N_("The tiles of a decode over its image: time, order, overlap, and how well they meet"), nino_tile_map_new },
    { "roofline", N_("Roofline"), N_("What kernels reach against the ceilings of the device"), nino_roofline_new },
    { "device", N_("Device"), N_("Memory, load, clock, power and temperature over time"), nino_device_view_new },
    { "steps", N_("Steps"), N_("How long every sampler step took, and its sigma"), nino_step_plot_new },
    { "advice", N_("Advice"), N_("What would make such a run faster, with the figures behind it"), nino_advice_view_new },
    { "compare", N_("Compare"), N_("This run against a baseline, by node, step and kernel"), nino_compare_view_new },
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
    gtk_accessible_update_property(GTK_ACCESSIBLE(w), GTK_ACCESSIBLE_PROPERTY_LABEL, _(type->title),
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, _(type->help), -1);
    nino_export_install(w, run);
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
