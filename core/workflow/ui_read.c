// The editor's form as scopes and nodes that point into the document.
#include "core/workflow/ui.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/workflow/workflow.h"

// ---- finding things by name ------------------------------------------------------------------

typedef struct entry {
    const char *name; // NULL: free
    int32_t scope, value;
    char what;
} entry;

struct nino_ui_index {
    uint32_t mask, n;
    entry *slot;
};

static entry *ui_read_probe(const struct nino_ui_index *x, char what, int32_t scope,
                            const char *name)
{
    uint32_t h = 2166136261u ^ (uint32_t) scope * 0x9e3779b9u ^ (uint32_t) what;
    for (const char *c = name; *c; c++)
        h = (h ^ (unsigned char) *c) * 16777619u;
    for (h ^= h >> 15;; h++) {
        entry *e = &x->slot[h & x->mask];
        if (!e->name || (e->what == what && e->scope == scope && !strcmp(e->name, name)))
            return e;
    }
}

static bool grow_index(struct nino_ui_index *x)
{
    struct nino_ui_index wider = { .mask = x->mask ? 2 * x->mask + 1 : 63, .n = x->n };
    wider.slot = calloc((size_t) wider.mask + 1, sizeof(*wider.slot));
    if (!wider.slot)
        return false;
    for (uint32_t i = 0; x->slot && i <= x->mask; i++)
        if (x->slot[i].name)
            *ui_read_probe(&wider, x->slot[i].what, x->slot[i].scope, x->slot[i].name) = x->slot[i];
    free(x->slot);
    *x = wider;
    return true;
}

// The value that the name has already, or NINO_UI_NONE when it is new; *failed: out of memory.
int32_t nino_ui_put(nino_ui *ui, char what, int32_t scope, const char *name, int32_t value,
                    bool *failed)
{
    struct nino_ui_index *x = ui->index;
    if (2 * x->n >= x->mask && !grow_index(x)) {
        *failed = true;
        return NINO_UI_NONE;
    }
    entry *e = ui_read_probe(x, what, scope, name);
    if (e->name)
        return e->value;
    *e = (entry){ name, scope, value, what };
    x->n++;
    return NINO_UI_NONE;
}

int32_t nino_ui_get(const nino_ui *ui, char what, int32_t scope, const char *name)
{
    const struct nino_ui_index *x = ui->index;
    const entry *e = x->slot ? ui_read_probe(x, what, scope, name) : NULL;
    return e && e->name ? e->value : NINO_UI_NONE;
}

// ---- small readers ---------------------------------------------------------------------------

static nino_json *ui_read_member(const nino_json *obj, const char *key)
{
    return (nino_json *) nino_json_get(obj, key);
}

const nino_json *nino_ui_array(const nino_json *obj, const char *key)
{
    const nino_json *v = nino_json_get(obj, key);
    return v && v->type == NINO_JSON_ARRAY ? v : NULL;
}

// Ids are whole numbers or texts; both are names here. NULL: neither.
const char *nino_ui_id(const nino_json *v)
{
    if (v && v->type == NINO_JSON_NUMBER)
        return v->text[strspn(v->text, "-0123456789")] ? NULL : v->text;
    const char *s = nino_json_str(v);
    return s && *s ? s : NULL;
}

// A slot number; NINO_UI_NONE: none that a node could have.
int32_t nino_ui_slot(const nino_json *v)
{
    int64_t i = 0;
    const char *s = nino_json_str(v); // "0" is seen in old files
    if (s && !s[strspn(s, "0123456789")] && *s && strlen(s) < 9)
        return (int32_t) strtol(s, NULL, 10);
    return nino_json_i64(v, &i) && i >= 0 && i < INT32_MAX ? (int32_t) i : NINO_UI_NONE;
}

static const char *ui_read_type_of(const nino_json *obj)
{
    const char *s = nino_json_str(nino_json_get(obj, "type"));
    return s && *s ? s : "*";
}

nino_status nino_ui_nomem(const nino_ui *ui, nino_error *err)
{
    return nino_fail(err, NINO_ERR_NOMEM, ui->name, "out of memory");
}

// where: "flow.json: node 7" or "flow.json: subgraph Upscale: node 7".
nino_status nino_ui_bad(const nino_ui *ui, int32_t scope, const char *what, const char *id,
                        const char *kind, const nino_json *at, const char *msg, nino_error *err)
{
    char where[400], text[320], in[64] = "", shown[64] = "";
    if (scope)
        nino_utf8_printable(in, sizeof(in), ui->scopes[scope].name, strlen(ui->scopes[scope].name));
    if (id)
        nino_utf8_printable(shown, sizeof(shown), id, strlen(id));
    snprintf(where, sizeof(where), "%.200s%s%s: %s%s%s", ui->name, scope ? ": subgraph " : "", in,
             what, id ? " " : "", shown);
    snprintf(text, sizeof(text), "%s at %" PRIu32 ":%" PRIu32, msg, at->line, at->col);
    return nino_fail_kind(err, NINO_ERR_FORMAT, kind, where, "%s", text);
}

