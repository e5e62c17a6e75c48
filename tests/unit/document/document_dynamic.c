// Inputs that come and go in the editor: a row has a free input behind the last connected one, a
// choice brings its own and takes them away, and workflows in API form show what they use.
#include "core/workflow/workflow.h"
#include "tests/prompt.h"
// after it: this one has an error for the whole file
#include "tests/document.h"

static int input_of(const nino_document *d, const char *id, const char *name)
{
    const nino_doc_node *n = node(d, id);
    for (int i = 0; i < n->n_inputs; i++)
        if (!strcmp(n->inputs[i].name, name))
            return i;
    return -1;
}

static nino_document *empty(void)
{
    return load("{\"last_node_id\": 0, \"last_link_id\": 0, \"nodes\": [], \"links\": [], "
                "\"groups\": [], \"config\": {}, \"extra\": {}, \"version\": 0.4}");
}

static void connect(nino_document *d, const char *from, const char *to, const char *name)
{
    const int slot = input_of(d, to, name);
    CHECK(slot >= 0);
    OK(nino_document_connect(d, nino_document_find(d, from), 0, nino_document_find(d, to), slot,
                             &err));
}

static void check_rows(void)
{
    char image[32], batch[32];
    nino_document *d = empty();
    OK(nino_document_add(d, "EmptyImage", 0, 0, image, &err));
    OK(nino_document_add(d, "BatchImagesNode", 400, 0, batch, &err));
    CHECK(node(d, batch)->n_inputs == 1 && input_of(d, batch, "images.image0") == 0);
    char *before = kept_text(d);
    connect(d, image, batch, "images.image0");
    CHECK(node(d, batch)->n_inputs == 2 && input_of(d, batch, "images.image1") == 1);
    check_undo(d, before);
    free(before);
    connect(d, image, batch, "images.image1");
    connect(d, image, batch, "images.image1"); // again: no more of them
    CHECK(node(d, batch)->n_inputs == 3);
    nino_document_destroy(&d);
}

static void expect_api(nino_document *d, const char *want)
{
    nino_error own = { 0 };
    const char *text = text_of(d);
    nino_graph *g = nino_graph_load(text, strlen(text), "flow.json", &own);
    CHECK_OK(g ? NINO_OK : own.code, own);
    prompt_expect(g, want);
    nino_graph_destroy(&g);
}

static void check_choices(void)
{
    char id[32], image[32];
    nino_document *d = empty();
    OK(nino_document_add(d, "ResizeImageMaskNode", 0, 0, id, &err));
    CHECK(node(d, id)->n_widgets == 5 && input_of(d, id, "resize_type.match") < 0);
    expect_api(d, "{\"1\": {\"class_type\": \"ResizeImageMaskNode\", \"inputs\": {\"resize_type\": "
                  "\"scale dimensions\", \"resize_type.width\": 512, \"resize_type.height\": 512, "
                  "\"resize_type.crop\": \"center\", \"scale_method\": \"area\"}}}");
    OK(nino_document_set_text(d, id, "resize_type.width", "640", &err));
    OK(nino_document_set_text(d, id, "scale_method", "lanczos", &err));
    char *before = kept_text(d);
    OK(nino_document_set_text(d, id, "resize_type", "scale width", &err));
    check_undo(d, before);
    free(before);
    // what both have keeps its value
    expect_api(d, "{\"1\": {\"class_type\": \"ResizeImageMaskNode\", \"inputs\": {\"resize_type\": "
                  "\"scale width\", \"resize_type.width\": 640, \"scale_method\": \"lanczos\"}}}");
    OK(nino_document_set_text(d, id, "resize_type", "match size", &err));
    CHECK(input_of(d, id, "resize_type.match") >= 0);
    OK(nino_document_add(d, "EmptyImage", 0, 0, image, &err));
    connect(d, image, id, "resize_type.match");
    CHECK(nino_document_n_links(d) == 1);
    OK(nino_document_set_text(d, id, "resize_type", "scale to multiple", &err));
    CHECK(input_of(d, id, "resize_type.match") < 0 && nino_document_n_links(d) == 0);
    connect(d, image, id, "input");
    CHECK(nino_document_n_links(d) == 1);
    nino_document_destroy(&d);
}

