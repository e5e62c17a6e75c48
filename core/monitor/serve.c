// Serving events to viewers on a unix socket: one thread, which only reads the rings.
//
// A viewer's queue is its cursor in the rings plus one batch: one that does not read is overtaken
// by the writers, and told how many records it missed. Nothing a viewer does reaches the job.
#include "core/monitor/serve.h"

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/time.h"
#include "core/monitor/ring.h"
#include "core/monitor/wire.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_VIEWERS = 16,
    TICK_MS = 20,        // how often the rings are looked at
    BATCHES_A_TICK = 64, // for one viewer
    IN_RATE = 64 * 1024, // bytes a second a viewer may send
    STALLED_S = 10,      // a viewer that took nothing for so long gives its place to a new one
    IN_A_TURN = 4096,    // bytes read from a viewer at a time
    LAST_MS = 200,       // for the last records when the run ends
    NAMES_A_FRAME = 64 * 1024,
    MAX_SNAPSHOT = 256
};

typedef struct viewer {
    int fd;
    nino_mon_reader *reader;
    nino_buf out;
    size_t sent; // of out
    uint32_t names_sent;
    uint64_t since_ns, took_ns; // connected; last took something
    uint64_t in_bytes;
    unsigned char in[IN_A_TURN];
    size_t in_len;
} viewer;

struct nino_server {
    nino_monitor *m;
    void (*cancel)(void *priv);
    void *priv;
    nino_wire_hello hello;
    int listen_fd, wake_fd;
    pthread_t thread;
    char path[108];
    viewer v[MAX_VIEWERS];
    int n;
};

// ---- one viewer --------------------------------------------------------------------------------

static void add_frame(nino_buf *b, nino_wire_type type, const void *p, size_t n)
{
    nino_buf_add(b, &(nino_wire_head){ type, (uint32_t) n }, sizeof(nino_wire_head));
    nino_buf_add(b, p, n);
}

// Appends names the viewer has not seen, about NAMES_A_FRAME bytes at most; true: all of them now.
static bool add_names(const nino_server *s, viewer *v)
{
    const uint32_t count = nino_names_count(s->m->names);
    if (v->names_sent == count)
        return true;
    const size_t head = v->out.len;
    add_frame(&v->out, NINO_WIRE_NAMES, NULL, 0);
    const size_t body = v->out.len;
    while (v->names_sent < count && v->out.len - body < NAMES_A_FRAME) {
        const char *text = nino_names_text(s->m->names, v->names_sent);
        const uint32_t item[2] = { v->names_sent, (uint32_t) strlen(text) };
        nino_buf_add(&v->out, item, sizeof(item));
        nino_buf_add(&v->out, text, item[1]);
        v->names_sent++;
    }
    if (!v->out.failed)
        memcpy(v->out.data + head,
               &(nino_wire_head){ NINO_WIRE_NAMES, (uint32_t) (v->out.len - body) },
               sizeof(nino_wire_head));
    return v->names_sent == count;
}

// Puts the next batch into the empty out buffer; false: there is nothing to say.
static bool fill(const nino_server *s, viewer *v)
{
    nino_buf_clear(&v->out);
    v->sent = 0;
    if (nino_names_count(s->m->names) - v->names_sent > 64 && !add_names(s, v))
        return true; // many names: events later
    nino_event batch[NINO_WIRE_BATCH];
    uint64_t lost = 0;
    size_t n = nino_mon_reader_read(v->reader, batch + 1, NINO_WIRE_BATCH - 1, &lost);
    const nino_event *first = batch + 1;
    if (lost) {
        batch[0] = (nino_event){ .t_ns = n ? batch[1].t_ns : nino_now_ns(),
                                 .kind = NINO_EV_LOST,
                                 .u.lost = lost };
        first = batch;
        n++;
    }
    while (!add_names(s, v)) // what these records mention was named before they were published
        continue;
    if (n)
        add_frame(&v->out, NINO_WIRE_EVENTS, first, n * sizeof(*first));
    return v->out.len > 0;
}

