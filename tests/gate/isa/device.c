// The device of the driver: what it says it is, and how it compiles.
#include "tests/gate/isa/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct _cl_platform_id {
    int n;
};
struct _cl_device_id {
    int n;
};
static struct _cl_platform_id platform;
static struct _cl_device_id device;

cl_int isa_answer(const void *value, size_t bytes, size_t size, void *out, size_t *needed)
{
    if (needed)
        *needed = bytes;
    if (out && size < bytes)
        return CL_INVALID_VALUE;
    if (out)
        memcpy(out, value, bytes);
    return CL_SUCCESS;
}
static cl_int say(const char *text, size_t size, void *out, size_t *needed)
{
    return isa_answer(text, strlen(text) + 1, size, out, needed);
}

cl_int clGetPlatformIDs(cl_uint n, cl_platform_id *out, cl_uint *found)
{
    if (out && n)
        *out = &platform;
    if (found)
        *found = 1;
    return CL_SUCCESS;
}
// As AMD's driver calls itself: code objects are looked up for that one.
cl_int clGetPlatformInfo(cl_platform_id p, cl_platform_info what, size_t size, void *out,
                         size_t *needed)
{
    (void) p;
    switch (what) {
    case CL_PLATFORM_NAME: return say("AMD Accelerated Parallel Processing", size, out, needed);
    case CL_PLATFORM_VERSION: return say("OpenCL 2.0 interpreted", size, out, needed);
    case CL_PLATFORM_VENDOR: return say("Advanced Micro Devices, Inc.", size, out, needed);
    case CL_PLATFORM_EXTENSIONS: return say("", size, out, needed);
    }
    return CL_INVALID_VALUE;
}
cl_int clGetDeviceIDs(cl_platform_id p, cl_device_type type, cl_uint n, cl_device_id *out,
                      cl_uint *found)
{
    (void) p;
    if (!(type & CL_DEVICE_TYPE_GPU))
        return CL_DEVICE_NOT_FOUND;
    if (out && n)
        *out = &device;
    if (found)
        *found = 1;
    return CL_SUCCESS;
}

static const char *text_of(cl_device_info what)
{
    switch (what) {
    case CL_DEVICE_NAME: return "gfx1151";
    case CL_DEVICE_VENDOR: return "Advanced Micro Devices, Inc.";
    case CL_DRIVER_VERSION: return "interpreted";
    case CL_DEVICE_VERSION: return "OpenCL 2.0 interpreted";
    case CL_DEVICE_EXTENSIONS: return "cl_khr_fp16 cl_khr_fp64";
    }
    return NULL;
}

// Of at most 8 bytes; size: how many.
static bool number_of(cl_device_info what, uint64_t *v, size_t *size)
{
    static const struct {
        cl_device_info what;
        size_t size;
        uint64_t v;
    } numbers[] = { { CL_DEVICE_TYPE, 8, CL_DEVICE_TYPE_GPU },
                    { CL_DEVICE_MAX_COMPUTE_UNITS, 4, 20 },
                    { CL_DEVICE_MAX_CLOCK_FREQUENCY, 4, 2900 },
                    { CL_DEVICE_MAX_WORK_GROUP_SIZE, 8, 256 },
                    { CL_DEVICE_MAX_MEM_ALLOC_SIZE, 8, 4ull << 30 },
                    { CL_DEVICE_GLOBAL_MEM_SIZE, 8, 16ull << 30 },
                    { CL_DEVICE_LOCAL_MEM_SIZE, 8, ISA_LDS },
                    { CL_DEVICE_HOST_UNIFIED_MEMORY, 4, 1 },
                    { CL_DEVICE_AVAILABLE, 4, 1 },
                    { CL_DEVICE_COMPILER_AVAILABLE, 4, 1 },
                    { CL_DEVICE_ENDIAN_LITTLE, 4, 1 },
                    { CL_DEVICE_ADDRESS_BITS, 4, 64 } };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (numbers[i].what == what) {
            *v = numbers[i].v;
            *size = numbers[i].size;
            return true;
        }
    return false;
}

cl_int clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t size, void *out, size_t *needed)
{
    const char *text = text_of(what);
    uint64_t v;
    size_t bytes;
    (void) d;
    if (text)
        return say(text, size, out, needed);
    return number_of(what, &v, &bytes) ? isa_answer(&v, bytes, size, out, needed)
                                       : CL_INVALID_VALUE;
}

// ---- the compiler ----------------------------------------------------------------------------
static bool take_file(const char *path, uint8_t **out, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    long n = -1;
    if (f && !fseek(f, 0, SEEK_END) && (n = ftell(f)) > 0 && (*out = malloc((size_t) n))) {
        rewind(f);
        *bytes = fread(*out, 1, (size_t) n, f);
    }
    if (f)
        fclose(f);
    return n > 0 && *out && *bytes == (size_t) n;
}

bool isa_compile(const char *source, const char *options, uint8_t **object, size_t *bytes,
                 char *log, size_t log_size)
{
    const char *compiler = getenv("NINODES_ISA_COMPILER");
    char dir[] = "/tmp/isa_build_XXXXXX", from[64], to[64], said[64], command[2000];
    if (!compiler || !mkdtemp(dir)) {
        snprintf(log, log_size, "NINODES_ISA_COMPILER names no compiler");
        return false;
    }
    snprintf(from, sizeof(from), "%s/source.cl", dir);
    snprintf(to, sizeof(to), "%s/object", dir);
    snprintf(said, sizeof(said), "%s/log", dir);
    snprintf(command, sizeof(command), "%s %s %s %s >%s 2>&1", compiler, from, to,
             options ? options : "", said);
    FILE *f = fopen(from, "w");
    const bool is_written = f && fputs(source, f) >= 0;
    bool ok = f && !fclose(f) && is_written && !system(command) && take_file(to, object, bytes);
    if (!ok && (f = fopen(said, "r"))) {
        log[fread(log, 1, log_size - 1, f)] = 0;
        fclose(f);
    }
    remove(from);
    remove(to);
    remove(said);
    rmdir(dir);
    return ok;
}
