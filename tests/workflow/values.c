// Values along links: numbers made by one node set the widgets of another, and PreviewAny and
// GetImageSize say what they see.
#include "tests/flow.h"

// Runs it and gives back what happened; the texts of nodes come in run order.
static flow_result run(nino_ctx *ctx, const char *json)
{
    nino_graph *g = flow_graph(json);
    const flow_result r = flow_run(ctx, g, NULL);
    nino_graph_destroy(&g);
    return r;
}

#define NODE(id, class, inputs) "'" id "': {'class_type': '" class "', 'inputs': {" inputs "}}"

static void sizes(nino_ctx *ctx)
{
    const flow_result r = run(
        ctx, "{" NODE("1", "PrimitiveInt", "'value': 24") "," //
        NODE("2", "EmptyImage", "'width': ['1', 0], 'height': 16, 'batch_size': 2, 'color': 255") "," NODE(
            "3", "GetImageSize",
            "'image': ['2', 0]") "," NODE("4", "SolidMask",
                                          "'value': 0.5, 'width': ['3', 0], "
                                          "'height': ['3', 2]") "," NODE("5",
                                                                         "PreviewAn"
                                                                         "y",
                                                                         "'source':"
                                                                         " ['4', "
                                                                         "0]") "}");
    CHECK_OK(r.st, r.err);
    CHECK(r.n_texts == 2);
    CHECK_STR(r.text[0], "width: 24, height: 16\nbatch size: 2");
    CHECK_STR(r.text[1], "MASK 1x2x24, 0.5 to 0.5, mean 0.5");
}

static void shown(nino_ctx *ctx, const char *node, const char *want)
{
    char json[1024];
    snprintf(json, sizeof(json), "{%s,%s}", node, NODE("9", "PreviewAny", "'source': ['1', 0]"));
    const flow_result r = run(ctx, json);
    CHECK_OK(r.st, r.err);
    CHECK(r.n_texts == 1);
    CHECK_STR(r.text[0], want);
}

static void previews(nino_ctx *ctx)
{
    shown(ctx, NODE("1", "PrimitiveInt", "'value': -3"), "-3");
    shown(ctx, NODE("1", "PrimitiveFloat", "'value': 20"), "20.0"); // as Python writes it
    shown(ctx, NODE("1", "PrimitiveFloat", "'value': 0.1"), "0.1");
    shown(ctx, NODE("1", "PrimitiveBoolean", "'value': true"), "True");
    shown(ctx, NODE("1", "PrimitiveStringMultiline", "'value': 'a\\nb'"), "a\nb");
    shown(ctx, NODE("1", "PrimitiveString", "'value': ''"), "");
    shown(ctx, NODE("1", "EmptyLatentImage", "'width': 64, 'height': 32, 'batch_size': 1"),
          "LATENT 1x4x8x4, 0 to 0, mean 0");
}

static void masks(nino_ctx *ctx)
{
    const flow_result r =
        run(ctx, "{" NODE("1", "SolidMask", "'value': 0.5, 'width': 8, 'height': 4") "," NODE(
                     "2", "MaskPreview", "'mask': ['1', 0]") "}");
    CHECK_OK(r.st, r.err);
    CHECK(r.n_paths == 1 && strstr(r.path[0], ".png"));
    CHECK(access(r.path[0], R_OK) == 0);
}

// An error of a node names the node, its class and its input, in one line.
static void errors(nino_ctx *ctx)
{
    const flow_result r = run(
        ctx,
        "{" NODE("1", "SolidMask", "'value': 1, 'width': 8, 'height': 8") "," NODE(
            "22", "CropMask",
            "'mask': ['1', 0], 'x': 8, 'y': 0, 'width': 4, 'height': 4") "," NODE("3", "PreviewAny",
                                                                                  "'source': "
                                                                                  "['22', 0]") "}");
    CHECK(r.st == NINO_ERR_RANGE);
    CHECK_STR(r.err.where, "22 CropMask: x");
    CHECK_STR(r.err.msg, "the area lies outside the mask of 8x8");
}

// What has no effect may be of any number, as it is where the result is there from another run.
static void no_effect(nino_ctx *ctx)
{
    const char *const workflow =
        FLOW_OF(NODE("1", "PrimitiveFloat", "'value': 7"), NODE("2", "PrimitiveInt", "'value': 3"),
                NODE("3", "PlaySound|pysssss", "'any': ['2', 0], 'volume': ['1', 0]"),
                NODE("4", "PreviewAny", "'source': ['3', 0]"));
    const flow_result r = run(ctx, workflow);
    CHECK_OK(r.st, r.err);
    CHECK_STR(r.text[r.n_texts - 1], "3");
}

int main(void)
{
    nino_ctx *ctx = flow_open("ref", NULL);
    sizes(ctx);
    previews(ctx);
    masks(ctx);
    errors(ctx);
    no_effect(ctx);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
