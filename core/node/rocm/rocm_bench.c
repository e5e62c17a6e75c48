// ROCMSamplerCustomAdvancedBenchmark runs a sampling twice over in two ways and compares;
// ROCMSamplerPerformanceMonitor times a model's forward. Both report only what they measured.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/node/probe.h"
#include "core/node/sampling_node.h"
#include "core/node/util.h"
#include "core/op/backend.h"

// ---- ROCMSamplerCustomAdvancedBenchmark ------------------------------------------------------
// A: every conditioning entry in a forward of its own. B: entries that fit together share one, as
// all sampling nodes do. Both are warmed up with one step, then run in turn, A B B A A B.

#define PAIRS 3

typedef struct way {
    const char *name;
    bool one_by_one;
    double seconds[PAIRS];
    uint64_t peak; // bytes of the pool, highest of its runs
    nino_array *result;
} way;

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

static nino_status run_pairs(nino_run *r, way *w, nino_error *err)
{
    const nino_sigmas *all = nino_in_sigmas(r, 3);
    const nino_sigmas first = { .n = all->n < 2 ? all->n : 2, .v = all->v };
    double warm_up = 0;
    nino_status st = NINO_OK;
    for (int i = 0; i < 2 && !st; i++) {
        st = run_way(r, &w[i], &first, &warm_up, err);
        w[i].peak = 0;
    }
    for (int i = 0; i < 2 * PAIRS && !st; i++) {
        const int k = (i + 1) / 2 % 2; // 0 1 1 0 0 1
        st = run_way(r, &w[k], all, &w[k].seconds[i / 2], err);
    }
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

static void print_way(nino_buf *b, const way *w, int steps)
{
    double sorted[PAIRS];
    memcpy(sorted, w->seconds, sizeof(sorted));
    const nino_probe p = nino_probe_of(sorted, PAIRS);
    nino_buf_addf(b,
                  "%s: %.3f s (median of %d; %.3f to %.3f), %.4f s a step, peak %.1f MiB of the "
                  "device pool\n",
                  w->name, p.median, p.n, p.min, p.max, p.median / (steps > 0 ? steps : 1),
                  (double) w->peak / 0x1p20);
}

static void print_equality(nino_buf *b, const nino_array *x, const nino_array *y)
{
    double diff = 0, power = 0, most = 0;
    const int64_t n = nino_shape_count(&x->shape);
    for (int64_t i = 0; i < n; i++) {
        const double u = (double) nino_array_f32(x)[i], d = (double) nino_array_f32(y)[i] - u;
        diff += d * d;
        power += u * u;
        most = fmax(most, fabs(d));
    }
    if (!memcmp(x->data, y->data, x->bytes))
        nino_buf_adds(b, "Results: equal, bit for bit\n");
    else
        nino_buf_addf(b, "Results: differ by %.3g at most, NMSE %.3g\n", most,
                      power > 0 ? diff / power : diff);
}

static void print_report(nino_run *r, const way *w, nino_buf *b)
{
    const nino_backend *be = nino_stream_backend(r->stream);
    const nino_guider *g = nino_in_guider(r, 1);
    const int steps = nino_in_sigmas(r, 3)->n - 1, entries = entries_of(g);
    double ratio[PAIRS];
    for (int i = 0; i < PAIRS; i++)
        ratio[i] = w[0].seconds[i] / w[1].seconds[i];
    const nino_probe speed = nino_probe_of(ratio, PAIRS);
    nino_buf_adds(b, "ROCm SamplerCustomAdvanced Benchmark, ");
    nino_probe_date(b);
    nino_buf_addf(b, "\nDevice: %s (%s), profile %s, storage %s\n", be->info.name,
                  be->info.selector, be->profile.name,
                  nino_dtype_name(nino_stream_act_type(r->stream)));
    nino_buf_addf(b, "Model: %s (%s), %d steps, %d conditioning entr%s a step\n",
                  g->model->net->name, g->model->net->detail, steps > 0 ? steps : 0, entries,
                  entries == 1 ? "y" : "ies");
    print_way(b, &w[0], steps);
    print_way(b, &w[1], steps);
    if (entries < 2)
        nino_buf_adds(b, "With one conditioning entry A and B are the same computation: the "
                         "difference below is noise\n");
    nino_buf_addf(b, "Speed of B: %.3f times A (median of %d pairs run in turn; %.3f to %.3f)\n",
                  speed.median, speed.n, speed.min, speed.max);
    if (speed.min <= 1 && speed.max >= 1)
        nino_buf_adds(b, "The pairs disagree on which is faster: no difference was measured\n");
    nino_buf_addf(b, "Memory of B: %+.1f MiB against A\n",
                  ((double) w[1].peak - (double) w[0].peak) / 0x1p20);
    print_equality(b, w[0].result, w[1].result);
}

static nino_status bench_run(nino_run *r, nino_error *err)
{
    way w[2] = { { .name = "A, one entry a forward", .one_by_one = true },
                 { .name = "B, entries share a forward" } };
    nino_buf report = { 0 };
    nino_latent out = { 0 };
    double seconds;
    nino_status st =
        r->is_plan ? run_way(r, &w[1], nino_in_sigmas(r, 3), &seconds, err) : run_pairs(r, w, err);
    if (st)
        goto end;
    if (r->is_plan)
        nino_buf_adds(&report, " ");
    else
        print_report(r, w, &report);
    if (report.failed) {
        st = nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
        goto end;
    }
    nino_run_text(r, r->def->outputs[1].key, report.data);
    out.samples = nino_array_ref(w[1].result);
    out.noise_mask = nino_array_ref(nino_in_latent(r, 4)->noise_mask);
    if (!(st = nino_out_latent(r, 0, out, err))) {
        st = nino_node_out_text(r, 1, report.data, err);
        report = (nino_buf){ 0 };
    }
end:
    nino_buf_release(&report);
    nino_array_unref(&w[0].result);
    nino_array_unref(&w[1].result);
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

#define RUNS 3            // timed forwards, after one that warms up
#define PROBE_SECONDS 0.2 // what a forward of the probe may take: decides its size
#define MAX_CELLS 128

typedef struct timing {
    nino_precision precision;
    const char *name;
    nino_probe one, two; // forwards of one and of two entries
    double flops;        // of one
    double gemm;         // GFLOP/s of a large matrix product at this precision
    double nmse;         // of the output against f32
} timing;

static nino_tensor *random_tensor(nino_stream *s, nino_shape shape, nino_error *err)
{
    nino_array *a = nino_probe_noise(shape, err);
    nino_tensor *t = a ? nino_upload(s, a, nino_stream_act_type(s)) : NULL;
    nino_array_unref(&a);
    return t;
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
    f.x = random_tensor(s, NINO_SHAPE(batch, side, side, c), err);
    f.context = random_tensor(s, NINO_SHAPE(batch, is_unet ? 77 : 256, net->context_dim), err);
    if (net->y_dim)
        f.y = random_tensor(s, NINO_SHAPE(batch, net->y_dim), err);
    if (extra > 0)
        f.concat = random_tensor(s, NINO_SHAPE(batch, side, side, extra), err);
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

// y[n,n] = x[n,n] w[n,n]: what the device can do at best with numbers stored like this.
static nino_status time_gemm(nino_stream *s, double *gflops, nino_error *err)
{
    double t[RUNS] = { 0 };
    nino_linear l = { 0 };
    for (int64_t n = 256; n <= 4096; n *= 2) {
        nino_array *w = nino_probe_noise(NINO_SHAPE(n, n), err);
        l.w = w ? nino_weight_from_array(w, NINO_W_MATRIX) : NULL;
        nino_array_unref(&w);
        if (!l.w)
            return nino_fail(err, NINO_ERR_NOMEM, "probe", "out of memory");
        for (int i = -1; i < RUNS; i++) {
            nino_tensor *x = nino_zeros(s, NINO_SHAPE(1, n, n), nino_stream_act_type(s));
            nino_stream_finish(s, NULL);
            const uint64_t begin = nino_now_ns();
            nino_unref(nino_linear_op(s, x, &l));
            nino_stream_finish(s, NULL);
            if (i >= 0)
                t[i] = (double) (nino_now_ns() - begin) * 1e-9;
        }
        nino_linear_release(&l);
        const nino_probe p = nino_probe_of(t, RUNS);
        const double rate = 2.0 * (double) n * (double) n * (double) n / p.median * 1e-9;
        *gflops = rate > *gflops ? rate : *gflops;
        if (p.median > 0.02 || nino_stream_status(s, NULL))
            break;
    }
    return nino_stream_status(s, err);
}

static nino_status rocm_bench_measure(nino_run *r, const nino_model *m, int side, timing *t,
                                      nino_array **out, nino_error *err)
{
    nino_stream *s = r->stream;
    const nino_backend *be = nino_stream_backend(s);
    double one[RUNS], two[RUNS], warm_up;
    nino_stream_set_precision(s, t->precision);
    const double before = be->flops;
    nino_status st = time_forward(s, m, side, 1, &warm_up, out, err);
    t->flops = be->flops - before;
    if (!st)
        st = time_forward(s, m, side, 2, &warm_up, NULL, err);
    for (int i = 0; i < RUNS && !st; i++) {
        if (!(st = nino_node_cancelled(r, err)) &&
            !(st = time_forward(s, m, side, 1, &one[i], NULL, err)))
            st = time_forward(s, m, side, 2, &two[i], NULL, err);
    }
    if (st)
        return st;
    t->one = nino_probe_of(one, RUNS);
    t->two = nino_probe_of(two, RUNS);
    return time_gemm(s, &t->gemm, err);
}

static double nmse(const nino_array *ref, const nino_array *x)
{
    double diff = 0, power = 0;
    for (int64_t i = 0; i < nino_shape_count(&ref->shape); i++) {
        const double v = (double) nino_array_f32(ref)[i], d = (double) nino_array_f32(x)[i] - v;
        diff += d * d;
        power += v * v;
    }
    return power > 0 ? diff / power : diff;
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

static void rocm_bench_print_timing(nino_buf *b, const timing *t, int side, int factor)
{
    const double rate = t->flops / t->one.median * 1e-9;
    nino_buf_addf(b, "%s: %.4f s a forward at %dx%d (median of %d; %.4f to %.4f), %.1f GFLOP/s",
                  t->name, t->one.median, side * factor, side * factor, t->one.n, t->one.min,
                  t->one.max, rate);
    nino_buf_addf(b, ", %.2f times the %.1f GFLOP/s of a matrix product\n", rate / t->gemm,
                  t->gemm);
    nino_buf_addf(b, "%s: two entries in one forward %.4f s, %.2f times as fast as one by one\n",
                  t->name, t->two.median, 2 * t->one.median / t->two.median);
    if (t->precision != NINO_PREC_F32)
        nino_buf_addf(b, "%s: output differs from fp32 by NMSE %.2g\n", t->name, t->nmse);
}

// The faster of fp32 and t, if that costs no more than 16-bit storage may.
static const timing *better(const timing *f32, const timing *t)
{
    return t->one.median < 0.95 * f32->one.median && t->nmse <= 1e-3 ? t : f32;
}

static void rocm_bench_print_advice(nino_buf *b, const timing *f32, const timing *f16,
                                    const timing *bf16, int steps)
{
    const timing *best = better(f32, bf16); // what the node can be set to
    nino_buf_addf(b, "precision_mode: %s (%.2f times as fast as fp32, n = %d)\n", best->name,
                  f32->one.median / best->one.median, best->one.n);
    if (better(best, f16) == f16)
        nino_buf_addf(b,
                      "ModelComputeDtype fp16, or --precision fp16: %.2f times as fast as fp32 "
                      "(n = %d)\n",
                      f32->one.median / f16->one.median, f16->one.n);
    nino_buf_addf(b, "%d steps at this size: %.2f s with cfg 1, %.2f s with a negative prompt\n",
                  steps, steps * best->one.median, steps * best->two.median);
}

typedef struct monitor_params {
    int64_t test_steps;
} monitor_params;

static nino_status monitor_run(nino_run *r, nino_error *err)
{
    const nino_model *m = nino_need_model(r, 0, err);
    timing t[3] = { { .precision = NINO_PREC_F32, .name = "fp32" },
                    { .precision = NINO_PREC_F16, .name = "fp16" },
                    { .precision = NINO_PREC_BF16, .name = "bf16" } };
    nino_buf text[3] = { { 0 } };
    nino_array *out[3] = { NULL };
    const nino_precision before = nino_stream_precision(r->stream);
    int side = 0;
    if (!m)
        return NINO_ERR_UNSUPPORTED;
    if (r->is_plan)
        return nino_probe_texts(r, text, err);
    print_device(r, m, &text[0]);
    nino_status st = choose_side(r, m, &side, err);
    for (int i = 0; i < 3 && !st; i++) {
        st = rocm_bench_measure(r, m, side, &t[i], &out[i], err);
        if (!st)
            t[i].nmse = nmse(out[0], out[i]);
        if (!st)
            rocm_bench_print_timing(&text[1], &t[i], side, m->net->format->factor);
    }
    nino_stream_set_precision(r->stream, before);
    if (!st)
        rocm_bench_print_advice(&text[2], &t[0], &t[1], &t[2],
                                (int) ((const monitor_params *) r->params)->test_steps);
    for (int i = 0; i < 3; i++)
        nino_array_unref(&out[i]);
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
