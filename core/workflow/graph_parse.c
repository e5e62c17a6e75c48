// Reading a workflow: API-format JSON, the wrapper of a queue request, the editor's form.
#include "core/workflow/workflow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/num.h"
#include "core/base/utf8.h"

// ---- ids -------------------------------------------------------------------------------------

static uint32_t hash_id(const char *s)
{
    uint32_t h = 2166136261u;
    for (; *s; s++)
        h = (h ^ (unsigned char) *s) * 16777619u;
    return h;
}

// The slot of the id, or the free one where it belongs.
static uint32_t graph_parse_probe(const nino_graph *g, const char *id)
{
    uint32_t i = hash_id(id) & g->index_mask;
    while (g->index[i] >= 0 && strcmp(g->nodes[g->index[i]].id, id))
        i = (i + 1) & g->index_mask;
    return i;
}

int nino_graph_find(const nino_graph *g, const char *id)
{
    return g->n_nodes ? g->index[graph_parse_probe(g, id)] : -1;
}

static bool build_index(nino_graph *g)
{
    uint32_t size = 16;
    while (size < 2 * (uint32_t) g->n_nodes)
        size *= 2;
    g->index = malloc(size * sizeof(*g->index));
    if (!g->index)
        return false;
    g->index_mask = size - 1;
    memset(g->index, 0xff, size * sizeof(*g->index));
    for (int i = 0; i < g->n_nodes; i++)
        g->index[graph_parse_probe(g, g->nodes[i].id)] = i;
    return true;
}

// ---- nodes -----------------------------------------------------------------------------------

static nino_status bad_node(const nino_graph *g, const nino_json *n, const char *kind,
                            const char *what, nino_error *err)
{
    char where[192], id[64];
    nino_utf8_printable(id, sizeof(id), n->key, n->key_len);
    snprintf(where, sizeof(where), "%s: node %s", g->name, id);
    return nino_fail_kind(err, NINO_ERR_FORMAT, kind, where, "%s at %" PRIu32 ":%" PRIu32, what,
                          n->line, n->col);
}

static nino_status graph_parse_read_node(const nino_graph *g, nino_json *n, nino_gnode *out,
                                         nino_error *err)
{
    if (n->type != NINO_JSON_OBJECT)
        return bad_node(g, n, "schema", "a node must be an object", err);
    if (strlen(n->key) != n->key_len)
        return bad_node(g, n, "schema", "the node's id contains a NUL character", err);
    const nino_json *class_type = nino_json_get(n, "class_type");
    const nino_json *inputs = nino_json_get(n, "inputs");
    if (!class_type)
        return bad_node(g, n, "schema", "the node has no class_type", err);
    if (!nino_json_str(class_type))
        return bad_node(g, class_type, "schema", "class_type must be a text", err);
    if (n->key_len > NINO_GRAPH_MAX_NAME || class_type->len > NINO_GRAPH_MAX_NAME)
        return bad_node(g, n, "limit", "the id or class name is longer than 1024 bytes", err);
    if (inputs && inputs->type != NINO_JSON_OBJECT)
        return bad_node(g, inputs, "schema", "inputs must be an object", err);
    const char *title = nino_json_str(nino_json_get(nino_json_get(n, "_meta"), "title"));
    *out = (nino_gnode){ .id = n->key, .class_type = nino_json_str(class_type), .json = n };
    out->def = nino_node_find(out->class_type, &out->alias);
    out->title = title ? title : out->def ? out->def->title : out->class_type;
    return NINO_OK;
}

static nino_status graph_parse_read_nodes(nino_graph *g, nino_error *err)
{
    if (g->prompt->count > NINO_GRAPH_MAX_NODES)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "limit", g->name,
                              "%" PRIu32 " nodes, at most %d are read", g->prompt->count,
                              NINO_GRAPH_MAX_NODES);
    g->nodes = calloc(g->prompt->count + 1, sizeof(*g->nodes));
    if (!g->nodes)
        return nino_fail(err, NINO_ERR_NOMEM, g->name, "out of memory");
    for (nino_json *n = g->prompt->child; n; n = n->next) {
        if (n->key[0] == '_' && !nino_json_get(n, "class_type"))
            continue; // what other programs note about the file
        const nino_status st = graph_parse_read_node(g, n, &g->nodes[g->n_nodes], err);
        if (st)
            return st;
        g->n_nodes++;
    }
    return build_index(g) ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, g->name, "out of memory");
}

// ---- forms of a file -------------------------------------------------------------------------

static nino_json *graph_parse_member(nino_json *obj, const char *key) // nino_json_get() for editing
{
    return (nino_json *) nino_json_get(obj, key);
}

