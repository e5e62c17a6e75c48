// Sampling with a network that is computed by hand: every feature of conditioning and guidance
// against the value that follows from its definition; then batches, plan, cancel and bad input.
#include "core/base/error.h"
#include "core/op/plan.h"
#include "core/sample/guide.h"
#include "tests/fake_net.h"

enum { H = 24, W = 20, C = 4, CELLS = H * W, MAX_BATCH = 3 };

static nino_backend *be;
static nino_stream *stream;
static fake_net net;

// ---- conditioning made by hand ---------------------------------------------------------------

static nino_array *array_of(nino_shape shape, double from, double step)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = (float) (from + step * (double) (i % 17));
    return a;
}

static void give(nino_array **slot, nino_array *a)
{
    nino_cond_set_array(slot, a);
    nino_array_unref(&a);
}

// n entries; the mean of entry i's context is about 0.1 (i + 1) times `sign`.
static nino_cond *cond_of(int n, int64_t tokens, double sign)
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
    double y, refs, guidance;
    double weight[MAX_BATCH][CELLS];
    double concat[CELLS];
} spot;

static spot spots[8];

static spot *spot_of(int i, const nino_cond_entry *e, double weight)
{
    spot *s = &spots[i];
    *s = (spot){ .e = e, .guidance = NAN };
    for (int b = 0; b < MAX_BATCH; b++)
        for (int k = 0; k < CELLS; k++)
            s->weight[b][k] = weight;
    return s;
}

static void only_area(spot *s, int h, int w, int y, int x, bool fades)
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

static double timestep_of(double sigma) // nearest table entry in log sigma
{
    return (double) nino_sampling_timestep(net.d.sampling, (float) sigma);
}

// The weighted mean of what the entries make of x.
static void oracle(const spot *s, int n, const float *x, int batch, double sigma, double *out)
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

static void on_step(void *priv, const nino_sample_step *step)
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

static setup setup_of(nino_cond *positive, nino_cond *negative, double cfg)
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

static nino_status run(setup *s, const float *sigmas, int n, nino_array **out, nino_error *err)
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
static void evaluate(setup *s, float *x)
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

static void compare(const double *want, int n, double tol)
{
    for (int i = 0; i < n; i++)
        if (!(fabs((double) last.x0[i] - want[i]) <= tol * (1 + fabs(want[i])))) {
            fprintf(stderr, "at %d (channel %d, row %d, column %d): %g, expected %g\n", i,
                    i / CELLS % C, i % CELLS / W, i % W, (double) last.x0[i], want[i]);
            CHECK(!"value");
        }
}

static void end_setup(setup *s, nino_cond *a, nino_cond *b)
{
    nino_model_unref(&s->m);
    nino_array_unref(&s->mask);
    nino_array_unref(&s->samples);
    nino_cond_unref(&a);
    nino_cond_unref(&b);
}

static float x[MAX_BATCH * C * CELLS];
static double pos[MAX_BATCH * C * CELLS], neg[MAX_BATCH * C * CELLS], mid[MAX_BATCH * C * CELLS];

static void apply_cfg(double cfg, int n)
{
    for (int i = 0; i < n; i++)
        pos[i] = neg[i] + (pos[i] - neg[i]) * cfg;
}

// ---- guidance --------------------------------------------------------------------------------

static void test_cfg(void)
{
    nino_cond *p = cond_of(1, 4, 1), *n = cond_of(1, 4, -1);
    setup s = setup_of(p, n, 7.5);
    s.batch = 2;
    evaluate(&s, x);
    CHECK(net.n == 1 && net.call[0].x.dim[0] == 4); // both in one forward
    spot_of(0, p->entry, 1);
    spot_of(1, n->entry, 1);
    oracle(&spots[0], 1, x, 2, s.sigma, pos);
    oracle(&spots[1], 1, x, 2, s.sigma, neg);
    apply_cfg(7.5, 2 * C * CELLS);
    compare(pos, 2 * C * CELLS, 3e-5);
    s.one_by_one = true;
    static float together[2 * C * CELLS];
    memcpy(together, last.x0, sizeof(together));
    evaluate(&s, x);
    CHECK(net.n == 2 && net.call[0].x.dim[0] == 2);
    for (int i = 0; i < 2 * C * CELLS; i++)
        CHECK(together[i] == last.x0[i]);

    // 1: the negative side is left out, unless the sampler wants it
    s.g.cfg = 1.0 + 1e-12;
    evaluate(&s, x);
    CHECK(net.n == 1 && net.call[0].x.dim[0] == 2);
    oracle(&spots[0], 1, x, 2, s.sigma, pos);
    compare(pos, 2 * C * CELLS, 3e-5);
    s.sampler = nino_sampler_default(NINO_SAMPLER_EULER_CFG_PP);
    evaluate(&s, x);
    CHECK(net.n == 2);

    // the first sigma of a full schedule starts from more noise
    s.sampler = nino_sampler_default(NINO_SAMPLER_EULER);
    s.sigma = (double) net.d.sampling->sigma_max;
    evaluate(&s, x);
    for (int i = 0; i < 2 * C * CELLS; i++)
        x[i] *= (float) (sqrt(1 + s.sigma * s.sigma) / s.sigma);
    oracle(&spots[0], 1, x, 2, s.sigma, pos);
    compare(pos, 2 * C * CELLS, 3e-5);
    end_setup(&s, p, n);
}

