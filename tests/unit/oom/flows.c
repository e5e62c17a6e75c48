// Every allocation of reading and changing a workflow of the editor fails once, for each of the things that
// files hold: a clean "nomem", nothing leaks, and what is read all the same has lost nothing.
#include "core/workflow/workflow.h"
#include "tests/prompt.h"
#include "tests/unit/oom/arena.h"

static nino_error err;

#define FLOW(nodes, links, more) "{'nodes':[" nodes "],'links':[" links "]" more "}"
#define NODE(id, type, more) "{'id':" id ",'type':'" type "'" more "}"
#define IN(name, type, link) "{'name':'" name "','type':'" type "','link':" link "}"
#define WIDGET(name, type, link)                                                                   \
    "{'name':'" name "','type':'" type "','link':" link ",'widget':{'name':'" name "'}}"
#define INPUTS(list) ",'inputs':[" list "]"
#define GIVES(type, links) ",'outputs':[{'name':'" type "','type':'" type "','links':[" links "]}]"
#define VALUES(list) ",'widgets_values':[" list "]"
#define SUBS(list) ",'definitions':{'subgraphs':[" list "]}"
#define SUB(id, inputs, nodes, links)                                                              \
    "{'id':'" id "','name':'Part','inputs':[" inputs "],'outputs':[{'name':'o','type':'LATENT'}"   \
    "],'nodes':[" nodes "],'links':[" links "]}"
#define L(id, from, slot, to, at)                                                                  \
    "{'id':" id ",'origin_id':" from ",'origin_slot':" slot ",'target_id':" to                     \
    ",'target_slot':" at "}"
#define LATENT(id) NODE(id, "EmptyLatentImage", GIVES("LATENT", "") VALUES("8,16,1"))
#define SAVE(id, link) NODE(id, "SaveLatent", INPUTS(IN("samples", "LATENT", link)) VALUES("'x'"))

