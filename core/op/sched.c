// Decisions that cl and plan must agree on: algorithms, workspaces, packed sizes, predicted times.
#include "core/op/sched.h"

#include "core/base/error.h"
#include "core/base/size.h"
#include "core/op/clocks.h"
#include "core/op/engine.h"
#include "core/op/pack.h"
#include "core/op/profile.h"
#include "core/op/raw.h"
#include "core/op/resample.h"
#include "core/op/weight.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Where Winograd is tried: enough pixels to hide the transform of the weights.
#define WINO_MIN_CHANNELS 32
#define WINO_MIN_PIXELS 512
// Arithmetic that a CPU does while its transforms move a byte between caches. A constant, not the device's own
// figure: which of two convolutions it is changes bits, which must not depend on what was measured.
#define WINO_FLOPS_A_BYTE 10
// Tiles of a stripe: few enough for the caches, enough rows for the products to run at full speed.
#define WINO_TILES NINO_STANDARD_WINO_TILES
// Strip of the group norm statistics: bytes of f32 that stay in a first-level cache's reach while
// leaving enough strips for every core.
#define NORM_STRIP_BYTES ((int64_t) 128 * 1024)

// Most channels of a head whose queries, scores and results a wave has registers for.
#define FLASH_DEPTH 160
// Scores of a stripe of queries: what a last-level cache of 32 MiB holds.
#define STRIPE_ROOM ((int64_t) 32 << 20)

// Of one launch: a cancel waits for it.
#define PIECE_SECONDS 0.05

const nino_sched nino_scheds[] = {
#define SCHEDULE(id, form, ...) { .name = #id, .define = #form, __VA_ARGS__ },
#include "core/op/sched_list.h"
    { .name = NULL },
};
const nino_sched nino_sched_ref = { .name = "ref", .is_plain = true };

const nino_profile nino_profile_ref = {
    .name = "ref", .schedule = &nino_sched_ref, .act_type = NINO_F32, .weight_type = NINO_F32
};

nino_status nino_sched_find(const char *name, const char *where, const nino_sched **out,
                            nino_error *err)
{
    char known[200] = "";
    for (const nino_sched *s = nino_scheds; s->name; s++) {
        const size_t n = strlen(known);
        snprintf(known + n, sizeof(known) - n, "%s%s", n ? ", " : "", s->name);
        if (!strcmp(s->name, name)) {
            *out = s;
            return NINO_OK;
        }
    }
    return nino_fail(err, NINO_ERR_UNKNOWN, where, "there is no schedule \"%s\"; there are %s",
                     name, known);
}

// Bytes of panels that are expanded at a time: enough columns to keep every core busy, little
// enough for the last-level cache.
#define EXPAND_ROOM ((int64_t) 8 << 20)
// Matrix instructions need more tiles to be busy with.
#define EXPAND_ROOM_MATRIX ((int64_t) 32 << 20)

static uint64_t align256(uint64_t n) { return (n + 255) / 256 * 256; }

// What a tile's transforms have for each channel (see nino_wino_layout).
static int64_t wino_products(const nino_op_desc *d) { return d->attr.upsample2x ? 25 : 36; }

// Its products are a quarter of the arithmetic, but of columns in whole panels, and 36 numbers for each tile and
// channel are written and read again on either side of them, as those of the weights are. With few channels that is
// more than what they save: of the video VAE of the demo, 3 x 32 to 32, it made a run slower by a fifth.
static bool wino_gains(const nino_op_desc *d, int64_t pixels)
{
    const int frames = nino_op_taps(d) / 9; // also of a clip's first: how it is cut changes no bit
    const double c = (double) d->weight->c * frames, n = (double) d->weight->n,
                 np = (double) nino_pack_panels_of(d->weight->n) * 64;
    const double each = (double) wino_products(d), tiles = (double) pixels / 16;
    const double direct = 2 * 9 * c * n * (double) pixels, products = 2 * each * tiles * c * np;
    const double bytes = 2 * 4 * each * tiles * (c + np) + 4 * (9 + 2 * each) * c * n;
    return products + bytes * WINO_FLOPS_A_BYTE < direct;
}

