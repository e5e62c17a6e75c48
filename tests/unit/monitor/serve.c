// The monitor socket: permissions, late and repeated viewers, several at once, slow and hostile
// ones. Waits are bounded by ten seconds, never by how fast the machine is.
#include "core/base/time.h"
#include "core/event/ring.h"
#include "core/monitor/link/serve.h"
#include "core/op/pool.h"
#include "tests/unit/monitor/peer.h"
#include <ninodes/history.h>

#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

static char root[64];
static nino_error err;

static int mode_of(const char *path)
{
    struct stat st;
    return lstat(path, &st) ? -1 : (int) (st.st_mode & 07777);
}

static void use_dir(const char *sub, mode_t mode)
{
    char path[192];
    snprintf(path, sizeof(path), "%s/%s", root, sub);
    CHECK(!mkdir(path, 0700) && !chmod(path, mode));
    setenv("XDG_RUNTIME_DIR", path, 1);
}

static void refused(const char *why)
{
    nino_monitor *m = nino_monitor_create();
    err.msg[0] = 0;
    CHECK(!nino_server_start(m, "x", NULL, NULL, &err));
    if (!strstr(err.msg, why))
        fprintf(stderr, "message: %s: %s\n", err.where, err.msg);
    CHECK(strstr(err.msg, why));
    CHECK(!nino_monitor_is_on(m));
    nino_monitor_destroy(&m);
}

static void test_permissions(void)
{
    char path[160], target[160];
    use_dir("loose", 0777);
    refused("writable by others");
    use_dir("open", 0700);
    snprintf(path, sizeof(path), "%s/open/ninodes", root);
    CHECK(!mkdir(path, 0700) && !chmod(path, 0755));
    refused("open to others");
    use_dir("link", 0700);
    snprintf(path, sizeof(path), "%s/link/ninodes", root);
    snprintf(target, sizeof(target), "%s/link/elsewhere", root);
    CHECK(!mkdir(target, 0700) && !symlink(target, path));
    refused("link");
    snprintf(path, sizeof(path), "%s/linked", root);
    CHECK(!symlink(target, path));
    setenv("XDG_RUNTIME_DIR", path, 1);
    refused("link");
    snprintf(path, sizeof(path), "%s/nowhere", root);
    setenv("XDG_RUNTIME_DIR", path, 1);
    refused("No such file");
    // longer than a socket's address on its own, so that the number of digits of the process
    // does not decide
    char name[104];
    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = 0;
    use_dir(name, 0700);
    refused("too long");

    use_dir("good", 0700);
    nino_monitor *m = nino_monitor_create();
    const mode_t old = umask(0);
    nino_server *s = nino_server_start(m, "x", NULL, NULL, &err);
    umask(old);
    CHECK_OK(s ? NINO_OK : err.code, err);
    CHECK(mode_of(nino_server_path(s)) == 0600);
    snprintf(path, sizeof(path), "%s/good/ninodes", root);
    CHECK(mode_of(path) == 0700);
    char gone[108];
    snprintf(gone, sizeof(gone), "%s", nino_server_path(s));
    nino_server_stop(&s);
    CHECK(!s && mode_of(gone) == -1 && !nino_monitor_is_on(m));
    nino_server_stop(&s);
    CHECK_STR(nino_server_path(NULL), "");
    nino_monitor_destroy(&m);
}

static nino_event got[NINO_RING_SIZE];

// Waits until the server has counted what the rings will soon be short of; `published` until now.
static void wait_counted(const nino_server *s, uint64_t published)
{
    for (int i = 0; i < 10000; i++) {
        if (nino_server_counted(s) + NINO_RING_SIZE / 4 * 3 >= published)
            return;
        usleep(1000);
    }
    CHECK(!"the server counts");
}

