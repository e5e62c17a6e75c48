// An editable workflow: the form that ComfyUI's editor saves (0.4 and 1.0), with undo, groups,
// reroutes, subgraphs and the clipboard. Byte-equal to the file while nothing was changed; what
// this version does not know is kept.
//
// Every change either happens as a whole and can be undone, or fails and leaves the document as it
// was. Kinds of errors that are named below are err->kind. Pointers that the readers return, and
// the numbers of nodes, links, slots and groups, stay valid until the next change.
//
// Threads: a document belongs to one thread at a time.
#pragma once
#include <ninodes/graph.h>

NINO_BEGIN

typedef struct nino_document nino_document;

// Makes an empty document. NULL: out of memory.
NINO_API nino_document *nino_document_new(nino_error *err);
// Reads any file that nino_graph_load() reads, with the same errors. A file in the API form has no
// places for its nodes: they are laid out by who depends on whom.
NINO_API nino_document *nino_document_load(const void *data, size_t len, const char *name,
                                           nino_error *err);
NINO_API nino_document *nino_document_load_file(const char *path, nino_error *err);
NINO_API void nino_document_destroy(nino_document **d);
NINO_API const char *nino_document_name(const nino_document *d);

// Where a document came from.
typedef enum nino_document_form {
    // The file was in the editor's form.
    NINO_DOCUMENT_UI,
    // The file was in the API form.
    NINO_DOCUMENT_API,
    // It was a picture or the like: there is no file to write back to.
    NINO_DOCUMENT_IMPORT,
} nino_document_form;
NINO_API nino_document_form nino_document_origin(const nino_document *d);
// What to write into the file, in the form that it had; a document from a picture gets the editor's
// form. NULL: out of memory, or a change that the API form cannot hold. Owned by d until the next
// call of one of these three or the next change.
NINO_API const char *nino_document_json(nino_document *d, size_t *len, nino_error *err);
NINO_API const char *nino_document_ui_json(nino_document *d, size_t *len);
NINO_API const char *nino_document_api_json(nino_document *d, size_t *len, nino_error *err);

// True when it was changed since it was loaded or saved.
NINO_API bool nino_document_is_changed(const nino_document *d);
NINO_API void nino_document_set_saved(nino_document *d);
// A number that grows whenever something that the document shows has changed.
NINO_API uint64_t nino_document_version(const nino_document *d);

// ---- reading: the workflow, or the subgraph that was entered ----------------------------------

// Whether a node runs.
enum {
    NINO_MODE_ALWAYS = 0,
    NINO_MODE_MUTED = 2,
    NINO_MODE_BYPASSED = 4,
};

typedef enum nino_doc_kind {
    NINO_DOC_NODE,
    // A class that cannot run here.
    NINO_DOC_UNKNOWN,
    NINO_DOC_NOTE,
    NINO_DOC_REROUTE,
    NINO_DOC_PRIMITIVE,
    NINO_DOC_SUBGRAPH,
    // In a subgraph: where its inputs come from.
    NINO_DOC_INPUT,
    // In a subgraph: where its outputs go.
    NINO_DOC_OUTPUT,
} nino_doc_kind;

typedef struct nino_doc_input {
    // Its type is "*" where the file does not say.
    const char *name, *label, *type;
    // Name of the widget whose value it can take, or NULL.
    const char *widget;
    bool is_optional;
    // A widget that the file has no input for; connecting makes one.
    bool is_virtual;
    // Number of the link that ends here; -1: there is none.
    int link;
} nino_doc_input;

typedef struct nino_doc_output {
    const char *name, *label, *type;
    int n_links;
} nino_doc_output;

typedef enum nino_doc_widget_kind {
    NINO_WIDGET_INT,
    NINO_WIDGET_FLOAT,
    NINO_WIDGET_BOOL,
    NINO_WIDGET_STRING,
    // One of param->names, or of files; any text where there is no param.
    NINO_WIDGET_CHOICE,
    // Whatever the file has there, as JSON.
    NINO_WIDGET_OTHER,
} nino_doc_widget_kind;

