// The plan backend: walks the same model code on the same pool without data or arithmetic, and
// counts bytes, operations and predicted time, in all and by scope.
#include "core/op/plan/plan.h"

#include "core/base/error.h"
#include "core/base/vars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Bytes/s between device and host, and seconds for which a device has nothing to do because the host waited for it: as
// measured of PoCL on two cores of an AMD EPYC, assumed of any device.
#define HOST_RATE 6e9
#define HOST_WAIT 1e-4

typedef struct plan {
    nino_backend be;
    double seconds;
    nino_plan_scope *scopes;
    size_t n, cap;
    size_t open[64];      // indices of the open scopes, outermost first
    int depth;            // may exceed the array when scopes could not be recorded
    nino_backend *lister; // may be NULL
} plan;

static plan *plan_of(nino_backend *be) { return (plan *) be; }

// Pool use is highest while an op holds its result and workspace, that is inside a hook.
static void note_use(nino_backend *be)
{
    plan *p = plan_of(be);
    const uint64_t in_use = nino_pool_in_use(be->pool);
    for (int i = 0; i < p->depth; i++)
        if (p->open[i] < p->n && in_use > p->scopes[p->open[i]].peak_bytes)
            p->scopes[p->open[i]].peak_bytes = in_use;
}

// Adds to the time and to every open scope; the stream keeps the backend's own totals.
static void plan_count(plan *p, const nino_plan_mark *w)
{
    p->seconds += w->seconds;
    for (int i = 0; i < p->depth; i++)
        if (p->open[i] < p->n) {
            nino_plan_scope *s = &p->scopes[p->open[i]];
            s->flops += w->flops;
            s->bytes += w->bytes;
            s->seconds += w->seconds;
            s->kernels += w->kernels;
        }
}

// Between device and host.
static void plan_carry(nino_backend *be, size_t bytes, bool waits)
{
    const nino_plan_mark w = { .seconds = (double) bytes / HOST_RATE + (waits ? HOST_WAIT : 0) };
    if (be->profile.peak_f32 > 0) // else it knows no times
        plan_count(plan_of(be), &w);
}

static nino_status plan_upload(nino_backend *be, const nino_block *dst, const void *src,
                               size_t bytes, nino_error *err)
{
    (void) dst;
    (void) src;
    (void) bytes;
    (void) err;
    note_use(be);
    return NINO_OK;
}

static nino_status plan_download(nino_backend *be, const nino_block *src, void *dst, size_t bytes,
                                 nino_error *err)
{
    (void) src;
    (void) err;
    memset(dst, 0, bytes);
    plan_carry(be, bytes, true);
    return NINO_OK;
}

static nino_status plan_fill_zero(nino_backend *be, const nino_block *dst, size_t bytes,
                                  nino_error *err)
{
    return plan_upload(be, dst, NULL, bytes, err);
}

static size_t plan_packed_bytes(nino_backend *be, const nino_weight *w, nino_dtype *dtype)
{
    return nino_sched_packed_bytes(&be->profile, w, dtype);
}

static nino_status plan_pack(nino_backend *be, const nino_weight *w, nino_packed *out,
                             nino_error *err)
{
    (void) w;
    return plan_upload(be, &out->mem, NULL, 0, err);
}

static size_t plan_workspace(nino_backend *be, const nino_op_desc *d)
{
    return nino_sched_workspace(&be->profile, d);
}

static nino_status plan_run(nino_backend *be, const nino_op_call *c, nino_error *err)
{
    const nino_op_def *op = &nino_ops[c->d.op];
    nino_plan_mark w = { .flops = op->flops(&c->d), .bytes = op->bytes(&c->d), .kernels = 1 };
    nino_backend *lister = plan_of(be)->lister;
    w.seconds = nino_sched_seconds(&be->profile, &c->d, w.flops, w.bytes);
    note_use(be);
    plan_count(plan_of(be), &w);
    return lister ? lister->impl->run(lister, c, err) : NINO_OK;
}

static nino_status plan_finish(nino_backend *be, nino_error *err)
{
    (void) be;
    (void) err;
    return NINO_OK;
}

