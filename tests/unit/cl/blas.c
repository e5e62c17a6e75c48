// CLBlast as the engine of linear layers, with a stand-in that computes on the host in its place: what it is
// given, what it leaves, what is done before and after, and what becomes of its failures. Every linear layer of
// the kernel harness, by each schedule. The library itself is for the long form: its kernels take a quarter of
// a minute to compile.
#include "cl/blas.h"
#include "core/harness/kernel_check.h"
#include "core/op/engine.h"
#include "tests/cl.h"
#include <ninodes/tune.h>

static nino_cl_blas real;
static nino_backend *on_cl, *on_ref;
static int n_calls, n_warm, n_without_temp, n_cases, n_failed;
static cl_int failure;       // of the next call
static size_t temp_per_call; // that it says it needs

// ---- the stand-in ------------------------------------------------------------------------------

static bool always(void) { return true; }
static void nothing(void) {}

static cl_int ask_temp(cl_command_queue queue, const nino_cl_sgemm *g, size_t *bytes)
{
    (void) queue;
    (void) g;
    *bytes = temp_per_call;
    return 0;
}

static float *fetch(cl_command_queue queue, cl_mem mem, size_t at, size_t n)
{
    float *v = malloc((n + 1) * sizeof(*v));
    CHECK(v && !nino_ocl.clEnqueueReadBuffer(queue, mem, CL_TRUE, at * 4, n * 4, v, 0, NULL, NULL));
    return v;
}

static void product(cl_command_queue queue, const nino_cl_sgemm *g)
{
    float *a = fetch(queue, g->a, g->a_at, g->rows * g->c);
    float *b = fetch(queue, g->b, g->b_at, (g->is_b_rows ? g->n : g->c) * g->b_ld);
    float *y = malloc(g->rows * g->n * sizeof(*y));
    CHECK(y && g->b_ld >= (g->is_b_rows ? g->c : g->n));
    for (size_t r = 0; r < g->rows; r++)
        for (size_t n = 0; n < g->n; n++) {
            double sum = 0;
            for (size_t k = 0; k < g->c; k++)
                sum +=
                    (double) a[r * g->c + k] * b[g->is_b_rows ? n * g->b_ld + k : k * g->b_ld + n];
            y[r * g->n + n] = (float) sum;
        }
    CHECK(!nino_ocl.clEnqueueWriteBuffer(queue, g->y, CL_TRUE, g->y_at * 4, g->rows * g->n * 4, y,
                                         0, NULL, NULL));
    free(a);
    free(b);
    free(y);
}

// What it is given to work in is its own to write to.
static void spoil(cl_command_queue queue, cl_mem temp)
{
    const cl_uint all = 0xffffffff;
    CHECK(!nino_ocl.clEnqueueFillBuffer(queue, temp, &all, 4, 0, temp_per_call, 0, NULL, NULL));
}

static cl_int multiply(cl_command_queue queue, const nino_cl_sgemm *g, cl_event *event)
{
    const cl_int e = failure;
    n_calls++;
    n_warm += g->rows * g->n * g->c == 1 && !g->a_at && g->y_at == 8;
    n_without_temp += !g->temp;
    failure = 0;
    if (e)
        return e;
    if (g->temp)
        spoil(queue, g->temp);
    if (g->rows * g->n * g->c > 1 || g->a_at || g->y_at != 8) // not to compile by
        product(queue, g);
    if (g->temp)
        spoil(queue, g->temp);
    return event ? nino_ocl.clEnqueueMarkerWithWaitList(queue, 0, NULL, event) : 0;
}

static const nino_cl_blas stand_in = { "stand-in", always, ask_temp, multiply, nothing };

// ---- results -----------------------------------------------------------------------------------

static void run(const nino_check_case *c, nino_dtype type, int in_place)
{
    nino_check_result r;
    nino_check_run(on_cl, on_ref, c, type, in_place, 1, false, &r);
    n_cases++;
    n_failed += !r.ok;
    if (!r.ok)
        printf("%s %s: nmse %g, allowed %g: %s\n", on_cl->profile.schedule->name, r.name, r.nmse,
               r.tol, r.note);
}

static bool is_ours(const nino_check_case *c)
{
    return c->op == NINO_OP_LINEAR && !c->is_large && !c->only_bench &&
           (c->weight == NINO_F32 || c->weight == NINO_F16 || c->weight == NINO_BF16);
}

