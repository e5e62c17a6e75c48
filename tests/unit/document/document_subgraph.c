// Nodes into a subgraph and out of it: the same prompt before and after, undo byte for byte, ports,
// values that the instance keeps, what is refused; and chosen parts of real workflows.
#include <dirent.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "tests/document.h"
#include <math.h>

// ---- what a prompt says, whatever its nodes are called -----------------------------------------

enum { MAX_NODES = 2000 };

typedef struct prompt {
    const nino_json *at[MAX_NODES];
    uint64_t hash[MAX_NODES]; // 0: not known yet
    int n, depth;
} prompt;

static uint64_t mix(uint64_t h, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char) s[i]) * 1099511628211u;
    return h;
}

static uint64_t hash_node(prompt *p, const nino_json_doc *doc, int i);

static uint64_t hash_value(prompt *p, const nino_json_doc *doc, const nino_json *v)
{
    const char *from = v->type == NINO_JSON_ARRAY && v->count == 2 ? nino_json_str(v->child) : NULL;
    for (int i = 0; from && i < p->n; i++)
        if (!strcmp(p->at[i]->key, from))
            return mix(hash_node(p, doc, i), v->child->next->text, v->child->next->len);
    nino_buf b = { 0 };
    nino_json_write(&b, doc, v);
    const uint64_t h = mix(7, b.data, b.len);
    nino_buf_release(&b);
    return h;
}

static uint64_t hash_node(prompt *p, const nino_json_doc *doc, int i)
{
    if (p->hash[i] || p->depth > 500)
        return p->hash[i];
    const char *type = nino_json_str(nino_json_get(p->at[i], "class_type"));
    const nino_json *inputs = nino_json_get(p->at[i], "inputs");
    uint64_t sum = mix(14695981039346656037u, type, strlen(type));
    p->depth++;
    for (const nino_json *v = inputs->child; v; v = v->next) // in any order
        sum += mix(hash_value(p, doc, v), v->key, v->key_len) * 31;
    p->depth--;
    return p->hash[i] = sum | 1;
}

// 0: it makes no prompt.
static uint64_t meaning(nino_document *d)
{
    static prompt p;
    const nino_json_limits limits = { 0 };
    size_t len = 0;
    uint64_t sum = 0;
    nino_json_doc *doc = NULL;
    const char *text = nino_document_api_json(d, &len, NULL);
    if (!text || nino_json_parse(text, len, "prompt", &limits, &doc, NULL))
        return 0;
    memset(&p, 0, sizeof(p));
    for (const nino_json *v = doc->root->child; v && p.n < MAX_NODES; v = v->next)
        p.at[p.n++] = v;
    for (int i = 0; i < p.n; i++)
        sum += hash_node(&p, doc, i);
    nino_json_doc_destroy(&doc);
    return sum + (uint64_t) p.n;
}

// What is read from the written document computes the same.
static void check_meaning(nino_document *d, uint64_t same)
{
    char *text = kept_text(d);
    nino_document *copy = load(text);
    CHECK(meaning(copy) == same);
    nino_document_destroy(&copy);
    free(text);
}

// ---- tests -------------------------------------------------------------------------------------

static const char api[] =
    "{\"1\": {\"class_type\": \"CheckpointLoaderSimple\", \"inputs\": {\"ckpt_name\": "
    "\"a.safetensors\"}}, \"2\": {\"class_type\": \"CLIPTextEncode\", \"inputs\": {\"clip\": "
    "[\"1\", 1], \"text\": \"a lighthouse\"}}, \"6\": {\"class_type\": \"CLIPTextEncode\", "
    "\"inputs\": {\"clip\": [\"1\", 1], \"text\": \"blurry\"}}, \"3\": {\"class_type\": "
    "\"KSampler\", \"inputs\": {\"model\": [\"1\", 0], \"positive\": [\"2\", 0], \"negative\": "
    "[\"6\", 0], \"latent_image\": [\"4\", 0], \"seed\": 5}}, \"4\": {\"class_type\": "
    "\"EmptyLatentImage\", \"inputs\": {\"width\": 64}}, \"5\": {\"class_type\": \"VAEDecode\", "
    "\"inputs\": {\"samples\": [\"3\", 0], \"vae\": [\"1\", 2]}}, \"7\": {\"class_type\": "
    "\"SaveImage\", \"inputs\": {\"images\": [\"5\", 0]}}, \"8\": {\"class_type\": "
    "\"SaveLatent\", \"inputs\": {\"samples\": [\"3\", 0]}}}";

