// Measuring the ceilings of a device.
#include "core/op/ceilings.h"

#include "core/base/error.h"
#include "core/base/params.h"
#include "core/base/time.h"
#include "core/base/vars.h"
#include "core/harness/kernel_check.h"
#include "core/harness/measure_first.h"
#include "core/op/device/device.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

static const uint64_t least_set = 32 << 10, most_set = 512 << 20, copy_bytes = 32 << 20;

typedef struct session {
    nino_backend *be;
    const nino_measure_params *p;
    bool is_first; // at the first use: only what shares of peak and predicted times need
    nino_status st;
    nino_error *err;
} session;

static void measure_tell(const session *s, const char *what)
{
    if (s->p->progress)
        s->p->progress(s->p->priv, what);
}

// 0 once something has failed; the first failure stays.
static double measure_probe(session *s, nino_ceiling_kind kind, uint64_t bytes)
{
    double rate = 0;
    if (!s->st)
        s->st = s->be->impl->probe(s->be, kind, bytes, s->p->quick ? 1 : 3,
                                   s->is_first ? 2e-3 : 6e-3, &rate, s->err);
    return s->st ? 0 : rate;
}

static void measure_memory(session *s, nino_ceilings *c)
{
    nino_mem_stat m;
    nino_pool_stat(s->be->pool, &m);
    uint64_t most = s->p->quick ? 8 << 20 : s->is_first ? 64 << 20 : most_set;
    while (m.budget && most > m.budget / 4 && most > least_set)
        most /= 2;
    const int step = s->is_first ? 5 : s->p->quick ? 4 : 1;
    for (uint64_t n = s->is_first ? 64 << 10 : least_set; n <= most && !s->st; n <<= step) {
        char what[64];
        snprintf(what, sizeof(what), "memory, working set of %llu %s",
                 (unsigned long long) (n >> (n >> 20 ? 20 : 10)), n >> 20 ? "MiB" : "KiB");
        measure_tell(s, what);
        nino_ceiling_point p = { .bytes = n, .copy = measure_probe(s, NINO_CEILING_COPY, n) };
        if (!s->is_first) {
            p.read = measure_probe(s, NINO_CEILING_READ, n);
            p.write = measure_probe(s, NINO_CEILING_WRITE, n);
        }
        c->point[c->n_points++] = p;
    }
    c->bandwidth = c->n_points ? c->point[c->n_points - 1].copy : 0;
}

// How much of the peak the library's own kernel reaches on one large case, of which it does `part`
// of the arithmetic. One that is faster than the probe shows a higher peak.
static double efficiency(session *s, const nino_check_case *k, double part, double *peak)
{
    nino_check_result r;
    if (s->st)
        return 0;
    nino_check_run(s->be, s->be, k, s->be->profile.act_type, -1, 1, true, &r);
    if (!r.ok)
        s->st = nino_fail(s->err, NINO_ERR_DEVICE, r.name, "%s", r.note);
    const double rate = s->st ? 0 : r.gflops * 1e9 * part;
    *peak = fmax(*peak, rate);
    return *peak > 0 ? rate / *peak : 0;
}

static void measure_kernels(session *s, nino_ceilings *c)
{
    static const nino_check_case gemm = { .op = NINO_OP_LINEAR,
                                          .src = { { 1024, 1024 } },
                                          .n = 1024,
                                          .weight = NINO_F16,
                                          .only_bench = true };
    static const nino_check_case conv = { .op = NINO_OP_CONV2D,
                                          .attr = { .kernel = 3, .stride = 1 },
                                          .src = { { 1, 64, 64, 256 } },
                                          .n = 256,
                                          .weight = NINO_F16,
                                          .only_bench = true };
    static const nino_check_case attn = {
        .op = NINO_OP_ATTENTION,
        .attr = { .heads = 8 },
        .src = { { 1, 1024, 512 }, { 1, 1024, 512 }, { 1, 1024, 512 } },
        .only_bench = true
    };
    const nino_profile *p = &s->be->profile;
    const bool is_matrix = p->schedule->has_matrix && p->act_type != NINO_F32;
    double *peak = is_matrix && c->flops_f16 > 0 ? &c->flops_f16 : &c->flops_f32;
    const bool has_winograd =
        p->has_winograd && p->schedule->has_winograd && p->act_type == NINO_F32;
    measure_tell(s, "matrix product");
    c->efficiency_gemm = efficiency(s, &gemm, 1, peak);
    measure_tell(s, "convolution");
    c->efficiency_conv = efficiency(s, &conv, has_winograd ? 0.25 : 1, peak);
    measure_tell(s, "attention");
    c->efficiency_attn = efficiency(s, &attn, 1, peak);
}

