// What a patch makes of a batch it makes of each picture or clip alone, bit for bit, but for those
// that are of a whole batch: these against their formulas. And where an operator begins and ends.
#include <math.h>

#include "core/base/error.h"
#include "core/sample/guide/guide_priv.h"
#include "tests/test.h"

enum { BATCH = 3, CHANNELS = 3, ROWS = 9, COLUMNS = 11, FRAMES = 2, MOST = 3600 };
#define SIGMA 2.5f
#define SCALE 4.5f

static nino_model model;
static nino_guider guider = { .refs = 1, .kind = NINO_GUIDE_CFG, .model = &model };
static nino_guide_run r;
static nino_error err;
static float cond[MOST], uncond[MOST], x[MOST];

static nino_guide_sides sides_at(size_t from, float sigma)
{
    return (nino_guide_sides){
        .cond = cond + from, .uncond = uncond + from, .x = x + from, .scale = SCALE, .sigma = sigma
    };
}

static void set_run(int batch, bool is_clip, const nino_sampling *ms)
{
    const nino_shape s = is_clip ? NINO_SHAPE(batch, FRAMES, ROWS, COLUMNS, CHANNELS)
                                 : NINO_SHAPE(batch, ROWS, COLUMNS, CHANNELS);
    r = (nino_guide_run){ .guider = &guider, .sampling = ms };
    nino_guide_set_shape(&r, &s);
    CHECK(r.count <= MOST);
}

static void draw_sides(void)
{
    for (int i = 0; i < MOST; i++) {
        x[i] = 3 * sinf(1.3f * (float) (i * i % 101) + (float) i);
        cond[i] = 0.7f * sinf(0.7f * (float) i) + 0.1f * (float) (i % 7) - 0.2f;
        uncond[i] = 0.6f * sinf(0.7f * (float) i + 0.5f) + 0.05f * (float) (i % 5);
    }
}

// All that patch p does, from item `from` on: before, in and after the mixture; into out and side.
static void apply(const nino_patch *p, size_t from, float sigma, float *out, float *side)
{
    static float c[MOST], u[MOST];
    model.patch[0] = *p;
    model.n_patches = 1;
    memcpy(c, cond + from, r.count * sizeof(float));
    memcpy(u, uncond + from, r.count * sizeof(float));
    nino_guide_sides g = sides_at(from, sigma);
    g.cond = c;
    g.uncond = u;
    CHECK_OK(nino_guide_before(&r, &g, c, u, true, &err), err);
    nino_guide_mix(&r, &g, out);
    nino_guide_post(&r, p, &g, out);
    memcpy(side, c, r.count * sizeof(float));
    memcpy(side + r.count, u, r.count * sizeof(float));
    nino_guide_forget(&r);
}

static void check_alone(const nino_patch *p, bool is_clip, const nino_sampling *ms)
{
    static float whole[MOST], one[MOST], sides[2 * MOST], part[2 * MOST];
    set_run(BATCH, is_clip, ms);
    const size_t all = r.count;
    apply(p, 0, SIGMA, whole, sides);
    set_run(1, is_clip, ms);
    for (size_t b = 0; b < BATCH; b++) {
        apply(p, b * r.count, SIGMA, one, part);
        const size_t bytes = r.count * sizeof(float);
        if (memcmp(one, whole + b * r.count, bytes) || memcmp(part, sides + b * r.count, bytes) ||
            memcmp(part + r.count, sides + all + b * r.count, bytes)) {
            fprintf(stderr, "patch %d: item %d is another in a batch\n", (int) p->kind, (int) b);
            exit(1);
        }
    }
}

