// Every kind of OpenCL call fails in whole workflows, once, for good, or after it was taken; memory
// is short when a buffer is made or first used; buffers are full of NaNs and fenced. Each run ends
// with the bits of a run without faults or with an error that names the node and what failed,
// leaves no object of OpenCL, no descriptor and no thread, and the next run has the same bits. An
// argument names the one workflow to try.
#include "cl/runtime.h"
#include "core/run/context.h"
#include "tests/fault/flows.h"
#include "tests/fault/tool/cl_layer.h"

#include <dirent.h>
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <sys/wait.h>
#include <time.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

static cl_fault *fault_now;
static bool is_long;
static int n_points, n_memory; // how many places of each call, and limits of memory, are tried
static nino_error err;
static char now[300]; // what is being tried, said when a check fails
static int n_fenced;
static long n_same, n_refused; // of all faults: done with the same bits, refused cleanly

static void tell_now(void)
{
    if (now[0])
        fprintf(stderr, "%s; %s: %s\n", now, err.where, err.msg);
}

static int count_in(const char *folder)
{
    int n = 0;
    DIR *d = opendir(folder);
    CHECK(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

// A cache of our own in which the programs of the workflows are binaries, as after anybody's first runs: a run
// that has to ask the driver's compiler for each takes four times as long.
static void keep_programs(void)
{
    char cmd[9000], caches[4096];
    CHECK(nino_cache_dir(NULL, caches, sizeof(caches)));
    snprintf(cmd, sizeof(cmd),
             "umask 077 && mkdir -p %s/kept/kernels && "
             "find '%s/kernels' -size +1k -exec cp -a -t %s/kept/kernels {} +",
             flow_temp(), caches, flow_temp());
    nino_ctx *ctx = flows_open("cl", 0, &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    nino_backend *be = nino_ctx_backend(ctx);
    for (int i = 0; i < FLOWS; i++) {
        nino_graph *g = flows_graph(i, &err);
        nino_plan p = { .fits = false };
        CHECK(g);
        CHECK_OK(nino_graph_plan(ctx, g, NULL, flows_options(), &p, &err), err);
        for (size_t k = 0; k < p.n_programs; k++) {
            const nino_plan_program *one = &p.programs[k];
            if (nino_cl_program_near((nino_cl *) be, one->file, one->options) == NINO_CL_HERE)
                continue;
            CHECK_OK(nino_cl_program_compile(be, one, &err), err);
            nino_cl_program_compile(be, one, &err); // keeps it, if no other process is at that
        }
        nino_plan_release(&p);
        nino_graph_destroy(&g);
    }
    nino_ctx_destroy(&ctx);
    CHECK(system(cmd) == 0);
}

// As keep_programs() has left it: a binary that could not be loaded is compiled anew.
static void restore_programs(void)
{
    static char cache[200];
    char cmd[700];
    snprintf(cache, sizeof(cache), "%s/cache", flow_temp());
    snprintf(cmd, sizeof(cmd), "rm -rf %s && cp -a %s/kept %s", cache, flow_temp(), cache);
    CHECK(system(cmd) == 0);
    flows_cache = cache;
}

// ---- one run with a fault ----------------------------------------------------------------------

typedef struct result {
    nino_status st;
    uint64_t made;
    bool is_open; // the fault let the context be opened
} result;

typedef struct flow_case {
    int flow;
    uint64_t expected;
    int files, threads; // of a process with nothing open
} flow_case;

static void set_fault(cl_fault_kind kind, long at, int code, const char *call)
{
    atomic_store(&fault_now->kind, CL_FAULT_NONE);
    atomic_store(&fault_now->at, at);
    atomic_store(&fault_now->code, code);
    atomic_store(&fault_now->calls, 0);
    atomic_store(&fault_now->fired, 0);
    snprintf(fault_now->call, sizeof(fault_now->call), "%s", call);
    atomic_store(&fault_now->kind, kind);
}

static void no_fault(void)
{
    atomic_store(&fault_now->limit, 0);
    atomic_store(&fault_now->kind, CL_FAULT_NONE);
}

// An error must say where and what, in a line.
static void check_error(const result *r)
{
    CHECK(r->st == err.code && !r->made);
    CHECK(r->st == NINO_ERR_NOMEM || r->st == NINO_ERR_DEVICE || r->st == NINO_ERR_UNKNOWN);
    CHECK(err.msg[0] && !strchr(err.msg, '\n') && !strchr(err.where, '\n'));
    if (r->is_open) // a node by its number, then the device or its memory
        CHECK(err.where[0] >= '0' && err.where[0] <= '9');
    CHECK(strstr(err.msg, "CL_") || strstr(err.msg, "OpenCL error") ||
          strstr(err.msg, "clCreate") || strstr(err.msg, "lost"));
}

// Opens, runs, and runs again with the fault over; nothing may be left.
static result run_case(const flow_case *c, uint64_t mem_limit)
{
    result r = { 0 };
    err = (nino_error){ 0 };
    nino_ctx *ctx = flows_open("cl", mem_limit, &err);
    nino_graph *g = flows_graph(c->flow, &err);
    CHECK(g);
    r.is_open = ctx != NULL;
    r.st = ctx ? flows_run(ctx, g, &r.made, &err) : err.code;
    const bool is_lost = err.kind && !strcmp(err.kind, "lost");
    no_fault();
    if (r.st)
        check_error(&r);
    else if (c->expected)
        CHECK(r.made == c->expected);
    if (is_lost || !ctx) { // it stays lost until it is opened again
        nino_ctx_destroy(&ctx);
        CHECK(ctx = flows_open("cl", 0, &err));
    }
    if (c->expected) {
        uint64_t made;
        CHECK_OK(flows_run(ctx, g, &made, &err), err);
        CHECK(made == c->expected);
    }
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
    CHECK(atomic_load(&fault_now->objects) == 0);
    // A buffer whose unmapping failed is the driver's to keep.
    if (!strcmp(fault_now->hit, "clEnqueueUnmapMemObject"))
        atomic_store(&fault_now->bytes, 0);
    // The driver gives buffers up when its threads have let go of them.
    for (int ms = 0; atomic_load(&fault_now->bytes) && ms < 20000; ms++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    CHECK(atomic_load(&fault_now->bytes) == 0);
    if (c->files) {
        CHECK(count_in("/proc/self/fd") == c->files);
        CHECK(count_in("/proc/self/task") <= c->threads);
    }
    if (atomic_load(&fault_now->fired))
        *(r.st ? &n_refused : &n_same) += 1;
    return r;
}

// ---- what is tried ------------------------------------------------------------------------------

static const char *const calls[] = {
    "clCreateContext",
    "clCreateCommandQueue",
    "clCreateBuffer",
    "clCreateSubBuffer",
    "clCreateProgramWithSource",
    "clGetProgramInfo",
    "clCreateKernel",
    "clSetKernelArg",
    "clGetKernelWorkGroupInfo",
    "clEnqueueNDRangeKernel",
    "clEnqueueWriteBuffer",
    "clEnqueueReadBuffer",
    "clEnqueueFillBuffer",
    "clEnqueueMapBuffer",
    "clEnqueueUnmapMemObject",
    "clEnqueueMarkerWithWaitList",
    "clWaitForEvents",
    "clGetEventProfilingInfo",
    "clFlush",
    "clGetDeviceInfo",
    "clGetKernelInfo",
    "clCreateProgramWithBinary", // binaries that it refused, or that were not built, are not kept
    "clBuildProgram",
};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

static const struct {
    cl_fault_kind kind;
    int code;
    const char *name;
    bool commands_only;
} ways[] = {
    { CL_FAULT_ONCE, CL_OUT_OF_RESOURCES, "once", false },
    { CL_FAULT_FOREVER, CL_INVALID_COMMAND_QUEUE, "for good", false },
    { CL_FAULT_LATE, CL_OUT_OF_RESOURCES, "late", true },
    { CL_FAULT_ONCE, CL_MEM_OBJECT_ALLOCATION_FAILURE, "memory, once", false },
    { CL_FAULT_FOREVER, -9999, "unlisted, for good", false },
    { CL_FAULT_LATE, CL_INVALID_COMMAND_QUEUE, "lost, late", true },
};
enum { SHORT_WAYS = 3, WAYS = sizeof(ways) / sizeof(ways[0]) };

// The number of point i of n among calls 1..all: the first ones, then evenly to the last.
static long point(int i, int n, long all)
{
    return i < 2 || all <= n ? i + 1 : 2 + (all - 2) * (i - 1) / (n - 2);
}

static long calls_of(const char *call)
{
    for (int i = 0; i < CL_FAULT_CALLS && atomic_load(&fault_now->each[i].call); i++)
        if (!strcmp(atomic_load(&fault_now->each[i].call), call))
            return atomic_load(&fault_now->each[i].n);
    return 0;
}

// One call in one way at several places of the run.
static void sweep_call(const flow_case *c, const char *call, int way, long all)
{
    for (int i = 0; i < n_points && i < all; i++) {
        const long at = is_long ? point(i, n_points, all) : 1 + all / 2;
        snprintf(now, sizeof(now), "%s: %s number %ld of %ld fails %s", flow_names[c->flow], call,
                 at, all, ways[way].name);
        set_fault(ways[way].kind, at, ways[way].code, call);
        run_case(c, 0);
    }
}

static void sweep_calls(const flow_case *c)
{
    long all[CALLS];
    for (int k = 0; k < CALLS; k++)
        all[k] = calls_of(calls[k]);
    run_case(&(flow_case){ .flow = c->flow }, 0);
    for (int k = 0; k < CALLS; k++)
        all[k] = calls_of(calls[k]) - all[k];
    for (int k = 0; k < CALLS; k++)
        for (int w = 0; w < (is_long ? WAYS : SHORT_WAYS); w++) {
            if (ways[w].commands_only && strncmp(calls[k], "clEnqueue", 9) != 0)
                continue;
            // A commit: half of them in one way each.
            if (is_long || (k % 2 && w == k / 2 % SHORT_WAYS))
                sweep_call(c, calls[k], w, all[k]);
        }
}

// Less and less memory than a run takes, noticed when a buffer is made or when it is used.
static void sweep_memory(const flow_case *c)
{
    long long most = 0;
    err = (nino_error){ 0 };
    nino_ctx *ctx = flows_open("cl", 0, &err);
    nino_graph *g = flows_graph(c->flow, &err);
    uint64_t made;
    CHECK(ctx && g && !flows_run(ctx, g, &made, &err));
    most = atomic_load(&fault_now->bytes); // kept by the pool
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
    for (int lazy = 0; lazy < 2; lazy++)
        for (int i = 0; i < n_memory; i++) {
            snprintf(now, sizeof(now), "%s: memory for %lld of %lld bytes, %s", flow_names[c->flow],
                     most * (i + 1) / (n_memory + 1), most, lazy ? "when used" : "when made");
            set_fault(CL_FAULT_NONE, 0, 0, "");
            atomic_store(&fault_now->is_lazy, lazy);
            atomic_store(&fault_now->limit, most * (i + 1) / (n_memory + 1));
            run_case(c, 0);
        }
    atomic_store(&fault_now->is_lazy, 0);
}

// Buffers full of NaNs between fences: the values are the same, and nothing is written outside. In
// a process of its own, which a read beyond a fence ends.
static void sweep_fences(const flow_case *c)
{
    int status;
    snprintf(now, sizeof(now), "%s: fenced buffers", flow_names[c->flow]);
    fflush(stdout);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        char flow[8], expected[24];
        snprintf(flow, sizeof(flow), "%d", c->flow);
        snprintf(expected, sizeof(expected), "%llu", (unsigned long long) c->expected);
        setenv("NINODES_DEBUG", "mem", 1); // a buffer for every tensor
        setenv("NINODES_CL_FAULT", "fenced=1", 1);
        execl("/proc/self/exe", program_invocation_short_name, flow, expected, (char *) NULL);
        _exit(127);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    n_fenced++;
}

static int run_fenced(char **argv)
{
    const flow_case c = { atoi(argv[1]), strtoull(argv[2], NULL, 10), 0, 0 };
    snprintf(now, sizeof(now), "%s with fences", flow_names[c.flow]);
    flows_prepare();
    run_case(&c, 0);
    CHECK(atomic_load(&fault_now->broken) == 0);
    flow_clean();
    now[0] = 0;
    return 0;
}

static void sweep(int flow)
{
    flow_case c = { .flow = flow };
    const long same = n_same, refused = n_refused;
    // The first workflow densely: the others make the same calls in other places.
    n_points = !is_long ? 1 : flow ? 3 : 6;
    n_memory = !is_long ? 1 : flow ? 4 : 12;
    set_fault(CL_FAULT_NONE, 0, 0, "");
    snprintf(now, sizeof(now), "%s without faults", flow_names[flow]);
    result r = run_case(&c, 0); // starts what stays for good: threads of PoCL
    CHECK_OK(r.st, err);
    c.expected = r.made;
    run_case(&c, 0);
    c.files = count_in("/proc/self/fd");
    c.threads = count_in("/proc/self/task");
    sweep_memory(&c);
    sweep_calls(&c);
    sweep_fences(&c);
    printf("  %s: %ld faults: %ld times the same bits, %ld times a clean error\n", flow_names[flow],
           n_same + n_refused - same - refused, n_same - same, n_refused - refused);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static char layer[PATH_MAX + 32], sources[200];
    char exe[PATH_MAX] = "";
    const char *text = getenv("NINODES_TEST_LONG");
    is_long = text && *text;
    CHECK(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
    snprintf(layer, sizeof(layer), "%s/tool/cl_layer.so", dirname(exe));
    snprintf(sources, sizeof(sources), "%s/sources", flow_temp());
    if (!flows_are_here())
        return test_skip("the models of the project are not here");
    setenv("OPENCL_LAYERS", layer, 1);
    setenv("NINODES_HELPERS", "0", 1);
    void *lib = dlopen(layer, RTLD_NOW);
    nino_device_info none;
    if (!lib)
        return test_skip("the layer was not built");
    CHECK(fault_now = dlsym(lib, "cl_fault_now"));
    nino_ctx *ctx = flow_open("cl", NULL);
    if (!ctx)
        return test_skip("no OpenCL device");
    nino_ctx_device(ctx, &none);
    nino_ctx_destroy(&ctx);
    if (!atomic_load(&fault_now->calls))
        return test_skip("this OpenCL loader knows no layers");
    atexit(tell_now);
    if (argc == 3)
        return run_fenced(argv);
    flows_prepare();
    if (is_long)
        keep_programs();
    for (int i = 0; i < (is_long ? FLOWS : 1); i++) {
        flows_cache = is_long ? sources : NULL; // the first one has its programs from their sources
        if (is_long && i)
            restore_programs();
        if (argc < 2 || !strcmp(argv[1], flow_names[i]))
            sweep(i);
    }
    now[0] = 0;
    figure_add("OpenCL calls that fail in whole workflows", "each clean, none wrong", true,
               "%ld faults: %ld times the same bits, %ld times a clean error", n_same + n_refused,
               n_same, n_refused);
    figure_add("workflows with fenced buffers", "the same bits, nothing written outside", true,
               "%d workflows", n_fenced);
    flow_clean();
    return 0;
}
