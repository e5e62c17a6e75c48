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

#define LIMIT_SECONDS 3     // of a probe, beyond its least rounds
#define DECODE_SECONDS 0.15 // what a test picture may take: decides its size

// ---- probes ----------------------------------------------------------------------------------

// y = 1 x + 0 with x kept: reads and writes every byte once.
static nino_status measure_copy(void *priv, int k, bool is_warmup, double *seconds, nino_error *err)
{
    nino_stream *s = ((nino_run *) priv)->stream;
    (void) k, (void) is_warmup;
    nino_tensor *x = nino_zeros(s, NINO_SHAPE(1, 512, 512, 16), nino_stream_act_type(s));
    nino_stream_finish(s, NULL);
    const uint64_t begin = nino_now_ns();
    nino_unref(nino_scale(s, nino_ref(x), 1.0f, 0.0f));
    nino_stream_finish(s, NULL);
    *seconds = (double) (nino_now_ns() - begin) * 1e-9;
    nino_unref(x);
    return nino_stream_status(s, err);
}

// Measures one thing as often as a probe is; *out.
static nino_status probe_one(nino_run *r, nino_measure_once measure, void *priv, nino_spread *out,
                             nino_error *err)
{
    nino_error mine = { .code = NINO_OK };
    nino_experiment *e = nino_probe_settings(r, 1, LIMIT_SECONDS, measure, priv, &mine);
    if (e)
        nino_experiment_spread(e, 0, out);
    else if (err)
        *err = mine;
    nino_experiment_destroy(&e);
    return mine.code;
}

// 3x3, 128 -> 128 channels, on side x side.
typedef struct conv_probe {
    nino_stream *s;
    nino_conv conv;
    int side;
    nino_spread spread;
} conv_probe;

static nino_status measure_conv(void *priv, int k, bool is_warmup, double *seconds, nino_error *err)
{
    const conv_probe *c = priv;
    (void) k, (void) is_warmup;
    nino_tensor *x =
        nino_zeros(c->s, NINO_SHAPE(1, c->side, c->side, 128), nino_stream_act_type(c->s));
    nino_stream_finish(c->s, NULL);
    const uint64_t begin = nino_now_ns();
    nino_unref(nino_conv2d(c->s, x, &c->conv));
    nino_stream_finish(c->s, NULL);
    *seconds = (double) (nino_now_ns() - begin) * 1e-9;
    return nino_stream_status(c->s, err);
}

static double conv_flops(int side) { return 2.0 * 9 * 128 * 128 * side * side; }

static nino_status probe_conv(nino_run *r, conv_probe *c, nino_error *err)
{
    double small = 0;
    nino_array *w = nino_probe_noise(NINO_SHAPE(128, 128, 3, 3), err);
    *c = (conv_probe){ .s = r->stream,
                       .conv = { .w = w ? nino_weight_from_array(w, NINO_W_CONV3) : NULL },
                       .side = 32 };
    nino_array_unref(&w);
    if (!c->conv.w)
        return nino_fail(err, NINO_ERR_NOMEM, "probe", "out of memory");
    // As large as a tenth of a second allows: the machine may be anything. The first one compiles.
    nino_status st = measure_conv(c, 0, true, &small, err);
    if (!st)
        st = measure_conv(c, 0, true, &small, err);
    while (c->side < 256 && small * c->side * c->side / (32.0 * 32.0) < 0.025)
        c->side *= 2;
    if (!st)
        st = probe_one(r, measure_conv, c, &c->spread, err);
    nino_conv_release(&c->conv);
    return st;
}

enum { WAYS = 3 }; // whole, and in two sizes of tiles

typedef struct decode_probe {
    nino_run *r;
    const nino_vae *vae;
    nino_array *z;
    int side;        // pixels of the test picture
    int tile[WAYS];  // 0: whole
    int tiles[WAYS]; // computed
    int n;
    nino_spread spread[WAYS];
    nino_effect effect[WAYS]; // against the whole picture
} decode_probe;