// A value of a node. An instance of a subgraph also has those of inner nodes that the file shows on
// it (proxyWidgets): reading and setting one reads and sets the inner one. A second one of a name
// is "41:name".
typedef struct nino_doc_widget {
    const char *name;
    // The label that the file gives it, or NULL.
    const char *label;
    nino_doc_widget_kind kind;
    // Its row of the node table; NULL: the table does not have it.
    const nino_param *param;
    // The value as JSON; the default where the file has none.
    const char *json;
    // The same for people, strings without quotes.
    const char *text;
    // What happens to it after a run: "fixed", "randomize", ...; NULL: nothing.
    const char *control;
    // Number of the input of the same name; -1: there is none.
    int input;
    // The value comes through that input.
    bool is_linked;
} nino_doc_widget;

typedef struct nino_doc_node {
    const char *id, *type, *title;
    // NULL: this version does not know the class.
    const nino_node_def *def;
    nino_doc_kind kind;
    // Place and size of the body, without the title above it; a size of 0: the file does not say.
    double x, y, width, height;
    int mode;
    bool is_collapsed, is_pinned;
    // Colours of title and body as "#rgb" or "#rrggbb", or NULL.
    const char *color, *bgcolor;
    int n_inputs, n_outputs, n_widgets;
    const nino_doc_input *inputs;
    const nino_doc_output *outputs;
    const nino_doc_widget *widgets;
} nino_doc_node;

typedef struct nino_doc_link {
    const char *id, *type;
    // Numbers of the nodes and of their slots.
    int from, from_slot, to, to_slot;
    int n_reroutes;
    // Numbers of the reroutes that it goes through, from its origin on.
    const int *reroutes;
    // A Use Everywhere node stands for it: it is not in the file, and cannot be cut or bent.
    bool is_offered;
} nino_doc_link;

typedef struct nino_doc_reroute {
    const char *id;
    double x, y;
} nino_doc_reroute;

typedef struct nino_doc_group {
    const char *title, *color;
    // Place and size with the title.
    double x, y, width, height;
} nino_doc_group;

NINO_API int nino_document_n_nodes(const nino_document *d);
NINO_API int nino_document_n_links(const nino_document *d);
NINO_API int nino_document_n_reroutes(const nino_document *d);
NINO_API int nino_document_n_groups(const nino_document *d);
// By number, from 0 on. NULL: there is no such thing.
NINO_API const nino_doc_node *nino_document_node(const nino_document *d, int i);
NINO_API const nino_doc_link *nino_document_link(const nino_document *d, int i);
NINO_API const nino_doc_reroute *nino_document_reroute(const nino_document *d, int i);
NINO_API const nino_doc_group *nino_document_group(const nino_document *d, int i);
// Number of a node; -1: there is none of this id.
NINO_API int nino_document_find(const nino_document *d, const char *id);
// The value of this name; NULL: the node has none.
NINO_API const nino_doc_widget *nino_doc_widget_find(const nino_doc_node *n, const char *name);

// Lists the files that a parameter of this folder ("vae", "checkpoints", "input") can take, sorted
// and NULL-terminated. models and input_dir are as in nino_job_options. The caller frees it, one
// block, with free(). NULL: out of memory.
NINO_API char **nino_list_files(const char *const *models, const char *input_dir,
                                const char *folder, nino_error *err);
// The path of one of them, as a run finds it; models are as above. The caller frees it with free().
// NULL: kind "missing_file": there is none of this name.
NINO_API char *nino_find_model(const char *const *models, const char *folder, const char *name,
                               nino_error *err);

// True when an input of type `to` can take what an output of type `from` gives. "*" goes with all,
// "A,B" with A and with B.
NINO_API bool nino_document_types_fit(const char *from, const char *to);
// The size that a new node of this class gets, as ComfyUI's editor computes it.
NINO_API void nino_document_default_size(const nino_node_def *def, double *width, double *height);

// ---- subgraphs -------------------------------------------------------------------------------
// Goes into the subgraph of an instance, or out of `levels` of them. Not undone.
NINO_API nino_status nino_document_enter(nino_document *d, const char *id, nino_error *err);
NINO_API nino_status nino_document_leave(nino_document *d, int levels, nino_error *err);
NINO_API int nino_document_depth(const nino_document *d);
// Ids of the instances entered ("57:" ... of execution ids) and the names of their subgraphs; level
// 0 is the outermost one.
NINO_API const char *nino_document_level_id(const nino_document *d, int level);
NINO_API const char *nino_document_level_name(const nino_document *d, int level);

