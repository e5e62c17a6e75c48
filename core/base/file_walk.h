// Internal to file*.c: walking folders one part at a time, so that no link is followed unseen.
#pragma once
#include <ninodes/base.h>
#include <sys/types.h>

typedef enum nino_file_links {
    NINO_LINKS_FOLLOW,  // the user's own path
    NINO_LINKS_TRUSTED, // links of root or ourselves, but not the last part
    NINO_LINKS_NONE     // names from a workflow, to write to
} nino_file_links;

// Opens (O_PATH) the folder `path` (len bytes, taken relative to `at`); makes missing parts if mode
// is not 0. -1 with errno: ELOOP for a link that is not to be followed.
int nino_file_walk(int at, const char *path, size_t len, nino_file_links links, mode_t mode);
// Fills err from errno: missing, nomem, path (ELOOP) or io.
nino_status nino_file_errno(nino_error *err, const char *name, const char *what);
