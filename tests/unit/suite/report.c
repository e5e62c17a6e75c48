// The suite's cases as workflows that can run, its judgement of the claims against sums by hand, its files and report.
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/suite/suite_priv.h"
#include "core/suite/suite_report.h"
#include "tests/flow.h"

#include <glob.h>
#include <math.h>

static nino_error err;

// ---- cases -----------------------------------------------------------------------------------

static void count_issue(void *priv, const nino_issue *i)
{
    if (i->severity != NINO_ISSUE_ERROR)
        return;
    printf("%s %s: %s\n", i->node, i->class_type, i->message);
    ++*(int *) priv;
}

// Every workflow of the quick form is one that its models can run; made models are made once.
static void test_cases(void)
{
    char dir[4096], cache[300], why[200] = "";
    nino_suite_params p = { NINO_SUITE_PARAMS_INIT, .demo_models = "data/demo/models" };
    snprintf(cache, sizeof(cache), "%s/cache", flow_temp());
    p.cache_dir = cache;
    for (const suite_case *c = nino_suite_cases; c->name; c++) {
        suite_models m;
        int errors = 0;
        CHECK((c->frames == 0 || c->frames % 4 == 1) && c->width % 16 == 0);
        if (c->is_full && c->flow != SUITE_TAESD &&
            c->flow != SUITE_TAEHV) // gigabytes, or as quick
            continue;
        CHECK_OK(nino_suite_make_models(c, &p, dir, sizeof(dir), &m, why, sizeof(why), &err), err);
        CHECK(!*why);
        const char *const folders[] = { dir, p.demo_models, NULL };
        nino_ctx *ctx = nino_ctx_create(
            &(nino_ctx_params){ NINO_CTX_PARAMS_INIT, .device = "ref",
                                .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT,
                                                            .models = folders, .no_files = true } },
            &err);
        CHECK_OK(ctx ? NINO_OK : err.code, err);
        char *text = nino_suite_workflow(c, &m);
        nino_graph *g = nino_graph_load(text, strlen(text), c->name, &err);
        CHECK_OK(g ? NINO_OK : err.code, err);
        static const float latent[16 * 64 * 64];
        const nino_raster r = { NINO_RASTER_INIT,
                                .type = NINO_RASTER_F32,
                                .n = 1,
                                .frames = c->frames ? 2 : 0,
                                .height = 32,
                                .width = 32,
                                .channels = m.channels,
                                .data = latent };
        if (suite_is_decode(c))
            CHECK_OK(nino_graph_set_latent(g, "5", &r, &err), err);
        nino_graph_check(g, ctx, count_issue, &errors);
        CHECK(!errors);
        if (!strstr(m.networks, "demo")) { // all its tensors are found, of the shapes that fit
            nino_plan plan;
            CHECK_OK(nino_graph_plan(ctx, g, "pocl-cpu", NULL, &plan, &err), err);
            CHECK(plan.weight_bytes > (c->flow == SUITE_LOAD ? UINT64_C(32) : UINT64_C(2)) << 20);
            nino_plan_release(&plan);
        }
        nino_graph_destroy(&g);
        nino_ctx_destroy(&ctx);
        free(text);
    }
}

// What does not fit into the room that was given is left out, with both figures.
static void test_room(void)
{
    char dir[4096], cache[300], why[200] = "";
    const nino_suite_params p = { NINO_SUITE_PARAMS_INIT, .demo_models = "data/demo/models",
                                  .cache_dir = cache, .max_model_bytes = UINT64_C(1) << 30 };
    suite_models m;
    snprintf(cache, sizeof(cache), "%s/cache", flow_temp());
    for (const suite_case *c = nino_suite_cases; c->name; c++)
        if (c->is_full && c->flow == SUITE_SD && !*why)
            CHECK_OK(nino_suite_make_models(c, &p, dir, sizeof(dir), &m, why, sizeof(why), &err),
                     err);
    CHECK(strstr(why, "1.9 GiB") || strstr(why, "2.0 GiB"));
    CHECK(strstr(why, "1.0 GiB are allowed"));
}

