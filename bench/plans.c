// What real models would need on a device that is not here: files with the tensors of published
// shape lists and without data, workflows over them, and a plan of each as a Markdown table.
//   bench/plans [--shapes DIR] [--profile NAME] [--only TEXT]
#include "core/base/buf.h"
#include "core/file/weights.h"
#include "tests/shape_list.h"
#include "tests/vae.h"
#include <ninodes/ninodes.h>

#include <fcntl.h>
#include <sys/stat.h>

static nino_error err;

#include "bench/plans_flows.h"

// ---- files without data ----------------------------------------------------------------------
typedef struct model {
    const char *list, *path; // of the shapes; below the models folder
    const char *type;        // how matrices are stored
    int bytes;
} model;

static const model models[] = {
    { "wan22_i2v_A14B_each.txt", "diffusion_models/high.safetensors", "F8_E4M3", 1 },
    { "wan22_i2v_A14B_each.txt", "diffusion_models/low.safetensors", "F8_E4M3", 1 },
    { "wan22_ti2v_5B.txt", "diffusion_models/ti2v.safetensors", "F16", 2 },
    { "umt5xxl_encoder.txt", "text_encoders/umt5.safetensors", "F8_E4M3", 1 },
    { "wan21_vae.txt", "vae/wan21.safetensors", "BF16", 2 },
    { "wan22_vae.txt", "vae/wan22.safetensors", "BF16", 2 },
    { "sd35_medium.txt", "diffusion_models/sd35_medium.safetensors", "F16", 2 },
    { "sd35_large.txt", "diffusion_models/sd35_large.safetensors", "F8_E4M3", 1 },
    { "chroma1.txt", "diffusion_models/chroma.safetensors", "BF16", 2 },
    { "qwen_image.txt", "diffusion_models/qwen_image.safetensors", "BF16", 2 },
    { "qwen25_vl_7b.txt", "text_encoders/qwen25.safetensors", "F8_E4M3", 1 },
    { "z_image.txt", "diffusion_models/z_image.safetensors", "BF16", 2 },
    { "flux2_klein_4b.txt", "diffusion_models/klein_4b.safetensors", "BF16", 2 },
    { "flux2_klein_9b.txt", "diffusion_models/klein_9b.safetensors", "F8_E4M3", 1 },
    { "flux2_dev.txt", "diffusion_models/flux2_dev.safetensors", "F8_E4M3", 1 },
    { "qwen3_4b_encoder.txt", "text_encoders/qwen3_4b.safetensors", "BF16", 2 },
    { "qwen3_8b_encoder.txt", "text_encoders/qwen3_8b.safetensors", "F8_E4M3", 1 },
    { "vae_flux_sd3.txt", "vae/flux.safetensors", "BF16", 2 },
    { "vae_flux2.txt", "vae/flux2.safetensors", "BF16", 2 },
    { "flux_dev.txt", "diffusion_models/flux.safetensors", "BF16", 2 },
    { "sd15_unet.txt", "diffusion_models/sd15.safetensors", "F16", 2 },
    { "sdxl_unet.txt", "diffusion_models/sdxl.safetensors", "F16", 2 },
    { "t5xxl_encoder.txt", "text_encoders/t5xxl.safetensors", "F16", 2 },
    { "clip_l.txt", "text_encoders/clip_l.safetensors", "F16", 2 },
    { "clip_g.txt", "text_encoders/clip_g.safetensors", "F16", 2 },
    { "vae_sd1_sdxl.txt", "vae/sdxl.safetensors", "F16", 2 },
};

typedef struct header {
    nino_buf json;
    uint64_t at;
    const model *m;
} header;

static void add_tensor(void *priv, const char *name, int rank, const int64_t *dim)
{
    header *h = priv;
    uint64_t count = 1;
    const bool is_matrix = rank == 2;
    const char *type = is_matrix ? h->m->type : h->m->bytes == 1 ? "F32" : h->m->type;
    nino_buf_addf(&h->json, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", h->json.len ? "," : "{", name,
                  type);
    for (int i = 0; i < rank; i++) {
        nino_buf_addf(&h->json, "%s%lld", i ? "," : "", (long long) dim[i]);
        count *= (uint64_t) dim[i];
    }
    const uint64_t end = h->at + count * (is_matrix || h->m->bytes > 1 ? h->m->bytes : 4);
    nino_buf_addf(&h->json, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long) h->at,
                  (unsigned long long) end);
    h->at = end;
}

// A text encoder of Wan has its tokenizer inside; the small model's is of the same kind.
static nino_array *tokenizer_of(const char *assets)
{
    nino_weights *w = test_open("%s/models/text_encoders/umt5_tiny.safetensors", assets);
    const nino_tensor_info *t = nino_weights_find(w, "spiece_model");
    CHECK(t != NULL);
    nino_array *a = nino_array_create(NINO_U8, NINO_SHAPE(t->dim[0]));
    CHECK(a != NULL);
    CHECK_OK(nino_weights_read(w, t, a->data, &err), err);
    nino_weights_unref(&w);
    return a;
}

