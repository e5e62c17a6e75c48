// A fuzz target is one file, tests/fuzz/NAME.c, that defines the four below; it also works as it is
// with clang -fsanitize=fuzzer in place of main.c.
#pragma once
#include <ninodes/base.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Reads the input and aborts (CHECK) when something is wrong; returns 0.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Writes seed number i, a good input to start from, to buf and returns its length, at most cap; 0
// when there is no such seed.
size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap);
// What the format is made of: tokens put into inputs, NULL-terminated.
extern const char *const fuzz_words[];
// Longest input worth trying.
extern const size_t fuzz_max_len;

// What an input comes to, told piece by piece: the error, or what was read. The driver compares it
// with what was recorded (tests/fuzz/outcome.h); an engine has no use for it.
void outcome_bytes(const void *p, size_t n) __attribute__((weak));
void outcome_text(const char *format, ...) __attribute__((weak, format(printf, 1, 2)));
#define TELL(...)                                                                                  \
    do {                                                                                           \
        if (outcome_text)                                                                          \
            outcome_text(__VA_ARGS__);                                                             \
    } while (0)

static inline void tell_bytes(const void *p, size_t n)
{
    if (outcome_bytes && n)
        outcome_bytes(p, n);
}

static inline void tell_error(const nino_error *e)
{
    TELL("refused %d %s %s: %s\n", (int) e->code, e->kind, e->where, e->msg);
}

// Seed i of a list of n texts, for targets whose inputs are text.
static inline size_t fuzz_text(const char *const *seeds, size_t n, unsigned i, uint8_t *buf,
                               size_t cap)
{
    const size_t len = i < n ? strlen(seeds[i]) : 0;
    if (len > cap)
        abort();
    memcpy(buf, i < n ? seeds[i] : "", len);
    return len;
}
