// Whatever is taken as a workflow can be checked, edited, copied and printed; a check without
// errors leaves a graph that the executor can walk; whatever is refused carries a kind.
#include "core/workflow/workflow.h"
#include "core/node/param.h"
#include "tests/fuzz/fuzz.h"
#include "tests/prompt.h"
#include "tests/test.h"

const size_t fuzz_max_len = 4096;

const char *const fuzz_words[] = { "\"1\"",
                                   "\"2\"",
                                   "\"3\"",
                                   "[\"1\", 0]",
                                   "[\"2\", 0]",
                                   "[\"3\", 0]",
                                   "[\"2\", 2]",
                                   "[\"2\", -1]",
                                   "[\"4\", 0, 0]",
                                   "\"class_type\": ",
                                   "\"inputs\": {",
                                   "\"SaveImage\"",
                                   "\"VAEDecode\"",
                                   "\"VAELoader\"",
                                   "\"EmptyLatentImage\"",
                                   "\"LatentUpscaleBy\"",
                                   "\"ROCMOptimizedVAEDecodeV2\"",
                                   "\"Reroute\"",
                                   "\"Note\"",
                                   "\"KSampler\"",
                                   "\"images\": ",
                                   "\"samples\": ",
                                   "\"vae\": ",
                                   "\"\": ",
                                   "\"width\": ",
                                   "\"precision_mode\": \"mixed\"",
                                   "{\"__value__\": 64}",
                                   "\"prompt\": {",
                                   "\"nodes\": []",
                                   "\"nodes\": [",
                                   "\"links\": [",
                                   "\"definitions\": {\"subgraphs\": [",
                                   "{\"id\": 1, \"type\": \"S\"}",
                                   "{\"id\": 4, \"type\": \"T\"}",
                                   "[1, 1, 0, 2, 0, \"LATENT\"]",
                                   "{\"id\": 2, \"origin_id\": -10, \"origin_slot\": 0}",
                                   "\"link\": 1",
                                   "\"link\": 2",
                                   "\"mode\": 4",
                                   "\"mode\": 2",
                                   "\"widgets_values\": [",
                                   "\"widget\": {\"name\": \"width\"}",
                                   "\"PrimitiveNode\"",
                                   "\"workflow/G\"",
                                   "\"fixed\"",
                                   "-20",
                                   "\"filename_prefix\": \"../%date:yy%\"",
                                   "\"%KSampler.seed%\"",
                                   "18446744073709551616",
                                   "1e999",
                                   "NaN",
                                   "true",
                                   "null",
                                   "\\u0000",
                                   "\\u001b[2J",
                                   NULL };

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    static const char *const seeds[] = {
        "{\"1\": {\"class_type\": \"VAELoader\", \"inputs\": {\"vae_name\": \"taesd\"}}, "
        "\"2\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {\"width\": 512, \"height\": "
        "\"512.0\", \"batch_size\": 1}}, \"3\": {\"class_type\": \"VAEDecode\", \"inputs\": "
        "{\"samples\": [\"2\", 0], \"vae\": [1, 0]}}, \"4\": {\"class_type\": \"SaveImage\", "
        "\"inputs\": {\"images\": [\"3\", 0], \"filename_prefix\": \"%date:yyyy%/x\"}, \"_meta\": "
        "{\"title\": \"Out\\u00e9\"}}}",
        "{\"prompt\": {\"a\": {\"class_type\": \"EmptySD3LatentImage\"}, \"b\": {\"class_type\": "
        "\"Reroute\", \"inputs\": {\"\": [\"a\", 0]}}, \"c\": {\"class_type\": \"SaveLatent\", "
        "\"inputs\": {\"samples\": [\"b\", 0]}}}, \"extra_data\": {\"extra_pnginfo\": "
        "{\"workflow\": "
        "{\"nodes\": []}}}}",
        "{\"1\": {\"class_type\": \"LatentUpscaleBy\", \"inputs\": {\"samples\": [\"2\", 0], "
        "\"scale_by\": 1.5}}, \"2\": {\"class_type\": \"LatentUpscale\", \"inputs\": {\"samples\": "
        "[\"1\", 0]}}, \"3\": {\"class_type\": \"SaveLatent\", \"inputs\": {\"samples\": [\"1\", "
        "0]}}}",
        "{\"1\": {\"class_type\": \"ROCMMemoryOptimizer\", \"inputs\": {\"enable_gc\": false, "
        "\"optimization_level\": \"aggressive\"}}, \"2\": {\"class_type\": \"KSampler\"}}",
        "{\"nodes\": [], \"links\": []}",
        "{\"nodes\": [{\"id\": 1, \"type\": \"EmptyLatentImage\", \"inputs\": [{\"name\": "
        "\"width\", \"type\": \"INT\", \"link\": 2}], \"outputs\": [{\"links\": [3]}], "
        "\"widgets_values\": [64, 32]}, {\"id\": 2, \"type\": \"PrimitiveNode\", "
        "\"widgets_values\": [512, \"fixed\"]}, {\"id\": 3, \"type\": \"Reroute\", \"inputs\": "
        "[{\"name\": \"\", \"type\": \"*\", \"link\": 1}]}, {\"id\": 4, \"type\": \"S\", "
        "\"inputs\": [{\"name\": \"samples\", \"type\": \"LATENT\", \"link\": 3}], "
        "\"widgets_values\": [2.5]}, {\"id\": 5, \"type\": \"S\", \"mode\": 4}, {\"id\": 7, "
        "\"type\": \"SaveLatent\", \"inputs\": [{\"name\": \"samples\", \"type\": \"LATENT\", "
        "\"link\": 4}]}], \"links\": [[1, 2, 0, 3, 0, \"INT\"], [2, 3, 0, 1, 0, \"INT\"], [3, 1, "
        "0, "
        "4, 0, \"LATENT\"], [4, 4, 0, 7, 0, \"LATENT\"]], \"definitions\": {\"subgraphs\": ["
        "{\"id\": \"S\", \"inputs\": [{\"name\": \"samples\", \"type\": \"LATENT\"}], "
        "\"outputs\": [{}], \"nodes\": [{\"id\": 4, \"type\": \"LatentUpscaleBy\", \"inputs\": "
        "[{\"name\": \"samples\", \"type\": \"LATENT\", \"link\": 1}], \"widgets_values\": "
        "[\"bilinear\", 1.5]}], \"links\": [{\"id\": 1, \"origin_id\": -10, \"origin_slot\": 0, "
        "\"target_id\": 4, \"target_slot\": 0}, {\"id\": 2, \"origin_id\": 4, \"origin_slot\": 0, "
        "\"target_id\": -20, \"target_slot\": 0}]}]}}",
        "{\"nodes\": [{\"id\": 6, \"type\": \"workflow/G\", \"inputs\": [{\"name\": \"samples\", "
        "\"type\": \"LATENT\", \"link\": 1}], \"widgets_values\": [7, \"fixed\", \"area\", 2]}, "
        "{\"id\": 1, \"type\": \"KSampler\", \"widgets_values\": [5, \"fixed\", 20, 8, \"euler\", "
        "\"simple\", 1]}, {\"id\": 2, \"type\": \"ROCMOptimizedVAEDecode\", \"widgets_values\": "
        "[768, 96, true, \"auto\", true, 8, true]}], \"links\": [[1, 1, 0, 6, 0, \"LATENT\"]], "
        "\"extra\": {\"groupNodes\": {\"G\": {\"nodes\": [{\"type\": \"RandomNoise\", "
        "\"outputs\": [{\"type\": \"NOISE\"}]}, {\"type\": \"Reroute\", \"inputs\": [{\"name\": "
        "\"\", \"type\": \"*\"}], \"outputs\": [{}]}, {\"type\": \"LatentUpscaleBy\", \"inputs\": "
        "[{\"name\": \"samples\", \"type\": \"LATENT\"}], \"outputs\": [{}]}], \"links\": "
        "[[1, 0, 2, 0, 9, \"LATENT\"]], \"external\": [[0, 0, \"NOISE\"]]}}}}",
        "{\"nodes\": [{\"id\": 1, \"type\": \"ResizeImageMaskNode\", \"widgets_values\": [\"scale"
        " dimensions\", 8, 8, \"center\", \"area\"]}, {\"id\": 1, \"type\": \"Note\"}, {\"id\": 2"
        ", \"type\": \"S\", \"properties\": {\"proxyWidgets\": [[\"-1\", \"width\"], [\"4\", \"he"
        "ight\"]]}, \"widgets_values\": [32, 64]}, {\"id\": 3, \"type\": \"EmptyLatentImage\", \""
        "outputs\": [{\"type\": \"LATENT\", \"links\": [5]}], \"widgets_values\": [8, 8, 1]}, {\""
        "id\": 5, \"type\": \"SaveLatent\", \"inputs\": [{\"name\": \"samples\", \"type\": \"LATE"
        "NT\", \"link\": null}], \"widgets_values_named\": {\"filename_prefix\": \"x\"}}], \"link"
        "s\": [[5, 3, 0, 5, 0, \"LATENT\"]], \"definitions\": {\"subgraphs\": [{\"id\": \"S\", \""
        "inputs\": [{\"name\": \"width\", \"linkIds\": [1]}], \"nodes\": [{\"id\": 4, \"type\": \""
        "EmptyLatentImage\", \"inputs\": [{\"name\": \"width\", \"link\": null, \"widget\": {\"na"
        "me\": \"width\"}}], \"widgets_values\": [8, 16, 1]}], \"links\": [{\"id\": 1, \"origin_i"
        "d\": -10, \"origin_slot\": 0, \"target_id\": 4, \"target_slot\": 0}]}]}}",
    };
    return fuzz_text(seeds, sizeof(seeds) / sizeof(seeds[0]), i, buf, cap);
}

