// What is decided for each shape of an op and each kind of device (core/op/sched.c): algorithms, tiles,
// parts, layouts of workspaces, sizes of packed weights, predicted seconds. tests/data/recorded/sched.txt
// records what the code decides today, see tests/unit/recorded.h; a decision that is made elsewhere by
// meaning has a test of its own in sched.c. Devices are made up, so that no measured number is in it.
#include "core/op/pack.h"
#include "core/op/profile.h"
#include "tests/unit/recorded.h"

#define COUNT(a) ((int) (sizeof(a) / sizeof((a)[0])))

static nino_error err;

// ---- devices -------------------------------------------------------------------------------------

enum {
    CPU,
    PLAIN_CPU,
    SMALL_CPU,
    GENERIC,
    WMMA,
    CLOCKS,
    FEW_UNITS,
    TUNED,
    UNKNOWN,
    MEASURED,
    REF,
    DEVICES
};
static const char *const names[] = { "cpu", "unwound", "small-stripe", "generic",  "wmma", "clocks",
                                     "few", "tuned",   "unknown",      "measured", "ref" };
static nino_profile device[DEVICES];

static nino_profile made(const char *schedule)
{
    nino_profile p = { .act_type = NINO_F32,
                       .weight_type = NINO_F32,
                       .peak_f32 = 2e12,
                       .peak_f16 = 2e12,
                       .bandwidth = 4e10,
                       .launch_s = 2e-5,
                       .efficiency_gemm = 0.5,
                       .efficiency_conv = 0.4,
                       .efficiency_attn = 0.3 };
    CHECK_OK(nino_sched_find(schedule, "test", &p.schedule, &err), err);
    return p;
}

static void make_devices(void)
{
    device[CPU] = made("cpu");
    device[CPU].has_winograd = true;
    device[CPU].winograd_stripe = 24 << 20;
    device[PLAIN_CPU] = device[SMALL_CPU] = device[CPU];
    device[PLAIN_CPU].switched = 1u << NINO_POLICY_LAYOUT;
    device[SMALL_CPU].winograd_stripe = 1 << 20;
    device[SMALL_CPU].tuning.wino_tiles = 40;
    device[GENERIC] = made("generic");
    device[GENERIC].weight_type = NINO_F16;
    device[WMMA] = made("wmma");
    device[WMMA].peak_f32 = 3e13;
    device[WMMA].peak_f16 = 6e13;
    device[WMMA].bandwidth = 2.5e11;
    device[WMMA].launch_s = 5e-6;
    device[WMMA].efficiency_gemm = 0.9;
    device[WMMA].units = 20;
    for (int i = CLOCKS; i <= MEASURED; i++)
        device[i] = device[WMMA];
    device[CLOCKS].tuning.gemm_costs = NINO_COSTS_CLOCKS;
    device[UNKNOWN].tuning.gemm_costs = NINO_COSTS_CLOCKS;
    device[UNKNOWN].efficiency_gemm = 0;
    device[FEW_UNITS].units = 3;
    device[TUNED].tuning = (nino_tuning){ .gemm_tile = 2, .gemm_split = 16, .flash_keys = 32 };
    device[TUNED].weight_type = NINO_BF16;
    device[MEASURED].is_measured = true;
    device[MEASURED].bandwidth = 0;
    device[MEASURED].units = 0;
    device[REF] = nino_profile_ref;
}

// ---- calls ---------------------------------------------------------------------------------------

static nino_op_desc linear(const nino_weight *w, int64_t rows_, nino_dtype act, int heads)
{
    nino_op_desc d = { .op = NINO_OP_LINEAR, .n_src = 1, .weight = w, .dst_type = act };
    d.src_type[0] = act;
    d.src[0] = NINO_SHAPE(rows_, w->c);
    d.dst = NINO_SHAPE(rows_, w->n);
    d.attr.heads = heads;
    return d;
}

static nino_op_desc conv(const nino_weight *w, int64_t n, int64_t h, int64_t wd, nino_dtype act)
{
    nino_op_desc d = { .op = w->role == NINO_W_CONV3D ? NINO_OP_CONV3D : NINO_OP_CONV2D,
                       .attr = { .kernel = w->role == NINO_W_MATRIX ? 1 : 3,
                                 .stride = 1,
                                 .stride_t = 1,
                                 .pad_t = w->role == NINO_W_CONV3D ? 2 : 0 },
                       .n_src = 1,
                       .src = { NINO_SHAPE(n, h, wd, w->c) },
                       .weight = w };
    d.src_type[0] = d.dst_type = act;
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    return d;
}

