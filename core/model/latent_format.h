// Internal: the latent space a diffusion model works in: how many channels, how it is scaled, and
// what a latent looks like as a rough RGB picture. "Node latent" is what travels on LATENT links;
// "model latent" is what the network sees. Facts: ComfyUI comfy/latent_formats.py.
// Thread-safety: constant tables.
#pragma once
#include "core/tensor/tensor.h"

typedef struct nino_latent_format {
    const char *name; // "sd15", "sdxl", "sd3", "flux", "wan21", ...
    int channels;
    int factor;              // pixels per latent cell
    int time_factor;         // frames per latent frame; 1 for images
    double scale, shift;     // model = (node - shift) * scale
    const float *mean, *std; // per channel: model = (node - mean) * scale / std; or NULL
    // Channels / fold^2 of them: picture in -1..1 = sum of model latent x rgb + bias. Where fold is
    // more than 1, channel c fold^2 + y fold + x is channel c of a finer latent at row y, column x.
    const float (*rgb)[3];
    int fold;              // 0: 1
    const float *rgb_bias; // [3] or NULL
    const char *tiny_vae;  // the TAESD or TAEHV family member that decodes it ("taesd"), or NULL
} nino_latent_format;

// NULL: no such format.
const nino_latent_format *nino_latent_format_find(const char *name);
// z f32 [N,h,w,C], sides multiples of fold, as a latent of h/fold x w/fold cells with all they have
// as channels, in the order of `rgb` above. NULL: no memory.
nino_array *nino_latent_fold(const nino_array *z, int fold);
// In place over data [outer][channels][inner] (channels first).
void nino_latent_process_in(const nino_latent_format *f, float *data, int64_t outer, int64_t inner);
void nino_latent_process_out(const nino_latent_format *f, float *data, int64_t outer,
                             int64_t inner);
