// The editable workflow: each change and its undo, subgraphs, reroutes, groups, the clipboard, API
// files; and random changes of real and made workflows, undone and done again byte for byte.
#include <dirent.h>

#include "core/base/file.h"
#include "tests/document.h"

static int number(const nino_document *d, const char *id)
{
    const int i = nino_document_find(d, id);
    CHECK(i >= 0);
    return i;
}

// ---- making one ------------------------------------------------------------------------------

static void test_build(void)
{
    nino_document *d = nino_document_new(&err);
    char model[32], latent[32], sampler[32];
    CHECK(d && !nino_document_undo_name(d) && !nino_document_is_changed(d));
    OK(nino_document_add(d, "CheckpointLoaderSimple", 0, 0, model, &err));
    OK(nino_document_add(d, "EmptyLatentImage", 0, 300, latent, &err));
    OK(nino_document_add(d, "KSampler", 400.25, 10, sampler, &err));
    CHECK_STR(sampler, "3");
    CHECK_STR(nino_document_undo_name(d), "Add KSampler");
    CHECK(nino_document_is_changed(d));
    const nino_doc_node *n = node(d, "3"); // as ComfyUI makes it
    CHECK(n->x == 400.25 && n->width == 315 && n->height == 262 && n->kind == NINO_DOC_NODE);
    CHECK(n->n_widgets == 6);
    CHECK_STR(n->widgets[0].control, "randomize");
    CHECK_STR(nino_doc_widget_find(n, "steps")->text, "20");
    const int s = number(d, "3");
    OK(nino_document_connect(d, number(d, "1"), 0, s, 0, &err));
    OK(nino_document_connect(d, number(d, "2"), 0, s, 3, &err));
    CHECK(nino_document_n_links(d) == 2);
    CHECK_STR(nino_document_link(d, node(d, "3")->inputs[3].link)->type, "LATENT");
    CHECK(node(d, "2")->outputs[0].n_links == 1);
    // refused, and nothing changes
    char *before = strdup(text_of(d));
    CHECK(nino_document_connect(d, number(d, "2"), 0, s, 0, &err) && !strcmp(err.kind, "type"));
    CHECK(nino_document_connect(d, s, 7, s, 0, &err) && !strcmp(err.kind, "slot"));
    CHECK(nino_document_set_text(d, "3", "steps", "-1", &err) == NINO_ERR_RANGE);
    CHECK(nino_document_set_text(d, "3", "nothing", "1", &err) == NINO_ERR_UNKNOWN);
    CHECK(nino_document_add(d, "NoSuchNode", 0, 0, NULL, &err) == NINO_ERR_UNKNOWN);
    CHECK_STR(text_of(d), before);
    free(before);
    // a value fed by another node: the input is made when it is connected
    OK(nino_document_add(d, "PrimitiveNode", -300, 0, NULL, &err));
    n = node(d, "3");
    const int in = nino_doc_widget_find(n, "steps")->input;
    OK(nino_document_connect(d, number(d, "4"), 0, s, in, &err));
    CHECK(nino_doc_widget_find(node(d, "3"), "steps")->is_linked);
    CHECK_STR(node(d, "4")->outputs[0].type, "INT");
    CHECK_STR(node(d, "4")->widgets[0].text, "20");
    OK(nino_document_set_text(d, "4", "value", "31", &err));
    CHECK(strstr(nino_document_api_json(d, NULL, &err), "\"steps\": 31"));
    OK(nino_document_delete(d, (const char *[]){ "4", "1" }, 2, &err));
    CHECK_STR(nino_document_undo_name(d), "Delete 2 nodes");
    CHECK(nino_document_n_links(d) == 1 && nino_document_n_nodes(d) == 2);
    while (nino_document_undo_name(d))
        OK(nino_document_undo(d, &err));
    CHECK(!nino_document_n_nodes(d) && !nino_document_is_changed(d));
    nino_document_destroy(&d);
}

static void test_cycle(void)
{
    nino_document *d = nino_document_new(&err);
    for (int i = 0; i < 3; i++)
        OK(nino_document_add(d, "LatentUpscaleBy", i * 300, 0, NULL, &err));
    OK(nino_document_connect(d, 0, 0, 1, 0, &err));
    OK(nino_document_connect(d, 1, 0, 2, 0, &err));
    CHECK(nino_document_connect(d, 2, 0, 0, 0, &err) && !strcmp(err.kind, "cycle"));
    CHECK(nino_document_connect(d, 0, 0, 0, 0, &err) && !strcmp(err.kind, "cycle"));
    OK(nino_document_connect(d, 0, 0, 2, 0, &err)); // takes the place of the other link
    CHECK(nino_document_n_links(d) == 2 && node(d, "2")->outputs[0].n_links == 0);
    OK(nino_document_disconnect_output(d, 0, 0, &err));
    CHECK(!nino_document_n_links(d));
    nino_document_destroy(&d);
}

// ---- look and values -------------------------------------------------------------------------

