// Comparing runs: the t distribution against tables, alignment of nodes, steps and kernels, and
// verdicts that need both size and confidence.
#include "core/event/student.h"
#include "tests/history.h"

#include <ninodes/compare.h>

static bool near(double a, double b, double tol) { return fabs(a - b) <= tol; }

// Values of published tables of Student's t.
static void test_student(void)
{
    CHECK(near(nino_student_p(12.706, 1), 0.05, 1e-5) &&
          near(nino_student_p(2.228, 10), 0.05, 1e-4));
    CHECK(near(nino_student_p(2.576, 1e7), 0.01, 1e-4) && near(nino_student_p(0, 5), 1, 1e-12));
    CHECK(near(nino_student_p(-2.228, 10), 0.05, 1e-4) && nino_student_p(INFINITY, 3) == 0);
    CHECK(isnan(nino_student_p(1, 0)) && isnan(nino_student_p(NAN, 4)));
    CHECK(near(nino_student_quantile(0.05, 4), 2.776, 1e-3));
    CHECK(near(nino_student_quantile(0.01, 30), 2.750, 1e-3));
    const nino_welch w = nino_welch_test(10, 20, 4, 15, 22, 9); // by hand: t 2, df 23
    CHECK(near(w.se, 1, 1e-12) && near(w.df, 1 / (0.16 / 9 + 0.36 / 14), 1e-9));
    CHECK(near(w.p, nino_student_p(2, w.df), 1e-12) && w.low < 0 && w.high > 4);
    CHECK(isnan(nino_welch_test(1, 1, 0, 5, 1, 1).p) && nino_welch_test(3, 1, 0, 3, 1, 0).p == 1);
}

// scale: of the times of the sampler; id: of the sampler's node.
static fake_run make(const char *sampler, double scale, bool has_save)
{
    fake_run r = fake_begin();
    uint32_t node = fake_scope(&r, NINO_EV_NODE, "1 LoadVAE (cached)", 1);
    fake_end(&r, node);
    node = fake_scope(&r, NINO_EV_NODE, sampler, 1);
    for (uint32_t i = 0; i < 10; i++) {
        for (int k = 0; k < 20; k++) {
            fake_kernel(&r, node, "gemm", scale * (100 + k % 5), 1e6, 1e5);
            fake_kernel(&r, node, "norm", 10 + k % 3, 1e3, 1e5);
        }
        fake_step(&r, node, i, 10, scale * (0.5 + 0.01 * (i % 3)));
    }
    fake_end(&r, node);
    if (has_save) {
        node = fake_scope(&r, NINO_EV_NODE, "9 SaveImage", 1);
        r.t += 5000000;
        fake_end(&r, node);
    }
    fake_end(&r, 1);
    return r;
}

static const nino_compare_row *find(const nino_compare *c, nino_compare_kind kind, const char *node,
                                    const char *name)
{
    for (size_t i = 0; i < c->n_rows; i++)
        if (c->rows[i].kind == kind && !strcmp(c->rows[i].node, node) &&
            !strcmp(c->rows[i].name, name))
            return &c->rows[i];
    return NULL;
}

static void test_runs(void)
{
    nino_error err;
    nino_compare c;
    fake_run a = make("3 KSampler", 1, true), b = make("7 KSampler", 0.8, false); // another id
    CHECK_OK(nino_compare_runs(a.h, b.h, &c, &err), err);
    CHECK(c.n_rows && c.rows[0].kind == NINO_COMPARE_RUN && c.rows[0].total_b < c.rows[0].total_a);
    CHECK(c.rows[0].verdict == -1 && isnan(c.joules_a));
    const nino_compare_row *r = find(&c, NINO_COMPARE_NODE, "3 KSampler", "");
    CHECK(r && r->n_a == 1 && r->n_b == 1 && near(r->total_b / r->total_a, 0.8, 0.01));
    CHECK(r->verdict == -1 && r->high < 0);
    r = find(&c, NINO_COMPARE_STEPS, "3 KSampler", "");
    CHECK(r && r->n_a == 10 && r->n_b == 10 && r->verdict == -1 && near(r->mean_a, 0.509, 1e-3));
    r = find(&c, NINO_COMPARE_KERNEL, "3 KSampler", "gemm");
    CHECK(r && r->n_a == 200 && r->n_b == 200 && r->verdict == -1 && near(r->mean_a, 102e-6, 1e-9));
    CHECK(r->low < -20.4e-6 && r->high > -20.4e-6 && r->p < 1e-10);
    CHECK_STR(r->shape, "1x8x8");
    r = find(&c, NINO_COMPARE_KERNEL, "3 KSampler", "norm");
    CHECK(r && r->verdict == 0 && r->p > 0.9);
    CHECK(r > find(&c, NINO_COMPARE_KERNEL, "3 KSampler", "gemm")); // largest difference first
    r = find(&c, NINO_COMPARE_NODE, "1 LoadVAE", "");
    CHECK(r && r->n_a == 1 && isnan(r->p) && !r->verdict); // one time each: nothing can be said
    r = find(&c, NINO_COMPARE_NODE, "9 SaveImage", "");
    CHECK(r && r->n_a == 1 && r->n_b == 0);
    nino_compare_release(&c);
    CHECK_OK(nino_compare_runs(b.h, a.h, &c, &err), err); // the other way round
    CHECK(c.rows[0].verdict == 1 && find(&c, NINO_COMPARE_NODE, "9 SaveImage", "")->n_b == 1);
    nino_compare_release(&c);
    CHECK_OK(nino_compare_runs(a.h, a.h, &c, &err), err);
    for (size_t i = 0; i < c.n_rows; i++)
        CHECK(!c.rows[i].verdict && c.rows[i].total_a == c.rows[i].total_b);
    nino_compare_release(&c);
    nino_compare_release(&c);
    nino_history_destroy(&a.h);
    nino_history_destroy(&b.h);
}

