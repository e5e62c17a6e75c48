// Finding devices: one enumeration per process, what each can do, and how much memory it may use.
#include "cl/cl_schedule.h"
#include "cl/runtime.h"

#include "core/base/vars.h"

#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICES = 16 };
static nino_cl_device devices[MAX_DEVICES];
static size_t n_devices;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// Number after `key` in a file like /proc/meminfo or a file that is only a number (key ""), 0 if
// absent.
static uint64_t cl_device_read_number(const char *path, const char *key)
{
    FILE *f = fopen(path, "re");
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
    return v;
}

static uint64_t cl_device_meminfo(const char *key)
{
    return cl_device_read_number("/proc/meminfo", key) * 1024;
}

static void cl_device_text(const nino_cl_device *d, cl_device_info what, char *out, size_t size)
{
    out[0] = 0;
    if (OCL(clGetDeviceInfo, d->id, what, size, out, NULL))
        out[0] = 0;
    out[size - 1] = 0;
}

static uint64_t cl_device_number(const nino_cl_device *d, cl_device_info what, size_t size)
{
    uint64_t v = 0; // little-endian hosts only, which is all that OpenCL has here
    if (OCL(clGetDeviceInfo, d->id, what, size, &v, NULL))
        v = 0;
    return v;
}

static bool has_extension(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *p = list; (p = strstr(p, name)); p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == 0))
            return true;
    return false;
}

static const char *problem_of(const nino_cl_device *d)
{
    int major = 0, minor = 0;
    sscanf(d->version, "OpenCL %d.%d", &major, &minor);
    if (!cl_device_number(d, CL_DEVICE_AVAILABLE, sizeof(cl_bool)))
        return "the driver says that it is not available";
    if (!cl_device_number(d, CL_DEVICE_COMPILER_AVAILABLE, sizeof(cl_bool)))
        return "its driver has no compiler";
    if (major * 10 + minor < 12)
        return "its driver is older than OpenCL 1.2";
    if (!cl_device_number(d, CL_DEVICE_ENDIAN_LITTLE, sizeof(cl_bool)))
        return "it is big-endian";
    if (cl_device_number(d, CL_DEVICE_ADDRESS_BITS, sizeof(cl_uint)) < 64)
        return "it has 32-bit addresses";
    return "";
}

// The profile and the schedule that the device is to have, and why it cannot.
static void find_schedule(nino_cl_device *d)
{
    nino_device_info *o = &d->info;
    nino_profile profile;
    nino_error err;
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
    if (cl_device_number(d, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t)) < s->group)
        snprintf(o->problem, sizeof(o->problem), "its work-groups are smaller than %zu", s->group);
    else if (o->local_bytes < s->local_bytes)
        snprintf(o->problem, sizeof(o->problem), "it has less than %u KiB of local memory",
                 (unsigned) (s->local_bytes >> 10));
}

static void cl_device_describe(nino_cl_device *d, size_t index)
{
    nino_device_info *o = &d->info;
    char extensions[8192];
    const uint64_t type = cl_device_number(d, CL_DEVICE_TYPE, sizeof(cl_device_type));
    d->is_host = type & CL_DEVICE_TYPE_CPU;
    o->is_gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
    snprintf(o->selector, sizeof(o->selector), "cl:%zu", index);
    cl_device_text(d, CL_DEVICE_NAME, o->name, sizeof(o->name));
    cl_device_text(d, CL_DEVICE_VENDOR, o->vendor, sizeof(o->vendor));
    cl_device_text(d, CL_DRIVER_VERSION, o->driver, sizeof(o->driver));
    cl_device_text(d, CL_DEVICE_VERSION, d->version, sizeof(d->version));
    cl_device_text(d, CL_DEVICE_EXTENSIONS, extensions, sizeof(extensions));
    if (OCL(clGetPlatformInfo, d->platform, CL_PLATFORM_NAME, sizeof(o->platform), o->platform,
            NULL))
        o->platform[0] = 0;
    if (OCL(clGetPlatformInfo, d->platform, CL_PLATFORM_VERSION, sizeof(d->platform_version),
            d->platform_version, NULL))
        d->platform_version[0] = 0;
    o->compute_units = (unsigned) cl_device_number(d, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint));
    o->max_buffer = cl_device_number(d, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
    o->local_bytes = cl_device_number(d, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong));
    o->mem_bytes = cl_device_number(d, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
    // PoCL reports one NUMA node's share of hot-plugged memory and does not enforce it.
    if (d->is_host && cl_device_meminfo("MemTotal:"))
        o->mem_bytes = cl_device_meminfo("MemTotal:");
    o->has_fp16 = has_extension(extensions, "cl_khr_fp16");
    o->has_fp64 = has_extension(extensions, "cl_khr_fp64");
    const char *problem = problem_of(d);
    if (!*problem)
        d->native = nino_cl_native(d);
    find_schedule(d);
    if (*problem)
        snprintf(o->problem, sizeof(o->problem), "%s", problem);
}

