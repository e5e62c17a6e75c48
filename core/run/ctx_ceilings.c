// What a context knows of how fast its device can be, and tells its viewers: measured once, raised
// by the jobs, replaced when the device is measured anew.
#include "core/base/num.h"
#include "core/harness/measure_first.h"
#include "core/run/ctx_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// A number in a file of the device and the folder.
static bool load_rate_file(const nino_ctx *ctx, const char *folder, char *dir, char *path,
                           size_t size)
{
    char id[24];
    const nino_hash h = nino_hash_bytes(folder, strlen(folder));
    snprintf(id, sizeof(id), "%016llx", (unsigned long long) h.lo);
    return nino_device_file(ctx->cache_dir, "load", &ctx->backend->info, id, dir, path, size);
}

void nino_ctx_renew_load_rate(nino_ctx *ctx, const char *folder)
{
    char dir[4200], path[4200], text[64] = "";
    nino_profile *p = &ctx->backend->profile;
    double rate = 0;
    FILE *f = folder && !p->is_load_measured && load_rate_file(ctx, folder, dir, path, sizeof(path))
                  ? fopen(path, "re")
                  : NULL;
    if (!f)
        return;
    if (fgets(text, sizeof(text), f) && nino_parse_double(text, &rate) && rate >= 1e6 &&
        rate <= 1e12) {
        p->load_rate = rate;
        p->is_load_measured = true;
    }
    fclose(f);
}

void nino_ctx_keep_load_rate(nino_ctx *ctx, const char *folder, uint64_t bytes, uint64_t ns)
{
    char dir[4200], path[4200];
    nino_profile *p = &ctx->backend->profile;
    nino_buf b = { 0 };
    nino_error err;
    if (!folder || p->is_load_measured || bytes < NINO_LARGE_LOAD || !ns)
        return;
    p->load_rate = (double) bytes * 1e9 / (double) ns;
    p->is_load_measured = true;
    nino_logf(&ctx->log, NINO_LOG_INFO, "weights come in at %.2f GB/s from %s", p->load_rate * 1e-9,
              folder);
    if (!load_rate_file(ctx, folder, dir, path, sizeof(path)))
        return;
    nino_buf_addf(&b, "%.9g", p->load_rate);
    if (nino_device_file_save(dir, path, &b, &err))
        nino_logf(&ctx->log, NINO_LOG_INFO, "%s: %s", err.where, err.msg);
}
