// The wmma schedule, whatever the device's own is: where that has no matrix instructions, as the
// emulation of cl/wmma/fragment.cl. Every linear layer and convolution of the kernel harness with
// 16-bit activations, all tiles, all kinds of weights and epilogues, against ref. Programs are what
// takes time: two processes share them.
#include "core/base/size.h"
#include "core/harness/kernel_check_priv.h"
#include "cl/wmma/wmma.h"
#include "tests/cl.h"

#include <sys/wait.h>

static nino_backend *on_cl, *on_ref;
static int n_cases, n_failed;

static void open_both(void)
{
    nino_error err;
    on_cl = nino_cl_open(test_cl_device(), NULL, NULL, &err);
    on_ref = nino_ref_open(0, NULL, &err);
    CHECK(on_cl && on_ref);
    CHECK_OK(nino_sched_find("wmma", "", &on_cl->profile.schedule, &err), err);
}

static void close_both(void)
{
    nino_backend_close(&on_cl);
    nino_backend_close(&on_ref);
}

static void run(const nino_check_case *c, nino_dtype type, int in_place)
{
    nino_check_result r;
    nino_check_run(on_cl, on_ref, c, type, in_place, 1, false, &r);
    n_cases++;
    n_failed += !r.ok;
    if (!r.ok)
        printf("tile %d %s: nmse %g, allowed %g: %s\n", on_cl->profile.tuning.gemm_tile, r.name,
               r.nmse, r.tol, r.note);
}

static int64_t rows_of(const nino_check_case *c)
{
    int64_t n = 1;
    for (int i = 0; i < NINO_MAX_RANK && c->src[0][i]; i++)
        n *= c->src[0][i];
    for (int i = NINO_MAX_RANK - 1; i >= 0; i--)
        if (c->src[0][i])
            return n / c->src[0][i];
    return 0;
}

// Few rows are another kernel, with a program for each number of them.
static bool is_of_matrix(const nino_check_case *c)
{
    const bool is_product =
        c->op == NINO_OP_LINEAR || c->op == NINO_OP_CONV2D || c->op == NINO_OP_CONV3D;
    const bool is_float = c->weight == NINO_F32 || c->weight == NINO_F16 || c->weight == NINO_BF16;
    return is_product && is_float && !c->is_large && !c->has_ends && !c->only_bench &&
           (c->op != NINO_OP_LINEAR || rows_of(c) > 16);
}

// Each number of channels is a program: fewer of bf16, which differs by how values are rounded.
static bool is_depth_of(int64_t depth, nino_dtype type)
{
    return depth % 8 == 0 && depth <= 160 &&
           (type == NINO_F16 || depth == 40 || depth == 64 || depth == 128);
}

static bool is_of_attention(const nino_check_case *c, nino_dtype type)
{
    return c->op == NINO_OP_ATTENTION && !c->is_large && !c->only_bench &&
           is_depth_of(c->src[0][2] / c->attr.heads, type);
}

