// Values of weights that stay as their file stores them (core/op/raw.h), V at a time: quant.cl expands
// whole panels with them, gemm.cl and skinny.cl what they are about to multiply.
// Reference: core/tensor/quant.c, whose order of operations makes results equal bit for bit.
//
// Rows lie one behind the other, so that value i of row n is value at = n * row + i of all. For a
// multiple of V, which never spans two blocks of any type:
//   vec decode_TYPE(bytes b, int i, grids grid)         values i .. i + V - 1 of the block at b
//   vec values_TYPE(bytes W, grids grid, ulong at)      values at .. at + V - 1 of all
// grid: the codebook of the IQ types that have one.
#pragma OPENCL FP_CONTRACT OFF

typedef global const uchar *bytes;
typedef global const ushort *grids;
#define TO_INT PASTE(convert_int, V)
#define TO_FLOAT PASTE(convert_float, V)
#define BYTES(p) TO_INT(PASTE(vload, V)(0, p))
#define AS_FLOAT PASTE(as_float, V)
#define AS_INT PASTE(as_int, V)

#if SCHED_CPU
#define LANES (ivec)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define LANES8 (ivec)(0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7) // numbers in groups of eight
#define LANES4 (ivec)(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3)
#define EIGHTS(f) (ivec)((int8)(f(0)), (int8)(f(1))) // f of the eights that the values are in
#define FOURS(f) (ivec)((int4)(f(0)), (int4)(f(1)), (int4)(f(2)), (int4)(f(3)))
#elif V == 8
#define LANES (ivec)(0, 1, 2, 3, 4, 5, 6, 7)
#define LANES8 LANES
#define LANES4 (ivec)(0, 1, 2, 3, 0, 1, 2, 3)
#define EIGHTS(f) (ivec)(f(0))
#define FOURS(f) (ivec)((int4)(f(0)), (int4)(f(1)))
#else
#define LANES (ivec)(0, 1, 2, 3)
#define LANES8 ((i & 4) + LANES)
#define LANES4 LANES
#define EIGHTS(f) (ivec)(f(0))
#define FOURS(f) (ivec)(f(0))
#endif

constant char iq4_values[16] = { -127, -104, -83, -65, -49, -35, -22, -10,
                                 1,    13,   25,  38,  53,  69,  89,  113 };

INLINE uint word(bytes p) { return *(global const ushort *) p; } // all are at even places
INLINE uint word2(bytes p) { return word(p) | word(p + 2) << 16; }
INLINE float half_of(uint bits)
{
    const ushort h = (ushort) bits;
    return vload_half(0, (const private half *) &h);
}
INLINE float half_at(bytes p) { return half_of(word(p)); }

// Values i .. of 32, the low nibbles first.
INLINE ivec nibbles(bytes q, int i) { return BYTES(q + (i & 15)) >> (i >> 4) * 4 & 15; }

INLINE vec iq4(ivec at)
{
    int from[V];
    float to[V];
    *(private ivec *) from = at;
#pragma unroll
    for (int k = 0; k < V; k++)
        to[k] = iq4_values[from[k]];
    return *(private vec *) to;
}

// e2m1 doubled
INLINE vec fp4(ivec n)
{
    const ivec e = n >> 1 & 3, m = n & 1;
    const ivec v = e == 0 ? m : (2 | m) << e >> 1;
    return TO_FLOAT(n > 7 ? -v : v);
}

INLINE float e4m3(uint v)
{
    const uint m = v & 0x7f;
    const float a = m == 0x7f ? NAN
                    : m < 8   ? (float) m * 0.001953125f
                              : as_float(((m >> 3) + 120) << 23 | (m & 7) << 20);
    return v & 0x80 ? -a : a;
}

#define DECODE(name) INLINE vec decode_##name(bytes b, int i, grids grid)

// ---- types without blocks ------------------------------------------------------------------------
DECODE(f32) { return LOADV(f32, (global const float *) b + i); }
DECODE(f16) { return LOADV(f16, (global const half *) b + i); }
DECODE(bf16) { return LOADV(bf16, (global const ushort *) b + i); }
DECODE(i8) { return TO_FLOAT(TO_INT(PASTE(as_char, V)(PASTE(vload, V)(0, b + i)))); }
DECODE(f8_e4m3)
{
    const ivec v = BYTES(b + i), m = v & 0x7f;
    const vec small = TO_FLOAT(m) * 0.001953125f;
    const vec large = AS_FLOAT(((m >> 3) + 120) << 23 | (m & 7) << 20);
    const vec a = m == 0x7f ? (vec)(NAN) : m < 8 ? small : large;
    // The sign as a bit: clang 19 for gfx1151 loses it of three in four when it is a comparison.
    return AS_FLOAT(AS_INT(a) | (v & 0x80) << 24);
}
DECODE(f8_e5m2)
{
    const PASTE(ushort, V) h = PASTE(convert_ushort, V)(PASTE(vload, V)(0, b + i)) << (ushort) 8;
    return PASTE(vload_half, V)(0, (const private half *) &h);
}

