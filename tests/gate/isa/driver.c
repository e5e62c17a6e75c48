// libOpenCL.so.1 whose only device is an interpreted gfx1151: programs that are loaded instead of a driver's
// loader (LD_LIBRARY_PATH) run their kernels as AMD's driver would be given them, code objects and all, and need not
// know. Commands are done when they are enqueued. What a kernel does wrong fails its launch with a line on stderr.
//
//   NINODES_ISA_COMPILER  compiles sources: called with SOURCE OBJECT OPTIONS...; none: only code objects
//   NINODES_ISA_REPORT    what has been executed is added to this file at the end (report.c)
#include "tests/gate/isa/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

struct _cl_context {
    int n;
};
struct _cl_command_queue {
    int n;
};
struct _cl_mem {
    uint8_t *data;
    size_t bytes;
    bool is_part; // of another one
};
struct _cl_program {
    isa_program code;
    char *source, *options, log[2000];
    uint8_t *object;
    size_t bytes;
    bool is_built, is_given; // as a code object
};
struct _cl_kernel {
    cl_program program;
    const isa_kernel *code;
    uint8_t *kernarg;
    uint64_t n_set; // a bit an argument
};
struct _cl_event {
    cl_ulong begin, end;
};

static isa_range ranges[4096]; // of buffers, by address
static size_t n_ranges;

static void *give(void *object, cl_int *e)
{
    if (e)
        *e = object ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    return object;
}

static cl_ulong now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (cl_ulong) t.tv_sec * 1000000000u + (cl_ulong) t.tv_nsec;
}

// ---- contexts, queues, events ----------------------------------------------------------------
cl_context clCreateContext(const cl_context_properties *properties, cl_uint n,
                           const cl_device_id *devices,
                           void (*notify)(const char *, const void *, size_t, void *), void *user,
                           cl_int *e)
{
    (void) properties;
    (void) n;
    (void) devices;
    (void) notify;
    (void) user;
    return give(calloc(1, sizeof(struct _cl_context)), e);
}
cl_int clReleaseContext(cl_context c)
{
    free(c);
    return CL_SUCCESS;
}
cl_command_queue clCreateCommandQueue(cl_context c, cl_device_id d,
                                      cl_command_queue_properties properties, cl_int *e)
{
    (void) c;
    (void) d;
    (void) properties;
    return give(calloc(1, sizeof(struct _cl_command_queue)), e);
}
cl_int clReleaseCommandQueue(cl_command_queue q)
{
    free(q);
    return CL_SUCCESS;
}
cl_int clFlush(cl_command_queue q) { return q ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE; }

static cl_int done(cl_event *event, cl_ulong begin)
{
    if (event && (*event = calloc(1, sizeof(**event))))
        **event = (struct _cl_event){ begin, now() };
    return event && !*event ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
}
cl_int clEnqueueMarkerWithWaitList(cl_command_queue q, cl_uint n, const cl_event *list,
                                   cl_event *event)
{
    (void) q;
    (void) n;
    (void) list;
    return done(event, now());
}
cl_int clWaitForEvents(cl_uint n, const cl_event *list)
{
    return n && list ? CL_SUCCESS : CL_INVALID_VALUE;
}
cl_int clReleaseEvent(cl_event event)
{
    free(event);
    return CL_SUCCESS;
}
cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t size, void *value, size_t *needed)
{
    const cl_int complete = CL_COMPLETE;
    (void) event;
    return what == CL_EVENT_COMMAND_EXECUTION_STATUS
               ? isa_answer(&complete, sizeof(complete), size, value, needed)
               : CL_INVALID_VALUE;
}
cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void *value,
                               size_t *needed)
{
    return isa_answer(what == CL_PROFILING_COMMAND_END ? &event->end : &event->begin,
                      sizeof(event->end), size, value, needed);
}

