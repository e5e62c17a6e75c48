// The editor's form: links through what is not executed, subgraphs, group nodes, names of widgets,
// and what is wrong with malformed ones.
#include "core/workflow/workflow.h"
#include "tests/prompt.h"

static nino_graph *load(const char *json)
{
    nino_error err = { 0 };
    nino_graph *g = nino_graph_load(json, strlen(json), "flow.json", &err);
    if (!g)
        fprintf(stderr, "%s: %s (%s)\n", err.where, err.msg, err.kind);
    CHECK(g);
    CHECK_STR(nino_graph_json(g, NULL), json);
    return g;
}

// `want`: the members of the API form, without the outer braces.
static void expect_graph(nino_graph *g, const char *want)
{
    nino_buf text = { 0 };
    nino_buf_addf(&text, "{%s}", want);
    prompt_expect(g, text.data);
    nino_buf_release(&text);
}

static void expect(const char *json, const char *want)
{
    nino_graph *g = load(json);
    expect_graph(g, want);
    nino_graph_destroy(&g);
}

// Parts of workflows: node numbers, inputs as "NAME TYPE LINK".
#define FLOW(nodes, links)                                                                         \
    "{\"last_node_id\": 9, \"nodes\": [" nodes "], \"links\": [" links "], \"version\": 0.4}"
#define NODE(id, type, more) "{\"id\": " id ", \"type\": \"" type "\"" more "}"
#define IN(name, type, link) "{\"name\": \"" name "\", \"type\": \"" type "\", \"link\": " link "}"
#define INPUTS(list) ", \"inputs\": [" list "]"
#define OUT(type) ", \"outputs\": [{\"name\": \"" type "\", \"type\": \"" type "\"}]"
#define VALUES(list) ", \"widgets_values\": [" list "]"
#define MODE(n) ", \"mode\": " n

#define API(id, type, inputs) "\"" id "\": {\"class_type\": \"" type "\", \"inputs\": {" inputs "}}"

#define LATENT NODE("1", "EmptyLatentImage", OUT("LATENT") VALUES("64, 32, 1"))
#define LATENT_API API("1", "EmptyLatentImage", "\"width\": 64, \"height\": 32, \"batch_size\": 1")
#define SAVE(link) NODE("3", "SaveLatent", INPUTS(IN("samples", "LATENT", link)) VALUES("\"x\""))
#define SAVE_API(samples) API("3", "SaveLatent", "\"filename_prefix\": \"x\"" samples)
#define FROM(id, slot) ", \"samples\": [\"" id "\", " slot "]"

