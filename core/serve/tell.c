// What the worker tells, as messages to clients: its queue gives each prompt its record, its events
// say how far the one that runs has come.
#include "core/serve/serve_priv.h"

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/time.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_PREVIEW = 8 << 20,
    MAX_RESULT = 256 << 20,
    MAX_HELD = 65536,     // events of a job that the queue does not name yet
    PREVIEW_WAIT_MS = 50, // between two pictures of an unfinished latent
    END_WAIT_MS = 1000,   // for the last events of a job that the queue says has ended
};

// ---- messages ----------------------------------------------------------------------------------

static void begin(nino_buf *b, const char *type)
{
    nino_buf_adds(b, "{");
    serve_text(b, "type", type);
    nino_buf_adds(b, ",\"data\":{");
}

static void post(nino_serve *s, const serve_record *r, serve_weight weight, nino_buf *b)
{
    nino_buf_adds(b, "}}");
    if (!b->failed)
        serve_post(s, r->client, weight, b->data, b->len);
    nino_buf_release(b);
}

// A message that the history keeps, with what `more` adds to it.
static void keep_post(nino_serve *s, serve_record *r, const char *type, const char *more)
{
    nino_buf b = { 0 }, data = { 0 };
    nino_buf_addc(&data, '{');
    serve_text(&data, "prompt_id", r->prompt_id);
    nino_buf_adds(&data, more);
    serve_number(&data, "timestamp", (double) (int64_t) serve_ms());
    nino_buf_addc(&data, '}');
    if (!data.failed) {
        serve_key(&r->messages, NULL);
        nino_buf_addf(&r->messages, "[\"%s\",", type);
        const bool is_error = !strcmp(type, "execution_error");
        r->error_at = is_error ? r->messages.len : r->error_at;
        nino_buf_add(&r->messages, data.data, data.len);
        r->error_len = is_error && !r->messages.failed ? data.len : r->error_len;
        nino_buf_addc(&r->messages, ']');
        nino_buf_addf(&b, "{\"type\":\"%s\",\"data\":", type);
        nino_buf_add(&b, data.data, data.len);
        nino_buf_addc(&b, '}');
    }
    if (!b.failed && b.len)
        serve_post(s, r->client, SERVE_KEEP, b.data, b.len);
    nino_buf_release(&b);
    nino_buf_release(&data);
}

void serve_tell_status(nino_serve *s)
{
    nino_buf b = { 0 };
    s->remaining = serve_waiting(s);
    nino_buf_addf(&b,
                  "{\"type\":\"status\",\"data\":{\"status\":{\"exec_info\":"
                  "{\"queue_remaining\":%zu}}}}",
                  s->remaining);
    if (!b.failed)
        serve_post(s, "", SERVE_KEEP, b.data, b.len);
    nino_buf_release(&b);
}

static void tell_executing(nino_serve *s, const serve_record *r)
{
    nino_buf b = { 0 };
    const char *node = *r->current ? r->current : NULL;
    begin(&b, "executing");
    serve_text(&b, "node", node);
    if (node)
        serve_text(&b, "display_node", node);
    serve_text(&b, "prompt_id", r->prompt_id);
    post(s, r, SERVE_KEEP, &b);
}

static void tell_states(nino_serve *s, const serve_record *r)
{
    nino_buf b = { 0 };
    begin(&b, "progress_state");
    serve_text(&b, "prompt_id", r->prompt_id);
    serve_key(&b, "nodes");
    nino_buf_addc(&b, '{');
    for (const serve_node *n = r->nodes; n; n = n->next) {
        serve_key(&b, n->id);
        nino_buf_addc(&b, '{');
        serve_number(&b, "value", n->value);
        serve_number(&b, "max", n->max);
        serve_text(&b, "state", n->state);
        serve_text(&b, "node_id", n->id);
        serve_text(&b, "prompt_id", r->prompt_id);
        serve_text(&b, "display_node_id", n->id);
        serve_text(&b, "parent_node_id", NULL);
        serve_text(&b, "real_node_id", n->id);
        nino_buf_addc(&b, '}');
    }
    nino_buf_addc(&b, '}');
    post(s, r, SERVE_PROGRESS, &b);
}

