// ROCMFluxBenchmark: what a picture costs with this model, text encoder and VAE. Every resolution
// is sampled and decoded with every cfg; times are per stage and step, peaks per run. A run that
// the device has no memory for is reported as such, and the others go on.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/num.h"
#include "core/base/time.h"
#include "core/node/probe.h"
#include "core/node/util.h"
#include "core/op/backend.h"
#include "core/sample/guide/guide.h"
#include "core/tile/tile.h"

#define MAX_CASES 16 // resolutions, and cfg values
#define MAX_STEPS 100
#define ENCODES 3 // timed ones, after one that loads the weights
#define PROMPT "a photo of a red fox in the snow, golden light, shallow depth of field"

enum { RESULTS, CHART, ADVICE, MEMORY, TEXTS };

typedef struct flux_params {
    const char *test_resolutions, *test_cfg_values;
    int64_t test_steps;
    bool test_hipblas, generate_report;
} flux_params;

typedef struct size_list {
    int n, w[MAX_CASES], h[MAX_CASES];
} size_list;

typedef struct cfg_list {
    int n;
    double v[MAX_CASES];
} cfg_list;

// One picture: a resolution and a cfg.
typedef struct picture {
    int w, h;
    double cfg;
    double step[MAX_STEPS]; // seconds
    int n_steps;
    nino_probe per_step;
    double denoise, decode; // seconds
    uint64_t denoise_peak, decode_peak;
    nino_tile_report tiles;
    char failed[320]; // why it could not be made, or ""
} picture;

typedef struct bench {
    nino_run *r;
    nino_model *model;
    const nino_clip *clip;
    const nino_vae *vae;
    int steps;
    nino_sigmas sigmas;
    nino_cond *prompt, *empty;
    double first_encode;          // with loading the weights
    nino_probe encode;            // both prompts
    uint64_t encode_peak, before; // bytes of the pool
    picture *list;
    int n, done; // steps of all pictures, for progress
} bench;

// ---- parameters ------------------------------------------------------------------------------

static nino_status bad_list(const char *key, const char *what, nino_error *err)
{
    return nino_fail_kind(err, NINO_ERR_FORMAT, "value", key, "%s", what);
}

// The next entry of a list with commas, without spaces around; false: there is none.
static bool next_entry(const char **s, char *out, size_t size)
{
    const char *p = *s + strspn(*s, ", \t\n");
    size_t n = strcspn(p, ",");
    *s = p + n;
    while (n && strchr(" \t\n", p[n - 1]))
        n--;
    snprintf(out, size, "%.*s", (int) n, p);
    return n > 0;
}

static nino_status read_sizes(const char *text, size_list *out, nino_error *err)
{
    char entry[32];
    out->n = 0;
    while (next_entry(&text, entry, sizeof(entry))) {
        char *x = strpbrk(entry, "xX");
        int64_t w = 0, h = 0;
        if (out->n == MAX_CASES)
            return bad_list("test_resolutions", "more than 16 resolutions", err);
        if (x)
            *x = 0;
        if (!x || !nino_parse_i64(entry, &w) || !nino_parse_i64(x + 1, &h) || w < 16 || h < 16 ||
            w > 16384 || h > 16384)
            return bad_list("test_resolutions",
                            "a list such as 512x512,1024x768 is needed, sides of 16 to 16384", err);
        out->w[out->n] = (int) w;
        out->h[out->n++] = (int) h;
    }
    return out->n ? NINO_OK : bad_list("test_resolutions", "no resolution is given", err);
}

static nino_status read_cfgs(const char *text, cfg_list *out, nino_error *err)
{
    char entry[32];
    out->n = 0;
    while (next_entry(&text, entry, sizeof(entry))) {
        double v = 0;
        if (out->n == MAX_CASES)
            return bad_list("test_cfg_values", "more than 16 values", err);
        if (!nino_parse_double(entry, &v) || !(v >= 0 && v <= 100))
            return bad_list("test_cfg_values", "a list of numbers from 0 to 100 is needed", err);
        out->v[out->n++] = v;
    }
    return out->n ? NINO_OK : bad_list("test_cfg_values", "no value is given", err);
}

static nino_status rocm_flux_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    const flux_params *p = params;
    size_list sizes;
    cfg_list cfgs;
    (void) ctx;
    const nino_status st = read_sizes(p->test_resolutions, &sizes, err);
    return st ? st : read_cfgs(p->test_cfg_values, &cfgs, err);
}

