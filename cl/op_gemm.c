// LINEAR, CONV2D and CONV3D: picks the kernel, tile sizes and pieces, and launches
// (cl/kernels/gemm.cl, few.cl, skinny.cl, wino.cl). Weights that are kept as the file stores them
// are decoded by gemm.cl and skinny.cl, or expanded before (cl/kernels/quant.cl).
#include "cl/cl.h"
#include "core/base/error.h"
#include "core/base/size.h"
#include "core/op/pack.h"
#include "core/op/raw.h"
#include "core/op/weight.h"

#include <stdio.h>
#include <string.h>

enum {
    // Limits of the CPU kernel: rows and panels of a macro tile, and what its register tiles
    // divide.
    CPU_ROWS = NINO_STANDARD_GEMM_ROWS,
    CPU_PANELS = 4,
    RAW_ROWS = 768, // of a tile of one panel that is decoded
    CPU_ROW_UNIT = 12,
    FEW_MAX = 24576, // of gemm_few: weights, rows
    FEW_ROWS = 4096,
    SKINNY_ROWS = 16, // of linear_skinny: rows of all, rows of a register tile
    SKINNY_TILE = 6,
    PIECES = NINO_STANDARD_GEMM_PIECES, // macro tiles to aim at for each compute unit
    ROW_UNIT = 768                      // what the rows of every tile divide
};
// The implicit GEMM that an op amounts to.
typedef struct gemm {
    int64_t rows, n, ld, c, h, w, oh, ow; // n: columns of a launch, ld: of all
    int taps, ks, stride, pad, up;
    int history, first_tap; // CONV3D: index of the source before x; see op.h
    int64_t earlier;
} gemm;

