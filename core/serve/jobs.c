// Jobs in the one form that newer frontends list them in, whether they wait, run or have ended:
// GET /jobs and /jobs/ID, and what cancels them.
#include "core/serve/serve_priv.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PREVIEW_TEXT = 1024, ALL_STATES = (1 << (NINO_QUEUE_CANCELLED + 1)) - 1 };

static const char *const state_names[] = {
    [NINO_QUEUE_WAITING] = "pending",     [NINO_QUEUE_RUNNING] = "in_progress",
    [NINO_QUEUE_DONE] = "completed",      [NINO_QUEUE_FAILED] = "failed",
    [NINO_QUEUE_CANCELLED] = "cancelled",
};

// This part of the interface has errors of a form of its own.
static void jobs_fail(nino_serve_call *c, int status, const char *message)
{
    nino_buf_clear(&c->body);
    nino_buf_addc(&c->body, '{');
    serve_text(&c->body, "error", message);
    nino_buf_addc(&c->body, '}');
    serve_reply_json(c, status);
}

// ---- one job -----------------------------------------------------------------------------------

static double created_ms(const serve_record *r)
{
    return r->created_ms > 0 ? r->created_ms : (double) (int64_t) (r->queued_s * 1e3);
}

static void add_media(nino_buf *b, const serve_shown *n)
{
    nino_buf_addc(b, '{');
    serve_text(b, "filename", n->name);
    serve_text(b, "subfolder", n->subfolder);
    serve_text(b, "type", n->type);
    serve_text(b, "nodeId", n->node);
    serve_text(b, "mediaType", n->kind);
    nino_buf_addc(b, '}');
}

static void add_text(nino_buf *b, const serve_shown *n)
{
    size_t len = strlen(n->name);
    const bool is_cut = len > MAX_PREVIEW_TEXT;
    if (is_cut) // between two letters
        for (len = MAX_PREVIEW_TEXT; len && (n->name[len] & 0xc0) == 0x80;)
            len--;
    nino_buf_addc(b, '{');
    serve_key(b, "content");
    nino_buf_add_json_string(b, n->name, len);
    if (is_cut)
        nino_buf_adds(b, ",\"truncated\":true");
    serve_text(b, "nodeId", n->node);
    serve_text(b, "mediaType", n->kind);
    nino_buf_addc(b, '}');
}

// How many files there are, and what stands for all: a picture that was kept before one that was
// only shown, texts where there is no picture.
static void add_summary(nino_buf *b, const serve_record *r)
{
    const serve_shown *best = NULL;
    size_t n_files = 0, n_pictures = 0;
    int rank = 0;
    for (const serve_shown *n = r->shown; n; n = n->next) {
        const bool is_picture = !n->is_text && strcmp(n->kind, "latents") != 0; // or a sound
        n_files += !n->is_text;
        n_pictures += is_picture;
        const int worth = n->is_text ? 1 : !is_picture ? 0 : strcmp(n->type, "output") ? 2 : 3;
        if (worth > rank && n->name && n->subfolder) {
            rank = worth;
            best = n;
        }
    }
    serve_number(b, "outputs_count", (double) n_files);
    serve_number(b, "previewable_outputs_count", (double) n_pictures);
    if (!best)
        return;
    serve_key(b, "preview_output");
    if (best->is_text)
        add_text(b, best);
    else
        add_media(b, best);
}

static void add_end(nino_buf *b, const serve_record *r)
{
    if (r->started_s > 0)
        serve_number(b, "execution_start_time", (double) (int64_t) (r->started_s * 1e3));
    if (r->ended_s > 0)
        serve_number(b, "execution_end_time", (double) (int64_t) (r->ended_s * 1e3));
    if (r->error_len) {
        serve_key(b, "execution_error");
        nino_buf_add(b, r->messages.data + r->error_at, r->error_len);
    }
}

