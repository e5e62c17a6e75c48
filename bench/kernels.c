// Kernel benchmark: products, attention and 3x3 convolutions through the stream API against OpenBLAS and
// oneDNN, interleaved in one process, so that the ratios hold on a noisy machine. Every result is
// compared with the library's; attention's time with that of its two products alone.
// OpenBLAS takes a processor that it does not know for an older one: OPENBLAS_CORETYPE names the kind.
//   bench/kernels [--rounds N] [--device SEL] [--only TEXT]
//                 [--rows N: of products with weights] [--type NAME: of weights]
// TEXT: part of product, weights, pairs (weights with inputs of bf16), attention, conv.
#include "core/base/time.h"
#include "core/op/backend.h"
#include "core/harness/kernel_check.h"
#include "core/op/device/device.h"
#include "core/op/weight.h"
#include <ninodes/ctx.h>

#include <cblas.h>
#include <dnnl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ROUNDS = 32, N_DIRECT = 3 };

static nino_error err;
static nino_backend *backend;
static int rounds = 5, failures;

static void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static void check(nino_status st)
{
    if (st) {
        fprintf(stderr, "bench: %s: %s\n", err.where, err.msg);
        exit(1);
    }
}

// ---- numbers ---------------------------------------------------------------------------------

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

static double median(const double *v)
{
    double s[MAX_ROUNDS];
    memcpy(s, v, (size_t) rounds * sizeof(*s));
    qsort(s, (size_t) rounds, sizeof(*s), by_value);
    return rounds % 2 ? s[rounds / 2] : (s[rounds / 2 - 1] + s[rounds / 2]) / 2;
}

static double median_ratio(const double *a, const double *b)
{
    double r[MAX_ROUNDS];
    for (int i = 0; i < rounds; i++)
        r[i] = a[i] / b[i];
    return median(r);
}

// Quartiles of the ratios of rounds.
static const char *spread(const double *a, const double *b)
{
    static char text[32];
    double r[MAX_ROUNDS];
    for (int i = 0; i < rounds; i++)
        r[i] = a[i] / b[i];
    qsort(r, (size_t) rounds, sizeof(*r), by_value);
    snprintf(text, sizeof(text), "%.2f .. %.2f", r[(rounds - 1) / 4], r[(3 * rounds - 1) / 4]);
    return text;
}

static nino_array *random_array(nino_shape shape)
{
    static uint32_t state = 1;
    nino_array *a = nino_array_create(NINO_F32, shape);
    if (!a)
        die("out of memory");
    for (int64_t i = 0; i < nino_shape_count(&shape); i++) {
        state = state * 1664525u + 1013904223u;
        nino_array_f32(a)[i] = (float) (state >> 8) / 16777216.0f - 0.5f;
    }
    return a;
}

static double nmse(const float *a, const float *b, int64_t n)
{
    double e = 0, s = 0;
    for (int64_t i = 0; i < n; i++) {
        const double d = (double) a[i] - b[i];
        e += d * d;
        s += (double) b[i] * b[i];
    }
    return e / s;
}

static void judge(const char *what, double got, double bound)
{
    if (got <= bound)
        return;
    printf("FAIL %s: NMSE %.2g against the library\n", what, got);
    failures++;
}

// Threads of a library that wait by spinning must not take time from the next candidate.
static void settle(void) { usleep(150000); }

// ---- our side --------------------------------------------------------------------------------

typedef struct layer { // one op with its operands, on the device
    nino_stream *stream;
    nino_tensor *x;
    nino_weight *w;
    nino_conv conv;
    nino_linear linear;
    bool is_conv;
} layer;

static layer layer_open(const nino_array *x, nino_array *w, nino_precision precision)
{
    const nino_stream_params p = { .backend = backend, .precision = precision };
    layer l = { .is_conv = x->shape.rank == 4 };
    if (!(l.stream = nino_stream_create(&p, &err)))
        check(err.code);
    l.x = nino_upload(l.stream, x, precision == NINO_PREC_BF16 ? NINO_BF16 : NINO_F32);
    l.w = nino_weight_from_array(w, l.is_conv ? NINO_W_CONV3 : NINO_W_MATRIX);
    l.conv.w = l.linear.w = l.w;
    return l;
}

