// Values changed in the editor's form, a row each: what the file reads afterwards, that the API form says the same, and
// what is refused, which changes nothing.
#include "core/workflow/workflow.h"
#include "tests/prompt.h"

static nino_error err;

static nino_graph *load(const char *json)
{
    nino_graph *g = nino_graph_load(json, strlen(json), "flow.json", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    return g;
}

#define ONE(type, rest) "{'nodes':[{'id':1,'type':'" type "'" rest "}],'links':[]}"
#define SAMPLER(values) ONE("KSampler", ",'widgets_values':" values)
#define LATENT(rest) ONE("EmptyLatentImage", rest)
// a number node 2 whose link 5 goes to the width of node 1
#define FED(link, outputs, links)                                                                  \
    "{'nodes':[{'id':1,'type':'EmptyLatentImage','inputs':[{'name':'width','type':'INT','link':"   \
    "" link "}],'widgets_values':" outputs "],'links':[" links "]}"
#define FROM(values, outputs)                                                                      \
    values "},{'id':2,'type':'PrimitiveInt'" outputs ",'widgets_values':[3]}"
#define LINK "[5,2,0,1,0,'INT']"

// a value that an instance keeps for a node inside, and for an input whose name there is another
#define KEEPS(values)                                                                              \
    "{'nodes':[{'id':9,'type':'S','properties':{'proxyWidgets':[['-1','method'],['4','scale_by']"  \
    "]}," values "}],'links':[],'definitions':{'subgraphs':[{'id':'S','inputs':[{'name':'method'," \
    "'linkIds':[1]}],'nodes':[{'id':4,'type':'LatentUpscaleBy','inputs':[{'name':"                 \
    "'upscale_method','link':1,'widget':{'name':'upscale_method'}}],'widgets_values':['area',"     \
    "1.5]}],'links':[{'id':1,'origin_id':-10,'origin_slot':0,'target_id':4,'target_slot':0}]}]}}"
#define BOTH(method, by)                                                                           \
    KEEPS("'widgets_values':[" method "," by "],'widgets_values_named':{'scale_by':" by            \
          ",'upscale_method':1,'method':" method "}")
// what a number node that is no node gives, with names beside it
#define PRIMITIVE(v)                                                                               \
    "{'nodes':[{'id':1,'type':'EmptyLatentImage','inputs':[{'name':'width','type':'INT','link':5}" \
    "],'widgets_values':[8,8,1]},{'id':2,'type':'PrimitiveNode','widgets_values':[" v              \
    ",'fixed'],'widgets_values_named':{'value':" v ",'control_after_generate':'fixed'}}],"         \
    "'links':[" LINK "]}"

// The file, what is set, and the file then; or NULL and what the refusal says.
static const char *const rows[][4] = {
    // what follows a seed is kept where it is one of its controls, and else written
    { SAMPLER("[5,'randomize']"), "1.steps=3", SAMPLER("[5, 'randomize', 3]") },
    { SAMPLER("[5]"), "1.steps=3", SAMPLER("[5, 'fixed', 3]") },
    { SAMPLER("[5,20]"), "1.cfg=2", SAMPLER("[5, 'fixed', 20, 2]") },
    { ONE("KSampler", ""), "1.seed=7", ONE("KSampler", ",'widgets_values':[7, 'fixed']") },
    { ONE("LoadImage", ""), "1.image=b.png",
      ONE("LoadImage", ",'widgets_values':['b.png', 'image']") },
    { SAMPLER("[5,'other']"), "1.cfg=2", SAMPLER("[5, 'fixed', 'other', 2]"), NULL },
    { ONE("EmptyLatentImage", ",'inputs':[{'name':'gone','widget':{'name':'gone'}},{'name':'width',"
                              "'widget':{'name':'width'}}],'widgets_values':[5,64]"),
      "1.height=72", NULL, "the file holds another version of EmptyLatentImage" },
    // the names say what the list says
    { LATENT(",'widgets_values':[64,32,1],'widgets_values_named':{'width':64,'height':32}"),
      "1.width=72",
      LATENT(",'widgets_values':[72,32,1],'widgets_values_named':{'width':72,'height':32}") },
    { LATENT(",'widgets_values':[64],'widgets_values_named':{'height':8}"), "1.height=72",
      LATENT(",'widgets_values':[72],'widgets_values_named':{'height':72}") },
    { LATENT(",'widgets_values_named':{'width':64}"), "1.width=72",
      LATENT(",'widgets_values_named':{'width':72}") },
    { BOTH("'bilinear'", "2"), "9:4.scale_by=3", BOTH("'bilinear'", "3") },
    { BOTH("'bilinear'", "2"), "9:4.upscale_method=bicubic", BOTH("'bicubic'", "2") },
    { KEEPS("'widgets_values':{'scale_by':2},'widgets_values_named':{'scale_by':2}"),
      "9:4.scale_by=3",
      KEEPS("'widgets_values':{'scale_by':3},'widgets_values_named':{'scale_by':3}") },
    { KEEPS("'widgets_values_named':{'scale_by':2}"), "9:4.scale_by=3",
      KEEPS("'widgets_values_named':{'scale_by':3}") },
    { PRIMITIVE("3"), "1.width=72", PRIMITIVE("72") },
    // a link that is cut is taken from whatever its origin lists
    { FED("5", FROM("[8,8,1]", ",'outputs':[{'links':[null,'x',5,6]}]"), LINK), "1.width=72",
      FED("null", FROM("[72,8,1]", ",'outputs':[{'links':[null,'x',6]}]"), "") },
    { FED("5", FROM("[8,8,1]", ",'outputs':[{'links':[6]}]"), LINK), "1.width=72",
      FED("null", FROM("[72,8,1]", ",'outputs':[{'links':[6]}]"), "") },
    { FED("5", FROM("[8,8,1]", ",'outputs':[{'links':{'a':5}}]"), LINK), "1.width=72",
      FED("null", FROM("[72,8,1]", ",'outputs':[{'links':{'a':5}}]"), "") },
    { FED("5", FROM("[8,8,1]", ""), LINK), "1.width=72", FED("null", FROM("[72,8,1]", ""), "") },
    // what is given to every open input cannot be cut
    { "{'nodes':[{'id':4,'type':'Seed Everywhere','widgets_values':[5,'fixed']},{'id':5,'type':"
      "'KSampler','inputs':[{'name':'seed','type':'INT','link':null,'widget':{'name':'seed'}}],"
      "'widgets_values':[1,'fixed',20,8,'euler','simple',1]}],'links':[]}",
      "5.seed=7", NULL, "node 4 gives it to all open inputs of its kind" },
    // a choice brings other values along: those that are there would be taken for them
    { ONE("ResizeImageMaskNode", ",'widgets_values':['scale dimensions',8,8,'center','area']"),
      "1.resize_type=scale by multiplier", NULL, "other values depend on the choice" },
    { ONE("ResizeImageMaskNode", ",'widgets_values':['scale dimensions',8,8,'center','area']"),
      "1.resize_type.height=9",
      ONE("ResizeImageMaskNode", ",'widgets_values':['scale dimensions',8,9,'center','area']"),
      NULL },
    // names of nodes with points in them
    { ONE("EmptyLatentImage", ",'title':'a.b','widgets_values':[8,8,1]"), "a.b.width=72",
      ONE("EmptyLatentImage", ",'title':'a.b','widgets_values':[72,8,1]"), NULL },
    { ONE("EmptyLatentImage", ",'title':'a.b','widgets_values':[8,8,1]"), "a.c.width=72", NULL,
      "no node has this id" },
    { "{'nodes':[{'id':1,'type':'EmptyLatentImage'},{'id':2,'type':'EmptyLatentImage'}],'links':[]"
      "}",
      "EmptyLatentImage.x.y=72", NULL, "several nodes have this name" },
    { "{'nodes':[{'id':1,'type':'X','title':'A.b'},{'id':2,'type':'X','title':'A.b'},{'id':3,'type'"
      ":"
      "'X','title':'A'}],'links':[]}",
      "A.b.width=72", NULL, "several nodes have this name" },
    { ONE("ResizeImageMaskNode", ",'widgets_values':['scale dimensions',8,8,'center','area']"),
      "1.resize_type=scale dimensions",
      ONE("ResizeImageMaskNode", ",'widgets_values':['scale dimensions',8,8,'center','area']"),
      NULL },
};

static void change(const char *const *row)
{
    char *before = test_quoted(row[0]), *want = test_quoted(row[2] ? row[2] : row[0]);
    nino_graph *g = load(before);
    err = (nino_error){ 0 };
    const nino_status st = nino_graph_set(g, row[1], &err);
    if (!st != !row[3] || (st && !strstr(err.msg, row[3])))
        fprintf(stderr, "%s: %s: %s\n", row[1], err.where, err.msg);
    CHECK(!st == !row[3] && (!st || strstr(err.msg, row[3])));
    CHECK_STR(nino_graph_json(g, NULL), want);
    nino_graph *copy = nino_graph_copy(g, &err);
    CHECK_OK(copy ? NINO_OK : err.code, err);
    prompt_expect(copy, nino_graph_api_json(g, NULL));
    nino_graph_destroy(&copy);
    nino_graph_destroy(&g);
    free(before);
    free(want);
}

// ---- one node, as the app changes it ---------------------------------------------------------

#define USE(values)                                                                                \
    "{'nodes':[{'id':57,'type':'S','inputs':[{'name':'method','link':null,'widget':{'name':"       \
    "'method'}},{'name':'scale_by','link':null,'widget':{'name':'scale_by'}}]" values "}],"        \
    "'links':[],'definitions':{'subgraphs':[{'id':'S',"                                            \
    "'inputs':[{'name':'method','linkIds':[1]},{'name':'scale_by','linkIds':[2]}],'nodes':["       \
    "{'id':4,'type':'LatentUpscaleBy','inputs':[{'name':'upscale_method','link':1,'widget':"       \
    "{'name':'upscale_method'}},{'name':'scale_by','link':2,'widget':{'name':'scale_by'}}],"       \
    "'widgets_values':['bilinear',1.5]}],'links':[{'id':1,'origin_id':-10,'origin_slot':0,"        \
    "'target_id':4,'target_slot':0},{'id':2,'origin_id':-10,'origin_slot':1,'target_id':4,"        \
    "'target_slot':1}]}]}}"
#define GROUP                                                                                      \
    "{'nodes':[{'id':6,'type':'workflow/G','widgets_values':[7,'fixed']}],'links':[],'extra':"     \
    "{'groupNodes':{'G':{'nodes':[{'type':'RandomNoise'}],'links':[],'external':[]}}}}"

static const struct {
    const char *file;
    int node; // its number in the file
    const char *key, *json;
    bool is_control;
    const char *want, *refusal;
} singles[] = {
    { SAMPLER("[5,'randomize',20]"), 0, "seed", "'increment'", true, SAMPLER("[5,'increment',20]"),
      NULL },
    { SAMPLER("[5,20]"), 0, "seed", "'fixed'", true, NULL, "has no place for it" },
    { SAMPLER("[5]"), 0, "seed", "'fixed'", true, NULL, "has no place for it" },
    { SAMPLER("[]"), 0, "seed", "'fixed'", true, NULL, "has no place for it" },
    { GROUP, 1, "noise_seed", "8", false, NULL, "inside a group node" },
    { USE(""), 0, "scale_by", "2", false, USE(",'widgets_values':[null, 2]"), NULL },
    { USE(",'widgets_values':null"), 0, "method", "'area'", false,
      USE(",'widgets_values':['area']"), NULL },
    { USE(",'widgets_values':[null,null]"), 0, "scale_by", "2", false,
      USE(",'widgets_values':[null,2]"), NULL },
    { USE(",'widgets_values':5"), 0, "scale_by", "2", false, NULL, "not an array" },
    { SAMPLER("[5,'other']"), 0, "seed", "'fixed'", true, NULL, "has no place for it" },
    { ONE("ResizeImageMaskNode", ""), 0, "resize_type", "'scale by multiplier'", false, NULL,
      "other values depend on the choice" },
    { USE(",'widgets_values':{}"), 0, "scale_by", "2", false,
      USE(",'widgets_values':{'scale_by': 2}"), NULL },
    { USE(""), 0, "nothing", "2", false, NULL, "no such widget" },
    { LATENT(",'widgets_values':[64,32,1],'widgets_values_named':{'nothing':1}"), 0, "nothing", "2",
      false, NULL, "no such widget" }, // nor is the name changed
};

static void change_one(size_t i)
{
    char *before = test_quoted(singles[i].file), *json = test_quoted(singles[i].json);
    char *want = test_quoted(singles[i].want ? singles[i].want : singles[i].file);
    nino_graph *g = load(before);
    err = (nino_error){ 0 };
    CHECK(g->ui && g->ui->n_nodes > singles[i].node);
    const nino_status st = nino_ui_set_widget(g->ui, singles[i].node, singles[i].key, json,
                                              singles[i].is_control, &err);
    if (!st != !singles[i].refusal || (st && !strstr(err.msg, singles[i].refusal)))
        fprintf(stderr, "row %zu: %s: %s\n", i, err.where, err.msg);
    CHECK(!st == !singles[i].refusal && (!st || strstr(err.msg, singles[i].refusal)));
    CHECK_STR(nino_graph_json(g, NULL), want);
    nino_graph_destroy(&g);
    free(before);
    free(json);
    free(want);
}

int main(void)
{
    for (size_t i = 0; i < sizeof(singles) / sizeof(singles[0]); i++)
        change_one(i);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        change(rows[i]);
    return 0;
}
