// What tests/fuzz/main.c asks of tests/fuzz/shortage.c.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Allocations of the target that are not freed yet.
long shortage_live(void);

// Tries the input with allocations failing, one at a time and from one on: each of them, or as many
// as `most` allows, spread evenly from one that `first` picks. Returns how many failed; *refused counts the tries that the target
// could not go on from.
long shortage_try(int (*run)(const uint8_t *data, size_t len), const uint8_t *data, size_t len,
                  long most, long first, long *refused);
