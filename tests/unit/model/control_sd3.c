// ControlNets of SD3 of several blocks: each sees what the one before it made, and what it gives goes
// to its share of the model's blocks; masks; models that they go with. Values of one block:
// tests/golden/control.c.
#include "core/model/control/control.h"
#include "tests/diffusion.h"

#define HIDDEN 192 // three heads, so that the model has three blocks
#define BLOCK "transformer_blocks.0."

static test_dir dir;
static nino_error err;

// The file's one block as number `at` of three. Of the others the modulation is zeros, with which a
// block hands its tokens on as they are; all outputs go through the same layer.
static nino_weights *three(const nino_weights *one, int at)
{
    nino_st_entry e[128];
    char name[128][96];
    int n = 0;
    for (int i = 0; i < nino_weights_count(one); i++) {
        const nino_tensor_info *t = nino_weights_at(one, i);
        const char *in_block =
            !strncmp(t->name, BLOCK, strlen(BLOCK)) ? t->name + strlen(BLOCK) : NULL;
        const bool is_out = !strncmp(t->name, "controlnet_blocks.0.", 20);
        for (int k = 0; k < (in_block || is_out ? 3 : 1); k++, n++) {
            nino_array *a = nino_weights_read_f32(one, t, &err);
            CHECK(a && n < 128);
            if (in_block && k != at && !strncmp(in_block, "norm1", 5))
                memset(a->data, 0, a->bytes);
            if (in_block)
                snprintf(name[n], sizeof(name[n]), "transformer_blocks.%d.%s", k, in_block);
            else if (is_out)
                snprintf(name[n], sizeof(name[n]), "controlnet_blocks.%d.%s", k, t->name + 20);
            else
                snprintf(name[n], sizeof(name[n]), "%s", t->name);
            e[n] = (nino_st_entry){ name[n], a };
        }
    }
    CHECK_OK(nino_st_save(dir.path, "a.safetensors", false, e, n, NULL, 0, &err), err);
    for (int i = 0; i < n; i++) {
        nino_array *a = (nino_array *) e[i].array;
        nino_array_unref(&a);
    }
    return test_open("%s/a.safetensors", dir.path);
}

static void run(test_device *d, const nino_weights *io, nino_weights *file, nino_residuals *r)
{
    nino_control_net *c = NULL;
    nino_control_hint read = { { NULL } };
    CHECK_OK(nino_control_load(file, "test", &c, &err), err);
    nino_array *x = test_tensor(io, "x", true), *hint = test_tensor(io, "hint", true);
    nino_array *t = test_tensor(io, "timestep", false), *y = test_tensor(io, "y", false);
    nino_array *context = test_tensor(io, "context", false);
    const nino_forward in = { .x = test_up(d->s, x),
                              .timestep = nino_array_f32(t),
                              .context = test_up(d->s, context),
                              .y = test_up(d->s, y),
                              .guidance = NAN };
    c->prepare(d->s, c, test_up(d->s, hint), -1, &read);
    c->forward(d->s, c, &in, &read, 1, r);
    CHECK_OK(nino_stream_status(d->s, &err), err);
    nino_control_hint_release(&read);
    nino_tensor *tensors[] = { in.x, in.context, in.y };
    nino_array *arrays[] = { x, hint, t, y, context };
    for (int i = 0; i < 3; i++)
        nino_unref(tensors[i]);
    for (int i = 0; i < 5; i++)
        nino_array_unref(&arrays[i]);
    nino_control_unref(&c);
}

static void check_order(test_device *d, const nino_weights *io, const nino_weights *one)
{
    for (int at = 0; at < 2; at++) {
        nino_weights *w = three(one, at);
        nino_residuals r = { .middle = NULL };
        run(d, io, w, &r);
        CHECK(r.after[0] && r.after[1] && !r.after[2]); // the model's last block gets nothing
        for (int k = 0; k < 2; k++) {
            nino_array *want = test_tensor(io, "after_0", false);
            nino_array *got = nino_download(d->s, nino_ref(r.after[k]), NINO_F32);
            const double far = test_nmse(got, want);
            printf("  block %d of 3, output %d: nmse %.1e\n", at, k, far);
            CHECK(k >= at ? far <= 1e-10 : far > 1e-3);
            nino_array_unref(&got);
            nino_array_unref(&want);
        }
        nino_residuals_release(&r);
        nino_weights_unref(&w);
    }
}

// A channel more is a mask's; another number is none's. More blocks than the model has are refused.
static void check_shapes(const nino_weights *one)
{
    static const struct {
        int64_t channels;
        bool is_known;
    } cases[] = { { 16, true }, { 17, true }, { 18, false } };
    for (int i = 0; i < 3; i++) {
        net_list l = { 0 };
        char path[96];
        for (int k = 0; k < nino_weights_count(one); k++) {
            const nino_tensor_info *t = nino_weights_at(one, k);
            int64_t dim[NINO_MAX_RANK];
            memcpy(dim, t->dim, sizeof(t->dim[0]) * (size_t) t->rank);
            if (!strcmp(t->name, "pos_embed_input.proj.weight"))
                dim[1] = cases[i].channels;
            net_add(&l, t->name, t->rank, dim);
        }
        snprintf(path, sizeof(path), "%s/a.safetensors", dir.path);
        net_save(&l, path, NINO_F16, NET_SPARSE);
        nino_weights *w = test_open("%s", path);
        nino_control_net *c = NULL;
        memset(&err, 0, sizeof(err));
        CHECK(!nino_control_load(w, "test", &c, &err) == cases[i].is_known);
        if (c)
            CHECK(c->has_mask == (cases[i].channels == 17) && c->wants_vae &&
                  c->format->shift == 0 && c->format->scale > 1);
        else
            CHECK(strstr(err.msg, "pos_embed_input") && !strcmp(err.kind, "model"));
        nino_control_unref(&c);
        nino_weights_unref(&w);
    }
}

static void check_models(nino_weights *one)
{
    static const struct {
        const char *file, *family;
        bool goes;
    } cases[] = { { "sd3_h64", "sd3", true }, { "sd15_unet_ch32", "sd15", false } };
    nino_control_net *c = NULL;
    CHECK_OK(nino_control_load(one, "test", &c, &err), err);
    CHECK_STR(c->detail, "ControlNet of SD3, 1 blocks");
    for (int i = 0; i < 2; i++) {
        nino_weights *w = test_open("tests/data/synth/%s.safetensors", cases[i].file);
        nino_diffusion *d = test_diffusion(w, cases[i].family);
        nino_model *m = nino_model_create(d);
        nino_control_net *bound = NULL;
        memset(&err, 0, sizeof(err));
        CHECK(!nino_control_bind(c, m, &bound, &err) == cases[i].goes);
        CHECK(cases[i].goes || strstr(err.msg, "for another family"));
        nino_control_unref(&bound);
        nino_model_unref(&m);
        nino_diffusion_unref(&d);
        nino_weights_unref(&w);
    }
    nino_control_unref(&c);
}

int main(void)
{
    static const char *const files[] = { "a.safetensors", NULL };
    test_device d;
    dir = test_dir_create();
    nino_weights *one = test_open("tests/data/synth/control_sd3.safetensors");
    nino_weights *io = test_open("tests/data/synth/control_sd3_io.safetensors");
    CHECK(test_device_open(&d, "ref", 0));
    check_order(&d, io, one);
    test_device_close(&d);
    check_shapes(one);
    check_models(one);
    nino_weights_unref(&io);
    nino_weights_unref(&one);
    test_dir_remove(&dir, files);
    return 0;
}
