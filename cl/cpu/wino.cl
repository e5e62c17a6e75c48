// Winograd F(4x4, 3x3) for 3x3 convolutions of stride 1: 36 multiplications for 16 results instead of
// 144 (Lavin, Gray 2016). Reference: core/op/ref/gemm.c.
//
//   wino_weights  U[z] = G g G^T             once a call
//   wino_input    V[z] = B^T d B             then stripe by stripe
//   wino_gemm     M[z] = V[z] U[z]
//   wino_output   Y = act(A^T M A + bias + R)
//
//   X   [B][H][W][C], read as if enlarged 2x when up is 1; zero outside
//   U   [36][Np/NR][Cp][NR], V [36][Tp][Cp + 16], M [36][Tp][Np]: f32, z = row * 6 + column of a
//       tile (see plane_of), laid out for the register tile (common.cl). Cp is C up to 16, Np is N up to 64, Tp is
//       the tiles of a stripe up to 12; the 16 keep rows from falling on the same cache lines.
//   A causal 3x3x3 convolution is the sum over the `frames` it sees: their channels lie side by side
//   in U and V, so Cp counts all of them.
//   Y, R [B][OH][OW][N]. Tiles at the right and lower border reach beyond the image.
//   U, V and M must be f32: with U in f16 the error is 500 times larger.
//   -D WT=f32|f16|bf16  storage of the packed weights                                       [f32]
//   fn, has             as in product.cl
// A work-item does one tile, 16 channels at a time.
#ifndef WT
#define WT f32
#endif
typedef PASTE(T_, WT) W_t;
#define LOADW16 PASTE(load16_, WT)

#define F(x) ((float16)(x))

// What is multiplied of a tile: 6 x 6. When up is 1 a tile's inputs are equal in pairs, a b b c c d
// along rows and columns, of which row 2 of B^T makes exactly zero: nothing of index 2 is kept, 5 x 5.
#define IS_KEPT(i, up) ((i) != 2 || !(up))
#define PLACE(i, up) ((i) - ((up) && (i) > 2))
#define SIDE(up) (6 - (up))
INLINE long plane_of(int i, int j, int up) { return PLACE(i, up) * SIDE(up) + PLACE(j, up); }

// o[0], o[s] .. o[5s] = G g
INLINE void filter_transform(float16 *o, const int s, float16 g0, float16 g1, float16 g2)
{
    const float16 even = (g0 + g2) * F(-1.0f / 6), odd = g1 * F(1.0f / 6);
    const float16 far = fma(g2, F(1.0f / 6), g0 * F(1.0f / 24)), half_odd = g1 * F(1.0f / 12);
    o[0] = g0 * F(0.25f);
    o[s] = even - odd;
    o[2 * s] = even + odd;
    o[3 * s] = far + half_odd;
    o[4 * s] = far - half_odd;
    o[5 * s] = g2;
}

// taps: of a panel; tap0: the first one that counts. Global size: (Cp / frames / 16, Np / 64, frames).
kernel WG1 void wino_weights(global const W_t *restrict Wp, const ulong Wp_off,
                             global float *restrict U, const ulong U_off, const int Cp,
                             const int Np, const int taps, const int tap0, const int up)
{
    const int c0 = get_group_id(0) * 16, j = get_group_id(1), frame = get_group_id(2);
    const int c1 = Cp / get_num_groups(2); // of a frame
    const long step = (long) c1 * 64, plane = (long) Np * Cp;
    Wp += Wp_off + ((long) j * taps + tap0 + frame * 9) * step;
    for (int i = 0; i < 64; i++) {
        const int c = c0 + i / 4, n = j * 64 + i % 4 * 16;
        global const W_t *w = Wp + c * 64 + n % 64;
        global float *u = U + U_off + (n / NR * (long) Cp + frame * c1 + c) * NR + n % NR;
        float16 t[18], o[6];
        for (int x = 0; x < 3; x++)
            filter_transform(t + x, 3, LOADW16(w + x * step), LOADW16(w + (3 + x) * step),
                             LOADW16(w + (6 + x) * step));
        for (int y = 0; y < 6; y++) {
            filter_transform(o, 1, t[y * 3], t[y * 3 + 1], t[y * 3 + 2]);
            for (int x = 0; x < 6 && IS_KEPT(y, up); x++)
                if (IS_KEPT(x, up))
                    store16_f32(u + plane_of(y, x, up) * plane, o[x]);
        }
    }
}

