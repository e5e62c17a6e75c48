// The scheduler nodes, the nodes that change lists, and what KSampler makes of its parameters.
#include "core/sample/schedule/schedule.h"
#include "tests/test.h"
#include <math.h>

static nino_error err;

static void check_list(const nino_sigmas *s, int n, const double *want)
{
    CHECK(s->n == n);
    for (int i = 0; i < n; i++)
        CHECK(fabs(s->v[i] - want[i]) <= 2e-6 * fmax(1e-3, fabs(want[i])));
}
#define CHECK_LIST(s, ...)                                                                         \
    check_list(s, (int) (sizeof((double[]){ __VA_ARGS__ }) / sizeof(double)),                      \
               (const double[]){ __VA_ARGS__ })

// FLUX.2's sigma in the middle, on its line for so many steps.
static double flux2_middle(double tokens, double steps)
{
    const double at_10 = 8.73809524e-05 * tokens + 1.89833333,
                 at_200 = 0.00016927 * tokens + 0.45666666;
    const double shift = exp(at_10 + (at_200 - at_10) * (steps - 10) / 190);
    return shift / (shift + 1);
}

static void check_formulas(void)
{
    nino_sigmas s;
    CHECK_OK(nino_schedule_karras(3, 16, 1.0 / 16, 2, &s, &err), err);
    CHECK_LIST(&s, 16, 4.515625, 0.0625, 0); // (4 - 1.875)^2
    nino_sigmas_release(&s);
    CHECK_OK(nino_schedule_exponential(3, 16, 1.0 / 16, &s, &err), err);
    CHECK_LIST(&s, 16, 1, 0.0625, 0);
    nino_sigmas_release(&s);
    CHECK_OK(nino_schedule_polyexponential(3, 16, 1.0 / 16, 2, &s, &err), err);
    CHECK_LIST(&s, 16, 0.25, 0.0625, 0); // a quarter of the way up in log
    nino_sigmas_release(&s);
    CHECK_OK(nino_schedule_laplace(3, 14.6, 0.03, 0, 0.5, &s, &err), err);
    CHECK_LIST(&s, 14.6, 1, 0.03); // the tails are cut
    nino_sigmas_release(&s);
    CHECK_OK(nino_schedule_vp(2, 19.9, 0.1, 0.001, &s, &err), err);
    CHECK_LIST(&s, sqrt(expm1(19.9 / 2 + 0.1)), sqrt(expm1(19.9e-6 / 2 + 1e-4)), 0);
    nino_sigmas_release(&s);
    // FLUX.2: 4096 tokens, more than 4300, and 27.34 tokens
    CHECK_OK(nino_schedule_flux2(4, 1024, 1024, &s, &err), err);
    CHECK_LIST(&s, 1, 0.9673839882, 0.9081439225, 0.7671999639, 0);
    nino_sigmas_release(&s);
    CHECK_OK(nino_schedule_flux2(3, 1100, 1100, &s, &err), err);
    CHECK_LIST(&s, 1, 0.8754415311, 0.6372986856, 0);
    nino_sigmas_release(&s);
    CHECK_OK(nino_schedule_flux2(2, 100, 70, &s, &err), err);
    CHECK_LIST(&s, 1, 0.8766737113, 0);
    nino_sigmas_release(&s);
    CHECK_OK(nino_schedule_flux2(2, 860, 1280, &s, &err), err); // 4300 tokens, and one more
    CHECK_LIST(&s, 1, flux2_middle(4300, 2), 0);
    nino_sigmas_release(&s);
    CHECK_OK(nino_schedule_flux2(2, 253, 4352, &s, &err), err);
    CHECK_LIST(&s, 1, flux2_middle(4301, 200), 0);
    nino_sigmas_release(&s);
    CHECK(nino_schedule_flux2(0, 64, 64, &s, &err) == NINO_ERR_RANGE);
    CHECK_STR(err.where, "steps");
    CHECK(nino_schedule_karras(0, 1, 1, 7, &s, &err) == NINO_ERR_RANGE);
    CHECK_STR(err.where, "steps");
    CHECK(nino_schedule_karras(3, 1, 1, 0, &s, &err) == NINO_ERR_RANGE);
    CHECK_STR(err.where, "rho");
    CHECK(nino_schedule_exponential(3, 1, 0, &s, &err) == NINO_ERR_RANGE);
    CHECK_STR(err.where, "sigma_min");
}

