// Internal: what the nodes that sample share: one schedule, one way of running it.
#pragma once
#include "core/node/node_impl.h"
#include "core/sample/guide/guide.h"

// How a node wants its sampling done, beyond what decides the result.
typedef struct nino_sampling_how {
    nino_precision precision; // AUTO: the model's, else the run's
    bool keeps_scores;        // attentions put their scores into memory
    bool no_previews;
    bool one_by_one; // conditioning entries are never batched
} nino_sampling_how;

// Runs the guider over a latent and gives output 0 (and 1, the last denoised, if the node has it).
nino_status nino_node_sample(nino_run *r, const nino_guider *g, nino_noise noise,
                             const nino_sampler *sampler, const nino_sigmas *sigmas,
                             const nino_latent *latent, const nino_sampling_how *how,
                             nino_error *err);

// Output 0 becomes input 0, a MODEL, with one more patch.
nino_status nino_out_patched(nino_run *r, const nino_patch *p, nino_error *err);

// The widgets of KSampler and KSamplerAdvanced.
typedef struct nino_ksampler {
    uint64_t seed;
    int64_t steps, sampler, scheduler;
    double cfg, denoise;
    bool is_noise_off, keeps_noise; // keeps_noise: an early end leaves the noise in
    int start_step, end_step;       // < 0: all
} nino_ksampler;

// Inputs 0 to 3 are model, positive, negative and latent.
nino_status nino_node_run_ksampler(nino_run *r, const nino_ksampler *k,
                                   const nino_sampling_how *how, nino_error *err);
// nino_guide_is_apart() of such inputs, and of those of nino_node_sample_custom().
bool nino_ksampler_is_apart(nino_value *const *in, int64_t sampler);
bool nino_sample_custom_is_apart(nino_value *const *in, const void *params);
// Inputs 0 to 4 are noise, guider, sampler, sigmas and latent.
nino_status nino_node_sample_custom(nino_run *r, const nino_sampling_how *how, nino_error *err);

// ---- rows that several nodes have ------------------------------------------------------------
#define KSAMPLER_CFG_HELP                                                                          \
    "How far from the negative prompt the picture is pushed; 1 leaves the negative prompt out"

#define KSAMPLER_COMMON_PARAMS(S)                                                                  \
    NINO_P_INT(S, steps, 20, 1, 10000, 1, .label = "Steps", .ui_min.i = 1, .ui_max.i = 60,         \
               .help = "Steps from noise to picture"),                                             \
        NINO_P_FLOAT(S, cfg, 8.0, 0.0, 100.0, 0.1, .label = "CFG", .ui_max.f = 20.0,               \
                     .help = KSAMPLER_CFG_HELP),                                                   \
        NINO_P_ENUM(S, sampler_name, nino_sampler_names, 0, .label = "Sampler",                    \
                    .help = "How the steps are taken"),                                            \
        NINO_P_ENUM(S, scheduler, nino_scheduler_names, 0, .label = "Scheduler",                   \
                    .help = "How noise levels are spread over the steps")

#define KSAMPLER_PARAMS(S)                                                                         \
    NINO_P_SEED(S, seed, .label = "Seed", .help = "Start of the random numbers"),                  \
        KSAMPLER_COMMON_PARAMS(S),                                                                 \
        NINO_P_FLOAT(S, denoise, 1.0, 0.0, 1.0, 0.01, .label = "Denoise",                          \
                     .help = "Less than 1 starts from the latent instead of from pure noise")

#define KSAMPLER_ADVANCED_PARAMS(S)                                                                \
    NINO_P_ENUM(S, add_noise, nino_enable_names, 0, .label = "Add noise",                          \
                .help = "disable: the latent already has its noise"),                              \
        NINO_P_SEED(S, noise_seed, .label = "Seed", .help = "Start of the random numbers"),        \
        KSAMPLER_COMMON_PARAMS(S),                                                                 \
        NINO_P_INT(S, start_at_step, 0, 0, 10000, 1, .label = "First step",                        \
                   .help = "Steps before this one are taken to be done already"),                  \
        NINO_P_INT(S, end_at_step, 10000, 0, 10000, 1, .label = "Last step",                       \
                   .help = "Steps after this one are left out"),                                   \
        NINO_P_ENUM(S, return_with_leftover_noise, nino_disable_names, 0,                          \
                    .label = "Leave noise in",                                                     \
                    .help = "enable: what the steps left out would remove stays in the latent")

#define NINO_SAMPLE_CUSTOM_PORTS                                                                   \
    NINO_PORT(noise, NOISE), NINO_PORT(guider, GUIDER), NINO_PORT(sampler, SAMPLER),               \
        NINO_PORT(sigmas, SIGMAS), NINO_PORT(latent_image, LATENT)

extern const char *const nino_enable_names[];  // enable, disable
extern const char *const nino_disable_names[]; // disable, enable
