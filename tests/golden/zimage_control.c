// Fun ControlNets of Z-Image in its transformer against torch (tests/data/make/zimage_control.py): all
// versions, strengths, odd sides, padded and complete tokens, two networks at once; rows of a batch
// that share what they see.
#include "core/model/diffusion/model_patch.h"
#include "core/model/loader.h"
#include "core/model/zimage/zimage.h"
#include "tests/diffusion.h"

enum { ONE, LITE, FULL, BROKEN, NETS };

static const char *const files[NETS] = { "zimage_fun_own", "zimage_fun_own_lite",
                                         "zimage_fun_own_2.1", "2.0" };
static const int layers[NETS] = { 6, 3, 15, 15 };

static const struct {
    const char *name;
    struct {
        int net;
        double strength; // 0: there is none
    } ask[2];
} cases[] = {
    { "one", { { ONE, 1 } } },         { "odd", { { ONE, -0.6 } } },
    { "lite", { { LITE, 0.7 } } },     { "full", { { FULL, 1 } } },
    { "broken", { { BROKEN, 0.8 } } }, { "both", { { ONE, 0.5 }, { LITE, 1 } } },
};

static test_dir dir;

static nino_array *part(const nino_weights *io, int i, const char *what, bool is_picture)
{
    return test_tensor(io, nino_name_of("%s.%s", cases[i].name, what).s, is_picture);
}

// Twice x, and other times.
static nino_array *twice(const nino_array *x)
{
    nino_shape shape = x->shape;
    shape.dim[0] = 2;
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a != NULL);
    memcpy(a->data, x->data, x->bytes);
    memcpy((char *) a->data + x->bytes, x->data, x->bytes);
    return a;
}

// A batch of two texts for one latent gives each what it has alone, also where the patch is told
// that they see the same, and each row its own where times differ.
static void check_batch(test_device *d, const nino_diffusion *net, const test_inputs *one,
                        const nino_array *alone, double most)
{
    nino_pass pass = *one->pass;
    nino_array *x = twice(one->x), *context = twice(one->context);
    const size_t half = context->bytes / 2;
    const float times[] = { one->timestep[0], 0.2f };
    for (size_t i = 0; i < half / sizeof(float); i++)
        nino_array_f32(context)[half / sizeof(float) + i] *= -0.5f;
    test_inputs in = { .x = x, .context = context, .pass = &pass };
    const float same[] = { times[0], times[0] };
    nino_array *got[3], *row;
    in.timestep = same;
    got[0] = test_forward(d->s, net, &in);
    pass.is_same_x = true;
    got[1] = test_forward(d->s, net, &in);
    CHECK(test_nmse(got[1], got[0]) <= most);
    pass.is_same_x = false;
    in.timestep = times;
    got[2] = test_forward(d->s, net, &in);
    for (int i = 0; i < 3; i++) {
        row = test_item(got[i], 0);
        CHECK(test_nmse(row, alone) <= most);
        nino_array_unref(&row);
    }
    CHECK(test_nmse(got[2], got[0]) > 1e-4);
    nino_array *all[] = { x, context, got[0], got[1], got[2] };
    for (int i = 0; i < 5; i++)
        nino_array_unref(&all[i]);
}

static void check_case(test_device *d, const nino_diffusion *net, nino_block_net *const *nets,
                       const nino_weights *io, int i, double most)
{
    nino_block_use use[2];
    nino_patch patch[2];
    nino_array *hint[2] = { NULL };
    nino_array *x = part(io, i, "x", true), *c = part(io, i, "context", false);
    nino_array *t = part(io, i, "timestep", false), *want = part(io, i, "out", true);
    nino_pass pass = { .patch = patch, .hint = hint, .active = ~(uint32_t) 0, .images = 1 };
    for (int k = 0; k < 2 && cases[i].ask[k].strength != 0; k++) {
        use[k] = (nino_block_use){ .net = nets[cases[i].ask[k].net],
                                   .strength = cases[i].ask[k].strength };
        hint[k] = part(io, i, k ? "hint1" : "hint0", true);
        patch[k] = (nino_patch){ .kind = NINO_PATCH_BLOCK_CONTROL, .control = &use[k] };
        pass.n_patches++;
    }
    const test_inputs in = { .x = x, .context = c, .timestep = nino_array_f32(t), .pass = &pass };
    nino_array *got = test_forward(d->s, net, &in);
    const double e = test_nmse(got, want);
    printf("    %s: nmse %.1e\n", cases[i].name, e);
    CHECK(e <= most);
    if (most < 1e-6) // in full precision
        check_batch(d, net, &in, got, most);
    nino_array_unref(&got);
    pass.active = 0; // out of its range it does nothing
    got = test_forward(d->s, net, &in);
    CHECK(test_nmse(got, want) > 1e-3);
    nino_array *all[] = { x, c, t, want, hint[0], hint[1], got };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        nino_array_unref(&all[k]);
}

// Version 2.0: 2.1 whose refiners answer nothing.
static nino_weights *made_broken(const char *data)
{
    nino_weights *w = test_open("%s/models/model_patches/%s.safetensors", data, files[FULL]);
    char path[80];
    const size_t n = (size_t) nino_weights_file_bytes(w);
    char *all = malloc(n);
    nino_error err = { 0 };
    CHECK(all != NULL);
    CHECK_OK(nino_weights_read_head(w, all, n, &err), err);
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        if (strstr(t->name, "refiner") && strstr(t->name, "after_proj"))
            memset(all + t->offset, 0, (size_t) t->bytes);
    }
    snprintf(path, sizeof(path), "%s/2.0.safetensors", dir.path);
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(all, 1, n, f) == n && !fclose(f));
    free(all);
    nino_weights_unref(&w);
    return test_open("%s", path);
}

static void check_all(test_device *d, const char *data, nino_precision p)
{
    nino_block_net *nets[NETS];
    nino_error err = { 0 };
    nino_weights *w = test_open("%s/models/diffusion_models/z_image_own.safetensors", data);
    nino_weights *io = test_open("%s/synth/zimage_control_io.safetensors", data);
    nino_diffusion *net = test_diffusion(w, "z_image");
    for (int k = 0; k < NETS; k++) {
        nino_weights *f = k == BROKEN
                              ? made_broken(data)
                              : test_open("%s/models/model_patches/%s.safetensors", data, files[k]);
        CHECK_OK(nino_model_patch_load(f, files[k], &nets[k], &err), err);
        CHECK(nets[k]->hidden == 32 && nets[k]->n_blocks == layers[k]);
        CHECK(nets[k]->has_inpaint == (k != ONE) && nets[k]->zimage->is_broken == (k == BROKEN));
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
    static const char *const made[] = { "2.0.safetensors", NULL };
    dir = test_dir_create();
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
    test_dir_remove(&dir, made);
    return 0;
}
