// Times of peers, sorted.
#include "details/peers.h"

#include <stdlib.h>

static int by_time(gconstpointer a, gconstpointer b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return x < y ? -1 : x > y;
}

static void add_calls(NinoRun *run, uint32_t kernel, GArray *out)
{
    nino_track_info track[64];
    nino_history *h = nino_run_history(run);
    guint64 t0, t1;
    nino_run_range(run, &t0, &t1);
    const size_t n = MIN(nino_history_tracks(h, track, G_N_ELEMENTS(track)), G_N_ELEMENTS(track));
    for (size_t k = 0; k < n; k++) {
        size_t all;
        const nino_event *ev = nino_history_slices(h, track[k].number, &all);
        const size_t to = nino_history_slice_at(h, track[k].number, t1);
        for (size_t i = nino_history_slice_at(h, track[k].number, t0); i < to; i++)
            if (ev[i].name == kernel) {
                const double ns = (double) ev[i].u.kernel.dur_ns;
                g_array_append_val(out, ns);
            }
    }
}

static double span_ns(const nino_history *h, const nino_span *s)
{
    return (double) ((s->end_ns ? s->end_ns : nino_history_end(h)) - s->begin_ns);
}

static gboolean are_peers(const nino_history *h, const nino_span *all, int32_t a, int32_t b)
{
    const nino_span *x = &all[a], *y = &all[b];
    if (x->kind != y->kind)
        return FALSE;
    if (x->kind == NINO_EV_STEP || x->kind == NINO_EV_TILE)
        return nino_history_enclosing(h, a, NINO_EV_NODE) ==
               nino_history_enclosing(h, b, NINO_EV_NODE);
    return x->kind == NINO_EV_STAGE ? x->name == y->name : x->parent == y->parent;
}

static void add_spans(NinoRun *run, int32_t span, GArray *out)
{
    size_t n;
    nino_history *h = nino_run_history(run);
    const nino_span *all = nino_history_spans(h, &n);
    for (size_t i = 0; i < n && span >= 0; i++)
        if (are_peers(h, all, span, (int32_t) i)) {
            const double ns = span_ns(h, &all[i]);
            g_array_append_val(out, ns);
        }
}

gboolean nino_peer_times(NinoRun *run, NinoPeerTimes *out)
{
    GArray *times = g_array_new(FALSE, FALSE, sizeof(double));
    const nino_event *slice = nino_run_picked_slice(run);
    const int32_t span = nino_run_picked_span(run);
    size_t n;
    *out = (NinoPeerTimes){ .own = 0 };
    if (slice)
        out->own = (double) slice->u.kernel.dur_ns;
    if (span >= 0) {
        add_spans(run, span, times);
        out->own =
            span_ns(nino_run_history(run), &nino_history_spans(nino_run_history(run), &n)[span]);
    } else if (slice || nino_run_picked(run) == NINO_PICK_KERNEL) {
        add_calls(run, slice ? slice->name : nino_run_kernel(run), times);
    }
    g_array_sort(times, by_time);
    out->n = times->len;
    out->ns = (double *) (void *) g_array_free(times, FALSE);
    while (out->less < out->n && out->ns[out->less] < out->own)
        out->less++;
    return out->n > 1;
}
