// Blockwise ControlNets in Qwen-Image's transformer against torch (tests/data/make/qwen_patch.py):
// strengths, a mask, odd sides, reference latents behind the picture, two networks at once.
#include "core/model/loader.h"
#include "tests/diffusion.h"

enum { NETS = 2 };

static const struct {
    const char *name;
    double strength[NETS]; // 0: not asked for
    bool has_ref;
} cases[] = {
    { "even", { 1, 0 }, false },
    { "odd", { 0, -0.6 }, false },
    { "ref", { 0.8, 0 }, true },
    { "both", { 0.7, 1 }, false },
};

static nino_array *part(const nino_weights *io, int i, const char *what, bool is_picture)
{
    return test_tensor(io, nino_name_of("%s.%s", cases[i].name, what).s, is_picture);
}

static void check_case(test_device *d, const nino_diffusion *net, nino_block_net *const *nets,
                       const nino_weights *io, int i, double most)
{
    nino_block_use use[NETS];
    nino_patch patch[NETS];
    nino_array *hint[NETS] = { NULL }, *ref = NULL;
    nino_array *x = part(io, i, "x", true), *c = part(io, i, "context", false);
    nino_array *t = part(io, i, "timestep", false), *want = part(io, i, "out", true);
    nino_pass pass = { .patch = patch, .hint = hint, .active = ~(uint32_t) 0, .images = 1 };
    for (int k = 0; k < NETS; k++) {
        if (cases[i].strength[k] == 0)
            continue;
        use[pass.n_patches] = (nino_block_use){ .net = nets[k], .strength = cases[i].strength[k] };
        hint[pass.n_patches] = part(io, i, k ? "hint1" : "hint0", true);
        patch[pass.n_patches] =
            (nino_patch){ .kind = NINO_PATCH_BLOCK_CONTROL, .control = &use[pass.n_patches] };
        pass.n_patches++;
    }
    test_inputs in = { .x = x,
                       .context = c,
                       .timestep = nino_array_f32(t),
                       .pass = &pass,
                       .n_refs = cases[i].has_ref };
    if (cases[i].has_ref) {
        ref = part(io, i, "ref0", true);
        const int64_t *dim = ref->shape.dim; // a clip of one frame
        ref->shape = NINO_SHAPE(dim[0], dim[2], dim[3], dim[4]);
        in.ref[0] = ref;
    }
    nino_array *got = test_forward(d->s, net, &in);
    const double e = test_nmse(got, want);
    printf("    %s: nmse %.1e\n", cases[i].name, e);
    CHECK(e <= most);
    nino_array_unref(&got);
    pass.active = 0; // out of its range it does nothing
    got = test_forward(d->s, net, &in);
    CHECK(test_nmse(got, want) > 1e-2);
    nino_array *all[] = { x, c, t, want, ref, hint[0], hint[1], got };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        nino_array_unref(&all[k]);
}

static void check_all(test_device *d, const char *data, nino_precision p)
{
    static const char *const files[NETS] = { "qwen_patch_own", "qwen_patch_own_mask" };
    nino_block_net *nets[NETS];
    nino_error err = { 0 };
    nino_weights *w = test_open("%s/models/diffusion_models/qwen_image_d64.safetensors", data);
    nino_weights *io = test_open("%s/synth/qwen_patch_io.safetensors", data);
    nino_diffusion *net = test_diffusion(w, "qwen_image");
    for (int k = 0; k < NETS; k++) {
        nino_weights *f = test_open("%s/models/model_patches/%s.safetensors", data, files[k]);
        CHECK_OK(nino_qwen_control_load(f, files[k], &nets[k], &err), err);
        CHECK(nets[k]->hidden == 64 && nets[k]->n_blocks == 2 && nets[k]->has_mask == (k == 1));
        nino_weights_unref(&f);
    }
    nino_stream_set_precision(d->s, p);
    for (int i = 0; i < (int) (sizeof(cases) / sizeof(cases[0])); i++)
        check_case(d, net, nets, io, i, p == NINO_PREC_F32 ? 1e-9 : 1e-3);
    for (int k = 0; k < NETS; k++)
        nino_block_net_unref(&nets[k]);
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
        check_all(&d, test_data_next(NULL), NINO_PREC_F32);
        if (strcmp(*name, "ref") != 0) {
            check_all(&d, test_data_next(NULL), NINO_PREC_F16);
            check_all(&d, test_data_next(NULL), NINO_PREC_BF16);
        }
        test_device_close(&d);
    }
    return 0;
}
