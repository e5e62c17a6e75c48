// The sockets of `ninodes serve`: libwebsockets hands requests to a nino_serve and answers back. One
// thread does it all; nothing here waits for a client.
#include "serve/serve.h"

#include <errno.h>
#include <libwebsockets.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HEAD_BYTES = 16384, // of all headers of a request
    CHUNK = 64 * 1024,  // of an answer at a time
    HEAD_S = 10,        // for the headers of a request, and for each part of its body
    IDLE_S = 30,        // between two requests of a connection, and for taking a part of an answer
    PING_S = 30,        // a client of the WebSocket that says nothing is asked whether it is there,
    HANGUP_S = 60,      // and is taken for gone after that
    HEARD_BYTES = 65536, // of what a client of the WebSocket may say at once
    REFUSED_BYTES = 1 << 20,
    TICK_US = 100000,
};

struct http {
    http_params p;
    struct lws_context *context;
    struct lws_vhost *vhost;
    struct lws *worker;
    lws_sorted_usec_list_t timer;
    atomic_bool is_stopping;
    size_t n; // connections
};

// A connection: a request, or a client of the WebSocket. Lives from the first to its last callback.
typedef struct session {
    nino_serve_call *call;
    nino_serve_client *client;
    nino_http_request r;
    char *target, *text; // of r
    char *body;
    size_t n_body, max_body;
    uint64_t expected, sent, file_at;
    bool is_head, has_told_head, is_refused;
    nino_http_answer refusal;
    char *heard; // a message in parts
    size_t n_heard;
} session;

// ---- requests ----------------------------------------------------------------------------------

static const struct {
    enum lws_token_indexes token;
    const char *method;
} methods[] = {
    { WSI_TOKEN_GET_URI, "GET" },     { WSI_TOKEN_POST_URI, "POST" },
    { WSI_TOKEN_PUT_URI, "PUT" },     { WSI_TOKEN_DELETE_URI, "DELETE" },
    { WSI_TOKEN_HEAD_URI, "HEAD" },   { WSI_TOKEN_OPTIONS_URI, "OPTIONS" },
    { WSI_TOKEN_PATCH_URI, "PATCH" },
};

// The library has undone the escapes of addresses: they are put back.
static void put_escaped(FILE *f, const char *s, size_t n, const char *plain)
{
    for (size_t i = 0; i < n; i++)
        if ((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') ||
            (s[i] >= '0' && s[i] <= '9') || (s[i] && strchr(plain, s[i])))
            putc(s[i], f);
        else
            fprintf(f, "%%%02X", (unsigned char) s[i]);
}

static char *read_target(struct lws *wsi, enum lws_token_indexes token)
{
    char *out = NULL, part[HEAD_BYTES];
    size_t len;
    FILE *f = open_memstream(&out, &len);
    int n = lws_hdr_copy(wsi, part, sizeof(part), token);
    if (!f)
        return NULL;
    put_escaped(f, part, n > 0 ? (size_t) n : 0, "/-._~");
    for (int i = 0;
         (n = lws_hdr_copy_fragment(wsi, part, sizeof(part), WSI_TOKEN_HTTP_URI_ARGS, i)) > 0;
         i++) {
        const char *equals = memchr(part, '=', (size_t) n);
        const size_t key = equals ? (size_t) (equals - part) : (size_t) n;
        putc(i ? '&' : '?', f);
        put_escaped(f, part, key, "-._~");
        if (equals) {
            putc('=', f);
            put_escaped(f, equals + 1, (size_t) n - key - 1, "-._~");
        }
    }
    return fclose(f) ? NULL : out;
}

// Texts of all headers that are asked for lie behind one another in `text`.
static const char *take_header(struct lws *wsi, char **at, char *end, int token, const char *name)
{
    const int n = name ? lws_hdr_custom_length(wsi, name, (int) strlen(name))
                       : lws_hdr_total_length(wsi, (enum lws_token_indexes) token);
    char *out = *at;
    if (n <= 0 || n + 1 > end - out)
        return NULL;
    const int k = name ? lws_hdr_custom_copy(wsi, out, n + 1, name, (int) strlen(name))
                       : lws_hdr_copy(wsi, out, n + 1, (enum lws_token_indexes) token);
    if (k < 0)
        return NULL;
    *at += n + 1;
    return out;
}

static bool read_request(struct lws *wsi, session *s)
{
    s->r = (nino_http_request){ NINO_HTTP_REQUEST_INIT, .method = "" };
    s->expected = 0;
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]) && !s->target; i++)
        if (lws_hdr_total_length(wsi, methods[i].token) > 0) {
            s->r.method = methods[i].method;
            s->target = read_target(wsi, methods[i].token);
        }
    s->text = malloc(HEAD_BYTES);
    if (!s->target || !s->text)
        return false;
    char *at = s->text, *end = at + HEAD_BYTES;
    s->r.target = s->target;
    s->r.host = take_header(wsi, &at, end, WSI_TOKEN_HOST, NULL);
    s->r.origin = take_header(wsi, &at, end, WSI_TOKEN_ORIGIN, NULL);
    s->r.fetch_site = take_header(wsi, &at, end, 0, "sec-fetch-site:");
    s->r.cookie = take_header(wsi, &at, end, WSI_TOKEN_HTTP_COOKIE, NULL);
    s->r.authorization = take_header(wsi, &at, end, WSI_TOKEN_HTTP_AUTHORIZATION, NULL);
    s->r.content_type = take_header(wsi, &at, end, WSI_TOKEN_HTTP_CONTENT_TYPE, NULL);
    s->r.range = take_header(wsi, &at, end, WSI_TOKEN_HTTP_RANGE, NULL);
    s->r.none_match = take_header(wsi, &at, end, WSI_TOKEN_HTTP_IF_NONE_MATCH, NULL);
    const char *len = take_header(wsi, &at, end, WSI_TOKEN_HTTP_CONTENT_LENGTH, NULL);
    s->is_head = !strcmp(s->r.method, "HEAD");
    s->expected = len ? strtoull(len, NULL, 10) : 0;
    s->r.body_bytes = s->expected;
    return true;
}

