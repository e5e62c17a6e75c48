// Loading and editing workflows: forms of files, exactness, refusals with their kinds.
#include "core/media/png.h"
#include "core/workflow/workflow.h"
#include "tests/test.h"

static nino_graph *load(const char *json)
{
    nino_error err = { 0 };
    nino_graph *g = nino_graph_load(json, strlen(json), "test.json", &err);
    if (!g)
        fprintf(stderr, "%s: %s (%s)\n", err.where, err.msg, err.kind);
    CHECK(g);
    return g;
}

// Kind of the refusal; "ok" when there is none.
static const char *refused(const void *data, size_t len)
{
    static char kind[32];
    nino_error err = { 0 };
    nino_graph *g = nino_graph_load(data, len, "test.json", &err);
    if (g) {
        nino_graph_destroy(&g);
        return "ok";
    }
    CHECK(err.code && err.msg[0]);
    CHECK(strstr(err.where, "test.json"));
    snprintf(kind, sizeof(kind), "%s", err.kind);
    return kind;
}
static const char *refused_text(const char *json) { return refused(json, strlen(json)); }

static const char two[] =
    "{\"4\": {\"class_type\": \"SaveImage\", \"inputs\": {\"images\": [\"3\", 0], "
    "\"filename_prefix\": \"out\"}, \"_meta\": {\"title\": \"Keep \\u2603\"}},\n"
    " \"3\": {\"class_type\": \"VAEDecode\", \"inputs\": {}, \"is_changed\": NaN}}";

static void forms(void)
{
    size_t len = 0;
    nino_graph_node n[4];
    nino_graph *g = load(two);
    CHECK(nino_graph_nodes(g, n, 4) == 2);
    CHECK_STR(n[0].id, "4"); // file order
    CHECK_STR(n[0].title, "Keep \xe2\x98\x83");
    CHECK_STR(n[1].class_type, "VAEDecode");
    CHECK_STR(n[1].title, "VAE Decode");
    CHECK(n[1].def && !strcmp(n[1].def->key, "VAEDecode"));
    CHECK(nino_graph_nodes(g, n, 1) == 2);
    CHECK_STR(nino_graph_json(g, &len), two); // byte for byte, NaN and escapes included
    CHECK(len == strlen(two));
    CHECK_STR(nino_graph_name(g), "test.json");
    char *ascii = nino_graph_prompt_ascii(g);
    CHECK_STR(ascii, two);
    free(ascii);
    nino_error err = { 0 };
    nino_graph *copy = nino_graph_copy(g, &err);
    CHECK(copy);
    CHECK_STR(nino_graph_json(copy, NULL), two);
    nino_graph_destroy(&copy);
    nino_graph_destroy(&g);
    nino_graph_destroy(&g); // NULL inside

    g = load("{\"prompt\": {\"1\": {\"class_type\": \"Note\", \"inputs\": {\"t\": "
             "\"\xf0\x9f\x98\x80\"}}}, "
             "\"client_id\": \"x\", \"extra_data\": {\"extra_pnginfo\": {\"workflow\": "
             "{\"nodes\": []}}}}");
    CHECK(nino_graph_nodes(g, n, 4) == 1);
    CHECK_STR(g->workflow_json, "{\"nodes\": []}");
    ascii = nino_graph_prompt_ascii(g);
    CHECK_STR(ascii,
              "{\"1\": {\"class_type\": \"Note\", \"inputs\": {\"t\": \"\\ud83d\\ude00\"}}}");
    free(ascii);
    nino_graph_destroy(&g);

    g = load("{\"prompt\": {\"class_type\": \"Note\", \"inputs\": {}}}"); // a node of that name
    CHECK(nino_graph_nodes(g, n, 4) == 1);
    CHECK_STR(n[0].id, "prompt");
    nino_graph_destroy(&g);
    g = load("\xef\xbb\xbf{}");
    CHECK(nino_graph_nodes(g, n, 4) == 0);
    nino_graph_destroy(&g);
}

