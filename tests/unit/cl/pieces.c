// Long products are split into launches and Winograd works in stripes: the bits of the result must
// not depend on where the cuts are, in both schedules, and no launch may leave the device idle.
#include "tests/cl.h"

#include <string.h>

static nino_error err;

static nino_weight *weight(nino_shape shape, nino_weight_role role)
{
    nino_array *a = test_wave(shape, 0.013f);
    nino_weight *w = nino_weight_from_array(a, role);
    CHECK(w);
    nino_array_unref(&a);
    return w;
}

static nino_tensor *input(nino_stream *s, nino_shape shape, float step)
{
    nino_array *a = test_wave(shape, step);
    nino_tensor *t = nino_upload(s, a, NINO_F32);
    nino_array_unref(&a);
    return t;
}

enum { LINEAR, DIRECT, FEW, WINOGRAD, ATTENTION, N_KINDS };

static nino_array *run(nino_backend *be, int kind)
{
    const nino_stream_params p = { .backend = be };
    nino_stream *s = nino_stream_create(&p, &err);
    CHECK(s);
    nino_conv c = { .act = NINO_ACT_SILU };
    nino_linear l = { 0 };
    nino_tensor *y = NULL;
    switch (kind) {
    case LINEAR:
        l.w = weight(NINO_SHAPE(70, 40), NINO_W_MATRIX);
        y = nino_linear_op(s, input(s, NINO_SHAPE(3001, 40), 0.02f), &l);
        break;
    case DIRECT:
        c.w = weight(NINO_SHAPE(20, 20, 3, 3), NINO_W_CONV3);
        y = nino_conv2d(s, input(s, NINO_SHAPE(2, 41, 37, 20), 0.02f), &c);
        break;
    case FEW:
        c.w = weight(NINO_SHAPE(3, 16, 3, 3), NINO_W_CONV3);
        y = nino_conv2d(s, input(s, NINO_SHAPE(2, 41, 37, 16), 0.02f), &c);
        break;
    case WINOGRAD:
        c.w = weight(NINO_SHAPE(60, 36, 3, 3), NINO_W_CONV3);
        y = nino_conv2d_add(s, input(s, NINO_SHAPE(2, 41, 37, 36), 0.02f), &c,
                            input(s, NINO_SHAPE(2, 41, 37, 60), 0.03f));
        break;
    case ATTENTION:
        y = nino_attention(s, input(s, NINO_SHAPE(2, 200, 48), 0.02f),
                           input(s, NINO_SHAPE(2, 77, 48), 0.03f),
                           input(s, NINO_SHAPE(2, 77, 48), 0.01f), 2, 0);
        break;
    }
    nino_array *out = nino_download(s, y, NINO_F32);
    CHECK_OK(nino_stream_status(s, &err), err);
    nino_stream_destroy(&s);
    nino_weight_destroy(&c.w);
    nino_weight_destroy(&l.w);
    return out;
}

// ---- launches counted --------------------------------------------------------------------------

static __typeof__(clEnqueueNDRangeKernel) *real_launch;
static int n_launches;
static size_t fewest, most; // work-groups of a launch
static bool is_dry;         // nothing is computed

static cl_int CL_API_CALL count_launch(cl_command_queue q, cl_kernel k, cl_uint dims,
                                       const size_t *offset, const size_t *global,
                                       const size_t *local, cl_uint n, const cl_event *wait,
                                       cl_event *event)
{
    size_t groups = 1;
    char name[64] = "";
    nino_ocl.clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof(name), name, NULL);
    for (cl_uint i = 0; i < dims; i++)
        groups *= global[i] / (local ? local[i] : 1);
    if (!strcmp(name, "gemm") || !strcmp(name, "gemm_few") || !strcmp(name, "attention")) {
        n_launches++;
        fewest = groups < fewest ? groups : fewest;
        most = groups > most ? groups : most;
    }
    return is_dry ? nino_ocl.clEnqueueMarkerWithWaitList(q, 0, NULL, event)
                  : real_launch(q, k, dims, offset, global, local, n, wait, event);
}

static void count_anew(void)
{
    n_launches = 0;
    fewest = SIZE_MAX;
    most = 0;
}

static void test_bits(nino_cl *cl)
{
    nino_backend *be = &cl->be;
    for (int kind = 0; kind < N_KINDS; kind++) {
        be->profile.has_winograd = kind == WINOGRAD;
        be->profile.peak_f32 = 1e15;
        be->profile.winograd_stripe = 1 << 30;
        count_anew();
        nino_array *whole = run(be, kind);
        CHECK(n_launches == (kind != WINOGRAD || !cl->be.profile.schedule->has_winograd));
        be->profile.peak_f32 = 1e6;
        be->profile.winograd_stripe = 1;
        count_anew();
        nino_array *cut = run(be, kind);
        CHECK(kind == FEW || kind == WINOGRAD || n_launches > 1);
        CHECK(fewest >= 4); // of its one compute unit
        CHECK(whole->bytes == cut->bytes && !memcmp(whole->data, cut->data, cut->bytes));
        nino_array_unref(&whole);
        nino_array_unref(&cut);
    }
}