// ---- stages ----------------------------------------------------------------------------------

static uint64_t pool_peak(const bench *b)
{
    nino_mem_stat m;
    nino_pool_stat(nino_stream_backend(b->r->stream)->pool, &m);
    return m.peak;
}

static double seconds_since(uint64_t begin) { return (double) (nino_now_ns() - begin) * 1e-9; }

// Both prompts, as a workflow encodes them.
static nino_status encode_once(bench *b, double *seconds, nino_error *err)
{
    const nino_clip_text text = { .all = PROMPT }, none = { .all = "" };
    nino_cond_unref(&b->prompt);
    nino_cond_unref(&b->empty);
    const uint64_t begin = nino_now_ns();
    nino_status st = nino_clip_encode(b->r->stream, b->clip, &text, &b->prompt, err);
    if (st == NINO_OK)
        st = nino_clip_encode(b->r->stream, b->clip, &none, &b->empty, err);
    *seconds = seconds_since(begin);
    return st;
}

static nino_status rocm_flux_encode(bench *b, nino_error *err)
{
    double t[ENCODES] = { 0 };
    nino_pool_reset_peak(nino_stream_backend(b->r->stream)->pool);
    nino_status st = encode_once(b, &b->first_encode, err);
    for (int i = 0; i < ENCODES && st == NINO_OK && !b->r->is_plan; i++)
        if ((st = nino_node_cancelled(b->r, err)) == NINO_OK)
            st = encode_once(b, &t[i], err);
    b->encode = nino_probe_of(t, ENCODES);
    b->encode_peak = pool_peak(b);
    return st;
}

typedef struct watch {
    bench *b;
    picture *p;
} watch;

static void on_rocm_flux_step(void *priv, const nino_sample_step *step)
{
    const watch *w = priv;
    if (w->p->n_steps < MAX_STEPS)
        w->p->step[w->p->n_steps++] = step->seconds;
    nino_run_step(w->b->r, (uint32_t) ++w->b->done, (uint32_t) (w->b->n * w->b->steps));
}

static nino_status rocm_flux_sample(bench *b, picture *p, int steps, bool is_counted,
                                    nino_array **z, nino_error *err)
{
    const nino_sampler euler = nino_sampler_default(NINO_SAMPLER_EULER);
    const nino_latent_format *f = b->model->net->format;
    const nino_guider g = { .refs = 1,
                            .kind = NINO_GUIDE_CFG,
                            .model = b->model,
                            .positive = b->prompt,
                            .negative = b->empty,
                            .cfg = p->cfg };
    watch w = { b, p };
    nino_array *zeros = nino_node_array(
        NINO_F32, NINO_SHAPE(1, p->h / f->factor, p->w / f->factor, f->channels), "latent", err);
    if (!zeros)
        return NINO_ERR_NOMEM;
    const nino_sample_params sp = { .guider = &g,
                                    .sampler = &euler,
                                    .sigmas = b->sigmas.v,
                                    .n_sigmas = steps + 1,
                                    .samples = zeros,
                                    .on_step = is_counted ? on_rocm_flux_step : NULL,
                                    .priv = &w };
    const nino_status st = nino_sample_latent(b->r->stream, &sp, z, NULL, err);
    nino_array_unref(&zeros);
    return st;
}

static nino_status rocm_flux_decode(bench *b, picture *p, const nino_array *z, nino_error *err)
{
    const nino_tile_params tile = { NINO_TILE_AUTO, 512, 64 };
    nino_array *pixels = NULL;
    const nino_status st =
        nino_vae_decode_tiled(b->r->stream, b->vae, z, &tile, &pixels, &p->tiles, err);
    nino_array_unref(&pixels);
    return st;
}

// is_counted: timed, with its peaks; otherwise one step, so that kernels and weights are there.
static nino_status rocm_flux_make(bench *b, picture *p, bool is_counted, nino_error *err)
{
    nino_pool *pool = nino_stream_backend(b->r->stream)->pool;
    nino_array *z = NULL;
    nino_pool_reset_peak(pool);
    uint64_t begin = nino_now_ns();
    nino_status st = rocm_flux_sample(b, p, is_counted ? b->steps : 1, is_counted, &z, err);
    p->denoise = seconds_since(begin);
    p->denoise_peak = pool_peak(b);
    if (st == NINO_OK) {
        nino_pool_reset_peak(pool);
        begin = nino_now_ns();
        st = rocm_flux_decode(b, p, z, err);
        p->decode = seconds_since(begin);
        p->decode_peak = pool_peak(b);
    }
    nino_array_unref(&z);
    return st;
}

