// Tables of what was measured.
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NODE_LINES = 10 }; // with the head and the total: twelve

static const char *signed_bytes(char *buf, size_t size, int64_t v)
{
    char b[32];
    snprintf(buf, size, "%s%s", v > 0 ? "+" : "", human_bytes(b, sizeof(b), (double) v));
    return buf;
}

static nino_node_stat *all_nodes(const nino_stats *s, size_t *n)
{
    *n = nino_stats_nodes(s, NULL, 0);
    nino_node_stat *list = calloc(*n + 1, sizeof(*list));
    if (list)
        nino_stats_nodes(s, list, *n);
    else
        *n = 0;
    return list;
}

// The time below which a node is left out when there are too many.
static uint64_t report_threshold(const nino_node_stat *list, size_t n)
{
    uint64_t top[NODE_LINES - 1] = { 0 }; // descending
    for (size_t i = 0; i < n; i++) {
        uint64_t v = list[i].ns;
        for (int k = 0; k < NODE_LINES - 1; k++)
            if (v > top[k]) {
                const uint64_t t = top[k];
                top[k] = v;
                v = t;
            }
    }
    return top[NODE_LINES - 2];
}

// once_ns: what of the time went into reading weights, which another run would not do; shown where
// it is a tenth and more.
static void node_line(FILE *f, const char *name, uint64_t ns, uint64_t once_ns, int64_t delta)
{
    char b[32], once[16] = "";
    if (once_ns * 10 > ns && once_ns > 10000000)
        snprintf(once, sizeof(once), "%.3f s", (double) (once_ns < ns ? once_ns : ns) * 1e-9);
    fprintf(f, "  %-40.40s %10.3f s  %10s  %12s\n", name, (double) ns * 1e-9, once,
            signed_bytes(b, sizeof(b), delta));
}

void report_nodes(FILE *f, const nino_stats *s)
{
    size_t n;
    nino_node_stat *list = all_nodes(s, &n);
    const uint64_t least = n > NODE_LINES ? report_threshold(list, n) : 0;
    uint64_t sum = 0, rest = 0, once_sum = 0, once_rest = 0;
    int64_t delta = 0, rest_delta = 0;
    size_t shown = 0, others = 0;
    if (n)
        fprintf(f, "  %-40s %12s  %10s  %13s\n", "node", "time", "reading", "\u0394memory");
    for (size_t i = 0; i < n; i++) {
        const uint64_t once = nino_stats_node_once(s, i);
        sum += list[i].ns;
        once_sum += once;
        delta += list[i].mem_delta;
        if (n <= NODE_LINES || (list[i].ns >= least && shown < NODE_LINES - 1)) {
            node_line(f, list[i].name, list[i].ns, once, list[i].mem_delta);
            shown++;
        } else {
            rest += list[i].ns;
            once_rest += once;
            rest_delta += list[i].mem_delta;
            others++;
        }
    }
    if (others) {
        char name[32];
        snprintf(name, sizeof(name), "(%zu others)", others);
        node_line(f, name, rest, once_rest, rest_delta);
    }
    uint64_t programs;
    const uint64_t preparing = nino_stats_preparing(s, &programs);
    if (programs) {
        char name[48];
        snprintf(name, sizeof(name), "(preparing kernels, %llu)", (unsigned long long) programs);
        node_line(f, name, preparing, 0, 0);
    }
    if (n)
        node_line(f, "total", sum + preparing, once_sum, delta);
    if (once_sum * 10 > sum && once_sum > 10000000)
        fprintf(f, "  reading: weights come from files once, whatever runs later finds them; to "
                   "compare settings, ninodes bench\n");
    free(list);
}

void report_memory(FILE *f, const nino_stats *s)
{
    nino_mem_stat m;
    char a[32], b[32], c[32];
    nino_stats_memory(s, &m);
    if (m.peak)
        fprintf(f, "  pool: peak %s (weights %s, activations %s)\n",
                human_bytes(a, sizeof(a), (double) m.peak),
                human_bytes(b, sizeof(b), (double) m.peak_by_owner[NINO_OWN_WEIGHTS]),
                human_bytes(c, sizeof(c), (double) m.peak_by_owner[NINO_OWN_ACTIVATION]));
}

void report_energy(FILE *f, const nino_stats *s)
{
    nino_energy_stat e;
    nino_stats_energy(s, &e);
    if (isfinite(e.joules) && e.seconds > 0)
        fprintf(f, "  energy: %.1f J in %.1f s, %.1f W\n", e.joules, e.seconds,
                e.joules / e.seconds);
}

void report_tiles(FILE *f, const nino_event *tile, const char *why)
{
    if (tile->kind == NINO_EV_TILE_INFO)
        fprintf(f, "  tiles: %u, the first of %ux%u pixels: %s\n", tile->u.tile.n, tile->u.tile.w,
                tile->u.tile.h, why);
}

