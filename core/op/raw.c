// Weights in the file's own form: which may stay so, their layout, reading them.
#include "core/op/raw.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/tensor/quant_grid.h"

static bool is_raw_type(nino_dtype t)
{
    return t == NINO_F8_E4M3 || t == NINO_F8_E5M2 || t == NINO_I8 || nino_dtype_is_block(t);
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
static int64_t raw_row_of(const nino_tensor_info *t)
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
    const int64_t block = (int64_t) values, row = raw_row_of(r->info);
    if (r->info->dtype != type || r->info->is_strided)
        return false;
    if (r->cols * nino_weight_taps(w) == row)
        return r->row0 * row % block == 0 && r->rows * row % block == 0;
    return nino_weight_taps(w) == 1 && row % block == 0 && r->col0 % block == 0 &&
           r->cols % block == 0;
}

static bool is_float(nino_dtype t) { return t == NINO_F32 || t == NINO_F16 || t == NINO_BF16; }

// Rounded values have the order [n][tap][c], which is the file's for one tap only.
static bool is_whole_raw(const nino_weight *w)
{
    return is_raw_type(w->dtype) &&
           (!w->is_rounded || (nino_weight_taps(w) == 1 && !nino_dtype_is_block(w->dtype)));
}

// Appends rows; to the last part where it has their type.
static bool raw_add_rows(nino_raw_layout *l, nino_dtype type, int64_t rows, bool is_scaled)
{
    nino_raw_part *p = l->n_parts ? &l->part[l->n_parts - 1] : NULL;
    if (p && p->type == type) {
        p->rows += rows;
        p->is_scaled |= is_scaled;
        return true;
    }
    const int64_t row0 = p ? p->row0 + p->rows : 0;
    if (l->n_parts == NINO_RAW_PARTS || row0 % 16)
        return false;
    l->part[l->n_parts++] =
        (nino_raw_part){ .type = type, .row0 = row0, .rows = rows, .is_scaled = is_scaled };
    return true;
}

static bool raw_find_parts(const nino_weight *w, nino_raw_layout *l)
{
    bool is_any = false;
    *l = (nino_raw_layout){ 0 };
    if (w->role == NINO_W_VECTOR)
        return false;
    if (w->place)
        return false;
    if (!w->n_ranges || w->is_rounded)
        return is_whole_raw(w) && raw_add_rows(l, w->dtype, w->n, false);
    for (int i = 0; i < w->n_ranges; i++) {
        const nino_weight_range *r = &w->range[i];
        const nino_dtype type = r->info->dtype;
        is_any |= is_raw_type(type);
        if (!(is_float(type) || (is_raw_type(type) && is_range_raw(w, r, type))) ||
            !raw_add_rows(l, type, r->rows, nino_factors_any(&r->scale)))
            return false;
    }
    return is_any && (l->n_parts == 1 || nino_raw_can_decode(w));
}

bool nino_raw_has_pairs(nino_dtype t)
{
    switch (t) {
    case NINO_I8:
    case NINO_F8_E4M3:
    case NINO_F8_E5M2:
    case NINO_Q8_0:
    case NINO_Q4_0:
    case NINO_Q4_1:
    case NINO_Q5_0:
    case NINO_Q5_1:
    case NINO_Q4_K:
    case NINO_Q5_K:
    case NINO_Q6_K: return true;
    default: return false;
    }
}

static uint64_t align16(uint64_t n) { return (n + 15) / 16 * 16; }

bool nino_raw_layout_of(const nino_weight *w, nino_raw_layout *out)
{
    nino_raw_layout l;
    if (!raw_find_parts(w, &l))
        return false;
    for (int i = 0; i < l.n_parts; i++) {
        nino_raw_part *p = &l.part[i];
        size_t values, bytes;
        nino_dtype_block(p->type, &values, &bytes);
        const uint64_t count = (uint64_t) (p->rows * w->c * nino_weight_taps(w));
        p->at = align16(l.bytes);
        p->scales = align16((count + values - 1) / values * bytes); // kernels read 16 values
        p->grid = p->scales + (p->is_scaled ? (uint64_t) p->rows * sizeof(float) : 0);
        grid_of(p->type, &p->entries);
        l.bytes = p->at + p->grid + p->entries * sizeof(uint16_t);
    }
    *out = l;
    return true;
}

// ---- reading -----------------------------------------------------------------------------------

static bool is_cancelled(const volatile int *cancel)
{
    return cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED);
}

// Bytes of n values of that type, which are whole blocks.
static uint64_t raw_bytes_of(nino_dtype type, int64_t n)
{
    size_t values, bytes;
    nino_dtype_block(type, &values, &bytes);
    return (uint64_t) n / values * bytes;
}

