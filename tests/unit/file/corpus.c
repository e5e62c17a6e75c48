// The generated corpus of malformed files: every safetensors, GGUF and PNG case must be refused
// with the class that its manifest names.
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/file/gguf.h"
#include "core/media/png.h"
#include "core/file/safetensors.h"
#include "tests/test.h"

#include <ctype.h>

static char dir[] = "/tmp/ninodes-corpus-XXXXXX";

static const char *class_of_st(const char *path, const char *data, size_t len)
{
    static nino_error err, via_file;
    nino_st_header h;
    const nino_status st = nino_st_parse(data, len, len, path, &h, &err);
    nino_st_header_release(&h);
    // through a descriptor the answer is the same, except that other formats are told apart first
    nino_weights *w = nino_weights_open(path, &via_file);
    if (len >= 4 && !memcmp(data, "GGUF", 4)) {
        nino_weights_unref(&w);
        return err.kind;
    }
    CHECK(!w == (st != NINO_OK));
    CHECK(w || via_file.code == NINO_ERR_UNSUPPORTED || !strcmp(via_file.kind, err.kind));
    nino_weights_unref(&w);
    return st ? err.kind : "ok";
}

static const char *class_of_gguf(const char *path, const char *data, size_t len)
{
    static nino_error err, via_file;
    nino_st_header h;
    bool more;
    const nino_status st = nino_gguf_parse(data, len, len, path, &h, &more, &err);
    CHECK(!more);
    nino_st_header_release(&h);
    nino_weights *w = nino_weights_open(path, &via_file);
    // by content another format may be meant
    CHECK(!w == (st != NINO_OK) || len < 4 || memcmp(data, "GGUF", 4));
    nino_weights_unref(&w);
    return st ? err.kind : "ok";
}

// What opening a picture as a workflow does up to the graph: read the metadata without pixels, take
// the prompt or the workflow, parse it. Cases marked LoadImage are about the pixels.
static const char *class_of_png(const char *data, size_t len, bool load_image)
{
    static nino_error err;
    const nino_json_limits limits = { .strict_numbers = true };
    nino_json_doc *doc = NULL;
    nino_png p;
    const char *kind = "unknown";
    if (nino_png_read(data, len, "x.png", load_image, &p, &err))
        return err.kind;
    const char *text = nino_png_text_get(&p, "prompt");
    if (!text)
        text = nino_png_text_get(&p, "workflow");
    if (text)
        kind = nino_json_parse(text, strlen(text), "x.png", &limits, &doc, &err) ? err.kind : "ok";
    nino_json_doc_destroy(&doc);
    nino_png_release(&p);
    return kind;
}

static bool check_case(const char *file, const char *kind, const char *class, const char *note)
{
    char path[512], want[32] = { 0 };
    char *data;
    size_t len;
    nino_error err = { 0 };
    for (size_t i = 0; class[i] && i < sizeof(want) - 1; i++)
        want[i] = (char) tolower((unsigned char) class[i]);
    snprintf(path, sizeof(path), "%s/%s", dir, file);
    CHECK_OK(nino_file_read(path, (size_t) 1 << 30, false, &data, &len, &err), err);
    const char *got = !strcmp(kind, "st")     ? class_of_st(path, data, len)
                      : !strcmp(kind, "gguf") ? class_of_gguf(path, data, len)
                                              : class_of_png(data, len, !strcmp(note, "LoadImage"));
    const bool ok = !strcmp(got, want);
    if (!ok)
        fprintf(stderr, "%s: %s, expected %s\n", file, got, want);
    free(data);
    return ok;
}

static int check_manifest(void)
{
    char path[512], line[1024];
    int n_st = 0, n_gguf = 0, n_png = 0, wrong = 0;
    snprintf(path, sizeof(path), "%s/MANIFEST.tsv", dir);
    FILE *f = fopen(path, "r");
    CHECK(f);
    while (fgets(line, sizeof(line), f)) {
        char *rest = line, *field[4];
        line[strcspn(line, "\n")] = 0;
        for (int i = 0; i < 4; i++)
            field[i] = strsep(&rest, "\t");
        CHECK(field[3]);
        const bool st = !strcmp(field[1], "st"), png = !strcmp(field[1], "png");
        const bool gguf = !strcmp(field[1], "gguf");
        if (!st && !png && !gguf)
            continue;
        n_st += st;
        n_gguf += gguf;
        n_png += png;
        wrong += !check_case(field[0], field[1], field[2], field[3]);
    }
    fclose(f);
    printf("  %d safetensors, %d GGUF and %d PNG files, %d wrong\n", n_st, n_gguf, n_png, wrong);
    return n_st >= 84 && n_gguf >= 82 && n_png >= 24 ? wrong : 1;
}

int main(void)
{
    char command[200];
    if (system("python3 -c 'import zlib' 2>/dev/null"))
        return test_skip("no python3");
    CHECK(mkdtemp(dir));
    snprintf(command, sizeof(command), "python3 tests/data/make/corpus.py %s", dir);
    const int made = system(command);
    const int wrong = made ? 1 : check_manifest();
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    CHECK(system(command) == 0);
    CHECK(made == 0);
    return wrong != 0;
}
