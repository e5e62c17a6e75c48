// A workflow as the editor saved it runs like its API form; the picture carries both forms, and
// opens as the same workflow again.
#include "core/base/file.h"
#include "core/media/png.h"
#include "tests/flow.h"
#include "tests/prompt.h"

static nino_error err;

// The decode of data/tiny, with what an editor puts around it: a note, a reroute, a primitive, a
// node that is bypassed, one that is muted, and the decode itself in a subgraph. The title is not
// ASCII.
#define LATENT "demo.latent"
#define VAE "vae_tiny.safetensors"

static const char flow[] =
    "{'last_node_id': 12, 'nodes': ["
    "{'id': 1, 'type': 'LoadLatent', 'pos': [0, 0], 'outputs': [{'name': 'LATENT', 'type': "
    "'LATENT', "
    "'links': [1]}], 'widgets_values': ['" LATENT "']},"
    "{'id': 2, 'type': 'Reroute', 'inputs': [{'name': '', 'type': '*', 'link': 1}], 'outputs': "
    "[{'name': '', 'type': 'LATENT', 'links': [2]}]},"
    "{'id': 3, 'type': 'decode', 'inputs': [{'name': 'samples', 'type': 'LATENT', 'link': 2}], "
    "'outputs': [{'name': 'IMAGE', 'type': 'IMAGE', 'links': [3, 6]}]},"
    "{'id': 4, 'type': 'ImageScaleBy', 'mode': 4, 'inputs': [{'name': 'image', 'type': 'IMAGE', "
    "'link': 3}], 'outputs': [{'name': 'IMAGE', 'type': 'IMAGE', 'links': [4]}], 'widgets_values': "
    "['area', 0.5]},"
    "{'id': 5, 'type': 'SaveImage', 'title': 'Bild \xc3\xbc\xf0\x9f\x8e\xa8', 'inputs': [{'name': "
    "'images', 'type': 'IMAGE', 'link': 4}, {'name': 'filename_prefix', 'type': 'STRING', 'link': "
    "5, "
    "'widget': {'name': 'filename_prefix'}}], 'widgets_values': ['not this']},"
    "{'id': 6, 'type': 'PrimitiveNode', 'outputs': [{'name': 'STRING', 'type': 'STRING', 'links': "
    "[5]}], 'widgets_values': ['sub/ui']},"
    "{'id': 7, 'type': 'PreviewImage', 'mode': 2, 'inputs': [{'name': 'images', 'type': 'IMAGE', "
    "'link': 6}]},"
    "{'id': 8, 'type': 'Note', 'widgets_values': ['hello']}"
    "], 'links': [[1, 1, 0, 2, 0, '*'], [2, 2, 0, 3, 0, 'LATENT'], [3, 3, 0, 4, 0, 'IMAGE'], "
    "[4, 4, 0, 5, 0, 'IMAGE'], [5, 6, 0, 5, 1, 'STRING'], [6, 3, 0, 7, 0, 'IMAGE']], "
    "'definitions': {'subgraphs': [{'id': 'decode', 'name': 'Decode', 'inputs': [{'name': "
    "'samples', "
    "'type': 'LATENT', 'linkIds': [1]}], 'outputs': [{'name': 'IMAGE', 'type': 'IMAGE', 'linkIds': "
    "[3]}], 'nodes': [{'id': 1, 'type': 'VAELoader', 'outputs': [{'name': 'VAE', 'type': 'VAE', "
    "'links': [2]}], 'widgets_values': ['" VAE
    "']}, {'id': 2, 'type': 'VAEDecode', 'inputs': [{'name': "
    "'samples', 'type': 'LATENT', 'link': 1}, {'name': 'vae', 'type': 'VAE', 'link': 2}], "
    "'outputs': "
    "[{'name': 'IMAGE', 'type': 'IMAGE', 'links': [3]}]}], 'links': [{'id': 1, 'origin_id': -10, "
    "'origin_slot': 0, 'target_id': 2, 'target_slot': 0, 'type': 'LATENT'}, {'id': 2, 'origin_id': "
    "1, "
    "'origin_slot': 0, 'target_id': 2, 'target_slot': 1, 'type': 'VAE'}, {'id': 3, 'origin_id': 2, "
    "'origin_slot': 0, 'target_id': -20, 'target_slot': 0, 'type': 'IMAGE'}]}]}, 'version': 0.4}";