// A picture that does not fit is a result; everything else that fails ends the benchmark.
static nino_status make_all(bench *b, nino_error *err)
{
    nino_status st = NINO_OK;
    int n_failed = 0;
    for (int i = 0; i < b->n && st == NINO_OK; i++) {
        picture *p = &b->list[i];
        const bool is_new_size = !i || p->w != p[-1].w || p->h != p[-1].h;
        nino_error e = { 0 };
        if (is_new_size && !b->r->is_plan)
            st = rocm_flux_make(b, p, false, &e);
        if (st == NINO_OK)
            st = rocm_flux_make(b, p, true, &e);
        if (st == NINO_ERR_NOMEM && !b->r->is_plan) {
            snprintf(p->failed, sizeof(p->failed), "%s", e.msg);
            nino_stream_clear_error(b->r->stream);
            n_failed++;
            st = n_failed == b->n ? st : NINO_OK;
        }
        if (st && err)
            *err = e;
        p->per_step = nino_probe_of(p->step, p->n_steps);
        b->done = (i + 1) * b->steps;
    }
    return st;
}

// ---- texts -----------------------------------------------------------------------------------

static double rocm_flux_mib(uint64_t bytes) { return (double) bytes / 0x1p20; }
static double rocm_flux_whole(const picture *p) { return p->denoise + p->decode; }

static void print_results(const bench *b, nino_buf *out)
{
    const nino_backend *be = nino_stream_backend(b->r->stream);
    nino_buf_adds(out, "ROCm Flux Benchmark, ");
    nino_probe_date(out);
    nino_buf_addf(out, "\nDevice: %s (%s), profile %s, storage %s\n", be->info.name,
                  be->info.selector, be->profile.name,
                  nino_dtype_name(nino_stream_act_type(b->r->stream)));
    nino_buf_addf(out, "Model: %s (%s)\nText encoder: %s\nVAE: %s (%s)\n", b->model->net->name,
                  b->model->net->detail, b->clip->name, b->vae->name, b->vae->detail);
    nino_buf_addf(out, "Sampling: euler, simple, %d steps, one picture\n", b->steps);
    nino_buf_addf(out,
                  "Text: %.3f s for a prompt and an empty one (median of %d; %.3f to %.3f), %.3f s "
                  "the first time, peak %.1f MiB\n",
                  b->encode.median, b->encode.n, b->encode.min, b->encode.max, b->first_encode,
                  rocm_flux_mib(b->encode_peak));
    for (int i = 0; i < b->n; i++) {
        const picture *p = &b->list[i];
        nino_buf_addf(out, "%dx%d, cfg %g: ", p->w, p->h, p->cfg);
        if (p->failed[0]) {
            nino_buf_addf(out, "not enough memory: %s\n", p->failed);
            continue;
        }
        nino_buf_addf(out,
                      "%.4f s a step (median of %d; %.4f to %.4f), denoise %.3f s (peak %.1f MiB), "
                      "decode %.3f s (peak %.1f MiB)\n",
                      p->per_step.median, p->per_step.n, p->per_step.min, p->per_step.max,
                      p->denoise, rocm_flux_mib(p->denoise_peak), p->decode,
                      rocm_flux_mib(p->decode_peak));
    }
}

#define BAR 50 // characters of the longest picture

static void print_chart(const bench *b, nino_buf *out)
{
    double longest = 0;
    for (int i = 0; i < b->n; i++)
        longest = fmax(longest,
                       b->list[i].failed[0] ? 0 : rocm_flux_whole(&b->list[i]) + b->encode.median);
    nino_buf_adds(out, "Seconds a picture: t text, # denoise, = decode\n");
    for (int i = 0; i < b->n; i++) {
        const picture *p = &b->list[i];
        const double part[3] = { b->encode.median, p->denoise, p->decode };
        char label[40];
        snprintf(label, sizeof(label), "%dx%d cfg %g", p->w, p->h, p->cfg);
        nino_buf_addf(out, "%-22s ", label);
        for (int k = 0; k < 3 && !p->failed[0]; k++)
            for (int n = (int) rint(part[k] / longest * BAR); n > 0; n--)
                nino_buf_addc(out, "t#="[k]);
        if (p->failed[0])
            nino_buf_adds(out, "not enough memory\n");
        else
            nino_buf_addf(out, " %.3f\n", rocm_flux_whole(p) + b->encode.median);
    }
}

