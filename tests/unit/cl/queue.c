// Events of the queue: with a reader every command gives one record whose times fit the host's
// clock; without one no record is made. Also: what is in flight stays bounded.
#include "core/base/time.h"
#include "core/harness/kernel_call.h"
#include <ninodes/kernel.h>
#include "tests/cl.h"

enum { MAX = 4096 };
static nino_event ev[MAX];
static nino_error err;

static void run(nino_backend *be, nino_monitor *m)
{
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be, .monitor = m }, &err);
    CHECK(s);
    nino_array *a = test_cl_run(s);
    CHECK(a);
    nino_array_unref(&a);
    nino_stream_destroy(&s);
}

// The record tells the program, whose source has the kernel, and the call, which the harness can make.
static void check_told(const char *launch, const char *kernel, const nino_event *e)
{
    nino_kernel_told t;
    nino_check_case c;
    nino_dtype type;
    char *source, *options;
    CHECK(nino_kernel_told_read(&t, launch));
    CHECK_OK(nino_call_read(t.call, &c, &type, &err), err);
    CHECK(c.op == (nino_op_id) (e->sub - 1));
    CHECK(nino_dtype_bits(type) == (int) nino_kernel_bits(e));
    CHECK_OK(nino_kernel_source(t.program, &source, &options, &err), err);
    CHECK(strstr(source, kernel) && strstr(options, "-DSCHED_"));
    free(source);
    free(options);
}

// One image and seven of the same size: of what is moved an eighth and the rest.
static void check_shares(double bytes[2], nino_backend *be)
{
    nino_monitor *m = nino_monitor_create();
    nino_mon_reader *r = nino_mon_reader_create(m);
    CHECK(r);
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be, .monitor = m }, &err);
    CHECK(s);
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, 8, 8, 4)),
               *b = nino_array_create(NINO_F32, NINO_SHAPE(7, 8, 8, 4));
    CHECK(a && b);
    nino_tensor *t = nino_concat(s, nino_upload(s, a, NINO_F32), nino_upload(s, b, NINO_F32), 0);
    nino_array *out = nino_download(s, t, NINO_F32);
    CHECK(out);
    const size_t n = nino_mon_reader_read(r, ev, MAX, NULL);
    int at = 0;
    for (size_t i = 0; i < n; i++)
        if (ev[i].kind == NINO_EV_KERNEL && at++ < 2)
            bytes[at - 1] = ev[i].u.kernel.bytes;
    CHECK(at == 2);
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_array_unref(&out);
    nino_stream_destroy(&s);
    nino_mon_reader_destroy(&r);
    nino_monitor_destroy(&m);
}

// What a launch is said to move is what it moves: ceilings of the device are raised by it.
static void test_shares(nino_backend *be)
{
    double bytes[2] = { 0 };
    check_shares(bytes, be);
    CHECK(bytes[0] == 2 * 256 * 4 && bytes[1] == 7 * bytes[0]);
}

