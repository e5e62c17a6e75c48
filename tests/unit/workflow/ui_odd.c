// Files of the editor with what nobody should write, and what some write all the same: what is read of them, or what
// is said against them.
#include "core/workflow/workflow.h"
#include "tests/prompt.h"
#include <ninodes/document.h>

static nino_error err;

#define FLOW(nodes, links, more) "{'nodes':[" nodes "],'links':[" links "]" more "}"
#define NODE(id, type, more) "{'id':" id ",'type':'" type "'" more "}"
#define IN(name, type, link) "{'name':'" name "','type':'" type "','link':" link "}"
#define WIDGET(name, link) "{'name':'" name "','link':" link ",'widget':{'name':'" name "'}}"
#define INPUTS(list) ",'inputs':[" list "]"
#define VALUES(list) ",'widgets_values':[" list "]"
#define NAMED(list) ",'widgets_values_named':" list
#define SUBS(list) ",'definitions':{'subgraphs':[" list "]}"
#define SUB(id, more) "{'id':'" id "','name':'Part'" more "}"
#define GROUPS(list) ",'extra':{'groupNodes':{" list "}}"
#define L(id, from, slot, to, at)                                                                  \
    "{'id':" id ",'origin_id':" from ",'origin_slot':" slot ",'target_id':" to                     \
    ",'target_slot':" at "}"
#define LATENT NODE("1", "EmptyLatentImage", ",'outputs':[{'type':'LATENT'}]" VALUES("8,8,1"))
#define LATENT_API API("1", "EmptyLatentImage", "'width':8,'height':8,'batch_size':1")
#define SAVE(link) NODE("3", "SaveLatent", INPUTS(IN("samples", "LATENT", link)))
#define SAVED API("3", "SaveLatent", "'samples':['1',0]")
#define LOST API("3", "SaveLatent", "")
#define API(id, type, inputs) "'" id "':{'class_type':'" type "','inputs':{" inputs "}}"
#define ONE(type, more) FLOW(NODE("1", type, more), "", "")
#define ONE_API(type, inputs) API("1", type, inputs)

// ---- read all the same -----------------------------------------------------------------------

