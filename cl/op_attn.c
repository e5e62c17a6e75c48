// ATTENTION and SOFTMAX: launches of the schedules' kernels.
#include "cl/cl_schedule.h"
#include "core/base/error.h"
#include "core/base/size.h"

#include <stdio.h>
#include <string.h>

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
    const size_t global[] = { nino_cl_groups(cl, (uint64_t) rows) };
    const nino_cl_what what = { .d = d, .is_main = true, .requested = nino_cl_rows_bytes(d) };
    return nino_cl_launch(cl, "attn", "softmax", nino_cl_type_defs(d->src_type[0]), &what, 1,
                          global, NULL, args, NINO_CL_COUNT(args), err);
}

// An attention with the kernel's arguments by name.
typedef struct attention {
    int64_t tq, tk, heads, depth;
    nino_cl_attention cut;
    int64_t first, blocks;          // blocks of queries: the launch's first one, those of all heads
    int64_t bias_n, bias_h, bias_q; // from one row of the bias to the next; 0: the same row for all
    const nino_block *keys;
    size_t elem, key_elem; // bytes of a value, and of K as the kernel reads it
} attention;

static attention attention_of(const nino_cl *cl, const nino_op_call *c)
{
    const nino_op_desc *d = &c->d;
    const nino_cl_schedule *s = nino_cl_schedule_now(cl);
    const nino_shape *b = &d->src[3];
    attention a = { .tq = d->src[0].dim[1],
                    .tk = d->src[1].dim[1],
                    .heads = d->attr.heads,
                    .depth = d->src[0].dim[2] / d->attr.heads,
                    .elem = nino_dtype_size(d->src_type[0]) };
    a.keys = s->pack_keys ? &c->workspace : &c->src[1]->mem;
    a.key_elem = !s->pack_keys ? a.elem : nino_sched_has_dots(nino_cl_profile(cl), d) ? 2 : 4;
    a.cut = (nino_cl_attention){ .file = "attn", .kernel = "attention", .group = s->group };
    s->cut_attention(cl, d, &a.cut);
    if (a.cut.most)
        a.blocks = nino_ceil_div(a.tq, a.cut.rows) * a.heads * d->src[0].dim[0];
    if (d->n_src == 4) {
        a.bias_q = b->dim[2] > 1;
        a.bias_h = b->dim[1] > 1 ? b->dim[2] : 0;
        a.bias_n = b->dim[0] > 1 ? b->dim[1] * b->dim[2] : 0;
    }
    return a;
}

static nino_status launch_attention(nino_cl *cl, const nino_op_call *c, const attention *a,
                                    int64_t count, const char *defs, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const bool is_split = a->cut.parts > 1;
    const nino_cl_arg args[] = { A_INT(a->first),
                                 A_BUF(&c->src[0]->mem, a->elem),
                                 A_BUF(a->keys, a->key_elem),
                                 A_BUF(&c->src[2]->mem, a->elem),
                                 A_BUF(&c->dst->mem, a->elem),
                                 A_BUF(d->n_src == 4 ? &c->src[3]->mem : NULL, 4),
                                 A_INT(a->tq),
                                 A_INT(a->tk),
                                 A_INT(a->heads),
                                 A_F32(d->attr.scale),
                                 A_INT(a->bias_n),
                                 A_INT(a->bias_h),
                                 A_INT(a->bias_q),
                                 A_INT(nino_op_kv_heads(d)),
                                 A_INT(nino_op_first_sight(d)),
                                 A_INT(a->cut.parts ? a->cut.part_keys : a->cut.rows),
                                 A_BUF(is_split ? &c->workspace : NULL, 4) };
    const int n_args = NINO_CL_COUNT(args) - (a->cut.parts ? 0 : a->cut.takes_rows ? 1 : 2);
    const size_t global[] = { (size_t) count * a->cut.group,
                              (size_t) (is_split ? a->cut.parts : 1) };
    const double share = (double) count / (double) a->blocks;
    const double bytes = nino_cl_attention_bytes(d, a->blocks, a->cut.passes, a->key_elem);
    const nino_cl_what what = {
        .d = d, .is_main = true, .share = share, .requested = bytes * share
    };
    return nino_cl_launch(cl, a->cut.file, a->cut.kernel, defs, &what, 1 + is_split, global, NULL,
                          args, n_args, err);
}

// Makes one result of what the parts of the keys have left in the workspace.
static nino_status combine_parts(nino_cl *cl, const nino_op_call *c, const attention *a,
                                 const char *defs, nino_error *err)
{
    const int64_t rows = c->d.src[0].dim[0] * a->tq * a->heads;
    const nino_cl_arg args[] = { A_BUF(&c->workspace, 4), A_BUF(&c->dst->mem, a->elem),
                                 A_INT(a->cut.parts), A_U64((uint64_t) rows) };
    const size_t global[] = { nino_cl_items(cl, (uint64_t) (rows * (a->depth / 8))) };
    const nino_cl_what what = { .d = &c->d };
    return nino_cl_launch(cl, a->cut.file, "combine_parts", defs, &what, 1, global, NULL, args,
                          NINO_CL_COUNT(args), err);
}

static nino_status run_attention(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const nino_cl_schedule *s = nino_cl_schedule_now(cl);
    if (nino_sched_attention(nino_cl_profile(cl), d).form == NINO_ATTN_STRIPES)
        return s->stripes(cl, c, err);
    attention a = attention_of(cl, c);
    char defs[96];
    snprintf(defs, sizeof(defs), "%s -DD=%d -DBQ=%d%s%s%s%s", nino_cl_type_defs(d->src_type[0]),
             (int) a.depth, a.cut.most, a.cut.is_narrow ? " -DNARROW=1" : "",
             d->n_src == 4 ? " -DBIAS=1" : "", d->attr.is_causal ? " -DCAUSAL=1" : "",
             a.cut.options ? a.cut.options : "");
    if (a.cut.keys)
        snprintf(defs + strlen(defs), sizeof(defs) - strlen(defs), " -DKEYS=%d", a.cut.keys);
    if (!a.cut.most || a.tk > INT32_MAX - 128 || a.tq > INT32_MAX - 128 || a.blocks > INT32_MAX ||
        a.bias_n > INT32_MAX)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, "attention", "the tensors are too big");
    nino_status st = s->pack_keys ? s->pack_keys(cl, c, defs, err) : NINO_OK;
    const int64_t pieces = nino_cl_pieces(cl, d, nino_ops[d->op].flops(d), a.blocks);
    for (int64_t i = 1; i <= pieces && !st; i++) {
        const int64_t end = a.blocks * i / pieces;
        st = launch_attention(cl, c, &a, end - a.first, defs, err);
        a.first = end;
    }
    if (!st && a.cut.parts > 1)
        st = combine_parts(cl, c, &a, defs, err);
    return st;
}

nino_status nino_cl_attn(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    return c->d.op == NINO_OP_SOFTMAX ? run_softmax(cl, c, err) : run_attention(cl, c, err);
}