static void test_records(nino_backend *be)
{
    nino_monitor *m = nino_monitor_create();
    run(be, m);
    nino_mon_reader *r = nino_mon_reader_create(m);
    CHECK(r);
    const uint32_t scope = nino_monitor_begin(m, NINO_EV_NODE, "node", 0, 1);
    const uint64_t before = nino_now_ns();
    run(be, m);
    const uint64_t after = nino_now_ns();
    nino_monitor_end(m, scope);
    uint64_t lost = 0, end = 0;
    const size_t n = nino_mon_reader_read(r, ev, MAX, &lost);
    int n_kernels = 0, n_transfers = 0, n_main = 0, n_asked = 0;
    double flops = 0;
    CHECK(lost == 0);
    for (size_t i = 0; i < n; i++) {
        const nino_event *e = &ev[i];
        if (e->track < 256) // a thread's: scopes, memory, loading of weights
            continue;
        const uint64_t slack = 2000000; // device stamps are mapped to within the enqueue call
        CHECK(e->t_ns + slack > before && e->t_ns < after + slack);
        CHECK(e->t_ns >= end); // one queue: no overlap
        CHECK(e->u.kernel.dur_ns < after - before);
        end = e->t_ns + e->u.kernel.dur_ns;
        CHECK(e->kind == NINO_EV_KERNEL || e->kind == NINO_EV_TRANSFER);
        CHECK(e->parent == scope);
        CHECK(nino_monitor_name_text(m, e->name)[0]);
        if (e->kind == NINO_EV_TRANSFER) {
            n_transfers++;
            CHECK(e->u.kernel.bytes > 0);
            continue;
        }
        n_kernels++;
        CHECK(e->sub > 0 && e->sub <= NINO_OP_COUNT);
        CHECK_STR(nino_monitor_name_text(m, e->u.kernel.family), nino_ops[e->sub - 1].family);
        CHECK(nino_monitor_name_text(m, e->u.kernel.shape)[0]);
        nino_launch l;
        CHECK(nino_kernel_bits(e) == 32 || nino_kernel_bits(e) == 16);
        CHECK(nino_launch_read(&l, nino_monitor_name_text(m, nino_kernel_launch(e))));
        CHECK(l.global[0] && l.global[1] && l.global[2]);
        check_told(nino_monitor_name_text(m, nino_kernel_launch(e)),
                   nino_monitor_name_text(m, e->name), e);
        for (int k = 0; k < 3 && l.local[0]; k++)
            CHECK(l.local[k] && l.global[k] % l.local[k] == 0);
        n_asked += l.requested > 0;
        CHECK(l.requested == 0 || l.requested >= e->u.kernel.bytes);
        n_main += e->u.kernel.bytes > 0;
        flops += e->u.kernel.flops;
    }
    CHECK(n_kernels == 8); // 3 norm, add, 2 concat, 2 resample
    CHECK(n_main == 5);    // one of each op carries its cost, both of the concat a part of it
    CHECK(n_asked >= 1);   // of the addition
    CHECK(n_transfers >= 4);
    CHECK(flops > 0);
    nino_mon_reader_destroy(&r);
    nino_monitor_destroy(&m);
}

// Without a reader most commands have no event; with one each has.
static void test_bounds(nino_backend *be)
{
    nino_cl *cl = (nino_cl *) be;
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    nino_array *a = test_wave(NINO_SHAPE(1, 64, 64, 32), 0.01f);
    nino_tensor *x = nino_upload(s, a, NINO_F32);
    const unsigned tail = cl->queue.tail;
    for (int i = 0; i < 300; i++) {
        x = nino_scale(s, x, 1, 0.5f);
        CHECK(x);
        CHECK(cl->queue.n_flight <= 64);
        CHECK(cl->queue.tail - cl->queue.head <= NINO_CL_PENDING);
        CHECK(cl->queue.flight_seconds < 0.2);
    }
    CHECK(cl->queue.tail - tail >= 300 / 16);
    CHECK(cl->queue.tail - tail < 100);
    CHECK(nino_stream_finish(s, &err) == NINO_OK);
    CHECK(cl->queue.n_flight == 0 && cl->queue.n_bare == 0);
    CHECK(cl->queue.head == cl->queue.tail);
    nino_array *out = nino_download(s, x, NINO_F32);
    CHECK(out);
    CHECK(nino_array_f32(out)[5] == nino_array_f32(a)[5] + 150);
    nino_array_unref(&out);
    nino_array_unref(&a);
    nino_stream_destroy(&s);
}

// Whether the driver has times of what the queue in use does.
static bool is_timed(const nino_cl *cl)
{
    cl_event event;
    cl_ulong t;
    CHECK(!nino_ocl.clEnqueueMarkerWithWaitList(cl->queue.handle, 0, NULL, &event));
    CHECK(!nino_ocl.clWaitForEvents(1, &event));
    const cl_int e =
        nino_ocl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(t), &t, NULL);
    nino_ocl.clReleaseEvent(event);
    CHECK(cl->queue.is_timed == (e == 0));
    return e == 0;
}

