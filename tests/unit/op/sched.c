// Profiles, schedule decisions, workspaces, packing.
#include "core/op/pack.h"
#include "core/op/profile.h"
#include "core/op/resample.h"
#include "tests/test.h"

#include <math.h>

static nino_error err;

static const nino_sched *schedule(const char *name)
{
    const nino_sched *s = NULL;
    CHECK_OK(nino_sched_find(name, "test", &s, &err), err);
    return s;
}

// The list is what profiles may name.
static void test_schedules(void)
{
    const nino_sched *s = NULL;
    for (int i = 0; nino_scheds[i].name; i++)
        CHECK(schedule(nino_scheds[i].name) == &nino_scheds[i] && nino_scheds[i].define);
    CHECK(nino_sched_find("ref", "x.json", &s, &err) == NINO_ERR_UNKNOWN); // no device's
    CHECK(nino_sched_find("voodoo", "x.json", &s, &err) == NINO_ERR_UNKNOWN && !s);
    CHECK_STR(err.where, "x.json");
    CHECK(strstr(err.msg, "voodoo") && strstr(err.msg, "cpu, generic"));
}

static void test_profiles(void)
{
    nino_profile p;
    CHECK_OK(nino_profile_load("gfx1151", &p, &err), err);
    CHECK_STR(p.name, "gfx1151");
    CHECK(p.peak_f16 == 59.4e12 && p.act_type == NINO_F16 && !p.has_winograd);
    CHECK_OK(nino_profile_load("pocl-cpu", &p, &err), err);
    CHECK(p.schedule == schedule("cpu") && p.act_type == NINO_F32 && p.has_winograd);
    CHECK_OK(nino_profile_load("ref", &p, &err), err);
    CHECK(p.schedule == &nino_sched_ref);
    CHECK(nino_profile_load("voodoo", &p, &err) == NINO_ERR_UNKNOWN);
    CHECK_STR(err.where, "voodoo");
    CHECK(strstr(err.msg, "gfx1151") && strstr(err.msg, "pocl-cpu"));
    for (const nino_profile_text *t = nino_profile_builtin; t->name; t++) {
        CHECK_OK(nino_profile_load(t->name, &p, &err), err);
        CHECK_STR(p.name, t->name);
    }
}

static void test_find(void)
{
    static const struct {
        const char *device;
        bool is_cpu;
        const char *profile;
    } cases[] = { { "gfx1151", false, "gfx1151" },
                  { "AMD Radeon 8060S Graphics", false, "gfx1151" },
                  { "gfx1151", true, "pocl-cpu" }, // the kind of device wins over its name
                  { "gfx906", false, "generic-gpu" },
                  { "gfx1100", false, "gfx1100" },
                  { "AMD Radeon RX 7800 XT", false, "gfx1101" },
                  { "gfx1150", false, "gfx1150" },
                  { "gfx1200", false, "gfx1200" },
                  { "Intel(R) Arc(TM) A770 Graphics", false, "intel-arc" },
                  { "NVIDIA GeForce RTX 3060", false, "nvidia" },
                  { "", false, "generic-gpu" },
                  { "pthread-Intel(R) Xeon(R) Processor", true, "pocl-cpu" },
                  { "some other processor", true, "pocl-cpu" } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_profile p;
        CHECK_OK(nino_profile_find(cases[i].device, cases[i].is_cpu, &p, &err), err);
        CHECK_STR(p.name, cases[i].profile);
    }
}

static nino_op_desc conv(const nino_weight *w, int64_t h, int64_t wd)
{
    nino_op_desc d = { .op = NINO_OP_CONV2D,
                       .attr = { .kernel = 3, .stride = 1 },
                       .n_src = 1,
                       .src = { NINO_SHAPE(1, h, wd, w->c) },
                       .weight = w };
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    return d;
}

