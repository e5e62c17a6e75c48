// Bytes of global memory that the work-groups of a launch load and store (nino_launch.requested),
// from what the host knows of its tiles: an operand counts as often as work-groups fill their tiles
// with it, or go over it. What only fills a tile up (beyond the last row or column, outside of an
// image) does not count, nor what the register tiles of a work-group read again of the same block.
#include "cl/cl.h"
#include "core/base/size.h"
#include "core/op/pack.h"

static double traffic_count(const nino_shape *s) { return (double) nino_shape_count(s); }

static double elem(const nino_op_desc *d) { return (double) nino_dtype_size(d->src_type[0]); }

// How many of n results see something under a tap: 0 <= i * stride + shift < limit.
static int64_t traffic_seen(int64_t n, int64_t stride, int64_t shift, int64_t limit)
{
    const int64_t first = shift < 0 ? nino_ceil_div(-shift, stride) : 0;
    const int64_t end = limit > shift ? nino_ceil_div(limit - shift, stride) : 0;
    const int64_t last = end < n ? end : n;
    return last > first ? last - first : 0;
}

// The part of a convolution's inputs, taps that are left out not counted, that is not padding.
static double traffic_inside(const nino_op_desc *d)
{
    const nino_op_attr *a = &d->attr;
    const nino_shape *x = &d->src[0], *y = &d->dst;
    const int64_t pad = nino_op_pad_begin(a), up = a->upsample2x != 0;
    int64_t across = 0, down = 0, frames = 0;
    if (d->op == NINO_OP_LINEAR)
        return 1;
    for (int k = 0; k < a->kernel; k++) {
        down += traffic_seen(y->dim[1], a->stride, k - pad, x->dim[1] << up);
        across += traffic_seen(y->dim[2], a->stride, k - pad, x->dim[2] << up);
    }
    const double area = (double) (y->dim[1] * y->dim[2]) * a->kernel * a->kernel;
    const double part = (double) (down * across) / area;
    if (d->op != NINO_OP_CONV3D)
        return part;
    const int first = 3 * nino_op_first_tap(d) / nino_op_taps(d);
    for (int k = first; k < 3; k++)
        frames += traffic_seen(y->dim[0], a->stride_t, k - a->pad_t, INT64_MAX / 4);
    return part * (double) frames / (double) (y->dim[0] * (3 - first));
}

double nino_cl_product_bytes(const nino_op_desc *d, nino_dtype weight, const nino_cl_tiles *t)
{
    size_t values, bytes; // of a block
    nino_dtype_block(weight, &values, &bytes);
    const double k = (double) d->weight->c * (nino_op_taps(d) - nino_op_first_tap(d));
    const double rows = (double) t->rows, n = (double) t->columns;
    const double inputs = rows * k * traffic_inside(d) * elem(d) * (double) t->across;
    const double weights = n * k / (double) values * (double) bytes * (double) t->along;
    const double bias = d->bias ? n * 4 * (double) t->along : 0;
    return inputs + weights + bias + rows * n * elem(d) * (d->has_residual ? 2 : 1);
}

double nino_cl_wino_bytes(const nino_wino_layout *l, const nino_cl_tiles *t)
{
    const double v = (double) (t->rows * l->cp) * (double) t->across;
    const double u = (double) (l->np * l->cp) * (double) t->along;
    return (double) l->n * 4 * (v + u + (double) (t->rows * l->np));
}

// Keys and values pass once for every block of queries.
double nino_cl_attention_bytes(const nino_op_desc *d, int64_t blocks, int passes, size_t key_bytes)
{
    const nino_shape *q = &d->src[0], *k = &d->src[1];
    const double hidden = d->attr.is_causal ? (double) (q->dim[1] - 1) / 2 : 0; // on average
    const double planes = (double) (d->attr.heads * q->dim[0]), keys = (double) k->dim[1] - hidden;
    const int64_t depth = q->dim[2] / d->attr.heads;
    const double bias = d->n_src == 4 ? planes * (double) q->dim[1] * keys * 4 : 0;
    return traffic_count(q) * elem(d) * (passes + 1) +
           (double) (blocks * depth) * keys * ((double) key_bytes + elem(d)) + bias;
}

double nino_cl_rows_bytes(const nino_op_desc *d)
{
    const double n = traffic_count(&d->dst);
    const double norm = (d->weight ? 4 : 0) + (d->bias ? 4 : 0) + (d->n_src == 3 ? 2 : 0) * elem(d);
    switch (d->op) {
    case NINO_OP_ADD: return n * elem(d) * 3; // both once, whatever is broadcast
    case NINO_OP_GATE_ADD: return n * elem(d) * 4;
    case NINO_OP_ROPE: return n * (elem(d) * 2 + 4);
    case NINO_OP_SOFTMAX: return n * elem(d) * 4;           // three passes: largest, sum, result
    case NINO_OP_GROUP_NORM: return n * (elem(d) * 2 + 12); // what a channel is made with: 3 f32
    case NINO_OP_LAYER_NORM: return n * (elem(d) * 4 + norm);
    case NINO_OP_RMS_NORM: return n * (elem(d) * 3 + norm);
    case NINO_OP_GROUP_STAT: return (double) nino_shape_count(&d->src[0]) * elem(d);
    default: return nino_ops[d->op].bytes(d); // every element once
    }
}
