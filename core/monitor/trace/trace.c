// What of a run's records goes into a trace and where: one track for each kind of scope and thread,
// one for the kernels of a device queue, counters for memory and the device. Whatever the events
// are (some lost, some late), what is written is balanced, monotonic and free of overlaps per
// track. The forms of files are in trace_json.c and trace_pftrace.c.
#include "core/monitor/trace/trace.h"

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/monitor/trace/trace_out.h"
#include "core/monitor/trace/trace_own.h"

#include <math.h>
#include <ninodes/kernel.h>
#include <ninodes/monitor.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_TRACKS = 1024,
    MAX_DEPTH = 128,  // open scopes of one thread
    MAX_THREADS = 32, // threads with scopes
    PLACES = 4096,    // scopes that kernels may still come from
    SLACK_NS = 1000   // clocks of device and host differ by this much at most
};

typedef struct track {
    uint32_t tid;
    uint64_t end_ns; // nothing may begin before
} track;

typedef struct thread {
    uint16_t number;
    int depth;
    struct {
        uint32_t id, tid;
    } open[MAX_DEPTH];
} thread;

struct nino_trace {
    nino_own_trace *own; // of the own form; nothing else is used then
    nino_trace_out *out;
    bool is_started;
    uint64_t last_ns, lost;
    track track[MAX_TRACKS];
    int n_tracks;
    thread thread[MAX_THREADS];
    int n_threads;
    struct {
        uint32_t id, tid;
        uint64_t begin_ns, end_ns; // end 0: open
    } place[PLACES];               // of scopes, by id
    uint64_t flows;
    uint64_t owner_use[NINO_OWN_COUNT];
    uint64_t counter_ns; // of the counter written last
    nino_sample sample;  // that is coming in
};

// ---- output ------------------------------------------------------------------------------------

// Begins an item of its form; the caller adds its arguments and calls trace_end().
static void trace_begin(nino_trace *t, const nino_trace_item *it)
{
    t->out->form->begin(t->out, it);
    t->last_ns = it->ns > t->last_ns ? it->ns : t->last_ns;
}

static void trace_add_number(nino_trace *t, const char *key, double v)
{
    if (isfinite(v))
        t->out->form->number(t->out, key, v);
}

static void trace_add_text(nino_trace *t, const char *key, const char *text)
{
    t->out->form->text(t->out, key, text);
}

static void trace_end(nino_trace *t)
{
    t->out->form->end(t->out);
    nino_trace_out_flush(t->out, false);
}

// ---- tracks ------------------------------------------------------------------------------------

static void name_track(nino_trace *t, uint32_t tid)
{
    static const char *const kinds[] = { "pool, device", "job",  "node",      "stage",
                                         "step",         "tile", "transfers", "messages" };
    char name[64];
    const unsigned thread_no = tid / 8, queue = (tid - TID_QUEUES) / TID_LANES;
    if (tid >= TID_QUEUES && tid % TID_LANES)
        snprintf(name, sizeof(name), "queue %u (%u)", queue, tid % TID_LANES + 1);
    else if (tid >= TID_QUEUES)
        snprintf(name, sizeof(name), "queue %u", queue);
    else if (thread_no)
        snprintf(name, sizeof(name), "thread %u %s", thread_no, kinds[tid % 8]);
    else
        snprintf(name, sizeof(name), "%s", kinds[tid % 8]);
    t->out->form->track(t->out, tid, name);
}

static track *track_of(nino_trace *t, uint32_t tid)
{
    for (int i = 0; i < t->n_tracks; i++)
        if (t->track[i].tid == tid)
            return &t->track[i];
    if (t->n_tracks == MAX_TRACKS)
        return NULL;
    name_track(t, tid);
    t->track[t->n_tracks] = (track){ .tid = tid };
    return &t->track[t->n_tracks++];
}

