// The table of statistics, and what of them is counted here: clips, tiles, jobs.
#include "core/event/stats_priv.h"

#include <ninodes/statistics.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- counting ----------------------------------------------------------------------------------

static void add_clip(nino_stats *s, const nino_event *ev)
{
    s->clip_ns += ev->u.clip.ns;
    // Every tile of a clip has all of its frames.
    s->clip_frames += (uint64_t) ev->u.clip.frames * (s->open_tiles ? s->open_tiles : 1);
    s->chunk_ns += s->open_ns;
    s->chunk_frames += s->open_frames;
    s->n_chunks += s->n_open_chunks;
    if (ev->u.clip.n_borders && ev->u.clip.limit > 0) {
        s->n_borders += ev->u.clip.n_borders;
        s->border += (double) ev->u.clip.border;
        s->limit += (double) ev->u.clip.limit;
    }
    s->open_ns = s->open_frames = s->open_tiles = s->n_open_chunks = 0;
}

void nino_stats_add_job(nino_stats *s, uint64_t name, uint64_t ns)
{
    if (name)
        s->job[s->n_jobs++ % STATS_JOBS] = (stats_job){ name, ns };
}

static uint64_t hash_of(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u; // FNV-1a
    for (; *text; text++)
        h = (h ^ (unsigned char) *text) * 0x100000001b3u;
    return h ? h : 1;
}

void nino_stats_add_work(nino_stats *s, const nino_event *ev, nino_name_fn name, void *priv)
{
    switch (ev->kind) {
    case NINO_EV_CHUNK:
        s->open_ns += ev->u.chunk.ns;
        s->open_frames += ev->u.chunk.frames;
        s->open_tiles += ev->u.chunk.order == 0;
        s->n_open_chunks++;
        break;
    case NINO_EV_NODE: // pieces of an encoder end with no clip
        s->open_ns = s->open_frames = s->open_tiles = s->n_open_chunks = 0;
        break;
    case NINO_EV_CLIP: add_clip(s, ev); break;
    case NINO_EV_SEAM:
        s->pixels += ev->u.seam.pixels;
        s->recomputed += ev->u.seam.recomputed;
        s->n_tiled++;
        break;
    case NINO_EV_CEILINGS: s->bandwidth = ev->u.ceilings.bandwidth; break;
    case NINO_EV_JOB:
        s->running = (stats_job){ hash_of(name(priv, ev->name)), ev->t_ns };
        s->running_id = ev->id;
        break;
    case NINO_EV_END:
        if (!ev->id || ev->id != s->running_id)
            break;
        if (!ev->u.scope.arg0 && ev->t_ns > s->running.ns) // what failed says nothing
            nino_stats_add_job(s, s->running.name, ev->t_ns - s->running.ns);
        s->running_id = 0;
        break;
    default: break;
    }
}

// ---- values ------------------------------------------------------------------------------------

static double share(double part, double all) { return all > 0 ? part / all : (double) NAN; }

static nino_perf_stats perf(const nino_stats *s)
{
    nino_perf_stats p;
    nino_stats_perf(s, &p);
    return p;
}

#define PERF(member)                                                                               \
    static double member(const nino_stats *s) { return perf(s).member; }
PERF(average_execution_time)
PERF(total_executions)
PERF(cache_hit_rate)
PERF(memory_efficiency)
PERF(precision_efficiency)
PERF(batch_efficiency)
PERF(prefetch_efficiency)
PERF(total_memory_saves)
PERF(total_precision_optimizations)
PERF(total_batch_optimizations)
PERF(total_prefetch_hits)
PERF(total_driver_programs)
#undef PERF

static double longest_execution_time(const nino_stats *s)
{
    return s->runs ? (double) s->longest_ns * 1e-9 : (double) NAN;
}

static double memory_use(const nino_stats *s)
{
    return share((double) s->mem.peak, (double) s->mem.budget);
}

