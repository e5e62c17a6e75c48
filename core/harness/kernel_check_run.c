// The kernel harness: runs a case on a device and on ref, compares the results, and times it.
#include "core/base/error.h"
#include "core/base/time.h"
#include "core/harness/kernel_check_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_intact(const unsigned char *p)
{
    for (size_t i = 0; i < CHECK_GUARD; i++)
        if (p[i] != CHECK_GUARD_BYTE)
            return false;
    return true;
}

// Downloads block m and checks its guards; the interior goes to data unless NULL.
static nino_status check_run_fetch(nino_backend *be, const nino_block *m, size_t bytes,
                                   const char *what, void *data, nino_error *err)
{
    unsigned char *host = malloc(bytes + 2 * CHECK_GUARD);
    if (!host)
        return nino_fail(err, NINO_ERR_NOMEM, "check", "no host memory");
    nino_status st = be->impl->download(be, m, host, bytes + 2 * CHECK_GUARD, err);
    if (!st && (!is_intact(host) || !is_intact(host + CHECK_GUARD + bytes)))
        st = nino_fail(err, NINO_ERR_DEVICE, "check", "wrote %s the %s",
                       is_intact(host) ? "behind" : "before", what);
    if (!st && data)
        memcpy(data, host + CHECK_GUARD, bytes);
    free(host);
    return st;
}

nino_array *check_side_run(check_side *s, nino_error *err)
{
    nino_backend *be = s->be;
    const nino_tensor *y = s->call.dst;
    nino_array *a = nino_array_create(y->dtype, y->shape);
    if (!a) {
        nino_fail(err, NINO_ERR_NOMEM, "check", "no host memory");
        return NULL;
    }
    nino_status st = be->impl->run(be, &s->call, err);
    if (!st)
        st = be->impl->finish(be, err);
    if (!st)
        st = check_run_fetch(be, s->in_place >= 0 ? &s->src_mem[s->in_place] : &s->dst_mem,
                             a->bytes, "result", a->data, err);
    if (!st && s->work_mem.arena)
        st = check_run_fetch(be, &s->work_mem, be->impl->workspace(be, &s->call.d), "workspace",
                             NULL, err);
    if (st)
        nino_array_unref(&a);
    return a;
}

// ---- comparing -------------------------------------------------------------------------------

static double element(const nino_array *a, int64_t i)
{
    float f = 0;
    if (a->dtype == NINO_U32)
        return ((const uint32_t *) a->data)[i];
    nino_to_f32(&f, (const char *) a->data + (size_t) i * nino_dtype_size(a->dtype), a->dtype, 1);
    return f;
}

// NaN counts as infinitely wrong unless ref has it too. One wrong value among many hardly moves the
// mean, so the largest difference is bounded as well, by a multiple of what the tolerance allows on
// average.
static void check_run_compare(const nino_array *got, const nino_array *want, nino_check_result *r)
{
    const int64_t n = nino_shape_count(&want->shape);
    double diff = 0, power = 0;
    int64_t worst = 0;
    r->max_abs = 0;
    for (int64_t i = 0; i < n; i++) {
        const double a = element(got, i), b = element(want, i);
        if (isnan(b) && isnan(a))
            continue;
        double e = a == b ? 0 : fabs(a - b);
        if (isnan(e))
            e = INFINITY;
        if (e > r->max_abs) {
            r->max_abs = e;
            worst = i;
        }
        diff += e * e;
        power += isfinite(b) ? b * b : 0;
    }
    r->nmse = diff == 0 ? 0 : power > 0 ? diff / power : INFINITY;
    const double rms = n > 0 ? sqrt(power / (double) n) : 0;
    r->ok = r->nmse <= r->tol && r->max_abs <= 30 * sqrt(r->tol) * rms;
    if (!r->ok)
        snprintf(r->note, sizeof(r->note), "element %lld of %lld is %.9g, expected %.9g",
                 (long long) worst, (long long) n, element(got, worst), element(want, worst));
}

// Blocks are decoded to numbers of more bits than 16-bit operands have, to which they are rounded: that
// moves results by as much, and so, where these are rounded to the same type, once more.
static double operand_rounding(const nino_profile *p, nino_dtype act)
{
    const double step = act == NINO_F16 ? 0x1p-11 : 0x1p-8; // half of the last place
    return nino_sched_operand(p, act) == NINO_F32 ? 0 : 2 * step * step / 3;
}

static double tolerance(const nino_check_case *c, const nino_profile *p, nino_dtype type)
{
    const nino_op_def *op = &nino_ops[c->op];
    if (type == NINO_F32)
        return op->tol_f32;
    return op->tol_f16 * (type == NINO_F16 ? 1 : 64) +
           (nino_dtype_is_block(c->weight) ? operand_rounding(p, type) : 0);
}

nino_status check_side_time(check_side *s, double *seconds, nino_error *err)
{
    const uint64_t start = nino_now_ns();
    nino_status st = s->be->impl->run(s->be, &s->call, err);
    if (!st)
        st = s->be->impl->finish(s->be, err);
    *seconds = (double) (nino_now_ns() - start) * 1e-9;
    return st;
}

// Median of at most 21 runs or about half a second.
static nino_status time_side(check_side *s, double flops, nino_check_result *r, nino_error *err)
{
    double t[21];
    int n = 0;
    for (double sum = 0; n < 21 && (n < 3 || sum < 0.5); n++) {
        const nino_status st = check_side_time(s, &t[n], err);
        if (st)
            return st;
        sum += t[n];
        for (int i = n; i > 0 && t[i] < t[i - 1]; i--) {
            const double x = t[i];
            t[i] = t[i - 1];
            t[i - 1] = x;
        }
    }
    r->ms = t[n / 2] * 1e3;
    r->gflops = flops / t[n / 2] * 1e-9;
    return NINO_OK;
}

// ---- one case --------------------------------------------------------------------------------

void nino_check_run(nino_backend *be, nino_backend *ref, const nino_check_case *c, nino_dtype type,
                    int in_place, uint64_t seed, bool bench, nino_check_result *r)
{
    check_side a = { .be = be, .in_place = in_place }, b = { .be = ref, .in_place = in_place };
    check_job j;
    nino_array *got = NULL, *want = NULL;
    nino_error err = { 0 };
    *r = (nino_check_result){ .tol = tolerance(c, &be->profile, type) };
    nino_check_name(c, type, in_place, r->name, sizeof(r->name));
    if (check_job_init(&j, c, type, &be->profile, seed, &err) || check_side_prepare(&a, &j, &err) ||
        !(got = check_side_run(&a, &err)))
        goto end;
    if (c->only_bench)
        r->ok = true;
    else {
        if (check_side_prepare(&b, &j, &err) || !(want = check_side_run(&b, &err)))
            goto end;
        check_run_compare(got, want, r);
    }
    if (bench && r->ok)
        r->ok = time_side(&a, nino_ops[c->op].flops(&j.d), r, &err) == NINO_OK;
end:
    if (err.code) {
        r->ok = false;
        snprintf(r->note, sizeof(r->note), "%.159s", err.msg);
    }
    check_side_release(&a);
    check_side_release(&b);
    nino_array_unref(&got);
    nino_array_unref(&want);
    check_job_release(&j);
}
