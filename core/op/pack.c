// Packing of weights on the host.
#include "core/op/pack.h"

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/op/raw.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

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

void nino_pack_padded(const float *rows, int64_t n, int taps, int64_t c, nino_dtype dtype,
                      void *dst)
{
    const int64_t cp = nino_pack_cp(c);
    const size_t size = nino_dtype_size(dtype);
    char *to = dst;
    for (int64_t i = 0; i < n * taps; i++, rows += c, to += (size_t) cp * size) {
        nino_from_f32(to, dtype, rows, (size_t) c);
        memset(to + (size_t) c * size, 0, (size_t) (cp - c) * size);
    }
}

// ---- rows that are stored as they are wanted ---------------------------------------------------
// Values change places only. 64 bytes of each of the 64 rows at a time, which is what a cache line
// holds: rows lie a power of two apart more often than not, and few of their lines stay in a cache.
typedef uint16_t half8 __attribute__((vector_size(16)));
typedef uint32_t word4 __attribute__((vector_size(16)));

#define LOW8(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH8(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW4(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH4(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)

// 8 rows of 8 values, `stride` bytes apart, to 8 columns that lie 64 values apart. Three perfect
// shuffles of the 64 values are a transposition; two of 4 times 4. Without loops, so that all of it
// stays in registers.
#define SHUFFLE8(b, a)                                                                             \
    const half8 b##0 = LOW8(a##0, a##4), b##1 = HIGH8(a##0, a##4), b##2 = LOW8(a##1, a##5),        \
                b##3 = HIGH8(a##1, a##5), b##4 = LOW8(a##2, a##6), b##5 = HIGH8(a##2, a##6),       \
                b##6 = LOW8(a##3, a##7), b##7 = HIGH8(a##3, a##7)
#define SHUFFLE4(b, a)                                                                             \
    const word4 b##0 = LOW4(a##0, a##2), b##1 = HIGH4(a##0, a##2), b##2 = LOW4(a##1, a##3),        \
                b##3 = HIGH4(a##1, a##3)

static inline half8 take8(const char *from)
{
    half8 v;
    memcpy(&v, from, sizeof(v));
    return v;
}

static inline void turn8(const char *from, size_t stride, uint16_t *to)
{
    const half8 a0 = take8(from), a1 = take8(from + stride), a2 = take8(from + 2 * stride),
                a3 = take8(from + 3 * stride), a4 = take8(from + 4 * stride),
                a5 = take8(from + 5 * stride), a6 = take8(from + 6 * stride),
                a7 = take8(from + 7 * stride);
    SHUFFLE8(b, a);
    SHUFFLE8(c, b);
    SHUFFLE8(d, c);
    memcpy(to, &d0, 16);
    memcpy(to + 64, &d1, 16);
    memcpy(to + 128, &d2, 16);
    memcpy(to + 192, &d3, 16);
    memcpy(to + 256, &d4, 16);
    memcpy(to + 320, &d5, 16);
    memcpy(to + 384, &d6, 16);
    memcpy(to + 448, &d7, 16);
}

static inline word4 take4(const char *from)
{
    word4 v;
    memcpy(&v, from, sizeof(v));
    return v;
}

static inline void turn4(const char *from, size_t stride, uint32_t *to)
{
    const word4 a0 = take4(from), a1 = take4(from + stride), a2 = take4(from + 2 * stride),
                a3 = take4(from + 3 * stride);
    SHUFFLE4(b, a);
    SHUFFLE4(c, b);
    memcpy(to, &c0, 16);
    memcpy(to + 64, &c1, 16);
    memcpy(to + 128, &c2, 16);
    memcpy(to + 192, &c3, 16);
}

// A line of 64 bytes of all 64 rows.
static void turn_line(const char *from, size_t stride, size_t size, char *to)
{
    for (size_t i = 0; size == 2 && i < 64; i += 8)
        for (size_t k = 0; k < 32; k += 8)
            turn8(from + i * stride + k * 2, stride, (uint16_t *) (void *) to + k * 64 + i);
    for (size_t i = 0; size == 4 && i < 64; i += 4)
        for (size_t k = 0; k < 16; k += 4)
            turn4(from + i * stride + k * 4, stride, (uint32_t *) (void *) to + k * 64 + i);
}

