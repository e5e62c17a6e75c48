// Serving events to viewers on a unix socket: one thread, which only reads the rings.
//
// A viewer's queue is its cursor in the rings plus one batch: one that does not read is overtaken
// by the writers, and told how many records it missed. Nothing a viewer does reaches the job.
#include "core/monitor/link/serve.h"

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/thread.h"
#include "core/base/time.h"
#include "core/event/passing.h"
#include "core/event/ring.h"
#include "core/monitor/link/totals.h"
#include "core/monitor/link/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_VIEWERS = 16,
    TICK_MS = 20,        // how often the rings are looked at for viewers,
    TOTALS_MS = 100,     // and for the totals while there is none
    BATCHES_A_TICK = 64, // for one viewer
    IN_RATE = 64 * 1024, // bytes a second a viewer may send, good requests counted as BASE_COST
    BASE_COST = 256,
    MAX_UNREAD = 32 << 20, // bytes of answers a viewer may leave unread
    STALLED_S = 10,        // a viewer that took nothing for so long gives its place to a new one
    IN_A_TURN = 64 * 1024, // bytes read from a viewer at a time
    LAST_MS = 200,         // for the last records when the run ends
    NAMES_A_FRAME = 64 * 1024,
    MAX_BLOCKS = 32768, // of the pool, told to a new viewer
    BATCH_BYTES = NINO_WIRE_BATCH * (int) sizeof(nino_event)
};

typedef struct viewer {
    int fd;
    nino_mon_reader *reader;
    nino_buf out;
    size_t sent;                      // of out
    uint32_t names_sent, passed_sent; // of either kind
    uint64_t since_ns, took_ns;       // connected; last took something
    uint64_t in_cost, state_sent;
    nino_buf in;
    nino_event *blocks; // of the pool when it came; sent after the records from before that
    size_t n_blocks;
} viewer;

struct nino_server {
    nino_monitor *m;
    nino_totals *totals;
    _Atomic uint64_t counted; // by them
    nino_server_ops ops;
    void *priv;
    nino_wire_hello hello;
    int listen_fd, wake_fd;
    atomic_int is_stopping;
    _Atomic uint64_t state_version; // of what ops.state() would say now
    uint64_t state_at;              // version of `state`
    nino_buf state;
    pthread_t thread;
    char path[108];
    viewer v[MAX_VIEWERS];
    atomic_int n; // changed by the thread only
};

// ---- one viewer --------------------------------------------------------------------------------

static void add_frame(nino_buf *b, nino_wire_type type, const void *p, size_t n)
{
    nino_buf_add(b, &(nino_wire_head){ type, (uint32_t) n }, sizeof(nino_wire_head));
    nino_buf_add(b, p, n);
}

static void add_name(const nino_server *s, viewer *v, uint32_t id)
{
    const char *text = nino_names_text(s->m->names, id);
    const uint32_t item[2] = { id, (uint32_t) strlen(text) };
    nino_buf_add(&v->out, item, sizeof(item));
    nino_buf_add(&v->out, text, item[1]);
}

// Appends names the viewer has not seen, about NAMES_A_FRAME bytes at most; true: all of them now.
static bool add_names(const nino_server *s, viewer *v)
{
    const uint32_t count = nino_names_count(s->m->names);
    const uint32_t passed = nino_names_passed(s->m->names);
    if (passed - v->passed_sent > NINO_PASSING_KEPT)
        v->passed_sent = passed - NINO_PASSING_KEPT; // those before are gone
    if (v->names_sent == count && v->passed_sent == passed)
        return true;
    const size_t head = v->out.len;
    add_frame(&v->out, NINO_WIRE_NAMES, NULL, 0);
    const size_t body = v->out.len;
    while (v->names_sent < count && v->out.len - body < NAMES_A_FRAME)
        add_name(s, v, v->names_sent++);
    while (v->passed_sent != passed && v->out.len - body < NAMES_A_FRAME)
        add_name(s, v, NINO_PASSING_BIT | v->passed_sent++);
    if (!v->out.failed)
        memcpy(v->out.data + head,
               &(nino_wire_head){ NINO_WIRE_NAMES, (uint32_t) (v->out.len - body) },
               sizeof(nino_wire_head));
    return v->names_sent == count && v->passed_sent == passed;
}

