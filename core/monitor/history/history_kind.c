// What runs must have in common for their times to be compared.
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include <ninodes/history.h>

static int kind_by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// Files of models, each once, in the order of the alphabet.
static void add_files(nino_buf *b, const nino_history *h, const nino_event *e, size_t n)
{
    const char **file = calloc(n + 1, sizeof(*file));
    size_t n_files = 0;
    if (!file) {
        b->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (e[i].sub == NINO_CACHE_FILE)
            file[n_files++] = last_part(nino_history_name((void *) (uintptr_t) h, e[i].name));
    qsort(file, n_files, sizeof(*file), kind_by_text);
    for (size_t i = 0; i < n_files; i++)
        if (!i || strcmp(file[i], file[i - 1]))
            nino_buf_addf(b, "%s%s", b->len ? ", " : "", file[i]);
    free(file);
}

char *nino_history_kind(const nino_history *h)
{
    nino_buf b = { 0 };
    size_t n, cached = 0;
    const nino_event *e = nino_history_points(h, NINO_EV_CEILINGS, &n);
    nino_buf_adds(&b, e && n ? nino_history_name((void *) (uintptr_t) h, e[0].name) : "");
    e = nino_history_points(h, NINO_EV_CACHE, &n);
    if (e)
        add_files(&b, h, e, n);
    for (size_t i = 0; e && i < n; i++)
        cached += e[i].sub == NINO_CACHE_NODE && e[i].u.scope.arg0;
    if (cached)
        nino_buf_addf(&b, "%s%zu cached", b.len ? ", " : "", cached);
    if (b.failed)
        nino_buf_release(&b);
    else if (!b.data)
        return calloc(1, 1);
    return b.data;
}