static void test_dual(void)
{
    nino_cond *p = cond_of(1, 4, 1), *m = cond_of(1, 4, 2), *n = cond_of(1, 4, -1);
    setup s = setup_of(p, n, 3);
    s.g.kind = NINO_GUIDE_DUAL_CFG;
    s.g.middle = m;
    s.g.cfg2 = 5;
    evaluate(&s, x);
    CHECK(net.n == 1 && net.call[0].x.dim[0] == 3);
    spot_of(0, p->entry, 1);
    spot_of(1, n->entry, 1);
    spot_of(2, m->entry, 1);
    oracle(&spots[0], 1, x, 1, s.sigma, pos);
    oracle(&spots[1], 1, x, 1, s.sigma, neg);
    oracle(&spots[2], 1, x, 1, s.sigma, mid);
    static double want[C * CELLS];
    for (int i = 0; i < C * CELLS; i++)
        want[i] = neg[i] + (mid[i] - neg[i]) * 5 + (pos[i] - mid[i]) * 3;
    compare(want, C * CELLS, 3e-5);
    s.g.is_nested = true;
    evaluate(&s, x);
    for (int i = 0; i < C * CELLS; i++)
        want[i] = neg[i] + 5 * (mid[i] + (pos[i] - mid[i]) * 3 - neg[i]);
    compare(want, C * CELLS, 3e-5);
    // 1 and 1: the first prompt alone
    s.g.is_nested = false;
    s.g.cfg = s.g.cfg2 = 1;
    evaluate(&s, x);
    CHECK(net.n == 1 && net.call[0].x.dim[0] == 1);
    compare(pos, C * CELLS, 3e-5);
    nino_cond_unref(&m);
    end_setup(&s, p, n);
}

static double spread(const double *v, int n)
{
    double mean = 0, sum = 0;
    for (int i = 0; i < n; i++)
        mean += v[i] / n;
    for (int i = 0; i < n; i++)
        sum += (v[i] - mean) * (v[i] - mean);
    return sqrt(sum / (n - 1));
}

static void test_rescale(void)
{
    nino_cond *p = cond_of(1, 4, 1), *n = cond_of(1, 4, -1);
    setup s = setup_of(p, n, 9);
    s.m->rescale_cfg = 0.7;
    evaluate(&s, x);
    spot_of(0, p->entry, 1);
    spot_of(1, n->entry, 1);
    oracle(&spots[0], 1, x, 1, s.sigma, pos);
    oracle(&spots[1], 1, x, 1, s.sigma, neg);
    static double vp[C * CELLS], vg[C * CELLS], want[C * CELLS];
    const double root = sqrt(s.sigma * s.sigma + 1), ss = s.sigma * s.sigma + 1;
    for (int i = 0; i < C * CELLS; i++) {
        const double y = (double) x[i] / ss;
        const double c = (y - pos[i]) * root / s.sigma, u = (y - neg[i]) * root / s.sigma;
        vp[i] = c;
        vg[i] = u + 9 * (c - u);
    }
    const double ratio = spread(vp, C * CELLS) / spread(vg, C * CELLS);
    for (int i = 0; i < C * CELLS; i++)
        want[i] = (double) x[i] / ss - (0.7 * vg[i] * ratio + 0.3 * vg[i]) * s.sigma / root;
    compare(want, C * CELLS, 1e-4);
    end_setup(&s, p, n);
}

// ---- where and when entries apply ------------------------------------------------------------

static void test_areas(void)
{
    nino_cond *p = cond_of(3, 4, 1), *n = cond_of(1, 4, -1);
    p->entry[1].area_kind = NINO_AREA_CELLS;
    p->entry[1].area_h = 12;
    p->entry[1].area_w = 10;
    p->entry[1].area_y = 6;
    p->entry[1].area_x = 4;
    p->entry[1].strength = 0.75;
    p->entry[2].area_kind = NINO_AREA_FRACTION; // the lower right, to the very edge
    p->entry[2].area_h = 0.5;
    p->entry[2].area_w = 0.3;
    p->entry[2].area_y = 0.5;
    p->entry[2].area_x = 0.7;
    p->entry[0].strength = 0.5;
    setup s = setup_of(p, n, 4);
    s.batch = 2;
    evaluate(&s, x);
    // the negative prompt is evaluated in the same two areas as well
    spot_of(0, &p->entry[0], 0.5);
    only_area(spot_of(1, &p->entry[1], 0.75), 12, 10, 6, 4, true);
    only_area(spot_of(2, &p->entry[2], 1), 12, 6, 12, 14, true);
    spot_of(3, &n->entry[0], 1);
    only_area(spot_of(4, &n->entry[0], 0.75), 12, 10, 6, 4, true);
    only_area(spot_of(5, &n->entry[0], 1), 12, 6, 12, 14, true);
    oracle(&spots[0], 3, x, 2, s.sigma, pos);
    oracle(&spots[3], 3, x, 2, s.sigma, neg);
    apply_cfg(4, 2 * C * CELLS);
    compare(pos, 2 * C * CELLS, 3e-5);
    // three sizes, each with both sides in one forward
    CHECK(net.n == 3);
    int64_t cells = 0;
    for (int i = 0; i < 3; i++) {
        CHECK(net.call[i].x.dim[0] == 4);
        cells += net.call[i].x.dim[1] * net.call[i].x.dim[2];
    }
    CHECK(cells == CELLS + 12 * 10 + 12 * 6);

    // nothing but an area: what it does not reach is 0
    nino_cond *one = nino_cond_create(1);
    CHECK(one);
    nino_cond_set_array(&one->entry[0].context, p->entry[1].context);
    one->entry[0].area_kind = NINO_AREA_CELLS;
    one->entry[0].area_h = one->entry[0].area_w = 8;
    setup b = setup_of(one, NULL, 1);
    evaluate(&b, x);
    only_area(spot_of(0, one->entry, 1), 8, 8, 0, 0, true);
    oracle(spots, 1, x, 1, b.sigma, pos);
    compare(pos, C * CELLS, 3e-5);
    CHECK(last.x0[CELLS - 1] == 0 && last.x0[0] != 0);
    end_setup(&b, one, NULL);
    end_setup(&s, p, n);
}

