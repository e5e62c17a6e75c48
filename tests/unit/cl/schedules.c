// Every op of the OpenCL backend on tiny odd shapes against ref, in all schedules, whatever the
// device's own is. Small enough for oclgrind (tests/cli/oclgrind.sh).
#include "core/file/safetensors.h"
#include "core/op/raw.h"
#include "tests/cl.h"

#include <float.h>
#include <math.h>

static nino_stream *on_cl, *on_ref;
static nino_error err;
enum { SMALL = 32 << 10 }; // the least local memory that any schedule may ask for
static const char *schedule;
static int n_cases;

static float value(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float) (*seed >> 8) / (1 << 23) - 1;
}

static nino_array *random_array(nino_shape shape, uint32_t seed)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = value(&seed);
    return a;
}

static nino_weight *weight(nino_shape shape, nino_weight_role role, uint32_t seed)
{
    nino_array *a = random_array(shape, seed);
    nino_weight *w = nino_weight_from_array(a, role);
    CHECK(w);
    nino_array_unref(&a);
    return w;
}

// Uploads values that the storage type holds exactly.
static nino_tensor *input(nino_stream *s, nino_shape shape, nino_dtype type, uint32_t seed)
{
    nino_array *a = random_array(shape, seed);
    nino_tensor *t = nino_upload(s, a, type);
    nino_array_unref(&a);
    return t;
}

static void compare(const char *name, nino_op_id op, nino_dtype type, nino_tensor *x,
                    nino_tensor *y)
{
    const nino_dtype back = nino_dtype_of(y) == NINO_U8 ? NINO_U8 : NINO_F32;
    nino_array *a = nino_download(on_cl, x, back), *b = nino_download(on_ref, y, back);
    double num = 0, den = 0;
    if (nino_stream_status(on_cl, &err)) {
        fprintf(stderr, "%s %s: %s: %s\n", schedule, name, err.where, err.msg);
        exit(1);
    }
    CHECK(a && b && nino_shape_equal(&a->shape, &b->shape));
    for (int64_t i = 0; i < nino_shape_count(&a->shape); i++) {
        const double p = back == NINO_U8 ? ((uint8_t *) a->data)[i] : nino_array_f32(a)[i];
        const double q = back == NINO_U8 ? ((uint8_t *) b->data)[i] : nino_array_f32(b)[i];
        num += (p - q) * (p - q);
        den += q * q;
    }
    const double tol16 = nino_ops[op].tol_f16 * (type == NINO_BF16 ? 64 : 1);
    const double tol = type == NINO_F32 ? nino_ops[op].tol_f32 : tol16;
    if (!(num <= tol * den)) {
        fprintf(stderr, "%s %s %s: nmse %g, allowed %g\n", schedule, name, nino_dtype_name(type),
                num / den, tol);
        exit(1);
    }
    n_cases++;
    nino_array_unref(&a);
    nino_array_unref(&b);
}

