// Internal: every environment variable ninodes reads, in one table; read once per process.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// X(field, "NAME", "default", "help")
#define NINO_VARS(X)                                                                               \
    X(device, "NINODES_DEVICE", "", "Which device to open: cl, cl:N, cl:NAME or ref")              \
    X(models, "NINODES_MODELS", "", "Model folders, separated by colons")                          \
    X(cache_dir, "NINODES_CACHE_DIR", "",                                                          \
      "Compiled kernels and tuning; default XDG_CACHE_HOME/ninodes")                               \
    X(kernel_dir, "NINODES_KERNEL_DIR", "",                                                        \
      "Read .cl files from here instead of the built-in ones")                                     \
    X(profile_dir, "NINODES_DATA_DIR", "", "Read device profiles and tuning tables from here")     \
    X(debug, "NINODES_DEBUG", "",                                                                  \
      "Comma list of cl (compiler warnings), mem (a buffer for every tensor), capture")            \
    X(trace, "NINODES_TRACE", "", "Write a Chrome trace of every run to this file")                \
    X(fail_cl, "NINODES_FAIL_CL", "", "Fail the n-th OpenCL call (tests)")                         \
    X(mem_limit, "NINODES_MEM_LIMIT", "", "Device memory budget, e.g. 2GiB")                       \
    X(assets, "NINODES_ASSETS", "", "Folder of the test data (tests)")                             \
    X(capture, "ROCM_NINODES_DEBUG", "", "1: same as NINODES_DEBUG=capture")

typedef struct nino_vars {
#define X(field, name, def, help) const char *field;
    NINO_VARS(X)
#undef X
} nino_vars;

// The values, never NULL. Thread-safe; the first call reads the environment.
const nino_vars *nino_vars_get(void);
// True if NINODES_DEBUG contains the word (or ROCM_NINODES_DEBUG=1 for "capture").
_Bool nino_debug_has(const char *word);

// The folder for caches: `dir`, else NINODES_CACHE_DIR, else XDG_CACHE_HOME/ninodes, else
// ~/.cache/ninodes. False: none ("" or no home).
bool nino_cache_dir(const char *dir, char *out, size_t size);
