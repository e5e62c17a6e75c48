// ROCMSamplerCustomAdvancedBenchmark samples in two ways in turn and compares;
// ROCMSamplerPerformanceMonitor times a model's forward. Both are experiments
// (ninodes/experiment.h) and report only what they measured.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/node/probe.h"
#include "core/node/sampling_node.h"
#include "core/node/util.h"
#include "core/op/backend.h"
#include "core/tensor/difference.h"

// ---- ROCMSamplerCustomAdvancedBenchmark ------------------------------------------------------
// A: every conditioning entry in a forward of its own. B: entries that fit together share one, as
// all sampling nodes do. Whole samplings, so no more rounds than a verdict needs; one step warms up.

enum { ROUNDS = 8, LEVEL = 5 }; // percent

typedef struct way {
    const char *name;
    bool one_by_one;
    uint64_t peak; // bytes of the pool, highest of its runs
    nino_array *result;
} way;

typedef struct ways {
    nino_run *r;
    way w[2];
} ways;

static nino_status run_way(nino_run *r, way *w, const nino_sigmas *sigmas, double *seconds,
                           nino_error *err)
{
    const nino_latent *latent = nino_in_latent(r, 4);
    nino_pool *pool = nino_stream_backend(r->stream)->pool;
    nino_mem_stat m;
    const nino_sample_params p = { .guider = nino_in_guider(r, 1),
                                   .noise = r->in[0]->u.noise,
                                   .sampler = nino_in_sampler(r, 2),
                                   .sigmas = sigmas->v,
                                   .n_sigmas = sigmas->n,
                                   .samples = latent->samples,
                                   .samples_factor = latent->factor,
                                   .noise_mask = latent->noise_mask,
                                   .batch_index = latent->batch_index,
                                   .one_by_one = w->one_by_one };
    nino_array_unref(&w->result);
    nino_pool_reset_peak(pool);
    const uint64_t begin = nino_now_ns();
    const nino_status st = nino_sample_latent(r->stream, &p, &w->result, NULL, err);
    *seconds = (double) (nino_now_ns() - begin) * 1e-9;
    nino_pool_stat(pool, &m);
    w->peak = m.peak > w->peak ? m.peak : w->peak;
    return st;
}

static nino_status measure_way(void *priv, int k, bool is_warmup, double *seconds, nino_error *err)
{
    ways *x = priv;
    const nino_sigmas *all = nino_in_sigmas(x->r, 3);
    const nino_sigmas first = { .n = all->n < 2 ? all->n : 2, .v = all->v };
    const nino_status st = run_way(x->r, &x->w[k], is_warmup ? &first : all, seconds, err);
    if (is_warmup)
        x->w[k].peak = 0;
    return st;
}

// Could the two ways differ at all? Entries share a forward only if there are several.
static int entries_of(const nino_guider *g)
{
    const nino_cond *const lists[] = { g->positive, g->middle, g->negative };
    const bool is_one = g->kind == NINO_GUIDE_CFG && fabs(g->cfg - 1) <= 1e-9;
    int n = 0;
    for (int i = 0; i < 3; i++)
        if (lists[i] && !(i == 2 && (is_one || g->kind == NINO_GUIDE_BASIC)))
            n += lists[i]->n;
    return n;
}

static void print_way(nino_buf *b, const way *w, const nino_spread *s, int steps)
{
    nino_buf_addf(b, "%s: ", w->name);
    nino_probe_time(b, s, 1, "s", 3);
    nino_buf_addf(b, ", %.4f s a step, peak %.1f MiB of the device pool\n",
                  s->median / (steps > 0 ? steps : 1), (double) w->peak / 0x1p20);
}

static void print_equality(nino_buf *b, const nino_array *x, const nino_array *y)
{
    const nino_difference d = nino_array_difference(x, y);
    if (d.is_equal)
        nino_buf_adds(b, "Results: equal, bit for bit\n");
    else
        nino_buf_addf(b, "Results: differ by %.3g at most, NMSE %.3g\n", d.most, d.nmse);
}

