// Control networks against what torch makes of one hint (tests/data/make/control.py) and, of the
// larger reference, what ComfyUI's own modules do: every map that they add.
#include "core/model/control/control.h"
#include "tests/diffusion.h"

typedef struct control_case {
    const char *file, *io;
    const char *family;
    const char *prefix; // of the outputs' names
    int type;
    const char *model; // that a control-LoRA is bound to
    int n;             // outputs
} control_case;

static const control_case own[] = {
    { "synth/control_sd15", "control_sd15", "controlnet", "", -1, NULL, 7 },
    { "synth/control_sdxl_union", "control_sdxl_union", "controlnet_union", "", -1, NULL, 7 },
    { "synth/control_sdxl_union", "control_sdxl_union", "controlnet_union", "type_3/", 3, NULL, 7 },
    { "synth/control_sdxl_union", "control_sdxl_union", "controlnet_union", "type_5/", 5, NULL, 7 },
    { "synth/control_lora_sdxl", "control_lora_sdxl", "control_lora", "", -1,
      "synth/sdxl_unet_ch32", 7 },
    { "synth/control_t2i_diffusers", "control_t2i_diffusers", "t2i_adapter", "", -1, NULL, 4 },
    { "synth/control_t2i_conv", "control_t2i_conv", "t2i_adapter", "", -1, NULL, 4 },
    { "synth/control_t2i_light", "control_t2i_light", "t2i_adapter", "", -1, NULL, 4 },
    { "synth/control_flux_union", "control_flux_union", "controlnet_flux", "", -1, NULL, 6 },
    { "synth/control_flux_union", "control_flux_union", "controlnet_flux", "type_1/", 1, NULL, 6 },
    { "synth/control_flux_xlabs", "control_flux_xlabs", "controlnet_flux_xlabs", "", -1, NULL, 3 },
    { "synth/control_sd3", "control_sd3", "controlnet_sd3", "", -1, NULL, 2 },
    { "synth/control_qwen", "control_qwen", "controlnet_qwen_image", "", -1, NULL, 4 },
};

static const control_case shared[] = {
    { "models/controlnet/cn_sd15_tiny.pth", "cn_sd15", "controlnet", "", -1, NULL, 7 },
    { "models/controlnet/cn_sdxl_union_tiny_fp8_e4m3fn", "cn_sdxl_union", "controlnet_union", "t0_",
      -1, NULL, 3 },
    { "models/controlnet/cn_sdxl_union_tiny_fp8_e4m3fn", "cn_sdxl_union", "controlnet_union", "t3_",
      3, NULL, 3 },
    { "models/controlnet/cn_sdxl_union_tiny_fp8_e4m3fn", "cn_sdxl_union", "controlnet_union", "t5_",
      5, NULL, 3 },
    { "models/controlnet/cn_flux_union_tiny_fp8_e4m3fn", "cn_flux_union", "controlnet_flux",
      "auto_", -1, NULL, 1 },
    { "models/controlnet/cn_flux_union_tiny_fp8_e4m3fn", "cn_flux_union", "controlnet_flux", "t2_",
      2, NULL, 1 },
    { "synth/t2i_adapter", "t2i_adapter", "t2i_adapter", "", -1, NULL, 4 },
    { "synth/t2i_adapter_xl", "t2i_adapter_xl", "t2i_adapter", "", -1, NULL, 4 },
};

static nino_array *input(const nino_weights *io, const char *name, const char *other)
{
    const nino_tensor_info *t = nino_weights_find(io, name);
    t = t ? t : nino_weights_find(io, other);
    return t ? test_tensor(io, t->name, t->rank == 4) : NULL;
}

static nino_weights *open_model(const char *data, const char *file)
{
    return test_open("%s/%s%s", data, file, strstr(file, ".pth") ? "" : ".safetensors");
}

// The network, or what it becomes with the case's model.
static nino_control_net *load(const char *data, const control_case *c, nino_model **model)
{
    nino_error err = { 0 };
    nino_control_net *net = NULL, *bound = NULL;
    nino_weights *w = open_model(data, c->file);
    CHECK_OK(nino_control_load(w, c->file, &net, &err), err);
    CHECK_STR(net->family, c->family);
    nino_weights_unref(&w);
    *model = NULL;
    if (!c->model)
        return net;
    CHECK(net->needs_model);
    w = open_model(data, c->model);
    nino_diffusion *d = test_diffusion(w, "sdxl");
    CHECK((*model = nino_model_create(d)) != NULL);
    CHECK_OK(nino_control_bind(net, *model, &bound, &err), err);
    nino_diffusion_unref(&d);
    nino_control_unref(&net);
    nino_weights_unref(&w);
    return bound;
}