// The file, and its API form without the outer braces.
static const char *const rows[][2] = {
    // slots that no node could have
    { FLOW(LATENT "," SAVE("5"), "[5,1,'',3,0,'LATENT']", ""), LATENT_API "," LOST },
    { FLOW(LATENT "," SAVE("5"), "[5,1,'000000000',3,0,'LATENT']", ""), LATENT_API "," LOST },
    { FLOW(LATENT "," SAVE("5"), "[5,1,'x',3,0,'LATENT']", ""), LATENT_API "," LOST },
    { FLOW(LATENT "," SAVE("5"), "[5,1,2147483647,3,0,'LATENT']", ""), LATENT_API "," LOST },
    { FLOW(LATENT "," SAVE("5"), "[5,null,0,3,0,'LATENT']", ""), LATENT_API "," LOST },
    // the same link twice, and another one of the same id
    { FLOW(LATENT "," SAVE("5"), "[5,1,0,3,0,'LATENT'],[5,1,0,3,0,'LATENT']", ""),
      LATENT_API "," SAVED },
    { FLOW(LATENT "," SAVE("5"), "[5,1,0,3,0,'LATENT'],[5,1,1,3,0,'LATENT']", ""),
      LATENT_API "," LOST },
    { FLOW(LATENT "," SAVE("5"), "[5,1,0,3,0,'LATENT'],[5,3,0,3,0,'LATENT']", ""),
      LATENT_API "," LOST },
    // nodes without inputs, a link from a note, a type that says nothing
    { FLOW(LATENT "," NODE("2", "Note", ",'inputs':null") "," SAVE("5"), "[5,2,0,3,0,'*']", ""),
      LATENT_API "," LOST },
    { FLOW(LATENT
           "," NODE("2", "X",
                    INPUTS(IN("a", "", "5")) ",'outputs':[{'type':''}],'mode':4") "," SAVE("6"),
           "[5,1,0,2,0,'*'],[6,2,0,3,0,'*']", ""),
      LATENT_API "," SAVED },
    { FLOW(NODE("2", "X", ",'outputs':[{'type':''}],'mode':4") "," SAVE("6"), "[6,2,0,3,0,'*']",
           ""),
      LOST },
    // types that are lists, through a bypassed node: none in common, the second of each
    { FLOW(LATENT "," NODE("2", "X",
                           INPUTS(IN("a", "IMAGE,MASK",
                                     "5")) ",'outputs':[{'type':'LATENT'}],'mode':4") "," SAVE("6"),
           "[5,1,0,2,0,'*'],[6,2,0,3,0,'*']", ""),
      LATENT_API "," LOST },
    { FLOW(LATENT
           "," NODE("2", "X",
                    INPUTS(IN("a", "MASK,LATENT",
                              "5")) ",'outputs':[{'type':'IMAGE,latent'}],'mode':4") "," SAVE("6"),
           "[5,1,0,2,0,'*'],[6,2,0,3,0,'*']", ""),
      LATENT_API "," SAVED },
    { FLOW(LATENT "," NODE("2", "X",
                           INPUTS(IN("a", "LATENT",
                                     "5")) ",'outputs':[{'type':'IMAGE'}],'mode':4") "," SAVE("6"),
           "[5,1,0,2,0,'*'],[6,2,0,3,0,'*']", ""),
      LATENT_API "," SAVED }, // by what is wanted
    { FLOW(LATENT "," NODE(
               "2", "X",
               INPUTS(IN("a", "*", "5")) ",'outputs':[{'type':'IMAGE'}],'mode':4") "," SAVE("6"),
           "[5,1,0,2,0,'*'],[6,2,0,3,0,'*']", ""),
      LATENT_API "," SAVED },
    { FLOW(LATENT "," NODE(
               "2", "X",
               INPUTS(IN("a", "LATENT",
                         "5")) ",'outputs':[{'type':'IMAGE'}],'mode':4") "," NODE("3", "SaveLatent",
                                                                                  INPUTS(
                                                                                      IN("samples",
                                                                                         "IMAGE",
                                                                                         "6"))),
           "[5,1,0,2,0,'*'],[6,2,0,3,0,'*']", ""),
      LATENT_API "," LOST },
    // names that nobody keeps, names that are none, a name kept by a muted node
    { FLOW(NODE("2", "GetNode", VALUES("'k'")) "," SAVE("6"), "[6,2,0,3,0,'*']", ""), LOST },
    { FLOW(LATENT "," NODE("4", "SetNode", INPUTS(IN("x", "*", "5")) VALUES("7")) "," NODE(
               "2", "GetNode", ",'widgets_values':{'a':1}") "," SAVE("6"),
           "[5,1,0,4,0,'*'],[6,2,0,3,0,'*']", ""),
      LATENT_API "," SAVED }, // both are the name of nothing
    { FLOW(LATENT
           "," NODE("4", "SetNode", INPUTS(IN("x", "*", "5")) VALUES("'k'") ",'mode':2") "," NODE(
               "2", "GetNode", VALUES("'k'")) "," SAVE("6"),
           "[5,1,0,4,0,'*'],[6,2,0,3,0,'*']", ""),
      LATENT_API "," LOST },
    // a primitive without a value
    { FLOW(NODE("1", "EmptyLatentImage",
                INPUTS(IN("width", "INT", "5")) VALUES("8,8,1")) "," NODE("2", "PrimitiveNode", ""),
           "[5,2,0,1,0,'INT']", ""),
      LATENT_API },
    // links that say whose nodes are whose, as objects, beside ones that say nothing
    { FLOW(NODE("1", "EmptyLatentImage", ",'outputs':[{'links':[5]}]" VALUES("8,8,1")) "," NODE(
               "3", "SaveLatent",
               INPUTS(IN("samples", "LATENT",
                         "5"))) "," NODE("1", "EmptyLatentImage",
                                         ",'outputs':[{'links':{'a':6}},{'links':[null,6]}]" VALUES(
                                             "9,9,1")) "," NODE("3", "SaveLatent",
                                                                INPUTS(
                                                                    IN("samples", "LATENT", "6"))),
           "null," L("5", "1", "0", "3", "0") "," L("6", "1", "1", "3", "0") "," L("7", "[1]", "0",
                                                                                   "{}", "0"),
           ""),
      LATENT_API "," SAVED
                 "," API("4", "EmptyLatentImage", "'width':9,'height':9,'batch_size':1") "," API(
                     "5", "SaveLatent", "'samples':['4',1]") },
    { FLOW(NODE("9000000000000000000", "EmptyLatentImage", VALUES("8,8,1")) "," NODE(
               "9000000000000000000", "EmptyLatentImage", VALUES("9,9,1")),
           "", ""),
      API("9000000000000000000", "EmptyLatentImage", "'width':8,'height':8,'batch_size':1") "," API(
          "1", "EmptyLatentImage", "'width':9,'height':9,'batch_size':1") },
    // a link that only its origin knows: to an input that is none, of a node that is none
    { FLOW(NODE("1", "EmptyLatentImage",
                ",'outputs':[{'links':[5,6,7,8]}]" VALUES(
                    "8,8,1")) "," NODE("3", "SaveLatent", INPUTS(IN("samples", "LATENT", "null"))),
           "[5,1,0,9,0,'*'],[6,1,0,3,4,'*'],[7,1,-1,3,0,'*'],[8,1,0,3,-1,'*']", ""),
      LATENT_API "," LOST },
    // definitions that are none, and one whose name no node can have
    { FLOW(LATENT, "", ",'extra':{'groupNodes':[1]}"), LATENT_API },
    { FLOW(LATENT, "", GROUPS("'G\\u0000x':{'nodes':[]}")), LATENT_API },
    // a subgraph's ends by other ids; links that lead to no output of it
    { FLOW(LATENT "," NODE("9", "S", INPUTS(IN("in", "LATENT", "5"))) "," SAVE("6"),
           "[5,1,0,9,0,'*'],[6,9,0,3,0,'*']",
           SUBS(SUB("S", ",'inputNode':{'id':'a'},'outputNode':{'id':'b'},'inputs':[{'name':'in'}],"
                         "'outputs':[{}],'nodes':[],'links':[" L("1", "'a'", "0", "'b'", "0") "," L(
                             "2", "'a'", "0", "'b'", "7") "," L("3", "'a'", "0", "'b'",
                                                                "-1") "," L("4", "'a'", "0", "null",
                                                                            "0") "]"))),
      LATENT_API "," SAVED },
    // the ends of a group: by number or by object, hidden, and those that are none
    { FLOW(
          NODE("7", "workflow/G", "") "," SAVE("6"), "[6,7,0,3,0,'*']",
          GROUPS(
              "'G':{'nodes':[{'type':'EmptyLatentImage','outputs':[{'type':'LATENT'}],"
              "'widgets_values':[8,8,1]},{'type':'LatentUpscaleBy','inputs':[" IN(
                  "samples", "LATENT",
                  "null") "],'outputs':[{'type':'LATENT'},{}]}],"
                          "'links':[[0,0,1,0,1,'LATENT'],[0,5,1,9,1,'LATENT'],[0,0,1,9,1,'LATENT'],"
                          "[0,0,8,0,1,'LATENT']],'config':{'1':{'output':{'1':{'visible':false},"
                          "'0':{'visible':'no'}}}},'external':[[0,0,'LATENT'],[5,0],[0,-1],[0,7],['"
                          "x',0],7,"
                          "[{'index':9},0]]}")),
      API("7:0", "EmptyLatentImage",
          "") "," API("7:1", "LatentUpscaleBy",
                      "'samples':['7:0',0]") "," API("3", "SaveLatent", "'samples':['7:0',0]") },
    // a group's own values: of a primitive, of a group in it, of a subgraph that is muted there
    { FLOW(NODE("7", "workflow/G", VALUES("5,'fixed',64,'randomize',2,9,7")), "",
           GROUPS("'G':{'nodes':[{'type':'PrimitiveNode','widgets_values':[1,'fixed']},"
                  "{'type':'PrimitiveNode','widgets_values':{}},{'type':'workflow/H'},"
                  "{'type':'S','mode':2},{'type':'EmptyLatentImage','inputs':[" WIDGET(
                      "width", "null") "]}],'links':[[0,0,4,0,1,'INT']]},"
                                       "'H':{'nodes':[{'type':'RandomNoise'}],'links':[]}")
               SUBS(SUB("S", ",'nodes':[]"))),
      API("7:2:0", "RandomNoise", "'noise_seed':64") "," API(
          "7:4", "EmptyLatentImage", "'width':5,'height':2,'batch_size':9") },
// instances that list nothing, or values in forms of their own
#define S_OF(more)                                                                                 \
    FLOW(NODE("9", "S", more), "",                                                                 \
         SUBS(SUB("S", ",'inputs':[{},{'name':'width'}],"                                          \
                       "'nodes':[" NODE("4", "EmptyLatentImage",                                   \
                                        INPUTS(WIDGET("width", "1"))                               \
                                            VALUES("8,8,1")) "],'links':[" L("1", "-10", "1", "4", \
                                                                             "0") "]")))
#define S_API(width) API("9:4", "EmptyLatentImage", "'width':" width ",'height':8,'batch_size':1")
    { S_OF(",'properties':{'proxyWidgets':[]}" INPUTS(WIDGET("width", "null")) VALUES("32")),
      S_API("32") },
    { S_OF(INPUTS(WIDGET("x", "null") "," WIDGET("width", "null")) VALUES("16,'no control',32")),
      S_API("'no control'") },
    { S_OF(INPUTS(WIDGET("x", "null") "," WIDGET("width", "null")) VALUES("16,'fixed',32,5")),
      S_API("32") },
    { S_OF(INPUTS(IN("x", "INT", "null") "," WIDGET("width", "null")) ",'widgets_values':null"),
      S_API("8") },
    { S_OF(",'properties':{'proxyWidgets':[['-1','nothing'],['-1',5],['-1','width'],[[],'x']]"
           "}" VALUES("1,2,32")),
      S_API("32") },
    { S_OF(",'properties':{'proxyWidgets':[['-1','width']],'proxyWidgetErrorQuarantine':["
           "{'originalEntry':['-1','height'],'hostValue':5},{'originalEntry':['-1','width'],"
           "'hostValue':null}]}" VALUES("32")),
      S_API("32") },
    // lists of values: beside names that are none, that are empty, that stand for themselves
    { ONE("EmptyLatentImage", NAMED("{'width':16}")), ONE_API("EmptyLatentImage", "'width':16") },
    { ONE("EmptyLatentImage", VALUES("8,8,1") NAMED("{}")),
      ONE_API("EmptyLatentImage", "'width':8,'height':8,'batch_size':1") },
    { ONE("EmptyLatentImage", VALUES("8,8,1") NAMED("[1]")),
      ONE_API("EmptyLatentImage", "'width':8,'height':8,'batch_size':1") },
    { ONE("EmptyLatentImage", ",'widgets_values':null" NAMED("[1]")),
      ONE_API("EmptyLatentImage", "") },
    { ONE("EmptyLatentImage", ",'widgets_values':{'width':16}" NAMED("{'width':8}")),
      ONE_API("EmptyLatentImage", "'width':16") },
    { ONE("Pack", VALUES("1,2") NAMED("{'a\\u0000':1,'b':2}")), ONE_API("Pack", "'b':2") },
    { ONE("Pack", ",'widgets_values':{'a\\u0000':1,'o':{},'b':2}"), ONE_API("Pack", "'b':2") },
    { ONE("Power Lora Loader (rgthree)", ",'widgets_values':{'lora_1':{'lora':'a'},'x':5}"),
      ONE_API("Power Lora Loader (rgthree)", "'x':5") },
    { ONE("Power Lora Loader (rgthree)", ""), ONE_API("Power Lora Loader (rgthree)", "") },
    // a button among the inputs, before any widget and behind one
    { ONE("Pack", INPUTS("{'name':'u','type':'IMAGEUPLOAD','widget':{'name':'u'}}," WIDGET(
                      "file", "null") ",{'name':'v','type':'X','widget':{'name':'v'}},"
                                      "{'name':'w','type':'AUDIOUPLOAD','widget':{'name':'w'}}")
                      VALUES("'a.png',3,'image'")),
      ONE_API("Pack", "'file':'a.png','v':3") },
    // texts with choices only where the editor has them; a brace that stays open, a mark at the end
    { ONE("Pack", INPUTS(WIDGET("text", "null")) VALUES("'{a|b}'")),
      ONE_API("Pack", "'text':'{a|b}'") },
    { ONE("SaveImage", VALUES("'a/{b|c}'")), ONE_API("SaveImage", "'filename_prefix':'a/{b|c}'") },
    { ONE("CLIPTextEncode", VALUES("'a {b'")), ONE_API("CLIPTextEncode", "'text':'a b'") },
    { ONE("CLIPTextEncode", VALUES("'a {b\\\\'")), ONE_API("CLIPTextEncode", "'text':'a b\\\\'") },
    { ONE("CLIPTextEncode", VALUES("'{\\\\}|\\\\}} // x\\ry'")),
      ONE_API("CLIPTextEncode", "'text':'} \\ry'") },
    { ONE("CLIPTextEncode", VALUES("'{}'")), ONE_API("CLIPTextEncode", "'text':''") },
    // types of the same length that are others; an output beyond the inputs; nothing but any type
    { FLOW(LATENT "," NODE("2", "X",
                           INPUTS(IN("a", "SAMPLE",
                                     "5")) ",'outputs':[{'type':'LATENT'}],'mode':4") "," SAVE("6"),
           "[5,1,0,2,0,'*'],[6,2,0,3,0,'*']", ""),
      LATENT_API "," LOST },
    { FLOW(
          LATENT "," NODE(
              "2", "X",
              INPUTS(IN("a", "MODEL",
                        "5")) ",'outputs':[{'type':'LATENT'},{'type':'*'}],'mode':4") "," SAVE("6"),
          "[5,1,0,2,0,'*'],[6,2,1,3,0,'*']", ""),
      LATENT_API "," SAVED },
    { FLOW(LATENT "," NODE(
               "2", "X",
               INPUTS(IN(
                   "a", "MODEL",
                   "5")) ",'outputs':[{'type':'LATENT'}],'mode':4") "," NODE("3", "SaveLatent",
                                                                             INPUTS(IN("samples",
                                                                                       "*", "6"))),
           "[5,1,0,2,0,'*'],[6,2,0,3,0,'*']", ""),
      LATENT_API "," SAVED },
    // a link in a group that comes from nowhere; one that goes nowhere; in a subgraph, from nobody
    { FLOW(NODE("7", "workflow/G", ""), "",
           GROUPS("'G':{'nodes':[{'type':'SaveLatent','inputs':[" IN(
               "samples", "LATENT", "null") "]},{'type':'EmptyLatentImage'}],'links':[[9,0,0,0,1],["
                                            "1,0,null,0,1],[1,0,0,-1,1]]}")),
      API("7:0", "SaveLatent", "") "," API("7:1", "EmptyLatentImage", "") },
    { FLOW(NODE("9", "S", ""), "",
           SUBS(SUB("S", ",'nodes':[" SAVE("1") "],'links':[" L("1", "null", "0", "3", "0") "]"))),
      API("9:3", "SaveLatent", "") },
// a group whose widgets are among its ends, as they were once; one that nobody uses
#define OLD_GROUP(nodes, links)                                                                    \
    FLOW(nodes, links,                                                                             \
         GROUPS("'G':{'nodes':[{'type':'EmptyLatentImage','inputs':[" WIDGET(                      \
             "width", "null") "," WIDGET("height", "null") "]}],'links':[]}"))
    { OLD_GROUP(
          NODE("7", "workflow/G", INPUTS(IN("a", "INT", "null") "," WIDGET("b", "5"))) "," NODE(
              "2", "PrimitiveNode", VALUES("64")),
          "[5,2,0,7,1,'INT']"),
      API("7:0", "EmptyLatentImage", "'height':64") },
    { OLD_GROUP(NODE("7", "workflow/G", INPUTS(WIDGET("b", "5"))) "," NODE("2", "PrimitiveNode",
                                                                           VALUES("64")),
                "[5,2,0,7,0,'INT']"),
      API("7:0", "EmptyLatentImage", "") },
    { OLD_GROUP(LATENT, ""), LATENT_API },
    // instances: more values than inputs, inputs that the definition has none of, three in each other
    { S_OF(INPUTS(WIDGET("x", "null") "," WIDGET("width", "null")) VALUES("16,32,5")),
      S_API("32") },
    { FLOW(NODE("9", "S", ",'properties':{'proxyWidgets':[['-1','x']]}" VALUES("5")), "",
           SUBS(SUB("S", ",'nodes':[" LATENT "]"))),
      API("9:1", "EmptyLatentImage", "'width':8,'height':8,'batch_size':1") },
#define PASSES(id, type, values)                                                                   \
    SUB(id, ",'inputs':[{'name':'w'}],'nodes':[" NODE(                                             \
                "4", type, INPUTS(WIDGET("w", "1")) values) "],'links':[" L("1", "-10", "0", "4",  \
                                                                            "0") "]")
    { FLOW(NODE("9", "S", INPUTS(WIDGET("w", "null")) VALUES("7")), "",
           SUBS(PASSES("S", "T", "") "," PASSES("T", "U", VALUES("5")) "," PASSES(
               "U", "V", VALUES("6")) "," SUB("V",
                                              ",'inputs':[{'name':'w'}],'nodes':[" NODE(
                                                  "4", "EmptyLatentImage",
                                                  INPUTS(WIDGET("width", "1")) VALUES(
                                                      "8,8,1")) "],'links':[" L("1", "-10", "0",
                                                                                "4", "0") "]"))),
      API("9:4:4:4:4", "EmptyLatentImage", "'width':7,'height':8,'batch_size':1") },
    { FLOW(NODE("9", "S", INPUTS(WIDGET("w", "null")) VALUES("5")), "",
           SUBS(PASSES("S", "workflow/G", ""))
               GROUPS("'G':{'nodes':[{'type':'RandomNoise'}],'links':[]}")),
      API("9:4:0", "RandomNoise", "") },
    // what stands behind a picture's name and is no slot; a former order with a value of another type
    { ONE("LoadImageMask", VALUES("'a.png','other','red'")),
      ONE_API("LoadImageMask", "'image':'a.png','channel':'other'") },
    // a box of numbers among the values
    { ONE("ImageCropV2", VALUES("1,2,3,4")), ONE_API("ImageCropV2", "'crop_region':1") },
    { ONE("ImageCropV2", VALUES("{'x':1},1,'a',2")),
      ONE_API("ImageCropV2", "'crop_region':{'x':1}") },
};