static const char api[] =
    "{'1': {'class_type': 'LoadLatent', 'inputs': {'latent': '" LATENT "'}}, "
    "'3:1': {'class_type': 'VAELoader', 'inputs': {'vae_name': '" VAE "'}}, "
    "'3:2': {'class_type': 'VAEDecode', 'inputs': {'samples': ['1', 0], 'vae': ['3:1', 0]}}, "
    "'5': {'class_type': 'SaveImage', 'inputs': {'filename_prefix': 'sub/ui', 'images': ['3:2', "
    "0]}}}";

// Pixels and texts of a picture.
static nino_png read_png(const char *path)
{
    nino_png png;
    char *data = NULL;
    size_t len = 0;
    CHECK_OK(nino_file_read(path, 64 << 20, false, &data, &len, &err), err);
    CHECK_OK(nino_png_read(data, len, path, true, &png, &err), err);
    free(data);
    return png;
}

static nino_json_doc *parse(const char *text)
{
    nino_json_doc *doc = NULL;
    CHECK_OK(nino_json_parse(text, strlen(text), "text", NULL, &doc, &err), err);
    return doc;
}

static void expect_prompt(const char *want, const char *got)
{
    nino_buf diff = { 0 };
    nino_json_doc *a = parse(want), *b = parse(got);
    prompt_diff(a->root, b->root, &diff);
    if (diff.len)
        fprintf(stderr, "%s", diff.data);
    CHECK(!diff.len);
    nino_json_doc_destroy(&a);
    nino_json_doc_destroy(&b);
}

// The two texts of the picture: what ran, and the file, both in ASCII only.
static void check_texts(const nino_png *png, nino_graph *g)
{
    const char *prompt = nino_png_text_get(png, "prompt");
    const char *workflow = nino_png_text_get(png, "workflow");
    CHECK(prompt && workflow);
    for (const char *c = workflow; *c; c++)
        CHECK((unsigned char) *c < 0x80);
    expect_prompt(nino_graph_api_json(g, NULL), prompt);
    nino_json_doc *a = parse(nino_graph_ui_json(g, NULL)), *b = parse(workflow);
    CHECK(prompt_same_value(a->root, b->root));
    nino_json_doc_destroy(&a);
    nino_json_doc_destroy(&b);
}

static void expect_same_pixels(const nino_png *a, const nino_png *b)
{
    CHECK(a->width == b->width && a->height == b->height && a->channels == b->channels);
    CHECK(!memcmp(a->pixels->data, b->pixels->data,
                  (size_t) nino_shape_count(&a->pixels->shape) * sizeof(float)));
}

// Each run has its own context: one would say that the second picture is there already.
static flow_result run(nino_graph *g)
{
    static const char *const models[] = { "data/tiny/models", NULL };
    char output[300];
    snprintf(output, sizeof(output), "%s/output", flow_temp());
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = "ref",
                                .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = models,
                                                            .input_dir = "data/tiny/input",
                                                            .output_dir = output } };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    CHECK(r.n_paths == 1 && strstr(r.path[0], "/sub/"));
    nino_ctx_destroy(&ctx);
    return r;
}

int main(void)
{
    nino_graph *ui = flow_graph(flow), *plain = flow_graph(api);
    expect_prompt(nino_graph_json(plain, NULL), nino_graph_api_json(ui, NULL));
    const flow_result a = run(ui), b = run(plain);
    nino_png from_ui = read_png(a.path[0]), from_api = read_png(b.path[0]);
    expect_same_pixels(&from_ui, &from_api);
    check_texts(&from_ui, ui);
    CHECK(nino_png_text_get(&from_api, "prompt") && !nino_png_text_get(&from_api, "workflow"));

    // the picture as a workflow, with a change that both of its forms get
    nino_graph *again = nino_graph_load_file(a.path[0], &err);
    CHECK_OK(again ? NINO_OK : err.code, err);
    CHECK_OK(nino_graph_set(again, "5.filename_prefix=sub/again", &err), err);
    CHECK(strstr(nino_graph_ui_json(again, NULL), "[\"sub/again\"]"));
    const flow_result c = run(again);
    nino_png second = read_png(c.path[0]);
    expect_same_pixels(&from_ui, &second);
    check_texts(&second, again);

    nino_png_release(&from_ui);
    nino_png_release(&from_api);
    nino_png_release(&second);
    nino_graph_destroy(&again);
    nino_graph_destroy(&ui);
    nino_graph_destroy(&plain);
    flow_clean();
    return 0;
}
