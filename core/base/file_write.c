// Outputs appear whole or not at all: a temporary file in the same folder, fsync, rename, fsync of
// the folder. A killed process leaves a ".NAME.PID.N.ninodes.part", which the next one that writes into
// the folder, or sweeps it, removes.
#include "core/base/file.h"

#include "core/base/error.h"
#include "core/base/file_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART ".ninodes.part"

struct nino_file_writer {
    int dir, fd;
    bool failed;            // a write failed: commit refuses
    bool is_placed;         // has its name already
    char *name;             // as given, for messages
    const char *base;       // its last part
    char tmp[NAME_MAX + 1]; // its name for now
};

// Holds a lock on it for as long as it is written: that is how sweep_parts() knows it from one that
// was left behind.
static bool temp_open(nino_file_writer *w)
{
    static unsigned counter;
    struct stat s;
    do {
        const unsigned n = __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
        if (w->fd >= 0) // swept before it was locked
            close(w->fd);
        snprintf(w->tmp, sizeof(w->tmp), ".%.200s.%d.%u" PART, w->base, (int) getpid(), n);
        w->fd = openat(w->dir, w->tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    } while (w->fd < 0 ? errno == EEXIST
                       : (flock(w->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) ||
                             (!fstat(w->fd, &s) && !s.st_nlink));
    return w->fd >= 0;
}

// ---- leftovers --------------------------------------------------------------------------------

// ".NAME.PID.N.ninodes.part"
static bool is_part(const char *name)
{
    const size_t len = strlen(name), n = strlen(PART);
    if (name[0] != '.' || len <= n || strcmp(name + len - n, PART))
        return false;
    const char *end = name + len - n;
    for (int i = 0; i < 2; i++) { // back over .N and .PID
        const char *p = end;
        while (p > name && p[-1] >= '0' && p[-1] <= '9')
            p--;
        if (p == end || p <= name + 1 || p[-1] != '.')
            return false;
        end = p - 1;
    }
    return end > name + 1;
}

// Removes what dead processes left in the folder. Errors are ignored.
static void sweep_parts(int folder)
{
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    if (!d && copy >= 0)
        close(copy);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat s;
        if (!is_part(e->d_name))
            continue;
        const int fd =
            openat(folder, e->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
            continue;
        if (!fstat(fd, &s) && S_ISREG(s.st_mode) && !flock(fd, LOCK_EX | LOCK_NB))
            unlinkat(folder, e->d_name, 0);
        close(fd);
    }
    if (d)
        closedir(d);
}

// The same when this process writes into the folder for the first time, or has since written into
// many others.
static void sweep_once(int folder)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        dev_t dev;
        ino_t ino;
    } swept[16];
    static unsigned next;
    struct stat s;
    bool is_new = !fstat(folder, &s);
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < 16 && is_new; i++)
        is_new = swept[i].ino != s.st_ino || swept[i].dev != s.st_dev;
    if (is_new) {
        swept[next % 16].dev = s.st_dev;
        swept[next++ % 16].ino = s.st_ino;
    }
    pthread_mutex_unlock(&lock);
    if (is_new)
        sweep_parts(folder);
}

