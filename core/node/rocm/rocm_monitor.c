// ROCMVAEPerformanceMonitor measures, ROCMMemoryOptimizer frees. Both say what they found in
// numbers.
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/time.h"
#include "core/node/probe.h"
#include "core/node/util.h"
#include "core/op/backend.h"

#define RUNS 5 // timed repetitions of a probe, after one that warms up

// ---- probes ----------------------------------------------------------------------------------

// y = 1 x + 0 with x kept: reads and writes every byte once. *bytes: per run.
static nino_status probe_copy(nino_stream *s, nino_probe *out, double *bytes, nino_error *err)
{
    const nino_shape shape = NINO_SHAPE(1, 512, 512, 16);
    double t[RUNS] = { 0 };
    nino_tensor *x = nino_zeros(s, shape, nino_stream_act_type(s));
    *bytes =
        2.0 * (double) nino_shape_count(&shape) * (double) nino_dtype_size(nino_stream_act_type(s));
    for (int i = -1; i < RUNS; i++) {
        nino_stream_finish(s, NULL);
        const uint64_t begin = nino_now_ns();
        nino_unref(nino_scale(s, nino_ref(x), 1.0f, 0.0f));
        nino_stream_finish(s, NULL);
        if (i >= 0)
            t[i] = (double) (nino_now_ns() - begin) * 1e-9;
    }
    nino_unref(x);
    *out = nino_probe_of(t, RUNS);
    return nino_stream_status(s, err);
}

// 3x3, 128 -> 128 channels, on side x side.
static double time_conv(nino_stream *s, const nino_conv *conv, int side)
{
    nino_tensor *x = nino_zeros(s, NINO_SHAPE(1, side, side, 128), nino_stream_act_type(s));
    nino_stream_finish(s, NULL);
    const uint64_t begin = nino_now_ns();
    nino_unref(nino_conv2d(s, x, conv));
    nino_stream_finish(s, NULL);
    return (double) (nino_now_ns() - begin) * 1e-9;
}

static double conv_flops(int side) { return 2.0 * 9 * 128 * 128 * side * side; }

static nino_status probe_conv(nino_stream *s, nino_probe *out, double *flops, int *side,
                              nino_error *err)
{
    double t[RUNS] = { 0 };
    nino_array *w = nino_probe_noise(NINO_SHAPE(128, 128, 3, 3), err);
    nino_conv conv = { .w = w ? nino_weight_from_array(w, NINO_W_CONV3) : NULL };
    nino_array_unref(&w);
    if (!conv.w)
        return nino_fail(err, NINO_ERR_NOMEM, "probe", "out of memory");
    // As large as a tenth of a second allows: the machine may be anything.
    time_conv(s, &conv, 16);
    const double small = time_conv(s, &conv, 32);
    *side = 32;
    while (*side < 256 && small * *side * *side / (32.0 * 32.0) < 0.025)
        *side *= 2;
    for (int i = 0; i < RUNS; i++)
        t[i] = time_conv(s, &conv, *side);
    nino_conv_release(&conv);
    *flops = conv_flops(*side);
    *out = nino_probe_of(t, RUNS);
    return nino_stream_status(s, err);
}

static nino_status time_decode(nino_run *r, const nino_vae *vae, const nino_array *z,
                               nino_tile_params tile, double *seconds, nino_tile_report *report,
                               nino_error *err)
{
    nino_array *pixels = NULL;
    const uint64_t begin = nino_now_ns();
    const nino_status st = nino_vae_decode_tiled(r->stream, vae, z, &tile, &pixels, report, err);
    *seconds = (double) (nino_now_ns() - begin) * 1e-9;
    nino_array_unref(&pixels);
    return st;
}

typedef struct decode_probe {
    int side;     // pixels of the test picture
    int tile[3];  // 0: whole
    double ms[3]; // of one decode
    int tiles[3]; // computed
    int n;
} decode_probe;

