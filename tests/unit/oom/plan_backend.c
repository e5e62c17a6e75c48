// A plan backend and memory that is missing: it says that it cannot be opened, what it does not record is counted by the
// scopes around it, and it gives back all that it has, what lists its programs too.
#include "core/op/backend.h"
#include "core/op/plan/plan.h"
#include "tests/oom.h"

enum { MANY = 300 }; // scopes

static int closed;

static void close_lister(nino_backend *be)
{
    (void) be;
    closed++;
}

static nino_status finish_lister(nino_backend *be, nino_error *err)
{
    (void) be;
    (void) err;
    return NINO_OK;
}

static const nino_backend_impl lists = { .name = "lists",
                                         .finish = finish_lister,
                                         .close = close_lister };

// Each as deep as the last one: of those there is memory for the work is in them, of others in the first one.
static void count_scopes(nino_backend *be, int may_fail)
{
    const nino_plan_mark one = { .flops = 1, .kernels = 1 };
    const nino_plan_scope *s;
    size_t n;
    be->impl->scope_begin(be, NINO_EV_NODE, "outer", 0, 0);
    for (int i = 0; i < MANY; i++) {
        be->impl->scope_begin(be, NINO_EV_STAGE, "in", 0, 0);
        be->impl->scope_begin(be, NINO_EV_STAGE, "deep", 0, 0);
        nino_plan_backend_repeat(be, &one);
        be->impl->scope_end(be);
        be->impl->scope_end(be);
    }
    s = nino_plan_backend_scopes(be, &n);
    CHECK(be->flops == MANY && be->n_ops == MANY);
    CHECK(n == 1 + 2 * MANY || (may_fail && oom.fired));
    for (size_t i = 0; i < n; i++) {
        const bool is_first = !strcmp(s[i].name, "outer");
        CHECK(s[i].kernels == (is_first ? MANY : 1) && s[i].depth <= 2 && (!is_first || !i));
    }
    be->impl->scope_end(be);
}

static void scenario(int may_fail)
{
    nino_error err = { .code = NINO_OK };
    nino_backend first = { .impl = &lists }, last = { .impl = &lists };
    nino_backend *be = nino_plan_open(&nino_profile_ref, 0, NULL, &err);
    if (!be) {
        CHECK(may_fail && oom.fired && err.code == NINO_ERR_NOMEM);
        CHECK_STR(err.where, "plan");
        CHECK_STR(err.msg, "no memory for a backend");
        return;
    }
    closed = 0;
    nino_plan_set_lister(be, &first);
    CHECK(!closed);
    nino_plan_set_lister(be, &last);
    CHECK(closed == 1);
    count_scopes(be, may_fail);
    nino_backend_close(&be);
    CHECK(closed == 2 && !be);
}

int main(void)
{
    printf("  %ld allocations\n", oom_each(scenario));
    return 0;
}
