// A run that nobody wants files of writes none, and what nodes that write hand on is there all the same.
#include "tests/flow.h"

#include <ftw.h>

static int n_files;

static int count_file(const char *path, const struct stat *st, int kind)
{
    (void) st;
    if (kind == FTW_F)
        fprintf(stderr, "%s was written\n", path);
    n_files += kind == FTW_F;
    return 0;
}

int main(void)
{
    static const char *const demo[] = { "data/demo/models", NULL };
    static const nino_job_options o = { NINO_JOB_OPTIONS_INIT, .models = demo, .no_files = true };
    static const char *const flows[] = {
        "{'1': {'class_type': 'EmptyImage', 'inputs': {'width': 32, 'height': 32, 'batch_size': "
        "2}},"
        " '2': {'class_type': 'VHS_VideoCombine', 'inputs': {'images': ['1', 0],"
        " 'format': 'image/webp', 'filename_prefix': 'x', 'frame_rate': 8}},"
        " '3': {'class_type': 'VHS_SelectFilename', 'inputs': {'filenames': ['2', 0]}},"
        " '4': {'class_type': 'PreviewAny', 'inputs': {'source': ['3', 0]}}}",
        "{'1': {'class_type': 'EmptyImage', 'inputs': {'width': 32, 'height': 32}},"
        " '2': {'class_type': 'VHS_VideoCombine', 'inputs': {'images': ['1', 0],"
        " 'format': 'image/webp', 'filename_prefix': 'x', 'save_output': false}}}",
        "{'1': {'class_type': 'EmptyAudio', 'inputs': {'duration': 0.1}},"
        " '2': {'class_type': 'SaveAudio', 'inputs': {'audio': ['1', 0]}},"
        " '3': {'class_type': 'PreviewAudio', 'inputs': {'audio': ['1', 0]}}}",
        "{'1': {'class_type': 'CheckpointLoaderSimple',"
        " 'inputs': {'ckpt_name': 'demo_flux.safetensors'}},"
        " '2': {'class_type': 'ModelSave', 'inputs': {'model': ['1', 0]}},"
        " '3': {'class_type': 'CLIPSave', 'inputs': {'clip': ['1', 1]}}}",
        "{'1': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 64, 'height': 64}},"
        " '2': {'class_type': 'SaveLatent', 'inputs': {'samples': ['1', 0]}},"
        " '3': {'class_type': 'SaveText', 'inputs': {'text': 'a'}}}",
    };
    nino_ctx *ctx = flow_open("ref", NULL);
    CHECK(ctx);
    for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
        nino_graph *g = flow_graph(flows[i]);
        const flow_result r = flow_run(ctx, g, &o);
        if (r.st)
            fprintf(stderr, "workflow %d\n", (int) i);
        CHECK_OK(r.st, r.err);
        CHECK(!r.n_paths);
        nino_graph_destroy(&g);
    }
    CHECK(ftw(flow_temp(), count_file, 8) == 0 && !n_files);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
