// Planning a graph: its nodes on a plan backend, sums by scope.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/run/execute.h"
#include "core/op/device/device.h"
#include "core/op/clocks.h"
#include "core/op/plan/plan.h"
#include "core/op/pool.h"
#include "core/tile/needs.h"

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

// ---- walks -------------------------------------------------------------------------------------

// A graph, and the device that it is planned for.
typedef struct grapher {
    nino_exec *x;
    nino_profile prof;
    const nino_device_info *like; // NULL: it is not here
    nino_needs *needs;            // may be NULL
    nino_plan *out;               // filled in by the walk; NULL: not wanted
} grapher;

// Runs the graph on a plan backend with a budget (0: unlimited).
static nino_status walk_graph(void *priv, uint64_t budget, const nino_choice *choice,
                              nino_outcome *found, nino_error *err)
{
    grapher *w = priv;
    nino_exec *x = w->x;
    nino_status st = NINO_OK;
    nino_error e = { 0 };
    nino_backend *be = NULL;
    nino_mon_reader *reader = NULL;
    nino_programs programs = { .n = 0 };
    nino_monitor *m = w->out ? nino_monitor_create() : NULL;
    if ((w->out && (!m || !(reader = nino_mon_reader_create(m)))) ||
        !(be = nino_plan_open(&w->prof, budget, NULL, &e))) {
        st = e.code ? e.code : nino_fail(&e, NINO_ERR_NOMEM, "plan", "out of memory");
        goto end;
    }
    if (w->out)
        nino_plan_set_lister(be, nino_device_program_lister(&w->prof, w->like, &programs));
    const nino_stream_params sp = { .backend = be,
                                    .monitor = m,
                                    .precision = x->precision,
                                    .lend = nino_ctx_lend(x->ctx),
                                    .needs = w->needs };
    x->choice = choice;
    x->found = found->node;
    if (!(x->stream = nino_stream_create(&sp, &e)))
        st = e.code;
    else
        st = nino_exec_run(x, &e);
    if (st == NINO_OK) {
        nino_mem_stat mem;
        nino_pool_stat(be->pool, &mem);
        found->flops = be->flops;
        found->seconds = nino_plan_backend_seconds(be);
        found->load_bytes = be->load_bytes;
        found->peak = mem.peak;
    }
    if (st == NINO_OK && w->out) {
        nino_plan plan = { 0 };
        if ((st = plan_graph_fill(be, &plan, &e)) == NINO_OK) {
            find_tiling(m, reader, &plan);
            plan.fits = !plan.budget || plan.peak_bytes <= plan.budget;
            plan.n_programs = programs.n;
            plan.programs = programs.list;
            programs = (nino_programs){ .n = 0 };
            *w->out = plan;
        }
    }
end:
    nino_stream_destroy(&x->stream);
    nino_backend_close(&be);
    nino_mon_reader_destroy(&reader);
    nino_monitor_destroy(&m);
    nino_programs_release(&programs);
    found->is_host = st == NINO_ERR_NOMEM && (!e.kind || strcmp(e.kind, NINO_KIND_BUDGET) != 0);
    if (st && err)
        *err = e;
    return st;
}

// ---- a fit -------------------------------------------------------------------------------------

struct nino_scheme {
    nino_plan plan;
    nino_planned planned;
    uint64_t budget;
    double load_rate;
    bool is_load_measured;
    struct row {
        int node;
        char name[128], what[240];
    } * rows; // nodes for which something was chosen
    size_t n_rows;
};

static nino_status list_rows(nino_scheme *f, const nino_graph *g, nino_error *err)
{
    if (!(f->rows = calloc((size_t) g->n_order + 1, sizeof(*f->rows))))
        return nino_fail(err, NINO_ERR_NOMEM, "plan", "out of memory");
    for (int k = 0; k < g->n_order && f->planned.fits; k++) {
        struct row *r = &f->rows[f->n_rows];
        const nino_gnode *n = &g->nodes[g->order[k]];
        r->node = g->order[k];
        snprintf(r->name, sizeof(r->name), "%.40s %.60s", n->id, n->class_type);
        f->n_rows += nino_planner_what(&f->planned, r->node, r->what, sizeof(r->what));
    }
    return NINO_OK;
}