// One run that finds the results of nodes and compiles, another that computes them: what is shown
// does not contradict itself.
static void test_cached(void)
{
    nino_error err;
    nino_compare c;
    fake_run r[2];
    for (int i = 0; i < 2; i++) {
        r[i] = fake_begin();
        uint32_t node = fake_scope(&r[i], NINO_EV_NODE, "3 CLIPTextEncode", 1);
        fake_add(&r[i], (nino_event){ .kind = NINO_EV_CACHE,
                                      .sub = NINO_CACHE_NODE,
                                      .name = fake_id(&r[i], "3 CLIPTextEncode"),
                                      .u.scope.arg0 = !i });
        for (int k = 0; i && k < 10; k++)
            fake_kernel(&r[i], node, "gemm", 900 + k, 1e6, 1e5);
        fake_end(&r[i], node);
        node = fake_scope(&r[i], NINO_EV_NODE, "5 VAEDecode", 1);
        r[i].t += i ? 0 : 900000000;
        for (int k = 0; k < 10; k++)
            fake_kernel(&r[i], node, "conv", 500 + k, 1e6, 1e5);
        fake_end(&r[i], node);
        fake_end(&r[i], 1);
    }
    CHECK_OK(nino_compare_runs(r[0].h, r[1].h, &c, &err), err);
    CHECK(c.rows[0].total_b < c.rows[0].total_a && c.rows[0].low > 0 && !c.rows[0].verdict);
    const nino_compare_row *row = find(&c, NINO_COMPARE_NODE, "3 CLIPTextEncode", "");
    CHECK(row && row->cached_a && !row->cached_b && !row->verdict);
    row = find(&c, NINO_COMPARE_NODE, "5 VAEDecode", "");
    CHECK(row && !row->cached_a && !row->cached_b && !row->verdict);
    nino_compare_release(&c);
    nino_history_destroy(&r[0].h);
    nino_history_destroy(&r[1].h);
}

// The kernels of a run beside those of another program's trace, which knows no nodes.
static void test_flat(void)
{
    nino_error err;
    nino_compare c;
    fake_run a = make("3 KSampler", 1, true), b = fake_begin();
    for (int k = 0; k < 300; k++)
        fake_kernel(&b, 1, "gemm", 50 + k % 5, 0, 0);
    fake_end(&b, 1);
    CHECK_OK(nino_compare_runs(a.h, b.h, &c, &err), err);
    const nino_compare_row *r = find(&c, NINO_COMPARE_KERNEL, "", "gemm");
    CHECK(r && r->n_a == 200 && r->n_b == 300 && r->verdict == -1);
    CHECK_STR(r->shape, "");
    CHECK(!find(&c, NINO_COMPARE_KERNEL, "3 KSampler", "gemm"));
    r = find(&c, NINO_COMPARE_NODE, "3 KSampler", "");
    CHECK(r && r->n_a == 1 && r->n_b == 0);
    nino_compare_release(&c);
    nino_history_destroy(&a.h);
    nino_history_destroy(&b.h);
}

static void test_empty(void)
{
    nino_error err;
    nino_compare c;
    nino_history *h = nino_history_create(0);
    CHECK_OK(nino_compare_runs(h, h, &c, &err), err);
    CHECK(c.n_rows == 1 && c.rows[0].total_a == 0 && !c.rows[0].verdict);
    nino_compare_release(&c);
    nino_history_destroy(&h);
}

int main(void)
{
    test_student();
    test_runs();
    test_cached();
    test_flat();
    test_empty();
    return 0;
}