static nino_op_desc attention(int64_t n, int64_t tq, int64_t tk, int heads, int64_t depth,
                              nino_dtype act)
{
    nino_op_desc d = { .op = NINO_OP_ATTENTION, .n_src = 3, .dst_type = act };
    d.attr.heads = heads;
    d.attr.scale = 0.1f;
    for (int i = 0; i < 3; i++) {
        d.src[i] = NINO_SHAPE(n, i ? tk : tq, heads * depth);
        d.src_type[i] = act;
    }
    d.dst = d.src[0];
    return d;
}

// ---- rows ----------------------------------------------------------------------------------------

static void show_product(const char *name, const nino_profile *p, const nino_op_desc *d, char *text,
                         size_t size)
{
    const nino_split s = nino_sched_split(p, d);
    const nino_expand_layout e = nino_sched_expand(p, d);
    const nino_tile t =
        nino_sched_tile(p, d, nino_shape_count(&d->dst) / d->weight->n, d->weight->n, p->units);
    nino_dtype type;
    const size_t packed = nino_sched_packed_bytes(p, d->weight, &type);
    snprintf(text, size,
             "%s split %d %dx%d/%dx%d %zu tile %dx%d expand %lld@%llu+%llu%s packed %zu:%d kept %d "
             "operand %d heads %lld %d",
             name, s.parts, s.tile.rows, s.tile.columns, s.tile.waves_along, s.tile.waves_across,
             s.bytes, t.rows, t.columns, (long long) e.panels, (unsigned long long) e.at,
             (unsigned long long) e.bytes, e.is_rows ? " rows" : "", packed, (int) type,
             (int) nino_sched_kept(p, d), (int) nino_sched_operand(p, d->src_type[0]),
             (long long) nino_sched_head(d), d->op == NINO_OP_LINEAR && nino_sched_has_heads(p, d));
}

// One call on one device. Heads that are no end of a product there are calls of their own.
static void show(const char *what, int dev, const nino_op_desc *call)
{
    const nino_profile *p = &device[dev];
    char text[800] = "";
    nino_op_desc own = *call;
    const nino_op_desc *d = &own;
    if (own.op == NINO_OP_LINEAR && !nino_sched_has_heads(p, call))
        own.attr.heads = 0;
    const double flops = nino_ops[d->op].flops(d), bytes = nino_ops[d->op].bytes(d);
    if (d->weight)
        show_product("", p, d, text, sizeof(text));
    if (d->op == NINO_OP_ATTENTION) {
        const nino_attn_layout l = nino_sched_attention(p, d);
        snprintf(text, sizeof(text), " form %d parts %d of %lld keys %lld rows %lld at %llu %llu",
                 (int) l.form, l.parts, (long long) l.part_keys, (long long) l.keys,
                 (long long) l.rows, (unsigned long long) l.scores, (unsigned long long) l.factors);
    }
    if (d->weight && d->op != NINO_OP_LINEAR && nino_sched_conv(p, d) == NINO_CONV_WINOGRAD) {
        const nino_wino_layout l = nino_sched_wino(p, d);
        const size_t n = strlen(text);
        snprintf(
            text + n, sizeof(text) - n,
            " winograd %lldx%lld by %lld tp %lld frames %lld cp %lld np %lld n %lld at %llu %llu",
            (long long) l.tw, (long long) l.th, (long long) l.rows, (long long) l.tp,
            (long long) l.frames, (long long) l.cp, (long long) l.np, (long long) l.n,
            (unsigned long long) l.v, (unsigned long long) l.m);
    }
    record_row("%s on %s:%s workspace %zu flops ~%.8g seconds ~%.8g", what, names[dev], text,
               nino_sched_workspace(p, d), nino_sched_flops(p, d),
               nino_sched_seconds(p, d, flops, bytes));
}

static void show_on_all(const char *what, const nino_op_desc *d)
{
    for (int i = 0; i < DEVICES; i++)
        show(what, i, d);
}

