// Prompts: queued, the queue, the history, and what stops or forgets them.
#include "core/serve/serve_priv.h"

#include "core/base/error.h"

#include <stdlib.h>
#include <string.h>

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
    nino_buf_adds(&c->body, ",\"node_errors\":");
    nino_buf_adds(&c->body, r->node_errors ? r->node_errors : "{}");
    nino_buf_addc(&c->body, '}');
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

// {"prompt": ..., "extra_data": {..., "client_id": ..., "create_time": ...}}. targets: the outputs that are
// to be made; NULL: those that it names itself, or all.
static void normal_form(nino_buf *b, const nino_json_doc *doc, const nino_json *targets)
{
    const nino_json *extra = nino_json_get(doc->root, "extra_data");
    const nino_json *client = nino_json_get(doc->root, "client_id");
    nino_buf_adds(b, "{\"prompt\":");
    const nino_json *prompt = nino_json_get(doc->root, "prompt");
    if (!targets)
        targets = nino_json_get(doc->root, "partial_execution_targets");
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

// As ComfyUI does, what has no error is run, and what has one is told beside the number: the prompt is
// written anew with those outputs alone.
static bool keep_sound(nino_buf *b, const nino_json_doc *doc, serve_record *r, serve_checked *part)
{
    nino_json_doc *outputs = NULL;
    if (!part->outputs.len || !part->node_errors.len)
        return true;
    if (nino_json_parse(part->outputs.data, part->outputs.len, "outputs", NULL, &outputs, NULL))
        return false;
    nino_buf_clear(b);
    normal_form(b, doc, outputs->root);
    nino_json_doc_destroy(&outputs);
    r->node_errors = strndup(part->node_errors.data, part->node_errors.len);
    return !b->failed && r->node_errors;
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
    serve_checked part = { .outputs = { 0 } };
    bool front = false;
    double number = 0;
    if (!prompt || prompt->type != NINO_JSON_OBJECT) {
        serve_fail(c, 400, "no_prompt", "No prompt provided");
        goto end;
    }
    nino_json_bool(nino_json_get(doc->root, "front"), &front);
    if (nino_json_double(nino_json_get(doc->root, "number"), &number))
        front |= number < 0;
    normal_form(&b, doc, NULL);
    if (b.failed || !(r = serve_record_create())) {
        serve_fail(c, 500, "out_of_memory", "out of memory");
        goto end;
    }
    if (!fill_ids(c, doc, r) || !serve_check_workflow(c, b.data, b.len, &part))
        goto end;
    if (keep_sound(&b, doc, r, &part))
        serve_queue_workflow(c, &r, b.data, b.len, front ? 1 : 0);
    else
        serve_fail(c, 500, "out_of_memory", "out of memory");
end:
    nino_buf_release(&part.outputs);
    nino_buf_release(&part.node_errors);
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