bool nino_ui_is(const nino_json *root) { return nino_ui_array(root, "nodes") != NULL; }

bool nino_ui_grow(void **list, int32_t n, int32_t *cap, size_t size)
{
    if (n < *cap)
        return true;
    if (n > INT32_MAX / 2)
        return false;
    const int32_t wider = n ? 2 * n : 16;
    void *p = realloc(*list, (size_t) wider * size);
    if (!p)
        return false;
    *list = p;
    *cap = wider;
    return true;
}

// ---- scopes ----------------------------------------------------------------------------------

static const nino_json *group_nodes(const nino_ui *ui)
{
    const nino_json *g = nino_json_get(nino_json_get(ui->root, "extra"), "groupNodes");
    return g && g->type == NINO_JSON_OBJECT ? g : NULL;
}

static nino_status add_scope(nino_ui *ui, nino_json *v, const char *name, bool is_group,
                             nino_error *err)
{
    const nino_json *nodes = nino_ui_array(v, "nodes");
    if (!nodes)
        return nino_ui_bad(ui, 0, is_group ? "group node" : "subgraph", name, "schema", v,
                           "a definition must be an object with nodes", err);
    ui->scopes[ui->n_scopes] = (nino_ui_scope){ .json = v,
                                                .name = name,
                                                .is_group = is_group,
                                                .inputs = nino_ui_array(v, "inputs"),
                                                .first_use = NINO_UI_NONE };
    if (nodes->count > NINO_GRAPH_MAX_NODES - (uint32_t) ui->n_nodes)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "limit", ui->name, "more than %d nodes in all",
                              NINO_GRAPH_MAX_NODES);
    ui->n_nodes += (int32_t) nodes->count;
    ui->n_scopes++;
    return NINO_OK;
}

// "workflow/NAME" (or "workflow>NAME") is the class of a group node.
static const char *group_class(nino_ui *ui, const char *name)
{
    const size_t size = strlen(name) + 10;
    char *s = nino_arena_alloc(ui->arena, size);
    if (s)
        snprintf(s, size, "workflow/%s", name);
    return s;
}

static nino_status find_scopes(nino_ui *ui, nino_error *err)
{
    const nino_json *subs = nino_ui_array(nino_json_get(ui->root, "definitions"), "subgraphs");
    const nino_json *groups = group_nodes(ui);
    const size_t most = 1 + (subs ? subs->count : 0) + (groups ? groups->count : 0);
    bool failed = false;
    ui->scopes = nino_arena_alloc(ui->arena, most * sizeof(*ui->scopes));
    if (!ui->scopes)
        return nino_ui_nomem(ui, err);
    nino_status st = add_scope(ui, ui->root, "", false, err);
    for (nino_json *v = subs ? subs->child : NULL; v && !st; v = v->next) {
        const char *id = nino_ui_id(nino_json_get(v, "id"));
        const char *name = nino_json_str(nino_json_get(v, "name"));
        if (!id)
            return nino_ui_bad(ui, 0, "subgraph", name, "schema", v, "the definition has no id",
                               err);
        if (nino_ui_put(ui, NINO_UI_IS_DEFINITION, 0, id, ui->n_scopes, &failed) >= 0)
            return nino_ui_bad(ui, 0, "subgraph", id, "dup", v,
                               "another definition has the same id", err);
        st = add_scope(ui, v, name && *name ? name : id, false, err);
    }
    for (nino_json *v = groups ? groups->child : NULL; v && !st; v = v->next) {
        const char *type = strlen(v->key) == v->key_len ? group_class(ui, v->key) : "";
        if (!type)
            return nino_ui_nomem(ui, err);
        nino_ui_put(ui, NINO_UI_IS_DEFINITION, 0, type, ui->n_scopes, &failed);
        st = add_scope(ui, v, v->key, true, err);
    }
    return failed ? nino_ui_nomem(ui, err) : st;
}

// The definition that a node of this class is made from.
static int32_t find_definition(const nino_ui *ui, const char *type)
{
    char name[NINO_GRAPH_MAX_NAME + 1];
    if (strncmp(type, "workflow>", 9))
        return nino_ui_get(ui, NINO_UI_IS_DEFINITION, 0, type);
    snprintf(name, sizeof(name), "workflow/%s", type + 9);
    return nino_ui_get(ui, NINO_UI_IS_DEFINITION, 0, name);
}

// ---- nodes -----------------------------------------------------------------------------------