nino_conv_algo nino_sched_conv(const nino_profile *p, const nino_op_desc *d)
{
    const nino_op_attr *a = &d->attr;
    const bool is_video = d->op == NINO_OP_CONV3D && a->stride_t == 1;
    const bool fits = (d->op == NINO_OP_CONV2D || is_video) && a->kernel == 3 && a->stride == 1 &&
                      a->pad == NINO_PAD_SAME && d->weight;
    if (!p->has_winograd || !p->schedule->has_winograd || !fits ||
        !nino_acts(p, NINO_POLICY_LAYOUT))
        return NINO_CONV_DIRECT;
    const int64_t c = d->weight->c, n = d->weight->n;
    const int64_t images = is_video || a->each_image ? 1 : nino_op_rows_of_whole(d, d->dst.dim[0]);
    const int64_t pixels = images * d->dst.dim[1] * d->dst.dim[2];
    return c >= WINO_MIN_CHANNELS && n >= WINO_MIN_CHANNELS && pixels >= WINO_MIN_PIXELS &&
                   wino_gains(d, pixels)
               ? NINO_CONV_WINOGRAD
               : NINO_CONV_DIRECT;
}

// Of a call's arithmetic as the op table counts it.
static double sched_own_part(const nino_profile *p, const nino_op_desc *d)
{
    return nino_sched_conv(p, d) == NINO_CONV_WINOGRAD ? (double) wino_products(d) / (16 * 9) : 1;
}

double nino_sched_flops(const nino_profile *p, const nino_op_desc *d)
{
    return nino_ops[d->op].flops(d) * sched_own_part(p, d);
}

nino_wino_layout nino_sched_wino(const nino_profile *p, const nino_op_desc *d)
{
    const int frames = (nino_op_taps(d) - nino_op_first_tap(d)) / 9;
    nino_wino_layout l = { .tw = nino_ceil_div(d->dst.dim[2], 4),
                           .th = nino_ceil_div(d->dst.dim[1], 4) * d->dst.dim[0],
                           .frames = frames,
                           .cp = nino_pack_cp(d->weight->c) * frames,
                           .np = nino_pack_panels_of(d->weight->n) * 64,
                           .n = wino_products(d) };
    const int64_t row_bytes = l.n * l.tw * (l.cp + l.np) * 4;
    const int64_t most = (int64_t) (p->winograd_stripe / (uint64_t) row_bytes);
    const int64_t tiles = p->tuning.wino_tiles ? p->tuning.wino_tiles : WINO_TILES;
    int64_t rows = (tiles + l.tw / 2) / l.tw;
    rows = rows > most ? most : rows;
    rows = rows < 1 ? 1 : rows > l.th ? l.th : rows;
    l.rows = nino_ceil_div(l.th, nino_ceil_div(l.th, rows));
    l.tp = nino_ceil_div(l.rows * l.tw, 12) * 12;
    l.v = align256((uint64_t) (l.n * l.np * l.cp * 4));
    l.m = l.v + align256((uint64_t) (l.n * l.tp * (l.cp + 16) * 4));
    l.bytes = l.m + align256((uint64_t) (l.n * l.tp * l.np * 4));
    return l;
}

nino_norm_layout nino_sched_norm(const nino_profile *p, const nino_op_desc *d)
{
    const nino_shape *x = &d->src[0];
    const int64_t n = x->dim[0], c = x->dim[x->rank - 1];
    (void) p;
    nino_norm_layout l = { .positions = nino_shape_count(x) / (n * c) };
    l.strip = NORM_STRIP_BYTES / (c * 4);
    l.strip = l.strip < 16 ? 16 : l.strip > 1024 ? 1024 : l.strip;
    l.n_strips = nino_ceil_div(l.positions, l.strip);
    l.n_parts = d->n_src > 1 ? 1 : l.n_strips;
    l.coef = align256((uint64_t) (n * l.n_parts * 2 * c) * 4);
    l.bytes = l.coef + (d->op == NINO_OP_GROUP_NORM ? align256((uint64_t) (n * 2 * c) * 4) : 0);
    return l;
}

