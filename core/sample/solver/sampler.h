// Internal: the samplers: from a noisy latent at sigmas[0] to sigmas[n-1], calling a denoiser.
// Arithmetic on the host in float, as torch's on the CPU. Formulas: the papers named in each file,
// in the form of ComfyUI k_diffusion/sampling.py. Thread-safety: no shared state.
#pragma once
#include "core/sample/schedule/schedule.h"

typedef enum nino_sampler_id { // the order of the user interface
    NINO_SAMPLER_EULER,
    NINO_SAMPLER_EULER_CFG_PP,
    NINO_SAMPLER_EULER_ANCESTRAL,
    NINO_SAMPLER_EULER_ANCESTRAL_CFG_PP,
    NINO_SAMPLER_HEUN,
    NINO_SAMPLER_HEUNPP2,
    NINO_SAMPLER_DPM_2,
    NINO_SAMPLER_DPM_2_ANCESTRAL,
    NINO_SAMPLER_LMS,
    NINO_SAMPLER_DPM_FAST,
    NINO_SAMPLER_DPM_ADAPTIVE,
    NINO_SAMPLER_DPMPP_2S_ANCESTRAL,
    NINO_SAMPLER_DPMPP_2S_ANCESTRAL_CFG_PP,
    NINO_SAMPLER_DPMPP_SDE,
    NINO_SAMPLER_DPMPP_SDE_GPU, // the _gpu ones draw the same noise as the others here
    NINO_SAMPLER_DPMPP_2M,
    NINO_SAMPLER_DPMPP_2M_CFG_PP,
    NINO_SAMPLER_DPMPP_2M_SDE,
    NINO_SAMPLER_DPMPP_2M_SDE_GPU,
    NINO_SAMPLER_DPMPP_2M_SDE_HEUN,
    NINO_SAMPLER_DPMPP_2M_SDE_HEUN_GPU,
    NINO_SAMPLER_DPMPP_3M_SDE,
    NINO_SAMPLER_DPMPP_3M_SDE_GPU,
    NINO_SAMPLER_DDPM,
    NINO_SAMPLER_LCM,
    NINO_SAMPLER_IPNDM,
    NINO_SAMPLER_IPNDM_V,
    NINO_SAMPLER_DEIS,
    NINO_SAMPLER_RES_MULTISTEP,
    NINO_SAMPLER_RES_MULTISTEP_CFG_PP,
    NINO_SAMPLER_RES_MULTISTEP_ANCESTRAL,
    NINO_SAMPLER_RES_MULTISTEP_ANCESTRAL_CFG_PP,
    NINO_SAMPLER_GRADIENT_ESTIMATION,
    NINO_SAMPLER_GRADIENT_ESTIMATION_CFG_PP,
    NINO_SAMPLER_ER_SDE,
    NINO_SAMPLER_SEEDS_2,
    NINO_SAMPLER_SEEDS_3,
    NINO_SAMPLER_SA_SOLVER,
    NINO_SAMPLER_SA_SOLVER_PECE,
    NINO_SAMPLER_DDIM,
    NINO_SAMPLER_UNI_PC,
    NINO_SAMPLER_UNI_PC_BH2,
    NINO_SAMPLER_COUNT, // of those a user can name
    // made by nodes only:
    NINO_SAMPLER_EULER_PP = NINO_SAMPLER_COUNT // SamplerEulerCFGpp "alternative"
} nino_sampler_id;
extern const char *const nino_sampler_names[NINO_SAMPLER_COUNT + 1]; // ends with NULL
const char *nino_sampler_name(nino_sampler_id id); // also of those that only nodes make
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

nino_sampler nino_sampler_default(nino_sampler_id id); // as KSampler and KSamplerSelect use it
// KSampler schedules one step more for these and drops the last sigma but one.
bool nino_sampler_discards_penultimate(nino_sampler_id id);
// "ddim": where a mask keeps the old latent it is noised with the noise of seed + 1.
bool nino_sampler_has_own_mask_noise(nino_sampler_id id);
// *_cfg_pp: the denoiser must fill `uncond`, also when cfg is 1.
bool nino_sampler_needs_uncond(nino_sampler_id id);

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
    int64_t count; // values of x, as torch has them ([N,C,H,W] or [N,C,T,H,W]) for equal noise
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
