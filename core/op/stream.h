// Internal: a stream is one job's execution on one backend. Model code is written with the
// functions below.
//
// The error is sticky, as in cairo: after a failure or a cancel every op returns NULL and accepts
// NULL; the caller checks nino_stream_status() once. An op consumes its activation arguments (the
// last use frees them back to the pool); nino_ref(t) keeps one. Weights are never consumed.
//
// Thread-safety: one thread at a time; nino_stream_cancel() from any thread.
#pragma once
#include "core/event/publish.h"
#include "core/op/choice.h"
#include "core/op/gate.h"
#include "core/op/weight.h"

typedef struct nino_backend nino_backend; // core/op/backend.h
typedef struct nino_stream nino_stream;
typedef struct nino_tensor nino_tensor; // activations: channels last, contiguous, rank <= 5

// How numbers are stored between ops; sums are fp32 everywhere. Chosen per stream (per node), never
// globally.
typedef enum nino_precision {
    NINO_PREC_AUTO, // from the device profile
    NINO_PREC_F32,
    NINO_PREC_F16,
    NINO_PREC_BF16,
    NINO_PREC_MIXED,     // core/op/mixed.h, with the 16 bits of the device profile
    NINO_PREC_MIXED_BF16 // the same with bf16
} nino_precision;

// The other devices of the process, which a job may take for a while to share work with its own.
enum { NINO_LEND_MAX = 15 };

typedef struct nino_lend {
    int n; // numbers below; 0: there are none
    // Waits until nobody uses device i, and makes it the calling thread's. NULL: it is not to be had, or
    // *give_up was set.
    nino_backend *(*take)(void *priv, int i, const volatile int *give_up);
    // has_failed: nobody gets it any more.
    void (*give_back)(void *priv, int i, bool has_failed);
    const char *(*name)(void *priv, int i); // for people and events
    void *priv;
} nino_lend;

typedef struct nino_stream_params {
    nino_backend *backend;
    nino_monitor *monitor;      // may be NULL
    const volatile int *cancel; // may be NULL; non-zero ends the stream with NINO_ERR_CANCELLED
    nino_precision precision;
    bool keeps_scores; // as nino_stream_keep_scores()
    // Called on the stream's thread when a scope ends, with the backend's FLOPs so far; may be
    // NULL.
    void (*progress)(void *priv, double flops);
    void *progress_priv;
    nino_gate *gate;          // passed before every op; may be NULL
    const nino_lend *lend;    // other devices, with which work may be shared; may be NULL
    struct nino_needs *needs; // of a plan: core/tile/needs.h; may be NULL
    int queue; // of the job's devices this is number ...: 0 its own, whose kernels are on the first track
} nino_stream_params;

nino_stream *nino_stream_create(const nino_stream_params *p, nino_error *err);
// Waits for the device, frees what is left. NULL-safe.
void nino_stream_destroy(nino_stream **s);
nino_status nino_stream_status(const nino_stream *s,
                               nino_error *err); // first error, copied to *err
// Marks the stream failed (first one wins). Returns NULL so that models can write: return
// nino_stream_fail(...).
__attribute__((format(printf, 4, 5))) void *
nino_stream_fail(nino_stream *s, nino_status st, const char *where, const char *fmt, ...);
// Forgets the error and frees nothing: only for retry ladders that have dropped all their tensors.
void nino_stream_clear_error(nino_stream *s);
// The same after a look at the cancel flag: for who waits for something else than the device.
nino_status nino_stream_check(nino_stream *s, nino_error *err);
nino_status nino_stream_finish(nino_stream *s, nino_error *err); // waits until everything has run
nino_dtype nino_stream_act_type(const nino_stream *s); // storage type of activations; mixed: f32
const char *
nino_stream_storage(const nino_stream *s); // "f32", "f16", "bf16" or "mixed", for people
nino_precision nino_stream_precision(const nino_stream *s);       // never AUTO
nino_precision nino_stream_asked_precision(const nino_stream *s); // as it was set: may be AUTO
void nino_stream_set_precision(nino_stream *s,
                               nino_precision p); // affects tensors made from now on
