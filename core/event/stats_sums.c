// Statistics told as events, and taken in again. Numbers go by a table of fields; what belongs to a
// kernel or a node goes by its name, so that both sides may number them as they like.
#include "core/event/stats_priv.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 5, BIN_SHIFT = 48, PAIRS = 2 * WORDS };
_Static_assert(sizeof(double) == sizeof(uint64_t), "both go as one word");

// `sub` of a NINO_EV_SUM.
enum {
    SUM_FIELDS,    // id: the first of five of the table
    SUM_FAMILY,    // name: of the kernels that follow
    SUM_OP,        // name: of the kernel that this and the next two are of
    SUM_OP_TOTALS, // its sums
    SUM_OP_BINS,   // bin << BIN_SHIFT | calls
    SUM_NODE,      // name: of the node; id 1: it began last
    SUM_OPEN,      // name: its node; id: the scope
    SUM_SCOPES,    // name: their node, 0: none; pairs of scopes
    SUM_ONCE,      // name: of the node; what running it again would not repeat
    SUM_JOBS,      // pairs of a job's name and time, in order; the last word is not used
};

enum { ADD, ADD_REAL, MAX, SET };
// clang-format off
static const struct {
    size_t at;
    int how;
} fields[] = {
#define FIELD(how, member) { offsetof(nino_stats, member), how },
    FIELD(ADD, summed) FIELD(ADD, lost) FIELD(ADD, runs) FIELD(ADD, run_ns) FIELD(ADD, batch_sum)
    FIELD(ADD, batch_runs) FIELD(ADD, batched) FIELD(ADD, look_ups) FIELD(ADD, look_hits)
    FIELD(ADD, n_driver_programs) FIELD(ADD, timed_ns) FIELD(ADD, short_ns) FIELD(ADD, n_short)
    FIELD(ADD, ahead_bytes) FIELD(ADD, late_bytes) FIELD(ADD, n_ahead) FIELD(ADD, mem.allocs)
    FIELD(ADD, mem.hits) FIELD(ADD, mem.fails) FIELD(ADD, mem.trims) FIELD(ADD, mem.requested_bytes)
    FIELD(ADD, mem.reused_bytes) FIELD(ADD, prepare_ns) FIELD(ADD, n_prepared)
    FIELD(ADD, power.sum.jobs) FIELD(ADD_REAL, power.sum.joules)
    FIELD(ADD_REAL, power.sum.seconds) FIELD(MAX, batch_max) FIELD(MAX, last_ns)
    FIELD(MAX, mem.peak) FIELD(MAX, mem.peak_by_owner[0]) FIELD(MAX, mem.peak_by_owner[1])
    FIELD(MAX, mem.peak_by_owner[2]) FIELD(MAX, mem.peak_by_owner[3]) FIELD(SET, mem.in_use)
    FIELD(SET, mem.reserved) FIELD(SET, mem.budget) FIELD(SET, mem.largest_free)
    FIELD(SET, mem.by_owner[0]) FIELD(SET, mem.by_owner[1]) FIELD(SET, mem.by_owner[2])
    FIELD(SET, mem.by_owner[3]) FIELD(SET, pause) FIELD(SET, pause_ns)
    FIELD(SET, pause_prepares) FIELD(SET, power.job)
    FIELD(SET, power.from_ns) FIELD(SET, power.watt) FIELD(SET, power.watt_ns)
    FIELD(SET, power.sum.last_joules) FIELD(SET, power.has_samples)
    FIELD(ADD, byte_ns) FIELD(MAX, longest_ns) FIELD(SET, bandwidth) FIELD(ADD, chunk_ns)
    FIELD(ADD, chunk_frames) FIELD(ADD, n_chunks) FIELD(ADD, clip_ns) FIELD(ADD, clip_frames)
    FIELD(ADD, n_borders) FIELD(ADD_REAL, border) FIELD(ADD_REAL, limit) FIELD(SET, open_ns)
    FIELD(SET, open_frames) FIELD(SET, open_tiles) FIELD(SET, n_open_chunks) FIELD(ADD, pixels)
    FIELD(ADD, recomputed) FIELD(ADD, n_tiled) FIELD(SET, running.name) FIELD(SET, running.ns)
    FIELD(SET, running_id)
#undef FIELD
};
// clang-format on
enum { N_FIELDS = sizeof(fields) / sizeof(fields[0]) };
_Static_assert(NINO_OWN_COUNT == 4, "the owners above");

static uint64_t sums_word(double v)
{
    uint64_t w;
    memcpy(&w, &v, sizeof(w));
    return w;
}

static double sums_real(uint64_t w)
{
    double v;
    memcpy(&v, &w, sizeof(v));
    return v;
}

// ---- telling -----------------------------------------------------------------------------------

