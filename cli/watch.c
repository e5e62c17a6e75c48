// Waiting for a file to be saved: its folder is watched, since editors write another one and give it
// the name.
#include "cli.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { LOOK_MS = 100, SETTLE_MS = 50 }; // a save may come in several steps

bool watch_open(file_watch *w, const char *path)
{
    char dir[4096];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t n = slash ? (size_t) (slash - path) + (slash == path) : 0;
    snprintf(dir, sizeof(dir), "%.*s", n < sizeof(dir) ? (int) n : 0, path);
    snprintf(w->name, sizeof(w->name), "%s", name);
    w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (w->fd >= 0 && inotify_add_watch(w->fd, n ? dir : ".", IN_CLOSE_WRITE | IN_MOVED_TO) >= 0)
        return true;
    say("--watch: %s: %s", path, strerror(errno));
    watch_close(w);
    return false;
}

void watch_close(file_watch *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
}

// Takes what has happened in the folder; true: to the file.
static bool take_changes(file_watch *w)
{
    char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    bool is_saved = false;
    for (ssize_t n; (n = read(w->fd, buf, sizeof(buf))) > 0;)
        for (char *p = buf; p < buf + n;) {
            const struct inotify_event *e = (const struct inotify_event *) p;
            is_saved |= (e->mask & IN_Q_OVERFLOW) || (e->len && !strcmp(e->name, w->name));
            p += sizeof(*e) + e->len;
        }
    return is_saved;
}

bool watch_wait(file_watch *w)
{
    bool is_saved = false;
    while (!is_saved && !signals_stopped()) {
        struct pollfd p = { w->fd, POLLIN, 0 };
        if (poll(&p, 1, LOOK_MS) <= 0)
            continue;
        is_saved = take_changes(w);
        while (is_saved && poll(&p, 1, SETTLE_MS) > 0)
            take_changes(w);
    }
    return !signals_stopped();
}
