// Finding devices: one enumeration per process, and what each can do.
#include "cl/cl_schedule.h"
#include "cl/runtime.h"

#include "core/base/vars.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICES = 16 };
static nino_cl_device devices[MAX_DEVICES];
static size_t n_devices;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// Bytes of a line of /proc/meminfo; 0: absent.
static uint64_t cl_device_meminfo(const char *key)
{
    FILE *f = fopen("/proc/meminfo", "re");
    if (!f)
        return 0;
    char line[256];
    unsigned long long v = 0;
    while (fgets(line, sizeof(line), f))
        if (!strncmp(line, key, strlen(key))) {
            v = strtoull(line + strlen(key), NULL, 10);
            break;
        }
    fclose(f);
    return v * 1024;
}

// What the driver does not tell is never guessed: a CPU taken for a GPU would get other kernels. The
// first query that fails is the device's problem, by name.
static bool has_told(nino_cl_device *d, const char *query, cl_int e)
{
    if (e && !d->info.problem[0])
        snprintf(d->info.problem, sizeof(d->info.problem), "%s fails: %s (%d)", query,
                 nino_ocl_error_name(e), e);
    return !e;
}

static char answer[16384]; // of the one thread that enumerates

// out: an array; cut where it does not fit.
#define TAKE_TEXT(d, query, call, of, what, out)                                                   \
    do {                                                                                           \
        const cl_int e_ = OCL(call, of, what, sizeof(answer) - 1, answer, NULL);                   \
        snprintf(out, sizeof(out), "%.*s", (int) sizeof(out) - 1,                                  \
                 has_told(d, query, e_) ? answer : "");                                            \
    } while (0)
