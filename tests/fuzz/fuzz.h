// A fuzz target is one file, tests/fuzz/NAME.c, that defines the four below; it also works as it is
// with clang -fsanitize=fuzzer in place of main.c.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Reads the input and aborts (CHECK) when something is wrong; returns 0.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Writes seed number i, a good input to start from, to buf and returns its length, at most cap; 0
// when there is no such seed.
size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap);
// What the format is made of: tokens put into inputs, NULL-terminated.
extern const char *const fuzz_words[];
// Longest input worth trying.
extern const size_t fuzz_max_len;
