// The program cache: what it must give back, and every state of its folder in which it must not.
#include "core/base/vars.h"
#include "cl/runtime.h"
#include "tests/test.h"

#include <fcntl.h>
#include <sys/stat.h>

static char base[] = "/tmp/ninodes-cache-XXXXXX";
static char dir[256], kernels[288], entry[512];
static const char payload[] = "not really a program, but 35 bytes";
static nino_cl_key key;
static int n_lines; // of the log

static void count_line(void *priv, nino_log_level level, const char *line)
{
    (void) priv;
    (void) level;
    (void) line;
    n_lines++;
}
static const nino_log note = { count_line, NULL, NINO_LOG_WARN };

static void run(const char *command, const char *path, const char *rest)
{
    char line[1024];
    snprintf(line, sizeof(line), "%s %s%s", command, path, rest);
    CHECK(system(line) == 0);
}

static void fresh(void)
{
    run("rm -rf", base, "/*");
    snprintf(dir, sizeof(dir), "%s/ninodes", base);
    snprintf(kernels, sizeof(kernels), "%s/kernels", dir);
}

// A cache with one entry, whose file name goes to `entry`.
static void filled(void)
{
    fresh();
    nino_cl_cache *c = nino_cl_cache_open(dir, 0, &note);
    CHECK(c);
    nino_cl_cache_put(c, &key, payload, sizeof(payload));
    nino_cl_cache_close(&c);
    char hex[65];
    for (size_t i = 0; i < sizeof(key.sha); i++)
        snprintf(hex + 2 * i, 3, "%02x", key.sha[i]);
    snprintf(entry, sizeof(entry), "%s/%s.bin", kernels, hex);
    CHECK(access(entry, R_OK) == 0);
}

// Whether the entry is found, and found right.
static bool hits(void)
{
    nino_cl_cache *c = nino_cl_cache_open(dir, 0, &note);
    if (!c)
        return false;
    size_t n = 0;
    char *data = nino_cl_cache_get(c, &key, &n);
    const bool is_hit = data != NULL;
    if (data) {
        CHECK(n == sizeof(payload));
        CHECK(!memcmp(data, payload, n));
    }
    free(data);
    nino_cl_cache_close(&c);
    CHECK(!c);
    return is_hit;
}

static void poke(long offset, unsigned char flip)
{
    const int fd = open(entry, O_RDWR);
    unsigned char b;
    CHECK(fd >= 0);
    CHECK(pread(fd, &b, 1, offset) == 1);
    b ^= flip;
    CHECK(pwrite(fd, &b, 1, offset) == 1);
    close(fd);
}

static void test_round_trip(void)
{
    struct stat st;
    filled();
    CHECK(hits());
    CHECK(stat(dir, &st) == 0 && (st.st_mode & 0777) == 0700);
    CHECK(stat(kernels, &st) == 0 && (st.st_mode & 0777) == 0700);
    // A put over an entry replaces it; another key is a miss.
    nino_cl_cache *c = nino_cl_cache_open(dir, 0, &note);
    nino_cl_cache_put(c, &key, payload, sizeof(payload));
    nino_cl_key other = key;
    other.sha[31] ^= 1;
    size_t n;
    CHECK(!nino_cl_cache_get(c, &other, &n));
    nino_cl_cache_close(&c);
    nino_cl_cache_close(&c); // NULL is fine
    CHECK(hits());
    CHECK(n_lines == 0);
}

static void test_key(void)
{
    const char *const ab_c[] = { "ab", "c" }, *const a_bc[] = { "a", "bc" };
    const nino_cl_key x = nino_cl_hash(ab_c, 2), y = nino_cl_hash(a_bc, 2);
    const nino_cl_key z = nino_cl_hash(ab_c, 2);
    CHECK(memcmp(&x, &y, sizeof(x))); // where a part ends matters
    CHECK(!memcmp(&x, &z, sizeof(x)));
}

