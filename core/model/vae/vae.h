// Internal: variational autoencoders, whatever their network: one interface for nodes and tiling.
// Thread-safety: immutable after loading; used by one stream at a time.
#pragma once
#include "core/model/layers.h"
#include "core/op/stream.h"

typedef enum nino_vae_kind {
    NINO_VAE_TINY,  // TAESD family, core/model/vae/vae_tiny.c
    NINO_VAE_KL,    // AutoencoderKL, core/model/vae/vae_kl.c
    NINO_VAE_WAN,   // Wan 2.1 and 2.2, core/model/vae/vae_wan.c
    NINO_VAE_TAEHV, // TAEHV family: tiny ones for video, core/model/vae/vae_taehv.c
} nino_vae_kind;

typedef struct nino_vae nino_vae;
typedef struct nino_vae_clip nino_vae_clip;

// How a picture is decoded in bands of rows.
typedef struct nino_vae_bands {
    int64_t rows; // of the picture in a band, at most; layers with smaller maps have larger bands
    bool on_host; // maps between layers wait on the host, not on the device
    void (*put)(void *priv, int64_t first,
                nino_tensor *rows); // pixels [1,n,W,3], consumed; in order
    void *priv;
} nino_vae_bands;

struct nino_vae {
    nino_vae_kind kind;
    char family[32]; // "taesd", "taef1", "sd1", "flux", ...
    char detail[96]; // for people: "AutoencoderKL, 16 channels, 8x"
    int channels;    // of the latent
    int factor;      // pixels per latent cell, both directions
    // Frames of a latent frame; 1: images only. T latent frames are 1 + (T - 1) * time_factor
    // frames.
    int time_factor;
    double scale, shift; // of the diffusion model's latent space: model = (latent - shift) * scale
    int fold;            // 2: squares of 2 x 2 cells are one cell of its latents; 0 or 1: no
    bool takes_unfolded; // also latents as they were before that (nino_latent_fold())
    bool has_encoder, has_decoder;
    uint64_t weight_bytes; // as stored
    nino_hash identity;    // of the files it came from
    char name[128];        // for messages: the node's vae_name or checkpoint
    // z [N,h,w,C] (node latent, act type) -> [N,h*f,w*f,3] with values meant for 0..1, not clamped.
    nino_tensor *(*decode)(nino_stream *s, const nino_vae *v, nino_tensor *z);
    // The same of one image, in less memory: its layers run in bands of rows, with norms over the
    // whole maps, so that the result is decode()'s within rounding. NULL: not known for this network.
    void (*decode_bands)(nino_stream *s, const nino_vae *v, nino_tensor *z,
                         const nino_vae_bands *how);
    // pixels [N,H,W,3] in 0..1 (H, W multiples of factor) -> node latent [N,H/f,W/f,C]: the
    // posterior mean.
    nino_tensor *(*encode)(nino_stream *s, const nino_vae *v, nino_tensor *pixels);
    // Video, causal in time: a piece of a clip, in order. decode: z [T,h,w,C] -> the frames that
    // follow, [F,H,W,3]. encode: 1 + k * time_factor frames first, then k * time_factor; with
    // pads_end k * time_factor, and the clip's last piece may have any number.
    nino_tensor *(*decode_next)(nino_stream *s, nino_vae_clip *c, nino_tensor *z);
    nino_tensor *(*encode_next)(nino_stream *s, nino_vae_clip *c, nino_tensor *pixels);
    // Video, not causal: all frames of a clip at once, z [T,h,w,C] -> [1 + (T-1)
    // time_factor,H,W,3].
    nino_tensor *(*decode_clip)(nino_stream *s, const nino_vae *v, nino_tensor *z);
    bool pads_end;   // encoding: the clip's last frames are completed, not its first
    int time_radius; // latent frames that a frame depends on to either side; negative: not known
    nino_layers layers;
    void *net; // their structs, in them
    int refs;
};

// A clip on its way through a video VAE: what its layers keep of the frames they have seen. Belongs
// to the stream it is used with. What a piece gives does not depend on how the clip is cut, bit by
// bit.
enum { NINO_CLIP_SLOTS = 128 };
struct nino_vae_clip {
    const nino_vae *v;
    bool is_decode, is_first; // is_first: the next piece is the clip's first
    int at;                   // slots that this piece has used
    nino_tensor *slot[NINO_CLIP_SLOTS];
};
void nino_vae_clip_begin(nino_vae_clip *c, const nino_vae *v, bool is_decode);
nino_tensor *nino_vae_clip_next(nino_stream *s, nino_vae_clip *c, nino_tensor *piece);
uint64_t nino_vae_clip_bytes(const nino_vae_clip *c); // device memory of what is kept
void nino_vae_clip_end(nino_vae_clip *c);             // before its stream goes
// decode() and encode() of several images: each has the bits that it has alone, but below NINO_FEW_ROWS cells.
nino_tensor *nino_vae_decode(nino_stream *s, const nino_vae *v, nino_tensor *z);
nino_tensor *nino_vae_encode(nino_stream *s, const nino_vae *v, nino_tensor *pixels);
// decode() and encode() of video VAEs: every image is a clip of one frame.
nino_tensor *nino_vae_decode_each(nino_stream *s, const nino_vae *v, nino_tensor *z);
nino_tensor *nino_vae_encode_each(nino_stream *s, const nino_vae *v, nino_tensor *pixels);
static inline bool nino_vae_is_video(const nino_vae *v) { return v->time_factor > 1; }
static inline int64_t nino_vae_frames(const nino_vae *v, int64_t latent_frames)
{
    return 1 + (latent_frames - 1) * v->time_factor;
}

// From one file (a VAE, or a checkpoint that contains one). Detects the network and names by tensor
// names and shapes. Errors: kind "model", naming file and tensor.
nino_status nino_vae_load(nino_weights *file, const char *name, nino_vae **out, nino_error *err);
// TAESD family from separate encoder/decoder files; either may be NULL. family: "taesd", "taesdxl",
// "taesd3", "taef1", "taef2" (decides scale and shift), or NULL: by channel count.
nino_status nino_vae_tiny_load(nino_weights *encoder, nino_weights *decoder, const char *family,
                               nino_vae **out, nino_error *err);
nino_status nino_vae_kl_load(nino_weights *file, const char *prefix, nino_vae **out,
                             nino_error *err);
nino_status nino_vae_wan_load(nino_weights *file, const char *prefix, nino_vae **out,
                              nino_error *err);
nino_status nino_vae_taehv_load(nino_weights *file, const char *prefix, nino_vae **out,
                                nino_error *err);
nino_vae *nino_vae_ref(nino_vae *v);
void nino_vae_unref(nino_vae **v);

// ---- for the loaders of networks -------------------------------------------------------------
// One of a kind, with `size` zeroed bytes for net; for images, scale 1. NULL: no memory.
nino_vae *nino_vae_create(nino_vae_kind kind, size_t size, const char *where, nino_error *err);
// It is what lies behind `prefix` in this file: name, identity and weight_bytes.
void nino_vae_set_file(nino_vae *v, nino_weights *file, const char *prefix);
// For detail: ", decoder only", ", encoder only" or "".
const char *nino_vae_halves(const nino_vae *v);
