// Safe files: names from workflows, whole-or-nothing writing, leftovers, folders.
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/parallel.h"
#include "tests/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

static char top[256]; // a folder of our own
static nino_error err;

static const char *in(const char *name)
{
    static char path[4][512];
    static int k;
    k = (k + 1) % 4;
    snprintf(path[k], sizeof(path[k]), "%s/%s", top, name);
    return path[k];
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(in(name), "wb");
    CHECK(f && fputs(text, f) >= 0 && !fclose(f));
}

static void check_content(const char *name, const char *expect)
{
    char *data = NULL;
    size_t len = 0;
    CHECK_OK(nino_file_read(in(name), 1 << 20, false, &data, &len, &err), err);
    CHECK(len == strlen(expect));
    CHECK_STR(data, expect);
    free(data);
}

static int count_files(const char *sub)
{
    int n = 0;
    DIR *d = opendir(in(sub));
    CHECK(d);
    for (struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(d);
    return n;
}

static int remove_one(const char *path, const struct stat *s, int flag, struct FTW *ftw)
{
    (void) s, (void) flag, (void) ftw;
    return remove(path);
}

static void test_names(void)
{
    static const char *const good[] = { "a",   "a.txt",   "sub/b.txt", "a..b",
                                        "...", ".hidden", "a~",        "\xc3\xa9/\xe2\x82\xac",
                                        "a b", "-x" };
    static const char *const bad[] = { "",
                                       ".",
                                       "..",
                                       "../x",
                                       "a/..",
                                       "a/../b",
                                       "a/./b",
                                       "./a",
                                       "/a",
                                       "//a",
                                       "a/",
                                       "a//b",
                                       "~/x",
                                       "~root",
                                       "a\nb",
                                       "a\x7f",
                                       "a\\b",
                                       "..\\x",
                                       "\xff",
                                       "a\x1b[m",
                                       "http://x/y",
                                       "/dev/sda",
                                       "/proc/self/environ" };
    char name[1100];
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        CHECK_OK(nino_file_check_name(good[i], &err), err);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK(nino_file_check_name(bad[i], &err) == NINO_ERR_RANGE);
        CHECK_STR(err.kind, "path");
    }
    memset(name, 'a', sizeof(name));
    name[256] = 0;
    CHECK(nino_file_check_name(name, &err) == NINO_ERR_RANGE); // a part of 256 bytes
    name[255] = 0;
    CHECK_OK(nino_file_check_name(name, &err), err);
    memset(name, 'a', sizeof(name));
    for (size_t i = 100; i < sizeof(name); i += 100)
        name[i] = '/';
    name[1025] = 0;
    CHECK(nino_file_check_name(name, &err) == NINO_ERR_RANGE);
    name[1024] = 0;
    CHECK_OK(nino_file_check_name(name, &err), err);
}

