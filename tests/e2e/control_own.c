// A ControlNet for one part of the sampling and a T2I-Adapter on top of it for another, from prompt
// to picture, against torch (tests/data/make/control.py); what the plan says of it; the adapter's
// and the loader's other ways.
#include "tests/e2e_flow.h"

#define FLOW "sd15_tiny_control"

// The control networks lie in the private folder, as models/controlnet.
static void put_models(void)
{
    char cmd[1024];
    snprintf(
        cmd, sizeof(cmd),
        "mkdir -p %s/controlnet %s/t2i_adapter && cp tests/data/synth/control_sd15.safetensors "
        "%s/controlnet && cp tests/data/synth/control_t2i_light.safetensors %s/t2i_adapter",
        flow_models(), flow_models(), flow_models(), flow_models());
    CHECK(system(cmd) == 0);
}

static void check_result(const flow_result *r)
{
    nino_weights *ref = test_open("tests/data/e2e/expected/" FLOW "_ref.safetensors");
    int found = 0;
    CHECK_OK(r->st, r->err);
    for (size_t i = 0; i < r->n_paths; i++) {
        if (strstr(r->path[i], ".latent"))
            e2e_check_latent(r->path[i], ref, "latent_comfy", 1e-6);
        else
            e2e_check_picture(r->path[i], "tests/data/e2e/expected/" FLOW ".png", 2);
        found++;
    }
    printf("\n");
    CHECK(found == 2);
    nino_weights_unref(&ref);
}

static void check_run(const char *device)
{
    nino_error err = { 0 };
    nino_mem_stat m;
    nino_plan p = { 0 };
    nino_ctx *ctx = flow_open_with(device, "tests/data", "/e2e_2026/input");
    if (!ctx)
        return;
    char *json = e2e_with_latent(e2e_workflow("tests/data", "e2e", FLOW), "3");
    nino_graph *g = nino_graph_load(json, strlen(json), FLOW, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    CHECK_OK(nino_graph_plan(ctx, g, NULL, NULL, &p, &err), err);
    nino_job *job = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    nino_status st;
    nino_event ev[64];
    while (!nino_job_done(job, &st, &err))
        if (!nino_job_poll(job, ev, 64))
            nino_job_wait(job, 20);
    CHECK_OK(st, err);
    nino_job_memory(job, &m);
    const flow_result r = flow_finish(job);
    printf("  %s: plan %llu bytes, run %llu,", device, (unsigned long long) p.peak_bytes,
           (unsigned long long) m.peak);
    CHECK(p.peak_bytes == m.peak && p.weight_bytes == m.peak_by_owner[NINO_OWN_WEIGHTS]);
    check_result(&r);
    nino_plan_release(&p);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
    free(json);
}

// A value of the workflow is another, and the picture with it: each widget acts.
static void check_acts(const char *assignment, bool changes)
{
    nino_error err = { 0 };
    nino_ctx *ctx = flow_open_with("ref", "tests/data", "/e2e_2026/input");
    char *json = e2e_workflow("tests/data", "e2e", FLOW);
    nino_graph *g = nino_graph_load(json, strlen(json), FLOW, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    CHECK_OK(nino_graph_set(g, assignment, &err), err);
    const flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    const int worst = e2e_difference(r.path[0], "tests/data/e2e/expected/" FLOW ".png");
    printf("  %s: %d of 255\n", assignment, worst);
    CHECK((worst > 2) == changes);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
    free(json);
}

int main(void)
{
    static const char *const devices[] = { "ref", "cl", NULL };
    put_models();
    for (const char *const *name = devices; *name; name++)
        check_run(*name);
    check_acts("12.strength=0", true);
    check_acts("12.end_percent=1", true);
    check_acts("14.start_percent=0", true);
    check_acts("14.strength=0", true);
    check_acts("14.end_percent=1", false);
    flow_clean();
    return 0;
}