static bool write_model(const model *m, const char *shapes, const char *assets, const char *root)
{
    char path[600];
    header h = { .m = m };
    nino_array *words = strstr(m->path, "umt5") ? tokenizer_of(assets) : NULL;
    snprintf(path, sizeof(path), "%s/%s", shapes, m->list);
    if (!shape_list_each(path, add_tensor, &h)) {
        fprintf(stderr, "plans: no %s\n", path);
        return false;
    }
    if (words)
        nino_buf_addf(&h.json,
                      ",\"spiece_model\":{\"dtype\":\"U8\",\"shape\":[%zu],"
                      "\"data_offsets\":[%llu,%llu]}",
                      words->bytes, (unsigned long long) h.at,
                      (unsigned long long) (h.at + words->bytes));
    nino_buf_addc(&h.json, '}');
    const uint64_t len = h.json.len;
    snprintf(path, sizeof(path), "%s/%s", root, m->path);
    *strrchr(path, '/') = 0;
    mkdir(path, 0777);
    snprintf(path, sizeof(path), "%s/%s", root, m->path);
    const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CHECK(fd >= 0 && write(fd, &len, 8) == 8 && write(fd, h.json.data, len) == (ssize_t) len);
    CHECK(!ftruncate(fd, (off_t) (8 + len + h.at + (words ? words->bytes : 0))));
    if (words)
        CHECK(pwrite(fd, words->data, words->bytes, (off_t) (8 + len + h.at)) ==
              (ssize_t) words->bytes);
    CHECK(!close(fd));
    nino_array_unref(&words);
    nino_buf_release(&h.json);
    return true;
}

// ---- tables ----------------------------------------------------------------------------------
static void print_row(const char *name, double flops, uint64_t peak, double seconds)
{
    printf("| %s | %.2f | %.2f | %.1f |\n", name, flops * 1e-12, (double) peak / 0x1p30, seconds);
}

// Nodes, and below those that sample one step.
static void print_scopes(const nino_plan *p)
{
    bool has_step = false;
    for (size_t i = 0; i < p->n_scopes; i++) {
        const nino_plan_scope *s = &p->scopes[i];
        const char *last = strstr(s->name, " / step");
        if (!s->depth)
            has_step = false;
        if (!s->depth && s->flops > 0)
            print_row(s->name, s->flops, s->peak_bytes, s->seconds);
        else if (s->depth == 1 && last && s->flops > 0 && !has_step) {
            print_row("&nbsp; first step", s->flops, s->peak_bytes, s->seconds);
            has_step = true;
        }
    }
}

#define PUBLISHED                                                                                  \
    "Published by kyuz0 for Qwen-Image: seconds of a whole cold run of ComfyUI with "              \
    "Qwen-Image-2512 in bf16 on a Strix Halo,\nreading of files included "                         \
    "(kyuz0/amd-strix-halo-comfyui-toolboxes, docs/benchmark_results.json of 11 February "         \
    "2026).\n"

// Where the tables come from and what their seconds rest on.
static void print_head(nino_ctx *ctx, const char *profile)
{
    nino_plan p = { 0 };
    nino_graph *g = make_graph(&runs[0]);
    CHECK_OK(nino_graph_plan(ctx, g, profile, NULL, &p, &err), err);
    const nino_plan_basis *b = &p.basis;
    printf(
        "# Plans on %s\n\nWritten by `make plans`: files with the tensors of the published shape "
        "lists and no data (of WAN and Qwen-Image experts and text\nencoders in 8-bit floats, WAN "
        "5B "
        "in f16, Qwen-Image and VAEs in bf16), walked by the plan backend with the profile "
        "`data/devices/%s.json`%s%s.\n"
        "Seconds follow from that profile's figures: products reach at most %.0f %%, convolutions "
        "%.0f "
        "%%, attention %.0f %% of the %s peak,\n%.1f TFLOPS; memory %.0f GB/s. **These shares "
        "are assumed: nothing was measured on such a device.** ComfyUI's example\nsettings: A14B "
        "20 steps of two evaluations, the second expert from the tenth; 5B 30 steps. Peak is what "
        "the pool holds by\nthe end of a stage, weights included: both experts stay.\nText "
        "encoders "
        "of Z-Image and FLUX.2 are bf16 with bf16 models, else 8-bit floats.\n\n" PUBLISHED,
        p.profile, p.profile, *b->date ? " of " : "", b->date, 100 * b->efficiency_gemm,
        100 * b->efficiency_conv, 100 * b->efficiency_attn, b->peak_type, b->peak * 1e-12,
        b->bandwidth * 1e-9);
    nino_plan_release(&p);
    nino_graph_destroy(&g);
}

