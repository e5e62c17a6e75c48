// Debug captures, which runs write with ROCM_NINODES_DEBUG=1 (or NINODES_DEBUG=capture): comparing
// two, and running one captured node again.
//
// A captured node is a file NAME_input_MS.json and NAME_output_MS.json, each with a .safetensors of
// its tensors, in a folder that is named after what it works on; beside them are timing/, memory/
// and workflow/, the whole run in API form.
//
// Threads: plain functions; nino_capture_replay() as nino_job_start(), and it waits.
#pragma once
#include <ninodes/ctx.h>

NINO_BEGIN

typedef enum nino_capture_verdict {
    // Bit for bit.
    NINO_CAPTURE_SAME,
    NINO_CAPTURE_DIFFERS,
    // Of other shapes.
    NINO_CAPTURE_SHAPE,
    NINO_CAPTURE_ONLY_A,
    NINO_CAPTURE_ONLY_B
} nino_capture_verdict;

// One tensor of a node, in both captures.
typedef struct nino_capture_row {
    const char *node_id, *class_type;
    bool is_output;
    // "samples", "positive.0.context"; "": the node itself, which one of them lacks.
    const char *tensor;
    nino_capture_verdict verdict;
    // B against A: squared difference by squared A; dB of A's range; the largest. 0, infinity and 0
    // where they are the same.
    double nmse, psnr, most;
    // The shapes: "1x4x8x8".
    char shape_a[64], shape_b[64];
} nino_capture_row;
typedef void (*nino_capture_row_fn)(void *priv, const nino_capture_row *row);

// Compares what two captures have of the same nodes, in the order in which A ran them: inputs before
// outputs, so that the first node whose inputs are the same and whose output differs is where they
// part. a and b: folders, such as test_data/captured, or a .json of each. Errors: NINO_ERR_MISSING
// (nothing is captured there), NINO_ERR_IO, NINO_ERR_FORMAT, NINO_ERR_NOMEM.
NINO_API nino_status nino_capture_diff(const char *a, const char *b, nino_capture_row_fn row,
                                       void *priv, nino_error *err);

// A captured input, with which its node can be run.
typedef struct nino_capture_info {
    // Of the .json.
    const char *path;
    const char *node_id, *class_type, *device, *precision;
    uint64_t ms;
} nino_capture_info;
// Those of a folder and the folders in it, or of one .json, in the order in which they ran.
NINO_API nino_status nino_capture_list(const char *path,
                                       void (*each)(void *priv, const nino_capture_info *info),
                                       void *priv, nino_error *err);

// Runs the node of a captured input on ctx: its pictures, latents and masks are those of the
// capture, models and conditioning come from running the nodes before it. row gets each tensor of
// its outputs against the captured one. options NULL: those of ctx; the precision is the capture's
// unless they say another. Errors: NINO_ERR_MISSING (no output or workflow was captured with it),
// NINO_ERR_UNSUPPORTED (it only writes files), those of nino_graph_load() and of jobs.
NINO_API nino_status nino_capture_replay(nino_ctx *ctx, const char *input_json,
                                         const nino_job_options *options, nino_capture_row_fn row,
                                         void *priv, nino_error *err);

NINO_END