// The smallest entry around an area speaks for the other side.
static void test_smallest(void)
{
    nino_cond *p = cond_of(1, 4, 1), *n = cond_of(4, 4, -1);
    p->entry[0].area_kind = NINO_AREA_CELLS;
    p->entry[0].area_h = p->entry[0].area_w = 8;
    p->entry[0].area_y = p->entry[0].area_x = 4;
    for (int i = 1; i < 4; i++) { // around it: 18 and 16 cells; 14 is not
        n->entry[i].area_kind = NINO_AREA_CELLS;
        n->entry[i].area_h = n->entry[i].area_w = 20 - 2 * i;
        n->entry[i].area_x = i == 3 ? 5 : 0;
    }
    setup s = setup_of(p, n, 2);
    evaluate(&s, x);
    // nothing is around the negative's areas, so the positive side gets no more of them
    only_area(spot_of(0, &p->entry[0], 1), 8, 8, 4, 4, true);
    oracle(&spots[0], 1, x, 1, s.sigma, pos);
    spot_of(1, &n->entry[0], 1);
    only_area(spot_of(2, &n->entry[1], 1), 18, 18, 0, 0, true);
    only_area(spot_of(3, &n->entry[2], 1), 16, 16, 0, 0, true);
    only_area(spot_of(4, &n->entry[3], 1), 14, 14, 0, 5, true);
    only_area(spot_of(5, &n->entry[2], 1), 8, 8, 4, 4, true);
    oracle(&spots[1], 5, x, 1, s.sigma, neg);
    apply_cfg(2, C * CELLS);
    compare(pos, C * CELLS, 3e-5);
    end_setup(&s, p, n);
}

static double mask_value(int i) { return i / W < 8 ? 0.25 : i % W < 5 ? 1 : 0; }

static void test_masks(void)
{
    nino_cond *p = cond_of(2, 4, 1);
    nino_array *m = nino_array_create(NINO_F32, NINO_SHAPE(1, H, W));
    CHECK(m);
    for (int i = 0; i < CELLS; i++)
        nino_array_f32(m)[i] = (float) mask_value(i);
    nino_cond_set_array(&p->entry[1].mask, m);
    p->entry[1].mask_strength = 0.8;
    p->entry[1].strength = 0.5;
    setup s = setup_of(p, NULL, 1);
    s.batch = 2;
    evaluate(&s, x);
    spot_of(0, &p->entry[0], 1);
    spot *k = spot_of(1, &p->entry[1], 0.4);
    for (int b = 0; b < 2; b++)
        for (int i = 0; i < CELLS; i++)
            k->weight[b][i] *= mask_value(i);
    oracle(spots, 2, x, 2, s.sigma, pos);
    compare(pos, 2 * C * CELLS, 3e-5);
    CHECK(net.n == 1 && net.call[0].x.dim[0] == 4);

    // the same mask, larger: half its size is the mean of four
    nino_array *big = nino_array_create(NINO_F32, NINO_SHAPE(1, 2 * H, 2 * W));
    CHECK(big);
    for (int i = 0; i < 4 * CELLS; i++)
        nino_array_f32(big)[i] = (float) mask_value(i / (2 * W) / 2 * W + i % (2 * W) / 2);
    nino_cond_set_array(&p->entry[1].mask, big);
    evaluate(&s, x);
    compare(pos, 2 * C * CELLS, 3e-5);

    // one mask a picture, and only the mask's box is computed
    nino_array *two = nino_array_create(NINO_F32, NINO_SHAPE(2, H, W));
    CHECK(two);
    for (int i = 10; i < 20; i++)
        for (int j = 3; j < 12; j++)
            nino_array_f32(two)[(i & 1) * CELLS + i * W + j] = 1;
    nino_cond_set_array(&p->entry[1].mask, two);
    p->entry[1].mask_bounds = true;
    p->entry[1].mask_strength = p->entry[1].strength = 1;
    evaluate(&s, x);
    CHECK(net.n == 2);
    CHECK(net.call[0].x.dim[1] * net.call[1].x.dim[1] == H * 10);
    CHECK(net.call[0].x.dim[2] * net.call[1].x.dim[2] == W * 9);
    k = spot_of(1, &p->entry[1], 0);
    for (int i = 10; i < 20; i++)
        for (int j = 3; j < 12; j++)
            k->weight[i & 1][i * W + j] = 1;
    oracle(spots, 2, x, 2, s.sigma, pos);
    compare(pos, 2 * C * CELLS, 3e-5);
    nino_array_unref(&m);
    nino_array_unref(&big);
    nino_array_unref(&two);
    end_setup(&s, p, NULL);
}

