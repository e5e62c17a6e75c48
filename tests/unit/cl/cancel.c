// A cancel where nothing can be interrupted: while a kernel is compiled, while a command runs,
// while a large weight is packed. Nothing here depends on time: drivers and files are held up until
// the test lets them go on, and what still happens after the cancel is counted.
#include "core/file/weights.h"
#include "core/op/pack.h"
#include "tests/cl.h"

#include <math.h>
#include <pthread.h>

static nino_error err;
static volatile int cancel;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_held;
static int n_builds, n_launches;

static void hold(bool on)
{
    pthread_mutex_lock(&lock);
    is_held = on;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

// Without the user's cache: a binary that a helper of another run has put there is built in the
// thread that asks, which would be held up for good.
static nino_backend *open_backend(void)
{
    nino_backend *be = nino_cl_open(
        test_cl_device(), &(nino_ctx_params){ NINO_CTX_PARAMS_INIT, .cache_dir = "" }, NULL, &err);
    CHECK(be);
    return be;
}

static nino_stream *open_stream(nino_backend *be)
{
    __atomic_store_n(&cancel, 0, __ATOMIC_RELAXED);
    nino_stream *s =
        nino_stream_create(&(nino_stream_params){ .backend = be, .cancel = &cancel }, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    return s;
}

static nino_tensor *input(nino_stream *s)
{
    nino_array *a = test_wave(NINO_SHAPE(1, 4, 4, 8), 0.01f);
    nino_tensor *t = nino_upload(s, a, NINO_F32);
    nino_array_unref(&a);
    return t;
}

// What x * 3 + 1 should be.
static void check_result(nino_array *out)
{
    nino_array *a = test_wave(NINO_SHAPE(1, 4, 4, 8), 0.01f);
    CHECK(out != NULL);
    for (int64_t i = 0; i < nino_shape_count(&a->shape); i++)
        CHECK(fabsf(nino_array_f32(out)[i] - (nino_array_f32(a)[i] * 3 + 1)) < 1e-5f);
    nino_array_unref(&a);
    nino_array_unref(&out);
}

// ---- compiling -------------------------------------------------------------------------------
static __typeof__(clBuildProgram) *real_build;
static __typeof__(clEnqueueNDRangeKernel) *real_launch;
static __typeof__(clGetEventInfo) *real_event;

static cl_int CL_API_CALL held_build(cl_program p, cl_uint n, const cl_device_id *d, const char *o,
                                     void(CL_CALLBACK *fn)(cl_program, void *), void *priv)
{
    pthread_mutex_lock(&lock);
    n_builds++;
    __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED); // the user's cancel comes while it compiles
    while (is_held)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return real_build(p, n, d, o, fn, priv);
}

static void test_compile(nino_backend *be)
{
    nino_cl *cl = (nino_cl *) be;
    nino_stream *s = open_stream(be);
    nino_tensor *x = input(s);
    CHECK(nino_stream_finish(s, &err) == NINO_OK);
    nino_ocl.clBuildProgram = held_build;
    hold(true);
    CHECK(!nino_scale(s, x, 3, 1)); // returns although the compiler is held up
    CHECK(nino_stream_status(s, &err) == NINO_ERR_CANCELLED);
    CHECK(cl->build != NULL);
    nino_stream_destroy(&s);
    // The next one waits for it, unless it is cancelled too.
    s = open_stream(be);
    __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
    CHECK(!input(s) && nino_stream_status(s, &err) == NINO_ERR_CANCELLED);
    nino_stream_destroy(&s);
    hold(false);
    s = open_stream(be);
    check_result(nino_download(s, nino_scale(s, input(s), 3, 1), NINO_F32));
    CHECK(n_builds == 1 && !cl->build); // what was built in the background is used
    nino_stream_destroy(&s);
    nino_ocl.clBuildProgram = real_build;
}

// Closing waits for a build that was left behind.
static void test_close(void)
{
    nino_backend *be = open_backend();
    nino_stream *s = open_stream(be);
    nino_ocl.clBuildProgram = held_build;
    hold(true);
    CHECK(!nino_scale(s, input(s), 3, 1));
    nino_stream_destroy(&s);
    CHECK(!nino_backend_is_idle(be));
    hold(false);
    nino_backend_close(&be);
    nino_ocl.clBuildProgram = real_build;
}

// ---- running ---------------------------------------------------------------------------------
static cl_int CL_API_CALL held_event(cl_event e, cl_event_info what, size_t size, void *value,
                                     size_t *got)
{
    const cl_int r = real_event(e, what, size, value, got);
    if (is_held && what == CL_EVENT_COMMAND_EXECUTION_STATUS && *(cl_int *) value == CL_COMPLETE)
        *(cl_int *) value = CL_RUNNING;
    return r;
}

static cl_int CL_API_CALL counted_launch(cl_command_queue q, cl_kernel k, cl_uint dims,
                                         const size_t *offset, const size_t *global,
                                         const size_t *local, cl_uint n, const cl_event *wait,
                                         cl_event *event)
{
    n_launches++;
    return real_launch(q, k, dims, offset, global, local, n, wait, event);
}

// A command that does not end is left to itself, and no kernel is enqueued after the cancel.
static void test_wait(nino_backend *be)
{
    nino_stream *s = open_stream(be);
    nino_tensor *x = nino_scale(s, input(s), 3, 1), *y = nino_ref(x);
    nino_ocl.clGetEventInfo = held_event;
    nino_ocl.clEnqueueNDRangeKernel = counted_launch;
    is_held = true;
    __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
    n_launches = 0;
    CHECK(!nino_download(s, x, NINO_F32));
    CHECK(nino_stream_status(s, &err) == NINO_ERR_CANCELLED);
    nino_stream_clear_error(s); // even then: the flag itself is looked at
    CHECK(!nino_scale(s, y, 2, 0));
    CHECK(n_launches == 0);
    nino_stream_destroy(&s);
    CHECK(((nino_cl *) be)->queue.n_flight > 0 && !nino_backend_is_idle(be));
    is_held = false;
    s = open_stream(be);
    check_result(nino_download(s, nino_scale(s, input(s), 3, 1), NINO_F32));
    CHECK(nino_backend_is_idle(be) && ((nino_cl *) be)->queue.n_flight == 0);
    nino_stream_destroy(&s);
    nino_ocl.clGetEventInfo = real_event;
    nino_ocl.clEnqueueNDRangeKernel = real_launch;
}

// An op in many pieces: the cancel comes with the third launch, and there is no fourth.
static cl_int CL_API_CALL cancelling_launch(cl_command_queue q, cl_kernel k, cl_uint dims,
                                            const size_t *offset, const size_t *global,
                                            const size_t *local, cl_uint n, const cl_event *wait,
                                            cl_event *event)
{
    if (++n_launches == 3)
        __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
    return real_launch(q, k, dims, offset, global, local, n, wait, event);
}

static void test_pieces(nino_backend *be)
{
    nino_cl *cl = (nino_cl *) be;
    const double peak = cl->be.profile.peak_f32;
    const nino_cl_device *dev = cl->dev;
    nino_cl_device one = *dev;
    one.info.compute_units = 1; // four work-groups are a launch
    cl->dev = &one;
    nino_array *w = test_wave(NINO_SHAPE(64, 64), 0.01f),
               *a = test_wave(NINO_SHAPE(4096, 64), 0.01f);
    const nino_linear l = { .w = nino_weight_from_array(w, NINO_W_MATRIX) };
    nino_stream *s = open_stream(be);
    nino_tensor *x = nino_upload(s, a, NINO_F32);
    nino_unref(nino_linear_op(s, nino_ref(x), &l)); // packs and compiles
    CHECK(nino_stream_finish(s, &err) == NINO_OK);
    nino_ocl.clEnqueueNDRangeKernel = cancelling_launch;
    cl->be.profile.peak_f32 = 1e6; // slow enough for hundreds of pieces
    n_launches = 0;
    CHECK(!nino_linear_op(s, x, &l));
    CHECK(nino_stream_status(s, &err) == NINO_ERR_CANCELLED);
    CHECK(n_launches == 3);
    nino_ocl.clEnqueueNDRangeKernel = real_launch;
    cl->be.profile.peak_f32 = peak;
    cl->dev = dev;
    nino_stream_destroy(&s);
    nino_weight *pw = l.w;
    nino_weight_destroy(&pw);
    nino_array_unref(&w);
    nino_array_unref(&a);
}

// ---- packing ---------------------------------------------------------------------------------

// Cancelled before: nothing is read. (tests/unit/op/pack.c: in the middle.)
static void test_pack(nino_backend *be)
{
    nino_array *w = test_wave(NINO_SHAPE(2048, 512), 0.01f), *a = test_wave(NINO_SHAPE(2, 512), 1);
    const nino_linear l = { .w = nino_weight_from_array(w, NINO_W_MATRIX) };
    nino_stream *s = open_stream(be);
    nino_tensor *x = nino_upload(s, a, NINO_F32);
    nino_mem_stat before, after;
    nino_pool_stat(be->pool, &before);
    __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
    const nino_packed *p = nino_backend_weight(be, l.w, NINO_F32, &err);
    CHECK(!p && err.code == NINO_ERR_CANCELLED);
    nino_pool_stat(be->pool, &after);
    CHECK(after.in_use == before.in_use); // what it was packed into is free again
    __atomic_store_n(&cancel, 0, __ATOMIC_RELAXED);
    x = nino_linear_op(s, x, &l);
    nino_array *out = nino_download(s, x, NINO_F32);
    CHECK(out != NULL);
    nino_array_unref(&out);
    nino_stream_destroy(&s);
    nino_weight *pw = l.w;
    nino_weight_destroy(&pw);
    nino_array_unref(&w);
    nino_array_unref(&a);
}

int main(void)
{
    nino_backend *be = open_backend();
    real_build = nino_ocl.clBuildProgram;
    real_launch = nino_ocl.clEnqueueNDRangeKernel;
    real_event = nino_ocl.clGetEventInfo;
    test_compile(be);
    test_wait(be);
    test_pieces(be);
    test_pack(be);
    nino_backend_close(&be);
    test_close();
    return 0;
}
