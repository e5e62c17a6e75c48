// Internal: the samplers: from a noisy latent at sigmas[0] to sigmas[n-1], calling a denoiser.
// Arithmetic on the host in float, as torch's on the CPU. Formulas: the papers named in each file,
// in the form of ComfyUI k_diffusion/sampling.py. Thread-safety: no shared state.
#pragma once
#include "core/sample/schedule/schedule.h"

// Every sampler that a user can name, one row each, in the order of the user interface: its name in
// nino_sampler_id, its name in workflows, the nino_sample_*() that runs it, and then the fields of
// nino_sampler_row that are not as usual. To add one: a file with its function, and a row. Those
// called gpu draw the same noise as the others here.
// clang-format off
#define NINO_SAMPLERS(X)                                                                           \
    X(EULER, euler, euler)                                                                         \
    X(EULER_CFG_PP, euler_cfg_pp, euler_ancestral_cfg_pp, .opt.eta = 0, .opt.s_noise = 0)          \
    X(EULER_ANCESTRAL, euler_ancestral, euler_ancestral)                                           \
    X(EULER_ANCESTRAL_CFG_PP, euler_ancestral_cfg_pp, euler_ancestral_cfg_pp)                      \
    X(HEUN, heun, heun)                                                                            \
    X(HEUNPP2, heunpp2, heunpp2)                                                                   \
    X(DPM_2, dpm_2, dpm_2, .discards_penultimate = true)                                           \
    X(DPM_2_ANCESTRAL, dpm_2_ancestral, dpm_2_ancestral, .discards_penultimate = true)             \
    X(LMS, lms, lms)                                                                               \
    X(DPM_FAST, dpm_fast, dpm_fast)                                                                \
    X(DPM_ADAPTIVE, dpm_adaptive, dpm_adaptive, .opt.eta = 0, .opt.order = 3)                      \
    X(DPMPP_2S_ANCESTRAL, dpmpp_2s_ancestral, dpmpp_2s_ancestral)                                  \
    X(DPMPP_2S_ANCESTRAL_CFG_PP, dpmpp_2s_ancestral_cfg_pp, dpmpp_2s_ancestral_cfg_pp)             \
    X(DPMPP_SDE, dpmpp_sde, dpmpp_sde)                                                             \
    X(DPMPP_SDE_GPU, dpmpp_sde_gpu, dpmpp_sde)                                                     \
    X(DPMPP_2M, dpmpp_2m, dpmpp_2m)                                                                \
    X(DPMPP_2M_CFG_PP, dpmpp_2m_cfg_pp, dpmpp_2m_cfg_pp)                                           \
    X(DPMPP_2M_SDE, dpmpp_2m_sde, dpmpp_2m_sde)                                                    \
    X(DPMPP_2M_SDE_GPU, dpmpp_2m_sde_gpu, dpmpp_2m_sde)                                            \
    X(DPMPP_2M_SDE_HEUN, dpmpp_2m_sde_heun, dpmpp_2m_sde, .opt.solver_type = NINO_SOLVER_HEUN)     \
    X(DPMPP_2M_SDE_HEUN_GPU, dpmpp_2m_sde_heun_gpu, dpmpp_2m_sde,                                  \
      .opt.solver_type = NINO_SOLVER_HEUN)                                                         \
    X(DPMPP_3M_SDE, dpmpp_3m_sde, dpmpp_3m_sde)                                                    \
    X(DPMPP_3M_SDE_GPU, dpmpp_3m_sde_gpu, dpmpp_3m_sde)                                            \
    X(DDPM, ddpm, ddpm)                                                                            \
    X(LCM, lcm, lcm)                                                                               \
    X(IPNDM, ipndm, ipndm)                                                                         \
    X(IPNDM_V, ipndm_v, ipndm_v)                                                                   \
    X(DEIS, deis, deis, .opt.order = 3)                                                            \
    X(RES_MULTISTEP, res_multistep, res_multistep, .opt.eta = 0)                                   \
    X(RES_MULTISTEP_CFG_PP, res_multistep_cfg_pp, res_multistep_cfg_pp, .opt.eta = 0)              \
    X(RES_MULTISTEP_ANCESTRAL, res_multistep_ancestral, res_multistep)                             \
    X(RES_MULTISTEP_ANCESTRAL_CFG_PP, res_multistep_ancestral_cfg_pp, res_multistep_cfg_pp)        \
    X(GRADIENT_ESTIMATION, gradient_estimation, gradient_estimation)                               \
    X(GRADIENT_ESTIMATION_CFG_PP, gradient_estimation_cfg_pp, gradient_estimation_cfg_pp)          \
    X(ER_SDE, er_sde, er_sde, .opt.solver_type = NINO_SOLVER_ER_SDE)                               \
    X(SEEDS_2, seeds_2, seeds_2)                                                                   \
    X(SEEDS_3, seeds_3, seeds_3, .opt.r = 1.0 / 3, .opt.r2 = 2.0 / 3)                              \
    X(SA_SOLVER, sa_solver, sa_solver)                                                             \
    X(SA_SOLVER_PECE, sa_solver_pece, sa_solver, .opt.use_pece = true)                             \
    X(DDIM, ddim, euler, .has_own_mask_noise = true)                                               \
    X(UNI_PC, uni_pc, unipc, .discards_penultimate = true)                                         \
    X(UNI_PC_BH2, uni_pc_bh2, unipc, .discards_penultimate = true)

