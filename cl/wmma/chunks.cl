// Weights of 8 bits and less in chunks of eight, as f16 without a detour by f32, for wmma.cl.
//
// A work-item has n chunks side by side of one row: what they share is worked out once. A step of a product is 32
// channels, so that a block is the same for all of a work-group, and so is the part of a block of 256. They are asked
// for a step before they are taken:
//   ask_TYPE(s, n, W, row, c, l, Cp)   requests channels c + l on of the row that begins `row` bytes behind W; c: that
//                                   of a step
//   take_TYPE(to, n, s, c, l)       makes them f16, those of the step that began with channel c
//   ROW_BYTES_TYPE(v)               what v values of whole rows take
//
// A byte in the low bits of 1024 as f16 makes 1024 more than the byte, from which the rest is exact: numbers are;
// then each is rounded once as it is multiplied. Scales and minima of blocks of 256 are products, rounded before.
typedef uint2 uint2_u __attribute__((aligned(1)));
typedef struct stored {
    uint2 q[4], h[4]; // by chunk: bytes or nibbles, high bits
    uint4 head;       // of the block
    uint scale[2];
} stored;
#define ASK(name)                                                                                  \
    INLINE void ask_##name(private stored *s, const int n, bytes W, uint row, int c, uint l,   \
                             int Cp)
#define TAKE(name)                                                                                 \
    INLINE void take_##name(private uint4 *to, const int n, private const stored *s, int c, uint l)
#define EACH_CHUNK                                                                                 \
    UNROLL                                                                                         \
    for (int k = 0; k < n; k++)
#define BYTES8(p) (*(global const uint2_u *) (p))
#define WORD4(p) (*(global const uint *) (p)) // where they are at places that divide by four

#define LESS_8 0xe408u // as f16 -1024 and what numbers are less
#define LESS_16 0xe410u
#define LESS_32 0xe420u
#define LESS_128 0xe480u
#define NIBBLES 0x0f0f0f0fu

INLINE uint twice(uint h) { return (h & 0xffffu) * 0x10001u; }
INLINE uint4 both(uint h) { return (uint4)(twice(h)); }
// Bytes with the high half of 1024 above each.
INLINE uint4 thousands(uint2 q)
{
    return (uint4)(SPREAD_LOW(q.x), SPREAD_HIGH(q.x), SPREAD_LOW(q.y), SPREAD_HIGH(q.y));
}
INLINE uint4 numbers(uint2 q, uint less) { return pairs_add(thousands(q), both(less)); }

// ---- types without blocks ------------------------------------------------------------------------
#define ASK_BYTES                                                                                  \
    EACH_CHUNK                                                                                     \
    s->q[k] = BYTES8(W + (row + (IS_CHANNEL(c + (int) l + 8 * k, Cp) ? c + l + 8 * k : 0)));
#define ROW_BYTES_i8(v) (v)
#define ROW_BYTES_f8_e4m3(v) (v)
#define ROW_BYTES_f8_e5m2(v) (v)
ASK(i8) { ASK_BYTES }
TAKE(i8) { EACH_CHUNK to[k] = numbers(s->q[k] ^ 0x80808080u, LESS_128); }
ASK(f8_e5m2) { ASK_BYTES }
INLINE uint4 tops(uint2 q)
{
    return (uint4)(TOPS_LOW(q.x), TOPS_HIGH(q.x), TOPS_LOW(q.y), TOPS_HIGH(q.y));
}
TAKE(f8_e5m2) { EACH_CHUNK to[k] = tops(s->q[k]); }
// As f16 the same bits are a 256th. 144 times the value is as exact, also as bf16: 36864 times that 256th, which is
// infinite for NaN alone, that looks like 480. See DECODED().
ASK(f8_e4m3) { ASK_BYTES }
TAKE(f8_e4m3)
{
    EACH_CHUNK
    {
        const uint4 v = as_uint4(as_short8(tops(s->q[k])) >> (short8)(1));
        to[k] = pairs_mul(v & 0xbfffbfffu, both(0x7880));
    }
}

