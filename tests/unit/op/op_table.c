// The op table and the profile's decisions: names, costs, shapes that must be refused.
#include "core/op/op.h"
#include "core/op/weight.h"
#include "tests/test.h"

static nino_error err;

static void test_rows(void)
{
    static const char *const names[] = {
#define X(ID, name, family) #name,
        NINO_OPS(X)
#undef X
    };
    static const char *const families[] = {
#define X(ID, name, family) #family,
        NINO_OPS(X)
#undef X
    };
    for (int i = 0; i < NINO_OP_COUNT; i++) {
        const nino_op_def *o = &nino_ops[i];
        CHECK_STR(o->name, names[i]);
        CHECK_STR(o->family, families[i]);
        CHECK(o->shape && o->flops && o->bytes);
        CHECK(o->tol_f32 >= 0 && o->tol_f32 < 1e-6 && o->tol_f16 <= 1e-6);
    }
    CHECK_STR(nino_act_name(NINO_ACT_CLAMP01), "clamp01");
    CHECK_STR(nino_act_name(NINO_ACT_COUNT), "?");
}

static void test_conv(void)
{
    nino_weight w = { .role = NINO_W_CONV3, .n = 10, .c = 6, .dtype = NINO_F16 };
    nino_weight b = { .role = NINO_W_VECTOR, .n = 10, .c = 1, .dtype = NINO_F32 };
    nino_op_desc d = { .op = NINO_OP_CONV2D,
                       .attr = { .kernel = 3, .stride = 2, .upsample2x = true },
                       .n_src = 1,
                       .src = { NINO_SHAPE(2, 5, 4, 6) },
                       .src_type = { NINO_F16 },
                       .weight = &w,
                       .bias = &b };
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    CHECK(d.dst.dim[0] == 2 && d.dst.dim[1] == 5 && d.dst.dim[2] == 4 && d.dst.dim[3] == 10);
    CHECK(d.dst_type == NINO_F16);
    CHECK(nino_ops[d.op].flops(&d) == 2.0 * (2 * 5 * 4) * 10 * 6 * 9);
    CHECK(nino_ops[d.op].bytes(&d) ==
          2.0 * (2 * 5 * 4 * 6) + 2.0 * (2 * 5 * 4 * 10) + 2.0 * 10 * 6 * 9 + 4.0 * 10);
    b.n = 9;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    b.n = 10;
    w.c = 7;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    w.c = 6;
    w.role = NINO_W_MATRIX;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    d.attr.kernel = 1;
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    d.attr.stride = 3;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    d.attr.stride = 1;
    d.src[0].rank = 3;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    CHECK_STR(err.where, "conv2d");
}

static void test_conv3d(void)
{
    nino_weight w = { .role = NINO_W_CONV3D, .n = 10, .c = 6, .dtype = NINO_F16 };
    nino_op_desc d = { .op = NINO_OP_CONV3D,
                       .attr = { .kernel = 3, .stride = 1, .stride_t = 1, .pad_t = 2 },
                       .n_src = 1,
                       .src = { NINO_SHAPE(4, 5, 4, 6), NINO_SHAPE(2, 5, 4, 6) },
                       .weight = &w };
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    CHECK(d.dst.rank == 4 && d.dst.dim[0] == 4 && d.dst.dim[1] == 5 && d.dst.dim[3] == 10);
    CHECK(nino_ops[d.op].flops(&d) == 2.0 * (4 * 5 * 4) * 10 * 6 * 27);
    CHECK(nino_op_in_place(&d) == 0 && nino_op_history(&d) == 0);
    d.src[0].dim[0] = 1; // zeros in front cost nothing
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    CHECK(nino_op_first_tap(&d) == 18);
    CHECK(nino_ops[d.op].flops(&d) == 2.0 * (5 * 4) * 10 * 6 * 9);
    d.n_src = 2;
    d.attr.pad_t = 0;
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    CHECK(nino_op_history(&d) == 1 && d.dst.dim[0] == 1);
    d.src[1].dim[0] = 1;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG); // two frames
    d.src[1].dim[0] = 2;
    d.src[1].dim[1] = 6;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    d.src[1].dim[1] = 5;
    w.role = NINO_W_CONV_T;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    d.attr.kernel = 1;
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    d.attr.stride_t = 3;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    CHECK_STR(err.where, "conv3d");
}

