// Chrome traces of other programs (CLIntercept, PyTorch's profiler, others with complete events) as
// records: what ran on a device as kernels and transfers, what ran on threads as nested stages, all
// in one job. They can then be seen, summed up and compared like runs.
#include "core/monitor/trace/trace.h"

#include "core/base/error.h"
#include "core/event/ring.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64, MAX_LANES = 4096, JOB_ID = 1 };

typedef struct lane { // a thread or a queue of the file
    const char *pid, *tid;
    bool is_device;         // it was called so
    uint16_t thread, queue; // the tracks of its stages and of its commands; UINT16_MAX: none yet
    // CLIntercept writes a command as three events: how long it was queued and submitted comes
    // first.
    double queued_us, submitted_us;
    struct {
        uint64_t end_ns;
        uint32_t id;
    } open[MAX_DEPTH];
    int depth;
} lane;

typedef struct piece { // a complete event
    double us, dur_us;
    const nino_json *e;
    uint32_t order;
} piece;

typedef struct loader {
    nino_trace_batch batch;
    nino_names *names;
    lane *lane;
    size_t n_lanes, cap_lanes;
    piece *piece;
    size_t n, cap;
    double begin_us;
    uint32_t next_id;
    uint16_t n_threads, n_queues;
} loader;

// ---- records -----------------------------------------------------------------------------------

static const char *trace_foreign_name_of(void *priv, uint32_t id)
{
    const loader *l = priv;
    return nino_names_text(l->names, id);
}

// Time 0 is "not known" in records: the first moment is 1 µs.
static uint64_t ns_of(const loader *l, double us)
{
    const double ns = (us - l->begin_us) * 1000 + 1000;
    return ns > 0 && ns < 9.2e18 ? (uint64_t) llround(ns) : 0;
}

// ---- what an event is --------------------------------------------------------------------------

static const char *trace_foreign_text_of(const nino_json *obj, const char *key)
{
    const nino_json *v = nino_json_get(obj, key);
    return v && v->text ? v->text : "";
}

static bool trace_foreign_has(const char *text, const char *word)
{
    return strcasestr(text, word) != NULL;
}

static lane *trace_foreign_lane_of(loader *l, const char *pid, const char *tid)
{
    for (size_t i = l->n_lanes; i-- > 0;)
        if (!strcmp(l->lane[i].tid, tid) && !strcmp(l->lane[i].pid, pid))
            return &l->lane[i];
    if (l->n_lanes == MAX_LANES) // the rest together
        return &l->lane[MAX_LANES - 1];
    if (l->n_lanes == l->cap_lanes) {
        const size_t cap = l->cap_lanes ? l->cap_lanes * 2 : 16;
        lane *p = realloc(l->lane, cap * sizeof(*p));
        if (!p)
            return NULL;
        l->lane = p;
        l->cap_lanes = cap;
    }
    l->lane[l->n_lanes] =
        (lane){ .pid = pid, .tid = tid, .thread = UINT16_MAX, .queue = UINT16_MAX };
    return &l->lane[l->n_lanes++];
}

// "gemm (Execution)": the length without what a stage of a command is called; *stage: 0 queued, 1
// submitted, 2 runs, -1: it is not one.
static size_t without_stage(const char *name, int *stage)
{
    static const char *const stages[] = { " (Queued)", " (Submitted)", " (Execution)" };
    const size_t n = strlen(name);
    for (*stage = 0; *stage < 3; ++*stage) {
        const size_t k = strlen(stages[*stage]);
        if (n > k && !strcmp(name + n - k, stages[*stage]))
            return n - k;
    }
    *stage = -1;
    return n;
}

// Queues have numbers below zero or with a point, or are called like their kernel, in files of
// CLIntercept; others say so by category or by the name of the thread.
static bool is_of_device(const lane *at, const char *cat, const nino_json *tid, const char *name,
                         size_t len)
{
    if (at->is_device || trace_foreign_has(cat, "kernel") || trace_foreign_has(cat, "memcpy") ||
        trace_foreign_has(cat, "memset"))
        return true;
    if (tid && tid->type == NINO_JSON_NUMBER)
        return tid->text[0] == '-' || strchr(tid->text, '.') != NULL;
    return tid && tid->text && strlen(tid->text) == len && !strncmp(tid->text, name, len);
}

