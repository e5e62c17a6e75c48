// Nodes that make a SAMPLER: by name, or one with its options. Behaviour of ComfyUI's
// nodes_custom_sampler.py and nodes_advanced_samplers.py.
#include <math.h>

#include "core/node/sampling_node.h"
#include "core/node/util.h"

#define SAMPLERS "sampling/custom_sampling/samplers"

#define P_ETA(S, most)                                                                             \
    NINO_P_FLOAT(S, eta, 1.0, 0.0, most, 0.01, .label = "Eta", .ui_max.f = 1.0,                    \
                 .help = "How much fresh noise is added; 0 makes it deterministic")
#define P_NOISE(S, most)                                                                           \
    NINO_P_FLOAT(S, s_noise, 1.0, 0.0, most, 0.01, .label = "Noise", .ui_max.f = 2.0,              \
                 .help = "Factor of the noise that is added")
#define P_DEVICE(S)                                                                                \
    NINO_P_ENUM(S, noise_device, noise_devices, 0, .label = "Noise device", .is_inert = true,      \
                .help =                                                                            \
                    "No effect: noise is always that of the CPU, so pictures do not depend on "    \
                    "the device")

static const char *const noise_devices[] = { "gpu", "cpu", NULL };

// ---- KSamplerSelect --------------------------------------------------------------------------

typedef struct ksampler_select_params {
    int64_t sampler_name;
} ksampler_select_params;

static nino_status ksampler_select_run(nino_run *r, nino_error *err)
{
    const ksampler_select_params *p = r->params;
    const nino_sampler s = nino_sampler_default((nino_sampler_id) p->sampler_name);
    return nino_out_sampler(r, 0, &s, err);
}

NINO_NODE(ksampler_select, "KSamplerSelect", "KSamplerSelect", SAMPLERS,
          "A sampler by name, with its usual options", NINO_OUTPUTS(NINO_PORT(SAMPLER, SAMPLER)),
          NINO_PARAMS(ksampler_select_params,
                      NINO_P_ENUM(ksampler_select_params, sampler_name, nino_sampler_names, 0,
                                  .label = "Sampler", .help = "How the steps are taken")),
          NINO_RUN(ksampler_select_run));

// ---- ancestral and SDE samplers --------------------------------------------------------------

typedef struct eta_params {
    double eta, s_noise;
    double r;
    int64_t solver_type, noise_device;
} eta_params;

static nino_status with_eta(nino_run *r, nino_sampler_id id, nino_error *err)
{
    const eta_params *p = r->params;
    nino_sampler s = nino_sampler_default(id);
    s.eta = p->eta;
    s.s_noise = p->s_noise;
    return nino_out_sampler(r, 0, &s, err);
}

static nino_status sampler_euler_a_run(nino_run *r, nino_error *err)
{
    return with_eta(r, NINO_SAMPLER_EULER_ANCESTRAL, err);
}
static nino_status sampler_euler_a_pp_run(nino_run *r, nino_error *err)
{
    return with_eta(r, NINO_SAMPLER_EULER_ANCESTRAL_CFG_PP, err);
}
static nino_status sampler_2s_run(nino_run *r, nino_error *err)
{
    return with_eta(r, NINO_SAMPLER_DPMPP_2S_ANCESTRAL, err);
}
static nino_status sampler_3m_run(nino_run *r, nino_error *err)
{
    return with_eta(r, NINO_SAMPLER_DPMPP_3M_SDE, err);
}

static nino_status sampler_2m_run(nino_run *r, nino_error *err)
{
    const eta_params *p = r->params;
    nino_sampler s = nino_sampler_default(NINO_SAMPLER_DPMPP_2M_SDE);
    s.eta = p->eta;
    s.s_noise = p->s_noise;
    s.solver_type = p->solver_type == 1 ? NINO_SOLVER_HEUN : NINO_SOLVER_MIDPOINT;
    return nino_out_sampler(r, 0, &s, err);
}

static nino_status sampler_sde_run(nino_run *r, nino_error *err)
{
    const eta_params *p = r->params;
    nino_sampler s = nino_sampler_default(NINO_SAMPLER_DPMPP_SDE);
    s.eta = p->eta;
    s.s_noise = p->s_noise;
    s.r = p->r;
    return nino_out_sampler(r, 0, &s, err);
}

