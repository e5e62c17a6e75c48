// Use Everywhere, and the names of SetNode and GetNode through subgraphs: what the links become.
#include "tests/unit/workflow/everywhere.h"

#define CLIP NODE("2", "CLIPLoader", "", OUT("CLIP", "[2]"), "")
#define DECODE(id, more)                                                                           \
    NODE(id, "VAEDecode", IN("samples", "LATENT", "null") ", " IN("vae", "VAE", "null"),           \
         OUT("IMAGE", "null"), more)
#define FLOW(nodes, links) "{'nodes': [" nodes "], 'links': [" links "]}"

static void by_type(void)
{
    nino_graph *g = load(
        FLOW(VAE ", " CLIP
                 ", " NODE("3", "Anything Everywhere3",
                           IN("anything", "VAE", "1") ", " IN("anything2", "CLIP", "2"), "",
                           "") ", " DECODE("4", "") ", " NODE("5", "CLIPTextEncode",
                                                              IN("clip", "CLIP", "null"), "", ""),
             "[1, 1, 0, 3, 0, 'VAE'], [2, 2, 0, 3, 1, 'CLIP']"));
    expect(g, "4", "vae", "['1', 0]");
    expect(g, "4", "samples", "-");
    expect(g, "5", "clip", "['2', 0]");
    CHECK(nino_graph_find(g, "3") < 0); // the broadcaster itself does not run
    nino_graph_destroy(&g);
}

// Patterns for titles, and of two that match the one with the higher priority.
static void by_title(void)
{
#define SECOND NODE("6", "VAELoader", "", OUT("VAE", "[3]"), "")
    nino_graph *g = load(FLOW(
        VAE
        ", " SECOND
        ", " NODE("3", "Anything Everywhere", IN("anything", "VAE", "1"), "", "") ", " NODE(
            "7", "Anything Everywhere?", IN("anything", "VAE", "3"), "",
            ", 'properties': {'ue_properties': {'title_regex': '^Hi.*', "
            "'input_regex': 'va[ef]'}}") ", " DECODE("4",
                                                     ", 'title': 'Low'") ", " DECODE("5",
                                                                                     ", 'title': "
                                                                                     "'High'"),
        "[1, 1, 0, 3, 0, 'VAE'], [3, 6, 0, 7, 0, 'VAE']"));
    expect(g, "4", "vae", "['1', 0]");
    expect(g, "5", "vae", "['6', 0]");
    nino_graph_destroy(&g);
    // the one with the higher priority comes first
    g = load(FLOW(
        VAE ", " SECOND ", " NODE(
            "3", "Anything Everywhere", IN("anything", "VAE", "1"), "",
            ", 'properties': {'ue_properties': {'priority': 50}}") ", " NODE("7",
                                                                             "Anything Everywhere",
                                                                             IN("anything", "VAE",
                                                                                "3"),
                                                                             "",
                                                                             "") ", " DECODE("4",
                                                                                             ""),
        "[1, 1, 0, 3, 0, 'VAE'], [3, 6, 0, 7, 0, 'VAE']"));
    expect(g, "4", "vae", "['1', 0]");
    nino_graph_destroy(&g);
    // a link that comes from nowhere gives nothing
    g = load(FLOW(
        NODE("3", "Anything Everywhere", IN("anything", "VAE", "1"), "", "") ", " DECODE("4", ""),
        "[1, 99, 0, 3, 0]"));
    expect(g, "4", "vae", "-");
    nino_graph_destroy(&g);
    // two of the same priority: neither
    g = load(FLOW(VAE ", " SECOND ", " NODE("3", "Anything Everywhere", IN("anything", "VAE", "1"),
                                            "", "") ", " NODE("7", "Anything Everywhere",
                                                              IN("anything", "VAE", "3"), "",
                                                              "") ", " DECODE("4", ""),
                  "[1, 1, 0, 3, 0, 'VAE'], [3, 6, 0, 7, 0, 'VAE']"));
    expect(g, "4", "vae", "-");
    nino_graph_destroy(&g);
}

