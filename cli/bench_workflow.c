// ninodes bench WORKFLOW: how long a run takes beside a yardstick, or with one setting and another.
#include "commands.h"

#include <ftw.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// 8 rounds are the fewest that can show a difference at 5 %.
enum { SAMPLES = 5, ROUNDS = 8, LEVEL = 5, MOST_OUTPUTS = 64 };

typedef struct trial {
    const options *o;
    nino_ctx *ctx;
    nino_graph *graph[2]; // [1]: with --against; NULL: the yardstick is setting 0
    char dir[40];         // of the files, removed afterwards
    nino_job *last[2];    // with its results
    double pictures[2];   // of a run; 0: it makes none
    nino_bench_result *yard;
} trial;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void) st;
    (void) kind;
    (void) at;
    return remove(path);
}

// Calls fn for every raster that the job's output nodes were given.
static void each_picture(const nino_job *job,
                         void (*fn)(void *priv, const char *node, size_t i, const nino_raster *r),
                         void *priv)
{
    nino_job_output out[MOST_OUTPUTS];
    size_t n = nino_job_outputs(job, out, MOST_OUTPUTS);
    n = n < MOST_OUTPUTS ? n : MOST_OUTPUTS;
    for (size_t k = 0; k < n; k++) {
        bool is_seen = false;
        for (size_t m = 0; m < k; m++)
            is_seen |= !strcmp(out[m].node, out[k].node);
        nino_raster r = { NINO_RASTER_INIT };
        for (size_t i = 0; !is_seen && !nino_job_image(job, out[k].node, i, &r, NULL); i++)
            fn(priv, out[k].node, i, &r);
    }
}

static void count_pictures(void *priv, const char *node, size_t i, const nino_raster *r)
{
    (void) node, (void) i;
    *(double *) priv += r->n;
}

// One run: every node works, models and kernels are there from the runs before.
static nino_status run_once(trial *t, int k, double *seconds, nino_error *err)
{
    nino_ctx_params p;
    nino_job_options jo;
    fill_ctx_params(t->o, &p, &jo);
    jo.output_dir = t->dir;
    jo.is_silent = jo.is_anew = jo.keep_results = true;
    nino_job_destroy(&t->last[k]);
    const double begin = now();
    nino_job *job = t->last[k] = nino_job_start(t->ctx, t->graph[k], &jo, err);
    nino_status st = job ? NINO_OK : err->code;
    while (job && !nino_job_done(job, &st, err))
        nino_job_wait(job, 200);
    *seconds = now() - begin;
    t->pictures[k] = 0;
    if (job && !st)
        each_picture(job, count_pictures, &t->pictures[k]);
    *seconds /= t->pictures[k] > 0 ? t->pictures[k] : 1;
    return st;
}

static nino_status measure_run(void *priv, int k, bool is_warmup, double *seconds, nino_error *err)
{
    trial *t = priv;
    if (!t->o->quiet && !t->o->json && isatty(STDERR_FILENO))
        fprintf(stderr, "measuring: %s%s\n",
                !t->graph[1] ? (k ? "workflow" : "yardstick")
                : k          ? "B"
                             : "A",
                is_warmup ? ", warming up" : "");
    if (t->graph[1])
        return run_once(t, k, seconds, err);
    return k ? run_once(t, 0, seconds, err)
             : nino_bench_yardstick(t->o->device, t->yard, seconds, err);
}

static nino_experiment *measure_trial(trial *t, int rounds, nino_error *err)
{
    const nino_experiment_params ep = { NINO_EXPERIMENT_PARAMS_INIT, .warmup = (int) t->o->warmup,
                                        .rounds_min = rounds, .rounds_max = rounds,
                                        .alpha = LEVEL / 100.0 };
    nino_ctx_params p;
    nino_job_options jo;
    fill_ctx_params(t->o, &p, &jo);
    t->ctx = nino_ctx_create(&p, err);
    nino_experiment *e = t->ctx ? nino_experiment_create(&ep, err) : NULL;
    if (e && nino_experiment_run(e, measure_run, t, err))
        nino_experiment_destroy(&e);
    return e;
}

static bool open_trial(trial *t, const options *o, int *rc)
{
    *t = (trial){ .o = o, .dir = "/tmp/ninodes-bench-XXXXXX" };
    t->graph[0] = load_graph(o, "bench", rc);
    if (t->graph[0] && mkdtemp(t->dir))
        return true;
    if (t->graph[0]) {
        say("bench: no temporary folder");
        *rc = EXIT_RUN;
    }
    *t->dir = 0;
    return false;
}

