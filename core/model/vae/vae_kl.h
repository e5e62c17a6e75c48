// Internal to AutoencoderKL: its layers, for the two ways through the decoder: whole maps
// (vae_kl.c) and bands of rows (vae_kl_bands.c).
#pragma once
#include "core/model/vae/vae.h"

enum { NINO_KL_LEVELS = 8, NINO_KL_BLOCKS = 8 }; // at most

typedef struct nino_kl_resnet {
    nino_norm norm1, norm2;
    nino_conv conv1, conv2;
    nino_linear shortcut; // where the width changes
} nino_kl_resnet;

typedef struct nino_kl_attn {
    nino_norm norm;
    nino_linear q, k, v, proj;
} nino_kl_attn;

typedef struct nino_kl_level {
    nino_kl_resnet block[NINO_KL_BLOCKS];
    int n_blocks;
    nino_conv resample; // after the blocks; no weight: none
} nino_kl_level;

typedef struct nino_kl_half { // encoder or decoder
    nino_conv conv_in, conv_out;
    nino_kl_level level[NINO_KL_LEVELS]; // in the order of the names: 0 is the full resolution
    int n_levels;
    nino_kl_resnet mid1, mid2;
    nino_kl_attn mid_attn;
    nino_norm norm_out;
    nino_linear quant; // quant_conv or post_quant_conv; optional
} nino_kl_half;

const nino_kl_half *nino_vae_kl_decoder(const nino_vae *v);
// The decoder's first layers and its middle, at the latent's size: z [N,h,w,C] -> [N,h,w,C'].
nino_tensor *nino_vae_kl_decode_mid(nino_stream *s, const nino_vae *v, nino_tensor *z);
void nino_vae_kl_decode_bands(nino_stream *s, const nino_vae *v, nino_tensor *z,
                              const nino_vae_bands *how); // nino_vae.decode_bands
