// Internal: the tiny video autoencoders (TAEHV): what loading (vae_taehv_load.c) and running
// (vae_taehv.c) share.
#pragma once
#include "core/model/vae/vae.h"

#define TAEHV_MAX_LAYERS 64

typedef enum taehv_kind {
    TAEHV_CONV, // 3x3, with the ReLU and the doubling of sides around it
    TAEHV_MEM,  // a residual block that also sees the frame before
    TAEHV_TIME  // a frame becomes `stride` frames (decoder) or `stride` frames one (encoder)
} taehv_kind;

typedef struct taehv_layer {
    taehv_kind kind;
    int position;                     // in the names
    int stride;                       // TIME
    bool is_level;                    // the resolution changes here
    nino_conv conv;                   // CONV: 3x3, TIME: 1x1
    nino_conv mem0, mem2, mem4, skip; // MEM; skip: where the width changes
} taehv_layer;

typedef struct taehv_half {
    taehv_layer layer[TAEHV_MAX_LAYERS];
    int n;
} taehv_half;

typedef struct taehv_net {
    taehv_half encoder, decoder;
    nino_conv to_space, from_space; // channel by channel between node latents and the network's;
                                    // no weight: nino_vae.scale alone
    int patch;                      // pixels that are folded into channels, each way
} taehv_net;

// The functions of nino_vae, vae_taehv.c.
nino_tensor *taehv_decode_next(nino_stream *s, nino_vae_clip *c, nino_tensor *z);
nino_tensor *taehv_encode_next(nino_stream *s, nino_vae_clip *c, nino_tensor *pixels);
