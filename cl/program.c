// Programs: source (built in or from a folder) + options -> kernels; through the binary cache.
#include "cl/runtime.h"

#include "core/base/file.h"
#include "core/base/vars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nino_cl_program {
    struct nino_cl_program *next;
    char *file, *defs;
    cl_program handle;
    nino_cl_kernel *kernels;
};

enum { MAX_SOURCE = 1 << 20, MAX_BINARY = 64 << 20 };
static const char format_version[] = "ninodes kernels 1";

// malloc'd text of FILE.cl.
static nino_status load_source(const char *file, char **out, nino_error *err)
{
    const char *dir = nino_vars_get()->kernel_dir;
    size_t len;
    if (*dir) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s.cl", dir, file);
        return nino_file_read(path, MAX_SOURCE, false, out, &len, err);
    }
    const char *text = nino_cl_source(file);
    if (!text)
        return nino_fail(err, NINO_ERR_DEVICE, file, "there is no kernel file of that name");
    *out = strdup(text);
    return *out ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, file, "out of memory");
}

static nino_cl_key key_of(const nino_cl *cl, const char *const source[3], const char *options)
{
    const nino_cl_device *d = cl->dev;
    const char *const parts[] = {
        format_version, options,    d->info.name,     d->info.vendor,
        d->info.driver, d->version, d->info.platform, d->platform_version,
        source[0],      source[1],  source[2],
    };
    return nino_cl_hash(parts, sizeof(parts) / sizeof(parts[0]));
}

// From a binary of the cache; NULL: it does not fit, which is no error.
static cl_program from_binary(nino_cl *cl, const void *data, size_t bytes, const char *options)
{
    cl_int e, status;
    const unsigned char *binary = data;
    cl_program p = OCL_NEW(e, clCreateProgramWithBinary, cl->context, 1, &cl->dev->id, &bytes,
                           &binary, &status);
    if (p && (status || OCL(clBuildProgram, p, 1, &cl->dev->id, options, NULL, NULL))) {
        nino_ocl.clReleaseProgram(p);
        p = NULL;
    }
    return p;
}

// PoCL compiles a second, general variant of every kernel to hand out a binary, 1 to 2 s a program,
// while its own cache, which device.c puts inside ours, brings a program back in 60 ms.
static bool is_worth_saving(const nino_cl *cl)
{
    return !strstr(cl->dev->info.platform, "Portable Computing Language");
}

static void save_binary(nino_cl *cl, cl_program p, const nino_cl_key *key)
{
    size_t bytes = 0;
    if (OCL(clGetProgramInfo, p, CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes, NULL) || !bytes ||
        bytes > MAX_BINARY)
        return;
    unsigned char *data = malloc(bytes);
    if (data && !OCL(clGetProgramInfo, p, CL_PROGRAM_BINARIES, sizeof(data), &data, NULL))
        nino_cl_cache_put(cl->cache, key, data, bytes);
    free(data);
}

// The compiler's words go to the log.
static void log_build(nino_cl *cl, cl_program p, const char *file, nino_log_level level)
{
    size_t bytes = 0;
    if (nino_ocl.clGetProgramBuildInfo(p, cl->dev->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) ||
        bytes < 2 || bytes > MAX_SOURCE)
        return;
    char *text = calloc(bytes + 1, 1);
    if (text &&
        !nino_ocl.clGetProgramBuildInfo(p, cl->dev->id, CL_PROGRAM_BUILD_LOG, bytes, text, NULL))
        nino_logf(&cl->log, level, "%s.cl: %s", file, text);
    free(text);
}

static nino_status compile(nino_cl *cl, const char *file, const char *const *source, int n,
                           const char *options, cl_program *out, nino_error *err)
{
    cl_int e;
    cl_program p = OCL_NEW(e, clCreateProgramWithSource, cl->context, (cl_uint) n,
                           (const char **) source, NULL);
    if (!p)
        return nino_cl_fail(cl, e, "clCreateProgramWithSource", err);
    e = OCL(clBuildProgram, p, 1, &cl->dev->id, options, NULL, NULL);
    log_build(cl, p, file, e ? NINO_LOG_ERROR : NINO_LOG_DEBUG);
    if (e) {
        nino_ocl.clReleaseProgram(p);
        if (e != CL_BUILD_PROGRAM_FAILURE)
            return nino_cl_fail(cl, e, "clBuildProgram", err);
        return nino_fail_kind(err, NINO_ERR_DEVICE, "build", file,
                              "the kernels do not build with %s", options);
    }
    *out = p;
    return NINO_OK;
}