static bool is_transfer(const char *cat, const char *name)
{
    static const char *const words[] = { "Read", "Write", "Copy", "Map", "Fill", "Migrate", "Mem" };
    if (trace_foreign_has(cat, "memcpy") || trace_foreign_has(cat, "memset") ||
        !strncmp(name, "Memcpy", 6) || !strncmp(name, "Memset", 6))
        return true;
    if (strncmp(name, "clEnqueue", 9) != 0 && strncmp(name, "zeCommandListAppend", 19) != 0)
        return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(name, words[i]))
            return true;
    return false;
}

// ---- events ------------------------------------------------------------------------------------

static void close_until(loader *l, lane *at, uint64_t ns)
{
    while (at->depth && at->open[at->depth - 1].end_ns <= ns) {
        at->depth--;
        nino_trace_batch_add(&l->batch, (nino_event){ .t_ns = at->open[at->depth].end_ns,
                                                      .kind = NINO_EV_END,
                                                      .id = at->open[at->depth].id });
    }
}

static void trace_foreign_stage(loader *l, lane *at, const piece *p, const char *name)
{
    const uint64_t t = ns_of(l, p->us), end = ns_of(l, p->us + p->dur_us);
    close_until(l, at, t);
    if (at->depth == MAX_DEPTH || (at->thread == UINT16_MAX && l->n_threads >= 255))
        return;
    if (at->thread == UINT16_MAX)
        at->thread = ++l->n_threads; // 0 is the job's
    const uint32_t id = l->next_id++;
    nino_trace_batch_add(&l->batch,
                         (nino_event){ .t_ns = t,
                                       .kind = NINO_EV_STAGE,
                                       .track = at->thread,
                                       .id = id,
                                       .parent = at->depth ? at->open[at->depth - 1].id : 0,
                                       .name = nino_names_add(l->names, name) });
    at->open[at->depth].id = id;
    // One that outlives what it lies in is cut: records nest.
    at->open[at->depth].end_ns =
        at->depth && at->open[at->depth - 1].end_ns < end ? at->open[at->depth - 1].end_ns : end;
    at->depth++;
}

static uint32_t micros(double us) { return us > 0 && us < 4e9 ? (uint32_t) us : 0; }

static void command(loader *l, lane *at, const piece *p, const char *name, size_t len, int part)
{
    char bare[256];
    if (part == 0)
        at->queued_us = p->dur_us;
    if (part == 1)
        at->submitted_us = p->dur_us;
    if (part == 0 || part == 1)
        return;
    if (at->queue == UINT16_MAX)
        at->queue = (uint16_t) (256 + (l->n_queues < 4096 ? l->n_queues++ : 0));
    snprintf(bare, sizeof(bare), "%.*s", (int) (len < 255 ? len : 255), name);
    const bool copies = is_transfer(trace_foreign_text_of(p->e, "cat"), bare);
    const nino_json *args = nino_json_get(p->e, "args");
    double bytes = 0;
    if (!nino_json_double(nino_json_get(args, "bytes"), &bytes) || !isfinite(bytes) || bytes < 0)
        bytes = 0;
    nino_trace_batch_add(
        &l->batch,
        (nino_event){
            .t_ns = ns_of(l, p->us),
            .kind = copies ? NINO_EV_TRANSFER : NINO_EV_KERNEL,
            .track = at->queue,
            .parent = JOB_ID,
            .name = nino_names_add(l->names, bare),
            .u.kernel = { .dur_ns = (uint64_t) llround(p->dur_us * 1000),
                          .queued_us = micros(at->queued_us + at->submitted_us),
                          .submitted_us = micros(at->submitted_us),
                          .bytes = bytes,
                          .family = nino_names_add(l->names, copies ? "transfer" : "kernel") } });
    at->queued_us = at->submitted_us = 0;
}

static void trace_foreign_one(loader *l, const piece *p)
{
    const nino_json *tid = nino_json_get(p->e, "tid");
    const char *name = trace_foreign_text_of(p->e, "name"),
               *cat = trace_foreign_text_of(p->e, "cat");
    lane *at = trace_foreign_lane_of(l, trace_foreign_text_of(p->e, "pid"),
                                     trace_foreign_text_of(p->e, "tid"));
    int part;
    const size_t len = without_stage(name, &part);
    if (!at || !*name)
        return;
    if (part >= 0 || is_of_device(at, cat, tid, name, len))
        command(l, at, p, name, len, part);
    else
        trace_foreign_stage(l, at, p, name);
}

// ---- the file ----------------------------------------------------------------------------------