// Columns of some rows: whole rows are read, as many as fit.
static nino_status read_columns(const nino_weight_range *r, const volatile int *cancel, char *dst,
                                nino_error *err)
{
    enum { ROOM = 1 << 20 };
    const uint64_t row = raw_bytes_of(r->info->dtype, raw_row_of(r->info));
    const uint64_t cols = raw_bytes_of(r->info->dtype, r->cols);
    const uint64_t at = raw_bytes_of(r->info->dtype, r->col0);
    const int64_t step = row < ROOM ? (int64_t) (ROOM / row) : 1;
    char *rows = malloc((size_t) ((uint64_t) step * row));
    nino_status st = NINO_OK;
    if (!rows)
        return nino_fail(err, NINO_ERR_NOMEM, r->info->name, "no memory to read it");
    for (int64_t i = 0; !st && i < r->rows; i += step) {
        const int64_t n = r->rows - i < step ? r->rows - i : step;
        st = is_cancelled(cancel)
                 ? nino_fail(err, NINO_ERR_CANCELLED, "", "cancelled")
                 : nino_weights_read_bytes(r->file, r->info, (uint64_t) (r->row0 + i) * row,
                                           (uint64_t) n * row, rows, err);
        for (int64_t k = 0; !st && k < n; k++, dst += cols)
            memcpy(dst, rows + (uint64_t) k * row + at, (size_t) cols);
    }
    free(rows);
    return st;
}

static nino_status raw_read_range(const nino_weight *w, const nino_weight_range *r,
                                  const volatile int *cancel, char *dst, nino_error *err)
{
    enum { STEP = 1 << 24 };
    const int64_t row = raw_row_of(r->info);
    if (r->cols * nino_weight_taps(w) != row)
        return read_columns(r, cancel, dst, err);
    const uint64_t at = raw_bytes_of(r->info->dtype, r->row0 * row);
    const uint64_t bytes = raw_bytes_of(r->info->dtype, r->rows * row);
    nino_status st = NINO_OK;
    for (uint64_t i = 0; !st && i < bytes; i += STEP) {
        const uint64_t n = bytes - i < STEP ? bytes - i : STEP;
        st = is_cancelled(cancel)
                 ? nino_fail(err, NINO_ERR_CANCELLED, "", "cancelled")
                 : nino_weights_read_bytes(r->file, r->info, at + i, n, dst + i, err);
    }
    return st;
}

// Values of a part that are rounded to an 8-bit float as they are read, or not stored as bytes.
static nino_status raw_read_values(const nino_weight *w, const nino_raw_part *p,
                                   const volatile int *cancel, char *dst, nino_error *err)
{
    enum { ROOM = 1 << 20 }; // values at a time
    const int64_t step = w->c < ROOM ? ROOM / w->c : 1;
    const int64_t most = step < p->rows ? step : p->rows;
    const size_t row_bytes = (size_t) w->c * nino_dtype_size(p->type);
    float *rows = malloc((size_t) (most * w->c) * sizeof(*rows));
    nino_status st = NINO_OK;
    if (!rows)
        return nino_fail(err, NINO_ERR_NOMEM, w->info ? w->info->name : "weight",
                         "no memory to round it");
    for (int64_t i = 0; !st && i < p->rows; i += step) {
        const int64_t n = p->rows - i < step ? p->rows - i : step;
        st = is_cancelled(cancel) ? nino_fail(err, NINO_ERR_CANCELLED, "", "cancelled")
                                  : nino_weight_read_part(w, p->row0 + i, n, rows, err);
        if (!st)
            nino_from_f32(dst + (size_t) i * row_bytes, p->type, rows, (size_t) (n * w->c));
    }
    free(rows);
    return st;
}

// Reads the rows of a part, which the ranges from *range on are, and their factors.
static nino_status read_part(const nino_weight *w, const nino_raw_part *p, int *range,
                             const volatile int *cancel, char *dst, nino_error *err)
{
    nino_status st = NINO_OK;
    void *scales = dst + p->scales;
    float *scale = scales;
    for (int64_t rows = 0; !st && rows < p->rows; rows += w->range[(*range)++].rows) {
        const nino_weight_range *r = &w->range[*range];
        if (!is_float(p->type)) // those may be changed by a view: they have values, no bytes
            st = raw_read_range(w, r, cancel, dst, err);
        dst += raw_bytes_of(p->type, r->rows * r->cols * nino_weight_taps(w));
        for (int64_t n = 0; p->is_scaled && n < r->rows; n++)
            scale[n] = 1;
        if (!st && p->is_scaled)
            st = nino_factors_apply(r->file, &r->scale, r->row0, r->rows, 1, scale, err);
        scale += p->is_scaled ? r->rows : 0;
    }
    return st;
}

nino_status nino_raw_read(const nino_weight *w, const nino_raw_layout *l,
                          const volatile int *cancel, void *dst, nino_error *err)
{
    nino_status st = NINO_OK;
    int range = 0;
    for (int i = 0; !st && i < l->n_parts; i++) {
        const nino_raw_part *p = &l->part[i];
        uint64_t entries;
        const uint16_t *grid = grid_of(p->type, &entries);
        char *to = (char *) dst + p->at;
        if (w->data)
            memcpy(to, w->data->data, w->data->bytes);
        else if (!w->is_rounded)
            st = read_part(w, p, &range, cancel, to, err);
        if (!st && (w->is_rounded || is_float(p->type)))
            st = raw_read_values(w, p, cancel, to, err);
        if (entries)
            memcpy(to + p->grid, grid, (size_t) entries * sizeof(*grid));
    }
    return st;
}