static void print_report(nino_run *r, const ways *x, const nino_experiment *e, nino_buf *b)
{
    const nino_backend *be = nino_stream_backend(r->stream);
    const nino_guider *g = nino_in_guider(r, 1);
    const int steps = nino_in_sigmas(r, 3)->n - 1, entries = entries_of(g);
    char text[200];
    nino_effect f;
    nino_spread s;
    nino_buf_adds(b, "ROCm SamplerCustomAdvanced Benchmark, ");
    nino_probe_date(b);
    nino_buf_addf(b, "\nDevice: %s (%s), profile %s, storage %s\n", be->info.name,
                  be->info.selector, be->profile.name, nino_stream_storage(r->stream));
    nino_buf_addf(b, "Model: %s (%s), %d steps, %d conditioning entr%s a step\n",
                  g->model->net->name, g->model->net->detail, steps > 0 ? steps : 0, entries,
                  entries == 1 ? "y" : "ies");
    for (int k = 0; k < 2; k++) {
        nino_experiment_spread(e, k, &s);
        print_way(b, &x->w[k], &s, steps);
    }
    if (entries < 2)
        nino_buf_adds(b, "With one conditioning entry A and B are the same computation: a "
                         "difference would be noise\n");
    nino_experiment_effect(e, 1, &f);
    nino_buf_addf(b, "B against A, in turn: %s\n", nino_effect_text(&f, text, sizeof(text)));
    nino_buf_addf(b, "Memory of B: %+.1f MiB against A\n",
                  ((double) x->w[1].peak - (double) x->w[0].peak) / 0x1p20);
    print_equality(b, x->w[0].result, x->w[1].result);
}

static nino_status run_ways(nino_run *r, ways *x, nino_buf *report, nino_error *err)
{
    const nino_experiment_params p = { NINO_EXPERIMENT_PARAMS_INIT, .rounds_min = ROUNDS,
                                       .rounds_max = ROUNDS, .alpha = LEVEL / 100.0 };
    nino_error mine = { .code = NINO_OK };
    nino_experiment *e = nino_probe_rounds(r, &p, measure_way, x, &mine);
    if (e)
        print_report(r, x, e, report);
    else if (err)
        *err = mine;
    nino_experiment_destroy(&e);
    return mine.code;
}

static nino_status bench_run(nino_run *r, nino_error *err)
{
    ways x = { r,
               { { .name = "A, one entry a forward", .one_by_one = true },
                 { .name = "B, entries share a forward" } } };
    nino_buf report = { 0 };
    nino_latent out = { 0 };
    double seconds;
    nino_status st = r->is_plan ? run_way(r, &x.w[1], nino_in_sigmas(r, 3), &seconds, err)
                                : run_ways(r, &x, &report, err);
    if (st)
        goto end;
    if (r->is_plan)
        nino_buf_adds(&report, " ");
    if (report.failed) {
        st = nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
        goto end;
    }
    nino_run_text(r, r->def->outputs[1].key, report.data);
    out.samples = nino_array_ref(x.w[1].result);
    out.noise_mask = nino_array_ref(nino_in_latent(r, 4)->noise_mask);
    if (!(st = nino_out_latent(r, 0, out, err))) {
        st = nino_node_out_text(r, 1, report.data, err);
        report = (nino_buf){ 0 };
    }
end:
    nino_buf_release(&report);
    nino_array_unref(&x.w[0].result);
    nino_array_unref(&x.w[1].result);
    return st;
}

NINO_NODE(rocm_sampler_benchmark, "ROCMSamplerCustomAdvancedBenchmark",
          "ROCm SamplerCustomAdvanced Benchmark", "ROCm Ninodes/Sampling",
          "Samples with and without batched conditioning, in turn, and compares speed, memory "
          "and results",
          NINO_INPUTS(NINO_SAMPLE_CUSTOM_PORTS),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT), NINO_PORT(BENCHMARK_REPORT, STRING)),
          NINO_RUN(bench_run, .is_volatile = true));

// ---- ROCMSamplerPerformanceMonitor -----------------------------------------------------------

#define PROBE_SECONDS 0.05 // what a forward of the probe may take: decides its size
#define LIMIT_SECONDS 3    // of every experiment, beyond its least rounds
#define MAX_CELLS 128

enum { F32, F16, BF16, PRECISIONS };

typedef struct timing {
    nino_precision precision;
    const char *name;
    nino_spread one;    // forwards of one entry
    nino_effect effect; // against fp32
    double gemm;        // GFLOP/s of a large matrix product at this precision
    double nmse;        // of the output against f32
    nino_array *out;
} timing;

