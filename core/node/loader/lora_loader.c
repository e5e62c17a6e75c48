// LoRA loaders: a model and a text encoder with changed weights; what they came from stays usable.
// Behaviour: ComfyUI nodes.py (LoraLoader), comfy/sd.py (load_lora_for_models).
#include <stdlib.h>

#include "core/base/error.h"
#include "core/model/merge/lora_apply.h"
#include "core/node/sampling_node.h"
#include "core/node/util.h"

typedef struct lora_params {
    const char *lora_name;
    double strength_model, strength_clip;
} lora_params;

typedef struct model_params { // LoraLoaderModelOnly
    const char *lora_name;
    double strength_model;
} model_params;

static void lora_loader_report(const nino_run *r, const nino_lora *l, const nino_lora_report *rep,
                               const char *name)
{
    char text[640];
    if (r->is_plan) // the run says it
        return;
    if (nino_lora_unused(l, rep, text, sizeof(text))[0])
        nino_logf(r->log, NINO_LOG_WARN, "%s %s: %s: %s", r->node_id, r->def->key, name, text);
    for (int i = 0; i < rep->n_misfits && i < 2; i++)
        nino_logf(r->log, NINO_LOG_WARN, "%s %s: %s: %s%s", r->node_id, r->def->key, name,
                  rep->misfit[i], i && rep->n_misfits > 2 ? ", and more like it" : "");
}

// Weights of 16 bits are rounded to that again, but where the network computes in f32.
static bool is_f32(const nino_run *r) { return nino_stream_act_type(r->stream) == NINO_F32; }

// *v becomes that with the LoRA. A model that cannot be run is refused, a text encoder is passed on:
// whoever encodes with it is told.
static nino_status with_lora(nino_run *r, nino_value **v, nino_lora *l, double strength,
                             nino_lora_report *rep, nino_error *err)
{
    const bool is_model = (*v)->type == NINO_PORT_MODEL;
    nino_status st = NINO_OK;
    if (!is_model && !(*v)->u.clip)
        return NINO_OK;
    if (is_model && !(*v)->u.model)
        return nino_need_model(r, 0, err) ? NINO_ERR_UNSUPPORTED
               : err && err->code         ? err->code
                                          : NINO_ERR_UNSUPPORTED;
    nino_value *out = nino_value_create((*v)->type);
    if (!out)
        return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    st = is_model
             ? nino_model_with_lora((*v)->u.model, l, strength, is_f32(r), rep, &out->u.model, err)
             : nino_clip_with_lora((*v)->u.clip, l, strength, is_f32(r), rep, &out->u.clip, err);
    if (st) {
        nino_value_unref(&out);
        return st;
    }
    nino_value_unref(v);
    *v = out;
    return NINO_OK;
}

nino_status nino_node_add_lora(nino_run *r, const char *name, double strength_model,
                               double strength_clip, nino_value **model, nino_value **clip,
                               nino_error *err)
{
    nino_weights *file = NULL;
    nino_lora *l = NULL;
    nino_lora_report rep = { 0 };
    nino_status st = NINO_OK;
    if (strength_model == 0 && strength_clip == 0) // the very same, whatever the file
        return NINO_OK;
    if ((st = nino_services_of(r->ctx)->open_model(r->ctx, "loras", name, &file, err)) ||
        (st = nino_lora_open(file, name, &l, err)))
        goto end;
    if (!(rep.used = calloc((size_t) nino_lora_count(l) + 1, sizeof(*rep.used)))) {
        st = nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
        goto end;
    }
    if (*model)
        st = with_lora(r, model, l, strength_model, &rep, err);
    if (!st && *clip)
        st = with_lora(r, clip, l, strength_clip, &rep, err);
    if (!st)
        lora_loader_report(r, l, &rep, name);
end:
    free(rep.used);
    nino_lora_unref(&l);
    nino_weights_unref(&file);
    return st;
}

static nino_status lora_loader_run(nino_run *r, const char *name, double strength_model,
                                   double strength_clip, bool has_clip, nino_error *err)
{
    nino_value *model = nino_value_ref(r->in[0]),
               *clip = has_clip ? nino_value_ref(r->in[1]) : NULL;
    const nino_status st =
        nino_node_add_lora(r, name, strength_model, strength_clip, &model, &clip, err);
    r->out[0] = model; // also on failure: the executor lets go of it
    if (has_clip)
        r->out[1] = clip;
    return st;
}

static nino_status lora_loader_both_run(nino_run *r, nino_error *err)
{
    const lora_params *p = r->params;
    return lora_loader_run(r, p->lora_name, p->strength_model, p->strength_clip, true, err);
}

static nino_status both_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                 nino_error *err)
{
    return nino_services_of(ctx)->identity(ctx, "loras", ((const lora_params *) params)->lora_name,
                                           h, err);
}

static nino_status lora_loader_model_run(nino_run *r, nino_error *err)
{
    const model_params *p = r->params;
    return lora_loader_run(r, p->lora_name, p->strength_model, 0, false, err);
}

static nino_status model_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                  nino_error *err)
{
    return nino_services_of(ctx)->identity(ctx, "loras", ((const model_params *) params)->lora_name,
                                           h, err);
}

#define P_NAME(S)                                                                                  \
    NINO_P_FILE(S, lora_name, "loras", .label = "LoRA", .help = "A file of models/loras")
#define P_STRENGTH(S, fld, most, lbl, hlp)                                                         \
    NINO_P_FLOAT(S, fld, 1, -most, most, 0.01, .label = lbl, .ui_min.f = -2, .ui_max.f = 2,        \
                 .help = hlp "; 0 leaves it alone, less than 0 does the opposite")
#define MODEL_HELP "How much of the change the diffusion model gets"
#define CLIP_HELP "How much of the change the text encoder gets"

static const nino_port both_out[] = { NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP), { 0 } };

NINO_NODE(lora_loader, "LoraLoader", "Load LoRA", "loaders",
          "Changes a model and its text encoder by what a LoRA file learned; several in a row "
          "add up",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(clip, CLIP)), .outputs = both_out,
          NINO_PARAMS(lora_params, P_NAME(lora_params),
                      P_STRENGTH(lora_params, strength_model, 100, "Strength", MODEL_HELP),
                      P_STRENGTH(lora_params, strength_clip, 100, "Text strength", CLIP_HELP)),
          NINO_RUN(lora_loader_both_run, .identity = both_identity));

NINO_NODE(lora_loader_model, "LoraLoaderModelOnly", "LoraLoaderModelOnly", "loaders",
          "Changes a model by what a LoRA file learned; several in a row add up",
          NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(model_params, P_NAME(model_params),
                      P_STRENGTH(model_params, strength_model, 100, "Strength", MODEL_HELP)),
          NINO_RUN(lora_loader_model_run, .identity = model_identity));

NINO_NODE(rocm_lora, "ROCMLoRALoader", "ROCm LoRA Loader", "ROCm Ninodes/Loaders",
          "Changes a model, and its text encoder if one is connected, by what a LoRA file "
          "learned",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(clip, CLIP, .optional = true)),
          .outputs = both_out,
          NINO_PARAMS(lora_params, P_NAME(lora_params),
                      P_STRENGTH(lora_params, strength_model, 10, "Strength", MODEL_HELP),
                      P_STRENGTH(lora_params, strength_clip, 10, "Text strength", CLIP_HELP)),
          NINO_RUN(lora_loader_both_run, .identity = both_identity));
