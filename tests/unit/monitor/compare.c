// Comparing runs: alignment of nodes, steps and kernels; verdicts where there are enough runs of the
// same work, none from one run each; what is done once is in no time.
#include "tests/history.h"

#include <ninodes/compare.h>

static bool near(double a, double b, double tol) { return fabs(a - b) <= tol; }

// What happens in a job, and its end. scale: of the times of the sampler.
static void work(fake_run *r, uint32_t job, const char *sampler, double scale, uint32_t steps,
                 bool has_save)
{
    uint32_t node = fake_scope(r, NINO_EV_NODE, "1 LoadVAE (cached)", job);
    fake_end(r, node);
    node = fake_scope(r, NINO_EV_NODE, sampler, job);
    for (uint32_t i = 0; i < steps; i++) {
        for (int k = 0; k < 20; k++) {
            fake_kernel(r, node, "gemm", scale * (100 + k % 5), 1e6, 1e5);
            fake_kernel(r, node, "norm", 10 + k % 3, 1e3, 1e5);
        }
        fake_step(r, node, i, steps, scale * (0.5 + 0.01 * (i % 3)));
    }
    fake_end(r, node);
    if (has_save) {
        node = fake_scope(r, NINO_EV_NODE, "9 SaveImage", job);
        r->t += 5000000;
        fake_end(r, node);
    }
    fake_end(r, job);
    r->t += 1000;
}

// id: of the sampler's node.
static fake_run make(const char *sampler, double scale, bool has_save)
{
    fake_run r = fake_begin();
    work(&r, 1, sampler, scale, 10, has_save);
    return r;
}