// Chooses, and walks once more with all that is to be told.
static nino_status fit_graph(nino_scheme *f, grapher *w, nino_error *err)
{
    const nino_walker walker = { .walk = walk_graph,
                                 .priv = w,
                                 .profile = &w->prof,
                                 .n_nodes = w->x->g->n_nodes,
                                 .may_narrow = nino_exec_may_narrow(w->x, &w->prof) };
    nino_status st = nino_planner_choose(&walker, f->budget, &f->planned, err);
    if (st)
        return st;
    nino_outcome last = { .node = NULL };
    w->out = &f->plan;
    f->load_rate = nino_planner_load_rate(&w->prof);
    f->is_load_measured = w->prof.is_load_measured;
    st = walk_graph(w, f->planned.fits ? f->planned.budget : 0, f->planned.choice, &last, err);
    f->plan.budget = f->budget;
    if (!f->planned.fits)
        f->plan.fits = false; // the same run without it: what is missing
    return st ? st : list_rows(f, w->x->g, err);
}

// Memory of a device that is not here, as far as it may be used.
static uint64_t plan_elsewhere(uint64_t has, uint64_t limit)
{
    return limit && (!has || limit < has) ? limit : has;
}

nino_scheme *nino_scheme_create(nino_ctx *ctx, nino_graph *g, const char *profile,
                                const nino_job_options *options, uint64_t budget, nino_error *err)
{
    nino_job_options o;
    const bool own_device = !profile || !*profile;
    nino_mem_stat mem;
    nino_error e = { 0 };
    nino_status st = NINO_OK;
    if (!NINO_TAKE(&o, options, NINO_JOB_OPTIONS_INIT, err))
        return NULL;
    nino_scheme *f = calloc(1, sizeof(*f));
    nino_settings *settings = f ? nino_ctx_settings_with(ctx, &o, err) : NULL;
    if (!settings) {
        if (!f)
            nino_fail(err, NINO_ERR_NOMEM, "plan", "out of memory");
        free(f);
        return NULL;
    }
    settings->o.no_files = true; // a plan writes nothing, wherever it could
    nino_ctx_enter(ctx, NULL, settings);
    nino_exec x = { .ctx = ctx, .is_plan = true };
    grapher w = { .x = &x, .needs = nino_needs_create() };
    x.precision = nino_precision_of(settings->o.precision);
    x.switched = nino_options_switched(&settings->o);
    nino_ctx_renew_load_rate(ctx, settings->o.models ? settings->o.models[0] : NULL);
    if (own_device)
        w.prof = nino_ctx_backend(ctx)->profile;
    else if ((st = nino_profile_load(profile, &w.prof, &e)) || (st = nino_tuning_ship(&w.prof, &e)))
        goto end;
    w.prof.gemm = nino_ctx_backend(ctx)->profile.gemm; // as asked for, wherever it is to run
    w.prof.has_blas = nino_ctx_backend(ctx)->profile.has_blas;
    if (!(x.g = nino_graph_copy(g, &e)) || nino_graph_check(x.g, ctx, plan_graph_first_error, &e)) {
        st = e.code;
        goto end;
    }
    w.prof.switched = x.switched;
    // 0: no limit; a plan of a device that is not here says what it would need
    nino_pool_stat(nino_ctx_backend(ctx)->pool, &mem);
    f->budget = budget       ? budget
                : own_device ? mem.budget
                             : plan_elsewhere(w.prof.mem_bytes, nino_ctx_backend(ctx)->mem_limit);
    w.like = own_device ? &nino_ctx_backend(ctx)->info : NULL;
    st = fit_graph(f, &w, &e);
end:
    nino_needs_destroy(&w.needs);
    nino_graph_destroy(&x.g);
    nino_ctx_leave(ctx);
    nino_settings_destroy(&settings);
    if (st) {
        nino_scheme_destroy(&f);
        if (err)
            *err = e;
    }
    return f;
}