// Attentions from now on put their scores into memory (keeps_scores of core/op/op.h); the value before.
bool nino_stream_keep_scores(nino_stream *s, bool is_kept);
// From now on what has `items` in its outermost dimension is a part of a batch of `whole`: kernels are
// chosen as for the whole, so that each item has the bits that it has there. 0: nothing is a part.
// whole 1: each item has the bits that it has alone, but where items have so few rows that alone they
// take kernels for at most NINO_FEW_ROWS.
void nino_stream_set_part(nino_stream *s, int64_t items, int64_t whole);
bool nino_stream_keeps_scores(const nino_stream *s);
nino_backend *nino_stream_backend(nino_stream *s);
nino_monitor *nino_stream_monitor(nino_stream *s);          // NULL: none, or it is quiet
const nino_lend *nino_stream_lend(const nino_stream *s);    // NULL: there are no other devices
struct nino_needs *nino_stream_needs(const nino_stream *s); // NULL: nothing is kept
// A stream for device `number` of the same job, on a thread of its own: computes as s does. cancel: its own.
nino_stream *nino_stream_beside(const nino_stream *s, nino_backend *be, int number,
                                const volatile int *cancel, nino_error *err);
uint32_t nino_stream_device(nino_stream *s); // its device, as a name of the monitor
// Stages, tiles, seams and steps from now on are a measurement of a node, not the run's: they are
// not published. Kernels and memory still are. Between scopes only.
void nino_stream_set_quiet(nino_stream *s, bool is_quiet);
// A node begins, for which this was chosen (copied; NULL: nothing). What ops take from now on is its own.
void nino_stream_set_choice(nino_stream *s, const nino_choice *c);
const nino_choice *nino_stream_choice(const nino_stream *s);       // never NULL
nino_taken *nino_stream_taken(nino_stream *s);                     // for the ops to fill in
const volatile int *nino_stream_cancel_flag(const nino_stream *s); // may be NULL
bool nino_stream_is_plan(const nino_stream *s); // no arithmetic happens; downloads give zeros

// Scopes for the monitor and for plan's per-scope sums. Must nest.
void nino_scope_begin(nino_stream *s, nino_event_kind kind, const char *name, uint32_t arg0,
                      uint32_t arg1);
void nino_scope_end(nino_stream *s);
void nino_scope_end_with(nino_stream *s, nino_status st); // how it went, for the monitor
// So many FLOPs are not needed: what they give was kept by an earlier run. For progress.
void nino_stream_spare(nino_stream *s, double flops);

// ---- tensors ---------------------------------------------------------------------------------
nino_tensor *nino_ref(nino_tensor *t);                 // NULL-safe
void nino_unref(nino_tensor *t);                       // NULL-safe
const nino_shape *nino_shape_of(const nino_tensor *t); // rank 0 shape for NULL
int64_t nino_dim(const nino_tensor *t, int i);         // 0 for NULL; negative i counts from the end
nino_dtype nino_dtype_of(const nino_tensor *t);

// Copies host data to the device; type is the storage type there (usually nino_stream_act_type()).
nino_tensor *nino_upload(nino_stream *s, const nino_array *a, nino_dtype type);
// The same from pieces that follow each other, of a map that waits on the host. A plan looks at no data.
typedef struct nino_host_piece {
    const void *data;
    size_t bytes;
} nino_host_piece;
nino_tensor *nino_upload_pieces(nino_stream *s, nino_shape shape, nino_dtype type,
                                const nino_host_piece *piece, int n);
// Waits for t and copies it to the host as `type` (f32, or u8 for u8 tensors). Consumes t. NULL on
// error.
nino_array *nino_download(nino_stream *s, nino_tensor *t, nino_dtype type);
// Device tensor filled with zeros.
nino_tensor *nino_zeros(nino_stream *s, nino_shape shape, nino_dtype type);
// Same data, other shape (equal element count). Consumes t.
nino_tensor *nino_reshape(nino_stream *s, nino_tensor *t, nino_shape shape);

