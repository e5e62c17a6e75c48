// From prompt to conditioning: the conds of torch's and the reference's runs (SD1.5, Flux, Wan), on
// ref and cl.
#include "core/model/clip/text_encoder.h"
#include "tests/clip.h"

static const char *assets;
static test_services services_data;
static nino_text_services services;

static nino_clip *load(const char *a, const char *b, nino_clip_type type)
{
    nino_error err = { 0 };
    nino_clip *c = NULL;
    nino_weights *w[2] = { test_open("%s/models/%s", assets, a),
                           b ? test_open("%s/models/%s", assets, b) : NULL };
    CHECK_OK(nino_clip_load(w, b ? 2 : 1, type, &services, a, &c, &err), err);
    nino_weights_unref(&w[0]);
    nino_weights_unref(&w[1]);
    return c;
}

static void check(const char *device, nino_stream *s, const nino_clip *c, const char *prompt,
                  const nino_weights *ref, const char *context, const char *pooled)
{
    nino_cond *cond = test_clip_encode(s, c, &(nino_clip_text){ .all = prompt });
    nino_array *want = test_tensor(ref, context, false);
    const double d = test_nmse(cond->entry[0].context, want);
    double dp = 0;
    nino_array_unref(&want);
    if (pooled) {
        want = test_tensor(ref, pooled, false);
        dp = test_nmse(cond->entry[0].pooled, want);
        nino_array_unref(&want);
    }
    printf("  %s %s %s: NMSE %.1e, pooled %.1e\n", device, c->name, context, d, dp);
    CHECK(d <= 1e-6 && dp <= 1e-6);
    nino_cond_unref(&cond);
}

static void test_on(const char *device)
{
    test_device d;
    if (!test_device_open(&d, device, 0)) {
        printf("  %s: no such device here\n", device);
        return;
    }
    const char *cat = "a photo of a cat", *blurry = "blurry, low quality";
    nino_weights *ref = test_open("%s/e2e/expected/sd15_tiny_ref.safetensors", assets);
    nino_clip *c = load("checkpoints/sd15_tiny.safetensors", NULL, NINO_CLIP_SD1);
    check(device, d.s, c, cat, ref, "cond", NULL);
    check(device, d.s, c, blurry, ref, "uncond", NULL);
    nino_clip_unref(&c);
    nino_weights_unref(&ref);

    ref = test_open("%s/e2e/expected/flux_tiny_ref.safetensors", assets);
    c = load("text_encoders/t5xxl_tiny.safetensors", "text_encoders/clip_l_tiny.safetensors",
             NINO_CLIP_FLUX);
    check(device, d.s, c, cat, ref, "cond", "pooled");
    nino_clip_unref(&c);
    nino_weights_unref(&ref);

    ref = test_open("%s/e2e/expected/wan_tiny_ref.safetensors", assets);
    c = load("text_encoders/umt5_tiny.safetensors", NULL, NINO_CLIP_WAN);
    check(device, d.s, c, cat, ref, "cond", NULL);
    check(device, d.s, c, blurry, ref, "uncond", NULL);
    nino_clip_unref(&c);
    nino_weights_unref(&ref);
    test_device_close(&d);
}

int main(void)
{
    while ((assets = test_data_next(assets))) {
        printf("%s\n", assets);
        services = test_services_open(&services_data, assets);
        test_on("ref");
        test_on("cl");
        test_services_close(&services_data);
    }
    return 0;
}
