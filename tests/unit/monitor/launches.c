// Launches of kernels counted by what they were for: alike ones together, longest first, of a range, and
// as many as there are.
#include <ninodes/history.h>
#include "tests/test.h"

static const char *name(void *priv, uint32_t id)
{
    static char text[64];
    (void) priv;
    snprintf(text, sizeof(text), "text %u", id);
    return id ? text : "";
}

static void add(nino_history *h, uint64_t t, uint32_t kernel, uint32_t launch, uint32_t shape,
                uint64_t ns)
{
    const nino_event e = { .t_ns = t,
                           .kind = NINO_EV_KERNEL,
                           .sub = 4,
                           .track = 256,
                           .name = kernel,
                           .id = nino_kernel_id(16, launch),
                           .u.kernel = {
                               .dur_ns = ns, .flops = 100, .bytes = 10, .shape = shape } };
    nino_history_add(h, &e, 1, name, NULL);
}

static void test_some(void)
{
    size_t n = 9;
    nino_history *h = nino_history_create(0);
    CHECK(!nino_history_launches(h, 0, UINT64_MAX, &n) && n == 0);
    add(h, 100, 1, 5, 7, 10);
    add(h, 200, 1, 5, 7, 30);
    add(h, 300, 1, 6, 7, 25); // another launch
    add(h, 400, 1, 5, 8, 50); // another shape
    add(h, 500, 2, 5, 7, 1);  // another kernel
    add(h, 600, 1, 0, 0, 2);  // tells neither
    const nino_event transfer = { .t_ns = 700, .kind = NINO_EV_TRANSFER, .track = 256, .name = 3 };
    nino_history_add(h, &transfer, 1, name, NULL);
    nino_launch_stat *l = nino_history_launches(h, 0, UINT64_MAX, &n);
    CHECK(n == 5 && l[0].total_ns == 50 && l[1].total_ns == 40 && l[2].total_ns == 25);
    CHECK(l[1].calls == 2 && l[1].min_ns == 10 && l[1].max_ns == 30);
    CHECK(l[1].flops == 200 && l[1].bytes == 20 && l[1].op == 4 && l[1].bits == 16);
    CHECK_STR(nino_history_name(h, l[1].kernel), "text 1");
    CHECK_STR(nino_history_name(h, l[1].launch), "text 5");
    CHECK_STR(nino_history_name(h, l[1].shape), "text 7");
    CHECK(!l[3].launch && !l[3].shape);
    free(l);
    l = nino_history_launches(h, 200, 400, &n);
    CHECK(n == 2 && l[0].total_ns == 30 && l[0].calls == 1);
    free(l);
    CHECK(!nino_history_launches(h, 800, 900, &n) && n == 0);
    nino_history_destroy(&h);
}

static void test_many(void)
{
    size_t n;
    nino_history *h = nino_history_create(0);
    for (uint32_t i = 0; i < 6000; i++)
        add(h, 100 + i, 1 + i % 3, 10 + i % 1000, 5, 1 + i % 1000);
    nino_launch_stat *l = nino_history_launches(h, 0, UINT64_MAX, &n);
    CHECK(n == 3000);
    for (size_t i = 0; i < n; i++)
        CHECK(l[i].calls == 2 && (!i || l[i].total_ns <= l[i - 1].total_ns));
    free(l);
    nino_history_destroy(&h);
}

int main(void)
{
    test_some();
    test_many();
    return 0;
}
