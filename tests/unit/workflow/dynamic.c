// Inputs of today's classes: rows that grow, inputs that a choice brings, types that match, values in
// place of links, inputs that nobody looks at; and how the editor's files write them.
#include "core/node/param.h"
#include "core/workflow/workflow.h"
#include "tests/prompt.h"

typedef struct seen {
    char text[2048]; // "E code node.input|"
    char message[4096];
} seen;

static seen told;

static void note(void *priv, const nino_issue *i)
{
    (void) priv;
    const size_t n = strlen(told.text), m = strlen(told.message);
    snprintf(told.text + n, sizeof(told.text) - n, "%c %s %s.%s|",
             i->severity == NINO_ISSUE_ERROR ? 'E' : 'W', i->code, i->node, i->input);
    snprintf(told.message + m, sizeof(told.message) - m, "%s|", i->message);
}

static nino_graph *load(const char *quoted)
{
    nino_error err = { 0 };
    char *json = test_quoted(quoted);
    nino_graph *g = nino_graph_load(json, strlen(json), "test", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    free(json);
    return g;
}

// Issues of a workflow given with ' for ".
static const char *check(const char *quoted)
{
    nino_graph *g = load(quoted);
    told = (seen){ 0 };
    nino_graph_check(g, NULL, note, NULL);
    nino_graph_destroy(&g);
    return told.text;
}

#define NODE(id, class, inputs) "'" id "': {'class_type': '" class "', 'inputs': {" inputs "}}"
#define PICTURE(id) NODE(id, "EmptyImage", "'width': 16, 'height': 8, 'batch_size': 1, 'color': 0")
#define SAVE(from) NODE("90", "SaveImage", "'images': ['" from "', 0], 'filename_prefix': 's'")
#define SHOW(from) NODE("91", "PreviewAny", "'source': ['" from "', 0]")

static void check_rows(void)
{
#define BATCH(inputs) "{" PICTURE("1") "," NODE("2", "BatchImagesNode", inputs) "," SAVE("2") "}"
    CHECK_STR(check(BATCH("'images.image0': ['1', 0]")), "");
    CHECK_STR(check(BATCH("'images.image0': ['1', 0], 'images.image49': ['1', 0]")), "");
    CHECK_STR(check(BATCH("'images.image1': ['1', 0]")), "E missing_input 2.images.image0|");
    CHECK_STR(check(BATCH("'images.image0': ['1', 0], 'images.image50': ['1', 0]")),
              "W ignored_input 2.images.image50|");
    CHECK_STR(check(BATCH("'images.image0': ['1', 0], 'images.image1': ['9', 0]")),
              "E bad_link 2.images.image1|");
    CHECK_STR(check(BATCH("'images.image0': ['1', 0], 'images.image1': 3")),
              "E bad_link 2.images.image1|");
    // none at all, where a row may be empty
    CHECK_STR(check("{" NODE("2", "StringFormat", "'f_string': 'x'") "," SHOW("2") "}"), "");
}

static void check_choices(void)
{
#define RESIZE(inputs)                                                                             \
    "{" PICTURE("1") "," NODE("2", "ResizeImageMaskNode",                                          \
                              "'input': ['1', 0]," inputs) "," SAVE("2") "}"
    CHECK_STR(check(RESIZE("'resize_type': 'scale dimensions', 'resize_type.width': 32, "
                           "'resize_type.height': 16, 'resize_type.crop': 'center', "
                           "'scale_method': 'area'")),
              "");
    // those of other choices do not count, right or wrong
    CHECK_STR(
        check(RESIZE("'resize_type': 'scale width', 'resize_type.width': 32, "
                     "'resize_type.multiplier': 99, 'resize_type.crop': 'x', 'resize_type.match': "
                     "['77', 3], 'scale_method': 'area'")),
        "");
    CHECK_STR(check(RESIZE("'resize_type': 'scale by multiplier', 'resize_type.multiplier': 99, "
                           "'scale_method': 'area'")),
              "E range 2.resize_type.multiplier|");
    CHECK_STR(check(RESIZE("'resize_type': 'scale to multiple', 'scale_method': 'area'")),
              "W missing_input 2.resize_type.multiple|");
    CHECK_STR(check(RESIZE("'resize_type': 'match size', 'resize_type.crop': 'center', "
                           "'scale_method': 'area'")),
              "E missing_input 2.resize_type.match|");
    CHECK_STR(check(RESIZE("'resize_type': 'nothing', 'scale_method': 'area'")),
              "E value 2.resize_type|");
    // a choice that comes through a link may need any of them
    CHECK_STR(
        check("{" PICTURE("1") "," NODE("3", "PrimitiveString", "'value': 'scale width'") "," NODE(
            "2", "ResizeImageMaskNode",
            "'input': ['1', 0], 'resize_type': ['3', 0], 'resize_type.width': 32, "
            "'scale_method': 'area'") "," SAVE("2") "}"),
        "");
    nino_graph *g = load(RESIZE("'resize_type': 'scale height', 'resize_type.height': 33, "
                                "'resize_type.width': 44, 'scale_method': 'area'"));
    CHECK(!nino_graph_check(g, NULL, NULL, NULL));
    const nino_gnode *n = &g->nodes[nino_graph_find(g, "2")];
    const nino_param *w = nino_param_find(n->def, "resize_type.width"),
                     *h = nino_param_find(n->def, "resize_type.height");
    CHECK(nino_param_load(h, n->params).i == 33);
    CHECK(nino_param_load(w, n->params).i == 512); // of another choice: the default
    nino_graph_destroy(&g);
}

static void check_matching(void)
{
    // what a switch gives is what it gets
#define SWITCH(inputs) NODE("3", "ComfySwitchNode", "'switch': false, " inputs)
    CHECK_STR(check("{" PICTURE("1") "," SWITCH(
                  "'on_false': ['1', 0], 'on_true': ['1', 0]") "," SAVE("3") "}"),
              "");
    CHECK_STR(check("{" NODE("1", "PrimitiveInt", "'value': 1") "," SWITCH(
                  "'on_false': ['1', 0], 'on_true': ['1', 0]") "," SAVE("3") "}"),
              "E type_mismatch 90.images|");
    CHECK(strstr(told.message, "gives INT"));
    // what it gets by the first input that is linked
    CHECK(strstr(check("{" NODE("1", "PrimitiveInt",
                                "'value': 1") "," SWITCH("'on_true': ['1', 0]") "," SAVE("3") "}"),
                 "type_mismatch 90.images|"));
    // through several
    CHECK_STR(check("{" NODE("1", "PrimitiveInt", "'value': 1") "," SWITCH(
                  "'on_false': ['1', 0], "
                  "'on_true': ['1', 0]") "," NODE("4", "CreateList",
                                                  "'inputs.input0': ['3', 0]") "," SAVE("4") "}"),
              "E type_mismatch 90.images|");
    // a mask where images or masks are taken, text where they are not
    CHECK_STR(check("{" NODE("1", "SolidMask", "'value': 1.0, 'width': 8, 'height': 8") "," NODE(
                  "2", "ResizeImageMaskNode",
                  "'input': ['1', 0], 'resize_type': 'scale to multiple', "
                  "'resize_type.multiple': 4, 'scale_method': 'area'") "," SAVE("2") "}"),
              "E type_mismatch 90.images|");
    CHECK(strstr(told.message, "gives MASK"));
    CHECK_STR(check("{" NODE("1", "PrimitiveString", "'value': 'x'") "," NODE(
                  "2", "ResizeImageMaskNode",
                  "'input': ['1', 0], 'resize_type': 'scale to multiple', "
                  "'resize_type.multiple': 4, 'scale_method': 'area'") "," SAVE("2") "}"),
              "E type_mismatch 2.input|");
    CHECK(strstr(told.message, "IMAGE,MASK is needed"));
    CHECK_STR(check("{" NODE("1", "PrimitiveString", "'value': 'x'") "," NODE(
                  "2", "ComfyMathExpression",
                  "'expression': 'a', 'values.a': ['1', 0]") "," SHOW("2") "}"),
              "E type_mismatch 2.values.a|");
    // a word chosen in a list of its own
    CHECK_STR(check("{" PICTURE("1") "," NODE(
                  "3", "CustomCombo",
                  "'choice': 'area', 'index': 0, "
                  "'option1': 'area'") "," NODE("2", "ImageScaleBy",
                                                "'image': ['1', 0], 'upscale_method': ['3', 0], "
                                                "'scale_by': 2") "," SAVE("2") "}"),
              "");
}

static void check_literals(void)
{
    CHECK_STR(check("{" NODE("2", "ComfyMathExpression",
                             "'expression': 'a', 'values.a': 1.5") "," SHOW("2") "}"),
              "");
    CHECK_STR(check("{" NODE("2", "ComfyMathExpression",
                             "'expression': 'a', 'values.a': 'x'") "," SHOW("2") "}"),
              "E bad_link 2.values.a|");
    CHECK_STR(check("{" PICTURE("1") "," NODE("2", "ImageCropV2",
                                              "'image': ['1', 0], 'crop_region': {'x': 0, 'y': 0, "
                                              "'width': 8, 'height': 8}") "," SAVE("2") "}"),
              "");
    CHECK_STR(check("{" PICTURE("1") "," NODE(
                  "2", "ImageCropV2", "'image': ['1', 0], 'crop_region': null") "," SAVE("2") "}"),
              "");
    CHECK_STR(check("{" NODE("2", "PreviewAny", "'source': {'__value__': [1, 2]}") "}"), "");
    nino_graph *g = load("{" NODE("2", "PreviewAny", "'source': {'a': [1]}") "}");
    CHECK(!nino_graph_check(g, NULL, NULL, NULL));
    CHECK(g->nodes[0].literals[0]->type == NINO_PORT_DICT);
    CHECK_STR(g->nodes[0].literals[0]->u.string, "{\"a\": [1]}");
    nino_graph_destroy(&g);
}

// ---- the editor's files ----------------------------------------------------------------------

static const char *const files[][3] = {
    { "ResizeImageMaskNode", "[\"scale dimensions\", 640, 0, \"disabled\", \"lanczos\"]",
      "\"resize_type\": \"scale dimensions\", \"resize_type.width\": 640, \"resize_type.height\": "
      "0, "
      "\"resize_type.crop\": \"disabled\", \"scale_method\": \"lanczos\"" },
    { "ResizeImageMaskNode", "[\"scale to multiple\", 32, \"area\"]",
      "\"resize_type\": \"scale to multiple\", \"resize_type.multiple\": 32, \"scale_method\": "
      "\"area\"" },
    { "ResizeImageMaskNode", "[\"match size\", \"center\", \"area\"]",
      "\"resize_type\": \"match size\", \"resize_type.crop\": \"center\", \"scale_method\": "
      "\"area\"" },
    { "ImageCropV2", "[{\"x\": 1, \"y\": 2, \"width\": 3, \"height\": 4}, 1, 2, 3, 4]",
      "\"crop_region\": {\"x\": 1, \"y\": 2, \"width\": 3, \"height\": 4}" },
    { "SeedNode", "[7, \"fixed\"]", "\"seed\": 7" },
    { "ComfyMathExpression", "[\"a*2\"]", "\"expression\": \"a*2\"" },
    { "StringFormat", "[\"{a}\"]", "\"f_string\": \"{a}\"" },
    { "PrimitiveBoundingBox", "[1, 2, 3, 4]", "\"x\": 1, \"y\": 2, \"width\": 3, \"height\": 4" },
    { "CustomCombo", "[\"b\", 1, \"a\", \"b\", \"\"]", "\"choice\": \"b\", \"index\": 1" },
};

static void check_files(void)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char flow[1024];
        nino_error err = { 0 };
        snprintf(
            flow, sizeof(flow),
            "{\"nodes\": [{\"id\": 1, \"type\": \"%s\", \"mode\": 0, \"widgets_values\": %s}], "
            "\"links\": [], \"version\": 0.4}",
            files[i][0], files[i][1]);
        nino_graph *g = nino_graph_load(flow, strlen(flow), "flow.json", &err);
        CHECK_OK(g ? NINO_OK : err.code, err);
        snprintf(flow, sizeof(flow), "{\"1\": {\"class_type\": \"%s\", \"inputs\": {%s}}}",
                 files[i][0], files[i][2]);
        prompt_expect(g, flow);
        nino_graph_destroy(&g);
    }
}