static void test_shuffle(void)
{
    nino_op_desc d = { .op = NINO_OP_SHUFFLE,
                       .attr = { .fold_t = 2, .fold_s = 2, .start = 1, .is_up = true },
                       .n_src = 1,
                       .src = { NINO_SHAPE(2, 5, 4, 8) } };
    d.dst.dim[3] = 4;
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    CHECK(d.dst.dim[0] == 3 && d.dst.dim[1] == 10 && d.dst.dim[2] == 8 && d.dst.dim[3] == 4);
    d.dst.dim[3] = 3;
    d.src[0].dim[3] = 16;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG); // 24 values of 16
    d.src[0].dim[3] = 8;
    d.attr.is_up = false;
    d.dst.dim[3] = 4;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG); // odd sizes
    d.src[0] = NINO_SHAPE(3, 6, 4, 8);
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    CHECK(d.dst.dim[0] == 2 && d.dst.dim[1] == 3 && d.dst.dim[2] == 2);
    d.attr.start = 2;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    CHECK_STR(err.where, "shuffle");
}

static void test_attention(void)
{
    nino_op_desc d = { .op = NINO_OP_ATTENTION,
                       .attr = { .heads = 4 },
                       .n_src = 3,
                       .src = { NINO_SHAPE(2, 10, 32), NINO_SHAPE(2, 7, 32),
                                NINO_SHAPE(2, 7, 32) } };
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    CHECK(nino_ops[d.op].flops(&d) == 2 * 2.0 * (2 * 4) * 10 * 7 * 8);
    d.attr.heads = 5;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    d.attr.heads = 4;
    d.src_type[2] = NINO_F16;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    d.src_type[2] = NINO_F32;
    d.src[2].dim[1] = 8;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
}

static void check_broadcast(nino_shape x, nino_shape b, bool fits, int batch, int position)
{
    nino_op_rows r;
    CHECK(nino_op_broadcast(&x, &b, &r) == fits);
    if (fits)
        CHECK(r.batch == batch && r.position == position);
}

static void test_broadcast(void)
{
    const nino_shape x = NINO_SHAPE(2, 3, 5, 7);
    check_broadcast(x, x, true, 15, 1);
    check_broadcast(x, NINO_SHAPE(1, 3, 5, 7), true, 0, 1);
    check_broadcast(x, NINO_SHAPE(2, 7), true, 1, 0);
    check_broadcast(x, NINO_SHAPE(1, 7), true, 0, 0);
    check_broadcast(x, NINO_SHAPE(2, 1, 7), true, 1, 0);
    check_broadcast(x, NINO_SHAPE(2, 1, 1, 7), true, 1, 0);
    check_broadcast(x, NINO_SHAPE(3, 7), false, 0, 0);
    check_broadcast(x, NINO_SHAPE(2, 6), false, 0, 0);
    check_broadcast(x, NINO_SHAPE(7), false, 0, 0);
    check_broadcast(x, NINO_SHAPE(2, 3, 7), false, 0, 0);
    check_broadcast(x, NINO_SHAPE(2, 3, 1, 7), false, 0, 0);
    check_broadcast(NINO_SHAPE(4, 7), NINO_SHAPE(1, 7), true, 0, 1);
    check_broadcast(NINO_SHAPE(7), NINO_SHAPE(7), true, 0, 1);
    check_broadcast(NINO_SHAPE(7), NINO_SHAPE(1), false, 0, 0);
}

static void test_norms(void)
{
    nino_weight w = { .role = NINO_W_VECTOR, .n = 12, .c = 1, .dtype = NINO_F32 };
    nino_op_desc d = { .op = NINO_OP_LAYER_NORM, .n_src = 1, .src = { NINO_SHAPE(2, 3, 12) } };
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    d.weight = &w;
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    CHECK(nino_shape_equal(&d.dst, &d.src[0]));
    w.n = 6;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    d.weight = NULL;
    d.n_src = 3;
    d.src[1] = d.src[2] = NINO_SHAPE(2, 12);
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    d.src[2] = NINO_SHAPE(1, 12);
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    d.src[2] = d.src[1];
    d.src_type[2] = NINO_F16;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);

    w.n = 12;
    d = (nino_op_desc){ .op = NINO_OP_GROUP_NORM,
                        .attr.groups = 4,
                        .n_src = 2,
                        .src = { NINO_SHAPE(2, 3, 12), NINO_SHAPE(2, 4, 3) },
                        .src_type = { NINO_F16, NINO_F32 },
                        .weight = &w,
                        .bias = &w };
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    CHECK(nino_shape_equal(&d.dst, &d.src[0]) && d.dst_type == NINO_F16);
    d.src[1].dim[1] = 3; // of three groups
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    d.src[1].dim[1] = 4;
    d.src_type[1] = NINO_F16;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    d.op = NINO_OP_GROUP_STAT;
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    CHECK(d.dst.rank == 3 && d.dst.dim[1] == 4 && d.dst.dim[2] == 3 && d.dst_type == NINO_F32);
    d.attr.groups = 5;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);

    w.n = 6;
    d = (nino_op_desc){ .op = NINO_OP_RMS_NORM,
                        .attr.groups = 2,
                        .n_src = 1,
                        .src = { NINO_SHAPE(2, 12) },
                        .weight = &w };
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    d.attr.groups = 1;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    d.attr.groups = 5;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    CHECK_STR(err.where, "rms_norm");
}

