// .ninotrace files: they give the records back, survive the death of their writer and every cut,
// refuse damage, and become Chrome traces; those of the version before are read.
#include "core/monitor/trace/trace_own.h"
#include "tests/test.h"
#include <ninodes/history.h>

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 3000 };

static bool is_old; // as version 1 had it: kernels without launches
static char dir[64];
static nino_error err;

static const char *path_of(const char *name)
{
    static char p[128];
    snprintf(p, sizeof(p), "%s/%s", dir, name);
    return p;
}

static const char *name_of(void *priv, uint32_t id)
{
    static char text[32];
    (void) priv;
    if (id >= 1000) // a launch
        snprintf(text, sizeof(text), "%ux%ux1/%s/%u", id, id % 3 + 1, id % 2 ? "64x1x1" : "",
                 id * 8);
    else
        snprintf(text, sizeof(text), "name %u", id % 50);
    return id ? text : "";
}

// Record i of a run: a job, kernels with names of every kind, and its end.
static nino_event record(size_t i)
{
    if (i == 0)
        return (nino_event){ .t_ns = 1000, .kind = NINO_EV_JOB, .name = 7, .id = 1 };
    if (i == N - 1)
        return (nino_event){ .t_ns = 1000 + i * 10, .kind = NINO_EV_END, .id = 1 };
    return (nino_event){ .t_ns = 1000 + i * 10,
                         .kind = NINO_EV_KERNEL,
                         .track = 256,
                         .name = (uint32_t) (i % 50),
                         .id = nino_kernel_id(16, is_old ? 0 : (uint32_t) (1000 + i % 11)),
                         .parent = 1,
                         .u.kernel = { .dur_ns = 9,
                                       .flops = (double) i,
                                       .shape = (uint32_t) (i % 7),
                                       .family = (uint32_t) (i % 3 + 40) } };
}

static void write_run(nino_trace *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const nino_event e = record(i);
        nino_trace_add(t, &e, 1, name_of, NULL);
    }
}

// Compares with record(): the first `n` and no others.
typedef struct seen {
    size_t n;
} seen;

static void look(void *priv, const nino_event *ev, size_t n,
                 const char *(*name)(void *name_priv, uint32_t id), void *name_priv)
{
    seen *s = priv;
    for (size_t i = 0; i < n; i++, s->n++) {
        const nino_event want = record(s->n);
        CHECK(ev[i].t_ns == want.t_ns && ev[i].kind == want.kind);
        CHECK_STR(name(name_priv, ev[i].name), name_of(NULL, want.name));
        if (want.kind != NINO_EV_KERNEL) {
            CHECK(ev[i].id == want.id);
            continue;
        }
        CHECK(nino_kernel_bits(&ev[i]) == 16);
        CHECK_STR(name(name_priv, nino_kernel_launch(&ev[i])),
                  name_of(NULL, nino_kernel_launch(&want)));
        CHECK(ev[i].u.kernel.flops == want.u.kernel.flops && ev[i].u.kernel.dur_ns == 9);
        CHECK_STR(name(name_priv, ev[i].u.kernel.shape), name_of(NULL, want.u.kernel.shape));
        CHECK_STR(name(name_priv, ev[i].u.kernel.family), name_of(NULL, want.u.kernel.family));
    }
}

static void test_whole(void)
{
    seen s = { 0 };
    bool is_whole = false;
    nino_trace *t = nino_trace_create(path_of("a.ninotrace"), &err);
    CHECK_OK(t ? NINO_OK : err.code, err);
    write_run(t, N);
    CHECK_OK(nino_own_read(path_of("a.ninotrace"), look, &s, &is_whole, &err), err);
    CHECK(s.n >= 2 * 1024 && s.n < N && !is_whole); // readable while it is written
    CHECK_OK(nino_trace_finish(&t, &err), err);
    s.n = 0;
    CHECK_OK(nino_own_read(path_of("a.ninotrace"), look, &s, &is_whole, &err), err);
    CHECK(s.n == N && is_whole);
    s.n = 0;
    CHECK_OK(nino_trace_read(path_of("a.ninotrace"), look, &s, &err), err);
    CHECK(s.n == N);
    uint64_t n = 0;
    CHECK_OK(nino_trace_check(path_of("a.ninotrace"), &n, &err), err);
    CHECK(n == N);
}

