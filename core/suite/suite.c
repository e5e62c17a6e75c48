// The benchmark suite: settings of a case measured in turn by the experiment engine, with what each run counted and
// how far its pictures are from the baseline's.
#include "core/suite/suite_priv.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/params.h"
#include "core/base/time.h"

enum { ROUNDS = 10, WARMUP = 2, ROUNDS_LEAST = 10, QUICK_SECONDS = 300, FULL_SECONDS = 2400 };
enum { SUITE_CASES_MOST = 32 };
// A claim about one of the settings of a case that is wrong by chance.
#define ALPHA 0.05

typedef struct setting {
    char name[40];
    nino_job_options o;
} setting;

// A case while it is measured.
typedef struct trial {
    const nino_suite_params *p;
    const suite_case *c;
    size_t at, n_cases; // this is the at-th of those that are run
    suite_models models;
    char model_dir[4096];
    const char *folders[3];
    nino_ctx *ctx;
    nino_graph *g;
    int n; // settings; the yardstick is one more
    setting set[NINO_SUITE_SETTINGS];
    int runs[NINO_MAX_SETTINGS], warmed[NINO_MAX_SETTINGS]; // that count, and not, so far
    nino_job *first[NINO_SUITE_SETTINGS];                   // of the seed that all have
    nino_suite_case *out;
    nino_bench_result *bench;
    float *latent;
    double warm_s; // that one round will take about: the last one that warms up
} trial;

// ---- settings --------------------------------------------------------------------------------

static nino_job_options job_options(const trial *t, nino_phase phase)
{
    nino_job_options o = { NINO_JOB_OPTIONS_INIT, .models = t->folders,
                           .precision = t->c->precision, .keep_results = true, .no_files = true };
    nino_phase_set(&o, phase);
    return o;
}

static void make_settings(trial *t)
{
    static const char *const names[] = { "baseline", "phase1", "phase2", "phase3" };
    const nino_phase last = t->p->last;
    if (t->c->flow == SUITE_LOAD) { // the same but for reading ahead
        for (int k = 0; k < 2; k++) {
            t->set[k].o = (nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = t->folders,
                                              .keep_results = true, .no_files = true };
            t->set[k].o.policies_off = k ? 0 : NINO_POLICY_BIT(NINO_POLICY_PREFETCH);
            snprintf(t->set[k].name, sizeof(t->set[k].name), k ? "prefetch" : "no-prefetch");
        }
        t->n = 2;
        return;
    }
    for (int k = 0; k <= (int) last; k++) {
        t->set[t->n].o = job_options(t, (nino_phase) k);
        snprintf(t->set[t->n].name, sizeof(t->set[t->n].name), "%s", names[k]);
        t->n++;
    }
    const nino_job_options all = job_options(t, last);
    for (int k = 0; k < NINO_POLICY_COUNT && t->n < NINO_SUITE_SETTINGS; k++) {
        const uint32_t bit = NINO_POLICY_BIT(k);
        if (!(t->p->without & bit & all.policies_on))
            continue;
        t->set[t->n].o = all;
        t->set[t->n].o.policies_on &= ~bit;
        t->set[t->n].o.policies_off |= bit;
        snprintf(t->set[t->n].name, sizeof(t->set[t->n].name), "%s no-%.20s", names[last],
                 nino_policy_name((nino_policy) k));
        t->n++;
    }
}

// ---- one run ---------------------------------------------------------------------------------

