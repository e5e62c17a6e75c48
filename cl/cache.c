// The cache of compiled programs. A cached program is code that will run in this process, so an
// entry is used only if the folder and the file belong to us, nobody else can write to them, no
// link was followed, and the key and the digest of the content agree. Any doubt is a miss.
#include "cl/runtime.h"

#include "core/base/file.h"
#include "core/base/vars.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ENTRY = 64 << 20 };
static const uint64_t default_max = (uint64_t) 512 << 20;

struct nino_cl_cache {
    int fd; // of DIR/kernels
    char path[4096 + 16];
};

// Before every entry's payload.
typedef struct header {
    char magic[8];
    uint64_t bytes; // of the payload
    uint8_t key[32], digest[32];
} header;
static const char magic[8] = "NINOCLB1";

nino_cl_key nino_cl_hash(const char *const *parts, size_t n)
{
    struct sha256_ctx sha;
    nino_cl_key key;
    sha256_init(&sha);
    for (size_t i = 0; i < n; i++) {
        const uint64_t len = strlen(parts[i]);
        sha256_update(&sha, sizeof(len), (const uint8_t *) &len);
        sha256_update(&sha, (size_t) len, (const uint8_t *) parts[i]);
    }
    sha256_digest(&sha, sizeof(key.sha), key.sha);
    return key;
}

// Ours, and nobody else may write.
static bool is_cache_ours(const struct stat *st, mode_t forbidden)
{
    return st->st_uid == geteuid() && !(st->st_mode & forbidden);
}

// Makes (0700) and opens folder `name` below `at` without following a link; -1: not to be trusted.
static int open_private(int at, const char *name, const char *path, const nino_log *log)
{
    struct stat st;
    if (mkdirat(at, name, 0700) && errno != EEXIST) {
        nino_logf(log, NINO_LOG_WARN, "no kernel cache: cannot make %s: %s", path, strerror(errno));
        return -1;
    }
    const int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        nino_logf(log, NINO_LOG_WARN, "no kernel cache: cannot open %s: %s", path, strerror(errno));
        return -1;
    }
    if (fstat(fd, &st) || !is_cache_ours(&st, 077)) {
        nino_logf(log, NINO_LOG_WARN,
                  "no kernel cache: %s must belong to you alone (mode 0700), it holds code", path);
        close(fd);
        return -1;
    }
    return fd;
}

// DIR's parent may be reached through links; DIR itself and what is inside may not.
static int open_folder(const char *dir, const nino_log *log)
{
    char parent[4096];
    int above = -1, own = -1, fd = -1;
    snprintf(parent, sizeof(parent), "%s", dir);
    char *slash = strrchr(parent, '/');
    const char *name = slash ? dir + (slash - parent) + 1 : dir;
    if (slash == parent)
        parent[1] = 0;
    else if (slash)
        *slash = 0;
    else
        snprintf(parent, sizeof(parent), ".");
    nino_error err;
    if (nino_file_mkdirs(parent, false, &err)) {
        nino_logf(log, NINO_LOG_WARN, "no kernel cache: %s: %s", parent, err.msg);
        return -1;
    }
    above = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above >= 0)
        own = open_private(above, name, dir, log);
    if (own >= 0)
        fd = open_private(own, "kernels", dir, log);
    if (above >= 0)
        close(above);
    if (own >= 0)
        close(own);
    return fd;
}

