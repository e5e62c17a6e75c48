// Packing of weights on the host.
#include "core/op/pack.h"

#include "core/base/error.h"

#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t) 16 * 64)

// Sixteen columns of a panel at a time: rows are read along, and lie far apart.
static void pack_columns(const float *from, int64_t stride, int64_t width, int64_t c, float *line)
{
    const int64_t n = c < 16 ? c : 16;
    if (width < 64 || n < 16)
        memset(line, 0, PIECE * sizeof(*line));
    for (int64_t i = 0; n == 16 && i < width; i++)
        for (int64_t k = 0; k < 16; k++) // a number that the compiler knows
            line[k * 64 + i] = from[i * stride + k];
    for (int64_t i = 0; n < 16 && i < width; i++)
        for (int64_t k = 0; k < n; k++)
            line[k * 64 + i] = from[i * stride + k];
}

void nino_pack_panels(const float *rows, int64_t n, int taps, int64_t c, nino_dtype dtype,
                      void *dst)
{
    const int64_t cp = nino_pack_cp(c), panels = nino_pack_panels_of(n);
    const size_t bytes = PIECE * nino_dtype_size(dtype);
    char *to = dst;
    float line[PIECE];
    for (int64_t p = 0; p < panels; p++) {
        const int64_t width = n - p * 64 < 64 ? n - p * 64 : 64;
        for (int t = 0; t < taps; t++)
            for (int64_t k = 0; k < cp; k += 16, to += bytes) {
                pack_columns(rows + (p * 64 * taps + t) * c + k, taps * c, width, c - k, line);
                nino_from_f32(to, dtype, line, PIECE);
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

// Some panels at a time, so that little memory is needed beside dst.
static nino_status pack_file(const nino_weight *w, int taps, nino_dtype dtype, void *dst,
                             nino_error *err)
{
    enum { ROOM = 1 << 20 }; // values at a time
    const int64_t row = w->c * taps, fit = ROOM / row / 64 * 64;
    const int64_t step = fit < 64 ? 64 : fit < w->n ? fit : nino_pack_panels_of(w->n) * 64;
    const size_t row_bytes = (size_t) (nino_pack_cp(w->c) * taps) * nino_dtype_size(dtype);
    float *rows = malloc((size_t) (step * row) * sizeof(float));
    nino_status st = NINO_OK;
    if (!rows)
        return nino_fail(err, NINO_ERR_NOMEM, w->info ? w->info->name : "weight",
                         "no memory to pack it");
    for (int64_t n = 0; !st && n < w->n; n += step) {
        const int64_t k = w->n - n < step ? w->n - n : step;
        if (!(st = nino_weight_read_part(w, n, k, rows, err)))
            nino_pack_panels(rows, k, taps, w->c, dtype, (char *) dst + (size_t) n * row_bytes);
    }
    free(rows);
    return st;
}

nino_status nino_pack_weight(const nino_profile *p, const nino_weight *w, void *dst,
                             nino_error *err)
{
    const int taps = w->role == NINO_W_CONV3 ? 9 : 1;
    nino_dtype dtype;
    const size_t packed = nino_sched_packed_bytes(p, w, &dtype);
    if (w->role == NINO_W_VECTOR) {
        memset(dst, 0, packed);
        return nino_weight_read_rows(w, dst, err);
    }
    if (p->schedule != NINO_SCHED_REF)
        return pack_file(w, taps, dtype, dst, err);
    float *rows = malloc((size_t) (w->n * taps * w->c) * sizeof(float));
    if (!rows)
        return nino_fail(err, NINO_ERR_NOMEM, w->info ? w->info->name : "weight",
                         "no memory to pack it");
    const nino_status st = nino_weight_read_rows(w, rows, err);
    if (!st)
        pack_ref(rows, w->n, taps * w->c, dst);
    free(rows);
    return st;
}