static void test_attention_bias(void)
{
    nino_op_desc d = { .op = NINO_OP_ATTENTION,
                       .attr = { .heads = 4 },
                       .n_src = 4,
                       .src = { NINO_SHAPE(2, 10, 32), NINO_SHAPE(2, 7, 32), NINO_SHAPE(2, 7, 32),
                                NINO_SHAPE(2, 4, 10, 7) } };
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    d.src[3] = NINO_SHAPE(1, 1, 1, 7);
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    d.src_type[3] = NINO_F16;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    d.src_type[3] = NINO_F32;
    for (int i = 0; i < 4; i++) {
        d.src[3] = NINO_SHAPE(2, 4, 10, 7);
        d.src[3].dim[i] = 3;
        CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    }
    d.src[3] = NINO_SHAPE(4, 10, 7);
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
}

static void test_elementwise(void)
{
    nino_op_desc d = { .op = NINO_OP_GLU, .n_src = 1, .src = { NINO_SHAPE(2, 3, 12) } };
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    CHECK(d.dst.rank == 3 && d.dst.dim[2] == 6);
    d.src[0].dim[2] = 11;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);

    d = (nino_op_desc){ .op = NINO_OP_ROPE,
                        .attr.heads = 3,
                        .n_src = 2,
                        .src = { NINO_SHAPE(2, 5, 12), NINO_SHAPE(5, 4) } };
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    d.src[1].dim[0] = 4;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    d.src[1] = NINO_SHAPE(5, 3); // no pairs
    d.attr.heads = 4;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);

    d = (nino_op_desc){ .op = NINO_OP_GATE_ADD,
                        .n_src = 3,
                        .src = { NINO_SHAPE(2, 5, 12), NINO_SHAPE(2, 5, 12), NINO_SHAPE(2, 12) } };
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    d.src[1].dim[0] = 1;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    d = (nino_op_desc){ .op = NINO_OP_MUL,
                        .n_src = 2,
                        .src = { NINO_SHAPE(2, 12), NINO_SHAPE(1, 12) } };
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG); // not broadcast
}

static void test_permute(void)
{
    nino_op_desc d = { .op = NINO_OP_PERMUTE,
                       .attr = { .perm = { 1, 2, 0 } },
                       .n_src = 1,
                       .src = { NINO_SHAPE(2, 3, 4) } };
    CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    CHECK(d.dst.dim[0] == 3 && d.dst.dim[1] == 4 && d.dst.dim[2] == 2);
    d.attr.perm[2] = 1;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    d.attr.perm[2] = 3;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
    d.attr.perm[2] = -1;
    CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
}

// Element types no arithmetic op takes.
static void test_types(void)
{
    static const nino_op_id ops[] = { NINO_OP_SOFTMAX, NINO_OP_ACT,          NINO_OP_SCALE,
                                      NINO_OP_CAST,    NINO_OP_CHECK_FINITE, NINO_OP_GROUP_STAT };
    for (int i = 0; i < 6; i++) {
        nino_op_desc d = { .op = ops[i],
                           .n_src = 1,
                           .src = { NINO_SHAPE(2, 3) },
                           .attr.groups = 3,
                           .src_type = { NINO_U8 },
                           .dst_type = NINO_F32 };
        CHECK(nino_ops[d.op].shape(&d, &err) == NINO_ERR_ARG);
        d.src_type[0] = NINO_BF16;
        CHECK_OK(nino_ops[d.op].shape(&d, &err), err);
    }
}

int main(void)
{
    test_rows();
    test_conv();
    test_conv3d();
    test_shuffle();
    test_attention();
    test_broadcast();
    test_norms();
    test_attention_bias();
    test_elementwise();
    test_permute();
    test_types();
    return 0;
}