#define cl_device_text(d, what, out)                                                               \
    TAKE_TEXT(d, "clGetDeviceInfo(" #what ")", clGetDeviceInfo, (d)->id, what, out)
#define cl_platform_text(d, what, out)                                                             \
    TAKE_TEXT(d, "clGetPlatformInfo(" #what ")", clGetPlatformInfo, (d)->platform, what, out)

#define cl_device_number(d, what, type)                                                            \
    take_number(d, what, "clGetDeviceInfo(" #what ")", sizeof(type))
static uint64_t take_number(nino_cl_device *d, cl_device_info what, const char *query, size_t size)
{
    uint64_t v = 0; // little-endian hosts only, which is all that OpenCL has here
    return has_told(d, query, OCL(clGetDeviceInfo, d->id, what, size, &v, NULL)) ? v : 0;
}

static bool has_extension(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *p = list; (p = strstr(p, name)); p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == 0))
            return true;
    return false;
}

// f32 multiply-adds of a compute unit in a clock. OpenCL does not ask for it: AMD's driver tells in
// an extension, else it is the maker's usual number.
static unsigned lanes_of(const nino_cl_device *d, const char *extensions)
{
    enum { AMD_SIMDS = 0x4040, AMD_SIMD_WIDTH = 0x4041 }; // cl_ext.h
    if (d->is_host)
        return 16;
    if (has_extension(extensions, "cl_amd_device_attribute_query")) {
        cl_uint simds = 0, width = 0; // not told: a guess is enough to cut work by
        if (!OCL(clGetDeviceInfo, d->id, AMD_SIMDS, sizeof(simds), &simds, NULL) &&
            !OCL(clGetDeviceInfo, d->id, AMD_SIMD_WIDTH, sizeof(width), &width, NULL) && simds &&
            width)
            return simds * width;
    }
    return strcasestr(d->info.vendor, "intel") ? 8 : strcasestr(d->info.vendor, "nvidia") ? 128 : 0;
}

// What no kernel could do without; "": nothing.
static const char *lack_of(nino_cl_device *d)
{
    int major = 0, minor = 0;
    sscanf(d->version, "OpenCL %d.%d", &major, &minor);
    if (!cl_device_number(d, CL_DEVICE_AVAILABLE, cl_bool))
        return "the driver says that it is not available";
    if (!cl_device_number(d, CL_DEVICE_COMPILER_AVAILABLE, cl_bool))
        return "its driver has no compiler";
    if (major * 10 + minor < 12)
        return "its driver is older than OpenCL 1.2";
    if (!cl_device_number(d, CL_DEVICE_ENDIAN_LITTLE, cl_bool))
        return "it is big-endian";
    if (cl_device_number(d, CL_DEVICE_ADDRESS_BITS, cl_uint) < 64)
        return "it has 32-bit addresses";
    return "";
}

// The profile and the schedule that the device is to have, and why it cannot.
static void find_schedule(nino_cl_device *d)
{
    nino_device_info *o = &d->info;
    nino_profile profile;
    nino_error err;
    const uint64_t group = cl_device_number(d, CL_DEVICE_MAX_WORK_GROUP_SIZE, size_t);
    if (o->problem[0])
        return; // a profile would be chosen by what is not known
    if (nino_cl_profile_of(d, &profile, &err)) {
        const size_t n = strlen(err.where), room = sizeof(o->problem) / 2 - 2; // the end of a path
        snprintf(o->problem, sizeof(o->problem), "%s: %.78s", err.where + (n > room ? n - room : 0),
                 err.msg);
        return;
    }
    const nino_cl_schedule *s = nino_cl_schedule_of(&profile);
    snprintf(o->profile, sizeof(o->profile), "%s", profile.name);
    snprintf(o->schedule, sizeof(o->schedule), "%s%s", profile.schedule->name,
             nino_cl_is_emulated(d, profile.schedule) ? "-emulated" : "");
    if (group < s->group)
        snprintf(o->problem, sizeof(o->problem), "its work-groups are smaller than %zu", s->group);
    else if (o->local_bytes < s->local_bytes)
        snprintf(o->problem, sizeof(o->problem), "it has less than %u KiB of local memory",
                 (unsigned) (s->local_bytes >> 10));
}

static void cl_device_describe(nino_cl_device *d, size_t index)
{
    nino_device_info *o = &d->info;
    char extensions[8192];
    const uint64_t type = cl_device_number(d, CL_DEVICE_TYPE, cl_device_type);
    d->is_host = type & CL_DEVICE_TYPE_CPU;
    d->is_unified = cl_device_number(d, CL_DEVICE_HOST_UNIFIED_MEMORY, cl_bool);
    o->is_gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
    snprintf(o->selector, sizeof(o->selector), "cl:%zu", index);
    cl_device_text(d, CL_DEVICE_NAME, o->name);
    cl_device_text(d, CL_DEVICE_VENDOR, o->vendor);
    cl_device_text(d, CL_DRIVER_VERSION, o->driver);
    cl_device_text(d, CL_DEVICE_VERSION, d->version);
    cl_device_text(d, CL_DEVICE_EXTENSIONS, extensions);
    cl_platform_text(d, CL_PLATFORM_NAME, o->platform);
    cl_platform_text(d, CL_PLATFORM_VERSION, d->platform_version);
    if (!o->name[0])
        snprintf(o->name, sizeof(o->name), "OpenCL device %zu", index);
    o->compute_units = (unsigned) cl_device_number(d, CL_DEVICE_MAX_COMPUTE_UNITS, cl_uint);
    o->max_buffer = cl_device_number(d, CL_DEVICE_MAX_MEM_ALLOC_SIZE, cl_ulong);
    o->local_bytes = cl_device_number(d, CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong);
    o->mem_bytes = cl_device_number(d, CL_DEVICE_GLOBAL_MEM_SIZE, cl_ulong);
    // PoCL reports one NUMA node's share of hot-plugged memory and does not enforce it.
    if (d->is_host && cl_device_meminfo("MemTotal:"))
        o->mem_bytes = cl_device_meminfo("MemTotal:");
    o->has_fp16 = has_extension(extensions, "cl_khr_fp16");
    o->has_fp64 = has_extension(extensions, "cl_khr_fp64");
    d->clock_mhz = (unsigned) cl_device_number(d, CL_DEVICE_MAX_CLOCK_FREQUENCY, cl_uint);
    d->lanes = lanes_of(d, extensions);
    nino_cl_find_card(d);
    const char *lack = lack_of(d);
    if (!*lack)
        d->native = nino_cl_native(d);
    find_schedule(d);
    if (*lack && (o->profile[0] || !o->problem[0]))
        snprintf(o->problem, sizeof(o->problem), "%s", lack);
}

bool nino_cl_kernel_folder(int i, char *out, size_t size)
{
    char dir[4096];
    const char *pocl = getenv("POCL_CACHE_DIR");
    int n = -1;
    if (i == 0 && pocl && *pocl)
        n = snprintf(out, size, "%s", pocl);
    else if (i >= 0 && i < 2 && nino_cache_dir(NULL, dir, sizeof(dir)))
        n = snprintf(out, size, "%s/%s", dir, i ? "kernels" : "pocl");
    return n > 0 && (size_t) n < size;
}

// PoCL loads code from its kernel cache: keep that inside the folder whose owner and mode we check.
static void settle_pocl_cache(void)
{
    char dir[4096], pocl[4096];
    if (getenv("POCL_CACHE_DIR") || !nino_cache_dir(NULL, dir, sizeof(dir)) ||
        !nino_cl_kernel_folder(0, pocl, sizeof(pocl)))
        return;
    nino_cl_cache *c = nino_cl_cache_open(dir, 0, NULL); // makes and checks the folder
    if (c) {
        nino_cl_cache_sweep_pocl(c);
        setenv("POCL_CACHE_DIR", pocl, 0);
    }
    nino_cl_cache_close(&c);
}

static char enumeration_problem[1024]; // lines

static void enumerate_failed(const char *call, cl_platform_id platform, cl_int e)
{
    char name[96] = "OpenCL";
    const size_t len = strlen(enumeration_problem);
    if (platform && OCL(clGetPlatformInfo, platform, CL_PLATFORM_NAME, sizeof(name), name, NULL))
        snprintf(name, sizeof(name), "a platform");
    snprintf(enumeration_problem + len, sizeof(enumeration_problem) - len,
             "%s: %s fails: %s (%d)\n", name, call, nino_ocl_error_name(e), e);
}

static void enumerate_platform(cl_platform_id platform)
{
    cl_device_id ids[MAX_DEVICES];
    cl_uint n = 0;
    const cl_int e = OCL(clGetDeviceIDs, platform, CL_DEVICE_TYPE_ALL, MAX_DEVICES, ids, &n);
    if (e && e != CL_DEVICE_NOT_FOUND)
        enumerate_failed("clGetDeviceIDs", platform, e);
    for (cl_uint i = 0; !e && i < n && i < MAX_DEVICES && n_devices < MAX_DEVICES; i++) {
        nino_cl_device *d = &devices[n_devices];
        *d = (nino_cl_device){ .platform = platform, .id = ids[i] };
        cl_device_describe(d, n_devices++);
    }
}

static void enumerate(void)
{
    enum { PLATFORM_NOT_FOUND_KHR = -1001 }; // a loader without a driver
    cl_platform_id platforms[8];
    cl_uint n = 0;
    settle_pocl_cache();
    if (!nino_ocl_load())
        return;
    const cl_int e = OCL(clGetPlatformIDs, 8, platforms, &n);
    if (e && e != PLATFORM_NOT_FOUND_KHR)
        enumerate_failed("clGetPlatformIDs", NULL, e);
    for (cl_uint p = 0; !e && p < n && p < 8; p++)
        enumerate_platform(platforms[p]);
}

const char *nino_cl_enumeration_problem(void)
{
    pthread_once(&once, enumerate);
    return enumeration_problem;
}

size_t nino_cl_devices(const nino_cl_device **list)
{
    pthread_once(&once, enumerate);
    *list = devices;
    return n_devices;
}