// ---- memory ----------------------------------------------------------------------------------
static void range_add(const struct _cl_mem *m)
{
    size_t at = n_ranges++;
    for (; at && ranges[at - 1].at > (uint64_t) (uintptr_t) m->data; at--)
        ranges[at] = ranges[at - 1];
    ranges[at] = (isa_range){ (uint64_t) (uintptr_t) m->data, m->bytes, false };
}
static void range_drop(const struct _cl_mem *m)
{
    size_t at = 0;
    while (at < n_ranges && ranges[at].at != (uint64_t) (uintptr_t) m->data)
        at++;
    if (at < n_ranges)
        memmove(&ranges[at], &ranges[at + 1], (--n_ranges - at) * sizeof(*ranges));
}

cl_mem clCreateBuffer(cl_context c, cl_mem_flags flags, size_t bytes, void *host, cl_int *e)
{
    struct _cl_mem *m = calloc(1, sizeof(*m));
    (void) c;
    (void) flags;
    if (!m || host || n_ranges == sizeof(ranges) / sizeof(*ranges)) {
        free(m);
        return give(NULL, e);
    }
    m->bytes = bytes;
    m->data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (m->data == MAP_FAILED) {
        free(m);
        return give(NULL, e);
    }
    range_add(m);
    return give(m, e);
}
cl_mem clCreateSubBuffer(cl_mem of, cl_mem_flags flags, cl_buffer_create_type type,
                         const void *info, cl_int *e)
{
    const cl_buffer_region *r = info;
    struct _cl_mem *m = calloc(1, sizeof(*m));
    (void) flags;
    (void) type;
    if (m)
        *m = (struct _cl_mem){ of->data + r->origin, r->size, true };
    return give(m, e);
}
cl_int clReleaseMemObject(cl_mem m)
{
    if (!m->is_part) {
        range_drop(m);
        munmap(m->data, m->bytes);
    }
    free(m);
    return CL_SUCCESS;
}

static bool is_within(const struct _cl_mem *m, size_t at, size_t bytes)
{
    return at <= m->bytes && bytes <= m->bytes - at;
}
cl_int clEnqueueWriteBuffer(cl_command_queue q, cl_mem m, cl_bool waits, size_t at, size_t bytes,
                            const void *from, cl_uint n, const cl_event *list, cl_event *event)
{
    const cl_ulong begin = now();
    (void) q;
    (void) waits;
    (void) n;
    (void) list;
    if (!is_within(m, at, bytes))
        return CL_INVALID_VALUE;
    memcpy(m->data + at, from, bytes);
    return done(event, begin);
}
cl_int clEnqueueReadBuffer(cl_command_queue q, cl_mem m, cl_bool waits, size_t at, size_t bytes,
                           void *to, cl_uint n, const cl_event *list, cl_event *event)
{
    const cl_ulong begin = now();
    (void) q;
    (void) waits;
    (void) n;
    (void) list;
    if (!is_within(m, at, bytes))
        return CL_INVALID_VALUE;
    memcpy(to, m->data + at, bytes);
    return done(event, begin);
}
cl_int clEnqueueFillBuffer(cl_command_queue q, cl_mem m, const void *pattern, size_t unit,
                           size_t at, size_t bytes, cl_uint n, const cl_event *list,
                           cl_event *event)
{
    const cl_ulong begin = now();
    const uint8_t zero[128] = { 0 };
    (void) q;
    (void) n;
    (void) list;
    if (!is_within(m, at, bytes) || !unit || unit > sizeof(zero) || bytes % unit)
        return CL_INVALID_VALUE;
    // New pages are zeros: an arena that nobody has used costs nothing.
    if (!memcmp(pattern, zero, unit) && !at && bytes == m->bytes && !m->is_part)
        madvise(m->data, bytes, MADV_DONTNEED);
    else
        for (size_t i = 0; i < bytes; i += unit)
            memcpy(m->data + at + i, pattern, unit);
    return done(event, begin);
}
void *clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool waits, cl_map_flags flags, size_t at,
                         size_t bytes, cl_uint n, const cl_event *list, cl_event *event, cl_int *e)
{
    (void) q;
    (void) waits;
    (void) flags;
    (void) n;
    (void) list;
    done(event, now());
    return give(is_within(m, at, bytes) ? m->data + at : NULL, e);
}
cl_int clEnqueueUnmapMemObject(cl_command_queue q, cl_mem m, void *p, cl_uint n,
                               const cl_event *list, cl_event *event)
{
    (void) q;
    (void) m;
    (void) p;
    (void) n;
    (void) list;
    return done(event, now());
}

