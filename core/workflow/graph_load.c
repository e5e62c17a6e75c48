// Opening a workflow: JSON, or the metadata of a file that was made with one.
#include "core/workflow/workflow.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/media/image.h"
#include "core/file/safetensors.h"
#include "core/media/video.h"

// The text in the place of what g holds; not where it cannot be read.
static nino_status take_edited(nino_graph *g, const nino_text *ui, bool *is_taken, nino_error *err)
{
    nino_graph *edited = calloc(1, sizeof(*edited));
    nino_error e = { 0 };
    nino_status st = NINO_ERR_NOMEM;
    if (edited && (edited->name = strdup(g->name)))
        st = nino_graph_parse(edited, ui->value, ui->value_len, &e);
    *is_taken = !st && edited->n_nodes;
    if (*is_taken) {
        const nino_graph old = *g;
        *g = *edited;
        *edited = old;
        g->note = N_("the picture's `workflow` was edited after it was saved: it is taken, and not "
                     "`prompt`");
    }
    nino_graph_destroy(&edited);
    return st == NINO_ERR_NOMEM ? nino_fail(err, st, g->name, "out of memory") : NINO_OK;
}

// From what a file says beside its content. The prompt is what ran; the editor's form beside it may
// be older or newer. One that was edited afterwards is newer, and what the editor opens.
static nino_status parse_texts(nino_graph *g, const nino_text *prompt, const nino_text *ui,
                               const char *what, nino_error *err)
{
    const nino_text *text = prompt ? prompt : ui;
    if (!text)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "unknown", g->name, "no workflow in this %s",
                              what);
    bool is_taken = false;
    nino_status st = prompt && ui && ui->is_edited ? take_edited(g, ui, &is_taken, err) : NINO_OK;
    if (st || is_taken)
        return st;
    st = nino_graph_parse(g, text->value, text->value_len, err);
    if (st == NINO_OK && prompt && ui && !g->workflow_json &&
        !(g->workflow_json = strdup(ui->value)))
        st = nino_fail(err, NINO_ERR_NOMEM, g->name, "out of memory");
    if (st == NINO_OK && prompt && ui && ui->is_edited)
        g->note = N_("the picture's `workflow` was edited after it was saved and cannot be read: "
                     "`prompt` is taken");
    return st;
}

static nino_status parse_image(nino_graph *g, const void *data, size_t len, nino_error *err)
{
    nino_image image;
    nino_status st = nino_image_read(data, len, g->name, false, &image, err);
    if (st)
        return st;
    const nino_text *prompt = nino_texts_find(&image.texts, "prompt");
    const nino_text *ui = nino_texts_find(&image.texts, "workflow");
    if (!prompt && !ui)
        prompt = nino_texts_find(&image.texts, "usercomment");
    st = parse_texts(g, prompt, ui, "picture", err);
    nino_image_release(&image);
    return st;
}

// The tags of MP4, WebM and Matroska, and of sounds.
static nino_status parse_video(nino_graph *g, const void *data, size_t len, nino_error *err)
{
    nino_video_info info;
    nino_status st = nino_video_tags(data, len, g->name, &info, err);
    if (st)
        return st;
    st = parse_texts(g, nino_texts_find(&info.texts, "prompt"),
                     nino_texts_find(&info.texts, "workflow"),
                     nino_sound_is(data, len) ? "sound" : "video", err);
    nino_video_info_release(&info);
    return st;
}

