// Prompts: checked and queued, the queue, the history, and what stops or forgets them.
#include "core/serve/serve_priv.h"

#include "core/base/error.h"
#include "core/node/param.h"

#include <stdlib.h>
#include <string.h>

// ---- checking ----------------------------------------------------------------------------------

typedef struct found_node {
    struct found_node *next;
    const char *id, *class_type; // the graph's
    nino_buf errors;
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

static void refuse(nino_serve_call *c, found *f)
{
    nino_buf *b = &c->body;
    const bool is_node = !*f->type;
    nino_buf_clear(b);
    nino_buf_adds(b, "{\"error\":{");
    serve_text(b, "type", is_node ? "prompt_outputs_failed_validation" : f->type);
    serve_text(b, "message", is_node ? "Prompt outputs failed validation" : f->message);
    serve_text(b, "details", f->details);
    nino_buf_adds(b, ",\"extra_info\":{}},\"node_errors\":{");
    for (const found_node *n = f->nodes; n; n = n->next) {
        serve_key(b, n->id);
        nino_buf_addc(b, '{');
        serve_text(b, "class_type", n->class_type);
        nino_buf_adds(b, ",\"dependent_outputs\":[],\"errors\":[");
        nino_buf_add(b, n->errors.data ? n->errors.data : "", n->errors.len);
        nino_buf_adds(b, "]}");
        b->failed |= n->errors.failed;
    }
    nino_buf_adds(b, "}}");
    serve_reply_json(c, 400);
}

bool serve_check_workflow(nino_serve_call *c, const char *text, size_t len)
{
    nino_error e = { .code = NINO_OK };
    nino_graph *g = nino_graph_load(text, len, "prompt", &e);
    found f = { .g = g };
    if (!g) {
        snprintf(f.type, sizeof(f.type), "invalid_prompt");
        snprintf(f.message, sizeof(f.message), "%s", e.msg);
        snprintf(f.details, sizeof(f.details), "%s", e.where);
        refuse(c, &f);
        return false;
    }
    const size_t n = nino_graph_check(g, c->s->ctx, take_issue, &f);
    if (n || f.failed)
        refuse(c, &f);
    for (found_node *node; (node = f.nodes);) {
        f.nodes = node->next;
        nino_buf_release(&node->errors);
        free(node);
    }
    nino_graph_destroy(&g);
    return !n && !f.failed;
}

// ---- queueing ----------------------------------------------------------------------------------

static void unjoin(nino_serve *s, const serve_record *r)
{
    for (serve_record **at = &s->joining; *at; at = &(*at)->next)
        if (*at == r) {
            serve_record *gone = *at;
            *at = gone->next;
            serve_record_destroy(&gone);
            return;
        }
}

void serve_prompt_queued(serve_record *r)
{
    nino_serve_call *c = r->call;
    r->call = NULL;
    if (!c)
        return;
    snprintf(c->prompt_id, sizeof(c->prompt_id), "%s", r->prompt_id);
    if (c->is_images) { // its pictures are the answer
        c->is_waiting = true;
        if (r->is_told_end)
            serve_images_done(c, r);
        return;
    }
    nino_buf_clear(&c->body);
    nino_buf_addc(&c->body, '{');
    serve_text(&c->body, "prompt_id", r->prompt_id);
    serve_number(&c->body, "number", r->number);
    nino_buf_adds(&c->body, ",\"node_errors\":{}}");
    serve_reply_json(c, 200);
}

static void queued(nino_serve *s, void *what, const nino_control_reply *reply)
{
    serve_record *r = what;
    if (!reply || reply->err.code) {
        nino_serve_call *c = r->call;
        r->call = NULL;
        if (c && reply)
            serve_fail(c, reply->err.code == NINO_ERR_NOMEM ? 500 : 400, "invalid_prompt", "%s%s%s",
                       reply->err.where, *reply->err.where ? ": " : "", reply->err.msg);
        else if (c)
            serve_fail(c, 503, "no_worker", "the worker has gone; try again");
        unjoin(s, r);
        return;
    }
    if (r->job) { // the queue was faster
        serve_prompt_queued(r);
        return;
    }
    const nino_queue *q = nino_control_queue(s->attach);
    r->taken = reply->job;
    r->after = q ? q->version : 0;
}

void serve_call_gone(nino_serve_call *c)
{
    serve_record *const lists[2] = { c->s->records, c->s->joining };
    for (int i = 0; i < 2; i++)
        for (serve_record *r = lists[i]; r; r = r->next)
            if (r->call == c)
                r->call = NULL;
}

void serve_queue_workflow(nino_serve_call *c, serve_record **pr, const char *text, size_t len,
                          int position)
{
    nino_serve *s = c->s;
    serve_record *r = *pr;
    char name[MAX_ID + 16];
    *pr = NULL;
    snprintf(name, sizeof(name), "prompt %s", r->prompt_id);
    serve_record_workflow(r, text, len);
    r->call = c;
    r->number = position ? -1 : 1; // times the job's, once that is known
    r->next = s->joining;
    s->joining = r;
    const nino_control q = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_QUEUE, .position = position,
                             .workflow = text,  .workflow_bytes = len,     .name = name };
    if (serve_send(s, &q, queued, r))
        return;
    unjoin(s, r);
    serve_fail(c, 503, "no_worker", "no worker takes jobs at the moment; try again");
}