// A latent of random numbers for a decoder, other ones for each seed.
static nino_status give_latent(trial *t, uint64_t seed, nino_error *err)
{
    const int h = t->c->height / 8, w = t->c->width / 8, channels = t->models.channels;
    const int frames = t->c->frames ? (t->c->frames - 1) / 4 + 1 : 0; // of the latent
    const size_t n = (size_t) (t->c->batch * (frames ? frames : 1)) * (size_t) h * (size_t) w *
                     (size_t) channels;
    uint64_t x = seed * 0x9e3779b97f4a7c15u + 1;
    if (!t->latent && !(t->latent = calloc(n, sizeof(*t->latent))))
        return nino_fail(err, NINO_ERR_NOMEM, "suite", "out of memory");
    for (size_t i = 0; i < n; i++) {
        float sum = 0; // of four uniform numbers: roughly normal
        for (int k = 0; k < 4; k++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            sum += (float) (x >> 40) * 0x1p-24f - 0.5f;
        }
        t->latent[i] = sum * 1.7f;
    }
    const nino_raster r = { NINO_RASTER_INIT,     .type = NINO_RASTER_F32,
                            .n = t->c->batch,     .frames = frames,
                            .height = h,          .width = w,
                            .channels = channels, .data = t->latent };
    return nino_graph_set_latent(t->g, "5", &r, err);
}

static nino_status set_seed(trial *t, uint64_t seed, nino_error *err)
{
    char text[40];
    if (suite_is_decode(t->c))
        return give_latent(t, seed, err);
    snprintf(text, sizeof(text), "6.seed=%llu", (unsigned long long) seed);
    return nino_graph_set(t->g, text, err);
}

// What the events of a run tell beyond its statistics.
static void count_event(nino_suite_run *r, const nino_job *job, const nino_event *e)
{
    r->tiles += e->kind == NINO_EV_TILE;
    r->chunks += e->kind == NINO_EV_CHUNK;
    r->kernels += e->kind == NINO_EV_KERNEL;
    r->cached += e->kind == NINO_EV_CACHE && e->sub == NINO_CACHE_NODE && e->u.scope.arg0;
    if (e->kind == NINO_EV_ONCE)
        r->load_s += (double) e->u.once.load_ns * 1e-9;
    if (e->kind != NINO_EV_TRANSFER ||
        strcmp(nino_job_name((void *) (uintptr_t) job, e->name), "load"))
        return;
    r->load_bytes += (uint64_t) e->u.kernel.bytes;
    if (e->sub == NINO_TRANSFER_AHEAD)
        r->ahead_bytes += (uint64_t) e->u.kernel.bytes;
    if (e->sub == NINO_TRANSFER_LATE)
        r->late_bytes += (uint64_t) e->u.kernel.bytes;
    if (e->sub == NINO_TRANSFER_COLD)
        r->cold_bytes += (uint64_t) e->u.kernel.bytes;
    if (e->sub == NINO_TRANSFER_LATE || e->sub == NINO_TRANSFER_COLD)
        r->stall_s += (double) e->u.kernel.queued_us * 1e-6;
}

static nino_status wait_for(nino_job *job, nino_suite_run *r, nino_stats *stats, nino_error *err)
{
    nino_status st = NINO_OK;
    nino_event ev[256];
    for (;;) {
        const size_t n = nino_job_poll(job, ev, 256);
        nino_stats_add(stats, ev, n, nino_job_name, job);
        for (size_t i = 0; i < n; i++)
            count_event(r, job, &ev[i]);
        if (!n && nino_job_done(job, &st, err))
            return st;
        if (!n)
            nino_job_wait(job, 200);
    }
}

