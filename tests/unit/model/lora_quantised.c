// LoRAs on quantised weights: those stay as the file stores them, and the network with products
// beside them computes what the one with merged weights does; so does the one whose weights are
// made at each use, for changes that are no products, and it keeps none of them.
#include "core/model/merge/lora_apply.h"
#include "core/model/merge/merge.h"
#include "core/op/raw.h"
#include "tests/lora.h"

#include "tests/networks.h"

static nino_model *with(nino_model *m, nino_weights *file, double strength)
{
    nino_lora *l = NULL;
    nino_model *out = NULL;
    CHECK_OK(nino_lora_open(file, "lora", &l, &err), err);
    CHECK_OK(nino_model_with_lora(m, l, strength, true, NULL, &out, &err), err);
    CHECK(out != m);
    nino_lora_unref(&l);
    return out;
}

// The same model loaded from merged values.
static nino_diffusion *merged(const nino_model *m)
{
    nino_weights *view = NULL;
    nino_diffusion *d = NULL;
    CHECK_OK(nino_model_file(m, &view, &err), err);
    CHECK_OK(nino_diffusion_load(view, "merged", &d, &err), err);
    nino_weights_unref(&view);
    return d;
}

// Bytes of the weights that stay as stored, and how many have something beside them.
static uint64_t raw_bytes(const nino_diffusion *d, int *n_beside)
{
    uint64_t sum = 0;
    *n_beside = 0;
    for (const nino_layers_item *i = d->layers.items; i; i = i->next) {
        const nino_weight *w = i->weight;
        nino_raw_layout l;
        if (!w)
            continue;
        *n_beside += w->up != NULL;
        CHECK(!w->up == !w->down && (!w->up || (w->up->n == w->n && w->up->c == w->down->n)));
        sum += nino_raw_layout_of(w, &l) ? l.bytes : 0;
    }
    return sum;
}

// Layers whose weights are made at use; none of them is on the device.
static int count_made(const nino_diffusion *d)
{
    int n = 0;
    for (const nino_layers_item *i = d->layers.items; i; i = i->next)
        if (i->weight && i->weight->is_made) {
            CHECK(!i->weight->resident && !i->weight->up);
            n++;
        }
    return n;
}

static void check_equal(const nino_diffusion *plain, const nino_model *m, bool is_product,
                        const char *what)
{
    int n = 0, none = 0;
    const uint64_t before = raw_bytes(plain, &none), now = raw_bytes(m->net, &n);
    nino_diffusion *d = merged(m);
    nino_array *a = run(plain, 1, 4, 6), *b = run(m->net, 1, 4, 6), *c = run(d, 1, 4, 6);
    printf("  %-44s %d layers, %.1e of the merged, %.1e of the plain\n", what, n, test_nmse(b, c),
           test_nmse(b, a));
    CHECK(none == 0 && before > 0 &&
          (is_product ? n > 0 && now == before : n == 0 && now < before));
    CHECK(test_nmse(b, c) < 1e-11 && test_nmse(b, a) > 1e-9);
    CHECK(!count_made(plain) && !count_made(d) && (count_made(m->net) > 0) == !is_product);
    nino_array *all[] = { a, b, c };
    for (int i = 0; i < 3; i++)
        nino_array_unref(&all[i]);
    nino_diffusion_unref(&d);
}

// One LoRA, and the same twice.
static void check_files(const char *folder, const char *file, const char *lora)
{
    nino_diffusion *d = NULL;
    nino_weights *w = test_open("%s/models/diffusion_models/%s", folder, file);
    nino_weights *l = test_open("%s/models/loras/%s", folder, lora);
    CHECK_OK(nino_diffusion_load(w, file, &d, &err), err);
    nino_model *m = nino_model_create(d), *one = with(m, l, 0.8), *two = with(one, l, -0.3);
    check_equal(d, one, true, nino_name_of("%s, %s", file, lora).s);
    check_equal(d, two, true, "twice");
    nino_model *models[] = { two, one, m };
    for (int i = 0; i < 3; i++)
        nino_model_unref(&models[i]);
    nino_diffusion_unref(&d);
    nino_weights_unref(&l);
    nino_weights_unref(&w);
}

static nino_shape shape_of(const nino_weights *w, const char *name)
{
    const nino_tensor_info *t = nino_weights_find(w, name);
    CHECK(t != NULL);
    return nino_shape_make(t->rank, t->dim);
}

