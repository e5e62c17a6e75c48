// Internal: diffusion networks from files, and MODEL values: a network and how it is sampled.
#pragma once
#include "core/file/weights.h"
#include "core/model/block_control/block_control.h"
#include "core/model/ip_adapter/ip_adapter.h"
#include "core/model/network.h"

// From a diffusion model file or a checkpoint that contains one; the network, names (ComfyUI/BFL or
// diffusers) and sizes come from tensor names and shapes. Errors: kind "model", naming file and
// tensor; a family that is recognised but cannot be run is NINO_ERR_UNSUPPORTED naming it.
nino_status nino_diffusion_load(nino_weights *file, const char *name, nino_diffusion **out,
                                nino_error *err);
// The same with weights rounded to an 8-bit float type (weight_dtype of loaders). NINO_F32: as
// stored, and so are files of scaled 8-bit floats, whose values are not the weights.
nino_status nino_diffusion_load_as(nino_weights *file, const char *name, nino_dtype type,
                                   nino_diffusion **out, nino_error *err);
nino_diffusion *nino_diffusion_ref(nino_diffusion *d); // NULL-safe
void nino_diffusion_unref(nino_diffusion **d);         // NULL-safe

// What travels on MODEL links: a network and how it is to be sampled. Immutable; nodes that change
// something (ModelSampling*, RescaleCFG, precision) make a copy that shares the network.
typedef struct nino_model {
    nino_diffusion *net;
    nino_sampling *sampling;
    const nino_latent_format *format;     // the network's, unless a node chose another
    nino_patch patch[NINO_MODEL_PATCHES]; // n_patches of them, in order
    int n_patches;
    nino_precision precision; // AUTO: the stream's
    // DifferentialDiffusion: a noise mask says how early a cell may change. The strength is how
    // much of that replaces the mask itself; 0 is the same as 1.
    bool has_differential;
    double differential;
    int refs;
} nino_model;

nino_model *nino_model_create(nino_diffusion *net); // takes a reference; NULL: no memory
nino_model *nino_model_copy(const nino_model *m);   // a new, unshared one to be changed
// Adds a patch behind the others; of its image it takes a reference. False: there is no room.
bool nino_model_add_patch(nino_model *m, const nino_patch *p);
nino_model *nino_model_ref(nino_model *m); // NULL-safe
void nino_model_unref(nino_model **m);     // NULL-safe