static void links(void)
{
    // both kinds of links; the schema of 1.0 has objects and ids as texts
    expect(FLOW(LATENT "," SAVE("5"), "[5, 1, 0, 3, 0, \"LATENT\"]"),
           LATENT_API "," SAVE_API(FROM("1", "0")));
    expect("{\"version\": 1, \"state\": {\"lastNodeId\": 3}, \"nodes\": [" LATENT "," SAVE(
               "5") "], \"links\": [{\"id\": 5, \"origin_id\": 1, \"origin_slot\": 0, "
                    "\"target_id\": 3, \"target_slot\": 0, \"type\": \"LATENT\", \"parentId\": 8}],"
                    "\"reroutes\": [{\"id\": 8, \"pos\": [0, 0], \"linkIds\": [5]}]}",
           LATENT_API "," SAVE_API(FROM("1", "0")));
    expect(FLOW(LATENT "," SAVE("\"five\""), "[\"five\", \"1\", \"0\", 3, 0, \"LATENT\"]"),
           LATENT_API "," SAVE_API(FROM("1", "0")));
    // the link says nothing about its target that counts, and null links are holes
    expect(FLOW(LATENT "," SAVE("5"), "null, [5, 1, 0, 77, 9, \"LATENT\"]"),
           LATENT_API "," SAVE_API(FROM("1", "0")));
    // notes and groups are not there, reroutes neither
    expect(
        FLOW(LATENT "," SAVE("7") "," NODE("4", "Reroute", INPUTS(IN("", "*", "5"))) "," NODE(
                 "9", "Reroute", INPUTS(IN("", "*", "6"))) "," NODE("8", "Note", VALUES("\"hi\"")),
             "[5, 1, 0, 4, 0, \"*\"], [6, 4, 0, 9, 0, \"*\"], [7, 9, 0, 3, 0, \"LATENT\"]"),
        LATENT_API "," SAVE_API(FROM("1", "0")));
    expect(FLOW(SAVE("7") "," NODE("4", "Reroute", INPUTS(IN("", "*", "null"))),
                "[7, 4, 0, 3, 0, \"*\"]"),
           SAVE_API(""));
    // a wireless pair
    expect(FLOW(LATENT
                "," NODE("4", "SetNode", INPUTS(IN("LATENT", "*", "5")) VALUES("\"k\"")) "," NODE(
                    "6", "GetNode", VALUES("\"k\"")) "," SAVE("7"),
                "[5, 1, 0, 4, 0, \"*\"], [7, 6, 0, 3, 0, \"*\"]"),
           LATENT_API "," SAVE_API(FROM("1", "0")));
    // primitives write their value, through a reroute too; arrays are no links
    expect(
        FLOW(NODE("1", "EmptyLatentImage",
                  INPUTS(IN("width", "INT", "5") "," IN("height", "INT", "7")) VALUES(
                      "8, 8, 1")) "," NODE("4", "PrimitiveNode",
                                           VALUES(
                                               "512, \"fixed\"")) "," NODE("6", "Reroute",
                                                                           INPUTS(IN(
                                                                               "", "*",
                                                                               "6"))) "," SAVE("9"),
             "[5, 4, 0, 1, 0, \"INT\"], [6, 4, 0, 6, 0, \"INT\"], [7, 6, 0, 1, 1, \"INT\"],"
             "[9, 1, 0, 3, 0, \"LATENT\"]"),
        API("1", "EmptyLatentImage",
            "\"width\": 512, \"height\": 512, \"batch_size\": 1") "," SAVE_API(FROM("1", "0")));
    expect(FLOW(NODE("1", "Pack",
                     ", \"widgets_values\": {\"list\": [\"1\", 0], \"n\": 3, "
                     "\"preview\": {\"a\": 1}}"),
                ""),
           API("1", "Pack", "\"list\": {\"__value__\": [\"1\", 0]}, \"n\": 3"));
}

#define LORA(more)                                                                                 \
    NODE("2", "LoraLoader",                                                                        \
         INPUTS(IN("model", "MODEL", "5") "," IN(                                                  \
             "clip", "CLIP", "6")) ", \"outputs\": [{\"type\": \"MODEL\"}, {\"type\": "            \
                                   "\"CLIP\"}]" VALUES("\"l\", 1, 1") more)
#define ENCODE NODE("3", "CLIPTextEncode", INPUTS(IN("clip", "CLIP", "7")) VALUES("\"text\""))
#define LORA_LINKS                                                                                 \
    "[5, 1, 0, 2, 0, \"MODEL\"], [6, 1, 1, 2, 1, \"CLIP\"], [7, 2, 1, 3, 0, \"CLIP\"]"
#define CKPT NODE("1", "CheckpointLoaderSimple", VALUES("\"c\""))
#define CKPT_API API("1", "CheckpointLoaderSimple", "\"ckpt_name\": \"c\"")