// The first lane of the family that is free at ns, else the one that is free first.
static track *trace_lane_of(nino_trace *t, uint32_t tid, uint64_t ns)
{
    track *best = NULL;
    for (uint32_t i = 0; i < TID_LANES; i++) {
        track *k = track_of(t, tid + i);
        if (!k)
            break;
        if (k->end_ns <= ns + SLACK_NS)
            return k;
        if (!best || k->end_ns < best->end_ns)
            best = k;
    }
    return best;
}

static uint64_t after(const track *k, uint64_t ns) { return ns > k->end_ns ? ns : k->end_ns; }

// ---- scopes ------------------------------------------------------------------------------------

static thread *thread_of(nino_trace *t, uint16_t number)
{
    for (int i = 0; i < t->n_threads; i++)
        if (t->thread[i].number == number)
            return &t->thread[i];
    if (t->n_threads == MAX_THREADS)
        return NULL;
    t->thread[t->n_threads] = (thread){ .number = number };
    return &t->thread[t->n_threads++];
}

static void trace_close_top(nino_trace *t, thread *th, uint64_t ns, uint32_t status)
{
    const uint32_t id = th->open[--th->depth].id;
    track *k = track_of(t, th->open[th->depth].tid);
    if (k) {
        k->end_ns = after(k, ns);
        if (t->place[id % PLACES].id == id)
            t->place[id % PLACES].end_ns = k->end_ns;
        trace_begin(t, &(nino_trace_item){ .ph = 'E', .tid = k->tid, .ns = k->end_ns });
        if (status)
            trace_add_number(t, "status", status);
        trace_end(t);
    }
}

// The position of scope `id` in the thread's stack, -1: not there.
static int trace_find_open(const thread *th, uint32_t id)
{
    int i = th->depth - 1;
    while (i >= 0 && th->open[i].id != id)
        i--;
    return i;
}

static void trace_scope_begin(nino_trace *t, const nino_event *ev, const char *name)
{
    thread *th = ev->track < 256 ? thread_of(t, ev->track) : NULL;
    if (!th || trace_find_open(th, ev->id) >= 0) // a late viewer may be told twice
        return;
    // Ends that were lost: whatever is inside the parent is over.
    const int parent = trace_find_open(th, ev->parent);
    if (parent >= 0 || !ev->parent)
        while (th->depth > parent + 1)
            trace_close_top(t, th, ev->t_ns, 0);
    track *k = th->depth < MAX_DEPTH ? track_of(t, ev->track * 8u + ev->kind) : NULL;
    if (!k)
        return;
    th->open[th->depth].id = ev->id;
    th->open[th->depth++].tid = k->tid;
    k->end_ns = after(k, ev->t_ns);
    t->place[ev->id % PLACES].id = ev->id;
    t->place[ev->id % PLACES].tid = k->tid;
    t->place[ev->id % PLACES].begin_ns = k->end_ns;
    t->place[ev->id % PLACES].end_ns = 0;
    trace_begin(t, &(nino_trace_item){ .ph = 'B', .tid = k->tid, .ns = k->end_ns, .name = name });
    trace_add_number(t, "id", ev->id);
    trace_add_number(t, "parent", ev->parent);
    if (ev->u.scope.arg1) {
        trace_add_number(t, "index", ev->u.scope.arg0);
        trace_add_number(t, "of", ev->u.scope.arg1);
    }
    trace_end(t);
}

static void trace_scope_end(nino_trace *t, const nino_event *ev)
{
    thread *th = ev->track < 256 ? thread_of(t, ev->track) : NULL;
    const int at = th ? trace_find_open(th, ev->id) : -1;
    while (at >= 0 && th->depth > at)
        trace_close_top(t, th, ev->t_ns, th->depth == at + 1 ? ev->u.scope.arg0 : 0);
}

// ---- points ------------------------------------------------------------------------------------

