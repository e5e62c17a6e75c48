// Internal: control networks: what they read from a picture, the hint, is added inside a diffusion
// network at every step. ControlNets of SD, SD3, FLUX.1 and Qwen-Image, union ones, control-LoRAs, T2I-Adapters.
// Thread-safety: immutable after loading; used by one stream at a time.
#pragma once
#include "core/model/diffusion/diffusion.h"
#include "core/model/loader.h"
#include "core/model/residuals.h"
#include "core/model/vae/vae.h"

enum { NINO_CONTROL_TENSORS = 4 };
// What a network makes of a hint once, on the device, for all steps of a sampling.
typedef struct nino_control_hint {
    nino_tensor *t[NINO_CONTROL_TENSORS];
} nino_control_hint;
void nino_control_hint_release(nino_control_hint *h);

typedef struct nino_control_net nino_control_net;
struct nino_control_net {
    int refs;
    char family[32];            // "controlnet", "controlnet_union", "t2i_adapter" ...
    char detail[96];            // for people: "ControlNet of SD1.5, hint 8x"
    char name[128];             // for messages: the node's control_net_name
    nino_diffusion_kind serves; // networks of this kind
    int in_channels;            // of the latent; 0: it does not look at it
    int context_dim, y_dim;     // that it must be given; 0: any
    int factor;                 // pixels of the hint a latent cell; 0: those of the VAE
    int multiple;               // of which the hint's sides are one, in pixels
    bool wants_vae;             // the hint is a latent, in units of `format`
    bool has_mask;              // and has a channel more: 1 where the picture is kept
    const nino_latent_format *format;
    int n_types;           // of a union network; 0: it has none
    bool is_average;       // what it adds is one value a channel: the mean
    bool needs_model;      // cannot run but as nino_control_bind() makes it
    uint64_t weight_bytes; // as stored
    nino_hash identity;
    nino_weights *file; // owned reference
    // hint [B,H,W,3] in 0..1, or a latent [B,h,w,C]; consumed. type: of a union network, negative:
    // not said.
    void (*prepare)(nino_stream *s, const nino_control_net *c, nino_tensor *hint, int type,
                    nino_control_hint *out);
    // Adds strength times what belongs to the maps to *out. Consumes nothing of in: x, timestep,
    // context, y and guidance are what the diffusion network gets.
    void (*forward)(nino_stream *s, const nino_control_net *c, const nino_forward *in,
                    const nino_control_hint *hint, float strength, nino_residuals *out);
    void (*destroy)(nino_control_net *c); // of what is no layer; may be NULL
    nino_layers layers;
    void *net; // its struct, in them
};

// Detects the network and the dialect of its names. Errors: kind "model", naming file and tensor;
// NINO_ERR_UNSUPPORTED with the network's name for those that are known but cannot be run.
nino_status nino_control_load(nino_weights *file, const char *name, nino_control_net **out,
                              nino_error *err);
// The same for a file that holds differences to a model's weights ("difference"); others load as
// they are.
nino_status nino_control_load_diff(nino_weights *file, const char *name, const nino_model *m,
                                   nino_control_net **out, nino_error *err);
nino_control_net *nino_control_ref(nino_control_net *c); // NULL-safe
void nino_control_unref(nino_control_net **c);           // NULL-safe
// *out: a new reference to c, or to what a control-LoRA makes of the model's weights, as its LoRAs
// leave them. Errors: kind "model": it belongs to another kind of model.
nino_status nino_control_bind(nino_control_net *c, const nino_model *m, nino_control_net **out,
                              nino_error *err);

// The types of union networks; the first, "auto", is none. NULL-terminated.
extern const char *const nino_control_types[];

// ---- on conditioning -------------------------------------------------------------------------
// A control network with all that one node asks of it. Immutable; shared by the entries it is put
// into, so that they can run in one batch.
typedef struct nino_control_use {
    nino_cond_control head;
    nino_control_net *net;
    struct nino_control_use *previous; // what is added as well; or NULL
    nino_array *hint;                  // f32 [N,H,W,3 or 4], 0..1
    nino_array *mask;                  // f32 [N,H,W]: 1 where the picture is kept; or NULL
    nino_vae *vae;                     // or NULL
    double strength, start, end;       // percent of the schedule
    int type;                          // as for nino_control_net.prepare
} nino_control_use;
// A copy of *u with references of its own, refs 1. NULL: no memory.
nino_control_use *nino_control_use_create(const nino_control_use *u);
static inline nino_control_use *nino_control_use_of(nino_cond_control *c)
{
    return (nino_control_use *) (void *) c;
}

// ---- for control.c: the networks -------------------------------------------------------------
// Fill what is theirs of c. prefix: before all names.
nino_status nino_control_unet_load(nino_weights *file, const char *prefix, nino_control_net *c,
                                   nino_error *err);
nino_status nino_control_lora_load(nino_weights *file, nino_control_net *c, nino_error *err);
nino_status nino_control_lora_bind(nino_control_net *c, const nino_model *m, nino_control_net **out,
                                   nino_error *err);
nino_status nino_control_t2i_load(nino_weights *file, const char *prefix, nino_control_net *c,
                                  nino_error *err);
nino_status nino_control_sd3_load(nino_weights *file, const char *prefix, nino_control_net *c,
                                  nino_error *err);
nino_status nino_control_qwen_load(nino_weights *file, const char *prefix, nino_control_net *c,
                                   nino_error *err);
nino_status nino_control_flux_load(nino_weights *file, const char *prefix, nino_control_net *c,
                                   nino_error *err);
// A new one, zeroed but for what all have in common. NULL: no memory.
nino_control_net *nino_control_create(nino_weights *file, const char *name, nino_error *err);
// down: with the prefix, the way down of a UNet (a control-LoRA: of the model's); own: the rest.
void nino_control_unet_layers(nino_loader *down, nino_loader *own, nino_control_net *c);
