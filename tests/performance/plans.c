// What runs cost, as counted before them: launches, arithmetic, bytes moved, memory, and the seconds that the profile
// of a device predicts, against what is kept in tests/data/performance/plans.txt. Nothing here is measured, so nothing
// depends on the machine: what differs, the library does otherwise. A change that is meant is kept with
//   make build/tests/performance/plans && build/tests/performance/plans --write
#include "tests/test.h"
#include <ninodes/ninodes.h>

#include <math.h>

#define KEPT "tests/data/performance/plans.txt"

typedef struct flow {
    const char *file, *set[3]; // below data/workflows
} flow;

static const flow flows[] = {
    { "text_to_image.json", { NULL } },
    { "text_to_image.json",
      { "EmptySD3LatentImage.width=1024", "EmptySD3LatentImage.height=1024", NULL } },
    { "text_to_image.json", { "EmptySD3LatentImage.batch_size=4", "KSampler.cfg=3", NULL } },
    { "image_to_image.json", { NULL } },
    { "lora.json", { NULL } },
    { "fp8.json", { NULL } },
    { "gguf.json", { NULL } },
    { "tiled_decode.json", { NULL } },
    { "text_to_video.json", { NULL } },
    { "text_to_video.json", { "EmptyHunyuanLatentVideo.length=17", NULL } },
};
static const char *const profiles[] = { "gfx1151", "pocl-cpu" };
enum { N_FLOWS = sizeof(flows) / sizeof(flows[0]), ROWS = 200 };

typedef struct row {
    char name[160];
    unsigned long long kernels, peak, weights;
    double flops, bytes, seconds;
} row;

static nino_error err;
static row now[ROWS], kept[ROWS];
static int n_now, n_kept;

static void plan_one(nino_ctx *ctx, const flow *f, const char *profile, nino_phase phase)
{
    static const char *const models[] = { "data/demo/models", NULL };
    nino_job_options o = { NINO_JOB_OPTIONS_INIT, .models = models,
                           .input_dir = "data/demo/input" };
    nino_plan plan;
    row *r = &now[n_now++];
    char path[100];
    nino_phase_set(&o, phase);
    snprintf(path, sizeof(path), "data/workflows/%s", f->file);
    nino_graph *g = nino_graph_load_file(path, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    snprintf(r->name, sizeof(r->name), "%s,%s,%s", profile, nino_phase_name(phase), f->file);
    for (int i = 0; f->set[i]; i++) {
        CHECK_OK(nino_graph_set(g, f->set[i], &err), err);
        snprintf(r->name + strlen(r->name), sizeof(r->name) - strlen(r->name), ",%s",
                 strchr(f->set[i], '.') + 1);
    }
    CHECK_OK(nino_graph_plan(ctx, g, profile, &o, &plan, &err), err);
    r->kernels = plan.kernels, r->peak = plan.peak_bytes, r->weights = plan.weight_bytes;
    r->flops = plan.flops, r->bytes = plan.bytes, r->seconds = plan.seconds;
    nino_plan_release(&plan);
    nino_graph_destroy(&g);
}

static void write_rows(void)
{
    FILE *f = fopen(KEPT, "w");
    CHECK(f);
    fprintf(
        f, "# name, launches, bytes of the pool at most, of weights, FLOP, bytes moved, seconds\n");
    for (int i = 0; i < n_now; i++)
        fprintf(f, "%s %llu %llu %llu %.0f %.0f %.9g\n", now[i].name, now[i].kernels, now[i].peak,
                now[i].weights, now[i].flops, now[i].bytes, now[i].seconds);
    CHECK(!fclose(f));
}

static void read_rows(void)
{
    char line[400];
    FILE *f = fopen(KEPT, "r");
    CHECK(f);
    while (fgets(line, sizeof(line), f)) {
        row *r = &kept[n_kept];
        if (*line == '#')
            continue;
        CHECK(n_kept++ < ROWS);
        CHECK(sscanf(line, "%159s %llu %llu %llu %lf %lf %lf", r->name, &r->kernels, &r->peak,
                     &r->weights, &r->flops, &r->bytes, &r->seconds) == 7);
    }
    CHECK(!fclose(f));
}

// One figure; false: it is another one. Exact but for what was rounded as text.
static bool is_kept(const char *name, const char *what, double was, double is)
{
    if (fabs(is - was) <= 1e-6 * fabs(was))
        return true;
    printf("%s: %s was %.9g, is %.9g (%+.2f %%)\n", name, what, was, is,
           was > 0 || was < 0 ? 100 * (is / was - 1) : 0.0);
    return false;
}

static bool is_row_kept(const row *a, const row *b)
{
    bool ok = is_kept(b->name, "launches", (double) a->kernels, (double) b->kernels);
    ok &= is_kept(b->name, "peak bytes", (double) a->peak, (double) b->peak);
    ok &= is_kept(b->name, "bytes of weights", (double) a->weights, (double) b->weights);
    ok &= is_kept(b->name, "FLOP", a->flops, b->flops);
    ok &= is_kept(b->name, "bytes moved", a->bytes, b->bytes);
    return is_kept(b->name, "predicted seconds", a->seconds, b->seconds) && ok;
}

int main(int argc, char **argv)
{
    nino_ctx *ctx =
        nino_ctx_create(&(nino_ctx_params){ NINO_CTX_PARAMS_INIT, .device = "ref" }, &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    for (size_t p = 0; p < sizeof(profiles) / sizeof(profiles[0]); p++)
        for (int phase = 0; phase < NINO_PHASE_COUNT; phase += NINO_PHASE_COUNT - 1)
            for (int i = 0; i < N_FLOWS; i++)
                plan_one(ctx, &flows[i], profiles[p], (nino_phase) phase);
    nino_ctx_destroy(&ctx);
    if (argc > 1 && !strcmp(argv[1], "--write")) {
        write_rows();
        return 0;
    }
    read_rows();
    bool ok = n_kept == n_now;
    for (int i = 0; i < n_now && i < n_kept; i++) {
        CHECK_STR(now[i].name, kept[i].name);
        ok &= is_row_kept(&kept[i], &now[i]);
    }
    if (!ok)
        printf("%d plans, %d kept in " KEPT "; if this is meant: %s --write\n", n_now, n_kept,
               argv[0]);
    CHECK(ok);
    printf("%d plans cost what is kept\n", n_now);
    return 0;
}
