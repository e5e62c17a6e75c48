// The reference ops against PyTorch's results and against formulas written out here.
#include "core/op/backend.h"
#include "tests/test.h"
#include "tests/unit/op/torch_values.h"

#include <float.h>
#include <math.h>

static nino_error err;
static nino_backend *be;
static nino_stream *s;

#define COUNT(a) ((int64_t) (sizeof(a) / sizeof((a)[0])))

// The pattern torch_values.h was made from.
static nino_array *pattern(nino_shape shape, int a, int b, int m)
{
    nino_array *x = nino_array_create(NINO_F32, shape);
    CHECK(x);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(x)[i] = (float) ((double) ((i * a + b) % m) / m * 2 - 1);
    return x;
}

static nino_tensor *input(nino_shape shape, int a, int b, int m)
{
    nino_array *x = pattern(shape, a, b, m), *y = nino_array_to_channels_last(x);
    nino_tensor *t = nino_upload(s, y, NINO_F32);
    CHECK(t);
    nino_array_unref(&x);
    nino_array_unref(&y);
    return t;
}

static nino_weight *weight(nino_array *a, nino_weight_role role)
{
    nino_weight *w = nino_weight_from_array(a, role);
    CHECK(w);
    nino_array_unref(&a);
    return w;
}

// Consumes t.
static void check_values(nino_tensor *t, const float *want, int64_t n, double tol)
{
    CHECK_OK(nino_stream_status(s, &err), err);
    CHECK(nino_shape_count(nino_shape_of(t)) == n);
    nino_array *a = nino_download(s, t, NINO_F32);
    CHECK(a);
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double) nino_array_f32(a)[i] - want[i]) <= tol)) {
            fprintf(stderr, "value %lld is %.9g, expected %.9g\n", (long long) i,
                    (double) nino_array_f32(a)[i], (double) want[i]);
            CHECK(!"values agree");
        }
    nino_array_unref(&a);
}

static void test_conv(void)
{
    nino_array *bias = nino_array_create(NINO_F32, NINO_SHAPE(2));
    nino_array_f32(bias)[0] = 0.5f;
    nino_array_f32(bias)[1] = -0.25f;
    nino_conv c = { .w = weight(pattern(NINO_SHAPE(2, 3, 3, 3), 11, 1, 29), NINO_W_CONV3),
                    .b = weight(bias, NINO_W_VECTOR) };
    const nino_shape x = NINO_SHAPE(1, 3, 5, 4);
    check_values(nino_conv2d(s, input(x, 7, 3, 23), &c), conv_same, COUNT(conv_same), 1e-6);
    c.stride = 2;
    check_values(nino_conv2d(s, input(x, 7, 3, 23), &c), conv_stride2, COUNT(conv_stride2), 1e-6);
    c.pad = NINO_PAD_END;
    check_values(nino_conv2d(s, input(x, 7, 3, 23), &c), conv_end, COUNT(conv_end), 1e-6);
    c.stride = 1;
    c.pad = NINO_PAD_SAME;
    c.upsample2x = true;
    check_values(nino_conv2d(s, input(x, 7, 3, 23), &c), conv_up, COUNT(conv_up), 1e-6);

    // Residual, then activation, in that order: relu(conv + r).
    c.upsample2x = false;
    c.act = NINO_ACT_RELU;
    const nino_shape y = NINO_SHAPE(1, 2, 5, 4);
    nino_array *r0 = pattern(y, 5, 0, 13), *r = nino_array_to_channels_last(r0);
    float want[COUNT(conv_same)];
    for (int64_t i = 0; i < COUNT(conv_same); i++)
        want[i] = fmaxf(conv_same[i] + nino_array_f32(r)[i], 0);
    check_values(nino_conv2d_add(s, input(x, 7, 3, 23), &c, input(y, 5, 0, 13)), want,
                 COUNT(conv_same), 1e-6);
    nino_array_unref(&r0);
    nino_array_unref(&r);
    nino_conv_release(&c);
}