static const char flow[] =
    "{\"last_node_id\": 9, \"last_link_id\": 4, \"nodes\": [\n"
    "  {\"id\": 5, \"type\": \"EmptyLatentImage\", \"pos\": {\"0\": 1.5, \"1\": 2}, \"size\": "
    "{\"0\": 315, \"1\": 106}, \"flags\": {}, \"mode\": 0, \"mine\": [NaN, 1e3],"
    " \"outputs\": [{\"name\": \"LATENT\", \"type\": \"LATENT\", \"links\": [4]}],"
    " \"widgets_values\": [512, 768, 1], \"title\": \"Size\", \"color\": \"#322\"},\n"
    "  {\"id\": 3, \"type\": \"KSampler\", \"pos\": [400, 2], \"size\": [315, 262], \"flags\": {},"
    " \"inputs\": [{\"name\": \"model\", \"type\": \"MODEL\", \"link\": null},"
    " {\"name\": \"latent_image\", \"type\": \"LATENT\", \"link\": 4}],"
    " \"outputs\": [{\"name\": \"LATENT\", \"type\": \"LATENT\", \"links\": null}],"
    " \"widgets_values\": [18446744073709551615, \"randomize\", 20, 8.0, \"euler\", \"normal\", "
    "1]},\n"
    "  {\"id\": \"n\", \"type\": \"MyOwnNode\", \"widgets_values\": {\"a\": \"x\", \"b\": 2}}\n"
    "], \"links\": [[4, 5, 0, 3, 1, \"LATENT\"]], \"groups\": [{\"title\": \"G\", \"bounding\": "
    "[0, 0, 500, 300], \"color\": \"#3f789e\"}], \"extra\": {\"ds\": {\"scale\": 1}}, \"version\": "
    "0.4}\n";

static void test_look(void)
{
    nino_document *d = load(flow);
    CHECK_STR(nino_document_json(d, NULL, &err), flow);
    CHECK(nino_document_origin(d) == NINO_DOCUMENT_UI);
    CHECK(node(d, "5")->x == 1.5 && node(d, "5")->height == 106);
    CHECK_STR(node(d, "5")->title, "Size");
    CHECK(node(d, "n")->kind == NINO_DOC_UNKNOWN && node(d, "n")->n_widgets == 2);
    CHECK_STR(node(d, "3")->widgets[0].text, "18446744073709551615");
    OK(nino_document_move(d, (const char *[]){ "5", "3" }, 2, 10, -0.5, &err));
    CHECK(strstr(text_of(d), "{\"0\": 11.5, \"1\": 1.5}") && strstr(text_of(d), "[410, 1.5]"));
    CHECK(strstr(text_of(d), "\"mine\": [NaN, 1e3]")); // not ours
    OK(nino_document_set_mode(d, (const char *[]){ "3" }, 1, NINO_MODE_BYPASSED, &err));
    CHECK_STR(nino_document_undo_name(d), "Bypass KSampler");
    CHECK(node(d, "3")->mode == NINO_MODE_BYPASSED);
    OK(nino_document_set_collapsed(d, (const char *[]){ "3" }, 1, true, &err));
    OK(nino_document_set_pinned(d, (const char *[]){ "3" }, 1, true, &err));
    CHECK(node(d, "3")->is_collapsed && node(d, "3")->is_pinned);
    OK(nino_document_set_title(d, "5", NULL, &err));
    CHECK(!strstr(text_of(d), "\"title\": \"Size\""));
    OK(nino_document_set_color(d, (const char *[]){ "5", "3" }, 2, NULL, "#123", &err));
    CHECK(!node(d, "5")->color && !strcmp(node(d, "3")->bgcolor, "#123"));
    OK(nino_document_resize(d, "3", 400, 300, &err));
    CHECK(node(d, "3")->width == 400);
    OK(nino_document_set_text(d, "n", "a", "y \"z\"", &err));
    CHECK_STR(nino_doc_widget_find(node(d, "n"), "a")->text, "y \"z\"");
    OK(nino_document_set_group(d, 0, "New", "#fff", &err));
    OK(nino_document_place_group(d, 0, 5, 6, 700, 80, &err));
    CHECK_STR(nino_document_group(d, 0)->title, "New");
    CHECK(nino_document_group(d, 0)->width == 700);
    OK(nino_document_add_group(d, "Two", 0, 0, 10, 10, &err));
    OK(nino_document_delete_group(d, 0, &err));
    CHECK(nino_document_n_groups(d) == 1);
    CHECK_STR(nino_document_group(d, 0)->title, "Two");
    while (nino_document_undo_name(d))
        OK(nino_document_undo(d, &err));
    CHECK_STR(text_of(d), flow);
    nino_document_destroy(&d);
}

