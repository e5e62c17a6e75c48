// A context: the device, the model folders, the files and models that are open, the result cache,
// and whose turn it is.
#include "core/graph/ctx_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/vars.h"
#include "core/monitor/device.h"
#include "core/op/device.h"
#include "core/text/embedding.h"

// ---- taking turns ----------------------------------------------------------------------------

bool nino_ctx_enter(nino_ctx *ctx, volatile int *cancel)
{
    pthread_mutex_lock(&ctx->lock);
    while (ctx->is_taken && !(cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED))) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += 20000000; // a cancel is only a flag: look again
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&ctx->changed, &ctx->lock, &t);
    }
    const bool is_in = !ctx->is_taken;
    if (is_in) {
        ctx->is_taken = true;
        ctx->cancel = cancel;
    }
    pthread_mutex_unlock(&ctx->lock);
    return is_in;
}

void nino_ctx_leave(nino_ctx *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    ctx->is_taken = false;
    ctx->cancel = NULL;
    ctx->running[0] = 0;
    pthread_cond_broadcast(&ctx->changed);
    pthread_mutex_unlock(&ctx->lock);
    nino_server_changed(ctx->server);
}

void nino_ctx_add_job(nino_ctx *ctx, int delta)
{
    pthread_mutex_lock(&ctx->lock);
    ctx->n_jobs += delta;
    pthread_cond_broadcast(&ctx->changed);
    pthread_mutex_unlock(&ctx->lock);
}

// ---- create and destroy ----------------------------------------------------------------------

// Results of earlier runs may keep an eighth of the machine's memory.
static uint64_t cache_budget(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t) pages * (uint64_t) size / 8 : (uint64_t) 1 << 30;
}

static char *make_temp_dir(void)
{
    const char *tmp = getenv("TMPDIR");
    nino_buf b = { 0 };
    nino_buf_addf(&b, "%s/ninodes-%u", tmp && *tmp == '/' ? tmp : "/tmp", (unsigned) getuid());
    return b.data;
}

// One file a ctx: each preview replaces the one before.
static nino_preview_settings preview_settings(const nino_ctx_params *p, const char *dir)
{
    static unsigned count;
    nino_buf b = { 0 };
    nino_buf_addf(&b, "%s/preview-%ld-%u.png", dir, (long) getpid(),
                  __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED));
    return (nino_preview_settings){ .kind = b.failed ? NINO_PREVIEW_NONE : p->preview,
                                    .every = p->preview_every > 0 ? p->preview_every : 5,
                                    .share = p->preview_share > 0 ? p->preview_share : 0.05,
                                    .path = b.data };
}

// Viewers are told what the device was measured to do, else what its profile says.
static nino_device_sampler *start_sampler(const nino_ctx *ctx, const nino_ctx_params *p)
{
    const nino_device_info *d = &ctx->backend->info;
    nino_ceilings c;
    const bool is_known = !nino_ceilings_load(p->cache_dir, d, &c, NULL) ||
                          (!nino_ceilings_of_profile(d->profile, &c, NULL) && c.bandwidth > 0);
    snprintf(c.device, sizeof(c.device), "%s", d->name);
    return nino_device_sampler_start(ctx->monitor, "", is_known ? &c : NULL);
}

static char *find_steps_dir(const char *state_dir)
{
    char dir[4096];
    nino_buf b = { 0 };
    if (nino_state_dir(state_dir, dir, sizeof(dir)))
        nino_buf_addf(&b, "%s/steps", dir);
    return b.data;
}