// The picture of the same size with the lowest cfg, if it is another one.
static const picture *cheapest(const bench *b, const picture *of)
{
    const picture *best = of;
    for (int i = 0; i < b->n; i++) {
        const picture *p = &b->list[i];
        if (!p->failed[0] && p->w == of->w && p->h == of->h &&
            p->per_step.median < best->per_step.median)
            best = p;
    }
    return best;
}

// Only what the numbers say, with the numbers.
static void rocm_flux_print_advice(const bench *b, nino_buf *out)
{
    const picture *fastest = NULL;
    double least = INFINITY;
    for (int i = 0; i < b->n; i++) {
        const picture *p = &b->list[i];
        if (p->failed[0]) {
            nino_buf_addf(out, "%dx%d, cfg %g does not fit this device\n", p->w, p->h, p->cfg);
            continue;
        }
        const double sum = rocm_flux_whole(p) + b->encode.median;
        const double per_pixel = p->per_step.median / (p->w * (double) p->h) * 0x1p20;
        const picture *q = cheapest(b, p);
        nino_buf_addf(out, "%dx%d, cfg %g: %.0f %% text, %.0f %% denoise, %.0f %% decode", p->w,
                      p->h, p->cfg, 100 * b->encode.median / sum, 100 * p->denoise / sum,
                      100 * p->decode / sum);
        if (q->per_step.median < 0.9 * p->per_step.median)
            nino_buf_addf(out, "; a step with cfg %g is %.2f times as fast", q->cfg,
                          p->per_step.median / q->per_step.median);
        if (p->tiles.tiled)
            nino_buf_addf(out, "; decoded in %d tiles: %s", p->tiles.n_tiles, p->tiles.why);
        nino_buf_addc(out, '\n');
        if (per_pixel < least) {
            least = per_pixel;
            fastest = p;
        }
    }
    if (fastest)
        nino_buf_addf(out, "Cheapest for its size: %dx%d, cfg %g, %.4f s a step and megapixel\n",
                      fastest->w, fastest->h, fastest->cfg, least);
}

static void rocm_flux_print_memory(const bench *b, nino_buf *out)
{
    nino_mem_stat m;
    nino_pool_stat(nino_stream_backend(b->r->stream)->pool, &m);
    nino_buf_addf(out, "Weights as stored: model %.1f MiB, text encoder %.1f MiB, VAE %.1f MiB\n",
                  rocm_flux_mib(b->model->net->weight_bytes), rocm_flux_mib(b->clip->weight_bytes),
                  rocm_flux_mib(b->vae->weight_bytes));
    nino_buf_addf(out, "Device pool: %.1f MiB in use before, %.1f MiB after, %.1f MiB held",
                  rocm_flux_mib(b->before), rocm_flux_mib(m.in_use), rocm_flux_mib(m.reserved));
    if (m.budget)
        nino_buf_addf(out, ", budget %.1f MiB", rocm_flux_mib(m.budget));
    nino_buf_addf(out, "\nSystem memory available: %.2f GiB\nPeaks: text %.1f MiB\n",
                  (double) nino_mem_available() / 0x1p30, rocm_flux_mib(b->encode_peak));
    for (int i = 0; i < b->n; i++) {
        const picture *p = &b->list[i];
        const uint64_t peak = p->denoise_peak > p->decode_peak ? p->denoise_peak : p->decode_peak;
        nino_buf_addf(out, "%dx%d, cfg %g: ", p->w, p->h, p->cfg);
        if (p->failed[0])
            nino_buf_adds(out, "not enough memory\n");
        else if (m.budget)
            nino_buf_addf(out, "%.1f MiB, %.0f %% of the budget\n", rocm_flux_mib(peak),
                          100 * (double) peak / (double) m.budget);
        else
            nino_buf_addf(out, "%.1f MiB\n", rocm_flux_mib(peak));
    }
}

// ---- the node --------------------------------------------------------------------------------