static gemm gemm_of(const nino_op_desc *d)
{
    gemm g = { .n = d->weight->n,
               .ld = d->weight->n,
               .c = d->weight->c,
               .taps = nino_op_taps(d),
               .stride = 1 };
    g.ks = 1;
    g.rows = nino_shape_count(&d->dst) / g.n;
    if (d->op == NINO_OP_LINEAR) {
        g.h = g.oh = 1;
        g.w = g.ow = g.rows;
        return g;
    }
    g.ks = d->attr.kernel;
    g.stride = d->attr.stride;
    g.pad = (int) nino_op_pad_begin(&d->attr);
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

// Columns first .. first + n of the weight: panels, or a part as the file stores it.
typedef struct columns {
    nino_block mem;
    nino_dtype type;
    int64_t first, n;
    const nino_raw_part *raw; // NULL: panels
} columns;

// The operands of an op from a column on.
typedef struct operands {
    nino_block bias, residual, dst;
    const nino_block *has_bias, *has_residual; // those above or NULL
} operands;

static void operands_from(const nino_op_call *c, int64_t column, operands *o)
{
    const uint64_t bytes = (uint64_t) column * nino_dtype_size(c->d.src_type[0]);
    *o = (operands){ .dst = c->dst->mem };
    o->dst.offset += bytes;
    if (c->bias) {
        o->bias = c->bias->mem;
        o->bias.offset += (uint64_t) column * 4;
        o->has_bias = &o->bias;
    }
    if (c->d.has_residual) {
        o->residual = c->src[1]->mem;
        o->residual.offset += bytes;
        o->has_residual = &o->residual;
    }
}

static const char *type_name(nino_dtype t)
{
    return t == NINO_F16 ? "f16" : t == NINO_BF16 ? "bf16" : "f32";
}

// Rows of one launch: a multiple of `unit`.
static int64_t rows_per_launch(const nino_cl *cl, double flops, int64_t rows, int64_t unit)
{
    const int64_t pieces = nino_cl_pieces(cl, flops);
    return nino_ceil_div(nino_ceil_div(rows, pieces), unit) * unit;
}

// Macro tiles of the CPU kernel: as large as there are enough of them for all compute units, and
// all of about one size.
static void cpu_tile(const nino_cl *cl, int64_t rows, int64_t panels, bool is_raw,
                     int64_t *tile_rows, int64_t *tile_panels)
{
    const nino_tuning *t = &nino_cl_profile(cl)->tuning;
    const int64_t most_rows = is_raw ? RAW_ROWS : t->gemm_rows ? t->gemm_rows : CPU_ROWS;
    const int64_t want =
        (int64_t) nino_cl_compute_units(cl) * (t->gemm_pieces ? t->gemm_pieces : PIECES);
    int64_t nb = is_raw ? 1 : panels < CPU_PANELS ? panels : CPU_PANELS;
    int64_t pieces = nino_ceil_div(rows, most_rows);
    while (nb > 1 && pieces * nino_ceil_div(panels, nb) < want)
        nb--;
    if (!is_raw)
        nb = nino_ceil_div(panels, nino_ceil_div(panels, nb));
    const int64_t most = nino_ceil_div(rows, CPU_ROW_UNIT);
    const int64_t need = nino_ceil_div(want, nino_ceil_div(panels, nb));
    if (pieces < need)
        pieces = need < most ? need : most;
    *tile_rows = nino_ceil_div(nino_ceil_div(rows, pieces), CPU_ROW_UNIT) * CPU_ROW_UNIT;
    *tile_panels = nb;
}

static void append(char defs[192], const char *text)
{
    const size_t n = strlen(defs);
    snprintf(defs + n, 192 - n, "%s", text);
}

static void gemm_defs(const nino_op_call *c, const columns *w, char *defs, size_t size)
{
    snprintf(defs, size, "%s -D%s=%s -DACT=%d -DBIAS=%d -DRES=%d%s",
             nino_cl_type_defs(c->d.src_type[0]), w->raw ? "RAW" : "WT",
             w->raw ? nino_dtype_name(w->type) : type_name(w->type), (int) c->d.attr.act,
             c->bias != NULL, c->d.has_residual, c->d.op == NINO_OP_CONV3D ? " -DVIDEO=1" : "");
}

// Arguments of a kernel, a group after the other.
typedef struct arguments {
    nino_cl_arg list[32];
    int n;
} arguments;

static void add(arguments *a, const nino_cl_arg *more, int n)
{
    memcpy(a->list + a->n, more, (size_t) n * sizeof(*more));
    a->n += n;
}

// The weight and, of a part as the file stores it, where its factors and codebook are.
static void add_weight(arguments *a, const columns *w)
{
    const nino_cl_arg panels[] = { A_BUF(&w->mem, nino_dtype_size(w->type)) };
    if (!w->raw) {
        add(a, panels, NINO_CL_COUNT(panels));
        return;
    }
    const nino_cl_arg rows[] = { A_BUF(&w->mem, 1), A_INT(w->raw->is_scaled), A_U64(w->raw->scales),
                                 A_U64(w->raw->grid) };
    add(a, rows, NINO_CL_COUNT(rows));
}

// How one launch of `rows` rows is cut: the kernel's options, what of a tile the CPU kernel takes
// as arguments, and the global size.
typedef struct cut {
    const char *file, *kernel;
    char defs[192];
    int64_t tile_rows, tile_panels;
    size_t global[2];
} cut;

static void cut_cpu(const nino_cl *cl, const gemm *g, int64_t rows, bool is_raw, cut *out)
{
    const int64_t panels = nino_pack_panels_of(g->n);
    if (!is_raw && g->n <= 4 && g->c % 16 == 0 && g->n * g->taps * g->c <= FEW_MAX) {
        char text[16];
        out->file = "few";
        out->kernel = "gemm_few";
        snprintf(text, sizeof(text), " -DFEW=%d", (int) g->n);
        append(out->defs, text);
        // Each work-item transposes the weights first, which should not count.
        out->tile_rows = nino_ceil_div(rows, (int64_t) nino_cl_compute_units(cl) * PIECES);
        out->tile_rows = out->tile_rows > FEW_ROWS ? FEW_ROWS : out->tile_rows;
        out->tile_panels = panels;
    } else {
        cpu_tile(cl, rows, panels, is_raw, &out->tile_rows, &out->tile_panels);
        if (g->n <= 16)
            append(out->defs, " -DNARROW=1");
    }
    out->global[0] = (size_t) nino_ceil_div(rows, out->tile_rows);
    out->global[1] = (size_t) nino_ceil_div(panels, out->tile_panels);
}

// The largest tile of which there are enough for all compute units.
static void cut_generic(const nino_cl *cl, const gemm *g, int64_t rows, bool is_raw, cut *out)
{
    static const struct {
        int tm, tn, wm;
    } tiles[] = { { 8, 8, 16 }, { 8, 4, 16 }, { 4, 4, 16 }, { 4, 4, 64 }, { 4, 4, 32 } };
    const bool is_small = nino_cl_has_small_local(cl); // no room for the first and the fourth
    char text[64];
    int64_t across, along;
    const int largest = nino_cl_profile(cl)->tuning.gemm_tile;
    (void) is_raw;
    int i = g->n <= 16 ? 3 + is_small : g->n <= 64 || is_small ? 1 : 0;
    if (g->n > 16 && i < largest - 1)
        i = largest - 1;
    for (;; i++) {
        along = nino_ceil_div(rows, (int64_t) tiles[i].tm * tiles[i].wm);
        across = nino_ceil_div(g->n, (int64_t) tiles[i].tn * (256 / tiles[i].wm));
        if (i >= 2 || along * across >= nino_cl_compute_units(cl))
            break;
    }
    snprintf(text, sizeof(text), " -DTM=%d -DTN=%d -DWM=%d -DVECC=%d -DVECN=%d", tiles[i].tm,
             tiles[i].tn, tiles[i].wm, g->c % 4 == 0, g->n % 4 == 0 && g->ld % 4 == 0);
    append(out->defs, text);
    out->global[0] = (size_t) along * 256;
    out->global[1] = (size_t) across;
}

static nino_status run_direct(nino_cl *cl, const nino_op_call *c, const columns *w, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    gemm g = gemm_of(d);
    const double part = (double) w->n / (double) g.ld;
    const bool is_cpu = nino_cl_is_cpu_schedule(cl);
    const size_t elem = nino_dtype_size(d->src_type[0]);
    if (g.rows > INT32_MAX - 256 || g.n > INT32_MAX - 256 || g.c * g.taps > INT32_MAX - 256)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, nino_ops[d->op].name,
                         "an operand has more than 2^31 rows or columns");
    const int64_t step = rows_per_launch(cl, nino_ops[d->op].flops(d) * part, g.rows, ROW_UNIT);
    nino_status st = NINO_OK;
    operands o;
    operands_from(c, w->first, &o);
    g.n = w->n;
    for (int64_t row = 0; row < g.rows && !st; row += step) {
        const int64_t end = row + step < g.rows ? row + step : g.rows;
        cut k = { .file = "gemm", .kernel = "gemm" };
        arguments a = { .n = 0 };
        gemm_defs(c, w, k.defs, sizeof(k.defs));
        (is_cpu ? cut_cpu : cut_generic)(cl, &g, end - row, w->raw != NULL, &k);
        const nino_cl_arg input[] = {
            A_INT(row),      A_INT(end),
            A_INT(g.n),      A_INT(g.ld),
            A_INT(g.c),      A_INT(g.h),
            A_INT(g.w),      A_INT(g.oh),
            A_INT(g.ow),     A_INT(g.ks),
            A_INT(g.stride), A_INT(g.pad),
            A_INT(g.up),     A_BUF(&c->src[0]->mem, elem),
        };
        const nino_cl_arg result[] = { A_BUF(o.has_bias, 4), A_BUF(o.has_residual, elem),
                                       A_BUF(&o.dst, elem) };
        const nino_cl_arg tile[] = { A_INT(k.tile_rows), A_INT(k.tile_panels) };
        const nino_cl_arg video[] = {
            A_BUF(g.history ? &c->src[g.history]->mem : NULL, elem),
            A_INT(g.earlier),
            A_INT(d->attr.pad_t),
            A_INT(d->attr.stride_t),
            A_INT(g.first_tap),
        };
        add(&a, input, NINO_CL_COUNT(input));
        add_weight(&a, w);
        add(&a, result, NINO_CL_COUNT(result));
        if (is_cpu)
            add(&a, tile, NINO_CL_COUNT(tile));
        if (d->op == NINO_OP_CONV3D)
            add(&a, video, NINO_CL_COUNT(video));
        const nino_cl_tiles tiles = { end - row, g.n, (int64_t) k.global[0] / (is_cpu ? 1 : 256),
                                      (int64_t) k.global[1] };
        const nino_cl_what what = { .d = d,
                                    .is_main = true,
                                    .share = part * (double) (end - row) / (double) g.rows,
                                    .requested = nino_cl_product_bytes(d, w->type, &tiles) };
        st = nino_cl_launch(cl, k.file, k.kernel, k.defs, &what, 2, k.global, NULL, a.list, a.n,
                            err);
    }
    return st;
}

