// Upscale models in workflows: the pictures that ComfyUI made, the memory that plan says, tiles
// that are told, files that are wrong. All seven workflows on ref with NINODES_TEST_LONG=1.
#include "tests/e2e.h"

static const struct {
    const char *name;
    int n; // pictures
    bool is_own, is_tiled;
} cases[] = {
    { "up_realesrgan_x2_tiled", 1, true, true },  { "up_old_x4_lanczos", 1, true, false },
    { "up_bsrgan_x2", 1, false, false },          { "up_compact_x4_bicubic", 1, false, false },
    { "up_realesrgan_x4_area", 1, false, false }, { "up_compact_x2_batch2", 2, false, false },
    { "up_hires_fix_model", 1, false, false },
};

static char log_text[4096];

static void log_line(void *priv, nino_log_level level, const char *line)
{
    (void) priv;
    (void) level;
    const size_t n = strlen(log_text);
    snprintf(log_text + n, sizeof(log_text) - n, "%s\n", line);
}

static nino_ctx *open_data(const char *device, const char *data, uint64_t limit)
{
    char models[512], input[512], output[512];
    nino_error err = { 0 };
    snprintf(models, sizeof(models), "%s/models", data);
    snprintf(input, sizeof(input), "%s/e2e_2026/input", data);
    snprintf(output, sizeof(output), "%s/output", flow_temp());
    const char *roots[] = { models, flow_models(), NULL };
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT,
                                .device = device,
                                .mem_limit = limit,
                                .log = log_line,
                                .log_level = NINO_LOG_WARN,
                                .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots,
                                                            .input_dir = input,
                                                            .output_dir = output } };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    if (!ctx && err.code == NINO_ERR_UNKNOWN)
        return NULL;
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    log_text[0] = 0;
    return ctx;
}

static double psnr(const char *path, const char *other)
{
    nino_png a = e2e_png(path), b = e2e_png(other);
    const int64_t n = nino_shape_count(&a.pixels->shape);
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const double e =
            (double) nino_array_f32(a.pixels)[i] - (double) nino_array_f32(b.pixels)[i];
        sum += e * e;
    }
    nino_png_release(&a);
    nino_png_release(&b);
    return sum > 0 ? 10 * log10((double) n / sum) : 999;
}

// What plan says is what the run takes, to the byte, and what it makes is ComfyUI's.
static void check_one(nino_ctx *ctx, const char *data, size_t i)
{
    nino_error err = { 0 };
    nino_plan p = { 0 };
    nino_mem_stat m;
    nino_job_output files[4];
    nino_status st;
    char *json = e2e_workflow(data, "e2e_2026", cases[i].name);
    nino_graph *g = nino_graph_load(json, strlen(json), "e2e", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    CHECK_OK(nino_graph_plan(ctx, g, NULL, NULL, &p, &err), err);
    CHECK(p.fits && p.tiling.is_tiled == cases[i].is_tiled);
    nino_job *job = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    flow_result r = { 0 };
    while (!nino_job_done(job, &st, &err)) {
        flow_events(job, &r);
        nino_job_wait(job, 20);
    }
    flow_events(job, &r);
    CHECK_OK(st, err);
    nino_job_memory(job, &m);
    CHECK((r.n_tiles == 2 && r.n_seams > 0) == cases[i].is_tiled);
    CHECK(nino_job_outputs(job, files, 4) == (size_t) cases[i].n);
    for (int k = 0; k < cases[i].n; k++) {
        char want[512], number[8] = "";
        if (cases[i].n > 1)
            snprintf(number, sizeof(number), "_%d", k + 1);
        snprintf(want, sizeof(want), "%s/e2e_2026/expected/%s%s.png", data, cases[i].name, number);
        const int worst = e2e_difference(files[k].path, want);
        printf("  %s%s: largest difference %d of 255, %.1f dB; plan %.2f MiB, run %.2f\n",
               cases[i].name, number, worst, psnr(files[k].path, want),
               (double) p.peak_bytes / 0x1p20, (double) m.peak / 0x1p20);
        CHECK(worst <= 2 && psnr(files[k].path, want) >= 50);
    }
    CHECK(p.peak_bytes == m.peak && p.weight_bytes == m.peak_by_owner[NINO_OWN_WEIGHTS]);
    nino_job_destroy(&job);
    nino_plan_release(&p);
    nino_graph_destroy(&g);
    free(json);
}

// ---- in little memory ------------------------------------------------------------------------

static const char big[] =
    "{'1': {'class_type': 'LoadImage', 'inputs': {'image': 'control_photo_120x88.png'}},"
    "'2': {'class_type': 'ImageScale', 'inputs': {'image': ['1', 0], 'upscale_method': 'bicubic', "
    "'width': 1024, 'height': %d, 'crop': 'disabled'}},"
    "'3': {'class_type': 'UpscaleModelLoader', 'inputs': {'model_name': '%s'}},"
    "'4': {'class_type': 'ImageUpscaleWithModel', 'inputs': {'upscale_model': ['3', 0], 'image': "
    "['2', 0]}},"
    "'5': {'class_type': 'SaveImage', 'inputs': {'images': ['4', 0], 'filename_prefix': 'big'}}}";

// Tiles are chosen before the run: it keeps the limit, and nothing ran out on the way.
static void check_limit(const char *device, const char *data, const char *model, int height,
                        uint64_t limit)
{
    char json[2048];
    nino_error err = { 0 };
    nino_plan p = { 0 };
    nino_mem_stat m;
    nino_status st;
    nino_ctx *ctx = open_data(device, data, limit);
    if (!ctx)
        return;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(json, sizeof(json), big, height, model);
#pragma GCC diagnostic pop
    nino_graph *g = flow_graph(json);
    CHECK_OK(nino_graph_plan(ctx, g, NULL, NULL, &p, &err), err);
    nino_job *job = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    flow_result r = { 0 };
    while (!nino_job_done(job, &st, &err)) { // not before its events were taken
        flow_events(job, &r);
        nino_job_wait(job, 50);
    }
    CHECK_OK(st, err);
    CHECK((int) r.n_tiles == p.tiling.n_tiles && r.n_seams > 0);
    nino_job_memory(job, &m);
    printf("  1024x%d in %.0f MiB: plan %.2f MiB, run %.2f, %d tiles of %d pixels\n", height,
           (double) limit / 0x1p20, (double) p.peak_bytes / 0x1p20, (double) m.peak / 0x1p20,
           (int) p.tiling.n_tiles, (int) p.tiling.tile_w);
    CHECK(p.fits && p.tiling.is_tiled && p.peak_bytes == m.peak && m.peak <= limit);
    CHECK(!log_text[0]);
    nino_job_destroy(&job);
    nino_plan_release(&p);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
}

// ---- files that are wrong --------------------------------------------------------------------

static void put_file(const char *name, const void *data, size_t n)
{
    char path[600];
    snprintf(path, sizeof(path), "%s/upscale_models/%s", flow_models(), name);
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(data, 1, n, f) == n && !fclose(f));
}

