// Nodes that make SIGMAS or change them. Behaviour of ComfyUI's nodes_custom_sampler.py,
// nodes_align_your_steps.py, nodes_optimalsteps.py, nodes_gits.py and nodes_flux.py; the formulas
// are in core/sample/schedule/schedule.h.
#include "core/node/sampling_node.h"
#include "core/node/util.h"

static const nino_port two_out[] = { NINO_PORT(high_sigmas, SIGMAS),
                                     NINO_PORT(low_sigmas, SIGMAS),
                                     { 0 } };

#define SCHEDULERS "sampling/custom_sampling/schedulers"
#define SIGMAS "sampling/custom_sampling/sigmas"

#define P_STEPS(S)                                                                                 \
    NINO_P_INT(S, steps, 20, 1, 10000, 1, .label = "Steps", .ui_min.i = 1, .ui_max.i = 60,         \
               .help = "Steps from noise to picture")
#define P_DENOISE(S)                                                                               \
    NINO_P_FLOAT(S, denoise, 1.0, 0.0, 1.0, 0.01, .label = "Denoise",                              \
                 .help = "Less than 1 takes the end of a longer schedule")
#define P_SIGMA(S, field, d, shown, text)                                                          \
    NINO_P_FLOAT(S, field, d, 0.0, 5000.0, 0.01, .label = shown, .ui_max.f = 20.0, .help = text)
#define P_SIGMAS(S)                                                                                \
    P_SIGMA(S, sigma_max, 14.614642, "First sigma", "Noise level of the first step"),              \
        P_SIGMA(S, sigma_min, 0.0291675, "Last sigma", "Noise level of the last step before 0")

// Gives the list that was made, or passes the failure on.
static nino_status sigma_nodes_give(nino_run *r, nino_status st, nino_sigmas s, nino_error *err)
{
    return st ? st : nino_out_sigmas(r, 0, s, err);
}

// ---- schedules of a model --------------------------------------------------------------------

typedef struct model_params {
    int64_t scheduler, steps;
    double denoise, alpha, beta;
} model_params;

static nino_status basic_scheduler_run(nino_run *r, nino_error *err)
{
    const model_params *p = r->params;
    const nino_model *m = nino_need_model(r, 0, err);
    nino_sigmas s = { 0 };
    if (!m)
        return NINO_ERR_UNSUPPORTED;
    return sigma_nodes_give(r,
                            nino_schedule_basic(m->sampling, (nino_scheduler) p->scheduler,
                                                (int) p->steps, p->denoise, &s, err),
                            s, err);
}

static nino_status turbo_scheduler_run(nino_run *r, nino_error *err)
{
    const model_params *p = r->params;
    const nino_model *m = nino_need_model(r, 0, err);
    nino_sigmas s = { 0 };
    if (!m)
        return NINO_ERR_UNSUPPORTED;
    return sigma_nodes_give(
        r, nino_schedule_sd_turbo(m->sampling, (int) p->steps, p->denoise, &s, err), s, err);
}

static nino_status beta_scheduler_run(nino_run *r, nino_error *err)
{
    const model_params *p = r->params;
    const nino_model *m = nino_need_model(r, 0, err);
    nino_sigmas s = { 0 };
    if (!m)
        return NINO_ERR_UNSUPPORTED;
    return sigma_nodes_give(
        r, nino_schedule_beta(m->sampling, (int) p->steps, p->alpha, p->beta, &s, err), s, err);
}

NINO_NODE(basic_scheduler, "BasicScheduler", "BasicScheduler", SCHEDULERS,
          "Noise levels that suit a model", NINO_INPUTS(NINO_PORT(model, MODEL)),
          NINO_OUTPUTS(NINO_PORT(SIGMAS, SIGMAS)),
          NINO_PARAMS(model_params,
                      NINO_P_ENUM(model_params, scheduler, nino_scheduler_names, 0,
                                  .label = "Scheduler",
                                  .help = "How noise levels are spread over the steps"),
                      P_STEPS(model_params), P_DENOISE(model_params)),
          NINO_RUN(basic_scheduler_run));
NINO_NODE(turbo_scheduler, "SDTurboScheduler", "SDTurboScheduler", SCHEDULERS,
          "Noise levels of SD Turbo and SDXL Turbo", NINO_INPUTS(NINO_PORT(model, MODEL)),
          NINO_OUTPUTS(NINO_PORT(SIGMAS, SIGMAS)),
          NINO_PARAMS(model_params,
                      NINO_P_INT(model_params, steps, 1, 1, 10, 1, .label = "Steps",
                                 .help = "Steps from noise to picture"),
                      P_DENOISE(model_params)),
          NINO_RUN(turbo_scheduler_run));
