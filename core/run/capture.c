// Debug capture: inputs and outputs of nodes as safetensors + JSON under test_data/captured/,
// written by a thread of its own. Directory and file names are those of the original extension's
// capture.
#include "core/run/capture_priv.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/hash.h"
#include "core/base/thread.h"
#include "core/base/vars.h"

#define ROOT "test_data/captured"
#define MAX_QUEUED ((uint64_t) 2 << 30)

struct nino_capture {
    const nino_log *log;
    char *only; // id of the node whose output is held, in place of all that is written
    capture_record *held;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    capture_record *first, **last;
    uint64_t queued_bytes, dropped, last_ms;
    bool stop, is_failing;
    char folder[64], input_shape[160]; // of the inputs of the node that runs now
    nino_hash workflow;                // that was written last
    char workflow_file[64];
};

static void capture_release(capture_record *r)
{
    for (int i = 0; i < r->n; i++)
        nino_value_unref(&r->value[i]);
    free(r->node_id);
    free(r->class_type);
    free(r->params);
    free(r->workflow);
    free(r);
}

static void *capture_thread(void *priv)
{
    nino_capture *c = priv;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (!c->first && !c->stop)
            pthread_cond_wait(&c->changed, &c->lock);
        capture_record *r = c->first;
        if (!r)
            break;
        if (!(c->first = r->next))
            c->last = &c->first;
        pthread_mutex_unlock(&c->lock);
        nino_error e = { 0 };
        if (nino_capture_write(ROOT, r, &e) &&
            !c->is_failing) { // errors never reach the job; said once
            c->is_failing = true;
            nino_logf(c->log, NINO_LOG_WARN, "capture: %s: %s", e.where, e.msg);
        }
        const uint64_t bytes = r->bytes;
        capture_release(r);
        pthread_mutex_lock(&c->lock);
        c->queued_bytes -= bytes;
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

// ---- the job's side --------------------------------------------------------------------------

static nino_capture *capture_create(const nino_log *log)
{
    nino_capture *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->log = log;
    c->last = &c->first;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    return c;
}

static void capture_free(nino_capture *c)
{
    if (c->held)
        capture_release(c->held);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c->only);
    free(c);
}

nino_capture *nino_capture_start(const nino_log *log)
{
    nino_capture *c = nino_debug_has("capture") ? capture_create(log) : NULL;
    if (!c)
        return NULL;
    if (nino_thread_start(&c->thread, "nino-capture", capture_thread, c)) {
        nino_logf(log, NINO_LOG_WARN, "capture: cannot start its thread");
        capture_free(c);
        return NULL;
    }
    nino_logf(log, NINO_LOG_INFO, "capture: nodes are written to " ROOT);
    return c;
}

nino_capture *nino_capture_hold(const char *only)
{
    nino_capture *c = capture_create(NULL);
    if (c && !(c->only = strdup(only))) {
        capture_free(c);
        return NULL;
    }
    return c;
}

const capture_record *nino_capture_held(const nino_capture *c) { return c->held; }

void nino_capture_stop(nino_capture **pc)
{
    nino_capture *c = *pc;
    if (!c)
        return;
    *pc = NULL;
    if (c->only) { // it has no thread
        capture_free(c);
        return;
    }
    pthread_mutex_lock(&c->lock);
    c->stop = true;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    if (c->dropped)
        nino_logf(c->log, NINO_LOG_WARN,
                  "capture: %" PRIu64 " records were dropped, the disk is "
                  "slower than the run",
                  c->dropped);
    capture_free(c);
}

static capture_record *make_record(const nino_captured *n)
{
    struct timespec t;
    capture_record *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    clock_gettime(CLOCK_REALTIME, &t);
    r->ms = (uint64_t) t.tv_sec * 1000 + (uint64_t) t.tv_nsec / 1000000;
    r->node_id = strdup(n->node_id);
    r->class_type = strdup(n->class_type);
    r->params = strdup(n->params_json);
    r->is_output = n->is_output;
    r->duration_s = n->duration_s;
    r->in_use = n->memory.in_use;
    r->reserved = n->memory.reserved;
    r->peak = n->memory.peak;
    snprintf(r->device, sizeof(r->device), "%s", n->device);
    snprintf(r->precision, sizeof(r->precision), "%s", n->precision);
    nino_capture_function(n->class_type, r->function, sizeof(r->function));
    snprintf(r->base, sizeof(r->base), "%s_%s", r->function, r->is_output ? "output" : "input");
    for (; n->ports && n->ports[r->n].key && r->n < CAPTURE_VALUES; r->n++) {
        r->key[r->n] = n->ports[r->n].key;
        r->value[r->n] = nino_value_ref(n->values[r->n]);
        r->bytes += nino_value_bytes(n->values[r->n]);
    }
    if (r->node_id && r->class_type && r->params)
        return r;
    capture_release(r);
    return NULL;
}

// A job's workflow is written once, with its first record.
static void add_workflow(nino_capture *c, capture_record *r, const char *json)
{
    nino_hasher *h = json ? nino_hasher_create() : NULL;
    if (!h)
        return;
    nino_hasher_add(h, json, strlen(json));
    const nino_hash hash = nino_hasher_finish(&h);
    if (memcmp(&hash, &c->workflow, sizeof(hash)) != 0 && (r->workflow = strdup(json))) {
        c->workflow = hash;
        snprintf(c->workflow_file, sizeof(c->workflow_file), "workflow/workflow_%" PRIu64 ".json",
                 r->ms);
    }
    memcpy(r->workflow_file, c->workflow_file, sizeof(r->workflow_file));
}

static void hold(nino_capture *c, const nino_captured *n)
{
    if (!n->is_output || strcmp(c->only, n->node_id) != 0)
        return;
    if (c->held)
        capture_release(c->held);
    c->held = make_record(n);
}

void nino_capture_node(nino_capture *c, const nino_captured *n)
{
    if (c->only) {
        hold(c, n);
        return;
    }
    capture_record *r = make_record(n);
    if (!r)
        return;
    // Outputs go beside the inputs they were made from.
    nino_capture_folder(n->values, n->ports, r->folder, sizeof(r->folder));
    if (!r->is_output) {
        memcpy(c->folder, r->folder, sizeof(c->folder));
        nino_capture_shapes(r, c->input_shape, sizeof(c->input_shape));
    } else if (c->folder[0]) {
        memcpy(r->folder, c->folder, sizeof(r->folder));
    }
    memcpy(r->input_shape, c->input_shape, sizeof(r->input_shape));
    if (!r->folder[0])
        snprintf(r->folder, sizeof(r->folder), "other");
    pthread_mutex_lock(&c->lock);
    if (c->queued_bytes + r->bytes > MAX_QUEUED) {
        c->dropped++;
        pthread_mutex_unlock(&c->lock);
        capture_release(r);
        return;
    }
    if (r->ms <= c->last_ms) // names are milliseconds: one each
        r->ms = c->last_ms + 1;
    c->last_ms = r->ms;
    if (!r->is_output)
        add_workflow(c, r, n->workflow_json);
    c->queued_bytes += r->bytes;
    *c->last = r;
    c->last = &r->next;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
}
