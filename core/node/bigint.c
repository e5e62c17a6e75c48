// Whole numbers of up to 4096 bits: sign and magnitude, schoolbook arithmetic.
#include "core/node/bigint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_BITS INT64_C(4096) // of all limbs

static void bigint_trim(nino_big *a)
{
    while (a->n && !a->limb[a->n - 1])
        a->n--;
    if (!a->n)
        a->negative = false;
}

nino_big nino_big_of(int64_t v)
{
    nino_big a = { .negative = v < 0, .n = 2 };
    const uint64_t m = v < 0 ? 0 - (uint64_t) v : (uint64_t) v;
    a.limb[0] = (uint32_t) m;
    a.limb[1] = (uint32_t) (m >> 32);
    bigint_trim(&a);
    return a;
}

bool nino_big_of_double(double d, nino_big *out)
{
    int e = 0;
    if (!isfinite(d))
        return false;
    const double m = frexp(trunc(d), &e);
    const nino_big top = nino_big_of((int64_t) ldexp(m, 53));
    return nino_big_shift(&top, e - 53, out);
}

bool nino_big_to_i64(const nino_big *a, int64_t *out)
{
    const uint64_t m =
        a->limb[0] * (uint64_t) (a->n > 0) | (a->n > 1 ? (uint64_t) a->limb[1] << 32 : 0);
    if (a->n > 2 || m > (uint64_t) INT64_MAX + a->negative)
        return false;
    *out = a->negative ? (int64_t) (0 - m) : (int64_t) m;
    return true;
}

static int64_t bigint_bits(const nino_big *a)
{
    return a->n ? 32 * (int64_t) a->n - __builtin_clz(a->limb[a->n - 1]) : 0;
}

static bool bigint_bit(const nino_big *a, int64_t i)
{
    return i >= 0 && i / 32 < a->n && a->limb[i / 32] >> (i % 32) & 1;
}

// The magnitude rounded to 53 bits times 2^scale; `sticky`: there is more below its last bit.
static double bigint_round(const nino_big *a, int64_t scale, bool sticky)
{
    const int64_t bits = bigint_bits(a), low = bits > 54 ? bits - 54 : 0;
    uint64_t m = 0;
    for (int64_t i = bits - 1; i >= low; i--)
        m = m << 1 | bigint_bit(a, i);
    for (int64_t i = 0; i < low && !sticky; i++)
        sticky = bigint_bit(a, i);
    if (bits >= 54) { // one bit too many: halves to even
        const bool half = m & 1;
        m >>= 1;
        if (half && (sticky || (m & 1)))
            m++;
        return ldexp((double) m, (int) (low + 1 + scale));
    }
    return ldexp((double) m, (int) scale);
}

double nino_big_to_double(const nino_big *a)
{
    const double m = bigint_round(a, 0, false);
    return a->negative ? -m : m;
}

