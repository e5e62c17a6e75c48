// Internal: debug capture: each node's inputs and outputs as safetensors + JSON under
// test_data/captured/, written by its own thread. Off (the default) it is one NULL test. Layout and
// names: ROCM_NINODES_DEBUG of the original extension.
#pragma once
#include "core/node/value.h"

typedef struct nino_capture nino_capture;

// NULL unless NINODES_DEBUG=capture or ROCM_NINODES_DEBUG=1.
nino_capture *nino_capture_start(const nino_log *log);
void nino_capture_stop(nino_capture **c); // waits for the writer
// when: "input" or "output". Takes references; never blocks on the disk (drops with a counted
// warning beyond 2 GiB queued).
void nino_capture_node(nino_capture *c, const char *class_type, const char *node_id,
                       const char *when, nino_value *const *values, const nino_port *ports,
                       const char *params_json, double duration_s);
