// ROCMFluxBenchmark: what a picture costs with this model, text encoder and VAE. Of every resolution
// one step with every cfg is measured in turn, and decoding by itself; a picture's time is worked out
// from them. A size that the device has no memory for is reported as such, and the others go on.
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
#include "core/op/engine.h"
#include "core/sample/guide/guide.h"
#include "core/tile/tile.h"

#define MAX_CASES 16 // resolutions, and cfg values
#define MAX_STEPS 100
#define LIMIT_SECONDS 5 // of an experiment, beyond its least rounds
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
    nino_spread step, decode; // seconds; decoding is the same for all of a resolution
    nino_effect effect;       // of a step, against that of `against`: the first that fits
    const struct picture *against;
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
    nino_spread encode;           // both prompts
    uint64_t encode_peak, before; // bytes of the pool
    picture *list;
    int n;
    // What is being measured.
    picture *at[MAX_CASES]; // cfgs of one resolution that fit
    nino_array *z;          // a finished latent of it
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
static nino_status measure_encode(void *priv, int k, bool is_warmup, double *seconds,
                                  nino_error *err)
{
    bench *b = priv;
    const nino_clip_text text = { .all = PROMPT }, none = { .all = "" };
    (void) k;
    nino_cond_unref(&b->prompt);
    nino_cond_unref(&b->empty);
    const uint64_t begin = nino_now_ns();
    nino_status st = nino_clip_encode(b->r->stream, b->clip, &text, &b->prompt, err);
    if (st == NINO_OK)
        st = nino_clip_encode(b->r->stream, b->clip, &none, &b->empty, err);
    *seconds = seconds_since(begin);
    if (is_warmup)
        b->first_encode = *seconds;
    return st;
}

static void on_rocm_flux_step(void *priv, const nino_sample_step *step)
{
    *(double *) priv = step->seconds;
}

// One step; its time is without what a sampling does before and after.
static nino_status sample_step(bench *b, const picture *p, double *seconds, nino_array **z,
                               nino_error *err)
{
    const nino_sampler euler = nino_sampler_default(NINO_SAMPLER_EULER);
    const nino_latent_format *f = b->model->net->format;
    const int h = p->h / f->factor, w = p->w / f->factor;
    const nino_guider g = { .refs = 1,
                            .kind = NINO_GUIDE_CFG,
                            .model = b->model,
                            .positive = b->prompt,
                            .negative = b->empty,
                            .cfg = p->cfg };
    nino_array *zeros = nino_node_array(NINO_F32,
                                        f->time_factor > 1 ? NINO_SHAPE(1, 1, h, w, f->channels)
                                                           : NINO_SHAPE(1, h, w, f->channels),
                                        "latent", err);
    if (!zeros)
        return NINO_ERR_NOMEM;
    const nino_sample_params sp = { .guider = &g,
                                    .sampler = &euler,
                                    .sigmas = b->sigmas.v,
                                    .n_sigmas = 2,
                                    .samples = zeros,
                                    .on_step = on_rocm_flux_step,
                                    .priv = seconds };
    const nino_status st = nino_sample_latent(b->r->stream, &sp, z, NULL, err);
    nino_array_unref(&zeros);
    return st;
}

static nino_status measure_step(void *priv, int k, bool is_warmup, double *seconds, nino_error *err)
{
    bench *b = priv;
    nino_array *z = NULL;
    (void) is_warmup;
    const nino_status st = sample_step(b, b->at[k], seconds, &z, err);
    nino_array_unref(&z);
    return st;
}

// One frame of a video is a picture.
static nino_status decode_latent(bench *b, nino_tile_report *tiles, nino_error *err)
{
    const nino_tile_params tile = { .style = NINO_TILE_AUTO, .tile = 512, .overlap = 64 };
    nino_array *pixels = NULL, flat = *b->z;
    const int64_t *d = b->z->shape.dim;
    if (b->z->shape.rank == 5)
        flat.shape = NINO_SHAPE(d[0], d[2], d[3], d[4]);
    const nino_status st =
        nino_vae_decode_tiled(b->r->stream, b->vae, &flat, &tile, &pixels, tiles, err);
    nino_array_unref(&pixels);
    return st;
}

static nino_status measure_decode(void *priv, int k, bool is_warmup, double *seconds,
                                  nino_error *err)
{
    bench *b = priv;
    nino_tile_report tiles = { 0 };
    (void) k, (void) is_warmup;
    const uint64_t begin = nino_now_ns();
    const nino_status st = decode_latent(b, &tiles, err);
    *seconds = seconds_since(begin);
    return st;
}

static nino_status measure_all(bench *b, int settings, nino_measure_once measure,
                               nino_experiment **out, nino_error *err)
{
    nino_error mine = { .code = NINO_OK };
    *out = nino_probe_settings(b->r, settings, LIMIT_SECONDS, measure, b, &mine);
    if (!*out && err)
        *err = mine;
    return mine.code;
}

