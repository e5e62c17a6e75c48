// What is known of a job: its prompt, what its nodes have shown, how far they are; as clients of
// ComfyUI read it in the queue and in the history.
#include "core/serve/serve_priv.h"

#include "core/node/node_impl.h"

#include <stdlib.h>
#include <string.h>

serve_record *serve_record_create(void) { return calloc(1, sizeof(serve_record)); }

void serve_record_destroy(serve_record **pr)
{
    serve_record *r = *pr;
    *pr = NULL;
    if (!r)
        return;
    for (serve_shown *n; (n = r->shown);) {
        r->shown = n->next;
        free(n->node);
        free(n->name);
        free(n->subfolder);
        free(n);
    }
    for (serve_node *n; (n = r->nodes);) {
        r->nodes = n->next;
        free(n->id);
        free(n->class_type);
        free(n);
    }
    nino_buf_release(&r->messages);
    free(r->prompt);
    free(r->extra);
    free(r->node_errors);
    free(r);
}

serve_record *serve_record_find(const nino_serve *s, const char *prompt_id)
{
    serve_record *r = s->records;
    while (r && strcmp(r->prompt_id, prompt_id) != 0)
        r = r->next;
    return r;
}

serve_record *serve_record_of_job(const nino_serve *s, uint64_t job)
{
    serve_record *r = s->records;
    while (r && r->job != job)
        r = r->next;
    return r;
}

nino_queue_state serve_record_state(const serve_record *r)
{
    if (r->state < NINO_QUEUE_DONE || r->is_told_end)
        return r->state;
    return r->is_started ? NINO_QUEUE_RUNNING : NINO_QUEUE_WAITING;
}

size_t serve_waiting(const nino_serve *s)
{
    size_t n = 0;
    for (const serve_record *r = s->records; r; r = r->next)
        n += serve_record_state(r) <= NINO_QUEUE_RUNNING;
    return n;
}

serve_node *serve_record_node(serve_record *r, const char *id, const char *class_type)
{
    serve_node **at = &r->nodes;
    for (; *at; at = &(*at)->next)
        if (!strcmp((*at)->id, id))
            return *at;
    serve_node *n = calloc(1, sizeof(*n));
    if (!n || !(n->id = strdup(id)) || !(n->class_type = strdup(class_type))) {
        if (n)
            free(n->id);
        free(n);
        return NULL;
    }
    n->max = 1;
    n->state = "running";
    return *at = n;
}

// ---- the workflow ------------------------------------------------------------------------------

static char *json_text(const nino_json_doc *doc, const nino_json *v)
{
    nino_buf b = { 0 };
    nino_json_write(&b, doc, v);
    if (b.failed)
        nino_buf_release(&b);
    return b.data;
}

// What came in another form than a prompt.
static void take_graph(serve_record *r, const char *text, size_t len)
{
    nino_graph *g = nino_graph_load(text, len, "workflow", NULL);
    size_t n = 0;
    const char *api = g ? nino_graph_api_json(g, &n) : NULL;
    r->prompt = api && n ? strndup(api, n) : NULL;
    const char *ui = g ? nino_graph_ui_json(g, &n) : NULL;
    if (ui) {
        nino_buf b = { 0 };
        nino_buf_adds(&b, "{\"extra_pnginfo\":{\"workflow\":");
        nino_buf_add(&b, ui, n);
        nino_buf_adds(&b, "}}");
        r->extra = b.failed ? NULL : b.data;
    }
    nino_graph_destroy(&g);
}

static void find_writers(serve_record *r);

void serve_record_workflow(serve_record *r, const char *text, size_t len)
{
    nino_json_doc *doc = NULL;
    free(r->prompt);
    free(r->extra);
    r->prompt = r->extra = NULL;
    if (nino_json_parse(text, len, "workflow", NULL, &doc, NULL))
        return;
    const nino_json *prompt = nino_json_get(doc->root, "prompt");
    const nino_json *extra = nino_json_get(doc->root, "extra_data");
    if (prompt && prompt->type == NINO_JSON_OBJECT && !nino_json_get(prompt, "class_type")) {
        r->prompt = json_text(doc, prompt);
        if (extra && extra->type == NINO_JSON_OBJECT) {
            const char *client = nino_json_str(nino_json_get(extra, "client_id"));
            const nino_json *info = nino_json_get(extra, "extra_pnginfo");
            const char *id = nino_json_str(nino_json_get(nino_json_get(info, "workflow"), "id"));
            snprintf(r->workflow_id, sizeof(r->workflow_id), "%s",
                     id && strlen(id) < sizeof(r->workflow_id) ? id : "");
            nino_json_double(nino_json_get(extra, "create_time"), &r->created_ms);
            r->extra = json_text(doc, extra);
            if (client && strlen(client) <= MAX_ID && !*r->client)
                snprintf(r->client, sizeof(r->client), "%s", client);
        }
    } else {
        take_graph(r, text, len);
    }
    nino_json_doc_destroy(&doc);
    find_writers(r);
}

