// Attention as two products with the scores between them in memory, a stripe of queries of one head at a
// time: for heads too wide for flash.cl, and where a node asks for it.
#include "cl/cl_schedule.h"
#include "cl/wmma/wmma.h"
#include "core/base/size.h"

#include <stdio.h>

// One head's.
typedef struct stripes {
    const nino_op_call *c;
    nino_attn_layout l;
    int64_t tq, tk, row, kv_row, depth, bias_q;
    int32_t ahead; // query i sees i + ahead keys
    size_t elem;
    nino_block query, key, value, out, bias; // from its first row on
    nino_block turned, scores, factors;      // in the workspace
    const char *type;
} stripes;

static nino_block block_at(const nino_block *b, uint64_t bytes)
{
    nino_block to = *b;
    to.offset += bytes;
    return to;
}

static stripes stripes_of(const nino_op_call *c, const nino_attn_layout *l, int64_t b, int64_t h)
{
    const nino_op_desc *d = &c->d;
    const nino_shape *bias = &d->src[3];
    stripes s = { .c = c,
                  .l = *l,
                  .tq = d->src[0].dim[1],
                  .tk = d->src[1].dim[1],
                  .row = d->src[0].dim[2],
                  .kv_row = d->src[1].dim[2],
                  .ahead = nino_op_first_sight(d),
                  .depth = d->src[0].dim[2] / d->attr.heads,
                  .elem = nino_dtype_size(d->src_type[0]),
                  .type = nino_dtype_name(d->src_type[0]) };
    const uint64_t q = (uint64_t) (b * s.tq * s.row + h * s.depth) * s.elem;
    const int64_t kv = h / (d->attr.heads / nino_op_kv_heads(d));
    const uint64_t k = (uint64_t) (b * s.tk * s.kv_row + kv * s.depth) * s.elem;
    s.query = block_at(&c->src[0]->mem, q);
    s.key = block_at(&c->src[1]->mem, k);
    s.value = block_at(&c->src[2]->mem, k);
    s.out = block_at(&c->dst->mem, q);
    s.turned = c->workspace;
    s.scores = block_at(&c->workspace, l->scores);
    s.factors = block_at(&c->workspace, l->factors);
    if (d->n_src == 4) {
        const int64_t rows =
            ((bias->dim[0] > 1 ? b : 0) * bias->dim[1] + (bias->dim[1] > 1 ? h : 0)) * bias->dim[2];
        s.bias_q = bias->dim[2] > 1;
        s.bias = block_at(&c->src[3]->mem, (uint64_t) (rows * s.tk) * 4);
    }
    return s;
}

static nino_status turn_values(nino_cl *cl, const stripes *s, const char *defs, nino_error *err)
{
    const nino_cl_arg args[] = {
        A_BUF(&s->value, s->elem), A_BUF(&s->turned, s->elem), A_INT(s->tk),
        A_INT(s->l.keys),          A_INT(s->kv_row),           A_INT(s->depth)
    };
    const size_t global[] = { nino_cl_groups(cl, (uint64_t) nino_ceil_div(s->l.keys, 32)),
                              (size_t) nino_ceil_div(s->depth, 32) };
    const nino_cl_what what = { .d = &s->c->d };
    return nino_cl_launch(cl, "stripes", "turn_values", defs, &what, 2, global, NULL, args,
                          NINO_CL_COUNT(args), err);
}

static nino_status softmax_stripe(nino_cl *cl, const stripes *s, int64_t q0, int64_t n,
                                  const char *defs, nino_error *err)
{
    const nino_cl_arg args[] = {
        A_BUF(&s->scores, 4), A_BUF(&s->factors, 4),     A_BUF(s->bias.arena ? &s->bias : NULL, 4),
        A_INT(s->tk),         A_INT(s->l.keys),          A_INT(q0),
        A_INT(s->bias_q),     A_F32(s->c->d.attr.scale), A_INT(s->ahead)
    };
    const size_t global[] = { nino_cl_groups(cl, (uint64_t) n) };
    const nino_cl_what what = { .d = &s->c->d };
    return nino_cl_launch(cl, "stripes", "softmax_stripe", defs, &what, 1, global, NULL, args,
                          NINO_CL_COUNT(args), err);
}

// Y [rows][columns] = X W^T over `depth` channels.
typedef struct stripes_product {
    int64_t rows, columns, depth, x_row, w_row, y_row;
    const nino_block *x, *w, *y, *factors; // factors: of the rows of Y; NULL: Y are sums, in f32
} stripes_product;

