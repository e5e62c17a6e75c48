// What patches do to the two sides of guidance and to what comes of them, against torch
// (tests/data/make/guidance.py).
#include "core/base/error.h"
#include "core/sample/guide/guide_priv.h"
#include "tests/diffusion.h"

#define SIGMA 2.5f
#define SCALE 6.0f

static nino_weights *data;
static nino_model model;
static nino_guider guider = { .refs = 1, .kind = NINO_GUIDE_CFG, .model = &model };
static nino_guide_run r;

static nino_array *take(const char *name) { return test_tensor(data, name, false); }

static void expect(const char *name, const float *got)
{
    nino_array *want = take(name);
    double sum = 0, all = 0;
    for (size_t i = 0; i < r.count; i++) {
        const double w = (double) nino_array_f32(want)[i], d = (double) got[i] - w;
        sum += d * d;
        all += w * w;
    }
    if (sum / all > 1e-11)
        printf("  %s: nmse %.2e\n", name, sum / all);
    CHECK(sum / all <= 1e-11);
    nino_array_unref(&want);
}

static void only(nino_patch p)
{
    nino_guide_forget(&r);
    model.patch[0] = p;
    model.n_patches = 1;
}

static nino_guide_sides sides(const nino_array *c, const nino_array *u, const nino_array *x)
{
    return (nino_guide_sides){ .cond = nino_array_f32(c),
                               .uncond = nino_array_f32(u),
                               .x = nino_array_f32(x),
                               .scale = SCALE,
                               .sigma = SIGMA };
}

static void check_mix(const char *name, nino_patch p)
{
    nino_array *x = take("x"), *c = take("cond"), *u = take("uncond"), *out = take("x");
    const nino_guide_sides g = sides(c, u, x);
    only(p);
    nino_guide_mix(&r, &g, nino_array_f32(out));
    expect(name, nino_array_f32(out));
    nino_array *all[] = { x, c, u, out };
    for (int i = 0; i < 4; i++)
        nino_array_unref(&all[i]);
}

static void check_post(const char *name, nino_patch p, float sigma)
{
    nino_array *x = take("x"), *c = take("cond"), *u = take("uncond"), *out = take("x");
    nino_guide_sides g = sides(c, u, x);
    only(p);
    nino_guide_mix(&r, &g, nino_array_f32(out));
    g.sigma = sigma;
    nino_guide_post(&r, &p, &g, nino_array_f32(out));
    expect(name, nino_array_f32(out));
    nino_array *all[] = { x, c, u, out };
    for (int i = 0; i < 4; i++)
        nino_array_unref(&all[i]);
}

// Of the side that changes; again: a second evaluation, at another positive side.
static void check_before(const char *name, nino_patch p, const char *again)
{
    nino_array *x = take("x"), *c = take("cond"), *u = take("uncond");
    nino_error err = { 0 };
    nino_guide_sides g = sides(c, u, x);
    only(p);
    CHECK_OK(nino_guide_before(&r, &g, nino_array_f32(c), nino_array_f32(u), true, &err), err);
    expect(name, nino_array_f32(p.kind == NINO_PATCH_TCFG ? u : c));
    if (again) {
        nino_array_unref(&c);
        c = take("cond");
        for (size_t i = 0; i < r.count; i++)
            nino_array_f32(c)[i] *= 0.9f;
        g = sides(c, u, x);
        g.sigma = 2.0f;
        CHECK_OK(nino_guide_before(&r, &g, nino_array_f32(c), nino_array_f32(u), true, &err), err);
        expect(again, nino_array_f32(c));
        nino_array_unref(&c);
        c = take("cond");
        g = sides(c, u, x); // noisier than before: another sampling, nothing is remembered
        CHECK_OK(nino_guide_before(&r, &g, nino_array_f32(c), nino_array_f32(u), true, &err), err);
        expect(name, nino_array_f32(c));
    }
    nino_array *all[] = { x, c, u };
    for (int i = 0; i < 3; i++)
        nino_array_unref(&all[i]);
}

static void check_refusals(void)
{
    nino_error err = { 0 };
    const nino_patch p = { .kind = NINO_PATCH_SHARPEN, .v = { 6, 1, 0.1 } };
    const int64_t small[2] = { 6, 10 }, video[3] = { 2, 8, 8 };
    float v[512] = { 1 };
    CHECK(nino_latent_operate(&p, v, 1, 4, small, 2, &err) == NINO_ERR_RANGE);
    CHECK(nino_latent_operate(&p, v, 1, 4, video, 3, &err) == NINO_ERR_UNSUPPORTED);
}