static void test_ranges(void)
{
    nino_cond *p = cond_of(2, 4, 1);
    p->entry[0].end = 0.4;
    p->entry[1].start = 0.4;
    setup s = setup_of(p, NULL, 1);
    const double border = nino_sampling_percent_to_sigma(net.d.sampling, 0.4);
    for (int i = 0; i < 2; i++) {
        s.sigma = i ? border * 0.99 : border * 1.01;
        evaluate(&s, x);
        CHECK(net.n == 1 && net.call[0].x.dim[0] == 1);
        spot_of(0, &p->entry[i], 1);
        oracle(spots, 1, x, 1, (double) (float) s.sigma, pos);
        compare(pos, C * CELLS, 3e-5);
    }
    // nobody applies: the network is not asked, x0 is 0
    p->entry[1].start = 0.6;
    s.sigma = border * 0.99;
    evaluate(&s, x);
    CHECK(net.n == 0 && last.x0[0] == 0 && last.x0[C * CELLS - 1] == 0);
    end_setup(&s, p, NULL);
}

// Texts of other lengths: cross-attention does not mind repetition, a joint one would.
static void test_tokens(void)
{
    nino_cond *p = cond_of(1, 6, 1), *n = cond_of(1, 4, -1), *far = cond_of(1, 7, -1);
    setup s = setup_of(p, n, 3);
    evaluate(&s, x);
    CHECK(net.n == 1 && net.call[0].context.dim[1] == 12);
    spot_of(0, p->entry, 1);
    spot_of(1, n->entry, 1);
    oracle(&spots[0], 1, x, 1, s.sigma, pos);
    oracle(&spots[1], 1, x, 1, s.sigma, neg);
    apply_cfg(3, C * CELLS);
    compare(pos, C * CELLS, 3e-5);
    s.g.negative = far; // 42 tokens would be too many
    evaluate(&s, x);
    CHECK(net.n == 2);
    s.g.negative = n;
    net.d.kind = NINO_DIFFUSION_FLUX;
    evaluate(&s, x);
    CHECK(net.n == 2 && net.call[0].context.dim[1] == 6 && net.call[1].context.dim[1] == 4);
    compare(pos, C * CELLS, 3e-5);
    net.d.kind = NINO_DIFFUSION_UNET;
    nino_cond_unref(&far);
    end_setup(&s, p, n);
}

// ---- latents ---------------------------------------------------------------------------------

static void test_latent(void)
{
    nino_cond *p = cond_of(1, 4, 1);
    setup s = setup_of(p, NULL, 1);
    s.batch = 2;
    s.samples = array_of(NINO_SHAPE(2, H, W, C), -1.5, 0.31);
    evaluate(&s, x); // the latent is scaled on its way in
    spot_of(0, p->entry, 1);
    oracle(spots, 1, x, 2, s.sigma, pos);
    compare(pos, 2 * C * CELLS, 3e-5);

    // and on its way out: euler's last step lands on x0
    const float sigmas[2] = { 3.5f, 0 };
    nino_error err = { 0 };
    nino_array *out = NULL;
    CHECK_OK(run(&s, sigmas, 2, &out, &err), err);
    CHECK(out->shape.rank == 4 && out->shape.dim[3] == C);
    for (int i = 0; i < 2 * C * CELLS; i++) {
        const int b = i / (C * CELLS), c = i / CELLS % C, cell = i % CELLS;
        const double v = (double) nino_array_f32(out)[(b * CELLS + cell) * C + c];
        CHECK(fabs(v - pos[i] / 0.18215) < 1e-3);
    }
    nino_array_unref(&out);

    // noise of chosen pictures of a batch
    int64_t index[2] = { 2, 0 };
    s.batch_index = index;
    evaluate(&s, x);
    oracle(spots, 1, x, 2, s.sigma, pos);
    compare(pos, 2 * C * CELLS, 3e-5);
    s.batch_index = NULL;

    // no noise: the latent is what is sampled
    s.is_disabled = true;
    evaluate(&s, x);
    for (int i = 0; i < 2 * C * CELLS; i++) {
        const int b = i / (C * CELLS), c = i / CELLS % C, cell = i % CELLS;
        x[i] = nino_array_f32(s.samples)[(b * CELLS + cell) * C + c] * 0.18215f;
    }
    oracle(spots, 1, x, 2, s.sigma, pos);
    compare(pos, 2 * C * CELLS, 3e-5);
    s.is_disabled = false;

    // no sigmas: as it was
    CHECK_OK(run(&s, sigmas, 0, &out, &err), err);
    CHECK(net.n == 0 && out == s.samples);
    nino_array_unref(&out);

    // an empty latent takes the channels it needs; one with content does not
    nino_array_unref(&s.samples);
    s.samples = nino_array_create(NINO_F32, NINO_SHAPE(1, H, W, 16));
    s.batch = 1;
    CHECK_OK(run(&s, sigmas, 2, &out, &err), err);
    CHECK(out->shape.dim[3] == C);
    nino_array_unref(&out);
    nino_array_f32(s.samples)[7] = 1;
    CHECK(run(&s, sigmas, 2, &out, &err) == NINO_ERR_ARG);
    CHECK(strstr(err.msg, "16 channels") && strstr(err.where, "fake.safetensors"));
    end_setup(&s, p, NULL);
}

