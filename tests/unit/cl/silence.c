// A GPU that has gone silent is told from one that is slow: kernels that are being compiled at their
// first launch, other programs on the device, a process that was stopped. The device is a CPU that
// is treated as a GPU; what it says of its commands is held back for a number of questions.
#include "tests/cl.h"

#include <time.h>

#ifdef __SANITIZE_ADDRESS__
// What a device that is lost may still read is not freed.
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }
#endif

// Seconds after which a silent device is lost; a question counts as one millisecond at most, and is
// asked no sooner than after 0.2 of them.
static const double limit = 0.2;
enum { WITHIN = 20, BEYOND = 1200 }; // questions: of less time than that, and of more

static nino_error err;
static __typeof__(clGetEventInfo) *ask;
static struct {
    long questions, since; // asked so far, since the last change
    long kernel, other;    // such a command goes on to its next state after so many; 0: never
    bool is_on;
    nino_cl *cl;
    unsigned at; // the command of its queue that is held back
    cl_int state;
    bool sleeps;    // once
    bool only_runs; // kernels that are held run
} held;

// A question has been asked: the command whose turn it is, for the queue is in order, may go on.
static void go_on(void)
{
    const nino_cl_queue *q = &held.cl->queue;
    held.questions++;
    if (held.at - q->head > NINO_CL_PENDING) // behind it
        held.at = q->head;
    if (held.at == q->tail)
        return;
    cl_command_type type = 0;
    CHECK(!ask(q->ring[held.at % NINO_CL_PENDING].event, CL_EVENT_COMMAND_TYPE, sizeof(type), &type,
               NULL));
    const bool is_kernel = type == CL_COMMAND_NDRANGE_KERNEL;
    if (held.only_runs && is_kernel)
        held.state = CL_RUNNING;
    // One that runs has been compiled.
    const long each =
        is_kernel && (!held.kernel || held.state > CL_RUNNING) ? held.kernel : held.other;
    if (!each || ++held.since < each)
        return;
    held.since = 0;
    if (--held.state == CL_COMPLETE) {
        // Not before it is so: what it reads is freed then.
        CHECK(!nino_ocl.clWaitForEvents(1, &q->ring[held.at % NINO_CL_PENDING].event));
        held.state = CL_QUEUED;
        held.at++;
    }
}

static cl_int CL_API_CALL answer_late(cl_event event, cl_event_info what, size_t size, void *out,
                                      size_t *used)
{
    const nino_cl_queue *q = &held.cl->queue;
    const cl_int e = ask(event, what, size, out, used);
    if (e || what != CL_EVENT_COMMAND_EXECUTION_STATUS || !held.is_on)
        return e;
    go_on();
    if (held.sleeps && held.since == WITHIN / 2) {
        nanosleep(&(struct timespec){ .tv_sec = 2 }, NULL);
        held.sleeps = false;
    }
    for (unsigned i = q->head; i != q->tail; i++)
        if (q->ring[i % NINO_CL_PENDING].event == event)
            *(cl_int *) out = i == held.at                      ? held.state
                              : i - q->head < held.at - q->head ? CL_COMPLETE
                                                                : CL_QUEUED;
    return e;
}

static void hold(long kernel, long other)
{
    held.questions = held.since = 0;
    held.kernel = kernel;
    held.other = other;
    held.is_on = true;
    held.at = held.cl->queue.head;
    held.state = CL_QUEUED;
}

// A small run whose every command is watched, so that each has an event.
static nino_status run(nino_backend *be)
{
    err = (nino_error){ 0 };
    nino_monitor *m = nino_monitor_create();
    nino_mon_reader *r = nino_mon_reader_create(m);
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be, .monitor = m }, &err);
    CHECK(r && s);
    nino_array *a = test_cl_run(s);
    const nino_status st = nino_stream_status(s, &err);
    nino_array_unref(&a);
    nino_stream_destroy(&s);
    nino_mon_reader_destroy(&r);
    nino_monitor_destroy(&m);
    return st;
}

static nino_backend *open_gpu(nino_cl_device *dev)
{
    nino_backend *be = nino_cl_open(dev, NULL, NULL, &err);
    CHECK(be);
    nino_cl *cl = held.cl = (nino_cl *) be;
    CHECK(cl->queue.silence_s >= 60 && cl->queue.first_s >= 5 * cl->queue.silence_s);
    cl->queue.silence_s = limit;
    cl->queue.first_s = 1e9;
    return be;
}

static void close_gpu(nino_backend **be, nino_cl_device *dev)
{
    held.is_on = false;
    dev->is_host = true; // PoCL has ended meanwhile: everything can be released
    nino_backend_close(be);
    dev->is_host = false;
}

int main(void)
{
    nino_cl_device dev = *test_cl_device();
    dev.is_host = false;
    ask = nino_ocl.clGetEventInfo;
    nino_ocl.clGetEventInfo = answer_late;

    // The driver compiles each kernel while its first launch waits: far beyond the limit.
    nino_backend *be = open_gpu(&dev);
    hold(BEYOND, WITHIN);
    CHECK_OK(run(be), err);
    CHECK(held.questions > BEYOND);

    // Slow, but each command moves within the limit; all of them together take longer.
    hold(WITHIN, WITHIN);
    CHECK_OK(run(be), err);
    CHECK((double) held.questions * 0.2e-3 > limit);

    // The process was stopped between two questions for longer than the limit.
    hold(WITHIN, WITHIN);
    held.sleeps = true;
    CHECK_OK(run(be), err);
    CHECK(!held.sleeps);

    // No first launch any more, and it stands still: lost, in words that name the limit.
    hold(0, WITHIN);
    CHECK(run(be) == NINO_ERR_DEVICE);
    CHECK_STR(err.kind, "lost");
    CHECK(strstr(err.msg, "none of its commands has moved for 0."));
    CHECK(run(be) == NINO_ERR_DEVICE); // and stays so
    close_gpu(&be, &dev);

    // A command that runs is compiled: at a first launch, too, it has no more time than others.
    be = open_gpu(&dev);
    hold(0, WITHIN);
    held.only_runs = true;
    CHECK(run(be) == NINO_ERR_DEVICE);
    CHECK_STR(err.kind, "lost");
    close_gpu(&be, &dev);
    return 0;
}