// The page cache forgets the models, so that they come from the disk.
static void forget_models(const trial *t)
{
    char path[4200];
    snprintf(path, sizeof(path), "%s/checkpoints/%s", t->model_dir, t->models.checkpoint);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

static nino_status run_job(trial *t, int k, uint64_t seed, nino_job **job, double *seconds,
                           nino_error *err)
{
    nino_suite_run now = { .n = 0 }, *r = &t->out->runs[k];
    nino_perf_stats perf;
    nino_mem_stat mem;
    nino_stats *stats = nino_stats_create();
    nino_status st = stats ? set_seed(t, seed, err) : NINO_ERR_NOMEM;
    if (t->c->flow == SUITE_LOAD)
        forget_models(t);
    const uint64_t begin = nino_now_ns();
    if (!st && !(*job = nino_job_start(t->ctx, t->g, &t->set[k].o, err)))
        st = err->code;
    if (!st)
        st = wait_for(*job, &now, stats, err);
    *seconds = (double) (nino_now_ns() - begin) * 1e-9;
    if (!st) {
        nino_job_memory(*job, &mem);
        nino_stats_perf(stats, &perf);
        // Compiling is nobody's time, loading that of those who measure it.
        const double once = (double) nino_stats_preparing(stats, NULL) * 1e-9 +
                            (t->c->flow == SUITE_LOAD ? 0 : now.load_s);
        *seconds = *seconds > once ? *seconds - once : *seconds;
        r->kernels = now.kernels, r->tiles = now.tiles, r->chunks = now.chunks;
        r->cached = now.cached, r->load_s = now.load_s, r->stall_s = now.stall_s;
        r->load_bytes = now.load_bytes, r->ahead_bytes = now.ahead_bytes;
        r->late_bytes = now.late_bytes, r->cold_bytes = now.cold_bytes;
        r->peak_bytes = mem.peak;
        r->share_16 = perf.precision_efficiency;
        nino_stats_memory(stats, &mem);
        r->blocks = mem.allocs, r->reused = mem.hits;
    }
    nino_stats_destroy(&stats);
    return st;
}

// Says what is measured next.
static void tell_step(const trial *t, const nino_experiment *e, int k, bool is_warmup)
{
    nino_suite_step step = { .name = t->out->name,
                             .setting = k == t->n ? "yardstick" : t->set[k].name,
                             .at = t->at,
                             .n_cases = t->n_cases,
                             .is_warmup = is_warmup };
    char text[200];
    nino_experiment_progress(e, &step.done, &step.all);
    if (t->p->step)
        t->p->step(t->p->priv, &step);
    snprintf(text, sizeof(text), "%.63s: %.39s%s", step.name, step.setting,
             is_warmup ? ", warming up" : "");
    if (t->p->progress && k < t->n)
        t->p->progress(t->p->priv, text);
}

static nino_status measure_setting(trial *t, int k, bool is_warmup, double *seconds,
                                   nino_error *err)
{
    nino_job *job = NULL;
    nino_status st = NINO_OK;
    if (k == t->n) {
        t->warmed[k] += is_warmup;
        return nino_bench_yardstick(t->p->device, t->bench, seconds, err);
    }
    // One after the other, so that each run of a setting has its own, and those of a round the same.
    st = run_job(t, k, 1 + (uint64_t) (t->warmed[k] + t->runs[k]), &job, seconds, err);
    t->runs[k] += !is_warmup;
    t->warmed[k] += is_warmup;
    if (!st && is_warmup) {
        nino_job_destroy(&t->first[k]);
        t->first[k] = job;
        job = NULL;
    }
    nino_job_destroy(&job);
    return st;
}

// ---- what came of it -------------------------------------------------------------------------

static void compare_outputs(const trial *t, int k)
{
    nino_suite_run *r = &t->out->runs[k];
    nino_raster a = { NINO_RASTER_INIT }, b = { NINO_RASTER_INIT };
    double sum = 0, power = 0, most = 0;
    r->nmse = r->psnr = r->most = (double) NAN;
    if (nino_job_image(t->first[0], "9", 0, &a, NULL) ||
        nino_job_image(t->first[k], "9", 0, &b, NULL) || a.n != b.n || a.height != b.height ||
        a.width != b.width || a.channels != b.channels)
        return;
    const size_t n = (size_t) a.n * (size_t) a.height * (size_t) a.width * (size_t) a.channels;
    const float *x = a.data, *y = b.data;
    for (size_t i = 0; i < n; i++) {
        const double d = (double) y[i] - (double) x[i];
        sum += d * d;
        power += (double) x[i] * (double) x[i];
        most = fabs(d) > most ? fabs(d) : most;
    }
    r->nmse = power > 0 ? sum / power : sum;
    r->psnr = sum > 0 ? 10 * log10((double) n / sum) : (double) INFINITY;
    r->most = 255 * most;
}

static void fill_run(const trial *t, const nino_experiment *e, int k)
{
    nino_suite_run *r = &t->out->runs[k];
    double yard[NINO_MAX_ROUNDS], ratio[NINO_MAX_ROUNDS], sum = 0, power = 0;
    nino_spread s;
    const size_t n = nino_experiment_times(e, k, r->seconds, NINO_MAX_ROUNDS);
    nino_experiment_times(e, t->n, yard, NINO_MAX_ROUNDS);
    nino_experiment_spread(e, k, &s);
    nino_experiment_effect(e, k, &r->effect);
    for (size_t i = 0; i < n; i++) {
        sum += r->seconds[i];
        ratio[i] = r->seconds[i] / yard[i];
    }
    r->n = n;
    r->average_s = sum / (double) n;
    for (size_t i = 0; i < n; i++)
        power += (r->seconds[i] - r->average_s) * (r->seconds[i] - r->average_s);
    r->sigma_s = n > 1 ? sqrt(power / (double) (n - 1)) : (double) NAN;
    r->median_s = s.median, r->mad_s = s.mad, r->min_s = s.min, r->max_s = s.max;
    r->per_second = t->c->batch * (t->c->frames ? t->c->frames : 1) / s.median;
    snprintf(r->setting, sizeof(r->setting), "%s", t->set[k].name);
    snprintf(r->bench.name, sizeof(r->bench.name), "%.50s, %.60s, %s", t->out->name,
             t->out->networks, r->setting);
    nino_bench_fill(&r->bench, r->seconds, ratio, n);
    compare_outputs(t, k);
}

// ---- a case ----------------------------------------------------------------------------------

static nino_ctx *open_ctx(const trial *t, uint64_t limit, nino_error *err)
{
    const nino_ctx_params cp = { NINO_CTX_PARAMS_INIT, .device = t->p->device,
                                 .cache_dir = t->p->cache_dir, .helper = t->p->helper,
                                 .mem_limit = limit };
    return nino_ctx_create(&cp, err);
}

// A context with as much memory as the case is to have, of what plan says that the baseline needs.
static nino_status open_case(trial *t, nino_error *err)
{
    nino_plan plan = { .n_scopes = 0 };
    char *text = nino_suite_workflow(t->c, &t->models);
    t->g = text ? nino_graph_load(text, strlen(text), t->c->name, err) : NULL;
    free(text);
    if (!t->g)
        return err->code ? err->code : nino_fail(err, NINO_ERR_NOMEM, "suite", "out of memory");
    nino_status st = set_seed(t, 1, err);
    if (st || !(t->ctx = open_ctx(t, 0, err)))
        return st ? st : err->code;
    if (t->c->budget <= 0)
        return NINO_OK;
    st = nino_graph_plan(t->ctx, t->g, NULL, &t->set[0].o, &plan, err);
    const uint64_t base = t->c->flow == SUITE_LOAD ? plan.weight_bytes : plan.peak_bytes;
    const uint64_t rest = t->c->flow == SUITE_LOAD ? plan.peak_activation_bytes : 0;
    nino_plan_release(&plan);
    nino_ctx_destroy(&t->ctx);
    if (!st && !(t->ctx = open_ctx(t, (uint64_t) ((double) base * t->c->budget) + rest, err)))
        st = err->code;
    return st;
}

static int warmups(const nino_suite_params *p) { return p->warmup > 0 ? p->warmup : WARMUP; }

// Whether all rounds would be done in time; where not, says so. After the first run of all, which compiles and
// loads as well, only what is far beyond is known; after the last that warm up the rest.
static bool is_in_time(trial *t, const nino_experiment *e, int rounds, double first, double left)
{
    uint64_t done, most;
    nino_experiment_progress(e, &done, &most);
    const bool is_first = done == 1 && t->c->is_full,
               is_warm = done == (uint64_t) (t->n + 1) * (uint64_t) warmups(t->p);
    const double needed = is_first ? first * t->n * (rounds + warmups(t->p)) : t->warm_s * rounds;
    if (!(is_first && needed > 2 * left) && !(is_warm && needed > left))
        return true;
    snprintf(t->out->left_out, sizeof(t->out->left_out),
             "%d rounds of %d settings would take about %.0f s, %.0f s were left", rounds, t->n,
             needed, left > 0 ? left : 0);
    return false;
}

static nino_status measure_case(trial *t, double left, nino_error *err)
{
    const int rounds = t->p->rounds ? t->p->rounds : ROUNDS;
    const nino_experiment_params ep = { NINO_EXPERIMENT_PARAMS_INIT, .settings = t->n + 1,
                                        .warmup = warmups(t->p),     .rounds_min = rounds,
                                        .rounds_max = rounds,        .alpha = ALPHA };
    nino_experiment *e = nino_experiment_create(&ep, err);
    nino_status st = e ? NINO_OK : err->code;
    const uint64_t begin = nino_now_ns();
    bool is_warmup = false;
    for (int k; !st && (k = nino_experiment_next(e, &is_warmup)) >= 0;) {
        double seconds = 0;
        tell_step(t, e, k, is_warmup);
        st = measure_setting(t, k, is_warmup, &seconds, err);
        st = st ? st : nino_experiment_add(e, seconds, err);
        t->warm_s += is_warmup && t->warmed[k] == warmups(t->p) ? seconds : 0;
        if (!st && is_warmup &&
            !is_in_time(t, e, rounds, seconds, left - (double) (nino_now_ns() - begin) * 1e-9))
            break;
    }
    for (int k = 0; !st && !*t->out->left_out && k < t->n; k++)
        fill_run(t, e, k);
    nino_experiment_destroy(&e);
    return st;
}

// The last of r->cases, of n that are run.
static nino_status suite_run_case(const nino_suite_params *p, const suite_case *c, double left,
                                  nino_suite_result *r, size_t n, nino_error *err)
{
    nino_suite_case *out = &r->cases[r->n_cases - 1];
    trial *t = calloc(1, sizeof(*t));
    nino_suite_run *runs = calloc(NINO_SUITE_SETTINGS, sizeof(*runs));
    nino_status st = NINO_OK;
    *out = (nino_suite_case){ .width = c->width,
                              .height = c->height,
                              .batch = c->batch,
                              .frames = c->frames,
                              .steps = c->steps,
                              .runs = runs };
    snprintf(out->name, sizeof(out->name), "%s", c->name);
    if (!t || !runs) {
        free(t);
        return nino_fail(err, NINO_ERR_NOMEM, "suite", "out of memory");
    }
    t->p = p, t->c = c, t->out = out, t->bench = &r->bench;
    t->at = r->n_cases - 1, t->n_cases = n;
    st = nino_suite_make_models(c, p, t->model_dir, sizeof(t->model_dir), &t->models, out->left_out,
                                sizeof(out->left_out), err);
    snprintf(out->networks, sizeof(out->networks), "%s",
             t->models.networks ? t->models.networks : "");
    t->folders[0] = t->model_dir;
    t->folders[1] = p->demo_models; // its tokenizers
    make_settings(t);
    if (!st && !*out->left_out && left <= 0)
        snprintf(out->left_out, sizeof(out->left_out), "no time was left");
    if (!st && !*out->left_out && !(st = open_case(t, err)))
        st = measure_case(t, left, err);
    out->n_runs = st || *out->left_out ? 0 : (size_t) t->n;
    for (int k = 0; k < NINO_SUITE_SETTINGS; k++)
        nino_job_destroy(&t->first[k]);
    nino_graph_destroy(&t->g);
    nino_ctx_destroy(&t->ctx);
    free(t->latent);
    free(t);
    return st;
}

// ---- all of them -----------------------------------------------------------------------------

static nino_status suite_check(const nino_suite_params *p, nino_error *err)
{
    const char *const *n = nino_suite_names();
    while (*n && strcmp(*n, p->suite))
        n++;
    if (!*n)
        return nino_fail(err, NINO_ERR_UNKNOWN, p->suite,
                         "there is no such suite; there are phases, vae, sd, flux, wan, load");
    if (!p->demo_models || access(p->demo_models, R_OK))
        return nino_fail(err, NINO_ERR_MISSING, p->demo_models ? p->demo_models : "demo models",
                         "the demo's models, which the suite needs, are not there");
    if (p->rounds && (p->rounds < ROUNDS_LEAST || p->rounds > NINO_MAX_ROUNDS))
        return nino_fail(err, NINO_ERR_RANGE, "rounds", "is %d, not %d to %d", p->rounds,
                         ROUNDS_LEAST, NINO_MAX_ROUNDS);
    const char *of_suite[SUITE_CASES_MOST];
    const size_t all = nino_suite_case_names(p->suite, p->quick, of_suite, SUITE_CASES_MOST);
    for (const char *const *c = p->cases; c && *c; c++) {
        size_t k = 0;
        while (k < all && strcmp(of_suite[k], *c))
            k++;
        if (k == all)
            return nino_fail(err, NINO_ERR_UNKNOWN, *c, "is no case of the suite %s in its %s form",
                             p->suite, p->quick ? "quick" : "full");
    }
    return NINO_OK;
}

static bool is_chosen(const nino_suite_params *p, const suite_case *c)
{
    bool is_named = !p->cases;
    for (const char *const *name = p->cases; name && *name; name++)
        is_named |= !strcmp(*name, c->name);
    return is_named && c->is_full != p->quick && nino_suite_has_word(c->suites, p->suite);
}

// Every run as a case, for files to compare with.
static nino_status fill_bench(nino_suite_result *r, nino_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_cases; i++)
        n += r->cases[i].n_runs;
    if (!(r->bench.cases = calloc(n + 1, sizeof(*r->bench.cases))))
        return nino_fail(err, NINO_ERR_NOMEM, "suite", "out of memory");
    for (size_t i = 0; i < r->n_cases; i++)
        for (size_t k = 0; k < r->cases[i].n_runs; k++)
            r->bench.cases[r->bench.n_cases++] = r->cases[i].runs[k].bench;
    return NINO_OK;
}

