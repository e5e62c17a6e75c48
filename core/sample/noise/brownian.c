// Brownian tree: the increment over any interval, halving [t0, t1] until the interval's ends are
// borders. What a half gets of its parent's increment is a Brownian bridge with noise of its own
// seed. torchsde brownian_interval.py (halfway tree, tol 1e-6, pool 24), numpy SeedSequence
// (O'Neill's seed_seq), k-diffusion's BrownianTreeNoiseSampler.
#include "core/sample/noise/brownian.h"
#include "core/base/error.h"
#include "core/base/num.h"
#include "core/base/size.h"
#include "core/sample/noise/rng.h"
#include "core/tensor/scalar.h"
#include <stdlib.h>
#include <string.h>

#define POOL 24
#define MAX_POOL 32
#define MAX_WORDS (MAX_POOL + 8)
#define MAX_SPARE 40 // more than a tree is deep

// ---- SeedSequence -----------------------------------------------------------------------------
static uint32_t hash_mix(uint32_t v, uint32_t *c)
{
    v ^= *c;
    *c *= 0x931e8875u;
    v *= *c;
    return v ^ v >> 16;
}

static uint32_t brownian_mix(uint32_t x, uint32_t y)
{
    const uint32_t r = 0xca01f9ddu * x - 0x4973f715u * y;
    return r ^ r >> 16;
}

// 32-bit limbs, least first; 0 is one limb
static int put_words(uint64_t v, uint32_t *words, int n)
{
    words[n++] = (uint32_t) v;
    if (v >> 32)
        words[n++] = (uint32_t) (v >> 32);
    return n;
}

void nino_seed_sequence(uint64_t entropy, const uint64_t *key, int n_key, int pool, uint32_t *out,
                        int n)
{
    uint32_t words[MAX_WORDS] = { 0 };
    int n_words = put_words(entropy, words, 0);
    if (n_key > 0)
        n_words = pool; // zeros in between
    for (int i = 0; i < n_key && n_words + 2 <= MAX_WORDS; i++)
        n_words = put_words(key[i], words, n_words);

    uint32_t p[MAX_POOL], c = 0x43b0d7e5u;
    for (int i = 0; i < pool; i++)
        p[i] = hash_mix(words[i], &c);
    for (int src = 0; src < pool; src++)
        for (int dst = 0; dst < pool; dst++)
            if (src != dst)
                p[dst] = brownian_mix(p[dst], hash_mix(p[src], &c));
    for (int src = pool; src < n_words; src++)
        for (int dst = 0; dst < pool; dst++)
            p[dst] = brownian_mix(p[dst], hash_mix(words[src], &c));

    uint32_t h = 0x8b51f9ddu;
    for (int i = 0; i < n; i++) {
        uint32_t d = p[i % pool] ^ h;
        h *= 0x58f38dedu;
        d *= h;
        out[i] = d ^ d >> 16;
    }
}

// ---- the tree ---------------------------------------------------------------------------------
struct nino_brownian {
    double start, end; // rounded
    int64_t count;
    uint64_t seed;
    float sign;
    float *root;    // increment over [start, end]
    float *scratch; // noise, then the left child
    float *spare[MAX_SPARE];
    int n_spare;
};

// To six decimals, exactly as Python's round(): the borders of nodes must meet.
static double brownian_rounded(double t)
{
    char text[400];
    nino_snprintf(text, sizeof(text), "%.6f", t);
    return nino_strtod(text, NULL);
}

static void randn_of(uint32_t seed, float *dst, int64_t n)
{
    nino_rng r;
    nino_rng_seed(&r, seed);
    nino_rng_randn(&r, dst, n);
}

static float *take_values(nino_brownian *b)
{
    return b->n_spare ? b->spare[--b->n_spare] : malloc((size_t) b->count * sizeof(float));
}

static void give_values(nino_brownian *b, float *v)
{
    if (b->n_spare < MAX_SPARE)
        b->spare[b->n_spare++] = v;
    else
        free(v);
}

