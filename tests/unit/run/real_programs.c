// The programs that plans of real workflows ask for on gfx1151: few, whatever the model. With --print PATH [PROFILE]
// they are written there, each once, for tests/cli/gate_gfx1151.sh and `make code-objects`, which compile them; and to
// PATH.kernels those of their kernels that are launched, lines "KERNEL FILE OPTIONS".
#include "core/op/device/device.h"
#include "tests/flow.h"
#include "tests/gate/real_nets.h"

#include <errno.h>
#include <sys/stat.h>

static nino_error err;
#include "bench/plans_flows.h"

enum { MOST = 14, VOCAB = 482 }; // VOCAB: of the small tokenizer
// Most launches of a FLUX block: norm and angles of heads end a product, modulation is one layer a side.
enum { DOUBLE = 26, SINGLE = 10 };

static nino_buf launches;

// What the library calls in its place (the Makefile says --wrap): listers also tell what is launched.
nino_backend *__real_nino_device_program_lister(const nino_profile *p, const nino_device_info *like,
                                                nino_programs *out);
nino_backend *__wrap_nino_device_program_lister(const nino_profile *p, const nino_device_info *like,
                                                nino_programs *out);
nino_backend *__wrap_nino_device_program_lister(const nino_profile *p, const nino_device_info *like,
                                                nino_programs *out)
{
    out->launches = &launches;
    out->tells_helpers = true;
    return __real_nino_device_program_lister(p, like, out);
}

// Z-Image with a Fun ControlNet that takes all there is.
static void print_fun(nino_buf *b, const run *r)
{
    print_loaders(b, r, "lumina2", "flux");
    nino_buf_addf(
        b,
        "'20': {'class_type': 'EmptyImage', 'inputs': {'width': %d, 'height': %d, 'batch_size': 1, "
        "'color': 0}}, '21': {'class_type': 'ModelPatchLoader', 'inputs': {'name': "
        "'fun.safetensors'}}, '22': {'class_type': 'ZImageFunControlnet', 'inputs': {'model': "
        "['1', "
        "0], 'model_patch': ['21', 0], 'vae': ['8', 0], 'strength': 1, 'image': ['20', 0], "
        "'inpaint_image': ['20', 0]}}, '10': {'class_type': 'EmptySD3LatentImage', 'inputs': "
        "{'width': %d, 'height': %d, 'batch_size': 1}}, '12': {'class_type': 'KSampler', 'inputs': "
        "{'model': ['22', 0], 'seed': 0, 'steps': 2, 'cfg': 2, 'sampler_name': 'euler', "
        "'scheduler': 'simple', 'positive': ['6', 0], 'negative': ['7', 0], 'latent_image': ['10', "
        "0], 'denoise': 1}}}",
        r->width, r->height, r->width, r->height);
}

static const run real[] = {
    { "SD1.5, 512x512", 512, 512, .print = print_sd15 },
    { "SDXL, 1024x1024", 1024, 1024, .print = print_sdxl },
    { "FLUX.1 dev, bf16", 1024, 1024, .print = print_flux },
    { "FLUX.1 dev, 8-bit floats", 1024, 1024, .print = print_flux, .model = "flux_fp8" },
    { "FLUX.1 dev, Q4_K", 1024, 1024, .print = print_flux, .model = "flux_q4.gguf" },
    { "WAN 2.2 5B, 121 frames", 1280, 704, 121, .print = print_5b },
    { "WAN 2.2 A14B, 17 frames", 320, 320, 17, .print = print_pair },
    { "VAE of SDXL, 1024x1024", 1024, 1024, .print = print_vae },
    { "Z-Image-Turbo", 1024, 1024, .print = print_zimage, .model = "z_image", .text = "qwen3_4b",
      .steps = 8 },
    { "Z-Image-Turbo with a Fun ControlNet", 1024, 1024, .print = print_fun, .model = "z_image",
      .text = "qwen3_4b" },
    { "Qwen-Image", 1328, 1328, .print = print_qwen, .steps = 4, .cfg = 2.5 },
};

