// Every allocation of reading, changing and copying a workflow, and of reading pictures, fails
// once: a clean "nomem", nothing leaks.
#include <ninodes/grid.h>

#include "core/media/image.h"
#include "core/media/png.h"
#include "core/workflow/workflow.h"
#include "tests/unit/oom/arena.h"
#include "tests/picture.h"

static nino_error err;

static bool done(nino_status st, int may_fail)
{
    if (st)
        CHECK_STR(err.kind, "nomem");
    return oom_passed(st, &err, may_fail);
}

// a subgraph used twice, a group node, a primitive through a reroute, a former order, a broken link
static const char flow[] =
    "{\"nodes\": [{\"id\": 1, \"type\": \"EmptyLatentImage\", \"inputs\": [{\"name\": \"width\", "
    "\"type\": \"INT\", \"link\": 2}], \"widgets_values\": [64, 32]}, "
    "{\"id\": 2, \"type\": \"PrimitiveNode\", \"widgets_values\": [512, \"fixed\"]}, "
    "{\"id\": 3, \"type\": \"Reroute\", \"inputs\": [{\"name\": \"\", \"type\": \"*\", \"link\": "
    "1}]}, "
    "{\"id\": 4, \"type\": \"S\", \"inputs\": [{\"name\": \"samples\", \"type\": \"LATENT\", "
    "\"link\": 3}], \"widgets_values\": [2.5]}, {\"id\": 5, \"type\": \"S\"}, "
    "{\"id\": 6, \"type\": \"workflow/G\", \"widgets_values\": [7, \"fixed\"]}, "
    "{\"id\": 7, \"type\": \"SaveLatent\", \"inputs\": [{\"name\": \"samples\", \"type\": "
    "\"LATENT\", \"link\": 4}]}, {\"id\": 8, \"type\": \"SaveLatent\", \"inputs\": [{\"name\": "
    "\"samples\", \"type\": \"LATENT\", \"link\": 99}]}, "
    "{\"id\": 9, \"type\": \"ROCMOptimizedVAEDecode\", \"widgets_values\": [768, 96, true, "
    "\"auto\", "
    "true, 8, true]}], \"links\": [[1, 2, 0, 3, 0, \"INT\"], [2, 3, 0, 1, 0, \"INT\"], "
    "[3, 1, 0, 4, 0, \"LATENT\"], [4, 4, 0, 7, 0, \"LATENT\"]], \"definitions\": {\"subgraphs\": ["
    "{\"id\": \"S\", \"inputs\": [{\"name\": \"samples\", \"type\": \"LATENT\"}], \"outputs\": "
    "[{}], "
    "\"nodes\": [{\"id\": 4, \"type\": \"LatentUpscaleBy\", \"inputs\": [{\"name\": \"samples\", "
    "\"type\": \"LATENT\", \"link\": 1}], \"widgets_values\": [\"bilinear\", 1.5]}], \"links\": ["
    "{\"id\": 1, \"origin_id\": -10, \"origin_slot\": 0, \"target_id\": 4, \"target_slot\": 0}, "
    "{\"id\": 2, \"origin_id\": 4, \"origin_slot\": 0, \"target_id\": -20, \"target_slot\": "
    "0}]}]}, "
    "\"extra\": {\"groupNodes\": {\"G\": {\"nodes\": [{\"type\": \"RandomNoise\", \"outputs\": "
    "[{\"type\": \"NOISE\"}]}], \"links\": [], \"external\": []}}}}";

static void ignore(void *priv, const nino_issue *i)
{
    (void) priv;
    (void) i;
}

static void test_load(int may_fail)
{
    nino_graph *g = nino_graph_load(flow, sizeof(flow) - 1, "flow.json", &err);
    if (!done(g ? NINO_OK : err.code, may_fail))
        return;
    CHECK(nino_graph_nodes(g, NULL, 0) == 7);
    const size_t errors = nino_graph_check(g, NULL, ignore, NULL);
    CHECK(errors == 1 || may_fail); // link 99
    nino_graph *copy = nino_graph_copy(g, &err);
    done(copy ? NINO_OK : err.code, may_fail);
    nino_graph_destroy(&copy);
    char *text = NULL;
    CHECK(nino_graph_workflow_ascii(g, &text) || may_fail);
    free(text);
    nino_graph_destroy(&g);
}