// ---- blocks of 32: a step is one -----------------------------------------------------------------
#define ROW_BYTES_q8_0(v) ((v) / 32 * 34)
ASK(q8_0)
{
    W += c / 32 * 34;
    s->head.x = word(W + row);
    EACH_CHUNK s->q[k] = BYTES8(W + (row + l) + (2 + 8 * k));
}
TAKE(q8_0)
{
    EACH_CHUNK
    to[k] = pairs_mul(numbers(s->q[k] ^ 0x80808080u, LESS_128), both(s->head.x));
}

#define ROW_BYTES_q4_0(v) ((v) / 32 * 18)
ASK(q4_0)
{
    W += c / 32 * 18;
    s->head.x = word(W + row);
    EACH_CHUNK s->q[k] = BYTES8(W + row + (2 + (l + 8 * k) % 16));
}
INLINE uint2 nibbles_of(private const stored *s, int k, uint l)
{
    return s->q[k] >> (uint2)((l + 8 * k) / 16 * 4) & NIBBLES;
}
TAKE(q4_0)
{
    EACH_CHUNK to[k] = pairs_mul(numbers(nibbles_of(s, k, l), LESS_8), both(s->head.x));
}

#define ROW_BYTES_q4_1(v) ((v) / 32 * 20)
ASK(q4_1)
{
    W += c / 32 * 20;
    s->head.x = WORD4(W + row);
    EACH_CHUNK s->q[k] = BYTES8(W + row + (4 + (l + 8 * k) % 16));
}
TAKE(q4_1)
{
    EACH_CHUNK
    to[k] = pairs_fma(numbers(nibbles_of(s, k, l), 0xe400u), both(s->head.x), both(s->head.x >> 16));
}

// Eight bits from bit i on, each the fifth of a byte.
INLINE uint2 fifths(uint bits, uint i)
{
    return ((uint2)(mul24(bits >> i & 15u, 0x204081u), mul24(bits >> (i + 4) & 15u, 0x204081u)) &
            0x01010101u)
           << 4;
}
#define ROW_BYTES_q5_0(v) ((v) / 32 * 22)
ASK(q5_0)
{
    W += c / 32 * 22;
    s->head.x = word(W + row);
    s->head.y = word2(W + row + 2);
    EACH_CHUNK s->q[k] = BYTES8(W + row + (6 + (l + 8 * k) % 16));
}
TAKE(q5_0)
{
    EACH_CHUNK
    to[k] = pairs_mul(numbers(nibbles_of(s, k, l) | fifths(s->head.y, l + 8 * k), LESS_16),
                      both(s->head.x));
}
#define ROW_BYTES_q5_1(v) ((v) / 32 * 24)
ASK(q5_1)
{
    W += c / 32 * 24;
    s->head.x = WORD4(W + row);
    s->head.y = WORD4(W + row + 4);
    EACH_CHUNK s->q[k] = BYTES8(W + row + (8 + (l + 8 * k) % 16));
}
TAKE(q5_1)
{
    EACH_CHUNK
    to[k] = pairs_fma(numbers(nibbles_of(s, k, l) | fifths(s->head.y, l + 8 * k), 0xe400u),
                      both(s->head.x), both(s->head.x >> 16));
}

