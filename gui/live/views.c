// The list of views, in the order of their tabs. To add one: write it in a file of this room, its
// NinoViewType at the end, and add one line here.
#include "live/views.h"

// clang-format off
#define VIEWS(X) \
    X(timeline)      \
    X(kernel_table)  \
    X(kernel)        \
    X(histogram)     \
    X(flame)         \
    X(memory)        \
    X(pool)          \
    X(perf)          \
    X(tile_map)      \
    X(roofline)      \
    X(device)        \
    X(step_plot)     \
    X(advice)        \
    X(runs)          \
    X(compare)
// clang-format on

#define DECLARE(name) extern const NinoViewType nino_view_##name;
VIEWS(DECLARE)

#define ROW(name) &nino_view_##name,
const NinoViewType *const nino_views[] = { VIEWS(ROW) NULL };

const NinoViewType *nino_view_find(const char *id)
{
    for (const NinoViewType *const *v = nino_views; *v; v++)
        if (!g_strcmp0((*v)->id, id))
            return *v;
    return NULL;
}