static void forget_request(session *s)
{
    nino_serve_drop(&s->call);
    free(s->target);
    free(s->text);
    free(s->body);
    s->target = s->text = s->body = NULL;
    s->n_body = s->max_body = 0;
    s->sent = 0;
    s->has_told_head = s->is_refused = false;
}

static int refuse(struct lws *wsi, session *s, int status)
{
    s->is_refused = true;
    if (s->refusal.status != status)
        s->refusal = (nino_http_answer){ .status = status, .fd = -1 };
    lws_callback_on_writable(wsi);
    return 0;
}

static int ask(http *h, struct lws *wsi, session *s)
{
    s->r.body = s->body;
    s->r.body_bytes = s->n_body;
    lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0); // a job may take hours
    s->call = nino_serve_ask(h->p.serve, &s->r, wsi);
    free(s->body);
    s->body = NULL;
    if (!s->call)
        return refuse(wsi, s, 500);
    if (nino_serve_answered(s->call))
        lws_callback_on_writable(wsi);
    return 0;
}

// A client that waits to be asked for its body is asked.
static int ask_for_body(struct lws *wsi)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    unsigned char buf[LWS_PRE + sizeof(go_on)];
    const int n = (int) sizeof(go_on) - 1;
    if (lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_EXPECT) <= 0 || lws_get_network_wsi(wsi) != wsi)
        return 0;
    memcpy(buf + LWS_PRE, go_on, sizeof(go_on));
    return lws_write(wsi, buf + LWS_PRE, (size_t) n, LWS_WRITE_HTTP_HEADERS) < n ? -1 : 0;
}

static int begin_request(http *h, struct lws *wsi, session *s)
{
    forget_request(s);
    if (!read_request(wsi, s))
        return refuse(wsi, s, 400);
    s->refusal = nino_serve_admit(h->p.serve, &s->r);
    if (s->refusal.status)
        return refuse(wsi, s, s->refusal.status);
    const bool has_body = s->expected > 0;
    if (!has_body && lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_TRANSFER_ENCODING) > 0)
        return refuse(wsi, s, 411);
    if (!has_body)
        return ask(h, wsi, s);
    lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, HEAD_S);
    return ask_for_body(wsi);
}

