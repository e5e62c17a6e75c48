// An editable workflow: states, steps of undo, groups of changes.
#include "core/document/doc.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/error.h"

nino_status nino_doc_nomem(const nino_document *d, nino_error *err)
{
    return nino_fail(err, NINO_ERR_NOMEM, d && d->name ? d->name : "workflow", "out of memory");
}

// ---- states ----------------------------------------------------------------------------------

void nino_doc_state_destroy(nino_doc_state **ps)
{
    nino_doc_state *s = ps ? *ps : NULL;
    if (!s)
        return;
    *ps = NULL;
    nino_ui_destroy(&s->ui);
    nino_json_doc_destroy(&s->json);
    nino_arena_destroy(&s->arena);
    free(s);
}

// Goes into the instances of the path, as far as they exist.
static void enter_path(nino_doc_state *s, char *const *path, int *n_path)
{
    int n = 0;
    for (; n < *n_path; n++) {
        const int32_t i = nino_ui_get(s->ui, NINO_UI_IS_NODE, s->scope, path[n]);
        const int32_t inner =
            i >= 0 && s->ui->nodes[i].kind == NINO_UI_INSTANCE ? s->ui->nodes[i].inner : -1;
        if (inner < 0 || s->ui->scopes[inner].is_group)
            break;
        s->scope = inner;
    }
    *n_path = n;
    s->object = s->ui->scopes[s->scope].json;
}

nino_doc_state *nino_doc_state_create(nino_json_doc *json, const char *name, char *const *path,
                                      int *n_path, nino_error *err)
{
    nino_doc_state *s = calloc(1, sizeof(*s));
    if (!s) {
        nino_json_doc_destroy(&json);
        nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
        return NULL;
    }
    s->json = json;
    s->arena = nino_arena_create();
    s->ui = s->arena ? nino_ui_create(json, json->root, name, err) : NULL;
    if (!s->arena)
        nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    if (s->ui)
        enter_path(s, path, n_path);
    if (!s->ui || nino_doc_read(s, err))
        nino_doc_state_destroy(&s);
    return s;
}

nino_json_doc *nino_doc_parse(const nino_document *d, const char *text, size_t len, nino_error *err)
{
    const nino_json_limits limits = { .max_bytes = NINO_DOC_MAX_BYTES, .allow_bom = true };
    nino_json_doc *doc = NULL;
    nino_json_parse(text, len, d->name, &limits, &doc, err);
    return doc;
}

static nino_doc_state *state_of(const nino_document *d, const char *text, size_t len, int *n_path,
                                nino_error *err)
{
    nino_json_doc *json = nino_doc_parse(d, text, len, err);
    return json ? nino_doc_state_create(json, d->name, d->path, n_path, err) : NULL;
}

static void shorten_path(nino_document *d, int n)
{
    while (d->n_path > n)
        free(d->path[--d->n_path]);
}

void nino_doc_show(nino_document *d, nino_doc_state *s, int n_path)
{
    if (d->before != d->state)
        nino_doc_state_destroy(&d->state);
    d->state = s;
    shorten_path(d, n_path);
    d->version++;
}

static bool doc_same_text(const nino_json_doc *a, const nino_json_doc *b)
{
    return a->src_len == b->src_len && !memcmp(a->src, b->src, a->src_len);
}

// ---- changes ---------------------------------------------------------------------------------

nino_status nino_doc_edit_begin(nino_doc_edit *e, nino_document *d, nino_error *err)
{
    const nino_doc_state *s = d->state;
    *e = (nino_doc_edit){ .d = d, .is_root = s->scope == 0, .err = err };
    e->json = nino_doc_parse(d, s->json->src, s->json->src_len, err);
    if (!e->json)
        return NINO_ERR_NOMEM; // it was read before
    e->scope = e->json->root;
    if (e->is_root)
        return NINO_OK;
    // It was read from the same text, and definitions without an id, or of one id, are refused.
    const nino_json *list = nino_ui_array(nino_json_get(e->json->root, "definitions"), "subgraphs");
    e->scope = nino_doc_find_id(list, nino_ui_id(nino_json_get(s->object, "id")));
    return NINO_OK;
}

nino_status nino_doc_edit_commit(nino_doc_edit *e, nino_status st, const char *key,
                                 const char *name)
{
    nino_document *d = e->d;
    int n_path = d->n_path;
    if (st || doc_same_text(d->state->json, e->json)) {
        nino_json_doc_destroy(&e->json);
        return st;
    }
    nino_error mine = { 0 }, *err = e->err ? e->err : &mine;
    nino_doc_state *s = nino_doc_state_create(e->json, d->name, d->path, &n_path, err);
    e->json = NULL;
    if (!s)
        return err->code;
    if (!d->depth)
        st = nino_doc_add_step(d, d->state->json, s->json, key, name, err);
    else if (!d->before)
        d->before = d->state;
    if (st)
        nino_doc_state_destroy(&s);
    else
        nino_doc_show(d, s, n_path);
    return st;
}