// What gives has inputs of the type, too; what has no outputs gives none beside others that do.
static void own_inputs(void)
{
    nino_graph *g = load(FLOW(
        NODE("1", "ImageInvert", IN("image", "IMAGE", "null"), OUT("IMAGE", "null"),
             ", 'properties': {'ue_convert': true}") ", " NODE("2", "ImageInvert",
                                                               IN("image", "IMAGE", "null"),
                                                               OUT("IMAGE", "null"),
                                                               "") ", {'id': 3, 'type': "
                                                                   "'SaveImage', 'properties': "
                                                                   "{'ue_convert': true}}",
        ""));
    expect(g, "1", "image", "-");
    expect(g, "2", "image", "['1', 0]");
    nino_graph_destroy(&g);
}

static void prompts(void)
{
#define TEXT(id, link)                                                                             \
    NODE(id, "CLIPTextEncode", IN("clip", "CLIP", "null"), OUT("CONDITIONING", "[" link "]"), "")
    nino_graph *g =
        load(FLOW(TEXT("1", "1") ", " TEXT("2", "2") ", " NODE(
                      "3", "Prompts Everywhere",
                      IN("positive", "CONDITIONING", "1") ", " IN("negative", "CONDITIONING", "2"),
                      "", "") ", " NODE("4", "KSampler",
                                        IN("model", "MODEL", "null") ", " IN(
                                            "positive", "CONDITIONING",
                                            "null") ", " IN("negative", "CONDITIONING", "null"),
                                        "", ""),
                  "[1, 1, 0, 3, 0, 'CONDITIONING'], [2, 2, 0, 3, 1, 'CONDITIONING']"));
    expect(g, "4", "positive", "['1', 0]");
    expect(g, "4", "negative", "['2', 0]");
    nino_graph_destroy(&g);
    g = load(FLOW(
        TEXT("1", "1") ", " NODE(
            "3", "Prompts Everywhere", IN("positive", "CONDITIONING", "1"), "",
            ", 'properties': {'input_regex': 'negative'}") ", " NODE("4", "KSampler",
                                                                     IN("positive", "CONDITIONING",
                                                                        "null") ", " IN("negative",
                                                                                        "CONDITIONI"
                                                                                        "NG",
                                                                                        "null"),
                                                                     "", ""),
        "[1, 1, 0, 3, 0, 'CONDITIONING']"));
    expect(g, "4", "positive", "-");
    expect(g, "4", "negative", "['1', 0]");
    nino_graph_destroy(&g);
}

// A seed goes to widgets that were made sockets, in files of before; in today's files, which list
// every widget, to those that are marked.
static void seeds(void)
{
#define SEED                                                                                       \
    "{'id': 1, 'type': 'Seed Everywhere', 'inputs': [], 'outputs': [" OUT(                         \
        "INT", "[]") "], 'widgets_values': [77, 'fixed']}"
#define SAMPLER(props)                                                                             \
    NODE("2", "RandomNoise",                                                                       \
         "{'name': 'noise_seed', 'type': 'INT', 'link': null, 'widget': "                          \
         "{'name': 'noise_seed'}}",                                                                \
         "", props)
    nino_graph *g = load(FLOW(SEED ", " SAMPLER(""), ""));
    expect(g, "2", "noise_seed", "['1', 0]");
    expect(g, "1", "seed", "77");
    nino_graph_destroy(&g);
    g = load(FLOW(SEED ", " SAMPLER(", 'properties': {'widget_ue_connectable': {}}"), ""));
    expect(g, "2", "noise_seed", "-"); // none is marked, as of today
    nino_graph_destroy(&g);
    g = load(FLOW("{'id': 1, 'type': 'Seed Everywhere', 'inputs': [], 'outputs': [" OUT(
                      "INT", "[]") "], 'properties': {'input_regex': '^seed'}}, " SAMPLER(""),
                  ""));
    expect(g, "2", "noise_seed", "-");
    nino_graph_destroy(&g);
    g = load("{'nodes': [" SEED
             ", " SAMPLER("") "], 'links': [], 'extra': {'frontendVersion': '1.30'}}");
    expect(g, "2", "noise_seed", "-");
    nino_graph_destroy(&g);
    g = load("{'nodes': [" SEED ", " SAMPLER(
        ", 'properties': {'ue_properties': "
        "{'widget_ue_connectable': {'noise_seed': true}}}") "], 'links': [], 'extra': "
                                                            "{'frontendVersion': '1.30'}}");
    expect(g, "2", "noise_seed", "['1', 0]");
    nino_graph_destroy(&g);
}

