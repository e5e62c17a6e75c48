// The contexts of several devices (nino_ctx_params.device "cl:0,cl:1"): one runs the jobs, the others lend
// their devices to it for tiles, pictures and chunks of clips. A device is lent while no job is in its own
// context, whose turn the borrower has, so that nobody else uses it; only devices of the same kind are,
// whose results have the same bits.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/base/vars.h"
#include "core/run/ctx_priv.h"

enum { CREW_MAX = NINO_LEND_MAX + 1 };

typedef struct crew_device {
    nino_ctx *ctx;
    char name[24];   // its selector; of one that is listed twice with a number
    bool has_failed; // it is not lent any more; guarded by the lock of ctx, as the next
    uint64_t turn;   // of the backend when it was lent
} crew_device;

struct nino_crew {
    int n;
    bool is_shared; // jobs are run in the others' own contexts, too
    bool is_closed;
    crew_device device[CREW_MAX];
};

// ---- lending -----------------------------------------------------------------------------------

// Device i of those that are not ctx's own.
static crew_device *lent(const nino_ctx *ctx, int i)
{
    crew_device *d = ctx->crew->device;
    int k = 0;
    while (d[k].ctx == ctx || i-- > 0)
        k++;
    return &d[k];
}

static bool is_same_kind(const nino_backend *a, const nino_backend *b)
{
    const nino_profile *p = &a->profile, *q = &b->profile;
    return !strcmp(a->impl->name, b->impl->name) && !strcmp(a->info.name, b->info.name) &&
           !strcmp(a->info.driver, b->info.driver) && !strcmp(p->name, q->name) &&
           p->schedule == q->schedule && p->act_type == q->act_type &&
           p->weight_type == q->weight_type && p->has_winograd == q->has_winograd &&
           p->has_dots == q->has_dots && p->winograd_stripe == q->winograd_stripe &&
           p->units == q->units && p->gemm == q->gemm && p->has_blas == q->has_blas &&
           !memcmp(&p->tuning, &q->tuning, sizeof(p->tuning));
}

static void crew_wait(nino_ctx *ctx)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += 20000000; // a flag says when to give up: look again
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&ctx->changed, &ctx->lock, &t);
}

static nino_backend *crew_take(void *priv, int i, const volatile int *give_up)
{
    const nino_ctx *ctx = priv;
    crew_device *d = lent(ctx, i);
    nino_ctx *of = d->ctx;
    bool is_taken = false;
    if (!is_same_kind(ctx->backend, of->backend))
        return NULL;
    pthread_mutex_lock(&of->lock);
    while (!is_taken && !d->has_failed &&
           !__atomic_load_n(&ctx->crew->is_closed, __ATOMIC_RELAXED) &&
           !__atomic_load_n(give_up, __ATOMIC_RELAXED)) {
        if (of->is_taken || of->n_jobs) {
            crew_wait(of);
            continue;
        }
        is_taken = of->is_taken = true;
        of->cancel = NULL;
        of->now = NULL;
        of->runner = pthread_self();
    }
    pthread_mutex_unlock(&of->lock);
    if (!is_taken)
        return NULL;
    d->turn = of->backend->turn;
    return of->backend;
}

// Weights stay, unless jobs of its own context could run there while they are given up by the borrower.
static void crew_give_back(void *priv, int i, bool has_failed)
{
    const nino_ctx *ctx = priv;
    crew_device *d = lent(ctx, i);
    if (__atomic_load_n(&ctx->crew->is_shared, __ATOMIC_RELAXED))
        nino_backend_drop_since(d->ctx->backend, d->turn);
    pthread_mutex_lock(&d->ctx->lock);
    d->has_failed |= has_failed;
    pthread_mutex_unlock(&d->ctx->lock);
    nino_ctx_leave(d->ctx);
}

static const char *crew_name(void *priv, int i) { return lent(priv, i)->name; }

// ---- making it ---------------------------------------------------------------------------------