static int take_body(http *h, struct lws *wsi, session *s, const void *data, size_t n)
{
    if (s->is_refused) { // a short one is thrown away, so that the answer can be read
        s->n_body += n;
        return s->n_body <= REFUSED_BYTES ? 0 : -1;
    }
    if (!s->target || !n)
        return s->target ? 0 : -1;
    if (s->n_body + n > h->p.max_body)
        return -1;
    if (s->n_body + n > s->max_body) {
        size_t max = s->max_body ? 2 * s->max_body : CHUNK;
        while (max < s->n_body + n)
            max *= 2;
        char *more = realloc(s->body, max + 1);
        if (!more)
            return -1;
        s->body = more;
        s->max_body = max;
    }
    memcpy(s->body + s->n_body, data, n);
    s->n_body += n;
    s->body[s->n_body] = 0;
    lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, HEAD_S);
    return 0;
}

// ---- answers -----------------------------------------------------------------------------------

static int add_line(struct lws *wsi, const char *line, size_t n, unsigned char **p,
                    unsigned char *end)
{
    char name[64];
    const char *colon = memchr(line, ':', n);
    const size_t k = colon ? (size_t) (colon - line) + 1 : 0;
    if (!k || k >= sizeof(name) || n < k + 1)
        return 0;
    memcpy(name, line, k);
    name[k] = 0;
    return lws_add_http_header_by_name(wsi, (const unsigned char *) name,
                                       (const unsigned char *) line + k + 1, (int) (n - k - 1), p,
                                       end);
}

static int write_head(struct lws *wsi, session *s, const nino_http_answer *a, uint64_t bytes)
{
    unsigned char buf[LWS_PRE + 4096], *start = buf + LWS_PRE, *p = start,
                                       *end = buf + sizeof(buf) - 1;
    const char *type = *a->type ? a->type : NULL;
    if (lws_add_http_common_headers(wsi, (unsigned) a->status, type, (lws_filepos_t) bytes, &p,
                                    end))
        return -1;
    static const char always[] = "X-Content-Type-Options: nosniff\nReferrer-Policy: same-origin\n"
                                 "X-Frame-Options: SAMEORIGIN\n";
    for (const char *l = always; *l; l += strcspn(l, "\n") + 1)
        if (add_line(wsi, l, strcspn(l, "\n"), &p, end))
            return -1;
    for (const char *l = a->headers; *l; l += strcspn(l, "\n") + 1)
        if (add_line(wsi, l, strcspn(l, "\n"), &p, end))
            return -1;
    if (lws_finalize_write_http_header(wsi, start, &p, end))
        return -1;
    s->has_told_head = true;
    return 0;
}

static int end_answer(struct lws *wsi, session *s)
{
    const bool is_bad = s->is_refused;
    forget_request(s);
    if (is_bad) // its body was not read
        return -1;
    return lws_http_transaction_completed(wsi) ? -1 : 0;
}

static int write_answer(struct lws *wsi, session *s)
{
    static unsigned char buf[LWS_PRE + CHUNK];
    const nino_http_answer *a = s->is_refused ? &s->refusal
                                : s->call     ? nino_serve_answered(s->call)
                                              : NULL;
    if (!a)
        return 0;
    const uint64_t bytes = a->fd >= 0 ? a->file_bytes : a->bytes;
    lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, IDLE_S);
    if (!s->has_told_head) {
        if (write_head(wsi, s, a, bytes))
            return -1;
        if (!bytes || s->is_head)
            return end_answer(wsi, s);
        lws_callback_on_writable(wsi);
        return 0;
    }
    const uint64_t left = bytes - s->sent;
    size_t n = left < CHUNK ? (size_t) left : CHUNK;
    if (a->fd >= 0) {
        const ssize_t k = pread(a->fd, buf + LWS_PRE, n, (off_t) (a->file_offset + s->sent));
        if (k <= 0)
            return -1; // it got shorter
        n = (size_t) k;
    } else {
        memcpy(buf + LWS_PRE, (const char *) a->body + s->sent, n);
    }
    const bool is_last = n == left;
    if (lws_write(wsi, buf + LWS_PRE, n, is_last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) !=
        (int) n)
        return -1;
    s->sent += n;
    if (is_last)
        return end_answer(wsi, s);
    lws_callback_on_writable(wsi);
    return 0;
}

