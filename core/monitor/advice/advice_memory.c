// Advice on memory and caches: memory given back and taken again, weights that went and came back,
// kernels that were compiled.
#include "core/monitor/advice/advice_rules.h"

typedef struct churn {
    uint64_t trims, fails, trim_bytes, fail_bytes;
    uint64_t weight_bytes; // handed out for weights, all together
    uint64_t weight_peak;  // of weights at once
} churn;

static void advice_memory_gather(const advisor *a, churn *c)
{
    size_t n;
    const nino_event *ev = nino_history_points(a->h, NINO_EV_MEM, &n);
    for (size_t i = ev ? nino_history_lower(ev, n, a->begin_ns) : n; i < n; i++) {
        const bool is_weight = ev[i].u.mem.owner == NINO_OWN_WEIGHTS;
        const uint64_t use = (uint64_t) ev[i].u.mem.owner_use * 256;
        switch (ev[i].sub) {
        case NINO_MEM_TRIM:
            c->trims++;
            c->trim_bytes += ev[i].u.mem.bytes;
            break;
        case NINO_MEM_FAIL:
            c->fails++;
            c->fail_bytes += ev[i].u.mem.bytes;
            break;
        case NINO_MEM_ALLOC: c->weight_bytes += is_weight ? ev[i].u.mem.bytes : 0; break;
        default: break;
        }
        if (is_weight && (ev[i].sub == NINO_MEM_ALLOC || ev[i].sub == NINO_MEM_FREE) &&
            use > c->weight_peak)
            c->weight_peak = use;
    }
}

// Bytes and seconds of uploads in the run.
static double uploads(const advisor *a, double *seconds)
{
    nino_track_info track[64];
    const size_t n = nino_history_tracks(a->h, track, 64);
    double bytes = 0;
    *seconds = 0;
    for (size_t i = 0; i < n && i < 64; i++) {
        size_t m;
        const nino_event *ev = nino_history_slices(a->h, track[i].number, &m);
        for (size_t k = nino_history_slice_at(a->h, track[i].number, a->begin_ns); k < m; k++)
            if (ev[k].kind == NINO_EV_TRANSFER &&
                !strcmp(nino_history_name((void *) a->h, ev[k].name), "upload")) {
                bytes += ev[k].u.kernel.bytes;
                *seconds += (double) ev[k].u.kernel.dur_ns * 1e-9;
            }
    }
    return bytes;
}

static void set_limit(nino_advice *v, double bytes)
{
    const unsigned long long mib = (unsigned long long) (bytes / 1048576) / 64 * 64 + 128;
    v->action = NINO_ADVICE_OPTION;
    PUT(v->setting, "--mem-limit %lluMiB", mib);
    v->gain_bytes = NAN;
}

static void advise_evictions(advisor *a, const churn *c)
{
    char again[32], peak[32], room[32];
    double seconds;
    const double bytes = uploads(a, &seconds);
    const double extra = (double) c->weight_bytes - (double) c->weight_peak;
    if (!c->weight_peak || extra < 0.05 * (double) c->weight_peak || !a->mem.budget)
        return;
    nino_advice *v = nino_advice_new(a, "weights-evicted", "");
    if (!v)
        return;
    SAY(a, v->title, "Weights were given up and read again: more memory");
    SAY(a, v->evidence,
        "%s of weights came to the device, at most %s were there at once; the budget is %s",
        nino_advice_bytes(a, again, sizeof(again), (double) c->weight_bytes),
        nino_advice_bytes(a, peak, sizeof(peak), (double) c->weight_peak),
        nino_advice_bytes(a, room, sizeof(room), (double) a->mem.budget));
    v->gain_s = bytes > 0 ? seconds * fmin(extra / bytes, 1) : 0;
    SAY(a, v->how, "share of the second copies in %s of uploads", NINO_ADVICE_TIME(a, seconds));
    set_limit(v, (double) a->mem.peak + extra);
}

static void advise_trims(advisor *a, const churn *c)
{
    char taken[32], refused[32], room[32];
    if (c->trims + c->fails < 3)
        return;
    nino_advice *v = nino_advice_new(a, "memory-short", "");
    if (!v)
        return;
    SAY(a, v->title, "Memory is short: the pool gave back what it had kept");
    SAY(a, v->evidence,
        "%s went back to the driver (times: %llu), %s were refused (requests: %llu); the budget "
        "is %s",
        nino_advice_bytes(a, taken, sizeof(taken), (double) c->trim_bytes),
        (unsigned long long) c->trims,
        nino_advice_bytes(a, refused, sizeof(refused), (double) c->fail_bytes),
        (unsigned long long) c->fails,
        nino_advice_bytes(a, room, sizeof(room), (double) a->mem.budget));
    SAY(a, v->how, "not computable: what taking memory costs was not measured");
    if (a->mem.budget)
        set_limit(v, (double) a->mem.budget +
                         (double) c->fail_bytes / (double) (c->fails ? c->fails : 1));
}

static void advise_compiling(advisor *a)
{
    size_t n, misses = 0, hits = 0, by_driver = 0, stages = 0;
    const nino_event *ev = nino_history_points(a->h, NINO_EV_CACHE, &n);
    for (size_t i = ev ? nino_history_lower(ev, n, a->begin_ns) : n; i < n; i++)
        if (ev[i].sub == NINO_CACHE_PROGRAM)
            *(ev[i].u.scope.arg0 ? &hits : ev[i].u.scope.arg1 ? &by_driver : &misses) += 1;
    double saved;
    const double seconds = nino_advice_compiling(a, a->begin_ns, UINT64_MAX, &stages, &saved);
    if (saved <= 0 || saved < 0.05 * a->wall_s)
        return;
    nino_advice *v = nino_advice_new(a, "compiled", "");
    if (!v)
        return;
    SAY(a, v->title, "Run it again: kernels were compiled");
    v->gain_s = saved;
    SAY(a, v->evidence, "%s of %s went into building programs (%zu)", NINO_ADVICE_TIME(a, seconds),
        NINO_ADVICE_TIME(a, a->wall_s), stages);
    if (by_driver) {
        ADD(a, v->evidence, "kept by the driver, not by us: %zu", by_driver);
        SAY(a, v->how,
            "at most %s: so long the run waited for programs that the next one finds in the "
            "driver's cache or in memory",
            NINO_ADVICE_TIME(a, saved));
    } else {
        ADD(a, v->evidence, "in our cache %zu were missed and %zu found", misses, hits);
        SAY(a, v->how,
            "%s: so long the run waited for programs that the next one finds in our cache or in "
            "memory",
            NINO_ADVICE_TIME(a, saved));
    }
}

void nino_advise_memory(advisor *a)
{
    churn c = { .trims = 0 };
    advice_memory_gather(a, &c);
    advise_evictions(a, &c);
    advise_trims(a, &c);
    advise_compiling(a);
}