// Runs the expression, which uses the stream s, on both backends and compares.
#define BOTH(name, op, type, expr)                                                                 \
    do {                                                                                           \
        nino_stream *s = on_cl;                                                                    \
        nino_tensor *x_ = (expr);                                                                  \
        s = on_ref;                                                                                \
        nino_tensor *y_ = (expr);                                                                  \
        compare(name, NINO_OP_##op, type, x_, y_);                                                 \
    } while (0)

static void test_elt(nino_dtype t)
{
    const nino_shape v = NINO_SHAPE(3, 11);
    // Values up to 4, where each has left the straight part near 0.
    for (nino_act a = NINO_ACT_NONE + 1; a < NINO_ACT_COUNT; a++)
        BOTH(nino_act_name(a), ACT, t, nino_act_op(s, nino_scale(s, input(s, v, t, 1), 4, 0), a));
    BOTH("add", ADD, t, nino_add(s, input(s, v, t, 1), input(s, v, t, 2)));
    BOTH("scale", SCALE, t, nino_scale(s, input(s, v, t, 1), 1.7f, -0.3f));
    BOTH("mul", MUL, t, nino_mul(s, input(s, v, t, 1), input(s, v, t, 2), NINO_ACT_GELU));
    // Rows of whole vectors and others; b of all kinds.
    for (int c = 17; c < 21; c++) {
        const nino_shape x = NINO_SHAPE(2, 3, 5, c),
                         bs[] = { NINO_SHAPE(2, c), NINO_SHAPE(1, c), NINO_SHAPE(1, 3, 5, c) };
        for (int i = 0; i < 3; i++) {
            BOTH("add, broadcast", ADD, t, nino_add(s, input(s, x, t, 1), input(s, bs[i], t, 2)));
            BOTH("gate_add", GATE_ADD, t,
                 nino_gate_add(s, input(s, x, t, 1), input(s, x, t, 2), input(s, bs[i], t, 3)));
        }
    }
    BOTH("glu", GLU, t, nino_glu(s, input(s, NINO_SHAPE(3, 2, 38), t, 1), NINO_ACT_GELU));
    BOTH("glu", GLU, t, nino_glu(s, input(s, NINO_SHAPE(3, 2, 40), t, 1), NINO_ACT_SILU));
    static const int depths[] = { 2, 8, 18, 36 };
    for (int i = 0; i < 4; i++)
        BOTH("rope", ROPE, t,
             nino_rope(s, input(s, NINO_SHAPE(2, 5, 3 * depths[i]), t, 1),
                       input(s, NINO_SHAPE(5, depths[i]), NINO_F32, 2), 3));
    nino_tensor *x = input(on_cl, NINO_SHAPE(259), t, 3);
    CHECK(nino_check_finite(on_cl, x, "x", &err) == NINO_OK);
    x = nino_scale(on_cl, x, INFINITY, 0);
    CHECK(nino_check_finite(on_cl, x, "the case", &err) == NINO_ERR_RANGE);
    CHECK_STR(err.where, "the case");
    nino_unref(x);
    nino_stream_clear_error(on_cl);
}

static void test_norm(nino_dtype t)
{
    static const int shapes[][3] = { { 40, 32, 32 }, { 19, 70, 5 }, { 1, 3, 1 }, { 7, 81, 3 } };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        const int c = shapes[i][1];
        const nino_shape v = NINO_SHAPE(2, shapes[i][0], c);
        nino_norm n = { weight(NINO_SHAPE(c), NINO_W_VECTOR, 5),
                        weight(NINO_SHAPE(c), NINO_W_VECTOR, 6), shapes[i][2], 1e-5f };
        BOTH("group_norm", GROUP_NORM, t, nino_group_norm_silu(s, input(s, v, t, 4), &n));
        // A mean of 100 deviations, through an addition that both sides round alike.
        if (t == NINO_F32)
            BOTH("group_norm, large mean", GROUP_NORM, t,
                 nino_group_norm(s, nino_scale(s, input(s, v, t, 4), 1, 64), &n, NINO_ACT_NONE));
        // The statistics of parts, and a norm that is given them.
        BOTH("group_stat", GROUP_STAT, t, nino_group_stat(s, input(s, v, t, 4), n.groups));
        BOTH("group_norm, given", GROUP_NORM, t,
             nino_group_norm_given(s, input(s, v, t, 4), &n,
                                   nino_group_stat(s, input(s, v, t, 9), n.groups), NINO_ACT_SILU));
        nino_norm_release(&n);
    }
}