static void add_job(nino_buf *b, const serve_record *r, bool is_full)
{
    const nino_queue_state state = serve_record_state(r);
    const bool is_over = state >= NINO_QUEUE_DONE;
    serve_key(b, NULL);
    nino_buf_addc(b, '{');
    serve_text(b, "id", r->prompt_id);
    serve_text(b, "status", state_names[state]);
    serve_number(b, "priority", r->number);
    serve_number(b, "create_time", created_ms(r));
    if (is_over)
        add_end(b, r);
    if (is_over)
        add_summary(b, r);
    else
        nino_buf_adds(b, ",\"outputs_count\":0,\"previewable_outputs_count\":0");
    if (*r->workflow_id)
        serve_text(b, "workflow_id", r->workflow_id);
    if (is_full && is_over) {
        serve_key(b, "outputs");
        serve_record_outputs_json(b, r);
        serve_key(b, "execution_status");
        serve_record_status_json(b, r);
        nino_buf_addf(b, ",\"workflow\":{\"prompt\":%s", r->prompt ? r->prompt : "{}");
        nino_buf_addf(b, ",\"extra_data\":%s}", r->extra ? r->extra : "{}");
    }
    nino_buf_addc(b, '}');
}

// ---- lists -------------------------------------------------------------------------------------

typedef struct choice {
    unsigned states; // a bit each
    char workflow[sizeof(((serve_record *) 0)->workflow_id)];
    bool by_duration, is_rising, has_limit;
    size_t limit, offset;
} choice;

static bool take_states(choice *q, const char *text)
{
    q->states = 0;
    for (const char *p = text; *p;) {
        p += strspn(p, ", ");
        const size_t n = strcspn(p, ", ");
        bool is_known = !n;
        for (unsigned i = 0; i <= NINO_QUEUE_CANCELLED; i++)
            if (n && strlen(state_names[i]) == n && !strncmp(p, state_names[i], n)) {
                q->states |= 1u << i;
                is_known = true;
            }
        if (!is_known)
            return false;
        p += n;
    }
    q->states = q->states ? q->states : ALL_STATES;
    return true;
}

static bool take_number(const nino_serve_call *c, const char *key, bool *is_there, size_t *out)
{
    char text[24], *end;
    *is_there = serve_query(c->query, key, text, sizeof(text));
    if (!*is_there)
        return true;
    const long long v = strtoll(text, &end, 10);
    *out = v > 0 ? (size_t) v : 0;
    return *text && !*end && v < 1000000000;
}

// False: answered.
static bool read_choice(nino_serve_call *c, choice *q)
{
    char text[160] = "";
    bool has_offset;
    *q = (choice){ .states = ALL_STATES };
    serve_query(c->query, "workflow_id", q->workflow, sizeof(q->workflow));
    if (serve_query(c->query, "status", text, sizeof(text)) && !take_states(q, text)) {
        jobs_fail(c, 400, "status is not of pending, in_progress, completed, failed, cancelled");
        return false;
    }
    if (serve_query(c->query, "sort_by", text, sizeof(text)) &&
        !(q->by_duration = !strcmp(text, "execution_duration")) && strcmp(text, "created_at")) {
        jobs_fail(c, 400, "sort_by is neither created_at nor execution_duration");
        return false;
    }
    if (serve_query(c->query, "sort_order", text, sizeof(text)) &&
        !(q->is_rising = !strcmp(text, "asc")) && strcmp(text, "desc")) {
        jobs_fail(c, 400, "sort_order is neither asc nor desc");
        return false;
    }
    if (!take_number(c, "limit", &q->has_limit, &q->limit) || (q->has_limit && !q->limit)) {
        jobs_fail(c, 400, "limit is no whole number above 0");
        return false;
    }
    if (!take_number(c, "offset", &has_offset, &q->offset)) {
        jobs_fail(c, 400, "offset is no whole number");
        return false;
    }
    return true;
}

typedef struct listed_job {
    const serve_record *r;
    double key;
    size_t at; // equal ones stay as they are
} listed_job;