// Sizes of the asymmetric downsample: floor((n + 1 - 3) / 2) + 1 = floor(n / 2).
static void test_conv_sizes(void)
{
    nino_conv c = { .w = weight(pattern(NINO_SHAPE(1, 1, 3, 3), 1, 1, 5), NINO_W_CONV3),
                    .stride = 2,
                    .pad = NINO_PAD_END };
    for (int64_t n = 2; n < 12; n++) {
        nino_tensor *t = nino_conv2d(s, input(NINO_SHAPE(1, 1, n, n + 3), 1, 0, 7), &c);
        CHECK(nino_dim(t, 1) == n / 2 && nino_dim(t, 2) == (n + 3) / 2);
        nino_unref(t);
    }
    c.pad = NINO_PAD_NONE;
    nino_tensor *t = nino_conv2d(s, input(NINO_SHAPE(1, 1, 2, 9), 1, 0, 7), &c);
    CHECK(!t && nino_stream_status(s, &err) == NINO_ERR_ARG);
    CHECK_STR(err.where, "conv2d");
    nino_stream_clear_error(s);
    nino_conv_release(&c);
}

static void test_linear(void)
{
    nino_linear l = { .w = weight(pattern(NINO_SHAPE(5, 3), 3, 1, 7), NINO_W_MATRIX) };
    nino_array *x = pattern(NINO_SHAPE(2, 3), 5, 2, 11);
    const float *w = l.w->data->data, *v = nino_array_f32(x);
    float want[10];
    for (int r = 0; r < 2; r++)
        for (int n = 0; n < 5; n++)
            want[r * 5 + n] =
                v[r * 3] * w[n * 3] + v[r * 3 + 1] * w[n * 3 + 1] + v[r * 3 + 2] * w[n * 3 + 2];
    check_values(nino_linear_op(s, nino_upload(s, x, NINO_F32), &l), want, 10, 1e-6);
    nino_tensor *bad = nino_linear_op(s, input(NINO_SHAPE(2, 4), 1, 0, 3), &l);
    CHECK(!bad && nino_stream_status(s, &err) == NINO_ERR_ARG);
    CHECK(strstr(err.msg, "2x4"));
    nino_stream_clear_error(s);
    nino_array_unref(&x);
    nino_linear_release(&l);
}

static void test_norm(void)
{
    nino_norm n = { .gamma = weight(pattern(NINO_SHAPE(6), 3, 1, 7), NINO_W_VECTOR),
                    .beta = weight(pattern(NINO_SHAPE(6), 2, 2, 9), NINO_W_VECTOR),
                    .groups = 3,
                    .eps = 1e-5f };
    const nino_shape x = NINO_SHAPE(2, 6, 3, 2);
    check_values(nino_group_norm(s, input(x, 5, 2, 17), &n, NINO_ACT_NONE), group_norm,
                 COUNT(group_norm), 1e-5);
    check_values(nino_group_norm_silu(s, input(x, 5, 2, 17), &n), group_norm_silu,
                 COUNT(group_norm_silu), 1e-5);
    nino_norm_release(&n);
}

static void test_attention(void)
{
    nino_tensor *y = nino_attention(s, input(NINO_SHAPE(2, 3, 8), 3, 1, 19),
                                    input(NINO_SHAPE(2, 5, 8), 7, 2, 21),
                                    input(NINO_SHAPE(2, 5, 8), 5, 3, 11), 2, 0);
    check_values(y, attention, COUNT(attention), 1e-6);
    // softmax(2x) with large numbers does not overflow.
    const float values[] = { 400, 401, 399 }, want[] = { 0.1173104f, 0.8668133f, 0.01587624f };
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, 3));
    memcpy(a->data, values, sizeof(values));
    check_values(nino_softmax(s, nino_upload(s, a, NINO_F32), 2), want, 3, 1e-6);
    nino_array_unref(&a);
}