static nino_status measure_decode(void *priv, int k, bool is_warmup, double *seconds,
                                  nino_error *err)
{
    decode_probe *d = priv;
    const int tile = d->tile[k];
    const nino_tile_params p = { .style = tile ? NINO_TILE_ALWAYS : NINO_TILE_NEVER,
                                 .tile = tile,
                                 .overlap = tile / 4 };
    nino_tile_report report = { 0 };
    nino_array *pixels = NULL;
    (void) is_warmup;
    const uint64_t begin = nino_now_ns();
    const nino_status st =
        nino_vae_decode_tiled(d->r->stream, d->vae, d->z, &p, &pixels, &report, err);
    *seconds = (double) (nino_now_ns() - begin) * 1e-9;
    d->tiles[k] = report.tiled ? report.n_tiles : 1;
    nino_array_unref(&pixels);
    return st;
}

static nino_status make_latent(decode_probe *d, nino_error *err)
{
    const int cells = d->side / d->vae->factor;
    nino_array_unref(&d->z);
    d->z = nino_probe_noise(NINO_SHAPE(1, cells, cells, d->vae->channels), err);
    return d->z ? NINO_OK : NINO_ERR_NOMEM;
}

// The largest picture that may be decoded so often.
static nino_status choose_picture(decode_probe *d, int wanted, nino_error *err)
{
    double seconds = 0;
    d->side = 64;
    nino_status st = make_latent(d, err);
    for (int pass = 0; pass < 2 && !st; pass++) // the first one packs the weights
        st = measure_decode(d, 0, true, &seconds, err);
    while (d->side * 2 <= wanted && d->side < 1024 && seconds * 4 < DECODE_SECONDS) {
        d->side *= 2;
        seconds *= 4;
    }
    return st ? st : make_latent(d, err);
}

// One picture, whole and in tiles, in turn.
static nino_status probe_decode(nino_run *r, const nino_vae *vae, int wanted, decode_probe *d,
                                nino_error *err)
{
    nino_error mine = { .code = NINO_OK };
    nino_experiment *e = NULL;
    *d = (decode_probe){ .r = r, .vae = vae, .n = 1 };
    nino_stream_set_quiet(r->stream, true);
    nino_status st = choose_picture(d, wanted, err);
    nino_stream_set_quiet(r->stream, false);
    for (int i = 1; i < WAYS && d->side >> i >= 8 * vae->factor; i++)
        d->tile[d->n++] = d->side >> i;
    if (!st && !(e = nino_probe_settings(r, d->n, LIMIT_SECONDS, measure_decode, d, &mine))) {
        st = mine.code;
        if (err)
            *err = mine;
    }
    for (int i = 0; e && i < d->n; i++) {
        nino_experiment_spread(e, i, &d->spread[i]);
        nino_experiment_effect(e, i, &d->effect[i]);
    }
    nino_experiment_destroy(&e);
    nino_array_unref(&d->z);
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
    nino_buf_addf(b, "Profile: %s, storage %s\n", be->profile.name, nino_stream_storage(r->stream));
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
    if (side >= wanted)
        nino_buf_addf(b, "tile_size: not needed at %dx%d (plan: %.1f MiB + %.1f MiB weights)\n",
                      wanted, wanted, (double) peak / 0x1p20, (double) weights / 0x1p20);
    else
        nino_buf_addf(b, "tile_size: %d (largest that fits; plan: %.1f MiB + %.1f MiB weights)\n",
                      side < 256 ? 256 : side, (double) peak / 0x1p20, (double) weights / 0x1p20);
    int best = 0; // only what was shown to be faster is recommended
    for (int i = 1; i < d->n; i++)
        if (d->effect[i].verdict < 0 && d->spread[i].median < d->spread[best].median)
            best = i;
    char text[200];
    if (best)
        nino_buf_addf(b, "fastest measured: tiles of %d at %dx%d, against the whole image: %s\n",
                      d->tile[best], d->side, d->side,
                      nino_effect_text(&d->effect[best], text, sizeof(text)));
    else
        nino_buf_addf(b,
                      "fastest measured: whole image at %dx%d; no tiles were shown to be faster\n",
                      d->side, d->side);
    return NINO_OK;
}