typedef struct monitoring {
    nino_run *r;
    const nino_model *m;
    int side;     // latent cells
    double flops; // of a forward of one entry
    timing t[PRECISIONS];
    nino_spread each; // of two entries that share a forward: half of it
    nino_effect together;
} monitoring;

static nino_tensor *random_tensor(nino_stream *s, nino_shape shape, nino_error *err)
{
    nino_array *a = nino_probe_noise(shape, err);
    nino_tensor *t = a ? nino_upload(s, a, nino_stream_act_type(s)) : NULL;
    nino_array_unref(&a);
    return t;
}

// A picture, or one latent frame of a video.
static nino_shape probe_shape(const nino_diffusion *net, int batch, int side, int channels)
{
    return net->format->time_factor > 1 ? NINO_SHAPE(batch, 1, side, side, channels)
                                        : NINO_SHAPE(batch, side, side, channels);
}

// One forward on side x side cells; *seconds without loading weights. The output goes to *out if
// that is wanted.
static nino_status time_forward(nino_stream *s, const nino_model *m, int side, int batch,
                                double *seconds, nino_array **out, nino_error *err)
{
    const nino_diffusion *net = m->net;
    const bool is_unet = net->kind == NINO_DIFFUSION_UNET;
    const float sigma = nino_sampling_sigma(
        m->sampling, nino_sampling_timestep(m->sampling, m->sampling->sigma_max) / 2);
    const float t[2] = { nino_sampling_timestep(m->sampling, sigma),
                         nino_sampling_timestep(m->sampling, sigma) };
    const int c = net->format->channels, extra = net->in_channels - c;
    nino_forward f = { .timestep = t, .guidance = 3.5f };
    f.x = random_tensor(s, probe_shape(net, batch, side, c), err);
    f.context = random_tensor(s, NINO_SHAPE(batch, is_unet ? 77 : 256, net->context_dim), err);
    if (net->y_dim)
        f.y = random_tensor(s, NINO_SHAPE(batch, net->y_dim), err);
    if (extra > 0)
        f.concat = random_tensor(s, probe_shape(net, batch, side, extra), err);
    nino_stream_finish(s, NULL);
    const nino_backend *be = nino_stream_backend(s);
    const uint64_t begin = nino_now_ns(), load = be->load_ns;
    nino_tensor *y = net->forward(s, net, &f);
    nino_stream_finish(s, NULL);
    *seconds = (double) (nino_now_ns() - begin - (be->load_ns - load)) * 1e-9;
    if (out)
        *out = nino_download(s, y, NINO_F32);
    else
        nino_unref(y);
    return nino_stream_status(s, err);
}

typedef struct product {
    nino_stream *s;
    nino_linear l;
    int64_t n;
} product;

static nino_status measure_product(void *priv, int k, bool is_warmup, double *seconds,
                                   nino_error *err)
{
    product *p = priv;
    (void) k, (void) is_warmup;
    nino_tensor *x = nino_zeros(p->s, NINO_SHAPE(1, p->n, p->n), nino_stream_act_type(p->s));
    nino_stream_finish(p->s, NULL);
    const uint64_t begin = nino_now_ns();
    nino_unref(nino_linear_op(p->s, x, &p->l));
    nino_stream_finish(p->s, NULL);
    *seconds = (double) (nino_now_ns() - begin) * 1e-9;
    return nino_stream_status(p->s, err);
}

// y[n,n] = x[n,n] w[n,n]: what the device can do at best with numbers stored like this.
static nino_status time_gemm(nino_run *r, double *gflops, nino_error *err)
{
    for (int64_t n = 256; n <= 4096; n *= 2) {
        product p = { .s = r->stream, .n = n };
        nino_spread s = { .n = 0 };
        nino_array *w = nino_probe_noise(NINO_SHAPE(n, n), err);
        p.l.w = w ? nino_weight_from_array(w, NINO_W_MATRIX) : NULL;
        nino_array_unref(&w);
        if (!p.l.w)
            return nino_fail(err, NINO_ERR_NOMEM, "probe", "out of memory");
        nino_error mine = { .code = NINO_OK };
        nino_experiment *e = nino_probe_settings(r, 1, PROBE_SECONDS, measure_product, &p, &mine);
        if (e)
            nino_experiment_spread(e, 0, &s);
        nino_experiment_destroy(&e);
        nino_linear_release(&p.l);
        if (mine.code) {
            if (err)
                *err = mine;
            return mine.code;
        }
        if (s.median > 0)
            *gflops = fmax(*gflops, 2.0 * (double) n * (double) n * (double) n / s.median * 1e-9);
        if (s.median > 0.02)
            break;
    }
    return NINO_OK;
}