// Groups: only nodes in the same, only others.
static void groups(void)
{
#define BROADCAST(restricted)                                                                      \
    "{'id': 3, 'type': 'Anything Everywhere', 'pos': [10, 10], 'inputs': [" IN(                    \
        "anything", "VAE", "1") "], 'outputs': [], 'properties': {'group_restricted': " restricted \
                                "}}"
#define AT(id, x)                                                                                  \
    "{'id': " id ", 'type': 'VAEDecode', 'pos': [" x                                               \
    ", 10], 'inputs': [" IN("vae", "VAE", "null") "], 'outputs': []}"
#define GROUPED(restricted)                                                                        \
    "{'nodes': [" VAE ", " BROADCAST(restricted) ", " AT("4", "20") ", " AT(                       \
        "5", "500") "], 'links': [[1, 1, 0, 3, 0, 'VAE']], 'groups': [{'title': 'A', 'bounding': " \
                    "[0, 0, 100, "                                                                 \
                    "100]}]}"
    nino_graph *g = load(GROUPED("1"));
    expect(g, "4", "vae", "['1', 0]");
    expect(g, "5", "vae", "-");
    nino_graph_destroy(&g);
    g = load(GROUPED("2"));
    expect(g, "4", "vae", "-");
    expect(g, "5", "vae", "['1', 0]");
    nino_graph_destroy(&g);
}

// Who takes part: one broadcaster of a VAE, at (10, 10), and one node that wants it, at (20, 10).
typedef struct part {
    bool is_linked;
    const char *kind;   // of broadcaster, NULL for "Anything Everywhere"
    const char *from;   // more of the broadcaster
    const char *to;     // more of who wants it, after its class
    const char *groups; // of the workflow, NULL for none
} part;

static void one_part(const part *t)
{
    char json[4096];
    snprintf(
        json, sizeof(json),
        "{'nodes': [" VAE
        ", {'id': 3, 'type': '%s', 'inputs': [" IN("anything", "VAE", "1") ", " IN(
            "more", "VAE",
            "null") "], 'outputs': [], %s}, {'id': 4, 'type': 'VAEDecode', "
                    "'inputs': [" IN("vae", "VAE",
                                     "null") "], 'outputs': [], %s}], "
                                             "'links': [[1, 1, 0, 3, 0, 'VAE']], 'groups': [%s]}",
        t->kind ? t->kind : "Anything Everywhere", t->from ? t->from : "'pos': [10, 10]",
        t->to ? t->to : "'pos': [20, 10]", t->groups ? t->groups : "");
    nino_graph *g = load(json);
    const int i = nino_graph_find(g, "4");
    CHECK(i >= 0);
    if (t->is_linked == !nino_json_get(nino_json_get(g->nodes[i].json, "inputs"), "vae"))
        fprintf(stderr, "%s\n", json);
    expect(g, "4", "vae", t->is_linked ? "['1', 0]" : "-");
    nino_graph_destroy(&g);
}

#define PROPS(p) "'pos': [10, 10], 'properties': {" p "}"
#define UE(p) PROPS("'ue_properties': {" p "}")
#define BOX(title, box) "{'title': " title ", 'bounding': " box "}"

