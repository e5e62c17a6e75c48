// Views: a file in which some tensors have other values, computed when they are read.
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/file/weights_priv.h"

// The base's info of a view's tensor.
static const nino_tensor_info *base_info(const nino_weights *w, const nino_tensor_info *t)
{
    return &w->base->header.infos[t - w->header.infos];
}

// Rows of the base's tensor, which may have fewer of them, and fewer columns.
static nino_status read_base(const nino_weights *w, const nino_tensor_info *t, int64_t first,
                             int64_t n, float *dst, nino_error *err)
{
    const nino_tensor_info *b = base_info(w, t);
    if (t->rank != 2 || (t->dim[0] == b->dim[0] && t->dim[1] == b->dim[1]))
        return nino_weights_read_rows_f32(w->base, b, first, n, dst, err);
    const int64_t rows = first >= b->dim[0] ? 0 : n < b->dim[0] - first ? n : b->dim[0] - first;
    memset(dst, 0, (size_t) (n * t->dim[1]) * sizeof(*dst));
    if (!rows)
        return NINO_OK;
    float *old = malloc((size_t) (rows * b->dim[1]) * sizeof(*old));
    if (!old)
        return nino_fail(err, NINO_ERR_NOMEM, t->name, "out of memory");
    const nino_status st = nino_weights_read_rows_f32(w->base, b, first, rows, old, err);
    for (int64_t i = 0; !st && i < rows; i++)
        memcpy(dst + i * t->dim[1], old + i * b->dim[1], (size_t) b->dim[1] * sizeof(*dst));
    free(old);
    return st;
}

// Rows of a changed tensor: those of the base, changed, rounded as they would be stored.
static nino_status read_changed(const nino_weights *w, const nino_tensor_info *t, int64_t first,
                                int64_t n, float *dst, nino_error *err)
{
    const nino_tensor_info *b = base_info(w, t);
    const size_t count =
        (size_t) (t->bytes / nino_dtype_size(t->dtype) / (uint64_t) t->dim[0] * (uint64_t) n);
    const int64_t old = first + n < b->dim[0] ? n : b->dim[0] - first; // not those that are new
    nino_factors f;
    nino_status st = read_base(w, t, first, n, dst, err);
    if (!st)
        st = nino_weights_scale(w->base, b, &f, err);
    if (!st)
        st = nino_factors_apply(w->base, &f, first, old, (int64_t) count / n, dst, err);
    if (!st)
        st = w->change.apply(w->change.priv, b, first, n, dst, err);
    if (st || t->dtype == NINO_F32)
        return st;
    for (size_t i = 0; i < count; i++)
        dst[i] = t->dtype == NINO_F16 ? nino_f16_to_f32(nino_f32_to_f16(dst[i]))
                                      : nino_bf16_to_f32(nino_f32_to_bf16(dst[i]));
    return NINO_OK;
}

nino_status nino_view_read_bytes(const nino_weights *w, const nino_tensor_info *t, uint64_t at,
                                 uint64_t n, void *dst, nino_error *err)
{
    if (w->is_changed[t - w->header.infos])
        return nino_fail(err, NINO_ERR_UNSUPPORTED, t->name,
                         "its values are not those of the file");
    return nino_weights_read_bytes(w->base, base_info(w, t), at, n, dst, err);
}

nino_status nino_view_read_rows(const nino_weights *w, const nino_tensor_info *t, int64_t first,
                                int64_t n, float *dst, nino_error *err)
{
    return w->is_changed[t - w->header.infos]
               ? read_changed(w, t, first, n, dst, err)
               : nino_weights_read_rows_f32(w->base, base_info(w, t), first, n, dst, err);
}

nino_status nino_view_read_all(const nino_weights *w, const nino_tensor_info *t, float *dst,
                               nino_error *err)
{
    if (t->rank)
        return nino_view_read_rows(w, t, 0, t->dim[0], dst, err);
    nino_array *a = nino_weights_read_f32(w->base, base_info(w, t), err); // scalars never change
    if (!a)
        return NINO_ERR_IO;
    *dst = nino_array_f32(a)[0];
    nino_array_unref(&a);
    return NINO_OK;
}

nino_status nino_view_read(const nino_weights *w, const nino_tensor_info *t, void *dst,
                           nino_error *err)
{
    if (!w->is_changed[t - w->header.infos])
        return nino_weights_read(w->base, base_info(w, t), dst, err);
    nino_array *a = nino_weights_read_f32(w, t, err);
    if (!a)
        return NINO_ERR_IO;
    nino_from_f32(dst, t->dtype, nino_array_f32(a), a->bytes / sizeof(float));
    nino_array_unref(&a);
    return NINO_OK;
}

