// Noise computed a second time, plainly: normals from the raw words of the generator for every length
// around its blocks, the items of batches by index, numpy's SeedSequence, and what holds of Brownian
// motion however an interval is divided.
#include <math.h>

#include "core/sample/noise/brownian.h"
#include "core/sample/noise/rng.h"
#include "tests/test.h"

enum { LONGEST = 8200 };

// ---- torch.randn ----------------------------------------------------------------------------------

static double uniform_24(nino_rng *r) { return (nino_rng_u32(r) & 0xffffff) * 0x1p-24; }

static double uniform_53(nino_rng *r)
{
    const uint64_t high = nino_rng_u32(r), low = nino_rng_u32(r);
    return (double) ((high << 32 | low) & (((uint64_t) 1 << 53) - 1)) * 0x1p-53;
}

// Box and Muller's pair of a uniform radius in (0, 1] and a uniform angle in [0, 1)
static void pair_of(double radius, double angle, double *a, double *b)
{
    *a = sqrt(-2 * log(radius)) * cos(2 * M_PI * angle);
    *b = sqrt(-2 * log(radius)) * sin(2 * M_PI * angle);
}

static void block_of(nino_rng *r, double *to)
{
    double u[16];
    for (int i = 0; i < 16; i++)
        u[i] = uniform_24(r);
    for (int i = 0; i < 8; i++)
        pair_of(1 - u[i], u[i + 8], &to[i], &to[i + 8]);
}

// From 16 values on in blocks of 16, the last of which may go over the one before; all words of what
// is cut off are drawn as well. Fewer come one after the other, from twice as many bits.
static void plain_randn(nino_rng *r, double *to, int n, double *left, bool *has_left)
{
    if (n >= 16) {
        for (int i = 0; i + 16 <= n; i += 16)
            block_of(r, to + i);
        for (int i = 0; i < n % 16; i++)
            nino_rng_u32(r);
        if (n % 16)
            block_of(r, to + n - 16);
        return;
    }
    for (int i = 0; i < n; i++) {
        if (*has_left) {
            to[i] = *left;
        } else {
            const double angle = uniform_53(r), radius = 1 - uniform_53(r);
            pair_of(radius, angle, &to[i], left);
        }
        *has_left = !*has_left;
    }
}

// Two draws, one after the other, of n and then of 7 and of 20 values.
static void check_length(uint64_t seed, int n, nino_rng_kernel kernel)
{
    static float got[LONGEST];
    static double want[LONGEST];
    const int lengths[] = { n, 7, 20, n, 2 };
    nino_rng a, b;
    double left = 0;
    bool has_left = false;
    nino_rng_seed(&a, seed);
    nino_rng_seed(&b, seed & 0xffffffff); // no more of it counts
    a.kernel = kernel;
    for (int k = 0; k < 5; k++) {
        nino_rng_randn(&a, got, lengths[k]);
        plain_randn(&b, want, lengths[k], &left, &has_left);
        for (int i = 0; i < lengths[k]; i++)
            if (!(fabs((double) got[i] - want[i]) <= 2e-5 * (1 + fabs(want[i])))) {
                fprintf(stderr, "seed %llu, draw %d of %d, value %d: %g, expected %g\n",
                        (unsigned long long) seed, k, lengths[k], i, got[i], want[i]);
                exit(1);
            }
        CHECK(nino_rng_u32(&a) == nino_rng_u32(&b)); // as many words were used
    }
}

static void check_lengths(void)
{
    static const nino_rng_kernel kernels[] = { NINO_RNG_AVX2, NINO_RNG_AVX2_UNFUSED,
                                               NINO_RNG_SCALAR };
    static const int long_ones[] = { 608,  623,  624,  625,  640,  1248, 4095,
                                     4096, 4097, 4112, 8191, 8192, 8193, LONGEST };
    for (int k = 0; k < 3; k++) {
        for (int n = 0; n <= 66; n++)
            check_length(3, n, kernels[k]);
        for (size_t i = 0; i < sizeof(long_ones) / sizeof(*long_ones); i++)
            check_length(0xfedcba9876543210u, long_ones[i], kernels[k]);
    }
}

// ---- batches --------------------------------------------------------------------------------------

// Every list of four indices below 5: item i is the index's draw of all the draws in a row.
static void check_indices(int item)
{
    enum { N = 4, MOST = 5 };
    float draws[MOST][40], got[N * 40];
    nino_rng r;
    nino_rng_seed(&r, 11);
    for (int i = 0; i < MOST; i++)
        nino_rng_randn(&r, draws[i], item);
    for (int code = 0; code < MOST * MOST * MOST * MOST; code++) {
        int64_t index[N];
        for (int i = 0, rest = code; i < N; i++, rest /= MOST)
            index[i] = rest % MOST;
        nino_noise_fill(11, got, N, item, index);
        for (int i = 0; i < N; i++)
            CHECK(!memcmp(got + i * item, draws[index[i]], (size_t) item * sizeof(float)));
    }
}

