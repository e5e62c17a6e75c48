// Internal: what all diffusion networks are to those who use them: one evaluation of any of them.
// Thread-safety: immutable after loading; used by one stream at a time.
#pragma once
#include "core/model/kept.h"
#include "core/model/latent_format.h"
#include "core/model/layers.h"
#include "core/model/residuals.h"
#include "core/model/cond/cond.h"
#include "core/model/cond/model_sampling.h"
#include "core/model/patch.h"
#include "core/op/stream.h"

typedef enum nino_diffusion_kind {
    NINO_DIFFUSION_UNET,   // SD1, SD2, SDXL: core/model/unet/unet.c
    NINO_DIFFUSION_FLUX,   // FLUX.1 and FLUX.2: core/model/flux/flux.c
    NINO_DIFFUSION_WAN,    // Wan 2.1 and 2.2, video: core/model/wan/wan.c
    NINO_DIFFUSION_ZIMAGE, // Z-Image: core/model/zimage/zimage.c
    NINO_DIFFUSION_QWEN,   // Qwen-Image and its editing models: core/model/qwen_image/qwen_image.c
    NINO_DIFFUSION_SD3,    // Stable Diffusion 3 and 3.5: core/model/sd3/sd3.c
} nino_diffusion_kind;

// Blocks of a transformer that an evaluation leaves out: bit i is number i.
typedef struct nino_skip {
    uint64_t doubles; // of those which keep text and image apart; where all are alike, of them
    uint64_t singles; // of those behind them, which run on both as one
} nino_skip;
static inline bool nino_skips(uint64_t set, int i) { return i < 64 && set >> i & 1; }

// One evaluation of the network. The forward function consumes the tensors.
typedef struct nino_forward {
    nino_tensor *x;        // [B,(t,)h,w,C]: the model input (already scaled)
    const float *timestep; // B values, as nino_sampling_timestep() gives them
    int64_t frames; // > 0: the latent frames t of a video; timestep has a value for each, [B,t]
    nino_tensor *context; // [B,T,Cc]
    nino_tensor
        *context_mask;     // f32 [B,T]: 1 where a token is looked at, 0 where not; NULL: all are
    nino_tensor *y;        // [B,Cy] or NULL
    nino_tensor *concat;   // [B,(t,)h,w,Ce]: appended to x's channels (inpaint, edit), or NULL
    nino_tensor *vision;   // [B,Tv,Cv]: what an image encoder sees in a picture, or NULL
    nino_tensor **control; // [B,t,h,w,Cv]: videos to follow (VACE), n_controls of them
    const float *control_strength;
    int n_controls;
    nino_tensor **refs; // reference latents [B,h',w',C], n_refs of them
    int n_refs;
    nino_ref_method ref_method;
    // What control networks add, consumed; NULL: nothing. Networks without a place for any refuse it.
    nino_residuals *residuals;
    float guidance; // distilled guidance (Flux dev), NaN: left out; ignored by other networks
    nino_skip skip; // transformers other than Z-Image; none: all blocks run
    const nino_pass *pass; // what patches want; NULL: nothing
    // What the evaluations of a run with the same conditioning share: what the network makes of it, put
    // there by the first of them and owned by the caller. NULL: nothing is kept.
    nino_kept *text;
    nino_run_times *times; // of the run; NULL: nothing is kept
} nino_forward;

typedef struct nino_diffusion nino_diffusion;
struct nino_diffusion {
    nino_diffusion_kind kind;
    char family[32]; // "sd15", "sdxl", "flux", "flux_schnell" ...
    char detail[96]; // for people: "FLUX.1 dev, 19 + 38 blocks"
    const nino_latent_format *format;
    int in_channels;         // of x and concat together; format->channels is x's part
    int context_dim;         // Cc
    int context_rows;        // a text with fewer rows gets zeros in front; 0: any length
    int y_dim;               // Cy; 0: takes no y
    int vision_dim;          // Cv; 0: takes no pictures
    int control_dim;         // channels of a video to follow; 0: takes none
    bool has_guidance;       // uses nino_forward.guidance
    double usual_guidance;   // where a conditioning does not say
    bool has_frame_times;    // uses nino_forward.frames; a noise mask says which frames are done
    bool has_context_mask;   // uses nino_forward.context_mask
    bool has_refs;           // uses nino_forward.refs
    bool has_residuals;      // uses nino_forward.residuals
    nino_sampling *sampling; // how it was trained: the default of a MODEL
    uint64_t weight_bytes;   // as stored
    nino_hash identity;      // of the file it came from
    char name[128];          // for messages: the node's file name
    // -> [B,(t,)h,w,format->channels], the raw network output (eps, v or flow). Any h, w.
    nino_tensor *(*forward)(nino_stream *s, const nino_diffusion *d, nino_forward *f);
    void (*destroy)(nino_diffusion *d); // of what is no layer; may be NULL
    nino_layers layers;
    void *net; // their structs, in them
    int refs;
    bool wants_bf16;               // its values exceed the range of f16, which AUTO then avoids
    bool is_scaled;                // its weights are 8-bit floats with a scale each
    nino_dtype weight_type;        // what the weights were rounded to when read; NINO_F32: nothing
    nino_weights *file;            // owned reference; without LoRAs
    char prefix[32];               // of its names there
    struct nino_lora_stack *loras; // it was loaded with (core/model/merge/lora_apply.h), NULL: none
};

// For forward functions: fails the stream when the inputs do not fit the network, with a line that
// says what to look for.
void nino_forward_check(nino_stream *s, const nino_diffusion *d, const nino_forward *f);
