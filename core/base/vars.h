// Internal: every setting and environment variable of ninodes, in one table; read once per process.
// What counts: nino_config_set(), the environment, settings files (settings.h), the default.
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef enum nino_setting_scope { // which settings files may set it (settings.h)
    NINO_SETTING_NONE,
    NINO_SETTING_OWN, // the user's and the system's
    NINO_SETTING_ANY, // that of the working folder too
} nino_setting_scope;

// X(field, "VARIABLE", scope, "key", "flag", "values", "default", "help"). key: in ninodes.conf, with
// its section before a point; "": no file sets it. flag: an option of commands of its own; "": none
// but --config. values: "a|b": one of these, "0.1..1": a number from .. to, else what kind of text.
#define NINO_VARS(X)                                                                               \
    X(device, "NINODES_DEVICE", NINO_SETTING_ANY, "device", "--device", "SEL", "",                 \
      "Which device to open: cl, cl:N, cl:NAME or ref")                                            \
    X(models, "NINODES_MODELS", NINO_SETTING_ANY, "models", "--models", "DIRS", "",                \
      "Model folders, separated by colons")                                                        \
    X(cache_dir, "NINODES_CACHE_DIR", NINO_SETTING_OWN, "cache_dir", "", "DIR", "",                \
      "Compiled kernels and tuning; default XDG_CACHE_HOME/ninodes")                               \
    X(kernel_dir, "NINODES_KERNEL_DIR", NINO_SETTING_NONE, "", "", "DIR", "",                      \
      "Read .cl files from this copy of the source folder cl instead of the built-in ones")        \
    X(helpers, "NINODES_HELPERS", NINO_SETTING_OWN, "helpers", "", "0..1", "1",                    \
      "0: no processes that compile kernels ahead and keep them after a run")                      \
    X(notify_after, "NINODES_NOTIFY_AFTER", NINO_SETTING_OWN, "notify_after", "", "0..86400",      \
      "30",                                                                                        \
      "Seconds: the end of a run that took longer is told by the terminal's bell and a "           \
      "notification; 0: never")                                                                    \
    X(schedule, "NINODES_SCHEDULE", NINO_SETTING_NONE, "", "", "NAME", "",                         \
      "Schedule of the kernels on OpenCL devices; default: the profile's (ninodes devices)")       \
    X(gemm, "NINODES_GEMM", NINO_SETTING_ANY, "gemm", "--gemm", "auto|native|clblast", "auto",     \
      "Who multiplies the matrices of linear layers on OpenCL devices; auto: as tuned")            \
    X(profile_dir, "NINODES_DATA_DIR", NINO_SETTING_OWN, "data_dir", "", "DIR", "",                \
      "Read device profiles and tuning tables from here")                                          \
    X(debug, "NINODES_DEBUG", NINO_SETTING_NONE, "", "", "LIST", "",                               \
      "Comma list of cl (compiler warnings), mem (a buffer for every tensor), capture, dots "      \
      "(instructions for pairs of bf16, emulated)")                                                \
    X(trace, "NINODES_TRACE", NINO_SETTING_OWN, "trace", "--trace", "FILE", "",                    \
      "Write a Chrome trace of every run to this file")                                            \
    X(fail_cl, "NINODES_FAIL_CL", NINO_SETTING_NONE, "", "", "N", "",                              \
      "Fail the n-th OpenCL call (tests)")                                                         \
    X(mem_limit, "NINODES_MEM_LIMIT", NINO_SETTING_ANY, "mem_limit", "--mem-limit", "SIZE", "",    \
      "Device memory budget, e.g. 2GiB")                                                           \
    X(input_dir, "NINODES_INPUT", NINO_SETTING_OWN, "run.input", "--input", "DIR", "input",        \
      "Folder of input images and latents")                                                        \
    X(output_dir, "NINODES_OUTPUT", NINO_SETTING_OWN, "run.output", "--output", "DIR", "output",   \
      "Folder of the results")                                                                     \
    X(preview, "NINODES_PREVIEW", NINO_SETTING_ANY, "run.preview", "--preview",                    \
      "none|latent2rgb|taesd|auto", "none", "Pictures of the unfinished latent while sampling")    \
    X(preview_every, "NINODES_PREVIEW_EVERY", NINO_SETTING_ANY, "run.preview_every",               \
      "--preview-every", "1..10000", "5", "Sampler steps from one preview to the next")            \
    X(preview_percent, "NINODES_PREVIEW_PERCENT", NINO_SETTING_ANY, "run.preview_percent",         \
      "--preview-percent", "1..100", "5",                                                          \
      "Percent of the sampling time that previews may take; beyond it they are left out")          \
    X(chunk_size, "NINODES_CHUNK_SIZE", NINO_SETTING_ANY, "memory.chunk_size", "", "auto|1|2|4|8", \
      "auto",                                                                                      \
      "Latent frames that a VAE of videos decodes at once, where a node does not say; auto: as "   \
      "the VAE needs it, or all that fit")                                                         \
    X(memory_threshold, "NINODES_MEMORY_THRESHOLD", NINO_SETTING_ANY, "memory.memory_threshold",   \
      "", "0.05..1", "1",                                                                          \
      "Share of the budget that a decode may fill before it is cut into tiles or chunks")          \
    X(cleanup_frequency, "NINODES_CLEANUP_FREQUENCY", NINO_SETTING_ANY,                            \
      "memory.cleanup_frequency", "", "0..1000", "0",                                              \
      "After so many chunks or tiles the pool gives unused memory back to the driver; 0: only "    \
      "when it is short")                                                                          \
    X(cpu_offload, "NINODES_CPU_OFFLOAD", NINO_SETTING_ANY, "memory.cpu_offload", "",              \
      "true|false", "false",                                                                       \
      "Weights leave the device when the node that used them ends, and are read again")            \
    X(precision, "NINODES_PRECISION", NINO_SETTING_ANY, "precision.mode", "--precision",           \
      "auto|fp32|fp16|bf16|mixed", "auto", "How numbers are stored where a node does not say")     \
    X(rocm_preferred, "NINODES_ROCM_PREFERRED", NINO_SETTING_ANY, "precision.rocm_preferred", "",  \
      "auto|fp32|fp16|bf16", "auto",                                                               \
      "What auto is on GPUs of AMD (profiles gfx...); auto: as the device's profile says")         \
    X(fallback, "NINODES_PRECISION_FALLBACK", NINO_SETTING_ANY, "precision.fallback", "",          \
      "fp32|bf16|none", "fp32",                                                                    \
      "What a node whose numbers were too large for 16 bits is run in once more; none: it fails")  \
    X(mixed_precision, "NINODES_MIXED_PRECISION", NINO_SETTING_ANY, "precision.mixed_precision",   \
      "", "true|false", "false", "auto is mixed: 16 bits with fp32 where it matters")              \
    X(mixed_from, "NINODES_MIXED_FROM", NINO_SETTING_ANY, "precision.mixed_from", "",              \
      "0..1000000000000", "1048576",                                                               \
      "In mixed precision tensors are 16 bits from so many values an image or frame on, and fp32 " \
      "below")                                                                                     \
    X(half_from, "NINODES_HALF_FROM", NINO_SETTING_ANY, "precision.half_from", "",                 \
      "0..1000000000000", "16777216",                                                              \
      "In mixed precision the sums along the layers are 16 bits, too, from so many values an "     \
      "image or frame on, and fp32 below")                                                         \
    X(measure_error, "NINODES_MEASURE_ERROR", NINO_SETTING_ANY, "precision.measure_error", "",     \
      "true|false", "false",                                                                       \
      "A node that stored 16 bits is run in fp32 as well, on the same inputs, and the error is "   \
      "told")                                                                                      \
    X(hip_memory, "NINODES_HIP_MEMORY", NINO_SETTING_ANY, "rocm.enable_hip_memory", "",            \
      "true|false", "true",                                                                        \
      "Device memory comes from a pool; false: a buffer from the driver for every tensor")         \
    X(attention, "NINODES_ATTENTION_OPTIMIZATION", NINO_SETTING_ANY,                               \
      "rocm.attention_optimization", "", "true|false", "true",                                     \
      "Attention keeps its scores in registers, where the schedule can; false: in memory")         \
    X(kernel_tuning, "NINODES_KERNEL_TUNING", NINO_SETTING_ANY, "rocm.kernel_tuning", "",          \
      "true|false", "true",                                                                        \
      "Kernels are cut as ninodes tune found best; false: as the standard says")                   \
    X(memory_fraction, "NINODES_MEMORY_FRACTION", NINO_SETTING_ANY, "rocm.memory_fraction", "",    \
      "0.05..1", "1",                                                                              \
      "Share of the memory that is free on the device to use at most, after the system's reserve") \
    X(synchronization, "NINODES_SYNCHRONIZATION", NINO_SETTING_ANY, "rocm.synchronization", "",    \
      "true|false", "false",                                                                       \
      "Wait for the device after every op: slow, and what fails is the op that is named")          \
    X(confined, "NINODES_CONFINED", NINO_SETTING_OWN, "worker.confined", "", "true|false", "true", \
      "A worker can start no program but this and the driver's linker, and reach no network but "  \
      "that of its --queue")                                                                       \
    X(assets, "NINODES_ASSETS", NINO_SETTING_NONE, "", "", "DIR", "",                              \
      "Folder of the test data (tests)")                                                           \
    X(capture, "ROCM_NINODES_DEBUG", NINO_SETTING_NONE, "", "", "N", "",                           \
      "1: same as NINODES_DEBUG=capture")

typedef struct nino_vars {
#define X(field, name, scope, key, flag, values, def, help) const char *field;
    NINO_VARS(X)
#undef X
} nino_vars;

// The values, never NULL; one that is not among those of its row is the default instead
// (nino_settings_problem()). Thread-safe; the first call reads the environment and settings files.
const nino_vars *nino_vars_get(void);
bool nino_vars_are_read(void); // they are, or are being read
// True if NINODES_DEBUG contains the word (or ROCM_NINODES_DEBUG=1 for "capture").
_Bool nino_debug_has(const char *word);

static inline bool nino_is_true(const char *setting) { return setting[0] == 't'; }

// The folder for caches: `dir`, else NINODES_CACHE_DIR, else XDG_CACHE_HOME/ninodes, else
// ~/.cache/ninodes. False: none ("" or no home).
bool nino_cache_dir(const char *dir, char *out, size_t size);
// The folder for what outlives a process, the queue and steps that are kept: `dir`, else
// XDG_STATE_HOME/ninodes, else ~/.local/state/ninodes. False: none ("" or no home).
bool nino_state_dir(const char *dir, char *out, size_t size);