// What the file keeps by name beside the list says the same as the list after a choice.
static void check_names(void)
{
#define RESIZE(values, names)                                                                      \
    "{\"nodes\": [{\"id\": 1, \"type\": \"ResizeImageMaskNode\", \"widgets_values\": [" values     \
    "]" names "}], \"links\": []}"
    static const struct {
        const char *names, *want;
    } rows[] = {
        { ", \"widgets_values_named\": {\"resize_type\": \"scale dimensions\", "
          "\"resize_type.width\": 640, \"resize_type.height\": 480, \"resize_type.crop\": "
          "\"center\", \"scale_method\": \"area\", \"other\": 1}",
          ", \"widgets_values_named\": {\"resize_type\": \"scale by multiplier\", "
          "\"scale_method\": \"area\", \"other\": 1, \"resize_type.multiplier\": 1}" },
        { ", \"widgets_values_named\": {}",
          ", \"widgets_values_named\": {\"resize_type\": \"scale by multiplier\", "
          "\"resize_type.multiplier\": 1, \"scale_method\": \"area\"}" },
        { ", \"widgets_values_named\": [1]", ", \"widgets_values_named\": [1]" },
        { "", "" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[600], want[600];
        snprintf(text, sizeof(text),
                 RESIZE("\"scale dimensions\", 640, 480, \"center\", \"area\"", "%s"),
                 rows[i].names);
        snprintf(want, sizeof(want), RESIZE("\"scale by multiplier\", 1, \"area\"", "%s"),
                 rows[i].want);
        nino_document *d = load(text);
        OK(nino_document_set_text(d, "1", "resize_type", "scale by multiplier", &err));
        CHECK_STR(text_of(d), want);
        check_undo(d, text);
        nino_document_destroy(&d);
    }
}

// A list that fits nothing is read by the names beside it: what a choice brings is there once.
static void check_once(void)
{
    nino_document *d = load(RESIZE("\"scale by multiplier\", 2",
                                   ", \"widgets_values_named\": {\"resize_type\": "
                                   "\"scale by multiplier\", \"resize_type.multiplier\": 3, "
                                   "\"scale_method\": \"area\"}"));
    CHECK(node(d, "1")->n_widgets == 3);
    CHECK_STR(nino_doc_widget_find(node(d, "1"), "resize_type.multiplier")->text, "3");
    CHECK_STR(nino_doc_widget_find(node(d, "1"), "scale_method")->text, "area");
    nino_document_destroy(&d);
}

static void check_api_form(void)
{
    static const char api[] =
        "{\"1\": {\"class_type\": \"EmptyImage\", \"inputs\": {\"width\": 8, \"height\": 8, "
        "\"batch_size\": 1, \"color\": 0}},"
        "\"2\": {\"class_type\": \"BatchImagesNode\", \"inputs\": {\"images.image0\": [\"1\", 0], "
        "\"images.image2\": [\"1\", 0]}},"
        "\"3\": {\"class_type\": \"ResizeImageMaskNode\", \"inputs\": {\"input\": [\"2\", 0], "
        "\"resize_type\": \"scale to multiple\", \"resize_type.multiple\": 4, \"scale_method\": "
        "\"area\"}},"
        "\"4\": {\"class_type\": \"ImageCropV2\", \"inputs\": {\"image\": [\"3\", 0], "
        "\"crop_region\": {\"x\": 0, \"y\": 0, \"width\": 4, \"height\": 4}}}}";
    nino_document *d = load(api);
    // those in use, and a free one behind
    CHECK(node(d, "2")->n_inputs == 4 && input_of(d, "2", "images.image3") == 3);
    CHECK(node(d, "3")->n_widgets == 3);
    expect_api(d, api);
    nino_document_destroy(&d);
}

int main(void)
{
    check_rows();
    check_choices();
    check_names();
    check_once();
    check_api_form();
    return 0;
}
