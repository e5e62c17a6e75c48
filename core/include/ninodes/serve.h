// ComfyUI's HTTP and WebSocket interface to a worker, without the sockets: whoever has some hands
// requests in and answers out (`ninodes serve` does so with libwebsockets).
//
// A nino_serve is a face of one worker: it attaches to its monitor socket, turns POST /prompt into
// jobs of its queue, and its queue and events into what clients of ComfyUI expect. Jobs that came
// another way (`ninodes jobs`, ninodes-studio) are seen through it too.
//
// Threads: one at a time; callbacks come from within the functions here.
#pragma once
#include <ninodes/control.h>

NINO_BEGIN

typedef struct nino_serve nino_serve;
typedef struct nino_serve_call nino_serve_call;
typedef struct nino_serve_client nino_serve_client;

#define NINO_SERVE_PARAMS_INIT .size = sizeof(nino_serve_params)
typedef struct nino_serve_params {
    // Set by NINO_SERVE_PARAMS_INIT. All else may stay zero.
    size_t size;
    // Folders of models, inputs and outputs, as the worker has them.
    const nino_job_options *job;
    // Where settings and the files of users are kept. NULL: $XDG_STATE_HOME/ninodes/user.
    const char *user_dir;
    // A web frontend of ComfyUI, with its index.html. NULL: a page of our own.
    const char *frontend_dir;
    // What every request must know; NULL: nothing.
    const char *token;
    // Names besides those of this machine's loopback that requests may be addressed to, such as that
    // of a reverse proxy; NULL-terminated. Only asked for while there is no token.
    const char *const *hosts;
    // A workflow that POST /v1/images/generations fills in; NULL: it is not offered.
    const char *images_workflow;
    // Of one request; 0: 100 MiB.
    uint64_t max_body;
    // An answer or a message is there for the call or client with that `user`.
    void (*wake)(void *priv, void *user);
    // What the worker tells, for others who listen; may be NULL.
    void (*events)(void *priv, const nino_event *ev, size_t n,
                   const char *(*name)(void *name_priv, uint32_t id), void *name_priv);
    // The answer to GET /metrics, OpenMetrics text on the heap; NULL: it is not offered.
    char *(*metrics)(void *priv, const nino_queue *q);
    void *priv;
    // Sites whose pages may ask, "https://art.example.org"; NULL-terminated. "*": those of any site.
    const char *const *origins;
} nino_serve_params;

// Errors: NINO_ERR_NOMEM, NINO_ERR_ARG, NINO_ERR_IO (a folder), and what makes images_workflow one
// that cannot be used.
NINO_API nino_serve *nino_serve_create(const nino_serve_params *params, nino_error *err);
// Calls and clients must be gone.
NINO_API void nino_serve_destroy(nino_serve **s);

// ---- the worker --------------------------------------------------------------------------------

// Attaches to a worker, at first or again; socket as nino_attach_open() takes it.
NINO_API nino_status nino_serve_attach(nino_serve *s, const char *socket, nino_error *err);
// The descriptor to poll() for reading, and for writing while nino_serve_is_pending(); -1: there is
// no worker.
NINO_API int nino_serve_fd(const nino_serve *s);
NINO_API bool nino_serve_is_pending(const nino_serve *s);
// Takes in what the worker has said. To be called when the descriptor is ready, and every 100 ms.
// NINO_ERR_IO: the worker has gone; clients are told once the next one says what it runs.
NINO_API nino_status nino_serve_poll(nino_serve *s, nino_error *err);

// ---- requests ----------------------------------------------------------------------------------

// A request. Texts are terminated; those of headers are NULL where there was none.
#define NINO_HTTP_REQUEST_INIT .size = sizeof(nino_http_request)
typedef struct nino_http_request {
    // Set by NINO_HTTP_REQUEST_INIT.
    size_t size;
    const char *method;
    // Path and query as they came, "/view?filename=a%20b.png".
    const char *target;
    const char *host, *origin, *fetch_site, *cookie, *authorization, *content_type, *range;
    const void *body;
    uint64_t body_bytes;
    const char *none_match; // If-None-Match
} nino_http_request;

typedef struct nino_http_answer {
    int status;
    // Content-Type; "": no body.
    char type[128];
    // Further headers, "Name: value\n" each.
    char headers[640];
    // The body: file_bytes of fd from file_offset on, or, where fd is -1, `bytes` at body.
    int fd;
    uint64_t file_offset, file_bytes;
    const void *body;
    size_t bytes;
} nino_http_answer;

// What is to be said to a request, or to a client that wants to be joined, before its body is read.
// Status 0: it may go on.
NINO_API nino_http_answer nino_serve_admit(nino_serve *s, const nino_http_request *r);
// Takes a request that was admitted; its texts and body need only live until this returns. NULL: out
// of memory. `user` is for wake(), which is not called before this returns.
NINO_API nino_serve_call *nino_serve_ask(nino_serve *s, const nino_http_request *r, void *user);
// The answer, owned by the call; NULL: not yet.
NINO_API const nino_http_answer *nino_serve_answered(const nino_serve_call *c);
// NULL-safe; also before it was answered.
NINO_API void nino_serve_drop(nino_serve_call **c);

// ---- clients of the WebSocket ------------------------------------------------------------------

// Joins a client. NULL: out of memory.
NINO_API nino_serve_client *nino_serve_join(nino_serve *s, const nino_http_request *r, void *user);
// What the client has sent, a whole message of text.
NINO_API void nino_serve_hear(nino_serve_client *c, const char *text, size_t len);
// Takes the next message for the client; *data lives until the next call for it. False: none. A
// client that leaves too much unread loses the oldest pictures, then the oldest progress; *is_over:
// it is to be closed, what it would have to know is more than is kept.
NINO_API bool nino_serve_next(nino_serve_client *c, const char **data, size_t *len, bool *is_text,
                              bool *is_over);
NINO_API void nino_serve_leave(nino_serve_client **c);

NINO_END
