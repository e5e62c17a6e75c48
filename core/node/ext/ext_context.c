// Several values under one name: contexts, pipes, buses. Each class says in its row of names what
// its parts are; the run functions are shared.
#include <string.h>

#include "core/base/error.h"
#include "core/node/ext/ext.h"

#define CONTEXT_PARTS 22 // of the large ones; the small ones know the first eight
#define PIPE_PARTS 5

// Part k of input i, a bundle; NULL: there is none. Borrowed.
static nino_value *part_of(const nino_value *v, int k)
{
    return v && k < v->n_items ? v->item[k] : NULL;
}

// Outputs: the bundle, if `with_bundle`, then its first parts.
static nino_status give_parts(nino_run *r, nino_value *bundle, bool with_bundle)
{
    int i = 0;
    if (with_bundle)
        r->out[i++] = bundle;
    for (int k = 0; r->def->outputs[i].key; i++, k++)
        nino_ext_give(r, i, part_of(bundle, k));
    if (!with_bundle)
        nino_value_unref(&bundle);
    return NINO_OK;
}

static nino_value *copy_of(const nino_value *from, nino_port_type type, int n)
{
    nino_value *v = nino_value_create_bundle(type, n);
    for (int k = 0; v && k < n; k++)
        v->item[k] = nino_value_ref(part_of(from, k));
    return v;
}

static nino_status no_room(const nino_run *r, nino_error *err)
{
    return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
}

// A bundle with the parts that are connected; the others are those of input 0.
static nino_status bundle(nino_run *r, nino_port_type type, int n, nino_error *err)
{
    nino_value *v = copy_of(r->in[0], type, n);
    if (!v)
        return no_room(r, err);
    for (int k = 0; r->def->inputs[k + 1].key; k++)
        if (r->in[k + 1]) {
            nino_value_unref(&v->item[k]);
            v->item[k] = nino_value_ref(r->in[k + 1]);
        }
    return give_parts(r, v, true);
}

// ---- contexts of rgthree ---------------------------------------------------------------------

static nino_status context_run(nino_run *r, nino_error *err)
{
    return bundle(r, NINO_PORT_CONTEXT, CONTEXT_PARTS, err);
}

static bool has_any(const nino_value *v)
{
    for (int k = 0; v && k < v->n_items; k++)
        if (v->item[k])
            return true;
    return false;
}

static nino_status context_switch_run(nino_run *r, nino_error *err)
{
    const nino_value *from = NULL;
    for (int i = 0; r->def->inputs[i].key && !from; i++)
        from = has_any(r->in[i]) ? r->in[i] : NULL;
    nino_value *v = copy_of(from, NINO_PORT_CONTEXT, CONTEXT_PARTS);
    return v ? give_parts(r, v, true) : no_room(r, err);
}

// Later ones count.
static nino_status context_merge_run(nino_run *r, nino_error *err)
{
    nino_value *v = nino_value_create_bundle(NINO_PORT_CONTEXT, CONTEXT_PARTS);
    if (!v)
        return no_room(r, err);
    for (int i = 0; r->def->inputs[i].key; i++)
        for (int k = 0; k < CONTEXT_PARTS; k++)
            if (part_of(r->in[i], k)) {
                nino_value_unref(&v->item[k]);
                v->item[k] = nino_value_ref(r->in[i]->item[k]);
            }
    return give_parts(r, v, true);
}

#define CONTEXTS                                                                                   \
    NINO_INPUTS(NINO_MORE("ctx_01", CONTEXT), NINO_MORE("ctx_02", CONTEXT),                        \
                NINO_MORE("ctx_03", CONTEXT), NINO_MORE("ctx_04", CONTEXT),                        \
                NINO_MORE("ctx_05", CONTEXT), NINO_MORE("ctx_06", CONTEXT),                        \
                NINO_MORE("ctx_07", CONTEXT), NINO_MORE("ctx_08", CONTEXT),                        \
                NINO_MORE("ctx_09", CONTEXT), NINO_MORE_0_9("ctx_1", CONTEXT))

