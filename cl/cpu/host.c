// Processors: a work-item is a thread's piece of work, with rows of elements in vectors and
// products in register tiles.
#include "cl/cpu/cpu.h"
#include "cl/runtime.h"
#include "core/base/size.h"
#include "core/base/vars.h"
#include "core/op/pack.h"

#include <string.h>

#define KERNELS(X) X(attn) X(few) X(gemm) X(skinny) X(wino)
#define FOLDER "cl/" TEXT(SCHEDULE)
#define OWNER SCHEDULE
#define TEXTS NINO_CL_OWN(kernels)
#include "cl/embed.h"

enum {
    // Limits of gemm.cl: rows and panels of a macro tile, and what its register tiles divide.
    TILE_ROWS = NINO_STANDARD_GEMM_ROWS,
    TILE_PANELS = 4,
    RAW_ROWS = 768, // of a tile of one panel that is decoded
    ROW_UNIT = 12,
    FEW_MAX = 24576, // of gemm_few: weights, rows
    FEW_ROWS = 4096,
    SKINNY_TILE = 6,                   // rows of a register tile of linear_skinny
    PIECES = NINO_STANDARD_GEMM_PIECES // macro tiles to aim at for each compute unit
};

// ---- the shared kernels: a work-item some thousands of elements ---------------------------------

static size_t up(int64_t n, int64_t unit) { return (size_t) nino_ceil_div(n, unit); }

static nino_cl_grid host_rows(int64_t n, int64_t each, int64_t items)
{
    (void) items;
    return (nino_cl_grid){ 1, { up(n, each) } };
}

static nino_cl_grid host_norm_stat(const nino_norm_layout *l, int64_t batch, int64_t channels)
{
    (void) channels;
    return (nino_cl_grid){ 3, { (size_t) l->n_strips, (size_t) batch, 1 } };
}

static nino_cl_grid host_norm_apply(const nino_norm_layout *l, int64_t batch, int64_t items)
{
    (void) items;
    return (nino_cl_grid){ 2, { (size_t) l->n_strips, (size_t) batch } };
}

static nino_cl_grid host_copy_rows(uint64_t n, uint64_t len, int *together)
{
    *together = len < 512 ? 64 : 1;
    return (nino_cl_grid){ 2, { up((int64_t) len, 4096), up((int64_t) n, *together) } };
}

static nino_cl_grid host_permute(const uint64_t dim[5])
{
    return (nino_cl_grid){ 3,
                           { up((int64_t) dim[4], 64), up((int64_t) dim[3], 64),
                             (size_t) (dim[0] * dim[1] * dim[2]) } };
}

static nino_cl_grid host_shuffle(int64_t n, int64_t columns, int64_t channels)
{
    (void) channels;
    return (nino_cl_grid){ 2, { up(columns, 16), (size_t) n } };
}

static nino_cl_grid host_expand(int64_t panels, int64_t len)
{
    return (nino_cl_grid){ 2, { up(len, 256), (size_t) panels } };
}

// ---- probes -------------------------------------------------------------------------------------

static double host_probe_round(uint64_t n, size_t items)
{
    (void) items;
    return (double) n;
}

// Equal parts of a set whose size is a power of two, none less than a round of the kernels.
static size_t host_probe_items(nino_ceiling_kind kind, unsigned compute_units, uint64_t bytes)
{
    size_t parts = 1;
    if (kind == NINO_CEILING_LAUNCH)
        return 1;
    if (kind == NINO_CEILING_F32 || kind == NINO_CEILING_F16)
        return compute_units;
    while (parts * 2 <= compute_units)
        parts *= 2;
    while (parts > 1 && bytes / 2 / parts < 1024)
        parts /= 2;
    return parts;
}

// The instruction that has been beside AVX-512 since 2020, by the assembler of a driver that compiles for
// the processor it runs on; others translate to what has none.
static bool host_has_dots(const nino_cl_device *dev)
{
#if __x86_64__
    return strstr(dev->info.platform, "Portable Computing Language") &&
           __builtin_cpu_supports("avx512bf16");
#else
    (void) dev;
    return false;
#endif
}

static const char *dots_option(const nino_cl *cl, const nino_op_desc *d)
{
    return !nino_sched_has_dots(nino_cl_profile(cl), d) ? ""
           : nino_debug_has("dots")                     ? " -DDOTS=2"
                                                        : " -DDOTS=1";
}

// ---- products -----------------------------------------------------------------------------------

void NINO_CL_OWN(tile)(const nino_cl *cl, int64_t n, int64_t panels, bool is_raw,
                       int64_t *tile_rows, int64_t *tile_panels)
{
    const nino_tuning *t = &nino_cl_profile(cl)->tuning;
    const int64_t most_rows = is_raw ? RAW_ROWS : t->gemm_rows ? t->gemm_rows : TILE_ROWS;
    const int64_t want =
        (int64_t) nino_cl_compute_units(cl) * (t->gemm_pieces ? t->gemm_pieces : PIECES);
    int64_t nb = is_raw ? 1 : panels < TILE_PANELS ? panels : TILE_PANELS;
    int64_t pieces = nino_ceil_div(n, most_rows);
    while (nb > 1 && pieces * nino_ceil_div(panels, nb) < want)
        nb--;
    if (!is_raw)
        nb = nino_ceil_div(panels, nino_ceil_div(panels, nb));
    const int64_t most = nino_ceil_div(n, ROW_UNIT);
    const int64_t need = nino_ceil_div(want, nino_ceil_div(panels, nb));
    if (pieces < need)
        pieces = need < most ? need : most;
    *tile_rows = nino_ceil_div(nino_ceil_div(n, pieces), ROW_UNIT) * ROW_UNIT;
    *tile_panels = nb;
}