// n more runs in the recording, each a little slower or faster.
static void repeat(fake_run *r, int n, double scale, uint32_t steps)
{
    for (int i = 0; i < n; i++) {
        const uint32_t id = ++r->scope;
        fake_add(r,
                 (nino_event){ .kind = NINO_EV_JOB, .id = id, .name = fake_id(r, "another job") });
        work(r, id, "3 KSampler", scale * (1 + 0.01 * (i * 7 % 5)), steps, true);
    }
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

// The nodes' places in both histories, in the order of the rows.
static void test_pairs(const nino_compare *c, const fake_run *a, const fake_run *b)
{
    nino_compare_pair pair[8] = { { 0, 0 } };
    size_t at = 0, n;
    CHECK(nino_compare_pairs(a->h, b->h, pair, 8) == 3 &&
          nino_compare_pairs(a->h, b->h, pair, 0) == 3);
    const nino_span *x = nino_history_spans(a->h, &n), *y = nino_history_spans(b->h, &n);
    for (size_t i = 0; i < c->n_rows; i++) {
        if (c->rows[i].kind != NINO_COMPARE_NODE)
            continue;
        const nino_compare_pair *p = &pair[at++];
        CHECK(p->a >= 0 && strstr(nino_history_name(a->h, x[p->a].name), c->rows[i].node));
        if (!strcmp(c->rows[i].node, "9 SaveImage"))
            CHECK(p->b == -1);
        else
            CHECK(p->b >= 0 && !strcmp(strchr(nino_history_name(b->h, y[p->b].name), ' '),
                                       strchr(nino_history_name(a->h, x[p->a].name), ' ')));
    }
    CHECK(at == 3);
}

static void test_runs(void)
{
    nino_error err;
    nino_compare c;
    fake_run a = make("3 KSampler", 1, true), b = make("7 KSampler", 0.8, false); // another id
    CHECK_OK(nino_compare_runs(a.h, b.h, &c, &err), err);
    CHECK(c.n_rows && c.rows[0].kind == NINO_COMPARE_RUN && c.rows[0].total_b < c.rows[0].total_a);
    CHECK(!c.rows[0].effect.verdict && c.rows[0].effect.is_too_few && isnan(c.joules_a));
    const nino_compare_row *r = find(&c, NINO_COMPARE_NODE, "3 KSampler", "");
    CHECK(r && r->n_a == 1 && r->n_b == 1 && near(r->total_b / r->total_a, 0.8, 0.01));
    test_pairs(&c, &a, &b);
    for (size_t i = 0; i < c.n_rows; i++) // one run each: nothing can be claimed, of calls neither
        CHECK(!c.rows[i].effect.verdict && c.rows[i].effect.is_too_few &&
              c.rows[i].effect.rounds <= 1 && isinf(c.rows[i].effect.low));
    r = find(&c, NINO_COMPARE_STEPS, "3 KSampler", "");
    CHECK(r && r->n_a == 10 && r->n_b == 10 && near(r->a.median, 0.51, 1e-9));
    r = find(&c, NINO_COMPARE_KERNEL, "3 KSampler", "gemm");
    CHECK(r && r->n_a == 200 && r->n_b == 200);
    CHECK(near(r->a.median, 102e-6, 1.1e-6) && near(r->total_a, 200 * 102e-6, 1e-9));
    CHECK(r->a.n >= 12 && r->a.n <= 24 && r->a.min > 99e-6 && r->a.max < 105e-6);
    CHECK_STR(r->shape, "1x8x8");
    r = find(&c, NINO_COMPARE_KERNEL, "3 KSampler", "norm");
    CHECK(r && r->n_a == 200);
    CHECK(r > find(&c, NINO_COMPARE_KERNEL, "3 KSampler", "gemm")); // largest difference first
    r = find(&c, NINO_COMPARE_NODE, "1 LoadVAE", "");
    CHECK(r && r->n_a == 1 && r->effect.is_too_few && !r->effect.verdict);
    r = find(&c, NINO_COMPARE_NODE, "9 SaveImage", "");
    CHECK(r && r->n_a == 1 && r->n_b == 0);
    nino_compare_release(&c);
    CHECK_OK(nino_compare_runs(b.h, a.h, &c, &err), err); // the other way round
    CHECK(find(&c, NINO_COMPARE_STEPS, "7 KSampler", "")->a.median <
              find(&c, NINO_COMPARE_STEPS, "7 KSampler", "")->b.median &&
          find(&c, NINO_COMPARE_NODE, "9 SaveImage", "")->n_b == 1);
    nino_compare_release(&c);
    CHECK_OK(nino_compare_runs(a.h, a.h, &c, &err), err);
    for (size_t i = 0; i < c.n_rows; i++)
        CHECK(!c.rows[i].effect.verdict && c.rows[i].total_a == c.rows[i].total_b);
    nino_compare_release(&c);
    nino_compare_release(&c);
    nino_history_destroy(&a.h);
    nino_history_destroy(&b.h);
}

// The same settings on a machine that has become slower meanwhile: no claim from one run each. With
// several runs of the same work each a real difference is claimed, what is as fast is not, and a
// run before them that did other work counts nowhere.
static void test_repeats(void)
{
    nino_error err;
    nino_compare c;
    fake_run a = make("3 KSampler", 1, true), b = make("3 KSampler", 1.07, true);
    CHECK_OK(nino_compare_runs(a.h, b.h, &c, &err), err);
    for (size_t i = 0; i < c.n_rows; i++)
        CHECK(!c.rows[i].effect.verdict && !c.rows[i].effect.is_equal);
    CHECK(c.rows[0].effect.rounds == 1);
    nino_compare_release(&c);
    repeat(&a, 2, 1, 10);
    repeat(&b, 2, 1.3, 10); // three each: still too few
    CHECK_OK(nino_compare_runs(a.h, b.h, &c, &err), err);
    CHECK(c.rows[0].effect.rounds == 3 && c.rows[0].effect.is_too_few);
    nino_compare_release(&c);
    repeat(&a, 1, 3, 11); // other work
    repeat(&b, 1, 3, 11);
    repeat(&a, 10, 1, 10);
    repeat(&b, 10, 1.3, 10);
    CHECK_OK(nino_compare_runs(a.h, b.h, &c, &err), err);
    const nino_compare_row *r = &c.rows[0];
    CHECK(r->effect.rounds == 10 && r->effect.verdict == 1 && near(r->effect.percent, 30, 2));
    CHECK(r->effect.low < 30 && r->effect.high > 29 && r->a.n == 10);
    CHECK(r->effect.p < 1e-4 && r->effect.alpha < 0.01); // shared by all rows
    r = find(&c, NINO_COMPARE_NODE, "3 KSampler", "");
    CHECK(r && r->effect.verdict == 1 && r->n_a == 1);
    r = find(&c, NINO_COMPARE_STEPS, "3 KSampler", "");
    CHECK(r && r->effect.verdict == 1 && r->n_a == 10 && r->a.n == 10);
    r = find(&c, NINO_COMPARE_KERNEL, "3 KSampler", "gemm");
    CHECK(r && r->effect.verdict == 1 && r->n_a == 200 && near(r->effect.percent, 30, 2));
    r = find(&c, NINO_COMPARE_KERNEL, "3 KSampler", "norm");
    CHECK(r && r->effect.verdict == 0 && r->effect.is_equal);
    r = find(&c, NINO_COMPARE_NODE, "9 SaveImage", "");
    CHECK(r && r->effect.verdict == 0 && !r->effect.is_too_few);
    nino_compare_release(&c);
    repeat(&b, 10, 1, 10); // as fast as those of a
    CHECK_OK(nino_compare_runs(a.h, b.h, &c, &err), err);
    CHECK(c.rows[0].effect.rounds == 10 && c.rows[0].b.n == 20);
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
    CHECK(c.rows[0].total_b < c.rows[0].total_a && !c.rows[0].effect.verdict);
    const nino_compare_row *row = find(&c, NINO_COMPARE_NODE, "3 CLIPTextEncode", "");
    CHECK(row && row->cached_a && !row->cached_b && !row->effect.verdict);
    row = find(&c, NINO_COMPARE_NODE, "5 VAEDecode", "");
    CHECK(row && !row->cached_a && !row->cached_b && !row->effect.verdict);
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
    CHECK(r && r->n_a == 200 && r->n_b == 300 && !r->effect.verdict);
    CHECK_STR(r->shape, "");
    CHECK(!find(&c, NINO_COMPARE_KERNEL, "3 KSampler", "gemm"));
    r = find(&c, NINO_COMPARE_NODE, "3 KSampler", "");
    CHECK(r && r->n_a == 1 && r->n_b == 0);
    nino_compare_release(&c);
    nino_history_destroy(&a.h);
    nino_history_destroy(&b.h);
}

// Two runs that work as fast: one prepares kernels, reads weights and writes two pictures.
static fake_run once(bool is_cold)
{
    fake_run r = fake_begin();
    const uint32_t node = fake_scope(&r, NINO_EV_NODE, "3 KSampler", 1);
    for (uint32_t i = 0; i < 12; i++) {
        double s = 0.1 + 0.001 * (i % 3);
        const uint32_t step = fake_scope(&r, NINO_EV_STEP, "step", node);
        if (is_cold) { // in every step
            const uint32_t stage = fake_scope(&r, NINO_EV_STAGE, NINO_STAGE_COMPILE "gemm", step);
            r.t += 400000000;
            fake_end(&r, stage);
            s += 0.4;
        }
        r.t += (uint64_t) (s * 1e9) - (is_cold ? 400000000 : 0);
        fake_end(&r, step);
        fake_add(&r, (nino_event){ .kind = NINO_EV_STEP_INFO,
                                   .parent = node,
                                   .u.step = { .step = i + 1, .total = 12, .seconds = s } });
    }
    if (is_cold) {
        r.t += 3000000000;
        fake_add(
            &r, (nino_event){ .kind = NINO_EV_ONCE, .parent = node, .u.once.load_ns = 3000000000 });
    }
    fake_end(&r, node);
    for (int i = 0; i < 1 + is_cold; i++) {
        r.t += 100000000;
        fake_add(&r, (nino_event){ .kind = NINO_EV_OUTPUT, .name = fake_id(&r, "p.png") });
    }
    fake_end(&r, 1);
    return r;
}

static void test_once(void)
{
    nino_error err;
    nino_compare c;
    fake_run cold = once(true), warm = once(false);
    CHECK_OK(nino_compare_runs(cold.h, warm.h, &c, &err), err);
    const nino_compare_row *r = find(&c, NINO_COMPARE_NODE, "3 KSampler", "");
    CHECK(r && near(r->total_a, 1.212, 1e-6) && near(r->total_b, 1.212, 1e-6));
    r = find(&c, NINO_COMPARE_STEPS, "3 KSampler", "");
    CHECK(r && near(r->a.median, 0.101, 1e-6) && near(r->total_a, 1.212, 1e-6));
    CHECK(!r->effect.verdict && r->effect.is_too_few);
    r = &c.rows[0]; // seconds a file
    CHECK(c.files_a == 2 && c.files_b == 1);
    CHECK(near(r->a.median, 1.412 / 2, 1e-6) && near(r->b.median, 1.312, 1e-6));
    nino_compare_release(&c);
    nino_history_destroy(&cold.h);
    nino_history_destroy(&warm.h);
}

// Runs that did not end well are told from those that did.
static void test_ends(void)
{
    nino_error err;
    nino_compare c;
    fake_run r[4];
    static const char *const ends[] = { "done", "cancelled", "failed", "cut off" };
    for (int i = 0; i < 4; i++) {
        r[i] = fake_begin();
        r[i].t += 1000;
        const uint32_t status[] = { 0, -NINO_ERR_CANCELLED, -NINO_ERR_NOMEM };
        if (i < 3)
            fake_add(&r[i],
                     (nino_event){ .kind = NINO_EV_END, .id = 1, .u.scope.arg0 = status[i] });
        CHECK_OK(nino_compare_runs(r[0].h, r[i].h, &c, &err), err);
        CHECK_STR(c.end_a, "done");
        CHECK_STR(c.end_b, ends[i]);
        nino_compare_release(&c);
    }
    for (int i = 0; i < 4; i++)
        nino_history_destroy(&r[i].h);
}

static void test_empty(void)
{
    nino_error err;
    nino_compare c;
    nino_history *h = nino_history_create(0);
    CHECK_OK(nino_compare_runs(h, h, &c, &err), err);
    CHECK(c.n_rows == 1 && !*c.end_a && c.rows[0].total_a == 0 && !c.rows[0].effect.verdict);
    nino_compare_release(&c);
    nino_history_destroy(&h);
}

int main(void)
{
    test_runs();
    test_repeats();
    test_cached();
    test_flat();
    test_once();
    test_ends();
    test_empty();
    return 0;
}