// Layer and RMS norm: rows of whole vectors and others, with all that is optional.
static void test_row_norm(nino_dtype t)
{
    static const int channels[] = { 1, 20, 39 };
    for (int i = 0; i < 3; i++) {
        const int c = channels[i];
        const nino_shape v = NINO_SHAPE(2, 3, 2 * c), mod = NINO_SHAPE(2, 2 * c);
        nino_norm whole = { weight(NINO_SHAPE(2 * c), NINO_W_VECTOR, 5),
                            weight(NINO_SHAPE(2 * c), NINO_W_VECTOR, 6), 0, 1e-5f };
        nino_norm half = { weight(NINO_SHAPE(c), NINO_W_VECTOR, 7), NULL, 2, 1e-6f };
        nino_norm none = { .eps = 1e-5f };
        BOTH("layer_norm", LAYER_NORM, t, nino_layer_norm(s, input(s, v, t, 1), &whole));
        BOTH("layer_norm, bare", LAYER_NORM, t, nino_layer_norm(s, input(s, v, t, 1), &none));
        BOTH("layer_norm_mod", LAYER_NORM, t,
             nino_layer_norm_mod(s, input(s, v, t, 1), &none, input(s, mod, t, 2),
                                 input(s, mod, t, 3)));
        BOTH("layer_norm_mod, affine", LAYER_NORM, t,
             nino_layer_norm_mod(s, input(s, v, t, 1), &whole, input(s, v, t, 2),
                                 input(s, v, t, 3)));
        BOTH("rms_norm", RMS_NORM, t, nino_rms_norm(s, input(s, v, t, 1), &half));
        BOTH("rms_norm, bare", RMS_NORM, t, nino_rms_norm(s, input(s, v, t, 1), &none));
        BOTH("rms_norm, act", RMS_NORM, t,
             nino_rms_norm_act(s, input(s, v, t, 1), &half, NINO_ACT_SILU));
        nino_norm_release(&whole);
        nino_norm_release(&half);
    }
}

static void test_move(nino_dtype t)
{
    static const int perms[][4] = { { 0, 2, 3, 1 }, { 3, 1, 2, 0 }, { 0, 2, 1, 3 } };
    const nino_shape v = NINO_SHAPE(2, 3, 5, 7);
    for (int axis = 0; axis < 4; axis++) {
        nino_shape w = v;
        w.dim[axis] = 2;
        BOTH("concat", CONCAT, t, nino_concat(s, input(s, v, t, 1), input(s, w, t, 2), axis));
        BOTH("slice", SLICE, t, nino_slice(s, input(s, v, t, 1), axis, 1, v.dim[axis] - 1));
    }
    for (int i = 0; i < 3; i++)
        BOTH("permute", PERMUTE, t, nino_permute(s, input(s, v, t, 1), perms[i]));
    BOTH("cast", CAST, t, nino_cast(s, input(s, v, NINO_F32, 1), t));
    BOTH("cast", CAST, t, nino_cast(s, input(s, v, t, 1), NINO_F32));
}

static void test_image(nino_dtype t)
{
    const nino_shape image = NINO_SHAPE(2, 5, 7, 3), tile = NINO_SHAPE(1, 6, 5, 3);
    const nino_shape canvas = NINO_SHAPE(9, 8, 4);
    for (nino_filter f = 0; f < NINO_FILTER_COUNT; f++) {
        BOTH("resample", RESAMPLE, t, nino_resample(s, input(s, image, t, 1), 9, 4, f));
        BOTH("resample", RESAMPLE, t, nino_resample(s, input(s, image, t, 1), 3, 15, f));
    }
    BOTH("to_rgb8", TO_RGB8, t, nino_to_rgb8(s, input(s, image, t, 1)));
    BOTH("blend", BLEND, t,
         nino_blend(s, input(s, canvas, NINO_F32, 2), input(s, tile, t, 3), 3, 1, 2, 4, 15));
    if (t == NINO_F32)
        BOTH("blend_div", BLEND_DIV, t, nino_blend_div(s, input(s, canvas, t, 2)));
}

static void test_gemm(nino_dtype t)
{
    const nino_shape tokens = NINO_SHAPE(2, 13, 19), image = NINO_SHAPE(1, 6, 5, 19);
    nino_linear l = { .w = weight(NINO_SHAPE(21, 19), NINO_W_MATRIX, 7),
                      .b = weight(NINO_SHAPE(21), NINO_W_VECTOR, 8),
                      .act = NINO_ACT_SILU };
    nino_conv c = { .w = weight(NINO_SHAPE(21, 19, 3, 3), NINO_W_CONV3, 9), .act = NINO_ACT_RELU };
    BOTH("linear", LINEAR, t, nino_linear_op(s, input(s, tokens, t, 1), &l));
    for (int rows = 1; rows < 17; rows += 7) // 1, 8, 15
        BOTH("linear, few rows", LINEAR, t,
             nino_linear_op(s, input(s, NINO_SHAPE(rows, 19), t, 1), &l));
    BOTH("linear_add, a row", LINEAR, t,
         nino_linear_add(s, input(s, NINO_SHAPE(1, 19), t, 1), &l,
                         input(s, NINO_SHAPE(1, 21), t, 2)));
    BOTH("linear_add", LINEAR, t,
         nino_linear_add(s, input(s, tokens, t, 1), &l, input(s, NINO_SHAPE(2, 13, 21), t, 2)));
    BOTH("conv2d", CONV2D, t, nino_conv2d(s, input(s, image, t, 1), &c));
    c.upsample2x = true;
    BOTH("conv2d, enlarged", CONV2D, t, nino_conv2d(s, input(s, image, t, 1), &c));
    c.upsample2x = false;
    c.stride = 2;
    c.pad = NINO_PAD_END;
    BOTH("conv2d, stride 2", CONV2D, t, nino_conv2d(s, input(s, image, t, 1), &c));
    nino_linear_release(&l);
    nino_conv_release(&c);
}

