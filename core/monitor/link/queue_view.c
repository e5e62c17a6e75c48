// The queue as JSON and back: {"schema":"queue/1","paused":false,"jobs":[{"id":3,...}]}.
#include "core/monitor/link/queue_view.h"

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/num.h"
#include "core/monitor/link/attach_priv.h"
#include "core/monitor/link/request.h"

#include <stdlib.h>
#include <string.h>

static const char *const states[] = { "waiting", "running", "done", "failed", "cancelled" };

const char *nino_queue_state_name(nino_queue_state s)
{
    return (unsigned) s < sizeof(states) / sizeof(states[0]) ? states[s] : "?";
}

// ---- writing -----------------------------------------------------------------------------------

static void add_time(nino_buf *b, const char *key, double v)
{
    char text[32];
    if (v <= 0)
        return;
    nino_print_double(text, sizeof(text), v);
    nino_buf_addf(b, ",\"%s\":%s", key, text);
}

static void write_job(nino_buf *b, const nino_queue_job *j)
{
    nino_buf_addc(b, '{');
    nino_json_add_u64(b, "id", j->id);
    nino_json_add_text(b, "state", nino_queue_state_name(j->state));
    nino_json_add_text(b, "name", j->name);
    nino_json_add_u64(b, "nodes", j->n_nodes);
    if (j->scope)
        nino_json_add_u64(b, "scope", j->scope);
    if (j->lost)
        nino_json_add_u64(b, "lost", (uint64_t) j->lost);
    add_time(b, "queued", j->queued_s);
    add_time(b, "started", j->started_s);
    add_time(b, "ended", j->ended_s);
    nino_buf_adds(b, ",\"outputs\":[");
    for (size_t i = 0; i < j->n_outputs; i++) {
        if (i)
            nino_buf_addc(b, ',');
        nino_buf_add_json_string(b, j->outputs[i], strlen(j->outputs[i]));
    }
    nino_buf_adds(b, "],\"texts\":[");
    for (size_t i = 0; i < j->n_texts; i++) {
        nino_buf_adds(b, i ? ",{" : "{");
        nino_json_add_text(b, "node", j->texts[i].node);
        nino_json_add_text(b, "title", j->texts[i].title);
        nino_json_add_text(b, "text", j->texts[i].text);
        nino_buf_addc(b, '}');
    }
    nino_buf_addc(b, ']');
    if (j->err.code) {
        nino_json_add_text(b, "status", nino_status_name(j->err.code));
        nino_json_add_text(b, "where", j->err.where);
        nino_json_add_text(b, "message", j->err.msg);
    }
    nino_buf_adds(b, ",\"options\":");
    nino_options_write(b, j->options);
    nino_buf_addc(b, '}');
}

void nino_queue_write(nino_buf *b, const nino_queue *q)
{
    nino_buf_addc(b, '{');
    nino_json_add_text(b, "schema", "queue/1");
    nino_json_add_u64(b, "version", q->version);
    nino_buf_addf(b, ",\"worker\":%s,\"paused\":%s,\"ending\":%s", q->is_worker ? "true" : "false",
                  q->is_paused ? "true" : "false", q->is_ending ? "true" : "false");
    nino_json_add_text(b, "notice", q->notice ? q->notice : "");
    nino_json_add_text(b, "device", q->device ? q->device : "");
    nino_buf_adds(b, ",\"jobs\":[");
    for (size_t i = 0; i < q->n_jobs; i++) {
        if (i)
            nino_buf_addc(b, ',');
        write_job(b, &q->jobs[i]);
    }
    nino_buf_adds(b, "]}");
}

// ---- reading -----------------------------------------------------------------------------------
// Missing members are zero: an older or newer version may have written it.

static const char *queue_view_text_of(const nino_json *obj, const char *key)
{
    const char *s = nino_json_str(nino_json_get(obj, key));
    return s ? s : "";
}

static uint64_t u64_of(const nino_json *obj, const char *key, uint64_t max)
{
    uint64_t v = 0;
    return nino_json_u64(nino_json_get(obj, key), &v) && v <= max ? v : 0;
}

static double double_of(const nino_json *obj, const char *key)
{
    double v = 0;
    return nino_json_double(nino_json_get(obj, key), &v) && v > 0 && v < 1e18 ? v : 0;
}

static bool bool_of(const nino_json *obj, const char *key)
{
    bool v = false;
    return nino_json_bool(nino_json_get(obj, key), &v) && v;
}

static const nino_json *list_of(const nino_json *obj, const char *key)
{
    const nino_json *v = nino_json_get(obj, key);
    return v && v->type == NINO_JSON_ARRAY ? v : NULL;
}

static bool read_lists(nino_arena *arena, const nino_json *v, nino_queue_job *j)
{
    const nino_json *outputs = list_of(v, "outputs"), *texts = list_of(v, "texts");
    const size_t n = outputs ? outputs->count : 0, k = texts ? texts->count : 0;
    const char **paths = nino_arena_alloc(arena, (n + 1) * sizeof(*paths));
    nino_job_text *t = nino_arena_alloc(arena, (k + 1) * sizeof(*t));
    if (!paths || !t)
        return false;
    for (const nino_json *o = outputs ? outputs->child : NULL; o; o = o->next)
        if (nino_json_str(o))
            paths[j->n_outputs++] = nino_json_str(o);
    for (const nino_json *o = texts ? texts->child : NULL; o; o = o->next)
        t[j->n_texts++] =
            (nino_job_text){ queue_view_text_of(o, "node"), queue_view_text_of(o, "title"),
                             queue_view_text_of(o, "text") };
    j->outputs = paths;
    j->texts = t;
    return true;
}

