// A context: one device, its memory, and what is kept from job to job.
//
// A program opens one context for each device that it uses and keeps it: models stay loaded,
// kernels stay compiled, and what an earlier job has computed is not computed again.
//
// Threads: a nino_ctx may be used from any thread. Its jobs run one after the other, in the order
// in which they were started.
#pragma once
#include <ninodes/options.h>

NINO_BEGIN

typedef struct nino_ctx nino_ctx;

// What becomes of the steps of a sampling that is cancelled, killed or runs out of memory. They can
// be kept below the state folder until the sampling is done, 4 GiB and a week at most (of which a
// day at most passes from one sampling to the next, whatever the clock says).
typedef enum nino_steps_opt {
    NINO_STEPS_NONE,
    // They are kept, but every sampling begins anew.
    NINO_STEPS_KEEP,
    // A sampling of the same goes through the kept steps, which takes no time, and computes the
    // rest; the result is that of a run that was never stopped. The same means: workflow, inputs,
    // files, seed, precision, device, driver and version of the library.
    NINO_STEPS_RESUME
} nino_steps_opt;

#define NINO_CTX_PARAMS_INIT .size = sizeof(nino_ctx_params)
typedef struct nino_ctx_params {
    // Set by NINO_CTX_PARAMS_INIT. All else may stay zero.
    size_t size;
    // "cl", "cl:0", "cl:gfx1151" (part of the device's name), "ref". NULL takes the first OpenCL
    // GPU, else the first OpenCL CPU; a library that was built without OpenCL the reference.
    // Several, "cl:0,cl:1": jobs run on the first, and the others do some of the tiles, pictures and
    // chunks of clips that do not depend on each other, where they are of the same kind (name, driver,
    // schedule, tuning): then results have the same bits as those of one device.
    const char *device;
    // Device memory to use at most, in bytes, of each device. 0: decided from the device and what is free there.
    uint64_t mem_limit;
    // Where compiled kernels are kept. NULL: $XDG_CACHE_HOME/ninodes; "": nowhere.
    const char *cache_dir;
    // Where the steps of unfinished samplings are kept. NULL: $XDG_STATE_HOME/ninodes.
    const char *state_dir;
    nino_steps_opt steps;
    // What its jobs, checks and plans take unless told otherwise. NULL: the defaults.
    const nino_job_options *job;
    // Listens on the monitor socket while it lives (ninodes/monitor.h), under this title; NULL: "".
    bool serve;
    const char *title;
    // Receives the library's messages, on any thread. NULL: silence.
    nino_log_fn log;
    void *log_priv;
    nino_log_level log_level;
    // Path of a program that is started to compile kernels beside a run, several at once: its main() begins
    // with nino_helper_main(). NULL: they are compiled in this process, one after the other when they are
    // needed. It needs a cache_dir.
    const char *helper;
    // Who multiplies the matrices of linear layers on OpenCL devices: "native", our kernels; "clblast", that
    // library, where weights are floats; "auto", who was measured to be faster (nino_tune()), else ours.
    // NULL: NINODES_GEMM, else "auto".
    const char *gemm;
    // Of messages of nino_graph_check(): most of them, what single classes check is English. NULL:
    // English.
    nino_translate_fn translate;
} nino_ctx_params;

// Opens a device. params may be NULL and need not outlive the call. Returns NULL and fills *err:
// NINO_ERR_UNKNOWN (no such device or engine), NINO_ERR_UNSUPPORTED (CLBlast is not there), NINO_ERR_DEVICE (it failed; kind "none": no device was named
// and OpenCL has none that can be used), NINO_ERR_FORMAT (kind "settings": nino_settings_problem()),
// NINO_ERR_NOMEM, NINO_ERR_ARG.
NINO_API nino_ctx *nino_ctx_create(const nino_ctx_params *params, nino_error *err);
// Waits for its jobs. The job objects may live on: their events and results can still be read.
NINO_API void nino_ctx_destroy(nino_ctx **ctx);
// The same for a process that is about to end. False: work that a cancelled job left behind still
// runs in the driver (compiling a kernel takes seconds). It is not waited for, only what lies
// outside the process has been put away; then the process must end with _exit().
NINO_API bool nino_ctx_quit(nino_ctx **ctx);

// Steps that the sampling that ran last has left behind; 0: it was done, or none are kept.
NINO_API int nino_ctx_kept_steps(const nino_ctx *ctx);
// Path of the monitor socket, "" when not serving. Owned by ctx.
NINO_API const char *nino_ctx_socket(const nino_ctx *ctx);

// The running job stops between two kernels, and no other one of this context begins to compute,
// until this is called with false. A paused job can be cancelled.
NINO_API void nino_ctx_pause(nino_ctx *ctx, bool is_paused);
NINO_API bool nino_ctx_is_paused(nino_ctx *ctx);

// ---- devices ---------------------------------------------------------------------------------

typedef struct nino_device_info {
    // What nino_ctx_params.device takes: "cl:0", "ref".
    char selector[16];
    // As the driver tells them.
    char name[128], vendor[64], driver[96], platform[96];
    // The profile in use, by its name in data/devices.
    char profile[64];
    bool is_gpu;
    unsigned compute_units;
    // Bytes of memory, of the largest single buffer, and of local memory of a work-group.
    uint64_t mem_bytes, max_buffer, local_bytes;
    bool has_fp16, has_fp64;
    // Why it cannot be used, or "".
    char problem[160];
    // How its kernels are cut: the schedule that its profile names, or NINODES_SCHEDULE. GPUs with
    // matrix instructions of gfx11 have "wmma"; elsewhere that is "wmma-emulated", which is slow.
    char schedule[32];
} nino_device_info;

// Fills up to max entries and returns how many devices there are. OpenCL is asked once a process.
NINO_API size_t nino_devices(nino_device_info *out, size_t max);
// Why OpenCL has no device that can be used, or no GPU though this machine has one: what was found,
// why each device is left out and what to do, a line each, up to size bytes of them with the final
// 0. Returns the bytes of all lines; 0: there is nothing to explain.
NINO_API size_t nino_devices_explain(char *out, size_t size);
// How many programs of kernels have come compiled for devices of that kind, and in *n_fit those that are as in
// this library: they need no compiling, but are checked once before they are used. 0: none.
NINO_API size_t nino_device_objects(const nino_device_info *d, size_t *n_fit);
// False: this process was not started to compile kernels (nino_ctx_params.helper). Else it has done that, and
// *status is what main() returns. Call it first of all.
NINO_API bool nino_helper_main(int argc, char **argv, int *status);
// Folder number i, from 0, of those where compiled kernels are kept, by a driver (PoCL; where others
// keep theirs is not known) and by this library with the default cache folder. They hold code: a
// damaged file crashes the process that loads it. They may be renamed or removed at any time and are
// made anew. False: no more.
NINO_API bool nino_kernel_folder(int i, char *out, size_t size);
// Context number i of those of a list of devices (nino_ctx_params.device), 0: ctx itself; owned by ctx. NULL:
// no more. Each runs jobs of its own, and while it has none its device helps the others.
NINO_API nino_ctx *nino_ctx_of_device(nino_ctx *ctx, size_t i);
// The device of a context.
NINO_API void nino_ctx_device(const nino_ctx *ctx, nino_device_info *out);

NINO_END