static void test_winograd(void)
{
    nino_profile p;
    CHECK_OK(nino_profile_load("pocl-cpu", &p, &err), err);
    nino_weight w = { .role = NINO_W_CONV3, .n = 70, .c = 65, .dtype = NINO_F16 };
    nino_op_desc d = conv(&w, 65, 67);
    CHECK(nino_sched_conv(&p, &d) == NINO_CONV_WINOGRAD);
    nino_wino_layout l = nino_sched_wino(&p, &d);
    CHECK(l.tw == 17 && l.th == 17 && l.cp == 80 && l.np == 128);
    CHECK(l.rows >= 1 && l.rows <= l.th);
    const uint64_t tiles = (uint64_t) (l.rows * l.tw);
    CHECK(l.u == 0 && l.v >= 36 * 128 * 80 * 4 && l.m >= l.v + 36 * tiles * 80 * 4);
    CHECK(l.bytes >= l.m + 36 * tiles * 128 * 4 && l.v % 256 == 0 && l.m % 256 == 0);
    CHECK(nino_sched_workspace(&p, &d) == l.bytes);
    CHECK(l.m - l.v + l.bytes - l.m <= p.winograd_stripe + 512);
    p.winograd_stripe = 1; // one row at least
    CHECK(nino_sched_wino(&p, &d).rows == 1);
    p.winograd_stripe = 24 << 20;

    nino_op_desc e = d;
    e.src_type[0] = NINO_F16;
    CHECK(nino_sched_conv(&p, &e) == NINO_CONV_WINOGRAD); // 16-bit maps are transformed in f32
    CHECK(nino_sched_workspace(&p, &e) == l.bytes);
    e = d;
    e.attr.stride = 2;
    CHECK(nino_sched_conv(&p, &e) == NINO_CONV_DIRECT);
    e = d;
    e.attr.upsample2x = true; // one of the six rows and columns of products is always zero
    const nino_wino_layout up = nino_sched_wino(&p, &e);
    CHECK(l.n == 36 && up.n == 25 && up.bytes < l.bytes);
    CHECK(nino_sched_flops(&p, &e) / nino_ops[e.op].flops(&e) == 25.0 / 144);
    e = conv(&w, 9, 9); // too few pixels
    CHECK(nino_sched_conv(&p, &e) == NINO_CONV_DIRECT);
    w.c = 4;
    e = conv(&w, 65, 67); // too few channels
    CHECK(nino_sched_conv(&p, &e) == NINO_CONV_DIRECT);
    // by what the transforms move: columns are whole panels of 64
    static const struct {
        int64_t c, n;
        nino_conv_algo algo;
    } cases[] = { { 32, 32, NINO_CONV_DIRECT },
                  { 64, 32, NINO_CONV_DIRECT },
                  { 32, 64, NINO_CONV_WINOGRAD },
                  { 64, 64, NINO_CONV_WINOGRAD },
                  { 320, 320, NINO_CONV_WINOGRAD } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        w.c = cases[i].c;
        w.n = cases[i].n;
        e = conv(&w, 65, 67);
        CHECK(nino_sched_conv(&p, &e) == cases[i].algo);
    }
    p.has_winograd = false;
    CHECK(nino_sched_conv(&p, &d) == NINO_CONV_DIRECT);
}

static void test_workspaces(void)
{
    nino_profile p;
    CHECK_OK(nino_profile_load("pocl-cpu", &p, &err), err);
    nino_op_desc d = { .op = NINO_OP_GROUP_NORM,
                       .attr = { .groups = 32 },
                       .n_src = 1,
                       .src = { NINO_SHAPE(2, 33, 31, 64) },
                       .dst = NINO_SHAPE(2, 33, 31, 64) };
    const nino_norm_layout n = nino_sched_norm(&p, &d);
    CHECK(n.positions == 33 * 31 && n.strip * n.n_strips >= n.positions);
    CHECK(n.strip * (n.n_strips - 1) < n.positions);
    CHECK(n.coef >= (uint64_t) (2 * n.n_strips * 2 * 64 * 4) && n.bytes >= n.coef + 2 * 2 * 64 * 4);
    CHECK(nino_sched_workspace(&p, &d) == n.bytes &&
          nino_sched_workspace(&nino_profile_ref, &d) == 0);

    d = (nino_op_desc){ .op = NINO_OP_RESAMPLE,
                        .attr = { .filter = NINO_FILTER_LANCZOS },
                        .n_src = 1,
                        .src = { NINO_SHAPE(2, 40, 30, 3) },
                        .dst = NINO_SHAPE(2, 7, 90, 3) };
    const nino_resample_layout r = nino_sched_resample(&d);
    CHECK(r.taps_x == nino_resample_taps(NINO_FILTER_LANCZOS, 30, 90) && r.taps_y > r.taps_x);
    CHECK(r.start_x == 0 && r.weight_x >= 90 * 4 && r.start_y >= r.weight_x + 90 * 4 * 7);
    CHECK(r.bytes >= r.image + 2 * 40 * 90 * 3 * 4 && nino_sched_workspace(&p, &d) == r.bytes);
}

