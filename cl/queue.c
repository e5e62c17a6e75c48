// The command queue: how much may be in flight, waiting, and turning events into monitor records.
//
// Commands run in order. Only a little work is kept in flight, so that a cancel, which stops
// enqueuing, takes effect soon. When nobody listens only one command in sixteen (or in 20 ms of
// predicted work) gets an event, which is what waiting needs.
#include "cl/runtime.h"

#include "core/base/time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int batch_commands = 16, max_commands = 48;
static const double batch_seconds = 0.02, max_seconds = 0.06;
static const double unknown_seconds = 1e-3;    // a command without a prediction
static const size_t max_host_bytes = 64 << 20; // weights on their way to the device
// What lies between two looks counts as this at most: a process that was stopped, or a machine that
// slept, has not waited.
static const uint64_t look_ns = 1000000;
static const double most_slowdown = 30;

static nino_cl_pending *queue_oldest(nino_cl_queue *q)
{
    return q->head == q->tail ? NULL : &q->ring[q->head % NINO_CL_PENDING];
}

// After a cancel a wait goes on for this long: most commands end by then. One that does not (a
// driver that compiles a kernel at its first launch) is left to itself. What it works on may be
// freed all the same: the queue is in order, so that whoever gets the memory next comes after it.
static const uint64_t cancel_grace_ns = 100000000;

static bool has_given_up(nino_cl *cl)
{
    const uint64_t now = nino_now_ns();
    if (!nino_backend_is_cancelled(&cl->be))
        cl->queue.cancel_ns = 0;
    else if (!cl->queue.cancel_ns)
        cl->queue.cancel_ns = now;
    return cl->queue.cancel_ns && now - cl->queue.cancel_ns > cancel_grace_ns;
}

// How far the commands with an event are.
typedef struct stand {
    unsigned moved;      // differs when one of them has moved; never 0
    bool is_first_built; // the one whose turn it is may be being compiled
} stand;

// Of the command that would be number i of the ring; false: it has ended.
static bool stands(cl_event event, unsigned i, bool is_first, stand *out)
{
    cl_int state = CL_QUEUED;
    const cl_int e = nino_ocl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                             sizeof(state), &state, NULL);
    *out = (stand){ 4 * i + 1 + (unsigned) (CL_QUEUED - state), is_first && state > CL_RUNNING };
    return e || state != CL_COMPLETE;
}

static stand look(nino_cl *cl)
{
    const nino_cl_queue *q = &cl->queue;
    stand at;
    for (unsigned i = q->head; i != q->tail; i++) {
        const nino_cl_pending *p = &q->ring[i % NINO_CL_PENDING];
        if (stands(p->event, i, p->is_first, &at))
            return at;
    }
    if (q->starting && stands(q->starting->handle, q->tail, q->starting->is_first, &at))
        return at;
    return (stand){ 4 * q->tail + 1, false };
}

static nino_status fail_silent(nino_cl *cl, double limit, nino_error *err)
{
    cl->is_lost = true;
    return nino_fail_kind(err, NINO_ERR_DEVICE, "lost", cl->dev->info.name,
                          "the device has not answered: none of its commands has moved for %.3g s",
                          limit);
}

// Polls: a cancel has to be seen, and the queue of a GPU has no time limit of its own. A CPU device
// cannot hang; it may only be slow.
// until: CL_RUNNING or CL_COMPLETE.
static nino_status wait_event(nino_cl *cl, cl_event event, cl_int until, double seconds,
                              nino_error *err)
{
    cl_int e = nino_ocl_fault(), state = CL_QUEUED; // counted once, however often it asks
    const double often = seconds * cl->queue.slowdown * 20;
    double limit = fmax(often, cl->queue.silence_s), silent = 0;
    stand before = { 0 };
    uint64_t last = nino_now_ns();
    has_given_up(cl); // an earlier cancel is over, even if nothing has been waited for since
    for (long nap_ns = 5000;; nap_ns = nap_ns < 200000 ? nap_ns * 2 : nap_ns) {
        if (!e)
            e = nino_ocl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(state),
                                        &state, NULL);
        if (e)
            return nino_cl_fail(cl, e, "clGetEventInfo", err);
        if (state < 0)
            return nino_cl_fail(cl, state, "a kernel", err);
        if (state <= until)
            return NINO_OK;
        if (has_given_up(cl))
            return nino_fail(err, NINO_ERR_CANCELLED, "", "cancelled");
        const uint64_t now = nino_now_ns();
        silent += (double) (now - last < look_ns ? now - last : look_ns) * 1e-9;
        last = now;
        if (!cl->dev->is_host && (!before.moved || silent > limit)) {
            const stand at = look(cl);
            if (at.moved == before.moved)
                return fail_silent(cl, limit, err);
            before = at;
            silent = 0;
            limit = fmax(often, at.is_first_built ? cl->queue.first_s : cl->queue.silence_s);
        }
        nanosleep(&(struct timespec){ .tv_nsec = nap_ns }, NULL);
    }
}