static void check_parts(int item)
{
    enum { N = 6 };
    float all[N * 40], got[N * 40];
    nino_rng r;
    nino_rng_seed(&r, 12);
    nino_rng_randn(&r, all, N * item);
    for (int first = 0; first < N; first++)
        for (int n = 1; first + n <= N; n++) {
            const nino_batch_part part = { .first = first, .total = N };
            CHECK(nino_noise_fill_part(12, got, n, item, NULL, &part));
            CHECK(!memcmp(got, all + first * item, (size_t) (n * item) * sizeof(float)));
        }
    CHECK(nino_noise_fill_part(12, got, N, item, NULL, &(nino_batch_part){ .first = 3 }));
    CHECK(!memcmp(got, all, (size_t) (N * item) * sizeof(float))); // of no part at all
}

// ---- numpy's SeedSequence -------------------------------------------------------------------------

static void check_seed_sequences(void)
{
    // numpy's algorithm, written anew in Python: entropy, spawn key, pool_size, generate_state(5)
    static const struct {
        uint64_t entropy;
        int n_key;
        uint64_t key[4];
        int pool;
        uint32_t state[5];
    } cases[] = {
        // clang-format off
        { 0uLL, 0, { 0 }, 4, { 0xb0f478beu, 0xdb2cd7e7u, 0x2c71ba49u, 0xabf4641au, 0x9d7b8d41u } },
        { 1uLL, 0, { 0 }, 4, { 0x6d6791ffu, 0x672d8ee5u, 0x4eb1072cu, 0x8ae19ca1u, 0x1322fc4au } },
        { 12345uLL, 0, { 0 }, 24, { 0xac24c395u, 0xf76dc38eu, 0x45200ba6u, 0xa6bcbf1fu, 0x7a8e15f8u } },
        { 4294967295uLL, 0, { 0 }, 24, { 0x6b904dd9u, 0x8371a49eu, 0xc5d3cf11u, 0x931944c0u, 0xe9546e79u } },
        { 4294967296uLL, 0, { 0 }, 24, { 0x19e9051au, 0x7d309344u, 0x5bf000efu, 0x6733eb35u, 0xa22b645au } },
        { 1099511627783uLL, 0, { 0 }, 8, { 0x52e62a83u, 0x08f0f4abu, 0x9f7d7ea1u, 0x8ecb6343u, 0x88c38c34u } },
        { 9223372036854775813uLL, 0, { 0 }, 24, { 0xf1d29b8du, 0x99431b5eu, 0x3055001bu, 0x557e0a1bu, 0xd23fd65bu } },
        { 99uLL, 2, { 0, 0 }, 24, { 0x53d8bb69u, 0x62277c56u, 0xeddfac67u, 0x15872c5eu, 0x593bce53u } },
        { 99uLL, 2, { 5, 3 }, 24, { 0x0a31c87du, 0xbaa28a7cu, 0xf364e87du, 0xaa49b1dau, 0xc544f636u } },
        { 1099511627776uLL, 2, { 3, 1 }, 24, { 0x915f99fdu, 0xb1441786u, 0x78e57887u, 0xdc83166au, 0x85aeb5c0u } },
        { 7uLL, 2, { 4294967296uLL, 1 }, 24, { 0xfc32245eu, 0x075dc06au, 0x894ddf66u, 0x0c9d0facu, 0xe095433au } },
        { 7uLL, 2, { 8589934593uLL, 35 }, 24, { 0x811923bbu, 0x429233e5u, 0x8fff2766u, 0xff9aa98bu, 0xe6315169u } },
        { 7uLL, 1, { 8589934592uLL }, 32, { 0x076f7c1au, 0x95834f39u, 0x30f423fau, 0x3de2ff09u, 0xd723d808u } },
        { 7uLL, 2, { 8589934592uLL, 17179869184uLL }, 32, { 0x3d5d9c0du, 0xba58f356u, 0x14fb1489u, 0x89002b7au, 0x6e84d6bdu } },
        { 123456789012uLL, 2, { 34359738371uLL, 36 }, 4, { 0xeae27a28u, 0x7fb459b0u, 0xf0ebe9abu, 0xf19a01b1u, 0x441e4aa4u } },
        { 3uLL, 4, { 1, 2, 3, 4 }, 24, { 0xbee0dde5u, 0x48f4efa0u, 0x68de0b1du, 0xe6dbfd57u, 0x912522adu } },
        { 5uLL, 4, { 8589934593uLL, 8589934594uLL, 8589934595uLL, 8589934596uLL }, 32, { 0x7ef63c00u, 0xc0b64dcfu, 0x43983e29u, 0x7d9d17cbu, 0x41756016u } },
        // clang-format on
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t got[5];
        nino_seed_sequence(cases[i].entropy, cases[i].key, cases[i].n_key, cases[i].pool, got, 5);
        for (int k = 0; k < 5; k++)
            CHECK(got[k] == cases[i].state[k]);
    }
}

