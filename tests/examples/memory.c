// A picture from memory through a workflow and back, without a file: LoadImage gets pixels, and
// what SaveImage is given comes out of the job.
#include <ninodes/ninodes.h>
#include <stdio.h>
#include <string.h>

static const char workflow[] =
    "{\"1\": {\"class_type\": \"LoadImage\", \"inputs\": {\"image\": \"from memory\"}},"
    "\"2\": {\"class_type\": \"ImageInvert\", \"inputs\": {\"image\": [\"1\", 0]}},"
    "\"3\": {\"class_type\": \"SaveImage\", \"inputs\": "
    "{\"images\": [\"2\", 0], \"filename_prefix\": \"never\"}}}";

static int fail(const nino_error *e)
{
    fprintf(stderr, "%s: %s\n", e->where, e->msg);
    return 1;
}

int main(void)
{
    static const uint8_t pixels[2][2][3] = { { { 255, 0, 0 }, { 0, 255, 0 } },
                                             { { 0, 0, 255 }, { 51, 51, 51 } } };
    nino_error err;
    nino_status st = NINO_OK;
    nino_raster in = { NINO_RASTER_INIT }, out = { NINO_RASTER_INIT };
    in.type = NINO_RASTER_U8;
    in.n = 1;
    in.height = in.width = 2;
    in.channels = 3;
    in.data = pixels;
    nino_graph *graph = nino_graph_load(workflow, strlen(workflow), "invert", &err);
    if (!graph || nino_graph_set_image(graph, "1", &in, &err))
        return fail(&err);

    nino_job_options options = { NINO_JOB_OPTIONS_INIT };
    options.keep_results = options.no_files = true;
    nino_ctx_params params = { NINO_CTX_PARAMS_INIT };
    params.device = "ref";
    nino_ctx *ctx = nino_ctx_create(&params, &err);
    nino_job *job = ctx ? nino_job_start(ctx, graph, &options, &err) : NULL;
    if (!job)
        return fail(&err);
    for (nino_event ev[64]; !nino_job_done(job, &st, &err); nino_job_wait(job, 100))
        while (nino_job_poll(job, ev, 64) > 0)
            continue;
    if (st || nino_job_image(job, "3", 0, &out, &err))
        return fail(&err);
    const float *rgb = (const float *) out.data;
    for (int i = 0; i < out.height * out.width; i++, rgb += out.channels)
        printf("%3.0f %3.0f %3.0f\n", rgb[0] * 255.0, rgb[1] * 255.0, rgb[2] * 255.0);
    const bool is_right = rgb[-1] > 0.79f && rgb[-1] < 0.81f && !nino_job_outputs(job, NULL, 0);
    nino_job_destroy(&job);
    nino_ctx_destroy(&ctx);
    nino_graph_destroy(&graph);
    return !is_right;
}