static nino_status open_parts(nino_ctx *ctx, const nino_ctx_params *p, nino_error *err)
{
    ctx->input_dir = strdup(p->input_dir && *p->input_dir ? p->input_dir : "input");
    ctx->output_dir = strdup(p->output_dir && *p->output_dir ? p->output_dir : "output");
    ctx->temp_dir = make_temp_dir();
    ctx->monitor = nino_monitor_create();
    ctx->results = nino_results_create(cache_budget());
    if (!ctx->input_dir || !ctx->output_dir || !ctx->temp_dir || !ctx->monitor || !ctx->results)
        return nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
    ctx->previews = preview_settings(p, ctx->temp_dir);
    ctx->steps_dir = find_steps_dir(p->state_dir);
    if (!(ctx->paths = nino_paths_create(p->models, &ctx->log, err)))
        return NINO_ERR_NOMEM;
    if (!(ctx->backend = nino_device_open(p->device, p, &ctx->log, err)))
        return NINO_ERR_DEVICE;
    ctx->capture = nino_capture_start(&ctx->log);
    ctx->sampler = start_sampler(ctx, p); // without one only its numbers are missing
    nino_error e = { 0 };
    if (p->serve && !(ctx->server = nino_server_start(ctx->monitor, p->title ? p->title : "",
                                                      &ctx->control, ctx->control_priv, &e)))
        nino_logf(&ctx->log, NINO_LOG_WARN, "no viewer can attach: %s: %s", e.where, e.msg);
    return NINO_OK;
}

nino_ctx *nino_ctx_create(const nino_ctx_params *params, nino_error *err)
{
    return nino_ctx_create_with(params, NULL, NULL, err);
}

nino_ctx *nino_ctx_create_with(const nino_ctx_params *params, const struct nino_server_ops *ops,
                               void *priv, nino_error *err)
{
    const nino_ctx_params p = params ? *params : (nino_ctx_params){ 0 };
    nino_ctx *ctx = calloc(1, sizeof(*ctx));
    if (!ctx) {
        nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
        return NULL;
    }
    ctx->log = (nino_log){ p.log, p.log_priv, p.log_level };
    ctx->precision = p.precision;
    ctx->steps = p.steps;
    ctx->has_profile = !p.no_profile;
    ctx->has_metadata = !p.no_metadata;
    ctx->refs = 1;
    ctx->control = ops ? *ops : nino_ctx_control;
    ctx->control_priv = ops ? priv : ctx;
    nino_gate_init(&ctx->gate);
    pthread_mutex_init(&ctx->lock, NULL);
    pthread_cond_init(&ctx->changed, NULL);
    if (open_parts(ctx, &p, err))
        nino_ctx_destroy(&ctx);
    return ctx;
}

void nino_ctx_drop_kept(nino_ctx *ctx)
{
    for (int i = 0; i < MAX_OBJECTS; i++)
        nino_value_unref(&ctx->objects[i].v);
    for (int i = 0; i < MAX_FILES; i++)
        nino_weights_unref(&ctx->files[i].w);
    for (int i = 0; i < NINO_TOKENIZER_KINDS; i++)
        nino_tokenizer_unref(&ctx->tokenizers[i]);
    memset(ctx->objects, 0, sizeof(ctx->objects));
    memset(ctx->files, 0, sizeof(ctx->files));
}

static void close_outside(nino_ctx *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    while (ctx->n_jobs || ctx->is_taken)
        pthread_cond_wait(&ctx->changed, &ctx->lock);
    pthread_mutex_unlock(&ctx->lock);
    if (ctx->previews.path)
        unlink(ctx->previews.path);
    nino_server_stop(&ctx->server);
    nino_device_sampler_stop(&ctx->sampler);
    nino_capture_stop(&ctx->capture);
}

static void close_inside(nino_ctx *ctx)
{
    nino_results_destroy(&ctx->results);
    nino_ctx_drop_kept(ctx);
    nino_backend_close(&ctx->backend);
    nino_paths_destroy(&ctx->paths);
    nino_ctx_unref(ctx);
}

void nino_ctx_destroy(nino_ctx **pctx)
{
    nino_ctx *ctx = pctx ? *pctx : NULL;
    if (!ctx)
        return;
    *pctx = NULL;
    close_outside(ctx);
    close_inside(ctx);
}

