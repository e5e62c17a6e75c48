// Internal: lists of noise levels: schedulers, and the nodes that cut and change them. Formulas:
// ComfyUI samplers.py, k_diffusion/sampling.py, nodes_custom_sampler.py, nodes_align_your_steps.py,
// nodes_gits.py, nodes_optimalsteps.py; float where torch's are.
// Every function that returns a list allocates out->v (also for 0 values, then NULL) and leaves
// *out untouched on failure: NINO_ERR_NOMEM, NINO_ERR_RANGE (a parameter without a result).
#pragma once
#include "core/model/cond/model_sampling.h"

typedef struct nino_sigmas { // what travels on SIGMAS links
    int n;
    float *v;
} nino_sigmas;
void nino_sigmas_release(nino_sigmas *s); // NULL-safe

// Every scheduler, one row each, in the order of the user interface: its name in nino_scheduler and
// its name in workflows, which is that of its function in schedule.c too.
// clang-format off
#define NINO_SCHEDULERS(X)                                                                         \
    X(SIMPLE, simple)                                                                              \
    X(SGM_UNIFORM, sgm_uniform)                                                                    \
    X(KARRAS, karras)                                                                              \
    X(EXPONENTIAL, exponential)                                                                    \
    X(DDIM_UNIFORM, ddim_uniform)                                                                  \
    X(BETA, beta)                                                                                  \
    X(NORMAL, normal)                                                                              \
    X(LINEAR_QUADRATIC, linear_quadratic)                                                          \
    X(KL_OPTIMAL, kl_optimal)

typedef enum nino_scheduler {
#define X(id, word) NINO_SCHEDULER_##id,
    NINO_SCHEDULERS(X)
#undef X
    NINO_SCHEDULER_COUNT
} nino_scheduler;
// clang-format on
extern const char *const nino_scheduler_names[NINO_SCHEDULER_COUNT + 1]; // ends with NULL
bool nino_scheduler_find(const char *name, nino_scheduler *out);

// `steps` >= 1 -> usually steps + 1 sigmas ending in 0 (ddim_uniform may give more, beta fewer).
nino_status nino_schedule_make(const nino_sampling *ms, nino_scheduler scheduler, int steps,
                               nino_sigmas *out, nino_error *err);
// BasicScheduler: denoise < 1 takes the end of a longer schedule, denoise 0 gives none.
nino_status nino_schedule_basic(const nino_sampling *ms, nino_scheduler scheduler, int steps,
                                double denoise, nino_sigmas *out, nino_error *err);

// What KSampler and KSamplerAdvanced sample with.
typedef struct nino_ksampler_steps {
    nino_scheduler scheduler;
    bool discard_penultimate; // `discards_penultimate` of the sampler
    int steps;
    double denoise;          // 1: whole schedule
    int start_step;          // < 0: from the first
    int end_step;            // < 0: to the last
    bool force_full_denoise; // a cut end becomes 0 (no leftover noise)
} nino_ksampler_steps;
// out->n == 0: nothing to sample, the latent is the result.
nino_status nino_schedule_ksampler(const nino_sampling *ms, const nino_ksampler_steps *p,
                                   nino_sigmas *out, nino_error *err);

// The scheduler nodes.
nino_status nino_schedule_karras(int steps, double sigma_max, double sigma_min, double rho,
                                 nino_sigmas *out, nino_error *err);
nino_status nino_schedule_exponential(int steps, double sigma_max, double sigma_min,
                                      nino_sigmas *out, nino_error *err);
nino_status nino_schedule_polyexponential(int steps, double sigma_max, double sigma_min, double rho,
                                          nino_sigmas *out, nino_error *err);
nino_status nino_schedule_laplace(int steps, double sigma_max, double sigma_min, double mu,
                                  double beta, nino_sigmas *out, nino_error *err); // no final 0
nino_status nino_schedule_vp(int steps, double beta_d, double beta_min, double eps_s,
                             nino_sigmas *out, nino_error *err);
// FLUX.2's own, for a picture of width x height pixels.
nino_status nino_schedule_flux2(int steps, int64_t width, int64_t height, nino_sigmas *out,
                                nino_error *err);
nino_status nino_schedule_beta(const nino_sampling *ms, int steps, double alpha, double beta,
                               nino_sigmas *out, nino_error *err);
nino_status nino_schedule_sd_turbo(const nino_sampling *ms, int steps, double denoise,
                                   nino_sigmas *out, nino_error *err);

typedef enum nino_noise_levels { // published tables, interpolated to `steps`
    NINO_LEVELS_AYS_SD1,
    NINO_LEVELS_AYS_SDXL,
    NINO_LEVELS_AYS_SVD,
    NINO_LEVELS_OPTIMAL_FLUX,
    NINO_LEVELS_OPTIMAL_WAN,
    NINO_LEVELS_OPTIMAL_CHROMA
} nino_noise_levels;
nino_status nino_schedule_levels(nino_noise_levels table, int steps, double denoise,
                                 nino_sigmas *out, nino_error *err);
// coeff: 0.80 to 1.50 in steps of 0.05.
nino_status nino_schedule_gits(double coeff, int steps, double denoise, nino_sigmas *out,
                               nino_error *err);

// The nodes that change a list. `s` stays the caller's.
nino_status nino_sigmas_copy(const nino_sigmas *s, nino_sigmas *out, nino_error *err);
// SplitSigmas: high = s[0..step], low = s[step..]; both hold s[step].
nino_status nino_sigmas_split(const nino_sigmas *s, int step, nino_sigmas *high, nino_sigmas *low,
                              nino_error *err);
nino_status nino_sigmas_split_denoise(const nino_sigmas *s, double denoise, nino_sigmas *high,
                                      nino_sigmas *low, nino_error *err);
nino_status nino_sigmas_flip(const nino_sigmas *s, nino_sigmas *out, nino_error *err);
nino_status nino_sigmas_set_first(const nino_sigmas *s, double sigma, nino_sigmas *out,
                                  nino_error *err);
typedef enum nino_spacing {
    NINO_SPACING_LINEAR,
    NINO_SPACING_COSINE,
    NINO_SPACING_SINE
} nino_spacing;
// ExtendIntermediateSigmas: `steps` for one where end <= sigma <= start (start < 0: no limit).
nino_status nino_sigmas_extend(const nino_sigmas *s, int steps, double start_at, double end_at,
                               nino_spacing spacing, nino_sigmas *out, nino_error *err);
// SamplingPercentToSigma; actual: 0 and 1 give sigma_max and sigma_min.
double nino_schedule_percent(const nino_sampling *ms, double percent, bool actual);