typedef struct entry {
    char name[80];
    uint64_t bytes;
    struct timespec used;
} entry;

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const entry *) a)->used, *y = &((const entry *) b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

// Removes the entries used longest ago until the rest fits.
static void limit_size(const nino_cl_cache *c, uint64_t max_bytes)
{
    entry *list = NULL;
    size_t n = 0, cap = 0;
    uint64_t sum = 0;
    const int copy = dup(c->fd);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    if (!d) {
        if (copy >= 0)
            close(copy);
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        struct stat st;
        const size_t len = strlen(e->d_name);
        if (len < 4 || len >= sizeof(list->name) || strcmp(e->d_name + len - 4, ".bin") ||
            fstatat(c->fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        if (n == cap) {
            cap = cap ? cap * 2 : 256;
            entry *more = realloc(list, cap * sizeof(*list));
            if (!more)
                break;
            list = more;
        }
        memcpy(list[n].name, e->d_name, len + 1);
        list[n].bytes = (uint64_t) st.st_size;
        list[n++].used = st.st_mtim;
        sum += (uint64_t) st.st_size;
    }
    closedir(d);
    if (n)
        qsort(list, n, sizeof(*list), by_use);
    for (size_t i = 0; i < n && sum > max_bytes; i++) {
        unlinkat(c->fd, list[i].name, 0);
        sum -= list[i].bytes;
    }
    free(list);
}

// The time by the clock that dates the files of a folder, which need not be that of this process.
static bool folder_time(int fd, time_t *now)
{
    struct stat st;
    const int file = openat(fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    const bool ok = file >= 0 && !fstat(file, &st);
    if (file >= 0)
        close(file);
    if (ok)
        *now = st.st_mtime;
    return ok;
}

void nino_cl_cache_sweep_pocl(const nino_cl_cache *c)
{
    const int fd = openat(c->fd, "../pocl", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    time_t now;
    if (!d || !folder_time(fd, &now)) {
        if (d)
            closedir(d);
        else if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        struct stat st;
        if (!strncmp(e->d_name, "tempfile_", 9) &&
            !fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
            !st.st_size && st.st_mtime < now - 3600)
            unlinkat(fd, e->d_name, 0);
    }
    closedir(d);
}

nino_cl_cache *nino_cl_cache_open(const char *dir, uint64_t max_bytes, const nino_log *log)
{
    nino_cl_cache *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->fd = open_folder(dir, log);
    if (c->fd < 0) {
        free(c);
        return NULL;
    }
    snprintf(c->path, sizeof(c->path), "%s/kernels", dir);
    limit_size(c, max_bytes ? max_bytes : default_max);
    return c;
}

bool nino_cl_cache_keeps(const nino_cl_cache *c)
{
    struct stat st;
    return !flock(c->fd, LOCK_EX | LOCK_NB) && !fstat(c->fd, &st) && st.st_nlink;
}

void nino_cl_cache_close(nino_cl_cache **c)
{
    if (!*c)
        return;
    close((*c)->fd);
    free(*c);
    *c = NULL;
}

static void entry_name(const nino_cl_key *key, char out[80])
{
    for (size_t i = 0; i < sizeof(key->sha); i++)
        snprintf(out + 2 * i, 3, "%02x", key->sha[i]);
    memcpy(out + 2 * sizeof(key->sha), ".bin", 5);
}

static void digest_of(const void *data, size_t bytes, uint8_t out[32])
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    sha256_update(&sha, bytes, data);
    sha256_digest(&sha, 32, out);
}

// The payload, or NULL on any doubt.
static void *cache_read_entry(int fd, const nino_cl_key *key, size_t *bytes)
{
    struct stat st;
    header h;
    uint8_t digest[32];
    nino_error err;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !is_cache_ours(&st, 022) ||
        st.st_size < (off_t) sizeof(h) || st.st_size > MAX_ENTRY ||
        nino_file_pread(fd, &h, sizeof(h), 0, "kernel cache", &err))
        return NULL;
    if (memcmp(h.magic, magic, sizeof(magic)) || memcmp(h.key, key->sha, sizeof(h.key)) ||
        h.bytes != (uint64_t) st.st_size - sizeof(h) || !h.bytes)
        return NULL;
    void *data = malloc(h.bytes);
    if (!data)
        return NULL;
    if (!nino_file_pread(fd, data, h.bytes, sizeof(h), "kernel cache", &err)) {
        digest_of(data, h.bytes, digest);
        if (!memcmp(digest, h.digest, sizeof(digest))) {
            *bytes = h.bytes;
            return data;
        }
    }
    free(data);
    return NULL;
}

void *nino_cl_cache_get(nino_cl_cache *c, const nino_cl_key *key, size_t *bytes)
{
    char name[80];
    entry_name(key, name);
    const int fd = openat(c->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    void *data = cache_read_entry(fd, key, bytes);
    if (data)
        futimens(fd, NULL); // used now
    close(fd);
    return data;
}

void nino_cl_cache_put(nino_cl_cache *c, const nino_cl_key *key, const void *data, size_t bytes)
{
    header h = { .bytes = bytes };
    char name[80];
    nino_file_writer *w = NULL;
    if (bytes > MAX_ENTRY - sizeof(h))
        return;
    memcpy(h.magic, magic, sizeof(magic));
    memcpy(h.key, key->sha, sizeof(h.key));
    digest_of(data, bytes, h.digest);
    entry_name(key, name);
    // A cache that cannot be written costs time, not correctness.
    if (!nino_file_writer_open(c->path, name, true, &w, NULL) &&
        !nino_file_writer_write(w, &h, sizeof(h), NULL) &&
        !nino_file_writer_write(w, data, bytes, NULL))
        nino_file_writer_commit(&w, false, NULL);
    nino_file_writer_abort(&w);
}