enum { LINE = 64 * 64 };

// To memory that nobody reads soon: past the caches, which would first fetch what is overwritten.
static void pack_write_out(char *to, const char *line)
{
#ifdef __SSE2__
    for (size_t i = 0; (uintptr_t) to % 16 == 0 && i < LINE; i += 16) {
        __m128i v;
        memcpy(&v, line + i, sizeof(v));
        _mm_stream_si128((__m128i *) (void *) (to + i), v);
    }
    if ((uintptr_t) to % 16 == 0)
        return;
#endif
    memcpy(to, line, LINE);
}

static void end_writing(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

// The end of a row, or the last rows of all.
static void turn_rest(const char *from, size_t stride, size_t size, int64_t width, int64_t n,
                      char *to)
{
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < width; i++)
            memcpy(to + (size_t) (k * 64 + i) * size,
                   from + (size_t) i * stride + (size_t) k * size, size);
}

void nino_pack_stored(const void *rows, int64_t n, int64_t c, size_t size, void *dst)
{
    const size_t stride = (size_t) c * size;
    const int64_t cp = nino_pack_cp(c), line = (int64_t) (64 / size);
    char *to = dst, block[LINE];
    for (int64_t p = 0; p < n; p += 64) {
        const char *from = (const char *) rows + (size_t) p * stride;
        const int64_t width = n - p < 64 ? n - p : 64, fast = width == 64 ? c / line * line : 0;
        for (int64_t k = 0; k < fast; k += line) {
            turn_line(from + (size_t) k * size, stride, size, block);
            pack_write_out(to + (size_t) (k * 64) * size, block);
        }
        if (fast < cp)
            memset(to + (size_t) (fast * 64) * size, 0, (size_t) ((cp - fast) * 64) * size);
        turn_rest(from + (size_t) fast * size, stride, size, width, c - fast,
                  to + (size_t) (fast * 64) * size);
        to += (size_t) (cp * 64) * size;
    }
    end_writing();
}