// Typing is one step; another value, or a pause, begins the next.
static void test_values(void)
{
    nino_document *d = load(flow);
    OK(nino_document_set_text(d, "5", "width", "1", &err) == NINO_ERR_RANGE ? NINO_OK
                                                                            : NINO_ERR_ARG);
    OK(nino_document_set_text(d, "5", "width", "640", &err));
    OK(nino_document_set_text(d, "5", "width", "704", &err));
    OK(nino_document_set_text(d, "5", "height", "640", &err));
    CHECK_STR(nino_document_undo_name(d), "Set height");
    OK(nino_document_undo(d, &err));
    OK(nino_document_undo(d, &err));
    CHECK_STR(text_of(d), flow);
    OK(nino_document_redo(d, &err));
    CHECK_STR(nino_doc_widget_find(node(d, "5"), "width")->text, "704");
    nino_document_seal(d);
    OK(nino_document_set_text(d, "5", "width", "64", &err));
    OK(nino_document_undo(d, &err));
    CHECK_STR(nino_doc_widget_find(node(d, "5"), "width")->text, "704");
    nino_document_set_saved(d);
    CHECK(!nino_document_is_changed(d));
    OK(nino_document_undo(d, &err));
    CHECK(nino_document_is_changed(d));
    // after a run
    OK(nino_document_set_control(d, "3", "seed", "decrement", &err));
    OK(nino_document_advance(d, 7, &err));
    CHECK_STR(node(d, "3")->widgets[0].text, "18446744073709551614");
    OK(nino_document_set_control(d, "3", "seed", "randomize", &err));
    OK(nino_document_advance(d, 7, &err));
    CHECK(strcmp(node(d, "3")->widgets[0].text, "18446744073709551614") != 0);
    CHECK_STR(nino_document_undo_name(d), "New seeds");
    OK(nino_document_set_control(d, "3", "seed", "fixed", &err));
    const uint64_t version = nino_document_version(d);
    OK(nino_document_advance(d, 8, &err));
    CHECK(nino_document_version(d) == version);
    CHECK(nino_document_set_control(d, "3", "steps", "fixed", &err) == NINO_ERR_ARG);
    nino_document_destroy(&d);
}

static void test_groups_of_changes(void)
{
    nino_document *d = load(flow);
    nino_document_begin(d, "Two things");
    OK(nino_document_delete(d, (const char *[]){ "5" }, 1, &err));
    nino_document_begin(d, "inner");
    OK(nino_document_set_text(d, "3", "steps", "5", &err));
    CHECK(!nino_document_undo_name(d));
    OK(nino_document_end(d, &err));
    OK(nino_document_end(d, &err));
    CHECK_STR(nino_document_undo_name(d), "Two things");
    OK(nino_document_undo(d, &err));
    CHECK_STR(text_of(d), flow);
    CHECK(!nino_document_undo_name(d));
    nino_document_begin(d, "Nothing");
    OK(nino_document_delete(d, (const char *[]){ "5" }, 1, &err));
    CHECK(nino_document_delete(d, (const char *[]){ "5" }, 1, &err) == NINO_ERR_UNKNOWN);
    nino_document_cancel(d);
    CHECK_STR(text_of(d), flow);
    CHECK_STR(nino_document_redo_name(d), "Two things");
    nino_document_begin(d, "Empty");
    OK(nino_document_end(d, &err));
    CHECK(!nino_document_undo_name(d));
    nino_document_destroy(&d);
}

// ---- reroutes of both versions ---------------------------------------------------------------

static const char modern[] =
    "{\"version\": 1, \"state\": {\"lastNodeId\": 3, \"lastLinkId\": 5, \"lastRerouteId\": 2}, "
    "\"nodes\": [{\"id\": 1, \"type\": \"EmptyLatentImage\", \"pos\": [0, 0], \"size\": [1, 1], "
    "\"outputs\": [{\"name\": \"LATENT\", \"type\": \"LATENT\", \"links\": [5]}]}, {\"id\": 2, "
    "\"type\": \"LatentUpscaleBy\", \"inputs\": [{\"name\": \"samples\", \"type\": \"LATENT\", "
    "\"link\": 5}]}], \"links\": [{\"id\": 5, \"origin_id\": 1, \"origin_slot\": 0, \"target_id\": "
    "2, \"target_slot\": 0, \"type\": \"LATENT\", \"parentId\": 2}], \"reroutes\": [{\"id\": 1, "
    "\"pos\": [10, 20], \"linkIds\": [5]}, {\"id\": 2, \"parentId\": 1, \"pos\": [30, 40], "
    "\"linkIds\": [5]}]}";

static void check_bends(nino_document *d)
{
    const nino_doc_link *l = nino_document_link(d, 0);
    CHECK(l->n_reroutes == 3);
    for (int i = 0; i + 1 < 3; i++) // in order from the origin
        CHECK(nino_document_reroute(d, l->reroutes[i])->x <
              nino_document_reroute(d, l->reroutes[i + 1])->x);
}

