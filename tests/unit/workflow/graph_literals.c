// Values in the place of links, and which types go together: a row each.
#include "core/node/value.h"
#include "core/workflow/workflow.h"
#include "tests/test.h"

static nino_error err;

static void types(void)
{
    static const struct {
        const char *given, *wanted;
        bool agree;
    } t[] = {
        { "*", "IMAGE", true },       { "IMAGE", "*", true },
        { "STRING", "COMBO", true },  { "COMBO", "STRING", true },
        { "COMBO", "INT", false },    { "INT", "COMBO", false },
        { "STRING", "STRING", true }, { "INT,FLOAT", "FLOAT", true },
        { "INT", "FLOAT,INT", true }, { "INT,FLOAT", "MASK,IMAGE", false },
        { "INT", "INTEGER", false },  { "", "INT", false },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
        CHECK(nino_types_agree(t[i].given, t[i].wanted) == t[i].agree);
}

static const nino_port any = { .key = "x", .type = NINO_PORT_ANY },
                       whole = { .key = "x", .type = NINO_PORT_INT },
                       real = { .key = "x", .type = NINO_PORT_FLOAT },
                       text = { .key = "x", .type = NINO_PORT_STRING },
                       yes = { .key = "x", .type = NINO_PORT_BOOLEAN },
                       list = { .key = "x", .type = NINO_PORT_ARRAY },
                       dict = { .key = "x", .type = NINO_PORT_DICT },
                       box = { .key = "x", .type = NINO_PORT_BOUNDING_BOX },
                       number = { .key = "x", .type = NINO_PORT_ANY, .types = "INT,FLOAT" };

static const struct {
    const nino_port *port;
    const char *json;
    bool taken;
    nino_port_type type; // of what it becomes
    double value;
    const char *text;
} rows[] = {
    { &any, "null", false, 0, 0, NULL },
    { &any, "true", true, NINO_PORT_BOOLEAN, 1, NULL },
    { &any, "7", true, NINO_PORT_INT, 7, NULL },
    { &any, "7.5", true, NINO_PORT_FLOAT, 7.5, NULL },
    { &any, "'a'", true, NINO_PORT_STRING, 0, "a" },
    { &any, "{'__value__':[1,2]}", true, NINO_PORT_ARRAY, 0, "[1,2]" },
    { &any, "{'__value__':null}", false, 0, 0, NULL },
    { &any, "{'a':1}", true, NINO_PORT_DICT, 0, "{\"a\":1}" },
    { &yes, "true", true, NINO_PORT_BOOLEAN, 1, NULL },
    { &yes, "false", true, NINO_PORT_BOOLEAN, 0, NULL },
    { &whole, "true", false, NINO_PORT_BOOLEAN, 1, NULL },
    { &whole, "7", true, NINO_PORT_INT, 7, NULL },
    { &whole, "7.9", true, NINO_PORT_INT, 7, NULL },
    { &whole, "1e300", true, NINO_PORT_INT, 0, NULL }, // none of 64 bits
    { &whole, "-1e300", true, NINO_PORT_INT, 0, NULL },
    { &whole, "{'__value__':5}", true, NINO_PORT_INT, 5, NULL },
    { &real, "7", true, NINO_PORT_FLOAT, 7, NULL },
    { &real, "0.5", true, NINO_PORT_FLOAT, 0.5, NULL },
    { &number, "0.5", true, NINO_PORT_FLOAT, 0.5, NULL },
    { &number, "5", true, NINO_PORT_INT, 5, NULL },
    { &number, "'5'", false, NINO_PORT_STRING, 0, "5" },
    { &text, "5", false, NINO_PORT_INT, 5, NULL },
    { &text, "'b'", true, NINO_PORT_STRING, 0, "b" },
    { &text, "{'a':1}", false, NINO_PORT_DICT, 0, "{\"a\":1}" },
    { &list, "[]", true, NINO_PORT_ARRAY, 0, "[]" },
    { &dict, "[]", false, NINO_PORT_ARRAY, 0, "[]" },
    { &dict, "{}", true, NINO_PORT_DICT, 0, "{}" },
    { &box, "{'x':1}", true, NINO_PORT_BOUNDING_BOX, 0, "{\"x\":1}" },
};

static void literals(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        nino_graph g = { 0 };
        char *json = test_quoted(rows[i].json);
        CHECK_OK(nino_json_parse(json, strlen(json), "value", NULL, &g.doc, &err), err);
        if (nino_port_takes_literal(rows[i].port, g.doc->root) != rows[i].taken)
            fprintf(stderr, "row %zu: %s\n", i, json);
        CHECK(nino_port_takes_literal(rows[i].port, g.doc->root) == rows[i].taken);
        nino_value *v = nino_port_literal(&g, rows[i].port, g.doc->root);
        CHECK(!v == !rows[i].type && (!v || v->type == rows[i].type));
        if (v && rows[i].text)
            CHECK_STR(v->u.string, rows[i].text);
        else if (v)
            CHECK((v->type == NINO_PORT_INT     ? (double) v->u.i
                   : v->type == NINO_PORT_FLOAT ? v->u.f
                                                : v->u.b) == rows[i].value);
        nino_value_unref(&v);
        nino_json_doc_destroy(&g.doc);
        free(json);
    }
}

int main(void)
{
    types();
    literals();
    return 0;
}
