// Internal: serving the event stream on a unix socket. One thread; a viewer that does not read
// loses records with a count and never slows the job. Directory 0700, socket 0600, SO_PEERCRED
// checked.
#pragma once
#include "core/event/publish.h"
#include "core/monitor/link/request.h"

typedef struct nino_server nino_server;

// Both are called on the server's thread; either may be NULL.
typedef struct nino_server_ops {
    // Does what a viewer asks, and says in *out how it went; must not take long.
    void (*request)(void *priv, const nino_control *c, nino_reply *out);
    void (*state)(void *priv, nino_buf *out); // the queue as JSON, for viewers
} nino_server_ops;

// ops NULL: nothing can be asked.
nino_server *nino_server_start(nino_monitor *m, const char *title, const nino_server_ops *ops,
                               void *priv, nino_error *err);
// The state is another one: viewers get it at the next tick. Any thread; NULL-safe.
void nino_server_changed(nino_server *s);
uint64_t nino_server_version(const nino_server *s); // one higher with every change
void nino_server_stop(
    nino_server **s); // flushes what viewers can take within 200 ms, removes the socket
const char *nino_server_path(const nino_server *s);
int nino_server_viewers(const nino_server *s); // how many are connected; any thread
// Records that late viewers are told as sums, lost ones included; any thread.
uint64_t nino_server_counted(const nino_server *s);
