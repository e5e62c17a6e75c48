// Statistics over event records: kernels by name and family, nodes, memory, and the performance
// numbers of the seed project. Everything is counted from events, so a live viewer, a trace file
// and the process itself give the same tables.
#include "core/event/stats_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

nino_stats *nino_stats_create(void)
{
    nino_stats *s = calloc(1, sizeof(*s));
    if (s)
        s->last_node = -1;
    return s;
}

void nino_stats_destroy(nino_stats **stats)
{
    nino_stats *s = *stats;
    if (!s)
        return;
    for (size_t i = 0; i < s->n_op; i++) {
        free(s->op[i].name);
        free(s->op[i].family);
        free(s->op[i].bin);
        free(s->op[i].call);
    }
    free(s->op);
    free(s->sum_family);
    free(s->op_of);
    free(s->node);
    free(s);
    *stats = NULL;
}

// Room for one more element; false: out of memory (the record is then not counted).
static bool stats_reserve(void **data, size_t *cap, size_t n, size_t size)
{
    if (n < *cap)
        return true;
    const size_t more = *cap ? *cap * 2 : 32;
    void *p = realloc(*data, more * size);
    if (!p)
        return false;
    *data = p;
    *cap = more;
    return true;
}

// ---- kernels -----------------------------------------------------------------------------------

op_acc *nino_stats_op(nino_stats *s, const char *name, const char *family)
{
    for (size_t i = 0; i < s->n_op; i++)
        if (!strcmp(s->op[i].name, name) && !strcmp(s->op[i].family, family))
            return &s->op[i];
    if (!stats_reserve((void **) &s->op, &s->cap_op, s->n_op, sizeof(*s->op)))
        return NULL;
    op_acc a = { .name = strdup(name),
                 .family = strdup(family),
                 .min_ns = UINT64_MAX,
                 .bin = calloc(STATS_BINS, sizeof(*a.bin)) };
    if (!a.name || !a.family || !a.bin) {
        free(a.name);
        free(a.family);
        free(a.bin);
        return NULL;
    }
    s->op[s->n_op] = a;
    return &s->op[s->n_op++];
}

static op_acc *op_of(nino_stats *s, const nino_event *ev,
                     const char *(*name)(void *priv, uint32_t id), void *priv)
{
    const uint32_t id = ev->name;
    const char *text = name(priv, id), *family = name(priv, ev->u.kernel.family);
    if (!*family && ev->kind == NINO_EV_TRANSFER)
        family = "transfer";
    if (id < s->n_op_of && s->op_of[id] >= 0) {
        op_acc *known = &s->op[s->op_of[id]];
        if (!strcmp(known->name, text) && !strcmp(known->family, family))
            return known;
    }
    op_acc *a = nino_stats_op(s, text, family);
    if (!a || id >= 1 << 20)
        return a;
    if (id >= s->n_op_of) {
        const size_t n = (size_t) id * 2 + 64;
        int32_t *p = realloc(s->op_of, n * sizeof(*p));
        if (!p)
            return a;
        for (size_t i = s->n_op_of; i < n; i++)
            p[i] = -1;
        s->op_of = p;
        s->n_op_of = n;
    }
    s->op_of[id] = (int32_t) (a - s->op);
    return a;
}

static size_t bin_of(uint64_t ns)
{
    const double i = ns > 1 ? floor(log((double) ns) / log(1.02)) : 0;
    return i < STATS_BINS ? (size_t) i : STATS_BINS - 1;
}

// What the work-groups of a launch requested, from its name: as nino_launch_read(), but that the
// sizes are skipped, for it is done for every record.
static double requested_of(const char *launch)
{
    double v = 0;
    const char *p = strrchr(launch, '/');
    for (p = p ? p + 1 : ""; *p >= '0' && *p <= '9'; p++)
        v = v * 10 + (*p - '0');
    return v;
}

// Kept as long as all of them can be.
static void op_keep(op_acc *a, uint64_t ns)
{
    if (a->n_call == a->calls && a->n_call < STATS_CALLS &&
        stats_reserve((void **) &a->call, &a->cap_call, a->n_call, sizeof(*a->call)))
        a->call[a->n_call++] = ns;
}

