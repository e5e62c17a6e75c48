// Every OpenCL call of a small run fails once, and from some call on for good: the error is clean,
// nothing crashes, a run that claims success has the right values, and the next run works.
#include "tests/cl.h"

static const nino_cl_device *dev;
static nino_array *expected;
static nino_error err;

static nino_backend *open_backend(void)
{
    err = (nino_error){ 0 };
    return nino_cl_open(dev, NULL, NULL, &err);
}

// One run on be; the result is checked when there is one.
static nino_status run(nino_backend *be)
{
    err = (nino_error){ 0 };
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    CHECK(s);
    nino_array *a = test_cl_run(s);
    const nino_status st = nino_stream_status(s, &err);
    CHECK(!st == (a != NULL));
    if (a && expected)
        CHECK(a->bytes == expected->bytes && !memcmp(a->data, expected->data, a->bytes));
    if (!expected)
        expected = nino_array_ref(a);
    nino_array_unref(&a);
    nino_stream_destroy(&s);
    return st;
}

static void check_error(nino_status st, cl_int code)
{
    CHECK(st == err.code);
    CHECK(st == NINO_ERR_NOMEM || st == NINO_ERR_DEVICE);
    CHECK(err.msg[0] && err.kind);
    if (code == CL_OUT_OF_RESOURCES)
        CHECK(st == NINO_ERR_NOMEM || strstr(err.msg, "build"));
    if (code == CL_INVALID_COMMAND_QUEUE)
        CHECK(st == NINO_ERR_DEVICE);
}

static void recover(nino_backend **be)
{
    nino_ocl_set_fault(0, 0, 0);
    if (run(*be) == NINO_OK)
        return;
    CHECK(err.code == NINO_ERR_DEVICE); // a lost device stays lost until it is opened again
    CHECK_STR(err.kind, "lost");
    nino_backend_close(be);
    CHECK(*be = open_backend());
    CHECK(run(*be) == NINO_OK);
}

// Calls of a run on an open backend.
static void sweep_run(cl_int code, bool is_sticky)
{
    nino_backend *be = open_backend();
    CHECK(be);
    CHECK(run(be) == NINO_OK);
    nino_ocl_set_fault(0, 0, 0);
    CHECK(run(be) == NINO_OK);
    const uint64_t n = nino_ocl_calls();
    CHECK(n > 50);
    int failed = 0;
    for (uint64_t i = 1; i <= n; i++) {
        nino_ocl_set_fault(i, is_sticky ? UINT64_MAX : i, code);
        const nino_status st = run(be);
        if (st)
            check_error(st, code);
        failed += st != NINO_OK;
        recover(&be);
    }
    CHECK(failed > (int) n / 2);
    nino_backend_close(&be);
}

// Calls of opening, building and closing as well.
static void sweep_open(cl_int code, bool is_sticky)
{
    nino_ocl_set_fault(0, 0, 0);
    nino_backend *be = open_backend();
    CHECK(be);
    CHECK(run(be) == NINO_OK);
    nino_backend_close(&be);
    const uint64_t n = nino_ocl_calls(), step = getenv("NINODES_TEST_LONG") ? 1 : 11;
    for (uint64_t i = 1; i <= n; i += i < 6 ? 1 : step) {
        nino_ocl_set_fault(i, is_sticky ? UINT64_MAX : i, code);
        if (!(be = open_backend())) {
            check_error(err.code, code);
            continue;
        }
        const nino_status st = run(be);
        if (st)
            check_error(st, code);
        recover(&be);
        nino_backend_close(&be);
    }
    nino_ocl_set_fault(0, 0, 0);
}

// A limit that nothing fits into is an error that names bytes, and nothing is left behind.
static void test_no_memory(void)
{
    const nino_ctx_params params = { NINO_CTX_PARAMS_INIT, .mem_limit = 4096 };
    nino_backend *be = nino_cl_open(dev, &params, NULL, &err);
    CHECK(be);
    CHECK(run(be) == NINO_ERR_NOMEM);
    nino_mem_stat m;
    nino_pool_stat(be->pool, &m);
    CHECK(m.in_use == 0);
    nino_backend_close(&be);
}

int main(void)
{
    dev = test_cl_device();
    nino_backend *be = open_backend();
    CHECK(be);
    CHECK(run(be) == NINO_OK); // makes `expected`
    nino_backend_close(&be);
    sweep_run(CL_OUT_OF_RESOURCES, false);
    sweep_run(CL_INVALID_VALUE, false);
    sweep_run(CL_INVALID_COMMAND_QUEUE, false);
    sweep_run(CL_MEM_OBJECT_ALLOCATION_FAILURE, true);
    sweep_open(CL_OUT_OF_RESOURCES, false);
    sweep_open(-9999, true);
    test_no_memory();
    nino_array_unref(&expected);
    return 0;
}