static void modes(void)
{
    expect(FLOW(CKPT "," LORA(MODE("4")) "," ENCODE, LORA_LINKS),
           CKPT_API "," API("3", "CLIPTextEncode", "\"text\": \"text\", \"clip\": [\"1\", 1]"));
    expect(FLOW(CKPT "," LORA(MODE("2")) "," ENCODE, LORA_LINKS),
           CKPT_API "," API("3", "CLIPTextEncode", "\"text\": \"text\""));
    expect(FLOW(CKPT "," LORA(MODE("1")) "," ENCODE, LORA_LINKS), CKPT_API
           "," API("2", "LoraLoader",
                   "\"lora_name\": \"l\", \"strength_model\": 1, \"strength_clip\": 1,"
                   "\"model\": [\"1\", 0], \"clip\": [\"1\", 1]") "," API("3", "CLIPTextEncode",
                                                                          "\"text\": \"text\", "
                                                                          "\"clip\": [\"2\", 1]"));
    // no input of the type: nothing comes out
    expect(FLOW(LATENT "," NODE("2", "VAEDecode",
                                INPUTS(IN("samples", "LATENT", "5")) OUT("IMAGE")
                                    MODE("4")) "," NODE("3", "SaveImage",
                                                        INPUTS(IN("images", "IMAGE", "6"))
                                                            VALUES("\"x\"")),
                "[5, 1, 0, 2, 0, \"LATENT\"], [6, 2, 0, 3, 0, \"IMAGE\"]"),
           LATENT_API "," API("3", "SaveImage", "\"filename_prefix\": \"x\""));
    // the first of the wanted type where the number does not fit; lists of types; any type
    expect(FLOW(LATENT "," NODE("2", "X",
                                INPUTS(IN("a", "IMAGE", "null") "," IN("b", "INT,LATENT", "5"))
                                    OUT("LATENT") MODE("4")) "," SAVE("6"),
                "[5, 1, 0, 2, 1, \"LATENT\"], [6, 2, 0, 3, 0, \"LATENT\"]"),
           LATENT_API "," SAVE_API(FROM("1", "0")));
    expect(FLOW(LATENT
                "," NODE("2", "X", INPUTS(IN("a", "MODEL", "5")) OUT("*") MODE("4")) "," SAVE("6"),
                "[5, 1, 0, 2, 0, \"LATENT\"], [6, 2, 0, 3, 0, \"LATENT\"]"),
           LATENT_API "," SAVE_API(FROM("1", "0")));
    // an open input of a bypassed node: the widget below the link counts
    expect(FLOW(NODE("1", "EmptyLatentImage",
                     INPUTS(IN("width", "INT", "5"))
                         VALUES("64, 32, 1")) "," NODE("2", "X",
                                                       INPUTS(IN("a", "INT", "null")) OUT("INT")
                                                           MODE("4")),
                "[5, 2, 0, 1, 0, \"INT\"]"),
           LATENT_API);
}

// ---- subgraphs -------------------------------------------------------------------------------

#define SUB(id, inputs, outputs, nodes, links)                                                     \
    "{\"id\": \"" id "\", \"name\": \"Part " id "\", \"inputNode\": {\"id\": -10}, "               \
    "\"outputNode\": {\"id\": -20}, \"inputs\": [" inputs "], \"outputs\": [" outputs              \
    "], \"nodes\": [" nodes "], \"links\": [" links "]}"
#define WITH(subs, nodes, links)                                                                   \
    "{\"nodes\": [" nodes "], \"links\": [" links                                                  \
    "], \"version\": 0.4, \"definitions\": {\"subgraphs\": [" subs "]}}"
#define L(id, from, slot, to, at)                                                                  \
    "{\"id\": " id ", \"origin_id\": " from ", \"origin_slot\": " slot ", \"target_id\": " to      \
    ", \"target_slot\": " at ", \"type\": \"LATENT\"}"
#define NAMED(name, type) "{\"name\": \"" name "\", \"type\": \"" type "\"}"
#define WIDGET_IN(name, type, link)                                                                \
    "{\"name\": \"" name "\", \"type\": \"" type "\", \"link\": " link                             \
    ", \"widget\": {\"name\": \"" name "\"}}"

