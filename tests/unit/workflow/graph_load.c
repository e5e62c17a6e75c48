// What a workflow is read from: JSON, headers of safetensors files, pictures; and what is said of what is none.
#include "core/workflow/workflow.h"
#include "core/base/file.h"
#include "core/media/png.h"
#include "tests/test.h"

#include <sys/stat.h>
#include <zlib.h>

static nino_error err;
static char top[] = "/tmp/ninodes-load-XXXXXX";

#define API "{'1':{'class_type':'EmptyImage','inputs':{}}}"
#define NO "neither a workflow nor a file that can hold one"
#define META(list)                                                                                 \
    "{'__metadata__':{" list "},'a':{'dtype':'F32','shape':[1],'data_offsets':[0,4]}}"
#define PROMPT "'prompt':'{\\'1\\':{\\'class_type\\':\\'EmptyImage\\'}}'"
#define UI "'workflow':'{\\'nodes\\':[{\\'id\\':1,\\'type\\':\\'Note\\'}],\\'links\\':[]}'"

// Whether it is loaded, with how many nodes, or what is said instead.
static void expect(nino_graph *g, const char *what, int n_nodes, const char *refusal)
{
    if (!g != !!refusal || (refusal && !strstr(err.msg, refusal)))
        fprintf(stderr, "%s: %s: %s\n", what, err.where, err.msg);
    CHECK(!g == !!refusal && (g || (err.kind && strstr(err.msg, refusal))));
    CHECK(!g || (int) nino_graph_nodes(g, NULL, 0) == n_nodes);
    nino_graph_destroy(&g);
    err = (nino_error){ 0 };
}

static void plain(void)
{
    static const struct {
        const char *text;
        size_t len; // 0: the string's
        const char *refusal;
    } rows[] = {
        { API, 0, NULL },
        { " \t\r\n" API "\n", 0, NULL },
        { "\xef\xbb\xbf" API, 0, NULL },
        { "", 0, "the file is empty" },
        { " \n\t\r ", 0, "the file is empty" },
        { "\xef\xbb\xbf", 0, "the file is empty" },
        { "\xef\xbb", 0, NO },
        { "%PDF-1.4", 0, NO },
        { "\0{}", 3, NO },
        { " \0", 2, NO },
        { "tru", 0, "unexpected" },
        { "\x89PNG\r\n\x1a\nabc", 11, "" }, // refused as what it says it is
        { "\0\0\0\x18"
          "ftypmp42\0\0\0\0",
          16, "" },
        { "fLaC\0\0\0\x22", 8, "" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const size_t len = rows[i].len ? rows[i].len : strlen(rows[i].text);
        char *text = malloc(len + 1);
        CHECK(text);
        memcpy(text, rows[i].text, len + 1);
        for (size_t k = 0; k < len; k++)
            text[k] = text[k] == '\'' ? '"' : text[k];
        expect(nino_graph_load(text, len, NULL, &err), rows[i].text, 1, rows[i].refusal);
        free(text);
    }
    char *large = malloc(NINO_GRAPH_MAX_BYTES + 1);
    CHECK(large);
    memset(large, ' ', NINO_GRAPH_MAX_BYTES + 1);
    expect(nino_graph_load(large, NINO_GRAPH_MAX_BYTES + 1, "x", &err), "large", 0,
           "larger than 64 MiB");
    free(large);
}

// A header that says `more` bytes than it has; what follows it is not looked at.
static size_t header(char *out, const char *quoted, int more)
{
    const size_t n = strlen(quoted);
    memset(out, 0, 8);
    out[0] = (char) ((n + (size_t) more) & 255);
    out[1] = (char) ((n + (size_t) more) >> 8);
    for (size_t i = 0; i < n; i++) // `"` in a text is `\"`
        out[8 + i] = quoted[i] == '\'' ? '"' : quoted[i];
    return 8 + n;
}

static void put(const char *name, const char *data, size_t len)
{
    CHECK_OK(nino_file_save(top, name, true, data, len, &err), err);
}

static nino_graph *load_file(const char *name)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/%s", top, name);
    return nino_graph_load_file(path, &err);
}

