// An OpenCL layer ($OPENCL_LAYERS) that makes calls fail, at once, later or by not returning, counts
// what lives, and puts fences around buffers. It knows the calls that ninodes makes (cl/api.h).
// $NINODES_CL_FAULT: words such as "kind=late at=7 code=-5 call=clFlush limit=1000000 lazy=1
// fenced=1 report=FILE"; into the file goes a line of what was counted when the process ends.
// "@FILE": that file has the words when the process begins, so that a program can start several
// with different ones.
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "tests/fault/tool/cl_layer.h"

#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SEEN __attribute__((visibility("default")))
SEEN cl_fault cl_fault_now;
static cl_icd_dispatch next, ours;
static atomic_int is_late; // a command that was taken has failed
static char report_to[512];

// ---- what is to happen to a call ---------------------------------------------------------------

// Whoever waits for it to hang finds a line in the report.
static void hang(const char *call)
{
    const int out = open(report_to, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (out >= 0) {
        dprintf(out, "hangs in %s\n", call);
        close(out);
    }
    while (atomic_load(&cl_fault_now.kind) == CL_FAULT_HANG)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void count_call(const char *call)
{
    for (int i = 0; i < CL_FAULT_CALLS; i++) {
        const char *none = NULL;
        const char *is = atomic_load(&cl_fault_now.each[i].call);
        if (!is && atomic_compare_exchange_strong(&cl_fault_now.each[i].call, &none, call))
            is = call;
        if (is == call || none == call) {
            atomic_fetch_add(&cl_fault_now.each[i].n, 1);
            return;
        }
    }
}

_Noreturn static void die(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL); // threads that compute leave signals to others
    raise(number);
    abort();
}

// What somebody would try who has got into a driver: a line of the errors, 0 where it went well.
static void probe(void)
{
    const int out = open(report_to, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    int status = 0, error[3];
    error[0] = socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : 0;
    error[1] = socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? errno : 0;
    error[2] = syscall(SYS_io_uring_setup, 1, NULL) < 0 ? errno : 0;
    const pid_t child = fork();
    if (!child) {
        execl("/bin/true", "true", (char *) NULL);
        _exit(errno);
    }
    waitpid(child, &status, 0);
    dprintf(out, "probe exec=%d inet=%d unix=%d uring=%d\n", WEXITSTATUS(status), error[0],
            error[1], error[2]);
    close(out);
}

// The code with which the call fails; 0: it goes on to the driver.
static cl_int enter(const char *call)
{
    cl_fault *f = &cl_fault_now;
    const int kind = atomic_load(&f->kind);
    count_call(call);
    if (f->call[0] && strcmp(call, f->call) != 0)
        return CL_SUCCESS;
    const long n = atomic_fetch_add(&f->calls, 1) + 1, at = atomic_load(&f->at);
    if (!at || (kind == CL_FAULT_FOREVER ? n < at : n != at))
        return CL_SUCCESS;
    if (!atomic_fetch_add(&f->fired, 1))
        snprintf(f->hit, sizeof(f->hit), "%s", call);
    switch (kind) {
    case CL_FAULT_LATE: atomic_store(&is_late, !strncmp(call, "clEnqueue", 9)); return CL_SUCCESS;
    case CL_FAULT_HANG: hang(call); return CL_SUCCESS;
    case CL_FAULT_ABORT: die(atomic_load(&f->code) > 0 ? atomic_load(&f->code) : SIGABRT);
    case CL_FAULT_PROBE: probe(); return CL_SUCCESS;
    case CL_FAULT_NONE: return CL_SUCCESS;
    default: break;
    }
    return atomic_load(&f->code);
}

// The same of a command, at which the lack of memory shows that a driver has not looked for before.
static cl_int enter_command(const char *call)
{
    cl_fault *f = &cl_fault_now;
    const long long limit = atomic_load(&f->limit);
    if (limit && atomic_load(&f->is_lazy) && atomic_load(&f->bytes) > limit) {
        if (!atomic_fetch_add(&f->fired, 1))
            snprintf(f->hit, sizeof(f->hit), "%s", call);
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    }
    return enter(call);
}

static void count(const void *object, long by)
{
    if (object)
        atomic_fetch_add(&cl_fault_now.objects, by);
}

#define CALL(fn, params, args)                                                                     \
    static cl_int CL_API_CALL on_##fn params                                                       \
    {                                                                                              \
        const cl_int e = enter(#fn);                                                               \
        return e ? e : next.fn args;                                                               \
    }
// A command, with its event.
#define COMMAND(fn, params, args)                                                                  \
    static cl_int CL_API_CALL on_##fn params                                                       \
    {                                                                                              \
        cl_int e = enter_command(#fn);                                                             \
        if (!e && !(e = next.fn args) && event)                                                    \
            count(*event, 1);                                                                      \
        return e;                                                                                  \
    }
// What makes an object.
#define NEW(type, fn, params, args)                                                                \
    static type CL_API_CALL on_##fn params                                                         \
    {                                                                                              \
        const cl_int e = enter(#fn);                                                               \
        type made = e ? NULL : next.fn args;                                                       \
        if (e && code)                                                                             \
            *code = e;                                                                             \
        count(made, 1);                                                                            \
        return made;                                                                               \
    }
#define RELEASE(type, fn)                                                                          \
    static cl_int CL_API_CALL on_##fn(type x)                                                      \
    {                                                                                              \
        count(x, -1);                                                                              \
        return next.fn(x);                                                                         \
    }

// ---- buffers ------------------------------------------------------------------------------------

enum { PAGE = 4096, FENCE_BYTES = 128, MARK = 0xA5 };
typedef struct buffer {
    unsigned char *map, *begin, *end, *limit; // map NULL: no fence
    size_t map_bytes;
    long long bytes;
} buffer;

static unsigned char *fence(buffer *b, size_t size)
{
    const size_t body = (size + FENCE_BYTES - 1) / FENCE_BYTES * FENCE_BYTES;
    b->map_bytes = (body + PAGE - 1) / PAGE * PAGE + (size_t) 2 * PAGE;
    unsigned char *m =
        mmap(NULL, b->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED)
        return NULL;
    b->map = m;
    b->limit = m + b->map_bytes - PAGE;
    b->begin = b->limit - body;
    b->end = b->begin + size;
    memset(m, MARK, b->map_bytes);
    memset(b->begin, 0xFF, size); // NaN in every format of floats
    mprotect(m, PAGE, PROT_NONE);
    mprotect(b->limit, PAGE, PROT_NONE);
    return b->begin;
}

static void look_at_fence(const buffer *b)
{
    for (const unsigned char *p = b->map + PAGE; p < b->limit; p++)
        if (*p != MARK && (p < b->begin || p >= b->end)) {
            fprintf(stderr, "cl_layer: a buffer of %lld bytes was written at %td\n", b->bytes,
                    p - b->begin);
            atomic_fetch_add(&cl_fault_now.broken, 1);
            return;
        }
}

static void CL_CALLBACK buffer_gone(cl_mem m, void *priv)
{
    buffer *b = priv;
    (void) m;
    atomic_fetch_sub(&cl_fault_now.bytes, b->bytes);
    if (b->map) {
        look_at_fence(b);
        munmap(b->map, b->map_bytes);
    }
    free(b);
}

static cl_mem CL_API_CALL on_clCreateBuffer(cl_context ctx, cl_mem_flags flags, size_t size,
                                            void *host, cl_int *code)
{
    cl_fault *f = &cl_fault_now;
    cl_int e = enter("clCreateBuffer");
    const long long limit = atomic_load(&f->limit);
    if (!e && limit && !atomic_load(&f->is_lazy) &&
        atomic_load(&f->bytes) + (long long) size > limit) {
        if (!atomic_fetch_add(&f->fired, 1))
            snprintf(f->hit, sizeof(f->hit), "clCreateBuffer");
        e = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    }
    buffer *b = e ? NULL : calloc(1, sizeof(*b));
    if (!b) {
        if (code)
            *code = e ? e : CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    b->bytes = (long long) size;
    if (atomic_load(&f->is_fenced) && size && !host && (host = fence(b, size)))
        flags = (flags & ~(cl_mem_flags) CL_MEM_ALLOC_HOST_PTR) | CL_MEM_USE_HOST_PTR;
    cl_mem m = next.clCreateBuffer(ctx, flags, size, host, code);
    if (!m) {
        if (b->map)
            munmap(b->map, b->map_bytes);
        free(b);
        return NULL;
    }
    count(m, 1);
    atomic_fetch_add(&f->bytes, b->bytes);
    next.clSetMemObjectDestructorCallback(m, buffer_gone, b);
    return m;
}

// ---- the others ---------------------------------------------------------------------------------

#define WAITS cl_uint n, const cl_event *list, cl_event *event
CALL(clGetPlatformIDs, (cl_uint n, cl_platform_id *p, cl_uint *found), (n, p, found))
CALL(clGetPlatformInfo, (cl_platform_id p, cl_platform_info w, size_t s, void *o, size_t *u),
     (p, w, s, o, u))
CALL(clGetDeviceIDs,
     (cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id *d, cl_uint *found),
     (p, t, n, d, found))
CALL(clGetDeviceInfo, (cl_device_id d, cl_device_info w, size_t s, void *o, size_t *u),
     (d, w, s, o, u))
NEW(cl_context, clCreateContext,
    (const cl_context_properties *p, cl_uint n, const cl_device_id *d,
     void(CL_CALLBACK *tell)(const char *, const void *, size_t, void *), void *priv, cl_int *code),
    (p, n, d, tell, priv, code))
RELEASE(cl_context, clReleaseContext)
NEW(cl_command_queue, clCreateCommandQueue,
    (cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *code), (c, d, p, code))
RELEASE(cl_command_queue, clReleaseCommandQueue)
NEW(cl_mem, clCreateSubBuffer,
    (cl_mem m, cl_mem_flags flags, cl_buffer_create_type t, const void *how, cl_int *code),
    (m, flags, t, how, code))
RELEASE(cl_mem, clReleaseMemObject)
NEW(cl_program, clCreateProgramWithSource,
    (cl_context c, cl_uint n, const char **text, const size_t *bytes, cl_int *code),
    (c, n, text, bytes, code))
NEW(cl_program, clCreateProgramWithBinary,
    (cl_context c, cl_uint n, const cl_device_id *d, const size_t *bytes,
     const unsigned char **binary, cl_int *each, cl_int *code),
    (c, n, d, bytes, binary, each, code))
CALL(clBuildProgram,
     (cl_program p, cl_uint n, const cl_device_id *d, const char *options,
      void(CL_CALLBACK *tell)(cl_program, void *), void *priv),
     (p, n, d, options, tell, priv))
CALL(clGetProgramInfo, (cl_program p, cl_program_info w, size_t s, void *o, size_t *u),
     (p, w, s, o, u))
CALL(clGetProgramBuildInfo,
     (cl_program p, cl_device_id d, cl_program_build_info w, size_t s, void *o, size_t *u),
     (p, d, w, s, o, u))
RELEASE(cl_program, clReleaseProgram)
NEW(cl_kernel, clCreateKernel, (cl_program p, const char *name, cl_int *code), (p, name, code))
CALL(clSetKernelArg, (cl_kernel k, cl_uint i, size_t s, const void *v), (k, i, s, v))
CALL(clGetKernelInfo, (cl_kernel k, cl_kernel_info w, size_t s, void *o, size_t *u),
     (k, w, s, o, u))
CALL(clGetKernelWorkGroupInfo,
     (cl_kernel k, cl_device_id d, cl_kernel_work_group_info w, size_t s, void *o, size_t *u),
     (k, d, w, s, o, u))
RELEASE(cl_kernel, clReleaseKernel)
COMMAND(clEnqueueNDRangeKernel,
        (cl_command_queue q, cl_kernel k, cl_uint dims, const size_t *from, const size_t *global,
         const size_t *local, WAITS),
        (q, k, dims, from, global, local, n, list, event))
COMMAND(clEnqueueWriteBuffer,
        (cl_command_queue q, cl_mem m, cl_bool waits, size_t at, size_t bytes, const void *from,
         WAITS),
        (q, m, waits, at, bytes, from, n, list, event))
COMMAND(clEnqueueReadBuffer,
        (cl_command_queue q, cl_mem m, cl_bool waits, size_t at, size_t bytes, void *to, WAITS),
        (q, m, waits, at, bytes, to, n, list, event))
COMMAND(clEnqueueFillBuffer,
        (cl_command_queue q, cl_mem m, const void *what, size_t size, size_t at, size_t bytes,
         WAITS),
        (q, m, what, size, at, bytes, n, list, event))
COMMAND(clEnqueueUnmapMemObject, (cl_command_queue q, cl_mem m, void *at, WAITS),
        (q, m, at, n, list, event))
COMMAND(clEnqueueMarkerWithWaitList, (cl_command_queue q, WAITS), (q, n, list, event))
CALL(clGetEventProfilingInfo, (cl_event v, cl_profiling_info w, size_t s, void *o, size_t *u),
     (v, w, s, o, u))
RELEASE(cl_event, clReleaseEvent)
CALL(clFlush, (cl_command_queue q), (q))

static void *CL_API_CALL on_clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool waits,
                                               cl_map_flags flags, size_t at, size_t bytes, WAITS,
                                               cl_int *code)
{
    const cl_int e = enter_command("clEnqueueMapBuffer");
    if (e) {
        *code = e;
        return NULL;
    }
    void *p = next.clEnqueueMapBuffer(q, m, waits, flags, at, bytes, n, list, event, code);
    if (p && event)
        count(*event, 1);
    return p;
}

// Not one of the calls that are counted: how often it is asked depends on the time.
static cl_int CL_API_CALL on_clGetEventInfo(cl_event v, cl_event_info what, size_t size, void *out,
                                            size_t *used)
{
    const cl_int e = next.clGetEventInfo(v, what, size, out, used);
    if (!e && what == CL_EVENT_COMMAND_EXECUTION_STATUS && out && atomic_exchange(&is_late, 0))
        *(cl_int *) out = atomic_load(&cl_fault_now.code);
    return e;
}

static cl_int CL_API_CALL on_clWaitForEvents(cl_uint n, const cl_event *list)
{
    const cl_int e = enter("clWaitForEvents"), waited = e ? e : next.clWaitForEvents(n, list);
    return !waited && atomic_exchange(&is_late, 0) ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
                                                   : waited;
}

// ---- as a layer ---------------------------------------------------------------------------------

static void report(void)
{
    const cl_fault *f = &cl_fault_now;
    const int fd = open(report_to, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    dprintf(fd, "calls=%ld fired=%d objects=%ld bytes=%lld broken=%d hit=%s\n", f->calls, f->fired,
            f->objects, f->bytes, f->broken, f->hit);
    close(fd);
}

static void read_words(char *to, size_t size)
{
    const char *words = getenv("NINODES_CL_FAULT");
    snprintf(to, size, "%s", words ? words : "");
    if (*to != '@')
        return;
    const int in = open(to + 1, O_RDONLY | O_CLOEXEC);
    const ssize_t n = in >= 0 ? read(in, to, size - 1) : 0;
    to[n > 0 ? n : 0] = 0;
    to[strcspn(to, "\n")] = 0;
    if (in >= 0)
        close(in);
}

static void from_environment(void)
{
    static const char *const kinds[] = {
        "none", "once", "forever", "late", "hang", "abort", "probe"
    };
    cl_fault *f = &cl_fault_now;
    char text[700], *rest = text;
    read_words(text, sizeof(text));
    for (char *word; (word = strsep(&rest, " "));) {
        const char *value = strchr(word, '=') ? strchr(word, '=') + 1 : "";
        const long long n = atoll(value);
        for (int i = 0; i <= CL_FAULT_PROBE && !strncmp(word, "kind=", 5); i++)
            if (!strcmp(value, kinds[i]))
                f->kind = i;
        if (!strncmp(word, "at=", 3))
            f->at = (long) n;
        if (!strncmp(word, "code=", 5))
            f->code = (int) n;
        if (!strncmp(word, "call=", 5))
            snprintf(f->call, sizeof(f->call), "%s", value);
        if (!strncmp(word, "limit=", 6))
            f->limit = n;
        if (!strncmp(word, "lazy=", 5))
            f->is_lazy = (int) n;
        if (!strncmp(word, "fenced=", 7))
            f->is_fenced = (int) n;
        if (!strncmp(word, "report=", 7))
            snprintf(report_to, sizeof(report_to), "%s", value);
    }
    if (report_to[0])
        atexit(report);
}

SEEN cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void *out, size_t *used)
{
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    static const char name[] = "faults";
    const void *v = what == CL_LAYER_NAME ? (const void *) name : &version;
    const size_t n = what == CL_LAYER_NAME ? sizeof(name) : sizeof(version);
    if ((what != CL_LAYER_NAME && what != CL_LAYER_API_VERSION) || (out && size < n))
        return CL_INVALID_VALUE;
    if (out)
        memcpy(out, v, n);
    if (used)
        *used = n;
    return CL_SUCCESS;
}

SEEN cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch *target, cl_uint *used,
                                    const cl_icd_dispatch **layer)
{
    const cl_uint all = sizeof(ours) / sizeof(void *), have = entries < all ? entries : all;
    if (!target || !used || !layer)
        return CL_INVALID_VALUE;
    memcpy(&next, target, have * sizeof(next.clFlush));
    from_environment();
#define OURS(fn) ours.fn = on_##fn
    OURS(clGetPlatformIDs);
    OURS(clGetPlatformInfo);
    OURS(clGetDeviceIDs);
    OURS(clGetDeviceInfo);
    OURS(clCreateContext);
    OURS(clReleaseContext);
    OURS(clCreateCommandQueue);
    OURS(clReleaseCommandQueue);
    OURS(clCreateBuffer);
    OURS(clCreateSubBuffer);
    OURS(clReleaseMemObject);
    OURS(clCreateProgramWithSource);
    OURS(clCreateProgramWithBinary);
    OURS(clBuildProgram);
    OURS(clGetProgramInfo);
    OURS(clGetProgramBuildInfo);
    OURS(clReleaseProgram);
    OURS(clCreateKernel);
    OURS(clSetKernelArg);
    OURS(clGetKernelInfo);
    OURS(clGetKernelWorkGroupInfo);
    OURS(clReleaseKernel);
    OURS(clEnqueueNDRangeKernel);
    OURS(clEnqueueWriteBuffer);
    OURS(clEnqueueReadBuffer);
    OURS(clEnqueueFillBuffer);
    OURS(clEnqueueMapBuffer);
    OURS(clEnqueueUnmapMemObject);
    OURS(clEnqueueMarkerWithWaitList);
    OURS(clWaitForEvents);
    OURS(clGetEventInfo);
    OURS(clGetEventProfilingInfo);
    OURS(clReleaseEvent);
    OURS(clFlush);
    *used = have;
    *layer = &ours;
    return CL_SUCCESS;
}