static nino_status measure_precision(void *priv, int k, bool is_warmup, double *seconds,
                                     nino_error *err)
{
    monitoring *x = priv;
    const nino_backend *be = nino_stream_backend(x->r->stream);
    const double before = be->flops;
    nino_stream_set_precision(x->r->stream, x->t[k].precision);
    const nino_status st =
        time_forward(x->r->stream, x->m, x->side, 1, seconds, is_warmup ? &x->t[k].out : NULL, err);
    x->flops = be->flops - before;
    return st;
}

static nino_status measure_entries(void *priv, int k, bool is_warmup, double *seconds,
                                   nino_error *err)
{
    const monitoring *x = priv;
    (void) is_warmup;
    const nino_status st = time_forward(x->r->stream, x->m, x->side, 1 + k, seconds, NULL, err);
    *seconds /= 1 + k;
    return st;
}

// Every precision, then one entry against two at the run's precision.
static nino_status rocm_bench_measure(monitoring *x, nino_error *err)
{
    const nino_precision before = nino_stream_asked_precision(x->r->stream);
    nino_error mine = { .code = NINO_OK };
    nino_experiment *e =
        nino_probe_settings(x->r, PRECISIONS, LIMIT_SECONDS, measure_precision, x, &mine);
    for (int i = 0; i < PRECISIONS && e && !mine.code; i++) {
        nino_experiment_spread(e, i, &x->t[i].one);
        nino_experiment_effect(e, i, &x->t[i].effect);
        x->t[i].nmse = nino_array_difference(x->t[0].out, x->t[i].out).nmse;
        nino_stream_set_precision(x->r->stream, x->t[i].precision);
        time_gemm(x->r, &x->t[i].gemm, &mine);
    }
    nino_experiment_destroy(&e);
    nino_stream_set_precision(x->r->stream, before);
    if (!mine.code &&
        (e = nino_probe_settings(x->r, 2, LIMIT_SECONDS, measure_entries, x, &mine))) {
        nino_experiment_spread(e, 1, &x->each);
        nino_experiment_effect(e, 1, &x->together);
    }
    nino_experiment_destroy(&e);
    if (mine.code && err)
        *err = mine;
    return mine.code;
}

// The largest square that the time allows, starting from a small one.
static nino_status choose_side(nino_run *r, const nino_model *m, int *side, nino_error *err)
{
    double seconds = 0;
    *side = 8;
    nino_status st = time_forward(r->stream, m, *side, 1, &seconds, NULL, err); // loads, compiles
    if (!st)
        st = time_forward(r->stream, m, *side, 1, &seconds, NULL, err);
    while (!st && *side < MAX_CELLS && seconds * 4 < PROBE_SECONDS) {
        *side *= 2;
        st = time_forward(r->stream, m, *side, 1, &seconds, NULL, err);
    }
    return st;
}

static void print_device(nino_run *r, const nino_model *m, nino_buf *b)
{
    const nino_backend *be = nino_stream_backend(r->stream);
    nino_mem_stat mem;
    nino_pool_stat(be->pool, &mem);
    nino_buf_addf(b, "Device: %s (%s)\nProfile: %s\n", be->info.name, be->info.selector,
                  be->profile.name);
    nino_buf_addf(b, "Model: %s, %s (%s), %.1f MiB of weights as stored\n", m->net->name,
                  m->net->family, m->net->detail, (double) m->net->weight_bytes / 0x1p20);
    nino_buf_addf(b, "Memory: %.2f GiB in use, %.2f GiB held", (double) mem.in_use / 0x1p30,
                  (double) mem.reserved / 0x1p30);
    if (mem.budget)
        nino_buf_addf(b, ", budget %.2f GiB", (double) mem.budget / 0x1p30);
    nino_buf_adds(b, "\nMeasured: ");
    nino_probe_date(b);
    nino_buf_addc(b, '\n');
}