static void op_count(op_acc *a, const nino_event *ev, double requested)
{
    const uint64_t ns = ev->u.kernel.dur_ns;
    const double d = (double) ns - a->mean;
    op_keep(a, ns);
    a->calls++;
    a->total_ns += ns;
    a->min_ns = ns < a->min_ns ? ns : a->min_ns;
    a->max_ns = ns > a->max_ns ? ns : a->max_ns;
    a->mean += d / (double) a->calls;
    a->m2 += d * ((double) ns - a->mean);
    a->flops += ev->u.kernel.flops;
    a->bytes += ev->u.kernel.bytes;
    a->requested += requested;
    a->unrequested += ev->u.kernel.bytes > 0 && requested <= 0;
    a->bin[bin_of(ns)]++;
}

// ---- nodes -------------------------------------------------------------------------------------

int nino_stats_node(nino_stats *s, const char *name)
{
    for (int i = 0; i < (int) s->n_node; i++)
        if (!strncmp(s->node[i].name, name, sizeof(s->node[i].name) - 1))
            return i;
    if (!stats_reserve((void **) &s->node, &s->cap_node, s->n_node, sizeof(*s->node)))
        return -1;
    s->node[s->n_node] = (node_acc){ .ns = 0 };
    strncpy(s->node[s->n_node].name, name, sizeof(s->node[0].name) - 1);
    return (int) s->n_node++;
}

// The node a scope belongs to; scopes that were never announced count to the node begun last.
static int stats_node_of(const nino_stats *s, uint32_t scope)
{
    if (s->scope[scope % STATS_SCOPES].id == scope && scope)
        return s->scope[scope % STATS_SCOPES].node;
    return s->last_node;
}

static void stats_scope_begin(nino_stats *s, const nino_event *ev,
                              const char *(*name)(void *priv, uint32_t id), void *priv)
{
    int node = stats_node_of(s, ev->parent);
    if (ev->kind == NINO_EV_JOB)
        node = -1;
    if (ev->kind == NINO_EV_NODE) {
        for (int i = 0; i < s->n_open; i++)
            if (s->open[i].id == ev->id)
                return; // told twice to a late viewer
        if ((node = nino_stats_node(s, name(priv, ev->name))) < 0)
            return;
        if (s->n_open < STATS_OPEN)
            s->open[s->n_open++] = (open_node){ ev->id, node, ev->t_ns, s->mem.in_use, 0, 0 };
        if (s->mem.in_use > s->node[node].mem_peak)
            s->node[node].mem_peak = s->mem.in_use;
        s->last_node = node;
    }
    s->scope[ev->id % STATS_SCOPES].id = ev->id;
    s->scope[ev->id % STATS_SCOPES].node = node;
    if (ev->kind != NINO_EV_STAGE)
        return;
    const char *text = name(priv, ev->name);
    const bool prepares = !strncmp(text, NINO_STAGE_COMPILE, sizeof(NINO_STAGE_COMPILE) - 1);
    if (prepares || !strcmp(text, "paused")) {
        s->pause = ev->id;
        s->pause_ns = ev->t_ns;
        s->pause_prepares = !prepares                                                         ? 0
                            : strncmp(text, NINO_STAGE_LAUNCH, sizeof(NINO_STAGE_LAUNCH) - 1) ? 1
                                                                                              : 2;
    }
}

static void stats_once(nino_stats *s, const nino_event *ev)
{
    const int node = stats_node_of(s, ev->parent);
    if (node >= 0 && node < (int) s->n_node)
        s->node[node].once_ns += ev->u.once.load_ns;
}

