// The monitor's socket at its edges: system calls that fail once, viewers that stop reading, more names and
// answers than go at once, and what a late viewer is told of scopes that nobody closed. The clock of the
// program can be stopped and put forward.
#include "core/base/time.h"
#include "core/event/ring.h"
#include "core/monitor/link/attach_priv.h"
#include "core/monitor/link/request.h"
#include "core/monitor/link/serve.h"
#include "core/monitor/link/totals.h"
#include "tests/unit/monitor/peer.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

static char root[] = "/tmp/ninodes-edges-XXXXXX";
static nino_error err;

// ---- what fails --------------------------------------------------------------------------------

static const char *_Atomic failing;       // the call whose next time fails; NULL: none
static atomic_int passes;                 // how often it goes well before
static _Atomic time_t ahead_s, stopped_s; // of the clock: put forward; standing still, 0: it goes

static bool fails(const char *name)
{
    const char *f = atomic_load(&failing);
    if (!f || strcmp(f, name) != 0 || atomic_fetch_sub(&passes, 1) > 0)
        return false;
    atomic_store(&failing, NULL);
    errno = EIO;
    return true;
}

static void fail_next(const char *name, int after)
{
    atomic_store(&passes, after);
    atomic_store(&failing, name);
}

#define CALL(f, params, args)                                                                      \
    int __real_##f params;                                                                         \
    int __wrap_##f params;                                                                         \
    int __wrap_##f params { return fails(#f) ? -1 : __real_##f args; }

CALL(socket, (int a, int b, int c), (a, b, c))
CALL(fchmod, (int fd, mode_t m), (fd, m))
CALL(bind, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n))
CALL(listen, (int fd, int n), (fd, n))
CALL(eventfd, (unsigned n, int flags), (n, flags))
CALL(accept4, (int fd, struct sockaddr *a, socklen_t *n, int flags), (fd, a, n, flags))
CALL(getsockopt, (int fd, int l, int o, void *v, socklen_t *n), (fd, l, o, v, n))
CALL(fstat, (int fd, struct stat *st), (fd, st))
CALL(mkdir, (const char *path, mode_t m), (path, m))

int __real_clock_gettime(clockid_t c, struct timespec *t);
int __wrap_clock_gettime(clockid_t c, struct timespec *t);
int __wrap_clock_gettime(clockid_t c, struct timespec *t)
{
    const int rc = __real_clock_gettime(c, t);
    const time_t still = atomic_load(&stopped_s);
    if (still)
        *t = (struct timespec){ .tv_sec = still };
    t->tv_sec += atomic_load(&ahead_s);
    return rc;
}

static const char *at(const char *name)
{
    static char path[4][200];
    static int i;
    i = (i + 1) % 4;
    snprintf(path[i], sizeof(path[i]), "%s/%s", root, name);
    return path[i];
}

static void await_viewers(const nino_server *s, int n)
{
    for (int i = 0; i < 1000 && nino_server_viewers(s) != n; i++)
        usleep(10000);
    CHECK(nino_server_viewers(s) == n);
}

// ---- calls that fail ---------------------------------------------------------------------------

static void check_starts(void)
{
    static const struct {
        const char *call;
        int after;
    } cases[] = { { "eventfd", 0 }, { "socket", 1 }, { "fchmod", 0 }, { "bind", 0 },
                  { "listen", 0 },  { "fstat", 0 },  { "mkdir", 0 } };
    nino_monitor *m = nino_monitor_create();
    char path[160];
    snprintf(path, sizeof(path), "%s/ninodes/%d.sock", root, (int) getpid());
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        err = (nino_error){ 0 };
        fail_next(cases[i].call, cases[i].after);
        CHECK(!nino_server_start(m, "x", NULL, NULL, &err) && !atomic_load(&failing));
        if (err.code != NINO_ERR_IO || !strstr(err.msg, strerror(EIO)))
            fprintf(stderr, "  %s: %s: %s\n", cases[i].call, err.where, err.msg);
        CHECK(err.code == NINO_ERR_IO && strstr(err.msg, strerror(EIO)));
        CHECK(access(path, F_OK) && !nino_monitor_is_on(m)); // nothing is left of it
    }
    // a folder for which the name of a socket is too long, though it is not itself
    char longer[110];
    snprintf(longer, sizeof(longer), "%s/", root);
    memset(longer + strlen(root) + 1, 'y', 97 - strlen(root) - 1);
    longer[97] = 0;
    CHECK(!mkdir(longer, 0700) && !setenv("XDG_RUNTIME_DIR", longer, 1));
    CHECK(!nino_server_start(m, "x", NULL, NULL, &err) && err.code == NINO_ERR_IO);
    CHECK(strstr(err.msg, "too long for a socket"));
    CHECK(!setenv("XDG_RUNTIME_DIR", root, 1));
    nino_monitor_destroy(&m);
}