typedef enum nino_sampler_id {
#define X(id, ...) NINO_SAMPLER_##id,
    NINO_SAMPLERS(X)
#undef X
    NINO_SAMPLER_COUNT, // of those a user can name
    // made by nodes only:
    NINO_SAMPLER_EULER_PP = NINO_SAMPLER_COUNT // SamplerEulerCFGpp "alternative"
} nino_sampler_id;
// clang-format on
extern const char *const nino_sampler_names[NINO_SAMPLER_COUNT + 1]; // ends with NULL
bool nino_sampler_find(const char *name, nino_sampler_id *out);

typedef enum nino_solver_type { // of dpmpp_2m_sde, of er_sde
    NINO_SOLVER_MIDPOINT,
    NINO_SOLVER_HEUN,
    NINO_SOLVER_ER_SDE,
    NINO_SOLVER_REVERSE_TIME_SDE,
    NINO_SOLVER_ODE
} nino_solver_type;

// What travels on SAMPLER links: a sampler and its options. Each sampler reads only its own.
typedef struct nino_sampler {
    nino_sampler_id id;
    double eta;                     // strength of the noise that is added again
    double s_noise;                 // scales that noise
    double s_churn, s_tmin, s_tmax; // euler, heun, heunpp2, dpm_2
    double r, r2;                   // inner points of dpmpp_sde, seeds_2, seeds_3
    int order;                      // most steps used: lms, dpm_adaptive, ipndm, ipndm_v, deis
    nino_solver_type solver_type;
    double rtol, atol, h_init, pcoeff, icoeff, dcoeff, accept_safety; // dpm_adaptive
    double ge_gamma;                                                  // gradient_estimation
    int max_stage;                                                    // er_sde
    // sa_solver. Noise is added for sigmas in [sde_end, sde_start]; NaN: at 20 % .. 80 %
    double sde_start_sigma, sde_end_sigma;
    int predictor_order, corrector_order;
    bool use_pece, simple_order_2;
} nino_sampler;

struct nino_solve;
// What is known of a sampler.
typedef struct nino_sampler_row {
    const char *name;
    nino_status (*run)(struct nino_solve *s);
    bool discards_penultimate; // KSampler schedules one step more and drops the last sigma but one
    bool has_own_mask_noise;   // what a mask keeps is noised with the noise of seed + 1
    nino_sampler opt;          // as KSampler and KSamplerSelect use it
} nino_sampler_row;
const nino_sampler_row *nino_sampler_get(nino_sampler_id id); // also those that only nodes make
static inline nino_sampler nino_sampler_default(nino_sampler_id id)
{
    return nino_sampler_get(id)->opt;
}

// denoised[count] = x0 for x at sigma, guidance applied; uncond[count] (NULL: not needed) = x0 of
// the negative prompt alone. x is not to be changed.
typedef nino_status (*nino_denoise_fn)(void *priv, const float *x, double sigma, float *denoised,
                                       float *uncond, nino_error *err);
// Step `step` (from 0) of `total` has its x0; x is the state it started from (uni_pc: ended with).
// dpm_adaptive may take more than `total` steps.
typedef void (*nino_sample_step_fn)(void *priv, int step, int total, double sigma, const float *x,
                                    const float *denoised);

typedef struct nino_sampler_run {
    const nino_sampling *ms;
    nino_denoise_fn denoise;
    void *denoise_priv;
    float *x; // in: nino_sampling_noise_scaling() at sigmas[0]; out: before the inverse scaling
    int64_t count;     // values of x, as torch has them ([N,C,H,W] or [N,C,T,H,W]) for equal noise
    int64_t whole, at; // x is a part of so many values, from `at` on; whole 0: it is all
    const float *sigmas;
    int n_sigmas;                // 0 or 1: x is left as it is
    uint64_t seed;               // of the samplers' own noise
    nino_sample_step_fn on_step; // may be NULL
    void *step_priv;
    const volatile int *cancel; // may be NULL; looked at before every call of denoise
} nino_sampler_run;

// Errors: what denoise returned, NINO_ERR_CANCELLED, NINO_ERR_NOMEM, NINO_ERR_RANGE (an option or
// sigmas that the sampler cannot use). x is undefined then.
nino_status nino_sampler_run_all(const nino_sampler *s, const nino_sampler_run *run,
                                 nino_error *err);
