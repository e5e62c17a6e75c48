// Lists on links: a node behind one runs once for every item, several lists go together, results
// of it come from the cache, and a node that takes lists gets them whole.
#include "tests/flow.h"

static nino_ctx *ctx;

static flow_result run(const char *json) { return flow_run_json(ctx, json); }

// Five pictures in batches of two; `size` is what comes of them.
#define BATCHES(size)                                                                              \
    "{'1': {'class_type': 'EmptyImage', 'inputs': {'width': 16, 'height': 8, 'batch_size': 5, "    \
    "'color': 255}},"                                                                              \
    "'2': {'class_type': 'RebatchImages', 'inputs': {'images': ['1', 0], 'batch_size': " size      \
    "}},"

static int runs_of(const flow_result *r, const char *name)
{
    int n = 0;
    for (const char *p = r->ran; (p = strstr(p, name)); p++)
        n++;
    return n;
}

int main(void)
{
    ctx = flow_open("ref", "none");
    // Three batches: three times through the node between, five files.
    flow_result r = run(BATCHES("2") "'3': {'class_type': 'ImageInvert', 'inputs': {'image': "
                                     "['2', 0]}},"
                                     "'4': {'class_type': 'SaveImage', 'inputs': {'images': "
                                     "['3', 0], 'filename_prefix': 'l'}}}");
    CHECK(r.n_paths == 5);
    // The same again: nothing runs, the files are named all the same.
    r = run(BATCHES("2") "'3': {'class_type': 'ImageInvert', 'inputs': {'image': ['2', 0]}},"
                         "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], "
                         "'filename_prefix': 'l'}}}");
    CHECK(r.n_paths == 5 && runs_of(&r, "(cached)") == runs_of(&r, "|"));
    // A list and one value: the value goes with every item. A node that takes lists makes one
    // batch of them again.
    r = run(BATCHES("2") "'3': {'class_type': 'ImageBatch', 'inputs': {'image1': ['2', 0], "
                         "'image2': ['1', 0]}},"
                         "'5': {'class_type': 'RebatchImages', 'inputs': {'images': ['3', 0], "
                         "'batch_size': 99}},"
                         "'6': {'class_type': 'ImageFromBatch', 'inputs': {'image': ['5', 0], "
                         "'batch_index': 19, 'length': 9}},"
                         "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['6', 0], "
                         "'filename_prefix': 'm'}}}");
    CHECK(r.n_paths == 1); // 2 + 5, 2 + 5, 1 + 5: twenty of them
    // Values for parameters come from lists as well.
    r = run(BATCHES("3") "'3': {'class_type': 'GetImageSize', 'inputs': {'image': ['2', 0]}},"
                         "'5': {'class_type': 'EmptyImage', 'inputs': {'width': ['3', 0], "
                         "'height': ['3', 1], 'batch_size': ['3', 2], 'color': 0}},"
                         "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['5', 0], "
                         "'filename_prefix': 'n'}}}");
    CHECK(r.n_paths == 5); // batches of 3 and 2
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