static void close_trial(trial *t)
{
    for (int k = 0; k < 2; k++) {
        nino_job_destroy(&t->last[k]);
        nino_graph_destroy(&t->graph[k]);
    }
    nino_ctx_destroy(&t->ctx);
    if (*t->dir)
        nftw(t->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int bench_workflow(const options *o, nino_bench_result *r)
{
    int rc = EXIT_OK;
    nino_error err = { .code = NINO_OK };
    trial t;
    double v[2][NINO_MAX_ROUNDS];
    nino_experiment *e = NULL;
    if (open_trial(&t, o, &rc) && (r->cases = calloc(1, sizeof(*r->cases)))) {
        t.yard = r;
        e = measure_trial(&t, o->samples ? (int) o->samples : SAMPLES, &err);
        if (!e)
            rc = report_error(o, "bench", &err, NULL);
    }
    if (e) {
        const size_t n = nino_experiment_times(e, 1, v[0], NINO_MAX_ROUNDS);
        nino_experiment_times(e, 0, v[1], NINO_MAX_ROUNDS);
        for (size_t i = 0; i < n; i++)
            v[1][i] = v[0][i] / v[1][i];
        snprintf(r->cases[0].name, sizeof(r->cases[0].name), "%s", nino_graph_name(t.graph[0]));
        nino_bench_fill(&r->cases[0], v[0], v[1], n);
        r->n_cases = 1;
    }
    nino_experiment_destroy(&e);
    close_trial(&t);
    return rc;
}

// ---- against another setting -------------------------------------------------------------------

typedef struct outputs {
    const nino_job *other;
    bool is_equal, is_comparable;
    double sum, power, most;
    size_t n;
} outputs;

static void compare_picture(void *priv, const char *node, size_t i, const nino_raster *a)
{
    outputs *o = priv;
    nino_raster b = { NINO_RASTER_INIT };
    const size_t n = (size_t) a->n * (size_t) a->height * (size_t) a->width * (size_t) a->channels;
    o->n++;
    if (nino_job_image(o->other, node, i, &b, NULL) || a->n != b.n || a->height != b.height ||
        a->width != b.width || a->channels != b.channels || a->type != NINO_RASTER_F32 ||
        b.type != NINO_RASTER_F32) {
        o->is_comparable = false;
        return;
    }
    const float *x = a->data, *y = b.data;
    o->is_equal &= !memcmp(x, y, n * sizeof(*x));
    for (size_t k = 0; k < n; k++) {
        const double d = (double) y[k] - (double) x[k];
        o->sum += d * d;
        o->power += (double) x[k] * (double) x[k];
        o->most = fabs(d) > o->most ? fabs(d) : o->most;
    }
}

static void say_outputs(const trial *t, char *buf, size_t size)
{
    outputs o = { .other = t->last[1], .is_equal = true, .is_comparable = true };
    each_picture(t->last[0], compare_picture, &o);
    if (!o.n)
        snprintf(buf, size, "none to compare");
    else if (!o.is_comparable)
        snprintf(buf, size, "of other sizes or numbers");
    else if (o.is_equal)
        snprintf(buf, size, "equal, bit for bit");
    else
        snprintf(buf, size, "differ by %.1f/255 at most, NMSE %.2g", 255 * o.most,
                 o.power > 0 ? o.sum / o.power : o.sum);
}

static void tell_setting_json(const trial *t, const nino_experiment *e, int k)
{
    nino_spread s;
    nino_experiment_spread(e, k, &s);
    js_open(k ? "b" : "a", '{');
    js_uint("n", s.n);
    js_num("median_s", s.median);
    js_num("mad_s", s.mad);
    js_num("min_s", s.min);
    js_num("max_s", s.max);
    js_num("pictures", t->pictures[k]);
    js_close('}');
}

static void tell_against_json(const trial *t, const nino_experiment *e, const nino_effect *f,
                              const char *results)
{
    static const char *const verdicts[] = { "faster", "none", "slower" };
    js_envelope("bench");
    js_text("device", t->yard->device);
    js_text("unit", t->pictures[0] > 0 ? "picture" : "run");
    tell_setting_json(t, e, 0);
    tell_setting_json(t, e, 1);
    js_num("percent", f->percent);
    js_num("low_percent", f->low);
    js_num("high_percent", f->high);
    js_num("p", f->p);
    js_num("alpha", f->alpha);
    js_uint("rounds", f->rounds);
    js_text("verdict", verdicts[f->verdict + 1]);
    js_text("results", results);
    js_envelope_end();
}

static void tell_against_text(const trial *t, const nino_experiment *e, const nino_effect *f,
                              const char *results)
{
    char text[200];
    printf("device: %s\n", t->yard->device);
    for (int k = 0; k < 2; k++) {
        nino_spread s;
        nino_experiment_spread(e, k, &s);
        printf("%s %s", k ? "B" : "A", k ? "with" : nino_graph_name(t->graph[0]));
        for (size_t i = 0; k && i < t->o->against.n; i++)
            printf(" %s", t->o->against.item[i]);
        printf(": %.4f s a %s (median of %llu, MAD %.4f)\n", s.median,
               t->pictures[k] > 0 ? "picture" : "run", (unsigned long long) s.n, s.mad);
    }
    printf("B against A, in turn: %s\nresults: %s\n", nino_effect_text(f, text, sizeof(text)),
           results);
}

int bench_against(const options *o, double limit)
{
    int rc = EXIT_OK;
    nino_error err = { .code = NINO_OK };
    nino_bench_result yard = { .n_cases = 0 };
    nino_experiment *e = NULL;
    char results[80];
    double seconds;
    nino_effect f;
    trial t;
    nino_status st = NINO_OK;
    if (open_trial(&t, o, &rc) && (t.graph[1] = load_graph(o, "bench", &rc))) {
        t.yard = &yard;
        for (size_t i = 0; i < o->against.n && !st; i++)
            st = nino_graph_set(t.graph[1], o->against.item[i], &err);
        if (st) {
            report_error(o, "bench", &err, "--against NODE.INPUT=VALUE, as --set");
            rc = EXIT_USAGE;
        } else if (nino_bench_yardstick(o->device, &yard, &seconds, &err) || // names the device
                   !(e = measure_trial(&t, o->samples ? (int) o->samples : ROUNDS, &err))) {
            rc = report_error(o, "bench", &err, NULL);
        }
    }
    if (e) {
        nino_experiment_effect(e, 1, &f);
        say_outputs(&t, results, sizeof(results));
        (o->json ? tell_against_json : tell_against_text)(&t, e, &f, results);
        if (f.verdict > 0 && f.percent > limit) {
            say("bench: B takes %.1f %% longer than A", f.percent);
            rc = EXIT_REGRESSION;
        }
    }
    nino_experiment_destroy(&e);
    close_trial(&t);
    return rc;
}
