// Sampling with a network that is computed by hand: guidance, where and when conditioning applies,
// the latent and its mask.
#include "tests/guided.h"

static float x[MAX_BATCH * C * CELLS];
static double mid[MAX_BATCH * C * CELLS];

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
    patch(&s, (nino_patch){ .kind = NINO_PATCH_RESCALE, .v = { 0.7 } });
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

// What guidance gives before anything is done to it: both sides, and the mixture.
static void guided(setup *s, const nino_cond *p, const nino_cond *n, double cfg, double *out)
{
    spot_of(0, p->entry, 1);
    spot_of(1, n->entry, 1);
    oracle(&spots[0], 1, x, 1, s->sigma, pos);
    oracle(&spots[1], 1, x, 1, s->sigma, neg);
    for (int i = 0; i < C * CELLS; i++)
        out[i] = neg[i] + cfg * (pos[i] - neg[i]);
}

// Over the channels of cell i, less what `from` has there.
static double cell_norm(const double *v, bool is_noise, int i)
{
    double sum = 0;
    for (int c = 0; c < C; c++) {
        const double d = v[c * CELLS + i] - (is_noise ? (double) x[c * CELLS + i] : 0);
        sum += d * d;
    }
    return sqrt(sum);
}

static void test_norm(bool is_before)
{
    nino_cond *p = cond_of(1, 4, 1), *n = cond_of(1, 4, -1);
    setup s = setup_of(p, n, 4);
    static double want[C * CELLS];
    if (is_before)
        patch(&s, (nino_patch){ .kind = NINO_PATCH_NORM, .v = { 0.8 } });
    else
        patch(&s, (nino_patch){ .kind = NINO_PATCH_POST_NORM, .v = { 0.9 } });
    evaluate(&s, x);
    guided(&s, p, n, 4, want);
    int shorter = 0;
    for (int i = 0; i < CELLS; i++) {
        const double by = cell_norm(pos, is_before, i) / cell_norm(want, is_before, i);
        shorter += by < 1;
        for (int c = 0; c < C; c++) {
            double *v = &want[c * CELLS + i], at = (double) x[c * CELLS + i];
            *v = is_before ? at - (0.8 * by + 0.2) * (at - *v) : *v * fmin(by, 1) * 0.9;
        }
    }
    CHECK(shorter > 0 && shorter < CELLS); // both kinds of cells are there
    compare(want, C * CELLS, 1e-4);
    end_setup(&s, p, n);
}

// CFGZeroStar after CFGNorm, which comes first in what it works on.
static void test_zero_star(bool is_second)
{
    nino_cond *p = cond_of(1, 4, 1), *n = cond_of(1, 4, -1);
    setup s = setup_of(p, n, 5);
    static double want[C * CELLS];
    if (is_second)
        patch(&s, (nino_patch){ .kind = NINO_PATCH_POST_NORM, .v = { 0.5 } });
    patch(&s, (nino_patch){ .kind = NINO_PATCH_ZERO_STAR });
    evaluate(&s, x);
    guided(&s, p, n, 5, want);
    double dot = 0, square = 0;
    for (int i = 0; i < C * CELLS; i++) {
        const double e = (double) x[i] - neg[i];
        dot += ((double) x[i] - pos[i]) * e;
        square += e * e;
    }
    const double a = dot / (square + 1e-8);
    for (int i = 0; i < CELLS; i++) {
        const double by = fmin(cell_norm(pos, false, i) / cell_norm(want, false, i), 1) * 0.5;
        for (int k = i; k < C * CELLS; k += CELLS)
            want[k] = (is_second ? want[k] * by : want[k]) + neg[k] * (a - 1) * (1 - 5);
    }
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
    // but what a sampler adds is still the seed's
    static float other[2 * C * CELLS];
    const float way[4] = { 3.5f, 2, 1, 0 };
    nino_array *two[2] = { NULL };
    s.sampler = nino_sampler_default(NINO_SAMPLER_EULER_ANCESTRAL);
    for (int i = 0; i < 2; i++, s.seed++) {
        CHECK_OK(run(&s, way, 4, &two[i], &err), err);
        memcpy(other, nino_array_f32(two[i]), sizeof(other));
    }
    CHECK(memcmp(other, nino_array_f32(two[0]), sizeof(other)) != 0);
    nino_array_unref(&two[0]);
    nino_array_unref(&two[1]);
    s.sampler = nino_sampler_default(NINO_SAMPLER_EULER);
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

int main(void)
{
    open_all();
    test_cfg();
    test_dual();
    test_norm(false);
    test_norm(true);
    test_zero_star(false);
    test_zero_star(true);
    test_rescale();
    test_areas();
    test_smallest();
    test_masks();
    test_ranges();
    test_tokens();
    test_latent();
    test_noise_mask();
    close_all();
    return 0;
}
