// Internal: networks with LoRAs on top of those that they have already.
#pragma once
#include "core/model/clip/clip.h"
#include "core/model/diffusion/diffusion.h"
#include "core/model/lora/lora.h"

// *out: a new reference to m, or to a copy of it whose network has the LoRA on top of those that it
// has already. A strength of 0, and a file with nothing for this network, change nothing: *out is m
// itself. is_exact: weights of 16 bits are not rounded once they have changed, as whoever computes
// in f32 wants it; otherwise they are, as ComfyUI does. r may be NULL.
nino_status nino_model_with_lora(nino_model *m, nino_lora *l, double strength, bool is_exact,
                                 nino_lora_report *r, nino_model **out, nino_error *err);
nino_status nino_clip_with_lora(nino_clip *c, nino_lora *l, double strength, bool is_exact,
                                nino_lora_report *r, nino_clip **out, nino_error *err);
