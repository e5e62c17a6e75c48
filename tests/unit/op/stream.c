// Streams on the reference backend: consuming, views, in-place, the sticky error, cancelling.
#include "core/op/backend.h"
#include "tests/test.h"

#include <math.h>

static nino_error err;

static nino_array *array(nino_shape shape, float first, float step)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = first + step * (float) i;
    return a;
}

static nino_tensor *tensor(nino_stream *s, nino_shape shape, float first, float step)
{
    nino_array *a = array(shape, first, step);
    nino_tensor *t = nino_upload(s, a, NINO_F32);
    nino_array_unref(&a);
    return t;
}

static nino_weight *weight(nino_shape shape, nino_weight_role role, float first, float step)
{
    nino_array *a = array(shape, first, step);
    nino_weight *w = nino_weight_from_array(a, role);
    CHECK(w);
    nino_array_unref(&a);
    return w;
}

static uint64_t in_use(nino_backend *be)
{
    nino_mem_stat m;
    nino_pool_stat(be->pool, &m);
    return m.in_use;
}

static uint64_t peak(nino_backend *be)
{
    nino_mem_stat m;
    nino_pool_stat(be->pool, &m);
    return m.peak;
}

static nino_stream *open_stream(nino_backend *be, const volatile int *cancel)
{
    const nino_stream_params p = { .backend = be, .cancel = cancel };
    nino_stream *s = nino_stream_create(&p, &err);
    CHECK(s);
    return s;
}

static void test_consume(nino_backend *be)
{
    nino_stream *s = open_stream(be, NULL);
    nino_pool_reset_peak(be->pool);
    nino_tensor *x = tensor(s, NINO_SHAPE(1, 32, 32, 4), 0, 1); // 16 KiB
    const uint64_t one = in_use(be);
    CHECK(one == 16384);
    x = nino_scale(s, x, 2, 1); // alone: in place
    CHECK(in_use(be) == one && peak(be) == one);
    nino_tensor *y = nino_scale(s, nino_ref(x), 1, 1); // x is kept: a second block
    CHECK(in_use(be) == 2 * one);
    nino_array *a = nino_download(s, y, NINO_F32);
    CHECK(nino_array_f32(a)[3] == 8);
    nino_array_unref(&a);
    CHECK(in_use(be) == one);
    x = nino_add(s, nino_ref(x), x); // both operands are one tensor
    a = nino_download(s, x, NINO_F32);
    CHECK(nino_array_f32(a)[3] == 14 && in_use(be) == 0);
    nino_array_unref(&a);
    CHECK_OK(nino_stream_status(s, &err), err);
    nino_stream_destroy(&s);
}

static void test_views(nino_backend *be)
{
    nino_stream *s = open_stream(be, NULL);
    nino_tensor *x = tensor(s, NINO_SHAPE(2, 3, 4), 0, 1);
    nino_tensor *v = nino_reshape(s, nino_ref(x), NINO_SHAPE(6, 4));
    CHECK(v && v != x && nino_dim(v, 0) == 6 && nino_dim(x, 0) == 2 && nino_dim(x, -1) == 4);
    nino_tensor *w = nino_reshape(s, nino_ref(v), NINO_SHAPE(24)); // view of a view
    CHECK(in_use(be) == 256);
    nino_unref(v);
    v = nino_scale(s, w, 10, 0); // x still looks at the memory: not in place
    CHECK(in_use(be) == 512);
    nino_array *a = nino_download(s, x, NINO_F32), *b = nino_download(s, v, NINO_F32);
    CHECK(nino_array_f32(a)[5] == 5 && nino_array_f32(b)[5] == 50 && in_use(be) == 0);
    nino_array_unref(&a);
    nino_array_unref(&b);
    // A view that is the only user of its memory may be overwritten.
    x = tensor(s, NINO_SHAPE(2, 3), 0, 1);
    v = nino_reshape(s, nino_ref(x), NINO_SHAPE(6));
    nino_unref(x);
    v = nino_scale(s, v, 2, 0);
    CHECK(in_use(be) == 256);
    a = nino_download(s, v, NINO_F32);
    CHECK(nino_array_f32(a)[5] == 10 && in_use(be) == 0);
    nino_array_unref(&a);
    // Other element count.
    x = nino_reshape(s, tensor(s, NINO_SHAPE(6), 0, 1), NINO_SHAPE(5));
    CHECK(!x && nino_stream_status(s, &err) == NINO_ERR_ARG);
    CHECK_STR(err.where, "reshape");
    CHECK(in_use(be) == 0);
    nino_stream_destroy(&s);
}

