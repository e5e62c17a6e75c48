// From the tensors of a pickle to the table of a file.
#include "core/file/pth_table.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/utf8.h"

#define REFUSE(kind, ...) nino_fail_kind(err, NINO_ERR_FORMAT, kind, file, __VA_ARGS__)

nino_status nino_pth_check_name(const nino_pickle_tensor *t, const char *file, nino_error *err)
{
    if (!t->name_len || t->name_len > NINO_PTH_MAX_NAME)
        return REFUSE(t->name_len ? "limit" : "name", "a tensor's name has %zu bytes", t->name_len);
    if (t->key_len > NINO_PTH_MAX_NAME - 8)
        return REFUSE("limit", "the name of a tensor's storage has %zu bytes", t->key_len);
    for (size_t i = 0; i < t->name_len; i++)
        if ((unsigned char) t->name[i] < 0x20 || t->name[i] == 0x7f)
            return REFUSE("name", "a tensor's name contains control characters");
    if (!nino_utf8_valid(t->name, t->name_len))
        return REFUSE("name", "a tensor's name is not UTF-8");
    return NINO_OK;
}

nino_status nino_pth_fill(const nino_pickle_tensor *t, uint64_t data, const char *file,
                          nino_arena *arena, nino_tensor_info *info, nino_error *err)
{
    const size_t size = nino_dtype_size(t->dtype);
    info->name = nino_arena_strndup(arena, t->name, t->name_len);
    if (!info->name)
        return nino_fail(err, NINO_ERR_NOMEM, file, "out of memory");
    info->dtype = t->dtype;
    info->rank = t->rank;
    info->offset = data + t->offset * size;
    uint64_t dense = 1; // the stride that a contiguous tensor has at dimension i
    for (int i = t->rank - 1; i >= 0; i--) {
        info->dim[i] = t->dim[i];
        info->stride[i] = t->stride[i];
        info->is_strided = info->is_strided || (t->dim[i] > 1 && (uint64_t) t->stride[i] != dense);
        dense *= (uint64_t) t->dim[i];
    }
    info->bytes = dense * size;
    if (!info->bytes) // an empty tensor's offset and strides mean nothing
        info->offset = data;
    if (!info->bytes || !info->is_strided)
        nino_tensor_info_set_dense(info);
    return NINO_OK;
}

static int pth_by_offset(const void *a, const void *b)
{
    const nino_tensor_info *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return strcmp(x->name, y->name);
}

void nino_pth_sort(nino_st_header *h)
{
    if (h->n_infos > 1)
        qsort(h->infos, (size_t) h->n_infos, sizeof(*h->infos), pth_by_offset);
}
