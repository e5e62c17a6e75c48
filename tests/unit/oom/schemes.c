// Plans of graphs leave nothing behind, whether they fit or not, are refused, or say that nothing can be chosen: as
// many allocations are left as before, from the second time on (the first fills what is kept for the process).
#include "tests/flow.h"
#include "tests/oom.h"

#include "core/run/context.h"

static nino_error err;

static nino_graph *graph(const char *size)
{
    char json[600];
    snprintf(
        json, sizeof(json),
        "{'1': {'class_type': 'EmptyImage', 'inputs': {'width': %s, 'height': 64, 'batch_size': 2, "
        "'color': 0}},"
        "'2': {'class_type': 'ImageInvert', 'inputs': {'image': ['1', 0]}},"
        "'3': {'class_type': 'SaveImage', 'inputs': {'images': ['2', 0], 'filename_prefix': 'a'}}}",
        size);
    return flow_graph(json);
}

static void scheme(nino_ctx *ctx, nino_graph *g, const char *profile, uint64_t budget,
                   nino_status want)
{
    nino_scheme_info i = { NINO_SCHEME_INFO_INIT };
    nino_scheme *s = nino_scheme_create(ctx, g, profile, NULL, budget, &err);
    CHECK(!!s == !want && (s || err.code == want));
    if (!s)
        return;
    CHECK_OK(nino_scheme_get(s, &i, &err), err);
    nino_scheme_destroy(&s);
    CHECK(!s);
}

static void plan(nino_ctx *ctx, nino_graph *g, const char *profile, nino_status want)
{
    nino_plan p = { .n_scopes = 0 };
    CHECK(nino_graph_plan(ctx, g, profile, NULL, &p, &err) == want);
    if (want)
        return;
    CHECK(p.fits && p.n_scopes == 3 && p.scopes);
    nino_plan_release(&p);
    CHECK(!p.scopes && !p.n_scopes && !p.programs);
}

static void all(nino_ctx *ctx)
{
    nino_graph *g = graph("64"), *bad = graph("'no number'");
    scheme(ctx, g, NULL, 0, NINO_OK);
    scheme(ctx, g, NULL, 1 << 20, NINO_OK);
    scheme(ctx, g, "gfx1151", 0, NINO_OK);
    scheme(ctx, g, "voodoo", 0, NINO_ERR_UNKNOWN);
    plan(ctx, g, NULL, NINO_OK);
    plan(ctx, g, "gfx1151", NINO_OK);
    plan(ctx, g, "voodoo", NINO_ERR_UNKNOWN);
    CHECK(!nino_scheme_create(ctx, bad, NULL, NULL, 0, &err) && err.code);
    nino_graph_destroy(&g);
    nino_graph_destroy(&bad);
}

int main(void)
{
    nino_ctx *ctx = flow_open_limited("ref", flow_temp(), 0);
    CHECK(ctx);
    all(ctx);
    for (int i = 0; i < 2; i++) {
        const long before = oom.live;
        all(ctx);
        if (oom.live != before)
            fprintf(stderr, "%ld not freed\n", oom.live - before);
        CHECK(oom.live == before);
    }
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