nino_resample_layout nino_sched_resample(const nino_op_desc *d)
{
    const int64_t h = d->src[0].dim[1], w = d->src[0].dim[2];
    const int64_t oh = d->dst.dim[1], ow = d->dst.dim[2];
    nino_resample_layout l = { .taps_x = nino_resample_taps(d->attr.filter, w, ow),
                               .taps_y = nino_resample_taps(d->attr.filter, h, oh) };
    l.weight_x = align256((uint64_t) ow * 4);
    l.start_y = l.weight_x + align256((uint64_t) (ow * l.taps_x) * 4);
    l.weight_y = l.start_y + align256((uint64_t) oh * 4);
    l.image = l.weight_y + align256((uint64_t) (oh * l.taps_y) * 4);
    l.bytes = l.image + align256((uint64_t) (d->src[0].dim[0] * h * ow * d->src[0].dim[3]) * 4);
    return l;
}

// Whole tiles of products, as many as stay within the room; of equal size.
static int64_t attention_rows(int64_t queries, int64_t keys)
{
    const int64_t most = STRIPE_ROOM / (keys * 4) / 64 * 64;
    const int64_t n = nino_ceil_div(queries, most < 64 ? 64 : most);
    return nino_ceil_div(nino_ceil_div(queries, n), 64) * 64;
}

// Blocks of keys, or turns of a tile's main loop, that the first loads and the end of a work-group cost.
#define WARM_UP 2
// A second launch is worth its detour from there on.
#define SPLIT_GAIN 0.9
#define FLOPS_A_CLOCK 1024 // of a processor's four SIMDs

int nino_sched_keys(const nino_profile *p, int64_t depth)
{
    const int keys = depth <= 64 ? 64 : 32, most = p->tuning.flash_keys;
    return most && most < keys ? most : keys;
}

// Work-groups of 64 queries each go through all keys, one after the other on a processor. Where that leaves
// processors idle, each of several parts goes through some blocks of keys.
static int attention_parts(const nino_profile *p, const nino_op_desc *d)
{
    static const int parts[] = { 1, 2, 3, 4, 5, 6, 8, 10, 12, 16 };
    enum { QUERIES = 64, LEAST_BLOCKS = 2 };
    const nino_shape *q = &d->src[0];
    const int64_t depth = q->dim[2] / d->attr.heads, batch = nino_op_rows_of_whole(d, q->dim[0]);
    const int keys = nino_sched_keys(p, depth);
    const int64_t planes = batch * d->attr.heads,
                  groups = nino_ceil_div(q->dim[1], QUERIES) * planes,
                  blocks = nino_ceil_div(d->src[1].dim[1], keys);
    int best = 1;
    double least = INFINITY;
    // Blocks of queries that see keys up to their own place have less to do, the first ones.
    if (!p->units || p->peak_f16 <= 0 || p->bandwidth <= 0 ||
        (d->attr.is_causal && q->dim[1] > QUERIES))
        return 1;
    const double each =
        4.0 * QUERIES * keys * (double) (nino_ceil_div(depth, 16) * 16) / (p->peak_f16 / p->units);
    for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++) {
        const int64_t of_part = nino_ceil_div(blocks, parts[k]);
        const double records = (double) (planes * q->dim[1] * parts[k] * (depth + 4)) * 4;
        double cost =
            (double) (nino_ceil_div(groups * parts[k], p->units) * (of_part + WARM_UP)) * each;
        if (parts[k] > 1) // written, and read again by a second launch
            cost = (cost + 2 * records / p->bandwidth + p->launch_s) / SPLIT_GAIN;
        if ((parts[k] > 1 && of_part < LEAST_BLOCKS) || cost >= least)
            continue;
        least = cost;
        best = parts[k];
    }
    return best;
}