// Puts nodes into a new subgraph of this name, with one instance in their place; links stay. Their
// ids stay too: "41" runs as "57:41". id receives that of the instance and may be NULL. Kind
// "cycle": a way leads out of them and in again. Reroutes of links that now pass its border go.
NINO_API nino_status nino_document_make_subgraph(nino_document *d, const char *const *ids, size_t n,
                                                 const char *name, char id[32], nino_error *err);
// The other way: the instance gives place to the nodes inside, connected as it was; a definition
// that is used nowhere else goes. *first becomes the number of the first of them, *n how many they
// are; both may be NULL.
NINO_API nino_status nino_document_unpack(nino_document *d, const char *id, int *first, int *n,
                                          nino_error *err);

// Ports of a subgraph: those of an instance, or inside it those of its two ends, by number as read.
// Every instance follows, links stay. Kind "slot": there is no such port.
//
// Gives a port a label; "": its own name.
NINO_API nino_status nino_document_rename_port(nino_document *d, int node, bool is_output, int slot,
                                               const char *label, nino_error *err);
// Takes a port away with its links, inside and outside.
NINO_API nino_status nino_document_remove_port(nino_document *d, int node, bool is_output, int slot,
                                               nino_error *err);
// Inside a subgraph: gives it a new input that feeds this input of a node, whose link goes, or a
// new output that this output feeds.
NINO_API nino_status nino_document_add_port(nino_document *d, int node, bool is_output, int slot,
                                            nino_error *err);

// Inside a subgraph: its instances show this value of a node as theirs, or no longer. Kind
// "linked": the value comes through an input.
NINO_API nino_status nino_document_promote(nino_document *d, const char *id, const char *widget,
                                           bool is_shown, nino_error *err);
NINO_API bool nino_document_is_promoted(const nino_document *d, const char *id, const char *widget);
// Outside: this instance, and all others of its subgraph, no longer show this value from inside.
NINO_API nino_status nino_document_demote(nino_document *d, const char *id, const char *widget,
                                          nino_error *err);

// ---- undo ------------------------------------------------------------------------------------
// Everything between begin and end is one step of this name; begin and end may nest. cancel takes
// back what was done since the outermost begin.
NINO_API void nino_document_begin(nino_document *d, const char *name);
NINO_API nino_status nino_document_end(nino_document *d, nino_error *err);
NINO_API void nino_document_cancel(nino_document *d);
// Name of the step that would be undone, or done again; NULL: there is none.
NINO_API const char *nino_document_undo_name(const nino_document *d);
NINO_API const char *nino_document_redo_name(const nino_document *d);
// Both also go to the subgraph in which the change was made.
NINO_API nino_status nino_document_undo(nino_document *d, nino_error *err);
NINO_API nino_status nino_document_redo(nino_document *d, nino_error *err);
// Makes the next change of the same value a step of its own, as when an editor has lost the focus.
NINO_API void nino_document_seal(nino_document *d);

// ---- changes ---------------------------------------------------------------------------------
// Adds a node. class_type is one of the node table, "Note", "MarkdownNote", "Reroute",
// "PrimitiveNode", or the id of a subgraph. id receives that of the new node and may be NULL.
NINO_API nino_status nino_document_add(nino_document *d, const char *class_type, double x, double y,
                                       char id[32], nino_error *err);
NINO_API nino_status nino_document_delete(nino_document *d, const char *const *ids, size_t n,
                                          nino_error *err);
// Nodes and slots are told by number, as read. Kinds of errors: "type", "cycle", "slot", "link" (only Use Everywhere
// connects it).
NINO_API nino_status nino_document_connect(nino_document *d, int from, int output, int to,
                                           int input, nino_error *err);
NINO_API nino_status nino_document_disconnect(nino_document *d, int node, int input,
                                              nino_error *err);
NINO_API nino_status nino_document_disconnect_output(nino_document *d, int node, int output,
                                                     nino_error *err);