// ---- clients of the WebSocket ------------------------------------------------------------------

static int filter_client(http *h, struct lws *wsi)
{
    session s = { .call = NULL };
    int status = 400;
    if (read_request(wsi, &s)) {
        const size_t n = strcspn(s.target, "?");
        const bool is_place = (n == 3 && !strncmp(s.target, "/ws", 3)) ||
                              (n == 7 && !strncmp(s.target, "/api/ws", 7));
        status = is_place ? nino_serve_admit(h->p.serve, &s.r).status : 404;
    }
    forget_request(&s);
    if (status)
        lws_return_http_status(wsi, (unsigned) status, NULL);
    return status ? -1 : 0;
}

static int hear(struct lws *wsi, session *s, const void *data, size_t n)
{
    if (s->n_heard + n > HEARD_BYTES || !s->client)
        return -1;
    char *more = realloc(s->heard, s->n_heard + n + 1);
    if (!more)
        return -1;
    s->heard = more;
    memcpy(more + s->n_heard, data, n);
    s->n_heard += n;
    if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi))
        return 0;
    more[s->n_heard] = 0;
    if (!lws_frame_is_binary(wsi))
        nino_serve_hear(s->client, more, s->n_heard);
    s->n_heard = 0;
    return 0;
}

static int say_next(struct lws *wsi, session *s)
{
    const char *data;
    size_t n;
    bool is_text, is_over;
    if (!s->client)
        return 0;
    if (!nino_serve_next(s->client, &data, &n, &is_text, &is_over))
        return is_over ? -1 : 0;
    unsigned char *buf = malloc(LWS_PRE + n);
    if (!buf)
        return -1;
    memcpy(buf + LWS_PRE, data, n);
    const int k = lws_write(wsi, buf + LWS_PRE, n, is_text ? LWS_WRITE_TEXT : LWS_WRITE_BINARY);
    free(buf);
    lws_callback_on_writable(wsi);
    return k < (int) n ? -1 : 0;
}

static void end_session(session *s)
{
    forget_request(s);
    nino_serve_leave(&s->client);
    free(s->heard);
    s->heard = NULL;
}

// ---- callbacks ---------------------------------------------------------------------------------

static int on_http(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                   size_t len)
{
    http *h = lws_context_user(lws_get_context(wsi));
    session *s = user;
    switch (reason) {
    case LWS_CALLBACK_FILTER_NETWORK_CONNECTION: return h->n >= h->p.max_clients;
    case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED: h->n++; return 0;
    case LWS_CALLBACK_WSI_DESTROY:
        if (wsi != h->worker && h->n)
            h->n--;
        return 0;
    case LWS_CALLBACK_HTTP: return begin_request(h, wsi, s);
    case LWS_CALLBACK_HTTP_BODY: return take_body(h, wsi, s, in, len);
    case LWS_CALLBACK_HTTP_BODY_COMPLETION: return s->call || s->is_refused ? 0 : ask(h, wsi, s);
    case LWS_CALLBACK_HTTP_WRITEABLE: return write_answer(wsi, s);
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: return filter_client(h, wsi);
    case LWS_CALLBACK_ESTABLISHED:
        memset(s, 0, sizeof(*s));
        if (!read_request(wsi, s))
            return -1;
        s->client = nino_serve_join(h->p.serve, &s->r, wsi);
        return s->client ? 0 : -1;
    case LWS_CALLBACK_RECEIVE: return hear(wsi, s, in, len);
    case LWS_CALLBACK_SERVER_WRITEABLE: return say_next(wsi, s);
    case LWS_CALLBACK_CLOSED:
    case LWS_CALLBACK_CLOSED_HTTP:
    case LWS_CALLBACK_HTTP_DROP_PROTOCOL:
        if (s)
            end_session(s);
        return 0;
    default: return 0;
    }
}

static int on_worker(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                     size_t len)
{
    http *h = lws_context_user(lws_get_context(wsi));
    (void) user;
    (void) in;
    (void) len;
    if (reason == LWS_CALLBACK_RAW_RX_FILE || reason == LWS_CALLBACK_RAW_WRITEABLE_FILE) {
        h->p.tick(h->p.priv);
        if (h->worker == wsi && nino_serve_is_pending(h->p.serve))
            lws_callback_on_writable(wsi);
        return h->worker == wsi ? 0 : -1;
    }
    if (reason == LWS_CALLBACK_RAW_CLOSE_FILE && h->worker == wsi)
        h->worker = NULL;
    return 0;
}

