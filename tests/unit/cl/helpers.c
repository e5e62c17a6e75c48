// Helper processes that end where they should not: at once, with all of the work taken, in the middle of a
// program, with an answer that is none, with one for what they have not made. Every run goes on by itself, makes
// the same picture, and leaves no process behind.
#include "cl/cl_schedule.h"
#include "tests/flow.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>

static nino_error err;

static const struct {
    const char *name, *script;
} helpers[] = {
    { "at once", "kill -9 $$" },
    { "with all of the work", "cat >/dev/null; kill -9 $$" },
    { "in the middle", "head -c 292 >/dev/null; sleep 0.2; kill -9 $$" },
    { "with an answer that is none", "printf '\\377\\377\\377\\177'; sleep 0.2; kill -9 $$" },
    { "with an answer cut short", "printf 'x'; kill -9 $$" },
    { "with what it has not made", "printf '\\000\\000\\000\\000'; sleep 0.2; kill -9 $$" },
    { "never, and answers nothing to others", "exec sleep 2" },
};

static const char *write_script(const char *text)
{
    static char path[600];
    snprintf(path, sizeof(path), "%s/helper", flow_temp());
    FILE *f = fopen(path, "w");
    CHECK(f && fprintf(f, "#!/bin/sh\n%s\n", text) > 0 && !fclose(f) && !chmod(path, 0700));
    return path;
}

// The pictures' bytes, summed; what is compiled goes into a folder of its own.
static uint64_t run(int i, const char *helper)
{
    static const char *const roots[] = { "data/tiny/models", NULL };
    char cache[600], out[600];
    uint64_t sum = 0;
    snprintf(cache, sizeof(cache), "%s/cache%d", flow_temp(), i);
    snprintf(out, sizeof(out), "%s/out%d", flow_temp(), i);
    CHECK(!mkdir(cache, 0700));
    const nino_job_options job = {
        NINO_JOB_OPTIONS_INIT, .models = roots,     .input_dir = "data/tiny/input",
        .output_dir = out,     .no_metadata = true, .no_profile = true
    };
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = "cl", .job = &job,
                                .cache_dir = cache, .helper = helper };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    if (!ctx) {
        printf("skip: %s\n", err.msg);
        exit(77);
    }
    nino_graph *g = nino_graph_load_file("data/tiny/decode.json", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    nino_status st = NINO_OK;
    nino_job *j = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(j ? NINO_OK : err.code, err);
    nino_event ev[64];
    for (bool is_done = false; !is_done; nino_job_wait(j, 20)) {
        is_done = nino_job_done(j, &st, &err);
        while (nino_job_poll(j, ev, 64))
            ;
    }
    CHECK_OK(st, err);
    nino_job_destroy(&j);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
    snprintf(out + strlen(out), sizeof(out) - strlen(out), "/demo_00001_.png");
    FILE *f = fopen(out, "rb");
    CHECK(f);
    for (int c; (c = fgetc(f)) != EOF;)
        sum = sum * 31 + (uint64_t) c;
    fclose(f);
    return sum;
}

int main(void)
{
    unsetenv("NINODES_HELPERS");
    const uint64_t want = run(0, NULL);
    for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++) {
        const uint64_t got = run((int) i + 1, write_script(helpers[i].script));
        if (got != want)
            fprintf(stderr, "a helper that ends %s: another picture\n", helpers[i].name);
        CHECK(got == want);
        CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    }
    flow_clean();
    return 0;
}
