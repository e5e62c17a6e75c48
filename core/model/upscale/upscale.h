// Internal: networks that enlarge pictures (or, at 1x, restore them): ESRGAN and its kin, and the
// compact ones. Thread-safety: immutable after loading; used by one stream at a time.
#pragma once
#include "core/model/layers.h"
#include "core/op/stream.h"

typedef struct nino_upscale nino_upscale;
struct nino_upscale {
    int refs;
    char family[32];       // "esrgan", "compact"
    char detail[96];       // for people: "ESRGAN, 23 blocks of 64 channels, 4x"
    char name[128];        // for messages: the node's model_name
    int scale;             // 1 ... 16
    int least;             // pixels that a side needs
    int multiple;          // of which a side must be one
    uint64_t weight_bytes; // as stored
    nino_hash identity;
    // x [N,h,w,3] in 0..1, sides as above -> [N,h*scale,w*scale,3], meant for 0..1, not clamped.
    nino_tensor *(*run)(nino_stream *s, const nino_upscale *u, nino_tensor *x);
    nino_layers layers;
    void *net; // its struct, in them
};

// Detects the network and the dialect of its names. Errors: kind "model", naming file and tensor;
// NINO_ERR_UNSUPPORTED with the network's name for those that are known but cannot be run.
nino_status nino_upscale_load(nino_weights *file, const char *name, nino_upscale **out,
                              nino_error *err);
nino_upscale *nino_upscale_ref(nino_upscale *u); // NULL-safe
void nino_upscale_unref(nino_upscale **u);       // NULL-safe

// A side of n pixels with what the network needs at its end ...
int64_t nino_upscale_padded(const nino_upscale *u, int64_t n);
// ... and the pixel that is read at its position i: the picture is mirrored at its last one, as far
// as it goes, then its first one repeated (chaiNNer-org/spandrel).
int64_t nino_upscale_source(int64_t n, int64_t i);

// ---- for upscale.c: the networks -------------------------------------------------------------
// Fill what is theirs of u. prefix: before all names.
nino_status nino_upscale_esrgan_load(nino_weights *file, const char *prefix, nino_upscale *u,
                                     nino_error *err);
nino_status nino_upscale_compact_load(nino_weights *file, const char *prefix, nino_upscale *u,
                                      nino_error *err);