// Only upwards, and to no size that could overflow.
static void weights_view_enlarge(const nino_weights *w, nino_tensor_info *t)
{
    int64_t dim[2] = { t->dim[0], t->dim[1] };
    if (t->rank != 2 || !w->change.enlarge)
        return;
    w->change.enlarge(w->change.priv, t->name, dim);
    for (int i = 0; i < 2; i++)
        if (dim[i] > t->dim[i] && dim[i] <= 1 << 20)
            t->dim[i] = dim[i];
}

static bool is_16_bit(const nino_tensor_info *t)
{
    return t->dtype == NINO_F16 || t->dtype == NINO_BF16;
}

// Copies the base's table; names stay in the base's arena.
static nino_status copy_table(nino_weights *w, nino_error *err)
{
    const nino_st_header *from = &w->base->header;
    nino_st_header *to = &w->header;
    const size_t n = (size_t) from->n_infos;
    to->arena = nino_arena_create();
    if (to->arena)
        to->infos = nino_arena_alloc(to->arena, (n + 1) * sizeof(*to->infos));
    w->is_changed = calloc(n + 1, sizeof(*w->is_changed));
    if (!to->infos || !w->is_changed)
        return nino_fail(err, NINO_ERR_NOMEM, w->path, "out of memory");
    to->n_infos = from->n_infos;
    to->meta = from->meta;
    to->n_meta = from->n_meta;
    for (size_t i = 0; i < n; i++) {
        nino_tensor_info *t = &to->infos[i];
        *t = from->infos[i];
        w->is_changed[i] = t->rank > 0 && t->rank <= NINO_MAX_RANK && t->bytes &&
                           w->change.covers(w->change.priv, t->name);
        if (!w->is_changed[i])
            continue;
        weights_view_enlarge(w, t);
        if (!is_16_bit(t) || w->change.is_exact)
            t->dtype = NINO_F32;
        t->bytes = (uint64_t) nino_tensor_info_count(t) * nino_dtype_size(t->dtype);
        nino_tensor_info_set_dense(t);
    }
    return nino_weights_build_index(w, err);
}

nino_weights *nino_weights_changed(nino_weights *base, const nino_weights_change *c,
                                   nino_error *err)
{
    const nino_hash both[] = { base->identity, c->identity };
    nino_weights *w = calloc(1, sizeof(*w));
    char *path = strdup(base->path);
    if (!w || !path) {
        nino_fail(err, NINO_ERR_NOMEM, base->path, "out of memory");
        c->destroy(c->priv);
        free(path);
        free(w);
        return NULL;
    }
    *w = (nino_weights){ .refs = 1,
                         .fd = -1,
                         .path = path,
                         .format = base->format,
                         .file_bytes = base->file_bytes,
                         .identity = nino_hash_bytes(both, sizeof(both)),
                         .base = nino_weights_ref(base),
                         .change = *c };
    if (copy_table(w, err))
        nino_weights_unref(&w);
    return w;
}

nino_weights *nino_weights_base(nino_weights *w) { return w->base ? w->base : w; }

// Numbers that would take two or four times the memory once they are changed.
static bool is_narrow(const nino_tensor_info *t)
{
    return nino_dtype_is_block(t->dtype) || nino_dtype_bits(t->dtype) <= 8;
}

bool nino_weights_is_made_at_use(const nino_weights *w, const nino_tensor_info *t)
{
    return w->base && w->change.is_made_at_use && w->is_changed[t - w->header.infos] &&
           is_narrow(base_info(w, t));
}

int nino_weights_low_rank(nino_weights *w, const nino_tensor_info *t, nino_weights **base,
                          const nino_tensor_info **stored, nino_low_rank *out, int max)
{
    if (!w->base || !w->is_changed[t - w->header.infos] || !w->change.low_rank)
        return 0;
    const nino_tensor_info *b = base_info(w, t);
    if (!is_narrow(b) && !(w->change.is_exact && is_16_bit(b)))
        return 0;
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] != b->dim[i])
            return 0;
    const int n = w->change.low_rank(w->change.priv, t->name, out, max);
    if (n) {
        *base = w->base;
        *stored = b;
    }
    return n;
}
