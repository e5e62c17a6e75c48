// Values chosen, compared and collected. Behaviour of ComfyUI's nodes_logic.py.
#include <string.h>

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
          NINO_INPUTS(NINO_PORT(on_false, ANY, .match = "switch",
                                .help = "Taken where the switch is off"),
                      NINO_PORT(on_true, ANY, .match = "switch", .help = "Taken where it is on")),
          NINO_OUTPUTS(NINO_PORT(output, ANY, .match = "switch")),
          NINO_PARAMS(switch_params, NINO_K_BOOL("switch", switch_params, is_on, false,
                                                 .label = "Switch", .help = "On or off")),
          NINO_RUN(switch_run, .takes = switch_takes));

// ---- ComfyNotNode, ComfyAndNode, ComfyOrNode -------------------------------------------------

// What Python's bool() says. Pictures and masks are tensors there, which are neither.
static nino_status logic_truth(const nino_run *r, int port, bool *out, nino_error *err)
{
    const nino_value *v = r->in[port];
    switch (v->type) {
    case NINO_PORT_BOOLEAN: *out = v->u.b; return NINO_OK;
    case NINO_PORT_INT: *out = v->u.i != 0; return NINO_OK;
    case NINO_PORT_FLOAT: *out = v->u.f != 0; return NINO_OK;
    case NINO_PORT_STRING: *out = *v->u.string; return NINO_OK;
    case NINO_PORT_DICT:
    case NINO_PORT_ARRAY: // as the workflow or a node wrote it: empty without anything between
        *out = v->u.string[1 + strspn(v->u.string + 1, " \t\r\n")] !=
               (v->type == NINO_PORT_DICT ? '}' : ']');
        return NINO_OK;
    case NINO_PORT_IMAGE:
    case NINO_PORT_MASK:
    case NINO_PORT_SIGMAS:
        return nino_fail_kind(err, NINO_ERR_ARG, "value", r->def->inputs[port].key,
                              "%s is neither true nor false", nino_port_type_name(v->type));
    default: *out = true; return NINO_OK;
    }
}

// Whether all of them have the value `all`.
static nino_status logic_all(nino_run *r, bool all, bool *out, nino_error *err)
{
    *out = true;
    for (int i = 0; r->def->inputs[i].key; i++) {
        bool is = all;
        const nino_status st = r->in[i] ? logic_truth(r, i, &is, err) : NINO_OK;
        if (st)
            return st;
        *out = *out && is == all;
    }
    return NINO_OK;
}

static nino_status not_run(nino_run *r, nino_error *err)
{
    bool is = false;
    const nino_status st = logic_truth(r, 0, &is, err);
    return st ? st : nino_out_bool(r, 0, !is, err);
}

static nino_status and_run(nino_run *r, nino_error *err)
{
    bool all = false;
    const nino_status st = logic_all(r, true, &all, err);
    return st ? st : nino_out_bool(r, 0, all, err);
}

static nino_status or_run(nino_run *r, nino_error *err)
{
    bool none = false;
    const nino_status st = logic_all(r, false, &none, err);
    return st ? st : nino_out_bool(r, 0, !none, err);
}

#define TRUTH_HELP "0, an empty text and an empty list are false, all else is true"
#define LOGIC_VALUES                                                                               \
    NINO_INPUTS(NINO_FIRST("values.value0", ANY, .help = TRUTH_HELP),                              \
                NINO_MORE_1_9("values.value", ANY, .help = TRUTH_HELP))

NINO_NODE(comfy_not, "ComfyNotNode", "Not", "utilities/logic", "Whether a value is false",
          NINO_INPUTS(NINO_PORT(value, ANY, .help = TRUTH_HELP)),
          NINO_OUTPUTS(NINO_PORT(BOOLEAN, BOOLEAN)), NINO_RUN(not_run));
NINO_NODE(comfy_and, "ComfyAndNode", "And", "utilities/logic", "Whether all values are true",
          LOGIC_VALUES, NINO_OUTPUTS(NINO_PORT(BOOLEAN, BOOLEAN)), NINO_RUN(and_run));
NINO_NODE(comfy_or, "ComfyOrNode", "Or", "utilities/logic", "Whether one of the values is true",
          LOGIC_VALUES, NINO_OUTPUTS(NINO_PORT(BOOLEAN, BOOLEAN)), NINO_RUN(or_run));

// ---- CreateList ------------------------------------------------------------------------------

static nino_status create_list_run(nino_run *r, nino_error *err)
{
    r->out[0] = nino_value_create_list(r->in[0] ? r->in[0]->type : NINO_PORT_ANY);
    for (int i = 0; r->out[0] && r->def->inputs[i].key; i++)
        if (r->in[i] && !nino_value_append(r->out[0], nino_value_ref(r->in[i])))
            return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    return r->out[0] ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
}

#define LIST_HELP "A value, or a list of them"
NINO_NODE(create_list, "CreateList", "Create List", "utilities",
          "Makes a list of values and lists; nodes behind it run once for each",
          NINO_INPUTS(NINO_FIRST("inputs.input0", ANY, .match = "type", .help = LIST_HELP),
                      NINO_MORE_1_9("inputs.input", ANY, .match = "type", .help = LIST_HELP)),
          NINO_OUTPUTS(NINO_PORT(list, ANY, .match = "type")),
          NINO_RUN(create_list_run, .takes_lists = true));
