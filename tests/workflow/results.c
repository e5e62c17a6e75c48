// What goes into a job from memory and what comes out of it: pictures, latents, files with their
// nodes, and the descriptor that an event loop waits for.
#include <math.h>
#include <poll.h>

#include "tests/flow.h"

static const char invert[] =
    "{'1': {'class_type': 'LoadImage', 'inputs': {'image': 'from memory'}},"
    " '2': {'class_type': 'ImageInvert', 'inputs': {'image': ['1', 0]}},"
    " '3': {'class_type': 'SaveImage', 'inputs': {'images': ['2', 0], 'filename_prefix': 'r'}},"
    " '4': {'class_type': 'MaskPreview', 'inputs': {'mask': ['1', 1]}}}";

static const nino_job_options in_memory = { NINO_JOB_OPTIONS_INIT, .keep_results = true,
                                            .no_files = true };

// Runs to the end by nothing but the job's descriptor.
static nino_job *run(nino_ctx *ctx, nino_graph *g, const nino_job_options *o)
{
    nino_error err = { 0 };
    nino_status st = NINO_OK;
    nino_job *job = nino_job_start(ctx, g, o, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    struct pollfd p = { .fd = nino_job_fd(job), .events = POLLIN };
    CHECK(p.fd >= 0 && nino_job_fd(job) == p.fd);
    do {
        nino_event ev[16];
        CHECK(poll(&p, 1, 60000) == 1); // else it would sleep for ever
        while (nino_job_poll(job, ev, 16) > 0)
            continue;
    } while (!nino_job_done(job, &st, &err));
    CHECK_OK(st, err);
    return job;
}

static float pixel(nino_job *job, int i)
{
    nino_error err = { 0 };
    nino_raster out = { NINO_RASTER_INIT };
    CHECK_OK(nino_job_image(job, "3", 0, &out, &err), err);
    CHECK(out.type == NINO_RASTER_F32 && out.n == 1 && !out.frames && out.channels == 3);
    CHECK(i < out.width * out.height * 3);
    return ((const float *) out.data)[i];
}

static void test_image(nino_ctx *ctx)
{
    nino_error err = { 0 };
    uint8_t rgba[3][2][4] = { { { 255, 0, 51, 255 } } };
    nino_graph *g = flow_graph(invert);
    nino_raster r = { NINO_RASTER_INIT, .type = NINO_RASTER_U8, .n = 1,      .height = 3,
                      .width = 2,       .channels = 4,          .data = rgba };
    CHECK(nino_graph_check(g, ctx, NULL, NULL) == 1); // the file is missing
    CHECK_OK(nino_graph_set_image(g, "1", &r, &err), err);
    CHECK(nino_graph_check(g, ctx, NULL, NULL) == 0);
    nino_job *job = run(ctx, g, &in_memory);
    CHECK(pixel(job, 0) == 0 && pixel(job, 1) == 1 && pixel(job, 2) == 1 - 51 / 255.0f);
    CHECK(!nino_job_outputs(job, NULL, 0));
    nino_raster out = { NINO_RASTER_INIT };
    CHECK(nino_job_image(job, "3", 1, &out, &err) == NINO_ERR_MISSING);
    CHECK(nino_job_image(job, "2", 0, &out, &err) == NINO_ERR_MISSING);
    CHECK(nino_job_latent(job, "3", 0, &out, &err) == NINO_ERR_MISSING);
    CHECK(nino_job_image(job, "3", 0, &(nino_raster){ .n = 1 }, &err) == NINO_ERR_ARG);
    nino_job_destroy(&job);

    // other pixels of the same node are another result; the caller's own were copied
    rgba[0][0][1] = 255;
    job = run(ctx, g, &in_memory);
    CHECK(pixel(job, 1) == 1);
    nino_job_destroy(&job);
    CHECK_OK(nino_graph_set_image(g, "1", &r, &err), err);
    job = run(ctx, g, &in_memory);
    CHECK(pixel(job, 1) == 0);
    nino_job_destroy(&job);

    // with files: each with its node; nothing is kept unasked
    job = run(ctx, g, NULL);
    nino_job_output files[4];
    CHECK(nino_job_outputs(job, files, 4) == 2);
    for (int i = 0; i < 2; i++)
        CHECK(!access(files[i].path, R_OK) &&
              (!strcmp(files[i].node, "3") ? strstr(files[i].path, "r_00001_.png") != NULL
                                           : !strcmp(files[i].node, "4")));
    CHECK(strcmp(files[0].node, files[1].node) != 0);
    CHECK(nino_job_image(job, "3", 0, &out, &err) == NINO_ERR_MISSING);
    nino_job_destroy(&job);

    CHECK_OK(nino_graph_set_image(g, "1", NULL, &err), err);
    CHECK(nino_graph_check(g, ctx, NULL, NULL) == 1);
    nino_graph_destroy(&g);
}

static void test_refused(void)
{
    nino_error err = { 0 };
    float v[3] = { 0, 0, NAN };
    nino_graph *g = flow_graph(invert);
    const nino_raster good = { NINO_RASTER_INIT, NINO_RASTER_F32, 1, 0, 1, 1, 3, v };
    CHECK(nino_graph_set_image(g, "1", &good, &err) == NINO_ERR_RANGE);
    v[2] = 0;
    CHECK(nino_graph_set_image(g, "9", &good, &err) == NINO_ERR_UNKNOWN);
    CHECK(nino_graph_set_image(g, "2", &good, &err) == NINO_ERR_ARG);
    CHECK(nino_graph_set_latent(g, "1", &good, &err) == NINO_ERR_ARG);
    const nino_raster bad[] = {
        { 0, NINO_RASTER_F32, 1, 0, 1, 1, 3, v },
        { NINO_RASTER_INIT, NINO_RASTER_F32, 1, 0, 1, 1, 2, v },
        { NINO_RASTER_INIT, NINO_RASTER_F32, 0, 0, 1, 1, 3, v },
        { NINO_RASTER_INIT, NINO_RASTER_F32, 1, 1, 1, 1, 3, v },
        { NINO_RASTER_INIT, NINO_RASTER_F32, 1, 0, 1, 1, 3, NULL },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(nino_graph_set_image(g, "1", &bad[i], &err) == NINO_ERR_ARG);
    nino_raster large = good;
    large.width = 16385;
    CHECK(nino_graph_set_image(g, "1", &large, &err) == NINO_ERR_RANGE);
    large = good;
    large.n = 1 << 30;
    CHECK(nino_graph_set_image(g, "1", &large, &err) == NINO_ERR_RANGE);
    CHECK_OK(nino_graph_set_image(g, "1", &good, &err), err);
    nino_graph_destroy(&g);
}

static void test_latent(nino_ctx *ctx)
{
    nino_error err = { 0 };
    float cells[2 * 3 * 4];
    for (int i = 0; i < 24; i++)
        cells[i] = (float) i;
    nino_graph *g =
        flow_graph("{'1': {'class_type': 'LoadLatent', 'inputs': {'latent': 'none.latent'}},"
                   " '2': {'class_type': 'SaveLatent', 'inputs': {'samples': ['1', 0],"
                   " 'filename_prefix': 'l'}}}");
    const nino_raster r = { NINO_RASTER_INIT, .type = NINO_RASTER_F32, .n = 1,       .height = 2,
                            .width = 3,       .channels = 4,           .data = cells };
    CHECK_OK(nino_graph_set_latent(g, "1", &r, &err), err);
    nino_job *job = run(ctx, g, &in_memory);
    nino_raster out = { NINO_RASTER_INIT };
    CHECK_OK(nino_job_latent(job, "2", 0, &out, &err), err);
    CHECK(out.n == 1 && out.height == 2 && out.width == 3 && out.channels == 4);
    CHECK(!memcmp(out.data, cells, sizeof(cells)));
    nino_job_destroy(&job);
    nino_graph_destroy(&g);
}

int main(void)
{
    nino_ctx *ctx = flow_open("ref", NULL);
    test_refused();
    test_image(ctx);
    test_latent(ctx);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
