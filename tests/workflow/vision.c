// CLIPVisionLoader and CLIPVisionEncode in a workflow: a file of models/clip_vision is found,
// loaded once for two nodes, planned, and a file that is none is named.
#include "core/run/context.h"
#include "tests/flow.h"
#include "tests/random_text.h"

static nino_ctx *ctx;

static void make_file(const char *folder, const char *name, const random_text *t)
{
    char dir[64], cmd[200];
    test_dir root = { "" };
    snprintf(dir, sizeof(dir), "%s/models/%s", flow_temp(), folder);
    snprintf(cmd, sizeof(cmd), "mkdir -p %s", dir);
    CHECK(system(cmd) == 0);
    snprintf(root.path, sizeof(root.path), "%s", flow_temp());
    nino_weights *w =
        random_text_file(&root, nino_name_of("models/%s/%s", folder, name).s, t, 1, NULL);
    nino_weights_unref(&w);
}

static flow_result run(const char *file)
{
    char json[1200];
    snprintf(json, sizeof(json),
             "{'1': {'class_type': 'CLIPVisionLoader', 'inputs': {'clip_name': '%s'}},"
             "'5': {'class_type': 'CLIPVisionLoader', 'inputs': {'clip_name': '%s'}},"
             "'2': {'class_type': 'EmptyImage', 'inputs': {'width': 20, 'height': 16, "
             "'batch_size': 2, 'color': 255}},"
             "'3': {'class_type': 'CLIPVisionEncode', 'inputs': {'clip_vision': ['1', 0], "
             "'image': ['2', 0], 'crop': 'center'}},"
             "'6': {'class_type': 'CLIPVisionEncode', 'inputs': {'clip_vision': ['5', 0], "
             "'image': ['2', 0], 'crop': 'none'}},"
             "'4': {'class_type': 'PreviewAny', 'inputs': {'source': ['3', 0]}},"
             "'7': {'class_type': 'PreviewAny', 'inputs': {'source': ['6', 0]}}}",
             file, file);
    nino_graph *g = flow_graph(json);
    const flow_result r = flow_run(ctx, g, NULL);
    nino_graph_destroy(&g);
    return r;
}

static void count(void *n, const nino_value *v) { *(int *) n += v->type == NINO_PORT_CLIP_VISION; }

int main(void)
{
    const random_text l = { .width = 32,
                            .layers = 2,
                            .mlp = 48,
                            .patch = 4,
                            .side = 3,
                            .has_projection = true,
                            .projection = 20 };
    const random_text text = { .width = 32, .layers = 1, .mlp = 48 };
    int n = 0;
    make_file("clip_vision", "v.safetensors", &l);
    make_file("clip_vision", "t.safetensors", &text);
    ctx = flow_open("ref", NULL);
    flow_result r = run("v.safetensors");
    CHECK_OK(r.st, r.err);
    CHECK(r.n_texts == 2);
    CHECK(r.last_total > 1); // it was planned
    nino_ctx_each_object(ctx, count, &n);
    CHECK(n == 1);
    r = run("t.safetensors");
    CHECK(r.st == NINO_ERR_FORMAT && strstr(r.err.where, "CLIPVisionLoader"));
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
