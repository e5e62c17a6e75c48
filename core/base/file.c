// Reading files, opening untrusted names below a folder, making folders.
#include "core/base/file.h"

#include "core/base/error.h"
#include "core/base/file_walk.h"
#include "core/base/time.h"
#include "core/base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_NAME_BYTES = 1024 };

// ---- names ------------------------------------------------------------------------------------

nino_status nino_file_check_name(const char *name, nino_error *err)
{
    const size_t len = strlen(name);
    const char *why = NULL;
    if (!len)
        why = N_("the name is empty");
    else if (len > MAX_NAME_BYTES)
        why = N_("the name is too long");
    else if (name[0] == '/')
        why = N_("an absolute path is not allowed here");
    else if (name[0] == '~')
        why = N_("a name that starts with ~ is not allowed here");
    else if (!nino_utf8_valid(name, len))
        why = N_("the name is not valid UTF-8");
    for (const char *p = name; *p && !why; p++)
        if ((unsigned char) *p < 0x20 || *p == 0x7f || *p == '\\')
            why = N_("control characters and backslashes are not allowed here");
    for (const char *p = name; !why; p++) {
        const size_t n = strcspn(p, "/");
        if (!n || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
            why = N_("\"..\", \".\" and empty parts of a path are not allowed here");
        else if (n > NAME_MAX)
            why = N_("the name is too long");
        p += n;
        if (!*p)
            break;
    }
    return why ? nino_fail_kind(err, NINO_ERR_RANGE, "path", name, "%s", why) : NINO_OK;
}

// ---- walking ----------------------------------------------------------------------------------

static int open_dir(int at, const char *name, bool follow)
{
    return openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
}

static int open_or_make_dir(int at, const char *name, bool follow, mode_t mode)
{
    const int fd = open_dir(at, name, follow);
    if (fd >= 0 || errno != ENOENT || !mode)
        return fd;
    if (mkdirat(at, name, mode) && errno != EEXIST)
        return -1;
    return open_dir(at, name, follow);
}

int nino_file_walk(int at, const char *path, size_t len, nino_file_links links, mode_t mode)
{
    int fd = open_dir(at, ".", true);
    while (len && path[len - 1] == '/')
        len--;
    for (size_t i = 0; i < len && fd >= 0;) {
        char part[NAME_MAX + 1];
        struct stat st;
        const char *slash = memchr(path + i, '/', len - i);
        const size_t n = slash ? (size_t) (slash - path) - i : len - i;
        const bool last = i + n == len;
        int next = -1;
        if (!n) { // leading or doubled slash
            i++;
            continue;
        }
        if (n < sizeof(part)) {
            memcpy(part, path + i, n);
            part[n] = 0;
            next = open_or_make_dir(fd, part, links == NINO_LINKS_FOLLOW, mode);
            if (next < 0 && links != NINO_LINKS_FOLLOW && errno == ENOTDIR &&
                !fstatat(fd, part, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode)) {
                errno = ELOOP;
                if (links == NINO_LINKS_TRUSTED && !last &&
                    (st.st_uid == 0 || st.st_uid == geteuid()))
                    next = open_dir(fd, part, true);
            }
        } else {
            errno = ENAMETOOLONG;
        }
        const int e = errno;
        close(fd);
        errno = e;
        fd = next;
        i += n;
    }
    return fd;
}

nino_status nino_file_errno(nino_error *err, const char *name, const char *what)
{
    const int e = errno;
    if (e == ENOENT || e == ENOTDIR)
        return nino_fail(err, NINO_ERR_MISSING, name, "%s: %s", what, strerror(e));
    if (e == ENOMEM)
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    if (e == ELOOP)
        return nino_fail_kind(err, NINO_ERR_RANGE, "path", name, "%s: leads through a link", what);
    return nino_fail(err, NINO_ERR_IO, name, "%s: %s", what, strerror(e));
}

nino_status nino_file_mkdirs(const char *path, bool priv, nino_error *err)
{
    const nino_file_links links = priv ? NINO_LINKS_TRUSTED : NINO_LINKS_FOLLOW;
    const int top = open_dir(AT_FDCWD, path[0] == '/' ? "/" : ".", true);
    const int fd =
        top < 0 ? -1 : nino_file_walk(top, path, strlen(path), links, priv ? 0700 : 0777);
    nino_status st = NINO_OK;
    struct stat s;
    if (fd < 0 || fstat(fd, &s))
        st = nino_file_errno(err, path, "cannot make the folder");
    else if (priv && s.st_uid != geteuid())
        st = nino_fail_kind(err, NINO_ERR_IO, "path", path, "the folder belongs to another user");
    if (fd >= 0)
        close(fd);
    if (top >= 0)
        close(top);
    return st;
}

// ---- reading ----------------------------------------------------------------------------------

// Never waits for a fifo, never becomes the controlling terminal's reader.
enum { READ_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

nino_status nino_file_open_below(const char *dir, const char *name, int *fd, nino_error *err)
{
    nino_status st = nino_file_check_name(name, err);
    if (st)
        return st;
    struct stat s;
    int top, file = -1;
    // looked at first: opening a device can have effects of its own
    if ((top = open_dir(AT_FDCWD, dir && *dir ? dir : ".", true)) < 0 ||
        fstatat(top, name, &s, 0) ||
        (S_ISREG(s.st_mode) && ((file = openat(top, name, READ_FLAGS)) < 0 || fstat(file, &s))))
        st = nino_file_errno(err, name, "cannot open");
    else if (!S_ISREG(s.st_mode))
        st = nino_fail_kind(err, NINO_ERR_RANGE, "path", name, "not a regular file");
    if (top >= 0)
        close(top);
    if (!st)
        *fd = file;
    else if (file >= 0)
        close(file);
    return st;
}

static _Thread_local uint64_t waited_ns;

uint64_t nino_file_waited_ns(void) { return waited_ns; }
void nino_file_set_waited_ns(uint64_t ns) { waited_ns = ns; }

static uint64_t file_on_processor_ns(void)
{
    struct timespec t = { 0 };
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static nino_status file_read_exactly(int fd, char *p, size_t n, uint64_t off, const char *name,
                                     nino_error *err)
{
    if (off > INT64_MAX || n > INT64_MAX - off)
        return nino_fail_kind(err, NINO_ERR_IO, "truncated", name, "offset beyond any file");
    while (n) {
        const ssize_t k = pread(fd, p, n, (off_t) off);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return nino_file_errno(err, name, "cannot read");
        if (!k)
            return nino_fail_kind(err, NINO_ERR_IO, "truncated", name,
                                  "the file ends at byte %llu, %zu more were expected",
                                  (unsigned long long) off, n);
        p += k;
        n -= (size_t) k;
        off += (uint64_t) k;
    }
    return NINO_OK;
}

nino_status nino_file_pread(int fd, void *buf, size_t n, uint64_t off, const char *name,
                            nino_error *err)
{
    const uint64_t begin = nino_now_ns(), busy = file_on_processor_ns();
    const nino_status st = file_read_exactly(fd, buf, n, off, name, err);
    const uint64_t all = nino_now_ns() - begin, copied = file_on_processor_ns() - busy;
    waited_ns += all > copied ? all - copied : 0;
    return st;
}

// All of fd up to max bytes; `hint` is how many there may be.
static nino_status file_read_all(int fd, size_t hint, size_t max, const char *name, char **data,
                                 size_t *len, nino_error *err)
{
    nino_status st = NINO_OK;
    size_t n = 0, cap = (hint < max ? hint : max) + 1; // one more, to see the end
    char *buf = malloc(cap + 1);
    while (buf) {
        const ssize_t k = read(fd, buf + n, cap - n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0) {
            st = nino_file_errno(err, name, "cannot read");
            goto end;
        }
        n += (size_t) k;
        if (n > max) {
            st = nino_fail_kind(err, NINO_ERR_FORMAT, "limit", name, "more than %zu bytes", max);
            goto end;
        }
        if (!k)
            break;
        if (n == cap) { // a pipe, or a file that grew
            cap = cap < max / 2 ? cap * 2 : max + 1;
            char *more = realloc(buf, cap + 1);
            if (!more)
                free(buf);
            buf = more;
        }
    }
    if (!buf)
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    buf[n] = 0;
    *data = buf;
    *len = n;
    buf = NULL;
end:
    free(buf);
    return st;
}

nino_status nino_file_read(const char *path, size_t max, bool allow_stdin, char **data, size_t *len,
                           nino_error *err)
{
    struct stat s;
    if (max > PTRDIFF_MAX / 4)
        max = PTRDIFF_MAX / 4;
    if (allow_stdin && !strcmp(path, "-"))
        return file_read_all(STDIN_FILENO, 65536, max, "standard input", data, len, err);
    const int fd = open(path, READ_FLAGS);
    if (fd < 0)
        return nino_file_errno(err, path, "cannot open");
    nino_status st = NINO_OK;
    if (fstat(fd, &s))
        st = nino_file_errno(err, path, "cannot open");
    else if (!S_ISREG(s.st_mode))
        st = nino_fail_kind(err, NINO_ERR_IO, "path", path, "not a regular file");
    else if ((uint64_t) s.st_size > max)
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "limit", path, "more than %zu bytes", max);
    else
        st = file_read_all(fd, s.st_size ? (size_t) s.st_size : 4096, max, path, data, len, err);
    close(fd);
    return st;
}
