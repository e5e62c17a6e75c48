// Long products are split into launches and Winograd works in stripes: the bits of the result must
// not depend on where the cuts are. Both schedules.
#include "tests/cl.h"

#include <string.h>

static nino_error err;

static nino_weight *weight(nino_shape shape, nino_weight_role role)
{
    nino_array *a = test_wave(shape, 0.013f);
    nino_weight *w = nino_weight_from_array(a, role);
    CHECK(w);
    nino_array_unref(&a);
    return w;
}

static nino_tensor *input(nino_stream *s, nino_shape shape, float step)
{
    nino_array *a = test_wave(shape, step);
    nino_tensor *t = nino_upload(s, a, NINO_F32);
    nino_array_unref(&a);
    return t;
}

enum { LINEAR, DIRECT, FEW, WINOGRAD, ATTENTION, N_KINDS };

static nino_array *run(nino_backend *be, int kind)
{
    const nino_stream_params p = { .backend = be };
    nino_stream *s = nino_stream_create(&p, &err);
    CHECK(s);
    nino_conv c = { .act = NINO_ACT_SILU };
    nino_linear l = { 0 };
    nino_tensor *y = NULL;
    switch (kind) {
    case LINEAR:
        l.w = weight(NINO_SHAPE(70, 40), NINO_W_MATRIX);
        y = nino_linear_op(s, input(s, NINO_SHAPE(3001, 40), 0.02f), &l);
        break;
    case DIRECT:
        c.w = weight(NINO_SHAPE(20, 20, 3, 3), NINO_W_CONV3);
        y = nino_conv2d(s, input(s, NINO_SHAPE(2, 41, 37, 20), 0.02f), &c);
        break;
    case FEW:
        c.w = weight(NINO_SHAPE(3, 16, 3, 3), NINO_W_CONV3);
        y = nino_conv2d(s, input(s, NINO_SHAPE(2, 41, 37, 16), 0.02f), &c);
        break;
    case WINOGRAD:
        c.w = weight(NINO_SHAPE(40, 36, 3, 3), NINO_W_CONV3);
        y = nino_conv2d_add(s, input(s, NINO_SHAPE(2, 41, 37, 36), 0.02f), &c,
                            input(s, NINO_SHAPE(2, 41, 37, 40), 0.03f));
        break;
    case ATTENTION:
        y = nino_attention(s, input(s, NINO_SHAPE(2, 200, 48), 0.02f),
                           input(s, NINO_SHAPE(2, 77, 48), 0.03f),
                           input(s, NINO_SHAPE(2, 77, 48), 0.01f), 2, 0);
        break;
    }
    nino_array *out = nino_download(s, y, NINO_F32);
    CHECK_OK(nino_stream_status(s, &err), err);
    nino_stream_destroy(&s);
    nino_weight_destroy(&c.w);
    nino_weight_destroy(&l.w);
    return out;
}

int main(void)
{
    for (const nino_sched *schedule = nino_scheds; schedule->name; schedule++) {
        nino_backend *be = nino_cl_open(test_cl_device(), NULL, NULL, &err);
        CHECK(be);
        be->profile.schedule = schedule;
        for (int kind = 0; kind < N_KINDS; kind++) {
            be->profile.has_winograd = kind == WINOGRAD;
            be->profile.peak_f32 = 1e15;
            be->profile.winograd_stripe = 1 << 30;
            CHECK(nino_cl_pieces((nino_cl *) be, 1e9) == 1);
            nino_array *whole = run(be, kind);
            be->profile.peak_f32 = 1e7;
            be->profile.winograd_stripe = 1;
            CHECK(nino_cl_pieces((nino_cl *) be, 1e7) > 10);
            nino_array *cut = run(be, kind);
            CHECK(whole->bytes == cut->bytes && !memcmp(whole->data, cut->data, cut->bytes));
            nino_array_unref(&whole);
            nino_array_unref(&cut);
        }
        nino_backend_close(&be);
    }
    return 0;
}