static nino_status keep_workflow(nino_graph *g, const nino_json *ui, nino_error *err)
{
    nino_buf b = { 0 };
    nino_json_write(&b, g->doc, ui);
    if (b.failed) {
        nino_buf_release(&b);
        return nino_fail(err, NINO_ERR_NOMEM, g->name, "out of memory");
    }
    free(g->workflow_json);
    g->workflow_json = b.data;
    return NINO_OK;
}

// The document is the editor's form, or holds it in `root`: the API form is made from it.
static nino_status graph_parse_convert(nino_graph *g, nino_json *root, nino_error *err)
{
    const nino_json_limits limits = { .max_bytes = 2 * NINO_GRAPH_MAX_BYTES };
    nino_buf api = { 0 };
    nino_status st = NINO_ERR_NOMEM;
    g->ui_doc = g->doc;
    g->doc = NULL;
    g->ui = nino_ui_create(g->ui_doc, root, g->name, err);
    st = g->ui ? nino_ui_to_api(g->ui, &api, err) : err ? err->code : NINO_ERR_FORMAT;
    if (st == NINO_OK)
        st = nino_json_parse(api.data, api.len, g->name, &limits, &g->doc, err);
    if (st == NINO_OK)
        g->prompt = g->doc->root;
    nino_buf_release(&api);
    return st;
}

// Finds the object that holds the nodes, and a UI form beside it.
static nino_status find_prompt(nino_graph *g, nino_error *err)
{
    nino_json *root = g->doc->root;
    if (root->type != NINO_JSON_OBJECT)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "schema", g->name,
                              "a workflow must be an object at 1:1");
    if (nino_ui_is(root))
        return graph_parse_convert(g, root, err);
    g->prompt = root;
    nino_json *inner = graph_parse_member(root, "prompt"),
              *beside = graph_parse_member(root, "workflow");
    const bool has_prompt =
        inner && inner->type == NINO_JSON_OBJECT && !nino_json_get(inner, "class_type");
    if (!has_prompt && beside && nino_ui_is(beside))
        return graph_parse_convert(g, beside, err);
    if (!has_prompt)
        return NINO_OK;
    g->prompt = inner;
    const nino_json *info = nino_json_get(nino_json_get(root, "extra_data"), "extra_pnginfo");
    const nino_json *ui = nino_json_get(info, "workflow");
    if (!ui)
        ui = beside;
    return ui && ui->type == NINO_JSON_OBJECT ? keep_workflow(g, ui, err) : NINO_OK;
}

nino_status nino_graph_parse(nino_graph *g, const char *text, size_t len, nino_error *err)
{
    const nino_json_limits limits = { .max_bytes = NINO_GRAPH_MAX_BYTES, .allow_bom = true };
    nino_status st = nino_json_parse(text, len, g->name, &limits, &g->doc, err);
    if (st == NINO_OK && (st = find_prompt(g, err)) == NINO_OK)
        st = graph_parse_read_nodes(g, err);
    return st;
}

void nino_graph_destroy(nino_graph **pg)
{
    nino_graph *g = pg ? *pg : NULL;
    if (!g)
        return;
    *pg = NULL;
    nino_ui_destroy(&g->ui);
    nino_json_doc_destroy(&g->ui_doc);
    nino_json_doc_destroy(&g->doc);
    nino_graph_forget(g);
    nino_buf_release(&g->text);
    free(g->name);
    free(g->workflow_json);
    for (int i = 0; g->nodes && i < g->n_nodes; i++)
        for (int k = 0; k < NINO_MAX_GIVEN; k++)
            nino_value_unref(&g->nodes[i].given[k]);
    free(g->nodes);
    free(g->index);
    free(g);
}

// ---- reading it back -------------------------------------------------------------------------

const char *nino_graph_name(const nino_graph *g) { return g->name; }

size_t nino_graph_nodes(const nino_graph *g, nino_graph_node *out, size_t max)
{
    for (size_t i = 0; i < (size_t) g->n_nodes && i < max; i++) {
        const nino_gnode *n = &g->nodes[i];
        out[i] = (nino_graph_node){ n->id, n->class_type, n->title, n->def };
    }
    return (size_t) g->n_nodes;
}

static const char *print(nino_graph *g, const nino_json_doc *doc, const nino_json *v, size_t *len)
{
    nino_buf_clear(&g->text);
    nino_json_write(&g->text, doc, v);
    if (len)
        *len = g->text.failed ? 0 : g->text.len;
    return g->text.failed || !g->text.data ? "" : g->text.data;
}

const char *nino_graph_json(nino_graph *g, size_t *len)
{
    const nino_json_doc *doc = g->ui ? g->ui_doc : g->doc;
    return print(g, doc, doc->root, len);
}

const char *nino_graph_api_json(nino_graph *g, size_t *len)
{
    return print(g, g->doc, g->prompt, len);
}

