// Noise levels of every schedule and of KSampler's steps, against formulas in doubles (tests/data)
// and against what ComfyUI's own code wrote down.
#include "core/sample/schedule/schedule.h"
#include "tests/sampling.h"

static const double tolerance = 2.5e-7;     // two units of float's last place
static const double tolerance_own = 2.5e-6; // doubles do not round in between, as the code does

static void check_list(const char *what, const nino_json *want, const nino_sigmas *got, double tol,
                       int *n_exact, int *n_all)
{
    if ((int) want->count != got->n) {
        fprintf(stderr, "%s: %d sigmas, expected %d\n", what, got->n, (int) want->count);
        exit(1);
    }
    int i = 0;
    for (const nino_json *v = want->child; v; v = v->next, i++) {
        const double w = test_number(v);
        if (!test_is_near(got->v[i], w, tol)) {
            fprintf(stderr, "%s: sigma %d is %.9g, expected %.9g\n", what, i, got->v[i], w);
            exit(1);
        }
        *n_exact += isnan(w) || got->v[i] == (float) w;
        *n_all += 1;
    }
}

// "model/scheduler/steps" or "KSampler:model/sampler/scheduler/steps/denoise0.5"
static nino_sigmas make_list(const char *key)
{
    char part[5][64] = { "", "", "", "", "" };
    const bool is_ksampler = !strncmp(key, "KSampler:", 9);
    const int n = sscanf(key + (is_ksampler ? 9 : 0), "%63[^/]/%63[^/]/%63[^/]/%63[^/]/%63s",
                         part[0], part[1], part[2], part[3], part[4]);
    CHECK(n == (is_ksampler ? 5 : 3));
    nino_error err = { 0 };
    nino_scheduler scheduler;
    nino_sigmas out = { 0 };
    nino_sampling *ms = test_sampling(part[0]);
    CHECK(nino_scheduler_find(part[is_ksampler ? 2 : 1], &scheduler));
    if (is_ksampler) {
        nino_sampler_id id;
        CHECK(nino_sampler_find(part[1], &id));
        const nino_ksampler_steps p = { .scheduler = scheduler,
                                        .discard_penultimate =
                                            nino_sampler_get(id)->discards_penultimate,
                                        .steps = atoi(part[3]),
                                        .denoise = atof(part[4] + strlen("denoise")),
                                        .start_step = -1,
                                        .end_step = -1 };
        CHECK_OK(nino_schedule_ksampler(ms, &p, &out, &err), err);
    } else {
        CHECK_OK(nino_schedule_make(ms, scheduler, atoi(part[2]), &out, &err), err);
    }
    nino_sampling_unref(&ms);
    return out;
}

static void check_schedules(const nino_json_doc *doc, bool is_own)
{
    int n = 0, n_exact = 0, n_all = 0;
    for (const nino_json *v = nino_json_get(doc->root, "schedules")->child; v; v = v->next, n++) {
        nino_sigmas s = make_list(v->key);
        check_list(v->key, v, &s, is_own ? tolerance_own : tolerance, &n_exact, &n_all);
        nino_sigmas_release(&s);
    }
    CHECK(n == (is_own ? 205 : 594));
    printf("  %d schedules, %d of %d values bit-equal\n", n, n_exact, n_all);
}

static void check_models(const nino_json_doc *doc, bool is_own)
{
    for (const nino_json *m = nino_json_get(doc->root, "models")->child; m; m = m->next) {
        nino_sampling *ms = test_sampling(m->key);
        CHECK(ms->n == (int) test_number(nino_json_get(m, "n")));
        const double least = test_number(nino_json_get(m, "sigma_min"));
        CHECK(is_own ? test_is_near(ms->sigma_min, least, tolerance)
                     : ms->sigma_min == (float) least);
        CHECK(test_is_near(ms->sigma_max, test_number(nino_json_get(m, "sigma_max")), tolerance));
        for (const nino_json *v = nino_json_get(m, "sigmas_sample")->child; v; v = v->next)
            CHECK(test_is_near(ms->sigmas[atoi(v->key)], test_number(v), tolerance));
        for (const nino_json *v = nino_json_get(m, "timestep_of")->child; v; v = v->next)
            CHECK(test_is_near(nino_sampling_timestep(ms, (float) atof(v->key)), test_number(v),
                               tolerance));
        for (const nino_json *v = nino_json_get(m, "percent_to_sigma")->child; v; v = v->next)
            CHECK(test_is_near(nino_sampling_percent_to_sigma(ms, atof(v->key)), test_number(v),
                               tolerance));
        nino_sampling_unref(&ms);
    }
}

int main(void)
{
    for (const char *data = NULL; (data = test_data_next(data));) {
        nino_json_doc *doc = test_json(data, "vectors/schedules.json");
        printf("%s\n", data);
        check_models(doc, test_data_is_own(data));
        check_schedules(doc, test_data_is_own(data));
        nino_json_doc_destroy(&doc);
    }
    return 0;
}