// scales a latent; the factor is promoted
#define SCALE                                                                                      \
    SUB("S", NAMED("samples", "LATENT") "," NAMED("scale_by", "FLOAT"), NAMED("LATENT", "LATENT"), \
        NODE("41", "LatentUpscaleBy",                                                              \
             INPUTS(IN("samples", "LATENT", "1") "," WIDGET_IN("scale_by", "FLOAT", "2"))          \
                 VALUES("\"bilinear\", 1.5")),                                                     \
        L("1", "-10", "0", "41", "0") "," L("2", "-10", "1", "41", "1") "," L("3", "41", "0",      \
                                                                              "-20", "0"))
#define SCALE_NODE(id, link, more)                                                                 \
    NODE(id, "S",                                                                                  \
         INPUTS(IN("samples", "LATENT", link) "," WIDGET_IN("scale_by", "FLOAT", "null"))          \
             OUT("LATENT") more)
#define SCALE_API(id, from, by)                                                                    \
    API(id, "LatentUpscaleBy",                                                                     \
        "\"upscale_method\": \"bilinear\", \"scale_by\": " by ", \"samples\": [\"" from "\", 0]")

#define ONCE "[5, 1, 0, 57, 0, \"LATENT\"], [6, 57, 0, 3, 0, \"LATENT\"]"

static void subgraphs(void)
{
    expect(WITH(SCALE, LATENT "," SCALE_NODE("57", "5", "") "," SAVE("6"), ONCE),
           LATENT_API "," SCALE_API("57:41", "1", "1.5") "," SAVE_API(FROM("57:41", "0")));
    // the instance's own value; one that it keeps over the inner one, and none kept
    expect(WITH(SCALE, LATENT "," SCALE_NODE("57", "5", VALUES("2.5")) "," SAVE("6"), ONCE),
           LATENT_API "," SCALE_API("57:41", "1", "2.5") "," SAVE_API(FROM("57:41", "0")));
    expect(WITH(SCALE,
                LATENT "," SCALE_NODE("57", "5",
                                      ", \"properties\": {\"proxyWidgets\": [[\"41\", "
                                      "\"scale_by\"]]}" VALUES("2.5")) "," SAVE("6"),
                ONCE),
           LATENT_API "," SCALE_API("57:41", "1", "2.5") "," SAVE_API(FROM("57:41", "0")));
    expect(WITH(SCALE,
                LATENT "," SCALE_NODE("57", "5",
                                      ", \"properties\": {\"proxyWidgets\": [[\"41\", "
                                      "\"scale_by\"]]}" VALUES("null")) "," SAVE("6"),
                ONCE),
           LATENT_API "," SCALE_API("57:41", "1", "1.5") "," SAVE_API(FROM("57:41", "0")));
    // twice, one after the other, and a link into the promoted widget
    expect(WITH(SCALE,
                LATENT "," SCALE_NODE("57", "5", VALUES("2.5")) "," NODE(
                    "58", "S",
                    INPUTS(IN("samples", "LATENT", "6") "," WIDGET_IN(
                        "scale_by", "FLOAT", "8"))) "," NODE("4", "PrimitiveNode",
                                                             VALUES("3.5")) "," SAVE("7"),
                "[5, 1, 0, 57, 0, \"LATENT\"], [6, 57, 0, 58, 0, \"LATENT\"], "
                "[7, 58, 0, 3, 0, \"LATENT\"], [8, 4, 0, 58, 1, \"FLOAT\"]"),
           LATENT_API "," SCALE_API("57:41", "1", "2.5") "," SCALE_API(
               "58:41", "57:41", "3.5") "," SAVE_API(FROM("58:41", "0")));
    // bypassed and muted as a whole
    expect(WITH(SCALE, LATENT "," SCALE_NODE("57", "5", MODE("4")) "," SAVE("6"), ONCE),
           LATENT_API "," SAVE_API(FROM("1", "0")));
    expect(WITH(SCALE, LATENT "," SCALE_NODE("57", "5", MODE("2")) "," SAVE("6"), ONCE),
           LATENT_API "," SAVE_API(""));
    // inputs matched by name when their numbers differ
    expect(WITH(SCALE,
                LATENT "," NODE("57", "S", INPUTS(IN("samples", "LATENT", "5"))) "," SAVE("6"),
                ONCE),
           LATENT_API "," SCALE_API("57:41", "1", "1.5") "," SAVE_API(FROM("57:41", "0")));
    // one in another, and a straight way through
    expect(WITH(SCALE
                "," SUB("T", NAMED("in", "LATENT"), NAMED("a", "LATENT") "," NAMED("b", "LATENT"),
                        SCALE_NODE("12", "1", ""),
                        L("1", "-10", "0", "12", "0") "," L("2", "12", "0", "-20", "0") "," L(
                            "3", "-10", "0", "-20", "1")),
                LATENT "," NODE("57", "T", INPUTS(IN("in", "LATENT", "5"))) "," SAVE("6") "," NODE(
                    "4", "SaveLatent", INPUTS(IN("samples", "LATENT", "7"))),
                "[5, 1, 0, 57, 0, \"LATENT\"], [6, 57, 0, 3, 0, \"LATENT\"], "
                "[7, 57, 1, 4, 0, \"LATENT\"]"),
           LATENT_API "," SCALE_API("57:12:41", "1", "1.5") "," SAVE_API(
               FROM("57:12:41", "0")) "," API("4", "SaveLatent", "\"samples\": [\"1\", 0]"));
}