static void headers(void)
{
    static const struct {
        const char *json;
        int more;
        const char *refusal;
    } rows[] = {
        { META(PROMPT), 0, NULL },
        { META(UI), 0, NULL },
        { META(PROMPT "," UI), 0, NULL },
        { META("'prompt':5," UI), 0, NULL },
        { META("'prompt':5"), 0, "no workflow in this file" },
        { META("'format':'pt'"), 0, "no workflow in this file" },
        { "{'__metadata__':5}", 0, "no workflow in this file" },
        { "{'__metadata__':", 0, "" },
        { META("'prompt':'['"), 0, "" },
        { META(PROMPT), 1, "ends inside its header" },
    };
    char data[1024];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const size_t len = header(data, rows[i].json, rows[i].more);
        // a note is no node of the prompt
        const int n = strstr(rows[i].json, "prompt':'") ? 1 : 0;
        expect(nino_graph_load(data, len, "x.latent", &err), rows[i].json, n, rows[i].refusal);
        put("x.latent", data, len);
        expect(load_file("x.latent"), rows[i].json, n, rows[i].refusal);
    }
    // the form of the editor beside what ran stays with it
    const size_t len = header(data, META(PROMPT "," UI), 0);
    nino_graph *g = nino_graph_load(data, len, "x", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    CHECK(strstr(nino_graph_ui_json(g, NULL), "\"Note\""));
    nino_graph_destroy(&g);
    // of a large file the header alone is read
    put("large.latent", data, len);
    char path[200];
    snprintf(path, sizeof(path), "%s/large.latent", top);
    CHECK(!truncate(path, (off_t) 1 << 30));
    expect(load_file("large.latent"), "large", 1, NULL);
}

