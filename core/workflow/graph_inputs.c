// The inputs of a node as its class and the values in the file make them: newer names, inputs that
// a choice brings, inputs that nobody looks at, values in place of links.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/param.h"
#include "core/workflow/workflow.h"

// ---- names -----------------------------------------------------------------------------------

static bool is_input(const nino_node_def *def, const char *key)
{
    return nino_port_find(def, key) || nino_param_find(def, key);
}

// The part of "format.codec" that is an input of the class: the combo has become a dynamic one.
static const char *own_key(const nino_node_def *def, const char *key)
{
    const char *dot = strrchr(key, '.');
    if (is_input(def, key))
        return key;
    return dot && is_input(def, dot + 1) ? dot + 1 : NULL;
}

const nino_json *nino_input_of(const nino_node_def *def, const nino_json *inputs, const char *key)
{
    const nino_json *v = nino_json_get(inputs, key);
    for (const nino_json *w = inputs && !v ? inputs->child : NULL; w && !v; w = w->next) {
        const char *own = strchr(w->key, '.') ? own_key(def, w->key) : NULL;
        if (own && !strcmp(own, key))
            v = w;
    }
    return v;
}

bool nino_input_is_known(const nino_gnode *n, const char *key)
{
    return !n->def || (n->def->ops && n->def->ops->takes_extra) || own_key(n->def, key);
}

// ---- which of them count ---------------------------------------------------------------------

static const nino_json *graph_inputs_json(const nino_gnode *n)
{
    return nino_json_get(n->json, "inputs");
}

bool nino_input_counts(const nino_gnode *n, const char *key)
{
    const nino_node_def *def = n->def;
    const char *own = def ? own_key(def, key) : key;
    const nino_json *inputs = graph_inputs_json(n);
    if (!def || !own)
        return !def;
    for (int i = 0; def->inputs && def->inputs[i].key; i++)
        if (!strcmp(def->inputs[i].key, own) && !(n->untaken >> i & 1) &&
            nino_input_presence(def, own, def->inputs[i].when, inputs) != NINO_ABSENT)
            return true;
    for (const nino_param *p = def->params; p && p->key; p++)
        if (!strcmp(p->key, own) && nino_input_presence(def, own, p->when, inputs) != NINO_ABSENT)
            return true;
    return false;
}

// A parameter that a link gives: its value, where a constant says so.
static bool linked_value(const nino_graph *g, const nino_param *p, const nino_json *v,
                         nino_default *out)
{
    nino_link l;
    if (nino_link_resolve(g, v, &l))
        return false;
    const nino_gnode *from = &g->nodes[l.node];
    const nino_param *q = from->def ? from->def->params : NULL;
    if (!q || !from->def->ops || !from->def->ops->is_constant || q->type != p->type)
        return false;
    v = nino_json_get(graph_inputs_json(from), q->key);
    *out = q->def;
    return !v || (v->type != NINO_JSON_ARRAY &&
                  nino_param_from_json(q, v, from->alias, g->checked, out, NULL, NULL) == NINO_OK);
}

bool nino_graph_settle(nino_graph *g, nino_gnode *n)
{
    const nino_node_def *def = n->def;
    n->untaken = 0;
    n->decides_late = false;
    if (!def || !def->ops || !def->ops->takes)
        return true;
    void *params = nino_arena_alloc(g->checked, def->params_size + 1);
    if (!params)
        return false;
    nino_params_init(def, params);
    for (const nino_param *p = def->params; p && p->key; p++) {
        const nino_json *v = nino_input_of(def, graph_inputs_json(n), p->key);
        nino_default value = p->def;
        if (v && v->type == NINO_JSON_ARRAY) {
            if (!linked_value(g, p, v, &value)) {
                n->decides_late = true;
                return true;
            }
        } else if (v && nino_param_from_json(p, v, n->alias, g->checked, &value, NULL, NULL)) {
            return true; // an issue of its own
        }
        nino_param_store(p, params, &value);
    }
    for (int i = 0; def->inputs && def->inputs[i].key; i++)
        if (!def->ops->takes(params, i))
            n->untaken |= UINT64_C(1) << i;
    return true;
}

// ---- types -----------------------------------------------------------------------------------

// The output that the match of output l is linked to, where that is one.
static bool matched_source(const nino_graph *g, nino_link l, nino_link *out)
{
    const nino_gnode *n = &g->nodes[l.node];
    const char *match = n->def->outputs[l.slot].match;
    for (const nino_port *p = n->def->inputs; match && p && p->key; p++) {
        const nino_json *v = p->match && !strcmp(p->match, match)
                                 ? nino_json_get(graph_inputs_json(n), p->key)
                                 : NULL;
        if (!v || v->type != NINO_JSON_ARRAY || nino_link_resolve(g, v, out))
            continue;
        const nino_node_def *def = g->nodes[out->node].def;
        int slots = 0;
        while (def && def->outputs && def->outputs[slots].key)
            slots++;
        return out->slot < slots;
    }
    return false;
}