// safetensors and .latent: `__metadata__` of the header; what follows it need not be here.
static nino_status parse_safetensors(nino_graph *g, const char *data, size_t len, nino_error *err)
{
    const uint64_t n = nino_st_header_bytes(data, len);
    nino_json_doc *doc = NULL;
    if (n > len - 8)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "truncated", g->name,
                              "the file ends inside its header");
    nino_status st = nino_json_parse(data + 8, (size_t) n, g->name, NULL, &doc, err);
    if (st)
        return st;
    nino_text found[2] = { { 0 } };
    static const char *const keys[2] = { "prompt", "workflow" };
    for (int k = 0; k < 2; k++) {
        const nino_json *v = nino_json_get(nino_json_get(doc->root, "__metadata__"), keys[k]);
        if (v && v->type == NINO_JSON_STRING)
            found[k] = (nino_text){ .value = (char *) v->text, .value_len = v->len };
    }
    st = parse_texts(g, found[0].value ? &found[0] : NULL, found[1].value ? &found[1] : NULL,
                     "file", err);
    nino_json_doc_destroy(&doc);
    return st;
}

// The length of the header, and the first byte of its JSON: no workflow starts like this.
static bool is_safetensors(const char *data, size_t len)
{
    return len > 8 && data[8] == '{' && !data[7] && !data[6] && !data[5] &&
           nino_st_header_bytes(data, len);
}

// Could this be JSON at all? Where it is not, a parser's complaint would not help anybody.
static nino_status check_start(const char *data, size_t len, const char *name, nino_error *err)
{
    size_t i = len >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (i < len && strchr(" \t\r\n", data[i]) && data[i])
        i++;
    if (i == len)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "syntax", name, "the file is empty");
    if (!data[i] || !strchr("{[\"-0123456789tfnNI", data[i]))
        return nino_fail_kind(err, NINO_ERR_FORMAT, "syntax", name,
                              "neither a workflow nor a file that can hold one");
    return NINO_OK;
}

nino_graph *nino_graph_load(const void *data, size_t len, const char *name, nino_error *err)
{
    nino_graph *g = calloc(1, sizeof(*g));
    nino_status st;
    if (!g || !(g->name = strdup(name ? name : "workflow")))
        st = nino_fail(err, NINO_ERR_NOMEM, "workflow", "out of memory");
    else if (nino_image_is(data, len))
        st = parse_image(g, data, len, err);
    else if (nino_video_is(data, len) || nino_sound_is(data, len))
        st = parse_video(g, data, len, err);
    else if (is_safetensors(data, len))
        st = parse_safetensors(g, data, len, err);
    else if (len > NINO_GRAPH_MAX_BYTES)
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "limit", g->name, "larger than 64 MiB");
    else if (!(st = check_start(data, len, g->name, err)))
        st = nino_graph_parse(g, data, len, err);
    if (st)
        nino_graph_destroy(&g);
    return g;
}

#define MAX_FILE ((size_t) 256 << 20) // a picture may be larger than its metadata

// The header of a safetensors file, however large the file is. *len stays 0 for other files.
static nino_status graph_load_read_header(const char *path, char **data, size_t *len,
                                          nino_error *err)
{
    char head[9];
    struct stat sb;
    nino_status st = NINO_OK;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NINO_OK; // nino_file_read() says why
    if (!fstat(fd, &sb) && S_ISREG(sb.st_mode) && pread(fd, head, 9, 0) == 9 &&
        is_safetensors(head, 9)) {
        size_t n = 8 + (size_t) nino_st_header_bytes(head, 8);
        n = n < (size_t) sb.st_size ? n : (size_t) sb.st_size;
        *data = malloc(n + 1);
        st = *data ? nino_file_pread(fd, *data, n, 0, path, err)
                   : nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
        *len = st ? 0 : n;
    }
    close(fd);
    return st;
}

nino_graph *nino_graph_load_file(const char *path, nino_error *err)
{
    char *data = NULL;
    size_t len = 0;
    nino_graph *g = NULL;
    const bool is_stdin = !strcmp(path, "-");
    nino_status st = is_stdin ? NINO_OK : graph_load_read_header(path, &data, &len, err);
    if (st == NINO_OK && !len)
        st = nino_file_read(path, MAX_FILE, true, &data, &len, err);
    if (st == NINO_OK)
        g = nino_graph_load(data, len, is_stdin ? "standard input" : path, err);
    free(data);
    return g;
}
