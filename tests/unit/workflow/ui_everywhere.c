// Use Everywhere, and the names of SetNode and GetNode through subgraphs: what the links become.
#include "core/workflow/workflow.h"
#include "tests/prompt.h"

static nino_graph *load(const char *quoted)
{
    nino_error err = { 0 };
    char *json = test_quoted(quoted);
    nino_graph *g = nino_graph_load(json, strlen(json), "flow.json", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    free(json);
    return g;
}

// "['4', 0]", a number, or "-": not there.
static void expect(nino_graph *g, const char *node, const char *input, const char *want)
{
    const int i = nino_graph_find(g, node);
    CHECK(i >= 0);
    const nino_json *v = nino_json_get(nino_json_get(g->nodes[i].json, "inputs"), input);
    nino_buf b = { 0 };
    if (v)
        nino_json_write(&b, g->doc, v);
    else
        nino_buf_adds(&b, "-");
    char *quoted = test_quoted(want);
    CHECK_STR(b.data, quoted);
    free(quoted);
    nino_buf_release(&b);
}

#define IN(name, type, link) "{'name': '" name "', 'type': '" type "', 'link': " link "}"
#define OUT(type, links) "{'name': '" type "', 'type': '" type "', 'links': " links "}"
#define NODE(id, type, inputs, outputs, more)                                                      \
    "{'id': " id ", 'type': '" type "', 'pos': [0, 0], 'inputs': [" inputs                         \
    "], 'outputs': [" outputs "], 'widgets_values': []" more "}"
#define VAE NODE("1", "VAELoader", "", OUT("VAE", "[1]"), "")
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
    // two of the same priority: neither
    g = load(FLOW(VAE ", " SECOND ", " NODE("3", "Anything Everywhere", IN("anything", "VAE", "1"),
                                            "", "") ", " NODE("7", "Anything Everywhere",
                                                              IN("anything", "VAE", "3"), "",
                                                              "") ", " DECODE("4", ""),
                  "[1, 1, 0, 3, 0, 'VAE'], [3, 6, 0, 7, 0, 'VAE']"));
    expect(g, "4", "vae", "-");
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
    prompts();
    seeds();
    groups();
    names();
    return 0;
}
