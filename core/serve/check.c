// Prompts checked: what is wrong in ComfyUI's words, by node, and what of a prompt can run all the same.
#include "core/serve/serve_priv.h"

#include "core/base/error.h"
#include "core/node/param.h"

#include <stdlib.h>
#include <string.h>

typedef struct found_node {
    struct found_node *next;
    const char *id, *class_type; // the graph's
    nino_buf errors, outputs;    // JSON: what is wrong, and what cannot be made therefore
} found_node;

typedef struct found {
    found_node *nodes;
    size_t n;
    bool failed;                               // out of memory
    char type[40], message[320], details[320]; // of what concerns no node, or a class
    const nino_graph *g;
} found;

static const nino_gnode *node_of(const nino_graph *g, const char *id)
{
    const int i = nino_graph_find(g, id);
    return i < 0 ? NULL : &g->nodes[i];
}

// ComfyUI's words for what is wrong with a value.
static const char *value_error(const nino_graph *g, const nino_issue *i, const char **message)
{
    const nino_gnode *n = node_of(g, i->node);
    const nino_param *p = n && n->def ? nino_param_find(n->def, i->input) : NULL;
    double v = 0;
    *message = "Failed to convert an input value";
    if (p && (p->type == NINO_ENUM || p->type == NINO_FILE)) {
        *message = "Value not in list";
        return "value_not_in_list";
    }
    if (strcmp(i->code, "range") != 0 || !p)
        return "invalid_input_type";
    const double min = p->type == NINO_FLOAT ? p->min.f : (double) p->min.i;
    const nino_json *given = nino_json_get(nino_json_get(n->json, "inputs"), i->input);
    if (nino_json_double(given, &v) && v < min) {
        *message = "Value is smaller than its minimum";
        return "value_smaller_than_min";
    }
    *message = "Value is bigger than its maximum";
    return "value_bigger_than_max";
}

static const char *node_error(const nino_graph *g, const nino_issue *i, const char **message)
{
    static const char *const table[][3] = {
        { "missing_input", "required_input_missing", "Required input is missing" },
        { "bad_link", "bad_linked_input", "Bad linked input" },
        { "type_mismatch", "return_type_mismatch", "Return type mismatch between linked nodes" },
        { "cycle", "dependency_cycle", "Dependency cycle" },
    };
    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++)
        if (!strcmp(i->code, table[k][0])) {
            *message = table[k][2];
            return table[k][1];
        }
    if (!strcmp(i->code, "value") || !strcmp(i->code, "range") || !strcmp(i->code, "missing_file"))
        return value_error(g, i, message);
    *message = "Custom validation failed for node";
    return "custom_validation_failed";
}

static nino_buf *errors_of(found *f, const nino_gnode *n)
{
    found_node **at = &f->nodes;
    while (*at && strcmp((*at)->id, n->id) != 0)
        at = &(*at)->next;
    if (!*at && (*at = calloc(1, sizeof(**at)))) {
        (*at)->id = n->id;
        (*at)->class_type = n->class_type;
    }
    f->failed |= !*at;
    return *at ? &(*at)->errors : NULL;
}

static void take_issue(void *priv, const nino_issue *i)
{
    found *f = priv;
    if (i->severity != NINO_ISSUE_ERROR)
        return;
    f->n++;
    const bool is_class = strstr(i->code, "class") || !strcmp(i->code, "paid_service") ||
                          !strcmp(i->code, "unsupported_model");
    if (!*i->node || is_class) {
        if (*f->type)
            return;
        snprintf(f->type, sizeof(f->type), "%s",
                 is_class                        ? "missing_node_type"
                 : !strcmp(i->code, "no_output") ? "prompt_no_outputs"
                                                 : "invalid_prompt");
        snprintf(f->message, sizeof(f->message), "%s", i->message);
        if (*i->node)
            snprintf(f->details, sizeof(f->details), "Node ID '#%.100s' (%.100s)", i->node,
                     i->class_type);
        return;
    }
    const char *message, *type = node_error(f->g, i, &message);
    const nino_gnode *n = node_of(f->g, i->node);
    nino_buf *b = n ? errors_of(f, n) : NULL;
    nino_buf details = { 0 };
    if (!b)
        return;
    serve_key(b, NULL);
    nino_buf_addc(b, '{');
    serve_text(b, "type", type);
    serve_text(b, "message", message);
    nino_buf_addf(&details, "%s%s%s", i->input, *i->input ? ": " : "", i->message);
    serve_text(b, "details", details.data ? details.data : "");
    nino_buf_release(&details);
    nino_buf_adds(b, ",\"extra_info\":{");
    serve_text(b, "input_name", i->input);
    nino_buf_adds(b, "}}");
}