static void files(void)
{
    char path[200];
    put("small.json", "{}", 2);
    expect(load_file("small.json"), "small", 0, NULL);
    expect(load_file("none.json"), "none", 0, "No such file");
    expect(load_file("."), "folder", 0, "");
    snprintf(path, sizeof(path), "%s/small.json", top);
    CHECK(freopen(path, "r", stdin));
    nino_graph *g = nino_graph_load_file("-", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    CHECK_STR(g->name, "standard input");
    nino_graph_destroy(&g);
}

// ---- pictures --------------------------------------------------------------------------------

static void add_chunk(nino_buf *b, const char *type, const void *data, size_t n, bool is_whole)
{
    const size_t at = b->len + 4;
    for (int i = 0; i < 4; i++)
        nino_buf_addc(b, (char) ((uint32_t) n >> (24 - 8 * i)));
    nino_buf_add(b, type, 4);
    nino_buf_add(b, data, n);
    const uLong sum = crc32(0, (const Bytef *) b->data + at, (uInt) n + 4) ^ !is_whole;
    for (int i = 0; i < 4; i++)
        nino_buf_addc(b, (char) ((uint32_t) sum >> (24 - 8 * i)));
}

// "key\0value", the quotes of the value as ', or "!key\0value": changed after the file was written.
static void add_text(nino_buf *b, const char *key, const char *value)
{
    nino_buf text = { 0 };
    const bool is_edited = *key == '!';
    nino_buf_adds(&text, key + is_edited);
    nino_buf_addc(&text, 0);
    for (; *value; value++)
        nino_buf_addc(&text, *value == '\'' ? '"' : *value);
    add_chunk(b, "tEXt", text.data, text.len, !is_edited);
    nino_buf_release(&text);
}

#define RAN "{'1':{'class_type':'EmptyImage','inputs':{}}}"
#define EDITOR(type) "{'nodes':[{'id':7,'type':'" type "'},{'id':8,'type':'X'}],'links':[]}"
#define TAKEN                                                                                      \
    "the picture's `workflow` was edited after it was saved: it is taken, and not `prompt`"
#define UNREAD                                                                                     \
    "the picture's `workflow` was edited after it was saved and cannot be read: `prompt` is taken"

// Which of its texts a picture's workflow is read from, what the editor opens, and what is said.
static void pictures(void)
{
    static const struct {
        const char *texts[4];     // keys and values
        int n_nodes;              // of what is read; 0: refused
        const char *id, *ui;      // its first node; the editor's form
        const char *note, *error; // what is said
    } rows[] = {
        { { "prompt", RAN }, 1, "1", NULL, NULL, NULL },
        { { "prompt", RAN, "workflow", EDITOR("X") }, 1, "1", EDITOR("X"), NULL, NULL },
        { { "workflow", EDITOR("X"), "prompt", RAN }, 1, "1", EDITOR("X"), NULL, NULL },
        { { "prompt", RAN, "!workflow", EDITOR("X") }, 2, "7", EDITOR("X"), TAKEN, NULL },
        { { "!workflow", EDITOR("X"), "!prompt", RAN }, 2, "7", EDITOR("X"), TAKEN, NULL },
        { { "prompt", "[", "!workflow", EDITOR("X") }, 2, "7", EDITOR("X"), TAKEN, NULL },
        { { "!prompt", RAN, "workflow", EDITOR("X") }, 1, "1", EDITOR("X"), NULL, NULL },
        { { "!prompt", RAN }, 1, "1", NULL, NULL, NULL },
        { { "!workflow", EDITOR("X") }, 2, "7", EDITOR("X"), NULL, NULL },
        { { "prompt", RAN, "!workflow", "{'nodes':[" }, 1, "1", "{'nodes':[", UNREAD, NULL },
        { { "prompt", RAN, "!workflow", "{'nodes':[],'links':[]}" },
          1,
          "1",
          "{'nodes':[],'links':[]}",
          UNREAD,
          NULL },
        { { "prompt", RAN, "workflow", "{'nodes':[" }, 1, "1", "{'nodes':[", NULL, NULL },
        { { "prompt", "[", "workflow", EDITOR("X") }, 0, NULL, NULL, NULL, "" },
        { { "prompt", "[", "!workflow", "[" }, 0, NULL, NULL, NULL, "" },
        { { "usercomment", RAN }, 1, "1", NULL, NULL, NULL },
        { { "usercomment", RAN, "workflow", EDITOR("X") }, 2, "7", EDITOR("X"), NULL, NULL },
        { { "usercomment", EDITOR("X"), "prompt", RAN }, 1, "1", NULL, NULL, NULL },
        { { "Comment", RAN }, 0, NULL, NULL, NULL, "no workflow in this picture" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        static const unsigned char head[13] = { [3] = 1, [7] = 1, [8] = 8 };
        const char *const *t = rows[i].texts;
        unsigned char packed[64];
        uLongf n = sizeof(packed);
        nino_graph_node nodes[4];
        nino_buf b = { 0 }, ui = { 0 };
        nino_buf_add(&b, "\x89PNG\r\n\x1a\n", 8);
        add_chunk(&b, "IHDR", head, sizeof(head), true);
        for (int k = 0; k < 4 && t[k]; k += 2)
            add_text(&b, t[k], t[k + 1]);
        CHECK(compress(packed, &n, (const Bytef *) "\0\0", 2) == Z_OK);
        add_chunk(&b, "IDAT", packed, n, true);
        add_chunk(&b, "IEND", "", 0, true);
        for (const char *c = rows[i].ui; c && *c; c++)
            nino_buf_addc(&ui, *c == '\'' ? '"' : *c);
        nino_buf_addc(&ui, 0);
        err = (nino_error){ 0 };
        nino_graph *g = nino_graph_load(b.data, b.len, "a.png", &err);
        printf("  row %zu: %s\n", i, g ? "read" : err.msg);
        CHECK(!g == !rows[i].n_nodes);
        if (g) {
            CHECK((int) nino_graph_nodes(g, nodes, 4) == rows[i].n_nodes);
            CHECK_STR(nodes[0].id, rows[i].id);
            CHECK_STR(g->name, "a.png");
            CHECK(!g->note == !rows[i].note && (!g->note || !strcmp(g->note, rows[i].note)));
            CHECK(!nino_graph_ui_json(g, NULL) == !rows[i].ui);
            if (rows[i].ui)
                CHECK_STR(nino_graph_ui_json(g, NULL), ui.data);
            CHECK(!err.code);
        } else {
            CHECK(err.code == NINO_ERR_FORMAT && !strcmp(err.where, "a.png"));
            if (*rows[i].error) {
                CHECK_STR(err.msg, rows[i].error);
                CHECK_STR(err.kind, "unknown");
            }
        }
        nino_graph_destroy(&g);
        nino_buf_release(&b);
        nino_buf_release(&ui);
    }
}

int main(void)
{
    char command[100];
    CHECK(mkdtemp(top));
    plain();
    headers();
    files();
    pictures();
    snprintf(command, sizeof(command), "rm -r %s", top);
    CHECK(!system(command));
    return 0;
}