// One picture, whole and in tiles. The side is what about a second of decoding pays for.
static nino_status probe_decode(nino_run *r, const nino_vae *vae, int wanted, decode_probe *out,
                                nino_error *err)
{
    nino_status st = NINO_OK;
    double seconds = 0;
    nino_tile_report report = { 0 };
    const nino_tile_params whole = { .style = NINO_TILE_NEVER };
    nino_array *z = NULL;
    out->side = 64;
    for (int pass = 0; pass < 2 && st == NINO_OK; pass++) { // the first one packs the weights
        z = nino_probe_noise(NINO_SHAPE(1, 64 / vae->factor, 64 / vae->factor, vae->channels), err);
        st = z ? time_decode(r, vae, z, whole, &seconds, &report, err) : NINO_ERR_NOMEM;
        nino_array_unref(&z);
    }
    while (st == NINO_OK && out->side * 2 <= wanted && out->side < 1024 && seconds * 4 < 0.7) {
        out->side *= 2;
        seconds *= 4;
    }
    const int cells = out->side / vae->factor;
    if (st == NINO_OK && !(z = nino_probe_noise(NINO_SHAPE(1, cells, cells, vae->channels), err)))
        st = NINO_ERR_NOMEM;
    for (int i = 0; i < 3 && st == NINO_OK; i++) {
        const int tile = i ? out->side >> i : 0;
        if (tile && tile < 8 * vae->factor)
            break;
        const nino_tile_params p =
            tile ? (nino_tile_params){ NINO_TILE_ALWAYS, tile, tile / 4 } : whole;
        if ((st = nino_node_cancelled(r, err)) ||
            (st = time_decode(r, vae, z, p, &seconds, &report, err)))
            break;
        out->tile[i] = tile;
        out->ms[i] = seconds * 1e3;
        out->tiles[i] = report.tiled ? report.n_tiles : 1;
        out->n = i + 1;
    }
    nino_array_unref(&z);
    return st;
}

// ---- ROCMVAEPerformanceMonitor ---------------------------------------------------------------

typedef struct vae_params {
    int64_t test_resolution;
} vae_params;

static void describe_device(nino_run *r, const nino_vae *vae, nino_buf *b)
{
    const nino_backend *be = nino_stream_backend(r->stream);
    nino_mem_stat m;
    nino_pool_stat(be->pool, &m);
    nino_buf_addf(b, "Device: %s (%s)\n", be->info.name, be->info.selector);
    nino_buf_addf(b, "Profile: %s, storage %s\n", be->profile.name,
                  nino_dtype_name(nino_stream_act_type(r->stream)));
    nino_buf_addf(b, "VAE: %s, %d channels, %dx, %.1f MiB of weights\n", vae->family, vae->channels,
                  vae->factor, (double) vae->weight_bytes / 0x1p20);
    nino_buf_addf(b, "Memory: %.2f GiB in use, %.2f GiB held", (double) m.in_use / 0x1p30,
                  (double) m.reserved / 0x1p30);
    if (m.budget)
        nino_buf_addf(b, ", budget %.2f GiB", (double) m.budget / 0x1p30);
    nino_buf_adds(b, "\nMeasured: ");
    nino_probe_date(b);
    nino_buf_addc(b, '\n');
}

// The largest tile whose planned peak fits what the budget leaves.
static nino_status rocm_monitor_advise(nino_run *r, const nino_vae *vae, int wanted,
                                       const decode_probe *d, nino_buf *b, nino_error *err)
{
    const nino_backend *be = nino_stream_backend(r->stream);
    nino_mem_stat m;
    nino_pool_stat(be->pool, &m);
    uint64_t peak = 0, weights = 0;
    int side = wanted;
    for (; side >= 256; side -= side > 512 ? 256 : 64) {
        const int cells = side / vae->factor;
        const nino_status st =
            nino_vae_decode_peak(r->stream, vae, 1, cells, cells, &peak, &weights, err);
        if (st)
            return st;
        if (!m.budget || peak + weights <= m.budget)
            break;
    }
    int best = 0;
    for (int i = 1; i < d->n; i++)
        if (d->ms[i] < d->ms[best])
            best = i;
    if (side >= wanted)
        nino_buf_addf(b, "tile_size: not needed at %dx%d (plan: %.1f MiB + %.1f MiB weights)\n",
                      wanted, wanted, (double) peak / 0x1p20, (double) weights / 0x1p20);
    else
        nino_buf_addf(b, "tile_size: %d (largest that fits; plan: %.1f MiB + %.1f MiB weights)\n",
                      side < 256 ? 256 : side, (double) peak / 0x1p20, (double) weights / 0x1p20);
    if (d->n && best)
        nino_buf_addf(b, "fastest measured: tiles of %d at %dx%d\n", d->tile[best], d->side,
                      d->side);
    else if (d->n)
        nino_buf_addf(b, "fastest measured: whole image at %dx%d\n", d->side, d->side);
    return NINO_OK;
}

