// Internal: what travels along links: reference-counted values.
#pragma once
#include "core/media/sound.h"
#include "core/model/block_control/block_control.h"
#include "core/model/clip/clip.h"
#include "core/model/clip/clip_vision.h"
#include "core/model/clip/style_model.h"
#include "core/model/ip_adapter/ip_adapter.h"
#include "core/model/control/control.h"
#include "core/model/upscale/upscale.h"
#include "core/model/vae/vae.h"
#include "core/sample/guide/guide.h"
#include <ninodes/node.h>

typedef struct nino_latent {
    nino_array *samples;    // f32 [N,h,w,C] or [N,t,h,w,C]
    nino_array *noise_mask; // f32 [N,H,W] or NULL
    int64_t *batch_index;   // N entries or NULL
    int factor;             // pixels a cell that empty samples were made for; 0: not known
    nino_batch_part part;   // of a shared batch, so that it gets the noise that it has in the whole
} nino_latent;

// A model or text encoder of a checkpoint: known, typed, not runnable in this version.
typedef struct nino_unloaded {
    nino_weights *file;
    char family[32];
    char why[320]; // what was wrong with it; "": nothing, it is of a kind that cannot be run
} nino_unloaded;

typedef struct nino_control_value { // of CONTROL_NET links
    nino_control_net *net;
    int type; // of a union network: index of nino_control_types less 1; negative: not said
} nino_control_value;

typedef struct nino_video_value {
    nino_array *frames; // f32 [N,H,W,3 or 4], 0..1
    double fps;
    nino_sound sound; // its wave may be NULL
} nino_video_value;

typedef struct nino_ip_value { // IPADAPTER links
    nino_ip_adapter *adapter;
    nino_clip_vision *vision; // that belongs to it; NULL: not chosen yet
} nino_ip_value;

typedef struct nino_value {
    nino_port_type type;
    int refs; // atomic
    struct {
        union {
            nino_latent latent;
            nino_array *image; // f32 [N,H,W,3 or 4], 0..1
            nino_array *mask;  // f32 [N,H,W]
            nino_model *model;
            nino_clip *clip;
            nino_vae *vae;
            nino_cond *cond;
            nino_noise noise;
            nino_sampler sampler;
            nino_sigmas sigmas; // v is malloc'd
            nino_guider *guider;
            nino_clip_vision *clip_vision;
            nino_vision_output vision; // CLIP_VISION_OUTPUT
            nino_style *style;
            nino_upscale *upscale;
            nino_control_value control;
            nino_video_value video;
            nino_sound audio; // wave NULL: a track that is not there; nodes hand it on
            nino_ip_value ip;
            nino_block_net *patch; // MODEL_PATCH
            nino_patch operation;  // LATENT_OPERATION: TONEMAP or SHARPEN
            char *string;          // STRING; BOUNDING_BOX, DICT, ARRAY: JSON
            int64_t i;
            double f;
            bool b;
        };
        nino_unloaded unloaded; // MODEL, CLIP of a checkpoint, when model, clip are NULL
    } u;
    // A list of values of this type (ComfyUI's OUTPUT_IS_LIST); then u is not used. Nodes that do
    // not say that they take lists never see one: the executor runs them once for every item.
    bool is_list;
    struct nino_value **item; // entries may be NULL: an output that was left empty
    int n_items;              // also of a bundle, whose items have types of their own
} nino_value;

nino_value *nino_value_create(nino_port_type type); // zeroed, refs 1
nino_value *nino_value_ref(nino_value *v);
void nino_value_unref(nino_value **v);
nino_value *nino_value_create_list(nino_port_type type); // empty
// Several values under one name (a "context", a "pipe"): n items, all NULL.
nino_value *nino_value_create_bundle(nino_port_type type, int n);
bool nino_value_is_bundle(nino_port_type type);
// Takes v, a list's items one by one. False: out of memory.
bool nino_value_append(nino_value *list, nino_value *v);
int nino_value_count(const nino_value *v); // items; 1: not a list; NULL: 0
// Item i, or the last one where there are fewer; v itself when it is no list. Borrowed; NULL: none.
nino_value *nino_value_at(nino_value *v, int i);
// Do both hold the same network (MODEL, CLIP, VAE ..., or a copy that shares it)?
bool nino_value_shares(const nino_value *a, const nino_value *b);
// Can it hold a network, and with it weights on a device? A list of such values can.
bool nino_value_is_network(const nino_value *v);
uint64_t nino_value_bytes(const nino_value *v); // host memory it keeps alive