void nino_document_begin(nino_document *d, const char *name)
{
    if (!d->depth++) {
        memset(d->group, 0, sizeof(d->group));
        strncpy(d->group, name, sizeof(d->group) - 1);
    }
}

nino_status nino_document_end(nino_document *d, nino_error *err)
{
    nino_status st = NINO_OK;
    if (!d->depth || --d->depth || !d->before)
        return NINO_OK;
    if (!doc_same_text(d->before->json, d->state->json))
        st = nino_doc_add_step(d, d->before->json, d->state->json, NULL, d->group, err);
    if (st) {
        d->depth = 1;
        nino_document_cancel(d);
        return st;
    }
    nino_doc_state_destroy(&d->before);
    return NINO_OK;
}

void nino_document_cancel(nino_document *d)
{
    nino_doc_state *before = d->before;
    d->depth = 0;
    if (!before)
        return;
    d->before = NULL;
    nino_doc_show(d, before, d->n_path);
}

// ---- what it is -------------------------------------------------------------------------------

bool nino_document_is_changed(const nino_document *d) { return d->saved_at != d->at || d->before; }

void nino_document_set_saved(nino_document *d)
{
    nino_document_seal(d);
    d->saved_at = d->at;
}

uint64_t nino_document_version(const nino_document *d) { return d->version; }
const char *nino_document_name(const nino_document *d) { return d->name; }
nino_document_form nino_document_origin(const nino_document *d) { return d->form; }

// ---- subgraphs -------------------------------------------------------------------------------

int nino_document_depth(const nino_document *d) { return d->n_path; }

const char *nino_document_level_id(const nino_document *d, int level)
{
    return level >= 0 && level < d->n_path ? d->path[level] : NULL;
}

const char *nino_document_level_name(const nino_document *d, int level)
{
    const nino_ui *ui = d->state->ui;
    int32_t scope = 0;
    for (int i = 0; i <= level && i < d->n_path; i++) {
        const int32_t n = nino_ui_get(ui, NINO_UI_IS_NODE, scope, d->path[i]);
        scope = n >= 0 ? ui->nodes[n].inner : 0;
    }
    return level >= 0 && level < d->n_path ? ui->scopes[scope].name : NULL;
}

// Shows the same text at another place.
static nino_status doc_look_at(nino_document *d, int n_path, nino_error *err)
{
    const nino_json_doc *json = d->state->json;
    nino_error mine = { 0 };
    int n = n_path;
    err = err ? err : &mine;
    nino_doc_state *s = state_of(d, json->src, json->src_len, &n, err);
    if (!s)
        return err->code;
    if (n < n_path) {
        nino_doc_state_destroy(&s);
        return nino_fail(err, NINO_ERR_ARG, d->path[n], "not a subgraph");
    }
    nino_doc_show(d, s, n);
    return NINO_OK;
}

nino_status nino_document_enter(nino_document *d, const char *id, nino_error *err)
{
    if (d->depth)
        return nino_fail(err, NINO_ERR_ARG, d->name, "not while a change is under way");
    char **path = realloc(d->path, ((size_t) d->n_path + 1) * sizeof(*path));
    if (!path)
        return nino_doc_nomem(d, err);
    d->path = path;
    if (!(path[d->n_path] = strdup(id)))
        return nino_doc_nomem(d, err);
    const int n = d->n_path++;
    const nino_status st = doc_look_at(d, n + 1, err);
    if (st)
        shorten_path(d, n);
    return st;
}

nino_status nino_document_leave(nino_document *d, int levels, nino_error *err)
{
    const int n = d->n_path - levels;
    if (d->depth)
        return nino_fail(err, NINO_ERR_ARG, d->name, "not while a change is under way");
    return n >= d->n_path ? NINO_OK : doc_look_at(d, n < 0 ? 0 : n, err);
}

// ---- opening ---------------------------------------------------------------------------------

static const char empty[] =
    "{\n  \"last_node_id\": 0,\n  \"last_link_id\": 0,\n  \"nodes\": [],\n  \"links\": [],\n"
    "  \"groups\": [],\n  \"config\": {},\n  \"extra\": {},\n  \"version\": 0.4\n}\n";

static nino_document *doc_create(const char *name, nino_error *err)
{
    nino_document *d = calloc(1, sizeof(*d));
    if (d && (d->name = strdup(name ? name : "workflow")))
        return d;
    nino_document_destroy(&d);
    nino_fail(err, NINO_ERR_NOMEM, "workflow", "out of memory");
    return NULL;
}

static nino_status doc_start(nino_document *d, const char *text, size_t len, nino_error *err)
{
    nino_error mine = { 0 };
    int n_path = 0;
    err = err ? err : &mine;
    d->state = state_of(d, text, len, &n_path, err);
    return d->state ? NINO_OK : err->code;
}

nino_document *nino_document_new(nino_error *err)
{
    nino_document *d = doc_create("workflow", err);
    if (d && doc_start(d, empty, sizeof(empty) - 1, err))
        nino_document_destroy(&d);
    return d;
}