NINO_NODE(
    beta_scheduler, "BetaSamplingScheduler", "BetaSamplingScheduler", SCHEDULERS,
    "Noise levels spread by a beta distribution", NINO_INPUTS(NINO_PORT(model, MODEL)),
    NINO_OUTPUTS(NINO_PORT(SIGMAS, SIGMAS)),
    NINO_PARAMS(model_params, P_STEPS(model_params),
                NINO_P_FLOAT(model_params, alpha, 0.6, 0.0, 50.0, 0.01, .label = "Alpha",
                             .ui_max.f = 2.0, .help = "Shape of the distribution at its start"),
                NINO_P_FLOAT(model_params, beta, 0.6, 0.0, 50.0, 0.01, .label = "Beta",
                             .ui_max.f = 2.0, .help = "Shape of the distribution at its end")),
    NINO_RUN(beta_scheduler_run));

// ---- schedules of their own ------------------------------------------------------------------

typedef struct free_params {
    int64_t steps;
    double sigma_max, sigma_min, rho, mu, beta, beta_d, beta_min, eps_s;
} free_params;

static nino_status karras_scheduler_run(nino_run *r, nino_error *err)
{
    const free_params *p = r->params;
    nino_sigmas s = { 0 };
    return sigma_nodes_give(
        r, nino_schedule_karras((int) p->steps, p->sigma_max, p->sigma_min, p->rho, &s, err), s,
        err);
}

static nino_status exponential_scheduler_run(nino_run *r, nino_error *err)
{
    const free_params *p = r->params;
    nino_sigmas s = { 0 };
    return sigma_nodes_give(
        r, nino_schedule_exponential((int) p->steps, p->sigma_max, p->sigma_min, &s, err), s, err);
}

static nino_status poly_scheduler_run(nino_run *r, nino_error *err)
{
    const free_params *p = r->params;
    nino_sigmas s = { 0 };
    return sigma_nodes_give(
        r,
        nino_schedule_polyexponential((int) p->steps, p->sigma_max, p->sigma_min, p->rho, &s, err),
        s, err);
}

static nino_status laplace_scheduler_run(nino_run *r, nino_error *err)
{
    const free_params *p = r->params;
    nino_sigmas s = { 0 };
    return sigma_nodes_give(
        r,
        nino_schedule_laplace((int) p->steps, p->sigma_max, p->sigma_min, p->mu, p->beta, &s, err),
        s, err);
}

static nino_status vp_scheduler_run(nino_run *r, nino_error *err)
{
    const free_params *p = r->params;
    nino_sigmas s = { 0 };
    return sigma_nodes_give(
        r, nino_schedule_vp((int) p->steps, p->beta_d, p->beta_min, p->eps_s, &s, err), s, err);
}

NINO_NODE(karras_scheduler, "KarrasScheduler", "KarrasScheduler", SCHEDULERS,
          "Noise levels of Karras et al. 2022", NINO_OUTPUTS(NINO_PORT(SIGMAS, SIGMAS)),
          NINO_PARAMS(free_params, P_STEPS(free_params), P_SIGMAS(free_params),
                      NINO_P_FLOAT(free_params, rho, 7.0, 0.0, 100.0, 0.01, .label = "Rho",
                                   .ui_max.f = 15.0,
                                   .help = "How many steps go to the low noise levels")),
          NINO_RUN(karras_scheduler_run));
NINO_NODE(exponential_scheduler, "ExponentialScheduler", "ExponentialScheduler", SCHEDULERS,
          "Noise levels evenly spread in log sigma", NINO_OUTPUTS(NINO_PORT(SIGMAS, SIGMAS)),
          NINO_PARAMS(free_params, P_STEPS(free_params), P_SIGMAS(free_params)),
          NINO_RUN(exponential_scheduler_run));
NINO_NODE(poly_scheduler, "PolyexponentialScheduler", "PolyexponentialScheduler", SCHEDULERS,
          "Noise levels by a power of log sigma", NINO_OUTPUTS(NINO_PORT(SIGMAS, SIGMAS)),
          NINO_PARAMS(free_params, P_STEPS(free_params), P_SIGMAS(free_params),
                      NINO_P_FLOAT(free_params, rho, 1.0, 0.0, 100.0, 0.01, .label = "Rho",
                                   .ui_max.f = 5.0,
                                   .help = "Power of the log sigmas; 1 is exponential")),
          NINO_RUN(poly_scheduler_run));