static void check_of_model(void)
{
    nino_sampling *ms = nino_sampling_discrete(NINO_PRED_EPS, false);
    nino_sigmas s;
    CHECK_OK(nino_schedule_sd_turbo(ms, 2, 1, &s, &err), err);
    CHECK_LIST(&s, nino_sampling_sigma(ms, 999), nino_sampling_sigma(ms, 899), 0);
    nino_sigmas_release(&s);
    CHECK_OK(nino_schedule_sd_turbo(ms, 10, 0.2, &s, &err), err);
    CHECK_LIST(&s, nino_sampling_sigma(ms, 199), nino_sampling_sigma(ms, 99), 0);
    nino_sigmas_release(&s);
    CHECK_OK(nino_schedule_beta(ms, 4, 1, 1, &s, &err), err); // uniform
    CHECK_LIST(&s, ms->sigmas[999], ms->sigmas[749], ms->sigmas[500], ms->sigmas[250], 0);
    nino_sigmas_release(&s);
    CHECK(nino_schedule_beta(ms, 4, 0, 1, &s, &err) == NINO_ERR_RANGE);
    CHECK(nino_schedule_percent(ms, 0, true) == ms->sigma_max);
    CHECK(nino_schedule_percent(ms, 1, true) == ms->sigma_min);
    CHECK(nino_schedule_percent(ms, 0, false) > 1e8 && nino_schedule_percent(ms, 1, false) == 0);
    nino_sampling_unref(&ms);
}

// Of a table that begins with nothing, to 0.00001, ddim_uniform adds no 0 of its own.
static void check_ends(void)
{
    static const float ends[] = { 1e-5f, 0x1.4f8b5ap-17f, 0 }; // the second is the next float
    for (int k = 0; k < 3; k++) {
        float table[] = { 0, ends[k], 0.25f, 0.5f, 1, 2 };
        const nino_sampling ms = { .n = 6, .sigmas = table, .sigma_min = 0, .sigma_max = 2 };
        nino_sigmas s;
        CHECK(table[1] <= 1e-5f || (k == 1 && nextafterf(1e-5f, 1) == table[1]));
        CHECK_OK(nino_schedule_make(&ms, NINO_SCHEDULER_DDIM_UNIFORM, 2, &s, &err), err);
        if (k == 1) // six by two: each third
            CHECK_LIST(&s, 1, ends[k], 0);
        else // by three: each second
            CHECK_LIST(&s, 2, 0.5, ends[k]);
        nino_sigmas_release(&s);
    }
}

