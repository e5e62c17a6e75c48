// A sampling that was cancelled goes on where it was, whatever the sampler: the latent is that of a
// run that was not stopped, bit for bit, the steps that are there are not computed again, and
// progress begins behind them.
#include <dirent.h>
#include <math.h>

#include "core/base/file.h"
#include "tests/flow.h"

static const char models[] = "data/demo/models";
static nino_error err;

// Figures of progress, as an event told them.
typedef struct told {
    uint64_t t_ns;
    double done, total, eta_s;
} told;

typedef struct ran {
    nino_status st;
    told step[64], progress[512]; // progress: since it was said that it goes on
    size_t n_steps, n_progress;
    double load_s;   // reading weights, which counts in no ETA
    int steps, kept; // computed and told; left behind
    bool has_said;   // that it goes on
    double share;    // of the work that was done by then, as progress told
    char *latent;    // the file
    size_t len;
} ran;

static nino_ctx *open_with(nino_steps_opt steps)
{
    static char output[300], state[300];
    static const char *const roots[] = { models, NULL };
    snprintf(output, sizeof(output), "%s/output", flow_temp());
    snprintf(state, sizeof(state), "%s/state", flow_temp());
    nino_ctx *ctx = nino_ctx_create(
        &(nino_ctx_params){ NINO_CTX_PARAMS_INIT, .device = "ref", .steps = steps,
                            .state_dir = state,
                            .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots,
                                                        .output_dir = output, .no_metadata = 1 } },
        &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    return ctx;
}

static int n_steps = 5;

static nino_graph *graph(const char *sampler, int seed)
{
    char json[1500];
    snprintf(json, sizeof(json),
             "{'1': {'class_type': 'CheckpointLoaderSimple', 'inputs': {'ckpt_name': "
             "'demo_flux.safetensors'}}, '2': {'class_type': 'CLIPTextEncode', 'inputs': {'text': "
             "'a red circle', 'clip': ['1', 1]}}, '3': {'class_type': 'EmptySD3LatentImage', "
             "'inputs': {'width': 32, 'height': 32, 'batch_size': 1}}, '4': {'class_type': "
             "'KSampler', 'inputs': {'seed': %d, 'steps': %d, 'cfg': 1.0, 'sampler_name': '%s', "
             "'scheduler': 'simple', 'denoise': 1, 'model': ['1', 0], 'positive': ['2', 0], "
             "'negative': ['2', 0], 'latent_image': ['3', 0]}}, '5': {'class_type': 'SaveLatent', "
             "'inputs': {'samples': ['4', 0], 'filename_prefix': 'sampled'}}}",
             seed, n_steps, sampler);
    return flow_graph(json);
}

static void tell(told *list, size_t *n, size_t max, const nino_event *ev)
{
    const told t =
        ev->kind == NINO_EV_PROGRESS
            ? (told){ ev->t_ns, ev->u.progress.done, ev->u.progress.total, ev->u.progress.eta_s }
            : (told){ ev->t_ns, ev->u.step.step, ev->u.step.total, ev->u.step.eta_s };
    if (*n < max)
        list[(*n)++] = t;
}

// stop: cancelled when so many steps have been told; 0: not. Every run is a process of its own.
static ran run(const char *sampler, int seed, nino_steps_opt opt, int stop)
{
    ran r = { 0 };
    nino_event ev[64];
    nino_ctx *ctx = open_with(opt);
    nino_graph *g = graph(sampler, seed);
    nino_job *job = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    bool is_done = false;
    while (!is_done) {
        is_done = nino_job_done(job, &r.st, &err);
        for (size_t n; (n = nino_job_poll(job, ev, 64));)
            for (size_t i = 0; i < n; i++) {
                r.steps += ev[i].kind == NINO_EV_STEP_INFO;
                r.load_s += ev[i].kind == NINO_EV_ONCE ? (double) ev[i].u.once.load_ns * 1e-9 : 0;
                if (ev[i].kind == NINO_EV_STEP_INFO)
                    tell(r.step, &r.n_steps, 64, &ev[i]);
                if (ev[i].kind == NINO_EV_PROGRESS && r.has_said)
                    tell(r.progress, &r.n_progress, 512, &ev[i]);
                if (ev[i].kind == NINO_EV_PROGRESS && !r.has_said)
                    r.share = ev[i].u.progress.done / ev[i].u.progress.total;
                r.has_said |=
                    ev[i].kind == NINO_EV_MESSAGE &&
                    strstr(nino_job_name(job, ev[i].name), "where the last run was stopped");
                if (stop && r.steps >= stop)
                    nino_job_cancel(job);
            }
        nino_job_wait(job, 5);
    }
    r.kept = nino_ctx_kept_steps(ctx);
    nino_job_output file;
    if (!r.st && nino_job_outputs(job, &file, 1) == 1)
        CHECK_OK(nino_file_read(file.path, 1 << 20, false, &r.latent, &r.len, &err), err);
    nino_job_destroy(&job);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
    return r;
}

// Files in the folder of steps; *path: one of them.
static int count_files(char *path, size_t size)
{
    char dir[300];
    int n = 0;
    snprintf(dir, sizeof(dir), "%s/state/steps", flow_temp());
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') {
            snprintf(path, size, "%s/%s", dir, e->d_name);
            n++;
        }
    if (d)
        closedir(d);
    return n;
}

static bool is_equal(const ran *a, const ran *b)
{
    return a->latent && a->len == b->len && !memcmp(a->latent, b->latent, a->len);
}