// ---- products ------------------------------------------------------------------------------------

static void check_linear(void)
{
    static const struct {
        int64_t rows, c, n;
        nino_dtype act, type;
        int heads;
        int64_t part, whole;
    } cases[] = {
        { 4096, 3072, 3072, NINO_F16, NINO_BF16, 24, 0, 0 },
        { 4096, 3072, 3072, NINO_F16, NINO_F16, 48, 0, 0 },
        { 4096, 3072, 3072, NINO_BF16, NINO_BF16, 32, 0, 0 }, // heads of 96
        { 16, 640, 320, NINO_F16, NINO_F16, 0, 0, 0 },
        { 17, 640, 320, NINO_F16, NINO_BF16, 0, 0, 0 },
        { 17, 12288, 64, NINO_F16, NINO_F16, 0, 0, 0 },
        { 77, 12289, 65, NINO_F16, NINO_F8_E4M3, 0, 0, 0 },
        { 192, 2048, 512, NINO_F32, NINO_Q8_0, 0, 0, 0 }, // as many as a cpu decodes
        { 193, 2048, 512, NINO_F32, NINO_Q8_0, 0, 0, 0 },
        { 2047, 2048, 512, NINO_F16, NINO_IQ2_XS, 0, 0, 0 },
        { 2048, 2048, 512, NINO_F16, NINO_IQ2_XS, 0, 0, 0 },
        { 2048, 2048, 512, NINO_F32, NINO_IQ2_XS, 0, 0, 0 },
        { 8, 4096, 4096, NINO_F16, NINO_BF16, 0, 8, 16 }, // a part of a batch
        { 8, 4096, 4096, NINO_F16, NINO_BF16, 0, 1, 3 },
        { 32, 12288, 64, NINO_BF16, NINO_F16, 0, 1, 4 },
        { 96, 16384, 256, NINO_F16, NINO_Q4_K, 2, 0, 0 },
        { 1000, 100000, 64, NINO_F32, NINO_F8_E5M2, 0, 0, 0 }, // a panel is more than the room
        { 1000, 1000000, 3, NINO_F16, NINO_Q2_K, 0, 0, 0 },
        { 1, 1, 1, NINO_F32, NINO_F32, 0, 0, 0 },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        const nino_weight w = {
            .role = NINO_W_MATRIX, .n = cases[i].n, .c = cases[i].c, .dtype = cases[i].type
        };
        nino_op_desc d = linear(&w, cases[i].rows, cases[i].act, cases[i].heads);
        char what[80];
        d.part = cases[i].part;
        d.whole = cases[i].whole;
        snprintf(what, sizeof(what), "linear %d: %lld %lld %lld", i, (long long) cases[i].rows,
                 (long long) w.c, (long long) w.n);
        show_on_all(what, &d);
    }
}

