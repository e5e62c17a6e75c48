// Opening a workflow: JSON, or the metadata of a file that was made with one.
#include "core/graph/graph.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/format/png.h"

static const nino_png_text *find(const nino_png *png, const char *key)
{
    for (int i = 0; i < png->n_texts; i++)
        if (!strcmp(png->texts[i].key, key))
            return &png->texts[i];
    return NULL;
}

static nino_status parse_png(nino_graph *g, const void *data, size_t len, nino_error *err)
{
    nino_png png = { 0 };
    nino_status st = nino_png_read(data, len, g->name, false, &png, err);
    if (st)
        return st;
    // The prompt is what ran; the editor's form may be older or newer.
    const nino_png_text *prompt = find(&png, "prompt"), *ui = find(&png, "workflow");
    const nino_png_text *text = prompt ? prompt : ui;
    if (!text)
        st =
            nino_fail_kind(err, NINO_ERR_FORMAT, "unknown", g->name, "no workflow in this picture");
    else
        st = nino_graph_parse(g, text->value, text->value_len, err);
    if (st == NINO_OK && prompt && ui && !g->workflow_json &&
        !(g->workflow_json = strdup(ui->value)))
        st = nino_fail(err, NINO_ERR_NOMEM, g->name, "out of memory");
    nino_png_release(&png);
    return st;
}

nino_graph *nino_graph_load(const void *data, size_t len, const char *name, nino_error *err)
{
    static const unsigned char png_magic[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
    nino_graph *g = calloc(1, sizeof(*g));
    nino_status st;
    if (!g || !(g->name = strdup(name ? name : "workflow")))
        st = nino_fail(err, NINO_ERR_NOMEM, "workflow", "out of memory");
    else if (len >= 8 && !memcmp(data, png_magic, 8))
        st = parse_png(g, data, len, err);
    else if (len > NINO_GRAPH_MAX_BYTES)
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "limit", g->name, "larger than 64 MiB");
    else
        st = nino_graph_parse(g, data, len, err);
    if (st)
        nino_graph_destroy(&g);
    return g;
}

#define MAX_FILE ((size_t) 256 << 20) // a picture may be larger than its metadata

nino_graph *nino_graph_load_file(const char *path, nino_error *err)
{
    char *data = NULL;
    size_t len = 0;
    if (nino_file_read(path, MAX_FILE, true, &data, &len, err))
        return NULL;
    nino_graph *g = nino_graph_load(data, len, strcmp(path, "-") ? path : "standard input", err);
    free(data);
    return g;
}