static nino_document *load_flow(void)
{
    nino_document *d = load(api);
    char *ui = kept_text(d);
    nino_document_destroy(&d);
    d = load(ui);
    free(ui);
    return d;
}

// As wide as the two longest of all its ports' names beside each other, or as any node.
static void check_width(const nino_doc_node *n)
{
    size_t most = 0;
    for (int i = 0; i < n->n_inputs + n->n_outputs; i++) {
        const char *name = i < n->n_inputs ? n->inputs[i].name : n->outputs[i - n->n_inputs].name;
        most = strlen(name) > most ? strlen(name) : most;
    }
    const double wide = 1.5 * (2 * 14 * 0.6 * (double) most + 10);
    if (fabs(n->width - fmax(wide, 210)) > 0.5)
        fprintf(stderr, "%g, not %g (%zu)\n", n->width, wide, most);
    CHECK(fabs(n->width - fmax(wide, 210)) <= 0.5);
}

static void test_both_ways(void)
{
    static const char *const ids[] = { "2", "6", "3" };
    nino_document *d = load_flow();
    char id[32], *before = kept_text(d);
    const uint64_t same = meaning(d);
    int first = 0, n = 0;
    CHECK(same);
    OK(nino_document_make_subgraph(d, ids, 3, "Sampling", id, &err));
    CHECK_STR(nino_document_undo_name(d), "Convert to subgraph");
    CHECK(meaning(d) == same && nino_document_n_nodes(d) == 6);
    const nino_doc_node *i = node(d, id);
    CHECK(i->kind == NINO_DOC_SUBGRAPH && i->n_inputs == 3 && i->n_outputs == 1);
    CHECK_STR(i->title, "Sampling");
    CHECK_STR(i->outputs[0].name, "LATENT");
    CHECK(i->outputs[0].n_links == 2); // to the decoder and the latent's file
    check_width(i);
    check_meaning(d, same);
    check_undo(d, before);
    OK(nino_document_enter(d, id, &err));
    CHECK(nino_document_n_nodes(d) == 5 && nino_document_n_links(d) == 7);
    CHECK(node(d, "3")->def && node(d, "-10")->n_outputs >= 3);
    OK(nino_document_leave(d, 1, &err));
    char *made = kept_text(d);
    OK(nino_document_unpack(d, id, &first, &n, &err));
    CHECK(n == 3 && nino_document_n_nodes(d) == 8 && meaning(d) == same);
    CHECK_STR(nino_document_node(d, first)->type, nino_document_node(d, first + 1)->type);
    CHECK(!strstr(nino_document_ui_json(d, NULL), "Sampling")); // nobody uses the definition
    check_meaning(d, same);
    check_undo(d, made);
    CHECK(nino_document_unpack(d, "1", NULL, NULL, &err) == NINO_ERR_ARG);
    while (nino_document_undo_name(d))
        OK(nino_document_undo(d, &err));
    char *now = kept_text(d);
    CHECK_STR(now, before);
    free(now);
    free(made);
    free(before);
    nino_document_destroy(&d);
}

static void test_refused(void)
{
    nino_document *d = load_flow();
    char *before = kept_text(d);
    CHECK(nino_document_make_subgraph(d, (const char *[]){ "4", "5" }, 2, "x", NULL, &err) ==
          NINO_ERR_ARG);
    CHECK_STR(err.kind, "cycle");
    CHECK_STR(err.where, "KSampler");
    CHECK(nino_document_make_subgraph(d, NULL, 0, "x", NULL, &err) == NINO_ERR_ARG);
    CHECK(nino_document_make_subgraph(d, (const char *[]){ "99" }, 1, "x", NULL, &err) ==
          NINO_ERR_UNKNOWN);
    char *now = kept_text(d);
    CHECK_STR(now, before);
    CHECK(!nino_document_undo_name(d));
    free(now);
    free(before);
    nino_document_destroy(&d);
}

