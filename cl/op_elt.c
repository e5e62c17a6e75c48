// Host side of the elementwise operations: cl/kernels/elt.cl.
#include "cl/cl_schedule.h"
#include "core/base/error.h"

#include <stdio.h>

static nino_status launch_flat(nino_cl *cl, const nino_op_call *c, const char *kernel,
                               const nino_cl_arg *args, int n_args, nino_error *err)
{
    const nino_cl_what what = { .d = &c->d,
                                .is_main = true,
                                .requested = nino_cl_rows_bytes(&c->d) };
    const size_t global = nino_cl_flat(cl, (uint64_t) nino_shape_count(&c->d.src[0]));
    return nino_cl_launch(cl, "basic", kernel, nino_cl_type_defs(c->d.src_type[0]), &what, 1,
                          &global, NULL, args, n_args, err);
}

// ---- kernels over rows -----------------------------------------------------------------------

typedef struct rows {
    int64_t n, len, each; // rows, elements of a row, rows of a work-item that does whole ones
    nino_op_rows b;       // how the broadcast operand goes with them
} rows;

static nino_status op_elt_rows_of(const nino_op_call *c, const nino_shape *broadcast, rows *r,
                                  nino_error *err)
{
    const nino_shape *s = &c->d.dst;
    r->len = s->dim[s->rank - 1];
    if (c->d.op == NINO_OP_ROPE)
        r->len /= c->d.attr.heads;
    r->n = nino_shape_count(s) / r->len;
    r->each = r->len < 4096 ? 8192 / r->len : 1;
    if (broadcast)
        nino_op_broadcast(s, broadcast, &r->b);
    if (r->len > INT32_MAX / 2 || r->b.positions > INT32_MAX)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, nino_ops[c->d.op].name,
                         "the tensor is too big");
    return NINO_OK;
}

// A work-item that does no whole rows does 4 elements, or `narrow` ones of rows that are no quads.
static nino_status launch_rows(nino_cl *cl, const nino_op_call *c, const char *kernel,
                               const rows *r, int narrow, const nino_cl_arg *args, int n_args,
                               nino_error *err)
{
    const nino_cl_what what = { .d = &c->d,
                                .is_main = true,
                                .requested = nino_cl_rows_bytes(&c->d) };
    const bool is_narrow = r->len % 4 != 0;
    const int64_t items = r->n * r->len / (is_narrow ? narrow : 4);
    const nino_cl_grid grid = nino_cl_schedule_now(cl)->grids->rows(r->n, r->each, items);
    char defs[96];
    snprintf(defs, sizeof(defs), "%s %s", nino_cl_type_defs(c->d.src_type[0]),
             nino_cl_row_defs(cl, is_narrow, (uint64_t) nino_shape_count(&c->d.src[0]) + 1024));
    return nino_cl_launch(cl, "basic", kernel, defs, &what, grid.dims, grid.size, NULL, args,
                          n_args, err);
}

static nino_status op_elt_add_rows(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const size_t elem = nino_dtype_size(c->d.src_type[0]);
    rows r = { 0 };
    const nino_status st = op_elt_rows_of(c, &c->d.src[1], &r, err);
    const nino_cl_arg args[] = { A_BUF(&c->src[0]->mem, elem),
                                 A_BUF(&c->src[1]->mem, elem),
                                 A_BUF(&c->dst->mem, elem),
                                 A_U64(r.n),
                                 A_INT(r.len),
                                 A_INT(r.each),
                                 A_INT(r.b.positions),
                                 A_INT(r.b.batch),
                                 A_INT(r.b.position) };
    return st ? st : launch_rows(cl, c, "add_rows", &r, 1, args, NINO_CL_COUNT(args), err);
}

static nino_status gate_add(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const size_t elem = nino_dtype_size(c->d.src_type[0]);
    rows r = { 0 };
    const nino_status st = op_elt_rows_of(c, &c->d.src[2], &r, err);
    const nino_cl_arg args[] = { A_BUF(&c->src[0]->mem, elem),
                                 A_BUF(&c->src[1]->mem, elem),
                                 A_BUF(&c->src[2]->mem, elem),
                                 A_BUF(&c->dst->mem, elem),
                                 A_U64(r.n),
                                 A_INT(r.len),
                                 A_INT(r.each),
                                 A_INT(r.b.positions),
                                 A_INT(r.b.batch),
                                 A_INT(r.b.position) };
    return st ? st : launch_rows(cl, c, "gate_add", &r, 1, args, NINO_CL_COUNT(args), err);
}

