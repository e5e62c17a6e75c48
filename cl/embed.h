// Embeds .cl files into the library, byte for byte. Before it is included: KERNELS(X) lists them,
// FOLDER is where they are, OWNER a word that no other list has. Defines the list TEXTS.
#include "cl/cl.h"

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
#define NAME2(owner, n) nino_src_##owner##_##n
#define NAME(owner, n) NAME2(owner, n)

// clang-format off
#define X(n)                                                                                       \
    __asm__(".section .rodata\n"                                                                   \
            TEXT(NAME(OWNER, n)) ": .incbin \"" FOLDER "/" #n ".cl\"\n.byte 0\n"                    \
            ".previous\n");                                                                        \
    extern const char NAME(OWNER, n)[];
// clang-format on
KERNELS(X)
#undef X

const nino_cl_text TEXTS[] = {
#define X(n) { #n, NAME(OWNER, n) },
    KERNELS(X)
#undef X
        { NULL, NULL },
};