NINO_NODE(laplace_scheduler, "LaplaceScheduler", "LaplaceScheduler", SCHEDULERS,
          "Noise levels gathered around one, without a final 0",
          NINO_OUTPUTS(NINO_PORT(SIGMAS, SIGMAS)),
          NINO_PARAMS(free_params, P_STEPS(free_params), P_SIGMAS(free_params),
                      NINO_P_FLOAT(free_params, mu, 0.0, -10.0, 10.0, 0.1, .label = "Mu",
                                   .help = "Log of the sigma that most steps are near"),
                      NINO_P_FLOAT(free_params, beta, 0.5, 0.0, 10.0, 0.1, .label = "Beta",
                                   .help = "How far the steps spread from it")),
          NINO_RUN(laplace_scheduler_run));
NINO_NODE(vp_scheduler, "VPScheduler", "VPScheduler", SCHEDULERS,
          "Noise levels of a continuous variance-preserving process",
          NINO_OUTPUTS(NINO_PORT(SIGMAS, SIGMAS)),
          NINO_PARAMS(free_params, P_STEPS(free_params),
                      P_SIGMA(free_params, beta_d, 19.9, "Beta range", "Range of the noise rate"),
                      P_SIGMA(free_params, beta_min, 0.1, "Least beta", "Least noise rate"),
                      NINO_P_FLOAT(free_params, eps_s, 0.001, 0.0, 1.0, 0.0001,
                                   .label = "Last time", .help = "Time of the last step before 0")),
          NINO_RUN(vp_scheduler_run));

// ---- Flux2Scheduler --------------------------------------------------------------------------

typedef struct size_params {
    int64_t steps, width, height;
} size_params;

static nino_status flux2_scheduler_run(nino_run *r, nino_error *err)
{
    const size_params *p = r->params;
    nino_sigmas s = { 0 };
    return sigma_nodes_give(r, nino_schedule_flux2((int) p->steps, p->width, p->height, &s, err), s,
                            err);
}

NINO_NODE(flux2_scheduler, "Flux2Scheduler", "Flux2Scheduler", SCHEDULERS,
          "Noise levels of FLUX.2 for a size of picture and a number of steps",
          NINO_OUTPUTS(NINO_PORT(SIGMAS, SIGMAS)),
          NINO_PARAMS(size_params,
                      NINO_P_INT(size_params, steps, 20, 1, 4096, 1, .label = "Steps",
                                 .ui_min.i = 1, .ui_max.i = 60,
                                 .help = "Steps from noise to picture"),
                      NINO_P_INT(size_params, width, 1024, 16, 16384, 1, .label = "Width",
                                 .unit = "px", .help = "Of the picture that will be made"),
                      NINO_P_INT(size_params, height, 1024, 16, 16384, 1, .label = "Height",
                                 .unit = "px", .help = "Of the picture that will be made")),
          NINO_RUN(flux2_scheduler_run));

// ---- published tables ------------------------------------------------------------------------

typedef struct table_params {
    int64_t model_type, steps;
    double coeff, denoise;
} table_params;

static nino_status ays_scheduler_run(nino_run *r, nino_error *err)
{
    static const nino_noise_levels tables[] = { NINO_LEVELS_AYS_SD1, NINO_LEVELS_AYS_SDXL,
                                                NINO_LEVELS_AYS_SVD };
    const table_params *p = r->params;
    nino_sigmas s = { 0 };
    return sigma_nodes_give(
        r, nino_schedule_levels(tables[p->model_type], (int) p->steps, p->denoise, &s, err), s,
        err);
}

static nino_status optimal_scheduler_run(nino_run *r, nino_error *err)
{
    static const nino_noise_levels tables[] = { NINO_LEVELS_OPTIMAL_FLUX, NINO_LEVELS_OPTIMAL_WAN,
                                                NINO_LEVELS_OPTIMAL_CHROMA };
    const table_params *p = r->params;
    nino_sigmas s = { 0 };
    return sigma_nodes_give(
        r, nino_schedule_levels(tables[p->model_type], (int) p->steps, p->denoise, &s, err), s,
        err);
}

static nino_status gits_scheduler_run(nino_run *r, nino_error *err)
{
    const table_params *p = r->params;
    nino_sigmas s = { 0 };
    return sigma_nodes_give(r, nino_schedule_gits(p->coeff, (int) p->steps, p->denoise, &s, err), s,
                            err);
}