bool nino_ctx_quit(nino_ctx **pctx)
{
    nino_ctx *ctx = pctx ? *pctx : NULL;
    if (!ctx)
        return true;
    *pctx = NULL;
    close_outside(ctx);
    if (ctx->backend && !nino_backend_is_idle(ctx->backend))
        return false;
    close_inside(ctx);
    return true;
}

void nino_ctx_ref(nino_ctx *ctx) { __atomic_add_fetch(&ctx->refs, 1, __ATOMIC_RELAXED); }

void nino_ctx_unref(nino_ctx *ctx)
{
    if (__atomic_sub_fetch(&ctx->refs, 1, __ATOMIC_ACQ_REL))
        return;
    nino_monitor_destroy(&ctx->monitor);
    nino_gate_release(&ctx->gate);
    pthread_cond_destroy(&ctx->changed);
    pthread_mutex_destroy(&ctx->lock);
    free(ctx->input_dir);
    free(ctx->output_dir);
    free(ctx->temp_dir);
    free(ctx->steps_dir);
    free(ctx->previews.path);
    free(ctx);
}

// ---- reading it ------------------------------------------------------------------------------

const char *nino_ctx_socket(const nino_ctx *ctx)
{
    return ctx->server ? nino_server_path(ctx->server) : "";
}
void nino_ctx_device(const nino_ctx *ctx, nino_device_info *out) { *out = ctx->backend->info; }
const char *nino_ctx_output_dir(const nino_ctx *ctx) { return ctx->output_dir; }
const char *nino_ctx_temp_dir(const nino_ctx *ctx) { return ctx->temp_dir; }
const nino_preview_settings *nino_ctx_previews(const nino_ctx *ctx) { return &ctx->previews; }
nino_backend *nino_ctx_backend(nino_ctx *ctx) { return ctx->backend; }
nino_monitor *nino_ctx_monitor(nino_ctx *ctx) { return ctx->monitor; }
bool nino_ctx_has_profile(const nino_ctx *ctx) { return ctx->has_profile; }
bool nino_ctx_has_metadata(const nino_ctx *ctx) { return ctx->has_metadata; }
nino_gate *nino_ctx_gate(nino_ctx *ctx) { return &ctx->gate; }
nino_precision_opt nino_ctx_precision(const nino_ctx *ctx) { return ctx->precision; }
const nino_log *nino_ctx_log(const nino_ctx *ctx) { return &ctx->log; }
nino_results *nino_ctx_results(nino_ctx *ctx) { return ctx->results; }
nino_capture *nino_ctx_capture(nino_ctx *ctx) { return ctx->capture; }

// ---- files -----------------------------------------------------------------------------------

// Opens kind/name below the folders of that kind, the first that has it.
static nino_status open_kind(const nino_ctx *ctx, const char *kind, const char *name, int *fd,
                             nino_error *err)
{
    if (!strcmp(kind, "input")) {
        const nino_status st = nino_file_open_below(ctx->input_dir, name, fd, err);
        return st != NINO_ERR_MISSING
                   ? st
                   : nino_fail_kind(err, NINO_ERR_MISSING, "missing_file", name,
                                    "'%.80s' is not in %.160s", name, ctx->input_dir);
    }
    char **dirs = nino_paths_dirs(ctx->paths, kind);
    nino_buf searched = { 0 };
    nino_status st =
        dirs ? NINO_ERR_MISSING : nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    for (char **d = dirs; d && *d && st == NINO_ERR_MISSING; d++) {
        st = nino_file_open_below(*d, name, fd, err);
        nino_buf_addf(&searched, "%s%s", d == dirs ? "" : ", ", *d);
    }
    if (st == NINO_ERR_MISSING)
        nino_fail_kind(err, st, "missing_file", name, "'%.80s' is not in %.200s", name,
                       searched.data ? searched.data : kind);
    nino_buf_release(&searched);
    free(dirs);
    return st;
}

