// An editable workflow: the form that ComfyUI's editor saves (0.4 and 1.0), with undo, groups,
// reroutes, subgraphs and the clipboard. Byte-equal to the file while nothing was changed; what
// this version does not know is kept.
//
// Every change either happens as a whole and can be undone, or fails and leaves the document as it
// was. Pointers that the readers return stay valid until the next change. Thread-safety: one thread
// at a time.
#pragma once
#include <ninodes/graph.h>

NINO_BEGIN

typedef struct nino_document nino_document;

// Empty.
NINO_API nino_document *nino_document_new(nino_error *err);
// Any file that nino_graph_load() reads. The API form is laid out by dependency.
NINO_API nino_document *nino_document_load(const void *data, size_t len, const char *name,
                                           nino_error *err);
NINO_API nino_document *nino_document_load_file(const char *path, nino_error *err);
NINO_API void nino_document_destroy(nino_document **d);
NINO_API const char *nino_document_name(const nino_document *d);

typedef enum nino_document_form {
    // The file was in the editor's form.
    NINO_DOCUMENT_UI,
    // The file was in the API form.
    NINO_DOCUMENT_API,
    // It was a picture or the like: there is no file to write back to.
    NINO_DOCUMENT_IMPORT,
} nino_document_form;
NINO_API nino_document_form nino_document_origin(const nino_document *d);
// What to write into the file: the form that it had (a document from a picture: the editor's form).
// NULL: out of memory, or a change that the API form cannot hold. Owned by d until the next call of
// one of these three or the next change.
NINO_API const char *nino_document_json(nino_document *d, size_t *len, nino_error *err);
NINO_API const char *nino_document_ui_json(nino_document *d, size_t *len);
NINO_API const char *nino_document_api_json(nino_document *d, size_t *len, nino_error *err);

// Since it was loaded or saved.
NINO_API bool nino_document_is_changed(const nino_document *d);
NINO_API void nino_document_set_saved(nino_document *d);
// Grows with everything it shows.
NINO_API uint64_t nino_document_version(const nino_document *d);

// ---- reading: the workflow, or the subgraph that was entered ----------------------------------
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
    // Type: "*" when the file does not say.
    const char *name, *label, *type;
    // The widget behind it, or NULL.
    const char *widget;
    bool is_optional;
    // A widget that the file has no input for; connecting makes one.
    bool is_virtual;
    // -1: not connected.
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
    // Of param->names, or of files; without param: any text.
    NINO_WIDGET_CHOICE,
    // Whatever the file has there, as JSON.
    NINO_WIDGET_OTHER,
} nino_doc_widget_kind;

// An instance of a subgraph also has those of inner nodes that the file shows on it (proxyWidgets):
// reading and setting one reads and sets the inner one. A second one of a name is "41:name".
typedef struct nino_doc_widget {
    const char *name;
    // That the file gives it, or NULL.
    const char *label;
    nino_doc_widget_kind kind;
    // NULL: the node table does not have it.
    const nino_param *param;
    // Value as JSON text; the default where the file has none.
    const char *json;
    // The same for people: strings without quotes.
    const char *text;
    // What happens after a run: "fixed", "randomize", ...; NULL: nothing.
    const char *control;
    // Of the node.
    int input;
    // The value comes through that input.
    bool is_linked;
} nino_doc_widget;

typedef struct nino_doc_node {
    const char *id, *type, *title;
    // NULL: not a class of this version.
    const nino_node_def *def;
    nino_doc_kind kind;
    // Of the body; the title is above it; 0: the file does not say.
    double x, y, width, height;
    int mode;
    bool is_collapsed, is_pinned;
    // "#rgb" or "#rrggbb" of title and body, or NULL.
    const char *color, *bgcolor;
    int n_inputs, n_outputs, n_widgets;
    const nino_doc_input *inputs;
    const nino_doc_output *outputs;
    const nino_doc_widget *widgets;
} nino_doc_node;

typedef struct nino_doc_link {
    const char *id, *type;
    // Nodes by number.
    int from, from_slot, to, to_slot;
    int n_reroutes;
    // From the origin on.
    const int *reroutes;
} nino_doc_link;

