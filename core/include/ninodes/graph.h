// Workflows: ComfyUI's files in, nodes and values, checks, JSON out.
//
// Threads: a graph belongs to one thread at a time.
#pragma once
#include <ninodes/ctx.h>
#include <ninodes/node.h>
#include <ninodes/raster.h>

NINO_BEGIN

typedef struct nino_graph nino_graph;

// Reads a workflow: the API form, {"prompt": {...}}, the form that the editor saves ("UI form", 0.4
// and 1.0), or a picture that holds one of them. Only the shape is checked here; unknown classes
// are kept and reported by nino_graph_check().
//
// The graph is always what the API form says. That of a UI file is made from it as ComfyUI's editor
// does: nodes in subgraphs get ids such as "57:41"; notes, reroutes, muted and bypassed nodes are
// gone. Errors: NINO_ERR_FORMAT, NINO_ERR_NOMEM.
NINO_API nino_graph *nino_graph_load(const void *data, size_t len, const char *name,
                                     nino_error *err);
// The same of a file, of standard input where path is "-". Errors: NINO_ERR_IO as well.
NINO_API nino_graph *nino_graph_load_file(const char *path, nino_error *err);
NINO_API void nino_graph_destroy(nino_graph **g);
NINO_API const char *nino_graph_name(const nino_graph *g);

// The workflow as JSON, in the form that the file had; byte-equal to it while nothing was set.
// Owned by g until the next call of one of these three.
NINO_API const char *nino_graph_json(nino_graph *g, size_t *len);
// The API form alone.
NINO_API const char *nino_graph_api_json(nino_graph *g, size_t *len);
// The UI form, NULL where the file had none.
NINO_API const char *nino_graph_ui_json(nino_graph *g, size_t *len);

// ---- values ----------------------------------------------------------------------------------

// "NODE.INPUT=VALUE": NODE is an id, or a class name or title that is unique in the graph. In a UI
// file the widget changes as well; a value that several inputs share there (a primitive's, or that
// of a subgraph used twice) changes for all of them. Errors: NINO_ERR_UNKNOWN, NINO_ERR_RANGE,
// NINO_ERR_FORMAT, NINO_ERR_NOMEM.
NINO_API nino_status nino_graph_set(nino_graph *g, const char *assignment, nino_error *err);

// Gives a node its picture from memory, in place of the file that the workflow names: a node such
// as LoadImage, which has no inputs and whose first output is an IMAGE. node is an id. The pixels
// are copied; NULL takes them away again. What is made from them is computed anew exactly when they
// change. The workflow's JSON stays as it is. Errors: NINO_ERR_UNKNOWN (no such node), NINO_ERR_ARG
// (not such a node; no size, no pixels, other channels than 3 or 4), NINO_ERR_RANGE (a float that
// is not finite, or larger than 16384 a side), NINO_ERR_NOMEM.
NINO_API nino_status nino_graph_set_image(nino_graph *g, const char *node, const nino_raster *image,
                                          nino_error *err);
// The same of a node such as LoadLatent or EmptyLatentImage, whose first output is a LATENT. The
// type must be NINO_RASTER_F32.
NINO_API nino_status nino_graph_set_latent(nino_graph *g, const char *node,
                                           const nino_raster *latent, nino_error *err);

// ---- nodes and checks ------------------------------------------------------------------------

// Texts are owned by the graph.
typedef struct nino_graph_node {
    const char *id, *class_type, *title;
    // NULL: a class that cannot run here.
    const nino_node_def *def;
} nino_graph_node;
// Fills up to max entries in the order of the file, and returns how many nodes there are.
NINO_API size_t nino_graph_nodes(const nino_graph *g, nino_graph_node *out, size_t max);

typedef enum nino_issue_severity { NINO_ISSUE_WARNING, NINO_ISSUE_ERROR } nino_issue_severity;

typedef struct nino_issue {
    nino_issue_severity severity;
    // "unsupported_model" (it is made for a network that is not here), "paid_service",
    // "unknown_class", "unsupported_class", "missing_input", "bad_link", "type_mismatch", "range",
    // "value", "missing_file", "cycle", "no_output", "ignored_input", "path", "alias" (a former
    // class name), "edited" (which of a picture's two texts was taken), "random_seed" (-1), "io" (an
    // output that cannot be written), "nomem".
    const char *code;
    // Id of the node and name of its input, or "".
    const char *node, *input;
    // One line.
    const char *message;
    // Class of that node, or "".
    const char *class_type;
} nino_issue;

// Reports every problem at once through report(), with texts that live until it returns: first what
// can never run here, at last the files that are missing. ctx may be
// NULL: files are not looked for then. Returns the number of errors.
NINO_API size_t nino_graph_check(nino_graph *g, const nino_ctx *ctx,
                                 void (*report)(void *priv, const nino_issue *issue), void *priv);

NINO_END