// Files of older versions are whole; those of the first say of no kernel how it was launched.
// Others are refused, and say so.
static void test_versions(void)
{
    uint64_t n;
    seen s = { 0 };
    nino_history *h = nino_history_create(0);
    nino_op_stat op[64];
    is_old = true;
    nino_trace *t = nino_trace_create(path_of("old.ninotrace"), &err);
    CHECK_OK(t ? NINO_OK : err.code, err);
    write_run(t, N);
    CHECK_OK(nino_trace_finish(&t, &err), err);
    for (uint32_t version = 0; version <= NINO_OWN_FILE_VERSION + 1; version++) {
        FILE *f = fopen(path_of("old.ninotrace"), "r+b");
        CHECK(f && fseek(f, offsetof(nino_own_head, version), SEEK_SET) == 0);
        CHECK(fwrite(&version, sizeof(version), 1, f) == 1 && fclose(f) == 0);
        const bool is_known = version >= 1 && version <= NINO_OWN_FILE_VERSION;
        s.n = 0;
        const nino_status st = nino_own_read(path_of("old.ninotrace"), look, &s, NULL, &err);
        CHECK(st == (is_known ? NINO_OK : NINO_ERR_UNSUPPORTED) && s.n == (is_known ? N : 0u));
        if (version == 1) {
            CHECK_OK(nino_history_load(h, path_of("old.ninotrace"), &err), err);
            CHECK_OK(nino_trace_check(path_of("old.ninotrace"), &n, &err), err);
        }
    }
    is_old = false;
    CHECK(nino_history_bits(h, nino_history_find(h, "name 7")) == 16);
    nino_stats *work = nino_history_work_stats(h, 0, UINT64_MAX);
    n = nino_stats_ops(work, op, 64);
    CHECK(n == 150 && nino_stats_ops(nino_history_stats(h), op, 64) == 150);
    for (int i = 0; i < 64; i++)
        CHECK(isnan(op[i].requested) && !strchr(op[i].name, '/'));
    nino_stats_destroy(&work);
    nino_history_destroy(&h);
}

// Samples of versions 1 and 2: fields at fixed places behind the head of a record, zero for what
// was not known.
static void test_old_samples(void)
{
    static const float device[4] = { 37, 2900, NAN, 54 };
    static const uint64_t device_bytes[3] = { 0, 98765432100, 65536 };
    static const uint32_t host[6] = { 512, 98304, 131072, 0, 0, 2100 };
    static const float clocks[3] = { 23, NAN, 1000 };
    static const uint16_t tail[2] = { 5, 3 };
    static const struct {
        nino_counter_id id;
        double v;
    } want[] = { { NINO_COUNTER_GPU_BUSY, 37 },
                 { NINO_COUNTER_GPU_CLOCK, 2900 },
                 { NINO_COUNTER_GPU_POWER, NAN },
                 { NINO_COUNTER_GPU_TEMPERATURE, 54 },
                 { NINO_COUNTER_VRAM_USED, NAN },
                 { NINO_COUNTER_GTT_USED, 98765432100 },
                 { NINO_COUNTER_RAM_AVAILABLE, 65536 },
                 { NINO_COUNTER_VRAM_TOTAL, 512 * 1048576.0 },
                 { NINO_COUNTER_GTT_TOTAL, 98304 * 1048576.0 },
                 { NINO_COUNTER_RAM_TOTAL, 131072 * 1048576.0 },
                 { NINO_COUNTER_SWAP_USED, NAN },
                 { NINO_COUNTER_PROCESS_RAM, 2100 * 1048576.0 },
                 { NINO_COUNTER_CPU_BUSY, 23 },
                 { NINO_COUNTER_FABRIC_CLOCK, NAN },
                 { NINO_COUNTER_MEMORY_CLOCK, 1000 },
                 { NINO_COUNTER_GPU_THROTTLE, 5 },
                 { NINO_COUNTER_GTT_OTHERS, 3 * 4194304.0 } };
    nino_event ev[3] = { { .t_ns = 1000, .kind = NINO_EV_DEVICE },
                         { .t_ns = 1001, .kind = NINO_EV_HOST },
                         { .t_ns = 1002, .kind = NINO_EV_LOST, .u.lost = 9 } };
    memcpy(&ev[0].u, device, sizeof(device));
    memcpy((char *) &ev[0].u + 16, device_bytes, sizeof(device_bytes));
    memcpy(&ev[1].u, host, sizeof(host));
    memcpy((char *) &ev[1].u + 24, clocks, sizeof(clocks));
    memcpy((char *) &ev[1].u + 36, tail, sizeof(tail));
    nino_trace *t = nino_trace_create(path_of("samples.ninotrace"), &err);
    CHECK_OK(t ? NINO_OK : err.code, err);
    nino_trace_add(t, ev, 3, name_of, NULL);
    CHECK_OK(nino_trace_finish(&t, &err), err);
    for (uint32_t version = 1; version <= 2; version++) {
        size_t n;
        FILE *f = fopen(path_of("samples.ninotrace"), "r+b");
        CHECK(f && fseek(f, offsetof(nino_own_head, version), SEEK_SET) == 0);
        CHECK(fwrite(&version, sizeof(version), 1, f) == 1 && fclose(f) == 0);
        nino_history *h = nino_history_create(0);
        CHECK_OK(nino_history_load(h, path_of("samples.ninotrace"), &err), err);
        for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
            const nino_reading *r = nino_history_counter(h, want[i].id, &n);
            CHECK(n == 1 && r->t_ns == (want[i].id <= NINO_COUNTER_RAM_AVAILABLE ? 1000 : 1001));
            CHECK(isnan(want[i].v) ? isnan(r->value) : r->value == want[i].v);
        }
        CHECK(nino_history_lost(h) == 9);
        nino_history_destroy(&h);
    }
}