static void host_cut_product(const nino_cl *cl, const nino_op_call *c, const nino_cl_columns *w,
                             const nino_cl_product *g, int64_t n, nino_cl_cut *out)
{
    const int64_t panels = nino_pack_panels_of(g->n);
    const bool is_raw = w->raw != NULL;
    nino_cl_product_defs(c, w, out);
    if (g->is_video)
        nino_cl_cut_define(out, " -DVIDEO=1");
    if (!is_raw && g->n <= 4 && g->c % 16 == 0 && g->n * g->taps * g->c <= FEW_MAX) {
        out->file = "few";
        out->kernel = "gemm_few";
        nino_cl_cut_define(out, " -DFEW=%d", (int) g->n);
        // Each work-item transposes the weights first, which should not count.
        out->tile_rows = nino_ceil_div(n, (int64_t) nino_cl_compute_units(cl) * PIECES);
        out->tile_rows = out->tile_rows > FEW_ROWS ? FEW_ROWS : out->tile_rows;
        out->tile_panels = panels;
    } else {
        nino_cl_cut_define(out, "%s", dots_option(cl, &c->d));
        NINO_CL_OWN(tile)(cl, n, panels, is_raw, &out->tile_rows, &out->tile_panels);
        if (g->n <= 16)
            nino_cl_cut_define(out, " -DNARROW=1");
    }
    out->global[0] = up(n, out->tile_rows);
    out->global[1] = up(panels, out->tile_panels);
}

static void host_cut_skinny(const nino_cl_columns *w, const nino_cl_product *g, nino_cl_cut *out)
{
    out->kernel = "linear_skinny";
    out->global[0] = (size_t) nino_pack_panels_of(w->n);
    nino_cl_cut_define(out, " -DM=%d",
                       (int) nino_ceil_div(g->rows, nino_ceil_div(g->rows, SKINNY_TILE)));
}

// ---- attention ----------------------------------------------------------------------------------

// Queries of a work-item: blocks of about one size, enough of them for all compute units.
static int64_t queries(const nino_cl *cl, int64_t tq, int64_t planes, int64_t most)
{
    const int64_t want = nino_ceil_div((int64_t) nino_cl_compute_units(cl) * PIECES, planes);
    const int64_t fit = nino_ceil_div(tq, most), blocks = fit > want ? fit : want;
    return nino_ceil_div(nino_ceil_div(tq, blocks), ROW_UNIT) * ROW_UNIT;
}

// What the kernel's __local arrays have room for.
static void host_cut_attention(const nino_cl *cl, const nino_op_desc *d, nino_cl_attention *out)
{
    const int64_t depth = d->src[0].dim[2] / d->attr.heads;
    out->most = depth <= 144 ? 96 : depth <= 512 ? 48 : depth <= 1024 ? 24 : depth <= 2048 ? 12 : 0;
    if (out->most)
        out->rows = queries(cl, d->src[0].dim[1], d->attr.heads * d->src[0].dim[0], out->most);
    out->takes_rows = true;
    out->is_narrow = depth < 192 && depth % 64 > 0 && depth % 64 <= 32;
    out->passes = 1;
    out->options = dots_option(cl, d);
}

// For the register tile.
static nino_status pack_keys(nino_cl *cl, const nino_op_call *c, const char *defs, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const nino_shape *k = &d->src[1];
    const nino_cl_arg args[] = { A_BUF(&c->src[1]->mem, nino_dtype_size(d->src_type[1])),
                                 A_BUF(&c->workspace,
                                       nino_sched_has_dots(nino_cl_profile(cl), d) ? 2 : 4),
                                 A_INT(k->dim[1]), A_INT(nino_op_kv_heads(d)) };
    const size_t panels[] = { up(k->dim[1], 64) * (size_t) (nino_op_kv_heads(d) * k->dim[0]) };
    const nino_cl_what helper = { .d = d };
    return nino_cl_launch(cl, "attn", "attention_keys", defs, &helper, 1, panels, NULL, args,
                          NINO_CL_COUNT(args), err);
}

const nino_cl_grids NINO_CL_OWN(grids) = { host_rows,       host_norm_stat, host_norm_apply,
                                           host_copy_rows,  host_permute,   host_shuffle,
                                           host_expand,     .flat = 4096,   .pixels = 64,
                                           .has_rows = true };
const nino_cl_probing NINO_CL_OWN(probing) = { .vector = 16,
                                               .fma_f32 = 16,
                                               .fma_narrow = 8,
                                               .fma_f16 = 16,
                                               .round = host_probe_round,
                                               .items = host_probe_items };
const nino_cl_schedule NINO_CL_OWN(schedule) = {
    .group = 1,
    .local_bytes = 224 << 10,
    .has_dots = host_has_dots,
    .kernels = TEXTS,
    .grids = &NINO_CL_OWN(grids),
    .probing = &NINO_CL_OWN(probing),
    .cut_product = host_cut_product,
    .cut_skinny = host_cut_skinny,
    .winograd = NINO_CL_OWN(winograd),
    .cut_attention = host_cut_attention,
    .pack_keys = pack_keys,
};