// ---- Brownian motion ------------------------------------------------------------------------------

enum { COUNT = 21 };

static nino_brownian *tree_of(double from, double to, uint64_t seed)
{
    nino_brownian *b = NULL;
    nino_error err = { 0 };
    CHECK_OK(nino_brownian_create(from, to, COUNT, seed, &b, &err), err);
    return b;
}

// W(to) - W(from), of the noise that is this by the root of the interval
static void increment(nino_brownian *b, double from, double to, double *out)
{
    nino_error err = { 0 };
    float got[COUNT];
    CHECK_OK(nino_brownian_noise(b, from, to, got, &err), err);
    for (int i = 0; i < COUNT; i++)
        out[i] = (double) got[i] * sqrt(fabs(to - from));
}

// What is drawn for an interval is the sum of its parts, and falls as it rises.
static void check_sums(uint64_t seed)
{
    static const double at[] = { 0.03, 0.2, 0.75, 1.5, 1.50001, 4, 14.6 };
    enum { N = 7 };
    nino_brownian *b = tree_of(0.03, 14.6, seed), *again = tree_of(14.6, 0.03, seed);
    for (int i = 0; i < N; i++)
        for (int j = i + 1; j < N; j++) {
            double whole[COUNT], back[COUNT], part[COUNT], other[COUNT];
            increment(b, at[i], at[j], whole);
            increment(b, at[j], at[i], back);
            increment(again, at[i], at[j], other); // its ends were named the other way round
            for (int k = 0; k < COUNT; k++)
                CHECK(back[k] == -whole[k] && other[k] == -whole[k]);
            for (int m = i; m < j; m++) {
                increment(b, at[m], at[m + 1], part);
                for (int k = 0; k < COUNT; k++)
                    whole[k] -= part[k];
            }
            for (int k = 0; k < COUNT; k++)
                CHECK(fabs(whole[k]) < 1e-5);
        }
    nino_brownian_destroy(&b);
    nino_brownian_destroy(&again);
}

// Beyond the tree's ends there is nothing more: of an interval that reaches over one, what is inside.
static void check_ends(void)
{
    nino_brownian *b = tree_of(1, 3, 5);
    double inside[COUNT], over[COUNT];
    static const double reach[][4] = { { 0.2, 2, 1, 2 }, { 2, 9, 2, 3 }, { -4, 40, 1, 3 } };
    for (int i = 0; i < 3; i++) {
        increment(b, reach[i][0], reach[i][1], over);
        increment(b, reach[i][2], reach[i][3], inside);
        for (int k = 0; k < COUNT; k++)
            CHECK(fabs(over[k] - inside[k]) < 1e-5);
    }
    increment(b, 0.1, 0.9, over);
    for (int k = 0; k < COUNT; k++)
        CHECK(over[k] == 0);
    nino_brownian_destroy(&b);
    nino_brownian_destroy(&b); // nothing twice
    nino_error err = { 0 };
    CHECK(nino_brownian_create(0, 1, 0, 1, &b, &err) == NINO_ERR_NOMEM);
    CHECK_STR(err.msg, "no memory for a Brownian tree of 0 values");
}

// Of many seeds the increments have the variance of their interval's length, and those of intervals
// that do not touch have nothing to do with each other. The bounds are five standard deviations.
static void check_spread(void)
{
    static const double at[] = { 0.5, 0.8, 2, 5.3, 6 };
    enum { N = 4, SEEDS = 400, VALUES = SEEDS * COUNT };
    double product[N][N] = { 0 };
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        nino_brownian *b = tree_of(at[0], at[N], seed << 31); // many of more than 32 bits
        double w[N][COUNT];
        for (int i = 0; i < N; i++)
            increment(b, at[i], at[i + 1], w[i]);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < COUNT; k++)
                    product[i][j] +=
                        w[i][k] * w[j][k] / sqrt((at[i + 1] - at[i]) * (at[j + 1] - at[j]));
        nino_brownian_destroy(&b);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            CHECK(fabs(product[i][j] / VALUES - (i == j)) < 5 * sqrt((i == j ? 2.0 : 1) / VALUES));
}

int main(void)
{
    check_lengths();
    check_indices(3);
    check_indices(17);
    check_indices(40);
    check_parts(3);
    check_parts(17);
    check_seed_sequences();
    check_sums(9);
    check_sums((uint64_t) 1 << 40);
    check_ends();
    check_spread();
    return 0;
}