static double weight_wait_time(const nino_stats *s)
{
    double ns = 0;
    for (size_t i = 0; i < s->n_node; i++)
        ns += (double) s->node[i].once_ns;
    return s->runs ? ns * 1e-9 : (double) NAN;
}

static double late_bytes(const nino_stats *s)
{
    return s->ahead_bytes + s->late_bytes ? (double) s->late_bytes : (double) NAN;
}

static double precision_share_32(const nino_stats *s)
{
    return share((double) (s->timed_ns - s->short_ns), (double) s->timed_ns);
}

static double precision_share_16(const nino_stats *s)
{
    return share((double) (s->short_ns - s->byte_ns), (double) s->timed_ns);
}

static double precision_share_8(const nino_stats *s)
{
    return share((double) s->byte_ns, (double) s->timed_ns);
}

typedef struct kernel_sum {
    double ns, bytes;
    double moving_ns; // of kernels whose bytes are known
} kernel_sum;

// Kernels that change the type of numbers: casts, and weights that are expanded for a product.
static bool converts(const op_acc *a)
{
    return !strcmp(a->name, "cast") || !strncmp(a->name, "cast_", 5) ||
           !strncmp(a->name, "expand_", 7);
}

static kernel_sum sum_kernels(const nino_stats *s, bool conversions_only)
{
    kernel_sum k = { 0 };
    for (size_t i = 0; i < s->n_op; i++) {
        const op_acc *a = &s->op[i];
        if (!strcmp(a->family, "transfer") || (conversions_only && !converts(a)))
            continue;
        k.ns += (double) a->total_ns;
        k.bytes += a->bytes;
        k.moving_ns += a->bytes > 0 ? (double) a->total_ns : 0;
    }
    return k;
}

static double conversion_time(const nino_stats *s) { return sum_kernels(s, true).ns * 1e-9; }
static double conversion_bytes(const nino_stats *s) { return sum_kernels(s, true).bytes; }
static double conversion_overhead(const nino_stats *s)
{
    return share(sum_kernels(s, true).ns, sum_kernels(s, false).ns);
}

static double bandwidth_utilisation(const nino_stats *s)
{
    const kernel_sum k = sum_kernels(s, false);
    return share(share(k.bytes * 1e9, k.moving_ns), s->bandwidth);
}

static double video_efficiency(const nino_stats *s)
{
    return share((double) s->chunk_ns, (double) s->clip_ns);
}

static double temporal_efficiency(const nino_stats *s)
{
    return share((double) s->clip_frames, (double) s->chunk_frames);
}

static double temporal_consistency(const nino_stats *s) { return share(s->border, s->limit); }

static double adaptive_efficiency(const nino_stats *s)
{
    return share((double) s->pixels, (double) (s->pixels + s->recomputed));
}

static double total_video_optimizations(const nino_stats *s) { return (double) s->n_chunks; }
static double total_temporal_optimizations(const nino_stats *s) { return (double) s->n_borders; }
static double total_adaptive_adjustments(const nino_stats *s) { return (double) s->n_tiled; }

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
    return x < y ? -1 : x > y;
}

static double median(uint64_t *v, size_t n)
{
    const size_t lower = (n - 1) / 2, upper = n / 2;
    qsort(v, n, sizeof(*v), by_size);
    return ((double) v[lower] + (double) v[upper]) / 2;
}

// Of the last jobs that are of the last one's name: the newer half against the older.
static double execution_trend(const nino_stats *s)
{
    const uint64_t kept = s->n_jobs < STATS_JOBS ? s->n_jobs : STATS_JOBS;
    uint64_t ns[STATS_JOBS];
    size_t n = 0;
    for (uint64_t i = s->n_jobs - kept; i < s->n_jobs; i++)
        if (s->job[i % STATS_JOBS].name == s->job[(s->n_jobs - 1) % STATS_JOBS].name)
            ns[n++] = s->job[i % STATS_JOBS].ns;
    if (n < 4)
        return (double) NAN;
    const size_t n_older = n / 2;
    const double newer = median(ns + n_older, n - n_older);
    return newer / median(ns, n_older) - 1;
}

