// What nodes ask of the context that runs them: files by kind and name, tokenizers, and the models
// that are kept for the next node that names them.
#include "core/run/ctx_priv.h"
#include "core/run/execute.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/text/embedding.h"

const nino_services nino_ctx_services = {
    .output = nino_exec_output,
    .text = nino_exec_text,
    .step = nino_exec_step,
    .open_model = nino_ctx_open_model,
    .open_input = nino_ctx_open_input,
    .output_dir = nino_ctx_output_dir,
    .temp_dir = nino_ctx_temp_dir,
    .previews = nino_ctx_previews,
    .steps = nino_ctx_steps,
    .set_kept_steps = nino_ctx_set_kept_steps,
    .identity = nino_ctx_identity,
    .check_file = nino_ctx_check_file,
    .translator = nino_ctx_translator,
    .tokenizer = nino_ctx_tokenizer,
    .open_embedding = nino_ctx_open_embedding,
    .find_object = nino_ctx_find_object,
    .keep_object = nino_ctx_keep_object,
    .drop_object = nino_ctx_drop_object,
    .each_object = nino_ctx_each_object,
    .list_models = nino_ctx_list_models,
    .find_model = nino_ctx_find_model,
    .monitor = nino_ctx_monitor,
    .log = nino_ctx_log,
    .trim = nino_ctx_trim,
};

// ---- files -----------------------------------------------------------------------------------

// A picture's name may say which folder it is in, as the editor's picker does: "a.png [output]".
// `kind` is the folder else.
static nino_status open_picture(const nino_ctx *ctx, const char *kind, const char *name, int *fd,
                                nino_error *err)
{
    const struct {
        const char *mark, *dir;
    } places[] = { { " [input]", nino_ctx_settings(ctx)->o.input_dir },
                   { " [output]", nino_ctx_settings(ctx)->o.output_dir },
                   { " [temp]", nino_ctx_temp_dir(ctx) } };
    const char *dir = places[!strcmp(kind, "output")].dir;
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const size_t n = strlen(places[i].mark);
        if (len > n && !strcmp(name + len - n, places[i].mark)) {
            dir = places[i].dir;
            len -= n;
            break;
        }
    }
    char *own = strndup(name, len);
    nino_status st = !own   ? nino_fail(err, NINO_ERR_NOMEM, name, "out of memory")
                     : !dir ? NINO_ERR_MISSING
                            : nino_file_open_below(dir, own, fd, err);
    if (st == NINO_ERR_MISSING)
        nino_fail_kind(err, st, "missing_file", name,
                       nino_tr(ctx->translate, "'%.80s' is not in %.160s"), own,
                       dir ? dir : nino_tr(ctx->translate, "a folder of outputs"));
    free(own);
    return st;
}

nino_status nino_ctx_open_kind(const nino_ctx *ctx, const char *kind, const char *name, int *fd,
                               nino_error *err)
{
    if (!strcmp(kind, "input") || !strcmp(kind, "output"))
        return open_picture(ctx, kind, name, fd, err);
    char **dirs = nino_paths_dirs(nino_ctx_settings(ctx)->paths, kind);
    nino_buf searched = { 0 };
    nino_status st =
        dirs ? NINO_ERR_MISSING : nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    for (char **d = dirs; d && *d && st == NINO_ERR_MISSING; d++) {
        st = nino_file_open_below(*d, name, fd, err);
        nino_buf_addf(&searched, "%s%s", d == dirs ? "" : ", ", *d);
    }
    if (st == NINO_ERR_MISSING)
        nino_fail_kind(err, st, "missing_file", name,
                       nino_tr(ctx->translate, "'%.80s' is not in %.200s"), name,
                       searched.data ? searched.data : kind);
    nino_buf_release(&searched);
    free(dirs);
    return st;
}

nino_translate_fn nino_ctx_translator(const nino_ctx *ctx) { return ctx->translate; }

nino_status nino_ctx_check_file(const nino_ctx *ctx, const char *kind, const char *name,
                                nino_error *err)
{
    int fd = -1;
    const nino_status st = nino_ctx_open_kind(ctx, kind, name, &fd, err);
    if (st == NINO_OK)
        close(fd);
    return st;
}

nino_status nino_ctx_open_input(nino_ctx *ctx, const char *name, int *fd, nino_error *err)
{
    return nino_ctx_open_kind(ctx, "input", name, fd, err);
}

nino_status nino_ctx_file_id(int fd, const char *name, nino_hash *out, nino_error *err)
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
    nino_status st = nino_ctx_open_kind(ctx, kind, name, &fd, err);
    if (st)
        return st;
    if ((st = nino_ctx_file_id(fd, name, &id, err)) == NINO_OK)
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
    nino_status st = nino_ctx_open_kind(ctx, kind, name, &fd, err);
    if (st)
        return st;
    if ((st = nino_ctx_file_id(fd, name, &id, err))) {
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
    const nino_job_options *o = &nino_ctx_settings(ctx)->o;
    const bool is_output = !strcmp(kind, "output");
    if (is_output || !strcmp(kind, "input"))
        return nino_paths_list(
            (char *const[]){ (char *) (is_output ? o->output_dir : o->input_dir), NULL }, NULL);
    char **dirs = nino_paths_dirs(nino_ctx_settings(ctx)->paths, kind);
    char **out = dirs ? nino_paths_list(dirs, nino_model_endings) : NULL;
    free(dirs);
    return out;
}

// ---- text ------------------------------------------------------------------------------------

// The folders that hold the folders of a kind: the models folders.
static char **models_dirs(const nino_ctx *ctx)
{
    char **dirs = nino_paths_dirs(nino_ctx_settings(ctx)->paths, "checkpoints");
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
        char **tokenizers = nino_paths_dirs(nino_ctx_settings(ctx)->paths, "tokenizers"),
             **models = models_dirs(ctx);
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

static kept_object *services_find_kept(nino_ctx *ctx, nino_port_type type, nino_hash key)
{
    for (kept_object *k = ctx->objects; k < ctx->objects + MAX_OBJECTS; k++)
        if (k->v && k->v->type == type && same(k->key, key))
            return k;
    return NULL;
}

nino_value *nino_ctx_find_object(nino_ctx *ctx, nino_port_type type, nino_hash key)
{
    kept_object *k = services_find_kept(ctx, type, key);
    if (!k)
        return NULL;
    k->used = ++ctx->clock;
    return nino_value_ref(k->v);
}

void nino_ctx_keep_object(nino_ctx *ctx, nino_hash key, nino_value *v)
{
    kept_object *slot = services_find_kept(ctx, v->type, key);
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
    kept_object *k = services_find_kept(ctx, type, key);
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