// Those of the harness and more of the same programs: rows of results that end in a tile, keys that end
// with a block or in one, many blocks, more work-groups than threads.
static void test_attention(nino_dtype type)
{
    static const struct {
        int n, tq, tk, heads, depth, bias;
        float spread;
        bool keeps_scores;
    } cases[] = {
        { 1, 65, 77, 2, 64, 0, 1, true },    { 2, 33, 130, 3, 64, 1, 8, true },
        { 1, 100, 129, 1, 128, 0, 6, true }, { 2, 7, 5, 2, 40, 1, 1, true },
        { 1, 64, 64, 12, 16, 0, 12, true },  { 3, 20, 31, 1, 96, 0, 1, true },
        { 1, 70, 97, 1, 256, 0, 1, false },  { 1, 130, 70, 1, 512, 0, 8, false },
        { 2, 17, 66, 2, 384, 1, 1, false },  { 1, 1, 1, 1, 168, 0, 1, false },
        { 1, 2100, 4090, 1, 8, 0, 1, true }, { 1, 65, 64, 2, 64, 0, 1, false },
        { 2, 64, 65, 3, 64, 1, 8, false },   { 1, 130, 200, 2, 64, 0, 1, false },
        { 1, 63, 128, 1, 64, 1, 12, false }, { 1, 33, 31, 1, 128, 0, 1, false },
        { 1, 64, 32, 5, 128, 1, 1, false },  { 2, 70, 161, 2, 128, 0, 1, false },
        { 1, 63, 97, 3, 128, 1, 9, false },  { 1, 1, 300, 2, 128, 0, 12, false },
        { 1, 50, 129, 4, 40, 1, 1, false },  { 1, 66, 127, 2, 40, 0, 3, false },
        { 1, 100, 77, 2, 80, 0, 1, false },  { 1, 90, 70, 2, 160, 0, 1, false },
        { 2, 16, 33, 3, 160, 0, 10, false }, { 1, 5, 64, 12, 16, 1, 1, false },
        { 3, 65, 50, 3, 8, 0, 1, false },    { 2, 80, 65, 1, 96, 0, 6, false },
        { 2, 33, 8, 2, 64, 1, 4, false },    { 2, 65, 7, 3, 64, 1, 4, false },
        { 1, 18, 71, 2, 64, 1, 4, false },   { 1, 18, 190, 2, 64, 1, 4, false },
        { 2, 18, 60, 2, 64, 1, 4, false },   { 2, 20, 43, 3, 64, 1, 4, false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int64_t n = cases[i].n, tq = cases[i].tq, tk = cases[i].tk, h = cases[i].heads,
                      row = h * cases[i].depth;
        const int64_t logits[] = { i % 2 ? n : 1, i % 3 ? h : 1, i % 4 ? tq : 1, tk };
        nino_check_case c = { .op = NINO_OP_ATTENTION,
                              .attr.heads = cases[i].heads,
                              .attr.keeps_scores = cases[i].keeps_scores,
                              .src = { { n, tq, row }, { n, tk, row }, { n, tk, row } },
                              .spread = cases[i].spread };
        if (cases[i].bias)
            memcpy(c.src[3], logits, sizeof(logits));
        if (is_of_attention(&c, type) || cases[i].keeps_scores || cases[i].depth > 160)
            run(&c, type, -1);
    }
    for (size_t i = 0; i < nino_n_check_cases; i++)
        if (is_of_attention(&nino_check_cases[i], type))
            run(&nino_check_cases[i], type, -1);
}

// Later keys hidden, and k and v of fewer heads: blocks of keys that all, some or none of a work-group's queries
// see; scores in registers, and in memory.
static void test_causal(nino_dtype type)
{
    static const struct {
        int n, tq, tk, heads, kv, depth, bias;
        bool keeps_scores;
    } cases[] = { { 1, 70, 133, 6, 2, 128, 0, false }, { 2, 129, 129, 2, 2, 128, 0, false },
                  { 2, 65, 66, 2, 1, 64, 1, false },   { 1, 1, 97, 4, 2, 64, 0, false },
                  { 1, 200, 200, 4, 1, 64, 0, false }, { 2, 40, 70, 2, 1, 64, 0, true } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int64_t n = cases[i].n, tq = cases[i].tq, tk = cases[i].tk, h = cases[i].heads,
                      row = h * cases[i].depth, kv = (int64_t) cases[i].kv * cases[i].depth;
        nino_check_case c = { .op = NINO_OP_ATTENTION,
                              .attr.heads = cases[i].heads,
                              .attr.is_causal = true,
                              .attr.keeps_scores = cases[i].keeps_scores,
                              .src = { { n, tq, row }, { n, tk, kv }, { n, tk, kv } } };
        if (cases[i].bias)
            memcpy(c.src[3], (const int64_t[]){ n, h, tq, tk }, sizeof(int64_t[4]));
        run(&c, type, -1);
    }
}

// Those of the harness, with weights of the activations' type: one program for each form of inputs.
static void test_harness(nino_dtype type)
{
    on_cl->profile.tuning.gemm_tile = 4;
    for (size_t i = 0; i < nino_n_check_cases; i++) {
        nino_check_case c = nino_check_cases[i];
        if (!is_of_matrix(&c))
            continue;
        c.weight = type;
        run(&c, type, -1);
        if (c.op != NINO_OP_CONV3D && c.residual)
            run(&c, type, 1);
    }
}

// Tiles that are larger than the product, and some of each; every activation, with and without the
// other parts of an epilogue, in rows that are whole pieces of 16 bytes and others.
static void test_tile(int tile, nino_dtype type, nino_dtype weight)
{
    static const struct {
        int rows, c, n;
    } shapes[] = { { 17, 32, 8 },    { 65, 64, 72 }, { 300, 48, 136 },
                   { 129, 96, 131 }, { 33, 16, 5 },  { 31, 80, 24 } };
    on_cl->profile.tuning.gemm_tile = tile;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        for (int act = (int) i % 2; act < NINO_ACT_COUNT; act += 2) {
            const nino_check_case c = { .op = NINO_OP_LINEAR,
                                        .attr.act = (nino_act) act,
                                        .src = { { shapes[i].rows, shapes[i].c } },
                                        .n = shapes[i].n,
                                        .bias = act % 2,
                                        .residual = act / 2 % 2,
                                        .weight = weight };
            run(&c, type, -1);
        }
}

// Weights as files store them, decoded as they are loaded; each type is a program. In the small tiles a work-item
// decodes half of a step's channels of a row, in those of 128 x 128 all: as many of them as the device is busy with.
static void test_stored(nino_dtype type, const nino_dtype *weights, int n)
{
    const int units = (int) test_cl_device()->info.compute_units;
    const struct {
        int rows, c, n;
    } shapes[] = { { 23, 256, 70 }, { 70, 512, 40 }, { 150, 256, 129 }, { 128 * units, 512, 128 } };
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 4; i++) {
            nino_profile *p = &on_cl->profile;
            p->tuning.gemm_tile = i < 3 ? 4 : 2;
            CHECK(i < 3 ||
                  nino_sched_tile(p, NULL, shapes[i].rows, shapes[i].n, (unsigned) units).rows ==
                      128);
            const nino_check_case c = { .op = NINO_OP_LINEAR,
                                        .src = { { shapes[i].rows, shapes[i].c } },
                                        .n = shapes[i].n,
                                        .bias = i == 0,
                                        .residual = i == 2,
                                        .weight = weights[k] };
            run(&c, type, -1);
        }
}

