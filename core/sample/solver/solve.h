// Internal to the samplers: one run in progress. A sampler is a function of it that moves s->x from
// s->sigma[0] to s->sigma[s->n_steps]. Names in the samplers: x state, D its x0 ("denoised"), U the
// negative prompt's x0, d = (x - D) / sigma.
#pragma once
#include "core/sample/noise/brownian.h"
#include "core/sample/noise/rng.h"
#include "core/sample/solver/sampler.h"
#include "core/tensor/scalar.h"

#define SOLVE_MAX_ARRAYS 128

typedef struct nino_solve {
    const char *name; // of the sampler
    const nino_sampler *opt;
    const nino_sampler_run *run;
    nino_error *err;
    float *x;
    int64_t count;
    float *sigma; // n_steps + 1, a copy that a sampler may change
    int n_steps;
    bool is_flow;
    nino_rng rng; // of nino_solve_noise
    float *drawn; // of a part: room for the noise of the whole
    bool has_churned;
    double tree_from, tree_to;
    nino_brownian *tree; // made when first asked for
    float *array[SOLVE_MAX_ARRAYS];
    int n_arrays;
} nino_solve;

#define EACH(s) for (int64_t i = 0; i < (s)->count; i++)

// D = x0 for x at sigma (and U, when not NULL). Every sampler calls this and nothing else of the
// denoiser: here a run is cancelled.
nino_status nino_solve_denoise(nino_solve *s, const float *x, float sigma, float *D, float *U);
// For progress: step k has its D.
void nino_solve_report(nino_solve *s, int k, float sigma, const float *x, const float *D);
// n arrays of `count` floats each, freed with the run.
nino_status nino_solve_arrays(nino_solve *s, float **array, int n);
// n zeroed numbers, freed with the run.
nino_status nino_solve_scalars(nino_solve *s, int n, float **v);
// The next torch.randn of the run's seed.
void nino_solve_noise(nino_solve *s, float *dst);
// White noise that is the same however [from, to] is divided.
nino_status nino_solve_tree_noise(nino_solve *s, float from, float to, float *dst);
nino_status nino_solve_fail(nino_solve *s, const char *what); // NINO_ERR_RANGE

// Noise is added before step k where s_churn asks for it; returns sigma after that.
float nino_solve_churn(nino_solve *s, int k, float *noise);

// sigma_to is reached as sigma_down and added noise of size sigma_up.
typedef struct nino_ancestral {
    float down, up;
} nino_ancestral;
nino_ancestral nino_ancestral_step(float from, float to, double eta);
// The same for flow models: x is scaled by `keep` before noise of size `up` is added.
typedef struct nino_ancestral_flow {
    float down, keep, up;
} nino_ancestral_flow;
nino_ancestral_flow nino_ancestral_flow_step(float from, float to, double eta);

// log(alpha / sigma): of flow models log((1 - s) / s), of others -log(s); and its inverse.
float nino_half_log_snr(const nino_solve *s, float sigma);
float nino_sigma_of_half_log_snr(const nino_solve *s, float lambda);
// A flow model has no log SNR at sigma 1: starts a little later.
void nino_solve_offset_first_sigma(nino_solve *s);
// Solves a y = b, a[n][n] by rows, n <= 8; both are overwritten, the result is in b.
bool nino_solve_linear(float *a, float *b, int n);

// The samplers themselves.
#define X(id, word, function, ...) nino_status nino_sample_##function(nino_solve *s);
NINO_SAMPLERS(X)
#undef X
nino_status nino_sample_euler_pp(nino_solve *s);
