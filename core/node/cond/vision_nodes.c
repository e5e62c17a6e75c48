// CLIP vision and style models: pictures as conditioning. Semantics: ComfyUI nodes.py.
#include <string.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/node/util.h"

// ---- loaders ---------------------------------------------------------------------------------

static nino_hash vision_nodes_key_of(const nino_weights *file)
{
    const nino_hash id = nino_weights_identity(file);
    return nino_hash_bytes(&id, sizeof(id));
}

typedef struct vision_params {
    const char *clip_name;
} vision_params;

static nino_status vision_run(nino_run *r, nino_error *err)
{
    const char *name = ((const vision_params *) r->params)->clip_name;
    nino_weights *file = NULL;
    nino_clip_vision *v = NULL;
    nino_status st = nino_services_of(r->ctx)->open_model(r->ctx, "clip_vision", name, &file, err);
    if (st)
        return st;
    const nino_hash key = vision_nodes_key_of(file);
    if (!(r->out[0] = nino_services_of(r->ctx)->find_object(r->ctx, NINO_PORT_CLIP_VISION, key)) &&
        !(st = nino_clip_vision_load(file, "", name, &v, err)) &&
        !(st = nino_out_clip_vision(r, 0, v, err)))
        nino_services_of(r->ctx)->keep_object(r->ctx, key, r->out[0]);
    nino_weights_unref(&file);
    return st;
}

static nino_status vision_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                   nino_error *err)
{
    return nino_services_of(ctx)->identity(ctx, "clip_vision",
                                           ((const vision_params *) params)->clip_name, h, err);
}

NINO_NODE(clip_vision_loader, "CLIPVisionLoader", "Load CLIP Vision", "loaders",
          "Opens a network that looks at pictures: CLIP ViT-L, ViT-H, ViT-G or SigLIP",
          NINO_OUTPUTS(NINO_PORT(CLIP_VISION, CLIP_VISION)),
          NINO_PARAMS(vision_params,
                      NINO_P_FILE(vision_params, clip_name, "clip_vision", .label = "Network",
                                  .help = "A file of models/clip_vision")),
          NINO_RUN(vision_run, .identity = vision_identity));

typedef struct style_params {
    const char *style_model_name;
} style_params;

static nino_status style_run(nino_run *r, nino_error *err)
{
    const char *name = ((const style_params *) r->params)->style_model_name;
    nino_weights *file = NULL;
    nino_style *m = NULL;
    nino_status st = nino_services_of(r->ctx)->open_model(r->ctx, "style_models", name, &file, err);
    if (st)
        return st;
    const nino_hash key = vision_nodes_key_of(file);
    if (!(r->out[0] = nino_services_of(r->ctx)->find_object(r->ctx, NINO_PORT_STYLE_MODEL, key)) &&
        !(st = nino_style_load(file, name, &m, err)) && !(st = nino_out_style(r, 0, m, err)))
        nino_services_of(r->ctx)->keep_object(r->ctx, key, r->out[0]);
    nino_weights_unref(&file);
    return st;
}

static nino_status style_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                  nino_error *err)
{
    return nino_services_of(ctx)->identity(
        ctx, "style_models", ((const style_params *) params)->style_model_name, h, err);
}

NINO_NODE(style_model_loader, "StyleModelLoader", "Load Style Model", "loaders",
          "Opens a style model (Flux Redux)", NINO_OUTPUTS(NINO_PORT(STYLE_MODEL, STYLE_MODEL)),
          NINO_PARAMS(style_params,
                      NINO_P_FILE(style_params, style_model_name, "style_models",
                                  .label = "Style model", .help = "A file of models/style_models")),
          NINO_RUN(style_run, .identity = style_identity));

// ---- CLIPVisionEncode ------------------------------------------------------------------------

typedef struct encode_params {
    int64_t crop;
} encode_params;

static nino_status vision_nodes_encode_run(nino_run *r, nino_error *err)
{
    const encode_params *p = r->params;
    nino_vision_output out;
    nino_status st = nino_clip_vision_encode(r->stream, r->in[0]->u.clip_vision,
                                             nino_in_image(r, 1), p->crop == 0, &out, err);
    return st ? st : nino_out_vision(r, 0, out, err);
}

