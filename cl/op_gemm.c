// LINEAR, CONV2D and CONV3D: which kernel, which columns and rows of it in a launch, and with what
// arguments. How a launch is cut is the schedule's (gemm.cl, skinny.cl and others in its folder).
// Weights that are kept as the file stores them are decoded by those, or expanded before
// (cl/kernels/quant.cl).
#include "cl/blas.h"
#include "cl/cl_schedule.h"
#include "core/base/error.h"
#include "core/base/size.h"
#include "core/op/engine.h"
#include "core/op/pack.h"
#include "core/op/weight.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    ROW_UNIT = 768 // what the rows of every tile divide
};

nino_cl_product nino_cl_product_of(const nino_op_desc *d)
{
    nino_cl_product g = { .n = d->weight->n,
                          .ld = d->weight->n,
                          .c = d->weight->c,
                          .taps = nino_op_taps(d),
                          .stride = 1 };
    g.ks = 1;
    g.rows = nino_shape_count(&d->dst) / g.n;
    g.whole = nino_op_rows_of_whole(d, g.rows);
    if (d->op == NINO_OP_LINEAR) {
        g.h = g.oh = 1;
        g.w = g.ow = g.rows;
        return g;
    }
    g.ks = d->attr.kernel;
    g.stride = d->attr.stride;
    g.pad = (int) nino_op_pad_begin(&d->attr);
    g.is_video = d->op == NINO_OP_CONV3D;
    g.pad_t = d->attr.pad_t;
    g.stride_t = d->attr.stride_t;
    g.history = nino_op_history(d);
    g.first_tap = nino_op_first_tap(d);
    g.earlier = g.history ? d->src[g.history].dim[0] : 0;
    g.up = d->attr.upsample2x;
    g.h = d->src[0].dim[1];
    g.w = d->src[0].dim[2];
    g.oh = d->dst.dim[1];
    g.ow = d->dst.dim[2];
    return g;
}

// ---- options -----------------------------------------------------------------------------------

void nino_cl_cut_define(nino_cl_cut *k, const char *fmt, ...)
{
    const size_t n = strlen(k->defs);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(k->defs + n, sizeof(k->defs) - n, fmt, ap);
    va_end(ap);
}

void nino_cl_product_defs(const nino_op_call *c, const nino_cl_columns *w, nino_cl_cut *k)
{
    nino_cl_cut_define(k, "%s -D%s=%s", nino_cl_type_defs(c->d.src_type[0]), w->raw ? "RAW" : "WT",
                       nino_dtype_name(w->type));
}

int nino_cl_product_has(const nino_op_call *c)
{
    return (c->bias != NULL) | c->d.has_residual << 1 | (c->d.weight->n % 8 == 0) << 2;
}

// ---- arguments: one builder a kernel -----------------------------------------------------------

// The operands of an op from a column on.
typedef struct operands {
    size_t elem, dst_elem; // bytes of a value, but of the bias
    const nino_block *x, *earlier;
    bool has_bias, has_residual;
    nino_block bias, residual, dst;
} operands;

static operands operands_of(const nino_op_call *c, const nino_cl_product *g, int64_t column)
{
    const size_t elem = nino_dtype_size(c->d.src_type[0]);
    operands o = { .elem = elem,
                   .dst_elem = elem,
                   .x = &c->src[0]->mem,
                   .dst = c->dst->mem,
                   .has_bias = c->bias != NULL,
                   .has_residual = c->d.has_residual };
    o.dst.offset += (uint64_t) column * elem;
    if (g->history)
        o.earlier = &c->src[g->history]->mem;
    if (o.has_bias) {
        o.bias = c->bias->mem;
        o.bias.offset += (uint64_t) column * 4;
    }
    if (o.has_residual) {
        o.residual = c->src[1]->mem;
        o.residual.offset += (uint64_t) column * elem;
    }
    return o;
}

// One launch: rows row0 .. row1 of the product of some columns.
typedef struct launch {
    int64_t row0, row1;
    nino_cl_product g;
    const nino_cl_columns *w;
    operands o;
    nino_cl_cut cut;
    nino_act act;
    int has;
    // Of a linear layer with heads.
    const nino_block *norm, *table;
    int64_t depth, positions;
    float eps;
} launch;

typedef struct arguments {
    nino_cl_arg list[32];
    int n;
} arguments;

static void op_gemm_add(arguments *a, int n, const nino_cl_arg *more)
{
    memcpy(a->list + a->n, more, (size_t) n * sizeof(*more));
    a->n += n;
}
#define ADD(a, ...)                                                                                \
    op_gemm_add(a, NINO_CL_COUNT(((const nino_cl_arg[]){ __VA_ARGS__ })),                          \
                (const nino_cl_arg[]){ __VA_ARGS__ })