void report_seams(FILE *f, const nino_event *seam)
{
    if (seam->kind != NINO_EV_SEAM || !seam->u.seam.pixels)
        return;
    fprintf(f,
            "  seams: %u, neighbours differ by %.2f/255 (at most %.1f), steps %+.3f/255, %.0f %% "
            "computed again\n",
            seam->u.seam.n_seams, (double) seam->u.seam.mean, (double) seam->u.seam.max,
            (double) seam->u.seam.gradient,
            100.0 * (double) seam->u.seam.recomputed / (double) seam->u.seam.pixels);
}

void report_video(FILE *f, const nino_event *clip)
{
    const double s = (double) clip->u.clip.ns * 1e-9;
    if (clip->kind != NINO_EV_CLIP || clip->u.clip.frames < 2 || s <= 0)
        return;
    fprintf(f, "  video: %u frames in %.1f s, %.1f frames/s", clip->u.clip.frames, s,
            clip->u.clip.frames / s);
    if (clip->u.clip.n_borders)
        fprintf(f, ", steps where pieces meet %.2f/255 (jumps are above %.2f)",
                (double) clip->u.clip.border, (double) clip->u.clip.limit);
    fputc('\n', f);
}

const nino_ceilings *told_ceilings(const nino_history *h, nino_ceilings *out)
{
    return h && nino_history_ceilings(h, out) ? out : NULL;
}

// In percent; NaN: not known. Of what a kernel stores statistics do not tell: the higher peak counts.
static double peak_percent(const nino_op_stat *o, const nino_ceilings *c)
{
    const double n = (double) o->calls;
    return c && o->calls ? 100 * nino_ceilings_share(c, o->flops / n, o->bytes / n,
                                                     (double) o->total_ns * 1e-9 / n, 0)
                         : (double) NAN;
}

const char *peak_source(const nino_ceilings *c, char *buf, size_t size)
{
    const time_t at = (time_t) c->measured_at;
    char day[32] = "";
    struct tm tm;
    if (at && localtime_r(&at, &tm))
        strftime(day, sizeof(day), "%Y-%m-%d", &tm);
    snprintf(buf, size, at ? "as measured on this device, %s" : "of the data sheet%s", day);
    return buf;
}

void report_kernels(FILE *f, const nino_stats *s, size_t max, const nino_ceilings *c)
{
    nino_op_stat list[64];
    char source[80];
    if (max > 64)
        max = 64;
    const size_t all = nino_stats_ops(s, list, max), n = all < max ? all : max;
    if (!n)
        return;
    fprintf(f, "  %-28s %-9s %7s %10s %10s %10s %9s %7s\n", "kernel", "family", "calls", "total ms",
            "p50 us", "p95 us", "GFLOP/s", "% peak");
    for (size_t i = 0; i < n; i++) {
        const double peak = peak_percent(&list[i], c);
        char share[16] = "-";
        if (isfinite(peak))
            snprintf(share, sizeof(share), "%.1f", peak);
        fprintf(f, "  %-28.28s %-9.9s %7llu %10.2f %10.1f %10.1f %9.1f %7s\n", list[i].name,
                list[i].family, (unsigned long long) list[i].calls,
                (double) list[i].total_ns * 1e-6, list[i].p50_ns * 1e-3, list[i].p95_ns * 1e-3,
                list[i].gflops, share);
    }
    if (all > n)
        fprintf(f, "  (%zu others)\n", all - n);
    if (c)
        fprintf(f, "  (%% peak: %s%s)\n", peak_source(c, source, sizeof(source)),
                c->measured_at ? "" : "; ninodes devices --measure finds out");
}

static void op_json(const nino_op_stat *o, const nino_ceilings *c)
{
    js_open(NULL, '{');
    js_text("name", o->name);
    js_text("family", o->family);
    js_uint("calls", o->calls);
    js_uint("total_ns", o->total_ns);
    js_uint("min_ns", o->min_ns);
    js_uint("max_ns", o->max_ns);
    js_num("mean_ns", o->mean_ns);
    js_num("sigma_ns", o->sigma_ns);
    js_num("p50_ns", o->p50_ns);
    js_num("p95_ns", o->p95_ns);
    js_num("flops", o->flops);
    js_num("bytes", o->bytes);
    js_num("requested_bytes", o->requested);
    js_num("gflops", o->gflops);
    js_num("gbps", o->gbps);
    js_num("peak_percent", peak_percent(o, c));
    js_close('}');
}

static void memory_json(const nino_stats *s)
{
    nino_mem_stat m;
    nino_stats_memory(s, &m);
    js_open("memory", '{');
    js_uint("in_use", m.in_use);
    js_uint("peak", m.peak);
    js_uint("reserved", m.reserved);
    js_uint("budget", m.budget);
    js_uint("peak_weights", m.peak_by_owner[NINO_OWN_WEIGHTS]);
    js_uint("peak_activation", m.peak_by_owner[NINO_OWN_ACTIVATION]);
    js_uint("peak_workspace", m.peak_by_owner[NINO_OWN_WORKSPACE]);
    js_uint("allocs", m.allocs);
    js_uint("hits", m.hits);
    js_uint("fails", m.fails);
    js_num("fragmentation", m.fragmentation);
    js_close('}');
}