// Scales of 1, quants from -64 to 63.
static nino_array *q8_0(nino_shape shape)
{
    nino_array *a = nino_array_create(NINO_Q8_0, shape);
    CHECK(a);
    for (size_t i = 0; i < a->bytes; i++)
        ((uint8_t *) a->data)[i] = i % 34 == 0   ? 0
                                   : i % 34 == 1 ? 0x3c
                                                 : (uint8_t) (i * 37 % 128 - 64);
    return a;
}

// Few rows by many columns: more than the work-items of a group have at a time, several times and a bit.
static void test_long_rows(nino_dtype t)
{
    nino_array *blocks = q8_0(NINO_SHAPE(5, 2336));
    nino_linear l = { .w = nino_weight_from_array(blocks, NINO_W_MATRIX) },
                f = { .w = weight(NINO_SHAPE(5, 613), NINO_W_MATRIX, 7) };
    CHECK(l.w);
    for (int rows = 1; rows < 17; rows += 14) {
        BOTH("linear, long rows of Q8_0", LINEAR, t,
             nino_linear_op(s, input(s, NINO_SHAPE(rows, 2336), t, 1), &l));
        BOTH("linear, long rows", LINEAR, t,
             nino_linear_op(s, input(s, NINO_SHAPE(rows, 613), t, 1), &f));
    }
    nino_linear_release(&l);
    nino_linear_release(&f);
    nino_array_unref(&blocks);
}

// Weights that stay as a file stores them.
static void test_raw(nino_dtype t)
{
    const nino_shape tokens = NINO_SHAPE(2, 11, 64);
    nino_array *blocks = q8_0(NINO_SHAPE(21, 64));
    nino_array *f8 = nino_array_create(NINO_F8_E4M3, NINO_SHAPE(21, 19, 3, 3));
    CHECK(f8);
    for (size_t i = 0; i < f8->bytes; i++)
        ((uint8_t *) f8->data)[i] = (uint8_t) (i * 37 % 120);
    nino_linear l = { .w = nino_weight_from_array(blocks, NINO_W_MATRIX) };
    nino_conv c = { .w = nino_weight_from_array(f8, NINO_W_CONV3) };
    CHECK(l.w && c.w);
    BOTH("linear, Q8_0", LINEAR, t, nino_linear_op(s, input(s, tokens, t, 1), &l));
    BOTH("linear, Q8_0, a row", LINEAR, t,
         nino_linear_op(s, input(s, NINO_SHAPE(1, 64), t, 1), &l));
    BOTH("conv2d, fp8", CONV2D, t, nino_conv2d(s, input(s, NINO_SHAPE(1, 6, 5, 19), t, 1), &c));
    nino_linear_release(&l);
    nino_conv_release(&c);
    nino_array_unref(&blocks);
    nino_array_unref(&f8);
}

