// Probes of a device: each runs a kernel of probe.cl often enough to take some milliseconds and
// returns the median of repeats.
#include "cl/cl_schedule.h"
#include "cl/runtime.h"

#include "core/base/time.h"

#include <stdlib.h>

enum { MAX_REPEATS = 9 };

typedef struct probe {
    nino_cl *cl;
    const nino_cl_schedule *schedule;
    nino_ceiling_kind kind;
    nino_block set, out;
    uint64_t bytes; // of the set
    double least_seconds;
    size_t items;
    void *host;
    bool is_narrow; // fused multiply-adds of shorter vectors
} probe;

// Rounds over a set of n vectors that move about `total` vectors.
static uint32_t rounds(const probe *p, uint64_t n, double amount)
{
    const double r = amount / p->schedule->probing->round(n, p->items);
    return r < 1 ? 1 : r > 1e9 ? 1000000000u : (uint32_t) r;
}

static nino_status cl_probe_launch(const probe *p, const char *kernel, const char *defs,
                                   const nino_cl_arg *args, int n_args, nino_error *err)
{
    return nino_cl_launch(p->cl, "probe", kernel, defs, NULL, 1, &p->items, NULL, args, n_args,
                          err);
}

// One go of about `amount` (vectors, multiply-adds, launches, copies); *done: bytes, FLOPs,
// launches that it really did.
static nino_status cl_probe_go(const probe *p, double amount, double *done, nino_error *err)
{
    const nino_cl_probing *how = p->schedule->probing;
    const int lanes = how->vector;
    const uint64_t n = p->bytes / (uint64_t) (lanes * 4), half = n / 2;
    const size_t elem = (size_t) lanes * 4;
    uint32_t r = 1;
    switch (p->kind) {
    case NINO_CEILING_READ: {
        r = rounds(p, n, amount);
        const nino_cl_arg a[] = { A_BUF(&p->set, elem), A_BUF(&p->out, 4), A_INT(n), A_INT(r) };
        *done = how->round(n, p->items) * r * (double) elem;
        return cl_probe_launch(p, "probe_read", "", a, NINO_CL_COUNT(a), err);
    }
    case NINO_CEILING_WRITE:
    case NINO_CEILING_COPY: {
        const bool is_copy = p->kind == NINO_CEILING_COPY;
        const uint64_t m = is_copy ? half : n;
        r = rounds(p, m, amount);
        const nino_cl_arg a[] = { A_BUF(&p->set, elem), A_INT(m), A_INT(r) };
        *done = how->round(m, p->items) * r * (double) elem * (is_copy ? 2 : 1);
        return cl_probe_launch(p, is_copy ? "probe_copy" : "probe_write", "", a, NINO_CL_COUNT(a),
                               err);
    }
    case NINO_CEILING_F32:
    case NINO_CEILING_F16: {
        const bool is_half = p->kind == NINO_CEILING_F16;
        const int width = is_half ? how->fma_f16 : p->is_narrow ? how->fma_narrow : how->fma_f32;
        r = (uint32_t) (amount / (12.0 * (double) p->items)) + 1;
        const nino_cl_arg a[] = { A_BUF(&p->out, 4), A_F32(0.5f), A_F32(0.25f), A_INT(r) };
        *done = 2.0 * 12 * r * width * (double) p->items;
        return cl_probe_launch(p, p->is_narrow ? "probe_fma_narrow" : "probe_fma",
                               is_half ? "-DHALF=1" : "", a, NINO_CL_COUNT(a), err);
    }
    case NINO_CEILING_LAUNCH: {
        const nino_cl_arg a[] = { A_BUF(&p->out, 4) };
        nino_status st = NINO_OK;
        for (*done = 0; !st && *done < amount; *done += 1)
            st = cl_probe_launch(p, "probe_nothing", "", a, NINO_CL_COUNT(a), err);
        return st;
    }
    case NINO_CEILING_UPLOAD:
    case NINO_CEILING_DOWNLOAD: {
        const nino_backend_impl *impl = p->cl->be.impl;
        nino_status st = NINO_OK;
        double copies = 0;
        for (; !st && copies < amount; copies += 1)
            st = p->kind == NINO_CEILING_UPLOAD
                     ? impl->upload(&p->cl->be, &p->set, p->host, p->bytes, err)
                     : impl->download(&p->cl->be, &p->set, p->host, p->bytes, err);
        *done = copies * (double) p->bytes;
        return st;
    }
    }
    return nino_fail(err, NINO_ERR_ARG, "probe", "no such probe");
}