// A viewer that comes after the records of the pool's blocks were overwritten is told them, and
// what changes later is right on top of that.
static void test_blocks(void)
{
    nino_monitor *m = nino_monitor_create();
    nino_server *s = nino_server_start(m, "x", NULL, NULL, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    nino_pool *pool = nino_pool_create(&(nino_pool_params){ .min_arena = 1 << 20 });
    nino_block b[40];
    CHECK(pool);
    nino_pool_set_monitor(pool, m);
    for (int i = 0; i < 40; i++)
        CHECK_OK(nino_pool_alloc(pool, 5000, i % 2 ? NINO_OWN_WEIGHTS : NINO_OWN_ACTIVATION, &b[i],
                                 &err),
                 err);
    for (uint32_t i = 0; i < NINO_RING_SIZE; i++) {
        nino_monitor_publish(m, &(nino_event){ .kind = NINO_EV_CACHE, .u.scope.arg0 = i });
        if (i % 1024 == 0)
            wait_counted(s, i);
    }
    nino_pool_free(pool, &b[3]); // this one is in the ring and in the list
    nino_attach *a = nino_attach_open(nino_server_path(s), &err);
    CHECK_OK(a ? NINO_OK : err.code, err);
    nino_pool_free(pool, &b[7]);
    nino_pool_free(pool, &b[8]);
    nino_monitor_publish(m, &(nino_event){ .kind = NINO_EV_MESSAGE }); // the end of what is read
    nino_history *h = nino_history_create(0);
    nino_stats *stats = nino_stats_create();
    CHECK(h && stats);
    for (bool done = false; !done;) {
        nino_event part[300];
        size_t k;
        struct pollfd p = { nino_attach_fd(a), POLLIN, 0 };
        CHECK_OK(nino_attach_read(a, part, 300, &k, &err), err);
        nino_history_add(h, part, k, nino_attach_name, a);
        nino_stats_add(stats, part, k, nino_attach_name, a);
        for (size_t i = 0; i < k; i++)
            done = done || part[i].kind == NINO_EV_MESSAGE;
        if (!k)
            poll(&p, 1, 1000);
    }
    nino_pool_map map;
    nino_mem_stat mem, seen;
    size_t busy = 0;
    CHECK_OK(nino_history_pool(h, UINT64_MAX, &map, &err), err);
    for (size_t i = 0; i < map.n_blocks; i++)
        busy += !map.block[i].is_free;
    nino_pool_stat(pool, &mem);
    nino_stats_memory(stats, &seen);
    CHECK(busy == 37 && map.in_use == mem.in_use && map.unknown_bytes == 0);
    CHECK(map.largest_free == mem.largest_free && map.reserved == mem.reserved);
    CHECK(seen.in_use == mem.in_use && seen.allocs == 40); // none of the blocks was a request
    nino_pool_map_release(&map);
    nino_stats_destroy(&stats);
    nino_history_destroy(&h);
    nino_attach_close(&a);
    nino_server_stop(&s);
    nino_pool_destroy(&pool);
    nino_monitor_destroy(&m);
}

// Reads until `want` records (LOST and SUM not counted) or the end came; adds up what was lost.
static size_t collect(nino_attach *a, size_t want, uint64_t *lost, bool *ended)
{
    size_t n = 0;
    *lost = 0;
    *ended = false;
    const uint64_t until = nino_now_ns() + 10000000000u;
    while (n + *lost < want && nino_now_ns() < until) {
        nino_event part[300];
        size_t k;
        struct pollfd p = { nino_attach_fd(a), POLLIN, 0 };
        const nino_status st = nino_attach_read(a, part, 300, &k, &err);
        if (st) {
            CHECK(st == NINO_ERR_IO && k == 0);
            *ended = true;
            break;
        }
        for (size_t i = 0; i < k; i++)
            if (part[i].kind == NINO_EV_LOST)
                *lost += part[i].u.lost;
            else if (part[i].kind != NINO_EV_SUM && n < NINO_RING_SIZE)
                got[n++] = part[i];
        if (!k)
            poll(&p, 1, 100);
    }
    return n;
}

static void publish(nino_monitor *m, uint32_t first, uint32_t n)
{
    for (uint32_t i = first; i < first + n; i++)
        nino_monitor_publish(m, &(nino_event){ .kind = NINO_EV_CACHE, .u.scope.arg0 = i });
}

// A viewer that comes after more messages than are known is told the texts of the newest.
static void test_forgotten(void)
{
    enum { SAID = 20000 };
    nino_monitor *m = nino_monitor_create();
    nino_server *s = nino_server_start(m, "title", NULL, NULL, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    for (int i = 0; i < SAID; i++)
        nino_monitor_message(m, NINO_LOG_INFO, "message %d", i);
    nino_attach *a = nino_attach_open(nino_server_path(s), &err);
    CHECK_OK(a ? NINO_OK : err.code, err);
    for (int i = 0; i < SAID;) {
        nino_event ev;
        size_t n = 0;
        char want[32];
        struct pollfd p = { nino_attach_fd(a), POLLIN, 0 };
        CHECK_OK(nino_attach_read(a, &ev, 1, &n, &err), err);
        if (!n) {
            poll(&p, 1, 100);
            continue;
        }
        if (ev.kind != NINO_EV_MESSAGE)
            continue;
        snprintf(want, sizeof(want), "message %d", i);
        CHECK_STR(nino_attach_name(a, ev.name), i >= SAID - 8192 ? want : "");
        i++;
    }
    nino_attach_close(&a);
    nino_server_stop(&s);
    nino_monitor_destroy(&m);
}

static void test_viewers(void)
{
    nino_monitor *m = nino_monitor_create();
    uint64_t lost;
    bool ended;
    const uint32_t job = nino_monitor_begin(m, NINO_EV_JOB, "my job", 0, 0); // before anybody looks
    nino_server *s = nino_server_start(m, "title of the run", NULL, NULL, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    const uint32_t node = nino_monitor_begin(m, NINO_EV_NODE, "8 VAEDecode", 0, 1);
    nino_monitor_publish(m, &(nino_event){ .kind = NINO_EV_MEM, .u.mem.in_use = 4096 });
    nino_monitor_message(m, NINO_LOG_INFO, "hello %d", 42);
    const uint32_t launch = nino_monitor_name(m, "4096x1x1/64x1x1/77");
    nino_monitor_publish(m, &(nino_event){ .kind = NINO_EV_KERNEL,
                                           .track = 256,
                                           .name = nino_monitor_name(m, "gemm"),
                                           .id = nino_kernel_id(16, launch) });

    nino_run_info info[4];
    CHECK(nino_attach_list(info, 4) == 1 && info[0].pid == getpid());
    CHECK_STR(info[0].title, "title of the run");
    CHECK_STR(info[0].socket, nino_server_path(s));

    // late: the job that began before, the rest is held
    nino_attach *a = nino_attach_open(nino_server_path(s), &err);
    CHECK_OK(a ? NINO_OK : err.code, err);
    CHECK(nino_attach_pid(a) == getpid());
    CHECK(collect(a, 5, &lost, &ended) == 5 && !lost && !ended);
    CHECK(got[0].kind == NINO_EV_JOB && got[0].id == job);
    CHECK_STR(nino_attach_name(a, got[0].name), "my job");
    CHECK(got[1].kind == NINO_EV_NODE && got[1].id == node && got[1].parent == job);
    CHECK_STR(nino_attach_name(a, got[1].name), "8 VAEDecode");
    CHECK(got[2].kind == NINO_EV_MEM && got[2].u.mem.in_use == 4096);
    CHECK(got[3].kind == NINO_EV_MESSAGE);
    CHECK_STR(nino_attach_name(a, got[3].name), "hello 42");
    CHECK(got[4].kind == NINO_EV_KERNEL && nino_kernel_bits(&got[4]) == 16);
    CHECK_STR(nino_attach_name(a, nino_kernel_launch(&got[4])), "4096x1x1/64x1x1/77");
    CHECK_STR(nino_attach_name(a, 123456), "");

    // two more; every one sees everything, with names made later
    nino_attach *b = nino_attach_open(NULL, &err), *c = nino_attach_open(NULL, &err);
    CHECK(b && c);
    CHECK(collect(b, 5, &lost, &ended) == 5 && collect(c, 5, &lost, &ended) == 5);
    const uint32_t late = nino_monitor_name(m, "a later name");
    publish(m, 0, 20000);
    nino_monitor_publish(m, &(nino_event){ .kind = NINO_EV_OUTPUT, .name = late });
    nino_attach *all[3] = { a, b, c };
    for (int i = 0; i < 3; i++) {
        CHECK(collect(all[i], 20001, &lost, &ended) == 20001 && !lost);
        for (uint32_t k = 0; k < 20000; k++)
            CHECK(got[k].u.scope.arg0 == k && got[k].parent == node);
        CHECK_STR(nino_attach_name(all[i], got[20000].name), "a later name");
    }
    // again and again
    nino_attach_close(&b);
    CHECK(!b);
    for (int i = 0; i < 30; i++) {
        char pid[16];
        snprintf(pid, sizeof(pid), "%d", (int) getpid());
        b = nino_attach_open(pid, &err);
        CHECK_OK(b ? NINO_OK : err.code, err);
        CHECK(collect(b, 20006, &lost, &ended) == 20006);
        nino_attach_close(&b);
    }
    // the end: what was published before it arrives
    publish(m, 0, 700);
    nino_monitor_end(m, job);
    nino_server_stop(&s);
    CHECK(collect(a, 100000, &lost, &ended) == 702 && !lost && ended);
    CHECK(collect(a, 1, &lost, &ended) == 0 && ended);
    nino_attach_close(&a);
    nino_attach_close(&c);
    CHECK(nino_attach_list(info, 4) == 0);
    CHECK(!nino_attach_open(NULL, &err) && err.code == NINO_ERR_MISSING);
    CHECK(!nino_attach_open("1", &err) && err.code == NINO_ERR_MISSING);
    CHECK(!nino_attach_open("/absent/x.sock", &err) && err.code == NINO_ERR_MISSING);
    nino_monitor_destroy(&m);
}

static void test_slow(void)
{
    nino_monitor *m = nino_monitor_create();
    nino_server *s = nino_server_start(m, "", NULL, NULL, &err);
    nino_attach *a = nino_attach_open(NULL, &err);
    CHECK(s && a);
    uint64_t worst = 0, lost;
    bool ended;
    const uint32_t many = 600000; // 38 MB: more than a socket and a ring hold
    for (uint32_t i = 0; i < many; i += 1000) {
        const uint64_t t = nino_now_ns();
        publish(m, i, 1000);
        worst = nino_now_ns() - t > worst ? nino_now_ns() - t : worst;
    }
    printf("  slowest 1000 publishes beside a viewer that does not read: %.3f ms\n",
           (double) worst * 1e-6);
    const size_t n = collect(a, many, &lost, &ended);
    CHECK(n + lost == many && lost > 0 && n > 1000);
    for (size_t i = 1; i < n; i++)
        CHECK(got[i].u.scope.arg0 > got[i - 1].u.scope.arg0);
    CHECK(got[n - 1].u.scope.arg0 == many - 1);
    nino_attach_close(&a);
    nino_server_stop(&s);
    nino_monitor_destroy(&m);
}

static atomic_int cancelled;
static void on_request(void *priv, const nino_control *c, nino_reply *out)
{
    CHECK(priv == &cancelled);
    if (c->cmd == NINO_CONTROL_CANCEL)
        atomic_fetch_add(&cancelled, 1);
    out->job = c->job;
}

static void wait_cancel(int n)
{
    for (int i = 0; i < 1000 && atomic_load(&cancelled) < n; i++)
        usleep(10000);
    CHECK(atomic_load(&cancelled) == n);
}

static void test_hostile(void)
{
    nino_monitor *m = nino_monitor_create();
    const nino_server_ops ops = { .request = on_request };
    nino_server *s = nino_server_start(m, "", &ops, &cancelled, &err);
    CHECK(s);
    char junk[65536];
    static const char request[] = "{\"id\":1,\"do\":\"cancel\"}";
    memset(junk, 'x', sizeof(junk));
    int fd = peer_open(nino_server_path(s)); // nonsense: 'xxxx' is a huge length
    CHECK(send(fd, junk, sizeof(junk), MSG_NOSIGNAL) > 0);
    CHECK(peer_is_closed(fd));
    close(fd);
    fd = peer_open(nino_server_path(s)); // floods with well-formed unknown requests
    nino_wire_head h = { 99, 8 };
    for (size_t i = 0; i + 16 <= sizeof(junk); i += 16)
        memcpy(junk + i, &h, sizeof(h));
    bool stopped = false;
    for (int i = 0; i < 1000 && !stopped; i++)
        stopped = send(fd, junk, sizeof(junk), MSG_NOSIGNAL) < 0;
    CHECK(stopped);
    close(fd);
    fd = peer_open(nino_server_path(s)); // a request in pieces
    h = (nino_wire_head){ NINO_WIRE_REQUEST, sizeof(request) - 1 };
    CHECK(send(fd, &h, 3, MSG_NOSIGNAL) == 3);
    usleep(30000);
    CHECK(atomic_load(&cancelled) == 0);
    CHECK(send(fd, (char *) &h + 3, 5, MSG_NOSIGNAL) == 5);
    CHECK(send(fd, request, 10, MSG_NOSIGNAL) == 10);
    usleep(30000);
    CHECK(atomic_load(&cancelled) == 0);
    CHECK(send(fd, request + 10, h.bytes - 10, MSG_NOSIGNAL) == (ssize_t) h.bytes - 10);
    wait_cancel(1);
    close(fd);

    nino_attach *a = nino_attach_open(NULL, &err);
    CHECK(a && !nino_attach_cancel(a, &err));
    wait_cancel(2);
    int idle[40]; // more than there are places: the rest is turned away
    for (int i = 0; i < 40; i++)
        idle[i] = peer_open(nino_server_path(s));
    int away = 0;
    for (int i = 39; i >= 0; i--) {
        char c;
        away += recv(idle[i], &c, 1, 0) <= 0;
    }
    CHECK(away == 25); // 16 places, one is a's
    publish(m, 0, 100);
    uint64_t lost;
    bool ended;
    CHECK(collect(a, 100, &lost, &ended) == 100 && !lost); // the good one is served
    for (int i = 0; i < 40; i++)
        close(idle[i]);
    nino_attach *b = NULL;
    for (int i = 0; i < 100 && !b; i++)
        if (!(b = nino_attach_open(NULL, &err)))
            usleep(20000);
    CHECK(b && collect(b, 100, &lost, &ended) == 100);
    nino_attach_close(&a);
    nino_attach_close(&b);
    nino_server_stop(&s);
    nino_monitor_destroy(&m);
}

// Two runs in one process, and the file of one that was killed.
static void test_several_runs(void)
{
    nino_monitor *m = nino_monitor_create();
    nino_server *s = nino_server_start(m, "first", NULL, NULL, &err);
    nino_server *t = nino_server_start(m, "second", NULL, NULL, &err);
    CHECK(s && t && strcmp(nino_server_path(s), nino_server_path(t)) != 0);
    char dead[160];
    snprintf(dead, sizeof(dead), "%s/good/ninodes/4000000.sock", root);
    struct sockaddr_un a;
    CHECK(nino_wire_address(&a, dead));
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(fd >= 0 && !bind(fd, (struct sockaddr *) &a, sizeof(a)));
    close(fd);
    nino_run_info info[4];
    CHECK(nino_attach_list(info, 4) == 2);
    CHECK_STR(info[0].title, "second"); // newest first
    CHECK_STR(info[1].title, "first");
    CHECK(mode_of(dead) == -1);
    CHECK(nino_attach_list(info, 1) == 2);
    nino_server_stop(&s);
    nino_server_stop(&t);
    nino_monitor_destroy(&m);
}

// As many as there are names for; without a title; without descriptors for its sockets.
static void test_starts(void)
{
    enum { MOST = 9 };
    nino_monitor *m = nino_monitor_create();
    nino_server *s[MOST];
    nino_run_info info[MOST + 1];
    nino_server_changed(NULL);
    CHECK(nino_server_version(NULL) == 0);
    for (int i = 0; i < MOST; i++)
        CHECK((s[i] = nino_server_start(m, NULL, NULL, NULL, &err)));
    CHECK(!nino_server_start(m, "x", NULL, NULL, &err));
    CHECK(err.code == NINO_ERR_IO && strstr(err.msg, "nine sockets already"));
    CHECK(nino_attach_list(info, MOST + 1) == MOST);
    CHECK_STR(info[0].title, "");
    for (int i = 0; i < MOST; i++)
        nino_server_stop(&s[i]);
    struct rlimit had, few;
    const int next = dup(0);
    CHECK(next >= 0 && !close(next) && !getrlimit(RLIMIT_NOFILE, &had));
    nino_server *started = NULL;
    for (int n = 0; n < 8 && !started; n++) {
        few = (struct rlimit){ (rlim_t) (next + n), had.rlim_max };
        CHECK(!setrlimit(RLIMIT_NOFILE, &few));
        started = nino_server_start(m, "x", NULL, NULL, &err);
        CHECK(!setrlimit(RLIMIT_NOFILE, &had));
        CHECK(started || (err.code == NINO_ERR_IO && strstr(err.msg, "open files")));
        const int now = dup(0);
        CHECK(!close(now) && (started || now == next)); // nothing was left open
        CHECK(started ? n > 1 : n < 7);
    }
    CHECK(started);
    nino_server_stop(&started);
    nino_monitor_destroy(&m);
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(root, sizeof(root), "%s/nino-serve-XXXXXX", tmp && strlen(tmp) < 30 ? tmp : "/tmp");
    CHECK(mkdtemp(root));
    test_permissions();
    test_viewers();
    test_forgotten();
    test_blocks();
    test_slow();
    test_hostile();
    test_several_runs();
    test_starts();
    char cmd[96];
    snprintf(cmd, sizeof(cmd), "rm -rf '%s'", root);
    return system(cmd) != 0;
}