static void check_entering(void)
{
    nino_monitor *m = nino_monitor_create();
    nino_server *s = nino_server_start(m, "x", NULL, NULL, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    fail_next("accept4", 0); // the next look finds it still waiting
    nino_attach *a = nino_attach_open(nino_server_path(s), &err);
    CHECK_OK(a ? NINO_OK : err.code, err);
    CHECK(!atomic_load(&failing));
    fail_next("getsockopt", 0); // nobody knows whose it is
    const int fd = peer_open(nino_server_path(s));
    CHECK(peer_is_closed(fd) && !close(fd) && !atomic_load(&failing));
    await_viewers(s, 1);
    nino_attach_close(&a);
    fail_next("socket", 0);
    CHECK(!nino_attach_open(nino_server_path(s), &err) && err.code == NINO_ERR_MISSING);
    nino_server_stop(&s);
    nino_monitor_destroy(&m);

    struct sockaddr_un addr; // who listens, but does not look: a server would ask as well
    const int mute = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(mute >= 0 && nino_wire_address(&addr, at("mute.sock")));
    CHECK(!bind(mute, (struct sockaddr *) &addr, sizeof(addr)) && !listen(mute, 4));
    fail_next("getsockopt", 0);
    CHECK(!nino_attach_open(at("mute.sock"), &err) && err.code == NINO_ERR_IO);
    CHECK_STR(err.msg, "belongs to another user");
    close(mute);
}

// ---- viewers that do not read ------------------------------------------------------------------

static void publish(nino_monitor *m, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        nino_monitor_publish(m, &(nino_event){ .kind = NINO_EV_CACHE, .u.scope.arg0 = i });
}

// Sixteen of them: none gives way to another before ten seconds have passed. Then one does, and the others
// stay.
static void check_stalled(void)
{
    enum { PLACES = 16 };
    nino_monitor *m = nino_monitor_create();
    nino_server *s = nino_server_start(m, "x", NULL, NULL, &err);
    nino_attach *a = NULL;
    int fd[PLACES], gone = 0;
    CHECK_OK(s ? NINO_OK : err.code, err);
    atomic_store(&stopped_s, (time_t) (nino_now_ns() / 1000000000u));
    for (int i = 0; i < PLACES; i++) {
        fd[i] = peer_open(nino_server_path(s));
        await_viewers(s, i + 1);
        atomic_fetch_add(&ahead_s, i < 2); // the first ones are the oldest
    }
    int away = peer_open(nino_server_path(s)); // all have taken what there was
    CHECK(peer_is_closed(away) && !close(away));
    publish(m, 60000); // 3.8 MB for each: more than its socket takes
    away = peer_open(nino_server_path(s));
    CHECK(peer_is_closed(away) && !close(away));
    for (int i = 0; i < 500 && !a; i++) { // until one of them is full
        atomic_fetch_add(&ahead_s, 20);
        if (!(a = nino_attach_open(nino_server_path(s), &err)))
            usleep(20000);
    }
    CHECK_OK(a ? NINO_OK : err.code, err);
    CHECK(nino_server_viewers(s) == PLACES);
    for (int i = 0; i < PLACES; i++) {
        struct pollfd p = { fd[i], 0, 0 };
        gone += poll(&p, 1, 0) == 1 && (p.revents & POLLHUP);
    }
    CHECK(gone == 1);
    nino_attach_close(&a);
    atomic_store(&stopped_s, 0);
    nino_server_stop(&s); // does not wait for those that do not read
    for (int i = 0; i < PLACES; i++)
        close(fd[i]);
    nino_monitor_destroy(&m);
}

static void on_request(void *priv, const nino_control *c, nino_reply *out)
{
    (void) c;
    nino_buf_add(&out->text, priv, 1 << 20);
}

// Good requests, a mebibyte each in answer, none of which is read: more than 32 of them are too many.
static void check_unread(void)
{
    static const char request[] = "{\"id\":1,\"do\":\"ping\"}";
    char *answer = malloc(1 << 20);
    CHECK(answer);
    memset(answer, 'a', 1 << 20);
    nino_monitor *m = nino_monitor_create();
    nino_server *s =
        nino_server_start(m, "x", &(nino_server_ops){ .request = on_request }, answer, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    const int fd = peer_open(nino_server_path(s));
    const nino_wire_head h = { NINO_WIRE_REQUEST, sizeof(request) - 1 };
    await_viewers(s, 1);
    for (int i = 0; i < 40; i++) {
        if (send(fd, &h, sizeof(h), MSG_NOSIGNAL) < 0)
            break;
        (void) send(fd, request, h.bytes, MSG_NOSIGNAL);
    }
    await_viewers(s, 0);
    CHECK(peer_is_closed(fd) && !close(fd));
    nino_server_stop(&s);
    nino_monitor_destroy(&m);
    free(answer);
}

// ---- names -------------------------------------------------------------------------------------

// Reads until a message comes; how many events of kind CACHE before it had the name that they should.
static int named_before_message(nino_attach *a)
{
    int n = 0;
    for (;;) {
        nino_event ev[1];
        size_t k = 0;
        struct pollfd p = { nino_attach_fd(a), POLLIN, 0 };
        CHECK_OK(nino_attach_read(a, ev, 1, &k, &err), err);
        for (size_t i = 0; i < k; i++) {
            char want[48];
            if (ev[i].kind == NINO_EV_MESSAGE)
                return n;
            if (ev[i].kind != NINO_EV_CACHE)
                continue;
            snprintf(want, sizeof(want), "a name that is quite long, number %u",
                     (unsigned) ev[i].u.scope.arg0);
            CHECK_STR(nino_attach_name(a, ev[i].name), want);
            n++;
        }
        if (!k)
            CHECK(poll(&p, 1, 10000) == 1);
    }
}

// More names than a frame holds: before a viewer comes, and while it looks.
static void check_names(void)
{
    enum { NAMES = 4000 };
    nino_monitor *m = nino_monitor_create();
    nino_server *s = nino_server_start(m, "x", NULL, NULL, &err);
    nino_attach *a[2] = { NULL, NULL };
    CHECK_OK(s ? NINO_OK : err.code, err);
    for (int k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < NAMES; i++) {
            char name[48];
            snprintf(name, sizeof(name), "a name that is quite long, number %u",
                     (unsigned) (i + NAMES * (uint32_t) k));
            nino_monitor_publish(m, &(nino_event){ .kind = NINO_EV_CACHE,
                                                   .name = nino_monitor_name(m, name),
                                                   .u.scope.arg0 = i + NAMES * (uint32_t) k });
        }
        nino_monitor_message(m, NINO_LOG_INFO, "so far");
        a[k] = nino_attach_open(nino_server_path(s), &err);
        CHECK_OK(a[k] ? NINO_OK : err.code, err);
        CHECK(named_before_message(a[0]) == NAMES);
    }
    CHECK(named_before_message(a[1]) == NAMES && named_before_message(a[1]) == NAMES);
    nino_attach_close(&a[0]);
    nino_attach_close(&a[1]);
    nino_server_stop(&s);
    nino_monitor_destroy(&m);
}

// ---- totals ------------------------------------------------------------------------------------

typedef struct told {
    int begun, ended, jobs;
} told;

static void tell(void *priv, const nino_event *ev)
{
    told *t = priv;
    t->begun += ev->kind == NINO_EV_NODE;
    t->jobs += ev->kind == NINO_EV_JOB;
    t->ended += ev->kind == NINO_EV_END;
}

static told told_of(const nino_totals *t)
{
    told k = { 0 };
    nino_mon_reader *r = nino_totals_tell(t, tell, &k);
    CHECK(r);
    nino_mon_reader_destroy(&r);
    return k;
}

// So many records that what came before is not told one by one any more.
static void push_out(nino_monitor *m, nino_totals *t)
{
    for (int i = 0; i < 60; i++) {
        publish(m, 1000);
        nino_totals_advance(t);
    }
}

// Scopes that are open when their records are gone are told, 256 of them at most; what ends without having
// begun is nothing; the last job is told with its end.
static void check_totals(void)
{
    nino_monitor *m = nino_monitor_create();
    nino_totals *t = nino_totals_create(m);
    const uint32_t first = 1000000;
    CHECK(t);
    nino_monitor_publish(m, &(nino_event){ .kind = NINO_EV_END, .id = 987654 });
    for (uint32_t i = 0; i < 300; i++)
        nino_monitor_publish(m, &(nino_event){ .kind = NINO_EV_NODE, .id = first + i });
    push_out(m, t);
    told k = told_of(t);
    CHECK(k.begun == 256 && !k.jobs && !k.ended);
    for (uint32_t i = 300; i-- > 1;)
        nino_monitor_publish(m, &(nino_event){ .kind = NINO_EV_END, .id = first + i });
    push_out(m, t);
    k = told_of(t);
    CHECK(k.begun == 1 && !k.jobs && !k.ended);
    nino_monitor_publish(m, &(nino_event){ .kind = NINO_EV_END, .id = first });
    const uint32_t job = nino_monitor_begin(m, NINO_EV_JOB, "job", 0, 0);
    push_out(m, t);
    k = told_of(t);
    CHECK(!k.begun && k.jobs == 1 && !k.ended);
    nino_monitor_end(m, nino_monitor_begin(m, NINO_EV_NODE, "node", 0, 0));
    nino_monitor_end(m, job);
    push_out(m, t);
    k = told_of(t);
    CHECK(!k.begun && k.jobs == 1 && k.ended == 1);
    nino_totals_destroy(&t);
    nino_totals_destroy(&t);
    nino_monitor_destroy(&m);
}

// ---- requests ----------------------------------------------------------------------------------

static void check_requests(void)
{
    static const char *const none[] = { NULL };
    const nino_job_options empty = { NINO_JOB_OPTIONS_INIT, .models = none };
    nino_buf b = { 0 };
    nino_request r;
    nino_request_write(&b, 1, &(nino_control){ NINO_CONTROL_INIT, .cmd = NINO_CONTROL_QUEUE });
    CHECK_OK(nino_request_parse(b.data, b.len, &r, &err), err);
    CHECK(r.id == 1 && r.c.cmd == NINO_CONTROL_QUEUE && !r.options.models);
    nino_request_release(&r);
    nino_buf_clear(&b);
    nino_request_write(
        &b, 2, &(nino_control){ NINO_CONTROL_INIT, .cmd = NINO_CONTROL_AHEAD, .options = &empty });
    CHECK(strstr(b.data, "\"options\":{}"));
    nino_buf_clear(&b);
    nino_request_write(&b, 3, &(nino_control){ NINO_CONTROL_INIT, .cmd = NINO_CONTROL_COUNT });
    CHECK(nino_request_parse(b.data, b.len, &r, &err) == NINO_ERR_UNKNOWN);
    CHECK_STR(err.msg, "'' is no request");
    nino_request_release(&r);
    nino_buf_release(&b);

    nino_attach *a = calloc(1, sizeof(*a)); // one that is not connected
    CHECK(a);
    a->fd = -1;
    const nino_control old = { .cmd = NINO_CONTROL_PING };
    const nino_job_options older = { 0 };
    const nino_control odd = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_QUEUE, .options = &older };
    CHECK(!nino_control_send(a, &old, &err) && err.code == NINO_ERR_ARG);
    CHECK(!nino_control_send(a, &odd, &err) && err.code == NINO_ERR_ARG && !a->out.len);
    nino_attach_close(&a);
}

int main(void)
{
    char command[64];
    CHECK(mkdtemp(root) && !setenv("XDG_RUNTIME_DIR", root, 1));
    check_starts();
    check_entering();
    check_stalled();
    check_unread();
    check_names();
    check_totals();
    check_requests();
    snprintf(command, sizeof(command), "rm -r '%s'", root);
    return system(command);
}