// Weights that stay as the file stores them need room for some of their panels.
static void test_expand(void)
{
    nino_profile p;
    CHECK_OK(nino_profile_load("pocl-cpu", &p, &err), err);
    nino_weight w = { .role = NINO_W_MATRIX, .n = 3072, .c = 3072, .dtype = NINO_Q8_0 };
    nino_op_desc d = { .op = NINO_OP_LINEAR, .n_src = 1, .weight = &w };
    d.src[0] = d.dst = NINO_SHAPE(64, 3072); // decoded as it is multiplied
    CHECK(!nino_sched_expand(&p, &d).panels && !nino_sched_workspace(&p, &d));
    d.src[0] = d.dst = NINO_SHAPE(1000, 3072); // which is too slow on a processor then
    CHECK(nino_sched_expand(&p, &d).panels == 8);
    p.schedule = schedule("generic");
    CHECK(!nino_sched_expand(&p, &d).panels);
    p.schedule = schedule("cpu");
    w.dtype = NINO_F8_E4M3;
    w.c = 3071; // rows begin anywhere
    d.src[0] = d.dst = NINO_SHAPE(64, 3072);
    nino_expand_layout e = nino_sched_expand(&p, &d);
    CHECK(e.panels == 8 && e.at == 0 && e.bytes == 8u * 3072 * 64 * 4);
    CHECK(nino_sched_workspace(&p, &d) == e.bytes);
    CHECK(!nino_sched_expand(&nino_profile_ref, &d).panels);
    w.n = 100;
    CHECK(nino_sched_expand(&p, &d).panels == 2);
    w.n = 3072;
    w.c = (1 << 20) - 1; // a panel at least
    CHECK(nino_sched_expand(&p, &d).panels == 1);
    w.dtype = NINO_F16;
    CHECK(!nino_sched_expand(&p, &d).panels && !nino_sched_workspace(&p, &d));
    w = (nino_weight){ .role = NINO_W_CONV3, .n = 64, .c = 64, .dtype = NINO_F8_E4M3 };
    d = (nino_op_desc){ .op = NINO_OP_CONV2D, .n_src = 1, .weight = &w };
    d.attr.kernel = 3;
    d.attr.stride = 1;
    d.src[0] = d.dst = NINO_SHAPE(1, 64, 64, 64);
    e = nino_sched_expand(&p, &d);
    const nino_wino_layout l = nino_sched_wino(&p, &d);
    CHECK(nino_sched_conv(&p, &d) == NINO_CONV_WINOGRAD && e.panels == 1 && e.at == l.v);
    CHECK(e.bytes >= l.bytes && e.bytes >= l.v + 9 * 64 * 64 * 4);
}

