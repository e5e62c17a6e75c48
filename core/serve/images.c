// /v1/images/generations: a prompt laid into a workflow that the user has named, for programs that
// know nothing of workflows.
#include "core/serve/serve_priv.h"

#include "core/base/error.h"
#include "core/base/file.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PICTURES = 64, MAX_PICTURE = 64 << 20, MAX_STEPS = 64, MAX_PROMPT = 32000 };

// ---- filling the workflow ----------------------------------------------------------------------

static const nino_json *input(const nino_gnode *n, const char *key)
{
    return nino_json_get(nino_json_get(n->json, "inputs"), key);
}

// The node that a link comes from; -1: it is none.
static int source_of(const nino_graph *g, const nino_json *v)
{
    char buf[32];
    const char *id;
    int32_t slot;
    return v && nino_input_read(v, buf, &id, &slot) == NINO_INPUT_LINK ? nino_graph_find(g, id)
                                                                       : -1;
}

// Follows conditioning back to the node that has the text; -1: there is none.
static int text_behind(const nino_graph *g, int i)
{
    static const char *const ways[] = { "conditioning", "positive", "conditioning_1",
                                        "conditioning_to" };
    for (int steps = 0; i >= 0 && steps < MAX_STEPS; steps++) {
        const nino_gnode *n = &g->nodes[i];
        if (nino_json_str(input(n, "text")))
            return i;
        int next = -1;
        for (size_t k = 0; k < sizeof(ways) / sizeof(ways[0]) && next < 0; k++)
            next = source_of(g, input(n, ways[k]));
        i = next;
    }
    return -1;
}

// The node with the prompt: one of that title, else what the sampler is told to go towards.
static int prompt_node(const nino_graph *g)
{
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].title && !strcmp(g->nodes[i].title, "Prompt") &&
            nino_json_str(input(&g->nodes[i], "text")))
            return i;
    for (int i = 0; i < g->n_nodes; i++) {
        const bool is_guider = strstr(g->nodes[i].class_type, "Guider") != NULL;
        const nino_json *v = input(&g->nodes[i], is_guider ? "conditioning" : "positive");
        const int found = v ? text_behind(g, source_of(g, v)) : -1;
        if (found >= 0)
            return found;
    }
    return -1;
}

static nino_status set(nino_graph *g, const char *id, const char *key, const char *value,
                       nino_error *err)
{
    nino_buf b = { 0 };
    nino_buf_addf(&b, "%s.%s=", id, key);
    nino_buf_adds(&b, value);
    const nino_status st = b.failed ? nino_fail(err, NINO_ERR_NOMEM, id, "out of memory")
                                    : nino_graph_set(g, b.data, err);
    nino_buf_release(&b);
    return st;
}

static nino_status set_number(nino_graph *g, const char *id, const char *key, uint64_t v,
                              nino_error *err)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long) v);
    return set(g, id, key, text, err);
}

typedef struct wish {
    const char *prompt;
    uint64_t n, width, height, seed; // 0 of a size: as the workflow has it
} wish;

// Sizes go to what makes empty latents, the seed to every node that has one.
static nino_status fill(nino_graph *g, const wish *w, nino_error *err)
{
    const int at = prompt_node(g);
    if (at < 0)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, "images",
                         "the workflow has no prompt to fill in");
    nino_status st = set(g, g->nodes[at].id, "text", w->prompt, err);
    for (int i = 0; i < g->n_nodes && !st; i++) {
        const nino_gnode *n = &g->nodes[i];
        for (const nino_param *p = n->def ? n->def->params : NULL; p && p->key && !st; p++)
            if (p->type == NINO_SEED && nino_json_get(nino_json_get(n->json, "inputs"), p->key))
                st = set_number(g, n->id, p->key, w->seed, err);
        if (!input(n, "batch_size") || !input(n, "width") || !input(n, "height"))
            continue;
        if (!st && w->width)
            st = set_number(g, n->id, "width", w->width, err);
        if (!st && w->height)
            st = set_number(g, n->id, "height", w->height, err);
        if (!st)
            st = set_number(g, n->id, "batch_size", w->n, err);
    }
    return st;
}

