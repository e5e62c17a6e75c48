// What the table of a file of tensors says, told to the driver: for targets that read such files.
#pragma once
#include "core/file/safetensors.h"
#include "tests/fuzz/fuzz.h"

static inline void tell_tensor(const nino_tensor_info *t)
{
    TELL("%s %d %llu+%llu %d", t->name, t->dtype, (unsigned long long) t->offset,
         (unsigned long long) t->bytes, t->is_strided);
    for (int i = 0; i < t->rank; i++)
        TELL(" %lld/%lld", (long long) t->dim[i], (long long) t->stride[i]);
    TELL("\n");
}

static inline void tell_header(const nino_st_header *h)
{
    for (int i = 0; i < h->n_infos; i++)
        tell_tensor(&h->infos[i]);
    for (int i = 0; i < h->n_meta; i++) {
        TELL("%s = ", h->meta[i].key);
        tell_bytes(h->meta[i].value, h->meta[i].value_len);
    }
}