nino_status nino_brownian_create(double t0, double t1, int64_t count, uint64_t seed,
                                 nino_brownian **out, nino_error *err)
{
    nino_brownian *b = calloc(1, sizeof(*b));
    uint64_t bytes;
    if (!b || count < 1 || !nino_mul_u64((uint64_t) count, 3 * sizeof(float), &bytes))
        goto nomem;
    const double low = t0 < t1 ? t0 : t1, high = t0 < t1 ? t1 : t0;
    b->sign = t0 < t1 ? 1.0f : -1.0f;
    b->start = brownian_rounded(low);
    b->end = brownian_rounded(high);
    b->count = count;
    b->seed = seed;
    b->root = take_values(b);
    b->scratch = take_values(b);
    if (!b->root || !b->scratch)
        goto nomem;
    uint32_t state[3];
    nino_seed_sequence(seed, NULL, 0, POOL, state, 3);
    randn_of(state[0], b->root, count);
    const float scale = (float) sqrt(high - low);
    for (int64_t i = 0; i < count; i++)
        b->root[i] *= scale;
    *out = b;
    return NINO_OK;
nomem:
    nino_brownian_destroy(&b);
    return nino_fail(err, NINO_ERR_NOMEM, "noise", "no memory for a Brownian tree of %lld values",
                     (long long) count);
}

void nino_brownian_destroy(nino_brownian **pb)
{
    nino_brownian *b = *pb;
    *pb = NULL;
    if (!b)
        return;
    free(b->root);
    free(b->scratch);
    while (b->n_spare)
        free(b->spare[--b->n_spare]);
    free(b);
}

typedef struct node {
    double start, end;
    uint64_t key; // path from the root: 2 key + (right)
    int depth;
} node;

static node left_of(const node *p, double middle)
{
    return (node){ p->start, middle, 2 * p->key, p->depth + 1 };
}

static node right_of(const node *p, double middle)
{
    return (node){ middle, p->end, 2 * p->key + 1, p->depth + 1 };
}

// w: the node's increment -> b->scratch: the left half's, w: the right half's.
static void brownian_split(nino_brownian *b, const node *p, double middle, float *w)
{
    uint32_t state[4];
    nino_seed_sequence(b->seed, (uint64_t[]){ p->key, (uint64_t) p->depth }, 2, POOL, state, 4);
    float *left = b->scratch;
    randn_of(state[0], left, b->count);
    const double before = middle - p->start, after = p->end - middle;
    const double inverse = 1 / (p->end - p->start);
    const float a = (float) before, c = (float) inverse;
    const float dev = (float) sqrt(before * after * inverse);
    for (int64_t i = 0; i < b->count; i++) {
        left[i] = w[i] * a * c + dev * left[i];
        w[i] -= left[i];
    }
}

// acc += the increment over [from, to], which lies in the node; takes w, its increment.
static bool add_increment(nino_brownian *b, node p, float *w, double from, double to, float *acc)
{
    for (;;) {
        const double middle = brownian_rounded(0.5 * (p.end + p.start));
        const bool is_whole = from == p.start && to == p.end;
        if (is_whole || !(p.start < middle && middle < p.end))
            break;
        brownian_split(b, &p, middle, w);
        if (to <= middle) {
            float *left = b->scratch;
            b->scratch = w;
            w = left;
            p = left_of(&p, middle);
        } else if (from >= middle) {
            p = right_of(&p, middle);
        } else {
            float *left = b->scratch, *fresh = take_values(b);
            if (fresh)
                b->scratch = fresh;
            if (!fresh || !add_increment(b, left_of(&p, middle), left, from, middle, acc)) {
                give_values(b, w);
                return false;
            }
            p = right_of(&p, middle);
            from = middle;
        }
    }
    for (int64_t i = 0; i < b->count; i++)
        acc[i] += w[i];
    give_values(b, w);
    return true;
}

static double clamped(const nino_brownian *b, double t)
{
    return brownian_rounded(t < b->start ? b->start : t > b->end ? b->end : t);
}

nino_status nino_brownian_noise(nino_brownian *b, double from, double to, float *dst,
                                nino_error *err)
{
    const float sign = b->sign * (from < to ? 1.0f : -1.0f);
    const double low = clamped(b, from < to ? from : to), high = clamped(b, from < to ? to : from);
    memset(dst, 0, (size_t) b->count * sizeof(float));
    if (low < high) {
        const node root = { .start = b->start, .end = b->end };
        float *w = take_values(b);
        if (w)
            memcpy(w, b->root, (size_t) b->count * sizeof(float));
        if (!w || !add_increment(b, root, w, low, high, dst))
            return nino_fail(err, NINO_ERR_NOMEM, "noise", "no memory for a Brownian tree");
    }
    const float length = f_sqrt(fabsf((float) to - (float) from));
    for (int64_t i = 0; i < b->count; i++)
        dst[i] = dst[i] * sign / length;
    return NINO_OK;
}
