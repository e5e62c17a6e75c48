// Internal to core/suite: names and shapes of Stable Diffusion checkpoints of any width, and of tiny decoders.
#pragma once
#include <stdint.h>

typedef struct suite_sd {
    int64_t ch; // of the UNet: 320
    int64_t text, layers,
        vocab;   // of the text encoder: 768, 12, 49408; text is what the UNet's prompts have
    int64_t vae; // channels of the VAE: 128
} suite_sd;

// Takes a tensor: name, dimensions.
typedef struct suite_sink {
    void (*put)(void *priv, const char *name, int rank, const int64_t *dim);
    void *priv;
} suite_sink;

// Every tensor of a checkpoint in its original names, in a fixed order.
void nino_suite_sd_names(const suite_sd *m, const suite_sink *out);
// The decoders of TAESD (pictures, 4 channels) and of TAEHV for Wan 2.1 (clips, 16 channels), as published.
void nino_suite_taesd_names(const suite_sink *out);
void nino_suite_taehv_names(const suite_sink *out);
