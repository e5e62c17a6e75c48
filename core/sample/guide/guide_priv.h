// Internal to core/sample/guide: one sampling run: conditioning as the network is given it
// (cond_use.c, cond_model.c), on the device (feed.c), evaluated (batch.c), guided (denoise.c);
// sample.c runs it.
#pragma once
#include "core/model/control/control.h"
#include "core/op/plan/plan.h"
#include "core/sample/guide/guide.h"

#define NINO_MAX_AXES 3 // (frames,) rows, columns

// What the network is told by one entry; host arrays. guidance is NaN where there is none.
typedef struct nino_cond_model {
    nino_array *context;                     // f32 [n,T,C]
    nino_array *context_mask;                // f32 [1,T] or NULL
    nino_array *y;                           // f32 [1,Cy] or NULL
    nino_array *concat;                      // f32 [B,(t,)h,w,Ce] or NULL
    nino_array *vision;                      // f32 [1,Tv,Cv] or NULL
    nino_array *control_context;             // f32 [1,T,C], for control networks; NULL: context
    nino_array *control[NINO_COND_CONTROLS]; // f32 [1,t,h,w,Cc]
    float control_strength[NINO_COND_CONTROLS];
    int n_controls;
    nino_array **refs; // f32 [n,h',w',C], model latents
    int n_refs;
    nino_ref_method ref_method;
    float guidance;
} nino_cond_model;

// An entry in one run: where and when it applies, in cells of this latent.
typedef struct nino_cond_use {
    const nino_cond_entry *entry;
    const nino_cond_model *model;
    const nino_control_use *control; // or NULL
    bool is_negative;                // of the negative list
    double first, last;              // applies while last <= sigma <= first
    bool has_area;
    int64_t size[NINO_MAX_AXES], at[NINO_MAX_AXES];
    nino_array *mask; // f32 [n,h,w] at the latent's size, or NULL
    nino_array *mult; // f32 [n,size...]: the entry's weight, n is 1 or goes round over the batch
} nino_cond_use;

typedef struct nino_cond_list {
    nino_cond_use *use;
    int n, cap;
} nino_cond_list;

enum { NINO_COND_POSITIVE, NINO_COND_MIDDLE, NINO_COND_NEGATIVE, NINO_COND_KINDS };

typedef struct nino_guide_piece {
    const nino_cond_use *use;
    int kind; // which list it belongs to
} nino_guide_piece;

// What makes an evaluation differ in what it costs.
typedef struct nino_guide_way {
    uint32_t active; // patches of the network
    bool is_perturbed, has_map;
    nino_skip skip;
} nino_guide_way;

typedef struct nino_guide_walk { // under plan: how often a way was walked
    nino_guide_way way;
    int n, even;         // even: of these the last ones brought as many weights in as each other
    nino_plan_mark cost; // of the last one
} nino_guide_walk;

// Entries of one batch as the network takes them; stays on the device for the whole run.
typedef struct nino_guide_feed nino_guide_feed;
struct nino_guide_feed {
    nino_guide_feed *next;
    int n;
    const nino_cond_use **use;
    nino_tensor *context, *context_mask, *y, *concat, *vision, **refs;
    nino_kept text; // what the network made of the context
    nino_tensor *control[NINO_COND_CONTROLS];
    nino_tensor *control_context;
    nino_control_hint *hints; // of the control networks, the first of a chain first
    int n_refs;
    nino_guide_walk *walk;
    int n_walks;
};
typedef struct nino_guide_control nino_guide_control; // control.c: control networks of a run
typedef struct nino_guide_hint nino_guide_hint;       // block_hint.c: pictures of patches
typedef struct nino_guide_fit nino_guide_fit;         // batch.c: batches whose memory need is known

typedef struct nino_guide_run nino_guide_run;
struct nino_guide_run {
    nino_stream *s;
    const nino_guider *guider;
    const nino_diffusion *net;
    const nino_sampling *sampling;
    int64_t whole; // items of the batch that this one is a part of; 0: it is none
    int64_t batch, channels, axis[NINO_MAX_AXES], cells; // of the model latent; cells a channel
    int n_axes;
    size_t count; // elements of the model latent
    // What inpaint models and conditioning see of the latent; channels last.
    const nino_array *latent; // model latent [B,(t,)h,w,C]
    const nino_array *mask;   // noise mask [B or 1,h,w] or [B,t,h,w], or NULL
    nino_cond_model *models;
    int n_models;
    nino_cond_list list[NINO_COND_KINDS];
    bool has[NINO_COND_KINDS]; // false: no such list (not the same as an empty one)
    nino_guide_feed *feeds;
    nino_guide_control *controls;
    nino_guide_hint *hints;
    const nino_guide_encode *encode; // or NULL
    nino_precision asked;            // for what is not the model
    nino_run_times times;            // that the sampler will ask for
    nino_guide_fit *fits;
    int n_fits;
    nino_pass pass;                   // of the next evaluation
    nino_skip skip;                   // the same
    nino_attention_map map;           // that one of this step has seen
    float *spare;                     // of patches that evaluate again
    void *memory[NINO_MODEL_PATCHES]; // what patches keep from step to step
    nino_guide_run *other;            // DUAL_MODEL: of the negative side, else NULL
    uint64_t seed;                    // of the run's noise
    bool one_by_one;                  // never batch entries
    bool is_apart;                    // not in this evaluation: earlier ones were faster so
    float *out[NINO_COND_KINDS], *weight[NINO_COND_KINDS]; // of one evaluation
    uint64_t evaluations, forwards;
    nino_error err; // what is not the stream's error
};