// A linear layer of few rows: as much is read as computed, so tiles would be padding.
static nino_status run_skinny(nino_cl *cl, const nino_op_call *c, const columns *w, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const gemm g = gemm_of(d);
    const bool is_cpu = nino_cl_is_cpu_schedule(cl);
    const size_t elem = nino_dtype_size(d->src_type[0]);
    const int64_t groups = is_cpu ? nino_ceil_div(g.rows, SKINNY_TILE) : 1;
    int64_t m = nino_ceil_div(g.rows, groups);
    while (!is_cpu && m & (m - 1)) // few variants: the GPU does not mind idle rows
        m++;
    char defs[192], text[24];
    operands o;
    operands_from(c, w->first, &o);
    gemm_defs(c, w, defs, sizeof(defs));
    snprintf(text, sizeof(text), " -DM=%d", (int) m);
    append(defs, text);
    arguments a = { .n = 0 };
    const nino_cl_arg input[] = { A_INT(g.rows), A_INT(w->n), A_INT(g.n), A_INT(g.c),
                                  A_BUF(&c->src[0]->mem, elem) };
    const nino_cl_arg result[] = { A_BUF(o.has_bias, 4), A_BUF(o.has_residual, elem),
                                   A_BUF(&o.dst, elem) };
    add(&a, input, NINO_CL_COUNT(input));
    add_weight(&a, w);
    add(&a, result, NINO_CL_COUNT(result));
    const size_t global = (size_t) nino_pack_panels_of(w->n) * (is_cpu ? 1 : 256);
    const nino_cl_tiles tiles = { g.rows, w->n, 1, nino_pack_panels_of(w->n) };
    const nino_cl_what what = { .d = d,
                                .is_main = true,
                                .share = (double) w->n / (double) g.n,
                                .requested = nino_cl_product_bytes(d, w->type, &tiles) };
    return nino_cl_launch(cl, "skinny", "linear_skinny", defs, &what, 1, &global, NULL, a.list, a.n,
                          err);
}

