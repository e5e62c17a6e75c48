// What the plan backend counts, number by number: time of what goes between device and host, work in every scope
// that is open, peaks of scopes, marks and what is repeated, scopes nested deeper than it records, and zeros where
// a download would write.
#include "core/op/device/device.h"
#include "core/op/plan/plan.h"
#include "core/op/pool.h"
#include "tests/test.h"

#include <math.h>

static nino_error err;

static nino_backend *open_plan(double peak)
{
    nino_profile p = nino_profile_ref;
    p.peak_f32 = peak;
    p.bandwidth = 1e9;
    p.launch_s = 0.25;
    nino_backend *be = nino_plan_open(&p, 0, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    return be;
}

static bool near_to(double a, double b) { return fabs(a - b) <= 1e-12 * fabs(b); }

// Of buffers that hold something already: all of what is asked for, and nothing beside it.
static void check_download(void)
{
    unsigned char buf[300];
    nino_backend *be = open_plan(1e9);
    nino_block b;
    CHECK_OK(nino_pool_alloc(be->pool, 256, NINO_OWN_ACTIVATION, &b, &err), err);
    memset(buf, 7, sizeof(buf));
    CHECK_OK(be->impl->download(be, &b, buf + 1, 200, &err), err);
    for (int i = 0; i < 300; i++)
        CHECK(buf[i] == (i >= 1 && i <= 200 ? 0 : 7));
    nino_pool_free(be->pool, &b);
    nino_backend_close(&be);
    CHECK(!be);
}

// 6 GB/s, and the host waits a tenth of a millisecond; a profile without numbers knows no times.
static void check_carry(void)
{
    nino_backend *be = open_plan(1e9), *none = open_plan(0), *ref = nino_ref_open(0, NULL, &err);
    unsigned char buf[600];
    nino_block b = { 0 };
    CHECK(ref);
    nino_plan_carry(be, 6000000, false);
    CHECK(near_to(nino_plan_backend_seconds(be), 1e-3));
    nino_plan_carry(be, 6000000, true);
    CHECK(near_to(nino_plan_backend_seconds(be), 2e-3 + 1e-4));
    CHECK_OK(be->impl->download(be, &b, buf, 600, &err), err);
    CHECK(near_to(nino_plan_backend_seconds(be), 2e-3 + 2e-4 + 1e-7));
    CHECK_OK(be->impl->upload(be, &b, buf, 600, &err), err); // nobody waits for it
    CHECK_OK(be->impl->fill_zero(be, &b, 600, &err), err);
    CHECK_OK(be->impl->finish(be, &err), err);
    CHECK(near_to(nino_plan_backend_seconds(be), 2e-3 + 2e-4 + 1e-7));
    nino_plan_carry(none, 6000000, true);
    CHECK(nino_plan_backend_seconds(none) == 0);
    nino_backend *least = open_plan(1);
    nino_plan_carry(least, 6000000, false);
    CHECK(near_to(nino_plan_backend_seconds(least), 1e-3));
    nino_backend_close(&least);
    nino_plan_carry(ref, 6000000, true); // no plan
    nino_backend_close(&be);
    nino_backend_close(&none);
    nino_backend_close(&ref);
}

static void begin(nino_stream *s, const char *name)
{
    nino_scope_begin(s, NINO_EV_STAGE, name, 0, 0);
}

// An addition of n numbers: n operations, three operands of 4 bytes.
static void add(nino_stream *s, int64_t n)
{
    nino_unref(nino_add(s, nino_zeros(s, NINO_SHAPE(1, n), NINO_F32),
                        nino_zeros(s, NINO_SHAPE(1, n), NINO_F32)));
}

static const nino_plan_scope *scope(nino_backend *be, size_t i)
{
    size_t n;
    const nino_plan_scope *sc = nino_plan_backend_scopes(be, &n);
    CHECK(i < n);
    return &sc[i];
}

static void check_scopes(void)
{
    nino_backend *be = open_plan(1e9);
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    CHECK(s);
    add(s, 64); // before any: counted in the whole alone
    begin(s, "outer");
    begin(s, "a");
    add(s, 1000);
    nino_scope_end(s);
    const nino_plan_mark at = nino_plan_backend_mark(be);
    begin(s, "b");
    add(s, 4000);
    add(s, 100);
    nino_scope_end(s);
    const nino_plan_mark two = nino_plan_mark_since(be, &at);
    CHECK(two.kernels == 2 && two.flops == 4100 && two.bytes == 12.0 * 4100 && !two.load_bytes);
    CHECK(near_to(two.seconds, 0.5 + 12 * 4100 / 1e9));
    nino_scope_end(s);
    CHECK_STR(scope(be, 0)->name, "outer");
    CHECK_STR(scope(be, 1)->name, "outer / a");
    CHECK_STR(scope(be, 2)->name, "outer / b");
    CHECK(scope(be, 0)->depth == 0 && scope(be, 1)->depth == 1 && scope(be, 2)->depth == 1);
    CHECK(scope(be, 0)->kernels == 3 && scope(be, 1)->kernels == 1 && scope(be, 2)->kernels == 2);
    CHECK(scope(be, 0)->flops == 5100 && scope(be, 1)->flops == 1000 &&
          scope(be, 2)->flops == 4100);
    CHECK(scope(be, 0)->bytes == 12.0 * 5100 && scope(be, 2)->bytes == 12.0 * 4100);
    CHECK(near_to(scope(be, 0)->seconds, 0.75 + 12 * 5100 / 1e9));
    CHECK(near_to(nino_plan_backend_seconds(be), 1 + 12 * 5164 / 1e9));
    // Two operands of 4 bytes each, in blocks of 4096 and of 16384; one becomes the result.
    CHECK(scope(be, 1)->peak_bytes == 2 * nino_pool_class_bytes(4000));
    CHECK(scope(be, 2)->peak_bytes == 2 * nino_pool_class_bytes(16000));
    CHECK(scope(be, 0)->peak_bytes == scope(be, 2)->peak_bytes);
    // The same once more, in another scope.
    begin(s, "again");
    nino_plan_backend_repeat(be, &two);
    nino_scope_end(s);
    CHECK(scope(be, 3)->kernels == 2 && scope(be, 3)->flops == 4100 && scope(be, 3)->depth == 0);
    CHECK(be->n_ops == 6 && be->flops == 5164 + 4100 && be->bytes == 12.0 * (5164 + 4100));
    CHECK(near_to(nino_plan_backend_seconds(be), 1.5 + 12 * (5164 + 4100) / 1e9));
    CHECK(scope(be, 0)->kernels == 3); // which is closed
    nino_plan_backend_repeat(be, &(nino_plan_mark){ .load_bytes = 9 });
    const nino_plan_mark nine = nino_plan_backend_mark(be);
    CHECK(nine.load_bytes == 9);
    nino_plan_backend_repeat(be, &(nino_plan_mark){ .load_bytes = 5 });
    CHECK(nino_plan_mark_since(be, &nine).load_bytes == 5);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
}

// What is in use is looked at when a scope begins and whenever something goes to the device; a scope that is closed
// keeps what it had.
static void check_peaks(void)
{
    enum { UPLOAD, ZERO, PACK, WAYS };
    nino_backend *be = open_plan(1e9);
    const nino_backend_impl *plan = be->impl;
    nino_block kept, b;
    CHECK_OK(nino_pool_alloc(be->pool, 4096, NINO_OWN_ACTIVATION, &kept, &err), err);
    plan->scope_begin(be, NINO_EV_STAGE, "outer", 0, 0);
    plan->scope_begin(be, NINO_EV_STAGE, "nothing", 0, 0);
    plan->scope_end(be);
    CHECK(scope(be, 0)->peak_bytes == 4096 && scope(be, 1)->peak_bytes == 4096);
    for (uint64_t way = 0; way < WAYS; way++) {
        const uint64_t bytes = 8192 << way;
        nino_packed out = { .priv = NULL };
        CHECK_OK(nino_pool_alloc(be->pool, bytes, NINO_OWN_ACTIVATION, &b, &err), err);
        CHECK(scope(be, 0)->peak_bytes < 4096 + bytes);
        if (way == UPLOAD)
            CHECK_OK(plan->upload(be, &b, NULL, 1, &err), err);
        if (way == ZERO)
            CHECK_OK(plan->fill_zero(be, &b, 1, &err), err);
        if (way == PACK)
            CHECK_OK(plan->pack(be, NULL, &out, &err), err);
        CHECK(scope(be, 0)->peak_bytes == 4096 + bytes);
        nino_pool_free(be->pool, &b);
    }
    plan->scope_end(be);
    CHECK_OK(nino_pool_alloc(be->pool, 1 << 20, NINO_OWN_ACTIVATION, &b, &err), err);
    CHECK_OK(plan->upload(be, &b, NULL, 1, &err), err);
    CHECK(scope(be, 0)->peak_bytes == 4096 + (8192 << PACK) && scope(be, 1)->peak_bytes == 4096);
    nino_pool_free(be->pool, &b);
    nino_pool_free(be->pool, &kept);
    nino_backend_close(&be);
}

// 64 are recorded one in the other; those within are counted by these. Of many after each other all are.
static void check_depth(void)
{
    enum { DEEP = 70, MANY = 200 };
    char name[80];
    size_t n;
    nino_backend *be = open_plan(1e9);
    const nino_backend_impl *plan = be->impl;
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    CHECK(s);
    memset(name, 'x', sizeof(name));
    name[sizeof(name) - 1] = 0;
    for (int i = 0; i < DEEP; i++)
        plan->scope_begin(be, NINO_EV_STAGE, i ? "in" : name, 0, 0);
    add(s, 10);
    nino_plan_backend_scopes(be, &n);
    CHECK(n == 64 && scope(be, 0)->kernels == 1 && scope(be, 63)->kernels == 1);
    CHECK(scope(be, 63)->depth == 63 && scope(be, 0)->depth == 0);
    CHECK(strlen(scope(be, 0)->name) == 36); // a name is cut there, a path before it at 55
    CHECK(strlen(scope(be, 1)->name) == 36 + 3 + 2 && strlen(scope(be, 9)->name) == 55 + 3 + 2);
    for (int i = 0; i < 64; i++)
        plan->scope_end(be);
    for (int i = 0; i < MANY; i++) {
        plan->scope_begin(be, NINO_EV_STAGE, NULL, 0, 0);
        add(s, 10);
        plan->scope_end(be);
    }
    nino_plan_backend_scopes(be, &n);
    CHECK(n == 64 + MANY && scope(be, 63)->kernels == 1);
    for (size_t i = 64; i < n; i++)
        CHECK(scope(be, i)->kernels == 1 && scope(be, i)->flops == 10 && scope(be, i)->depth == 0 &&
              !*scope(be, i)->name);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
}

static void check_limits(void)
{
    nino_profile p = nino_profile_ref;
    nino_mem_stat m;
    const nino_log log = { 0 };
    nino_backend *be = nino_plan_open(&p, 12345, &log, &err);
    CHECK(be && be->log == &log && be->impl->name && !strcmp(be->impl->name, "plan"));
    nino_pool_stat(be->pool, &m);
    CHECK(m.budget == 12345 && !m.reserved);
    nino_backend_close(&be);
    // Without a pool every block is a piece of its own, as large as it is.
    p.switched = NINO_POLICY_BIT(NINO_POLICY_POOL);
    be = nino_plan_open(&p, 0, NULL, &err);
    nino_block b;
    CHECK_OK(nino_pool_alloc(be->pool, 1001, NINO_OWN_ACTIVATION, &b, &err), err);
    CHECK(b.bytes == 1001);
    nino_pool_free(be->pool, &b);
    nino_backend_close(&be);
}

int main(void)
{
    check_download();
    check_carry();
    check_scopes();
    check_peaks();
    check_depth();
    check_limits();
    return 0;
}