// Convolutions by weights as files store them, which are expanded to rows; odd sizes, so that blocks begin
// within rows.
static void test_stored_conv(nino_dtype type, const nino_dtype *weights, int n)
{
    on_cl->profile.tuning.gemm_tile = 4;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 4; i++) {
            const bool is_video = i == 3;
            const nino_check_case c = { .op = is_video ? NINO_OP_CONV3D : NINO_OP_CONV2D,
                                        .attr = { .kernel = 3,
                                                  .stride = 1 + (i == 1),
                                                  .upsample2x = i == 2,
                                                  .pad_t = is_video ? 2 : 0,
                                                  .stride_t = 1 },
                                        .src = { { is_video ? 3 : 2, 5 + i, 7,
                                                   weights[k] == NINO_Q4_K ? 256
                                                   : i                     ? 32
                                                                           : 64 } },
                                        .n = i == 1 ? 130 : 24,
                                        .bias = i != 1,
                                        .residual = i == 0,
                                        .weight = weights[k] };
            run(&c, type, -1);
        }
}

// Few blocks of queries: as many parts of the keys as a device of 20 processors gets. Keys that end in a block
// or with one, hidden by a bias (all of a part's, all of a query's) or by their place, of fewer heads; heads that
// fill no fragment.
static void test_key_parts(nino_dtype type)
{
    static const struct {
        int n, tq, tk, heads, kv, depth, bias;
        bool is_causal;
        float spread;
    } cases[] = { { 1, 3, 300, 2, 2, 64, 0, false, 1 },   { 1, 65, 257, 1, 1, 128, 0, false, 8 },
                  { 2, 33, 511, 1, 1, 64, 1, false, 8 },  { 1, 1, 640, 4, 2, 128, 0, true, 6 },
                  { 1, 50, 200, 1, 1, 128, 0, true, 1 },  { 1, 50, 320, 2, 1, 64, 1, true, 1 },
                  { 1, 17, 2077, 1, 1, 40, 0, false, 12 } };
    nino_profile *p = &on_cl->profile;
    const nino_profile own = *p;
    p->units = 20;
    p->peak_f16 = 59.4e12;
    p->bandwidth = 1e15; // such small ones would not be worth it else
    p->launch_s = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int64_t n = cases[i].n, tq = cases[i].tq, tk = cases[i].tk, h = cases[i].heads,
                      row = h * cases[i].depth, kv = (int64_t) cases[i].kv * cases[i].depth;
        nino_check_case c = { .op = NINO_OP_ATTENTION,
                              .attr.heads = cases[i].heads,
                              .attr.is_causal = cases[i].is_causal,
                              .src = { { n, tq, row }, { n, tk, kv }, { n, tk, kv } },
                              .spread = cases[i].spread };
        nino_op_desc d = { .op = NINO_OP_ATTENTION, .attr = c.attr, .n_src = 3 };
        d.attr.scale = 1;
        for (int k = 0; k < 3; k++) {
            memcpy(d.src[k].dim, c.src[k], 3 * sizeof(int64_t));
            d.src[k].rank = 3;
            d.src_type[k] = type;
        }
        if (cases[i].bias)
            memcpy(c.src[3], (const int64_t[]){ n, h, tq, tk }, sizeof(int64_t[4]));
        const nino_attn_layout l = nino_sched_attention(p, &d);
        CHECK(l.form == NINO_ATTN_FLASH && l.parts > 1 && l.bytes);
        run(&c, type, -1);
    }
    *p = own;
}