static void test_reroutes(void)
{
    nino_document *d = load(modern);
    CHECK(nino_document_n_reroutes(d) == 2 && nino_document_link(d, 0)->n_reroutes == 2);
    OK(nino_document_add_reroute(d, 0, 1, 20, 5, &err));
    check_bends(d);
    CHECK(strstr(text_of(d), "\"lastRerouteId\": 3"));
    OK(nino_document_move_reroute(d, "3", 1, 1, &err));
    CHECK(nino_document_reroute(d, 2)->x == 21);
    OK(nino_document_delete_reroute(d, "1", &err));
    CHECK(nino_document_link(d, 0)->n_reroutes == 2);
    OK(nino_document_disconnect(d, 1, 0, &err));
    CHECK(!nino_document_n_reroutes(d) && !nino_document_n_links(d));
    OK(nino_document_connect(d, 0, 0, 1, 0, &err));
    CHECK(strstr(text_of(d), "\"origin_id\": 1") && strstr(text_of(d), "\"lastLinkId\": 6"));
    nino_document_destroy(&d);

    d = load(flow); // 0.4 keeps them in "extra"
    OK(nino_document_add_reroute(d, 0, 0, 10, 0, &err));
    OK(nino_document_add_reroute(d, 0, 1, 30, 0, &err));
    OK(nino_document_add_reroute(d, 0, 1, 20, 0, &err));
    check_bends(d);
    CHECK(strstr(text_of(d), "\"linkExtensions\""));
    OK(nino_document_delete_reroute(d, "2", &err)); // the last of the three
    OK(nino_document_delete_reroute(d, "1", &err));
    OK(nino_document_delete_reroute(d, "3", &err));
    CHECK(!nino_document_n_reroutes(d) && nino_document_n_links(d) == 1);
    nino_document_destroy(&d);
}

// ---- subgraphs -------------------------------------------------------------------------------

static const char nested[] =
    "{\"last_node_id\": 8, \"last_link_id\": 3, \"nodes\": [{\"id\": 1, \"type\": "
    "\"EmptyLatentImage\", \"outputs\": [{\"name\": \"LATENT\", \"type\": \"LATENT\", \"links\": "
    "[1]}]}, {\"id\": 2, \"type\": \"S\", \"inputs\": [{\"name\": \"samples\", \"type\": "
    "\"LATENT\", \"link\": 1}], \"outputs\": [{\"name\": \"out\", \"type\": \"LATENT\", \"links\": "
    "[2]}]}, {\"id\": 3, \"type\": \"SaveLatent\", \"inputs\": [{\"name\": \"samples\", \"type\": "
    "\"LATENT\", \"link\": 2}]}], \"links\": [[1, 1, 0, 2, 0, \"LATENT\"], [2, 2, 0, 3, 0, "
    "\"LATENT\"]], \"definitions\": {\"subgraphs\": [{\"id\": \"S\", \"name\": \"Twice\", "
    "\"state\": {\"lastNodeId\": 4, \"lastLinkId\": 2}, \"inputNode\": {\"id\": -10, \"bounding\": "
    "[-200, 0, 120, 60]}, \"outputNode\": {\"id\": -20, \"bounding\": [500, 0, 120, 60]}, "
    "\"inputs\": [{\"name\": \"samples\", \"type\": \"LATENT\", \"linkIds\": [1]}], \"outputs\": "
    "[{\"name\": \"out\", \"type\": \"LATENT\", \"linkIds\": [2]}], \"nodes\": [{\"id\": 4, "
    "\"type\": \"LatentUpscaleBy\", \"inputs\": [{\"name\": \"samples\", \"type\": \"LATENT\", "
    "\"link\": 1}], \"outputs\": [{\"name\": \"LATENT\", \"type\": \"LATENT\", \"links\": [2]}], "
    "\"widgets_values\": [\"bilinear\", 1.5]}], \"links\": [{\"id\": 1, \"origin_id\": -10, "
    "\"origin_slot\": 0, \"target_id\": 4, \"target_slot\": 0, \"type\": \"LATENT\"}, {\"id\": 2, "
    "\"origin_id\": 4, \"origin_slot\": 0, \"target_id\": -20, \"target_slot\": 0, \"type\": "
    "\"LATENT\"}]}]}}";