static void test_noise_mask(void)
{
    static float fresh[2 * C * CELLS];
    nino_cond *p = cond_of(1, 4, 1);
    setup s = setup_of(p, NULL, 1);
    s.batch = 2;
    s.samples = array_of(NINO_SHAPE(2, H, W, C), -1.5, 0.31);
    for (int pass = 0; pass < 3; pass++) {
        const bool own = pass == 1;          // ddim noises the rest with the noise of seed + 1
        const int masks = pass == 2 ? 2 : 1; // one for both pictures, or each its own
        nino_array_unref(&s.mask);
        s.mask = nino_array_create(NINO_F32, NINO_SHAPE(masks, H, W));
        CHECK(s.mask);
        for (int i = 0; i < masks * CELLS; i++)
            nino_array_f32(s.mask)[i] = (float) (i % (5 + i / CELLS)) / 5; // soft
        s.sampler = nino_sampler_default(own ? NINO_SAMPLER_DDIM : NINO_SAMPLER_EULER);
        evaluate(&s, x);
        nino_noise_fill(s.seed + (uint64_t) own, fresh, 2, C * CELLS, NULL);
        static float latent[2 * C * CELLS];
        for (int i = 0; i < 2 * C * CELLS; i++) {
            const int b = i / (C * CELLS), c = i / CELLS % C, cell = i % CELLS;
            const double m = (double) nino_array_f32(s.mask)[b % masks * CELLS + cell];
            latent[i] = nino_array_f32(s.samples)[(b * CELLS + cell) * C + c] * 0.18215f;
            const double kept = (double) fresh[i] * s.sigma + (double) latent[i];
            x[i] = (float) ((double) x[i] * m + kept * (1 - m));
        }
        spot_of(0, p->entry, 1);
        oracle(spots, 1, x, 2, s.sigma, pos);
        for (int i = 0; i < 2 * C * CELLS; i++) {
            const int row = i / (C * CELLS) % masks;
            const double m = (double) nino_array_f32(s.mask)[row * CELLS + i % CELLS];
            pos[i] = pos[i] * m + (double) latent[i] * (1 - m);
        }
        compare(pos, 2 * C * CELLS, 3e-5);
    }
    end_setup(&s, p, NULL);
}

// ---- what networks are told ------------------------------------------------------------------

static void other_net(nino_diffusion_kind kind, const char *format, int extra, nino_sampling *ms)
{
    fake_release(&net);
    fake_init(&net, kind, format, extra, ms);
}

// cos and sin of v at 128 frequencies
static double sum_of_size(double v)
{
    double sum = 0;
    for (int k = 0; k < 128; k++) {
        const double f = pow(10000, -k / 128.0);
        sum += cos(v * f) + sin(v * f);
    }
    return sum;
}

static double sum_of(const nino_array *a)
{
    return fake_mean(a, 0) * (double) nino_shape_count(&a->shape);
}

static void test_y(void)
{
    nino_cond *p = cond_of(1, 4, 1), *n = cond_of(1, 4, -1);
    give(&p->entry->pooled, array_of(NINO_SHAPE(1, 32), 0.5, 0.01));
    give(&n->entry->pooled, array_of(NINO_SHAPE(1, 32), -0.5, 0.01));
    setup s = setup_of(p, n, 2);
    const double own[2] = { sum_of(p->entry->pooled), sum_of(n->entry->pooled) };

    // SDXL: sizes of the latent unless an entry has its own
    net.d.y_dim = 32 + 6 * 256;
    n->entry->has_size = true;
    n->entry->width = 1024;
    n->entry->height = 768;
    n->entry->crop_w = 16;
    n->entry->crop_h = 8;
    n->entry->target_w = 900;
    n->entry->target_h = 700;
    evaluate(&s, x);
    spot_of(0, p->entry, 1)->y =
        (own[0] + 2 * sum_of_size(8 * H) + 2 * sum_of_size(8 * W) + 2 * sum_of_size(0)) /
        net.d.y_dim;
    spot_of(1, n->entry, 1)->y = (own[1] + sum_of_size(768) + sum_of_size(1024) + sum_of_size(8) +
                                  sum_of_size(16) + sum_of_size(700) + sum_of_size(900)) /
                                 net.d.y_dim;
    oracle(&spots[0], 1, x, 1, s.sigma, pos);
    oracle(&spots[1], 1, x, 1, s.sigma, neg);
    apply_cfg(2, C * CELLS);
    compare(pos, C * CELLS, 5e-5);

    // its refiner: a score, which is lower for the negative side
    net.d.y_dim = 32 + 5 * 256;
    n->entry->has_size = false;
    evaluate(&s, x);
    const double sizes = sum_of_size(8 * H) + sum_of_size(8 * W) + 2 * sum_of_size(0);
    spots[0].y = (own[0] + sizes + sum_of_size(6)) / net.d.y_dim;
    spots[1].y = (own[1] + sizes + sum_of_size(2.5)) / net.d.y_dim;
    oracle(&spots[0], 1, x, 1, s.sigma, pos);
    oracle(&spots[1], 1, x, 1, s.sigma, neg);
    apply_cfg(2, C * CELLS);
    compare(pos, C * CELLS, 5e-5);

    // the pooled text alone, and guidance
    net.d.y_dim = 32;
    net.d.has_guidance = true;
    p->entry->has_guidance = true;
    p->entry->guidance = 7;
    evaluate(&s, x);
    CHECK(net.n == 2); // 7 and the usual 3.5 do not share a forward
    spots[0].y = own[0] / 32;
    spots[1].y = own[1] / 32;
    spots[0].guidance = 7;
    spots[1].guidance = 3.5;
    oracle(&spots[0], 1, x, 1, s.sigma, pos);
    oracle(&spots[1], 1, x, 1, s.sigma, neg);
    apply_cfg(2, C * CELLS);
    compare(pos, C * CELLS, 5e-5);
    p->entry->no_guidance = n->entry->no_guidance = true;
    evaluate(&s, x);
    CHECK(net.n == 1 && isnan(net.call[0].guidance));

    // a text encoder of another model
    float sigmas[2] = { 3.5f, 0 };
    nino_array *out = NULL;
    nino_error err = { 0 };
    net.d.y_dim = 100;
    CHECK(run(&s, sigmas, 2, &out, &err) == NINO_ERR_ARG && strstr(err.msg, "32 numbers"));
    give(&p->entry->pooled, NULL);
    CHECK(run(&s, sigmas, 2, &out, &err) == NINO_ERR_ARG && strstr(err.msg, "pooled"));
    net.d.y_dim = 0;
    give(&p->entry->context, array_of(NINO_SHAPE(1, 4, 5), 0, 0));
    CHECK(run(&s, sigmas, 2, &out, &err) == NINO_ERR_ARG && strstr(err.msg, "width 3"));
    net.d.has_guidance = false;
    end_setup(&s, p, n);
}