// What matrix instructions multiply is of the activations' type.
static void test_expand_rows(void)
{
    nino_profile p;
    CHECK_OK(nino_profile_load("gfx1151", &p, &err), err);
    const nino_weight w = { .role = NINO_W_CONV3, .n = 640, .c = 320, .dtype = NINO_Q8_0 };
    nino_op_desc d = { .op = NINO_OP_CONV2D, .n_src = 1, .weight = &w };
    d.attr.kernel = 3;
    d.attr.stride = 1;
    d.src[0] = NINO_SHAPE(1, 64, 64, 320);
    d.dst = NINO_SHAPE(1, 64, 64, 640);
    d.src_type[0] = NINO_F16;
    nino_expand_layout e = nino_sched_expand(&p, &d);
    CHECK(e.is_rows && e.panels == 10 && e.bytes == (uint64_t) 640 * 9 * 320 * 2);
    CHECK(nino_sched_workspace(&p, &d) == e.bytes);
    d.src_type[0] = NINO_F32;
    e = nino_sched_expand(&p, &d);
    CHECK(!e.is_rows && e.bytes == (uint64_t) e.panels * 64 * 9 * 320 * 4);
    // Of linear layers of many rows what is slow to decode, which are then not divided into parts.
    static const struct {
        nino_dtype type;
        int64_t rows;
        bool is_expanded;
    } cases[] = { { NINO_IQ2_XS, 2048, true }, { NINO_IQ2_XS, 2047, false },
                  { NINO_Q4_K, 4096, false },  { NINO_Q6_K, 4096, false },
                  { NINO_Q2_K, 4096, true },   { NINO_I8, 4096, false },
                  { NINO_BF16, 4096, false } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const nino_weight m = {
            .role = NINO_W_MATRIX, .n = 64, .c = 12288, .dtype = cases[i].type
        };
        nino_op_desc linear = { .op = NINO_OP_LINEAR, .n_src = 1, .weight = &m };
        linear.src[0] = NINO_SHAPE(cases[i].rows, m.c);
        linear.dst = NINO_SHAPE(cases[i].rows, m.n);
        linear.src_type[0] = NINO_F16;
        e = nino_sched_expand(&p, &linear);
        CHECK((e.panels > 0) == cases[i].is_expanded && e.is_rows == (e.panels > 0));
        CHECK(!e.panels || nino_sched_workspace(&p, &linear) == e.bytes);
        CHECK(!e.panels || nino_sched_split(&p, &linear).parts == 1);
    }
}

static nino_attn_layout attention(const nino_profile *p, nino_dtype type, int64_t queries,
                                  int64_t depth, bool keeps_scores)
{
    nino_op_desc d = { .op = NINO_OP_ATTENTION, .n_src = 3, .dst_type = type };
    d.attr.heads = 2;
    d.attr.scale = 1;
    d.attr.keeps_scores = keeps_scores;
    for (int i = 0; i < 3; i++) {
        d.src[i] = NINO_SHAPE(1, i ? 4090 : queries, 2 * depth);
        d.src_type[i] = type;
    }
    const nino_attn_layout l = nino_sched_attention(p, &d);
    CHECK(nino_sched_workspace(p, &d) == l.bytes);
    return l;
}

static void test_attention(void)
{
    nino_profile p;
    CHECK_OK(nino_profile_load("gfx1151", &p, &err), err);
    nino_attn_layout l = attention(&p, NINO_F16, 5000, 128, false);
    CHECK(l.form == NINO_ATTN_FLASH && !l.bytes);
    CHECK(attention(&p, NINO_BF16, 5000, 160, false).form == NINO_ATTN_FLASH);
    CHECK(attention(&p, NINO_F32, 5000, 128, true).form == NINO_ATTN_OWN);
    CHECK(attention(&p, NINO_F16, 5000, 20, true).form == NINO_ATTN_OWN);
    l = attention(&p, NINO_F16, 5000, 512, false);
    CHECK(l.form == NINO_ATTN_STRIPES && l.keys == 4096 && l.rows == 1728); // three stripes
    CHECK(l.scores == 512 * 4096 * 2 && l.factors == l.scores + 1728 * 4096 * 4);
    CHECK(l.bytes == l.factors + 1728 * 4);
    l = attention(&p, NINO_F16, 5000, 128, true);
    CHECK(l.form == NINO_ATTN_STRIPES && l.rows == 1728);
    p.schedule = schedule("generic");
    CHECK(attention(&p, NINO_F16, 5000, 128, true).form == NINO_ATTN_OWN);
}

