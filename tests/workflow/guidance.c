// Patches that decide which evaluations are made: what each of them asks of the network, and what
// comes of the answers; guiders of two models and without what both prompts share.
#include "tests/guided.h"

enum { N = C * CELLS };
static float x[MAX_BATCH * N];
static double want[N], worse[N];

// The two sides of one evaluation, and the positive one as a worse network sees it.
static void sides(const setup *s, const nino_cond *p, const nino_cond *n, double by, nino_skip skip)
{
    spot_of(0, p->entry, 1);
    oracle(&spots[0], 1, x, 1, s->sigma, pos);
    spots[0].worse = by;
    spots[0].skip = skip;
    oracle(&spots[0], 1, x, 1, s->sigma, worse);
    if (!n)
        return;
    spot_of(1, n->entry, 1);
    oracle(&spots[1], 1, x, 1, s->sigma, neg);
    for (int i = 0; i < N; i++)
        want[i] = neg[i] + s->g.cfg * (pos[i] - neg[i]);
}

static double spread(const double *v)
{
    double mean = 0, sum = 0;
    for (int i = 0; i < N; i++)
        mean += v[i] / N;
    for (int i = 0; i < N; i++)
        sum += (v[i] - mean) * (v[i] - mean);
    return sqrt(sum / (N - 1));
}

// ---- one more evaluation ---------------------------------------------------------------------

static void test_perturbed(void)
{
    nino_cond *p = cond_of(1, 4, 1), *n = cond_of(1, 4, -1);
    setup s = setup_of(p, n, 4);
    patch(&s, (nino_patch){ .kind = NINO_PATCH_PERTURBED, .v = { 3 } });
    evaluate(&s, x);
    CHECK(net.n == 2 && !net.call[0].is_perturbed && net.call[1].is_perturbed);
    CHECK(net.call[0].x.dim[0] == 2 && net.call[1].x.dim[0] == 1);
    CHECK(net.call[0].n_negative == 1 && net.call[1].n_negative == 0);
    sides(&s, p, n, 0.11, (nino_skip){ 0 });
    for (int i = 0; i < N; i++)
        want[i] += 3 * (pos[i] - worse[i]);
    compare(want, N, 1e-4);
    end_setup(&s, p, n);
}

static void test_blocks(void)
{
    nino_cond *p = cond_of(1, 4, 1), *n = cond_of(1, 4, -1);
    setup s = setup_of(p, n, 4);
    nino_patch slg = { .kind = NINO_PATCH_SKIP,
                       .v = { 2.5, 0.6 },
                       .has_range = true,
                       .end = 0.9,
                       .doubles = 5,
                       .singles = 2 };
    patch(&s, slg);
    evaluate(&s, x);
    CHECK(net.n == 2 && net.call[1].skip.doubles == 5 && net.call[1].skip.singles == 2);
    CHECK(!net.call[0].skip.doubles && !net.call[0].is_perturbed && !net.call[1].is_perturbed);
    sides(&s, p, n, 0, (nino_skip){ 5, 2 });
    for (int i = 0; i < N; i++)
        want[i] += 2.5 * (pos[i] - worse[i]);
    const double by = 0.6 * spread(pos) / spread(want) + 0.4;
    for (int i = 0; i < N; i++)
        want[i] *= by;
    compare(want, N, 1e-4);

    // it ends before this noise level
    s.m->patch[0].end = 0.1;
    evaluate(&s, x);
    CHECK(net.n == 1);
    sides(&s, p, n, 0, (nino_skip){ 0 });
    compare(want, N, 1e-4);

    // the simple one: the negative side without blocks, and no third evaluation
    s.m->patch[0].end = 0.9;
    s.m->patch[0].kind = NINO_PATCH_SKIP_NEGATIVE;
    evaluate(&s, x);
    CHECK(net.n == 2 && net.call[1].n_negative == 1 && net.call[1].skip.doubles == 5);
    CHECK(net.call[0].n_negative == 0 && !net.call[0].skip.doubles);
    spot_of(1, n->entry, 1)->skip = (nino_skip){ 5, 2 };
    oracle(&spots[1], 1, x, 1, s.sigma, neg);
    for (int i = 0; i < N; i++)
        want[i] = neg[i] + 4 * (pos[i] - neg[i]);
    compare(want, N, 1e-4);
    end_setup(&s, p, n);
}

static int mirror(int i, int n) { return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i; }

