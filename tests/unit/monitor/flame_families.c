// One kernel that ops of two families launch is two bars of a flame graph: a product is also what convolutions launch.
#include <ninodes/history.h>

#include "tests/test.h"

static nino_error err;
static const char *const names[] = { "", "job", "gemm", "linear", "conv" };

static const char *name_of(void *priv, uint32_t id)
{
    (void) priv;
    return names[id];
}

static void add(nino_history *h, nino_event e) { nino_history_add(h, &e, 1, name_of, NULL); }

static void kernel(nino_history *h, uint64_t t, uint64_t ns, uint32_t family)
{
    add(h, (nino_event){ .t_ns = t,
                         .kind = NINO_EV_KERNEL,
                         .track = 256,
                         .name = 2,
                         .parent = 1,
                         .u.kernel = { .dur_ns = ns, .family = family } });
}

int main(void)
{
    nino_history *h = nino_history_create(0);
    add(h, (nino_event){ .t_ns = 10, .kind = NINO_EV_JOB, .name = 1, .id = 1 });
    kernel(h, 20, 300, 3);
    kernel(h, 400, 200, 3);
    kernel(h, 700, 100, 4);
    add(h, (nino_event){ .t_ns = 1000, .kind = NINO_EV_END, .id = 1 });
    nino_flame *f = NULL;
    size_t n = 0;
    CHECK_OK(nino_history_flame(h, 0, UINT64_MAX, true, &f, &n, &err), err);
    CHECK(n == 3 && f[0].ns == 600 && f[1].name == f[2].name && !f[1].parent && !f[2].parent);
    CHECK(f[1].ns == 500 && f[1].calls == 2 && f[2].ns == 100 && f[2].calls == 1);
    CHECK(f[1].family == nino_history_family_of(h, nino_history_find(h, "linear")));
    CHECK(f[2].family == nino_history_family_of(h, nino_history_find(h, "conv")));
    CHECK(f[1].family != f[2].family);
    free(f);
    nino_history_destroy(&h);
    return 0;
}