static char *with_braces(const char *quoted)
{
    char *json = test_quoted(quoted);
    nino_buf b = { 0 };
    nino_buf_addf(&b, "{%s}", json);
    CHECK(!b.failed);
    free(json);
    return b.data;
}

static void read_row(const char *const *row)
{
    char *json = test_quoted(row[0]), *want = with_braces(row[1]);
    nino_graph *g = nino_graph_load(json, strlen(json), "flow.json", &err);
    if (!g)
        fprintf(stderr, "%s\n", json);
    CHECK_OK(g ? NINO_OK : err.code, err);
    prompt_expect(g, want);
    nino_document *d = nino_document_load(json, strlen(json), "flow.json", &err);
    CHECK_OK(d ? NINO_OK : err.code, err);
    nino_document_destroy(&d);
    nino_graph_destroy(&g);
    free(json);
    free(want);
}

// ---- refused ---------------------------------------------------------------------------------

static void refuse(const char *quoted, const char *kind, const char *where, const char *what)
{
    char *json = test_quoted(quoted);
    nino_graph *g = nino_graph_load(json, strlen(json), "flow.json", &err);
    if (g || strcmp(err.kind, kind) || !strstr(err.where, where) || !strstr(err.msg, what))
        fprintf(stderr, "%.200s\n%s: %s (%s)\n", json, err.where, err.msg, g ? "read" : err.kind);
    CHECK(!g && !strcmp(err.kind, kind) && strstr(err.where, where) && strstr(err.msg, what));
    CHECK(!nino_graph_load(json, strlen(json), "flow.json", NULL)); // nobody wants to know why
    free(json);
}