static void stats_scope_end(nino_stats *s, const nino_event *ev)
{
    if (s->pause && ev->id == s->pause) { // no node took this time
        for (int k = 0; k < s->n_open; k++)
            s->open[k].paused_ns += ev->t_ns - s->pause_ns;
        s->prepare_ns += s->pause_prepares ? ev->t_ns - s->pause_ns : 0;
        s->n_prepared += s->pause_prepares == 1;
        s->pause = 0;
    }
    int i = s->n_open - 1;
    while (i >= 0 && s->open[i].id != ev->id)
        i--;
    if (i < 0)
        return;
    const open_node o = s->open[i];
    memmove(&s->open[i], &s->open[i + 1], (size_t) (s->n_open - i - 1) * sizeof(o));
    s->n_open--;
    const uint64_t from = o.begin_ns + o.paused_ns, ns = ev->t_ns > from ? ev->t_ns - from : 0;
    node_acc *a = &s->node[o.node];
    a->ns += ns;
    a->calls++;
    s->longest_ns = ns > s->longest_ns ? ns : s->longest_ns;
    a->mem_delta += s->mem.in_use - o.mem;
    s->runs++;
    s->run_ns += ns;
    if (o.batch) {
        s->batch_runs++;
        s->batch_sum += o.batch;
        s->batch_max = o.batch > s->batch_max ? o.batch : s->batch_max;
        s->batched += o.batch > 1;
    }
}

// What a record says of bytes; one that was damaged on its way says anything.
static uint64_t stats_bytes(double v) { return v > 0 && v < 1.8e19 ? (uint64_t) v : 0; }

static void stats_kernel(nino_stats *s, const nino_event *ev,
                         const char *(*name)(void *priv, uint32_t id), void *priv)
{
    op_acc *a = op_of(s, ev, name, priv);
    if (a)
        op_count(a, ev,
                 ev->kind == NINO_EV_KERNEL ? requested_of(name(priv, nino_kernel_launch(ev))) : 0);
    if (ev->kind == NINO_EV_TRANSFER) {
        s->ahead_bytes += ev->sub == NINO_TRANSFER_AHEAD ? stats_bytes(ev->u.kernel.bytes) : 0;
        s->late_bytes += ev->sub == NINO_TRANSFER_LATE ? stats_bytes(ev->u.kernel.bytes) : 0;
        s->n_ahead += ev->sub == NINO_TRANSFER_AHEAD;
        return;
    }
    const uint64_t ns = ev->u.kernel.dur_ns;
    const unsigned bits = nino_kernel_bits(ev);
    if (bits) {
        s->timed_ns += ns;
        s->short_ns += bits <= 16 ? ns : 0;
        s->byte_ns += bits <= 8 ? ns : 0;
        s->n_short += bits <= 16;
    }
    const int node = stats_node_of(s, ev->parent);
    if (node < 0)
        return;
    s->node[node].kernel_ns += ns;
    for (int i = 0; i < s->n_open; i++)
        if (s->open[i].node == node) {
            const uint32_t n = (uint32_t) atoi(name(priv, ev->u.kernel.shape));
            s->open[i].batch = n > s->open[i].batch ? n : s->open[i].batch;
        }
}

// ---- memory ------------------------------------------------------------------------------------

static void stats_memory(nino_stats *s, const nino_event *ev)
{
    nino_mem_stat *m = &s->mem;
    switch (ev->sub) {
    case NINO_MEM_ALLOC:
        m->allocs++;
        m->hits += ev->u.mem.is_hit != 0;
        m->requested_bytes += ev->u.mem.bytes;
        m->reused_bytes += ev->u.mem.is_hit ? ev->u.mem.bytes : 0;
        s->look_ups++;
        s->look_hits += ev->u.mem.is_hit != 0;
        break;
    case NINO_MEM_TRIM: m->trims++; break;
    case NINO_MEM_FAIL: m->fails++; break;
    case NINO_MEM_BUDGET: m->budget = ev->u.mem.bytes; break;
    default: break;
    }
    m->in_use = ev->u.mem.in_use;
    m->peak = m->in_use > m->peak ? m->in_use : m->peak;
    m->reserved = ev->u.mem.reserved;
    m->largest_free = ev->u.mem.largest_free;
    const unsigned o = ev->u.mem.owner;
    if (o < NINO_OWN_COUNT) {
        m->by_owner[o] = (uint64_t) ev->u.mem.owner_use * 256;
        if (m->by_owner[o] > m->peak_by_owner[o])
            m->peak_by_owner[o] = m->by_owner[o];
    }
    for (int i = 0; i < s->n_open; i++)
        if (m->in_use > s->node[s->open[i].node].mem_peak)
            s->node[s->open[i].node].mem_peak = m->in_use;
}

// ---- energy ------------------------------------------------------------------------------------