static void test_activations(void)
{
    static const float x[] = { -6, -2.5f, -1, -0.3f, 0, 0.2f, 0.9f, 3, 7 };
    static const struct {
        nino_act act;
        const float *want;
    } cases[] = { { NINO_ACT_NONE, x },
                  { NINO_ACT_RELU, act_relu },
                  { NINO_ACT_SILU, act_silu },
                  { NINO_ACT_GELU, act_gelu },
                  { NINO_ACT_GELU_TANH, act_gelu_tanh },
                  { NINO_ACT_QUICK_GELU, act_quick_gelu },
                  { NINO_ACT_SIGMOID, act_sigmoid },
                  { NINO_ACT_TANH, act_tanh },
                  { NINO_ACT_TANH3, act_tanh3 },
                  { NINO_ACT_CLAMP01, act_clamp01 },
                  { NINO_ACT_LEAKY, act_leaky } };
    CHECK(COUNT(cases) == NINO_ACT_COUNT);
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(9));
    memcpy(a->data, x, sizeof(x));
    for (int i = 0; i < NINO_ACT_COUNT; i++)
        check_values(nino_act_op(s, nino_upload(s, a, NINO_F32), cases[i].act), cases[i].want, 9,
                     1e-6);
    nino_array_f32(a)[0] = NAN; // a NaN is never hidden
    for (int i = 0; i < NINO_ACT_COUNT; i++) {
        nino_array *y =
            nino_download(s, nino_act_op(s, nino_upload(s, a, NINO_F32), (nino_act) i), NINO_F32);
        CHECK(isnan(nino_array_f32(y)[0]));
        nino_array_unref(&y);
    }
    nino_array_unref(&a);
}

// A slope a channel: 0 is a ReLU, 1 nothing; a NaN stays one.
static void test_prelu(void)
{
    static const float x[] = { -2, -2, -2, 3, 3, 3, 0, -0.5f, NAN }, slope[] = { 0, 1, -0.25f };
    static const float want[] = { 0, -2, 0.5f, 3, 3, 3, 0, -0.5f };
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, 3, 3));
    nino_array *b = nino_array_create(NINO_F32, NINO_SHAPE(3));
    memcpy(a->data, x, sizeof(x));
    memcpy(b->data, slope, sizeof(slope));
    nino_weight *w = weight(b, NINO_W_VECTOR);
    nino_array *y = nino_download(s, nino_prelu(s, nino_upload(s, a, NINO_F32), w), NINO_F32);
    CHECK(y);
    for (int i = 0; i < 8; i++)
        CHECK(fabsf(nino_array_f32(y)[i] - want[i]) < 1e-7f);
    CHECK(isnan(nino_array_f32(y)[8]));
    nino_array_unref(&y);
    y = nino_download(s, nino_prelu(s, input(NINO_SHAPE(2, 4), 1, 0, 3), w), NINO_F32);
    CHECK(!y && nino_stream_status(s, &err) == NINO_ERR_ARG); // four channels, three slopes
    nino_stream_clear_error(s);
    nino_weight_destroy(&w);
    nino_array_unref(&a);
}

static float at(const nino_array *a, int64_t i) { return nino_array_f32(a)[i]; }