static int bigint_compare_size(const nino_big *a, const nino_big *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (int i = a->n - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

int nino_big_compare(const nino_big *a, const nino_big *b)
{
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    return a->negative ? -bigint_compare_size(a, b) : bigint_compare_size(a, b);
}

int nino_big_compare_double(const nino_big *a, double d)
{
    nino_big whole;
    if (!nino_big_of_double(d, &whole))
        return d > 0 ? -1 : 1;
    const int c = nino_big_compare(a, &whole);
    const double rest = d - trunc(d);
    return c ? c : rest > 0 ? -1 : rest < 0;
}

// ---- sums, products --------------------------------------------------------------------------

static bool bigint_add_sizes(const nino_big *a, const nino_big *b, nino_big *out)
{
    const int n = a->n > b->n ? a->n : b->n;
    nino_big r = { .negative = a->negative };
    uint64_t carry = 0;
    for (int i = 0; i < n || carry; i++) {
        if (i == NINO_BIG_LIMBS)
            return false;
        carry += (uint64_t) (i < a->n ? a->limb[i] : 0) + (i < b->n ? b->limb[i] : 0);
        r.limb[i] = (uint32_t) carry;
        carry >>= 32;
        r.n = i + 1;
    }
    bigint_trim(&r);
    *out = r;
    return true;
}

// The larger one less the smaller one, with the larger one's sign.
static void bigint_sub_sizes(const nino_big *a, const nino_big *b, nino_big *out)
{
    const nino_big *big = bigint_compare_size(a, b) < 0 ? b : a, *small = big == a ? b : a;
    nino_big r = { .negative = big->negative, .n = big->n };
    int64_t borrow = 0;
    for (int i = 0; i < big->n; i++) {
        borrow += (int64_t) big->limb[i] - (i < small->n ? small->limb[i] : 0);
        r.limb[i] = (uint32_t) borrow;
        borrow >>= 32;
    }
    bigint_trim(&r);
    *out = r;
}

bool nino_big_add(const nino_big *a, const nino_big *b, nino_big *out)
{
    if (a->negative == b->negative)
        return bigint_add_sizes(a, b, out);
    bigint_sub_sizes(a, b, out);
    return true;
}

bool nino_big_sub(const nino_big *a, const nino_big *b, nino_big *out)
{
    nino_big minus = *b;
    minus.negative = b->n && !b->negative;
    return nino_big_add(a, &minus, out);
}

bool nino_big_mul(const nino_big *a, const nino_big *b, nino_big *out)
{
    nino_big r = { .negative = a->negative != b->negative, .n = a->n + b->n };
    if (bigint_bits(a) + bigint_bits(b) > MAX_BITS)
        return false;
    for (int i = 0; i < a->n; i++) {
        uint64_t carry = 0;
        for (int k = 0; k < b->n || carry; k++) {
            if (i + k == NINO_BIG_LIMBS) // only zeros are carried so far
                break;
            carry += r.limb[i + k] + (uint64_t) a->limb[i] * (k < b->n ? b->limb[k] : 0);
            r.limb[i + k] = (uint32_t) carry;
            carry >>= 32;
        }
    }
    r.n = r.n > NINO_BIG_LIMBS ? NINO_BIG_LIMBS : r.n;
    bigint_trim(&r);
    *out = r;
    return true;
}

bool nino_big_pow(const nino_big *a, uint32_t n, nino_big *out)
{
    nino_big r = nino_big_of(1), square = *a;
    for (; n; n >>= 1) {
        if ((n & 1) && !nino_big_mul(&r, &square, &r))
            return false;
        if (n > 1 && !nino_big_mul(&square, &square, &square))
            return false;
    }
    *out = r;
    return true;
}

// ---- division --------------------------------------------------------------------------------

// Bit by bit: at most 4096 steps.
static void bigint_divide_sizes(const nino_big *a, const nino_big *b, nino_big *q, nino_big *r)
{
    nino_big one = nino_big_of(0), divisor = *b, rest = one, quotient = { .n = a->n };
    divisor.negative = false;
    for (int64_t i = bigint_bits(a) - 1; i >= 0; i--) {
        uint32_t carry = bigint_bit(a, i);
        for (int k = 0; k < rest.n || carry; k++) { // at most as long as the divisor, and a bit
            const uint32_t top = k < NINO_BIG_LIMBS ? rest.limb[k] >> 31 : 0;
            if (k == NINO_BIG_LIMBS)
                break;
            rest.limb[k] = rest.limb[k] << 1 | carry;
            rest.n = k + 1 > rest.n ? k + 1 : rest.n;
            carry = top;
        }
        if (bigint_compare_size(&rest, &divisor) >= 0) {
            bigint_sub_sizes(&rest, &divisor, &rest);
            quotient.limb[i / 32] |= UINT32_C(1) << (i % 32);
        }
    }
    bigint_trim(&quotient);
    *q = quotient;
    *r = rest;
}

bool nino_big_divide(const nino_big *a, const nino_big *b, nino_big *q, nino_big *r)
{
    nino_big quotient, rest;
    const nino_big one = nino_big_of(1);
    if (!b->n)
        return false;
    bigint_divide_sizes(a, b, &quotient, &rest);
    quotient.negative = quotient.n && a->negative != b->negative;
    rest.negative = rest.n && a->negative;
    if (rest.n && a->negative != b->negative) { // down, not towards zero
        nino_big_add(&rest, b, &rest);
        nino_big_sub(&quotient, &one, &quotient);
    }
    if (q)
        *q = quotient;
    if (r)
        *r = rest;
    return true;
}

double nino_big_ratio(const nino_big *a, const nino_big *b)
{
    nino_big scaled, q, r, x = *a;
    // so that the quotient has 56 bits or more
    int64_t up = 56 - bigint_bits(a) + bigint_bits(b);
    up = up < 0 ? 0 : up;
    x.negative = false;
    if (!nino_big_shift(&x, up, &scaled))
        return nino_big_to_double(a) / nino_big_to_double(b);
    bigint_divide_sizes(&scaled, b, &q, &r);
    const double m = bigint_round(&q, -up, r.n);
    return a->negative != b->negative ? -m : m;
}

// ---- bits ------------------------------------------------------------------------------------

bool nino_big_shift(const nino_big *a, int64_t left, nino_big *out)
{
    nino_big r = { .negative = a->negative };
    const int64_t bits = bigint_bits(a);
    const nino_big one = nino_big_of(1);
    if (left > 0 && bits && (left > MAX_BITS || bits + left > MAX_BITS))
        return false;
    for (int64_t i = 0; bits && i < bits + left; i++)
        if (bigint_bit(a, i - left))
            r.limb[i / 32] |= UINT32_C(1) << (i % 32);
    bool lost = false;
    for (int64_t i = 0; i < -left && i < bits && !lost; i++)
        lost = bigint_bit(a, i);
    r.n = bits && bits + left > 0 ? (int) ((bits + left + 31) / 32) : 0;
    const bool was_negative = r.negative;
    bigint_trim(&r);
    *out = r;
    return !(was_negative && lost) || nino_big_sub(&r, &one, out);
}

// Limb i as if the number went on for ever in two's complement. *carry begins with 1 for negative
// ones.
static uint32_t bigint_complement(const nino_big *a, int i, uint64_t *carry)
{
    const uint32_t v = i < a->n ? a->limb[i] : 0;
    if (!a->negative)
        return v;
    *carry += (uint32_t) ~v;
    const uint32_t out = (uint32_t) *carry;
    *carry >>= 32;
    return out;
}

bool nino_big_bits(const nino_big *a, const nino_big *b, nino_big_op op, nino_big *out)
{
    nino_big r = { 0 };
    uint64_t ca = a->negative, cb = b->negative, cr = 1;
    const bool na = a->negative, nb = b->negative;
    r.negative = op == NINO_BIG_AND ? na && nb : op == NINO_BIG_OR ? na || nb : na != nb;
    r.n = (a->n > b->n ? a->n : b->n) + 1;
    for (int i = 0; i < r.n && i < NINO_BIG_LIMBS; i++) {
        const uint32_t x = bigint_complement(a, i, &ca), y = bigint_complement(b, i, &cb);
        uint32_t v = op == NINO_BIG_AND ? x & y : op == NINO_BIG_OR ? x | y : x ^ y;
        if (r.negative) {
            cr += (uint32_t) ~v;
            v = (uint32_t) cr;
            cr >>= 32;
        }
        r.limb[i] = v;
    }
    if (r.n > NINO_BIG_LIMBS)
        return false;
    bigint_trim(&r);
    *out = r;
    return true;
}

// ---- text ------------------------------------------------------------------------------------

bool nino_big_parse(const char *s, size_t len, nino_big *out)
{
    const nino_big ten = nino_big_of(10);
    nino_big r = nino_big_of(0);
    const bool negative = len && s[0] == '-';
    size_t i = len && (s[0] == '-' || s[0] == '+');
    if (i == len)
        return false;
    for (; i < len; i++) {
        if (s[i] == '_' && i && i + 1 < len && s[i - 1] >= '0' && s[i - 1] <= '9' &&
            s[i + 1] >= '0' && s[i + 1] <= '9')
            continue;
        if (s[i] < '0' || s[i] > '9')
            return false;
        const nino_big digit = nino_big_of(s[i] - '0');
        if (!nino_big_mul(&r, &ten, &r) || !nino_big_add(&r, &digit, &r))
            return false;
    }
    r.negative = negative && r.n;
    *out = r;
    return true;
}

void nino_big_print(const nino_big *a, char out[NINO_BIG_TEXT])
{
    nino_big rest = *a;
    char digits[NINO_BIG_TEXT];
    size_t at = sizeof(digits);
    do { // nine digits at a time, from the end
        uint64_t r = 0;
        for (int i = rest.n - 1; i >= 0; i--) {
            r = r << 32 | rest.limb[i];
            rest.limb[i] = (uint32_t) (r / 1000000000);
            r %= 1000000000;
        }
        bigint_trim(&rest);
        for (int k = 0; k < 9 && (k == 0 || rest.n || r); k++, r /= 10)
            digits[--at] = (char) ('0' + r % 10);
    } while (rest.n);
    snprintf(out, NINO_BIG_TEXT, "%s%.*s", a->negative ? "-" : "", (int) (sizeof(digits) - at),
             digits + at);
}