NINO_NODE(sampler_euler_a, "SamplerEulerAncestral", "SamplerEulerAncestral", SAMPLERS,
          "Euler steps with fresh noise", NINO_OUTPUTS(NINO_PORT(SAMPLER, SAMPLER)),
          NINO_PARAMS(eta_params, P_ETA(eta_params, 100.0), P_NOISE(eta_params, 100.0)),
          NINO_RUN(sampler_euler_a_run));
NINO_NODE(
    sampler_euler_a_pp, "SamplerEulerAncestralCFGPP", "SamplerEulerAncestralCFG++", SAMPLERS,
    "Euler steps with fresh noise, guided as CFG++ does", NINO_OUTPUTS(NINO_PORT(SAMPLER, SAMPLER)),
    NINO_PARAMS(eta_params,
                NINO_P_FLOAT(eta_params, eta, 1.0, 0.0, 1.0, 0.01, .label = "Eta",
                             .help = "How much fresh noise is added; 0 makes it deterministic"),
                P_NOISE(eta_params, 10.0)),
    NINO_RUN(sampler_euler_a_pp_run));
NINO_NODE(sampler_2s, "SamplerDPMPP_2S_Ancestral", "SamplerDPMPP_2S_Ancestral", SAMPLERS,
          "DPM-Solver++(2S) with fresh noise", NINO_OUTPUTS(NINO_PORT(SAMPLER, SAMPLER)),
          NINO_PARAMS(eta_params, P_ETA(eta_params, 100.0), P_NOISE(eta_params, 100.0)),
          NINO_RUN(sampler_2s_run));
NINO_NODE(sampler_3m, "SamplerDPMPP_3M_SDE", "SamplerDPMPP_3M_SDE", SAMPLERS,
          "DPM-Solver++(3M) for the diffusion SDE", NINO_OUTPUTS(NINO_PORT(SAMPLER, SAMPLER)),
          NINO_PARAMS(eta_params, P_ETA(eta_params, 100.0), P_NOISE(eta_params, 100.0),
                      P_DEVICE(eta_params)),
          NINO_RUN(sampler_3m_run));
NINO_NODE(sampler_2m, "SamplerDPMPP_2M_SDE", "SamplerDPMPP_2M_SDE", SAMPLERS,
          "DPM-Solver++(2M) for the diffusion SDE", NINO_OUTPUTS(NINO_PORT(SAMPLER, SAMPLER)),
          NINO_PARAMS(eta_params,
                      NINO_P_ENUM(eta_params, solver_type, NINO_WORDS("midpoint", "heun"), 0,
                                  .label = "Solver",
                                  .help = "Which second-order formula takes the steps"),
                      P_ETA(eta_params, 100.0), P_NOISE(eta_params, 100.0), P_DEVICE(eta_params)),
          NINO_RUN(sampler_2m_run));
NINO_NODE(sampler_sde, "SamplerDPMPP_SDE", "SamplerDPMPP_SDE", SAMPLERS,
          "DPM-Solver++ for the diffusion SDE, two evaluations a step",
          NINO_OUTPUTS(NINO_PORT(SAMPLER, SAMPLER)),
          NINO_PARAMS(eta_params, P_ETA(eta_params, 100.0), P_NOISE(eta_params, 100.0),
                      NINO_P_FLOAT(eta_params, r, 0.5, 0.0, 100.0, 0.01, .label = "Midpoint",
                                   .ui_max.f = 1.0,
                                   .help = "Where in a step the second evaluation is"),
                      P_DEVICE(eta_params)),
          NINO_RUN(sampler_sde_run));

// ---- multistep and adaptive ------------------------------------------------------------------

typedef struct sampler_lms_params {
    int64_t order;
} sampler_lms_params;

static nino_status sampler_lms_run(nino_run *r, nino_error *err)
{
    nino_sampler s = nino_sampler_default(NINO_SAMPLER_LMS);
    s.order = (int) ((const sampler_lms_params *) r->params)->order;
    return nino_out_sampler(r, 0, &s, err);
}

NINO_NODE(sampler_lms, "SamplerLMS", "SamplerLMS", SAMPLERS,
          "Linear multistep: one evaluation a step, earlier ones are used again",
          NINO_OUTPUTS(NINO_PORT(SAMPLER, SAMPLER)),
          NINO_PARAMS(sampler_lms_params, NINO_P_INT(sampler_lms_params, order, 4, 1, 100, 1,
                                                     .label = "Order", .ui_min.i = 1, .ui_max.i = 4,
                                                     .help = "How many earlier steps are used")),
          NINO_RUN(sampler_lms_run));