static void test_moves(void)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(2, 3, 4));
    for (int i = 0; i < 24; i++)
        nino_array_f32(a)[i] = (float) i;
    nino_tensor *x = nino_upload(s, a, NINO_F16);
    const int perm[] = { 2, 0, 1 };
    nino_array *p = nino_download(s, nino_permute(s, nino_ref(x), perm), NINO_F32);
    CHECK(p->shape.dim[0] == 4 && p->shape.dim[1] == 2 && p->shape.dim[2] == 3);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 3; k++)
                CHECK(at(p, (i * 2 + j) * 3 + k) == (float) (j * 12 + k * 4 + i));
    nino_array_unref(&p);

    nino_array *c = nino_download(s, nino_slice(s, nino_ref(x), 1, 1, 2), NINO_F32);
    CHECK(c->shape.dim[1] == 2 && at(c, 0) == 4 && at(c, 7) == 11 && at(c, 8) == 16);
    nino_array_unref(&c);
    c = nino_download(s, nino_slice(s, nino_ref(x), -1, 3, 1), NINO_F32);
    CHECK(c->shape.dim[2] == 1 && at(c, 0) == 3 && at(c, 5) == 23);
    nino_array_unref(&c);

    nino_tensor *left = nino_slice(s, nino_ref(x), 2, 0, 1), *right = nino_slice(s, x, 2, 1, 3);
    c = nino_download(s, nino_concat(s, left, right, 2), NINO_F32); // what was cut, joined again
    for (int i = 0; i < 24; i++)
        CHECK(at(c, i) == (float) i);
    nino_array_unref(&c);

    x = nino_cast(s, nino_upload(s, a, NINO_F32), NINO_BF16);
    CHECK(nino_dtype_of(x) == NINO_BF16);
    c = nino_download(s, nino_cast(s, x, NINO_F32), NINO_F32);
    CHECK(at(c, 23) == 23);
    nino_array_unref(&c);
    CHECK_OK(nino_stream_status(s, &err), err);

    static const struct {
        int axis;
        int64_t start, len;
    } bad[] = { { 3, 0, 1 }, { -4, 0, 1 }, { 1, 2, 2 }, { 1, -1, 2 }, { 1, 0, 0 }, { 1, 1, 3 } };
    for (int i = 0; i < 6; i++) {
        x = nino_slice(s, nino_upload(s, a, NINO_F32), bad[i].axis, bad[i].start, bad[i].len);
        CHECK(!x && nino_stream_status(s, &err) == NINO_ERR_ARG);
        nino_stream_clear_error(s);
    }
    nino_array_unref(&a);
}

static void test_arithmetic(void)
{
    const float x[] = { 1.5f, -2, 0.25f }, sum[] = { 2, -4, 0.5f }, scaled[] = { 2, -5, -0.5f };
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(3));
    memcpy(a->data, x, sizeof(x));
    nino_tensor *t = nino_upload(s, a, NINO_F32);
    check_values(nino_scale(s, nino_ref(t), 2, -1), scaled, 3, 0);
    nino_array_f32(a)[0] = 0.5f;
    check_values(nino_add(s, t, nino_upload(s, a, NINO_F32)), sum, 3, 0);
    nino_array_unref(&a);
}

static nino_array *counted(nino_shape shape, float first, float step)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = first + step * (float) i;
    return a;
}

// Consumes a.
static nino_tensor *upload(nino_array *a)
{
    nino_tensor *t = nino_upload(s, a, NINO_F32);
    nino_array_unref(&a);
    return t;
}