NINO_API nino_status nino_document_move(nino_document *d, const char *const *ids, size_t n,
                                        double dx, double dy, nino_error *err);
NINO_API nino_status nino_document_resize(nino_document *d, const char *id, double width,
                                          double height, nino_error *err);
NINO_API nino_status nino_document_set_mode(nino_document *d, const char *const *ids, size_t n,
                                            int mode, nino_error *err);
NINO_API nino_status nino_document_set_collapsed(nino_document *d, const char *const *ids, size_t n,
                                                 bool is_collapsed, nino_error *err);
NINO_API nino_status nino_document_set_pinned(nino_document *d, const char *const *ids, size_t n,
                                              bool is_pinned, nino_error *err);
// title NULL: that of the class again.
NINO_API nino_status nino_document_set_title(nino_document *d, const char *id, const char *title,
                                             nino_error *err);
NINO_API nino_status nino_document_set_color(nino_document *d, const char *const *ids, size_t n,
                                             const char *color, const char *bgcolor,
                                             nino_error *err);

// Sets a value, given as JSON, or as a person types it; that is checked with the node table (kinds
// "range", "value"). Changes of one value that follow each other are one step, until
// nino_document_seal().
NINO_API nino_status nino_document_set_json(nino_document *d, const char *id, const char *widget,
                                            const char *json, nino_error *err);
NINO_API nino_status nino_document_set_text(nino_document *d, const char *id, const char *widget,
                                            const char *text, nino_error *err);
NINO_API nino_status nino_document_set_control(nino_document *d, const char *id, const char *widget,
                                               const char *control, nino_error *err);
// To be called after a run was queued: seeds go on as their control says. "randomize" takes its
// numbers from `random`.
NINO_API nino_status nino_document_advance(nino_document *d, uint64_t random, nino_error *err);

NINO_API nino_status nino_document_add_group(nino_document *d, const char *title, double x,
                                             double y, double width, double height,
                                             nino_error *err);
// title or color NULL: it stays as it is.
NINO_API nino_status nino_document_set_group(nino_document *d, int group, const char *title,
                                             const char *color, nino_error *err);
NINO_API nino_status nino_document_place_group(nino_document *d, int group, double x, double y,
                                               double width, double height, nino_error *err);
NINO_API nino_status nino_document_delete_group(nino_document *d, int group, nino_error *err);

// Adds a point that a link goes through, behind its first `at` reroutes.
NINO_API nino_status nino_document_add_reroute(nino_document *d, int link, int at, double x,
                                               double y, nino_error *err);
NINO_API nino_status nino_document_move_reroute(nino_document *d, const char *id, double dx,
                                                double dy, nino_error *err);
NINO_API nino_status nino_document_delete_reroute(nino_document *d, const char *id,
                                                  nino_error *err);

// ---- form view -------------------------------------------------------------------------------
// A value that the form shows, of a node of the workflow itself.
typedef struct nino_doc_form_input {
    const char *node, *widget;
} nino_doc_form_input;
// Fills up to max entries and returns how many the file names; 0: it does not say, and a form may
// show all values.
NINO_API size_t nino_document_form_inputs(const nino_document *d, nino_doc_form_input *out,
                                          size_t max);
// True when the workflow opens as a form, not as a graph.
NINO_API bool nino_document_opens_form(const nino_document *d);
NINO_API nino_status nino_document_set_form_inputs(nino_document *d,
                                                   const nino_doc_form_input *inputs, size_t n,
                                                   bool opens_form, nino_error *err);

// ---- clipboard -------------------------------------------------------------------------------
// Nodes with the links between them, as a small workflow; links from outside are noted in it. The
// caller frees it with free(). NULL: out of memory, or there is no node of one of the ids.
NINO_API char *nino_document_copy(const nino_document *d, const char *const *ids, size_t n,
                                  nino_error *err);
// Adds the nodes of such a workflow with their middle at x, y; with_links connects them to where
// they were connected from as well. *first becomes the number of the first new node, *n how many
// they are; both may be NULL.
NINO_API nino_status nino_document_paste(nino_document *d, const char *json, size_t len, double x,
                                         double y, bool with_links, int *first, int *n,
                                         nino_error *err);

NINO_END