NINO_NODE(context, "Context (rgthree)", "Context (rgthree)", "rgthree",
          "Several values under one name; those that are not connected are the base's",
          NINO_INPUTS(NINO_PORT(base_ctx, CONTEXT, .optional = true),
                      NINO_PORT(model, MODEL, .optional = true),
                      NINO_PORT(clip, CLIP, .optional = true),
                      NINO_PORT(vae, VAE, .optional = true),
                      NINO_PORT(positive, CONDITIONING, .optional = true),
                      NINO_PORT(negative, CONDITIONING, .optional = true),
                      NINO_PORT(latent, LATENT, .optional = true),
                      NINO_PORT(images, IMAGE, .optional = true),
                      NINO_PORT(seed, INT, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(CONTEXT, CONTEXT), NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP),
                       NINO_PORT(VAE, VAE), NINO_PORT(POSITIVE, CONDITIONING),
                       NINO_PORT(NEGATIVE, CONDITIONING), NINO_PORT(LATENT, LATENT),
                       NINO_PORT(IMAGE, IMAGE), NINO_PORT(SEED, INT)),
          NINO_RUN(context_run));

NINO_NODE(
    context_big, "Context Big (rgthree)", "Context Big (rgthree)", "rgthree",
    "Many values under one name; those that are not connected are the base's",
    NINO_INPUTS(
        NINO_PORT(base_ctx, CONTEXT, .optional = true), NINO_PORT(model, MODEL, .optional = true),
        NINO_PORT(clip, CLIP, .optional = true), NINO_PORT(vae, VAE, .optional = true),
        NINO_PORT(positive, CONDITIONING, .optional = true),
        NINO_PORT(negative, CONDITIONING, .optional = true),
        NINO_PORT(latent, LATENT, .optional = true), NINO_PORT(images, IMAGE, .optional = true),
        NINO_PORT(seed, INT, .optional = true), NINO_PORT(steps, INT, .optional = true),
        NINO_PORT(step_refiner, INT, .optional = true), NINO_PORT(cfg, FLOAT, .optional = true),
        NINO_PORT(ckpt_name, ANY, .optional = true), NINO_PORT(sampler, ANY, .optional = true),
        NINO_PORT(scheduler, ANY, .optional = true), NINO_PORT(clip_width, INT, .optional = true),
        NINO_PORT(clip_height, INT, .optional = true),
        NINO_PORT(text_pos_g, STRING, .optional = true),
        NINO_PORT(text_pos_l, STRING, .optional = true),
        NINO_PORT(text_neg_g, STRING, .optional = true),
        NINO_PORT(text_neg_l, STRING, .optional = true), NINO_PORT(mask, MASK, .optional = true),
        NINO_PORT(control_net, CONTROL_NET, .optional = true)),
    NINO_OUTPUTS(NINO_PORT(CONTEXT, CONTEXT), NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP),
                 NINO_PORT(VAE, VAE), NINO_PORT(POSITIVE, CONDITIONING),
                 NINO_PORT(NEGATIVE, CONDITIONING), NINO_PORT(LATENT, LATENT),
                 NINO_PORT(IMAGE, IMAGE), NINO_PORT(SEED, INT), NINO_PORT(STEPS, INT),
                 NINO_PORT(STEP_REFINER, INT), NINO_PORT(CFG, FLOAT), NINO_PORT(CKPT_NAME, ANY),
                 NINO_PORT(SAMPLER, ANY), NINO_PORT(SCHEDULER, ANY), NINO_PORT(CLIP_WIDTH, INT),
                 NINO_PORT(CLIP_HEIGHT, INT), NINO_PORT(TEXT_POS_G, STRING),
                 NINO_PORT(TEXT_POS_L, STRING), NINO_PORT(TEXT_NEG_G, STRING),
                 NINO_PORT(TEXT_NEG_L, STRING), NINO_PORT(MASK, MASK),
                 NINO_PORT(CONTROL_NET, CONTROL_NET)),
    NINO_RUN(context_run));

