// Use Everywhere, of two that offer one type: who wins. The pack cg-use-everywhere gives the one that
// is more particular the higher priority; the sums are in the table below, and a rival of one less,
// as much and one more (its own number, from the file) shows each to the unit: it loses, both give
// nothing, it wins.
#include "tests/unit/workflow/everywhere.h"

#define SECOND NODE("6", "VAELoader", "", OUT("VAE", "[3]"), "")

typedef struct offer_case {
    int priority;
    const char *kind;   // of node, NULL: "Anything Everywhere"
    const char *inputs; // more of it, behind the one that is offered
    const char *more;   // "'properties': {...}", and so on
} offer_case;

#define P(list) "'properties': {'ue_properties': {" list "}}"

// 10; for a pattern 20 more, of title, input or group, or the rule of names where one type comes
// twice; restricted to its group 3, to its colour 6.
static const offer_case cases[] = {
    { 10, NULL, "", "'x': 0" },
    { 30, NULL, "", P("'title_regex': 'VAE'") },
    { 30, NULL, "", P("'input_regex': 'va'") },
    { 30, NULL, "", P("'group_regex': 'box'") },
    { 30, NULL, "", P("'title_regex': 'VAE', 'input_regex': 'va', 'group_regex': 'box'") },
    { 30, NULL, "", P("'input_regex': 'other', 'input_regex_invert': true") },
    { 30, NULL, "", P("'apply_to_unrepeated': true") },
    { 30, NULL, "", P("'apply_to_unrepeated': true, 'repeated_type_rule': 1") },
    { 10, NULL, "", P("'repeated_type_rule': 1") },
    { 30, NULL, ", " IN("b", "VAE", "4"), "'x': 0" },
    { 30, NULL, ", " IN("b", "VAE", "4"), P("'repeated_type_rule': 4") },
    { 10, NULL, ", " IN("b", "CLIP", "4"), "'x': 0" },
    { 10, NULL, ", " IN("b", "VAE", "null"), "'x': 0" },
    { 13, NULL, "", P("'group_restricted': 1") },
    { 16, NULL, "", P("'color_restricted': 1") },
    { 19, NULL, "", P("'group_restricted': 1, 'color_restricted': true") },
    { 39, NULL, "", P("'group_restricted': 1, 'color_restricted': 1, 'title_regex': 'V'") },
    { 7, NULL, "", P("'priority': 7, 'color_restricted': 1, 'title_regex': 'V'") },
    { 10, "Anything Everywhere?", "", "'widgets_values': ['', '', '']" },
    { 30, "Anything Everywhere?", "", "'widgets_values': ['VAE', '', '']" },
    { 30, "Anything Everywhere?", "", "'widgets_values': ['', 'v', '']" },
    { 30, "Anything Everywhere?", "", "'widgets_values': ['', '', 'box']" },
    { 10, "Anything Everywhere", "", "'widgets_values': ['VAE', 'v', 'box']" },
    { 10, "Anything Everywhere3", ", " IN("b", "CLIP", "4"), "'x': 0" },
    { 40, "Prompts Everywhere", "", P("'input_regex': 'va'") },
};

// Node 3 as the case says gives the VAE of node 1, node 7 with its own number that of node 6.
static void one_rival(const offer_case *c, int priority, const char *want)
{
    static const char text[] =
        "{'nodes': [" VAE ", " SECOND ", %s, "
        "{'id': 7, 'type': 'Anything Everywhere', 'pos': [10, 10], 'inputs': [%s], 'outputs': [], "
        "'properties': {'ue_properties': {'priority': %d}}}, "
        "{'id': 4, 'type': 'VAEDecode', 'pos': [20, 10], 'inputs': [%s], 'outputs': []}, "
        "{'id': 8, 'type': 'CLIPLoader', 'outputs': [{'name': 'CLIP', 'type': 'CLIP', 'links': [4]}"
        "]}], 'links': [[1, 1, 0, 3, 0, 'VAE'], [3, 6, 0, 7, 0, 'VAE'], [4, %s, 0, 3, 1, '*']], "
        "'groups': [{'title': 'box', 'bounding': [0, 0, 100, 100]}]}";
    static const char broadcaster[] =
        "{'id': 3, 'type': '%s', 'pos': [10, 10], 'inputs': [%s%s], 'outputs': [], %s}";
    static const char given[] = IN("vae", "VAE", "1"), other[] = IN("anything", "VAE", "3"),
                      open[] = IN("vae", "VAE", "null");
    char json[4096], node[1024];
    snprintf(node, sizeof(node), broadcaster, c->kind ? c->kind : "Anything Everywhere", given,
             c->inputs, c->more);
    snprintf(json, sizeof(json), text, node, other, priority, open,
             strstr(c->inputs, "CLIP") ? "8" : "1");
    nino_graph *g = load(json);
    const int i = nino_graph_find(g, "4");
    nino_buf got = { 0 };
    CHECK(i >= 0);
    const nino_json *v = nino_json_get(nino_json_get(g->nodes[i].json, "inputs"), "vae");
    if (v)
        nino_json_write(&got, g->doc, v);
    else
        nino_buf_adds(&got, "-");
    if (strcmp(got.data, want))
        fprintf(stderr, "%s, %s, %s: a rival of %d\n", c->kind ? c->kind : "", c->inputs, c->more,
                priority);
    CHECK_STR(got.data, want);
    nino_buf_release(&got);
    nino_graph_destroy(&g);
}

