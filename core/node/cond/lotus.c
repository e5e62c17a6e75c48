// LotusConditioning: what Lotus's networks are told, whatever the picture. Behaviour: ComfyUI
// comfy_extras/nodes_lotus.py, which has the numbers of [1,2,1024] in its source. Here they are
// computed as they came to be: start and end of a text through the text encoder of Stable Diffusion
// 2, which any file that holds one gives.
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/model/detect.h"
#include "core/node/util.h"

#define WHAT "a text encoder of Stable Diffusion 2 (OpenCLIP ViT-H)"

static const char *const kinds[] = { "text_encoders", "checkpoints", NULL };

static bool lotus_fits(const nino_weights *w)
{
    nino_detected d;
    nino_detect(w, &d);
    return !strcmp(d.text[0], "clip_h");
}

static nino_status lotus_find(const nino_ctx *ctx, const char **kind, char **name, nino_error *err)
{
    return nino_services_of(ctx)->find_model(ctx, kinds, lotus_fits, WHAT, kind, name, err);
}

static nino_status lotus_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    const char *kind;
    char *name = NULL;
    (void) params;
    const nino_status st = ctx ? lotus_find(ctx, &kind, &name, err) : NINO_OK;
    free(name);
    return st;
}

static nino_status lotus_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                  nino_error *err)
{
    const char *kind;
    char *name = NULL;
    (void) params;
    nino_status st = lotus_find(ctx, &kind, &name, err);
    if (!st)
        st = nino_services_of(ctx)->identity(ctx, kind, name, h, err);
    free(name);
    return st;
}

static nino_status lotus_encode(nino_run *r, const nino_clip *c, nino_error *err)
{
    nino_cond *cond = NULL;
    const nino_clip_text bare = { .is_bare = true };
    const nino_status st = nino_clip_encode(r->stream, c, &bare, &cond, err);
    if (st)
        return st;
    nino_cond_set_array(&cond->entry[0].pooled, NULL);
    return nino_out_cond(r, 0, cond, err);
}

static nino_status lotus_run(nino_run *r, nino_error *err)
{
    const nino_load_how how = { .keep = true };
    const char *kind;
    char *name = NULL;
    nino_weights *file = NULL;
    nino_status st = lotus_find(r->ctx, &kind, &name, err);
    if (!st)
        st = nino_services_of(r->ctx)->open_model(r->ctx, kind, name, &file, err);
    if (!st)
        st = nino_node_checkpoint_clip(r, 0, file, name, &how, err);
    nino_weights_unref(&file);
    if (!st) {
        nino_logf(nino_services_of(r->ctx)->log(r->ctx), NINO_LOG_INFO,
                  "LotusConditioning is computed by the text encoder in %s", name);
        nino_value *clip = r->out[0]; // which is not the output
        r->out[0] = NULL;
        st = lotus_encode(r, clip->u.clip, err);
        nino_value_unref(&clip);
    }
    free(name);
    return st;
}

NINO_NODE(
    lotus_conditioning, "LotusConditioning", "LotusConditioning", "conditioning/lotus",
    "What Lotus's models of depth and normals are told: an empty text, not padded. ComfyUI ships "
    "these numbers; here they are computed by the first file of text_encoders or checkpoints "
    "that holds the text encoder of Stable Diffusion 2, and taken to be the same up to rounding",
    NINO_OUTPUTS(NINO_PORT(conditioning, CONDITIONING)),
    NINO_RUN(lotus_run, .identity = lotus_identity, .check = lotus_check));
