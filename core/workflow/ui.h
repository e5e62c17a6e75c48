// Internal: workflows as ComfyUI's editor saves them (format 0.4 and 1.0, subgraphs, group nodes),
// and the API form made from them. The JSON document stays the truth; everything here points into
// it. Nothing recurses: files decide how deep subgraphs nest. Rules: Comfy-Org/ComfyUI_frontend
// src/utils/executionUtil.ts, lib/litegraph/src/subgraph/ExecutableNodeDTO.ts,
// extensions/core/groupNode.ts.
#pragma once
#include "core/base/arena.h"
#include "core/base/json.h"
#include "core/node/node_impl.h"

enum {
    NINO_UI_NONE = -1,
    NINO_UI_OUTER = -2,       // the origin of a link: the input of the subgraph that `slot` says
    NINO_UI_MAX_INPUTS = 4096 // of one node
};

typedef enum nino_ui_kind {
    NINO_UI_NODE,     // executed
    NINO_UI_NOTE,     // nothing comes out of it
    NINO_UI_REROUTE,  // its only input comes out
    NINO_UI_VALUE,    // PrimitiveNode: its widget comes out
    NINO_UI_GET,      // the input of the SetNode of the same name comes out
    NINO_UI_INSTANCE, // of a subgraph or a group node
} nino_ui_kind;

typedef struct nino_ui_link {
    nino_json *json;
    const char *id;       // as text; NULL in group nodes
    const char *from;     // id of the origin, for messages
    int32_t origin, slot; // origin: a node, NINO_UI_OUTER, or NINO_UI_NONE: no such node
    bool is_double;       // another link has the same id and says something else
    bool is_offered;      // by a broadcaster (json is that): the file has no such link
} nino_ui_link;

typedef struct nino_ui_port {
    nino_json *json;
    const char *name, *type; // type: "*" when the file does not say
    const char *widget;      // name of the widget behind it, or NULL
    const char *link_id;     // not NULL: connected
    int32_t link;            // NINO_UI_NONE: not connected, or no link has this id
} nino_ui_port;

typedef struct nino_ui_node {
    nino_json *json;
    const char *id, *type, *title; // title: NULL if the file has none
    const nino_node_def *def;
    const nino_json *outputs; // or NULL
    nino_json *values;        // widgets_values, or NULL
    nino_ui_port *ports;
    int32_t n_ports, scope; // scope: where it is
    int32_t inner;          // kind INSTANCE: the scope inside
    nino_ui_kind kind;
    bool is_muted, is_bypassed;
} nino_ui_node;

// The workflow itself (number 0), the definition of a subgraph, or that of a group node.
typedef struct nino_ui_scope {
    nino_json *json;
    const char *name;
    bool is_group;
    bool has_widget_ports;       // group node: its inputs include those of widgets
    int32_t first, n_nodes;      // in nodes
    int32_t n_inputs;            // from outside
    const nino_json *inputs;     // subgraph: their definitions
    int32_t n_outputs, *outputs; // links that arrive at the output node, by slot
    int32_t n_instances;
    int32_t first_use; // the first node that is one of these, or NINO_UI_NONE
} nino_ui_scope;

// A scope as it is executed: a subgraph used twice has two.
typedef struct nino_ui_instance {
    int32_t parent, node; // node: the instance node, in the parent's scope
    int32_t scope;
    const char *prefix; // of execution ids: "57:"
    int32_t *child;     // instance of node scope.first + i, or NINO_UI_NONE
    int32_t *value_at;  // group node: where node i's values begin in the outer node's
    int32_t n_values;   // group node: how many values its nodes have
    int32_t next;       // of the walk that writes
} nino_ui_instance;

// Where a literal of the API form stands in the document.
typedef struct nino_ui_place {
    int32_t node;     // number in the API form
    const char *key;  // input
    nino_json *value; // several inputs may share one
} nino_ui_place;

// What is wrong with a connected input; it is left out of the API form.
typedef struct nino_ui_issue {
    int32_t node;
    const char *key, *link, *why; // why: as nino_ui_source has it
} nino_ui_issue;

typedef struct nino_ui_member { // a node of the API form
    int32_t instance, node;
} nino_ui_member;

