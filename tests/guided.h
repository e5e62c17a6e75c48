// Tests of the sampling of a latent: conditioning made by hand, one evaluation of the guided
// denoiser, and what it must give, from the definition of every feature.
#pragma once
#include "core/base/error.h"
#include "core/op/plan/plan.h"
#include "core/sample/guide/guide.h"
#include "tests/fake_net.h"

enum { H = 24, W = 20, C = 4, CELLS = H * W, MAX_BATCH = 3 };

static nino_backend *be;
static nino_stream *stream;
static fake_net net;

// ---- conditioning made by hand ---------------------------------------------------------------

static inline nino_array *array_of(nino_shape shape, double from, double step)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = (float) (from + step * (double) (i % 17));
    return a;
}

static inline void give(nino_array **slot, nino_array *a)
{
    nino_cond_set_array(slot, a);
    nino_array_unref(&a);
}

// n entries; the mean of entry i's context is about 0.1 (i + 1) times `sign`.
static inline nino_cond *cond_of(int n, int64_t tokens, double sign)
{
    nino_cond *c = nino_cond_create(n);
    CHECK(c);
    for (int i = 0; i < n; i++)
        give(&c->entry[i].context,
             array_of(NINO_SHAPE(1, tokens, 3), 0.1 * sign * (i + 1), 0.003 * sign));
    return c;
}

// ---- the oracle ------------------------------------------------------------------------------

typedef struct spot { // an entry as the test thinks of it
    const nino_cond_entry *e;
    double y, refs, guidance, worse;
    nino_skip skip;
    double weight[MAX_BATCH][CELLS];
    double concat[CELLS];
} spot;

static spot spots[8];

static inline spot *spot_of(int i, const nino_cond_entry *e, double weight)
{
    spot *s = &spots[i];
    *s = (spot){ .e = e, .guidance = NAN };
    for (int b = 0; b < MAX_BATCH; b++)
        for (int k = 0; k < CELLS; k++)
            s->weight[b][k] = weight;
    return s;
}

static inline void only_area(spot *s, int h, int w, int y, int x, bool fades)
{
    for (int b = 0; b < MAX_BATCH; b++)
        for (int i = 0; i < CELLS; i++) {
            const int r = i / W - y, c = i % W - x;
            double f = r >= 0 && r < h && c >= 0 && c < w;
            const double n = fmin(8, h / 4), m = fmin(8, w / 4);
            if (f > 0 && fades) {
                f *= y && r < n ? (r + 1) / n : 1;
                f *= y + h < H && h - 1 - r < n ? (h - r) / n : 1;
                f *= x && c < m ? (c + 1) / m : 1;
                f *= x + w < W && w - 1 - c < m ? (w - c) / m : 1;
            }
            s->weight[b][i] *= f;
        }
}

static inline double timestep_of(double sigma) // nearest table entry in log sigma
{
    return (double) nino_sampling_timestep(net.d.sampling, (float) sigma);
}

// The weighted mean of what the entries make of x.
static inline void oracle(const spot *s, int n, const float *x, int batch, double sigma,
                          double *out)
{
    const bool is_flow = nino_sampling_is_flow(net.d.sampling);
    const double scale = is_flow ? 1 : 1 / sqrt(sigma * sigma + 1);
    for (int i = 0; i < batch * C * CELLS; i++) {
        const int b = i / (C * CELLS), c = i / CELLS % C, cell = i % CELLS;
        double sum = 0, weight = 1e-37;
        for (int k = 0; k < n; k++) {
            const fake_in in = { .x = (double) x[i] * scale,
                                 .concat = s[k].concat[cell],
                                 .context = fake_mean(s[k].e->context, 0),
                                 .y = s[k].y,
                                 .refs = s[k].refs,
                                 .timestep = timestep_of(sigma),
                                 .guidance = s[k].guidance,
                                 .worse = s[k].worse,
                                 .skip = s[k].skip,
                                 .channel = c };
            sum += s[k].weight[b][cell] * ((double) x[i] - sigma * fake_answer(&in));
            weight += s[k].weight[b][cell];
        }
        out[i] = sum / weight;
    }
}

// ---- one step --------------------------------------------------------------------------------

typedef struct seen {
    float x0[MAX_BATCH * C * CELLS];
    int steps, total;
    double sigma[64];
} seen;

static seen last;

static inline void on_step(void *priv, const nino_sample_step *step)
{
    seen *s = priv;
    CHECK(s->steps < 64);
    s->sigma[s->steps++] = step->sigma;
    s->total = step->total;
    CHECK(step->step == s->steps && step->shape.rank == 4 && step->shape.dim[1] == C);
    memcpy(s->x0, step->denoised,
           (size_t) nino_shape_count(&step->shape) * sizeof(*step->denoised));
}