static nino_status rocm_flux_prepare(bench *b, nino_error *err)
{
    const flux_params *p = b->r->params;
    const int factor = b->model->net->format->factor, channels = b->model->net->format->channels;
    size_list sizes;
    cfg_list cfgs;
    nino_mem_stat m;
    nino_status st = read_sizes(p->test_resolutions, &sizes, err);
    if (st || (st = read_cfgs(p->test_cfg_values, &cfgs, err)))
        return st;
    if (b->vae->channels != channels || !b->vae->has_decoder)
        return nino_fail_kind(err, NINO_ERR_ARG, "model", b->vae->name,
                              "its latents have %d channels%s, the model's have %d",
                              b->vae->channels, b->vae->has_decoder ? "" : " and no decoder",
                              channels);
    for (int i = 0; i < sizes.n; i++)
        if (sizes.w[i] < factor || sizes.h[i] < factor)
            return bad_list("test_resolutions", "a side is smaller than one latent cell", err);
    b->steps = (int) p->test_steps;
    b->n = sizes.n * cfgs.n;
    if (!(b->list = calloc((size_t) b->n, sizeof(*b->list))))
        return nino_fail(err, NINO_ERR_NOMEM, b->r->def->key, "out of memory");
    for (int i = 0; i < b->n; i++) {
        b->list[i].w = sizes.w[i / cfgs.n];
        b->list[i].h = sizes.h[i / cfgs.n];
        b->list[i].cfg = cfgs.v[i % cfgs.n];
    }
    nino_pool_stat(nino_stream_backend(b->r->stream)->pool, &m);
    b->before = m.in_use;
    return nino_schedule_basic(b->model->sampling, NINO_SCHEDULER_SIMPLE, b->steps, 1, &b->sigmas,
                               err);
}

static nino_status rocm_flux_flux_run(nino_run *r, nino_error *err)
{
    const flux_params *p = r->params;
    bench b = {
        .r = r, .model = r->in[0]->u.model, .vae = r->in[1]->u.vae, .clip = r->in[2]->u.clip
    };
    nino_buf text[TEXTS] = { { 0 } };
    nino_status st = rocm_flux_prepare(&b, err);
    if (st == NINO_OK && !(st = rocm_flux_encode(&b, err)))
        st = make_all(&b, err);
    if (st == NINO_OK && !r->is_plan) {
        print_results(&b, &text[RESULTS]);
        if (p->generate_report) {
            print_chart(&b, &text[CHART]);
            rocm_flux_print_advice(&b, &text[ADVICE]);
            rocm_flux_print_memory(&b, &text[MEMORY]);
        }
    }
    nino_cond_unref(&b.prompt);
    nino_cond_unref(&b.empty);
    nino_sigmas_release(&b.sigmas);
    free(b.list);
    return st ? st : nino_probe_texts(r, text, err);
}

NINO_NODE(
    rocm_flux_benchmark, "ROCMFluxBenchmark", "ROCm Flux Benchmark", "ROCm Ninodes/Benchmark",
    "Measures text encoding, every step and decoding of whole pictures on this device",
    NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(vae, VAE), NINO_PORT(clip, CLIP)),
    NINO_OUTPUTS(NINO_PORT(BENCHMARK_RESULTS, STRING), NINO_PORT(PERFORMANCE_CHART, STRING),
                 NINO_PORT(OPTIMIZATION_RECOMMENDATIONS, STRING),
                 NINO_PORT(MEMORY_ANALYSIS, STRING)),
    NINO_PARAMS(
        flux_params,
        NINO_P_STRING(flux_params, test_resolutions, "256x320,512x512,1024x1024",
                      .label = "Resolutions",
                      .help = "Widths and heights, such as 512x512,1024x768"),
        NINO_P_INT(flux_params, test_steps, 20, 1, MAX_STEPS, 1, .label = "Steps",
                   .help = "Steps of every picture"),
        NINO_P_STRING(
            flux_params, test_cfg_values, "1.0,3.5,8.0", .label = "CFG values",
            .help = "Every resolution is sampled with each of them; 1 needs half of the work"),
        NINO_P_BOOL(flux_params, test_hipblas, true, .label = "hipBLAS", .is_inert = true,
                    .help = "No effect: matrix products are OpenCL kernels"),
        NINO_P_BOOL(flux_params, generate_report, true, .label = "Report",
                    .help = "Off: only the results, without chart, advice and memory")),
    .is_output = true,
    NINO_ORDERS({ NINO_WORDS("test_resolutions", "test_steps", "test_cfg_values", "test_hipblas",
                             "-", "generate_report"),
                  "1.0.9" }),
    NINO_RUN(rocm_flux_flux_run, .check = rocm_flux_check, .is_volatile = true));