static void tell_progress(nino_serve *s, serve_record *r, double value, double max)
{
    serve_node *n = *r->current ? serve_record_node(r, r->current, "") : NULL;
    nino_buf b = { 0 };
    if (!n || !(max > 0))
        return;
    n->value = value;
    n->max = max;
    begin(&b, "progress");
    serve_number(&b, "value", value);
    serve_number(&b, "max", max);
    serve_text(&b, "prompt_id", r->prompt_id);
    serve_text(&b, "node", r->current);
    post(s, r, SERVE_PROGRESS, &b);
    tell_states(s, r);
}

static void tell_cached(nino_serve *s, serve_record *r)
{
    nino_buf b = { 0 };
    if (r->is_told_cached)
        return;
    r->is_told_cached = true;
    serve_key(&b, "nodes");
    nino_buf_addc(&b, '[');
    for (const serve_node *n = r->nodes; n; n = n->next)
        if (n->is_cached)
            serve_text(&b, NULL, n->id);
    nino_buf_addc(&b, ']');
    nino_buf more = { 0 };
    nino_buf_addc(&more, ',');
    nino_buf_add(&more, b.data, b.len);
    if (!b.failed && !more.failed)
        keep_post(s, r, "execution_cached", more.data);
    nino_buf_release(&more);
    nino_buf_release(&b);
}

static void tell_start(nino_serve *s, serve_record *r)
{
    if (r->is_started)
        return;
    r->is_started = true;
    keep_post(s, r, "execution_start", "");
}

static void tell_executed(nino_serve *s, const serve_record *r, const char *node)
{
    nino_buf b = { 0 };
    begin(&b, "executed");
    serve_text(&b, "node", node);
    serve_text(&b, "display_node", node);
    serve_key(&b, "output");
    serve_outputs_of(&b, r, node);
    serve_text(&b, "prompt_id", r->prompt_id);
    post(s, r, SERVE_KEEP, &b);
}

// ---- the end of a job --------------------------------------------------------------------------

// Where no node had begun, as while the run was planned, the error says whose it is: "ID CLASS: ...".
static void find_failed(serve_record *r)
{
    nino_json_doc *doc = NULL;
    char id[sizeof(r->node_id)];
    const char *where = r->err.where;
    const size_t n = strcspn(where, " ");
    if (*r->node_id || *r->current || r->has_died || !r->prompt || n >= sizeof(id) ||
        nino_json_parse(r->prompt, strlen(r->prompt), "prompt", NULL, &doc, NULL))
        return;
    snprintf(id, sizeof(id), "%.*s", (int) n, where);
    const char *type = nino_json_str(nino_json_get(nino_json_get(doc->root, id), "class_type"));
    const size_t k = type ? strlen(type) : 0;
    if (k && where[n] && !strncmp(where + n + 1, type, k) && strchr(": ", where[n + 1 + k])) {
        snprintf(r->node_id, sizeof(r->node_id), "%s", id);
        snprintf(r->node_class, sizeof(r->node_class), "%s", type);
    }
    nino_json_doc_destroy(&doc);
}

static void tell_failure(nino_serve *s, serve_record *r)
{
    nino_buf b = { 0 };
    find_failed(r);
    const bool is_cancelled = r->state == NINO_QUEUE_CANCELLED && !r->has_died;
    const char *node = *r->node_id ? r->node_id : *r->current ? r->current : NULL;
    nino_buf_addc(&b, ',');
    serve_text(&b, "node_id", node);
    serve_text(&b, "node_type", *r->node_class ? r->node_class : NULL);
    serve_key(&b, "executed");
    nino_buf_addc(&b, '[');
    for (const serve_node *n = r->nodes; n; n = n->next)
        if (!strcmp(n->state, "finished"))
            serve_text(&b, NULL, n->id);
    nino_buf_addc(&b, ']');
    if (!is_cancelled) {
        char text[600], whole[200];
        const char *where = r->has_died ? "" : r->err.where;
        const int n = snprintf(whole, sizeof(whole), "%s %s", r->node_id, r->node_class);
        if (n > 0 && !strncmp(where, whole, (size_t) n)) // is told beside it
            where += n + (int) strspn(where + n, ": ");
        snprintf(text, sizeof(text), "%s%s%s", where, *where ? ": " : "",
                 r->has_died ? "the worker died in it" : r->err.msg);
        serve_text(&b, "exception_message", text);
        serve_text(&b, "exception_type", r->has_died ? "lost" : nino_status_name(r->err.code));
        nino_buf_adds(&b, ",\"traceback\":[],\"current_inputs\":{},\"current_outputs\":[]");
    }
    if (!b.failed)
        keep_post(s, r, is_cancelled ? "execution_interrupted" : "execution_error", b.data);
    nino_buf_release(&b);
}