nino_attn_layout nino_sched_attention(const nino_profile *p, const nino_op_desc *d)
{
    const int64_t depth = d->src[0].dim[2] / d->attr.heads;
    nino_attn_layout l = { .form = NINO_ATTN_OWN, .parts = 1 };
    if (p->schedule->packs_keys) {
        l.keys = nino_ceil_div(d->src[1].dim[1], 64) * 64;
        l.bytes = (uint64_t) (d->src[1].dim[0] * l.keys * d->src[1].dim[2]) *
                  (nino_sched_has_dots(p, d) ? 2 : 4);
    }
    if (!p->schedule->has_matrix || d->src_type[0] == NINO_F32 || depth % 8)
        return l;
    l.form = NINO_ATTN_FLASH;
    const bool has_eight = d->n_src < 4 || d->src[1].dim[1] >= 8; // that a load of a bias takes
    if (depth <= FLASH_DEPTH && !d->attr.keeps_scores && d->attr.scale > 0 && has_eight) {
        const int keys = nino_sched_keys(p, depth);
        const int64_t blocks = nino_ceil_div(d->src[1].dim[1], keys),
                      each = nino_ceil_div(blocks, attention_parts(p, d));
        l.part_keys = each * keys;
        l.parts = (int) nino_ceil_div(blocks, each); // none is empty
        if (l.parts > 1)
            l.bytes = align256(
                (uint64_t) (nino_shape_count(&d->src[0]) / depth * l.parts * (depth + 4)) * 4);
        return l;
    }
    l.form = NINO_ATTN_STRIPES;
    l.keys = nino_ceil_div(d->src[1].dim[1], 16) * 16;
    l.rows = attention_rows(d->src[0].dim[1], l.keys);
    l.scores = align256((uint64_t) (depth * l.keys * 2));
    l.factors = l.scores + align256((uint64_t) (l.rows * l.keys * 4));
    l.bytes = l.factors + align256((uint64_t) l.rows * 4);
    return l;
}

// Rows from which on matrix instructions gain more by rows of 16 bits than these take to be written and read: of
// tiles of 256 x 128 codebooks let 80 % of the peak through in place of 95 (core/op/clocks_list.h).
enum { EXPAND_ROWS = 2048 };

static bool is_slow_to_decode(const nino_op_desc *d, const nino_raw_layout *l)
{
    size_t values, bytes;
    for (int i = 0; i < l->n_parts; i++) {
        nino_dtype_block(l->part[i].type, &values, &bytes);
        if (values > 1 && !nino_raw_has_pairs(l->part[i].type))
            return d->src_type[0] != NINO_F32;
    }
    return false;
}

// Beyond some rows a weight is better expanded once: decoding it as it is multiplied reads the
// inputs too often, or costs too much.
static bool decodes(const nino_profile *p, const nino_op_desc *d, const nino_raw_layout *l)
{
    int64_t most = p->schedule->decode_rows;
    if (p->schedule->has_matrix && is_slow_to_decode(d, l))
        most = EXPAND_ROWS - 1;
    return nino_raw_can_decode(d->weight) &&
           (!most || nino_op_rows_of_whole(d, nino_shape_count(&d->dst) / d->weight->n) <= most);
}

