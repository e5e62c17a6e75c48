// The programs that a plan lists are those that the run builds, no more and no fewer, each once; a run says
// which of how many it prepares. Counted, not timed.
#include "tests/flow.h"

#define FOLDER "data/workflows/"

enum { MOST = 64 };
typedef struct names {
    char at[MOST][300];
    size_t n;
} names;

static nino_error err;
static names built; // of all runs so far

static void add(names *to, const char *text)
{
    CHECK(to->n < MOST);
    snprintf(to->at[to->n++], sizeof(to->at[0]), "%s", text);
}

static bool has(const names *list, const char *text)
{
    for (size_t i = 0; i < list->n; i++)
        if (!strcmp(list->at[i], text))
            return true;
    return false;
}

// "program FILE OPTIONS": the library begins to build it.
static void on_log(void *priv, nino_log_level level, const char *text)
{
    (void) priv;
    (void) level;
    if (strncmp(text, "program ", 8) || !strncmp(text + 8, "probe ", 6))
        return;
    if (has(&built, text + 8))
        fprintf(stderr, "built twice: %s\n", text + 8);
    CHECK(!has(&built, text + 8));
    add(&built, text + 8);
}

static nino_ctx *open_device(void)
{
    static const char *const roots[] = { "data/demo/models", NULL };
    const nino_job_options job = { NINO_JOB_OPTIONS_INIT, .models = roots,
                                   .input_dir = "data/demo/input", .output_dir = flow_temp() };
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = "cl", .job = &job, .log = on_log,
                                .log_level = NINO_LOG_DEBUG };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    if (!ctx) {
        printf("skip: %s\n", err.msg);
        exit(77);
    }
    return ctx;
}

static void list_of(const nino_plan *p, names *out)
{
    for (size_t i = 0; i < p->n_programs; i++) {
        char text[300];
        const char *options = p->programs[i].options;
        const size_t len = strlen(options);
        CHECK(options[0] != ' ' && (!len || options[len - 1] != ' ') && !strstr(options, "  "));
        snprintf(text, sizeof(text), "%s %s", p->programs[i].file, options);
        CHECK(!has(out, text));
        add(out, text);
    }
}

// Of the stages that prepare kernels: 1 of n, 2 of n, ... n of n; what a helper has kept the binary
// of counts, but has no stage.
static void run_and_count(nino_ctx *ctx, nino_graph *g, size_t n)
{
    nino_event ev[256];
    nino_status st = NINO_OK;
    unsigned seen = 0;
    nino_job *job = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    for (bool is_done = false; !is_done;) {
        is_done = nino_job_done(job, &st, &err);
        for (size_t k; (k = nino_job_poll(job, ev, 256));)
            for (size_t i = 0; i < k; i++)
                if (ev[i].kind == NINO_EV_STAGE &&
                    !strncmp(nino_job_name(job, ev[i].name), NINO_STAGE_COMPILE, 8) &&
                    strncmp(nino_job_name(job, ev[i].name), NINO_STAGE_LAUNCH, 18) != 0) {
                    const unsigned number = NINO_COMPILE_NUMBER(ev[i].u.scope.arg0);
                    CHECK(number > seen);
                    seen = number;
                    CHECK(NINO_COMPILE_NUMBER(ev[i].u.scope.arg1) == n);
                }
        nino_job_wait(job, 20);
    }
    CHECK_OK(st, err);
    CHECK(seen <= n);
    nino_job_destroy(&job);
}

static void check(nino_ctx *ctx, const char *file, size_t most)
{
    names planned = { .n = 0 };
    nino_plan p = { .n_scopes = 0 };
    const size_t before = built.n;
    size_t fresh = 0;
    nino_graph *g = nino_graph_load_file(file, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    CHECK_OK(nino_graph_plan(ctx, g, NULL, NULL, &p, &err), err);
    CHECK(built.n == before); // a plan builds nothing
    list_of(&p, &planned);
    for (size_t i = 0; i < planned.n; i++)
        fresh += !has(&built, planned.at[i]);
    printf("%s: %zu programs, %zu of them new\n", file, planned.n, fresh);
    CHECK(planned.n > 0 && planned.n <= most);
    run_and_count(ctx, g, fresh);
    for (size_t i = before; i < built.n; i++)
        if (!has(&planned, built.at[i])) {
            fprintf(stderr, "%s: not in the plan: %s\n", file, built.at[i]);
            CHECK(!"in the plan");
        }
    CHECK(built.n - before == fresh);
    nino_plan_release(&p);
    nino_graph_destroy(&g);
}

// A device that is not here: its list, too, is short.
static void check_elsewhere(nino_ctx *ctx)
{
    nino_plan p = { .n_scopes = 0 };
    nino_graph *g = nino_graph_load_file(FOLDER "text_to_image.json", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    CHECK_OK(nino_graph_plan(ctx, g, "gfx1151", NULL, &p, &err), err);
    names list = { .n = 0 };
    list_of(&p, &list);
    printf("gfx1151: %zu programs\n", list.n);
    CHECK(list.n > 0 && list.n <= 14);
    nino_plan_release(&p);
    CHECK_OK(nino_graph_plan(ctx, g, "ref", NULL, &p, &err), err);
    CHECK(!p.n_programs); // it compiles nothing
    nino_plan_release(&p);
    nino_graph_destroy(&g);
}

int main(void)
{
    nino_ctx *ctx = open_device();
    built.n = 0;
    // Attention in three forms: causal, biased, plain; few rows in two: one text's, all time steps'.
    check(ctx, FOLDER "text_to_image.json", 9);
    check(ctx, FOLDER "text_to_image.json", 9); // all are there
    check(ctx, FOLDER "lora.json", 12);
    check(ctx, FOLDER "image_to_image.json", 14);
    check(ctx, FOLDER "tiled_decode.json", 14);
    if (getenv("NINODES_TEST_LONG")) {
        check(ctx, FOLDER "text_to_video.json", 16);
        check(ctx, FOLDER "gguf.json", 16);
        check(ctx, FOLDER "fp8.json", 16);
    }
    check_elsewhere(ctx);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