static int by_key(const void *a, const void *b)
{
    const listed_job *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static listed_job *choose(const nino_serve *s, const choice *q, size_t *n)
{
    size_t max = 1;
    for (const serve_record *r = s->records; r; r = r->next)
        max++;
    listed_job *list = malloc(max * sizeof(*list));
    *n = 0;
    for (const serve_record *r = s->records; list && r; r = r->next) {
        if (!(q->states >> serve_record_state(r) & 1) ||
            (*q->workflow && strcmp(q->workflow, r->workflow_id) != 0))
            continue;
        const bool has_run = r->started_s > 0 && r->ended_s > r->started_s;
        const double key = !q->by_duration ? created_ms(r)
                           : has_run       ? r->ended_s - r->started_s
                                           : 0;
        list[*n] = (listed_job){ r, q->is_rising ? key : -key, *n };
        ++*n;
    }
    if (list)
        qsort(list, *n, sizeof(*list), by_key);
    return list;
}

static void list_jobs(nino_serve_call *c)
{
    choice q;
    size_t n;
    nino_buf *b = &c->body;
    if (!read_choice(c, &q))
        return;
    listed_job *list = choose(c->s, &q, &n);
    if (!list) {
        jobs_fail(c, 500, "out of memory");
        return;
    }
    const size_t from = q.offset < n ? q.offset : n;
    const size_t k = q.has_limit && q.limit < n - from ? q.limit : n - from;
    nino_buf_adds(b, "{\"jobs\":[");
    for (size_t i = 0; i < k; i++)
        add_job(b, list[from + i].r, false);
    nino_buf_adds(b, "],\"pagination\":{");
    serve_number(b, "offset", (double) q.offset);
    serve_key(b, "limit");
    if (q.has_limit)
        nino_buf_addf(b, "%zu", q.limit);
    else
        nino_buf_adds(b, "null");
    serve_number(b, "total", (double) n);
    nino_buf_addf(b, ",\"has_more\":%s}}", q.offset + k < n ? "true" : "false");
    free(list);
    serve_reply_json(c, 200);
}

void serve_get_jobs(nino_serve_call *c, const char *rest)
{
    char id[MAX_ID + 1];
    if (!*rest) {
        list_jobs(c);
        return;
    }
    const serve_record *r = serve_unescape(id, sizeof(id), rest, strlen(rest), false)
                                ? serve_record_find(c->s, id)
                                : NULL;
    if (!r) {
        jobs_fail(c, 404, "Job not found");
        return;
    }
    add_job(&c->body, r, true);
    serve_reply_json(c, 200);
}

// ---- cancelling --------------------------------------------------------------------------------

// What runs is stopped, what waits is taken off. False: it has ended, or there is none.
static bool cancel(nino_serve *s, const char *id)
{
    const serve_record *r = serve_record_find(s, id);
    if (!r || r->state > NINO_QUEUE_RUNNING)
        return false;
    const bool is_running = r->state == NINO_QUEUE_RUNNING;
    serve_tell_worker(s, is_running ? NINO_CONTROL_CANCEL : NINO_CONTROL_REMOVE, r->job);
    return true;
}

static void reply_cancelled(nino_serve_call *c, bool is_cancelled)
{
    nino_buf_addf(&c->body, "{\"cancelled\":%s}", is_cancelled ? "true" : "false");
    serve_reply_json(c, 200);
}

void serve_cancel_job(nino_serve_call *c, const char *rest)
{
    char id[MAX_ID + 1];
    const char *slash = strchr(rest, '/');
    if (!slash || strcmp(slash, "/cancel") != 0 ||
        !serve_unescape(id, sizeof(id), rest, (size_t) (slash - rest), false))
        jobs_fail(c, 404, "there is nothing at that path");
    else
        reply_cancelled(c, cancel(c->s, id));
}

void serve_cancel_jobs(nino_serve_call *c, const char *rest)
{
    (void) rest;
    nino_json_doc *doc = serve_body(c);
    if (!doc)
        return;
    const nino_json *ids = nino_json_get(doc->root, "job_ids");
    bool is_list = ids && ids->type == NINO_JSON_ARRAY, any = false;
    for (const nino_json *v = is_list ? ids->child : NULL; v; v = v->next)
        is_list &= nino_json_str(v) != NULL;
    for (const nino_json *v = is_list ? ids->child : NULL; v; v = v->next)
        any |= cancel(c->s, nino_json_str(v));
    if (is_list)
        reply_cancelled(c, any);
    else
        jobs_fail(c, 400, "job_ids must be a list of texts");
    nino_json_doc_destroy(&doc);
}