// Adds the state if the viewer has not seen it. Only the newest one is ever sent: a slow viewer
// skips those in between.
static void add_state(nino_server *s, viewer *v)
{
    const uint64_t version = atomic_load(&s->state_version);
    if (!s->ops.state || v->state_sent == version)
        return;
    if (s->state_at != version) {
        nino_buf_clear(&s->state);
        s->ops.state(s->priv, &s->state);
        if (s->state.failed) {
            nino_buf_release(&s->state); // no memory: another time
            return;
        }
        s->state_at = version;
    }
    add_frame(&v->out, NINO_WIRE_STATE, s->state.data, s->state.len);
    v->state_sent = version;
}

// Tells the pool's blocks as they were when the viewer came, once the records from before that have
// been sent: what is replayed after them is newer.
static void add_blocks(viewer *v)
{
    for (size_t at = 0; at < v->n_blocks; at += NINO_WIRE_BATCH) {
        const size_t left = v->n_blocks - at, n = left < NINO_WIRE_BATCH ? left : NINO_WIRE_BATCH;
        add_frame(&v->out, NINO_WIRE_EVENTS, v->blocks + at, n * sizeof(v->blocks[0]));
    }
    free(v->blocks);
    v->blocks = NULL;
    v->n_blocks = 0;
}

// How many of the records come before the blocks; n: all of them.
static size_t before_blocks(const viewer *v, const nino_event *ev, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ev[i].kind == NINO_EV_MEM && ev[i].t_ns > v->blocks[0].t_ns)
            return i;
    return n;
}

// Puts the next batch into the empty out buffer; false: there is nothing to say.
static bool serve_fill(nino_server *s, viewer *v)
{
    nino_buf_clear(&v->out);
    v->sent = 0;
    add_state(s, v);
    const uint32_t unsaid = nino_names_count(s->m->names) - v->names_sent +
                            nino_names_passed(s->m->names) - v->passed_sent;
    if (unsaid > 64 && !add_names(s, v))
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
    const size_t old = v->n_blocks ? before_blocks(v, first, n) : n;
    if (old)
        add_frame(&v->out, NINO_WIRE_EVENTS, first, old * sizeof(*first));
    if (v->n_blocks && (old < n || n < NINO_WIRE_BATCH - 1)) // it has caught up
        add_blocks(v);
    if (old < n)
        add_frame(&v->out, NINO_WIRE_EVENTS, first + old, (n - old) * sizeof(*first));
    return v->out.len > 0;
}