// ---- programs --------------------------------------------------------------------------------
cl_program clCreateProgramWithSource(cl_context c, cl_uint n, const char **parts,
                                     const size_t *lengths, cl_int *e)
{
    struct _cl_program *p = calloc(1, sizeof(*p));
    size_t bytes = 1;
    (void) c;
    for (cl_uint i = 0; i < n; i++)
        bytes += lengths && lengths[i] ? lengths[i] : strlen(parts[i]);
    if (!p || !(p->source = calloc(1, bytes))) {
        free(p);
        return give(NULL, e);
    }
    for (cl_uint i = 0; i < n; i++)
        strncat(p->source, parts[i], lengths && lengths[i] ? lengths[i] : strlen(parts[i]));
    return give(p, e);
}
cl_program clCreateProgramWithBinary(cl_context c, cl_uint n, const cl_device_id *devices,
                                     const size_t *bytes, const unsigned char **objects,
                                     cl_int *status, cl_int *e)
{
    struct _cl_program *p = calloc(1, sizeof(*p));
    (void) c;
    (void) devices;
    if (!p || n != 1 || !(p->object = malloc(*bytes + 1))) {
        free(p);
        return give(NULL, e);
    }
    memcpy(p->object, *objects, p->bytes = *bytes);
    p->is_given = true;
    if (status)
        *status = CL_SUCCESS;
    return give(p, e);
}

static cl_int load(struct _cl_program *p, const char *options)
{
    char err[400];
    if (p->is_built)
        return CL_SUCCESS;
    p->is_built = isa_program_load(&p->code, p->object, p->bytes, err);
    if (!p->is_built)
        snprintf(p->log, sizeof(p->log), "%s", err);
    p->options = strdup(options ? options : "");
    return p->is_built ? CL_SUCCESS : CL_INVALID_BINARY;
}
cl_int clBuildProgram(cl_program p, cl_uint n, const cl_device_id *devices, const char *options,
                      void (*notify)(cl_program, void *), void *user)
{
    (void) n;
    (void) devices;
    (void) notify;
    (void) user;
    if (!p->object &&
        !isa_compile(p->source, options, &p->object, &p->bytes, p->log, sizeof(p->log)))
        return CL_BUILD_PROGRAM_FAILURE;
    return load(p, options);
}
cl_int clGetProgramInfo(cl_program p, cl_program_info what, size_t size, void *value,
                        size_t *needed)
{
    if (what == CL_PROGRAM_BINARY_SIZES)
        return isa_answer(&p->bytes, sizeof(p->bytes), size, value, needed);
    if (what != CL_PROGRAM_BINARIES || size < sizeof(void *))
        return CL_INVALID_VALUE;
    memcpy(*(void **) value, p->object, p->bytes);
    return CL_SUCCESS;
}
cl_int clGetProgramBuildInfo(cl_program p, cl_device_id d, cl_program_build_info what, size_t size,
                             void *value, size_t *needed)
{
    (void) d;
    return what == CL_PROGRAM_BUILD_LOG
               ? isa_answer(p->log, strlen(p->log) + 1, size, value, needed)
               : CL_INVALID_VALUE;
}
cl_int clReleaseProgram(cl_program p)
{
    if (p->is_built) {
        isa_report_program(&p->code, p->options);
        isa_program_release(&p->code);
    }
    free(p->source);
    free(p->options);
    free(p->object);
    free(p);
    return CL_SUCCESS;
}

