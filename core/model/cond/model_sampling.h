// Internal: how a diffusion model was trained: what its output means (prediction) and which noise
// levels its time steps have (schedule). Formulas: ComfyUI model_sampling.py and
// nodes_model_advanced.py; arithmetic in float where torch's is.
// Thread-safety: immutable, any thread; the reference count is atomic.
#pragma once
#include <ninodes/base.h>

typedef enum nino_prediction { // the network's output o for x at sigma s is
    NINO_PRED_EPS,             // the noise: x0 = x - s o
    NINO_PRED_V,               // v = alpha noise - sigma x0
    NINO_PRED_EDM,             // F of Karras et al. (2022)
    NINO_PRED_X0,              // x0 itself
    NINO_PRED_IMG_TO_IMG,      // x0, and the input is not scaled
    NINO_PRED_LCM,             // eps with the boundary condition of consistency models
    NINO_PRED_FLOW,            // the velocity noise - x0 (rectified flow)
    NINO_PRED_COSMOS_RFLOW     // the velocity, of a model driven by EDM's sigmas
} nino_prediction;

typedef enum nino_schedule_kind {
    NINO_SCHEDULE_DISCRETE,  // 1000 betas of Stable Diffusion
    NINO_SCHEDULE_DISTILLED, // every 20th of them (LCM)
    NINO_SCHEDULE_FLOW,      // shift and multiplier: SD3, Wan, AuraFlow
    NINO_SCHEDULE_FLUX,      // e^mu / (e^mu + 1/t - 1)
    NINO_SCHEDULE_EDM,       // continuous in log sigma
    NINO_SCHEDULE_V,         // continuous in atan sigma
    NINO_SCHEDULE_COSMOS     // continuous, t = s / (s + 1)
} nino_schedule_kind;

typedef struct nino_sampling {
    nino_prediction prediction;
    nino_schedule_kind schedule;
    double shift;      // FLOW: shift; FLUX: mu
    double multiplier; // FLOW
    double sigma_data; // 1; EDM 0.5
    int n;             // entries of both tables
    float *sigmas;     // ascending
    float *log_sigmas; // of DISCRETE and DISTILLED, else NULL
    float sigma_min, sigma_max;
    int refs;
} nino_sampling;

// Constructors. NULL: no memory.
// DISCRETE. zero_snr: rescaled so that the last step is (nearly) pure noise.
nino_sampling *nino_sampling_discrete(nino_prediction prediction, bool zero_snr);
// DISTILLED, for NINO_PRED_LCM (the "lcm" of ModelSamplingDiscrete).
nino_sampling *nino_sampling_distilled(nino_prediction prediction, bool zero_snr);
// FLOW: Wan (8, 1000), SD3 (3, 1000), Flux schnell (1, 1), AuraFlow (1.73, 1).
nino_sampling *nino_sampling_flow(double shift, double multiplier);
nino_sampling *nino_sampling_flux(double mu); // FLUX, Flux dev: 1.15
// EDM, V or COSMOS. sigma_data: 1, or 0.5 for NINO_PRED_EDM.
nino_sampling *nino_sampling_continuous(nino_schedule_kind schedule, nino_prediction prediction,
                                        double sigma_min, double sigma_max, double sigma_data);
// mu of the ModelSamplingFlux node: linear in the number of 16x16-pixel tokens.
double nino_sampling_flux_mu(double max_shift, double base_shift, int width, int height);

nino_sampling *nino_sampling_ref(nino_sampling *ms); // NULL-safe
void nino_sampling_unref(nino_sampling **ms);        // NULL-safe

bool nino_sampling_is_flow(const nino_sampling *ms); // prediction FLOW: x = (1 - s) x0 + s noise
float nino_sampling_sigma(const nino_sampling *ms, float timestep);
float nino_sampling_timestep(const nino_sampling *ms, float sigma); // what the network is told
// 0: the start of sampling (a value above every sigma), 1: its end (0).
double nino_sampling_percent_to_sigma(const nino_sampling *ms, double percent);
// Sampling starts from pure noise: sigma is sigma_max (to 1e-5) or above.
bool nino_sampling_is_max_denoise(const nino_sampling *ms, float sigma);

// Over arrays of n; dst may be one of the inputs.
// x = the noisy latent sampling starts from. latent NULL: zeros.
void nino_sampling_noise_scaling(const nino_sampling *ms, float sigma, bool max_denoise,
                                 const float *noise, const float *latent, float *x, int64_t n);
// After the last step: flow divides by 1 - sigma (nothing to do when sigma is 0).
void nino_sampling_inverse_noise_scaling(const nino_sampling *ms, float sigma, float *x, int64_t n);
// dst = what the network gets for x.
void nino_sampling_calculate_input(const nino_sampling *ms, float sigma, const float *x, float *dst,
                                   int64_t n);
// dst = x0 from the network's output.
void nino_sampling_calculate_denoised(const nino_sampling *ms, float sigma, const float *output,
                                      const float *x, float *dst, int64_t n);
