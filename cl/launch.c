// One way to launch a kernel: arguments from a table, checked against the kernel's own count.
#include "cl/cl_schedule.h"
#include "cl/runtime.h"

#include <math.h>
#include <string.h>

// What a kernel has been given stays with it: launches of an op differ in a few arguments. A memory object that is
// gone may have left its address to another one, so all are set anew then.
static cl_int set_arg(nino_cl_kernel *k, cl_uint at, const void *value, size_t size)
{
    uint64_t now = 0;
    memcpy(&now, value, size);
    if (at < k->n_kept && k->kept[at] == now)
        return CL_SUCCESS;
    const cl_int e = OCL(clSetKernelArg, k->handle, at, size, value);
    k->n_kept = e ? 0 : k->n_kept > at ? k->n_kept : at + 1;
    k->kept[at] = now;
    return e;
}

static cl_int set_args(const nino_cl *cl, nino_cl_kernel *k, const nino_cl_arg *args, int n_args)
{
    cl_int e = CL_SUCCESS;
    cl_uint at = 0;
    if (k->n_gone != cl->n_gone)
        k->n_kept = 0;
    k->n_gone = cl->n_gone;
    for (int i = 0; i < n_args && !e; i++) {
        const nino_cl_arg *a = &args[i];
        switch (a->type) {
        case NINO_ARG_MEM: {
            const cl_mem mem = a->mem && a->mem->arena ? a->mem->base : NULL;
            const cl_ulong offset = mem ? a->mem->offset / a->u : 0;
            e = set_arg(k, at++, &mem, sizeof(mem));
            if (!e)
                e = set_arg(k, at++, &offset, sizeof(offset));
            break;
        }
        case NINO_ARG_I32: e = set_arg(k, at++, &a->i, sizeof(a->i)); break;
        case NINO_ARG_F32: e = set_arg(k, at++, &a->f, sizeof(a->f)); break;
        case NINO_ARG_U64: e = set_arg(k, at++, &a->u, sizeof(a->u)); break;
        }
    }
    return e;
}

// As the monitor is told; a dimension that is not there counts as 1.
static nino_launch launch_of(int dims, const size_t *global, const size_t *local,
                             const nino_cl_what *what)
{
    nino_launch l = { .global = { 1, 1, 1 }, .requested = what ? what->requested : 0 };
    for (int i = 0; i < 3 && local; i++)
        l.local[i] = i < dims ? local[i] : 1;
    for (int i = 0; i < dims; i++)
        l.global[i] = global[i];
    return l;
}

// Drivers that compile a kernel at its first launch do so in a stage of its own, which is no part of the
// node around it: whatever came before is waited for, then the driver, until the kernel runs.
static bool is_told_apart(const nino_cl *cl, const nino_cl_kernel *k)
{
    return !k->was_launched && nino_cl_builds_at_launch(cl) && cl->be.monitor &&
           nino_monitor_is_on(cl->be.monitor);
}

nino_status nino_cl_launch(nino_cl *cl, const char *file, const char *kernel, const char *defs,
                           const nino_cl_what *what, int dims, const size_t *global,
                           const size_t *local, const nino_cl_arg *args, int n_args,
                           nino_error *err)
{
    for (int i = 0; i < dims; i++)
        if (!global[i])
            return NINO_OK;
    if (nino_backend_is_cancelled(&cl->be)) // between the pieces of an op too
        return nino_fail(err, NINO_ERR_CANCELLED, "", "cancelled");
    if (cl->listing && cl->listing->launches &&
        (cl->listing->tells_helpers || (what && what->is_main)))
        nino_buf_addf(cl->listing->launches, "%s %s %s\n", kernel, file, defs);
    if (cl->listing)
        return nino_cl_program_list(cl, file, defs, err);
    nino_cl_kernel *k = nino_cl_kernel_get(cl, file, kernel, defs, err);
    if (!k)
        return err ? err->code : NINO_ERR_DEVICE;
    cl_uint n = (cl_uint) n_args;
    for (int i = 0; i < n_args; i++)
        n += args[i].type == NINO_ARG_MEM;
    if (n != k->n_args)
        return nino_fail(err, NINO_ERR_DEVICE, kernel, "it takes %u arguments, not %u", k->n_args,
                         n);
    const size_t *own = local ? local : k->local[0] ? k->local : NULL;
    const bool is_apart = is_told_apart(cl, k);
    nino_cl_command c = { .name = kernel,
                          .kind = NINO_EV_KERNEL,
                          .what = what,
                          .kernel = k,
                          .must_track = is_apart,
                          .is_first = !k->was_launched,
                          .launch = launch_of(dims, global, own, what) };
    nino_status st = is_apart ? nino_cl_queue_finish(cl, err) : NINO_OK;
    st = st ? st : nino_cl_command_begin(cl, &c, err);
    if (st)
        return st;
    const uint32_t scope = is_apart ? nino_cl_stage_launch(cl, k) : 0;
    cl_int e = set_args(cl, k, args, n_args);
    if (!e)
        e = OCL(clEnqueueNDRangeKernel, cl->queue.handle, k->handle, (cl_uint) dims, NULL, global,
                own, 0, NULL, c.event);
    k->was_launched = !e;
    if (!e && is_apart)
        st = nino_cl_queue_started(cl, &c, err);
    if (scope)
        nino_monitor_end_with(cl->be.monitor, scope, st);
    const nino_status ended = nino_cl_command_end(cl, &c, e, st ? NULL : err);
    return st ? st : ended;
}

const nino_profile *nino_cl_profile(const nino_cl *cl) { return &cl->be.profile; }

const nino_cl_schedule *nino_cl_schedule_now(const nino_cl *cl)
{
    return nino_cl_schedule_of(&cl->be.profile);
}

unsigned nino_cl_compute_units(const nino_cl *cl)
{
    return cl->dev->info.compute_units ? cl->dev->info.compute_units : 1;
}

uint64_t nino_cl_local_bytes(const nino_cl *cl) { return cl->local_bytes; }

const char *nino_cl_type_defs(nino_dtype t)
{
    return t == NINO_F16 ? "-DF16=1" : t == NINO_BF16 ? "-DBF16=1" : "";
}

const char *nino_cl_row_defs(const nino_cl *cl, bool is_narrow, uint64_t n)
{
    if (nino_cl_schedule_now(cl)->grids->has_rows)
        return "";
    if (n >> 32)
        return is_narrow ? "-DNARROW=1 -DWIDE=1" : "-DWIDE=1";
    return is_narrow ? "-DNARROW=1" : "";
}

size_t nino_cl_items(const nino_cl *cl, uint64_t n)
{
    const size_t group = nino_cl_schedule_now(cl)->group;
    return (n + group - 1) / group * group;
}

size_t nino_cl_groups(const nino_cl *cl, uint64_t n) { return n * nino_cl_schedule_now(cl)->group; }

size_t nino_cl_flat(const nino_cl *cl, uint64_t n)
{
    const uint64_t each = (uint64_t) nino_cl_schedule_now(cl)->grids->flat; // FLAT
    return nino_cl_items(cl, (n + each - 1) / each);
}

int64_t nino_cl_pieces(const nino_cl *cl, const nino_op_desc *d, double flops, int64_t groups)
{
    const double seconds = nino_sched_seconds(&cl->be.profile, d, flops, 0);
    return nino_sched_pieces(seconds * fmax(cl->queue.slowdown, 1), groups,
                             nino_cl_compute_units(cl));
}
