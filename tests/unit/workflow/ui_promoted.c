// What editors of 2025 and 2026 write: values that instances of subgraphs keep, values by name,
// choices that bring values, links and ids that disagree, groups with reroutes. A document reads
// the same as a graph.
#include "core/workflow/workflow.h"
#include "tests/prompt.h"
#include <ninodes/document.h>

static nino_error err;

// `want`: the API form. Both are written with ' for ".
static void expect(const char *quoted, const char *quoted_want)
{
    char *json = test_quoted(quoted), *want = test_quoted(quoted_want);
    nino_graph *g = nino_graph_load(json, strlen(json), "flow.json", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    prompt_expect(g, want);
    nino_document *d = nino_document_load(json, strlen(json), "flow.json", &err);
    CHECK_OK(d ? NINO_OK : err.code, err);
    const char *api = nino_document_api_json(d, NULL, &err);
    CHECK(api);
    nino_graph *same = nino_graph_load(api, strlen(api), "document", &err);
    CHECK_OK(same ? NINO_OK : err.code, err);
    prompt_expect(same, want);
    nino_graph_destroy(&same);
    nino_document_destroy(&d);
    nino_graph_destroy(&g);
    free(json);
    free(want);
}

// ---- instances -------------------------------------------------------------------------------

// A subgraph whose inputs feed the width and the height of one node and the batch of another, in
// an order that is not that of the instance's inputs; its third node shows a value of its own.
#define IN(name, k)                                                                                \
    "{'name': '" name "', 'type': 'INT', 'link': " k ", 'widget': {'name': '" name "'}}"
#define OPEN(name) IN(name, "null")
#define LATENT(id, inputs)                                                                         \
    "{'id': " id ", 'type': 'EmptyLatentImage', 'inputs': [" inputs                                \
    "], 'widgets_values': [8, 16, 1]}"
#define DEFINITION                                                                                 \
    "{'id': 'S', 'name': 'Part', 'inputNode': {'id': -10}, 'outputNode': {'id': -20}, 'inputs': "  \
    "[{'name': 'width', 'type': 'INT', 'linkIds': [1]}, {'name': 'height', 'type': 'INT', "        \
    "'linkIds': [2]}, {'name': 'batch_size', 'type': 'INT', 'linkIds': [3]}], 'outputs': [], "     \
    "'nodes': [" LATENT("4", IN("width", "1") ", " IN("height", "2")) ", " LATENT(                 \
        "5",                                                                                       \
        IN("batch_size",                                                                           \
           "3")) ", {'id': 6, 'type': 'LatentUpscaleBy', 'widgets_values': ['bilinear', 1.5]}], "  \
                 "'links': [{'id': 1, 'origin_id': -10, 'origin_slot': 0, 'target_id': 4, "        \
                 "'target_slot': 0}, {'id': 2, 'origin_id': -10, 'origin_slot': 1, 'target_id': "  \
                 "4, "                                                                             \
                 "'target_slot': 1}, {'id': 3, 'origin_id': -10, 'origin_slot': 2, 'target_id': "  \
                 "5, "                                                                             \
                 "'target_slot': 0}]}"
#define FLOW(nodes, links, definitions)                                                            \
    "{'nodes': [" nodes "], 'links': [" links "], 'definitions': {'subgraphs': [" definitions "]}" \
    "}"
#define USE(id, inputs, more) "{'id': " id ", 'type': 'S', 'inputs': [" inputs "]" more "}"
#define PROXIES(list) ", 'properties': {'proxyWidgets': [" list "]}"
#define VALUES(list) ", 'widgets_values': [" list "]"
#define API(id, w, h, n)                                                                           \
    "'" id "': {'class_type': 'EmptyLatentImage', 'inputs': {'width': " w ", 'height': " h         \
    ", 'batch_size': " n "}}"
#define SCALE(id, by)                                                                              \
    "'" id "': {'class_type': 'LatentUpscaleBy', 'inputs': {'upscale_method': 'bilinear', "        \
    "'scale_by': " by "}}"
#define PART(id, w, h, n, by)                                                                      \
    "{" API(id ":4", w, h, "1") ", " API(id ":5", "8", "16", n) ", " SCALE(id ":6", by) "}"
#define OWN "['-1', 'batch_size'], ['6', 'scale_by'], ['-1', 'height'], ['-1', 'width']"

static void check_promoted(void)
{
    // by the place in proxyWidgets, whatever the inputs are
    expect(FLOW(USE("9", OPEN("width") ", " OPEN("height") ", " OPEN("batch_size"),
                    PROXIES(OWN) VALUES("3, null, 64, 32")),
                "", DEFINITION),
           PART("9", "32", "64", "3", "1.5"));
    expect(FLOW(USE("9", OPEN("height"), PROXIES(OWN) VALUES("3, 2.5, 64, 32")), "", DEFINITION),
           PART("9", "32", "64", "3", "2.5"));
    // what is missing or null is as inside
    expect(FLOW(USE("9", OPEN("width"), PROXIES(OWN) VALUES("3")), "", DEFINITION),
           PART("9", "8", "16", "3", "1.5"));
    expect(
        FLOW(USE("9", OPEN("width"), PROXIES(OWN) VALUES("null, null, null, 32")), "", DEFINITION),
        PART("9", "32", "16", "1", "1.5"));
    // a link beats the value
    expect(FLOW("{'id': 1, 'type': 'PrimitiveNode', 'outputs': [{'links': [7]}], "
                "'widgets_values': [128]}, " USE("9", IN("width", "7"),
                                                 PROXIES(OWN) VALUES("3, null, 64, 32")),
                "[7, 1, 0, 9, 0, 'INT']", DEFINITION),
           PART("9", "128", "64", "3", "1.5"));
    // by name, where there is nothing in the list
    expect(
        FLOW(USE("9", "", PROXIES(OWN) ", 'widgets_values_named': {'height': 24, 'scale_by': 3}"),
             "", DEFINITION),
        PART("9", "8", "24", "1", "3"));
    // what an editor could not carry over
    expect(FLOW(USE("9", "",
                    ", 'properties': {'proxyWidgets': [['-1', 'width']], "
                    "'proxyWidgetErrorQuarantine': [{'originalEntry': ['-1', 'height'], "
                    "'hostValue': 48}]}" VALUES("32")),
                "", DEFINITION),
           PART("9", "32", "48", "1", "1.5"));
    // without the list: one value an input, with or without the entries of seeds
    expect(FLOW(USE("9", OPEN("height") ", " OPEN("width"), VALUES("64, 32")), "", DEFINITION),
           PART("9", "32", "64", "1", "1.5"));
    expect(FLOW(USE("9", OPEN("height") ", " OPEN("width"), VALUES("64, 'fixed', 32")), "",
                DEFINITION),
           PART("9", "32", "64", "1", "1.5"));
}

// A text that could be an entry of a seed, where the list has one value for each input.
static void check_words(void)
{
    static const char definition[] =
        "{'id': 'S', 'name': 'Part', 'inputNode': {'id': -10}, 'outputNode': {'id': -20}, "
        "'inputs': [{'name': 'width', 'type': 'INT', 'linkIds': [1]}, {'name': 'filename_prefix', "
        "'type': 'STRING', 'linkIds': [2]}], 'outputs': [], 'nodes': [{'id': 4, 'type': "
        "'EmptyLatentImage', 'inputs': [" IN(
            "width",
            "1") "], 'outputs': [{'name': 'LATENT', "
                 "'type': 'LATENT', 'links': [3]}], 'widgets_values': [8, 16, 1]}, {'id': 5, "
                 "'type': "
                 "'SaveLatent', 'inputs': [{'name': 'samples', 'type': 'LATENT', 'link': 3}, "
                 "{'name': "
                 "'filename_prefix', 'type': 'STRING', 'link': 2, 'widget': {'name': "
                 "'filename_prefix'}}], "
                 "'widgets_values': ['x']}], 'links': [{'id': 1, 'origin_id': -10, 'origin_slot': "
                 "0, "
                 "'target_id': 4, 'target_slot': 0}, {'id': 2, 'origin_id': -10, 'origin_slot': 1, "
                 "'target_id': 5, 'target_slot': 1}, {'id': 3, 'origin_id': 4, 'origin_slot': 0, "
                 "'target_id': 5, 'target_slot': 0}]}";
    char flow[4096];
    snprintf(
        flow, sizeof(flow),
        FLOW(USE("9", OPEN("width") ", " OPEN("filename_prefix"), VALUES("64, 'fixed'")), "", "%s"),
        definition);
    expect(flow,
           "{" API("9:4", "64", "16", "1") ", '9:5': {'class_type': 'SaveLatent', 'inputs': "
                                           "{'samples': ['9:4', 0], 'filename_prefix': 'fixed'}}}");
}

// A node whose own list is too short for the widget that the instance has a value for.
static void check_short_list(void)
{
    static const char part[] = "{'id': 'S', 'name': 'Part', 'inputNode': {'id': -10}, "
                               "'outputNode': {'id': -20}, 'inputs': [], 'outputs': [], 'nodes': "
                               "[{'id': 4, 'type': 'EmptyLatentImage', 'widgets_values': [8]}], "
                               "'links': []}";
    char flow[2048];
    snprintf(flow, sizeof(flow),
             FLOW(USE("9", "", PROXIES("['4', 'height'], ['4', 'batch_size']") VALUES("48, 5")), "",
                  "%s"),
             part);
    expect(flow, "{'9:4': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 8, 'height': 48, "
                 "'batch_size': 5}}}");
}

// The same value through two levels; the outer one beats the inner one.
static void check_levels(void)
{
#define OUTER                                                                                      \
    "{'id': 'T', 'name': 'Outer', 'inputNode': {'id': -10}, 'outputNode': {'id': -20}, 'inputs': " \
    "[{'name': 'w', 'type': 'INT', 'linkIds': [1]}], 'outputs': [], 'nodes': "                     \
    "[" USE("7", IN("width", "1"),                                                                 \
            PROXIES(OWN) VALUES("2, null, null, 32")) "], 'links': [{'id': 1, 'origin_id': -10, "  \
                                                      "'origin_slot': 0, 'target_id': 7, "         \
                                                      "'target_slot': 0}]}"
#define TOP(values)                                                                                \
    "{'id': 9, 'type': 'T'" PROXIES("['-1', 'w'], ['7', 'height'], ['7', 'scale_by']")             \
        VALUES(values) "}"
    expect(FLOW(TOP("128, 256, 4"), "", DEFINITION ", " OUTER),
           PART("9:7", "128", "256", "2", "4"));
    // an input without a value has that of the instance inside, and that one the value of the node
    expect(FLOW(TOP("null, 256"), "", DEFINITION ", " OUTER), PART("9:7", "32", "256", "2", "1.5"));
    expect(FLOW("{'id': 9, 'type': 'T'}", "", DEFINITION ", " OUTER),
           PART("9:7", "32", "16", "2", "1.5"));
}

// All that one input feeds have its value, also where the instance keeps none: then it is the first one's.
static void check_shared(void)
{
    static const char part[] =
        "{'id': 'S', 'name': 'Part', 'inputNode': {'id': -10}, 'outputNode': {'id': -20}, "
        "'inputs': "
        "[{'name': 'w', 'type': 'INT', 'linkIds': [1, 2]}], 'outputs': [], 'nodes': "
        "[" LATENT("4", IN("width", "1")) ", {'id': 5, 'type': 'EmptyLatentImage', 'inputs': [" IN(
            "width", "2") "], "
                          "'widgets_values': [24, 16, 2]}], 'links': [{'id': 1, 'origin_id': -10, "
                          "'origin_slot': 0, 'target_id': 4, "
                          "'target_slot': 0}, {'id': 2, 'origin_id': -10, 'origin_slot': 0, "
                          "'target_id': 5, 'target_slot': 0}]}";
    char flow[2048];
    snprintf(flow, sizeof(flow), FLOW(USE("9", OPEN("w"), ""), "", "%s"), part);
    expect(flow, "{" API("9:4", "8", "16", "1") ", " API("9:5", "8", "16", "2") "}");
    snprintf(flow, sizeof(flow), FLOW(USE("9", OPEN("w"), VALUES("40")), "", "%s"), part);
    expect(flow, "{" API("9:4", "40", "16", "1") ", " API("9:5", "40", "16", "2") "}");
}

// The app shows and changes the value that counts, and it stays where it was.
static void check_document(void)
{
    char *json =
        test_quoted(FLOW(USE("9", OPEN("height"), PROXIES(OWN) VALUES("3, 2.5")), "", DEFINITION));
    nino_document *d = nino_document_load(json, strlen(json), "flow.json", &err);
    CHECK_OK(d ? NINO_OK : err.code, err);
    CHECK_STR(nino_document_ui_json(d, NULL), json);
    const nino_doc_node *n = nino_document_node(d, nino_document_find(d, "9"));
    CHECK(n && n->n_widgets == 4);
    CHECK_STR(nino_doc_widget_find(n, "batch_size")->text, "3");
    CHECK_STR(nino_doc_widget_find(n, "scale_by")->text, "2.5");
    CHECK_STR(nino_doc_widget_find(n, "width")->text, "8"); // as inside
    CHECK(nino_doc_widget_find(n, "width")->param);
    CHECK_OK(nino_document_set_text(d, "9", "scale_by", "3.5", &err), err);
    CHECK_OK(nino_document_set_text(d, "9", "width", "24", &err), err);
    CHECK(strstr(nino_document_ui_json(d, NULL), "[3, 3.5, null, 24]"));
    CHECK(strstr(nino_document_ui_json(d, NULL), "[\"bilinear\", 1.5]"));
    // what is no longer shown goes with its value
    CHECK_OK(nino_document_demote(d, "9", "scale_by", &err), err);
    CHECK(strstr(nino_document_ui_json(d, NULL), "\"widgets_values\": [3, null, 24]"));
    while (nino_document_undo_name(d))
        CHECK_OK(nino_document_undo(d, &err), err);
    CHECK_STR(nino_document_ui_json(d, NULL), json);
    // unpacked, the values are inside
    CHECK_OK(nino_document_unpack(d, "9", NULL, NULL, &err), err);
    CHECK(strstr(nino_document_ui_json(d, NULL), "[\"bilinear\", 2.5]"));
    CHECK(strstr(nino_document_ui_json(d, NULL), "[8, 16, 3]"));
    nino_document_destroy(&d);
    free(json);
}

// ---- values ----------------------------------------------------------------------------------

#define ONE(type, more) "{'nodes': [{'id': 1, 'type': '" type "'" more "}], 'links': []}"
#define ONE_API(type, inputs) "{'1': {'class_type': '" type "', 'inputs': {" inputs "}}}"
#define NAMED(list) ", 'widgets_values_named': {" list "}"

static void check_named(void)
{
    // of a class that nobody knows, the list counts where the two disagree
    expect(ONE("Some Pack", VALUES("5, 'fixed', 'x'")
                                NAMED("'a': 4, 'control_after_generate': 'fixed', 'b.c': 'x'")),
           ONE_API("Some Pack", "'a': 5, 'b.c': 'x'"));
    expect(ONE("Some Pack", NAMED("'a': 4, 'b': 2.5")), ONE_API("Some Pack", "'a': 4, 'b': 2.5"));
    expect(ONE("Some Pack", VALUES("5") NAMED("'a': 4, 'b': 2.5, 'upload': 'image'")),
           ONE_API("Some Pack", "'a': 4, 'b': 2.5"));
    // a list that does not fit the class
    expect(ONE("EmptyLatentImage", VALUES("'new', 64, 32, 2") NAMED(
                                       "'new': 'new', 'width': 64, 'height': 32, 'batch_size': 2")),
           ONE_API("EmptyLatentImage", "'width': 64, 'height': 32, 'batch_size': 2"));
    expect(ONE("EmptyLatentImage", VALUES("64, 32, 2") NAMED("'width': 1, 'height': 1")),
           ONE_API("EmptyLatentImage", "'width': 64, 'height': 32, 'batch_size': 2"));
}

// Names that are none: an empty object, a list, a number. What the list of values says stays as it is.
static void check_no_names(void)
{
    static const char *const none[] = { "", "{}", "[7, 8]", "5", "null", "'x'" };
    static const char *const cases[][3] = {
        { "Some Pack", "5, 'fixed', 'x'", "" },
        { "EmptyLatentImage", "64, 32, 2", "'width': 64, 'height': 32, 'batch_size': 2" },
        { "EmptyLatentImage", "'new', 64, 32, 2",
          "'width': 'new', 'height': 64, 'batch_size': 32" },
        { "ImageScaleToTotalPixels", "'lanczos', 1.6",
          "'upscale_method': 'lanczos', 'megapixels': 1.6" },
    };
    char flow[400], want[400];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (size_t k = 0; k < sizeof(none) / sizeof(none[0]); k++) {
            snprintf(
                flow, sizeof(flow),
                "{'nodes': [{'id': 1, 'type': '%s', 'widgets_values': [%s]%s%s}], 'links': []}",
                cases[i][0], cases[i][1], *none[k] ? ", 'widgets_values_named': " : "", none[k]);
            snprintf(want, sizeof(want), "{'1': {'class_type': '%s', 'inputs': {%s}}}", cases[i][0],
                     cases[i][2]);
            expect(flow, want);
        }
}

static void check_choices(void)
{
    expect(ONE("ResizeImageMaskNode", VALUES("'scale dimensions', 1280, 720, 'center', 'lanczos'")),
           ONE_API("ResizeImageMaskNode",
                   "'resize_type': 'scale dimensions', 'resize_type.width': 1280, "
                   "'resize_type.height': 720, 'resize_type.crop': 'center', "
                   "'scale_method': 'lanczos'"));
    expect(ONE("ResizeImageMaskNode", VALUES("'scale to multiple', 16, 'area'")),
           ONE_API("ResizeImageMaskNode", "'resize_type': 'scale to multiple', "
                                          "'resize_type.multiple': 16, 'scale_method': 'area'"));
    // a seed below a choice has no entry behind it
    expect(
        ONE("TextGenerate", VALUES("'p', 9, 'on', 0.7, 64, 0.95, 0.05, 1.05, 7, 0, true, false")),
        ONE_API("TextGenerate",
                "'prompt': 'p', 'max_length': 9, 'sampling_mode': 'on', "
                "'sampling_mode.temperature': 0.7, 'sampling_mode.top_k': 64, "
                "'sampling_mode.top_p': 0.95, 'sampling_mode.min_p': 0.05, "
                "'sampling_mode.repetition_penalty': 1.05, 'sampling_mode.seed': 7, "
                "'sampling_mode.presence_penalty': 0, 'thinking': true, "
                "'use_default_template': false"));
    expect(ONE("TextGenerate", VALUES("'p', 9, 'off', true, false")),
           ONE_API("TextGenerate", "'prompt': 'p', 'max_length': 9, 'sampling_mode': 'off', "
                                   "'thinking': true, 'use_default_template': false"));
    // a class that runs here, with a value of a newer version
    expect(ONE("ImageScaleToTotalPixels", VALUES("'lanczos', 1.6, 1")),
           ONE_API("ImageScaleToTotalPixels",
                   "'upscale_method': 'lanczos', 'megapixels': 1.6, 'resolution_steps': 1"));
}

// The codec has moved below the format.
static void check_save_video(void)
{
#define CODEC(inputs) ONE_API("SaveVideo", "'filename_prefix': 'v', 'format': 'mp4', " inputs)
    expect(ONE("SaveVideo", VALUES("'v', 'mp4', 'h264'")), CODEC("'codec': 'h264'"));
    expect(ONE("SaveVideo",
               ", 'inputs': [{'name': 'filename_prefix', 'type': 'STRING', 'link': null, 'widget': "
               "{'name': 'filename_prefix'}}, {'name': 'format', 'type': 'COMBO', 'link': null, "
               "'widget': {'name': 'format'}}, {'name': 'format.codec', 'type': 'COMBO', 'link': "
               "null, 'widget': {'name': 'format.codec'}}]" VALUES("'v', 'mp4', 'h264'")),
           CODEC("'codec': 'h264'"));
    expect(ONE("SaveVideo", VALUES("'v', 'mp4', 'h264', 're-encode', 20, 'auto'")),
           CODEC("'format.codec': 'h264', 'format.codec.encoding': 're-encode', "
                 "'format.codec.encoding.crf': 20, 'format.codec.encoding.color_space': 'auto'"));
}

// ---- links and ids ---------------------------------------------------------------------------

#define GIVES(id, links)                                                                           \
    "{'id': " id ", 'type': 'EmptyLatentImage', 'outputs': [{'type': 'LATENT', 'links': [" links   \
    "]}], 'widgets_values': [8, 16, 1]}"
#define TAKES(id, link)                                                                            \
    "{'id': " id ", 'type': 'SaveLatent', 'inputs': [{'name': 'samples', 'type': 'LATENT', "       \
    "'link': " link "}], 'widgets_values': ['x']}"
#define SAVED(id, from)                                                                            \
    "'" id "': {'class_type': 'SaveLatent', 'inputs': {'filename_prefix': 'x', 'samples': ['" from \
    "', 0]}}"
#define UNSAVED(id) "'" id "': {'class_type': 'SaveLatent', 'inputs': {'filename_prefix': 'x'}}"
#define PLAIN(nodes, links) "{'nodes': [" nodes "], 'links': [" links "]}"

static void check_links(void)
{
    // only the origin knows it
    expect(PLAIN(GIVES("1", "5") ", " TAKES("2", "null"), "[5, 1, 0, 2, 0, 'LATENT']"),
           "{" API("1", "8", "16", "1") ", " SAVED("2", "1") "}");
    // nobody does
    expect(PLAIN(GIVES("1", "") ", " TAKES("2", "null"), "[5, 1, 0, 2, 0, 'LATENT']"),
           "{" API("1", "8", "16", "1") ", " UNSAVED("2") "}");
    // the target has another one
    expect(PLAIN(GIVES("1", "5") ", " GIVES("3", "6") ", " TAKES("2", "6"),
                 "[5, 1, 0, 2, 0, 'LATENT'], [6, 3, 0, 2, 0, 'LATENT']"),
           "{" API("1", "8", "16", "1") ", " API("3", "8", "16", "1") ", " SAVED("2", "3") "}");
    // inside of a subgraph, from its input
    expect(FLOW("{'id': 9, 'type': 'S', 'inputs': [" OPEN("width") "]" VALUES("32") "}", "",
                "{'id': 'S', 'inputs': [{'name': 'width', 'linkIds': [1]}], 'nodes': "
                "[" LATENT("4",
                           OPEN("width")) "], 'links': [{'id': 1, 'origin_id': -10, "
                                          "'origin_slot': 0, 'target_id': 4, 'target_slot': 0}]}"),
           "{" API("9:4", "32", "16", "1") "}");
}

static void check_ids(void)
{
    // notes, and nodes whose links say which is which
    expect(
        PLAIN("{'id': 8, 'type': 'Mute / Bypass Repeater (rgthree)', 'widgets_values': [1]}", ""),
        "{}");
    expect(PLAIN("{'id': 30, 'type': 'MarkdownNote'}, {'id': 30, 'type': 'MarkdownNote'}, " GIVES(
                     "30", ""),
                 ""),
           "{" API("32", "8", "16", "1") "}");
    expect(PLAIN(GIVES("1", "5") ", " TAKES("2", "5") ", " GIVES("1", "6") ", " TAKES("2", "6"),
                 "[5, 1, 0, 2, 0, 'LATENT'], [6, 1, 0, 2, 0, 'LATENT']"),
           "{" API("1", "8", "16", "1") ", " SAVED("2", "1") ", " API(
               "3", "8", "16", "1") ", " SAVED("4", "3") "}");
}

// ---- groups ----------------------------------------------------------------------------------

// Two nodes behind one reroute; widgets are listed among the inputs, as since 2025, and one input
// is hidden.
static void check_group(void)
{
    expect(
        "{'nodes': [" GIVES(
            "1",
            "5") ", {'id': 7, 'type': 'workflow>Two', 'inputs': [{'name': "
                 "'LATENT', 'type': 'LATENT', 'link': 5}], 'widgets_values': ['area', 2, 'b', "
                 "'c']}], "
                 "'links': [[5, 1, 0, 7, 0, 'LATENT']], 'extra': {'groupNodes': {'Two': {'nodes': ["
                 "{'type': 'LatentUpscaleBy', 'index': 0, 'inputs': [{'name': 'samples', 'type': "
                 "'LATENT', 'link': null}, {'name': 'scale_by', 'type': 'FLOAT', 'link': null, "
                 "'widget': "
                 "{'name': 'scale_by'}}], 'outputs': [{'type': 'LATENT'}]}, "
                 "{'type': 'SaveLatent', 'index': 1, 'inputs': [{'name': 'samples', 'type': "
                 "'LATENT', "
                 "'link': null}]}, {'type': 'SaveLatent', 'index': 2, 'inputs': [{'name': "
                 "'samples', "
                 "'type': 'LATENT', 'link': null}]}, {'type': 'Reroute', 'index': 3, 'inputs': "
                 "[{'name': "
                 "'', 'type': '*', 'link': null}], 'outputs': [{'type': '*'}]}], 'links': [[null, "
                 "0, 3, "
                 "0, 1, 'LATENT'], [3, 0, 1, 0, 1, 'LATENT'], [3, 0, 2, 0, 1, 'LATENT']], "
                 "'config': "
                 "{'0': {'input': {'samples': {'visible': false}}}}}}}}",
        "{" API(
            "1", "8", "16",
            "1") ", '7:0': {'class_type': 'LatentUpscaleBy', 'inputs': "
                 "{'upscale_method': 'area', 'scale_by': 2}}, '7:1': {'class_type': 'SaveLatent', "
                 "'inputs': {'filename_prefix': 'b', 'samples': ['1', 0]}}, '7:2': {'class_type': "
                 "'SaveLatent', 'inputs': {'filename_prefix': 'c', 'samples': ['1', 0]}}}");
}

int main(void)
{
    check_promoted();
    check_words();
    check_levels();
    check_shared();
    check_short_list();
    check_document();
    check_named();
    check_no_names();
    check_choices();
    check_save_video();
    check_links();
    check_ids();
    check_group();
    return 0;
}