void nino_scheme_destroy(nino_scheme **pf)
{
    nino_scheme *f = pf ? *pf : NULL;
    if (!f)
        return;
    nino_plan_release(&f->plan);
    nino_planned_release(&f->planned);
    free(f->rows);
    free(f);
    *pf = NULL;
}

const nino_plan *nino_scheme_plan(const nino_scheme *scheme) { return &scheme->plan; }

// Into what the caller has room for.
static void hand_out(void *out, const void *from, size_t size, size_t most)
{
    memcpy(out, from, size < most ? size : most);
    memcpy(out, &size, sizeof(size));
}

nino_status nino_scheme_get(const nino_scheme *f, nino_scheme_info *out, nino_error *err)
{
    nino_scheme_info i;
    const nino_planned *p = &f->planned;
    if (!NINO_TAKE(&i, out, NINO_SCHEME_INFO_INIT, err))
        return NINO_ERR_ARG;
    i.budget = f->budget;
    i.peak_bytes = f->plan.peak_bytes;
    i.fits = p->fits;
    i.is_pressed = p->is_pressed;
    i.seconds = p->fits ? p->cost : 0;
    i.load_bytes = p->fits ? p->best.load_bytes : 0;
    i.load_seconds = (double) i.load_bytes / f->load_rate;
    i.is_load_measured = f->is_load_measured;
    i.unchosen_seconds = p->fits ? p->plain_cost : 0;
    i.unlimited_seconds = p->free_cost;
    i.ways = p->walks;
    i.least_bytes = p->least;
    snprintf(i.least_node, sizeof(i.least_node), "%s", p->least_node);
    snprintf(i.loss, sizeof(i.loss), "%s", p->fits ? nino_planner_loss(p) : "");
    if (p->fits)
        nino_planner_why(p, i.why, sizeof(i.why));
    hand_out(out, &i, out->size, sizeof(i));
    return NINO_OK;
}

size_t nino_scheme_choices(const nino_scheme *scheme) { return scheme->n_rows; }

nino_status nino_scheme_choice_get(const nino_scheme *f, size_t k, nino_scheme_choice *out,
                                   nino_error *err)
{
    nino_scheme_choice c;
    if (!NINO_TAKE(&c, out, NINO_SCHEME_CHOICE_INIT, err))
        return NINO_ERR_ARG;
    if (k >= f->n_rows)
        return nino_fail(err, NINO_ERR_RANGE, "plan", "there are choices for %zu nodes", f->n_rows);
    const int node = f->rows[k].node;
    const nino_taken *t = &f->planned.best.node[node].taken;
    c.node = f->rows[k].name;
    c.what = f->rows[k].what;
    c.tile = t->tile;
    c.rows = t->rows;
    c.images = t->images;
    c.chunk = t->chunk;
    c.is_narrow = t->is_narrow;
    c.is_newest_first = f->planned.choice[node].evict == NINO_EVICT_NEWEST;
    hand_out(out, &c, out->size, sizeof(c));
    return NINO_OK;
}

nino_status nino_graph_plan(nino_ctx *ctx, nino_graph *g, const char *profile,
                            const nino_job_options *options, nino_plan *out, nino_error *err)
{
    nino_error e = { .code = NINO_OK };
    nino_scheme *f = nino_scheme_create(ctx, g, profile, options, 0, &e);
    if (!f) {
        if (err)
            *err = e;
        return e.code;
    }
    *out = f->plan;
    f->plan = (nino_plan){ .n_scopes = 0 };
    nino_scheme_destroy(&f);
    return NINO_OK;
}

void nino_plan_release(nino_plan *p)
{
    free(p->scopes);
    free(p->programs);
    *p = (nino_plan){ 0 };
}
