// What less memory costs: the demo's workflows within budgets from what they would take down to the
// least, predicted and measured in turn, as Markdown.
//   bench/budgets [--device NAME] [--rounds N] [WORKFLOW.json ...]
#include "core/base/time.h"
#include "core/op/backend.h"
#include "core/run/context.h"
#include "tests/test.h"
#include <ninodes/ninodes.h>

#include <math.h>

enum { STEPS = 6 };

static nino_error err;
static const char *device = "cl";
static int rounds = 12;

typedef struct budget {
    uint64_t bytes, peak;
    double predicted, planning; // seconds: of the run; that choosing took here
    char loss[64];
    nino_ctx *ctx;
} budget;

typedef struct curve {
    nino_graph *g;
    budget at[STEPS + 1];
    int n;
    uint64_t seed;
} curve;

static nino_ctx *open_within(uint64_t bytes)
{
    static const char *const models[] = { "data/demo/models", NULL };
    const nino_job_options o = { NINO_JOB_OPTIONS_INIT, .models = models,
                                 .input_dir = "data/demo/input", .no_files = true };
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = device, .mem_limit = bytes,
                                .job = &o };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    return ctx;
}

static nino_scheme_info info_of(nino_ctx *ctx, nino_graph *g, uint64_t bytes)
{
    nino_scheme_info i = { NINO_SCHEME_INFO_INIT };
    nino_scheme *s = nino_scheme_create(ctx, g, NULL, NULL, bytes, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    CHECK_OK(nino_scheme_get(s, &i, &err), err);
    nino_scheme_destroy(&s);
    return i;
}

// Budget 0 is none: what the others are compared with.
static void add(curve *c, uint64_t bytes)
{
    budget *b = &c->at[c->n];
    b->ctx = open_within(bytes ? bytes : (uint64_t) 1 << 34);
    const uint64_t begin = nino_now_ns();
    const nino_scheme_info i = info_of(b->ctx, c->g, bytes ? bytes : (uint64_t) 1 << 34);
    b->planning = (double) (nino_now_ns() - begin) * 1e-9;
    if (!i.fits) {
        nino_ctx_destroy(&b->ctx);
        return;
    }
    b->bytes = bytes;
    b->peak = i.peak_bytes;
    b->predicted = i.seconds;
    snprintf(b->loss, sizeof(b->loss), "%s", i.loss);
    c->n++;
}

// One run, without what is once: programs that are compiled. Weights that come in again are a part of
// it; results of the run before are not taken.
static nino_status run_once(void *priv, int setting, bool is_warmup, double *seconds, nino_error *e)
{
    curve *c = priv;
    nino_status st = NINO_OK;
    char seed[60];
    (void) is_warmup;
    snprintf(seed, sizeof(seed), "KSampler.seed=%llu", (unsigned long long) c->seed++);
    if (nino_graph_set(c->g, seed, e))
        return e->code;
    nino_backend_drop_weights(nino_ctx_backend(c->at[setting].ctx));
    const uint64_t begin = nino_now_ns(), built = nino_ctx_backend(c->at[setting].ctx)->build_ns;
    nino_job *job = nino_job_start(c->at[setting].ctx, c->g, NULL, e);
    if (!job)
        return e->code;
    while (!nino_job_done(job, &st, e))
        nino_job_wait(job, 500);
    const uint64_t build = nino_ctx_backend(c->at[setting].ctx)->build_ns - built;
    *seconds = (double) (nino_now_ns() - begin - build) * 1e-9;
    nino_job_destroy(&job);
    return st;
}

static void tell(const curve *c, const nino_experiment *x)
{
    printf("| budget, MiB | peak, MiB | predicted, s | measured, s | MAD | planning alone, s | "
           "against "
           "no budget | loses |\n|--:|--:|--:|--:|--:|--:|---|---|\n");
    for (int i = 0; i < c->n; i++) {
        const budget *b = &c->at[i];
        nino_spread s;
        nino_effect e;
        char text[200] = "";
        nino_experiment_spread(x, i, &s);
        nino_experiment_effect(x, i, &e);
        if (i)
            nino_effect_text(&e, text, sizeof(text));
        if (b->bytes)
            printf("| %.1f", (double) b->bytes / 0x1p20);
        else
            printf("| none");
        printf(" | %.1f | %.4f | %.4f | %.4f | %.3f | %s | %s |\n", (double) b->peak / 0x1p20,
               b->predicted, s.median, s.mad, b->planning, text, b->loss);
    }
}

// Medians that fall as the budget does, by more than both spreads: what should not be.
static int count_falls(const curve *c, const nino_experiment *x)
{
    int falls = 0;
    for (int i = 1; i < c->n; i++) {
        nino_spread more, less;
        nino_experiment_spread(x, i - 1, &more);
        nino_experiment_spread(x, i, &less);
        falls += less.median + less.mad < more.median - more.mad;
    }
    return falls;
}

static void measure(const char *path)
{
    curve c = { .seed = 1 };
    c.g = nino_graph_load_file(path, &err);
    CHECK_OK(c.g ? NINO_OK : err.code, err);
    add(&c, 0);
    const uint64_t peak = c.at[0].peak;
    const uint64_t least = info_of(c.at[0].ctx, c.g, 64 << 10).least_bytes;
    for (int i = 0; i < STEPS && least; i++) // in equal ratios; the first with room for all of it
        add(&c, (uint64_t) (1.25 * (double) peak *
                            pow((double) least / (1.25 * (double) peak), i / (STEPS - 1.0))) +
                    (i == STEPS - 1));
    nino_experiment *x = nino_experiment_create(
        &(nino_experiment_params){ NINO_EXPERIMENT_PARAMS_INIT, .settings = c.n,
                                   .rounds_min = rounds, .rounds_max = rounds },
        &err);
    CHECK_OK(x ? NINO_OK : err.code, err);
    CHECK_OK(nino_experiment_run(x, run_once, &c, &err), err);
    printf("\n## %s\n\n%d rounds in turn after one that warms up; every run reads its weights "
           "anew.\n\n",
           strrchr(path, '/') ? strrchr(path, '/') + 1 : path, rounds);
    tell(&c, x);
    printf("\nMedians that fall with the budget by more than both spreads: %d.\n",
           count_falls(&c, x));
    fflush(stdout);
    nino_experiment_destroy(&x);
    for (int i = 0; i < c.n; i++)
        nino_ctx_destroy(&c.at[i].ctx);
    nino_graph_destroy(&c.g);
}

int main(int argc, char **argv)
{
    static const char *const usual[] = { "data/workflows/text_to_image.json",
                                         "data/workflows/lora.json",
                                         "data/workflows/text_to_video.json" };
    int first = 1;
    for (; first + 1 < argc && !strncmp(argv[first], "--", 2); first += 2)
        if (!strcmp(argv[first], "--device"))
            device = argv[first + 1];
        else
            rounds = atoi(argv[first + 1]);
    nino_ctx *ctx = open_within(0);
    printf("# What less memory costs, on %s\n\nMade by `make budgets`, on a quiet machine. "
           "Predicted and "
           "measured are of the whole run; the\ndemo's networks are small, so that launches weigh "
           "more "
           "in both than with large ones.\n",
           nino_ctx_backend(ctx)->info.name);
    nino_ctx_destroy(&ctx);
    for (int i = first; i < argc; i++)
        measure(argv[i]);
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]) && first == argc; i++)
        measure(usual[i]);
    return 0;
}