static void test_open_below(void)
{
    static const struct {
        const char *name;
        nino_status st;
        const char *kind;
    } t[] = {
        { "a.txt", NINO_OK, NULL },
        { "sub/b.txt", NINO_OK, NULL },
        { "sub/../a.txt", NINO_ERR_RANGE, "path" },
        { "../x", NINO_ERR_RANGE, "path" },
        { "../../etc/passwd", NINO_ERR_RANGE, "path" },
        { "/etc/passwd", NINO_ERR_RANGE, "path" },
        { "link_to_sub/b.txt", NINO_OK, NULL }, // links are the user's own
        { "link_to_h/a.txt", NINO_OK, NULL },
        { "inner", NINO_OK, NULL },
        { "outer", NINO_OK, NULL },
        { "link_to_sub/../a.txt", NINO_ERR_RANGE, "path" },
        { "link_to_sub", NINO_ERR_RANGE, "path" },
        { "link_to_fifo", NINO_ERR_RANGE, "path" },
        { "dangling", NINO_ERR_MISSING, "missing" },
        { "circle", NINO_ERR_RANGE, "path" },
        { "fifo", NINO_ERR_RANGE, "path" },
        { "socket", NINO_ERR_RANGE, "path" },
        { "dir", NINO_ERR_RANGE, "path" },
        { "", NINO_ERR_RANGE, "path" },
        { "a\nb", NINO_ERR_RANGE, "path" },
        { "..\\x", NINO_ERR_RANGE, "path" },
        { "sub/../../out/a.txt", NINO_ERR_RANGE, "path" },
        { "nope", NINO_ERR_MISSING, "missing" },
        { "nope/a.txt", NINO_ERR_MISSING, "missing" },
        { "a.txt/b", NINO_ERR_MISSING, "missing" },
    };
    CHECK(!mkdir(in("out"), 0755) && !mkdir(in("out/sub"), 0755) && !mkdir(in("out/dir"), 0755));
    put("out/a.txt", "hi");
    put("out/sub/b.txt", "ho");
    put("x", "outside");
    CHECK(!mkdir(in("h"), 0755));
    put("h/a.txt", "hu");
    CHECK(!symlink("../h", in("out/link_to_h")) && !symlink("sub", in("out/link_to_sub")));
    CHECK(!symlink("../h/a.txt", in("out/outer")) && !symlink("a.txt", in("out/inner")));
    CHECK(!symlink("nowhere", in("out/dangling")) && !symlink("circle", in("out/circle")));
    CHECK(!symlink("fifo", in("out/link_to_fifo")) && !mkfifo(in("out/fifo"), 0644));
    struct sockaddr_un sa = { .sun_family = AF_UNIX };
    snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", in("out/socket"));
    const int s = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(s >= 0 && !bind(s, (const struct sockaddr *) &sa, sizeof(sa)));
    close(s);
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        int fd = -1;
        const nino_status st = nino_file_open_below(in("out"), t[i].name, &fd, &err);
        if (st != t[i].st)
            fprintf(stderr, "%s: %s\n", t[i].name, st ? err.msg : "opened");
        CHECK(st == t[i].st && (st == NINO_OK) == (fd >= 0));
        if (st) {
            CHECK_STR(err.kind, t[i].kind);
            continue;
        }
        char c[2];
        CHECK_OK(nino_file_pread(fd, c, 2, 0, t[i].name, &err), err);
        CHECK(c[0] == 'h');
        CHECK(nino_file_pread(fd, c, 2, 1, t[i].name, &err) == NINO_ERR_IO);
        CHECK_STR(err.kind, "truncated");
        CHECK(nino_file_pread(fd, c, 1, UINT64_MAX, t[i].name, &err) == NINO_ERR_IO);
        CHECK_STR(err.kind, "truncated");
        CHECK_OK(nino_file_pread(fd, c, 0, 2, t[i].name, &err), err);
        close(fd);
    }
    // the folder itself is the user's: it may be a link
    int fd = -1;
    CHECK_OK(nino_file_open_below(in("out/link_to_sub"), "b.txt", &fd, &err), err);
    close(fd);
    CHECK(nino_file_open_below(in("no"), "b.txt", &fd, &err) == NINO_ERR_MISSING);
    CHECK(!chdir(in("out")));
    CHECK_OK(nino_file_open_below("", "sub/b.txt", &fd, &err), err);
    close(fd);
    CHECK(nino_file_open_below(NULL, "../x", &fd, &err) == NINO_ERR_RANGE);
}

