// The device profiles of data/devices, inside the library. To add one: write the file, add its line
// here.
#include "core/op/profile.h"

#define PROFILES(X)                                                                                \
    X(pocl_cpu, "pocl-cpu")                                                                        \
    X(gfx1151, "gfx1151")                                                                          \
    X(gfx1100, "gfx1100")                                                                          \
    X(gfx1101, "gfx1101")                                                                          \
    X(gfx1150, "gfx1150")                                                                          \
    X(gfx1200, "gfx1200")                                                                          \
    X(intel_arc, "intel-arc")                                                                      \
    X(nvidia, "nvidia")                                                                            \
    X(generic_gpu, "generic-gpu")

#define X(id, name)                                                                                \
    __asm__(".section .rodata\n"                                                                   \
            ".globl nino_profile_" #id "\n"                                                        \
            ".hidden nino_profile_" #id "\n"                                                       \
            "nino_profile_" #id ":\n"                                                              \
            ".incbin \"data/devices/" name ".json\"\n"                                             \
            ".globl nino_profile_" #id "_end\n"                                                    \
            ".hidden nino_profile_" #id "_end\n"                                                   \
            "nino_profile_" #id "_end:\n"                                                          \
            ".byte 0\n"                                                                            \
            ".previous\n");                                                                        \
    extern const char nino_profile_##id[], nino_profile_##id##_end[];
PROFILES(X)
#undef X

const nino_profile_text nino_profile_builtin[] = {
#define X(id, name) { name, nino_profile_##id, nino_profile_##id##_end },
    PROFILES(X)
#undef X
        { NULL, NULL, NULL },
};
