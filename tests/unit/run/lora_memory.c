// LoRA of each kind on weights of each form: what plan says that a run needs is what it needs, to the
// byte; quantised weights stay quantised, and those of 16 bits as narrow as they are.
#include "tests/flow.h"

#include "tests/lora.h"

// Model files, in the data of whoever has them; the LoRA, the rest of the workflow.
typedef struct family {
    const char *folder; // of models
    const char *files[4];
    const char *lora, *rest;
} family;

static const family demo = {
    "data/demo",
    { NULL, "demo_flux_fp8_scaled.safetensors", "demo_flux_Q8_0.gguf", NULL },
    "demo_outline.safetensors",
    "'2': {'class_type': 'CheckpointLoaderSimple', 'inputs': {'ckpt_name': "
    "'demo_flux.safetensors'}},"
    "'4': {'class_type': 'CLIPTextEncode', 'inputs': {'text': 'a red circle', 'clip': ['2', 1]}},"
    "'8': {'class_type': 'VAEDecode', 'inputs': {'samples': ['7', 0], 'vae': ['2', 2]}},"
};

static const family tiny = {
    NULL,
    { "flux_tiny.safetensors", "flux_tiny_fp8_e4m3fn_scaled.safetensors", "flux_tiny_q8_0.gguf",
      "flux_tiny_q4_K.gguf" },
    "flux_tiny_kohya.safetensors",
    "'2': {'class_type': 'DualCLIPLoader', 'inputs': {'clip_name1': 't5xxl_tiny.safetensors', "
    "'clip_name2': 'clip_l_tiny.safetensors', 'type': 'flux'}},"
    "'3': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'ae_tiny.safetensors'}},"
    "'4': {'class_type': 'CLIPTextEncode', 'inputs': {'text': 'a cat', 'clip': ['2', 0]}},"
    "'8': {'class_type': 'VAEDecode', 'inputs': {'samples': ['7', 0], 'vae': ['3', 0]}},"
};

// file NULL: the model of the checkpoint, node 2. name: the LoRA, NULL: none.
static nino_graph *make_graph(const family *f, const char *file, const char *name)
{
    char json[2400], load[200] = "", lora[300] = "";
    const char *model = file ? "1" : "2";
    if (file)
        snprintf(load, sizeof(load),
                 "'1': {'class_type': 'UNETLoader', 'inputs': {'unet_name': '%s', 'weight_dtype': "
                 "'default'}},",
                 file);
    if (name)
        snprintf(lora, sizeof(lora),
                 "'5': {'class_type': 'LoraLoaderModelOnly', 'inputs': {'lora_name': '%s', "
                 "'strength_model': 0.8, 'model': ['%s', 0]}},",
                 name, model);
    snprintf(
        json, sizeof(json),
        "{%s%s%s'6': {'class_type': 'EmptySD3LatentImage', 'inputs': {'width': 64, 'height': "
        "64, 'batch_size': 1}}, '7': {'class_type': 'KSampler', 'inputs': {'seed': 7, 'steps': "
        "2, 'cfg': 1.0, 'sampler_name': 'euler', 'scheduler': 'simple', 'denoise': 1.0, "
        "'model': ['%s', 0], 'positive': ['4', 0], 'negative': ['4', 0], 'latent_image': ['6', "
        "0]}}, '9': {'class_type': 'SaveImage', 'inputs': {'filename_prefix': 'a', 'images': "
        "['8', 0]}}}",
        load, lora, f->rest, name ? "5" : model);
    return flow_graph(json);
}