// Where the arrow of a kernel that starts at ns comes from: the scope that enqueued it, at the time
// when it did, and before the end, where a reader would no longer find the scope.
static void set_flow(nino_trace *t, nino_trace_item *it, const nino_event *ev)
{
    const uint32_t at = ev->parent % PLACES, parent = t->place[at].id;
    const uint64_t wait = ev->u.kernel.queued_us * 1000ull, end_ns = t->place[at].end_ns;
    uint64_t from = ev->t_ns > wait ? ev->t_ns - wait : 0;
    if (!ev->parent || parent != ev->parent)
        return;
    if (end_ns && from >= end_ns)
        from = end_ns - 1;
    if (from < t->place[at].begin_ns)
        from = t->place[at].begin_ns;
    if (from > it->ns || (end_ns && from >= end_ns)) // clocks that disagree
        return;
    it->flow = ++t->flows;
    it->from_tid = t->place[at].tid;
    it->from_ns = from;
}

// The work size of a kernel, in words for people who look at the arguments of a slice.
static void trace_add_launch(nino_trace *t, const char *text)
{
    nino_launch l;
    char size[NINO_WORK_TEXT];
    if (!nino_launch_read(&l, text))
        return;
    trace_add_text(t, "global", nino_work_text(size, l.global));
    nino_work_text(size, l.local);
    trace_add_text(t, "local", *size ? size : TRACE_DRIVERS_CHOICE);
    if (l.requested > 0)
        trace_add_number(t, "requested_bytes", l.requested);
    nino_kernel_told told;
    if (!nino_kernel_told_read(&told, text))
        return;
    trace_add_text(t, "program", told.program);
    trace_add_text(t, "call", told.call);
}

static void trace_slice(nino_trace *t, const nino_event *ev,
                        const char *(*name)(void *priv, uint32_t id), void *priv)
{
    const bool is_kernel = ev->kind == NINO_EV_KERNEL;
    uint32_t tid = ev->track * 8u + TID_TRANSFER;
    if (ev->track >= 256)
        tid = TID_QUEUES + (ev->track - 256u) * TID_LANES;
    track *k = ev->track >= 256 ? trace_lane_of(t, tid, ev->t_ns) : track_of(t, tid);
    if (!k)
        return;
    const uint64_t ns = after(k, ev->t_ns), stop = ev->t_ns + ev->u.kernel.dur_ns;
    k->end_ns = stop > ns ? stop : ns;
    nino_trace_item it = { .ph = 'X',
                           .tid = k->tid,
                           .ns = ns,
                           .dur_ns = k->end_ns - ns,
                           .name = name(priv, ev->name),
                           .cat = is_kernel ? "kernel" : "transfer" };
    if (is_kernel && ev->track >= 256)
        set_flow(t, &it, ev);
    trace_begin(t, &it);
    trace_add_text(t, "family", name(priv, ev->u.kernel.family));
    trace_add_text(t, "shape", name(priv, ev->u.kernel.shape));
    trace_add_number(t, "scope", ev->parent);
    trace_add_number(t, "sub", ev->sub);
    trace_add_number(t, "bits", is_kernel ? nino_kernel_bits(ev) : ev->id);
    if (is_kernel)
        trace_add_launch(t, name(priv, nino_kernel_launch(ev)));
    trace_add_number(t, "flops", ev->u.kernel.flops);
    trace_add_number(t, "bytes", ev->u.kernel.bytes);
    if (is_kernel && ev->u.kernel.dur_ns) {
        trace_add_number(t, "gflops", ev->u.kernel.flops / (double) ev->u.kernel.dur_ns);
        trace_add_number(t, "queued_us", ev->u.kernel.queued_us);
        trace_add_number(t, "submitted_us", ev->u.kernel.submitted_us);
    }
    trace_end(t);
}

static void trace_counter(nino_trace *t, uint64_t ns, const char *name, bool is_bytes)
{
    t->counter_ns = ns > t->counter_ns ? ns : t->counter_ns; // several threads may report
    trace_begin(t, &(nino_trace_item){
                       .ph = 'C', .ns = t->counter_ns, .name = name, .is_bytes = is_bytes });
}

