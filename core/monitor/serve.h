// Internal: serving the event stream on a unix socket. One thread; a viewer that does not read
// loses records with a count and never slows the job. Directory 0700, socket 0600, SO_PEERCRED
// checked.
#pragma once
#include "core/monitor/monitor.h"

typedef struct nino_server nino_server;

// cancel(priv) is called on the server's thread when a viewer asks for it; NULL: refuse.
nino_server *nino_server_start(nino_monitor *m, const char *title, void (*cancel)(void *priv),
                               void *priv, nino_error *err);
void nino_server_stop(
    nino_server **s); // flushes what viewers can take within 200 ms, removes the socket
const char *nino_server_path(const nino_server *s);