// ---- blocks of 256: a step is an eighth ----------------------------------------------------------
// Scale and minimum of eighth g, as f16: six bits each, which are times those of the block.
INLINE uint scale_and_least(uint4 head, int g)
{
    const int is_late = g >= 4, at = (g & 3) * 8, up = at + is_late * 2;
    const uint low = is_late ? head.w : head.y, high = is_late ? head.w >> 4 : head.z;
    const uint scale = (low >> at & 15u) | (head.y >> up & 48u);
    const uint least = (high >> at & 15u) | (head.z >> up & 48u);
    return pair_mul(pair_add(scale | least << 16 | 0x64006400u, 0xe400e400u), head.x);
}
#define GROUP(c) ((c) / 32 & 7)
#define ROW_BYTES_q4_K(v) ((v) / 256 * 144)
ASK(q4_K)
{
    W += c / 256 * 144;
    s->head = *(global const uint4 *) (W + row);
    W += GROUP(c) / 2 * 32;
    EACH_CHUNK s->q[k] = BYTES8(W + (row + l) + (16 + 8 * k));
}
TAKE(q4_K)
{
    const uint f = scale_and_least(s->head, GROUP(c));
    EACH_CHUNK
    to[k] = pairs_fma(numbers(s->q[k] >> (uint2)((c / 32 & 1) * 4) & NIBBLES, 0xe400u), both(f),
                      both(f >> 16 ^ 0x8000u));
}
#define ROW_BYTES_q5_K(v) ((v) / 256 * 176)
ASK(q5_K)
{
    W += c / 256 * 176;
    s->head = *(global const uint4 *) (W + row);
    EACH_CHUNK s->h[k] = BYTES8(W + (row + l) + (16 + 8 * k));
    W += GROUP(c) / 2 * 32;
    EACH_CHUNK s->q[k] = BYTES8(W + (row + l) + (48 + 8 * k));
}
TAKE(q5_K)
{
    const uint f = scale_and_least(s->head, GROUP(c));
    EACH_CHUNK
    {
        const uint2 low = s->q[k] >> (uint2)((c / 32 & 1) * 4) & NIBBLES;
        const uint2 high = s->h[k] >> (uint2)(GROUP(c)) & 0x01010101u;
        to[k] = pairs_fma(numbers(high << 4 | low, 0xe400u), both(f), both(f >> 16 ^ 0x8000u));
    }
}
#define ROW_BYTES_q6_K(v) ((v) / 256 * 210)
ASK(q6_K)
{
    W += c / 256 * 210;
    const int half_of_it = GROUP(c) / 4, quarter = GROUP(c) & 3;
    s->head.x = word(W + row + 208);
    bytes low = W + (half_of_it * 64 + (quarter & 1) * 32), high = W + half_of_it * 32;
    EACH_CHUNK s->q[k] = BYTES8(low + (row + l) + 8 * k);
    EACH_CHUNK s->h[k] = BYTES8(high + (row + l) + (128 + 8 * k));
    W += GROUP(c) * 2;
    for (int k = 0; k < n / 2; k++) // of 16 channels
        s->scale[k] = (W + (row + l / 16))[192 + k];
}
TAKE(q6_K)
{
    const int quarter = GROUP(c) & 3;
    EACH_CHUNK
    {
        const uint scale = twice((s->scale[k / 2] ^ 0x80u) | 0x6400u);
        const uint f = pair_mul(pair_add(scale, twice(LESS_128)), twice(s->head.x));
        const uint2 low = s->q[k] >> (uint2)(quarter / 2 * 4) & NIBBLES;
        const uint2 high = s->h[k] >> (uint2)(quarter * 2) & 0x03030303u;
        to[k] = pairs_mul(numbers(high << 4 | low, LESS_32), (uint4)(f));
    }
}

// ---- of the type RAW -----------------------------------------------------------------------------
#define ASK_CHUNKS PASTE(ask_, RAW)
#define TAKE_CHUNKS PASTE(take_, RAW)
#define ROW_BYTES PASTE(ROW_BYTES_, RAW)
// Rows of blocks have whole steps.
#define IS_WITHOUT_BLOCKS_i8 1
#define IS_WITHOUT_BLOCKS_f8_e4m3 1
#define IS_WITHOUT_BLOCKS_f8_e5m2 1
#if PASTE(IS_WITHOUT_BLOCKS_, RAW)
#define IS_CHUNK(c, Cp) IS_CHANNEL(c, Cp)
#else
#define IS_CHUNK(c, Cp) 1
#endif
// As the activations are; what has no blocks is exact as bf16, too.
INLINE uint4 as_operands(uint4 h)
{
#if BF16
    uint8 u = as_uint8(vload_half8(0, (const private half *) &h));
#if !PASTE(IS_WITHOUT_BLOCKS_, RAW)
    u += 0x7fffu + (u >> 16 & 1u);
#endif
    return (uint4)(HIGHS(u.s0, u.s1), HIGHS(u.s2, u.s3), HIGHS(u.s4, u.s5), HIGHS(u.s6, u.s7));
#else
    return h;
#endif
}