nino_status nino_suite_run_all(const nino_suite_params *params, nino_suite_result *out,
                               nino_error *err)
{
    nino_suite_params p;
    nino_error mine = { .code = NINO_OK };
    nino_suite_result r = { .n_cases = 0 };
    if (!NINO_TAKE(&p, params, NINO_SUITE_PARAMS_INIT, err))
        return NINO_ERR_ARG;
    p.suite = p.suite ? p.suite : "phases";
    const double most = p.max_seconds > 0 ? p.max_seconds : p.quick ? QUICK_SECONDS : FULL_SECONDS;
    const uint64_t begin = nino_now_ns();
    double seconds;
    nino_status st = suite_check(&p, &mine);
    // Says what device it is, or that there is none, before models are made.
    st = st ? st : nino_bench_yardstick(p.device, &r.bench, &seconds, &mine);
    snprintf(r.suite, sizeof(r.suite), "%s", p.suite);
    r.is_quick = p.quick;
    size_t n = 0;
    for (const suite_case *c = nino_suite_cases; c->name; c++)
        n += is_chosen(&p, c);
    if (!st && !(r.cases = calloc(n + 1, sizeof(*r.cases))))
        st = nino_fail(&mine, NINO_ERR_NOMEM, "suite", "out of memory");
    for (const suite_case *c = nino_suite_cases; c->name && !st; c++) {
        if (!is_chosen(&p, c))
            continue;
        const double left = most - (double) (nino_now_ns() - begin) * 1e-9;
        r.n_cases++;
        st = suite_run_case(&p, c, left, &r, n, &mine);
    }
    if (!st && !r.n_cases)
        st = nino_fail(&mine, NINO_ERR_UNKNOWN, p.suite, "has no case in the %s form",
                       p.quick ? "quick" : "full");
    st = st ? st : fill_bench(&r, &mine);
    r.seconds = (double) (nino_now_ns() - begin) * 1e-9;
    if (!st) {
        *out = r;
        return NINO_OK;
    }
    nino_suite_release(&r);
    if (err)
        *err = mine;
    return st;
}

void nino_suite_release(nino_suite_result *r)
{
    for (size_t i = 0; i < r->n_cases; i++)
        free(r->cases[i].runs);
    free(r->cases);
    r->cases = NULL;
    r->n_cases = 0;
    nino_bench_release(&r->bench);
}