static nino_status rocm_monitor_vae_run(nino_run *r, nino_error *err)
{
    const nino_vae *vae = r->in[0]->u.vae;
    const int wanted = (int) ((const vae_params *) r->params)->test_resolution;
    nino_buf text[3] = { { 0 } };
    nino_probe copy = { 0 }, conv = { 0 };
    decode_probe d = { 0 };
    double bytes = 0, flops = 0;
    int side = 0;
    nino_status st = NINO_OK;
    if (r->is_plan)
        return nino_probe_texts(r, text, err);
    if (!vae->has_decoder)
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", vae->name,
                              "this file has no decoder to measure");
    describe_device(r, vae, &text[0]);
    if ((st = probe_copy(r->stream, &copy, &bytes, err)) ||
        (st = probe_conv(r->stream, &conv, &flops, &side, err)) ||
        (st = probe_decode(r, vae, wanted, &d, err)))
        goto end;
    nino_probe_rate(&text[1], "copy", &copy, bytes, "GB/s");
    nino_buf_addf(&text[1], "conv 3x3 128->128 at %dx%d, ", side, side);
    nino_probe_rate(&text[1], "speed", &conv, flops, "GFLOP/s");
    for (int i = 0; i < d.n; i++) {
        const double mpix = d.side * (double) d.side * 1e-6;
        nino_buf_addf(&text[1], "decode %dx%d ", d.side, d.side);
        if (d.tile[i])
            nino_buf_addf(&text[1], "in %d tiles of %d", d.tiles[i], d.tile[i]);
        else
            nino_buf_adds(&text[1], "whole");
        nino_buf_addf(&text[1], ": %.1f ms, %.3f s per megapixel (n = 1)\n", d.ms[i],
                      d.ms[i] * 1e-3 / mpix);
    }
    st = rocm_monitor_advise(r, vae, wanted, &d, &text[2], err);
    if (st == NINO_OK)
        return nino_probe_texts(r, text, err);
end:
    for (int i = 0; i < 3; i++)
        nino_buf_release(&text[i]);
    return st;
}

NINO_NODE(rocm_vae_monitor, "ROCMVAEPerformanceMonitor", "ROCm VAE Performance Monitor",
          "ROCm Ninodes/VAE", "Measures copies, a convolution and small decodes on this device",
          NINO_INPUTS(NINO_PORT(vae, VAE)),
          NINO_OUTPUTS(NINO_PORT(DEVICE_INFO, STRING), NINO_PORT(PERFORMANCE_TIPS, STRING),
                       NINO_PORT(OPTIMAL_SETTINGS, STRING)),
          NINO_PARAMS(vae_params,
                      NINO_P_INT(vae_params, test_resolution, 1024, 256, 4096, 64,
                                 .label = "Resolution", .unit = "px",
                                 .help = "Side of the picture that the settings are for")),
          .is_output = true, NINO_RUN(rocm_monitor_vae_run, .is_volatile = true));

// ---- ROCMMemoryOptimizer ---------------------------------------------------------------------

typedef struct memory_params {
    int64_t optimization_level, cleanup_frequency;
    bool enable_gc, clear_cache;
} memory_params;

typedef struct memory_list { // what a run has loaded
    nino_buf *text;
    int n;
} memory_list;

static void add_loaded(void *priv, const nino_value *v)
{
    memory_list *l = priv;
    const char *name = NULL;
    uint64_t bytes = 0;
    if (v->type == NINO_PORT_MODEL && v->u.model) {
        name = v->u.model->net->name;
        bytes = v->u.model->net->weight_bytes;
    } else if (v->type == NINO_PORT_CLIP && v->u.clip) {
        name = v->u.clip->name;
        bytes = v->u.clip->weight_bytes;
    } else if (v->type == NINO_PORT_VAE && v->u.vae) {
        name = v->u.vae->name;
        bytes = v->u.vae->weight_bytes;
    }
    if (!name)
        return;
    nino_buf_addf(l->text, "loaded %s: %s, %.1f MiB as stored\n", nino_port_type_name(v->type),
                  name, (double) bytes / 0x1p20);
    l->n++;
}

static void rocm_monitor_print_memory(nino_buf *b, const char *when, const nino_mem_stat *m)
{
    nino_buf_addf(b,
                  "%s: %.2f GiB in use (weights %.1f MiB, the rest %.1f MiB), %.2f GiB held from "
                  "the device, %.2f GiB of system memory available\n",
                  when, (double) m->in_use / 0x1p30,
                  (double) m->by_owner[NINO_OWN_WEIGHTS] / 0x1p20,
                  (double) (m->in_use - m->by_owner[NINO_OWN_WEIGHTS]) / 0x1p20,
                  (double) m->reserved / 0x1p30, (double) nino_mem_available() / 0x1p30);
}

enum { CONSERVATIVE, BALANCED, AGGRESSIVE };

