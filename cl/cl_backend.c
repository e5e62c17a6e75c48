// The OpenCL backend: opening and closing, memory arenas, copies, weights, classes of errors.
#include "cl/blas.h"
#include "cl/runtime.h"

#include "core/base/num.h"
#include "core/base/vars.h"
#include "core/op/engine.h"
#include "core/op/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Weights go to devices with memory of their own in pieces of at most this, however large they are.
#define PIECE_BYTES ((size_t) 32 << 20)

nino_status nino_cl_fail(nino_cl *cl, cl_int e, const char *what, nino_error *err)
{
    const char *name = nino_ocl_error_name(e), *device = cl->dev->info.name;
    switch (e) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE:
    case CL_INVALID_IMAGE_SIZE: return nino_fail(err, NINO_ERR_NOMEM, device, "%s: %s", what, name);
    case CL_INVALID_COMMAND_QUEUE:
    case CL_DEVICE_NOT_AVAILABLE:
        cl->is_lost = true;
        return nino_fail_kind(err, NINO_ERR_DEVICE, "lost", device, "%s: %s", what, name);
    }
    if (e < -70 || e > 0) { // private codes of drivers
        cl->is_lost = true;
        return nino_fail_kind(err, NINO_ERR_DEVICE, "lost", device, "%s: OpenCL error %d", what, e);
    }
    return nino_fail(err, NINO_ERR_DEVICE, device, "%s: %s (%d)", what, name, e);
}

// ---- memory ----------------------------------------------------------------------------------
// Fewer, larger pages: memory that is filled for the first time costs a fault each.
static void ask_for_large_pages(nino_cl *cl, cl_mem mem, uint64_t bytes)
{
    const uintptr_t large = (uintptr_t) 2 << 20;
    cl_int e;
    void *p = OCL_NEW(e, clEnqueueMapBuffer, cl->queue.handle, mem, CL_TRUE,
                      CL_MAP_WRITE_INVALIDATE_REGION, 0, bytes, 0, NULL, NULL);
    if (!p)
        return; // it is only slower
    const uintptr_t from = ((uintptr_t) p + large - 1) / large * large;
    const uintptr_t to = ((uintptr_t) p + (uintptr_t) bytes) / large * large;
    if (to > from)
        madvise((char *) p + (from - (uintptr_t) p), to - from, MADV_HUGEPAGE);
    nino_ocl.clEnqueueUnmapMemObject(cl->queue.handle, mem, p, 0, NULL, NULL);
}

static void *arena_create(void *priv, uint64_t bytes, nino_error *err)
{
    nino_cl *cl = priv;
    cl_int e = CL_DEVICE_NOT_AVAILABLE;
    cl_mem mem = NULL;
    // What is free changes while we run; other programs come first.
    const uint64_t left = nino_cl_budget(cl->dev, &cl->be.profile);
    if (!cl->is_lost && bytes > left) {
        nino_fail(err, NINO_ERR_NOMEM, cl->dev->info.name, "the system has %.1f MiB to spare",
                  (double) left / 1048576);
        return NULL;
    }
    if (!cl->is_lost)
        mem = OCL_NEW(e, clCreateBuffer, cl->context, CL_MEM_READ_WRITE, bytes, NULL);
    // Drivers of GPUs allocate at first use: touch the memory now, so that failing is early.
    if (mem && !cl->dev->is_host) {
        const cl_uint zero = 0;
        nino_cl_command c = { .name = "clEnqueueFillBuffer" };
        nino_status st = nino_cl_command_begin(cl, &c, err);
        if (!st) {
            e = OCL(clEnqueueFillBuffer, cl->queue.handle, mem, &zero, sizeof(zero), 0, bytes, 0,
                    NULL, c.event);
            st = nino_cl_command_end(cl, &c, e, err);
        }
        if (!st)
            st = nino_cl_queue_finish(cl, err);
        if (st) {
            nino_ocl.clReleaseMemObject(mem);
            return NULL;
        }
    }
    if (!mem)
        nino_cl_fail(cl, e, "clCreateBuffer", err);
    else if (cl->dev->is_host && bytes >= 8 << 20)
        ask_for_large_pages(cl, mem, bytes);
    return mem;
}

