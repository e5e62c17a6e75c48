// Wan video transformers of random weights against torch's outputs and ComfyUI's own.
#include "tests/random_vae.h"

#include "tests/diffusion.h"

typedef struct synth {
    const char *file, *family, *format;
    int in_channels;
} synth;

static const synth synths[] = {
    { "wan_t2v_d256", "wan_t2v", "wan21", 16 },
    { "wan_i2v_d256", "wan_i2v", "wan21", 36 },
    { "wan22_ti2v_d256", "wan22_ti2v", "wan22", 48 },
};

static nino_array *optional(const nino_weights *io, const char *name)
{
    return nino_weights_find(io, name) ? test_tensor(io, name, false) : NULL;
}

// The network's output for recorded inputs; with_frames: with a time step for each frame.
static void check_case(test_device *d, const nino_diffusion *net, const nino_weights *io,
                       const synth *m, bool with_frames, nino_precision p)
{
    const double most = p == NINO_PREC_F32 ? 1e-6 : 1e-3;
    nino_array *x = test_tensor(io, "x", true), *c = test_tensor(io, "context", false);
    nino_array *want = test_tensor(io, with_frames ? "out_per_frame" : "out", true);
    nino_array *t = test_tensor(io, with_frames ? "timestep_per_frame" : "timestep", false);
    nino_array *vision = optional(io, "clip_fea");
    CHECK(net->context_dim == c->shape.dim[2]);
    CHECK(net->vision_dim == (vision ? vision->shape.dim[2] : 0));
    nino_stream_set_precision(d->s, p);
    const test_inputs in = { .x = x,
                             .context = c,
                             .vision = vision,
                             .timestep = nino_array_f32(t),
                             .frames = with_frames ? t->shape.dim[1] : 0 };
    nino_array *got = test_forward(d->s, net, &in);
    printf("  %s%s, %s: nmse %.2e\n", m->file, with_frames ? ", a time step a frame" : "",
           p == NINO_PREC_F32 ? "f32" : "f16", test_nmse(got, want));
    CHECK(test_nmse(got, want) <= most);
    nino_array *all[] = { x, want, t, c, vision, got };
    for (int i = 0; i < 6; i++)
        nino_array_unref(&all[i]);
}

static void check_synth(test_device *d, const char *assets, const synth *m, nino_precision p)
{
    nino_weights *w = test_open("%s/synth/%s.safetensors", assets, m->file);
    nino_weights *io = test_open("%s/synth/%s_io.safetensors", assets, m->file);
    nino_diffusion *net = test_diffusion(w, m->family);
    CHECK(net->in_channels == m->in_channels);
    CHECK_STR(net->format->name, m->format);
    CHECK(net->sampling->shift == 8 && net->sampling->multiplier == 1000);
    check_case(d, net, io, m, false, p);
    if (nino_weights_find(io, "out_per_frame"))
        check_case(d, net, io, m, true, p);
    nino_diffusion_unref(&net);
    nino_weights_unref(&w);
    nino_weights_unref(&io);
}

int main(void)
{
    static const char *const devices[] = { "ref", "cl", NULL };
    for (const char *const *name = devices; *name; name++) {
        test_device d;
        if (!test_device_open(&d, *name, 0))
            continue;
        printf("%s\n", *name);
        for (const char *data = NULL; (data = test_data_next(data));)
            for (size_t i = 0; i < sizeof(synths) / sizeof(synths[0]); i++) {
                check_synth(&d, data, &synths[i], NINO_PREC_F32);
                if (strcmp(*name, "ref") != 0)
                    check_synth(&d, data, &synths[i], NINO_PREC_F16);
            }
        test_device_close(&d);
    }
    return 0;
}
