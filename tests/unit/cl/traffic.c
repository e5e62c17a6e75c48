// What launches are said to request, against counting it tap by tap and group by group; and that
// it is the least where work-groups share nothing.
#include "tests/cl.h"

#include <math.h>

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * fabs(b); }

// Inputs of a convolution that are read for one column of work-groups.
static double inputs(const nino_op_desc *d)
{
    const nino_op_attr *a = &d->attr;
    const int is_video = d->op == NINO_OP_CONV3D, pad = nino_op_pad_begin(a);
    const int64_t h = d->src[0].dim[1] << a->upsample2x, w = d->src[0].dim[2] << a->upsample2x;
    double n = 0;
    for (int64_t b = 0; b < d->dst.dim[0]; b++)
        for (int64_t y = 0; y < d->dst.dim[1]; y++)
            for (int64_t x = 0; x < d->dst.dim[2]; x++)
                for (int t = nino_op_first_tap(d); t < nino_op_taps(d); t++) {
                    const int area = a->kernel * a->kernel, in = t % area;
                    const int64_t sy = y * a->stride + in / a->kernel - pad;
                    const int64_t sx = x * a->stride + in % a->kernel - pad;
                    const int64_t frame = b * a->stride_t + t / area - a->pad_t;
                    n += sy >= 0 && sx >= 0 && sy < h && sx < w && (!is_video || frame >= 0);
                }
    return n * (double) d->src[0].dim[3];
}

static void test_products(void)
{
    static const struct {
        nino_op_id op;
        int kernel, stride, up, pad_t, stride_t, frames;
        nino_pad pad;
    } cases[] = {
        { NINO_OP_CONV2D, 1, 1, 0, 0, 0, 2, NINO_PAD_SAME },
        { NINO_OP_CONV2D, 3, 1, 0, 0, 0, 2, NINO_PAD_SAME },
        { NINO_OP_CONV2D, 3, 2, 0, 0, 0, 1, NINO_PAD_SAME },
        { NINO_OP_CONV2D, 3, 2, 0, 0, 0, 1, NINO_PAD_END },
        { NINO_OP_CONV2D, 3, 1, 1, 0, 0, 1, NINO_PAD_SAME },
        { NINO_OP_CONV3D, 3, 1, 0, 2, 1, 1, NINO_PAD_SAME },
        { NINO_OP_CONV3D, 3, 1, 0, 2, 1, 5, NINO_PAD_SAME },
        { NINO_OP_CONV3D, 1, 1, 0, 1, 2, 3, NINO_PAD_SAME },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_weight w = { .n = 70, .c = 20, .dtype = NINO_F16 };
        nino_op_desc d = { .op = cases[i].op,
                           .attr = { .kernel = cases[i].kernel,
                                     .stride = cases[i].stride,
                                     .pad = cases[i].pad,
                                     .upsample2x = cases[i].up,
                                     .pad_t = cases[i].pad_t,
                                     .stride_t = cases[i].stride_t },
                           .n_src = 1,
                           .weight = &w,
                           .bias = &w,
                           .has_residual = i & 1 };
        const int64_t h = 9, v = 11, f = cases[i].frames;
        d.src[0] = NINO_SHAPE(f, h, v, 20);
        d.dst = NINO_SHAPE(f, (h << cases[i].up) / cases[i].stride,
                           (v << cases[i].up) / cases[i].stride, 70);
        d.src_type[0] = d.dst_type = NINO_F16;
        const nino_cl_tiles t = { nino_shape_count(&d.dst) / 70, 70, 5, 3 };
        const double results = (double) nino_shape_count(&d.dst) * 2 * (i & 1 ? 2 : 1);
        const double weights = 70.0 * 20 * (nino_op_taps(&d) - nino_op_first_tap(&d)) * 4;
        CHECK(near(nino_cl_product_bytes(&d, NINO_F32, &t),
                   inputs(&d) * 2 * 3 + weights * 5 + results + 70 * 4 * 5));
    }
    // Q8_0: 34 bytes for 32 weights
    nino_weight w = { .n = 64, .c = 96, .dtype = NINO_Q8_0 };
    nino_op_desc d = { .op = NINO_OP_LINEAR, .n_src = 1, .weight = &w };
    d.src[0] = NINO_SHAPE(100, 96);
    d.dst = NINO_SHAPE(100, 64);
    CHECK(near(nino_cl_product_bytes(&d, NINO_Q8_0, &(nino_cl_tiles){ 100, 64, 1, 1 }),
               nino_ops[NINO_OP_LINEAR].bytes(&d))); // one work-group: every operand once
}

static void test_others(void)
{
    nino_op_desc d = { .op = NINO_OP_ATTENTION, .n_src = 3, .attr.heads = 4 };
    d.src[0] = d.dst = NINO_SHAPE(2, 100, 4 * 40);
    d.src[1] = d.src[2] = NINO_SHAPE(2, 130, 4 * 40);
    for (int i = 0; i < 3; i++)
        d.src_type[i] = NINO_F16;
    const double q = 2 * 100 * 160, kv = 2 * 130 * 160;
    // 3 blocks of queries of each of the 8 heads go over the keys and values of their head.
    CHECK(near(nino_cl_attention_bytes(&d, 24, 1, 4), q * 4 + kv * 3 * (4 + 2)));
    CHECK(near(nino_cl_attention_bytes(&d, 24, 3, 2), q * 2 * (3 + 1) + kv * 3 * (2 + 2)));
    d.n_src = 4; // a bias for every query and key
    CHECK(near(nino_cl_attention_bytes(&d, 24, 1, 4),
               q * 4 + kv * 3 * (4 + 2) + 8.0 * 100 * 130 * 4));

    nino_op_desc e = { .op = NINO_OP_MUL, .n_src = 2 };
    e.src[0] = e.src[1] = e.dst = NINO_SHAPE(3, 7, 16);
    CHECK(nino_cl_rows_bytes(&e) == nino_ops[NINO_OP_MUL].bytes(&e)); // the two are equal
    e.op = NINO_OP_ADD;
    CHECK(nino_cl_rows_bytes(&e) == nino_ops[NINO_OP_ADD].bytes(&e));
    e.src[1] = NINO_SHAPE(16); // read again for every row
    CHECK(nino_cl_rows_bytes(&e) == 3 * 7 * 16 * 4 * 3);
    e.op = NINO_OP_GROUP_NORM;
    CHECK(nino_cl_rows_bytes(&e) == 3 * 7 * 16 * (4 * 2 + 12));
    e.op = NINO_OP_SOFTMAX;
    CHECK(nino_cl_rows_bytes(&e) == 3 * 7 * 16 * 4 * 4);
}

