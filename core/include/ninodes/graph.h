// Workflows: ComfyUI's files in, nodes and links, checks, edits, JSON out.
//
// Thread-safety: one thread at a time.
#pragma once
#include <ninodes/ctx.h>
#include <ninodes/node.h>

NINO_BEGIN

typedef struct nino_graph nino_graph;

// Reads a workflow: the API form, {"prompt": {...}}, the form that the editor saves ("UI form", 0.4
// and 1.0), or a PNG that holds one of them. Only the shape is checked here; unknown classes are
// kept and reported by nino_graph_check(). The graph is always what the API form says; that of a
// UI file is made from it as ComfyUI's editor does: nodes in subgraphs get ids such as "57:41",
// notes, reroutes, muted and bypassed nodes are gone.
NINO_API nino_graph *nino_graph_load(const void *data, size_t len, const char *name,
                                     nino_error *err);
NINO_API nino_graph *nino_graph_load_file(const char *path, nino_error *err); // "-": stdin
NINO_API void nino_graph_destroy(nino_graph **g);
NINO_API const char *nino_graph_name(const nino_graph *g);
// "NODE.INPUT=VALUE": NODE is an id, or a class name or title that is unique in the graph. In a UI
// file the widget changes as well; a value that several inputs share there (a primitive's, or that
// of a subgraph used twice) changes for all of them.
NINO_API nino_status nino_graph_set(nino_graph *g, const char *assignment, nino_error *err);
// The workflow as JSON, in the form that the file had; byte-equal to it while nothing was set.
// Owned by g until the next call of one of these three.
NINO_API const char *nino_graph_json(nino_graph *g, size_t *len);
NINO_API const char *nino_graph_api_json(nino_graph *g, size_t *len); // the API form alone
NINO_API const char *nino_graph_ui_json(nino_graph *g, size_t *len);  // the UI form, or NULL

typedef struct nino_graph_node { // owned by g
    const char *id, *class_type, *title;
    const nino_node_def *def; // NULL: cannot run here
} nino_graph_node;
NINO_API size_t nino_graph_nodes(const nino_graph *g, nino_graph_node *out, size_t max);

typedef enum nino_issue_severity { NINO_ISSUE_WARNING, NINO_ISSUE_ERROR } nino_issue_severity;
typedef struct nino_issue {
    nino_issue_severity severity;
    const char *code;    // "unknown_class", "unsupported_class", "missing_input", "bad_link",
                         // "type_mismatch", "range", "value", "missing_file", "cycle", "no_output",
                         // "ignored_input", "path", "alias" (a former class name), "nomem"
    const char *node;    // id, or ""
    const char *input;   // name, or ""
    const char *message; // one line
} nino_issue;
// Reports every problem at once through report(). ctx may be NULL: files are not looked for then.
// Returns the number of errors.
NINO_API size_t nino_graph_check(nino_graph *g, const nino_ctx *ctx,
                                 void (*report)(void *priv, const nino_issue *issue), void *priv);

NINO_END