static void test_read(void)
{
    char *data = (char *) "untouched";
    size_t len = 7;
    check_content("x", "outside");
    CHECK_OK(nino_file_read(in("x"), 7, false, &data, &len, &err), err);
    free(data);
    data = NULL;
    CHECK(nino_file_read(in("x"), 6, false, &data, &len, &err) == NINO_ERR_FORMAT && !data);
    CHECK_STR(err.kind, "limit");
    CHECK(nino_file_read(in("nope"), 6, false, &data, &len, &err) == NINO_ERR_MISSING);
    CHECK(nino_file_read(in("out"), 6, false, &data, &len, &err) == NINO_ERR_IO);
    CHECK(nino_file_read(in("out/fifo"), 6, false, &data, &len, &err) == NINO_ERR_IO); // no waiting
    CHECK(nino_file_read("-", 6, false, &data, &len, &err) == NINO_ERR_MISSING);
    put("empty", "");
    check_content("empty", "");
    // a file whose size the kernel does not tell
    CHECK_OK(nino_file_read("/proc/self/maps", 1 << 20, false, &data, &len, &err), err);
    CHECK(len > 100 && strlen(data) == len);
    free(data);
    data = NULL;
    CHECK(nino_file_read("/proc/self/maps", 100, false, &data, &len, &err) == NINO_ERR_FORMAT);

    // standard input: a pipe, longer than the first buffer
    nino_buf b = { 0 };
    for (int i = 0; i < 30000; i++)
        nino_buf_addf(&b, "%d,", i);
    int p[2];
    const int in_fd = dup(0);
    CHECK(!pipe(p));
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        close(p[0]);
        for (size_t i = 0; i < b.len;) {
            const ssize_t k = write(p[1], b.data + i, b.len - i > 1000 ? 1000 : b.len - i);
            if (k <= 0)
                _exit(1);
            i += (size_t) k;
        }
        _exit(0);
    }
    close(p[1]);
    CHECK(dup2(p[0], 0) == 0 && !close(p[0]));
    CHECK_OK(nino_file_read("-", 1 << 20, true, &data, &len, &err), err);
    CHECK(len == b.len && !memcmp(data, b.data, len));
    free(data);
    CHECK(dup2(in_fd, 0) == 0 && !close(in_fd) && waitpid(pid, NULL, 0) == pid);
    nino_buf_release(&b);
}

static void test_writer(void)
{
    nino_file_writer *w = NULL;
    CHECK(!mkdir(in("w"), 0755));
    CHECK_OK(nino_file_save(in("w"), "a/b/c.txt", true, "one", 3, &err), err);
    check_content("w/a/b/c.txt", "one");
    CHECK(count_files("w/a/b") == 1);
    CHECK_OK(nino_file_save(in("w"), "a/b/c.txt", true, "", 0, &err), err);
    check_content("w/a/b/c.txt", "");
    CHECK_OK(nino_file_save(NULL, in("w/abs/d.txt"), false, "x", 1, &err), err);
    check_content("w/abs/d.txt", "x");
    CHECK_OK(nino_file_save(in("w/abs"), "../e.txt", false, "y", 1, &err), err);
    check_content("w/e.txt", "y");

    // nothing is there before the commit, and nothing is left of an abort
    CHECK_OK(nino_file_writer_open(in("w"), "f.txt", true, &w, &err), err);
    CHECK_OK(nino_file_writer_write(w, "ab", 2, &err), err);
    CHECK(access(in("w/f.txt"), F_OK) && count_files("w") == 4);
    nino_file_writer_abort(&w);
    CHECK(!w && count_files("w") == 3);
    nino_file_writer_abort(&w);
    nino_file_writer_abort(NULL);

    // exclusive
    CHECK_OK(nino_file_writer_open(in("w"), "e.txt", true, &w, &err), err);
    CHECK_OK(nino_file_writer_write(w, "new", 3, &err), err);
    CHECK(nino_file_writer_commit(&w, true, &err) == NINO_ERR_IO && !w);
    CHECK_STR(err.kind, "exists");
    check_content("w/e.txt", "y");
    CHECK_OK(nino_file_writer_open(in("w"), "g.txt", true, &w, &err), err);
    CHECK_OK(nino_file_writer_commit(&w, true, &err), err);
    check_content("w/g.txt", "");
    CHECK(count_files("w") == 4);

    // named at once: read while it is written, gone after abort
    for (int is_kept = 0; is_kept < 2; is_kept++) {
        CHECK_OK(nino_file_writer_open(in("w"), "g.txt", true, &w, &err), err);
        CHECK_OK(nino_file_writer_write(w, "a", 1, &err), err);
        check_content("w/g.txt", "");
        CHECK_OK(nino_file_writer_place(w, &err), err);
        CHECK_OK(nino_file_writer_write(w, "b", 1, &err), err);
        check_content("w/g.txt", "ab");
        CHECK(count_files("w") == 4);
        if (is_kept) {
            CHECK_OK(nino_file_writer_commit(&w, false, &err), err);
            check_content("w/g.txt", "ab");
        } else {
            nino_file_writer_abort(&w);
            CHECK(count_files("w") == 3);
            CHECK_OK(nino_file_save(in("w"), "g.txt", true, "", 0, &err), err);
        }
    }

    // refused targets
    static const char *const bad[] = { "../x", "/tmp/x", "a/../../x", "a\nb", "", "a/" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK(nino_file_save(in("w"), bad[i], true, "x", 1, &err) == NINO_ERR_RANGE);
        CHECK_STR(err.kind, "path");
    }
    CHECK(nino_file_save(in("w"), "a/", false, "x", 1, &err) == NINO_ERR_RANGE);
    CHECK(!symlink("e.txt", in("w/link")) && !symlink("/tmp", in("w/linkdir")));
    CHECK(nino_file_save(in("w"), "link", true, "x", 1, &err) == NINO_ERR_RANGE);
    CHECK(nino_file_save(in("w"), "linkdir/x", true, "x", 1, &err) == NINO_ERR_RANGE);
    CHECK(nino_file_save(in("w"), "linkdir/sub/x", true, "x", 1, &err) == NINO_ERR_RANGE);
    CHECK_STR(err.kind, "path");
    CHECK(access("/tmp/sub", F_OK));
    CHECK(nino_file_save(in("w"), "a/b", true, "x", 1, &err) == NINO_ERR_RANGE); // a folder
    CHECK(nino_file_save(NULL, "/dev/null", false, "x", 1, &err) == NINO_ERR_IO);
    CHECK(nino_file_save(in("nodir"), "x", true, "x", 1, &err) == NINO_ERR_MISSING);
    check_content("w/e.txt", "y");

    // the temporary name of a name of full length
    nino_buf name = { 0 };
    for (int i = 0; i < 255; i++)
        nino_buf_addc(&name, 'n');
    CHECK_OK(nino_file_save(in("w"), name.data, true, "long", 4, &err), err);
    nino_buf_release(&name);
}

