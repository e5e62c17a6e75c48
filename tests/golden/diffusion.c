// Diffusion networks of random weights against torch's outputs and ComfyUI's own.
#include "tests/random_vae.h"

#include "tests/diffusion.h"

typedef struct synth {
    const char *file, *family;
} synth;

// The model's output for the inputs that were recorded with it.
static void check_synth(test_device *d, const char *assets, const synth *m, nino_precision p)
{
    const double most = p == NINO_PREC_F32 ? 1e-6 : 1e-3;
    nino_weights *w = test_open("%s/synth/%s.safetensors", assets, m->file);
    nino_weights *io = test_open("%s/synth/%s_io.safetensors", assets, m->file);
    nino_diffusion *net = test_diffusion(w, m->family);
    nino_array *x = test_tensor(io, "x", true), *want = test_tensor(io, "out", true);
    nino_array *t = test_tensor(io, "timestep", false), *c = test_tensor(io, "context", false);
    nino_array *y = nino_weights_find(io, "y") ? test_tensor(io, "y", false) : NULL;
    CHECK(net->in_channels == 4 && net->context_dim == c->shape.dim[2]);
    CHECK(net->y_dim == (y ? y->shape.dim[1] : 0));
    nino_stream_set_precision(d->s, p);
    const test_inputs in = { .x = x, .context = c, .y = y, .timestep = nino_array_f32(t) };
    nino_array *got = test_forward(d->s, net, &in);
    printf("  %s, %s: nmse %.2e\n", m->file, p == NINO_PREC_F32 ? "f32" : "f16",
           test_nmse(got, want));
    CHECK(test_nmse(got, want) <= most);
    nino_array *all[] = { x, want, t, c, y, got };
    for (int i = 0; i < 6; i++)
        nino_array_unref(&all[i]);
    nino_diffusion_unref(&net);
    nino_weights_unref(&w);
    nino_weights_unref(&io);
}

typedef struct first_step { // of a recorded sampling run
    const char *file, *family, *ref, *run;
    float cfg; // 1: no negative prompt
} first_step;

// x0 = denoised(x at the first sigma), from the network and the default sampling of its family.
static nino_array *denoise(test_device *d, const nino_diffusion *net, const nino_array *x,
                           float sigma, const nino_array *context, const nino_array *y)
{
    const int64_t n = nino_shape_count(&x->shape);
    const float t = nino_sampling_timestep(net->sampling, sigma);
    nino_array *in = nino_array_create(NINO_F32, x->shape);
    CHECK(in != NULL);
    nino_sampling_calculate_input(net->sampling, sigma, nino_array_f32(x), nino_array_f32(in), n);
    const test_inputs f = { .x = in, .context = context, .y = y, .timestep = &t, .guidance = 3.5f };
    nino_array *out = test_forward(d->s, net, &f);
    nino_sampling_calculate_denoised(net->sampling, sigma, nino_array_f32(out), nino_array_f32(x),
                                     nino_array_f32(out), n);
    nino_array_unref(&in);
    return out;
}

static nino_array *named(const nino_weights *w, const char *run, const char *name)
{
    char full[96];
    snprintf(full, sizeof(full), "%s/%s", run, name);
    nino_array *a = test_tensor(w, full, false);
    if (a->shape.rank == 5) { // the first of the steps
        nino_array *first = nino_array_create(NINO_F32, nino_shape_make(4, a->shape.dim + 1));
        CHECK(first != NULL);
        memcpy(first->data, a->data, first->bytes);
        nino_array_unref(&a);
        a = first;
    }
    if (a->shape.rank == 4) {
        nino_array *b = nino_array_to_channels_last(a);
        CHECK(b != NULL);
        nino_array_unref(&a);
        a = b;
    }
    return a;
}

static void check_step(test_device *d, const char *assets, const first_step *e)
{
    nino_weights *w = test_open("%s/models/%s", assets, e->file);
    nino_weights *ref = test_open("%s/e2e/expected/%s", assets, e->ref);
    nino_diffusion *net = test_diffusion(w, e->family);
    nino_array *x = named(ref, e->run, "noise"), *sigmas = named(ref, e->run, "sigmas");
    nino_array *want = named(ref, e->run, "denoised_steps");
    nino_array *cond = test_tensor(ref, "cond", false);
    nino_array *y = net->y_dim ? test_tensor(ref, "pooled", false) : NULL;
    const float sigma = nino_array_f32(sigmas)[0];
    const int64_t n = nino_shape_count(&x->shape);
    nino_stream_set_precision(d->s, NINO_PREC_F32);
    nino_sampling_noise_scaling(net->sampling, sigma,
                                nino_sampling_is_max_denoise(net->sampling, sigma),
                                nino_array_f32(x), NULL, nino_array_f32(x), n);
    nino_array *got = denoise(d, net, x, sigma, cond, y), *neg = NULL, *uncond = NULL;
    if (e->cfg != 1) {
        uncond = test_tensor(ref, "uncond", false);
        neg = denoise(d, net, x, sigma, uncond, y);
        for (int64_t i = 0; i < n; i++)
            nino_array_f32(got)[i] =
                nino_array_f32(neg)[i] + (nino_array_f32(got)[i] - nino_array_f32(neg)[i]) * e->cfg;
    }
    printf("  %s, first step: nmse %.2e\n", e->file, test_nmse(got, want));
    CHECK(test_nmse(got, want) <= 1e-6);
    nino_array *all[] = { x, sigmas, want, cond, y, got, neg, uncond };
    for (int i = 0; i < 8; i++)
        nino_array_unref(&all[i]);
    nino_diffusion_unref(&net);
    nino_weights_unref(&w);
    nino_weights_unref(&ref);
}

int main(void)
{
    static const synth synths[] = { { "sd15_unet_ch32", "sd15" }, { "sdxl_unet_ch32", "sdxl" } };
    static const first_step steps[] = {
        { "checkpoints/sd15_tiny.safetensors", "sd15", "sd15_tiny_ref.safetensors", "euler", 7.5f },
        { "diffusion_models/flux_tiny.safetensors", "flux", "flux_tiny_ref.safetensors", "bf16",
          1 },
    };
    static const char *const devices[] = { "ref", "cl", NULL };
    for (const char *const *name = devices; *name; name++) {
        test_device d;
        if (!test_device_open(&d, *name, 0))
            continue;
        printf("%s\n", *name);
        for (const char *data = NULL; (data = test_data_next(data));)
            for (int i = 0; i < 2; i++) {
                check_synth(&d, data, &synths[i], NINO_PREC_F32);
                if (strcmp(*name, "ref") != 0)
                    check_synth(&d, data, &synths[i], NINO_PREC_F16);
                check_step(&d, data, &steps[i]);
            }
        test_device_close(&d);
    }
    return 0;
}