// The driver stamps QUEUED during the enqueue call, which the host clock brackets. The narrowest
// recent bracket gives the offset; its claim ages, so that clock drift is followed.
static void learn_offset(nino_cl_queue *q, const nino_cl_pending *p, uint64_t queued)
{
    const uint64_t width = p->after_ns - p->before_ns;
    q->offset_width_ns += q->offset_width_ns / 64 + 1;
    if (q->has_offset && width > q->offset_width_ns)
        return;
    q->offset_ns = (int64_t) (p->before_ns + width / 2 - queued);
    q->offset_width_ns = width;
    q->has_offset = true;
}

static uint32_t clip_us(uint64_t from, uint64_t to)
{
    const uint64_t us = to > from ? (to - from) / 1000 : 0;
    return us > UINT32_MAX ? UINT32_MAX : (uint32_t) us;
}

// How much longer than predicted commands took. Worse news count at once, better ones by and by.
static void learn_ratio(nino_cl_queue *q, double took, double predicted)
{
    const double ratio = took / predicted, weight = ratio > q->slowdown ? 0.5 : 0.1;
    if (predicted <= 1e-3 || took <= 0)
        return;
    q->slowdown += weight * (fmin(ratio, most_slowdown) - q->slowdown);
    q->slowdown = fmax(q->slowdown, 1);
}

// From the times of the commands up to this one.
static void learn_speed(nino_cl_queue *q, const nino_cl_pending *p, uint64_t start, uint64_t end)
{
    uint64_t from = p->n_commands > 1 ? p->begin_ns - (uint64_t) q->offset_ns : start;
    if (q->end_clock > from) // the device was busy with what came before
        from = q->end_clock;
    learn_ratio(q, end > from ? (double) (end - from) * 1e-9 : 0, p->seconds);
    if (end > q->end_clock)
        q->end_clock = end;
}

// Without times, from the wait for commands that began to be enqueued at `from`: only where there was one, else
// nobody knows how long ago they ended.
static void learn_wait(nino_cl_queue *q, uint64_t from, bool has_waited, double predicted)
{
    const uint64_t now = nino_now_ns();
    from = q->end_ns > from ? q->end_ns : from;
    if (has_waited)
        learn_ratio(q, now > from ? (double) (now - from) * 1e-9 : 0, predicted);
    q->end_ns = now;
}

static bool is_complete(cl_event event)
{
    cl_int state = CL_QUEUED;
    const cl_int e = nino_ocl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                             sizeof(state), &state, NULL);
    return e || state <= CL_COMPLETE;
}

// Takes the times of a command that has ended.
static void take_times(nino_cl_queue *q, nino_cl_pending *p, nino_ceiling_watch *watch)
{
    static const cl_profiling_info what[] = { CL_PROFILING_COMMAND_QUEUED,
                                              CL_PROFILING_COMMAND_SUBMIT,
                                              CL_PROFILING_COMMAND_START,
                                              CL_PROFILING_COMMAND_END };
    cl_ulong t[4], begun;
    for (int i = 0; i < 4; i++)
        if (OCL(clGetEventProfilingInfo, p->event, what[i], sizeof(t[i]), &t[i], NULL))
            return; // a record less; the work itself is fine
    if (p->begun) { // of several kernels the event is the last one's
        for (int i = 0; i < 2; i++)
            if (OCL(clGetEventProfilingInfo, p->begun, what[i], sizeof(t[i]), &t[i], NULL))
                return;
        if (OCL(clGetEventProfilingInfo, p->begun, what[3], sizeof(begun), &begun, NULL))
            return;
        t[2] = begun < t[3] ? begun : t[3];
    }
    learn_offset(q, p, t[0]);
    learn_speed(q, p, t[2], t[3]);
    if (!p->monitor)
        return;
    uint64_t start = t[2] + (uint64_t) q->offset_ns;
    if (start < q->last_end_ns) // the offset moved a little; slices of one queue never overlap
        start = q->last_end_ns;
    p->ev.t_ns = start;
    p->ev.u.kernel.dur_ns = t[3] > t[2] ? t[3] - t[2] : 0;
    p->ev.u.kernel.queued_us = clip_us(t[0], t[2]);
    p->ev.u.kernel.submitted_us = clip_us(t[1], t[2]);
    q->last_end_ns = start + p->ev.u.kernel.dur_ns;
    if (watch && p->ev.kind == NINO_EV_KERNEL)
        nino_ceiling_watch_kernel(watch, &p->ev);
    nino_monitor_publish(p->monitor, &p->ev);
}

