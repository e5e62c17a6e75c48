// Internal: a workflow being edited. The text is the truth: a change parses it anew, edits that
// copy and puts it in the place of the old one when all went well, so that a failure costs nothing
// and undo is exact. Steps of undo are the bytes that differ.
#pragma once
#include "core/base/arena.h"
#include "core/base/json.h"
#include "core/workflow/ui.h"
#include <ninodes/document.h>

#define NINO_DOC_MAX_BYTES ((size_t) 128 << 20)
#define NINO_DOC_MAX_STEPS 1000
#define NINO_DOC_MAX_STEP_BYTES ((size_t) 64 << 20) // older steps are forgotten beyond it

// The text, what it says, and the part of it that is shown.
typedef struct nino_doc_state {
    nino_json_doc *json;
    nino_ui *ui;
    nino_arena *arena;
    int32_t scope;     // of ui
    nino_json *object; // of the scope: has "nodes", "links"
    nino_doc_node *nodes;
    nino_doc_link *links;
    nino_doc_reroute *reroutes;
    nino_doc_group *groups;
    int n_nodes, n_links, n_reroutes, n_groups;
} nino_doc_state;

typedef struct nino_doc_step {
    char name[80];
    char *place;     // the instances that were entered, one a line: undo goes there
    char *key;       // steps with the same key become one; NULL: never
    size_t at;       // where the texts differ
    char *old, *now; // one block
    size_t n_old, n_now;
} nino_doc_step;

struct nino_document {
    char *name;
    nino_document_form form;
    char *source; // API form: the file, as long as nothing was changed
    size_t source_len;
    nino_doc_state *state;
    char **path; // instances entered
    int n_path;
    nino_doc_step *steps;
    int n_steps, cap_steps, at; // at: steps[at - 1] is undone next
    size_t step_bytes;
    int saved_at;       // -1: that state is gone
    bool first_is_gone; // the same of the one that was loaded
    int depth;          // of begin
    char group[80];
    nino_doc_state *before; // the state at the outermost begin, when something changed since
    uint64_t version;
    nino_buf text;
};

// A change under way.
typedef struct nino_doc_edit {
    nino_document *d;
    nino_json_doc *json; // the copy
    nino_json *scope;
    bool is_root;
    nino_error *err;
} nino_doc_edit;

// Begins a change; commit makes it one (st: how it went so far) or throws the copy away.
nino_status nino_doc_edit_begin(nino_doc_edit *e, nino_document *d, nino_error *err);
nino_status nino_doc_edit_commit(nino_doc_edit *e, nino_status st, const char *key,
                                 const char *name);

nino_json_doc *nino_doc_parse(const nino_document *d, const char *text, size_t len,
                              nino_error *err);
// Puts a state in the place of the old one; n_path: how many of the instances exist in it.
void nino_doc_show(nino_document *d, nino_doc_state *s, int n_path);
// The step from one text to the next; joins the last step if both have this key.
nino_status nino_doc_add_step(nino_document *d, const nino_json_doc *old, const nino_json_doc *now,
                              const char *key, const char *name, nino_error *err);
void nino_doc_release_steps(nino_document *d);

// Reads the text (which it takes over, also on failure); path: instances to enter, as far as they
// are there.
nino_doc_state *nino_doc_state_create(nino_json_doc *json, const char *name, char *const *path,
                                      int *n_path, nino_error *err);
void nino_doc_state_destroy(nino_doc_state **s);
nino_status nino_doc_read(nino_doc_state *s, nino_error *err); // fills the model
nino_status nino_doc_nomem(const nino_document *d, nino_error *err);

// ---- the copy's JSON -------------------------------------------------------------------------
nino_json *nino_doc_get(const nino_json *obj, const char *key); // nino_json_get() for editing
// The member, made with this JSON text when it is absent or null.
nino_json *nino_doc_need(nino_doc_edit *e, nino_json *obj, const char *key, const char *json,
                         nino_status *st);
nino_json *nino_doc_find_id(const nino_json *list, const char *id);
nino_json *nino_doc_node_json(nino_doc_edit *e, const char *id, nino_status *st);
nino_status nino_doc_set_number(nino_doc_edit *e, nino_json *obj, const char *key, double v);
// [x, y], or {"0": x, "1": y} if it is one already.
nino_status nino_doc_set_pair(nino_doc_edit *e, nino_json *obj, const char *key, double x,
                              double y);
