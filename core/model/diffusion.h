// Internal: diffusion networks, whatever their architecture: one interface for guiders and nodes.
// Thread-safety: immutable after loading; used by one stream at a time.
#pragma once
#include "core/model/latent_format.h"
#include "core/op/stream.h"
#include "core/sample/cond.h"
#include "core/sample/model_sampling.h"

typedef enum nino_diffusion_kind {
    NINO_DIFFUSION_UNET, // SD1, SD2, SDXL: core/model/unet.c
    NINO_DIFFUSION_FLUX, // FLUX.1: core/model/flux.c
    NINO_DIFFUSION_WAN,  // Wan 2.1 and 2.2, video: core/model/wan.c
} nino_diffusion_kind;

// One evaluation of the network. The forward function consumes the tensors.
typedef struct nino_forward {
    nino_tensor *x;        // [B,(t,)h,w,C]: the model input (already scaled)
    const float *timestep; // B values, as nino_sampling_timestep() gives them
    int64_t frames; // > 0: the latent frames t of a video; timestep has a value for each, [B,t]
    nino_tensor *context;  // [B,T,Cc]
    nino_tensor *y;        // [B,Cy] or NULL
    nino_tensor *concat;   // [B,(t,)h,w,Ce]: appended to x's channels (inpaint, edit), or NULL
    nino_tensor *vision;   // [B,Tv,Cv]: what an image encoder sees in a picture, or NULL
    nino_tensor **control; // [B,t,h,w,Cv]: videos to follow (VACE), n_controls of them
    const float *control_strength;
    int n_controls;
    nino_tensor **refs; // reference latents [B,h',w',C] (Kontext), n_refs of them
    int n_refs;
    nino_ref_method ref_method;
    float guidance; // distilled guidance (Flux dev), NaN: left out; ignored by other networks
} nino_forward;

typedef struct nino_diffusion nino_diffusion;
struct nino_diffusion {
    nino_diffusion_kind kind;
    char family[32]; // "sd15", "sdxl", "flux", "flux_schnell" ...
    char detail[96]; // for people: "FLUX.1 dev, 19 + 38 blocks"
    const nino_latent_format *format;
    int in_channels;         // of x and concat together; format->channels is x's part
    int context_dim;         // Cc
    int y_dim;               // Cy; 0: takes no y
    int vision_dim;          // Cv; 0: takes no pictures
    int control_dim;         // channels of a video to follow; 0: takes none
    bool has_guidance;       // uses nino_forward.guidance
    bool has_frame_times;    // uses nino_forward.frames; a noise mask says which frames are done
    nino_sampling *sampling; // how it was trained: the default of a MODEL
    uint64_t weight_bytes;   // as stored
    nino_hash identity;      // of the file it came from
    char name[128];          // for messages: the node's file name
    // -> [B,(t,)h,w,format->channels], the raw network output (eps, v or flow). Any h, w.
    nino_tensor *(*forward)(nino_stream *s, const nino_diffusion *d, nino_forward *f);
    void (*destroy)(nino_diffusion *d);
    void *net; // the network's weights struct
    int refs;
    bool wants_bf16;               // its values exceed the range of f16, which AUTO then avoids
    bool is_scaled;                // its weights are 8-bit floats with a scale each
    nino_dtype weight_type;        // what the weights were rounded to when read; NINO_F32: nothing
    nino_weights *file;            // owned reference; without LoRAs
    char prefix[32];               // of its names there
    struct nino_lora_stack *loras; // it was loaded with (core/model/lora.h), NULL: none
};

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

// The loaders behind nino_diffusion_load(); prefix: "", "model.diffusion_model.", ...
nino_status nino_unet_load(nino_weights *file, const char *prefix, nino_diffusion *d,
                           nino_error *err);
nino_status nino_flux_load(nino_weights *file, const char *prefix, nino_diffusion *d,
                           nino_error *err);
nino_status nino_wan_load(nino_weights *file, const char *prefix, nino_diffusion *d,
                          nino_error *err);

// For forward functions: fails the stream when the inputs do not fit the network, with a line that
// says what to look for.
void nino_forward_check(nino_stream *s, const nino_diffusion *d, const nino_forward *f);

// What travels on MODEL links: a network and how it is to be sampled. Immutable; nodes that change
// something (ModelSampling*, RescaleCFG, precision) make a copy that shares the network.
typedef struct nino_model {
    nino_diffusion *net;
    nino_sampling *sampling;
    const nino_latent_format *format; // the network's, unless a node chose another
    double rescale_cfg;               // 0: off
    nino_precision precision;         // AUTO: the stream's
    // DifferentialDiffusion: a noise mask says how early a cell may change. The strength is how
    // much of that replaces the mask itself; 0 is the same as 1.
    bool has_differential;
    double differential;
    int refs;
} nino_model;

nino_model *nino_model_create(nino_diffusion *net); // takes a reference; NULL: no memory
nino_model *nino_model_copy(const nino_model *m);   // a new, unshared one to be changed
nino_model *nino_model_ref(nino_model *m);          // NULL-safe
void nino_model_unref(nino_model **m);              // NULL-safe