static nino_status rocm_flux_encode(bench *b, nino_error *err)
{
    nino_experiment *e = NULL;
    nino_status st;
    nino_pool_reset_peak(nino_stream_backend(b->r->stream)->pool);
    if (b->r->is_plan) {
        st = measure_encode(b, 0, true, &b->first_encode, err);
    } else if (!(st = measure_all(b, 1, measure_encode, &e, err))) {
        nino_experiment_spread(e, 0, &b->encode);
    }
    nino_experiment_destroy(&e);
    b->encode_peak = pool_peak(b);
    return st;
}

// One step and the decoding of what it gives: whether it fits, with its peaks. Kernels and weights
// are there afterwards.
static nino_status try_picture(bench *b, picture *p, nino_error *err)
{
    nino_pool *pool = nino_stream_backend(b->r->stream)->pool;
    double seconds;
    nino_array_unref(&b->z);
    nino_pool_reset_peak(pool);
    nino_status st = sample_step(b, p, &seconds, &b->z, err);
    p->denoise_peak = pool_peak(b);
    if (st == NINO_OK) {
        nino_pool_reset_peak(pool);
        st = decode_latent(b, &p->tiles, err);
        p->decode_peak = pool_peak(b);
    }
    return st;
}

// The pictures from `first` on that have its size. A picture that does not fit is a result;
// everything else that fails ends the benchmark.
static nino_status measure_size(bench *b, int first, int n, int *n_failed, nino_error *err)
{
    nino_status st = NINO_OK;
    nino_experiment *steps = NULL, *decodes = NULL;
    int n_fit = 0;
    for (int i = first; i < first + n && !st; i++) {
        picture *p = &b->list[i];
        nino_error e = { 0 };
        st = try_picture(b, p, &e);
        if (st == NINO_ERR_NOMEM && !b->r->is_plan) {
            snprintf(p->failed, sizeof(p->failed), "%s", e.msg);
            nino_stream_clear_error(b->r->stream);
            st = ++*n_failed == b->n ? st : NINO_OK;
        } else if (!st) {
            b->at[n_fit++] = p;
        }
        if (st && err)
            *err = e;
    }
    if (!st && n_fit && !b->r->is_plan && !(st = measure_all(b, n_fit, measure_step, &steps, err)))
        st = measure_all(b, 1, measure_decode, &decodes, err);
    for (int i = 0; i < n_fit && decodes; i++) {
        nino_experiment_spread(steps, i, &b->at[i]->step);
        nino_experiment_effect(steps, i, &b->at[i]->effect);
        b->at[i]->against = b->at[0];
        nino_experiment_spread(decodes, 0, &b->at[i]->decode);
    }
    nino_experiment_destroy(&steps);
    nino_experiment_destroy(&decodes);
    return st;
}

static nino_status make_all(bench *b, int per_size, nino_error *err)
{
    nino_status st = NINO_OK;
    int n_failed = 0;
    for (int i = 0; i < b->n && st == NINO_OK; i += per_size) {
        nino_stream_set_quiet(b->r->stream, true);
        st = measure_size(b, i, per_size, &n_failed, err);
        nino_stream_set_quiet(b->r->stream, false);
    }
    nino_array_unref(&b->z);
    return st;
}

// ---- texts -----------------------------------------------------------------------------------

static double rocm_flux_mib(uint64_t bytes) { return (double) bytes / 0x1p20; }
static double rocm_flux_denoise(const bench *b, const picture *p)
{
    return b->steps * p->step.median;
}
static double rocm_flux_whole(const bench *b, const picture *p)
{
    return rocm_flux_denoise(b, p) + p->decode.median + b->encode.median;
}

static void print_results(const bench *b, nino_buf *out)
{
    const nino_backend *be = nino_stream_backend(b->r->stream);
    nino_buf_adds(out, "ROCm Flux Benchmark, ");
    nino_probe_date(out);
    nino_buf_addf(out, "\nDevice: %s (%s), profile %s, storage %s\n", be->info.name,
                  be->info.selector, be->profile.name, nino_stream_storage(b->r->stream));
    nino_buf_addf(out, "Model: %s (%s)\nText encoder: %s\nVAE: %s (%s)\n", b->model->net->name,
                  b->model->net->detail, b->clip->name, b->vae->name, b->vae->detail);
    nino_buf_addf(out, "Linear layers: %s\n", nino_engine_text(&be->profile));
    nino_buf_addf(out, "Sampling: euler, simple, %d steps, one picture\nText: ", b->steps);
    nino_probe_time(out, &b->encode, 1, "s for a prompt and an empty one", 3);
    nino_buf_addf(out, ", %.3f s the first time, peak %.1f MiB\n", b->first_encode,
                  rocm_flux_mib(b->encode_peak));
    for (int i = 0; i < b->n; i++) {
        const picture *p = &b->list[i];
        nino_buf_addf(out, "%dx%d, cfg %g: ", p->w, p->h, p->cfg);
        if (p->failed[0]) {
            nino_buf_addf(out, "not enough memory: %s\n", p->failed);
            continue;
        }
        nino_probe_time(out, &p->step, 1, "s a step", 4);
        nino_buf_addf(out, ", %d steps %.3f s (peak %.1f MiB), decode ", b->steps,
                      rocm_flux_denoise(b, p), rocm_flux_mib(p->denoise_peak));
        nino_probe_time(out, &p->decode, 1, "s", 3);
        nino_buf_addf(out, " (peak %.1f MiB)\n", rocm_flux_mib(p->decode_peak));
    }
}

