// Classes known by name: the notation of their widgets, what it is made from in a run, and that the
// committed table says the same of the files it was made from.
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/node/table/known.h"
#include "core/node/node_impl.h"
#include "tests/test.h"

static nino_error err;

static void check_notation(void)
{
    const char *at = "i+seed c:size{|keep~it|scale f:size.by c:size.how{|a|b e:size.how.x}} d:text";
    nino_known_widget w;
    char name[32];
    CHECK(nino_known_count(at) >= 5);
    CHECK(nino_known_next(&at, &w) && w.kind == 'i' && w.mark == '+' && w.len == 4 && !w.options);
    CHECK(nino_known_next(&at, &w) && w.kind == 'c' && w.options);
    const char *keep = nino_known_option(w.options, "keep it");
    const char *scale = nino_known_option(w.options, "scale");
    nino_known_widget in;
    CHECK(keep && !nino_known_next(&keep, &in) && !nino_known_option(w.options, "a"));
    CHECK(scale && nino_known_next(&scale, &in) && in.kind == 'f');
    nino_known_name(&in, name, sizeof(name));
    CHECK_STR(name, "size.by");
    CHECK(nino_known_next(&scale, &in) && in.options);
    const char *b = nino_known_option(in.options, "b");
    CHECK(b && nino_known_next(&b, &in) && in.len == 10 && !nino_known_next(&b, &in));
    CHECK(!nino_known_next(&scale, &in));
    CHECK(nino_known_next(&at, &w) && w.kind == 'd' && !nino_known_next(&at, &w));
}

static char *widgets_of(const char *quoted)
{
    char *json = test_quoted(quoted);
    nino_json_doc *doc = NULL;
    CHECK_OK(nino_json_parse(json, strlen(json), "info", NULL, &doc, &err), err);
    char *text = nino_known_widgets_of(doc->root);
    CHECK(text);
    nino_json_doc_destroy(&doc);
    free(json);
    return text;
}

static void expect_widgets(const char *quoted, const char *want)
{
    char *text = widgets_of(quoted);
    CHECK_STR(text, want);
    free(text);
}

static void check_reading(void)
{
    expect_widgets("{'required': {'model': ['MODEL'], 'seed': ['INT', {'default': 0}], 'steps': "
                   "['INT', {'control_after_generate': 'fixed'}], 'on': ['BOOLEAN'], 'file': "
                   "[['a'], {'image_upload': true}]}, 'optional': {'a text': ['STRING', "
                   "{'dynamicPrompts': true}], 'in': ['FLOAT', {'forceInput': true}], 'box': "
                   "['BOUNDING_BOX'], 'any': ['FLOAT,INT', {'widgetType': 'FLOAT'}], 'sock': "
                   "['FLOAT,INT']}}",
                   "i+seed i+steps b:on e^file d:a~text x#box f:any");
    expect_widgets(
        "{'required': {'k': ['COMFY_DYNAMICCOMBO_V3', {'options': [{'key': 'no', "
        "'inputs': {'required': {}}}, {'key': 'a b', 'inputs': {'required': {'seed': "
        "['INT']}, 'optional': {'j': ['COMFY_DYNAMICCOMBO_V3', {'options': [{'key': 'x', "
        "'inputs': {'required': {'y': ['IMAGE'], 'z': ['COLOR']}}}]}]}}}]}], 'last': "
        "['FLOAT']}}",
        "c:k{|no|a~b i:k.seed c:k.j{|x s:k.j.z}} f:last");
    expect_widgets("{}", "");
    expect_widgets("{'required': 3, 'optional': {'a': 3, 'b': [], 'c': ['INT', 4]}}", "i:c");
}

// ---- files of a server -----------------------------------------------------------------------

static void write_file(const char *path, const char *quoted)
{
    char *json = test_quoted(quoted);
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(json, f) >= 0 && !fclose(f));
    free(json);
}