typedef struct nino_ui {
    const char *name; // of the file
    nino_json_doc *doc;
    nino_json *root;
    nino_arena *arena;
    nino_ui_scope *scopes;
    nino_ui_node *nodes;
    nino_ui_link *links;
    nino_ui_instance *instances;
    nino_ui_member *members;
    nino_ui_place *places;
    nino_ui_issue *issues;
    int32_t n_scopes, n_nodes, n_links, n_instances, n_members, n_places, n_issues;
    int32_t cap_instances, cap_members, cap_places, cap_issues;
    struct nino_ui_index *index;
    uint64_t work; // that nino_ui_follow() did so far
} nino_ui;

bool nino_ui_is(const nino_json *root); // does it look like the editor's form?
// Reads what root (an object of doc) holds; doc is borrowed and must outlive it. In it, node ids that
// are there twice and links that only their origin knows are put right. Errors name the node. Kinds:
// schema, dup, limit, graph (a subgraph that holds itself).
nino_ui *nino_ui_create(nino_json_doc *doc, nino_json *root, const char *name, nino_error *err);
void nino_ui_destroy(nino_ui **ui);

// Appends the API form; fills members, places and issues.
nino_status nino_ui_to_api(nino_ui *ui, nino_buf *out, nino_error *err);
// Makes input `key` of API node `i` the JSON text `json` in the document. *shared: the place that
// changed, other inputs may have it too; NULL: this input alone. What the form cannot hold is
// refused without a change: NINO_ERR_UNSUPPORTED.
nino_status nino_ui_set(nino_ui *ui, int32_t i, const char *key, const char *json,
                        const nino_json **shared, nino_error *err);

// The same for a widget of a node of the document, which the caller reads anew afterwards.
// is_control: what happens to it after a run.
nino_status nino_ui_set_widget(nino_ui *ui, int32_t node, const char *key, const char *json,
                               bool is_control, nino_error *err);

// Puts JSON text in the place of a value of the document, and into widgets_values_named of its node
// where that has the value too.
nino_status nino_ui_write_value(nino_ui *ui, nino_json *value, const char *json, nino_error *err);

// The value of a place as the API form has it, as JSON text.
void nino_ui_place_text(const nino_ui *ui, const nino_ui_place *p, nino_buf *out);

// ---- parts -----------------------------------------------------------------------------------

// Finding by name: what it is looked up as, in which scope.
enum {
    NINO_UI_IS_NODE = 'n',
    NINO_UI_IS_LINK = 'l',
    NINO_UI_IS_SETTER = 's',
    NINO_UI_IS_DEFINITION = 'd',
    NINO_UI_IS_ENTRY = 'e' // a node of the document, before nodes are read
};
// The value that the name has already, or NINO_UI_NONE when it is new; *failed: out of memory.
int32_t nino_ui_put(nino_ui *ui, char what, int32_t scope, const char *name, int32_t value,
                    bool *failed);
int32_t nino_ui_get(const nino_ui *ui, char what, int32_t scope, const char *name);
// Ids are whole numbers or texts; both are names here. NULL: neither.
const char *nino_ui_id(const nino_json *v);
// The name under which a SetNode keeps its input, and a GetNode asks for it.
const char *nino_ui_shared_name(const nino_ui_node *n);
int32_t nino_ui_slot(const nino_json *v); // NINO_UI_NONE: none that a node could have
const nino_json *nino_ui_array(const nino_json *obj, const char *key); // or NULL
// Refuses with where "flow.json: node 7" or "flow.json: subgraph Upscale: node 7".
nino_status nino_ui_bad(const nino_ui *ui, int32_t scope, const char *what, const char *id,
                        const char *kind, const nino_json *at, const char *msg, nino_error *err);
nino_status nino_ui_nomem(const nino_ui *ui, nino_error *err);

nino_status nino_ui_repair(nino_ui *ui, int32_t scope, nino_error *err); // before nodes are read
size_t nino_ui_count_links(const nino_ui *ui); // room that nino_ui_read_links() needs
nino_status nino_ui_read_links(nino_ui *ui, int32_t scope, nino_error *err);
// Use Everywhere (ui_everywhere.c): a node that only offers what it is connected to; room that the
// links need which it stands for; those links. False: out of memory.
bool nino_ui_is_broadcaster(const char *type);
size_t nino_ui_count_everywhere(const nino_ui *ui);
bool nino_ui_connect_everywhere(nino_ui *ui, int32_t scope);
nino_status nino_ui_make_instances(nino_ui *ui, nino_error *err);
// The input of a node of group class s that is its input `slot`, or NULL.
const nino_ui_port *nino_ui_group_port(const nino_ui_scope *s, const nino_ui_node *n, int32_t slot);