typedef struct sampler_adaptive_params {
    int64_t order;
    double rtol, atol, h_init, pcoeff, icoeff, dcoeff, accept_safety, eta, s_noise;
} sampler_adaptive_params;

static nino_status sampler_adaptive_run(nino_run *r, nino_error *err)
{
    const sampler_adaptive_params *p = r->params;
    nino_sampler s = nino_sampler_default(NINO_SAMPLER_DPM_ADAPTIVE);
    s.order = (int) p->order;
    s.rtol = p->rtol;
    s.atol = p->atol;
    s.h_init = p->h_init;
    s.pcoeff = p->pcoeff;
    s.icoeff = p->icoeff;
    s.dcoeff = p->dcoeff;
    s.accept_safety = p->accept_safety;
    s.eta = p->eta;
    s.s_noise = p->s_noise;
    return nino_out_sampler(r, 0, &s, err);
}

#define P_ADAPT(field, d, shown, text)                                                             \
    NINO_P_FLOAT(sampler_adaptive_params, field, d, 0.0, 100.0, 0.01, .label = shown,              \
                 .ui_max.f = 1.0, .help = text)
NINO_NODE(sampler_adaptive, "SamplerDPMAdaptative", "SamplerDPMAdaptative", SAMPLERS,
          "DPM-Solver that chooses its own steps between the first and last sigma",
          NINO_OUTPUTS(NINO_PORT(SAMPLER, SAMPLER)),
          NINO_PARAMS(sampler_adaptive_params,
                      NINO_P_INT(sampler_adaptive_params, order, 3, 2, 3, 1, .label = "Order",
                                 .help = "Evaluations a step"),
                      P_ADAPT(rtol, 0.05, "Relative tolerance",
                              "Error that a step may have, relative to x"),
                      P_ADAPT(atol, 0.0078, "Absolute tolerance", "Error that a step may have"),
                      P_ADAPT(h_init, 0.05, "First step", "Size of the first step, in log sigma"),
                      P_ADAPT(pcoeff, 0.0, "P", "Proportional part of the step size control"),
                      P_ADAPT(icoeff, 1.0, "I", "Integral part of the step size control"),
                      P_ADAPT(dcoeff, 0.0, "D", "Derivative part of the step size control"),
                      P_ADAPT(accept_safety, 0.81, "Safety",
                              "A step is kept while its error is this far from the "
                              "tolerance"),
                      P_ADAPT(eta, 0.0, "Eta", "How much fresh noise is added"),
                      P_NOISE(sampler_adaptive_params, 100.0)),
          NINO_RUN(sampler_adaptive_run));

// ---- ER-SDE, SA-Solver -----------------------------------------------------------------------

typedef struct sampler_er_sde_params {
    int64_t solver_type, max_stage;
    double eta, s_noise;
} sampler_er_sde_params;

static nino_status sampler_er_sde_run(nino_run *r, nino_error *err)
{
    static const nino_solver_type solvers[] = { NINO_SOLVER_ER_SDE, NINO_SOLVER_REVERSE_TIME_SDE,
                                                NINO_SOLVER_ODE };
    const sampler_er_sde_params *p = r->params;
    nino_sampler s = nino_sampler_default(NINO_SAMPLER_ER_SDE);
    s.solver_type = solvers[p->solver_type];
    s.max_stage = (int) p->max_stage;
    s.eta = p->eta;
    s.s_noise = p->s_noise;
    return nino_out_sampler(r, 0, &s, err);
}

NINO_NODE(
    sampler_er_sde, "SamplerER_SDE", "SamplerER_SDE", SAMPLERS, "Extended reverse-time SDE solver",
    NINO_OUTPUTS(NINO_PORT(SAMPLER, SAMPLER)),
    NINO_PARAMS(sampler_er_sde_params,
                NINO_P_ENUM(sampler_er_sde_params, solver_type,
                            NINO_WORDS("ER-SDE", "Reverse-time SDE", "ODE"), 0, .label = "Solver",
                            .help = "Which equation is solved"),
                NINO_P_INT(sampler_er_sde_params, max_stage, 3, 1, 3, 1, .label = "Stages",
                           .help = "Order of the solver at most"),
                NINO_P_FLOAT(sampler_er_sde_params, eta, 1.0, 0.0, 100.0, 0.01, .label = "Eta",
                             .ui_max.f = 1.0,
                             .help = "How much fresh noise a reverse-time SDE adds; 0 makes it "
                                     "an ODE"),
                P_NOISE(sampler_er_sde_params, 100.0)),
    NINO_RUN(sampler_er_sde_run));