const char *nino_graph_ui_json(nino_graph *g, size_t *len)
{
    if (g->ui)
        return print(g, g->ui_doc, g->ui->root, len);
    if (g->workflow_json && len)
        *len = strlen(g->workflow_json);
    return g->workflow_json;
}

// Characters beyond ASCII only occur inside strings, where an escape means the same.
static char *graph_parse_to_ascii(const char *utf8, size_t len)
{
    nino_buf ascii = { 0 };
    nino_buf_add(&ascii, "", 0);
    for (size_t i = 0; i < len;) {
        uint32_t cp = 0;
        const int n = nino_utf8_next(utf8 + i, len - i, &cp);
        if (n <= 1)
            nino_buf_addc(&ascii, utf8[i]);
        else if (cp < 0x10000)
            nino_buf_addf(&ascii, "\\u%04" PRIx32, cp);
        else
            nino_buf_addf(&ascii, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd800 + ((cp - 0x10000) >> 10),
                          0xdc00 + ((cp - 0x10000) & 0x3ff));
        i += n > 1 ? (size_t) n : 1;
    }
    if (ascii.failed)
        nino_buf_release(&ascii);
    return ascii.data;
}

static char *ascii_of(const nino_json_doc *doc, const nino_json *v)
{
    nino_buf utf8 = { 0 };
    nino_json_write(&utf8, doc, v);
    char *text = utf8.failed ? NULL : graph_parse_to_ascii(utf8.data, utf8.len);
    nino_buf_release(&utf8);
    return text;
}

char *nino_graph_prompt_ascii(const nino_graph *g) { return ascii_of(g->doc, g->prompt); }

bool nino_graph_workflow_ascii(const nino_graph *g, char **out)
{
    *out = g->ui              ? ascii_of(g->ui_doc, g->ui->root)
           : g->workflow_json ? graph_parse_to_ascii(g->workflow_json, strlen(g->workflow_json))
                              : NULL;
    return *out || (!g->ui && !g->workflow_json);
}

nino_graph *nino_graph_copy(nino_graph *g, nino_error *err)
{
    size_t len = 0;
    const char *text = nino_graph_json(g, &len);
    if (g->text.failed) {
        nino_fail(err, NINO_ERR_NOMEM, g->name, "out of memory");
        return NULL;
    }
    nino_graph *c = nino_graph_load(text, len, g->name, err);
    if (c && g->workflow_json && !c->workflow_json &&
        !(c->workflow_json = strdup(g->workflow_json))) {
        nino_fail(err, NINO_ERR_NOMEM, g->name, "out of memory");
        nino_graph_destroy(&c);
    }
    for (int i = 0; c && i < c->n_nodes; i++) { // the same nodes in the same order
        c->nodes[i].given_key = g->nodes[i].given_key;
        for (int k = 0; k < NINO_MAX_GIVEN; k++)
            c->nodes[i].given[k] = nino_value_ref(g->nodes[i].given[k]);
    }
    return c;
}

// ---- links -----------------------------------------------------------------------------------

nino_input_kind nino_input_read(const nino_json *v, char id[32], const char **id_out, int32_t *slot)
{
    if (v->type != NINO_JSON_ARRAY)
        return NINO_INPUT_LITERAL;
    const nino_json *from = v->child, *at = from ? from->next : NULL;
    int64_t n = 0, number = 0;
    if (v->count != 2 || !nino_json_i64(at, &n) || n < INT32_MIN || n > INT32_MAX)
        return NINO_INPUT_BAD;
    *slot = (int32_t) n;
    *id_out = nino_json_str(from);
    if (!*id_out && nino_json_i64(from, &number)) { // ids as numbers are seen in the wild
        snprintf(id, 32, "%" PRId64, number);
        *id_out = id;
    }
    return *id_out ? NINO_INPUT_LINK : NINO_INPUT_BAD;
}

const char *nino_link_resolve(const nino_graph *g, const nino_json *v, nino_link *link)
{
    *link = (nino_link){ -1, 0 };
    for (int hops = 0; hops <= g->n_nodes; hops++) {
        char number[32];
        const char *id = NULL;
        int32_t slot = 0;
        if (nino_input_read(v, number, &id, &slot) != NINO_INPUT_LINK)
            return N_("is not a link: [\"node id\", output number] is needed");
        const int from = nino_graph_find(g, id);
        if (from < 0)
            return N_("leads to a node that does not exist");
        if (slot < 0)
            return N_("has a negative output number");
        const nino_node_def *def = g->nodes[from].def;
        if (!def || strcmp(def->key, "Reroute")) {
            *link = (nino_link){ from, slot };
            return NULL;
        }
        const nino_json *inputs = nino_json_get(g->nodes[from].json, "inputs");
        if (!inputs || !inputs->child)
            return N_("leads to a Reroute that is not connected");
        v = inputs->child;
    }
    return N_("runs in a circle of Reroutes");
}
