// What views ask of a history, whatever was told to it: for targets whose inputs are events.
#pragma once
#include "tests/test.h"
#include <ninodes/history.h>

static inline void look_at_spans(const nino_history *h)
{
    size_t n = 0;
    const nino_span *s = nino_history_spans(h, &n);
    for (size_t i = 0; i < n; i++) {
        CHECK(s[i].parent >= -1 && s[i].parent < (int32_t) i);
        CHECK(!s[i].end_ns || s[i].end_ns >= s[i].begin_ns);
        CHECK(nino_history_name((void *) h, s[i].name));
        nino_history_enclosing(h, (int32_t) i, NINO_EV_JOB);
    }
}

static inline void look_at_tracks(nino_history *h)
{
    nino_track_info t[8];
    uint64_t busy[NINO_HISTORY_FAMILIES];
    const size_t all = nino_history_tracks(h, t, 8);
    for (size_t i = 0; i < all && i < 8; i++) {
        size_t n = 0;
        const nino_event *e = nino_history_slices(h, t[i].number, &n);
        for (size_t k = 1; k < n; k++)
            CHECK(e[k - 1].t_ns <= e[k].t_ns);
        for (uint16_t row = 0; row < t[i].n_rows && row < 70; row++)
            nino_history_row(h, t[i].number, row, &n);
        nino_history_busy(h, t[i].number, 0, UINT64_MAX, busy);
    }
}

static inline void look_at_sums(const nino_history *h)
{
    nino_error err = { 0 };
    nino_pool_map m;
    nino_mem_point p;
    nino_histogram g;
    nino_op_stat ops[4];
    nino_node_stat nodes[4];
    nino_perf_stats perf;
    nino_energy_stat energy;
    CHECK_OK(nino_history_pool(h, UINT64_MAX, &m, &err), err);
    nino_pool_map_fit(&m, 4096);
    nino_pool_map_release(&m);
    nino_history_memory_peak(h, 0, UINT64_MAX, &p);
    CHECK_OK(nino_history_histogram(h, 0, 0, UINT64_MAX, &g, &err), err);
    for (int on_device = 0; on_device < 2; on_device++) {
        nino_flame *f = NULL;
        size_t n = 0;
        CHECK_OK(nino_history_flame(h, 0, UINT64_MAX, on_device, &f, &n, &err), err);
        for (size_t i = 0; i < n; i++)
            CHECK(f[i].parent >= -1 && f[i].parent < (int32_t) i);
        free(f);
    }
    nino_stats *s = nino_history_work_stats(h, 0, UINT64_MAX);
    CHECK(s);
    nino_stats_destroy(&s);
    nino_stats_ops(nino_history_stats(h), ops, 4);
    nino_stats_nodes(nino_history_stats(h), nodes, 4);
    nino_stats_perf(nino_history_stats(h), &perf);
    nino_stats_energy(nino_history_stats(h), &energy);
}

static inline void look_at(nino_history *h)
{
    size_t n = 0;
    look_at_spans(h);
    look_at_tracks(h);
    look_at_sums(h);
    for (int kind = 0; kind < 64; kind++)
        nino_history_points(h, (nino_event_kind) kind, &n);
}
