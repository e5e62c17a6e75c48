// Clients of the WebSocket: what is to be said to each, which is bounded whatever they read.
#include "core/serve/serve_priv.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_UNREAD = 16 << 20, MAX_RESULTS = 256 << 20, MAX_MESSAGES = 4096 };

typedef struct message {
    struct message *next;
    serve_weight weight;
    bool is_text;
    size_t len;
    char data[];
} message;

struct nino_serve_client {
    nino_serve_client *next, **at;
    nino_serve *s;
    void *user;
    char id[MAX_ID + 1];
    bool takes_metadata; // of previews
    bool is_over;
    message *first, *last, *taken;
    size_t n, bytes, result_bytes; // bytes: without results
};

// Where messages of that weight are counted.
static size_t *bytes_of(nino_serve_client *c, serve_weight weight)
{
    return weight == SERVE_RESULT ? &c->result_bytes : &c->bytes;
}

// Takes out the oldest message of that weight. False: there is none.
static bool client_drop_one(nino_serve_client *c, serve_weight weight)
{
    message *before = NULL;
    for (message **at = &c->first; *at; before = *at, at = &(*at)->next) {
        message *m = *at;
        if (m->weight != weight)
            continue;
        *at = m->next;
        if (c->last == m)
            c->last = before;
        c->n--;
        *bytes_of(c, weight) -= m->len;
        free(m);
        return true;
    }
    return false;
}

static void client_add(nino_serve_client *c, serve_weight weight, bool is_text, const void *head,
                       size_t n_head, const void *data, size_t len)
{
    size_t *bytes = bytes_of(c, weight);
    const size_t max = weight == SERVE_RESULT ? MAX_RESULTS : MAX_UNREAD;
    while (c->n && (*bytes + n_head + len > max || c->n >= MAX_MESSAGES))
        if (!client_drop_one(c, SERVE_PICTURE) && !client_drop_one(c, SERVE_PROGRESS)) {
            c->is_over = true;
            break;
        }
    message *m = c->is_over ? NULL : malloc(sizeof(*m) + n_head + len);
    if (m) {
        *m = (message){ .weight = weight, .is_text = is_text, .len = n_head + len };
        if (n_head)
            memcpy(m->data, head, n_head);
        memcpy(m->data + n_head, data, len);
        if (c->last)
            c->last->next = m;
        else
            c->first = m;
        c->last = m;
        c->n++;
        *bytes += m->len;
    }
    if (c->s->params.wake)
        c->s->params.wake(c->s->params.priv, c->user);
}

void serve_post(nino_serve *s, const char *client, serve_weight weight, const char *json,
                size_t len)
{
    for (nino_serve_client *c = s->clients; c; c = c->next)
        if (!*client || !strcmp(client, c->id))
            client_add(c, weight, true, NULL, 0, json, len);
}

bool serve_wants_pictures(const nino_serve *s, const char *client)
{
    for (const nino_serve_client *c = s->clients; c; c = c->next)
        if (!*client || !strcmp(client, c->id))
            return true;
    return false;
}

static void put32(char *out, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        out[i] = (char) (v >> (24 - 8 * i));
}

// Kinds of binary messages: 1 a picture, 4 one with what it belongs to in front. Formats: 1 JPEG, as
// previews are, 2 PNG, as results are: clients tell them apart by that.
void serve_post_picture(nino_serve *s, const serve_record *r, serve_weight weight, const char *data,
                        size_t len)
{
    nino_buf meta = { 0 };
    char plain[8], *rich = NULL;
    put32(plain, 1);
    const bool is_jpeg = len && (unsigned char) *data == 0xff;
    put32(plain + 4, is_jpeg ? 1 : 2);
    nino_buf_adds(&meta, "{");
    serve_text(&meta, "node_id", r->current);
    serve_text(&meta, "display_node_id", r->current);
    serve_text(&meta, "real_node_id", r->current);
    serve_key(&meta, "parent_node_id");
    nino_buf_adds(&meta, "null");
    serve_text(&meta, "prompt_id", r->prompt_id);
    serve_text(&meta, "image_type", is_jpeg ? "image/jpeg" : "image/png");
    nino_buf_addc(&meta, '}');
    if (!meta.failed && (rich = malloc(8 + meta.len))) {
        put32(rich, 4);
        put32(rich + 4, (uint32_t) meta.len);
        memcpy(rich + 8, meta.data, meta.len);
    }
    for (nino_serve_client *c = s->clients; c; c = c->next) {
        if (*r->client && strcmp(r->client, c->id) != 0)
            continue;
        while (weight == SERVE_PICTURE &&
               client_drop_one(c, weight)) // only the newest is worth sending
            continue;
        if (c->takes_metadata && rich)
            client_add(c, weight, false, rich, 8 + meta.len, data, len);
        else
            client_add(c, weight, false, plain, 8, data, len);
    }
    free(rich);
    nino_buf_release(&meta);
}