static void test_inpaint_model(void)
{
    static const double blank[4] = { 0.8223, -0.6876, 0.6364, 0.1380 };
    other_net(NINO_DIFFUSION_UNET, "sd15", 1 + C, nino_sampling_discrete(NINO_PRED_EPS, false));
    nino_cond *p = cond_of(1, 4, 1);
    setup s = setup_of(p, NULL, 1);
    spot *k = spot_of(0, p->entry, 1);

    // neither mask nor picture: everything may change, of a grey picture
    evaluate(&s, x);
    for (int i = 0; i < CELLS; i++) {
        k->concat[i] = 1;
        for (int c = 0; c < C; c++)
            k->concat[i] += (c + 2) * blank[c];
    }
    oracle(spots, 1, x, 1, s.sigma, pos);
    compare(pos, C * CELLS, 3e-5);

    // what InpaintModelConditioning gives: a latent, and a mask in pixels, which becomes 0 or 1
    give(&p->entry->concat_latent, array_of(NINO_SHAPE(1, H, W, C), 0.4, 0.05));
    nino_array *m = nino_array_create(NINO_F32, NINO_SHAPE(1, 8 * H, 8 * W));
    CHECK(m);
    for (int i = 0; i < 64 * CELLS; i++)
        nino_array_f32(m)[i] = i % (8 * W) < 44 ? 1 : 0;
    give(&p->entry->concat_mask, m);
    evaluate(&s, x);
    for (int i = 0; i < CELLS; i++) {
        k->concat[i] = i % W < 5; // column 5 is 0.5 before it is rounded to even
        for (int c = 0; c < C; c++)
            k->concat[i] +=
                (c + 2) * 0.18215 * (double) nino_array_f32(p->entry->concat_latent)[i * C + c];
    }
    oracle(spots, 1, x, 1, s.sigma, pos);
    compare(pos, C * CELLS, 3e-5);

    // and in an area it sees its part
    p->entry->area_kind = NINO_AREA_CELLS;
    p->entry->area_h = 8;
    p->entry->area_w = 12;
    p->entry->area_y = 3;
    p->entry->area_x = 2;
    evaluate(&s, x);
    only_area(k, 8, 12, 3, 2, true);
    oracle(spots, 1, x, 1, s.sigma, pos);
    compare(pos, C * CELLS, 3e-5);
    p->entry->area_kind = NINO_AREA_NONE;

    // nothing but a noise mask: the latent itself is the picture
    give(&p->entry->concat_latent, NULL);
    give(&p->entry->concat_mask, NULL);
    s.samples = array_of(NINO_SHAPE(1, H, W, C), -1.5, 0.31);
    s.mask = nino_array_create(NINO_F32, NINO_SHAPE(1, H, W));
    CHECK(s.mask);
    for (int i = 0; i < CELLS; i++)
        nino_array_f32(s.mask)[i] = 1;
    evaluate(&s, x);
    k = spot_of(0, p->entry, 1);
    for (int i = 0; i < CELLS; i++) {
        k->concat[i] = 1;
        for (int c = 0; c < C; c++)
            k->concat[i] += (c + 2) * 0.18215 * (double) nino_array_f32(s.samples)[i * C + c];
    }
    oracle(spots, 1, x, 1, s.sigma, pos);
    compare(pos, C * CELLS, 3e-5);
    end_setup(&s, p, NULL);

    // instructions: the picture as it is, at another size too
    other_net(NINO_DIFFUSION_UNET, "sd15", C, nino_sampling_discrete(NINO_PRED_EPS, false));
    p = cond_of(1, 4, 1);
    s = setup_of(p, NULL, 1);
    nino_array *flat = nino_array_create(NINO_F32, NINO_SHAPE(1, 2 * H, 4 * W, C));
    CHECK(flat); // twice as wide: the middle half is taken
    for (int i = 0; i < 8 * CELLS * C; i++)
        nino_array_f32(flat)[i] = abs(i / C % (4 * W) * 2 + 1 - 4 * W) < 2 * W ? 0.3f : 9.0f;
    give(&p->entry->concat_latent, flat);
    evaluate(&s, x);
    k = spot_of(0, p->entry, 1);
    for (int i = 0; i < CELLS; i++)
        k->concat[i] = 0.3 * (1 + 2 + 3 + 4);
    oracle(spots, 1, x, 1, s.sigma, pos);
    compare(pos, C * CELLS, 3e-5);

    // channels that nobody knows
    net.d.in_channels = C + 3;
    float sigmas[2] = { 3.5f, 0 };
    nino_array *out = NULL;
    nino_error err = { 0 };
    CHECK(run(&s, sigmas, 2, &out, &err) == NINO_ERR_UNSUPPORTED && strstr(err.msg, "3 channels"));
    end_setup(&s, p, NULL);
}