void nino_file_sweep(const char *dir)
{
    const int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = folder < 0 ? NULL : fdopendir(folder);
    if (!d && folder >= 0)
        close(folder);
    if (d)
        sweep_once(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.' || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN))
            continue;
        const int below =
            openat(folder, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (below < 0)
            continue;
        sweep_once(below);
        close(below);
    }
    if (d)
        closedir(d);
}

// ---- writing ----------------------------------------------------------------------------------

// What a rename onto the name would replace must be a regular file: never /dev/null.
static nino_status check_target(nino_file_writer *w, bool below, nino_error *err)
{
    struct stat s;
    if (fstatat(w->dir, w->base, &s, below ? AT_SYMLINK_NOFOLLOW : 0) || S_ISREG(s.st_mode))
        return NINO_OK;
    return nino_fail_kind(err, below ? NINO_ERR_RANGE : NINO_ERR_IO, below ? "path" : "io", w->name,
                          "exists and is not a regular file");
}

static void writer_free(nino_file_writer **w)
{
    if ((*w)->fd >= 0)
        close((*w)->fd);
    if ((*w)->dir >= 0)
        close((*w)->dir);
    free((*w)->name);
    free(*w);
    *w = NULL;
}

nino_status nino_file_writer_open(const char *dir, const char *name, bool below,
                                  nino_file_writer **out, nino_error *err)
{
    int top = -1, parent = -1;
    nino_status st = NINO_OK;
    if (below && (st = nino_file_check_name(name, err)))
        return st;
    nino_file_writer *w = calloc(1, sizeof(*w));
    if (!w || !(w->name = strdup(name))) {
        free(w);
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    }
    w->dir = w->fd = -1;
    const char *slash = strrchr(w->name, '/');
    w->base = slash ? slash + 1 : w->name;
    if (!*w->base) {
        st = nino_fail_kind(err, NINO_ERR_RANGE, "path", name, "not the name of a file");
        goto end;
    }
    const char *from = name[0] == '/' ? "/" : dir && *dir ? dir : ".";
    if ((top = open(from, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0 ||
        (parent = nino_file_walk(top, w->name, (size_t) (w->base - w->name),
                                 below ? NINO_LINKS_NONE : NINO_LINKS_FOLLOW, 0777)) < 0 ||
        (w->dir = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
        st = nino_file_errno(err, name, "cannot open the folder");
        goto end;
    }
    if ((st = check_target(w, below, err)))
        goto end;
    sweep_once(w->dir);
    if (!temp_open(w))
        st = nino_file_errno(err, name, "cannot create");
end:
    if (parent >= 0)
        close(parent);
    if (top >= 0)
        close(top);
    if (st)
        writer_free(&w);
    else
        *out = w;
    return st;
}

nino_status nino_file_writer_write(nino_file_writer *w, const void *p, size_t n, nino_error *err)
{
    const char *s = p;
    while (n) {
        const ssize_t k = write(w->fd, s, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0) {
            w->failed = true;
            return nino_file_errno(err, w->name, "cannot write");
        }
        s += k;
        n -= (size_t) k;
    }
    return NINO_OK;
}

void nino_file_writer_abort(nino_file_writer **w)
{
    if (!w || !*w)
        return;
    unlinkat((*w)->dir, (*w)->tmp, 0);
    writer_free(w);
}

// rename() that fails with EEXIST; by a hard link where the file system knows no such flag.
static int rename_exclusive(int dir, const char *from, const char *to)
{
    if (!renameat2(dir, from, dir, to, RENAME_NOREPLACE))
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    return linkat(dir, from, dir, to, 0) ? -1 : unlinkat(dir, from, 0);
}

static nino_status file_write_flush(nino_file_writer *w, nino_error *err)
{
    if (w->failed)
        return nino_fail(err, NINO_ERR_IO, w->name, "an earlier write failed");
    return fsync(w->fd) ? nino_file_errno(err, w->name, "cannot write") : NINO_OK;
}

static nino_status file_write_place(nino_file_writer *w, const char *base, bool exclusive,
                                    nino_error *err)
{
    const int rc =
        exclusive ? rename_exclusive(w->dir, w->tmp, base) : renameat(w->dir, w->tmp, w->dir, base);
    if (rc && errno == EEXIST)
        return nino_fail_kind(err, NINO_ERR_IO, "exists", w->name, "the file exists already");
    if (rc)
        return nino_file_errno(err, w->name, "cannot write");
    (void) fsync(w->dir); // some file systems cannot; the file is in place
    return NINO_OK;
}

nino_status nino_file_writer_place(nino_file_writer *w, nino_error *err)
{
    const nino_status st = file_write_place(w, w->base, false, err);
    if (!st) {
        w->is_placed = true;
        snprintf(w->tmp, sizeof(w->tmp), "%s", w->base);
    }
    return st;
}

nino_status nino_file_writer_commit(nino_file_writer **pw, bool exclusive, nino_error *err)
{
    nino_file_writer *w = *pw;
    nino_status st = file_write_flush(w, err);
    // Before it is closed, which unlocks it: another process's sweep_parts() may have it then.
    if (!st && !w->is_placed)
        st = file_write_place(w, w->base, exclusive, err);
    if (st && !w->is_placed)
        nino_file_writer_abort(pw);
    else
        writer_free(pw);
    return st;
}

nino_status nino_file_writer_commit_as(nino_file_writer **pw, const char *base, nino_error *err)
{
    nino_error e = { 0 };
    nino_status st = file_write_flush(*pw, &e);
    if (!st)
        st = file_write_place(*pw, base, true, &e);
    if (st && err)
        *err = e;
    if (!st)
        writer_free(pw);
    else if (!e.kind || strcmp(e.kind, "exists"))
        nino_file_writer_abort(pw);
    return st;
}

int nino_file_writer_fd(const nino_file_writer *w) { return w->fd; }

nino_status nino_file_save(const char *dir, const char *name, bool below, const void *p, size_t n,
                           nino_error *err)
{
    nino_file_writer *w = NULL;
    nino_status st = nino_file_writer_open(dir, name, below, &w, err);
    if (!st)
        st = nino_file_writer_write(w, p, n, err);
    if (!st)
        st = nino_file_writer_commit(&w, false, err);
    nino_file_writer_abort(&w);
    return st;
}

nino_status nino_place_save(const char *path, const void *data, size_t bytes, nino_error *err)
{
    nino_error e = { 0 };
    const nino_status st = nino_file_save("", path, false, data, bytes, &e);
    return st ? nino_fail(err, st == NINO_ERR_NOMEM ? st : NINO_ERR_IO, path, "%s", e.msg)
              : NINO_OK;
}

// ---- looking ahead -----------------------------------------------------------------------------

enum { TRY_BYTES = 65536 }; // that a file system must have room for, if it is to count as not full

// Makes a file without a name in `dir` and writes into it; where the file system has no such files,
// one with a name.
static int try_to_write(const char *dir)
{
    static const char zeros[TRY_BYTES];
    nino_file_writer *w = NULL;
    int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600), e = 0;
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
        errno = EACCES; // should no call tell more
        fd = nino_file_writer_open(dir, "ninodes", false, &w, NULL) ? -1 : w->fd;
    }
    if (fd < 0) {
        e = errno;
        nino_file_writer_abort(&w);
        return e;
    }
    for (size_t n = 0; n < TRY_BYTES && !e;) {
        const ssize_t k = write(fd, zeros, TRY_BYTES - n);
        if (k > 0)
            n += (size_t) k;
        else if (errno != EINTR)
            e = errno;
    }
    if (w)
        nino_file_writer_abort(&w);
    else
        close(fd);
    return e;
}

nino_status nino_file_check_folder(const char *path, nino_error *err)
{
    struct stat s;
    int e = 0;
    char *dir = strdup(*path ? path : ".");
    if (!dir)
        return nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
    while (stat(dir, &s) && (errno == ENOENT || errno == ENOTDIR)) { // the nearest that is there
        char *slash = strrchr(dir, '/');
        while (slash > dir && slash[-1] == '/')
            slash--;
        if (slash == dir)
            slash[1] = 0;
        else if (slash)
            *slash = 0;
        else
            memcpy(dir, ".", 2);
    }
    if (stat(dir, &s))
        e = errno;
    else if (!S_ISDIR(s.st_mode))
        e = ENOTDIR;
    else
        e = try_to_write(dir);
    const nino_status st =
        !e ? NINO_OK
           : nino_fail(err, NINO_ERR_IO, path, "no file can be written there: %s%s%s",
                       strcmp(dir, path) ? dir : "", strcmp(dir, path) ? ": " : "", strerror(e));
    free(dir);
    return st;
}

nino_status nino_place_check(const char *path, nino_error *err)
{
    struct stat s;
    const char *slash = strrchr(path, '/');
    if (!*path || (slash && !slash[1]))
        return nino_fail(err, NINO_ERR_IO, path, "is not the name of a file");
    if (!stat(path, &s) && !S_ISREG(s.st_mode))
        return nino_fail(err, NINO_ERR_IO, path, "exists and is not a regular file");
    char *dir = strndup(path, slash ? (size_t) (slash - path) + 1 : 0);
    nino_error e = { 0 };
    const nino_status st = dir ? nino_file_check_folder(dir, &e)
                               : nino_fail(&e, NINO_ERR_NOMEM, path, "out of memory");
    free(dir);
    return st ? nino_fail(err, st, path, "%s", e.msg) : NINO_OK;
}