static void answer_waiting(nino_serve *s, const serve_record *r)
{
    for (nino_serve_call *c = s->calls; c; c = c->next)
        if (c->is_waiting && !strcmp(c->prompt_id, r->prompt_id))
            serve_images_done(c, r);
}

static void tell_end(nino_serve *s, serve_record *r)
{
    if (r->is_told_end)
        return;
    r->is_told_end = true;
    r->has_ended = true;
    if (s->telling == r)
        s->telling = NULL;
    tell_start(s, r);
    tell_cached(s, r);
    if (r->state == NINO_QUEUE_DONE)
        keep_post(s, r, "execution_success", "");
    else
        tell_failure(s, r);
    *r->current = 0;
    tell_executing(s, r);
    answer_waiting(s, r);
}

void serve_check_ends(nino_serve *s)
{
    const uint64_t now = nino_now_ns();
    for (serve_record *r = s->records; r; r = r->next) {
        const bool is_over = r->state >= NINO_QUEUE_DONE && !r->is_told_end;
        // its events may be on their way; if they were lost, it has ended all the same
        if (is_over &&
            (r->has_ended || !r->scope || now - r->over_ns > (uint64_t) END_WAIT_MS * 1000000u))
            tell_end(s, r);
    }
    if (serve_waiting(s) != s->remaining)
        serve_tell_status(s);
}

// ---- the queue ---------------------------------------------------------------------------------

static void got_workflow(nino_serve *s, void *what, const nino_control_reply *reply)
{
    serve_record *r = what;
    (void) s;
    if (reply && !reply->err.code)
        serve_record_workflow(r, reply->text, strlen(reply->text));
    else
        r->is_asked = false; // the next worker will be asked
}

// Jobs that came by HTTP are called by their prompt_id; others get one that stays the same.
static void name_record(serve_record *r, const nino_queue_job *q)
{
    static const char mark[] = "prompt ";
    if (!strncmp(q->name, mark, sizeof(mark) - 1) && strlen(q->name) < MAX_ID) {
        snprintf(r->prompt_id, sizeof(r->prompt_id), "%s", q->name + sizeof(mark) - 1);
        return;
    }
    const double key[2] = { (double) q->id, q->queued_s };
    const nino_hash h = nino_hash_bytes(key, sizeof(key));
    snprintf(r->prompt_id, sizeof(r->prompt_id), "%08x-%04x-5%03x-a%03x-%012llx",
             (unsigned) (h.hi >> 32), (unsigned) (h.hi >> 16 & 0xffff), (unsigned) (h.hi & 0xfff),
             (unsigned) (h.lo >> 48 & 0xfff), (unsigned long long) (h.lo & 0xffffffffffffULL));
}

// The record of a job: that of the queue before, that of a prompt on its way, or a new one.
static serve_record *record_of(nino_serve *s, serve_record **old, const nino_queue_job *q)
{
    for (serve_record **at = old; *at; at = &(*at)->next)
        if ((*at)->job == q->id && (*at)->queued_s == q->queued_s) {
            serve_record *r = *at;
            *at = r->next;
            return r;
        }
    for (serve_record **at = &s->joining; *at; at = &(*at)->next)
        if (!strncmp(q->name, "prompt ", 7) && !strcmp(q->name + 7, (*at)->prompt_id)) {
            serve_record *r = *at;
            *at = r->next;
            r->number *= (double) q->id;
            return r;
        }
    serve_record *r = serve_record_create();
    if (r) {
        name_record(r, q);
        r->number = (double) q->id;
        // what ended before we came: nobody waits to be told
        r->is_told_end = q->state >= NINO_QUEUE_DONE;
    }
    return r;
}

