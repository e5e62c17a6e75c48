// ControlNetLoader, DiffControlNetLoader, SetUnionControlNetType. Semantics: ComfyUI nodes.py,
// comfy_extras/nodes_controlnet.py.
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/node/util.h"

typedef struct control_params {
    const char *control_net_name;
} control_params;

static nino_status control_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                    nino_error *err)
{
    return nino_services_of(ctx)->identity(
        ctx, "controlnet", ((const control_params *) params)->control_net_name, h, err);
}

#define CONTROL_FILE                                                                               \
    NINO_P_FILE(control_params, control_net_name, "controlnet", .label = "Control network",        \
                .help = "A file of models/controlnet or models/t2i_adapter")

static nino_status control_loader_run(nino_run *r, nino_error *err)
{
    const nino_services *sv = nino_services_of(r->ctx);
    const char *name = ((const control_params *) r->params)->control_net_name;
    nino_weights *file = NULL;
    nino_control_net *c = NULL;
    nino_status st = sv->open_model(r->ctx, "controlnet", name, &file, err);
    if (st)
        return st;
    const nino_hash id = nino_weights_identity(file), key = nino_hash_bytes(&id, sizeof(id));
    if (!(r->out[0] = sv->find_object(r->ctx, NINO_PORT_CONTROL_NET, key)) &&
        !(st = nino_control_load(file, name, &c, err)) &&
        !(st = nino_out_control(r, 0, c, -1, err)))
        sv->keep_object(r->ctx, key, r->out[0]);
    nino_weights_unref(&file);
    return st;
}

NINO_NODE(control_loader, "ControlNetLoader", "Load ControlNet Model", "loaders",
          "Opens a control network: ControlNet of SD, SDXL or FLUX.1, union, control-LoRA, "
          "T2I-Adapter",
          NINO_OUTPUTS(NINO_PORT(CONTROL_NET, CONTROL_NET)),
          NINO_PARAMS(control_params, CONTROL_FILE),
          NINO_RUN(control_loader_run, .identity = control_identity));

static nino_status diff_loader_run(nino_run *r, nino_error *err)
{
    const char *name = ((const control_params *) r->params)->control_net_name;
    nino_weights *file = NULL;
    nino_control_net *c = NULL;
    const nino_model *m = nino_need_model(r, 0, err);
    if (!m)
        return NINO_ERR_UNSUPPORTED;
    nino_status st = nino_services_of(r->ctx)->open_model(r->ctx, "controlnet", name, &file, err);
    if (!st && !(st = nino_control_load_diff(file, name, m, &c, err)))
        st = nino_out_control(r, 0, c, -1, err);
    nino_weights_unref(&file);
    return st;
}

NINO_NODE(diff_control_loader, "DiffControlNetLoader", "Load ControlNet Model (diff)", "loaders",
          "Opens a ControlNet that is stored as the difference to a model's weights, and adds them",
          NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(CONTROL_NET, CONTROL_NET)),
          NINO_PARAMS(control_params, CONTROL_FILE),
          NINO_RUN(diff_loader_run, .identity = control_identity));

typedef struct union_params {
    int64_t type;
} union_params;

static nino_status union_run(nino_run *r, nino_error *err)
{
    const int type = (int) ((const union_params *) r->params)->type - 1; // the first is none
    nino_control_net *c = r->in[0]->u.control.net;
    if (c->n_types && type >= c->n_types)
        return nino_fail_kind(err, NINO_ERR_ARG, "value", "type",
                              "%s knows %d types, not \"%s\": that one is of the ProMax model",
                              c->name, c->n_types, nino_control_types[type + 1]);
    return nino_out_control(r, 0, nino_control_ref(c), type, err);
}

NINO_NODE(union_control, "SetUnionControlNetType", "SetUnionControlNetType",
          "conditioning/controlnet",
          "Says what kind of picture a union ControlNet gets; other networks go on as they are",
          NINO_INPUTS(NINO_PORT(control_net, CONTROL_NET)),
          NINO_OUTPUTS(NINO_PORT(CONTROL_NET, CONTROL_NET)),
          NINO_PARAMS(union_params,
                      NINO_P_ENUM(union_params, type, nino_control_types, 0, .label = "Type",
                                  .help = "What the picture shows; auto: the network is not told")),
          NINO_RUN(union_run));