static void check_all_alone(const nino_sampling *ms)
{
    static const nino_patch patches[] = {
        { .kind = NINO_PATCH_RESCALE, .v = { 0.7 } },
        { .kind = NINO_PATCH_RESCALE, .v = { 0 } },
        { .kind = NINO_PATCH_NORM, .v = { 0.8 } },
        { .kind = NINO_PATCH_RENORM, .v = { 100, 0.9 } },
        { .kind = NINO_PATCH_POST_NORM, .v = { 0.9 } },
        { .kind = NINO_PATCH_ZERO_STAR },
        { .kind = NINO_PATCH_EPSILON, .v = { 1.02 } },
        { .kind = NINO_PATCH_TSR, .v = { 0.9, 1.2 } },
        { .kind = NINO_PATCH_TCFG },
        { .kind = NINO_PATCH_APG, .v = { 0.3, 5, 0 } },
        { .kind = NINO_PATCH_APG, .v = { 0.3, 0, -0.5 } },
        { .kind = NINO_PATCH_FRESCA, .v = { 0.8, 1.4, 2 } },
        { .kind = NINO_PATCH_TONEMAP, .v = { 0.7 } },
        { .kind = NINO_PATCH_SHARPEN, .v = { 2, 0.8, 0.3 } },
    };
    for (size_t i = 0; i < sizeof(patches) / sizeof(*patches); i++) {
        check_alone(&patches[i], false, ms);
        if (patches[i].kind != NINO_PATCH_SHARPEN) // of pictures only
            check_alone(&patches[i], true, ms);
    }
}

// ---- of a whole batch, and at their ends ----------------------------------------------------------

static void expect(const nino_patch *p, float sigma, double (*of)(const nino_patch *p, size_t i))
{
    static float out[MOST], side[2 * MOST];
    apply(p, 0, sigma, out, side);
    for (size_t i = 0; i < r.count; i++) {
        const double want = of(p, i);
        if (!(fabs((double) out[i] - want) <= 2e-5 * (1 + fabs(want)))) {
            fprintf(stderr, "patch %d at %g, %zu: %.7g, expected %.7g\n", (int) p->kind,
                    (double) sigma, i, (double) out[i], want);
            exit(1);
        }
    }
}

static double mixed(size_t i, double by)
{
    return (double) uncond[i] + by * ((double) cond[i] - (double) uncond[i]);
}

static double plain(const nino_patch *p, size_t i)
{
    (void) p;
    return mixed(i, (double) SCALE);
}

static double positive(const nino_patch *p, size_t i)
{
    (void) p;
    return (double) cond[i];
}

// torch.linspace(min_cfg, cond_scale, frames)
static double linear(const nino_patch *p, size_t i)
{
    const int64_t b = (int64_t) (i / (r.count / (size_t) r.batch));
    const double u = r.batch > 1 ? (double) b / (double) (r.batch - 1) : 0;
    return mixed(i, p->v[0] + u * ((double) SCALE - p->v[0]));
}

// From the least in the first and last frame to the whole of it in the middle.
static double triangle(const nino_patch *p, size_t i)
{
    const int64_t b = (int64_t) (i / (r.count / (size_t) r.batch));
    const double u = r.batch > 1 ? (double) b / (double) (r.batch - 1) : 0;
    return mixed(i, p->v[0] + 2 * fmin(u, 1 - u) * ((double) SCALE - p->v[0]));
}

// No longer than v[1] times the positive side, over a picture.
static double renorm(const nino_patch *p, size_t i)
{
    const size_t n = r.count / (size_t) r.batch, from = i / n * n;
    double had = 0, most = 0;
    for (size_t k = from; k < from + n; k++) {
        had += pow(plain(p, k), 2);
        most += pow((double) cond[k], 2);
    }
    return plain(p, i) * fmin(1, p->v[1] * sqrt(most / had));
}

static double epsilon(const nino_patch *p, size_t i)
{
    const double by = p->v[0] == 0 ? 1e-9 : p->v[0];
    return (double) x[i] - ((double) x[i] - plain(p, i)) / by;
}

// Of all channels in the cell of value i, a less b (NULL: nothing); NULL for a: the plain mixture.
static double length(size_t i, const float *a, const float *b)
{
    const size_t n = r.count / (size_t) r.batch, cells = (size_t) r.cells;
    double sum = 0;
    for (size_t k = i / n * n + i % cells; k < (i / n + 1) * n; k += cells)
        sum += pow((a ? (double) a[k] : mixed(k, (double) SCALE)) - (b ? (double) b[k] : 0), 2);
    return sqrt(sum);
}