// Of 1, 2, 3, 4 the mean is 2.5, the variance 1.25 and the mean square 7.5.
static void test_row_norms(void)
{
    static const float z[] = { -1.3416408f, -0.4472136f, 0.4472136f, 1.3416408f };
    static const float r[] = { 0.3651484f, 0.7302967f, 1.0954451f, 1.4605935f };
    nino_norm n = { 0 };
    float want[8];
    for (int i = 0; i < 8; i++) // the second row is the first plus 4
        want[i] = z[i % 4];
    check_values(nino_layer_norm(s, upload(counted(NINO_SHAPE(2, 4), 1, 1)), &n), want, 8, 1e-6);
    n.gamma = weight(counted(NINO_SHAPE(4), 2, 0), NINO_W_VECTOR);
    n.beta = weight(counted(NINO_SHAPE(4), 0, 0.5f), NINO_W_VECTOR);
    for (int i = 0; i < 8; i++)
        want[i] = 2 * z[i % 4] + 0.5f * (float) (i % 4);
    check_values(nino_layer_norm(s, upload(counted(NINO_SHAPE(1, 2, 4), 1, 1)), &n), want, 8, 1e-6);
    for (int i = 0; i < 8; i++) // scale 1, 2, 3, 4 and shift 10, 20, .. of each batch item
        want[i] = want[i] * (float) (2 + i) + (float) (10 + 10 * i);
    check_values(nino_layer_norm_mod(s, upload(counted(NINO_SHAPE(2, 1, 4), 1, 1)), &n,
                                     upload(counted(NINO_SHAPE(2, 4), 1, 1)),
                                     upload(counted(NINO_SHAPE(2, 4), 10, 10))),
                 want, 8, 1e-4);
    for (int i = 0; i < 4; i++)
        want[i] = 2 * r[i];
    check_values(nino_rms_norm(s, upload(counted(NINO_SHAPE(1, 4), 1, 1)), &n), want, 4, 1e-6);
    nino_norm_release(&n);
    n = (nino_norm){ .groups = 2, .eps = 0.25f }; // 1, 2 and 3, 4
    for (int i = 0; i < 4; i++)
        want[i] = (float) ((i + 1) / sqrt(i < 2 ? 2.75 : 12.75));
    check_values(nino_rms_norm(s, upload(counted(NINO_SHAPE(1, 4), 1, 1)), &n), want, 4, 1e-6);
}

static void test_broadcast(void)
{
    static const float by_item[] = { 10, 22, 12, 24, 36, 48, 38, 50 };
    static const float by_channel[] = { 10, 22, 12, 24, 14, 26, 16, 28 };
    static const float by_position[] = { 10, 21, 32, 43, 14, 25, 36, 47 };
    static const float gated[] = { 0, 2, 2, 6, 12, 20, 18, 28 };
    const nino_shape v = NINO_SHAPE(2, 2, 2); // 0, 1 .. 7
    check_values(nino_add(s, upload(counted(v, 0, 1)), upload(counted(NINO_SHAPE(2, 2), 10, 11))),
                 by_item, 8, 0);
    check_values(nino_add(s, upload(counted(v, 0, 1)), upload(counted(NINO_SHAPE(1, 2), 10, 11))),
                 by_channel, 8, 0);
    check_values(
        nino_add(s, upload(counted(v, 0, 1)), upload(counted(NINO_SHAPE(1, 2, 2), 10, 10))),
        by_position, 8, 0);
    // x + x * gate, gate 0, 1 and 2, 3
    check_values(nino_gate_add(s, upload(counted(v, 0, 1)), upload(counted(v, 0, 1)),
                               upload(counted(NINO_SHAPE(2, 2), 0, 1))),
                 gated, 8, 0);
}

static void test_pairs(void)
{
    static const float products[] = { 0, 0, 10, 22 }, halves[] = { 0, 3, 24, 35 };
    check_values(nino_mul(s, upload(counted(NINO_SHAPE(4), -1, 1)),
                          upload(counted(NINO_SHAPE(4), 8, 1)), NINO_ACT_RELU),
                 products, 4, 0);
    // 0 1 | 2 3 and 4 5 | 6 7
    check_values(nino_glu(s, upload(counted(NINO_SHAPE(2, 4), 0, 1)), NINO_ACT_RELU), halves, 4, 0);
    // Pairs (1,2) (3,4) of the first head, (5,6) (7,8) of the second: by a quarter, by a half turn.
    static const float turned[] = { -2, 1, -3, -4, -6, 5, -7, -8 };
    nino_array *table = nino_array_create(NINO_F32, NINO_SHAPE(1, 4));
    CHECK(table);
    memcpy(table->data, (const float[]){ 0, 1, -1, 0 }, 4 * sizeof(float));
    check_values(nino_rope(s, upload(counted(NINO_SHAPE(1, 1, 8), 1, 1)), upload(table), 2), turned,
                 8, 0);
}