static void rocm_bench_print_timing(const monitoring *x, const timing *t, nino_buf *b)
{
    const int pixels = x->side * x->m->net->format->factor;
    const double rate = x->flops / t->one.median * 1e-9;
    char text[200];
    nino_buf_addf(b, "%s: a forward at %dx%d ", t->name, pixels, pixels);
    nino_probe_time(b, &t->one, 1, "s", 4);
    nino_buf_addf(b, ", %.1f GFLOP/s, %.2f times the %.1f GFLOP/s of a matrix product\n", rate,
                  rate / t->gemm, t->gemm);
    if (t != &x->t[F32])
        nino_buf_addf(b, "%s against fp32: %s; output differs by NMSE %.2g\n", t->name,
                      nino_effect_text(&t->effect, text, sizeof(text)), t->nmse);
}

static void print_entries(const monitoring *x, nino_buf *b)
{
    char text[200];
    nino_buf_adds(b, "two entries in one forward: ");
    nino_probe_time(b, &x->each, 1, "s each", 4);
    nino_buf_addf(b, ", against one by one: %s\n",
                  nino_effect_text(&x->together, text, sizeof(text)));
}

// Shown to be faster than fp32, and no further from it than 16-bit storage may be.
static bool is_better(const timing *t) { return t->effect.verdict < 0 && t->nmse <= 1e-3; }

static void rocm_bench_print_advice(const monitoring *x, int steps, nino_buf *b)
{
    const timing *f32 = &x->t[F32], *f16 = &x->t[F16], *bf16 = &x->t[BF16];
    const timing *best = is_better(bf16) ? bf16 : f32; // what the node can be set to
    char text[200];
    nino_buf_addf(b, "precision_mode: %s (bf16 against fp32: %s)\n", best->name,
                  nino_effect_text(&bf16->effect, text, sizeof(text)));
    if (is_better(f16) && f16->one.median < best->one.median)
        nino_buf_addf(b, "ModelComputeDtype fp16, or --precision fp16: against fp32 %s\n",
                      nino_effect_text(&f16->effect, text, sizeof(text)));
    nino_buf_addf(b, "%d steps at this size, one conditioning entry: %.2f s\n", steps,
                  steps * best->one.median);
}

typedef struct monitor_params {
    int64_t test_steps;
} monitor_params;

static nino_status monitor_run(nino_run *r, nino_error *err)
{
    monitoring x = { .r = r,
                     .m = nino_need_model(r, 0, err),
                     .t = { { .precision = NINO_PREC_F32, .name = "fp32" },
                            { .precision = NINO_PREC_F16, .name = "fp16" },
                            { .precision = NINO_PREC_BF16, .name = "bf16" } } };
    nino_buf text[3] = { { 0 } };
    if (!x.m)
        return NINO_ERR_UNSUPPORTED;
    if (r->is_plan)
        return nino_probe_texts(r, text, err);
    print_device(r, x.m, &text[0]);
    nino_stream_set_quiet(r->stream, true);
    nino_status st = choose_side(r, x.m, &x.side, err);
    nino_stream_set_quiet(r->stream, false);
    if (!st && !(st = rocm_bench_measure(&x, err))) {
        for (int i = 0; i < PRECISIONS; i++)
            rocm_bench_print_timing(&x, &x.t[i], &text[1]);
        print_entries(&x, &text[1]);
        rocm_bench_print_advice(&x, (int) ((const monitor_params *) r->params)->test_steps,
                                &text[2]);
    }
    for (int i = 0; i < PRECISIONS; i++)
        nino_array_unref(&x.t[i].out);
    if (!st)
        return nino_probe_texts(r, text, err);
    for (int i = 0; i < 3; i++)
        nino_buf_release(&text[i]);
    return st;
}

NINO_NODE(rocm_sampler_monitor, "ROCMSamplerPerformanceMonitor", "ROCm Sampler Performance Monitor",
          "ROCm Ninodes/Sampling", "Measures the model's forward at every precision on this device",
          NINO_INPUTS(NINO_PORT(model, MODEL)),
          NINO_OUTPUTS(NINO_PORT(DEVICE_INFO, STRING), NINO_PORT(PERFORMANCE_TIPS, STRING),
                       NINO_PORT(OPTIMAL_SETTINGS, STRING)),
          NINO_PARAMS(monitor_params,
                      NINO_P_INT(monitor_params, test_steps, 20, 1, 100, 1, .label = "Steps",
                                 .help = "Steps that the measured speed is extrapolated to")),
          .is_output = true, NINO_RUN(monitor_run, .is_volatile = true));