static void refusals(void)
{
    CHECK_STR(refused_text(""), "syntax");
    CHECK_STR(refused_text(" \n"), "syntax");
    CHECK_STR(refused_text("{\"1\": {\"class_type\": \"Note\"}"), "syntax");
    CHECK_STR(refused_text("// hi\n{}"), "syntax");
    CHECK_STR(refused_text("{} x"), "syntax");
    CHECK_STR(refused("\xff\xfe{\0}\0", 6), "syntax");
    CHECK_STR(refused_text("[]"), "schema");
    CHECK_STR(refused_text("null"), "schema");
    CHECK_STR(refused_text("{\"1\": \"VAELoader\"}"), "schema");
    CHECK_STR(refused_text("{\"1\": {\"inputs\": {}}}"), "schema");
    CHECK_STR(refused_text("{\"1\": {\"class_type\": 5, \"inputs\": {}}}"), "schema");
    CHECK_STR(refused_text("{\"1\": {\"class_type\": \"Note\", \"inputs\": []}}"), "schema");
    CHECK_STR(
        refused_text("{\"1\": {\"class_type\": \"Note\"}, \"1\": {\"class_type\": \"Note\"}}"),
        "dup");
    CHECK_STR(refused_text("{\"a\\u0000\": {\"class_type\": \"Note\"}}"), "schema");
    CHECK_STR(refused_text("{\"_a\": {\"class_type\": 5}}"), "schema"); // a node all the same
    CHECK_STR(refused_text("{\"prompt\": {\"class_type\": \"Note\"}}"), "ok"); // an id
    CHECK_STR(refused_text("{\"prompt\": 5, \"workflow\": {\"nodes\": []}}"), "ok");
    CHECK_STR(refused_text("{\"prompt\": 5, \"workflow\": {}}"), "schema");
    CHECK_STR(refused_text("{\"prompt\": {}, \"workflow\": \"text\"}"), "ok");
    CHECK_STR(refused_text("{\"workflow\": {\"nodes\": [5]}}"), "schema");
    CHECK_STR(refused_text("{\"nodes\": [], \"links\": [], \"version\": 0.4}"), "ok");
    CHECK_STR(refused_text("{\"_made_by\": {\"x\": 1}, \"1\": {\"class_type\": \"Note\"}}"), "ok");
    CHECK_STR(refused_text("{\"made_by\": {\"x\": 1}}"), "schema");
    nino_error err = { 0 };
    CHECK(!nino_graph_load("{\"1\": 2}", 8, "f.json", &err));
    CHECK(strstr(err.where, "node 1") && strstr(err.msg, "1:7"));
    CHECK(!nino_graph_load_file("/nonexistent/x.json", &err));
    CHECK(err.code == NINO_ERR_MISSING);
}

// What is no JSON at all is told as that, not with a parser's words.
static void other_files(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = { { "", "the file is empty" },
                  { "\xef\xbb\xbf \n", "the file is empty" },
                  { "hello", "neither a workflow" },
                  { "\x01\x02", "neither a workflow" },
                  { "{\"1\"", "unexpected end" } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_error err = { 0 };
        CHECK(!nino_graph_load(cases[i].text, strlen(cases[i].text), "a.json", &err));
        CHECK(strstr(err.msg, cases[i].says) && !strcmp(err.where, "a.json"));
    }
    nino_error err = { 0 };
    nino_graph *g = nino_graph_load("\xef\xbb\xbf", 3, "a.json", &err);
    CHECK(!g && strstr(err.msg, "empty"));
}

static void deep_and_large(void)
{
    nino_buf b = { 0 };
    for (int i = 0; i < 1000000; i++)
        nino_buf_addc(&b, '[');
    CHECK_STR(refused(b.data, b.len), "limit");
    nino_buf_clear(&b);
    for (int i = 0; i < 100000; i++)
        nino_buf_adds(&b, "{\"a\":");
    CHECK_STR(refused(b.data, b.len), "limit");
    nino_buf_clear(&b);
    for (int i = 0; i <= NINO_GRAPH_MAX_NODES; i++)
        nino_buf_addf(&b, "%c\"%d\":{\"class_type\":\"Note\"}", i ? ',' : '{', i);
    nino_buf_addc(&b, '}');
    CHECK_STR(refused(b.data, b.len), "limit");
    nino_buf_clear(&b);
    nino_buf_adds(&b, "{\"1\": {\"class_type\": \"");
    for (int i = 0; i < 2000; i++)
        nino_buf_addc(&b, 'A');
    nino_buf_adds(&b, "\"}}");
    CHECK_STR(refused(b.data, b.len), "limit");
    nino_buf_release(&b);
    char *big = malloc(NINO_GRAPH_MAX_BYTES + 1);
    CHECK(big);
    memset(big, ' ', NINO_GRAPH_MAX_BYTES + 1);
    CHECK_STR(refused(big, NINO_GRAPH_MAX_BYTES + 1), "limit");
    free(big);
}

// ---- pictures --------------------------------------------------------------------------------

static const char *png_refused(const nino_meta *texts, int n, nino_graph **out)
{
    static char kind[32];
    const uint8_t pixel[3] = { 0 };
    nino_buf b = { 0 };
    nino_error err = { 0 };
    CHECK_OK(nino_png_encode(&b, pixel, 1, 1, 3, 8, texts, n, &err), err);
    nino_graph *g = nino_graph_load(b.data, b.len, "x.png", &err);
    nino_buf_release(&b);
    snprintf(kind, sizeof(kind), "%s", g ? "ok" : err.kind);
    if (out)
        *out = g;
    else
        nino_graph_destroy(&g);
    return kind;
}

static void pictures(void)
{
    nino_graph *g = NULL;
    const nino_meta good[] = { { "prompt", two, strlen(two) }, { "workflow", "{}", 2 } };
    CHECK_STR(png_refused(good, 2, &g), "ok");
    CHECK_STR(nino_graph_json(g, NULL), two);
    CHECK_STR(g->workflow_json, "{}");
    nino_graph_destroy(&g);
    CHECK_STR(png_refused(&good[1], 1, NULL), "ok");
    CHECK_STR(png_refused(NULL, 0, NULL), "unknown");
    const nino_meta twice[] = { good[0], good[0] };
    CHECK_STR(png_refused(twice, 2, NULL), "dup");
    const nino_meta bad = { "prompt", "{", 1 };
    CHECK_STR(png_refused(&bad, 1, NULL), "syntax");
}

