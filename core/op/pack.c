// Packing of weights on the host.
#include "core/op/pack.h"

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/op/raw.h"

#include <pthread.h>
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

// A large weight is packed by pieces of its rows: little memory is needed beside dst, all
// processors have something to do, and a cancel is seen between them.
typedef struct pack_job {
    const nino_weight *w;
    const volatile int *cancel;
    bool is_ref;
    int taps;
    int64_t step; // rows a piece
    nino_dtype dtype;
    void *dst;
    pthread_mutex_t lock; // of what follows
    nino_status st;
    nino_error *err;
} pack_job;

// [n][taps][c], rows first ... -> [taps][c][all n]
static void place_ref(const pack_job *j, const float *rows, int64_t first, int64_t n)
{
    const int64_t row = j->w->c * j->taps;
    float *dst = (float *) j->dst + first;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < row; k++)
            dst[k * j->w->n + i] = rows[i * row + k];
}

static void place_panels(const pack_job *j, const float *rows, int64_t first, int64_t n)
{
    const int64_t cp = nino_pack_cp(j->w->c);
    const size_t row_bytes = (size_t) (cp * j->taps) * nino_dtype_size(j->dtype);
    nino_pack_panels(rows, n, j->taps, j->w->c, j->dtype,
                     (char *) j->dst + (size_t) first * row_bytes);
}

static void end_with(pack_job *j, nino_status st, const nino_error *err)
{
    pthread_mutex_lock(&j->lock);
    if (!j->st) {
        j->st = st;
        if (j->err)
            *j->err = *err;
    }
    pthread_mutex_unlock(&j->lock);
}

static bool is_over(pack_job *j)
{
    pthread_mutex_lock(&j->lock);
    const bool is_failed = j->st != NINO_OK;
    pthread_mutex_unlock(&j->lock);
    return is_failed;
}

static void pack_piece(void *priv, int64_t i)
{
    pack_job *j = priv;
    nino_error err = { .code = NINO_OK };
    const int64_t first = i * j->step, left = j->w->n - first, n = left < j->step ? left : j->step;
    if (is_over(j))
        return;
    if (j->cancel && __atomic_load_n(j->cancel, __ATOMIC_RELAXED)) {
        end_with(j, nino_fail(&err, NINO_ERR_CANCELLED, "", "cancelled"), &err);
        return;
    }
    float *rows = malloc((size_t) (n * j->w->c * j->taps) * sizeof(float));
    nino_status st = rows
                         ? nino_weight_read_part(j->w, first, n, rows, &err)
                         : nino_fail(&err, NINO_ERR_NOMEM, j->w->info ? j->w->info->name : "weight",
                                     "no memory to pack it");
    if (st)
        end_with(j, st, &err);
    else if (j->is_ref)
        place_ref(j, rows, first, n);
    else
        place_panels(j, rows, first, n);
    free(rows);
}

nino_status nino_pack_weight(const nino_profile *p, const nino_weight *w,
                             const volatile int *cancel, void *dst, nino_error *err)
{
    enum { ROOM = 1 << 18 }; // values a piece, or 64 rows
    nino_raw_layout raw;
    if (p->schedule != NINO_SCHED_REF && nino_raw_layout_of(w, &raw))
        return nino_raw_read(w, &raw, cancel, dst, err);
    pack_job j = { .w = w,
                   .cancel = cancel,
                   .is_ref = p->schedule == NINO_SCHED_REF,
                   .taps = nino_weight_taps(w),
                   .dst = dst,
                   .lock = PTHREAD_MUTEX_INITIALIZER,
                   .err = err };
    const size_t packed = nino_sched_packed_bytes(p, w, &j.dtype);
    if (w->role == NINO_W_VECTOR) {
        memset(dst, 0, packed);
        return nino_weight_read_rows(w, dst, err);
    }
    const int64_t fit = ROOM / (w->c * j.taps) / 64 * 64; // whole panels
    j.step = fit < 64 ? 64 : fit;
    nino_parallel((w->n + j.step - 1) / j.step, pack_piece, &j);
    return j.st;
}
