// Which request goes where, and which are let in: routes, token, Host and Origin.
#include "core/serve/serve_priv.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

// ---- who may come in ---------------------------------------------------------------------------

// Takes the same time wherever they differ.
static bool is_token(const char *given, size_t len, const char *token)
{
    const size_t n = strlen(token);
    unsigned differs = len != n;
    for (size_t i = 0; i < len; i++)
        differs |= (unsigned) (unsigned char) (given[i] ^ token[n ? i % n : 0]);
    return !differs;
}

static bool knows_token(const nino_serve *s, const nino_http_request *r, bool *by_query)
{
    const char *token = s->params.token, *a = r->authorization;
    char value[512];
    *by_query = false;
    if (a && !strncasecmp(a, "Bearer ", 7) && is_token(a + 7, strlen(a + 7), token))
        return true;
    for (const char *p = r->cookie ? r->cookie : ""; *p;) {
        p += strspn(p, "; ");
        const size_t len = strcspn(p, ";");
        if (len > 14 && !strncmp(p, "ninodes_token=", 14) && is_token(p + 14, len - 14, token))
            return true;
        p += len;
    }
    const char *query = strchr(r->target, '?');
    *by_query = query && serve_query(query + 1, "token", value, sizeof(value)) &&
                is_token(value, strlen(value), token);
    return *by_query;
}

// A host without its port: "[::1]:80" is "::1".
static void host_name(char *out, size_t size, const char *host)
{
    const bool is_v6 = *host == '[';
    const size_t n = strcspn(host + is_v6, is_v6 ? "]" : ":");
    snprintf(out, size, "%.*s", n < size ? (int) n : 0, host + is_v6);
}

static bool is_own_name(const nino_serve *s, const char *host)
{
    char name[256];
    host_name(name, sizeof(name), host);
    const size_t n = strlen(name);
    if (!strcasecmp(name, "localhost") || !strcmp(name, "::1") ||
        (n > 10 && !strcasecmp(name + n - 10, ".localhost")) ||
        (!strncmp(name, "127.", 4) && strspn(name, "0123456789.") == n))
        return true;
    for (const char *const *h = s->params.hosts; h && *h; h++)
        if (!strcasecmp(name, *h))
            return true;
    return false;
}

// What a page of another site is told that may ask: that site, or "*". NULL: it may not.
static const char *allowed_origin(const nino_serve *s, const nino_http_request *r)
{
    for (const char *const *o = r->origin ? s->params.origins : NULL; o && *o; o++)
        if (!strcmp(*o, "*") || !strcasecmp(*o, r->origin))
            return *o;
    return NULL;
}

// The browser lets the page read an answer that says so.
static void tell_allowed(const nino_serve *s, const nino_http_request *r, nino_http_answer *a)
{
    const char *origin = allowed_origin(s, r);
    if (!origin)
        return;
    serve_header(a, "Access-Control-Allow-Origin", "%s", origin);
    serve_header(a, "Vary", "Origin");
    if (!strcmp(r->method, "OPTIONS")) {
        serve_header(a, "Access-Control-Allow-Methods", "GET, POST, PUT, DELETE, PATCH");
        serve_header(a, "Access-Control-Allow-Headers", "Authorization, Content-Type, Comfy-User");
        serve_header(a, "Access-Control-Allow-Private-Network", "true"); // from the web to here
        serve_header(a, "Access-Control-Max-Age", "600");
    }
}

// Whether a page of another site has sent it. Programs send no Origin; a browser's own pages are
// from the host that they ask.
static bool is_foreign(const nino_serve *s, const nino_http_request *r)
{
    if (allowed_origin(s, r))
        return false;
    if (r->origin) {
        const char *host = strstr(r->origin, "://");
        if (!host)
            return true;
        host += 3;
        if (!strcasecmp(host, r->host))
            return false;
        for (const char *const *h = s->params.hosts; h && *h; h++)
            if (!strcasecmp(host, *h))
                return false;
        return true;
    }
    const bool is_reading = !strcmp(r->method, "GET") && strncmp(r->target, "/ws", 3) != 0;
    return r->fetch_site && !strcmp(r->fetch_site, "cross-site") && !is_reading;
}

