// AutoencoderKL against torch's and ComfyUI's own decodes of small models with random weights.
#include "tests/vae.h"

static const nino_tile_params whole = { .style = NINO_TILE_NEVER };

static nino_vae *load(const char *assets, const char *file, const char *family)
{
    nino_error err = { 0 };
    nino_vae *v = NULL;
    nino_weights *w = test_open("%s/models/%s", assets, file);
    CHECK_OK(nino_vae_load(w, file, &v, &err), err);
    nino_weights_unref(&w);
    CHECK_STR(v->family, family);
    CHECK(v->factor == 8 && v->has_encoder && v->has_decoder);
    return v;
}

static void check_images(test_device *d, const char *assets, const nino_vae *v, const char *ref,
                         const char *const *runs)
{
    nino_weights *w = test_open("%s/e2e/expected/%s", assets, ref);
    for (; *runs; runs++) {
        char name[96];
        snprintf(name, sizeof(name), "%s/latent_comfy", *runs);
        nino_array *z = test_tensor(w, name, true);
        snprintf(name, sizeof(name), "%s/samples_model_space", *runs);
        nino_array *m = test_tensor(w, name, true);
        snprintf(name, sizeof(name), "%s/image", *runs);
        nino_array *want = test_tensor(w, name, false);
        nino_array *got = test_decode(d, v, z, &whole, NULL);
        printf("  %s %s: nmse %.2e, largest difference %.2e\n", v->family, *runs,
               test_nmse(got, want), test_max_diff(got, want));
        CHECK(test_nmse(got, want) <= 1e-6);
        // the family's scale and shift lead from the node latent to the model's
        for (int64_t i = 0; i < nino_shape_count(&z->shape); i++)
            nino_array_f32(z)[i] = (float) (((double) nino_array_f32(z)[i] - v->shift) * v->scale);
        CHECK(test_nmse(z, m) <= 1e-10);
        nino_array_unref(&z);
        nino_array_unref(&m);
        nino_array_unref(&want);
        nino_array_unref(&got);
    }
    nino_weights_unref(&w);
}

int main(void)
{
    static const char *const flux[] = { "gguf_q4_K", "bf16", NULL };
    static const char *const sd[] = { "dpmpp_2m", "euler", NULL };
    static const char *const own_flux[] = { "bf16", NULL }, *const own_sd[] = { "euler", NULL };
    static const char *const devices[] = { "ref", "cl", NULL };
    for (const char *const *name = devices; *name; name++) {
        const bool is_ref = !strcmp(*name, "ref"); // one picture each: it is slow
        test_device d;
        if (!test_device_open(&d, *name, 0))
            continue;
        printf("%s\n", *name);
        for (const char *data = NULL; (data = test_data_next(data));) {
            const bool is_own = test_data_is_own(data);
            nino_vae *f = load(data, "vae/ae_tiny.safetensors", "flux");
            nino_vae *s = load(data, "checkpoints/sd15_tiny.safetensors", "sd1");
            CHECK(f->channels == 16 && s->channels == 4);
            check_images(&d, data, f, "flux_tiny_ref.safetensors",
                         is_own ? own_flux : flux + is_ref);
            check_images(&d, data, s, "sd15_tiny_ref.safetensors", is_own ? own_sd : sd + is_ref);
            nino_vae_unref(&f);
            nino_vae_unref(&s);
        }
        test_device_close(&d);
    }
    return 0;
}
