// Stable Diffusion 3 and Chroma transformers of random weights against values of other
// implementations: outputs for latents of even and odd sides, time steps that differ within a batch,
// with and without guidance; what Chroma's approximator is given and gives. The second files have no
// norms, learned positions or attention of the image to itself.
#include "core/model/flux/flux.h"
#include "tests/diffusion.h"

typedef struct synth {
    const char *model, *io; // below the data
    const char *family;
} synth;

static const synth synths[] = {
    { "synth/sd35_h64", "synth/sd35_h64_even_io", "sd3" },
    { "synth/sd35_h64", "synth/sd35_h64_odd_io", "sd3" },
    { "synth/sd3_h64", "synth/sd3_h64_io", "sd3" },
    { "synth/chroma_h64", "synth/chroma_h64_even_io", "chroma" },
    { "synth/chroma_h64", "synth/chroma_h64_odd_io", "chroma" },
    { "models/diffusion_models/sd35_medium_tiny_fp8_e4m3fn", "synth/sd35_medium_even_io", "sd3" },
    { "models/diffusion_models/sd35_medium_tiny_fp8_e4m3fn", "synth/sd35_medium_odd_io", "sd3" },
    { "synth/sd3_medium_h64", "synth/sd3_medium_h64_io", "sd3" },
    { "models/diffusion_models/chroma_tiny", "synth/chroma_even_io", "chroma" },
    { "models/diffusion_models/chroma_tiny", "synth/chroma_odd_io", "chroma" },
};

static void compare(const char *what, nino_array *got, nino_array *want, double most)
{
    const double e = test_nmse(got, want);
    printf("    %s: nmse %.1e\n", what, e);
    CHECK(e <= most);
    nino_array_unref(&got);
    nino_array_unref(&want);
}

static void check_out(test_device *d, const nino_diffusion *net, const nino_weights *io,
                      const char *leaf, float guidance, double most)
{
    nino_array *x = test_tensor(io, "x", true), *c = test_tensor(io, "context", false);
    nino_array *t = test_tensor(io, "t", false);
    nino_array *y = nino_weights_find(io, "y") ? test_tensor(io, "y", false) : NULL;
    const test_inputs in = {
        .x = x, .context = c, .y = y, .timestep = nino_array_f32(t), .guidance = guidance
    };
    CHECK(net->y_dim == (y ? y->shape.dim[1] : 0) && net->context_dim == c->shape.dim[2]);
    compare(leaf, test_forward(d->s, net, &in), test_tensor(io, leaf, true), most);
    nino_array *all[] = { x, c, t, y };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        nino_array_unref(&all[i]);
}

// Some rows of the first picture.
static const int rows[] = { 0, 1, 2, 50, 343 };
#define N_ROWS 5

static void check_input(const nino_weights *io, const float *t)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(N_ROWS, FLUX_APPROX_IN));
    CHECK(a != NULL);
    for (int i = 0; i < N_ROWS; i++)
        flux_approx_input(nino_array_f32(a) + i * FLUX_APPROX_IN, t[0], 0, rows[i]);
    compare("input_vec", a, test_tensor(io, "input_vec", false), 1e-12);
}

static void check_approximator(test_device *d, const nino_diffusion *diffusion,
                               const nino_weights *io, double most)
{
    const flux *net = diffusion->net;
    nino_stream *s = d->s;
    nino_array *x = test_tensor(io, "x", true), *t = test_tensor(io, "t", false);
    nino_forward f = { .x = test_up(s, x), .timestep = nino_array_f32(t), .guidance = NAN };
    check_input(io, f.timestep);
    nino_array *all = nino_download(s, flux_approximate(s, net, &f), NINO_F32);
    CHECK(all && all->shape.dim[0] == 2 && all->shape.dim[1] == FLUX_APPROX_ROWS);
    nino_array *some = nino_array_create(NINO_F32, NINO_SHAPE(N_ROWS, net->hidden));
    CHECK(some != NULL);
    for (int i = 0; i < N_ROWS; i++)
        memcpy(nino_array_f32(some) + i * net->hidden, nino_array_f32(all) + rows[i] * net->hidden,
               (size_t) net->hidden * sizeof(float));
    compare("mod_vectors", some, test_tensor(io, "mod_vectors", false), most);
    nino_array_unref(&all);
    const float same[2] = { f.timestep[0], f.timestep[0] }; // computed once for both
    f.timestep = same;
    all = nino_download(s, flux_approximate(s, net, &f), NINO_F32);
    CHECK(all && all->shape.dim[0] == 1);
    nino_unref(f.x);
    nino_array_unref(&all);
    nino_array_unref(&x);
    nino_array_unref(&t);
}

static void check_chroma(test_device *d, const nino_diffusion *net, const nino_weights *io,
                         nino_precision p, double most)
{
    CHECK(net->has_guidance && net->usual_guidance == 0 && !net->has_refs && net->wants_bf16);
    CHECK_STR(net->format->name, "flux");
    CHECK(net->sampling->schedule == NINO_SCHEDULE_FLUX && net->sampling->shift == 1.15);
    check_approximator(d, net, io, p == NINO_PREC_F32 ? 1e-5 : 2e-3);
    check_out(d, net, io, "out", 0, most);
    check_out(d, net, io, "out", NAN, most); // without any it is 0
    check_out(d, net, io, "out_guidance3.5", 3.5f, most);
}

static void check_synth(test_device *d, const char *data, const synth *m, nino_precision p)
{
    const double most = p == NINO_PREC_F32 ? 1e-6 : 1e-3;
    static const char *const names[] = { "auto", "f32", "f16", "bf16" };
    char path[512];
    snprintf(path, sizeof(path), "%s/%s.safetensors", data, m->model);
    if (access(path, R_OK))
        return; // of the other data
    nino_weights *w = test_open("%s", path);
    nino_weights *io = test_open("%s/%s.safetensors", data, m->io);
    nino_diffusion *net = test_diffusion(w, m->family);
    printf("  %s, %s\n", m->io, names[p]);
    CHECK(net->in_channels == 16);
    nino_stream_set_precision(d->s, p);
    if (!strcmp(m->family, "chroma")) {
        check_chroma(d, net, io, p, most);
    } else {
        CHECK(!net->has_guidance && !net->wants_bf16);
        CHECK_STR(net->format->name, "sd3");
        CHECK(net->sampling->shift == 3 && net->sampling->multiplier == 1000);
        check_out(d, net, io, "out", NAN, most);
    }
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
                if (strcmp(*name, "ref") != 0) {
                    check_synth(&d, data, &synths[i], NINO_PREC_F16);
                    check_synth(&d, data, &synths[i], NINO_PREC_BF16);
                }
            }
        test_device_close(&d);
    }
    return 0;
}