nino_http_answer nino_serve_admit(nino_serve *s, const nino_http_request *given)
{
    nino_http_request req;
    nino_http_answer a = { .fd = -1 };
    bool by_query = false;
    memset(&req, 0, sizeof(req));
    if (!NINO_TAKE(&req, given, NINO_HTTP_REQUEST_INIT, NULL) || !req.method || !req.target ||
        *req.target != '/')
        a.status = 400;
    else if (!req.host || is_foreign(s, &req) ||
             (!s->params.token && !is_own_name(s, req.host))) // made to lead here by its owner
        a.status = 403;
    else if (!strcmp(req.method, "OPTIONS") && allowed_origin(s, &req))
        a.status = 200; // a browser asks whether it may ask, before it tells the token
    else if (s->params.token && !knows_token(s, &req, &by_query))
        a.status = 401;
    else if (req.body_bytes > s->params.max_body)
        a.status = 413;
    if (a.status == 401)
        serve_header(&a, "WWW-Authenticate", "Bearer");
    if (a.status && a.status != 400)
        tell_allowed(s, &req, &a);
    return a;
}

// ---- routes ------------------------------------------------------------------------------------

typedef struct route {
    const char *method, *path; // NULL: any; a path that ends with '/' takes what follows as `rest`
    void (*run)(nino_serve_call *c, const char *rest);
} route;

static void empty_object(nino_serve_call *c, const char *rest)
{
    (void) rest;
    nino_buf_adds(&c->body, "{}");
    serve_reply_json(c, 200);
}

// Each also below /api, except those of other programs; those that are only there say so: a page's
// own files lie where they would be else.
static const route routes[] = {
    { "GET", "/prompt", serve_get_prompt },
    { "POST", "/prompt", serve_post_prompt },
    { "GET", "/queue", serve_get_queue },
    { "POST", "/queue", serve_post_queue },
    { "POST", "/interrupt", serve_post_interrupt },
    { "POST", "/free", serve_post_free },
    { "GET", "/history", serve_get_history },
    { "GET", "/history/", serve_get_history },
    { "POST", "/history", serve_post_history },
    { "GET", "/jobs", serve_get_jobs },
    { "GET", "/jobs/", serve_get_jobs },
    { "POST", "/jobs/cancel", serve_cancel_jobs },
    { "POST", "/jobs/", serve_cancel_job },
    { "GET", "/view", serve_get_view },
    { "GET", "/view_metadata/", serve_view_metadata },
    { "POST", "/upload/image", serve_upload_image },
    { "POST", "/upload/mask", serve_upload_mask },
    { "GET", "/object_info", serve_object_info },
    { "GET", "/object_info/", serve_object_info },
    { "GET", "/embeddings", serve_embeddings },
    { "GET", "/models", serve_models },
    { "GET", "/models/", serve_models },
    { "GET", "/experiment/models", serve_models },
    { "GET", "/experiment/models/", serve_models },
    { "GET", "/system_stats", serve_system_stats },
    { "GET", "/features", serve_features },
    { "GET", "/extensions", serve_extensions },
    { "GET", "/users", serve_users },
    { "POST", "/users", serve_post_users },
    { "GET", "/userdata", serve_get_userdata },
    { "GET", "/v2/userdata", serve_userdata_v2 },
    { "GET", "/userdata/", serve_get_userdata },
    { "POST", "/userdata/", serve_post_userdata },
    { "DELETE", "/userdata/", serve_delete_userdata },
    { "GET", "/settings", serve_get_settings },
    { "GET", "/settings/", serve_get_settings },
    { "POST", "/settings", serve_post_settings },
    { "POST", "/settings/", serve_post_settings },
    { "GET", "/i18n", empty_object },
    { "GET", "/workflow_templates", empty_object },
    { "GET", "/global_subgraphs", empty_object },
    { "GET", "/global_subgraphs/", serve_no_subgraph },
    { "GET", "/node_replacements", empty_object },
    { "GET", "/internal/folder_paths", serve_folder_paths },
    { "GET", "/internal/files/", serve_internal_files },
    { "GET", "/internal/logs", serve_logs },
    { "GET", "/internal/logs/", serve_logs },
    { "PATCH", "/internal/logs/subscribe", serve_logs_subscribe },
    { NULL, "/api/assets", serve_no_assets },
    { NULL, "/api/assets/", serve_no_assets },
    { NULL, "/api/tags", serve_no_assets },
    { "GET", "/api/etn/image/", serve_get_picture },
    { "PUT", "/api/etn/image/", serve_put_picture },
    { "GET", "/api/etn/model_info", serve_model_info },
    { "GET", "/api/etn/model_info/", serve_model_info },
    { "GET", "/api/etn/languages", serve_no_list },
    { "POST", "/api/etn/workflow/subscribe", empty_object },
    { "POST", "/api/etn/workflow/unsubscribe", empty_object },
    { "GET", "/metrics", serve_metrics },
    { "GET", "/v1/models", serve_models_v1 },
    { "POST", "/v1/images/generations", serve_images_v1 },
};