// ---- blocks of 32 to 128 -------------------------------------------------------------------------
DECODE(q4_0) { return TO_FLOAT(nibbles(b + 2, i) - 8) * half_at(b); }
DECODE(q4_1) { return TO_FLOAT(nibbles(b + 4, i)) * half_at(b) + half_at(b + 2); }
INLINE ivec fifth_bits(bytes p, int i) { return ((ivec)((int) (word2(p) >> i)) >> LANES & 1) << 4; }
DECODE(q5_0)
{
    return TO_FLOAT((nibbles(b + 6, i) | fifth_bits(b + 2, i)) - 16) * half_at(b);
}
DECODE(q5_1)
{
    return TO_FLOAT(nibbles(b + 8, i) | fifth_bits(b + 4, i)) * half_at(b) + half_at(b + 2);
}
DECODE(q8_0) { return decode_i8(b + 2, i, grid) * half_at(b); }
DECODE(iq4_nl) { return half_at(b) * iq4(nibbles(b + 2, i)); }
DECODE(mxfp4) // the scale is 2^(e - 128), the smallest two denormal
{
    const uint e = b[0];
    const float d = as_float(e > 1 ? (e - 1) << 23 : 0x200000u << e);
    return fp4(nibbles(b + 1, i)) * d;
}
DECODE(nvfp4)
{
    bytes q = b + 4 + i / 16 * 8;
#if SCHED_CPU
    const int8 two = convert_int8(vload8(0, q));
    const ivec n = (ivec)(two & 15, two >> 4);
#else
    const ivec n = BYTES(q + (i & 7)) >> (i >> 3 & 1) * 4 & 15;
#endif
    return fp4(n) * (e4m3(b[i / 16] & 0x7f) * 0.5f);
}
DECODE(q1_0)
{
    const float d = half_at(b);
    const ivec bits = (ivec)((int) word(b + 2 + i / 16 * 2)) >> (i % 16 + LANES) & 1;
    return bits != 0 ? (vec)(d) : (vec)(-d);
}
DECODE(q2_0)
{
    const ivec bits = (ivec)((int) word2(b + 2 + i / 16 * 4)) >> 2 * (i % 16 + LANES) & 3;
    return TO_FLOAT(bits - 1) * half_at(b);
}

