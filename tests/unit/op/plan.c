// The plan backend: FLOPs against an independent count, peak and scopes against a run on ref.
#include "core/op/device/device.h"
#include "core/op/plan/plan.h"
#include "tests/test.h"

static nino_error err;

static nino_weight *weight(nino_shape shape, nino_weight_role role)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = (float) (i % 7) * 0.01f;
    nino_weight *w = nino_weight_from_array(a, role);
    CHECK(w);
    nino_array_unref(&a);
    return w;
}

static nino_conv conv(int64_t in, int64_t out)
{
    return (nino_conv){ .w = weight(NINO_SHAPE(out, in, 3, 3), NINO_W_CONV3),
                        .b = weight(NINO_SHAPE(out), NINO_W_VECTOR) };
}

typedef struct model {
    nino_conv in, up, out;
    nino_norm norm;
    nino_linear q, proj;
} model;

static model make_model(void)
{
    model m = { .in = conv(4, 48), .up = conv(48, 32), .out = conv(32, 3) };
    m.up.upsample2x = true;
    m.norm = (nino_norm){ .gamma = weight(NINO_SHAPE(48), NINO_W_VECTOR),
                          .beta = weight(NINO_SHAPE(48), NINO_W_VECTOR),
                          .groups = 8,
                          .eps = 1e-6f };
    m.q.w = weight(NINO_SHAPE(48, 48), NINO_W_MATRIX);
    m.proj.w = weight(NINO_SHAPE(48, 48), NINO_W_MATRIX);
    return m;
}

static void free_model(model *m)
{
    nino_conv_release(&m->in);
    nino_conv_release(&m->up);
    nino_conv_release(&m->out);
    nino_norm_release(&m->norm);
    nino_linear_release(&m->q);
    nino_linear_release(&m->proj);
}

enum { H = 9, W = 7 };

static nino_array *run(nino_backend *be, const model *m, bool *is_plan)
{
    const nino_stream_params p = { .backend = be };
    nino_stream *s = nino_stream_create(&p, &err);
    CHECK(s);
    *is_plan = nino_stream_is_plan(s);
    nino_array *z = nino_array_create(NINO_F32, NINO_SHAPE(2, H, W, 4));
    for (int64_t i = 0; i < nino_shape_count(&z->shape); i++)
        nino_array_f32(z)[i] = (float) (i % 5) - 2;

    nino_scope_begin(s, NINO_EV_NODE, "8 VAEDecode", 0, 1);
    nino_scope_begin(s, NINO_EV_STAGE, "mid", 0, 0);
    nino_tensor *x = nino_conv2d(s, nino_upload(s, z, nino_stream_act_type(s)), &m->in);
    nino_tensor *skip = nino_ref(x);
    x = nino_group_norm_silu(s, x, &m->norm);
    x = nino_reshape(s, x, NINO_SHAPE(2, H * W, 48));
    nino_tensor *q = nino_linear_op(s, nino_ref(x), &m->q);
    x = nino_attention(s, q, nino_ref(x), x, 3, 0);
    skip = nino_reshape(s, skip, NINO_SHAPE(2, H * W, 48));
    x = nino_linear_add(s, x, &m->proj, skip);
    x = nino_reshape(s, x, NINO_SHAPE(2, H, W, 48));
    nino_scope_end(s);
    nino_scope_begin(s, NINO_EV_STAGE, "up", 0, 0);
    x = nino_conv2d(s, x, &m->up);
    x = nino_conv2d(s, x, &m->out);
    nino_scope_end(s);
    nino_scope_end(s);

    nino_array_unref(&z);
    CHECK_OK(nino_stream_status(s, &err), err);
    nino_array *y = nino_download(s, x, NINO_F32);
    CHECK(y);
    nino_stream_destroy(&s);
    return y;
}

// What a person would write down for the same model.
static double count_flops(double *mid)
{
    const double p = 2.0 * H * W;
    const double in = 2 * p * 4 * 48 * 9, linear = 2 * p * 48 * 48;
    const double attention = 2 * (2.0 * 3 * (H * W) * (H * W) * 16 * 2); // batches (heads QK, PV)
    const double up = 2 * 4 * p * 48 * 32 * 9, out = 2 * 4 * p * 32 * 3 * 9;
    *mid = in + 2 * linear + attention;
    return *mid + up + out;
}

