// Applying the changes of LoRA files to rows of a weight. The kinds that turn or scale the weight
// need more of it than the rows they change, and read that from the file.
// Sources: Liu et al. 2024 (DoRA); the form of weight_decompose() in ComfyUI
// weight_adapter/base.py.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/model/merge/lora_patch.h"

#define ROOM (1 << 18) // values of a weight at a time

static float *lora_patch_make(const lora_patch *p, int64_t n, nino_error *err)
{
    float *v = calloc((size_t) n, sizeof(*v));
    if (!v)
        nino_fail(err, NINO_ERR_NOMEM, p->target->name, "out of memory");
    return v;
}

// values: what the rows are before.
static nino_status read_change(const lora_patch *p, int64_t row0, int64_t rows, const float *values,
                               float *delta, nino_error *err)
{
    nino_status st = p->kind == LORA_KIND_GLORA
                         ? lora_generalised(p, row0, rows, values, delta, err)
                         : lora_rows(p->from, p->layer, p->kind, p->first + row0 - p->row0, rows,
                                     p->cols, delta, err);
    for (int64_t i = 0; !st && p->scale != 1 && i < rows * p->cols; i++)
        delta[i] *= p->scale;
    return st;
}

// ---- DoRA ------------------------------------------------------------------------------------
// Columns of a convolution are those of an input channel: all taps count.
static int64_t taps_of(const lora_patch *p)
{
    return p->target->rank > 1 ? p->cols / p->target->dim[1] : p->cols;
}

// Euclidean norms of the input channels of the changed weight, over all its rows.
static nino_status column_norms(lora_patches *c, const lora_patch *p, float *norms, nino_error *err)
{
    const int64_t taps = taps_of(p), step = p->cols < ROOM ? ROOM / p->cols : 1;
    const int64_t some = step < p->rows ? step : p->rows, n = p->cols / taps;
    float *w = lora_patch_make(p, 2 * some * p->cols, err), *delta = w ? w + some * p->cols : NULL;
    double *sum = calloc((size_t) n, sizeof(*sum));
    nino_status st =
        w && sum ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, p->target->name, "out of memory");
    for (int64_t row = 0; !st && row < p->rows; row += some) {
        const int64_t k = p->rows - row < some ? p->rows - row : some;
        st = lora_patches_read(c, p, p->row0 + row, k, w, err);
        if (!st)
            st = read_change(p, p->row0 + row, k, w, delta, err);
        for (int64_t i = 0; !st && i < k * p->cols; i++)
            sum[i % p->cols / taps] += (double) (w[i] + delta[i]) * (double) (w[i] + delta[i]);
    }
    for (int64_t i = 0; !st && i < n; i++)
        norms[i] = (float) sqrt(sum[i]);
    free(w);
    free(sum);
    return st;
}

static nino_status get_norms(lora_patches *c, lora_patch *p, nino_error *err)
{
    nino_status st = NINO_OK;
    pthread_mutex_lock(&c->lock);
    if (!p->norms) {
        float *norms = lora_patch_make(p, p->cols, err);
        st = norms ? column_norms(c, p, norms, err) : NINO_ERR_NOMEM;
        if (st)
            free(norms);
        else
            p->norms = norms;
    }
    pthread_mutex_unlock(&c->lock);
    return st;
}

// The magnitude of every row, or of every input channel, is trained; the direction is that of the
// weight with the change. A row's direction is measured before the change, as in the reference.
static nino_status decompose(lora_patches *c, lora_patch *p, const float *magnitude, bool by_row,
                             int64_t row0, int64_t rows, const float *delta, float *values,
                             nino_error *err)
{
    const int64_t taps = taps_of(p);
    nino_status st = by_row ? NINO_OK : get_norms(c, p, err);
    for (int64_t r = 0; !st && r < rows; r++, values += p->cols, delta += p->cols) {
        double sum = 0;
        for (int64_t j = 0; by_row && j < p->cols; j++)
            sum += (double) values[j] * (double) values[j];
        const float norm = (float) sqrt(sum) + FLT_EPSILON;
        for (int64_t j = 0; j < p->cols; j++) {
            const float f = by_row ? magnitude[p->first + row0 - p->row0 + r] / norm
                                   : magnitude[j / taps] / (p->norms[j / taps] + FLT_EPSILON);
            values[j] += p->strength * ((values[j] + delta[j]) * f - values[j]);
        }
    }
    return st;
}