// The node group has two nodes and a reroute; the scale's widgets and the seed are outside.
static void groups(void)
{
#define GROUP(type)                                                                                \
    "{\"nodes\": [" LATENT ","                                                                     \
    "{\"id\": 5, \"type\": \"" type "\", \"inputs\": [" IN(                                        \
        "samples", "LATENT",                                                                       \
        "1") "], "                                                                                 \
             "\"widgets_values\": [7, \"randomize\", \"area\", 2]}," SAVE(                         \
                 "2") "], "                                                                        \
                      "\"links\": [[1, 1, 0, 5, 0, \"LATENT\"], [2, 5, 0, 3, 0, \"LATENT\"]], "    \
                      "\"extra\": {\"groupNodes\": {\"Twice\": {\"nodes\": ["                      \
                      "{\"type\": \"RandomNoise\", \"index\": 0, \"outputs\": [{\"type\": "        \
                      "\"NOISE\"}], "                                                              \
                      "\"widgets_values\": [1, \"fixed\"]},"                                       \
                      "{\"type\": \"Reroute\", \"index\": 1, \"inputs\": [" IN(                    \
                          "", "*",                                                                 \
                          "null") "], "                                                            \
                                  "\"outputs\": [{\"type\": \"*\"}]},"                             \
                                  "{\"type\": \"LatentUpscaleBy\", \"index\": 2, \"inputs\": "     \
                                  "[" IN("samples", "LATENT",                                      \
                                         "null") "], \"outputs\": [{\"type\": \"LATENT\"}], "      \
                                                 "\"widgets_values\": [\"bilinear\", 1]}], "       \
                                                 "\"links\": [[1, 0, 2, 0, 9, \"LATENT\"]], "      \
                                                 "\"external\": [[0, 0, \"NOISE\"]]}}}}"
    // outputs: the noise first, then the latent
#define GROUP_API                                                                                  \
    LATENT_API "," API("5:0", "RandomNoise", "\"noise_seed\": 7") "," API(                         \
        "5:2", "LatentUpscaleBy",                                                                  \
        "\"upscale_method\": \"area\", \"scale_by\": 2, "                                          \
        "\"samples\": [\"1\", 0]") "," SAVE_API(FROM("5:0", "0"))
    expect(GROUP("workflow/Twice"), GROUP_API);
    expect(GROUP("workflow>Twice"), GROUP_API);
}