// PoCL loads code from its kernel cache: keep that inside the folder whose owner and mode we check.
static void settle_pocl_cache(void)
{
    char dir[4096], pocl[4096 + 8];
    if (getenv("POCL_CACHE_DIR") || !nino_cache_dir(NULL, dir, sizeof(dir)))
        return;
    nino_cl_cache *c = nino_cl_cache_open(dir, 0, NULL); // makes and checks the folder
    snprintf(pocl, sizeof(pocl), "%s/pocl", dir);
    if (c) {
        nino_cl_cache_sweep_pocl(c);
        setenv("POCL_CACHE_DIR", pocl, 0);
    }
    nino_cl_cache_close(&c);
}

static void enumerate(void)
{
    cl_platform_id platforms[8];
    cl_uint n_platforms = 0;
    settle_pocl_cache();
    if (!nino_ocl_load() || OCL(clGetPlatformIDs, 8, platforms, &n_platforms))
        return;
    for (cl_uint p = 0; p < n_platforms && p < 8; p++) {
        cl_device_id ids[MAX_DEVICES];
        cl_uint n = 0;
        if (OCL(clGetDeviceIDs, platforms[p], CL_DEVICE_TYPE_ALL, MAX_DEVICES, ids, &n))
            continue;
        for (cl_uint i = 0; i < n && i < MAX_DEVICES && n_devices < MAX_DEVICES; i++) {
            nino_cl_device *d = &devices[n_devices];
            *d = (nino_cl_device){ .platform = platforms[p], .id = ids[i] };
            cl_device_describe(d, n_devices++);
        }
    }
}

size_t nino_cl_devices(const nino_cl_device **list)
{
    pthread_once(&once, enumerate);
    *list = devices;
    return n_devices;
}

// GTT (system memory mapped for the GPU) that is still free, over all amdgpu cards; 0: no such
// card.
static uint64_t gtt_free(void)
{
    glob_t g;
    uint64_t best = 0;
    if (glob("/sys/class/drm/card*/device/mem_info_gtt_total", 0, NULL, &g))
        return 0;
    for (size_t i = 0; i < g.gl_pathc; i++) {
        char used[256];
        const uint64_t total = cl_device_read_number(g.gl_pathv[i], "");
        snprintf(used, sizeof(used), "%.*sused", (int) (strlen(g.gl_pathv[i]) - strlen("total")),
                 g.gl_pathv[i]);
        const uint64_t taken = cl_device_read_number(used, "");
        if (total > taken && total - taken > best)
            best = total - taken;
    }
    globfree(&g);
    return best;
}

uint64_t nino_cl_budget(const nino_cl_device *dev, const nino_profile *profile)
{
    const uint64_t gib = (uint64_t) 1 << 30;
    const uint64_t available = cl_device_meminfo("MemAvailable:");
    cl_bool is_unified = CL_FALSE;
    if (OCL(clGetDeviceInfo, dev->id, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof(is_unified),
            &is_unified, NULL))
        is_unified = CL_FALSE;
    uint64_t bytes = dev->info.mem_bytes;
    if (profile->mem_bytes && profile->mem_bytes < bytes)
        bytes = profile->mem_bytes;
    if ((dev->is_host || is_unified) && available && available < bytes)
        bytes = available;
    const uint64_t gtt = is_unified && !dev->is_host ? gtt_free() : 0;
    if (gtt && gtt < bytes)
        bytes = gtt;
    // Left for the system: 4 GiB or a tenth; on small machines a quarter.
    uint64_t reserve = bytes / 10 > 4 * gib ? bytes / 10 : 4 * gib;
    if (reserve > bytes / 4)
        reserve = bytes / 4;
    return bytes - reserve;
}