// what editors of 2026 write: an id that is there twice, a link that its origin knows, values that
// an instance keeps, values by name, a choice that brings others
#define NEWER                                                                                      \
    "{'nodes': [{'id': 1, 'type': 'ResizeImageMaskNode', 'widgets_values': ['scale dimensions', "  \
    "8, 8, 'center', 'area']}, {'id': 1, 'type': 'Note'}, {'id': 2, 'type': 'S', 'properties': "   \
    "{'proxyWidgets': [['-1', 'width'], ['4', 'height']]}, 'widgets_values': [32, 64]}, {'id': "   \
    "3, "                                                                                          \
    "'type': 'EmptyLatentImage', 'outputs': [{'type': 'LATENT', 'links': [5]}], "                  \
    "'widgets_values': [64, 64, 1]}, {'id': 5, 'type': 'SaveLatent', 'inputs': [{'name': "         \
    "'samples', "                                                                                  \
    "'type': 'LATENT', 'link': null}], 'widgets_values_named': {'filename_prefix': 'x'}}], "       \
    "'links': [[5, 3, 0, 5, 0, 'LATENT']], 'definitions': {'subgraphs': [{'id': 'S', 'inputs': "   \
    "[{'name': 'width', 'linkIds': [1]}], 'nodes': [{'id': 4, 'type': 'EmptyLatentImage', "        \
    "'inputs': [{'name': 'width', 'link': null, 'widget': {'name': 'width'}}], "                   \
    "'widgets_values': [8, 16, 1]}], 'links': [{'id': 1, 'origin_id': -10, 'origin_slot': 0, "     \
    "'target_id': 4, 'target_slot': 0}]}]}}"

static void test_newer(int may_fail)
{
    const long at = oom_pause();
    char *json = test_quoted(NEWER);
    CHECK(json);
    oom_resume(at);
    nino_graph *g = nino_graph_load(json, strlen(json), "flow.json", &err);
    if (done(g ? NINO_OK : err.code, may_fail)) {
        CHECK(nino_graph_nodes(g, NULL, 0) == 4);
        CHECK(!nino_graph_check(g, NULL, ignore, NULL) || may_fail);
        done(nino_graph_set(g, "2:4.height=72", &err), may_fail);
    }
    nino_graph_destroy(&g);
    free(json);
}

// Broadcasts by type and by a pattern of titles, a seed for everybody, names of values, a subgraph that
// is muted, values by name beside a list, widgets that a class does not have.
#define AROUND                                                                                     \
    "{'nodes': [{'id': 1, 'type': 'VAELoader', 'outputs': [{'name': 'VAE', 'type': 'VAE', "        \
    "'links': [1]}], 'widgets_values': ['v']}, {'id': 2, 'type': 'Anything Everywhere?', "         \
    "'inputs': [{'name': 'anything', 'type': 'VAE', 'link': 1}], 'widgets_values': ['.*', '.*', "  \
    "'.*']}, {'id': 3, 'type': 'VAEDecode', 'inputs': [{'name': 'samples', 'type': 'LATENT', "     \
    "'link': 4}, {'name': 'vae', 'type': 'VAE', 'link': null}], 'outputs': [{'name': 'IMAGE', "    \
    "'type': 'IMAGE', 'links': [2]}]}, {'id': 4, 'type': 'SetNode', 'inputs': [{'name': 'IMAGE', " \
    "'type': 'IMAGE', 'link': 2}], 'widgets_values': ['made']}, {'id': 5, 'type': 'GetNode', "     \
    "'outputs': [{'name': 'IMAGE', 'type': 'IMAGE', 'links': [3]}], 'widgets_values': ['made']}, " \
    "{'id': 6, 'type': 'SaveImage', 'inputs': [{'name': 'images', 'type': 'IMAGE', 'link': 3}], "  \
    "'widgets_values': ['x']}, {'id': 7, 'type': 'EmptyLatentImage', 'outputs': [{'name': "        \
    "'LATENT', 'type': 'LATENT', 'links': [4]}], 'widgets_values': [8, 8, 1], "                    \
    "'widgets_values_named': {'width': 8, 'height': 8, 'batch_size': 1}}, {'id': 8, 'type': "      \
    "'Seed Everywhere', 'outputs': [{'name': 'seed', 'type': 'INT', 'links': []}], "               \
    "'widgets_values': [5, 'fixed']}, {'id': 9, 'type': 'NoSuchPack', 'inputs': [{'name': 'a', "   \
    "'type': 'INT', 'link': null, 'widget': {'name': 'a'}}], 'widgets_values': [1]}], 'links': "   \
    "[[1, 1, 0, 2, 0, 'VAE'], [2, 3, 0, 4, 0, 'IMAGE'], [3, 5, 0, 6, 0, 'IMAGE'], [4, 7, 0, 3, "   \
    "0, 'LATENT']]}"

