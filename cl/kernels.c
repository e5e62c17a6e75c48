// Embeds cl/kernels/*.cl into the library, byte for byte.
#include "cl/runtime.h"

#include <string.h>

// clang-format off
#define KERNELS(X)                                                                                 \
    X(common) X(attn) X(blocks) X(elt) X(few) X(gemm) X(image) X(move) X(norm) X(probe)            \
    X(product) X(quant) X(skinny) X(wino)
// clang-format on

#define X(n)                                                                                       \
    __asm__(".section .rodata\n"                                                                   \
            "nino_src_" #n ": .incbin \"cl/kernels/" #n ".cl\"\n.byte 0\n"                         \
            ".previous\n");                                                                        \
    extern const char nino_src_##n[];
KERNELS(X)
#undef X

const char *nino_cl_source(const char *file)
{
#define X(n)                                                                                       \
    if (!strcmp(file, #n))                                                                         \
        return nino_src_##n;
    KERNELS(X)
#undef X
    return NULL;
}