static void to_trace(void *trace, const nino_event *ev, size_t n,
                     const char *(*name)(void *priv, uint32_t id), void *priv)
{
    nino_trace_add(trace, ev, n, name, priv);
}

static void test_chrome(const char *from, size_t kernels)
{
    char in[128];
    snprintf(in, sizeof(in), "%s", path_of(from));
    nino_trace *t = nino_trace_create(path_of("a.json"), &err);
    CHECK_OK(t ? NINO_OK : err.code, err);
    CHECK_OK(nino_trace_read(in, to_trace, t, &err), err);
    CHECK_OK(nino_trace_finish(&t, &err), err);
    uint64_t n = 0;
    CHECK_OK(nino_trace_check(path_of("a.json"), &n, &err), err);
    CHECK(n > kernels);
    nino_history *h = nino_history_create(0);
    CHECK_OK(nino_history_load(h, in, &err), err);
    size_t n_slices;
    nino_history_slices(h, 256, &n_slices);
    CHECK(n_slices == kernels);
    nino_history_destroy(&h);
}

// The writer dies without a chance to do anything.
static void test_killed(void)
{
    int fd[2];
    char c;
    CHECK(pipe(fd) == 0);
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        nino_trace *t = nino_trace_create(path_of("k.ninotrace"), NULL);
        write_run(t, 2500); // two whole batches
        if (write(fd[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    CHECK(read(fd[0], &c, 1) == 1);
    CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
    close(fd[0]);
    close(fd[1]);
    seen s = { 0 };
    bool is_whole = true;
    CHECK_OK(nino_own_read(path_of("k.ninotrace"), look, &s, &is_whole, &err), err);
    CHECK(s.n >= 2048 && s.n <= 2500 && !is_whole);
    test_chrome("k.ninotrace", s.n - 1);
}

static char *slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    CHECK(f && fseek(f, 0, SEEK_END) == 0);
    *n = (size_t) ftell(f);
    rewind(f);
    char *p = malloc(*n + 1);
    CHECK(p && fread(p, 1, *n, f) == *n);
    fclose(f);
    return p;
}

static void put(const char *name, const char *p, size_t n)
{
    FILE *f = fopen(path_of(name), "wb");
    CHECK(f && fwrite(p, 1, n, f) == n);
    fclose(f);
}

// Cut anywhere: the records before are there. A wrong byte anywhere: an error, or what came before.
static void test_cuts(void)
{
    size_t n, last = 0;
    char *p = slurp(path_of("a.ninotrace"), &n);
    for (size_t cut = 0; cut < n;
         cut += cut < sizeof(nino_own_head) + 100 || cut > n - 100 ? 1 : 97) {
        seen s = { 0 };
        put("cut.ninotrace", p, cut);
        const nino_status st = nino_own_read(path_of("cut.ninotrace"), look, &s, NULL, &err);
        CHECK(cut < sizeof(nino_own_head) ? st == NINO_ERR_FORMAT : st == NINO_OK);
        CHECK(s.n >= last);
        last = s.n;
    }
    CHECK(last == N); // all but the mark of the end
    for (size_t i = 0; i < n; i += 61) {
        seen s = { 0 };
        p[i] ^= 0x41;
        put("cut.ninotrace", p, n);
        const nino_status st = nino_own_read(path_of("cut.ninotrace"), look, &s, NULL, &err);
        // the head has fields that nobody checks: the process, the time, the producer
        CHECK(st != NINO_OK || s.n <= N);
        CHECK(i < sizeof(nino_own_head) || i + sizeof(nino_own_block) >= n ||
              st == NINO_ERR_FORMAT);
        p[i] ^= 0x41;
    }
    free(p);
}

static void test_paths(void)
{
    CHECK(!nino_own_create(dir, false, &err) && err.code == NINO_ERR_IO);
    CHECK(!nino_own_create(path_of("a.json/a.ninotrace"), false, &err) && err.where[0]);
    seen s = { 0 };
    CHECK(nino_own_read(path_of("none"), look, &s, NULL, &err) == NINO_ERR_MISSING);
    CHECK(!nino_own_is(path_of("a.json")) && nino_own_is(path_of("a.ninotrace")));
    nino_trace *t = nino_trace_create(path_of("gone.ninotrace"), &err);
    CHECK_OK(t ? NINO_OK : err.code, err);
    nino_trace_abort(&t);
    CHECK(access(path_of("gone.ninotrace"), F_OK) != 0);
}

int main(void)
{
    snprintf(dir, sizeof(dir), "/tmp/nino-raw-XXXXXX");
    CHECK(mkdtemp(dir));
    test_whole();
    test_chrome("a.ninotrace", N - 2);
    test_killed();
    test_cuts();
    test_versions();
    test_old_samples();
    test_paths();
    char cmd[100];
    snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
    CHECK(system(cmd) == 0);
    return 0;
}