static void parts(void)
{
    static const char all[] = BOX("'In a box'", "[0, 0, 100, 100]");
    static const char far[] = BOX("'Far'", "[500, 500, 10, 10]");
    static const part t[] = {
        { .is_linked = true },
        // what takes no part at all
        { false, .from = "'pos': [10, 10], 'mode': 2" },
        { false, .from = "'pos': [10, 10], 'mode': 4" },
        { false, .to = UE("'input_ue_unconnectable': {'vae': true}") },
        { false, .to = PROPS("'rejects_ue_links': true") },
        { true, .to = PROPS("'rejects_ue_links': false, 'ue_properties': 5") },
        // patterns of today's properties, of those of before, and their opposites
        { true, .from = PROPS("'input_regex': 'v.e'") },
        { false, .from = PROPS("'input_regex': 'w.e'") },
        { false, .from = UE("'input_regex': 'v.e', 'input_regex_invert': true") },
        { true, .from = UE("'input_regex': 'w.e', 'input_regex_invert': 1") },
        { true, .from = UE("'title_regex': 'VAEDec'") },
        { false, .from = UE("'title_regex': 'VAEDec', 'title_regex_invert': true") },
        { false, .from = UE("'title_regex': '(open'") }, // no pattern: nothing fits it
        { false, .from = UE("'title_regex': 'VAEDec'"), .to = "'title': 'Other'" },
        // as values of its widgets
        { true, .kind = "Anything Everywhere?", .from = "'widgets_values': ['VAE.*', 'va', '']" },
        { false, .kind = "Anything Everywhere?", .from = "'widgets_values': ['Text', 'va', '']" },
        { false, .kind = "Anything Everywhere?", .from = "'widgets_values': ['', 'xy']" },
        { true, .kind = "Anything Everywhere?", .from = "'widgets_values': [1, null]" },
        { true, .kind = "Anything Everywhere?", .from = "'widgets_values': {'a': 'b'}" },
        { false, .kind = "Anything Everywhere?",
          .from = "'pos': [10, 10], 'widgets_values': ['', '', 'Box']" },
        { true, .kind = "Anything Everywhere?",
          .from = "'pos': [10, 10], 'widgets_values': ['', '', 'box']", .groups = all },
        { true, .kind = "Anything Everywhere?",
          .from = UE("'title_regex': 'VAE', 'input_regex': 'va', "
                     "'group_regex': 'box'"),
          .groups = all },
        // groups by name, and groups that are none
        { false, .from = UE("'group_regex': 'far'"), .groups = all },
        { false, .from = UE("'group_regex': 'Far'"), .groups = far },
        { true, .from = UE("'group_regex': 'Far', 'group_regex_invert': true"), .groups = far },
        { false, .from = UE("'group_regex': 'x'"), .groups = BOX("5", "[0, 0, 100, 100]") },
        { false, .from = UE("'group_regex': 'x'"), .groups = BOX("'x'", "[0, 0, 100]") },
        { false, .from = UE("'group_regex': 'x'"), .groups = BOX("'x'", "[0, 0, 100, 'y']") },
        { false, .from = UE("'group_regex': 'x'"), .groups = BOX("'x'", "[0, 0, 100, 5]") },
        { false, .from = UE("'group_regex': 'x'"), .groups = BOX("'x'", "[0, 30, 100, 50]") },
        { false, .from = UE("'group_regex': 'x'"), .groups = BOX("'x'", "[30, 0, 100, 50]") },
        { true, .from = UE("'group_regex': 'x'"), .to = "'pos': {'0': 20, '1': 10}",
          .groups = BOX("'x'", "{'0': 0, '1': 0, '2': 100, '3': 100}") },
        { false, .from = UE("'group_regex': 'x'"), .to = "'pos': {'0': 20}",
          .groups = BOX("'x'", "[0, 0, 100, 100]") },
        { false, .from = UE("'group_regex': 'x'"), .to = "'pos': 7",
          .groups = BOX("'x'", "[0, 0, 100, 100]") },
        { true, .kind = "Anything Everywhere?" }, // no values, no patterns
        { false, .from = UE("'group_regex': 'x'"), .to = "'title': 'T'", .groups = all },
        { false, .from = UE("'group_restricted': 1") },
        { true, .from = UE("'group_restricted': 2") },
        { true, .from = UE("'group_restricted': 1"), .groups = all },
        { false, .from = UE("'group_restricted': 1"), .groups = far },
        { false, .from = UE("'group_restricted': 1"), .groups = BOX("'x'", "[0, 0, 15, 50]") },
        // a broadcaster that says it is one
        { true, .from = UE("'ue_convert': true") },
        // colours: the same, another
        { true, .from = UE("'color_restricted': 1") },
        { false, .from = UE("'color_restricted': 1"), .to = "'color': '#222'" },
        { true, .from = UE("'color_restricted': 2"), .to = "'color': '#222'" },
        { false, .from = UE("'color_restricted': 2"), .to = "'pos': [20, 10]" },
        // rules for names: the same, the same start, the same end, the title, a pattern
        { false, .from = UE("'apply_to_unrepeated': true") },
        { false, .from = UE("'apply_to_unrepeated': 1, 'repeated_type_rule': 1") },
        { false, .from = UE("'apply_to_unrepeated': 1, 'repeated_type_rule': 2") },
        { false, .from = UE("'apply_to_unrepeated': 1, 'repeated_type_rule': 3") },
        { true, .from = UE("'apply_to_unrepeated': 1, 'repeated_type_rule': 3"),
          .to = "'title': 'anything'" },
        { false, .from = UE("'apply_to_unrepeated': 1, 'repeated_type_rule': 3"),
          .to = "'title': 'something'" },
        { false, .from = UE("'apply_to_unrepeated': 1, 'repeated_type_rule': 4") },
        { true, .from = UE("'priority': 5, 'color_restricted': false") },
        { true, .from = UE("'priority': 'high', 'color_restricted': 'no'") },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
        one_part(&t[i]);
}

// Names of inputs decide where one type comes twice; other types where that is asked for.
static void types(void)
{
#define TWICE(rule, first, second)                                                                 \
    "{'nodes': [" VAE ", " SECOND                                                                  \
    ", {'id': 3, 'type': 'Anything Everywhere', 'inputs': [" IN(first, "VAE", "1") ", " IN(        \
        second, "VAE", "3") "], 'outputs': [], 'properties': "                                     \
                            "{'repeated_type_rule': " rule "}}, " DECODE(                          \
                                "4", "") "], 'links': "                                            \
                                         "[[1, 1, 0, 3, 0, 'VAE'], [3, 6, 0, 3, 1, 'VAE']]}"
    static const struct {
        const char *json, *want;
    } t[] = {
        { TWICE("0", "vae", "other"), "['1', 0]" }, { TWICE("0", "a", "vae"), "['6', 0]" },
        { TWICE("1", "va", "x"), "['1', 0]" },      { TWICE("2", "x", "my vae"), "['6', 0]" },
        { TWICE("4", "v.e", "x"), "['1', 0]" },     { TWICE("4", "v.e", "va"), "-" },
        { TWICE("null", "va", "x"), "-" },          { TWICE("null", "vae", "va"), "['1', 0]" },
        { TWICE("1", "x", "my vae"), "-" },         { TWICE("2", "va", "x"), "-" },
        { TWICE("1", "vae", "x"), "['1', 0]" },     { TWICE("1", "vaexx", "x"), "['1', 0]" },
        { TWICE("2", "x", "e"), "['6', 0]" },       { TWICE("2", "vae", "x"), "['1', 0]" },
        { TWICE("3", "VAEDecode", "VAE"), "-" },    { TWICE("5", "v.e", "x"), "['1', 0]" }
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        nino_graph *g = load(t[i].json);
        expect(g, "4", "vae", t[i].want);
        nino_graph_destroy(&g);
    }
#define GIVEN(props, type, sixth)                                                                  \
    "{'nodes': [{'id': 1, 'type': 'PrimitiveString', 'inputs': [], 'outputs': [{'name': 'S', "     \
    "'type': '*', 'links': [1]}], 'widgets_values': ['euler']}, {'id': 3, 'type': "                \
    "'Anything Everywhere', 'inputs': [" IN(                                                       \
        "anything", "STRING", "1") "], 'outputs': [], "                                            \
                                   "'properties': {" props                                         \
                                   "}}, {'id': 4, 'type': 'KSamplerSelect', 'inputs': [{'name': "  \
                                   "'sampler_name', 'type': '" type                                \
                                   "', 'link': null, 'widget': {'name': 'sampler_name'}}], "       \
                                   "'outputs': []}], 'links': [" sixth "]}"
#define SIXTH "[1, 1, 0, 3, 0, 'STRING']"
    static const struct {
        const char *json, *want;
    } o[] = { { GIVEN("", "COMBO", SIXTH), "-" },
              { GIVEN("'string_to_combo': true", "COMBO", SIXTH), "['1', 0]" },
              { GIVEN("'string_to_combo': true", "INT", SIXTH), "-" },
              { GIVEN("", "*", SIXTH), "-" },
              { GIVEN("'string_to_combo': true", "COMBO", "[1, 1, 0, 3, 0, 'INT']"), "-" },
              { GIVEN("'string_to_combo': true", "COMBO", "[1, 1, 0, 3, 0]"), "['1', 0]" },
              { GIVEN("'send_to_any': true", "*", SIXTH), "['1', 0]" },
              { GIVEN("'string_to_combo': true", "COMBO",
                      "{'id': 1, 'origin_id': 1, 'origin_slot': 0, 'target_id': 3, 'target_slot': "
                      "0, 'type': 'STRING'}"),
                "['1', 0]" },
              { GIVEN("'string_to_combo': true", "COMBO", "[1, 1, 0, 3, 0, '']"), "['1', 0]" } };
    for (size_t i = 0; i < sizeof(o) / sizeof(o[0]); i++) {
        nino_graph *g = load(o[i].json);
        expect(g, "4", "sampler_name", o[i].want);
        nino_graph_destroy(&g);
    }
}

// Nodes that broadcast beside what they do; an input's label is its name; within a subgraph.
static void others(void)
{
#define LABELLED(node, label)                                                                      \
    "{'nodes': [" node                                                                             \
    ", {'id': 4, 'type': 'VAEDecode', 'inputs': [{'name': 'vae', 'label': '" label                 \
    "', 'type': 'VAE', 'link': null}], 'outputs': []}], 'links': []}"
#define OWN(props) NODE("1", "VAELoader", "", OUT("VAE", "null"), ", 'properties': {" props "}")
    static const struct {
        const char *json, *want;
    } t[] = {
        { LABELLED(OWN("'ue_convert': true"), "x"), "['1', 0]" },
        { LABELLED(OWN("'ue_properties': {'ue_convert': true, 'input_regex': 'de'}"), "decoder"),
          "['1', 0]" },
        { LABELLED(OWN("'ue_properties': {'ue_convert': true, 'input_regex': 'va'}"), "decoder"),
          "-" },
        { LABELLED(OWN("'ue_convert': false"), "x"), "-" },
        { LABELLED("{'id': 1, 'type': 'VAELoader', 'properties': {'ue_convert': true}}", "x"),
          "-" },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        nino_graph *g = load(t[i].json);
        expect(g, "4", "vae", t[i].want);
        nino_graph_destroy(&g);
    }
    nino_graph *g = load("{'nodes': [" VAE ", {'id': 3, 'type': 'sub', 'inputs': [" IN(
        "v", "VAE",
        "1") "], 'outputs': []}], 'links': [[1, 1, 0, 3, 0, 'VAE']], 'definitions': {'subgraphs': "
             "[{'id': 'sub', 'name': 'S', 'inputs': [{'id': 'i', 'name': 'v', 'type': 'VAE', "
             "'linkIds': [1]}], 'outputs': [], 'nodes': [{'id': 2, 'type': 'Anything Everywhere', "
             "'inputs': [" IN("anything", "*", "1") "], 'outputs': []}, " DECODE(
                 "4",
                 "") "], 'links': [{'id': 1, 'origin_id': -10, 'origin_slot': 0, 'target_id': 2, "
                     "'target_slot': 0, 'type': 'VAE'}]}]}}");
    expect(g, "3:4", "vae", "['1', 0]");
    nino_graph_destroy(&g);
}

// A GetNode in a subgraph sees the SetNode of its own graph first, then those around it.
static void names(void)
{
#define SET(id, link, name)                                                                        \
    "{'id': " id ", 'type': 'SetNode', 'inputs': [" IN(                                            \
        "VAE", "VAE", link) "], 'outputs': [], 'widgets_values': ['" name "']}"
#define GET(id, link, name)                                                                        \
    "{'id': " id ", 'type': 'GetNode', 'inputs': [], 'outputs': [" OUT(                            \
        "VAE", "[" link "]") "], 'widgets_values': ['" name "']}"
#define USER(id, link)                                                                             \
    NODE(id, "VAEDecode", IN("samples", "LATENT", "null") ", " IN("vae", "VAE", link), "", "")
    nino_graph *g = load("{'nodes': [" NODE("1", "VAELoader", "", OUT("VAE", "[1]"), "") ", " SET(
        "2", "1",
        "v") ", {'id': 3, 'type': 'sub', 'inputs': [], 'outputs': []}], 'links': [[1, 1, 0, 2, 0, "
             "'VAE']], 'definitions': {'subgraphs': [{'id': 'sub', 'name': 'S', 'inputs': [], "
             "'outputs': [], 'nodes': [" GET("1", "1", "v") ", " USER("2", "1") ", " NODE(
                 "3", "VAELoader", "", OUT("VAE", "[2]"),
                 "") ", " SET("4", "2",
                              "w") ", " GET("5", "3",
                                            "w") ", " USER("6", "3") "], 'links': [[1, 1, 0, 2, 1, "
                                                                     "'VAE'], [2, 3, 0, 4, "
                                                                     "0, 'VAE'], [3, 5, 0, 6, 1, "
                                                                     "'VAE']]}]}}");
    expect(g, "3:2", "vae", "['1', 0]");
    expect(g, "3:6", "vae", "['3:3', 0]");
    nino_graph_destroy(&g);
}

int main(void)
{
    by_type();
    by_title();
    own_inputs();
    prompts();
    seeds();
    groups();
    parts();
    types();
    others();
    names();
    return 0;
}