// ---- pieces of a weight ------------------------------------------------------------------------
// A large weight is packed by pieces of its rows: little memory is needed beside dst, all
// processors have something to do, and a cancel is seen between them.
typedef struct pack_job {
    const nino_weight *w;
    const volatile int *cancel;
    bool is_ref, is_stored; // the panels have the file's type: nothing is converted
    bool keeps_rows;
    int taps;
    int64_t first, rows, step; // step: rows a piece
    nino_dtype dtype;
    void *dst;
    _Atomic int64_t next;
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

// The file's own rows.
static bool is_as_wanted(const pack_job *j) { return j->keeps_rows && j->is_stored; }

// rows: room for a piece.
static nino_status pack_piece(const pack_job *j, int64_t first, int64_t n, void *rows,
                              nino_error *err)
{
    const size_t row = (size_t) (nino_pack_cp(j->w->c) * j->taps) * nino_dtype_size(j->dtype);
    char *dst = (char *) j->dst + (size_t) (first - j->first) * row;
    if (j->cancel && __atomic_load_n(j->cancel, __ATOMIC_RELAXED))
        return nino_fail(err, NINO_ERR_CANCELLED, "", "cancelled");
    if (is_as_wanted(j)) // straight to where it stays
        return nino_weight_read_stored(j->w, first, n, dst, err);
    const nino_status st = j->is_stored ? nino_weight_read_stored(j->w, first, n, rows, err)
                                        : nino_weight_read_part(j->w, first, n, rows, err);
    if (st)
        return st;
    if (j->is_ref)
        place_ref(j, rows, first, n);
    else if (j->keeps_rows)
        nino_pack_padded(rows, n, j->taps, j->w->c, j->dtype, dst);
    else if (j->is_stored)
        nino_pack_stored(rows, n, j->w->c, nino_dtype_size(j->dtype), dst);
    else
        nino_pack_panels(rows, n, j->taps, j->w->c, j->dtype, dst);
    return NINO_OK;
}

// One of several: takes pieces until there are none.
static void pack_pieces(void *priv, int64_t worker)
{
    pack_job *j = priv;
    nino_error err = { .code = NINO_OK };
    const int64_t end = j->first + j->rows, most = j->rows < j->step ? j->rows : j->step;
    const size_t value = j->is_stored ? nino_dtype_size(j->dtype) : sizeof(float);
    void *rows = NULL;
    (void) worker;
    for (int64_t i;
         !is_over(j) && (i = j->first + atomic_fetch_add(&j->next, 1) * j->step) < end;) {
        const int64_t n = end - i < j->step ? end - i : j->step;
        nino_status st = NINO_OK;
        if (!rows && !is_as_wanted(j) &&
            !(rows = malloc((size_t) (most * j->w->c * j->taps) * value)))
            st = nino_fail(&err, NINO_ERR_NOMEM, j->w->info ? j->w->info->name : "weight",
                           "no memory to pack it");
        if (!st)
            st = pack_piece(j, i, n, rows, &err);
        if (st)
            end_with(j, st, &err);
    }
    free(rows);
}

static nino_status pack_rows(pack_job *j)
{
    enum { ROOM = 1 << 17 }; // values a piece, or 64 rows: what a second-level cache holds
    const int64_t fit = ROOM / (j->w->c * j->taps) / 64 * 64; // whole panels
    j->step = fit < 64 ? 64 : fit;
    nino_parallel((j->rows + j->step - 1) / j->step, pack_pieces, j);
    return j->st;
}

static void pack_read_ahead(const nino_profile *p, const nino_weight *w)
{
    if (w->file && w->n_ranges && nino_acts(p, NINO_POLICY_PREFETCH))
        nino_weights_read_ahead(w->range[w->n_ranges - 1].file, w->range[w->n_ranges - 1].info);
}

size_t nino_pack_row_bytes(const nino_profile *p, const nino_weight *w)
{
    nino_dtype dtype;
    nino_raw_layout raw;
    const size_t all = nino_sched_packed_bytes(p, w, &dtype);
    if (w->role == NINO_W_VECTOR || p->schedule->is_plain || nino_raw_layout_of(w, &raw))
        return 0;
    return all / (size_t) (nino_pack_panels_of(w->n) * 64);
}

nino_status nino_pack_rows(const nino_profile *p, const nino_weight *w, int64_t first, int64_t rows,
                           const volatile int *cancel, void *dst, nino_error *err)
{
    pack_job j = { .w = w,
                   .cancel = cancel,
                   .is_ref = p->schedule->is_plain,
                   .keeps_rows = p->schedule->keeps_rows,
                   .taps = nino_weight_taps(w),
                   .first = first,
                   .rows = rows,
                   .dst = dst,
                   .lock = PTHREAD_MUTEX_INITIALIZER,
                   .err = err };
    nino_sched_packed_bytes(p, w, &j.dtype);
    j.is_stored = !j.is_ref && w->dtype == j.dtype && nino_weight_is_stored(w) &&
                  (!j.keeps_rows || nino_pack_cp(w->c) == w->c);
    pack_read_ahead(p, w);
    const nino_status st = pack_rows(&j);
    if (!st && j.keeps_rows) { // up to whole panels, as in all layouts
        const size_t row = nino_pack_row_bytes(p, w);
        memset((char *) dst + (size_t) rows * row, 0,
               (size_t) ((rows + 63) / 64 * 64 - rows) * row);
    }
    return st;
}

nino_status nino_pack_weight(const nino_profile *p, const nino_weight *w,
                             const volatile int *cancel, void *dst, nino_error *err)
{
    nino_raw_layout raw;
    nino_dtype dtype;
    if (!p->schedule->is_plain && nino_raw_layout_of(w, &raw)) {
        pack_read_ahead(p, w);
        return nino_raw_read(w, &raw, cancel, dst, err);
    }
    if (w->role != NINO_W_VECTOR)
        return nino_pack_rows(p, w, 0, w->n, cancel, dst, err);
    memset(dst, 0, nino_sched_packed_bytes(p, w, &dtype));
    return nino_weight_read_rows(w, dst, err);
}