// A subgraph shows the width of an inner node; what that input also feeds gets the same number.
static void check_shown(void)
{
    nino_graph *g = load(
        "{'nodes': [{'id': 5, 'type': 'abc', 'mode': 0, 'inputs': [{'name': 'width', 'type': "
        "'INT', "
        "'widget': {'name': 'width'}, 'link': null}], 'properties': {'proxyWidgets': [['1', "
        "'width']]}, 'widgets_values': []}], 'links': [], 'version': 0.4, 'definitions': "
        "{'subgraphs': "
        "[{'id': 'abc', 'name': 's', 'inputNode': {'id': -10}, 'outputNode': {'id': -20}, "
        "'inputs': "
        "[{'name': 'width', 'type': 'INT', 'linkIds': [1, 2]}], 'outputs': [], 'nodes': [{'id': 1, "
        "'type': 'EmptyImage', 'mode': 0, 'inputs': [{'name': 'width', 'type': 'INT', 'widget': "
        "{'name': 'width'}, 'link': 1}], 'widgets_values': [24, 8, 1, 0]}, {'id': 2, 'type': "
        "'PreviewAny', 'mode': 0, 'inputs': [{'name': 'source', 'type': '*', 'link': 2}]}], "
        "'links': "
        "[{'id': 1, 'origin_id': -10, 'origin_slot': 0, 'target_id': 1, 'target_slot': 0, 'type': "
        "'INT'}, {'id': 2, 'origin_id': -10, 'origin_slot': 0, 'target_id': 2, 'target_slot': 0, "
        "'type': 'INT'}]}]}}");
    prompt_expect(g, "{\"5:1\": {\"class_type\": \"EmptyImage\", \"inputs\": {\"width\": 24, "
                     "\"height\": 8, \"batch_size\": 1, \"color\": 0}}, \"5:2\": {\"class_type\": "
                     "\"PreviewAny\", \"inputs\": {\"source\": 24}}}");
    nino_graph_destroy(&g);
}

int main(void)
{
    check_rows();
    check_choices();
    check_matching();
    check_literals();
    check_files();
    check_shown();
    return 0;
}
