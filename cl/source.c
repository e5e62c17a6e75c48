// The text of a program: a kernel file, built in or from a folder, with the files that it includes.
#include "cl/cl_schedule.h"
#include "cl/runtime.h"

#include "core/base/file.h"
#include "core/base/vars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SOURCE = 1 << 20 };

// malloc'd text of FILE.cl: the schedule's own, else the shared one.
static nino_status program_load_file(const nino_profile *p, const char *file, char **out,
                                     nino_error *err)
{
    const char *dir = nino_vars_get()->kernel_dir;
    size_t len;
    if (*dir) {
        char path[4096] = "";
        for (const nino_sched *s = p->schedule; s && access(path, F_OK); s = nino_cl_base(s))
            snprintf(path, sizeof(path), "%s/%s/%s.cl", dir, s->name, file);
        if (access(path, F_OK))
            snprintf(path, sizeof(path), "%s/kernels/%s.cl", dir, file);
        return nino_file_read(path, MAX_SOURCE, false, out, &len, err);
    }
    const char *text = nino_cl_source(p, file);
    if (!text)
        return nino_fail(err, NINO_ERR_DEVICE, file, "there is no kernel file of that name");
    *out = strdup(text);
    return *out ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, file, "out of memory");
}

// text up to `before`, then part, then `after`; takes text.
static char *program_splice(char *text, size_t before, const char *part, const char *after)
{
    const size_t n = before + strlen(part) + strlen(after) + 1;
    char *all = malloc(n);
    if (all)
        snprintf(all, n, "%.*s%s%s", (int) before, text, part, after);
    free(text);
    return all;
}

// FILE.cl with files in place of the lines that include them, which a driver would look for on
// disk.
nino_status nino_cl_program_source(const nino_profile *p, const char *file, char **out,
                                   nino_error *err)
{
    enum { MOST = 16 }; // a file that includes itself must end
    static const char mark[] = "\n#include \"";
    nino_status st = program_load_file(p, file, out, err);
    for (int i = 0; !st && i < MOST; i++) {
        char name[32], *part = NULL, *at = strstr(*out, mark);
        if (!at)
            return NINO_OK;
        const char *from = at + sizeof(mark) - 1, *end = from + strcspn(from, "\"\n");
        const char *rest = *end == '"' ? end + 1 : end;
        const int len = (int) (end - from) - 3; // without ".cl"
        snprintf(name, sizeof(name), "%.*s", len > 0 ? len : 0, from);
        if (!(st = program_load_file(p, name, &part, err)) &&
            !(*out = program_splice(*out, (size_t) (at - *out) + 1, part, rest)))
            st = nino_fail(err, NINO_ERR_NOMEM, file, "out of memory");
        free(part);
    }
    return st ? st : nino_fail(err, NINO_ERR_DEVICE, file, "it includes too many files");
}
