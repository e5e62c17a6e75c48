// Text nodes: prompts to conditioning, for each way a family of models wants them; the layer that
// is taken and how T5 pads. Semantics: ComfyUI nodes.py,
// comfy_extras/nodes_{flux,clip_sdxl,sd3}.py.
#include <string.h>

#include "core/base/error.h"
#include "core/node/text/prompt_node.h"

// The CLIP of input 0; NULL: what came is not one that runs here.
static nino_clip *clip_of(nino_run *r, nino_error *err)
{
    nino_clip *c = nino_in_clip(r, 0);
    const nino_unloaded *u = &r->in[0]->u.unloaded;
    if (!c)
        nino_fail_kind(
            err, NINO_ERR_UNSUPPORTED, "model", u->file ? nino_weights_path(u->file) : "clip",
            "its text encoder (%s) cannot be run%s%s", u->family, u->why[0] ? ": " : "", u->why);
    return c;
}

nino_status nino_prompt_encode(nino_run *r, const nino_clip_text *text, nino_cond_entry **entry,
                               nino_error *err)
{
    nino_cond *cond = NULL;
    const nino_clip *c = clip_of(r, err);
    nino_status st = c ? nino_clip_encode(r->stream, c, text, &cond, err) : NINO_ERR_UNSUPPORTED;
    if (!st)
        st = nino_out_cond(r, 0, cond, err);
    if (!st && entry)
        *entry = &cond->entry[0];
    return st;
}

#define SYNTAX "(word:1.2) weighs a word, embedding:name inserts a textual inversion"
#define P_TEXT(S, fld, lbl, hlp)                                                                   \
    NINO_P_STRING(S, fld, "", .label = lbl, .multiline = true, .help = hlp "; " SYNTAX)

// ---- CLIPTextEncode --------------------------------------------------------------------------

typedef struct text_params {
    const char *text;
} text_params;

static nino_status prompt_nodes_text_run(nino_run *r, nino_error *err)
{
    const text_params *p = r->params;
    return nino_prompt_encode(r, &(nino_clip_text){ .all = p->text }, NULL, err);
}

NINO_NODE(clip_text_encode, "CLIPTextEncode", "CLIP Text Encode (Prompt)", "conditioning",
          "Turns a prompt into what a diffusion model is guided by",
          NINO_INPUTS(NINO_PORT(clip, CLIP)), NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)),
          NINO_PARAMS(text_params, P_TEXT(text_params, text, "Prompt", "What the picture shows")),
          NINO_RUN(prompt_nodes_text_run));

// ---- CLIPTextEncodeControlnet ----------------------------------------------------------------

static nino_status prompt_nodes_control_run(nino_run *r, nino_error *err)
{
    const text_params *p = r->params;
    nino_cond_entry *e = NULL;
    nino_status st = nino_prompt_encode(r, &(nino_clip_text){ .all = p->text }, &e, err);
    if (st)
        return st;
    nino_value *read = r->out[0]; // which has e
    r->out[0] = NULL;
    nino_cond *c = nino_cond_copy(nino_in_cond(r, 1));
    for (int i = 0; c && i < c->n; i++)
        nino_cond_set_array(&c->entry[i].control_context, e->context);
    nino_value_unref(&read);
    return nino_out_cond(r, 0, c, err);
}

NINO_NODE(clip_text_encode_control, "CLIPTextEncodeControlnet", "CLIP Text Encode (Controlnet)",
          "_for_testing/conditioning",
          "A prompt that control networks read in place of the model's",
          NINO_INPUTS(NINO_PORT(clip, CLIP), NINO_PORT(conditioning, CONDITIONING)),
          NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)),
          NINO_PARAMS(text_params,
                      P_TEXT(text_params, text, "Prompt", "What the control network is told")),
          NINO_RUN(prompt_nodes_control_run));

// ---- CLIPTextEncodeFlux ----------------------------------------------------------------------

typedef struct flux_params {
    const char *clip_l, *t5xxl;
    double guidance;
} flux_params;

static nino_status prompt_nodes_flux_run(nino_run *r, nino_error *err)
{
    const flux_params *p = r->params;
    nino_cond_entry *e = NULL;
    const nino_clip_text text = { .by_encoder = {
                                      [NINO_ENC_CLIP_L] = p->clip_l, [NINO_ENC_T5] = p->t5xxl } };
    const nino_status st = nino_prompt_encode(r, &text, &e, err);
    if (!st) {
        e->has_guidance = true;
        e->guidance = p->guidance;
    }
    return st;
}

