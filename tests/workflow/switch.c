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
    flow_result r = run(FLOW_OF(SWITCH("false"), REST));
    CHECK(has_run(&r, "1 EmptyImage") && !has_run(&r, "2 EmptyImage"));
    CHECK(r.n_paths == 1);
    r = run(FLOW_OF(SWITCH("true"), REST));
    CHECK(has_run(&r, "2 EmptyImage") && !has_run(&r, "1 EmptyImage"));
}

// From a constant it is known, too; from a node that works it out it is once that has run.
static void check_linked(void)
{
    flow_result r =
        run(FLOW_OF(SWITCH("['5', 0]"), NODE("5", "PrimitiveBoolean", "'value': true"), REST));
    CHECK(has_run(&r, "2 EmptyImage") && !has_run(&r, "1 EmptyImage"));
    r = run(FLOW_OF(
        SWITCH("['6', 0]"),
        NODE("6", "ComfySwitchNode", "'on_false': ['7', 0], 'on_true': ['7', 0], 'switch': false"),
        NODE("7", "PrimitiveBoolean", "'value': false"), REST));
    CHECK(!has_run(&r, "2 EmptyImage") && has_run(&r, "1 EmptyImage"));
    CHECK(r.n_paths == 1);
}

// A number through a switch is a parameter.
static void check_number(void)
{
    const flow_result r = run(FLOW_OF(
        NODE("8", "PrimitiveInt", "'value': 32"),
        NODE("3", "ComfySwitchNode", "'on_false': ['8', 0], 'on_true': ['8', 0], 'switch': true"),
        NODE("1", "EmptyImage", "'width': ['3', 0], 'height': 8, 'batch_size': 1, 'color': 0"),
        NODE("4", "SaveImage", "'images': ['1', 0], 'filename_prefix': 's'")));
    CHECK(r.n_paths == 1 && has_run(&r, "8 PrimitiveInt"));
}

// What goes on has to be what is wanted.
static void check_refused(void)
{
    nino_ctx *ctx = flow_open("ref", NULL);
    nino_graph *g = flow_graph(FLOW_OF(
        NODE("8", "PrimitiveInt", "'value': 32"),
        NODE("3", "ComfySwitchNode", "'on_false': ['8', 0], 'on_true': ['8', 0], 'switch': true"),
        NODE("4", "SaveImage", "'images': ['3', 0], 'filename_prefix': 's'")));
    const flow_result r = flow_run(ctx, g, NULL);
    CHECK(r.st == NINO_ERR_FORMAT && strstr(r.err.msg, "IMAGE is needed"));
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
}

// ---- decided in the run ----------------------------------------------------------------------

// A truth that no constant says: 10 = not 9.
#define TRUTH(first)                                                                               \
    NODE("9", "PrimitiveBoolean", "'value': " first)                                               \
    "," NODE("10", "ComfyNotNode", "'value': ['9', 0]")
#define FLIP(id, from)                                                                             \
    NODE(id, "ImageFlip", "'image': ['" from "', 0], 'flip_method': 'x-axis: vertically'")

// What the branches share runs once, before it is known which one is taken; a chain behind the
// taken branch runs in its order, the other one's not at all.
static void check_chains(void)
{
    const char *json =
        FLOW_OF(TRUTH("false"), PICTURE("1", "16"), FLIP("2", "1"), FLIP("3", "2"), FLIP("4", "1"),
                NODE("5", "ComfySwitchNode",
                     "'on_false': ['4', 0], 'on_true': ['3', 0], 'switch': ['10', 0]"),
                NODE("6", "SaveImage", "'images': ['5', 0], 'filename_prefix': 's'"),
                NODE("7", "SaveImage", "'images': ['1', 0], 'filename_prefix': 'o'"));
    const flow_result r = run(json);
    CHECK(has_run(&r, "1 EmptyImage") && has_run(&r, "2 ImageFlip") && has_run(&r, "3 ImageFlip"));
    CHECK(!has_run(&r, "4 ImageFlip") && r.n_paths == 2);
    CHECK(!strstr(strstr(r.ran, "1 EmptyImage|") + 1, "1 EmptyImage|")); // once
    CHECK(r.last_done == r.last_total);
}

// A switch behind a switch, each worked out in the run.
static void check_nested(void)
{
    const flow_result r =
        run(FLOW_OF(TRUTH("true"), PICTURE("1", "16"), PICTURE("2", "24"), PICTURE("3", "32"),
                    NODE("4", "ComfySwitchNode",
                         "'on_false': ['1', 0], 'on_true': ['2', 0], 'switch': ['10', 0]"),
                    NODE("5", "ComfySwitchNode",
                         "'on_false': ['4', 0], 'on_true': ['3', 0], 'switch': ['10', 0]"),
                    NODE("6", "SaveImage", "'images': ['5', 0], 'filename_prefix': 's'")));
    CHECK(has_run(&r, "1 EmptyImage") && !has_run(&r, "2 EmptyImage") &&
          !has_run(&r, "3 EmptyImage") && r.n_paths == 1);
}

