// Planning a graph: its nodes on a plan backend, sums by scope.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/run/execute.h"
#include "core/op/device/device.h"
#include "core/op/clocks.h"
#include "core/op/plan/plan.h"

// Tiles of the last decode, from the events that the tile code publishes on a monitor of our own.
static void find_tiling(const nino_monitor *m, nino_mon_reader *reader, nino_plan *out)
{
    nino_event ev[256];
    size_t n;
    while ((n = nino_mon_reader_read(reader, ev, 256, NULL)))
        for (size_t i = 0; i < n; i++) {
            if (ev[i].kind != NINO_EV_TILE_INFO)
                continue;
            const bool is_first = ev[i].u.tile.order == 0;
            out->tiling.is_tiled = ev[i].u.tile.n > 1;
            out->tiling.n_tiles = ev[i].u.tile.n;
            if (is_first || ev[i].u.tile.w > out->tiling.tile_w)
                out->tiling.tile_w = ev[i].u.tile.w;
            if (is_first || ev[i].u.tile.h > out->tiling.tile_h)
                out->tiling.tile_h = ev[i].u.tile.h;
            snprintf(out->tiling.why, sizeof(out->tiling.why), "%s",
                     nino_monitor_name_text(m, ev[i].name));
            // The tiles at the ends of a row share pixels on one side only. Of many tiles the first
            // may no longer be among what is kept.
            const int shared = ev[i].u.tile.w - ev[i].u.tile.core_w;
            if (shared && (!out->tiling.overlap || shared < out->tiling.overlap))
                out->tiling.overlap = shared;
        }
}

static void plan_graph_basis(const nino_backend *be, nino_plan_basis *b)
{
    const nino_profile *p = &be->profile;
    const bool is_f16 = nino_profile_uses_f16_peak(p, p->act_type);
    const bool is_model =
        p->units && is_f16 && !p->is_measured; // efficiencies are shares of its bounds
    const double product = is_model ? nino_clocks_best(NINO_CLOCKS_PRODUCT) : 1;
    const double attention = is_model ? nino_clocks_best(NINO_CLOCKS_FLASH) : 1;
    *b = (nino_plan_basis){ .is_measured = p->is_measured,
                            .peak = is_f16 ? p->peak_f16 : p->peak_f32,
                            .bandwidth = p->bandwidth,
                            .launch_s = p->launch_s,
                            .efficiency_gemm = p->efficiency_gemm * product,
                            .efficiency_conv = p->efficiency_conv * product,
                            .efficiency_attn = p->efficiency_attn * attention };
    snprintf(b->file, sizeof(b->file), "%s", p->file);
    snprintf(b->date, sizeof(b->date), "%s", p->date);
    snprintf(b->peak_type, sizeof(b->peak_type), "%s", is_f16 ? "f16" : "f32");
    const double compute = b->peak > 0 ? be->flops / b->peak : 0;
    const double memory = b->bandwidth > 0 ? be->bytes / b->bandwidth : 0;
    b->least_seconds = compute > memory ? compute : memory;
}

static nino_status plan_graph_fill(nino_backend *be, nino_plan *out, nino_error *err)
{
    nino_mem_stat mem;
    size_t n = 0;
    const nino_plan_scope *s = nino_plan_backend_scopes(be, &n);
    nino_pool_stat(be->pool, &mem);
    out->scopes = calloc(n + 1, sizeof(*out->scopes));
    if (!out->scopes)
        return nino_fail(err, NINO_ERR_NOMEM, "plan", "out of memory");
    if (n)
        memcpy(out->scopes, s, n * sizeof(*s));
    out->n_scopes = n;
    snprintf(out->profile, sizeof(out->profile), "%s", be->profile.name);
    plan_graph_basis(be, &out->basis);
    out->flops = be->flops;
    out->bytes = be->bytes;
    out->kernels = be->n_ops;
    out->seconds = nino_plan_backend_seconds(be);
    out->peak_bytes = mem.peak;
    out->weight_bytes = mem.peak_by_owner[NINO_OWN_WEIGHTS];
    out->peak_activation_bytes = mem.peak - out->weight_bytes;
    out->budget = mem.budget;
    return NINO_OK;
}

static void plan_graph_first_error(void *priv, const nino_issue *i)
{
    nino_error *e = priv;
    if (i->severity == NINO_ISSUE_ERROR && !e->code)
        nino_fail_kind(e, strcmp(i->code, "missing_file") ? NINO_ERR_FORMAT : NINO_ERR_MISSING,
                       i->code, i->node, "%s", i->message);
}