// The names of threads and processes tell which are queues of a device.
static void trace_foreign_metadata(loader *l, const nino_json *e)
{
    const char *what = trace_foreign_text_of(e, "name"),
               *name = trace_foreign_text_of(nino_json_get(e, "args"), "name");
    if (strcmp(what, "thread_name") != 0)
        return;
    lane *at =
        trace_foreign_lane_of(l, trace_foreign_text_of(e, "pid"), trace_foreign_text_of(e, "tid"));
    if (at && (trace_foreign_has(name, "queue") || trace_foreign_has(name, "stream ") ||
               trace_foreign_has(name, "gpu")))
        at->is_device = true;
}

static bool trace_foreign_gather(loader *l, const nino_json *events)
{
    uint32_t order = 0;
    for (const nino_json *e = events->child; e; e = e->next, order++) {
        const char *ph = trace_foreign_text_of(e, "ph");
        piece p = { .e = e, .order = order };
        if (*ph == 'M')
            trace_foreign_metadata(l, e);
        if (*ph != 'X' || !nino_json_double(nino_json_get(e, "ts"), &p.us) || !isfinite(p.us) ||
            fabs(p.us) > 1e18)
            continue;
        if (!nino_json_double(nino_json_get(e, "dur"), &p.dur_us) || !(p.dur_us >= 0) ||
            p.dur_us > 4e12)
            p.dur_us = 0;
        if (l->n == l->cap) {
            const size_t cap = l->cap ? l->cap * 2 : 1024;
            piece *q = realloc(l->piece, cap * sizeof(*q));
            if (!q)
                return false;
            l->piece = q;
            l->cap = cap;
        }
        l->piece[l->n++] = p;
    }
    return true;
}

// What begins first, and of those the longest: parents before children.
static int by_begin(const void *x, const void *y)
{
    const piece *a = x, *b = y;
    if (a->us != b->us)
        return a->us < b->us ? -1 : 1;
    if (a->dur_us != b->dur_us)
        return a->dur_us > b->dur_us ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

bool nino_trace_is_foreign(const nino_json_doc *doc, const nino_json *events)
{
    const char *producer = trace_foreign_text_of(nino_json_get(doc->root, "otherData"), "producer");
    if (!strncmp(producer, "ninodes", 7))
        return false;
    // Ours that was cut: it begins with the name of the process.
    const nino_json *first = events->child;
    return !first || strcmp(trace_foreign_text_of(first, "name"), "process_name") != 0 ||
           strcmp(trace_foreign_text_of(nino_json_get(first, "args"), "name"), "ninodes") != 0;
}

nino_status nino_trace_foreign(const nino_json *events, const char *path, nino_trace_sink sink,
                               void *priv, nino_error *err)
{
    loader *l = calloc(1, sizeof(*l));
    bool ok = l && (l->names = nino_names_create()) && trace_foreign_gather(l, events);
    nino_status st = NINO_OK;
    if (!ok)
        st = nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
    else if (!l->n)
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "schema", path,
                            "is a trace of another program without complete events (ph X)");
    if (!st) {
        double end_us = 0;
        l->batch = (nino_trace_batch){
            .sink = sink, .priv = priv, .name = trace_foreign_name_of, .name_priv = l
        };
        l->next_id = JOB_ID + 1;
        qsort(l->piece, l->n, sizeof(*l->piece), by_begin);
        l->begin_us = l->piece[0].us;
        for (size_t i = 0; i < l->n; i++)
            end_us = fmax(end_us, l->piece[i].us + l->piece[i].dur_us - l->begin_us);
        nino_trace_batch_add(&l->batch, (nino_event){ .t_ns = ns_of(l, l->begin_us),
                                                      .kind = NINO_EV_JOB,
                                                      .id = JOB_ID,
                                                      .name = nino_names_add(
                                                          l->names, "trace of another program") });
        for (size_t i = 0; i < l->n; i++)
            trace_foreign_one(l, &l->piece[i]);
        for (size_t i = 0; i < l->n_lanes; i++)
            close_until(l, &l->lane[i], UINT64_MAX);
        nino_trace_batch_add(&l->batch, (nino_event){ .t_ns = ns_of(l, l->begin_us + end_us),
                                                      .kind = NINO_EV_END,
                                                      .id = JOB_ID });
        nino_trace_batch_flush(&l->batch);
    }
    if (l) {
        nino_names_destroy(&l->names);
        free(l->lane);
        free(l->piece);
    }
    free(l);
    return st;
}
