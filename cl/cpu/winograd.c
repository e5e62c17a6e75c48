// 3x3 convolutions of stride 1 by Winograd's F(4,3), stripe by stripe of tiles (wino.cl).
#include "cl/cpu/cpu.h"
#include "core/base/size.h"

// The products of a stripe of tiles.
static nino_status wino_gemm(nino_cl *cl, nino_cl_what what, const char *defs,
                             const nino_wino_layout *l, const nino_block *u, const nino_block *v,
                             const nino_block *m, int64_t tiles, nino_error *err)
{
    int64_t rows, nb;
    NINO_CL_OWN(tile)(cl, tiles, l->np / 64, false, &rows, &nb);
    const size_t global[] = { (size_t) nino_ceil_div(tiles, rows),
                              (size_t) nino_ceil_div(l->np / 64, nb), (size_t) l->n };
    what.requested = nino_cl_wino_bytes(l, &(nino_cl_tiles){ .rows = tiles,
                                                             .along = (int64_t) global[0],
                                                             .across = (int64_t) global[1] });
    const nino_cl_arg args[] = { A_BUF(v, 4),  A_BUF(u, 4),  A_BUF(m, 4),
                                 A_INT(l->cp), A_INT(l->np), A_INT(tiles),
                                 A_INT(l->tp), A_INT(rows),  A_INT(nb) };
    return nino_cl_launch(cl, "wino", "wino_gemm", defs, &what, 3, global, NULL, args,
                          NINO_CL_COUNT(args), err);
}

// The transformed inputs of a stripe, one frame after the other.
static nino_status wino_input(nino_cl *cl, const nino_op_call *c, const nino_cl_product *g,
                              const nino_wino_layout *l, const char *defs, int64_t row,
                              const size_t global[2], nino_error *err)
{
    const size_t elem = nino_dtype_size(c->d.src_type[0]);
    const nino_cl_what helper = { .d = &c->d };
    nino_block v = c->workspace;
    nino_status st = NINO_OK;
    v.offset += l->v;
    for (int64_t f = 0; f < l->frames && !st; f++, v.offset += (uint64_t) (l->cp / l->frames) * 4) {
        const int64_t shift = f + g->first_tap / 9 - c->d.attr.pad_t;
        const nino_cl_arg in[] = { A_BUF(&c->src[0]->mem, elem),
                                   A_BUF(&v, 4),
                                   A_INT(g->c),
                                   A_INT(g->h),
                                   A_INT(g->w),
                                   A_INT(g->up),
                                   A_INT(nino_ceil_div(g->oh, 4)),
                                   A_INT(row),
                                   A_INT(l->tp),
                                   A_INT(l->cp + 16),
                                   A_INT(shift),
                                   A_INT(g->earlier),
                                   A_BUF(g->history ? &c->src[g->history]->mem : NULL, elem) };
        st = nino_cl_launch(cl, "wino", "wino_input", defs, &helper, 2, global, NULL, in,
                            NINO_CL_COUNT(in), err);
    }
    return st;
}

nino_status NINO_CL_OWN(winograd)(nino_cl *cl, const nino_op_call *c, const nino_cl_columns *w,
                                  nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const nino_cl_product g = nino_cl_product_of(d);
    const nino_wino_layout l = nino_sched_wino(nino_cl_profile(cl), d);
    const int64_t th = nino_ceil_div(g.oh, 4);
    const size_t elem = nino_dtype_size(d->src_type[0]);
    const nino_block *residual = d->has_residual ? &c->src[1]->mem : NULL;
    nino_block u = c->workspace, v = c->workspace, m = c->workspace;
    u.offset += l.u;
    v.offset += l.v;
    m.offset += l.m;
    nino_cl_cut k = { .file = "wino" };
    nino_cl_product_defs(c, w, &k);

    const nino_cl_what helper = { .d = d };
    const nino_cl_arg weights[] = { A_BUF(&w->mem, nino_dtype_size(w->type)),
                                    A_BUF(&u, 4),
                                    A_INT(l.cp),
                                    A_INT(l.np),
                                    A_INT(g.taps),
                                    A_INT(g.first_tap),
                                    A_INT(g.up) };
    const size_t panels[] = { (size_t) (l.cp / l.frames / 16), (size_t) l.np / 64,
                              (size_t) l.frames };
    nino_status st = nino_cl_launch(cl, "wino", "wino_weights", k.defs, &helper, 3, panels, NULL,
                                    weights, NINO_CL_COUNT(weights), err);
    for (int64_t row = 0; row < l.th && !st; row += l.rows) {
        const int64_t rows = l.th - row < l.rows ? l.th - row : l.rows, tiles = rows * l.tw;
        const size_t global[] = { (size_t) l.tw, (size_t) rows };
        const nino_cl_what what = { .d = d,
                                    .is_main = true,
                                    .share = (double) rows / (double) l.th };
        const nino_cl_arg out[] = { A_BUF(&m, 4),
                                    A_BUF(c->bias ? &c->bias->mem : NULL, 4),
                                    A_BUF(residual, elem),
                                    A_BUF(&c->dst->mem, elem),
                                    A_INT(g.n),
                                    A_INT(g.oh),
                                    A_INT(g.ow),
                                    A_INT(th),
                                    A_INT(row),
                                    A_INT(l.tp),
                                    A_INT(g.up),
                                    A_INT(d->attr.act),
                                    A_INT(nino_cl_product_has(c)) };
        if ((st = wino_input(cl, c, &g, &l, k.defs, row, global, err)) ||
            (st = wino_gemm(cl, what, k.defs, &l, &u, &v, &m, tiles, err)) ||
            (st = nino_cl_launch(cl, "wino", "wino_output", k.defs, &helper, 2, global, NULL, out,
                                 NINO_CL_COUNT(out), err)))
            break;
    }
    return st;
}