static void arena_destroy(void *priv, void *handle)
{
    nino_cl *cl = priv;
    cl->n_gone++;
    if (!cl->is_lost || cl->dev->is_host)
        nino_ocl.clReleaseMemObject(handle);
}

// `owned` is freed when the copy is done; then the call need not wait.
static nino_status cl_backend_write_block(nino_cl *cl, const nino_block *dst, const void *src,
                                          size_t bytes, void *owned, nino_error *err)
{
    if (!bytes) {
        free(owned);
        return NINO_OK;
    }
    nino_cl_command c = {
        .name = "upload", .kind = NINO_EV_TRANSFER, .bytes = (double) bytes, .host = owned
    };
    nino_status st = nino_cl_command_begin(cl, &c, err);
    if (st)
        return st;
    const cl_int e = OCL(clEnqueueWriteBuffer, cl->queue.handle, dst->base,
                         owned ? CL_FALSE : CL_TRUE, dst->offset, bytes, src, 0, NULL, c.event);
    return nino_cl_command_end(cl, &c, e, err);
}

static nino_status cl_backend_upload(nino_backend *be, const nino_block *dst, const void *src,
                                     size_t bytes, nino_error *err)
{
    nino_cl *cl = (nino_cl *) be;
    const nino_status st =
        nino_cl_queue_finish(cl, err); // the copy would wait, and not be cancelled
    return st ? st : cl_backend_write_block(cl, dst, src, bytes, NULL, err);
}

static nino_status cl_backend_download(nino_backend *be, const nino_block *src, void *dst,
                                       size_t bytes, nino_error *err)
{
    nino_cl *cl = (nino_cl *) be;
    nino_status st = nino_cl_queue_finish(cl, err); // waits under the deadline
    if (st || !bytes)
        return st;
    nino_cl_command c = { .name = "download", .kind = NINO_EV_TRANSFER, .bytes = (double) bytes };
    if ((st = nino_cl_command_begin(cl, &c, err)))
        return st;
    const cl_int e = OCL(clEnqueueReadBuffer, cl->queue.handle, src->base, CL_TRUE, src->offset,
                         bytes, dst, 0, NULL, c.event);
    return nino_cl_command_end(cl, &c, e, err);
}

static nino_status cl_backend_fill_zero(nino_backend *be, const nino_block *dst, size_t bytes,
                                        nino_error *err)
{
    nino_cl *cl = (nino_cl *) be;
    const cl_uint zero = 0;
    nino_cl_command c = { .name = "fill", .kind = NINO_EV_TRANSFER, .bytes = (double) bytes };
    if (!bytes)
        return NINO_OK;
    nino_status st = nino_cl_command_begin(cl, &c, err);
    if (st)
        return st;
    const size_t unit = bytes % 4 ? 1 : 4;
    const cl_int e = OCL(clEnqueueFillBuffer, cl->queue.handle, dst->base, &zero, unit, dst->offset,
                         bytes, 0, NULL, c.event);
    return nino_cl_command_end(cl, &c, e, err);
}

// ---- weights ---------------------------------------------------------------------------------
static size_t cl_backend_packed_bytes(nino_backend *be, const nino_weight *w, nino_dtype *dtype)
{
    return nino_sched_packed_bytes(&be->profile, w, dtype);
}

// A CPU's own memory needs no copy. The processors pack, so that nothing is lost by waiting for
// what they had to do before.
static nino_status pack_mapped(nino_cl *cl, const nino_weight *w, const nino_block *dst,
                               size_t bytes, nino_error *err)
{
    cl_int e;
    nino_status st = nino_cl_queue_finish(cl, err);
    if (st)
        return st;
    void *p = OCL_NEW(e, clEnqueueMapBuffer, cl->queue.handle, dst->base, CL_TRUE,
                      CL_MAP_WRITE_INVALIDATE_REGION, dst->offset, bytes, 0, NULL, NULL);
    if (!p)
        return nino_cl_fail(cl, e, "clEnqueueMapBuffer", err);
    st = nino_pack_weight(&cl->be.profile, w, cl->be.cancel, p, err);
    e = nino_ocl.clEnqueueUnmapMemObject(cl->queue.handle, dst->base, p, 0, NULL, NULL);
    return st ? st : e ? nino_cl_fail(cl, e, "clEnqueueUnmapMemObject", err) : NINO_OK;
}

