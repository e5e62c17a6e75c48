// Expands rows of a weight that is kept as its file stores it (core/op/raw.h) to panels of f32 or rows of
// the activations' type, for the convolutions and shapes that gemm.cl, skinny.cl and wmma.cl do not decode
// as they multiply. Reference: core/op/pack.c for the panels.
//
//   W   [n][c][tap]: one row behind the other, see blocks.cl
//   Y   panels of 64 columns [..][taps][Cp][64], Cp = C up to 16, zero-filled; f32
//   -D ROWS=1   rows [..][taps][Cp], of type T
//
// A kernel a type; a work-item does SPAN values of a row (GENERIC), or of the 64 rows of a panel (CPU).
// Global size: CPU (ceil(taps * Cp / SPAN), panels); GENERIC (ceil(taps * Cp / SPAN / 4) * 256,
// panels), local 256.
#include "blocks.cl"

#if SCHED_CPU
#define SPAN 256
#else
#define SPAN 64
#endif

#if ROWS
typedef T Y_t;
#define BESIDE 1 // from one channel to the next
#define ROW_OF(i, len) ((ulong) (i) * (len))
#define PUT STORE
#else
typedef float Y_t;
#define BESIDE 64
#define ROW_OF(i, len) (i)
#define PUT store_f32
#endif

// Where value f of a row goes: the channel and the tap, which follow each other.
INLINE void put(float v, int taps, int Cp, int *c, int *t, global Y_t *y)
{
    PUT(y + ((long) *t * Cp + *c) * BESIDE, v);
    if (++*t == taps) {
        *t = 0;
        ++*c;
    }
}

#define UNROLL _Pragma("unroll")
// Values f0 .. f1 of a row, whose first is value `at` of W, to its column y of a panel; zeros beyond
// the C channels.
#define DEFINE_COLUMN(name, values, size)                                                          \
    INLINE void column_##name(bytes W, grids grid, ulong at, int C, int taps, int Cp, int f0,      \
                              int f1, float scale, global Y_t *y)                                  \
    {                                                                                              \
        const int end = min(f1, C * taps);                                                         \
        int f = f0;                                                                                \
        if (taps == 1 && at % V == 0) /* the usual case, without the counting */                   \
            for (; f + V <= end; f += V) {                                                         \
                float v[V];                                                                        \
                *(private vec *) v = values_##name(W, grid, at + f) * scale;                       \
                UNROLL for (int k = 0; k < V; k++) PUT(y + (long) (f + k) * BESIDE, v[k]);          \
            }                                                                                      \
        int c = f / taps, t = f - c * taps;                                                        \
        while (f < end) {                                                                          \
            const int skip = (int) ((at + f) % V), n = min(V, skip + end - f);                     \
            float v[V];                                                                            \
            *(private vec *) v = values_##name(W, grid, at + f - skip) * scale;                    \
            f += n - skip;                                                                         \
            for (int k = skip; k < n; k++)                                                         \
                put(v[k], taps, Cp, &c, &t, y);                                                    \
        }                                                                                          \
        for (; f < f1; f++)                                                                        \
            put(0.0f, taps, Cp, &c, &t, y);                                                        \
    }
TYPES(DEFINE_COLUMN)

#if SCHED_CPU
#define EXPAND kernel WG1 void
#define FIRST_VALUE (get_group_id(0) * SPAN)
#define EACH_COLUMN(i) for (int i = 0; i < 64; i++)
#else
#define EXPAND kernel WG(256) void
#define FIRST_VALUE ((get_group_id(0) * 4 + (get_local_id(0) >> 6)) * SPAN)
#define EACH_COLUMN(i) for (int i = get_local_id(0) & 63, once = 1; once; once = 0)
#endif

// first, N: the column that Y begins with, and the end of all. scales (where is_scaled) and grid: where
// they are in W. Columns beyond the last have no channels.
#define DEFINE_EXPAND(name, values, size)                                                          \
    EXPAND expand_##name(int first, int N, int C, int taps, bytes W, const ulong W_off,            \
                         int is_scaled, const ulong scales, const ulong grid, global Y_t *Y,       \
                         const ulong Y_off)                                                        \
    {                                                                                              \
        const int Cp = (C + 15) & ~15, j = get_group_id(1);                                        \
        const int f0 = FIRST_VALUE, f1 = min(f0 + SPAN, taps * Cp);                                \
        W += W_off;                                                                                \
        Y += Y_off + (ulong) j * taps * Cp * 64;                                                   \
        EACH_COLUMN(i)                                                                             \
        {                                                                                          \
            const int n = first + j * 64 + i, is_in = n < N;                                       \
            const float scale =                                                                    \
                is_in && is_scaled ? ((global const float *) (W + scales))[n] : 1.0f;              \
            column_##name(W, (grids) (W + grid), (ulong) (is_in ? n : 0) * C * taps,               \
                          is_in ? C : 0, taps, Cp, f0, f1, scale, Y + ROW_OF(i, taps * Cp));       \
        }                                                                                          \
    }
TYPES(DEFINE_EXPAND)