NINO_NODE(clip_vision_encode, "CLIPVisionEncode", "CLIP Vision Encode", "conditioning",
          "What a vision network makes of a picture",
          NINO_INPUTS(NINO_PORT(clip_vision, CLIP_VISION), NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(CLIP_VISION_OUTPUT, CLIP_VISION_OUTPUT)),
          NINO_PARAMS(
              encode_params,
              NINO_P_ENUM(
                  encode_params, crop, NINO_WORDS("center", "none"), 0, .label = "Crop",
                  .help = "center: the middle square of the picture; none: all of it, stretched")),
          NINO_RUN(vision_nodes_encode_run));

// ---- StyleModelApply -------------------------------------------------------------------------

typedef struct apply_params {
    double strength;
    int64_t strength_type;
} apply_params;

static nino_status apply_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    const apply_params *p = params;
    (void) ctx;
    return p->strength_type == 0 || p->strength == 1
               ? NINO_OK
               : nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value", "strength_type",
                                "attn_bias is supported for a strength of 1 only; multiply is the "
                                "other way to weaken a style");
}

// [1,T,C] with the tokens behind it.
static nino_array *vision_nodes_append(const nino_array *context, const nino_array *tokens)
{
    const nino_shape *a = &context->shape, *b = &tokens->shape;
    nino_array *out = nino_array_create(NINO_F32, NINO_SHAPE(1, a->dim[1] + b->dim[1], a->dim[2]));
    if (!out)
        return NULL;
    memcpy(out->data, context->data, context->bytes);
    memcpy((char *) out->data + context->bytes, tokens->data, tokens->bytes);
    return out;
}

static nino_status add_tokens(nino_cond *c, const nino_array *tokens, const char *model,
                              nino_error *err)
{
    for (int i = 0; i < c->n; i++) {
        nino_array **at = &c->entry[i].context;
        if ((*at)->shape.dim[2] != tokens->shape.dim[2])
            return nino_fail_kind(err, NINO_ERR_FORMAT, "model", model,
                                  "its tokens of width %lld do not fit a prompt of width %lld",
                                  (long long) tokens->shape.dim[2],
                                  (long long) (*at)->shape.dim[2]);
        nino_array *all = vision_nodes_append(*at, tokens);
        if (!all)
            return nino_fail(err, NINO_ERR_NOMEM, model, "out of memory");
        nino_array_unref(at);
        *at = all;
    }
    return NINO_OK;
}

static nino_status apply_run(nino_run *r, nino_error *err)
{
    const apply_params *p = r->params;
    const nino_style *m = r->in[1]->u.style;
    nino_array *tokens = NULL;
    nino_status st = apply_check(r->ctx, p, err);
    if (!st)
        st = nino_style_tokens(r->stream, m, r->in[2]->u.vision.last, &tokens, err);
    if (st)
        return st;
    for (int64_t i = 0; p->strength_type == 0 && i < nino_shape_count(&tokens->shape); i++)
        nino_array_f32(tokens)[i] *= (float) p->strength;
    nino_cond *c = nino_cond_copy(nino_in_cond(r, 0));
    st = c ? add_tokens(c, tokens, m->name, err)
           : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    nino_array_unref(&tokens);
    if (!st)
        return nino_out_cond(r, 0, c, err);
    nino_cond_unref(&c);
    return st;
}

NINO_NODE(
    style_model_apply, "StyleModelApply", "Apply Style Model", "conditioning/style_model",
    "Lets a prompt go on with what a style model makes of a picture",
    NINO_INPUTS(NINO_PORT(conditioning, CONDITIONING), NINO_PORT(style_model, STYLE_MODEL),
                NINO_PORT(clip_vision_output, CLIP_VISION_OUTPUT)),
    NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)),
    NINO_PARAMS(
        apply_params,
        NINO_P_FLOAT(apply_params, strength, 1, 0, 10, 0.001, .label = "Strength",
                     .help = "multiply: factor of the style's tokens"),
        NINO_P_ENUM(apply_params, strength_type, NINO_WORDS("multiply", "attn_bias"), 0,
                    .label = "Strength type",
                    .help = "multiply scales the tokens; attn_bias (attention to them) works for a "
                            "strength of 1 only")),
    NINO_RUN(apply_run, .check = apply_check));