// ---- what nodes show ---------------------------------------------------------------------------

// path below dir: where its name begins, else NULL.
static const char *below(const char *path, const char *dir)
{
    const size_t n = dir ? strlen(dir) : 0;
    return n && !strncmp(path, dir, n) && (path[n] == '/' || dir[n - 1] == '/')
               ? path + n + (path[n] == '/')
               : NULL;
}

static serve_shown *new_shown(serve_record *r, const char *node)
{
    serve_shown **at = &r->shown;
    while (*at)
        at = &(*at)->next;
    serve_shown *n = calloc(1, sizeof(*n));
    if (!n || !(n->node = strdup(node))) {
        free(n);
        return NULL;
    }
    n->subfolder = strdup("");
    n->name = strdup("");
    return *at = n;
}

// The name of the list that clients look for it in.
static const char *kind_of(const char *ending)
{
    static const char *const sounds[] = { ".flac", ".mp3", ".opus", ".wav", NULL };
    for (const char *const *s = sounds; *s; s++)
        if (!strcmp(ending, *s))
            return "audio";
    return !strcmp(ending, ".latent") ? "latents" : "images";
}

void serve_record_show(nino_serve *s, serve_record *r, const char *node, const char *class_type,
                       const char *path)
{
    const char *name = below(path, s->options.output_dir), *type = "output";
    if (!name) {
        name = below(path, nino_ctx_temp_dir(s->ctx));
        type = "temp";
    }
    if (!name || !*name)
        return; // nobody here may see it
    for (const serve_shown *n = r->shown; n; n = n->next)
        if (!n->is_text && !strcmp(n->node, node) && n->name && !strcmp(n->name, name))
            return;
    serve_shown *n = new_shown(r, node);
    if (!n)
        return;
    const char *slash = strrchr(name, '/'), *dot = strrchr(name, '.');
    free(n->name);
    n->name = strdup(slash ? slash + 1 : name);
    if (slash) {
        free(n->subfolder);
        n->subfolder = strndup(name, (size_t) (slash - name));
    }
    n->type = type;
    n->kind = kind_of(dot ? dot : "");
    n->source = !strcmp(class_type, "ETN_SaveImageCache")       ? "http"
                : !strcmp(class_type, "ETN_SendImageWebSocket") ? "websocket"
                                                                : NULL;
    n->is_gif = !strcmp(class_type, "VHS_VideoCombine");
    n->is_animated =
        strstr(class_type, "Animated") || strstr(class_type, "Video") || strstr(class_type, "WEBM");
}

void serve_record_texts(serve_record *r, const nino_queue_job *q)
{
    size_t n = 0;
    for (const serve_shown *t = r->shown; t; t = t->next)
        n += t->is_text;
    for (; n < q->n_texts; n++) {
        serve_shown *t = new_shown(r, q->texts[n].node);
        if (!t)
            return;
        t->is_text = true;
        t->kind = "text";
        free(t->name);
        t->name = strdup(q->texts[n].text);
    }
}

bool serve_only_sends(const char *class_type) { return !strcmp(class_type, "SaveImageWebsocket"); }

// Which node has written a file, by what the prompt calls it: for those that nobody saw being written.
static const char *writer_of(const nino_json *prompt, const serve_shown *s)
{
    const char *only = NULL;
    for (const nino_json *n = prompt->child; n; n = n->next) {
        const char *type = nino_json_str(nino_json_get(n, "class_type"));
        const nino_node_def *def = type ? nino_node_find(type, NULL) : NULL;
        const char *prefix =
            nino_json_str(nino_json_get(nino_json_get(n, "inputs"), "filename_prefix"));
        const char *slash = prefix ? strrchr(prefix, '/') : NULL;
        if (!def || !def->is_output || !n->key || serve_only_sends(def->key))
            continue;
        prefix = slash ? slash + 1 : prefix;
        if (prefix && !strncmp(s->name, prefix, strlen(prefix)))
            return n->key;
        only = only ? only : n->key;
    }
    return only;
}

static void find_writers(serve_record *r)
{
    nino_json_doc *doc = NULL;
    bool is_needed = false;
    for (const serve_shown *n = r->shown; n; n = n->next)
        is_needed |= !*n->node;
    if (!is_needed || !r->prompt ||
        nino_json_parse(r->prompt, strlen(r->prompt), "prompt", NULL, &doc, NULL))
        return;
    for (serve_shown *n = r->shown; n; n = n->next) {
        const char *id = *n->node || n->is_text || !n->name ? NULL : writer_of(doc->root, n);
        char *copy = id ? strdup(id) : NULL;
        if (!copy)
            continue;
        free(n->node);
        n->node = copy;
    }
    nino_json_doc_destroy(&doc);
}