// Adds the energy from the last count to t, at the mean of two powers; gaps of more than two
// seconds are not covered by samples.
static void spend(nino_stats *s, uint64_t t, double watt)
{
    if (s->power.job && t > s->power.from_ns && s->power.watt_ns &&
        t - s->power.watt_ns < 2000000000u) {
        const double dt = (double) (t - s->power.from_ns) * 1e-9;
        s->power.sum.joules += dt * watt;
        s->power.sum.last_joules += dt * watt;
        s->power.sum.seconds += dt;
        s->power.has_samples = true;
    }
    s->power.from_ns = t > s->power.from_ns ? t : s->power.from_ns;
}

static void power_sample(nino_stats *s, const nino_event *ev)
{
    double watt;
    if (!nino_sample_value(ev, NINO_COUNTER_GPU_POWER, &watt) || !isfinite(watt) || watt < 0 ||
        ev->t_ns < s->power.watt_ns)
        return;
    spend(s, ev->t_ns, (watt + s->power.watt) / 2);
    s->power.watt = watt;
    s->power.watt_ns = ev->t_ns;
}

static void power_job(nino_stats *s, const nino_event *ev)
{
    if (ev->kind == NINO_EV_JOB && !s->power.job) {
        s->power.job = ev->id;
        s->power.from_ns = ev->t_ns;
        s->power.sum.last_joules = 0;
        s->power.has_samples = false;
    } else if (ev->kind == NINO_EV_END && ev->id && ev->id == s->power.job) {
        spend(s, ev->t_ns, s->power.watt);
        s->power.sum.jobs += s->power.has_samples;
        s->power.job = 0;
    }
}

void nino_stats_energy(const nino_stats *s, nino_energy_stat *out)
{
    *out = s->power.sum;
    if (s->power.sum.seconds <= 0)
        out->joules = out->last_joules = NAN;
}

// ---- feeding -----------------------------------------------------------------------------------

void nino_stats_add(nino_stats *s, const nino_event *ev, size_t n,
                    const char *(*name)(void *priv, uint32_t id), void *priv)
{
    for (size_t i = 0; i < n; i++) {
        if (ev[i].kind == NINO_EV_SUM) {
            nino_stats_add_sum(s, &ev[i], name, priv);
            continue;
        }
        s->count += ev[i].kind != NINO_EV_LOST;
        power_job(s, &ev[i]);
        nino_stats_add_work(s, &ev[i], name, priv);
        switch (ev[i].kind) {
        case NINO_EV_JOB:
        case NINO_EV_NODE:
        case NINO_EV_STAGE:
        case NINO_EV_STEP:
        case NINO_EV_TILE: stats_scope_begin(s, &ev[i], name, priv); break;
        case NINO_EV_END: stats_scope_end(s, &ev[i]); break;
        case NINO_EV_KERNEL:
        case NINO_EV_TRANSFER: stats_kernel(s, &ev[i], name, priv); break;
        case NINO_EV_MEM: stats_memory(s, &ev[i]); break;
        case NINO_EV_CACHE:
            if (ev[i].sub == NINO_CACHE_PROGRAM && ev[i].u.scope.arg1) {
                s->n_driver_programs++; // where the driver took it from is not known
                break;
            }
            s->look_ups++;
            s->look_hits += ev[i].u.scope.arg0 != 0;
            break;
        case NINO_EV_DEVICE: power_sample(s, &ev[i]); break;
        case NINO_EV_ONCE: stats_once(s, &ev[i]); break;
        case NINO_EV_LOST: s->lost += ev[i].u.lost; break;
        default: break;
        }
        if (ev[i].t_ns > s->last_ns)
            s->last_ns = ev[i].t_ns;
    }
}

// ---- results -----------------------------------------------------------------------------------

static int stats_by_ns(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *) x, b = *(const uint64_t *) y;
    return a < b ? -1 : a > b;
}