static void layer_close(layer *l)
{
    nino_unref(l->x);
    nino_stream_destroy(&l->stream);
    nino_weight_destroy(&l->w);
}

static nino_tensor *layer_result(layer *l, bool winograd)
{
    backend->profile.has_winograd = winograd;
    return l->is_conv ? nino_conv2d(l->stream, nino_ref(l->x), &l->conv)
                      : nino_linear_op(l->stream, nino_ref(l->x), &l->linear);
}

static double layer_time(layer *l, bool winograd)
{
    const uint64_t start = nino_now_ns();
    nino_tensor *y = layer_result(l, winograd);
    check(nino_stream_finish(l->stream, &err));
    const double s = (double) (nino_now_ns() - start) * 1e-9;
    nino_unref(y);
    return s;
}

static nino_array *layer_download(layer *l, bool winograd)
{
    nino_array *a = nino_download(l->stream, layer_result(l, winograd), NINO_F32);
    check(nino_stream_status(l->stream, &err));
    return a;
}

// ---- products --------------------------------------------------------------------------------

static void bench_gemm(int n)
{
    char title[64];
    double ours[MAX_ROUNDS], blas[MAX_ROUNDS];
    nino_array *x = random_array(NINO_SHAPE(n, n)), *w = random_array(NINO_SHAPE(n, n));
    nino_array *y = random_array(NINO_SHAPE(n, n));
    layer l = layer_open(x, w, NINO_PREC_F32);
    snprintf(title, sizeof(title), "product %d x %d x %d", n, n, n);
    for (int r = -1; r < rounds; r++) { // the first round warms up and compares
        settle();
        const uint64_t start = nino_now_ns();
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, n, 1, nino_array_f32(x), n,
                    nino_array_f32(w), n, 0, nino_array_f32(y), n);
        const double s = (double) (nino_now_ns() - start) * 1e-9;
        settle();
        if (r < 0) {
            nino_array *a = layer_download(&l, true);
            judge(title, nmse(nino_array_f32(a), nino_array_f32(y), (int64_t) n * n), 1e-11);
            nino_array_unref(&a);
        } else {
            blas[r] = s;
            ours[r] = layer_time(&l, true);
        }
    }
    const double gflop = 2e-9 * n * n * n;
    printf("%-34s %8.1f   OpenBLAS %8.1f   ratio %.2f (%s)\n", title, gflop / median(ours),
           gflop / median(blas), median_ratio(blas, ours), spread(blas, ours));
    layer_close(&l);
    nino_array_unref(&x);
    nino_array_unref(&w);
    nino_array_unref(&y);
}

// Processor time of this process, which others on the machine hardly change.
static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

// A product of m rows with weights [n,n] of another type, and of inputs of another precision,
// interleaved with that of f32.
static void bench_weights(int m, int n, nino_dtype type, nino_precision precision)
{
    const bool is_bf16 = precision == NINO_PREC_BF16;
    double f32[MAX_ROUNDS], ours[MAX_ROUNDS], cpu[MAX_ROUNDS];
    uint64_t state = 1;
    nino_dtype kept;
    nino_array *x = random_array(NINO_SHAPE(m, n)), *w = random_array(NINO_SHAPE(n, n));
    nino_array *q = nino_dtype_is_block(type) ? nino_check_blocks(w->shape, type, &state)
                                              : nino_array_convert(w, type);
    if (!q)
        die("out of memory");
    layer a = layer_open(x, w, NINO_PREC_F32), b = layer_open(x, q, precision);
    for (int r = -1; r < rounds; r++) { // the first round warms up
        const double c0 = cpu_seconds(), s = layer_time(&a, true), c1 = cpu_seconds(),
                     t = layer_time(&b, true), c2 = cpu_seconds();
        if (r < 0)
            continue;
        f32[r] = s;
        ours[r] = t;
        cpu[r] = (c2 - c1) / (c1 - c0);
    }
    const double ratio = median_ratio(ours, f32), gflop = 2e-9 * n * n * m;
    const size_t bytes = backend->impl->packed_bytes(backend, b.w, &kept);
    printf("product %d x %d, weights %-8s%s %8.1f   f32      %8.1f   time  %.2f (%s)   cpu %.2f   "
           "(%.3f of the file)\n",
           m, n, nino_dtype_name(type), is_bf16 ? ", inputs bf16" : "", gflop / median(ours),
           gflop / median(f32), ratio, spread(ours, f32), median(cpu),
           (double) bytes / (double) q->bytes);
    if (ratio > 1.25 && median(cpu) > 1.25) {
        printf("FAIL: more than 1.25 times as long\n");
        failures++;
    }
    layer_close(&a);
    layer_close(&b);
    nino_array_unref(&x);
    nino_array_unref(&w);
    nino_array_unref(&q);
}