static void free_memory(nino_run *r, const memory_params *p, int n_loaded, nino_buf *b)
{
    nino_backend *be = nino_stream_backend(r->stream);
    nino_mem_stat m;
    if (p->enable_gc && p->optimization_level >= BALANCED) {
        const uint64_t bytes = nino_services_of(r->ctx)->trim(r->ctx);
        malloc_trim(0);
        nino_buf_addf(b, "results of earlier runs: %.1f MiB freed, %d loaded models forgotten\n",
                      (double) bytes / 0x1p20, n_loaded);
    }
    if (p->clear_cache && p->optimization_level >= AGGRESSIVE) {
        nino_pool_stat(be->pool, &m);
        const uint64_t held = m.by_owner[NINO_OWN_WEIGHTS];
        nino_backend_drop_weights(be);
        nino_pool_stat(be->pool, &m);
        nino_buf_addf(b, "weights on the device: %.1f MiB freed\n",
                      (double) (held - m.by_owner[NINO_OWN_WEIGHTS]) / 0x1p20);
    }
    if (p->clear_cache) {
        const uint64_t bytes = nino_pool_trim(be->pool);
        nino_buf_addf(b, "device pool: %.1f MiB given back\n", (double) bytes / 0x1p20);
    }
}

// Numbers first; a hint only where one of them says so.
static void print_hints(nino_run *r, const memory_params *p, nino_buf *b)
{
    const nino_backend *be = nino_stream_backend(r->stream);
    nino_mem_stat m;
    nino_pool_stat(be->pool, &m);
    const double weights = (double) m.by_owner[NINO_OWN_WEIGHTS];
    if (m.budget)
        nino_buf_addf(b, "%.0f %% of the budget of %.2f GiB is in use; the peak was %.2f GiB\n",
                      100.0 * (double) m.in_use / (double) m.budget, (double) m.budget / 0x1p30,
                      (double) m.peak / 0x1p30);
    else
        nino_buf_addf(b, "no budget is set; the peak was %.2f GiB\n", (double) m.peak / 0x1p30);
    if (m.allocs)
        nino_buf_addf(b,
                      "%.0f %% of %" PRIu64 " requests were served from memory already held; "
                      "%" PRIu64 " were refused\n",
                      100.0 * (double) m.hits / (double) m.allocs, m.allocs, m.fails);
    if (weights > 0 && p->optimization_level < AGGRESSIVE)
        nino_buf_addf(b,
                      "aggressive would free %.1f MiB of weights; bringing weights in took %.2f s "
                      "so far\n",
                      weights / 0x1p20, (double) be->load_ns * 1e-9);
    if (m.budget && (double) m.peak > 0.9 * (double) m.budget)
        nino_buf_adds(b, "the peak came close to the budget: smaller pictures, smaller tiles or a "
                         "quantised model would leave room\n");
}

static nino_status memory_run(nino_run *r, nino_error *err)
{
    const memory_params *p = r->params;
    nino_buf text[3] = { { 0 } };
    memory_list loaded = { .text = &text[0] };
    nino_mem_stat m;
    if (r->is_plan)
        return nino_probe_texts(r, text, err);
    const nino_pool *pool = nino_stream_backend(r->stream)->pool;
    const nino_status st = nino_stream_finish(r->stream, err);
    if (st)
        return st;
    nino_pool_stat(pool, &m);
    rocm_monitor_print_memory(&text[0], "before", &m);
    nino_services_of(r->ctx)->each_object(r->ctx, add_loaded, &loaded);
    free_memory(r, p, loaded.n, &text[1]);
    nino_pool_stat(pool, &m);
    rocm_monitor_print_memory(&text[0], "after", &m);
    print_hints(r, p, &text[2]);
    return nino_probe_texts(r, text, err);
}

NINO_NODE(
    rocm_memory, "ROCMMemoryOptimizer", "ROCm Memory Optimizer", "ROCm Ninodes/Memory",
    "Frees memory and says how much there was before and after",
    NINO_OUTPUTS(NINO_PORT(MEMORY_STATUS, STRING), NINO_PORT(OPTIMIZATION_LOG, STRING),
                 NINO_PORT(RECOMMENDATIONS, STRING)),
    NINO_PARAMS(
        memory_params,
        NINO_P_ENUM(memory_params, optimization_level,
                    NINO_WORDS("conservative", "balanced", "aggressive"), 1, .label = "Level",
                    .help = "conservative: unused device memory; balanced: and cached results; "
                            "aggressive: and weights, which are read again when needed"),
        NINO_P_BOOL(memory_params, enable_gc, true, .label = "Host memory",
                    .help = "Frees cached results of earlier runs"),
        NINO_P_BOOL(memory_params, clear_cache, true, .label = "Device memory",
                    .help = "Gives unused memory back to the driver"),
        NINO_P_INT(memory_params, cleanup_frequency, 10, 1, 100, 1, .label = "Every n runs",
                   .is_inert = true, .help = "No effect: it frees every time it runs")),
    .is_output = true,
    NINO_ORDERS({ NINO_WORDS("-e", "-b", "-b", "-b", "-b", "-f", "cleanup_frequency"), "1.0.9" }),
    NINO_RUN(memory_run, .is_volatile = true));
