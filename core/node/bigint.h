// Internal: whole numbers of up to 4096 bits, with the meaning that Python's have: division rounds
// down, bits of negative numbers go on as ones. Values; nothing is allocated.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NINO_BIG_LIMBS 128

typedef struct nino_big {
    bool negative; // never with n == 0
    int n;         // limbs in use, the least first; 0: zero
    uint32_t limb[NINO_BIG_LIMBS];
} nino_big;

nino_big nino_big_of(int64_t v);
// Towards zero; false: no finite number, or one that is too large.
bool nino_big_of_double(double d, nino_big *out);
bool nino_big_to_i64(const nino_big *a, int64_t *out); // false: does not fit
double nino_big_to_double(const nino_big *a);          // nearest, halves to even; may be infinite
int nino_big_compare(const nino_big *a, const nino_big *b);
// With a number that is not NaN, exactly.
int nino_big_compare_double(const nino_big *a, double d);

// False: the result is too large, or a division by zero, a negative shift.
bool nino_big_add(const nino_big *a, const nino_big *b, nino_big *out);
bool nino_big_sub(const nino_big *a, const nino_big *b, nino_big *out);
bool nino_big_mul(const nino_big *a, const nino_big *b, nino_big *out);
// a = q*b + r with the sign of b in r; either may be NULL.
bool nino_big_divide(const nino_big *a, const nino_big *b, nino_big *q, nino_big *r);
// a / b as the nearest number. b is not zero.
double nino_big_ratio(const nino_big *a, const nino_big *b);
bool nino_big_pow(const nino_big *a, uint32_t n, nino_big *out);
bool nino_big_shift(const nino_big *a, int64_t left, nino_big *out); // negative: right, down
typedef enum nino_big_op { NINO_BIG_AND, NINO_BIG_OR, NINO_BIG_XOR } nino_big_op;
bool nino_big_bits(const nino_big *a, const nino_big *b, nino_big_op op, nino_big *out);

// Decimal digits of the whole of s[0..len): sign, digits, single underscores between them.
bool nino_big_parse(const char *s, size_t len, nino_big *out);
#define NINO_BIG_TEXT 1300
void nino_big_print(const nino_big *a, char out[NINO_BIG_TEXT]);
