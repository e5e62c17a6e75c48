// What a driver's compiler needs of the machine beside memory: descriptors and room on a disk. PoCL's
// ends the process where it gets neither, and no other says what was missing.
#include "cl/runtime.h"

#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { DESCRIPTORS = 16, ROOM_MIB = 4 }; // more than one kernel of ours takes

static nino_status check_descriptors(nino_error *err)
{
    int fd[DESCRIPTORS], n = 0, e = 0;
    while (n < DESCRIPTORS && !e) {
        fd[n] = open("/", O_PATH | O_CLOEXEC);
        if (fd[n] < 0)
            e = errno;
        else
            n++;
    }
    for (int i = 0; i < n; i++)
        close(fd[i]);
    return e == EMFILE || e == ENFILE
               ? nino_fail(err, NINO_ERR_IO, "compiling kernels",
                           "%s: %d more must fit the limit (ulimit -n)", strerror(e), DESCRIPTORS)
               : NINO_OK;
}

static nino_status check_folder(const char *dir, nino_error *err)
{
    struct statvfs fs;
    const nino_status st = nino_file_check_folder(dir, err);
    if (st || statvfs(dir, &fs) || !fs.f_blocks ||
        (uint64_t) fs.f_bavail * fs.f_frsize >= (uint64_t) ROOM_MIB << 20)
        return st;
    return nino_fail(err, NINO_ERR_IO, dir, "%s: compiling kernels takes up to %d MiB",
                     strerror(ENOSPC), ROOM_MIB);
}

nino_status nino_cl_room_check(const nino_cl *cl, nino_error *err)
{
    char dir[4096];
    const nino_status st = check_descriptors(err);
    const char *keeps = getenv("POCL_KERNEL_CACHE"); // "0": it compiles in a folder of TMPDIR
    if (st || (keeps && !strcmp(keeps, "0")) ||
        !strstr(cl->dev->info.platform, "Portable Computing Language") ||
        !nino_cl_kernel_folder(0, dir, sizeof(dir)))
        return st;
    return check_folder(dir, err);
}

nino_status nino_cl_room_explain(const nino_cl *cl, nino_error *err)
{
    const char *dir = getenv("TMPDIR");
    const nino_status st = nino_cl_room_check(cl, err);
    return st ? st : check_folder(dir && *dir ? dir : "/tmp", err);
}