// Products of few tiles, in parts of the channels and taps: as many as a device of 20 processors gets.
static void test_split(nino_dtype type)
{
    static const struct {
        int rows, c, n;
        nino_dtype weight;
    } shapes[] = { { 33, 512, 70, NINO_F16 },
                   { 20, 544, 72, NINO_F16 },
                   { 70, 768, 5, NINO_F16 },
                   { 17, 1024, 40, NINO_F8_E4M3 },
                   { 40, 512, 9, NINO_Q8_0 } };
    nino_profile *p = &on_cl->profile;
    const nino_profile own = *p;
    int n_split = 0;
    p->units = 20;
    p->peak_f16 = 59.4e12;
    p->bandwidth = 1e15; // such small ones would not be worth it else
    p->launch_s = 0;
    p->tuning.gemm_tile = 4;
    p->tuning.gemm_costs = type == NINO_F16 ? NINO_COSTS_CLOCKS : NINO_COSTS_ALIKE;
    p->tuning.gemm_split = 16;
    for (int i = 0; i < 5 + 3; i++) {
        const int k = i - 5;
        nino_check_case c = { .op = NINO_OP_LINEAR,
                              .bias = i % 2,
                              .residual = i % 3 == 0,
                              .attr.act = i % 2 ? NINO_ACT_SILU : NINO_ACT_NONE };
        if (k < 0) {
            c.src[0][0] = shapes[i].rows;
            c.src[0][1] = shapes[i].c;
            c.n = shapes[i].n;
            c.weight = shapes[i].weight == NINO_F16 ? type : shapes[i].weight;
        } else {
            const int64_t image[] = { k == 2 ? 3 : 2, 5, 7, k ? 96 : 35 };
            c.op = k == 2 ? NINO_OP_CONV3D : NINO_OP_CONV2D;
            c.attr.kernel = 3;
            c.attr.stride = c.attr.stride_t = 1;
            c.attr.pad_t = k == 2 ? 2 : 0;
            memcpy(c.src[0], image, sizeof(image));
            c.n = 40 + k;
            c.weight = type;
        }
        const int before = n_failed;
        run(&c, type, -1);
        n_split += n_failed == before;
    }
    CHECK(n_split == 8);
    *p = own;
}

// Whichever parts end first: they are added in one order.
static void test_split_bits(void)
{
    static const nino_check_case c = {
        .op = NINO_OP_LINEAR, .src = { { 70, 768 } }, .n = 72, .bias = true, .weight = NINO_F16
    };
    nino_profile *p = &on_cl->profile;
    const nino_profile own = *p;
    nino_array *got[3];
    nino_error err;
    check_job job;
    p->units = 20;
    p->peak_f16 = 59.4e12;
    p->bandwidth = 1e15;
    p->launch_s = 0;
    p->tuning.gemm_tile = 4;
    CHECK_OK(check_job_init(&job, &c, NINO_F16, p, 3, &err), err);
    CHECK(nino_sched_split(p, &job.d).parts > 1);
    for (int i = 0; i < 3; i++) {
        check_side s = { .be = on_cl, .in_place = -1 };
        CHECK_OK(check_side_prepare(&s, &job, &err), err);
        got[i] = check_side_run(&s, &err);
        CHECK_OK(got[i] ? NINO_OK : err.code, err);
        CHECK(!memcmp(got[i]->data, got[0]->data, got[0]->bytes));
        check_side_release(&s);
    }
    for (int i = 0; i < 3; i++)
        nino_array_unref(&got[i]);
    check_job_release(&job);
    *p = own;
}

