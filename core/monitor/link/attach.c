// The viewer's end of the monitor socket.
#include "core/base/error.h"
#include "core/base/num.h"
#include "core/base/time.h"
#include "core/monitor/link/attach_priv.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HELLO_MS = 5000, LIST_MS = 1500, READ_CHUNK = 128 * 1024, MAX_NAMES = 1 << 20 };

// ---- frames ------------------------------------------------------------------------------------

// Reads what there is; NINO_ERR_IO once the other end has closed.
static nino_status receive(nino_attach *a, nino_error *err)
{
    if (a->at) { // keep the buffer short
        memmove(a->in.data, a->in.data + a->at, a->in.len - a->at);
        a->in.len -= a->at;
        a->at = 0;
    }
    char chunk[READ_CHUNK];
    const ssize_t k = recv(a->fd, chunk, sizeof(chunk), MSG_DONTWAIT);
    if (k > 0)
        nino_buf_add(&a->in, chunk, (size_t) k);
    else if (!k || errno != EAGAIN)
        a->ended = true;
    if (a->in.failed)
        return nino_fail(err, NINO_ERR_NOMEM, a->path, "out of memory");
    return a->ended ? nino_fail(err, NINO_ERR_IO, a->path, "the run has ended") : NINO_OK;
}

static nino_status bad_frame(nino_attach *a, nino_error *err)
{
    a->ended = true;
    return nino_fail(err, NINO_ERR_FORMAT, a->path, "does not speak this version's protocol");
}

static bool attach_take_names(nino_attach *a, const char *p, size_t n)
{
    while (n) {
        uint32_t item[2];
        if (n < sizeof(item))
            return false;
        memcpy(item, p, sizeof(item));
        const bool passes = item[0] & NINO_PASSING_BIT;
        if ((!passes && item[0] >= MAX_NAMES) || item[1] > n - sizeof(item))
            return false;
        if (passes && ((!a->passing && !(a->passing = nino_passing_create())) ||
                       !nino_passing_put(a->passing, item[0], p + sizeof(item), item[1])))
            return false;
        if (!passes && item[0] >= a->n_names) {
            const size_t more = (size_t) item[0] * 2 + 64;
            char **list = realloc(a->name, more * sizeof(*list));
            if (!list)
                return false;
            memset(list + a->n_names, 0, (more - a->n_names) * sizeof(*list));
            a->name = list;
            a->n_names = more;
        }
        if (!passes && !a->name[item[0]]) // a name never changes: pointers given out stay good
            a->name[item[0]] = strndup(p + sizeof(item), item[1]);
        p += sizeof(item) + item[1];
        n -= sizeof(item) + item[1];
    }
    return true;
}

static bool take_hello(nino_attach *a, const char *p, size_t n)
{
    if (n < sizeof(a->hello))
        return false;
    memcpy(&a->hello, p, sizeof(a->hello));
    a->hello.title[sizeof(a->hello.title) - 1] = 0;
    return !memcmp(a->hello.magic, "ninodes", 8) && a->hello.version == NINO_WIRE_VERSION &&
           a->hello.event_bytes == sizeof(nino_event);
}

// Takes the next frame out of the buffer if it is complete; *more: there was one. Of EVENTS only
// the head: the records are handed out from the buffer.
static nino_status attach_take_frame(nino_attach *a, bool *more, nino_error *err)
{
    nino_wire_head h;
    *more = false;
    const size_t have = a->in.len - a->at;
    if (have < sizeof(h))
        return NINO_OK;
    memcpy(&h, a->in.data + a->at, sizeof(h));
    if (h.bytes > NINO_WIRE_MAX || (!a->hello.version && h.type != NINO_WIRE_HELLO))
        return bad_frame(a, err);
    if (h.type == NINO_WIRE_EVENTS) {
        if (h.bytes % sizeof(nino_event))
            return bad_frame(a, err);
        a->events_left = h.bytes;
        a->at += sizeof(h);
        *more = true;
        return NINO_OK;
    }
    if (have < sizeof(h) + h.bytes)
        return NINO_OK;
    const char *body = a->in.data + a->at + sizeof(h);
    if ((h.type == NINO_WIRE_HELLO && !take_hello(a, body, h.bytes)) ||
        (h.type == NINO_WIRE_NAMES && !attach_take_names(a, body, h.bytes)))
        return bad_frame(a, err);
    if (!nino_control_take_frame(a, h.type, body, h.bytes))
        return nino_fail(err, NINO_ERR_NOMEM, a->path, "out of memory");
    a->at += sizeof(h) + h.bytes;
    *more = true;
    return NINO_OK;
}