nino_status nino_ctx_check_file(const nino_ctx *ctx, const char *kind, const char *name,
                                nino_error *err)
{
    int fd = -1;
    const nino_status st = open_kind(ctx, kind, name, &fd, err);
    if (st == NINO_OK)
        close(fd);
    return st;
}

nino_status nino_ctx_open_input(nino_ctx *ctx, const char *name, int *fd, nino_error *err)
{
    return open_kind(ctx, "input", name, fd, err);
}

static nino_status file_id(int fd, const char *name, nino_hash *out, nino_error *err)
{
    struct stat sb;
    if (fstat(fd, &sb))
        return nino_fail(err, NINO_ERR_IO, name, "cannot read its size");
    const uint64_t id[5] = { (uint64_t) sb.st_dev, (uint64_t) sb.st_ino, (uint64_t) sb.st_size,
                             (uint64_t) sb.st_mtim.tv_sec, (uint64_t) sb.st_mtim.tv_nsec };
    *out = nino_hash_bytes(id, sizeof(id));
    return NINO_OK;
}

nino_status nino_ctx_identity(nino_ctx *ctx, const char *kind, const char *name,
                              struct nino_hasher *h, nino_error *err)
{
    int fd = -1;
    nino_hash id;
    nino_status st = open_kind(ctx, kind, name, &fd, err);
    if (st)
        return st;
    if ((st = file_id(fd, name, &id, err)) == NINO_OK)
        nino_hasher_add(h, &id, sizeof(id));
    close(fd);
    return st;
}

static bool same(nino_hash a, nino_hash b) { return a.lo == b.lo && a.hi == b.hi; }

static void publish_lookup(nino_ctx *ctx, const char *name, bool is_hit)
{
    nino_event ev = { .kind = NINO_EV_CACHE, .sub = NINO_CACHE_FILE };
    ev.name = nino_monitor_name(ctx->monitor, name);
    ev.u.scope.arg0 = is_hit;
    nino_monitor_publish(ctx->monitor, &ev);
}

nino_status nino_ctx_open_model(nino_ctx *ctx, const char *kind, const char *name,
                                nino_weights **out, nino_error *err)
{
    int fd = -1;
    nino_hash id = { 0 };
    nino_status st = open_kind(ctx, kind, name, &fd, err);
    if (st)
        return st;
    if ((st = file_id(fd, name, &id, err))) {
        close(fd);
        return st;
    }
    open_file *oldest = &ctx->files[0];
    for (open_file *f = ctx->files; f < ctx->files + MAX_FILES; f++) {
        if (f->w && same(f->id, id)) {
            close(fd);
            f->used = ++ctx->clock;
            *out = nino_weights_ref(f->w);
            publish_lookup(ctx, name, true);
            return NINO_OK;
        }
        if (f->used < oldest->used)
            oldest = f;
    }
    publish_lookup(ctx, name, false);
    nino_error e = { 0 };
    nino_weights *w = nino_weights_open_fd(fd, name, &e);
    if (!w) {
        if (err)
            *err = e;
        return e.code;
    }
    nino_weights_unref(&oldest->w);
    *oldest = (open_file){ id, nino_weights_ref(w), ++ctx->clock };
    *out = w;
    return NINO_OK;
}

char **nino_ctx_list_models(const nino_ctx *ctx, const char *kind)
{
    if (!strcmp(kind, "input"))
        return nino_paths_list((char *const[]){ ctx->input_dir, NULL }, NULL);
    char **dirs = nino_paths_dirs(ctx->paths, kind);
    char **out = dirs ? nino_paths_list(dirs, nino_model_endings) : NULL;
    free(dirs);
    return out;
}

// ---- text ------------------------------------------------------------------------------------

