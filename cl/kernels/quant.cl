// Expands rows of a weight that is kept as its file stores it (core/op/raw.h) to panels of f32.
// References: core/tensor/quant.c, whose order of operations makes results equal bit for bit, and
// core/op/pack.c for the panels.
//
//   W   [n][c][tap]: 8-bit floats or blocks, one row behind the other
//   Y   panels of 64 columns [..][taps][Cp][64], Cp = C up to 16, zero-filled
//
// A kernel a type; a work-item does SPAN values of a row (GENERIC), or of the 64 rows of a panel (CPU).
// Global size: CPU (ceil(taps * Cp / SPAN), panels); GENERIC (ceil(taps * Cp / SPAN / 4) * 256,
// panels), local 256.
#pragma OPENCL FP_CONTRACT OFF

#if SCHED_CPU
#define SPAN 256
#else
#define SPAN 64
#endif

typedef global const uchar *bytes;
typedef global const ushort *grids;

constant char iq4_values[16] = { -127, -104, -83, -65, -49, -35, -22, -10,
                                 1,    13,   25,  38,  53,  69,  89,  113 };
// e2m1 doubled
constant char fp4_values[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };

INLINE uint word(bytes p) { return p[0] | (uint) p[1] << 8; }
INLINE uint word2(bytes p) { return word(p) | word(p + 2) << 16; }
INLINE float half_of(uint bits)
{
    const ushort h = (ushort) bits;
    return vload_half(0, (const private half *) &h);
}
INLINE float half_at(bytes p) { return half_of(word(p)); }
// Value i of n, the low nibbles first.
INLINE int nibble(bytes q, int i, int n)
{
    const int b = q[i < n / 2 ? i : i - n / 2];
    return i < n / 2 ? b & 15 : b >> 4;
}

INLINE float e4m3(uint v)
{
    const uint m = v & 0x7f;
    const float a = m == 0x7f ? NAN
                    : m < 8   ? (float) m * 0.001953125f
                              : as_float(((m >> 3) + 120) << 23 | (m & 7) << 20);
    return v & 0x80 ? -a : a;
}

// ---- value i of the block at b -------------------------------------------------------------------
#define DEFINE(name) INLINE float value_##name(bytes b, int i, grids grid)

DEFINE(f8_e4m3) { return e4m3(b[i]); }
DEFINE(f8_e5m2) { return half_of((uint) b[i] << 8); }

DEFINE(q4_0) { return (float) (nibble(b + 2, i, 32) - 8) * half_at(b); }
DEFINE(q4_1) { return (float) nibble(b + 4, i, 32) * half_at(b) + half_at(b + 2); }
DEFINE(q5_0)
{
    const int top = (word2(b + 2) >> i & 1) << 4;
    return (float) ((nibble(b + 6, i, 32) | top) - 16) * half_at(b);
}
DEFINE(q5_1)
{
    const int top = (word2(b + 4) >> i & 1) << 4;
    return (float) (nibble(b + 8, i, 32) | top) * half_at(b) + half_at(b + 2);
}
DEFINE(q8_0) { return (float) (char) b[2 + i] * half_at(b); }
DEFINE(iq4_nl) { return half_at(b) * (float) iq4_values[nibble(b + 2, i, 32)]; }
DEFINE(mxfp4) // the scale is 2^(e - 128), the smallest two denormal
{
    const uint e = b[0];
    const float d = as_float(e > 1 ? (e - 1) << 23 : 0x200000u << e);
    return (float) fp4_values[nibble(b + 1, i, 32)] * d;
}
DEFINE(nvfp4)
{
    const int g = i / 16;
    return (float) fp4_values[nibble(b + 4 + g * 8, i % 16, 16)] * (e4m3(b[g] & 0x7f) * 0.5f);
}
DEFINE(q1_0)
{
    const float d = half_at(b);
    return b[2 + i / 8] >> (i & 7) & 1 ? d : -d;
}
DEFINE(q2_0) { return (float) ((b[2 + i / 4] >> (i % 4 * 2) & 3) - 1) * half_at(b); }

