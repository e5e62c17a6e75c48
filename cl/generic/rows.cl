// The kernel of skinny.cl for up to M rows. Included once for each, and takes these names away again.
#ifdef RAW
#define SLICES 32              // work-items that share a column
#define EACH 4                 // columns that one does
#define COLUMNS (256 / SLICES * EACH)
#define PLACE(column, slice) ((column) * (SLICES + 1) + (slice))
#else
#define SLICES (256 * ACROSS / 64)
#define EACH ACROSS
#define COLUMNS 64
#define PLACE(column, slice) ((slice) * COLUMNS + (column))
#endif

kernel WG(256) void SKINNY(const int rows, const int N, const int ld, const int C, global const T *X,
                           const ulong X_off, global const W_t *restrict Wp, const ulong Wp_off RAW_ARGS,
                           global const float *restrict bias, const ulong bias_off, global const T *R,
                           const ulong R_off, global T *Y, const ulong Y_off, const int fn, const int has)
{
    local float sums[COLUMNS * (SLICES + 1)];
    const int t = get_local_id(0);
    const int n = get_group_id(0) * COLUMNS + t; // of the first work-items, which finish a row
    float s[M][EACH];
    X += X_off;
    Wp += Wp_off;
#pragma unroll
    for (int r = 0; r < M; r++)
#pragma unroll
        for (int i = 0; i < EACH; i++)
            s[r][i] = 0.0f;
#ifdef RAW
    // Neighbours read neighbouring pieces of the same columns.
    const int slice = t % SLICES, column = t / SLICES * EACH, first = get_group_id(0) * COLUMNS + column;
    const int Cp = (C + 15) & ~15, whole = C & ~7;
    for (int k = slice * 8; k < whole; k += AT_ONCE * SLICES * 8) {
        float8 w[AT_ONCE][EACH];
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++)
#pragma unroll
            for (int i = 0; i < EACH; i++)
                w[u][i] = VALUES(Wp, (grids) (Wp + grid),
                                 (ulong) min(first + i, N - 1) * Cp + min(k + u * SLICES * 8, whole - 8));
#pragma unroll
        for (int r = 0; r < M; r++)
#pragma unroll
            for (int u = 0; u < AT_ONCE; u++) {
                const int at = k + u * SLICES * 8;
                float8 x = LOADV(STORAGE, X + (long) min(r, rows - 1) * C + min(at, whole - 8));
                x = at < whole ? x : (float8)(0.0f);
#pragma unroll
                for (int i = 0; i < EACH; i++)
                    s[r][i] = dot8(x, w[u][i], s[r][i]);
            }
    }
#else
    const int column = t % (64 / EACH) * EACH, slice = t / (64 / EACH);
    Wp += (ulong) get_group_id(0) * ((C + 15) & ~15) * 64 + column;
    for (int k = slice; k < C; k += 4 * SLICES) {
        float w[4][EACH];
#pragma unroll
        for (int u = 0; u < 4; u++) {
            const int at = min(k + u * SLICES, C - 1);
#if ACROSS == 8
            vstore8(PASTE(load8_, WT)(Wp + (long) at * 64), 0, w[u]);
#else
            vstore4(LOADW4A(Wp + (long) at * 64), 0, w[u]);
#endif
        }
#pragma unroll
        for (int r = 0; r < M; r++) {
            global const T *x = X + (long) min(r, rows - 1) * C;
#pragma unroll
            for (int u = 0; u < 4; u++) {
                const float v = k + u * SLICES < C ? LOAD(x + k + u * SLICES) : 0.0f;
#pragma unroll
                for (int i = 0; i < EACH; i++)
                    s[r][i] = fma(v, w[u][i], s[r][i]);
            }
        }
    }
#endif
    // A row at a time, the others moved up, so that there is one copy of what follows.
#pragma nounroll
    for (int r = 0; r < rows; r++) {
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            sums[PLACE(column + i, slice)] = s[0][i];
#pragma unroll
            for (int k = 0; k + 1 < M; k++)
                s[k][i] = s[k + 1][i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < COLUMNS && n < N) {
            const long at = (long) r * ld + n;
            float v = 0.0f;
            for (int i = 0; i < SLICES; i++)
                v += sums[PLACE(t, i)];
#ifdef RAW
            if (whole < C)
                v = dot8(load_last(X + (long) r * C, whole, C),
                         VALUES(Wp, (grids) (Wp + grid), (ulong) n * Cp + whole), v);
            v *= is_scaled ? ((global const float *) (Wp + scales))[n] : 1.0f;
#endif
            STORE_RESULT(at, n, v);
        }
    }
}

#undef M
#undef ACROSS
#undef AT_ONCE
#undef SKINNY
#undef SLICES
#undef EACH
#undef COLUMNS
#undef PLACE