static nino_status queue_flush(nino_cl *cl, nino_error *err)
{
    cl->queue.n_unflushed = 0;
    const cl_int e = OCL(clFlush, cl->queue.handle);
    return e ? nino_cl_fail(cl, e, "clFlush", err) : NINO_OK;
}

// Forgets the oldest tracked command, which has ended or never will.
static void queue_forget(nino_cl *cl, bool has_ended)
{
    nino_cl_queue *q = &cl->queue;
    nino_cl_pending *p = queue_oldest(q);
    if (has_ended && q->is_timed)
        take_times(q, p, cl->be.watch);
    else if (!has_ended && cl->dev->is_host) // it may still read p->host
        nino_ocl.clWaitForEvents(1, &p->event);
    if (!cl->is_lost || cl->dev->is_host) {
        nino_ocl.clReleaseEvent(p->event);
        if (p->begun)
            nino_ocl.clReleaseEvent(p->begun);
    }
    if (has_ended || cl->dev->is_host)
        free(p->host);
    q->n_flight -= p->n_commands;
    q->flight_seconds -= p->seconds;
    q->flight_bytes -= p->host_bytes;
    q->head++;
    if (q->head == q->tail && !q->n_bare) // no rounding left over
        q->flight_seconds = 0;
}

// Waits for the oldest commands, a batch of them at once, and forgets them, whatever comes out; but
// when a cancel ends the wait they stay, and with them the memory that they read from. Thus the
// thread wakes as seldom with a listener, when every command is tracked, as without.
static nino_status retire(nino_cl *cl, nino_error *err)
{
    nino_cl_queue *q = &cl->queue;
    nino_status st = NINO_OK;
    const nino_cl_pending *last = &q->ring[q->head % NINO_CL_PENDING];
    const uint64_t begin_ns = last->begin_ns;
    bool has_waited = false;
    double seconds = 0;
    int commands = 0;
    size_t n = 0;
    while (q->head + n != q->tail && commands < batch_commands &&
           seconds * q->slowdown < batch_seconds) {
        last = &q->ring[(q->head + n++) % NINO_CL_PENDING];
        commands += last->n_commands;
        seconds += last->seconds;
    }
    if (cl->is_lost)
        st = nino_fail_kind(err, NINO_ERR_DEVICE, "lost", cl->dev->info.name, "the device is lost");
    else if (!q->n_unflushed || !(st = queue_flush(cl, err))) {
        has_waited = !q->is_timed && !is_complete(last->event);
        st = wait_event(cl, last->event, CL_COMPLETE, seconds, err);
    }
    if (st == NINO_ERR_CANCELLED)
        return st;
    if (!q->is_timed && !st)
        learn_wait(q, begin_ns, has_waited, seconds);
    for (; n; n--) {
        if (!st) // has ended, if badly
            st = wait_event(cl, queue_oldest(q)->event, CL_COMPLETE, 0, err);
        queue_forget(cl, !st);
    }
    return st;
}

// The queue that suits whether somebody listens, when what is in the other one has ended.
static nino_status queue_change(nino_cl *cl, bool is_timed, nino_error *err)
{
    nino_cl_queue *q = &cl->queue;
    cl_int e;
    if (is_timed == q->is_timed || q->is_ending || cl->is_lost)
        return NINO_OK;
    const nino_status st = nino_cl_queue_finish(cl, err);
    if (st)
        return st;
    if (!q->other)
        q->other = OCL_NEW(e, clCreateCommandQueue, cl->context, cl->dev->id,
                           is_timed ? CL_QUEUE_PROFILING_ENABLE : 0);
    if (!q->other)
        return nino_cl_fail(cl, e, "clCreateCommandQueue", err);
    const cl_command_queue before = q->handle;
    q->handle = q->other;
    q->other = before;
    q->is_timed = is_timed;
    q->end_clock = q->end_ns = 0;
    return NINO_OK;
}