// One widget of a node, in the order of widgets_values.
typedef struct nino_ui_widget {
    const char *name;
    char kind;           // i f b s d e c x, as in known.h; '?': nobody knows
    char mark;           // ':', or '+' '^' '#': entries that are no input follow
    nino_json *value;    // NULL: widgets_values has none
    bool is_linked;      // inside a group node: it has no value there
    const char *options; // a choice that brings further widgets: those, as in known.h
} nino_ui_widget;
typedef struct nino_ui_widgets {
    nino_ui_widget *list;
    int32_t n, room;
    int32_t n_used;   // entries of widgets_values
    bool is_complete; // each has a value
} nino_ui_widgets;
// Names the values of a node; `from`: the first entry to look at. false: out of memory.
bool nino_ui_bind(nino_ui *ui, const nino_ui_node *n, nino_json *values, int32_t from,
                  nino_ui_widgets *out);

// ---- values that instances keep (ui_promote.c)
const nino_json *nino_ui_proxies(const nino_ui *ui, const nino_ui_node *n); // NULL: none
// What instance node n has for the entry [id, widget] of its proxyWidgets. NULL: nothing, the inner
// value counts. *at: its number in widgets_values, UINT32_MAX: there is no such entry.
nino_json *nino_ui_proxy_value(const nino_ui *ui, const nino_ui_node *n, const char *id,
                               const char *widget, uint32_t *at);
// The same for input `name` of its definition.
nino_json *nino_ui_host_value(const nino_ui *ui, const nino_ui_node *n, const char *name,
                              uint32_t *at);
// What the instances around a node have in the place of its widget; NULL: nothing.
nino_json *nino_ui_override(const nino_ui *ui, int32_t instance, int32_t node, const char *widget);
// The value of input `name` of instance node `node`, which is in this instance, or NULL.
nino_json *nino_ui_promoted(const nino_ui *ui, int32_t instance, int32_t node, const char *name);
// The widget inside that input `name` of an instance feeds, with the value that it has where the
// instance has none. *def: of its node, or NULL. False: out of memory.
bool nino_ui_inner_widget(nino_ui *ui, const nino_ui_node *n, const char *name,
                          const nino_node_def **def, nino_ui_widget *out);
// What the instances around keep in the place of that widget, where `instance` is the one whose input it is; NULL:
// nothing.
nino_json *nino_ui_fed_override(const nino_ui *ui, int32_t instance, const char *name);
// As nino_ui_bind(), of an instance of a subgraph.
bool nino_ui_bind_instance(nino_ui *ui, const nino_ui_node *n, nino_ui_widgets *out);

// Texts with choices: a widget of the editor that it works on before it sends it; and that work.
// salt: what the choice depends on.
bool nino_ui_is_dynamic(const char *class_type, const char *key);
void nino_ui_dynamic_text(nino_buf *out, const char *text, size_t len, const char *salt);
bool nino_ui_is_extra(const char *name); // of the editor, no input of any class
bool nino_ui_is_control(const char *s);  // a choice of control_after_generate
// The array or object with the values of a node, and the first entry that is its own.
nino_json *nino_ui_values(const nino_ui *ui, int32_t instance, int32_t node, int32_t *from);

typedef enum nino_ui_found {
    NINO_UI_FOUND_NOTHING, // the input's own widget counts
    NINO_UI_FOUND_NODE,
    NINO_UI_FOUND_VALUE,
    NINO_UI_FOUND_MUTED, // the input is left out
    NINO_UI_FOUND_BROKEN,
    NINO_UI_FOUND_NO_MEMORY,
} nino_ui_found;
typedef struct nino_ui_source {
    nino_ui_found found;
    int32_t instance, node, slot;
    nino_json *value;
    // It is what a widget inside shows: what an instance keeps for the port's own one counts more.
    bool is_inner;
    const char *why; // BROKEN
    char link[64];   // BROKEN: the link that is
} nino_ui_source;
// Where the value of a connected port comes from: through reroutes, bypassed nodes and subgraphs.
void nino_ui_follow(nino_ui *ui, int32_t instance, const nino_ui_port *port, nino_ui_source *out);

// Room for one more element; false: out of memory.
bool nino_ui_grow(void **list, int32_t n, int32_t *cap, size_t size);