// Flow, and a Flux-like network: reference latents, and a picture beside the latent.
static void test_flow(void)
{
    other_net(NINO_DIFFUSION_FLUX, "sd15", C, nino_sampling_flow(3, 1000));
    nino_cond *p = cond_of(1, 4, 1);
    setup s = setup_of(p, NULL, 1);
    s.sigma = 0.7;
    s.samples = array_of(NINO_SHAPE(1, H, W, C), -1.5, 0.31);
    p->entry->refs = calloc(2, sizeof(*p->entry->refs));
    CHECK(p->entry->refs);
    p->entry->n_refs = 2;
    give(&p->entry->refs[0], array_of(NINO_SHAPE(1, 5, 6, C), 0.2, 0.01));
    give(&p->entry->refs[1], array_of(NINO_SHAPE(1, 7, 4, C), 0.6, 0.01));
    give(&p->entry->concat_latent, array_of(NINO_SHAPE(1, H, W, C), 0.4, 0.05));
    evaluate(&s, x);
    CHECK(net.call[0].n_refs == 2);
    spot *k = spot_of(0, p->entry, 1);
    k->refs = 0.18215 * (fake_mean(p->entry->refs[0], 0) + 2 * fake_mean(p->entry->refs[1], 0));
    for (int i = 0; i < CELLS; i++)
        for (int c = 0; c < C; c++)
            k->concat[i] +=
                (c + 1) * 0.18215 * (double) nino_array_f32(p->entry->concat_latent)[i * C + c];
    oracle(spots, 1, x, 1, (double) (float) s.sigma, pos);
    compare(pos, C * CELLS, 3e-5);

    // stopped early, the result is divided by what is left of the noise
    const float sigmas[2] = { 0.7f, 0.25f };
    nino_array *out = NULL;
    nino_error err = { 0 };
    CHECK_OK(run(&s, sigmas, 2, &out, &err), err);
    for (int i = 0; i < C * CELLS; i++) {
        const double d = ((double) x[i] - pos[i]) / 0.7;
        const double end = ((double) x[i] + d * (0.25 - 0.7)) / 0.75 / 0.18215;
        CHECK(fabs((double) nino_array_f32(out)[i % CELLS * C + i / CELLS] - end) < 1e-3);
    }
    nino_array_unref(&out);
    end_setup(&s, p, NULL);

    // Fill: a mask of every pixel of a cell
    other_net(NINO_DIFFUSION_FLUX, "sd15", C + 64, nino_sampling_flow(3, 1000));
    p = cond_of(1, 4, 1);
    s = setup_of(p, NULL, 1);
    s.sigma = 0.7;
    nino_array *m = nino_array_create(NINO_F32, NINO_SHAPE(1, 8 * H, 8 * W));
    CHECK(m);
    for (int i = 0; i < 64 * CELLS; i++)
        nino_array_f32(m)[i] = (float) (i % 7) / 7;
    give(&p->entry->concat_mask, m);
    evaluate(&s, x);
    k = spot_of(0, p->entry, 1);
    for (int i = 0; i < CELLS; i++)
        for (int q = 0; q < 64; q++)
            k->concat[i] +=
                (C + q + 1) *
                (double) nino_array_f32(
                    p->entry->concat_mask)[(i / W * 8 + q / 8) * 8 * W + i % W * 8 + q % 8];
    oracle(spots, 1, x, 1, (double) (float) s.sigma, pos);
    compare(pos, C * CELLS, 2e-4);
    end_setup(&s, p, NULL);
}

// ---- plan, cancel, bad input -----------------------------------------------------------------