static void check_tables(void)
{
    nino_sigmas s;
    CHECK_OK(nino_schedule_levels(NINO_LEVELS_AYS_SD1, 10, 1, &s, &err), err);
    CHECK_LIST(&s, 14.6146412293, 6.4745760956, 3.8636745985, 2.6946151520, 1.8841921177,
               1.3943805092, 0.9642583904, 0.6523686016, 0.3977456272, 0.1515232662, 0);
    nino_sigmas_release(&s);
    CHECK_OK(nino_schedule_levels(NINO_LEVELS_AYS_SDXL, 20, 0.1, &s, &err), err);
    CHECK_LIST(&s, 0.1114188177, sqrt(0.1114188177 * 0.0291671582), 0);
    nino_sigmas_release(&s);
    CHECK_OK(nino_schedule_levels(NINO_LEVELS_OPTIMAL_WAN, 20, 1, &s, &err), err);
    CHECK(s.n == 21 && s.v[0] == 1 && s.v[19] == 0.208f && s.v[20] == 0);
    nino_sigmas_release(&s);
    CHECK_OK(nino_schedule_gits(1.2, 3, 1, &s, &err), err);
    CHECK(s.n == 4 && s.v[0] == 14.61464119f && s.v[3] == 0);
    nino_sigmas_release(&s);
    CHECK_OK(nino_schedule_gits(0.8, 2, 1, &s, &err), err);
    CHECK_LIST(&s, 14.61464119, 7.49001646, 0);
    nino_sigmas_release(&s);
    CHECK_OK(nino_schedule_gits(0.85, 40, 0.5, &s, &err), err);
    CHECK(s.n == 21);
    nino_sigmas_release(&s);
    uint64_t digest = 14695981039346656037u;
    for (int c = 16; c <= 30; c++) // each list of the table falls
        for (int steps = 2; steps <= 20; steps++) {
            CHECK_OK(nino_schedule_gits(0.05 * c, steps, 1, &s, &err), err);
            CHECK(s.n == steps + 1 && s.v[0] == 14.61464119f);
            for (int i = 0; i < steps; i++)
                CHECK(s.v[i + 1] < s.v[i]);
            for (int i = 0; i <= steps; i++) {
                uint32_t bits;
                memcpy(&bits, s.v + i, sizeof(bits));
                digest = (digest ^ bits) * 1099511628211u;
            }
            nino_sigmas_release(&s);
        }
    CHECK(digest == 0x50a9a5b30e905371u); // FNV-1a of the table's 285 lists: of every digit in it
    CHECK(nino_schedule_gits(1.22, 10, 1, &s, &err) == NINO_ERR_RANGE);
    CHECK(nino_schedule_gits(1.2, 1, 1, &s, &err) == NINO_ERR_RANGE);
    CHECK_OK(nino_schedule_gits(1.2, 10, 0, &s, &err), err);
    CHECK(s.n == 0);
}

static void check_edits(void)
{
    float v[] = { 8, 4, 2, 1, 0 };
    const nino_sigmas s = { 5, v };
    nino_sigmas a, b;
    CHECK_OK(nino_sigmas_split(&s, 2, &a, &b, &err), err);
    CHECK_LIST(&a, 8, 4, 2);
    CHECK_LIST(&b, 2, 1, 0);
    nino_sigmas_release(&a);
    nino_sigmas_release(&b);
    CHECK_OK(nino_sigmas_split(&s, 99, &a, &b, &err), err);
    CHECK(a.n == 5 && b.n == 0);
    nino_sigmas_release(&a);
    CHECK_OK(nino_sigmas_split_denoise(&s, 0.5, &a, &b, &err), err);
    CHECK_LIST(&a, 8, 4, 2);
    CHECK_LIST(&b, 2, 1, 0);
    nino_sigmas_release(&a);
    nino_sigmas_release(&b);
    CHECK_OK(nino_sigmas_split_denoise(&s, 0, &a, &b, &err), err);
    CHECK(a.n == 0 && b.n == 1);
    nino_sigmas_release(&b);
    CHECK_OK(nino_sigmas_flip(&s, &a, &err), err);
    CHECK_LIST(&a, 0.0001, 1, 2, 4, 8);
    nino_sigmas_release(&a);
    CHECK_OK(nino_sigmas_set_first(&s, 136, &a, &err), err);
    CHECK_LIST(&a, 136, 4, 2, 1, 0);
    nino_sigmas_release(&a);
    CHECK_OK(nino_sigmas_extend(&s, 2, 5, 1.5, NINO_SPACING_LINEAR, &a, &err), err);
    CHECK_LIST(&a, 8, 4, 3, 2, 1.5, 1, 0);
    nino_sigmas_release(&a);
    CHECK_OK(nino_sigmas_extend(&s, 3, -1, 8, NINO_SPACING_SINE, &a, &err), err);
    CHECK_LIST(&a, 8, 8 - 4 * (1 - cos(M_PI / 6)), 8 - 4 * (1 - cos(M_PI / 3)), 4, 2, 1, 0);
    nino_sigmas_release(&a);
    CHECK_OK(nino_sigmas_extend(&s, 2, -1, 8, NINO_SPACING_COSINE, &a, &err), err);
    CHECK_LIST(&a, 8, 8 - 4 * sin(M_PI / 4), 4, 2, 1, 0);
    nino_sigmas_release(&a);
    CHECK_OK(nino_sigmas_extend(&s, 2, 4, 2, NINO_SPACING_LINEAR, &a, &err), err); // both belong
    CHECK_LIST(&a, 8, 4, 3, 2, 1.5, 1, 0);
    nino_sigmas_release(&a);
    const nino_sigmas none = { 0, NULL };
    CHECK_OK(nino_sigmas_flip(&none, &a, &err), err);
    CHECK(a.n == 0);
    CHECK_OK(nino_sigmas_split_denoise(&none, 1, &a, &b, &err), err);
    CHECK(a.n == 0 && b.n == 0);
    CHECK(nino_sigmas_set_first(&none, 1, &a, &err) == NINO_ERR_RANGE);
}

