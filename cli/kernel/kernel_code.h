// The machine code of a kernel for a GPU that need not be here.
#pragma once
#include <stdint.h>

#define KERNEL_CODE_TARGET "gfx1151"

// Kinds of instructions, with the words that they are told by.
#define CODE_KINDS(X)                                                                              \
    X(MATRIX, matrix)                                                                              \
    X(VECTOR, vector)                                                                              \
    X(SCALAR, scalar)                                                                              \
    X(LOCAL, local)                                                                                \
    X(MEMORY, memory)                                                                              \
    X(SCRATCH, scratch)                                                                            \
    X(WAIT, wait)                                                                                  \
    X(BRANCH, branch)
enum {
#define X(id, word) CODE_##id,
    CODE_KINDS(X)
#undef X
        CODE_KIND_COUNT
};

typedef struct kernel_code {
    char compiler[64];
    // Of the code; registers; bytes of a work-item's scratch and of a work-group's local memory; waves of
    // a SIMD; registers that did not find room.
    uint64_t bytes, vgprs, sgprs, scratch, local_bytes, occupancy, spills, mix[CODE_KIND_COUNT];
    char *text; // instructions and labels
} kernel_code;

// Fills *c, to be released in any case; NULL, or why it cannot be had (until the next call).
const char *kernel_code_make(const char *source, const char *flags, const char *kernel,
                             kernel_code *c);
void kernel_code_release(kernel_code *c);
