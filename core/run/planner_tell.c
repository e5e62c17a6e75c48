// What the planner has chosen, in words: for events, logs and plans.
#include "core/run/planner.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int nino_planner_loss_of(int n_nodes, const nino_outcome *o)
{
    int loss = 0;
    for (int i = 0; i < n_nodes; i++) {
        const nino_taken *t = &o->node[i].taken;
        loss += t->is_tiled * 100 + t->is_narrow * 10 + t->is_exact;
    }
    return loss;
}

__attribute__((format(printf, 3, 4))) static void add(char *text, size_t size, const char *fmt, ...)
{
    const size_t n = strlen(text);
    va_list ap;
    snprintf(text + n, size - n, "%s", n ? ", " : "");
    va_start(ap, fmt);
    vsnprintf(text + strlen(text), size - strlen(text), fmt, ap);
    va_end(ap);
}

bool nino_planner_what(const nino_planned *p, int node, char *text, size_t size)
{
    const nino_taken *t = &p->best.node[node].taken;
    const nino_node_plan *n = &p->best.node[node];
    *text = 0;
    if (t->is_tiled)
        add(text, size, "tiles of %d pixels", t->tile);
    if (t->is_exact)
        add(text, size, "exact bands of %d rows", t->tile);
    if (t->rows_most > 1 && (t->rows < t->rows_most || p->choice[node].rows))
        add(text, size, "%d of %d conditionings at once", t->rows, t->rows_most);
    if (t->images > 1)
        add(text, size, "%d of %d pictures at once", t->images, t->images_most);
    if (t->chunk > 1)
        add(text, size, "%d latent frames at once", t->chunk);
    if (t->is_narrow)
        add(text, size, "16-bit storage");
    if (t->others)
        add(text, size, "%d parts on up to %d devices, %.1f MiB on each of the others", t->units,
            t->others + 1, (double) t->other_bytes / 0x1p20);
    if (n->evicted && n->load_bytes > p->free_load[node] + (64 << 10)) {
        const double again = (double) (n->load_bytes - p->free_load[node]);
        const bool is_much = again >= 0x1p30;
        add(text, size, "%.1f %s of weights read again, those used %s make room",
            again / (is_much ? 0x1p30 : 0x1p20), is_much ? "GiB" : "MiB",
            p->choice[node].evict == NINO_EVICT_NEWEST ? "last" : "longest ago");
    }
    return *text != 0;
}

const char *nino_planner_loss(const nino_planned *p)
{
    const int loss = nino_planner_loss_of(p->n_nodes, &p->best);
    return loss >= 100 ? "tiles are blended" : loss ? "rounding" : "nothing";
}

void nino_planner_why(const nino_planned *p, char *text, size_t size)
{
    snprintf(text, size, "least predicted time of %d ways: %.3g s", p->walks, p->cost);
    if (p->plain_cost > p->cost * (1 + 1e-3) && isfinite(p->plain_cost))
        snprintf(text + strlen(text), size - strlen(text), ", %.3g s without choosing",
                 p->plain_cost);
    if (p->free_cost > 0)
        snprintf(text + strlen(text), size - strlen(text), ", %.3g s without a budget",
                 p->free_cost);
}