// Elsewhere the host packs while the device works on, and copies what is packed before: rows
// first ... of w, or all of it.
static nino_status pack_copied(nino_cl *cl, const nino_weight *w, int64_t first, int64_t rows,
                               nino_block dst, size_t bytes, nino_error *err)
{
    const nino_profile *p = &cl->be.profile;
    void *host = malloc(bytes);
    if (!host)
        return nino_fail(err, NINO_ERR_NOMEM, "", "%zu bytes of host memory for a weight", bytes);
    const nino_status st = rows ? nino_pack_rows(p, w, first, rows, cl->be.cancel, host, err)
                                : nino_pack_weight(p, w, cl->be.cancel, host, err);
    if (!st)
        return cl_backend_write_block(cl, &dst, host, bytes, host, err);
    free(host);
    return st;
}

static nino_status cl_backend_pack(nino_backend *be, const nino_weight *w, nino_packed *out,
                                   nino_error *err)
{
    nino_cl *cl = (nino_cl *) be;
    const size_t bytes = nino_sched_packed_bytes(&be->profile, w, &out->dtype);
    const size_t row = nino_pack_row_bytes(&be->profile, w);
    nino_status st = NINO_OK;
    if (cl->dev->is_host && bytes >= 1 << 20)
        return pack_mapped(cl, w, &out->mem, bytes, err);
    if (bytes <= PIECE_BYTES || !row)
        return pack_copied(cl, w, 0, 0, out->mem, bytes, err);
    const int64_t fit = (int64_t) (PIECE_BYTES / row) / 64 * 64, step = fit < 64 ? 64 : fit;
    for (int64_t i = 0; !st && i < w->n; i += step) {
        const int64_t rows = w->n - i < step ? w->n - i : step;
        nino_block part = out->mem;
        part.offset += (uint64_t) i * row;
        st = pack_copied(cl, w, i, rows, part, (size_t) ((rows + 63) / 64 * 64) * row, err);
    }
    return st;
}

static size_t cl_backend_workspace(nino_backend *be, const nino_op_desc *d)
{
    return nino_sched_workspace(&be->profile, d);
}

static nino_status cl_backend_finish(nino_backend *be, nino_error *err)
{
    return nino_cl_queue_finish((nino_cl *) be, err);
}

// ---- life ------------------------------------------------------------------------------------
static void close_backend(nino_backend *be)
{
    nino_cl *cl = (nino_cl *) be;
    nino_cl_ahead_stop(cl);
    nino_cl_queue_release(cl);
    nino_cl_programs_release(cl);
    if (cl->is_blas_ready && (!cl->is_lost || cl->dev->is_host))
        nino_blas.forget();
    if (cl->context && (!cl->is_lost || cl->dev->is_host))
        nino_ocl.clReleaseContext(cl->context);
    nino_cl_cache_close(&cl->cache);
    nino_cl_code_close(&cl->code);
    free(cl);
}

static const nino_backend_impl impl = {
    .name = "cl",
    .close = close_backend,
    .upload = cl_backend_upload,
    .download = cl_backend_download,
    .fill_zero = cl_backend_fill_zero,
    .packed_bytes = cl_backend_packed_bytes,
    .pack = cl_backend_pack,
    .workspace = cl_backend_workspace,
    .run = nino_cl_run,
    .finish = cl_backend_finish,
    .expect = nino_cl_programs_expect,
    .compile = nino_cl_program_compile,
    .probe = nino_cl_probe,
    .ask = nino_cl_kernel_ask,
};

// Words of the driver; any thread.
static void CL_CALLBACK on_context_error(const char *words, const void *info, size_t bytes,
                                         void *user)
{
    const nino_cl *cl = user;
    (void) info;
    (void) bytes;
    if (cl) // oclgrind 21.10 forgets it
        nino_logf(&cl->log, NINO_LOG_WARN, "OpenCL: %s", words);
}