static nino_status start_api(nino_document *d, nino_graph *g, nino_error *err)
{
    nino_buf ui = { 0 };
    size_t len = 0;
    const char *api = nino_graph_json(g, &len);
    nino_status st = len ? nino_doc_from_api(g, &ui, err) : nino_doc_nomem(d, err);
    if (!st && !(d->source = malloc(len + 1)))
        st = nino_doc_nomem(d, err);
    if (!st) {
        memcpy(d->source, api, len + 1);
        d->source_len = len;
        st = doc_start(d, ui.data, ui.len, err);
    }
    if (d->form == NINO_DOCUMENT_UI)
        d->form = NINO_DOCUMENT_API;
    nino_buf_release(&ui);
    return st;
}

static nino_document *from_graph(nino_graph *g, const char *name, bool is_file, nino_error *err)
{
    size_t len = 0;
    nino_document *d = doc_create(name, err);
    nino_status st = NINO_OK;
    if (!d)
        return NULL;
    d->form = is_file ? NINO_DOCUMENT_UI : NINO_DOCUMENT_IMPORT;
    const char *ui = nino_graph_ui_json(g, &len);
    if (ui && !len) // it is there, and there was no memory to write it
        st = nino_doc_nomem(d, err);
    else if (ui)
        st = doc_start(d, ui, len, err);
    else
        st = start_api(d, g, err);
    if (st)
        nino_document_destroy(&d);
    return d;
}

// A workflow, and nothing around it?
static bool is_doc_plain(const char *data, size_t len)
{
    const size_t bom = len >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;
    for (size_t i = bom; i < len; i++) // the length in front of a header may have zeros
        if (!data[i] || !strchr(" \t\r\n", data[i]))
            return data[i] == '{';
    return false;
}

static nino_document *doc_load(nino_graph *g, bool is_json, const char *name, nino_error *err)
{
    size_t n_file = 0, n_ui = 0;
    const char *ui = nino_graph_ui_json(g, &n_ui);
    const size_t n = ui ? n_ui : 0;
    nino_graph_json(g, &n_file);
    // The editor's form inside something else cannot be written back to where it was.
    nino_document *d = from_graph(g, name, is_json && (!ui || n == n_file), err);
    nino_graph_destroy(&g);
    return d;
}

nino_document *nino_document_load(const void *data, size_t len, const char *name, nino_error *err)
{
    nino_graph *g = nino_graph_load(data, len, name, err);
    return g ? doc_load(g, is_doc_plain(data, len), name, err) : NULL;
}

static bool is_json_name(const char *path)
{
    const char *dot = strrchr(path, '.');
    return !strcmp(path, "-") || (dot && !strcasecmp(dot, ".json"));
}

nino_document *nino_document_load_file(const char *path, nino_error *err)
{
    nino_graph *g = nino_graph_load_file(path, err);
    return g ? doc_load(g, is_json_name(path), path, err) : NULL;
}

void nino_document_destroy(nino_document **pd)
{
    nino_document *d = pd ? *pd : NULL;
    if (!d)
        return;
    *pd = NULL;
    if (d->before != d->state)
        nino_doc_state_destroy(&d->before);
    nino_doc_state_destroy(&d->state);
    nino_doc_release_steps(d);
    shorten_path(d, 0);
    free(d->path);
    free(d->source);
    free(d->name);
    nino_buf_release(&d->text);
    free(d);
}

// ---- writing ---------------------------------------------------------------------------------

static const char *doc_give(nino_document *d, const char *text, size_t n, size_t *len)
{
    nino_buf_clear(&d->text);
    nino_buf_add(&d->text, text, n);
    if (d->text.failed) {
        nino_buf_release(&d->text);
        return NULL;
    }
    if (len)
        *len = d->text.len;
    return d->text.data;
}

const char *nino_document_ui_json(nino_document *d, size_t *len)
{
    return doc_give(d, d->state->json->src, d->state->json->src_len, len);
}

const char *nino_document_api_json(nino_document *d, size_t *len, nino_error *err)
{
    const nino_json_doc *json = d->state->json;
    nino_graph *g = nino_graph_load(json->src, json->src_len, d->name, err);
    size_t n = 0;
    if (!g)
        return NULL;
    const char *api = nino_graph_api_json(g, &n);
    const char *text = n ? doc_give(d, api, n, len) : NULL;
    if (!text)
        nino_doc_nomem(d, err);
    nino_graph_destroy(&g);
    return text;
}

const char *nino_document_json(nino_document *d, size_t *len, nino_error *err)
{
    const char *text;
    if (d->form == NINO_DOCUMENT_API && !d->first_is_gone && !d->at && !d->before)
        text = doc_give(d, d->source, d->source_len, len);
    else if (d->form == NINO_DOCUMENT_API)
        return nino_document_api_json(d, len, err);
    else
        text = nino_document_ui_json(d, len);
    if (!text)
        nino_doc_nomem(d, err);
    return text;
}