static void print_decodes(const decode_probe *d, nino_buf *b)
{
    const double mpix = d->side * (double) d->side * 1e-6;
    char text[200];
    for (int i = 0; i < d->n; i++) {
        nino_buf_addf(b, "decode %dx%d ", d->side, d->side);
        if (d->tile[i])
            nino_buf_addf(b, "in %d tiles of %d: ", d->tiles[i], d->tile[i]);
        else
            nino_buf_adds(b, "whole: ");
        nino_probe_time(b, &d->spread[i], 1e3, "ms", 1);
        nino_buf_addf(b, ", %.3f s per megapixel", d->spread[i].median / mpix);
        if (i)
            nino_buf_addf(b, "; against whole: %s",
                          nino_effect_text(&d->effect[i], text, sizeof(text)));
        nino_buf_addc(b, '\n');
    }
}

static nino_status rocm_monitor_vae_run(nino_run *r, nino_error *err)
{
    const nino_vae *vae = r->in[0]->u.vae;
    const int wanted = (int) ((const vae_params *) r->params)->test_resolution;
    nino_buf text[3] = { { 0 } };
    // What measure_copy() moves.
    const double bytes =
        2.0 * 512 * 512 * 16 * (double) nino_dtype_size(nino_stream_act_type(r->stream));
    nino_spread copy;
    conv_probe conv;
    decode_probe d;
    nino_status st = NINO_OK;
    if (r->is_plan)
        return nino_probe_texts(r, text, err);
    if (!vae->has_decoder)
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", vae->name,
                              "this file has no decoder to measure");
    describe_device(r, vae, &text[0]);
    if ((st = probe_one(r, measure_copy, r, &copy, err)) || (st = probe_conv(r, &conv, err)) ||
        (st = probe_decode(r, vae, wanted, &d, err)))
        goto end;
    nino_probe_rate(&text[1], "copy", &copy, bytes, "GB/s");
    nino_buf_addf(&text[1], "conv 3x3 128->128 at %dx%d, ", conv.side, conv.side);
    nino_probe_rate(&text[1], "speed", &conv.spread, conv_flops(conv.side), "GFLOP/s");
    print_decodes(&d, &text[1]);
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
    double memory_threshold;
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
    } else if (v->type == NINO_PORT_UPSCALE_MODEL) {
        name = v->u.upscale->name;
        bytes = v->u.upscale->weight_bytes;
    } else if (v->type == NINO_PORT_CONTROL_NET) {
        name = v->u.control.net->name;
        bytes = v->u.control.net->weight_bytes;
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

// Whether this is one of the runs in which it frees, and enough is in use; else what is said instead.
static bool is_due(nino_run *r, const memory_params *p, const nino_mem_stat *m, nino_buf *b)
{
    nino_backend *be = nino_stream_backend(r->stream);
    const uint64_t turn = be->n_cleanups++ % (uint64_t) p->cleanup_frequency;
    const double share = m->budget ? (double) m->in_use / (double) m->budget : 1;
    if (turn)
        nino_buf_addf(b,
                      "nothing freed: run %" PRIu64 " of %" PRId64 ", the first of which frees\n",
                      turn + 1, p->cleanup_frequency);
    else if (share < p->memory_threshold)
        nino_buf_addf(b, "nothing freed: %.1f %% of the budget is in use, it is to be %.1f %%\n",
                      100 * share, 100 * p->memory_threshold);
    return !turn && share >= p->memory_threshold;
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
    if (is_due(r, p, &m, &text[1]))
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
                   .help =
                       "It frees in the first of so many runs; in the others it only tells. Runs "
                       "of a program are counted, or of a worker: a command has one"),
        NINO_P_FLOAT(memory_params, memory_threshold, 0, 0, 1, 0.05, .label = "From a share of",
                     .optional = true,
                     .help = "It frees when at least this share of the memory budget is in use")),
    .is_output = true,
    NINO_ORDERS({ NINO_WORDS("-e", "-b", "-b", "-b", "-b", "memory_threshold", "cleanup_frequency"),
                  "1.0.9" }),
    NINO_RUN(memory_run, .is_volatile = true));
