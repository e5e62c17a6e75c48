// A folder of a fuzz target's own, for what is read by path: in memory where that can be, since fsync
// would take most of the time. It goes when the program ends.
#pragma once
#include "tests/test.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <unistd.h>

static char fuzz_top[40] = "/dev/shm/ninodes-fuzz-XXXXXX";

static int fuzz_remove_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void) s, (void) type, (void) at;
    return remove(path);
}

static void fuzz_remove(void) { nftw(fuzz_top, fuzz_remove_one, 16, FTW_DEPTH | FTW_PHYS); }

static inline const char *fuzz_folder(void)
{
    static int is_made;
    if (!is_made) {
        if (!mkdtemp(fuzz_top)) {
            snprintf(fuzz_top, sizeof(fuzz_top), "/tmp/ninodes-fuzz-XXXXXX");
            CHECK(mkdtemp(fuzz_top) != NULL);
        }
        atexit(fuzz_remove);
        is_made = 1;
    }
    return fuzz_top;
}

// Makes the file anew; its path is good until the next call.
static inline const char *fuzz_file(const char *name, const void *data, size_t size)
{
    static char path[160];
    snprintf(path, sizeof(path), "%s/%s", fuzz_folder(), name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && write(fd, data, size) == (ssize_t) size && !close(fd));
    return path;
}
