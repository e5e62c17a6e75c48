// The experiment on this machine, by its clock: 20 times two equal settings, 20 times one with 5 %
// more work of the same kind. CPU time of the thread is measured, so that other programs disturb
// through caches and clock rate only. A long test.
#include <math.h>
#include <ninodes/experiment.h>
#include <time.h>

#include "tests/test.h"

enum { N = 64, TIMES = 20 };
static float x[N][N], y[N][N], z[N][N];
static volatile float sink;

static void product(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum += x[i][k] * y[j][k];
            z[i][j] = sum;
        }
    sink = z[1][2];
}

static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static nino_status work(void *priv, int setting, bool is_warmup, double *seconds, nino_error *err)
{
    const int *products = priv;
    (void) is_warmup, (void) err;
    const double begin = cpu_now();
    for (int i = 0; i < products[setting]; i++)
        product();
    *seconds = cpu_now() - begin;
    return NINO_OK;
}

static nino_effect try_once(int a, int b)
{
    nino_error err;
    nino_effect f;
    int products[2] = { a, b };
    char text[200];
    nino_experiment *e = nino_experiment_create(NULL, &err);
    CHECK(e);
    CHECK_OK(nino_experiment_run(e, work, products, &err), err);
    nino_experiment_effect(e, 1, &f);
    printf("  %d and %d products: %s\n", a, b, nino_effect_text(&f, text, sizeof(text)));
    nino_experiment_destroy(&e);
    return f;
}

int main(void)
{
    if (!getenv("NINODES_TEST_LONG"))
        return test_skip("needs NINODES_TEST_LONG=1 (make check-long)");
    for (int i = 0; i < N * N; i++) {
        x[i / N][i % N] = (float) (i % 17) / 17;
        y[i / N][i % N] = (float) (i % 23) / 23;
    }
    int right_equal = 0, right_slower = 0;
    for (int i = 0; i < TIMES; i++) {
        right_equal += try_once(60, 60).verdict == 0;
        right_slower += try_once(60, 63).verdict == 1;
    }
    printf("  equal: %d of %d without a claim; 5 %% more work: %d of %d found\n", right_equal,
           TIMES, right_slower, TIMES);
    CHECK(right_equal >= TIMES - 1);
    CHECK(right_slower >= TIMES - 1);
    return 0;
}
