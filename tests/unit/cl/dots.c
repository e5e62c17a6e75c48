// Products of bf16 by the instruction of processors that multiplies pairs: that they are made where a profile
// says so, and only there, and how they round. Once by the instruction, where the processor has it, and once
// emulated, in a process of its own, since what NINODES_DEBUG says is read once. tests/check/kernels has all
// products of the harness by the instruction; where there is none they are made here, emulated.
#include "core/op/device/device.h"
#include "tests/cl.h"
#include <ninodes/selftest.h>

#include <math.h>
#include <sys/wait.h>

static nino_error err;

// ---- every product of the harness, which compares with the reference ------------------------------

typedef struct tally {
    int n, wrong;
} tally;

static void count(void *priv, const nino_selftest_case *c)
{
    tally *t = priv;
    t->n++;
    t->wrong += !c->ok;
    if (!c->ok)
        printf("%s: nmse %g, allowed %g %s\n", c->name, c->nmse, c->tol, c->note);
}

static void test_harness(bool is_all)
{
    static const struct {
        const char *op;
        int least;
    } ops[] = { { "conv3d_bf16", 18 },
                { "attention_bf16", 20 },
                { "linear_bf16", 60 },
                { "conv2d_bf16", 35 } };
    for (size_t i = 0; i < (is_all ? sizeof(ops) / sizeof(ops[0]) : 2); i++) {
        const nino_selftest_params p = { NINO_SELFTEST_PARAMS_INIT, .op = ops[i].op,
                                         .quick = true };
        tally t = { 0 };
        CHECK_OK(nino_selftest(&p, count, &t, &err), err);
        CHECK(t.n >= ops[i].least && !t.wrong);
    }
}

// ---- one product, whose rounding tells how it was made --------------------------------------------

enum { ROWS = 40, COLUMNS = 70 }; // not few rows, more than a panel of columns