typedef struct sampler_sa_params {
    double eta, sde_start_percent, sde_end_percent, s_noise;
    int64_t predictor_order, corrector_order;
    bool use_pece, simple_order_2;
} sampler_sa_params;

static nino_status sampler_sa_run(nino_run *r, nino_error *err)
{
    const sampler_sa_params *p = r->params;
    const nino_model *m = nino_need_model(r, 0, err);
    if (!m)
        return NINO_ERR_UNSUPPORTED;
    nino_sampler s = nino_sampler_default(NINO_SAMPLER_SA_SOLVER);
    s.eta = p->eta;
    s.s_noise = p->s_noise;
    s.sde_start_sigma = nino_sampling_percent_to_sigma(m->sampling, p->sde_start_percent);
    s.sde_end_sigma = nino_sampling_percent_to_sigma(m->sampling, p->sde_end_percent);
    s.predictor_order = (int) p->predictor_order;
    s.corrector_order = (int) p->corrector_order;
    s.use_pece = p->use_pece;
    s.simple_order_2 = p->simple_order_2;
    return nino_out_sampler(r, 0, &s, err);
}

NINO_NODE(sampler_sa, "SamplerSASolver", "SamplerSASolver", SAMPLERS, "Stochastic Adams solver",
          NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(SAMPLER, SAMPLER)),
          NINO_PARAMS(
              sampler_sa_params, P_ETA(sampler_sa_params, 10.0),
              NINO_P_FLOAT(sampler_sa_params, sde_start_percent, 0.2, 0.0, 1.0, 0.001,
                           .label = "Noise from",
                           .help = "Fresh noise is added from this part of the sampling on"),
              NINO_P_FLOAT(sampler_sa_params, sde_end_percent, 0.8, 0.0, 1.0, 0.001,
                           .label = "Noise until",
                           .help = "Fresh noise is added until this part of the sampling"),
              P_NOISE(sampler_sa_params, 100.0),
              NINO_P_INT(sampler_sa_params, predictor_order, 3, 1, 6, 1, .label = "Predictor order",
                         .help = "Earlier steps that the prediction uses"),
              NINO_P_INT(sampler_sa_params, corrector_order, 4, 0, 6, 1, .label = "Corrector order",
                         .help = "Earlier steps that the correction uses; 0: no correction"),
              NINO_P_BOOL(sampler_sa_params, use_pece, false, .label = "Evaluate again",
                          .help = "Evaluates the corrected state too: two evaluations a step"),
              NINO_P_BOOL(sampler_sa_params, simple_order_2, false, .label = "Simple order 2",
                          .help = "Another formula where the order is 2")),
          NINO_RUN(sampler_sa_run));

// ---- Euler CFG++ -----------------------------------------------------------------------------

typedef struct sampler_cfgpp_params {
    int64_t version;
} sampler_cfgpp_params;

static nino_status sampler_cfgpp_run(nino_run *r, nino_error *err)
{
    const bool is_other = ((const sampler_cfgpp_params *) r->params)->version == 1;
    const nino_sampler s =
        nino_sampler_default(is_other ? NINO_SAMPLER_EULER_PP : NINO_SAMPLER_EULER_CFG_PP);
    return nino_out_sampler(r, 0, &s, err);
}

NINO_NODE(sampler_cfgpp, "SamplerEulerCFGpp", "SamplerEulerCFG++", "_for_testing",
          "Euler steps guided as CFG++ does", NINO_OUTPUTS(NINO_PORT(SAMPLER, SAMPLER)),
          NINO_PARAMS(sampler_cfgpp_params,
                      NINO_P_ENUM(sampler_cfgpp_params, version,
                                  NINO_WORDS("regular", "alternative"), 0, .label = "Version",
                                  .help = "alternative: the formula this node had first")),
          NINO_RUN(sampler_cfgpp_run));
