// The kernel of wmma.cl for one tile: BP pixels x BN columns by WP x WN waves. Included once for each, and
// takes these names away again.
#define WG_SIZE (WP * WN * 32)
#define TP (BP / WP / 16)       // tiles of a wave
#define TN (BN / WN / 16)
#define STEP (WG_SIZE / CHUNKS) // rows that a work-group loads at once
#define NX (BP / STEP)
#define NW (BN / STEP)
#define HEADS (!TAPPED && BN == HEAD_COLUMNS)

kernel WG(WG_SIZE) void GEMM(BP, BN)(int row0, int row1, int N, int ld, int C, int H, int W, int OH, int OW,
                                  int ks, int stride, int pad, int up, global const T *X,
                                  const ulong X_off, global const W_t *restrict Wp,
                                  const ulong Wp_off RAW_ARGS, global const float *restrict bias,
                                  const ulong bias_off, global const T *R, const ulong R_off,
                                  global T *Y, const ulong Y_off VIDEO_ARGS HEAD_ARGS, int fn, int has)
{
    local ushort Xs[BP * LDK] __attribute__((aligned(16))), Ws[BN * LDK] __attribute__((aligned(16)));
    FRAGMENT_SCRATCH
    const geometry g = { H, W, OH, OW, ks, stride, pad, up, VIDEO_GEOMETRY };
    const int t = get_local_id(0), lane = t & 31, wave = t >> 5, wp = wave % WP, wn = wave / WP;
    const int Cp = PADDED(C), taps = TAPS(&g);
    // Tiles in the order in which they are dispatched, band by band.
    const int along = get_num_groups(0), across = get_num_groups(1);
    const int id = get_group_id(1) * along + get_group_id(0), band = id / (BAND * across);
    const int high = min(BAND, along - band * BAND), in_band = id - band * BAND * across;
    const int p0 = row0 + (band * BAND + in_band % high) * BP, n0 = in_band / high * BN;

    float8 acc[TN][TP];
    UNROLL
    for (int i = 0; i < TN; i++)
        UNROLL
        for (int j = 0; j < TP; j++)
            acc[i][j] = (float8)(0.0f);

    // What this work-item moves: rows lrow + STEP q, channels lcol to lcol + 7.
    const int lrow = t / CHUNKS, lcol = t % CHUNKS * 8;
    uint4 rx[NX];
    int rm[NX]; // ~0, or 0: what was loaded counts as zero
    X += X_off;
    Wp += Wp_off;
#if CHUNKED // a work-item's chunks lie side by side in a row
    stored rw;
    const int wcol = t % (CHUNKS / NW) * (NW * 8), wrow = t / (CHUNKS / NW);
    const uint wr = ROW_BYTES((uint) min(WEIGHT_ROW(wrow), N - 1 - n0) * W_ROW);
    int asked = 0; // the first channel of what was asked for
#else // they are the same channels of several
    uint4 rw[NW];
    uint wr[NW];
    int wm = 0; // as rm
    UNROLL
    for (int q = 0; q < NW; q++)
        wr[q] = (uint) min(WEIGHT_ROW(lrow) + q * STEP, N - 1 - n0) * W_ROW;
#endif
#if TAPPED
    int x[NX]; // as source() tells
    int frame[NX], place[NX]; // y << 16 | x
    UNROLL
    for (int q = 0; q < NX; q++) {
        const pixel at = pixel_at(&g, min(p0 + lrow + q * STEP, row1 - 1));
        frame[q] = at.b;
        place[q] = at.y << 16 | at.x;
    }
#else
    uint x[NX]; // from X on
    UNROLL
    for (int q = 0; q < NX; q++)
        x[q] = (uint) (min(lrow + q * STEP, row1 - 1 - p0) * X_ROW);
    X += (long) p0 * X_ROW;
#endif

    // Those steps of all that this part of the channels and taps has.
    const int part = get_group_id(2), each = (Cp + BK - 1) / BK, all = (taps - FIRST_TAP) * each;
    const int begin = all * part / get_num_groups(2);
    const int steps = all * (part + 1) / get_num_groups(2) - begin;
    int c = begin % each * BK, tap = FIRST_TAP + begin / each;
    for (int s = -1; s < steps; s++) {
        if (s >= 0) {
            barrier(CLK_LOCAL_MEM_FENCE);
            UNROLL
            for (int q = 0; q < NX; q++)
                *(local uint4 *) (Xs + LOCAL_ROW(lrow + q * STEP) + lcol) = rx[q] & (uint4)(rm[q]);
#if CHUNKED
            uint4 taken[NW];
            TAKE_CHUNKS(taken, NW, &rw, asked, wcol);
            UNROLL
            for (int q = 0; q < NW; q++)
                *(local uint4 *) (Ws + LOCAL_ROW(wrow) + wcol + q * 8) =
                    as_operands(taken[q]) & (uint4)(IS_CHUNK(asked + wcol + q * 8, Cp) ? ~0 : 0);
#else
            UNROLL
            for (int q = 0; q < NW; q++)
                *(local uint4 *) (Ws + LOCAL_ROW(lrow + q * STEP) + lcol) = rw[q] & (uint4)(wm);
#endif
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (s + 1 < steps) {
#if TAPPED
            if (c == 0 || s < 0)
                UNROLL
                for (int q = 0; q < NX; q++) {
                    const pixel at = { frame[q], place[q] >> 16, place[q] & 0xffff };
                    x[q] = (int) source(&g, &at, tap);
                }
#endif
            UNROLL
            for (int q = 0; q < NX; q++) {
                rx[q] = load_pixel(PIXEL(q), c + lcol, C);
                rm[q] = IS_INSIDE(q) && IS_CHANNEL(c + lcol, C) ? ~0 : 0;
            }
#if CHUNKED
            ASK_CHUNKS(&rw, NW, Wp + ROW_BYTES((ulong) n0 * W_ROW), wr, c, wcol, Cp);
            asked = c;
#else
            wm = IS_CHANNEL(c + lcol, Cp) ? ~0 : 0;
            const ulong first = WEIGHTS_AT(n0, tap);
            UNROLL
            for (int q = 0; q < NW; q++) {
                rw[q] = load_weights(Wp, (grids) (Wp + grid), first, wr[q], c + lcol, Cp);
#if !SAME && TAPPED
                IN_ORDER
#endif
            }
#endif
            if ((c += BK) >= Cp) {
                c = 0;
                tap++;
            }
        }
        if (s >= 0)
            UNROLL
            for (int kk = 0; kk < BK; kk += 16) {
#if BP > 128 && !TAPPED
                if (kk) { // else all of a step's reads come first
                    IN_ORDER
                }
#endif
                uint8 fx[TP];
                UNROLL
                for (int j = 0; j < TP; j++) {
                    local const uint4 *p =
                        (local const uint4 *) (Xs + LOCAL_ROW((wp * TP + j) * 16 + (lane & 15)) + kk);
                    fx[j] = (uint8)(p[0], p[1]);
                }
                UNROLL
                for (int i = 0; i < TN; i++) {
                    local const uint4 *p =
                        (local const uint4 *) (Ws + LOCAL_ROW((wn * TN + i) * 16 + (lane & 15)) + kk);
                    const uint8 fw = (uint8)(p[0], p[1]);
                    UNROLL
                    for (int j = 0; j < TP; j++)
                        WMMA(acc[i][j], fw, fx[j]);
                }
            }
    }

    // One tile at a time, the others moved up, so that there is one copy of what follows. Of heads there are two
    // passes, the first for the sums of squares that the norm of a row needs.
#if HEADS
    float norm[TP];
    UNROLL
    for (int j = 0; j < TP; j++)
        norm[j] = 0.0f;
#pragma nounroll
    for (int pass = !(has & HAS_HEADS); pass < 2; pass++) {
        if (pass && (has & HAS_HEADS)) {
            local float *squares = (local float *) Xs + wp * TP * 16 + (lane & 15); // [WN][2][BP]
            const int first = depth == BN ? 0 : wn * 2, end = depth == BN ? WN * 2 : first + 2;
            barrier(CLK_LOCAL_MEM_FENCE);
            UNROLL
            for (int j = 0; j < TP; j++)
                squares[(wn * 2 + (lane >> 4)) * BP + j * 16] = norm[j];
            barrier(CLK_LOCAL_MEM_FENCE);
            UNROLL
            for (int j = 0; j < TP; j++) {
                float sum = 0.0f;
                for (int k = first; k < end; k++)
                    sum += squares[k * BP + j * 16];
                norm[j] = native_rsqrt(sum / depth + eps);
            }
        }
#endif
    int n = n0 + wn * TN * 16 + (lane >> 4) * 8;
#pragma nounroll
    for (int i = 0; i < TN; i++, n += 16) {
        int p = p0 + wp * TP * 16 + (lane & 15);
#pragma nounroll
        for (int j = 0; j < TP; j++, p += 16) {
            const float8 now = acc[0][0];
            float4 lo = DECODED(now.lo), hi = DECODED(now.hi);
            UNROLL
            for (int k = 0; k + 1 < TP; k++)
                acc[0][k] = acc[0][k + 1];
#if HEADS
            acc[0][TP - 1] = now;
            float of_row = norm[0];
            UNROLL
            for (int k = 0; k + 1 < TP; k++)
                norm[k] = norm[k + 1];
            norm[TP - 1] = of_row;
#endif
            if (p >= row1 || n >= N)
                continue;
            if (is_scaled) {
                global const float *f = (global const float *) (Wp + scales);
                const int m = N - 1;
                lo *= (float4)(f[n], f[min(n + 1, m)], f[min(n + 2, m)], f[min(n + 3, m)]);
                hi *= (float4)(f[min(n + 4, m)], f[min(n + 5, m)], f[min(n + 6, m)], f[min(n + 7, m)]);
            }
#if SAME
            if (has & HAS_ROW_FACTORS) {
                lo *= bias[bias_off + p];
                hi *= bias[bias_off + p];
            } else
#endif
            if (has & HAS_BIAS) {
                lo += *(global const float4 *) (bias + bias_off + n);
                hi += *(global const float4 *) (bias + bias_off + n + 4);
            }
#if HEADS
            if (!pass) {
                const float4 s = lo * lo + hi * hi;
                norm[TP - 1] += (s.x + s.y) + (s.z + s.w);
                continue;
            }
            if (has & HAS_HEADS) {
                const int c = n & (depth - 1); // a power of two, as tiles are
                global const float *g = gamma + gamma_off + c;
                lo *= of_row * vload4(0, g);
                hi *= of_row * vload4(1, g);
                if (has & HAS_TABLE) {
                    global const float *w = table + table_off + (long) (p % positions) * depth + c;
                    lo = turned(lo, vload4(0, w));
                    hi = turned(hi, vload4(1, w));
                }
            }
#endif
            const long to = (long) p * ld + n;
            const int is_chunk = (has & HAS_PIECES) && n + 8 <= N;
            if (has & HAS_SUMS_ONLY) {
                global float *sums = (global float *) Y + Y_off + (ulong) part * row1 * ld + to;
                if (is_chunk) {
                    vstore4(lo, 0, sums);
                    vstore4(hi, 1, sums);
                } else
                    for (int k = 0; k < 8 && k < N - n; k++, lo = lo.yzwx) {
                        lo = k == 4 ? hi : lo;
                        sums[k] = lo.x;
                    }
                continue;
            }
            if ((has & HAS_ADDED) && is_chunk) {
                const uint4 r = *(global const uint4 *) (R + R_off + to);
                lo += unpack4(r.lo);
                hi += unpack4(r.hi);
            }
            ushort out[8];
#pragma nounroll
            for (int k = 0; k < 8; k += 4) {
                if ((has & HAS_ADDED) && !is_chunk)
                    lo += load_some(R + R_off + to + k, N - n - k);
                vstore4(pack4(act4(lo, fn)), 0, out + k);
                lo = hi;
            }
            if (is_chunk)
                *(global uint4 *) (Y + Y_off + to) = as_uint4(vload8(0, out));
            else
                for (int k = 0; k < 8 && k < N - n; k++)
                    ((global ushort *) (Y + Y_off + to))[k] = out[k];
        }
        UNROLL
        for (int j = 0; j < TP; j++) {
#if HEADS
            const float8 now = acc[0][j];
#endif
            UNROLL
            for (int k = 0; k + 1 < TN; k++)
                acc[k][j] = acc[k + 1][j];
#if HEADS
            acc[TN - 1][j] = now;
#endif
        }
    }
#if HEADS
    }
#endif
}

#undef BP
#undef BN
#undef WP
#undef WN
#undef WG_SIZE
#undef TP
#undef TN
#undef STEP
#undef NX
#undef NW
#undef HEADS