// Every truncation and every changed byte is a miss.
static void test_damage(void)
{
    struct stat st;
    filled();
    CHECK(stat(entry, &st) == 0);
    for (long i = 0; i < st.st_size; i++) {
        poke(i, 0x20);
        CHECK(!hits());
        poke(i, 0x20);
    }
    CHECK(hits());
    for (long n = st.st_size - 1; n >= 0; n--) {
        CHECK(truncate(entry, n) == 0);
        CHECK(!hits());
    }
    filled();
    run("printf x >>", entry, "");
    CHECK(!hits());
}

static void test_entry_is_not_ours(void)
{
    char other[512];
    filled(); // a link to a valid entry
    snprintf(other, sizeof(other), "%s/elsewhere", base);
    CHECK(rename(entry, other) == 0);
    CHECK(symlink(other, entry) == 0);
    CHECK(!hits());
    filled(); // others may write to it
    CHECK(chmod(entry, 0666) == 0);
    CHECK(!hits());
    CHECK(chmod(entry, 0620) == 0);
    CHECK(!hits());
    CHECK(chmod(entry, 0600) == 0);
    CHECK(hits());
    filled(); // not a file: opening must not wait either
    CHECK(unlink(entry) == 0);
    CHECK(mkfifo(entry, 0600) == 0);
    CHECK(!hits());
    CHECK(unlink(entry) == 0);
    CHECK(mkdir(entry, 0700) == 0);
    CHECK(!hits());
    // An entry of another key under this name.
    filled();
    nino_cl_key wrong = key;
    wrong.sha[0] ^= 0xff;
    nino_cl_cache *c = nino_cl_cache_open(dir, 0, &note);
    nino_cl_cache_put(c, &wrong, payload, sizeof(payload));
    nino_cl_cache_close(&c);
    CHECK(unlink(entry) == 0);
    char command[1200];
    snprintf(command, sizeof(command), "mv %s/*.bin %s", kernels, entry);
    CHECK(system(command) == 0);
    CHECK(!hits());
    if (geteuid() == 0) { // another owner
        filled();
        CHECK(chown(entry, 65534, 65534) == 0);
        CHECK(!hits());
    }
}

// Folders that are not ours alone are refused, and the log says why.
static void test_folder_is_not_ours(void)
{
    char real[512];
    const char *const both[] = { dir, kernels };
    for (int i = 0; i < 2; i++) {
        static const mode_t modes[] = { 0777, 0770, 0707, 0755, 0750, 0720, 0701 };
        for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++) {
            filled();
            n_lines = 0;
            CHECK(chmod(both[i], modes[m]) == 0);
            CHECK(!hits());
            CHECK(n_lines == 1);
        }
        filled(); // the folder is a link to a good folder
        snprintf(real, sizeof(real), "%s/real", base);
        CHECK(rename(both[i], real) == 0);
        CHECK(symlink(real, both[i]) == 0);
        n_lines = 0;
        CHECK(!hits());
        CHECK(n_lines == 1);
        if (geteuid() == 0) {
            filled();
            CHECK(chown(both[i], 65534, 65534) == 0);
            CHECK(!hits());
        }
        filled(); // not a folder
        run("rm -rf", both[i], "");
        run("touch", both[i], "");
        CHECK(!hits());
    }
    fresh(); // the parent may be a link and is made when absent
    char target[300], link[300];
    snprintf(target, sizeof(target), "%s/target", base);
    snprintf(link, sizeof(link), "%s/link", base);
    CHECK(mkdir(target, 0755) == 0);
    CHECK(symlink(target, link) == 0);
    snprintf(dir, sizeof(dir), "%s/link/a/ninodes", base);
    snprintf(kernels, sizeof(kernels), "%s/kernels", dir);
    n_lines = 0;
    nino_cl_cache *c = nino_cl_cache_open(dir, 0, &note);
    CHECK(c && n_lines == 0);
    nino_cl_cache_put(c, &key, payload, sizeof(payload));
    nino_cl_cache_close(&c);
    CHECK(hits());
}