// ---- attention -------------------------------------------------------------------------------

// The two products of a head: scores [n,n] of q and k, or, `is_second`, y of scores and v.
static void head_product(bool is_second, int n, int depth, int ld, const float *a, const float *b,
                         float *y)
{
    if (is_second)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, depth, n, 1, a, n, b, ld, 0, y,
                    ld);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, depth, 1, a, ld, b, ld, 0, y, n);
}

static void soften_rows(float *s, int n, double scale)
{
    for (int r = 0; r < n; r++, s += n) {
        double sum = 0;
        float most = s[0];
        for (int i = 1; i < n; i++)
            most = fmaxf(most, s[i]);
        for (int i = 0; i < n; i++)
            sum += s[i] = (float) exp((s[i] - most) * scale);
        for (int i = 0; i < n; i++)
            s[i] /= (float) sum;
    }
}

// Seconds of the products of all heads; with_softmax: y is the attention's result.
static double products_time(int heads, int depth, int n, nino_array *const x[3], nino_array *scores,
                            nino_array *y, bool with_softmax)
{
    const uint64_t start = nino_now_ns();
    const int ld = heads * depth;
    for (int h = 0; h < heads; h++) {
        float *s = nino_array_f32(scores);
        const int at = h * depth;
        head_product(false, n, depth, ld, nino_array_f32(x[0]) + at, nino_array_f32(x[1]) + at, s);
        if (with_softmax)
            soften_rows(s, n, 1 / sqrt(depth));
        head_product(true, n, depth, ld, s, nino_array_f32(x[2]) + at, nino_array_f32(y) + at);
    }
    return (double) (nino_now_ns() - start) * 1e-9;
}

static void bench_attention(int heads, int depth, int n)
{
    const nino_stream_params p = { .backend = backend, .precision = NINO_PREC_F32 };
    nino_stream *s = nino_stream_create(&p, &err);
    nino_array *x[3], *scores = random_array(NINO_SHAPE(n, n)),
                      *y = random_array(NINO_SHAPE(1, n, heads * depth));
    nino_tensor *t[3];
    double ours[MAX_ROUNDS], bare[MAX_ROUNDS];
    char title[64];
    for (int i = 0; i < 3; i++) {
        x[i] = random_array(NINO_SHAPE(1, n, heads * depth));
        t[i] = nino_upload(s, x[i], NINO_F32);
    }
    snprintf(title, sizeof(title), "attention, %d heads of %d, %d", heads, depth, n);
    for (int r = -1; r < rounds; r++) { // the first round warms up and compares
        settle();
        const double theirs = products_time(heads, depth, n, x, scores, y, r < 0);
        settle();
        const uint64_t start = nino_now_ns();
        nino_tensor *o =
            nino_attention(s, nino_ref(t[0]), nino_ref(t[1]), nino_ref(t[2]), heads, 0);
        check(nino_stream_finish(s, &err));
        const double seconds = (double) (nino_now_ns() - start) * 1e-9;
        if (r < 0) {
            nino_array *a = nino_download(s, o, NINO_F32);
            check(nino_stream_status(s, &err));
            judge(title, nmse(nino_array_f32(a), nino_array_f32(y), nino_shape_count(&y->shape)),
                  1e-10);
            nino_array_unref(&a);
            continue;
        }
        nino_unref(o);
        ours[r] = seconds;
        bare[r] = theirs;
    }
    const double gflop = 4e-9 * n * n * heads * depth;
    printf("%-34s %8.1f   its products by OpenBLAS %8.1f   ratio %.2f (%s)\n", title,
           gflop / median(ours), gflop / median(bare), median_ratio(bare, ours),
           spread(bare, ours));
    for (int i = 0; i < 3; i++) {
        nino_array_unref(&x[i]);
        nino_unref(t[i]);
    }
    nino_array_unref(&scores);
    nino_array_unref(&y);
    nino_stream_destroy(&s);
}

