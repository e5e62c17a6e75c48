// Control networks on conditioning: ControlNetApply, ControlNetApplyAdvanced, ControlNetApplySD3,
// ControlNetInpaintingAliMamaApply. Semantics: ComfyUI nodes.py, comfy_extras/nodes_controlnet.py.
#include <math.h>

#include "core/base/error.h"
#include "core/node/planar.h"

typedef struct apply_params {
    double strength, start_percent, end_percent;
} apply_params;

// Uses that were made for one node: entries with the same control before them share one.
typedef struct made_use {
    nino_cond_control *before, *made;
} made_use;

#define MAX_MADE 64

// *how on top of what each entry of input `port` has; the list is output `slot`. The uses that are
// made for the first list serve the second.
static nino_status apply_to(nino_run *r, int port, int slot, nino_control_use *how, bool for_all,
                            made_use *made, int *n_made, nino_error *err)
{
    nino_cond *c = nino_cond_copy(nino_in_cond(r, port));
    bool ok = c != NULL;
    for (int i = 0; ok && i < c->n; i++) {
        nino_cond_entry *e = &c->entry[i];
        int k = 0;
        while (k < *n_made && made[k].before != e->control_net)
            k++;
        if (k == MAX_MADE) {
            nino_cond_unref(&c);
            return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value", "conditioning",
                                  "more than %d different controls in one list", MAX_MADE);
        }
        if (k == *n_made) {
            how->previous = e->control_net ? nino_control_use_of(e->control_net) : NULL;
            nino_control_use *u = nino_control_use_create(how);
            if (!(ok = u != NULL))
                break;
            made[(*n_made)++] = (made_use){ nino_cond_control_ref(e->control_net), &u->head };
        }
        nino_cond_control_unref(&e->control_net);
        e->control_net = nino_cond_control_ref(made[k].made);
        e->control_for_all = for_all;
    }
    if (!ok)
        nino_cond_unref(&c);
    return nino_out_cond(r, slot, c, err);
}

static void drop_made(made_use *made, int n)
{
    for (int i = 0; i < n; i++) {
        nino_cond_control_unref(&made[i].before);
        nino_cond_control_unref(&made[i].made);
    }
}

// Inputs 0 and 1 with a control; strength 0: as they are.
static nino_status apply_both(nino_run *r, nino_control_use *how, nino_error *err)
{
    made_use made[MAX_MADE];
    int n = 0;
    nino_status st = NINO_OK;
    for (int i = 0; i < 2 && !st; i++)
        st = how->strength == 0 ? nino_out_cond(r, i, nino_cond_ref(nino_in_cond(r, i)), err)
                                : apply_to(r, i, i, how, false, made, &n, err);
    drop_made(made, n);
    return st;
}

#define APPLY_STRENGTH(S)                                                                          \
    NINO_P_FLOAT(S, strength, 1.0, 0.0, 10.0, 0.01, .label = "Strength", .ui_max.f = 2.0,          \
                 .help = "Factor of what the network adds; 0: the node does nothing")
#define APPLY_RANGE(S)                                                                             \
    NINO_P_FLOAT(S, start_percent, 0.0, 0.0, 1.0, 0.001, .label = "From",                          \
                 .help = "Part of the sampling at which it begins"),                               \
        NINO_P_FLOAT(S, end_percent, 1.0, 0.0, 1.0, 0.001, .label = "To",                          \
                     .help = "Part of the sampling at which it ends")

// ---- ControlNetApply -------------------------------------------------------------------------
typedef struct plain_params {
    double strength;
} plain_params;

static nino_status apply_run(nino_run *r, nino_error *err)
{
    nino_control_use how = { .net = r->in[1]->u.control.net,
                             .type = r->in[1]->u.control.type,
                             .hint = nino_in_image(r, 2),
                             .strength = ((const plain_params *) r->params)->strength,
                             .end = 1 };
    made_use made[MAX_MADE];
    int n = 0;
    if (how.strength == 0)
        return nino_out_cond(r, 0, nino_cond_ref(nino_in_cond(r, 0)), err);
    const nino_status st = apply_to(r, 0, 0, &how, true, made, &n, err);
    drop_made(made, n);
    return st;
}

NINO_NODE(
    control_apply, "ControlNetApply", "Apply ControlNet (OLD)", "conditioning/controlnet",
    "The picture steers the sampling, from its start to its end; the negative prompt gets the "
    "same control unless it has one",
    NINO_INPUTS(NINO_PORT(conditioning, CONDITIONING), NINO_PORT(control_net, CONTROL_NET),
                NINO_PORT(image, IMAGE)),
    NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)),
    NINO_PARAMS(plain_params, APPLY_STRENGTH(plain_params)), NINO_RUN(apply_run));

// ---- ControlNetApplyAdvanced, ControlNetApplySD3 ---------------------------------------------
static const nino_port apply_out[] = { NINO_PORT(positive, CONDITIONING),
                                       NINO_PORT(negative, CONDITIONING),
                                       { 0 } };

static nino_control_use how_of(const nino_run *r, int image, int vae)
{
    const apply_params *p = r->params;
    return (nino_control_use){ .net = r->in[2]->u.control.net,
                               .type = r->in[2]->u.control.type,
                               .hint = nino_in_image(r, image),
                               .vae = nino_in_vae(r, vae),
                               .strength = p->strength,
                               .start = p->start_percent,
                               .end = p->end_percent };
}