// A write that fails half-way: a clean error, the old file as it was, no temporary file.
static void test_no_room(void)
{
    const int before = count_files("w");
    const pid_t pid = fork(); // the limit is the process's
    CHECK(pid >= 0);
    if (!pid) {
        static const char zeros[100000];
        const struct rlimit lim = { 65536, 65536 };
        nino_file_writer *w = NULL;
        signal(SIGXFSZ, SIG_IGN);
        CHECK(!setrlimit(RLIMIT_FSIZE, &lim));
        CHECK(nino_file_save(in("w"), "e.txt", true, zeros, sizeof(zeros), &err) == NINO_ERR_IO);
        CHECK_OK(nino_file_writer_open(in("w"), "e.txt", true, &w, &err), err);
        CHECK(nino_file_writer_write(w, zeros, sizeof(zeros), &err) == NINO_ERR_IO);
        CHECK(nino_file_writer_commit(&w, false, &err) == NINO_ERR_IO && !w);
        _exit(0);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status));
    check_content("w/e.txt", "y");
    CHECK(count_files("w") == before);
}

// A process that dies between the first write and the commit leaves the old file and a .part, which
// the next one that writes there removes; a .part of a living process and files of others stay.
static void test_killed(void)
{
    CHECK(!mkdir(in("k"), 0755) && !mkdir(in("k2"), 0755));
    put("k/out.png", "old");
    for (int step = 0; step < 3; step++) {
        const pid_t pid = fork();
        CHECK(pid >= 0);
        if (!pid) {
            nino_file_writer *w = NULL;
            if (nino_file_writer_open(in("k"), "out.png", true, &w, NULL))
                _exit(1);
            if (step > 0 && nino_file_writer_write(w, "new and", 7, NULL))
                _exit(1);
            if (step > 1)
                raise(SIGKILL);
            _exit(0);
        }
        int status;
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK(step > 1 ? WIFSIGNALED(status) : WIFEXITED(status) && !WEXITSTATUS(status));
        check_content("k/out.png", "old");
        CHECK(count_files("k") == 2); // the one before has gone
    }
    int ready[2], end[2];
    char byte;
    CHECK(!pipe(ready) && !pipe(end));
    const pid_t living = fork(); // another one, half-way
    CHECK(living >= 0);
    if (!living) {
        nino_file_writer *w = NULL;
        CHECK_OK(nino_file_writer_open(in("k2"), "x", true, &w, &err), err);
        CHECK(write(ready[1], "r", 1) == 1 && read(end[0], &byte, 1) == 1);
        _exit(nino_file_writer_commit(&w, false, NULL) != NINO_OK);
    }
    CHECK(read(ready[0], &byte, 1) == 1 && count_files("k2") == 1);
    static const char *const stay[] = { "x.part",
                                        ".part",
                                        ".x.1.1.part", // of another program
                                        ".x.999999.1.part",
                                        ".x.ninodes.part",
                                        ".x.1.ninodes.part",
                                        ".x.a.1.ninodes.part",
                                        "x.999999.1.ninodes.part",
                                        ".999999.1.ninodes.part",
                                        ".x.999999.1.ninodes.partx",
                                        ".x.999999.1.ninodes" };
    for (size_t i = 0; i < sizeof(stay) / sizeof(stay[0]); i++) {
        char name[64];
        snprintf(name, sizeof(name), "k/%s", stay[i]);
        put(name, "");
    }
    CHECK(!mkdir(in("k/.d.4194303.1.ninodes.part"), 0755) &&
          !symlink("out.png", in("k/.l.4194303.1.ninodes.part")));
    put("k/.1.2.1.1.ninodes.part", ""); // a process 1 is there wherever this runs
    const int before = count_files("k");
    nino_file_writer *w = NULL, *w2 = NULL;
    CHECK_OK(nino_file_writer_open(in("k"), "mine", true, &w, &err), err);
    CHECK(count_files("k") == before - 2 + 1);
    CHECK_OK(nino_file_writer_open(in("k2"), "mine", true, &w2, &err), err);
    CHECK(count_files("k2") == 2);
    for (size_t i = 0; i < sizeof(stay) / sizeof(stay[0]); i++) {
        char name[64];
        snprintf(name, sizeof(name), "k/%s", stay[i]);
        CHECK(!access(in(name), F_OK));
    }
    int status;
    CHECK(write(end[1], "e", 1) == 1 && waitpid(living, &status, 0) == living && !status);
    CHECK_OK(nino_file_writer_commit(&w2, false, &err), err);
    CHECK(count_files("k2") == 2); // x and mine
    CHECK_OK(nino_file_writer_commit(&w, false, &err), err);
    check_content("k/mine", "");
    check_content("k/out.png", "old");
}