static void test_same_as_ref(const model *m)
{
    nino_backend *ref = nino_ref_open(0, NULL, &err);
    nino_backend *plan = nino_plan_open(&nino_profile_ref, 0, NULL, &err);
    CHECK(ref && plan);
    bool is_plan;
    nino_array *a = run(ref, m, &is_plan);
    CHECK(!is_plan);
    nino_array *b = run(plan, m, &is_plan);
    CHECK(is_plan);
    CHECK(nino_shape_equal(&a->shape, &b->shape));
    CHECK(b->shape.dim[1] == 2 * H && b->shape.dim[3] == 3);
    double sum = 0;
    for (int64_t i = 0; i < nino_shape_count(&b->shape); i++)
        CHECK(nino_array_f32(b)[i] == 0);
    for (int64_t i = 0; i < nino_shape_count(&a->shape); i++)
        sum += nino_array_f32(a)[i];
    CHECK(sum != 0);

    nino_mem_stat mr, mp;
    nino_pool_stat(ref->pool, &mr);
    nino_pool_stat(plan->pool, &mp);
    CHECK(mr.peak == mp.peak && mr.in_use == mp.in_use && mr.reserved == mp.reserved);
    for (int i = 0; i < NINO_OWN_COUNT; i++)
        CHECK(mr.peak_by_owner[i] == mp.peak_by_owner[i]);
    CHECK(mr.allocs == mp.allocs && mr.hits == mp.hits);
    CHECK(plan->flops == ref->flops && plan->bytes == ref->bytes && plan->n_ops == ref->n_ops);

    // Norms and the like count on top of the products; they are the only inexact ones.
    double mid;
    const double norm = 10.0 * 2 * H * W * 48, all = count_flops(&mid);
    CHECK(plan->flops == all + norm);

    size_t n;
    const nino_plan_scope *sc = nino_plan_backend_scopes(plan, &n);
    CHECK(n == 3 && sc[0].depth == 0 && sc[1].depth == 1 && sc[2].depth == 1);
    CHECK_STR(sc[1].name, "8 VAEDecode / mid");
    CHECK_STR(sc[2].name, "8 VAEDecode / up");
    CHECK(sc[1].flops == mid + norm && sc[0].flops == all + norm);
    CHECK(sc[0].kernels == 7 && sc[1].kernels == 5 && sc[2].kernels == 2);
    CHECK(sc[0].bytes == sc[1].bytes + sc[2].bytes && sc[0].seconds == 0);
    CHECK(sc[0].peak_bytes == mp.peak && sc[1].peak_bytes < mp.peak && sc[1].peak_bytes > 0);
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_backend_close(&ref);
    nino_backend_close(&plan);
}

// The device of this machine: its workspaces and weights, too, are as planned.
static void test_same_as_device(const model *m)
{
    const nino_ctx_params params = { NINO_CTX_PARAMS_INIT, .cache_dir = "" };
    nino_backend *be = nino_device_open(NULL, &params, NULL, &err);
    if (!be)
        CHECK_OK(err.code, err);
    nino_backend *plan = nino_plan_open(&be->profile, 0, NULL, &err);
    bool is_plan;
    nino_array *a = run(be, m, &is_plan), *b = run(plan, m, &is_plan);
    nino_mem_stat mb, mp;
    nino_pool_stat(be->pool, &mb);
    nino_pool_stat(plan->pool, &mp);
    CHECK(mb.peak == mp.peak && mb.in_use == mp.in_use);
    for (int i = 0; i < NINO_OWN_COUNT; i++)
        CHECK(mb.peak_by_owner[i] == mp.peak_by_owner[i]);
    CHECK(be->flops == plan->flops && be->n_ops == plan->n_ops);
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_backend_close(&plan);
    nino_backend_close(&be);
}

// Another device: other workspaces, predicted time, a budget.
static void test_device(const model *m)
{
    nino_profile p;
    CHECK_OK(nino_profile_load("gfx1151", &p, &err), err);
    nino_backend *be = nino_plan_open(&p, 0, NULL, &err);
    bool is_plan;
    nino_array *a = run(be, m, &is_plan);
    nino_mem_stat s;
    nino_pool_stat(be->pool, &s);
    CHECK(s.peak_by_owner[NINO_OWN_WORKSPACE] > 0);
    CHECK(nino_plan_backend_seconds(be) >= 7 * p.launch_s);
    nino_array_unref(&a);
    nino_backend_close(&be);

    be = nino_plan_open(&p, 4096, NULL, &err);
    const nino_stream_params sp = { .backend = be };
    nino_stream *st = nino_stream_create(&sp, &err);
    nino_unref(nino_zeros(st, NINO_SHAPE(1024, 1024), NINO_F32));
    CHECK(nino_stream_status(st, &err) == NINO_ERR_NOMEM);
    nino_stream_destroy(&st);
    nino_backend_close(&be);
}