// Each storage of weights is a program: of 16-bit activations one is enough.
static void test_schedule(const char *name)
{
    nino_error err;
    on_cl = nino_cl_open(test_cl_device(), NULL, NULL, &err);
    CHECK(on_cl);
    CHECK_OK(nino_sched_find(name, "", &on_cl->profile.schedule, &err), err);
    CHECK_OK(nino_engine_set(&on_cl->profile, "clblast", "", &err), err);
    for (size_t i = 0; i < nino_n_check_cases; i++) {
        nino_check_case c = nino_check_cases[i];
        if (!is_ours(&c))
            continue;
        run(&c, NINO_F32, -1);
        if (c.residual)
            run(&c, NINO_F32, 1);
        if (strcmp(name, "generic") != 0 && c.weight == NINO_F32)
            run(&c, NINO_F16, -1);
    }
    nino_backend_close(&on_cl);
}

// A long product in pieces, between which a cancel is seen.
static void test_pieces(void)
{
    static const nino_check_case tall = {
        .op = NINO_OP_LINEAR, .src = { { 1700, 20 } }, .n = 1030, .bias = true
    };
    nino_error err;
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .gemm = "clblast" };
    on_cl = nino_cl_open(test_cl_device(), &p, NULL, &err);
    CHECK(on_cl);
    on_cl->profile.peak_f32 = 1e8;
    const int before = n_calls;
    run(&tall, NINO_F32, -1);
    CHECK(n_calls - before > (nino_cl_compute_units((nino_cl *) on_cl) < 16 ? 2 : 1));
    nino_backend_close(&on_cl);
}

// ---- failures ----------------------------------------------------------------------------------

static nino_status linear(nino_stream *s, nino_error *err)
{
    nino_array *rows = test_wave(NINO_SHAPE(5, 7), 0.5f), *x = test_wave(NINO_SHAPE(3, 7), 0.25f);
    nino_linear l = { .w = nino_weight_from_array(rows, NINO_W_MATRIX) };
    nino_array *y = nino_download(s, nino_linear_op(s, nino_upload(s, x, NINO_F32), &l), NINO_F32);
    const nino_status st = nino_stream_status(s, err);
    nino_array_unref(&y);
    nino_weight_destroy(&l.w);
    nino_array_unref(&rows);
    nino_array_unref(&x);
    return st;
}

// A launch that is watched is told, though it has no kernel of ours.
static void test_watched(void)
{
    nino_error err = { 0 };
    nino_event ev[64];
    uint64_t lost = 0;
    int n_told = 0;
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .gemm = "clblast" };
    on_cl = nino_cl_open(test_cl_device(), &p, NULL, &err);
    nino_monitor *m = nino_monitor_create();
    nino_mon_reader *r = m ? nino_mon_reader_create(m) : NULL;
    CHECK(on_cl && r);
    nino_stream *s =
        nino_stream_create(&(nino_stream_params){ .backend = on_cl, .monitor = m }, &err);
    CHECK(s);
    CHECK_OK(linear(s, &err), err);
    nino_stream_destroy(&s);
    const size_t n = nino_mon_reader_read(r, ev, 64, &lost);
    for (size_t i = 0; i < n; i++)
        n_told += ev[i].kind == NINO_EV_KERNEL &&
                  !strcmp(nino_monitor_name_text(m, ev[i].name), "sgemm_clblast");
    CHECK(n_told == 1);
    nino_backend_close(&on_cl);
    nino_mon_reader_destroy(&r);
    nino_monitor_destroy(&m);
}

static void test_failures(void)
{
    static const struct {
        cl_int code;
        nino_status st;
        const char *says;
    } cases[] = { { -2045, NINO_ERR_DEVICE, "error -2045; NINODES_GEMM=native does without it" },
                  { CL_OUT_OF_RESOURCES, NINO_ERR_NOMEM, "CL_OUT_OF_RESOURCES" },
                  { CL_INVALID_KERNEL_ARGS, NINO_ERR_DEVICE, "CL_INVALID_KERNEL_ARGS" } };
    nino_error err;
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .gemm = "clblast" };
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        on_cl = nino_cl_open(test_cl_device(), &p, NULL, &err);
        CHECK(on_cl);
        for (int k = 0; k < 3; k++) { // warm-up or product fails; then all is well again
            const nino_stream_params sp = { .backend = on_cl };
            nino_stream *s = nino_stream_create(&sp, &err);
            CHECK(s);
            if (k == (int) (i % 2))
                failure = cases[i / 2].code;
            const nino_status st = linear(s, &err);
            CHECK(st == (k == (int) (i % 2) ? cases[i / 2].st : NINO_OK));
            CHECK(!st || strstr(err.msg, cases[i / 2].says));
            nino_stream_destroy(&s);
        }
        nino_backend_close(&on_cl);
    }
}