// Takes the next name of a list. False: there is none.
static bool next_name(const char **list, char *name, size_t size)
{
    const size_t len = strcspn(*list, ",");
    if (!len)
        return false;
    snprintf(name, size, "%.*s", (int) len, *list);
    *list += len + ((*list)[len] == ',');
    return true;
}

static void crew_name_device(nino_crew *c, int k)
{
    crew_device *d = &c->device[k];
    int same = 1;
    for (int i = 0; i < k; i++)
        same += !strcmp(c->device[i].ctx->backend->info.selector, d->ctx->backend->info.selector);
    snprintf(d->name, sizeof(d->name), same > 1 ? "%.15s#%d" : "%.15s",
             d->ctx->backend->info.selector, same);
}

static void crew_join(nino_crew *c, nino_ctx *ctx)
{
    crew_device *d = &c->device[c->n++];
    d->ctx = ctx;
    ctx->crew = c;
    crew_name_device(c, c->n - 1);
    for (int i = 0; i < c->n; i++)
        c->device[i].ctx->lend = (nino_lend){ .n = c->n - 1,
                                              .take = crew_take,
                                              .give_back = crew_give_back,
                                              .name = crew_name,
                                              .priv = c->device[i].ctx };
    if (c->n > 1 && !is_same_kind(c->device[0].ctx->backend, ctx->backend))
        nino_logf(&ctx->log, NINO_LOG_WARN,
                  "%s is of another kind than %s: they share no tiles and no pictures", d->name,
                  c->device[0].name);
}

static nino_status crew_open(nino_crew *c, const char *list, const nino_ctx_params *params,
                             const nino_server_ops *ops, void *priv, nino_error *err)
{
    char name[160];
    const char *all = list;
    nino_ctx_params p = *params;
    p.device = name;
    while (next_name(&list, name, sizeof(name))) {
        if (c->n == CREW_MAX)
            return nino_fail(err, NINO_ERR_RANGE, name, "at most %d devices can be named",
                             CREW_MAX);
        nino_ctx *one = nino_ctx_open(&p, c->n ? NULL : ops, c->n ? NULL : priv, err);
        if (!one)
            return err && err->code ? err->code : NINO_ERR_DEVICE;
        p.serve = false; // one socket for all
        crew_join(c, one);
    }
    return !*list ? NINO_OK
                  : nino_fail(err, NINO_ERR_UNKNOWN, all, "a name in the list of devices is empty");
}

nino_ctx *nino_ctx_create_with(const nino_ctx_params *params, const nino_server_ops *ops,
                               void *priv, nino_error *err)
{
    const char *list = params->device && *params->device ? params->device : nino_vars_get()->device;
    if (!strchr(list, ','))
        return nino_ctx_open(params, ops, priv, err);
    nino_crew *c = calloc(1, sizeof(*c));
    if (!c) {
        nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
        return NULL;
    }
    const nino_status st = crew_open(c, list, params, ops, priv, err);
    nino_ctx *ctx = c->device[0].ctx; // which closes all
    if (!ctx)
        free(c);
    if (st && ctx)
        nino_ctx_destroy(&ctx);
    return ctx;
}

bool nino_crew_close(nino_ctx *ctx, bool is_quit)
{
    nino_crew *c = ctx->crew;
    bool is_idle = true;
    if (!c || c->device[0].ctx != ctx) // whoever was made for the list closes all
        return true;
    __atomic_store_n(&c->is_closed, true, __ATOMIC_RELAXED);
    for (int i = 1; i < c->n; i++) {
        if (is_quit)
            is_idle = nino_ctx_quit(&c->device[i].ctx) && is_idle;
        else
            nino_ctx_destroy(&c->device[i].ctx);
    }
    ctx->crew = NULL;
    ctx->lend = (nino_lend){ .n = 0 };
    free(c);
    return is_idle;
}

nino_ctx *nino_ctx_of_device(nino_ctx *ctx, size_t i)
{
    nino_crew *c = ctx->crew;
    if (!c)
        return i ? NULL : ctx;
    if (i >= (size_t) c->n)
        return NULL;
    if (i)
        __atomic_store_n(&c->is_shared, true, __ATOMIC_RELAXED);
    return c->device[i].ctx;
}