// ---- blocks of 256 -------------------------------------------------------------------------------
INLINE ivec two_bits(bytes q, int i)
{
    return BYTES(q + i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3;
}

DECODE(q2_K)
{
    const int s = b[i / 16];
    const float dl = half_at(b + 80) * (float) (s & 15), ml = half_at(b + 82) * (float) (s >> 4);
    return dl * TO_FLOAT(two_bits(b + 16, i)) - ml;
}
DECODE(q3_K)
{
    bytes sc = b + 96;
    const int g = i / 16;
    const int low = g < 8 ? sc[g] & 15 : sc[g - 8] >> 4, top = sc[8 + g % 4] >> (g / 4 * 2) & 3;
    const float dl = half_at(b + 108) * (float) ((low | top << 4) - 32);
    const ivec high = BYTES(b + i % 32) >> (i / 32) & 1;
    return dl * TO_FLOAT(two_bits(b + 32, i) - 4 + high * 4);
}

// Q4_K and Q5_K: q are the numbers before scale and minimum of group g.
INLINE vec six_bits(bytes b, int g, ivec q)
{
    bytes s = b + 4;
    const int scale = g < 4 ? s[g] & 63 : (s[g + 4] & 15) | s[g - 4] >> 6 << 4;
    const int low = g < 4 ? s[g + 4] & 63 : s[g + 4] >> 4 | s[g] >> 6 << 4;
    const float dl = half_at(b) * (float) scale, ml = half_at(b + 2) * (float) low;
    return dl * TO_FLOAT(q) - ml;
}
DECODE(q4_K)
{
    const int g = i / 32;
    return six_bits(b, g, BYTES(b + 16 + g / 2 * 32 + i % 32) >> (g & 1) * 4 & 15);
}
DECODE(q5_K)
{
    const int g = i / 32;
    const ivec low = BYTES(b + 48 + g / 2 * 32 + i % 32) >> (g & 1) * 4 & 15;
    return six_bits(b, g, low + (BYTES(b + 16 + i % 32) >> g & 1) * 16);
}
DECODE(q6_K)
{
    const int h = i / 128, l = i % 128 / 32, j = i % 32;
    const ivec four = BYTES(b + 64 * h + 32 * (l & 1) + j) >> (l < 2 ? 0 : 4) & 15;
    const ivec two = BYTES(b + 128 + 32 * h + j) >> (2 * l) & 3;
    return half_at(b + 208) * (float) (char) b[192 + i / 16] * TO_FLOAT((four | two << 4) - 32);
}
DECODE(iq4_xs)
{
    const int g = i / 32;
    const int low = b[4 + g / 2] >> (g & 1) * 4 & 15, top = word(b + 2) >> (2 * g) & 3;
    const float dl = half_at(b) * (float) ((low | top << 4) - 32);
    return dl * iq4(nibbles(b + 8 + g * 16, i % 32));
}

// The first digit of base-3 fractions.
INLINE vec trits(ivec fraction) { return TO_FLOAT(((fraction & 255) * 3 >> 8) - 1); }
DECODE(tq1_0) // five digits of 32 bytes, five of 16, four of 4
{
    const int part = i < 160 ? 0 : i < 240 ? 1 : 2, j = i - (part == 0 ? 0 : part == 1 ? 160 : 240);
    const int n = part == 0 ? 32 : 16, at = part == 0 ? 0 : 32, digit = j / n;
    const int pow3 = digit == 0 ? 1 : digit == 1 ? 3 : digit == 2 ? 9 : digit == 3 ? 27 : 81;
    const float d = half_at(b + 52);
    if (part < 2)
        return trits(BYTES(b + at + j % n) * pow3) * d;
#if SCHED_CPU
    const int4 four = convert_int4(vload4(0, b + 48));
    return trits((ivec)(four, four * 3, four * 9, four * 27)) * d;
#elif V == 8
    const int4 four = convert_int4(vload4(0, b + 48)) * (j == 0 ? 1 : 9);
    return trits((ivec)(four, four * 3)) * d;
#else
    return trits(BYTES(b + 48) * (j == 0 ? 1 : j == 4 ? 3 : j == 8 ? 9 : 27)) * d;
#endif
}
DECODE(tq2_0) { return TO_FLOAT(two_bits(b, i) - 1) * half_at(b + 64); }

// ---- codebooks: an entry holds four or eight values ----------------------------------------------
// The eighth sign makes the number of minuses even.
INLINE int even_signs(uint seven)
{
    seven &= 127;
    return (int) (seven | (popcount(seven) & 1) << 7);
}
// d times eight values, of which two bits each are in an entry, and their signs.
INLINE vec eight_of(float d, ivec entries, ivec signs, ivec lanes)
{
    const ivec k = entries >> (2 * lanes) & 3;
    const vec v = d * (k == 0 ? (vec)(8.0f) : k == 1 ? (vec)(25.0f) : (vec)(43.0f));
    return (signs >> lanes & 1) != 0 ? -v : v;
}

DECODE(iq2_xxs)
{
    bytes q = b + 2 + i / 32 * 8;
    const int l = i % 32 / 8;
    const uint bits = word2(q + 4);
    const float dl = half_at(b) * (0.5f + (float) (bits >> 28)) * 0.25f;
#define ENTRY(e) grid[q[l + e]]
#define SIGNS(e) even_signs(bits >> (7 * (l + e)))
    return eight_of(dl, EIGHTS(ENTRY), EIGHTS(SIGNS), LANES8);
#undef ENTRY
#undef SIGNS
}
DECODE(iq2_xs)
{
    const int at = i / 8, scale = b[66 + at / 4] >> (at / 2 & 1) * 4 & 15;
    const float dl = half_at(b) * (0.5f + (float) scale) * 0.25f;
#define ENTRY(e) grid[word(b + 2 + 2 * (at + e)) & 511]
#define SIGNS(e) even_signs(word(b + 2 + 2 * (at + e)) >> 9)
    return eight_of(dl, EIGHTS(ENTRY), EIGHTS(SIGNS), LANES8);
#undef ENTRY
#undef SIGNS
}
DECODE(iq2_s)
{
    const int at = i / 8, scale = b[74 + at / 4] >> (at / 2 & 1) * 4 & 15;
    const float dl = half_at(b) * (0.5f + (float) scale) * 0.25f;
#define ENTRY(e) grid[b[2 + at + e] | (uint) (b[66 + at / 4] >> ((at + e) % 4 * 2) & 3) << 8]
#define SIGNS(e) b[34 + at + e]
    return eight_of(dl, EIGHTS(ENTRY), EIGHTS(SIGNS), LANES8);
#undef ENTRY
#undef SIGNS
}
DECODE(iq3_xxs)
{
    const int g = i / 32, l = i % 32 / 4;
    const uint bits = word2(b + 66 + 4 * g);
    const float dl = half_at(b) * (0.5f + (float) (bits >> 28)) * 0.5f;
#define ENTRY(e) grid[b[2 + 8 * g + l + e]]
#define SIGNS(e) (even_signs(bits >> ((l + e) / 2 * 7)) >> ((l + e) & 1) * 4)
    const ivec k = FOURS(ENTRY) >> (3 * LANES4) & 7; // 4, 12 .. 52, 62
    const vec v = dl * TO_FLOAT(k * 8 + (k == 7 ? (ivec)(6) : (ivec)(4)));
    return (FOURS(SIGNS) >> LANES4 & 1) != 0 ? -v : v;
#undef ENTRY
#undef SIGNS
}
DECODE(iq3_s)
{
    const int at = i / 4, g = at / 8;
    const float dl = half_at(b) * (float) (1 + 2 * (b[106 + g / 2] >> (g & 1) * 4 & 15));
#define ENTRY(e) grid[b[2 + at + e] | (uint) (b[66 + g] >> ((at + e) % 8) & 1) << 8]
#define SIGNS(e) (b[74 + (at + e) / 2] >> ((at + e) & 1) * 4)
    const vec v = dl * TO_FLOAT(2 * (FOURS(ENTRY) >> (3 * LANES4) & 7) + 1);
    return (FOURS(SIGNS) >> LANES4 & 1) != 0 ? -v : v;
#undef ENTRY
#undef SIGNS
}

// d times eight values of -1, 0, 1, all a delta more or, where `less` is -1, less.
INLINE vec ternary(float d, ivec less, ivec entries, ivec lanes)
{
    const vec delta = less ? (vec)(-0.125f) : (vec)(0.125f);
    return d * (TO_FLOAT((entries >> (2 * lanes) & 3) - 1) + delta);
}
DECODE(iq1_s)
{
    const int at = i / 8;
    const uint h = word(b + 34 + at / 4 * 2);
    const float dl = half_at(b) * (float) (2 * (h >> 12 & 7) + 1);
#define ENTRY(e) grid[b[2 + at + e] | (h >> ((at + e) % 4 * 3) & 7) << 8]
    return ternary(dl, (ivec)((h & 0x8000) != 0 ? -1 : 0), EIGHTS(ENTRY), LANES8);
#undef ENTRY
}
DECODE(iq1_m) // the scale's bits are the top nibbles of four words
{
    const int at = i / 8;
    const uint bits = word(b + 48) >> 12 | word(b + 50) >> 12 << 4 | word(b + 52) >> 12 << 8 |
                      word(b + 54) >> 12 << 12;
    const uint h = b[32 + at / 2], sc = word(b + 48 + at / 8 * 2);
    const float dl = half_of(bits) * (float) (2 * (sc >> (at % 8 / 2 * 3) & 7) + 1);
#define NIBBLE(e) (h >> ((at + e) & 1) * 4 & 15)
#define ENTRY(e) grid[b[at + e] | (NIBBLE(e) & 7) << 8]
#define LESS(e) (NIBBLE(e) & 8 ? -1 : 0)
    return ternary(dl, EIGHTS(LESS), EIGHTS(ENTRY), LANES8);
#undef NIBBLE
#undef ENTRY
#undef LESS
}
#pragma OPENCL FP_CONTRACT DEFAULT

// Name, values and bytes of a block.
#define TYPES(X)                                                                                   \
    X(f32, 256, 1024) X(f16, 256, 512) X(bf16, 256, 512)                                           \
    X(f8_e4m3, 256, 256) X(f8_e5m2, 256, 256) X(i8, 256, 256)                                      \
    X(q1_0, 128, 18) X(q2_0, 64, 18)                                                               \
    X(q4_0, 32, 18) X(q4_1, 32, 20) X(q5_0, 32, 22) X(q5_1, 32, 24) X(q8_0, 32, 34)                \
    X(q2_K, 256, 84) X(q3_K, 256, 110) X(q4_K, 256, 144) X(q5_K, 256, 176) X(q6_K, 256, 210)       \
    X(iq1_s, 256, 50) X(iq1_m, 256, 56) X(iq2_xxs, 256, 66) X(iq2_xs, 256, 74)                     \
    X(iq2_s, 256, 82) X(iq3_xxs, 256, 98) X(iq3_s, 256, 110) X(iq4_nl, 32, 18)                     \
    X(iq4_xs, 256, 136) X(tq1_0, 256, 54) X(tq2_0, 256, 66) X(mxfp4, 32, 17) X(nvfp4, 64, 36)

// V values from `at` on, a multiple of V.
#define DEFINE_VALUES(name, values, size)                                                          \
    INLINE vec values_##name(bytes W, grids grid, ulong at)                                        \
    {                                                                                              \
        return decode_##name(W + at / values * size, (int) (at % values), grid);                   \
    }
TYPES(DEFINE_VALUES)