// Sends what is in the buffer; false: the viewer is gone.
static bool flush(viewer *v)
{
    if (v->out.failed)
        return false;
    while (v->sent < v->out.len) {
        const ssize_t k =
            send(v->fd, v->out.data + v->sent, v->out.len - v->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (k < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        v->sent += (size_t) k;
        v->took_ns = nino_now_ns();
    }
    return true;
}

static bool pump(const nino_server *s, viewer *v)
{
    for (int i = 0; i < BATCHES_A_TICK; i++) {
        if (!flush(v))
            return false;
        if (v->sent < v->out.len || !fill(s, v))
            return true;
    }
    return true;
}

// Reads requests; false: the viewer has hung up, talks too much, or makes no sense.
static bool hear(nino_server *s, viewer *v)
{
    const ssize_t k = recv(v->fd, v->in + v->in_len, sizeof(v->in) - v->in_len, MSG_DONTWAIT);
    if (k <= 0)
        return k < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    v->in_len += (size_t) k;
    v->in_bytes += (uint64_t) k;
    if (v->in_bytes > IN_RATE * (1 + (nino_now_ns() - v->since_ns) / 1000000000u))
        return false;
    size_t at = 0;
    nino_wire_head h;
    while (v->in_len - at >= sizeof(h)) {
        memcpy(&h, v->in + at, sizeof(h));
        if (h.bytes > NINO_WIRE_MAX_REQUEST)
            return false;
        if (v->in_len - at < sizeof(h) + h.bytes)
            break;
        if (h.type == NINO_WIRE_CANCEL && s->cancel)
            s->cancel(s->priv);
        at += sizeof(h) + h.bytes;
    }
    v->in_len -= at;
    memmove(v->in, v->in + at, v->in_len);
    return true;
}

static void leave(nino_server *s, int i)
{
    viewer *v = &s->v[i];
    close(v->fd);
    nino_mon_reader_destroy(&v->reader);
    nino_buf_release(&v->out);
    s->n--;
    if (i < s->n)
        s->v[i] = s->v[s->n];
}

// Makes room when every place is taken by viewers of which one has been asleep for long.
static bool make_room(nino_server *s)
{
    if (s->n < MAX_VIEWERS)
        return true;
    int worst = 0;
    for (int i = 1; i < s->n; i++)
        if (s->v[i].took_ns < s->v[worst].took_ns)
            worst = i;
    const viewer *v = &s->v[worst];
    if (v->sent == v->out.len || nino_now_ns() - v->took_ns < STALLED_S * 1000000000ull)
        return false;
    leave(s, worst);
    return true;
}

static void enter(nino_server *s)
{
    const int fd = accept4(s->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    viewer *v = NULL;
    nino_event snapshot[MAX_SNAPSHOT];
    size_t n = 0;
    if (nino_wire_same_user(fd) && make_room(s)) {
        v = &s->v[s->n];
        *v = (viewer){ .fd = fd, .since_ns = nino_now_ns() };
        v->took_ns = v->since_ns;
        v->reader = nino_mon_reader_create_late(s->m, snapshot, MAX_SNAPSHOT, &n);
    }
    if (!v || !v->reader) {
        close(fd);
        return;
    }
    s->n++;
    s->hello.now_ns = v->since_ns;
    add_frame(&v->out, NINO_WIRE_HELLO, &s->hello, sizeof(s->hello));
    while (!add_names(s, v))
        continue;
    if (n)
        add_frame(&v->out, NINO_WIRE_EVENTS, snapshot, n * sizeof(snapshot[0]));
}

// ---- the thread --------------------------------------------------------------------------------

static void pause_ms(int ms) { nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL); }

// What viewers can take within LAST_MS: the rest of the records and a farewell.
static void farewell(nino_server *s)
{
    const uint64_t until = nino_now_ns() + LAST_MS * 1000000ull;
    bool said[MAX_VIEWERS] = { false };
    for (bool more = true; more && nino_now_ns() < until; pause_ms(1)) {
        more = false;
        for (int i = 0; i < s->n; i++) {
            viewer *v = &s->v[i];
            if (said[i] && v->sent == v->out.len)
                continue;
            const bool alive = said[i] ? flush(v) : pump(s, v);
            if (!alive) {
                said[i] = true;
                v->sent = v->out.len;
            } else if (v->sent == v->out.len && !said[i]) {
                nino_buf_clear(&v->out);
                v->sent = 0;
                add_frame(&v->out, NINO_WIRE_BYE, NULL, 0);
                said[i] = true;
            }
            more = more || v->sent < v->out.len || !said[i];
        }
    }
}

static void *serve(void *arg)
{
    nino_server *s = arg;
    for (;;) {
        struct pollfd p[2 + MAX_VIEWERS] = { { s->wake_fd, POLLIN, 0 },
                                             { s->listen_fd, POLLIN, 0 } };
        for (int i = 0; i < s->n; i++)
            p[2 + i] =
                (struct pollfd){ s->v[i].fd,
                                 POLLIN | (s->v[i].sent < s->v[i].out.len ? POLLOUT : 0), 0 };
        const int n = s->n;
        if (poll(p, (nfds_t) n + 2, n ? TICK_MS : -1) < 0 && errno != EINTR)
            break;
        if (p[0].revents)
            break;
        for (int i = n; i-- > 0;) { // backwards: leave() moves the last one here
            const short r = p[2 + i].revents;
            bool alive = !(r & (POLLERR | POLLNVAL));
            if (alive && (r & (POLLIN | POLLHUP)))
                alive = hear(s, &s->v[i]);
            if (alive)
                alive = pump(s, &s->v[i]);
            if (!alive)
                leave(s, i);
        }
        if (p[1].revents & POLLIN)
            enter(s);
        pause_ms(1); // however much they shout
    }
    farewell(s);
    while (s->n)
        leave(s, s->n - 1);
    return NULL;
}

// ---- start and stop ----------------------------------------------------------------------------

// Binds DIR/PID.sock, or DIR/PID-2.sock ... when this process serves already. A file left by a dead
// process of the same number is replaced.
static nino_status listen_at(nino_server *s, const char *dir, nino_error *err)
{
    for (int i = 1; i < 10; i++) {
        char path[160], suffix[8] = "";
        if (i > 1)
            snprintf(suffix, sizeof(suffix), "-%d", i);
        snprintf(path, sizeof(path), "%s/%d%s.sock", dir, (int) getpid(), suffix);
        struct sockaddr_un a;
        if (!nino_wire_address(&a, path))
            return nino_fail(err, NINO_ERR_IO, dir, "the path is too long for a socket");
        const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        const bool taken = probe >= 0 && !connect(probe, (struct sockaddr *) &a, sizeof(a));
        if (probe >= 0)
            close(probe);
        if (taken)
            continue;
        unlink(path);
        s->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        // The mode of the descriptor becomes the mode of the file: private from its first moment,
        // without touching the umask of the process.
        if (s->listen_fd < 0 || fchmod(s->listen_fd, 0600) ||
            bind(s->listen_fd, (struct sockaddr *) &a, sizeof(a)) || listen(s->listen_fd, 8))
            return nino_fail(err, NINO_ERR_IO, path, "%s", strerror(errno));
        memcpy(s->path, a.sun_path, sizeof(s->path));
        return NINO_OK;
    }
    return nino_fail(err, NINO_ERR_IO, dir, "this process listens on nine sockets already");
}

static bool start_thread(nino_server *s)
{
    sigset_t all, old;
    sigfillset(&all); // signals are for the threads of the application, our own faults are not
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int rc = pthread_create(&s->thread, NULL, serve, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!rc)
        pthread_setname_np(s->thread, "nino-serve");
    return rc == 0;
}

nino_server *nino_server_start(nino_monitor *m, const char *title, void (*cancel)(void *priv),
                               void *priv, nino_error *err)
{
    char dir[120];
    if (nino_wire_dir(dir, sizeof(dir), true, err))
        return NULL;
    nino_server *s = calloc(1, sizeof(*s));
    if (!s) {
        nino_fail(err, NINO_ERR_NOMEM, dir, "out of memory");
        return NULL;
    }
    *s = (nino_server){ .m = m, .cancel = cancel, .priv = priv, .listen_fd = -1 };
    s->hello = (nino_wire_hello){ .magic = "ninodes",
                                  .version = NINO_WIRE_VERSION,
                                  .event_bytes = sizeof(nino_event),
                                  .pid = getpid(),
                                  .started_ns = nino_now_ns() };
    snprintf(s->hello.title, sizeof(s->hello.title), "%s", title ? title : "");
    s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->wake_fd < 0)
        nino_fail(err, NINO_ERR_IO, dir, "%s", strerror(errno));
    else if (!listen_at(s, dir, err)) {
        nino_monitor_hold(m);
        if (start_thread(s))
            return s;
        nino_monitor_drop(m);
        unlink(s->path);
        nino_fail(err, NINO_ERR_NOMEM, dir, "could not start a thread");
    }
    if (s->listen_fd >= 0)
        close(s->listen_fd);
    if (s->wake_fd >= 0)
        close(s->wake_fd);
    free(s);
    return NULL;
}

void nino_server_stop(nino_server **server)
{
    nino_server *s = *server;
    if (!s)
        return;
    const uint64_t one = 1;
    while (write(s->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        continue;
    pthread_join(s->thread, NULL);
    unlink(s->path);
    close(s->listen_fd);
    close(s->wake_fd);
    nino_monitor_drop(s->m);
    free(s);
    *server = NULL;
}

const char *nino_server_path(const nino_server *s) { return s ? s->path : ""; }