// Readers see the old or the new content, whole.
static void test_concurrent(void)
{
    enum { SIZE = 50000, ROUNDS = 200 };
    static char a[SIZE], b[SIZE];
    memset(a, 'a', SIZE);
    memset(b, 'b', SIZE);
    CHECK(!mkdir(in("c"), 0755));
    CHECK_OK(nino_file_save(in("c"), "f", true, a, SIZE, &err), err);
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        for (int i = 0; i < ROUNDS; i++)
            if (nino_file_save(in("c"), "f", true, i & 1 ? a : b, SIZE, NULL))
                _exit(1);
        _exit(0);
    }
    int status, reads = 0;
    do {
        char *data = NULL;
        size_t len = 0;
        CHECK_OK(nino_file_read(in("c/f"), SIZE, false, &data, &len, &err), err);
        CHECK(len == SIZE && (!memcmp(data, a, SIZE) || !memcmp(data, b, SIZE)));
        free(data);
        reads++;
    } while (!waitpid(pid, &status, WNOHANG));
    CHECK(WIFEXITED(status) && !WEXITSTATUS(status) && reads > 0);
    CHECK(count_files("c") == 1);
}

static void test_mkdirs(void)
{
    struct stat s;
    umask(022);
    CHECK_OK(nino_file_mkdirs(in("m/a//b/"), false, &err), err);
    CHECK(!stat(in("m/a/b"), &s) && (s.st_mode & 07777) == 0755);
    CHECK_OK(nino_file_mkdirs(in("m/a/b"), false, &err), err);
    CHECK_OK(nino_file_mkdirs(in("m/p/q"), true, &err), err);
    CHECK(!stat(in("m/p/q"), &s) && (s.st_mode & 07777) == 0700);
    put("m/file", "");
    CHECK(nino_file_mkdirs(in("m/file/x"), false, &err) != NINO_OK);
    CHECK(nino_file_mkdirs(in("m/file"), false, &err) != NINO_OK);
    // links: our own on the way are fine, as the last part of a private folder they are not
    CHECK(!symlink("p", in("m/link")));
    CHECK_OK(nino_file_mkdirs(in("m/link/r"), true, &err), err);
    CHECK_OK(nino_file_mkdirs(in("m/link"), false, &err), err);
    CHECK(nino_file_mkdirs(in("m/link"), true, &err) == NINO_ERR_RANGE);
    CHECK(nino_file_mkdirs(in("m/link/"), true, &err) == NINO_ERR_RANGE);
    CHECK_STR(err.kind, "path");
    if (getuid() == 0) {
        CHECK(!lchown(in("m/link"), 1234, 1234));
        CHECK(nino_file_mkdirs(in("m/link/r"), true, &err) == NINO_ERR_RANGE);
        CHECK(!chown(in("m/p/q"), 1234, 1234));
        CHECK(nino_file_mkdirs(in("m/p/q"), true, &err) == NINO_ERR_IO);
        CHECK_STR(err.kind, "path");
    }
}

