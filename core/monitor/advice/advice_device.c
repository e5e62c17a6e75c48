// Advice on how the device is used: launches, idle time, copies, precision.
#include "core/monitor/advice/advice_rules.h"

// What the kernels of the run were, over all queues.
typedef struct use {
    uint64_t n, n_short;
    double short_s, short_limit; // launches that are hardly longer than an empty one
    double gaps_s;               // between kernels of one queue that followed each other
    double busy_s, span_s;       // from the first kernel to the last
    double f32_s, f32_then;      // kernels in 32-bit storage; their time with half the bytes
    uint64_t n_f32;
    double upload_s, upload_bytes, download_s, download_bytes;
} use;

static double longest_gap = 0.5; // seconds; more is no launch gap but something else

// Time of a kernel on the roofline.
static double roof(const advisor *a, double flops, double bytes, double peak)
{
    return fmax(peak > 0 ? flops / peak : 0, a->c.bandwidth > 0 ? bytes / a->c.bandwidth : 0);
}

static void advice_device_count(const advisor *a, use *u, const nino_event *e)
{
    const double s = (double) e->u.kernel.dur_ns * 1e-9;
    if (e->kind == NINO_EV_TRANSFER) {
        const char *name = nino_history_name((void *) a->h, e->name);
        const bool is_down = !strcmp(name, "download");
        *(is_down ? &u->download_s : &u->upload_s) += s;
        *(is_down ? &u->download_bytes : &u->upload_bytes) += e->u.kernel.bytes;
        return;
    }
    u->n++;
    u->busy_s += s;
    if (s < u->short_limit) {
        u->n_short++;
        u->short_s += s;
    }
    if (e->id != 32 || e->u.kernel.flops <= 0)
        return;
    const double now = roof(a, e->u.kernel.flops, e->u.kernel.bytes, a->c.flops_f32);
    const double then = roof(a, e->u.kernel.flops, e->u.kernel.bytes / 2, a->c.flops_f16);
    u->n_f32++;
    u->f32_s += s;
    u->f32_then += now > 0 ? s * then / now : s;
}

static void advice_device_gather(const advisor *a, use *u)
{
    nino_track_info track[64];
    const size_t n = nino_history_tracks(a->h, track, 64);
    u->short_limit = 5 * a->c.launch_s;
    for (size_t i = 0; i < n && i < 64; i++) {
        size_t m;
        uint64_t end = 0, first = 0;
        const nino_event *ev = nino_history_slices(a->h, track[i].number, &m);
        for (size_t k = nino_history_slice_at(a->h, track[i].number, a->begin_ns); k < m; k++) {
            advice_device_count(a, u, &ev[k]);
            if (track[i].number < 256)
                continue;
            const double gap = end && ev[k].t_ns > end ? (double) (ev[k].t_ns - end) * 1e-9 : 0;
            u->gaps_s += gap < longest_gap ? gap : 0;
            first = first ? first : ev[k].t_ns;
            end = ev[k].t_ns + ev[k].u.kernel.dur_ns;
        }
        u->span_s += end > first ? (double) (end - first) * 1e-9 : 0;
    }
}

static void advise_launches(advisor *a, const use *u)
{
    const double cost = (double) u->n_short * a->c.launch_s;
    char node[48];
    if (!a->has_ceilings || a->c.launch_s <= 0 || u->n < 50 || cost < 0.1 * u->busy_s ||
        cost < 0.03 * a->wall_s)
        return;
    nino_advice *v = nino_advice_new(a, "launch-bound", "");
    if (!v)
        return;
    SAY(a, v->title, "Kernels are too small for their launches: larger batches");
    SAY(a, v->evidence,
        "%llu of %llu kernels are shorter than %s, %s in all; a launch costs %s, %s for them",
        (unsigned long long) u->n_short, (unsigned long long) u->n,
        NINO_ADVICE_TIME(a, u->short_limit), NINO_ADVICE_TIME(a, u->short_s),
        NINO_ADVICE_TIME(a, a->c.launch_s), NINO_ADVICE_TIME(a, cost));
    v->gain_s = cost / 2;
    SAY(a, v->how, "an image of a batch of two needs half the launches: %s / 2 for each image",
        NINO_ADVICE_TIME(a, cost));
    if (nino_advice_find(a, "Latent", "batch_size", node, sizeof(node))) {
        char value[32];
        const int now =
            nino_advice_value(a, node, "batch_size", value, sizeof(value)) ? atoi(value) : 1;
        v->action = NINO_ADVICE_SET;
        v->changes_result = 1; // more images
        PUT(v->setting, "%s.batch_size=%d", node, now * 2);
        PUT(v->node, "%s", node);
    }
}