// The file, and what is set in it one after the other.
static const struct flow {
    const char *name, *json, *sets[4];
} flows
    [] = {
        // texts with choices, comments and marks that stand for themselves
        { "texts",
          FLOW(NODE("1", "CLIPTextEncode", VALUES("'a {b|{c|d}} \\\\{ /* e */ f // g'")) "," NODE(
                   "2", "NoSuchClass", INPUTS(WIDGET("text", "STRING", "null")) VALUES("'{a|b}'")),
               "", ""),
          { "1.text={x|y}", "2.text={1|2}" } },
        // orders of former versions, short lists, values by name, lists of objects
        { "values",
          FLOW(NODE("1", "ROCMOptimizedVAEDecode", VALUES("768,96,true,'auto',true,8,true")) "," NODE("2",
                                                                                                      "KSamp"
                                                                                                      "ler",
                                                                                                      VALUES("5")) "," NODE("3",
                                                                                                                            "VHS_VideoCombine",
                                                                                                                            ",'widgets_values':{'frame_rate':8,'format':'video/h264-mp4','crf':19,"
                                                                                                                            "'pix_fmt':'yuv420p','videopreview':{}}") "," NODE("4",
                                                                                                                                                                               "Power Lora Loader (rgthree)",
                                                                                                                                                                               VALUES("{},{'on':true,'lora':'a','strength':1},{'on':false,'lora':'b'}")) "," NODE("5", "NoSuchClass", VALUES("1,2") ",'widgets_values_named':{'a':1,'b':2}") "," NODE("6",
                                                                                                                                                                                                                                                                                                                                                      "EmptyLatentImage",
                                                                                                                                                                                                                                                                                                                                                      VALUES("'new',64,32,2") ",'widgets_values_named':{'new':'new','width':64,"
                                                                                                                                                                                                                                                                                                                                                                              "'height':32,'batch_size':2}") "," NODE("7",
                                                                                                                                                                                                                                                                                                                                                                                                                      "SaveVideo",
                                                                                                                                                                                                                                                                                                                                                                                                                      VALUES("'v','mp4','h264'")) "," NODE("8",
                                                                                                                                                                                                                                                                                                                                                                                                                                                           "EmptyLatentImage",
                                                                                                                                                                                                                                                                                                                                                                                                                                                           INPUTS(
                                                                                                                                                                                                                                                                                                                                                                                                                                                               WIDGET("batch_size", "INT", "null") "," WIDGET("new",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              "INT",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              "null"))
                                                                                                                                                                                                                                                                                                                                                                                                                                                               VALUES(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                   "3,4")),
               "", ""),
          { "1.tile_size=512", "2.cfg=3", "5.a=7", "6.width=72" } },
        { "lists",
          FLOW(NODE("2", "KSampler", "") "," NODE("3", "LoadImage", "") "," NODE(
                   "4", "ResizeImageMaskNode",
                   ",'widgets_values':{'resize_type':'scale "
                   "dimensions','resize_type.width':8}"),
               "", ""),
          { "2.denoise=0.5", "3.image=b.png", "4.resize_type.height=9" } },
        // values that instances keep, at two levels and by the names of their inputs; Get and Set around them
        { "instances",
          FLOW(LATENT(
                   "1") "," NODE("9", "T", INPUTS(IN("in", "LATENT", "1") "," WIDGET("scale_by", "FLOAT", "null")) VALUES("2.5")) "," NODE("10",
                                                                                                                                           "S",
                                                                                                                                           INPUTS(IN("in", "LATENT", "1") "," WIDGET("scale_by",
                                                                                                                                                                                     "FLOAT", "null")) ",'properties':{'proxyWidgets':[['4','upscale_"
                                                                                                                                                                                                       "method'],['-1','scale_by'"
                                                                                                                                                                                                       "]]}" VALUES(
                                                                                                                                                                                                           "'area',3")) "," SAVE("3",
                                                                                                                                                                                                                                 "2") "," NODE("5",
                                                                                                                                                                                                                                               "SetNode",
                                                                                                                                                                                                                                               INPUTS(
                                                                                                                                                                                                                                                   IN("LATEN"
                                                                                                                                                                                                                                                      "T",
                                                                                                                                                                                                                                                      "LATEN"
                                                                                                                                                                                                                                                      "T",
                                                                                                                                                                                                                                                      "3"))
                                                                                                                                                                                                                                                   VALUES(
                                                                                                                                                                                                                                                       "'k"
                                                                                                                                                                                                                                                       "ep"
                                                                                                                                                                                                                                                       "t"
                                                                                                                                                                                                                                                       "'")),
               "[1,1,0,9,0,'LATENT'],[2,9,0,3,0,'LATENT'],[3,10,0,5,0,'LATENT']",
               SUBS(
                   SUB("T", IN("in", "LATENT", "1") "," IN("scale_by", "FLOAT", "2"), NODE("12", "S", INPUTS(IN("in", "LATENT", "1") "," WIDGET("scale_by", "FLOAT", "2")) VALUES("1.25")) "," NODE("13", "GetNode", VALUES("'kept'")) "," SAVE("14", "4"), L("1", "-10", "0", "12", "0") "," L("2", "-10", "1", "12", "1") "," L("3", "12", "0", "-20", "0") "," L("4", "13", "0", "14", "0")) "," SUB(
                       "S", IN("in", "LATENT", "1") "," IN("scale_by", "FLOAT", "2"),
                       NODE(
                           "4", "LatentUpscaleBy",
                           INPUTS(IN("samples", "LATENT", "1") "," WIDGET("scale_by", "FLOAT", "2"))
                               VALUES("'bilinear',1.5")),
                       L("1", "-10", "0", "4", "0") "," L("2", "-10", "1", "4", "1") "," L(
                           "3", "4",
                           "0", "-20", "0")))),
          { "9:12:4.scale_by=4", "10:4.upscale_method=bicubic", "9:14.filename_prefix=y" } },
        // an input without a widget gets the value that the widget inside has
        {
            "sockets",
            FLOW(NODE("9", "T", ""), "", SUBS(SUB("T", IN("by", "FLOAT", "1"), NODE("12", "EmptyLatentImage", INPUTS(WIDGET("width", "INT", "1")) VALUES("72,16,1")) "," NODE("13", "NoSuchClass", INPUTS(IN("a", "INT", "2"))), L("1", "-10", "0", "12", "0") "," L("2", "-10", "0", "13", "0")))),
            { "9:12.width=32" } },
        // a group with a group in it, a link inside, one to a widget, hidden ends
        {
            "groups",
            FLOW(LATENT("1") "," NODE(
                     "7", "workflow/G",
                     INPUTS(IN("samples", "LATENT", "1"))
                         VALUES(
                             "'area',2,7,'fixed','b'")) "," SAVE("3", "2"),
                 "[1,1,0,7,0,'LATENT'],[2,7,0,3,0,'LATENT']",
                 ",'extra':{'groupNodes':{'G':{'nodes':[{'type':'LatentUpscaleBy','inputs':[" IN(
                     "samples", "LATENT",
                     "null") "," WIDGET("scale_by", "FLOAT",
                                        "null") "]" GIVES("LATENT",
                                                          "") "},{'type':'workflow>H'},{'type':'"
                                                              "SaveLatent','inputs':[" IN(
                                                                  "samples", "LATENT",
                                                                  "null") "]},{'type':'"
                                                                          "PrimitiveNode','"
                                                                          "outputs':[{}],"
                                                                          "'widgets_values':[]}],'"
                                                                          "links':"
                                                                          "[[0,0,2,0,1,'LATENT']],"
                                                                          "'config':{'0':{'output':"
                                                                          "{'0':{"
                                                                          "'visible':true}}}},'"
                                                                          "external':"
                                                                          "[[{'index':0},0]]},"
                                                                          "'H':{'nodes':[{'type':'"
                                                                          "RandomNoise'}],'links':["
                                                                          "]}}}"),
            { "7:0.upscale_method=bicubic", "7:1:0.noise_seed=9" } },
        // ids that are there twice, with links that say whose they are; links that only the origin knows
        { "repairs",
          FLOW(
              NODE("1", "EmptyLatentImage", GIVES("LATENT", "5") VALUES("8,8,1")) "," SAVE("2", "5") "," NODE("1", "EmptyLatentImage", GIVES("LATENT", "6") VALUES("9,9,1")) "," SAVE(
                  "2", "6") "," SAVE("'a'", "null") "," NODE("8",
                                                             "EmptyLatentImag"
                                                             "e",
                                                             GIVES("LATENT", "'x',null,7")
                                                                 VALUES("8,8,1")),
              "[5,1,0,2,0,'LATENT']," L("6", "1", "0", "2", "0") "," L("7", "8", "0", "'a'", "0"),
              ""),
          { "a.filename_prefix=y" } },
        // offers of several kinds, and links that lead nowhere
        { "everywhere",
          FLOW(
              NODE("1", "VAELoader", GIVES("VAE", "1") VALUES("'v'")) "," NODE("2", "Anything Everywhere?", INPUTS(IN("anything", "VAE", "1")) VALUES("'Dec.*','.*',''")) "," NODE(
                  "3", "VAEDecode",
                  INPUTS(IN("samples", "LATENT", "9") "," IN(
                      "vae", "VAE",
                      "null"))) "," NODE("4", "Seed Everywhere",
                                         VALUES(
                                             "5,'fixed'")) "," NODE("5", "KSampler",
                                                                    INPUTS(WIDGET(
                                                                        "seed", "INT",
                                                                        "null") "," IN("latent_"
                                                                                       "image",
                                                                                       "LATENT",
                                                                                       "null"))
                                                                        VALUES(
                                                                            "1,'fixed',20,8,'euler'"
                                                                            ",'"
                                                                            "simple',1")) "," NODE("6",
                                                                                                   "EmptyLatentImage",
                                                                                                   GIVES("LATENT", "") ",'properties':{'ue_convert':true}" VALUES(
                                                                                                       "8,"
                                                                                                       "8,"
                                                                                                       "1")) "," NODE("7",
                                                                                                                      "Prompts Everywhere",
                                                                                                                      "") "," NODE("8",
                                                                                                                                   "LatentUpscaleBy",
                                                                                                                                   INPUTS(IN(
                                                                                                                                       "samples",
                                                                                                                                       "LATENT",
                                                                                                                                       "4")) ",'mode':4"),
              "[1,1,0,2,0,'VAE'],[4,6,0,8,0,'LATENT']", ""),
          { "5.steps=4" } },
        // links that are cut, of a node and of the subgraph's input
        { "cut",
          FLOW(NODE("1", "PrimitiveInt", GIVES("INT", "5") VALUES("3,'fixed'")) "," NODE(
                   "2", "EmptyLatentImage",
                   INPUTS(WIDGET("width", "INT", "5")) VALUES("8,8,1")) "," NODE("9", "S", ""),
               "[5,1,0,2,0,'INT']",
               SUBS("{'id':'S','inputs':[{'name':'w','linkIds':[1]}],'nodes':[" NODE(
                   "4", "EmptyLatentImage",
                   INPUTS(IN("width", "INT", "1"))
                       VALUES("8,8,1")) "],'links':[" L("1", "-10", "0", "4", "0") "]}")),
          { "2.width=72", "9:4.width=72", "9:4.height=72" } },
    };

