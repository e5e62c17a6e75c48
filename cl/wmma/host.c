// GPUs with matrix instructions of gfx11: products and attention of 16-bit activations by them, all else as
// on GPUs of any make. On devices without them the same kernels run emulated, which is slow and for tests.
#include "cl/cl_schedule.h"
#include "cl/wmma/wmma.h"
#include "core/base/size.h"
#include "core/op/pack.h"

#define KERNELS(X) X(wmma) X(tile) X(chunks) X(flash) X(stripes) X(fragment) X(ask)
#define FOLDER "cl/" TEXT(SCHEDULE)
#define OWNER SCHEDULE
#define TEXTS NINO_CL_OWN(kernels)
#include "cl/embed.h"

enum { MOST_SIDE = 32767 }; // of an image: tile.cl keeps a pixel's place in 32 bits

// cl/generic/host.c
extern const nino_cl_schedule nino_cl_generic_schedule;
extern const nino_cl_grids nino_cl_generic_grids;
extern const nino_cl_probing nino_cl_generic_probing;

// Whether wmma.cl does it: not with panels, which those of f32 activations may be expanded to.
static bool host_is_matrix(const nino_op_call *c, const nino_cl_columns *w,
                           const nino_cl_product *g)
{
    const bool fits = c->d.op == NINO_OP_LINEAR || (g->oh <= MOST_SIDE && g->ow <= MOST_SIDE);
    return c->d.src_type[0] != NINO_F32 && w->raw && fits;
}

const char *nino_cl_wmma_kernel(const nino_tile *t)
{
    return t->rows == 256     ? "gemm_wmma_256x128"
           : t->rows == 64    ? "gemm_wmma_64x64"
           : t->columns == 64 ? "gemm_wmma_128x64"
                              : "gemm_wmma_128x128";
}

static void host_cut_product(const nino_cl *cl, const nino_op_call *c, const nino_cl_columns *w,
                             const nino_cl_product *g, int64_t n, nino_cl_cut *out)
{
    if (!host_is_matrix(c, w, g)) {
        nino_cl_generic_schedule.cut_product(cl, c, w, g, n, out);
        return;
    }
    const nino_dtype type = c->d.src_type[0];
    const bool is_plain = !g->is_video && g->ks == 1 && g->stride == 1 && !g->up;
    const nino_profile *p = nino_cl_profile(cl);
    const nino_split split = nino_sched_split(p, &c->d);
    const nino_tile t = split.parts > 1
                            ? split.tile
                            : nino_sched_tile(p, &c->d, n, g->n, nino_cl_compute_units(cl));
    out->file = "wmma";
    out->kernel = nino_cl_wmma_kernel(&t);
    out->group = (size_t) (t.waves_along * t.waves_across) * 32;
    if (is_plain) {
        out->x_row = g->c;
        out->w_row = nino_pack_cp(g->c);
    }
    nino_cl_cut_define(out, "%s -DRAW=%s", nino_cl_type_defs(type), nino_dtype_name(w->raw->type));
    nino_cl_cut_define(out, "%s%s%s%s%s", w->raw->type == type ? " -DSAME=1" : "",
                       nino_raw_has_pairs(w->raw->type) ? " -DCHUNKED=1" : "",
                       is_plain ? "" : " -DTAPPED=1", g->is_video ? " -DVIDEO=1" : "",
                       g->c % 8 ? " -DODD=1" : "");
    if (p->tuning.gemm_band && p->tuning.gemm_band != NINO_STANDARD_GEMM_BAND)
        nino_cl_cut_define(out, " -DBAND=%d", p->tuning.gemm_band);
    out->global[0] = (size_t) nino_ceil_div(n, t.rows) * out->group;
    out->global[1] = (size_t) nino_ceil_div(g->n, t.columns);
    out->global[2] = (size_t) split.parts;
    out->parts = split.parts;
    out->takes_heads = is_plain;
}

static void host_cut_skinny(const nino_cl_columns *w, const nino_cl_product *g, nino_cl_cut *out)
{
    nino_cl_generic_schedule.cut_skinny(w, g, out);
}

static void host_cut_attention(const nino_cl *cl, const nino_op_desc *d, nino_cl_attention *out)
{
    enum { ROWS = 64, GROUP = 128 };
    const nino_profile *p = nino_cl_profile(cl);
    const nino_attn_layout l = nino_sched_attention(p, d);
    if (l.form != NINO_ATTN_FLASH) {
        nino_cl_generic_schedule.cut_attention(cl, d, out);
        return;
    }
    const int64_t depth = d->src[0].dim[2] / d->attr.heads;
    const nino_profile standard = { .tuning = { 0 } };
    const int keys = nino_sched_keys(p, depth);
    *out = (nino_cl_attention){ .file = "flash",
                                .kernel = "attention_wmma",
                                .group = GROUP,
                                .most = ROWS,
                                .rows = ROWS,
                                .keys = keys == nino_sched_keys(&standard, depth) ? 0 : keys,
                                .passes = 1,
                                .parts = l.parts,
                                .part_keys = l.part_keys };
}

const nino_cl_schedule NINO_CL_OWN(schedule) = {
    .group = 256,
    .local_bytes = 32 << 10,
    .kernels = TEXTS,
    .is_native = NINO_CL_OWN(ask),
    .grids = &nino_cl_generic_grids,
    .probing = &nino_cl_generic_probing,
    .cut_product = host_cut_product,
    .cut_skinny = host_cut_skinny,
    .cut_attention = host_cut_attention,
    .stripes = NINO_CL_OWN(stripes),
};