// Classes that only the editor knows: ComfyUI's own, and those of rgthree and KJNodes.
static nino_ui_kind ui_read_kind_of(const char *type)
{
    static const struct {
        const char *type;
        nino_ui_kind kind;
    } own[] = {
        { "Note", NINO_UI_NOTE },
        { "MarkdownNote", NINO_UI_NOTE },
        { "Reroute", NINO_UI_REROUTE },
        { "PrimitiveNode", NINO_UI_VALUE },
        { "GetNode", NINO_UI_GET },
        { "SetNode", NINO_UI_REROUTE },
        { "Reroute (rgthree)", NINO_UI_REROUTE },
        { "Label (rgthree)", NINO_UI_NOTE },
        { "Bookmark (rgthree)", NINO_UI_NOTE },
        { "Fast Muter (rgthree)", NINO_UI_NOTE },
        { "Fast Bypasser (rgthree)", NINO_UI_NOTE },
        { "Fast Groups Muter (rgthree)", NINO_UI_NOTE },
        { "Fast Groups Bypasser (rgthree)", NINO_UI_NOTE },
        { "Fast Actions Button (rgthree)", NINO_UI_NOTE },
        { "Mute / Bypass Repeater (rgthree)", NINO_UI_NOTE },
        { "Mute / Bypass Relay (rgthree)", NINO_UI_NOTE },
        { "Node Collector (rgthree)", NINO_UI_NOTE },
        { "Random Unmuter (rgthree)", NINO_UI_NOTE },
        { "Note Plus (mtb)", NINO_UI_NOTE },
    };
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (!strcmp(type, own[i].type))
            return own[i].kind;
    return nino_ui_is_broadcaster(type) ? NINO_UI_NOTE : NINO_UI_NODE;
}

static nino_status read_ports(nino_ui *ui, nino_ui_node *n, nino_error *err)
{
    const nino_json *inputs = nino_json_get(n->json, "inputs");
    if (!inputs || inputs->type == NINO_JSON_NULL)
        return NINO_OK;
    if (inputs->type != NINO_JSON_ARRAY)
        return nino_ui_bad(ui, n->scope, "node", n->id, "schema", inputs, "inputs must be an array",
                           err);
    if (inputs->count > NINO_UI_MAX_INPUTS)
        return nino_ui_bad(ui, n->scope, "node", n->id, "limit", inputs, "more than 4096 inputs",
                           err);
    n->ports = nino_arena_alloc(ui->arena, inputs->count * sizeof(*n->ports));
    if (!n->ports)
        return nino_ui_nomem(ui, err);
    for (nino_json *v = inputs->child; v; v = v->next) {
        const char *name = nino_json_str(nino_json_get(v, "name"));
        if (!name)
            return nino_ui_bad(ui, n->scope, "node", n->id, "schema", v, "an input has no name",
                               err);
        n->ports[n->n_ports++] = (nino_ui_port){
            .json = v,
            .name = name,
            .type = ui_read_type_of(v),
            .widget = nino_json_str(nino_json_get(nino_json_get(v, "widget"), "name")),
            .link_id = nino_ui_id(nino_json_get(v, "link")),
            .link = NINO_UI_NONE,
        };
    }
    return NINO_OK;
}

static nino_status ui_read_read_node(nino_ui *ui, int32_t scope, int32_t number, nino_json *v,
                                     nino_ui_node *n, nino_error *err)
{
    const bool is_group = ui->scopes[scope].is_group;
    char digits[16];
    snprintf(digits, sizeof(digits), "%" PRId32, number);
    *n = (nino_ui_node){ .json = v, .scope = scope, .inner = NINO_UI_NONE };
    // Nodes of a group have no ids; they go by their number.
    n->id = is_group ? nino_arena_strdup(ui->arena, digits) : nino_ui_id(nino_json_get(v, "id"));
    n->type = nino_json_str(nino_json_get(v, "type"));
    if (is_group && !n->id)
        return nino_ui_nomem(ui, err);
    if (v->type != NINO_JSON_OBJECT || !n->id)
        return nino_ui_bad(ui, scope, "node", NULL, "schema", v,
                           "a node must be an object with an id", err);
    if (!n->type)
        return nino_ui_bad(ui, scope, "node", n->id, "schema", v, "the node has no type", err);
    if (strlen(n->id) > NINO_GRAPH_MAX_NAME || strlen(n->type) > NINO_GRAPH_MAX_NAME)
        return nino_ui_bad(ui, scope, "node", n->id, "limit", v,
                           "the id or class name is longer than 1024 bytes", err);
    int64_t mode = 0;
    nino_json_i64(nino_json_get(v, "mode"), &mode);
    n->is_muted = mode == 2;
    n->is_bypassed = mode == 4;
    n->title = nino_json_str(nino_json_get(v, "title"));
    n->outputs = nino_ui_array(v, "outputs");
    n->values = ui_read_member(v, "widgets_values");
    if (n->values && n->values->count > NINO_UI_MAX_INPUTS)
        return nino_ui_bad(ui, scope, "node", n->id, "limit", n->values,
                           "more than 4096 entries in widgets_values", err);
    n->inner = find_definition(ui, n->type);
    n->kind = n->inner >= 0 ? NINO_UI_INSTANCE : ui_read_kind_of(n->type);
    n->def = n->kind == NINO_UI_NODE ? nino_node_find(n->type, NULL) : NULL;
    return read_ports(ui, n, err);
}