// The middle of a picture that is too wide, and of one that is too high.
static void check_middle(void)
{
    static const float wide[] = { 2, 3, 8, 9 }, high[] = { 4, 5, 6, 7 };
    nino_error e = { 0 };
    for (int k = 0; k < 2; k++) {
        nino_array *a =
            nino_array_create(NINO_F32, k ? NINO_SHAPE(1, 6, 2, 1) : NINO_SHAPE(1, 2, 6, 1));
        CHECK(a);
        for (int i = 0; i < 12; i++)
            nino_array_f32(a)[i] = (float) i;
        nino_array *out = nino_planes_scale(a, 2, 2, NINO_FILTER_NEAREST, true, &e);
        CHECK_OK(out ? NINO_OK : e.code, e);
        for (int i = 0; i < 4; i++)
            CHECK(nino_array_f32(out)[i] == (k ? high : wide)[i]);
        nino_array_unref(&out);
        nino_array_unref(&a);
    }
}

static nino_array *counted(nino_shape shape, float step)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = step * (float) i;
    return a;
}

// A column, and a row, of which the middle is left.
static void check_thin(void)
{
    nino_error e = { 0 };
    for (int k = 0; k < 4; k++) {
        nino_array *a = counted(k % 2 ? NINO_SHAPE(1, 1, 4, 1) : NINO_SHAPE(1, 4, 1, 1), 1);
        const int64_t h = k % 2 ? 1 : 2, w = k % 2 ? 2 : 1;
        nino_array *out = k < 2 ? nino_planes_first(a, h, w, &e)
                                : nino_planes_scale(a, h, w, NINO_FILTER_NEAREST, true, &e);
        CHECK_OK(out ? NINO_OK : e.code, e);
        CHECK(nino_array_f32(out)[0] == 1 && nino_array_f32(out)[1] == 2);
        nino_array_unref(&out);
        nino_array_unref(&a);
    }
}

// A clip's first frames beside its latent: four channels of 1 - mask, where there is one (of the entry,
// else of the latent; one for all four channels or one each), then the frames in the model's units.
static void check_video(void)
{
    enum { B = 2, T = 2, H = 3, W = 4, CELLS = T * H * W, C = 4, MASK = 4 };
    nino_error e = { 0 };
    nino_diffusion net = { .in_channels = C + MASK + C, .format = nino_latent_format_find("sd15") };
    nino_model m = { .format = net.format };
    const nino_guider g = { .model = &m };
    nino_guide_run v = { .net = &net, .guider = &g, .batch = B, .axis = { T, H, W }, .n_axes = 3 };
    v.cells = CELLS;
    CHECK(net.format && net.format->channels == C);
    nino_array *frames = counted(NINO_SHAPE(1, T, H, W, C), 0.01f), *masks[] = {
        NULL, counted(NINO_SHAPE(T, H, W), 0.05f), counted(NINO_SHAPE(B, T, H, W), 0.03f),
        counted(NINO_SHAPE(1, T, H, W, MASK), 0.02f), counted(NINO_SHAPE(1, T, H, W), 0.04f)
    };
    for (int k = 0; k < 5; k++) {
        nino_cond_entry entry = { .concat_latent = frames, .concat_mask = k < 4 ? masks[k] : NULL };
        nino_array *out = NULL;
        v.mask = k ? masks[4] : NULL; // the entry's comes before it
        CHECK_OK(nino_cond_concat_video(&v, &entry, &out, &e), e);
        CHECK(out->shape.rank == 5 && out->shape.dim[4] == MASK + C && out->shape.dim[0] == B);
        for (int64_t i = 0; i < B * CELLS; i++)
            for (int c = 0; c < MASK + C; c++) {
                const int64_t each = masks[k] && masks[k]->shape.rank == 5 ? MASK : 1;
                const int64_t there = masks[k] ? nino_shape_count(&masks[k]->shape) / each : 1;
                const int64_t at = i % there * each + (each > 1 ? c : 0);
                const float want = c >= MASK
                                       ? nino_array_f32(frames)[i % CELLS * C + c - MASK] * 0.18215f
                                   : masks[k] ? 1 - nino_array_f32(masks[k])[at]
                                              : 0;
                CHECK(fabsf(nino_array_f32(out)[i * (MASK + C) + c] - want) < 1e-5f);
            }
        nino_array_unref(&out);
    }
    nino_array *longer = counted(NINO_SHAPE(1, T + 1, H, W), 1), *out = NULL;
    nino_cond_entry entry = { .concat_latent = frames, .concat_mask = longer };
    CHECK(nino_cond_concat_video(&v, &entry, &out, &e) == NINO_ERR_ARG && !out);
    CHECK(strstr(e.msg, "mask has 3 latent frames, the latent 2"));
    nino_array_unref(&longer);
    longer = counted(NINO_SHAPE(1, T + 1, H, W, C), 1);
    entry = (nino_cond_entry){ .concat_latent = longer };
    CHECK(nino_cond_concat_video(&v, &entry, &out, &e) == NINO_ERR_ARG && !out);
    CHECK_STR(e.msg, "the conditioning's latent has 4 channels and 3 frames, this model takes 8 "
                     "channels beside a latent of 2 frames");
    nino_array_unref(&longer);
    nino_array_unref(&frames);
    for (int k = 1; k < 5; k++)
        nino_array_unref(&masks[k]);
}