static void test_subgraph(void)
{
    nino_document *d = load(nested);
    CHECK(node(d, "2")->kind == NINO_DOC_SUBGRAPH);
    CHECK_STR(node(d, "2")->title, "Twice");
    CHECK(nino_document_enter(d, "1", &err) && !nino_document_depth(d));
    OK(nino_document_enter(d, "2", &err));
    CHECK(nino_document_depth(d) == 1 && nino_document_n_nodes(d) == 3);
    CHECK_STR(nino_document_level_name(d, 0), "Twice");
    CHECK_STR(nino_document_level_id(d, 0), "2");
    CHECK(node(d, "-10")->kind == NINO_DOC_INPUT && node(d, "-10")->x == -200);
    CHECK(nino_document_n_links(d) == 2);
    OK(nino_document_set_text(d, "4", "scale_by", "3", &err));
    OK(nino_document_move(d, (const char *[]){ "-10", "4" }, 2, 5, 5, &err));
    CHECK(node(d, "-10")->y == 5);
    CHECK(nino_document_delete(d, (const char *[]){ "-10" }, 1, &err));
    OK(nino_document_add(d, "LatentUpscaleBy", 200, 0, NULL, &err));
    CHECK(node(d, "5")->n_inputs == 3);
    // put between the first node and the output
    OK(nino_document_connect(d, number(d, "4"), 0, number(d, "5"), 0, &err));
    OK(nino_document_connect(d, number(d, "5"), 0, number(d, "-20"), 0, &err));
    CHECK(nino_document_n_links(d) == 3);
    OK(nino_document_leave(d, 1, &err));
    CHECK(strstr(nino_document_api_json(d, NULL, &err), "\"2:5\""));
    // a subgraph may not hold itself
    OK(nino_document_enter(d, "2", &err));
    char *before = strdup(text_of(d));
    CHECK(nino_document_add(d, "S", 0, 0, NULL, &err));
    CHECK_STR(text_of(d), before);
    free(before);
    OK(nino_document_leave(d, 9, &err));
    OK(nino_document_add(d, "S", 900, 0, NULL, &err));
    CHECK(node(d, "9")->n_inputs == 1 && node(d, "9")->n_outputs == 1);
    OK(nino_document_enter(d, "9", &err));
    OK(nino_document_undo(d, &err)); // the instance is gone: out of it
    CHECK(!nino_document_depth(d));
    OK(nino_document_undo(d, &err)); // was made inside: shows it
    CHECK(nino_document_depth(d) == 1 && nino_document_n_links(d) == 3);
    while (nino_document_undo_name(d))
        OK(nino_document_undo(d, &err));
    CHECK_STR(text_of(d), nested);
    nino_document_destroy(&d);
}

// ---- clipboard -------------------------------------------------------------------------------

static void test_clipboard(void)
{
    nino_document *d = load(flow), *other = nino_document_new(&err);
    int first = -1, n = 0;
    char *clip = nino_document_copy(d, (const char *[]){ "3" }, 1, &err);
    CHECK(clip);
    OK(nino_document_paste(d, clip, strlen(clip), 1000, 1000, false, &first, &n, &err));
    CHECK(first == 3 && n == 1);
    CHECK_STR(nino_document_node(d, 3)->id, "10");
    CHECK(nino_document_node(d, 3)->inputs[1].link < 0);
    CHECK(nino_document_node(d, 3)->x == 1000 - 315 / 2.0);
    OK(nino_document_paste(d, clip, strlen(clip), 0, 0, true, &first, &n, &err));
    CHECK(nino_document_node(d, 4)->inputs[1].link >= 0);
    CHECK(node(d, "5")->outputs[0].n_links == 2);
    free(clip);
    clip = nino_document_copy(d, (const char *[]){ "3", "5" }, 2, &err);
    OK(nino_document_paste(other, clip, strlen(clip), 0, 0, true, &first, &n, &err));
    CHECK(n == 2 && nino_document_n_links(other) == 1);
    CHECK_STR(nino_document_undo_name(other), "Paste");
    free(clip);
    // whole workflows can be pasted, subgraphs and the API form too
    OK(nino_document_paste(other, nested, strlen(nested), 0, 900, false, NULL, &n, &err));
    CHECK(n == 3 && nino_document_n_links(other) == 3);
    OK(nino_document_paste(other, nested, strlen(nested), 0, 900, false, NULL, &n, &err));
    const char api[] =
        "{\"7\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {\"width\": 64}}}";
    OK(nino_document_paste(other, api, strlen(api), 0, 0, false, &first, NULL, &err));
    CHECK_STR(nino_document_node(other, first)->widgets[0].text, "64");
    CHECK(nino_document_paste(other, "no", 2, 0, 0, false, NULL, NULL, &err));
    CHECK(!nino_document_copy(other, (const char *[]){ "99" }, 1, &err));
    CHECK(nino_document_api_json(other, NULL, &err));
    nino_document_destroy(&other);
    nino_document_destroy(&d);
}

// ---- API form --------------------------------------------------------------------------------

static void test_api(void)
{
    const char api[] =
        "{\"3\": {\"class_type\": \"KSampler\", \"inputs\": {\"seed\": 18446744073709551615, "
        "\"latent_image\": [\"5\", 0], \"model\": [\"a:1\", 0]}, \"_meta\": {\"title\": "
        "\"Mine\"}},\n"
        " \"5\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {\"width\": 64}},\n"
        " \"a:1\": {\"class_type\": \"SomeLoader\", \"inputs\": {\"file\": \"x.bin\", \"list\": "
        "{\"__value__\": [1, 2]}}}}\n";
    nino_document *d = load(api);
    CHECK(nino_document_origin(d) == NINO_DOCUMENT_API);
    CHECK_STR(nino_document_json(d, NULL, &err), api);
    CHECK(nino_document_n_nodes(d) == 3 && nino_document_n_links(d) == 2);
    const nino_doc_node *s = node(d, "3"), *l = node(d, "5"), *a = node(d, "a:1");
    CHECK_STR(s->title, "Mine");
    CHECK(s->x >= l->x + l->width && s->x >= a->x + a->width); // behind what it is made from
    CHECK(l->y + l->height <= a->y || a->y + a->height <= l->y);
    CHECK_STR(s->widgets[0].text, "18446744073709551615");
    CHECK_STR(s->widgets[0].control, "fixed");
    CHECK_STR(nino_doc_widget_find(a, "file")->text, "x.bin");
    OK(nino_document_set_text(d, "3", "steps", "4", &err));
    const char *now = nino_document_json(d, NULL, &err); // still the API form
    CHECK(now && strstr(now, "\"steps\": 4") && strstr(now, "\"__value__\": [1, 2]"));
    CHECK(strstr(now, "[\"a:1\", 0]") && !strstr(now, "\"nodes\""));
    OK(nino_document_undo(d, &err));
    CHECK_STR(nino_document_json(d, NULL, &err), api);
    nino_document_destroy(&d);
}

