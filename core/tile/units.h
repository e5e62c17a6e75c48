// Internal: units of work that do not depend on each other (tiles, pictures, chunks of a clip), computed by
// the stream's device and by others of the process that have time and room. Whoever is free begins the next
// one, so that each does as many as its speed allows; they are taken in their order on the caller's thread,
// so that the result is the same whichever device did which. A device that fails is left out, and its unit
// is done again.
#pragma once
#include "core/tile/fit.h"

// One unit, computed: a tensor of the caller's stream, or on the host, where it came from another device or
// those before it were not ready.
typedef struct nino_unit_result {
    nino_tensor *t;
    nino_array *a;
    nino_dtype type;        // a tensor's, before it went to the host
    uint32_t device, scope; // a name of the monitor; the unit's scope, 0: none
    uint64_t begin, ns;     // when and how long it was computed
    uint64_t peak;          // device memory
} nino_unit_result;

typedef struct nino_units {
    nino_stream *s;
    const char *where; // the network, for messages
    int n;             // units
    // Unit i, on any device's stream and thread: sets r->t or r->a, or leaves s failed. Called several times
    // at once, and again where a device has failed.
    void (*compute)(const void *priv, nino_stream *s, int i, nino_unit_result *r);
    // Before the caller's device computes, with the unit that is taken next: what that goes into gets its memory
    // first, as plan has it. May be NULL.
    void (*prepare)(void *priv, int i);
    // Takes r->t and r->a; in order, on the caller's thread.
    nino_status (*take)(void *priv, int i, nino_unit_result *r, nino_error *err);
    // Its place among the tiles, for its scope; false: it has none.
    bool (*place)(const void *priv, int i, int *order, int *of);
    nino_need_walk need; // the most that a unit takes of another device; gets priv
    void *priv;
} nino_units;

nino_status nino_units_run(const nino_units *w, nino_error *err);
// For who plans: what a unit would take of another device. A run is told nothing.
void nino_units_tell(const nino_units *w);
// How many other devices could share n units; 0: there are none, or nothing is to be shared.
int nino_units_others(const nino_stream *s, int n);
// A result, on the caller's stream again, or on the host as f32; consumed. NULL: the stream has failed.
nino_tensor *nino_unit_tensor(nino_stream *s, nino_unit_result *r);
nino_array *nino_unit_array(nino_stream *s, nino_unit_result *r);
void nino_unit_drop(nino_unit_result *r);