// ---- waiting for the disk ----------------------------------------------------------------------
// Clocks that stand, but for what a read takes: so long in all, so long of it on a processor.
static struct timespec wall, busy[2];
static _Thread_local int thread_number;
static bool has_clocks;
static int read_ms[2], copy_ms[2]; // of each thread

int clock_gettime(clockid_t id, struct timespec *t)
{
    if (!has_clocks)
        return (int) syscall(SYS_clock_gettime, id, t);
    *t = id == CLOCK_THREAD_CPUTIME_ID ? busy[thread_number] : wall;
    return 0;
}

static void pass(struct timespec *t, int ms) { t->tv_nsec += ms * 1000000L; }

ssize_t pread(int fd, void *buf, size_t n, off_t off)
{
    if (has_clocks) {
        pass(&wall, read_ms[thread_number]);
        pass(&busy[thread_number], copy_ms[thread_number]);
    }
    return syscall(SYS_pread64, fd, buf, n, off);
}

static void read_one(void *priv, int64_t i)
{
    static atomic_int taken, done;
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    char c;
    (void) i;
    thread_number = atomic_fetch_add(&taken, 1);
    while (atomic_load(&taken) < 2) // each item has a thread of its own
        sched_yield();
    pthread_mutex_lock(&turn); // the clock is one
    CHECK_OK(nino_file_pread(*(int *) priv, &c, 1, 0, "a", &err), err);
    pthread_mutex_unlock(&turn);
    atomic_fetch_add(&done, 1);
    while (atomic_load(&done) < 2)
        sched_yield();
}

static void test_waiting(void)
{
    cpu_set_t set;
    char c[4];
    put("waited", "abcd");
    int fd = open(in("waited"), O_RDONLY);
    CHECK(fd >= 0);
    nino_file_set_waited_ns(0);
    has_clocks = true;
    read_ms[0] = 30, copy_ms[0] = 10; // 20 of it waited
    CHECK_OK(nino_file_pread(fd, c, 4, 0, "waited", &err), err);
    CHECK(nino_file_waited_ns() == 20000000);
    read_ms[0] = copy_ms[0] = 5; // the page cache had it
    CHECK_OK(nino_file_pread(fd, c, 4, 0, "waited", &err), err);
    CHECK(nino_file_waited_ns() == 20000000);
    CHECK(!sched_getaffinity(0, sizeof(set), &set));
    if (CPU_COUNT(&set) > 1) { // two at once, 40 and 20 ms: whoever waits for both waits for 30
        read_ms[0] = 40, read_ms[1] = 20, copy_ms[0] = copy_ms[1] = 0;
        nino_parallel(2, read_one, &fd);
        CHECK(nino_file_waited_ns() == 50000000);
    }
    has_clocks = false;
    thread_number = 0;
    CHECK(!close(fd));
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(top, sizeof(top), "%s/ninodes-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    CHECK(mkdtemp(top));
    test_names();
    test_open_below();
    test_read();
    test_writer();
    test_no_room();
    test_killed();
    test_concurrent();
    test_mkdirs();
    test_waiting();
    CHECK(!chdir("/") && !nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS));
    return 0;
}
