// Internal: the causal video VAEs of Wan 2.1 and 2.2: what loading (vae_wan_load.c) and running
// (vae_wan.c) share.
#pragma once
#include "core/model/vae/vae.h"

#define WAN_MAX_GROUPS 8
#define WAN_MAX_STEPS 12 // of a group

typedef struct wan_res {
    nino_norm norm1, norm2;
    nino_conv conv1, conv2, shortcut; // shortcut: where the width changes
} wan_res;

typedef struct wan_attn {
    nino_norm norm;
    nino_conv q, k, v, proj;
} wan_attn;

// A change of the resolution; time: of the frame rate too.
typedef struct wan_sample {
    nino_conv conv, time;
} wan_sample;

typedef struct wan_group {
    wan_res res[WAN_MAX_STEPS];
    int n_res;
    wan_sample sample; // after the blocks; no weight: none
    bool has_shortcut; // around all of it (2.2)
    int64_t width;     // channels of its result
} wan_group;

typedef struct wan_half {
    nino_conv conv_in, conv_out, quant; // quant: decoder's first, encoder's last convolution, 1x1
    wan_group group[WAN_MAX_GROUPS];
    int n_groups;
    wan_res mid1, mid2;
    wan_attn attn;
    nino_norm norm_out;
} wan_half;

typedef struct wan_net {
    wan_half encoder, decoder;
    int patch; // pixels that are folded into channels, each way
} wan_net;

// The functions of nino_vae, vae_wan.c.
nino_tensor *wan_decode_next(nino_stream *s, nino_vae_clip *c, nino_tensor *z);
nino_tensor *wan_encode_next(nino_stream *s, nino_vae_clip *c, nino_tensor *pixels);