static bool read_wish(nino_serve_call *c, const nino_json_doc *doc, wish *w)
{
    const nino_json *n = nino_json_get(doc->root, "n");
    const nino_json *seed = nino_json_get(doc->root, "seed");
    const char *size = nino_json_str(nino_json_get(doc->root, "size"));
    const char *form = nino_json_str(nino_json_get(doc->root, "response_format"));
    char id[37];
    serve_uuid(c->s, id);
    *w = (wish){ .prompt = nino_json_str(nino_json_get(doc->root, "prompt")), .n = 1 };
    w->seed = strtoull(id, NULL, 16) | (uint64_t) 1; // eight digits
    c->wants_url = !form || !strcmp(form, "url");
    unsigned a, b;
    int k = 0;
    if (!w->prompt)
        serve_fail(c, 400, "invalid_request_error", "prompt is missing");
    else if (strlen(w->prompt) > MAX_PROMPT)
        serve_fail(c, 400, "invalid_request_error", "prompt is longer than %d bytes", MAX_PROMPT);
    else if (n && n->type != NINO_JSON_NULL && (!nino_json_u64(n, &w->n) || !w->n || w->n > 10))
        serve_fail(c, 400, "invalid_request_error", "n is not a whole number from 1 to 10");
    else if (seed && !nino_json_u64(seed, &w->seed))
        serve_fail(c, 400, "invalid_request_error", "seed is not a whole number");
    else if (size && strcmp(size, "auto") != 0 &&
             (sscanf(size, "%5ux%5u%n", &a, &b, &k) != 2 || size[k] || !a || !b))
        serve_fail(c, 400, "invalid_request_error", "size is not WIDTHxHEIGHT");
    else if (form && strcmp(form, "url") != 0 && strcmp(form, "b64_json") != 0)
        serve_fail(c, 400, "invalid_request_error", "response_format is neither url nor b64_json");
    else {
        if (size && k) {
            w->width = a;
            w->height = b;
        }
        return true;
    }
    return false;
}

static void add_workflow(nino_buf *b, nino_graph *g)
{
    size_t len = 0;
    nino_buf_adds(b, "{\"prompt\":");
    const char *text = nino_graph_api_json(g, &len);
    nino_buf_add(b, text, len);
    nino_buf_adds(b, ",\"extra_data\":{");
    if ((text = nino_graph_ui_json(g, &len))) {
        nino_buf_adds(b, "\"extra_pnginfo\":{\"workflow\":");
        nino_buf_add(b, text, len);
        nino_buf_addc(b, '}');
    }
    nino_buf_adds(b, "}}");
}

void serve_images_v1(nino_serve_call *c, const char *rest)
{
    nino_serve *s = c->s;
    nino_error e = { .code = NINO_OK };
    nino_buf b = { 0 };
    wish w;
    (void) rest;
    if (!s->images_text) {
        serve_fail(c, 404, "not_found", "the server was started without --images WORKFLOW");
        return;
    }
    nino_json_doc *doc = serve_body(c);
    nino_graph *g = NULL;
    serve_record *r = NULL;
    if (!doc || !read_wish(c, doc, &w))
        goto end;
    g = nino_graph_load(s->images_text, s->images_bytes, s->params.images_workflow, &e);
    if (!g || fill(g, &w, &e)) {
        serve_fail(c, 400, "invalid_request_error", "%s%s%s", e.where, *e.where ? ": " : "", e.msg);
        goto end;
    }
    add_workflow(&b, g);
    if (b.failed || !(r = serve_record_create())) {
        serve_fail(c, 500, "server_error", "out of memory");
        goto end;
    }
    serve_uuid(s, r->prompt_id);
    snprintf(r->client, sizeof(r->client), "-"); // nobody's: no WebSocket is told
    snprintf(c->host, sizeof(c->host), "%s", c->r->host ? c->r->host : "localhost");
    c->is_images = true;
    if (serve_check_workflow(c, b.data, b.len, NULL))
        serve_queue_workflow(c, &r, b.data, b.len, 0);
end:
    serve_record_destroy(&r);
    nino_graph_destroy(&g);
    nino_buf_release(&b);
    nino_json_doc_destroy(&doc);
}