static void check_convs(void)
{
    static const struct {
        nino_weight_role role;
        int64_t c, n, images, h, w;
        nino_dtype act, type;
        bool is_up, is_each;
        int stride, stride_t;
    } cases[] = {
        { NINO_W_CONV3, 64, 64, 1, 64, 64, NINO_F16, NINO_F16, false, false, 1, 1 },
        { NINO_W_CONV3, 320, 320, 2, 61, 67, NINO_F32, NINO_BF16, false, false, 1, 1 },
        { NINO_W_CONV3, 320, 320, 2, 61, 67, NINO_F32, NINO_BF16, true, false, 1, 1 },
        { NINO_W_CONV3, 64, 128, 4, 16, 16, NINO_F32, NINO_Q8_0, false, false, 1, 1 },
        { NINO_W_CONV3, 64, 128, 4, 16, 16, NINO_F32, NINO_Q8_0, false, true, 1, 1 },
        { NINO_W_CONV3, 640, 640, 1, 32, 32, NINO_F32, NINO_Q8_0, false, false, 1, 1 },
        { NINO_W_CONV3, 128, 128, 1, 65, 33, NINO_F16, NINO_F16, false, false, 2, 1 },
        { NINO_W_CONV3, 2560, 1280, 1, 8, 8, NINO_F16, NINO_F16, false, false, 1, 1 },
        { NINO_W_CONV3, 512, 512, 1, 512, 512, NINO_F32, NINO_F32, false, false, 1, 1 },
        { NINO_W_MATRIX, 256, 512, 1, 32, 33, NINO_F16, NINO_Q4_K, false, false, 1, 1 },
        { NINO_W_CONV3D, 96, 96, 1, 40, 56, NINO_F32, NINO_BF16, false, false, 1, 1 },
        { NINO_W_CONV3D, 96, 96, 4, 40, 56, NINO_F32, NINO_BF16, false, false, 1, 1 },
        { NINO_W_CONV3D, 32, 32, 4, 40, 56, NINO_F32, NINO_BF16, false, false, 1, 1 },
        { NINO_W_CONV3D, 96, 192, 5, 40, 56, NINO_F16, NINO_BF16, false, false, 1, 2 },
        { NINO_W_CONV3, 3, 128, 1, 64, 64, NINO_F16, NINO_F16, false, false, 1, 1 },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        const nino_weight w = {
            .role = cases[i].role, .n = cases[i].n, .c = cases[i].c, .dtype = cases[i].type
        };
        char what[80];
        nino_op_desc d = conv(&w, cases[i].images, cases[i].h, cases[i].w, cases[i].act);
        d.attr.upsample2x = cases[i].is_up;
        d.attr.each_image = cases[i].is_each;
        d.attr.stride = cases[i].stride;
        d.attr.stride_t = cases[i].stride_t;
        CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
        snprintf(what, sizeof(what), "conv %d: %lldx%lld %lld %lld", i, (long long) cases[i].w,
                 (long long) cases[i].h, (long long) w.c, (long long) w.n);
        show_on_all(what, &d);
    }
}

// Which sizes are convolved by Winograd's products: w, else a dot. A row of columns, 16 apart.
static void check_winograd_map(void)
{
    static const int64_t pixels[][3] = { { 1, 511, 1 }, { 1, 512, 1 }, { 1, 16, 32 },
                                         { 2, 16, 16 }, { 3, 33, 35 }, { 1, 128, 128 } };
    static const int64_t channels[] = { 16, 31, 32, 33, 48, 64, 96, 160, 512 };
    for (int k = 0; k < COUNT(pixels); k++)
        for (int i = 0; i < COUNT(channels); i++)
            for (int kind = 0; kind < 3; kind++) { // pictures, enlarged, clips
                char map[40] = "";
                for (int j = 0; j < 32; j++) {
                    const nino_weight w = { .role = kind > 1 ? NINO_W_CONV3D : NINO_W_CONV3,
                                            .n = j < 24 ? 8 * (j + 1) : 31 + 32 * (j - 24),
                                            .c = channels[i],
                                            .dtype = NINO_F16 };
                    nino_op_desc d = conv(&w, pixels[k][0], pixels[k][1], pixels[k][2], NINO_F32);
                    d.attr.upsample2x = kind == 1;
                    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
                    map[j] = nino_sched_conv(&device[CPU], &d) == NINO_CONV_WINOGRAD ? 'w' : '.';
                    map[j + 1] = 0;
                }
                record_row("winograd %d of %lldx%lldx%lld with %lld: %s", kind,
                           (long long) pixels[k][0], (long long) pixels[k][1],
                           (long long) pixels[k][2], (long long) channels[i], map);
            }
}

// Tiles and parts, a letter for the tile and one for the parts: rows by columns, for each device.
static void check_product_map(void)
{
    static const int64_t many[] = { 17, 33, 65, 127, 129, 256, 300, 512, 640, 1000, 2048, 4608 };
    static const int64_t inner[] = { 64, 255, 256, 257, 768, 2560, 12288 };
    for (int dev = WMMA; dev <= MEASURED; dev++)
        for (int i = 0; i < COUNT(many); i++)
            for (int k = 0; k < COUNT(inner); k++) {
                char map[80] = "";
                for (int j = 0; j < COUNT(many); j++) {
                    const nino_weight w = {
                        .role = NINO_W_MATRIX, .n = many[j], .c = inner[k], .dtype = NINO_F16
                    };
                    const nino_op_desc d = linear(&w, many[i], NINO_F16, 0);
                    const nino_split s = nino_sched_split(&device[dev], &d);
                    const nino_tile t =
                        nino_sched_tile(&device[dev], &d, many[i], many[j], device[dev].units);
                    snprintf(map + strlen(map), sizeof(map) - strlen(map), " %c%c%c", 'a' + s.parts,
                             'a' + s.tile.rows / 64 + 8 * (s.tile.columns / 64 > 1),
                             'a' + t.rows / 64 + 8 * (t.columns / 64 > 1));
                }
                record_row("products of %lld rows, %lld on %s:%s", (long long) many[i],
                           (long long) inner[k], names[dev], map);
            }
}

