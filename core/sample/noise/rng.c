// torch's CPU noise: mt19937 and the Box-Muller kernels of torch.randn(float32).
// Generator: Matsumoto and Nishimura (1998). Log, sine and cosine: the single-precision polynomials
// of Moshier's Cephes in the form torch evaluates them eight at a time (ATen avx_mathfun,
// DistributionTemplates), including which products are fused with a sum: every fused step is
// written as such here, so the bits are the same with and without a fused unit, on any CPU.
#include "core/sample/noise/rng.h"

#include "core/tensor/scalar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N 624
#define M 397

void nino_rng_seed(nino_rng *r, uint64_t seed)
{
    r->state[0] = (uint32_t) seed;
    for (uint32_t i = 1; i < N; i++)
        r->state[i] = 1812433253u * (r->state[i - 1] ^ r->state[i - 1] >> 30) + i;
    r->next = N;
    r->has_normal = false;
    r->normal = 0;
    r->kernel = NINO_RNG_AVX2;
}

static uint32_t twist(uint32_t a, uint32_t b)
{
    const uint32_t y = (a & 0x80000000u) | (b & 0x7fffffffu);
    return y >> 1 ^ ((b & 1u) ? 0x9908b0dfu : 0u);
}

static void refill(nino_rng *r)
{
    uint32_t *s = r->state;
    for (int i = 0; i < N - M; i++)
        s[i] = s[i + M] ^ twist(s[i], s[i + 1]);
    for (int i = N - M; i < N - 1; i++)
        s[i] = s[i + M - N] ^ twist(s[i], s[i + 1]);
    s[N - 1] = s[M - 1] ^ twist(s[N - 1], s[0]);
    r->next = 0;
}