static void check_added(void)
{
    char path[] = "/tmp/ninodes-known-XXXXXX";
    CHECK(close(mkstemp(path)) == 0);
    write_file(path, "{'My Node': {'input': {'required': {'a': ['INT'], 'b': ['STRING']}}, "
                     "'output_node': true}, 'Rented': {'input': {}, 'api_node': true}, 'PerpNeg': "
                     "{'input': {'required': {'new': ['INT']}}}}");
    CHECK(!nino_known_class_find("My Node") && nino_known_class_find("PerpNeg"));
    CHECK_OK(nino_node_add_info(path, &err), err);
    const nino_known_class *k = nino_known_class_find("My Node");
    CHECK(k && k->flags == NINO_KNOWN_OUTPUT);
    CHECK_STR(k->widgets, "i:a s:b");
    CHECK(nino_known_class_find("Rented")->flags == NINO_KNOWN_PAID);
    CHECK_STR(nino_known_class_find("PerpNeg")->widgets, "i:new");
    CHECK(nino_known_class_find("KSampler") && !nino_known_class_find("my node"));
    CHECK(nino_node_is_known_unsupported("My Node"));
    // a second file adds; what is no such answer is refused, and costs nothing
    write_file(path, "{'Another': {'input': {}}, 'My Node': {'input': {}}}");
    CHECK_OK(nino_node_add_info(path, &err), err);
    CHECK(nino_known_class_find("Another"));
    CHECK_STR(nino_known_class_find("My Node")->widgets, "i:a s:b");
    write_file(path, "{'1': {'class_type': 'KSampler'}}");
    CHECK(nino_node_add_info(path, &err) == NINO_ERR_FORMAT && strstr(err.msg, "/object_info"));
    write_file(path, "[");
    CHECK(nino_node_add_info(path, &err) == NINO_ERR_FORMAT);
    unlink(path);
    CHECK(nino_node_add_info(path, &err) == NINO_ERR_IO || err.code == NINO_ERR_MISSING);
    CHECK(nino_known_class_find("My Node"));
}

// ---- the committed table ---------------------------------------------------------------------

static const nino_known_class *in_table(const char *name)
{
    size_t n;
    const nino_known_class *all = nino_known_classes(&n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(all[i].name, name))
            return &all[i];
    return NULL;
}

static int compare_file(const char *folder, const char *name)
{
    char path[600];
    char *text = NULL;
    size_t len = 0;
    int n = 0;
    nino_json_doc *doc = NULL;
    snprintf(path, sizeof(path), "%s/../spec/models/%s", folder, name);
    if (nino_file_read(path, 16 << 20, false, &text, &len, &err))
        return 0;
    CHECK_OK(nino_json_parse(text, len, path, NULL, &doc, &err), err);
    for (const nino_json *c = doc->root->child; c; c = c->next, n++) {
        const nino_known_class *k = in_table(c->key);
        char *widgets = nino_known_widgets_of(nino_json_get(c, "input"));
        if (!k || strcmp(k->widgets, widgets) != 0)
            fprintf(stderr, "%s: %s\n", c->key, widgets);
        CHECK(k);
        CHECK_STR(k->widgets, widgets);
        free(widgets);
    }
    nino_json_doc_destroy(&doc);
    free(text);
    return n;
}

static void check_table(void)
{
    CHECK(in_table("KlingTextToVideoNode") || in_table("ByteDanceImageNode"));
    CHECK(in_table("ByteDanceImageNode")->flags == NINO_KNOWN_PAID);
    CHECK(in_table("VHS_VideoCombine")->flags == NINO_KNOWN_OUTPUT);
    int n_paid = 0;
    size_t n_all;
    const nino_known_class *all = nino_known_classes(&n_all);
    for (size_t i = 0; i < n_all; i++)
        n_paid += all[i].flags == NINO_KNOWN_PAID;
    CHECK(n_all == 1557 && n_paid == 251);
    CHECK_STR(all[n_all - 1].name, "wanBlockSwap"); // none was cut off
    const char *folder = test_assets();
    const int n = !folder ? 0
                          : compare_file(folder, "object_info_2026.json") +
                                compare_file(folder, "object_info_custom_2026.json");
    if (!n)
        test_skip_part("no object_info_2026.json to compare with");
    else
        printf("  %d classes compared with object_info_2026.json and that of packs\n", n);
}

int main(void)
{
    check_notation();
    check_reading();
    check_table();
    check_added();
    return 0;
}