// Those that came since the last time take their places among the others.
static void sort_calls(op_acc *a)
{
    const size_t n_new = a->n_call - a->n_sorted;
    uint64_t *const fresh = n_new ? malloc(n_new * sizeof(*fresh)) : NULL;
    if (fresh) {
        memcpy(fresh, a->call + a->n_sorted, n_new * sizeof(*fresh));
        qsort(fresh, n_new, sizeof(*fresh), stats_by_ns);
        size_t i = a->n_sorted, at = a->n_call;
        for (size_t k = n_new; k;)
            a->call[--at] = i && a->call[i - 1] > fresh[k - 1] ? a->call[--i] : fresh[--k];
        free(fresh);
    } else if (n_new) {
        qsort(a->call, a->n_call, sizeof(*a->call), stats_by_ns);
    }
    a->n_sorted = a->n_call;
}

// What call number `rank` took, of those in order of their times; where they are not kept, from the middle of its bin.
static double call_at(const op_acc *a, uint64_t rank)
{
    double seen = 0;
    if (a->n_call == a->calls)
        return (double) a->call[rank];
    if (!rank || rank + 1 >= a->calls)
        return (double) (rank ? a->max_ns : a->min_ns);
    for (size_t i = 0; i < STATS_BINS; i++) {
        seen += a->bin[i];
        if (seen > (double) rank)
            return fmin(fmax(pow(1.02, (double) i + 0.5), (double) a->min_ns), (double) a->max_ns);
    }
    return (double) a->max_ns;
}

// The value below which a share q of the calls lies, between those around it as nino_history_histogram() has it.
static double percentile(const op_acc *a, double q)
{
    if (!a->calls)
        return 0;
    const double at = q * (double) (a->calls - 1);
    const double low = call_at(a, (uint64_t) at), high = call_at(a, (uint64_t) ceil(at));
    return low + (at - floor(at)) * (high - low);
}

static nino_op_stat op_result(op_acc *a)
{
    sort_calls(a);
    const double ns = (double) a->total_ns;
    return (nino_op_stat){ .name = a->name,
                           .family = a->family,
                           .calls = a->calls,
                           .total_ns = a->total_ns,
                           .min_ns = a->min_ns,
                           .max_ns = a->max_ns,
                           .mean_ns = a->mean,
                           .sigma_ns = a->calls > 1 ? sqrt(a->m2 / (double) (a->calls - 1)) : 0,
                           .p50_ns = percentile(a, 0.5),
                           .p95_ns = percentile(a, 0.95),
                           .flops = a->flops,
                           .bytes = a->bytes,
                           .requested = a->unrequested || a->requested <= 0 ? NAN : a->requested,
                           .gflops = ns > 0 ? a->flops / ns : 0,
                           .gbps = ns > 0 ? a->bytes / ns : 0 };
}

static int by_total(const void *a, const void *b)
{
    const uint64_t x = ((const nino_op_stat *) a)->total_ns;
    const uint64_t y = ((const nino_op_stat *) b)->total_ns;
    return x < y ? 1 : x > y ? -1 : 0;
}

// The n accumulators as results, longest first; returns how many there are, 0: out of memory.
static size_t results(op_acc *acc, size_t n, nino_op_stat *out, size_t max)
{
    nino_op_stat *all = calloc(n + 1, sizeof(*all));
    if (!all)
        return 0;
    for (size_t i = 0; i < n; i++)
        all[i] = op_result(&acc[i]);
    qsort(all, n, sizeof(*all), by_total);
    if (max)
        memcpy(out, all, (n < max ? n : max) * sizeof(*all));
    free(all);
    return n;
}

size_t nino_stats_ops(const nino_stats *s, nino_op_stat *out, size_t max)
{
    return results(s->op, s->n_op, out, max);
}

// a += b, as if b's calls had been counted in a (Chan's update of the second moment).
void nino_stats_merge(op_acc *a, const op_acc *b)
{
    const double na = (double) a->calls, nb = (double) b->calls, d = b->mean - a->mean;
    if (b->calls <= 0)
        return;
    a->calls += b->calls;
    a->total_ns += b->total_ns;
    a->min_ns = b->min_ns < a->min_ns ? b->min_ns : a->min_ns;
    a->max_ns = b->max_ns > a->max_ns ? b->max_ns : a->max_ns;
    a->mean = na > 0 ? a->mean + d * nb / (na + nb) : b->mean;
    a->m2 += b->m2 + d * d * na * nb / (na + nb);
    a->flops += b->flops;
    a->bytes += b->bytes;
    a->requested += b->requested;
    a->unrequested += b->unrequested;
    for (size_t i = 0; b->bin && i < STATS_BINS; i++)
        a->bin[i] += b->bin[i];
}