// Keys are divided where blocks of queries leave processors idle, so that it ends sooner; a part of a batch as
// the whole.
static void test_key_parts(void)
{
    nino_profile p, few;
    CHECK_OK(nino_profile_load("gfx1151", &p, &err), err);
    CHECK(attention(&p, NINO_F16, 5000, 128, false).parts == 1); // 158 blocks for 20 processors
    const nino_attn_layout l = attention(&p, NINO_F16, 70, 128, false);
    CHECK(l.parts == 5 && l.part_keys == 26 * 32); // of 128 blocks of keys
    CHECK(l.bytes == (70 * 2 * 5 * 132 * 4 + 255) / 256 * 256);
    nino_op_desc d = { .op = NINO_OP_ATTENTION, .n_src = 3, .dst_type = NINO_F16 };
    d.attr.heads = 2;
    d.attr.scale = 1;
    for (int i = 0; i < 3; i++) {
        d.src[i] = NINO_SHAPE(1, i ? 4090 : 70, 256);
        d.src_type[i] = NINO_F16;
    }
    const double flops = nino_ops[d.op].flops(&d), bytes = 4e6;
    const double split = nino_sched_seconds(&p, &d, flops, bytes);
    few = p;
    few.units = 4; // as many as there are blocks: nothing to divide
    CHECK(nino_sched_attention(&few, &d).parts == 1);
    d.attr.is_causal = true;
    CHECK(nino_sched_attention(&p, &d).parts == 1); // its blocks see different numbers of keys
    d.src[0].dim[1] = 64;
    CHECK(nino_sched_attention(&p, &d).parts > 1); // decoding: all see nearly all
    d.attr.is_causal = false;
    d.src[0].dim[1] = 70;
    d.part = 1;
    d.whole = 64;
    CHECK(nino_sched_attention(&p, &d).parts == 1);
    CHECK(nino_sched_seconds(&p, &d, flops, bytes) > 1.5 * split);
    p.units = 0; // there is no clock model
    CHECK(attention(&p, NINO_F16, 70, 128, false).parts == 1);
}

static void test_packing(void)
{
    nino_profile p;
    nino_dtype type;
    CHECK_OK(nino_profile_load("pocl-cpu", &p, &err), err);
    nino_weight w = { .role = NINO_W_CONV3, .n = 65, .c = 17, .dtype = NINO_BF16 };
    CHECK(nino_sched_packed_bytes(&p, &w, &type) == 2 * 9 * 32 * 64 * 2 && type == NINO_BF16);
    w.dtype = NINO_F8_E4M3;
    CHECK(nino_sched_packed_bytes(&p, &w, &type) == 9952 && type == NINO_F8_E4M3);
    w.dtype = NINO_IQ2_XS; // 9945 values are 39 blocks
    CHECK(nino_sched_packed_bytes(&p, &w, &type) == 2896 + 1024 && type == NINO_IQ2_XS);
    w.dtype = NINO_F64;
    CHECK(nino_sched_packed_bytes(&p, &w, &type) == 2 * 9 * 32 * 64 * 4 && type == NINO_F32);
    p.weight_type = NINO_F16;
    nino_sched_packed_bytes(&p, &w, &type);
    CHECK(type == NINO_F16);
    CHECK(nino_sched_packed_bytes(&nino_profile_ref, &w, &type) == 65 * 9 * 17 * 4);
    w.role = NINO_W_VECTOR;
    w.c = 1;
    CHECK(nino_sched_packed_bytes(&p, &w, &type) == 128 * 4 && type == NINO_F32);

    enum { N = 65, T = 9, C = 17, CP = 32 };
    static float rows[N * T * C], panels[2 * T * CP * 64];
    for (int i = 0; i < N * T * C; i++)
        rows[i] = (float) (i + 1);
    memset(panels, 0xff, sizeof(panels));
    nino_pack_panels(rows, N, T, C, NINO_F32, panels);
    for (int j = 0; j < 2; j++)
        for (int t = 0; t < T; t++)
            for (int c = 0; c < CP; c++)
                for (int i = 0; i < 64; i++) {
                    const int n = j * 64 + i;
                    const float want = n < N && c < C ? rows[(n * T + t) * C + c] : 0;
                    CHECK(panels[((j * T + t) * CP + c) * 64 + i] == want);
                }
}

