// Internal to core/suite: cases and the models that they run.
#pragma once
#include <ninodes/ninodes.h>
#include <ninodes/suite.h>

// What a workflow is made of.
typedef enum suite_flow {
    SUITE_FLUX, // a checkpoint with its text encoders and VAE, Flux' latents
    SUITE_SD,   // the same, Stable Diffusion 1.5's latents
    SUITE_WAN,  // text encoder, network and VAE in files of their own; clips
    SUITE_LOAD, // as SD within a budget below the weights' size, with a cold page cache
    // Only the decoding of a latent of random numbers, which is what the extension's own cases are: by the VAE of FLUX
    // (quick) or SD, by TAESD, and of clips by TAEHV.
    SUITE_VAE,
    SUITE_TAESD,
    SUITE_TAEHV
} suite_flow;

// Sizes in pixels and frames. Of a clip frames is 1 + 4 k: what a causal VAE makes.
typedef struct suite_case {
    const char *name, *suites; // suites: words that it is in, "phases vae"
    suite_flow flow;
    bool is_full; // of the full form; else of the quick one
    int width, height, batch, frames, steps;
    nino_precision_opt precision; // AUTO: the phase's
    double budget;                // share of the baseline's peak that may be used; 0: all
} suite_case;

static inline bool suite_is_decode(const suite_case *c) { return c->flow >= SUITE_VAE; }

extern const suite_case nino_suite_cases[]; // ends with {0}
bool nino_suite_has_word(const char *words, const char *word);

// The files of a case: folders of models and the workflow in API form.
typedef struct suite_models {
    char checkpoint[64], network[64], text[64], vae[64];
    const char *networks; // for people
    int channels;         // of its latents
} suite_models;
// Workflow of c as JSON, owned. NULL: out of memory. Its seed is 6.seed, its latent (VAE) that of node 5, its pictures
// those of node 9.
char *nino_suite_workflow(const suite_case *c, const suite_models *m);

// Files of random weights for c, made where they are not there yet, at most `most` bytes in all; the folder's path is
// put into dir. *why: what stands in the way, "" nothing.
nino_status nino_suite_make_models(const suite_case *c, const nino_suite_params *p, char *dir,
                                   size_t size, suite_models *out, char *why, size_t why_size,
                                   nino_error *err);