static nino_array *product(nino_backend *be, nino_dtype act, nino_array *x, nino_array *w)
{
    const nino_precision precision = act == NINO_F32 ? NINO_PREC_F32 : NINO_PREC_BF16;
    nino_stream *s =
        nino_stream_create(&(nino_stream_params){ .backend = be, .precision = precision }, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    nino_linear l = { .w = nino_weight_from_array(w, NINO_W_MATRIX) };
    nino_array *y = nino_download(s, nino_linear_op(s, nino_upload(s, x, act), &l), NINO_F32);
    CHECK_OK(nino_stream_status(s, &err), err);
    nino_stream_destroy(&s);
    nino_weight_destroy(&l.w);
    return y;
}

// Columns 1 and 1 + 2^-9 of inputs 1 and -1: the difference is lost where weights become bf16.
static double difference(nino_backend *be, nino_dtype act, int c)
{
    nino_array *x = nino_array_create(NINO_F32, NINO_SHAPE(ROWS, c));
    nino_array *w = nino_array_create(NINO_F32, NINO_SHAPE(COLUMNS, c));
    CHECK(x && w);
    memset(x->data, 0, x->bytes);
    memset(w->data, 0, w->bytes);
    for (int r = 0; r < ROWS; r++) {
        nino_array_f32(x)[r * c] = -1;
        nino_array_f32(x)[r * c + c - 1] = 1;
    }
    for (int n = 0; n < COLUMNS; n++) {
        nino_array_f32(w)[n * c] = 1;
        nino_array_f32(w)[n * c + c - 1] = 1 + 0x1p-9f;
    }
    nino_array *y = product(be, act, x, w);
    const double first = nino_array_f32(y)[0];
    for (int i = 1; i < ROWS * COLUMNS; i++)
        CHECK(nino_array_f32(y)[i] == first);
    nino_array_unref(&x);
    nino_array_unref(&w);
    nino_array_unref(&y);
    return first;
}

static void test_rounding(nino_backend *be)
{
    nino_profile *p = &be->profile;
    CHECK(p->has_dots && nino_sched_operand(p, NINO_BF16) == NINO_BF16);
    CHECK(difference(be, NINO_BF16, 64) == 0);
    CHECK(difference(be, NINO_BF16, 6) == 0);
    CHECK(difference(be, NINO_BF16, 7) == 0x1p-9); // no pairs
    CHECK(difference(be, NINO_F32, 64) == 0x1p-9);
    p->has_dots = false;
    CHECK(difference(be, NINO_BF16, 64) == 0x1p-9);
    p->has_dots = true;
}

// Q and K of two keys whose scores differ by little: what exp() makes of them becomes bf16, which keeps 8 bits.
static void test_attention(nino_backend *be)
{
    enum { TOKENS = 2, DEPTH = 16 };
    nino_array *x = nino_array_create(NINO_F32, NINO_SHAPE(1, TOKENS, DEPTH));
    CHECK(x);
    memset(x->data, 0, x->bytes);
    nino_array_f32(x)[0] = 1; // scores 1 and 0 of the first query
    for (int has = 0; has < 2; has++) {
        be->profile.has_dots = has;
        nino_stream *s = nino_stream_create(
            &(nino_stream_params){ .backend = be, .precision = NINO_PREC_BF16 }, &err);
        CHECK_OK(s ? NINO_OK : err.code, err);
        nino_tensor *t = nino_upload(s, x, NINO_BF16);
        const nino_shape v = NINO_SHAPE(1, TOKENS, DEPTH);
        nino_array *values = nino_array_create(NINO_F32, v);
        CHECK(values);
        for (int i = 0; i < TOKENS * DEPTH; i++) // the second value takes away what the first gives
            nino_array_f32(values)[i] = i < DEPTH ? -94 : 256;
        nino_tensor *y = nino_attention(s, nino_ref(t), t, nino_upload(s, values, NINO_BF16), 1, 1);
        nino_array *a = nino_download(s, y, NINO_F32);
        CHECK_OK(nino_stream_status(s, &err), err);
        // exp(-1) is 0.367879, as bf16 0.367188: times 256 it is 94.18 or 94; over 1 + exp(-1).
        const double want = has ? 0 : (256 * exp(-1) - 94) / (1 + exp(-1));
        CHECK(fabs(nino_array_f32(a)[0] - want) < 0.002);
        nino_array_unref(&a);
        nino_array_unref(&values);
        nino_stream_destroy(&s);
    }
    nino_array_unref(&x);
}

// Inputs and weights that bf16 holds: both ways multiply the same numbers, in another order.
static void test_agreement(nino_backend *be)
{
    static const int channels[] = {
        16, 254, 256, 258, 770, 8192
    }; // blocks, their ends, rows far apart
    for (size_t i = 0; i < sizeof(channels) / sizeof(channels[0]); i++) {
        nino_array *x = test_wave(NINO_SHAPE(ROWS, channels[i]), 0.015625f);
        nino_array *w = test_wave(NINO_SHAPE(COLUMNS, channels[i]), 0.0078125f);
        nino_array *y[2];
        double num = 0, den = 0;
        for (int has = 0; has < 2; has++) {
            be->profile.has_dots = has;
            y[has] = product(be, NINO_BF16, x, w);
        }
        for (int k = 0; k < ROWS * COLUMNS; k++) {
            const double a = nino_array_f32(y[0])[k], b = nino_array_f32(y[1])[k];
            CHECK(fabs(a - b) <= 0x1p-7 * fabs(a)); // a step of the result's last place
            num += (a - b) * (a - b);
            den += a * a;
        }
        CHECK(num <= 1e-7 * den);
        for (int has = 0; has < 2; has++)
            nino_array_unref(&y[has]);
        nino_array_unref(&x);
        nino_array_unref(&w);
    }
}

static int run(void)
{
    nino_backend *be = nino_device_open("cl", NULL, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    const bool has_dots = be->profile.has_dots;
    if (has_dots) {
        test_rounding(be);
        test_agreement(be);
        test_attention(be);
    }
    nino_backend_close(&be);
    return has_dots;
}

int main(int argc, char **argv)
{
    if (argc == 2) {
        CHECK(run());
        test_harness(!strcmp(argv[1], "all"));
        return 0;
    }
    if (!test_cl_device()->is_host) {
        printf("skip: the device is no processor\n");
        return 77;
    }
    const bool has_instruction = run();
    printf("by an instruction: %s\n", has_instruction ? "yes" : "this processor has none");
    fflush(stdout);
    setenv("NINODES_DEBUG", "dots", 1);
    setenv("NINODES_SCHEDULE", "cpu", 1);
    execv(argv[0], (char *[]){ argv[0], (char *) (has_instruction ? "some" : "all"), NULL });
    return 1;
}
