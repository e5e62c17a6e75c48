// Internal: debug capture: each node's inputs and outputs as safetensors + JSON under
// test_data/captured/, written by its own thread. Off (the default) it is one NULL test. Layout and
// names: ROCM_NINODES_DEBUG of the original extension.
#pragma once
#include "core/node/value.h"

typedef struct nino_capture nino_capture;

// A node before or after its run.
typedef struct nino_captured {
    const char *node_id, *class_type;
    bool is_output;
    nino_value *const *values; // one a port
    const nino_port *ports;
    const char *params_json;
    const char *workflow_json;      // API form, of the whole run; NULL: not known
    const char *device, *precision; // selector; as the node was asked for
    nino_mem_stat memory;
    double duration_s; // of an output
} nino_captured;

// NULL unless NINODES_DEBUG=capture or ROCM_NINODES_DEBUG=1.
nino_capture *nino_capture_start(const nino_log *log);
// Writes nothing: holds what the node of this id gave last (nino_capture_held()). NULL: out of memory.
nino_capture *nino_capture_hold(const char *only);
void nino_capture_stop(nino_capture **c); // waits for the writer
// Takes references; never blocks on the disk (drops with a counted warning beyond 2 GiB queued).
void nino_capture_node(nino_capture *c, const nino_captured *n);
