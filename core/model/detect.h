// Internal: what a weights file contains, by tensor names and shapes (never by file name).
#pragma once
#include "core/file/weights.h"

typedef struct nino_detected {
    char vae[32], vae_prefix[32]; // family and prefix ("first_stage_model."), "" if none
    char diffusion[32], diffusion_prefix[32]; // "sd15", "sdxl", "flux", "wan", ...; named even when
                                              // not runnable yet
    char text[4][32];                     // "clip_l", "clip_g", "clip_h", "t5", "umt5", "qwen3",
                                          // "mistral3", "qwen25_vl", or what is not run:
                                          // "clip_vision", "llm"; "qwen25_vision", that
                                          // of a qwen25_vl which lies beside it
    char text_prefix[4][64];              // of the names of each
    char quantisation[48];                // "none", "fp8 e4m3fn", "fp8 e4m3fn scaled", ...
    char upscale[32], upscale_prefix[32]; // family: one of those below, or what is not run
    char control[32], control_prefix[32]; // the same
    bool is_lora;
    char detail[160];
} nino_detected;

// Pictures to depth or normals in one step; a UNet of SD 2 that is told its task by four numbers.
#define NINO_LOTUS "lotus"
#define NINO_LOTUS_Y 4

#define NINO_UPSCALE_ESRGAN "esrgan"
#define NINO_UPSCALE_COMPACT "compact"

#define NINO_CONTROL_UNET "controlnet"
#define NINO_CONTROL_UNION "controlnet_union"
#define NINO_CONTROL_FLUX "controlnet_flux"
#define NINO_CONTROL_XLABS "controlnet_flux_xlabs"
#define NINO_CONTROL_SD3 "controlnet_sd3"
#define NINO_CONTROL_QWEN "controlnet_qwen_image"
#define NINO_CONTROL_LORA "control_lora"
#define NINO_CONTROL_T2I "t2i_adapter"
// Those of ModelPatchLoader.
#define NINO_CONTROL_BLOCKS "model_patch_qwen_image"
#define NINO_CONTROL_ZIMAGE "model_patch_z_image"

void nino_detect(const nino_weights *w, nino_detected *out);

// For nino_detect(): networks that enlarge pictures, in a file that holds nothing else.
void nino_detect_upscale(const nino_weights *w, nino_detected *out);
// For nino_detect(): control networks.
void nino_detect_control(const nino_weights *w, nino_detected *out);
