// Ports of subgraphs renamed, added and removed, and values of inner nodes shown outside: in every
// instance, with the links that were there, and undone byte for byte.
#include "core/base/json.h"
#include "tests/document.h"

// A subgraph used twice, once inside another one; two of its inputs are values.
// clang-format off
#define INSTANCE(id, clip) \
    "{'id': " id ", 'type': 'S', 'pos': [0, 0], 'size': [200, 100], 'inputs': [" \
    "{'name': 'clip', 'type': 'CLIP', 'link': " clip "}, " \
    "{'name': 'text', 'type': 'STRING', 'widget': {'name': 'text'}, 'link': null}, " \
    "{'name': 'more', 'type': 'STRING', 'widget': {'name': 'more'}, 'link': null}], 'outputs': [" \
    "{'name': 'A', 'type': 'CONDITIONING', 'links': []}, " \
    "{'name': 'B', 'type': 'CONDITIONING', 'slot_index': 1, 'links': [2]}], " \
    "'properties': {}, 'widgets_values': ['one " id "', 'two " id "']}"
#define ENCODER(id, clip, text, out) \
    "{'id': " id ", 'type': 'CLIPTextEncode', 'pos': [0, 0], 'size': [200, 100], 'inputs': [" \
    "{'name': 'clip', 'type': 'CLIP', 'link': " clip "}, " \
    "{'name': 'text', 'type': 'STRING', 'widget': {'name': 'text'}, 'link': " text "}], " \
    "'outputs': [{'name': 'CONDITIONING', 'type': 'CONDITIONING', 'links': [" out "]}], " \
    "'widgets_values': ['inner']}"
#define LINK(id, from, slot, to, at) \
    "{'id': " id ", 'origin_id': " from ", 'origin_slot': " slot ", 'target_id': " to ", " \
    "'target_slot': " at ", 'type': '*'}"

static const char flow[] =
    "{'nodes': [{'id': 1, 'type': 'CLIPLoader', 'inputs': [], 'outputs': [{'name': 'CLIP', 'type': "
    "'CLIP', 'links': [1]}], 'widgets_values': ['c', 'flux2']},\n  " INSTANCE("9", "1") ",\n  "
    "{'id': 5, 'type': 'KSampler', 'inputs': [{'name': 'positive', 'type': 'CONDITIONING', 'link': "
    "2}], 'outputs': [], 'widgets_values': [5, 'fixed', 20, 8, 'euler', 'normal', 1]}],\n "
    "'links': [[1, 1, 0, 9, 0, 'CLIP'], [2, 9, 1, 5, 0, 'CONDITIONING']], 'version': 0.4,\n "
    "'definitions': {'subgraphs': [{'id': 'S', 'name': 'Two', 'inputNode': {'id': -10}, "
    "'outputNode': {'id': -20},\n  'inputs': [{'id': 'a', 'name': 'clip', 'type': 'CLIP', "
    "'linkIds': [1, 2]}, {'id': 'b', 'name': 'text', 'type': 'STRING', 'linkIds': [3]}, {'id': 'c', "
    "'name': 'more', 'type': 'STRING', 'linkIds': [4]}],\n  'outputs': [{'id': 'd', 'name': 'A', "
    "'type': 'CONDITIONING', 'linkIds': [5]}, {'id': 'e', 'name': 'B', 'type': 'CONDITIONING', "
    "'linkIds': [6]}],\n  'nodes': ["
    ENCODER("3", "1", "3", "5") ",\n   " ENCODER("4", "2", "4", "6") ",\n   "
    "{'id': 7, 'type': 'KSampler', 'inputs': [{'name': 'positive', 'type': 'CONDITIONING', 'link': "
    "null}], 'outputs': [{'name': 'LATENT', 'type': 'LATENT', 'links': []}], 'widgets_values': [8, "
    "'fixed', 30, 7, 'euler', 'normal', 1]}],\n  'links': ["
    LINK("1", "-10", "0", "3", "0") ", " LINK("2", "-10", "0", "4", "0") ", "
    LINK("3", "-10", "1", "3", "1") ", " LINK("4", "-10", "2", "4", "1") ", "
    LINK("5", "3", "0", "-20", "0") ", " LINK("6", "4", "0", "-20", "1") "]},\n "
    "{'id': 'T', 'name': 'Outer', 'inputNode': {'id': -10}, 'outputNode': {'id': -20}, 'inputs': "
    "[], 'outputs': [], 'nodes': [\n" INSTANCE("8", "null") "], 'links': []}]}}";