// Blurred where the map is above 1, in two dimensions at once.
static double blurred(const double *v, int y, int c, double sigma)
{
    double sum = 0, weight = 0;
    for (int a = -4; a <= 4; a++)
        for (int b = -4; b <= 4; b++) {
            const double k = exp(-0.5 * (a * a + b * b) / (sigma * sigma));
            weight += k;
            sum += k * v[mirror(y + a, H) * W + mirror(c + b, W)];
        }
    return sum / weight;
}

static void test_self_attention(void)
{
    static double degraded[N];
    nino_cond *p = cond_of(1, 4, 1), *n = cond_of(1, 4, -1);
    setup s = setup_of(p, n, 1); // evaluates the negative side for its own sake
    net.look = 1.5f;
    patch(&s, (nino_patch){ .kind = NINO_PATCH_SELF_ATTENTION, .v = { 0.5, 2 } });
    evaluate(&s, x);
    CHECK(net.n == 2 && net.call[0].x.dim[0] == 2 && net.call[1].n_negative == 1);
    sides(&s, p, n, 0, (nino_skip){ 0 });
    for (int i = 0; i < N; i++) {
        const int cell = i % CELLS, y = cell / W, c = cell % W;
        const int at = y * 12 / H * 10 + c * 10 / W; // of the map's 12 rows and 10 columns
        degraded[i] = at % 3 ? neg[i] : blurred(neg + i - cell, y, c, 2);
    }
    static float noisy[N];
    for (int i = 0; i < N; i++)
        noisy[i] = (float) (degraded[i] + (double) x[i] - neg[i]);
    oracle(&spots[1], 1, noisy, 1, s.sigma, worse);
    for (int i = 0; i < N; i++)
        want[i] += 0.5 * (degraded[i] - worse[i]);
    compare(want, N, 2e-4);
    net.look = 0.9f; // nothing is looked at: nothing is blurred
    evaluate(&s, x);
    sides(&s, p, n, 0, (nino_skip){ 0 });
    for (int i = 0; i < N; i++)
        noisy[i] = x[i];
    oracle(&spots[1], 1, noisy, 1, s.sigma, worse);
    for (int i = 0; i < N; i++)
        want[i] += 0.5 * (neg[i] - worse[i]);
    compare(want, N, 2e-4);
    end_setup(&s, p, n);
}

// ---- which sides -----------------------------------------------------------------------------

static int64_t map_cells; // of a network whose map is not of half the latent's sides

static nino_tensor *forward_of_map(nino_stream *st, const nino_diffusion *d, nino_forward *f)
{
    nino_attention_map *m = f->pass ? f->pass->map : NULL;
    nino_tensor *out = fake_forward(st, d, f);
    if (!m)
        return out;
    m->n = map_cells;
    free(m->weight);
    m->weight = calloc((size_t) (m->rows * m->n), sizeof(*m->weight));
    CHECK(m->weight);
    for (int64_t i = 0; i < m->rows * m->n; i++)
        m->weight[i] = i % m->n % 3 ? 0.5f : 1.5f;
    return out;
}

// A map that only tells how many cells it has: its rows are the number near to what the latent's
// sides say that goes into it; one row where there is none near.
static void test_map_rows(void)
{
    static const int cases[][2] = { { 120, 12 }, { 30, 6 }, { 480, 24 }, { 113, 1 }, { 13, 1 },
                                    { 64, 8 },   { 16, 4 }, { 99, 11 },  { 1, 1 },   { 50, 10 },
                                    { 35, 7 },   { 95, 1 }, { 26, 1 } };
    static double degraded[N];
    static float noisy[N];
    nino_cond *p = cond_of(1, 4, 1), *n = cond_of(1, 4, -1);
    setup s = setup_of(p, n, 1);
    net.d.forward = forward_of_map;
    patch(&s, (nino_patch){ .kind = NINO_PATCH_SELF_ATTENTION, .v = { 0.5, 1.2 } });
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        const int rows = cases[k][1], columns = cases[k][0] / rows;
        map_cells = cases[k][0];
        evaluate(&s, x);
        sides(&s, p, n, 0, (nino_skip){ 0 });
        for (int i = 0; i < N; i++) {
            const int cell = i % CELLS, y = cell / W, c = cell % W;
            const int at = y * rows / H * columns + c * columns / W;
            degraded[i] = at % 3 ? neg[i] : blurred(neg + i - cell, y, c, 1.2);
            noisy[i] = (float) (degraded[i] + (double) x[i] - neg[i]);
        }
        oracle(&spots[1], 1, noisy, 1, s.sigma, worse);
        for (int i = 0; i < N; i++)
            want[i] += 0.5 * (degraded[i] - worse[i]);
        compare(want, N, 2e-4);
    }
    net.d.forward = fake_forward;
    end_setup(&s, p, n);
}