bool nino_attach_flush(nino_attach *a)
{
    while (a->sent < a->out.len) {
        const ssize_t k =
            send(a->fd, a->out.data + a->sent, a->out.len - a->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (k < 0)
            return errno == EAGAIN;
        a->sent += (size_t) k;
    }
    nino_buf_clear(&a->out);
    a->sent = 0;
    return true;
}

nino_status nino_attach_read(nino_attach *a, nino_event *out, size_t max, size_t *n,
                             nino_error *err)
{
    nino_status st = NINO_OK;
    *n = 0;
    if (!nino_attach_flush(a))
        a->ended = true; // what it said before is still to be read
    for (bool was_empty = false; *n < max;) {
        const size_t have = a->in.len - a->at;
        if (a->events_left && have >= sizeof(*out)) {
            size_t k = (have < a->events_left ? have : a->events_left) / sizeof(*out);
            k = k < max - *n ? k : max - *n;
            memcpy(out + *n, a->in.data + a->at, k * sizeof(*out));
            *n += k;
            a->at += k * sizeof(*out);
            a->events_left -= k * sizeof(*out);
            continue;
        }
        bool more = false;
        if (!a->events_left && (st = attach_take_frame(a, &more, err)))
            break;
        if (more)
            continue;
        if (was_empty || a->ended) {
            if (a->ended && !*n)
                st = nino_fail(err, NINO_ERR_IO, a->path, "the run has ended");
            break;
        }
        const size_t before = a->in.len - a->at;
        st = receive(a, err);
        was_empty = a->in.len == before;
        if (st == NINO_ERR_IO)
            st = NINO_OK; // once what was received has been handed out
        else if (st)
            break;
    }
    return st;
}

// ---- connecting --------------------------------------------------------------------------------

static nino_status wait_hello(nino_attach *a, int ms, nino_error *err)
{
    const uint64_t until = nino_now_ns() + (uint64_t) ms * 1000000u;
    for (;;) {
        bool more;
        nino_status st = attach_take_frame(a, &more, err);
        if (st || a->hello.version)
            return st;
        const uint64_t now = nino_now_ns();
        struct pollfd p = { a->fd, POLLIN, 0 };
        if (now >= until || poll(&p, 1, (int) ((until - now) / 1000000u) + 1) == 0)
            return nino_fail(err, NINO_ERR_IO, a->path, "does not answer");
        if ((st = receive(a, err)))
            return st;
    }
}

static nino_attach *dial(const char *path, int ms, nino_error *err)
{
    struct sockaddr_un addr;
    nino_attach *a = calloc(1, sizeof(*a));
    if (!a || !nino_wire_address(&addr, path)) {
        nino_fail(err, a ? NINO_ERR_MISSING : NINO_ERR_NOMEM, path,
                  a ? "the path is too long" : "out of memory");
        free(a);
        return NULL;
    }
    memcpy(a->path, addr.sun_path, sizeof(a->path));
    a->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    nino_status st = NINO_OK;
    if (a->fd < 0 || connect(a->fd, (struct sockaddr *) &addr, sizeof(addr)))
        st = nino_fail_kind(err, NINO_ERR_MISSING, errno == ECONNREFUSED ? "stale" : "missing",
                            path, "no run listens there");
    else if (!nino_wire_same_user(a->fd))
        st = nino_fail(err, NINO_ERR_IO, path, "belongs to another user");
    else
        st = wait_hello(a, ms, err);
    if (st)
        nino_attach_close(&a);
    return a;
}

void nino_attach_close(nino_attach **attach)
{
    nino_attach *a = *attach;
    if (!a)
        return;
    if (a->fd >= 0)
        close(a->fd);
    for (size_t i = 0; i < a->n_names; i++)
        free(a->name[i]);
    free(a->name);
    nino_passing_destroy(&a->passing);
    nino_control_close(a);
    nino_buf_release(&a->in);
    free(a);
    *attach = NULL;
}

static int newest_first(const void *a, const void *b)
{
    const uint64_t x = ((const nino_run_info *) a)->started_ns;
    const uint64_t y = ((const nino_run_info *) b)->started_ns;
    return x < y ? 1 : x > y ? -1 : 0;
}

size_t nino_attach_list(nino_run_info *out, size_t max)
{
    char dir[120];
    DIR *d = nino_wire_dir(dir, sizeof(dir), false, NULL) ? NULL : opendir(dir);
    if (!d)
        return 0;
    size_t n = 0, kept = 0;
    for (const struct dirent *e; (e = readdir(d));) {
        char path[400];
        const size_t len = strlen(e->d_name);
        if (len < 6 || strcmp(e->d_name + len - 5, ".sock"))
            continue;
        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        nino_error err = { .code = NINO_OK };
        nino_attach *a = dial(path, LIST_MS, &err);
        if (!a) {
            if (err.code == NINO_ERR_MISSING && !strcmp(err.kind, "stale"))
                unlink(path); // left by a process that was killed
            continue;
        }
        n++;
        if (kept < max) {
            nino_run_info *r = &out[kept++];
            *r = (nino_run_info){ .pid = a->hello.pid, .started_ns = a->hello.started_ns };
            memcpy(r->socket, a->path, sizeof(r->socket));
            memcpy(r->title, a->hello.title, sizeof(r->title));
        }
        nino_attach_close(&a);
    }
    closedir(d);
    qsort(out, kept, sizeof(*out), newest_first);
    return n;
}

nino_attach *nino_attach_open(const char *target, nino_error *err)
{
    int64_t pid = 0;
    if (target && *target && !nino_parse_i64(target, &pid))
        return dial(target, HELLO_MS, err);
    char dir[120], path[160];
    if (pid) {
        if (nino_wire_dir(dir, sizeof(dir), false, err))
            return NULL;
        snprintf(path, sizeof(path), "%s/%lld.sock", dir, (long long) pid);
        return dial(path, HELLO_MS, err);
    }
    nino_run_info run[64];
    const size_t n = nino_attach_list(run, 64);
    if (!n) {
        nino_fail(err, NINO_ERR_MISSING, "", "no run to watch");
        return NULL;
    }
    return dial(run[0].socket, HELLO_MS, err);
}

int nino_attach_fd(const nino_attach *a) { return a->fd; }
int nino_attach_pid(const nino_attach *a) { return a->hello.pid; }

const char *nino_attach_name(void *attach, uint32_t id)
{
    const nino_attach *a = attach;
    if (id & NINO_PASSING_BIT)
        return a->passing ? nino_passing_text(a->passing, id) : "";
    return id < a->n_names && a->name[id] ? a->name[id] : "";
}

nino_status nino_attach_cancel(nino_attach *a, nino_error *err)
{
    nino_error e = { .code = NINO_OK };
    if (nino_control_send(a, &(nino_control){ NINO_CONTROL_INIT, .cmd = NINO_CONTROL_CANCEL }, &e))
        return NINO_OK;
    if (err)
        *err = e;
    return e.code;
}
