// Internal: guiders and the sampling of one latent: noise, conditioning, classifier-free guidance,
// masks; the network runs on a stream, the sampler's arithmetic on the host
// (core/sample/solver/sampler.h). Semantics: ComfyUI samplers.py (calc_cond_batch, CFGGuider,
// KSAMPLER) and sample.py. Thread-safety: values are immutable; sampling uses one stream on one
// thread.
#pragma once
#include "core/model/diffusion/diffusion.h"
#include "core/model/vae/vae.h"
#include "core/model/cond/cond.h"
#include "core/sample/guide/resume.h"
#include "core/sample/noise/rng.h"
#include "core/sample/solver/sampler.h"

typedef enum nino_guider_kind {
    NINO_GUIDE_BASIC, // positive only
    NINO_GUIDE_CFG,   // negative + cfg (positive - negative)
    NINO_GUIDE_DUAL_CFG,
    NINO_GUIDE_DUAL_MODEL, // as CFG, the negative side from model2
    NINO_GUIDE_PERP_NEG    // CFG without what the negative side shares; middle is the empty prompt
} nino_guider_kind;

typedef struct nino_guider { // what travels on GUIDER links
    int refs;
    nino_guider_kind kind;
    nino_model *model, *model2;              // model2: DUAL_MODEL
    nino_cond *positive, *middle, *negative; // middle: DUAL_CFG's second prompt
    double cfg, cfg2;                        // cfg2 of PERP_NEG: strength of the negative side
    bool is_nested;                          // DUAL_CFG's "nested" style
    bool is_patched; // PERP_NEG of a model's patch: at a guidance of 1 the negative side is 0
} nino_guider;
nino_guider *nino_guider_ref(nino_guider *g); // NULL-safe
void nino_guider_unref(nino_guider **g);      // NULL-safe

// TONEMAP and SHARPEN: an operation on x [batch,channels,axis...].
nino_status nino_latent_operate(const nino_patch *p, float *x, int64_t batch, int64_t channels,
                                const int64_t *axis, int n_axes, nino_error *err);

// Whether item k of a sampled batch depends on nothing but item k of the latent and its noise: no
// conditioning is of several items, no patch, sampler or guider looks at all of them.
bool nino_guide_is_apart(const nino_guider *g, nino_sampler_id sampler);

typedef struct nino_noise { // what travels on NOISE links
    bool is_disabled;       // the start has no noise
    uint64_t seed;          // also of what samplers add on their way
} nino_noise;

typedef struct nino_sample_step { // for progress and previews; valid during the call
    int step, total;              // step of total is finished (1-based)
    double sigma, seconds;        // seconds: of this step, without loading weights
    double eta_s;                 // until the last step is done; NaN: not known yet
    const float *denoised;        // model latent, channels first, of `shape`
    nino_shape shape;             // [N,C,h,w] or [N,C,t,h,w]
} nino_sample_step;

// Pixels [N,H,W,3] to the node latent of a VAE, as the run's memory allows.
typedef struct nino_guide_encode {
    nino_status (*fn)(void *priv, const nino_vae *vae, const nino_array *pixels, nino_array **out,
                      nino_error *err);
    void *priv;
} nino_guide_encode;

typedef struct nino_sample_params {
    const nino_guider *guider;
    nino_noise noise;
    const nino_sampler *sampler;
    const float *sigmas;
    int n_sigmas;
    const nino_array *samples; // f32 node latent, channels last: [N,h,w,C] or [N,t,h,w,C]
    int samples_factor; // pixels a cell they were made for where they are empty; 0: as the model's
    const nino_array *noise_mask;    // f32 [N,H,W] (1: may change), scaled to the latent; or NULL
    const int64_t *batch_index;      // N entries or NULL
    nino_batch_part part;            // that the samples are of a batch
    nino_precision precision;        // AUTO: the model's, else the stream's
    bool keeps_scores;               // as nino_stream_keep_scores()
    bool one_by_one;                 // never more than one conditioning entry in a forward
    const nino_resume_place *keep;   // where answers of the network are kept; NULL: nowhere
    int *n_kept;                     // may be NULL, see below
    const nino_guide_encode *encode; // for control networks whose hint is a latent; may be NULL
    const nino_log *log;             // may be NULL
    void (*on_step)(void *priv, const nino_sample_step *step); // may be NULL
    void *priv;
} nino_sample_params;

// -> *out: the finished node latent; *denoised (may be NULL): the last x0, also as node latent.
// Cancelled by the stream's flag (NINO_ERR_CANCELLED), within one batch of kernels. What was kept
// goes when the sampling is done or fails for a reason of its own; after a cancel and when the
// device or its memory was the reason it stays, and *n_kept is the number of steps in it (else 0).
// Steps taken from there are told of once, in a message, not by on_step.
// An all-zero latent of another channel count or samples_factor is taken as "empty" and gets the
// model's channels and cells.
nino_status nino_sample_latent(nino_stream *s, const nino_sample_params *p, nino_array **out,
                               nino_array **denoised, nino_error *err);