NINO_NODE(
    optimal_scheduler, "OptimalStepsScheduler", "OptimalStepsScheduler", SCHEDULERS,
    "Noise levels optimised for a flow model with few steps",
    NINO_OUTPUTS(NINO_PORT(SIGMAS, SIGMAS)),
    NINO_PARAMS(table_params,
                NINO_P_ENUM(table_params, model_type, NINO_WORDS("FLUX", "Wan", "Chroma"), 0,
                            .label = "Model", .help = "Which model the table was optimised for"),
                NINO_P_INT(table_params, steps, 20, 3, 1000, 1, .label = "Steps", .ui_min.i = 3,
                           .ui_max.i = 60, .help = "Steps from noise to picture"),
                P_DENOISE(table_params)),
    NINO_RUN(optimal_scheduler_run));
NINO_NODE(
    ays_scheduler, "AlignYourStepsScheduler", "AlignYourStepsScheduler", SCHEDULERS,
    "Noise levels optimised for a model with few steps", NINO_OUTPUTS(NINO_PORT(SIGMAS, SIGMAS)),
    NINO_PARAMS(table_params,
                NINO_P_ENUM(table_params, model_type, NINO_WORDS("SD1", "SDXL", "SVD"), 0,
                            .label = "Model", .help = "Which model the table was optimised for"),
                NINO_P_INT(table_params, steps, 10, 1, 10000, 1, .label = "Steps", .ui_min.i = 1,
                           .ui_max.i = 60, .help = "Steps from noise to picture"),
                P_DENOISE(table_params)),
    NINO_RUN(ays_scheduler_run));
NINO_NODE(
    gits_scheduler, "GITSScheduler", "GITSScheduler", SCHEDULERS,
    "Noise levels that follow the geometry of sampling paths",
    NINO_OUTPUTS(NINO_PORT(SIGMAS, SIGMAS)),
    NINO_PARAMS(table_params,
                NINO_P_FLOAT(table_params, coeff, 1.2, 0.8, 1.5, 0.05, .label = "Coefficient",
                             .help = "Which table: less spends more steps on high noise levels"),
                NINO_P_INT(table_params, steps, 10, 2, 1000, 1, .label = "Steps", .ui_min.i = 2,
                           .ui_max.i = 60, .help = "Steps from noise to picture"),
                P_DENOISE(table_params)),
    NINO_RUN(gits_scheduler_run));

// ---- changing a list -------------------------------------------------------------------------

typedef struct change_params {
    int64_t step, steps, spacing;
    double denoise, sigma, start_at_sigma, end_at_sigma;
} change_params;

static nino_status give_two(nino_run *r, nino_status st, nino_sigmas high, nino_sigmas low,
                            nino_error *err)
{
    if (st)
        return st;
    if ((st = nino_out_sigmas(r, 0, high, err)))
        nino_sigmas_release(&low);
    return st ? st : nino_out_sigmas(r, 1, low, err);
}

static nino_status split_sigmas_run(nino_run *r, nino_error *err)
{
    const change_params *p = r->params;
    nino_sigmas high = { 0 }, low = { 0 };
    const nino_status st = nino_sigmas_split(nino_in_sigmas(r, 0), (int) p->step, &high, &low, err);
    return give_two(r, st, high, low, err);
}

static nino_status split_sigmas_denoise_run(nino_run *r, nino_error *err)
{
    const change_params *p = r->params;
    nino_sigmas high = { 0 }, low = { 0 };
    const nino_status st =
        nino_sigmas_split_denoise(nino_in_sigmas(r, 0), p->denoise, &high, &low, err);
    return give_two(r, st, high, low, err);
}

static nino_status flip_sigmas_run(nino_run *r, nino_error *err)
{
    nino_sigmas s = { 0 };
    return sigma_nodes_give(r, nino_sigmas_flip(nino_in_sigmas(r, 0), &s, err), s, err);
}

static nino_status set_first_sigma_run(nino_run *r, nino_error *err)
{
    const change_params *p = r->params;
    nino_sigmas s = { 0 };
    return sigma_nodes_give(r, nino_sigmas_set_first(nino_in_sigmas(r, 0), p->sigma, &s, err), s,
                            err);
}

static nino_status extend_sigmas_run(nino_run *r, nino_error *err)
{
    const change_params *p = r->params;
    nino_sigmas s = { 0 };
    return sigma_nodes_give(r,
                            nino_sigmas_extend(nino_in_sigmas(r, 0), (int) p->steps,
                                               p->start_at_sigma, p->end_at_sigma,
                                               (nino_spacing) p->spacing, &s, err),
                            s, err);
}

NINO_NODE(split_sigmas, "SplitSigmas", "SplitSigmas", SIGMAS, "Cuts a list in two at a step",
          NINO_INPUTS(NINO_PORT(sigmas, SIGMAS)), .outputs = two_out,
          NINO_PARAMS(change_params,
                      NINO_P_INT(change_params, step, 0, 0, 10000, 1, .label = "Step",
                                 .ui_min.i = 0, .ui_max.i = 60,
                                 .help = "Steps of the first list; the second has the rest")),
          NINO_RUN(split_sigmas_run));