static uint64_t run_peak(nino_ctx *ctx, nino_graph *g, const nino_job_options *o, uint64_t *weights)
{
    nino_error err = { 0 };
    nino_status st;
    nino_mem_stat m;
    nino_job *job = nino_job_start(ctx, g, o, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    nino_event ev[64];
    while (!nino_job_done(job, &st, &err))
        if (!nino_job_poll(job, ev, 64))
            nino_job_wait(job, 20);
    CHECK_OK(st, err);
    nino_job_memory(job, &m);
    nino_job_destroy(&job);
    *weights = m.peak_by_owner[NINO_OWN_WEIGHTS];
    return m.peak;
}

// The plan of a run is the run: neither more nor less. Returns the weights.
static uint64_t check_plan_as(const family *f, const char *folder, const char *file,
                              const char *name, nino_precision_opt precision)
{
    const nino_job_options o = { NINO_JOB_OPTIONS_INIT, .precision = precision };
    nino_error err = { 0 };
    nino_plan p = { 0 };
    uint64_t weights = 0;
    nino_ctx *ctx = flow_open("cl", folder);
    CHECK(ctx != NULL);
    nino_graph *g = make_graph(f, file, name);
    CHECK_OK(nino_graph_plan(ctx, g, NULL, &o, &p, &err), err);
    const uint64_t peak = run_peak(ctx, g, &o, &weights);
    printf("  %-40s %-29s plan %.3f MiB, run %.3f MiB, weights %.3f\n",
           file ? file : "demo_flux.safetensors", name ? name : "", (double) p.peak_bytes / 0x1p20,
           (double) peak / 0x1p20, (double) weights / 0x1p20);
    CHECK(p.peak_bytes == peak && p.weight_bytes == weights);
    nino_plan_release(&p);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
    return weights;
}

static uint64_t check_plan(const family *f, const char *folder, const char *file, const char *name)
{
    return check_plan_as(f, folder, file, name, NINO_PRECISION_AUTO);
}

// A LoRA that changes the large layers of the file, in the folder of what tests make. Returns the
// bytes of the largest as f32.
static uint64_t make_lora(const char *folder, const char *file, int kind, const char *name)
{
    static const char *const layers[] = { "double_blocks.0.img_attn.qkv",
                                          "double_blocks.0.img_mlp.0", "double_blocks.0.txt_mlp.2",
                                          "single_blocks.0.linear1", "single_blocks.0.linear2" };
    nino_error err = { 0 };
    lora_made l = { .seed = 5 };
    char cmd[700], loras[600];
    uint64_t most = 0;
    snprintf(loras, sizeof(loras), "%s/loras", flow_models());
    snprintf(cmd, sizeof(cmd), "mkdir -p %s", loras);
    CHECK(system(cmd) == 0);
    nino_weights *w = test_open("%s/models/diffusion_models/%s", folder, file);
    for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
        char full[96];
        snprintf(full, sizeof(full), "%s.weight", layers[i]);
        const nino_tensor_info *t = nino_weights_find(w, full);
        CHECK(t != NULL);
        lora_other(&l, kind, layers[i], t->dim[0], t->dim[1]);
        const uint64_t bytes = (uint64_t) (t->dim[0] * t->dim[1]) * sizeof(float);
        most = bytes > most ? bytes : most;
    }
    CHECK_OK(nino_st_save(loras, name, true, l.e, l.n, NULL, 0, &err), err);
    lora_forget(&l);
    nino_weights_unref(&w);
    return most;
}

// Kinds that are made at use: one layer at a time takes more than the plain model.
static void check_kinds(const family *f, const char *folder, const char *file, uint64_t plain)
{
    for (int k = 0; lora_other_kinds[k]; k++) {
        char name[40];
        snprintf(name, sizeof(name), "%s.safetensors", lora_other_kinds[k]);
        const uint64_t layer = make_lora(folder, file, k, name);
        CHECK(check_plan(f, folder, file, name) <= plain + layer);
    }
}

static void check_family(const family *f, const char *folder)
{
    for (int i = 0; i < 4; i++) {
        if (!f->files[i] && i)
            continue;
        const uint64_t plain = check_plan(f, folder, f->files[i], NULL);
        const uint64_t changed = check_plan(f, folder, f->files[i], f->lora);
        // Weights stay as narrow as they are: what comes is the LoRA's own panels. Expanded, these
        // models would take 2.3 MiB more and above.
        CHECK(changed > plain && changed - plain < 3 << 19);
        if (i)
            check_kinds(f, folder, f->files[i], plain);
        else // merged, where the network computes in 16 bits
            CHECK(check_plan_as(f, folder, f->files[i], NULL, NINO_PRECISION_BF16) ==
                  check_plan_as(f, folder, f->files[i], f->lora, NINO_PRECISION_BF16));
        if (!i && f->files[i]) { // no product: as f32
            make_lora(folder, f->files[i], 0, "wide.safetensors");
            CHECK(check_plan(f, folder, f->files[i], "wide.safetensors") > changed);
        }
    }
}

int main(void)
{
    nino_ctx *ctx = flow_open("cl", NULL);
    if (!ctx) // plain loops would take minutes
        return test_skip("no OpenCL device");
    nino_ctx_destroy(&ctx);
    check_family(&demo, demo.folder);
    if (test_assets())
        check_family(&tiny, test_assets());
    else
        test_skip_part("Q4_K: no test data folder");
    flow_clean();
    return 0;
}
