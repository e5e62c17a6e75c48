// ComfySwitchNode: one of two values goes on, of any type, and what makes the other does not run
// where the switch is known before the run.
#include "tests/flow.h"

#define NODE(id, class, inputs) "'" id "': {'class_type': '" class "', 'inputs': {" inputs "}}"
#define PICTURE(id, width)                                                                         \
    NODE(id, "EmptyImage", "'width': " width ", 'height': 8, 'batch_size': 1, 'color': 0")
#define SWITCH(on)                                                                                 \
    NODE("3", "ComfySwitchNode", "'on_false': ['1', 0], 'on_true': ['2', 0], 'switch': " on)
#define REST                                                                                       \
    PICTURE("1", "16")                                                                             \
    "," PICTURE("2", "24") "," NODE("4", "SaveImage", "'images': ['3', 0], 'filename_prefix': 's'")

static bool has_run(const flow_result *r, const char *node)
{
    char word[64];
    snprintf(word, sizeof(word), "%s|",
             node); // else " (cached)": as nodes that nobody needs are told
    return strstr(r->ran, word) != NULL;
}

// Without results of the runs before.
static flow_result run(const char *json)
{
    nino_ctx *ctx = flow_open("ref", NULL);
    CHECK(ctx != NULL);
    const flow_result r = flow_run_json(ctx, json);
    nino_ctx_destroy(&ctx);
    return r;
}

static void check_literal(void)
{
    flow_result r = run("{" SWITCH("false") "," REST "}");
    CHECK(has_run(&r, "1 EmptyImage") && !has_run(&r, "2 EmptyImage"));
    CHECK(r.n_paths == 1);
    r = run("{" SWITCH("true") "," REST "}");
    CHECK(has_run(&r, "2 EmptyImage") && !has_run(&r, "1 EmptyImage"));
}

// From a constant it is known, too; from a node that works it out it is once that has run.
static void check_linked(void)
{
    flow_result r =
        run("{" SWITCH("['5', 0]") "," NODE("5", "PrimitiveBoolean", "'value': true") "," REST "}");
    CHECK(has_run(&r, "2 EmptyImage") && !has_run(&r, "1 EmptyImage"));
    r = run("{" SWITCH("['6', 0]") "," NODE("6", "ComfySwitchNode",
                                            "'on_false': ['7', 0], 'on_true': ['7', 0], 'switch': "
                                            "false") "," NODE("7", "PrimitiveBoolean",
                                                              "'value': false") "," REST "}");
    CHECK(!has_run(&r, "2 EmptyImage") && has_run(&r, "1 EmptyImage"));
    CHECK(r.n_paths == 1);
}

// A number through a switch is a parameter.
static void check_number(void)
{
    const flow_result r = run("{" NODE("8", "PrimitiveInt", "'value': 32") "," NODE(
        "3", "ComfySwitchNode",
        "'on_false': ['8', 0], 'on_true': ['8', 0], 'switch': "
        "true") "," NODE("1", "EmptyImage",
                         "'width': ['3', 0], 'height': 8, "
                         "'batch_size': 1, 'color': 0") "," NODE("4", "SaveImage",
                                                                 "'images': ['1', 0], "
                                                                 "'filename_prefix': 's'") "}");
    CHECK(r.n_paths == 1 && has_run(&r, "8 PrimitiveInt"));
}

// What goes on has to be what is wanted.
static void check_refused(void)
{
    nino_ctx *ctx = flow_open("ref", NULL);
    nino_graph *g = flow_graph("{" NODE("8", "PrimitiveInt", "'value': 32") "," NODE(
        "3", "ComfySwitchNode",
        "'on_false': ['8', 0], 'on_true': ['8', 0], 'switch': true") "," NODE("4", "SaveImage",
                                                                              "'images': ['3', 0], "
                                                                              "'filename_prefix': "
                                                                              "'s'") "}");
    const flow_result r = flow_run(ctx, g, NULL);
    CHECK(r.st == NINO_ERR_FORMAT && strstr(r.err.msg, "IMAGE is needed"));
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
}

int main(void)
{
    check_literal();
    check_linked();
    check_number();
    check_refused();
    flow_clean();
    return 0;
}