// Runs x's graph on a plan backend with a budget (0: unlimited).
static nino_status plan_graph_walk(nino_exec *x, const nino_profile *prof,
                                   const nino_device_info *like, uint64_t budget, nino_plan *out,
                                   nino_error *err)
{
    nino_plan plan = { 0 };
    nino_status st = NINO_OK;
    nino_error e = { 0 };
    nino_backend *be = NULL;
    nino_mon_reader *reader = NULL;
    nino_programs programs = { .n = 0 };
    nino_monitor *m = nino_monitor_create();
    if (!m || !(reader = nino_mon_reader_create(m)) ||
        !(be = nino_plan_open(prof, budget, NULL, &e))) {
        st = e.code ? e.code : nino_fail(&e, NINO_ERR_NOMEM, "plan", "out of memory");
        goto end;
    }
    nino_plan_set_lister(be, nino_device_program_lister(prof, like, &programs));
    const nino_stream_params sp = { .backend = be, .monitor = m, .precision = x->precision };
    if (!(x->stream = nino_stream_create(&sp, &e)))
        st = e.code;
    else
        st = nino_exec_run(x, &e);
    if (st == NINO_OK && (st = plan_graph_fill(be, &plan, &e)) == NINO_OK) {
        find_tiling(m, reader, &plan);
        plan.fits = !plan.budget || plan.peak_bytes <= plan.budget;
        plan.n_programs = programs.n;
        plan.programs = programs.list;
        programs = (nino_programs){ .n = 0 };
        *out = plan;
    }
end:
    nino_stream_destroy(&x->stream);
    nino_backend_close(&be);
    nino_mon_reader_destroy(&reader);
    nino_monitor_destroy(&m);
    nino_programs_release(&programs);
    if (st && err)
        *err = e;
    return st;
}

// Memory of a device that is not here, as far as it may be used.
static uint64_t plan_elsewhere(uint64_t has, uint64_t limit)
{
    return limit && (!has || limit < has) ? limit : has;
}

nino_status nino_graph_plan(nino_ctx *ctx, nino_graph *g, const char *profile,
                            const nino_job_options *options, nino_plan *out, nino_error *err)
{
    nino_job_options o;
    const bool own_device = !profile || !*profile;
    nino_mem_stat mem;
    nino_error e = { 0 };
    nino_status st = NINO_OK;
    nino_profile prof;
    if (!NINO_TAKE(&o, options, NINO_JOB_OPTIONS_INIT, err))
        return NINO_ERR_ARG;
    nino_settings *settings = nino_ctx_settings_with(ctx, &o, err);
    if (!settings)
        return NINO_ERR_NOMEM;
    settings->o.no_files = true; // a plan writes nothing, wherever it could
    nino_ctx_enter(ctx, NULL, settings);
    nino_exec x = { .ctx = ctx, .is_plan = true };
    x.precision = nino_precision_of(settings->o.precision);
    x.switched = nino_options_switched(&settings->o);
    if (own_device)
        prof = nino_ctx_backend(ctx)->profile;
    else if ((st = nino_profile_load(profile, &prof, &e)))
        goto end;
    prof.gemm = nino_ctx_backend(ctx)->profile.gemm; // as asked for, wherever it is to run
    prof.has_blas = nino_ctx_backend(ctx)->profile.has_blas;
    if (!(x.g = nino_graph_copy(g, &e)) || nino_graph_check(x.g, ctx, plan_graph_first_error, &e)) {
        st = e.code;
        goto end;
    }
    prof.switched = x.switched;
    // 0: no limit; a plan of a device that is not here says what it would need
    nino_pool_stat(nino_ctx_backend(ctx)->pool, &mem);
    const uint64_t budget =
        own_device ? mem.budget : plan_elsewhere(prof.mem_bytes, nino_ctx_backend(ctx)->mem_limit);
    const nino_device_info *like = own_device ? &nino_ctx_backend(ctx)->info : NULL;
    st = plan_graph_walk(&x, &prof, like, budget, out, &e);
    if (st == NINO_ERR_NOMEM && budget &&
        (st = plan_graph_walk(&x, &prof, like, 0, out, &e)) == NINO_OK) {
        out->budget = budget; // the same run without it: what is missing
        out->fits = false;
    }
end:
    nino_graph_destroy(&x.g);
    nino_ctx_leave(ctx);
    nino_settings_destroy(&settings);
    if (st && err)
        *err = e;
    return st;
}

void nino_plan_release(nino_plan *p)
{
    free(p->scopes);
    free(p->programs);
    *p = (nino_plan){ 0 };
}
