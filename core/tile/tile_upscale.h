// Internal: pictures through an upscale model, whole or in tiles.
// Source: ComfyUI comfy_extras/nodes_upscale_model.py and comfy/utils.py tiled_scale.
#pragma once
#include "core/model/upscale/upscale.h"
#include "core/tile/tile.h"

// image f32 [N,H,W,3 or 4] in 0..1 (alpha is left out) -> *out f32 [N,H*scale,W*scale,3] in 0..1,
// one picture after the other. One pass of tiles of 512 pixels that share 32, every tile feathered
// on every side; a picture that fits into one is not feathered. Where plan says that the budget has
// no room for them: of 256, of 128; ComfyUI goes the same way when memory has run out. Less than
// that is not tried: the error says what was missing. Emits tile scopes, TILE_INFO and SEAM events.
// report may be NULL. Errors: NINO_ERR_NOMEM; NINO_ERR_RANGE, kind "nan": values that are not
// finite, or a result of more than 65535 pixels a side.
nino_status nino_upscale_tiled(nino_stream *s, const nino_upscale *u, const nino_array *image,
                               nino_array **out, nino_tile_report *report, nino_error *err);