NINO_NODE(context_switch, "Context Switch (rgthree)", "Context Switch (rgthree)", "rgthree",
          "The first context that has a value", CONTEXTS,
          NINO_OUTPUTS(NINO_PORT(CONTEXT, CONTEXT), NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP),
                       NINO_PORT(VAE, VAE), NINO_PORT(POSITIVE, CONDITIONING),
                       NINO_PORT(NEGATIVE, CONDITIONING), NINO_PORT(LATENT, LATENT),
                       NINO_PORT(IMAGE, IMAGE), NINO_PORT(SEED, INT)),
          NINO_RUN(context_switch_run));

NINO_NODE(context_switch_big, "Context Switch Big (rgthree)", "Context Switch Big (rgthree)",
          "rgthree", "The first context that has a value", CONTEXTS,
          NINO_OUTPUTS(NINO_PORT(CONTEXT, CONTEXT), NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP),
                       NINO_PORT(VAE, VAE), NINO_PORT(POSITIVE, CONDITIONING),
                       NINO_PORT(NEGATIVE, CONDITIONING), NINO_PORT(LATENT, LATENT),
                       NINO_PORT(IMAGE, IMAGE), NINO_PORT(SEED, INT), NINO_PORT(STEPS, INT),
                       NINO_PORT(STEP_REFINER, INT), NINO_PORT(CFG, FLOAT),
                       NINO_PORT(CKPT_NAME, ANY), NINO_PORT(SAMPLER, ANY),
                       NINO_PORT(SCHEDULER, ANY), NINO_PORT(CLIP_WIDTH, INT),
                       NINO_PORT(CLIP_HEIGHT, INT), NINO_PORT(TEXT_POS_G, STRING),
                       NINO_PORT(TEXT_POS_L, STRING), NINO_PORT(TEXT_NEG_G, STRING),
                       NINO_PORT(TEXT_NEG_L, STRING), NINO_PORT(MASK, MASK),
                       NINO_PORT(CONTROL_NET, CONTROL_NET)),
          NINO_RUN(context_switch_run));

NINO_NODE(context_merge, "Context Merge (rgthree)", "Context Merge (rgthree)", "rgthree",
          "All values of several contexts, the later ones count", CONTEXTS,
          NINO_OUTPUTS(NINO_PORT(CONTEXT, CONTEXT), NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP),
                       NINO_PORT(VAE, VAE), NINO_PORT(POSITIVE, CONDITIONING),
                       NINO_PORT(NEGATIVE, CONDITIONING), NINO_PORT(LATENT, LATENT),
                       NINO_PORT(IMAGE, IMAGE), NINO_PORT(SEED, INT)),
          NINO_RUN(context_merge_run));

NINO_NODE(context_merge_big, "Context Merge Big (rgthree)", "Context Merge Big (rgthree)",
          "rgthree", "All values of several contexts, the later ones count", CONTEXTS,
          NINO_OUTPUTS(NINO_PORT(CONTEXT, CONTEXT), NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP),
                       NINO_PORT(VAE, VAE), NINO_PORT(POSITIVE, CONDITIONING),
                       NINO_PORT(NEGATIVE, CONDITIONING), NINO_PORT(LATENT, LATENT),
                       NINO_PORT(IMAGE, IMAGE), NINO_PORT(SEED, INT), NINO_PORT(STEPS, INT),
                       NINO_PORT(STEP_REFINER, INT), NINO_PORT(CFG, FLOAT),
                       NINO_PORT(CKPT_NAME, ANY), NINO_PORT(SAMPLER, ANY),
                       NINO_PORT(SCHEDULER, ANY), NINO_PORT(CLIP_WIDTH, INT),
                       NINO_PORT(CLIP_HEIGHT, INT), NINO_PORT(TEXT_POS_G, STRING),
                       NINO_PORT(TEXT_POS_L, STRING), NINO_PORT(TEXT_NEG_G, STRING),
                       NINO_PORT(TEXT_NEG_L, STRING), NINO_PORT(MASK, MASK),
                       NINO_PORT(CONTROL_NET, CONTROL_NET)),
          NINO_RUN(context_merge_run));

// ---- WAS, Impact -----------------------------------------------------------------------------

static nino_status bus_run(nino_run *r, nino_error *err)
{
    return bundle(r, NINO_PORT_BUS, PIPE_PARTS, err);
}