// A subgraph in a subgraph; used twice its definition stays until the last one goes.
static void test_nested(void)
{
    nino_document *d = load_flow();
    const uint64_t same = meaning(d);
    char inner[32], outer[32];
    OK(nino_document_make_subgraph(d, (const char *[]){ "2", "6" }, 2, "Prompts", inner, &err));
    OK(nino_document_make_subgraph(d, (const char *[]){ inner, "3", "4" }, 3, "All", outer, &err));
    CHECK(meaning(d) == same);
    OK(nino_document_enter(d, outer, &err));
    char *before = kept_text(d);
    char third[32];
    OK(nino_document_make_subgraph(d, (const char *[]){ "3" }, 1, "One", third, &err)); // inside
    CHECK(meaning(d) == same);
    check_meaning(d, same);
    check_undo(d, before);
    free(before);
    OK(nino_document_unpack(d, third, NULL, NULL, &err));
    OK(nino_document_unpack(d, inner, NULL, NULL, &err));
    CHECK(meaning(d) == same);
    OK(nino_document_leave(d, 1, &err));
    const nino_doc_node *n = node(d, outer);
    char type[64];
    snprintf(type, sizeof(type), "%s", n->type);
    OK(nino_document_add(d, type, 0, 900, NULL, &err));
    OK(nino_document_unpack(d, outer, NULL, NULL, &err));
    CHECK(meaning(d));
    CHECK(strstr(nino_document_ui_json(d, NULL), "\"All\"")); // the other one needs it
    nino_document_destroy(&d);
}

// A value that comes from a primitive outside, then stands on the instance, then inside again.
static void test_values(void)
{
    nino_document *d = load_flow();
    char p[32], id[32];
    OK(nino_document_add(d, "PrimitiveNode", 0, 500, p, &err));
    const nino_doc_node *s = node(d, "3");
    int steps = -1;
    for (int i = 0; i < s->n_inputs; i++)
        if (s->inputs[i].widget && !strcmp(s->inputs[i].widget, "steps"))
            steps = i;
    CHECK(steps >= 0);
    OK(nino_document_connect(d, nino_document_find(d, p), 0, nino_document_find(d, "3"), steps,
                             &err));
    OK(nino_document_set_json(d, p, node(d, p)->widgets[0].name, "33", &err));
    const uint64_t same = meaning(d);
    OK(nino_document_make_subgraph(d, (const char *[]){ "3", "4" }, 2, "S", id, &err));
    CHECK(meaning(d) == same);
    CHECK(strstr(nino_document_api_json(d, NULL, &err), "33"));
    const nino_doc_node *i = node(d, id);
    int at = -1;
    for (int k = 0; k < i->n_inputs; k++)
        if (!strcmp(i->inputs[k].name, "steps"))
            at = k;
    CHECK(at >= 0 && i->inputs[at].widget);
    OK(nino_document_disconnect(d, nino_document_find(d, id), at, &err));
    OK(nino_document_set_json(d, id, "steps", "21", &err));
    CHECK(strstr(nino_document_api_json(d, NULL, &err), "\"steps\": 21"));
    int first = 0, n = 0;
    OK(nino_document_unpack(d, id, &first, &n, &err));
    CHECK(strstr(nino_document_api_json(d, NULL, &err), "\"steps\": 21"));
    for (int k = first; k < first + n; k++)
        if (!strcmp(nino_document_node(d, k)->type, "KSampler"))
            CHECK_STR(nino_doc_widget_find(nino_document_node(d, k), "steps")->text, "21");
    nino_document_destroy(&d);
}