static nino_status prelu(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const size_t elem = nino_dtype_size(c->d.src_type[0]);
    rows r = { 0 };
    const nino_status st = op_elt_rows_of(c, NULL, &r, err);
    const nino_cl_arg args[] = { A_BUF(&c->src[0]->mem, elem),
                                 A_BUF(&c->weight->mem, 4),
                                 A_BUF(&c->dst->mem, elem),
                                 A_U64(r.n),
                                 A_INT(r.len),
                                 A_INT(r.each) };
    return st ? st : launch_rows(cl, c, "prelu", &r, 1, args, NINO_CL_COUNT(args), err);
}

static nino_status glu(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const size_t elem = nino_dtype_size(c->d.src_type[0]);
    rows r = { 0 };
    const nino_status st = op_elt_rows_of(c, NULL, &r, err);
    const nino_cl_arg args[] = { A_BUF(&c->src[0]->mem, elem),
                                 A_BUF(&c->dst->mem, elem),
                                 A_U64(r.n),
                                 A_INT(r.len),
                                 A_INT(r.each),
                                 A_INT(c->d.attr.act) };
    return st ? st : launch_rows(cl, c, "glu", &r, 1, args, NINO_CL_COUNT(args), err);
}

// Rows are the heads of tokens.
static nino_status rope(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const size_t elem = nino_dtype_size(c->d.src_type[0]);
    rows r = { 0 };
    const nino_status st = op_elt_rows_of(c, NULL, &r, err);
    const nino_cl_arg args[] = {
        A_BUF(&c->src[0]->mem, elem),
        A_BUF(&c->src[1]->mem, 4),
        A_BUF(&c->dst->mem, elem),
        A_U64(r.n),
        A_INT(r.len),
        A_INT(r.each),
        A_INT(c->d.src[1].dim[0]),
        A_INT(c->d.attr.heads),
    };
    return st ? st : launch_rows(cl, c, "rope", &r, 2, args, NINO_CL_COUNT(args), err);
}

// ---- all ---------------------------------------------------------------------------------------

nino_status nino_cl_elt(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const uint64_t n = (uint64_t) nino_shape_count(&d->src[0]);
    const size_t elem = nino_dtype_size(d->src_type[0]);
    const nino_block *x = &c->src[0]->mem, *y = &c->dst->mem;
    const nino_block *b = d->n_src > 1 ? &c->src[1]->mem : NULL;
    const nino_cl_arg one[] = { A_BUF(x, elem), A_BUF(y, elem), A_U64(n), A_INT(d->attr.act) };
    const nino_cl_arg two[] = { A_BUF(x, elem), A_BUF(b, elem), A_BUF(y, elem), A_U64(n),
                                A_INT(d->attr.act) }; // the last: of mul
    const nino_cl_arg scale[] = { A_BUF(x, elem), A_BUF(y, elem), A_U64(n), A_F32(d->attr.scale),
                                  A_F32(d->attr.shift) };
    const nino_cl_arg count[] = { A_BUF(x, elem), A_BUF(y, 4), A_U64(n) };
    switch (d->op) {
    case NINO_OP_ACT:
        return d->weight ? prelu(cl, c, err)
                         : launch_flat(cl, c, "act_op", one, NINO_CL_COUNT(one), err);
    case NINO_OP_ADD:
        return nino_shape_equal(&d->src[0], &d->src[1])
                   ? launch_flat(cl, c, "add", two, NINO_CL_COUNT(two) - 1, err)
                   : op_elt_add_rows(cl, c, err);
    case NINO_OP_MUL: return launch_flat(cl, c, "mul", two, NINO_CL_COUNT(two), err);
    case NINO_OP_SCALE: return launch_flat(cl, c, "scale", scale, NINO_CL_COUNT(scale), err);
    case NINO_OP_GLU: return glu(cl, c, err);
    case NINO_OP_GATE_ADD: return gate_add(cl, c, err);
    case NINO_OP_ROPE: return rope(cl, c, err);
    default: return launch_flat(cl, c, "check_finite", count, NINO_CL_COUNT(count), err);
    }
}