// A scope that cannot be recorded (no memory, too deep) is still counted by those around it.
static void plan_scope_begin(nino_backend *be, nino_event_kind kind, const char *name,
                             uint32_t arg0, uint32_t arg1)
{
    plan *p = plan_of(be);
    (void) kind;
    (void) arg0;
    (void) arg1;
    if (p->n == p->cap) {
        const size_t cap = p->cap ? p->cap * 2 : 64;
        nino_plan_scope *s = realloc(p->scopes, cap * sizeof(*s));
        if (s) {
            p->scopes = s;
            p->cap = cap;
        }
    }
    if (p->depth >= (int) (sizeof(p->open) / sizeof(p->open[0])))
        return;
    p->open[p->depth] = SIZE_MAX;
    if (p->n < p->cap) {
        nino_plan_scope *s = &p->scopes[p->n];
        const size_t above = p->depth ? p->open[p->depth - 1] : SIZE_MAX;
        const bool nested = above < p->n;
        *s = (nino_plan_scope){ .depth = p->depth };
        snprintf(s->name, sizeof(s->name), "%.55s%s%.36s", nested ? p->scopes[above].name : "",
                 nested ? " / " : "", name ? name : "");
        p->open[p->depth] = p->n++;
    }
    p->depth++;
    note_use(be);
}

static void plan_scope_end(nino_backend *be) { plan_of(be)->depth--; }

static void close_plan(nino_backend *be)
{
    nino_backend_close(&plan_of(be)->lister);
    free(plan_of(be)->scopes);
    free(be);
}

static const nino_backend_impl impl = { .name = "plan",
                                        .close = close_plan,
                                        .upload = plan_upload,
                                        .download = plan_download,
                                        .fill_zero = plan_fill_zero,
                                        .packed_bytes = plan_packed_bytes,
                                        .pack = plan_pack,
                                        .workspace = plan_workspace,
                                        .run = plan_run,
                                        .finish = plan_finish,
                                        .scope_begin = plan_scope_begin,
                                        .scope_end = plan_scope_end };

void nino_plan_carry(nino_backend *be, size_t bytes, bool waits)
{
    if (be->impl == &impl)
        plan_carry(be, bytes, waits);
}

nino_backend *nino_plan_open(const nino_profile *profile, uint64_t mem_limit, const nino_log *log,
                             nino_error *err)
{
    const nino_pool_params params = { .budget = mem_limit,
                                      .is_always_exact = !nino_is_true(nino_vars_get()->hip_memory),
                                      .is_exact = !nino_acts(profile, NINO_POLICY_POOL) };
    plan *p = calloc(1, sizeof(*p));
    if (!p || !(p->be.pool = nino_pool_create(&params))) {
        free(p);
        nino_fail(err, NINO_ERR_NOMEM, "plan", "no memory for a backend");
        return NULL;
    }
    p->be.impl = &impl;
    p->be.profile = *profile;
    p->be.log = log;
    return &p->be;
}

void nino_plan_set_lister(nino_backend *be, nino_backend *lister)
{
    nino_backend_close(&plan_of(be)->lister);
    plan_of(be)->lister = lister;
}

const nino_plan_scope *nino_plan_backend_scopes(const nino_backend *be, size_t *n)
{
    const plan *p = (const plan *) be;
    *n = p->n;
    return p->scopes;
}

double nino_plan_backend_seconds(const nino_backend *be) { return ((const plan *) be)->seconds; }

nino_plan_mark nino_plan_backend_mark(const nino_backend *be)
{
    return (nino_plan_mark){ be->flops, be->bytes, ((const plan *) be)->seconds, be->n_ops,
                             be->load_bytes };
}

nino_plan_mark nino_plan_mark_since(const nino_backend *be, const nino_plan_mark *before)
{
    const nino_plan_mark now = nino_plan_backend_mark(be);
    return (nino_plan_mark){ now.flops - before->flops, now.bytes - before->bytes,
                             now.seconds - before->seconds, now.kernels - before->kernels,
                             now.load_bytes - before->load_bytes };
}

void nino_plan_backend_repeat(nino_backend *be, const nino_plan_mark *work)
{
    be->flops += work->flops;
    be->bytes += work->bytes;
    be->n_ops += work->kernels;
    be->load_bytes += work->load_bytes;
    plan_count(plan_of(be), work);
}
