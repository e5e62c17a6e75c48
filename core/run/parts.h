// Internal: what the parts of a shared run have computed, from the part's memory to a file and from
// the files of all parts into the graph of the run that joins them.
// Thread-safety: one thread, that of the job.
#pragma once
#include "core/workflow/workflow.h"

// What a node has of its results in a run that is a part (share.c).
typedef struct nino_share {
    bool is_split;    // a part of them, or nothing (count 0)
    bool is_one;      // all, in one part only
    bool may_split;   // it, or a node before it, shares batches out
    bool is_deferred; // nothing: the run that joins the parts does the node
    bool is_kept;     // they are in the part's file
    int64_t first, count, total;
} nino_share;

typedef struct nino_parts nino_parts;
nino_parts *nino_parts_create(void);     // NULL: out of memory
void nino_parts_destroy(nino_parts **p); // NULL-safe
// Takes references to the outputs of a node, which are IMAGE, MASK and LATENT values or NULL.
nino_status nino_parts_add(nino_parts *p, const char *node, nino_value *const *out, int n_out,
                           const nino_share *share, nino_error *err);
// Writes o->parts_dir/part-SHARD-of-N.safetensors. prompt: the workflow, of which all parts must be.
// *path is malloc'd.
nino_status nino_parts_save(const nino_parts *p, const nino_job_options *o, const char *prompt,
                            const nino_ctx *ctx, char **path, nino_error *err);
// The results in the files of a folder take the place of the nodes' own. NINO_ERR_MISSING: a part is
// not there; NINO_ERR_FORMAT, with the file's name: it is of another workflow, or damaged.
nino_status nino_parts_give(const char *dir, nino_graph *g, const char *prompt, const nino_log *log,
                            nino_error *err);
