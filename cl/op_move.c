// Host side of the operations that move values: cl/kernels/move.cl.
#include "cl/cl_schedule.h"
#include "core/base/error.h"

#include <stdio.h>

// Product of the dimensions from..to-1.
static uint64_t op_move_extent(const nino_shape *s, int from, int to)
{
    uint64_t n = 1;
    for (int i = from; i < to; i++)
        n *= (uint64_t) s->dim[i];
    return n;
}

// Values are only carried: the program of any type of that size has the kernel.
static nino_status carry(nino_cl *cl, const char *kernel, const nino_cl_what *what, uint64_t count,
                         const nino_cl_grid *grid, const nino_cl_arg *args, int n, nino_error *err)
{
    const nino_dtype type = what->d->dst_type;
    char defs[64];
    snprintf(defs, sizeof(defs), "%s%s %s", nino_cl_type_defs(type),
             nino_dtype_size(type) == 1 ? "-DE=uchar" : "",
             nino_cl_row_defs(cl, false, count + 1024));
    return nino_cl_launch(cl, "basic", kernel, defs, what, grid->dims, grid->size, NULL, args, n,
                          err);
}

typedef struct rows {
    uint64_t n, len;        // rows, and elements of a row that are copied
    uint64_t src_row, from; // elements from row to row, and where to begin in a row
    uint64_t dst_row, to;
} rows;

static nino_status op_move_copy_rows(nino_cl *cl, const nino_op_call *c, int src, rows r,
                                     nino_error *err)
{
    const size_t elem = nino_dtype_size(c->d.dst_type);
    const nino_cl_what what = { .d = &c->d,
                                .is_main = true,
                                .share = (double) r.len / (double) r.dst_row };
    int together;
    const nino_cl_grid grid = nino_cl_schedule_now(cl)->grids->copy_rows(r.n, r.len, &together);
    const nino_cl_arg args[] = { A_BUF(&c->src[src]->mem, elem),
                                 A_BUF(&c->dst->mem, elem),
                                 A_U64(r.n),
                                 A_U64(r.len),
                                 A_U64(r.src_row),
                                 A_U64(r.from),
                                 A_U64(r.dst_row),
                                 A_U64(r.to),
                                 A_INT(together) };
    return carry(cl, "copy_rows", &what, r.n * r.len, &grid, args, NINO_CL_COUNT(args), err);
}

static nino_status concat(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const int axis = c->d.attr.axis;
    rows r = { .n = op_move_extent(&c->d.dst, 0, axis),
               .dst_row = op_move_extent(&c->d.dst, axis, c->d.dst.rank) };
    nino_status st = NINO_OK;
    for (int i = 0; i < 2 && !st; i++) {
        r.len = r.src_row = op_move_extent(&c->d.src[i], axis, c->d.src[i].rank);
        st = op_move_copy_rows(cl, c, i, r, err);
        r.to += r.len;
    }
    return st;
}

static nino_status op_move_slice(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_shape *s = &c->d.src[0], *d = &c->d.dst;
    const int axis = c->d.attr.axis;
    const uint64_t inner = op_move_extent(d, axis + 1, d->rank);
    const rows r = { .n = op_move_extent(d, 0, axis),
                     .len = (uint64_t) d->dim[axis] * inner,
                     .src_row = (uint64_t) s->dim[axis] * inner,
                     .from = (uint64_t) c->d.attr.start * inner,
                     .dst_row = (uint64_t) d->dim[axis] * inner };
    return op_move_copy_rows(cl, c, 0, r, err);
}

