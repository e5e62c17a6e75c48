// Loaded before the app (LD_PRELOAD): it hears of its worker only when the file NINODES_LATE_LINK is there, as on a machine that has
// no time for it. What is received while it connects comes at once; what it says itself is sent.
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

typedef ssize_t (*receive_fn)(int, void *, size_t, int);

// Of a link to a worker: its first answer is what connecting waits for.
static void wait_once(int fd)
{
    static int link = -1;
    struct sockaddr_un who = { 0 };
    socklen_t bytes = sizeof(who) - 1;
    const char *file = getenv("NINODES_LATE_LINK");
    if (!file || strcmp(program_invocation_short_name, "ninodes-studio") ||
        getpeername(fd, (struct sockaddr *) &who, &bytes) || who.sun_family != AF_UNIX ||
        !strstr(who.sun_path, ".sock"))
        return;
    if (fd != link) {
        link = fd;
        return;
    }
    while (access(file, F_OK))
        usleep(10000);
}

__attribute__((visibility("default"))) ssize_t recv(int fd, void *to, size_t n, int flags)
{
    static receive_fn next;
    if (!next)
        next = (receive_fn) dlsym(RTLD_NEXT, "recv");
    wait_once(fd);
    return next(fd, to, n, flags);
}
