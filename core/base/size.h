// Internal: checked size arithmetic. All sizes that come from files are computed here and only
// here.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// *out = a + b (a * b); false and *out untouched when the result does not fit.
static inline bool nino_add_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    uint64_t r;
    if (__builtin_add_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

static inline bool nino_mul_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    uint64_t r;
    if (__builtin_mul_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

// a rounded up to a multiple of b (b > 0, no overflow check: for our own numbers only).
static inline size_t nino_round_up(size_t a, size_t b) { return (a + b - 1) / b * b; }
static inline int64_t nino_ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
