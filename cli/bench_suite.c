// ninodes bench suite: whole workflows under phases of optimisation, measured in turn; files and a report of it.
#include "commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Suites that are kernels alone, and what their cases have in their names.
static const char *const kernel_suites[][2] = { { "gemm", "linear" },
                                                { "conv", "conv" },
                                                { "attention", "attention" } };

const char *bench_kernels_of_suite(const char *name)
{
    for (size_t i = 0; i < sizeof(kernel_suites) / sizeof(kernel_suites[0]); i++)
        if (!strcmp(kernel_suites[i][0], name))
            return kernel_suites[i][1];
    return NULL;
}

// "measuring: 37 %: image 128x128, phase1, warming up". The app reads it (gui/engine/suite_run.c).
static void on_suite_step(void *priv, const nino_suite_step *s)
{
    const options *o = priv;
    const double share =
        ((double) s->at + (double) s->done / (double) s->all) / (double) s->n_cases;
    if (o->watch || (!o->quiet && !o->json && isatty(STDERR_FILENO)))
        fprintf(stderr, "measuring: %d %%: %s, %s%s\n", (int) (100 * share), s->name, s->setting,
                s->is_warmup ? ", warming up" : "");
}

static void on_suite_path(void *priv, const char *path)
{
    const options *o = priv;
    if (!o->json && !o->quiet)
        say("bench: wrote %s", path);
}

static void suite_run_json(const nino_suite_run *r)
{
    static const char *const verdicts[] = { "faster", "none", "slower" };
    js_open(NULL, '{');
    js_text("setting", r->setting);
    js_uint("n", r->n);
    js_num("median_s", r->median_s);
    js_num("average_s", r->average_s);
    js_num("min_s", r->min_s);
    js_num("max_s", r->max_s);
    js_num("sigma_s", r->sigma_s);
    js_num("mad_s", r->mad_s);
    js_num("percent", r->effect.percent);
    js_num("low_percent", r->effect.low);
    js_num("high_percent", r->effect.high);
    js_num("p", r->effect.p);
    js_text("verdict", verdicts[r->effect.verdict + 1]);
    js_num("per_second", r->per_second);
    js_uint("peak_bytes", r->peak_bytes);
    js_uint("kernels", r->kernels);
    js_uint("blocks", r->blocks);
    js_uint("blocks_reused", r->reused);
    js_uint("nodes_cached", r->cached);
    js_uint("tiles", r->tiles);
    js_uint("chunks", r->chunks);
    js_num("share_16_bit", r->share_16);
    js_uint("load_bytes", r->load_bytes);
    js_uint("ahead_bytes", r->ahead_bytes);
    js_uint("late_bytes", r->late_bytes);
    js_uint("cold_bytes", r->cold_bytes);
    js_num("stall_s", r->stall_s);
    js_num("nmse", r->nmse);
    js_num("psnr_db", r->psnr);
    js_num("ratio", r->bench.ratio);
    js_close('}');
}

static void suite_tell_json(const nino_suite_result *r)
{
    js_envelope("bench");
    js_text("suite", r->suite);
    js_text("device", r->bench.device);
    js_text("driver", r->bench.driver);
    js_num("seconds", r->seconds);
    js_open("cases", '[');
    for (size_t i = 0; i < r->n_cases; i++) {
        const nino_suite_case *c = &r->cases[i];
        js_open(NULL, '{');
        js_text("name", c->name);
        js_text("networks", c->networks);
        js_text("left_out", *c->left_out ? c->left_out : NULL);
        js_open("runs", '[');
        for (size_t k = 0; k < c->n_runs; k++)
            suite_run_json(&c->runs[k]);
        js_close(']');
        js_close('}');
    }
    js_close(']');
    js_envelope_end();
}

// The report goes to a file, or to stdout where no JSON does.
static int suite_tell(const options *o, const nino_suite_result *r)
{
    char *text = o->report || !o->json ? nino_suite_report(r) : NULL;
    FILE *f = o->report ? fopen(o->report, "we") : stdout;
    const bool ok = o->json && !o->report ? true : text && f && fputs(text, f) >= 0 && !fflush(f);
    if (!ok)
        say("bench: cannot write the report%s%s", o->report ? " to " : "",
            o->report ? o->report : "");
    if (f && f != stdout)
        fclose(f);
    free(text);
    if (ok && o->json)
        suite_tell_json(r);
    return ok ? EXIT_OK : EXIT_RUN;
}

static bool names_case_or_suite(const nino_suite_params *p, const char *where)
{
    bool is_named = p->suite && !strcmp(where, p->suite);
    for (const char *const *c = p->cases; c && *c; c++)
        is_named |= !strcmp(where, *c);
    return is_named;
}

int bench_suite(const options *o, nino_bench_result *out)
{
    char data[4200], demo[4300];
    nino_error err = { .code = NINO_OK };
    nino_suite_result r = { .n_cases = 0 };
    nino_suite_params p = { NINO_SUITE_PARAMS_INIT,
                            .device = o->device,
                            .helper = "/proc/self/exe",
                            .suite = o->n_args > 1 ? o->arg[1] : NULL,
                            .demo_models = demo,
                            .quick = o->fast,
                            .last = NINO_PHASE_VIDEO,
                            .rounds = (int) o->samples,
                            .warmup = (int) o->warmup,
                            .max_seconds = (double) o->limit,
                            .max_model_bytes = o->model_room,
                            .cases = o->cases.n ? o->cases.item : NULL,
                            .step = on_suite_step,
                            .priv = (void *) (uintptr_t) o };
    nino_phase_find(o->opt, &p.last);
    for (int i = 0; i < NINO_POLICY_COUNT; i++)
        p.without |= o->no_policy[i] ? NINO_POLICY_BIT(i) : 0;
    if (o->each)
        p.without = NINO_POLICY_ALL;
    if (!demo_folder(data, sizeof(data))) {
        say("bench: the demo's models are not installed with this program");
        return EXIT_MISSING;
    }
    snprintf(demo, sizeof(demo), "%s/demo/models", data);
    if (!o->fast && !o->quiet)
        say("bench: makes models of up to %.1f GiB in the cache folder, and takes up to %.0f "
            "seconds",
            o->model_room ? (double) o->model_room / 0x1p30 : 8.0,
            o->limit ? (double) o->limit : 2400.0);
    if (nino_suite_run_all(&p, &r, &err)) {
        const bool is_usage = err.code == NINO_ERR_RANGE ||
                              (err.code == NINO_ERR_UNKNOWN && names_case_or_suite(&p, err.where));
        const int failed = report_error(o, "bench", &err, NULL);
        return is_usage ? EXIT_USAGE : err.code == NINO_ERR_UNKNOWN ? EXIT_DEVICE : failed;
    }
    int rc = EXIT_OK;
    if (nino_suite_save(o->output ? o->output : ".", &r, on_suite_path, (void *) (uintptr_t) o,
                        &err))
        rc = report_error(o, "bench", &err, "--output DIR says where test_data goes");
    else
        rc = suite_tell(o, &r);
    *out = r.bench;
    r.bench = (nino_bench_result){ .n_cases = 0 };
    nino_suite_release(&r);
    return rc;
}