static void refused(void)
{
    refuse(FLOW(NODE("''", "Note", ""), "", ""), "schema", "node", "an id");
    refuse(FLOW(NODE("1", "Note", ",'inputs':[7]"), "", ""), "schema", "node 1", "no name");
    refuse(FLOW(LATENT, "[null,1,0,3,0]", ""), "schema", "link", "an id and an origin");
    refuse(FLOW(LATENT, "", GROUPS("'G':5")), "schema", "group node G", "with nodes");
    refuse(FLOW(LATENT, "", GROUPS("'G':{'nodes':{}},'H':{'nodes':[]}")), "schema", "group node G",
           "with nodes");
    refuse(FLOW(LATENT, "", GROUPS("'G':{'nodes':[5]}")), "schema", "subgraph G: node",
           "an object");
    refuse(FLOW(LATENT, "", GROUPS("'G':{'nodes':[{}],'links':[[0,0]]}")), "schema",
           "subgraph G: node 0", "no type");
    refuse(FLOW(LATENT, "", GROUPS("'G':{'nodes':[],'links':[[0,0]]}")), "schema",
           "subgraph G: link", "an origin");
    refuse(FLOW(LATENT, "", SUBS("{'id':'S','name':'','nodes':[{}]}")), "schema",
           "subgraph S: node", "an id");
    refuse(FLOW(LATENT, "", SUBS("{'name':'P','nodes':[]}")), "schema", "subgraph P", "no id");
    refuse(FLOW(LATENT, "", SUBS("{'id':'S','nodes':5}")), "schema", "subgraph S", "with nodes");
}