// A device's time is that of its fullest processor.
static void test_tiles(void)
{
    static const struct {
        int64_t rows, columns;
        int units, largest, tile_rows, tile_columns;
    } cases[] = {
        { 4096, 12288, 20, 0, 256, 128 }, // 77 rounds of 20 large tiles, nearly all full
        { 4096, 3072, 20, 0, 128, 128 },  // 39 of these end before 20 of the larger
        { 640, 1024, 20, 0, 128, 128 },   // 2 full rounds, in place of 1.2 of the larger
        { 256, 3072, 20, 0, 128, 64 },    // 4.8 rounds; 2.4 of the larger
        { 64, 1280, 20, 0, 64, 64 },      // nothing but padding
        { 1, 1, 20, 0, 64, 64 },          { 4096, 3072, 20, 2, 128, 128 }, // as told
        { 4096, 3072, 20, 4, 64, 64 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_profile p = nino_profile_ref;
        p.tuning.gemm_tile = cases[i].largest;
        const nino_tile t =
            nino_sched_tile(&p, NULL, cases[i].rows, cases[i].columns, (unsigned) cases[i].units);
        if (t.rows != cases[i].tile_rows || t.columns != cases[i].tile_columns) {
            fprintf(stderr, "%d x %d: %d x %d\n", (int) cases[i].rows, (int) cases[i].columns,
                    t.rows, t.columns);
            exit(1);
        }
        CHECK(t.rows % (16 * t.waves_along) == 0 && t.columns % (16 * t.waves_across) == 0);
    }
}

// Rows as files have them, each tap's channels filled up.
static void test_rows(void)
{
    nino_profile p;
    nino_dtype type;
    CHECK_OK(nino_profile_load("pocl-cpu", &p, &err), err);
    p.schedule = schedule("wmma");
    nino_weight w = { .role = NINO_W_MATRIX, .n = 128, .c = 48, .dtype = NINO_BF16 };
    CHECK(nino_sched_packed_bytes(&p, &w, &type) == 128 * 48 * 2 && type == NINO_BF16);
    CHECK(nino_pack_row_bytes(&p, &w) == 48 * 2);
    w = (nino_weight){ .role = NINO_W_CONV3, .n = 64, .c = 17, .dtype = NINO_F16 };
    CHECK(nino_sched_packed_bytes(&p, &w, &type) == 64 * 9 * 32 * 2 && type == NINO_F16);
    CHECK(nino_sched_operand(&p, NINO_F16) == NINO_F16);
    CHECK(nino_sched_operand(&p, NINO_F32) == NINO_F32);
    p.schedule = schedule("generic");
    CHECK(nino_sched_operand(&p, NINO_F16) == NINO_F32);
}

// Processors that multiply pairs of bf16: twice the products of a matrix in a second, and of nothing else.
static void test_dots(void)
{
    nino_profile p;
    CHECK_OK(nino_profile_load("pocl-cpu", &p, &err), err);
    p.peak_f32 = 1e11;
    p.bandwidth = p.launch_s = 0;
    nino_weight w = { .role = NINO_W_MATRIX, .n = 512, .c = 1024, .dtype = NINO_Q4_K };
    nino_op_desc d = { .op = NINO_OP_LINEAR,
                       .src = { NINO_SHAPE(4096, 1024) },
                       .n_src = 1,
                       .dst = NINO_SHAPE(4096, 512),
                       .weight = &w };
    for (int i = 0; i < 2; i++) {
        p.has_dots = i;
        d.op = NINO_OP_LINEAR;
        d.src_type[0] = d.dst_type = NINO_BF16;
        CHECK(nino_sched_operand(&p, NINO_BF16) == (i ? NINO_BF16 : NINO_F32));
        CHECK(nino_sched_operand(&p, NINO_F16) == NINO_F32);
        CHECK(nino_sched_operand(&p, NINO_F32) == NINO_F32);
        const double bf16 = nino_sched_seconds(&p, &d, 1e9, 0);
        CHECK(!nino_sched_expand(&p, &d).is_rows);
        d.src_type[0] = d.dst_type = NINO_F32;
        const double f32 = nino_sched_seconds(&p, &d, 1e9, 0);
        nino_op_desc a = { .op = NINO_OP_ATTENTION,
                           .attr = { .heads = 4 },
                           .src = { NINO_SHAPE(1, 100, 64), NINO_SHAPE(1, 100, 64),
                                    NINO_SHAPE(1, 100, 64) },
                           .n_src = 3,
                           .src_type = { NINO_BF16, NINO_BF16, NINO_BF16 },
                           .dst = NINO_SHAPE(1, 100, 64) };
        CHECK(nino_sched_has_dots(&p, &a) == i);
        CHECK(nino_sched_attention(&p, &a).bytes == 128 * 64 * (i ? 2 : 4));
        a.attr.heads = 64; // one channel
        CHECK(!nino_sched_has_dots(&p, &a));
        CHECK(f32 > 0 && fabs(bf16 / f32 - (i ? 0.5 : 1)) < 1e-9);
    }
}

// Few tiles and many channels are done in parts, by the profile alone; nothing else is.
static void test_split(void)
{
    static const struct {
        int rows, c, n, parts;
        nino_dtype act, weight;
    } cases[] = { { 32, 12288, 64, 8, NINO_F16, NINO_F16 },
                  { 17, 12288, 640, 2, NINO_BF16, NINO_Q4_K },
                  { 16, 12288, 64, 1, NINO_F16, NINO_F16 }, // another kernel
                  { 32, 12288, 64, 1, NINO_F32, NINO_F16 },
                  { 77, 768, 768, 1, NINO_F16, NINO_F16 },
                  { 4096, 3072, 3072, 1, NINO_F16, NINO_F16 } };
    nino_profile p;
    CHECK_OK(nino_profile_load("gfx1151", &p, &err), err);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_weight w = {
            .role = NINO_W_MATRIX, .n = cases[i].n, .c = cases[i].c, .dtype = cases[i].weight
        };
        nino_op_desc d = { .op = NINO_OP_LINEAR,
                           .weight = &w,
                           .src_type = { cases[i].act },
                           .dst = NINO_SHAPE(cases[i].rows, cases[i].n) };
        const nino_split s = nino_sched_split(&p, &d);
        if (s.parts != cases[i].parts)
            fprintf(stderr, "%d x %d: %d parts\n", cases[i].rows, cases[i].n, s.parts);
        CHECK(s.parts == cases[i].parts);
        CHECK(s.bytes >= (s.parts > 1 ? (size_t) (s.parts * cases[i].rows * cases[i].n) * 4 : 0));
        if (cases[i].act != NINO_F32)
            CHECK(nino_sched_workspace(&p, &d) == s.bytes);
    }
    p.units = 0; // nothing is known of it
    nino_weight w = { .role = NINO_W_MATRIX, .n = 64, .c = 12288, .dtype = NINO_F16 };
    const nino_op_desc d = {
        .op = NINO_OP_LINEAR, .weight = &w, .src_type = { NINO_F16 }, .dst = NINO_SHAPE(32, 64)
    };
    CHECK(nino_sched_split(&p, &d).parts == 1);
}

