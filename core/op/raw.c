// Weights in the file's own form: which may stay so, their layout, reading them.
#include "core/op/raw.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/tensor/quant_grid.h"

static bool is_raw_type(nino_dtype t)
{
    return t == NINO_F8_E4M3 || t == NINO_F8_E5M2 || nino_dtype_is_block(t);
}

static const uint16_t *grid_of(nino_dtype t, uint64_t *entries)
{
    *entries = 0;
    switch (t) {
    case NINO_IQ2_XXS: return *entries = 256, nino_grid_iq2xxs;
    case NINO_IQ2_XS: return *entries = 512, nino_grid_iq2xs;
    case NINO_IQ2_S: return *entries = 1024, nino_grid_iq2s;
    case NINO_IQ3_XXS: return *entries = 256, nino_grid_iq3xxs;
    case NINO_IQ3_S: return *entries = 512, nino_grid_iq3s;
    case NINO_IQ1_S:
    case NINO_IQ1_M: return *entries = 2048, nino_grid_iq1s;
    default: return NULL;
    }
}

// Values of a row of the range's tensor.
static int64_t row_of(const nino_tensor_info *t)
{
    int64_t n = 1;
    for (int i = 1; i < t->rank; i++)
        n *= t->dim[i];
    return n;
}

// Whole blocks, which begin where the tensor's do.
static bool is_range_raw(const nino_weight *w, const nino_weight_range *r, nino_dtype type)
{
    size_t values, bytes;
    nino_dtype_block(type, &values, &bytes);
    const int64_t block = (int64_t) values, row = row_of(r->info);
    if (r->info->dtype != type || r->info->is_strided)
        return false;
    if (r->cols * nino_weight_taps(w) == row)
        return r->row0 * row % block == 0 && r->rows * row % block == 0;
    return nino_weight_taps(w) == 1 && row % block == 0 && r->col0 % block == 0 &&
           r->cols % block == 0;
}

// Rounded values have the order [n][tap][c], which is the file's for one tap only.
static bool find_type(const nino_weight *w, nino_dtype *type)
{
    *type = w->n_ranges && !w->is_rounded ? w->range[0].info->dtype : w->dtype;
    if (w->role == NINO_W_VECTOR || !is_raw_type(*type))
        return false;
    if (w->is_rounded)
        return nino_weight_taps(w) == 1 && !nino_dtype_is_block(*type);
    for (int i = 0; i < w->n_ranges; i++)
        if (!is_range_raw(w, &w->range[i], *type))
            return false;
    return true;
}

bool nino_raw_layout_of(const nino_weight *w, nino_raw_layout *out)
{
    size_t values, bytes;
    nino_raw_layout l = { .type = NINO_F32 };
    if (!find_type(w, &l.type))
        return false;
    for (int i = 0; i < w->n_ranges && !w->is_rounded; i++)
        l.is_scaled |= w->range[i].scale != 1;
    nino_dtype_block(l.type, &values, &bytes);
    const uint64_t count = (uint64_t) (w->n * w->c * nino_weight_taps(w));
    l.scales = ((count + values - 1) / values * bytes + 3) / 4 * 4;
    l.grid = l.scales + (l.is_scaled ? (uint64_t) w->n * sizeof(float) : 0);
    grid_of(l.type, &l.entries);
    l.bytes = l.grid + l.entries * sizeof(uint16_t);
    *out = l;
    return true;
}

// ---- reading -----------------------------------------------------------------------------------

static bool is_cancelled(const volatile int *cancel)
{
    return cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED);
}

// Bytes of n values of that type, which are whole blocks.
static uint64_t bytes_of(nino_dtype type, int64_t n)
{
    size_t values, bytes;
    nino_dtype_block(type, &values, &bytes);
    return (uint64_t) n / values * bytes;
}

