// Samplers by name, their defaults, and the run of one.
#include "core/sample/solver/sampler.h"
#include "core/base/error.h"
#include "core/sample/solver/solve.h"
#include <stdlib.h>
#include <string.h>

const char *const nino_sampler_names[NINO_SAMPLER_COUNT + 1] = {
#define X(id, word, ...) #word,
    NINO_SAMPLERS(X)
#undef X
};

// The options of most samplers; a row gives those again that it wants otherwise.
#define USUAL                                                                                      \
    .eta = 1, .s_noise = 1, .s_tmax = INFINITY, .r = 0.5, .order = 4, .rtol = 0.05,                \
    .atol = 0.0078, .h_init = 0.05, .icoeff = 1, .accept_safety = 0.81, .ge_gamma = 2,             \
    .max_stage = 3, .sde_start_sigma = NAN, .sde_end_sigma = NAN, .predictor_order = 3,            \
    .corrector_order = 4
#pragma GCC diagnostic ignored "-Woverride-init"
static const nino_sampler_row rows[NINO_SAMPLER_COUNT + 1] = {
// clang-format off
#define X(ID, word, function, ...)                                                                 \
    [NINO_SAMPLER_##ID] = { .name = #word, .run = nino_sample_##function,                          \
                            .opt = { .id = NINO_SAMPLER_##ID, USUAL }, __VA_ARGS__ },
    NINO_SAMPLERS(X)
    X(EULER_PP, euler_pp, euler_pp)
#undef X
    // clang-format on
};

const nino_sampler_row *nino_sampler_get(nino_sampler_id id) { return &rows[id]; }

bool nino_sampler_find(const char *name, nino_sampler_id *out)
{
    for (int i = 0; i < NINO_SAMPLER_COUNT; i++)
        if (!strcmp(name, rows[i].name)) {
            *out = (nino_sampler_id) i;
            return true;
        }
    return false;
}

// The interval a Brownian tree covers: from the least sigma that is not 0 to the largest.
static void find_tree_range(nino_solve *s)
{
    double low = INFINITY, high = 0;
    for (int k = 0; k <= s->n_steps; k++) {
        const double v = s->sigma[k];
        low = v > 0 && v < low ? v : low;
        high = v > high ? v : high;
    }
    s->tree_from = low < high ? low : high;
    s->tree_to = high;
}

nino_status nino_sampler_run_all(const nino_sampler *sampler, const nino_sampler_run *run,
                                 nino_error *err)
{
    if (run->n_sigmas <= 1)
        return NINO_OK;
    if (run->count < 1 || sampler->id > NINO_SAMPLER_EULER_PP)
        return nino_fail(err, NINO_ERR_ARG, "sampler", "nothing to sample");
    nino_solve *s = calloc(1, sizeof(*s));
    if (!s)
        return nino_fail(err, NINO_ERR_NOMEM, "sampler", "no memory");
    const nino_sampler_row *row = &rows[sampler->id];
    *s = (nino_solve){ .name = row->name,
                       .opt = sampler,
                       .run = run,
                       .err = err,
                       .x = run->x,
                       .count = run->count,
                       .n_steps = run->n_sigmas - 1,
                       .is_flow = nino_sampling_is_flow(run->ms) };
    nino_status st = nino_solve_scalars(s, run->n_sigmas, &s->sigma);
    if (st == NINO_OK && run->whole &&
        !(s->drawn = malloc((size_t) run->whole * sizeof(*s->drawn))))
        st = nino_fail(err, NINO_ERR_NOMEM, "sampler", "no memory for the noise of a whole batch");
    if (st == NINO_OK) {
        memcpy(s->sigma, run->sigmas, (size_t) run->n_sigmas * sizeof(float));
        find_tree_range(s);
        nino_rng_seed(&s->rng, run->seed);
        st = row->run(s);
    }
    for (int i = 0; i < s->n_arrays; i++)
        free(s->array[i]);
    nino_brownian_destroy(&s->tree);
    free(s->drawn);
    free(s);
    return st;
}