// Hidden keys count for nothing, finite values shift the logits, and one who sees nothing gets 0.
static void test_attention_bias(void)
{
    const float hidden[] = { 0, -INFINITY, logf(3), -FLT_MAX, -INFINITY, -FLT_MAX };
    static const float want[] = { 2.5f, 0 }; // (1 + 3 * 3) / 4
    nino_array *bias = nino_array_create(NINO_F32, NINO_SHAPE(1, 1, 2, 3));
    CHECK(bias);
    memcpy(bias->data, hidden, sizeof(hidden));
    check_values(nino_attention_bias(s, upload(counted(NINO_SHAPE(1, 2, 1), 0, 0)),
                                     upload(counted(NINO_SHAPE(1, 3, 1), 5, 1)),
                                     upload(counted(NINO_SHAPE(1, 3, 1), 1, 1)), 1, 1,
                                     upload(bias)),
                 want, 2, 1e-6);
}

// Two overlapping tiles of a constant give the constant back; and the raw sums are right.
static void test_blend(void)
{
    nino_array *tile = nino_array_create(NINO_F32, NINO_SHAPE(1, 2, 4, 1));
    for (int i = 0; i < 8; i++)
        nino_array_f32(tile)[i] = 3;
    nino_tensor *canvas = nino_zeros(s, NINO_SHAPE(2, 6, 2), NINO_F32);
    canvas = nino_blend(s, canvas, nino_upload(s, tile, NINO_F32), 0, 0, 2, 0, 4); // right ramp
    canvas = nino_blend(s, canvas, nino_upload(s, tile, NINO_F32), 2, 0, 2, 0, 1); // left ramp
    const float row[] = { 3, 1, 3, 1, 4.5f, 1.5f, 4.5f, 1.5f, 3, 1, 3, 1 };
    float want[24];
    memcpy(want, row, sizeof(row));
    memcpy(want + 12, row, sizeof(row));
    check_values(nino_ref(canvas), want, 24, 1e-6);
    for (int i = 0; i < 12; i++)
        want[i] = 3;
    check_values(nino_blend_div(s, canvas), want, 12, 1e-6);
    // Corner: both axes, and an uncovered pixel.
    canvas = nino_zeros(s, NINO_SHAPE(3, 4, 2), NINO_F32);
    canvas = nino_blend(s, canvas, nino_upload(s, tile, NINO_F32), 0, 0, 4, 2, 15);
    nino_array *a = nino_download(s, nino_ref(canvas), NINO_F32);
    // m(x = 1, y = 0) = 2/4 * 3/4 * 1/2 * 2/2
    CHECK(fabsf(at(a, 3) - 0.1875f) < 1e-6f && fabsf(at(a, 2) - 0.5625f) < 1e-6f);
    CHECK(at(a, 16) == 0 && at(a, 17) == 0);
    nino_array_unref(&a);
    a = nino_download(s, nino_blend_div(s, canvas), NINO_F32);
    CHECK(fabsf(at(a, 1) - 3) < 1e-6f && at(a, 8) == 0);
    nino_array_unref(&a);
    canvas = nino_blend(s, nino_zeros(s, NINO_SHAPE(2, 6, 2), NINO_F32),
                        nino_upload(s, tile, NINO_F32), 3, 0, 0, 0, 0);
    CHECK(!canvas && nino_stream_status(s, &err) == NINO_ERR_ARG); // reaches beyond
    nino_stream_clear_error(s);
    nino_array_unref(&tile);
}

