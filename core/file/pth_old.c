// PyTorch files older than 1.6: no archive, but pickles one behind the other, then every storage as
// its number of elements (int64) and the elements. Layout: torch.serialization, _legacy_save().
#include "core/file/pth.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/file/pth_table.h"

#define REFUSE(kind, ...) nino_fail_kind(err, NINO_ERR_FORMAT, kind, name, __VA_ARGS__)

// The pickles' length is not announced: more is read until they are complete.
static nino_status read_pickles(int fd, uint64_t file_bytes, const char *name, nino_arena *arena,
                                nino_pickle_old *out, nino_error *err)
{
    const uint64_t most = file_bytes < NINO_PTH_MAX_PICKLE ? file_bytes : NINO_PTH_MAX_PICKLE;
    nino_status st = NINO_ERR_FORMAT;
    for (uint64_t n = 1 << 20;; n *= 4) {
        nino_error e = { 0 };
        n = n < most ? n : most;
        char *p = nino_arena_alloc(arena, (size_t) n + 1);
        st = p ? nino_file_pread(fd, p, (size_t) n, 0, name, &e)
               : nino_fail(&e, NINO_ERR_NOMEM, name, "out of memory");
        if (!st)
            st = nino_pickle_read_old(p, (size_t) n, name, arena, out, &e);
        if (!st || n == most || !e.kind || strcmp(e.kind, "truncated") != 0) {
            if (st && err)
                *err = e;
            return st;
        }
    }
}

// Where each storage begins, and that it is all there.
static nino_status locate(int fd, uint64_t file_bytes, const char *name, nino_pickle_old *o,
                          nino_error *err)
{
    uint64_t at = o->used;
    for (int i = 0; i < o->n_storages; i++) {
        nino_pickle_storage *s = &o->storages[i];
        unsigned char head[8];
        uint64_t count = 0;
        if (file_bytes - at < sizeof(head))
            return REFUSE("truncated", "the file ends before its storage %d of %d", i + 1,
                          o->n_storages);
        const nino_status st = nino_file_pread(fd, head, sizeof(head), at, name, err);
        if (st)
            return st;
        for (int k = 8; k-- > 0;)
            count = count << 8 | head[k];
        at += sizeof(head);
        if (count != s->count)
            return REFUSE("range", "storage %d has another length than its pickle says", i + 1);
        if (count > (file_bytes - at) / nino_dtype_size(s->dtype))
            return REFUSE("truncated", "the file ends inside its storage %d of %d", i + 1,
                          o->n_storages);
        s->data = at;
        at += count * nino_dtype_size(s->dtype);
    }
    nino_pickle_storage_sort(o->storages, o->n_storages);
    for (int i = 1; i < o->n_storages; i++)
        if (o->storages[i].key_len == o->storages[i - 1].key_len &&
            !memcmp(o->storages[i].key, o->storages[i - 1].key, o->storages[i].key_len))
            return REFUSE("dup", "the list of storages names one twice");
    return NINO_OK;
}

static nino_status pth_old_list_tensors(const nino_pickle_old *o, const char *name,
                                        nino_st_header *out, nino_error *err)
{
    nino_status st = NINO_OK;
    out->infos = nino_arena_alloc(out->arena, (size_t) (o->n_tensors + 1) * sizeof(*out->infos));
    if (!out->infos)
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    for (int i = 0; !st && i < o->n_tensors; i++) {
        const nino_pickle_tensor *t = &o->tensors[i];
        if ((st = nino_pth_check_name(t, name, err)))
            return st;
        const nino_pickle_storage *s =
            nino_pickle_storage_find(o->storages, o->n_storages, t->key, t->key_len);
        if (!s)
            return REFUSE("schema", "the storage of '%.*s' is missing",
                          (int) (t->name_len < 100 ? t->name_len : 100), t->name);
        st = nino_pth_fill(t, s->data, name, out->arena, &out->infos[i], err);
    }
    out->n_infos = o->n_tensors;
    if (!st)
        nino_pth_sort(out);
    return st;
}

nino_status nino_pth_old_parse(int fd, uint64_t file_bytes, const char *name, nino_st_header *out,
                               nino_error *err)
{
    nino_pickle_old old = { 0 };
    nino_arena *scratch = nino_arena_create();
    memset(out, 0, sizeof(*out));
    out->arena = nino_arena_create();
    nino_status st = NINO_OK;
    if (!scratch || !out->arena)
        st = nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    if (!st)
        st = read_pickles(fd, file_bytes, name, scratch, &old, err);
    if (!st)
        st = locate(fd, file_bytes, name, &old, err);
    if (!st)
        st = pth_old_list_tensors(&old, name, out, err);
    nino_arena_destroy(&scratch);
    if (st)
        nino_st_header_release(out);
    return st;
}