// The entries used longest ago go first.
static void test_limit(void)
{
    fresh();
    static const char block[1000];
    nino_cl_cache *c = nino_cl_cache_open(dir, 0, &note);
    nino_cl_key k = key;
    for (int i = 0; i < 10; i++) {
        k.sha[0] = (uint8_t) i;
        nino_cl_cache_put(c, &k, block, sizeof(block));
        char path[512];
        snprintf(path, sizeof(path), "%s/%02x*.bin", kernels, i);
        char command[700]; // ages as numbers, so that nothing depends on the clock
        snprintf(command, sizeof(command), "touch -d @%d %s", 1000000 + i, path);
        CHECK(system(command) == 0);
    }
    size_t n;
    k.sha[0] = 0;
    free(nino_cl_cache_get(c, &k, &n)); // the oldest is used now
    nino_cl_cache_close(&c);
    c = nino_cl_cache_open(dir, 6000, &note);
    CHECK(c);
    for (int i = 0; i < 10; i++) {
        k.sha[0] = (uint8_t) i;
        void *data = nino_cl_cache_get(c, &k, &n);
        CHECK((data != NULL) == (i == 0 || i >= 6));
        free(data);
    }
    nino_cl_cache_close(&c);
}

static void test_cannot_write(void)
{
    if (geteuid() == 0)
        return; // root writes anywhere
    filled();
    CHECK(chmod(kernels, 0500) == 0);
    nino_cl_cache *c = nino_cl_cache_open(dir, 0, &note);
    CHECK(c);
    nino_cl_key k = key;
    k.sha[5] ^= 1;
    nino_cl_cache_put(c, &k, payload, sizeof(payload)); // does nothing
    size_t n;
    CHECK(!nino_cl_cache_get(c, &k, &n));
    nino_cl_cache_close(&c);
    CHECK(hits());
    CHECK(chmod(kernels, 0700) == 0);
}

// Old empty leftovers of PoCL go; new ones, full ones and everything else stay.
static void test_sweep_pocl(void)
{
    filled();
    run("mkdir", dir, "/pocl");
    run("touch -d @1000", dir, "/pocl/tempfile_old");
    run("touch -d @1000", dir, "/pocl/other");
    run("touch -d @9999999999", dir, "/pocl/tempfile_new");
    run("echo full >", dir, "/pocl/tempfile_full");
    run("touch -d @1000", dir, "/pocl/tempfile_full");
    nino_cl_cache *c = nino_cl_cache_open(dir, 0, &note);
    CHECK(c);
    nino_cl_cache_sweep_pocl(c);
    nino_cl_cache_close(&c);
    run("test ! -e", dir, "/pocl/tempfile_old");
    run("test -e", dir, "/pocl/other");
    run("test -e", dir, "/pocl/tempfile_new");
    run("test -s", dir, "/pocl/tempfile_full");
    CHECK(hits());
}

static void test_dir_choice(void)
{
    char out[64];
    CHECK(nino_cache_dir("/a/b//", out, sizeof(out)));
    CHECK_STR(out, "/a/b");
    CHECK(!nino_cache_dir("", out, sizeof(out)));
    unsetenv("NINODES_CACHE_DIR");
    setenv("XDG_CACHE_HOME", "/x", 1);
    CHECK(nino_cache_dir(NULL, out, sizeof(out)));
    CHECK_STR(out, "/x/ninodes");
    setenv("XDG_CACHE_HOME", "relative", 1); // to be ignored, says the XDG specification
    setenv("HOME", "/home/me", 1);
    CHECK(nino_cache_dir(NULL, out, sizeof(out)));
    CHECK_STR(out, "/home/me/.cache/ninodes");
    unsetenv("HOME");
    CHECK(!nino_cache_dir(NULL, out, sizeof(out)));
}

int main(void)
{
    static const char *const parts[] = { "source", "options", "device" };
    key = nino_cl_hash(parts, 3);
    CHECK(mkdtemp(base));
    test_dir_choice();
    test_key();
    test_round_trip();
    test_damage();
    test_entry_is_not_ours();
    test_folder_is_not_ours();
    test_limit();
    test_sweep_pocl();
    test_cannot_write();
    run("chmod -R u+rwx", base, "");
    run("rm -rf", base, "");
    return 0;
}