static void test_override(void)
{
    nino_cond *p = cond_of(1, 4, 1), *n = cond_of(1, 4, -1);
    setup s = setup_of(p, n, 6);
    patch(&s, (nino_patch){ .kind = NINO_PATCH_CFG, .v = { 1 }, .has_range = true, .end = 1 });
    evaluate(&s, x);
    CHECK(net.n == 1 && net.call[0].x.dim[0] == 1); // no need of the negative side
    sides(&s, p, n, 0, (nino_skip){ 0 });
    compare(pos, N, 1e-4);
    s.m->patch[0].start = 0.99; // not yet
    evaluate(&s, x);
    compare(want, N, 1e-4);
    end_setup(&s, p, n);
}

// The guider's way, and that of a model's patch.
static void test_perp_neg(bool is_patch)
{
    nino_cond *p = cond_of(1, 4, 1), *n = cond_of(1, 4, -1), *none = cond_of(1, 4, 0.2);
    setup s = setup_of(p, n, 5);
    static double empty[N];
    if (is_patch) {
        patch(&s, (nino_patch){ .kind = NINO_PATCH_RESCALE, .v = { 0.7 } }); // the last one counts
        patch(&s, (nino_patch){ .kind = NINO_PATCH_PERP_NEG, .v = { 1.3 }, .empty = none });
    } else {
        s.g.kind = NINO_GUIDE_PERP_NEG;
        s.g.middle = none;
        s.g.cfg2 = 1.3;
    }
    patch(&s, (nino_patch){ .kind = NINO_PATCH_EPSILON, .v = { 1.1 } });
    for (int one = 0; one <= is_patch; one++) { // with a guidance of 1 its negative side is 0
        const double cfg = one ? 1 : 5;
        s.g.cfg = cfg;
        evaluate(&s, x);
        CHECK(net.call[0].x.dim[0] == 3 - one);
        sides(&s, p, n, 0, (nino_skip){ 0 });
        for (int i = 0; i < N && one; i++)
            neg[i] = 0;
        spot_of(2, none->entry, 1);
        oracle(&spots[2], 1, x, 1, s.sigma, empty);
        double dot = 0, square = 0;
        for (int i = 0; i < N; i++) {
            dot += (neg[i] - empty[i]) * (pos[i] - empty[i]);
            square += (pos[i] - empty[i]) * (pos[i] - empty[i]);
        }
        for (int i = 0; i < N; i++) {
            const double a = pos[i] - empty[i], b = neg[i] - empty[i] - dot / square * a;
            const double out = empty[i] + cfg * (a - 1.3 * b);
            want[i] = (double) x[i] - ((double) x[i] - out) / 1.1;
        }
        compare(want, N, 1e-4);
    }
    end_setup(&s, p, n);
    nino_cond_unref(&none);
}

static void test_dual_model(void)
{
    fake_net second;
    nino_cond *p = cond_of(1, 4, 1), *n = cond_of(1, 4, -1);
    setup s = setup_of(p, n, 3);
    fake_init(&second, NINO_DIFFUSION_UNET, "sd15", 0,
              nino_sampling_discrete(NINO_PRED_EPS, false));
    nino_model *other = nino_model_create(&second.d);
    CHECK(other);
    s.g.kind = NINO_GUIDE_DUAL_MODEL;
    s.g.model2 = other;
    evaluate(&s, x);
    CHECK(net.n == 1 && second.n == 1);
    sides(&s, p, n, 0, (nino_skip){ 0 });
    compare(want, N, 1e-4);
    s.g.cfg = 1;
    second.n = 0;
    evaluate(&s, x);
    CHECK(net.n == 1 && second.n == 0);
    compare(pos, N, 1e-4);
    // another kind of latent
    fake_net odd;
    fake_init(&odd, NINO_DIFFUSION_FLUX, "flux", 0, nino_sampling_flow(1, 1));
    nino_model *third = nino_model_create(&odd.d);
    float sigmas[2] = { 3.5f, 0 };
    nino_array *out = NULL;
    nino_error err = { 0 };
    s.g.model2 = third;
    CHECK(run(&s, sigmas, 2, &out, &err) == NINO_ERR_ARG && strstr(err.where, "model_negative"));
    s.g.model2 = NULL;
    end_setup(&s, p, n);
    nino_model_unref(&other);
    nino_model_unref(&third);
    fake_release(&second);
    fake_release(&odd);
}

// ---- what the network is not asked -----------------------------------------------------------

