// Changes that are made of the weight itself: rotations of its rows (OFT, BOFT) and a low-rank
// change of its input (GLoRA).
// Sources: Qiu et al. 2023 (OFT), Liu et al. 2023 (BOFT), Chavan et al. 2023 (GLoRA); how strength
// and alpha enter: ComfyUI weight_adapter/{oft,boft,glora}.py.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/model/merge/lora_patch.h"

#define ROOM (1 << 18) // values of a weight at a time

static nino_status lora_weight_no_memory(const lora_patch *p, nino_error *err)
{
    return nino_fail(err, NINO_ERR_NOMEM, p->target->name, "out of memory");
}

// ---- rotations -------------------------------------------------------------------------------
// The trained blocks, [stages][blocks][size][size]; OFT has one stage.
typedef struct turns {
    int64_t stages, blocks, size;
    double *r; // rotations, the same shape
} turns;

// inv = m^-1 by elimination with pivots; m is destroyed. False: singular.
static bool invert(double *m, double *inv, int64_t n)
{
    for (int64_t i = 0; i < n * n; i++)
        inv[i] = i % (n + 1) == 0;
    for (int64_t c = 0; c < n; c++) {
        int64_t pivot = c;
        for (int64_t i = c + 1; i < n; i++)
            if (fabs(m[i * n + c]) > fabs(m[pivot * n + c]))
                pivot = i;
        const double f = m[pivot * n + c];
        if (f == 0 || !isfinite(f))
            return false;
        for (int64_t j = 0; j < n; j++) {
            const double a = m[pivot * n + j], b = inv[pivot * n + j];
            m[pivot * n + j] = m[c * n + j];
            inv[pivot * n + j] = inv[c * n + j];
            m[c * n + j] = a / f;
            inv[c * n + j] = b / f;
        }
        for (int64_t i = 0; i < n; i++) {
            const double g = m[i * n + c];
            for (int64_t j = 0; i != c && g != 0 && j < n; j++) {
                m[i * n + j] -= g * m[c * n + j];
                inv[i * n + j] -= g * inv[c * n + j];
            }
        }
    }
    return true;
}

// Cayley: r = (I + q) (I - q)^-1 with q = f (b - b^T). work: 2 n^2.
static bool rotation(const float *b, double f, int64_t n, double *r, double *work)
{
    double *m = work, *inv = work + n * n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            m[i * n + j] = (i == j) - f * ((double) b[i * n + j] - (double) b[j * n + i]);
    if (!invert(m, inv, n))
        return false;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = inv[i * n + j];
            for (int64_t k = 0; k < n; k++)
                sum += f * ((double) b[i * n + k] - (double) b[k * n + i]) * inv[k * n + j];
            r[i * n + j] = sum;
        }
    return true;
}

// Alpha is the largest norm that q may have, over all blocks; 0: any.
static double constraint(const float *b, const turns *t, double alpha)
{
    const int64_t n = t->size;
    double sum = 0;
    for (int64_t k = 0; k < t->stages * t->blocks; k++, b += n * n)
        for (int64_t i = 0; i < n * n; i++) {
            const double q = (double) b[i] - (double) b[i % n * n + i / n];
            sum += q * q;
        }
    const double norm = sqrt(sum) + 1e-8;
    return alpha > 0 && norm > alpha ? alpha / norm : 1;
}

static nino_status read_alpha(const lora_patch *p, double *alpha, nino_error *err)
{
    const nino_tensor_info *t = p->layer->t[LORA_ALPHA];
    nino_array *a = t ? nino_weights_read_f32(p->from, t, err) : NULL;
    *alpha = a ? (double) nino_array_f32(a)[0] : 0;
    nino_array_unref(&a);
    return !t || *alpha == *alpha ? NINO_OK : NINO_ERR_FORMAT;
}

static nino_status read_turns(const lora_patch *p, turns *t, nino_error *err)
{
    const nino_tensor_info *info = p->layer->t[LORA_OFT_BLOCKS];
    const int64_t *dim = info->dim + (info->rank == 4);
    nino_array *b = nino_weights_read_f32(p->from, info, err);
    double alpha = 0, *work = NULL;
    if (!b)
        return err && err->code ? err->code : NINO_ERR_IO;
    *t = (turns){ info->rank == 4 ? info->dim[0] : 1, dim[0], dim[1], NULL };
    const int64_t n = t->size * t->size, all = t->stages * t->blocks;
    nino_status st = read_alpha(p, &alpha, err);
    t->r = malloc((size_t) (all * n) * sizeof(double));
    work = malloc((size_t) (2 * n) * sizeof(double));
    if (!st && (!t->r || !work))
        st = lora_weight_no_memory(p, err);
    const double f = st ? 0 : constraint(nino_array_f32(b), t, alpha);
    for (int64_t i = 0; !st && i < all; i++)
        if (!rotation(nino_array_f32(b) + i * n, f, t->size, t->r + i * n, work))
            st = nino_fail_kind(err, NINO_ERR_FORMAT, "model", info->name, "not a rotation");
    free(work);
    nino_array_unref(&b);
    return st;
}

// c[n]: how much of row n of the weight is added to row `row`. OFT: strength counts twice.
static void oft_row(const turns *t, double strength, int64_t row, double *c)
{
    const int64_t n = t->size, first = row / n * n, m = row - first;
    const double *r = t->r + row / n * n * n;
    for (int64_t i = 0; i < n; i++)
        c[first + i] = strength * strength * (r[i * n + m] - (i == m));
}

// The row that is at `pos` when stage i pairs rows that are far from each other.
static int64_t butterfly(const turns *t, int stage, int64_t pos)
{
    const int64_t k = ((int64_t) 1 << stage) * (t->size / 2), within = pos % (2 * k);
    return pos - within + within % 2 * k + within / 2;
}