// ---- malformed -------------------------------------------------------------------------------

static void refuse(const char *json, const char *kind, const char *where, const char *what)
{
    nino_error err = { 0 };
    nino_graph *g = nino_graph_load(json, strlen(json), "flow.json", &err);
    if (g || strcmp(err.kind, kind) || !strstr(err.where, where) || !strstr(err.msg, what) ||
        strchr(err.msg, '\n')) {
        fprintf(stderr, "%s\n%s: %s (%s)\n", json, err.where, err.msg, g ? "accepted" : err.kind);
        exit(1);
    }
}

typedef struct first_error {
    int n;
    char code[32], node[32], input[32], text[256];
} first_error;

static void note(void *priv, const nino_issue *i)
{
    first_error *f = priv;
    if (i->severity != NINO_ISSUE_ERROR || f->n++)
        return;
    snprintf(f->code, sizeof(f->code), "%s", i->code);
    snprintf(f->node, sizeof(f->node), "%s", i->node);
    snprintf(f->input, sizeof(f->input), "%s", i->input);
    snprintf(f->text, sizeof(f->text), "%s", i->message);
}

// Loads, and the check says one thing about input `input` of node 3.
static void broken(const char *json, const char *code, const char *input, const char *text)
{
    first_error f = { 0 };
    nino_graph *g = load(json);
    if (nino_graph_check(g, NULL, note, &f) != 1)
        fprintf(stderr, "%d errors in %s\n", f.n, json);
    CHECK(f.n == 1);
    CHECK_STR(f.code, code);
    CHECK_STR(f.node, "3");
    CHECK_STR(f.input, input);
    if (!strstr(f.text, text) || strchr(f.text, '\n')) {
        fprintf(stderr, "%s\nwanted %s\n", f.text, text);
        exit(1);
    }
    nino_graph_destroy(&g);
}

