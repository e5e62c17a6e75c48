// Mixed precision: every op has a rule, small tensors stay fp32 and large ones become 16 bits whatever
// their neighbours are, in between the sums along the layers are fp32 and the factors of products 16
// bits; the more of it, the less a network's error.
#include "core/op/mixed.h"
#include "core/tensor/difference.h"
#include "tests/random_vae.h"
#include "tests/vae.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

static nino_error err;

static nino_array *noise(nino_shape shape)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    uint32_t s = 5;
    for (int64_t i = 0; i < nino_shape_count(&shape); i++) {
        s = s * 1664525u + 1013904223u;
        nino_array_f32(a)[i] = (float) (s >> 8) / (1 << 23) - 1;
    }
    return a;
}

static void test_rules(void)
{
    for (int i = 0; i < NINO_OP_COUNT; i++) {
        const nino_mixed_row *r = &nino_mixed_rows[i];
        CHECK(r->rule >= NINO_MIXED_ASIS && r->rule <= NINO_MIXED_WIDE);
        CHECK((r->rule == NINO_MIXED_ASIS) == !r->sources);
    }
    // of a batch and of frames one item counts; of rows and vectors all
    nino_op_desc d = { .op = NINO_OP_CONV2D, .n_src = 1, .src_type = { NINO_F32 } };
    d.src[0] = NINO_SHAPE(4, 8, 8, 2);
    d.dst = NINO_SHAPE(4, 8, 8, 16);
    CHECK(nino_mixed_item(&d) == 1024);
    d.src[0] = NINO_SHAPE(4, 8, 8, 32);
    CHECK(nino_mixed_item(&d) == 2048);
    CHECK(nino_mixed_type(&d, 999, NINO_F16) == NINO_F32);
    CHECK(nino_mixed_type(&d, 1000, NINO_F16) == NINO_F16);
    CHECK(nino_mixed_type(&d, 1000, NINO_BF16) == NINO_BF16);
    d.op = NINO_OP_SOFTMAX;
    CHECK(nino_mixed_type(&d, 1 << 30, NINO_F16) == NINO_F32);
    d.op = NINO_OP_ADD; // what is added up is wider for longer
    CHECK(nino_mixed_type(&d, 3999, NINO_F16) == NINO_F32);
    CHECK(nino_mixed_type(&d, 4000, NINO_F16) == NINO_F16);
    CHECK(!nino_mixed_adds_apart(999) && nino_mixed_adds_apart(1000));
    CHECK(nino_mixed_adds_apart(3999) && !nino_mixed_adds_apart(4000));
    // networks with rules of their own in 16 bits are one or the other
    CHECK(nino_mixed_whole(NINO_PREC_MIXED, 999) == NINO_PREC_F32);
    CHECK(nino_mixed_whole(NINO_PREC_MIXED, 1000) == NINO_PREC_F16);
    CHECK(nino_mixed_whole(NINO_PREC_MIXED_BF16, 1000) == NINO_PREC_BF16);
    CHECK(nino_mixed_whole(NINO_PREC_F16, 1) == NINO_PREC_F16);
    d.op = NINO_OP_LINEAR;
    d.src[0] = d.dst = NINO_SHAPE(40, 50);
    CHECK(nino_mixed_item(&d) == 2000);
}

static nino_dtype type_after(nino_stream *s, nino_tensor *t)
{
    const nino_dtype type = nino_dtype_of(t);
    CHECK_OK(nino_stream_status(s, &err), err);
    nino_unref(t);
    return type;
}

// 1000 and 4000 values an item are the borders (NINODES_MIXED_FROM, NINODES_HALF_FROM).
static void test_ops(test_device *d)
{
    nino_stream *s = d->s;
    nino_array *small = noise(NINO_SHAPE(1, 4, 4, 8)), *large = noise(NINO_SHAPE(1, 16, 32, 8));
    nino_array *middle = noise(NINO_SHAPE(1, 16, 16, 8));
    nino_stream_set_precision(s, NINO_PREC_MIXED);
    CHECK(nino_stream_act_type(s) == NINO_F32 && nino_stream_precision(s) == NINO_PREC_MIXED);
    CHECK_STR(nino_stream_storage(s), "mixed");
    CHECK(type_after(s, nino_scale(s, nino_upload(s, small, NINO_F32), 2, 0)) == NINO_F32);
    CHECK(type_after(s, nino_scale(s, nino_upload(s, small, NINO_F16), 2, 0)) == NINO_F32);
    CHECK(type_after(s, nino_scale(s, nino_upload(s, large, NINO_F32), 2, 0)) == NINO_F16);
    CHECK(type_after(s, nino_act_op(s, nino_upload(s, middle, NINO_F32), NINO_ACT_SILU)) ==
          NINO_F16);
    CHECK(type_after(s, nino_scale(s, nino_upload(s, middle, NINO_F16), 2, 0)) == NINO_F32);
    // sources of two types become one; softmax is wide; what moves stays what it is
    nino_tensor *a = nino_upload(s, large, NINO_F32), *b = nino_upload(s, large, NINO_BF16);
    CHECK(type_after(s, nino_add(s, a, b)) == NINO_F16);
    CHECK(type_after(s, nino_softmax(s, nino_upload(s, large, NINO_F16), 1)) == NINO_F32);
    CHECK(type_after(s, nino_slice(s, nino_upload(s, large, NINO_F16), 1, 0, 2)) == NINO_F16);
    nino_stream_set_precision(s, NINO_PREC_MIXED_BF16);
    CHECK(type_after(s, nino_scale(s, nino_upload(s, large, NINO_F32), 2, 0)) == NINO_BF16);
    nino_stream_set_precision(s, NINO_PREC_F32);
    CHECK(type_after(s, nino_scale(s, nino_upload(s, large, NINO_F32), 2, 0)) == NINO_F32);
    nino_array_unref(&small);
    nino_array_unref(&middle);
    nino_array_unref(&large);
}

