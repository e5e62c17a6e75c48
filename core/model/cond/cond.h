// Internal: conditioning, what travels on CONDITIONING links: a list of encoded prompts, each with
// where and when it applies. Kept on the host (small); a guider uploads what a step needs.
// Semantics: ComfyUI nodes.py (Conditioning* nodes) and samplers.py.
// Thread-safety: immutable once it is on a link.
#pragma once
#include "core/tensor/tensor.h"

typedef enum nino_area_kind {
    NINO_AREA_NONE,
    NINO_AREA_CELLS,   // in latent cells
    NINO_AREA_FRACTION // of the latent's size, 0..1
} nino_area_kind;

typedef enum nino_ref_method { // where a model takes reference latents to be
    NINO_REFS_DEFAULT,         // as it was trained
    NINO_REFS_OFFSET, // one picture beside or below the other, apart from the one that is made
    NINO_REFS_INDEX,  // each a picture of its own
    NINO_REFS_UXO,    // continuing the one that is made, down and to the right
    NINO_REFS_INDEX_TIMESTEP_ZERO, // as INDEX, and told to be without noise
    NINO_REFS_NEGATIVE_INDEX       // each a picture of its own, before the one that is made
} nino_ref_method;

#define NINO_COND_CONTROLS 4 // videos that a model follows at once

typedef struct nino_cond_picture { // that an unCLIP model is to vary
    nino_array *embeds;            // f32 [N,E]: what a vision network makes of N of them
    double strength, noise;        // noise: 0 keeps to the pictures, 1 ignores them
} nino_cond_picture;

// What a control network is to do (core/model/control/control.h), seen from here.
typedef struct nino_cond_control {
    int refs;
    uint64_t bytes; // of the arrays that it keeps
    void (*destroy)(struct nino_cond_control *c);
} nino_cond_control;
nino_cond_control *nino_cond_control_ref(nino_cond_control *c); // NULL-safe
void nino_cond_control_unref(nino_cond_control **c);            // NULL-safe

typedef struct nino_cond_entry {
    nino_array *context; // f32 [1,T,C]
    // f32 [1,T]: 1 where a token of context is looked at, 0 where it is not; NULL: all are. Only a
    // language model's prompts have one, and only where something is hidden.
    nino_array *context_mask;
    nino_array *pooled; // f32 [1,P] or NULL
    nino_area_kind area_kind;
    double area_h, area_w, area_y, area_x;
    double strength;  // weight of the entry where entries overlap; 1
    nino_array *mask; // f32 [N,H,W] or NULL, scaled to the latent when used
    double mask_strength;
    bool mask_bounds;  // "set_area_to_bounds": the network only sees the mask's bounding box
    double start, end; // part of the sampling it applies to, 0..1 of the schedule's percent
    bool has_guidance;
    double guidance;  // FluxGuidance
    bool no_guidance; // FluxDisableGuidance: the network gets none, not even its default
    bool has_size;    // SDXL: y is made of pooled and these, in pixels
    int width, height, crop_w, crop_h, target_w, target_h;
    double aesthetic_score; // SDXL refiner
    bool has_aesthetic_score;
    nino_array *concat_latent; // f32 [N,(t,)h,w,C] node latent that the model sees; or NULL
    nino_array *concat_mask;   // f32 [N,H,W], of a video also [N,t,h,w,1 or 4]; or NULL
    nino_array *vision;        // f32 [1,T,C]: an image encoder's states (Wan 2.1 i2v); or NULL
    // Wan VACE: [1,t,h,w,96], what stays and what is to be made as node latents, and the pixels'
    // mask
    nino_array *control[NINO_COND_CONTROLS];
    double control_strength[NINO_COND_CONTROLS];
    int n_controls;
    nino_cond_control *control_net; // or NULL
    bool
        control_for_all; // control_net is also for the negative side, where that has none of its own
    nino_array
        *control_context; // f32 [1,T,C]: what control networks read instead of context; or NULL
    nino_array **refs;    // reference latents f32 [N,h,w,C] (Kontext); n_refs of them
    int n_refs;
    nino_ref_method ref_method;  // as the entry asks; DEFAULT: it does not
    nino_cond_picture *pictures; // n_pictures of them
    int n_pictures;
} nino_cond_entry;

typedef struct nino_cond {
    int refs;
    int n;
    nino_cond_entry *entry;
} nino_cond;

// n zeroed entries with strength 1, mask_strength 1, end 1. NULL: no memory.
nino_cond *nino_cond_create(int n);
nino_cond *nino_cond_copy(const nino_cond *c); // unshared list; arrays are shared
nino_cond *nino_cond_join(const nino_cond *a, const nino_cond *b); // entries of a, then of b
nino_cond *nino_cond_ref(nino_cond *c);                            // NULL-safe
void nino_cond_unref(nino_cond **c);                               // NULL-safe
uint64_t nino_cond_bytes(const nino_cond *c);
// Takes a reference to p's embeddings. False: no memory.
bool nino_cond_add_picture(nino_cond_entry *e, const nino_cond_picture *p);
// Takes a reference to a reference latent, the last one. False: no memory.
bool nino_cond_add_ref(nino_cond_entry *e, nino_array *latent);
// Replaces *slot by a new reference to a (NULL clears it).
void nino_cond_set_array(nino_array **slot, nino_array *a);
