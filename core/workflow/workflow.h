// Internal: a workflow in memory. The JSON document stays the truth; nodes point into it. Nothing
// here or in core/workflow recurses: files decide how deep a graph is.
#pragma once
#include "core/base/arena.h"
#include "core/base/json.h"
#include "core/workflow/ui.h"
#include "core/node/node_impl.h"
#include "core/base/hash.h"
#include <ninodes/graph.h>

#define NINO_GRAPH_MAX_NODES 100000
#define NINO_GRAPH_MAX_BYTES ((size_t) 64 << 20)
#define NINO_GRAPH_MAX_NAME 1024 // bytes of an id or a class name

enum { NINO_MAX_GIVEN = 2 };

typedef struct nino_link {
    int32_t node, slot; // node < 0: not linked
} nino_link;

typedef struct nino_gnode {
    const char *id, *class_type, *title;
    const nino_node_def *def;
    const nino_alias *alias; // the file's class name is a former one
    nino_json *json;
    // Filled by nino_graph_check():
    nino_link *ports;       // one an input port of def
    nino_link *param_links; // one a parameter of def: its value comes through a link
    nino_value **literals;  // one an input port: a value that stands in place of a link, or NULL
    void *params;           // the params struct, defaults and literals applied; NULL: none
    uint64_t untaken;       // input ports that the node does not look at, a bit each
    bool decides_late;      // which ones it looks at shows in the run only
    bool is_wanted;         // leads to an output
    bool is_broken;         // has an error of its own
    // Outputs from memory (nino_graph_set_image()), in place of running it; [0] NULL: none.
    nino_value *given[NINO_MAX_GIVEN];
    nino_hash given_key; // of their content; 0: they are what the node would have given
} nino_gnode;

struct nino_graph {
    char *name;
    nino_json_doc *doc;
    nino_json *prompt;     // the object whose members are nodes; doc->root or its "prompt"
    nino_json_doc *ui_doc; // the file, when it is in the UI form; doc is then made from it
    nino_ui *ui;           // what ui_doc holds; members[i] is nodes[i]
    char *workflow_json;   // UI form that came with a file in API form, or NULL
    const char *note;      // what is to be said about where it came from, or NULL
    nino_gnode *nodes;     // in file order
    int n_nodes;
    int32_t *index; // hash table of ids, open addressing; -1: free
    uint32_t index_mask;
    nino_buf text; // nino_graph_json() and the like
    // Filled by nino_graph_check():
    nino_arena *checked; // what the fields of nodes point to
    int32_t *order;      // wanted nodes, sources first
    int n_order;
};

// Drops what nino_graph_check() has filled.
void nino_graph_forget(nino_graph *g);
// Index of the node with this id, or -1.
int nino_graph_find(const nino_graph *g, const char *id);

// How a value of an inputs object reads.
typedef enum nino_input_kind {
    NINO_INPUT_LITERAL,
    NINO_INPUT_LINK,
    NINO_INPUT_BAD // an array that is no link
} nino_input_kind;
// id: buffer for ids written as numbers; *id_out points to it or into the document.
nino_input_kind nino_input_read(const nino_json *v, char id[32], const char **id_out,
                                int32_t *slot);
// Follows Reroute nodes. Returns NULL and leaves *link as it is when there is no node, or a reason
// why the link leads nowhere.
const char *nino_link_resolve(const nino_graph *g, const nino_json *v, nino_link *link);

// ---- graph_inputs.c
// The value or link of an input, in a newer layout too.
const nino_json *nino_input_of(const nino_node_def *def, const nino_json *inputs, const char *key);
// Is it an input of the class, whether it counts or not?
bool nino_input_is_known(const nino_gnode *n, const char *key);
// Does it make a difference? One of a choice that was not made does not, nor one that the node does
// not look at.
bool nino_input_counts(const nino_gnode *n, const char *key);
// Fills n->untaken and n->decides_late from the values in the file. False: out of memory.
bool nino_graph_settle(nino_graph *g, nino_gnode *n);
// What comes over a link from an output that there is: "IMAGE,MASK".
const char *nino_link_types(const nino_graph *g, nino_link l);
bool nino_types_agree(const char *given, const char *wanted);
// A value in place of a link.
bool nino_port_takes_literal(const nino_port *p, const nino_json *v);
nino_value *nino_port_literal(const nino_graph *g, const nino_port *p, const nino_json *v);

// The API form, ASCII only (other characters as \uXXXX), as PNG text chunks want it; malloc'd.
char *nino_graph_prompt_ascii(const nino_graph *g);
// The same of the UI form; *out is NULL where there is none. false: out of memory.
bool nino_graph_workflow_ascii(const nino_graph *g, char **out);
// Fills an empty graph from JSON in any of the forms.
nino_status nino_graph_parse(nino_graph *g, const char *text, size_t len, nino_error *err);
// Puts a number in the place of each seed of -1, so that what is written down says what has run.
nino_status nino_graph_draw_seeds(nino_graph *g, const nino_log *log, nino_error *err);
// A node with a seed that is still to be drawn; NULL: none.
const nino_gnode *nino_graph_undrawn(const nino_graph *g);
// A copy; values from memory are shared, all else is its own.
nino_graph *nino_graph_copy(nino_graph *g, nino_error *err);

// The next network from *row (at first 0) on that the workflow is made for and that is not here:
// its name, and the wanted node and its input that tell (*input NULL: its class). NULL: no more. A
// file says nothing by its name where ctx, which may be NULL, has it.
const char *nino_graph_next_family(const nino_graph *g, const nino_ctx *ctx, int *row, int *node,
                                   const char **input);

// Shows an array, [n,h,w,c] or [n,t,h,w,c], as a raster.
void nino_raster_of(const nino_array *a, nino_raster *out);
