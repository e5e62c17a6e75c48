// Host side of the norms: cl/kernels/norm.cl.
#include "cl/cl_schedule.h"
#include "core/base/error.h"

#include <stdio.h>

// One call of GROUP_NORM or GROUP_STAT and where its workspace lies.
typedef struct group_job {
    nino_cl *cl;
    const nino_op_call *c;
    nino_norm_layout l;
    nino_block part, coef;
    int64_t batch, channels, per_group;
    size_t elem;
    char defs[96];
} group_job;

static nino_status group_begin(group_job *j, nino_error *err)
{
    const nino_op_desc *d = &j->c->d;
    const nino_shape *s = &d->src[0];
    j->l = nino_sched_norm(nino_cl_profile(j->cl), d);
    j->batch = s->dim[0];
    j->channels = s->dim[s->rank - 1];
    j->per_group = j->channels / d->attr.groups;
    j->elem = nino_dtype_size(d->src_type[0]);
    j->part = j->coef = j->c->workspace;
    j->part.offset += j->l.part;
    j->coef.offset += j->l.coef;
    if (j->l.positions > INT32_MAX || j->l.n_strips * j->per_group > INT32_MAX)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, nino_ops[d->op].name, "the tensor is too big");
    snprintf(j->defs, sizeof(j->defs), "%s %s", nino_cl_type_defs(d->src_type[0]),
             nino_cl_row_defs(j->cl, j->channels % 4 != 0,
                              (uint64_t) (j->l.positions * j->channels) + 1024));
    return NINO_OK;
}

static nino_status group_launch(const group_job *j, const char *kernel, bool is_main,
                                const nino_cl_grid *grid, const nino_cl_arg *args, int n,
                                nino_error *err)
{
    const nino_cl_what what = { .d = &j->c->d,
                                .is_main = is_main,
                                .requested = is_main ? nino_cl_rows_bytes(&j->c->d) : 0 };
    return nino_cl_launch(j->cl, "basic", kernel, j->defs, &what, grid->dims, grid->size, NULL,
                          args, n, err);
}

// Each strip's means and squares. main: they are what the call is about.
static nino_status group_strips(const group_job *j, bool is_main, nino_error *err)
{
    const nino_block *x = &j->c->src[0]->mem;
    const nino_cl_arg stat[] = { A_BUF(x, j->elem), A_BUF(&j->part, 4), A_INT(j->channels),
                                 A_INT(j->l.positions), A_INT(j->l.strip) };
    const nino_cl_grid grid =
        nino_cl_schedule_now(j->cl)->grids->norm_stat(&j->l, j->batch, j->channels);
    return group_launch(j, "group_norm_stat", is_main, &grid, stat, NINO_CL_COUNT(stat), err);
}

static nino_cl_grid group_grid(const group_job *j)
{
    const int groups = j->c->d.attr.groups;
    return (nino_cl_grid){ 2, { nino_cl_groups(j->cl, (uint64_t) groups), (size_t) j->batch } };
}

// Strips become a group's statistics; the strips were the work.
static nino_status group_stat(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    group_job j = { .cl = cl, .c = c };
    nino_status st = group_begin(&j, err);
    if (!st)
        st = group_strips(&j, true, err);
    if (st)
        return st;
    const nino_cl_arg fold[] = { A_BUF(&j.part, 4),    A_BUF(&c->dst->mem, 4), A_INT(j.channels),
                                 A_INT(j.l.positions), A_INT(j.l.strip),       A_INT(j.l.n_strips),
                                 A_INT(j.per_group) };
    const nino_cl_grid grid = group_grid(&j);
    return group_launch(&j, "group_stat", false, &grid, fold, NINO_CL_COUNT(fold), err);
}

// Statistics, x's own or given ones, become what a channel is multiplied with and what is added.
static nino_status group_coef(const group_job *j, nino_error *err)
{
    const nino_op_call *c = j->c;
    const nino_cl_grid grid = group_grid(j);
    if (c->d.n_src > 1) {
        const nino_cl_arg given[] = { A_BUF(&c->src[1]->mem, 4), A_BUF(&c->weight->mem, 4),
                                      A_BUF(&c->bias->mem, 4),   A_BUF(&j->part, 4),
                                      A_BUF(&j->coef, 4),        A_INT(j->channels),
                                      A_INT(j->per_group),       A_F32(c->d.attr.eps) };
        return group_launch(j, "group_norm_given", false, &grid, given, NINO_CL_COUNT(given), err);
    }
    const nino_status st = group_strips(j, false, err);
    if (st)
        return st;
    const nino_cl_arg fold[] = { A_BUF(&j->part, 4),      A_BUF(&c->weight->mem, 4),
                                 A_BUF(&c->bias->mem, 4), A_BUF(&j->coef, 4),
                                 A_INT(j->channels),      A_INT(j->l.positions),
                                 A_INT(j->l.strip),       A_INT(j->l.n_strips),
                                 A_INT(j->per_group),     A_F32(c->d.attr.eps) };
    return group_launch(j, "group_norm_coef", false, &grid, fold, NINO_CL_COUNT(fold), err);
}