// Values of inner nodes that the instance shows: read, changed in place, run with; two of one name,
// through two levels, and those that are not there.
static void test_proxies(void)
{
#define SCALE(id)                                                                                  \
    "{\"id\": " id                                                                                 \
    ", \"type\": \"LatentUpscaleBy\", \"inputs\": [{\"name\": \"samples\", \"type\": "             \
    "\"LATENT\", \"link\": null}], \"outputs\": [{\"name\": \"LATENT\", \"type\": \"LATENT\", "    \
    "\"links\": null}], \"widgets_values\": [\"bilinear\", 1." id "]}"
#define ENDS                                                                                       \
    "\"inputNode\": {\"id\": -10}, \"outputNode\": {\"id\": -20}, \"inputs\": [], \"outputs\": "   \
    "[], "
    static const char text[] =
        "{\"nodes\": [{\"id\": 9, \"type\": \"T\", \"properties\": {\"proxyWidgets\": [[\"7\", "
        "\"scale_by\"], [\"3\", \"seed\"]]}}], \"links\": [], \"definitions\": {\"subgraphs\": "
        "[{\"id\": \"T\", \"name\": \"Outer\", " ENDS "\"nodes\": [{\"id\": 7, \"type\": \"S\", "
        "\"properties\": {\"proxyWidgets\": [[\"4\", \"scale_by\"], [\"5\", \"scale_by\"], "
        "[\"-1\", \"x\"], [\"6\", \"scale_by\"], [\"4\", \"none\"], 3]}}, {\"id\": 3, \"type\": "
        "\"KSampler\", \"widgets_values\": [5, \"increment\", 20, 8, \"euler\", \"normal\", 1]}], "
        "\"links\": []}, {\"id\": \"S\", \"name\": \"Inner\", " ENDS
        "\"nodes\": [" SCALE("4") ", " SCALE("5") "], \"links\": []}]}}";
    nino_document *d = load(text);
    const nino_doc_node *n = node(d, "9");
    CHECK(n->n_widgets == 2 && n->n_inputs == 0);
    CHECK_STR(n->widgets[0].name, "scale_by");
    CHECK_STR(n->widgets[0].text, "1.4");
    CHECK(n->widgets[0].param && n->widgets[0].kind == NINO_WIDGET_FLOAT);
    CHECK_STR(n->widgets[1].control, "increment");
    OK(nino_document_set_text(d, "9", "scale_by", "3", &err));
    OK(nino_document_advance(d, 1, &err));
    CHECK_STR(nino_doc_widget_find(node(d, "9"), "seed")->text, "6");
    CHECK(nino_document_set_text(d, "9", "scale_by", "many", &err));
    OK(nino_document_enter(d, "9", &err));
    n = node(d, "7");
    CHECK(n->n_widgets == 2);
    CHECK_STR(n->widgets[0].text, "3");
    CHECK_STR(n->widgets[1].name, "5:scale_by");
    OK(nino_document_set_text(d, "7", "5:scale_by", "2.5", &err));
    OK(nino_document_enter(d, "7", &err));
    CHECK_STR(nino_doc_widget_find(node(d, "4"), "scale_by")->text, "3");
    CHECK_STR(nino_doc_widget_find(node(d, "5"), "scale_by")->text, "2.5");
    const char *run = nino_document_api_json(d, NULL, &err);
    CHECK(run && strstr(run, "\"9:7:4\"") && strstr(run, "\"scale_by\": 3"));
    while (nino_document_undo_name(d))
        OK(nino_document_undo(d, &err));
    char *now = kept_text(d);
    CHECK_STR(now, text);
    free(now);
    nino_document_destroy(&d);
}