// ---- kernels ---------------------------------------------------------------------------------
cl_kernel clCreateKernel(cl_program p, const char *name, cl_int *e)
{
    struct _cl_kernel *k = calloc(1, sizeof(*k));
    const isa_kernel *code = p->is_built ? isa_kernel_find(&p->code, name) : NULL;
    if (!k || !code || !(k->kernarg = calloc(1, code->kernarg_bytes + 1))) {
        free(k);
        give(NULL, e);
        if (e && !code)
            *e = CL_INVALID_KERNEL_NAME;
        return NULL;
    }
    k->program = p;
    k->code = code;
    return give(k, e);
}
cl_int clReleaseKernel(cl_kernel k)
{
    free(k->kernarg);
    free(k);
    return CL_SUCCESS;
}
cl_int clGetKernelInfo(cl_kernel k, cl_kernel_info what, size_t size, void *value, size_t *needed)
{
    const cl_uint n = (cl_uint) k->code->n_explicit;
    return what == CL_KERNEL_NUM_ARGS ? isa_answer(&n, sizeof(n), size, value, needed)
                                      : CL_INVALID_VALUE;
}
cl_int clGetKernelWorkGroupInfo(cl_kernel k, cl_device_id d, cl_kernel_work_group_info what,
                                size_t size, void *value, size_t *needed)
{
    const cl_ulong local = k->code->lds_bytes, own = k->code->scratch_bytes;
    const size_t most = k->code->most_items, multiple = ISA_LANES,
                 required[3] = { k->code->required[0], k->code->required[1], k->code->required[2] };
    (void) d;
    switch (what) {
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
        return isa_answer(required, sizeof(required), size, value, needed);
    case CL_KERNEL_LOCAL_MEM_SIZE: return isa_answer(&local, sizeof(local), size, value, needed);
    case CL_KERNEL_PRIVATE_MEM_SIZE: return isa_answer(&own, sizeof(own), size, value, needed);
    case CL_KERNEL_WORK_GROUP_SIZE: return isa_answer(&most, sizeof(most), size, value, needed);
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        return isa_answer(&multiple, sizeof(multiple), size, value, needed);
    }
    return CL_INVALID_VALUE;
}
cl_int clSetKernelArg(cl_kernel k, cl_uint i, size_t size, const void *value)
{
    if (i >= (cl_uint) k->code->n_explicit || i >= 64)
        return CL_INVALID_ARG_INDEX;
    const isa_arg *a = &k->code->args[i];
    if (size != a->size || !value || a->offset + size > k->code->kernarg_bytes)
        return CL_INVALID_ARG_SIZE;
    memcpy(k->kernarg + a->offset, value, size);
    if (!strcmp(a->kind, "global_buffer")) {
        const cl_mem m = *(const cl_mem *) value;
        const uint64_t at = m ? (uint64_t) (uintptr_t) m->data : 0;
        memcpy(k->kernarg + a->offset, &at, sizeof(at));
    } else if (strcmp(a->kind, "by_value") != 0) {
        return CL_INVALID_ARG_VALUE;
    }
    k->n_set |= 1ull << i;
    return CL_SUCCESS;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dims, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint n,
                              const cl_event *list, cl_event *event)
{
    const cl_ulong begin = now();
    isa_launch l = { .program = &k->program->code,
                     .kernel = k->code,
                     .kernarg = k->kernarg,
                     .global = { 1, 1, 1 },
                     .local = { 1, 1, 1 },
                     .dims = (int) dims,
                     .ranges = ranges,
                     .n_ranges = n_ranges };
    char err[400];
    (void) q;
    (void) n;
    (void) list;
    if (offset || dims > 3)
        return CL_INVALID_GLOBAL_OFFSET;
    if (k->n_set + 1 != 1ull << k->code->n_explicit)
        return CL_INVALID_KERNEL_ARGS;
    for (cl_uint i = 0; i < dims; i++) {
        l.global[i] = (uint32_t) global[i];
        l.local[i] = local ? (uint32_t) local[i] : k->code->required[i] ? k->code->required[i] : 1;
    }
    const uint64_t before = isa_n_insns;
    const bool ok = isa_launch_run(&l, err);
    isa_report_launch(k->code->name, k->program->options, k->program->is_given,
                      isa_n_insns - before, ok ? NULL : err);
    return ok ? done(event, begin) : CL_INVALID_OPERATION;
}