static void rivals(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        one_rival(&cases[i], cases[i].priority - 1, "[\"1\", 0]");
        one_rival(&cases[i], cases[i].priority, "-");
        one_rival(&cases[i], cases[i].priority + 1, "[\"6\", 0]");
    }
}

// A seed is particular by itself: 10 more, and 20 for its pattern, which it always has.
static void seed_rivals(void)
{
    static const char *const want[] = { "['1', 0]", "-", "['2', 0]" };
    for (int k = 0; k < 3; k++) {
        char json[2048];
        snprintf(
            json, sizeof(json),
            "{'nodes': [{'id': 1, 'type': 'Seed Everywhere', 'inputs': [], 'outputs': [" OUT(
                "INT", "[]") "], 'widgets_values': [77, 'fixed']}, "
                             "{'id': 2, 'type': 'PrimitiveInt', 'inputs': [], 'outputs': [" OUT(
                                 "INT",
                                 "[1]") "], 'widgets_values': [5, 'fixed']}, "
                                        "{'id': 3, 'type': 'Anything Everywhere', 'inputs': [" IN(
                                            "anything", "INT",
                                            "1") "], 'outputs': [], 'properties': "
                                                 "{'ue_properties': {'priority': %d}}}, "
                                                 "{'id': 4, 'type': 'RandomNoise', 'inputs': "
                                                 "[{'name': 'noise_seed', 'type': 'INT', "
                                                 "'link': null, 'widget': {'name': "
                                                 "'noise_seed'}}], 'outputs': []}], "
                                                 "'links': [[1, 2, 0, 3, 0, 'INT']]}",
            39 + k);
        nino_graph *g = load(json);
        expect(g, "4", "noise_seed", want[k]);
        nino_graph_destroy(&g);
    }
}

// Of several the highest wins wherever it stands, and a tie below it is none.
static void several(void)
{
    static const struct {
        int priority[3];
        const char *want;
    } t[] = {
        { { 1, 2, 3 }, "['13', 0]" },
        { { 3, 2, 1 }, "['11', 0]" },
        { { 1, 3, 2 }, "['12', 0]" },
        { { 2, 2, 3 }, "['13', 0]" },
        { { 2, 3, 3 }, "-" },
        { { 3, 2, 3 }, "-" },
        { { 3, 3, 2 }, "-" },
        { { 3, 2, 2 }, "['11', 0]" },
        { { -5, -7, -6 }, "['11', 0]" },
        { { 0, 0, 0 }, "-" },
        { { -1, 0, -1 }, "['12', 0]" },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        nino_buf b = { 0 };
        nino_buf_adds(&b, "{'nodes': [");
        for (int k = 0; k < 3; k++) {
            char nodes[768];
            snprintf(nodes, sizeof(nodes),
                     "{'id': %d, 'type': 'VAELoader', 'inputs': [], 'outputs': [" OUT(
                         "VAE", "[%d]") "]}, {'id': %d, 'type': 'Anything Everywhere', 'inputs': "
                                        "[" IN("a", "VAE", "%d") "], 'outputs': [], 'properties': "
                                                                 "{'priority': %d}}, ",
                     11 + k, 1 + k, 21 + k, 1 + k, t[i].priority[k]);
            nino_buf_adds(&b, nodes);
        }
        nino_buf_adds(
            &b,
            "{'id': 4, 'type': 'VAEDecode', 'inputs': [" IN(
                "vae", "VAE",
                "null") "], 'outputs': []}], 'links': [[1, 11, 0, 21, 0, 'VAE'], [2, 12, 0, 22, 0, "
                        "'VAE'], [3, 13, 0, 23, 0, 'VAE']]}");
        nino_graph *g = load(b.data);
        expect(g, "4", "vae", t[i].want);
        nino_graph_destroy(&g);
        nino_buf_release(&b);
    }
}

int main(void)
{
    rivals();
    seed_rivals();
    several();
    return 0;
}
