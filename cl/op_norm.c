// Host side of the norms: cl/kernels/norm.cl.
#include "cl/cl_schedule.h"
#include "core/base/error.h"

#include <stdio.h>

static nino_status group_norm(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const nino_shape *s = &d->src[0];
    const nino_norm_layout l = nino_sched_norm(nino_cl_profile(cl), d);
    const int64_t batch = s->dim[0], channels = s->dim[s->rank - 1];
    const int64_t per_group = channels / d->attr.groups;
    const size_t elem = nino_dtype_size(d->src_type[0]);
    const nino_cl_grids *grids = nino_cl_schedule_now(cl)->grids;
    const bool is_narrow = channels % 4 != 0;
    const nino_block *x = &c->src[0]->mem, *y = &c->dst->mem;
    nino_block part = c->workspace, coef = c->workspace;
    part.offset += l.part;
    coef.offset += l.coef;
    if (l.positions > INT32_MAX || l.n_strips * per_group > INT32_MAX)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, "group_norm", "the tensor is too big");
    char defs[96];
    snprintf(defs, sizeof(defs), "%s -DACT=%d%s %s", nino_cl_type_defs(d->src_type[0]),
             (int) d->attr.act, is_narrow ? " -DNARROW=1" : "",
             nino_cl_wide_defs((uint64_t) (l.positions * channels) + 1024));

    // Statistics and application each move about half of the bytes; the last one speaks for all.
    const nino_cl_what helper = { .d = d, .is_main = false };
    const nino_cl_what what = { .d = d, .is_main = true, .requested = nino_cl_rows_bytes(d) };
    const nino_cl_arg stat[] = { A_BUF(x, elem), A_BUF(&part, 4), A_INT(channels),
                                 A_INT(l.positions), A_INT(l.strip) };
    nino_cl_grid grid = grids->norm_stat(&l, batch, channels);
    nino_status st = nino_cl_launch(cl, "norm", "group_norm_stat", defs, &helper, grid.dims,
                                    grid.size, NULL, stat, NINO_CL_COUNT(stat), err);
    if (st)
        return st;

    const nino_cl_arg fold[] = { A_BUF(&part, 4),         A_BUF(&c->weight->mem, 4),
                                 A_BUF(&c->bias->mem, 4), A_BUF(&coef, 4),
                                 A_INT(channels),         A_INT(l.positions),
                                 A_INT(l.strip),          A_INT(l.n_strips),
                                 A_INT(per_group),        A_F32(d->attr.eps) };
    const size_t fold_global[] = { nino_cl_groups(cl, (uint64_t) d->attr.groups), (size_t) batch };
    st = nino_cl_launch(cl, "norm", "group_norm_coef", defs, &helper, 2, fold_global, NULL, fold,
                        NINO_CL_COUNT(fold), err);
    if (st)
        return st;

    const nino_cl_arg apply[] = { A_BUF(x, elem),  A_BUF(y, elem),   A_BUF(&part, 4),
                                  A_BUF(&coef, 4), A_INT(channels),  A_INT(l.positions),
                                  A_INT(l.strip),  A_INT(l.n_strips) };
    grid = grids->norm_apply(&l, batch, l.positions * channels / (is_narrow ? 1 : 4));
    return nino_cl_launch(cl, "norm", "group_norm_apply", defs, &what, grid.dims, grid.size, NULL,
                          apply, NINO_CL_COUNT(apply), err);
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
    char defs[160];
    snprintf(defs, sizeof(defs), "%s%s%s%s%s%s -DROW_LANES=%d -DACT=%d",
             nino_cl_type_defs(d->src_type[0]), n % 4 ? " -DNARROW=1" : "",
             c->weight ? " -DGAMMA=1" : "", c->bias ? " -DBETA=1" : "", is_rms ? " -DRMS=1" : "",
             is_mod ? " -DMOD=1" : "", (int) lanes, (int) d->attr.act);
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
                                 A_INT(r.position) };
    const nino_cl_what what = { .d = d, .is_main = true, .requested = nino_cl_rows_bytes(d) };
    const nino_cl_grid grid = nino_cl_schedule_now(cl)->grids->rows(rows, each, rows * lanes);
    return nino_cl_launch(cl, "norm", "row_norm", defs, &what, grid.dims, grid.size, NULL, args,
                          NINO_CL_COUNT(args), err);
}

nino_status nino_cl_norm(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    return c->d.op == NINO_OP_GROUP_NORM ? group_norm(cl, c, err) : row_norm(cl, c, err);
}