static void refused(nino_ctx *ctx, const char *name, const char *words)
{
    char json[2048], all[1200];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(json, sizeof(json), big, 16, name);
#pragma GCC diagnostic pop
    nino_graph *g = flow_graph(json);
    const flow_result r = flow_run(ctx, g, NULL);
    snprintf(all, sizeof(all), "%s: %s", r.err.where, r.err.msg);
    printf("  %s\n", all);
    CHECK(r.st && r.n_paths == 0 && strstr(all, name) && strstr(all, words));
    nino_graph_destroy(&g);
}

static void check_refusals(const char *data)
{
    static const char pickle[] = "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."
                                 "\x80\x02}.\x80\x02"
                                 "cposix\nsystem\nX\2\0\0\0id\x85R.\x80\x02].";
    static const char other[] = "{\"something.weight\":{\"dtype\":\"F16\",\"shape\":[1],"
                                "\"data_offsets\":[0,2]}}\0";
    char cmd[600], safetensors[256] = { 0 };
    snprintf(cmd, sizeof(cmd), "mkdir -p %s/upscale_models", flow_models());
    CHECK(system(cmd) == 0);
    put_file("runs.pth", pickle, sizeof(pickle) - 1);
    safetensors[0] = (char) strlen(other);
    memcpy(safetensors + 8, other, sizeof(other));
    put_file("other.safetensors", safetensors, 8 + strlen(other) + 2);
    nino_ctx *ctx = open_data("ref", data, 0);
    refused(ctx, "none.pth", "upscale_models");
    refused(ctx, "runs.pth", "posix.system");
    refused(ctx, "other.safetensors", "not a known upscale model");
    nino_ctx_destroy(&ctx);
}

int main(void)
{
    static const char *const devices[] = { "ref", "cl", NULL };
    const bool is_long = getenv("NINODES_TEST_LONG") != NULL;
    for (const char *const *name = devices; *name; name++) {
        const bool is_all = is_long || strcmp(*name, "ref") != 0;
        for (const char *data = NULL; (data = test_data_next(data));) {
            const bool is_own = test_data_is_own(data);
            for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                const bool is_quick =
                    is_own ? is_all || cases[i].is_tiled : is_all && !cases[i].is_own;
                if (is_own && !cases[i].is_own)
                    continue;
                if (!is_long && !is_quick)
                    continue;
                nino_ctx *ctx = open_data(*name, data, 0); // nothing is there before
                if (!ctx)
                    break;
                printf("%s", *name);
                check_one(ctx, data, i);
                nino_ctx_destroy(&ctx);
            }
        }
    }
    const char *own = test_data_next(NULL);
    check_limit("ref", own, "up_compact_x2_tiny.safetensors", 40, (uint64_t) 4 << 20);
    check_limit("cl", own, "up_compact_x2_tiny.safetensors", 600, (uint64_t) 40 << 20);
    if (is_long)
        check_limit("cl", own, "up_old_x4_tiny.pth", 1024, (uint64_t) 512 << 20);
    check_refusals(own);
    flow_clean();
    return 0;
}
