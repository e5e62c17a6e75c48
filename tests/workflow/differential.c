// DifferentialDiffusion: at every step the cells whose mask is below the time that is left keep the
// old latent, and the others are sampled.
#include "core/sample/guide/guide.h"
#include "tests/fake_net.h"

enum { W = 5, C = 4, STEPS = 4 };

static const float mask_of[W] = { 0, 0.3f, 0.6f, 0.9f, 1 };
static const float sigmas[STEPS + 1] = { 1, 0.75f, 0.5f, 0.25f, 0 };

typedef struct seen {
    float x0[STEPS][C * W];
    int n;
} seen;

static void on_step(void *priv, const nino_sample_step *step)
{
    seen *s = priv;
    CHECK(s->n < STEPS);
    memcpy(s->x0[s->n++], step->denoised, sizeof(s->x0[0]));
}

static void sample(nino_stream *s, nino_model *m, float value, seen *out)
{
    nino_cond *c = nino_cond_create(1);
    nino_error err = { 0 };
    CHECK(c);
    c->entry[0].context = nino_array_create(NINO_F32, NINO_SHAPE(1, 2, 3));
    const nino_sampler sampler = nino_sampler_default(NINO_SAMPLER_EULER);
    const nino_guider g = { .refs = 1, .kind = NINO_GUIDE_BASIC, .model = m, .positive = c };
    nino_array *latent = nino_array_create(NINO_F32, NINO_SHAPE(1, 1, W, C)), *done = NULL;
    nino_array *mask = nino_array_create(NINO_F32, NINO_SHAPE(1, 1, W));
    CHECK(latent && mask && c->entry[0].context);
    for (int i = 0; i < W * C; i++)
        nino_array_f32(latent)[i] = value;
    memcpy(mask->data, mask_of, sizeof(mask_of));
    *out = (seen){ .n = 0 };
    const nino_sample_params p = { .guider = &g,
                                   .noise = { .seed = 3 },
                                   .sampler = &sampler,
                                   .sigmas = sigmas,
                                   .n_sigmas = STEPS + 1,
                                   .samples = latent,
                                   .noise_mask = mask,
                                   .on_step = on_step,
                                   .priv = out };
    CHECK_OK(nino_sample_latent(s, &p, &done, NULL, &err), err);
    CHECK(out->n == STEPS);
    nino_array_unref(&done);
    nino_array_unref(&latent);
    nino_array_unref(&mask);
    nino_cond_unref(&c);
}

static bool is_near(float a, float b) { return fabsf(a - b) < 1e-6f; }

// Whether cell `x` had the old latent, of value `v` inside the model, in all its channels.
static bool is_kept(const seen *s, int step, int x, float v)
{
    bool all = true;
    for (int k = 0; k < C; k++)
        all = all && is_near(s->x0[step][k * W + x], v);
    return all;
}

int main(void)
{
    nino_error err = { 0 };
    fake_net net;
    nino_backend *be = nino_ref_open(0, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    const nino_stream_params sp = { .backend = be, .precision = NINO_PREC_F32 };
    nino_stream *s = nino_stream_create(&sp, &err);
    CHECK(s);
    fake_init(&net, NINO_DIFFUSION_UNET, "sd15", 0, nino_sampling_flow(1, 1000));
    nino_model *m = nino_model_create(&net.d);
    CHECK(m);
    const float value = 2.0f, inside = value * (float) net.d.format->scale;
    seen plain, hard, zero, mixed;

    sample(s, m, value, &plain); // without: a grey mask mixes at every step
    m->has_differential = true;
    m->differential = 1;
    sample(s, m, value, &hard);
    m->differential = 0; // the same
    sample(s, m, value, &zero);
    m->differential = 0.5;
    sample(s, m, value, &mixed);
    for (int step = 0; step < STEPS; step++)
        for (int x = 0; x < W; x++) {
            CHECK(is_kept(&plain, step, x, inside) == (mask_of[x] == 0));
            CHECK(is_kept(&hard, step, x, inside) == (mask_of[x] < sigmas[step]));
            CHECK(is_kept(&zero, step, x, inside) == (mask_of[x] < sigmas[step]));
            CHECK(is_kept(&mixed, step, x, inside) == (mask_of[x] == 0));
        }
    // At the first step all start from the same noise. Cell 2 (0.6) is kept there, so half of the
    // mask is left: it moves by 0.3 of what the network says where the plain mask lets 0.6 through.
    const float moved = plain.x0[0][2] - inside, half = mixed.x0[0][2] - inside;
    CHECK(fabsf(moved) > 1e-3f && fabsf(half) > 1e-4f && fabsf(half) < fabsf(moved));
    nino_model_unref(&m);
    nino_stream_destroy(&s);
    fake_release(&net);
    nino_backend_close(&be);
    return 0;
}