// clang-format on

static nino_document *load_flow(void)
{
    char *json = test_quoted(flow);
    nino_document *d = load(json);
    free(json);
    return d;
}

static int end_of(const nino_document *d, nino_doc_kind kind)
{
    for (int i = 0; i < nino_document_n_nodes(d); i++)
        if (nino_document_node(d, i)->kind == kind)
            return i;
    CHECK(0);
    return -1;
}

static char *keep(const char *s)
{
    CHECK(s);
    return strdup(s ? s : "");
}

static char *prompt_of(nino_document *d) { return keep(nino_document_api_json(d, NULL, &err)); }

// How many of the file's lines a change wrote anew.
static int changed_lines(const char *a, const char *b)
{
    int n = 0;
    while (*a || *b) {
        const size_t na = strcspn(a, "\n"), nb = strcspn(b, "\n");
        n += na != nb || memcmp(a, b, na) != 0;
        a += na + (a[na] == '\n');
        b += nb + (b[nb] == '\n');
    }
    return n;
}

static void test_rename(void)
{
    nino_document *d = load_flow();
    char *before = kept_text(d), *prompt = prompt_of(d);
    const int at = nino_document_find(d, "9");
    OK(nino_document_rename_port(d, at, false, 1, "Prompt \"one\"", &err)); // from an instance
    CHECK_STR(nino_document_undo_name(d), "Rename input text");
    CHECK_STR(node(d, "9")->inputs[1].label, "Prompt \"one\"");
    CHECK_STR(node(d, "9")->inputs[1].name, "text");
    CHECK_STR(nino_doc_widget_find(node(d, "9"), "text")->label, "Prompt \"one\"");
    char *now = kept_text(d);
    CHECK(changed_lines(before, now) == 3); // two instances and the definition
    free(now);
    check_undo(d, before);
    OK(nino_document_enter(d, "9", &err));
    CHECK_STR(nino_document_node(d, end_of(d, NINO_DOC_INPUT))->outputs[1].label, "Prompt \"one\"");
    char *renamed = kept_text(d);
    OK(nino_document_rename_port(d, end_of(d, NINO_DOC_OUTPUT), false, 0, "first", &err)); // inside
    check_undo(d, renamed);
    OK(nino_document_leave(d, 1, &err));
    CHECK_STR(node(d, "9")->outputs[0].label, "first");
    char *same = prompt_of(d);
    CHECK_STR(same, prompt);
    OK(nino_document_add(d, "S", 0, 300, NULL, &err)); // a new one has the names too
    CHECK_STR(nino_document_node(d, nino_document_n_nodes(d) - 1)->outputs[0].label, "first");
    OK(nino_document_undo(d, &err));
    OK(nino_document_rename_port(d, at, true, 0, "", &err)); // its own name again
    OK(nino_document_rename_port(d, at, false, 1, NULL, &err));
    now = kept_text(d);
    CHECK_STR(now, before);
    CHECK(nino_document_rename_port(d, at, false, 3, "x", &err) == NINO_ERR_ARG);
    CHECK_STR(err.kind, "slot");
    CHECK(nino_document_rename_port(d, nino_document_find(d, "5"), false, 0, "x", &err));
    CHECK(nino_document_rename_port(d, 99, true, 0, "x", &err));
    free(now);
    free(same);
    free(renamed);
    free(prompt);
    free(before);
    nino_document_destroy(&d);
}