// Quantised weights are planned at their blocks' size whatever precision a node asks for, and need
// no copy of another type: on a GPU nothing beside them, on a processor a few panels.
static void check_quantised(const char *device, nino_dtype type, nino_dtype precision)
{
    nino_profile profile;
    nino_mem_stat m;
    CHECK_OK(nino_profile_load(device, &profile, &err), err);
    profile.weight_type = precision;
    nino_backend *be = nino_plan_open(&profile, 0, NULL, &err);
    nino_stream *s = be ? nino_stream_create(&(nino_stream_params){ .backend = be }, &err) : NULL;
    nino_array *a = nino_array_create(type, NINO_SHAPE(4096, 2048));
    nino_array *x = nino_array_create(NINO_F32, NINO_SHAPE(512, 2048));
    CHECK(s && a && x);
    nino_linear l = { .w = nino_weight_from_array(a, NINO_W_MATRIX) };
    CHECK(l.w);
    nino_unref(nino_linear_op(s, nino_upload(s, x, nino_stream_act_type(s)), &l));
    CHECK_OK(nino_stream_status(s, &err), err);
    nino_pool_stat(be->pool, &m);
    CHECK(m.peak_by_owner[NINO_OWN_WEIGHTS] >= a->bytes);
    CHECK(m.peak_by_owner[NINO_OWN_WEIGHTS] <= a->bytes + a->bytes * 3 / 100);
    const uint64_t room = profile.schedule->decode_rows ? 8 << 20 : 0;
    CHECK(m.peak_by_owner[NINO_OWN_WORKSPACE] <= room);
    nino_stream_destroy(&s);
    nino_linear_release(&l);
    nino_backend_close(&be);
    nino_array_unref(&a);
    nino_array_unref(&x);
}

static void test_quantised(void)
{
    static const char *const devices[] = { "pocl-cpu", "gfx1151" };
    static const nino_dtype types[] = { NINO_Q8_0,    NINO_Q4_K,    NINO_IQ2_XS,
                                        NINO_F8_E4M3, NINO_F8_E5M2, NINO_I8 };
    static const nino_dtype precisions[] = { NINO_F32, NINO_F16, NINO_BF16 };
    for (int d = 0; d < 2; d++)
        for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
            for (int p = 0; p < 3; p++)
                check_quantised(devices[d], types[t], precisions[p]);
}

// Ops that heads of a linear layer are on a device of that profile.
static int ops_of_heads(const nino_profile *p, int64_t rows, int heads, int64_t depth,
                        bool is_mixed)
{
    const int64_t n = heads * depth, c = 64;
    nino_linear l = { .w = weight(NINO_SHAPE(n, c), NINO_W_MATRIX) };
    nino_norm norm = { .gamma = weight(NINO_SHAPE(depth), NINO_W_VECTOR), .groups = heads };
    nino_array *x = nino_array_create(NINO_F32, NINO_SHAPE(1, rows, c));
    nino_array *t = nino_array_create(NINO_F32, NINO_SHAPE(rows, depth));
    nino_backend *be = nino_plan_open(p, 0, NULL, &err);
    CHECK(x && t && be);
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = be,
                               .precision = is_mixed ? NINO_PREC_MIXED : NINO_PREC_AUTO },
        &err);
    CHECK(s);
    nino_tensor *in = nino_upload(s, x, NINO_F16), *table = nino_upload(s, t, NINO_F32);
    const uint64_t before = be->n_ops;
    nino_tensor *y = nino_linear_heads(s, in, &l, &norm, table);
    CHECK(nino_dim(y, 1) == rows && nino_dim(y, 2) == n);
    const int ops = (int) (be->n_ops - before);
    nino_unref(y);
    CHECK_OK(nino_stream_status(s, &err), err);
    nino_stream_destroy(&s);
    nino_linear_release(&l);
    nino_norm_release(&norm);
    nino_backend_close(&be);
    nino_array_unref(&x);
    nino_array_unref(&t);
    return ops;
}

// Norm and angles of heads are the end of the product where a tile has whole heads.
static void test_heads(void)
{
    nino_profile p;
    CHECK_OK(nino_profile_load("gfx1151", &p, &err), err);
    CHECK(ops_of_heads(&p, 4608, 24, 128, false) == 1); // FLUX
    CHECK(ops_of_heads(&p, 4096, 24, 64, false) == 1);  // SD3.5
    CHECK(ops_of_heads(&p, 4096, 24, 96, false) == 3);
    CHECK(ops_of_heads(&p, 16, 24, 128, false) == 3); // few rows: another kernel
    CHECK(ops_of_heads(&p, 4608, 24, 128, true) > 1); // what lies between has another type
    p.tuning.gemm_tile = 3;                           // of 64 columns
    CHECK(ops_of_heads(&p, 4608, 24, 128, false) == 3);
    CHECK_OK(nino_profile_load("generic-gpu", &p, &err), err);
    CHECK(ops_of_heads(&p, 4608, 24, 128, false) == 3);
}

int main(void)
{
    test_heads();
    test_quantised();
    model m = make_model();
    test_same_as_ref(&m);
    test_same_as_device(&m);
    test_device(&m);
    free_model(&m);
    return 0;
}