static nino_status timed(const probe *p, double amount, double *done, double *seconds,
                         nino_error *err)
{
    const uint64_t start = nino_now_ns();
    nino_status st = cl_probe_go(p, amount, done, err);
    if (!st)
        st = nino_cl_queue_finish(p->cl, err);
    *seconds = (double) (nino_now_ns() - start) * 1e-9;
    return st;
}

static int cl_probe_by_value(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return x < y ? -1 : x > y;
}

static nino_status cl_probe_prepare(probe *p, nino_error *err)
{
    nino_status st = NINO_OK;
    p->items = p->schedule->probing->items(p->kind, nino_cl_compute_units(p->cl), p->bytes);
    const bool is_copy = p->kind == NINO_CEILING_UPLOAD || p->kind == NINO_CEILING_DOWNLOAD;
    if (is_copy && !(p->host = calloc(p->bytes, 1)))
        return nino_fail(err, NINO_ERR_NOMEM, "probe", "no host memory");
    if ((st = nino_backend_alloc(&p->cl->be, p->items * 4, NINO_OWN_WORKSPACE, &p->out, err)))
        return st;
    if (p->bytes &&
        !(st = nino_backend_alloc(&p->cl->be, p->bytes, NINO_OWN_WORKSPACE, &p->set, err)))
        st = p->cl->be.impl->fill_zero(&p->cl->be, &p->set, p->bytes, err);
    return st ? st : nino_cl_queue_finish(p->cl, err);
}

// The median of some goes.
static nino_status cl_probe_median(const probe *p, int repeats, double *rate, nino_error *err)
{
    const bool is_launch = p->kind == NINO_CEILING_LAUNCH;
    double amount = is_launch ? 16 : p->kind >= NINO_CEILING_UPLOAD ? 1 : 1e5;
    double done = 0, seconds = 0, result[MAX_REPEATS];
    nino_status st =
        timed(p, amount, &done, &seconds, err); // builds the program, touches the memory
    // More and more until it takes long enough to be timed.
    for (int i = 0; i < 40 && !st; i++) {
        st = timed(p, amount, &done, &seconds, err);
        if (seconds >= p->least_seconds)
            break;
        const double more = p->least_seconds * 1.3 / (seconds > 1e-6 ? seconds : 1e-6);
        amount *= more < 16 ? more : 16;
    }
    repeats = repeats < 1 ? 1 : repeats > MAX_REPEATS ? MAX_REPEATS : repeats;
    for (int i = 0; i < repeats && !st; i++) {
        st = timed(p, amount, &done, &seconds, err);
        result[i] = is_launch ? seconds / done : done / seconds;
    }
    if (st)
        return st;
    qsort(result, (size_t) repeats, sizeof(result[0]), cl_probe_by_value);
    *rate = result[repeats / 2];
    return NINO_OK;
}

nino_status nino_cl_probe(nino_backend *be, nino_ceiling_kind kind, uint64_t bytes, int repeats,
                          double seconds, double *rate, nino_error *err)
{
    probe p = { .cl = (nino_cl *) be, .kind = kind, .bytes = bytes, .least_seconds = seconds };
    p.schedule = nino_cl_schedule_now(p.cl);
    double narrow = 0;
    nino_status st = cl_probe_prepare(&p, err);
    if (!st)
        st = cl_probe_median(&p, repeats, rate, err);
    if (!st && kind == NINO_CEILING_F32 && p.schedule->probing->fma_narrow) {
        p.is_narrow = true; // which of the two fills the registers depends on the processor
        st = cl_probe_median(&p, repeats, &narrow, err);
        *rate = narrow > *rate ? narrow : *rate;
    }
    nino_pool_free(be->pool, &p.set);
    nino_pool_free(be->pool, &p.out);
    free(p.host);
    return st;
}