static void check(const char *sampler)
{
    char path[600];
    const ran whole = run(sampler, 7, NINO_STEPS_NONE, 0);
    CHECK_OK(whole.st, err);
    CHECK(whole.latent && !whole.kept && count_files(path, sizeof(path)) == 0);
    ran stopped = run(sampler, 7, NINO_STEPS_KEEP, 2);
    CHECK(stopped.st == NINO_ERR_CANCELLED && stopped.kept == stopped.steps && stopped.kept >= 2);
    CHECK(count_files(path, sizeof(path)) == 1);
    // stopped again, a step later
    const ran again = run(sampler, 7, NINO_STEPS_RESUME, 1);
    CHECK(again.st == NINO_ERR_CANCELLED && again.kept == stopped.kept + again.steps);
    ran rest = run(sampler, 7, NINO_STEPS_RESUME, 0);
    CHECK_OK(rest.st, err);
    printf("  %-28s %d steps, %d and %d were kept, %d computed, goes on at %.0f %%\n", sampler,
           whole.steps, stopped.kept, again.kept, rest.steps, 100 * rest.share);
    CHECK(rest.steps == whole.steps - again.kept && rest.has_said && !whole.has_said);
    CHECK(rest.share > 0.8 * again.kept / whole.steps && rest.share < 1);
    CHECK(is_equal(&rest, &whole) && !rest.kept && count_files(path, sizeof(path)) == 0);
    free(whole.latent);
    free(rest.latent);
}

// An ETA is the time of what was computed since the first of the list, times what is left, divided
// by what was computed: not by what was there. Half is for what the clock of a busy machine may do.
static void check_eta(const told *list, size_t n, double load_s, const char *what)
{
    size_t n_known = 0, last = 0;
    for (size_t i = 1; i < n; i++)
        if (!isnan(list[i].eta_s) && list[i].done < list[i].total) {
            n_known++;
            last = i;
        }
    CHECK(n_known > 0);
    const told *a = list, *b = &list[last];
    const double own_s = b->eta_s * (b->done - a->done) / (b->total - b->done);
    const double wall_s = (double) (b->t_ns - a->t_ns) * 1e-9;
    printf("  ETA of %s: %.3f s at %.0f of %.0f, of %.3f s for %.0f of them\n", what, b->eta_s,
           b->done, b->total, wall_s, b->done - a->done);
    CHECK(own_s > 0.5 * (wall_s - load_s) && own_s < 2 * wall_s);
}

// What is left after a resume is told by the steps that it computes.
static void test_eta(void)
{
    n_steps = 14;
    const ran stopped = run("euler", 3, NINO_STEPS_KEEP, 9);
    CHECK(stopped.kept >= 9 && stopped.kept <= 11);
    ran rest = run("euler", 3, NINO_STEPS_RESUME, 0);
    CHECK_OK(rest.st, err);
    CHECK(rest.n_steps == (size_t) (n_steps - stopped.kept) && rest.n_progress > 0);
    CHECK(rest.step[0].done == stopped.kept + 1 && isnan(rest.step[0].eta_s));
    for (size_t i = 0; i < rest.n_steps; i++)
        CHECK(rest.step[i].done == stopped.kept + 1 + (int) i && rest.step[i].total == n_steps);
    const double kept = (double) stopped.kept / n_steps;
    for (size_t i = 0; i < rest.n_progress; i++) {
        const told *p = &rest.progress[i];
        CHECK(p->done >= 0.8 * kept * p->total && p->total == rest.progress[0].total);
        CHECK(!i || p->done >= p[-1].done);
    }
    check_eta(rest.step, rest.n_steps, rest.load_s, "steps");
    check_eta(rest.progress, rest.n_progress, rest.load_s, "progress");
    free(rest.latent);
    n_steps = 5;
}

// Another seed is another sampling; without --resume everything is computed, also after damage.
static void test_not_used(void)
{
    char path[600];
    const ran whole = run("euler", 7, NINO_STEPS_KEEP, 0);
    CHECK(whole.steps == 5 && count_files(path, sizeof(path)) == 0);
    for (int k = 0; k < 3; k++) {
        const ran stopped = run("euler", 7, NINO_STEPS_KEEP, 2);
        CHECK(stopped.kept >= 2 && count_files(path, sizeof(path)) == 1);
        if (k == 2) { // in the first answer
            FILE *f = fopen(path, "r+");
            CHECK(f && !fseek(f, 16 + 48 + 10, SEEK_SET) && fputc('x', f) == 'x' && !fclose(f));
        }
        const ran other = run("euler", k ? 7 : 8, k == 1 ? NINO_STEPS_KEEP : NINO_STEPS_RESUME, 0);
        CHECK_OK(other.st, err);
        CHECK(other.steps == 5 && !other.has_said);
        CHECK(is_equal(&other, &whole) == (k > 0));
        CHECK(count_files(path, sizeof(path)) == (k == 0));
        free(other.latent);
    }
    free(whole.latent);
}

int main(void)
{
    static const char *const samplers[] = {
        "euler",  "heun",         "euler_ancestral",     "dpmpp_2m_sde",
        "uni_pc", "dpm_adaptive", "res_multistep_cfg_pp"
    };
    for (size_t i = 0; i < sizeof(samplers) / sizeof(samplers[0]); i++)
        check(samplers[i]);
    test_eta();
    test_not_used();
    flow_clean();
    return 0;
}
