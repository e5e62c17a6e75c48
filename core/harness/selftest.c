// nino_selftest(): the kernel harness over all cases, storage types and in-place variants.
#include "core/base/error.h"
#include "core/harness/kernel_check.h"
#include "core/op/device/device.h"
#include "core/base/params.h"
#include <ninodes/selftest.h>

#include <string.h>

typedef struct run {
    nino_backend *be, *ref;
    const nino_selftest_params *p;
    void (*report)(void *priv, const nino_selftest_case *c);
    void *priv;
    unsigned n_failed, n_run;
} run;

static void selftest_emit(run *r, const nino_check_result *c)
{
    const nino_selftest_case out = { .name = c->name,
                                     .ok = c->ok,
                                     .nmse = c->nmse,
                                     .max_abs = c->max_abs,
                                     .tol = c->tol,
                                     .ms = c->ms,
                                     .gflops = c->gflops,
                                     .note = c->note };
    r->n_run++;
    r->n_failed += !c->ok;
    if (r->report)
        r->report(r->priv, &out);
}

static void selftest_run_case(run *r, const nino_check_case *c)
{
    static const nino_dtype types[] = { NINO_F32, NINO_F16, NINO_BF16 };
    const unsigned mask = nino_ops[c->op].in_place;
    const uint64_t seed = r->p->seed ? r->p->seed : 1;
    for (int t = 0; t < 3; t++)
        for (int in_place = -1; in_place < 2; in_place++) {
            nino_check_result out;
            char name[sizeof(out.name)];
            if (in_place >= 0 &&
                (!(mask >> in_place & 1) || !c->src[0][0] ||
                 (in_place == 1 && (c->n || c->op == NINO_OP_SHUFFLE) && !c->residual) ||
                 c->only_bench))
                continue;
            if (in_place == 1 && !c->n && !c->residual &&
                memcmp(c->src[0], c->src[1], sizeof(c->src[0])))
                continue; // broadcast
            if (c->op == NINO_OP_BLEND && in_place < 0)
                continue; // its result is its source
            nino_check_name(c, types[t], in_place, name, sizeof(name));
            if (r->p->op && !strstr(name, r->p->op))
                continue;
            nino_check_run(r->be, r->ref, c, types[t], in_place, seed, r->p->bench && in_place < 0,
                           &out);
            selftest_emit(r, &out);
        }
}

// A new op cannot be forgotten: without a case it fails the run.
static void check_complete(run *r)
{
    for (int op = 0; op < NINO_OP_COUNT; op++) {
        size_t i = 0;
        while (i < nino_n_check_cases &&
               (nino_check_cases[i].op != (nino_op_id) op || nino_check_cases[i].is_large ||
                nino_check_cases[i].only_bench))
            i++;
        if (i < nino_n_check_cases)
            continue;
        nino_check_result missing = { .note = "no case in core/harness/kernel_check_cases.c" };
        strncpy(missing.name, nino_ops[op].name, sizeof(missing.name) - 1);
        selftest_emit(r, &missing);
    }
}

static nino_status selftest_set_schedule(nino_backend *be, const nino_selftest_params *p,
                                         nino_error *err)
{
    const char *name = p->schedule ? p->schedule : p->gemm;
    if (name && be->profile.schedule->is_plain)
        return nino_fail(err, NINO_ERR_ARG, name, "the device %s has no %s", be->profile.name,
                         p->schedule ? "schedules" : "engines to choose from");
    return p->schedule ? nino_sched_find(name, name, &be->profile.schedule, err) : NINO_OK;
}

nino_status nino_selftest(const nino_selftest_params *params,
                          void (*report)(void *priv, const nino_selftest_case *c), void *priv,
                          nino_error *err)
{
    nino_selftest_params p;
    if (!NINO_TAKE(&p, params, NINO_SELFTEST_PARAMS_INIT, err))
        return NINO_ERR_ARG;
    run r = { .p = &p, .report = report, .priv = priv };
    nino_status st = NINO_OK;
    nino_error e = { 0 };
    const nino_ctx_params cp = { NINO_CTX_PARAMS_INIT, .gemm = p.gemm };
    r.be = nino_device_open(r.p->device, &cp, NULL, &e);
    r.ref = r.be && !selftest_set_schedule(r.be, &p, &e) ? nino_ref_open(0, NULL, &e) : NULL;
    if (!r.ref) {
        st = e.code;
        if (err)
            *err = e;
        goto end;
    }
    for (size_t i = 0; i < nino_n_check_cases; i++) {
        const nino_check_case *c = &nino_check_cases[i];
        if ((r.p->quick && c->is_large) || (c->only_bench && !r.p->bench))
            continue;
        selftest_run_case(&r, c);
    }
    check_complete(&r);
    if (r.n_failed)
        st = nino_fail(err, NINO_ERR_DEVICE, r.be->profile.name, "%u of %u cases failed",
                       r.n_failed, r.n_run);
    else if (!r.n_run)
        st = nino_fail(err, NINO_ERR_UNKNOWN, r.p->op ? r.p->op : "",
                       "no case has this in its name");
end:
    nino_backend_close(&r.be);
    nino_backend_close(&r.ref);
    return st;
}