// ---- ops (shapes: [..,C] any rank unless said) ----------------------------------------------
// y[..,n] = act(sum_c x[..,c] w[n,c] + b[n])
nino_tensor *nino_linear_op(nino_stream *s, nino_tensor *x, const nino_linear *l);
// the same plus residual before the activation
nino_tensor *nino_linear_add(nino_stream *s, nino_tensor *x, const nino_linear *l,
                             nino_tensor *residual);
// y as heads side by side, n->groups of them: nino_rms_norm() by n, then nino_rope() by table f32 [T,D], which may
// be NULL. In one launch where the schedule can, then rounded once.
nino_tensor *nino_linear_heads(nino_stream *s, nino_tensor *x, const nino_linear *l,
                               const nino_norm *n, nino_tensor *table);
// x [N,H,W,C] -> [N,H',W',N']; 1x1 or 3x3, stride 1 or 2, optional nearest 2x before it
nino_tensor *nino_conv2d(nino_stream *s, nino_tensor *x, const nino_conv *c);
nino_tensor *nino_conv2d_add(nino_stream *s, nino_tensor *x, const nino_conv *c,
                             nino_tensor *residual);
// x [T,H,W,C], frames of one clip -> [T',H,W,N]; 3x3x3 or 3x1x1, causal: see CONV3D in op.h.
// history: up to two frames before x, consumed, or NULL; pad_t: frames of zeros before those;
// residual may be NULL.
nino_tensor *nino_conv3d(nino_stream *s, nino_tensor *x, const nino_conv *c, nino_tensor *history,
                         int pad_t, int stride_t, nino_tensor *residual);
// x [N,..,C]: statistics over all positions and C/groups channels of each batch item; then act
nino_tensor *nino_group_norm(nino_stream *s, nino_tensor *x, const nino_norm *n, nino_act act);
// x's statistics, f32 [N,groups,3]: see GROUP_STAT in op.h. Consumes x.
nino_tensor *nino_group_stat(nino_stream *s, nino_tensor *x, int groups);
// With the statistics of what x [N,..,C] is a part of.
nino_tensor *nino_group_norm_given(nino_stream *s, nino_tensor *x, const nino_norm *n,
                                   nino_tensor *stat, nino_act act);
static inline nino_tensor *nino_group_norm_silu(nino_stream *s, nino_tensor *x, const nino_norm *n)
{
    return nino_group_norm(s, x, n, NINO_ACT_SILU);
}
// Over the last axis; gamma and beta may be NULL, groups is not used.
nino_tensor *nino_layer_norm(nino_stream *s, nino_tensor *x, const nino_norm *n);
// LN(x) * (1 + scale) + shift; scale and shift [N or 1, C] (or any shape nino_op_broadcast() takes)
nino_tensor *nino_layer_norm_mod(nino_stream *s, nino_tensor *x, const nino_norm *n,
                                 nino_tensor *scale, nino_tensor *shift);
// x / sqrt(mean(x^2) + eps) * gamma over each of n->groups equal parts of the last axis (0: one
// part); gamma is as long as a part and may be NULL. groups = heads: q and k norms of a head.
nino_tensor *nino_rms_norm(nino_stream *s, nino_tensor *x, const nino_norm *n);
nino_tensor *nino_rms_norm_act(nino_stream *s, nino_tensor *x, const nino_norm *n, nino_act act);
nino_tensor *nino_softmax(nino_stream *s, nino_tensor *x, float scale); // over the last axis
// q [N,Tq,heads*D], k and v [N,Tk,heads*D] -> [N,Tq,heads*D]; scale 0: 1/sqrt(D)
nino_tensor *nino_attention(nino_stream *s, nino_tensor *q, nino_tensor *k, nino_tensor *v,
                            int heads, float scale);
