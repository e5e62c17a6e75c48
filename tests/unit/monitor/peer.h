// Who speaks to a socket without the library: a connection, and whether the other side has ended it.
#pragma once
#include "core/monitor/link/wire.h"
#include "tests/test.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>

// It waits ten seconds at most for what it sends and gets.
static inline int peer_open(const char *path)
{
    struct sockaddr_un a;
    CHECK(nino_wire_address(&a, path));
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct timeval tv = { .tv_sec = 10 };
    CHECK(fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)));
    CHECK(!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
    CHECK(!connect(fd, (struct sockaddr *) &a, sizeof(a)));
    return fd;
}

static inline bool peer_is_closed(int fd)
{
    char buf[65536];
    ssize_t k;
    while ((k = recv(fd, buf, sizeof(buf), 0)) > 0)
        continue;
    return k == 0 || errno == ECONNRESET;
}
