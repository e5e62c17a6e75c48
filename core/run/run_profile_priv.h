// Internal: collects the profile of a run for its output files: a few numbers a node, from the
// backend's and the pool's own totals, so that it costs nothing and needs no events.
#pragma once
#include "core/base/buf.h"
#include "core/op/backend.h"
#include <ninodes/run_profile.h>

typedef struct nino_profile_log {
    nino_run_profile p;
    size_t cap;
    bool is_off, has_failed; // has_failed: out of memory, the files go without
    nino_backend *be;
    uint64_t begin_ns;
    // Of the node that runs.
    uint64_t node_ns, node_ops, node_use, node_load_ns, node_load_bytes;
    double node_flops;
} nino_profile_log;

void nino_profile_log_init(nino_profile_log *l, nino_backend *be, const char *precision);
void nino_profile_log_release(nino_profile_log *l);
void nino_profile_log_begin(nino_profile_log *l, const char *node, const char *class_type,
                            bool is_cached);
void nino_profile_log_end(nino_profile_log *l);
// The JSON text so far, the node that runs included; malloc'd, NULL: off, or out of memory.
char *nino_profile_log_json(const nino_profile_log *l);