nino_expand_layout nino_sched_expand(const nino_profile *p, const nino_op_desc *d)
{
    nino_raw_layout raw;
    nino_expand_layout l = { 0 };
    const bool is_product =
        d->op == NINO_OP_LINEAR || d->op == NINO_OP_CONV2D || d->op == NINO_OP_CONV3D;
    if (p->schedule->is_plain || !is_product || !nino_raw_layout_of(d->weight, &raw) ||
        decodes(p, d, &raw))
        return l;
    const int64_t all = nino_pack_panels_of(d->weight->n);
    const nino_dtype type =
        p->schedule->has_matrix ? nino_sched_operand(p, d->src_type[0]) : NINO_F32;
    const int64_t bytes = nino_weight_taps(d->weight) * nino_pack_cp(d->weight->c) * 64 *
                          (int64_t) nino_dtype_size(type);
    l.type = type;
    l.is_rows = type != NINO_F32;
    if (nino_sched_conv(p, d) == NINO_CONV_WINOGRAD) {
        const nino_wino_layout w = nino_sched_wino(p, d);
        l.panels = all;
        l.at = w.v;
        l.bytes = l.at + (uint64_t) (all * bytes);
        l.bytes = l.bytes > w.bytes ? l.bytes : w.bytes;
        return l;
    }
    int64_t most = (l.is_rows ? EXPAND_ROOM_MATRIX : EXPAND_ROOM) / bytes;
    most = most < 4 ? (most < 1 ? 1 : most) : most / 4 * 4; // whole tiles
    l.panels = all < most ? all : most;
    l.bytes = (uint64_t) (l.panels * bytes);
    return l;
}

size_t nino_sched_workspace(const nino_profile *p, const nino_op_desc *d)
{
    if (p->schedule->is_plain)
        return 0;
    if (nino_engine_is_blas(p, d))
        return nino_engine_blas(p, d).bytes;
    const nino_expand_layout e = nino_sched_expand(p, d);
    if (e.panels)
        return e.bytes;
    switch (d->op) {
    case NINO_OP_LINEAR: return nino_sched_split(p, d).bytes;
    case NINO_OP_CONV2D:
    case NINO_OP_CONV3D:
        return nino_sched_conv(p, d) == NINO_CONV_WINOGRAD ? nino_sched_wino(p, d).bytes
                                                           : nino_sched_split(p, d).bytes;
    case NINO_OP_GROUP_NORM:
    case NINO_OP_GROUP_STAT: return nino_sched_norm(p, d).bytes;
    case NINO_OP_ATTENTION: return nino_sched_attention(p, d).bytes;
    case NINO_OP_RESAMPLE: return nino_sched_resample(d).bytes;
    default: return 0;
    }
}

nino_dtype nino_sched_kept(const nino_profile *p, const nino_op_desc *d)
{
    const bool is_few = nino_sched_is_skinny(d); // those are multiplied in f32
    return p->schedule->has_matrix && d->src_type[0] == NINO_F16 && d->weight->dtype == NINO_BF16 &&
                   d->weight->role != NINO_W_VECTOR && !is_few
               ? NINO_F16
               : NINO_F32;
}

static nino_dtype matrix_type(const nino_profile *p, const nino_weight *w)
{
    if (p->weight_type != NINO_F32)
        return p->weight_type;
    if (w->kept != NINO_F32 && p->schedule->has_matrix)
        return w->kept;
    switch (w->dtype) {
    case NINO_F16:
    case NINO_BF16: return w->dtype;
    case NINO_F8_E4M3: // every value of both is a value of f16
    case NINO_F8_E5M2: return NINO_F16;
    default: return NINO_F32;
    }
}

nino_dtype nino_sched_operand(const nino_profile *p, nino_dtype act)
{
    const bool is_own = p->schedule->has_matrix || (p->has_dots && act == NINO_BF16);
    return is_own ? act : NINO_F32;
}

bool nino_sched_has_dots(const nino_profile *p, const nino_op_desc *d)
{
    if (!p->has_dots || d->src_type[0] != NINO_BF16)
        return false;
    if (d->op == NINO_OP_ATTENTION)
        return d->src[0].dim[2] / d->attr.heads % 2 == 0;
    return d->weight && d->weight->c % 2 == 0 && !nino_sched_is_skinny(d) &&
           nino_sched_conv(p, d) == NINO_CONV_DIRECT;
}