nino_status nino_doc_set_string(nino_doc_edit *e, nino_json *obj, const char *key, const char *s);
nino_status nino_doc_drop_id(nino_doc_edit *e, nino_json *list, const char *id);
bool nino_doc_pair(const nino_json *v, double *x, double *y);
// The next free number for a node, link or reroute, which becomes the last one. counter: "Node",
// "Link", "Reroute".
nino_status nino_doc_next_id(nino_doc_edit *e, const char *counter, int64_t *id);
void nino_doc_print_number(nino_buf *out, double v);

// ---- values that an instance shows from inside ------------------------------------------------
// One of them: what the instance calls it, and the inner node and its widget. False: not from
// inside.
bool nino_doc_proxy(const nino_ui *ui, const nino_ui_node *n, const nino_json *entry, char name[96],
                    int32_t *node, const char **widget);
// From a node that only shows a widget to the one that has it. Returns the value that an instance on
// the way keeps in its place; NULL: none does.
nino_json *nino_doc_follow_proxy(const nino_ui *ui, int32_t *node, const char **widget);
// One more of them at the end of an instance's list.
nino_status nino_doc_show_value(nino_doc_edit *e, nino_json *list, const char *id,
                                const char *widget);

// Takes the entry out of an instance's list, with the value that it has there.
nino_status nino_doc_hide_value(nino_doc_edit *e, nino_json *node, const char *id,
                                const char *widget);

// Does fn to every instance of a subgraph, wherever it is; at: e in the scope of that instance.
nino_status nino_doc_each_instance(nino_doc_edit *e, const nino_json *definition,
                                   nino_status (*fn)(nino_doc_edit *at, nino_json *node,
                                                     const void *arg),
                                   const void *arg);
nino_status nino_doc_make_uuid(const nino_document *d, char out[37], nino_error *err); // version 4

// ---- links of the copy -----------------------------------------------------------------------
typedef struct nino_doc_ends {
    const char *id, *from, *to;
    int32_t from_slot, to_slot;
} nino_doc_ends;
bool nino_doc_link_ends(const nino_json *link, nino_doc_ends *out);
nino_json *nino_doc_link_json(nino_doc_edit *e, const char *id);
nino_status nino_doc_cut(nino_doc_edit *e, nino_json *link);
nino_status nino_doc_cut_node(nino_doc_edit *e, const char *id); // all of its links
// input: number in the file's list. Ids may be those of a subgraph's ends.
nino_status nino_doc_tie(nino_doc_edit *e, const char *from, int output, const char *to, int input,
                         const char *type);
// Input `at` of a node goes, with its link; those behind it move up.
nino_status nino_doc_drop_input(nino_doc_edit *e, nino_json *node, int at);

// ---- doc_dynamic.c: inputs that come and go
// Input `key` of a node was connected: the row that it is in, if it is in one, has another free one.
nino_status nino_doc_grow(nino_doc_edit *e, const nino_doc_node *n, const char *key);
// Sets a choice that brings inputs: those of the former one go, with their links.
nino_status nino_doc_choose(nino_doc_edit *e, const nino_doc_node *n, const char *key,
                            const char *json);

const nino_json *nino_doc_reroute_list(const nino_json *scope);
// The reroute a link ends at, or NULL.
const char *nino_doc_link_parent(const nino_json *scope, const nino_json *link);

// ---- making nodes ----------------------------------------------------------------------------
// The text of a node of the table.
void nino_doc_print_node(nino_buf *out, const nino_node_def *def, const char *class_type,
                         const char *id, double x, double y, int64_t order);
// Its parts. box: x, y, width, height; link: its id or "null".
void nino_doc_print_id(nino_buf *out, const char *id);
void nino_doc_print_head(nino_buf *out, const char *class_type, const char *id, const double box[4],
                         int64_t order);
void nino_doc_print_input(nino_buf *out, int i, const char *name, const char *type,
                          bool is_optional, bool is_widget, const char *link);
void nino_doc_print_default(nino_buf *out, const nino_param *p, int i);
void nino_doc_print_tail(nino_buf *out, const char *class_type, bool is_virtual);
// Does a new node show this input?
bool nino_doc_begins(const nino_node_def *def, const nino_port *p);
bool nino_doc_has_control(const nino_param *p); // control_after_generate
double nino_doc_size(int n_in, int n_out, int n_rows, int n_text, double text_width, double *width);
// The editor's form of an API form.
nino_status nino_doc_from_api(nino_graph *g, nino_buf *out, nino_error *err);