// Columns of some rows: whole rows are read, as many as fit.
static nino_status read_columns(const nino_weight *w, const nino_weight_range *r,
                                const volatile int *cancel, char *dst, nino_error *err)
{
    enum { ROOM = 1 << 20 };
    const uint64_t row = bytes_of(r->info->dtype, row_of(r->info));
    const uint64_t cols = bytes_of(r->info->dtype, r->cols);
    const uint64_t at = bytes_of(r->info->dtype, r->col0);
    const int64_t step = row < ROOM ? (int64_t) (ROOM / row) : 1;
    char *rows = malloc((size_t) ((uint64_t) step * row));
    nino_status st = NINO_OK;
    if (!rows)
        return nino_fail(err, NINO_ERR_NOMEM, r->info->name, "no memory to read it");
    for (int64_t i = 0; !st && i < r->rows; i += step) {
        const int64_t n = r->rows - i < step ? r->rows - i : step;
        st = is_cancelled(cancel)
                 ? nino_fail(err, NINO_ERR_CANCELLED, "", "cancelled")
                 : nino_weights_read_bytes(w->file, r->info, (uint64_t) (r->row0 + i) * row,
                                           (uint64_t) n * row, rows, err);
        for (int64_t k = 0; !st && k < n; k++, dst += cols)
            memcpy(dst, rows + (uint64_t) k * row + at, (size_t) cols);
    }
    free(rows);
    return st;
}

static nino_status read_range(const nino_weight *w, const nino_weight_range *r,
                              const volatile int *cancel, char *dst, nino_error *err)
{
    enum { STEP = 1 << 24 };
    const int64_t row = row_of(r->info);
    if (r->cols * nino_weight_taps(w) != row)
        return read_columns(w, r, cancel, dst, err);
    const uint64_t at = bytes_of(r->info->dtype, r->row0 * row);
    const uint64_t bytes = bytes_of(r->info->dtype, r->rows * row);
    nino_status st = NINO_OK;
    for (uint64_t i = 0; !st && i < bytes; i += STEP) {
        const uint64_t n = bytes - i < STEP ? bytes - i : STEP;
        st = is_cancelled(cancel)
                 ? nino_fail(err, NINO_ERR_CANCELLED, "", "cancelled")
                 : nino_weights_read_bytes(w->file, r->info, at + i, n, dst + i, err);
    }
    return st;
}

// Values that are rounded to an 8-bit float as they are read.
static nino_status read_rounded(const nino_weight *w, const volatile int *cancel, char *dst,
                                nino_error *err)
{
    enum { ROOM = 1 << 20 }; // values at a time
    const int64_t step = w->c < ROOM ? ROOM / w->c : 1;
    const int64_t most = step < w->n ? step : w->n;
    float *rows = malloc((size_t) (most * w->c) * sizeof(*rows));
    nino_status st = NINO_OK;
    if (!rows)
        return nino_fail(err, NINO_ERR_NOMEM, w->info ? w->info->name : "weight",
                         "no memory to round it");
    for (int64_t i = 0; !st && i < w->n; i += step) {
        const int64_t n = w->n - i < step ? w->n - i : step;
        st = is_cancelled(cancel) ? nino_fail(err, NINO_ERR_CANCELLED, "", "cancelled")
                                  : nino_weight_read_part(w, i, n, rows, err);
        if (!st)
            nino_from_f32(dst + i * w->c, w->dtype, rows, (size_t) (n * w->c));
    }
    free(rows);
    return st;
}

static nino_status read_rows(const nino_weight *w, const nino_raw_layout *l,
                             const volatile int *cancel, char *dst, nino_error *err)
{
    nino_status st = NINO_OK;
    if (w->is_rounded)
        return read_rounded(w, cancel, dst, err);
    if (w->data)
        memcpy(dst, w->data->data, w->data->bytes);
    for (int i = 0; !st && i < w->n_ranges; i++) {
        const nino_weight_range *r = &w->range[i];
        st = read_range(w, r, cancel, dst, err);
        dst += bytes_of(l->type, r->rows * r->cols * nino_weight_taps(w));
    }
    return st;
}

nino_status nino_raw_read(const nino_weight *w, const nino_raw_layout *l,
                          const volatile int *cancel, void *dst, nino_error *err)
{
    uint64_t entries;
    const uint16_t *grid = grid_of(l->type, &entries);
    void *scales = (char *) dst + l->scales;
    float *scale = scales;
    const nino_status st = read_rows(w, l, cancel, dst, err);
    for (int i = 0; l->is_scaled && i < w->n_ranges; i++)
        for (int64_t n = 0; n < w->range[i].rows; n++)
            *scale++ = w->range[i].scale;
    if (entries)
        memcpy((char *) dst + l->grid, grid, (size_t) entries * sizeof(*grid));
    return st;
}