static const nino_tile sched_tiles[] = {
    { 256, 128, 4, 2 }, { 128, 128, 2, 2 }, { 128, 64, 2, 2 }, { 64, 64, 2, 2 }
};
enum { N_TILES = sizeof(sched_tiles) / sizeof(sched_tiles[0]) };

// A work-group processor works off its tiles one after the other (two at a time, but then at half the
// speed each). A step of 32 channels costs 32 clocks for each product of 16 x 16 x 16, on four SIMDs,
// and about 160 more to bring the step in, in which the other work-groups of a processor have nearly
// all there is to do: a quarter of it counts. By clock model, not measured.
static double step_clocks(const nino_tile *t)
{
    return t->rows / 16.0 * (t->columns / 16.0) * 2 * 32 / 4 + 40;
}

// Tiles that the processor with the most of them has to do.
static double tile_turns(const nino_tile *t, int64_t rows, int64_t columns, int parts,
                         unsigned units)
{
    const int64_t n = nino_ceil_div(rows, t->rows) * nino_ceil_div(columns, t->columns) * parts;
    return (double) nino_ceil_div(n, units ? units : 1);
}

// The same for one call, by what decoding its weight costs, where the clock model is to tell.
static double call_clocks(const nino_profile *p, const nino_op_desc *d, const nino_tile *t)
{
    if (p->tuning.gemm_costs != NINO_COSTS_CLOCKS || !p->units)
        return step_clocks(t);
    return t->rows / 16.0 * (t->columns / 16.0) * 2 * 32 / 4 / nino_clocks_loop(p, d, t);
}

// Of those that are tried.
static int first_tile(const nino_profile *p)
{
    return p->tuning.gemm_tile > 0 ? p->tuning.gemm_tile - 1 : 0;
}

// What follows a product of heads is there for tiles of so many columns (cl/wmma/wmma.cl).
enum { HEAD_COLUMNS = 128 };

static bool fits_head(const nino_tile *t, int64_t head)
{
    return !head || (t->columns == HEAD_COLUMNS &&
                     (t->columns == head || t->columns == head * t->waves_across));
}

int64_t nino_sched_head(const nino_op_desc *d)
{
    return d && d->op == NINO_OP_LINEAR && d->attr.heads ? d->weight->n / d->attr.heads : 0;
}

nino_tile nino_sched_tile(const nino_profile *p, const nino_op_desc *d, int64_t rows,
                          int64_t columns, unsigned units)
{
    double least = INFINITY;
    const int64_t head = nino_sched_head(d);
    nino_tile best = { .rows = 0 };
    for (int i = first_tile(p); i < N_TILES; i++) {
        const nino_tile *t = &sched_tiles[i];
        const double cost = tile_turns(t, rows, columns, 1, units) * call_clocks(p, d, t);
        if (cost < least && fits_head(t, head)) {
            least = cost;
            best = *t;
        }
    }
    return best;
}

bool nino_sched_is_skinny(const nino_op_desc *d)
{
    const int64_t rows = d->op == NINO_OP_LINEAR ? nino_shape_count(&d->dst) / d->weight->n : 0;
    return d->op == NINO_OP_LINEAR && rows <= NINO_FEW_ROWS &&
           nino_op_rows_of_whole(d, rows) <= NINO_FEW_ROWS;
}

// Products that matrix instructions do in one launch.
static bool can_split(const nino_profile *p, const nino_op_desc *d)
{
    nino_raw_layout raw;
    const bool is_product =
        d->op == NINO_OP_LINEAR || d->op == NINO_OP_CONV2D || d->op == NINO_OP_CONV3D;
    return is_product && p->units && p->peak_f16 > 0 && p->bandwidth > 0 &&
           p->schedule->has_matrix && d->src_type[0] != NINO_F32 && !nino_sched_is_skinny(d) &&
           (!nino_raw_layout_of(d->weight, &raw) || (raw.n_parts == 1 && decodes(p, d, &raw)));
}

