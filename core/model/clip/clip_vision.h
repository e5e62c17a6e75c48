// Internal: CLIP's vision networks (ViT-L, ViT-H, ViT-G, SigLIP): from a picture to hidden states
// and an embedding. Sizes come from tensor shapes. Thread-safety: immutable after loading; used by
// one stream at a time.
#pragma once
#include "core/file/weights.h"
#include "core/model/layers.h"
#include "core/op/stream.h"

typedef struct nino_clip_vision {
    int refs;
    char name[128];   // for messages
    char detail[128]; // for people: "ViT-H/14, 224 px, 32 layers, width 1280"
    int width, n_layers, heads;
    int patch, side;       // pixels of a patch; patches along the picture's side
    int embed_width;       // of the embedding
    bool is_siglip;        // no class token; every token is normed at the end
    float mean[3], dev[3]; // of the training pictures' colours
    nino_weights *file;    // owned reference
    const nino_tensor_info *class_token, *positions; // in it; class_token NULL: none
    uint64_t weight_bytes;                           // as stored
    nino_layers layers;
    struct vision_net *net; // their structs, in them
} nino_clip_vision;

// What CLIP_VISION_OUTPUT links carry. All f32.
typedef struct nino_vision_output {
    nino_array *last;        // [N,T,width] behind the last layer
    nino_array *penultimate; // [N,T,width] behind the one before it
    nino_array *embeds;      // [N,E]; SigLIP: [N,T,width]
} nino_vision_output;

// Looks behind `prefix` ("" or "embedder.model." of unCLIP checkpoints) for Hugging Face's names,
// then for OpenCLIP's. Errors: kind "model", naming file and tensor.
nino_status nino_clip_vision_load(nino_weights *file, const char *prefix, const char *name,
                                  nino_clip_vision **out, nino_error *err);
nino_clip_vision *nino_clip_vision_ref(nino_clip_vision *v); // NULL-safe
void nino_clip_vision_unref(nino_clip_vision **v);           // NULL-safe

// The network's input, as ComfyUI's clip_preprocess(): image [N,H,W,3 or 4] f32 0..1 -> *out
// [N,patches,3*patch*patch], every row a patch in the order c,y,x. crop: the shorter side is scaled
// and the middle cut out; else the picture is stretched.
nino_status nino_clip_vision_pixels(const nino_clip_vision *v, const nino_array *image, bool crop,
                                    nino_array **out, nino_error *err);
// On a plan stream the result is zeros of the right shapes.
nino_status nino_clip_vision_encode(nino_stream *s, const nino_clip_vision *v,
                                    const nino_array *image, bool crop, nino_vision_output *out,
                                    nino_error *err);
void nino_vision_out_release(nino_vision_output *o); // to zero