static void print_run(nino_ctx *ctx, const run *r, const char *profile)
{
    nino_plan p = { 0 };
    nino_graph *g = make_graph(r);
    printf("\n## %s\n\n", r->title);
    if (nino_graph_plan(ctx, g, profile, NULL, &p, &err)) {
        printf("%s: %s\n", err.where, err.msg);
    } else {
        printf("| stage | TFLOP | peak GiB | seconds, assumed |\n|---|---|---|---|\n");
        print_scopes(&p);
        print_row("**total**", p.flops, p.peak_bytes, p.seconds);
        printf("\nWeights %.2f GiB on the device, activations and workspace at most %.2f GiB.\n",
               (double) p.weight_bytes / 0x1p30, (double) p.peak_activation_bytes / 0x1p30);
        printf("At all of the peak and the bandwidth it would be %.1f seconds.\n",
               p.basis.least_seconds);
        if (r->published)
            printf("Published for ComfyUI: %s.\n", r->published);
    }
    nino_plan_release(&p);
    nino_graph_destroy(&g);
}

// What a stage's seconds are made of: its arithmetic at the rate that its kernels are predicted to reach, or what it
// moves.
static void print_made_of(const nino_plan *p, double peak)
{
    printf("| stage | TFLOP | GB | seconds, predicted | TFLOPS | of the peak "
           "|\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < p->n_scopes; i++) {
        const nino_plan_scope *s = &p->scopes[i];
        if (!s->depth && s->seconds > 0.001)
            printf("| %s | %.2f | %.1f | %.2f | %.1f | %.0f %% |\n", s->name, s->flops * 1e-12,
                   s->bytes * 1e-9, s->seconds, s->flops / s->seconds * 1e-12,
                   100 * s->flops / s->seconds / peak);
    }
    printf("| **total** | %.2f | %.1f | %.2f | %.1f | %.0f %% |\n", p->flops * 1e-12,
           p->bytes * 1e-9, p->seconds, p->flops / p->seconds * 1e-12,
           100 * p->flops / p->seconds / peak);
}

static void print_forecast(nino_ctx *ctx, const run *r, const char *profile)
{
    nino_plan p = { 0 };
    nino_graph *g = make_graph(r);
    printf("\n## %s\n\n", r->title);
    if (nino_graph_plan(ctx, g, profile, NULL, &p, &err)) {
        printf("%s: %s\n", err.where, err.msg);
    } else {
        print_made_of(&p, p.basis.peak);
        printf("\nLower bound, at all of the peak or of the bandwidth: %.2f s. Published: %s.\n",
               p.basis.least_seconds, r->published);
    }
    nino_plan_release(&p);
    nino_graph_destroy(&g);
}

static void print_forecast_head(const char *profile)
{
    printf(
        "# Forecast for %s\n\nWritten by `make plans`. **Nothing here was measured on such a "
        "device.** A kernel's seconds are its arithmetic divided by the peak,\nby the share that "
        "its main loop can reach by the clock model of the gate (`core/op/clocks_list.h`) and its "
        "tiles fill, and by the\nassumed share of that bound (`data/devices/%s.json`), or what it "
        "moves at the profile's bandwidth if that is longer; plus scores\nand expanded weights "
        "that go through memory, plus the launch. TFLOPS are TFLOP / seconds.\n\n" PUBLISHED,
        profile, profile);
}

int main(int argc, char **argv)
{
    char root[300], shapes[512], tokenizers[512];
    const char *b = getenv("B"), *assets = test_assets(), *profile = "gfx1151", *only = NULL;
    bool is_forecast = false;
    if (!assets)
        return test_skip("no test data folder");
    snprintf(shapes, sizeof(shapes), "%s/../spec/models/shapes", assets);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--shapes"))
            snprintf(shapes, sizeof(shapes), "%s", argv[i + 1]);
        else if (!strcmp(argv[i], "--profile"))
            profile = argv[i + 1];
        else if (!strcmp(argv[i], "--only"))
            only = argv[i + 1];
        else if (!strcmp(argv[i], "--forecast"))
            is_forecast = true;
    }
    snprintf(root, sizeof(root), "%s/bench-data", b ? b : "build");
    mkdir(root, 0777);
    snprintf(root, sizeof(root), "%s/bench-data/plans", b ? b : "build");
    mkdir(root, 0777);
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
        if (!write_model(&models[i], shapes, assets, root))
            return 1;
    snprintf(tokenizers, sizeof(tokenizers), "%s/models", assets);
    const char *roots[] = { root, tokenizers, NULL };
    nino_ctx *ctx = nino_ctx_create(
        &(nino_ctx_params){ NINO_CTX_PARAMS_INIT, .device = "ref",
                            .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots } },
        &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    is_forecast ? print_forecast_head(profile) : print_head(ctx, profile);
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        const run *r = &runs[i];
        if (only && !strstr(r->title, only))
            continue;
        if (!is_forecast)
            print_run(ctx, r, profile);
        else if (r->published)
            print_forecast(ctx, r, profile);
    }
    nino_ctx_destroy(&ctx);
    return 0;
}