// The names beside the list of an instance say what the list says, and go with what is hidden.
static void test_names(void)
{
#define KEPT(shown, values, names)                                                                 \
    "{\"nodes\": [{\"id\": 9, \"type\": \"S\", \"properties\": {\"proxyWidgets\": [" shown "]}, "  \
    "\"widgets_values\": " values ", \"widgets_values_named\": {" names "}}], \"links\": [], "     \
    "\"definitions\": {\"subgraphs\": [{\"id\": \"S\", \"name\": \"Inner\", " ENDS                 \
    "\"nodes\": [" SCALE("4") ", " SCALE("5") "], \"links\": []}]}}"
#define SHOWN(id) "[\"" id "\", \"scale_by\"]"
#define METHOD "[\"4\", \"upscale_method\"]"
    nino_document *d = load(KEPT(METHOD ", " SHOWN("4"), "[\"area\", 2]",
                                 "\"upscale_method\": \"area\", \"scale_by\": 2"));
    OK(nino_document_set_text(d, "9", "scale_by", "3", &err));
    CHECK_STR(text_of(d), KEPT(METHOD ", " SHOWN("4"), "[\"area\", 3]",
                               "\"upscale_method\": \"area\", \"scale_by\": 3"));
    OK(nino_document_enter(d, "9", &err));
    OK(nino_document_promote(d, "4", "upscale_method", false, &err));
    CHECK_STR(text_of(d), KEPT(SHOWN("4"), "[3]", "\"scale_by\": 3"));
    nino_document_destroy(&d);
    // shown of two nodes: the name stays with the other; a list by name
    d = load(KEPT(SHOWN("4") ", " SHOWN("5"), "{\"scale_by\": 2}", "\"scale_by\": 2"));
    OK(nino_document_enter(d, "9", &err));
    OK(nino_document_promote(d, "4", "scale_by", false, &err));
    CHECK_STR(text_of(d), KEPT(SHOWN("5"), "{\"scale_by\": 2}", "\"scale_by\": 2"));
    OK(nino_document_promote(d, "5", "scale_by", false, &err));
    CHECK_STR(text_of(d), KEPT("", "{}", ""));
    nino_document_destroy(&d);
}

// ---- real workflows ----------------------------------------------------------------------------

static int one_asset(const char *path)
{
    nino_document *d = nino_document_load_file(path, NULL);
    const char *ids[MAX_NODES];
    uint32_t roll = 7;
    int done = 0;
    uint64_t same = d ? meaning(d) : 0;
    for (int part = 0; part < 4 && same && nino_document_n_nodes(d) < MAX_NODES; part++) {
        char id[32], *before = kept_text(d);
        size_t n = 0;
        for (int i = 0; i < nino_document_n_nodes(d); i++) {
            roll = roll * 1664525 + 1013904223;
            if (roll >> 30 == (uint32_t) part || !part)
                ids[n++] = nino_document_node(d, i)->id;
        }
        const nino_status st = nino_document_make_subgraph(d, ids, n, "Part", id, &err);
        CHECK(!st || st == NINO_ERR_ARG); // nothing chosen, or a way back
        if (!st) {
            if (meaning(d) != same)
                printf("  %s, part %d: another prompt\n", path, part);
            CHECK(meaning(d) == same);
            check_meaning(d, same);
            check_undo(d, before);
            OK(nino_document_unpack(d, id, NULL, NULL, &err));
            if (meaning(d) != same)
                printf("  %s, part %d: another prompt after unpacking\n", path, part);
            CHECK(meaning(d) == same);
            done++;
        }
        free(before);
    }
    nino_document_destroy(&d);
    return done;
}

static void test_folder(const char *data, const char *folder)
{
    char path[1200];
    int n_files = 0, n = 0;
    snprintf(path, sizeof(path), "%s/%s", data, folder);
    DIR *dir = opendir(path);
    CHECK(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        if (!strstr(e->d_name, ".json") || strstr(e->d_name, ".api.json"))
            continue;
        char file[1500];
        snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
        n += one_asset(file);
        n_files++;
    }
    closedir(dir);
    printf("  %d conversions of %d workflows in %s\n", n, n_files, path);
    CHECK(n_files && n > n_files / 4);
}

int main(void)
{
    test_both_ways();
    test_refused();
    test_nested();
    test_values();
    test_proxies();
    test_names();
    test_folder("data", "workflows");
    if (test_assets())
        test_folder(test_assets(), "workflows_ui");
    else
        test_skip_part("ComfyUI's own workflows");
    return 0;
}