// A slice in one piece is a view where a block could begin, else a copy.
static void test_slices(nino_backend *be)
{
    nino_stream *s = open_stream(be, NULL);
    nino_tensor *x = tensor(s, NINO_SHAPE(1, 6, 64), 0, 1); // rows of 256 bytes
    const uint64_t one = in_use(be);
    nino_tensor *v = nino_slice(s, nino_ref(x), 1, 2, 3), *w = nino_slice(s, nino_ref(v), 1, 1, 1);
    CHECK(in_use(be) == one && nino_dim(v, 1) == 3 && nino_dim(w, 1) == 1);
    w = nino_scale(s, w, -1, 0); // others look at the memory: not in place
    CHECK(in_use(be) > one);
    nino_array *a = nino_download(s, w, NINO_F32), *b = nino_download(s, v, NINO_F32);
    CHECK(nino_array_f32(a)[1] == -(3 * 64 + 1) && nino_array_f32(b)[64] == 3 * 64);
    nino_array_unref(&a);
    nino_array_unref(&b);
    v = nino_slice(s, x, 1, 5, 1); // the last user of all of it
    v = nino_scale(s, v, 2, 0);
    CHECK(in_use(be) == one);
    a = nino_download(s, v, NINO_F32);
    CHECK(nino_array_f32(a)[63] == 2 * (6 * 64 - 1) && in_use(be) == 0);
    nino_array_unref(&a);
    x = tensor(s, NINO_SHAPE(4, 3), 0, 1); // rows of 12 bytes
    v = nino_slice(s, nino_ref(x), 0, 1, 2);
    CHECK(in_use(be) == 512);
    a = nino_download(s, v, NINO_F32);
    CHECK(nino_array_f32(a)[0] == 3 && nino_array_f32(a)[5] == 8);
    nino_array_unref(&a);
    v = nino_slice(s, x, 0, 3, 2); // beyond the end
    CHECK(!v && nino_stream_status(s, &err) == NINO_ERR_ARG && in_use(be) == 0);
    nino_stream_destroy(&s);
}

static void test_sticky(nino_backend *be)
{
    nino_stream *s = open_stream(be, NULL);
    nino_tensor *x = tensor(s, NINO_SHAPE(1, 2, 2, 3), 0, 1);
    nino_tensor *kept = nino_ref(x);
    nino_tensor *other = tensor(s, NINO_SHAPE(1, 2, 2, 4), 0, 1);
    x = nino_add(s, x, other); // shapes differ
    CHECK(!x && nino_stream_status(s, &err) == NINO_ERR_ARG);
    CHECK_STR(err.where, "add");
    CHECK(in_use(be) == 256); // sources were consumed, the kept one lives
    x = nino_group_norm(s, x, &(nino_norm){ 0 }, NINO_ACT_SILU);
    CHECK(!nino_softmax(s, x, 1) && !nino_download(s, NULL, NINO_F32));
    nino_stream_fail(s, NINO_ERR_DEVICE, "late", "ignored");
    CHECK(nino_stream_status(s, &err) == NINO_ERR_ARG); // the first one stays
    nino_unref(kept);
    CHECK(in_use(be) == 0);
    nino_stream_clear_error(s);
    x = tensor(s, NINO_SHAPE(4), 0, 1);
    CHECK(x && nino_stream_status(s, &err) == NINO_OK);
    nino_stream_destroy(&s); // frees x
    CHECK(in_use(be) == 0);
}

static void test_cancel(nino_backend *be)
{
    volatile int cancel = 0;
    nino_stream *s = open_stream(be, &cancel);
    nino_tensor *x = tensor(s, NINO_SHAPE(4), 0, 1);
    cancel = 1;
    x = nino_scale(s, x, 1, 0);
    CHECK(!x && nino_stream_status(s, &err) == NINO_ERR_CANCELLED && in_use(be) == 0);
    nino_stream_destroy(&s);
}

static void test_residency(nino_backend *be)
{
    nino_backend *second = nino_ref_open(0, NULL, &err);
    nino_linear l = { .w = weight(NINO_SHAPE(2, 3), NINO_W_MATRIX, 1, 1),
                      .b = weight(NINO_SHAPE(2), NINO_W_VECTOR, 10, 1) };
    for (int round = 0; round < 2; round++) { // packed once
        nino_stream *s = open_stream(be, NULL);
        nino_tensor *y = nino_linear_op(s, tensor(s, NINO_SHAPE(1, 3), 1, 0), &l);
        nino_array *a = nino_download(s, y, NINO_F32);
        CHECK(a && nino_array_f32(a)[0] == 16 && nino_array_f32(a)[1] == 26);
        nino_array_unref(&a);
        nino_stream_destroy(&s);
        nino_mem_stat m;
        nino_pool_stat(be->pool, &m);
        CHECK(m.by_owner[NINO_OWN_WEIGHTS] == 512 && m.in_use == 512);
    }
    nino_stream *s = open_stream(second, NULL);
    nino_unref(nino_linear_op(s, tensor(s, NINO_SHAPE(1, 3), 1, 0), &l));
    CHECK(in_use(second) == 512);
    nino_stream_destroy(&s);
    nino_backend_drop_weights(be);
    CHECK(in_use(be) == 0 && in_use(second) == 512);
    nino_backend_close(&second); // with a weight still resident
    nino_linear_release(&l);
    CHECK(!l.w && in_use(be) == 0);
}