static void add_node_errors(nino_buf *b, const found *f)
{
    nino_buf_addc(b, '{');
    for (const found_node *n = f->nodes; n; n = n->next) {
        serve_key(b, n->id);
        nino_buf_addc(b, '{');
        serve_text(b, "class_type", n->class_type);
        nino_buf_adds(b, ",\"dependent_outputs\":[");
        nino_buf_add(b, n->outputs.data ? n->outputs.data : "", n->outputs.len);
        nino_buf_adds(b, "],\"errors\":[");
        nino_buf_add(b, n->errors.data ? n->errors.data : "", n->errors.len);
        nino_buf_adds(b, "]}");
        b->failed |= n->errors.failed || n->outputs.failed;
    }
    nino_buf_addc(b, '}');
}

static void refuse(nino_serve_call *c, const found *f)
{
    nino_buf *b = &c->body;
    const bool is_node = !*f->type;
    nino_buf_clear(b);
    nino_buf_adds(b, "{\"error\":{");
    serve_text(b, "type", is_node ? "prompt_outputs_failed_validation" : f->type);
    serve_text(b, "message", is_node ? "Prompt outputs failed validation" : f->message);
    serve_text(b, "details", f->details);
    nino_buf_adds(b, ",\"extra_info\":{}},\"node_errors\":");
    add_node_errors(b, f);
    nino_buf_addc(b, '}');
    serve_reply_json(c, 400);
}

static bool is_wrong(void *priv, const char *output, const char *id)
{
    for (found_node *n = ((found *) priv)->nodes; n; n = n->next)
        if (!strcmp(n->id, id)) {
            serve_text(&n->outputs, NULL, output);
            return true;
        }
    return false;
}

static size_t count_wrong(const found *f)
{
    size_t n = 0;
    for (const found_node *w = f->nodes; w; w = w->next)
        n++;
    return n;
}

// Which outputs need nothing that is wrong. False: there are none, or all is refused.
static bool find_sound(found *f, const char *text, size_t len, nino_buf *sound)
{
    nino_json_doc *doc = NULL;
    bool is_any = false;
    if (*f->type || f->failed || nino_json_parse(text, len, "prompt", NULL, &doc, NULL))
        return false;
    const nino_json *prompt = nino_json_get(doc->root, "prompt");
    nino_buf_addc(sound, '[');
    if (prompt)
        is_any = serve_sound_outputs(sound, prompt, count_wrong(f), is_wrong, f);
    nino_buf_addc(sound, ']');
    nino_json_doc_destroy(&doc);
    return is_any && !sound->failed;
}

bool serve_check_workflow(nino_serve_call *c, const char *text, size_t len, serve_checked *part)
{
    nino_error e = { .code = NINO_OK };
    nino_graph *g = nino_graph_load(text, len, "prompt", &e);
    found f = { .g = g };
    nino_buf sound = { 0 };
    if (!g) {
        snprintf(f.type, sizeof(f.type), "invalid_prompt");
        snprintf(f.message, sizeof(f.message), "%s", e.msg);
        snprintf(f.details, sizeof(f.details), "%s", e.where);
        refuse(c, &f);
        return false;
    }
    const size_t n = nino_graph_check(g, c->s->ctx, take_issue, &f);
    bool ok = !n && !f.failed;
    const bool is_part = !ok && find_sound(&f, text, len, part ? &part->outputs : &sound);
    if (part && is_part) {
        add_node_errors(&part->node_errors, &f);
        ok = !part->node_errors.failed;
    }
    if (!ok)
        refuse(c, &f);
    nino_buf_release(&sound);
    for (found_node *node; (node = f.nodes);) {
        f.nodes = node->next;
        nino_buf_release(&node->errors);
        nino_buf_release(&node->outputs);
        free(node);
    }
    nino_graph_destroy(&g);
    return ok;
}