typedef struct nino_doc_reroute {
    const char *id;
    double x, y;
} nino_doc_reroute;

typedef struct nino_doc_group {
    const char *title, *color;
    // With its title.
    double x, y, width, height;
} nino_doc_group;

NINO_API int nino_document_n_nodes(const nino_document *d);
NINO_API int nino_document_n_links(const nino_document *d);
NINO_API int nino_document_n_reroutes(const nino_document *d);
NINO_API int nino_document_n_groups(const nino_document *d);
// NULL: no such.
NINO_API const nino_doc_node *nino_document_node(const nino_document *d, int i);
NINO_API const nino_doc_link *nino_document_link(const nino_document *d, int i);
NINO_API const nino_doc_reroute *nino_document_reroute(const nino_document *d, int i);
NINO_API const nino_doc_group *nino_document_group(const nino_document *d, int i);
// -1: no such node.
NINO_API int nino_document_find(const nino_document *d, const char *id);
NINO_API const nino_doc_widget *nino_doc_widget_find(const nino_doc_node *n, const char *name);

// Names of the files that a parameter of this folder can take ("vae", "checkpoints", "input"),
// sorted; one malloc'd block, NULL-terminated. models, input_dir: as in nino_ctx_params.
NINO_API char **nino_list_files(const char *const *models, const char *input_dir,
                                const char *folder, nino_error *err);

// Is what comes out of one usable by the other? "*" goes with all, "A,B" with A and with B.
NINO_API bool nino_document_types_fit(const char *from, const char *to);
// Size that a node of this class gets, as ComfyUI's editor computes it.
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
// ids stay too: "41" runs as "57:41". id: of the instance, or NULL. Kind "cycle": a way leads out
// of them and in again. Reroutes of links that now pass its border go.
NINO_API nino_status nino_document_make_subgraph(nino_document *d, const char *const *ids, size_t n,
                                                 const char *name, char id[32], nino_error *err);
// The other way: the instance gives place to the nodes inside, connected as it was; a definition
// that is used nowhere else goes. *first: number of the first of them; *n: how many; or NULL.
NINO_API nino_status nino_document_unpack(nino_document *d, const char *id, int *first, int *n,
                                          nino_error *err);

// Ports of a subgraph: those of an instance, or inside it those of its two ends, by number as read.
// Every instance follows, links stay. Kind "slot": there is none.
// "": its own.
NINO_API nino_status nino_document_rename_port(nino_document *d, int node, bool is_output, int slot,
                                               const char *label, nino_error *err);
// With its links, inside and outside.
NINO_API nino_status nino_document_remove_port(nino_document *d, int node, bool is_output, int slot,
                                               nino_error *err);
// Inside: a new input of the subgraph that feeds this input of a node (whose link goes), or a new
// output for this output.
NINO_API nino_status nino_document_add_port(nino_document *d, int node, bool is_output, int slot,
                                            nino_error *err);

// Inside: the instances show this value of a node as theirs, or no longer. Kind "linked": it comes
// through an input.
NINO_API nino_status nino_document_promote(nino_document *d, const char *id, const char *widget,
                                           bool is_shown, nino_error *err);
NINO_API bool nino_document_is_promoted(const nino_document *d, const char *id, const char *widget);
// Outside: the instance, and all others of its subgraph, no longer show this value from inside.
NINO_API nino_status nino_document_demote(nino_document *d, const char *id, const char *widget,
                                          nino_error *err);

// ---- undo ------------------------------------------------------------------------------------
// Everything between begin and end is one step with this name; begin and end may nest. Cancel
// takes back what was done since the outermost begin.
NINO_API void nino_document_begin(nino_document *d, const char *name);
NINO_API nino_status nino_document_end(nino_document *d, nino_error *err);
NINO_API void nino_document_cancel(nino_document *d);
// NULL: nothing to undo.
NINO_API const char *nino_document_undo_name(const nino_document *d);
NINO_API const char *nino_document_redo_name(const nino_document *d);
// Both show the place where the change was made.
NINO_API nino_status nino_document_undo(nino_document *d, nino_error *err);
NINO_API nino_status nino_document_redo(nino_document *d, nino_error *err);
// The next change of the same value is a step of its own (an editor lost the focus).
NINO_API void nino_document_seal(nino_document *d);

