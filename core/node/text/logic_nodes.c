// Values chosen. Behaviour of ComfyUI's nodes_logic.py.
#include "core/base/error.h"
#include "core/node/util.h"

// ---- ComfySwitchNode -------------------------------------------------------------------------

typedef struct switch_params {
    bool is_on;
} switch_params;

static bool switch_takes(const void *params, int port)
{
    return port == ((const switch_params *) params)->is_on;
}

static nino_status switch_run(nino_run *r, nino_error *err)
{
    nino_value *v = r->in[((const switch_params *) r->params)->is_on];
    if (!v)
        return nino_fail(err, NINO_ERR_ARG, r->def->key, "what it chooses is not connected");
    r->out[0] = nino_value_ref(v);
    return NINO_OK;
}

NINO_NODE(comfy_switch, "ComfySwitchNode", "Switch", "utils/logic",
          "Hands one of two values on; what makes the other does not run for it",
          NINO_INPUTS(NINO_PORT(on_false, ANY, .help = "Taken where the switch is off"),
                      NINO_PORT(on_true, ANY, .help = "Taken where it is on")),
          NINO_OUTPUTS(NINO_PORT(output, ANY)),
          NINO_PARAMS(switch_params, { .key = "switch", // a word of C
                                       .type = NINO_BOOL,
                                       .offset = NINO_FIELD(switch_params, is_on, bool),
                                       .label = "Switch",
                                       .help = "On or off" }),
          NINO_RUN(switch_run, .takes = switch_takes));