static bool is_route(const route *r, const nino_serve_call *c, const char **rest)
{
    const bool is_api_only = !strncmp(r->path, "/api/", 5);
    const char *path = r->path + (is_api_only ? 4 : 0);
    const size_t n = strlen(path);
    *rest = "";
    if (is_api_only && !c->is_api)
        return false;
    if (path[n - 1] != '/')
        return !strcmp(c->path, path);
    *rest = c->path + n;
    return !strncmp(c->path, path, n) && c->path[n];
}

static void dispatch(nino_serve_call *c)
{
    const char *method = !strcmp(c->r->method, "HEAD") ? "GET" : c->r->method, *rest = "";
    bool is_known = false;
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        if (!is_route(&routes[i], c, &rest))
            continue;
        is_known = true;
        if (routes[i].method && strcmp(routes[i].method, method) != 0)
            continue;
        routes[i].run(c, rest);
        return;
    }
    if (is_known) {
        serve_fail(c, 405, "method_not_allowed", "not by %.20s", c->r->method);
    } else if (strcmp(method, "GET") != 0) {
        serve_fail(c, 404, "not_found", "there is nothing at %.200s", c->path);
    } else {
        serve_static(c, c->path);
    }
}

static bool split_target(nino_serve_call *c, const char *target)
{
    const size_t n = strcspn(target, "?");
    c->is_api = !strncmp(target, "/api/", 5);
    if (c->is_api)
        c->path = strndup(target + 4, n - 4);
    else
        c->path = strndup(target, n);
    c->query = target[n] ? target + n + 1 : "";
    return c->path != NULL;
}

nino_serve_call *nino_serve_ask(nino_serve *s, const nino_http_request *given, void *user)
{
    nino_http_request req;
    nino_serve_call *c = calloc(1, sizeof(*c));
    memset(&req, 0, sizeof(req));
    if (!c || !NINO_TAKE(&req, given, NINO_HTTP_REQUEST_INIT, NULL) || !req.method || !req.target ||
        !split_target(c, req.target)) {
        free(c);
        return NULL;
    }
    c->s = s;
    c->user = user;
    c->r = &req;
    c->answer.fd = -1;
    c->is_inside = true;
    c->next = s->calls;
    c->at = &s->calls;
    if (c->next)
        c->next->at = &c->next;
    s->calls = c;
    bool by_query = false;
    dispatch(c);
    tell_allowed(s, &req, &c->answer);
    // a page that was opened with the token in its address asks for the rest by a cookie
    if (s->params.token && knows_token(s, &req, &by_query) && by_query && c->is_answered)
        serve_header(&c->answer, "Set-Cookie",
                     "ninodes_token=%s; Path=/; HttpOnly; SameSite=Strict", s->params.token);
    c->is_inside = false;
    c->r = NULL;
    c->query = "";
    return c;
}

const nino_http_answer *nino_serve_answered(const nino_serve_call *c)
{
    return c->is_answered ? &c->answer : NULL;
}

void nino_serve_drop(nino_serve_call **pc)
{
    nino_serve_call *c = pc ? *pc : NULL;
    if (!c)
        return;
    *pc = NULL;
    *c->at = c->next;
    if (c->next)
        c->next->at = c->at;
    serve_call_gone(c);
    if (c->answer.fd >= 0)
        close(c->answer.fd);
    nino_buf_release(&c->body);
    free(c->path);
    free(c);
}