// What the tuning may ask for beside tiles: bands of four tiles, of which there are two and a part of one; blocks of
// 32 keys; sums in more parts.
static void test_tuned(void)
{
    static const int64_t attention[][3] = { { 65, 77, 2 }, { 33, 130, 3 }, { 100, 31, 1 } };
    nino_profile *p = &on_cl->profile;
    const nino_profile own = *p;
    nino_check_case c = {
        .op = NINO_OP_LINEAR, .src = { { 300, 48 } }, .n = 136, .bias = true, .weight = NINO_F16
    };
    p->tuning.gemm_tile = 4;
    p->tuning.gemm_band = 4;
    run(&c, NINO_F16, -1);
    c.src[0][0] = 577;
    c.n = 70;
    run(&c, NINO_F16, -1);
    *p = own;
    p->tuning.flash_keys = 32;
    for (int i = 0; i < 3; i++) {
        const int64_t *a = attention[i], row = a[2] * 64;
        const nino_check_case heads = {
            .op = NINO_OP_ATTENTION,
            .attr.heads = (int) a[2],
            .src = { { 1, a[0], row }, { 1, a[1], row }, { 1, a[1], row } }
        };
        run(&heads, NINO_F16, -1);
    }
    *p = own;
}

// Values between -1 and 1 of which no two rows are alike, as `type` rounds them.
static nino_array *wmma_values(nino_dtype type, nino_shape shape, uint32_t seed)
{
    nino_array *a = nino_array_create(NINO_F32, shape), *t;
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++) {
        seed = seed * 1664525u + 1013904223u;
        nino_array_f32(a)[i] = (float) (int32_t) seed / 2147483648.0f;
    }
    CHECK((t = nino_array_convert(a, type)));
    nino_array_unref(&a);
    return t;
}

static nino_weight *wmma_weight(nino_dtype type, nino_shape shape, uint32_t seed)
{
    nino_array *a = wmma_values(type, shape, seed);
    nino_weight *w = nino_weight_from_array(a, shape.rank > 1 ? NINO_W_MATRIX : NINO_W_VECTOR);
    CHECK(w);
    nino_array_unref(&a);
    return w;
}

typedef struct heads_case {
    int n, t, c, heads, depth, tile;
    nino_dtype weight; // F16: the activations' type
    bool has_bias, has_table;
} heads_case;

static nino_array *run_heads(nino_backend *be, const heads_case *h, nino_dtype type,
                             const nino_array *x, const nino_array *table, const nino_linear *l,
                             const nino_norm *norm)
{
    nino_error err;
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    CHECK(s);
    nino_tensor *in = nino_upload(s, x, type);
    if (be == on_ref)
        in = nino_cast(s, in, NINO_F32);
    nino_tensor *angles = h->has_table ? nino_upload(s, table, NINO_F32) : NULL;
    const uint64_t before = be->n_ops;
    nino_tensor *y = nino_linear_heads(s, in, l, norm, angles);
    CHECK(be == on_ref || be->n_ops == before + 1);
    nino_array *out = nino_download(s, y, NINO_F32);
    CHECK(out);
    nino_stream_destroy(&s);
    return out;
}