// `n` times the text, between two others.
static char *many(const char *before, const char *item, int n, const char *after)
{
    nino_buf b = { 0 };
    nino_buf_adds(&b, before);
    for (int i = 0; i < n; i++)
        nino_buf_addf(&b, "%s%s", i ? "," : "", item);
    nino_buf_adds(&b, after);
    CHECK(!b.failed);
    return b.data;
}

static void too_much(void)
{
    static const struct {
        const char *before, *item;
        int n;
        const char *after, *kind, *where, *what;
    } t[] = {
        { "{'nodes':[", "0", 100001, "]}", "limit", "flow.json", "100000 nodes in all" },
        { "{'nodes':[{'id':1,'type':'X','inputs':[", "{'name':'a'}", 4097, "]}]}", "limit",
          "node 1", "4096 inputs" },
        { "{'nodes':[{'id':1,'type':'X','widgets_values':[", "0", 4097, "]}]}", "limit", "node 1",
          "4096 entries" },
        { "{'nodes':[", "{'id':1,'type':'Note'}", 514, "]}", "limit", "flow.json",
          "more than 512 ids" },
        { "{'nodes':[{'id':1,'type':'", "x", 600, "'}]}", "limit", "node 1", "1024 bytes" },
        { "{'nodes':[{'id':'", "x", 600, "','type':'Note'}]}", "limit", "node x", "1024 bytes" },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        char *json = many(t[i].before, t[i].item, t[i].n, t[i].after);
        refuse(json, t[i].kind, t[i].where, t[i].what);
        free(json);
    }
    // long ids that are there twice are left alone, and refused
#define LONG "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg"
    refuse(FLOW(NODE("'" LONG "'", "Note", "") "," NODE("'" LONG "'", "Note", ""), "", ""), "dup",
           "node aaaa", "the same id");
    // ids of nodes in each other that are too long together
    char *id = many("", "x", 260, "");
    nino_buf b = { 0 };
    nino_buf_addf(&b,
                  "{'nodes':[{'id':'%s','type':'S'}],'links':[]" SUBS(SUB(
                      "S", ",'nodes':[{'id':'%s','type':'T'}]") "," SUB("T", ",'nodes':[]")) "}",
                  id, id);
    refuse(b.data, "limit", "flow.json", "nest too deep");
    nino_buf_release(&b);
    free(id);
}