// The same with a bias f32 [N or 1, heads or 1, Tq or 1, Tk] added to the logits. -infinity and
// -FLT_MAX hide a key; a query that sees no key gets 0. bias NULL: nino_attention().
nino_tensor *nino_attention_bias(nino_stream *s, nino_tensor *q, nino_tensor *k, nino_tensor *v,
                                 int heads, float scale, nino_tensor *bias);
// The same, where a query sees the keys up to its own place, counted from the last: those it is made for have
// as many queries as keys, or the last of them. scale 0; k and v may have fewer heads in all three.
nino_tensor *nino_attention_causal(nino_stream *s, nino_tensor *q, nino_tensor *k, nino_tensor *v,
                                   int heads, nino_tensor *bias);
// x [N,T,heads*D]; table f32 [T,D]: cos and sin of pair i at 2i and 2i+1. Channels 2i and 2i+1 of
// each head are turned: (a,b) -> (a cos - b sin, a sin + b cos).
nino_tensor *nino_rope(nino_stream *s, nino_tensor *x, nino_tensor *table, int heads);
nino_tensor *nino_act_op(nino_stream *s, nino_tensor *x, nino_act act);
// x where it is positive, else x * slope[c]; slope: a vector of a value a channel
nino_tensor *nino_prelu(nino_stream *s, nino_tensor *x, const nino_weight *slope);
// b: a's shape, [1,..,C] (positions' own, all batch items alike) or [N or 1, C] (all positions)
nino_tensor *nino_add(nino_stream *s, nino_tensor *a, nino_tensor *b);
nino_tensor *nino_mul(nino_stream *s, nino_tensor *a, nino_tensor *b, nino_act act); // act(a) * b
// [..,2C] -> [..,C]: x[..,:C] * act(x[..,C:])
nino_tensor *nino_glu(nino_stream *s, nino_tensor *x, nino_act act);
// residual + x * gate; gate is broadcast as nino_add()'s b
nino_tensor *nino_gate_add(nino_stream *s, nino_tensor *residual, nino_tensor *x,
                           nino_tensor *gate);
nino_tensor *nino_scale(nino_stream *s, nino_tensor *x, float scale,
                        float shift); // scale*x + shift
nino_tensor *nino_concat(nino_stream *s, nino_tensor *a, nino_tensor *b, int axis);
nino_tensor *nino_slice(nino_stream *s, nino_tensor *x, int axis, int64_t start, int64_t len);
// x as it is, but keeping no more memory than its own: what was sliced off something is copied.
nino_tensor *nino_own(nino_stream *s, nino_tensor *x);
nino_tensor *nino_permute(nino_stream *s, nino_tensor *x, const int *perm);
// Channels of [T,H,W,C] become time and space (is_up) or the other way round: see SHUFFLE in op.h.
nino_tensor *nino_shuffle(nino_stream *s, nino_tensor *x, bool is_up, int fold_t, int fold_s,
                          int start, int64_t channels, nino_tensor *residual);
nino_tensor *nino_cast(nino_stream *s, nino_tensor *x, nino_dtype type);
nino_tensor *nino_resample(nino_stream *s, nino_tensor *x, int64_t h, int64_t w,
                           nino_filter f); // [N,H,W,C]
// canvas [H,W,C+1] f32 += tile [1,h,w,C] * mask (see nino_op_attr); consumes tile, returns canvas.
nino_tensor *nino_blend(nino_stream *s, nino_tensor *canvas, nino_tensor *tile, int x0, int y0,
                        int feather_x, int feather_y, int sides);
nino_tensor *nino_blend_div(nino_stream *s, nino_tensor *canvas); // -> [1,H,W,C] f32
nino_tensor *nino_to_rgb8(nino_stream *s,
                          nino_tensor *x); // [N,H,W,>=3] -> u8 [N,H,W,3], clip(255x) truncated
// Counts values that are not finite: fails the stream (NINO_ERR_RANGE, kind "nan", where = what) if
// there are any. Waits for the device. Does not consume x.
nino_status nino_check_finite(nino_stream *s, nino_tensor *x, const char *what, nino_error *err);
