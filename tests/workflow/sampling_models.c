// Sampling with a network that is computed by hand: what each kind of model is told beside the
// latent and the text.
#include "tests/guided.h"

static float x[MAX_BATCH * C * CELLS];

// ---- what networks are told ------------------------------------------------------------------

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
    net.d.usual_guidance = 3.5;
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

// SD3: zeros in place of text encoders that are not there are as wide as those it was released with;
// a smaller network takes what is between them.
static void test_missing_encoders(void)
{
    static const float text[3] = { 0.5f, -0.25f, 1 }, pooled[2] = { 0.25f, -0.75f };
    other_net(NINO_DIFFUSION_SD3, "sd15", 0, nino_sampling_flow(3, 1000));
    net.d.y_dim = 4;
    nino_cond *p = cond_of(1, 4, 1);
    setup s = setup_of(p, NULL, 1);
    s.sigma = 0.7;
    nino_array *wide = array_of(NINO_SHAPE(1, 2, 9), 0, 0);
    for (int i = 0; i < 6; i++)
        nino_array_f32(wide)[i / 3 * 9 + i % 3] = text[i % 3];
    give(&p->entry->context, wide);
    wide = array_of(NINO_SHAPE(1, 7), 0, 0); // zeros before what there is, none behind
    for (int i = 0; i < 2; i++)
        nino_array_f32(wide)[5 + i] = pooled[i];
    give(&p->entry->pooled, wide);
    evaluate(&s, x);
    const nino_shape narrow = NINO_SHAPE(1, 2, 3);
    CHECK(net.n == 1 && nino_shape_equal(&net.call[0].context, &narrow));
    nino_cond *as_seen = cond_of(1, 2, 1);
    spot *k = spot_of(0, as_seen->entry, 1);
    for (int i = 0; i < 6; i++)
        nino_array_f32(as_seen->entry->context)[i] = text[i % 3];
    k->y = (double) (pooled[0] + pooled[1]) / 4;
    oracle(k, 1, x, 1, s.sigma, pos);
    compare(pos, C * CELLS, 5e-5);
    // what is too wide and not zero is another model's
    float sigmas[2] = { 0.7f, 0 };
    nino_array *out = NULL;
    nino_error err = { 0 };
    nino_array_f32(p->entry->context)[8] = 1;
    CHECK(run(&s, sigmas, 2, &out, &err) == NINO_ERR_ARG && strstr(err.msg, "width 3"));
    nino_array_f32(p->entry->context)[8] = 0;
    nino_array_f32(p->entry->pooled)[0] = 1;
    CHECK(run(&s, sigmas, 2, &out, &err) == NINO_ERR_ARG && strstr(err.msg, "7 numbers"));
    nino_cond_unref(&as_seen);
    end_setup(&s, p, NULL);
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
    net.d.has_refs = true;
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

int main(void)
{
    open_all();
    test_y();
    test_missing_encoders();
    test_inpaint_model();
    test_flow();
    close_all();
    return 0;
}