nino_status nino_cl_command_begin(nino_cl *cl, nino_cl_command *c, nino_error *err)
{
    nino_cl_queue *q = &cl->queue;
    const bool is_told = cl->be.monitor && nino_monitor_is_on(cl->be.monitor);
    nino_status st = nino_cl_build_settle(cl, err); // the driver is ours alone
    if (!st)
        st = queue_change(cl, is_told, err);
    c->seconds = unknown_seconds;
    if (c->what && c->what->d && c->what->is_main) {
        const nino_op_desc *d = c->what->d;
        const double s = nino_sched_seconds(&cl->be.profile, d, nino_ops[d->op].flops(d),
                                            nino_ops[d->op].bytes(d));
        if (s > 0)
            c->seconds = c->what->share > 0 ? s * c->what->share : s;
    } else if (cl->be.profile.bandwidth > 0) {
        c->seconds = fmax(c->seconds, c->bytes / cl->be.profile.bandwidth); // a copy
    }
    q->slowdown = fmax(q->slowdown, 1);
    while (!st && queue_oldest(q) &&
           (q->n_flight >= max_commands || q->flight_seconds * q->slowdown > max_seconds ||
            (c->host && q->flight_bytes > max_host_bytes) || q->tail - q->head == NINO_CL_PENDING))
        st = retire(cl, err);
    if (!st && cl->is_lost)
        st = nino_fail_kind(err, NINO_ERR_DEVICE, "lost", cl->dev->info.name, "the device is lost");
    if (st) {
        free(c->host);
        c->host = NULL;
        return st;
    }
    if (is_told && q->is_timed) {
        c->rec.monitor = cl->be.monitor;
        nino_cl_record(cl, c);
    }
    c->handle = NULL;
    const bool is_batch = q->n_bare + 1 >= batch_commands ||
                          (q->bare_seconds + c->seconds) * q->slowdown >= batch_seconds;
    c->event = c->rec.monitor || c->must_track || c->host || is_batch ? &c->handle : NULL;
    c->rec.before_ns = nino_now_ns();
    if (!q->n_bare)
        q->bare_begin_ns = c->rec.before_ns;
    return NINO_OK;
}

nino_status nino_cl_command_end(nino_cl *cl, nino_cl_command *c, cl_int e, nino_error *err)
{
    nino_cl_queue *q = &cl->queue;
    c->rec.after_ns = nino_now_ns();
    if (e) {
        free(c->host);
        return nino_cl_fail(cl, e, c->name, err);
    }
    q->n_flight++;
    q->flight_seconds += c->seconds;
    q->n_bare++;
    q->is_bare_first = q->is_bare_first || c->is_first;
    q->bare_seconds += c->seconds;
    q->n_unflushed++;
    if (!c->handle)
        return NINO_OK;
    c->rec.event = c->handle;
    c->rec.host = c->host;
    c->rec.host_bytes = c->host ? (size_t) c->bytes : 0;
    q->flight_bytes += c->rec.host_bytes;
    c->rec.n_commands = q->n_bare;
    c->rec.is_first = q->is_bare_first;
    c->rec.begin_ns = q->bare_begin_ns;
    c->rec.seconds = q->bare_seconds;
    q->ring[q->tail++ % NINO_CL_PENDING] = c->rec;
    q->n_bare = 0;
    q->is_bare_first = false;
    q->bare_seconds = 0;
    return q->n_unflushed >= batch_commands ? queue_flush(cl, err) : NINO_OK;
}

nino_status nino_cl_queue_started(nino_cl *cl, const nino_cl_command *c, nino_error *err)
{
    nino_status st = queue_flush(cl, err);
    cl->queue.starting = c;
    st = st ? st : wait_event(cl, c->handle, CL_RUNNING, c->seconds, err);
    cl->queue.starting = NULL;
    return st;
}

nino_status nino_cl_queue_finish(nino_cl *cl, nino_error *err)
{
    nino_cl_queue *q = &cl->queue;
    nino_status st = NINO_OK;
    if (q->n_bare && !cl->is_lost) { // give the last commands an event
        nino_cl_command c = { .name = "clEnqueueMarkerWithWaitList", .must_track = true };
        q->is_ending = true;
        if (!(st = nino_cl_command_begin(cl, &c, err))) {
            c.rec.monitor = NULL;
            const cl_int e = OCL(clEnqueueMarkerWithWaitList, q->handle, 0, NULL, c.event);
            st = nino_cl_command_end(cl, &c, e, err);
        }
        q->is_ending = false;
    }
    while (queue_oldest(q)) {
        const nino_status r = retire(cl, st ? NULL : err);
        st = st ? st : r;
        if (r == NINO_ERR_CANCELLED)
            break;
    }
    return st;
}

void nino_cl_queue_release(nino_cl *cl)
{
    if (!cl->queue.handle)
        return;
    nino_cl_queue_finish(cl, NULL);
    // A driver that has lost its device may hang in any call; the process is about to end.
    if (!cl->is_lost || cl->dev->is_host) {
        nino_ocl.clReleaseCommandQueue(cl->queue.handle);
        if (cl->queue.other)
            nino_ocl.clReleaseCommandQueue(cl->queue.other);
    }
    cl->queue = (nino_cl_queue){ 0 };
}