static const struct lws_protocols protocols[] = {
    { "http", on_http, sizeof(session), HEARD_BYTES, 0, NULL, 0 },
    { "worker", on_worker, 0, 0, 0, NULL, 0 },
    { NULL, NULL, 0, 0, 0, NULL, 0 },
};

static void on_timer(lws_sorted_usec_list_t *timer)
{
    http *h = lws_container_of(timer, http, timer);
    h->p.tick(h->p.priv);
    if (h->worker && nino_serve_is_pending(h->p.serve))
        lws_callback_on_writable(h->worker);
    lws_sul_schedule(h->context, 0, &h->timer, on_timer, TICK_US);
}

// ---- the whole ---------------------------------------------------------------------------------

void http_wake(void *priv, void *user)
{
    (void) priv;
    if (user)
        lws_callback_on_writable(user);
}

// The library closes what it was given: it gets a copy of the descriptor.
void http_worker(http *h)
{
    if (!h)
        return;
    if (h->worker) {
        struct lws *old = h->worker;
        h->worker = NULL;
        lws_set_timeout(old, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
    }
    const int fd = nino_serve_fd(h->p.serve), copy = fd < 0 ? -1 : dup(fd);
    if (copy < 0)
        return; // the timer looks, too
    const lws_sock_file_fd_type d = { .filefd = copy };
    h->worker = lws_adopt_descriptor_vhost(h->vhost, LWS_ADOPT_RAW_FILE_DESC, d, "worker", NULL);
}

http *http_open(const http_params *p, char *why, size_t size)
{
    static const lws_retry_bo_t alive = { .secs_since_valid_ping = PING_S,
                                          .secs_since_valid_hangup = HANGUP_S };
    http *h = calloc(1, sizeof(*h));
    struct lws_context_creation_info info;
    memset(&info, 0, sizeof(info));
    if (!h) {
        snprintf(why, size, "out of memory");
        return NULL;
    }
    h->p = *p;
    info.port = p->port;
    info.iface = !strcmp(p->address, "localhost")                              ? "127.0.0.1"
                 : !strcmp(p->address, "0.0.0.0") || !strcmp(p->address, "::") ? NULL
                                                                               : p->address;
    info.protocols = protocols;
    info.options = LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND | LWS_SERVER_OPTION_VALIDATE_UTF8 |
                   LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
                   (strchr(p->address, ':') ? 0 : LWS_SERVER_OPTION_DISABLE_IPV6);
    info.max_http_header_data = HEAD_BYTES;
    info.max_http_header_pool = (unsigned short) (p->max_clients < 4096 ? p->max_clients : 4096);
    info.timeout_secs = HEAD_S;
    info.keepalive_timeout = IDLE_S;
    info.server_string = "ninodes";
    info.retry_and_idle_policy = &alive;
    info.user = h;
    lws_set_log_level(0, NULL);
    errno = 0;
    h->context = lws_create_context(&info);
    h->vhost = h->context ? lws_create_vhost(h->context, &info) : NULL;
    if (!h->vhost) {
        snprintf(why, size, "cannot listen on %s:%d%s%s", p->address, p->port, errno ? ": " : "",
                 errno ? strerror(errno) : "");
        http_close(&h);
        return NULL;
    }
    lws_sul_schedule(h->context, 0, &h->timer, on_timer, TICK_US);
    return h;
}

int http_port(const http *h) { return lws_get_vhost_listen_port(h->vhost); }

void http_run(http *h)
{
    while (!atomic_load(&h->is_stopping) && lws_service(h->context, 0) >= 0)
        continue;
}

void http_stop(http *h)
{
    if (!h)
        return;
    atomic_store(&h->is_stopping, true);
    lws_cancel_service(h->context);
}

void http_close(http **ph)
{
    http *h = ph ? *ph : NULL;
    if (!h)
        return;
    *ph = NULL;
    if (h->context)
        lws_context_destroy(h->context);
    free(h);
}