NINO_NODE(
    clip_text_encode_flux, "CLIPTextEncodeFlux", "CLIPTextEncodeFlux", "advanced/conditioning/flux",
    "Encodes one prompt for each of Flux's text encoders, with guidance",
    NINO_INPUTS(NINO_PORT(clip, CLIP)), NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)),
    NINO_PARAMS(flux_params,
                P_TEXT(flux_params, clip_l, "Prompt of CLIP-L", "Style and subject in keywords"),
                P_TEXT(flux_params, t5xxl, "Prompt of T5", "The picture in sentences"),
                NINO_P_FLOAT(flux_params, guidance, 3.5, 0.0, 100.0, 0.1, .label = "Guidance",
                             .ui_max.f = 10.0, .help = "How closely Flux dev follows the prompt")),
    NINO_RUN(prompt_nodes_flux_run));

// ---- CLIPTextEncodeSDXL, CLIPTextEncodeSDXLRefiner -------------------------------------------

#define MAX_PIXELS 16384
#define P_PIXELS(S, fld, d, lbl, hlp)                                                              \
    NINO_P_INT(S, fld, d, 0, MAX_PIXELS, 1, .label = lbl, .unit = "px", .ui_max.i = 4096,          \
               .help = hlp)

typedef struct sdxl_params {
    int64_t width, height, crop_w, crop_h, target_width, target_height;
    const char *text_g, *text_l;
} sdxl_params;

static nino_status sdxl_run(nino_run *r, nino_error *err)
{
    const sdxl_params *p = r->params;
    nino_cond_entry *e = NULL;
    const nino_clip_text text = {
        .all = p->text_g,
        .by_encoder = { [NINO_ENC_CLIP_L] = p->text_l, [NINO_ENC_CLIP_G] = p->text_g },
    };
    const nino_status st = nino_prompt_encode(r, &text, &e, err);
    if (!st) {
        e->has_size = true;
        e->width = (int) p->width;
        e->height = (int) p->height;
        e->crop_w = (int) p->crop_w;
        e->crop_h = (int) p->crop_h;
        e->target_w = (int) p->target_width;
        e->target_h = (int) p->target_height;
    }
    return st;
}

NINO_NODE(
    clip_text_encode_sdxl, "CLIPTextEncodeSDXL", "CLIPTextEncodeSDXL", "advanced/conditioning",
    "Encodes one prompt for each of SDXL's text encoders, with the sizes it was trained on",
    NINO_INPUTS(NINO_PORT(clip, CLIP)), NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)),
    NINO_PARAMS(
        sdxl_params,
        P_PIXELS(sdxl_params, width, 1024, "Width", "Size of the picture it should look like"),
        P_PIXELS(sdxl_params, height, 1024, "Height", "Size of the picture it should look like"),
        P_PIXELS(sdxl_params, crop_w, 0, "Crop left", "As if so much were cut off; 0 is centred"),
        P_PIXELS(sdxl_params, crop_h, 0, "Crop top", "As if so much were cut off; 0 is centred"),
        P_PIXELS(sdxl_params, target_width, 1024, "Target width", "Size of the picture to make"),
        P_PIXELS(sdxl_params, target_height, 1024, "Target height", "Size of the picture to make"),
        P_TEXT(sdxl_params, text_g, "Prompt of CLIP-G", "What the picture shows"),
        P_TEXT(sdxl_params, text_l, "Prompt of CLIP-L", "What the picture shows")),
    NINO_RUN(sdxl_run));

typedef struct refiner_params {
    double ascore;
    int64_t width, height;
    const char *text;
} refiner_params;

static nino_status refiner_run(nino_run *r, nino_error *err)
{
    const refiner_params *p = r->params;
    nino_cond_entry *e = NULL;
    const nino_status st = nino_prompt_encode(r, &(nino_clip_text){ .all = p->text }, &e, err);
    if (!st) {
        e->has_size = true;
        e->width = e->target_w = (int) p->width;
        e->height = e->target_h = (int) p->height;
        e->has_aesthetic_score = true;
        e->aesthetic_score = p->ascore;
    }
    return st;
}

NINO_NODE(clip_text_encode_sdxl_refiner, "CLIPTextEncodeSDXLRefiner", "CLIPTextEncodeSDXLRefiner",
          "advanced/conditioning", "Encodes a prompt for SDXL's refiner",
          NINO_INPUTS(NINO_PORT(clip, CLIP)), NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)),
          NINO_PARAMS(refiner_params,
                      NINO_P_FLOAT(refiner_params, ascore, 6.0, 0.0, 1000.0, 0.01,
                                   .label = "Aesthetic score", .ui_max.f = 10.0,
                                   .help = "How beautiful it should be; 2.5 for a negative prompt"),
                      P_PIXELS(refiner_params, width, 1024, "Width", "Size of the picture"),
                      P_PIXELS(refiner_params, height, 1024, "Height", "Size of the picture"),
                      P_TEXT(refiner_params, text, "Prompt", "What the picture shows")),
          NINO_RUN(refiner_run));