static void take_state(nino_serve *s, serve_record *r, const nino_queue_job *q)
{
    if (q->state >= NINO_QUEUE_DONE && r->state < NINO_QUEUE_DONE)
        r->over_ns = nino_now_ns();
    if (q->state == NINO_QUEUE_WAITING && r->has_died && q->lost > r->lost) {
        // what has killed one worker is not given to the next; then the queue may go on
        serve_tell_worker(s, NINO_CONTROL_CANCEL, q->id);
        serve_tell_worker(s, NINO_CONTROL_RESUME, 0);
    } else if (q->state == NINO_QUEUE_WAITING && r->state == NINO_QUEUE_RUNNING) { // it was stopped
        r->is_started = r->is_told_cached = r->is_seen = r->has_ended = r->has_died = false;
        *r->current = 0;
    }
    r->lost = q->lost;
    r->job = q->id;
    r->queued_s = q->queued_s;
    r->started_s = q->started_s;
    r->ended_s = q->ended_s;
    r->state = q->state;
    r->scope = q->scope;
    r->err = q->err;
    serve_record_texts(r, q);
    if (q->state == NINO_QUEUE_RUNNING)
        tell_start(s, r);
    if (r->is_told_end && !r->is_seen &&
        !r->shown) // not seen as it ran: no event says which node wrote them
        for (size_t i = 0; i < q->n_outputs; i++)
            serve_record_show(s, r, "", "", q->outputs[i]);
}

// Taken off the list: clients see that it is gone.
static void record_gone(nino_serve *s, serve_record *r)
{
    if (r->state < NINO_QUEUE_DONE) {
        r->state = NINO_QUEUE_CANCELLED;
        answer_waiting(s, r);
    }
    serve_record_destroy(&r);
}

// Who queued them is told; also of those that came and went between two messages of the worker.
static void answer_joined(nino_serve *s, const nino_queue *q)
{
    for (serve_record *r = s->records; r; r = r->next)
        if (r->taken && r->call)
            serve_prompt_queued(r);
    for (serve_record **at = &s->joining; *at;) {
        serve_record *r = *at;
        if (!r->taken || q->version <= r->after) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        r->number *= (double) r->taken;
        serve_prompt_queued(r);
        record_gone(s, r);
    }
}

void serve_take_queue(nino_serve *s, const nino_queue *q)
{
    if (!q || q->version == s->queue_version)
        return;
    serve_record *old = s->records, **end = &s->records;
    size_t bytes = 0;
    s->queue_version = q->version;
    s->records = NULL;
    snprintf(s->device, sizeof(s->device), "%s", q->device ? q->device : "");
    for (size_t i = 0; i < q->n_jobs; i++) {
        serve_record *r = record_of(s, &old, &q->jobs[i]);
        if (!r)
            continue;
        r->next = NULL;
        *end = r;
        end = &r->next;
        take_state(s, r, &q->jobs[i]);
        bytes += (r->prompt ? strlen(r->prompt) : 0) + (r->extra ? strlen(r->extra) : 0) +
                 r->messages.len;
        if (bytes > MAX_HISTORY_BYTES && r->state >= NINO_QUEUE_DONE) { // they come newest first
            free(r->prompt);
            free(r->extra);
            r->prompt = r->extra = NULL;
            r->is_asked = true;
        }
    }
    while (old) {
        serve_record *r = old;
        old = r->next;
        serve_forget(s, r);
        if (s->telling == r)
            s->telling = NULL;
        record_gone(s, r);
    }
    answer_joined(s, q);
    for (serve_record *r = s->records; r; r = r->next) {
        const nino_control ask = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_WORKFLOW, .job = r->job };
        if (!r->prompt && !r->is_asked)
            r->is_asked = serve_send(s, &ask, got_workflow, r);
    }
    if (serve_waiting(s) != s->remaining)
        serve_tell_status(s);
}

// What ran waits again at the next worker; clients hear of it from there.
void serve_lost_worker(nino_serve *s)
{
    s->telling = NULL;
    for (serve_record *r = s->joining; r; r = r->next) {
        r->after = 0;           // the next one counts anew
        serve_prompt_queued(r); // it was taken: nobody waits for who may never come
    }
    for (serve_record *r = s->records; r; r = r->next) {
        r->has_died |= r->state == NINO_QUEUE_RUNNING;
        if (!r->prompt)
            r->is_asked = false;
    }
}