// The name under which a SetNode keeps its input, and a GetNode asks for it.
const char *nino_ui_shared_name(const nino_ui_node *n)
{
    const nino_json *v = n->values && n->values->type == NINO_JSON_ARRAY ? n->values->child : NULL;
    const char *s = nino_json_str(v);
    return s ? s : "";
}

static nino_status ui_read_read_nodes(nino_ui *ui, int32_t scope, nino_error *err)
{
    nino_ui_scope *s = &ui->scopes[scope];
    bool failed = false;
    s->first = ui->n_nodes;
    for (nino_json *v = nino_ui_array(s->json, "nodes")->child; v; v = v->next) {
        nino_ui_node *n = &ui->nodes[ui->n_nodes];
        const nino_status st = ui_read_read_node(ui, scope, s->n_nodes, v, n, err);
        if (st)
            return st;
        if (nino_ui_put(ui, NINO_UI_IS_NODE, scope, n->id, ui->n_nodes, &failed) >= 0)
            return nino_ui_bad(ui, scope, "node", n->id, "dup", v, "another node has the same id",
                               err);
        if (!strcmp(n->type, "SetNode"))
            nino_ui_put(ui, NINO_UI_IS_SETTER, scope, nino_ui_shared_name(n), ui->n_nodes, &failed);
        if (n->inner >= 0 && ui->scopes[n->inner].first_use < 0)
            ui->scopes[n->inner].first_use = ui->n_nodes;
        ui->n_nodes++;
        s->n_nodes++;
    }
    return failed ? nino_ui_nomem(ui, err) : NINO_OK;
}

// ---- all of it -------------------------------------------------------------------------------

static nino_status ui_read_read_all(nino_ui *ui, nino_error *err)
{
    nino_status st = find_scopes(ui, err);
    if (st)
        return st;
    ui->nodes = nino_arena_alloc(ui->arena, ((size_t) ui->n_nodes + 1) * sizeof(*ui->nodes));
    if (!ui->nodes)
        return nino_ui_nomem(ui, err);
    ui->n_nodes = 0; // counted again while they are read
    for (int32_t i = 0; i < ui->n_scopes && !st; i++)
        st = nino_ui_repair(ui, i, err);
    for (int32_t i = 0; i < ui->n_scopes && !st; i++)
        st = ui_read_read_nodes(ui, i, err);
    if (st)
        return st;
    ui->links = nino_arena_alloc(
        ui->arena, (nino_ui_count_links(ui) + nino_ui_count_everywhere(ui)) * sizeof(*ui->links));
    if (!ui->links)
        return nino_ui_nomem(ui, err);
    for (int32_t i = 0; i < ui->n_scopes && !st; i++)
        st = nino_ui_read_links(ui, i, err);
    for (int32_t i = 0; i < ui->n_scopes && !st; i++)
        if (!nino_ui_connect_everywhere(ui, i))
            st = nino_ui_nomem(ui, err);
    return st ? st : nino_ui_make_instances(ui, err);
}

nino_ui *nino_ui_create(nino_json_doc *doc, nino_json *root, const char *name, nino_error *err)
{
    nino_ui *ui = calloc(1, sizeof(*ui));
    nino_status st = NINO_ERR_NOMEM;
    if (ui) {
        *ui = (nino_ui){ .name = name, .doc = doc, .root = root, .arena = nino_arena_create() };
        ui->index = calloc(1, sizeof(*ui->index));
    }
    if (!ui || !ui->arena || !ui->index)
        nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    else
        st = ui_read_read_all(ui, err);
    if (st)
        nino_ui_destroy(&ui);
    return ui;
}

void nino_ui_destroy(nino_ui **pui)
{
    nino_ui *ui = pui ? *pui : NULL;
    if (!ui)
        return;
    *pui = NULL;
    if (ui->index)
        free(ui->index->slot);
    free(ui->index);
    free(ui->instances);
    free(ui->members);
    free(ui->places);
    free(ui->issues);
    nino_arena_destroy(&ui->arena);
    free(ui);
}