// The weight and, of a part as the file stores it, where its factors and codebook are.
static void op_gemm_add_weight(arguments *a, const nino_cl_columns *w)
{
    if (w->raw)
        ADD(a, A_BUF(&w->mem, 1), A_INT(w->raw->is_scaled), A_U64(w->raw->scales),
            A_U64(w->raw->grid));
    else
        ADD(a, A_BUF(&w->mem, nino_dtype_size(w->type)));
}

static void add_result(arguments *a, const operands *o)
{
    ADD(a, A_BUF(o->has_bias ? &o->bias : NULL, 4),
        A_BUF(o->has_residual ? &o->residual : NULL, o->elem), A_BUF(&o->dst, o->dst_elem));
}

// Of gemm, and of whatever else a schedule cuts products for.
static arguments gemm_arguments(const launch *l)
{
    const nino_cl_product *g = &l->g;
    arguments a = { .n = 0 };
    ADD(&a, A_INT(l->row0), A_INT(l->row1), A_INT(g->n), A_INT(g->ld));
    ADD(&a, A_INT(g->c), A_INT(l->cut.x_row ? l->cut.x_row : g->h),
        A_INT(l->cut.w_row ? l->cut.w_row : g->w), A_INT(g->oh), A_INT(g->ow));
    ADD(&a, A_INT(g->ks), A_INT(g->stride), A_INT(g->pad), A_INT(g->up));
    ADD(&a, A_BUF(l->o.x, l->o.elem));
    op_gemm_add_weight(&a, l->w);
    add_result(&a, &l->o);
    if (l->cut.tile_rows)
        ADD(&a, A_INT(l->cut.tile_rows), A_INT(l->cut.tile_panels));
    if (g->is_video)
        ADD(&a, A_BUF(l->o.earlier, l->o.elem), A_INT(g->earlier), A_INT(g->pad_t),
            A_INT(g->stride_t), A_INT(g->first_tap));
    if (l->cut.takes_heads)
        ADD(&a, A_BUF(l->norm, 4), A_BUF(l->table, 4), A_INT(l->depth), A_INT(l->positions),
            A_F32(l->eps));
    ADD(&a, A_INT(l->act), A_INT(l->has));
    return a;
}

static arguments skinny_arguments(const launch *l)
{
    const nino_cl_product *g = &l->g;
    arguments a = { .n = 0 };
    ADD(&a, A_INT(g->rows), A_INT(g->n), A_INT(g->ld), A_INT(g->c), A_BUF(l->o.x, l->o.elem));
    op_gemm_add_weight(&a, l->w);
    add_result(&a, &l->o);
    ADD(&a, A_INT(l->act), A_INT(l->has));
    return a;
}

// Panels of columns `to` of a part.
static arguments expand_arguments(const nino_weight *w, const nino_cl_columns *part,
                                  const nino_cl_columns *to)
{
    arguments a = { .n = 0 };
    ADD(&a, A_INT(to->first - part->first), A_INT(part->n), A_INT(w->c),
        A_INT(nino_weight_taps(w)));
    op_gemm_add_weight(&a, part);
    ADD(&a, A_BUF(&to->mem, nino_dtype_size(to->type)));
    return a;
}

// ---- launches ----------------------------------------------------------------------------------

static launch op_gemm_launch_of(const nino_op_call *c, const nino_cl_columns *w)
{
    launch l = { .g = nino_cl_product_of(&c->d), .w = w };
    l.o = operands_of(c, &l.g, w->first);
    l.g.n = w->n;
    l.act = c->d.attr.act;
    l.has = nino_cl_product_has(c);
    l.positions = 1;
    if (c->norm) { // cl/kernels/common.cl
        enum { HAS_HEADS = 32, HAS_TABLE = 64 };
        l.norm = &c->norm->mem;
        l.table = c->d.n_src > 1 ? &c->src[1]->mem : NULL;
        l.has |= HAS_HEADS | (l.table ? HAS_TABLE : 0);
        l.depth = nino_sched_head(&c->d);
        l.positions = l.table ? c->d.src[1].dim[0] : 1;
        l.eps = c->d.attr.eps;
    }
    return l;
}

// Cuts a launch of n rows; its work-groups.
static int64_t cut_rows(const nino_cl *cl, const nino_op_call *c, launch *l, int64_t n)
{
    const nino_cl_schedule *s = nino_cl_schedule_now(cl);
    l->cut = (nino_cl_cut){ .file = "gemm", .kernel = "gemm", .group = s->group };
    s->cut_product(cl, c, l->w, &l->g, n, &l->cut);
    return (int64_t) (l->cut.global[0] / l->cut.group * l->cut.global[1]);
}