// ---- convolutions: oneDNN --------------------------------------------------------------------

static dnnl_engine_t engine;
static dnnl_stream_t queue;

static void dn(dnnl_status_t st)
{
    if (st != dnnl_success)
        die("oneDNN failed");
}

typedef struct onednn { // a convolution in one of oneDNN's implementations
    dnnl_primitive_t prim;
    dnnl_memory_t src, weights, dst;
    dnnl_memory_desc_t plain; // of the result, NHWC
    char name[64];
} onednn;

static void reorder(dnnl_memory_t from, dnnl_memory_t to)
{
    const dnnl_memory_desc_t *f, *t;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t p;
    dn(dnnl_memory_get_memory_desc(from, &f));
    dn(dnnl_memory_get_memory_desc(to, &t));
    dn(dnnl_reorder_primitive_desc_create(&desc, f, engine, t, engine, NULL));
    dn(dnnl_primitive_create(&p, desc));
    const dnnl_exec_arg_t args[] = { { DNNL_ARG_FROM, from }, { DNNL_ARG_TO, to } };
    dn(dnnl_primitive_execute(p, queue, 2, args));
    dn(dnnl_stream_wait(queue));
    dn(dnnl_primitive_destroy(p));
    dn(dnnl_primitive_desc_destroy(desc));
}

static dnnl_memory_t memory_like(const_dnnl_primitive_desc_t desc, dnnl_query_t what)
{
    dnnl_memory_t m;
    dn(dnnl_memory_create(&m, dnnl_primitive_desc_query_md(desc, what, 0), engine,
                          DNNL_MEMORY_ALLOCATE));
    return m;
}

static void fill(dnnl_memory_t to, const int64_t *dims, dnnl_format_tag_t tag, nino_array *a)
{
    dnnl_memory_desc_t plain;
    dnnl_memory_t m;
    dn(dnnl_memory_desc_init_by_tag(&plain, 4, dims, dnnl_f32, tag));
    dn(dnnl_memory_create(&m, &plain, engine, a->data));
    reorder(m, to);
    dn(dnnl_memory_destroy(m));
}

// False: oneDNN has none for that layout here.
static bool onednn_open(onednn *o, int c, int h, dnnl_format_tag_t tag, nino_array *x,
                        nino_array *w)
{
    const dnnl_dims_t image = { 1, c, h, h }, filter = { c, c, 3, 3 }, ones = { 1, 1 };
    dnnl_memory_desc_t src, weights, dst;
    dnnl_convolution_desc_t conv;
    dnnl_primitive_desc_t desc;
    const char *name = "";
    dn(dnnl_memory_desc_init_by_tag(&src, 4, image, dnnl_f32, tag));
    dn(dnnl_memory_desc_init_by_tag(&weights, 4, filter, dnnl_f32, dnnl_format_tag_any));
    dn(dnnl_memory_desc_init_by_tag(&dst, 4, image, dnnl_f32, tag));
    dn(dnnl_memory_desc_init_by_tag(&o->plain, 4, image, dnnl_f32, dnnl_nhwc));
    dn(dnnl_convolution_forward_desc_init(&conv, dnnl_forward_inference, dnnl_convolution_direct,
                                          &src, &weights, NULL, &dst, ones, ones, ones));
    if (dnnl_primitive_desc_create(&desc, &conv, NULL, engine, NULL) != dnnl_success)
        return false;
    dn(dnnl_primitive_create(&o->prim, desc));
    dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, (void *) &name);
    snprintf(o->name, sizeof(o->name), "%s", name);
    o->src = memory_like(desc, dnnl_query_src_md);
    o->weights = memory_like(desc, dnnl_query_weights_md);
    o->dst = memory_like(desc, dnnl_query_dst_md);
    fill(o->src, image, dnnl_nhwc, x);
    fill(o->weights, filter, dnnl_oihw, w);
    dn(dnnl_primitive_desc_destroy(desc));
    return true;
}