static const struct flow *now;
static char *json, *want, *changed; // the file, its API form, and the file after what is set

static nino_graph *load_calmly(void)
{
    const long at = oom_pause();
    nino_graph *g = nino_graph_load(json, strlen(json), "flow.json", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    oom_resume(at);
    return g;
}

static void test_load(int may_fail)
{
    nino_graph *g = nino_graph_load(json, strlen(json), "flow.json", &err);
    if (oom_passed(g ? NINO_OK : err.code, &err, may_fail)) {
        const long at = oom_pause();
        prompt_expect(g, want);
        oom.at = at;
    }
    nino_graph_destroy(&g);
}

// What cannot be set can be when there is memory again, and then the file is as if nothing had been.
static void test_set(int may_fail)
{
    nino_graph *g = load_calmly();
    for (int i = 0; i < 4 && now->sets[i]; i++)
        if (!oom_passed(nino_graph_set(g, now->sets[i], &err), &err, may_fail)) {
            oom.at = 0;
            CHECK_OK(nino_graph_set(g, now->sets[i], &err), err);
        }
    oom.at = 0;
    if (!changed)
        CHECK((changed = strdup(nino_graph_json(g, NULL))));
    CHECK_STR(nino_graph_json(g, NULL), changed);
    nino_graph_destroy(&g);
}

// So many nodes in a row that the index grows while nodes are looked for, read, or linked.
static char *row_of(int n)
{
    nino_buf b = { 0 };
    nino_buf_adds(&b, "{'nodes':[{'id':0,'type':'EmptyLatentImage','widgets_values':[8,8,1]}");
    for (int i = 1; i < n; i++)
        nino_buf_addf(&b,
                      ",{'id':%d,'type':'LatentUpscaleBy','inputs':[{'name':'samples','link':%d}],"
                      "'widgets_values':['area',2]}",
                      i, i);
    nino_buf_adds(&b, "],'links':[");
    for (int i = 1; i < n; i++)
        nino_buf_addf(&b, "%s[%d,%d,0,%d,0]", i > 1 ? "," : "", i, i - 1, i);
    nino_buf_adds(&b, "]}");
    CHECK(!b.failed);
    char *text = test_quoted(b.data);
    nino_buf_release(&b);
    return text;
}

static void rows(void)
{
    static const int n[] = { 12, 20, 36 };
    for (int i = 0; i < 3; i++) {
        json = row_of(n[i]);
        nino_graph *g = load_calmly();
        CHECK((want = strdup(nino_graph_api_json(g, NULL))));
        nino_graph_destroy(&g);
        printf("  %d nodes: %ld allocations\n", n[i], oom_each(test_load));
        free(json);
        free(want);
    }
}

int main(void)
{
    rows();
    for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
        now = &flows[i];
        json = test_quoted(now->json);
        nino_graph *g = load_calmly();
        CHECK((want = strdup(nino_graph_api_json(g, NULL))));
        nino_graph_destroy(&g);
        test_set(0);
        const long n = oom_each(test_load);
        printf("  %s: %ld allocations, %ld of changes\n", now->name, n, oom_each(test_set));
        fflush(stdout);
        free(json);
        free(want);
        free(changed);
        changed = NULL;
    }
    return 0;
}