// Heads normalised and turned behind the product, in one launch: ref's three ops in f32, rounded once.
static void test_heads(nino_dtype type)
{
    static const heads_case cases[] = { { 1, 130, 48, 3, 128, 2, NINO_F16, true, true },
                                        { 2, 33, 32, 1, 128, 1, NINO_F16, false, true },
                                        { 1, 300, 32, 2, 128, 1, NINO_F16, true, false },
                                        { 2, 35, 64, 3, 64, 2, NINO_F16, true, true },
                                        { 1, 70, 32, 1, 64, 1, NINO_F16, false, true },

                                        { 2, 37, 256, 2, 128, 2, NINO_F8_E4M3, true, true } };
    const double tol = nino_ops[NINO_OP_LINEAR].tol_f16 * (type == NINO_BF16 ? 64 : 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const heads_case *h = &cases[i];
        const int64_t n = (int64_t) h->heads * h->depth;
        const nino_dtype stored = h->weight == NINO_F16 ? type : h->weight;
        nino_array *x = wmma_values(type, NINO_SHAPE(h->n, h->t, h->c), 1);
        nino_array *table = wmma_values(NINO_F32, NINO_SHAPE(h->t, h->depth), 2), *got[2];
        nino_linear l = { .w = wmma_weight(stored, NINO_SHAPE(n, h->c), 3),
                          .b = h->has_bias ? wmma_weight(NINO_F32, NINO_SHAPE(n), 4) : NULL };
        nino_norm norm = { .gamma = wmma_weight(NINO_F32, NINO_SHAPE(h->depth), 5),
                           .groups = h->heads,
                           .eps = 1e-6f };
        on_cl->profile.tuning.gemm_tile = h->tile;
        for (int k = 0; k < 2; k++)
            got[k] = run_heads(k ? on_ref : on_cl, h, type, x, table, &l, &norm);
        double error = 0, all = 0;
        for (int64_t k = 0; k < nino_shape_count(&got[0]->shape); k++) {
            const double want = (double) nino_array_f32(got[1])[k];
            const double d = (double) nino_array_f32(got[0])[k] - want;
            error += d * d;
            all += want * want;
        }
        n_cases++;
        if (!(error <= tol * all)) {
            n_failed++;
            printf("%d heads of %d, tile %d: nmse %g\n", h->heads, h->depth, h->tile, error / all);
        }
        nino_linear_release(&l);
        nino_norm_release(&norm);
        nino_array_unref(&x);
        nino_array_unref(&table);
        for (int k = 0; k < 2; k++)
            nino_array_unref(&got[k]);
    }
}

// All 256 numbers of a type of 8 bits: each is a row of weights, with zeros behind it.
static void test_bytes(nino_dtype type, nino_dtype weight)
{
    enum { ROWS = 20, C = 16, N = 256 };
    nino_error err;
    nino_array *x = nino_array_create(NINO_F32, NINO_SHAPE(ROWS, C)), *got[2];
    nino_array *w = nino_array_create(weight, NINO_SHAPE(N, C));
    CHECK(x && w);
    memset(x->data, 0, x->bytes);
    memset(w->data, 0, w->bytes);
    for (int n = 0; n < N; n++)
        ((uint8_t *) w->data)[n * C] = (uint8_t) n;
    for (int i = 0; i < ROWS; i++)
        nino_array_f32(x)[i * C] = 1;
    nino_linear l = { .w = nino_weight_from_array(w, NINO_W_MATRIX) };
    for (int k = 0; k < 2; k++) {
        nino_backend *be = k ? on_ref : on_cl;
        nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
        CHECK(s);
        nino_tensor *y = nino_linear_op(s, nino_upload(s, x, type), &l);
        CHECK((got[k] = nino_download(s, y, NINO_F32)));
        nino_stream_destroy(&s);
    }
    for (int i = 0; i < ROWS * N; i++) {
        const float a = nino_array_f32(got[0])[i], b = nino_array_f32(got[1])[i];
        if (!(a == b || (a != a && b != b))) {
            fprintf(stderr, "%s, weight %s 0x%02x: %g instead of %g\n", nino_dtype_name(type),
                    nino_dtype_name(weight), (unsigned) (i % N), (double) a, (double) b);
            exit(1);
        }
    }
    n_cases++;
    nino_linear_release(&l);
    for (int k = 0; k < 2; k++)
        nino_array_unref(&got[k]);
    nino_array_unref(&x);
    nino_array_unref(&w);
}