// Shapes of the run from the model latent, channels last [N,h,w,C] or [N,t,h,w,C].
void nino_guide_set_shape(nino_guide_run *r, const nino_shape *latent);
// Reads the guider's conditioning: areas, masks, ranges, and what the network is told.
nino_status nino_guide_conds(nino_guide_run *r, nino_error *err);
void nino_guide_release_conds(nino_guide_run *r);

// cond_model.c: m becomes what entry e tells the network. kind: NINO_COND_*.
nino_status nino_cond_model_make(const nino_guide_run *r, const nino_cond_entry *e, int kind,
                                 nino_cond_model *m, nino_error *err);
void nino_cond_model_release(nino_cond_model *m);
// cond_video.c: the channels a video model gets beside the latent, [B,t,h,w,Ce].
nino_status nino_cond_concat_video(const nino_guide_run *r, const nino_cond_entry *e,
                                   nino_array **out, nino_error *err);
// cond_unclip.c: y of an unCLIP model from the entry's pictures; *y is zeros before, and stays so
// without any.
nino_status nino_cond_unclip(const nino_guide_run *r, const nino_cond_entry *e, nino_array *y,
                             nino_error *err);
// The videos that a model follows, in its units; one of nothing where the entry has none.
nino_status nino_cond_controls(const nino_guide_run *r, const nino_cond_entry *e,
                               nino_cond_model *m, nino_error *err);
// Time steps of n entries of frames that the noise mask keeps in part: t[n B frames].
void nino_guide_frame_times(const nino_guide_run *r, float timestep, int n, float *t);
// Whether each frame has its own time step: their number, or 0.
static inline int64_t nino_guide_frames(const nino_guide_run *r)
{
    return r->net->has_frame_times && r->mask && r->n_axes == 3 ? r->axis[0] : 0;
}

// The guided denoiser: x and denoised are model latents, channels first; uncond (may be NULL)
// becomes the denoised of the negative side, as cfg++ samplers want it. Under plan the network is
// walked, no array is touched.
nino_status nino_guide_denoise(nino_guide_run *r, const float *x, float sigma, float *denoised,
                               float *uncond, nino_error *err);

// One evaluation of the lists that are wanted: their weighted means, to r->out.
nino_status nino_guide_evaluate(nino_guide_run *r, const bool *wanted, const float *x, float sigma,
                                nino_error *err);

// The two sides of one answer.
typedef struct nino_guide_sides {
    const float *cond, *uncond, *x;
    float scale, sigma;
    int cond_kind, uncond_kind;
} nino_guide_sides;
// mix.c
void nino_guide_mix(const nino_guide_run *r, const nino_guide_sides *g, float *out);
void nino_guide_post(const nino_guide_run *r, const nino_patch *p, const nino_guide_sides *g,
                     float *out);
// before.c: what patches do to the two sides, which g->cond and g->uncond are.
nino_status nino_guide_before(nino_guide_run *r, const nino_guide_sides *g, float *cond,
                              float *uncond, bool has_uncond, nino_error *err);
void nino_guide_forget_apg(void *past); // NULL-safe
// again.c: patches that need one more evaluation, which changes `out`.
nino_status nino_guide_again(nino_guide_run *r, const nino_patch *p, const nino_guide_sides *g,
                             float *out, nino_error *err);
bool nino_guide_sees_self(const nino_guide_run *r); // SelfAttentionGuidance is asked for
// reuse.c: EasyCache and LazyCache. What the network (a batch's rows, channels last) or the guided
// denoiser would answer to x is taken from earlier ones; false: it has to be asked. add: what it
// said. The state is r->memory's.
bool nino_guide_reuse_batch(nino_guide_run *r, const nino_guide_piece *p, int n, float sigma,
                            const nino_array *x, nino_array *out);