// ---- attention, norms, pictures ------------------------------------------------------------------

static void check_attention(void)
{
    static const struct {
        int64_t n, tq, tk;
        int heads;
        int64_t depth;
        nino_dtype act;
        bool is_causal, keeps, has_bias;
        int64_t part, whole;
    } cases[] = {
        { 1, 4096, 4096, 24, 128, NINO_F16, false, false, false, 0, 0 },
        { 2, 4095, 77, 8, 40, NINO_F16, false, false, false, 0, 0 },
        { 1, 64, 4090, 2, 64, NINO_BF16, true, false, false, 0, 0 },
        { 1, 65, 4090, 2, 64, NINO_BF16, true, false, false, 0, 0 },
        { 1, 70, 4090, 2, 72, NINO_F16, false, false, false, 0, 0 },
        { 2, 70, 1000, 2, 160, NINO_F16, false, false, false, 1, 4 },
        { 1, 70, 1000, 2, 168, NINO_F16, false, false, false, 0, 0 },
        { 1, 16384, 16384, 1, 512, NINO_F16, false, false, false, 0, 0 },
        { 3, 333, 777, 4, 20, NINO_F16, false, false, false, 0, 0 },
        { 1, 512, 7, 4, 64, NINO_F16, false, false, true, 0, 0 },
        { 1, 512, 8, 4, 64, NINO_F16, false, false, true, 0, 0 },
        { 1, 3000, 3000, 4, 64, NINO_F16, false, true, false, 0, 0 },
        { 1, 64, 1 << 20, 1, 512, NINO_F16, false, false, false, 0, 0 },
        { 2, 300, 300, 4, 64, NINO_F32, false, false, false, 0, 0 },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        nino_op_desc d = attention(cases[i].n, cases[i].tq, cases[i].tk, cases[i].heads,
                                   cases[i].depth, cases[i].act);
        char what[80];
        d.attr.is_causal = cases[i].is_causal;
        d.attr.keeps_scores = cases[i].keeps;
        d.part = cases[i].part;
        d.whole = cases[i].whole;
        if (cases[i].has_bias) {
            d.n_src = 4;
            d.src[3] = NINO_SHAPE(1, 1, cases[i].tq, cases[i].tk);
        }
        snprintf(what, sizeof(what), "attention %d: %lld of %lld", i, (long long) cases[i].tq,
                 (long long) cases[i].tk);
        show_on_all(what, &d);
    }
}

// Parts of keys, as letters: numbers of queries by numbers of keys.
static void check_parts_map(void)
{
    static const int64_t queries[] = { 1, 17, 64, 65, 200, 640, 1281 };
    static const int64_t depths[] = { 32, 64, 72, 128, 136, 160 };
    for (int dev = WMMA; dev <= MEASURED; dev++)
        for (int i = 0; i < COUNT(queries); i++)
            for (int k = 0; k < COUNT(depths); k++) {
                char map[64] = "";
                for (int j = 0; j < 30; j++) {
                    const nino_op_desc d = attention(1, queries[i], 40 + 61 * j * (j < 15 ? 1 : 7),
                                                     3, depths[k], NINO_F16);
                    map[j] = (char) ('a' + nino_sched_attention(&device[dev], &d).parts);
                    map[j + 1] = 0;
                }
                record_row("parts of %lld queries, %lld deep on %s: %s", (long long) queries[i],
                           (long long) depths[k], names[dev], map);
            }
}