// How many launches; each begins at a multiple of ROW_UNIT.
static int64_t op_gemm_pieces(const nino_cl *cl, const nino_op_call *c, launch *l, double flops)
{
    const int64_t rows = l->g.rows, most = rows > ROW_UNIT ? rows / ROW_UNIT : 1;
    int64_t pieces = nino_cl_pieces(cl, &c->d, flops, cut_rows(cl, c, l, rows));
    pieces = pieces < most ? pieces : most;
    // The shortest launch has as many work-groups as any should.
    while (pieces > 1 && cut_rows(cl, c, l, rows / pieces / ROW_UNIT * ROW_UNIT) <
                             4 * (int64_t) nino_cl_compute_units(cl))
        pieces--;
    return pieces;
}

// A launch makes sums in the workspace in place of results.
static launch to_sums(const launch *l, const nino_block *workspace)
{
    enum { HAS_PIECES = 4, HAS_SUMS_ONLY = 16 }; // cl/kernels/common.cl
    launch s = *l;
    s.has = (l->has & HAS_PIECES) | HAS_SUMS_ONLY;
    s.act = NINO_ACT_NONE;
    s.o.has_bias = s.o.has_residual = false;
    s.o.dst = *workspace;
    s.o.dst_elem = 4;
    return s;
}

// Adds what the parts of a product have summed.
static nino_status sum_parts(nino_cl *cl, const nino_op_call *c, const launch *l, nino_error *err)
{
    const nino_cl_product *g = &l->g;
    arguments a = { .n = 0 };
    ADD(&a, A_BUF(&c->workspace, 4), A_INT(l->cut.parts), A_INT(g->rows), A_INT(g->n));
    add_result(&a, &l->o);
    ADD(&a, A_INT(l->act), A_INT(l->has));
    const nino_cl_what what = { .d = &c->d };
    const size_t global = nino_cl_items(cl, (uint64_t) (g->rows * nino_ceil_div(g->n, 4)));
    return nino_cl_launch(cl, l->cut.file, "sum_parts", l->cut.defs, &what, 1, &global, NULL,
                          a.list, a.n, err);
}

static nino_status run_direct(nino_cl *cl, const nino_op_call *c, const nino_cl_columns *w,
                              nino_error *err)
{
    const nino_op_desc *d = &c->d;
    launch l = op_gemm_launch_of(c, w);
    const int64_t rows = l.g.rows;
    const double part = (double) l.g.n / (double) l.g.ld;
    if (rows > INT32_MAX - 256 || l.g.ld > INT32_MAX - 256 || l.g.c * l.g.taps > INT32_MAX - 256)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, nino_ops[d->op].name,
                         "an operand has more than 2^31 rows or columns");
    int64_t pieces = op_gemm_pieces(cl, c, &l, nino_ops[d->op].flops(d) * part);
    pieces = l.cut.parts > 1 ? 1 : pieces;
    nino_status st = NINO_OK;
    for (int64_t i = 1; i <= pieces && !st; i++, l.row0 = l.row1) {
        l.row1 = i < pieces ? rows * i / pieces / ROW_UNIT * ROW_UNIT : rows;
        const int64_t n = l.row1 - l.row0;
        cut_rows(cl, c, &l, n);
        while (!nino_cl_kernel_fits(cl, l.cut.file, l.cut.kernel, l.cut.defs) &&
               nino_cl_smaller_tiles(cl))
            cut_rows(cl, c, &l, n);
        const nino_cl_tiles tiles = { n, l.g.n, (int64_t) (l.cut.global[0] / l.cut.group),
                                      (int64_t) l.cut.global[1] };
        const nino_cl_what what = { .d = d,
                                    .is_main = true,
                                    .share = part * (double) n / (double) rows,
                                    .requested = nino_cl_product_bytes(d, w->type, &tiles) };
        const bool is_split = l.cut.parts > 1;
        const launch sums = is_split ? to_sums(&l, &c->workspace) : l;
        const arguments a = gemm_arguments(&sums);
        st = nino_cl_launch(cl, l.cut.file, l.cut.kernel, l.cut.defs, &what, is_split ? 3 : 2,
                            l.cut.global, NULL, a.list, a.n, err);
        if (!st && is_split)
            st = sum_parts(cl, c, &l, err);
    }
    return st;
}