// Statistics and application each move about half of the bytes; the last one speaks for all.
static nino_status group_norm(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    group_job j = { .cl = cl, .c = c };
    nino_status st = group_begin(&j, err);
    if (!st)
        st = group_coef(&j, err);
    if (st)
        return st;
    const nino_cl_arg apply[] = { A_BUF(&c->src[0]->mem, j.elem),
                                  A_BUF(&c->dst->mem, j.elem),
                                  A_BUF(&j.part, 4),
                                  A_BUF(&j.coef, 4),
                                  A_INT(j.channels),
                                  A_INT(j.l.positions),
                                  A_INT(j.l.strip),
                                  A_INT(j.l.n_parts),
                                  A_INT(c->d.attr.act) };
    const nino_cl_grid grid = nino_cl_schedule_now(cl)->grids->norm_apply(
        &j.l, j.batch, j.l.positions * j.channels / (j.channels % 4 ? 1 : 4));
    return group_launch(&j, "group_norm_apply", true, &grid, apply, NINO_CL_COUNT(apply), err);
}

// LAYER_NORM and RMS_NORM: a row is a part of the last axis that is normalised by itself.
static nino_status row_norm(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const nino_shape *s = &d->src[0];
    const bool is_rms = d->op == NINO_OP_RMS_NORM, is_mod = d->n_src == 3;
    const int64_t n = s->dim[s->rank - 1] / (is_rms ? d->attr.groups : 1);
    const int64_t rows = nino_shape_count(s) / n;
    const size_t elem = nino_dtype_size(d->src_type[0]);
    const int64_t each = n < 8192 ? 16384 / n : 1;
    const int64_t lanes = n <= 64 ? 16 : n <= 256 ? 64 : 256;
    nino_op_rows r = { .positions = 1 };
    if (is_mod)
        nino_op_broadcast(s, &d->src[1], &r);
    if (n > INT32_MAX / 2 || r.positions > INT32_MAX)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, nino_ops[d->op].name, "the tensor is too big");
    const int has = (c->weight != NULL) | (c->bias != NULL) << 1 | is_rms << 2 | is_mod << 3;
    char defs[96];
    snprintf(defs, sizeof(defs), "%s %s", nino_cl_type_defs(d->src_type[0]),
             nino_cl_row_defs(cl, n % 4 != 0, 0));
    const nino_cl_arg args[] = { A_BUF(&c->src[0]->mem, elem),
                                 A_BUF(&c->dst->mem, elem),
                                 A_BUF(c->weight ? &c->weight->mem : NULL, 4),
                                 A_BUF(c->bias ? &c->bias->mem : NULL, 4),
                                 A_BUF(is_mod ? &c->src[1]->mem : NULL, elem),
                                 A_BUF(is_mod ? &c->src[2]->mem : NULL, elem),
                                 A_U64(rows),
                                 A_INT(n),
                                 A_INT(each),
                                 A_F32(d->attr.eps),
                                 A_INT(r.positions),
                                 A_INT(r.batch),
                                 A_INT(r.position),
                                 A_INT(lanes),
                                 A_INT(has),
                                 A_INT(d->attr.act) };
    const nino_cl_what what = { .d = d, .is_main = true, .requested = nino_cl_rows_bytes(d) };
    const nino_cl_grid grid = nino_cl_schedule_now(cl)->grids->rows(rows, each, rows * lanes);
    return nino_cl_launch(cl, "basic", "row_norm", defs, &what, grid.dims, grid.size, NULL, args,
                          NINO_CL_COUNT(args), err);
}

nino_status nino_cl_norm(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    switch (c->d.op) {
    case NINO_OP_GROUP_NORM: return group_norm(cl, c, err);
    case NINO_OP_GROUP_STAT: return group_stat(cl, c, err);
    default: return row_norm(cl, c, err);
    }
}