// Noise as long as the positive side's, in part.
static double norm(const nino_patch *p, size_t i)
{
    const double had = length(i, NULL, x), noise = (double) x[i] - plain(p, i);
    const double by = had > 0 ? length(i, cond, x) / had : 1;
    return (double) x[i] - noise * (p->v[0] * by + 1 - p->v[0]);
}

// Not longer than the positive side.
static double post_norm(const nino_patch *p, size_t i)
{
    const double by = length(i, cond, NULL) / (length(i, NULL, NULL) + 1e-8);
    return plain(p, i) * fmin(by, 1) * p->v[0];
}

// The negative side as large as fits the positive one best.
static double zero_star(const nino_patch *p, size_t i)
{
    const size_t n = r.count / (size_t) r.batch, from = i / n * n;
    double dot = 0, square = 1e-8;
    for (size_t k = from; k < from + n; k++) {
        dot += ((double) x[k] - (double) cond[k]) * ((double) x[k] - (double) uncond[k]);
        square += pow((double) x[k] - (double) uncond[k], 2);
    }
    const double a = dot / square, u = (double) uncond[i];
    return plain(p, i) + u * (a - 1) + (double) SCALE * u * (1 - a);
}

static double tsr(const nino_patch *p, size_t i) // of eps models alpha is 1
{
    const double ratio = p->v[1] * p->v[1] / ((double) SIGMA * (double) SIGMA);
    const double by = (ratio + 1) / (ratio / p->v[0] + 1);
    return (double) x[i] + by * (plain(p, i) - (double) x[i]);
}

static void check_formulas(void)
{
    static const int batches[] = { 1, 2, 3, 4, 12 };
    for (int k = 0; k < 5; k++) {
        set_run(batches[k], false, NULL);
        expect(&(nino_patch){ .kind = NINO_PATCH_LINEAR_CFG, .v = { 1.5 } }, SIGMA, linear);
        expect(&(nino_patch){ .kind = NINO_PATCH_TRIANGLE_CFG, .v = { 1.5 } }, SIGMA, triangle);
        const nino_patch re = { .kind = NINO_PATCH_RENORM, .v = { SIGMA, 0.9 } },
                         wide = { .kind = NINO_PATCH_RENORM, .v = { 9, 100 } },
                         none = { .kind = NINO_PATCH_RENORM, .v = { 9, 0 } };
        expect(&re, SIGMA, positive); // not yet guided
        expect(&re, SIGMA - 0.01f, renorm);
        expect(&wide, SIGMA, plain); // never so long
        expect(&none, SIGMA, plain); // as long as it likes
        expect(&(nino_patch){ .kind = NINO_PATCH_RESCALE }, SIGMA, plain);
        expect(&(nino_patch){ .kind = NINO_PATCH_EPSILON, .v = { 1.02 } }, SIGMA, epsilon);
    }
}

// By cell and by item; also where nothing is left to be measured.
static void check_lengths(void)
{
    const nino_patch all[] = { { .kind = NINO_PATCH_NORM, .v = { 0.8 } },
                               { .kind = NINO_PATCH_NORM, .v = { 1 } },
                               { .kind = NINO_PATCH_POST_NORM, .v = { 0.9 } },
                               { .kind = NINO_PATCH_ZERO_STAR } };
    double (*const of[])(const nino_patch *p, size_t i) = { norm, norm, post_norm, zero_star };
    for (int is_clip = 0; is_clip < 2; is_clip++)
        for (int k = 0; k < 4; k++) {
            set_run(2, is_clip, NULL);
            expect(&all[k], SIGMA, of[k]);
        }
    for (size_t i = 0; i < r.count; i++) // hardly any noise
        x[i] = uncond[i] + 1e-5f;
    expect(&all[3], SIGMA, zero_star);
    for (size_t i = 0; i < r.count; i++) // none, and no picture
        x[i] = cond[i] = uncond[i] = i % 3 ? 0 : 1;
    for (int k = 0; k < 4; k++)
        expect(&all[k], SIGMA, of[k]);
    draw_sides();
}

static void check_tsr(void)
{
    nino_sampling *e = nino_sampling_discrete(NINO_PRED_EPS, false), *f = nino_sampling_flow(1, 1);
    CHECK(e && f);
    const nino_patch p = { .kind = NINO_PATCH_TSR, .v = { 0.9, 1.2 } };
    set_run(2, false, e);
    expect(&p, SIGMA, tsr);
    set_run(2, false, f);
    expect(&p, 1, plain); // pure noise has no signal whose share could be told
    nino_sampling_unref(&e);
    nino_sampling_unref(&f);
}

