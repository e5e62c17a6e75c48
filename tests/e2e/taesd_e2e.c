// Latents through tiny autoencoders, from workflow file to PNG: the project's own one on both devices
// against torch's numbers; real ones against the reference pictures, and round trips against the
// reference's distance to the photo.
#include "core/base/file.h"
#include "core/file/latent_file.h"
#include "core/media/png.h"
#include "tests/flow.h"
#include "tests/vae.h"

static nino_array *read_png(const char *path)
{
    char *data = NULL;
    size_t len = 0;
    nino_error err = { 0 };
    nino_png p = { 0 };
    CHECK_OK(nino_file_read(path, 1 << 26, false, &data, &len, &err), err);
    CHECK_OK(nino_png_read(data, len, path, true, &p, &err), err);
    nino_array *a = nino_array_ref(p.pixels);
    const char *prompt = nino_png_text_get(&p, "prompt");
    CHECK(!strstr(path, "/output/") || (prompt && strstr(prompt, "VAEDecode")));
    nino_png_release(&p);
    free(data);
    return a;
}

static nino_graph *load(const char *assets, const char *form, const char *family)
{
    char path[512], name[64];
    nino_error err = { 0 };
    snprintf(name, sizeof(name), "%s_%s_shiba.json", form, family);
    snprintf(path, sizeof(path), "%s/taesd_ref/workflows/%s", assets, name);
    nino_graph *g = nino_graph_load_file(path, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    return g;
}

static void check_family(nino_ctx *ctx, const char *device, const char *assets, const char *family)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/taesd_ref/%s_shiba_decoded.png", assets, family);
    nino_array *want = read_png(path);
    snprintf(path, sizeof(path), "%s/taesd_ref/shiba_512x512.png", assets);
    nino_array *photo = read_png(path);
    for (int is_round_trip = 0; is_round_trip < 2; is_round_trip++) {
        nino_graph *g = load(assets, is_round_trip ? "roundtrip" : "decode", family);
        const flow_result r = flow_run(ctx, g, NULL);
        CHECK_OK(r.st, r.err);
        CHECK(r.n_paths == 1);
        CHECK(r.n_progress > 0 && r.last_done == r.last_total);
        nino_array *got = read_png(r.path[0]);
        const double psnr = test_psnr(got, want), worst = 255 * test_max_diff(got, want);
        const double distance = fabs(test_psnr(got, photo) - test_psnr(want, photo));
        printf("  %s %s %s: %.1f dB, largest difference %.0f, %.3f dB nearer or farther to the "
               "photo\n",
               device, family, is_round_trip ? "round trip" : "decode", psnr, worst, distance);
        CHECK(distance <= 0.1);
        CHECK(is_round_trip || (psnr >= 50 && worst < 2.01));
        nino_array_unref(&got);
        nino_graph_destroy(&g);
    }
    nino_array_unref(&want);
    nino_array_unref(&photo);
}

static nino_ctx *open_demo(const char *device, const char *input)
{
    static char output[512];
    const char *roots[] = { "data/tiny/models", NULL };
    nino_error err = { 0 };
    snprintf(output, sizeof(output), "%s/output", flow_temp());
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = device,
                                .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots,
                                                            .input_dir = input,
                                                            .output_dir = output } };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    CHECK(ctx || err.code == NINO_ERR_UNKNOWN); // there is no such device
    return ctx;
}

// The project's own autoencoder: the picture that torch made of a latent.
static void check_own(const char *device)
{
    nino_error err = { 0 };
    nino_ctx *ctx = open_demo(device, flow_temp());
    if (!ctx)
        return;
    nino_weights *e = test_open("data/tiny/expected.safetensors");
    nino_array *z = test_tensor(e, "decode_in", true), *want = test_tensor(e, "decode_out", true);
    for (int64_t i = 0; i < nino_shape_count(&want->shape); i++)
        nino_array_f32(want)[i] = fminf(fmaxf(nino_array_f32(want)[i], 0), 1);
    CHECK_OK(nino_latent_save(flow_temp(), "demo.latent", z, NULL, 0, &err), err);
    nino_graph *g = nino_graph_load_file("data/tiny/decode.json", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    const flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    nino_array *got = read_png(r.path[0]);
    const double worst = 255 * test_max_diff(got, want);
    printf("  %s demo: largest difference %.2f\n", device, worst);
    CHECK(worst < 1.01);
    nino_array *all[] = { z, want, got };
    for (int i = 0; i < 3; i++)
        nino_array_unref(&all[i]);
    nino_weights_unref(&e);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
}

// A small decode on both devices; also what the PNG reader gets of the saved workflow.
static void check_small(void)
{
    static const char flow[] =
        "{'1': {'class_type': 'LoadLatent', 'inputs': {'latent': 'demo.latent'}},"
        "'2': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'vae_tiny.safetensors'}},"
        "'5': {'class_type': 'LatentUpscaleBy', 'inputs': {'samples': ['1', 0], 'upscale_method': "
        "'area', 'scale_by': 0.125}},"
        "'3': {'class_type': 'VAEDecode', 'inputs': {'samples': ['5', 0], 'vae': ['2', 0]}},"
        "'4': {'class_type': 'SaveImage', 'inputs': {'filename_prefix': 'sm\\u00e4ll', 'images': "
        "['3', 0]}}}";
    nino_array *image[2] = { NULL, NULL };
    const char *device[2] = { "ref", "cl" };
    for (int i = 0; i < 2; i++) {
        nino_ctx *ctx = open_demo(device[i], "data/tiny/input");
        nino_graph *g = flow_graph(flow);
        if (ctx) {
            const flow_result r = flow_run(ctx, g, NULL);
            nino_error err = { 0 };
            CHECK_OK(r.st, r.err);
            image[i] = read_png(r.path[0]);
            CHECK(image[i]->shape.dim[1] == 64 && image[i]->shape.dim[2] == 64);
            nino_graph *again = nino_graph_load_file(r.path[0], &err); // the picture is a workflow
            CHECK_OK(again ? NINO_OK : err.code, err);
            CHECK(nino_graph_check(again, ctx, NULL, NULL) == 0);
            nino_graph_destroy(&again);
        }
        nino_graph_destroy(&g);
        nino_ctx_destroy(&ctx);
    }
    if (image[1]) {
        printf("  small, ref and cl differ by %.0f\n", 255 * test_max_diff(image[0], image[1]));
        CHECK(255 * test_max_diff(image[0], image[1]) < 1.01);
    }
    nino_array_unref(&image[0]);
    nino_array_unref(&image[1]);
}

static void check_real(const char *device, const char *assets)
{
    static const char *const families[] = { "taesd", "taef1", "taef2" };
    nino_ctx *ctx = flow_open(device, assets);
    for (int i = 0; ctx && i < 3; i++)
        check_family(ctx, device, assets, families[i]);
    nino_ctx_destroy(&ctx);
}

int main(void)
{
    const char *assets = test_assets();
    check_small();
    check_own("ref");
    check_own("cl");
    if (assets)
        check_real("cl", assets);
    else
        test_skip_part("the published networks");
    if (assets && getenv("NINODES_TEST_LONG")) // the reference device needs a minute a picture
        check_real("ref", assets);
    flow_clean();
    return 0;
}