static void malformed(void)
{
    refuse("{\"nodes\": [1]}", "schema", "flow.json: node", "object with an id at 1:12");
    refuse(FLOW("{\"type\": \"Note\"}", ""), "schema", "node", "id");
    refuse(FLOW("{\"id\": 1.5, \"type\": \"Note\"}", ""), "schema", "node", "id");
    refuse(FLOW("{\"id\": 7}", ""), "schema", "node 7", "no type");
    refuse(FLOW(NODE("1", "Note", ", \"inputs\": {}"), ""), "schema", "node 1", "array");
    refuse(FLOW(NODE("1", "Note", ", \"inputs\": [{}]"), ""), "schema", "node 1", "no name");
    refuse(FLOW(LATENT, "[1, 2]"), "schema", "link", "origin");
    refuse(FLOW(LATENT, "7"), "schema", "link", "origin");
    refuse(FLOW(LATENT, "{\"id\": 5}"), "schema", "link", "origin");
    refuse(WITH("5", LATENT, ""), "schema", "subgraph", "id");
    refuse(WITH("{\"id\": \"S\"}", LATENT, ""), "schema", "subgraph S", "nodes");
    refuse(WITH(SCALE "," SCALE, LATENT, ""), "dup", "subgraph S", "same id");
    refuse(WITH(SUB("S", "", "", NODE("4", "S", ""), ""), NODE("1", "S", ""), ""), "graph",
           "subgraph Part S: node 4", "contains itself");
    refuse(
        WITH(SUB("S", "", "", NODE("4", "T", ""), "") "," SUB("T", "", "", NODE("6", "S", ""), ""),
             NODE("1", "S", ""), ""),
        "graph", "subgraph Part T: node 6", "contains itself");

    broken(FLOW(LATENT "," SAVE("5"), ""), "bad_link", "samples", "link 5 does not exist");
    broken(FLOW(LATENT "," SAVE("5"), "[5, 99, 0, 3, 0, \"LATENT\"]"), "bad_link", "samples",
           "link 5 comes from a node that does not exist");
    broken(FLOW(LATENT "," SAVE("5"), "[5, 1, -1, 3, 0, \"LATENT\"]"), "bad_link", "samples", "5");
    broken(FLOW(LATENT "," SAVE("5"), "[5, 1, 0, 3, 0, \"LATENT\"], [5, 1, 1, 3, 0, \"LATENT\"]"),
           "bad_link", "samples", "link 5 is defined twice");
    broken(FLOW(LATENT "," SAVE("5"), "[5, 1, 9, 3, 0, \"LATENT\"]"), "bad_link", "samples",
           "node 1 (EmptyLatentImage) has 1 outputs");
    broken(FLOW(NODE("3", "LatentUpscaleBy",
                     INPUTS(IN("samples", "LATENT", "5"))
                         OUT("LATENT")) "," NODE("4", "SaveLatent",
                                                 INPUTS(IN("samples", "LATENT", "6"))),
                "[5, 3, 0, 3, 0, \"LATENT\"], [6, 3, 0, 4, 0, \"LATENT\"]"),
           "cycle", "", "its own result");
    broken(FLOW(SAVE("123456789012345678901234567890"), ""), "bad_link", "samples",
           "link 123456789012345678901234567890 does not exist");
    broken(FLOW(SAVE("6") "," NODE("4", "Reroute", INPUTS(IN("", "*", "5"))),
                "[5, 4, 0, 4, 0, \"*\"], [6, 4, 0, 3, 0, \"*\"]"),
           "bad_link", "samples", "link 5 runs in a circle");
    broken(FLOW(SAVE("6") "," NODE("4", "Reroute", INPUTS(IN("", "*", "7"))) "," NODE(
                    "5", "X", INPUTS(IN("a", "LATENT", "5")) OUT("LATENT") MODE("4")),
                "[5, 4, 0, 5, 0, \"*\"], [7, 5, 0, 4, 0, \"*\"], [6, 4, 0, 3, 0, \"*\"]"),
           "bad_link", "samples", "runs in a circle");
    broken(WITH(SCALE, LATENT "," SCALE_NODE("57", "5", "") "," SAVE("6"),
                "[5, 1, 0, 57, 0, \"LATENT\"], [6, 57, 4, 3, 0, \"LATENT\"]"),
           "bad_link", "samples", "an output that the subgraph does not have");
    // who is not needed may be broken
    first_error f = { 0 };
    nino_graph *g = load(FLOW(LATENT "," SAVE("5") "," NODE("9", "LatentUpscaleBy",
                                                            INPUTS(IN("samples", "LATENT", "77"))),
                              "[5, 1, 0, 3, 0, \"LATENT\"]"));
    CHECK(nino_graph_check(g, NULL, note, &f) == 0);
    nino_graph_destroy(&g);
}

// Ten levels of ten are too many nodes, and are refused before they are made.
static void explosion(void)
{
    nino_buf b = { 0 };
    nino_buf_adds(&b, "{\"nodes\": [{\"id\": 1, \"type\": \"D0\"}], \"links\": [], "
                      "\"definitions\": {\"subgraphs\": [");
    for (int i = 0; i < 10; i++) {
        nino_buf_addf(&b, "%s{\"id\": \"D%d\", \"nodes\": [", i ? "," : "", i);
        for (int k = 0; k < 10; k++)
            nino_buf_addf(&b, "%s{\"id\": %d, \"type\": \"D%d\"}", k ? "," : "", k, i + 1);
        nino_buf_adds(&b, "], \"links\": []}");
    }
    nino_buf_adds(&b, "]}}");
    refuse(b.data, "limit", "flow.json", "100000");
    nino_buf_release(&b);
}

int main(void)
{
    links();
    modes();
    subgraphs();
    groups();
    malformed();
    explosion();
    return 0;
}