// A matrix of three parts that a file stores in different ways: they stay so.
static void test_parts(nino_dtype t)
{
    static const struct {
        const char *name;
        nino_dtype type;
        int rows;
    } parts[] = { { "q", NINO_F8_E4M3, 32 }, { "k", NINO_F8_E5M2, 48 }, { "v", NINO_F16, 17 } };
    static const nino_weight_part names[] = { { .name = "q" }, { .name = "k" }, { .name = "v" } };
    char dir[] = "/tmp/ninodes-parts-XXXXXX", path[64];
    nino_st_entry e[3];
    nino_linear l = { .b = weight(NINO_SHAPE(97), NINO_W_VECTOR, 8) };
    nino_raw_layout raw;
    CHECK(mkdtemp(dir));
    for (int i = 0; i < 3; i++) {
        nino_array *a = random_array(NINO_SHAPE(parts[i].rows, 64), (uint32_t) i);
        e[i] = (nino_st_entry){ parts[i].name, nino_array_convert(a, parts[i].type) };
        CHECK(e[i].array);
        nino_array_unref(&a);
    }
    snprintf(path, sizeof(path), "%s/w.safetensors", dir);
    CHECK_OK(nino_st_save(dir, "w.safetensors", false, e, 3, NULL, 0, &err), err);
    nino_weights *f = nino_weights_open(path, &err);
    CHECK_OK(f ? NINO_OK : err.code, err);
    CHECK_OK(nino_weight_get_parts(f, "", names, 3, NINO_W_MATRIX, 97, 64, true, &l.w, &err), err);
    CHECK(nino_raw_layout_of(l.w, &raw) && raw.n_parts == 3 && raw.part[1].at % 16 == 0);
    CHECK(raw.part[1].row0 == 32 && raw.part[2].row0 == 80 && raw.part[2].rows == 17);
    for (int rows = 3; rows < 220; rows = rows * 7 + 3) // 3, 24, 171
        BOTH("linear, three types", LINEAR, t,
             nino_linear_op(s, input(s, NINO_SHAPE(rows, 64), t, 1), &l));
    BOTH("linear_add, three types, expanded", LINEAR, t,
         nino_linear_add(s, input(s, NINO_SHAPE(200, 64), t, 1), &l,
                         input(s, NINO_SHAPE(200, 97), t, 2)));
    nino_linear_release(&l);
    nino_weights_unref(&f);
    for (int i = 0; i < 3; i++) {
        nino_array *a = (nino_array *) e[i].array;
        nino_array_unref(&a);
    }
    unlink(path);
    rmdir(dir);
}

// A bias [n,h,q,tk] that hides some keys, and all of them from the first query of each head.
static nino_tensor *mask(nino_stream *s, int n, int h, int q, int tk)
{
    nino_array *a = random_array(NINO_SHAPE(n, h, q, tk), 11);
    for (int i = 0; i < n * h * q * tk; i++)
        if (i % 3 == 1 || (q > 1 && i / tk % q == 0))
            nino_array_f32(a)[i] = i % 2 ? -INFINITY : -FLT_MAX;
    nino_tensor *t = nino_upload(s, a, NINO_F32);
    nino_array_unref(&a);
    return t;
}

static void test_attention_bias(nino_dtype t)
{
    static const int shapes[][4] = {
        { 1, 1, 1, 9 }, { 2, 3, 5, 9 }, { 1, 3, 1, 70 }, { 2, 1, 5, 70 }
    };
    for (int i = 0; i < 4; i++) {
        const int *b = shapes[i];
        const nino_shape q = NINO_SHAPE(2, 5, 24), k = NINO_SHAPE(2, b[3], 24);
        BOTH("attention, bias", ATTENTION, t,
             nino_attention_bias(s, input(s, q, t, 1), input(s, k, t, 2), input(s, k, t, 3), 3, 1,
                                 mask(s, b[0], b[1], b[2], b[3])));
    }
    nino_tensor *y = nino_attention_bias(
        on_cl, input(on_cl, NINO_SHAPE(1, 5, 8), t, 1), input(on_cl, NINO_SHAPE(1, 3, 8), t, 2),
        input(on_cl, NINO_SHAPE(1, 3, 8), t, 3), 1, 1, mask(on_cl, 1, 1, 5, 3));
    nino_array *a = nino_download(on_cl, y, NINO_F32);
    CHECK(a && nino_array_f32(a)[0] == 0 && nino_array_f32(a)[7] == 0 && nino_array_f32(a)[8] != 0);
    nino_array_unref(&a);
}