// A GPU that no profile describes: its driver's figures say how fast it is. FLUX.1 at 1024x1024:
// 4096 + 512 tokens, 24 heads of 128.
static void test_unknown_gpu(nino_cl *cl, unsigned units, unsigned mhz, int launches)
{
    nino_cl_device gpu = *cl->dev;
    const nino_cl_device *real = cl->dev;
    nino_profile *p = &cl->be.profile, before = *p;
    CHECK_OK(nino_profile_find("a GPU of tomorrow", false, p, &err), err);
    CHECK_STR(p->name, "generic-gpu");
    gpu.info.compute_units = units;
    nino_profile_estimate(p, units, mhz, 64);
    CHECK(p->peak_f32 == 2e6 * units * (mhz ? mhz : 1000) * 64);
    cl->dev = &gpu;
    cl->queue.slowdown = 1;
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = &cl->be }, &err);
    nino_tensor *q = nino_zeros(s, NINO_SHAPE(1, 4608, 3072), NINO_F16);
    is_dry = true;
    count_anew();
    nino_unref(nino_attention(s, nino_ref(q), nino_ref(q), q, 24, 0));
    CHECK_OK(nino_stream_finish(s, &err), err);
    is_dry = false;
    printf("  %u units at %u MHz: %d launches of %zu to %zu work-groups\n", units, mhz, n_launches,
           fewest, most);
    CHECK(n_launches == launches && fewest >= 4 * (size_t) units && most - fewest <= 1);
    nino_stream_destroy(&s);
    cl->dev = real;
    *p = before;
}

// ---- kernels that want more registers than there are ----------------------------------------------

static __typeof__(clGetKernelWorkGroupInfo) *real_info;
static int n_too_large; // so many kernels "gemm" more are said to run in half their work-group only

static cl_int CL_API_CALL short_of_registers(cl_kernel k, cl_device_id d,
                                             cl_kernel_work_group_info what, size_t size,
                                             void *value, size_t *size_out)
{
    char name[64] = "";
    nino_ocl.clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof(name), name, NULL);
    const cl_int e = real_info(k, d, what, size, value, size_out);
    if (what == CL_KERNEL_WORK_GROUP_SIZE && !strcmp(name, "gemm") && n_too_large-- > 0)
        *(size_t *) value = 128;
    return e;
}

// The next smaller tile is taken, and for all that follows; the bits are the same.
static void test_too_large(const nino_cl_device *dev)
{
    nino_backend *be = nino_cl_open(dev, NULL, NULL, &err);
    CHECK(be);
    CHECK_OK(nino_sched_find("generic", "", &be->profile.schedule, &err), err);
    nino_array *large = run(be, LINEAR);
    nino_backend_close(&be);
    for (int n = 1; n <= 3; n++) {
        be = nino_cl_open(dev, NULL, NULL, &err);
        CHECK(be);
        CHECK_OK(nino_sched_find("generic", "", &be->profile.schedule, &err), err);
        real_info = nino_ocl.clGetKernelWorkGroupInfo;
        nino_ocl.clGetKernelWorkGroupInfo = short_of_registers;
        n_too_large = n;
        nino_array *small = run(be, LINEAR);
        nino_ocl.clGetKernelWorkGroupInfo = real_info;
        CHECK(be->profile.tuning.gemm_tile == (n < 3 ? n + 1 : 3));
        CHECK(!memcmp(small->data, large->data, large->bytes));
        nino_array_unref(&small);
        nino_backend_close(&be);
    }
    nino_array_unref(&large);
}

int main(void)
{
    const nino_cl_device *dev = test_cl_device();
    nino_cl_device one = *dev;
    one.info.compute_units = 1;
    real_launch = nino_ocl.clEnqueueNDRangeKernel;
    nino_ocl.clEnqueueNDRangeKernel = count_launch;
    for (const nino_sched *schedule = nino_scheds; schedule->name; schedule++) {
        nino_backend *be = nino_cl_open(&one, NULL, NULL, &err);
        CHECK(be);
        be->profile.schedule = schedule;
        test_bits((nino_cl *) be);
        nino_backend_close(&be);
    }
    test_too_large(&one);
    nino_backend *be = nino_cl_open(&one, NULL, NULL, &err);
    CHECK(be);
    ((nino_cl *) be)->local_bytes = 64 << 10;
    test_unknown_gpu((nino_cl *) be, 40, 2900, 4); // 261 GFLOP at a tenth of 14.8 TFLOP/s
    test_unknown_gpu((nino_cl *) be, 2, 400, 216); // never fewer than 8 work-groups
    test_unknown_gpu((nino_cl *) be, 96, 2500, 2);
    test_unknown_gpu((nino_cl *) be, 40, 0, 10); // the driver does not tell the clock
    nino_backend_close(&be);
    return 0;
}