static nino_array *decode(test_device *d, const nino_vae *v, const nino_array *z, nino_precision p)
{
    nino_stream_set_precision(d->s, p);
    nino_tensor *t = nino_upload(d->s, z, nino_stream_act_type(d->s));
    nino_array *a = nino_download(d->s, v->decode(d->s, v, t), NINO_F32);
    CHECK_OK(nino_stream_status(d->s, &err), err);
    return a;
}

// How far fp16 and mixed are from fp32.
typedef struct distance {
    double half, mixed;
} distance;

static distance test_network(test_device *d)
{
    static const char *const files[] = { "v.safetensors", NULL };
    test_dir dir = test_dir_create();
    const random_vae net = {
        .ch = 32, .mult = { 1, 2 }, .n_levels = 2, .n_res = 1, .z = 4, .dtype = NINO_F32, .seed = 5
    };
    nino_vae *v = NULL;
    CHECK_OK(random_vae_save(net, dir.path, files[0], &err), err);
    nino_weights *w = test_open("%s/%s", dir.path, files[0]);
    CHECK_OK(nino_vae_load(w, files[0], &v, &err), err);
    nino_array *z = noise(NINO_SHAPE(1, 4, 4, 4));
    nino_array *exact = decode(d, v, z, NINO_PREC_F32), *half = decode(d, v, z, NINO_PREC_F16);
    nino_array *mixed = decode(d, v, z, NINO_PREC_MIXED);
    const distance far = { nino_array_difference(exact, half).nmse,
                           nino_array_difference(exact, mixed).nmse };
    nino_array_unref(&z);
    nino_array_unref(&exact);
    nino_array_unref(&half);
    nino_array_unref(&mixed);
    nino_vae_unref(&v);
    nino_weights_unref(&w);
    test_dir_remove(&dir, files);
    return far;
}

typedef struct setting {
    const char *mixed_from, *half_from;
} setting;

// In a process of its own: settings are read once. [0] on ref, [1] on cl; NaN: there is no such device.
static void run_with(const setting *x, bool has_ops, distance far[2])
{
    static const char *const devices[] = { "ref", "cl" };
    int fd[2], status = 0;
    CHECK(!pipe(fd));
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        setenv("NINODES_MIXED_FROM", x->mixed_from, 1);
        setenv("NINODES_HALF_FROM", x->half_from, 1);
        if (has_ops)
            test_rules();
        for (int i = 0; i < 2; i++) {
            test_device d;
            far[i] = (distance){ NAN, NAN };
            if (!test_device_open(&d, devices[i], 0))
                continue;
            if (has_ops)
                test_ops(&d);
            far[i] = test_network(&d);
            test_device_close(&d);
        }
        CHECK(write(fd[1], far, 2 * sizeof(*far)) == (ssize_t) (2 * sizeof(*far)));
        exit(0);
    }
    close(fd[1]);
    CHECK(read(fd[0], far, 2 * sizeof(*far)) == (ssize_t) (2 * sizeof(*far)));
    CHECK(waitpid(pid, &status, 0) == pid && !status);
    close(fd[0]);
}

int main(void)
{
    // three steps of the ladder, large tensors only, none
    static const setting settings[] = { { "1000", "4000" },
                                        { "2000", "4000" },
                                        { "1000000", "1000000" } };
    distance far[3][2];
    for (int i = 0; i < 3; i++)
        run_with(&settings[i], i == 0, far[i]);
    for (int k = 0; k < 2; k++) {
        const double half = far[0][k].half, all = far[0][k].mixed, large = far[1][k].mixed;
        if (isnan(half))
            continue;
        printf("  %s: NMSE of fp16 %.2e, mixed %.2e, of large tensors only %.2e\n",
               k ? "cl" : "ref", half, all, large);
        CHECK(large > 0 && large < all && large < half && half < 1e-4 && all < 1e-4);
        CHECK(far[2][k].mixed <= 0);
    }
    return 0;
}