// A weight in bf16 is kept as f16 where f16 is what it is multiplied as, and is what it was where not.
static void test_kept(void)
{
    nino_error err;
    nino_array *w = nino_array_create(NINO_BF16, NINO_SHAPE(64, 32));
    CHECK(w);
    memset(w->data, 0, w->bytes);
    nino_weight *weight = nino_weight_from_array(w, NINO_W_MATRIX);
    nino_op_desc d = {
        .op = NINO_OP_LINEAR, .weight = weight, .src_type = { NINO_F16 }, .dst = NINO_SHAPE(17, 64)
    };
    const nino_profile *p = &on_cl->profile;
    CHECK(nino_sched_kept(p, &d) == NINO_F16);
    CHECK(nino_backend_weight(on_cl, weight, NINO_F16, &err)->dtype == NINO_F16);
    d.dst = NINO_SHAPE(16, 64); // done in f32
    CHECK(nino_sched_kept(p, &d) == NINO_F32);
    d.dst = NINO_SHAPE(17, 64);
    d.src_type[0] = NINO_BF16;
    CHECK(nino_sched_kept(p, &d) == NINO_F32);
    CHECK(nino_backend_weight(on_cl, weight, NINO_F32, &err)->dtype == NINO_BF16);
    CHECK(nino_backend_weight(on_ref, weight, NINO_F32, &err)->dtype == NINO_F32);
    nino_weight_destroy(&weight);
    nino_array_unref(&w);
}

// What is slow to decode: as it is multiplied where rows are few, else as rows of f16 before.
static void test_stripe(nino_dtype type)
{
    on_cl->profile.tuning.gemm_tile = 4;
    for (int i = 0; i < 2; i++) {
        const nino_check_case c = { .op = NINO_OP_LINEAR,
                                    .src = { { i ? 2049 : 40, 256 } },
                                    .n = 24,
                                    .bias = true,
                                    .weight = NINO_IQ2_XS };
        run(&c, type, -1);
    }
}

static int run_type(nino_dtype type)
{
    static const nino_dtype f16[] = { NINO_F8_E4M3, NINO_F8_E5M2, NINO_I8,   NINO_Q8_0,
                                      NINO_Q4_0,    NINO_Q4_1,    NINO_Q5_0, NINO_Q5_1,
                                      NINO_Q4_K,    NINO_Q5_K,    NINO_Q6_K };
    static const nino_dtype bf16[] = { NINO_F8_E4M3, NINO_F8_E5M2, NINO_I8,
                                       NINO_Q8_0,    NINO_Q4_K,    NINO_Q6_K };
    static const nino_dtype conv[] = { NINO_F8_E4M3, NINO_F8_E5M2, NINO_I8,  NINO_Q8_0,
                                       NINO_Q4_0,    NINO_Q4_1,    NINO_Q4_K };
    open_both();
    const nino_dtype other = type == NINO_F16 ? NINO_BF16 : NINO_F16;
    test_kept();
    test_harness(type);
    test_attention(type);
    test_causal(type);
    test_key_parts(type);
    test_tile(type == NINO_F16 ? 1 : 3, type, type);
    test_tile(2, type, type == NINO_F16 ? NINO_F32 : other);
    if (type == NINO_F16)
        test_stored(type, f16, sizeof(f16) / sizeof(f16[0]));
    else
        test_stored(type, bf16, sizeof(bf16) / sizeof(bf16[0]));
    test_stripe(type);
    test_stored_conv(type, conv, sizeof(conv) / sizeof(conv[0]));
    test_split(type);
    if (type == NINO_F16) {
        test_split_bits();
        test_tuned();
    }
    test_heads(type);
    test_bytes(type, NINO_F8_E4M3);
    test_bytes(type, NINO_F8_E5M2);
    test_bytes(type, NINO_I8);
    close_both();
    printf("%s: %d cases, %d wrong\n", nino_dtype_name(type), n_cases, n_failed);
    CHECK(n_cases >= 100);
    return n_failed != 0;
}

// A device is asked by a product that is compared.
static void test_question(void)
{
    const nino_cl_device *dev = test_cl_device();
    CHECK(nino_cl_wmma_ask(dev, ""));
    if (nino_cl_wmma_ask(dev, NULL))
        return; // it has them: nothing is emulated
    CHECK(!nino_cl_wmma_ask(dev, "-DLANE_COLUMN(l)=((l)>>1)"));
    CHECK(!nino_cl_wmma_ask(dev, "-DLANE_ROW(v,l)=((v)+8*((l)>>4))"));
}

int main(void)
{
    fflush(stdout);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (!child)
        return run_type(NINO_BF16);
    int status = 0;
    test_question();
    const int failed = run_type(NINO_F16);
    CHECK(waitpid(child, &status, 0) == child);
    return failed || !WIFEXITED(status) ? 1 : WEXITSTATUS(status);
}