static nino_sigmas ksampler(const nino_sampling *ms, double denoise, int start, int end, bool full,
                            bool discard)
{
    nino_sigmas s;
    const nino_ksampler_steps p = { .scheduler = NINO_SCHEDULER_SIMPLE,
                                    .discard_penultimate = discard,
                                    .steps = 4,
                                    .denoise = denoise,
                                    .start_step = start,
                                    .end_step = end,
                                    .force_full_denoise = full };
    CHECK_OK(nino_schedule_ksampler(ms, &p, &s, &err), err);
    return s;
}

static void check_ksampler(void)
{
    nino_sampling *ms = nino_sampling_flow(1, 1000); // sigma = t / 1000
    nino_sigmas s = ksampler(ms, 1, -1, -1, false, false);
    CHECK_LIST(&s, 1, 0.75, 0.5, 0.25, 0);
    nino_sigmas_release(&s);
    s = ksampler(ms, 0.5, -1, -1, false, false);
    CHECK_LIST(&s, 0.5, 0.375, 0.25, 0.125, 0);
    nino_sigmas_release(&s);
    s = ksampler(ms, 1, -1, -1, false, true); // five steps, the fourth is left out
    CHECK_LIST(&s, 1, 0.8, 0.6, 0.4, 0);
    nino_sigmas_release(&s);
    s = ksampler(ms, 1, 0, 2, false, false); // with leftover noise
    CHECK_LIST(&s, 1, 0.75, 0.5);
    nino_sigmas_release(&s);
    s = ksampler(ms, 1, 0, 2, true, false);
    CHECK_LIST(&s, 1, 0.75, 0);
    nino_sigmas_release(&s);
    s = ksampler(ms, 1, 2, 10000, true, false);
    CHECK_LIST(&s, 0.5, 0.25, 0);
    nino_sigmas_release(&s);
    s = ksampler(ms, 1, 4, 10000, false, false); // starts where it ends
    CHECK(s.n == 0);
    s = ksampler(ms, 1, 3, 2, false, false);
    CHECK(s.n == 0);
    s = ksampler(ms, 0, 0, 10000, false, false);
    CHECK(s.n == 0);
    const nino_ksampler_steps tiny = { .scheduler = NINO_SCHEDULER_SIMPLE,
                                       .steps = 20,
                                       .denoise = 1e-9,
                                       .start_step = -1,
                                       .end_step = -1 };
    CHECK(nino_schedule_ksampler(ms, &tiny, &s, &err) == NINO_ERR_RANGE);
    CHECK_STR(err.where, "denoise");
    CHECK_OK(nino_schedule_basic(ms, NINO_SCHEDULER_SIMPLE, 2, 0.5, &s, &err), err);
    CHECK_LIST(&s, 0.5, 0.25, 0);
    nino_sigmas_release(&s);
    CHECK_OK(nino_schedule_basic(ms, NINO_SCHEDULER_SIMPLE, 2, 0, &s, &err), err);
    CHECK(s.n == 0);
    nino_sampling_unref(&ms);
}

static void check_names(void)
{
    nino_scheduler found;
    for (int i = 0; i < NINO_SCHEDULER_COUNT; i++)
        CHECK(nino_scheduler_find(nino_scheduler_names[i], &found) && (int) found == i);
    CHECK(!nino_scheduler_names[NINO_SCHEDULER_COUNT] && !nino_scheduler_find("linear", &found));
}

int main(void)
{
    check_formulas();
    check_of_model();
    check_ends();
    check_tables();
    check_edits();
    check_ksampler();
    check_names();
    return 0;
}