static void test_attention(nino_dtype t)
{
    const nino_shape tokens = NINO_SHAPE(2, 13, 19);
    BOTH("softmax", SOFTMAX, t, nino_softmax(s, input(s, tokens, t, 1), 3));
    BOTH("attention", ATTENTION, t,
         nino_attention(s, input(s, NINO_SHAPE(1, 5, 32), t, 1),
                        input(s, NINO_SHAPE(1, 9, 32), t, 2), input(s, NINO_SHAPE(1, 9, 32), t, 3),
                        2, 0));
    test_attention_bias(t);
    // Heads of no whole vectors: what follows a head's last channel is another head's. Queries that
    // see a part of the keys, heads that share them.
    if (t == NINO_F16) {
        const nino_shape q = NINO_SHAPE(2, 7, 20), q7 = NINO_SHAPE(2, 7, 28),
                         k7 = NINO_SHAPE(2, 9, 14), q67 = NINO_SHAPE(1, 5, 134),
                         k67 = NINO_SHAPE(1, 9, 134);
        BOTH("attention, heads of 5", ATTENTION, t,
             nino_attention(s, input(s, q, t, 1), input(s, q, t, 2), input(s, q, t, 3), 4, 3));
        BOTH(
            "attention, heads of 67", ATTENTION, t, // the last of several blocks of channels
            nino_attention(s, input(s, q67, t, 1), input(s, k67, t, 2), input(s, k67, t, 3), 2, 1));
        BOTH("attention, causal, heads of 7", ATTENTION, t,
             nino_attention_causal(s, input(s, q7, t, 1), input(s, k7, t, 2), input(s, k7, t, 3), 4,
                                   NULL));
    }
}

// The device as one of that schedule, with that much local memory (0: its own).
static void open_streams(const nino_sched *which, uint64_t local_bytes)
{
    nino_backend *cl = nino_cl_open(test_cl_device(), NULL, NULL, &err);
    nino_backend *ref = nino_ref_open(0, NULL, &err);
    CHECK(cl && ref);
    cl->profile.schedule = which;
    if (local_bytes)
        ((nino_cl *) cl)->local_bytes = local_bytes;
    schedule = which->name;
    on_cl = nino_stream_create(&(nino_stream_params){ .backend = cl }, &err);
    on_ref = nino_stream_create(&(nino_stream_params){ .backend = ref }, &err);
    CHECK(on_cl && on_ref);
}

static void close_streams(void)
{
    nino_backend *cl = nino_stream_backend(on_cl), *ref = nino_stream_backend(on_ref);
    nino_stream_destroy(&on_cl);
    nino_stream_destroy(&on_ref);
    nino_backend_close(&cl);
    nino_backend_close(&ref);
}

