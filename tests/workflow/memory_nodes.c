// Nodes that free memory and say what there is, after a run that left results and weights behind.
#include "tests/flow.h"

static nino_ctx *ctx;

static flow_result run(const char *json) { return flow_run_json(ctx, json); }

// Something that stays in the cache.
static const char picture[] =
    "{'1': {'class_type': 'EmptyImage', 'inputs': {'width': 512, 'height': 512, 'batch_size': 1, "
    "'color': 255}},"
    "'2': {'class_type': 'SaveImage', 'inputs': {'images': ['1', 0], 'filename_prefix': 'p'}}}";

int main(void)
{
    ctx = flow_open("ref", "none");
    run(picture);
    flow_result r =
        run("{'1': {'class_type': 'ROCMMemoryDefragmenter', 'inputs': {}}}"); // keeps results
    CHECK(r.n_texts == 1 && strstr(r.text[0], "before: ") && strstr(r.text[0], "given back"));
    CHECK(strstr(r.text[0], "fragmentation") && strstr(r.text[0], "after: "));
    r = run(picture);
    CHECK(strstr(r.ran, "SaveImage (cached)"));
    r = run("{'1': {'class_type': 'ROCMEmergencyMemoryReset', 'inputs': {}}}");
    CHECK(r.n_texts == 1 && strstr(r.text[0], "results of earlier runs: "));
    CHECK(!strstr(r.text[0], "results of earlier runs: 0.0 MiB"));
    r = run(picture);
    CHECK(!strstr(r.ran, "(cached)"));
    r = run("{'1': {'class_type': 'WindowsPaginationDiagnostic', 'inputs': {'check_memory': true, "
            "'check_paging_file': true, 'apply_fixes': true}}}");
    CHECK(r.n_texts == 4 && strstr(r.text[0], "GiB") && strstr(r.text[1], "available"));
    CHECK(strstr(r.text[1], "swap") && r.text[2][0]);
    CHECK(strstr(r.text[3], "given back") && strstr(r.text[3], "left as they are"));
    r = run("{'1': {'class_type': 'WindowsPaginationDiagnostic', 'inputs': {'check_memory': false, "
            "'check_paging_file': false, 'apply_fixes': false}}}");
    CHECK(!strstr(r.text[1], "available") && strstr(r.text[r.n_texts - 1], "left as they are"));
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
