// The smallest program with the library: runs a workflow and prints the files that it wrote.
//   embed WORKFLOW MODELS INPUT OUTPUT      without arguments: a workflow of its own
#include <ninodes/ninodes.h>
#include <stdio.h>
#include <stdlib.h>

static const char empty_latent[] = "{\"1\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": "
                                   "{\"width\": 64, \"height\": 64, \"batch_size\": 1}},"
                                   "\"2\": {\"class_type\": \"SaveLatent\", \"inputs\": "
                                   "{\"samples\": [\"1\", 0], \"filename_prefix\": \"embed\"}}}";

static int fail(const char *what, const nino_error *e)
{
    fprintf(stderr, "%s: %s: %s\n", what, e->where, e->msg);
    return 1;
}

int main(int argc, char **argv)
{
    nino_error err;
    nino_status st = NINO_OK;
    char temp[] = "/tmp/ninodes-embed-XXXXXX";
    const char *models[] = { argc > 2 ? argv[2] : "models", NULL };
    nino_job_options options = { NINO_JOB_OPTIONS_INIT };
    options.models = models;
    options.input_dir = argc > 3 ? argv[3] : NULL;
    options.output_dir = argc > 4 ? argv[4] : mkdtemp(temp);
    nino_ctx_params params = { NINO_CTX_PARAMS_INIT };
    params.device = argc > 1 ? NULL : "ref";
    params.job = &options;

    nino_graph *graph = argc > 1
                            ? nino_graph_load_file(argv[1], &err)
                            : nino_graph_load(empty_latent, sizeof(empty_latent) - 1, "", &err);
    if (!graph)
        return fail("workflow", &err);
    nino_ctx *ctx = nino_ctx_create(&params, &err);
    nino_job *job = ctx ? nino_job_start(ctx, graph, NULL, &err) : NULL;
    if (!job)
        return fail("start", &err);
    while (!nino_job_done(job, &st, &err)) {
        nino_event ev[64];
        const size_t n = nino_job_poll(job, ev, 64);
        for (size_t i = 0; i < n; i++)
            if (ev[i].kind == NINO_EV_NODE)
                printf("running %s\n", nino_job_name(job, ev[i].name));
        if (!n)
            nino_job_wait(job, 100);
    }
    nino_job_output files[16];
    const size_t n_files = nino_job_outputs(job, files, 16);
    for (size_t i = 0; i < n_files && i < 16; i++)
        printf("%s: %s\n", files[i].node, files[i].path);
    if (st)
        fail("run", &err);
    nino_job_destroy(&job);
    nino_graph_destroy(&graph);
    nino_ctx_destroy(&ctx);
    return st || !n_files;
}