// Bytes that a call's whole moves, of which it may be some rows: the weight is the same.
static double bytes_of_whole(const nino_op_desc *d)
{
    const int64_t own = nino_shape_count(&d->dst) / d->weight->n;
    double rows = (double) nino_shape_count(&d->dst) * (double) nino_dtype_size(d->src_type[0]);
    for (int i = 0; i < d->n_src; i++)
        rows += (double) nino_shape_count(&d->src[i]) * (double) nino_dtype_size(d->src_type[i]);
    const double times = (double) nino_op_rows_of_whole(d, own) / (double) own;
    return fmax(nino_ops[d->op].bytes(d) - rows, 0) + rows * times;
}

// Seconds of a product in `parts` of which the fullest processor has so many clocks' work. With
// costs by the clock model these are those of nino_sched_seconds().
static double split_seconds(const nino_profile *p, const nino_op_desc *d, int parts, double clocks)
{
    const bool is_known = p->tuning.gemm_costs == NINO_COSTS_CLOCKS;
    const double clock = p->peak_f16 / (p->units * (double) FLOPS_A_CLOCK);
    const int64_t n = d->weight->n, own = nino_shape_count(&d->dst) / n;
    const double sums = (double) (parts * nino_op_rows_of_whole(d, own) * n) * 4;
    double s = clocks / clock;
    if (is_known)
        s = fmax(s / (p->efficiency_gemm > 0 ? p->efficiency_gemm : 1),
                 bytes_of_whole(d) / p->bandwidth);
    if (parts > 1) // written and read again by a second launch
        s = (s + 2 * sums / p->bandwidth + p->launch_s) / (is_known ? 1 : SPLIT_GAIN);
    return s;
}

// All tiles are split alike: to split only those of the last wave, in a launch of its own, would save 0.1 % on average
// and 6 % at most by this model, of 3000 shapes, since another tile mostly fills that wave.
nino_split nino_sched_split(const nino_profile *p, const nino_op_desc *d)
{
    static const int parts[] = { 1, 2, 3, 4, 5, 6, 8, 10, 12, 16 };
    enum { LEAST_STEPS = 8 };
    nino_split best = { .parts = 1 };
    double least = INFINITY;
    if (!can_split(p, d))
        return best;
    const int64_t n = d->weight->n, own = nino_shape_count(&d->dst) / n;
    const int64_t rows = nino_op_rows_of_whole(d, own);
    const double steps = ceil((double) (d->weight->c * nino_op_taps(d)) / 32);
    const int most = p->tuning.gemm_split ? p->tuning.gemm_split : NINO_STANDARD_GEMM_SPLIT;
    for (int i = first_tile(p); i < N_TILES; i++) {
        const nino_tile *t = &sched_tiles[i];
        const double step = call_clocks(p, d, t);
        for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]) && parts[k] <= most; k++) {
            const double each = ceil(steps / parts[k]);
            const double turns = tile_turns(t, rows, n, parts[k], p->units) * (each + WARM_UP);
            const double cost = split_seconds(p, d, parts[k], turns * step);
            if ((parts[k] > 1 && each < LEAST_STEPS) || cost >= least)
                continue;
            least = cost;
            best = (nino_split){ *t, parts[k],
                                 parts[k] > 1 ? align256((uint64_t) (parts[k] * own * n) * 4) : 0 };
        }
    }
    return best;
}

// Heads that are whole in a tile of one launch which ends with results.
bool nino_sched_has_heads(const nino_profile *p, const nino_op_desc *d)
{
    nino_raw_layout raw;
    if (!p->schedule->has_matrix || d->src_type[0] == NINO_F32 || nino_sched_is_skinny(d) ||
        nino_engine_is_blas(p, d) || nino_sched_expand(p, d).panels ||
        nino_sched_split(p, d).parts > 1 ||
        (nino_raw_layout_of(d->weight, &raw) && raw.n_parts > 1))
        return false;
    return nino_sched_tile(p, d, 1, 1, 1).rows > 0;
}

