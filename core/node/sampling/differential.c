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

static const nino_port model_in[] = { { .key = "model", .type = NINO_PORT_MODEL }, { 0 } };
static const nino_port model_out[] = { { .key = "MODEL", .type = NINO_PORT_MODEL }, { 0 } };
static const nino_param differential_table[] = {
    NINO_P_FLOAT(differential_params, strength, 1.0, 0.0, 1.0, 0.01, .label = "Strength",
                 .optional = true,
                 .help = "How much of the mask becomes a question of time; 0 is the same as 1"),
    { 0 }
};
static const nino_node_ops differential_ops = { .run = differential_run };
const nino_node_def nino_node_differential = {
    .key = "DifferentialDiffusion",
    .title = "Differential Diffusion",
    .category = "_for_testing",
    .help = "Where a noise mask is grey the picture may change in the later steps only",
    .inputs = model_in,
    .outputs = model_out,
    .params = differential_table,
    .params_size = sizeof(differential_params),
    .ops = &differential_ops,
};