// o[0], o[s] .. o[5s] = B^T d
INLINE void input_transform(float16 *o, const int s, float16 d0, float16 d1, float16 d2,
                            float16 d3, float16 d4, float16 d5)
{
    const float16 p = fma(F(-4.0f), d2, d4), q = fma(F(-4.0f), d1, d3);
    const float16 r = d4 - d2, t = 2.0f * (d3 - d1);
    o[0] = fma(F(4.0f), d0, fma(F(-5.0f), d2, d4));
    o[s] = p + q;
    o[2 * s] = p - q;
    o[3 * s] = r + t;
    o[4 * s] = r - t;
    o[5 * s] = fma(F(4.0f), d1, fma(F(-5.0f), d3, d5));
}

// th: tile rows of an image. row0: first tile row of the stripe, over all images. The image of a
// tile is `shift` images away from the one it is a part of; the `earlier` first ones are in P.
// Global size: (tw, tile rows of the stripe).
kernel WG1 void wino_input(global const T *restrict X, const ulong X_off,
                           global float *restrict V_, const ulong V_off, const int C, const int H,
                           const int W, const int up, const int th, const int row0,
                           const int Tp, const int ldv, const int shift, const int earlier,
                           global const T *restrict P, const ulong P_off)
{
    const int row = row0 + get_group_id(1), b = row / th, from = b + shift;
    const int y0 = (row - b * th) * 4 - 1, x0 = get_group_id(0) * 4 - 1;
    const long tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    const long plane = (long) Tp * ldv;
    const long image = (long) H * W * C;
    global const T *x = from < earlier ? P + P_off + from * image : X + X_off + (from - earlier) * image;
    global float *v = V_ + V_off + tile * ldv;
    long ys[6], xs[6]; // offsets of rows and columns, -1: outside
    for (int i = 0; i < 6; i++) {
        const int y = y0 + i, z = x0 + i;
        ys[i] = from >= 0 && y >= 0 && y < H << up ? (long) (y >> up) * W * C : -1;
        xs[i] = z >= 0 && z < W << up ? (long) (z >> up) * C : -1;
    }
    local float16 patch[36 * 4];
    for (int c0 = 0; c0 < C; c0 += 64, x += 64) {
        const int n = min(64, C - c0);
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++) {
                local float16 *d = patch + (i * 6 + j) * 4;
                if (ys[i] >= 0 && xs[j] >= 0)
                    for (int c = 0; c < n; c += 16)
                        *d++ = load16_some(x + ys[i] + xs[j] + c, n - c);
                else
                    for (int c = 0; c < n; c += 16)
                        *d++ = F(0.0f);
            }
        for (int c = 0; c < n; c += 16, v += 16) {
            float16 t[36], o[6];
            for (int j = 0; j < 6; j++) {
                local float16 *d = patch + j * 4 + c / 16;
                input_transform(t + j, 6, d[0], d[24], d[48], d[72], d[96], d[120]);
            }
            for (int i = 0; i < 6; i++) {
                input_transform(o, 1, t[i * 6], t[i * 6 + 1], t[i * 6 + 2], t[i * 6 + 3],
                                t[i * 6 + 4], t[i * 6 + 5]);
                for (int j = 0; j < 6 && IS_KEPT(i, up); j++)
                    if (IS_KEPT(j, up))
                        store16_f32(v + plane_of(i, j, up) * plane, o[j]);
            }
        }
    }
}

// The inputs and products need no copies: their layouts are what the register tile reads and writes.
#if NV == 4
#define KC 128 // KC x NR floats stay in the first-level cache
#else
#define KC 256
#endif
DEFINE_TILE(tile_wino, global, global, global)

