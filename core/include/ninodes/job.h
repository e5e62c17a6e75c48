// Running a workflow on a thread of its own, and planning it without running.
//
// Threads: one thread at a time, except nino_job_cancel(), which any thread and any signal handler
// may call.
#pragma once
#include <ninodes/graph.h>
#include <ninodes/monitor.h>

NINO_BEGIN

typedef struct nino_job nino_job;

// Starts a job. The graph is copied: it may change or go at once. options may be NULL; what they
// leave at zero is as in the context. Returns NULL when the thread cannot start or the graph has
// errors: NINO_ERR_UNSUPPORTED, NINO_ERR_FORMAT, NINO_ERR_MISSING, NINO_ERR_RANGE with the first
// error of nino_graph_check(), NINO_ERR_NOMEM, NINO_ERR_ARG.
NINO_API nino_job *nino_job_start(nino_ctx *ctx, nino_graph *g, const nino_job_options *options,
                                  nino_error *err);
// Returns at once; the job ends soon with NINO_ERR_CANCELLED.
NINO_API void nino_job_cancel(nino_job *job);
// Cancels what still runs and waits for its end.
NINO_API void nino_job_destroy(nino_job **job);

// ---- while it runs ---------------------------------------------------------------------------

// Takes the next events, never blocks. Returns the number copied.
NINO_API size_t nino_job_poll(nino_job *job, nino_event *out, size_t max);
// Text of an id in an event, "" for one that is not known; job is a nino_job. Fits the `name`
// callbacks of ninodes/monitor.h.
NINO_API const char *nino_job_name(void *job, uint32_t id);
// True when the job has ended and every event was polled, or nobody polls (nino_job_wait()); *status
// and *err then say how. Both may be NULL.
NINO_API bool nino_job_done(nino_job *job, nino_status *status, nino_error *err);
// Waits until something can be polled, the job has ended, or `ms` milliseconds have passed. Who
// waits again without having polled does not want the events: then it is the end that is waited for.
NINO_API void nino_job_wait(nino_job *job, int ms);
// For an event loop: a descriptor that becomes readable when something can be polled, or the job
// has ended. It stays so until nino_job_poll() has returned 0; never read it. Owned by the job;
// -1: no descriptor is left.
NINO_API int nino_job_fd(nino_job *job);
// Memory of the device's pool at this moment.
NINO_API void nino_job_memory(const nino_job *job, nino_mem_stat *out);

// ---- results ---------------------------------------------------------------------------------

// A file that a node has written. Texts of results are owned by the job.
typedef struct nino_job_output {
    // Id of the node.
    const char *node;
    const char *path;
} nino_job_output;
// Fills up to max entries in the order in which they were written, and returns how many there are
// so far.
NINO_API size_t nino_job_outputs(const nino_job *job, nino_job_output *out, size_t max);

// What a monitor node says to people.
typedef struct nino_job_text {
    // Id of the node.
    const char *node;
    const char *title, *text;
} nino_job_text;
NINO_API size_t nino_job_texts(const nino_job *job, nino_job_text *out, size_t max);

// The pictures that an output node such as SaveImage was given, as floats; the job must have been
// started with keep_results. node is an id; i counts from 0 where the node ran over a list. *out
// begins with NINO_RASTER_INIT; its data is owned by the job. NINO_ERR_MISSING: there is no such
// picture, or not yet.
NINO_API nino_status nino_job_image(const nino_job *job, const char *node, size_t i,
                                    nino_raster *out, nino_error *err);
// The same of latents, of an output node such as SaveLatent.
NINO_API nino_status nino_job_latent(const nino_job *job, const char *node, size_t i,
                                     nino_raster *out, nino_error *err);

// ---- plan ------------------------------------------------------------------------------------

// A node or a part of one.
typedef struct nino_plan_scope {
    // "8 VAEDecode / decoder.up.2".
    char name[96];
    // 0 for a node, 1 for a stage of it, and so on.
    int depth;
    // Arithmetic, bytes moved, and the time both should take; 0 seconds: the profile has no
    // numbers.
    double flops, bytes, seconds;
    uint64_t kernels, peak_bytes;
} nino_plan_scope;

// Tiles of the last decode in a graph.
typedef struct nino_plan_tiling {
    bool is_tiled;
    // Pixels.
    int tile_w, tile_h, overlap;
    int n_tiles;
    // Why tiles, and of this size; "" where nothing is tiled.
    char why[160];
} nino_plan_tiling;

