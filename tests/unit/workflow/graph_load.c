// What a workflow is read from: JSON, headers of safetensors files, pictures; and what is said of what is none.
#include "core/workflow/workflow.h"
#include "core/base/file.h"
#include "tests/test.h"

#include <sys/stat.h>

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

int main(void)
{
    char command[100];
    CHECK(mkdtemp(top));
    plain();
    headers();
    files();
    snprintf(command, sizeof(command), "rm -r %s", top);
    CHECK(!system(command));
    return 0;
}
