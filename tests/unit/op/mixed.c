// Mixed precision: every op has a rule, small tensors stay fp32 and large ones become 16 bits whatever
// their neighbours are, and a network's error lies between fp32 and 16 bits.
#include "core/op/mixed.h"
#include "core/tensor/difference.h"
#include "tests/random_vae.h"
#include "tests/vae.h"

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

// 1000 values an item are the border (NINODES_MIXED_FROM).
static void test_ops(test_device *d)
{
    nino_stream *s = d->s;
    nino_array *small = noise(NINO_SHAPE(1, 4, 4, 8)), *large = noise(NINO_SHAPE(1, 16, 16, 8));
    nino_stream_set_precision(s, NINO_PREC_MIXED);
    CHECK(nino_stream_act_type(s) == NINO_F32 && nino_stream_precision(s) == NINO_PREC_MIXED);
    CHECK_STR(nino_stream_storage(s), "mixed");
    CHECK(type_after(s, nino_scale(s, nino_upload(s, small, NINO_F32), 2, 0)) == NINO_F32);
    CHECK(type_after(s, nino_scale(s, nino_upload(s, small, NINO_F16), 2, 0)) == NINO_F32);
    CHECK(type_after(s, nino_scale(s, nino_upload(s, large, NINO_F32), 2, 0)) == NINO_F16);
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

static void test_network(test_device *d, const char *name)
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
    const double of_half = nino_array_difference(exact, half).nmse;
    const double of_mixed = nino_array_difference(exact, mixed).nmse;
    printf("  %s: NMSE of fp16 %.2e, mixed %.2e\n", name, of_half, of_mixed);
    CHECK(of_mixed > 0 && of_mixed < of_half && of_half < 1e-4);
    nino_array_unref(&z);
    nino_array_unref(&exact);
    nino_array_unref(&half);
    nino_array_unref(&mixed);
    nino_vae_unref(&v);
    nino_weights_unref(&w);
    test_dir_remove(&dir, files);
}

int main(void)
{
    setenv("NINODES_MIXED_FROM", "1000", 1);
    test_rules();
    static const char *const devices[] = { "ref", "cl" };
    for (int i = 0; i < 2; i++) {
        test_device d;
        if (!test_device_open(&d, devices[i], 0))
            continue;
        test_ops(&d);
        test_network(&d, devices[i]);
        test_device_close(&d);
    }
    return 0;
}