static void test_words(void)
{
    CHECK(nino_suite_has_word("phases vae", "vae") && nino_suite_has_word("phases vae", "phases"));
    CHECK(!nino_suite_has_word("phases vae", "va") && !nino_suite_has_word("phases", "phases vae"));
    nino_suite_result r;
    const nino_suite_params p = { NINO_SUITE_PARAMS_INIT, .suite = "no such",
                                  .demo_models = "data/demo/models" };
    CHECK(nino_suite_run_all(&p, &r, &err) == NINO_ERR_UNKNOWN);
    static const char *const no_case[] = { "image 128x128", "no such", NULL };
    const nino_suite_params c = { NINO_SUITE_PARAMS_INIT, .demo_models = "data/demo/models",
                                  .quick = true, .cases = no_case };
    CHECK(nino_suite_run_all(&c, &r, &err) == NINO_ERR_UNKNOWN);
    CHECK_STR(err.where, "no such");
    const char *names[2];
    CHECK(nino_suite_case_names(NULL, true, names, 2) == 8);
    CHECK_STR(names[0], "image 128x128");
    CHECK(nino_suite_case_names("load", false, names, 2) == 1);
    CHECK(!nino_suite_case_names("no such", true, names, 2));
    CHECK(nino_suite_run_all(
              &(nino_suite_params){ NINO_SUITE_PARAMS_INIT, .demo_models = "/no/such" }, &r,
              &err) == NINO_ERR_MISSING);
}

// ---- judgement -------------------------------------------------------------------------------

static void fill(nino_suite_run *r, const char *setting, double median, double percent, int verdict)
{
    *r = (nino_suite_run){ .n = 2,
                           .median_s = median,
                           .average_s = median,
                           .min_s = median,
                           .max_s = median,
                           .per_second = 1 / median,
                           .psnr = (double) INFINITY,
                           .seconds = { median, median } };
    snprintf(r->setting, sizeof(r->setting), "%s", setting);
    r->effect = (nino_effect){ .rounds = 2,
                               .percent = percent,
                               .low = percent - 1,
                               .high = percent + 1,
                               .p = 0.01,
                               .verdict = verdict };
}

static nino_suite_run runs[2][4];
static nino_suite_case cases[3] = {
    { .name = "one", .networks = "n", .n_runs = 4, .runs = runs[0] },
    { .name = "two", .networks = "n", .frames = 5, .n_runs = 4, .runs = runs[1] },
    { .name = "three", .left_out = "no time was left" }
};
static nino_suite_result result = { .suite = "phases", .n_cases = 3, .cases = cases };

// Half and an eighth of the time: a quarter by the geometric mean, 75 % less.
static void test_judge(void)
{
    suite_finding f;
    for (int i = 0; i < 2; i++) {
        fill(&runs[i][0], "baseline", 1, 0, 0);
        fill(&runs[i][1], "phase1", i ? 0.125 : 0.5, i ? -87.5 : -50, -1);
        fill(&runs[i][2], "phase2", i ? 1.25 : 0.8, i ? 25 : -20, i ? 1 : -1);
        fill(&runs[i][3], "phase3", 0.3, -70, -1);
    }
    nino_suite_judge(&result, 0, &f);
    CHECK(fabs(f.percent - 75) < 1e-9 && f.is_met && f.n == 2 && !f.slower && f.best == 87.5);
    CHECK_STR(f.best_case, "two");
    nino_suite_judge(&result, 1, &f); // 1.25 x 0.8 = 1: no gain
    CHECK(fabs(f.percent) < 1e-9 && !f.is_met && f.slower == 1 && f.best == 20);
    nino_suite_judge(&result, 2, &f);
    CHECK(fabs(f.percent - 70) < 1e-9 && f.is_met);
    nino_suite_judge(&result, 3, &f); // 70 to 80
    CHECK(f.is_met);
}

static void count_path(void *priv, const char *path)
{
    CHECK(path);
    ++*(int *) priv;
}