static void test_absent(void)
{
    nino_error err;
    nino_profile p = { .gemm = NINO_GEMM_NATIVE };
    const nino_ctx_params params = { NINO_CTX_PARAMS_INIT, .gemm = "cublas" };
    CHECK(!nino_cl_open(test_cl_device(), &params, NULL, &err) && err.code == NINO_ERR_UNKNOWN);
    CHECK(strstr(err.msg, "auto, native, clblast"));
    CHECK(nino_engine_set(&p, "clblast", "w", &err) == NINO_ERR_UNSUPPORTED &&
          strstr(err.msg, "not installed") && p.gemm == NINO_GEMM_NATIVE);
}

// ---- tuning ------------------------------------------------------------------------------------

static cl_int at_once(cl_command_queue queue, const nino_cl_sgemm *g, cl_event *event)
{
    (void) g;
    return event ? nino_ocl.clEnqueueMarkerWithWaitList(queue, 0, NULL, event) : 0;
}

// One that takes no time is chosen for the products in which ours do, and kept for later runs.
static void test_tune(void)
{
    char dir[] = "/tmp/nino-blas-XXXXXX", cmd[64];
    nino_error err;
    nino_tuning_info t;
    CHECK(mkdtemp(dir));
    nino_blas = (nino_cl_blas){ "stand-in", always, ask_temp, at_once, nothing };
    const nino_tune_params tp = { NINO_TUNE_PARAMS_INIT, .device = "cl", .cache_dir = dir };
    CHECK_OK(nino_tune(&tp, &t, &err), err);
    bool has_won = false;
    for (size_t i = 0; i < t.n; i++)
        has_won = has_won || (!strcmp(t.choice[i].name, "engine_tall") &&
                              t.choice[i].gain_low > 0 && t.choice[i].value == NINO_GEMM_CLBLAST);
    CHECK(has_won);
    const nino_ctx_params cp = { NINO_CTX_PARAMS_INIT, .cache_dir = dir, .gemm = "auto" };
    on_cl = nino_cl_open(test_cl_device(), &cp, NULL, &err);
    CHECK(on_cl && on_cl->profile.tuning.engine_tall == NINO_GEMM_CLBLAST);
    nino_backend_close(&on_cl);
    snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
    CHECK(system(cmd) == 0);
}

// ---- the library itself ------------------------------------------------------------------------

static void test_long(void)
{
    static const char *const names[] = { "cpu", "generic", "wmma" };
    if (!getenv("NINODES_TEST_LONG")) {
        printf("part skipped: tuning, and CLBlast itself; NINODES_TEST_LONG=1 runs them\n");
        return;
    }
    test_tune();
    if (!real.load()) {
        printf("part skipped: CLBlast itself: no libclblast1\n");
        return;
    }
    nino_blas = real;
    for (int i = 0; i < 3; i++)
        test_schedule(names[i]);
    CHECK(!n_failed);
}

int main(void)
{
    nino_error err;
    test_cl_device();
    real = nino_blas;
    nino_blas = stand_in;
    on_ref = nino_ref_open(0, NULL, &err);
    CHECK(on_ref);
    temp_per_call = 4096;
    test_schedule("cpu");
    CHECK(n_warm == 1 && n_without_temp == 1); // but the warm-up all got room
    temp_per_call = 1 << 20;                   // more than the plan reserves, for the most part
    test_schedule("wmma");
    CHECK(n_warm == 2 && n_without_temp > n_cases / 3);
    temp_per_call = 0;
    test_schedule("generic");
    test_pieces();
    test_watched();
    test_failures();
    test_absent();
    printf("%d cases, %d failed\n", n_cases, n_failed);
    CHECK(n_cases > 60 && !n_failed && n_calls > n_cases);
    test_long();
    nino_backend_close(&on_ref);
    return 0;
}