static nino_status measure_device(session *s, nino_ceilings *c)
{
    const nino_device_info *d = &s->be->info;
    c->measured_at = (int64_t) time(NULL);
    snprintf(c->device, sizeof(c->device), "%s", d->name);
    snprintf(c->driver, sizeof(c->driver), "%s", d->driver);
    snprintf(c->platform, sizeof(c->platform), "%s", d->platform);
    measure_tell(s, "arithmetic");
    c->flops_f32 = measure_probe(s, NINO_CEILING_F32, 0);
    c->flops_f16 = d->has_fp16 ? measure_probe(s, NINO_CEILING_F16, 0) : 0;
    measure_tell(s, "kernel launches");
    c->launch_s = measure_probe(s, NINO_CEILING_LAUNCH, 0);
    measure_memory(s, c);
    if (!s->is_first) {
        measure_tell(s, "copies between host and device");
        c->upload = measure_probe(s, NINO_CEILING_UPLOAD, copy_bytes);
        c->download = measure_probe(s, NINO_CEILING_DOWNLOAD, copy_bytes);
    }
    if (!s->is_first && !s->p->quick)
        measure_kernels(s, c);
    if (!s->st)
        s->st = nino_ceilings_save(s->p->cache_dir, d, c, s->err);
    return s->st;
}

nino_status nino_measure(const nino_measure_params *params, nino_ceilings *out, nino_error *err)
{
    nino_measure_params p;
    if (!NINO_TAKE(&p, params, NINO_MEASURE_PARAMS_INIT, err))
        return NINO_ERR_ARG;
    nino_error mine = { .code = NINO_OK };
    session s = { .p = &p, .err = err ? err : &mine };
    const nino_ctx_params cp = { .cache_dir = s.p->cache_dir };
    nino_ceilings c = { .measured_at = 0 };
    s.be = nino_device_open(s.p->device, &cp, NULL, s.err);
    if (!s.be)
        return s.err->code;
    if (!s.be->impl->probe)
        s.st = nino_fail(s.err, NINO_ERR_UNSUPPORTED, s.be->info.selector,
                         "only OpenCL devices have probes");
    else if (!measure_device(&s, &c))
        *out = c;
    nino_backend_close(&s.be);
    return s.st;
}

bool nino_measure_first(nino_backend *be, const char *cache_dir)
{
    char dir[4096];
    const nino_profile *p = &be->profile;
    if (p->is_measured || !p->is_stand_in || !be->impl->probe ||
        !nino_cache_dir(cache_dir, dir, sizeof(dir)))
        return false;
    nino_error err = { .code = NINO_OK };
    const nino_measure_params params = { NINO_MEASURE_PARAMS_INIT, .cache_dir = cache_dir };
    session s = { .be = be, .p = &params, .is_first = true, .err = &err };
    nino_ceilings c = { .measured_at = 0 };
    const uint64_t start = nino_now_ns();
    const nino_status st = measure_device(&s, &c);
    nino_pool_trim(be->pool);
    if (st)
        nino_logf(be->log, NINO_LOG_WARN, "%s could not be measured: %s: %s", be->info.name,
                  err.where, err.msg);
    else
        nino_logf(be->log, NINO_LOG_INFO, "%s was measured in %.2f s: %.1f GFLOP/s, %.1f GB/s",
                  be->info.name, (double) (nino_now_ns() - start) * 1e-9, c.flops_f32 * 1e-9,
                  c.bandwidth * 1e-9);
    return !st && nino_ceilings_apply(cache_dir, &be->info, &be->profile);
}