// What was kept says what it said: the same report, to the letter, and the times behind it.
static void test_load(const char *path)
{
    nino_suite_result back;
    char bad[400];
    CHECK_OK(nino_suite_load(path, &back, &err), err);
    CHECK(back.n_cases == 3 && back.cases[0].n_runs == 4 && back.cases[1].frames == 5);
    CHECK(back.cases[0].runs[1].seconds[1] == 0.5 && isinf(back.cases[0].runs[1].psnr));
    char *was = nino_suite_report(&result), *is = nino_suite_report(&back);
    CHECK(was && is);
    CHECK_STR(is, was);
    free(was);
    free(is);
    nino_suite_release(&back);
    snprintf(bad, sizeof(bad), "%s/bad.json", flow_temp());
    static const char *const wrong[] = { "[]", "{\"test_cases\": []}", "{" };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        CHECK_OK(nino_file_save(NULL, bad, false, wrong[i], strlen(wrong[i]), &err), err);
        CHECK(nino_suite_load(bad, &back, &err) == NINO_ERR_FORMAT);
    }
    CHECK(nino_suite_load("/no/such.json", &back, &err) == NINO_ERR_MISSING);
}

static void test_files(void)
{
    glob_t g;
    char dir[300], pattern[400], *data = NULL;
    size_t len;
    int n = 0;
    double v;
    nino_json_doc *doc = NULL;
    snprintf(dir, sizeof(dir), "%s/results", flow_temp());
    CHECK_OK(nino_suite_save(dir, &result, count_path, &n, &err), err);
    CHECK(n == 6); // four phases, clips, everything
    snprintf(pattern, sizeof(pattern), "%s/test_data/optimization/performance_comparison_*.json",
             dir);
    CHECK(!glob(pattern, 0, NULL, &g) && g.gl_pathc == 1);
    CHECK_OK(nino_file_read(g.gl_pathv[0], 1 << 20, false, &data, &len, &err), err);
    CHECK_OK(nino_json_parse(data, len, "results", NULL, &doc, &err), err);
    const nino_json *root = doc->root, *all = nino_json_get(root, "test_cases");
    CHECK(all && all->count == 8);
    const nino_json *one = nino_json_get(nino_json_at(all, 1), "against_baseline");
    CHECK(nino_json_double(nino_json_get(one, "improvement_percent"), &v) && v == 50);
    CHECK(nino_json_double(nino_json_get(one, "low_percent"), &v) && v == 49);
    const nino_json *out = nino_json_at(nino_json_get(root, "left_out"), 0);
    CHECK_STR(nino_json_str(nino_json_get(out, "why")), "no time was left");
    const nino_json *claim = nino_json_at(nino_json_get(root, "claims"), 0);
    CHECK(nino_json_double(nino_json_get(claim, "measured_percent"), &v) && fabs(v - 75) < 1e-6);
    nino_json_doc_destroy(&doc);
    free(data);
    test_load(g.gl_pathv[0]);
    globfree(&g);
    char *text = nino_suite_report(&result);
    CHECK(text && strstr(text, "| phase1 by 29.1 % | 75.0 % |") && strstr(text, "| not met |") &&
          strstr(text, "Left out: no time was left."));
    free(text);
}

// Of weights that were not fetched ahead there is no share in time; a page that was there by chance is none.
static void test_load_report(void)
{
    nino_suite_run of[2];
    nino_suite_case one = { .name = "stream", .networks = "n", .n_runs = 2, .runs = of };
    const nino_suite_result load = { .suite = "load", .n_cases = 1, .cases = &one };
    fill(&of[0], "no-prefetch", 2, 0, 0);
    fill(&of[1], "prefetch", 1, -50, -1);
    of[0].load_bytes = of[1].load_bytes = 400 << 20;
    of[0].ahead_bytes = 4096;
    of[1].ahead_bytes = 75 << 20;
    of[1].late_bytes = 25 << 20;
    char *text = nino_suite_report(&load);
    CHECK(
        text &&
        strstr(
            text,
            "no-prefetch: 400.0 MiB of weights read in 0.00 s; none fetched ahead; 0.0 MiB late") &&
        strstr(text, "; 100.0 MiB fetched ahead, 75.0 % of it in time; 25.0 MiB late"));
    free(text);
}

int main(void)
{
    test_words();
    test_judge();
    test_files();
    test_load_report();
    test_cases();
    test_room();
    flow_clean();
    return 0;
}