static bool is_good_id(const char *id)
{
    const size_t n = strlen(id);
    return n && n <= 64 &&
           strspn(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.") == n;
}

// {"prompt": ..., "extra_data": {..., "client_id": ..., "create_time": ...}}
static void normal_form(nino_buf *b, const nino_json_doc *doc)
{
    const nino_json *extra = nino_json_get(doc->root, "extra_data");
    const nino_json *client = nino_json_get(doc->root, "client_id");
    nino_buf_adds(b, "{\"prompt\":");
    const nino_json *prompt = nino_json_get(doc->root, "prompt");
    const nino_json *targets = nino_json_get(doc->root, "partial_execution_targets");
    const bool is_part = targets && targets->type == NINO_JSON_ARRAY;
    if (!serve_write_prompt(b, doc, prompt, is_part ? targets : NULL))
        b->failed = true;
    nino_buf_adds(b, ",\"extra_data\":{");
    for (const nino_json *m = extra && extra->type == NINO_JSON_OBJECT ? extra->child : NULL; m;
         m = m->next) {
        if (!strcmp(m->key, "create_time") || (client && !strcmp(m->key, "client_id")))
            continue;
        serve_key(b, m->key);
        nino_json_write(b, doc, m);
    }
    if (nino_json_str(client))
        serve_text(b, "client_id", nino_json_str(client));
    serve_number(b, "create_time", (double) (int64_t) serve_ms());
    nino_buf_adds(b, "}}");
}

static bool fill_ids(nino_serve_call *c, const nino_json_doc *doc, serve_record *r)
{
    const nino_json *given = nino_json_get(doc->root, "prompt_id");
    const char *id = nino_json_str(given);
    if (!given) {
        serve_uuid(c->s, r->prompt_id);
        return true;
    }
    if (!id || !is_good_id(id)) {
        serve_fail(c, 400, "invalid_prompt_id", "prompt_id is no text of letters, digits and -");
        return false;
    }
    bool is_used = serve_record_find(c->s, id) != NULL;
    for (const serve_record *j = c->s->joining; j; j = j->next)
        is_used |= !strcmp(j->prompt_id, id);
    if (is_used)
        serve_fail(c, 400, "invalid_prompt_id", "prompt_id is in use");
    snprintf(r->prompt_id, sizeof(r->prompt_id), "%s", id);
    return !is_used;
}

void serve_post_prompt(nino_serve_call *c, const char *rest)
{
    (void) rest;
    nino_buf b = { 0 };
    nino_json_doc *doc = serve_body(c);
    if (!doc)
        return;
    const nino_json *prompt = nino_json_get(doc->root, "prompt");
    serve_record *r = NULL;
    bool front = false;
    double number = 0;
    if (!prompt || prompt->type != NINO_JSON_OBJECT) {
        serve_fail(c, 400, "no_prompt", "No prompt provided");
        goto end;
    }
    nino_json_bool(nino_json_get(doc->root, "front"), &front);
    if (nino_json_double(nino_json_get(doc->root, "number"), &number))
        front |= number < 0;
    normal_form(&b, doc);
    if (b.failed || !(r = serve_record_create())) {
        serve_fail(c, 500, "out_of_memory", "out of memory");
        goto end;
    }
    if (fill_ids(c, doc, r) && serve_check_workflow(c, b.data, b.len))
        serve_queue_workflow(c, &r, b.data, b.len, front ? 1 : 0);
end:
    serve_record_destroy(&r);
    nino_buf_release(&b);
    nino_json_doc_destroy(&doc);
}

// ---- the queue ---------------------------------------------------------------------------------

void serve_get_prompt(nino_serve_call *c, const char *rest)
{
    (void) rest;
    nino_buf_addf(&c->body, "{\"exec_info\":{\"queue_remaining\":%zu}}", serve_waiting(c->s));
    serve_reply_json(c, 200);
}

static void add_state(nino_buf *b, const nino_serve *s, const char *key, nino_queue_state state)
{
    serve_key(b, key);
    nino_buf_addc(b, '[');
    for (const serve_record *r = s->records; r; r = r->next)
        if (serve_record_state(r) == state)
            serve_record_queue_json(b, r);
    nino_buf_addc(b, ']');
}

void serve_get_queue(nino_serve_call *c, const char *rest)
{
    (void) rest;
    nino_buf_addc(&c->body, '{');
    add_state(&c->body, c->s, "queue_running", NINO_QUEUE_RUNNING);
    add_state(&c->body, c->s, "queue_pending", NINO_QUEUE_WAITING);
    nino_buf_addc(&c->body, '}');
    serve_reply_json(c, 200);
}

// {"delete": [prompt_id, ...]}: those that are in a state between the two.
static void drop_named(nino_serve *s, const nino_json *list, nino_queue_state from,
                       nino_queue_state to)
{
    for (const nino_json *v = list && list->type == NINO_JSON_ARRAY ? list->child : NULL; v;
         v = v->next) {
        const serve_record *r = nino_json_str(v) ? serve_record_find(s, nino_json_str(v)) : NULL;
        if (r && r->state >= from && r->state <= to)
            serve_tell_worker(s, NINO_CONTROL_REMOVE, r->job);
    }
}

void serve_post_queue(nino_serve_call *c, const char *rest)
{
    (void) rest;
    bool clear = false;
    nino_json_doc *doc = serve_body(c);
    if (!doc)
        return;
    nino_json_bool(nino_json_get(doc->root, "clear"), &clear);
    for (const serve_record *r = clear ? c->s->records : NULL; r; r = r->next)
        if (r->state == NINO_QUEUE_WAITING)
            serve_tell_worker(c->s, NINO_CONTROL_REMOVE, r->job);
    drop_named(c->s, nino_json_get(doc->root, "delete"), NINO_QUEUE_WAITING, NINO_QUEUE_WAITING);
    nino_json_doc_destroy(&doc);
    serve_reply(c, 200, "");
}

void serve_post_interrupt(nino_serve_call *c, const char *rest)
{
    (void) rest;
    nino_json_doc *doc = serve_body(c);
    if (!doc)
        return;
    const char *id = nino_json_str(nino_json_get(doc->root, "prompt_id"));
    const serve_record *r = id ? serve_record_find(c->s, id) : NULL;
    if (!id)
        serve_tell_worker(c->s, NINO_CONTROL_CANCEL, 0);
    else if (r && r->state == NINO_QUEUE_RUNNING)
        serve_tell_worker(c->s, NINO_CONTROL_CANCEL, r->job);
    nino_json_doc_destroy(&doc);
    serve_reply(c, 200, "");
}

void serve_post_free(nino_serve_call *c, const char *rest)
{
    (void) rest;
    bool models = false, memory = false;
    nino_json_doc *doc = serve_body(c);
    if (!doc)
        return;
    nino_json_bool(nino_json_get(doc->root, "unload_models"), &models);
    nino_json_bool(nino_json_get(doc->root, "free_memory"), &memory);
    if (models || memory)
        serve_tell_worker(c->s, NINO_CONTROL_TRIM, 0);
    nino_json_doc_destroy(&doc);
    serve_reply(c, 200, "");
}

// ---- the history -------------------------------------------------------------------------------

static size_t query_number(const nino_serve_call *c, const char *key, size_t other)
{
    char text[24], *end;
    if (!serve_query(c->query, key, text, sizeof(text)) || *text < '0' || *text > '9')
        return other;
    const unsigned long long v = strtoull(text, &end, 10);
    return *end || v > 1000000 ? other : (size_t) v;
}

// The oldest first, as ComfyUI has them; max_items counts from the newest.
void serve_get_history(nino_serve_call *c, const char *rest)
{
    const serve_record *list[256];
    char id[MAX_ID + 1] = "";
    size_t n = 0;
    if (*rest && !serve_unescape(id, sizeof(id), rest, strlen(rest), false)) {
        serve_fail(c, 400, "invalid_prompt_id", "the path names no prompt");
        return;
    }
    const size_t max = query_number(c, "max_items", 256), skip = query_number(c, "offset", 0);
    size_t skipped = 0;
    for (const serve_record *r = c->s->records; r && n < 256 && n < max; r = r->next)
        if (r->state >= NINO_QUEUE_DONE && r->is_told_end && (!*id || !strcmp(id, r->prompt_id)) &&
            skipped++ >= skip)
            list[n++] = r;
    nino_buf_addc(&c->body, '{');
    while (n)
        serve_record_history_json(&c->body, list[--n]);
    nino_buf_addc(&c->body, '}');
    serve_reply_json(c, 200);
}

void serve_post_history(nino_serve_call *c, const char *rest)
{
    (void) rest;
    bool clear = false;
    nino_json_doc *doc = serve_body(c);
    if (!doc)
        return;
    if (nino_json_bool(nino_json_get(doc->root, "clear"), &clear) && clear)
        serve_tell_worker(c->s, NINO_CONTROL_REMOVE, 0);
    drop_named(c->s, nino_json_get(doc->root, "delete"), NINO_QUEUE_DONE, NINO_QUEUE_CANCELLED);
    nino_json_doc_destroy(&doc);
    serve_reply(c, 200, "");
}