// ---- form view -------------------------------------------------------------------------------

static void test_form(void)
{
    nino_document *d = load(flow);
    nino_doc_form_input in[3] = { { "3", "steps" }, { "n", "a" } };
    CHECK(!nino_document_form_inputs(d, NULL, 0) && !nino_document_opens_form(d));
    OK(nino_document_set_form_inputs(d, in, 2, true, &err));
    CHECK(strstr(text_of(d), "[[3, \"steps\"], [\"n\", \"a\"]]"));
    CHECK(nino_document_form_inputs(d, in, 3) == 2 && nino_document_opens_form(d));
    CHECK_STR(in[1].node, "n");
    OK(nino_document_set_form_inputs(d, in, 1, false, &err));
    CHECK(nino_document_form_inputs(d, in, 3) == 1 && !nino_document_opens_form(d));
    while (nino_document_undo_name(d))
        OK(nino_document_undo(d, &err));
    CHECK_STR(text_of(d), flow);
    nino_document_destroy(&d);
    // settings of a value stay
    d = load("{\"nodes\": [], \"links\": [], \"extra\": {\"linearData\": {\"inputs\": [[1, "
             "\"x\", {\"mine\": 2}], [2, \"y\"]], \"outputs\": [3]}, \"linearMode\": true}}");
    CHECK(nino_document_form_inputs(d, in, 3) == 2 && nino_document_opens_form(d));
    in[0] = (nino_doc_form_input){ "1", "x" };
    OK(nino_document_set_form_inputs(d, in, 1, true, &err));
    CHECK(strstr(text_of(d), "[[1, \"x\", {\"mine\": 2}]], \"outputs\": [3]"));
    nino_document_destroy(&d);
    // entries that name nothing are passed over, of others no more are given than there is room for
    d = load("{\"nodes\": [], \"links\": [], \"extra\": {\"linearData\": {\"inputs\": [[1], "
             "\"z\", [null, \"x\"], [2, \"y\", {\"mine\": 2}], [2, \"other\"], [3, \"y\"]]}}}");
    in[0] = (nino_doc_form_input){ 0 };
    CHECK(nino_document_form_inputs(d, in, 1) == 3 && !nino_document_opens_form(d));
    CHECK_STR(in[0].node, "2");
    CHECK_STR(in[0].widget, "y");
    in[0] = (nino_doc_form_input){ "3", "y" };
    in[1] = (nino_doc_form_input){ "2", "y" };
    OK(nino_document_set_form_inputs(d, in, 2, false, &err));
    CHECK(strstr(text_of(d), "[[3, \"y\"], [2, \"y\", {\"mine\": 2}]]"));
    CHECK(!strstr(text_of(d), "linearMode")); // it did not say, and need not
    nino_document_destroy(&d);
}

// ---- what is not there -------------------------------------------------------------------------

static const char levels[] =
    "{\"nodes\": [{\"id\": 9, \"type\": \"S\"}, {\"id\": 8, \"type\": \"EmptyLatentImage\", "
    "\"widgets_values\": [64, 64, 1]}], \"links\": [], \"definitions\": {\"subgraphs\": [{\"id\": "
    "\"S\", \"name\": \"Part\", \"inputNode\": {\"id\": -10}, \"outputNode\": {\"id\": -20}, "
    "\"inputs\": [], \"outputs\": [], \"nodes\": [{\"id\": 1, \"type\": \"EmptyLatentImage\", "
    "\"widgets_values\": [64, 64, 1]}], \"links\": []}]}}";

