// What kernels of matrix instructions can reach on a device of which there is a clock model: their main
// loops, by the list that tests/gate writes, and what tiles leave idle.
#include "core/op/clocks.h"

#include "core/base/size.h"
#include "core/op/raw.h"
#include "core/op/weight.h"

#include <math.h>

enum { PLAIN, TAPPED, VIDEO };
#define F32_FEW 0.5   // of f32's peak: memory bounds it anyway
enum { WARM_UP = 2 }; // steps of a main loop that its first loads and its end cost

// clang-format off
enum { F16 = NINO_F16, BF16 = NINO_BF16, F32 = NINO_F32, F8_E4M3 = NINO_F8_E4M3, F8_E5M2 = NINO_F8_E5M2,
       I8 = NINO_I8, Q4_0 = NINO_Q4_0, Q4_1 = NINO_Q4_1, Q5_0 = NINO_Q5_0, Q5_1 = NINO_Q5_1, Q8_0 = NINO_Q8_0, Q4_K = NINO_Q4_K,
       Q5_K = NINO_Q5_K, Q6_K = NINO_Q6_K, IQ2_XS = NINO_IQ2_XS, IQ3_S = NINO_IQ3_S };
enum { PRODUCT = NINO_CLOCKS_PRODUCT, FLASH = NINO_CLOCKS_FLASH,
       F32_PRODUCT = NINO_CLOCKS_F32_PRODUCT, F32_ATTENTION = NINO_CLOCKS_F32_ATTENTION };
// clang-format on

typedef struct clocks_row {
    int kind, act, weight, form, rows, columns, depth, has_bias, share;
} clocks_row;

static const clocks_row list[] = {
#define CLOCKS(...) { __VA_ARGS__ },
#include "core/op/clocks_list.h"
};

// How far a row is from what is wanted: what costs most by itself counts most.
static int distance(const clocks_row *a, const clocks_row *want)
{
    const int wider = a->depth - want->depth;
    return 16 * ((a->weight == a->act) != (want->weight == want->act)) +
           8 * (a->weight != want->weight) + 4 * (a->form != want->form) +
           2 * (a->rows != want->rows || a->columns != want->columns) + (a->act != want->act) +
           64 * (a->has_bias != want->has_bias) + (wider < 0 ? -wider : wider);
}

static double share_of(const clocks_row *want)
{
    const clocks_row *best = NULL;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        if (list[i].kind == want->kind &&
            (!best || distance(&list[i], want) < distance(best, want)))
            best = &list[i];
    return best ? best->share / 1000.0 : 1;
}

double nino_clocks_best(nino_clocks_kind kind)
{
    int best = 0;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        if (list[i].kind == (int) kind && list[i].share > best)
            best = list[i].share;
    return best / 1000.0;
}

// What is of use of so many, done `each` at a time.
static double filled(int64_t n, int64_t each)
{
    return (double) n / (double) (nino_ceil_div(n, each) * each);
}

// A product in tiles, by the processor that has most of them to do.
static double tiled(const nino_profile *p, const nino_op_desc *d, int64_t rows, int64_t columns,
                    int64_t depth, clocks_row want)
{
    const nino_tile t = nino_sched_tile(p, d, rows, columns, p->units);
    const int64_t tiles = nino_ceil_div(rows, t.rows) * nino_ceil_div(columns, t.columns);
    const double steps = ceil((double) depth / 32);
    want.rows = t.rows;
    want.columns = t.columns;
    return share_of(&want) * filled(rows, t.rows) * filled(columns, t.columns) *
           filled(tiles, p->units) * filled(depth, 32) * steps / (steps + WARM_UP);
}

// The same in parts of the channels.
static double split_tiled(const nino_profile *p, int64_t rows, const nino_op_desc *d,
                          const nino_split *split, clocks_row want)
{
    const nino_tile *t = &split->tile;
    const int64_t columns = d->weight->n, depth = d->weight->c * nino_op_taps(d);
    const int64_t tiles =
        nino_ceil_div(rows, t->rows) * nino_ceil_div(columns, t->columns) * split->parts;
    const double steps = ceil((double) depth / 32 / split->parts);
    want.rows = t->rows;
    want.columns = t->columns;
    return share_of(&want) * filled(rows, t->rows) * filled(columns, t->columns) *
           filled(tiles, p->units) * (double) depth / (steps * 32 * split->parts) * steps /
           (steps + WARM_UP);
}

// Of a product by matrix instructions, whatever its tiles.
static clocks_row row_of_product(const nino_profile *p, const nino_op_desc *d)
{
    const nino_weight *w = d->weight;
    nino_raw_layout raw;
    clocks_row row = { .kind = PRODUCT, .act = (int) d->src_type[0] };
    if (!w) { // an attention's
        row.weight = row.act;
        return row;
    }
    row.weight = (int) (nino_sched_expand(p, d).panels > 0  ? d->src_type[0]
                        : nino_raw_layout_of(w, &raw)       ? raw.part[0].type
                        : nino_sched_kept(p, d) != NINO_F32 ? NINO_F16
                                                            : w->dtype);
    row.form = d->op == NINO_OP_CONV3D                     ? VIDEO
               : nino_op_taps(d) > 1 || d->attr.stride > 1 ? TAPPED
                                                           : PLAIN;
    return row;
}