// Sends what is in the buffer; false: the viewer is gone.
static bool serve_flush(viewer *v)
{
    if (v->out.failed)
        return false;
    while (v->sent < v->out.len) {
        const ssize_t k =
            send(v->fd, v->out.data + v->sent, v->out.len - v->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (k < 0)
            return errno == EAGAIN; // a call that does not wait is not interrupted
        v->sent += (size_t) k;
        v->took_ns = nino_now_ns();
    }
    return true;
}

static bool pump(nino_server *s, viewer *v)
{
    for (int i = 0; i < BATCHES_A_TICK; i++) {
        if (!serve_flush(v))
            return false;
        if (v->sent < v->out.len || !serve_fill(s, v))
            return true;
    }
    return true;
}

// One request and its answer. Good ones cost little, so that a large workflow may come at once.
static void serve_answer(nino_server *s, viewer *v, const char *json, size_t len)
{
    nino_request r;
    nino_reply reply = { 0 };
    if (!nino_request_parse(json, len, &r, &reply.err)) {
        if (s->ops.request)
            s->ops.request(s->priv, &r.c, &reply);
        else
            nino_fail(&reply.err, NINO_ERR_UNSUPPORTED, "", "this run takes no requests");
    }
    v->in_cost += reply.err.code ? len : BASE_COST;
    if (v->sent == v->out.len) {
        nino_buf_clear(&v->out);
        v->sent = 0;
    }
    nino_buf text = { 0 };
    nino_reply_write(&text, r.id, &reply);
    if (text.failed)
        v->out.failed = true;
    else
        add_frame(&v->out, NINO_WIRE_REPLY, text.data, text.len);
    nino_buf_release(&text);
    nino_buf_release(&reply.text);
    nino_request_release(&r);
}

// Takes the whole frames out of what has come; false: one makes no sense.
static bool serve_take_frames(nino_server *s, viewer *v)
{
    size_t at = 0;
    nino_wire_head h;
    while (v->in.len - at >= sizeof(h)) {
        memcpy(&h, v->in.data + at, sizeof(h));
        if (h.bytes > NINO_WIRE_MAX_REQUEST)
            return false;
        if (v->in.len - at < sizeof(h) + h.bytes)
            break;
        v->in_cost += sizeof(h);
        if (h.type == NINO_WIRE_REQUEST)
            serve_answer(s, v, v->in.data + at + sizeof(h), h.bytes);
        else
            v->in_cost += h.bytes;
        at += sizeof(h) + h.bytes;
    }
    v->in.len -= at;
    memmove(v->in.data, v->in.data + at, v->in.len);
    return true;
}

// Reads requests; false: the viewer has hung up, talks too much, or makes no sense.
static bool hear(nino_server *s, viewer *v)
{
    char chunk[IN_A_TURN];
    const ssize_t k = recv(v->fd, chunk, sizeof(chunk), MSG_DONTWAIT);
    if (k <= 0)
        return k < 0 && errno == EAGAIN;
    nino_buf_add(&v->in, chunk, (size_t) k);
    if (v->in.failed || !serve_take_frames(s, v))
        return false;
    if (!v->in.len)
        nino_buf_release(&v->in); // a workflow was large, the next request is not
    return v->in_cost <= IN_RATE * (1 + (nino_now_ns() - v->since_ns) / 1000000000u) &&
           v->out.len - v->sent <= MAX_UNREAD;
}

static void serve_leave(nino_server *s, int i)
{
    viewer *v = &s->v[i];
    close(v->fd);
    nino_mon_reader_destroy(&v->reader);
    nino_buf_release(&v->out);
    nino_buf_release(&v->in);
    free(v->blocks);
    s->n--;
    if (i < s->n)
        s->v[i] = s->v[s->n];
}

// Makes room when every place is taken by viewers of which one has been asleep for long.
static bool serve_make_room(nino_server *s)
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
    serve_leave(s, worst);
    return true;
}

static void serve_note(void *buf, const nino_event *ev) { nino_buf_add(buf, ev, sizeof(*ev)); }