static void test_levels(void)
{
    nino_document *d = load(levels);
    CHECK(!nino_document_level_id(d, -1) && !nino_document_level_name(d, -1));
    CHECK(!nino_document_level_id(d, 0) && !nino_document_level_name(d, 0));
    CHECK(nino_document_enter(d, "8", &err) == NINO_ERR_ARG && strstr(err.msg, "not a subgraph"));
    CHECK(nino_document_enter(d, "77", NULL) == NINO_ERR_ARG && nino_document_depth(d) == 0);
    OK(nino_document_enter(d, "9", NULL));
    CHECK_STR(nino_document_level_id(d, 0), "9");
    CHECK_STR(nino_document_level_name(d, 0), "Part");
    CHECK(!nino_document_level_id(d, 1) && !nino_document_level_name(d, 1));
    OK(nino_document_leave(d, 0, &err)); // nowhere
    CHECK(nino_document_depth(d) == 1);
    // not in the middle of a change; one that comes to nothing is no step
    nino_document_begin(d, "Nothing");
    CHECK(nino_document_enter(d, "1", &err) == NINO_ERR_ARG && strstr(err.msg, "under way"));
    CHECK(nino_document_leave(d, 1, &err) == NINO_ERR_ARG && strstr(err.msg, "under way"));
    CHECK(!nino_document_is_changed(d));
    OK(nino_document_set_text(d, "1", "width", "128", &err));
    CHECK(nino_document_is_changed(d));
    OK(nino_document_set_text(d, "1", "width", "64", &err));
    OK(nino_document_end(d, &err));
    CHECK(!nino_document_undo_name(d) && !nino_document_is_changed(d));
    OK(nino_document_end(d, &err));      // without a beginning
    OK(nino_document_leave(d, 5, &err)); // no further than the top
    CHECK(nino_document_depth(d) == 0);
    nino_document_destroy(&d);
    nino_document_destroy(&d);
    nino_document_destroy(NULL);
}

// A byte-order mark and space before it; names of files that say what they are, or do not.
static void test_names(void)
{
    static const char *const names[] = { "a.json", "b.JSON", "c.txt", "d", NULL };
    char folder[] = "/tmp/ninodes-document-XXXXXX", path[64], text[sizeof(levels) + 8];
    CHECK(mkdtemp(folder));
    for (int i = 0; names[i]; i++) {
        snprintf(text, sizeof(text), "%s \r\n\t%s", i % 2 ? "\xef\xbb\xbf" : "", levels);
        OK(nino_file_save(folder, names[i], true, text, strlen(text), &err));
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        nino_document *d = nino_document_load_file(path, &err);
        CHECK_OK(d ? NINO_OK : err.code, err);
        CHECK(nino_document_n_nodes(d) == 2);
        nino_document_destroy(&d);
        d = nino_document_load(text, strlen(text), NULL, &err);
        CHECK_OK(d ? NINO_OK : err.code, err);
        nino_document_destroy(&d);
        CHECK(!unlink(path));
    }
    CHECK(!nino_document_load_file(path, &err) && err.code == NINO_ERR_MISSING);
    CHECK(!rmdir(folder));
}

// ---- random changes --------------------------------------------------------------------------

static uint64_t rng;

static uint32_t roll(uint32_t n)
{
    rng = rng * 6364136223846793005u + 1442695040888963407u;
    return n ? (uint32_t) (rng >> 33) % n : 0;
}

static nino_status one_link(nino_document *d)
{
    const int from = (int) roll((uint32_t) nino_document_n_nodes(d));
    const int to = (int) roll((uint32_t) nino_document_n_nodes(d));
    const nino_doc_node *a = nino_document_node(d, from), *b = nino_document_node(d, to);
    if (roll(3) == 0 && b->n_inputs)
        return nino_document_disconnect(d, to, (int) roll((uint32_t) b->n_inputs), NULL);
    if (!a->n_outputs || !b->n_inputs)
        return NINO_OK;
    return nino_document_connect(d, from, (int) roll((uint32_t) a->n_outputs), to,
                                 (int) roll((uint32_t) b->n_inputs), NULL);
}

static nino_status one_paste(nino_document *d, const char *id)
{
    char *clip = nino_document_copy(d, &id, 1, NULL);
    const nino_status st = clip ? nino_document_paste(d, clip, strlen(clip), roll(500), roll(500),
                                                      roll(2), NULL, NULL, NULL)
                                : NINO_OK;
    free(clip);
    return st;
}

// May be refused; then nothing has changed.
static nino_status one_change(nino_document *d)
{
    static const char *const classes[] = { "KSampler",      "VAEDecode",      "Reroute",  "Note",
                                           "PrimitiveNode", "CLIPTextEncode", "LoadImage" };
    if (!nino_document_n_nodes(d) || roll(8) == 0)
        return nino_document_add(d, classes[roll(7)], roll(900), roll(900), NULL, NULL);
    const nino_doc_node *n = nino_document_node(d, (int) roll((uint32_t) nino_document_n_nodes(d)));
    const char *id = n->id;
    switch (roll(14)) {
    case 0: return nino_document_delete(d, &id, 1, NULL);
    case 1: return nino_document_move(d, &id, 1, (int) roll(99) - 50, roll(9) / 4.0, NULL);
    case 2: return nino_document_set_mode(d, &id, 1, roll(2) ? 4 : 2, NULL);
    case 3: return nino_document_set_collapsed(d, &id, 1, roll(2), NULL);
    case 4: return nino_document_set_title(d, id, roll(2) ? "T\"\xc3\xa4" : NULL, NULL);
    case 5: return nino_document_set_color(d, &id, 1, roll(2) ? "#123" : NULL, "#456", NULL);
    case 6: return one_paste(d, id);
    case 7: return nino_document_add_group(d, "G", roll(99), 0, 100, 100, NULL);
    case 8: return nino_document_n_groups(d) ? nino_document_delete_group(d, 0, NULL) : NINO_OK;
    case 9:
        return nino_document_n_links(d)
                   ? nino_document_add_reroute(d, (int) roll((uint32_t) nino_document_n_links(d)),
                                               0, roll(99), 5, NULL)
                   : NINO_OK;
    case 10:
        return n->n_widgets
                   ? nino_document_set_text(d, id, n->widgets[roll((uint32_t) n->n_widgets)].name,
                                            roll(2) ? "64" : "euler", NULL)
                   : NINO_OK;
    case 11: return nino_document_advance(d, rng, NULL);
    default: return one_link(d);
    }
}