static nino_status advanced_run(nino_run *r, nino_error *err)
{
    nino_control_use how = how_of(r, 3, 4);
    return apply_both(r, &how, err);
}

NINO_NODE(control_apply_advanced, "ControlNetApplyAdvanced", "Apply ControlNet",
          "conditioning/controlnet", "The picture steers a part of the sampling",
          NINO_INPUTS(NINO_PORT(positive, CONDITIONING), NINO_PORT(negative, CONDITIONING),
                      NINO_PORT(control_net, CONTROL_NET), NINO_PORT(image, IMAGE),
                      NINO_PORT(vae, VAE, .optional = true,
                                .help = "For networks that work on latents: those of FLUX.1")),
          .outputs = apply_out,
          NINO_PARAMS(apply_params, APPLY_STRENGTH(apply_params), APPLY_RANGE(apply_params)),
          NINO_RUN(advanced_run));

static nino_status sd3_run(nino_run *r, nino_error *err)
{
    nino_control_use how = how_of(r, 4, 3);
    return apply_both(r, &how, err);
}

NINO_NODE(control_apply_sd3, "ControlNetApplySD3", "Apply Controlnet with VAE",
          "conditioning/controlnet", "The picture, as a latent, steers a part of the sampling",
          NINO_INPUTS(NINO_PORT(positive, CONDITIONING), NINO_PORT(negative, CONDITIONING),
                      NINO_PORT(control_net, CONTROL_NET), NINO_PORT(vae, VAE),
                      NINO_PORT(image, IMAGE)),
          .outputs = apply_out,
          NINO_PARAMS(apply_params, APPLY_STRENGTH(apply_params), APPLY_RANGE(apply_params)),
          NINO_RUN(sd3_run));

// ---- ControlNetInpaintingAliMamaApply --------------------------------------------------------
// image *= keep, rounded.
static void blacken(const nino_array *image, const nino_array *keep)
{
    const nino_picture p = nino_picture_of(image), m = nino_picture_of(keep);
    for (int64_t i = 0; i < p.n; i++)
        for (int64_t k = 0; k < p.h * p.w; k++)
            for (int64_t c = 0; c < p.c; c++)
                p.v[(i * p.h * p.w + k) * p.c + c] *= rintf(m.v[i % m.n * p.h * p.w + k]);
}

// 1 where the picture is kept, and the picture without the rest.
static nino_status keep_of(nino_run *r, nino_array **keep, nino_array **image, nino_error *err)
{
    const nino_array *from = nino_in_image(r, 4), *mask = nino_in_mask(r, 5);
    const int64_t h = from->shape.dim[1], w = from->shape.dim[2];
    nino_array *sized = NULL;
    if (!(*keep = nino_picture_copy(mask, r->def->key, err)))
        return NINO_ERR_NOMEM;
    for (int64_t i = 0; i < nino_shape_count(&mask->shape); i++)
        nino_array_f32(*keep)[i] = 1.0f - nino_array_f32(*keep)[i];
    nino_array flat = **keep;
    flat.shape = NINO_SHAPE(mask->shape.dim[0], mask->shape.dim[1], mask->shape.dim[2], 1);
    nino_status st = nino_rescale(r, &flat, w, h, NINO_SCALE_BILINEAR, true, &sized, err);
    if (!st)
        st = nino_batch_agrees(sized->shape.dim[0], from->shape.dim[0], "mask", err);
    if (!st && !(*image = nino_picture_copy(from, r->def->key, err)))
        st = NINO_ERR_NOMEM;
    if (!st && !r->is_plan) {
        sized->shape = NINO_SHAPE(sized->shape.dim[0], h, w);
        blacken(*image, sized);
    }
    nino_array_unref(&sized);
    return st;
}

static nino_status alimama_run(nino_run *r, nino_error *err)
{
    nino_control_use how = how_of(r, 4, 3);
    nino_array *keep = NULL, *image = NULL;
    nino_status st = NINO_OK;
    if (how.net->has_mask && !(st = keep_of(r, &keep, &image, err))) {
        how.hint = image;
        how.mask = keep;
    }
    if (!st)
        st = apply_both(r, &how, err);
    nino_array_unref(&keep);
    nino_array_unref(&image);
    return st;
}

NINO_NODE(control_apply_alimama, "ControlNetInpaintingAliMamaApply",
          "ControlNetInpaintingAliMamaApply", "conditioning/controlnet",
          "Shows an inpainting control network the picture without what the mask covers, and the "
          "mask",
          NINO_INPUTS(NINO_PORT(positive, CONDITIONING), NINO_PORT(negative, CONDITIONING),
                      NINO_PORT(control_net, CONTROL_NET), NINO_PORT(vae, VAE),
                      NINO_PORT(image, IMAGE), NINO_PORT(mask, MASK, .help = "1: to be painted")),
          .outputs = apply_out,
          NINO_PARAMS(apply_params, APPLY_STRENGTH(apply_params), APPLY_RANGE(apply_params)),
          NINO_RUN(alimama_run));