size_t nino_stats_families(const nino_stats *s, nino_op_stat *out, size_t max)
{
    op_acc *fam = calloc(s->n_op + 1, sizeof(*fam));
    uint32_t *bins = calloc(s->n_op + 1, STATS_BINS * sizeof(*bins));
    size_t n = 0;
    for (size_t i = 0; fam && bins && i < s->n_op; i++) {
        size_t k = 0;
        while (k < n && strcmp(fam[k].name, s->op[i].family))
            k++;
        if (k == n) {
            fam[n] = (op_acc){ .name = s->op[i].family,
                               .family = s->op[i].family,
                               .min_ns = UINT64_MAX,
                               .bin = bins + n * STATS_BINS };
            n++;
        }
        nino_stats_merge(&fam[k], &s->op[i]);
    }
    n = results(fam, n, out, max);
    free(fam);
    free(bins);
    return n;
}

size_t nino_stats_nodes(const nino_stats *s, nino_node_stat *out, size_t max)
{
    for (size_t i = 0; i < s->n_node && i < max; i++) {
        const node_acc *a = &s->node[i];
        out[i] = (nino_node_stat){
            .ns = a->ns, .kernel_ns = a->kernel_ns, .mem_peak = a->mem_peak, .calls = a->calls
        };
        uint64_t delta = a->mem_delta;
        memcpy(out[i].name, a->name, sizeof(out[i].name));
        for (int k = 0; k < s->n_open; k++) // still running: until now
            if (s->open[k].node == (int) i) {
                const uint64_t from = s->open[k].begin_ns + s->open[k].paused_ns;
                const uint64_t until = s->pause ? s->pause_ns : s->last_ns;
                out[i].ns += until > from ? until - from : 0;
                delta += s->mem.in_use - s->open[k].mem;
            }
        out[i].mem_delta = (int64_t) delta;
    }
    return s->n_node;
}

uint64_t nino_stats_node_once(const nino_stats *s, size_t i)
{
    return i < s->n_node ? s->node[i].once_ns : 0;
}

void nino_stats_memory(const nino_stats *s, nino_mem_stat *out)
{
    *out = s->mem;
    const uint64_t free_bytes = out->reserved > out->in_use ? out->reserved - out->in_use : 0;
    out->fragmentation = free_bytes ? 1 - (double) out->largest_free / (double) free_bytes : 0;
}

static double ratio(uint64_t part, uint64_t all)
{
    return all ? (double) part / (double) all : (double) NAN;
}

void nino_stats_perf(const nino_stats *s, nino_perf_stats *out)
{
    *out = (nino_perf_stats){
        .average_execution_time = ratio(s->run_ns, s->runs) * 1e-9,
        .total_executions = (double) s->runs,
        .cache_hit_rate = ratio(s->look_hits, s->look_ups),
        .memory_efficiency = ratio(s->mem.reused_bytes, s->mem.requested_bytes),
        .precision_efficiency = ratio(s->short_ns, s->timed_ns),
        .batch_efficiency = ratio(s->batch_sum, s->batch_runs * s->batch_max),
        .prefetch_efficiency = ratio(s->ahead_bytes, s->ahead_bytes + s->late_bytes),
        .total_memory_saves = (double) s->mem.hits,
        .total_precision_optimizations = (double) s->n_short,
        .total_batch_optimizations = (double) s->batched,
        .total_prefetch_hits = (double) s->n_ahead,
        .total_driver_programs = (double) s->n_driver_programs,
    };
}

uint64_t nino_stats_lost(const nino_stats *s) { return s->lost; }

uint64_t nino_stats_preparing(const nino_stats *s, uint64_t *programs)
{
    const bool lasts = s->pause && s->pause_prepares;
    if (programs)
        *programs = s->n_prepared + (lasts && s->pause_prepares == 1);
    return s->prepare_ns + (lasts && s->last_ns > s->pause_ns ? s->last_ns - s->pause_ns : 0);
}

uint64_t nino_stats_count(const nino_stats *s, uint64_t *summed)
{
    if (summed)
        *summed = s->summed;
    return s->count + s->summed;
}
