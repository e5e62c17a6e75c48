// DifferentialDiffusion: a noise mask as a map of how much each place may change. Behaviour of
// ComfyUI's nodes_differential_diffusion.py; the sampling itself is in core/sample/sample_latent.c.
#include "core/node/util.h"

typedef struct differential_params {
    double strength;
} differential_params;

static nino_status differential_run(nino_run *r, nino_error *err)
{
    nino_model *m = nino_model_copy(nino_in_model(r, 0));
    if (m) {
        m->has_differential = true;
        m->differential = ((const differential_params *) r->params)->strength;
    }
    return nino_out_model(r, 0, m, err);
}

NINO_NODE(
    differential, "DifferentialDiffusion", "Differential Diffusion", "_for_testing",
    "Where a noise mask is grey the picture may change in the later steps only",
    NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
    NINO_PARAMS(differential_params,
                NINO_P_FLOAT(
                    differential_params, strength, 1.0, 0.0, 1.0, 0.01, .label = "Strength",
                    .optional = true,
                    .help = "How much of the mask becomes a question of time; 0 is the same as 1")),
    NINO_RUN(differential_run));