static nino_status build(nino_cl *cl, const char *file, const char *defs, cl_program *out,
                         nino_error *err)
{
    nino_status st;
    char *common = NULL, *own = NULL;
    char options[1024], line[64];
    const char *schedule = nino_cl_is_cpu_schedule(cl) ? "SCHED_CPU" : "SCHED_GENERIC";
    *out = NULL;
    if ((st = load_source("common", &common, err)) || (st = load_source(file, &own, err)))
        goto end;
    // PoCL prints the number of warnings; they are for who works on kernels.
    const char *warn = nino_debug_has("cl") ? "" : "-w ";
    if (snprintf(options, sizeof(options), "-cl-std=CL1.2 %s-D%s=1 %s", warn, schedule, defs) >=
        (int) sizeof(options)) {
        st = nino_fail(err, NINO_ERR_DEVICE, file, "the options are too long: %s", defs);
        goto end;
    }
    snprintf(line, sizeof(line), "\n#line 1 \"%s.cl\"\n", file);
    const char *const source[] = { common, line, own };
    const nino_cl_key key = key_of(cl, source, options);
    size_t bytes;
    void *binary = cl->cache ? nino_cl_cache_get(cl->cache, &key, &bytes) : NULL;
    if (binary)
        *out = from_binary(cl, binary, bytes, options);
    free(binary);
    nino_monitor_publish(cl->be.monitor, &(nino_event){ .kind = NINO_EV_CACHE,
                                                        .sub = NINO_CACHE_PROGRAM,
                                                        .u.scope.arg0 = *out != NULL });
    if (!*out) {
        char stage[64]; // it can take seconds: show it
        snprintf(stage, sizeof(stage), "compile %.40s", file);
        const uint32_t scope = nino_monitor_begin(cl->be.monitor, NINO_EV_STAGE, stage, 0, 0);
        st = compile(cl, file, source, 3, options, out, err);
        nino_monitor_end_with(cl->be.monitor, scope, st);
        if (!st && cl->cache && is_worth_saving(cl))
            save_binary(cl, *out, &key);
    }
end:
    free(common);
    free(own);
    return st;
}

static struct nino_cl_program *program_get(nino_cl *cl, const char *file, const char *defs,
                                           nino_error *err)
{
    struct nino_cl_program **at = &cl->programs, *p;
    for (; (p = *at); at = &p->next)
        if (!strcmp(p->file, file) && !strcmp(p->defs, defs)) {
            *at = p->next; // to the front: the next launch is likely to want it too
            p->next = cl->programs;
            return cl->programs = p;
        }
    if (!(p = calloc(1, sizeof(*p))) || !(p->file = strdup(file)) || !(p->defs = strdup(defs))) {
        nino_fail(err, NINO_ERR_NOMEM, file, "out of memory");
        goto fail;
    }
    if (build(cl, file, defs, &p->handle, err))
        goto fail;
    p->next = cl->programs;
    return cl->programs = p;
fail:
    if (p) {
        free(p->file);
        free(p->defs);
    }
    free(p);
    return NULL;
}

static nino_cl_kernel *kernel_create(nino_cl *cl, struct nino_cl_program *p, const char *name,
                                     nino_error *err)
{
    cl_int e;
    nino_cl_kernel *k = calloc(1, sizeof(*k));
    if (!k) {
        nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
        return NULL;
    }
    snprintf(k->name, sizeof(k->name), "%s", name);
    k->handle = OCL_NEW(e, clCreateKernel, p->handle, name);
    if (!e)
        e = OCL(clGetKernelInfo, k->handle, CL_KERNEL_NUM_ARGS, sizeof(k->n_args), &k->n_args,
                NULL);
    if (!e)
        e = OCL(clGetKernelWorkGroupInfo, k->handle, cl->dev->id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                sizeof(k->local), k->local, NULL);
    if (e) {
        nino_cl_fail(cl, e, name, err);
        if (k->handle)
            nino_ocl.clReleaseKernel(k->handle);
        free(k);
        return NULL;
    }
    k->next = p->kernels;
    return p->kernels = k;
}

nino_cl_kernel *nino_cl_kernel_get(nino_cl *cl, const char *file, const char *name,
                                   const char *defs, nino_error *err)
{
    struct nino_cl_program *p = program_get(cl, file, defs, err);
    if (!p)
        return NULL;
    for (nino_cl_kernel *k = p->kernels; k; k = k->next)
        if (!strcmp(k->name, name))
            return k;
    return kernel_create(cl, p, name, err);
}

void nino_cl_programs_release(nino_cl *cl)
{
    const bool may_call = !cl->is_lost || cl->dev->is_cpu;
    for (struct nino_cl_program *p = cl->programs, *next; p; p = next) {
        next = p->next;
        for (nino_cl_kernel *k = p->kernels, *k_next; k; k = k_next) {
            k_next = k->next;
            if (may_call)
                nino_ocl.clReleaseKernel(k->handle);
            free(k);
        }
        if (may_call)
            nino_ocl.clReleaseProgram(p->handle);
        free(p->file);
        free(p->defs);
        free(p);
    }
    cl->programs = NULL;
}
