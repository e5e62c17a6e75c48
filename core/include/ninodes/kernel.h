// One kernel of a run by itself: which program and which call it was launched for, its source as it
// was compiled, what the driver says of it, and the call measured again, alone and with each way in
// which its schedule could cut it.
//
// Threads: any thread.
#pragma once
#include <ninodes/ctx.h>
#include <ninodes/experiment.h>

NINO_BEGIN

enum { NINO_KERNEL_PROGRAM = 320, NINO_KERNEL_CALL = 480 };

// What a kernel was launched for, as the name of its launch tells it (nino_kernel_launch()).
typedef struct nino_kernel_told {
    // Schedule, kernel file and options: "wmma gemm -DF16=1". "": not told.
    char program[NINO_KERNEL_PROGRAM];
    // The op with types, shapes and attributes: "linear f16:77x768 weight=q8_0:3072 bias". "": not
    // told.
    char call[NINO_KERNEL_CALL];
} nino_kernel_told;
// Reads the name of a launch. False: it tells neither.
NINO_API bool nino_kernel_told_read(nino_kernel_told *out, const char *launch);

// The source of a program, whole, as a driver is given it, and the options. Both are the caller's,
// who frees them with free(). NINO_ERR_FORMAT, NINO_ERR_UNKNOWN: no such program;
// NINO_ERR_UNSUPPORTED: this library has no OpenCL.
NINO_API nino_status nino_kernel_source(const char *program, char **source, char **options,
                                        nino_error *err);

// What the driver says of a kernel that it has compiled; 0: nothing.
typedef struct nino_kernel_facts {
    char device[128], driver[96];
    // Of a work-group, of a work-item.
    uint64_t local_bytes, private_bytes;
    // Work-items of a work-group at most, and what that should be a multiple of.
    uint64_t most_items, multiple;
    // Work-items along each axis that the source demands.
    uint64_t required[3];
} nino_kernel_facts;
// Compiles it, or takes it from the cache. device, cache_dir: as in nino_ctx_params.
NINO_API nino_status nino_kernel_ask(const char *device, const char *cache_dir, const char *program,
                                     const char *kernel, nino_kernel_facts *out, nino_error *err);

enum { NINO_KERNEL_SYMBOL = 64 };
// What a device of that profile ("gfx1151") would do a call with: its main kernel, the program, and
// the call with activations in the type that it computes in where they were f32. No such device is
// needed. Errors: as nino_replay(); NINO_ERR_UNKNOWN: no such profile.
NINO_API nino_status nino_kernel_on(const char *profile, const char *call,
                                    char kernel[NINO_KERNEL_SYMBOL], nino_kernel_told *out,
                                    nino_error *err);

#define NINO_REPLAY_PARAMS_INIT .size = sizeof(nino_replay_params)
typedef struct nino_replay_params {
    // Set by NINO_REPLAY_PARAMS_INIT.
    size_t size;
    // As in nino_ctx_params.
    const char *device, *cache_dir;
    // As nino_kernel_told has it. Its inputs are random, of the same types and shapes.
    const char *call;
    // The name of a schedule; NULL: the device's own.
    const char *schedule;
    // Rounds, up to NINO_MAX_ROUNDS; 0: 12.
    int rounds;
    // Also with each value that a tuning of the schedule could choose for this op.
    bool sweep;
    // Says what is measured; may be NULL.
    void (*progress)(void *priv, const char *what);
    void *priv;
} nino_replay_params;

// A way to cut the work.
typedef struct nino_replay_setting {
    // As in nino_tune_choice; "": as the device is set now.
    char name[32];
    int value;
    // Seconds of all kernels of the call on the device.
    nino_spread time;
    // Against the device as it is set now; NaN for that itself.
    nino_effect effect;
} nino_replay_setting;

enum { NINO_REPLAY_KERNELS = 8 };
// A kernel of the call, as the device is set now: launches in a call, seconds of all of them.
typedef struct nino_replay_kernel {
    char name[48];
    uint64_t launches;
    nino_spread time;
} nino_replay_kernel;

typedef struct nino_replay_result {
    char device[128], driver[96], schedule[32];
    // Load average of the machine when it began; NaN: not known.
    double load;
    // Of the call: arithmetic as the schedule does it, and bytes that it must move at least.
    double flops, bytes;
    // Percent of what the device was measured to do, of the limit that is nearer; NaN: not known.
    double peak_percent;
    uint64_t n_settings, n_kernels;
    nino_replay_setting setting[NINO_MAX_SETTINGS];
    nino_replay_kernel kernel[NINO_REPLAY_KERNELS];
} nino_replay_result;
// Measures the call in turn in all settings. Errors: NINO_ERR_FORMAT: it is no call;
// NINO_ERR_UNSUPPORTED: it cannot be made alone.
NINO_API nino_status nino_replay(const nino_replay_params *params, nino_replay_result *out,
                                 nino_error *err);

NINO_END