// Of a model: its list and how it is stored. Networks of many equal blocks have two of each kind.
static const char *path_of(const char *folder, const char *name)
{
    static char path[600];
    snprintf(path, sizeof(path), "%s/%s", flow_models(), folder);
    CHECK(!mkdir(path, 0700) || errno == EEXIST);
    snprintf(path, sizeof(path), "%s/%s/%s", flow_models(), folder, name);
    return path;
}

static void save(net_list l, const char *folder, const char *name, nino_dtype matrix,
                 nino_dtype rest)
{
    real_save(&l, path_of(folder, name), matrix, rest, NULL);
}

static void make_diffusion(void)
{
    static const char folder[] = "diffusion_models";
    net_flux flux = net_flux_dev;
    net_wan a14b = net_wan22_i2v, ti2v = net_wan22_5b;
    net_zimage zimage = net_z_image;
    net_qwen qwen = net_qwen_image;
    flux.doubles = flux.singles = a14b.layers = ti2v.layers = zimage.layers = qwen.blocks = 2;
    save(net_list_unet(&net_sd15, NULL), folder, "sd15.safetensors", NINO_F16, NINO_F16);
    save(net_list_unet(&net_sdxl, NULL), folder, "sdxl.safetensors", NINO_F16, NINO_F16);
    save(net_list_flux(&flux, NULL), folder, "flux.safetensors", NINO_BF16, NINO_BF16);
    save(net_list_flux(&flux, NULL), folder, "flux_fp8.safetensors", NINO_F8_E4M3, NINO_F8_E4M3);
    net_list q4 = net_list_flux(&flux, NULL);
    real_save_gguf(&q4, path_of(folder, "flux_q4.gguf"), NINO_Q4_K);
    save(net_list_wan(&a14b, NULL), folder, "high.safetensors", NINO_F8_E4M3, NINO_F32);
    save(net_list_wan(&a14b, NULL), folder, "low.safetensors", NINO_F8_E4M3, NINO_F32);
    save(net_list_wan(&ti2v, NULL), folder, "ti2v.safetensors", NINO_F16, NINO_F16);
    save(net_list_zimage(&zimage, NULL), folder, "z_image.safetensors", NINO_BF16, NINO_BF16);
    save(net_list_zimage_fun(&zimage, 3, 132, true), "model_patches", "fun.safetensors", NINO_BF16,
         NINO_BF16);
    save(net_list_qwen(&qwen, NULL), folder, "qwen_image.safetensors", NINO_BF16, NINO_BF16);
}

static void make_text(void)
{
    static const char folder[] = "text_encoders";
    static const char tiny[] = "tests/data/models/text_encoders/umt5_tiny.safetensors";
    net_llm qwen3 = net_qwen3_4b, qwen25 = net_qwen25;
    qwen3.layers = 36; // which tell how many there are to be
    qwen3.vocab = qwen25.vocab = VOCAB;
    qwen25.layers = qwen25.vision_layers = 2;
    nino_weights *w = test_open("%s", tiny);
    const nino_tensor_info *t = nino_weights_find(w, "spiece_model");
    CHECK(t);
    nino_array *words = nino_array_create(NINO_U8, NINO_SHAPE(t->dim[0]));
    CHECK_OK(nino_weights_read(w, t, words->data, &err), err);
    nino_weights_unref(&w);
    net_list umt5 = real_list_t5(256384, true);
    real_save(&umt5, path_of(folder, "umt5.safetensors"), NINO_F8_E4M3, NINO_F32, words);
    nino_array_unref(&words);
    save(real_list_t5(32128, false), folder, "t5xxl.safetensors", NINO_F16, NINO_F16);
    save(real_list_clip(768, 3072, 12), folder, "clip_l.safetensors", NINO_F16, NINO_F16);
    save(real_list_clip(1280, 5120, 32), folder, "clip_g.safetensors", NINO_F16, NINO_F16);
    save(net_list_llm(&qwen3), folder, "qwen3_4b.safetensors", NINO_BF16, NINO_BF16);
    save(net_list_llm(&qwen25), folder, "qwen25.safetensors", NINO_F8_E4M3, NINO_BF16);
}

