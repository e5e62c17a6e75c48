// Where the sockets are, and who may be at the other end.
#include "core/monitor/link/wire.h"

#include "core/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

// The folder above ours: nobody else may be able to rename what is in it.
static nino_status check_parent(const char *path, nino_error *err)
{
    struct stat st;
    if (lstat(path, &st))
        return nino_fail(err, NINO_ERR_MISSING, path, "%s", strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return nino_fail_kind(err, NINO_ERR_IO, "path", path, "is not a folder (or is a link)");
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return nino_fail_kind(err, NINO_ERR_IO, "path", path, "belongs to another user");
    if ((st.st_mode & 022) && !(st.st_mode & S_ISVTX))
        return nino_fail_kind(err, NINO_ERR_IO, "path", path, "is writable by others");
    return NINO_OK;
}

static nino_status wire_check_own(const char *path, nino_error *err)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        if (errno == ENOENT)
            return nino_fail(err, NINO_ERR_MISSING, path, "does not exist");
        return nino_fail_kind(err, NINO_ERR_IO, "path", path, "%s",
                              errno == ELOOP || errno == ENOTDIR ? "is not a folder (or is a link)"
                                                                 : strerror(errno));
    }
    struct stat st;
    nino_status rc = NINO_OK;
    if (fstat(fd, &st))
        rc = nino_fail(err, NINO_ERR_IO, path, "%s", strerror(errno));
    else if (st.st_uid != geteuid())
        rc = nino_fail_kind(err, NINO_ERR_IO, "path", path, "belongs to another user");
    else if (st.st_mode & 077)
        rc = nino_fail_kind(err, NINO_ERR_IO, "path", path, "is open to others (mode %o, not 700)",
                            (unsigned) st.st_mode & 07777);
    close(fd);
    return rc;
}

nino_status nino_wire_dir(char *buf, size_t size, bool create, nino_error *err)
{
    const char *run = getenv("XDG_RUNTIME_DIR");
    const bool is_set = run && run[0] == '/';
    const int n = is_set ? snprintf(buf, size, "%s/ninodes", run)
                         : snprintf(buf, size, "/tmp/ninodes-%u", (unsigned) geteuid());
    if (n < 0 || (size_t) n >= size)
        return nino_fail(err, NINO_ERR_IO, "XDG_RUNTIME_DIR", "the path is too long");
    const nino_status st = check_parent(is_set ? run : "/tmp", err);
    if (st)
        return st;
    if (create && mkdir(buf, 0700) && errno != EEXIST)
        return nino_fail(err, NINO_ERR_IO, buf, "%s", strerror(errno));
    return wire_check_own(buf, err);
}

bool nino_wire_address(struct sockaddr_un *a, const char *path)
{
    *a = (struct sockaddr_un){ .sun_family = AF_UNIX };
    const size_t n = strlen(path);
    if (n >= sizeof(a->sun_path))
        return false;
    memcpy(a->sun_path, path, n + 1);
    return true;
}

bool nino_wire_same_user(int fd)
{
    struct ucred u;
    socklen_t n = sizeof(u);
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &u, &n) && u.uid == geteuid();
}