// The last of several that mix is the one that does; others are not asked.
static void check_last(void)
{
    static float out[MOST], want[MOST];
    const nino_guide_sides g = sides_at(0, SIGMA);
    set_run(2, false, NULL);
    model.patch[0] = (nino_patch){ .kind = NINO_PATCH_NORM, .v = { 0.8 } };
    model.n_patches = 1;
    nino_guide_mix(&r, &g, want);
    model.patch[0] = (nino_patch){ .kind = NINO_PATCH_LINEAR_CFG, .v = { 1 } };
    model.patch[1] = (nino_patch){ .kind = NINO_PATCH_NORM, .v = { 0.8 } };
    model.patch[2] = (nino_patch){ .kind = NINO_PATCH_POST_NORM, .v = { 0.3 } };
    model.n_patches = 3;
    nino_guide_mix(&r, &g, out);
    CHECK(!memcmp(out, want, r.count * sizeof(*out)));
}

// APG adds what it had before, until the noise rises: a run of its own begins.
static void check_momentum(void)
{
    static float first[MOST], second[MOST], c[MOST], u[MOST];
    set_run(2, false, NULL);
    model.patch[0] = (nino_patch){ .kind = NINO_PATCH_APG, .v = { 1, 0, 0.5 } };
    model.n_patches = 1;
    static const float sigmas[] = { 3, 2, 1, 1, 1.5f };
    for (int k = 0; k < 5; k++) {
        nino_guide_sides g = sides_at(0, sigmas[k]);
        memcpy(c, cond, sizeof(c));
        memcpy(u, uncond, sizeof(u));
        g.cond = c;
        g.uncond = u;
        CHECK_OK(nino_guide_before(&r, &g, c, u, true, &err), err);
        // of a factor of 1 nothing is taken away: u + sum + (c - u) / scale, sum = d (1 + 1/2 + ..)
        const double by = k < 4 ? 2 - pow(0.5, k) : 1;
        for (size_t i = 0; i < r.count; i++) {
            const double d = (double) cond[i] - (double) uncond[i];
            const double want = (double) uncond[i] + d * by + d / (double) SCALE;
            CHECK(fabs((double) c[i] - want) < 1e-4);
        }
        memcpy(k ? second : first, c, sizeof(c));
    }
    CHECK(!memcmp(first, second, r.count * sizeof(*first)));
    nino_guide_forget(&r);
}

static void check_refusals(void)
{
    const nino_patch p = { .kind = NINO_PATCH_SHARPEN, .v = { 6, 1, 0.1 } };
    const int64_t small[] = { 6, 10 }, narrow[] = { 10, 6 }, least[] = { 7, 7 },
                  clip[] = { 2, 8, 8 };
    static float v[MOST];
    CHECK(nino_latent_operate(&p, v, 1, 3, small, 2, &err) == NINO_ERR_RANGE);
    CHECK_STR(err.msg, "a radius of 6 does not fit into 10x6 cells");
    CHECK(nino_latent_operate(&p, v, 1, 3, narrow, 2, &err) == NINO_ERR_RANGE);
    CHECK_STR(err.msg, "a radius of 6 does not fit into 6x10 cells");
    CHECK_OK(nino_latent_operate(&p, v, 1, 3, least, 2, &err), err);
    CHECK(nino_latent_operate(&p, v, 1, 3, clip, 3, &err) == NINO_ERR_UNSUPPORTED);
    CHECK_STR(err.msg, "it sharpens pictures, not videos");
    CHECK_STR(err.where, "LatentOperationSharpen");
}

int main(void)
{
    nino_sampling *ms = nino_sampling_discrete(NINO_PRED_EPS, false);
    CHECK(ms);
    draw_sides();
    check_all_alone(ms);
    check_formulas();
    check_lengths();
    check_tsr();
    check_last();
    check_momentum();
    check_refusals();
    nino_sampling_unref(&ms);
    return 0;
}