// ---- the answer --------------------------------------------------------------------------------

static void add_base64(nino_buf *b, const unsigned char *d, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const uint32_t v = (uint32_t) d[i] << 16 | (i + 1 < n ? (uint32_t) d[i + 1] << 8 : 0) |
                           (i + 2 < n ? d[i + 2] : 0);
        const char out[4] = { digits[v >> 18], digits[v >> 12 & 63],
                              i + 1 < n ? digits[v >> 6 & 63] : '=',
                              i + 2 < n ? digits[v & 63] : '=' };
        nino_buf_add(b, out, 4);
    }
}

static void add_escaped(nino_buf *b, const char *s)
{
    for (; *s; s++)
        if ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
            strchr("-_.~", *s))
            nino_buf_addc(b, *s);
        else
            nino_buf_addf(b, "%%%02X", (unsigned char) *s);
}

// False: the file is gone.
static bool add_picture(nino_serve_call *c, const serve_shown *n)
{
    nino_buf *b = &c->body;
    char path[4096], *data = NULL;
    size_t len = 0;
    if (c->wants_url) {
        serve_key(b, NULL);
        nino_buf_adds(b, "{\"url\":\"http://");
        for (const char *h = c->host; *h; h++)
            if (strchr("\"\\<> ", *h) == NULL)
                nino_buf_addc(b, *h);
        nino_buf_adds(b, "/view?filename=");
        add_escaped(b, n->name);
        nino_buf_adds(b, "&subfolder=");
        add_escaped(b, n->subfolder);
        nino_buf_addf(b, "&type=%s\"}", n->type);
        return true;
    }
    const char *dir =
        !strcmp(n->type, "temp") ? nino_ctx_temp_dir(c->s->ctx) : c->s->options.output_dir;
    snprintf(path, sizeof(path), "%s/%s%s%s", dir, n->subfolder, *n->subfolder ? "/" : "", n->name);
    if (nino_file_read(path, MAX_PICTURE, false, &data, &len, NULL))
        return false;
    serve_key(b, NULL);
    nino_buf_adds(b, "{\"b64_json\":\"");
    add_base64(b, (const unsigned char *) data, len);
    nino_buf_adds(b, "\"}");
    free(data);
    return true;
}

void serve_images_done(nino_serve_call *c, const serve_record *r)
{
    int n = 0;
    if (r->state != NINO_QUEUE_DONE) {
        serve_fail(c, 500, "server_error", "%s",
                   r->state == NINO_QUEUE_CANCELLED ? "cancelled" : r->err.msg);
        return;
    }
    nino_buf_clear(&c->body);
    nino_buf_addf(&c->body, "{\"created\":%lld,\"data\":[", (long long) (serve_ms() / 1e3));
    for (const serve_shown *p = r->shown; p && n < MAX_PICTURES; p = p->next)
        if (!p->is_text && p->name && p->subfolder && !strncmp(serve_type_of(p->name), "image/", 6))
            n += add_picture(c, p);
    nino_buf_adds(&c->body, "]}");
    if (n)
        serve_reply_json(c, 200);
    else
        serve_fail(c, 500, "server_error", "the workflow has made no picture");
}

void serve_models_v1(nino_serve_call *c, const char *rest)
{
    const char *name = c->s->params.images_workflow;
    const char *slash = name ? strrchr(name, '/') : NULL;
    (void) rest;
    nino_buf_adds(&c->body, "{\"object\":\"list\",\"data\":[");
    if (name) {
        nino_buf_addc(&c->body, '{');
        serve_text(&c->body, "id", slash ? slash + 1 : name);
        nino_buf_adds(&c->body, ",\"object\":\"model\",\"created\":0,\"owned_by\":\"ninodes\"}");
    }
    nino_buf_adds(&c->body, "]}");
    serve_reply_json(c, 200);
}