static void serve_enter(nino_server *s)
{
    const int fd = accept4(s->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    viewer *v = NULL;
    nino_buf before = { 0 };
    if (nino_wire_same_user(fd) && serve_make_room(s)) {
        v = &s->v[s->n];
        *v = (viewer){ .fd = fd, .since_ns = nino_now_ns() };
        v->took_ns = v->since_ns;
        v->reader = nino_totals_tell(s->totals, serve_note, &before);
    }
    if (!v || !v->reader || before.failed) {
        if (v)
            nino_mon_reader_destroy(&v->reader);
        nino_buf_release(&before);
        close(fd);
        return;
    }
    s->n++;
    if ((v->blocks = malloc(MAX_BLOCKS * sizeof(*v->blocks))))
        v->n_blocks = nino_monitor_blocks(s->m, v->blocks, MAX_BLOCKS);
    s->hello.now_ns = v->since_ns;
    add_frame(&v->out, NINO_WIRE_HELLO, &s->hello, sizeof(s->hello));
    add_state(s, v);
    while (!add_names(s, v))
        continue;
    for (size_t at = 0, n; at < before.len; at += n) {
        n = before.len - at < BATCH_BYTES ? before.len - at : BATCH_BYTES;
        add_frame(&v->out, NINO_WIRE_EVENTS, before.data + at, n);
    }
    nino_buf_release(&before);
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
            const bool alive = said[i] ? serve_flush(v) : pump(s, v);
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

static void *link_serve(void *arg)
{
    nino_server *s = arg;
    prctl(PR_SET_NAME, "nino-serve"); // what watching costs can be read off, also from outside
    for (;;) {
        struct pollfd p[2 + MAX_VIEWERS] = { { s->wake_fd, POLLIN, 0 },
                                             { s->listen_fd, POLLIN, 0 } };
        for (int i = 0; i < s->n; i++)
            p[2 + i] =
                (struct pollfd){ s->v[i].fd,
                                 POLLIN | (s->v[i].sent < s->v[i].out.len ? POLLOUT : 0), 0 };
        const int n = s->n;
        (void) poll(p, (nfds_t) n + 2, n ? TICK_MS : TOTALS_MS); // failed: nothing has come
        if (p[0].revents) { // the state has changed, or it is the end
            eventfd_t count;
            (void) eventfd_read(s->wake_fd, &count);
        }
        if (atomic_load(&s->is_stopping))
            break;
        nino_totals_advance(s->totals);
        atomic_store(&s->counted, nino_totals_count(s->totals));
        for (int i = n; i-- > 0;) { // backwards: serve_leave() moves the last one here
            const short r = p[2 + i].revents;
            bool alive = !(r & (POLLERR | POLLNVAL));
            if (alive && (r & (POLLIN | POLLHUP)))
                alive = hear(s, &s->v[i]);
            if (alive)
                alive = pump(s, &s->v[i]);
            if (!alive)
                serve_leave(s, i);
        }
        if (p[1].revents & POLLIN)
            serve_enter(s);
        pause_ms(1); // however much they shout
    }
    farewell(s);
    while (s->n)
        serve_leave(s, s->n - 1);
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
            bind(s->listen_fd, (struct sockaddr *) &a, sizeof(a)) || listen(s->listen_fd, 8)) {
            const char *why = strerror(errno);
            unlink(path);
            return nino_fail(err, NINO_ERR_IO, path, "%s", why);
        }
        memcpy(s->path, a.sun_path, sizeof(s->path));
        return NINO_OK;
    }
    return nino_fail(err, NINO_ERR_IO, dir, "this process listens on nine sockets already");
}

nino_server *nino_server_start(nino_monitor *m, const char *title, const nino_server_ops *ops,
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
    *s = (nino_server){ .m = m, .priv = priv, .listen_fd = -1 };
    atomic_init(&s->state_version, 1);
    if (ops)
        s->ops = *ops;
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
        s->totals = nino_totals_create(m);
        if (s->totals && !nino_thread_start(&s->thread, "nino-serve", link_serve, s))
            return s;
        nino_totals_destroy(&s->totals);
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

void nino_server_changed(nino_server *s)
{
    if (!s)
        return;
    atomic_fetch_add(&s->state_version, 1);
    (void) eventfd_write(s->wake_fd, 1);
}

uint64_t nino_server_version(const nino_server *s)
{
    return s ? atomic_load(&s->state_version) : 0;
}

void nino_server_stop(nino_server **server)
{
    nino_server *s = *server;
    if (!s)
        return;
    atomic_store(&s->is_stopping, 1);
    (void) eventfd_write(s->wake_fd, 1);
    pthread_join(s->thread, NULL);
    unlink(s->path);
    close(s->listen_fd);
    close(s->wake_fd);
    nino_totals_destroy(&s->totals);
    nino_buf_release(&s->state);
    free(s);
    *server = NULL;
}

int nino_server_viewers(const nino_server *s) { return atomic_load(&s->n); }
const char *nino_server_path(const nino_server *s) { return s ? s->path : ""; }
uint64_t nino_server_counted(const nino_server *s) { return atomic_load(&s->counted); }