static void advise_idle(advisor *a, const use *u)
{
    const double idle = u->gaps_s - nino_advice_compiling(a, a->begin_ns, UINT64_MAX, NULL, NULL);
    if (u->n < 20 || idle < 0.2 * u->span_s || idle < 0.05 * a->wall_s)
        return;
    nino_advice *v = nino_advice_new(a, "device-idle", "");
    if (!v)
        return;
    SAY(a, v->title, "The device waits for the host between kernels");
    SAY(a, v->evidence, "%s without a kernel in %s of device work, %.0f %%; %llu kernels, %s apart",
        NINO_ADVICE_TIME(a, idle), NINO_ADVICE_TIME(a, u->span_s), 100 * idle / u->span_s,
        (unsigned long long) u->n, NINO_ADVICE_TIME(a, idle / (double) u->n));
    v->gain_s = idle;
    SAY(a, v->how, "upper bound: all gaps below %s between kernels of a queue, less compiling",
        NINO_ADVICE_TIME(a, longest_gap));
}

// What was copied in the directions in which anything was.
static void say_copied(const advisor *a, nino_advice *v, const use *u, double gbps)
{
    char up[32], down[32];
    nino_advice_bytes(a, up, sizeof(up), u->upload_bytes);
    nino_advice_bytes(a, down, sizeof(down), u->download_bytes);
    if (u->upload_bytes > 0 && u->download_bytes > 0)
        SAY(a, v->evidence, "%s up in %s, %s down in %s: %.2f GB/s", up,
            NINO_ADVICE_TIME(a, u->upload_s), down, NINO_ADVICE_TIME(a, u->download_s), gbps);
    else if (u->upload_bytes > 0)
        SAY(a, v->evidence, "%s up in %s: %.2f GB/s", up, NINO_ADVICE_TIME(a, u->upload_s), gbps);
    else
        SAY(a, v->evidence, "%s down in %s: %.2f GB/s", down, NINO_ADVICE_TIME(a, u->download_s),
            gbps);
}

static void advise_transfers(advisor *a, const use *u)
{
    const double sum = u->upload_s + u->download_s, bytes = u->upload_bytes + u->download_bytes;
    if (sum < 0.15 * a->wall_s || sum < 0.02)
        return;
    nino_advice *v = nino_advice_new(a, "transfer-bound", "");
    if (!v)
        return;
    SAY(a, v->title, "Copies between host and device take %.0f %% of the run",
        100 * sum / a->wall_s);
    say_copied(a, v, u, bytes / sum * 1e-9);
    const double fast = a->in->ceilings && a->c.upload > 0 ? a->c.upload : 0;
    if (fast > 0 && bytes / fast < sum) {
        v->gain_s = sum - bytes / fast;
        SAY(a, v->how, "%s less what the measured %.2f GB/s need", NINO_ADVICE_TIME(a, sum),
            fast * 1e-9);
    } else {
        v->gain_s = u->upload_s;
        SAY(a, v->how,
            "upper bound: a second run with the weights still on the device copies no weights");
    }
}

static void advise_precision(advisor *a, const use *u)
{
    const double gain = u->f32_s - u->f32_then;
    // 16 bits pay where the device computes faster in them.
    if (!a->has_ceilings || a->c.flops_f16 < 1.2 * a->c.flops_f32 || gain < 0.1 * a->wall_s)
        return;
    nino_advice *v = nino_advice_new(a, "precision", "");
    if (!v)
        return;
    SAY(a, v->title, "Store in 16 bits");
    SAY(a, v->evidence,
        "%llu kernels in 32-bit storage took %s; the device does %.0f GFLOP/s in f16, %.0f in f32",
        (unsigned long long) u->n_f32, NINO_ADVICE_TIME(a, u->f32_s), a->c.flops_f16 * 1e-9,
        a->c.flops_f32 * 1e-9);
    v->gain_s = gain;
    SAY(a, v->how,
        "roofline of each kernel with half the bytes and the f16 ceiling: %s instead of %s",
        NINO_ADVICE_TIME(a, u->f32_then), NINO_ADVICE_TIME(a, u->f32_s));
    v->action = NINO_ADVICE_OPTION;
    v->changes_result = 1;
    PUT(v->setting, "--precision fp16");
}

void nino_advise_device(advisor *a)
{
    use u = { .n = 0 };
    advice_device_gather(a, &u);
    advise_launches(a, &u);
    advise_idle(a, &u);
    advise_transfers(a, &u);
    advise_precision(a, &u);
}