const char *nino_link_types(const nino_graph *g, nino_link l)
{
    const char *own = nino_port_types(&g->nodes[l.node].def->outputs[l.slot]), *types = own;
    nino_link from;
    for (int steps = 0; steps < 256 && matched_source(g, l, &from); steps++) { // circles end
        l = from;
        types = nino_port_types(&g->nodes[l.node].def->outputs[l.slot]);
    }
    return nino_types_agree(types, own) ? types : own;
}

// Is the word of n characters one of the list?
static bool has_type(const char *list, const char *word, size_t n)
{
    for (;;) {
        const size_t len = strcspn(list, ",");
        if (len == n && !memcmp(list, word, n))
            return true;
        if (!list[len])
            return false;
        list += len + 1;
    }
}

bool nino_types_agree(const char *given, const char *wanted)
{
    if (!strcmp(given, "*") || !strcmp(wanted, "*"))
        return true;
    // What chooses from a list gives text, and a list is chosen from by text.
    if ((!strcmp(given, "STRING") && !strcmp(wanted, "COMBO")) ||
        (!strcmp(given, "COMBO") && !strcmp(wanted, "STRING")))
        return true;
    for (const char *s = given;; s++) {
        const size_t n = strcspn(s, ",");
        if (has_type(wanted, s, n))
            return true;
        s += n;
        if (!*s)
            return false;
    }
}

// ---- values in place of links ----------------------------------------------------------------

static nino_value *text_value(nino_port_type type, char *text)
{
    nino_value *v = text ? nino_value_create(type) : NULL;
    if (v)
        v->u.string = text;
    else
        free(text);
    return v;
}

static nino_value *number_value(const nino_port *p, const nino_json *v)
{
    int64_t i = 0;
    double f = 0;
    const bool is_whole = nino_json_i64(v, &i), wants_int = p->type == NINO_PORT_INT;
    nino_json_double(v, &f);
    nino_value *out = nino_value_create(
        p->type != NINO_PORT_FLOAT && (is_whole || wants_int) ? NINO_PORT_INT : NINO_PORT_FLOAT);
    if (out && out->type == NINO_PORT_INT)
        out->u.i = is_whole ? i : f > -9.2e18 && f < 9.2e18 ? (int64_t) f : 0;
    else if (out)
        out->u.f = f;
    return out;
}

bool nino_port_takes_literal(const nino_port *p, const nino_json *v)
{
    const nino_json *inner = nino_json_get(v, "__value__");
    const char *types = nino_port_types(p);
    const bool is_any = p->type == NINO_PORT_ANY && !p->types;
    switch (inner ? inner->type : v->type) {
    case NINO_JSON_NULL: return false;
    case NINO_JSON_BOOL: return is_any || has_type(types, "BOOLEAN", 7);
    case NINO_JSON_NUMBER:
        return is_any || has_type(types, "FLOAT", 5) || has_type(types, "INT", 3);
    case NINO_JSON_STRING: return is_any || has_type(types, "STRING", 6);
    case NINO_JSON_ARRAY: return is_any || has_type(types, "ARRAY", 5);
    case NINO_JSON_OBJECT:
        return is_any || has_type(types, "DICT", 4) || has_type(types, "BOUNDING_BOX", 12);
    }
    return false;
}

nino_value *nino_port_literal(const nino_graph *g, const nino_port *p, const nino_json *v)
{
    const nino_json *inner = nino_json_get(v, "__value__");
    nino_value *out = NULL;
    nino_buf b = { 0 };
    v = inner ? inner : v;
    switch (v->type) {
    case NINO_JSON_NULL: return NULL;
    case NINO_JSON_BOOL:
        if ((out = nino_value_create(NINO_PORT_BOOLEAN)))
            out->u.b = v->boolean;
        return out;
    case NINO_JSON_NUMBER: return number_value(p, v);
    case NINO_JSON_STRING: return text_value(NINO_PORT_STRING, strdup(v->text));
    case NINO_JSON_ARRAY:
    case NINO_JSON_OBJECT:
        nino_json_write(&b, g->doc, v);
        if (b.failed)
            nino_buf_release(&b);
        return text_value(v->type == NINO_JSON_ARRAY          ? NINO_PORT_ARRAY
                          : p->type == NINO_PORT_BOUNDING_BOX ? NINO_PORT_BOUNDING_BOX
                                                              : NINO_PORT_DICT,
                          b.data);
    }
    return NULL;
}