// ---- joining and leaving -----------------------------------------------------------------------

static void say_hello(nino_serve *s, nino_serve_client *c)
{
    nino_buf b = { 0 };
    nino_buf_addf(&b,
                  "{\"type\":\"status\",\"data\":{\"status\":{\"exec_info\":"
                  "{\"queue_remaining\":%zu}},\"sid\":",
                  serve_waiting(s));
    nino_buf_add_json_string(&b, c->id, strlen(c->id));
    nino_buf_adds(&b, "}}");
    if (!b.failed)
        client_add(c, SERVE_KEEP, true, NULL, 0, b.data, b.len);
    nino_buf_clear(&b);
    for (const serve_record *r = s->records; r; r = r->next) { // it may have been away for a while
        if (r->state != NINO_QUEUE_RUNNING || !*r->current ||
            (*r->client && strcmp(r->client, c->id) != 0))
            continue;
        nino_buf_adds(&b, "{\"type\":\"executing\",\"data\":{");
        serve_text(&b, "node", r->current);
        serve_text(&b, "display_node", r->current);
        serve_text(&b, "prompt_id", r->prompt_id);
        nino_buf_adds(&b, "}}");
        if (!b.failed)
            client_add(c, SERVE_KEEP, true, NULL, 0, b.data, b.len);
        break;
    }
    nino_buf_release(&b);
}

nino_serve_client *nino_serve_join(nino_serve *s, const nino_http_request *r, void *user)
{
    nino_serve_client *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->s = s;
    c->user = user;
    const char *query = strchr(r->target, '?');
    if (!query || !serve_query(query + 1, "clientId", c->id, sizeof(c->id)) || !*c->id)
        serve_uuid(s, c->id);
    c->next = s->clients;
    c->at = &s->clients;
    if (c->next)
        c->next->at = &c->next;
    s->clients = c;
    say_hello(s, c);
    return c;
}

// The one thing that clients say: what they can take. It is answered by what is here.
void nino_serve_hear(nino_serve_client *c, const char *text, size_t len)
{
    const nino_json_limits limits = { .max_depth = 20, .max_bytes = 64 << 10, .max_nodes = 1000 };
    nino_json_doc *doc = NULL;
    if (nino_json_parse(text, len, "message", &limits, &doc, NULL))
        return;
    const char *type = nino_json_str(nino_json_get(doc->root, "type"));
    bool takes = false;
    if (type && !strcmp(type, "feature_flags")) {
        const nino_json *data = nino_json_get(doc->root, "data");
        if (nino_json_bool(nino_json_get(data, "supports_preview_metadata"), &takes))
            c->takes_metadata = takes;
        nino_buf b = { 0 };
        nino_buf_addf(&b,
                      "{\"type\":\"feature_flags\",\"data\":{\"supports_preview_metadata\":true,"
                      "\"max_upload_size\":%llu}}",
                      (unsigned long long) c->s->params.max_body);
        if (!b.failed)
            client_add(c, SERVE_PROGRESS, true, NULL, 0, b.data, b.len);
        nino_buf_release(&b);
    }
    nino_json_doc_destroy(&doc);
}

bool nino_serve_next(nino_serve_client *c, const char **data, size_t *len, bool *is_text,
                     bool *is_over)
{
    free(c->taken);
    c->taken = c->first;
    *is_over = c->is_over && !c->first;
    if (!c->first)
        return false;
    c->first = c->taken->next;
    if (!c->first)
        c->last = NULL;
    c->n--;
    *bytes_of(c, c->taken->weight) -= c->taken->len;
    *data = c->taken->data;
    *len = c->taken->len;
    *is_text = c->taken->is_text;
    return true;
}

void nino_serve_leave(nino_serve_client **pc)
{
    nino_serve_client *c = pc ? *pc : NULL;
    if (!c)
        return;
    *pc = NULL;
    *c->at = c->next;
    if (c->next)
        c->next->at = c->at;
    for (message *m; (m = c->first);) {
        c->first = m->next;
        free(m);
    }
    free(c->taken);
    free(c);
}