// rows: of a work-item, a multiple of 12; nb: its panels of 64 columns. tiles: of the stripe.
// Global size: (ceil(tiles / rows), ceil(Np / 64 / nb), planes).
kernel WG1 void wino_gemm(global const float *V_, const ulong V_off, global const float *U,
                          const ulong U_off, global float *M, const ulong M_off, const int Cp,
                          const int Np, const int tiles, const int Tp, const int rows,
                          const int nb)
{
    const int r0 = get_group_id(0) * rows, r1 = min(r0 + rows, tiles), ldv = Cp + 16;
    const int n0 = get_group_id(1) * nb * 64, n1 = min(n0 + nb * 64, Np);
    const long z = get_group_id(2);
    V_ += V_off + z * Tp * ldv;
    U += U_off + z * Np * Cp;
    M += M_off + z * Tp * Np;
    for (int k = 0; k < Cp; k += KC) {
        const int kc = min(KC, Cp - k), each = share(kc * NR * 4, (r1 - r0 + MR - 1) / MR, kc);
        for (int n = n0; n < n1; n += NR) {
            global const float *next =
                U + (n + NR < n1 ? (long) (n + NR) * Cp + k * NR : (long) n0 * Cp + (k + KC) * NR);
            ulong ahead = (ulong) next;
            for (int r = r0; r < r1; r += MR, ahead += kc / 4 * each)
                tile_wino(kc, V_ + (long) r * ldv + k, ldv,
                          (global const float16 *) (U + (long) n * Cp + k * NR),
                          (global float16 *) (M + (long) r * Np + n), Np / 16, k == 0, ahead, each);
        }
    }
}

// o[0], o[s] .. o[3s] = A^T m
INLINE void output_transform(float16 *o, const int s, float16 m0, float16 m1, float16 m2,
                             float16 m3, float16 m4, float16 m5)
{
    const float16 s12 = m1 + m2, d12 = m1 - m2, s34 = m3 + m4, d34 = m3 - m4;
    o[0] = m0 + s12 + s34;
    o[s] = fma(F(2.0f), d34, d12);
    o[2 * s] = fma(F(4.0f), s34, s12);
    o[3 * s] = fma(F(8.0f), d34, d12) + m5;
}

// 16 channels of a product, zero where it is not kept.
INLINE float16 product(global const float *m, long plane, int i, int j, int up)
{
    return IS_KEPT(i, up) && IS_KEPT(j, up) ? load16_f32(m + plane_of(i, j, up) * plane) : F(0.0f);
}

// Bias, residual, activation, store of n <= 16 channels.
INLINE void finish(float16 v, int n, global const float *bias, global const T *R, global T *Y, int fn,
                   int has)
{
    if (has & HAS_BIAS)
        v += load16_f32(bias);
    if (has & HAS_ADDED)
        v += load16_some(R, n);
    store16_some(Y, act16(v, fn), n);
}

// Global size as of wino_input. R may be Y.
kernel WG1 void wino_output(global const float *restrict M, const ulong M_off,
                            global const float *restrict bias, const ulong bias_off,
                            global const T *R, const ulong R_off, global T *Y, const ulong Y_off,
                            const int N, const int OH, const int OW, const int th, const int row0,
                            const int Tp, const int up, const int fn, const int has)
{
    const int row = row0 + get_group_id(1), b = row / th, Np = (N + 63) & ~63;
    const int y0 = (row - b * th) * 4, x0 = get_group_id(0) * 4;
    const int ny = min(4, OH - y0), nx = min(4, OW - x0);
    const long tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    const long plane = (long) Tp * Np, at = (((long) b * OH + y0) * OW + x0) * N;
    for (int n = 0; n < N; n += 16) {
        float16 t[24], o[4];
        global const float *m = M + M_off + tile * Np + n;
        for (int j = 0; j < 6; j++)
            output_transform(t + j, 6, product(m, plane, 0, j, up), product(m, plane, 1, j, up),
                             product(m, plane, 2, j, up), product(m, plane, 3, j, up),
                             product(m, plane, 4, j, up), product(m, plane, 5, j, up));
        for (int i = 0; i < ny; i++) {
            output_transform(o, 1, t[i * 6], t[i * 6 + 1], t[i * 6 + 2], t[i * 6 + 3],
                             t[i * 6 + 4], t[i * 6 + 5]);
            for (int j = 0; j < nx; j++) {
                const long y = at + ((long) i * OW + j) * N + n;
                finish(o[j], N - n, bias + bias_off + n, R + R_off + y, Y + Y_off + y, fn, has);
            }
        }
    }
}