static const float fine[9] = { 4, 3.9f, 3.8f, 3.7f, 3.6f, 3.5f, 3.4f, 3.3f, 0 };

static int asked(setup *s, nino_patch p)
{
    nino_array *out = NULL;
    nino_error err = { 0 };
    s->m->n_patches = 0;
    if (p.kind != NINO_PATCH_KINDS)
        patch(s, p);
    CHECK_OK(run(s, fine, 9, &out, &err), err);
    CHECK(last.steps == 8);
    nino_array_unref(&out);
    return net.n;
}

// The mean difference of the cells that are compared: every eighth row and column.
static double change(const double *a, const double *b)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < N; i++)
        if (i % CELLS / W % 8 == 0 && i % W % 8 == 0) {
            sum += fabs(a[i] - b[i]);
            n++;
        }
    return sum / n;
}

// Euler's steps with a cache in front of what `side` 0 and 1 say; returns how often they are asked.
// easy: of the network's answers to its input, by the first one; else of the guided answer.
static int by_the_rule(setup *s, const nino_cond *p, const nino_cond *n, bool easy, double most)
{
    static double at[N], in[N], out[2][N], diff[2][N], in0[N], out0[N];
    double norm = 0, rate = NAN, sum = 0;
    int asked_n = 0;
    nino_noise_fill(s->seed, x, 1, N, NULL);
    for (int i = 0; i < N; i++)
        at[i] = (double) x[i] * (double) fine[0];
    for (int k = 0; k < 8; k++) {
        const double sigma = (double) fine[k], scale = easy ? 1 / sqrt(sigma * sigma + 1) : 1;
        for (int i = 0; i < N; i++) {
            x[i] = (float) at[i];
            in[i] = at[i] * scale;
        }
        const double moved = k ? change(in, in0) : NAN;
        bool skips = false;
        if (k > 1 && !isnan(rate)) {
            sum += rate * moved / norm;
            skips = sum < most;
            sum = skips ? sum : 0;
        }
        s->sigma = sigma;
        sides(s, p, n, 0, (nino_skip){ 0 });
        for (int i = 0; i < N && !skips; i++) {
            out[0][i] = easy ? (at[i] - pos[i]) / sigma : want[i];
            out[1][i] = easy ? (at[i] - neg[i]) / sigma : want[i];
        }
        if (!skips) {
            asked_n++;
            rate = k ? change(out[0], out0) / moved : NAN;
            norm = 0;
            for (int i = 0; i < N; i++) {
                diff[0][i] = out[0][i] - in[i];
                diff[1][i] = out[1][i] - in[i];
                norm += (fabs(out[0][i]) + fabs(out[1][i])) / (2 * N);
                in0[i] = in[i];
                out0[i] = out[0][i];
            }
        }
        for (int i = 0; i < N; i++) {
            const double a = in[i] + diff[0][i], b = in[i] + diff[1][i];
            want[i] = easy ? at[i] - sigma * (b + s->g.cfg * (a - b)) : a;
            at[i] += (at[i] - want[i]) / sigma * ((double) fine[k + 1] - sigma);
        }
    }
    return asked_n;
}

static void test_caches(nino_patch_kind kind)
{
    nino_cond *p = cond_of(1, 4, 1), *n = cond_of(1, 4, -1);
    setup s = setup_of(p, n, 2);
    nino_patch cache = { .kind = kind, .v = { 0.05 }, .has_range = true, .end = 1 };
    CHECK(asked(&s, (nino_patch){ .kind = NINO_PATCH_KINDS }) == 8);
    const int some = asked(&s, cache);
    CHECK(some > 2 && some < 8);
    CHECK(some == by_the_rule(&s, p, n, kind == NINO_PATCH_EASY_CACHE, 0.05));
    compare(want, N, 1e-3);
    static float first[N];
    memcpy(first, last.x0, sizeof(first));
    CHECK(asked(&s, cache) == some && !memcmp(first, last.x0, sizeof(first))); // starts anew
    cache.v[0] = 0;
    CHECK(asked(&s, cache) == 8);
    cache.v[0] = 0.05;
    cache.start = cache.end = 0.999; // after all of these
    CHECK(asked(&s, cache) == 8);
    end_setup(&s, p, n);
}

int main(void)
{
    open_all();
    test_perturbed();
    test_blocks();
    test_self_attention();
    test_map_rows();
    test_override();
    test_perp_neg(false);
    test_perp_neg(true);
    test_dual_model();
    test_caches(NINO_PATCH_EASY_CACHE);
    test_caches(NINO_PATCH_LAZY_CACHE);
    close_all();
    return 0;
}