// The 36 products of a stripe of tiles.
static nino_status wino_gemm(nino_cl *cl, nino_cl_what what, const char *defs,
                             const nino_wino_layout *l, const nino_block *u, const nino_block *v,
                             const nino_block *m, int64_t tiles, nino_error *err)
{
    int64_t rows, nb;
    cpu_tile(cl, tiles, l->np / 64, false, &rows, &nb);
    const size_t global[] = { (size_t) nino_ceil_div(tiles, rows),
                              (size_t) nino_ceil_div(l->np / 64, nb), 36 };
    what.requested = nino_cl_wino_bytes(l->cp, l->np,
                                        &(nino_cl_tiles){ .rows = tiles,
                                                          .along = (int64_t) global[0],
                                                          .across = (int64_t) global[1] });
    const nino_cl_arg args[] = { A_BUF(v, 4),  A_BUF(u, 4),  A_BUF(m, 4),
                                 A_INT(l->cp), A_INT(l->np), A_INT(tiles),
                                 A_INT(l->tp), A_INT(rows),  A_INT(nb) };
    return nino_cl_launch(cl, "wino", "wino_gemm", defs, &what, 3, global, NULL, args,
                          NINO_CL_COUNT(args), err);
}

// The transformed inputs of a stripe, one frame after the other.
static nino_status wino_input(nino_cl *cl, const nino_op_call *c, const gemm *g,
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

static nino_status run_winograd(nino_cl *cl, const nino_op_call *c, const columns *w,
                                nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const gemm g = gemm_of(d);
    const nino_wino_layout l = nino_sched_wino(nino_cl_profile(cl), d);
    const int64_t th = nino_ceil_div(g.oh, 4);
    const size_t elem = nino_dtype_size(d->src_type[0]);
    const nino_block *residual = d->has_residual ? &c->src[1]->mem : NULL;
    nino_block u = c->workspace, v = c->workspace, m = c->workspace;
    u.offset += l.u;
    v.offset += l.v;
    m.offset += l.m;
    char defs[128];
    gemm_defs(c, w, defs, sizeof(defs));

    const nino_cl_what helper = { .d = d };
    const nino_cl_arg weights[] = { A_BUF(&w->mem, nino_dtype_size(w->type)),
                                    A_BUF(&u, 4),
                                    A_INT(l.cp),
                                    A_INT(l.np),
                                    A_INT(g.taps),
                                    A_INT(g.first_tap) };
    const size_t panels[] = { (size_t) (l.cp / l.frames / 16), (size_t) l.np / 64,
                              (size_t) l.frames };
    nino_status st = nino_cl_launch(cl, "wino", "wino_weights", defs, &helper, 3, panels, NULL,
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
                                    A_INT(l.tp) };
        if ((st = wino_input(cl, c, &g, &l, defs, row, global, err)) ||
            (st = wino_gemm(cl, what, defs, &l, &u, &v, &m, tiles, err)) ||
            (st = nino_cl_launch(cl, "wino", "wino_output", defs, &helper, 2, global, NULL, out,
                                 NINO_CL_COUNT(out), err)))
            break;
    }
    return st;
}

