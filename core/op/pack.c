// Packing of weights on the host.
#include "core/op/pack.h"

#include "core/base/error.h"
#include "core/base/size.h"

#include <stdlib.h>
#include <string.h>

void nino_pack_panels(const float *rows, int64_t n, int taps, int64_t c, nino_dtype dtype,
                      void *dst)
{
    const int64_t cp = nino_pack_cp(c), panels = nino_pack_panels_of(n);
    const size_t size = nino_dtype_size(dtype);
    char *to = dst;
    float line[64];
    for (int64_t p = 0; p < panels; p++) {
        const int64_t width = n - p * 64 < 64 ? n - p * 64 : 64;
        const float *from = rows + p * 64 * taps * c;
        memset(line, 0, sizeof(line));
        for (int t = 0; t < taps; t++)
            for (int64_t k = 0; k < cp; k++, to += 64 * size) {
                for (int64_t i = 0; i < width; i++)
                    line[i] = k < c ? from[(i * taps + t) * c + k] : 0;
                nino_from_f32(to, dtype, line, 64);
            }
    }
}

// [n][taps][c] -> [taps][c][n]
static void pack_ref(const float *rows, int64_t n, int64_t taps_c, float *dst)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < taps_c; k++)
            dst[k * n + i] = rows[i * taps_c + k];
}

nino_status nino_pack_weight(const nino_profile *p, const nino_weight *w, void *dst,
                             nino_error *err)
{
    const int taps = w->role == NINO_W_CONV3 ? 9 : 1;
    nino_dtype dtype;
    uint64_t bytes;
    float *rows = NULL;
    nino_status st = NINO_OK;
    if (!nino_mul_u64((uint64_t) w->n, (uint64_t) w->c, &bytes) ||
        !nino_mul_u64(bytes, (uint64_t) taps * sizeof(float), &bytes) ||
        !(rows = malloc((size_t) bytes))) {
        st = nino_fail(err, NINO_ERR_NOMEM, w->info ? w->info->name : "weight",
                       "no memory to pack it");
        goto end;
    }
    st = nino_weight_read_rows(w, rows, err);
    if (st)
        goto end;
    const size_t packed = nino_sched_packed_bytes(p, w, &dtype);
    if (w->role == NINO_W_VECTOR) {
        memset(dst, 0, packed);
        memcpy(dst, rows, (size_t) w->n * sizeof(float));
    } else if (p->schedule == NINO_SCHED_REF)
        pack_ref(rows, w->n, taps * w->c, dst);
    else
        nino_pack_panels(rows, w->n, taps, w->c, dtype, dst);
end:
    free(rows);
    return st;
}