#define BAR 50 // characters of the longest picture

static void print_chart(const bench *b, nino_buf *out)
{
    double longest = 0;
    for (int i = 0; i < b->n; i++)
        longest = fmax(longest, b->list[i].failed[0] ? 0 : rocm_flux_whole(b, &b->list[i]));
    nino_buf_adds(out, "Seconds a picture: t text, # denoise, = decode\n");
    for (int i = 0; i < b->n; i++) {
        const picture *p = &b->list[i];
        const double part[3] = { b->encode.median, rocm_flux_denoise(b, p), p->decode.median };
        char label[40];
        nino_snprintf(label, sizeof(label), "%dx%d cfg %g", p->w, p->h, p->cfg);
        nino_buf_addf(out, "%-22s ", label);
        for (int k = 0; k < 3 && !p->failed[0]; k++)
            for (int n = (int) rint(part[k] / longest * BAR); n > 0; n--)
                nino_buf_addc(out, "t#="[k]);
        if (p->failed[0])
            nino_buf_adds(out, "not enough memory\n");
        else
            nino_buf_addf(out, " %.3f\n", rocm_flux_whole(b, p));
    }
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
        const double sum = rocm_flux_whole(b, p);
        const double per_pixel = p->step.median / (p->w * (double) p->h) * 0x1p20;
        char text[200];
        nino_buf_addf(out, "%dx%d, cfg %g: %.0f %% text, %.0f %% denoise, %.0f %% decode", p->w,
                      p->h, p->cfg, 100 * b->encode.median / sum,
                      100 * rocm_flux_denoise(b, p) / sum, 100 * p->decode.median / sum);
        if (p->against != p)
            nino_buf_addf(out, "; a step against cfg %g: %s", p->against->cfg,
                          nino_effect_text(&p->effect, text, sizeof(text)));
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

static nino_status rocm_flux_prepare(bench *b, int *per_size, nino_error *err)
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
    *per_size = cfgs.n;
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
    int per_size = 0;
    nino_profile *profile = &nino_stream_backend(r->stream)->profile;
    const nino_gemm asked = profile->gemm;
    if (!p->test_hipblas)
        profile->gemm = NINO_GEMM_NATIVE;
    nino_status st = rocm_flux_prepare(&b, &per_size, err);
    if (st == NINO_OK && !(st = rocm_flux_encode(&b, err)))
        st = make_all(&b, per_size, err);
    if (st == NINO_OK && !r->is_plan) {
        print_results(&b, &text[RESULTS]);
        if (p->generate_report) {
            print_chart(&b, &text[CHART]);
            rocm_flux_print_advice(&b, &text[ADVICE]);
            rocm_flux_print_memory(&b, &text[MEMORY]);
        }
    }
    profile->gemm = asked;
    nino_cond_unref(&b.prompt);
    nino_cond_unref(&b.empty);
    nino_sigmas_release(&b.sigmas);
    free(b.list);
    return st ? st : nino_probe_texts(r, text, err);
}

NINO_NODE(
    rocm_flux_benchmark, "ROCMFluxBenchmark", "ROCm Flux Benchmark", "ROCm Ninodes/Benchmark",
    "Measures text encoding, a step and decoding of pictures on this device, in turn",
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
                   .help = "Steps of a picture: the measured time of one is multiplied by them"),
        NINO_P_STRING(flux_params, test_cfg_values, "1.0,3.5,8.0", .label = "CFG values",
                      .help = "Of every resolution a step is measured with each of them, in turn; "
                              "1 needs half of the work"),
        NINO_P_BOOL(
            flux_params, test_hipblas, true, .label = "BLAS library",
            .help = "On: linear layers are multiplied as NINODES_GEMM says, by CLBlast where it "
                    "is chosen; off: by ninodes' own kernels, to compare with"),
        NINO_P_BOOL(flux_params, generate_report, true, .label = "Report",
                    .help = "Off: only the results, without chart, advice and memory")),
    .is_output = true,
    NINO_ORDERS({ NINO_WORDS("test_resolutions", "test_steps", "test_cfg_values", "test_hipblas",
                             "-", "generate_report"),
                  "1.0.9" }),
    NINO_RUN(rocm_flux_flux_run, .check = rocm_flux_check, .is_volatile = true));