// Links that only their origin knows are put right, but not any number of them.
static void too_many_links(void)
{
    nino_buf b = { 0 };
    nino_buf_adds(&b, "{'nodes':[{'id':9999,'type':'EmptyLatentImage','outputs':[{'links':[0");
    for (int i = 1; i < 513; i++)
        nino_buf_addf(&b, ",%d", i);
    nino_buf_adds(&b, "]}]}");
    for (int i = 0; i < 513; i++)
        nino_buf_addf(&b, ",{'id':%d,'type':'SaveLatent','inputs':[{'name':'samples'}]}", i);
    nino_buf_adds(&b, "],'links':[");
    for (int i = 0; i < 513; i++)
        nino_buf_addf(&b, "%s[%d,9999,0,%d,0]", i ? "," : "", i, i);
    nino_buf_adds(&b, "]}");
    CHECK(!b.failed);
    refuse(b.data, "limit", "flow.json", "more than 512");
    nino_buf_release(&b);
}

// A list of more than 4096 names of inner values is no such list.
static void too_many_shown(void)
{
    char *list =
        many("{'nodes':[{'id':9,'type':'S','widgets_values':[],'properties':{'proxyWidgets':[",
             "['4','x']", 4097, "]}}]" SUBS(SUB("S", ",'nodes':[]")) "}");
    char *json = test_quoted(list);
    nino_document *d = nino_document_load(json, strlen(json), "flow.json", &err);
    CHECK_OK(d ? NINO_OK : err.code, err);
    CHECK(nino_document_node(d, 0)->n_widgets == 0);
    nino_document_destroy(&d);
    free(json);
    free(list);
}