static void check_norms(void)
{
    static const int64_t cases[][4] = { { 1, 33, 31, 64 },   { 2, 64, 64, 320 }, { 1, 1, 1, 32 },
                                        { 3, 100, 7, 2048 }, { 1, 9, 9, 4096 },  { 2, 40, 40, 24 },
                                        { 1, 16, 64, 32 },   { 1, 64, 64, 33 } };
    for (int i = 0; i < COUNT(cases); i++)
        for (int kind = 0; kind < 3; kind++) { // a norm, by given statistics, those
            nino_op_desc d = { .op = kind == 2 ? NINO_OP_GROUP_STAT : NINO_OP_GROUP_NORM,
                               .n_src = 1 + (kind == 1) };
            d.attr.groups = 1;
            d.src[0] = d.dst = NINO_SHAPE(cases[i][0], cases[i][1], cases[i][2], cases[i][3]);
            d.src[1] = NINO_SHAPE(cases[i][0], 1, 3);
            const nino_norm_layout l = nino_sched_norm(&device[CPU], &d);
            record_row("norm %d.%d: %lld by %lld, %lld strips, %lld parts at %llu %llu %llu %zu "
                       "seconds ~%.8g ~%.8g",
                       i, kind, (long long) l.positions, (long long) l.strip,
                       (long long) l.n_strips, (long long) l.n_parts, (unsigned long long) l.part,
                       (unsigned long long) l.coef, (unsigned long long) l.bytes,
                       nino_sched_workspace(&device[GENERIC], &d),
                       nino_sched_seconds(&device[CPU], &d, 1e12, 1e9),
                       nino_sched_seconds(&device[MEASURED], &d, 1e12, 1e9));
        }
}

static void check_resample(void)
{
    static const int64_t cases[][6] = { { 2, 40, 30, 3, 7, 90 },
                                        { 1, 64, 64, 4, 128, 128 },
                                        { 1, 65, 63, 3, 64, 64 },
                                        { 3, 1, 500, 1, 9, 1 } };
    for (int i = 0; i < COUNT(cases); i++)
        for (int f = 0; f < NINO_FILTER_COUNT; f++) {
            const int64_t *c = cases[i];
            nino_op_desc d = { .op = NINO_OP_RESAMPLE,
                               .attr = { .filter = (nino_filter) f },
                               .n_src = 1,
                               .src = { NINO_SHAPE(c[0], c[1], c[2], c[3]) },
                               .dst = NINO_SHAPE(c[0], c[4], c[5], c[3]) };
            const nino_resample_layout l = nino_sched_resample(&d);
            record_row("resample %d.%d: %lld %lld taps at %llu %llu %llu %llu %llu %llu", i, f,
                       (long long) l.taps_x, (long long) l.taps_y, (unsigned long long) l.start_x,
                       (unsigned long long) l.weight_x, (unsigned long long) l.start_y,
                       (unsigned long long) l.weight_y, (unsigned long long) l.image,
                       (unsigned long long) l.bytes);
            CHECK(nino_sched_workspace(&device[WMMA], &d) == l.bytes);
        }
}

// ---- weights -------------------------------------------------------------------------------------

static void check_packed(void)
{
    static const nino_weight_role roles[] = { NINO_W_MATRIX, NINO_W_CONV3, NINO_W_CONV3D,
                                              NINO_W_CONV_T, NINO_W_VECTOR };
    static const nino_dtype types[] = { NINO_F32,     NINO_F16,     NINO_BF16, NINO_F64,
                                        NINO_F8_E4M3, NINO_F8_E5M2, NINO_Q8_0, NINO_Q4_K };
    for (int dev = 0; dev < DEVICES; dev++)
        for (int r = 0; r < COUNT(roles); r++) {
            char text[400] = "";
            for (int k = 0; k < COUNT(types); k++)
                for (int kept = 0; kept < 2; kept++) {
                    const nino_weight w = { .role = roles[r],
                                            .n = 96,
                                            .c = roles[r] == NINO_W_VECTOR ? 1 : 256,
                                            .kept = kept ? NINO_F16 : NINO_F32,
                                            .dtype = types[k] };
                    nino_dtype type;
                    const size_t bytes = nino_sched_packed_bytes(&device[dev], &w, &type);
                    snprintf(text + strlen(text), sizeof(text) - strlen(text), " %zu:%d", bytes,
                             (int) type);
                }
            record_row("packed %d on %s:%s", r, names[dev], text);
        }
}

int main(void)
{
    make_devices();
    check_linear();
    check_convs();
    check_winograd_map();
    check_product_map();
    check_attention();
    check_parts_map();
    check_norms();
    check_resample();
    check_packed();
    recorded_check("sched.txt");
    return 0;
}