// Each of the other kinds on a few layers, which are fused where the model wants them so.
static void check_kinds(const char *folder, const char *file)
{
    static const char *const layers[] = { "double_blocks.0.img_attn.qkv", "single_blocks.0.linear1",
                                          "single_blocks.0.linear2" };
    nino_diffusion *d = NULL;
    nino_weights *w = test_open("%s/models/diffusion_models/%s", folder, file);
    CHECK_OK(nino_diffusion_load(w, file, &d, &err), err);
    nino_model *m = nino_model_create(d);
    for (int k = 0; lora_other_kinds[k]; k++) {
        lora_made l = { .seed = 7 };
        for (int i = 0; i < 3; i++) {
            const nino_shape s = shape_of(w, nino_name_of("%s.weight", layers[i]).s);
            lora_other(&l, k, layers[i], s.dim[0], s.dim[1]);
        }
        nino_weights *f = lora_save(&l, &dir, "kind");
        nino_model *one = with(m, f, 0.05);
        check_equal(d, one, false, nino_name_of("%s, %s", file, lora_other_kinds[k]).s);
        nino_model_unref(&one);
        nino_weights_unref(&f);
        lora_forget(&l);
    }
    nino_model_unref(&m);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

// A UNet in 8-bit floats, with convolutions of 3x3.
static nino_weights *unet_f8(void)
{
    nino_weights *w = made_unet(&tiny_sd, NULL);
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        nino_array *a = tensor(w, t), *b = t->rank > 1 ? nino_array_convert(a, NINO_F8_E4M3) : NULL;
        put(b ? b : a, t->name);
        if (b)
            nino_array_unref(&a);
    }
    nino_weights_unref(&w);
    return save_copy("f8");
}

static void check_unet(void)
{
    static const char conv[] = "input_blocks.1.0.in_layers.2", lin[] = "time_embed.0";
    nino_weights *w = unet_f8();
    nino_diffusion *d = NULL;
    lora_made low = { .seed = 3 }, other = { .seed = 4 };
    CHECK_OK(nino_diffusion_load(w, "unet", &d, &err), err);
    nino_model *m = nino_model_create(d);
    const nino_shape c = shape_of(w, nino_name_of("%s.weight", conv).s);
    const nino_shape t = shape_of(w, nino_name_of("%s.weight", lin).s);
    lora_tensor(&low, nino_name_of("%s.lora_down.weight", conv).s, NINO_SHAPE(3, c.dim[1], 3, 3));
    lora_tensor(&low, nino_name_of("%s.lora_up.weight", conv).s, NINO_SHAPE(c.dim[0], 3, 1, 1));
    lora_tensor(&low, nino_name_of("%s.lora_down.weight", lin).s, NINO_SHAPE(5, t.dim[1]));
    lora_tensor(&low, nino_name_of("%s.lora_up.weight", lin).s, NINO_SHAPE(t.dim[0], 5));
    nino_weights *file = lora_save(&low, &dir, "low");
    nino_model *one = with(m, file, 0.05);
    check_equal(d, one, true, "8-bit UNet, convolution and linear layer");
    nino_weights_unref(&file);
    lora_tensor(&other, nino_name_of("%s.hada_w1_a", lin).s, NINO_SHAPE(t.dim[0], 2));
    lora_tensor(&other, nino_name_of("%s.hada_w1_b", lin).s, NINO_SHAPE(2, t.dim[1]));
    lora_tensor(&other, nino_name_of("%s.hada_w2_a", lin).s, NINO_SHAPE(t.dim[0], 2));
    lora_tensor(&other, nino_name_of("%s.hada_w2_b", lin).s, NINO_SHAPE(2, t.dim[1]));
    file = lora_save(&other, &dir, "other");
    nino_model *two = with(m, file, 0.05);
    check_equal(d, two, false, "8-bit UNet, LoHa");
    nino_model *models[] = { two, one, m };
    for (int i = 0; i < 3; i++)
        nino_model_unref(&models[i]);
    lora_forget(&low);
    lora_forget(&other);
    nino_diffusion_unref(&d);
    nino_weights_unref(&file);
    nino_weights_unref(&w);
}

int main(void)
{
    static const char *const made_files[] = { "ldm", "f8", "low", "other", "kind", NULL };
    static const char *const tiny[] = { "flux_tiny_fp8_e4m3fn_scaled.safetensors",
                                        "flux_tiny_q8_0.gguf", "flux_tiny_q4_K.gguf" };
    static const char *const dialects[] = { "flux_tiny_kohya.safetensors",
                                            "flux_tiny_comfy.safetensors",
                                            "flux_tiny_diffusers.safetensors" };
    CHECK(test_device_open(&dev, "ref", 0));
    dir = test_dir_create();
    check_unet();
    check_files("data/demo", "demo_flux_fp8_scaled.safetensors", "demo_outline.safetensors");
    check_files("data/demo", "demo_flux_Q8_0.gguf", "demo_outline.safetensors");
    check_kinds("data/demo", "demo_flux_fp8_scaled.safetensors");
    check_kinds("data/demo", "demo_flux_Q8_0.gguf");
    for (int i = 0; i < 3 && test_assets(); i++) {
        check_files(test_assets(), tiny[i], dialects[i]);
        check_kinds(test_assets(), tiny[i]);
    }
    if (!test_assets())
        test_skip_part("Q4_K and other dialects: no test data folder");
    test_device_close(&dev);
    test_dir_remove(&dir, made_files);
    return 0;
}