INLINE int two_bits(bytes q, int i)
{
    return q[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
}

DEFINE(q2_K)
{
    const int s = b[i / 16];
    const float dl = half_at(b + 80) * (float) (s & 15), ml = half_at(b + 82) * (float) (s >> 4);
    return dl * (float) two_bits(b + 16, i) - ml;
}
DEFINE(q3_K)
{
    bytes sc = b + 96;
    const int g = i / 16;
    const int low = g < 8 ? sc[g] & 15 : sc[g - 8] >> 4, top = sc[8 + g % 4] >> (g / 4 * 2) & 3;
    const float dl = half_at(b + 108) * (float) ((low | top << 4) - 32);
    return dl * (float) (two_bits(b + 32, i) - (b[i % 32] >> (i / 32) & 1 ? 0 : 4));
}

// Q4_K and Q5_K: q is the number before scale and minimum of group g.
INLINE float six_bits(bytes b, int g, int q)
{
    bytes s = b + 4;
    const int scale = g < 4 ? s[g] & 63 : (s[g + 4] & 15) | s[g - 4] >> 6 << 4;
    const int low = g < 4 ? s[g + 4] & 63 : s[g + 4] >> 4 | s[g] >> 6 << 4;
    const float dl = half_at(b) * (float) scale, ml = half_at(b + 2) * (float) low;
    return dl * (float) q - ml;
}
DEFINE(q4_K)
{
    const int g = i / 32;
    return six_bits(b, g, b[16 + g / 2 * 32 + i % 32] >> (g & 1) * 4 & 15);
}
DEFINE(q5_K)
{
    const int g = i / 32;
    const int low = b[48 + g / 2 * 32 + i % 32] >> (g & 1) * 4 & 15;
    return six_bits(b, g, low + (b[16 + i % 32] >> g & 1) * 16);
}
DEFINE(q6_K)
{
    const int h = i / 128, l = i % 128 / 32, j = i % 32;
    const int four = b[64 * h + 32 * (l & 1) + j] >> (l < 2 ? 0 : 4) & 15;
    const int two = b[128 + 32 * h + j] >> (2 * l) & 3;
    return half_at(b + 208) * (float) (char) b[192 + i / 16] * (float) ((four | two << 4) - 32);
}
DEFINE(iq4_xs)
{
    const int g = i / 32;
    const int low = b[4 + g / 2] >> (g & 1) * 4 & 15, top = word(b + 2) >> (2 * g) & 3;
    const float dl = half_at(b) * (float) ((low | top << 4) - 32);
    return dl * (float) iq4_values[nibble(b + 8 + g * 16, i % 32, 32)];
}

DEFINE(tq1_0) // base-3 digits: five of 32 bytes, five of 16, four of 4
{
    const int part = i < 160 ? 0 : i < 240 ? 1 : 2, j = i - (part == 0 ? 0 : part == 1 ? 160 : 240);
    const int n = part == 0 ? 32 : part == 1 ? 16 : 4, at = part == 0 ? 0 : part == 1 ? 32 : 48;
    const int digit = j / n;
    const uint pow3 = digit == 0 ? 1 : digit == 1 ? 3 : digit == 2 ? 9 : digit == 3 ? 27 : 81;
    const int trit = (b[at + j % n] * pow3 & 255) * 3 >> 8;
    return (float) (trit - 1) * half_at(b + 52);
}
DEFINE(tq2_0) { return (float) (two_bits(b, i) - 1) * half_at(b + 64); }

// The eighth sign makes the number of minuses even.
INLINE uint even_signs(uint seven)
{
    seven &= 127;
    return seven | (popcount(seven) & 1) << 7;
}
INLINE float grid8(float d, uint entry, uint signs, int i)
{
    const uint k = entry >> (2 * i) & 3;
    return d * (k == 0 ? 8.0f : k == 1 ? 25.0f : 43.0f) * (signs >> i & 1 ? -1.0f : 1.0f);
}

DEFINE(iq2_xxs)
{
    bytes q = b + 2 + i / 32 * 8;
    const int l = i % 32 / 8;
    const uint bits = word2(q + 4);
    const float dl = half_at(b) * (0.5f + (float) (bits >> 28)) * 0.25f;
    return grid8(dl, grid[q[l]], even_signs(bits >> (7 * l)), i % 8);
}
DEFINE(iq2_xs)
{
    const int e = i / 8;
    const uint q = word(b + 2 + 2 * e);
    const int scale = b[66 + e / 4] >> (e / 2 & 1) * 4 & 15;
    return grid8(half_at(b) * (0.5f + (float) scale) * 0.25f, grid[q & 511], even_signs(q >> 9),
                 i % 8);
}
DEFINE(iq2_s)
{
    const int e = i / 8;
    const uint at = b[2 + e] | (uint) (b[66 + e / 4] >> (e % 4 * 2) & 3) << 8;
    const int scale = b[74 + e / 4] >> (e / 2 & 1) * 4 & 15;
    return grid8(half_at(b) * (0.5f + (float) scale) * 0.25f, grid[at], b[34 + e], i % 8);
}
DEFINE(iq3_xxs)
{
    const int g = i / 32, l = i % 32 / 4;
    const uint bits = word2(b + 66 + 4 * g);
    const float dl = half_at(b) * (0.5f + (float) (bits >> 28)) * 0.5f;
    const uint signs = even_signs(bits >> (l / 2 * 7)) >> (l & 1) * 4;
    const int k = grid[b[2 + 8 * g + l]] >> (3 * (i % 4)) & 7; // 4, 12 .. 52, 62
    return dl * (float) (k * 8 + (k == 7 ? 6 : 4)) * (signs >> (i % 4) & 1 ? -1.0f : 1.0f);
}
DEFINE(iq3_s)
{
    const int e = i / 4, g = e / 8;
    const float dl = half_at(b) * (float) (1 + 2 * (b[106 + g / 2] >> (g & 1) * 4 & 15));
    const uint at = b[2 + e] | (uint) (b[66 + g] >> (e % 8) & 1) << 8;
    const uint signs = b[74 + e / 2] >> (e & 1) * 4;
    const int k = grid[at] >> (3 * (i % 4)) & 7;
    return dl * (float) (2 * k + 1) * (signs >> (i % 4) & 1 ? -1.0f : 1.0f);
}

INLINE float grid1(float d, float delta, uint entry, int i)
{
    return d * ((float) ((int) (entry >> (2 * i) & 3) - 1) + delta);
}
DEFINE(iq1_s)
{
    const int e = i / 8;
    const uint h = word(b + 34 + e / 4 * 2);
    const float dl = half_at(b) * (float) (2 * (h >> 12 & 7) + 1);
    return grid1(dl, h & 0x8000 ? -0.125f : 0.125f, grid[b[2 + e] | (h >> (e % 4 * 3) & 7) << 8],
                 i % 8);
}
DEFINE(iq1_m) // the scale's bits are the top nibbles of four words
{
    const int e = i / 8;
    const uint bits = word(b + 48) >> 12 | word(b + 50) >> 12 << 4 | word(b + 52) >> 12 << 8 |
                      word(b + 54) >> 12 << 12;
    const uint h = b[32 + e / 2] >> (e & 1) * 4 & 15, sc = word(b + 48 + e / 8 * 2);
    const float dl = half_of(bits) * (float) (2 * (sc >> (e % 8 / 2 * 3) & 7) + 1);
    return grid1(dl, h & 8 ? -0.125f : 0.125f, grid[b[e] | (h & 7) << 8], i % 8);
}

// ---- rows ----------------------------------------------------------------------------------------
// Name, values and bytes of a block; those of the 8-bit floats are any number.
#define TYPES(X)                                                                                   \
    X(f8_e4m3, 256, 256) X(f8_e5m2, 256, 256)                                                      \
    X(q1_0, 128, 18) X(q2_0, 64, 18)                                                               \
    X(q4_0, 32, 18) X(q4_1, 32, 20) X(q5_0, 32, 22) X(q5_1, 32, 24) X(q8_0, 32, 34)                \
    X(q2_K, 256, 84) X(q3_K, 256, 110) X(q4_K, 256, 144) X(q5_K, 256, 176) X(q6_K, 256, 210)       \
    X(iq1_s, 256, 50) X(iq1_m, 256, 56) X(iq2_xxs, 256, 66) X(iq2_xs, 256, 74)                     \
    X(iq2_s, 256, 82) X(iq3_xxs, 256, 98) X(iq3_s, 256, 110) X(iq4_nl, 32, 18)                     \
    X(iq4_xs, 256, 136) X(tq1_0, 256, 54) X(tq2_0, 256, 66) X(mxfp4, 32, 17) X(nvfp4, 64, 36)

// Values f0 .. f1 of a row, whose first is value `at` of W, to its column y of a panel; zeros beyond
// the C channels.
#define DEFINE_COLUMN(name, values, size)                                                          \
    INLINE void column_##name(bytes W, grids grid, ulong at, int C, int taps, int Cp, int f0,      \
                              int f1, float scale, global float *y)                                \
    {                                                                                              \
        const int end = min(f1, C * taps);                                                         \
        int f = f0, c = f0 / taps, t = f0 - c * taps, i = (int) ((at + f0) % values);              \
        bytes b = W + (at + f0) / values * size;                                                   \
        for (; f < end; b += size, i = 0) {                                                        \
            const int stop = min(values, i + end - f);                                             \
            f += stop - i;                                                                         \
            for (; i < stop; i++) {                                                                \
                y[((long) t * Cp + c) * 64] = value_##name(b, i, grid) * scale;                    \
                if (++t == taps) {                                                                 \
                    t = 0;                                                                         \
                    c++;                                                                           \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        for (; f < f1; f++) {                                                                      \
            y[((long) t * Cp + c) * 64] = 0.0f;                                                    \
            if (++t == taps) {                                                                     \
                t = 0;                                                                             \
                c++;                                                                               \
            }                                                                                      \
        }                                                                                          \
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
                         int is_scaled, const ulong scales, const ulong grid, global float *Y,     \
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
                          is_in ? C : 0, taps, Cp, f0, f1, scale, Y + i);                          \
        }                                                                                          \
    }
TYPES(DEFINE_EXPAND)
