// A device, its memory and its caches.
//
// Thread-safety: a nino_ctx may be used from any thread; jobs on one ctx run one after the other.
#pragma once
#include <ninodes/base.h>

NINO_BEGIN

typedef struct nino_ctx nino_ctx;

typedef enum nino_precision_opt {
    NINO_PRECISION_AUTO,
    NINO_PRECISION_F32,
    NINO_PRECISION_F16,
    NINO_PRECISION_BF16
} nino_precision_opt;

// Pictures of a latent while it is sampled. AUTO: TAESD if its file is in models/vae_approx and it
// is fast enough, else latent2rgb. Of a video both show all frames, up to 16, on one picture; TAESD
// is taew2_1 or taew2_2 there, or else the same with "light" in front.
typedef enum nino_preview_opt {
    NINO_PREVIEW_NONE,
    NINO_PREVIEW_LATENT2RGB,
    NINO_PREVIEW_TAESD,
    NINO_PREVIEW_AUTO
} nino_preview_opt;

// A sampling that was cancelled, killed or ran out of memory can go on where it was: what the
// network answers is kept in files below the state folder until the sampling is done (4 GiB, a
// week at most). RESUME: a sampling of the same goes through it again, which takes no time, and
// computes the rest; the result is that of a run that was not stopped. KEEP begins anew. The same:
// workflow, inputs, files, seed, precision, device, driver and version.
typedef enum nino_steps_opt { NINO_STEPS_NONE, NINO_STEPS_KEEP, NINO_STEPS_RESUME } nino_steps_opt;

typedef struct nino_ctx_params {
    const char *device;    // "cl", "cl:0", "cl:gfx1151", "ref"; NULL: first OpenCL GPU, else CPU
                           // device, else ref
    const char *cache_dir; // compiled kernels; NULL: $XDG_CACHE_HOME/ninodes; "": none
    uint64_t
        mem_limit; // device memory to use at most, in bytes; 0: from the device and what is free
    const char *const
        *models; // NULL-terminated model folders, searched in order; extra_model_paths.yaml is read
    const char *input_dir;        // LoadImage, LoadLatent; NULL: "input"
    const char *output_dir;       // SaveImage, SaveLatent; NULL: "output"
    nino_precision_opt precision; // for nodes that do not say otherwise
    nino_log_fn log;              // any thread; NULL: silent
    void *log_priv;
    nino_log_level log_level;
    int serve;         // 1: listen on the monitor socket while jobs run
    const char *title; // shown to viewers; NULL: ""
    nino_preview_opt preview;
    int preview_every;    // steps from one preview to the next; 0: 5
    double preview_share; // of the sampling time, at most; also the first decode by a tiny
                          // autoencoder, by estimate; beyond it they are left out; 0: 0.05
    int no_profile;       // 1: output files carry no profile of their run (ninodes/run_profile.h)
    int no_metadata;      // 1: they carry neither workflow nor profile
    nino_steps_opt steps;
    const char *state_dir; // NULL: $XDG_STATE_HOME/ninodes
} nino_ctx_params;         // all zero is a valid default

// Opens a device. `params` may be NULL and need not outlive the call.
// Returns NULL and fills *err: NINO_ERR_UNKNOWN (no such device), NINO_ERR_DEVICE (it failed),
// NINO_ERR_NOMEM.
NINO_API nino_ctx *nino_ctx_create(const nino_ctx_params *params, nino_error *err);
NINO_API void nino_ctx_destroy(nino_ctx **ctx); // waits for its jobs; NULL-safe; *ctx becomes NULL
// The same for a process that is about to end. False: work that a cancelled job left behind still
// runs in the driver (compiling a kernel takes seconds). It is not waited for, only what lies
// outside the process has been put away; then the process must end with _exit().
NINO_API bool nino_ctx_quit(nino_ctx **ctx);
// Steps that the sampling that ran last has left behind; 0: it was done, or none are kept.
NINO_API int nino_ctx_kept_steps(const nino_ctx *ctx);
// Path of the monitor socket, "" when not serving. Owned by ctx.
NINO_API const char *nino_ctx_socket(const nino_ctx *ctx);

// The running job stops between two kernels, and no other one of this ctx begins to compute, until
// it is called with 0. A paused job can be cancelled. Any thread.
NINO_API void nino_ctx_pause(nino_ctx *ctx, int paused);
NINO_API bool nino_ctx_is_paused(nino_ctx *ctx);

typedef struct nino_device_info {
    char selector[16]; // "cl:0", "ref"
    char name[128];    // as the driver says
    char vendor[64], driver[96], platform[96];
    char profile[64]; // data/devices profile in use
    int is_gpu;
    unsigned compute_units;
    uint64_t mem_bytes, max_buffer, local_bytes;
    int has_fp16, has_fp64;
    char problem[160]; // why it cannot be used, or ""
    char schedule[32]; // how its kernels are cut: a name of the profile's, or NINODES_SCHEDULE
} nino_device_info;

// Lists devices; returns how many there are (may exceed max). Thread-safe; OpenCL is enumerated
// once.
NINO_API size_t nino_devices(nino_device_info *out, size_t max);
// The device of a ctx.
NINO_API void nino_ctx_device(const nino_ctx *ctx, nino_device_info *out);

// Runs the kernel harness (every op, odd sizes, guard bands) on a device against the reference.
// report() is called once a case. Returns NINO_OK if all passed, NINO_ERR_DEVICE if some failed.
typedef struct nino_selftest_case {
    const char *name; // everything that identifies the case, e.g. "conv2d_f16_n1_c320_32x32"
    int ok;
    double nmse, max_abs, tol;
    double ms, gflops; // bench only, else 0
    const char *note;  // "" or what went wrong
} nino_selftest_case;
typedef struct nino_selftest_params {
    const char *device; // selector
    const char *op;     // only cases whose name contains this; NULL: all
    uint64_t seed;      // 0: fixed default
    int bench;          // time the cases
    int quick;          // small shapes only
} nino_selftest_params;
NINO_API nino_status nino_selftest(const nino_selftest_params *params,
                                   void (*report)(void *priv, const nino_selftest_case *c),
                                   void *priv, nino_error *err);

// What a model, latent or image file is. All text is owned by the info and freed by
// nino_inspect_release().
typedef struct nino_inspect_tensor {
    const char *name, *dtype;
    int rank;
    int64_t dim[8];
    uint64_t bytes;
} nino_inspect_tensor;
typedef struct nino_inspect_part { // "vae: AutoencoderKL, 16 channels, 8x", ...
    const char *role, *family, *detail;
} nino_inspect_part;
typedef struct nino_inspect_meta {
    const char *key, *value;
} nino_inspect_meta;
typedef struct nino_inspect {
    const char *format; // "safetensors", "pth", "gguf", "png"
    uint64_t file_bytes, tensor_bytes;
    size_t n_parts, n_tensors, n_meta, n_dtypes;
    nino_inspect_part *parts;
    nino_inspect_tensor *tensors;
    nino_inspect_meta *meta;
    struct {
        const char *name;
        uint64_t tensors, bytes;
    } dtypes[64];
    const char *quantisation; // "none", "fp8 e4m3fn scaled", ...
    const char
        *name_hint; // what the file name suggests when it disagrees with the content, else ""
    const char
        *arch_hint; // a GGUF file's general.architecture where the content is another, else ""
    void *priv;
} nino_inspect;
NINO_API nino_status nino_inspect_file(const char *path, nino_inspect *out, nino_error *err);
NINO_API void nino_inspect_release(nino_inspect *i);

NINO_END