static void sums_emit(const nino_sums_out *out, uint8_t sub, const char *name, uint32_t id,
                      const uint64_t word[WORDS])
{
    nino_event e = { .kind = NINO_EV_SUM, .sub = sub, .id = id };
    e.name = *name ? out->name(out->priv, name) : 0;
    memcpy(e.u.sum, word, sizeof(e.u.sum));
    out->add(out->priv, &e);
}

static void sums_fields(const nino_stats *s, const nino_sums_out *out)
{
    for (uint32_t at = 0; at < N_FIELDS; at += WORDS) {
        uint64_t word[WORDS] = { 0 };
        for (uint32_t i = 0; i < WORDS && at + i < N_FIELDS; i++)
            memcpy(&word[i], (const char *) s + fields[at + i].at, sizeof(word[i]));
        word[0] += at ? 0 : s->count; // for who is told, all of it is a sum
        sums_emit(out, SUM_FIELDS, "", at, word);
    }
}

static void sums_op(const op_acc *a, const nino_sums_out *out)
{
    uint64_t bins[WORDS] = { 0 };
    size_t n = 0;
    sums_emit(out, SUM_FAMILY, a->family, 0, (uint64_t[WORDS]){ 0 });
    sums_emit(out, SUM_OP, a->name, 0,
              (uint64_t[WORDS]){ a->calls, a->total_ns, a->min_ns, a->max_ns, a->unrequested });
    sums_emit(out, SUM_OP_TOTALS, a->name, 0,
              (uint64_t[WORDS]){ sums_word(a->mean), sums_word(a->m2), sums_word(a->flops),
                                 sums_word(a->bytes), sums_word(a->requested) });
    for (size_t i = 0; i < STATS_BINS; i++) {
        if (a->bin[i])
            bins[n++] = (uint64_t) i << BIN_SHIFT | a->bin[i];
        if (n == WORDS || (n && i == STATS_BINS - 1)) {
            sums_emit(out, SUM_OP_BINS, a->name, 0, bins);
            memset(bins, 0, sizeof(bins));
            n = 0;
        }
    }
}

// Which scopes belong to a node, for the records that are still to come.
static void sums_scopes(const nino_stats *s, int node, const char *name, const nino_sums_out *out)
{
    uint32_t id[PAIRS] = { 0 };
    uint64_t word[WORDS];
    size_t n = 0;
    for (size_t i = 0; i < STATS_SCOPES; i++) {
        if (s->scope[i].id && s->scope[i].node == node)
            id[n++] = s->scope[i].id;
        if (n == PAIRS || (n && i == STATS_SCOPES - 1)) {
            memcpy(word, id, sizeof(word));
            sums_emit(out, SUM_SCOPES, name, 0, word);
            memset(id, 0, sizeof(id));
            n = 0;
        }
    }
}

void nino_stats_tell(const nino_stats *s, const nino_sums_out *out)
{
    sums_fields(s, out);
    for (size_t i = 0; i < s->n_op; i++)
        sums_op(&s->op[i], out);
    sums_scopes(s, -1, "", out);
    for (size_t i = 0; i < s->n_node; i++) {
        const node_acc *a = &s->node[i];
        sums_emit(out, SUM_NODE, a->name, (int) i == s->last_node,
                  (uint64_t[WORDS]){ a->ns, a->kernel_ns, a->calls, a->mem_peak,
                                     (uint64_t) a->mem_delta });
        if (a->once_ns)
            sums_emit(out, SUM_ONCE, a->name, 0, (uint64_t[WORDS]){ a->once_ns });
        sums_scopes(s, (int) i, a->name, out);
    }
    const uint64_t n_jobs = s->n_jobs < STATS_JOBS ? s->n_jobs : STATS_JOBS;
    for (uint64_t i = s->n_jobs - n_jobs; i < s->n_jobs; i += 2) {
        const stats_job *a = &s->job[i % STATS_JOBS], *b = &s->job[(i + 1) % STATS_JOBS];
        const bool is_pair = i + 1 < s->n_jobs;
        sums_emit(out, SUM_JOBS, "", 0,
                  (uint64_t[WORDS]){ a->name, a->ns, is_pair ? b->name : 0, is_pair ? b->ns : 0 });
    }
    for (int i = 0; i < s->n_open; i++) {
        const open_node *o = &s->open[i];
        sums_emit(out, SUM_OPEN, s->node[o->node].name, o->id,
                  (uint64_t[WORDS]){ o->begin_ns, o->mem, o->batch, o->paused_ns });
    }
}

void nino_stats_tell_twice(const nino_sums_out *out)
{
    sums_emit(out, SUM_FIELDS, "", 0, (uint64_t[WORDS]){ UINT64_MAX }); // summed, one less
}