static nino_status op_move_permute(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_shape *s = &c->d.src[0], *d = &c->d.dst;
    uint64_t dim[NINO_MAX_RANK] = { 1, 1, 1, 1, 1 }, stride[NINO_MAX_RANK] = { 0 };
    // Axes that stay neighbours are one axis; the result is right-aligned in five.
    int n = NINO_MAX_RANK;
    for (int i = d->rank - 1; i >= 0; i--) {
        const int p = c->d.attr.perm[i];
        const uint64_t step = op_move_extent(s, p + 1, s->rank);
        if (n < NINO_MAX_RANK && step == stride[n] * dim[n]) {
            dim[n] *= (uint64_t) d->dim[i];
            continue;
        }
        dim[--n] = (uint64_t) d->dim[i];
        stride[n] = step;
    }
    const size_t elem = nino_dtype_size(c->d.dst_type);
    const nino_cl_what what = { .d = &c->d, .is_main = true };
    const uint64_t count = op_move_extent(d, 0, d->rank);
    const nino_cl_arg args[] = { A_BUF(&c->src[0]->mem, elem),
                                 A_BUF(&c->dst->mem, elem),
                                 A_U64(dim[0]),
                                 A_U64(dim[1]),
                                 A_U64(dim[2]),
                                 A_U64(dim[3]),
                                 A_U64(dim[4]),
                                 A_U64(stride[0]),
                                 A_U64(stride[1]),
                                 A_U64(stride[2]),
                                 A_U64(stride[3]),
                                 A_U64(stride[4]) };
    const nino_cl_grid grid = nino_cl_schedule_now(cl)->grids->permute(dim);
    return carry(cl, "permute", &what, count, &grid, args, NINO_CL_COUNT(args), err);
}

static nino_status cast(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const uint64_t n = (uint64_t) nino_shape_count(&d->dst);
    const nino_cl_what what = { .d = d, .is_main = true };
    const nino_cl_arg args[] = { A_BUF(&c->src[0]->mem, nino_dtype_size(d->src_type[0])),
                                 A_BUF(&c->dst->mem, nino_dtype_size(d->dst_type)), A_U64(n) };
    const size_t global = nino_cl_flat(cl, n);
    char kernel[32];
    snprintf(kernel, sizeof(kernel), "cast_%s", nino_dtype_name(d->dst_type));
    return nino_cl_launch(cl, "basic", kernel, nino_cl_type_defs(d->src_type[0]), &what, 1, &global,
                          NULL, args, NINO_CL_COUNT(args), err);
}

static nino_status op_move_shuffle(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const nino_op_attr *a = &d->attr;
    const int64_t *s = d->src[0].dim, *o = d->dst.dim;
    const int64_t fold = (int64_t) a->fold_t * a->fold_s * a->fold_s;
    const int64_t parts = a->is_up ? o[3] * fold / s[3] : s[3] * fold / o[3];
    const size_t elem = nino_dtype_size(d->dst_type);
    if (o[0] * o[1] > INT32_MAX || o[2] * o[3] > INT32_MAX - 256 || o[3] * fold > INT32_MAX)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, "shuffle", "the tensor is too big");
    const nino_cl_arg args[] = { A_BUF(&c->src[0]->mem, elem),
                                 A_BUF(d->has_residual ? &c->src[1]->mem : NULL, elem),
                                 A_BUF(&c->dst->mem, elem),
                                 A_INT(s[1]),
                                 A_INT(s[2]),
                                 A_INT(s[3]),
                                 A_INT(o[1]),
                                 A_INT(o[2]),
                                 A_INT(o[3]),
                                 A_INT(a->fold_t),
                                 A_INT(a->fold_s),
                                 A_INT(a->start),
                                 A_INT(parts),
                                 A_INT(a->is_up),
                                 A_INT(d->has_residual) };
    const nino_cl_grid grid = nino_cl_schedule_now(cl)->grids->shuffle(o[0] * o[1], o[2], o[3]);
    const nino_cl_what what = { .d = d, .is_main = true };
    return nino_cl_launch(cl, "basic", "shuffle_channels", nino_cl_type_defs(d->src_type[0]), &what,
                          grid.dims, grid.size, NULL, args, NINO_CL_COUNT(args), err);
}

nino_status nino_cl_move(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    switch (c->d.op) {
    case NINO_OP_CONCAT: return concat(cl, c, err);
    case NINO_OP_SLICE: return op_move_slice(cl, c, err);
    case NINO_OP_PERMUTE: return op_move_permute(cl, c, err);
    case NINO_OP_SHUFFLE: return op_move_shuffle(cl, c, err);
    default: return cast(cl, c, err);
    }
}