NINO_NODE(was_bus, "Bus Node", "Bus Node", "WAS Suite/Utilities",
          "Several values under one name; those that are not connected are the bus's",
          NINO_INPUTS(NINO_PORT(bus, BUS, .optional = true),
                      NINO_PORT(model, MODEL, .optional = true),
                      NINO_PORT(clip, CLIP, .optional = true),
                      NINO_PORT(vae, VAE, .optional = true),
                      NINO_PORT(positive, CONDITIONING, .optional = true),
                      NINO_PORT(negative, CONDITIONING, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(bus, BUS), NINO_PORT(model, MODEL), NINO_PORT(clip, CLIP),
                       NINO_PORT(vae, VAE), NINO_PORT(positive, CONDITIONING),
                       NINO_PORT(negative, CONDITIONING)),
          NINO_RUN(bus_run));

static nino_status to_pipe_run(nino_run *r, nino_error *err)
{
    nino_value *v = nino_ext_out_bundle(r, 0, NINO_PORT_BASIC_PIPE, PIPE_PARTS, err);
    for (int k = 0; v && k < PIPE_PARTS; k++)
        v->item[k] = nino_value_ref(r->in[k]);
    return v ? NINO_OK : NINO_ERR_NOMEM;
}

static nino_status edit_pipe_run(nino_run *r, nino_error *err)
{
    return bundle(r, NINO_PORT_BASIC_PIPE, PIPE_PARTS, err);
}

static nino_status from_pipe_run(nino_run *r, nino_error *err)
{
    (void) err;
    return give_parts(r, nino_value_ref(r->in[0]), false);
}

static nino_status from_pipe2_run(nino_run *r, nino_error *err)
{
    (void) err;
    return give_parts(r, nino_value_ref(r->in[0]), true);
}

NINO_NODE(impact_to_pipe, "ToBasicPipe", "ToBasicPipe", "ImpactPack/Pipe",
          "A model with what belongs to it under one name",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(clip, CLIP), NINO_PORT(vae, VAE),
                      NINO_PORT(positive, CONDITIONING), NINO_PORT(negative, CONDITIONING)),
          NINO_OUTPUTS(NINO_PORT(basic_pipe, BASIC_PIPE)), NINO_RUN(to_pipe_run));

NINO_NODE(impact_edit_pipe, "EditBasicPipe", "EditBasicPipe", "ImpactPack/Pipe",
          "A pipe with some of its values changed",
          NINO_INPUTS(NINO_PORT(basic_pipe, BASIC_PIPE), NINO_PORT(model, MODEL, .optional = true),
                      NINO_PORT(clip, CLIP, .optional = true),
                      NINO_PORT(vae, VAE, .optional = true),
                      NINO_PORT(positive, CONDITIONING, .optional = true),
                      NINO_PORT(negative, CONDITIONING, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(basic_pipe, BASIC_PIPE)), NINO_RUN(edit_pipe_run));

NINO_NODE(impact_from_pipe, "FromBasicPipe", "FromBasicPipe", "ImpactPack/Pipe",
          "The values of a pipe", NINO_INPUTS(NINO_PORT(basic_pipe, BASIC_PIPE)),
          NINO_OUTPUTS(NINO_PORT(model, MODEL), NINO_PORT(clip, CLIP), NINO_PORT(vae, VAE),
                       NINO_PORT(positive, CONDITIONING), NINO_PORT(negative, CONDITIONING)),
          NINO_RUN(from_pipe_run));

NINO_NODE(impact_from_pipe2, "FromBasicPipe_v2", "FromBasicPipe_v2", "ImpactPack/Pipe",
          "A pipe and its values", NINO_INPUTS(NINO_PORT(basic_pipe, BASIC_PIPE)),
          NINO_OUTPUTS(NINO_PORT(basic_pipe, BASIC_PIPE), NINO_PORT(model, MODEL),
                       NINO_PORT(clip, CLIP), NINO_PORT(vae, VAE),
                       NINO_PORT(positive, CONDITIONING), NINO_PORT(negative, CONDITIONING)),
          NINO_RUN(from_pipe2_run));