static void onednn_close(onednn *o)
{
    dn(dnnl_primitive_destroy(o->prim));
    dn(dnnl_memory_destroy(o->src));
    dn(dnnl_memory_destroy(o->weights));
    dn(dnnl_memory_destroy(o->dst));
}

static double onednn_time(const onednn *o)
{
    const dnnl_exec_arg_t args[] = { { DNNL_ARG_SRC, o->src },
                                     { DNNL_ARG_WEIGHTS, o->weights },
                                     { DNNL_ARG_DST, o->dst } };
    const uint64_t start = nino_now_ns();
    dn(dnnl_primitive_execute(o->prim, queue, 3, args));
    dn(dnnl_stream_wait(queue));
    return (double) (nino_now_ns() - start) * 1e-9;
}

static void compare(const char *title, layer *l, const onednn *o, nino_array *y)
{
    dnnl_memory_t m;
    dn(dnnl_memory_create(&m, &o->plain, engine, y->data));
    reorder(o->dst, m);
    dn(dnnl_memory_destroy(m));
    for (int winograd = 0; winograd < 2; winograd++) {
        nino_array *a = layer_download(l, winograd);
        judge(title, nmse(nino_array_f32(a), nino_array_f32(y), nino_shape_count(&y->shape)),
              winograd ? 1e-9 : 1e-10);
        nino_array_unref(&a);
    }
}

static void bench_conv(int c, int h)
{
    static const dnnl_format_tag_t tags[N_DIRECT] = { dnnl_format_tag_any, dnnl_nhwc, dnnl_nchw };
    double ours[2][MAX_ROUNDS], theirs[N_DIRECT][MAX_ROUNDS];
    char title[64];
    onednn o[N_DIRECT];
    int n = 0, best = 0;
    nino_array *x = random_array(NINO_SHAPE(1, h, h, c)), *w = random_array(NINO_SHAPE(c, c, 3, 3));
    nino_array *y = random_array(NINO_SHAPE(1, h, h, c));
    layer l = layer_open(x, w, NINO_PREC_F32);
    snprintf(title, sizeof(title), "3x3, %d channels, %d x %d", c, h, h);
    for (int i = 0; i < N_DIRECT; i++)
        n += onednn_open(&o[n], c, h, tags[i], x, w);
    if (!n)
        die("oneDNN has no direct convolution");
    for (int r = -1; r < rounds; r++) {
        for (int i = 0; i < n; i++) {
            settle();
            const double s = onednn_time(&o[i]);
            if (r >= 0)
                theirs[i][r] = s;
        }
        settle();
        if (r < 0)
            compare(title, &l, &o[0], y);
        for (int winograd = 0; winograd < 2 && r >= 0; winograd++)
            ours[winograd][r] = layer_time(&l, winograd);
    }
    for (int i = 1; i < n; i++)
        best = median(theirs[i]) < median(theirs[best]) ? i : best;
    const double gflop = 2e-9 * h * h * c * (double) c * 9;
    static const char *const kind[] = { "direct", "Winograd" };
    for (int i = 0; i < 2; i++) {
        char line[96];
        snprintf(line, sizeof(line), "%s, %s", title, kind[i]);
        printf("%-34s %8.1f   oneDNN   %8.1f   ratio %.2f (%s)   %s\n", line,
               gflop / median(ours[i]), gflop / median(theirs[best]),
               median_ratio(theirs[best], ours[i]), spread(theirs[best], ours[i]), o[best].name);
    }
    for (int i = 0; i < n; i++)
        onednn_close(&o[i]);
    layer_close(&l);
    nino_array_unref(&x);
    nino_array_unref(&w);
    nino_array_unref(&y);
}

