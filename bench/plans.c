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

// ---- workflows -------------------------------------------------------------------------------
typedef struct run {
    const char *title;
    int width, height, frames;
    bool is_5b;
} run;

static const run runs[] = {
    { "WAN 2.2 A14B image to video, 320x320, 17 frames", 320, 320, 17, false },
    { "WAN 2.2 A14B image to video, 1280x720, 81 frames", 1280, 720, 81, false },
    { "WAN 2.2 5B image to video, 1280x704, 121 frames", 1280, 704, 121, true },
};

// ComfyUI's example: 20 steps, the second expert from the tenth on.
static void print_pair(nino_buf *b, const run *r)
{
    nino_buf_addf(
        b,
        "'1': {'class_type': 'UNETLoader', 'inputs': {'unet_name': 'high.safetensors', "
        "'weight_dtype': 'default'}}, '2': {'class_type': 'UNETLoader', 'inputs': {'unet_name': "
        "'low.safetensors', 'weight_dtype': 'default'}}, '8': {'class_type': 'VAELoader', "
        "'inputs': {'vae_name': 'wan21.safetensors'}}, '10': {'class_type': 'WanImageToVideo', "
        "'inputs': {'positive': ['6', 0], 'negative': ['7', 0], 'vae': ['8', 0], 'width': %d, "
        "'height': %d, 'length': %d, 'batch_size': 1, 'start_image': ['9', 0]}}, ",
        r->width, r->height, r->frames);
    for (int i = 0; i < 2; i++)
        nino_buf_addf(
            b,
            "'%d': {'class_type': 'ModelSamplingSD3', 'inputs': {'model': ['%d', 0], 'shift': 8}}, "
            "'%d': {'class_type': 'KSamplerAdvanced', 'inputs': {'model': ['%d', 0], 'add_noise': "
            "'%s', 'noise_seed': 0, 'steps': 20, 'cfg': 3.5, 'sampler_name': 'euler', 'scheduler': "
            "'simple', 'positive': ['10', 0], 'negative': ['10', 1], 'latent_image': ['%d', %d], "
            "'start_at_step': %d, 'end_at_step': %d, 'return_with_leftover_noise': '%s'}}, ",
            3 + i, 1 + i, 11 + i, 3 + i, i ? "disable" : "enable", i ? 11 : 10, i ? 0 : 2, 10 * i,
            i ? 10000 : 10, i ? "disable" : "enable");
}

static void print_5b(nino_buf *b, const run *r)
{
    nino_buf_addf(
        b,
        "'1': {'class_type': 'UNETLoader', 'inputs': {'unet_name': 'ti2v.safetensors', "
        "'weight_dtype': 'default'}}, '8': {'class_type': 'VAELoader', 'inputs': {'vae_name': "
        "'wan22.safetensors'}}, '3': {'class_type': 'ModelSamplingSD3', 'inputs': {'model': ['1', "
        "0], 'shift': 8}}, '10': {'class_type': 'Wan22ImageToVideoLatent', 'inputs': {'vae': ['8', "
        "0], 'width': %d, 'height': %d, 'length': %d, 'batch_size': 1, 'start_image': ['9', 0]}}, "
        "'12': {'class_type': 'KSampler', 'inputs': {'model': ['3', 0], 'seed': 0, 'steps': 30, "
        "'cfg': 5, 'sampler_name': 'uni_pc', 'scheduler': 'simple', 'positive': ['6', 0], "
        "'negative': ['7', 0], 'latent_image': ['10', 0], 'denoise': 1}}, ",
        r->width, r->height, r->frames);
}

static nino_graph *make_graph(const run *r)
{
    nino_buf b = { 0 };
    nino_buf_addc(&b, '{');
    (r->is_5b ? print_5b : print_pair)(&b, r);
    nino_buf_addf(
        &b,
        "'5': {'class_type': 'CLIPLoader', 'inputs': {'clip_name': 'umt5.safetensors', 'type': "
        "'wan'}}, '6': {'class_type': 'CLIPTextEncode', 'inputs': {'clip': ['5', 0], 'text': 'a "
        "cat'}}, '7': {'class_type': 'CLIPTextEncode', 'inputs': {'clip': ['5', 0], 'text': "
        "'blurry'}}, '9': {'class_type': 'EmptyImage', 'inputs': {'width': %d, 'height': %d, "
        "'batch_size': 1, 'color': 0}}, '13': {'class_type': 'VAEDecode', 'inputs': {'samples': "
        "['12', 0], 'vae': ['8', 0]}}, '14': {'class_type': 'PreviewImage', 'inputs': {'images': "
        "['13', 0]}}}",
        r->width, r->height);
    CHECK(!b.failed);
    for (size_t i = 0; i < b.len; i++)
        b.data[i] = b.data[i] == '\'' ? '"' : b.data[i];
    nino_graph *g = nino_graph_load(b.data, b.len, r->title, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    nino_buf_release(&b);
    return g;
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

// Where the tables come from and what their seconds rest on.
static void print_head(nino_ctx *ctx, const char *profile)
{
    nino_plan p = { 0 };
    nino_graph *g = make_graph(&runs[0]);
    CHECK_OK(nino_graph_plan(ctx, g, profile, NULL, &p, &err), err);
    const nino_plan_basis *b = &p.basis;
    printf(
        "# Plans of WAN on %s\n\nWritten by `make plans`: files with the tensors of the published "
        "shape lists and no data (experts and text encoder in\n8-bit floats, 5B in f16, VAEs in "
        "bf16), walked by the plan backend with the profile `data/devices/%s.json`%s%s.\n"
        "Seconds follow from that profile's figures: products reach %.0f %%, convolutions %.0f "
        "%%, attention %.0f %% of the %s peak,\n%.1f TFLOPS; memory %.0f GB/s. **These shares "
        "are assumed: nothing was measured on such a device.** ComfyUI's example\nsettings: A14B "
        "20 steps of two evaluations, the second expert from the tenth; 5B 30 steps. Peak is what "
        "the pool holds by\nthe end of a stage, weights included: both experts stay.\n",
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
    }
    nino_plan_release(&p);
    nino_graph_destroy(&g);
}

int main(int argc, char **argv)
{
    char root[300], shapes[512];
    const char *b = getenv("B"), *assets = test_assets(), *profile = "gfx1151", *only = NULL;
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
    }
    snprintf(root, sizeof(root), "%s/bench-data", b ? b : "build");
    mkdir(root, 0777);
    snprintf(root, sizeof(root), "%s/bench-data/plans", b ? b : "build");
    mkdir(root, 0777);
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
        if (!write_model(&models[i], shapes, assets, root))
            return 1;
    const char *roots[] = { root, NULL };
    nino_ctx *ctx = nino_ctx_create(
        &(nino_ctx_params){ NINO_CTX_PARAMS_INIT, .device = "ref",
                            .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots } },
        &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    print_head(ctx, profile);
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
        if (!only || strstr(runs[i].title, only))
            print_run(ctx, &runs[i], profile);
    nino_ctx_destroy(&ctx);
    return 0;
}