// The queue keeps times while somebody listens and at no other time, also where that changes between
// commands; results and bounds stay.
static void test_times(nino_backend *be)
{
    nino_cl *cl = (nino_cl *) be;
    nino_monitor *m = nino_monitor_create();
    run(be, m);
    CHECK(!is_timed(cl));
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be, .monitor = m }, &err);
    nino_array *a = test_wave(NINO_SHAPE(1, 64, 64, 32), 0.01f);
    nino_tensor *x = nino_upload(s, a, NINO_F32);
    nino_mon_reader *r = NULL;
    for (int i = 0; i < 90; i++) {
        if (i == 30)
            CHECK((r = nino_mon_reader_create(m)));
        if (i == 60)
            nino_mon_reader_destroy(&r);
        x = nino_scale(s, x, 1, 0.5f);
        CHECK(x && is_timed(cl) == (i >= 30 && i < 60));
    }
    nino_array *out = nino_download(s, x, NINO_F32);
    CHECK(out && nino_array_f32(out)[5] == nino_array_f32(a)[5] + 45);
    CHECK_OK(nino_stream_finish(s, &err), err);
    CHECK(cl->queue.n_flight == 0 && cl->queue.slowdown >= 1);
    nino_array_unref(&out);
    nino_array_unref(&a);
    nino_stream_destroy(&s);
    nino_monitor_destroy(&m);
}

// Wrong argument counts are found before the driver sees them.
static void test_argument_count(nino_backend *be)
{
    const nino_cl_arg args[] = { A_U64(1) };
    const size_t global = 1;
    CHECK(nino_cl_launch((nino_cl *) be, "basic", "add", "", NULL, 1, &global, NULL, args, 1,
                         &err) == NINO_ERR_DEVICE);
    CHECK(strstr(err.msg, "arguments"));
    CHECK(nino_cl_launch((nino_cl *) be, "basic", "no_such", "", NULL, 1, &global, NULL, args, 1,
                         &err) == NINO_ERR_DEVICE);
    CHECK(nino_cl_launch((nino_cl *) be, "nofile", "x", "", NULL, 1, &global, NULL, args, 1,
                         &err) == NINO_ERR_DEVICE);
    CHECK_STR(err.where, "nofile");
    CHECK(nino_cl_launch((nino_cl *) be, "basic", "act_op", "-Dsrc=1", NULL, 1, &global, NULL, args,
                         1, &err) == NINO_ERR_DEVICE);
    CHECK_STR(err.kind, "build");
}

static __typeof__(clSetKernelArg) *real_arg;
static int n_set;

static cl_int CL_API_CALL counted_arg(cl_kernel k, cl_uint i, size_t size, const void *value)
{
    n_set++;
    return real_arg(k, i, size, value);
}

// How many arguments that launch sets; the result is checked.
static int set_by_scale(nino_stream *s, const nino_tensor *x, float by, float plus)
{
    n_set = 0;
    nino_array *out =
        nino_download(s, nino_scale(s, nino_ref((nino_tensor *) x), by, plus), NINO_F32);
    CHECK(out && nino_array_f32(out)[5] == nino_array_f32(out)[0] + by * 0.625f);
    nino_array_unref(&out);
    return n_set;
}

// A launch sets the arguments that differ from the kernel's last one; all of them where memory has gone meanwhile,
// whose handle may be another memory's now.
static void test_arguments(nino_backend *be)
{
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(64));
    for (int i = 0; i < 64; i++)
        nino_array_f32(a)[i] = (float) i / 8;
    nino_tensor *x = nino_upload(s, a, NINO_F32);
    real_arg = nino_ocl.clSetKernelArg;
    nino_ocl.clSetKernelArg = counted_arg;
    set_by_scale(s, x, 2, 1);
    CHECK(set_by_scale(s, x, 2, 1) == 0);
    CHECK(set_by_scale(s, x, 3, 1) == 1);
    CHECK(set_by_scale(s, x, 2, 4) == 2);
    ((nino_cl *) be)->n_gone++;
    CHECK(set_by_scale(s, x, 2, 4) > 4);
    CHECK(set_by_scale(s, x, 2, 4) == 0);
    nino_ocl.clSetKernelArg = real_arg;
    nino_unref(x);
    nino_array_unref(&a);
    nino_stream_destroy(&s);
}

int main(void)
{
    nino_backend *be = nino_cl_open(test_cl_device(), NULL, NULL, &err);
    CHECK(be);
    test_records(be);
    test_shares(be);
    test_bounds(be);
    test_times(be);
    test_argument_count(be);
    test_arguments(be);
    nino_backend_close(&be);
    return 0;
}