size_t nino_sched_packed_bytes(const nino_profile *p, const nino_weight *w, nino_dtype *dtype)
{
    const int taps = nino_weight_taps(w);
    *dtype = w->role == NINO_W_VECTOR || p->schedule->is_plain ? NINO_F32 : matrix_type(p, w);
    if (w->role == NINO_W_VECTOR)
        return (size_t) (nino_pack_panels_of(w->n) * 64) * 4;
    if (p->schedule->is_plain)
        return (size_t) (w->n * taps * w->c) * 4;
    nino_raw_layout raw;
    if (nino_raw_layout_of(w, &raw)) {
        *dtype = raw.part[0].type;
        return raw.bytes;
    }
    return (size_t) (nino_pack_panels_of(w->n) * taps * nino_pack_cp(w->c) * 64) *
           nino_dtype_size(*dtype);
}

// What Winograd takes beside its products as they are counted, which decides where few rows are made at a time: tiles
// that reach beyond them, and the weights of a call. Also how many kernels it is.
static double wino_beside(const nino_profile *p, const nino_op_desc *d, double *padding,
                          int *launches)
{
    const nino_wino_layout l = nino_sched_wino(p, d);
    const double pixels = (double) (d->dst.dim[0] * d->dst.dim[1] * d->dst.dim[2]);
    *padding = 16.0 * (double) (l.th * l.tw) / pixels;
    *launches = 1 + 3 * (int) nino_ceil_div(l.th, l.rows);
    return 4.0 * (double) ((9 + l.n) * l.cp * l.np);
}

double nino_sched_seconds(const nino_profile *p, const nino_op_desc *d, double flops, double bytes)
{
    if (p->peak_f32 <= 0)
        return 0;
    const double own = sched_own_part(p, d);
    double efficiency = 0, peak = p->peak_f32;
    switch (d->op) {
    case NINO_OP_LINEAR: efficiency = p->efficiency_gemm; break;
    case NINO_OP_CONV2D:
    case NINO_OP_CONV3D:
        efficiency = p->has_winograd && own == 1 ? p->efficiency_gemm : p->efficiency_conv;
        break;
    case NINO_OP_ATTENTION: efficiency = p->efficiency_attn; break;
    default: break; // the rest is bound by memory
    }
    // Only matrix instructions gain from 16-bit operands; other schedules compute in f32.
    if (nino_profile_uses_f16_peak(p, d->src_type[0]))
        peak = p->peak_f16;
    else if (nino_sched_has_dots(p, d))
        peak *= 2; // multiply-adds of an instruction
    efficiency *= nino_clocks_share(p, d);
    int launches = d->weight && nino_sched_split(p, d).parts > 1 ? 2 : 1;
    double padding = 1, more = nino_clocks_more_bytes(p, d);
    if (d->weight && own != 1)
        more += wino_beside(p, d, &padding, &launches);
    const double compute = efficiency > 0 ? flops * own * padding / (peak * efficiency) : 0;
    const double between = p->bandwidth > 0 ? more / p->bandwidth : 0;
    return fmax(compute, p->bandwidth > 0 ? bytes / p->bandwidth : 0) + between +
           launches * p->launch_s;
}

int64_t nino_sched_pieces(double seconds, int64_t groups, unsigned compute_units)
{
    const int64_t most = groups / (4 * (int64_t) (compute_units ? compute_units : 1));
    const double wanted = ceil(seconds / PIECE_SECONDS);
    const int64_t pieces = wanted < (double) most ? (int64_t) wanted : most;
    return pieces < 1 ? 1 : pieces;
}