static nino_status open_queue(nino_cl *cl, nino_error *err)
{
    const cl_context_properties properties[] = { CL_CONTEXT_PLATFORM,
                                                 (cl_context_properties) cl->dev->platform, 0 };
    cl_int e;
    cl->context = OCL_NEW(e, clCreateContext, properties, 1, &cl->dev->id, on_context_error, cl);
    if (!cl->context)
        return nino_cl_fail(cl, e, "clCreateContext", err);
    cl->queue.silence_s = NINO_CL_SILENCE_S;
    cl->queue.first_s = NINO_CL_FIRST_S;
    cl->queue.handle =
        OCL_NEW(e, clCreateCommandQueue, cl->context, cl->dev->id, CL_QUEUE_PROFILING_ENABLE);
    cl->queue.is_timed = true;
    return cl->queue.handle ? NINO_OK : nino_cl_fail(cl, e, "clCreateCommandQueue", err);
}

static nino_status open_pool(nino_cl *cl, uint64_t mem_limit, nino_error *err)
{
    const double share = nino_strtod(nino_vars_get()->memory_fraction, NULL);
    const uint64_t budget = (uint64_t) ((double) nino_cl_budget(cl->dev, &cl->be.profile) * share);
    const nino_pool_params p = {
        .ops = { arena_create, arena_destroy },
        .priv = cl,
        .budget = mem_limit && mem_limit < budget ? mem_limit : budget,
        .max_arena = cl->dev->info.max_buffer,
        .is_always_exact = nino_debug_has("mem") || !nino_is_true(nino_vars_get()->hip_memory),
    };
    cl->be.pool = nino_pool_create(&p);
    return cl->be.pool ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
}

nino_backend *nino_cl_open(const nino_cl_device *dev, const nino_ctx_params *params,
                           const nino_log *log, nino_error *err)
{
    char dir[4096];
    nino_profile profile;
    if (nino_cl_profile_of(dev, &profile, err))
        return NULL;
    if (dev->info.problem[0]) {
        nino_fail(err, NINO_ERR_DEVICE, dev->info.name, "cannot use it: %s", dev->info.problem);
        return NULL;
    }
    nino_cl *cl = calloc(1, sizeof(*cl));
    if (!cl) {
        nino_fail(err, NINO_ERR_NOMEM, dev->info.name, "out of memory");
        return NULL;
    }
    cl->be.impl = &impl;
    cl->dev = dev;
    cl->local_bytes = dev->info.local_bytes;
    if (log)
        cl->log = *log;
    cl->be.log = &cl->log;
    cl->be.profile = profile;
    nino_ceilings_apply(params ? params->cache_dir : NULL, &dev->info, &cl->be.profile);
    if (nino_tuning_ship(&cl->be.profile, err)) {
        close_backend(&cl->be);
        return NULL;
    }
    nino_tuning_apply(params ? params->cache_dir : NULL, &dev->info, &cl->be.profile);
    cl->be.profile.has_blas = nino_blas.load();
    const bool is_param = params && params->gemm && *params->gemm;
    if (nino_engine_set(&cl->be.profile, is_param ? params->gemm : nino_vars_get()->gemm,
                        is_param ? params->gemm : "NINODES_GEMM", err)) {
        close_backend(&cl->be);
        return NULL;
    }
    if (open_queue(cl, err) || open_pool(cl, params ? params->mem_limit : 0, err)) {
        nino_pool_destroy(&cl->be.pool);
        close_backend(&cl->be);
        return NULL;
    }
    if (params && params->helper && strcmp(nino_vars_get()->helpers, "0") != 0)
        snprintf(cl->helper, sizeof(cl->helper), "%s", params->helper);
    if (nino_cache_dir(params ? params->cache_dir : NULL, dir, sizeof(dir)) &&
        strlen(dir) < sizeof(cl->cache_dir))
        memcpy(cl->cache_dir, dir, strlen(dir) + 1);
    else
        cl->helper[0] = 0; // it would keep what it compiles elsewhere
    if (nino_cache_dir(params ? params->cache_dir : NULL, dir, sizeof(dir)))
        cl->cache = nino_cl_cache_open(dir, 0, &cl->log);
    cl->code = nino_cl_code_open(dev, &cl->log);
    nino_mem_stat m;
    nino_pool_stat(cl->be.pool, &m);
    nino_logf(&cl->log, NINO_LOG_DEBUG,
              "%s: %s, %s %s, profile %s, schedule %s, %.1f GiB, kernel cache %s",
              dev->info.selector, dev->info.name, dev->info.platform, dev->info.driver,
              cl->be.profile.name, cl->be.profile.schedule->name, (double) m.budget / (1 << 30),
              cl->cache ? dir : "off");
    return &cl->be;
}