static void test_remove(void)
{
    nino_document *d = load_flow();
    char *before = kept_text(d);
    const int at = nino_document_find(d, "9");
    OK(nino_document_remove_port(d, at, false, 1, &err)); // "text"; "more" moves up
    CHECK_STR(nino_document_undo_name(d), "Remove input text");
    check_undo(d, before);
    const nino_doc_node *n = node(d, "9");
    CHECK(n->n_inputs == 2 && n->inputs[0].link >= 0 && n->n_widgets == 1);
    CHECK_STR(nino_doc_widget_find(n, "more")->text, "two 9");
    char *prompt = prompt_of(d);
    CHECK(strstr(prompt, "\"two 9\"") && !strstr(prompt, "\"one 9\""));
    CHECK(strstr(prompt, "\"inner\"")); // the encoder's own text again
    free(prompt);
    OK(nino_document_enter(d, "9", &err));
    CHECK(node(d, "4")->inputs[1].link >= 0 && node(d, "3")->inputs[1].link < 0);
    char *inside = kept_text(d);
    OK(nino_document_remove_port(d, end_of(d, NINO_DOC_OUTPUT), false, 0, &err)); // "A", inside
    check_undo(d, inside);
    CHECK(nino_document_node(d, end_of(d, NINO_DOC_OUTPUT))->inputs[0].link >=
          0); // "B" has its own
    OK(nino_document_leave(d, 1, &err));
    n = node(d, "9");
    CHECK(n->n_outputs == 1 && n->outputs[0].n_links == 1);
    CHECK(strstr(nino_document_ui_json(d, NULL), "\"slot_index\": 0"));
    CHECK(node(d, "5")->inputs[0].link >= 0);
    prompt = prompt_of(d);
    CHECK(strstr(prompt, "[\"9:4\""));
    free(prompt);
    OK(nino_document_remove_port(d, at, false, 0, &err)); // with a link outside
    CHECK(nino_document_n_links(d) == 1 && node(d, "9")->n_inputs == 1);
    OK(nino_document_remove_port(d, at, true, 0, &err));
    CHECK(nino_document_n_links(d) == 0 && node(d, "9")->n_outputs == 0);
    while (nino_document_undo_name(d))
        OK(nino_document_undo(d, &err));
    char *now = kept_text(d);
    CHECK_STR(now, before);
    free(now);
    free(inside);
    free(before);
    nino_document_destroy(&d);
}

static int input_of(const nino_doc_node *n, const char *name)
{
    for (int i = 0; i < n->n_inputs; i++)
        if (!strcmp(n->inputs[i].name, name))
            return i;
    CHECK(0);
    return 0;
}

static void test_add(void)
{
    nino_document *d = load_flow();
    char *prompt = prompt_of(d);
    CHECK(nino_document_add_port(d, 0, true, 0, &err) == NINO_ERR_ARG); // not in a subgraph
    OK(nino_document_enter(d, "9", &err));
    char *before = kept_text(d);
    const int sampler = nino_document_find(d, "7");
    OK(nino_document_add_port(d, sampler, false, input_of(node(d, "7"), "seed"), &err)); // a value
    CHECK_STR(nino_document_undo_name(d), "Add input seed");
    check_undo(d, before);
    OK(nino_document_add_port(d, sampler, false, 0, &err)); // a socket
    OK(nino_document_add_port(d, sampler, true, 0, &err));
    OK(nino_document_add_port(d, nino_document_find(d, "3"), true, 0, &err));  // a second "A"
    OK(nino_document_add_port(d, nino_document_find(d, "3"), false, 1, &err)); // had a link
    const nino_doc_node *in = nino_document_node(d, end_of(d, NINO_DOC_INPUT));
    CHECK(in->n_outputs == 6);
    CHECK_STR(in->outputs[5].name, "text_1");
    CHECK(in->outputs[1].n_links == 0 && in->outputs[5].n_links == 1);
    CHECK(nino_document_add_port(d, sampler, true, 1, &err) == NINO_ERR_ARG);
    OK(nino_document_leave(d, 1, &err));
    const nino_doc_node *n = node(d, "9");
    CHECK(n->n_inputs == 6 && n->n_outputs == 4);
    CHECK_STR(n->inputs[4].name, "positive");
    CHECK_STR(n->outputs[3].name, "CONDITIONING");
    CHECK_STR(nino_doc_widget_find(n, "seed")->text, "8"); // what it has inside
    char *now = prompt_of(d);
    CHECK(strstr(now, "\"seed\": 8"));
    free(now);
    OK(nino_document_set_text(d, "9", "seed", "77", &err));
    now = prompt_of(d);
    CHECK(strstr(now, "\"seed\": 77"));
    free(now);
    CHECK(nino_document_connect(d, nino_document_find(d, "9"), 3, nino_document_find(d, "9"), 4,
                                &err) == NINO_ERR_ARG); // a circle
    while (nino_document_undo_name(d))
        OK(nino_document_undo(d, &err));
    now = prompt_of(d);
    CHECK_STR(now, prompt);
    free(now);
    free(before);
    free(prompt);
    nino_document_destroy(&d);
}

