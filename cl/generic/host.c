// GPUs of any make: a work-group of 256, tiles in __local, neighbouring work-items on neighbouring
// elements.
#include "cl/cl_schedule.h"
#include "core/base/size.h"

#define KERNELS(X) X(attn) X(gemm) X(skinny) X(rows)
#define FOLDER "cl/" TEXT(SCHEDULE)
#define OWNER SCHEDULE
#define TEXTS NINO_CL_OWN(kernels)
#include "cl/embed.h"

enum { GROUP = 256, SMALL_LOCAL = 40 << 10 };

// A device with less __local than the largest tiles of gemm.cl and attn.cl take.
static bool is_small(const nino_cl *cl) { return nino_cl_local_bytes(cl) < SMALL_LOCAL; }

// ---- the shared kernels: a work-item an element, or a few ---------------------------------------

static size_t items(int64_t n) { return (size_t) nino_ceil_div(n, GROUP) * GROUP; }

static nino_cl_grid host_rows(int64_t n, int64_t each, int64_t n_items)
{
    (void) n;
    (void) each;
    return (nino_cl_grid){ 1, { items(n_items) } };
}

static nino_cl_grid host_norm_stat(const nino_norm_layout *l, int64_t batch, int64_t channels)
{
    return (nino_cl_grid){
        3, { (size_t) l->n_strips * GROUP, (size_t) nino_ceil_div(channels, 64), (size_t) batch }
    };
}

static nino_cl_grid host_norm_apply(const nino_norm_layout *l, int64_t batch, int64_t n_items)
{
    (void) l;
    return (nino_cl_grid){ 2, { items(n_items), (size_t) batch } };
}

static nino_cl_grid host_copy_rows(uint64_t n, uint64_t len, int *together)
{
    *together = 1;
    return (nino_cl_grid){ 1, { items((int64_t) (n * len)) } };
}

static nino_cl_grid host_permute(const uint64_t dim[5])
{
    return (nino_cl_grid){ 1, { items((int64_t) (dim[0] * dim[1] * dim[2] * dim[3] * dim[4])) } };
}

static nino_cl_grid host_shuffle(int64_t n, int64_t columns, int64_t channels)
{
    return (nino_cl_grid){ 2, { items(columns * channels), (size_t) n } };
}

static nino_cl_grid host_expand(int64_t panels, int64_t len)
{
    return (nino_cl_grid){ 2, { (size_t) nino_ceil_div(len, 256) * GROUP, (size_t) panels } };
}

// ---- probes -------------------------------------------------------------------------------------

static double host_probe_round(uint64_t n, size_t n_items)
{
    (void) n;
    return 4.0 * (double) n_items;
}

static size_t host_probe_items(nino_ceiling_kind kind, unsigned compute_units, uint64_t bytes)
{
    (void) bytes;
    return kind == NINO_CEILING_LAUNCH ? GROUP : (size_t) compute_units * 2048;
}

// ---- products and attention ---------------------------------------------------------------------

// The largest tile of which there are enough for all compute units.
static void host_cut_product(const nino_cl *cl, const nino_op_call *c, const nino_cl_columns *w,
                             const nino_cl_product *g, int64_t n, nino_cl_cut *out)
{
    static const struct {
        int tm, tn, wm;
    } tiles[] = { { 8, 8, 16 }, { 8, 4, 16 }, { 4, 4, 16 }, { 4, 4, 64 }, { 4, 4, 32 } };
    const bool small = is_small(cl); // no room for the first and the fourth
    const int largest = nino_cl_profile(cl)->tuning.gemm_tile;
    int64_t across, along;
    nino_cl_product_defs(c, w, out);
    if (g->is_video)
        nino_cl_cut_define(out, " -DVIDEO=1");
    int i = g->n <= 16 ? 3 + small : g->n <= 64 || small ? 1 : 0;
    if (g->n > 16 && i < largest - 1)
        i = largest - 1;
    for (;; i++) {
        along = nino_ceil_div(n, (int64_t) tiles[i].tm * tiles[i].wm);
        across = nino_ceil_div(g->n, (int64_t) tiles[i].tn * (GROUP / tiles[i].wm));
        if (i >= 2 || along * across >= nino_cl_compute_units(cl))
            break;
    }
    nino_cl_cut_define(out, " -DTM=%d -DTN=%d -DWM=%d -DVECC=%d -DVECN=%d", tiles[i].tm,
                       tiles[i].tn, tiles[i].wm, g->c % 4 == 0, g->n % 4 == 0 && g->ld % 4 == 0);
    out->global[0] = (size_t) along * GROUP;
    out->global[1] = (size_t) across;
}

static void host_cut_skinny(const nino_cl_columns *w, const nino_cl_product *g, nino_cl_cut *out)
{
    out->kernel = g->whole <= 4 ? "linear_skinny_4" : "linear_skinny_16";
    out->global[0] = (size_t) nino_ceil_div(w->n, w->raw ? 32 : 64) * GROUP;
}

// A block's queries come along again with each 64 keys.
static void host_cut_attention(const nino_cl *cl, const nino_op_desc *d, nino_cl_attention *out)
{
    const int64_t depth = d->src[0].dim[2] / d->attr.heads;
    out->most = depth <= 256 && !is_small(cl) ? 64 : depth <= 512 ? 32 : depth <= 2048 ? 16 : 0;
    out->rows = out->most;
    out->passes = (int) nino_ceil_div(d->src[1].dim[1], 64);
}

const nino_cl_grids NINO_CL_OWN(grids) = { host_rows,      host_norm_stat, host_norm_apply,
                                           host_copy_rows, host_permute,   host_shuffle,
                                           host_expand,    .flat = 4,      .pixels = 1 };
const nino_cl_probing NINO_CL_OWN(probing) = {
    .vector = 4, .fma_f32 = 1, .fma_f16 = 2, .round = host_probe_round, .items = host_probe_items
};
const nino_cl_schedule NINO_CL_OWN(schedule) = {
    .group = GROUP,
    .local_bytes = 32 << 10,
    .kernels = TEXTS,
    .grids = &NINO_CL_OWN(grids),
    .probing = &NINO_CL_OWN(probing),
    .cut_product = host_cut_product,
    .cut_skinny = host_cut_skinny,
    .cut_attention = host_cut_attention,
};