// ---- changes ---------------------------------------------------------------------------------
// class_type: of the node table, "Note", "MarkdownNote", "Reroute", "PrimitiveNode" or the id of a
// subgraph. id: of the new node, or NULL.
NINO_API nino_status nino_document_add(nino_document *d, const char *class_type, double x, double y,
                                       char id[32], nino_error *err);
NINO_API nino_status nino_document_delete(nino_document *d, const char *const *ids, size_t n,
                                          nino_error *err);
// Nodes and slots by number, as read. Kinds of errors: "type", "cycle", "slot".
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
// NULL: the class's own again.
NINO_API nino_status nino_document_set_title(nino_document *d, const char *id, const char *title,
                                             nino_error *err);
NINO_API nino_status nino_document_set_color(nino_document *d, const char *const *ids, size_t n,
                                             const char *color, const char *bgcolor,
                                             nino_error *err);

// Values: as JSON, or as a person types them (checked by the node table: kinds "range", "value").
// Changes of one value that follow each other are one step, until nino_document_seal().
NINO_API nino_status nino_document_set_json(nino_document *d, const char *id, const char *widget,
                                            const char *json, nino_error *err);
NINO_API nino_status nino_document_set_text(nino_document *d, const char *id, const char *widget,
                                            const char *text, nino_error *err);
NINO_API nino_status nino_document_set_control(nino_document *d, const char *id, const char *widget,
                                               const char *control, nino_error *err);
// After a run was queued: seeds go on as their control says. random: what "randomize" takes from.
NINO_API nino_status nino_document_advance(nino_document *d, uint64_t random, nino_error *err);

NINO_API nino_status nino_document_add_group(nino_document *d, const char *title, double x,
                                             double y, double width, double height,
                                             nino_error *err);
// NULL: as it is.
NINO_API nino_status nino_document_set_group(nino_document *d, int group, const char *title,
                                             const char *color, nino_error *err);
NINO_API nino_status nino_document_place_group(nino_document *d, int group, double x, double y,
                                               double width, double height, nino_error *err);
NINO_API nino_status nino_document_delete_group(nino_document *d, int group, nino_error *err);

// A point that a link goes through, behind its first `at` reroutes.
NINO_API nino_status nino_document_add_reroute(nino_document *d, int link, int at, double x,
                                               double y, nino_error *err);
NINO_API nino_status nino_document_move_reroute(nino_document *d, const char *id, double dx,
                                                double dy, nino_error *err);
NINO_API nino_status nino_document_delete_reroute(nino_document *d, const char *id,
                                                  nino_error *err);

// ---- form view -------------------------------------------------------------------------------
// A value that the form shows; of the workflow itself.
typedef struct nino_doc_form_input {
    const char *node, *widget;
} nino_doc_form_input;
// Returns how many the file names; 0: it does not say, a form may show all values.
NINO_API size_t nino_document_form_inputs(const nino_document *d, nino_doc_form_input *out,
                                          size_t max);
// And not as a graph.
NINO_API bool nino_document_opens_form(const nino_document *d);
NINO_API nino_status nino_document_set_form_inputs(nino_document *d,
                                                   const nino_doc_form_input *inputs, size_t n,
                                                   bool opens_form, nino_error *err);

// ---- clipboard -------------------------------------------------------------------------------
// Nodes with the links between them, as a small workflow; links from outside are noted in it.
// malloc'd; NULL: out of memory, or an id does not exist.
NINO_API char *nino_document_copy(const nino_document *d, const char *const *ids, size_t n,
                                  nino_error *err);
// Their middle comes to x, y. with_links: also connects to where they were connected from.
// *first: number of the first new node; *n: how many; both may be NULL.
NINO_API nino_status nino_document_paste(nino_document *d, const char *json, size_t len, double x,
                                         double y, bool with_links, int *first, int *n,
                                         nino_error *err);

NINO_END
