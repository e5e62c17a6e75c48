// The smallest embedder: runs a workflow and prints the files it wrote. Public headers only.
//   minimal WORKFLOW MODELS INPUT OUTPUT      without arguments: a workflow of its own
#include <ninodes/ninodes.h>
#include <stdio.h>
#include <stdlib.h>

static const char empty_latent[] = "{\"1\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": "
                                   "{\"width\": 64, \"height\": 64, \"batch_size\": 1}},"
                                   "\"2\": {\"class_type\": \"SaveLatent\", \"inputs\": "
                                   "{\"samples\": [\"1\", 0], \"filename_prefix\": \"minimal\"}}}";

static int fail(const char *what, const nino_error *e)
{
    fprintf(stderr, "%s: %s: %s\n", what, e->where, e->msg);
    return 1;
}

int main(int argc, char **argv)
{
    nino_error err = { 0 };
    nino_status st = NINO_OK;
    char temp[] = "/tmp/ninodes-minimal-XXXXXX";
    const char *models[] = { argc > 2 ? argv[2] : "models", NULL };
    nino_ctx_params p = { .device = argc > 1 ? NULL : "ref", .models = models };
    p.input_dir = argc > 3 ? argv[3] : NULL;
    p.output_dir = argc > 4 ? argv[4] : mkdtemp(temp);

    nino_graph *g = argc > 1 ? nino_graph_load_file(argv[1], &err)
                             : nino_graph_load(empty_latent, sizeof(empty_latent) - 1, "", &err);
    if (!g)
        return fail("workflow", &err);
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    nino_job *job = ctx ? nino_job_start(ctx, g, NULL, &err) : NULL;
    if (!job)
        return fail("start", &err);

    nino_event ev[64];
    while (!nino_job_done(job, &st, &err)) {
        const size_t n = nino_job_poll(job, ev, 64);
        for (size_t i = 0; i < n; i++)
            if (ev[i].kind == NINO_EV_NODE)
                printf("running %s\n", nino_job_name(job, ev[i].name));
        if (!n)
            nino_job_wait(job, 100);
    }
    const char *paths[16];
    const size_t n_paths = nino_job_outputs(job, paths, 16);
    for (size_t i = 0; i < n_paths && i < 16; i++)
        printf("%s\n", paths[i]);
    if (st)
        fail("run", &err);
    nino_job_destroy(&job);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
    return st || !n_paths;
}
