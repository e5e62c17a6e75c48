// Internal: files of models/model_patches: which network one holds.
#pragma once
#include "core/model/block_control/block_control.h"

// Errors: kind "model", naming file and tensor; NINO_ERR_UNSUPPORTED with their name for other
// networks that ComfyUI's ModelPatchLoader knows.
nino_status nino_model_patch_load(nino_weights *file, const char *name, nino_block_net **out,
                                  nino_error *err);