// What predicted times rest on: figures of a profile, of which the efficiencies are assumed on every
// device; see nino_ceilings for measured peaks.
typedef struct nino_plan_basis {
    // The profile's file (its name where it is built in) and the date of its numbers; "": unknown.
    char file[256];
    char date[16];
    // Whether peak and bandwidth were measured on this device.
    bool is_measured;
    // "f32" or "f16": whose peak, FLOP/s, the efficiencies are shares of.
    char peak_type[8];
    double peak, bandwidth, launch_s;
    double efficiency_gemm, efficiency_conv, efficiency_attn;
    // What arithmetic takes at all of the peak and memory at all of the bandwidth, whichever is
    // longer: no run is faster. 0: the profile has no numbers.
    double least_seconds;
} nino_plan_basis;

// A program of the device: a file of kernels with the options that it is built with.
typedef struct nino_plan_program {
    char file[32], options[256];
} nino_plan_program;

typedef struct nino_plan {
    // What it was made for, by its name in data/devices.
    char profile[64];
    double flops, bytes, seconds;
    uint64_t kernels;
    // Of the pool: activations, workspace and weights; and the shares of it.
    uint64_t peak_bytes, weight_bytes, peak_activation_bytes;
    // 0: not known.
    uint64_t budget;
    bool fits;
    nino_plan_tiling tiling;
    // Owned by the plan; nino_plan_release().
    size_t n_scopes;
    nino_plan_scope *scopes;
    nino_plan_basis basis;
    // What has to be compiled, or taken from the cache of kernels, in the order in which it is needed;
    // owned by the plan. None where nothing is: for the reference.
    size_t n_programs;
    nino_plan_program *programs;
} nino_plan;

// Walks the networks of a graph without arithmetic. profile is a name of data/devices; NULL: the
// context's device. Waits for a job that runs. Errors: as nino_job_start(), and NINO_ERR_UNKNOWN
// (no such profile).
NINO_API nino_status nino_graph_plan(nino_ctx *ctx, nino_graph *g, const char *profile,
                                     const nino_job_options *options, nino_plan *out,
                                     nino_error *err);
NINO_API void nino_plan_release(nino_plan *p);

// A plan within a memory budget, with what a run would choose there: tiles, batches, pieces of clips,
// precision, the order in which weights leave. Thread-safety: one thread at a time.
typedef struct nino_scheme nino_scheme;

// As nino_graph_plan(); budget: bytes of device memory, 0: what the context has. Where nothing fits
// it is made all the same and says how much would do. NULL: *err.
NINO_API nino_scheme *nino_scheme_create(nino_ctx *ctx, nino_graph *g, const char *profile,
                                         const nino_job_options *options, uint64_t budget,
                                         nino_error *err);
NINO_API void nino_scheme_destroy(nino_scheme **scheme);
// Owned by the scheme. Of a graph that does not fit: as it would be without a budget.
NINO_API const nino_plan *nino_scheme_plan(const nino_scheme *scheme);

#define NINO_SCHEME_INFO_INIT .size = sizeof(nino_scheme_info)
typedef struct nino_scheme_info {
    // Set by NINO_SCHEME_INFO_INIT, before the library fills one.
    size_t size;
    uint64_t budget, peak_bytes;
    bool fits;
    // The budget makes a difference: something is tiled, split or read again.
    bool is_pressed;
    // Predicted: all of it; of that bringing weights in; without choosing; without a budget (0: the
    // same).
    double seconds, load_seconds, unchosen_seconds, unlimited_seconds;
    // Of weights that are brought in, some of them again and again.
    uint64_t load_bytes;
    // Ways that were compared.
    int ways;
    // Where it does not fit: the least budget, and the node that needs it ("8 VAEDecode"); 0: more
    // memory would not help, or it fits.
    uint64_t least_bytes;
    char least_node[160];
    // What it loses against the same without a budget: "nothing", "rounding", "tiles are blended".
    char loss[64];
    // Why it is done so.
    char why[160];
    // The rate at which weights come in was measured on this device and folder of models, not assumed.
    bool is_load_measured;
} nino_scheme_info;
NINO_API nino_status nino_scheme_get(const nino_scheme *scheme, nino_scheme_info *out,
                                     nino_error *err);

#define NINO_SCHEME_CHOICE_INIT .size = sizeof(nino_scheme_choice)
// What was chosen for a node.
typedef struct nino_scheme_choice {
    size_t size;
    // Owned by the scheme: "8 VAEDecode", "tiles of 512 pixels".
    const char *node, *what;
    // 0: there was nothing to choose. Pixels; conditionings, pictures and latent frames at once.
    int tile, rows, images, chunk;
    bool is_narrow, is_newest_first;
} nino_scheme_choice;
// Nodes for which something was chosen, or had to be.
NINO_API size_t nino_scheme_choices(const nino_scheme *scheme);
NINO_API nino_status nino_scheme_choice_get(const nino_scheme *scheme, size_t i,
                                            nino_scheme_choice *out, nino_error *err);

NINO_END