// Every sampler: the plan counts the evaluations that the run makes.
static void test_plan(void)
{
    other_net(NINO_DIFFUSION_UNET, "sd15", 0, nino_sampling_discrete(NINO_PRED_EPS, false));
    nino_stream *real = stream;
    nino_backend *plan = nino_plan_open(&be->profile, 0, NULL, NULL);
    CHECK(plan);
    nino_cond *p = cond_of(1, 4, 1), *n = cond_of(1, 4, -1);
    setup s = setup_of(p, n, 3);
    nino_error err = { 0 };
    for (int id = 0; id <= NINO_SAMPLER_EULER_PP; id++) {
        nino_sigmas sig = { 0 };
        nino_array *out = NULL;
        CHECK_OK(nino_schedule_make(net.d.sampling, NINO_SCHEDULER_KARRAS, 7, &sig, &err), err);
        s.sampler = nino_sampler_default((nino_sampler_id) id);
        double before = be->flops;
        CHECK_OK(run(&s, sig.v, sig.n, &out, &err), err);
        nino_array_unref(&out);
        const double made = be->flops - before;
        const int calls = net.n;
        stream = nino_stream_create(&(nino_stream_params){ .backend = plan }, &err);
        CHECK(stream);
        before = plan->flops;
        CHECK_OK(run(&s, sig.v, sig.n, &out, &err), err);
        CHECK(out->shape.dim[3] == C && net.n <= 2); // walked twice, then counted
        nino_array_unref(&out);
        if (id == NINO_SAMPLER_DPM_ADAPTIVE)
            CHECK(plan->flops > before); // how many there are depends on the picture
        else if (plan->flops - before != made) {
            fprintf(stderr, "%s: plan %g, run %g (%d calls)\n",
                    id < NINO_SAMPLER_COUNT ? nino_sampler_names[id] : "euler_pp",
                    plan->flops - before, made, calls);
            CHECK(!"plan");
        }
        nino_stream_destroy(&stream);
        stream = real;
        nino_sigmas_release(&sig);
    }
    // as many steps as a node allows
    nino_sigmas many = { 0 };
    nino_array *out = NULL;
    CHECK_OK(nino_schedule_make(net.d.sampling, NINO_SCHEDULER_KARRAS, 10000, &many, &err), err);
    s.sampler = nino_sampler_default(NINO_SAMPLER_EULER);
    stream = nino_stream_create(&(nino_stream_params){ .backend = plan }, &err);
    CHECK(stream);
    // (a callback for every step would fill the test's list)
    const nino_sample_params q = { .guider = &s.g,
                                   .sampler = &s.sampler,
                                   .sigmas = many.v,
                                   .n_sigmas = many.n,
                                   .samples =
                                       (s.samples = array_of(NINO_SHAPE(1, H, W, C), 0, 0)) };
    net.n = 0;
    CHECK_OK(nino_sample_latent(stream, &q, &out, NULL, &err), err);
    CHECK(net.n == 2);
    nino_array_unref(&out);
    nino_sigmas_release(&many);
    nino_stream_destroy(&stream);
    stream = real;
    nino_backend_close(&plan);
    end_setup(&s, p, n);
}

// Cancelled while evaluation k runs: an error, and nothing stays in the pool.
static void test_cancel(void)
{
    volatile int flag = 0;
    nino_stream *real = stream;
    nino_cond *p = cond_of(1, 4, 1), *n = cond_of(1, 4, -1);
    setup s = setup_of(p, n, 3);
    s.one_by_one = true;
    nino_error err = { 0 };
    nino_mem_stat before, after;
    nino_sigmas sig = { 0 };
    CHECK_OK(nino_schedule_make(net.d.sampling, NINO_SCHEDULER_NORMAL, 5, &sig, &err), err);
    s.sampler = nino_sampler_default(NINO_SAMPLER_HEUN);
    stream = nino_stream_create(
        &(nino_stream_params){ .backend = be, .cancel = &flag, .precision = NINO_PREC_F32 }, &err);
    CHECK(stream);
    nino_pool_stat(be->pool, &before);
    for (int k = 0; k < 12; k++) {
        nino_array *out = NULL;
        nino_stream_clear_error(stream);
        flag = 0;
        net.cancel = &flag;
        net.cancel_at = k;
        CHECK(run(&s, sig.v, sig.n, &out, &err) == NINO_ERR_CANCELLED);
        CHECK(!out && net.n == k + 1);
        nino_pool_stat(be->pool, &after);
        CHECK(after.in_use == before.in_use);
    }
    net.cancel = NULL;
    nino_stream_destroy(&stream);
    stream = real;
    nino_sigmas_release(&sig);
    end_setup(&s, p, n);
}

static void test_bad(void)
{
    nino_cond *p = cond_of(1, 4, 1);
    setup s = setup_of(p, NULL, 1);
    const float sigmas[2] = { 3.5f, 0 };
    nino_array *out = NULL;
    nino_error err = { 0 };
    net.gives_nan = true;
    CHECK(run(&s, sigmas, 2, &out, &err) == NINO_ERR_RANGE);
    CHECK_STR(err.kind, "nan");
    CHECK_STR(err.where, "fake.safetensors");
    net.gives_nan = false;

    p->entry->area_kind = NINO_AREA_CELLS;
    p->entry->area_h = p->entry->area_w = 8;
    p->entry->area_y = H + 3;
    CHECK(run(&s, sigmas, 2, &out, &err) == NINO_ERR_RANGE && strstr(err.msg, "outside"));
    p->entry->area_kind = NINO_AREA_NONE;
    s.samples = nino_array_create(NINO_F32, NINO_SHAPE(1, 2, H, W, C)); // a video
    CHECK(run(&s, sigmas, 2, &out, &err) == NINO_ERR_ARG && strstr(err.msg, "pictures"));
    CHECK(!out);
    end_setup(&s, p, NULL);
}

int main(void)
{
    nino_error err = { 0 };
    be = nino_ref_open(0, NULL, &err);
    CHECK(be);
    stream = nino_stream_create(&(nino_stream_params){ .backend = be, .precision = NINO_PREC_F32 },
                                &err);
    CHECK(stream);
    fake_init(&net, NINO_DIFFUSION_UNET, "sd15", 0, nino_sampling_discrete(NINO_PRED_EPS, false));
    test_cfg();
    test_dual();
    test_rescale();
    test_areas();
    test_smallest();
    test_masks();
    test_ranges();
    test_tokens();
    test_latent();
    test_noise_mask();
    test_y();
    test_inpaint_model();
    test_flow();
    test_plan();
    test_cancel();
    test_bad();
    fake_release(&net);
    nino_mem_stat m;
    nino_stream_destroy(&stream);
    nino_backend_drop_weights(be);
    nino_pool_stat(be->pool, &m);
    CHECK(m.in_use == 0);
    nino_backend_close(&be);
    return 0;
}