// ---- the rest --------------------------------------------------------------------------------

static void open_device(const char *selector)
{
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT };
    nino_device_info list[16];
    const size_t n = nino_devices(list, 16);
    if (!(backend = nino_device_open(selector ? selector : "cl", &p, NULL, &err)))
        check(err.code);
    for (size_t i = 0; i < n && i < 16; i++)
        if (!strcmp(list[i].selector, selector ? selector : "cl:0"))
            printf("device: %s, %u compute units (%s, %s)\n", list[i].name, list[i].compute_units,
                   list[i].platform, list[i].driver);
}

int main(int argc, char **argv)
{
    static const int products[] = { 1024, 2048, 3072 };
    static const int convs[][2] = { { 512, 64 }, { 512, 128 }, { 256, 256 }, { 128, 512 } };
    static const int attentions[][3] = { { 24, 128, 1280 }, { 8, 40, 4096 }, { 10, 64, 4096 } };
    const char *selector = NULL, *only = "", *type = NULL;
    int weight_rows = 3072;
    for (int i = 1; i < argc - 1; i += 2)
        if (!strcmp(argv[i], "--rounds"))
            rounds = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--device"))
            selector = argv[i + 1];
        else if (!strcmp(argv[i], "--only"))
            only = argv[i + 1];
        else if (!strcmp(argv[i], "--rows"))
            weight_rows = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--type"))
            type = argv[i + 1];
    rounds = rounds < 1 ? 1 : rounds > MAX_ROUNDS ? MAX_ROUNDS : rounds;
    setenv("OMP_WAIT_POLICY", "passive", 0); // before any library starts its threads
    open_device(selector);
    printf("GFLOP/s, median of %d interleaved rounds; ratio: median of time there / time here "
           "(quartiles); OpenBLAS for %s\n",
           rounds, openblas_get_corename());
    if (strstr("product", only))
        for (size_t i = 0; i < sizeof(products) / sizeof(*products); i++)
            bench_gemm(products[i]);
    if (strstr("weights", only))
        for (nino_dtype t = 0; t < NINO_DTYPE_COUNT; t++)
            if ((nino_dtype_is_block(t) || (t >= NINO_F16 && t <= NINO_I8)) &&
                (!type || !strcmp(type, nino_dtype_name(t))))
                bench_weights(weight_rows, 3072, t, NINO_PREC_F32);
    if (strstr("pairs", only) && backend->profile.has_dots)
        for (nino_dtype t = 0; t < NINO_DTYPE_COUNT; t++)
            if ((nino_dtype_is_block(t) || t == NINO_BF16 || t == NINO_F8_E4M3 || t == NINO_I8) &&
                (!type || !strcmp(type, nino_dtype_name(t))))
                bench_weights(weight_rows, 3072, t, NINO_PREC_BF16);
    if (strstr("attention", only))
        for (size_t i = 0; i < sizeof(attentions) / sizeof(*attentions); i++)
            bench_attention(attentions[i][0], attentions[i][1], attentions[i][2]);
    dn(dnnl_engine_create(&engine, dnnl_cpu, 0));
    dn(dnnl_stream_create(&queue, engine, dnnl_stream_default_flags));
    if (strstr("conv", only))
        for (size_t i = 0; i < sizeof(convs) / sizeof(*convs); i++)
            bench_conv(convs[i][0], convs[i][1]);
    dn(dnnl_stream_destroy(queue));
    dn(dnnl_engine_destroy(engine));
    nino_backend_close(&backend);
    return failures != 0;
}
