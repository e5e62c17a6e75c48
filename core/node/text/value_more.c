// Values chosen by hand that are more than a field: seeds, free lists; nodes that hand a network on.
// Behaviour of ComfyUI's nodes_primitive.py and nodes_custom_combo.py.
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/util.h"

// ---- SeedNode --------------------------------------------------------------------------------

typedef struct seed_params {
    int64_t seed;
} seed_params;

static nino_status seed_run(nino_run *r, nino_error *err)
{
    return nino_out_int(r, 0, ((const seed_params *) r->params)->seed, err);
}

NINO_NODE(seed, "SeedNode", "Seed", "utilities", "The number that noise is drawn from",
          NINO_OUTPUTS(NINO_PORT(seed, INT)),
          NINO_PARAMS(seed_params,
                      NINO_P_INT(seed_params, seed, 0, 0, INT64_MAX, 1, .label = "Seed",
                                 .help = "The number", .control_slot = true)),
          NINO_RUN(seed_run, .is_constant = true));

// ---- CustomCombo -----------------------------------------------------------------------------

typedef struct combo_params {
    const char *choice;
    int64_t index;
} combo_params;

// The editor keeps the list beside the choice; nothing checks the choice against it.
static nino_status combo_run(nino_run *r, nino_error *err)
{
    const combo_params *p = r->params;
    const nino_status st = nino_node_out_text(r, 0, strdup(p->choice), err);
    return st ? st : nino_out_int(r, 1, p->index, err);
}

NINO_NODE(custom_combo, "CustomCombo", "Custom Combo", "utilities",
          "A word of a list that the workflow brings, and its number",
          NINO_OUTPUTS(NINO_PORT(STRING, STRING), NINO_PORT(INDEX, INT)),
          NINO_PARAMS(combo_params,
                      NINO_P_STRING(combo_params, choice, "", .label = "Choice",
                                    .help = "The word"),
                      NINO_P_INT(combo_params, index, 0, 0, INT64_MAX, 1, .optional = true,
                                 .label = "Number", .help = "Where in the list it stands")),
          NINO_RUN(combo_run, .takes_extra = true));

// ---- SelectModelDevice and its like ----------------------------------------------------------

typedef struct device_params {
    int64_t device;
} device_params;

static nino_status pass_run(nino_run *r, nino_error *err)
{
    (void) err;
    r->out[0] = nino_value_ref(r->in[0]);
    return NINO_OK;
}

#define DEVICE_ROW(...)                                                                            \
    NINO_PARAMS(device_params,                                                                     \
                NINO_P_ENUM(device_params, device, NINO_WORDS(__VA_ARGS__), 0, .label = "Device",  \
                            .is_inert = true,                                                      \
                            .help = "The device of the run computes everything here"))
#define DEVICE_HELP "Hands the network on; where it runs is the run's own setting"

NINO_NODE(model_device, "SelectModelDevice", "Select Model Device", "advanced/multigpu",
          DEVICE_HELP, NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          DEVICE_ROW("default", "cpu"), NINO_RUN(pass_run));
NINO_NODE(clip_device, "SelectCLIPDevice", "Select CLIP Device", "advanced/multigpu", DEVICE_HELP,
          NINO_INPUTS(NINO_PORT(clip, CLIP)), NINO_OUTPUTS(NINO_PORT(CLIP, CLIP)),
          DEVICE_ROW("default", "cpu"), NINO_RUN(pass_run));
NINO_NODE(vae_device, "SelectVAEDevice", "Select VAE Device", "advanced/multigpu", DEVICE_HELP,
          NINO_INPUTS(NINO_PORT(vae, VAE)), NINO_OUTPUTS(NINO_PORT(VAE, VAE)),
          DEVICE_ROW("default"), NINO_RUN(pass_run));

// ---- what makes ComfyUI faster, and nothing different ------------------------------------------

typedef struct inert_params {
    int64_t attention, backend;
} inert_params;

#define INERT_MODEL NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(MODEL, MODEL))
#define INERT_HELP "Hands the model on: "

NINO_NODE(wan_block_swap, "wanBlockSwap", "wanBlockSwap", "advanced/model",
          INERT_HELP "weights move as the run's memory needs it", INERT_MODEL, NINO_RUN(pass_run));
NINO_NODE(flux_kv_cache, "FluxKVCache", "Flux KV Cache", "advanced/model",
          INERT_HELP "keys and values of reference pictures are made anew in every step",
          INERT_MODEL, NINO_RUN(pass_run));
NINO_NODE(attention_backend, "ModelAttentionBackend", "ModelAttentionBackend", "advanced/model",
          INERT_HELP "kernels are chosen by the device", INERT_MODEL,
          NINO_PARAMS(inert_params,
                      NINO_P_ENUM(inert_params, attention, NINO_WORDS("pytorch attention"), 0,
                                  .label = "Attention", .is_inert = true,
                                  .help = "The schedule's own computes it here")),
          NINO_RUN(pass_run));
NINO_NODE(torch_compile, "TorchCompileModel", "TorchCompileModel", "_for_testing",
          INERT_HELP "kernels are compiled anyway", INERT_MODEL,
          NINO_PARAMS(inert_params,
                      NINO_P_ENUM(inert_params, backend, NINO_WORDS("inductor", "cudagraphs"), 0,
                                  .label = "Compiler", .is_inert = true,
                                  .help = "The device's driver compiles kernels here")),
          NINO_RUN(pass_run));

typedef struct tome_params {
    double ratio;
} tome_params;

NINO_NODE(tome, "TomePatchModel", "TomePatchModel", "model_patches/unet",
          "Hands the model on: elsewhere attention is of fewer tokens, which is faster and coarser",
          INERT_MODEL,
          NINO_PARAMS(tome_params,
                      NINO_P_FLOAT(tome_params, ratio, 0.3, 0, 1, 0.01, .label = "Ratio",
                                   .is_inert = true, .help = "No tokens are merged here")),
          NINO_RUN(pass_run));

// ---- ImageCompare ----------------------------------------------------------------------------

static nino_status compare_nothing(nino_run *r, nino_error *err)
{
    (void) r;
    (void) err;
    return NINO_OK;
}

NINO_NODE(image_compare, "ImageCompare", "Compare Images", "image",
          "Shows two images one over the other in the editor; a run has nothing to do",
          NINO_INPUTS(NINO_PORT(image_a, IMAGE, .optional = true),
                      NINO_PORT(image_b, IMAGE, .optional = true)),
          NINO_NO_OUTPUTS, .is_output = true, NINO_RUN(compare_nothing));