NINO_NODE(split_sigmas_denoise, "SplitSigmasDenoise", "SplitSigmasDenoise", SIGMAS,
          "Cuts a list in two at a share", NINO_INPUTS(NINO_PORT(sigmas, SIGMAS)),
          .outputs = two_out,
          NINO_PARAMS(change_params,
                      NINO_P_FLOAT(change_params, denoise, 1.0, 0.0, 1.0, 0.01, .label = "Denoise",
                                   .help = "Share of the steps that the second list has")),
          NINO_RUN(split_sigmas_denoise_run));
NINO_NODE(set_first_sigma, "SetFirstSigma", "SetFirstSigma", SIGMAS,
          "Replaces the first noise level", NINO_INPUTS(NINO_PORT(sigmas, SIGMAS)),
          NINO_OUTPUTS(NINO_PORT(SIGMAS, SIGMAS)),
          NINO_PARAMS(change_params, NINO_P_FLOAT(change_params, sigma, 136.0, 0.0, 20000.0, 0.001,
                                                  .label = "Sigma", .ui_max.f = 200.0,
                                                  .help = "Noise level of the first step")),
          NINO_RUN(set_first_sigma_run));
NINO_NODE(extend_sigmas, "ExtendIntermediateSigmas", "ExtendIntermediateSigmas", SIGMAS,
          "Puts steps between steps", NINO_INPUTS(NINO_PORT(sigmas, SIGMAS)),
          NINO_OUTPUTS(NINO_PORT(SIGMAS, SIGMAS)),
          NINO_PARAMS(
              change_params,
              NINO_P_INT(change_params, steps, 2, 1, 100, 1, .label = "Steps", .ui_min.i = 1,
                         .ui_max.i = 10, .help = "Steps that one becomes"),
              NINO_P_FLOAT(change_params, start_at_sigma, -1.0, -1.0, 20000.0, 0.01,
                           .label = "From sigma", .ui_min.f = -1.0, .ui_max.f = 20.0,
                           .help = "Steps above this noise level stay as they are; -1: none does"),
              NINO_P_FLOAT(change_params, end_at_sigma, 12.0, 0.0, 20000.0, 0.01,
                           .label = "To sigma", .ui_max.f = 20.0,
                           .help = "Steps below this noise level stay as they are"),
              NINO_P_ENUM(change_params, spacing, NINO_WORDS("linear", "cosine", "sine"), 0,
                          .label = "Spacing", .help = "Where the new steps are")),
          NINO_RUN(extend_sigmas_run));

NINO_NODE(flip_sigmas, "FlipSigmas", "FlipSigmas", SIGMAS,
          "Turns a list round, from picture to noise", NINO_INPUTS(NINO_PORT(sigmas, SIGMAS)),
          NINO_OUTPUTS(NINO_PORT(SIGMAS, SIGMAS)), NINO_RUN(flip_sigmas_run));

// ---- SamplingPercentToSigma ------------------------------------------------------------------

typedef struct percent_sigma_params {
    double sampling_percent;
    bool return_actual_sigma;
} percent_sigma_params;

static nino_status percent_sigma_run(nino_run *r, nino_error *err)
{
    const percent_sigma_params *p = r->params;
    const nino_model *m = nino_need_model(r, 0, err);
    if (!m)
        return NINO_ERR_UNSUPPORTED;
    return nino_out_float(
        r, 0, nino_schedule_percent(m->sampling, p->sampling_percent, p->return_actual_sigma), err);
}

NINO_NODE(
    percent_sigma, "SamplingPercentToSigma", "SamplingPercentToSigma", SIGMAS,
    "The noise level at a part of the sampling", NINO_INPUTS(NINO_PORT(model, MODEL)),
    NINO_OUTPUTS(NINO_PORT(sigma_value, FLOAT)),
    NINO_PARAMS(
        percent_sigma_params,
        NINO_P_FLOAT(percent_sigma_params, sampling_percent, 0.0, 0.0, 1.0, 0.0001, .label = "Part",
                     .help = "0 is the start of sampling, 1 its end"),
        NINO_P_BOOL(percent_sigma_params, return_actual_sigma, false, .label = "Actual sigma",
                    .help =
                        "At 0 and 1 gives the model's largest and least sigma instead of the value "
                        "that ranges are compared with")),
    NINO_RUN(percent_sigma_run));