static void note(void *priv, const nino_issue *i)
{
    size_t *n = priv;
    *n += i->severity == NINO_ISSUE_ERROR;
    CHECK(i->code && i->code[0] && i->message[0]);
    TELL("%d %s %s.%s (%s): %s\n", i->severity, i->code, i->node, i->input, i->class_type,
         i->message);
    for (const char *c = i->message; *c; c++)
        CHECK((unsigned char) *c >= 0x20 && *c != 0x7f);
}

// What the executor relies on.
static void check_runnable(const nino_graph *g)
{
    int *at = calloc((size_t) g->n_nodes + 1, sizeof(*at)); // position in the order, from 1
    CHECK(at && g->n_order > 0);
    for (int k = 0; k < g->n_order; k++) {
        const int i = g->order[k];
        const nino_gnode *n = &g->nodes[i];
        CHECK(i >= 0 && i < g->n_nodes && !at[i]);
        CHECK(n->def && n->def->ops && n->def->ops->run && n->params && n->is_wanted);
        TELL("runs %s %s", n->id, n->def->key);
        at[i] = k + 1;
        for (int p = 0; n->def->inputs && n->def->inputs[p].key; p++) {
            const nino_link l = n->ports[p];
            CHECK(l.node >= 0 || n->def->inputs[p].optional || n->untaken >> p & 1 ||
                  (n->literals && n->literals[p])); // a value stands there
            CHECK(l.node < 0 || at[l.node]);        // sources come first
            TELL(" %d:%d", l.node, l.slot);
            for (int s = 0; l.node >= 0 && s <= l.slot; s++)
                CHECK(g->nodes[l.node].def->outputs[s].key);
        }
        for (int p = 0; n->def->params && n->def->params[p].key; p++) {
            const nino_default v = nino_param_load(&n->def->params[p], n->params);
            CHECK(n->param_links[p].node < 0 || at[n->param_links[p].node]);
            CHECK(n->def->params[p].type != NINO_STRING || v.s);
            CHECK(n->def->params[p].type != NINO_FILE || v.s);
        }
    }
    free(at);
}