static bool read_job(nino_arena *arena, const nino_json *v, nino_queue_job *j, nino_error *err)
{
    const char *state = queue_view_text_of(v, "state");
    const char **models = NULL;
    *j = (nino_queue_job){ .id = u64_of(v, "id", UINT64_MAX),
                           .name = queue_view_text_of(v, "name"),
                           .scope = (uint32_t) u64_of(v, "scope", UINT32_MAX),
                           .n_nodes = (uint32_t) u64_of(v, "nodes", UINT32_MAX),
                           .lost = (int) u64_of(v, "lost", 1000000),
                           .queued_s = double_of(v, "queued"),
                           .started_s = double_of(v, "started"),
                           .ended_s = double_of(v, "ended") };
    int i = 0;
    while (i <= NINO_QUEUE_CANCELLED && strcmp(state, states[i]) != 0)
        i++;
    if (!j->id || i > NINO_QUEUE_CANCELLED) {
        nino_fail(err, NINO_ERR_FORMAT, "queue", "a job has no id or no state");
        return false;
    }
    j->state = (nino_queue_state) i;
    nino_status st = NINO_OK;
    if (nino_status_parse(nino_json_str(nino_json_get(v, "status")), &st) && st)
        nino_fail(&j->err, st, queue_view_text_of(v, "where"), "%s",
                  queue_view_text_of(v, "message"));
    nino_job_options *o = nino_arena_alloc(arena, sizeof(*o));
    j->options = o;
    if (!o)
        nino_fail(err, NINO_ERR_NOMEM, "queue", "out of memory");
    if (!o || nino_options_parse(nino_json_get(v, "options"), o, &models, err)) {
        free(models);
        return false;
    }
    if (models) { // moved to the arena, so that there is one thing to free
        size_t n = 0;
        while (models[n])
            n++;
        const char **copy = nino_arena_alloc(arena, (n + 1) * sizeof(*copy));
        if (copy)
            memcpy(copy, models, (n + 1) * sizeof(*copy));
        free(models);
        o->models = copy;
        if (!copy)
            nino_fail(err, NINO_ERR_NOMEM, "queue", "out of memory");
        if (!copy)
            return false;
    }
    if (read_lists(arena, v, j))
        return true;
    nino_fail(err, NINO_ERR_NOMEM, "queue", "out of memory");
    return false;
}

static bool read_queue(nino_queue_view *view, nino_error *err)
{
    const nino_json *root = view->doc->root, *jobs = list_of(root, "jobs");
    if (!jobs || strcmp(queue_view_text_of(root, "schema"), "queue/1") != 0) {
        nino_fail(err, NINO_ERR_FORMAT, "queue", "is not the queue of a worker");
        return false;
    }
    nino_queue_job *list =
        nino_arena_alloc(view->arena, ((size_t) jobs->count + 1) * sizeof(*list));
    if (!list) {
        nino_fail(err, NINO_ERR_NOMEM, "queue", "out of memory");
        return false;
    }
    view->q = (nino_queue){ .version = u64_of(root, "version", UINT64_MAX),
                            .is_worker = bool_of(root, "worker"),
                            .is_paused = bool_of(root, "paused"),
                            .is_ending = bool_of(root, "ending"),
                            .notice = queue_view_text_of(root, "notice"),
                            .device = queue_view_text_of(root, "device"),
                            .jobs = list };
    for (const nino_json *j = jobs->child; j; j = j->next)
        if (!read_job(view->arena, j, &list[view->q.n_jobs++], err))
            return false;
    return true;
}

nino_queue_view *nino_queue_view_parse(const char *json, size_t len, nino_error *err)
{
    const nino_json_limits limits = { .max_depth = 16,
                                      .max_bytes = NINO_WIRE_MAX,
                                      .max_string = NINO_WIRE_MAX };
    nino_queue_view *v = calloc(1, sizeof(*v));
    if (!v || !(v->arena = nino_arena_create()))
        nino_fail(err, NINO_ERR_NOMEM, "queue", "out of memory");
    else if (!nino_json_parse(json, len, "queue", &limits, &v->doc, err) && read_queue(v, err))
        return v;
    nino_queue_view_destroy(&v);
    return NULL;
}

void nino_queue_view_destroy(nino_queue_view **view)
{
    nino_queue_view *v = *view;
    if (!v)
        return;
    nino_arena_destroy(&v->arena);
    nino_json_doc_destroy(&v->doc);
    free(v);
    *view = NULL;
}

const nino_queue *nino_control_queue(nino_attach *a)
{
    if (a->is_state_new) {
        nino_queue_view *v = nino_queue_view_parse(a->state.data, a->state.len, NULL);
        a->is_state_new = false;
        if (v) { // else the one before stays
            nino_queue_view_destroy(&a->queue);
            a->queue = v;
        }
    }
    return a->queue ? &a->queue->q : NULL;
}
