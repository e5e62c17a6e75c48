// Internal to core/op: the stream's fields and the one way an op runs.
#pragma once
#include "core/op/backend.h"

#define NINO_MAX_SCOPES 64

struct nino_stream {
    nino_backend *be;
    nino_monitor *monitor, *outer_monitor; // outer: the backend's before this stream
    const volatile int *cancel, *outer_cancel;
    nino_gate *gate;                 // may be NULL
    const nino_lend *lend;           // may be NULL
    struct nino_needs *needs;        // may be NULL
    uint32_t device;                 // as a name of the monitor; 0: not asked for yet
    nino_precision asked, precision; // as set; resolved
    bool keeps_scores;               // see nino_stream_keep_scores()
    int64_t part, whole;             // see nino_stream_set_part()
    nino_error err;                  // code NINO_OK: none yet
    nino_tensor *tensors;            // every living one
    int n_scopes; // open ones; deeper than NINO_MAX_SCOPES are counted, not recorded
    uint32_t scopes[NINO_MAX_SCOPES];           // 0: not published
    bool is_quiet;                              // see nino_stream_set_quiet()
    void (*progress)(void *priv, double flops); // may be NULL
    void *progress_priv;
    nino_choice choice; // of the node that runs
    nino_taken taken;
};

// Allocates a tensor with memory of its own. NULL: the stream has failed.
nino_tensor *nino_tensor_new(nino_stream *s, nino_shape shape, nino_dtype type);
// t's memory from byte `offset` on, as another shape. Consumes t; it stays while the view does.
nino_tensor *nino_tensor_view(nino_stream *s, nino_tensor *t, nino_shape shape, uint64_t offset);
// True when the stream can go on: no error, not cancelled. Waits while the job is paused.
bool nino_stream_ok(nino_stream *s);
// Whether d, of which the result's shape is known, is a part of a batch.
void nino_stream_set_whole(const nino_stream *s, nino_op_desc *d);
// Runs c: c->d holds op, attributes, weights and presets, c->src the n_src sources, which are
// consumed even when it fails. Returns the result, NULL after a failure.
nino_tensor *nino_stream_run(nino_stream *s, nino_op_call *c);