static void energy_json(const nino_stats *s)
{
    nino_energy_stat e;
    nino_stats_energy(s, &e);
    js_open("energy", '{');
    js_num("joules", e.joules);
    js_num("last_job_joules", e.last_joules);
    js_num("seconds", e.seconds);
    js_close('}');
}

static void perf_json(const nino_stats *s)
{
    js_open("performance", '{');
    for (const nino_statistic *t = nino_statistics(); t->name; t++)
        js_num(t->name, t->value(s));
    js_close('}');
}

static const char *statistic_words(char *buf, size_t size, nino_statistic_unit unit, double v)
{
    switch (unit) {
    case NINO_STATISTIC_SECONDS: snprintf(buf, size, "%.4g s", v); break;
    case NINO_STATISTIC_BYTES: human_bytes(buf, size, v); break;
    case NINO_STATISTIC_SHARE: snprintf(buf, size, "%.1f %%", 100 * v); break;
    case NINO_STATISTIC_RATIO: snprintf(buf, size, "%.2f", v); break;
    case NINO_STATISTIC_COUNT: snprintf(buf, size, "%.0f", v); break;
    }
    return buf;
}

void report_statistics(FILE *f, const nino_stats *s)
{
    char text[48];
    for (const nino_statistic *t = nino_statistics(); t->name; t++) {
        const double v = t->value(s);
        if (nino_statistic_speaks(t, v))
            fprintf(f, "  %-32s %12s\n", t->label, statistic_words(text, sizeof(text), t->unit, v));
    }
}

void report_work_json(const nino_history *h)
{
    nino_stats *s = nino_history_work_stats(h, 0, UINT64_MAX);
    const size_t n = s ? nino_stats_ops(s, NULL, 0) : 0;
    nino_op_stat *ops = calloc(n + 1, sizeof(*ops));
    if (ops && s)
        nino_stats_ops(s, ops, n);
    js_open("work_sizes", '[');
    for (size_t i = 0; ops && i < n; i++) {
        char text[NINO_LAUNCH_TEXT], size[NINO_WORK_TEXT];
        const char *sizes = strrchr(ops[i].name, ' ');
        nino_launch l;
        snprintf(text, sizeof(text), "%s/", sizes ? sizes + 1 : "");
        if (!nino_launch_read(&l, text)) // a transfer, or of an older version
            continue;
        snprintf(text, sizeof(text), "%.*s", (int) (sizes - ops[i].name), ops[i].name);
        js_open(NULL, '{');
        js_text("name", text);
        js_text("family", ops[i].family);
        js_text("global", nino_work_text(size, l.global));
        js_text("local", *nino_work_text(size, l.local) ? size : NULL); // the driver's choice
        js_uint("calls", ops[i].calls);
        js_uint("total_ns", ops[i].total_ns);
        js_num("mean_ns", ops[i].mean_ns);
        js_num("requested_bytes", ops[i].requested);
        js_close('}');
    }
    js_close(']');
    free(ops);
    nino_stats_destroy(&s);
}

void report_json(const nino_stats *s, const nino_ceilings *c)
{
    size_t n;
    nino_node_stat *list = all_nodes(s, &n);
    js_open("nodes", '[');
    for (size_t i = 0; i < n; i++) {
        js_open(NULL, '{');
        js_text("name", list[i].name);
        js_num("ms", (double) list[i].ns * 1e-6);
        js_num("kernel_ms", (double) list[i].kernel_ns * 1e-6);
        js_int("memory_delta", list[i].mem_delta);
        js_uint("memory_peak", list[i].mem_peak);
        js_uint("calls", list[i].calls);
        js_close('}');
    }
    js_close(']');
    free(list);
    const size_t n_ops = nino_stats_ops(s, NULL, 0);
    nino_op_stat *ops = calloc(n_ops + 1, sizeof(*ops));
    if (ops)
        nino_stats_ops(s, ops, n_ops);
    char source[80];
    js_text("peak_of", c ? peak_source(c, source, sizeof(source)) : NULL);
    js_open("kernels", '[');
    for (size_t i = 0; ops && i < n_ops; i++)
        op_json(&ops[i], c);
    js_close(']');
    free(ops);
    memory_json(s);
    perf_json(s);
    energy_json(s);
    uint64_t summed, programs;
    const uint64_t preparing = nino_stats_preparing(s, &programs);
    js_open("preparing", '{');
    js_uint("programs", programs);
    js_num("ms", (double) preparing * 1e-6);
    js_close('}');
    nino_stats_count(s, &summed);
    js_uint("telemetry_lost", nino_stats_lost(s));
    js_uint("telemetry_summed", summed);
}