// One that nobody needs in the end decides nothing, and what makes its choice does not run.
static void check_unneeded(void)
{
    const flow_result r =
        run(FLOW_OF(TRUTH("false"), PICTURE("1", "16"), PICTURE("2", "24"),
                    NODE("4", "ComfySwitchNode",
                         "'on_false': ['1', 0], 'on_true': ['2', 0], 'switch': ['12', 0]"),
                    NODE("12", "ComfyNotNode", "'value': ['10', 0]"),
                    NODE("5", "ComfySwitchNode",
                         "'on_false': ['4', 0], 'on_true': ['2', 0], 'switch': ['10', 0]"),
                    NODE("6", "SaveImage", "'images': ['5', 0], 'filename_prefix': 's'")));
    CHECK(has_run(&r, "2 EmptyImage") && !has_run(&r, "1 EmptyImage") &&
          !has_run(&r, "12 ComfyNotNode") && !has_run(&r, "4 ComfySwitchNode"));
}

// The second run of the same takes the result of the first, and so does a branch seen before.
static void check_cached(void)
{
    nino_ctx *ctx = flow_open("ref", NULL);
#define AGAIN(first, prefix)                                                                       \
    FLOW_OF(TRUTH(first), PICTURE("1", "16"), FLIP("2", "1"), FLIP("4", "2"),                      \
            NODE("5", "ComfySwitchNode",                                                           \
                 "'on_false': ['4', 0], 'on_true': ['2', 0], 'switch': ['10', 0]"),                \
            NODE("6", "SaveImage", "'images': ['5', 0], 'filename_prefix': '" prefix "'"))
    flow_result r = flow_run_json(ctx, AGAIN("true", "a"));
    CHECK(has_run(&r, "4 ImageFlip"));
    r = flow_run_json(ctx, AGAIN("true", "b"));
    CHECK(!has_run(&r, "4 ImageFlip") && !has_run(&r, "10 ComfyNotNode") && r.n_paths == 1);
    r = flow_run_json(ctx, AGAIN("false", "a"));
    CHECK(!has_run(&r, "2 ImageFlip") && !has_run(&r, "4 ImageFlip") && r.n_paths == 1);
    nino_ctx_destroy(&ctx);
}

// What is not taken need not be able to run: known before the run, or in it.
static void check_broken_branch(void)
{
    nino_ctx *ctx = flow_open("ref", NULL);
    nino_graph *g = flow_graph(FLOW_OF(
        PICTURE("1", "16"), NODE("2", "LoadImage", "'image': 'is not there.png'"),
        NODE("3", "ComfySwitchNode", "'on_false': ['1', 0], 'on_true': ['2', 0], 'switch': false"),
        NODE("4", "SaveImage", "'images': ['3', 0], 'filename_prefix': 's'")));
    flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    CHECK(r.n_paths == 1);
    nino_graph_destroy(&g);
    // an error that only a run finds
    r = flow_run_json(
        ctx, FLOW_OF(TRUTH("true"), PICTURE("1", "16"),
                     NODE("7", "ComfyMathExpression", "'expression': 'a / 0', 'values.a': 1"),
                     NODE("8", "PrimitiveInt", "'value': 24"),
                     NODE("11", "ComfySwitchNode",
                          "'on_false': ['8', 0], 'on_true': ['7', 1], 'switch': ['10', 0]"),
                     NODE("12", "EmptyImage",
                          "'width': ['11', 0], 'height': 8, 'batch_size': 1, 'color': 0"),
                     NODE("4", "SaveImage", "'images': ['12', 0], 'filename_prefix': 's'")));
    CHECK(r.n_paths == 1 && !has_run(&r, "7 ComfyMathExpression"));
    nino_ctx_destroy(&ctx);
}

// A list of truths: each turn takes its own, so both are made.
static void check_turns(void)
{
    const flow_result r = run(
        FLOW_OF(TRUTH("true"), NODE("12", "PrimitiveBoolean", "'value': true"),
                NODE("11", "CreateList", "'inputs.input0': ['10', 0], 'inputs.input1': ['12', 0]"),
                PICTURE("1", "16"), PICTURE("2", "24"),
                NODE("3", "ComfySwitchNode",
                     "'on_false': ['1', 0], 'on_true': ['2', 0], 'switch': ['11', 0]"),
                NODE("4", "SaveImage", "'images': ['3', 0], 'filename_prefix': 's'")));
    CHECK(has_run(&r, "1 EmptyImage") && has_run(&r, "2 EmptyImage") && r.n_paths == 2);
}

int main(void)
{
    check_literal();
    check_linked();
    check_number();
    check_refused();
    check_chains();
    check_nested();
    check_unneeded();
    check_cached();
    check_broken_branch();
    check_turns();
    flow_clean();
    return 0;
}