// Begins a point on a track of the thread; the caller adds its fields and calls trace_end(). False: no
// room.
static bool mark_begin(nino_trace *t, const nino_event *ev, uint32_t tid, const char *name)
{
    track *k = track_of(t, (ev->track < 256 ? ev->track * 8u : 0) + tid);
    if (!k)
        return false;
    k->end_ns = after(k, ev->t_ns ? ev->t_ns : t->last_ns); // lost records have no time
    trace_begin(t, &(nino_trace_item){ .ph = 'i',
                                       .tid = k->tid,
                                       .ns = k->end_ns,
                                       .name = name,
                                       .cat = nino_trace_kind_name(ev->kind) });
    if (ev->parent)
        trace_add_number(t, "scope", ev->parent);
    return true;
}

// A point with every field that a reader needs (trace_fields.c). why: NULL, or text beside them.
static void trace_mark_why(nino_trace *t, const nino_event *ev, uint32_t tid, const char *name,
                           const char *why, const char *device)
{
    if (!mark_begin(t, ev, tid, name))
        return;
    for (const nino_trace_field *f = nino_trace_fields; f->key; f++)
        if (f->kind == ev->kind)
            trace_add_number(t, f->key, nino_trace_get(ev, f));
    if (why && *why)
        trace_add_text(t, "why", why);
    if (device && *device)
        trace_add_text(t, "device", device);
    trace_end(t);
}

static void trace_mark(nino_trace *t, const nino_event *ev, uint32_t tid, const char *name)
{
    trace_mark_why(t, ev, tid, name, NULL, NULL);
}

static void trace_memory(nino_trace *t, const nino_event *ev)
{
    static const char *const owners[] = { "weights", "activation", "workspace", "staging" };
    static const char *const ops[] = {
        "alloc", "free",   "trim", "budget", "refused", "arena", "arena given back",
        "block", "planned"
    };
    if (ev->u.mem.owner < NINO_OWN_COUNT)
        t->owner_use[ev->u.mem.owner] = (uint64_t) ev->u.mem.owner_use * 256;
    trace_mark(t, ev, TID_SAMPLES,
               ev->sub < sizeof(ops) / sizeof(ops[0]) ? ops[ev->sub] : "memory");
    trace_counter(t, ev->t_ns, "pool bytes", true);
    for (int i = 0; i < NINO_OWN_COUNT; i++)
        trace_add_number(t, owners[i], (double) t->owner_use[i]);
    trace_end(t);
    trace_counter(t, ev->t_ns, "pool", true);
    trace_add_number(t, "in_use", (double) ev->u.mem.in_use);
    trace_add_number(t, "reserved", (double) ev->u.mem.reserved);
    trace_end(t);
}

// A point with all counters of the sample, for readers, then each of them on its own track.
static void trace_sample(nino_trace *t, const nino_event *ev)
{
    nino_sample *s = &t->sample;
    const nino_counter *c;
    if (!nino_sample_add(s, ev))
        return;
    if (mark_begin(t, ev, TID_SAMPLES, nino_trace_kind_name(ev->kind))) {
        for (unsigned id = 1; (c = nino_counter_row(id)); id++)
            trace_add_number(t, nino_counter_word(c, c->arg),
                             c->arg_scale > 0 ? s->value[id] / c->arg_scale : s->value[id]);
        trace_end(t);
    }
    for (unsigned id = 1; (c = nino_counter_row(id)); id++)
        if (isfinite(s->value[id])) {
            trace_counter(t, ev->t_ns, nino_counter_word(c, c->track), c->unit == NINO_UNIT_BYTES);
            trace_add_number(t, "value", s->value[id]);
            trace_end(t);
        }
}

// ---- public ------------------------------------------------------------------------------------

static nino_trace *trace_create(const char *path, bool is_whole, nino_error *err)
{
    nino_trace *t = calloc(1, sizeof(*t));
    if (!t) {
        nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
        return NULL;
    }
    if (nino_trace_ends_in(path, ".ninotrace"))
        t->own = nino_own_create(path, is_whole, err);
    else
        t->out = nino_trace_out_create(path, is_whole, err);
    if (!t->own && !t->out)
        nino_trace_abort(&t);
    return t;
}