// The folders that hold the folders of a kind: the models folders.
static char **models_dirs(const nino_ctx *ctx)
{
    char **dirs = nino_paths_dirs(ctx->paths, "checkpoints");
    for (char **d = dirs; d && *d; d++) {
        char *slash = strrchr(*d, '/');
        if (slash && slash > *d)
            *slash = 0;
    }
    return dirs;
}

nino_status nino_ctx_tokenizer(nino_ctx *ctx, nino_tokenizer_kind kind, nino_tokenizer **out,
                               nino_error *err)
{
    nino_tokenizer **kept = &ctx->tokenizers[kind];
    nino_status st = NINO_OK;
    if (!*kept) {
        char **tokenizers = nino_paths_dirs(ctx->paths, "tokenizers"), **models = models_dirs(ctx);
        char **dirs = tokenizers && models ? nino_tokenizer_dirs(kind, tokenizers, models) : NULL;
        st = dirs ? nino_tokenizer_open(kind, (const char *const *) dirs, kept, err)
                  : nino_fail(err, NINO_ERR_NOMEM, "tokenizers", "out of memory");
        free(tokenizers);
        free(models);
        free(dirs);
    }
    if (!st)
        *out = nino_tokenizer_ref(*kept);
    return st;
}

nino_status nino_ctx_open_embedding(nino_ctx *ctx, const char *name, nino_weights **out,
                                    nino_error *err)
{
    char **files = nino_ctx_list_models(ctx, "embeddings");
    if (!files)
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    const int i = nino_embedding_find(name, files);
    const nino_status st = i >= 0
                               ? nino_ctx_open_model(ctx, "embeddings", files[i], out, err)
                               : nino_fail_kind(err, NINO_ERR_MISSING, "missing_file", name,
                                                "'%.80s' is not in the embeddings folders", name);
    free(files);
    return st;
}

// ---- models, text encoders, VAEs -------------------------------------------------------------

static kept_object *find_kept(nino_ctx *ctx, nino_port_type type, nino_hash key)
{
    for (kept_object *k = ctx->objects; k < ctx->objects + MAX_OBJECTS; k++)
        if (k->v && k->v->type == type && same(k->key, key))
            return k;
    return NULL;
}

nino_value *nino_ctx_find_object(nino_ctx *ctx, nino_port_type type, nino_hash key)
{
    kept_object *k = find_kept(ctx, type, key);
    if (!k)
        return NULL;
    k->used = ++ctx->clock;
    return nino_value_ref(k->v);
}

void nino_ctx_keep_object(nino_ctx *ctx, nino_hash key, nino_value *v)
{
    kept_object *slot = find_kept(ctx, v->type, key);
    if (!slot) {
        slot = &ctx->objects[0]; // the one used longest ago; empty ones were never used
        for (kept_object *k = ctx->objects; k < ctx->objects + MAX_OBJECTS; k++)
            if (k->used < slot->used)
                slot = k;
    }
    nino_value *kept = nino_value_ref(v);
    nino_value_unref(&slot->v);
    *slot = (kept_object){ key, kept, ++ctx->clock };
}

void nino_ctx_drop_object(nino_ctx *ctx, nino_port_type type, nino_hash key)
{
    kept_object *k = find_kept(ctx, type, key);
    if (!k)
        return;
    nino_results_drop_sharing(ctx->results, k->v);
    nino_value_unref(&k->v);
    *k = (kept_object){ 0 };
}

void nino_ctx_each_object(nino_ctx *ctx, void (*fn)(void *priv, const nino_value *v), void *priv)
{
    for (const kept_object *k = ctx->objects; k < ctx->objects + MAX_OBJECTS; k++)
        if (k->v)
            fn(priv, k->v);
}

uint64_t nino_ctx_trim(nino_ctx *ctx)
{
    const uint64_t bytes = nino_results_clear(ctx->results);
    nino_ctx_drop_kept(ctx);
    return bytes;
}