// Causal convolutions: with and without earlier frames, zeros, steps in time and what is added.
static void test_video(nino_dtype t)
{
    static const struct {
        int kernel, frames, earlier, pad, stride, c, n, side;
        bool has_sum;
    } cases[] = {
        { 3, 1, 2, 0, 1, 32, 2, 5, true },
        { 3, 2, 1, 1, 1, 17, 24, 4, true },
        { 1, 4, 1, 0, 2, 7, 40, 3, true },
        { 3, 1, 0, 2, 1, 33, 32, 23, true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int k = cases[i].kernel, h = cases[i].side, w = h + 1, c = cases[i].c;
        const int n = cases[i].n,
                  out =
                      (cases[i].frames + cases[i].earlier + cases[i].pad - 3) / cases[i].stride + 1;
        const nino_shape x = NINO_SHAPE(cases[i].frames, h, w, c), y = NINO_SHAPE(out, h, w, n);
        const nino_shape before = NINO_SHAPE(cases[i].earlier, h, w, c);
        nino_conv v = { .w = weight(NINO_SHAPE(n, c, 3, k, k),
                                    k == 3 ? NINO_W_CONV3D : NINO_W_CONV_T, 3),
                        .b = weight(NINO_SHAPE(n), NINO_W_VECTOR, 4) };
        BOTH("conv3d", CONV3D, t,
             nino_conv3d(s, input(s, x, t, 1), &v, cases[i].earlier ? input(s, before, t, 2) : NULL,
                         cases[i].pad, cases[i].stride,
                         cases[i].has_sum ? input(s, y, t, 5) : NULL));
        nino_conv_release(&v);
    }
    const nino_shape x = NINO_SHAPE(2, 3, 4, 16), y = NINO_SHAPE(3, 6, 8, 6);
    BOTH("shuffle, up", SHUFFLE, t,
         nino_shuffle(s, input(s, x, t, 1), true, 2, 2, 1, 6, input(s, y, t, 2)));
    BOTH("shuffle, down", SHUFFLE, t, nino_shuffle(s, input(s, y, t, 1), false, 2, 2, 1, 12, NULL));
}

static void test_schedule(const nino_sched *which, nino_dtype t)
{
    open_streams(which, 0);
    test_gemm(t);
    if (t == NINO_F32) { // expanded to f32 whatever the activations are
        test_raw(t);
        test_long_rows(t);
        test_parts(t);
    }
    test_video(t);
    if (!which->base) { // else these are the same programs
        test_elt(t);
        test_norm(t);
        test_row_norm(t);
        test_move(t);
        test_image(t);
        test_attention(t);
    }
    close_streams();
}

// The tiles of devices with 32 KiB, which must also be right where they are larger than the matrix
// and where it has fewer columns than a tile.
static void test_small_local(const nino_sched *which, nino_dtype t)
{
    static const int columns[] = { 9, 40, 100 };
    open_streams(which, SMALL);
    for (int i = 0; i < 3; i++) {
        nino_linear l = { .w = weight(NINO_SHAPE(columns[i], 36), NINO_W_MATRIX, 7),
                          .b = weight(NINO_SHAPE(columns[i]), NINO_W_VECTOR, 8) };
        BOTH("linear", LINEAR, t, nino_linear_op(s, input(s, NINO_SHAPE(150, 36), t, 1), &l));
        nino_linear_release(&l);
    }
    test_attention(t);
    close_streams();
}

// One element too many: what oclgrind must notice when every block is a buffer (NINODES_DEBUG=mem).
static void read_beside(void)
{
    nino_backend *be = nino_cl_open(test_cl_device(), NULL, NULL, &err);
    CHECK(be);
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    nino_tensor *x = input(s, NINO_SHAPE(64), NINO_F32, 1);
    CHECK(x);
    const nino_cl_arg args[] = { A_BUF(&x->mem, 4), A_BUF(&x->mem, 4), A_U64(65), A_F32(1),
                                 A_F32(0) };
    const size_t global = nino_cl_flat((nino_cl *) be, 65);
    nino_cl_launch((nino_cl *) be, "basic", "scale", "", NULL, 1, &global, NULL, args,
                   NINO_CL_COUNT(args), &err);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
}

static bool fits_small(const nino_sched *which)
{
    return nino_cl_schedule_of(&(nino_profile){ .schedule = which })->local_bytes <= SMALL;
}

// What core plans for a schedule is what cl/ has of it.
static void test_rows(void)
{
    for (const nino_sched *r = nino_scheds; r->name; r++) {
        const nino_profile p = { .schedule = r };
        const nino_cl_schedule *s = nino_cl_schedule_of(&p);
        CHECK(r->packs_keys == (s->pack_keys != NULL) && r->has_winograd == (s->winograd != NULL));
        CHECK(nino_cl_source(&p, "common") && nino_cl_source(&p, "gemm"));
        CHECK(!nino_cl_source(&p, "nothing"));
    }
}

// Arguments: a schedule and a type (f32, f16, bf16); "small"; none: all; or "wrong".
int main(int argc, char **argv)
{
    static const nino_dtype types[] = { NINO_F32, NINO_F16, NINO_BF16 };
    if (argc == 2 && !strcmp(argv[1], "wrong")) {
        read_beside();
        return 0;
    }
    test_rows();
    for (const nino_sched *s = nino_scheds; s->name; s++) {
        for (int j = 0; j < 3; j++)
            if ((argc < 2 || !strcmp(argv[1], s->name)) &&
                (argc < 3 || !strcmp(argv[2], nino_dtype_name(types[j]))) &&
                (!s->has_matrix || types[j] == NINO_F32)) // the others: tests/unit/cl/wmma.c
                test_schedule(s, types[j]);
        if ((argc < 2 || !strcmp(argv[1], "small")) && fits_small(s) && !s->base)
            test_small_local(s, NINO_F16);
    }
    CHECK(n_cases > 0);
    return 0;
}