static void test_nomem(void)
{
    nino_backend *be = nino_ref_open(1 << 20, NULL, &err);
    nino_stream *s = open_stream(be, NULL);
    nino_tensor *a = nino_zeros(s, NINO_SHAPE(128, 1024), NINO_F32); // half of it
    nino_tensor *b = nino_zeros(s, NINO_SHAPE(129, 1024), NINO_F32);
    CHECK(a && !b && nino_stream_status(s, &err) == NINO_ERR_NOMEM);
    CHECK(strstr(err.msg, "MiB"));
    nino_stream_destroy(&s);
    CHECK(in_use(be) == 0);
    nino_backend_close(&be);
}

// Two models that fit only one after the other: the weights of the idle one make room.
static void test_eviction(void)
{
    nino_backend *be = nino_ref_open(1 << 20, NULL, &err);
    nino_linear l[2];
    for (int i = 0; i < 2; i++)
        l[i] = (nino_linear){ .w = weight(NINO_SHAPE(300, 500), NINO_W_MATRIX, (float) i + 1, 0),
                              .b = weight(NINO_SHAPE(300), NINO_W_VECTOR, 10, 0) };
    nino_stream *s = open_stream(be, NULL);
    for (int round = 0; round < 4; round++) {
        nino_tensor *y = nino_linear_op(s, tensor(s, NINO_SHAPE(1, 500), 1, 0), &l[round & 1]);
        nino_array *a = nino_download(s, y, NINO_F32);
        CHECK_OK(nino_stream_status(s, &err), err);
        CHECK(a && nino_array_f32(a)[299] == (float) (10 + 500 * (1 + (round & 1))));
        nino_array_unref(&a);
        nino_mem_stat m;
        nino_pool_stat(be->pool, &m);
        CHECK(m.reserved <= 1 << 20 && m.by_owner[NINO_OWN_WEIGHTS] < 700 << 10);
    }
    nino_tensor *big = nino_zeros(s, NINO_SHAPE(200, 1024), NINO_F32); // and for activations
    CHECK(big && in_use(be) < (900 << 10));
    CHECK(!nino_zeros(s, NINO_SHAPE(200, 1024), NINO_F32)); // nothing is left to give up
    CHECK(nino_stream_status(s, &err) == NINO_ERR_NOMEM);
    nino_unref(big);
    nino_stream_destroy(&s);
    for (int i = 0; i < 2; i++)
        nino_linear_release(&l[i]);
    CHECK(in_use(be) == 0);
    nino_backend_close(&be);
}

static void test_finite(nino_backend *be)
{
    nino_stream *s = open_stream(be, NULL);
    nino_array *a = array(NINO_SHAPE(5), 0, 1);
    nino_tensor *x = nino_upload(s, a, NINO_F16);
    CHECK(nino_check_finite(s, x, "good", &err) == NINO_OK);
    nino_unref(x);
    nino_array_f32(a)[1] = NAN;
    nino_array_f32(a)[4] = 1e9f; // infinite as f16
    x = nino_upload(s, a, NINO_F16);
    CHECK(nino_check_finite(s, x, "8 VAEDecode", &err) == NINO_ERR_RANGE);
    CHECK_STR(err.kind, "nan");
    CHECK_STR(err.where, "8 VAEDecode");
    CHECK(strstr(err.msg, "2 of 5"));
    nino_unref(x);
    nino_array_unref(&a);
    nino_stream_destroy(&s);
    CHECK(in_use(be) == 0);
}

int main(void)
{
    nino_backend *be = nino_ref_open(0, NULL, &err);
    CHECK(be);
    test_consume(be);
    test_views(be);
    test_slices(be);
    test_sticky(be);
    test_cancel(be);
    test_residency(be);
    test_nomem();
    test_eviction();
    test_finite(be);
    CHECK(in_use(be) == 0);
    nino_backend_close(&be);
    return 0;
}