// What is recorded of a product's launches fits their own global sizes.
static void test_recorded(const nino_sched *schedule)
{
    enum { ROWS = 700, C = 48, N = 200 };
    static nino_event ev[1024];
    nino_error err;
    nino_backend *be = nino_cl_open(test_cl_device(), NULL, NULL, &err);
    CHECK(be);
    ((nino_cl *) be)->be.profile.schedule = schedule;
    const size_t group = nino_cl_schedule_of(&be->profile)->group;
    nino_monitor *m = nino_monitor_create();
    nino_mon_reader *r = nino_mon_reader_create(m);
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be, .monitor = m }, &err);
    nino_array *a = test_wave(NINO_SHAPE(ROWS, C), 0.02f), *w = test_wave(NINO_SHAPE(N, C), 0.013f);
    CHECK(s && r && a && w);
    nino_linear l = { .w = nino_weight_from_array(w, NINO_W_MATRIX) };
    nino_tensor *y = nino_linear_op(s, nino_upload(s, a, NINO_F32), &l);
    nino_array *out = nino_download(s, y, NINO_F32);
    CHECK(out);
    const size_t n = nino_mon_reader_read(r, ev, 1024, NULL);
    double rows = 0;
    int n_launches = 0;
    for (size_t i = 0; i < n; i++) {
        nino_launch k;
        if (ev[i].kind != NINO_EV_KERNEL || ev[i].sub != NINO_OP_LINEAR + 1 ||
            ev[i].u.kernel.flops <= 0)
            continue;
        n_launches++;
        CHECK(nino_launch_read(&k, nino_monitor_name_text(m, nino_kernel_launch(&ev[i]))));
        CHECK(k.local[0] == group && k.local[1] == 1);
        const double part = ev[i].u.kernel.flops / (2.0 * C * N);
        const double along = (double) (k.global[0] / k.local[0]), across = (double) k.global[1];
        CHECK(near(k.requested, 4 * (part * C * across + (double) N * C * along + part * N)));
        rows += part;
    }
    CHECK(n_launches > 0 && near(rows, ROWS));
    nino_array_unref(&out);
    nino_array_unref(&a);
    nino_array_unref(&w);
    nino_stream_destroy(&s);
    nino_weight_destroy(&l.w);
    nino_mon_reader_destroy(&r);
    nino_backend_close(&be);
    nino_monitor_destroy(&m);
}

// Winograd's products are told with their own arithmetic, a quarter of a direct convolution's, so
// that no share of a peak passes 100 %; the totals of the job count the direct one.
static void test_winograd(void)
{
    static nino_event ev[1024];
    nino_error err;
    nino_backend *be = nino_cl_open(test_cl_device(), NULL, NULL, &err);
    CHECK(be);
    CHECK_OK(nino_sched_find("cpu", "test", &be->profile.schedule, &err), err);
    be->profile.has_winograd = true;
    be->profile.winograd_stripe = 1 << 20; // in some stripes
    nino_monitor *m = nino_monitor_create();
    nino_mon_reader *r = nino_mon_reader_create(m);
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be, .monitor = m }, &err);
    nino_array *a = test_wave(NINO_SHAPE(1, 40, 36, 32), 0.02f),
               *w = test_wave(NINO_SHAPE(64, 32, 3, 3), 0.013f);
    CHECK(s && r && a && w);
    nino_conv c = { .w = nino_weight_from_array(w, NINO_W_CONV3) };
    nino_tensor *y = nino_conv2d(s, nino_upload(s, a, NINO_F32), &c);
    nino_array *out = nino_download(s, y, NINO_F32);
    CHECK(out);
    const double direct = 2.0 * 40 * 36 * 64 * 32 * 9;
    const size_t n = nino_mon_reader_read(r, ev, 1024, NULL);
    double flops = 0;
    for (size_t i = 0; i < n; i++)
        if (ev[i].kind == NINO_EV_KERNEL && ev[i].u.kernel.flops > 0) {
            CHECK_STR(nino_monitor_name_text(m, ev[i].name), "wino_gemm");
            flops += ev[i].u.kernel.flops;
        }
    CHECK(near(flops, direct / 4) && near(be->flops, direct));
    nino_array_unref(&out);
    nino_array_unref(&a);
    nino_array_unref(&w);
    nino_stream_destroy(&s);
    nino_weight_destroy(&c.w);
    nino_mon_reader_destroy(&r);
    nino_backend_close(&be);
    nino_monitor_destroy(&m);
}

int main(void)
{
    test_products();
    test_others();
    for (const nino_sched *s = nino_scheds; s->name; s++)
        test_recorded(s);
    test_winograd();
    return 0;
}