// A linear layer of few rows: as much is read as computed, so tiles would be padding.
static nino_status run_skinny(nino_cl *cl, const nino_op_call *c, const nino_cl_columns *w,
                              nino_error *err)
{
    const nino_op_desc *d = &c->d;
    launch l = op_gemm_launch_of(c, w);
    const nino_cl_schedule *schedule = nino_cl_schedule_now(cl);
    l.cut = (nino_cl_cut){ .file = "skinny" };
    nino_cl_product_defs(c, w, &l.cut);
    schedule->cut_skinny(w, &l.g, &l.cut);
    const nino_cl_tiles tiles = { l.g.rows, w->n, 1, nino_pack_panels_of(w->n) };
    const nino_cl_what what = { .d = d,
                                .is_main = true,
                                .share = (double) w->n / (double) l.g.ld,
                                .requested = nino_cl_product_bytes(d, w->type, &tiles) };
    const arguments a = skinny_arguments(&l);
    return nino_cl_launch(cl, l.cut.file, l.cut.kernel, l.cut.defs, &what, 1, l.cut.global, NULL,
                          a.list, a.n, err);
}

static nino_status op_gemm_expand(nino_cl *cl, const nino_op_call *c, const nino_cl_columns *part,
                                  const nino_cl_columns *to, nino_error *err)
{
    const nino_weight *w = c->d.weight;
    const nino_cl_grid grid = nino_cl_schedule_now(cl)->grids->expand(
        nino_pack_panels_of(to->n), nino_weight_taps(w) * nino_pack_cp(w->c));
    char kernel[32];
    snprintf(kernel, sizeof(kernel), "expand_%s", nino_dtype_name(part->type));
    const nino_cl_what what = { .d = &c->d };
    const arguments a = expand_arguments(w, part, to);
    char defs[32];
    snprintf(defs, sizeof(defs), "%s%s", to->raw ? nino_cl_type_defs(to->type) : "",
             to->raw ? " -DROWS=1" : "");
    return nino_cl_launch(cl, "quant", kernel, defs, &what, grid.dims, grid.size, NULL, a.list, a.n,
                          err);
}

static nino_status run_columns(nino_cl *cl, const nino_op_call *c, const nino_cl_columns *w,
                               nino_error *err)
{
    const nino_op_desc *d = &c->d;
    if (nino_sched_conv(nino_cl_profile(cl), d) == NINO_CONV_WINOGRAD)
        return nino_cl_schedule_now(cl)->winograd(cl, c, w, err);
    const bool is_skinny =
        d->weight->n < INT32_MAX - 256 && d->weight->c < INT32_MAX - 256 && nino_sched_is_skinny(d);
    return is_skinny ? run_skinny(cl, c, w, err) : run_direct(cl, c, w, err);
}

// A part of a weight: as it is, or expanded `step` columns at a time.
static nino_status run_part(nino_cl *cl, const nino_op_call *c, const nino_raw_part *p,
                            const nino_expand_layout *e, nino_error *err)
{
    const int64_t step = e->panels * 64;
    nino_cl_columns w = {
        .mem = c->weight->mem, .type = p->type, .first = p->row0, .n = p->rows, .raw = p
    };
    w.mem.offset += p->at;
    if (!step)
        return run_columns(cl, c, &w, err);
    const nino_raw_part rows = { .type = e->type };
    nino_cl_columns to = { .mem = c->workspace,
                           .type = rows.type,
                           .raw = e->is_rows ? &rows : NULL };
    to.mem.offset += e->at;
    nino_status st = NINO_OK;
    for (int64_t i = 0; i < p->rows && !st; i += step) {
        to.first = p->row0 + i;
        to.n = p->rows - i < step ? p->rows - i : step;
        st = op_gemm_expand(cl, c, &w, &to, err);
        if (!st)
            st = run_columns(cl, c, &to, err);
    }
    return st;
}

nino_status nino_cl_gemm(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_expand_layout e = nino_sched_expand(nino_cl_profile(cl), &c->d);
    nino_cl_columns all = { .mem = c->weight->mem, .type = c->weight->dtype, .n = c->d.weight->n };
    const nino_raw_part rows = { .type = all.type, .rows = all.n };
    nino_raw_layout raw;
    nino_status st = NINO_OK;
    if (nino_engine_is_blas(nino_cl_profile(cl), &c->d))
        return nino_cl_blas_linear(cl, c, err);
    if (!nino_raw_layout_of(c->d.weight, &raw)) {
        all.raw = nino_cl_profile(cl)->schedule->keeps_rows ? &rows : NULL;
        return run_columns(cl, c, &all, err);
    }
    for (int i = 0; i < raw.n_parts && !st; i++)
        st = run_part(cl, c, &raw.part[i], &e, err);
    return st;
}