// ---- events ------------------------------------------------------------------------------------

// "ID CLASS", maybe " (cached)".
static void split_name(const char *name, char *id, size_t id_size, char *class_type, size_t size)
{
    const size_t n = strcspn(name, " ");
    const char *rest = name + n + (name[n] == ' ');
    const char *cached = strstr(rest, " (cached)");
    snprintf(id, id_size, "%.*s", (int) (n < id_size ? n : id_size - 1), name);
    snprintf(class_type, size, "%.*s", (int) (cached ? (size_t) (cached - rest) : strlen(rest)),
             rest);
}

static void node_begins(nino_serve *s, serve_record *r, const char *name)
{
    char id[64], class_type[128];
    split_name(name, id, sizeof(id), class_type, sizeof(class_type));
    serve_node *n = serve_record_node(r, id, class_type);
    const bool is_cached = strstr(name, " (cached)") != NULL;
    tell_start(s, r);
    if (n)
        n->is_cached |= is_cached;
    snprintf(r->node_id, sizeof(r->node_id), "%s", id);
    snprintf(r->node_class, sizeof(r->node_class), "%s", class_type);
    if (is_cached) { // told as such, all at once
        if (n)
            n->state = "finished";
        snprintf(r->current, sizeof(r->current), "%s", "");
        return;
    }
    tell_cached(s, r);
    snprintf(r->current, sizeof(r->current), "%s", id);
    tell_executing(s, r);
    tell_states(s, r);
}

static bool shows_anything(const serve_record *r, const char *node)
{
    const serve_shown *n = r->shown;
    while (n && strcmp(n->node, node) != 0)
        n = n->next;
    return n != NULL;
}

static void node_ends(nino_serve *s, serve_record *r, uint32_t status)
{
    serve_node *n = *r->node_id ? serve_record_node(r, r->node_id, r->node_class) : NULL;
    if (status) {
        if (n)
            n->state = "error";
        return;
    }
    if (n) {
        n->state = "finished";
        n->value = n->max;
        if (shows_anything(r, n->id))
            tell_executed(s, r, n->id);
        if (!n->is_cached)
            tell_states(s, r);
    }
}

// Not every step of a fast run: making a picture ready takes longer than such a step.
static void take_preview(nino_serve *s, const serve_record *r, const char *path)
{
    const uint64_t now = nino_now_ns();
    char *data = NULL;
    size_t len = 0;
    if (now - s->preview_ns < (uint64_t) PREVIEW_WAIT_MS * 1000000u)
        return;
    if (!serve_wants_pictures(s, r->client) ||
        nino_file_read(path, MAX_PREVIEW, false, &data, &len, NULL))
        return;
    s->preview_ns = now;
    nino_buf jpeg = { 0 };
    if (serve_preview(&jpeg, data, len))
        serve_post_picture(s, r, SERVE_PICTURE, jpeg.data, jpeg.len);
    nino_buf_release(&jpeg);
    free(data);
}

// A picture that a node has written: into the history, or, from those that only send it, to whoever has
// queued the prompt.
static void take_output(nino_serve *s, serve_record *r, const char *path)
{
    char *data = NULL;
    size_t len = 0;
    const bool is_sent_only = serve_only_sends(r->node_class);
    if (!is_sent_only)
        serve_record_show(s, r, r->node_id, r->node_class, path);
    if (!is_sent_only && strcmp(r->node_class, "ETN_SendImageWebSocket") != 0)
        return;
    if (serve_wants_pictures(s, r->client) &&
        !nino_file_read(path, MAX_RESULT, false, &data, &len, NULL))
        serve_post_picture(s, r, SERVE_RESULT, data, len);
    free(data);
}

static void take_cache(serve_record *r, const nino_event *ev, const char *name)
{
    char id[64], class_type[128];
    if (ev->sub != NINO_CACHE_NODE || ev->u.scope.arg0 != 1)
        return;
    split_name(name, id, sizeof(id), class_type, sizeof(class_type));
    serve_node *n = serve_record_node(r, id, class_type);
    if (n) {
        n->is_cached = true;
        n->state = "finished";
    }
    snprintf(r->node_id, sizeof(r->node_id), "%s", id); // what it has shown before follows
    snprintf(r->node_class, sizeof(r->node_class), "%s", class_type);
}