static void test_around(int may_fail)
{
    const long at = oom_pause();
    char *json = test_quoted(AROUND);
    CHECK(json);
    oom_resume(at);
    nino_graph *g = nino_graph_load(json, strlen(json), "flow.json", &err);
    if (done(g ? NINO_OK : err.code, may_fail)) {
        const size_t errors = nino_graph_check(g, NULL, ignore, NULL);
        CHECK(errors > 0 || may_fail); // a class that nobody knows
        done(nino_graph_set(g, "7.width=72", &err), may_fail);
    }
    nino_graph_destroy(&g);
    free(json);
}

static void test_set(int may_fail)
{
    static const char *const sets[] = { "1.width=72", "1.batch_size=2", "4:4.scale_by=3",
                                        "9.last_frame_fix=1", "6:0.noise_seed=5" };
    const long at = oom_pause();
    nino_graph *g = nino_graph_load(flow, sizeof(flow) - 1, "flow.json", &err);
    CHECK(g);
    oom_resume(at);
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        done(nino_graph_set(g, sets[i], &err), may_fail);
    nino_graph_destroy(&g);
}

static void test_attached(int may_fail)
{
    static const char both[] =
        "{\"prompt\": {\"1\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {\"width\": 8}}}, "
        "\"extra_data\": {\"extra_pnginfo\": {\"workflow\": {\"nodes\": [{\"id\": 1, \"type\": "
        "\"EmptyLatentImage\", \"widgets_values\": [8, 8, 1]}], \"links\": []}}}}";
    nino_graph *g = nino_graph_load(both, sizeof(both) - 1, "flow.json", &err);
    if (!done(g ? NINO_OK : err.code, may_fail))
        return;
    done(nino_graph_set(g, "1.width=64", &err), may_fail);
    nino_graph_destroy(&g);
}

static nino_buf pictures[2], edited, tensors;

// A prompt with the form of the editor beside it: in a picture, edited there by hand, and in the header of a
// file of tensors. Never is one taken for the other.
static void test_texts(int may_fail)
{
    const nino_buf *const files[] = { &edited, &tensors };
    for (int i = 0; i < 2; i++) {
        nino_graph *g = nino_graph_load(files[i]->data, files[i]->len, "x", &err), *copy;
        if (!done(g ? NINO_OK : err.code, may_fail))
            continue;
        CHECK(nino_graph_find(g, i ? "1" : "7") == 0); // what is edited is what counts
        const nino_status set = nino_graph_set(g, i ? "1.width=72" : "7.width=72", &err);
        done(set, may_fail);
        copy = nino_graph_copy(g, &err);
        if (done(copy ? NINO_OK : err.code, may_fail)) {
            size_t len = 0;
            CHECK(nino_graph_ui_json(copy, &len));
            char *prompt = nino_graph_prompt_ascii(copy), *ui = NULL;
            CHECK(nino_graph_workflow_ascii(copy, &ui) || may_fail);
            CHECK((prompt && ui && strstr(ui, "\\u00e4\\ud83d\\ude00")) || may_fail);
            CHECK(!prompt || set || strstr(prompt, "72"));
            CHECK(!ui || set || strstr(ui, "72")); // both say what was set
            free(prompt);
            free(ui);
        }
        nino_graph_destroy(&copy);
        nino_graph_destroy(&g);
    }
}

static void test_axis(int may_fail)
{
    nino_axis a = { 0 };
    if (done(nino_axis_parse("1.cfg=1..3:0.5,\"a,b\",x", &a, &err), may_fail)) {
        CHECK(a.n == 7 && !strcmp(a.value[5], "a,b"));
        char *text = nino_axis_assignment(&a, 6);
        CHECK((text && !strcmp(text, "1.cfg=x")) || may_fail);
        free(text);
    }
    nino_axis_release(&a);
}