// ---- the table ---------------------------------------------------------------------------------

// Their order is the one in which they are shown.
static const nino_statistic table[] = {
#define N_(text) text // translated by who shows it
#define ROW(name, label, unit, ...)                                                                \
    {                                                                                              \
#name, label, NINO_STATISTIC_##unit, __VA_ARGS__                                           \
    }
    ROW(average_execution_time, N_("Average time of a node"), SECONDS,
        N_("Time of a node's run, on average over all runs that ended; preparing kernels and "
           "pauses "
           "are left out."),
        "sum of node run times / node runs", average_execution_time, false),
    ROW(longest_execution_time, N_("Longest time of a node"), SECONDS,
        N_("Time of the longest node run; preparing kernels and pauses are left out."),
        "largest node run time", longest_execution_time, false),
    ROW(total_executions, N_("Runs of nodes"), COUNT,
        N_("Node runs that ended. Nodes whose result came from the cache did not run."),
        "number of node runs", total_executions, false),
    ROW(execution_trend, N_("Trend of job times"), SHARE,
        N_("How much longer (+) or shorter (-) jobs have become: of the last 20 that are of the "
           "last "
           "one's name, at least 4, the newer half against the older."),
        "median of newer / median of older - 1", execution_trend, false),
    ROW(cache_hit_rate, N_("Cache hit rate"), SHARE,
        N_("Look-ups that found what they wanted: requests to the memory pool, compiled kernels, "
           "results of nodes and opened model files."),
        "hits / look-ups", cache_hit_rate, false),
    ROW(memory_efficiency, N_("Memory efficiency"), SHARE,
        N_("Bytes of pool requests that were served from memory already held."),
        "bytes reused / bytes requested", memory_efficiency, false),
    ROW(memory_use, N_("Memory use"), SHARE,
        N_("The most that the pool had handed out at once, of what it may use."),
        "peak bytes / budget bytes", memory_use, false),
    ROW(total_memory_saves, N_("Memory saves"), COUNT,
        N_("Pool requests that were served without asking the driver."),
        "number of allocations that hit", total_memory_saves, true),
    ROW(precision_efficiency, N_("Precision efficiency"), SHARE,
        N_("Share of the kernel time whose kernels store 16 bits an element or less."),
        "time of kernels with <= 16 bits / time of kernels", precision_efficiency, false),
    ROW(precision_share_32, N_("Share of 32 bits"), SHARE,
        N_("Share of the kernel time whose kernels store 32 bits an element."),
        "time of kernels with > 16 bits / time of kernels", precision_share_32, true),
    ROW(precision_share_16, N_("Share of 16 bits"), SHARE,
        N_("Share of the kernel time whose kernels store 16 bits an element."),
        "time of kernels with 16 bits / time of kernels", precision_share_16, true),
    ROW(precision_share_8, N_("Share of 8 bits"), SHARE,
        N_("Share of the kernel time whose kernels store 8 bits an element."),
        "time of kernels with <= 8 bits / time of kernels", precision_share_8, true),
    ROW(conversion_overhead, N_("Conversion overhead"), SHARE,
        N_("Share of the kernel time that goes into changing the type of numbers: casts, and "
           "quantised weights that are expanded for a product."),
        "time of cast and expand kernels / time of kernels", conversion_overhead, true),
    ROW(conversion_time, N_("Conversion time"), SECONDS, N_("Time of these kernels."),
        "sum of cast and expand kernel times", conversion_time, true),
    ROW(conversion_bytes, N_("Bytes converted"), BYTES,
        N_("Bytes that these kernels read and write."), "sum of cast and expand kernel bytes",
        conversion_bytes, true),
    ROW(total_precision_optimizations, N_("Precision optimisations"), COUNT,
        N_("Kernels that store 16 bits an element or less."), "number of kernels with <= 16 bits",
        total_precision_optimizations, true),
    ROW(bandwidth_utilisation, N_("Bandwidth utilisation"), SHARE,
        N_("Bytes a second that kernels must move at least, of the bandwidth of the device as it "
           "was "
           "measured, else as its data sheet has it. More than 100 % comes out of caches."),
        "(kernel bytes / time of kernels that move bytes) / bandwidth ceiling",
        bandwidth_utilisation, false),
    ROW(batch_efficiency, N_("Batch efficiency"), SHARE,
        N_("How full batches were, against the largest one."),
        "average batch of node runs / largest batch", batch_efficiency, false),
    ROW(total_batch_optimizations, N_("Batch optimizations"), COUNT,
        N_("Node runs with more than one image at once."), "number of node runs with batch > 1",
        total_batch_optimizations, true),
    ROW(prefetch_efficiency, N_("Prefetch efficiency"), SHARE,
        N_("Prefetched bytes that were there before they were needed."),
        "bytes in time / (bytes in time + bytes late)", prefetch_efficiency, false),
    ROW(total_prefetch_hits, N_("Prefetch hits"), COUNT,
        N_("Prefetched pieces that were there before they were needed."),
        "number of transfers in time", total_prefetch_hits, true),
    ROW(prefetch_late_bytes, N_("Bytes prefetched late"), BYTES,
        N_("Prefetched bytes that the job had to wait for."), "sum of bytes late", late_bytes,
        false),
    ROW(weight_wait_time, N_("Waited for weights"), SECONDS,
        N_("Time that nodes waited for weights to come from files."),
        "sum of waiting times of node runs", weight_wait_time, true),
    ROW(video_efficiency, N_("Video efficiency"), SHARE,
        N_("Share of the time of decoding clips that goes into the network; the rest puts frames "
           "together."),
        "time of pieces / time of clips", video_efficiency, false),
    ROW(total_video_optimizations, N_("Pieces of clips"), COUNT,
        N_("Pieces in which clips were decoded."), "number of pieces", total_video_optimizations,
        true),
    ROW(temporal_efficiency, N_("Temporal efficiency"), SHARE,
        N_("Frames of clips for each one that the network computed: less than 100 % where pieces "
           "overlap."),
        "frames of clips x tiles / frames computed", temporal_efficiency, false),
    ROW(temporal_consistency, N_("Temporal consistency"), RATIO,
        N_("Mean step between the two frames where pieces of a clip meet, against what an ordinary "
           "step may be: the median of all steps plus three median absolute deviations. Up to 1 "
           "the "
           "borders cannot be told from other frames."),
        "sum of border steps / sum of limits, over clips", temporal_consistency, false),
    ROW(total_temporal_optimizations, N_("Borders of pieces"), COUNT,
        N_("Places where pieces of clips meet."), "number of borders", total_temporal_optimizations,
        true),
    ROW(adaptive_efficiency, N_("Adaptive efficiency"), SHARE,
        N_("Of what was cut into tiles to fit the memory: pixels of the result for each one that "
           "was "
           "computed."),
        "pixels / (pixels + pixels computed again)", adaptive_efficiency, false),
    ROW(total_adaptive_adjustments, N_("Adaptive adjustments"), COUNT,
        N_("Pictures and clips that were cut into tiles."), "number of tiled results",
        total_adaptive_adjustments, true),
    ROW(total_driver_programs, N_("Programs left to the driver"), COUNT,
        N_("Compiled kernels that are not kept here because the driver has a cache of its own "
           "(PoCL). "
           "They count neither as hits nor as misses."),
        "number of such programs", total_driver_programs, true),
    { 0 }
#undef ROW
#undef N_
};

const nino_statistic *nino_statistics(void) { return table; }

const char *nino_statistic_unit_text(nino_statistic_unit unit)
{
    static const char *const texts[] = { "", "s", "B", "%", "x" };
    return (unsigned) unit < sizeof(texts) / sizeof(texts[0]) ? texts[unit] : "";
}

bool nino_statistic_speaks(const nino_statistic *s, double value)
{
    return isfinite(value) && !(s->is_silent_at_0 && value <= 0);
}
