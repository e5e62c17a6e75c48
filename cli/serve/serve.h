// What the files of `ninodes serve` share: sockets (http.c), the worker behind it (worker_child.c).
#pragma once
#include "cli.h"

// ---- the sockets (http.c) ----------------------------------------------------------------------

typedef struct http_params {
    const char *address; // NULL: all
    int port;            // 0: one that is free
    size_t max_clients;
    uint64_t max_body;
    nino_serve *serve;
    void (*tick)(void *priv); // ten times a second, and when the worker has said something
    void *priv;
} http_params;

typedef struct http http;
http *http_open(const http_params *p, char *why, size_t size); // NULL: *why says it
void http_close(http **h);
int http_port(const http *h);
void http_wake(void *http, void *user); // fits nino_serve_params
void http_worker(http *h);              // another worker is attached: its descriptor is watched
void http_run(http *h);                 // until http_stop()
void http_stop(http *h);                // any thread

// ---- the worker (worker_child.c) ---------------------------------------------------------------

typedef struct worker_child worker_child;
// Nothing is started yet; o must outlive it, output and input are absolute paths.
worker_child *worker_child_create(const options *o, const char *input, const char *output);
// Ends the worker if it was started here: what runs waits again at the next start.
void worker_child_destroy(worker_child **w);
// Path of the socket of the worker that has the state folder, which is started where there is none.
// NULL: not yet, *is_over: and there will be none, it was said why.
const char *worker_child_socket(worker_child *w, bool *is_over);
bool worker_child_is_own(const worker_child *w);