// Backwards through the stages: which rows of a stage's input make up the row. next: room.
static void boft_row(const turns *t, double strength, double rescale, int64_t row, int64_t rows,
                     double *c, double *next)
{
    const int64_t n = t->size;
    c[row] = rescale;
    for (int s = (int) t->stages - 1; s >= 0; s--) {
        memset(next, 0, (size_t) rows * sizeof(*next));
        for (int64_t b = 0; b < t->blocks; b++)
            for (int64_t i = 0; i < n; i++) {
                const double *r = t->r + ((s * t->blocks + b) * n + i) * n;
                const double v = c[butterfly(t, s, b * n + i)];
                for (int64_t j = 0; v != 0 && j < n; j++)
                    next[butterfly(t, s, b * n + j)] +=
                        v * (strength * r[j] + (1 - strength) * (i == j));
            }
        memcpy(c, next, (size_t) rows * sizeof(*c));
    }
    c[row] -= 1;
    for (int64_t i = 0; i < rows; i++)
        c[i] *= strength;
}

// c[rows][p->rows] for rows row0 ...
static nino_status coefficients(const lora_patch *p, int64_t row0, int64_t rows, double *c,
                                nino_error *err)
{
    const nino_tensor_info *scale = p->layer->t[LORA_OFT_RESCALE];
    const bool is_boft = p->kind == LORA_KIND_BOFT;
    turns t = { 0 };
    double *next = malloc((size_t) p->rows * sizeof(*next));
    nino_array *rescale = NULL;
    nino_status st = next ? read_turns(p, &t, err) : lora_weight_no_memory(p, err);
    if (!st && is_boft && scale && !(rescale = nino_weights_read_f32(p->from, scale, err)))
        st = err && err->code ? err->code : NINO_ERR_IO;
    const int64_t n_scales = rescale ? nino_shape_count(&rescale->shape) : 0;
    for (int64_t i = 0; !st && i < rows; i++) {
        const int64_t row = row0 - p->row0 + i;
        if (!is_boft)
            oft_row(&t, (double) p->strength, row, c + i * p->rows);
        else
            boft_row(&t, (double) p->strength,
                     n_scales ? (double) nino_array_f32(rescale)[row % n_scales] : 1, row, p->rows,
                     c + i * p->rows, next);
    }
    nino_array_unref(&rescale);
    free(t.r);
    free(next);
    return st;
}

nino_status lora_turn(lora_patches *c, const lora_patch *p, int64_t row0, int64_t rows,
                      float *values, nino_error *err)
{
    const int64_t step = p->cols < ROOM ? ROOM / p->cols : 1;
    const int64_t some = step < p->rows ? step : p->rows;
    double *f = calloc((size_t) (rows * p->rows), sizeof(*f));
    float *w = malloc((size_t) (some * p->cols) * sizeof(*w));
    nino_status st = f && w ? coefficients(p, row0, rows, f, err) : lora_weight_no_memory(p, err);
    for (int64_t at = 0; !st && at < p->rows; at += some) {
        const int64_t n = p->rows - at < some ? p->rows - at : some;
        st = lora_patches_read(c, p, p->row0 + at, n, w, err);
        for (int64_t i = 0; !st && i < rows; i++)
            for (int64_t k = 0; k < n; k++) {
                const float a = (float) f[i * p->rows + at + k];
                float *to = values + i * p->cols;
                for (int64_t j = 0; a != 0 && j < p->cols; j++)
                    to[j] += a * w[k * p->cols + j];
            }
    }
    free(w);
    free(f);
    return st;
}

// ---- GLoRA -----------------------------------------------------------------------------------

nino_status lora_generalised(const lora_patch *p, int64_t row0, int64_t rows, const float *values,
                             float *delta, nino_error *err)
{
    const nino_tensor_info *const *t = p->layer->t;
    const bool is_old = lora_glora_is_old(p->layer);
    const nino_tensor_info *a = t[is_old ? LORA_GLORA_A2 : LORA_GLORA_A1];
    const nino_tensor_info *a_next = t[is_old ? LORA_GLORA_A1 : LORA_GLORA_A2];
    const nino_tensor_info *b = t[is_old ? LORA_GLORA_B2 : LORA_GLORA_B1];
    const nino_tensor_info *b_next = t[is_old ? LORA_GLORA_B1 : LORA_GLORA_B2];
    const int64_t rank_a = a_next->dim[0], rank_b = b_next->dim[0];
    nino_array *first = nino_weights_read_f32(p->from, a, err);
    nino_array *second = first ? nino_weights_read_f32(p->from, a_next, err) : NULL;
    nino_array *down = second ? nino_weights_read_f32(p->from, b_next, err) : NULL;
    float *up = calloc((size_t) (rows * (rank_a > rank_b ? rank_a : rank_b)), sizeof(*up));
    nino_status st = NINO_OK;
    if (!down)
        st = err && err->code ? err->code : NINO_ERR_IO;
    else if (!up)
        st = lora_weight_no_memory(p, err);
    if (!st) { // the values are rows of W: W a, then that times the other
        memset(delta, 0, (size_t) (rows * p->cols) * sizeof(*delta));
        lora_multiply(values, nino_array_f32(first), rows, p->cols, rank_a, up);
        lora_multiply(up, nino_array_f32(second), rows, rank_a, p->cols, delta);
        st = nino_weights_read_rows_f32(p->from, b, p->first + row0 - p->row0, rows, up, err);
    }
    if (!st)
        lora_multiply(up, nino_array_f32(down), rows, rank_b, p->cols, delta);
    nino_array_unref(&first);
    nino_array_unref(&second);
    nino_array_unref(&down);
    free(up);
    return st;
}
