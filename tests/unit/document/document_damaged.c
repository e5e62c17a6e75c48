// Documents whose files say odd things: positions, flags, modes and values that are none, numbers of nodes and links that
// were made up. What is read of them, and what a change writes then.
#include "tests/document.h"

#include <math.h>

static nino_document *load_quoted(const char *quoted)
{
    char *json = test_quoted(quoted);
    nino_document *d = load(json);
    free(json);
    return d;
}

static void has(nino_document *d, const char *quoted)
{
    char *part = test_quoted(quoted);
    if (!strstr(text_of(d), part))
        fprintf(stderr, "%s is not in\n%s\n", part, text_of(d));
    CHECK(strstr(text_of(d), part));
    free(part);
}

// ---- one node --------------------------------------------------------------------------------

static void check_places(void)
{
    static const struct {
        const char *pos;
        double x, y;
    } rows[] = {
        { "[1.5,-2]", 1.5, -2 },   { "{'0':3,'1':4}", 3, 4 }, { "[1]", 0, 0 },
        { "[1,'x']", 0, 0 },       { "['x',1]", 0, 0 },       { "[NaN,1]", 0, 0 },
        { "[1,-Infinity]", 0, 0 }, { "[2e9,1]", 0, 0 },       { "[1,-2e9]", 0, 0 },
        { "{'0':3}", 0, 0 },       { "null", 0, 0 },          { "7", 0, 0 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char file[200];
        snprintf(file, sizeof(file), "{'nodes':[{'id':1,'type':'VAELoader','pos':%s}],'links':[]}",
                 rows[i].pos);
        nino_document *d = load_quoted(file);
        if (node(d, "1")->x != rows[i].x || node(d, "1")->y != rows[i].y)
            fprintf(stderr, "%s: %g %g\n", rows[i].pos, node(d, "1")->x, node(d, "1")->y);
        CHECK(node(d, "1")->x == rows[i].x && node(d, "1")->y == rows[i].y);
        nino_document_destroy(&d);
    }
    // what a program hands over that is no place
    nino_document *d = load_quoted("{'nodes':[],'links':[]}");
    OK(nino_document_add(d, "VAELoader", NAN, 1e300, NULL, &err));
    has(d, "[0, 1000000000]");
    OK(nino_document_add(d, "VAELoader", -INFINITY, -1e300, NULL, &err));
    has(d, "[0, -1000000000]");
    nino_document_destroy(&d);
}

static void check_flags(void)
{
    static const struct {
        const char *flags;
        bool is_collapsed;
    } rows[] = {
        { "{}", false },   { "{'collapsed':true}", true }, { "{'collapsed':false}", false },
        { "null", false }, { "{'collapsed':1}", true },    { "{'collapsed':0}", false },
        { "[]", false },   { "{'collapsed':'x'}", false }, { "{'collapsed':null}", false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char file[200];
        snprintf(file, sizeof(file),
                 "{'nodes':[{'id':1,'type':'VAELoader','flags':%s}],'links':[]}", rows[i].flags);
        nino_document *d = load_quoted(file);
        CHECK(node(d, "1")->is_collapsed == rows[i].is_collapsed);
        nino_document_destroy(&d);
    }
}

// Values of a class that nobody knows are shown as what they are; notes and primitives have one.
static void check_values(void)
{
    static const struct {
        const char *type, *values;
        int n;
        nino_doc_widget_kind kind; // of the last one
        const char *text, *control;
    } rows[] = {
        { "Pack", "{'a':'x'}", 1, NINO_WIDGET_STRING, "x", NULL },
        { "Pack", "{'a':true}", 1, NINO_WIDGET_BOOL, "true", NULL },
        { "Pack", "{'a':1.5}", 1, NINO_WIDGET_FLOAT, "1.5", NULL },
        { "Pack", "{'a':null}", 1, NINO_WIDGET_OTHER, "null", NULL },
        { "Note", "['hello']", 1, NINO_WIDGET_STRING, "hello", NULL },
        { "Note", "[]", 1, NINO_WIDGET_STRING, "", NULL },
        { "Note", "null", 1, NINO_WIDGET_STRING, "", NULL },
        { "Note", "'bare'", 1, NINO_WIDGET_STRING, "", NULL },
        { "PrimitiveNode", "[]", 0, 0, NULL, NULL },
        { "PrimitiveNode", "{'a':1}", 0, 0, NULL, NULL },
        { "PrimitiveNode", "[7]", 1, NINO_WIDGET_FLOAT, "7", NULL },
        { "PrimitiveNode", "[7,'increment']", 1, NINO_WIDGET_FLOAT, "7", "increment" },
        { "PrimitiveNode", "[7,'other']", 1, NINO_WIDGET_FLOAT, "7", "fixed" },
        { "PrimitiveNode", "[7,8]", 1, NINO_WIDGET_FLOAT, "7", NULL },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char file[200];
        snprintf(file, sizeof(file),
                 "{'nodes':[{'id':1,'type':'%s','widgets_values':%s}],'links':[]}", rows[i].type,
                 rows[i].values);
        nino_document *d = load_quoted(file);
        const nino_doc_node *n = node(d, "1");
        const nino_doc_widget *w = n->n_widgets ? &n->widgets[n->n_widgets - 1] : NULL;
        if (n->n_widgets != rows[i].n || (w && w->kind != rows[i].kind))
            fprintf(stderr, "row %zu: %d values, kind %d\n", i, n->n_widgets,
                    w ? (int) w->kind : 0);
        CHECK(n->n_widgets == rows[i].n && (!w || w->kind == rows[i].kind));
        if (w)
            CHECK_STR(w->text, rows[i].text);
        CHECK(!w || !w->control == !rows[i].control);
        if (w && w->control)
            CHECK_STR(w->control, rows[i].control);
        nino_document_destroy(&d);
    }
}

// A note whose values are none of the editor's can be written in all the same.
static void check_notes(void)
{
    static const char *const values[] = { "", ",'widgets_values':null", ",'widgets_values':'bare'",
                                          ",'widgets_values':{'a':1}", ",'widgets_values':[]" };
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char file[200];
        snprintf(file, sizeof(file), "{'nodes':[{'id':1,'type':'Note'%s}],'links':[]}", values[i]);
        nino_document *d = load_quoted(file);
        char *before = kept_text(d);
        OK(nino_document_set_text(d, "1", "text", "said", &err));
        CHECK_STR(node(d, "1")->widgets[0].text, "said");
        has(d, "'widgets_values':['said']");
        check_undo(d, before);
        free(before);
        nino_document_destroy(&d);
    }
}

// A mode is that of a run, too: 2 is muted, 4 bypassed, and a number that no mode is neither.
static void check_modes(void)
{
    static const struct {
        const char *mode;
        int is;
    } rows[] = { { "0", 0 }, { "2", 2 }, { "4", 4 }, { "4294967298", 0 }, { "'2'", 0 } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char file[200];
        snprintf(file, sizeof(file), "{'nodes':[{'id':1,'type':'VAELoader','mode':%s}],'links':[]}",
                 rows[i].mode);
        nino_document *d = load_quoted(file);
        if (node(d, "1")->mode != rows[i].is)
            fprintf(stderr, "%s: %d\n", rows[i].mode, node(d, "1")->mode);
        CHECK(node(d, "1")->mode == rows[i].is);
        nino_document_destroy(&d);
    }
}

// ---- numbers that come next ------------------------------------------------------------------

static void check_ids(void)
{
    static const struct {
        const char *top, *nodes, *next; // next: the id of a node that is added
    } rows[] = {
        { "", "", "1" },
        { "'last_node_id':7,", "", "8" },
        { "'last_node_id':'7',", "", "8" },
        { "'last_node_id':'x',", "", "1" },
        { "'last_node_id':-5,", "", "1" },
        { "'last_node_id':9223372036854775807,", "", "1" },
        { "'state':{'lastNodeId':9},", "", "10" },
        { "'state':[9],", "", "1" },
        { "'last_node_id':3,'state':{'lastNodeId':9},", "", "10" },
        { "'last_node_id':3,", "{'id':5,'type':'VAELoader'}", "6" },
        { "'last_node_id':3,", "{'id':'five','type':'VAELoader'}", "4" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char file[300], id[32] = "";
        snprintf(file, sizeof(file), "{%s'nodes':[%s],'links':[]}", rows[i].top, rows[i].nodes);
        nino_document *d = load_quoted(file);
        char *before = kept_text(d);
        OK(nino_document_add(d, "VAELoader", 0, 0, id, &err));
        CHECK_STR(id, rows[i].next);
        check_undo(d, before);
        free(before);
        nino_document_destroy(&d);
    }
    // a link does not take the number of one that hangs in the air
    nino_document *d = load_quoted(
        "{'nodes':[{'id':1,'type':'EmptyLatentImage','outputs':[{'name':'LATENT','type':'LATENT',"
        "'links':null}]},{'id':2,'type':'SaveLatent','inputs':[{'name':'samples','type':'LATENT',"
        "'link':null}]}],'links':[],'floatingLinks':[{'id':30}]}");
    OK(nino_document_connect(d, 0, 0, 1, 0, &err));
    has(d, "'link':31");
    has(d, "31, 1, 0, 2, 0, 'LATENT'");
    nino_document_destroy(&d);
}

// ---- whole files -------------------------------------------------------------------------------

// What is JSON is a file that can be saved where it was; what holds a workflow beside other things is not.
static void check_origins(void)
{
    static const char ui[] = "\n{\"nodes\": [], \"links\": []}";
    static const char api[] = "{\"1\": {\"class_type\": \"EmptyImage\", \"inputs\": {}}}";
    char text[4096];
    nino_document *d = load(ui);
    CHECK(nino_document_origin(d) == NINO_DOCUMENT_UI);
    nino_document_destroy(&d);
    snprintf(text, sizeof(text), "\xef\xbb\xbf%s", api);
    d = load(text);
    CHECK(nino_document_origin(d) == NINO_DOCUMENT_API);
    // while several changes become one, the file is what they made of it so far
    nino_document_begin(d, "Two");
    OK(nino_document_set_text(d, "1", "width", "72", &err));
    CHECK(strstr(nino_document_json(d, NULL, &err), "\"width\": 72"));
    nino_document_cancel(d);
    CHECK_STR(nino_document_json(d, NULL, &err), text);
    nino_document_destroy(&d);
    // a header of 2592 bytes: its length is a blank, a line feed and zeros
    enum { HEADER = 0x0a20 };
    static const char head[] = "{\"__metadata__\": {\"prompt\": \"{\\\"1\\\": {\\\"class_type\\\": "
                               "\\\"EmptyImage\\\"}}\"}}";
    memset(text, ' ', sizeof(text));
    memcpy(text, " \n\0\0\0\0\0\0", 8);
    memcpy(text + 8, head, sizeof(head) - 1);
    d = nino_document_load(text, 8 + HEADER, "x.latent", &err);
    OK(d ? NINO_OK : err.code);
    CHECK(nino_document_origin(d) == NINO_DOCUMENT_IMPORT && nino_document_n_nodes(d) == 1);
    nino_document_destroy(&d);
}

// Only instances of subgraphs can be gone into.
static void check_entering(void)
{
    nino_document *d = load_quoted("{'nodes':[{'id':1,'type':'workflow/G'},{'id':2,'type':'Note'}],"
                                   "'links':[],'extra':{'groupNodes':{'G':{'nodes':[]}}}}");
    static const char *const ids[] = { "1", "2", "3" };
    for (int i = 0; i < 3; i++)
        CHECK(nino_document_enter(d, ids[i], &err) == NINO_ERR_ARG && !nino_document_depth(d) &&
              strstr(err.msg, "not a subgraph"));
    CHECK(!nino_document_level_name(d, 0) && !nino_document_level_id(d, -1));
    OK(nino_document_leave(d, 3, &err));
    nino_document_destroy(&d);
}

// Inputs, reroutes and values shown from inside that say less, or the same twice.
static void check_parts(void)
{
    nino_document *d = load_quoted(
        "{'nodes':[{'id':1,'type':'Pack','title':'','inputs':[{'name':'a','shape':7},{'name':'b',"
        "'shape':3},{'name':'c','shape':'x'}]},{'id':2,'type':'Reroute','inputs':[{'name':'',"
        "'type':'*','link':6}],'outputs':[{'type':'*'}]},{'id':3,'type':'Reroute','inputs':[{'name'"
        ":"
        "'','type':'*','link':5}]},{'id':4,'type':'Reroute'}],'links':[[5,2,0,3,0,'*'],[6,2,0,2,0,"
        "'*']],'extra':{'reroutes':[{'id':1,'parentId':2,'pos':[0,0]},{'id':2,'parentId':1,'pos':["
        "0,"
        "0]},{'id':3},{'pos':[0,0]}],'linkExtensions':[{'id':5,'parentId':1}]}}");
    const nino_doc_node *n = node(d, "1");
    CHECK_STR(n->title, "Pack");
    CHECK(n->inputs[0].is_optional && !n->inputs[1].is_optional && !n->inputs[2].is_optional);
    CHECK(nino_document_n_reroutes(d) == 2); // without an id or a place there is none
    int most = 0;
    for (int i = 0; i < nino_document_n_links(d); i++) {
        const int bends = nino_document_link(d, i)->n_reroutes;
        most = bends > most ? bends : most;
    }
    CHECK(most == 256); // they name each other in a circle
    nino_document_destroy(&d);
    // a value of its own, and one from inside of the same name
    d = load_quoted(
        "{'nodes':[{'id':9,'type':'S','properties':{'proxyWidgets':[['-1','scale_by'],"
        "['4','scale_by'],['4','none']]},'widgets_values':[2,3]}],'links':[],'definitions'"
        ":{'subgraphs':[{'id':'S','inputs':[{'name':'scale_by'}],'nodes':[{'id':4,'type':"
        "'LatentUpscaleBy','widgets_values':['area',1.5]}],'links':[]}]}}");
    n = node(d, "9");
    CHECK(n->n_widgets == 2);
    CHECK_STR(n->widgets[0].text, "2");
    CHECK_STR(n->widgets[1].name, "4:scale_by");
    CHECK_STR(n->widgets[1].text, "3");
    nino_document_destroy(&d);
}

// What an output lists of its links may be anything.
static void check_cutting(void)
{
    static const char *const lists[][2] = { { "[null,{},5,6]", "[null,{},6]" },
                                            { "{'a':5}", "{'a':5}" },
                                            { "5", "5" },
                                            { "null", "null" } };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        char file[400], want[100];
        snprintf(
            file, sizeof(file),
            "{'nodes':[{'id':1,'type':'EmptyLatentImage','outputs':[{'type':'LATENT','links':%s}"
            "]},{'id':2,'type':'SaveLatent','inputs':[{'name':'samples','type':'LATENT','link':5"
            "}]}],'links':[[5,1,0,2,0,'LATENT']]}",
            lists[i][0]);
        snprintf(want, sizeof(want), "'links':%s}", lists[i][1]);
        nino_document *d = load_quoted(file);
        OK(nino_document_disconnect(d, nino_document_find(d, "2"), 0, &err));
        has(d, want);
        has(d, "'links':[]}");
        CHECK(nino_document_n_links(d) == 0);
        nino_document_destroy(&d);
    }
}

// What is not there cannot be changed, and nothing else is.
static void check_none(void)
{
    nino_document *d = load_quoted("{'nodes':[{'id':1,'type':'Note'}],'links':[]}");
    char *before = kept_text(d);
    CHECK(nino_document_set_text(d, "9", "text", "x", &err) == NINO_ERR_UNKNOWN);
    CHECK(nino_document_set_text(d, "1", "other", "x", &err) == NINO_ERR_UNKNOWN);
    CHECK(nino_document_set_control(d, "1", "text", "fixed", &err) == NINO_ERR_ARG);
    CHECK(nino_document_enter(d, "1", &err) && err.msg[0]);
    CHECK(!nino_document_node(d, nino_document_find(d, "9")));
    CHECK_STR(text_of(d), before);
    OK(nino_document_set_text(d, "1", "text", "said", &err));
    has(d, "'widgets_values':['said']");
    free(before);
    nino_document_destroy(&d);
    nino_document_destroy(&d);
    nino_document_destroy(NULL);
}

int main(void)
{
    check_places();
    check_flags();
    check_values();
    check_notes();
    check_modes();
    check_ids();
    check_none();
    check_origins();
    check_entering();
    check_parts();
    check_cutting();
    return 0;
}