static void add_kind(nino_buf *b, const serve_record *r, const char *node, const char *kind)
{
    bool is_animated = false, is_open = false;
    for (const serve_shown *n = r->shown; n; n = n->next) {
        const bool is_gif = n->is_gif && !strcmp(kind, "gifs");
        if (strcmp(n->node, node) != 0 || (!is_gif && strcmp(n->kind, kind) != 0) || !n->name ||
            !n->subfolder)
            continue;
        if (!is_open) {
            serve_key(b, kind);
            nino_buf_addc(b, '[');
            is_open = true;
        }
        if (n->is_text) {
            serve_text(b, NULL, n->name);
            continue;
        }
        serve_key(b, NULL);
        nino_buf_addc(b, '{');
        serve_text(b, "filename", n->name);
        serve_text(b, "subfolder", n->subfolder);
        serve_text(b, "type", n->type);
        if (is_gif)
            serve_text(b, "format", serve_type_of(n->name));
        if (n->source) {
            serve_text(b, "source", n->source);
            serve_text(b, "id", n->name);
            serve_text(b, "content-type", serve_type_of(n->name));
        }
        nino_buf_addc(b, '}');
        is_animated |= n->is_animated && !is_gif;
    }
    if (is_open)
        nino_buf_addc(b, ']');
    if (is_animated)
        nino_buf_adds(b, ",\"animated\":[true]");
}

void serve_outputs_of(nino_buf *b, const serve_record *r, const char *node)
{
    nino_buf_addc(b, '{');
    static const char *const kinds[] = { "images", "gifs", "audio", "latents", "text" };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        add_kind(b, r, node, kinds[i]);
    nino_buf_addc(b, '}');
}

// ---- JSON --------------------------------------------------------------------------------------

// Ids of the nodes that a run is for.
static void output_nodes(nino_buf *b, const char *prompt)
{
    nino_json_doc *doc = NULL;
    nino_buf_addc(b, '[');
    if (prompt && !nino_json_parse(prompt, strlen(prompt), "prompt", NULL, &doc, NULL)) {
        for (const nino_json *n = doc->root->child; n; n = n->next) {
            const char *type = nino_json_str(nino_json_get(n, "class_type"));
            const nino_node_def *def = type ? nino_node_find(type, NULL) : NULL;
            if (def && def->is_output && n->key)
                serve_text(b, NULL, n->key);
        }
        nino_json_doc_destroy(&doc);
    }
    nino_buf_addc(b, ']');
}

void serve_record_queue_json(nino_buf *b, const serve_record *r)
{
    serve_key(b, NULL);
    nino_buf_addc(b, '[');
    serve_number(b, NULL, r->number);
    serve_text(b, NULL, r->prompt_id);
    nino_buf_addc(b, ',');
    nino_buf_adds(b, r->prompt ? r->prompt : "{}");
    nino_buf_addc(b, ',');
    nino_buf_adds(b, r->extra ? r->extra : "{}");
    nino_buf_addc(b, ',');
    output_nodes(b, r->prompt);
    nino_buf_addc(b, ']');
}

// Not of what nobody is known to have written.
static bool is_first_of(const serve_record *r, const serve_shown *n)
{
    if (!*n->node)
        return false;
    for (const serve_shown *m = r->shown; m != n; m = m->next)
        if (!strcmp(m->node, n->node))
            return false;
    return true;
}

void serve_record_outputs_json(nino_buf *b, const serve_record *r)
{
    nino_buf_addc(b, '{');
    for (const serve_shown *n = r->shown; n; n = n->next)
        if (is_first_of(r, n)) {
            serve_key(b, n->node);
            serve_outputs_of(b, r, n->node);
        }
    nino_buf_addc(b, '}');
}

void serve_record_status_json(nino_buf *b, const serve_record *r)
{
    const bool ok = r->state == NINO_QUEUE_DONE;
    nino_buf_addf(b, "{\"status_str\":\"%s\",\"completed\":%s,\"messages\":[",
                  ok ? "success" : "error", ok ? "true" : "false");
    nino_buf_add(b, r->messages.data ? r->messages.data : "", r->messages.len);
    nino_buf_adds(b, "]}");
}

void serve_record_history_json(nino_buf *b, const serve_record *r)
{
    serve_key(b, r->prompt_id);
    nino_buf_adds(b, "{\"prompt\":");
    serve_record_queue_json(b, r);
    serve_key(b, "outputs");
    serve_record_outputs_json(b, r);
    serve_key(b, "status");
    serve_record_status_json(b, r);
    nino_buf_adds(b, ",\"meta\":{");
    for (const serve_shown *n = r->shown; n; n = n->next)
        if (is_first_of(r, n)) {
            serve_key(b, n->node);
            nino_buf_addc(b, '{');
            serve_text(b, "node_id", n->node);
            serve_text(b, "display_node", n->node);
            nino_buf_adds(b, ",\"parent_node\":null");
            serve_text(b, "real_node_id", n->node);
            nino_buf_addc(b, '}');
        }
    nino_buf_adds(b, "}}");
}