// Both ends of each link know it.
static void check_links(const nino_document *d)
{
    int n_out = 0, n_in = 0;
    for (int i = 0; i < nino_document_n_nodes(d); i++) {
        const nino_doc_node *n = nino_document_node(d, i);
        for (int k = 0; k < n->n_outputs; k++)
            n_out += n->outputs[k].n_links;
        for (int k = 0; k < n->n_inputs; k++)
            n_in += n->inputs[k].link >= 0;
    }
    CHECK(n_in == nino_document_n_links(d) && n_out == n_in);
}

static void change_and_undo(nino_document *d, uint64_t seed, int n)
{
    char *first = strdup(text_of(d)), *last;
    int steps = 0;
    rng = seed;
    for (int i = 0; i < n; i++) {
        const uint64_t version = nino_document_version(d);
        if (one_change(d))
            CHECK(nino_document_version(d) == version);
        nino_document_seal(d);
        check_links(d);
    }
    last = strdup(text_of(d));
    CHECK(nino_document_api_json(d, NULL, &err));
    nino_document *again = load(last); // what was written can be read, and says the same
    for (int i = 0; i < nino_document_depth(d); i++)
        OK(nino_document_enter(again, nino_document_level_id(d, i), &err));
    CHECK(nino_document_n_nodes(again) == nino_document_n_nodes(d));
    CHECK(nino_document_n_links(again) == nino_document_n_links(d));
    nino_document_destroy(&again);
    for (; nino_document_undo_name(d); steps++)
        OK(nino_document_undo(d, &err));
    CHECK_STR(text_of(d), first);
    for (; nino_document_redo_name(d); steps--)
        OK(nino_document_redo(d, &err));
    CHECK(!steps);
    CHECK_STR(text_of(d), last);
    free(first);
    free(last);
}

static void test_random(void)
{
    static const char *const texts[] = { flow, modern, nested };
    for (uint64_t seed = 1; seed <= 24; seed++) {
        nino_document *d = seed % 4 == 3 ? nino_document_new(&err) : load(texts[seed % 4]);
        if (seed % 8 == 2)
            OK(nino_document_enter(d, "2", &err));
        change_and_undo(d, seed, 60);
        nino_document_destroy(&d);
    }
}

// ---- real files ---------------------------------------------------------------------

static int test_folder(const char *root, const char *folder)
{
    char path[1024];
    int n = 0;
    snprintf(path, sizeof(path), "%s/%s", root, folder);
    DIR *dir = opendir(path);
    CHECK(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        char *data = NULL;
        size_t len = 0, now = 0;
        if (!strstr(e->d_name, ".json"))
            continue;
        snprintf(path, sizeof(path), "%s/%s/%s", root, folder, e->d_name);
        OK(nino_file_read(path, 1 << 24, true, &data, &len, &err));
        nino_document *d = nino_document_load_file(path, &err);
        CHECK(d);
        const char *text = nino_document_json(d, &now, &err);
        CHECK(text && now == len && !memcmp(text, data, len));
        rng = (uint64_t) n;
        char *before = strdup(text_of(d));
        for (int i = 0; i < 12; i++)
            one_change(d);
        while (nino_document_undo_name(d))
            OK(nino_document_undo(d, &err));
        CHECK_STR(text_of(d), before);
        free(before);
        free(data);
        nino_document_destroy(&d);
        n++;
    }
    closedir(dir);
    return n;
}

int main(void)
{
    test_build();
    test_cycle();
    test_look();
    test_values();
    test_groups_of_changes();
    test_reroutes();
    test_subgraph();
    test_clipboard();
    test_api();
    test_form();
    test_levels();
    test_names();
    test_random();
    CHECK(test_folder("data", "workflows") >= 20);
    const char *assets = test_assets();
    if (assets) {
        CHECK(test_folder(assets, "workflows_ui") > 50);
        CHECK(test_folder(assets, "workflows_api") > 30);
    } else {
        test_skip_part("ComfyUI's own workflows");
    }
    return 0;
}