// FreSca of a clip of N frames with a cut of 1: only the two in the middle have low frequencies. A
// frame of one value has nothing else, so that those are scaled by the first number, others by the
// second; a cut wider than the clip reaches all but the last of an odd number.
static void check_fresca_frames(void)
{
    enum { N = 5, H = 2, W = 2 };
    static const struct {
        double cut;
        bool low[N];
    } cases[] = { { 1, { false, true, true, false, false } },
                  { 20, { true, true, true, true, false } } };
    for (int i = 0; i < 2; i++) {
        nino_model m = { .patch = { { .kind = NINO_PATCH_FRESCA, .v = { 0.5, 3, cases[i].cut } } },
                         .n_patches = 1 };
        const nino_guider g = { .model = &m };
        nino_guide_run v = { .guider = &g, .batch = 1, .channels = 1, .axis = { N, H, W } };
        float cond[N * H * W], uncond[N * H * W] = { 0 }, x[N * H * W] = { 0 };
        nino_guide_sides sides_of = { .x = x };
        nino_error e = { 0 };
        v.n_axes = 3;
        v.cells = v.count = N * H * W;
        for (int k = 0; k < N * H * W; k++)
            cond[k] = 1;
        CHECK_OK(nino_guide_before(&v, &sides_of, cond, uncond, true, &e), e);
        for (int k = 0; k < N * H * W; k++)
            CHECK(fabsf(cond[k] - (cases[i].low[k / (H * W)] ? 0.5f : 3)) < 1e-5f);
    }
}

int main(void)
{
    check_middle();
    check_thin();
    check_video();
    check_fresca_frames();
    data = test_open("%s/vectors/guidance.safetensors", test_data_next(NULL));
    nino_array *x = take("x");
    r = (nino_guide_run){ .guider = &guider, .batch = 3, .channels = 4, .n_axes = 2 };
    r.axis[0] = 6;
    r.axis[1] = 10;
    r.cells = 60;
    r.count = (size_t) nino_shape_count(&x->shape);
    nino_array_unref(&x);
    CHECK(r.count == 720);
    r.sampling = nino_sampling_discrete(NINO_PRED_EPS, false);
    check_mix("rescale", (nino_patch){ .kind = NINO_PATCH_RESCALE, .v = { 0.7 } });
    check_mix("linear", (nino_patch){ .kind = NINO_PATCH_LINEAR_CFG, .v = { 1.5 } });
    check_mix("triangle", (nino_patch){ .kind = NINO_PATCH_TRIANGLE_CFG, .v = { 1.5 } });
    check_mix("renorm", (nino_patch){ .kind = NINO_PATCH_RENORM, .v = { 100, 0.9 } });
    check_mix("cond", (nino_patch){ .kind = NINO_PATCH_RENORM, .v = { 2, 0.9 } }); // too early
    check_before("tcfg", (nino_patch){ .kind = NINO_PATCH_TCFG }, NULL);
    check_before("apg", (nino_patch){ .kind = NINO_PATCH_APG, .v = { 0.3, 5, -0.5 } },
                 "apg_second");
    check_before("fresca", (nino_patch){ .kind = NINO_PATCH_FRESCA, .v = { 0.8, 1.4, 2 } }, NULL);
    check_before("fresca_wide", (nino_patch){ .kind = NINO_PATCH_FRESCA, .v = { 0.8, 1.4, 20 } },
                 NULL);
    check_before("tonemap", (nino_patch){ .kind = NINO_PATCH_TONEMAP, .v = { 0.7 } }, NULL);
    check_before("sharpen", (nino_patch){ .kind = NINO_PATCH_SHARPEN, .v = { 2, 0.8, 0.3 } }, NULL);
    check_post("mahiro", (nino_patch){ .kind = NINO_PATCH_MAHIRO }, SIGMA);
    check_post("epsilon", (nino_patch){ .kind = NINO_PATCH_EPSILON, .v = { 1.02 } }, SIGMA);
    check_post("tsr", (nino_patch){ .kind = NINO_PATCH_TSR, .v = { 0.9, 1.2 } }, SIGMA);
    nino_sampling *eps = (nino_sampling *) r.sampling;
    nino_sampling_unref(&eps);
    r.sampling = nino_sampling_flow(1, 1000);
    check_post("tsr_flow", (nino_patch){ .kind = NINO_PATCH_TSR, .v = { 0.9, 1.2 } }, 0.4f);
    check_refusals();
    nino_guide_forget(&r);
    nino_sampling *flow = (nino_sampling *) r.sampling;
    nino_sampling_unref(&flow);
    nino_weights_unref(&data);
    return 0;
}