void nino_stats_go_on(nino_stats *s, const nino_stats *before)
{
    for (size_t i = 0; i < N_FIELDS; i++)
        if (fields[i].how == SET)
            memcpy((char *) s + fields[i].at, (const char *) before + fields[i].at,
                   sizeof(uint64_t));
}

// ---- taking in ---------------------------------------------------------------------------------

static void sums_take_fields(nino_stats *s, const nino_event *ev)
{
    for (uint32_t i = 0; i < WORDS && ev->id < N_FIELDS && ev->id + i < N_FIELDS; i++) {
        char *at = (char *) s + fields[ev->id + i].at;
        uint64_t own, told = ev->u.sum[i];
        memcpy(&own, at, sizeof(own));
        switch (fields[ev->id + i].how) {
        case ADD: own += told; break;
        case ADD_REAL: own = sums_word(sums_real(own) + sums_real(told)); break;
        case MAX: own = told > own ? told : own; break;
        default: own = told; break;
        }
        memcpy(at, &own, sizeof(own));
    }
}

// Counts and sums come one after the other; both are merged at once.
static void sums_take_op(nino_stats *s, const nino_event *ev, const char *name)
{
    const uint64_t *w = ev->u.sum;
    switch (ev->sub) {
    case SUM_FAMILY:
        free(s->sum_family);
        s->sum_family = strdup(name);
        s->sum_op = NULL;
        break;
    case SUM_OP: memcpy(s->sum_counts, w, sizeof(s->sum_counts)); break;
    case SUM_OP_TOTALS: {
        const op_acc told = { .calls = s->sum_counts[0],
                              .total_ns = s->sum_counts[1],
                              .min_ns = s->sum_counts[2],
                              .max_ns = s->sum_counts[3],
                              .unrequested = s->sum_counts[4],
                              .mean = sums_real(w[0]),
                              .m2 = sums_real(w[1]),
                              .flops = sums_real(w[2]),
                              .bytes = sums_real(w[3]),
                              .requested = sums_real(w[4]) };
        s->sum_op = s->sum_family ? nino_stats_op(s, name, s->sum_family) : NULL;
        if (s->sum_op)
            nino_stats_merge(s->sum_op, &told);
        break;
    }
    default:
        for (int i = 0; s->sum_op && i < WORDS; i++)
            if (w[i] >> BIN_SHIFT < STATS_BINS)
                s->sum_op->bin[w[i] >> BIN_SHIFT] += (uint32_t) w[i];
    }
}

static void sums_take_node(nino_stats *s, const nino_event *ev, int node)
{
    const uint64_t *w = ev->u.sum;
    node_acc *a = &s->node[node];
    if (ev->sub == SUM_NODE) {
        a->ns += w[0];
        a->kernel_ns += w[1];
        a->calls += w[2];
        a->mem_peak = w[3] > a->mem_peak ? w[3] : a->mem_peak;
        a->mem_delta += w[4];
        s->last_node = ev->id ? node : s->last_node;
    } else if (ev->sub == SUM_ONCE) {
        a->once_ns += w[0];
    } else if (s->n_open < STATS_OPEN) {
        s->open[s->n_open++] = (open_node){ ev->id, node, w[0], w[1], (uint32_t) w[2], w[3] };
    }
}

static void sums_take_scopes(nino_stats *s, const nino_event *ev, int node)
{
    uint32_t id[PAIRS];
    memcpy(id, ev->u.sum, sizeof(id));
    for (int i = 0; i < PAIRS; i++)
        if (id[i]) {
            s->scope[id[i] % STATS_SCOPES].id = id[i];
            s->scope[id[i] % STATS_SCOPES].node = node;
        }
}

void nino_stats_add_sum(nino_stats *s, const nino_event *ev, nino_name_fn name, void *priv)
{
    const char *text = name(priv, ev->name);
    const bool has_node =
        ev->sub == SUM_NODE || ev->sub == SUM_OPEN || ev->sub == SUM_SCOPES || ev->sub == SUM_ONCE;
    const int node = has_node && *text ? nino_stats_node(s, text) : -1;
    switch (ev->sub) {
    case SUM_FIELDS: sums_take_fields(s, ev); break;
    case SUM_JOBS:
        nino_stats_add_job(s, ev->u.sum[0], ev->u.sum[1]);
        nino_stats_add_job(s, ev->u.sum[2], ev->u.sum[3]);
        break;
    case SUM_FAMILY:
    case SUM_OP:
    case SUM_OP_TOTALS:
    case SUM_OP_BINS: sums_take_op(s, ev, text); break;
    case SUM_NODE:
    case SUM_ONCE:
    case SUM_OPEN:
        if (node >= 0)
            sums_take_node(s, ev, node);
        break;
    case SUM_SCOPES: sums_take_scopes(s, ev, node); break;
    default: break; // of a newer version
    }
}