static void test_promote(void)
{
    nino_document *d = load_flow();
    CHECK(nino_document_promote(d, "5", "seed", true, &err) == NINO_ERR_ARG); // not inside
    OK(nino_document_enter(d, "9", &err));
    char *before = kept_text(d), *prompt = prompt_of(d);
    CHECK(nino_document_promote(d, "3", "text", true, &err) == NINO_ERR_ARG);
    CHECK_STR(err.kind, "linked");
    CHECK(nino_document_promote(d, "7", "none", true, &err) == NINO_ERR_UNKNOWN);
    CHECK(!nino_document_is_promoted(d, "7", "steps"));
    OK(nino_document_promote(d, "7", "steps", true, &err));
    check_undo(d, before);
    CHECK(nino_document_is_promoted(d, "7", "steps"));
    OK(nino_document_promote(d, "7", "cfg", true, &err));
    OK(nino_document_promote(d, "7", "cfg", true, &err)); // it is already
    OK(nino_document_leave(d, 1, &err));
    const nino_doc_node *n = node(d, "9");
    CHECK(n->n_widgets == 4); // two of its own
    CHECK_STR(nino_doc_widget_find(n, "text")->text, "one 9");
    CHECK_STR(nino_doc_widget_find(n, "steps")->text, "30");
    CHECK(strstr(nino_document_ui_json(d, NULL), "[\"-1\", \"text\"], [\"-1\", \"more\"], [\"7\", "
                                                 "\"steps\"], [\"7\", \"cfg\"]]"));
    char *now = prompt_of(d);
    CHECK_STR(now, prompt);
    free(now);
    OK(nino_document_set_text(d, "9", "steps", "31", &err));
    now = prompt_of(d);
    CHECK(strstr(now, "\"steps\": 31"));
    free(now);
    CHECK(nino_document_demote(d, "9", "text", &err) == NINO_ERR_ARG); // an input
    OK(nino_document_demote(d, "9", "steps", &err));
    CHECK(!nino_doc_widget_find(node(d, "9"), "steps") &&
          nino_doc_widget_find(node(d, "9"), "cfg"));
    now = prompt_of(d);
    CHECK(strstr(now, "\"steps\": 31")); // it stays inside
    free(now);
    OK(nino_document_enter(d, "9", &err));
    CHECK(!nino_document_is_promoted(d, "7", "steps"));
    OK(nino_document_promote(d, "7", "cfg", false, &err));
    CHECK(!nino_document_is_promoted(d, "7", "cfg"));
    // a port that goes takes its place in the list along
    OK(nino_document_promote(d, "7", "cfg", true, &err));
    OK(nino_document_remove_port(d, end_of(d, NINO_DOC_INPUT), true, 1, &err));
    CHECK(!strstr(nino_document_ui_json(d, NULL), "[\"-1\", \"text\"]"));
    // and one that comes is listed
    OK(nino_document_add_port(d, nino_document_find(d, "7"), false, input_of(node(d, "7"), "seed"),
                              &err));
    CHECK(strstr(nino_document_ui_json(d, NULL), "[\"-1\", \"seed\"]"));
    while (nino_document_undo_name(d))
        OK(nino_document_undo(d, &err));
    now = kept_text(d);
    CHECK_STR(now, before);
    free(now);
    free(prompt);
    free(before);
    nino_document_destroy(&d);
}

// A link from an output that there is not is left out.
static void test_odd_link(void)
{
    char *json = test_quoted(
        "{'nodes': [{'id': 1, 'type': 'EmptyLatentImage', 'outputs': [{'name': 'LATENT', 'type': "
        "'LATENT', 'links': [1]}], 'widgets_values': [8, 8, 1]}, {'id': 2, 'type': "
        "'LatentUpscaleBy', 'inputs': [{'name': 'samples', 'type': 'LATENT', 'link': 1}], "
        "'outputs': [{'name': 'LATENT', 'type': 'LATENT'}], 'widgets_values': ['area', 2]}], "
        "'links': [[1, 1, 5, 2, 0, 'LATENT']]}");
    nino_document *d = load(json);
    CHECK(nino_document_n_links(d) == 0 && node(d, "2")->inputs[0].link < 0);
    nino_document_destroy(&d);
    free(json);
}

int main(void)
{
    test_odd_link();
    test_rename();
    test_remove();
    test_add();
    test_promote();
    return 0;
}