// ---- CLIPTextEncodeSD3 -----------------------------------------------------------------------

typedef struct sd3_params {
    const char *clip_l, *clip_g, *t5xxl;
    int64_t empty_padding;
} sd3_params;

static nino_status prompt_nodes_sd3_run(nino_run *r, nino_error *err)
{
    const sd3_params *p = r->params;
    const nino_clip_text text = {
        .all = p->clip_g,
        .by_encoder = { [NINO_ENC_CLIP_L] = p->clip_l,
                        [NINO_ENC_CLIP_G] = p->clip_g,
                        [NINO_ENC_T5] = p->t5xxl },
        .no_empty_padding = p->empty_padding == 0,
    };
    return nino_prompt_encode(r, &text, NULL, err);
}

NINO_NODE(
    clip_text_encode_sd3, "CLIPTextEncodeSD3", "CLIPTextEncodeSD3", "advanced/conditioning",
    "Encodes one prompt for each of SD3's text encoders", NINO_INPUTS(NINO_PORT(clip, CLIP)),
    NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)),
    NINO_PARAMS(
        sd3_params, P_TEXT(sd3_params, clip_l, "Prompt of CLIP-L", "What the picture shows"),
        P_TEXT(sd3_params, clip_g, "Prompt of CLIP-G", "What the picture shows"),
        P_TEXT(sd3_params, t5xxl, "Prompt of T5", "The picture in sentences"),
        NINO_P_ENUM(sd3_params, empty_padding, NINO_WORDS("none", "empty_prompt"), 0,
                    .label = "Empty prompts",
                    .help = "none: encoders without a text take no part; empty_prompt: they encode "
                            "nothing, padded to full length")),
    NINO_RUN(prompt_nodes_sd3_run));

// ---- CLIPSetLastLayer ------------------------------------------------------------------------

typedef struct layer_params {
    int64_t stop_at_clip_layer;
} layer_params;

static nino_status layer_run(nino_run *r, nino_error *err)
{
    const nino_clip *c = clip_of(r, err);
    if (!c)
        return NINO_ERR_UNSUPPORTED;
    nino_clip *copy = nino_clip_copy(c);
    if (copy)
        copy->layer = (int) ((const layer_params *) r->params)->stop_at_clip_layer;
    return nino_out_clip(r, 0, copy, err);
}

NINO_NODE(
    clip_set_last_layer, "CLIPSetLastLayer", "CLIP Set Last Layer", "conditioning",
    "Takes the text encoder's output behind an earlier layer", NINO_INPUTS(NINO_PORT(clip, CLIP)),
    NINO_OUTPUTS(NINO_PORT(CLIP, CLIP)),
    NINO_PARAMS(
        layer_params,
        NINO_P_INT(
            layer_params, stop_at_clip_layer, -1, -24, -1, 1, .label = "Layer",
            .help = "Counted from the end: -1 is the last, -2 the one before (\"CLIP skip 2\")")),
    NINO_RUN(layer_run));

// ---- T5TokenizerOptions ----------------------------------------------------------------------

typedef struct padding_params {
    int64_t min_padding, min_length;
} padding_params;

static nino_status padding_run(nino_run *r, nino_error *err)
{
    const padding_params *p = r->params;
    nino_clip *copy = nino_clip_copy(nino_in_clip(r, 0));
    if (copy) {
        copy->has_padding = true;
        copy->pads_min = (int) p->min_padding;
        copy->tokens_min = (int) p->min_length;
    }
    return nino_out_clip(r, 0, copy, err);
}

NINO_NODE(t5_options, "T5TokenizerOptions", "T5TokenizerOptions", "_for_testing/conditioning",
          "How T5 encoders fill up short prompts; other encoders stay as they are",
          NINO_INPUTS(NINO_PORT(clip, CLIP)), NINO_OUTPUTS(NINO_PORT(CLIP, CLIP)),
          NINO_PARAMS(padding_params,
                      NINO_P_INT(padding_params, min_padding, 0, 0, 10000, 1, .label = "Padding",
                                 .help = "Empty tokens after every prompt"),
                      NINO_P_INT(padding_params, min_length, 0, 0, 10000, 1, .label = "Shortest",
                                 .help = "Shorter prompts are filled up to this many tokens")),
          NINO_RUN(padding_run));