static void make_vaes(void)
{
    save(real_list_kl(4), "vae", "sdxl.safetensors", NINO_F16, NINO_F16);
    save(real_list_kl(16), "vae", "flux.safetensors", NINO_BF16, NINO_BF16);
    save(real_list_wan_vae(false), "vae", "wan21.safetensors", NINO_BF16, NINO_BF16);
    save(real_list_wan_vae(true), "vae", "wan22.safetensors", NINO_BF16, NINO_BF16);
}

// The last copy of a line wins nothing: each program once.
static void add_line(nino_buf *all, const char *line)
{
    const char *at = all->len ? strstr(all->data, line) : NULL;
    if (!at || (at != all->data && at[-1] != '\n'))
        nino_buf_adds(all, line);
}

// All launches of a plan, each kernel once.
static void add_kernels(nino_buf *all)
{
    for (char *rest = launches.data, *line; rest && (line = strsep(&rest, "\n"));) {
        char text[400] = "";
        for (char *word; (word = strsep(&line, " "));) // options have blanks to spare
            if (*word)
                snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", *text ? " " : "",
                         word);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "\n");
        if (*text != '\n')
            add_line(all, text);
    }
    nino_buf_release(&launches);
}

static void put(const char *path, const nino_buf *text)
{
    FILE *f = fopen(path, "w");
    CHECK(f && fwrite(text->data, 1, text->len, f) == text->len && !fclose(f));
}

// Launches of one pass of a stage, of which the plan counts all.
static uint64_t kernels_of(const nino_plan *p, const char *stage)
{
    for (size_t i = 0; i < p->n_scopes; i++) {
        const char *at = strstr(p->scopes[i].name, stage);
        if (at && !at[strlen(stage)])
            return p->scopes[i].kernels;
    }
    return 0;
}

static bool plan_one(nino_ctx *ctx, const run *r, const char *profile, nino_buf *all,
                     nino_buf *kernels)
{
    nino_plan p = { 0 };
    nino_graph *g = make_graph(r);
    CHECK_OK(nino_graph_plan(ctx, g, profile, NULL, &p, &err), err);
    printf("%s: %zu programs\n", r->title, p.n_programs);
    for (size_t i = 0; i < p.n_programs; i++) {
        char line[400];
        snprintf(line, sizeof(line), "%s %s\n", p.programs[i].file, p.programs[i].options);
        if (p.n_programs > MOST)
            printf("    %s", line);
        add_line(all, line);
    }
    add_kernels(kernels);
    const uint64_t doubles = kernels_of(&p, "flux.double.0"),
                   singles = kernels_of(&p, "flux.single.0");
    const bool is_short = doubles <= DOUBLE && singles <= SINGLE;
    if (doubles)
        printf("    a double block is %d launches, a single one %d\n", (int) doubles,
               (int) singles);
    const bool is_few = p.n_programs > 0 && p.n_programs <= MOST;
    nino_plan_release(&p);
    nino_graph_destroy(&g);
    return is_few && is_short;
}

int main(int argc, char **argv)
{
    nino_buf all = { 0 }, kernels = { 0 };
    bool ok = true;
    flow_temp();
    CHECK(!mkdir(flow_models(), 0700));
    make_diffusion();
    make_text();
    make_vaes();
    const char *const roots[] = { flow_models(), "tests/data/models", NULL };
    nino_ctx *ctx = nino_ctx_create(
        &(nino_ctx_params){ NINO_CTX_PARAMS_INIT, .device = "ref",
                            .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots,
                                                        .output_dir = flow_temp() } },
        &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    for (size_t i = 0; i < sizeof(real) / sizeof(real[0]); i++)
        ok &= plan_one(ctx, &real[i], argc == 4 ? argv[3] : "gfx1151", &all, &kernels);
    if (argc >= 3 && !strcmp(argv[1], "--print") && all.len) {
        char path[600];
        snprintf(path, sizeof(path), "%s.kernels", argv[2]);
        put(argv[2], &all);
        put(path, &kernels);
    }
    const bool has_kernels = all.len > 0; // plan_programs tests that a build with them lists some
    nino_buf_release(&all);
    nino_buf_release(&kernels);
    nino_ctx_destroy(&ctx);
    flow_clean();
    if (!has_kernels)
        return test_skip("a library without OpenCL has no programs");
    CHECK(ok || argc == 4); // no more programs or launches than that on gfx1151
    return 0;
}