// Panels of columns of a part.
static nino_status expand(nino_cl *cl, const nino_op_call *c, const columns *part,
                          const columns *to, nino_error *err)
{
    enum { SPAN = 256, GPU_SPAN = 64 * 4 }; // see the kernel
    const nino_weight *w = c->d.weight;
    const bool is_cpu = nino_cl_is_cpu_schedule(cl);
    const int taps = nino_weight_taps(w);
    const int64_t row = taps * nino_pack_cp(w->c);
    const size_t across = (size_t) nino_ceil_div(row, is_cpu ? SPAN : GPU_SPAN);
    const size_t global[] = { is_cpu ? across : across * 256, (size_t) nino_pack_panels_of(to->n) };
    char kernel[32];
    snprintf(kernel, sizeof(kernel), "expand_%s", nino_dtype_name(part->type));
    const nino_raw_part *raw = part->raw;
    const nino_cl_arg args[] = { A_INT(to->first - part->first),
                                 A_INT(part->n),
                                 A_INT(w->c),
                                 A_INT(taps),
                                 A_BUF(&part->mem, 1),
                                 A_INT(raw->is_scaled),
                                 A_U64(raw->scales),
                                 A_U64(raw->grid),
                                 A_BUF(&to->mem, 4) };
    const nino_cl_what what = { .d = &c->d };
    return nino_cl_launch(cl, "quant", kernel, "", &what, 2, global, NULL, args,
                          NINO_CL_COUNT(args), err);
}

static nino_status run_columns(nino_cl *cl, const nino_op_call *c, const columns *w,
                               nino_error *err)
{
    const nino_op_desc *d = &c->d;
    if (nino_sched_conv(nino_cl_profile(cl), d) == NINO_CONV_WINOGRAD)
        return run_winograd(cl, c, w, err);
    const bool is_skinny = d->op == NINO_OP_LINEAR && d->weight->n < INT32_MAX - 256 &&
                           d->weight->c < INT32_MAX - 256 &&
                           nino_shape_count(&d->dst) / d->weight->n <= SKINNY_ROWS;
    return is_skinny ? run_skinny(cl, c, w, err) : run_direct(cl, c, w, err);
}

// A part of a weight: as it is, or expanded `step` columns at a time.
static nino_status run_part(nino_cl *cl, const nino_op_call *c, const nino_raw_part *p,
                            const nino_expand_layout *e, nino_error *err)
{
    const int64_t step = e->panels * 64;
    columns w = {
        .mem = c->weight->mem, .type = p->type, .first = p->row0, .n = p->rows, .raw = p
    };
    w.mem.offset += p->at;
    if (!step)
        return run_columns(cl, c, &w, err);
    columns to = { .mem = c->workspace, .type = NINO_F32 };
    to.mem.offset += e->at;
    nino_status st = NINO_OK;
    for (int64_t i = 0; i < p->rows && !st; i += step) {
        to.first = p->row0 + i;
        to.n = p->rows - i < step ? p->rows - i : step;
        st = expand(cl, c, &w, &to, err);
        if (!st)
            st = run_columns(cl, c, &to, err);
    }
    return st;
}

nino_status nino_cl_gemm(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_expand_layout e = nino_sched_expand(nino_cl_profile(cl), &c->d);
    const columns all = { .mem = c->weight->mem, .type = c->weight->dtype, .n = c->d.weight->n };
    nino_raw_layout raw;
    nino_status st = NINO_OK;
    if (!nino_raw_layout_of(c->d.weight, &raw))
        return run_columns(cl, c, &all, err);
    for (int i = 0; i < raw.n_parts && !st; i++)
        st = run_part(cl, c, &raw.part[i], &e, err);
    return st;
}