static nino_status apply_dora(lora_patches *c, lora_patch *p, int64_t row0, int64_t rows,
                              const float *delta, float *values, nino_error *err)
{
    nino_array *a = nino_weights_read_f32(p->from, p->layer->t[LORA_DORA], err);
    if (!a)
        return err && err->code ? err->code : NINO_ERR_IO;
    const int64_t n = nino_shape_count(&a->shape), dim0 = a->shape.rank ? a->shape.dim[0] : 1;
    const bool by_row = n == dim0 && p->first + p->rows <= n;
    nino_status st = NINO_OK;
    if (by_row || n == p->cols / taps_of(p))
        st = decompose(c, p, nino_array_f32(a), by_row, row0, rows, delta, values, err);
    else
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "model", p->layer->t[LORA_DORA]->name,
                            "%lld magnitudes do not fit a weight of %lld rows", (long long) n,
                            (long long) p->rows);
    nino_array_unref(&a);
    return st;
}

// ---- all kinds -------------------------------------------------------------------------------

nino_status lora_patch_apply(lora_patches *c, lora_patch *p, int64_t row0, int64_t rows,
                             float *values, nino_error *err)
{
    if (p->kind == LORA_KIND_SET)
        return lora_rows(p->from, p->layer, p->kind, p->first + row0 - p->row0, rows, p->cols,
                         values, err);
    if (p->kind == LORA_KIND_OFT || p->kind == LORA_KIND_BOFT)
        return lora_turn(c, p, row0, rows, values, err);
    const int64_t n = rows * p->cols;
    float *delta = lora_patch_make(p, n, err);
    nino_status st = delta ? read_change(p, row0, rows, values, delta, err) : NINO_ERR_NOMEM;
    if (!st && p->layer->t[LORA_DORA] && p->kind != LORA_KIND_DIFF && p->kind != LORA_KIND_BIAS)
        st = apply_dora(c, p, row0, rows, delta, values, err);
    else
        for (int64_t i = 0; !st && i < n; i++)
            values[i] += p->strength * delta[i];
    free(delta);
    return st;
}

lora_patch *lora_first(const lora_patches *c, const nino_tensor_info *t)
{
    int lo = 0, hi = c->n;
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (c->p[mid].target < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return c->p + lo;
}

int64_t lora_width(const lora_patches *c, const nino_tensor_info *t)
{
    int64_t width = 0;
    for (const lora_patch *p = lora_first(c, t); p < c->p + c->n && p->target == t; p++)
        width = p->cols > width ? p->cols : width;
    return width;
}

// On rows of another width than the patch's, as happens where one LoRA gives a weight more inputs
// and others do not know of them.
static nino_status apply_across(lora_patches *c, lora_patch *p, int64_t row0, int64_t rows,
                                int64_t width, float *values, nino_error *err)
{
    const size_t both = (size_t) (width < p->cols ? width : p->cols) * sizeof(*values);
    float *own = calloc((size_t) (rows * p->cols), sizeof(*own));
    if (!own)
        return nino_fail(err, NINO_ERR_NOMEM, p->target->name, "out of memory");
    for (int64_t i = 0; i < rows; i++)
        memcpy(own + i * p->cols, values + i * width, both);
    const nino_status st = lora_patch_apply(c, p, row0, rows, own, err);
    for (int64_t i = 0; !st && i < rows; i++)
        memcpy(values + i * width, own + i * p->cols, both);
    free(own);
    return st;
}

nino_status lora_patches_apply(lora_patches *c, const nino_tensor_info *t, const lora_patch *until,
                               int64_t row0, int64_t rows, int64_t width, float *values,
                               nino_error *err)
{
    nino_status st = NINO_OK;
    for (lora_patch *p = lora_first(c, t); !st && p < c->p + c->n && p != until; p++) {
        if (p->target != t)
            break;
        const int64_t end = row0 + rows, p_end = p->row0 + p->rows;
        const int64_t lo = row0 > p->row0 ? row0 : p->row0, hi = end < p_end ? end : p_end;
        float *at = values + (lo - row0) * width;
        if (lo < hi)
            st = p->cols == width ? lora_patch_apply(c, p, lo, hi - lo, at, err)
                                  : apply_across(c, p, lo, hi - lo, width, at, err);
    }
    return st;
}

nino_status lora_patches_read(lora_patches *c, const lora_patch *until, int64_t row0, int64_t rows,
                              float *values, nino_error *err)
{
    const nino_tensor_info *t = until->target;
    nino_factors f;
    nino_status st = nino_weights_read_rows_f32(c->base, t, row0, rows, values, err);
    if (!st)
        st = nino_weights_scale(c->base, t, &f, err);
    if (!st)
        st = nino_factors_apply(c->base, &f, row0, rows, until->cols, values, err);
    return st ? st : lora_patches_apply(c, t, until, row0, rows, until->cols, values, err);
}