typedef struct setup {
    nino_guider g;
    nino_model *m;
    nino_sampler sampler;
    int batch;
    double sigma;
    nino_array *mask;
    nino_array *samples; // NULL: zeros
    int64_t *batch_index;
    bool one_by_one, is_disabled;
    uint64_t seed;
} setup;

static inline setup setup_of(nino_cond *positive, nino_cond *negative, double cfg)
{
    setup s = { .m = nino_model_create(&net.d), .batch = 1, .sigma = 3.5, .seed = 5 };
    CHECK(s.m);
    s.sampler = nino_sampler_default(NINO_SAMPLER_EULER);
    s.g = (nino_guider){ .refs = 1,
                         .kind = negative ? NINO_GUIDE_CFG : NINO_GUIDE_BASIC,
                         .model = s.m,
                         .positive = positive,
                         .negative = negative,
                         .cfg = cfg };
    return s;
}

static inline void patch(setup *s, nino_patch p) { CHECK(nino_model_add_patch(s->m, &p)); }

static inline nino_status run(setup *s, const float *sigmas, int n, nino_array **out,
                              nino_error *err)
{
    nino_array *zeros = nino_array_create(NINO_F32, NINO_SHAPE(s->batch, H, W, C));
    const nino_sample_params p = { .guider = &s->g,
                                   .noise = { .is_disabled = s->is_disabled, .seed = s->seed },
                                   .sampler = &s->sampler,
                                   .sigmas = sigmas,
                                   .n_sigmas = n,
                                   .samples = s->samples ? s->samples : zeros,
                                   .noise_mask = s->mask,
                                   .batch_index = s->batch_index,
                                   .one_by_one = s->one_by_one,
                                   .on_step = on_step,
                                   .priv = &last };
    net.n = 0;
    last = (seen){ 0 };
    const nino_status st = nino_sample_latent(stream, &p, out, NULL, err);
    nino_array_unref(&zeros);
    return st;
}

// One step from s->sigma; last.x0 is what the guider made of the noise, which *x becomes.
static inline void evaluate(setup *s, float *x)
{
    const float sigmas[2] = { (float) s->sigma, 0 };
    nino_error err = { 0 };
    nino_array *out = NULL;
    CHECK_OK(run(s, sigmas, 2, &out, &err), err);
    CHECK(last.steps == 1 && last.total == 1);
    nino_array_unref(&out);
    nino_noise_fill(s->seed, x, s->batch, C * CELLS, s->batch_index);
    const bool is_flow = nino_sampling_is_flow(net.d.sampling);
    for (int i = 0; i < s->batch * C * CELLS; i++) {
        float l = 0;
        if (s->samples) { // sd15 format
            const int b = i / (C * CELLS), c = i / CELLS % C, cell = i % CELLS;
            l = nino_array_f32(s->samples)[(b * CELLS + cell) * C + c] * 0.18215f;
        }
        x[i] = is_flow ? x[i] * (float) s->sigma + (1 - (float) s->sigma) * l
                       : x[i] * (float) s->sigma + l;
    }
}

static inline void compare(const double *want, int n, double tol)
{
    for (int i = 0; i < n; i++)
        if (!(fabs((double) last.x0[i] - want[i]) <= tol * (1 + fabs(want[i])))) {
            fprintf(stderr, "at %d (channel %d, row %d, column %d): %g, expected %g\n", i,
                    i / CELLS % C, i % CELLS / W, i % W, (double) last.x0[i], want[i]);
            CHECK(!"value");
        }
}

static inline void end_setup(setup *s, nino_cond *a, nino_cond *b)
{
    nino_model_unref(&s->m);
    nino_array_unref(&s->mask);
    nino_array_unref(&s->samples);
    nino_cond_unref(&a);
    nino_cond_unref(&b);
}

static double pos[MAX_BATCH * C * CELLS], neg[MAX_BATCH * C * CELLS];

static inline void apply_cfg(double cfg, int n)
{
    for (int i = 0; i < n; i++)
        pos[i] = neg[i] + (pos[i] - neg[i]) * cfg;
}

static inline void other_net(nino_diffusion_kind kind, const char *format, int extra,
                             nino_sampling *ms)
{
    fake_release(&net);
    fake_init(&net, kind, format, extra, ms);
}

static inline void open_all(void)
{
    nino_error err = { 0 };
    be = nino_ref_open(0, NULL, &err);
    CHECK(be);
    stream = nino_stream_create(&(nino_stream_params){ .backend = be, .precision = NINO_PREC_F32 },
                                &err);
    CHECK(stream);
    fake_init(&net, NINO_DIFFUSION_UNET, "sd15", 0, nino_sampling_discrete(NINO_PRED_EPS, false));
}

// Nothing may be left on the device, not even until the stream ends.
static inline void close_all(void)
{
    nino_mem_stat m;
    fake_release(&net);
    nino_backend_drop_weights(be);
    nino_pool_stat(be->pool, &m);
    CHECK(m.in_use == 0);
    nino_stream_destroy(&stream);
    nino_backend_close(&be);
}