// Which of the residuals an output is; NULL: it is no output of this case.
static nino_tensor **slot_of(nino_residuals *r, const char *prefix, const char *name)
{
    const size_t n = strlen(prefix);
    int i = -1;
    if (strncmp(name, prefix, n) != 0)
        return NULL;
    name += n;
    if (!strcmp(name, "middle"))
        return &r->middle;
    if ((sscanf(name, "late_%d", &i) == 1 || sscanf(name, "output_%d", &i) == 1) && i >= 0)
        return &r->late[i];
    if ((sscanf(name, "after_%d", &i) == 1 || sscanf(name, "input_%d", &i) == 1) && i >= 0)
        return &r->after[i];
    return NULL;
}

static void check_outputs(test_device *d, const control_case *c, const nino_weights *io,
                          nino_residuals *r, nino_precision p)
{
    double worst = 0;
    int n = 0;
    for (int i = 0; i < nino_weights_count(io); i++) {
        const nino_tensor_info *t = nino_weights_at(io, i);
        nino_tensor **slot = slot_of(r, c->prefix, t->name);
        if (!slot)
            continue;
        nino_error err = { 0 };
        nino_array *want = test_tensor(io, t->name, t->rank == 4);
        nino_array *got = nino_download(d->s, nino_ref(*slot), NINO_F32);
        CHECK_OK(nino_stream_status(d->s, &err), err);
        CHECK(got != NULL);
        const double far = test_nmse(got, want);
        worst = far > worst ? far : worst;
        nino_array_unref(&got);
        nino_array_unref(&want);
        n++;
    }
    printf("  %s %s%s: %d maps, nmse %.1e\n", c->io, c->prefix, p == NINO_PREC_F32 ? "" : " f16", n,
           worst);
    CHECK(n == c->n && worst <= (p == NINO_PREC_F32 ? 1e-6 : 1e-3));
}

static void check_case(test_device *d, const char *data, const control_case *c, nino_precision p)
{
    nino_model *model;
    nino_weights *io = test_open("%s/synth/%s_io.safetensors", data, c->io);
    nino_control_net *net = load(data, c, &model);
    nino_array *x = input(io, "x", "x"), *hint = input(io, "hint", "hint");
    nino_array *t = input(io, "timestep", "t"), *context = input(io, "context", "context");
    nino_array *y = input(io, "y", "y"), *g = input(io, "guidance", "guidance");
    nino_stream_set_precision(d->s, p);
    for (int64_t i = 0; g && i < g->shape.dim[0]; i++) // one goes for a whole batch
        CHECK(nino_array_f32(g)[i] == nino_array_f32(g)[0]);
    const nino_forward in = { .x = test_up(d->s, x),
                              .timestep = t ? nino_array_f32(t) : NULL,
                              .context = test_up(d->s, context),
                              .y = test_up(d->s, y),
                              .guidance = g ? nino_array_f32(g)[0] : NAN };
    nino_control_hint read = { { NULL } };
    nino_residuals r = { .middle = NULL };
    net->prepare(d->s, net, test_up(d->s, hint), c->type, &read);
    net->forward(d->s, net, &in, &read, 1, &r);
    check_outputs(d, c, io, &r, p);
    nino_residuals_release(&r);
    nino_control_hint_release(&read);
    nino_unref(in.x);
    nino_unref(in.context);
    nino_unref(in.y);
    nino_array *all[] = { x, hint, t, context, y, g };
    for (int i = 0; i < 6; i++)
        nino_array_unref(&all[i]);
    nino_control_unref(&net);
    nino_model_unref(&model);
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
        for (const char *data = NULL; (data = test_data_next(data));) {
            const bool is_own = test_data_is_own(data);
            const control_case *list = is_own ? own : shared;
            const size_t n =
                is_own ? sizeof(own) / sizeof(own[0]) : sizeof(shared) / sizeof(shared[0]);
            for (size_t i = 0; i < n; i++) {
                check_case(&d, data, &list[i], NINO_PREC_F32);
                if (!strcmp(*name, "cl"))
                    check_case(&d, data, &list[i], NINO_PREC_F16);
            }
        }
        test_device_close(&d);
    }
    return 0;
}
