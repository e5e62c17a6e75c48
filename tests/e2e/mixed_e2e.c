// Mixed precision loses no more than 16 bits throughout: whole workflows of every family in fp32, 16
// bits and mixed, as it stands and with a ladder that begins at small tensors. NINODES_TEST_LONG: all
// families, else two.
#include "tests/e2e.h"

#include "core/tensor/difference.h"

#include <sys/wait.h>
#include <unistd.h>

static const struct flow {
    const char *folder, *name, *save; // the node that saves the pictures
    bool wants_bf16;
} flows[] = {
    { "e2e", "sd15_tiny_euler", "9", false },
    { "e2e", "flux_tiny_bf16", "9", true },
    { "e2e", "wan_tiny_euler", "28", false },
    { "e2e_2026", "chroma_euler_simple", "10", true },
    { "e2e_2026", "sd3_triple_euler", "10", false },
    { "e2e_2026", "flux2_klein_tiny_t2i", "9", true },
    { "e2e_2026", "flux2_dev_tiny_ksampler", "9", true },
    { "e2e_2026", "qwen_t2i_euler", "10", true },
    { "e2e_2026", "z_image_tiny_turbo", "9", true },
    { "e2e_2026", "sdxl_unet_fp8_dualclip", "9", false },
    { "e2e_2026", "up_realesrgan_x4_area", "5", false },
    { "e2e_2026", "up_compact_x4_bicubic", "5", false },
};
enum { N_FLOWS = sizeof(flows) / sizeof(flows[0]) };

static nino_array *picture(nino_ctx *ctx, const char *json, const char *save,
                           nino_precision_opt precision)
{
    nino_error err = { 0 };
    nino_status st;
    nino_job_options o = { NINO_JOB_OPTIONS_INIT, .precision = precision, .keep_results = true,
                           .no_files = true };
    nino_raster r = { NINO_RASTER_INIT };
    nino_graph *g = nino_graph_load(json, strlen(json), "e2e", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    nino_job *job = nino_job_start(ctx, g, &o, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    while (!nino_job_done(job, &st, &err))
        nino_job_wait(job, 50);
    CHECK_OK(st, err);
    CHECK_OK(nino_job_image(job, save, 0, &r, &err), err);
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(r.n, r.height, r.width, r.channels));
    CHECK(a && r.type == NINO_RASTER_F32);
    memcpy(a->data, r.data, a->bytes);
    nino_job_destroy(&job);
    nino_graph_destroy(&g);
    return a;
}

// The 16 bits that mixed precision is made of in a family: bf16 where fp16 has not the range.
static double own_16(const struct flow *f, double fp16, double bf16)
{
    return f->wants_bf16 ? bf16 : fp16;
}

static void check_flow(nino_ctx *ctx, const char *assets, const struct flow *f, bool is_ladder)
{
    static const nino_precision_opt types[] = { NINO_PRECISION_F32, NINO_PRECISION_MIXED,
                                                NINO_PRECISION_F16, NINO_PRECISION_BF16 };
    const int n = is_ladder && f->wants_bf16 ? 4 : 3;
    char *json = e2e_workflow(assets, f->folder, f->name);
    double far[4] = { 0, 0, 0, NAN };
    nino_array *a[4];
    for (int i = 0; i < n; i++) {
        a[i] = picture(ctx, json, f->save, types[i]);
        far[i] = nino_array_difference(a[0], a[i]).nmse;
    }
    printf("  %s: NMSE of 16 bits %.2e, mixed %.2e\n", f->name, n > 3 ? far[3] : far[2], far[1]);
    fflush(stdout);
    CHECK(far[2] > 0 && far[2] < 1e-4);
    CHECK(far[1] <= (is_ladder ? own_16(f, far[2], far[3]) : far[2]));
    CHECK(is_ladder ? far[1] > 0 : far[1] < 1e-9); // none of them has tensors that are large
    for (int i = 0; i < n; i++)
        nino_array_unref(&a[i]);
    free(json);
}

// In a process of its own: settings are read once.
static void check_flows(const char *assets, bool is_ladder, size_t n)
{
    int status = 0;
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        if (is_ladder) { // all three steps within one small network
            setenv("NINODES_MIXED_FROM", "16384", 1);
            setenv("NINODES_HALF_FROM", "65536", 1);
        }
        printf("%s\n", is_ladder ? "from 16384 and 65536 values on" : "as it stands");
        for (size_t i = 0; i < n; i++) {
            const bool is_first = !strcmp(flows[i].folder, "e2e");
            nino_ctx *ctx =
                flow_open_with("cl", assets, is_first ? "/taesd_ref" : "/e2e_2026/input");
            if (ctx)
                check_flow(ctx, assets, &flows[i], is_ladder);
            nino_ctx_destroy(&ctx);
        }
        flow_clean();
        exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && !status);
}

int main(void)
{
    const char *assets = test_assets();
    const size_t n = getenv("NINODES_TEST_LONG") ? N_FLOWS : 2;
    if (!assets)
        return test_skip("no test data folder");
    check_flows(assets, false, n);
    check_flows(assets, true, n);
    return 0;
}
