// ATTENTION and SOFTMAX: sizes and launches (cl/kernels/attn.cl).
#include "cl/cl.h"
#include "core/base/error.h"
#include "core/base/size.h"

#include <stdio.h>

static nino_status run_softmax(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const nino_shape *s = &d->src[0];
    const int64_t n = s->dim[s->rank - 1], rows = nino_shape_count(s) / n;
    const size_t elem = nino_dtype_size(d->src_type[0]);
    if (n > INT32_MAX)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, "softmax", "a row has more than 2^31 elements");
    const nino_cl_arg args[] = { A_BUF(&c->src[0]->mem, elem), A_BUF(&c->dst->mem, elem), A_INT(n),
                                 A_F32(d->attr.scale) };
    const size_t global[] = { (size_t) rows * (nino_cl_is_cpu_schedule(cl) ? 1 : 256) };
    const nino_cl_what what = { .d = d, .is_main = true, .requested = nino_cl_rows_bytes(d) };
    return nino_cl_launch(cl, "attn", "softmax", nino_cl_type_defs(d->src_type[0]), &what, 1,
                          global, NULL, args, NINO_CL_COUNT(args), err);
}

// Most queries of a work-group: what its __local arrays or registers have room for. 0: D is too
// big.
static int queries_of(const nino_cl *cl, int64_t depth)
{
    if (nino_cl_is_cpu_schedule(cl))
        return depth <= 144 ? 96 : depth <= 512 ? 48 : depth <= 1024 ? 24 : depth <= 2048 ? 12 : 0;
    return depth <= 256 && !nino_cl_has_small_local(cl) ? 64
           : depth <= 512                               ? 32
           : depth <= 2048                              ? 16
                                                        : 0;
}

// Queries of a work-item of the CPU schedule: blocks of about one size, enough of them for all
// compute units.
static int64_t cpu_queries(const nino_cl *cl, int64_t tq, int64_t planes, int64_t most)
{
    enum { UNIT = 12, PIECES = 4 }; // what the register tiles divide; blocks for a compute unit
    const int64_t want = nino_ceil_div((int64_t) nino_cl_compute_units(cl) * PIECES, planes);
    const int64_t fit = nino_ceil_div(tq, most), blocks = fit > want ? fit : want;
    return nino_ceil_div(nino_ceil_div(tq, blocks), UNIT) * UNIT;
}

// The CPU kernel wants K packed for its register tile: into the workspace.
static nino_status pack_keys(nino_cl *cl, const nino_op_call *c, const char *defs, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const nino_shape *k = &d->src[1];
    const nino_cl_arg args[] = { A_BUF(&c->src[1]->mem, nino_dtype_size(d->src_type[1])),
                                 A_BUF(&c->workspace, 4), A_INT(k->dim[1]), A_INT(d->attr.heads) };
    const size_t panels[] = { (size_t) (nino_ceil_div(k->dim[1], 64) * d->attr.heads * k->dim[0]) };
    const nino_cl_what helper = { .d = d };
    return nino_cl_launch(cl, "attn", "attention_keys", defs, &helper, 1, panels, NULL, args,
                          NINO_CL_COUNT(args), err);
}

// How an attention is cut, and how far it is from one row of the bias to the next: 0 where the row
// is the same for all.
typedef struct layout {
    int queries;          // most of a work-group; 0: no kernel does it
    int64_t rows, blocks; // queries of a block, blocks of all heads
    int64_t bias_n, bias_h, bias_q;
} layout;

static layout layout_of(const nino_cl *cl, const nino_op_desc *d, int64_t depth)
{
    const bool is_cpu = nino_cl_is_cpu_schedule(cl);
    const int64_t tq = d->src[0].dim[1], planes = d->attr.heads * d->src[0].dim[0];
    const nino_shape *b = &d->src[3];
    layout l = { .queries = queries_of(cl, depth) };
    if (!l.queries)
        return l;
    l.rows = is_cpu ? cpu_queries(cl, tq, planes, l.queries) : l.queries;
    l.blocks = nino_ceil_div(tq, l.rows) * planes;
    if (d->n_src == 4) {
        l.bias_q = b->dim[2] > 1;
        l.bias_h = b->dim[1] > 1 ? b->dim[2] : 0;
        l.bias_n = b->dim[0] > 1 ? b->dim[1] * b->dim[2] : 0;
    }
    return l;
}

static nino_status run_attention(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const bool is_cpu = nino_cl_is_cpu_schedule(cl), is_biased = d->n_src == 4;
    const int64_t tq = d->src[0].dim[1], tk = d->src[1].dim[1];
    const int64_t heads = d->attr.heads, depth = d->src[0].dim[2] / heads;
    const size_t elem = nino_dtype_size(d->src_type[0]);
    const layout l = layout_of(cl, d, depth);
    // Narrow register tiles where wide ones would be padding for the most part.
    const bool is_narrow = is_cpu && depth < 192 && depth % 64 > 0 && depth % 64 <= 32;
    char defs[96];
    snprintf(defs, sizeof(defs), "%s -DD=%d -DBQ=%d%s%s", nino_cl_type_defs(d->src_type[0]),
             (int) depth, l.queries, is_narrow ? " -DNARROW=1" : "", is_biased ? " -DBIAS=1" : "");
    if (!l.queries || tk > INT32_MAX - 128 || tq > INT32_MAX - 128 || l.blocks > INT32_MAX ||
        l.bias_n > INT32_MAX)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, "attention", "the tensors are too big");

    nino_status st = is_cpu ? pack_keys(cl, c, defs, err) : NINO_OK;
    const nino_block *keys = is_cpu ? &c->workspace : &c->src[1]->mem;
    const double requested = nino_cl_attention_bytes(d, l.blocks, is_cpu);
    const int64_t step = nino_ceil_div(l.blocks, nino_cl_pieces(cl, nino_ops[d->op].flops(d)));
    for (int64_t first = 0; first < l.blocks && !st; first += step) {
        const int64_t count = l.blocks - first < step ? l.blocks - first : step;
        const nino_cl_arg args[] = { A_INT(first),
                                     A_BUF(&c->src[0]->mem, elem),
                                     A_BUF(keys, is_cpu ? 4 : elem),
                                     A_BUF(&c->src[2]->mem, elem),
                                     A_BUF(&c->dst->mem, elem),
                                     A_BUF(is_biased ? &c->src[3]->mem : NULL, 4),
                                     A_INT(tq),
                                     A_INT(tk),
                                     A_INT(heads),
                                     A_F32(d->attr.scale),
                                     A_INT(l.bias_n),
                                     A_INT(l.bias_h),
                                     A_INT(l.bias_q),
                                     A_INT(l.rows) }; // the last: CPU only
        const size_t global[] = { (size_t) count * (is_cpu ? 1 : 256) };
        const double share = (double) count / (double) l.blocks;
        const nino_cl_what what = {
            .d = d, .is_main = true, .share = share, .requested = requested * share
        };
        st = nino_cl_launch(cl, "attn", "attention", defs, &what, 1, global, NULL, args,
                            NINO_CL_COUNT(args) - (is_cpu ? 0 : 1), err);
    }
    return st;
}

nino_status nino_cl_attn(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    return c->d.op == NINO_OP_SOFTMAX ? run_softmax(cl, c, err) : run_attention(cl, c, err);
}
