// Internal: every environment variable ninodes reads, in one table; read once per process. Settings
// files (settings.h) stand in for those that are not set.
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef enum nino_setting_scope { // which settings files may set it (settings.h)
    NINO_SETTING_NONE,
    NINO_SETTING_OWN, // the user's and the system's
    NINO_SETTING_ANY, // that of the working folder too
} nino_setting_scope;

// X(field, "NAME", scope, "default", "help")
#define NINO_VARS(X)                                                                               \
    X(device, "NINODES_DEVICE", NINO_SETTING_ANY, "",                                              \
      "Which device to open: cl, cl:N, cl:NAME or ref")                                            \
    X(models, "NINODES_MODELS", NINO_SETTING_ANY, "", "Model folders, separated by colons")        \
    X(cache_dir, "NINODES_CACHE_DIR", NINO_SETTING_OWN, "",                                        \
      "Compiled kernels and tuning; default XDG_CACHE_HOME/ninodes")                               \
    X(kernel_dir, "NINODES_KERNEL_DIR", NINO_SETTING_NONE, "",                                     \
      "Read .cl files from this copy of the source folder cl instead of the built-in ones")        \
    X(helpers, "NINODES_HELPERS", NINO_SETTING_OWN, "",                                            \
      "0: no processes that compile kernels ahead and keep them after a run")                      \
    X(schedule, "NINODES_SCHEDULE", NINO_SETTING_NONE, "",                                         \
      "Schedule of the kernels on OpenCL devices; default: the profile's (ninodes devices)")       \
    X(gemm, "NINODES_GEMM", NINO_SETTING_ANY, "",                                                  \
      "Who multiplies the matrices of linear layers on OpenCL devices: native, clblast or auto, "  \
      "as tuned")                                                                                  \
    X(profile_dir, "NINODES_DATA_DIR", NINO_SETTING_OWN, "",                                       \
      "Read device profiles and tuning tables from here")                                          \
    X(debug, "NINODES_DEBUG", NINO_SETTING_NONE, "",                                               \
      "Comma list of cl (compiler warnings), mem (a buffer for every tensor), capture")            \
    X(trace, "NINODES_TRACE", NINO_SETTING_OWN, "",                                                \
      "Write a Chrome trace of every run to this file")                                            \
    X(fail_cl, "NINODES_FAIL_CL", NINO_SETTING_NONE, "", "Fail the n-th OpenCL call (tests)")      \
    X(mem_limit, "NINODES_MEM_LIMIT", NINO_SETTING_ANY, "", "Device memory budget, e.g. 2GiB")     \
    X(assets, "NINODES_ASSETS", NINO_SETTING_NONE, "", "Folder of the test data (tests)")          \
    X(capture, "ROCM_NINODES_DEBUG", NINO_SETTING_NONE, "", "1: same as NINODES_DEBUG=capture")

typedef struct nino_vars {
#define X(field, name, scope, def, help) const char *field;
    NINO_VARS(X)
#undef X
} nino_vars;

// The values, never NULL. Thread-safe; the first call reads the environment and settings files.
const nino_vars *nino_vars_get(void);
// True if NINODES_DEBUG contains the word (or ROCM_NINODES_DEBUG=1 for "capture").
_Bool nino_debug_has(const char *word);

// The folder for caches: `dir`, else NINODES_CACHE_DIR, else XDG_CACHE_HOME/ninodes, else
// ~/.cache/ninodes. False: none ("" or no home).
bool nino_cache_dir(const char *dir, char *out, size_t size);
// The folder for what outlives a process, the queue and steps that are kept: `dir`, else
// XDG_STATE_HOME/ninodes, else ~/.local/state/ninodes. False: none ("" or no home).
bool nino_state_dir(const char *dir, char *out, size_t size);