static void test_rgb8(void)
{
    const float x[] = { 0, 1, 0.5f, -1, 2, 0.999f, NAN, 0.0039f, 0.00393f };
    const uint8_t want[] = { 0, 255, 127, 0, 255, 254, 0, 0, 1 };
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, 1, 3, 3));
    memcpy(a->data, x, sizeof(x));
    nino_array *y = nino_download(s, nino_to_rgb8(s, nino_upload(s, a, NINO_F32)), NINO_U8);
    CHECK(y && y->dtype == NINO_U8 && !memcmp(y->data, want, 9));
    nino_array_unref(&y);
    nino_array_unref(&a);
    a = nino_array_create(NINO_F32, NINO_SHAPE(1, 2, 1, 4)); // the fourth channel is dropped
    nino_array_f32(a)[4] = 1;
    y = nino_download(s, nino_to_rgb8(s, nino_upload(s, a, NINO_F16)), NINO_U8);
    CHECK(y && y->shape.dim[3] == 3 && ((uint8_t *) y->data)[3] == 255);
    nino_array_unref(&y);
    nino_array_unref(&a);
}

// 16-bit storage: the result is the f32 result rounded once.
static void test_storage(void)
{
    nino_array *a = pattern(NINO_SHAPE(1, 40), 7, 1, 41);
    for (int k = 0; k < 2; k++) {
        const nino_dtype type = k ? NINO_BF16 : NINO_F16;
        nino_tensor *y = nino_act_op(s, nino_upload(s, a, type), NINO_ACT_TANH);
        CHECK(nino_dtype_of(y) == type);
        nino_array *r = nino_download(s, y, NINO_F32);
        for (int i = 0; i < 40; i++) {
            const float v = k ? nino_bf16_to_f32(nino_f32_to_bf16(at(a, i)))
                              : nino_f16_to_f32(nino_f32_to_f16(at(a, i)));
            const float t = (float) tanh((double) v);
            CHECK(at(r, i) == (k ? nino_bf16_to_f32(nino_f32_to_bf16(t))
                                 : nino_f16_to_f32(nino_f32_to_f16(t))));
        }
        nino_array_unref(&r);
    }
    nino_array_unref(&a);
}

// An op that is asked to end while it runs does so at the next row of its result.
static void test_cancel(void)
{
    static const int asked = 1; // of the backend, not of the stream, which would not begin
    nino_conv c = { .w = weight(pattern(NINO_SHAPE(2, 3, 3, 3), 1, 1, 5), NINO_W_CONV3) };
    nino_linear l = { .w = weight(pattern(NINO_SHAPE(5, 4), 3, 1, 7), NINO_W_MATRIX) };
    const nino_shape row = NINO_SHAPE(1, 3, 4);
    for (int i = 0; i < 6; i++) { // the first three pack the weights
        be->cancel = i < 3 ? NULL : &asked;
        nino_tensor *y = i % 3 == 0 ? nino_conv2d(s, input(NINO_SHAPE(1, 3, 2, 4), 7, 3, 23), &c)
                         : i % 3 == 1
                             ? nino_linear_op(s, input(row, 1, 0, 3), &l)
                             : nino_attention(s, input(row, 3, 1, 19), input(row, 7, 2, 21),
                                              input(row, 5, 3, 11), 2, 0);
        CHECK(!y == (i >= 3));
        CHECK(nino_stream_status(s, &err) == (y ? NINO_OK : NINO_ERR_CANCELLED));
        nino_stream_clear_error(s);
        nino_unref(y);
    }
    be->cancel = NULL;
    nino_conv_release(&c);
    nino_linear_release(&l);
}

int main(void)
{
    be = nino_ref_open(0, NULL, &err);
    CHECK(be);
    const nino_stream_params p = { .backend = be };
    s = nino_stream_create(&p, &err);
    CHECK(s);
    test_conv();
    test_conv_sizes();
    test_linear();
    test_norm();
    test_attention();
    test_activations();
    test_prelu();
    test_moves();
    test_arithmetic();
    test_row_norms();
    test_broadcast();
    test_pairs();
    test_attention_bias();
    test_blend();
    test_rgb8();
    test_storage();
    test_cancel();
    CHECK_OK(nino_stream_status(s, &err), err);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
}