static nino_status multiply(nino_cl *cl, const stripes *s, const stripes_product *p,
                            nino_error *err)
{
    const nino_tile t = nino_sched_tile(nino_cl_profile(cl), &s->c->d, p->rows, p->columns,
                                        nino_cl_compute_units(cl));
    const size_t group = (size_t) (t.waves_along * t.waves_across) * 32;
    const size_t global[] = { (size_t) nino_ceil_div(p->rows, t.rows) * group,
                              (size_t) nino_ceil_div(p->columns, t.columns) };
    char defs[64];
    snprintf(defs, sizeof(defs), "%s -DRAW=%s -DSAME=1", nino_cl_type_defs(s->c->d.src_type[0]),
             s->type);
    const nino_cl_arg args[] = { A_INT(0),
                                 A_INT(p->rows),
                                 A_INT(p->columns),
                                 A_INT(p->y_row),
                                 A_INT(p->depth),
                                 A_INT(p->x_row),
                                 A_INT(p->w_row),
                                 A_INT(1), // an image of one pixel, which it does not heed
                                 A_INT(1),
                                 A_INT(1),
                                 A_INT(1),
                                 A_INT(0),
                                 A_INT(0),
                                 A_BUF(p->x, s->elem),
                                 A_BUF(p->w, 1),
                                 A_INT(0), // weights have no factors and no codebook
                                 A_U64(0),
                                 A_U64(0),
                                 A_BUF(p->factors, 4),
                                 A_BUF(NULL, s->elem),
                                 A_BUF(p->y, p->factors ? s->elem : 4),
                                 A_BUF(NULL, 4), // there is nothing to be done for heads
                                 A_BUF(NULL, 4),
                                 A_INT(0),
                                 A_INT(1),
                                 A_F32(0),
                                 A_INT(NINO_ACT_NONE),
                                 A_INT((p->y_row % 8 == 0) << 2 | (p->factors ? 8 : 16)) };
    const double planes = (double) (s->c->d.src[0].dim[0] * s->c->d.attr.heads);
    const nino_cl_what what = { .d = &s->c->d,
                                .is_main = true,
                                .share = (double) p->rows / (double) s->tq / planes / 2 };
    return nino_cl_launch(cl, "wmma", nino_cl_wmma_kernel(&t), defs, &what, 2, global, NULL, args,
                          NINO_CL_COUNT(args), err);
}

// Queries q0 .. q0 + n.
static nino_status stripe(nino_cl *cl, const stripes *s, int64_t q0, int64_t n, const char *defs,
                          nino_error *err)
{
    const uint64_t at = (uint64_t) (q0 * s->row) * s->elem;
    const nino_block query = block_at(&s->query, at), out = block_at(&s->out, at);
    const int64_t last = q0 + n - 1 + s->ahead, seen = last < s->tk ? last : s->tk;
    const stripes_product scores = { .rows = n,
                                     .columns = seen,
                                     .depth = s->depth,
                                     .x_row = s->row,
                                     .w_row = s->kv_row,
                                     .y_row = s->l.keys,
                                     .x = &query,
                                     .w = &s->key,
                                     .y = &s->scores };
    const stripes_product result = { .rows = n,
                                     .columns = s->depth,
                                     .depth = nino_ceil_div(seen, 16) * 16,
                                     .x_row = s->l.keys * (int64_t) (4 / s->elem),
                                     .w_row = s->l.keys,
                                     .y_row = s->row,
                                     .x = &s->scores,
                                     .w = &s->turned,
                                     .y = &out,
                                     .factors = &s->factors };
    nino_status st = multiply(cl, s, &scores, err);
    if (!st)
        st = softmax_stripe(cl, s, q0, n, defs, err);
    return st ? st : multiply(cl, s, &result, err);
}

nino_status NINO_CL_OWN(stripes)(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const nino_attn_layout l = nino_sched_attention(nino_cl_profile(cl), d);
    nino_status st = NINO_OK;
    for (int64_t i = 0; i < d->src[0].dim[0] * d->attr.heads && !st; i++) {
        const stripes s = stripes_of(c, &l, i / d->attr.heads, i % d->attr.heads);
        char defs[64];
        snprintf(defs, sizeof(defs), "%s%s%s", nino_cl_type_defs(d->src_type[0]),
                 d->n_src == 4 ? " -DBIAS=1" : "", d->attr.is_causal ? " -DCAUSAL=1" : "");
        st = turn_values(cl, &s, defs, err);
        for (int64_t q = 0; q < s.tq && !st; q += l.rows)
            st = stripe(cl, &s, q, s.tq - q < l.rows ? s.tq - q : l.rows, defs, err);
    }
    return st;
}