// The API form of an edited UI file is what its text comes to.
static void check_same(nino_graph *a, nino_graph *b)
{
    nino_buf diff = { 0 };
    prompt_diff(a->prompt, b->prompt, &diff);
    if (diff.len)
        fprintf(stderr, "%s", diff.data);
    CHECK(!diff.len);
    nino_buf_release(&diff);
}

// An edit that may be refused.
static void edit(nino_graph *g, const char *assignment)
{
    nino_error err = { 0 };
    if (nino_graph_set(g, assignment, &err))
        tell_error(&err);
}

static void check_edits(nino_graph *g)
{
    for (int i = 0; i < g->n_nodes && i < 4; i++) {
        char assignment[NINO_GRAPH_MAX_NAME + 64];
        snprintf(assignment, sizeof(assignment), "%s.width=64", g->nodes[i].id);
        edit(g, assignment);
        snprintf(assignment, sizeof(assignment), "%s.samples=[\"1\",0]", g->nodes[i].id);
        edit(g, assignment);
        snprintf(assignment, sizeof(assignment), "%s.scale_by=3", g->nodes[i].id);
        edit(g, assignment);
        snprintf(assignment, sizeof(assignment), "%s.last_frame_fix=true", g->nodes[i].id);
        edit(g, assignment);
    }
    nino_error err = { 0 };
    nino_graph *copy = nino_graph_copy(g, &err);
    CHECK_OK(copy ? NINO_OK : err.code, err);
    CHECK(copy->n_nodes == g->n_nodes);
    TELL("%s\n", nino_graph_json(copy, NULL));
    CHECK_STR(nino_graph_json(copy, NULL), nino_graph_json(g, NULL));
    check_same(copy, g);
    size_t a = 0, b = 0;
    CHECK(nino_graph_check(g, NULL, note, &a) == nino_graph_check(copy, NULL, note, &b) && a == b);
    nino_graph_destroy(&copy);
}

static void check_written(const char *text, size_t len)
{
    nino_error err = { 0 };
    size_t n = 0;
    nino_graph *g = nino_graph_load(text, len, "fuzz", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    const char *again = nino_graph_json(g, &n);
    CHECK(n == len && !memcmp(again, text, len));
    nino_graph_destroy(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    nino_error err = { 0 };
    size_t len = 0, errors = 0;
    nino_graph *g = nino_graph_load(data, size, "fuzz", &err);
    if (!g) {
        CHECK(err.code && err.kind && err.msg[0]);
        tell_error(&err);
        return 0;
    }
    const char *back = nino_graph_json(g, &len);
    CHECK(len > 0);
    const bool same = len == size && !memcmp(back, data, size);
    CHECK((size > 8 && !data[7]) || same || g->ui);
    if (!same && g->ui) // put right: what is written now is read as it is
        check_written(back, len);
    char *ascii = nino_graph_prompt_ascii(g);
    CHECK(ascii);
    TELL("%s\n", ascii);
    for (const char *c = ascii; *c; c++)
        CHECK((unsigned char) *c < 0x80);
    free(ascii);
    CHECK(nino_graph_check(g, NULL, note, &errors) == errors);
    if (!errors)
        check_runnable(g);
    check_edits(g);
    nino_graph_destroy(&g);
    return 0;
}