static void count_edited(void *priv, const nino_issue *i)
{
    *(int *) priv += !strcmp(i->code, "edited") && i->severity == NINO_ISSUE_WARNING;
}

// `workflow` with another letter than its checksum is of: what it says now is what the editor opens.
static void edited_pictures(void)
{
#define EDITED_UI(value)                                                                           \
    "{\"nodes\": [{\"id\": 7, \"type\": \"EmptyLatentImage\", \"widgets_values\": [" value         \
    ", 8, 1]}], \"links\": []}"
    const uint8_t pixel[3] = { 0 };
    static const char *const uis[] = { EDITED_UI("64"), "{\"nodes\": [64, 8, 1]}", "{}64, 8, 1" };
    for (int i = 0; i < 3; i++) {
        const nino_meta texts[] = { { "prompt", two, strlen(two) },
                                    { "workflow", uis[i], strlen(uis[i]) } };
        nino_buf b = { 0 };
        nino_error err = { 0 };
        int n_notes = 0;
        CHECK_OK(nino_png_encode(&b, pixel, 1, 1, 3, 8, texts, 2, &err), err);
        char *at = memmem(b.data, b.len, "64, 8, 1", 8);
        CHECK(at);
        *at = '3';
        nino_graph *g = nino_graph_load(b.data, b.len, "x.png", &err);
        CHECK_OK(g ? NINO_OK : err.code, err);
        nino_graph_check(g, NULL, count_edited, &n_notes);
        CHECK(n_notes == 1);
        if (!i)
            CHECK_STR(nino_graph_json(g, NULL), EDITED_UI("34"));
        else // which cannot be read
            CHECK_STR(nino_graph_json(g, NULL), two);
        nino_graph_destroy(&g);
        nino_buf_release(&b);
    }
}

// ---- set -------------------------------------------------------------------------------------

static nino_status set(nino_graph *g, const char *assignment)
{
    nino_error err = { 0 };
    const nino_status st = nino_graph_set(g, assignment, &err);
    CHECK(!st == !err.kind);
    return st;
}

static void edits(void)
{
    nino_graph *g =
        load("{ \"5\" : {\"class_type\":\"EmptyLatentImage\",\"inputs\":{\"width\": 512 }},"
             "\"6\":{\"class_type\":\"SaveImage\",\"_meta\":{\"title\":\"v1.2 out\"}},"
             "\"7\":{\"class_type\":\"Other\",\"inputs\":{}},"
             "\"8\":{\"class_type\":\"Twin\"},\"9\":{\"class_type\":\"Twin\"}}");
    CHECK(!set(g, "5.width=1024"));
    CHECK(!set(g, "EmptyLatentImage.batch_size=2"));
    CHECK(!set(g, "v1.2 out.filename_prefix=a=b \"c\""));
    CHECK(!set(g, "7.seed=18446744073709551615"));
    CHECK(!set(g, "Other.on=true"));
    CHECK(!set(g, "7.text=hello"));
    CHECK(!set(g, "6.images=[\"7\", 0]"));
    CHECK_STR(nino_graph_json(g, NULL),
              "{ \"5\" : {\"class_type\":\"EmptyLatentImage\",\"inputs\":{\"width\": 1024, "
              "\"batch_size\": 2 }},"
              "\"6\":{\"class_type\":\"SaveImage\",\"_meta\":{\"title\":\"v1.2 out\"},\"inputs\":"
              "{\"filename_prefix\": \"a=b \\\"c\\\"\", \"images\": [\"7\", 0]}},"
              "\"7\":{\"class_type\":\"Other\",\"inputs\":{\"seed\": 18446744073709551615, "
              "\"on\": true, \"text\": \"hello\"}},"
              "\"8\":{\"class_type\":\"Twin\"},\"9\":{\"class_type\":\"Twin\"}}");
    CHECK(set(g, "5.width=0") == NINO_ERR_RANGE);
    CHECK(set(g, "5.width=wide") == NINO_ERR_FORMAT);
    CHECK(set(g, "5.widht=8") == NINO_ERR_UNKNOWN);
    CHECK(set(g, "55.width=8") == NINO_ERR_UNKNOWN);
    CHECK(set(g, "Twin.x=8") == NINO_ERR_ARG);
    CHECK(set(g, "6.images=7") == NINO_ERR_FORMAT);
    CHECK(set(g, "width=8") == NINO_ERR_ARG);
    CHECK(set(g, ".width=8") == NINO_ERR_ARG);
    CHECK(set(g, "5.=8") == NINO_ERR_ARG);
    CHECK(set(g, "5.width") == NINO_ERR_ARG);
    nino_graph_destroy(&g);
}

int main(void)
{
    forms();
    refusals();
    other_files();
    deep_and_large();
    pictures();
    edited_pictures();
    edits();
    return 0;
}