// A subgraph that holds itself is no error where it is muted; its values are looked for and not found.
static void holds_itself(void)
{
    char *json = test_quoted(FLOW(
        NODE("9", "S", INPUTS(WIDGET("w", "null"))), "",
        SUBS(SUB("S", ",'inputs':[{'name':'w'}],'nodes':[" NODE(
                          "4", "S",
                          INPUTS(WIDGET("w", "1")) ",'mode':2") "],'links':[" L("1", "-10", "0",
                                                                                "4", "0") "]"))));
    nino_document *d = nino_document_load(json, strlen(json), "flow.json", &err);
    CHECK_OK(d ? NINO_OK : err.code, err);
    const nino_doc_node *n = nino_document_node(d, 0);
    CHECK(n->n_widgets == 1 && n->widgets[0].kind == NINO_WIDGET_OTHER);
    CHECK_OK(nino_document_set_text(d, "9", "w", "5", &err), err);
    CHECK_STR(nino_doc_widget_find(nino_document_node(d, 0), "w")->text, "5");
    nino_document_destroy(&d);
    free(json);
}

int main(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        read_row(rows[i]);
    refused();
    too_much();
    too_many_links();
    too_many_shown();
    holds_itself();
    nino_ui_destroy(NULL);
    nino_graph_destroy(NULL);
    return 0;
}
