// Model files that no workflow names: found by what is in them. Headers are read once a file, and again
// when it changes: a check of a workflow asks at every change of it.
#include "core/run/ctx_priv.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/error.h"

typedef struct found {
    nino_hash key; // of the file and the question
    bool fits;
} found;

struct nino_found {
    pthread_mutex_t lock; // checks may run on any thread
    found *known;
    size_t n, room;
};

nino_found *nino_found_create(void)
{
    nino_found *f = calloc(1, sizeof(*f));
    if (f)
        pthread_mutex_init(&f->lock, NULL);
    return f;
}

void nino_found_destroy(nino_found **pf)
{
    nino_found *f = *pf;
    *pf = NULL;
    if (!f)
        return;
    pthread_mutex_destroy(&f->lock);
    free(f->known);
    free(f);
}

static const found *look_up(const nino_found *f, nino_hash key)
{
    for (const found *k = f->known; k < f->known + f->n; k++)
        if (k->key.lo == key.lo && k->key.hi == key.hi)
            return k;
    return NULL;
}

// Without memory the file is asked again the next time.
static void remember(nino_found *f, nino_hash key, bool fits)
{
    if (f->n == f->room) {
        const size_t room = f->room ? 2 * f->room : 64;
        found *more = realloc(f->known, room * sizeof(*more));
        if (!more)
            return;
        f->known = more;
        f->room = room;
    }
    f->known[f->n++] = (found){ key, fits };
}

static bool file_fits(const nino_ctx *ctx, const char *kind, const char *name, nino_fits_fn *fits)
{
    int fd = -1;
    nino_hash id = { 0 };
    nino_error err = { 0 };
    if (nino_ctx_open_kind(ctx, kind, name, &fd, &err))
        return false;
    if (nino_ctx_file_id(fd, name, &id, &err)) {
        close(fd);
        return false;
    }
    const uint64_t asked[] = { id.lo, id.hi, (uint64_t) (uintptr_t) fits };
    const nino_hash key = nino_hash_bytes(asked, sizeof(asked));
    pthread_mutex_lock(&ctx->found->lock);
    const found *k = look_up(ctx->found, key);
    bool yes = k && k->fits;
    if (k) {
        close(fd);
    } else {
        nino_weights *w = nino_weights_open_fd(fd, name, &err); // a damaged one does not fit
        yes = w && fits(w);
        nino_weights_unref(&w);
        remember(ctx->found, key, yes);
    }
    pthread_mutex_unlock(&ctx->found->lock);
    return yes;
}

static nino_status none_fits(const nino_ctx *ctx, const char *const *kinds, const char *what,
                             nino_error *err)
{
    nino_buf b = { 0 };
    for (; *kinds; kinds++) {
        char **dirs = nino_paths_dirs(nino_ctx_settings(ctx)->paths, *kinds);
        for (char **d = dirs; d && *d; d++)
            nino_buf_addf(&b, "%s%s", b.len ? ", " : "", *d);
        free(dirs);
    }
    nino_fail_kind(err, NINO_ERR_MISSING, "missing_file", what, "'%.80s' is not in %.200s", what,
                   b.data ? b.data : "the model folders");
    nino_buf_release(&b);
    return NINO_ERR_MISSING;
}

nino_status nino_ctx_find_model(const nino_ctx *ctx, const char *const *kinds, nino_fits_fn *fits,
                                const char *what, const char **kind, char **name, nino_error *err)
{
    for (const char *const *k = kinds; *k; k++) {
        char **list = nino_ctx_list_models(ctx, *k);
        char **at = list;
        while (at && *at && !file_fits(ctx, *k, *at, fits))
            at++;
        if (at && *at) {
            *kind = *k;
            *name = strdup(*at);
            free(list);
            return *name ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, what, "out of memory");
        }
        free(list);
        if (!list)
            return nino_fail(err, NINO_ERR_NOMEM, what, "out of memory");
    }
    return none_fits(ctx, kinds, what, err);
}
