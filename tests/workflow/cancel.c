// Cancel: while a node runs, while a job waits for its turn, and by destroying it. The ctx works
// on.
#include "tests/flow_vae.h"

static const char flow[] =
    "{'1': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 256, 'height': 256, "
    "'batch_size': 4}},"
    "'2': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'a.safetensors'}},"
    "'3': {'class_type': 'VAEDecode', 'inputs': {'samples': ['1', 0], 'vae': ['2', 0]}},"
    "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], 'filename_prefix': 'a'}}}";

static void make_files(void) { flow_save_vae(flow_small_vae, "vae", "a.safetensors"); }

// Polls until a node of this class has begun.
static void wait_for(nino_job *job, const char *name)
{
    nino_status st;
    nino_event ev[16];
    for (;;) {
        const size_t n = nino_job_poll(job, ev, 16);
        for (size_t i = 0; i < n; i++)
            if (ev[i].kind == NINO_EV_NODE && strstr(nino_job_name(job, ev[i].name), name))
                return;
        CHECK(!nino_job_done(job, &st, NULL));
        if (!n)
            nino_job_wait(job, 20);
    }
}

int main(void)
{
    nino_error err = { 0 };
    make_files();
    nino_ctx *ctx = flow_open("ref", NULL);
    nino_graph *g = flow_graph(flow);
    nino_mem_stat m;

    // one runs, one waits; both are cancelled
    nino_job *first = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(first ? NINO_OK : err.code, err);
    wait_for(first, "VAEDecode");
    nino_job *second = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(second ? NINO_OK : err.code, err);
    nino_job_cancel(second);
    flow_result r = flow_finish(second);
    CHECK(r.st == NINO_ERR_CANCELLED && r.n_paths == 0);
    CHECK_STR(r.ran, "");
    nino_status st = NINO_OK;
    CHECK(!nino_job_done(first, &st, NULL)); // the other one did not notice
    nino_job_cancel(first);
    nino_job_cancel(first); // twice is once
    r = flow_finish(first);
    CHECK(r.st == NINO_ERR_CANCELLED && r.n_paths == 0);
    CHECK(!strstr(r.ran, "SaveImage"));

    // destroying a running job ends it; its memory comes back
    nino_job *third = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(third ? NINO_OK : err.code, err);
    wait_for(third, "VAEDecode");
    nino_job_destroy(&third);
    CHECK(!third);
    nino_job_destroy(&third);

    // and the ctx still works
    CHECK_OK(nino_graph_set(g, "1.width=32", &err), err);
    CHECK_OK(nino_graph_set(g, "1.height=32", &err), err);
    nino_job *fourth = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(fourth ? NINO_OK : err.code, err);
    nino_event ev[64];
    while (!nino_job_done(fourth, &st, &err))
        if (!nino_job_poll(fourth, ev, 64))
            nino_job_wait(fourth, 20);
    CHECK_OK(st, err);
    nino_job_memory(fourth, &m);
    CHECK(m.by_owner[NINO_OWN_ACTIVATION] == 0 && m.by_owner[NINO_OWN_WORKSPACE] == 0);
    CHECK(nino_job_outputs(fourth, NULL, 0) == 4);
    nino_job_destroy(&fourth);

    // one whose events nobody polls ends as well, and who waits for it does not spin
    nino_job *unheard = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(unheard ? NINO_OK : err.code, err);
    int waits = 0;
    while (!nino_job_done(unheard, &st, &err)) {
        nino_job_wait(unheard, 60000);
        CHECK(++waits < 20); // the first event, and one for every output
    }
    CHECK_OK(st, err);
    CHECK(nino_job_outputs(unheard, NULL, 0) == 4 && nino_job_poll(unheard, ev, 64) > 0);
    nino_job_destroy(&unheard);

    // the ctx waits for a job that nobody waits for
    nino_job *last = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(last ? NINO_OK : err.code, err);
    nino_job_destroy(&last);
    nino_ctx_destroy(&ctx);
    nino_graph_destroy(&g);
    flow_clean();
    return 0;
}