static void take_event(nino_serve *s, serve_record *r, const nino_event *ev)
{
    const char *name = nino_attach_name(s->attach, ev->name);
    switch (ev->kind) {
    case NINO_EV_JOB:
        r->scope = ev->id;
        r->is_seen = true;
        break;
    case NINO_EV_NODE:
        r->node_scope = ev->id;
        node_begins(s, r, name);
        break;
    case NINO_EV_END:
        if (ev->id == r->node_scope && r->node_scope) {
            r->node_scope = 0;
            node_ends(s, r, ev->u.scope.arg0);
        } else if (ev->id == r->scope && r->is_seen) {
            r->has_ended = true;
            s->telling = NULL;
        }
        break;
    case NINO_EV_CACHE: take_cache(r, ev, name); break;
    case NINO_EV_STEP_INFO: tell_progress(s, r, ev->u.step.step, ev->u.step.total); break;
    case NINO_EV_TILE: tell_progress(s, r, ev->u.scope.arg0, ev->u.scope.arg1); break;
    case NINO_EV_OUTPUT: take_output(s, r, name); break;
    case NINO_EV_PREVIEW: take_preview(s, r, name); break;
    default: break;
    }
}

static void hold(nino_serve *s, const nino_event *ev)
{
    if (s->n_held == s->max_held) {
        const size_t max = s->max_held ? 2 * s->max_held : 1024;
        nino_event *more = max <= MAX_HELD ? realloc(s->held, max * sizeof(*more)) : NULL;
        if (!more)
            return;
        s->held = more;
        s->max_held = max;
    }
    s->held[s->n_held++] = *ev;
}

static bool is_told(const nino_event *ev)
{
    switch (ev->kind) {
    case NINO_EV_JOB:
    case NINO_EV_NODE:
    case NINO_EV_END:
    case NINO_EV_CACHE:
    case NINO_EV_STEP_INFO:
    case NINO_EV_TILE:
    case NINO_EV_OUTPUT:
    case NINO_EV_PREVIEW: return true;
    default: return false;
    }
}

// Whether it is the event's job, of those that came by HTTP: only they have names of their own.
static bool is_named(const nino_serve *s, const serve_record *r, const nino_event *ev)
{
    const char *name = nino_attach_name(s->attach, ev->name);
    return !strncmp(name, "prompt ", 7) && !strcmp(name + 7, r->prompt_id);
}

// The job that an event begins. NULL: the queue does not name it yet, or (*is_gone) no more: one
// that began later is there.
static serve_record *beginning(const nino_serve *s, const nino_event *ev, bool *is_gone)
{
    *is_gone = false;
    for (serve_record *r = s->records; r; r = r->next) {
        if (r->scope == ev->id && !r->is_seen)
            return r;
        *is_gone |= r->scope > ev->id;
    }
    for (serve_record *r = s->records; r; r = r->next)
        if (r->state == NINO_QUEUE_RUNNING && !r->scope && !r->is_seen && is_named(s, r, ev))
            return r;
    return NULL;
}

void serve_take_events(nino_serve *s, const nino_event *ev, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (ev[i].kind == NINO_EV_MEM) {
            s->mem_used = ev[i].u.mem.in_use;
            if (ev[i].sub == NINO_MEM_BUDGET)
                s->mem_budget = ev[i].u.mem.bytes;
        }
        if (is_told(&ev[i]) && s->attach)
            hold(s, &ev[i]);
    }
    size_t i = 0;
    for (; i < s->n_held; i++) {
        const nino_event *e = &s->held[i];
        if (e->kind == NINO_EV_JOB) {
            bool is_gone;
            serve_record *r = beginning(s, e, &is_gone);
            if (!r && !is_gone && s->n_held < MAX_HELD)
                break; // until the next word of the queue
            s->telling = r;
        }
        if (s->telling)
            take_event(s, s->telling, e);
    }
    if (i)
        memmove(s->held, s->held + i, (s->n_held - i) * sizeof(*s->held));
    s->n_held -= i;
}