static void test_seconds(void)
{
    const nino_profile p = { .schedule = schedule("generic"),
                             .peak_f32 = 1e12,
                             .peak_f16 = 4e12,
                             .bandwidth = 1e11,
                             .launch_s = 1e-5,
                             .efficiency_gemm = 0.5 };
    nino_op_desc d = { .op = NINO_OP_LINEAR, .src_type = { NINO_F16 } };
    CHECK(fabs(nino_sched_seconds(&p, &d, 1e12, 1e3) - (2 + 1e-5)) < 1e-9); // arithmetic bounds it
    CHECK(fabs(nino_sched_seconds(&p, &d, 1e3, 1e11) - (1 + 1e-5)) < 1e-9); // memory bounds it
    nino_profile w = p;
    const nino_sched matrix = { .name = "matrix", .has_matrix = true };
    w.schedule = &matrix; // matrix instructions: four times the peak
    CHECK(fabs(nino_sched_seconds(&w, &d, 1e12, 1e3) - (0.5 + 1e-5)) < 1e-9);
    CHECK(nino_sched_seconds(&nino_profile_ref, &d, 1e12, 1e3) == 0);
    w.bandwidth = 0; // not known
    CHECK(fabs(nino_sched_seconds(&w, &d, 1e12, 1e15) - (0.5 + 1e-5)) < 1e-9);
}

// By time, but for work-groups: at least four for each compute unit.
// Of the clock model: what a call takes of the f16 peak, and of f32's where it computes so.
static double reached(const nino_profile *p, nino_op_id op, nino_dtype type, nino_dtype weight,
                      int64_t rows, int64_t c, int64_t n)
{
    const nino_weight w = { .role = NINO_W_MATRIX, .n = n, .c = c, .dtype = weight };
    nino_op_desc d = { .op = op, .n_src = 1, .weight = &w, .src_type = { type } };
    d.src[0] = NINO_SHAPE(rows, c);
    d.dst = NINO_SHAPE(rows, n);
    if (op == NINO_OP_ATTENTION) { // c channels a head, n heads
        d.weight = NULL;
        d.n_src = 3;
        d.attr.heads = (int) n;
        d.attr.scale = 1;
        for (int i = 0; i < 3; i++) {
            d.src[i] = d.dst = NINO_SHAPE(1, rows, c * n);
            d.src_type[i] = type;
        }
    }
    const double flops = nino_ops[op].flops(&d);
    return flops / (nino_sched_seconds(p, &d, flops, 0) - p->launch_s);
}