nino_trace *nino_trace_create(const char *path, nino_error *err)
{
    return trace_create(path, false, err);
}

nino_trace *nino_trace_create_whole(const char *path, nino_error *err)
{
    return trace_create(path, true, err);
}

static void trace_start(nino_trace *t, uint64_t ns)
{
    if (!t->is_started)
        t->out->form->start(t->out, ns);
    t->is_started = true;
}

void nino_trace_add(nino_trace *t, const nino_event *ev, size_t n,
                    const char *(*name)(void *priv, uint32_t id), void *priv)
{
    if (t->own) {
        nino_own_add(t->own, ev, n, name, priv);
        return;
    }
    if (n)
        trace_start(t, ev[0].t_ns);
    for (size_t i = 0; i < n && !t->out->st; i++) {
        const nino_event *e = &ev[i];
        switch (e->kind) {
        case NINO_EV_JOB:
        case NINO_EV_NODE:
        case NINO_EV_STAGE:
        case NINO_EV_STEP:
        case NINO_EV_TILE: trace_scope_begin(t, e, name(priv, e->name)); break;
        case NINO_EV_END: trace_scope_end(t, e); break;
        case NINO_EV_KERNEL:
        case NINO_EV_TRANSFER: trace_slice(t, e, name, priv); break;
        case NINO_EV_MEM: trace_memory(t, e); break;
        case NINO_EV_DEVICE:
        case NINO_EV_HOST: trace_sample(t, e); break;
        case NINO_EV_MESSAGE:
        case NINO_EV_OUTPUT:
        case NINO_EV_CHOICE:
        case NINO_EV_NOTE: trace_mark(t, e, TID_MESSAGE, name(priv, e->name)); break;
        case NINO_EV_TILE_INFO:
            trace_mark_why(t, e, TID_MESSAGE, "tile", name(priv, e->name), name(priv, e->id));
            break;
        case NINO_EV_STEP_INFO: trace_mark(t, e, TID_MESSAGE, "step"); break;
        case NINO_EV_PREVIEW: trace_mark(t, e, TID_MESSAGE, "preview"); break;
        case NINO_EV_SEAM: trace_mark(t, e, TID_MESSAGE, "seams"); break;
        case NINO_EV_CHUNK: trace_mark(t, e, TID_MESSAGE, "chunk"); break;
        case NINO_EV_CLIP: trace_mark(t, e, TID_MESSAGE, "clip"); break;
        case NINO_EV_ONCE: trace_mark(t, e, TID_MESSAGE, "once"); break;
        case NINO_EV_CACHE:
            trace_mark(t, e, TID_SAMPLES, e->name ? name(priv, e->name) : "cache");
            break;
        case NINO_EV_CEILINGS: trace_mark(t, e, TID_SAMPLES, name(priv, e->name)); break;
        case NINO_EV_CEILING_POINT: trace_mark(t, e, TID_SAMPLES, "ceiling point"); break;
        case NINO_EV_LOST:
            t->lost += e->u.lost;
            trace_mark(t, e, TID_MESSAGE, "lost records");
            break;
        default: break; // progress is for people who watch
        }
    }
    nino_trace_out_pulse(t->out);
}

nino_status nino_trace_finish(nino_trace **trace, nino_error *err)
{
    nino_trace *t = *trace;
    if (t->own) {
        const nino_status done = nino_own_finish(&t->own, err);
        nino_trace_abort(trace);
        return done;
    }
    trace_start(t, nino_now_ns());
    for (int i = 0; i < t->n_threads; i++)
        while (t->thread[i].depth)
            trace_close_top(t, &t->thread[i], t->last_ns, 0);
    t->out->form->finish(t->out, t->lost);
    const nino_status st = nino_trace_out_finish(&t->out, err);
    nino_trace_abort(trace);
    return st;
}

void nino_trace_abort(nino_trace **trace)
{
    nino_trace *t = *trace;
    if (!t)
        return;
    nino_own_abort(&t->own);
    nino_trace_out_abort(&t->out);
    free(t);
    *trace = NULL;
}