void nino_guide_keep_batch(nino_guide_run *r, const nino_guide_piece *p, int n, float sigma,
                           const nino_array *x, const nino_array *out);
bool nino_guide_reuse(nino_guide_run *r, const float *x, float sigma, float *out);
void nino_guide_keep(nino_guide_run *r, const float *x, float sigma, const float *out);
void nino_guide_reuse_begin(nino_guide_run *r); // an evaluation
void nino_guide_forget_reuse(void *past);       // NULL-safe
// Whether answers depend on those before them.
bool nino_guide_has_past(const nino_model *m);
void nino_guide_forget(nino_guide_run *r); // what patches keep
// Patch i applies at this noise level.
bool nino_guide_applies(const nino_guide_run *r, int i, float sigma);

// batch.c: moves what shares a forward with p[0] to the front; returns how many run together.
int nino_guide_choose(nino_guide_run *r, nino_guide_piece *p, int n);
// One forward for n pieces; what it gives is added to r->out and r->weight. Failures: r->err, or
// the stream's.
void nino_guide_run_batch(nino_guide_run *r, const nino_guide_piece *p, int n, const float *x,
                          float sigma);
// feed.c. NULL: the stream has failed.
nino_guide_feed *nino_guide_feed_get(nino_guide_run *r, const nino_guide_piece *p, int n);
void nino_guide_release_feeds(nino_guide_run *r);
int64_t nino_guide_lcm(int64_t a, int64_t b);
int64_t nino_guide_tokens(const nino_guide_piece *p, int n); // that their texts are repeated to
// n entries of this size with c channels.
nino_shape nino_guide_tile_shape(const nino_guide_run *r, const nino_cond_use *u, int n, int64_t c);

// control.c: gives negative entries the control that is meant for all, and reads all networks and
// hints; after the entries' sizes are known.
nino_status nino_guide_controls(nino_guide_run *r, nino_error *err);
void nino_guide_release_controls(nino_guide_run *r);
// What n entries like u are given by their chain of control networks, on any stream; *out is an array
// of hints, NULL: no control, or the stream has failed.
nino_control_hint *nino_guide_hints(const nino_guide_run *r, nino_stream *s, const nino_cond_use *u,
                                    int n);
void nino_guide_release_hints(const nino_cond_use *u, nino_control_hint **hints);
// Runs the networks that apply at sigma (under plan: all). in is what the model will get.
void nino_guide_residuals(const nino_guide_run *r, nino_stream *s, const nino_cond_use *u,
                          const nino_control_hint *hints, const nino_forward *in,
                          nino_tensor *context, float sigma, nino_residuals *out);

// block_hint.c: pictures of the MODEL's BLOCK_CONTROL patches at the sizes that entries see; after
// these are known. hint: of each patch at u's size, borrowed; NULL where there is none.
nino_status nino_guide_block_hints(nino_guide_run *r, nino_error *err);
void nino_guide_release_block_hints(nino_guide_run *r);
void nino_guide_block_hints_of(const nino_guide_run *r, const nino_cond_use *u, nino_array **hint);
// control.c, for both: three colours of any picture (NULL: no memory); pixels as a latent [n,h,w,C]
// in the units of `format`, or [n,t,h,w,C] as they come from a VAE for clips; a latent with a mask
// of its size, NULL: ones, as one channel more (NULL: no memory).
nino_array *nino_guide_colours(const nino_array *a);
nino_status nino_guide_encode_hint(nino_guide_run *r, const char *name, const nino_vae *vae,
                                   const nino_latent_format *format, const nino_array *pixels,
                                   nino_array **out, nino_error *err);
nino_array *nino_guide_with_mask(const nino_array *latent, const nino_array *mask, nino_error *err);

// planes.c: masks [n,h,w] become frames of a video, linear in time. NULL: no memory.
nino_array *nino_planes_to_frames(const nino_array *m, int64_t frames, nino_error *err);
// x [N,H,W,C] f32 -> [N,h,w,C] as torch's interpolate. center: cut to the target's aspect ratio
// first. NULL: no memory.
nino_array *nino_planes_scale(const nino_array *x, int64_t h, int64_t w, nino_filter f, bool center,
                              nino_error *err);
// The same, cut, where each place is the first of those that it is made of (torch's "nearest", which is
// not the filter of that name). NULL: no memory.
nino_array *nino_planes_first(const nino_array *x, int64_t h, int64_t w, nino_error *err);
// The first dimension becomes n by picking entries evenly. NULL: no memory.
nino_array *nino_planes_pick(const nino_array *x, int64_t n, nino_error *err);
// cos and sin of v at `dim` / 2 frequencies, as diffusion timesteps are embedded; returns the end.
float *nino_guide_embed(float *to, double v, int dim);
