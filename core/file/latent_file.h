// Internal: ComfyUI .latent files (safetensors with `latent_tensor`). Files without
// `latent_format_version_0` are the old kind and are scaled by 1/0.18215 when read. Source: ComfyUI
// nodes.py LoadLatent/SaveLatent.
#pragma once
#include "core/file/weights.h"

// Reads f32 [N,H,W,C] or [N,T,H,W,C] (channels last). *meta_prompt/_workflow (malloc'd or NULL)
// when not NULL.
nino_status nino_latent_load(nino_weights *w, nino_array **samples, nino_error *err);
// Saves channels-last samples as [N,C,H,W] / [N,C,T,H,W] with metadata.
nino_status nino_latent_save(const char *dir, const char *name, const nino_array *samples,
                             const nino_meta *meta, int n_meta, nino_error *err);