// Values in the place of links, of every type.
static void test_literals(int may_fail)
{
    static const char *const texts[] = { "true", "7", "7.5", "\"a\"", "[1]", "{\"a\": [1]}" };
    static const nino_port any = { .key = "x", .type = NINO_PORT_ANY };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const long at = oom_pause();
        nino_graph g = { 0 };
        CHECK_OK(nino_json_parse(texts[i], strlen(texts[i]), "x", NULL, &g.doc, &err), err);
        oom.at = at;
        nino_value *v = nino_port_literal(&g, &any, g.doc->root);
        CHECK(v || may_fail);
        CHECK(!v || v->type != NINO_PORT_DICT || !strcmp(v->u.string, texts[i]));
        nino_value_unref(&v);
        nino_json_doc_destroy(&g.doc);
    }
}

static void make_texts(void)
{
#define BESIDE(id, title)                                                                          \
    "{\"nodes\": [{\"id\": " id ", \"type\": \"EmptyLatentImage\", \"title\": \"" title            \
    "\", \"widgets_values\": [64, 8, 1]}], \"links\": []}"
    static const char prompt[] =
        "{\"1\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {\"width\": 64}}}";
    static const char ui[] = BESIDE("7", "\xc3\xa4\xf0\x9f\x98\x80");
    const nino_meta texts[] = { { "prompt", prompt, strlen(prompt) },
                                { "workflow", ui, strlen(ui) } };
    const uint8_t pixel[3] = { 0 };
    CHECK_OK(nino_png_encode(&edited, pixel, 1, 1, 3, 8, texts, 2, &err), err);
    char *at = memmem(edited.data, edited.len, "64, 8, 1", 8);
    CHECK(at);
    *at = '3';
    nino_buf head = { 0 };
    nino_buf_adds(&head, "{\"__metadata__\": {\"prompt\": ");
    nino_buf_add_json_string(&head, prompt, strlen(prompt));
    nino_buf_adds(&head, ", \"workflow\": ");
    static const char same[] = BESIDE("1", "\xc3\xa4\xf0\x9f\x98\x80");
    nino_buf_add_json_string(&head, same, strlen(same));
    nino_buf_adds(&head, "}}");
    const uint64_t n = head.len;
    nino_buf_add(&tensors, &n, 8);
    nino_buf_add(&tensors, head.data, head.len);
    CHECK(!head.failed && !tensors.failed);
    nino_buf_release(&head);
}

static void test_images(int may_fail)
{
    for (int k = 0; k < 2; k++)
        for (int with_pixels = 0; with_pixels < 2; with_pixels++) {
            nino_image i;
            if (done(nino_image_read(pictures[k].data, pictures[k].len, "x", with_pixels, &i, &err),
                     may_fail))
                CHECK(i.width == 6 && !i.pixels == !with_pixels);
            nino_image_release(&i);
        }
}

int main(void)
{
    const exif_entry e[] = { { 0x0110, 2, "prompt:{}", 0, 0 }, { 0x0112, 3, NULL, 0, 6 } };
    uint8_t pixels[4 * 6 * 4] = { 0 };
    nino_buf exif = exif_make(e, 2, 0, false);
    pictures[0] = webp_make(pixels, 4, 6, 1, true, &exif);
    pictures[1] = jpeg_make(pixels, 4, 6, 3, false, &exif);
    CHECK(oom_each(test_load) > 10);
    CHECK(oom_each(test_newer) > 10);
    CHECK(oom_each(test_around) > 10);
    CHECK(oom_each(test_set) > 10);
    CHECK(oom_each(test_attached) > 10);
    CHECK(oom_each(test_images) > 4);
    make_texts();
    CHECK(oom_each(test_texts) > 10);
    CHECK(oom_each(test_axis) > 4);
    CHECK(oom_each(test_literals) > 4);
    nino_buf_release(&edited);
    nino_buf_release(&tensors);
    nino_buf_release(&exif);
    nino_buf_release(&pictures[0]);
    nino_buf_release(&pictures[1]);
    return 0;
}
