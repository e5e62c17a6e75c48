// What a context knows of how fast its device can be, and tells its viewers: measured once, raised
// by the jobs, replaced when the device is measured anew.
#include "core/harness/measure_first.h"
#include "core/run/ctx_priv.h"

#include <stdio.h>
#include <stdlib.h>

// What was measured, else the data sheet's; false: nobody knows.
static bool ctx_ceilings_find(const nino_ctx *ctx, nino_ceilings *c)
{
    const nino_device_info *d = &ctx->backend->info;
    const bool is_known = !nino_ceilings_load(ctx->cache_dir, d, c, NULL) ||
                          (!nino_ceilings_of_profile(d->profile, c, NULL) && c->bandwidth > 0);
    snprintf(c->device, sizeof(c->device), "%s", d->name);
    return is_known;
}

void nino_ctx_start_sampler(nino_ctx *ctx)
{
    nino_measure_first(ctx->backend, ctx->cache_dir);
    const bool is_known = ctx_ceilings_find(ctx, &ctx->watch.c);
    ctx->backend->watch = &ctx->watch;
    // Without one only its numbers are missing.
    ctx->sampler = nino_device_sampler_start(ctx->monitor, "", is_known ? &ctx->watch.c : NULL);
}

void nino_ctx_renew_ceilings(nino_ctx *ctx)
{
    nino_ceilings c;
    if (nino_ceilings_load(ctx->cache_dir, &ctx->backend->info, &c, NULL) ||
        c.measured_at == ctx->watch.c.measured_at)
        return;
    ctx->watch = (nino_ceiling_watch){ .c = c };
    nino_device_sampler_tell(ctx->sampler, &c);
}

void nino_ctx_keep_ceilings(nino_ctx *ctx)
{
    nino_ceiling_watch *w = &ctx->watch;
    nino_error err;
    if (!w->is_raised)
        return;
    w->is_raised = false;
    nino_device_sampler_tell(ctx->sampler, &w->c);
    if (nino_ceilings_save(ctx->cache_dir, &ctx->backend->info, &w->c, &err))
        nino_logf(&ctx->log, NINO_LOG_WARN, "%s: %s", err.where, err.msg);
}

void nino_ctx_renew_paces(nino_ctx *ctx)
{
    nino_backend *be = ctx->backend;
    if (nino_acts(&be->profile, NINO_POLICY_ADAPTIVE) && !be->paces &&
        (be->paces = calloc(1, sizeof(*be->paces))))
        nino_paces_load(be->paces, ctx->cache_dir, &be->info);
}

void nino_ctx_keep_paces(nino_ctx *ctx)
{
    nino_error err = { 0 };
    nino_backend *be = ctx->backend;
    if (be->paces && nino_paces_save(be->paces, ctx->cache_dir, &be->info, &err))
        nino_logf(&ctx->log, NINO_LOG_INFO, "%s: %s", err.where, err.msg);
}