double nino_clocks_loop(const nino_profile *p, const nino_op_desc *d, const nino_tile *t)
{
    clocks_row want = row_of_product(p, d);
    want.rows = t->rows;
    want.columns = t->columns;
    return share_of(&want);
}

static double product_share(const nino_profile *p, const nino_op_desc *d)
{
    const nino_weight *w = d->weight;
    const int64_t rows = nino_shape_count(&d->dst) / w->n;
    clocks_row want = row_of_product(p, d);
    if (d->src_type[0] == NINO_F32) {
        want.kind = F32_PRODUCT;
        want.rows = want.columns = 128;
        return share_of(&want);
    }
    if (nino_sched_is_skinny(d)) // another kernel, in f32 arithmetic
        return F32_FEW * p->peak_f32 / p->peak_f16;
    const nino_split split = nino_sched_split(p, d);
    return split.parts > 1 ? split_tiled(p, rows, d, &split, want)
                           : tiled(p, d, rows, w->n, w->c * nino_op_taps(d), want);
}

static double attention_share(const nino_profile *p, const nino_op_desc *d)
{
    const nino_attn_layout l = nino_sched_attention(p, d);
    const int64_t planes = d->src[0].dim[0] * d->attr.heads, tq = d->src[0].dim[1],
                  tk = d->src[1].dim[1], depth = d->src[0].dim[2] / d->attr.heads;
    clocks_row want = { .act = (int) d->src_type[0],
                        .weight = (int) NINO_F32,
                        .rows = 128,
                        .columns = 128,
                        .depth = (int) depth,
                        .has_bias = d->n_src == 4 };
    if (l.form == NINO_ATTN_STRIPES) {
        const int64_t rows = tq < l.rows ? tq : l.rows;
        want = row_of_product(p, d);
        return 2 / (1 / tiled(p, d, rows, tk, depth, want) +
                    1 / tiled(p, d, rows, depth, l.keys, want));
    }
    if (l.form == NINO_ATTN_OWN) {
        want.kind = F32_ATTENTION;
        return share_of(&want);
    }
    want.kind = FLASH;
    const int keys = nino_sched_keys(p, depth);
    const int64_t blocks = nino_ceil_div(tk, keys);
    const int64_t each = l.part_keys / keys; // blocks of a part
    want.rows = 64;
    want.columns = keys;
    // Where later keys are hidden, the last blocks of every 64 queries are seen by some of them only.
    const double seen = (double) tk - (double) (tq - 1) / 2, done = seen + 32 + keys / 2.0;
    return share_of(&want) * filled(tq, 64) *
           (d->attr.is_causal ? seen / fmin((double) tk, done) : filled(tk, keys)) *
           filled(blocks, l.parts) * (double) each / (double) (each + WARM_UP) * filled(depth, 16) *
           filled(nino_ceil_div(tq, 64) * planes * l.parts, p->units);
}

double nino_clocks_share(const nino_profile *p, const nino_op_desc *d)
{
    if (!p->units || p->is_measured || !p->schedule->has_matrix)
        return 1;
    switch (d->op) {
    case NINO_OP_LINEAR:
    case NINO_OP_CONV2D:
    case NINO_OP_CONV3D: return d->weight ? product_share(p, d) : 1;
    case NINO_OP_ATTENTION: return attention_share(p, d);
    default: return 1;
    }
}

double nino_clocks_more_bytes(const nino_profile *p, const nino_op_desc *d)
{
    if (!p->units || !p->schedule->has_matrix || d->src_type[0] == NINO_F32)
        return 0;
    if (d->op == NINO_OP_ATTENTION) {
        const nino_attn_layout l = nino_sched_attention(p, d);
        if (l.parts > 1) // records, written and read
            return 2.0 * (double) l.bytes;
        const bool is_kept = l.form == NINO_ATTN_STRIPES;
        // scores: written, read twice, values in their place read again
        return is_kept ? 16.0 * (double) (d->src[0].dim[0] * d->attr.heads * d->src[0].dim[1]) *
                             (double) d->src[1].dim[1]
                       : 0;
    }
    if (!d->weight)
        return 0;
    const nino_split split = nino_sched_split(p, d);
    if (split.parts > 1)
        return 2.0 * (double) split.bytes;
    const bool is_expanded = nino_sched_expand(p, d).panels > 0;
    return is_expanded ? 4.0 * (double) (d->weight->n * d->weight->c * nino_op_taps(d)) : 0;
}