static void test_clocks(void)
{
    nino_profile p;
    CHECK_OK(nino_profile_load("gfx1151", &p, &err), err);
    const double best = p.peak_f16 * p.efficiency_gemm;
    const double f16 = reached(&p, NINO_OP_LINEAR, NINO_F16, NINO_F16, 4608, 3072, 12288);
    const double q4 = reached(&p, NINO_OP_LINEAR, NINO_F16, NINO_Q4_K, 4608, 3072, 12288);
    const double f32 = reached(&p, NINO_OP_LINEAR, NINO_F32, NINO_F16, 4608, 3072, 12288);
    const double few = reached(&p, NINO_OP_LINEAR, NINO_F16, NINO_F16, 65, 3072, 128);
    CHECK(f16 > 0.85 * best && f16 < 0.95 * best);
    CHECK(q4 < 0.99 * f16 && q4 > 0.9 * f16); // decoded as it is multiplied
    CHECK(f32 < 0.4 * f16);                   // no matrix instructions
    CHECK(few < 0.1 * f16);                   // most processors have no tile
    const double fused = reached(&p, NINO_OP_ATTENTION, NINO_BF16, NINO_F32, 4608, 128, 24);
    const double wide = reached(&p, NINO_OP_ATTENTION, NINO_F16, NINO_F32, 16384, 512, 1);
    CHECK(fused > 0.8 * p.peak_f16 * p.efficiency_attn && fused < p.peak_f16 * p.efficiency_attn);
    CHECK(wide < fused); // its scores go through memory
    CHECK(wide < (double) 4 * 512 / 16 * p.bandwidth);
    p.is_measured = true;
    CHECK(fabs(reached(&p, NINO_OP_LINEAR, NINO_F16, NINO_Q4_K, 4608, 3072, 12288) - best) <
          1e-3 * best);
}

static void test_pieces(void)
{
    CHECK(nino_sched_pieces(0, 1000, 10) == 1 && nino_sched_pieces(0.05, 1000, 10) == 1);
    CHECK(nino_sched_pieces(0.051, 1000, 10) == 2 && nino_sched_pieces(0.5, 1000, 10) == 10);
    CHECK(nino_sched_pieces(60, 1000, 10) == 25 && nino_sched_pieces(1e300, 1000, 10) == 25);
    CHECK(nino_sched_pieces(60, 39, 10) == 1 && nino_sched_pieces(60, 79, 10) == 1);
    CHECK(nino_sched_pieces(60, 80, 10) == 2 && nino_sched_pieces(60, 80, 0) == 20);
}

// Only of what a profile lacks.
static void test_estimate(void)
{
    nino_profile p;
    CHECK_OK(nino_profile_load("generic-gpu", &p, &err), err);
    CHECK(p.peak_f32 == 0);
    nino_profile_estimate(&p, 40, 2900, 64);
    CHECK(p.peak_f32 == 14.848e12 && p.bandwidth == 0);
    CHECK_OK(nino_profile_load("gfx1151", &p, &err), err);
    nino_profile_estimate(&p, 1, 1, 1);
    CHECK(p.peak_f32 == 29.7e12);
    p.peak_f32 = 0;
    nino_profile_estimate(&p, 0, 0, 0);
    CHECK(p.peak_f32 == 128e9);
}

int main(void)
{
    test_schedules();
    test_profiles();
    test_find();
    test_winograd();
    test_workspaces();
    test_packing();
    test_expand();
    test_expand_rows();
    test_attention();
    test_key_parts();
    test_split();
    test_seconds();
    test_clocks();
    test_tiles();
    test_rows();
    test_dots();
    test_pieces();
    test_estimate();
    return 0;
}