static inline uint32_t temper(uint32_t y)
{
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

uint32_t nino_rng_u32(nino_rng *r)
{
    if (r->next == N)
        refill(r);
    return temper(r->state[r->next++]);
}

static uint64_t random_u64(nino_rng *r)
{
    const uint64_t high = nino_rng_u32(r);
    return high << 32 | nino_rng_u32(r);
}

// dst[n]: uniform in [0, 1), 24 bits each.
static void fill_uniform(nino_rng *r, float *dst, int64_t n)
{
    while (n > 0) {
        if (r->next == N)
            refill(r);
        const int left = N - r->next;
        const int m = n < left ? (int) n : left;
        const uint32_t *s = r->state + r->next;
        for (int i = 0; i < m; i++)
            dst[i] = (float) (int32_t) (temper(s[i]) & 0xffffffu) * 0x1p-24f;
        r->next += m;
        dst += m;
        n -= m;
    }
}

// ---- one lane of the wide kernel --------------------------------------------------------------
// a b + c rounded once, from double arithmetic: the product is exact, and rounding the sum twice is
// only wrong where the first result lies halfway between two floats; there its error decides. For
// values of normal size.
static inline float fused_in_double(float a, float b, float c)
{
    const double p = (double) a * (double) b, q = c;
    const double s = p + q;
    uint64_t u;
    memcpy(&u, &s, sizeof(u));
    if ((u & 0x1fffffffu) != 0x10000000u)
        return (float) s;
    const double t = s - p;
    const double e = (p - (s - t)) + (q - t); // s + e == p + q exactly
    u += e == 0 ? 0 : (e > 0) == (s > 0) ? 1 : ~(uint64_t) 0;
    double moved;
    memcpy(&moved, &u, sizeof(moved));
    return (float) moved;
}

static inline __attribute__((always_inline)) float fused(bool in_hardware, float a, float b,
                                                         float c)
{
    return in_hardware ? __builtin_fmaf(a, b, c) : fused_in_double(a, b, c);
}

// ln u for 2^-24 <= u <= 1
static inline __attribute__((always_inline)) float log_lane(bool hw, float u)
{
    const uint32_t bits = f_bits(u);
    float e = (float) ((int32_t) (bits >> 23) - 127) + 1.0f;
    float m = f_of_bits((bits & 0x007fffffu) | 0x3f000000u);             // [0.5, 1)
    const uint32_t is_low = 0u - (uint32_t) (m < 0.707106781186547524f); // masks vectorise
    const float add = f_of_bits(f_bits(m) & is_low);
    m = (m - 1.0f) + add;
    e -= f_of_bits(f_bits(1.0f) & is_low);
    const float z = m * m;
    float y = 7.0376836292e-2f;
    y = fused(hw, y, m, -1.1514610310e-1f);
    y = fused(hw, y, m, 1.1676998740e-1f);
    y = fused(hw, y, m, -1.2420140846e-1f);
    y = fused(hw, y, m, 1.4249322787e-1f);
    y = fused(hw, y, m, -1.6668057665e-1f);
    y = fused(hw, y, m, 2.0000714765e-1f);
    y = fused(hw, y, m, -2.4999993993e-1f);
    y = fused(hw, y, m, 3.3333331174e-1f);
    y *= m;
    y = fused(hw, y, z, e * -2.12194440e-4f);
    y = fused(hw, z, -0.5f, y);
    return fused(hw, e, 0.693359375f, m + y);
}

// sine and cosine for 0 <= x < 2 pi
static inline __attribute__((always_inline)) void sincos_lane(bool hw, float x, float *sine,
                                                              float *cosine)
{
    const uint32_t octant = ((uint32_t) (int32_t) (x * 1.27323954473516f) + 1u) & ~1u;
    const float y = (float) (int32_t) octant;
    const uint32_t sine_sign = (octant & 4u) << 29;
    const uint32_t cosine_sign = (~(octant - 2u) & 4u) << 29;
    x = fused(hw, y, -0.78515625f, x);
    x = fused(hw, y, -2.4187564849853515625e-4f, x);
    x = fused(hw, y, -3.77489497744594108e-8f, x);
    const float z = x * x;
    float c = 2.443315711809948e-5f;
    c = fused(hw, c, z, -1.388731625493765e-3f);
    c = fused(hw, c, z, 4.166664568298827e-2f);
    c *= z;
    c = fused(hw, c, z, -(z * 0.5f));
    c += 1.0f;
    float s = -1.9515295891e-4f;
    s = fused(hw, s, z, 8.3321608736e-3f);
    s = fused(hw, s, z, -1.6666654611e-1f);
    s *= z;
    s = fused(hw, s, x, x);
    const uint32_t is_swapped = 0u - (octant >> 1 & 1u);
    const uint32_t differ = (f_bits(s) ^ f_bits(c)) & is_swapped;
    *sine = f_of_bits(f_bits(s) ^ differ ^ sine_sign);
    *cosine = f_of_bits(f_bits(c) ^ differ ^ cosine_sign);
}

// Uniforms to normals in blocks of 16: values j and j + 8 make a pair.
static inline __attribute__((always_inline)) void wide_blocks(bool hw, float *d, int64_t n_blocks)
{
    for (int64_t b = 0; b < n_blocks; b++, d += 16) {
        float lo[8], hi[8];
        for (int j = 0; j < 8; j++) {
            const float radius = sqrtf(-2.0f * log_lane(hw, 1.0f - d[j]));
            float s, c;
            sincos_lane(hw, 6.28318530717958647692f * d[j + 8], &s, &c);
            lo[j] = radius * c;
            hi[j] = radius * s;
        }
        memcpy(d, lo, sizeof(lo));
        memcpy(d + 8, hi, sizeof(hi));
    }
}

static void blocks_unfused(float *d, int64_t n_blocks) { wide_blocks(false, d, n_blocks); }

#if defined(__x86_64__) && !defined(__FMA__)
__attribute__((target("avx2,fma"))) static void blocks_fused(float *d, int64_t n_blocks)
{
    wide_blocks(true, d, n_blocks);
}
static void blocks_avx2(float *d, int64_t n_blocks)
{
    const bool hw = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    (hw ? blocks_fused : blocks_unfused)(d, n_blocks);
}
#elif defined(FP_FAST_FMAF)
static void blocks_avx2(float *d, int64_t n_blocks) { wide_blocks(true, d, n_blocks); }
#else
static void blocks_avx2(float *d, int64_t n_blocks) { blocks_unfused(d, n_blocks); }
#endif

static void blocks_scalar(float *d, int64_t n_blocks)
{
    for (int64_t b = 0; b < n_blocks; b++, d += 16)
        for (int j = 0; j < 8; j++) {
            const float radius = sqrtf(-2.0f * logf(1.0f - d[j]));
            const float theta = (float) (6.28318530717958647692 * d[j + 8]);
            d[j] = radius * cosf(theta);
            d[j + 8] = radius * sinf(theta);
        }
}

// ---- torch.randn ------------------------------------------------------------------------------
// Fewer than 16: one at a time, in double.
static float one_normal(nino_rng *r)
{
    if (r->has_normal) {
        r->has_normal = false;
        return (float) r->normal;
    }
    const uint64_t mask = ((uint64_t) 1 << 53) - 1;
    const double u1 = (double) (random_u64(r) & mask) * 0x1p-53;
    const double u2 = (double) (random_u64(r) & mask) * 0x1p-53;
    const double radius = sqrt(-2.0 * log1p(-u2)), theta = 6.28318530717958647692 * u1;
    r->normal = radius * sin(theta);
    r->has_normal = true;
    return (float) (radius * cos(theta));
}

void nino_rng_randn(nino_rng *r, float *dst, int64_t n)
{
    if (n < 16) {
        for (int64_t i = 0; i < n; i++)
            dst[i] = one_normal(r);
        return;
    }
    void (*const table[])(float *, int64_t) = { [NINO_RNG_AVX2] = blocks_avx2,
                                                [NINO_RNG_AVX2_UNFUSED] = blocks_unfused,
                                                [NINO_RNG_SCALAR] = blocks_scalar };
    void (*const blocks)(float *, int64_t) = table[r->kernel];
    enum { piece = 4096 }; // stays in the cache
    for (int64_t at = 0; at < n; at += piece) {
        const int64_t m = n - at < piece ? n - at : piece;
        fill_uniform(r, dst + at, m);
        blocks(dst + at, m / 16);
    }
    if (n % 16) { // the last 16 are drawn anew
        fill_uniform(r, dst + n - 16, 16);
        blocks(dst + n - 16, 1);
    }
}

void nino_noise_fill(uint64_t seed, float *dst, int64_t batch, int64_t item,
                     const int64_t *batch_index)
{
    nino_rng r;
    nino_rng_seed(&r, seed);
    if (!batch_index) {
        nino_rng_randn(&r, dst, batch * item);
        return;
    }
    int64_t last = 0;
    for (int64_t i = 0; i < batch; i++)
        last = batch_index[i] > last ? batch_index[i] : last;
    for (int64_t k = 0; k <= last; k++) {
        // The first item that wants draw k gets it; a draw nobody wants goes to an item that is
        // still to come.
        int64_t at = -1, later = 0;
        for (int64_t i = 0; i < batch && at < 0; i++) {
            if (batch_index[i] == k)
                at = i;
            else if (batch_index[i] > k)
                later = i;
        }
        nino_rng_randn(&r, dst + (at < 0 ? later : at) * item, item);
        for (int64_t i = at + 1; at >= 0 && i < batch; i++)
            if (batch_index[i] == k)
                memcpy(dst + i * item, dst + at * item, (size_t) item * sizeof(float));
    }
}

bool nino_noise_fill_part(uint64_t seed, float *dst, int64_t batch, int64_t item,
                          const int64_t *batch_index, const nino_batch_part *part)
{
    if (!part->total || batch_index) {
        nino_noise_fill(seed, dst, batch, item, batch_index);
        return true;
    }
    float *all = malloc((size_t) (part->total * item) * sizeof(*all));
    if (!all)
        return false;
    nino_noise_fill(seed, all, part->total, item, NULL);
    memcpy(dst, all + part->first * item, (size_t) (batch * item) * sizeof(*dst));
    free(all);
    return true;
}
