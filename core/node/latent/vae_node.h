// Internal: what the nodes that decode latents share.
#pragma once
#include "core/node/node_impl.h"
#include "core/tile/video_tiles.h"

// Inputs samples and vae of a node; output 0 becomes the pictures.
nino_status nino_vae_node_decode(nino_run *r, const nino_video_params *p, nino_error *err);

// Of VAEs that are not causal in time.
#define NINO_ACTS_FOR_CLIPS "TAEHV models"
