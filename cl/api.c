// The OpenCL function table, names of error codes, and calls that fail on purpose.
#include "cl/api.h"

#include "core/base/num.h"
#include "core/base/vars.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

nino_ocl_api nino_ocl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;

static _Atomic uint64_t n_calls, fail_first, fail_last;
static _Atomic cl_int fail_code;

cl_int nino_ocl_fault(void)
{
    const uint64_t n = 1 + atomic_fetch_add_explicit(&n_calls, 1, memory_order_relaxed);
    const uint64_t first = atomic_load_explicit(&fail_first, memory_order_relaxed);
    return first && n >= first && n <= atomic_load(&fail_last) ? atomic_load(&fail_code) : 0;
}

void nino_ocl_set_fault(uint64_t first, uint64_t last, cl_int code)
{
    atomic_store(&fail_first, 0);
    atomic_store(&n_calls, 0);
    atomic_store(&fail_last, last);
    atomic_store(&fail_code, code);
    atomic_store(&fail_first, first);
}

uint64_t nino_ocl_calls(void) { return atomic_load(&n_calls); }

// "7", "7:-36" or "7+:-36"; anything else is ignored.
static void fault_from_environment(void)
{
    char text[48];
    snprintf(text, sizeof(text), "%s", nino_vars_get()->fail_cl);
    int64_t n, code = CL_OUT_OF_RESOURCES;
    char *colon = strchr(text, ':');
    if (colon) {
        *colon = 0;
        if (!nino_parse_i64(colon + 1, &code))
            return;
    }
    const size_t len = strlen(text);
    const bool is_sticky = len && text[len - 1] == '+';
    if (is_sticky)
        text[len - 1] = 0;
    if (nino_parse_i64(text, &n) && n > 0 && code >= INT32_MIN && code < 0)
        nino_ocl_set_fault((uint64_t) n, is_sticky ? UINT64_MAX : (uint64_t) n, (cl_int) code);
}

static void api_load(void)
{
    void *lib = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!lib)
        return;
#define X(fn)                                                                                      \
    *(void **) &nino_ocl.fn = dlsym(lib, #fn);                                                     \
    if (!nino_ocl.fn)                                                                              \
        return;
    NINO_OCL_FUNCTIONS(X)
#undef X
    fault_from_environment();
    is_loaded = true;
}

bool nino_ocl_load(void)
{
    pthread_once(&once, api_load);
    return is_loaded;
}

const char *nino_ocl_error_name(cl_int e)
{
    switch (e) {
#define E(x)                                                                                       \
    case x: return #x;
        E(CL_SUCCESS)
        E(CL_DEVICE_NOT_FOUND)
        E(CL_DEVICE_NOT_AVAILABLE)
        E(CL_COMPILER_NOT_AVAILABLE)
        E(CL_MEM_OBJECT_ALLOCATION_FAILURE)
        E(CL_OUT_OF_RESOURCES)
        E(CL_OUT_OF_HOST_MEMORY)
        E(CL_PROFILING_INFO_NOT_AVAILABLE)
        E(CL_BUILD_PROGRAM_FAILURE)
        E(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
        E(CL_INVALID_VALUE)
        E(CL_INVALID_DEVICE)
        E(CL_INVALID_CONTEXT)
        E(CL_INVALID_QUEUE_PROPERTIES)
        E(CL_INVALID_COMMAND_QUEUE)
        E(CL_INVALID_MEM_OBJECT)
        E(CL_INVALID_IMAGE_SIZE)
        E(CL_INVALID_BINARY)
        E(CL_INVALID_BUILD_OPTIONS)
        E(CL_INVALID_PROGRAM)
        E(CL_INVALID_PROGRAM_EXECUTABLE)
        E(CL_INVALID_KERNEL_NAME)
        E(CL_INVALID_KERNEL)
        E(CL_INVALID_ARG_INDEX)
        E(CL_INVALID_ARG_VALUE)
        E(CL_INVALID_ARG_SIZE)
        E(CL_INVALID_KERNEL_ARGS)
        E(CL_INVALID_WORK_DIMENSION)
        E(CL_INVALID_WORK_GROUP_SIZE)
        E(CL_INVALID_WORK_ITEM_SIZE)
        E(CL_INVALID_GLOBAL_OFFSET)
        E(CL_INVALID_EVENT_WAIT_LIST)
        E(CL_INVALID_EVENT)
        E(CL_INVALID_OPERATION)
        E(CL_INVALID_BUFFER_SIZE)
        E(CL_INVALID_GLOBAL_WORK_SIZE)
#undef E
    case -1001: return "CL_PLATFORM_NOT_FOUND_KHR";
    }
    return "unlisted OpenCL error";
}
